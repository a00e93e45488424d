//! The codings of PDF streams (ISO 32000-2, 7.4), decoded up to a bound. Images' codings are not read. A stream that
//! breaks off gives what came before.

use super::super::inflate::{self, Inflated};
use super::lexer::{Dict, Object, digit, is_space};

/// Filters one after the other. Real files use one or two.
const FILTERS_MAX: usize = 4;

pub(super) struct Decoded {
    pub(super) bytes: Vec<u8>,
    /// What all filters together gave.
    pub(super) decoded: usize,
    /// It costs time and gives nothing.
    pub(super) is_bomb: bool,
}

/// The decoded stream, `None` when a filter is not one for text. `resolve` follows references.
pub(super) fn decode(
    dict: &Dict,
    raw: &[u8],
    bytes_max: usize,
    resolve: &dyn Fn(&Object) -> Object,
) -> Option<Decoded> {
    let member = |names: [&[u8]; 2]| {
        let found = names.iter().find_map(|name| dict.get(*name));
        listed(found.map(resolve))
    };
    let filters = member([b"Filter", b"F"]);
    let parameters = member([b"DecodeParms", b"DP"]);
    if filters.len() > FILTERS_MAX {
        return None;
    }
    let mut bytes: Option<Vec<u8>> = None;
    let (mut decoded, mut is_bomb) = (0, false);
    for (at, filter) in filters.iter().enumerate() {
        let input = bytes.as_deref().unwrap_or(raw);
        let filter = resolve(filter);
        let parameters = match parameters.get(at).map(resolve) {
            Some(Object::Dict(dict)) => Parameters::read(&dict, resolve),
            _ => Parameters::default(),
        };
        bytes = Some(match filter.name()? {
            b"FlateDecode" | b"Fl" => {
                let inflated = inflate(input, bytes_max);
                is_bomb |= inflated.is_bomb;
                parameters.unpredicted(inflated.bytes)
            }
            b"LZWDecode" | b"LZW" => {
                parameters.unpredicted(lzw(input, parameters.early, bytes_max))
            }
            b"ASCIIHexDecode" | b"AHx" => hexadecimal(input),
            b"ASCII85Decode" | b"A85" => ascii85(input, bytes_max),
            b"RunLengthDecode" | b"RL" => run_lengths(input, bytes_max),
            b"Crypt" => input.to_vec(),
            _ => return None,
        });
        decoded += bytes.as_ref().map_or(0, Vec::len);
        if is_bomb {
            break;
        }
    }
    let bytes = bytes.unwrap_or_else(|| raw[..raw.len().min(bytes_max)].to_vec());
    Some(Decoded {
        bytes,
        decoded,
        is_bomb,
    })
}

fn listed(object: Option<Object>) -> Vec<Object> {
    match object {
        None | Some(Object::Null) => Vec::new(),
        Some(Object::Array(elements)) => elements.to_vec(),
        Some(other) => vec![other],
    }
}

fn inflate(input: &[u8], bytes_max: usize) -> Inflated {
    // What was read before an error stays.
    let whole = inflate::zlib(input, bytes_max);
    if whole.is_whole || whole.is_bomb || !whole.bytes.is_empty() {
        return whole;
    }
    inflate::raw(input.get(2..).unwrap_or_default(), bytes_max)
}

struct Parameters {
    predictor: usize,
    colours: usize,
    bits: usize,
    columns: usize,
    early: bool,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters {
            predictor: 1,
            colours: 1,
            bits: 8,
            columns: 1,
            early: true,
        }
    }
}

impl Parameters {
    fn read(dict: &Dict, resolve: &dyn Fn(&Object) -> Object) -> Parameters {
        let number = |name: &[u8]| dict.get(name).map(resolve).and_then(|value| value.whole());
        let default = Parameters::default();
        Parameters {
            predictor: number(b"Predictor").unwrap_or(default.predictor),
            colours: number(b"Colors").unwrap_or(default.colours).clamp(1, 64),
            bits: number(b"BitsPerComponent")
                .unwrap_or(default.bits)
                .clamp(1, 16),
            columns: number(b"Columns")
                .unwrap_or(default.columns)
                .clamp(1, 1 << 20),
            early: number(b"EarlyChange") != Some(0),
        }
    }

    /// Undoes the predictor. Only tables are written with one among what is read here, in bytes of eight bits.
    fn unpredicted(&self, bytes: Vec<u8>) -> Vec<u8> {
        let row = (self.colours * self.bits * self.columns).div_ceil(8);
        let pixel = (self.colours * self.bits).div_ceil(8);
        match self.predictor {
            10..=15 => png(&bytes, row, pixel),
            2 if self.bits == 8 => {
                let mut bytes = bytes;
                for line in bytes.chunks_mut(row) {
                    for at in pixel..line.len() {
                        line[at] = line[at].wrapping_add(line[at - pixel]);
                    }
                }
                bytes
            }
            _ => bytes,
        }
    }
}

fn png(bytes: &[u8], row: usize, pixel: usize) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::with_capacity(bytes.len());
    for line in bytes.chunks(row + 1) {
        let (kind, start) = (line[0], out.len());
        for (at, &byte) in line[1..].iter().enumerate() {
            let left = if at >= pixel {
                out[start + at - pixel]
            } else {
                0
            };
            let above = if start >= row {
                out[start - row + at]
            } else {
                0
            };
            let corner = if at >= pixel && start >= row {
                out[start - row + at - pixel]
            } else {
                0
            };
            let predicted = match kind {
                1 => left,
                2 => above,
                3 => u8::midpoint(left, above),
                4 => paeth(left, above, corner),
                _ => 0,
            };
            out.push(byte.wrapping_add(predicted));
        }
    }
    out
}

fn paeth(left: u8, above: u8, corner: u8) -> u8 {
    let (a, b, c) = (i16::from(left), i16::from(above), i16::from(corner));
    let estimate = a + b - c;
    let (to_a, to_b, to_c) = (
        (estimate - a).abs(),
        (estimate - b).abs(),
        (estimate - c).abs(),
    );
    if to_a <= to_b && to_a <= to_c {
        left
    } else if to_b <= to_c {
        above
    } else {
        corner
    }
}

fn lzw(input: &[u8], early: bool, bytes_max: usize) -> Vec<u8> {
    const CLEAR: usize = 256;
    const END: usize = 257;
    const CODES: usize = 4096;
    let mut out: Vec<u8> = Vec::new();
    // Where in `out` the text of each code from 258 stands, and how long it is.
    let mut table: Vec<(usize, usize)> = Vec::new();
    let mut last: Option<(usize, usize)> = None;
    let (mut bits, mut held, mut width) = (0u32, 0u32, 9u32);
    for &byte in input {
        bits = (bits << 8) | u32::from(byte);
        held += 8;
        if held < width {
            continue;
        }
        held -= width;
        let code = ((bits >> held) & ((1 << width) - 1)) as usize;
        bits &= (1 << held) - 1;
        if code == CLEAR {
            table.clear();
            last = None;
            width = 9;
            continue;
        }
        if code == END || out.len() >= bytes_max {
            break;
        }
        let start = out.len();
        if let Ok(byte) = u8::try_from(code) {
            out.push(byte);
        } else if let Some(&(from, length)) = table.get(code - 258) {
            for at in from..from + length {
                out.push(out[at]);
            }
        } else if let Some((from, length)) = last {
            for at in from..from + length {
                out.push(out[at]);
            }
            out.push(out[from]);
        } else {
            break;
        }
        if let Some((from, length)) = last
            && table.len() + 258 < CODES
        {
            // The text of the last code and the first byte of this one stand side by side.
            table.push((from, length + 1));
        }
        last = Some((start, out.len() - start));
        let next = table.len() + 258 + usize::from(early);
        width = match next {
            0..512 => 9,
            512..1024 => 10,
            1024..2048 => 11,
            _ => 12,
        };
    }
    out.truncate(bytes_max);
    out
}

fn hexadecimal(input: &[u8]) -> Vec<u8> {
    let digits: Vec<u8> = input
        .iter()
        .take_while(|b| **b != b'>')
        .filter_map(|b| digit(*b))
        .collect();
    digits
        .chunks(2)
        .map(|pair| pair[0] * 16 + pair.get(1).copied().unwrap_or(0))
        .collect()
}

fn ascii85(input: &[u8], bytes_max: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let mut group = [0u32; 5];
    let mut count = 0;
    for &byte in input {
        match byte {
            b'z' if count == 0 => out.extend([0; 4]),
            b'!'..=b'u' => {
                group[count] = u32::from(byte - b'!');
                count += 1;
                if count == 5 {
                    out.extend(value(&group).to_be_bytes());
                    count = 0;
                }
            }
            b'~' => break,
            byte if is_space(byte) => {}
            _ => break,
        }
        if out.len() >= bytes_max {
            break;
        }
    }
    if count > 1 {
        group[count..].fill(84);
        out.extend(&value(&group).to_be_bytes()[..count - 1]);
    }
    out
}

fn value(group: &[u32; 5]) -> u32 {
    group.iter().fold(0u32, |value, digit| {
        value.wrapping_mul(85).wrapping_add(*digit)
    })
}

fn run_lengths(input: &[u8], bytes_max: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = input;
    while let Some((&length, after)) = rest.split_first() {
        if length == 128 || out.len() >= bytes_max {
            break;
        }
        let length = usize::from(length);
        if length < 128 {
            let (run, after) = after.split_at(after.len().min(length + 1));
            out.extend_from_slice(run);
            rest = after;
        } else if let Some((&byte, after)) = after.split_first() {
            out.extend(std::iter::repeat_n(byte, 257 - length));
            rest = after;
        } else {
            break;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn dict(text: &str) -> Dict {
        match super::super::lexer::Lexer::new(text.as_bytes(), 0, 1000).object() {
            Some(Object::Dict(dict)) => (*dict).clone(),
            other => panic!("{other:?}"),
        }
    }

    fn check(parameters: &str, raw: &[u8], expected: &[u8]) {
        let found = decode(&dict(parameters), raw, 1000, &Object::clone);
        let found = found.map(|found| found.bytes);
        assert_eq!(found.as_deref(), Some(expected), "{parameters}");
    }

    fn deflated(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).expect("a vector takes all");
        encoder.finish().expect("a vector takes all")
    }

    #[test]
    fn each_coding_is_undone() {
        check("<<>>", b"plain", b"plain");
        check("<</Filter/FlateDecode>>", &deflated(b"hello"), b"hello");
        check("<</Filter/ASCIIHexDecode>>", b"68 65 6C6c6F>", b"hello");
        check("<</Filter[/A85]>>", b"BOu!rDZ~>", b"hello");
        check("<</Filter/RL>>", b"\x01he\xFFl\x00o\x80", b"hello");
        check(
            "<</Filter/LZWDecode>>",
            b"\x80\x0B\x60\x50\x22\x0C\x0C\x85\x01",
            b"-----A---B",
        );
    }

    #[test]
    fn predictors_are_undone() {
        let rows = deflated(&[2, 1, 2, 3, 2, 1, 1, 1, 1, 5, 1, 1]);
        check(
            "<</Filter/FlateDecode/DecodeParms<</Predictor 12/Columns 3>>>>",
            &rows,
            &[1, 2, 3, 2, 3, 4, 5, 6, 7],
        );
    }

    #[test]
    fn a_bomb_ends_at_the_bound_and_a_broken_stream_at_its_break() {
        let bomb = deflated(&vec![b'x'; 10_000_000]);
        check("<</Filter/FlateDecode>>", &bomb, &[b'x'; 1000]);
        let mut random = Vec::new();
        for at in 0..400u32 {
            random.extend((at.wrapping_mul(2_654_435_761)).to_le_bytes());
        }
        let cut = deflated(&random);
        let found = decode(
            &dict("<</Filter/Fl>>"),
            &cut[..cut.len() / 2],
            1000,
            &Object::clone,
        );
        let found = found.expect("a part").bytes;
        assert!(!found.is_empty() && random.starts_with(&found));
    }

    #[test]
    fn images_are_not_read() {
        let dict = dict("<</Filter/DCTDecode>>");
        assert!(decode(&dict, b"x", 10, &Object::clone).is_none());
    }
}
