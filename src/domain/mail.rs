//! E-mails in the outbox: their kinds, states and retry schedule.

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

    /// When it is tried next.
    pub fn next_try(self) -> Option<u64> {
        match self {
            MailState::Waiting { at } => Some(at),
            MailState::Sent | MailState::Failed => None,
        }
    }

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

/// A text that somebody has typed, as a mail of ours may quote it: without anything that a mail program makes a link of.
///
/// SECURITY: our mail is trusted more than who wrote the words in it, so none of them leads anywhere.
pub fn without_links(text: &str) -> String {
    let words = text.split_whitespace().map(|word| match may_be_link(word) {
        true => "[link removed]",
        false => word,
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Whether a mail program may make a link of a word: it has a scheme, an at sign, or a dot before letters as a host name
/// has. Of doubtful ones such as `Node.js`, the answer is yes.
fn may_be_link(word: &str) -> bool {
    let is_host = |label: &str| {
        let letters = label.chars().take_while(|c| c.is_alphabetic()).count();
        letters >= 2
    };
    // Full stops of other scripts are dots in a host name (UTS 46).
    let mut labels = word.split(['.', '\u{3002}', '\u{ff0e}', '\u{ff61}']);
    let has_name = labels
        .next()
        .is_some_and(|first| first.ends_with(char::is_alphanumeric));
    let is_address = word.contains("://")
        || word.contains('@')
        || word.contains("mailto:")
        || word.contains("tel:");
    is_address
        || word.to_lowercase().contains("www.")
        || (has_name && labels.any(is_host))
        || has_ipv4(word)
}

/// Whether four numbers stand between dots, as in an address.
fn has_ipv4(word: &str) -> bool {
    let is_digits =
        |label: &str| !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_digit());
    let labels: Vec<&str> = word.split(['.', ':', '/']).collect();
    labels
        .windows(4)
        .any(|four| four.iter().all(|label| is_digits(label)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_quoted_is_a_link() {
        for (text, quoted) in [
            (
                "Is it free for children under 6.5 years?",
                "Is it free for children under 6.5 years?",
            ),
            (
                "Your payment failed, pay at https://evil.example/x now",
                "Your payment failed, pay at [link removed] now",
            ),
            ("pay at evil.example", "pay at [link removed]"),
            ("pay at (EVIL.example).", "pay at [link removed]"),
            ("see WWW.x", "see [link removed]"),
            ("write to a@b", "write to [link removed]"),
            (
                "evil\u{3002}example and evil\u{ff0e}example",
                "[link removed] and [link removed]",
            ),
            (
                "http://1.2.3.4 or 1.2.3.4/x",
                "[link removed] or [link removed]",
            ),
            ("javascript://x ok", "[link removed] ok"),
            ("one.\ntwo, e.g. three", "one. two, e.g. three"),
            ("", ""),
        ] {
            assert_eq!(without_links(text), quoted, "{text}");
        }
    }

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
