//! Footnotes: short links to notes further down become `[^1]`, the elements they lead to become the notes. An element that
//! nothing refers to stays what it is; a reference whose note is not kept stays a plain sign.

use std::collections::{HashMap, HashSet};

use super::Builder;
use crate::markdown::attributes::{Attributes, Names};
use crate::markdown::inline::Finished;
use crate::markdown::outline::{Shape, Span};
use crate::markdown::tag::Tag;

/// References beyond this many are left as they are.
const REFERENCES_MAX: usize = 2000;

#[derive(Debug, Default)]
pub(super) struct Footnotes {
    /// The labels of notes that were referred to, by their keys.
    labels: HashMap<String, String>,
    /// All labels there are.
    given: HashSet<String>,
    /// The keys of elements that hold several notes.
    lists: HashSet<String>,
    /// The ids of links to notes.
    references: HashSet<String>,
    open: Option<Reference>,
    /// The open link is the number of a note.
    is_number: bool,
    /// The label of the note that comes next: a term held its number.
    next: Option<String>,
}

/// An open link that may lead to a note.
#[derive(Debug)]
struct Reference {
    /// What tells the note from others.
    key: String,
    /// The id is one of those that notes have.
    is_of_note: bool,
    /// The link says that it leads to a note.
    is_named: bool,
    /// Its own id.
    id: Option<String>,
}

/// Classes of links to notes.
static REFERENCES: Names = Names::new(&[
    "FootnoteRef",
    "fn",
    "fnref",
    "footnote",
    "footnote-link",
    "footnote-ref",
    "footnote-reference",
    "footnoteref",
    "noteref",
]);

/// Classes of notes.
static NOTES: Names = Names::new(&["endnote", "footnote", "footnote-item"]);

/// The class of what holds the number of a note, in documents of docutils.
static NUMBERS: Names = Names::new(&["label"]);

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
        let target = href.trim_start().strip_prefix('#').unwrap_or("");
        let of_note = key_of_note(target);
        let is_of_note = of_note.is_some();
        self.footnotes.open = of_note.or_else(|| any_key(target)).map(|key| Reference {
            key,
            is_of_note,
            is_named: attributes.raw("role") == Some("doc-noteref")
                || attributes.has_class(&REFERENCES),
            id: attributes.get("id").as_deref().and_then(any_key),
        });
    }

    /// Puts a reference in the place of a link's text, if that is one. `plain` is where it began.
    pub(super) fn end_reference(&mut self, plain: usize) {
        let reference = self.footnotes.open.take();
        let Some(read) = self.writer.plain().get(plain..) else {
            return;
        };
        let sign = read.trim().trim_matches(['[', ']', '(', ')', '\u{A0}']);
        let is_number = std::mem::take(&mut self.footnotes.is_number);
        if BACK.contains(&sign) || (is_number && is_short(sign)) {
            self.writer.drop_link_text(plain);
            return;
        }
        let number = sign.trim_start_matches('^');
        let is_raised = number.len() < sign.len() && number.bytes().all(|b| b.is_ascii_digit());
        let reference = reference.filter(|it| it.is_of_note || it.is_named || is_raised);
        let Some(reference) = reference.filter(|_| is_short(sign)) else {
            return;
        };
        let number = number.to_owned();
        let Footnotes {
            given, references, ..
        } = &self.footnotes;
        let is_full = given.len().max(references.len()) >= REFERENCES_MAX;
        if is_full || !self.writer.drop_link_text(plain) {
            return;
        }
        let label = self.footnotes.label(reference, number);
        self.writer.verbatim(&format!("[^{label}]"));
    }

    /// Makes a note of an element that was referred to, if such elements can be one.
    pub(super) fn note(&mut self, tag: Tag, attributes: &Attributes<'_>) -> Option<Shape> {
        if !self.tables.is_empty() {
            return None;
        }
        if tag == Tag::Definition
            && let Some(label) = self.footnotes.next.take()
        {
            return Some(self.note_of(&label));
        }
        if self.footnotes.labels.is_empty() {
            return None;
        }
        let role = attributes.raw("role");
        let may_be_note = matches!(tag, Tag::Item | Tag::Paragraph)
            || matches!(role, Some("doc-footnote" | "doc-endnote"))
            || attributes.has_class(&NOTES);
        let id = attributes.get("id").filter(|_| may_be_note)?;
        let label = self.footnotes.take(&id)?;
        Some(self.note_of(&label))
    }

    /// Whether a term is the number of the note that comes next, and not read.
    pub(super) fn begins_with_number(&mut self, attributes: &Attributes<'_>) -> bool {
        let id = attributes.get("id");
        let id = id.filter(|_| attributes.has_class(&NUMBERS));
        self.footnotes.next = id.and_then(|id| self.footnotes.take(&id));
        self.footnotes.next.is_some()
    }

    /// Whether a cell is the number of the note around it, and not read.
    pub(super) fn is_number_of_note(&self, attributes: &Attributes<'_>) -> bool {
        let blocks = self.open.iter().rev().map(|open| open.shape);
        let around = blocks.take(3).find(|shape| *shape != Shape::Plain);
        matches!(around, Some(Shape::Note { .. }))
            && self.writer.is_empty()
            && attributes.has_class(&NUMBERS)
    }

    fn note_of(&mut self, label: &str) -> Shape {
        Shape::Note {
            label: self.writer.label(label),
            is_word: false,
        }
    }

    /// Makes a note of the element that begins with this link, if the link is a number that was referred to and leads
    /// back: `<p><a name="_ftn1" href="#_ftnref1">[1]</a> The note.`
    pub(super) fn note_by_number(&mut self, href: &str, attributes: &Attributes<'_>) {
        if self.footnotes.labels.is_empty() || !self.tables.is_empty() || !self.writer.is_empty() {
            return;
        }
        let name = attributes.get("id").or_else(|| attributes.get("name"));
        let Some(name) = name else {
            return;
        };
        let target = href.trim_start().trim_start_matches('#');
        let leads_back = self.footnotes.references.contains(target)
            || LEADING_BACK.iter().any(|part| target.contains(part));
        let begun = self.open[self.placed..].iter_mut().rev();
        let mut around = begun.filter(|open| open.tag.is_block());
        let Some(block) = around.next().filter(|open| open.shape == Shape::Plain) else {
            return;
        };
        if leads_back && let Some(label) = self.footnotes.take(&name) {
            block.shape = Shape::Note {
                label: self.writer.label(&label),
                is_word: false,
            };
            self.footnotes.is_number = true;
        }
    }

    /// Looks at the first words of a note, which may say its number again.
    pub(super) fn settle_note(&mut self, finished: &mut Finished) {
        for open in &mut self.open[self.placed..] {
            if let Shape::Note { is_word, label } = &mut open.shape {
                let range = finished.text.range();
                let (text, label) = (&self.writer.text[range.clone()], label.range());
                let rest = text.strip_prefix(&self.writer.labels[label]);
                let marks = ["\\. ", ". ", "\\) ", ") "];
                let rest = rest.and_then(|rest| marks.iter().find_map(|it| rest.strip_prefix(it)));
                if let Some(rest) = rest {
                    finished.text = Span::new(range.end - rest.len(), range.end);
                }
                let text = &self.writer.text[finished.text.range()];
                let (_, rest) = text.split_once(' ').unwrap_or_default();
                *is_word = rest.trim().is_empty() || rest.starts_with(['"', '\'', '(']);
            }
        }
    }
}

impl Footnotes {
    /// The label of a note: what its id says beside that it is a note, otherwise its number, if no other has it.
    fn label(&mut self, reference: Reference, number: String) -> String {
        self.references.extend(reference.id);
        let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        if let Some(label) = self.labels.get(&reference.key) {
            if reference.is_of_note || !is_number || *label == number {
                return label.clone();
            }
            // Two numbers lead there: it holds all notes, and is none.
            self.labels.remove(&reference.key);
            self.lists.insert(reference.key.clone());
        }
        if is_number && self.lists.contains(&reference.key) {
            self.given.insert(number.clone());
            return number;
        }
        let is_free = !self.given.contains(&number);
        let label = match reference.is_of_note || !is_number || !is_free {
            true => reference.key.clone(),
            false => number,
        };
        self.given.insert(label.clone());
        self.labels.insert(reference.key, label.clone());
        label
    }

    /// The label of the note with this id, if it was referred to. No other element becomes that note.
    fn take(&mut self, id: &str) -> Option<String> {
        let key = key_of_note(id).or_else(|| any_key(id))?;
        self.labels.remove(&key)
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

/// What tells the note with this id from others, if it is one that notes have.
fn key_of_note(id: &str) -> Option<String> {
    let leads_back = LEADING_BACK.iter().any(|part| id.contains(part));
    let rest = PREFIXES.iter().find_map(|prefix| id.strip_prefix(prefix))?;
    any_key(rest).filter(|_| !leads_back)
}

/// The same for a note whatever its id begins with.
fn any_key(id: &str) -> Option<String> {
    let is_label = (1..=40).contains(&id.len())
        && id
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-_:.".contains(&b));
    is_label.then(|| id.replace([':', '.'], "-"))
}

#[cfg(test)]
mod tests {
    use super::key_of_note;

    fn check(id: &str, expected: Option<&str>) {
        assert_eq!(key_of_note(id).as_deref(), expected, "{id}");
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
