//! Schema migrations. A new table needs no step: it is created when the file is opened. Changes of rows are steps; the old
//! file is saved before the first one.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};

use redb::WriteTransaction;

use crate::store::StoreError;
use crate::store::files::{durable, private};
use crate::store::open_error::{OpenError, from_io};
use crate::store::tables::{META, SCHEMA};

/// One step. The first leads from schema 1 to schema 2, the next to 3, and so on; none is ever taken out.
#[derive(Debug)]
pub(in crate::store) struct Migration {
    /// For the log.
    pub(in crate::store) what: &'static str,
    pub(in crate::store) apply: fn(&WriteTransaction) -> Result<(), StoreError>,
}

pub(in crate::store) const MIGRATIONS: &[Migration] = &[];
/// Copies of one schema that lie beside each other, from upgrades that were tried and taken back.
const COPIES_MAX: usize = 100;

/// The schema that a program with these steps writes.
pub(in crate::store) const fn schema(migrations: &[Migration]) -> u64 {
    1 + migrations.len() as u64
}

/// Copies a file that nobody has open, byte for byte, to a name of its own.
pub(in crate::store) fn keep_aside(path: &Path, schema: u64) -> Result<PathBuf, OpenError> {
    let name = |number: usize| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".schema-{schema}"));
        if number > 1 {
            name.push(format!(".{number}"));
        }
        PathBuf::from(name)
    };
    let mut failure = io::Error::from(io::ErrorKind::AlreadyExists);
    for copy in (1..=COPIES_MAX).map(name) {
        match copy_to(path, &copy) {
            Ok(()) => return Ok(copy),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => failure = error,
            Err(error) => {
                failure = error;
                let _ = std::fs::remove_file(&copy);
                break;
            }
        }
    }
    Err(from_io(&name(1), failure))
}

fn copy_to(path: &Path, copy: &Path) -> io::Result<()> {
    let mut from = std::fs::File::open(path)?;
    let mut to = private(OpenOptions::new().write(true).create_new(true)).open(copy)?;
    io::copy(&mut from, &mut to)?;
    durable(copy).map(drop)
}

/// Takes the steps that a file of this schema has not seen, all in one transaction.
pub(in crate::store) fn apply(
    transaction: &WriteTransaction,
    found: u64,
    migrations: &[Migration],
) -> Result<(), StoreError> {
    let seen = usize::try_from(found - 1).unwrap_or(usize::MAX);
    for migration in migrations.iter().skip(seen) {
        tracing::info!(what = migration.what, "changing the data file");
        (migration.apply)(transaction)?;
    }
    transaction
        .open_table(META)?
        .insert(SCHEMA, schema(migrations))?;
    Ok(())
}
