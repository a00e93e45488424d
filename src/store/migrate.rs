//! Schema migrations. A new table needs no step: it is created when the file is opened. Changes of rows are steps; the old
//! file is saved before the first one.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};

use redb::WriteTransaction;

use crate::domain::keys::PaymentKey;
use crate::store::disk_space::Allowed;
use crate::store::files::{durable, private};
use crate::store::open_error::{OpenError, from_io};
use crate::store::payments::read_keyed;
use crate::store::tables::{KEYED_BLOB_HOLDS, KEYED_PAYMENTS, META, SCHEMA, Tables};
use crate::store::{DueKind, StoreError};

/// One step. The first leads from schema 1 to schema 2, the next to 3, and so on; none is ever taken out.
#[derive(Debug)]
pub(in crate::store) struct Migration {
    /// For the log.
    pub(in crate::store) what: &'static str,
    pub(in crate::store) apply: fn(&WriteTransaction) -> Result<(), StoreError>,
}

pub(in crate::store) const MIGRATIONS: &[Migration] = &[Migration {
    what: "payments lie in order of arrival",
    apply: place_payments,
}];
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

/// From schema 1 to 2. Payments, their due rows and their holds lay under the payments' keys.
fn place_payments(transaction: &WriteTransaction) -> Result<(), StoreError> {
    let mut tables = Tables::create(transaction, Allowed::default())?;
    let older = Tables::new(transaction, Allowed::default());
    for row in older.keyed_payments.iter()? {
        let (key, bytes) = row?;
        tables.put_payment(key.value(), &read_keyed(bytes.value())?)?;
    }
    for kind in [DueKind::Payment, DueKind::Purchase] {
        for due in tables.all_due(kind)? {
            let key = PaymentKey(due.key);
            tables.unschedule(due)?;
            if tables.known_place(key)?.is_some() {
                tables.schedule_of_payment(kind, due.at, key)?;
            }
        }
    }
    for row in older.keyed_blob_holds.iter()? {
        let (blob, sale) = row?.0.value();
        let place = tables.place(sale)?;
        tables.blob_holds.insert((blob, place), ())?;
    }
    drop((tables, older));
    transaction.delete_table(KEYED_PAYMENTS)?;
    transaction.delete_table(KEYED_BLOB_HOLDS)?;
    Ok(())
}
