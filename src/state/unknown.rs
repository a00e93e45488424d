//! Counts each payer's unknown settlements, in memory, and limits them.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use crate::domain::code::Code;
use crate::domain::evm::Address;
use crate::domain::keys::PaymentKey;
use crate::domain::payment::{Payment, State};
use crate::domain::refusal::Refusal;
use crate::sync::lock;

/// Unknown settlements of one payer at once; further payments of that payer are not taken. Those that are under way when
/// it is reached may still become unknown.
pub const UNKNOWN_OF_PAYER_MAX: usize = 8;

/// The unknown settlements of each payer.
#[derive(Debug, Default)]
pub struct Unknown {
    of_payers: Mutex<HashMap<Address, HashSet<PaymentKey>>>,
}

impl Unknown {
    /// Keeps the count in step with a payment's record.
    pub fn note(&self, key: PaymentKey, payment: &Payment) {
        let mut of_payers = lock(&self.of_payers);
        if is_looked_into(payment) {
            of_payers.entry(payment.payer).or_default().insert(key);
        } else if let Some(keys) = of_payers.get_mut(&payment.payer) {
            keys.remove(&key);
            if keys.is_empty() {
                of_payers.remove(&payment.payer);
            }
        }
    }

    /// Whether another payment of this payer is taken.
    pub fn check(&self, payer: Address) -> Result<(), Refusal> {
        let of_payers = lock(&self.of_payers);
        match of_payers.get(&payer).map_or(0, HashSet::len) {
            open if open >= UNKNOWN_OF_PAYER_MAX => Err(Refusal::new(
                Code::RateLimited,
                format!(
                    "The settlement of {open} payments of this payer is not known yet, so this one was not used and \
                     nothing was charged for it. Repeat those requests unchanged, or try again later."
                ),
            )),
            _ => Ok(()),
        }
    }
}

/// Whether a settlement is unknown and its answer is still kept for its buyer.
pub fn is_looked_into(payment: &Payment) -> bool {
    payment.state == State::Unknown && payment.answer.is_some()
}
