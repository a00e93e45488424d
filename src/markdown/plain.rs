//! Pages that are markdown or plain text already.
//!
//! Markdown is passed through as it is but for its links, which become absolute, and raw HTML, of which only text,
//! links and images are left. Plain text becomes markdown that reads like the text: paragraphs stay
//! paragraphs with their lines as they were, characters that would turn into markup are escaped, and paragraphs with
//! indented lines (tables, listings, drawings) are put into code fences, where columns keep their place. A fence
//! around the whole would be shorter to make, but hides prose from everything that looks for sentences.

use url::Url;

use super::escape::{longest_backtick_run, push_destination};
use super::inline::Writer;
use super::links::{Links, URL_BYTES_MAX};
use super::render::push_escaped_line;
use super::work::Work;
use super::{Heading, LINKS_MAX, Link};

/// Line ends of all kinds and page breaks as `\n`, no control characters, no trailing white space at the end, one line
/// end.
pub(super) fn normalised(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 1);
    for (at, part) in text.split("\r\n").enumerate() {
        if at > 0 {
            out.push('\n');
        }
        out.extend(part.chars().filter_map(|c| match c {
            '\r' | '\u{B}' | '\u{C}' => Some('\n'),
            '\n' | '\t' => Some(c),
            c => (!c.is_control()).then_some(c),
        }));
    }
    out.truncate(out.trim_end().len());
    let blank_lines = out.len() - out.trim_start_matches(['\n', '\u{FEFF}']).len();
    out.drain(..blank_lines);
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// Plain text, with line ends as [`normalised`] leaves them, as markdown.
pub(super) fn as_markdown(text: &str, work: &Work) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    let mut lines = text.lines().peekable();
    while lines.peek().is_some() {
        let paragraph: Vec<&str> = lines
            .by_ref()
            .inspect(|_| work.step())
            .map(str::trim_end)
            .skip_while(|line| line.is_empty())
            .take_while(|line| !line.is_empty())
            .collect();
        if paragraph.is_empty() {
            break;
        }
        if !out.is_empty() {
            out.push('\n');
        }
        if paragraph.iter().any(|line| is_indented(line)) {
            push_fenced(&mut out, &paragraph);
        } else {
            for line in paragraph {
                push_line(&mut out, line);
            }
        }
    }
    out
}

fn is_indented(line: &str) -> bool {
    line.starts_with("  ") || line.starts_with('\t') || line.trim().contains("   ")
}

fn push_fenced(out: &mut String, lines: &[&str]) {
    let longest = lines.iter().map(|line| longest_backtick_run(line)).max();
    let fence = "`".repeat((longest.unwrap_or(0) + 1).max(3));
    out.push_str(&fence);
    out.push('\n');
    for line in lines {
        out.push_str(line);
        out.push('\n');
    }
    out.push_str(&fence);
    out.push('\n');
}

fn push_line(out: &mut String, line: &str) {
    let mut writer = Writer::default();
    writer.text(line);
    push_escaped_line(out, &writer.text);
    out.push('\n');
}

/// Longer code spans and tags are text.
const SPAN_BYTES_MAX: usize = 16 * 1024;

/// Markdown with absolute links, without links to scripts and without HTML. Code stays as it is.
pub(super) fn clean(markdown: &str, links: &mut Links, work: &Work) -> String {
    let mut out = String::with_capacity(markdown.len() + markdown.len() / 8);
    let mut prose = String::new();
    for (line, is_code) in lines(markdown) {
        if is_code {
            push_clean(&mut out, &prose, links, work);
            prose.clear();
            out.push_str(line);
            out.push('\n');
        } else {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    push_clean(&mut out, &prose, links, work);
    out
}

/// The same document with headings this many levels lower.
pub(super) fn lowered(markdown: &str, levels: usize) -> String {
    let mut out = String::with_capacity(markdown.len() + 64);
    for (line, is_code) in lines(markdown) {
        let level = line.bytes().take_while(|b| *b == b'#').count();
        if !is_code && (1..=6).contains(&level) && line[level..].starts_with(' ') {
            out.push_str(&"#".repeat(levels.min(6 - level)));
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// Each line, and whether it is code: in a fence or, after an empty line, indented.
fn lines(markdown: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut fence: Option<&str> = None;
    let mut may_be_indented = true;
    markdown.lines().map(move |line| {
        let is_fenced = fence.is_some() || fence_run(line).is_some();
        fence = fence_after(fence, line);
        let is_indented = line.starts_with("    ") || line.starts_with('\t');
        let is_indented_code = may_be_indented && is_indented && !is_fenced;
        may_be_indented = line.trim_start().is_empty() || is_indented_code;
        (line, is_fenced || is_indented_code)
    })
}

/// The backticks or tildes that begin a fence (CommonMark 4.5).
fn fence_run(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|c| "`~".contains(*c))?;
    let rest = line.trim_start_matches(mark);
    let run = &line[..line.len() - rest.len()];
    // With more backticks behind them they are a code span.
    (run.len() >= 3 && !(mark == '`' && rest.contains('`'))).then_some(run)
}

/// The fence that is open after a line. As many signs of the same kind end it, with nothing behind them.
fn fence_after<'a>(open: Option<&'a str>, line: &'a str) -> Option<&'a str> {
    let run = fence_run(line);
    match (open, run) {
        (Some(open), Some(run)) if run.starts_with(open) && line.trim() == run => None,
        (Some(open), _) => Some(open),
        (None, run) => run,
    }
}

/// Ends the fence that a text leaves open, which would swallow what comes after it.
pub(super) fn close_fence(markdown: &mut String) {
    let open = markdown.lines().fold(None, fence_after).map(str::to_owned);
    if let Some(open) = open {
        if !markdown.ends_with('\n') {
            markdown.push('\n');
        }
        markdown.push_str(&open);
    }
}

fn push_clean(out: &mut String, prose: &str, links: &mut Links, work: &Work) {
    let mut rest = prose;
    // Where the open links of HTML lead.
    let mut open: Option<String> = None;
    while let Some(at) = rest.find(['`', '\\', '<', ']']) {
        work.step();
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let taken = match rest.as_bytes() {
            [b'`', ..] => {
                let length = code_span(rest);
                out.push_str(&rest[..length]);
                length
            }
            [b'\\', next, ..] if next.is_ascii_punctuation() => {
                out.push_str(&rest[..2]);
                2
            }
            [b']', b'(', ..] => link(out, rest, 2, links),
            [b']', b':', ..] if is_definition(out) => link(out, rest, 2, links),
            [b'<', ..] => tag(out, rest, links, &mut open),
            _ => {
                out.push_str(&rest[..1]);
                1
            }
        };
        rest = &rest[taken..];
    }
    out.push_str(rest);
}

/// The length of the code span that the text begins with, or of the backticks alone.
fn code_span(text: &str) -> usize {
    let run = text.bytes().take_while(|b| *b == b'`').count();
    let bytes = &text.as_bytes()[..text.len().min(SPAN_BYTES_MAX)];
    let mut at = run;
    while at < bytes.len() {
        let here = bytes[at..].iter().take_while(|b| **b == b'`').count();
        if here == run {
            return at + here;
        }
        at += here.max(1);
    }
    run
}

/// The label of a link definition is shorter (CommonMark 4.7), and so is a link's text that is listed.
const LABEL_BYTES_MAX: usize = 1_000;

/// Whether the line so far is the beginning of a link definition.
fn is_definition(out: &str) -> bool {
    // Longer lines are none, and are not looked through for each of their brackets.
    let start = out.floor_char_boundary(out.len().saturating_sub(LABEL_BYTES_MAX + 4));
    let (line, is_whole) = match out[start..].rsplit_once('\n') {
        Some((_, line)) => (line, true),
        None => (&out[start..], start == 0),
    };
    let trimmed = line.trim_start();
    is_whole
        && line.len() - trimmed.len() < 4
        && trimmed.starts_with('[')
        && trimmed.len() <= LABEL_BYTES_MAX
}

/// Writes the mark before a link's destination and the destination made absolute; how much of the text that was.
fn link(out: &mut String, text: &str, mark: usize, links: &mut Links) -> usize {
    out.push_str(&text[..mark]);
    let after = &text[mark..];
    let spaces = after.len() - after.trim_start_matches([' ', '\t']).len();
    out.push_str(&after[..spaces]);
    let after = &after[spaces..];
    let (href, length) = if let Some(inside) = after.strip_prefix('<') {
        // Another `<` ends the search, so that all searches together are one pass.
        match inside.find(['>', '<', '\n']) {
            Some(end) if inside[end..].starts_with('>') => (&inside[..end], end + 2),
            _ => return mark + spaces,
        }
    } else {
        let mut depth = 0i32;
        let end = after.find(|c: char| {
            depth += match c {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            depth < 0 || c.is_whitespace()
        });
        let end = end.unwrap_or(after.len());
        (&after[..end], end)
    };
    if let Some(url) = links.page(&htmlize::unescape(href)) {
        push_destination(out, &url);
    }
    mark + spaces + length
}

/// What of HTML is markdown too; how much of the text that was.
fn tag(out: &mut String, text: &str, links: &mut Links, open: &mut Option<String>) -> usize {
    if text.starts_with("<!--") {
        return text.find("-->").map_or(text.len(), |end| end + 3);
    }
    let inside = &text[1..];
    let name = inside.strip_prefix('/').unwrap_or(inside);
    let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    let name = name[..end.unwrap_or(name.len())].to_ascii_lowercase();
    let length = tag_end(text);
    let (Some(length), true) = (length, name.starts_with(|c: char| c.is_ascii_alphabetic())) else {
        out.push('<');
        return 1;
    };
    let whole = &text[..length];
    if let Some(address) = autolink(whole) {
        if links.page(&htmlize::unescape(address)).is_some() {
            out.push_str(whole);
        }
        return length;
    }
    match name.as_str() {
        "script" | "style" if !inside.starts_with('/') => {
            // Looked for from here on only: each tag is part of one search.
            let mut ends = text[length..].match_indices("</");
            let end = ends.find(|(at, _)| {
                let inside = text[length + at + 2..].get(..name.len());
                inside.is_some_and(|inside| inside.eq_ignore_ascii_case(&name))
            });
            return end.map_or(text.len(), |(at, _)| length + at);
        }
        "img" => {
            if let Some(url) = attribute(whole, "src").and_then(|src| links.page(&src)) {
                let alt = attribute(whole, "alt")
                    .unwrap_or_default()
                    .replace(['[', ']', '\n'], " ");
                out.push_str(&format!("![{}](", alt.trim()));
                push_destination(out, &url);
                out.push(')');
            }
        }
        "a" if inside.starts_with('/') => {
            if let Some(url) = open.take() {
                out.push_str("](");
                push_destination(out, &url);
                out.push(')');
            }
        }
        "a" => {
            if open.is_none()
                && let Some(url) = attribute(whole, "href").and_then(|href| links.page(&href))
            {
                out.push('[');
                *open = Some(url);
            }
        }
        "br" => out.push(' '),
        _ => {}
    }
    length
}

/// Behind the `>` of the tag that the text begins with. Another `<` ends the search, so that all searches together
/// are one pass.
fn tag_end(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut first = None;
    for (at, byte) in text.bytes().enumerate().take(SPAN_BYTES_MAX).skip(1) {
        match (byte, quote) {
            (b'<', _) => break,
            (b'>', None) => return Some(at + 1),
            (b'>', Some(_)) => first = first.or(Some(at + 1)),
            (b'"' | b'\'', None) => quote = Some(byte),
            (byte, Some(open)) if byte == open => quote = None,
            _ => {}
        }
    }
    // A quote that stays open is an apostrophe.
    first
}

/// The address in `<https://example.org>`.
fn autolink(tag: &str) -> Option<&str> {
    let inside = tag.strip_prefix('<')?.strip_suffix('>')?;
    let is_address = inside.contains(':') || inside.contains('@');
    (is_address && !inside.contains(char::is_whitespace)).then_some(inside)
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let lower = tag.to_ascii_lowercase();
    let found = lower.match_indices(name).find_map(|(at, _)| {
        let is_start = lower[..at].ends_with(char::is_whitespace);
        let after = tag[at + name.len()..]
            .trim_start()
            .strip_prefix('=')?
            .trim_start();
        is_start.then_some(after)
    })?;
    let value = match found.as_bytes().first() {
        Some(quote @ (b'"' | b'\'')) => found[1..].split(char::from(*quote)).next(),
        _ => found.split([' ', '\t', '\n', '>']).next(),
    };
    value.map(|value| htmlize::unescape_attribute(value).into_owned())
}

/// The headings of a markdown document that begin with `#`, and its inline links.
pub(super) fn headings_and_links(
    markdown: &str,
    base: &Url,
    work: &Work,
) -> (Vec<Heading>, Vec<Link>) {
    let (mut headings, mut links) = (Vec::new(), Vec::new());
    for (line, is_code) in lines(markdown) {
        work.step();
        if !is_code {
            headings.extend(heading(line.trim_start()));
            collect_links(line, base, &mut links, work);
        }
    }
    (headings, links)
}

fn heading(line: &str) -> Option<Heading> {
    let level = line.bytes().take_while(|b| *b == b'#').count();
    let text = line[level..].strip_prefix([' ', '\t'])?;
    let text = text.trim().trim_end_matches('#').trim();
    let level = u8::try_from(level).ok().filter(|l| (1..=6).contains(l))?;
    (!text.is_empty()).then(|| Heading {
        level,
        text: text.to_owned(),
    })
}

fn collect_links(line: &str, base: &Url, links: &mut Vec<Link>, work: &Work) {
    let mut rest = line;
    while let Some(at) = rest.find("](") {
        work.step();
        let (before, after) = (&rest[..at], &rest[at + 2..]);
        rest = after;
        if links.len() >= LINKS_MAX {
            return;
        }
        let Some(open) = before.rfind('[') else {
            continue;
        };
        // Each search ends at the next link, so that all of them together are one pass.
        let next = after.find("](").unwrap_or(after.len());
        let reach = after.floor_char_boundary(next.min(URL_BYTES_MAX + 2));
        let end = match after[..reach].find(|c: char| c == ')' || c.is_whitespace()) {
            Some(end) => end,
            None if reach == after.len() => reach,
            None => continue,
        };
        let href = after[..end].trim_matches(['<', '>']);
        let text = before[open + 1..].trim();
        let is_image = before[..open].ends_with('!');
        let is_long = text.len() > LABEL_BYTES_MAX;
        if is_long || is_image || text.is_empty() || href.is_empty() || href.starts_with('#') {
            continue;
        }
        let Ok(url) = base.join(href) else { continue };
        let url = String::from(url);
        if url.len() <= URL_BYTES_MAX
            && url.starts_with("http")
            && !links.iter().any(|link| link.url == url)
        {
            links.push(Link {
                text: text.to_owned(),
                url,
                rel: String::new(),
            });
        }
    }
}
