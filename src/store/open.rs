//! Opening the data file: never an empty one by accident, never a newer or damaged one. After a stop of the process
//! alone nothing has to be checked: commits are atomic (two phases, and redb's recovery), and the kernel still has what
//! was written. After a stop of the machine all of it is checked, since disks may lose what they said was written.

use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use redb::{
    Builder, Database, ReadTransaction, ReadableDatabase, ReadableTableMetadata, TableDefinition,
};

use sha2::{Digest as _, Sha256};

use crate::domain::time::UnixSeconds;
use crate::store::backup::{BACKED_UP_AT, TAKEN_AT};
use crate::store::disk_space::DiskSpace;
use crate::store::files::{make_folder, private};
use crate::store::handle::Handle;
use crate::store::migrate::{MIGRATIONS, Migration, apply, keep_aside, schema};
use crate::store::open_error::{OpenError, damaged, from_io, from_redb, from_store, no_room};
use crate::store::tables::{CLEAN, META, SCHEMA, Snapshot, Tables, VisitTable, each_table};
use crate::store::threads::{Threads, transact};
use crate::store::{Settings, Store, StoreError};

/// Version of the tables as this program writes them.
pub const SCHEMA_VERSION: u64 = schema(MIGRATIONS);
/// The [`incarnation`] in which the file was opened last.
const INCARNATION: &str = "incarnation";
/// How often a long check is told of.
const TELL_EVERY: Duration = Duration::from_secs(5);

/// An open store, and what opening it has found.
#[derive(Debug)]
pub struct Opened {
    pub store: Store,
    /// Whether the process before this one closed the file.
    pub was_clean: bool,
    /// Where the file lies as it was, if its schema was an older one.
    pub kept_aside: Option<PathBuf>,
}

pub(in crate::store) fn create(path: &Path, settings: Settings) -> Result<Opened, OpenError> {
    let io = |error| OpenError::Io {
        path: path.to_owned(),
        error,
    };
    make_folder(path).map_err(io)?;
    check_room(path, settings)?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    let opened = private(&mut options).open(path);
    let file = opened.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => OpenError::Exists(path.to_owned()),
        _ => from_io(path, error),
    })?;
    let database = builder(settings)
        .create_file(file)
        .map_err(|error| from_redb(path, error))?;
    start(path, database, settings, true)
}

/// Opening writes, if only that the file is open now. Asked first, since a write without room fails half way.
fn check_room(path: &Path, settings: Settings) -> Result<(), OpenError> {
    match DiskSpace::beside(path, settings.free_bytes_min).lack() {
        Some(why) => Err(no_room(path, why)),
        None => Ok(()),
    }
}

pub(in crate::store) fn open(
    path: &Path,
    settings: Settings,
    check: bool,
    migrations: &[Migration],
) -> Result<Opened, OpenError> {
    let metadata = std::fs::metadata(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => OpenError::Missing(path.to_owned()),
        _ => OpenError::Io {
            path: path.to_owned(),
            error,
        },
    })?;
    // redb would take an empty file for a new database, and every used payment would be forgotten.
    if metadata.len() == 0 {
        return Err(damaged(path, "it is empty"));
    }
    if !is_data_file(path).map_err(|error| from_io(path, error))? {
        return Err(OpenError::Foreign(path.to_owned()));
    }
    check_room(path, settings)?;
    caught(path, || open_existing(path, settings, check, migrations))
}

/// What every data file begins with.
const MAGIC: &[u8] = b"redb";

/// Whether a file begins as a data file or a backup does.
pub fn is_data_file(path: &Path) -> std::io::Result<bool> {
    let mut head = Vec::new();
    let mut file = File::open(path)?.take(MAGIC.len() as u64);
    file.read_to_end(&mut head)?;
    Ok(head == MAGIC)
}

/// redb asserts here and there on pages that were zeroed or flipped; that too must be a clear line.
pub(in crate::store) fn caught<T>(
    path: &Path,
    work: impl FnOnce() -> Result<T, OpenError>,
) -> Result<T, OpenError> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(damaged(path, "its structure is broken")))
}

fn open_existing(
    path: &Path,
    settings: Settings,
    check: bool,
    migrations: &[Migration],
) -> Result<Opened, OpenError> {
    let open = || {
        builder(settings)
            .open(path)
            .map_err(|error| from_redb(path, error))
    };
    let database = open()?;
    let found = read_meta(&database, path)?.schema;
    if found >= schema(migrations) {
        return look_over(path, database, settings, check, migrations);
    }
    drop(database);
    let aside = keep_aside(path, found)?;
    tracing::warn!(from = found, to = schema(migrations), kept_aside = %aside.display(),
        "the data file is of an older schema; it was copied, and is changed now");
    let opened = look_over(path, open()?, settings, check, migrations)?;
    Ok(Opened {
        kept_aside: Some(aside),
        ..opened
    })
}

/// An existing file on something else than a disk; where there is nothing, a new one.
#[cfg(test)]
pub(in crate::store) fn open_on(
    backend: impl redb::StorageBackend,
    settings: Settings,
) -> Result<Opened, OpenError> {
    let path = Path::new("a test's disk");
    let is_new = backend.len().is_ok_and(|length| length == 0);
    let database = builder(settings)
        .create_with_backend(backend)
        .map_err(|error| from_redb(path, error))?;
    if is_new {
        return start(path, database, settings, true);
    }
    // Such a disk may have lost anything.
    look_over(path, database, settings, true, MIGRATIONS)
}

fn look_over(
    path: &Path,
    mut database: Database,
    settings: Settings,
    check: bool,
    migrations: &[Migration],
) -> Result<Opened, OpenError> {
    let Meta {
        schema: found,
        was_clean,
        opened_in,
    } = read_meta(&database, path)?;
    if found > schema(migrations) {
        return Err(OpenError::Newer {
            path: path.to_owned(),
            found,
            known: schema(migrations),
        });
    }
    let now = incarnation(path);
    let is_coherent = now.is_some() && opened_in == now;
    if !was_clean {
        let after = match (now, opened_in) {
            _ if is_coherent => "its process stopped; the last commit is whole",
            (Some(_), Some(_)) => "the machine stopped, or it is a copy; checking all of it",
            // Where /proc/sys is hidden, and in a file of an earlier version.
            _ => "whether the machine stopped is unknown; checking all of it",
        };
        tracing::warn!(path = %path.display(), "the data file was not closed: {after}");
    }
    if check || !(was_clean || is_coherent) {
        match telling(|| database.check_integrity()) {
            Ok(true) => {}
            Ok(false) => tracing::warn!("the check repaired the data file's free space"),
            Err(error) => return Err(from_redb(path, error)),
        }
    }
    transact(&database, |transaction| {
        apply(transaction, found, migrations)
    })
    .map_err(|error| from_store(path, error))?;
    start(path, database, settings, was_clean)
}

fn builder(settings: Settings) -> Builder {
    let mut builder = Database::builder();
    builder.set_cache_size(settings.cache_bytes);
    builder
}

/// What a file says of itself.
pub(in crate::store) struct Meta {
    pub(in crate::store) schema: u64,
    was_clean: bool,
    opened_in: Option<u64>,
}

/// Names this file, not a copy of it, under the kernel that runs now. While it is the same, the kernel has everything
/// that was written to the file. `None` where that cannot be told.
fn incarnation(path: &Path) -> Option<u64> {
    let boot = std::fs::read("/proc/sys/kernel/random/boot_id").ok()?;
    let metadata = std::fs::metadata(path).ok()?;
    let mut hash = Sha256::new();
    hash.update(boot);
    hash.update(metadata.dev().to_be_bytes());
    hash.update(metadata.ino().to_be_bytes());
    let hash: [u8; 32] = hash.finalize().into();
    hash[..8].try_into().ok().map(u64::from_be_bytes)
}

/// Logs every few seconds that work is still going on.
fn telling<T>(work: impl FnOnce() -> T) -> T {
    let (ended, wait) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let began = Instant::now();
            while wait.recv_timeout(TELL_EVERY) == Err(RecvTimeoutError::Timeout) {
                let seconds = began.elapsed().as_secs();
                tracing::info!(seconds, "still checking the data file");
            }
        });
        let done = work();
        drop(ended);
        done
    })
}

/// Reads that, after making sure that the file is ours.
pub(in crate::store) fn read_meta(database: &Database, path: &Path) -> Result<Meta, OpenError> {
    let broken = |error: redb::StorageError| damaged(path, error);
    let foreign = |_| damaged(path, "it is not a data file of this program");
    let transaction = database
        .begin_read()
        .map_err(|error| damaged(path, error))?;
    let meta = transaction.open_table(META).map_err(foreign)?;
    let fact = |name| meta.get(name).map(|value| value.map(|value| value.value()));
    match fact(SCHEMA).map_err(broken)? {
        Some(schema @ 1..) => Ok(Meta {
            schema,
            was_clean: fact(CLEAN).map_err(broken)? == Some(1),
            opened_in: fact(INCARNATION).map_err(broken)?,
        }),
        _ => Err(damaged(path, "it names no schema version")),
    }
}

fn start(
    path: &Path,
    database: Database,
    settings: Settings,
    was_clean: bool,
) -> Result<Opened, OpenError> {
    let room = DiskSpace::of(path, &settings);
    transact(&database, |transaction| {
        let mut tables = Tables::create(transaction, room.allowed(&settings))?;
        if tables.meta.get(SCHEMA)?.is_none() {
            tables.meta.insert(SCHEMA, SCHEMA_VERSION)?;
        }
        tables.meta.remove(TAKEN_AT)?;
        tables.count_blobs()?;
        tables.count_reports()?;
        tables.hold_older_goods()?;
        tables.list_older_purchases()?;
        tables.count_unpaid()?;
        match incarnation(path) {
            Some(now) => tables.meta.insert(INCARNATION, now)?.map(drop),
            None => tables.meta.remove(INCARNATION)?.map(drop),
        };
        tables.mark_clean(false)
    })
    .map_err(|error| from_store(path, error))?;
    let database = Handle::new(database);
    let room = Arc::new(room);
    let threads =
        Threads::start(&database, settings, &room).map_err(|error| from_io(path, error))?;
    Ok(Opened {
        store: Store {
            database,
            threads: Arc::new(threads),
            room,
            settings,
            counted: Arc::default(),
        },
        was_clean,
        kept_aside: None,
    })
}

impl Tables<'_> {
    /// Notes whether everything that was begun has ended: set on a graceful stop, cleared while the file is open.
    pub(in crate::store) fn mark_clean(&mut self, clean: bool) -> Result<(), StoreError> {
        self.meta.insert(CLEAN, u64::from(clean))?;
        Ok(())
    }

    /// Notes when the newest copy of the file was made.
    pub fn note_backup(&mut self, at: UnixSeconds) -> Result<(), StoreError> {
        self.meta.insert(BACKED_UP_AT, at.0)?;
        Ok(())
    }
}

impl Snapshot {
    /// When the newest copy of the file was made, if there was one.
    pub fn backed_up_at(&self) -> Result<Option<UnixSeconds>, StoreError> {
        let at = self.meta.get(BACKED_UP_AT)?;
        Ok(at.map(|at| UnixSeconds(at.value())))
    }
}

/// Bytes in all tables, without free pages.
pub(in crate::store) fn file_bytes(database: &Database) -> Result<u64, StoreError> {
    let mut count = CountBytes {
        transaction: database.begin_read()?,
        bytes: 0,
    };
    each_table(&mut count)?;
    Ok(count.bytes)
}

struct CountBytes {
    transaction: ReadTransaction,
    bytes: u64,
}

impl VisitTable for CountBytes {
    fn visit<K: redb::Key + 'static, V: redb::Value + 'static>(
        &mut self,
        _: &'static str,
        definition: TableDefinition<'static, K, V>,
    ) -> Result<(), StoreError> {
        let stats = self.transaction.open_table(definition)?.stats()?;
        self.bytes += stats.stored_bytes() + stats.metadata_bytes() + stats.fragmented_bytes();
        Ok(())
    }
}
