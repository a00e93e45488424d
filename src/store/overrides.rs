//! Settings that the operator has changed in the console, and the record of what was changed when. Only the operator writes
//! here.

use serde::{Deserialize, Serialize};

use crate::store::StoreError;
use crate::store::record::{decode, encode};
use crate::store::tables::{Snapshot, Tables};

const OVERRIDES_TABLE: &str = "overrides-1";
const CHANGES_TABLE: &str = "changes-1";
/// Changes that are stored; the oldest leave.
const CHANGES_MAX: u64 = 1_000;

/// The value of a setting in place of the configuration's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Override {
    /// As it was typed.
    pub text: String,
    /// When, in Unix seconds.
    pub at: u64,
}

/// One change of a setting or of the service's state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// When, in Unix seconds.
    pub at: u64,
    /// What was done, such as `set`.
    pub act: String,
    /// The setting.
    pub setting: String,
    pub old: String,
    pub new: String,
}

impl Tables<'_> {
    /// Stores the value of a setting, or with `None` leaves it to the configuration.
    pub fn put_override(&mut self, key: &str, value: Option<&Override>) -> Result<(), StoreError> {
        match value {
            Some(value) => self.overrides.insert(key, encode(value)?.as_slice())?,
            None => self.overrides.remove(key)?,
        };
        Ok(())
    }

    pub fn note_change(&mut self, change: &Change) -> Result<(), StoreError> {
        let last = self.changes.last()?.map_or(0, |(number, _)| number.value());
        self.changes.insert(last + 1, encode(change)?.as_slice())?;
        while self.changes.len()? > CHANGES_MAX {
            self.changes.pop_first()?;
        }
        Ok(())
    }
}

impl Snapshot {
    /// Every setting that has a value of the console.
    pub fn overrides(&self) -> Result<Vec<(String, Override)>, StoreError> {
        let rows = self.overrides.iter()?;
        rows.map(|row| {
            let (key, bytes) = row?;
            Ok((
                key.value().to_owned(),
                decode(bytes.value(), OVERRIDES_TABLE)?,
            ))
        })
        .collect()
    }

    /// The changes, newest first.
    pub fn changes(&self) -> Result<Vec<Change>, StoreError> {
        let rows = self.changes.iter()?.rev();
        rows.map(|row| decode(row?.1.value(), CHANGES_TABLE))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::in_memory;

    #[tokio::test]
    async fn the_oldest_changes_leave() {
        let store = in_memory();
        let change = |at: u64| Change {
            at,
            act: "set".to_owned(),
            setting: "fetch.blocklist".to_owned(),
            old: String::new(),
            new: "a.example".to_owned(),
        };
        let noted = store.write(move |tables| {
            (0..CHANGES_MAX + 2).try_for_each(|at| tables.note_change(&change(at)))
        });
        noted.await.expect("written");
        let changes = store.read(Snapshot::changes).await.expect("read");
        let times = changes.iter().map(|change| change.at);
        assert!(times.eq((2..CHANGES_MAX + 2).rev()));
    }
}
