//! Which characters mean something in inline markdown, and how code and addresses are written so that they do not end
//! early. Pure functions over text; what depends on the neighbours is decided by `inline`.

/// A code span whose fence is longer than any run of backticks in it (CommonMark 6.1).
pub(super) fn push_code_span(out: &mut String, code: &str) {
    let fence = "`".repeat(longest_backtick_run(code) + 1);
    let pad = code.starts_with('`') || code.ends_with('`');
    out.push_str(&fence);
    if pad {
        out.push(' ');
    }
    out.push_str(code);
    if pad {
        out.push(' ');
    }
    out.push_str(&fence);
}

pub(super) fn longest_backtick_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// A link destination. What would end or change it is percent-encoded, which leads to the same place.
pub(super) fn push_destination(out: &mut String, url: &str) {
    let means_something =
        |b: u8| matches!(b, b' ' | b'<' | b'>' | b'\\' | b'`' | b'|' | b'(' | b')');
    if !url.bytes().any(means_something) {
        out.push_str(url);
        return;
    }
    let mut depth = 0i32;
    let balanced = url.bytes().all(|b| {
        depth += match b {
            b'(' => 1,
            b')' => -1,
            _ => 0,
        };
        depth >= 0
    }) && depth == 0;
    for c in url.chars() {
        match c {
            ' ' => out.push_str("%20"),
            '<' => out.push_str("%3C"),
            '>' => out.push_str("%3E"),
            '\\' => out.push_str("%5C"),
            '`' => out.push_str("%60"),
            '|' => out.push_str("%7C"),
            '(' if !balanced => out.push_str("%28"),
            ')' if !balanced => out.push_str("%29"),
            c => out.push(c),
        }
    }
}

/// Whether `&` before this text would be read as an entity, or might once more text follows.
pub(super) fn is_entity_like(rest: &str) -> bool {
    let bytes = rest.as_bytes();
    let name = bytes
        .iter()
        .take(32)
        .take_while(|b| b.is_ascii_alphanumeric() || **b == b'#')
        .count();
    match bytes.get(name) {
        Some(end) => *end == b';' && name > 0,
        None => true,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Plain,
    Space,
    Special,
    Ideograph,
    Dropped,
    /// The first byte of a character beyond ASCII, to be looked at closer.
    Wide,
}

pub(super) static CLASSES: [Class; 256] = {
    let mut classes = [Class::Plain; 256];
    let mut byte = 0u8;
    loop {
        classes[byte as usize] = match byte {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0C => Class::Space,
            b'\\' | b'`' | b'*' | b'_' | b'[' | b']' | b'(' | b':' | b'<' | b'&' | b'~' => {
                Class::Special
            }
            0..=0x1F | 0x7F => Class::Dropped,
            0x80..=0xFF => Class::Wide,
            _ => Class::Plain,
        };
        if byte == u8::MAX {
            break classes;
        }
        byte += 1;
    }
};

/// The class and length of the character that `text` starts with.
pub(super) fn classify_wide(text: &str) -> (Class, usize) {
    let Some(c) = text.chars().next() else {
        return (Class::Dropped, 1);
    };
    let class = match c {
        // No-break, typographic and ideographic spaces.
        '\u{A0}'
        | '\u{2000}'..='\u{200A}'
        | '\u{2028}'
        | '\u{2029}'
        | '\u{202F}'
        | '\u{205F}'
        | '\u{3000}' => Class::Space,
        // C1 controls, soft hyphen, zero-width space, word joiner, byte order mark: invisible.
        '\u{80}'..='\u{9F}' | '\u{AD}' | '\u{200B}' | '\u{2060}' | '\u{FEFF}' => Class::Dropped,
        '\u{3041}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}' | '\u{20000}'..='\u{3FFFF}' => {
            Class::Ideograph
        }
        _ => Class::Wide,
    };
    (class, c.len_utf8())
}
