//! Opening the data file: never an empty one by accident, never a newer or damaged one, checked in full after an
//! unclean stop.

use std::fmt;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use redb::{
    Builder, Database, DatabaseError, ReadTransaction, ReadableDatabase, ReadableTableMetadata,
    TableDefinition,
};

use crate::store::tables::{META, Tables, VisitTable, each_table};
use crate::store::threads::{Threads, transact};
use crate::store::{Settings, Store, StoreError};

/// Version of the tables as this program writes them.
const SCHEMA_VERSION: u64 = 1;
const SCHEMA: &str = "schema";
const CLEAN: &str = "clean";

/// An open store, and what opening it has found.
#[derive(Debug)]
pub struct Opened {
    pub store: Store,
    /// Whether the process before this one closed the file; if not, it was checked in full.
    pub was_clean: bool,
}

#[derive(Debug)]
pub enum OpenError {
    Missing(PathBuf),
    Exists(PathBuf),
    InUse(PathBuf),
    Newer {
        path: PathBuf,
        found: u64,
    },
    Damaged {
        path: PathBuf,
        why: String,
    },
    Io {
        path: PathBuf,
        error: std::io::Error,
    },
}

pub(in crate::store) fn create(path: &Path, settings: Settings) -> Result<Opened, OpenError> {
    let io = |error| OpenError::Io {
        path: path.to_owned(),
        error,
    };
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => OpenError::Exists(path.to_owned()),
        _ => io(error),
    })?;
    let database = builder(settings)
        .create_file(file)
        .map_err(|error| from_redb(path, error))?;
    start(path, database, settings, true)
}

pub(in crate::store) fn open(
    path: &Path,
    settings: Settings,
    check: bool,
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
        return Err(OpenError::Damaged {
            path: path.to_owned(),
            why: "it is empty".to_owned(),
        });
    }
    // redb asserts here and there on pages that were zeroed or flipped; that too must be a clear line.
    std::panic::catch_unwind(|| open_existing(path, settings, check)).unwrap_or_else(|_| {
        Err(OpenError::Damaged {
            path: path.to_owned(),
            why: "its structure is broken".to_owned(),
        })
    })
}

fn open_existing(path: &Path, settings: Settings, check: bool) -> Result<Opened, OpenError> {
    let database = builder(settings)
        .open(path)
        .map_err(|error| from_redb(path, error))?;
    look_over(path, database, settings, check)
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
    look_over(path, database, settings, false)
}

fn look_over(
    path: &Path,
    mut database: Database,
    settings: Settings,
    check: bool,
) -> Result<Opened, OpenError> {
    let was_clean = read_meta(&database, path)?;
    if !was_clean {
        tracing::warn!(path = %path.display(), "the data file was not closed; checking all of it");
    }
    if check || !was_clean {
        match database.check_integrity() {
            Ok(true) => {}
            Ok(false) => tracing::warn!("the check repaired the data file's free space"),
            Err(error) => {
                return Err(OpenError::Damaged {
                    path: path.to_owned(),
                    why: error.to_string(),
                });
            }
        }
    }
    start(path, database, settings, was_clean)
}

fn builder(settings: Settings) -> Builder {
    let mut builder = Database::builder();
    builder.set_cache_size(settings.cache_bytes);
    builder
}

/// Whether the file was closed cleanly, after making sure that it is ours and not newer.
fn read_meta(database: &Database, path: &Path) -> Result<bool, OpenError> {
    let damaged = |why: String| OpenError::Damaged {
        path: path.to_owned(),
        why,
    };
    let foreign = |_| damaged("it is not a data file of this program".to_owned());
    let transaction = database
        .begin_read()
        .map_err(|error| damaged(error.to_string()))?;
    let meta = transaction.open_table(META).map_err(foreign)?;
    let fact = |name| meta.get(name).map(|value| value.map(|value| value.value()));
    match fact(SCHEMA).map_err(|error| damaged(error.to_string()))? {
        Some(SCHEMA_VERSION) => {}
        Some(found) if found > SCHEMA_VERSION => {
            return Err(OpenError::Newer {
                path: path.to_owned(),
                found,
            });
        }
        _ => return Err(damaged("it names no schema version".to_owned())),
    }
    Ok(fact(CLEAN).map_err(|error| damaged(error.to_string()))? == Some(1))
}

fn start(
    path: &Path,
    database: Database,
    settings: Settings,
    was_clean: bool,
) -> Result<Opened, OpenError> {
    transact(&database, |transaction| {
        let mut tables = Tables::open(transaction, settings.pages_bytes_max)?;
        tables.meta.insert(SCHEMA, SCHEMA_VERSION)?;
        tables.count_blobs()?;
        tables.mark_clean(false)
    })
    .map_err(|error| OpenError::Damaged {
        path: path.to_owned(),
        why: error.to_string(),
    })?;
    let database = Arc::new(database);
    let threads = Threads::start(&database, settings).map_err(|error| OpenError::Io {
        path: path.to_owned(),
        error,
    })?;
    Ok(Opened {
        store: Store {
            database,
            threads: Arc::new(threads),
            counted: Arc::default(),
        },
        was_clean,
    })
}

impl Tables<'_> {
    /// Notes whether everything that was begun has ended: set on a graceful stop, cleared while the file is open.
    pub(in crate::store) fn mark_clean(&mut self, clean: bool) -> Result<(), StoreError> {
        self.meta.insert(CLEAN, u64::from(clean))?;
        Ok(())
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
        definition: TableDefinition<'static, K, V>,
    ) -> Result<(), StoreError> {
        let stats = self.transaction.open_table(definition)?.stats()?;
        self.bytes += stats.stored_bytes() + stats.metadata_bytes() + stats.fragmented_bytes();
        Ok(())
    }
}

fn from_redb(path: &Path, error: DatabaseError) -> OpenError {
    let path = path.to_owned();
    match error {
        DatabaseError::DatabaseAlreadyOpen => OpenError::InUse(path),
        DatabaseError::Storage(redb::StorageError::Io(error)) => OpenError::Damaged {
            path,
            why: error.to_string(),
        },
        error => OpenError::Damaged {
            path,
            why: error.to_string(),
        },
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::Missing(path) => write!(
                f,
                "{} does not exist. If this is a new installation, make it with `context402 init`; if not, restore a \
                 backup, because an empty file would forget every used payment",
                path.display()
            ),
            OpenError::Exists(path) => write!(
                f,
                "{} is there already; it was left as it is",
                path.display()
            ),
            OpenError::InUse(path) => {
                write!(
                    f,
                    "{} is open in another process; stop that one first",
                    path.display()
                )
            }
            OpenError::Newer { path, found } => write!(
                f,
                "{} was written by a newer version (schema {found}, this program knows {SCHEMA_VERSION}); install \
                 that version or restore an older backup",
                path.display()
            ),
            OpenError::Damaged { path, why } => {
                write!(
                    f,
                    "{} cannot be used: {why}. Restore a backup",
                    path.display()
                )
            }
            OpenError::Io { path, error } => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for OpenError {}
