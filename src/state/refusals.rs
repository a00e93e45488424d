//! The latest refused requests with a payment, in memory.

use std::collections::VecDeque;
use std::sync::Mutex;

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

/// The last refusals since the start of the process.
#[derive(Debug, Default)]
pub struct Refusals(Mutex<VecDeque<RefusedPayment>>);

impl Refusals {
    /// Newest first.
    pub fn newest(&self) -> Vec<RefusedPayment> {
        let refusals = lock(&self.0);
        refusals.iter().rev().cloned().collect()
    }

    pub fn add(&self, refused: RefusedPayment) {
        let mut refusals = lock(&self.0);
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
                product: None,
                level: None,
            });
        }
        let newest = refusals.newest();
        assert_eq!(newest.len(), REFUSALS_MAX);
        assert_eq!(newest[0].at, UnixSeconds(REFUSALS_MAX as u64));
        assert_eq!(newest[REFUSALS_MAX - 1].at, UnixSeconds(1));
    }
}
