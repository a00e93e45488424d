//! Blobs by SHA-256, stored once and shared. Each has an expiry that users only extend; an unsettled sale holds its blobs
//! under its own key until it ends.

use sha2::{Digest, Sha256};

use crate::domain::keys::PaymentKey;
use crate::domain::time::UnixSeconds;
use crate::store::lazy_table::Transaction;
use crate::store::tables::{Hash, Records, Snapshot, Tables};
use crate::store::{Due, DueKind, StoreError};

/// The sum of all blobs, counted as they come and go.
const BLOBS_BYTES: &str = "blobs-bytes";

impl<T: Transaction> Records<T> {
    /// A fact about the file; 0 where it was never noted.
    pub(in crate::store) fn fact(&self, name: &str) -> Result<u64, StoreError> {
        Ok(self.meta.get(name)?.map_or(0, |value| value.value()))
    }

    /// The bytes of a blob, checked against their key.
    pub fn blob(&self, key: Hash) -> Result<Option<Vec<u8>>, StoreError> {
        self.blob_with(key, <[u8]>::to_vec)
    }

    /// What is made of the bytes of a blob, which are checked against their key and not copied.
    pub fn blob_with<M>(
        &self,
        key: Hash,
        make: impl FnOnce(&[u8]) -> M,
    ) -> Result<Option<M>, StoreError> {
        let Some(bytes) = self.blobs.get(key)? else {
            return Ok(None);
        };
        if Hash::from(Sha256::digest(bytes.value())) != key {
            return Err(StoreError::Damaged { table: "blobs-1" });
        }
        Ok(Some(make(bytes.value())))
    }
}

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

    pub(in crate::store) fn set_fact(
        &mut self,
        name: &'static str,
        value: u64,
    ) -> Result<(), StoreError> {
        self.meta.insert(name, value)?;
        Ok(())
    }

    fn remove_blob(&mut self, key: Hash) -> Result<(), StoreError> {
        let removed = self.blobs.remove(key)?.map(|bytes| bytes.value().len());
        self.blob_keep.remove(key)?;
        if let Some(length) = removed {
            let bytes = self.fact(BLOBS_BYTES)?.saturating_sub(length as u64);
            self.set_fact(BLOBS_BYTES, bytes)?;
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
        self.insert_blob(key, bytes)?;
        self.keep_blob(key, keep_until)
    }

    fn insert_blob(&mut self, key: Hash, bytes: &[u8]) -> Result<(), StoreError> {
        if self.blobs.get(key)?.is_none() {
            self.blobs.insert(key, bytes)?;
            let all = self.fact(BLOBS_BYTES)? + bytes.len() as u64;
            self.set_fact(BLOBS_BYTES, all)?;
        }
        Ok(())
    }

    /// Stores bytes for as long as a sale holds them.
    pub(in crate::store) fn hold_blob(
        &mut self,
        key: Hash,
        bytes: &[u8],
        sale: PaymentKey,
    ) -> Result<(), StoreError> {
        self.insert_blob(key, bytes)?;
        let place = self.place(sale)?;
        self.blob_holds.insert((key, place), ())?;
        Ok(())
    }

    /// The sale needs the blob no longer; it goes at once where nobody else does.
    pub(in crate::store) fn release_hold(
        &mut self,
        key: Hash,
        sale: PaymentKey,
        now: UnixSeconds,
    ) -> Result<(), StoreError> {
        if let Some(place) = self.known_place(sale)? {
            self.blob_holds.remove((key, place))?;
        }
        let kept = self.kept_until(key)?;
        if self.is_held(key)? || kept.is_some_and(|kept| kept > now) {
            return Ok(());
        }
        self.forget_keep(key)?;
        self.remove_blob(key)
    }

    fn is_held(&self, key: Hash) -> Result<bool, StoreError> {
        let mut holds = self.blob_holds.range((key, 0)..=(key, u64::MAX))?;
        Ok(holds.next().transpose()?.is_some())
    }

    fn kept_until(&self, key: Hash) -> Result<Option<UnixSeconds>, StoreError> {
        let kept = self.blob_keep.get(key)?;
        Ok(kept.map(|until| UnixSeconds(until.value())))
    }

    /// Makes sure that a blob outlives `until`.
    pub fn keep_blob(&mut self, key: Hash, until: UnixSeconds) -> Result<(), StoreError> {
        match self.kept_until(key)? {
            Some(kept) if kept >= until => Ok(()),
            _ => self.set_keep(key, until),
        }
    }

    /// Lets a blob go earlier, unless it goes earlier still.
    pub(in crate::store) fn shorten_blob(
        &mut self,
        key: Hash,
        until: UnixSeconds,
    ) -> Result<(), StoreError> {
        match self.kept_until(key)? {
            Some(kept) if kept > until => self.set_keep(key, until),
            _ => Ok(()),
        }
    }

    /// A blob has one due row at a time: however often it is extended, no more are left behind.
    fn set_keep(&mut self, key: Hash, until: UnixSeconds) -> Result<(), StoreError> {
        self.forget_keep(key)?;
        self.blob_keep.insert(key, until.0)?;
        self.schedule(Due {
            at: until,
            kind: DueKind::Blob,
            key,
        })
    }

    fn forget_keep(&mut self, key: Hash) -> Result<(), StoreError> {
        let Some(kept) = self.kept_until(key)? else {
            return Ok(());
        };
        self.blob_keep.remove(key)?;
        self.unschedule(Due {
            at: kept,
            kind: DueKind::Blob,
            key,
        })
    }

    /// Deletes a blob, or marks it for deletion when the last sale that holds it ends.
    pub(in crate::store) fn drop_blob(&mut self, key: Hash) -> Result<(), StoreError> {
        self.forget_keep(key)?;
        match self.is_held(key)? {
            true => Ok(()),
            false => self.remove_blob(key),
        }
    }

    /// Works off a due row: drops the blob unless it was extended since.
    pub fn sweep_blob(&mut self, due: Due, now: UnixSeconds) -> Result<(), StoreError> {
        self.unschedule(due)?;
        // An extended blob has a later row of its own.
        match self.kept_until(due.key)? {
            Some(kept) if kept <= now => self.drop_blob(due.key),
            _ => Ok(()),
        }
    }
}

impl<T: Transaction> Records<T> {
    /// How long a blob is; 0 where there is none.
    pub fn blob_length(&self, key: Hash) -> Result<usize, StoreError> {
        Ok(self.blobs.get(key)?.map_or(0, |bytes| bytes.value().len()))
    }
}

impl Snapshot {
    /// Bytes of all blobs: cached pages, answers, reports with their sources.
    pub fn blobs_bytes(&self) -> Result<u64, StoreError> {
        self.fact(BLOBS_BYTES)
    }

    /// Whether a blob is there, without reading it.
    pub fn keeps_blob(&self, key: Hash) -> Result<bool, StoreError> {
        Ok(self.blob_keep.get(key)?.is_some())
    }

    /// The bytes of a blob, for anyone who checks them.
    pub fn blob_unchecked(&self, key: Hash) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.blobs.get(key)?.map(|bytes| bytes.value().to_vec()))
    }
}
