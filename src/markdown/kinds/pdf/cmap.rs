//! Character maps: which codes a composite font's text is made of, and which characters codes stand for
//! (`ToUnicode`; ISO 32000-2, 9.7.5 and 9.10.3).

use super::lexer::{Lexer, Object, Token};

/// Entries of one map. There are no more codes of two bytes.
const ENTRIES_MAX: usize = 70_000;
const OBJECTS_MAX: usize = 400_000;
/// Objects that wait for the word that says what they are.
const OPERANDS_MAX: usize = 10_000;
/// UTF-16 bytes of what one code stands for.
const TARGET_BYTES_MAX: usize = 64;

#[derive(Debug, Default)]
pub(super) struct CMap {
    /// Lengths of codes in bytes with their range, as the map declares them.
    spaces: Vec<(usize, u32, u32)>,
    /// Sorted.
    ranges: Vec<Range>,
    /// What all ranges stand for, in one piece.
    targets: String,
}

#[derive(Debug)]
struct Range {
    from: u32,
    to: u32,
    /// Where in `targets` it stands what the first code stands for.
    start: u32,
    length: u8,
}

/// What the objects of a section are, and how many belong together.
#[derive(Clone, Copy, Debug)]
enum Section {
    Spaces,
    Characters,
    Ranges,
}

impl Section {
    fn of(word: &[u8]) -> Option<Section> {
        match word {
            b"codespacerange" => Some(Section::Spaces),
            b"bfchar" => Some(Section::Characters),
            b"bfrange" => Some(Section::Ranges),
            _ => None,
        }
    }

    fn width(self) -> usize {
        match self {
            Section::Spaces | Section::Characters => 2,
            Section::Ranges => 3,
        }
    }
}

impl CMap {
    pub(super) fn read(content: &[u8]) -> CMap {
        let mut map = CMap::default();
        let mut left = OBJECTS_MAX;
        let mut lexer = Lexer::new(content, 0, 0);
        let mut operands: Vec<Object> = Vec::new();
        // Of a section that has begun each entry is taken at once, so that it is not held until the section's end.
        let mut section: Option<Section> = None;
        loop {
            let budget = left.min(ENTRIES_MAX);
            lexer.grant(budget);
            let Some(token) = lexer.token() else { break };
            left -= budget - lexer.objects_left();
            match token {
                Token::Object(object) => {
                    operands.push(object);
                    match section {
                        Some(section) if operands.len() == section.width() => {
                            map.take(section, &operands);
                            operands.clear();
                        }
                        None if operands.len() > OPERANDS_MAX => operands.clear(),
                        _ => {}
                    }
                }
                Token::Word(word) => {
                    if let Some(ended) = word.strip_prefix(b"end").and_then(Section::of) {
                        map.take(ended, &operands);
                    }
                    section = word.strip_prefix(b"begin").and_then(Section::of);
                    operands.clear();
                }
                Token::ArrayEnd | Token::DictEnd => {}
            }
        }
        map.ranges.sort_by_key(|range| range.from);
        map.ranges.shrink_to_fit();
        map.targets.shrink_to_fit();
        map
    }

    /// How much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        self.ranges.len() * size_of::<Range>() + self.targets.len()
    }

    fn take(&mut self, section: Section, operands: &[Object]) {
        match section {
            Section::Spaces => self.take_spaces(operands),
            Section::Characters => self.take_characters(operands),
            Section::Ranges => self.take_ranges(operands),
        }
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
        let after = self.ranges.partition_point(|range| range.from <= code);
        let Some(range) = after.checked_sub(1).map(|at| &self.ranges[at]) else {
            return false;
        };
        let start = range.start as usize;
        let target = &self.targets[start..start + usize::from(range.length)];
        if code > range.to || target.is_empty() {
            return false;
        }
        let mut characters = target.chars();
        let last = characters.next_back().unwrap_or(' ');
        let Some(last) = char::from_u32((last as u32).saturating_add(code - range.from)) else {
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
        if self.ranges.len() >= ENTRIES_MAX || target.len() > TARGET_BYTES_MAX {
            return;
        }
        let target = utf_16(target);
        if let (Ok(start), Ok(length)) = (
            u32::try_from(self.targets.len()),
            u8::try_from(target.len()),
        ) {
            self.targets.push_str(&target);
            self.ranges.push(Range {
                from,
                to,
                start,
                length,
            });
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
