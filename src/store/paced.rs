//! The file that a copy is written to: at a pace that leaves disk and processor to those who are served meanwhile, and
//! never with the last of the room. What is copied is not known here.

use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use redb::StorageBackend;
use redb::backends::FileBackend;

use crate::store::room::Room;

/// Written between two pauses. What piles up in the kernel is written to the disk in one go, and everybody's commits
/// wait behind it: that must be soon over.
const STRETCH_BYTES: usize = 1024 * 1024;
/// A pause takes so many times what the stretch before it took.
const PAUSE_TIMES: u32 = 1;
const PAUSE_MAX: Duration = Duration::from_millis(500);

/// Asked now and then: whether the copy is still wanted.
pub(in crate::store) type GoesOn = Arc<dyn Fn() -> bool + Send + Sync>;

pub(in crate::store) struct Paced {
    file: FileBackend,
    room: Room,
    goes_on: GoesOn,
    stretch: Mutex<Stretch>,
}

struct Stretch {
    began: Instant,
    bytes: usize,
}

impl Paced {
    pub(in crate::store) fn new(
        file: File,
        room: Room,
        goes_on: GoesOn,
    ) -> Result<Paced, redb::DatabaseError> {
        Ok(Paced {
            file: FileBackend::new(file)?,
            room,
            goes_on,
            stretch: Mutex::new(Stretch::begin()),
        })
    }

    fn pace(&self, bytes: usize) -> io::Result<()> {
        let mut stretch = self.stretch.lock().unwrap_or_else(PoisonError::into_inner);
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
        self.file.sync_data()?;
        std::thread::sleep((stretch.began.elapsed() * PAUSE_TIMES).min(PAUSE_MAX));
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

impl StorageBackend for Paced {
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

impl fmt::Debug for Paced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Paced")
    }
}
