//! Which open elements end where a block begins, though no end tag says so, and which begin.

use super::{Builder, Open};
use crate::markdown::attributes::Attributes;
use crate::markdown::tag::{Name, Tag};

impl Builder {
    /// Ends the elements that the start of this block ends (HTML Standard 13.2.6.4.7).
    pub(super) fn end_implied(&mut self, tag: Tag) {
        let ended = match tag {
            Tag::Item => self.innermost(|open| open.tag == Tag::Item, Self::bounds_item),
            Tag::Term | Tag::Definition => self.innermost(
                |open| matches!(open.tag, Tag::Term | Tag::Definition),
                Self::bounds_item,
            ),
            _ if tag.is_cell() => self.innermost(
                |open| open.tag.is_cell() || open.tag == Tag::Caption,
                |open| matches!(open.tag, Tag::Table | Tag::Row),
            ),
            Tag::Button => self.innermost(
                |open| open.tag == Tag::Button,
                |open| tag.is_bounded_by(open.tag),
            ),
            Tag::Row => self.innermost_outer(
                |tag| matches!(tag, Tag::Row | Tag::Caption),
                |tag| tag == Tag::Table,
            ),
            Tag::TableHead | Tag::TableBody => self.innermost_outer(
                |tag| {
                    matches!(
                        tag,
                        Tag::TableHead | Tag::TableBody | Tag::Row | Tag::Caption
                    )
                },
                |tag| tag == Tag::Table,
            ),
            _ => None,
        };
        if let Some(at) = ended {
            self.close_down_to(at);
            return;
        }
        // A `<div>` may stand in a heading, though not in a paragraph; anything larger means that an end tag is missing.
        let ends_heading = !matches!(tag, Tag::Division | Tag::Button);
        let ended = self.innermost(
            |open| match open.tag {
                Tag::Heading(_) => ends_heading,
                tag => tag == Tag::Paragraph,
            },
            |open| open.tag.is_block(),
        );
        if let Some(at) = ended {
            self.close_down_to(at);
        }
    }

    /// A cell right in a table begins a row (HTML Standard 13.2.6.4.13).
    pub(super) fn begin_implied(&mut self, tag: Tag) {
        let lacks_row = self.tables.last().is_some_and(|table| !table.in_row);
        if tag.is_cell() && lacks_row {
            self.open(Name::new("tr"), Tag::Row, &Attributes::default());
        }
    }

    fn bounds_item(open: &Open) -> bool {
        open.tag.is_block() && !matches!(open.tag, Tag::Division | Tag::Paragraph)
    }

    /// The position of the innermost open element that is asked for, if none of the bounds stands further in.
    pub(super) fn innermost(
        &self,
        asked: impl Fn(&Open) -> bool,
        bound: impl Fn(&Open) -> bool,
    ) -> Option<usize> {
        for (at, open) in self.open.iter().enumerate().rev() {
            if asked(open) {
                return Some(at);
            }
            if bound(open) {
                return None;
            }
        }
        None
    }

    /// The same for the outermost of them.
    fn innermost_outer(
        &self,
        asked: impl Fn(Tag) -> bool,
        bound: impl Fn(Tag) -> bool,
    ) -> Option<usize> {
        let mut found = None;
        for (at, open) in self.open.iter().enumerate().rev() {
            if bound(open.tag) {
                break;
            }
            if asked(open.tag) {
                found = Some(at);
            }
        }
        found
    }
}
