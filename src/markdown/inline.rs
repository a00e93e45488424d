//! Writes the text of one block after another as inline markdown: white space collapsed, characters escaped that
//! would mean something, emphasis, links and code spans closed before a block ends and taken up again in the next.
//! Knows nothing of elements or of where a block stands; what only matters at the start of a line is escaped by
//! `render`.

use super::escape::{
    CLASSES, Class, classify_wide, is_entity_like, push_code_span, push_destination,
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

/// Where the open link leads.
#[derive(Debug, Default)]
struct Target {
    url: String,
    rel: String,
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
    written: Vec<Mark>,
    /// The delimiter that was written last, while nothing follows it.
    closed: Option<Mark>,
    target: Option<Target>,
    /// The code span being read.
    code: Option<String>,
}

/// What a finished block was.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) text: Span,
    pub(super) words: u32,
    pub(super) link_words: u32,
    pub(super) counts: Counts,
}

impl Writer {
    pub(super) fn is_empty(&self) -> bool {
        self.text.len() == self.start && self.code.is_none()
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
        if let Some(at) = self.written.iter().position(|open| *open == mark) {
            self.close_down_to(at);
        }
    }

    pub(super) fn begin_link(&mut self, url: String, rel: String) {
        self.target = Some(Target { url, rel, from: 0 });
        self.begin(Mark::Link);
    }

    pub(super) fn end_link(&mut self) {
        self.end(Mark::Link);
        self.target = None;
    }

    pub(super) fn begin_code(&mut self) {
        if self.code.is_none() {
            self.code = Some(String::new());
        }
    }

    pub(super) fn end_code(&mut self) {
        let Some(code) = self.code.take() else { return };
        let spaced_before = code.starts_with(|c: char| c.is_whitespace());
        let spaced_after = code.ends_with(|c: char| c.is_whitespace());
        let mut joined = String::with_capacity(code.len());
        for word in code.split_whitespace() {
            if !joined.is_empty() {
                joined.push(' ');
            }
            joined.push_str(word);
            self.count_word();
        }
        if spaced_before {
            self.gap();
        }
        if !joined.is_empty() {
            // Two spans side by side would be read as one with a longer fence.
            if self.text.ends_with('`') && self.text.len() > self.start {
                self.space = true;
            }
            self.before('`');
            self.plain.push_str(&joined);
            push_code_span(&mut self.text, &joined);
            self.in_word = true;
        }
        if spaced_after {
            self.gap();
        }
    }

    /// An image; `url` is absolute.
    pub(super) fn image(&mut self, alt: &str, url: &str) {
        self.before('!');
        self.text.push_str("![");
        let mut first = true;
        for word in alt.split_whitespace() {
            if !first {
                self.text.push(' ');
            }
            first = false;
            for c in word.chars() {
                if matches!(c, '\\' | '[' | ']' | '*' | '_' | '`' | '<' | '&') {
                    self.text.push('\\');
                }
                self.text.push(c);
            }
        }
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
        let start = self.labels.len();
        self.labels.push_str(self.plain.trim());
        Span::new(start, self.labels.len())
    }

    /// Ends the block. `None` when nothing was written since the last one.
    pub(super) fn finish(&mut self, block: u32) -> Option<Finished> {
        let was_code = self.code.is_some();
        self.end_code();
        self.close_down_to(0);
        self.space = false;
        self.line_break = false;
        self.raised = false;
        self.in_word = false;
        self.closed = None;
        if was_code {
            self.begin_code();
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
        });
        self.start_block();
        finished
    }

    /// Takes back everything of this block from the link's text on: it was a mark to click, not to read.
    pub(super) fn drop_link_text(&mut self, text_length: usize, plain_length: usize) {
        if self.code.is_none() && self.written.is_empty() && text_length >= self.start {
            self.text.truncate(text_length);
            self.plain.truncate(plain_length);
        }
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
        let Some(first) = run.chars().next() else {
            return;
        };
        self.before(first);
        self.text.push_str(run);
        self.plain.push_str(run);
        if !self.in_word {
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
        let next = text[at + 1..].chars().next();
        let previous = match text[..at].chars().next_back() {
            Some(previous) => previous,
            None if self.space || self.line_break => ' ',
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
        let spaced = previous.is_whitespace() && next.is_some_and(char::is_whitespace);
        match c {
            '`' => true,
            '\\' => next.is_none_or(|next| next.is_ascii_punctuation()),
            '*' => !spaced,
            '_' => {
                let inside_word =
                    previous.is_alphanumeric() && next.is_some_and(char::is_alphanumeric);
                !spaced && !inside_word
            }
            '~' => next == Some('~') || !previous.is_whitespace(),
            '[' | ']' => self.target.is_some(),
            '(' | ':' => self.text.ends_with(']') && !self.text.ends_with("\\]"),
            '<' => next.is_none_or(|next| next.is_ascii_alphabetic() || "/!?".contains(next)),
            '&' => is_entity_like(rest),
            _ => false,
        }
    }

    /// Writes what was held back, knowing the character that follows.
    fn before(&mut self, next: char) {
        if std::mem::take(&mut self.raised) && (next.is_ascii_digit() || matches!(next, '-' | '−'))
        {
            self.text.push('^');
            self.plain.push('^');
            self.closed = None;
        }
        let closed = self.closed.take();
        if !self.space && closed.is_none() && self.wanted.len() == self.written.len() {
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
        if let Some(mark) = closed.filter(|_| !spaced) {
            self.after_delimiter(mark, next);
        }
        if self.wanted.len() > self.written.len() {
            self.open_marks(next, spaced);
        }
    }

    /// `**a****b**` is no markdown: the same mark just goes on. `**a:**b` would not close and `*a***b**` is read in
    /// more than one way: a space helps.
    fn after_delimiter(&mut self, mark: Mark, next: char) {
        if mark == Mark::Link {
            return;
        }
        let inside = self.text.trim_end_matches(['*', '~']);
        let goes_on = self.wanted.iter().any(|(wanted, _)| *wanted == mark);
        if goes_on {
            self.text.truncate(self.text.len() - mark.delimiter().len());
            self.written.push(mark);
            return;
        }
        let mut opened = self.wanted.iter().map(|(mark, _)| mark);
        let opens_another = opened.any(|mark| *mark != Mark::Link && !self.written.contains(mark));
        let ends_in_sign = !inside.ends_with(char::is_alphanumeric);
        if opens_another || (ends_in_sign && next.is_alphanumeric()) {
            self.text.push(' ');
        }
    }

    fn open_marks(&mut self, next: char, mut spaced: bool) {
        for at in 0..self.wanted.len() {
            let mark = self.wanted[at].0;
            if self.written.contains(&mark) {
                continue;
            }
            let last = self.text[self.start..].chars().next_back();
            if mark == Mark::Link {
                if let Some(target) = &mut self.target {
                    target.from = self.plain.len();
                }
                if last == Some('!') && !spaced {
                    self.text.insert(self.text.len() - 1, '\\');
                }
            } else if !spaced && last.is_some_and(char::is_alphanumeric) && !next.is_alphanumeric()
            {
                // Between a letter and a punctuation mark no emphasis can open.
                self.text.push(' ');
            }
            self.text.push_str(mark.delimiter());
            self.written.push(mark);
            spaced = false;
        }
    }

    fn close_down_to(&mut self, depth: usize) {
        while self.written.len() > depth {
            let Some(mark) = self.written.pop() else {
                return;
            };
            if mark == Mark::Link {
                self.close_link();
            } else {
                self.text.push_str(mark.delimiter());
            }
            self.closed = Some(mark);
        }
    }

    /// A link that holds several blocks leads on from the first with text; repeating its address tells nothing.
    fn close_link(&mut self) {
        let Some(target) = &self.target else { return };
        self.text.push_str("](");
        let url_start = self.text.len();
        push_destination(&mut self.text, &target.url);
        let url = Span::new(url_start, self.text.len());
        self.text.push(')');
        let text = self.plain[target.from.min(self.plain.len())..].trim();
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
