//! Footnotes: short links to notes further down become `[^1]`, the items they lead to become the notes. An item that
//! nothing refers to stays an item; a reference whose note is not kept stays a plain sign.

use std::collections::HashSet;

use super::Builder;
use crate::markdown::attributes::Attributes;
use crate::markdown::inline::Finished;
use crate::markdown::outline::Shape;

/// References beyond this many are left as they are.
const REFERENCES_MAX: usize = 2000;

#[derive(Debug, Default)]
pub(super) struct Footnotes {
    /// Labels that were referred to.
    labels: HashSet<String>,
    /// The label that the open link leads to.
    open: Option<String>,
    /// The open link is the number of a note.
    is_number: bool,
}

/// What the ids of notes begin with, longer ones first.
const PREFIXES: [&str; 9] = [
    "user-content-fn-",
    "footnote-numbered-",
    "footnote-",
    "footnote",
    "endnote-",
    "_ftn",
    "fn:",
    "fn-",
    "fn",
];

/// The signs that lead back from a note.
const BACK: [&str; 8] = ["↩", "↩\u{FE0E}", "↩\u{FE0F}", "↵", "⏎", "⤴", "↑", "^"];

impl Builder {
    pub(super) fn begin_reference(&mut self, href: &str, attributes: &Attributes<'_>) {
        let id = href.trim_start().strip_prefix('#').unwrap_or("");
        let is_named = attributes.raw("role") == Some("doc-noteref");
        self.footnotes.open = label(id).or_else(|| any_label(id).filter(|_| is_named));
    }

    /// Puts a reference in the place of a link's text, if that is one. `plain` is where it began.
    pub(super) fn end_reference(&mut self, plain: usize) {
        let label = self.footnotes.open.take();
        let Some(read) = self.writer.plain().get(plain..) else {
            return;
        };
        let sign = read.trim().trim_matches(['[', ']', '(', ')', '\u{A0}']);
        let is_number = std::mem::take(&mut self.footnotes.is_number);
        if BACK.contains(&sign) || (is_number && is_short(sign)) {
            self.writer.drop_link_text(plain);
            return;
        }
        let Some(label) = label.filter(|_| is_short(sign)) else {
            return;
        };
        if self.footnotes.labels.len() >= REFERENCES_MAX || !self.writer.drop_link_text(plain) {
            return;
        }
        self.writer.verbatim(&format!("[^{label}]"));
        self.footnotes.labels.insert(label);
    }

    /// Makes a note of an item that was referred to, or of another element that says that it is a note.
    pub(super) fn note(&mut self, attributes: &Attributes<'_>, is_named: bool) -> Option<Shape> {
        if self.footnotes.labels.is_empty() || !self.tables.is_empty() {
            return None;
        }
        let id = attributes.get("id")?;
        let label = label(&id).or_else(|| any_label(&id).filter(|_| is_named))?;
        let was_referred_to = self.footnotes.labels.remove(&label);
        was_referred_to.then(|| Shape::Note {
            label: self.writer.label(&label),
            is_word: false,
        })
    }

    /// Makes a note of the element that begins with this link, if the link is a number that was referred to and leads
    /// back: `<p><a name="_ftn1" href="#_ftnref1">[1]</a> The note.`
    pub(super) fn note_by_number(&mut self, href: &str, attributes: &Attributes<'_>) {
        if self.footnotes.labels.is_empty() || !self.tables.is_empty() || !self.writer.is_empty() {
            return;
        }
        let name = attributes.get("id").or_else(|| attributes.get("name"));
        let Some(name) = name.and_then(|name| label(&name)) else {
            return;
        };
        let leads_back = LEADING_BACK.iter().any(|part| href.contains(part));
        let begun = self.open[self.placed..].iter_mut().rev();
        let mut around = begun.filter(|open| open.tag.is_block());
        let Some(block) = around.next().filter(|open| open.shape == Shape::Plain) else {
            return;
        };
        if leads_back && self.footnotes.labels.remove(&name) {
            block.shape = Shape::Note {
                label: self.writer.label(&name),
                is_word: false,
            };
            self.footnotes.is_number = true;
        }
    }

    /// Looks at the first words of a note.
    pub(super) fn settle_note(&mut self, finished: &Finished) {
        for open in &mut self.open[self.placed..] {
            if let Shape::Note { is_word, .. } = &mut open.shape {
                let text = &self.writer.text[finished.text.range()];
                let (_, rest) = text.split_once(' ').unwrap_or_default();
                *is_word = rest.trim().is_empty() || rest.starts_with(['"', '\'', '(']);
            }
        }
    }
}

/// Digits or other signs.
fn is_short(sign: &str) -> bool {
    !sign.is_empty()
        && sign.chars().count() <= 4
        && (sign.bytes().all(|b| b.is_ascii_digit()) || !sign.contains(char::is_alphabetic))
}

/// What the ids of references hold.
const LEADING_BACK: [&str; 3] = ["ref", "anchor", "back"];

/// The label of the note with this id.
fn label(id: &str) -> Option<String> {
    let leads_back = LEADING_BACK.iter().any(|part| id.contains(part));
    let rest = PREFIXES.iter().find_map(|prefix| id.strip_prefix(prefix))?;
    any_label(rest).filter(|_| !leads_back)
}

/// The label of a note that is one whatever its id begins with.
fn any_label(id: &str) -> Option<String> {
    let is_label = (1..=40).contains(&id.len())
        && id
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-_:.".contains(&b));
    is_label.then(|| id.replace([':', '.'], "-"))
}

#[cfg(test)]
mod tests {
    use super::label;

    fn check(id: &str, expected: Option<&str>) {
        assert_eq!(label(id).as_deref(), expected, "{id}");
    }

    #[test]
    fn labels_come_from_ids() {
        check("fn:1", Some("1"));
        check("fn1", Some("1"));
        check("fn:to.do", Some("to-do"));
        check("user-content-fn-note", Some("note"));
        check("footnote-2", Some("2"));
        check("fnref:1", None);
        check("footnote-anchor-1", None);
        check("fn", None);
        check("install", None);
        check("fn]x", None);
    }
}
