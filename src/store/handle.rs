//! Holds the open data file. redb closes it when the last handle goes, which writes once more; on a damaged file it
//! asserts there, and that must end nothing but the file.

use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use redb::Database;

#[derive(Clone)]
pub(in crate::store) struct Handle(Option<Arc<Database>>);

impl Handle {
    pub(in crate::store) fn new(database: Database) -> Handle {
        Handle(Some(Arc::new(database)))
    }
}

impl Deref for Handle {
    type Target = Database;

    fn deref(&self) -> &Database {
        self.0.as_ref().expect("held until it is dropped")
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let database = self.0.take();
        if catch_unwind(AssertUnwindSafe(|| drop(database))).is_err() {
            tracing::error!(
                "the data file could not be closed in order: its structure is broken. What was answered is in it; look at \
                 all of it with `serve --check`, and restore a backup if that finds damage"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::atomic::{AtomicBool, Ordering};

    use redb::StorageBackend;
    use redb::backends::InMemoryBackend;

    use super::*;

    /// Asserts on every write, once it is told to.
    #[derive(Debug)]
    struct Asserting(InMemoryBackend, Arc<AtomicBool>);

    impl StorageBackend for Asserting {
        fn len(&self) -> io::Result<u64> {
            self.0.len()
        }

        fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
            self.0.read(offset, out)
        }

        fn set_len(&self, len: u64) -> io::Result<()> {
            self.0.set_len(len)
        }

        fn sync_data(&self) -> io::Result<()> {
            self.0.sync_data()
        }

        fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
            assert!(!self.1.load(Ordering::SeqCst), "the structure is broken");
            self.0.write(offset, data)
        }
    }

    #[test]
    fn a_file_that_cannot_be_closed_ends_nothing_else() {
        let is_broken = Arc::new(AtomicBool::new(false));
        let backend = Asserting(InMemoryBackend::new(), is_broken.clone());
        let database = Database::builder().create_with_backend(backend);
        let handle = Handle::new(database.expect("a new one"));
        let other = handle.clone();
        is_broken.store(true, Ordering::SeqCst);
        drop(handle);
        drop(other);
    }
}
