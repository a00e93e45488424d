//! Writes a copy at a throttled rate, to leave disk and CPU to requests, and keeps a reserve of disk space. During a copy
//! the data file cannot reuse freed pages, so the copy speeds up when that file grows, and gives up before it grows too much.

use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use redb::StorageBackend;
use redb::backends::FileBackend;

use crate::store::disk_space::DiskSpace;
use crate::sync::lock;

/// Written between two pauses. What piles up in the kernel is written to the disk in one go, and everybody's commits
/// wait behind it: that must be soon over.
const STRETCH_BYTES: usize = 1024 * 1024;
/// A pause takes so many times what the stretch before it took.
const PAUSE_TIMES: u32 = 1;
const PAUSE_MAX: Duration = Duration::from_millis(500);
/// So much may the data file grow meanwhile, or by its own length if that is more; after an eighth of it nothing pauses.
const GROWTH_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// Asked now and then: whether the copy is still wanted.
pub(in crate::store) type GoesOn = Arc<dyn Fn() -> bool + Send + Sync>;

pub(in crate::store) struct Throttled {
    file: FileBackend,
    source: Source,
    room: DiskSpace,
    goes_on: GoesOn,
    stretch: Mutex<Stretch>,
}

/// The data file, and its length when the copy was begun.
#[derive(Clone)]
pub(in crate::store) struct Source {
    path: PathBuf,
    bytes: u64,
}

impl Source {
    pub(in crate::store) fn at(path: &Path) -> Source {
        Source {
            path: path.to_owned(),
            bytes: length(path),
        }
    }

    /// As a share of what it may have grown.
    fn growth(&self) -> f64 {
        let most = GROWTH_BYTES_MAX.max(self.bytes);
        length(&self.path).saturating_sub(self.bytes) as f64 / most as f64
    }

    pub(in crate::store) fn has_outgrown(&self) -> bool {
        self.growth() > 1.0
    }
}

/// A test's disk has none, and does not grow.
fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |file| file.len())
}

struct Stretch {
    began: Instant,
    bytes: usize,
}

impl Throttled {
    pub(in crate::store) fn new(
        file: File,
        source: Source,
        room: DiskSpace,
        goes_on: GoesOn,
    ) -> Result<Throttled, redb::DatabaseError> {
        Ok(Throttled {
            file: FileBackend::new(file)?,
            source,
            room,
            goes_on,
            stretch: Mutex::new(Stretch::begin()),
        })
    }

    fn pace(&self, bytes: usize) -> io::Result<()> {
        let mut stretch = lock(&self.stretch);
        stretch.bytes += bytes;
        if stretch.bytes < STRETCH_BYTES {
            return Ok(());
        }
        if !(self.goes_on)() {
            return Err(io::Error::other("the service is stopping"));
        }
        if self.room.lack().is_some() {
            return Err(ErrorKind::StorageFull.into());
        }
        if self.source.has_outgrown() {
            return Err(io::Error::other("the data file grows too much"));
        }
        self.file.sync_data()?;
        if self.source.growth() < 0.125 {
            std::thread::sleep((stretch.began.elapsed() * PAUSE_TIMES).min(PAUSE_MAX));
        }
        *stretch = Stretch::begin();
        Ok(())
    }
}

impl Stretch {
    fn begin() -> Stretch {
        Stretch {
            began: Instant::now(),
            bytes: 0,
        }
    }
}

impl StorageBackend for Throttled {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read(offset, out)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.file.write(offset, data)?;
        self.pace(data.len())
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }
}

impl fmt::Debug for Throttled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Throttled")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files without contents, in a folder of the test's own.
    #[test]
    fn a_copy_gives_up_before_the_data_file_has_grown_too_much() {
        let folder =
            std::env::temp_dir().join(format!("context402-throttled-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        let file = |name: &str| File::create_new(folder.join(name)).expect("a new file");
        let (data, path) = (file("data"), folder.join("data"));
        let copy = Throttled::new(
            file("copy"),
            Source::at(&path),
            DiskSpace::beside(&path, 0),
            Arc::new(|| true),
        );
        let (copy, stretch) = (copy.expect("it is ours alone"), vec![1; STRETCH_BYTES]);
        copy.write(0, &stretch).expect("it has not grown");
        data.set_len(GROWTH_BYTES_MAX / 2).expect("room");
        copy.write(0, &stretch).expect("it has grown a little");
        data.set_len(GROWTH_BYTES_MAX + 1).expect("room");
        assert!(copy.write(0, &stretch).is_err());
        std::fs::remove_dir_all(&folder).expect("ours");
    }
}
