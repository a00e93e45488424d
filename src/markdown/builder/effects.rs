//! What an element does to the text in it, and how that is undone when it ends; marks, links and code within a line.

use super::{Builder, Open, SUMMARY};
use crate::markdown::attributes::{self, Attributes, ClassSigns, Look};
use crate::markdown::inline::Mark;
use crate::markdown::links::protected_address;
use crate::markdown::tag::Tag;

/// What has to be undone when the element ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    None,
    Mark(Mark),
    /// A mark that the element's style makes, not its name.
    Styled(Mark),
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
    /// Text above or below the line.
    Raised,
    /// What a tab shows: its number among the panels of the outline.
    Panel(usize),
    /// A pronunciation in brackets that the page does not have.
    Bracket,
    Skip,
    Table,
    Row,
}

/// Whether the text of a link in a heading leads elsewhere on the page and says nothing of it.
fn is_jump(text: &str) -> bool {
    const JUMPS: [&str; 9] = [
        "top",
        "back to top",
        "to top",
        "up",
        "link",
        "anchor",
        "permalink",
        "direct link",
        "↑",
    ];
    JUMPS.iter().any(|jump| jump.eq_ignore_ascii_case(text))
}

impl Builder {
    /// Whether the element needs to be known while it is open.
    pub(super) fn begin_inline(
        &mut self,
        open: &mut Open,
        attributes: &Attributes<'_>,
        class: ClassSigns,
    ) -> bool {
        let tag = open.tag;
        if !self.tables.is_empty() {
            self.name_in_cell(tag, attributes);
        }
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
                if tag == Tag::Skipped {
                    self.begin_drawing();
                    self.begin_player(open.name, attributes);
                }
                Effect::Skip
            }
            Tag::Button => Effect::Skip,
            Tag::Inline | Tag::Anchor if self.begin_protected(tag, attributes) => Effect::Skip,
            _ if self.preformatted.is_some() => {
                if attributes::is_beside_code(attributes) {
                    self.note_number(attributes);
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
            _ if !self.full && self.is_left_out(tag, attributes, class) => Effect::Skip,
            Tag::Inline => match attributes::look(attributes) {
                Some(Look::Struck) => self.begin_styled(Mark::Strike),
                // Titles are bold anyway.
                Some(Look::Bold)
                    if !self.is_inside(|tag| matches!(tag, Tag::Heading(_) | Tag::HeaderCell)) =>
                {
                    self.begin_styled(Mark::Strong)
                }
                // Its end tag must not end the styled element around it.
                _ if self.styled > 0 => Effect::None,
                _ => return false,
            },
            Tag::Strong if attributes::look(attributes) == Some(Look::Plain) => Effect::None,
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
            Tag::Superscript => self.begin_raised(true),
            Tag::Subscript => self.begin_raised(false),
            Tag::Ruby => Effect::None,
            Tag::RubyText => self.begin_pronunciation(),
            _ => return false,
        };
        true
    }

    /// Whether an element is hidden, or leads from a heading to itself.
    fn is_left_out(&mut self, tag: Tag, attributes: &Attributes<'_>, class: ClassSigns) -> bool {
        // In a heading it is the heading's text: it leads to the table of contents.
        let leads_back = tag == Tag::Anchor
            && attributes.raw("role") == Some("doc-backlink")
            && !self.is_inside(|tag| matches!(tag, Tag::Heading(_)));
        if class.is_of_site || leads_back {
            return true;
        }
        if class.hides || attributes::is_hidden_beside_class(attributes) {
            return !self.begin_unseen(attributes, class.is_spoken);
        }
        tag == Tag::Anchor && self.is_behind_heading() && attributes::is_of_heading(attributes)
    }

    /// Writes the mail address that a script would put in the place of this element.
    fn begin_protected(&mut self, tag: Tag, attributes: &Attributes<'_>) -> bool {
        let code = attributes.raw("data-cfemail");
        let Some(address) = code.and_then(protected_address) else {
            return false;
        };
        if self.preformatted.is_some() {
            self.writer.preformatted(&address);
            return true;
        }
        let url = match tag {
            Tag::Anchor => self.links.page(&format!("mailto:{address}")),
            _ => None,
        };
        match url {
            Some(url) => {
                self.writer.begin_link(url, String::new(), String::new());
                self.writer.text(&address);
                self.writer.end_link();
            }
            None => self.writer.text(&address),
        }
        true
    }

    /// Brackets around a pronunciation, unless the page has them in `<rp>`.
    fn begin_pronunciation(&mut self) -> Effect {
        let open = self.innermost(
            |open| open.effect == Effect::Bracket,
            |open| open.tag == Tag::Ruby,
        );
        if let Some(at) = open {
            self.close_alone(at);
        }
        if self.writer.plain().ends_with(['(', '（', '[', '【', '〔']) {
            return Effect::None;
        }
        self.writer.text("(");
        Effect::Bracket
    }

    pub(super) fn begin_mark(&mut self, mark: Mark) -> Effect {
        self.writer.begin(mark);
        Effect::Mark(mark)
    }

    /// A heading in a summary is bold enough.
    pub(super) fn end_bold_summary(&mut self, tag: Tag) {
        if matches!(tag, Tag::Heading(_))
            && let Some(last) = self.open.last_mut().filter(|open| open.name == SUMMARY)
        {
            let effect = std::mem::replace(&mut last.effect, Effect::None);
            self.undo(effect);
        }
    }

    /// Elements without a meaning of their own are not followed, but for what stands in one of these.
    pub(super) fn begin_styled(&mut self, mark: Mark) -> Effect {
        self.styled += 1;
        self.writer.begin(mark);
        Effect::Styled(mark)
    }

    fn begin_anchor(&mut self, attributes: &Attributes<'_>) -> Effect {
        let (text, plain) = self.writer.position();
        let mut href = attributes.get("href").unwrap_or_default();
        if let Some((_, code)) = href.split_once("/cdn-cgi/l/email-protection#")
            && let Some(address) = protected_address(code)
        {
            href = format!("mailto:{address}").into();
        }
        let is_fragment = href.trim_start().starts_with('#');
        self.link_in_contents(is_fragment);
        if is_fragment {
            self.begin_reference(&href, attributes);
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
            && (matches!(
                read.trim(),
                "#" | "¶" | "§" | "◆" | "🔗" | "🔗\u{FE0E}" | "Permalink"
            ) || (is_jump(read.trim()) && plain > 0 && self.is_behind_heading()))
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
            Effect::Styled(mark) => {
                self.styled -= 1;
                self.writer.end(mark);
            }
            Effect::Code => self.writer.end_code(),
            Effect::Quotation => self.writer.text("”"),
            Effect::Link {
                text,
                plain,
                is_fragment,
            } => self.end_anchor(text, plain, is_fragment),
            Effect::Raised => self.end_raised(),
            Effect::Panel(panel) => self.end_panel(panel),
            Effect::Bracket => self.writer.text(")"),
            Effect::Skip => {
                self.skipping = None;
                self.end_unseen();
                self.end_player();
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
