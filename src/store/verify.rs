//! Verifies a data file or a backup: structure, checksums and records. Read-only.

use std::fs::{File, TryLockError};
use std::path::Path;

use redb::{
    Database, ReadTransaction, ReadableDatabase, ReadableTable, TableDefinition, TableError,
    TableHandle as _, Value,
};
use sha2::{Digest, Sha256};

use crate::domain::time::UnixSeconds;
use crate::store::backup::TAKEN_AT;
use crate::store::copy_on_write::CopyOnWrite;
use crate::store::open::{SCHEMA_VERSION, caught, read_meta};
use crate::store::open_error::{OpenError, damaged, from_redb};
use crate::store::record;
use crate::store::tables::{BLOBS, META, VisitTable, each_table};
use crate::store::{Settings, StoreError};

/// A file that is whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    pub schema: u64,
    /// When it was made, if it is a backup.
    pub taken_at: Option<UnixSeconds>,
    pub bytes: u64,
    /// Rows of each table.
    pub rows: Vec<(&'static str, u64)>,
}

pub(in crate::store) fn verify(path: &Path, settings: Settings) -> Result<Verified, OpenError> {
    let io = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => OpenError::Missing(path.to_owned()),
        _ => OpenError::Io {
            path: path.to_owned(),
            error,
        },
    };
    let file = File::open(path).map_err(io)?;
    match file.try_lock_shared() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(OpenError::InUse(path.to_owned())),
        Err(TryLockError::Error(error)) => return Err(io(error)),
    }
    let bytes = file.metadata().map_err(io)?.len();
    if bytes == 0 {
        return Err(damaged(path, "it is empty"));
    }
    let backend = CopyOnWrite::over(file).map_err(io)?;
    caught(path, || look_through(path, backend, bytes, settings))
}

fn look_through(
    path: &Path,
    backend: CopyOnWrite,
    bytes: u64,
    settings: Settings,
) -> Result<Verified, OpenError> {
    let mut database = Database::builder()
        .set_cache_size(settings.cache_bytes)
        .create_with_backend(backend)
        .map_err(|error| from_redb(path, error))?;
    let found = read_meta(&database, path)?;
    if found.schema > SCHEMA_VERSION {
        return Err(OpenError::Newer {
            path: path.to_owned(),
            found: found.schema,
            known: SCHEMA_VERSION,
        });
    }
    match database.check_integrity() {
        Ok(true) => {}
        Ok(false) => return Err(damaged(path, "its checksums are wrong")),
        Err(error) => return Err(damaged(path, error)),
    }
    let checked = check_rows(&database).map_err(|error| damaged(path, error))?;
    Ok(Verified {
        schema: found.schema,
        taken_at: checked.taken_at,
        bytes,
        rows: checked.rows,
    })
}

fn check_rows(database: &Database) -> Result<CheckRows, StoreError> {
    let mut check = CheckRows {
        transaction: database.begin_read()?,
        taken_at: None,
        rows: Vec::new(),
    };
    let meta = check.transaction.open_table(META)?;
    check.taken_at = meta.get(TAKEN_AT)?.map(|at| UnixSeconds(at.value()));
    each_table(&mut check)?;
    Ok(check)
}

struct CheckRows {
    transaction: ReadTransaction,
    taken_at: Option<UnixSeconds>,
    rows: Vec<(&'static str, u64)>,
}

impl VisitTable for CheckRows {
    fn visit<K: redb::Key + 'static, V: Value + 'static>(
        &mut self,
        name: &'static str,
        definition: TableDefinition<'static, K, V>,
    ) -> Result<(), StoreError> {
        let table = match self.transaction.open_table(definition) {
            Ok(table) => table,
            // An older version has not had it.
            Err(TableError::TableDoesNotExist(_)) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let holds_bytes = V::type_name() == <&[u8]>::type_name();
        let mut rows = 0;
        for row in table.iter()? {
            let (key, value) = row?;
            let (key, value) = (key.value(), value.value());
            let (key, value) = (K::as_bytes(&key), V::as_bytes(&value));
            let (key, value) = (key.as_ref(), value.as_ref());
            let is_whole = match () {
                () if name == BLOBS.name() => Sha256::digest(value)[..] == *key,
                () if holds_bytes => record::is_whole(value),
                () => true,
            };
            if !is_whole {
                return Err(StoreError::Damaged { table: name });
            }
            rows += 1;
        }
        self.rows.push((name, rows));
        Ok(())
    }
}
