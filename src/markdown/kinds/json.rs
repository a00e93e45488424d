//! JSON as a fence of readable lines. The text is only indented anew, never parsed into values and back, so that
//! numbers, the order of members and escapes stay as the source wrote them. What is not valid is shown as it came and
//! not called JSON.

use url::Url;

use super::super::work::Work;
use super::super::{Metadata, Page};
use super::fence;
use crate::domain::words::folded;

/// Deeper levels are not indented further: a line would be made of spaces.
const INDENTED_LEVELS_MAX: usize = 24;
/// Containers of plain values are kept on one line if they fit.
const LINE_BYTES_MAX: usize = 88;
/// A document that would be larger than this in readable lines is given as it is.
const WRITTEN_BYTES_MAX: usize = 9 * 1024 * 1024;
/// A title longer than this is none.
const TITLE_BYTES_MAX: usize = 1000;

pub(super) fn page(text: &str, _: &Url, work: &Work) -> Page {
    let (markdown, metadata) = markdown(text, work);
    Page {
        markdown,
        metadata,
        ..Page::default()
    }
}

fn markdown(text: &str, work: &Work) -> (String, Metadata) {
    // A guard against being run as a script.
    let text = text
        .strip_prefix(")]}'")
        .unwrap_or(text)
        .trim_matches(is_space);
    let text = text.strip_prefix(',').unwrap_or(text);
    if let Some(read) = read(text, work) {
        let written = if read.written.is_empty() {
            text
        } else {
            &read.written
        };
        return (fence("json", written), read.metadata);
    }
    let mut lines = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .peekable();
    let is_lines = lines.peek().is_some() && lines.all(|line| check(line, work));
    (
        fence(if is_lines { "jsonl" } else { "" }, text),
        Metadata::default(),
    )
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{1E}')
}

struct Read {
    /// Empty if it would be too long.
    written: String,
    metadata: Metadata,
}

fn check(text: &str, work: &Work) -> bool {
    work.step();
    walk(text, |_, _| work.step()).is_some()
}

fn read(text: &str, work: &Work) -> Option<Read> {
    let mut printer = Printer::new(text);
    walk(text, |token, depth| {
        work.step();
        printer.token(token, depth);
    })?;
    let written = if printer.is_full {
        String::new()
    } else {
        printer.out
    };
    Some(Read {
        written,
        metadata: printer.metadata,
    })
}

/// A part of a JSON document, by where it stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token {
    /// `{` or `[`, and where it stands.
    Open(usize),
    /// `}` or `]`.
    Close(usize),
    Comma,
    Colon,
    /// A string, number or word: from, to.
    Value(usize, usize),
}

/// What may come next.
#[derive(Clone, Copy, PartialEq)]
enum Wanted {
    Value,
    /// A value or the end of the array.
    First,
    Key,
    /// A key or the end of the object.
    FirstKey,
    Colon,
    /// A comma or the end.
    Next,
    Nothing,
}

/// Gives each token of a valid document with the depth it stands at; `None` if it is not valid (RFC 8259). Open
/// containers are a list, not the stack.
pub(crate) fn walk(text: &str, mut take: impl FnMut(Token, usize)) -> Option<()> {
    let bytes = text.as_bytes();
    let mut open: Vec<u8> = Vec::new();
    let mut wanted = Wanted::Value;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        at += 1;
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => {}
            b'{' | b'[' => {
                if !matches!(wanted, Wanted::Value | Wanted::First) {
                    return None;
                }
                take(Token::Open(start), open.len());
                open.push(byte);
                wanted = if byte == b'{' {
                    Wanted::FirstKey
                } else {
                    Wanted::First
                };
            }
            b'}' | b']' => {
                let opener = open.pop()?;
                let is_pair = (opener, byte) == (b'{', b'}') || (opener, byte) == (b'[', b']');
                let may_end = matches!(wanted, Wanted::Next | Wanted::First | Wanted::FirstKey);
                if !is_pair || !may_end {
                    return None;
                }
                take(Token::Close(start), open.len());
                wanted = after_value(&open);
            }
            b',' => {
                if wanted != Wanted::Next {
                    return None;
                }
                take(Token::Comma, open.len());
                wanted = if open.last() == Some(&b'{') {
                    Wanted::Key
                } else {
                    Wanted::Value
                };
            }
            b':' => {
                if wanted != Wanted::Colon {
                    return None;
                }
                take(Token::Colon, open.len());
                wanted = Wanted::Value;
            }
            b'"' => {
                at = string_end(bytes, at)?;
                take(Token::Value(start, at), open.len());
                wanted = match wanted {
                    Wanted::Key | Wanted::FirstKey => Wanted::Colon,
                    Wanted::Value | Wanted::First => after_value(&open),
                    _ => return None,
                };
            }
            _ => {
                if !matches!(wanted, Wanted::Value | Wanted::First) {
                    return None;
                }
                let rest = &bytes[start..];
                let end = rest.iter().position(|b| b" \t\n\r,:]}[{\"".contains(b));
                at = start + end.unwrap_or(rest.len());
                let word = &bytes[start..at];
                if !(matches!(word, b"true" | b"false" | b"null") || is_number(word)) {
                    return None;
                }
                take(Token::Value(start, at), open.len());
                wanted = after_value(&open);
            }
        }
    }
    (wanted == Wanted::Nothing && open.is_empty()).then_some(())
}

fn after_value(open: &[u8]) -> Wanted {
    if open.is_empty() {
        Wanted::Nothing
    } else {
        Wanted::Next
    }
}

/// Behind the closing quote.
fn string_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match *bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => {
                let is_known = match *bytes.get(at + 1)? {
                    b'u' => {
                        let digits = bytes.get(at + 2..at + 6)?;
                        digits.iter().all(u8::is_ascii_hexdigit)
                    }
                    escaped => b"\"\\/bfnrt".contains(&escaped),
                };
                if !is_known {
                    return None;
                }
                at += 2;
            }
            0..=0x1F => return None,
            _ => at += 1,
        }
    }
}

fn is_number(word: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|b| b.is_ascii_digit()).count();
    let rest = word.strip_prefix(b"-").unwrap_or(word);
    let whole = digits(rest);
    if whole == 0 || (whole > 1 && rest[0] == b'0') {
        return false;
    }
    let mut rest = &rest[whole..];
    if let Some(after) = rest.strip_prefix(b".") {
        let part = digits(after);
        if part == 0 {
            return false;
        }
        rest = &after[part..];
    }
    if let [b'e' | b'E', after @ ..] = rest {
        let after = after
            .strip_prefix(b"+")
            .or_else(|| after.strip_prefix(b"-"))
            .unwrap_or(after);
        let part = digits(after);
        if part == 0 {
            return false;
        }
        rest = &after[part..];
    }
    rest.is_empty()
}

struct Printer<'a> {
    text: &'a str,
    out: String,
    is_full: bool,
    /// Inside a container that is written on one line, at this depth.
    flat: Option<usize>,
    /// A container was just opened.
    opened: bool,
    /// The key of the member of the outermost object that comes next.
    key: Option<(usize, usize)>,
    last: Option<(usize, usize)>,
    metadata: Metadata,
}

impl<'a> Printer<'a> {
    fn new(text: &'a str) -> Printer<'a> {
        Printer {
            text,
            out: String::with_capacity(text.len() + text.len() / 4),
            is_full: false,
            flat: None,
            opened: false,
            key: None,
            last: None,
            metadata: Metadata::default(),
        }
    }

    fn token(&mut self, token: Token, depth: usize) {
        if let Token::Colon = token
            && depth == 1
        {
            self.key = self.last;
        }
        if let Token::Value(from, to) = token {
            self.last = Some((from, to));
            if depth == 1
                && let Some(key) = self.key.take()
            {
                self.note(&self.text[key.0..key.1], &self.text[from..to]);
            }
        }
        if matches!(token, Token::Open(_)) {
            self.key = None;
        }
        if !self.is_full {
            self.write(token, depth);
            self.is_full = self.out.len() > WRITTEN_BYTES_MAX;
        }
    }

    fn write(&mut self, token: Token, depth: usize) {
        let opened = std::mem::take(&mut self.opened);
        match token {
            Token::Open(at) => {
                self.begin(opened, depth);
                self.out.push_str(&self.text[at..=at]);
                self.opened = true;
                if self.flat.is_none() && is_short(&self.text[at..]) {
                    self.flat = Some(depth);
                }
            }
            Token::Close(at) => {
                if !opened && self.flat.is_none() {
                    self.line(depth);
                }
                self.out.push_str(&self.text[at..=at]);
                if self.flat == Some(depth) {
                    self.flat = None;
                }
            }
            Token::Comma => {
                self.out.push(',');
                if self.flat.is_some() {
                    self.out.push(' ');
                } else {
                    self.line(depth);
                }
            }
            Token::Colon => self.out.push_str(": "),
            Token::Value(from, to) => {
                self.begin(opened, depth);
                self.out.push_str(&self.text[from..to]);
            }
        }
    }

    fn begin(&mut self, opened: bool, depth: usize) {
        if opened && self.flat.is_none() {
            self.line(depth);
        }
    }

    fn line(&mut self, depth: usize) {
        self.out.push('\n');
        for _ in 0..depth.min(INDENTED_LEVELS_MAX) {
            self.out.push_str("  ");
        }
    }

    /// What the members of the outermost object say of the document.
    fn note(&mut self, key: &str, value: &str) {
        let place = match key {
            "\"title\"" | "\"name\"" | "\"headline\"" => &mut self.metadata.title,
            "\"description\"" => &mut self.metadata.description,
            _ => return,
        };
        if value.len() > TITLE_BYTES_MAX || (place.is_some() && key != "\"title\"") {
            return;
        }
        let text: Option<String> = serde_json::from_str(value).ok();
        let text = text.map(|text| folded(&text));
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            *place = Some(text);
        }
    }
}

/// Whether the container that the text begins with holds only plain values and fits on a line.
fn is_short(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut at = 1;
    let mut written = 2;
    while at < bytes.len().min(4 * LINE_BYTES_MAX) && written <= LINE_BYTES_MAX {
        match bytes[at] {
            b'}' | b']' => return true,
            b'{' | b'[' => return false,
            b'"' => {
                let Some(end) = string_end(&bytes[..bytes.len().min(4 * LINE_BYTES_MAX)], at + 1)
                else {
                    return false;
                };
                written += end - at;
                at = end;
                continue;
            }
            b' ' | b'\t' | b'\n' | b'\r' => {}
            b',' | b':' => written += 2,
            _ => written += 1,
        }
        at += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_json(text: &str, expected: &str) {
        assert_eq!(
            markdown(text, &Work::default()).0,
            format!("```json\n{expected}\n```\n"),
            "{text}"
        );
    }

    #[test]
    fn a_document_is_indented_and_otherwise_untouched() {
        check_json(
            "{\"b\":12345678901234567890.10,\"a\":[1,2 , 3],\"c\":{\"d\":[{\"e\":null}],\"f\":{}},\"g\":\"\\u00e9\"}",
            "{\n  \"b\": 12345678901234567890.10,\n  \"a\": [1, 2, 3],\n  \"c\": {\n    \"d\": [\n      {\"e\": null}\n    ],\n    \"f\": {}\n  },\n  \"g\": \"\\u00e9\"\n}",
        );
        check_json(" 1e400 ", "1e400");
        check_json(")]}'\n{\"a\":1}", "{\"a\": 1}");
        let long = format!("[{}1]", "1000000,".repeat(20));
        assert_eq!(markdown(&long, &Work::default()).0.lines().count(), 25);
    }

    #[test]
    fn what_is_not_valid_is_not_called_json() {
        for text in [
            "{a:1}",
            "{\"a\":1,}",
            "[1 2]",
            "{\"a\" 1}",
            "[01]",
            "[1.]",
            "\"a\nb\"",
            "[\"\\x\"]",
            "{\"a\":}",
            "[}",
            "[",
            "]",
            "1 2",
            "nul",
            "[,1]",
            "{1:2}",
        ] {
            assert_eq!(
                markdown(text, &Work::default()).0,
                format!("```\n{text}\n```\n"),
                "{text}"
            );
        }
    }

    #[test]
    fn lines_of_json_are_named_so() {
        let text = "{\"a\":1}\n{\"a\":2}\n\n[3]";
        assert_eq!(
            markdown(text, &Work::default()).0,
            format!("```jsonl\n{text}\n```\n")
        );
    }

    #[test]
    fn a_fence_is_longer_than_any_inside() {
        assert_eq!(
            markdown("\"```` x\"", &Work::default()).0,
            "`````json\n\"```` x\"\n`````\n"
        );
    }

    #[test]
    fn the_title_is_that_of_the_document_itself() {
        let check = |text: &str, title: Option<&str>| {
            assert_eq!(
                markdown(text, &Work::default()).1.title.as_deref(),
                title,
                "{text}"
            );
        };
        check(
            "{\"name\":\"a\",\"x\":{\"title\":\"no\"},\"title\":\"B \\u0026\\n C\"}",
            Some("B & C"),
        );
        check("{\"name\":\"a\"}", Some("a"));
        check("{\"x\":\"title\",\"y\":1}", None);
        check("{\"title\":[\"no\"]}", None);
        check("[{\"title\":\"no\"}]", None);
    }

    #[test]
    fn depth_costs_neither_stack_nor_space() {
        let deep = format!("{}{}", "[".repeat(500_000), "]".repeat(500_000));
        let (markdown, _) = markdown(&deep, &Work::default());
        assert!(markdown.starts_with("```json\n[") && markdown.len() < 10 * 1024 * 1024);
    }
}
