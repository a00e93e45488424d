//! The state machine of an order, a bundle bought through the payment link, as one pure function. Webhook, fulfilment,
//! operator and recovery only apply it. Knows neither the provider's vocabulary nor how a bundle is made.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::domain::bundle::Bundle;
use crate::domain::ids::LeadId;

/// Steps that a trail keeps; later ones are dropped, since a state tells the end.
pub const TRAIL_MAX: usize = 200;
/// Characters of a step in a trail.
const STEP_CHARS_MAX: usize = 300;

/// Where an order stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OrderState {
    /// The checkout is complete, the money is still on its way.
    AwaitingPayment,
    PaymentFailed,
    /// Paid, but not as the lead says: the operator decides.
    NeedsReview {
        doubt: Doubt,
    },
    /// Paid; its sources are read as soon as somebody takes it up.
    Queued,
    /// Processed by the last lease holder until `lease_until`; then it can be leased again.
    Processing {
        done: u32,
        total: u32,
        lease_until: u64,
        /// How often it was taken up. Anyone who holds an earlier number has lost the lease.
        attempts: u32,
    },
    Fulfilled,
    /// Nothing could be delivered. The operator refunds it or has it done again.
    Failed {
        reason: String,
    },
    Refunded,
}

/// What may happen to an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrderEvent {
    /// Checked out, to be paid later.
    Unpaid,
    PaymentFailed,
    /// Paid, as its lead says.
    Paid,
    PaidInDoubt(Doubt),
    /// The operator has said what the money is for.
    Attached,
    /// Somebody takes the work up.
    Taken {
        total: u32,
        now: u64,
        lease_until: u64,
    },
    /// A source is done, or an outage waited for; the lease is extended.
    Progressed {
        attempt: u32,
        done: u32,
        lease_until: u64,
    },
    Delivered {
        attempt: u32,
    },
    GaveUp {
        attempt: u32,
        reason: String,
    },
    /// The process that held the lease is gone.
    LeaseFreed,
    /// The operator wants it fulfilled again.
    Refulfil,
    Refunded,
}

/// Why a payment is not taken for what it seems to be for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Doubt {
    Amount,
    Currency,
    Mode,
    NoLead,
    NotABundle,
    LeadPaid,
    NoSources,
    TooManySources,
}

impl Doubt {
    /// Its name, and what it says to the operator as a clause.
    #[rustfmt::skip]
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Doubt::Amount => ("amount", "the amount is not the bundle's price"),
            Doubt::Currency => ("currency", "the currency is not US dollars"),
            Doubt::Mode => ("mode", "a test payment in live mode, or a live one in test mode"),
            Doubt::NoLead => ("no_lead", "no open lead matches the payment"),
            Doubt::NotABundle => ("not_a_bundle", "the lead is not for a bundle"),
            Doubt::LeadPaid => ("lead_paid", "the lead is already paid by another order, or marked as paid"),
            Doubt::NoSources => ("no_sources", "the lead has no sources"),
            Doubt::TooManySources => ("too_many_sources", "the lead has more sources than its bundle allows"),
        }
    }

    pub fn name(self) -> &'static str {
        self.words().0
    }

    pub fn meaning(self) -> &'static str {
        self.words().1
    }
}

/// The state rule. `None` if the event does not apply; then nothing changes.
pub fn next(state: Option<&OrderState>, event: &OrderEvent) -> Option<OrderState> {
    use OrderState::{
        AwaitingPayment, Failed, Fulfilled, NeedsReview, PaymentFailed, Processing, Queued,
        Refunded,
    };
    let unpaid = matches!(state, None | Some(AwaitingPayment | PaymentFailed));
    match (state, event) {
        // The provider's events come in any order: what is known to be paid is never taken for unpaid again, and a
        // payment that failed may be tried once more.
        (None, OrderEvent::Unpaid) => Some(AwaitingPayment),
        (None | Some(AwaitingPayment), OrderEvent::PaymentFailed) => Some(PaymentFailed),
        (_, OrderEvent::Paid) if unpaid => Some(Queued),
        (_, OrderEvent::PaidInDoubt(doubt)) if unpaid => Some(NeedsReview { doubt: *doubt }),
        (Some(NeedsReview { .. }), OrderEvent::Attached) => Some(Queued),

        (
            Some(Queued),
            OrderEvent::Taken {
                total, lease_until, ..
            },
        ) => Some(processing(*total, *lease_until, 0, 0)),
        (
            Some(Processing {
                done,
                lease_until: held_until,
                attempts,
                ..
            }),
            OrderEvent::Taken {
                total,
                now,
                lease_until,
            },
        ) if now >= held_until => Some(processing(*total, *lease_until, *done, *attempts)),
        (
            Some(Processing {
                total, attempts, ..
            }),
            OrderEvent::Progressed {
                attempt,
                done,
                lease_until,
            },
        ) if attempt == attempts => Some(Processing {
            done: *done,
            total: *total,
            lease_until: *lease_until,
            attempts: *attempts,
        }),
        (Some(Processing { attempts, .. }), OrderEvent::Delivered { attempt })
            if attempt == attempts =>
        {
            Some(Fulfilled)
        }
        (Some(Processing { attempts, .. }), OrderEvent::GaveUp { attempt, reason })
            if attempt == attempts =>
        {
            Some(Failed {
                reason: reason.clone(),
            })
        }
        (
            Some(Processing {
                done,
                total,
                attempts,
                ..
            }),
            OrderEvent::LeaseFreed,
        ) => Some(Processing {
            done: *done,
            total: *total,
            lease_until: 0,
            attempts: *attempts,
        }),

        (Some(Fulfilled | Failed { .. }), OrderEvent::Refulfil) => Some(Queued),
        (
            Some(NeedsReview { .. } | Queued | Processing { .. } | Fulfilled | Failed { .. }),
            OrderEvent::Refunded,
        ) => Some(Refunded),
        _ => None,
    }
}

fn processing(total: u32, lease_until: u64, done: u32, attempts: u32) -> OrderState {
    OrderState::Processing {
        done,
        total,
        lease_until,
        attempts: attempts.saturating_add(1),
    }
}

/// A bundle bought through the payment link. Its identifier is its key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The provider's checkout session: who knows it may read what was delivered.
    pub session_id: String,
    pub lead: Option<[u8; 16]>,
    /// Once it is known.
    pub bundle: Option<Bundle>,
    /// As it was given at the checkout, or else on the lead.
    pub email: Option<String>,
    pub question: String,
    pub target_urls: Vec<String>,
    /// In the currency's smallest unit, as the provider counts.
    pub amount_total: Option<u64>,
    pub currency: String,
    pub livemode: bool,
    pub state: OrderState,
    /// How often it was asked to be done; each time has one report and one e-mail.
    pub round: u32,
    /// How often the e-mail of this round was asked for again.
    pub resent: u32,
    /// What recovery links are sealed with.
    pub link_key: [u8; 32],
    pub trail: Vec<OrderStep>,
    pub created_at: u64,
    pub changed_at: u64,
    pub fulfilled_at: Option<u64>,
}

/// One line of what became of an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderStep {
    pub at: u64,
    /// A clause such as `paid` or `fulfilled by the operator's wish`.
    pub what: String,
}

impl Order {
    /// Lets something happen. Tells whether it fitted.
    pub fn happen(&mut self, event: &OrderEvent, now: u64) -> bool {
        let Some(state) = next(Some(&self.state), event) else {
            return false;
        };
        self.state = state;
        self.changed_at = now;
        match event {
            OrderEvent::Delivered { .. } => self.fulfilled_at = Some(now),
            OrderEvent::Refulfil => {
                self.round = self.round.saturating_add(1);
                self.resent = 0;
            }
            _ => {}
        }
        true
    }

    pub fn lead_id(&self) -> Option<LeadId> {
        self.lead.map(LeadId)
    }

    /// Writes down what happened, within bounds.
    pub fn note(&mut self, now: u64, what: impl AsRef<str>) {
        if self.trail.len() < TRAIL_MAX {
            let what = what.as_ref().chars().take(STEP_CHARS_MAX).collect();
            self.trail.push(OrderStep { at: now, what });
        }
    }
}

impl OrderState {
    /// Why it needs review, or has failed.
    pub fn reason(&self) -> Option<String> {
        match self {
            OrderState::NeedsReview { doubt } => Some(doubt.to_string()),
            OrderState::Failed { reason } => Some(reason.clone()),
            _ => None,
        }
    }

    /// The closed set of names, for filters and metrics.
    pub const NAMES: [&'static str; 8] = [
        "awaiting_payment",
        "payment_failed",
        "needs_review",
        "queued",
        "processing",
        "fulfilled",
        "failed",
        "refunded",
    ];

    /// The word for operators and metrics.
    pub fn name(&self) -> &'static str {
        match self {
            OrderState::AwaitingPayment => "awaiting_payment",
            OrderState::PaymentFailed => "payment_failed",
            OrderState::NeedsReview { .. } => "needs_review",
            OrderState::Queued => "queued",
            OrderState::Processing { .. } => "processing",
            OrderState::Fulfilled => "fulfilled",
            OrderState::Failed { .. } => "failed",
            OrderState::Refunded => "refunded",
        }
    }

    /// Whether somebody has to take it up, sooner or later.
    pub fn is_open(&self) -> bool {
        matches!(self, OrderState::Queued | OrderState::Processing { .. })
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.meaning())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_795_000_000;

    fn processing(lease_until: u64, attempts: u32) -> OrderState {
        OrderState::Processing {
            done: 1,
            total: 3,
            lease_until,
            attempts,
        }
    }

    fn states() -> Vec<Option<OrderState>> {
        let doubt = Doubt::Amount;
        let reason = "x".to_owned();
        let some = [
            OrderState::AwaitingPayment,
            OrderState::PaymentFailed,
            OrderState::NeedsReview { doubt },
            OrderState::Queued,
            processing(NOW, 1),
            OrderState::Fulfilled,
            OrderState::Failed { reason },
            OrderState::Refunded,
        ];
        std::iter::once(None)
            .chain(some.into_iter().map(Some))
            .collect()
    }

    /// What each state of `states()` becomes, by name; `-` where the event does not fit.
    fn check(event: &OrderEvent, expected: [&str; 9]) {
        for (state, expected) in states().iter().zip(expected) {
            let found = next(state.as_ref(), event);
            let name = found.as_ref().map_or("-", OrderState::name);
            assert_eq!(name, expected, "{state:?} {event:?}");
        }
    }

    #[test]
    #[rustfmt::skip]
    fn every_state_answers_every_event() {
        let (now, lease_until) = (NOW, NOW + 60);
        let refused = ["-"; 9];
        check(&OrderEvent::Unpaid, ["awaiting_payment", "-", "-", "-", "-", "-", "-", "-", "-"]);
        check(&OrderEvent::PaymentFailed, ["payment_failed", "payment_failed", "-", "-", "-", "-", "-", "-", "-"]);
        check(&OrderEvent::Paid, ["queued", "queued", "queued", "-", "-", "-", "-", "-", "-"]);
        let doubted = OrderEvent::PaidInDoubt(Doubt::Mode);
        check(&doubted, ["needs_review", "needs_review", "needs_review", "-", "-", "-", "-", "-", "-"]);
        check(&OrderEvent::Attached, ["-", "-", "-", "queued", "-", "-", "-", "-", "-"]);
        check(&OrderEvent::Taken { total: 3, now, lease_until }, ["-", "-", "-", "-", "processing", "processing", "-", "-", "-"]);
        check(&OrderEvent::Taken { total: 3, now: now - 1, lease_until }, ["-", "-", "-", "-", "processing", "-", "-", "-", "-"]);
        check(&OrderEvent::Progressed { attempt: 1, done: 2, lease_until }, ["-", "-", "-", "-", "-", "processing", "-", "-", "-"]);
        check(&OrderEvent::Progressed { attempt: 2, done: 2, lease_until }, refused);
        check(&OrderEvent::Delivered { attempt: 1 }, ["-", "-", "-", "-", "-", "fulfilled", "-", "-", "-"]);
        check(&OrderEvent::Delivered { attempt: 0 }, refused);
        check(&OrderEvent::GaveUp { attempt: 1, reason: String::new() }, ["-", "-", "-", "-", "-", "failed", "-", "-", "-"]);
        check(&OrderEvent::LeaseFreed, ["-", "-", "-", "-", "-", "processing", "-", "-", "-"]);
        check(&OrderEvent::Refulfil, ["-", "-", "-", "-", "-", "-", "queued", "queued", "-"]);
        check(&OrderEvent::Refunded, ["-", "-", "-", "refunded", "refunded", "refunded", "refunded", "refunded", "-"]);
    }

    #[test]
    fn who_has_lost_the_lease_changes_nothing() {
        let mine = next(
            Some(&OrderState::Queued),
            &OrderEvent::Taken {
                total: 3,
                now: NOW,
                lease_until: NOW + 60,
            },
        );
        let again = OrderEvent::Taken {
            total: 3,
            now: NOW + 60,
            lease_until: NOW + 120,
        };
        let theirs = next(mine.as_ref(), &again);
        assert!(theirs.is_some());
        let late = OrderEvent::Delivered { attempt: 1 };
        assert_eq!(next(theirs.as_ref(), &late), None);
        let in_time = OrderEvent::Delivered { attempt: 2 };
        assert_eq!(next(theirs.as_ref(), &in_time), Some(OrderState::Fulfilled));
    }
}
