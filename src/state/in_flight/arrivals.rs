//! Payments that are being verified or worked on, by what they say they buy, so that a sale whose client has left yields to
//! a later payment for the same purchase. Who sends a payment is not verified yet: a false entry concerns its sender alone.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crate::domain::evm::Address;
use crate::domain::keys::Fingerprint;
use crate::state::in_flight::InFlight;
use crate::sync::lock;

type Purchase = (Address, Fingerprint);

#[derive(Debug, Default)]
pub struct Arrivals(Mutex<HashMap<Purchase, Vec<Arc<AtomicBool>>>>);

/// One of them, until it is dropped.
#[derive(Debug)]
pub struct Arrival {
    table: Arc<InFlight>,
    purchase: Purchase,
    is_superseded: Arc<AtomicBool>,
}

impl Arrivals {
    /// Marks every payment for this purchase that has arrived. The purchase is settled now; a client that disconnected may have
    /// retried with a new payment and received this answer.
    pub fn supersede(&self, purchase: Purchase) {
        for arrival in lock(&self.0).get(&purchase).into_iter().flatten() {
            arrival.store(true, Ordering::Release);
        }
    }
}

impl Arrival {
    pub fn enter(table: &Arc<InFlight>, purchase: Purchase) -> Arrival {
        let is_superseded = Arc::default();
        lock(&table.arrivals.0)
            .entry(purchase)
            .or_default()
            .push(Arc::clone(&is_superseded));
        Arrival {
            table: table.clone(),
            purchase,
            is_superseded,
        }
    }

    /// Whether the purchase was settled since this arrived.
    pub fn is_superseded(&self) -> bool {
        self.is_superseded.load(Ordering::Acquire)
    }
}

impl Drop for Arrival {
    fn drop(&mut self) {
        let mut arrivals = lock(&self.table.arrivals.0);
        if let Some(of_purchase) = arrivals.get_mut(&self.purchase) {
            of_purchase.retain(|other| !Arc::ptr_eq(other, &self.is_superseded));
            if of_purchase.is_empty() {
                arrivals.remove(&self.purchase);
            }
        }
    }
}
