//! Writes kept blocks as a markdown document: headings, lists, quotes, code and the lines between them. Knows the
//! outline and CommonMark's block structure; decides nothing about what is kept.

use super::escape::longest_backtick_run;
use super::outline::{Block, Kind, NodeId, Outline, Shape};
use super::passages::{Passage, PassageKind};
use super::tables;

/// No document is written larger; only markup made for it gets there.
const MARKDOWN_BYTES_MAX: usize = 10 * 1024 * 1024;

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

/// The markdown of these blocks.
pub(super) fn render(outline: &Outline, kept: &[usize]) -> Result<Rendered, TooLong> {
    let written = |&at: &usize| outline.blocks[at].text.range().len() + BLOCK_BYTES;
    let mut renderer = Renderer {
        outline,
        // All at once: a string that doubles holds up to three times its text.
        out: String::with_capacity(kept.iter().map(written).sum::<usize>()),
        passages: Vec::new(),
        headings: 0,
        frames: Vec::new(),
        chain: Vec::new(),
    };
    let mut rest = kept;
    while let Some((&first, after)) = rest.split_first() {
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
                renderer.table(&rest[..count]);
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
                renderer.block(block);
                after
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

    fn block(&mut self, block: &Block) {
        self.open();
        let outline = self.outline;
        let markdown = outline.markdown(block);
        let mut start = self.out.len();
        match block.kind {
            Kind::Paragraph => self.lines(markdown, true),
            Kind::Heading(level, label) => {
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
            Kind::Code(language) => self.code(markdown, outline.label(language)),
            // Behind a list's mark, `---` would make a rule of the whole line.
            Kind::Rule => self
                .out
                .push_str(if self.frames.is_empty() { "---" } else { "___" }),
        }
        if let Some(kind) = self.passage_kind(block) {
            self.passage(kind, start);
        }
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

    fn table(&mut self, blocks: &[usize]) {
        let table = tables::read(self.outline, blocks);
        for caption in &table.captions {
            self.open();
            let start = self.out.len();
            self.lines(caption, true);
            self.passage(PassageKind::Paragraph, start);
        }
        if table.rows.is_empty() {
            return;
        }
        self.open();
        for (number, row) in table.rows.iter().enumerate() {
            if self.is_full() {
                return;
            }
            if number > 0 {
                self.next_line();
            }
            let start = self.out.len();
            tables::push_row(
                &mut self.out,
                row,
                if number == 0 { table.columns } else { 0 },
            );
            self.passage(PassageKind::Row, start);
            if number == 0 {
                self.next_line();
                tables::push_delimiters(&mut self.out, table.columns);
            }
        }
    }

    /// Text whose lines begin where a line of the document does.
    fn lines(&mut self, text: &str, escaped: bool) {
        for (at, line) in text.split('\n').enumerate() {
            if self.is_full() {
                return;
            }
            if at > 0 {
                self.next_line();
            }
            if escaped {
                push_escaped_line(&mut self.out, line);
            } else {
                self.out.push_str(line);
            }
        }
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
        Some(b'+' | b'*') => ends_mark(1).then_some(0),
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
        };
        let text = "a\n".repeat(MARKDOWN_BYTES_MAX / 16);
        let mut written = |write: fn(&mut Renderer<'_>, &str)| {
            renderer.out.clear();
            write(&mut renderer, &text);
            renderer.out.len()
        };
        let lines = [
            written(|renderer, text| renderer.code(text, "")),
            written(|renderer, text| renderer.lines(text, true)),
        ];
        for length in lines {
            assert!(length > MARKDOWN_BYTES_MAX);
            assert!(length < MARKDOWN_BYTES_MAX + 64, "{length}");
        }
    }
}
