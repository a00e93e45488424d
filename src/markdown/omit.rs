//! Markdown without its links, images or tables. Works on what the converter writes and what people write much like it;
//! code is left as it is.

use std::collections::VecDeque;

/// What is left out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Omitted {
    /// Links become their text.
    pub links: bool,
    pub images: bool,
    pub tables: bool,
}

/// Brackets in brackets beyond these are read as text.
const DEPTH_MAX: usize = 16;
/// How far the end of a bracket or of code is looked for, in bytes: bounds the work on a text of brackets alone.
const REACH_BYTES: usize = 8 * 1024;
/// The same for the end of an address with its title.
const ADDRESS_REACH_BYTES: usize = 2 * 1024;
/// Longer marks of lists and quotes at the beginning of a line are text.
const MARKS_BYTES_MAX: usize = 64;

/// The text without what is omitted. Links become their text; an address alone in angle brackets, an image and a table
/// leave nothing.
pub fn without(markdown: &str, omitted: Omitted) -> String {
    let mut kept = String::with_capacity(markdown.len());
    let mut prose = String::new();
    let (mut fence, mut in_table): (Option<(u8, usize)>, bool) = (None, false);
    let mut lines = markdown.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let body = line.trim();
        let mark = fence_of(body);
        if let Some((byte, length)) = fence {
            kept.push_str(line);
            if mark.is_some_and(|(other, run)| other == byte && run >= length && run == body.len())
            {
                fence = None;
            }
            continue;
        }
        let is_row = body.starts_with('|') && body.len() > 1;
        in_table &= is_row;
        if is_row && lines.peek().is_some_and(|next| is_delimiter(next.trim())) {
            in_table = true;
        }
        if in_table && omitted.tables {
            continue;
        }
        let opens = mark.is_some_and(|(byte, run)| byte == b'~' || !body[run..].contains('`'));
        if opens {
            flush(&mut kept, &mut prose, omitted);
            fence = mark;
            kept.push_str(line);
        } else {
            prose.push_str(line);
            // Nothing within a line reaches across an empty one.
            if body.is_empty() {
                flush(&mut kept, &mut prose, omitted);
            }
        }
    }
    flush(&mut kept, &mut prose, omitted);
    tidy(&kept)
}

fn fence_of(body: &str) -> Option<(u8, usize)> {
    let mark = *body.as_bytes().first()?;
    let run = body.bytes().take_while(|&byte| byte == mark).count();
    (matches!(mark, b'`' | b'~') && run >= 3).then_some((mark, run))
}

fn is_delimiter(row: &str) -> bool {
    row.starts_with('|') && row.contains('-') && row.bytes().all(|byte| b"|-: \t".contains(&byte))
}

fn flush(kept: &mut String, prose: &mut String, omitted: Omitted) {
    if omitted.links || omitted.images {
        let text = inline(prose, omitted, DEPTH_MAX);
        // A line that held nothing else goes as a whole.
        for (before, after) in same_lines(prose, &text) {
            let (had, has) = (says(before), says(after));
            if has || !had {
                kept.push_str(after);
            }
        }
    } else {
        kept.push_str(prose);
    }
    prose.clear();
}

/// The lines of both texts in pairs. No line end is ever left out, so they are as many.
fn same_lines<'t>(before: &'t str, after: &'t str) -> impl Iterator<Item = (&'t str, &'t str)> {
    before
        .split_inclusive('\n')
        .zip(after.split_inclusive('\n').chain(std::iter::repeat("")))
}

/// Whether a line holds more than marks of lists, quotes and headings.
fn says(line: &str) -> bool {
    let line = line.trim().trim_start_matches(|c: char| c.is_ascii_digit());
    !line.chars().all(|c| {
        matches!(
            c,
            '-' | '*' | '+' | '>' | '#' | '.' | ')' | ' ' | '\\' | '|' | '_'
        )
    })
}

fn inline(text: &str, omitted: Omitted, depth: usize) -> String {
    let mut out = String::with_capacity(text.len());
    let closings = closings(text);
    // Where the bracket closes that opens at a place of the text, counted from there.
    let closing = |open: usize| {
        let found = closings.binary_search_by_key(&open, |&(open, _)| open);
        found.ok().map(|found| closings[found].1 - open)
    };
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let taken = match c {
            '\\' => {
                let length = 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
                out.push_str(&rest[..length]);
                length
            }
            '`' => {
                let length = code_length(rest);
                out.push_str(&rest[..length]);
                length
            }
            '!' if rest.starts_with("![") => image(rest, closing(at + 1), omitted, &mut out),
            '[' => link(rest, closing(at), (omitted, depth), &mut out),
            '<' if omitted.links => match address_length(rest) {
                Some(length) => length,
                None => {
                    out.push(c);
                    1
                }
            },
            _ => {
                out.push(c);
                c.len_utf8()
            }
        };
        at += taken;
    }
    out
}

fn image(rest: &str, closing: Option<usize>, omitted: Omitted, out: &mut String) -> usize {
    let end = closing.map(|end| end + 2);
    let end = end.and_then(|end| Some(end + target_length(&rest[end..])?));
    match end {
        Some(end) => {
            if omitted.images {
                line_ends(&rest[..end], out);
            } else {
                out.push_str(&rest[..end]);
            }
            end
        }
        None => {
            out.push('!');
            1
        }
    }
}

fn link(
    rest: &str,
    closing: Option<usize>,
    (omitted, depth): (Omitted, usize),
    out: &mut String,
) -> usize {
    let target = closing.and_then(|end| {
        let length =
            target_length(&rest[end + 1..]).or_else(|| reference_length(&rest[end + 1..]))?;
        Some((end, end + 1 + length))
    });
    let Some((close, end)) = target.filter(|_| depth > 0) else {
        out.push('[');
        return 1;
    };
    let label = inline(&rest[1..close], omitted, depth - 1);
    let is_empty = label.trim().is_empty();
    if omitted.links {
        push_text(out, &label);
        line_ends(&rest[close..end], out);
    } else if is_empty && !rest[1..close].trim().is_empty() {
        // It was a link around an image.
        line_ends(&rest[..end], out);
    } else {
        out.push('[');
        out.push_str(&label);
        out.push_str(&rest[close..end]);
    }
    end
}

/// The text of a link in place of the link. At the beginning of a line it must not become a mark of that line.
fn push_text(out: &mut String, label: &str) {
    let tail = out.ceil_char_boundary(out.len().saturating_sub(MARKS_BYTES_MAX));
    let before = out[tail..].trim_end_matches(['>', ' ', '-', '*', '+']);
    let begins_line = before.ends_with('\n') || (before.is_empty() && tail == 0);
    let trimmed = label.trim_start();
    if begins_line && label.len() == trimmed.len() {
        let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
        let mark = trimmed.as_bytes().get(digits).copied().unwrap_or_default();
        if digits == 0 && matches!(mark, b'#' | b'>' | b'+' | b'-' | b'=' | b'|' | b'~') {
            out.push('\\');
        } else if digits > 0 && matches!(mark, b'.' | b')') {
            out.push_str(&trimmed[..digits]);
            out.push('\\');
            out.push_str(&trimmed[digits..]);
            return;
        }
    }
    out.push_str(label);
}

fn line_ends(removed: &str, out: &mut String) {
    out.extend(removed.chars().filter(|&c| c == '\n'));
}

/// The length of a code span, or of its opening marks if nothing closes them.
fn code_length(rest: &str) -> usize {
    let run = rest.bytes().take_while(|&byte| byte == b'`').count();
    let mut at = run;
    while let Some(found) = reach(rest).get(at..).and_then(|rest| rest.find('`')) {
        let start = at + found;
        let other = rest[start..]
            .bytes()
            .take_while(|&byte| byte == b'`')
            .count();
        at = start + other;
        if other == run {
            return at;
        }
    }
    run
}

fn reach(text: &str) -> &str {
    &text[..text.floor_char_boundary(REACH_BYTES.min(text.len()))]
}

fn address_reach(text: &str) -> &str {
    &text[..text.floor_char_boundary(ADDRESS_REACH_BYTES.min(text.len()))]
}

/// Where the brackets open and close that an address or a label follows, in one pass.
fn closings(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let (mut open, mut closed, mut at) = (VecDeque::new(), Vec::new(), 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'[' => open.push_back(at),
            b']' => {
                let opened = open.pop_back();
                if let Some(opened) = opened
                    && matches!(bytes.get(at + 1), Some(b'(' | b'['))
                {
                    closed.push((opened, at));
                }
            }
            _ => {}
        }
        at += match byte {
            b'\\' => 2,
            b'`' => code_length(&text[at..]),
            _ => 1,
        };
        while open.front().is_some_and(|open| at - open > REACH_BYTES) {
            open.pop_front();
        }
    }
    closed.sort_unstable();
    closed
}

/// The length of `(address "title")`.
fn target_length(text: &str) -> Option<usize> {
    let text = address_reach(text);
    let bytes = text.as_bytes();
    if bytes.first() != Some(&b'(') {
        return None;
    }
    let space = |at: usize| {
        at + bytes[at..]
            .iter()
            .take_while(|b| b.is_ascii_whitespace())
            .count()
    };
    let mut at = space(1);
    if bytes.get(at) == Some(&b'<') {
        at += 1 + text[at + 1..].find(['>', '\n'])?;
        at += usize::from(bytes.get(at) == Some(&b'>'));
    } else {
        let mut depth = 0_usize;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'\\' => at += 1,
                b'(' => depth += 1,
                b')' if depth == 0 => break,
                b')' => depth -= 1,
                byte if byte.is_ascii_whitespace() => break,
                _ => {}
            }
            at += 1;
        }
    }
    at = space(at.min(bytes.len()));
    let quote = bytes
        .get(at)
        .copied()
        .filter(|byte| matches!(byte, b'"' | b'\''));
    if let Some(quote) = quote {
        at += 1;
        while *bytes.get(at)? != quote {
            at += if bytes[at] == b'\\' { 2 } else { 1 };
        }
        at = space(at + 1);
    }
    (bytes.get(at) == Some(&b')')).then_some(at + 1)
}

/// The length of `[label]`, a reference to an address that stands elsewhere.
fn reference_length(text: &str) -> Option<usize> {
    let end = text
        .strip_prefix('[')
        .and_then(|rest| address_reach(rest).find([']', '\n']))?;
    (text.as_bytes().get(end + 1) == Some(&b']')).then_some(end + 2)
}

/// The length of `<https://…>` and the like.
fn address_length(text: &str) -> Option<usize> {
    let end = address_reach(text).find('>')?;
    let inner = &text[1..end];
    let (scheme, _) = inner.split_once(':')?;
    let is_scheme = (2..=32).contains(&scheme.len())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte));
    let is_one_word = !inner.contains(|c: char| c.is_whitespace() || c == '<');
    (is_scheme && is_one_word).then_some(end + 1)
}

/// Never more than one empty line, outside of code.
fn tidy(text: &str) -> String {
    let mut tidied = String::with_capacity(text.len());
    let (mut fence, mut empty): (Option<(u8, usize)>, bool) = (None, true);
    for line in text.split_inclusive('\n') {
        let body = line.trim();
        match (fence, fence_of(body)) {
            (Some((byte, length)), Some((other, run)))
                if other == byte && run >= length && run == body.len() =>
            {
                fence = None;
            }
            (None, Some(mark)) if mark.0 == b'~' || !body[mark.1..].contains('`') => {
                fence = Some(mark)
            }
            _ => {}
        }
        let is_empty = body.is_empty() && fence.is_none();
        if !(is_empty && empty) {
            tidied.push_str(line);
        }
        empty = is_empty;
    }
    tidied.truncate(tidied.trim_end().len());
    tidied
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

    use super::*;

    const LINKS: Omitted = Omitted {
        links: true,
        images: false,
        tables: false,
    };
    const IMAGES: Omitted = Omitted {
        links: false,
        images: true,
        tables: false,
    };
    const TABLES: Omitted = Omitted {
        links: false,
        images: false,
        tables: true,
    };

    #[test]
    fn links_become_their_text() {
        for (text, expected) in [
            (
                "See [the *docs*](https://a.example/x_(y) \"T\").",
                "See the *docs*.",
            ),
            (
                "[![alt](a.png)](https://a.example) text",
                "![alt](a.png) text",
            ),
            ("`[a](b)` and \\[c](d) [e]", "`[a](b)` and \\[c](d) [e]"),
            ("<https://a.example/?b> or <b>", "or <b>"),
            ("- [x](y)\n- [ ] task", "- x\n- [ ] task"),
            ("[1. One](#a)", "1\\. One"),
            ("[# one](#a)", "\\# one"),
            ("[a][b] [^1]", "a [^1]"),
            ("```\n[a](b)\n```", "```\n[a](b)\n```"),
            ("[a](<b c> 'd') [e](f", "a [e](f"),
        ] {
            assert_eq!(without(text, LINKS).trim_start(), expected, "{text}");
        }
    }

    #[test]
    fn images_leave_nothing() {
        for (text, expected) in [
            ("Before\n\n![a [b] c](d.png)\n\nAfter", "Before\n\nAfter"),
            ("[![alt](a.png)](https://a.example)\n\ntext", "text"),
            ("- ![a](b)\n- c", "- c"),
            ("[x ![a](b)](c)", "[x ](c)"),
            ("wow![a](b)!", "wow!"),
        ] {
            assert_eq!(without(text, IMAGES).trim_start(), expected, "{text}");
        }
    }

    #[test]
    fn tables_leave_nothing() {
        let text = "a\n\n| h | i |\n| --- | --- |\n| 1 | 2 |\n\nb\n\n| not a table |";
        assert_eq!(without(text, TABLES), "a\n\nb\n\n| not a table |");
        assert_eq!(without(text, LINKS), text);
    }

    fn rendered(markdown: &str) -> (String, usize, usize) {
        let (mut text, mut links, mut images, mut in_image) = (String::new(), 0, 0, 0_usize);
        for event in Parser::new_ext(
            markdown,
            Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH,
        ) {
            match event {
                Event::Start(Tag::Link { .. }) => links += 1,
                Event::Start(Tag::Image { .. }) => {
                    images += 1;
                    in_image += 1;
                }
                Event::End(TagEnd::Image) => in_image -= 1,
                Event::Text(piece) | Event::Code(piece) if in_image == 0 => text.push_str(&piece),
                _ => {}
            }
        }
        text.retain(|c| !c.is_whitespace());
        (text, links, images)
    }

    /// Held against another parser of markdown, on what the converter writes.
    #[test]
    fn a_page_says_the_same_without_them() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages");
        let mut seen = 0;
        for entry in std::fs::read_dir(folder).expect("the folder") {
            let path = entry.expect("a page").path().join("expected.md");
            let Ok(page) = std::fs::read_to_string(&path) else {
                continue;
            };
            let (text, links, images) = rendered(&page);
            if page.contains("<http") || page.contains("[^") {
                continue;
            }
            let bare = without(&page, LINKS);
            assert_eq!(
                rendered(&bare),
                (text.clone(), 0, images),
                "{}",
                path.display()
            );
            let plain = without(&page, IMAGES);
            assert_eq!(rendered(&plain).2, 0, "{}", path.display());
            assert_eq!(rendered(&plain).0, text, "{}", path.display());
            seen += usize::from(links > 0);
        }
        assert!(seen >= 5, "{seen}");
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "[\\[\\]()!<>`\\\\a b|\\-\n#é\"'~:]{0,60}", links: bool, images: bool, tables: bool) {
            let omitted = Omitted { links, images, tables };
            let once = without(&text, omitted);
            prop_assert!(once.len() <= text.len() * 2);
        }
    }
}
