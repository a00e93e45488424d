//! Tags and text in, in document order, an [`Outline`] out. Keeps a stack of open elements, because the tokenizer
//! builds no tree: which tags end which elements is HTML's, made short. Knows nothing of the tokenizer itself, of
//! selection or of how blocks are laid out.

mod blocks;
mod classes;
mod code;
mod ends;
mod footnotes;
mod images;
mod implied;
mod math;
mod skipped;

use std::sync::Arc;

use super::attributes::{self, Attributes};
use super::inline::{Mark, Writer};
use super::links::Links;
use super::metadata::Collected;
use super::outline::{Block, Kind, Node, NodeId, Outline, PAGE, Role, Shape, Span};
use super::select::counts::Counts;
use super::select::model::Model;
use super::select::names::Names;
use super::tag::{Name, Tag};

/// How deep elements may nest before the rest is read flat. Browsers draw the line at the same depth.
const DEPTH_MAX: usize = 512;

/// From so many blocks on, the rest of the page is one more: each takes memory beside its text.
const BLOCKS_MAX: usize = 18_432;

#[derive(Debug)]
pub(super) struct Builder {
    full: bool,
    /// Weighs the names of elements.
    model: Arc<Model>,
    /// Whether the names on the elements are recorded.
    pub(super) is_training: bool,
    pub(super) collected: Collected,
    links: Links,
    writer: Writer,
    outline: Outline,
    open: Vec<Open>,
    /// How many of the open elements already have a node.
    placed: usize,
    /// The innermost open element is one whose whole content is left out.
    skipping: Option<Tag>,
    /// The elements that are open in there, as far as their end tags need them.
    skipped: Vec<Name>,
    /// The language of the open `<pre>`.
    preformatted: Option<Preformatted>,
    /// The code language that an open element names, and how many are open around that element.
    language: Option<(usize, String)>,
    footnotes: footnotes::Footnotes,
    images: images::Images,
    math: math::Math,
    tables: Vec<OpenTable>,
    classes: classes::Classes,
}

/// An open element.
#[derive(Debug)]
struct Open {
    name: Name,
    tag: Tag,
    role: Role,
    names: Names,
    shape: Shape,
    effect: Effect,
    node: NodeId,
    /// The number that the next item of this list gets.
    next_number: u32,
}

/// What has to be undone when the element ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    None,
    Mark(Mark),
    Code,
    /// Where its text began, and whether it leads to another place on the same page.
    Link {
        text: usize,
        plain: usize,
        is_fragment: bool,
    },
    Quotation,
    Preformatted,
    /// A block in preformatted text, and where its text began.
    Line(usize),
    /// A piece of code in preformatted text, which may be one line of several.
    LineOfCode,
    /// Where the text of a link in preformatted text began.
    LinkInCode(usize),
    Math,
    MathPart,
    Skip,
    Table,
    Row,
}

#[derive(Debug)]
struct Preformatted {
    language: Option<String>,
    has_language_of_its_own: bool,
    /// Where the last `<code>` in it ended.
    code_end: Option<usize>,
    /// Links, with their texts, of text that is no code.
    links: Vec<(String, String)>,
}

#[derive(Debug, Default)]
struct OpenTable {
    facts: u32,
    in_row: bool,
    in_head: bool,
    /// It shows code, with numbers beside the lines.
    is_listing: bool,
    column: u16,
    /// For each column, how many rows a cell above still covers.
    covered: Vec<u16>,
}

impl Builder {
    pub(super) fn new(links: Links, full: bool, model: Arc<Model>) -> Builder {
        Builder {
            full,
            is_training: false,
            model,
            collected: Collected::default(),
            links,
            writer: Writer::default(),
            outline: Outline::new(),
            open: Vec::new(),
            placed: 0,
            skipping: None,
            skipped: Vec::new(),
            preformatted: None,
            language: None,
            footnotes: footnotes::Footnotes::default(),
            images: images::Images::default(),
            math: math::Math::default(),
            tables: Vec::new(),
            classes: classes::Classes::default(),
        }
    }

    /// A start tag. `closes_itself` says that it is written `<x/>`.
    pub(super) fn start(
        &mut self,
        name: Name,
        tag: Tag,
        closes_itself: bool,
        attributes: &Attributes<'_>,
    ) {
        if self.skipping.is_some() && self.start_skipped(name, tag, closes_itself) {
            return;
        }
        match tag {
            Tag::Meta => self.collected.meta(attributes),
            Tag::Link => self.collected.link(attributes),
            Tag::Html => self.collected.html(attributes),
            Tag::Base => self.links.set_base(attributes),
            Tag::Break => self.line_break(),
            Tag::Rule => self.rule(),
            Tag::Image => self.image(attributes),
            Tag::Source => self.images.source = self.links.source(attributes),
            Tag::Input => self.input(attributes),
            Tag::Void => {}
            _ => {
                if tag == Tag::Time {
                    self.collected.time(attributes);
                }
                let around = self.open.len();
                self.open(name, tag, attributes);
                if closes_itself && self.is_in_formula() && self.open.len() > around {
                    self.close_alone(around);
                }
            }
        }
    }

    pub(super) fn end(&mut self, name: Name, tag: Tag) {
        if self.skipping.is_some() && self.end_skipped(name, tag) {
            return;
        }
        match tag {
            Tag::Break => self.line_break(),
            _ if tag.is_block() => self.end_block(name, tag),
            _ => self.end_inline(name, tag),
        }
    }

    /// The text of a whole text node, entities decoded.
    pub(super) fn text(&mut self, text: &str) {
        match (&self.skipping, &self.preformatted) {
            (Some(tag), _) => self.collected.skipped_text(*tag, text),
            (None, Some(_)) => self.preformatted_text(text),
            (None, None) => {
                if !self.math_text(text) {
                    self.writer.text(text);
                }
            }
        }
    }

    /// Text that the tokenizer delivers without looking for markup in it: scripts, styles, `<noscript>`.
    pub(super) fn raw_text(&mut self, text: &str) {
        match self.skipping {
            Some(Tag::Noscript) => {
                self.images.noscript_text(text);
                self.collected.noscript_text(text);
            }
            Some(Tag::Script) => {
                self.math_script_text(text);
                self.collected.scripts.text(text);
            }
            _ => {}
        }
    }

    pub(super) fn finish(mut self) -> (Outline, Collected, Links) {
        self.collected.finish(self.skipping.is_some());
        self.close_down_to(0);
        self.write_block();
        self.outline.text = self.writer.text;
        self.outline.labels = self.writer.labels;
        self.outline.links = self.writer.links;
        self.outline
            .links
            .retain(|link| (link.block as usize) < self.outline.blocks.len());
        (self.outline, self.collected, self.links)
    }

    fn open(&mut self, name: Name, tag: Tag, attributes: &Attributes<'_>) {
        // A button in code is one to copy it.
        let is_block = tag.is_block() && !(tag == Tag::Button && self.preformatted.is_some());
        if is_block {
            self.end_formula();
            self.end_implied(tag);
            self.cut(false);
            self.begin_implied(tag);
        } else if tag == Tag::Anchor {
            self.end_open_anchor();
        }
        if self.open.len() >= DEPTH_MAX {
            return;
        }
        let mut open = Open {
            name,
            tag,
            role: Role::None,
            names: Names::default(),
            shape: Shape::Plain,
            effect: Effect::None,
            node: PAGE,
            next_number: 1,
        };
        if is_block {
            let value = attributes.raw("class").unwrap_or_default();
            let class = self.classes.of(value);
            let signs = class.signs;
            open.names = Names::of(attributes, class.names(value));
            open.role = attributes::role(tag, attributes, signs);
            self.begin_block(&mut open, attributes);
            if signs.is_highlighter {
                self.note_language(&open, attributes);
            }
        } else if !self.begin_inline(&mut open, attributes) {
            return;
        }
        if open.effect == Effect::Skip {
            self.skipping = Some(tag);
            self.skipped.clear();
        }
        self.open.push(open);
    }

    /// Whether the element needs to be known while it is open.
    fn begin_inline(&mut self, open: &mut Open, attributes: &Attributes<'_>) -> bool {
        let tag = open.tag;
        if !tag.is_skipped()
            && self.preformatted.is_none()
            && let Some(effect) = self.begin_math(tag, attributes)
        {
            open.effect = effect;
            return true;
        }
        open.effect = match tag {
            _ if tag.is_skipped() => {
                if tag == Tag::Script {
                    self.begin_math_script(attributes);
                }
                self.collected.skipped(tag, attributes);
                Effect::Skip
            }
            Tag::Button => Effect::Skip,
            _ if self.preformatted.is_some() => {
                if attributes::is_beside_code(attributes) {
                    Effect::Skip
                } else if tag == Tag::Code {
                    self.begin_line_of_code(attributes)
                } else if tag == Tag::Anchor {
                    self.begin_link_in_code(attributes)
                } else if tag.is_formatting(open.name) {
                    Effect::None
                } else {
                    return false;
                }
            }
            _ if !self.full && self.is_hidden(attributes) => Effect::Skip,
            Tag::Strong => self.begin_mark(Mark::Strong),
            Tag::Emphasis => self.begin_mark(Mark::Emphasis),
            Tag::Strike => self.begin_mark(Mark::Strike),
            Tag::Code => {
                self.writer.begin_code(self.tables.is_empty());
                Effect::Code
            }
            Tag::Quotation => {
                self.writer.text("“");
                Effect::Quotation
            }
            Tag::Anchor => self.begin_anchor(attributes),
            Tag::Superscript => {
                self.writer.raise();
                return false;
            }
            _ => return false,
        };
        true
    }

    /// What stands in a comment, with its end mark.
    pub(super) fn comment(&mut self, text: &str) {
        self.collected.comment(text);
    }

    fn is_hidden(&mut self, attributes: &Attributes<'_>) -> bool {
        let class = attributes.raw("class");
        class.is_some_and(|value| self.classes.of(value).signs.hides)
            || attributes::is_hidden_beside_class(attributes)
    }

    fn begin_mark(&mut self, mark: Mark) -> Effect {
        self.writer.begin(mark);
        Effect::Mark(mark)
    }

    fn begin_anchor(&mut self, attributes: &Attributes<'_>) -> Effect {
        let (text, plain) = self.writer.position();
        let href = attributes.get("href").unwrap_or_default();
        let is_fragment = href.trim_start().starts_with('#');
        if is_fragment {
            self.begin_reference(&href);
        } else if let Some(url) = self.links.page(&href) {
            let rel = attributes.get("rel").unwrap_or_default();
            let title = attributes.get("title").unwrap_or_default();
            let rel = match rel.char_indices().nth(100) {
                Some((end, _)) => rel[..end].to_owned(),
                None => rel.into_owned(),
            };
            self.writer.begin_link(url, rel, title.into_owned());
        }
        Effect::Link {
            text,
            plain,
            is_fragment,
        }
    }

    fn is_inside(&self, asked: impl Fn(Tag) -> bool) -> bool {
        self.open.iter().rev().take(16).any(|open| asked(open.tag))
    }

    fn end_open_anchor(&mut self) {
        if let Some(at) = self
            .open
            .iter()
            .rposition(|open| matches!(open.effect, Effect::Link { .. } | Effect::LinkInCode(_)))
        {
            self.close_alone(at);
        }
    }

    /// Takes back what an element did to the text in it.
    fn undo(&mut self, effect: Effect) {
        match effect {
            Effect::None => {}
            Effect::Mark(mark) => self.writer.end(mark),
            Effect::Code => self.writer.end_code(),
            Effect::Quotation => self.writer.text("”"),
            Effect::Link {
                text,
                plain,
                is_fragment,
            } => self.end_anchor(text, plain, is_fragment),
            Effect::Skip => {
                self.skipping = None;
                self.noscript_image();
                self.end_math_script();
            }
            Effect::Preformatted => self.end_preformatted(),
            Effect::Math => self.end_math(),
            Effect::MathPart => self.end_part(),
            Effect::Line(from) => self.end_line(from),
            Effect::LineOfCode => self.end_line_of_code(),
            Effect::LinkInCode(from) => self.end_link_in_code(from),
            Effect::Table => {
                self.tables.pop();
            }
            Effect::Row => {
                if let Some(table) = self.tables.last_mut() {
                    table.in_row = false;
                    for rows in &mut table.covered {
                        *rows = rows.saturating_sub(1);
                    }
                }
            }
        }
    }

    /// The sign that many headings carry to be linked to is no part of them.
    fn end_anchor(&mut self, text: usize, plain: usize, is_fragment: bool) {
        self.writer.end_link();
        if !is_fragment || !self.writer.is_in_block(text) {
            return;
        }
        if let Some(read) = self.writer.plain().get(plain..)
            && matches!(
                read.trim(),
                "#" | "¶" | "§" | "🔗" | "🔗\u{FE0E}" | "Permalink"
            )
        {
            self.writer.drop_link_text(plain);
        } else {
            self.end_reference(plain);
        }
    }

    /// A block begins or ends here; inside preformatted text that is only a new line.
    fn cut(&mut self, ends_preformatted: bool) {
        if self.preformatted.is_none() || ends_preformatted {
            self.finish_block();
        } else if !self.writer.is_at_line_start() {
            self.writer.preformatted("\n");
        }
    }

    fn finish_block(&mut self) {
        if !self.is_full() || self.preformatted.is_some() {
            self.write_block();
        } else if !self.writer.is_empty() {
            self.writer.line_break();
        }
    }

    /// Whether boundaries of blocks have become line breaks.
    fn is_full(&self) -> bool {
        self.outline.blocks.len() >= BLOCKS_MAX
    }

    fn write_block(&mut self) {
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
        let Some(finished) = finished else { return };
        if matches!(kind, Kind::Code(_)) && self.is_numbering(&finished) {
            return;
        }
        self.settle_note(&finished);
        let node = self.place();
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
            facts.arranges |= !heads_cell && !matches!(kind, Kind::Paragraph);
        }
        self.outline.blocks.push(Block {
            kind,
            node,
            text: finished.text,
            words: finished.words,
            link_words: finished.link_words,
            counts: finished.counts,
        });
    }

    fn finish_text(&mut self) -> (Option<super::inline::Finished>, Kind) {
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
    fn place(&mut self) -> NodeId {
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
                    shape: open.shape,
                    container,
                });
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

    /// Two breaks in a row are how many pages part their paragraphs.
    fn line_break(&mut self) {
        if self.preformatted.is_some() {
            self.writer.preformatted("\n");
        } else if self.is_inside(|tag| matches!(tag, Tag::Heading(_))) {
            self.writer.gap();
        } else if self.writer.is_after_line_break() {
            self.finish_block();
        } else if !self.writer.is_empty() {
            self.writer.line_break();
        }
    }

    fn rule(&mut self) {
        if self.preformatted.is_some() {
            return;
        }
        self.end_implied(Tag::Rule);
        self.cut(false);
        let is_repeated = self
            .outline
            .blocks
            .last()
            .is_none_or(|block| block.kind == Kind::Rule);
        if is_repeated || !self.tables.is_empty() || self.is_full() {
            return;
        }
        let node = self.place();
        self.outline.blocks.push(Block {
            kind: Kind::Rule,
            node,
            text: Span::default(),
            words: 0,
            link_words: 0,
            counts: Counts::default(),
        });
    }

    /// Only the box of a task list is content.
    fn input(&mut self, attributes: &Attributes<'_>) {
        self.collected.input(attributes);
        let is_box = attributes
            .get("type")
            .is_some_and(|kind| kind.eq_ignore_ascii_case("checkbox"));
        let begins_item = self.open.last().is_some_and(|open| open.tag == Tag::Item);
        if is_box && begins_item && self.writer.is_empty() {
            let is_done = attributes.get("checked").is_some();
            self.writer.verbatim(if is_done { "[x]" } else { "[ ]" });
            self.writer.gap();
        }
    }
}
