//! Code blocks: which language they name, where their lines end, and what stands beside the code without being part
//! of it. Knows the ways of the usual highlighters.

use std::collections::HashSet;

use super::{Builder, Effect, Open, Preformatted};
use crate::markdown::attributes::{self, Attributes};
use crate::markdown::inline::Finished;
use crate::markdown::tag::Tag;

/// The most links that are given below a block of preformatted text.
const LINKS_MAX: usize = 50;

impl Builder {
    pub(super) fn begin_preformatted(&mut self, open: &mut Open, attributes: &Attributes<'_>) {
        if self.preformatted.is_some() {
            self.take_language(attributes);
            return;
        }
        let own = attributes::own_language(attributes);
        let has_language_of_its_own = own.is_some();
        self.preformatted = Some(Preformatted {
            language: own.or_else(|| self.language_around()),
            has_language_of_its_own,
            ..Preformatted::default()
        });
        open.effect = Effect::Preformatted;
    }

    /// Doxygen's code is a `<div>` of lines: it begins with the first of them.
    pub(super) fn begin_fragment(&mut self, open: &Open, attributes: &Attributes<'_>) {
        if open.tag != Tag::Division || self.preformatted.is_some() || self.is_full() {
            return;
        }
        if self.fragment == Some(self.open.len()) && attributes.raw("class") == Some("line") {
            self.preformatted = Some(Preformatted {
                is_fragment: true,
                ..Preformatted::default()
            });
            if let Some(around) = self.open.last_mut() {
                around.effect = Effect::Preformatted;
            }
        }
        self.fragment =
            (attributes.raw("class") == Some("fragment")).then_some(self.open.len() + 1);
    }

    /// An element beside the code begins, which may hold the number of the line.
    pub(super) fn note_number(&mut self, attributes: &Attributes<'_>) {
        if let Some(preformatted) = &mut self.preformatted {
            preformatted.is_behind_number = attributes::is_line_number(attributes);
        }
    }

    fn take_language(&mut self, attributes: &Attributes<'_>) {
        if let Some(preformatted) = &mut self.preformatted
            && !preformatted.has_language_of_its_own
            && let Some(language) = attributes::own_language(attributes)
        {
            preformatted.language = Some(language);
        }
    }

    /// Many sites name the language on an element around the `<pre>`.
    pub(super) fn note_language(&mut self, open: &Open, attributes: &Attributes<'_>) {
        if matches!(open.tag, Tag::Division | Tag::Table)
            && let Some(language) = attributes::language(attributes)
        {
            self.language = Some((self.open.len(), language));
        }
    }

    fn language_around(&self) -> Option<String> {
        let (_, language) = self.language.as_ref()?;
        Some(language.clone())
    }

    /// Whether a text is nothing but the name of the language of the code that it stands beside.
    pub(super) fn is_language_label(&self, text: &str) -> bool {
        let around = self.language.as_ref();
        around.is_some_and(|(_, language)| language.eq_ignore_ascii_case(text))
    }

    /// Blocks in code are its lines, empty ones too.
    pub(super) fn begin_line(&mut self, open: &mut Open, attributes: &Attributes<'_>) {
        if open.effect != Effect::None {
            return;
        }
        open.effect = if attributes::is_beside_code(attributes) {
            Effect::Skip
        } else {
            Effect::Line(self.writer.position().0)
        };
    }

    pub(super) fn end_line(&mut self, from: usize) {
        if self.preformatted.is_some() && self.writer.position().0 == from {
            self.writer.preformatted("\n");
        }
    }

    /// One `<code>` right behind another in a `<pre>` is shown below it.
    pub(super) fn begin_line_of_code(&mut self, attributes: &Attributes<'_>) -> Effect {
        self.take_language(attributes);
        let around = self.open.last().map(|open| open.tag);
        if around != Some(Tag::Preformatted) {
            return Effect::None;
        }
        let here = self.writer.position().0;
        if let Some(preformatted) = &self.preformatted
            && preformatted.code_end == Some(here)
            && !self.writer.is_at_line_start()
        {
            self.writer.preformatted("\n");
        }
        Effect::LineOfCode
    }

    pub(super) fn end_line_of_code(&mut self) {
        if let Some(preformatted) = &mut self.preformatted {
            preformatted.code_end = Some(self.writer.position().0);
        }
    }

    /// Links of text that only keeps its lines (a standard, a letter in an archive) are remembered: code itself can hold
    /// none.
    pub(super) fn begin_link_in_code(&mut self, attributes: &Attributes<'_>) -> Effect {
        let here = self.writer.position().0;
        let href = attributes.get("href").unwrap_or_default();
        let Some(preformatted) = &mut self.preformatted else {
            return Effect::None;
        };
        let is_code = preformatted.language.is_some()
            || preformatted.code_end.is_some()
            || preformatted.is_fragment;
        if is_code || href.trim_start().starts_with('#') || preformatted.links.len() >= LINKS_MAX {
            return Effect::None;
        }
        match self.links.page(&href) {
            Some(url) => {
                preformatted.links.push((url, String::new()));
                Effect::LinkInCode(here)
            }
            None => Effect::None,
        }
    }

    pub(super) fn end_link_in_code(&mut self, from: usize) {
        if let Some(preformatted) = &mut self.preformatted
            && let Some((_, text)) = preformatted.links.last_mut()
            && let Some(read) = self.writer.text.get(from..)
        {
            text.push_str(read.trim());
        }
    }

    /// Below preformatted text stand its links, each once.
    pub(super) fn end_preformatted(&mut self) {
        let Some(preformatted) = self.preformatted.take() else {
            return;
        };
        if preformatted.code_end.is_some() || preformatted.language.is_some() {
            return;
        }
        let mut seen = HashSet::new();
        for (url, text) in preformatted.links {
            if !text.is_empty() && seen.insert(url.clone()) {
                self.writer.begin_link(url, String::new(), String::new());
                self.writer.text(&text);
                self.writer.end_link();
                self.writer.gap();
            }
        }
        self.cut(false);
    }

    /// Whether this cell holds the numbers of lines, which makes a listing of its table.
    pub(super) fn begins_listing(&mut self, attributes: &Attributes<'_>) -> bool {
        if self.preformatted.is_some() || !attributes::is_line_number(attributes) {
            return false;
        }
        let Some(table) = self.tables.last_mut() else {
            return false;
        };
        table.is_listing = true;
        self.outline.tables[table.facts as usize].arranges = true;
        self.preformatted = Some(Preformatted {
            language: self.language_around(),
            ..Preformatted::default()
        });
        true
    }

    /// Whether a listing ends with the open element at this place.
    pub(super) fn ends_listing(&self, at: usize) -> bool {
        self.open[at].effect == Effect::Table
            && self.tables.last().is_some_and(|table| table.is_listing)
    }

    /// Whether a code block in a table is nothing but the numbers of the lines beside it.
    pub(super) fn is_numbering(&self, finished: &Finished) -> bool {
        if self.tables.is_empty() || finished.words < 2 {
            return false;
        }
        let mut lines = self.writer.text[finished.text.range()].lines();
        let number = |line: &str| line.trim().parse::<u32>().ok();
        let Some(mut last) = lines.next().and_then(number) else {
            return false;
        };
        lines.all(|line| {
            last = last.saturating_add(1);
            number(line) == Some(last)
        })
    }

    /// The text of code, in which only the kind of white space may differ from the page.
    pub(super) fn preformatted_text(&mut self, text: &str) {
        let around = self.open.last();
        let is_between_lines = around.is_some_and(|open| {
            matches!(open.tag, Tag::Table | Tag::TableBody | Tag::Row)
                || (open.effect == Effect::Preformatted && open.tag == Tag::Division)
        });
        if is_between_lines && text.trim().is_empty() {
            return;
        }
        if self.seams.take_line() && !text.starts_with('\n') && !self.writer.is_at_line_start() {
            self.writer.preformatted("\n");
        }
        let is_behind_number = self
            .preformatted
            .as_mut()
            .is_some_and(|open| std::mem::take(&mut open.is_behind_number) && open.is_fragment);
        let text = match is_behind_number {
            true => text.strip_prefix([' ', '\u{A0}']).unwrap_or(text),
            false => text,
        };
        for (at, line) in text.split("\r\n").enumerate() {
            if at > 0 {
                self.writer.preformatted("\n");
            }
            for (at, piece) in line.split('\u{A0}').enumerate() {
                if at > 0 {
                    self.writer.preformatted(" ");
                }
                self.writer.preformatted(piece);
            }
        }
    }
}
