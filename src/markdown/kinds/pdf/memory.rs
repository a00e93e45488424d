//! What reading one file may hold at a time, in bytes: decoded streams, objects, fonts and lines have one budget, so that
//! no part of a file can take more than the memory reserved for all of it.

use std::cell::Cell;
use std::ops::Deref;
use std::rc::Rc;

use super::super::ContentKind;

/// The rest of what is reserved for a PDF holds the file itself and the lines of one page.
const OTHER_BYTES: usize = 16 * 1024 * 1024;
/// And for each byte of the file: the buffer that it arrived in is up to twice as long.
const OTHER_FACTOR: usize = 2;

#[derive(Clone, Debug)]
pub(super) struct Memory(Rc<Cell<usize>>);

/// A part of the budget, given back when it is dropped.
#[derive(Debug)]
pub(super) struct Reserved {
    memory: Memory,
    bytes: usize,
}

/// A decoded stream, which counts as long as it lives.
#[derive(Debug)]
pub(super) struct Content {
    bytes: Vec<u8>,
    held: Reserved,
}

impl Memory {
    /// For a file of so many bytes.
    pub(super) fn new(file_bytes: usize) -> Memory {
        let reserved = ContentKind::Pdf.row().converting_bytes(file_bytes);
        let other = OTHER_BYTES + OTHER_FACTOR * file_bytes;
        Memory(Rc::new(Cell::new(reserved.saturating_sub(other))))
    }

    pub(super) fn left(&self) -> usize {
        self.0.get()
    }

    /// Takes so many bytes from the budget for good, or all that is left: then `None`.
    pub(super) fn keep(&self, bytes: usize) -> Option<()> {
        let left = self.left().checked_sub(bytes);
        self.0.set(left.unwrap_or(0));
        left.map(|_| ())
    }

    /// Takes so many bytes from the budget until the answer is dropped.
    pub(super) fn hold(&self, bytes: usize) -> Option<Reserved> {
        let left = self.left().checked_sub(bytes)?;
        self.0.set(left);
        let memory = self.clone();
        Some(Reserved { memory, bytes })
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.memory.0.set(self.memory.left() + self.bytes);
    }
}

impl Content {
    pub(super) fn new(bytes: Vec<u8>, memory: &Memory) -> Option<Content> {
        let held = memory.hold(bytes.len())?;
        Some(Content { bytes, held })
    }

    /// Adds to its end; `None` when there is no space for it.
    pub(super) fn extend(&mut self, bytes: &[u8]) -> Option<()> {
        let mut held = self.held.memory.hold(bytes.len())?;
        self.bytes.extend_from_slice(bytes);
        // One part of the budget from here.
        self.held.bytes += std::mem::take(&mut held.bytes);
        Some(())
    }
}

impl Deref for Content {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_given_back() {
        let memory = Memory::new(0);
        let all = memory.left();
        assert!(all > OTHER_BYTES);
        let content = Content::new(vec![0; 1_000], &memory).expect("there is space");
        assert_eq!(memory.left(), all - 1_000);
        assert!(memory.hold(all).is_none());
        drop(content);
        assert_eq!(memory.left(), all);
        assert!(memory.keep(all + 1).is_none());
        assert_eq!(memory.left(), 0);
        assert!(Memory::new(1_000_000).left() >= all + 1_000_000);
    }
}
