//! One-time links that sign a browser in to the operator's console. Only their hashes are held, and only until they are
//! used or a few minutes old; a restart ends them.

use std::sync::{Mutex, MutexGuard};

use sha2::{Digest as _, Sha256};

use crate::domain::time::UnixSeconds;
use crate::sync::lock;

/// How long a link is good.
pub const SIGN_IN_LINK_SECONDS: u64 = 600;
/// Links that are good at the same time; a further one replaces the oldest.
const LINKS_MAX: usize = 8;

#[derive(Debug, Default)]
pub struct SignInLinks(Mutex<Vec<Link>>);

#[derive(Debug)]
struct Link {
    hash: [u8; 32],
    expires_at: UnixSeconds,
}

impl SignInLinks {
    /// The code of a new link, made of random bytes, and when it expires.
    pub fn issue(
        &self,
        random: [u8; 16],
        now: UnixSeconds,
        lasts_seconds: u64,
    ) -> (String, UnixSeconds) {
        let code = hex::encode(random);
        let expires_at = now.plus(lasts_seconds);
        let mut links = self.good(now);
        if links.len() >= LINKS_MAX {
            links.remove(0);
        }
        links.push(Link {
            hash: hash(&code),
            expires_at,
        });
        (code, expires_at)
    }

    /// Whether the code is good; it never is again.
    pub fn take(&self, code: &str, now: UnixSeconds) -> bool {
        let hash = hash(code);
        let mut links = self.good(now);
        // Compared by hash: the time it takes says nothing about a code.
        let found = links.iter().position(|link| link.hash == hash);
        found.map(|at| links.remove(at)).is_some()
    }

    fn good(&self, now: UnixSeconds) -> MutexGuard<'_, Vec<Link>> {
        let mut links = lock(&self.0);
        links.retain(|link| now < link.expires_at);
        links
    }
}

fn hash(code: &str) -> [u8; 32] {
    Sha256::digest(code).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: UnixSeconds = UnixSeconds(1_795_000_000);

    #[test]
    fn a_link_is_good_once_and_for_a_while() {
        let links = SignInLinks::default();
        let (code, expires_at) = links.issue([7; 16], NOW, SIGN_IN_LINK_SECONDS);
        assert_eq!(expires_at, NOW.plus(SIGN_IN_LINK_SECONDS));
        assert!(!links.take(&code[1..], NOW) && !links.take("", NOW));
        assert!(links.take(&code, NOW));
        assert!(!links.take(&code, NOW));
        let (late, expires_at) = links.issue([8; 16], NOW, SIGN_IN_LINK_SECONDS);
        assert!(!links.take(&late, expires_at));
        // What is held is not what is shown.
        links.issue([9; 16], NOW, SIGN_IN_LINK_SECONDS);
        assert!(!format!("{links:?}").contains(&"09".repeat(16)));
    }

    #[test]
    fn the_oldest_of_too_many_links_ends() {
        let links = SignInLinks::default();
        let codes: Vec<String> = (0..10)
            .map(|n| links.issue([n; 16], NOW, SIGN_IN_LINK_SECONDS).0)
            .collect();
        let good: Vec<bool> = codes.iter().map(|code| links.take(code, NOW)).collect();
        assert_eq!(good.iter().filter(|good| **good).count(), LINKS_MAX);
        assert!(!good[0] && !good[1] && good[9]);
    }
}
