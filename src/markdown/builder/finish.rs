//! The end of a block: its text is closed, and it takes its place in the outline.

use super::Builder;
use crate::markdown::inline::Finished;
use crate::markdown::outline::{
    BLOCKS_MAX, Block, Concealed, Kind, Node, NodeId, PAGE, Shape, Span,
};
use crate::markdown::tag::Tag;

/// What a page asks about itself.
const FEEDBACK: [&str; 14] = [
    "Did this page help you?",
    "Did you find this article helpful?",
    "Did you find this page helpful?",
    "Did you find what you were looking for?",
    "Is this page helpful?",
    "Was this article helpful?",
    "Was this content helpful?",
    "Was this helpful?",
    "Was this page helpful?",
    "Was this page useful?",
    "Was this section helpful?",
    "Was this topic helpful?",
    "War diese Seite hilfreich?",
    "War dieser Artikel hilfreich?",
];

/// Texts of buttons that act on the page or pass it on.
const BUTTONS: [&str; 30] = [
    "Close",
    "Collapse",
    "Collapse all",
    "Copied",
    "Copied!",
    "Copy",
    "Copy code",
    "Copy item path",
    "Copy link",
    "Copy page",
    "Copy to clipboard",
    "Download",
    "Expand",
    "Expand all",
    "Like",
    "Load more",
    "No",
    "Print",
    "Read more",
    "Reply",
    "Report",
    "Save",
    "Search",
    "See more",
    "Share",
    "Show less",
    "Show more",
    "Submit",
    "View more",
    "Yes",
];

/// Texts of elements that are pressed and say nothing.
fn is_control(text: &str, around: Option<Tag>) -> bool {
    const CONTROLS: [&str; 4] = [
        "Click to expand...",
        "Click to expand…",
        "Click to collapse...",
        "Click to collapse…",
    ];
    let text = match text.strip_prefix('[') {
        Some(link) => link.split("](").next().unwrap_or(link),
        None => text,
    };
    CONTROLS.contains(&text)
        || FEEDBACK.contains(&text)
        || (around == Some(Tag::Button) && BUTTONS.iter().any(|it| it.eq_ignore_ascii_case(text)))
}

/// Code with more than this is no example that a table has beside its other cells.
const CODE_IN_CELL_BYTES_MAX: usize = 800;
const CODE_IN_CELL_LINES_MAX: usize = 12;

fn is_of_cell(code: &str) -> bool {
    code.len() <= CODE_IN_CELL_BYTES_MAX && code.lines().count() <= CODE_IN_CELL_LINES_MAX
}

impl Builder {
    /// A block begins or ends here; inside preformatted text that is only a new line.
    pub(super) fn cut(&mut self, ends_preformatted: bool) {
        self.seams.clear();
        self.part_unseen();
        if self.preformatted.is_none() || ends_preformatted {
            self.finish_block();
        } else if !self.writer.is_at_line_start() {
            self.writer.preformatted("\n");
        }
    }

    pub(super) fn finish_block(&mut self) {
        if !self.is_full() || self.preformatted.is_some() {
            self.write_block();
        } else if !self.writer.is_empty() {
            self.writer.line_break();
        }
    }

    /// Whether boundaries of blocks have become line breaks.
    pub(super) fn is_full(&self) -> bool {
        self.outline.blocks.len() >= BLOCKS_MAX
    }

    pub(super) fn write_block(&mut self) {
        let (finished, kind) = match self.preformatted.take() {
            Some(preformatted) => {
                let finished = self.writer.finish_preformatted();
                let language = match &finished {
                    Some(_) => self
                        .writer
                        .label(preformatted.language.as_deref().unwrap_or("")),
                    None => Span::default(),
                };
                self.preformatted = Some(preformatted);
                (finished, Kind::Code(language))
            }
            None if self.writer.is_empty() => {
                self.writer.finish(u32::MAX);
                return;
            }
            None => self.finish_text(),
        };
        let Some(mut finished) = finished else { return };
        if !self.full && kind == Kind::Paragraph {
            let text = &self.writer.text[finished.text.range()];
            let around = self.open.iter().rev().map(|open| open.tag);
            let around = around.into_iter().find(|tag| tag.is_block());
            if is_control(text, around) || self.is_language_label(text) {
                return;
            }
        }
        if matches!(kind, Kind::Code(_)) && self.is_numbering(&finished) {
            return;
        }
        let is_byline = std::mem::take(&mut self.is_byline);
        self.settle_note(&mut finished);
        let node = self.place();
        self.place_panels();
        if let Some(table) = self.tables.last() {
            let facts = &mut self.outline.tables[table.facts as usize];
            facts.words = facts.words.saturating_add(finished.words);
            let heads_cell = matches!(kind, Kind::Heading(..))
                && self
                    .open
                    .iter()
                    .rev()
                    .take(16)
                    .any(|open| open.tag == Tag::HeaderCell);
            let text = &self.writer.text[finished.text.range()];
            let is_small_code = kind.is_code() && is_of_cell(text);
            facts.has_code |= is_small_code;
            facts.arranges |= !heads_cell && !is_small_code && kind != Kind::Paragraph;
        }
        self.outline.blocks.push(Block {
            kind,
            node,
            text: finished.text,
            words: finished.words,
            link_words: finished.link_words,
            is_byline,
            counts: finished.counts,
        });
    }

    fn finish_text(&mut self) -> (Option<Finished>, Kind) {
        let level = self
            .open
            .iter()
            .rev()
            .take(16)
            .find_map(|open| match open.tag {
                Tag::Heading(level) => Some(Some(level)),
                Tag::Division | Tag::Button => None,
                tag if tag.is_block() => Some(None),
                _ => None,
            });
        let kind = match level.flatten() {
            Some(level) => {
                let plain = self.writer.take_plain_label();
                Kind::Heading(level, plain)
            }
            None => Kind::Paragraph,
        };
        let block = u32::try_from(self.outline.blocks.len()).unwrap_or(u32::MAX);
        let finished = self.writer.finish(block);
        let is_listing = finished.as_ref().is_some_and(|found| found.is_listing);
        let kind = if is_listing {
            Kind::Code(Span::default())
        } else {
            kind
        };
        (finished, kind)
    }

    /// The node of the innermost open block. Elements get one only once they hold a block.
    pub(super) fn place(&mut self) -> NodeId {
        let mut parent = match self.placed {
            0 => PAGE,
            placed => self.open[placed - 1].node,
        };
        for open in &mut self.open[self.placed..] {
            if open.tag.is_block() {
                let id = NodeId::try_from(self.outline.nodes.len()).unwrap_or(PAGE);
                let container = match open.shape {
                    Shape::Plain => self.outline.node(parent).container,
                    _ => id,
                };
                self.outline.nodes.push(Node {
                    parent,
                    depth: self.outline.node(parent).depth + 1,
                    tag: open.tag,
                    class_hash: open.names.class_hash,
                    names: open.names.weigh(&self.model.names),
                    role: open.role,
                    is_comment: open.is_comment,
                    post: open.place.post,
                    part: open.place.part,
                    shape: open.shape,
                    container,
                });
                if let Some(hash) = open.concealed {
                    self.outline
                        .concealed
                        .push(Concealed { node: id, id: hash });
                }
                if self.is_training {
                    self.outline.bins.push((id, open.names.bins().to_vec()));
                }
                parent = id;
            }
            open.node = parent;
        }
        self.placed = self.open.len();
        parent
    }
}
