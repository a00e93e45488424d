//! A markdown text as pieces that can be kept or left out one by one, in order, and what has to stand between two that
//! are kept. A piece is what is never parted: a heading, a sentence of a paragraph, a row, a fence with all its lines. A JSON
//! document is parted as the engine reads it.

use std::ops::Range;

use crate::evidence::reading::blocks::{heading, is_delimiter, is_rule, item_mark};
use crate::evidence::reading::json::Json;
use crate::evidence::reading::sentences::sentences;

/// What stands for what was left out.
const GAP: &str = "[…]";
/// Pieces that are told apart; the rest of the text is left out, and the excerpt says that it was cut.
const PIECES_MAX: usize = 200_000;

/// A piece of the text that is kept or left out as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Whole lines but for sentences; no white space at its end.
    pub(super) range: Range<usize>,
    pub(super) kind: Kind,
    /// An index into [`Layout::blocks`].
    pub(super) block: usize,
    /// The piece that must be kept with it: its heading, the item it stands in, the header of its table.
    pub(super) needs: Option<usize>,
    /// Bytes of white space before it in its line.
    indent: usize,
    /// The list or table that it belongs to; pieces of one share the number.
    run: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Heading(u8),
    Text,
    Item,
    Quote,
    Row,
    Code,
}

#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) pieces: Vec<Piece>,
    /// The pieces of each block.
    pub(super) blocks: Vec<Range<usize>>,
}

/// An item that later lines may belong to.
#[derive(Clone, Copy)]
struct OpenItem {
    indent: usize,
    piece: usize,
}

struct Scan<'a> {
    text: &'a str,
    layout: Layout,
    /// The headings above by level, as pieces.
    headings: Vec<(u8, usize)>,
    items: Vec<OpenItem>,
    list: usize,
    header: Option<usize>,
    table: usize,
}

impl Layout {
    pub(super) fn of(text: &str) -> Layout {
        if let Some(json) = Json::of(text) {
            return Layout::of_json(text, &json);
        }
        let mut scan = Scan {
            text,
            layout: Layout::default(),
            headings: Vec::new(),
            items: Vec::new(),
            list: 0,
            header: None,
            table: 0,
        };
        let mut at = 0;
        while at < text.len() && scan.layout.pieces.len() < PIECES_MAX {
            at = scan.block(at);
        }
        scan.layout
    }

    /// The lines of each passage, and those that open what it stands in, within the marks of the fence.
    fn of_json(text: &str, json: &Json) -> Layout {
        let mut layout = Layout::default();
        let mut passages = json.ranges().peekable();
        let mut open: Vec<(usize, usize)> = Vec::new();
        let mut at = text.len() - text.trim_start().len();
        let end = text.trim_end().len();
        while at < end && layout.pieces.len() < PIECES_MAX {
            let length = text[at..end]
                .find('\n')
                .map_or(end - at, |length| length + 1);
            let (start, line) = (at, text[at..at + length].trim_end());
            let indent = line.len() - line.trim_start().len();
            at += length;
            let (mut stop, mut is_passage) = (start + line.len(), false);
            // A passage may have several lines, and a line several passages.
            while let Some(passage) = passages.next_if(|passage| passage.start < at) {
                is_passage = true;
                if passage.end > at {
                    let rest = text[passage.end..end].find('\n');
                    at = rest.map_or(end, |rest| passage.end + rest + 1);
                    stop = start + text[start..at].trim_end().len();
                }
            }
            let is_fence = layout.pieces.is_empty() || at >= end;
            if !is_passage && !is_fence && !line.ends_with(['{', '[']) {
                continue;
            }
            while open
                .pop_if(|(outer, _)| *outer >= indent && !is_fence)
                .is_some()
            {}
            let needs = open.last().map(|(_, piece)| *piece).or(Some(0));
            let piece = layout.pieces.len();
            if !is_passage && !is_fence {
                open.push((indent, piece));
            }
            layout.blocks.push(piece..piece + 1);
            layout.pieces.push(Piece {
                range: start..stop,
                kind: Kind::Code,
                block: piece,
                needs: needs.filter(|_| !is_fence),
                indent,
                run: Some(0),
            });
        }
        let last = layout.pieces.len().checked_sub(1);
        if let Some(first) = layout.pieces.first_mut() {
            first.needs = last.filter(|last| *last > 0);
        }
        layout
    }

    /// What stands between two pieces of which the first precedes the other.
    pub(super) fn between(&self, text: &str, one: usize, other: usize) -> String {
        let (before, after) = (&self.pieces[one], &self.pieces[other]);
        if one + 1 == other {
            return text[before.range.end..after.range.start].to_owned();
        }
        let indent = &text[after.range.start..][..after.indent];
        let is_same_run = before.run.is_some() && before.run == after.run;
        if before.block == after.block && after.kind == Kind::Quote {
            return format!("\n>\n> {GAP}\n>\n");
        }
        if before.block == after.block && !matches!(after.kind, Kind::Row | Kind::Code) {
            return format!(" {GAP} ");
        }
        match after.kind {
            Kind::Row if is_same_run => format!("\n{indent}| {GAP} |\n"),
            Kind::Item if is_same_run => format!("\n{indent}- {GAP}\n"),
            Kind::Code if is_same_run && before.kind == Kind::Code => {
                format!("\n{indent}{GAP}\n")
            }
            _ if is_same_run => format!("\n\n{indent}{GAP}\n\n"),
            _ => format!("\n\n{GAP}\n\n"),
        }
    }

    /// The piece that a byte of the text belongs to.
    pub(super) fn piece_at(&self, byte: usize) -> Option<usize> {
        let next = self
            .pieces
            .partition_point(|piece| piece.range.start <= byte);
        let found = next.checked_sub(1)?;
        (byte < self.pieces[found].range.end).then_some(found)
    }
}

/// A line with the white space around its text counted.
struct Line<'a> {
    body: &'a str,
    indent: usize,
    /// Past its line end.
    next: usize,
}

impl<'a> Scan<'a> {
    fn line(&self, at: usize) -> Line<'a> {
        let rest = &self.text[at..];
        let length = rest.find('\n').map_or(rest.len(), |end| end + 1);
        let whole = rest[..length].trim_end();
        let body = whole.trim_start();
        Line {
            body,
            indent: whole.len() - body.len(),
            next: at + length,
        }
    }

    /// Reads the block that begins in this line, and gives the beginning of the line behind it.
    fn block(&mut self, at: usize) -> usize {
        let line = self.line(at);
        let range = at..at + line.indent + line.body.len();
        let is_row = line.body.starts_with('|') && line.body.len() > 1;
        if !is_row {
            self.header = None;
        }
        if line.body.is_empty() {
            return line.next;
        }
        if let Some(fence) = fence(line.body) {
            return self.code(at, fence);
        }
        let level = heading(line.body).filter(|_| line.indent < 4);
        if let Some((level, _)) = level {
            self.items.clear();
            self.headings.retain(|(other, _)| *other < level);
            let piece = self.single(Kind::Heading(level), range, line.indent);
            self.headings.push((level, piece));
            return line.next;
        }
        if is_rule(line.body) {
            self.items.clear();
            return line.next;
        }
        if is_row {
            return self.row(at, range, &line);
        }
        if line.body.starts_with('>') {
            return self.quote(at);
        }
        if item_mark(line.body).is_some() {
            return self.item(at, &line);
        }
        self.paragraph(at, &line)
    }

    /// What a piece needs beside what it stands in.
    fn above(&self) -> Option<usize> {
        self.headings.last().map(|(_, piece)| *piece)
    }

    /// The innermost open item that a line with this indentation belongs to.
    fn close_items(&mut self, indent: usize) -> Option<usize> {
        while self.items.last().is_some_and(|item| indent <= item.indent) {
            self.items.pop();
        }
        self.items.last().map(|item| item.piece)
    }

    fn push(
        &mut self,
        kind: Kind,
        range: Range<usize>,
        indent: usize,
        needs: Option<usize>,
    ) -> usize {
        self.layout.pieces.push(Piece {
            range,
            kind,
            block: self.layout.blocks.len(),
            needs,
            indent,
            run: None,
        });
        self.layout.pieces.len() - 1
    }

    /// The block is all that was pushed from this piece on.
    fn end_block(&mut self, first: usize) {
        let end = self.layout.pieces.len();
        if end > first {
            self.layout.blocks.push(first..end);
        }
    }

    /// A block of one piece.
    fn single(&mut self, kind: Kind, range: Range<usize>, indent: usize) -> usize {
        let needs = self.above();
        let piece = self.push(kind, range, indent, needs);
        self.end_block(piece);
        piece
    }

    fn code(&mut self, at: usize, (mark, length): (u8, usize)) -> usize {
        let first = self.line(at);
        let parent = self.close_items(first.indent);
        let (mut end, mut next) = (at + first.indent + first.body.len(), first.next);
        while next < self.text.len() {
            let line = self.line(next);
            if !line.body.is_empty() {
                end = next + line.indent + line.body.len();
            }
            next = line.next;
            let is_end = line.body.bytes().all(|byte| byte == mark) && line.body.len() >= length;
            if is_end {
                break;
            }
        }
        let needs = parent.or(self.above());
        let piece = self.push(Kind::Code, at..end, first.indent, needs);
        self.layout.pieces[piece].run = parent.map(|_| 2 * self.list);
        self.end_block(piece);
        next
    }

    fn row(&mut self, at: usize, range: Range<usize>, line: &Line<'_>) -> usize {
        let parent = self.close_items(line.indent);
        if let Some(header) = self.header {
            let piece = self.push(Kind::Row, range, line.indent, Some(header));
            self.layout.pieces[piece].run = Some(2 * self.table + 1);
            self.end_block(piece);
            return line.next;
        }
        let below = self.line(line.next.min(self.text.len()));
        let has_header = below.body.starts_with('|') && is_delimiter(below.body);
        let needs = parent.or(self.above());
        let (range, next) = match has_header {
            true => (at..line.next + below.indent + below.body.len(), below.next),
            false => (range, line.next),
        };
        let piece = self.push(Kind::Row, range, line.indent, needs);
        if has_header {
            self.table += 1;
            self.header = Some(piece);
            self.layout.pieces[piece].run = Some(2 * self.table + 1);
        }
        self.end_block(piece);
        next
    }

    /// A quote: a piece for each of its paragraphs, unless there is code in it.
    fn quote(&mut self, at: usize) -> usize {
        let indent = self.line(at).indent;
        let needs = self.close_items(indent).or(self.above());
        let (first, mut start, mut end, mut next) = (self.layout.pieces.len(), at, at, at);
        let mut parts: Vec<Range<usize>> = Vec::new();
        while next < self.text.len() {
            let line = self.line(next);
            if !line.body.starts_with('>') {
                break;
            }
            if line.body.trim_start_matches(['>', ' ']).is_empty() {
                if end > start {
                    parts.push(start..end);
                }
                (start, end) = (line.next, line.next);
            } else {
                end = next + line.indent + line.body.len();
            }
            next = line.next;
        }
        if end > start {
            parts.push(start..end);
        }
        let holds_code = ["```", "~~~"]
            .iter()
            .any(|mark| self.text[at..next].contains(mark));
        if let (true, Some(start), Some(end)) = (
            holds_code,
            parts.first().map(|part| part.start),
            parts.last().map(|part| part.end),
        ) {
            parts.clear();
            parts.push(start..end);
        }
        for part in parts {
            self.push(Kind::Quote, part, indent, needs);
        }
        self.end_block(first);
        next
    }

    fn item(&mut self, at: usize, line: &Line<'_>) -> usize {
        if self.items.is_empty() {
            self.list += 1;
        }
        let parent = self.close_items(line.indent);
        let (end, next) = self.lines_end(at);
        let needs = parent.or(self.above());
        let first = self.sentences(Kind::Item, at..end, line.indent, needs);
        for piece in &mut self.layout.pieces[first..] {
            piece.run = Some(2 * self.list);
        }
        self.end_block(first);
        if self.layout.pieces.len() > first {
            self.items.push(OpenItem {
                indent: line.indent,
                piece: first,
            });
        }
        next
    }

    fn paragraph(&mut self, at: usize, line: &Line<'_>) -> usize {
        let parent = match line.indent {
            0 | 1 => {
                self.items.clear();
                None
            }
            indent => self.close_items(indent),
        };
        let (end, next) = self.lines_end(at);
        let needs = parent.or(self.above());
        let first = self.sentences(Kind::Text, at..end, line.indent, needs);
        if parent.is_some() {
            for piece in &mut self.layout.pieces[first..] {
                piece.run = Some(2 * self.list);
            }
        }
        self.end_block(first);
        next
    }

    /// Where the lines of a paragraph end that begins here, and the beginning of the line behind them.
    fn lines_end(&self, at: usize) -> (usize, usize) {
        let first = self.line(at);
        let (mut end, mut next) = (at + first.indent + first.body.len(), first.next);
        while next < self.text.len() {
            let line = self.line(next);
            let begins_another = line.body.is_empty()
                || fence(line.body).is_some()
                || heading(line.body).is_some()
                || item_mark(line.body).is_some()
                || line.body.starts_with(['>', '|']);
            if begins_another {
                break;
            }
            end = next + line.indent + line.body.len();
            next = line.next;
        }
        (end, next)
    }

    /// The sentences of a paragraph. One that opens a mark which another closes is not parted from it. The first takes
    /// what stands before it, an item's mark; the last what stands behind it.
    fn sentences(
        &mut self,
        kind: Kind,
        range: Range<usize>,
        indent: usize,
        needs: Option<usize>,
    ) -> usize {
        let first = self.layout.pieces.len();
        let found = sentences(self.text, range.start + indent..range.end);
        let mut start = range.start;
        let mut marks = Marks::from(start);
        for (number, sentence) in found.iter().enumerate() {
            let is_last = number + 1 == found.len();
            let end = if is_last { range.end } else { sentence.end };
            if !is_last && !marks.are_closed_at(self.text.as_bytes(), end) {
                continue;
            }
            let is_first = self.layout.pieces.len() == first;
            let needs = if is_first || kind == Kind::Text {
                needs
            } else {
                Some(first)
            };
            let indent = if is_first { indent } else { 0 };
            self.push(kind, start..end, indent, needs);
            start = found
                .get(number + 1)
                .map_or(end, |next| next.start.max(end));
            marks = Marks::from(start);
        }
        // Marks alone, such as a row of asterisks.
        if self.layout.pieces.len() == first && !range.is_empty() {
            self.push(kind, range, indent, needs);
        }
        first
    }
}

/// The mark and length of the fence that a line opens.
fn fence(line: &str) -> Option<(u8, usize)> {
    let mark = *line.as_bytes().first()?;
    let length = line.bytes().take_while(|&byte| byte == mark).count();
    let opens = matches!(mark, b'`' | b'~') && length >= 3;
    let is_span = mark == b'`' && line[length..].contains('`');
    (opens && !is_span).then_some((mark, length))
}

/// The marks of a piece of a line, read once however often its end is moved.
struct Marks {
    start: usize,
    at: usize,
    /// Runs of each of `*`, `` ` ``, `~` and `_`.
    runs: [usize; 4],
    brackets: i64,
}

impl Marks {
    fn from(start: usize) -> Marks {
        Marks {
            start,
            at: start,
            runs: [0; 4],
            brackets: 0,
        }
    }

    /// Whether the piece up to `end` closes the emphasis, code, brackets and links that it opens, as far as counting tells.
    fn are_closed_at(&mut self, text: &[u8], end: usize) -> bool {
        let bytes = &text[..end];
        while let Some(&byte) = bytes.get(self.at) {
            let start = self.at;
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'[' | b'(' => self.brackets += 1,
                b']' | b')' => self.brackets -= 1,
                b'*' | b'`' | b'~' | b'_' => {
                    self.at += bytes[self.at..]
                        .iter()
                        .take_while(|&&other| other == byte)
                        .count();
                    let is_letter = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
                    let before = (start > self.start).then(|| &bytes[start - 1]);
                    // An underscore between letters is one of them.
                    if byte != b'_' || !(is_letter(before) && is_letter(bytes.get(self.at))) {
                        let kind = b"*`~_".iter().position(|other| *other == byte);
                        self.runs[kind.unwrap_or_default()] += 1;
                    }
                }
                _ => {}
            }
        }
        self.brackets <= 0 && self.runs.iter().all(|count| count.is_multiple_of(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(Kind, &str, Option<usize>)]) {
        let layout = Layout::of(text);
        let seen: Vec<_> = layout
            .pieces
            .iter()
            .map(|piece| (piece.kind, &text[piece.range.clone()], piece.needs))
            .collect();
        assert_eq!(seen, expected);
    }

    #[test]
    fn pieces_need_what_they_stand_under() {
        check(
            "# A\n\nOne. Two.\n\n## B\n\n- x\n  - y\n\n    z\n\n| h |\n|---|\n| 1 |\n| 2 |\n\n> q\n>\n> r\n",
            &[
                (Kind::Heading(1), "# A", None),
                (Kind::Text, "One.", Some(0)),
                (Kind::Text, "Two.", Some(0)),
                (Kind::Heading(2), "## B", Some(0)),
                (Kind::Item, "- x", Some(3)),
                (Kind::Item, "  - y", Some(4)),
                (Kind::Text, "    z", Some(5)),
                (Kind::Row, "| h |\n|---|", Some(3)),
                (Kind::Row, "| 1 |", Some(7)),
                (Kind::Row, "| 2 |", Some(7)),
                (Kind::Quote, "> q", Some(3)),
                (Kind::Quote, "> r", Some(3)),
            ],
        );
    }

    #[test]
    fn what_belongs_together_is_one_piece() {
        check(
            "Say **this. And that.** Then.\n\n```sh\na\n\n# b\n```\n\n---\n",
            &[
                (Kind::Text, "Say **this. And that.**", None),
                (Kind::Text, "Then.", None),
                (Kind::Code, "```sh\na\n\n# b\n```", None),
            ],
        );
        check(
            "``` not a `fence`\n",
            &[(Kind::Text, "``` not a `fence`", None)],
        );
        check(
            "```\nnever closed",
            &[(Kind::Code, "```\nnever closed", None)],
        );
    }

    #[test]
    fn what_was_left_out_has_a_sign_of_the_same_kind() {
        let between =
            |text: &str, one: usize, other: usize| Layout::of(text).between(text, one, other);
        assert_eq!(between("| h |\n|---|\n| 1 |\n| 2 |", 0, 2), "\n| […] |\n");
        assert_eq!(between("- a\n- b\n- c", 0, 2), "\n- […]\n");
        assert_eq!(between("One. Two. Three.", 0, 2), " […] ");
        assert_eq!(between("One.\n\nTwo.\n\nThree.", 0, 2), "\n\n[…]\n\n");
        assert_eq!(between("One.\n\n---\n\nTwo.", 0, 1), "\n\n---\n\n");
        assert_eq!(between("> a\n>\n> b\n>\n> c", 0, 2), "\n>\n> […]\n>\n");
    }
}
