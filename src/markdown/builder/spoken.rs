//! What a page says to those who hear it. Of two neighbours that say the same, one for eyes and one for ears alone, the
//! spoken one is taken; a cell without text says what its icon is called.

use super::Builder;
use crate::markdown::attributes::{self, Attributes};
use crate::markdown::tag::{Name, Tag};

/// Longer texts do not restate a neighbouring element.
const TEXT_BYTES_MAX: usize = 200;

const TITLE: Name = Name::new("title");

#[derive(Debug, Default)]
pub(super) struct Spoken {
    /// What is being left out.
    open: Unseen,
    /// Its text, if that may be needed.
    text: String,
    /// What was left out last, and where: nothing was written since.
    last: Option<(usize, Unseen)>,
    /// What the icon in the open cell is called.
    name: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Unseen {
    #[default]
    Other,
    /// A text for screen readers.
    ForEars,
    /// What they pass over.
    ForEyes,
    Drawing,
}

impl Builder {
    /// Whether to keep a visually hidden element because it restates a visible neighbour that was dropped.
    pub(super) fn begin_unseen(&mut self, attributes: &Attributes<'_>, is_spoken: bool) -> bool {
        let here = self.writer.position().0;
        let last = self.spoken.last.take_if(|(at, _)| *at == here);
        self.spoken.open = match is_spoken {
            true => Unseen::ForEars,
            false if attributes::is_unspoken(attributes) => Unseen::ForEyes,
            false => Unseen::Other,
        };
        let follows = last.map(|(_, unseen)| unseen);
        if is_spoken && follows == Some(Unseen::ForEyes) {
            self.spoken.open = Unseen::Other;
            return true;
        }
        if self.spoken.open != Unseen::ForEyes || follows != Some(Unseen::ForEars) {
            self.spoken.text.clear();
        }
        false
    }

    /// An icon or a drawing in a cell: what it is called.
    pub(super) fn name_in_cell(&mut self, tag: Tag, attributes: &Attributes<'_>) {
        if self.cell_says_nothing()
            && self.spoken.name.is_empty()
            && let Some(name) = attributes::spoken_name(tag, attributes)
        {
            self.spoken.name.push_str(name.trim());
            self.spoken
                .name
                .truncate(name.floor_char_boundary(TEXT_BYTES_MAX));
        }
    }

    pub(super) fn begin_drawing(&mut self) {
        self.spoken.open = Unseen::Drawing;
        self.spoken.text.clear();
    }

    /// Text of what is left out.
    pub(super) fn unseen_text(&mut self, text: &str) {
        let is_needed = match self.spoken.open {
            Unseen::Other => false,
            Unseen::ForEars => true,
            Unseen::ForEyes => {
                if text.contains(char::is_alphanumeric) {
                    let spoken = std::mem::take(&mut self.spoken.text);
                    if spoken.is_empty() {
                        self.spoken.last = Some((self.writer.position().0, Unseen::ForEyes));
                    } else {
                        self.writer.text(&spoken);
                        self.spoken.open = Unseen::Other;
                    }
                }
                false
            }
            Unseen::Drawing => self.skipped.last() == Some(&TITLE) && !self.tables.is_empty(),
        };
        let spoken = &mut self.spoken.text;
        if is_needed && spoken.len() <= TEXT_BYTES_MAX {
            spoken.push_str(&text[..text.floor_char_boundary(TEXT_BYTES_MAX)]);
        }
    }

    pub(super) fn end_unseen(&mut self) {
        let ended = std::mem::take(&mut self.spoken.open);
        let is_text = self.spoken.text.contains(char::is_alphanumeric);
        if ended == Unseen::ForEars && is_text {
            self.spoken.last = Some((self.writer.position().0, ended));
        }
        if matches!(ended, Unseen::ForEars | Unseen::Drawing)
            && is_text
            && self.cell_says_nothing()
            && self.spoken.name.is_empty()
        {
            self.spoken.name.push_str(self.spoken.text.trim());
        }
    }

    /// A block begins or ends; elements in different blocks are not neighbours.
    pub(super) fn part_unseen(&mut self) {
        self.spoken.last = None;
    }

    pub(super) fn begin_named_cell(&mut self) {
        self.spoken.name.clear();
        let blocks = self.outline.blocks.len();
        if let Some(table) = self.tables.last_mut() {
            table.blocks_before_cell = blocks;
        }
    }

    pub(super) fn end_named_cell(&mut self) {
        let name = std::mem::take(&mut self.spoken.name);
        if !name.is_empty() && self.cell_says_nothing() {
            self.writer.text(&name);
        }
    }

    fn cell_says_nothing(&self) -> bool {
        let Some(table) = self.tables.last() else {
            return false;
        };
        table.in_row
            && table.blocks_before_cell == self.outline.blocks.len()
            && self.preformatted.is_none()
            && self.writer.is_empty()
            && !self.outline.tables[table.facts as usize].arranges
    }
}
