//! The one clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::domain::time::UnixSeconds;

/// Where time comes from.
#[derive(Clone, Debug)]
pub enum Clock {
    System,
    /// Stands still until it is set: for tests.
    Manual(Arc<AtomicU64>),
}

impl Clock {
    pub fn manual(now: UnixSeconds) -> Self {
        Clock::Manual(Arc::new(AtomicU64::new(now.0)))
    }

    pub fn now(&self) -> UnixSeconds {
        match self {
            // A clock before 1970 reads as 1970: every authorization is then not valid yet, and nothing is sold.
            Clock::System => UnixSeconds(
                SystemTime::now()
                    .duration_since(UNIX_EPOCH)
                    .map_or(0, |time| time.as_secs()),
            ),
            Clock::Manual(now) => UnixSeconds(now.load(Ordering::SeqCst)),
        }
    }
}
