//! Copies the data file table by table from one read transaction while sales go on: compact and consistent.

use std::fmt;
use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};

use redb::{
    Database, ReadTransaction, ReadableDatabase, ReadableTable, ReadableTableMetadata,
    TableDefinition, TableHandle as _, WriteTransaction,
};

use crate::domain::time::UnixSeconds;
use crate::store::StoreError;
use crate::store::disk_space::DiskSpace;
use crate::store::files::{durable, private};
use crate::store::tables::{CLEAN, META, VisitTable, each_table, is_known};
use crate::store::throttled_copy::{GoesOn, Source, Throttled};

/// When a copy was made. Only copies carry it.
pub(in crate::store) const TAKEN_AT: &str = "taken-at";
/// When the newest copy of this file was made.
pub(in crate::store) const BACKED_UP_AT: &str = "backed-up-at";
/// The copy's page cache; what is beyond goes to the disk at once.
const CACHE_BYTES: usize = 4 * 1024 * 1024;

/// What a copy keeps to while it is made.
#[derive(Clone)]
pub struct CopyOptions {
    /// Space that stays free on its disk, no matter who takes the rest.
    pub free_bytes_min: u64,
    /// Asked now and then: whether the copy is still wanted.
    pub goes_on: GoesOn,
}

/// Why there is no copy. What had been written of it is gone.
#[derive(Debug)]
pub enum BackupError {
    /// It was not wanted any more.
    Stopped,
    /// The data file has grown too much meanwhile.
    Outgrown,
    Io {
        path: PathBuf,
        error: io::Error,
    },
    /// A newer program has put something into the file that this one would leave out.
    UnknownTable(String),
    /// The data file could not be read, or the copy could not be written.
    Copy(StoreError),
}

pub(in crate::store) fn copy(
    (database, source): (&Database, &Path),
    path: &Path,
    now: UnixSeconds,
    options: &CopyOptions,
) -> Result<u64, BackupError> {
    let io = |error| BackupError::Io {
        path: path.to_owned(),
        error,
    };
    let file = private(OpenOptions::new().read(true).write(true).create_new(true))
        .open(path)
        .map_err(io)?;
    let room = DiskSpace::beside(path, options.free_bytes_min);
    let source = Source::at(source);
    let copied = Throttled::new(file, source.clone(), room, options.goes_on.clone())
        .map_err(StoreError::from)
        .map_err(BackupError::from)
        .and_then(|file| copy_into(database, file, now))
        .and_then(|()| durable(path).map_err(io));
    copied.map_err(|error| {
        // Half a copy is worth nothing; the error says why there is none.
        let _ = std::fs::remove_file(path);
        match error {
            _ if !(options.goes_on)() => BackupError::Stopped,
            _ if source.has_outgrown() => BackupError::Outgrown,
            error => error,
        }
    })
}

fn copy_into(database: &Database, file: Throttled, now: UnixSeconds) -> Result<(), BackupError> {
    let from = database.begin_read().map_err(StoreError::from)?;
    refuse_unknown_tables(&from)?;
    let mut builder = Database::builder();
    builder.set_cache_size(CACHE_BYTES);
    let mut to = builder
        .create_with_backend(file)
        .map_err(StoreError::from)?;
    let mut transaction = to.begin_write().map_err(StoreError::from)?;
    transaction.set_two_phase_commit(true);
    each_table(&mut CopyTable {
        from: &from,
        to: &transaction,
    })?;
    mark_as_copy(&transaction, now)?;
    transaction.commit().map_err(StoreError::from)?;
    // redb lets a file grow ahead of what is written; the copy need not have that room.
    to.compact().map_err(StoreError::from)?;
    Ok(())
}

fn refuse_unknown_tables(from: &ReadTransaction) -> Result<(), BackupError> {
    for table in from.list_tables().map_err(StoreError::from)? {
        let name = table.name().to_owned();
        let rows = from.open_untyped_table(table).map_err(StoreError::from)?;
        if !is_known(&name) && rows.len().map_err(StoreError::from)? > 0 {
            return Err(BackupError::UnknownTable(name));
        }
    }
    Ok(())
}

struct CopyTable<'a> {
    from: &'a ReadTransaction,
    to: &'a WriteTransaction,
}

impl VisitTable for CopyTable<'_> {
    fn visit<K: redb::Key + 'static, V: redb::Value + 'static>(
        &mut self,
        _: &'static str,
        definition: TableDefinition<'static, K, V>,
    ) -> Result<(), StoreError> {
        let from = self.from.open_table(definition)?;
        let mut to = self.to.open_table(definition)?;
        for row in from.iter()? {
            let (key, value) = row?;
            to.insert(key.value(), value.value())?;
        }
        Ok(())
    }
}

/// It is whole: opening it need not check it as if it had been left open.
fn mark_as_copy(transaction: &WriteTransaction, now: UnixSeconds) -> Result<(), StoreError> {
    let mut meta = transaction.open_table(META)?;
    meta.insert(CLEAN, 1)?;
    meta.insert(TAKEN_AT, now.0)?;
    meta.insert(BACKED_UP_AT, now.0)?;
    Ok(())
}

impl fmt::Debug for CopyOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CopyOptions")
            .field("free_bytes_min", &self.free_bytes_min)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for BackupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BackupError::Stopped => {
                f.write_str("the service is stopping; make the backup once it is back")
            }
            BackupError::Outgrown => f.write_str(
                "so much is sold that the data file grew too much while it was copied; make the backup when less is sold",
            ),
            BackupError::Io { path, error } => write!(f, "{}: {error}", path.display()),
            BackupError::UnknownTable(name) => write!(
                f,
                "the data file holds {name}, which only a newer version knows; make the backup with that version"
            ),
            BackupError::Copy(error) => write!(f, "the copy could not be made: {error}"),
        }
    }
}

impl std::error::Error for BackupError {}

impl From<StoreError> for BackupError {
    fn from(error: StoreError) -> Self {
        BackupError::Copy(error)
    }
}
