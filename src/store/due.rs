//! The schedule of due work. A row is written in the transaction of its cause and removed in the transaction of its effect.

use std::ops::Bound;

use crate::domain::time::UnixSeconds;
use crate::store::StoreError;
use crate::store::tables::{Hash, Snapshot, Tables};

/// One row of the time-ordered table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    pub at: UnixSeconds,
    pub kind: DueKind,
    pub key: Hash,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DueKind {
    /// Look at a payment: reconcile it, expire its credit, drop its kept answer. The key is its place in the order of
    /// arrival (`payments.rs`).
    Payment,
    /// A blob may be needed no longer.
    Blob,
    /// A cached page has reached its age.
    Page,
    /// A quote receipt has reached its age. The key is the id, then zeros.
    Quote,
    /// A report has reached its age, or its tombstone has. The key is the id, then zeros.
    Report,
    /// The operator is to be told of a new lead. The key is the id, then zeros.
    Notice,
    /// A bundle's quote receipt has reached its age. The key is the id, then zeros.
    BundleQuote,
    /// An order is to be worked on. The key is the id, then zeros.
    Order,
    /// An event of the payment provider has reached its age.
    ProviderEvent,
    /// A mail is to be sent, or has been long ago. The key is the mail's.
    Mail,
    /// A purchase is listed no longer. The key is its payment's place.
    Purchase,
}

impl DueKind {
    pub const ALL: [DueKind; 11] = [
        DueKind::Payment,
        DueKind::Blob,
        DueKind::Page,
        DueKind::Quote,
        DueKind::Report,
        DueKind::Notice,
        DueKind::BundleQuote,
        DueKind::Order,
        DueKind::ProviderEvent,
        DueKind::Mail,
        DueKind::Purchase,
    ];

    fn code(self) -> u8 {
        match self {
            DueKind::Payment => 1,
            DueKind::Blob => 2,
            DueKind::Page => 3,
            DueKind::Quote => 4,
            DueKind::Report => 5,
            DueKind::Notice => 6,
            DueKind::BundleQuote => 7,
            DueKind::Order => 8,
            DueKind::ProviderEvent => 10,
            DueKind::Mail => 9,
            DueKind::Purchase => 11,
        }
    }

    fn from_code(code: u8) -> Option<DueKind> {
        DueKind::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

impl Due {
    /// A row about what has an id of 16 bytes.
    pub(in crate::store) fn of_id(kind: DueKind, id: [u8; 16], at: UnixSeconds) -> Due {
        let mut key = [0; 32];
        key[..16].copy_from_slice(&id);
        Due { at, kind, key }
    }

    /// The id that [`Due::of_id`] was made of.
    pub fn id(self) -> [u8; 16] {
        let mut id = [0; 16];
        id.copy_from_slice(&self.key[..16]);
        id
    }

    pub(in crate::store) fn row(self) -> (u8, u64, Hash) {
        (self.kind.code(), self.at.0, self.key)
    }

    fn from_row((code, at, key): (u8, u64, Hash)) -> Result<Due, StoreError> {
        let kind = DueKind::from_code(code).ok_or(StoreError::Damaged { table: "due-1" })?;
        Ok(Due {
            at: UnixSeconds(at),
            kind,
            key,
        })
    }
}

impl Tables<'_> {
    pub fn schedule(&mut self, due: Due) -> Result<(), StoreError> {
        self.due.insert(due.row(), ())?;
        Ok(())
    }

    pub fn unschedule(&mut self, due: Due) -> Result<(), StoreError> {
        self.due.remove(due.row())?;
        Ok(())
    }

    /// Every row of a kind, whenever it is due.
    pub(in crate::store) fn all_due(&self, kind: DueKind) -> Result<Vec<Due>, StoreError> {
        let rows = self
            .due
            .range((kind.code(), 0, [0; 32])..=(kind.code(), u64::MAX, [u8::MAX; 32]))?;
        rows.map(|row| Due::from_row(row?.0.value())).collect()
    }

    /// The earliest row of a kind.
    pub(in crate::store) fn first_due(&self, kind: DueKind) -> Result<Option<Due>, StoreError> {
        self.next_due(kind, None)
    }

    /// The earliest row of a kind that comes after another one.
    pub(in crate::store) fn next_due(
        &self,
        kind: DueKind,
        after: Option<Due>,
    ) -> Result<Option<Due>, StoreError> {
        let begin = match after {
            Some(due) => Bound::Excluded(due.row()),
            None => Bound::Included((kind.code(), 0, [0; 32])),
        };
        let end = Bound::Included((kind.code(), u64::MAX, [u8::MAX; 32]));
        let mut rows = self.due.range::<(u8, u64, Hash)>((begin, end))?;
        rows.next()
            .map(|row| Due::from_row(row?.0.value()))
            .transpose()
    }
}

impl Snapshot {
    /// What is due of one kind until `until`, oldest first, at most `rows_max`.
    pub fn due(
        &self,
        kind: DueKind,
        until: UnixSeconds,
        rows_max: usize,
    ) -> Result<Vec<Due>, StoreError> {
        let rows = self
            .due
            .range((kind.code(), 0, [0; 32])..=(kind.code(), until.0, [u8::MAX; 32]))?;
        rows.take(rows_max)
            .map(|row| Due::from_row(row?.0.value()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_code_of_its_own() {
        for kind in DueKind::ALL {
            assert_eq!(DueKind::from_code(kind.code()), Some(kind));
        }
    }
}
