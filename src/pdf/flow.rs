//! Page layout: places blocks one below the other over as many pages as needed. Draws nothing.

mod table;

use std::collections::HashMap;
use std::num::NonZeroU16;

use krilla::tagging::{ListNumbering, Tag, TagKind};

use crate::pdf::PdfError;
use crate::pdf::block::{Block, Heading, Kind, Link, Span, Style, Tone};
use crate::pdf::shape::{Set, Typesetter};

/// A4, in points.
pub(super) const WIDTH: f32 = 595.28;
pub(super) const HEIGHT: f32 = 841.89;
pub(super) const MARGIN: f32 = 54.0;
const TOP: f32 = 58.0;
const BOTTOM: f32 = HEIGHT - 62.0;
pub(super) const BODY_WIDTH: f32 = WIDTH - 2.0 * MARGIN;
/// More than the largest bundle fills.
const PAGES_MAX: usize = 400;
/// So much of what follows a heading stands below it on the same page.
const KEPT_BELOW: f32 = 64.0;
/// So much of what follows a lead stands below it on the same page.
const LED: f32 = 32.0;
const QUOTE_INDENT: f32 = 12.0;
const ITEM_INDENT: f32 = 12.0;
const PANEL_PADDING: f32 = 12.0;
const PANEL_GAP: f32 = 5.0;
/// A paragraph of so few lines is not broken.
const WHOLE_LINES: usize = 3;

/// Something on a page.
#[derive(Debug)]
pub(super) enum Item {
    Line {
        set: usize,
        line: usize,
        x: f32,
        /// Where the top of the text's first line would be.
        y: f32,
        /// What it is read as; nothing for what repeats.
        leaf: Option<usize>,
    },
    Fill {
        x: f32,
        y: f32,
        width: f32,
        height: f32,
        tone: Tone,
    },
    /// The page on which a heading stands, at the right of its line of the contents.
    PageOf {
        anchor: String,
        baseline: f32,
        leaf: usize,
    },
}

#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) items: Vec<Item>,
}

/// What a reader who hears the document is told it is.
#[derive(Debug)]
pub(super) enum Node {
    Leaf(usize),
    Group(TagKind, Vec<Node>),
}

/// A heading and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) heading: Heading,
    pub(super) page: usize,
    pub(super) y: f32,
}

/// Everything in its place.
#[derive(Default)]
pub(super) struct Flow {
    pub(super) sets: Vec<Set>,
    pub(super) pages: Vec<Page>,
    pub(super) nodes: Vec<Node>,
    pub(super) headings: Vec<Placed>,
    pub(super) leaves: usize,
    /// Where links may lead beside the headings: page and height.
    places: HashMap<String, (usize, f32)>,
    y: f32,
}

impl Flow {
    pub(super) fn of(blocks: &[Block], typesetter: &mut Typesetter) -> Result<Flow, PdfError> {
        let mut flow = Flow::default();
        flow.pages.push(Page::default());
        flow.y = TOP;
        let mut at = 0;
        while at < blocks.len() {
            if flow.pages.len() > PAGES_MAX {
                return Err(PdfError::TooLong);
            }
            match &blocks[at] {
                Block::Heading(heading) => flow.heading(heading, typesetter),
                Block::Text {
                    kind: Kind::Item, ..
                } => {
                    let is_item = |block: &&Block| {
                        matches!(
                            block,
                            Block::Text {
                                kind: Kind::Item,
                                ..
                            }
                        )
                    };
                    let count = blocks[at..].iter().take_while(is_item).count();
                    flow.list(&blocks[at..at + count], typesetter);
                    at += count - 1;
                }
                Block::Text { kind, spans, after } => flow.text(*kind, spans, *after, typesetter),
                Block::Table(table) => flow.table(table, typesetter),
                Block::Panel(paragraphs) => flow.panel(paragraphs, typesetter),
                Block::Contents => flow.contents(&blocks[at..], typesetter),
                Block::Anchor(name) => flow.anchor(name),
                Block::Page => flow.break_page(),
            }
            at += 1;
        }
        Ok(flow)
    }

    /// Where a link leads. A passage that is not shown is in its source's section (`S2.E1` in `source-S2`).
    pub(super) fn place(&self, anchor: &str) -> Option<(usize, f32)> {
        let of_heading = |anchor: &str| {
            let placed = self
                .headings
                .iter()
                .find(|placed| placed.heading.anchor == anchor)?;
            Some((placed.page, placed.y))
        };
        let whole = |anchor: &str| {
            self.places
                .get(anchor)
                .copied()
                .or_else(|| of_heading(anchor))
        };
        let source = || whole(&format!("source-{}", anchor.split_once('.')?.0));
        whole(anchor).or_else(source)
    }

    /// The first of a name counts.
    fn anchor(&mut self, name: &str) {
        if self.room() < KEPT_BELOW {
            self.break_page();
        }
        let place = (self.pages.len() - 1, self.y);
        self.places.entry(name.to_owned()).or_insert(place);
    }

    fn add(&mut self, item: Item) {
        if let Some(page) = self.pages.last_mut() {
            page.items.push(item);
        }
    }

    fn leaf(&mut self) -> usize {
        self.leaves += 1;
        self.leaves - 1
    }

    fn room(&self) -> f32 {
        BOTTOM - self.y
    }

    fn break_page(&mut self) {
        if self.y > TOP {
            self.pages.push(Page::default());
            self.y = TOP;
        }
    }

    fn fill(&mut self, x: f32, y: f32, width: f32, height: f32, tone: Tone) {
        self.add(Item::Fill {
            x,
            y,
            width,
            height,
            tone,
        });
    }

    fn heading(&mut self, heading: &Heading, typesetter: &mut Typesetter) {
        let (size, before, after) = match heading.level {
            0 => (21.0, 0.0, 12.0),
            1 => (15.0, 16.0, 8.0),
            2 => (11.5, 12.0, 5.0),
            _ => (9.5, 8.0, 3.0),
        };
        let tone = if heading.level == 1 {
            Tone::Accent
        } else {
            Tone::Ink
        };
        let style = Style::BODY.sized(size).bold().toned(tone);
        let set = typesetter.set(&[Span::new(&heading.text, style)], BODY_WIDTH);
        if self.y > TOP {
            self.y += before;
        }
        if self.room() < set.height() + after + KEPT_BELOW {
            self.break_page();
        }
        self.headings.push(Placed {
            heading: heading.clone(),
            page: self.pages.len() - 1,
            y: self.y,
        });
        let leaf = self.leaf();
        let level = NonZeroU16::new(heading.level.max(1)).unwrap_or(NonZeroU16::MIN);
        let tag = Tag::Hn(level, Some(heading.text.clone()));
        self.nodes
            .push(Node::Group(tag.into(), vec![Node::Leaf(leaf)]));
        self.lines(set, MARGIN, Some(leaf), None);
        self.y += after;
    }

    fn text(&mut self, kind: Kind, spans: &[Span], after: f32, typesetter: &mut Typesetter) {
        let indent = if kind == Kind::Quote {
            QUOTE_INDENT
        } else {
            0.0
        };
        let set = typesetter.set(spans, BODY_WIDTH - indent);
        if kind == Kind::Lead && self.room() < set.height() + LED {
            self.break_page();
        }
        let leaf = self.leaf();
        let own = Node::Group(Tag::P.into(), vec![Node::Leaf(leaf)]);
        self.nodes.push(match kind {
            Kind::Quote => Node::Group(Tag::BlockQuote.into(), vec![own]),
            _ => own,
        });
        let bar = (kind == Kind::Quote).then_some(Tone::Rule);
        self.lines(set, MARGIN + indent, Some(leaf), bar);
        self.y += after;
    }

    fn list(&mut self, items: &[Block], typesetter: &mut Typesetter) {
        let mut nodes = Vec::new();
        for item in items {
            let Block::Text { spans, after, .. } = item else {
                continue;
            };
            let dot = typesetter.set(
                &[Span::new("•", Style::BODY.toned(Tone::Muted))],
                ITEM_INDENT,
            );
            let set = typesetter.set(spans, BODY_WIDTH - ITEM_INDENT);
            if self.room() < set.height() && set.lines() <= WHOLE_LINES {
                self.break_page();
            }
            let (mark, body) = (self.leaf(), self.leaf());
            let y = self.y;
            let dot_at = self.sets.len();
            self.sets.push(dot);
            self.add(Item::Line {
                set: dot_at,
                line: 0,
                x: MARGIN,
                y,
                leaf: Some(mark),
            });
            self.lines(set, MARGIN + ITEM_INDENT, Some(body), None);
            self.y += after;
            let label = Node::Group(Tag::Lbl.into(), vec![Node::Leaf(mark)]);
            let body = Node::Group(Tag::LBody.into(), vec![Node::Leaf(body)]);
            nodes.push(Node::Group(Tag::LI.into(), vec![label, body]));
        }
        self.y += 4.0;
        self.nodes
            .push(Node::Group(Tag::L(ListNumbering::Disc).into(), nodes));
    }

    /// A text's lines, over as many pages as they need, with a bar beside them where a tone is given.
    fn lines(&mut self, set: Set, x: f32, leaf: Option<usize>, bar: Option<Tone>) {
        let (count, height) = (set.lines(), set.height());
        if height > self.room() && (count <= WHOLE_LINES || height <= 40.0) {
            self.break_page();
        }
        let index = self.sets.len();
        self.sets.push(set);
        let mut start = self.y;
        let mut offset = self.sets[index].extent(0).0;
        for line in 0..count {
            let (top, bottom) = self.sets[index].extent(line);
            if self.y + bottom - top > BOTTOM && self.y > TOP {
                self.bar(bar, x, start);
                self.break_page();
                (start, offset) = (self.y, top);
            }
            let y = start - offset;
            self.add(Item::Line {
                set: index,
                line,
                x,
                y,
                leaf,
            });
            self.y = start + bottom - offset;
        }
        self.bar(bar, x, start);
    }

    fn bar(&mut self, tone: Option<Tone>, x: f32, top: f32) {
        if let Some(tone) = tone {
            let height = self.y - top;
            self.fill(x - QUOTE_INDENT + 2.0, top, 2.0, height, tone);
        }
    }

    fn panel(&mut self, paragraphs: &[Vec<Span>], typesetter: &mut Typesetter) {
        let width = BODY_WIDTH - 2.0 * PANEL_PADDING;
        let sets: Vec<Set> = paragraphs
            .iter()
            .map(|spans| typesetter.set(spans, width))
            .collect();
        let gaps = PANEL_GAP * sets.len().saturating_sub(1) as f32;
        let height = sets.iter().map(Set::height).sum::<f32>() + gaps + 2.0 * PANEL_PADDING;
        if height > self.room() {
            self.break_page();
        }
        self.fill(MARGIN, self.y, BODY_WIDTH, height, Tone::Sunken);
        self.fill(MARGIN, self.y, 3.0, height, Tone::Accent);
        self.y += PANEL_PADDING;
        for set in sets {
            let leaf = self.leaf();
            self.nodes
                .push(Node::Group(Tag::P.into(), vec![Node::Leaf(leaf)]));
            self.lines(set, MARGIN + PANEL_PADDING, Some(leaf), None);
            self.y += PANEL_GAP;
        }
        self.y += PANEL_PADDING + 6.0 - PANEL_GAP;
    }

    fn contents(&mut self, blocks: &[Block], typesetter: &mut Typesetter) {
        let headings = blocks.iter().filter_map(|block| match block {
            Block::Heading(heading) if (1..=2).contains(&heading.level) => Some(heading),
            _ => None,
        });
        let mut nodes = Vec::new();
        for heading in headings {
            let indent = if heading.level == 1 { 0.0 } else { 14.0 };
            let style = if heading.level == 1 {
                Style::BODY.bold()
            } else {
                Style::SMALL
            };
            let span = Span {
                link: Some(Link::Place(heading.anchor.clone())),
                ..Span::new(shortened(&heading.text), style)
            };
            let set = typesetter.set(&[span], BODY_WIDTH - indent - 30.0);
            if heading.level == 1 && self.y > TOP {
                self.y += 3.0;
            }
            let leaf = self.leaf();
            nodes.push(Node::Group(Tag::TOCI.into(), vec![Node::Leaf(leaf)]));
            let last = set.layout.get(set.lines().saturating_sub(1));
            let baseline = last.map_or(0.0, |line| {
                line.metrics().baseline - line.metrics().block_max_coord
            });
            self.lines(set, MARGIN + indent, Some(leaf), None);
            let baseline = self.y + baseline;
            self.add(Item::PageOf {
                anchor: heading.anchor.clone(),
                baseline,
                leaf,
            });
        }
        self.nodes.push(Node::Group(Tag::TOC.into(), nodes));
        self.y += 6.0;
    }
}

/// One line of the contents.
fn shortened(text: &str) -> String {
    const CHARS_MAX: usize = 84;
    if text.chars().count() <= CHARS_MAX {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(CHARS_MAX - 1).collect();
    short.truncate(short.trim_end().len());
    short.push('…');
    short
}
