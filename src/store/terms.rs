//! Recently offered payment terms, so that payments signed just before a configuration change are honoured, and reconciled
//! with the address that they paid.

use crate::domain::time::{DAY_SECONDS, UnixSeconds};
use crate::store::StoreError;
use crate::store::tables::{Snapshot, Tables};

/// As long as a day may be reconciled after its end, with what was settled near it.
const KEPT_SECONDS: u64 = 12 * DAY_SECONDS;

impl Tables<'_> {
    /// Notes that these terms are offered at `now`, and forgets those of long ago.
    pub fn note_terms(&mut self, terms: &str, now: UnixSeconds) -> Result<(), StoreError> {
        self.terms
            .retain(|_, last| now.since(UnixSeconds(last)) <= KEPT_SECONDS)?;
        self.terms.insert(terms, now.0)?;
        Ok(())
    }
}

impl Snapshot {
    pub fn terms(&self) -> Result<Vec<(String, UnixSeconds)>, StoreError> {
        let rows = self.terms.iter()?;
        rows.map(|row| {
            let (terms, last) = row?;
            Ok((terms.value().to_owned(), UnixSeconds(last.value())))
        })
        .collect()
    }
}
