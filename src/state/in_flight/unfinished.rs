//! Payments that a payer's next payment for the same purchase has to be compared with.

use std::collections::HashMap;
use std::sync::Mutex;

use crate::domain::code::Code;
use crate::domain::evm::Address;
use crate::domain::keys::{Fingerprint, PaymentKey};
use crate::domain::refusal::Refusal;
use crate::sync::lock;

/// Payments of one payer that retry credits may hold at the same time.
pub const HELD_OF_PAYER_MAX: usize = 8;
/// Payments of all payers that retry credits may hold at the same time.
pub const HELD_MAX: usize = 4096;

/// Payments that a retry credit holds, whose settlement is unknown, or whose answer is owed.
#[derive(Debug, Default)]
pub struct Unfinished(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    by_purchase: HashMap<(Address, Fingerprint), Vec<PaymentKey>>,
    /// Those that a retry credit holds.
    held: HashMap<PaymentKey, Address>,
    held_of_payer: HashMap<Address, usize>,
}

impl Unfinished {
    /// The unfinished payments of this payer for this purchase.
    pub fn of(&self, purchase: (Address, Fingerprint)) -> Vec<PaymentKey> {
        let keys = lock(&self.0).by_purchase.get(&purchase).cloned();
        keys.unwrap_or_default()
    }

    /// Whether a retry credit may hold one more payment of this payer.
    pub fn check_held(&self, payer: Address) -> Result<(), Refusal> {
        let table = lock(&self.0);
        if table.held_of_payer.get(&payer).copied().unwrap_or(0) >= HELD_OF_PAYER_MAX {
            return Err(Refusal::new(
                Code::RateLimited,
                "Retry credits hold several payments of this payer. This payment was not used: redeem the credits at \
                 /v1/x402/retry, or wait until they expire.",
            ));
        }
        Ok(())
    }

    /// Whether retry credits hold as many payments as they may: then an outage gives none, and sales go on.
    pub fn is_full(&self) -> bool {
        lock(&self.0).held.len() >= HELD_MAX
    }

    /// Notes whether a payment is unfinished, and whether a retry credit holds it.
    pub fn note(
        &self,
        (payer, fingerprint): (Address, Fingerprint),
        key: PaymentKey,
        is_unfinished: bool,
        is_held: bool,
    ) {
        let mut table = lock(&self.0);
        table.note_held(payer, key, is_held);
        let keys = &mut table.by_purchase;
        if is_unfinished {
            let keys = keys.entry((payer, fingerprint)).or_default();
            if !keys.contains(&key) {
                keys.push(key);
            }
        } else if let Some(of_purchase) = keys.get_mut(&(payer, fingerprint)) {
            of_purchase.retain(|unfinished| *unfinished != key);
            if of_purchase.is_empty() {
                keys.remove(&(payer, fingerprint));
            }
        }
    }
}

impl Table {
    fn note_held(&mut self, payer: Address, key: PaymentKey, is_held: bool) {
        let was_held = match is_held {
            true => self.held.insert(key, payer).is_some(),
            false => self.held.remove(&key).is_some(),
        };
        if is_held && !was_held {
            *self.held_of_payer.entry(payer).or_default() += 1;
        } else if was_held
            && !is_held
            && let Some(held) = self.held_of_payer.get_mut(&payer)
        {
            *held -= 1;
            if *held == 0 {
                self.held_of_payer.remove(&payer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_payments_are_counted_by_payer_and_in_all() {
        let unfinished = Unfinished::default();
        let hold = |number: usize, payer: u8, is_held: bool| {
            let mut key = [0; 32];
            key[..8].copy_from_slice(&number.to_be_bytes());
            let purchase = (Address([payer; 20]), Fingerprint([0; 32]));
            unfinished.note(purchase, PaymentKey(key), is_held, is_held);
        };
        for number in 0..HELD_OF_PAYER_MAX {
            assert!(unfinished.check_held(Address([1; 20])).is_ok());
            hold(number, 1, true);
        }
        assert!(unfinished.check_held(Address([1; 20])).is_err());
        assert!(unfinished.check_held(Address([2; 20])).is_ok() && !unfinished.is_full());
        for number in HELD_OF_PAYER_MAX..HELD_MAX {
            hold(number, 2, true);
        }
        assert!(unfinished.is_full());
        hold(0, 1, false);
        assert!(!unfinished.is_full() && unfinished.check_held(Address([1; 20])).is_ok());
    }
}
