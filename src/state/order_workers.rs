//! The orders in progress.

use std::sync::Arc;

use tokio::sync::Semaphore;

/// Orders that are worked on at the same time.
const ORDERS_MAX: usize = 2;

/// Places for orders that are worked on.
#[derive(Debug)]
pub struct OrderWorkers {
    pub places: Arc<Semaphore>,
}

impl Default for OrderWorkers {
    fn default() -> Self {
        OrderWorkers {
            places: Arc::new(Semaphore::new(ORDERS_MAX)),
        }
    }
}
