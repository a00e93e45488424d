//! Any header and body of a payment provider's webhook: only what was signed with a secret, now, is taken; and what is
//! read of an event fits into an order, a mail and a page.

use std::path::Path;

use context402::domain::checkout::{ProviderEvent, judge};
use context402::domain::email::is_email;
use context402::signing::stamp;

use super::mutation::{files, mutated};
use super::random::Random;

const SECRETS: [&str; 2] = ["whsec_of_this_year", "whsec_of_last_year"];
const NOW: u64 = 1_795_000_000;
/// Moments that are now, and moments at and beyond its edges.
const MOMENTS: [u64; 8] = [
    NOW,
    NOW,
    NOW,
    NOW - stamp::TOLERANCE_SECONDS,
    NOW + stamp::TOLERANCE_SECONDS,
    NOW - stamp::TOLERANCE_SECONDS - 1,
    0,
    u64::MAX,
];

const HEADER_WORDS: [&str; 20] = [
    "t=",
    ",t=1795000000",
    "v1=",
    ",v1=",
    "v0=",
    ",",
    "=",
    " ",
    "-",
    "+",
    "0",
    "1795000000",
    "18446744073709551616",
    "00000000000000000000",
    "é",
    "\u{ff11}",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "FF",
    "0x",
    ";",
];
const BODY_WORDS: [&str; 32] = [
    "\"",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "null",
    "true",
    "-1",
    "1e400",
    "29900",
    "18446744073709551616",
    "\\u0000",
    "\\ud800",
    "\\r\\nBcc: a@b.example",
    "\u{feff}",
    "\"type\":\"checkout.session.completed\"",
    "\"type\":\"checkout.session.async_payment_succeeded\"",
    "\"payment_status\":\"paid\"",
    "\"client_reference_id\":\"lead_",
    "\"customer_details\":{\"email\":\"",
    "cs_live_",
    "cs_test_",
    "a@b.example",
    "@",
    "usd",
    "USD",
    "\"amount_total\":",
    "[[[[[[[[[[[[[[[[",
    "\"data\":{\"object\":{",
    "\n",
];

pub(crate) fn corpus(tests: &Path) -> Vec<Vec<u8>> {
    files(&tests.join("fuzz/corpus/webhook"))
}

/// A header, a line's end and a body, of which most were signed, and some were changed afterwards.
pub(crate) fn input(random: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    let body = mutated(random, seeds, &BODY_WORDS);
    let at = MOMENTS[random.below(MOMENTS.len())];
    let mut header = stamp::sign(random.pick(&SECRETS), at, &body).into_bytes();
    if random.below(2) == 0 {
        header = mutated(random, &[header], &HEADER_WORDS);
    }
    let sent = match random.below(4) {
        0 => mutated(random, &[body], &BODY_WORDS),
        _ => body,
    };
    header.retain(|byte| *byte != b'\n');
    [header, b"\n".to_vec(), sent].concat()
}

pub(crate) fn body(data: &[u8]) {
    let mut parts = data.splitn(2, |byte| *byte == b'\n');
    let header = String::from_utf8_lossy(parts.next().unwrap_or_default());
    let sent = parts.next().unwrap_or_default();
    if stamp::check(&header, SECRETS, sent, NOW).is_ok() {
        nothing_else_is_signed(&header, sent);
    }
    if let Ok(event) = ProviderEvent::read(sent) {
        what_is_read_fits(&event);
    }
}

/// The same signature is worth nothing for another body, under another secret, or later.
fn nothing_else_is_signed(header: &str, sent: &[u8]) {
    let longer = [sent, b" "].concat();
    assert!(stamp::check(header, SECRETS, &longer, NOW).is_err());
    if let [first, rest @ ..] = sent {
        let changed = [&[first ^ 1], rest].concat();
        assert!(stamp::check(header, SECRETS, &changed, NOW).is_err());
        assert!(stamp::check(header, SECRETS, rest, NOW).is_err());
    }
    assert!(stamp::check(header, ["whsec_of_another"], sent, NOW).is_err());
    let late = NOW + 2 * stamp::TOLERANCE_SECONDS + 1;
    let refused = stamp::check(header, SECRETS, sent, late);
    assert_eq!(refused, Err(stamp::StampError::Untimely));
}

fn what_is_read_fits(event: &ProviderEvent) {
    assert!((1..=255).contains(&event.id.len()) && event.id.is_ascii());
    assert!((1..=255).contains(&event.kind.len()) && event.kind.is_ascii());
    let Some(checkout) = &event.checkout else {
        return;
    };
    let session = checkout.session.as_str();
    assert!(session.starts_with("cs_") && session.len() <= 264 && session.is_ascii());
    assert!(checkout.currency.len() <= 255 && !checkout.currency.contains(char::is_whitespace));
    if let Some(email) = &checkout.email {
        assert!(is_email(email) && !email.contains(char::is_control));
    }
    let reference = checkout.reference.as_deref().unwrap_or_default();
    assert!(reference.chars().count() <= 255);
    assert!(judge(checkout, None, true).is_err(), "paid for no lead");
}
