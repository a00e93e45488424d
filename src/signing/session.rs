//! Who the operator is to a browser: a token is shown once, and a cookie that only its holder can have made stands for
//! it for half a day. Nothing is kept of a session but, by the one who uses this, that it was ended before its time; a
//! new token ends all of them. It knows no request.

use std::fmt;

use ring::hmac::{self, HMAC_SHA256, Key};

/// A session lasts 12 hours.
pub const SESSION_SECONDS: u64 = 12 * 3600;
/// Shorter tokens could be guessed.
pub const TOKEN_CHARACTERS_MIN: usize = 32;
const TAG_BYTES: usize = 32;

/// What the operator's token makes. Holds a key that is derived from it, not the token.
#[derive(Clone)]
pub struct Sessions {
    tokens: Key,
    cookies: Key,
    forms: Key,
    /// The token under its own key: what a shown token is compared with.
    token: [u8; TAG_BYTES],
}

/// Random bytes of a session.
pub type SessionId = [u8; 16];

/// A browser that has shown the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// What its cookie says, without the proof.
    body: String,
    /// What tells it from every other session.
    pub id: SessionId,
    pub expires_at: u64,
}

impl Sessions {
    /// `None` for a token that is too short, or not of visible ASCII.
    pub fn new(token: &str) -> Option<Sessions> {
        let is_good = token.len() >= TOKEN_CHARACTERS_MIN
            && token.bytes().all(|byte| byte.is_ascii_graphic());
        is_good.then(|| {
            let root = Key::new(HMAC_SHA256, token.as_bytes());
            let derived = |purpose: &str| {
                let tag = hmac::sign(&root, purpose.as_bytes());
                Key::new(HMAC_SHA256, tag.as_ref())
            };
            let tokens = derived("context402 operator token 1");
            Sessions {
                token: tag(&tokens, token),
                tokens,
                cookies: derived("context402 operator cookie 1"),
                forms: derived("context402 operator form 1"),
            }
        })
    }

    /// Whether this is the token. Takes as long for a near miss as for a far one.
    pub fn is_token(&self, shown: &str) -> bool {
        hmac::verify(&self.tokens, shown.as_bytes(), &self.token).is_ok()
    }

    /// A cookie for anyone who has just shown the token.
    pub fn open(&self, now: u64, random: SessionId) -> String {
        let expires_at = now.saturating_add(SESSION_SECONDS);
        let body = format!("{expires_at}.{}", hex::encode(random));
        let proof = hex::encode(tag(&self.cookies, &body));
        format!("{body}.{proof}")
    }

    /// The session that a cookie stands for, as long as it lasts.
    pub fn read(&self, cookie: &str, now: u64) -> Option<Session> {
        let (body, proof) = cookie.rsplit_once('.')?;
        if !is_tag(&self.cookies, body, proof) {
            return None;
        }
        let (expires_at, random) = body.split_once('.')?;
        let expires_at = expires_at.parse().ok()?;
        let mut id: SessionId = [0; 16];
        hex::decode_to_slice(random, &mut id).ok()?;
        let lasts = now < expires_at && expires_at - now <= SESSION_SECONDS;
        lasts.then(|| Session {
            body: body.to_owned(),
            id,
            expires_at,
        })
    }

    /// What a form of this session carries, and no other page can know.
    pub fn form_token(&self, session: &Session) -> String {
        hex::encode(tag(&self.forms, &session.body))
    }

    pub fn is_form_token(&self, session: &Session, shown: &str) -> bool {
        is_tag(&self.forms, &session.body, shown)
    }
}

fn tag(key: &Key, text: &str) -> [u8; TAG_BYTES] {
    let mut bytes = [0; TAG_BYTES];
    bytes.copy_from_slice(hmac::sign(key, text.as_bytes()).as_ref());
    bytes
}

/// Whether `shown` are the hex digits of the text's tag.
fn is_tag(key: &Key, text: &str, shown: &str) -> bool {
    let mut bytes = [0; TAG_BYTES];
    hex::decode_to_slice(shown, &mut bytes).is_ok()
        && hmac::verify(key, text.as_bytes(), &bytes).is_ok()
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef0123456789abcdef";
    const NOW: u64 = 1_795_000_000;

    fn sessions(token: &str) -> Sessions {
        Sessions::new(token).expect("a good token")
    }

    #[test]
    fn a_token_is_long_and_plain() {
        for refused in [
            "",
            "short",
            &"é".repeat(32),
            &format!("{TOKEN} "),
            &TOKEN[1..],
        ] {
            assert!(Sessions::new(refused).is_none(), "{refused}");
        }
        let sessions = sessions(TOKEN);
        assert!(sessions.is_token(TOKEN));
        for wrong in ["", &TOKEN[1..], &TOKEN.to_uppercase(), &format!("{TOKEN}0")] {
            assert!(!sessions.is_token(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_cookie_lasts_half_a_day_and_no_longer() {
        let sessions = sessions(TOKEN);
        let cookie = sessions.open(NOW, [7; 16]);
        assert!(sessions.read(&cookie, NOW).is_some());
        assert!(sessions.read(&cookie, NOW + SESSION_SECONDS - 1).is_some());
        assert!(sessions.read(&cookie, NOW + SESSION_SECONDS).is_none());
        // A clock that went back does not make it last longer than a session may.
        assert!(sessions.read(&cookie, NOW - 1).is_none());
    }

    #[test]
    fn nobody_else_makes_a_cookie() {
        let sessions = sessions(TOKEN);
        let cookie = sessions.open(NOW, [7; 16]);
        let others = self::sessions("another-token-of-enough-characters");
        assert!(others.read(&cookie, NOW).is_none());
        for position in 0..cookie.len() {
            let mut bytes = cookie.clone().into_bytes();
            bytes[position] = if bytes[position] == b'0' { b'1' } else { b'0' };
            let changed = String::from_utf8(bytes).expect("ASCII");
            assert!(sessions.read(&changed, NOW).is_none(), "{changed}");
        }
        for text in ["", ".", "..", "1.2.3", &cookie[..cookie.len() - 1]] {
            assert!(sessions.read(text, NOW).is_none(), "{text}");
        }
    }

    #[test]
    fn a_form_belongs_to_its_session() {
        let sessions = sessions(TOKEN);
        let session = |random| {
            let cookie = sessions.open(NOW, random);
            sessions.read(&cookie, NOW).expect("lasts")
        };
        let (mine, other) = (session([1; 16]), session([2; 16]));
        let token = sessions.form_token(&mine);
        assert!(sessions.is_form_token(&mine, &token));
        assert!(!sessions.is_form_token(&other, &token));
        assert!(!sessions.is_form_token(&mine, ""));
    }
}
