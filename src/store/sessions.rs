//! Signed-out sessions of the operator's console, stored until their cookies expire. Only a session's holder can end it, so
//! there are no more rows than sign-ins per day.

use crate::domain::time::UnixSeconds;
use crate::store::StoreError;
use crate::store::tables::{Snapshot, Tables};

/// How long after its end a row stays, in case the clock was ahead.
const KEPT_SECONDS: u64 = 24 * 3600;

impl Tables<'_> {
    /// Notes that a session is over, and forgets those that have expired since.
    pub fn end_session(
        &mut self,
        id: [u8; 16],
        expires_at: u64,
        now: UnixSeconds,
    ) -> Result<(), StoreError> {
        let mut expired = Vec::new();
        for row in self.ended_sessions.iter()? {
            let (id, expires_at) = row?;
            if UnixSeconds(expires_at.value()).plus(KEPT_SECONDS) <= now {
                expired.push(id.value());
            }
        }
        for id in expired {
            self.ended_sessions.remove(id)?;
        }
        self.ended_sessions.insert(id, expires_at)?;
        Ok(())
    }
}

impl Snapshot {
    /// Whether a session was signed out.
    pub fn is_session_ended(&self, id: [u8; 16]) -> Result<bool, StoreError> {
        Ok(self.ended_sessions.get(id)?.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::in_memory;

    #[tokio::test]
    async fn an_ended_session_is_known_until_its_cookie_is_long_expired() {
        let store = in_memory();
        let end = |id: u8, expires_at: u64, now: u64| {
            store.write(move |tables| {
                tables.end_session([id; 16], expires_at, UnixSeconds(now))?;
                tables.ended_sessions.len()
            })
        };
        let is_ended = |id: u8| store.read(move |snapshot| snapshot.is_session_ended([id; 16]));
        assert_eq!(end(1, 1_000, 10).await, Ok(1));
        assert_eq!(
            (is_ended(1).await, is_ended(2).await),
            (Ok(true), Ok(false))
        );
        assert_eq!(end(2, 1_001, 1_000 + KEPT_SECONDS - 1).await, Ok(2));
        assert_eq!(end(3, 200_000, 1_000 + KEPT_SECONDS).await, Ok(2));
        assert_eq!(
            (is_ended(1).await, is_ended(2).await),
            (Ok(false), Ok(true))
        );
    }
}
