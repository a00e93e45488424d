//! Where two inline elements touch, one ended and the next begun without white space between, and a style sheet shows
//! them apart: a label and its value, a name and a date. The letters of one word may be split alike, so text is
//! parted only where no word goes on.

use super::Builder;
use crate::markdown::attributes::Attributes;
use crate::markdown::tag::{Name, Tag};

const SUBSCRIPT: Name = Name::new("sub");

/// Of the open inline elements and of those that ended last.
#[derive(Debug, Default)]
pub(super) struct Seams {
    /// A bit for each open element, the innermost lowest: whether it has a class. Deeper ones than it holds count as
    /// without.
    open: u64,
    /// The element that ended behind the last text,
    ended: Option<bool>,
    /// and the one that began behind that.
    begun: Option<bool>,
}

impl Seams {
    /// An inline element begins. A class says that it is a thing of its own.
    pub(super) fn begin(&mut self, has_class: bool) {
        self.open = self.open << 1 | u64::from(has_class);
        if self.ended.is_some() && self.begun.is_none() {
            self.begun = Some(has_class);
        }
    }

    pub(super) fn end(&mut self) {
        self.ended = Some(self.open & 1 == 1);
        self.begun = None;
        self.open >>= 1;
    }

    /// What follows is not apart from what stands before.
    pub(super) fn join(&mut self) {
        self.ended = None;
        self.begun = None;
    }

    /// A block begins or ends.
    pub(super) fn clear(&mut self) {
        *self = Seams::default();
    }

    /// Whether the next text stands behind such a seam.
    fn take(&mut self) -> bool {
        let (ended, begun) = (self.ended.take(), self.begun.take());
        ended
            .zip(begun)
            .is_some_and(|(ended, begun)| ended || begun)
    }
}

impl Builder {
    pub(super) fn begin_seam(&mut self, name: Name, tag: Tag, attributes: &Attributes<'_>) {
        let leads_to_note = || {
            let href = attributes.raw("href");
            tag == Tag::Anchor && href.is_some_and(|href| href.starts_with('#'))
        };
        self.seams.begin(attributes.raw("class").is_some());
        if tag == Tag::Superscript || name == SUBSCRIPT || leads_to_note() {
            self.seams.join();
        }
    }

    /// Parts the text from what it touches, if that is another thing.
    pub(super) fn part_from_before(&mut self, text: &str) {
        if self.seams.take()
            && !self.writer.is_in_code()
            && let (Some(before), Some(after)) =
                (self.writer.plain().chars().next_back(), text.chars().next())
            && is_word_end(before, after)
        {
            self.writer.gap();
        }
    }
}

/// Whether no word goes on between these two: it would be `Price12`, `12Add` or `AuthorJane`, but also `Chapter` and
/// `1st` may be split.
fn is_word_end(before: char, after: char) -> bool {
    match before.is_ascii_digit() {
        true => after.is_uppercase(),
        false => before.is_lowercase() && (after.is_uppercase() || after.is_ascii_digit()),
    }
}
