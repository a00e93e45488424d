//! Emphasis, strong text, strikes and links: where their delimiters may stand so that markdown reads them as meant.
//! They are closed before a block ends and taken up again in the next.

use super::Writer;
use crate::markdown::escape::{push_destination, push_title};
use crate::markdown::outline::{LinkSpan, Span};

/// Links that are noted beside the text. Of a page with more, the later ones stand only in its markdown.
const LINKS_NOTED_MAX: usize = 32_768;

/// A pair of delimiters around text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::markdown) enum Mark {
    Strong,
    Emphasis,
    Strike,
    Link,
}

impl Mark {
    pub(super) fn delimiter(self) -> &'static str {
        match self {
            Mark::Strong => "**",
            Mark::Emphasis => "*",
            Mark::Strike => "~~",
            Mark::Link => "[",
        }
    }
}

/// A mark whose first delimiter is in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    pub(super) mark: Mark,
    pub(super) at: usize,
}

/// Where the open link leads.
#[derive(Debug, Default)]
pub(super) struct Target {
    pub(super) url: String,
    pub(super) rel: String,
    pub(super) title: String,
    /// Where its text begins, in `plain`.
    pub(super) from: usize,
}

impl Writer {
    pub(in crate::markdown) fn begin(&mut self, mark: Mark) {
        match self.wanted.iter_mut().find(|(open, _)| *open == mark) {
            Some((_, depth)) => *depth += 1,
            None => self.wanted.push((mark, 1)),
        }
    }

    pub(in crate::markdown) fn end(&mut self, mark: Mark) {
        let Some(at) = self.wanted.iter().position(|(open, _)| *open == mark) else {
            return;
        };
        self.wanted[at].1 -= 1;
        if self.wanted[at].1 > 0 {
            return;
        }
        self.wanted.remove(at);
        if let Some(at) = self.written.iter().position(|open| open.mark == mark) {
            self.close_down_to(at);
        }
    }

    pub(in crate::markdown) fn begin_link(&mut self, url: String, rel: String, title: String) {
        self.target = Some(Target {
            url,
            rel,
            title,
            from: 0,
        });
        self.begin(Mark::Link);
    }

    pub(in crate::markdown) fn end_link(&mut self) {
        self.end(Mark::Link);
        self.target = None;
    }

    /// Writes what was held back, knowing the character that follows.
    pub(super) fn before(&mut self, next: char) {
        if self.listing.is_some() {
            self.inline_listing();
        }
        if std::mem::take(&mut self.raised) && (next.is_ascii_digit() || matches!(next, '-' | '−'))
        {
            self.text.push('^');
            self.push_plain("^");
            self.closed.clear();
        }
        if !self.space && self.closed.is_empty() && self.wanted.len() == self.written.len() {
            return;
        }
        let mut spaced = self.text.len() == self.start;
        if !spaced && self.line_break {
            self.text.push_str("  \n");
            self.push_plain(" ");
            spaced = true;
        } else if !spaced && self.space {
            self.text.push(' ');
            self.push_plain(" ");
            spaced = true;
        }
        self.space = false;
        self.line_break = false;
        if spaced {
            self.closed.clear();
        }
        // Between two code spans no delimiter may stand that might be taken back.
        let may_open = self.closed.is_empty() || self.settle(next);
        let may_open = may_open && !(next == '`' && self.last_span.1 == self.text.len());
        if self.wanted.len() > self.written.len() {
            self.open_marks(next, spaced, may_open);
        }
    }

    /// Sees to it that what was just closed is read as closed, with `next` right behind it (CommonMark 6.2). Gives
    /// whether another mark may open here.
    fn settle(&mut self, next: char) -> bool {
        // `**a****b**` is no markdown: the same mark just goes on.
        while let Some(last) = self.closed.last().copied()
            && self.wants(last.mark)
        {
            self.closed.pop();
            self.text
                .truncate(self.text.len() - last.mark.delimiter().len());
            self.written.push(last);
        }
        if self.closed.is_empty() {
            return true;
        }
        let inside = &self.text[..self.closed_at];
        let is_mixed = is_mixed(self.closed.iter().map(|closed| closed.mark));
        let ends_in_letter = inside.ends_with(char::is_alphanumeric) && !is_mixed;
        let opens_link = self.wants(Mark::Link) && !self.is_written(Mark::Link);
        let opening = self.wanted.len() - self.written.len();
        let may_open = opening == 1
            && (opens_link || (self.closed.len() == 1 && ends_in_letter && next.is_alphanumeric()));
        let is_closed = ends_in_letter || opens_link || next.is_ascii_punctuation();
        if !is_closed && (is_mixed || !self.move_signs_out()) {
            self.take_marks_back();
        }
        self.closed.clear();
        may_open
    }

    /// `**a:**b` would not close, `**a**:b` does.
    fn move_signs_out(&mut self) -> bool {
        let inside = &self.text[..self.closed_at];
        let kept = inside.trim_end_matches(is_plain_sign).len();
        let Some(innermost) = self.closed.first() else {
            return false;
        };
        let content = innermost.at + innermost.mark.delimiter().len();
        if kept <= content || !inside[..kept].ends_with(char::is_alphanumeric) {
            return false;
        }
        let signs = self.closed_at - kept;
        let delimiters = self.text.len() - self.closed_at;
        for mark in &self.closed {
            self.text.push_str(mark.mark.delimiter());
        }
        self.text.drain(self.closed_at..self.closed_at + delimiters);
        // The signs and the delimiters change places.
        let moved = self.text[kept..kept + signs].to_owned();
        self.text.push_str(&moved);
        self.text.drain(kept..kept + signs);
        true
    }

    /// Text comes before emphasis: delimiters that would show are taken out again.
    fn take_marks_back(&mut self) {
        self.text.truncate(self.closed_at);
        self.last_span = (0, 0);
        for at in 0..self.closed.len() {
            let Written { mark, at } = self.closed[at];
            let length = mark.delimiter().len();
            self.text.drain(at..at + length);
            // What the mark kept apart would be an image.
            let before = &self.text[self.start..at];
            let is_image = before.ends_with('!') && self.text[at..].starts_with('[');
            if is_image {
                self.text.insert(at - 1, '\\');
            }
            let later = self.links.iter_mut().rev();
            for link in later.take_while(|link| link.block == u32::MAX) {
                link.url.move_back(at, length - usize::from(is_image));
            }
        }
    }

    pub(super) fn wants(&self, mark: Mark) -> bool {
        self.wanted.iter().any(|(wanted, _)| *wanted == mark)
    }

    fn is_written(&self, mark: Mark) -> bool {
        self.written.iter().any(|written| written.mark == mark)
    }

    /// Opens the marks that are wanted, in their order where they can open. No emphasis can between a letter and a
    /// sign, such as a link's bracket; inside of the bracket it can.
    fn open_marks(&mut self, next: char, spaced: bool, may_open: bool) {
        let before = &self.text[self.start..];
        let is_first = spaced || before.is_empty();
        let follows_sign = before.ends_with(|c: char| c.is_ascii_punctuation());
        let is_apart = is_first || follows_sign;
        let has_link = self.wants(Mark::Link) && !self.is_written(Mark::Link);
        let waiting = self.wanted.iter().map(|(mark, _)| *mark);
        let is_mixed = is_mixed(waiting.filter(|mark| !self.is_written(*mark)));
        let may_open = may_open && (!is_mixed || (!has_link && next.is_alphanumeric()));
        let before_letter = !has_link && !is_mixed && next.is_alphanumeric();
        let could_close = !is_first && (!follows_sign || !before_letter);
        let may_open = may_open && (!could_close || self.cannot_close_outer());
        let mut opens_freely = has_link && !(may_open && is_apart);
        if opens_freely {
            self.open_link();
        }
        for at in 0..self.wanted.len() {
            let mark = self.wanted[at].0;
            if self.is_written(mark) {
                continue;
            }
            if mark == Mark::Link {
                self.open_link();
                opens_freely = true;
            } else if opens_freely || (may_open && (is_apart || before_letter)) {
                self.written.push(Written {
                    mark,
                    at: self.text.len(),
                });
                self.text.push_str(mark.delimiter());
            }
        }
    }

    /// Whether a delimiter that can close as well as open is kept from closing the marks around it: only by the rule
    /// that lengths must not add up to a multiple of three.
    fn cannot_close_outer(&self) -> bool {
        let is_star = |mark: &Mark| matches!(mark, Mark::Strong | Mark::Emphasis);
        let mut outer = self.written.iter().filter(|open| is_star(&open.mark));
        let Some(first) = outer.next() else {
            return true;
        };
        let bytes = self.text.as_bytes();
        let end = first.at + first.mark.delimiter().len();
        let is_alone =
            bytes.get(end) != Some(&b'*') && (first.at == 0 || bytes[first.at - 1] != b'*');
        let wanted = self.wanted.iter().filter(|(mark, _)| is_star(mark));
        is_alone && outer.next().is_none() && wanted.count() == 2
    }

    fn open_link(&mut self) {
        if let Some(target) = &mut self.target {
            target.from = self.plain.len();
        }
        if self.text[self.start..].ends_with('!') {
            self.text.insert(self.text.len() - 1, '\\');
        }
        self.written.push(Written {
            mark: Mark::Link,
            at: self.text.len(),
        });
        self.text.push_str(Mark::Link.delimiter());
    }

    pub(super) fn close_down_to(&mut self, depth: usize) {
        while self.written.len() > depth {
            let Some(written) = self.written.pop() else {
                return;
            };
            if written.mark == Mark::Link {
                self.close_link(written.at);
                self.closed.clear();
            } else {
                if self.closed.is_empty() {
                    self.closed_at = self.text.len();
                }
                self.text.push_str(written.mark.delimiter());
                self.closed.push(written);
            }
        }
    }

    /// A link that holds several blocks leads on from the first with text; repeating its address tells nothing.
    fn close_link(&mut self, at: usize) {
        let Some(target) = &self.target else { return };
        let text = self.plain[target.from.min(self.plain.len())..].trim();
        let has_title = !target.title.eq_ignore_ascii_case(text);
        let is_bare = text == target.url
            && (!has_title || target.title.is_empty())
            && is_autolink(text)
            && is_escaped_text(&self.text[at + 1..], text);
        let url = if is_bare {
            self.text.truncate(at);
            self.text.push('<');
            self.text.push_str(text);
            self.text.push('>');
            Span::new(at + 1, self.text.len() - 1)
        } else {
            self.text.push_str("](");
            let start = self.text.len();
            push_destination(&mut self.text, &target.url);
            let url = Span::new(start, self.text.len());
            if has_title {
                push_title(&mut self.text, &target.title);
            }
            self.text.push(')');
            url
        };
        if text.is_empty() {
            return;
        }
        if self.links.len() < LINKS_NOTED_MAX {
            let start = self.labels.len();
            self.labels.push_str(text);
            let middle = self.labels.len();
            self.labels.push_str(&target.rel);
            self.links.push(LinkSpan {
                block: u32::MAX,
                text: Span::new(start, middle),
                url,
                rel: Span::new(middle, self.labels.len()),
            });
        }
        self.wanted.retain(|(mark, _)| *mark != Mark::Link);
    }
}

/// Whether an address between angle brackets reads as itself (CommonMark 6.5).
fn is_autolink(url: &str) -> bool {
    let is_web = url.starts_with("http://") || url.starts_with("https://");
    is_web && !url.contains(|c: char| c.is_whitespace() || c.is_control() || "<>\\|;`".contains(c))
}

/// Whether markdown is this text with escapes and nothing else.
fn is_escaped_text(markdown: &str, text: &str) -> bool {
    markdown.chars().filter(|c| *c != '\\').eq(text.chars())
}

/// Whether marks of both signs are among these: to each the other is a sign beside it.
fn is_mixed(mut marks: impl Iterator<Item = Mark> + Clone) -> bool {
    marks.clone().any(|mark| mark == Mark::Strike) && marks.any(|mark| mark != Mark::Strike)
}

/// Signs that are never escaped and end nothing but a sentence.
fn is_plain_sign(c: char) -> bool {
    if c.is_ascii() {
        return matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '"' | '\'' | '%');
    }
    !c.is_alphanumeric() && !c.is_whitespace()
}
