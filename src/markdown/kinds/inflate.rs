//! DEFLATE for archives and PDF streams, up to a bound. Its blocks may be empty, and each costs time although it adds no
//! byte: data that unpacks to much less than itself is given up.

use std::cell::Cell;
use std::io::{self, BufRead, Read};

use flate2::bufread::{DeflateDecoder, ZlibDecoder};

/// Packed bytes that may unpack to nothing. Each unpacked byte allows [`PACKED_RATIO`] more: no compressor makes data
/// twice as long.
pub(super) const PACKED_FREE_BYTES: usize = 64 * 1024;
pub(super) const PACKED_RATIO: usize = 2;
/// The decoder is given so much at a time.
const SLICE_BYTES: usize = 4 * 1024;
const CHUNK_BYTES: usize = 32 * 1024;

#[derive(Debug, Default)]
pub(super) struct Inflated {
    /// What was unpacked before a fault is there.
    pub(super) bytes: Vec<u8>,
    /// Without a fault up to its end, or up to the bound.
    pub(super) is_whole: bool,
    /// Given up, because it costs time and unpacks to nothing.
    pub(super) is_bomb: bool,
}

/// Without a header, as in archives.
pub(super) fn raw(packed: &[u8], bytes_max: usize) -> Inflated {
    let meter = Meter::default();
    unpack(
        DeflateDecoder::new(Packed::new(packed, &meter)),
        &meter,
        bytes_max,
    )
}

/// With a header, as in PDF.
pub(super) fn zlib(packed: &[u8], bytes_max: usize) -> Inflated {
    let meter = Meter::default();
    unpack(
        ZlibDecoder::new(Packed::new(packed, &meter)),
        &meter,
        bytes_max,
    )
}

#[derive(Debug, Default)]
struct Meter {
    unpacked: Cell<usize>,
    is_bomb: Cell<bool>,
}

#[derive(Debug)]
struct Packed<'a> {
    rest: &'a [u8],
    taken: usize,
    meter: &'a Meter,
}

impl<'a> Packed<'a> {
    fn new(rest: &'a [u8], meter: &'a Meter) -> Packed<'a> {
        Packed {
            rest,
            taken: 0,
            meter,
        }
    }
}

impl Read for Packed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Packed<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.taken > PACKED_FREE_BYTES + PACKED_RATIO * self.meter.unpacked.get() {
            self.meter.is_bomb.set(true);
            return Err(io::Error::other("it unpacks to nothing"));
        }
        Ok(&self.rest[..self.rest.len().min(SLICE_BYTES)])
    }

    fn consume(&mut self, count: usize) {
        self.taken += count;
        self.rest = self.rest.get(count..).unwrap_or_default();
    }
}

fn unpack(mut decoder: impl Read, meter: &Meter, bytes_max: usize) -> Inflated {
    let mut bytes = Vec::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    let is_whole = loop {
        let space = CHUNK_BYTES.min(bytes_max - bytes.len());
        if space == 0 {
            break true;
        }
        match decoder.read(&mut chunk[..space]) {
            Ok(0) => break true,
            Ok(count) => {
                bytes.extend_from_slice(&chunk[..count]);
                meter.unpacked.set(bytes.len());
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break false,
        }
    };
    Inflated {
        bytes,
        is_whole,
        is_bomb: meter.is_bomb.get(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Blocks that hold nothing, without a header.
    pub(in crate::markdown) fn empty_blocks(bytes: usize) -> Vec<u8> {
        let mut packed = b"\x02\x08\x20\x80\x00".repeat(bytes / 5);
        packed.extend(b"\x03\x00");
        packed
    }

    #[test]
    fn blocks_that_hold_nothing_are_given_up() {
        let few = raw(&empty_blocks(PACKED_FREE_BYTES / 2), 1_000);
        assert!(few.is_whole && !few.is_bomb && few.bytes.is_empty());
        let many = raw(&empty_blocks(4 * PACKED_FREE_BYTES), 1_000);
        assert!(many.is_bomb && !many.is_whole);
        let with_header = [&[0x78, 0x9C][..], &empty_blocks(4 * PACKED_FREE_BYTES)].concat();
        assert!(zlib(&with_header, 1_000).is_bomb);
    }

    /// So many blocks with two letters each, in the codes that need no table.
    fn tiny_blocks(bytes: usize) -> Vec<u8> {
        let (mut packed, mut bits, mut count) = (Vec::new(), 0u64, 0);
        while packed.len() < bytes {
            // Fixed codes; twice the code of `a`, of which the highest bit comes first; the end of the block.
            let (letter, letter_bits) = (0b1000_1001, 8);
            for (value, width) in [
                (0b010, 3),
                (letter, letter_bits),
                (letter, letter_bits),
                (0, 7),
            ] {
                bits |= value << count;
                count += width;
            }
            while count >= 8 {
                packed.push((bits & 0xFF) as u8);
                bits >>= 8;
                count -= 8;
            }
        }
        packed
    }

    /// zlib-rs reads them as it reads others; miniz_oxide makes tables for each, and takes half a minute for 5 MB.
    #[test]
    fn blocks_of_a_few_bytes_are_read() {
        let inflated = raw(&tiny_blocks(128 * 1024), 1_000_000);
        assert!(inflated.bytes.len() > 60_000 && inflated.bytes.iter().all(|b| *b == b'a'));
    }

    #[test]
    fn the_bound_is_kept() {
        let stored = [&[1, 5, 0, 0xFA, 0xFF][..], b"words"].concat();
        assert_eq!(raw(&stored, 100).bytes, b"words");
        let cut = raw(&stored, 3);
        assert!(cut.is_whole && cut.bytes == b"wor");
        let broken = raw(&stored[..7], 100);
        assert!(!broken.is_whole || broken.bytes.len() == 2);
    }
}
