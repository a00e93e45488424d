//! Writes kept blocks as a markdown document: headings, lists, quotes, code and the lines between them. Knows the
//! outline and CommonMark's block structure; decides nothing about what is kept.

use std::ops::Range;

use super::FREED_AT_ONCE_BYTES;
use super::escape::longest_backtick_run;
use super::outline::{Block, Kind, NodeId, Outline, Shape};
use super::passages::{Passage, PassageKind};
use super::tables;
use super::tag::Tag;

/// No document is written larger; only markup made for it gets there.
pub(super) const MARKDOWN_BYTES_MAX: usize = 10 * 1024 * 1024;

/// What a block takes beside its text where it stands in no container.
const BLOCK_BYTES: usize = 3;

/// The document would be larger than [`MARKDOWN_BYTES_MAX`].
#[derive(Debug)]
pub(super) struct TooLong;

/// A document, and where its pieces stand in it.
#[derive(Debug)]
pub(super) struct Rendered {
    /// Ends with one line end.
    pub(super) markdown: String,
    pub(super) passages: Vec<Passage>,
}

/// The markdown of these blocks. The outline's text is gone afterwards: it is let go as it is written.
pub(super) fn render(outline: &mut Outline, kept: &[usize]) -> Result<Rendered, TooLong> {
    let mut source = Source::new(outline, kept);
    let outline = &*outline;
    let written = |&at: &usize| outline.blocks[at].text.range().len() + BLOCK_BYTES;
    let mut renderer = Renderer {
        outline,
        // All at once: a string that doubles holds up to three times its text.
        out: String::with_capacity(kept.iter().map(written).sum::<usize>()),
        passages: Vec::new(),
        headings: 0,
        frames: Vec::new(),
        chain: Vec::new(),
        repeated_bytes_left: tables::REPEATED_BYTES_MAX,
    };
    let mut rest = kept;
    while let Some((&first, after)) = rest.split_first() {
        outline.work.step();
        source.written = kept.len() - rest.len();
        source.let_go(usize::MAX);
        let block = &outline.blocks[first];
        renderer.outline.containers(block.node, &mut renderer.chain);
        let table = renderer
            .chain
            .iter()
            .position(|&id| outline.is_data_table(id));
        rest = match table {
            Some(at) => {
                let table = renderer.chain[at];
                renderer.chain.truncate(at);
                let count = rest
                    .iter()
                    .take_while(|&&block| tables::stands_in(outline, block, table))
                    .count();
                renderer.table(&rest[..count], &source);
                &rest[count..]
            }
            None => {
                let keeps_frame = |&id: &NodeId| {
                    !matches!(
                        outline.node(id).shape,
                        Shape::Table(_) | Shape::Row { .. } | Shape::Cell { .. } | Shape::Caption
                    )
                };
                renderer.chain.retain(keeps_frame);
                source.written += 1;
                match after {
                    [value, later @ ..] if is_point(outline, first, *value, &source) => {
                        renderer.point(block, &outline.blocks[*value], &source);
                        later
                    }
                    [value, later @ ..] if is_value(outline, first, *value, later, &source) => {
                        renderer.labelled(block, &outline.blocks[*value], &source);
                        later
                    }
                    _ => {
                        renderer.block(block, &mut source);
                        after
                    }
                }
            }
        };
        if renderer.is_full() {
            return Err(TooLong);
        }
    }
    if !renderer.out.is_empty() {
        renderer.out.push('\n');
    }
    Ok(Rendered {
        markdown: renderer.out,
        passages: renderer.passages,
    })
}

/// A value has so many words at most; more are an explanation.
const VALUE_WORDS_MAX: u32 = 12;

/// Whether a block is all that is said of the term before it, and short: a figure, a name, a date, not a sentence.
fn is_value(
    outline: &Outline,
    term: usize,
    value: usize,
    later: &[usize],
    source: &Source,
) -> bool {
    let block = |at: usize| &outline.blocks[at];
    let node = |at: usize| outline.node(block(at).node);
    let is_next =
        |at: usize| node(at).tag == Tag::Definition && node(at).parent == node(value).parent;
    node(term).tag == Tag::Term
        && is_next(value)
        && node(term).parent == node(value).parent
        && [term, value]
            .iter()
            .all(|&at| block(at).kind == Kind::Paragraph)
        && (1..=VALUE_WORDS_MAX).contains(&block(value).words)
        && !block(value).counts.ends_sentence
        && !source.markdown(block(value)).contains('\n')
        && !later
            .first()
            .is_some_and(|&at| is_next(at) || outline.node(node(at).parent).tag == Tag::Definition)
}

/// Whether a block is the number of the point that the next one says: `(a)`, `1.`, in a cell or a term of its own, as laws
/// have them.
fn is_point(outline: &Outline, number: usize, text: usize, source: &Source) -> bool {
    let block = |at: usize| &outline.blocks[at];
    let node = |at: usize| outline.node(block(at).node);
    let are_paragraphs = [number, text]
        .iter()
        .all(|&at| block(at).kind == Kind::Paragraph);
    if !are_paragraphs || !is_number(source.markdown(block(number))) {
        return false;
    }
    if node(number).tag == Tag::Term {
        let ancestors = [block(text).node, node(text).parent];
        return ancestors.iter().any(|&id| {
            let about = outline.node(id);
            about.tag == Tag::Definition && about.parent == node(number).parent
        });
    }
    let row_and_cell = |at: usize| {
        let mut chain = Vec::new();
        outline.containers(block(at).node, &mut chain);
        let mut inner = chain.into_iter().rev();
        let cell = inner.find(|&id| matches!(outline.node(id).shape, Shape::Cell { .. }))?;
        let row = inner.find(|&id| matches!(outline.node(id).shape, Shape::Row { .. }))?;
        Some((row, cell))
    };
    match (row_and_cell(number), row_and_cell(text)) {
        (Some((row, cell)), Some((other_row, other_cell))) => {
            row == other_row && cell != other_cell
        }
        _ => false,
    }
}

/// `(a)`, `(iv)`, `12.`, `3a)`.
fn is_number(markdown: &str) -> bool {
    let text = markdown.trim_matches('*');
    let (inside, is_closed) = match text.strip_suffix(')') {
        Some(inside) => (inside.strip_prefix('(').unwrap_or(inside), true),
        None => (text.strip_suffix('.').unwrap_or(""), false),
    };
    let letters = inside.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = inside.len() - letters.len();
    let is_letter = |c: char| c.is_ascii_lowercase();
    let is_roman = letters.chars().all(|c| "ivx".contains(c));
    match (digits, letters.len()) {
        (1..=3, 0) => true,
        (1..=3, 1) => letters.chars().all(is_letter),
        (0, 1..=2) => is_closed && letters.chars().all(is_letter),
        (0, 3..=6) => is_closed && is_roman,
        _ => false,
    }
}

/// The text of the blocks that are not written yet.
struct Source {
    text: String,
    /// Bytes before it that were let go.
    gone: usize,
    /// For each kept block where the first text of it and the later ones begins; of long texts only.
    firsts: Vec<usize>,
    /// Kept blocks so far.
    written: usize,
}

impl Source {
    fn new(outline: &mut Outline, kept: &[usize]) -> Source {
        let text = std::mem::take(&mut outline.text);
        let mut first = text.len();
        let starts = kept.iter().rev().map(|&block| outline.blocks[block].text);
        let mut firsts: Vec<usize> = starts
            .map(|span| {
                if !span.range().is_empty() {
                    first = first.min(span.range().start);
                }
                first
            })
            .collect();
        firsts.reverse();
        Source {
            text,
            gone: 0,
            firsts,
            written: 0,
        }
    }

    fn markdown(&self, block: &Block) -> &str {
        self.piece(block.text.range())
    }

    fn piece(&self, range: Range<usize>) -> &str {
        match range.is_empty() {
            true => "",
            false => &self.text[range.start - self.gone..range.end - self.gone],
        }
    }

    /// Lets go of what stands before this place and before every block that is not written.
    fn let_go(&mut self, before: usize) {
        let end = self.gone + self.text.len();
        let first = self.firsts.get(self.written).copied().unwrap_or(end);
        let until = first.min(before);
        if until >= self.gone + FREED_AT_ONCE_BYTES {
            self.text.drain(..until - self.gone);
            self.text.shrink_to_fit();
            self.gone = until;
        }
    }
}

struct Renderer<'a> {
    outline: &'a Outline,
    out: String,
    passages: Vec<Passage>,
    /// Headings with a text so far.
    headings: usize,
    /// The containers that the last block stood in.
    frames: Vec<Frame>,
    /// The containers of the next block, outermost first.
    chain: Vec<NodeId>,
    /// Of [`tables::REPEATED_BYTES_MAX`].
    repeated_bytes_left: usize,
}

/// An open container and what it puts before each line.
#[derive(Clone, Copy)]
struct Frame {
    id: NodeId,
    /// Columns that content is indented by.
    width: usize,
    is_quote: bool,
    /// A list beside another one needs other marks to be a list of its own (CommonMark 5.3).
    other_marks: bool,
}

impl Renderer<'_> {
    /// Whether no more is written: each line of a single block repeats the marks of its containers.
    fn is_full(&self) -> bool {
        self.out.len() > MARKDOWN_BYTES_MAX
    }

    fn block(&mut self, block: &Block, source: &mut Source) {
        self.open();
        let outline = self.outline;
        let mut start = self.out.len();
        match block.kind {
            Kind::Paragraph => self.paragraph(block.text.range(), source),
            Kind::Heading(level, label) => {
                let markdown = source.markdown(block);
                for _ in 0..level {
                    self.out.push('#');
                }
                self.out.push(' ');
                start = self.out.len();
                self.headings += usize::from(!outline.label(label).is_empty());
                self.lines(markdown, false);
                // A closing sequence would be taken for decoration.
                if markdown == "#" || markdown.ends_with(" #") || markdown.ends_with("##") {
                    self.out.insert(self.out.len() - 1, '\\');
                }
            }
            Kind::Code(language) => {
                self.code(source.markdown(block), outline.label(language));
            }
            // Behind a list's mark, `---` would make a rule of the whole line.
            Kind::Rule => self
                .out
                .push_str(if self.frames.is_empty() { "---" } else { "___" }),
        }
        if let Some(kind) = self.passage_kind(block) {
            self.passage(kind, start);
        }
    }

    /// A term and its value on one line.
    fn labelled(&mut self, term: &Block, value: &Block, source: &Source) {
        self.open();
        let start = self.out.len();
        let label = source.markdown(term);
        self.lines(label, true);
        let ends = label
            .trim_end_matches('*')
            .ends_with([':', '?', '.', '!', '：']);
        self.out.push_str(if ends { " " } else { ": " });
        self.out.push_str(source.markdown(value));
        self.passage(PassageKind::Paragraph, start);
    }

    /// The number of a point and its text.
    fn point(&mut self, number: &Block, text: &Block, source: &Source) {
        self.open();
        let start = self.out.len();
        self.out.push_str(source.markdown(number).trim_matches('*'));
        self.out.push(' ');
        self.lines(source.markdown(text), false);
        self.passage(PassageKind::Paragraph, start);
    }

    fn passage_kind(&self, block: &Block) -> Option<PassageKind> {
        let around = self.frames.iter().rev();
        let mut shapes = around.map(|frame| self.outline.node(frame.id).shape);
        Some(match block.kind {
            Kind::Rule => return None,
            Kind::Heading(..) => PassageKind::Heading,
            Kind::Code(_) => PassageKind::Code,
            Kind::Paragraph => match shapes.next() {
                Some(Shape::Item { .. }) => PassageKind::Item,
                Some(Shape::Quote) => PassageKind::Quote,
                _ => PassageKind::Paragraph,
            },
        })
    }

    /// What was written since `start` is one.
    fn passage(&mut self, kind: PassageKind, start: usize) {
        let passage = Passage::new(kind, &(start..self.out.len()), self.headings);
        self.passages.push(passage);
    }

    fn code(&mut self, code: &str, language: &str) {
        let fence = "`".repeat((longest_backtick_run(code) + 1).max(3));
        self.out.push_str(&fence);
        self.out.push_str(language);
        for line in code.lines() {
            if self.is_full() {
                return;
            }
            self.next_line();
            self.out.push_str(line);
            if line.is_empty() {
                self.trim_line();
            }
        }
        self.next_line();
        self.out.push_str(&fence);
    }

    fn table(&mut self, blocks: &[usize], source: &Source) {
        let table = tables::read(self.outline, blocks);
        for &caption in &table.captions {
            self.open();
            let start = self.out.len();
            self.lines(source.markdown(caption), true);
            self.passage(PassageKind::Paragraph, start);
        }
        if table.is_empty() {
            return;
        }
        self.open();
        let has_row_headers = table.has_row_headers();
        if has_row_headers {
            tables::push_row(&mut self.out, &[], table.columns);
            self.next_line();
            tables::push_delimiters(&mut self.out, table.columns);
        }
        let markdown = |block: &Block| source.markdown(block);
        let head_rows = if has_row_headers {
            0
        } else {
            table.head_rows()
        };
        let mut repeated = self.repeated_bytes_left;
        let mut cells = tables::Cells::new(&mut repeated);
        let mut rows = table.rows();
        if head_rows > 0 {
            let head: Vec<_> = rows.by_ref().take(head_rows).collect();
            let start = self.out.len();
            tables::push_row(&mut self.out, &cells.head(&head, markdown), table.columns);
            self.passage(PassageKind::Row, start);
            self.next_line();
            tables::push_delimiters(&mut self.out, table.columns);
        }
        for row in rows {
            if self.is_full() {
                return;
            }
            self.next_line();
            let start = self.out.len();
            tables::push_row(&mut self.out, &cells.row(row, markdown), 0);
            self.passage(PassageKind::Row, start);
        }
        self.repeated_bytes_left = repeated;
    }

    /// A long paragraph is let go as it is written: it may be the whole page.
    fn paragraph(&mut self, mut range: Range<usize>, source: &mut Source) {
        let mut starts_line = true;
        while !range.is_empty() {
            let rest = source.piece(range.clone());
            let piece = &rest[..rest.floor_char_boundary(FREED_AT_ONCE_BYTES)];
            range.start += piece.len();
            starts_line = self.lines(piece, starts_line);
            source.let_go(range.start);
        }
    }

    /// Text whose lines, but for the first, begin where a line of the document does. Gives whether its end is one.
    fn lines(&mut self, text: &str, mut starts_line: bool) -> bool {
        for (at, line) in text.split('\n').enumerate() {
            if self.is_full() {
                return false;
            }
            if at > 0 {
                self.next_line();
                starts_line = true;
            }
            if starts_line {
                push_escaped_line(&mut self.out, line);
            } else {
                self.out.push_str(line);
            }
            starts_line &= line.is_empty();
        }
        starts_line
    }

    /// Ends the last block and begins the next one in the containers of `chain`.
    fn open(&mut self) {
        let common = self
            .frames
            .iter()
            .zip(&self.chain)
            .take_while(|(frame, id)| frame.id == **id)
            .count();
        let shape = |id: NodeId| self.outline.node(id).shape;
        let closed = self.frames.get(common).copied();
        let next = self.chain.get(common).map(|&id| shape(id));
        let is_tight = match (next, common.checked_sub(1).map(|at| shape(self.chain[at]))) {
            (Some(Shape::Item { .. }), Some(Shape::List { .. })) => true,
            (Some(Shape::List { .. }), Some(Shape::Item { .. } | Shape::List { .. })) => true,
            // Items that stand in no list.
            (Some(Shape::Item { .. }), _) => {
                closed.is_some_and(|frame| matches!(shape(frame.id), Shape::Item { .. }))
            }
            _ => false,
        };
        // Only a list that begins with 1 can interrupt a paragraph (CommonMark 5.3).
        let first_item = self.chain[common..].iter().find_map(|&id| match shape(id) {
            Shape::Item { number } => number,
            _ => None,
        });
        let interrupts = !matches!(next, Some(Shape::List { .. }))
            || first_item.is_none_or(|number| number == 1);
        self.frames.truncate(common);
        if !self.out.is_empty() {
            if !is_tight || !interrupts {
                self.next_line();
                self.trim_line();
            }
            self.next_line();
        }
        let other_marks = closed.is_some_and(|frame| {
            let is_list = matches!(next, Some(Shape::List { .. }));
            is_list && next == Some(shape(frame.id)) && !frame.other_marks
        });
        for at in common..self.chain.len() {
            self.enter(self.chain[at], at == common, other_marks);
        }
    }

    /// Opens a container. `continues` says that its parent was open before and may hold an item already.
    fn enter(&mut self, id: NodeId, continues: bool, other_marks: bool) {
        let parent = self.frames.last().copied();
        let parent_shape = parent.map(|frame| self.outline.node(frame.id).shape);
        let mut frame = Frame {
            id,
            width: 0,
            is_quote: false,
            other_marks,
        };
        match self.outline.node(id).shape {
            Shape::Quote => {
                frame.is_quote = true;
                self.out.push_str("> ");
            }
            // A list right inside a list belongs to the item before it.
            Shape::List { .. } => {
                frame.width = match parent_shape {
                    Some(Shape::List { .. }) if !continues => 0,
                    Some(Shape::List { ordered: false }) => 2,
                    Some(Shape::List { ordered: true }) => 3,
                    _ => 0,
                };
                push_spaces(&mut self.out, frame.width);
            }
            Shape::Item { number } => {
                let other_marks = parent.is_some_and(|frame| frame.other_marks);
                let before = self.out.len();
                match number {
                    Some(number) => {
                        self.out.push_str(&number.to_string());
                        self.out.push_str(if other_marks { ") " } else { ". " });
                    }
                    None => self.out.push_str(if other_marks { "* " } else { "- " }),
                }
                frame.width = self.out.len() - before;
            }
            Shape::Note { label, is_word } => {
                self.out.push_str("[^");
                self.out.push_str(self.outline.label(label));
                self.out.push_str(if is_word { "]\\: " } else { "]: " });
                frame.width = 4;
            }
            _ => {}
        }
        self.frames.push(frame);
    }

    /// Begins another line in the open containers.
    fn next_line(&mut self) {
        self.out.push('\n');
        for frame in &self.frames {
            if frame.is_quote {
                self.out.push_str("> ");
            } else {
                push_spaces(&mut self.out, frame.width);
            }
        }
    }

    /// Nothing is left at the end of an empty line.
    fn trim_line(&mut self) {
        let kept = self.out.trim_end_matches(' ').len();
        self.out.truncate(kept);
    }
}

fn push_spaces(out: &mut String, count: usize) {
    for _ in 0..count {
        out.push(' ');
    }
}

/// Whether a line holds one sign and spaces alone, which draws a rule.
fn is_rule(line: &[u8]) -> bool {
    line.iter().all(|b| *b == line[0] || *b == b' ')
}

/// A line of text, escaped where it would begin a heading, a list, a quote, a rule or a table.
pub(super) fn push_escaped_line(out: &mut String, line: &str) {
    let bytes = line.as_bytes();
    let ends_mark = |at: usize| bytes.get(at).is_none_or(|b| b.is_ascii_whitespace());
    let digits = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
    let escaped_at = match bytes.first() {
        Some(b'>' | b'|') => Some(0),
        Some(b'=') => bytes.iter().all(|b| matches!(b, b'=' | b' ')).then_some(0),
        Some(b'#') => {
            let hashes = bytes.iter().take_while(|&&b| b == b'#').count();
            (hashes <= 6 && ends_mark(hashes)).then_some(0)
        }
        Some(b'-') => (ends_mark(1) || matches!(bytes[1], b'-' | b'|' | b':')).then_some(0),
        Some(b'+') => ends_mark(1).then_some(0),
        Some(b'*') => (ends_mark(1) || is_rule(bytes)).then_some(0),
        Some(b'_') => is_rule(bytes).then_some(0),
        Some(b':') => (bytes.get(1) == Some(&b'-')).then_some(0),
        Some(b'0'..=b'9') if digits <= 9 => {
            let is_mark = matches!(bytes.get(digits), Some(b'.' | b')')) && ends_mark(digits + 1);
            is_mark.then_some(digits)
        }
        _ => None,
    };
    match escaped_at {
        Some(at) => {
            out.push_str(&line[..at]);
            out.push('\\');
            out.push_str(&line[at..]);
        }
        None => out.push_str(line),
    }
}

#[cfg(test)]
mod tests {
    use super::super::outline::PAGE;
    use super::*;

    /// Lines of code within quotes took thirty times their text, because the bound was held only between blocks.
    #[test]
    fn a_single_block_is_held_to_the_bound() {
        let outline = Outline::new();
        let quote = Frame {
            id: PAGE,
            width: 0,
            is_quote: true,
            other_marks: false,
        };
        let mut renderer = Renderer {
            outline: &outline,
            out: String::new(),
            passages: Vec::new(),
            headings: 0,
            frames: vec![quote; 16],
            chain: Vec::new(),
            repeated_bytes_left: 0,
        };
        let text = "a\n".repeat(MARKDOWN_BYTES_MAX / 16);
        let mut written = |write: fn(&mut Renderer<'_>, &str)| {
            renderer.out.clear();
            write(&mut renderer, &text);
            renderer.out.len()
        };
        let lines = [
            written(|renderer, text| renderer.code(text, "")),
            written(|renderer, text| {
                renderer.lines(text, true);
            }),
        ];
        for length in lines {
            assert!(length > MARKDOWN_BYTES_MAX);
            assert!(length < MARKDOWN_BYTES_MAX + 64, "{length}");
        }
    }
}
