//! What an end tag ends, and what goes on after it (HTML Standard 13.2.6.4.7).

use super::{Builder, Effect, Open};
use crate::markdown::tag::{Name, Tag};

/// How many formatting elements of one name go on when what they stand in has ended (HTML Standard 13.2.4.3).
const LASTING_MAX: usize = 3;

impl Builder {
    /// Ends the nearest block of this name, unless it stands outside of what the tag can reach.
    pub(super) fn end_block(&mut self, name: Name, tag: Tag) {
        const BODY: Name = Name::new("body");
        match self.matching_open(name, tag) {
            // Text behind `</body>` still belongs to it.
            _ if name == BODY => {}
            Some(at) if tag == Tag::Form && self.holds_blocks(at) => self.close_alone(at),
            Some(at) => self.close_down_to(at),
            // `</p>` alone makes an empty paragraph, which parts the text around it.
            None if tag == Tag::Paragraph => self.cut(false),
            None => {}
        }
    }

    /// Ends the nearest inline element of this name. What else began in it goes on.
    pub(super) fn end_inline(&mut self, name: Name, tag: Tag) {
        let Some(at) = self.matching_open(name, tag) else {
            return;
        };
        if !self.holds_blocks(at) {
            for inner in (at + 1..self.open.len()).rev() {
                if !self.lasts(&self.open[inner]) {
                    self.close_alone(inner);
                }
            }
        }
        self.close_alone(at);
    }

    /// Whether elements without a meaning of their own are known while they are open.
    fn follows_inline(&self) -> bool {
        (self.styled > 0 && self.preformatted.is_none()) || self.is_in_formula()
    }

    /// The position of the open element that an end tag ends.
    pub(super) fn matching_open(&self, name: Name, tag: Tag) -> Option<usize> {
        if tag.is_void() || (tag == Tag::Inline && !self.follows_inline()) {
            return None;
        }
        let is_asked = |open: &Open| match (tag, open.tag) {
            (Tag::Heading(_), Tag::Heading(_)) => true,
            _ => open.name == name,
        };
        self.innermost(is_asked, |open| {
            tag.is_bounded_by(open.tag) || (tag == Tag::Inline && open.tag == Tag::Math)
        })
    }

    /// Ends everything from here on. Formatting elements in it go on, though not out of a table's cell.
    pub(super) fn close_down_to(&mut self, depth: usize) {
        let mut lasting = Vec::new();
        while self.open.len() > depth {
            let last = self.open.len() - 1;
            let (tag, effect) = (self.open[last].tag, self.open[last].effect);
            if self.lasts(&self.open[last]) {
                lasting.extend(self.open.pop());
                self.forget(last);
            } else {
                let ends_listing = self.ends_listing(last);
                if tag.is_cell() && effect != Effect::Skip {
                    self.end_named_cell();
                } else if tag == Tag::Item {
                    self.item_label = None;
                }
                if tag.is_block() && effect != Effect::Skip {
                    self.cut(ends_listing || effect == Effect::Preformatted);
                }
                if ends_listing {
                    self.preformatted = None;
                }
                self.open.pop();
                self.forget(last);
                if tag.is_block() {
                    self.end_contents(last);
                }
                if tag.is_cell() || tag == Tag::Caption {
                    for inner in lasting.drain(..) {
                        self.undo(inner.effect);
                    }
                }
                self.undo(effect);
            }
        }
        for open in lasting.into_iter().rev() {
            self.go_on(open);
        }
    }

    /// What is known of the elements from here on is over.
    fn forget(&mut self, depth: usize) {
        self.placed = self.placed.min(depth);
        self.language.take_if(|(around, _)| *around >= depth);
    }

    fn go_on(&mut self, open: Open) {
        let same = self.open.iter().filter(|other| other.name == open.name);
        if same.count() < LASTING_MAX {
            self.open.push(open);
        } else {
            self.undo(open.effect);
        }
    }

    /// Ends one element and leaves open what stands in it.
    pub(super) fn close_alone(&mut self, at: usize) {
        let open = self.open.remove(at);
        if at < self.placed {
            self.placed -= 1;
        }
        self.language.take_if(|(around, _)| *around == at);
        if let Some((around, _)) = &mut self.language
            && *around > at
        {
            *around -= 1;
        }
        self.undo(open.effect);
    }

    fn holds_blocks(&self, at: usize) -> bool {
        self.open[at + 1..].iter().any(|open| open.tag.is_block())
    }

    /// Whether the element goes on when what it stands in has ended. Not so a link that has its text: a missing `</a>`
    /// would make the rest of the page one link, as it does in a browser.
    fn lasts(&self, open: &Open) -> bool {
        match open.effect {
            Effect::Skip | Effect::Math | Effect::MathPart => false,
            Effect::LineOfCode | Effect::LinkInCode(_) => false,
            Effect::Raised | Effect::Bracket => false,
            Effect::Link { text, .. } => text == self.writer.position().0,
            _ => open.tag.is_formatting(open.name),
        }
    }
}
