//! The latest refused requests with a payment, in memory, and how many of each product there were.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::domain::code::Code;
use crate::domain::evm::Address;
use crate::domain::level::{Level, Product};
use crate::domain::time::UnixSeconds;
use crate::sync::lock;

/// Refusals that are kept.
pub const REFUSALS_MAX: usize = 256;
/// One refusal, as the operator sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedPayment {
    pub at: UnixSeconds,
    pub code: Code,
    pub reason: String,
    pub request_id: String,
    pub payer: Option<Address>,
    pub product: Option<Product>,
    pub level: Option<Level>,
}

/// The refusals since the start of the process: the last ones, and the number of all for each product.
#[derive(Debug, Default)]
pub struct Refusals {
    last: Mutex<VecDeque<RefusedPayment>>,
    /// In the order of [`Product::ALL`].
    counts: [AtomicU64; Product::ALL.len()],
}

impl Refusals {
    /// Newest first.
    pub fn newest(&self) -> Vec<RefusedPayment> {
        let refusals = lock(&self.last);
        refusals.iter().rev().cloned().collect()
    }

    /// How many of a product there were.
    pub fn count(&self, product: Product) -> u64 {
        self.counts[product as usize].load(Ordering::Relaxed)
    }

    pub fn add(&self, refused: RefusedPayment) {
        if let Some(product) = refused.product {
            self.counts[product as usize].fetch_add(1, Ordering::Relaxed);
        }
        let mut refusals = lock(&self.last);
        if refusals.len() == REFUSALS_MAX {
            refusals.pop_front();
        }
        refusals.push_back(refused);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_refusals_are_kept_and_no_more() {
        let refusals = Refusals::default();
        for at in 0..=REFUSALS_MAX as u64 {
            refusals.add(RefusedPayment {
                at: UnixSeconds(at),
                code: Code::InvalidPayment,
                reason: String::new(),
                request_id: String::new(),
                payer: None,
                product: (at == 0).then_some(Product::Check),
                level: None,
            });
        }
        assert_eq!(refusals.count(Product::Check), 1, "it was the oldest");
        assert_eq!(refusals.count(Product::Context), 0);
        let newest = refusals.newest();
        assert_eq!(newest.len(), REFUSALS_MAX);
        assert_eq!(newest[0].at, UnixSeconds(REFUSALS_MAX as u64));
        assert_eq!(newest[REFUSALS_MAX - 1].at, UnixSeconds(1));
    }
}
