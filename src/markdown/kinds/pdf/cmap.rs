//! Character maps: which codes a composite font's text is made of, and which characters codes stand for
//! (`ToUnicode`; ISO 32000-2, 9.7.5 and 9.10.3).

use super::lexer::{Lexer, Object, Token};

/// Entries of one map. There are no more codes of two bytes.
const ENTRIES_MAX: usize = 70_000;
const OBJECTS_MAX: usize = 400_000;
/// UTF-16 bytes of what one code stands for.
const TARGET_BYTES_MAX: usize = 64;

#[derive(Debug, Default)]
pub(super) struct CMap {
    /// Lengths of codes in bytes with their range, as the map declares them.
    spaces: Vec<(usize, u32, u32)>,
    /// First code, last code, what the first stands for; sorted.
    ranges: Vec<(u32, u32, String)>,
}

impl CMap {
    pub(super) fn read(content: &[u8]) -> CMap {
        let mut map = CMap::default();
        let mut lexer = Lexer::new(content, 0, OBJECTS_MAX);
        let mut operands: Vec<Object> = Vec::new();
        while let Some(token) = lexer.token() {
            match token {
                Token::Object(object) => operands.push(object),
                Token::Word(word) => {
                    match word {
                        b"endcodespacerange" => map.take_spaces(&operands),
                        b"endbfchar" => map.take_characters(&operands),
                        b"endbfrange" => map.take_ranges(&operands),
                        _ => {}
                    }
                    operands.clear();
                }
                Token::ArrayEnd | Token::DictEnd => {}
            }
        }
        map.ranges.sort_by_key(|(from, _, _)| *from);
        map
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The code that `text` starts with, and its length.
    pub(super) fn code(&self, text: &[u8]) -> Option<(u32, usize)> {
        let mut code = 0;
        for (at, &byte) in text.iter().take(4).enumerate() {
            code = (code << 8) | u32::from(byte);
            let is_code = |space: &&(usize, u32, u32)| {
                space.0 == at + 1 && (space.1..=space.2).contains(&code)
            };
            if self.spaces.iter().find(is_code).is_some() {
                return Some((code, at + 1));
            }
        }
        None
    }

    /// The length of all codes, if they have one.
    pub(super) fn code_bytes(&self) -> Option<usize> {
        let first = self.spaces.first()?.0;
        self.spaces
            .iter()
            .all(|space| space.0 == first)
            .then_some(first)
    }

    /// What a code stands for.
    pub(super) fn push(&self, code: u32, out: &mut String) -> bool {
        let after = self.ranges.partition_point(|(from, _, _)| *from <= code);
        let Some((from, to, target)) = after.checked_sub(1).map(|at| &self.ranges[at]) else {
            return false;
        };
        if code > *to || target.is_empty() {
            return false;
        }
        let mut characters = target.chars();
        let last = characters.next_back().unwrap_or(' ');
        let Some(last) = char::from_u32((last as u32).saturating_add(code - from)) else {
            return false;
        };
        out.push_str(characters.as_str());
        out.push(last);
        true
    }

    fn take_spaces(&mut self, operands: &[Object]) {
        for pair in operands.chunks_exact(2) {
            if let [Object::Text(from), Object::Text(to)] = pair
                && self.spaces.len() < 64
                && (1..=4).contains(&from.len())
            {
                self.spaces.push((from.len(), number(from), number(to)));
            }
        }
    }

    fn take_characters(&mut self, operands: &[Object]) {
        for pair in operands.chunks_exact(2) {
            if let [Object::Text(code), Object::Text(target)] = pair {
                self.add(number(code), number(code), target);
            }
        }
    }

    fn take_ranges(&mut self, operands: &[Object]) {
        for triple in operands.chunks_exact(3) {
            let [Object::Text(from), Object::Text(to), target] = triple else {
                continue;
            };
            match target {
                Object::Text(target) => self.add(number(from), number(to), target),
                Object::Array(targets) => {
                    for (code, target) in (number(from)..=number(to)).zip(targets.iter()) {
                        if let Object::Text(target) = target {
                            self.add(code, code, target);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn add(&mut self, from: u32, to: u32, target: &[u8]) {
        if self.ranges.len() < ENTRIES_MAX && target.len() <= TARGET_BYTES_MAX {
            self.ranges.push((from, to, utf_16(target)));
        }
    }
}

fn number(text: &[u8]) -> u32 {
    let tail = text.iter().rev().take(4).rev();
    tail.fold(0, |number, byte| (number << 8) | u32::from(*byte))
}

/// One byte alone stands for itself.
pub(super) fn utf_16(text: &[u8]) -> String {
    if let [byte] = text {
        return char::from(*byte).to_string();
    }
    let units = text
        .chunks_exact(2)
        .map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
    char::decode_utf16(units)
        .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
        .filter(|c| *c != '\0')
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_and_ranges() {
        let map = CMap::read(
            b"1 begincodespacerange <0000> <FFFF> endcodespacerange\n\
              2 beginbfchar <0001> <00660069> <0002> <D83DDE00> endbfchar\n\
              2 beginbfrange <0010> <0012> <0041> <0020> <0021> [<0078> <0079>] endbfrange",
        );
        let check = |code: u32, expected: Option<&str>| {
            let mut out = String::new();
            let found = map.push(code, &mut out);
            assert_eq!(found.then_some(out.as_str()), expected, "{code}");
        };
        check(1, Some("fi"));
        check(2, Some("😀"));
        check(0x12, Some("C"));
        check(0x13, None);
        check(0x21, Some("y"));
        check(0, None);
        assert_eq!(map.code(&[0, 1, 2]), Some((1, 2)));
        assert_eq!(map.code_bytes(), Some(2));
    }

    #[test]
    fn a_range_over_all_codes_is_one_entry() {
        let map = CMap::read(b"beginbfrange <0000> <FFFFFFFF> <0041> endbfrange");
        let mut out = String::new();
        assert!(map.push(1, &mut out) && !map.push(u32::MAX, &mut out));
        assert_eq!((out.as_str(), map.ranges.len()), ("B", 1));
    }
}
