//! One embedded redb file. redb is used here and nowhere else.
//!
//! Writes go through one named thread, which takes what is waiting into one transaction and one durable commit, and
//! answers only after it (group commit). Single records are read where they are needed; scans and large blobs on a few
//! threads of their own, so that they cannot stall the async threads. A job returns business outcomes as values; an `Err` means that the file
//! itself failed: the whole batch is rolled back, and the store refuses writes from then on, since redb must be
//! reopened after an I/O error.

pub mod any_bytes;
mod backup;
mod blobs;
mod bundle_quotes;
mod copy_on_write;
mod disk_space;
mod due;
mod files;
mod goods;
mod handle;
mod lazy_table;
mod leads;
mod ledger;
mod migrate;
mod open;
mod open_error;
mod orders;
mod outbox;
mod overrides;
mod pages;
mod payments;
mod purchases;
mod quotes;
mod record;
mod reports;
mod restore;
mod sessions;
mod settlements;
mod tables;
mod terms;
mod threads;
mod throttled_copy;
mod unpaid;
mod verify;

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::domain::time::UnixSeconds;
use crate::store::handle::Handle;
use crate::sync::lock;

pub use backup::{BackupError, CopyOptions};
pub use bundle_quotes::BundleQuoteRecord;
pub use disk_space::free_bytes;
pub use due::{Due, DueKind};
pub use goods::HeldPage;
pub use lazy_table::Transaction;
pub use leads::{LeadFilter, NoticeRecord};
pub use ledger::{LedgerCheck, LedgerDay};
pub use open::{Opened, SCHEMA_VERSION, is_data_file};
pub use open_error::OpenError;
pub use orders::{EventRecord, OrderReport, SourceRecord, email_key, event_key, session_key};
pub use outbox::{Mail, MailAttachment, MailOutcome, MailRecord, mail_key};
pub use overrides::{Change, Override};
pub use pages::PageRecord;
pub(crate) use pages::page_key;
pub use payments::{credit_hash, identifier_key};
pub use purchases::{BoughtPayment, purchase_id};
pub use quotes::{QuoteRecord, Receipt};
pub use reports::{Listing, PublicLink, ReportRecord};
pub use restore::{RestoreError, Restored};
pub use settlements::{
    Difference, Discrepancy, Overpayment, SettlementClaim, SettlementSummary, UnverifiedSettlement,
};
#[cfg(test)]
pub(crate) use tables::NAMES as TABLE_NAMES;
pub use tables::{Records, Snapshot, Tables};
pub use unpaid::Unpaid;
pub use verify::Verified;

/// The open data file.
#[derive(Clone)]
pub struct Store {
    database: Handle,
    threads: Arc<threads::Threads>,
    room: Arc<disk_space::DiskSpace>,
    settings: Settings,
    counted: Arc<Mutex<Option<Counted>>>,
}

/// What the tables held at some moment; no bytes while the first count is under way.
#[derive(Clone, Copy)]
struct Counted {
    at: Instant,
    bytes: Option<u64>,
}

/// Counting walks the whole file, so that anyone who asks for the metrics must not have it done each time.
const COUNT_PAUSE: Duration = Duration::from_secs(600);

/// Limits of an open store.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// redb's page cache. Its own default is 1 GiB.
    pub cache_bytes: usize,
    /// Most bytes of cached pages kept in the file.
    pub pages_bytes_max: u64,
    /// Most bytes of each kind of unpaid record ([`Unpaid`]); beyond it the oldest leave, or new ones are refused.
    pub unpaid_bytes_max: u64,
    /// Most bytes of goods whose sale is not settled; beyond it no more are kept.
    pub unsettled_bytes_max: u64,
    /// Space on the file's disk below which nothing is sold; from twice that on cached pages and unpaid records leave.
    /// 0 is no floor.
    pub sales_free_bytes_min: u64,
    /// Space on the file's disk below which nothing is written. 0 is no floor.
    pub free_bytes_min: u64,
}

/// Why the store could not do what was asked. Every one of these stops the sale of anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// More is waiting than the queue holds; the caller may try again.
    Busy,
    /// The store is closed, or has failed before.
    Closed,
    /// The disk is full, or nearly so. Nothing of what was asked is written.
    NoRoom,
    /// A record does not carry its checksum, or cannot be read by this version.
    Damaged { table: &'static str },
    /// redb or the disk failed.
    File(String),
}

impl Store {
    /// Runs `work` on the writer thread and returns once its effect is durable.
    pub async fn write<T, W>(&self, work: W) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: FnOnce(&mut Tables<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        self.room.check()?;
        self.threads.write(work).await
    }

    /// Whether writes are taken, as far as the disk goes.
    pub fn has_room(&self) -> bool {
        self.room.check().is_ok()
    }

    /// Removes cached pages and unpaid records that are beyond what the disk allows now, a part at a time. Tells
    /// whether more are left.
    pub async fn trim(&self, now: UnixSeconds) -> Result<bool, StoreError> {
        let allowed = self.room.allowed(&self.settings);
        // Mostly there is nothing to remove, and nothing is written for it.
        match self
            .read(move |snapshot| snapshot.is_over(&allowed))
            .await?
        {
            true => self.write(move |tables| tables.trim(now)).await,
            false => Ok(false),
        }
    }

    /// Whether the disk is so full that cached pages and unpaid records have less than their bound.
    pub fn is_short(&self) -> bool {
        self.room.is_short()
    }

    /// Runs `work` on a reader thread, over one consistent snapshot.
    pub async fn read<T, R>(&self, work: R) -> Result<T, StoreError>
    where
        T: Send + 'static,
        R: FnOnce(&Snapshot) -> Result<T, StoreError> + Send + 'static,
    {
        self.threads.read(work).await
    }

    /// Runs `work` here and now, over one consistent snapshot. For a few records by their keys: it may wait for the disk,
    /// and the async thread waits with it.
    pub fn look_up<T>(
        &self,
        work: impl FnOnce(&Snapshot) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.threads.look_up(work)
    }

    /// Resolves when the file has failed and the process should end, so that its supervisor restarts it.
    pub async fn failed(&self) {
        self.threads.failed().await;
    }

    /// Finishes what is queued, marks the file as cleanly closed and lets go of it.
    pub async fn close(self) -> Result<(), StoreError> {
        // Where the disk is full it may still fit, and is tried.
        let marked = self.threads.write(|tables| tables.mark_clean(true)).await;
        self.threads.stop().await;
        marked
    }

    /// Copies everything, as it stands now, into a new file; gives its length. Blocks for as long as that takes, while
    /// reads and writes go on.
    pub fn copy_to(
        &self,
        path: &Path,
        now: UnixSeconds,
        options: &CopyOptions,
    ) -> Result<u64, BackupError> {
        backup::copy((&self.database, self.room.file()), path, now, options)
    }

    /// Bytes that the file's tables hold, for the metrics: as they were some minutes ago at most, and `None` while
    /// nobody has counted yet.
    pub async fn stored_bytes(&self) -> Result<Option<u64>, StoreError> {
        {
            let mut counted = self.counted();
            if let Some(counted) = *counted
                && counted.at.elapsed() < COUNT_PAUSE
            {
                return Ok(counted.bytes);
            }
            // Anyone who asks meanwhile gets what was known before.
            let bytes = counted.and_then(|counted| counted.bytes);
            *counted = Some(Counted {
                at: Instant::now(),
                bytes,
            });
        }
        let bytes = Some(self.count_bytes().await?);
        *self.counted() = Some(Counted {
            at: Instant::now(),
            bytes,
        });
        Ok(bytes)
    }

    /// The same as they are now. Takes the longer the more there are.
    pub async fn count_bytes(&self) -> Result<u64, StoreError> {
        let database = self.database.clone();
        self.threads
            .read(move |_| open::file_bytes(&database))
            .await
    }

    /// Nothing panics while it is held.
    fn counted(&self) -> MutexGuard<'_, Option<Counted>> {
        lock(&self.counted)
    }
}

impl Settings {
    /// Opens an existing file; checks all of it after a stop of the machine, or when `check` asks for it.
    pub fn open(&self, path: &Path, check: bool) -> Result<Opened, OpenError> {
        open::open(path, *self, check, migrate::MIGRATIONS)
    }

    /// Looks through all of a backup, or of a data file that nobody has open, without touching it.
    pub fn verify(&self, path: &Path) -> Result<Verified, OpenError> {
        verify::verify(path, *self)
    }

    /// Puts a backup in a data file's place and keeps what lay there. A sound file that was written to after the
    /// backup was made is replaced only on demand.
    pub fn restore(
        &self,
        backup: &Path,
        data_file: &Path,
        now: UnixSeconds,
        discard_newer: bool,
    ) -> Result<Restored, RestoreError> {
        restore::restore(backup, data_file, *self, now, discard_newer)
    }

    /// Opens a file that lies on a test's own disk.
    #[cfg(test)]
    pub(crate) fn open_on(&self, disk: impl redb::StorageBackend) -> Result<Opened, OpenError> {
        open::open_on(disk, *self)
    }

    /// Makes the first data file. Refuses a path where something is.
    pub fn create(&self, path: &Path) -> Result<Opened, OpenError> {
        open::create(path, *self)
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Busy => f.write_str("the store's queue is full"),
            StoreError::Closed => f.write_str("the store is closed"),
            StoreError::NoRoom => f.write_str("there is no room on the data file's disk"),
            StoreError::Damaged { table } => {
                write!(f, "a record of table {table} is damaged; restore a backup")
            }
            StoreError::File(error) => write!(f, "the data file failed: {error}"),
        }
    }
}

impl std::error::Error for StoreError {}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Store")
    }
}

#[cfg(test)]
mod tests;
