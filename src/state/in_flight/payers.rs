//! How much is worked for a payer whose payments fail.

use std::collections::HashMap;
use std::sync::Mutex;

use crate::domain::code::Code;
use crate::domain::evm::Address;
use crate::domain::refusal::Refusal;
use crate::domain::time::UnixSeconds;
use crate::sync::lock;

/// Settlements of one payer that may fail for good, one after the other, before no more is done for it.
const FAILURES_MAX: u8 = 3;
/// An outage of a target or supplier after verification counts as a part of a failed settlement: the payer may have
/// chosen a target that never answers.
const FAILURE_WEIGHT: u8 = 3;
const OUTAGE_WEIGHT: u8 = 1;
/// When a payer's last failure is forgotten.
const FAILURE_SECONDS: u64 = 600;
/// Payers whose failures are remembered; beyond that the oldest failure is forgotten.
const FAILING_PAYERS_MAX: usize = 4096;

/// What a payer's settled, failed or blocked payment counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaymentEnd {
    Settled,
    Failed,
    /// A target or supplier did not answer; a retry credit was issued.
    Outage,
}

/// The payers whose last payments failed.
#[derive(Debug, Default)]
pub struct FailingPayers(Mutex<HashMap<Address, Failures>>);

/// What has gone wrong with a payer's payments since the last that was settled.
#[derive(Clone, Copy, Debug)]
struct Failures {
    weight: u8,
    last: UnixSeconds,
}

impl FailingPayers {
    /// Remembers how a payer's payment has ended: a payer whose payments fail is worked for a few times only.
    pub fn note_end(&self, payer: Address, end: PaymentEnd, now: UnixSeconds) {
        let mut failures = lock(&self.0);
        let weight = match end {
            PaymentEnd::Settled => {
                failures.remove(&payer);
                return;
            }
            PaymentEnd::Failed => FAILURE_WEIGHT,
            PaymentEnd::Outage => OUTAGE_WEIGHT,
        };
        if failures.len() >= FAILING_PAYERS_MAX {
            failures.retain(|_, failures| now.since(failures.last) < FAILURE_SECONDS);
            let oldest = failures.iter().min_by_key(|(_, failures)| failures.last);
            if let Some(oldest) = oldest.map(|(payer, _)| *payer)
                && failures.len() >= FAILING_PAYERS_MAX
            {
                failures.remove(&oldest);
            }
        }
        let of_payer = failures.entry(payer).or_insert(Failures {
            weight: 0,
            last: now,
        });
        of_payer.weight = of_payer.weight.saturating_add(weight);
        of_payer.last = now;
    }

    pub(super) fn check(&self, payer: Address, now: UnixSeconds) -> Result<(), Refusal> {
        let mut failures = lock(&self.0);
        match failures.get(&payer) {
            Some(of_payer) if now.since(of_payer.last) >= FAILURE_SECONDS => {
                failures.remove(&payer);
                Ok(())
            }
            Some(of_payer) if of_payer.weight >= FAILURES_MAX * FAILURE_WEIGHT => {
                Err(Refusal::new(
                    Code::RateLimited,
                    "Payments of this payer could not be settled or served several times, so nothing was done for this one \
                     and it was not used. Try again in ten minutes.",
                ))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_remembered_for_a_while_and_within_bounds() {
        let failing = FailingPayers::default();
        let payer = |number: usize| {
            let mut payer = [0; 20];
            payer[..8].copy_from_slice(&number.to_be_bytes());
            payer
        };
        let at = |seconds: u64| UnixSeconds(1_795_000_000).plus(seconds);
        let is_served = |number: usize, now| failing.check(Address(payer(number)), now).is_ok();
        for count in 0..FAILURES_MAX {
            assert!(is_served(0, at(0)), "after {count} failures");
            failing.note_end(Address(payer(0)), PaymentEnd::Failed, at(0));
        }
        assert!(!is_served(0, at(FAILURE_SECONDS - 1)) && is_served(1, at(0)));
        failing.note_end(Address(payer(0)), PaymentEnd::Settled, at(1));
        assert!(is_served(0, at(1)), "a settlement makes up for it");
        for _ in 0..FAILURES_MAX {
            failing.note_end(Address(payer(2)), PaymentEnd::Failed, at(2));
        }
        assert!(is_served(2, at(2 + FAILURE_SECONDS)));
        for number in 0..2 * FAILING_PAYERS_MAX {
            failing.note_end(Address(payer(number)), PaymentEnd::Failed, at(3));
        }
        assert!(lock(&failing.0).len() <= FAILING_PAYERS_MAX);
    }
}
