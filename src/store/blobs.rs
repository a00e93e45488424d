//! Bytes by their SHA-256, stored once for everybody who needs them. Instead of counting references, each blob
//! carries the time until which somebody needs it; users only ever extend it.

use redb::ReadableTable;
use sha2::{Digest, Sha256};

use crate::domain::time::UnixSeconds;
use crate::store::pages::PAGES_BYTES;
use crate::store::tables::{BLOB_KEEP, BLOBS, Hash, META, Snapshot, Tables};
use crate::store::{Due, DueKind, StoreError};

/// The sum of all blobs, counted as they come and go.
const BLOBS_BYTES: &str = "blobs-bytes";

impl Tables<'_> {
    /// Counts the blobs of a file from before they were counted.
    pub(in crate::store) fn count_blobs(&mut self) -> Result<(), StoreError> {
        if self.meta.get(BLOBS_BYTES)?.is_some() {
            return Ok(());
        }
        let mut bytes = 0;
        for blob in self.blobs.iter()? {
            bytes += blob?.1.value().len() as u64;
        }
        self.meta.insert(BLOBS_BYTES, bytes)?;
        Ok(())
    }

    fn blobs_bytes(&self) -> Result<u64, StoreError> {
        Ok(self.meta.get(BLOBS_BYTES)?.map_or(0, |value| value.value()))
    }

    fn remove_blob(&mut self, key: Hash) -> Result<(), StoreError> {
        let removed = self.blobs.remove(key)?.map(|bytes| bytes.value().len());
        self.blob_keep.remove(key)?;
        if let Some(length) = removed {
            let bytes = self.blobs_bytes()?.saturating_sub(length as u64);
            self.meta.insert(BLOBS_BYTES, bytes)?;
        }
        Ok(())
    }

    /// Stores bytes, or keeps the stored ones longer.
    pub fn put_blob(
        &mut self,
        key: Hash,
        bytes: &[u8],
        keep_until: UnixSeconds,
    ) -> Result<(), StoreError> {
        if self.blobs.get(key)?.is_none() {
            self.blobs.insert(key, bytes)?;
            let all = self.blobs_bytes()? + bytes.len() as u64;
            self.meta.insert(BLOBS_BYTES, all)?;
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
        self.remove_blob(key)
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
            self.remove_blob(due.key)?;
        }
        Ok(())
    }
}

impl Snapshot {
    /// What is kept besides the cache: reports with their sources, and answers for a while.
    pub fn kept_bytes(&self) -> Result<u64, StoreError> {
        let table = self.table(META)?;
        let fact = |name| Ok::<u64, StoreError>(table.get(name)?.map_or(0, |value| value.value()));
        Ok(fact(BLOBS_BYTES)?.saturating_sub(fact(PAGES_BYTES)?))
    }

    /// Whether a blob is there, without reading it.
    pub fn keeps_blob(&self, key: Hash) -> Result<bool, StoreError> {
        Ok(self.table(BLOB_KEEP)?.get(key)?.is_some())
    }

    /// How long a blob is; 0 where there is none.
    pub fn blob_length(&self, key: Hash) -> Result<usize, StoreError> {
        let table = self.table(BLOBS)?;
        Ok(table.get(key)?.map_or(0, |bytes| bytes.value().len()))
    }

    /// The bytes of a blob as they lie there, for whoever checks them.
    pub fn blob_as_it_lies(&self, key: Hash) -> Result<Option<Vec<u8>>, StoreError> {
        let table = self.table(BLOBS)?;
        Ok(table.get(key)?.map(|bytes| bytes.value().to_vec()))
    }

    /// The bytes of a blob, checked against their key.
    pub fn blob(&self, key: Hash) -> Result<Option<Vec<u8>>, StoreError> {
        self.blob_with(key, <[u8]>::to_vec)
    }

    /// What is made of the bytes of a blob, which are checked against their key and not copied.
    pub fn blob_with<T>(
        &self,
        key: Hash,
        make: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, StoreError> {
        let table = self.table(BLOBS)?;
        let Some(bytes) = table.get(key)? else {
            return Ok(None);
        };
        if Hash::from(Sha256::digest(bytes.value())) != key {
            return Err(StoreError::Damaged { table: "blobs-1" });
        }
        Ok(Some(make(bytes.value())))
    }
}
