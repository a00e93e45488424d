//! Writes the text of one block after another as inline markdown: white space collapsed, characters escaped that
//! would mean something, emphasis, links and code spans closed before a block ends and taken up again in the next.
//! Knows nothing of elements or of where a block stands; what only matters at the start of a line is escaped by
//! `render`.

mod code;
mod marks;

use super::counts::Counts;
use super::escape::{
    CLASSES, Class, classify_wide, ends_in_entity, is_dropped, push_alt, push_destination,
};
use super::outline::{LinkSpan, Span};

use code::CODE_LINE_BREAK;
pub(super) use marks::Mark;
use marks::{Target, Written};

/// So much of a block is held without markup too. Of longer blocks the beginning says enough.
const PLAIN_BYTES_MAX: usize = 128 * 1024;

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
    /// The bytes that it has, or would have without its bound.
    plain_bytes: usize,
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

    pub(super) fn is_in_code(&self) -> bool {
        self.code.is_some()
    }

    /// The current block without markup, as far as it is written.
    pub(super) fn plain(&self) -> &str {
        &self.plain
    }

    /// The same, if the next text follows without white space between.
    pub(super) fn word_before(&self) -> &str {
        let is_whole = self.plain_bytes == self.plain.len();
        match self.space || self.line_break || !is_whole {
            true => "",
            false => &self.plain,
        }
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
                let mut width = width;
                match class {
                    Class::Space => self.gap(),
                    Class::Special => width = self.special(text, at),
                    Class::Ideograph => {
                        self.run(&text[at..at + width]);
                        self.ideographs += 1;
                        self.in_word = true;
                    }
                    _ => {}
                }
                at += width;
                from = at;
                continue;
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
        self.push_plain(markdown);
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
            counts: Counts::of_beginning(&self.plain, self.plain_bytes),
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
        if self.plain.len() + 4 > PLAIN_BYTES_MAX {
            return false;
        }
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
        self.plain_bytes = plain_length;
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
        self.plain_bytes = 0;
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
            self.push_plain(&rest[..now]);
            rest = &rest[now..];
        }
        if !self.in_word && !run.is_empty() {
            self.in_word = true;
            self.count_word();
        }
    }

    fn push_plain(&mut self, text: &str) {
        let room = PLAIN_BYTES_MAX.saturating_sub(self.plain.len());
        self.plain.push_str(&text[..text.floor_char_boundary(room)]);
        self.plain_bytes += text.len();
    }

    fn count_word(&mut self) {
        self.words += 1;
        if self.target.is_some() {
            self.link_words += 1;
        }
    }

    /// A character that means something in markdown, or a run of it, escaped where it would. Gives its length.
    fn special(&mut self, text: &str, at: usize) -> usize {
        let c = char::from(text.as_bytes()[at]);
        let is_delimiter = matches!(c, '*' | '_' | '~');
        let run = text[at..].bytes().take_while(|b| char::from(*b) == c);
        let length = if is_delimiter { run.count() } else { 1 };
        let next = text[at + length..].chars().find(|c| !is_dropped(*c));
        let previous = match text[..at].chars().rfind(|c| !is_dropped(*c)) {
            Some(previous) => previous,
            None if self.line_break => '\n',
            None if self.space => ' ',
            None => self.text[self.start..].chars().next_back().unwrap_or(' '),
        };
        let follows_mark = !self.closed.is_empty() && !self.space;
        self.before(c);
        let escaped = match is_delimiter {
            true if follows_mark => length,
            true => self.escaped_of_run(c, length, previous, next),
            false => usize::from(self.means_something(c, next, &text[at + 1..])),
        };
        for number in 0..length {
            self.text.push_str(if number < escaped { "\\" } else { "" });
            self.text.push(c);
        }
        self.push_plain(&text[at..at + length]);
        if !self.in_word && c != '(' {
            self.in_word = true;
            self.count_word();
        }
        length
    }

    /// How many of a run of delimiters are escaped, so that it is text. Runs are left as they are where they open nothing,
    /// if nothing is open (CommonMark 6.2): before white space, and underscores within a word.
    fn escaped_of_run(&self, c: char, length: usize, previous: char, next: Option<char>) -> usize {
        let ends_here = previous != c && next.is_some_and(|next| next != c);
        let is_alone = ends_here && self.wanted.is_empty();
        let is_text = match c {
            '_' if previous.is_alphanumeric() && next.is_some_and(char::is_alphanumeric) => true,
            '_' => is_alone && next.is_some_and(char::is_whitespace),
            // Only between spaces: stars at the end of a word are read as marks by more than markdown's own parsers.
            '*' => is_alone && previous.is_whitespace() && next.is_some_and(char::is_whitespace),
            // Only one and two strike; three and more begin a fence at the start of a line.
            _ if is_alone && length >= 4 => return 1,
            _ => is_alone && length == 1 && previous != '\n' && previous.is_whitespace(),
        };
        if is_text { 0 } else { length }
    }

    fn means_something(&self, c: char, next: Option<char>, rest: &str) -> bool {
        match c {
            '`' => true,
            '\\' => {
                let mark_waits = self.wanted.len() > self.written.len();
                mark_waits || next.is_none_or(|next| !next.is_alphanumeric())
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
}

/// Whether `[` before this text makes a box at the start of an item.
fn is_task_box(rest: &str) -> bool {
    let bytes = rest.as_bytes();
    matches!(bytes, [b' ' | b'x' | b'X', b']', ..])
}
