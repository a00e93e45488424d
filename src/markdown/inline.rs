//! Writes the text of one block after another as inline markdown: white space collapsed, characters escaped that
//! would mean something, emphasis, links and code spans closed before a block ends and taken up again in the next.
//! Knows nothing of elements or of where a block stands; what only matters at the start of a line is escaped by
//! `render`.

use super::escape::{
    CLASSES, Class, classify_wide, ends_in_entity, is_dropped, joined_span, push_alt,
    push_code_span, push_destination, push_title,
};
use super::outline::{LinkSpan, Span};
use super::select::counts::Counts;

/// A pair of delimiters around text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Strong,
    Emphasis,
    Strike,
    Link,
}

impl Mark {
    fn delimiter(self) -> &'static str {
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
struct Written {
    mark: Mark,
    at: usize,
}

/// A line break in the code being read, which white space of the source is not.
const CODE_LINE_BREAK: char = '\u{B}';

/// Spans side by side are joined up to this length; writing a longer one again and again would take too long.
const JOINED_SPAN_BYTES_MAX: usize = 2048;

/// Where the open link leads.
#[derive(Debug, Default)]
struct Target {
    url: String,
    rel: String,
    title: String,
    /// Where its text begins, in `plain`.
    from: usize,
}

#[derive(Debug, Default)]
pub(super) struct Writer {
    /// The finished markdown of all blocks.
    pub(super) text: String,
    /// Plain texts beside it: link texts, headings, languages.
    pub(super) labels: String,
    pub(super) links: Vec<LinkSpan>,
    /// Where the current block begins in `text`.
    start: usize,
    /// The current block without any markup.
    plain: String,
    /// White space was read and not yet written, so that delimiters can stay close to their text.
    space: bool,
    line_break: bool,
    /// The next text stands above the line.
    raised: bool,
    in_word: bool,
    words: u32,
    link_words: u32,
    /// Characters of scripts that do not put spaces between words; two of them count as one word.
    ideographs: u32,
    /// Marks that are open in the page, outermost first, and how often.
    wanted: Vec<(Mark, u32)>,
    /// Those whose delimiter is written.
    written: Vec<Written>,
    /// Marks that were closed last, innermost first, while nothing follows them.
    closed: Vec<Written>,
    /// Where the closing delimiters of those begin.
    closed_at: usize,
    target: Option<Target>,
    /// The code span being read.
    code: Option<String>,
    /// Whether it may become a block if it holds several lines.
    may_be_listing: bool,
    /// Code of several lines, which is all that the block holds so far.
    listing: Option<String>,
    /// The code span that was written last.
    last_span: (usize, usize),
}

/// What a finished block was.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) text: Span,
    pub(super) words: u32,
    pub(super) link_words: u32,
    pub(super) counts: Counts,
    /// Lines of code without any text beside them.
    pub(super) is_listing: bool,
}

impl Writer {
    pub(super) fn is_empty(&self) -> bool {
        self.text.len() == self.start && self.code.is_none() && self.listing.is_none()
    }

    /// The current block without markup, as far as it is written.
    pub(super) fn plain(&self) -> &str {
        &self.plain
    }

    /// Adds to the strings beside the text.
    pub(super) fn label(&mut self, label: &str) -> Span {
        let start = self.labels.len();
        self.labels.push_str(label);
        Span::new(start, self.labels.len())
    }

    /// Text of the page, entities decoded.
    pub(super) fn text(&mut self, text: &str) {
        if let Some(code) = &mut self.code {
            code.push_str(text);
            return;
        }
        let bytes = text.as_bytes();
        let (mut from, mut at) = (0, 0);
        while at < bytes.len() {
            let (class, width) = match CLASSES[usize::from(bytes[at])] {
                Class::Wide => classify_wide(&text[at..]),
                class => (class, 1),
            };
            if class != Class::Plain && class != Class::Wide {
                self.run(&text[from..at]);
                match class {
                    Class::Space => self.gap(),
                    Class::Special => self.special(text, at),
                    Class::Ideograph => {
                        self.run(&text[at..at + width]);
                        self.ideographs += 1;
                        self.in_word = true;
                    }
                    _ => {}
                }
                from = at + width;
            }
            at += width;
        }
        self.run(&text[from..]);
    }

    /// White space, or what stands for it.
    pub(super) fn gap(&mut self) {
        self.raised = false;
        if let Some(code) = &mut self.code {
            code.push(' ');
        }
        self.space = true;
        self.in_word = false;
    }

    /// The next text begins on a new line of the same block.
    pub(super) fn line_break(&mut self) {
        if let Some(code) = &mut self.code {
            code.push(CODE_LINE_BREAK);
            return;
        }
        self.gap();
        self.line_break = true;
    }

    /// Whether a line break was just read.
    pub(super) fn is_after_line_break(&self) -> bool {
        self.line_break
    }

    /// The next text stands above the line. Markdown has no such text, but `10^6` must not become `106`.
    pub(super) fn raise(&mut self) {
        self.raised = !self.space && !self.is_empty();
    }

    pub(super) fn begin(&mut self, mark: Mark) {
        match self.wanted.iter_mut().find(|(open, _)| *open == mark) {
            Some((_, depth)) => *depth += 1,
            None => self.wanted.push((mark, 1)),
        }
    }

    pub(super) fn end(&mut self, mark: Mark) {
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

    pub(super) fn begin_link(&mut self, url: String, rel: String, title: String) {
        self.target = Some(Target {
            url,
            rel,
            title,
            from: 0,
        });
        self.begin(Mark::Link);
    }

    pub(super) fn end_link(&mut self) {
        self.end(Mark::Link);
        self.target = None;
    }

    pub(super) fn begin_code(&mut self, may_be_listing: bool) {
        if self.code.is_none() {
            self.code = Some(String::new());
            self.may_be_listing = may_be_listing;
        }
    }

    pub(super) fn end_code(&mut self) {
        let Some(code) = self.code.take() else { return };
        if self.may_be_listing && self.is_empty() && self.wanted.is_empty() && is_listing(&code) {
            self.listing = Some(code);
        } else {
            self.code_span(&code);
        }
    }

    fn code_span(&mut self, code: &str) {
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
        if self.would_define_link(&joined) {
            self.text(&joined);
        } else if !joined.is_empty() {
            self.before('`');
            self.plain.push_str(&joined);
            self.push_span(joined);
            self.in_word = true;
        }
        if code.ends_with(char::is_whitespace) {
            self.gap();
        }
    }

    /// `[a` and code with `]:` at the start of a block are the definition of a link (CommonMark 4.7), before code is looked
    /// for.
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

    /// An image; `url` is absolute.
    pub(super) fn image(&mut self, alt: &str, url: &str) {
        self.before('!');
        self.text.push_str("![");
        push_alt(&mut self.text, alt);
        self.text.push_str("](");
        push_destination(&mut self.text, url);
        self.text.push(')');
    }

    /// Markdown that is put in as it is.
    pub(super) fn verbatim(&mut self, markdown: &str) {
        self.before(markdown.chars().next().unwrap_or(' '));
        self.text.push_str(markdown);
        self.plain.push_str(markdown);
        self.count_word();
    }

    /// Text of a code block, white space and all.
    pub(super) fn preformatted(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(super) fn is_at_line_start(&self) -> bool {
        self.text.len() == self.start || self.text.ends_with('\n')
    }

    /// Keeps the current block's plain text beside the markdown.
    pub(super) fn take_plain_label(&mut self) -> Span {
        self.end_code();
        self.inline_listing();
        let start = self.labels.len();
        self.labels.push_str(self.plain.trim());
        Span::new(start, self.labels.len())
    }

    /// Ends the block. `None` when nothing was written since the last one.
    pub(super) fn finish(&mut self, block: u32) -> Option<Finished> {
        let was_code = self.code.is_some();
        self.end_code();
        let is_listing = self.push_listing();
        self.close_down_to(0);
        self.space = false;
        self.line_break = false;
        self.raised = false;
        self.in_word = false;
        self.closed.clear();
        if was_code {
            self.begin_code(self.may_be_listing);
        }
        for link in self.links.iter_mut().rev() {
            if link.block != u32::MAX {
                break;
            }
            link.block = block;
        }
        let finished = (self.text.len() > self.start).then(|| Finished {
            text: Span::new(self.start, self.text.len()),
            words: self.words + self.ideographs.div_ceil(2),
            link_words: self.link_words,
            counts: Counts::of(&self.plain),
            is_listing,
        });
        self.start_block();
        finished
    }

    /// Ends a code block, without the empty lines around it.
    pub(super) fn finish_preformatted(&mut self) -> Option<Finished> {
        let kept = self.text[self.start..].trim_end().len();
        self.text.truncate(self.start + kept);
        let block = &self.text[self.start..];
        let first_line = block.len() - block.trim_start().len();
        let skipped = block[..first_line].rfind('\n').map_or(0, |at| at + 1);
        let words = block.split_ascii_whitespace().count();
        let finished = (kept > 0).then(|| Finished {
            text: Span::new(self.start + skipped, self.text.len()),
            words: u32::try_from(words).unwrap_or(u32::MAX),
            link_words: 0,
            counts: Counts::of(block),
            is_listing: false,
        });
        self.start_block();
        finished
    }

    /// Takes back what the link just read: it was a mark to click, not to read.
    /// Gives whether that was possible.
    pub(super) fn drop_link_text(&mut self, plain_length: usize) -> bool {
        let Some(read) = self.plain.get(plain_length..).map(str::trim) else {
            return false;
        };
        let before = self.text[self.start..].strip_suffix(read);
        let is_last = before.is_some_and(|text| !text.ends_with('\\')) && self.closed.is_empty();
        let left = self.text.len() - if is_last { read.len() } else { 0 };
        let opens_here = |open: &Written| {
            open.mark == Mark::Link || open.at + open.mark.delimiter().len() >= left
        };
        if self.code.is_some() || !is_last || self.written.last().is_some_and(opens_here) {
            return false;
        }
        self.text.truncate(left);
        self.plain.truncate(plain_length);
        self.space |= self.text.ends_with(' ');
        let kept = self.text.trim_end_matches([' ', '\n']).len();
        self.text.truncate(kept.max(self.start));
        true
    }

    /// Whether the current block holds this position.
    pub(super) fn is_in_block(&self, text_length: usize) -> bool {
        text_length >= self.start
    }

    /// How much is written, for [`Writer::drop_link_text`].
    pub(super) fn position(&self) -> (usize, usize) {
        (self.text.len(), self.plain.len())
    }

    fn start_block(&mut self) {
        self.start = self.text.len();
        self.plain.clear();
        self.words = 0;
        self.link_words = 0;
        self.ideographs = 0;
    }

    fn run(&mut self, run: &str) {
        let mut rest = run;
        while let Some(first) = rest.chars().next() {
            self.before(first);
            // A mark that cannot open before a sign waits for the next letter.
            let now = if self.wanted.len() == self.written.len() || first.is_alphanumeric() {
                rest.len()
            } else {
                rest.find(char::is_alphanumeric).unwrap_or(rest.len())
            };
            self.text.push_str(&rest[..now]);
            self.plain.push_str(&rest[..now]);
            rest = &rest[now..];
        }
        if !self.in_word && !run.is_empty() {
            self.in_word = true;
            self.count_word();
        }
    }

    fn count_word(&mut self) {
        self.words += 1;
        if self.target.is_some() {
            self.link_words += 1;
        }
    }

    /// One character that means something in markdown, escaped where it would.
    fn special(&mut self, text: &str, at: usize) {
        let c = char::from(text.as_bytes()[at]);
        let next = text[at + 1..].chars().find(|c| !is_dropped(*c));
        let previous = match text[..at].chars().rfind(|c| !is_dropped(*c)) {
            Some(previous) => previous,
            None if self.line_break => '\n',
            None if self.space => ' ',
            None => self.text[self.start..].chars().next_back().unwrap_or(' '),
        };
        self.before(c);
        if self.means_something(c, previous, next, &text[at + 1..]) {
            self.text.push('\\');
        }
        self.text.push(c);
        self.plain.push(c);
        if !self.in_word && c != '(' {
            self.in_word = true;
            self.count_word();
        }
    }

    fn means_something(&self, c: char, previous: char, next: Option<char>, rest: &str) -> bool {
        let spaced = previous.is_whitespace()
            && next.is_some_and(char::is_whitespace)
            && self.wanted.is_empty();
        match c {
            '`' => true,
            '\\' => {
                let mark_waits = self.wanted.len() > self.written.len();
                mark_waits || next.is_none_or(|next| !next.is_alphanumeric())
            }
            '*' => !spaced,
            '_' => {
                let inside_word =
                    previous.is_alphanumeric() && next.is_some_and(char::is_alphanumeric);
                !spaced && !inside_word
            }
            '~' => {
                next.is_none_or(|next| next == '~')
                    || !previous.is_whitespace()
                    || previous == '\n'
                    || !self.wanted.is_empty()
            }
            // In a link's text, or where an item would become a task.
            '[' => {
                let starts_block = self.plain.is_empty();
                self.target.is_some() || (starts_block && is_task_box(rest))
            }
            ']' => self.target.is_some(),
            '(' | ':' => {
                let before = self.text.trim_end_matches(['*', '~']);
                before.strip_suffix(']').is_some_and(|before| {
                    let backslashes = before.bytes().rev().take_while(|b| *b == b'\\').count();
                    backslashes % 2 == 0
                })
            }
            '<' => next.is_none_or(|next| next.is_ascii_alphabetic() || "/!?".contains(next)),
            ';' => ends_in_entity(&self.text[self.start..]),
            _ => false,
        }
    }

    /// Writes what was held back, knowing the character that follows.
    fn before(&mut self, next: char) {
        if self.listing.is_some() {
            self.inline_listing();
        }
        if std::mem::take(&mut self.raised) && (next.is_ascii_digit() || matches!(next, '-' | '−'))
        {
            self.text.push('^');
            self.plain.push('^');
            self.closed.clear();
        }
        if !self.space && self.closed.is_empty() && self.wanted.len() == self.written.len() {
            return;
        }
        let mut spaced = self.text.len() == self.start;
        if !spaced && self.line_break {
            self.text.push_str("  \n");
            self.plain.push(' ');
            spaced = true;
        } else if !spaced && self.space {
            self.text.push(' ');
            self.plain.push(' ');
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

    fn wants(&self, mark: Mark) -> bool {
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

    fn close_down_to(&mut self, depth: usize) {
        while self.written.len() > depth {
            let Some(written) = self.written.pop() else {
                return;
            };
            if written.mark == Mark::Link {
                self.close_link();
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

    fn inline_listing(&mut self) {
        if let Some(code) = self.listing.take() {
            self.code_span(&code);
        }
    }

    /// Writes code of several lines as it stands, if the block holds nothing else.
    fn push_listing(&mut self) -> bool {
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

    /// A link that holds several blocks leads on from the first with text; repeating its address tells nothing.
    fn close_link(&mut self) {
        let Some(target) = &self.target else { return };
        self.text.push_str("](");
        let url_start = self.text.len();
        push_destination(&mut self.text, &target.url);
        let url = Span::new(url_start, self.text.len());
        let text = self.plain[target.from.min(self.plain.len())..].trim();
        if !target.title.eq_ignore_ascii_case(text) {
            push_title(&mut self.text, &target.title);
        }
        self.text.push(')');
        if text.is_empty() {
            return;
        }
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
        self.wanted.retain(|(mark, _)| *mark != Mark::Link);
    }
}

/// Whether marks of both signs are among these: to each the other is a sign beside it.
fn is_mixed(mut marks: impl Iterator<Item = Mark> + Clone) -> bool {
    marks.clone().any(|mark| mark == Mark::Strike) && marks.any(|mark| mark != Mark::Strike)
}

/// Whether code that stands alone is meant to be read line by line.
fn is_listing(code: &str) -> bool {
    let code = code.trim();
    code.contains(CODE_LINE_BREAK) || code.bytes().filter(|b| *b == b'\n').count() >= 2
}

/// Signs that are never escaped and end nothing but a sentence.
fn is_plain_sign(c: char) -> bool {
    if c.is_ascii() {
        return matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '"' | '\'' | '%');
    }
    !c.is_alphanumeric() && !c.is_whitespace()
}

/// Whether `[` before this text makes a box at the start of an item.
fn is_task_box(rest: &str) -> bool {
    let bytes = rest.as_bytes();
    matches!(bytes, [b' ' | b'x' | b'X', b']', ..])
}
