//! The state machine of a payment, as one pure function. Sale, retry, reconciliation and recovery only carry out the
//! actions that it returns.

use serde::{Deserialize, Serialize};

use crate::domain::evm::{self, Address, Nonce};
use crate::domain::keys::{CreditHash, Fingerprint, IdentifierKey, PayloadHash, PaymentKey};
use crate::domain::margin::MarginReceipt;
use crate::domain::purchase::Purchase;
use crate::domain::time::UnixSeconds;

/// The state of a payment. `New` is only in memory; every other state is a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// Verified, work in progress. A crash owes nothing, because nothing was settled or delivered.
    New,
    /// Verified, not settled, and a transient outage blocked the work: a retry credit holds the authorization.
    Held,
    /// The answer is on disk, and settle may have been sent.
    Kept,
    /// Settle was sent, outcome unknown. Only success or proof on chain ends this.
    Unknown,
    Settled {
        transaction: String,
        at: u64,
    },
    /// The money has not moved and never will.
    Failed {
        reason: String,
    },
    /// Voided: never sent for settlement.
    Released,
    /// Bound to an earlier payment of the same payer for the same purchase, which is or may be settled: the same bytes get
    /// that payment's goods, and this authorization is not settled unless that payment fails.
    Answered {
        by: PaymentKey,
        at: u64,
    },
}

/// What may happen to a payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The finished answer is about to be written.
    GoodsKept,
    /// A transient outage blocked the work after verification.
    Outage,
    /// The credit ran out.
    CreditExpired,
    SettleSucceeded {
        transaction: String,
    },
    /// The facilitator said no, in a way that proves nothing moved.
    SettleFailed {
        reason: String,
    },
    SettleUnknown,
    /// The process stopped after the answer was kept; what settle did is not known.
    Restarted,
    /// AuthorizationUsed with its Transfer to us is on chain.
    ChainUsed {
        transaction: String,
    },
    /// AuthorizationCanceled is on chain.
    ChainCanceled,
    /// AuthorizationUsed is on chain, with a transfer to another recipient.
    ChainUsedElsewhere,
    /// Unused past its window.
    ChainNeverUsed,
    /// The goods of an earlier payment are given in place of a sale.
    AnsweredBy {
        payment: PaymentKey,
    },
    /// The operator says that the money is here.
    OperatorSettled {
        transaction: String,
    },
    /// The operator says that the money has not moved and never will.
    OperatorFailed,
}

/// What the driver does next, in order, once the new state is on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Discard the answer; the buyer gets a new challenge.
    Withhold,
    IssueCredit,
    VoidCredit,
    /// Look again later.
    Reconcile,
}

/// The state rule. Unexpected events change nothing.
pub fn next(state: &State, event: &Event, now: u64) -> (State, Vec<Action>) {
    use Action::{IssueCredit, Reconcile, VoidCredit, Withhold};
    let settled = |transaction: &String| State::Settled {
        transaction: transaction.clone(),
        at: now,
    };
    let answered = |payment: &PaymentKey| State::Answered {
        by: *payment,
        at: now,
    };
    match (state, event) {
        (State::New | State::Held, Event::GoodsKept) => (State::Kept, vec![]),
        (State::New, Event::Outage) => (State::Held, vec![IssueCredit]),
        (State::Held, Event::CreditExpired) => (State::Released, vec![VoidCredit]),
        (State::New, Event::AnsweredBy { payment }) => (answered(payment), vec![]),
        (State::Held, Event::AnsweredBy { payment }) => (answered(payment), vec![VoidCredit]),

        (
            State::Kept | State::Unknown,
            Event::SettleSucceeded { transaction } | Event::ChainUsed { transaction },
        )
        | (State::Unknown, Event::OperatorSettled { transaction }) => {
            (settled(transaction), vec![])
        }
        (State::Kept, Event::SettleFailed { reason }) => (
            State::Failed {
                reason: reason.clone(),
            },
            vec![VoidCredit, Withhold],
        ),
        (State::Kept, Event::SettleUnknown) => (State::Unknown, vec![IssueCredit, Reconcile]),
        (State::Kept, Event::Restarted) => (State::Unknown, vec![Reconcile]),
        // A refusal of a repeated settle proves nothing: an earlier one may have moved the money.
        (State::Unknown, Event::SettleFailed { .. } | Event::SettleUnknown | Event::Restarted) => {
            (State::Unknown, vec![Reconcile])
        }
        (
            State::Kept | State::Unknown,
            Event::ChainCanceled | Event::ChainUsedElsewhere | Event::ChainNeverUsed,
        )
        | (State::Unknown, Event::OperatorFailed) => (
            State::Failed {
                reason: chain_reason(event).to_owned(),
            },
            vec![VoidCredit, Withhold],
        ),
        (unchanged, _) => (unchanged.clone(), vec![]),
    }
}

/// Why an authorization can never pay us, in the words of buyers' answers.
fn chain_reason(event: &Event) -> &'static str {
    match event {
        Event::ChainCanceled => "authorization_canceled",
        Event::ChainUsedElsewhere => "authorization_used_elsewhere",
        Event::OperatorFailed => "ended_by_operator",
        _ => "authorization_never_used",
    }
}

/// One payment with the credit that may hang on it: one record, one lock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Payment {
    #[serde(with = "evm::bytes")]
    pub payer: Address,
    /// Of the authorization; a transfer's transaction.
    #[serde(with = "evm::bytes")]
    pub nonce: Nonce,
    pub amount_units: u64,
    /// In a record, the second until which the authorization is valid.
    #[serde(rename = "valid_before", with = "means_as_valid_before")]
    pub means: Means,
    /// SHA-256 of the decoded PAYMENT-SIGNATURE bytes: only their holder is given the kept answer again.
    pub payload_hash: PayloadHash,
    /// The exact payload, for repeating the identical settle; empty once it has ended.
    #[serde(with = "bytes")]
    pub payload: Vec<u8>,
    /// Our own terms that were signed; empty once there is neither a settle to repeat nor an answer to tell them in.
    #[serde(with = "bytes")]
    pub requirements: Vec<u8>,
    #[serde(with = "crate::domain::purchase::record")]
    pub purchase: Purchase,
    pub fingerprint: Fingerprint,
    /// The key of the buyer's own `payment-identifier`, if one came with the payment.
    pub identifier: Option<IdentifierKey>,
    pub attribution: Option<String>,
    pub state: State,
    pub answer: Option<KeptAnswer>,
    pub credit: Option<Credit>,
    /// How often the kept answer was given again.
    pub redelivered: u8,
    pub created_at: u64,
    pub changed_at: u64,
    /// Stored behind the rest of the record (version 2).
    #[serde(skip)]
    pub delivery: Delivery,
}

/// Delivery facts of a payment's answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// The payment is settled and its answer was never sent completely: the payer's next valid authorization for the same
    /// purchase gets it uncharged.
    pub is_owed: bool,
    /// The answer is kept at least until then, Unix seconds.
    pub answer_until: u64,
    /// Hash of the client address that sent the payment. After settlement the payload can be rebuilt from the chain, so only
    /// this address gets a redelivery. `None`: unknown or unrestricted.
    pub origin: Option<[u8; 16]>,
}

/// The payment method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// A signed authorization (x402), which a facilitator settles once the goods are kept.
    Authorization {
        /// Unix seconds until which it can be settled.
        valid_before: u64,
    },
    /// A transfer that the buyer has made itself and that stands on chain (the legacy endpoint).
    Transfer,
}

impl Means {
    /// Whether the money moves only when a facilitator settles the payment.
    pub fn is_settled_later(self) -> bool {
        matches!(self, Means::Authorization { .. })
    }

    /// What a refusal says of a payment that was not used: the money of a transfer has arrived.
    pub fn unused(self) -> &'static str {
        match self {
            Means::Authorization { .. } => "Nothing was charged",
            Means::Transfer => "The transfer was not used",
        }
    }

    /// The word for operators and receipts.
    pub fn name(self) -> &'static str {
        match self {
            Means::Authorization { .. } => "x402",
            Means::Transfer => "transaction_hash",
        }
    }
}

/// A record holds the means as the end of the authorization. No authorization is valid for ever, so the greatest number
/// stands for a transfer.
mod means_as_valid_before {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Means;

    const TRANSFER: u64 = u64::MAX;

    pub(super) fn serialize<S: Serializer>(
        means: &Means,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match means {
            Means::Authorization { valid_before } => valid_before.serialize(serializer),
            Means::Transfer => TRANSFER.serialize(serializer),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Means, D::Error> {
        Ok(match u64::deserialize(deserializer)? {
            TRANSFER => Means::Transfer,
            valid_before => Means::Authorization { valid_before },
        })
    }
}

impl Payment {
    /// Whether its money has moved, or may have.
    pub fn may_have_moved(&self) -> bool {
        self.state.is_open() || matches!(self.state, State::Settled { .. })
    }

    /// Whether this very payload has bought, or is buying, this very purchase.
    pub fn is_of(&self, payload_hash: PayloadHash, fingerprint: Fingerprint) -> bool {
        self.payload_hash == payload_hash && self.fingerprint == fingerprint
    }

    /// When its authorization can be settled no more; never, where the money has moved already.
    pub fn valid_before(&self) -> UnixSeconds {
        UnixSeconds(match self.means {
            Means::Authorization { valid_before } => valid_before,
            Means::Transfer => u64::MAX,
        })
    }
}

/// A finished answer: the parts that are this buyer's own. The page's part is a blob that the cache shares; a report is
/// a blob as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptAnswer {
    /// SHA-256 of the page's, or the report's, JSON members in the blob table.
    pub page: [u8; 32],
    /// JSON members that stand before and beside the page's (status, tier, cache, ueg_receipt …), without braces.
    pub own: String,
    /// Hex SHA-256 of the markdown or of the report's result, for ETag.
    pub content_sha256: String,
    pub tokens: u64,
    pub cache_hit: bool,
    pub margin: MarginReceipt,
}

/// A retry credit; the buyer holds the identifier, we its hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credit {
    pub hash: CreditHash,
    pub attempts_left: u8,
    pub expires_at: u64,
}

/// Bytes as one run: serde takes a `Vec<u8>` for a list and asks for each byte. In a record both are the same bytes.
mod bytes {
    use std::fmt;

    use serde::de::{Deserializer, Error, Visitor};
    use serde::ser::Serializer;

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytes)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<u8>, D::Error> {
        struct Run;
        impl Visitor<'_> for Run {
            type Value = Vec<u8>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
                Ok(bytes.to_vec())
            }

            fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
                Ok(bytes)
            }
        }
        deserializer.deserialize_byte_buf(Run)
    }
}

impl Payment {
    /// A payment that has just come, at its purchase's price.
    pub fn new(
        payer: Address,
        nonce: Nonce,
        means: Means,
        payload_hash: PayloadHash,
        purchase: Purchase,
        now: UnixSeconds,
    ) -> Payment {
        Payment {
            payer,
            nonce,
            amount_units: purchase.price().units(),
            means,
            payload_hash,
            payload: Vec::new(),
            requirements: Vec::new(),
            fingerprint: purchase.fingerprint(),
            purchase,
            identifier: None,
            attribution: None,
            state: State::New,
            answer: None,
            credit: None,
            redelivered: 0,
            created_at: now.0,
            changed_at: now.0,
            delivery: Delivery::default(),
        }
    }
}

impl State {
    /// Whether a settle may have been sent without a known end.
    pub fn is_open(&self) -> bool {
        matches!(self, State::Kept | State::Unknown)
    }

    /// The settling transaction.
    pub fn transaction(&self) -> Option<&str> {
        match self {
            State::Settled { transaction, .. } => Some(transaction),
            _ => None,
        }
    }

    /// Why it failed.
    pub fn reason(&self) -> Option<&str> {
        match self {
            State::Failed { reason } => Some(reason),
            _ => None,
        }
    }

    /// The word for operators and metrics.
    pub fn name(&self) -> &'static str {
        match self {
            State::New => "new",
            State::Held => "held",
            State::Kept => "kept",
            State::Unknown => "unknown",
            State::Settled { .. } => "settled",
            State::Failed { .. } => "failed",
            State::Released => "released",
            State::Answered { .. } => "answered",
        }
    }
}

/// States of payments by their names in records and JSON, and as people read them: in the terms of card payments.
const STATE_WORDS: [(&str, &str); 4] = [
    ("held", "authorized"),
    ("kept", "settling"),
    ("released", "voided"),
    ("credit", "retry-credit"),
];

/// A state as people read it.
pub fn state_in_words(name: &str) -> &str {
    let found = STATE_WORDS.iter().find(|(known, _)| *known == name);
    found.map_or(name, |(_, words)| words)
}

/// The name of a state that was typed as people read it, or by its name.
pub fn state_of_words(typed: &str) -> &str {
    let found = STATE_WORDS.iter().find(|(_, words)| *words == typed);
    found.map_or(typed, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::Action::{IssueCredit, Reconcile, VoidCredit, Withhold};
    use super::*;

    const NOW: u64 = 1_795_000_000;

    fn settled() -> State {
        State::Settled {
            transaction: "0x1".to_owned(),
            at: NOW,
        }
    }

    fn failed(reason: &str) -> State {
        State::Failed {
            reason: reason.to_owned(),
        }
    }

    fn events() -> Vec<Event> {
        vec![
            Event::GoodsKept,
            Event::Outage,
            Event::CreditExpired,
            Event::SettleSucceeded {
                transaction: "0x1".to_owned(),
            },
            Event::SettleFailed {
                reason: "insufficient_funds".to_owned(),
            },
            Event::SettleUnknown,
            Event::Restarted,
            Event::ChainUsed {
                transaction: "0x1".to_owned(),
            },
            Event::ChainCanceled,
            Event::ChainUsedElsewhere,
            Event::ChainNeverUsed,
            Event::AnsweredBy {
                payment: PaymentKey([7; 32]),
            },
            Event::OperatorSettled {
                transaction: "0x1".to_owned(),
            },
            Event::OperatorFailed,
        ]
    }

    /// One row per state: what each event of `events()` leads to; `None` changes nothing.
    fn check(state: &State, expected: [Option<(State, Vec<Action>)>; 14]) {
        for (event, expected) in events().into_iter().zip(expected) {
            let expected = expected.unwrap_or_else(|| (state.clone(), vec![]));
            assert_eq!(next(state, &event, NOW), expected, "{state:?} {event:?}");
        }
    }

    #[test]
    #[rustfmt::skip]
    fn every_state_answers_every_event() {
        let kept = || Some((State::Kept, vec![]));
        let delivered = || Some((settled(), vec![]));
        let unknown = || Some((State::Unknown, vec![Reconcile]));
        let ended = |reason| Some((failed(reason), vec![VoidCredit, Withhold]));
        let answered = |actions| Some((State::Answered { by: PaymentKey([7; 32]), at: NOW }, actions));
        let (canceled, elsewhere, never) = (|| ended("authorization_canceled"), || ended("authorization_used_elsewhere"),
            || ended("authorization_never_used"));
        check(&State::New, [kept(), Some((State::Held, vec![IssueCredit])),
            None, None, None, None, None, None, None, None, None, answered(vec![]), None, None]);
        check(&State::Held, [kept(), None, Some((State::Released, vec![VoidCredit])),
            None, None, None, None, None, None, None, None, answered(vec![VoidCredit]), None, None]);
        check(&State::Kept, [None, None, None, delivered(),
            Some((failed("insufficient_funds"), vec![VoidCredit, Withhold])),
            Some((State::Unknown, vec![IssueCredit, Reconcile])), unknown(), delivered(), canceled(),
            elsewhere(), never(), None, None, None]);
        check(&State::Unknown, [None, None, None, delivered(), unknown(), unknown(), unknown(), delivered(), canceled(),
            elsewhere(), never(), None, delivered(), ended("ended_by_operator")]);
        for end in [settled(), failed("x"), State::Released, State::Answered { by: PaymentKey([7; 32]), at: NOW }] {
            check(&end, std::array::from_fn(|_| None));
        }
    }

    #[test]
    fn no_sequence_of_events_settles_twice_or_leaves_an_end() {
        // Every history of four events from the start, exhaustively.
        let all = events();
        let mut histories = vec![(State::New, 0)];
        for _ in 0..4 {
            histories = histories
                .into_iter()
                .flat_map(|(state, firsts)| {
                    all.iter()
                        .map(move |event| {
                            let (after, _) = next(&state, event, NOW);
                            if matches!(
                                state,
                                State::Settled { .. }
                                    | State::Failed { .. }
                                    | State::Released
                                    | State::Answered { .. }
                            ) {
                                assert_eq!(after, state);
                            }
                            let is_first = state != State::Kept && after == State::Kept;
                            (after, firsts + usize::from(is_first))
                        })
                        .collect::<Vec<_>>()
                })
                .collect();
        }
        assert!(histories.iter().all(|(_, firsts)| *firsts <= 1));
        assert!(
            histories
                .iter()
                .any(|(state, _)| matches!(state, State::Settled { .. }))
        );
    }
}
