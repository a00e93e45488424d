//! Code in a line of text: spans, spans side by side, and code of several lines that may become a block of its own.

use super::{Mark, Writer};
use crate::markdown::escape::{joined_span, push_code_span};

/// A line break in the code being read, which white space of the source is not.
pub(super) const CODE_LINE_BREAK: char = '\u{B}';

/// Spans side by side are joined up to this length; writing a longer one again and again would take too long.
const JOINED_SPAN_BYTES_MAX: usize = 2048;

impl Writer {
    pub(in crate::markdown) fn begin_code(&mut self, may_be_listing: bool) {
        if self.code.is_none() {
            self.code = Some(String::new());
            self.may_be_listing = may_be_listing;
        }
    }

    pub(in crate::markdown) fn end_code(&mut self) {
        let Some(code) = self.code.take() else { return };
        if self.may_be_listing && self.is_empty() && self.wanted.is_empty() && is_listing(&code) {
            self.listing = Some(code);
        } else {
            self.code_span(code);
        }
    }

    fn code_span(&mut self, code: String) {
        let is_spaced = code.ends_with(char::is_whitespace);
        if code.starts_with(char::is_whitespace) {
            self.gap();
        }
        let mut joined = String::with_capacity(code.len());
        for word in code.split_whitespace() {
            if !joined.is_empty() {
                joined.push(' ');
            }
            joined.push_str(word);
            self.count_word();
        }
        // Before the span is written: a page may be one.
        drop(code);
        if self.would_define_link(&joined) {
            self.text(&joined);
        } else if !joined.is_empty() {
            self.before('`');
            self.push_plain(&joined);
            self.push_span(joined);
            self.in_word = true;
        }
        if is_spaced {
            self.gap();
        }
    }

    /// `[a` and code with `]:` at the start of a block are the definition of a link (CommonMark 4.7), before code is
    /// looked for.
    fn would_define_link(&self, code: &str) -> bool {
        let before = &self.text[self.start..];
        let follows_bracket =
            before.starts_with('[') || (before.is_empty() && self.wants(Mark::Link));
        follows_bracket && code.contains("]:")
    }

    /// Two spans side by side would be read as one with a longer fence: they are made one.
    fn push_span(&mut self, mut code: String) {
        let (from, to) = self.last_span;
        if to == self.text.len() && from >= self.start && from < to {
            if to - from <= JOINED_SPAN_BYTES_MAX {
                code = joined_span(&self.text[from..to], &code);
                self.text.truncate(from);
            } else {
                self.text.push(' ');
            }
        }
        let from = self.text.len();
        push_code_span(&mut self.text, &code);
        self.last_span = (from, self.text.len());
    }

    pub(super) fn inline_listing(&mut self) {
        if let Some(code) = self.listing.take() {
            self.code_span(code);
        }
    }

    /// Writes code of several lines as it stands, if the block holds nothing else.
    pub(super) fn push_listing(&mut self) -> bool {
        let Some(code) = self.listing.take() else {
            return false;
        };
        let code = code.trim_matches(['\n', '\r', CODE_LINE_BREAK]).trim_end();
        for line in code.split(['\n', CODE_LINE_BREAK]) {
            for (at, piece) in line.trim_end().split('\u{A0}').enumerate() {
                self.text.push_str(if at > 0 { " " } else { "" });
                self.text.push_str(piece);
            }
            self.text.push('\n');
            self.words += u32::from(!line.trim().is_empty());
        }
        self.text.pop();
        true
    }
}

/// Whether code that stands alone is meant to be read line by line.
pub(super) fn is_listing(code: &str) -> bool {
    let code = code.trim();
    code.contains(CODE_LINE_BREAK) || code.bytes().filter(|b| *b == b'\n').count() >= 2
}
