//! Tables of contents: a list of the headings that follow says nothing that they do not. Only one that is named so is left
//! out, and only if it links to places on its own page and holds little else.

use super::Builder;

/// A table of contents has so many links at least.
const LINKS_MIN: u32 = 2;
/// The most words for each of its links.
const WORDS_MAX: u32 = 16;

/// The open one.
#[derive(Debug)]
pub(super) struct Contents {
    /// How many elements are open around it.
    around: usize,
    /// The first block in it.
    block: usize,
    /// Links within the page, and others.
    links: u32,
    others: u32,
}

impl Builder {
    pub(super) fn begin_contents(&mut self) {
        if self.contents.is_none() && self.preformatted.is_none() && self.tables.is_empty() {
            self.contents = Some(Contents {
                around: self.open.len(),
                block: self.outline.blocks.len(),
                links: 0,
                others: 0,
            });
        }
    }

    pub(super) fn link_in_contents(&mut self, is_fragment: bool) {
        if let Some(contents) = &mut self.contents {
            match is_fragment {
                true => contents.links += 1,
                false => contents.others += 1,
            }
        }
    }

    /// The element at this depth has ended: its blocks are taken back if they were nothing but a table of contents.
    pub(super) fn end_contents(&mut self, depth: usize) {
        let Some(contents) = self.contents.take_if(|open| open.around >= depth) else {
            return;
        };
        let blocks = self
            .outline
            .blocks
            .get(contents.block..)
            .unwrap_or_default();
        let words = blocks
            .iter()
            .fold(0_u32, |sum, block| sum.saturating_add(block.words));
        if contents.links < LINKS_MIN
            || contents.others > 0
            || words > contents.links.saturating_mul(WORDS_MAX)
            || !self.writer.is_empty()
        {
            return;
        }
        self.outline.blocks.truncate(contents.block);
        self.outline.players.retain(|at| *at < contents.block);
        let is_gone = |block: u32| block != u32::MAX && block as usize >= contents.block;
        while self
            .writer
            .links
            .last()
            .is_some_and(|link| is_gone(link.block))
        {
            self.writer.links.pop();
        }
        while self
            .outline
            .loose
            .last()
            .is_some_and(|(block, _)| *block >= contents.block)
        {
            self.outline.loose.pop();
        }
    }
}
