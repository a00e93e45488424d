//! Why a data file or a backup is not opened, in words that say what to do.

use std::fmt;
use std::path::{Path, PathBuf};

use redb::DatabaseError;

use crate::store::open::SCHEMA_VERSION;

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

pub(in crate::store) fn damaged(path: &Path, why: impl fmt::Display) -> OpenError {
    OpenError::Damaged {
        path: path.to_owned(),
        why: why.to_string(),
    }
}

pub(in crate::store) fn from_redb(path: &Path, error: DatabaseError) -> OpenError {
    match error {
        DatabaseError::DatabaseAlreadyOpen => OpenError::InUse(path.to_owned()),
        error => damaged(path, error),
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
