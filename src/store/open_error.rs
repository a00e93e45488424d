//! Errors on opening a data file or a backup, with what to do.

use std::fmt;
use std::path::{Path, PathBuf};

use redb::{DatabaseError, StorageError};

use crate::store::StoreError;
use crate::store::disk_space::is_full;

#[derive(Debug)]
pub enum OpenError {
    Missing(PathBuf),
    Exists(PathBuf),
    InUse(PathBuf),
    Newer {
        path: PathBuf,
        found: u64,
        /// The schema that this program writes.
        known: u64,
    },
    /// It was never a data file.
    Foreign(PathBuf),
    Damaged {
        path: PathBuf,
        why: String,
    },
    /// The disk is full.
    NoRoom {
        path: PathBuf,
        why: String,
    },
    Io {
        path: PathBuf,
        error: std::io::Error,
    },
}

pub(in crate::store) fn damaged(path: &Path, why: impl fmt::Display) -> OpenError {
    OpenError::Damaged {
        path: path.to_owned(),
        why: why.to_string(),
    }
}

/// What opening has come to: there is nothing wrong with a file whose disk is full.
pub(in crate::store) fn from_redb(path: &Path, error: DatabaseError) -> OpenError {
    match error {
        DatabaseError::DatabaseAlreadyOpen => OpenError::InUse(path.to_owned()),
        DatabaseError::Storage(StorageError::Corrupted(_)) => {
            damaged(path, "its structure is broken")
        }
        DatabaseError::Storage(error) => from_store(path, error.into()),
        error => damaged(path, error),
    }
}

pub(in crate::store) fn from_store(path: &Path, error: StoreError) -> OpenError {
    match error {
        StoreError::NoRoom => no_room(path, "there is no room to write"),
        StoreError::File(why) => damaged(path, why),
        error => damaged(path, error),
    }
}

pub(in crate::store) fn from_io(path: &Path, error: std::io::Error) -> OpenError {
    match is_full(&error) {
        true => no_room(path, format_args!("there is no room to write: {error}")),
        false => OpenError::Io {
            path: path.to_owned(),
            error,
        },
    }
}

pub(in crate::store) fn no_room(path: &Path, why: impl fmt::Display) -> OpenError {
    OpenError::NoRoom {
        path: path.to_owned(),
        why: why.to_string(),
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
            OpenError::Exists(path) => {
                write!(f, "{} already exists and was not changed", path.display())
            }
            OpenError::InUse(path) => {
                write!(
                    f,
                    "{} is open in another process; stop that one first",
                    path.display()
                )
            }
            OpenError::Newer { path, found, known } => write!(
                f,
                "{} was written by a newer version (schema {found}, this program knows {known}); install \
                 that version or restore an older backup",
                path.display()
            ),
            OpenError::Foreign(path) => write!(
                f,
                "{} is not a data file of context402 and was not changed. Name another file, or restore a backup",
                path.display()
            ),
            OpenError::Damaged { path, why } => {
                write!(
                    f,
                    "{} cannot be used: {why}. Restore a backup",
                    path.display()
                )
            }
            OpenError::NoRoom { path, why } => write!(
                f,
                "{} cannot be opened because {why}. Nothing is lost, and no backup has to be restored: remove old \
                 backups, logs or other files from that disk, then start again. Sales need limits.free_disk_mib_min",
                path.display()
            ),
            OpenError::Io { path, error } => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for OpenError {}
