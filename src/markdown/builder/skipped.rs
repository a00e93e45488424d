//! The content of an element that is left out: only where it ends matters.

use super::{Builder, DEPTH_MAX};
use crate::markdown::tag::{Name, Tag};

/// An end tag in here ends nothing outside (HTML Standard 13.2.4.2, "in scope").
const CLOSED: [Name; 3] = [Name::new("template"), SELECT, Name::new("object")];

/// A menu of choices; what belongs to the table around it ends it (HTML Standard 13.2.6.4.17).
const SELECT: Name = Name::new("select");

const TABLE: Name = Name::new("table");

/// Drawings, and where HTML begins again in them.
const DRAWING: Name = Name::new("svg");
const HTML_IN_DRAWING: [Name; 3] = [
    Name::new("foreignobject"),
    Name::new("desc"),
    Name::new("title"),
];

impl Builder {
    /// Whether the start tag belongs to what is left out. If not, the element that is left out has ended before it.
    pub(super) fn start_skipped(&mut self, name: Name, tag: Tag, closes_itself: bool) -> bool {
        let own = self.skipped_name();
        let is_drawing = own == Some(DRAWING);
        let has_ended = match tag {
            _ if own == Some(SELECT) => tag.is_part_of_table() && !self.tables.is_empty(),
            _ if is_drawing && tag.ends_drawing() => {
                let mut around = self.skipped.iter();
                !around.any(|open| HTML_IN_DRAWING.contains(open))
            }
            _ if self.skipping.is_some_and(Tag::is_cell) => {
                let ends_cell = tag.is_part_of_table() && tag != Tag::Table;
                ends_cell && !self.skipped.contains(&TABLE)
            }
            _ => false,
        };
        if has_ended {
            self.close_innermost();
            return false;
        }
        let is_foreign = is_drawing || self.is_in_formula();
        let has_no_end = tag.is_void() || (is_foreign && closes_itself);
        if !has_no_end && self.skipped.len() < DEPTH_MAX {
            self.skipped.push(name);
        }
        true
    }

    /// Whether the end tag belongs to what is left out, its own end included.
    pub(super) fn end_skipped(&mut self, name: Name, tag: Tag) -> bool {
        if let Some(at) = self.skipped.iter().rposition(|open| *open == name) {
            self.skipped.truncate(at);
            return true;
        }
        let own = self.skipped_name();
        if own == Some(name) {
            self.close_innermost();
            return true;
        }
        let is_closed = own
            .is_some_and(|own| CLOSED.contains(&own) && !(own == SELECT && tag.is_part_of_table()));
        if is_closed || self.matching_open(name, tag).is_none() {
            return true;
        }
        // An element around it ends, and so its own end tag is missing.
        self.close_innermost();
        false
    }

    fn skipped_name(&self) -> Option<Name> {
        self.open.last().map(|open| open.name)
    }

    fn close_innermost(&mut self) {
        self.close_down_to(self.open.len().saturating_sub(1));
    }
}
