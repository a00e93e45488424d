//! Where the pieces of a page stand in its markdown: what a citation can point at. Knows no HTML and no elements.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A piece of the markdown that says something by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    pub kind: PassageKind,
    /// Bytes of [`super::Page::markdown`]; at most [`super::PAGE_BYTES_MAX`] and some markup, so under 4 GiB by far.
    start: u32,
    end: u32,
    /// How many of [`super::Page::headings`] stand before it or are it.
    headings: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum PassageKind {
    /// Its range leaves out the number signs before it.
    Heading,
    Paragraph,
    /// A paragraph in an item of a list; its range leaves out the item's mark.
    Item,
    Quote,
    /// The whole fenced block.
    Code,
    /// One row of a table, its pipes included; the first of a table is its header.
    Row,
}

impl Passage {
    pub(super) fn new(kind: PassageKind, range: &Range<usize>, headings: usize) -> Passage {
        let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Passage {
            kind,
            start: narrow(range.start),
            end: narrow(range.end),
            headings: narrow(headings),
        }
    }

    /// Where it stands, in bytes of the markdown.
    pub fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The headings above it by their numbers, outermost first. `levels` are those of the page's headings.
    pub fn heading_path(&self, levels: &[u8]) -> Vec<usize> {
        let mut path = Vec::new();
        let before = &levels[..levels.len().min(self.headings as usize)];
        let (mut level, own) = match (self.kind, before.last()) {
            (PassageKind::Heading, Some(own)) => (*own, 1),
            _ => (u8::MAX, 0),
        };
        for (number, &other) in before.iter().enumerate().rev().skip(own) {
            if other < level {
                path.push(number);
                level = other;
            }
        }
        path.reverse();
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: PassageKind, headings: usize, expected: &[usize]) {
        let passage = Passage::new(kind, &(0..1), headings);
        assert_eq!(
            passage.heading_path(&[1, 2, 3, 2, 4]),
            expected,
            "{headings}"
        );
    }

    #[test]
    fn a_path_holds_each_level_once() {
        check(PassageKind::Paragraph, 0, &[]);
        check(PassageKind::Paragraph, 3, &[0, 1, 2]);
        check(PassageKind::Paragraph, 4, &[0, 3]);
        check(PassageKind::Item, 5, &[0, 3, 4]);
        check(PassageKind::Heading, 4, &[0]);
        check(PassageKind::Heading, 1, &[]);
    }
}
