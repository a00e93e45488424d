//! The bytes between two texts: start tags, end tags, comments and the like, told apart by HTML's own rules (HTML
//! Standard 13.2.5), one after the other and without a copy. Which bytes are text and which are markup is decided by
//! the caller; what the tags mean, by the builder.

use memchr::memchr;

/// Attributes beyond these are read over.
const ATTRIBUTES_MAX: usize = 128;

/// One piece of markup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Markup<'a> {
    /// Its attributes are in the list that [`next`] fills.
    Start {
        name: &'a str,
        /// Written `<x/>`, which means something in drawings and formulas alone.
        closes_itself: bool,
    },
    End {
        name: &'a str,
    },
    /// A comment, a doctype, an instruction.
    Other,
}

/// Where an attribute's name and value stand in the text that was read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    name: (u32, u32),
    value: (u32, u32),
}

impl Place {
    /// Whether the name is this one, in any case.
    pub(super) fn is_named(self, source: &str, name: &str) -> bool {
        let own = self.name(source).as_bytes();
        own.len() == name.len()
            && own.first().map(|b| b | 0x20) == name.as_bytes().first().map(|b| b | 0x20)
            && own.eq_ignore_ascii_case(name.as_bytes())
    }

    pub(super) fn name(self, source: &str) -> &str {
        piece(source, self.name.0 as usize, self.name.1 as usize)
    }

    pub(super) fn value(self, source: &str) -> &str {
        piece(source, self.value.0 as usize, self.value.1 as usize)
    }
}

/// The piece of markup that `source` begins with and its length, or nothing if its end is not there. What can't be
/// markup before it is read over: the end of a CDATA section.
pub(super) fn next<'a>(source: &'a str, places: &mut Vec<Place>) -> Option<(Markup<'a>, usize)> {
    let bytes = source.as_bytes();
    let from = memchr(b'<', bytes)?;
    let after = |end: usize| Some((Markup::Other, end));
    match (*bytes.get(from + 1)?, bytes.get(from + 2)) {
        (b'/', Some(b)) if b.is_ascii_alphabetic() => {
            let end = name_end(bytes, from + 2)?;
            let name = piece(source, from + 2, end);
            let (end, _) = attributes(bytes, end, |_| ())?;
            Some((Markup::End { name }, end))
        }
        (b'/', Some(b'>')) => after(from + 3),
        (b'/', None) => None,
        (b'!', Some(b'-')) => match bytes.get(from + 3)? {
            b'-' => after(comment_end(bytes, from + 4)?),
            _ => after(end_mark(bytes, from + 2)?),
        },
        (b'/' | b'!' | b'?', _) => after(end_mark(bytes, from + 2)?),
        (b, _) if b.is_ascii_alphabetic() => {
            let end = name_end(bytes, from + 1)?;
            let name = piece(source, from + 1, end);
            places.clear();
            let (end, closes_itself) = attributes(bytes, end, |place| keep(source, places, place))?;
            Some((
                Markup::Start {
                    name,
                    closes_itself,
                },
                end,
            ))
        }
        _ => after(from + 1),
    }
}

fn piece(source: &str, start: usize, end: usize) -> &str {
    source.get(start..end).unwrap_or_default()
}

/// Of attributes with the same name the first counts.
fn keep(source: &str, places: &mut Vec<Place>, place: Place) {
    let name = place.name(source);
    let is_known = |known: &Place| known.is_named(source, name);
    if places.len() < ATTRIBUTES_MAX && !places.iter().any(is_known) {
        places.push(place);
    }
}

/// Past the `>` of a bogus comment or a doctype.
fn end_mark(bytes: &[u8], from: usize) -> Option<usize> {
    let length = memchr(b'>', bytes.get(from..)?)?;
    Some(from + length + 1)
}

/// Past the end of a comment whose text begins here.
fn comment_end(bytes: &[u8], from: usize) -> Option<usize> {
    let text = bytes.get(from..)?;
    match text {
        [b'>', ..] => return Some(from + 1),
        [b'-', b'>', ..] => return Some(from + 2),
        _ => {}
    }
    let mut at = 0;
    loop {
        at += memchr(b'>', text.get(at..)?)?;
        let before = &text[..at];
        at += 1;
        if before.ends_with(b"--") || before.ends_with(b"--!") {
            return Some(from + at);
        }
    }
}

fn name_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    while !matches!(
        bytes.get(at)?,
        b'>' | b'/' | b' ' | b'\n' | b'\t' | b'\r' | 0x0C
    ) {
        at += 1;
    }
    Some(at)
}

/// Past the end of a tag whose name ends here, and whether it closes itself. Gives each attribute as it comes.
fn attributes(bytes: &[u8], mut at: usize, mut found: impl FnMut(Place)) -> Option<(usize, bool)> {
    loop {
        at = skip_space(bytes, at)?;
        match bytes[at] {
            b'>' => return Some((at + 1, false)),
            b'/' => {
                at += 1;
                if *bytes.get(at)? == b'>' {
                    return Some((at + 1, true));
                }
            }
            _ => {
                let (place, end) = attribute(bytes, at)?;
                found(place);
                at = end;
            }
        }
    }
}

fn attribute(bytes: &[u8], start: usize) -> Option<(Place, usize)> {
    let mut at = start + 1;
    while !matches!(
        bytes.get(at)?,
        b'=' | b'>' | b'/' | b' ' | b'\n' | b'\t' | b'\r' | 0x0C
    ) {
        at += 1;
    }
    let name = (start, at);
    let after_name = skip_space(bytes, at)?;
    if bytes[after_name] != b'=' {
        return Some((place(name, (at, at)), after_name));
    }
    at = skip_space(bytes, after_name + 1)?;
    let quote = bytes[at];
    if quote == b'"' || quote == b'\'' {
        let value = at + 1;
        let length = memchr(quote, bytes.get(value..)?)?;
        return Some((place(name, (value, value + length)), value + length + 1));
    }
    let value = at;
    while !matches!(bytes.get(at)?, b'>' | b' ' | b'\n' | b'\t' | b'\r' | 0x0C) {
        at += 1;
    }
    Some((place(name, (value, at)), at))
}

fn place(name: (usize, usize), value: (usize, usize)) -> Place {
    let narrow = |(start, end)| {
        let narrow = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        (narrow(start), narrow(end))
    };
    Place {
        name: narrow(name),
        value: narrow(value),
    }
}

fn skip_space(bytes: &[u8], mut at: usize) -> Option<usize> {
    while matches!(bytes.get(at)?, b' ' | b'\n' | b'\t' | b'\r' | 0x0C) {
        at += 1;
    }
    Some(at)
}
