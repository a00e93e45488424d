//! Pages that are markdown or plain text already.
//!
//! Markdown is passed through as it is. Plain text becomes markdown that reads like the text: paragraphs stay
//! paragraphs with their lines as they were, characters that would turn into markup are escaped, and paragraphs with
//! indented lines (tables, listings, drawings) are put into code fences, where columns keep their place. A fence
//! around the whole would be shorter to make, but hides prose from everything that looks for sentences.

use url::Url;

use super::escape::longest_backtick_run;
use super::inline::Writer;
use super::render::push_escaped_line;
use super::{Heading, LINKS_MAX, Link};

/// Line ends of all kinds as `\n`, no trailing white space at the end, one line end.
pub(super) fn normalised(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 1);
    for (at, part) in text.split("\r\n").enumerate() {
        if at > 0 {
            out.push('\n');
        }
        out.extend(part.chars().filter(|c| *c != '\0').map(|c| match c {
            '\r' => '\n',
            c => c,
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
pub(super) fn as_markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    let mut lines = text.lines().peekable();
    while lines.peek().is_some() {
        let paragraph: Vec<&str> = lines
            .by_ref()
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

/// The headings of a markdown document that begin with `#`, and its inline links.
pub(super) fn headings_and_links(markdown: &str, base: &Url) -> (Vec<Heading>, Vec<Link>) {
    let (mut headings, mut links) = (Vec::new(), Vec::new());
    let mut fence: Option<&str> = None;
    for line in markdown.lines() {
        let trimmed = line.trim_start();
        let mark = if trimmed.starts_with("```") {
            Some("```")
        } else if trimmed.starts_with("~~~") {
            Some("~~~")
        } else {
            None
        };
        if mark.is_some() && (fence.is_none() || fence == mark) {
            fence = if fence.is_none() { mark } else { None };
            continue;
        }
        if fence.is_some() {
            continue;
        }
        headings.extend(heading(trimmed));
        collect_links(line, base, &mut links);
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

fn collect_links(line: &str, base: &Url, links: &mut Vec<Link>) {
    let mut rest = line;
    while let Some(at) = rest.find("](") {
        let (before, after) = (&rest[..at], &rest[at + 2..]);
        rest = after;
        if links.len() >= LINKS_MAX {
            return;
        }
        let Some(open) = before.rfind('[') else {
            continue;
        };
        let end = after
            .find(|c: char| c == ')' || c.is_whitespace())
            .unwrap_or(after.len());
        let href = after[..end].trim_matches(['<', '>']);
        let text = before[open + 1..].trim();
        let is_image = before[..open].ends_with('!');
        if is_image || text.is_empty() || href.is_empty() || href.starts_with('#') {
            continue;
        }
        let Ok(url) = base.join(href) else { continue };
        let url = String::from(url);
        if url.starts_with("http") && !links.iter().any(|link| link.url == url) {
            links.push(Link {
                text: text.to_owned(),
                url,
                rel: String::new(),
            });
        }
    }
}
