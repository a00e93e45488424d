//! How much room the data file's disk has. A write that finds none fails the file for good, so that below a floor none is
//! begun: what is asked then is refused, what is read goes on, and once there is room again so do the writes.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::store::StoreError;

const KIB: u64 = 1024;

/// Bytes that an unprivileged process may still write beside `path`.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let stats = rustix::fs::statvfs(folder)?;
    Ok(stats.f_bavail.saturating_mul(stats.f_frsize))
}

/// The disk of a file, and the floor.
#[derive(Clone, Debug)]
pub(in crate::store) struct Room {
    file: PathBuf,
    /// 0 is no floor.
    bytes_min: u64,
}

impl Room {
    pub(in crate::store) fn beside(file: &Path, bytes_min: u64) -> Room {
        Room {
            file: file.to_owned(),
            bytes_min,
        }
    }

    /// Asks the file system's memory. Where that cannot tell, a write is tried.
    pub(in crate::store) fn check(&self) -> Result<(), StoreError> {
        match self.lack() {
            Some(_) => Err(StoreError::NoRoom),
            None => Ok(()),
        }
    }

    /// What is wrong with it, in figures.
    pub(in crate::store) fn lack(&self) -> Option<String> {
        if self.bytes_min == 0 {
            return None;
        }
        let free = free_bytes(&self.file).ok()?;
        (free < self.bytes_min).then(|| {
            format!(
                "its disk is full: {} KiB are free, and {} KiB are needed",
                free / KIB,
                self.bytes_min.div_ceil(KIB)
            )
        })
    }
}

/// Whether an error says that there is no room: on the disk, in a quota, or below the largest size of a file.
pub(in crate::store) fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge
    )
}
