//! Opens a file without changing it: redb's writes during a check stay in memory.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::RwLock;

use crate::sync::{read_lock, write_lock};

/// A multiple of the pages that redb writes, so that few blocks are held for one write.
const BLOCK_BYTES: u64 = 4096;

#[derive(Debug)]
pub(in crate::store) struct CopyOnWrite {
    file: File,
    file_bytes: u64,
    written: RwLock<Written>,
}

#[derive(Debug)]
struct Written {
    bytes: u64,
    blocks: BTreeMap<u64, Vec<u8>>,
}

impl CopyOnWrite {
    pub(in crate::store) fn over(file: File) -> io::Result<CopyOnWrite> {
        let file_bytes = file.metadata()?.len();
        Ok(CopyOnWrite {
            file,
            file_bytes,
            written: RwLock::new(Written {
                bytes: file_bytes,
                blocks: BTreeMap::new(),
            }),
        })
    }

    /// A block as the file has it; zeros beyond its end.
    fn block_of_file(&self, number: u64) -> io::Result<Vec<u8>> {
        let start = number * BLOCK_BYTES;
        let held = self.file_bytes.saturating_sub(start).min(BLOCK_BYTES);
        let mut block = vec![0; usize_of(BLOCK_BYTES)];
        self.file
            .read_exact_at(&mut block[..usize_of(held)], start)?;
        Ok(block)
    }
}

/// Numbers of the blocks that a range touches, each with the part of it: where in the block, where in the range.
fn parts(offset: u64, length: usize) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        if done == length {
            return None;
        }
        let at = offset + done as u64;
        let inside = usize_of(at % BLOCK_BYTES);
        let taken = (usize_of(BLOCK_BYTES) - inside).min(length - done);
        let part = (at / BLOCK_BYTES, inside, done..done + taken);
        done += taken;
        Some(part)
    })
}

/// Lossless: at most a block's size.
fn usize_of(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

impl redb::StorageBackend for CopyOnWrite {
    fn len(&self) -> io::Result<u64> {
        let written = read_lock(&self.written);
        Ok(written.bytes)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let written = read_lock(&self.written);
        if offset.saturating_add(out.len() as u64) > written.bytes {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        for (number, inside, range) in parts(offset, out.len()) {
            let out = &mut out[range];
            match written.blocks.get(&number) {
                Some(block) => out.copy_from_slice(&block[inside..inside + out.len()]),
                None => {
                    let start = number * BLOCK_BYTES + inside as u64;
                    let held = usize_of(self.file_bytes.saturating_sub(start)).min(out.len());
                    self.file.read_exact_at(&mut out[..held], start)?;
                    out[held..].fill(0);
                }
            }
        }
        Ok(())
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        let mut written = write_lock(&self.written);
        // What is cut off and grows again must be zeros, not what the file has there.
        for number in bytes.div_ceil(BLOCK_BYTES)..written.bytes.div_ceil(BLOCK_BYTES) {
            written
                .blocks
                .insert(number, vec![0; usize_of(BLOCK_BYTES)]);
        }
        if bytes < written.bytes && !bytes.is_multiple_of(BLOCK_BYTES) {
            let number = bytes / BLOCK_BYTES;
            let mut block = match written.blocks.remove(&number) {
                Some(block) => block,
                None => self.block_of_file(number)?,
            };
            block[usize_of(bytes % BLOCK_BYTES)..].fill(0);
            written.blocks.insert(number, block);
        }
        written.bytes = bytes;
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut written = write_lock(&self.written);
        for (number, inside, range) in parts(offset, data.len()) {
            let data = &data[range];
            let mut block = match written.blocks.remove(&number) {
                Some(block) => block,
                None => self.block_of_file(number)?,
            };
            block[inside..inside + data.len()].copy_from_slice(data);
            written.blocks.insert(number, block);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use redb::StorageBackend as _;

    use super::*;

    fn copy_of(name: &str, bytes: &[u8]) -> (std::path::PathBuf, CopyOnWrite) {
        let name = format!("context402-copy-on-write-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, bytes).expect("written");
        let file = File::open(&path).expect("there");
        (path, CopyOnWrite::over(file).expect("its length"))
    }

    fn all(copy: &CopyOnWrite) -> Vec<u8> {
        let mut bytes = vec![0; usize_of(copy.len().expect("a length"))];
        copy.read(0, &mut bytes).expect("reads");
        bytes
    }

    #[test]
    fn what_is_written_is_read_back_and_the_file_stays_as_it_was() {
        let bytes: Vec<u8> = (0..10_000u32).map(|n| (n % 251) as u8).collect();
        let (path, copy) = copy_of("write", &bytes);
        copy.write(4_000, &[7; 5_000]).expect("writes");
        let mut expected = bytes.clone();
        expected[4_000..9_000].fill(7);
        assert_eq!(all(&copy), expected);
        copy.set_len(12_000).expect("grows");
        copy.write(11_000, &[8; 1_000]).expect("writes");
        expected.resize(11_000, 0);
        expected.resize(12_000, 8);
        assert_eq!(all(&copy), expected);
        assert_eq!(std::fs::read(&path).expect("there"), bytes);
        std::fs::remove_file(path).expect("gone");
    }

    #[test]
    fn what_was_cut_off_does_not_come_back() {
        let (path, copy) = copy_of("cut", &[1; 10_000]);
        copy.set_len(5_000).expect("shrinks");
        assert!(copy.read(4_999, &mut [0; 2]).is_err(), "beyond the end");
        copy.set_len(10_000).expect("grows");
        let mut expected = vec![1; 5_000];
        expected.resize(10_000, 0);
        assert_eq!(all(&copy), expected);
        std::fs::remove_file(path).expect("gone");
    }
}
