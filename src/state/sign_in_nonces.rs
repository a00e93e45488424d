//! Nonces of the extension sign-in-with-x. They are not stored: a nonce carries its own end under a MAC, whose key is
//! drawn at each start. Only those that were used are held, until they would have expired.

use std::collections::HashMap;
use std::fmt;
use std::sync::Mutex;

use ring::hmac;

use crate::domain::limit_reached::LimitReached;
use crate::domain::time::UnixSeconds;
use crate::sync::lock;
use crate::x402::sign_in::{AGE_SECONDS_MAX, SignInError};

/// Used nonces that are held at the same time.
pub const USED_MAX: usize = 65_536;
const RANDOM_BYTES: usize = 16;
const END_BYTES: usize = 8;
const MAC_BYTES: usize = 16;
const NONCE_BYTES: usize = RANDOM_BYTES + END_BYTES + MAC_BYTES;

pub struct SignInNonces {
    key: hmac::Key,
    /// The random part of a used nonce → its end.
    used: Mutex<HashMap<[u8; RANDOM_BYTES], UnixSeconds>>,
}

impl SignInNonces {
    pub fn new(key: [u8; 32]) -> SignInNonces {
        SignInNonces {
            key: hmac::Key::new(hmac::HMAC_SHA256, &key),
            used: Mutex::default(),
        }
    }

    /// A new nonce, 80 hex digits.
    pub fn issue(&self, random: [u8; RANDOM_BYTES], now: UnixSeconds) -> String {
        let mut bytes = random.to_vec();
        bytes.extend(now.plus(AGE_SECONDS_MAX).0.to_be_bytes());
        let tag = hmac::sign(&self.key, &bytes);
        bytes.extend(&tag.as_ref()[..MAC_BYTES]);
        hex::encode(bytes)
    }

    /// Uses a nonce up. Only call this for one that was signed: what strangers make up must not take places.
    pub fn spend(
        &self,
        nonce: &str,
        now: UnixSeconds,
    ) -> Result<Result<(), SignInError>, LimitReached> {
        let Some((random, end)) = self.read(nonce).filter(|(_, end)| now < *end) else {
            return Ok(Err(SignInError::NonceUnknown));
        };
        let mut used = lock(&self.used);
        if used.contains_key(&random) {
            return Ok(Err(SignInError::NonceUsed));
        }
        if used.len() >= USED_MAX {
            used.retain(|_, end| now < *end);
        }
        if used.len() >= USED_MAX {
            return Err(LimitReached);
        }
        used.insert(random, end);
        Ok(Ok(()))
    }

    /// The random part and the end of a nonce of ours.
    fn read(&self, nonce: &str) -> Option<([u8; RANDOM_BYTES], UnixSeconds)> {
        // In one form only, or one nonce could be used in two.
        let is_written_by_us = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if !nonce.bytes().all(is_written_by_us) {
            return None;
        }
        let mut bytes = [0; NONCE_BYTES];
        hex::decode_to_slice(nonce, &mut bytes).ok()?;
        let (signed, mac) = bytes.split_at(RANDOM_BYTES + END_BYTES);
        let expected = hmac::sign(&self.key, signed);
        // Compared in time that depends on nothing secret: by MACs of both.
        let compared = hmac::sign(&self.key, &expected.as_ref()[..MAC_BYTES]);
        hmac::verify(&self.key, mac, compared.as_ref()).ok()?;
        let (random, end) = signed.split_at(RANDOM_BYTES);
        let end = UnixSeconds(u64::from_be_bytes(end.try_into().ok()?));
        Some((random.try_into().ok()?, end))
    }
}

impl fmt::Debug for SignInNonces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SignInNonces")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: UnixSeconds = UnixSeconds(1_795_000_000);

    fn numbered(number: usize) -> [u8; RANDOM_BYTES] {
        (number as u128).to_be_bytes()
    }

    #[test]
    fn a_nonce_is_good_once_and_for_five_minutes() {
        let nonces = SignInNonces::new([1; 32]);
        let nonce = nonces.issue([7; 16], NOW);
        assert_eq!(nonce.len(), 80);
        assert_eq!(nonces.spend(&nonce, NOW), Ok(Ok(())));
        assert_eq!(nonces.spend(&nonce, NOW), Ok(Err(SignInError::NonceUsed)));
        let late = nonces.issue([8; 16], NOW);
        let end = NOW.plus(AGE_SECONDS_MAX);
        assert_eq!(nonces.spend(&late, end), Ok(Err(SignInError::NonceUnknown)));
    }

    #[test]
    fn a_nonce_of_others_or_in_another_form_is_unknown() {
        let nonces = SignInNonces::new([1; 32]);
        let nonce = nonces.issue([0xab; 16], NOW);
        let mut altered = nonce.clone().into_bytes();
        altered[40] = if altered[40] == b'0' { b'1' } else { b'0' };
        for unknown in [
            SignInNonces::new([2; 32]).issue([0xab; 16], NOW),
            nonce.to_uppercase(),
            nonce[..78].to_owned(),
            String::from_utf8(altered).expect("ASCII"),
            String::new(),
        ] {
            assert_eq!(
                nonces.spend(&unknown, NOW),
                Ok(Err(SignInError::NonceUnknown)),
                "{unknown}"
            );
        }
        assert_eq!(nonces.spend(&nonce, NOW), Ok(Ok(())));
    }

    #[test]
    fn used_nonces_have_a_bound_and_none_is_forgotten_before_its_end() {
        let nonces = SignInNonces::new([1; 32]);
        let spend = |number: usize, now: UnixSeconds| {
            nonces.spend(&nonces.issue(numbered(number), now), now)
        };
        for number in 0..USED_MAX {
            assert_eq!(spend(number, NOW), Ok(Ok(())));
        }
        assert_eq!(spend(USED_MAX, NOW), Err(LimitReached));
        assert_eq!(spend(0, NOW), Ok(Err(SignInError::NonceUsed)));
        // Later they have expired, and make room.
        assert_eq!(spend(USED_MAX, NOW.plus(AGE_SECONDS_MAX)), Ok(Ok(())));
        assert_eq!(nonces.used.lock().expect("no panic").len(), 1);
    }
}
