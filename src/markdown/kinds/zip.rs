//! The parts of a ZIP archive (APPNOTE 6.3), of which office documents and books are made. Stored and deflated parts
//! are read, each up to a bound, all together up to another one: an archive of a few kilobytes may unpack to terabytes.

use std::cell::Cell;
use std::collections::HashMap;

use encoding_rs::{CoderResult, UTF_8};

use super::super::ConvertError;
use super::inflate;

/// Parts of an archive that are looked at.
const PARTS_MAX: usize = 4_096;
/// Unpacked bytes of one part.
pub(super) const PART_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Unpacked bytes of all parts that are read, one after the other.
pub(super) const UNPACKED_BYTES_MAX: usize = 24 * 1024 * 1024;
/// Where the end record can stand: it is 22 bytes long and ends with a comment of at most 65,535.
const END_BYTES_MAX: usize = 22 + 65_535;

pub(super) struct Archive<'a> {
    bytes: &'a [u8],
    parts: HashMap<String, Part>,
    left: Cell<usize>,
    /// Packed bytes that may still be read: parts do not overlap, and each is read once.
    packed_left: Cell<usize>,
    is_cut: Cell<bool>,
    is_bomb: Cell<bool>,
}

#[derive(Clone, Copy)]
struct Part {
    is_encrypted: bool,
    method: u16,
    packed: usize,
    header: usize,
}

impl<'a> Archive<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Archive<'a>, ConvertError> {
        let tail = bytes.len().saturating_sub(END_BYTES_MAX);
        let end = bytes[tail..]
            .windows(4)
            .rposition(|window| window == b"PK\x05\x06")
            .ok_or(ConvertError::DamagedDocument)?;
        let end = tail + end;
        let mut at = long(bytes, end + 16).ok_or(ConvertError::DamagedDocument)?;
        let mut parts = HashMap::new();
        while parts.len() < PARTS_MAX && bytes.get(at..at.saturating_add(4)) == Some(b"PK\x01\x02")
        {
            let Some((name, part, next)) = entry(bytes, at) else {
                break;
            };
            parts.insert(name, part);
            at = next;
        }
        match parts.is_empty() {
            true => Err(ConvertError::DamagedDocument),
            false => Ok(Archive {
                bytes,
                parts,
                left: Cell::new(UNPACKED_BYTES_MAX),
                packed_left: Cell::new(bytes.len()),
                is_cut: Cell::new(false),
                is_bomb: Cell::new(false),
            }),
        }
    }

    /// A part as text; `None` if it is missing or cannot be read.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let unpacked = self.unpacked(self.parts.get(name)?)?;
        // Nearly every part is UTF-8, which needs no copy.
        let mut text = match String::from_utf8(unpacked) {
            Ok(text) => text,
            Err(error) => self.decoded(error.as_bytes()),
        };
        if text.starts_with('\u{FEFF}') {
            text.drain(..'\u{FEFF}'.len_utf8());
        }
        Some(text)
    }

    /// Text in another encoding than UTF-8; broken characters are three times as long as they were.
    fn decoded(&self, bytes: &[u8]) -> String {
        let mut decoder = UTF_8.new_decoder();
        let most = decoder.max_utf8_buffer_length(bytes.len());
        let mut text =
            String::with_capacity(most.map_or(PART_BYTES_MAX, |most| most.min(PART_BYTES_MAX)));
        if decoder.decode_to_string(bytes, &mut text, true).0 == CoderResult::OutputFull {
            self.is_cut.set(true);
        }
        text
    }

    /// The part that is the document itself.
    pub(super) fn main_text(&self, name: &str) -> Result<String, ConvertError> {
        if self.parts.get(name).is_some_and(|part| part.is_encrypted) {
            return Err(ConvertError::EncryptedDocument);
        }
        let text = self.text(name);
        self.finish()?;
        text.ok_or(ConvertError::DamagedDocument)
    }

    /// Whether a bound kept something of it out. An archive made to cost time is refused.
    pub(super) fn finish(&self) -> Result<bool, ConvertError> {
        match self.is_bomb.get() {
            true => Err(ConvertError::TooComplex),
            false => Ok(self.is_cut.get()),
        }
    }

    fn unpacked(&self, part: &Part) -> Option<Vec<u8>> {
        let name_length = short(self.bytes, part.header + 26)?;
        let extra_length = short(self.bytes, part.header + 28)?;
        let start = part.header + 30 + usize::from(name_length) + usize::from(extra_length);
        let packed = self.bytes.get(start..start.checked_add(part.packed)?)?;
        if part.is_encrypted {
            return None;
        }
        let Some(packed_left) = self.packed_left.get().checked_sub(packed.len()) else {
            self.is_cut.set(true);
            return None;
        };
        self.packed_left.set(packed_left);
        let most = PART_BYTES_MAX.min(self.left.get());
        let (unpacked, is_whole) = match part.method {
            0 => (packed[..packed.len().min(most)].to_vec(), true),
            8 => {
                let inflated = inflate::raw(packed, most);
                if inflated.is_bomb {
                    self.is_bomb.set(true);
                    self.packed_left.set(0);
                }
                (inflated.bytes, inflated.is_whole)
            }
            _ => return None,
        };
        // What was unpacked before a fault counts.
        if !is_whole || unpacked.len() == most {
            self.is_cut.set(true);
        }
        self.left.set(self.left.get() - unpacked.len());
        Some(unpacked)
    }
}

fn entry(bytes: &[u8], at: usize) -> Option<(String, Part, usize)> {
    let name_length = usize::from(short(bytes, at + 28)?);
    let extra = usize::from(short(bytes, at + 30)?) + usize::from(short(bytes, at + 32)?);
    let name = bytes.get(at + 46..at + 46 + name_length)?;
    let part = Part {
        is_encrypted: short(bytes, at + 8)? & 1 != 0,
        method: short(bytes, at + 10)?,
        packed: long(bytes, at + 20)?,
        header: long(bytes, at + 42)?,
    };
    let name = String::from_utf8_lossy(name).into_owned();
    Some((name, part, at + 46 + name_length + extra))
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes(bytes.try_into().ok()?))
}

fn long(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    usize::try_from(u32::from_le_bytes(bytes.try_into().ok()?)).ok()
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::DeflateEncoder;
    use proptest::prelude::*;

    use super::super::inflate::tests::empty_blocks;
    use super::*;

    /// An archive of deflated parts; the first one is stored, as some formats ask.
    pub(in crate::markdown) fn archive(parts: &[(&str, &[u8])]) -> Vec<u8> {
        archive_with(parts, |number| u16::from(number > 0) * 8)
    }

    fn archive_with(parts: &[(&str, &[u8])], method: impl Fn(usize) -> u16) -> Vec<u8> {
        let (mut bytes, mut directory) = (Vec::new(), Vec::new());
        for (number, (name, content)) in parts.iter().enumerate() {
            let method = method(number);
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(content).expect("a vector takes all");
            let packed = match method {
                0 => content.to_vec(),
                _ => encoder.finish().expect("a vector takes all"),
            };
            let size = |bytes: &[u8]| u32::try_from(bytes.len()).expect("small").to_le_bytes();
            let name_size = &size(name.as_bytes())[..2];
            let header = u32::try_from(bytes.len()).expect("small").to_le_bytes();
            let about = [
                &[20, 0, 0, 0][..],
                &method.to_le_bytes(),
                &[0; 8],
                &size(&packed),
                &size(content),
                name_size,
                &[0, 0],
            ]
            .concat();
            bytes.extend([b"PK\x03\x04", &about[..], name.as_bytes(), &packed].concat());
            let rest = [&[0; 10][..], &header].concat();
            directory.extend([b"PK\x01\x02\x14\0", &about[..], &rest, name.as_bytes()].concat());
        }
        let start = u32::try_from(bytes.len()).expect("small").to_le_bytes();
        bytes.extend(&directory);
        bytes.extend([b"PK\x05\x06", &[0; 12][..], &start, &[0, 0]].concat());
        bytes
    }

    #[test]
    fn parts_are_read_by_name() {
        let bytes = archive(&[("a", b"stored"), ("b/c.xml", "gepackt ü".as_bytes())]);
        let archive = Archive::open(&bytes).expect("an archive");
        assert_eq!(archive.text("a").as_deref(), Some("stored"));
        assert_eq!(archive.text("b/c.xml").as_deref(), Some("gepackt ü"));
        assert_eq!(archive.text("missing"), None);
        assert_eq!(archive.finish(), Ok(false));
    }

    #[test]
    fn bombs_are_bounded() {
        let zeros = vec![b' '; PART_BYTES_MAX + 1];
        let names = ["m", "a", "b", "c", "d", "e"];
        let parts: Vec<(&str, &[u8])> = names.iter().map(|name| (*name, &zeros[..])).collect();
        let mut parts = parts;
        parts[0].1 = b"";
        let bytes = archive(&parts);
        assert!(bytes.len() < 100_000);
        let archive = Archive::open(&bytes).expect("an archive");
        let all: usize = names
            .iter()
            .filter_map(|name| archive.text(name))
            .map(|text| text.len())
            .sum();
        assert_eq!(all, UNPACKED_BYTES_MAX);
        assert_eq!(archive.finish(), Ok(true));
    }

    /// A part may not be read again and again, nor may many names stand for the same bytes.
    #[test]
    fn packed_bytes_are_read_once() {
        let bytes = archive(&[("m", b""), ("a", &b"some words, and more words"[..])]);
        let archive = Archive::open(&bytes).expect("an archive");
        let times = (0..100).filter(|_| archive.text("a").is_some()).count();
        assert!((1..10).contains(&times), "{times}");
        assert_eq!(archive.finish(), Ok(true));
    }

    /// An archive whose second part is made of blocks that hold nothing.
    pub(in crate::markdown) fn bomb(name: &str, others: &[(&str, &[u8])]) -> Vec<u8> {
        let blocks = empty_blocks(1_000_000);
        let stored = [&[("m", &b""[..])], others, &[(name, &blocks[..])]].concat();
        let mut bytes = archive_with(&stored, |number| {
            u16::from(number > 0 && number <= others.len()) * 8
        });
        // The last one in the directory: it is no stored part, but a deflated one.
        let at = bytes
            .windows(4)
            .rposition(|window| window == b"PK\x01\x02")
            .expect("a directory");
        bytes[at + 10] = 8;
        bytes
    }

    #[test]
    fn blocks_that_hold_nothing_are_refused() {
        let bytes = bomb("a", &[("b", b"other words")]);
        let archive = Archive::open(&bytes).expect("an archive");
        assert_eq!(archive.text("b").as_deref(), Some("other words"));
        assert_eq!(archive.main_text("a"), Err(ConvertError::TooComplex));
        assert_eq!(archive.finish(), Err(ConvertError::TooComplex));
    }

    /// UTF-16 begins with a mark, as XML asks (4.3.3); what is no text at all does not grow beyond the bound.
    #[test]
    fn other_encodings_are_decoded_within_the_bound() {
        let wide: Vec<u8> = "\u{FEFF}<a>ü</a>"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        let broken = vec![0xFF; PART_BYTES_MAX / 2];
        let bytes = archive(&[
            ("m", b""),
            ("wide", &wide),
            ("marked", "\u{FEFF}<a/>".as_bytes()),
            ("broken", &broken),
        ]);
        let archive = Archive::open(&bytes).expect("an archive");
        assert_eq!(archive.text("wide").as_deref(), Some("<a>ü</a>"));
        assert_eq!(archive.text("marked").as_deref(), Some("<a/>"));
        assert_eq!(archive.finish(), Ok(false));
        let text = archive.text("broken").expect("replaced characters");
        assert!(text.len() <= PART_BYTES_MAX && text.capacity() <= PART_BYTES_MAX);
        assert_eq!(archive.finish(), Ok(true));
    }

    #[test]
    fn encrypted_parts_are_told() {
        let mut bytes = archive(&[("a", b"secret")]);
        let at = bytes
            .windows(4)
            .position(|window| window == b"PK\x01\x02")
            .expect("a directory");
        bytes[at + 8] = 1;
        let archive = Archive::open(&bytes).expect("an archive");
        assert_eq!(archive.main_text("a"), Err(ConvertError::EncryptedDocument));
        assert_eq!(archive.main_text("b"), Err(ConvertError::DamagedDocument));
    }

    #[test]
    fn a_part_that_breaks_off_is_cut() {
        let mut bytes = archive(&[("m", b""), ("a", &b"some words, and more words"[..])]);
        let at = bytes
            .windows(4)
            .rposition(|window| window == b"PK\x01\x02")
            .expect("a directory");
        bytes[at + 20] -= 5;
        let archive = Archive::open(&bytes).expect("an archive");
        let text = archive.text("a").expect("its beginning");
        assert_eq!(archive.finish(), Ok(true), "{text}");
    }

    proptest! {
        #[test]
        fn any_bytes_end_in_an_answer(changes in proptest::collection::vec((any::<u16>(), any::<u8>()), 0..20), cut in any::<u16>()) {
            let mut bytes = archive(&[("a", b"stored"), ("b", &[b'x'; 500])]);
            for (at, byte) in changes {
                let at = usize::from(at) % bytes.len();
                bytes[at] = byte;
            }
            bytes.truncate(bytes.len() - usize::from(cut) % 40);
            if let Ok(archive) = Archive::open(&bytes) {
                for name in archive.parts.keys() {
                    let _ = archive.text(name);
                }
            }
        }
    }
}
