//! Bytes by their SHA-256, stored once for everybody who needs them. Instead of counting references, each blob
//! carries the time until which somebody needs it; users only ever extend it.

use redb::ReadableTable;
use sha2::{Digest, Sha256};

use crate::domain::time::UnixSeconds;
use crate::store::tables::{BLOBS, Hash, Snapshot, Tables};
use crate::store::{Due, DueKind, StoreError};

impl Tables<'_> {
    /// Stores bytes, or keeps the stored ones longer.
    pub fn put_blob(
        &mut self,
        key: Hash,
        bytes: &[u8],
        keep_until: UnixSeconds,
    ) -> Result<(), StoreError> {
        if self.blobs.get(key)?.is_none() {
            self.blobs.insert(key, bytes)?;
        }
        self.keep_blob(key, keep_until)
    }

    /// Makes sure that a blob outlives `until`.
    pub fn keep_blob(&mut self, key: Hash, until: UnixSeconds) -> Result<(), StoreError> {
        let kept = self.blob_keep.get(key)?.map(|value| value.value());
        if kept.is_some_and(|kept| kept >= until.0) {
            return Ok(());
        }
        self.blob_keep.insert(key, until.0)?;
        self.schedule(Due {
            at: until,
            kind: DueKind::Blob,
            key,
        })
    }

    /// Lets a blob go earlier.
    pub(in crate::store) fn shorten_blob(
        &mut self,
        key: Hash,
        until: UnixSeconds,
    ) -> Result<(), StoreError> {
        self.blob_keep.insert(key, until.0)?;
        self.schedule(Due {
            at: until,
            kind: DueKind::Blob,
            key,
        })
    }

    /// Lets a blob go at once.
    pub(in crate::store) fn drop_blob(&mut self, key: Hash) -> Result<(), StoreError> {
        self.blobs.remove(key)?;
        self.blob_keep.remove(key)?;
        Ok(())
    }

    /// Whether a blob is there.
    pub fn has_blob(&self, key: Hash) -> Result<bool, StoreError> {
        Ok(self.blobs.get(key)?.is_some())
    }

    /// Works off a due row: drops the blob unless it was extended since.
    pub fn sweep_blob(&mut self, due: Due, now: UnixSeconds) -> Result<(), StoreError> {
        self.unschedule(due)?;
        let kept = self.blob_keep.get(due.key)?.map(|value| value.value());
        // An extended blob has a later row of its own.
        if kept.is_some_and(|kept| kept <= now.0) {
            self.blobs.remove(due.key)?;
            self.blob_keep.remove(due.key)?;
        }
        Ok(())
    }
}

impl Snapshot {
    /// The bytes of a blob as they lie there, for whoever checks them.
    pub fn blob_as_it_lies(&self, key: Hash) -> Result<Option<Vec<u8>>, StoreError> {
        let table = self.table(BLOBS)?;
        Ok(table.get(key)?.map(|bytes| bytes.value().to_vec()))
    }

    /// The bytes of a blob, checked against their key.
    pub fn blob(&self, key: Hash) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(bytes) = self.blob_as_it_lies(key)? else {
            return Ok(None);
        };
        if Hash::from(Sha256::digest(&bytes)) != key {
            return Err(StoreError::Damaged { table: "blobs-1" });
        }
        Ok(Some(bytes))
    }
}
