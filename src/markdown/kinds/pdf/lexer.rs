//! PDF's objects and the words between them (ISO 32000-2, 7.2 and 7.3), for files, object streams, content streams
//! and character maps alike. Lenient: what is misspelt is skipped. Depth and number of objects are bounded, so that
//! neither the stack nor the memory depends on the file.

use std::collections::HashMap;
use std::rc::Rc;

/// Objects in objects. Real files stay below ten.
const DEPTH_MAX: usize = 32;

/// Names are short; longer ones are cut.
const NAME_BYTES_MAX: usize = 255;

pub(super) type Dict = HashMap<Vec<u8>, Object>;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Object {
    Null,
    Bool(bool),
    Number(f64),
    Name(Vec<u8>),
    Text(Vec<u8>),
    Array(Rc<Vec<Object>>),
    Dict(Rc<Dict>),
    Reference(u32),
}

impl Object {
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Object::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// A whole number that is not negative.
    pub(super) fn whole(&self) -> Option<usize> {
        self.number().and_then(whole)
    }

    pub(super) fn name(&self) -> Option<&[u8]> {
        match self {
            Object::Name(name) => Some(name),
            _ => None,
        }
    }
}

/// The whole number that this is, up to a thousand million.
pub(super) fn whole(number: f64) -> Option<usize> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range is checked"
    )]
    let whole = |number: f64| number as usize;
    (0.0..=1e9).contains(&number).then(|| whole(number))
}

#[derive(Debug)]
pub(super) enum Token<'a> {
    Object(Object),
    /// An operator, `obj`, `stream`, `R` and their kin.
    Word(&'a [u8]),
    ArrayEnd,
    DictEnd,
}

#[derive(Debug)]
pub(super) struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
    /// How many more objects may be made.
    objects_left: usize,
    /// A word that ended an array or a dictionary and is still to be given.
    again: Option<&'a [u8]>,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize, objects_max: usize) -> Lexer<'a> {
        Lexer {
            bytes,
            at: at.min(bytes.len()),
            objects_left: objects_max,
            again: None,
        }
    }

    pub(super) fn at(&self) -> usize {
        self.at - self.again.map_or(0, <[u8]>::len)
    }

    pub(super) fn skip_to(&mut self, at: usize) {
        self.at = at.clamp(self.at, self.bytes.len());
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// Allows this many more objects from here.
    pub(super) fn grant(&mut self, objects_max: usize) {
        self.objects_left = objects_max;
    }

    pub(super) fn objects_left(&self) -> usize {
        self.objects_left
    }

    /// The next object, if one comes next.
    pub(super) fn object(&mut self) -> Option<Object> {
        match self.token()? {
            Token::Object(object) => Some(object),
            _ => None,
        }
    }

    /// `None` at the end, or when too many objects were made.
    pub(super) fn token(&mut self) -> Option<Token<'a>> {
        self.token_at(0)
    }

    fn token_at(&mut self, depth: usize) -> Option<Token<'a>> {
        if let Some(word) = self.again.take() {
            return Some(Token::Word(word));
        }
        loop {
            self.skip_space();
            let first = *self.bytes.get(self.at)?;
            if self.objects_left == 0 {
                return None;
            }
            self.objects_left -= 1;
            let object = match first {
                b'/' => {
                    self.at += 1;
                    let name = self.name();
                    Object::Name(self.count_string(name))
                }
                b'(' => {
                    let text = self.literal();
                    Object::Text(self.count_string(text))
                }
                b'<' if self.bytes.get(self.at + 1) == Some(&b'<') => {
                    self.at += 2;
                    Object::Dict(Rc::new(self.dict(depth)))
                }
                b'<' => {
                    let text = self.hexadecimal();
                    Object::Text(self.count_string(text))
                }
                b'>' => {
                    let is_end = self.bytes.get(self.at + 1) == Some(&b'>');
                    self.at += if is_end { 2 } else { 1 };
                    if is_end {
                        return Some(Token::DictEnd);
                    }
                    continue;
                }
                b'[' => {
                    self.at += 1;
                    Object::Array(Rc::new(self.array(depth)))
                }
                b']' => {
                    self.at += 1;
                    return Some(Token::ArrayEnd);
                }
                b'{' | b'}' | b')' => {
                    self.at += 1;
                    continue;
                }
                _ => return Some(self.word()),
            };
            return Some(Token::Object(object));
        }
    }

    /// Long strings count like many objects.
    fn count_string(&mut self, text: Vec<u8>) -> Vec<u8> {
        self.objects_left = self.objects_left.saturating_sub(text.len() / 32);
        text
    }

    fn skip_space(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            if byte == b'%' {
                let rest = self.rest();
                let end = rest.iter().position(|b| matches!(b, b'\r' | b'\n'));
                self.at += end.unwrap_or(rest.len());
            } else if is_space(byte) {
                self.at += 1;
            } else {
                return;
            }
        }
    }

    /// Elements up to the end; a word that belongs to no array ends it as well.
    fn array(&mut self, depth: usize) -> Vec<Object> {
        let mut elements = Vec::new();
        if depth >= DEPTH_MAX {
            return elements;
        }
        loop {
            match self.token_at(depth + 1) {
                Some(Token::Object(object)) => elements.push(object),
                Some(Token::Word(b"R")) => refer(&mut elements),
                // A word may be long and so may be the space before it: neither is read once for each open array.
                Some(Token::Word(word)) => {
                    self.again = Some(word);
                    break;
                }
                Some(Token::DictEnd) => {
                    self.at -= b">>".len();
                    break;
                }
                Some(Token::ArrayEnd) | None => break,
            }
        }
        elements
    }

    fn dict(&mut self, depth: usize) -> Dict {
        let mut flat = Vec::new();
        if depth >= DEPTH_MAX {
            return Dict::new();
        }
        loop {
            match self.token_at(depth + 1) {
                Some(Token::Object(object)) => flat.push(object),
                Some(Token::Word(b"R")) => refer(&mut flat),
                Some(Token::Word(word)) => {
                    self.again = Some(word);
                    break;
                }
                Some(Token::ArrayEnd) => {}
                Some(Token::DictEnd) | None => break,
            }
        }
        let mut dict = Dict::new();
        let mut flat = flat.into_iter();
        while let Some(key) = flat.next() {
            if let Object::Name(name) = key
                && let Some(value) = flat.next()
            {
                dict.entry(name).or_insert(value);
            }
        }
        dict
    }

    fn name(&mut self) -> Vec<u8> {
        let mut name = Vec::new();
        while let Some(&byte) = self.bytes.get(self.at) {
            if !is_regular(byte) {
                break;
            }
            self.at += 1;
            let coded = (byte == b'#')
                .then(|| self.bytes.get(self.at..self.at + 2))
                .flatten()
                .and_then(|pair| Some(digit(pair[0])? * 16 + digit(pair[1])?));
            if coded.is_some() {
                self.at += 2;
            }
            if name.len() < NAME_BYTES_MAX {
                name.push(coded.unwrap_or(byte));
            }
        }
        name
    }

    fn literal(&mut self) -> Vec<u8> {
        let mut text = Vec::new();
        let mut open = 0usize;
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'(' => {
                    open += 1;
                    if open == 1 {
                        continue;
                    }
                }
                b')' => {
                    open -= 1;
                    if open == 0 {
                        break;
                    }
                }
                b'\\' => {
                    text.extend(self.escaped());
                    continue;
                }
                _ => {}
            }
            text.push(byte);
        }
        text
    }

    fn escaped(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        match byte {
            b'n' => Some(b'\n'),
            b'r' => Some(b'\r'),
            b't' => Some(b'\t'),
            b'b' => Some(8),
            b'f' => Some(12),
            b'\r' => {
                if self.bytes.get(self.at) == Some(&b'\n') {
                    self.at += 1;
                }
                None
            }
            b'\n' => None,
            b'0'..=b'7' => {
                let mut code = byte - b'0';
                for _ in 0..2 {
                    let Some(next @ b'0'..=b'7') = self.bytes.get(self.at) else {
                        break;
                    };
                    code = code.wrapping_mul(8).wrapping_add(next - b'0');
                    self.at += 1;
                }
                Some(code)
            }
            other => Some(other),
        }
    }

    fn hexadecimal(&mut self) -> Vec<u8> {
        self.at += 1;
        let mut text = Vec::new();
        let mut high = None;
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += 1;
            if byte == b'>' {
                break;
            }
            let Some(value) = digit(byte) else { continue };
            match high.take() {
                None => high = Some(value),
                Some(first) => text.push(first * 16 + value),
            }
        }
        text.extend(high.map(|first| first * 16));
        text
    }

    fn word(&mut self) -> Token<'a> {
        let rest = self.rest();
        let end = rest.iter().position(|b| !is_regular(*b));
        let word = &rest[..end.unwrap_or(rest.len()).max(1)];
        self.at += word.len();
        match word {
            b"true" => Token::Object(Object::Bool(true)),
            b"false" => Token::Object(Object::Bool(false)),
            b"null" => Token::Object(Object::Null),
            _ => match number(word) {
                Some(number) => Token::Object(Object::Number(number)),
                None => Token::Word(word),
            },
        }
    }
}

/// `12 0 R` in an array or a dictionary: two numbers become a reference.
fn refer(objects: &mut Vec<Object>) {
    if let [.., Object::Number(id), Object::Number(_)] = objects[..] {
        objects.truncate(objects.len() - 2);
        let id = whole(id).and_then(|id| u32::try_from(id).ok());
        objects.push(id.map_or(Object::Null, Object::Reference));
    }
}

fn number(word: &[u8]) -> Option<f64> {
    let first = *word.first()?;
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.')) || word.len() > 40 {
        return None;
    }
    let text = std::str::from_utf8(word).ok()?;
    let is_plain = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    // Some writers put the sign twice, or one inside.
    let unsigned = text.trim_start_matches(['+', '-']);
    let unsigned = unsigned.split('-').next().unwrap_or_default();
    if !is_plain(unsigned) {
        return None;
    }
    let value: f64 = if unsigned == "." || unsigned.is_empty() {
        0.0
    } else {
        unsigned.parse().ok()?
    };
    Some(if first == b'-' { -value } else { value })
}

pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, 0 | 9 | 10 | 12 | 13 | b' ')
}

fn is_regular(byte: u8) -> bool {
    !is_space(byte)
        && !matches!(
            byte,
            b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%'
        )
}

pub(super) fn digit(byte: u8) -> Option<u8> {
    char::from(byte)
        .to_digit(16)
        .and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &[u8], expected: &str) {
        let found = Lexer::new(text, 0, 1000).object();
        assert_eq!(
            format!("{found:?}"),
            expected,
            "{}",
            String::from_utf8_lossy(text)
        );
    }

    #[test]
    fn objects_of_every_kind() {
        check(b"  %c\n-.5", "Some(Number(-0.5))");
        check(b"--3", "Some(Number(-3.0))");
        check(b"/A#42 ", "Some(Name([65, 66]))");
        check(b"(a(b)\\051\\\n)", "Some(Text([97, 40, 98, 41, 41]))");
        check(b"<4a4>", "Some(Text([74, 64]))");
        check(b"[1 2 R null]", "Some(Array([Reference(1), Null]))");
        check(
            b"<</A<</B 1>>>>x",
            "Some(Dict({[65]: Dict({[66]: Number(1.0)})}))",
        );
        check(b"endobj", "None");
        check(b"", "None");
    }

    #[test]
    fn a_dictionary_without_an_end_stops_at_the_next_word() {
        let mut lexer = Lexer::new(b"<</A 1 endobj 2 0 obj", 0, 1000);
        let Some(Object::Dict(dict)) = lexer.object() else {
            panic!("a dictionary");
        };
        assert_eq!(dict[b"A".as_slice()], Object::Number(1.0));
        assert!(matches!(lexer.token(), Some(Token::Word(b"endobj"))));
    }

    #[test]
    fn a_word_is_read_once_for_all_open_arrays() {
        let mut lexer = Lexer::new(b"[[<<[[    word 7", 0, 6);
        assert!(lexer.object().is_some());
        assert_eq!((lexer.at(), lexer.objects_left()), (10, 0));
        assert!(matches!(lexer.token(), Some(Token::Word(b"word"))));
        assert_eq!(lexer.at(), 14);
    }

    /// Names are kept as long as strings are.
    #[test]
    fn long_names_count_like_many_objects() {
        let names = [b"/".as_slice(), &[b'n'; 255]].concat().repeat(100);
        let mut lexer = Lexer::new(&names, 0, 80);
        let mut count = 0;
        while lexer.object().is_some() {
            count += 1;
        }
        assert_eq!(count, 10);
    }

    #[test]
    fn depth_and_number_are_bounded() {
        let deep = b"[".repeat(100_000);
        assert!(Lexer::new(&deep, 0, 1_000_000).object().is_some());
        let mut lexer = Lexer::new(b"1 2 3", 0, 2);
        assert!(lexer.token().is_some() && lexer.token().is_some() && lexer.token().is_none());
    }
}
