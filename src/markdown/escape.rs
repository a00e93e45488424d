//! Which characters mean something in inline markdown, and how code and addresses are written so that they do not end
//! early. Pure functions over text; what depends on the neighbours is decided by `inline`.

/// A code span whose fence is longer than any run of backticks in it (CommonMark 6.1).
pub(super) fn push_code_span(out: &mut String, code: &str) {
    let fence = "`".repeat(longest_backtick_run(code) + 1);
    let pad = code.starts_with('`') || code.ends_with('`');
    out.reserve(code.len() + 2 * fence.len() + 2);
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

/// The code of a span that was written, with more code behind it.
pub(super) fn joined_span(span: &str, code: &str) -> String {
    let fence = span.bytes().take_while(|b| *b == b'`').count();
    let inside = &span[fence..span.len() - fence];
    let is_padded = inside.starts_with(" `") || inside.ends_with("` ");
    let inside = if is_padded {
        inside[1..inside.len() - 1].to_owned()
    } else {
        inside.to_owned()
    };
    inside + code
}

pub(super) fn longest_backtick_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// A link destination. What would end or change it is percent-encoded, which leads to the same place.
pub(super) fn push_destination(out: &mut String, url: &str) {
    let means_something = |b: u8| {
        matches!(
            b,
            b' ' | b'<' | b'>' | b'\\' | b'`' | b'|' | b'(' | b')' | b';'
        )
    };
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
    let start = out.len();
    for c in url.chars() {
        match c {
            // An entity would be decoded; `&amp;` is the page's slip.
            ';' if ends_in_entity(&out[start..]) => {
                if out.ends_with("&amp") {
                    out.truncate(out.len() - 3);
                } else {
                    out.push_str("%3B");
                }
            }
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

/// A link's title, as wide as a line of text at most.
pub(super) fn push_title(out: &mut String, title: &str) {
    let title = title.trim();
    if title.is_empty() || title.len() > 200 {
        return;
    }
    out.push_str(" \"");
    push_alt_like(out, title, &['\\', '"', '`', '<']);
    out.push('"');
}

/// The text that stands for an image.
pub(super) fn push_alt(out: &mut String, alt: &str) {
    push_alt_like(out, alt, &['\\', '[', ']', '*', '_', '`', '<', '~']);
}

fn push_alt_like(out: &mut String, text: &str, escaped: &[char]) {
    let start = out.len();
    for word in text.split_whitespace() {
        if out.len() > start {
            out.push(' ');
        }
        for c in word.chars() {
            if escaped.contains(&c) || (c == ';' && ends_in_entity(&out[start..])) {
                out.push('\\');
            }
            out.push(c);
        }
    }
}

/// Whether `;` behind this text would make its end an entity. Delimiters in between may be taken out again.
pub(super) fn ends_in_entity(text: &str) -> bool {
    let mut length = 0;
    for byte in text.bytes().rev().take(48) {
        match byte {
            b'&' => return length > 0,
            b'*' | b'~' => {}
            b'#' => length += 1,
            _ if byte.is_ascii_alphanumeric() => length += 1,
            _ => return false,
        }
    }
    false
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
            b'\\' | b'`' | b'*' | b'_' | b'[' | b']' | b'(' | b':' | b'<' | b';' | b'~' => {
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

/// Whether a character never comes into a text, so that its neighbours meet.
pub(super) fn is_dropped(c: char) -> bool {
    let mut buffer = [0; 4];
    let text = c.encode_utf8(&mut buffer);
    let class = match CLASSES[usize::from(text.as_bytes()[0])] {
        Class::Wide => classify_wide(text).0,
        class => class,
    };
    class == Class::Dropped
}

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
