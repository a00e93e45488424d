//! Signatures over a body and the moment of its sending, as payment providers put them on webhooks: `t=<Unix seconds>`
//! and `v1=<hex HMAC-SHA256 of "<t>." and the body>`. Pure: the time comes in. It does not know what the body says.

use std::fmt;

use ring::hmac;

/// How far the time of sending may lie from now, in seconds, before or after.
pub const TOLERANCE_SECONDS: u64 = 300;
/// Longest header that is read.
const HEADER_BYTES_MAX: usize = 4096;
/// Signatures that are tried; senders with two secrets send two.
const SIGNATURES_MAX: usize = 16;

/// Why a body is not taken for its sender's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StampError {
    /// No header, or none that can be read.
    Unreadable,
    /// Sent too long ago, or in the future.
    Untimely,
    /// No signature by any of the secrets.
    Wrong,
}

/// The header's value for a body that is sent at `at`.
pub fn sign(secret: &str, at: u64, body: &[u8]) -> String {
    let tag = context(secret, at, body).sign();
    format!("t={at},v1={}", hex::encode(tag.as_ref()))
}

/// Whether a header can be a signature of now, before there is a body to check it with. Anybody can write such a header:
/// it only says that it is worth the memory to receive the body.
pub fn check_head(header: &str, now: u64) -> Result<(), StampError> {
    let (at, _) = read(header).ok_or(StampError::Unreadable)?;
    timely(at, now)
}

/// Whether a body was sent by somebody who knows one of the secrets, about now.
pub fn check<'a>(
    header: &str,
    secrets: impl IntoIterator<Item = &'a str>,
    body: &[u8],
    now: u64,
) -> Result<(), StampError> {
    let (at, signatures) = read(header).ok_or(StampError::Unreadable)?;
    let mut is_signed = false;
    for secret in secrets {
        // ring compares in constant time; every pair is compared, whichever fits.
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        let signed = signed_text(at, body);
        for signature in &signatures {
            is_signed |= hmac::verify(&key, &signed, signature).is_ok();
        }
    }
    if !is_signed {
        return Err(StampError::Wrong);
    }
    timely(at, now)
}

fn timely(at: &str, now: u64) -> Result<(), StampError> {
    let at: u64 = at.parse().map_err(|_| StampError::Unreadable)?;
    match now.abs_diff(at) > TOLERANCE_SECONDS {
        true => Err(StampError::Untimely),
        false => Ok(()),
    }
}

/// The time as it was written, and every v1 signature that could be one.
fn read(header: &str) -> Option<(&str, Vec<[u8; 32]>)> {
    if header.len() > HEADER_BYTES_MAX {
        return None;
    }
    let (mut at, mut signatures) = (None, Vec::new());
    for part in header.split(',') {
        match part.trim().split_once('=')? {
            ("t", text) if at.is_none() && is_time(text) => at = Some(text),
            ("t", _) => return None,
            ("v1", digits) if signatures.len() < SIGNATURES_MAX => {
                let mut signature = [0; 32];
                if hex::decode_to_slice(digits, &mut signature).is_ok() {
                    signatures.push(signature);
                }
            }
            // v0 is for tests of the provider's own; what may come later is not for us either.
            _ => {}
        }
    }
    let at = at?;
    (!signatures.is_empty()).then_some((at, signatures))
}

fn is_time(text: &str) -> bool {
    (1..=15).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn signed_text(at: &str, body: &[u8]) -> Vec<u8> {
    [at.as_bytes(), b".", body].concat()
}

fn context(secret: &str, at: u64, body: &[u8]) -> hmac::Context {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let mut context = hmac::Context::with_key(&key);
    context.update(at.to_string().as_bytes());
    context.update(b".");
    context.update(body);
    context
}

/// A keyed hash, for links that only we can make.
pub fn seal(key: &[u8; 32], text: &str) -> [u8; 32] {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    let mut sealed = [0; 32];
    sealed.copy_from_slice(hmac::sign(&key, text.as_bytes()).as_ref());
    sealed
}

/// Whether `sealed` is what [`seal`] made; compared in constant time.
pub fn is_sealed(key: &[u8; 32], text: &str, sealed: &[u8; 32]) -> bool {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    hmac::verify(&key, text.as_bytes(), sealed).is_ok()
}

impl fmt::Display for StampError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StampError::Unreadable => "the signature header is missing or cannot be read",
            StampError::Untimely => "the signature is not of now",
            StampError::Wrong => "no signature matches",
        })
    }
}

impl std::error::Error for StampError {}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "whsec_test_secret";
    const BODY: &[u8] = b"{\"id\":\"evt_1\"}\r\n";
    const NOW: u64 = 1_795_000_000;

    fn check_one(header: &str, body: &[u8], now: u64) -> Result<(), StampError> {
        check(header, [SECRET], body, now)
    }

    /// Made by Python's hmac module, as the provider's libraries make it.
    #[test]
    fn a_signature_made_elsewhere_is_taken() {
        let body = br#"{"id":"evt_1"}"#;
        let made = "3511d18a343d1afb3e94774a798032a44b9e3ef6ae7b5210fedfdc6efe1773d0";
        let header = format!("t=1795000000,v1={made}");
        assert_eq!(sign(SECRET, NOW, body), header);
        assert_eq!(check_one(&header, body, NOW), Ok(()));
    }

    #[test]
    fn what_was_signed_is_taken_and_nothing_else() {
        let header = sign(SECRET, NOW, BODY);
        assert_eq!(check_one(&header, BODY, NOW), Ok(()));
        assert_eq!(check_one(&header, BODY, NOW + 300), Ok(()));
        assert_eq!(check_one(&header, BODY, NOW - 300), Ok(()));
        for late in [NOW + 301, NOW - 301] {
            assert_eq!(check_one(&header, BODY, late), Err(StampError::Untimely));
        }
        for position in 0..BODY.len() {
            let mut changed = BODY.to_vec();
            changed[position] ^= 1;
            assert_eq!(check_one(&header, &changed, NOW), Err(StampError::Wrong));
        }
        let trimmed = BODY.trim_ascii_end();
        assert_eq!(check_one(&header, trimmed, NOW), Err(StampError::Wrong));
        let other = check(&header, ["whsec_other"], BODY, NOW);
        assert_eq!(other, Err(StampError::Wrong));
        assert_eq!(check(&header, [], BODY, NOW), Err(StampError::Wrong));
    }

    #[test]
    fn a_head_is_worth_a_body_if_it_can_be_a_signature_of_now() {
        let header = sign("whsec_anything", NOW, BODY);
        for now in [NOW - 300, NOW, NOW + 300] {
            assert_eq!(check_head(&header, now), Ok(()));
        }
        for now in [NOW - 301, NOW + 301] {
            assert_eq!(check_head(&header, now), Err(StampError::Untimely));
        }
        for header in [
            "",
            "t=1795000000",
            "v1=00",
            "t=1795000000,v1=00",
            "nonsense",
        ] {
            assert_eq!(
                check_head(header, NOW),
                Err(StampError::Unreadable),
                "{header}"
            );
        }
    }

    #[test]
    fn secrets_may_be_changed_while_both_are_in_use() {
        let old = sign("whsec_old", NOW, BODY);
        let new = sign("whsec_new", NOW, BODY);
        let both = format!("{old},{}", &new[new.find("v1").expect("a signature")..]);
        for secret in ["whsec_old", "whsec_new"] {
            assert_eq!(check(&both, [secret], BODY, NOW), Ok(()), "{secret}");
        }
        for header in [&old, &new] {
            assert_eq!(check(header, ["whsec_old", "whsec_new"], BODY, NOW), Ok(()));
        }
    }

    #[test]
    fn headers_that_are_none_are_refused() {
        let good = sign(SECRET, NOW, BODY);
        let digits = &good[good.find("v1=").expect("a signature") + 3..];
        for header in [
            "",
            "t=1795000000",
            "v1=00",
            digits,
            &format!("v1={digits}"),
            &format!("t=,v1={digits}"),
            &format!("t=-1,v1={digits}"),
            &format!("t=1e9,v1={digits}"),
            &format!("t=1795000000,v0={digits}"),
            &format!("t=1795000000,t=1795000000,v1={digits}"),
            &format!("t=1795000000;v1={digits}"),
            &format!("t=1795000000,v1={}", &digits[2..]),
            &format!("{},{good}", "x=1,".repeat(2000)),
        ] {
            assert_eq!(
                check_one(header, BODY, NOW),
                Err(StampError::Unreadable),
                "{header}"
            );
        }
        let upper = format!("t=1795000000, v1={}", digits.to_uppercase());
        assert_eq!(
            check_one(&upper, BODY, NOW),
            Ok(()),
            "spelling is no secret"
        );
    }

    #[test]
    fn a_link_is_sealed_by_its_own_key() {
        let sealed = seal(&[7; 32], "ord_1.9");
        assert!(is_sealed(&[7; 32], "ord_1.9", &sealed));
        assert!(!is_sealed(&[8; 32], "ord_1.9", &sealed));
        assert!(!is_sealed(&[7; 32], "ord_1.10", &sealed));
    }
}
