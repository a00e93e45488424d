//! Which open elements end where a block begins, though no end tag says so.

use super::Builder;
use crate::markdown::tag::Tag;

impl Builder {
    /// Ends the elements that the start of this block ends (HTML Standard 13.2.6.4.7).
    pub(super) fn end_implied(&mut self, tag: Tag) {
        let ended = match tag {
            Tag::Item => self.innermost(|tag| tag == Tag::Item, Self::bounds_item),
            Tag::Term | Tag::Definition => self.innermost(
                |tag| matches!(tag, Tag::Term | Tag::Definition),
                Self::bounds_item,
            ),
            _ if tag.is_cell() => self.innermost(
                |tag| tag.is_cell() || tag == Tag::Caption,
                |tag| matches!(tag, Tag::Table | Tag::Row),
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
        let ends_heading = tag != Tag::Division;
        let ended = self.innermost(
            |open| open == Tag::Paragraph || (ends_heading && matches!(open, Tag::Heading(_))),
            Tag::is_block,
        );
        if let Some(at) = ended {
            self.close_down_to(at);
        }
    }

    fn bounds_item(tag: Tag) -> bool {
        tag.is_block() && !matches!(tag, Tag::Division | Tag::Paragraph)
    }

    /// The position of the innermost open element that is asked for, if none of the bounds stands further in.
    fn innermost(&self, asked: impl Fn(Tag) -> bool, bound: impl Fn(Tag) -> bool) -> Option<usize> {
        for (at, open) in self.open.iter().enumerate().rev() {
            if asked(open.tag) {
                return Some(at);
            }
            if bound(open.tag) {
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
