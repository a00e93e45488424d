//! Free space on the data file's disk. A write without space fails the file for good, so below a floor writes are refused
//! while reads go on.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::store::{Settings, StoreError};
use crate::sync::lock;

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

/// How long an answer of the disk counts as current. The floors are far above what is written meanwhile.
const FRESH: Duration = Duration::from_millis(100);

/// The disk of a file, and the floors.
#[derive(Debug)]
pub(in crate::store) struct DiskSpace {
    file: PathBuf,
    /// When the disk was asked last, and its free bytes.
    asked: Mutex<Option<(Instant, Option<u64>)>>,
    /// Below it nothing is written. 0 is no floor.
    bytes_min: u64,
    /// Below it nothing is sold. 0 is no floor.
    sales_bytes_min: u64,
}

/// What may be stored, in bytes, as the disk stands now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::store) struct Allowed {
    /// Cached pages.
    pub(in crate::store) pages: u64,
    /// Unpaid records, for each bounded kind.
    pub(in crate::store) unpaid: u64,
    /// The same for those that the payment provider has sent.
    pub(in crate::store) provider: u64,
    /// Goods of unsettled sales.
    pub(in crate::store) unsettled: u64,
}

impl DiskSpace {
    pub(in crate::store) fn beside(file: &Path, bytes_min: u64) -> DiskSpace {
        DiskSpace {
            file: file.to_owned(),
            asked: Mutex::default(),
            bytes_min,
            sales_bytes_min: 0,
        }
    }

    /// The same disk, with the floor of sales.
    pub(in crate::store) fn of(file: &Path, settings: &Settings) -> DiskSpace {
        DiskSpace {
            sales_bytes_min: settings.sales_free_bytes_min,
            ..DiskSpace::beside(file, settings.free_bytes_min)
        }
    }

    /// Free bytes now, or a moment ago.
    fn free(&self) -> Option<u64> {
        let mut asked = lock(&self.asked);
        match *asked {
            Some((at, free)) if at.elapsed() < FRESH => free,
            _ => {
                let free = free_bytes(&self.file).ok();
                *asked = Some((Instant::now(), free));
                free
            }
        }
    }

    /// What may be stored now. Sales go on as long as they can: between twice the floor of sales and the floor itself
    /// the cached pages and the unpaid records have a share that falls from all of their bound to nothing. Their pages
    /// in the file are used again by what is sold.
    pub(in crate::store) fn allowed(&self, settings: &Settings) -> Allowed {
        let floor = self.sales_bytes_min;
        // Without a floor the disk is not asked; where it cannot tell, the bounds hold as they are.
        let free = match floor {
            0 => u64::MAX,
            _ => self.free().unwrap_or(u64::MAX),
        };
        let share = |bytes| share(bytes, free, floor);
        Allowed {
            pages: share(settings.pages_bytes_max),
            unpaid: share(settings.unpaid_bytes_max),
            provider: settings.unpaid_bytes_max,
            unsettled: settings.unsettled_bytes_max,
        }
    }

    /// Whether the disk is so full that cached pages and unpaid records have less than their bound.
    pub(in crate::store) fn is_short(&self) -> bool {
        let floor = self.sales_bytes_min;
        floor > 0
            && self
                .free()
                .is_some_and(|free| free < floor.saturating_mul(2))
    }

    pub(in crate::store) fn file(&self) -> &Path {
        &self.file
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
        let free = self.free()?;
        (free < self.bytes_min).then(|| {
            format!(
                "its disk is full: {} KiB are free, and {} KiB are needed",
                free / KIB,
                self.bytes_min.div_ceil(KIB)
            )
        })
    }
}

/// The part of a bound that holds with so many bytes free: all of it from twice the floor on, nothing at the floor.
fn share(bytes: u64, free: u64, floor: u64) -> u64 {
    let above = free.saturating_sub(floor);
    if above >= floor {
        return bytes;
    }
    let part = u128::from(bytes) * u128::from(above) / u128::from(floor);
    u64::try_from(part).unwrap_or(bytes)
}

/// Whether an error says that there is no room: on the disk, in a quota, or below the largest size of a file.
pub(in crate::store) fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_falls_from_all_at_twice_the_floor_to_nothing_at_the_floor() {
        const MIB: u64 = 1024 * 1024;
        let share = |free| share(1000, free * MIB, 64 * MIB);
        for (free, expected) in [
            (u64::MAX / MIB, 1000),
            (128, 1000),
            (127, 984),
            (96, 500),
            (65, 15),
            (64, 0),
            (63, 0),
            (0, 0),
        ] {
            assert_eq!(share(free), expected, "{free} MiB free");
        }
        assert_eq!(super::share(1000, 0, 0), 1000, "without a floor");
    }
}
