//! The life of a mail in the outbox: what it is about, when it is tried again, and when nobody tries any more.
//! Knows no server and no store.

use serde::{Deserialize, Serialize};

/// Pauses after a failed try, in seconds: a minute, five, half an hour, two hours, twelve hours. Then it is over.
pub const PAUSES: [u64; 5] = [60, 300, 1800, 7200, 43_200];
/// Larger files are linked instead of attached: many mail servers refuse more.
pub const ATTACHMENT_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Longest address (RFC 5321, 4.5.3.1.3, less its brackets).
pub const ADDRESS_CHARACTERS_MAX: usize = 254;

/// What a mail is about. Stored: new kinds go to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MailKind {
    /// A finished order for its buyer.
    Delivery,
    /// The way back to an order, for a buyer who asked.
    Recovery,
    /// Something about an order that its buyer should know, such as a payment that failed.
    OrderNotice,
    /// Something that the operator should see to.
    OperatorNotice,
    /// Asked for by `mail test`.
    Test,
}

impl MailKind {
    pub const ALL: [MailKind; 5] = [
        MailKind::Delivery,
        MailKind::Recovery,
        MailKind::OrderNotice,
        MailKind::OperatorNotice,
        MailKind::Test,
    ];

    pub fn name(self) -> &'static str {
        match self {
            MailKind::Delivery => "delivery",
            MailKind::Recovery => "recovery",
            MailKind::OrderNotice => "order_notice",
            MailKind::OperatorNotice => "operator_notice",
            MailKind::Test => "test",
        }
    }
}

/// Where a mail stands. Stored: new states go to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MailState {
    /// To be tried at `at`.
    Waiting { at: u64 },
    /// The mail server has taken it.
    Sent,
    /// Nobody tries any more, until the operator says so.
    Failed,
}

impl MailState {
    pub const NAMES: [&'static str; 3] = ["waiting", "sent", "failed"];

    pub fn name(self) -> &'static str {
        match self {
            MailState::Waiting { .. } => "waiting",
            MailState::Sent => "sent",
            MailState::Failed => "failed",
        }
    }
}

/// Where a mail stands after its `tries`th try has failed at `now`.
pub fn after_failure(tries: u32, is_permanent: bool, now: u64) -> MailState {
    let pause = usize::try_from(tries.saturating_sub(1))
        .ok()
        .and_then(|position| PAUSES.get(position));
    match pause {
        Some(pause) if !is_permanent => MailState::Waiting {
            at: now.saturating_add(*pause),
        },
        _ => MailState::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mail_is_tried_six_times_over_fifteen_hours() {
        let mut now = 1000;
        let mut tries = 0;
        let mut waits = Vec::new();
        loop {
            tries += 1;
            match after_failure(tries, false, now) {
                MailState::Waiting { at } => {
                    waits.push(at - now);
                    now = at;
                }
                state => {
                    assert_eq!(state, MailState::Failed);
                    break;
                }
            }
        }
        assert_eq!((waits.as_slice(), tries), (PAUSES.as_slice(), 6));
    }

    #[test]
    fn what_a_server_refuses_for_good_is_not_tried_again() {
        assert_eq!(after_failure(1, true, 0), MailState::Failed);
    }
}
