//! What an element does to the text in it, and how that is undone when it ends; marks, links and code within a line.

use super::{Builder, Open};
use crate::markdown::attributes::{self, Attributes};
use crate::markdown::inline::Mark;
use crate::markdown::tag::Tag;

/// What has to be undone when the element ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
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

impl Builder {
    /// Whether the element needs to be known while it is open.
    pub(super) fn begin_inline(&mut self, open: &mut Open, attributes: &Attributes<'_>) -> bool {
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
                self.collected.begin_skipped(tag, attributes);
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

    pub(super) fn begin_mark(&mut self, mark: Mark) -> Effect {
        self.writer.begin(mark);
        Effect::Mark(mark)
    }

    fn begin_anchor(&mut self, attributes: &Attributes<'_>) -> Effect {
        let (text, plain) = self.writer.position();
        let href = attributes.get("href").unwrap_or_default();
        let is_fragment = href.trim_start().starts_with('#');
        if is_fragment {
            self.begin_reference(&href);
            self.note_by_number(&href, attributes);
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

    pub(super) fn end_open_anchor(&mut self) {
        if let Some(at) = self
            .open
            .iter()
            .rposition(|open| matches!(open.effect, Effect::Link { .. } | Effect::LinkInCode(_)))
        {
            self.close_alone(at);
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

    /// Takes back what an element did to the text in it.
    pub(super) fn undo(&mut self, effect: Effect) {
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
}
