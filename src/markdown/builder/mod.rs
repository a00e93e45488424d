//! Tags and text in, in document order, an [`Outline`] out. Keeps a stack of open elements, because the tokenizer
//! builds no tree: which tags end which elements is HTML's, made short. Knows nothing of the tokenizer itself, of
//! selection or of how blocks are laid out.

mod blocks;
mod classes;
mod code;
mod concealed;
mod contents;
mod effects;
mod ends;
mod finish;
mod footnotes;
mod images;
mod implied;
mod math;
mod mathml;
mod players;
mod raised;
mod seams;
mod skipped;
mod spoken;
mod tabs;
mod tex;
pub(super) mod voices;

use std::sync::Arc;

use super::attributes::{self, Attributes};
use super::counts::Counts;
use super::inline::{Mark, Writer};
use super::links::Links;
use super::metadata::Collected;
use super::outline::{Block, Kind, NodeId, Outline, PAGE, Role, Shape, Span};
use super::render::MARKDOWN_BYTES_MAX;
use super::select::model::Model;
use super::select::names::Names;
use super::shortcodes;
use super::tag::{Name, Tag};
use super::work::Work;
use effects::Effect;

const SUMMARY: Name = Name::new("summary");

/// How deep elements may nest before the rest is read flat. Browsers draw the line at the same depth.
const DEPTH_MAX: usize = 512;

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
    /// How many elements are open in an element that may turn out to be code of Doxygen.
    fragment: Option<usize>,
    /// The code language that an open element names, and how many are open around that element.
    language: Option<(usize, String)>,
    footnotes: footnotes::Footnotes,
    images: images::Images,
    math: math::Math,
    player: players::Player,
    tables: Vec<OpenTable>,
    classes: classes::Classes,
    voices: voices::Voices,
    seams: seams::Seams,
    spoken: spoken::Spoken,
    tabs: tabs::Tabs,
    /// The open text above or below the line.
    raised: Option<raised::Raised>,
    /// The open table of contents.
    contents: Option<contents::Contents>,
    /// What the next text of the item begins with.
    item_label: Option<String>,
    /// The block being read holds the name of an author or a date.
    is_byline: bool,
    /// Open elements whose style marks their text.
    styled: u32,
}

/// An open element.
#[derive(Debug)]
struct Open {
    name: Name,
    tag: Tag,
    role: Role,
    is_comment: bool,
    place: voices::Place,
    names: Names,
    shape: Shape,
    effect: Effect,
    node: NodeId,
    /// It is hidden and does not say what would show it; the hash of its id.
    concealed: Option<Option<u64>>,
    /// The number that the next item of this list gets.
    next_number: u32,
    numbering: blocks::Numbering,
}

#[derive(Debug, Default)]
struct Preformatted {
    language: Option<String>,
    has_language_of_its_own: bool,
    /// It is code of Doxygen, each line in an element.
    is_fragment: bool,
    /// The number of a line was just left out.
    is_behind_number: bool,
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
    /// How many of the elements in it make a row, if each of them is a cell.
    cells_of_row: u16,
    /// It is a declaration, each word in a cell.
    is_declaration: bool,
    column: u16,
    /// How many blocks there were before the open cell.
    blocks_before_cell: usize,
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
            fragment: None,
            language: None,
            footnotes: footnotes::Footnotes::default(),
            images: images::Images::default(),
            math: math::Math::default(),
            player: players::Player::default(),
            tables: Vec::new(),
            classes: classes::Classes::default(),
            voices: voices::Voices::default(),
            seams: seams::Seams::default(),
            spoken: spoken::Spoken::default(),
            tabs: tabs::Tabs::default(),
            raised: None,
            item_label: None,
            contents: None,
            is_byline: false,
            styled: 0,
        }
    }

    /// Spends the time of this conversion.
    pub(super) fn sharing(mut self, work: &Work) -> Builder {
        self.outline.work = work.clone();
        self
    }

    pub(super) fn work(&self) -> &Work {
        &self.outline.work
    }

    /// A start tag. `closes_itself` says that it is written `<x/>`.
    pub(super) fn start(
        &mut self,
        name: Name,
        tag: Tag,
        closes_itself: bool,
        attributes: &Attributes<'_>,
    ) {
        self.begin_tab(name, attributes);
        self.note_control(attributes);
        self.collected.microdata.start(name, tag, attributes);
        if self.skipping.is_some() && self.start_skipped(name, tag, closes_itself) {
            if tag == Tag::Source {
                self.source_of_player(attributes);
            }
            return;
        }
        if !matches!(tag, Tag::Inline | Tag::Strong | Tag::Emphasis) {
            self.release_raised();
        }
        match tag {
            Tag::Meta => {
                self.collected.meta(attributes);
                self.voice_in_meta(attributes);
            }
            Tag::Link => self.collected.link(attributes),
            Tag::Html => self.collected.html(attributes),
            Tag::Base => self.links.set_base(attributes),
            Tag::Break => self.line_break(),
            Tag::Rule => self.rule(),
            Tag::Image => {
                self.seams.join();
                self.image(attributes);
            }
            Tag::Source => self.images.source = self.links.source(attributes),
            Tag::Input => self.input(attributes),
            Tag::Void => {
                self.seams.join();
                self.begin_player(name, attributes);
            }
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
        self.end_tab(name);
        self.collected.microdata.end(name);
        if self.skipping.is_some() && self.end_skipped(name, tag) {
            return;
        }
        self.end_voice(name, tag);
        if tag.is_block() {
            self.release_raised();
        }
        match tag {
            Tag::Break => self.line_break(),
            _ if tag.is_block() => self.end_block(name, tag),
            _ => {
                self.seams.end();
                self.end_inline(name, tag);
            }
        }
    }

    /// The text of a whole text node, entities decoded.
    pub(super) fn text(&mut self, text: &str) {
        self.tab_text(text);
        self.collected.microdata.text(text);
        match (&self.skipping, &self.preformatted) {
            (Some(tag), _) => {
                self.collected.skipped_text(*tag, text);
                self.unseen_text(text);
            }
            (None, Some(_)) => self.preformatted_text(text),
            // Around each comment on some sites; only a renderer of formulas reads it.
            (None, None) if matches!(text, "$\\begingroup$" | "$\\endgroup$") => {}
            (None, None) => {
                if !self.math_text(text) {
                    self.voice_text(text);
                    if !self.raised_text(text) {
                        self.begin_labelled_item(text);
                        self.part_from_before(text);
                        match self.full || self.writer.is_in_code() {
                            true => self.text_with_formulas(text),
                            false => self.text_with_formulas(&shortcodes::without(text)),
                        }
                    }
                }
            }
        }
    }

    fn text_with_formulas(&mut self, text: &str) {
        let mut rest = text;
        while let Some(found) = tex::next(rest).filter(|_| !self.writer.is_in_code()) {
            self.writer.text(found.before);
            self.formula_in_text(found.tex, found.is_display);
            rest = found.after;
        }
        self.writer.text(rest);
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

    /// The source of the text that comes next, if it stands in a `<title>`.
    pub(super) fn title_source(&mut self, source: &str) {
        if self.skipping == Some(Tag::Title) {
            self.collected.title_source(source);
        }
    }

    /// The page behind a `<title>` whose end tag is missing, which has swallowed it.
    pub(super) fn end_title(&mut self) -> Option<String> {
        if self.skipping != Some(Tag::Title) {
            return None;
        }
        self.close_down_to(0);
        let page = self.collected.end_title();
        (!page.is_empty()).then_some(page)
    }

    /// Whether there is more text than any document may have.
    pub(super) fn is_too_long(&self) -> bool {
        self.writer.text.len() > MARKDOWN_BYTES_MAX
    }

    pub(super) fn finish(mut self) -> (Outline, Collected, Links) {
        self.collected.finish(self.skipping.is_some(), &self.links);
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

    fn open(&mut self, name: Name, mut tag: Tag, attributes: &Attributes<'_>) {
        if tag == Tag::Division {
            let part = attributes::part_of_grid(attributes, !self.tables.is_empty());
            tag = part
                .or_else(|| self.cell_of_grid(attributes))
                .unwrap_or(tag);
        } else if self.is_part_of_declaration(tag, attributes) {
            tag = Tag::Inline;
        }
        // A button in code is one to copy it, one behind a heading is no part of it.
        let is_aside = tag == Tag::Button
            && (self.preformatted.is_some() || (!self.full && self.is_behind_heading()));
        let is_block = tag.is_block() && !is_aside;
        if is_block {
            self.end_formula();
            self.end_implied(tag);
            self.cut(false);
            self.begin_implied(tag);
            self.end_bold_summary(tag);
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
            is_comment: false,
            place: voices::Place::default(),
            names: Names::default(),
            shape: Shape::Plain,
            effect: Effect::None,
            node: PAGE,
            concealed: None,
            next_number: 1,
            numbering: blocks::Numbering::default(),
        };
        if is_block {
            let value = attributes.raw("class").unwrap_or_default();
            let class = self.classes.of(value);
            let signs = class.signs;
            open.names = Names::of(attributes, class.names(value));
            open.is_comment = signs.is_comment || attributes::is_comment(attributes);
            self.is_byline |= signs.is_byline;
            open.role = attributes::role(tag, attributes, signs);
            open.concealed = concealed::of(open.role, attributes);
            self.outline.declarations +=
                u32::from(signs.declares || attributes::declares(attributes));
            open.place = self.begin_voice(name, tag, attributes, signs.talk);
            if !self.full && signs.is_of_site && self.preformatted.is_none() {
                open.effect = Effect::Skip;
            } else {
                self.begin_block(&mut open, attributes);
            }
            if !self.full && open.effect == Effect::None {
                if signs.is_contents || attributes::is_contents(attributes) {
                    self.begin_contents();
                } else if (signs.is_note_title || name == SUMMARY)
                    && !matches!(tag, Tag::Heading(_))
                {
                    open.effect = self.begin_mark(Mark::Strong);
                }
            }
            if signs.is_highlighter || attributes::has_language(attributes) {
                self.note_language(&open, attributes);
            }
        } else {
            let class = attributes.raw("class");
            let signs = class.map(|value| self.classes.of(value).signs);
            let signs = signs.unwrap_or_default();
            self.is_byline |= tag == Tag::Time || signs.is_byline;
            open.place = self.begin_voice(name, tag, attributes, signs.talk);
            let is_known = self.begin_inline(&mut open, attributes, signs);
            if open.effect != Effect::Skip {
                self.begin_seam(name, tag, attributes);
            }
            if !is_known {
                return;
            }
        }
        if open.effect == Effect::Skip {
            self.skipping = Some(tag);
            self.skipped.clear();
        }
        let is_panel = is_block && open.effect == Effect::None;
        self.open.push(open);
        if is_panel {
            self.begin_panel(name, attributes);
        }
    }

    /// What stands in a comment, with its end mark.
    pub(super) fn comment(&mut self, text: &str) {
        self.collected.comment(text);
    }

    /// Whether a heading has its text already.
    pub(super) fn is_behind_heading(&self) -> bool {
        let blocks = self.open.iter().rev().map(|open| open.tag);
        let mut blocks = blocks.filter(|tag| tag.is_block() && *tag != Tag::Division);
        matches!(blocks.next(), Some(Tag::Heading(_))) && !self.writer.is_empty()
    }

    fn is_inside(&self, asked: impl Fn(Tag) -> bool) -> bool {
        self.open.iter().rev().take(16).any(|open| asked(open.tag))
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
            is_byline: false,
            counts: Counts::default(),
        });
    }

    /// Only the box of a task list is content.
    fn input(&mut self, attributes: &Attributes<'_>) {
        self.collected.input(attributes);
        let is_box = attributes
            .get("type")
            .is_some_and(|kind| kind.eq_ignore_ascii_case("checkbox"));
        // One with a name of its own is there to be clicked: an ingredient, a filter.
        let class = attributes.raw("class").unwrap_or_default();
        let is_task =
            class.is_empty() || class.contains("task") || attributes.raw("disabled").is_some();
        let begins_item = self.open.last().is_some_and(|open| open.tag == Tag::Item);
        if is_box && is_task && begins_item && self.writer.is_empty() {
            let is_done = attributes.get("checked").is_some();
            self.writer.verbatim(if is_done { "[x]" } else { "[ ]" });
            self.writer.gap();
        }
    }
}
