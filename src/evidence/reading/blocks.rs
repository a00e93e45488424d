//! The blocks of a markdown text: headings, paragraphs, items of lists with their lead-in, rows of tables with their
//! header, code, quotes. Reads what the converter writes and what people write much like it; knows no questions.

use std::ops::Range;

use super::json::Json;
use crate::markdown::PassageKind;

/// More blocks than any page has that a person would read.
pub(crate) const BLOCKS_MAX: usize = 100_000;
/// Lines of code are taken together up to so many bytes.
const CODE_BYTES: usize = 600;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) kind: PassageKind,
    pub(crate) range: Range<usize>,
    /// How many headings stand before it or are it.
    pub(crate) headings: usize,
    /// The block that leads an item in, the header of a row.
    pub(crate) context: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Heading {
    pub(crate) level: u8,
    pub(crate) range: Range<usize>,
}

#[derive(Debug, Default)]
pub(crate) struct Blocks {
    pub(crate) blocks: Vec<Block>,
    pub(crate) headings: Vec<Heading>,
    /// The text has more blocks.
    pub(crate) is_cut: bool,
    /// What the blocks are, in their order, where the text is a JSON document.
    pub(crate) json: Option<Json>,
}

impl Blocks {
    pub(crate) fn of(text: &str) -> Blocks {
        if let Some(json) = Json::of(text) {
            return Blocks::of_json(json);
        }
        let mut scan = Scan {
            text,
            found: Blocks::default(),
            open: None,
            fence: None,
            lead_in: None,
            parents: Vec::new(),
            header: None,
            previous_row: None,
        };
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            if scan.found.blocks.len() >= BLOCKS_MAX {
                scan.found.is_cut = true;
                break;
            }
            scan.line(at, line);
            at += line.len();
        }
        scan.close();
        scan.found.join_pairs(text);
        scan.found
    }

    fn of_json(json: Json) -> Blocks {
        let mut ranges = json.ranges();
        let blocks = ranges.by_ref().take(BLOCKS_MAX).map(|range| Block {
            kind: PassageKind::Code,
            range,
            headings: 0,
            context: None,
        });
        let blocks = blocks.collect();
        let is_cut = ranges.next().is_some();
        drop(ranges);
        Blocks {
            blocks,
            is_cut,
            json: Some(json),
            ..Blocks::default()
        }
    }

    /// Makes one block of a label and its value, which pages of products show as paragraphs of their own: neither says
    /// anything without the other.
    fn join_pairs(&mut self, text: &str) {
        let starts = pairs(text, &self.blocks);
        if starts.is_empty() {
            return;
        }
        let mut joined: Vec<Block> = Vec::with_capacity(self.blocks.len());
        let mut places = Vec::with_capacity(self.blocks.len());
        for (number, block) in std::mem::take(&mut self.blocks).into_iter().enumerate() {
            let is_value = number > 0 && starts.binary_search(&(number - 1)).is_ok();
            match joined.last_mut().filter(|_| is_value) {
                Some(label) => label.range.end = block.range.end,
                None => joined.push(block),
            }
            places.push(joined.len() - 1);
        }
        for block in &mut joined {
            block.context = block.context.map(|context| places[context]);
        }
        self.blocks = joined;
    }

    /// The headings above a block by their numbers, outermost first.
    pub(crate) fn path(&self, block: &Block) -> Vec<usize> {
        let mut path = Vec::new();
        let before = &self.headings[..block.headings.min(self.headings.len())];
        let (mut level, own) = match (block.kind, before.last()) {
            (PassageKind::Heading, Some(own)) => (own.level, 1),
            _ => (u8::MAX, 0),
        };
        for (number, heading) in before.iter().enumerate().rev().skip(own) {
            if heading.level < level {
                path.push(number);
                level = heading.level;
            }
            if level <= 1 {
                break;
            }
        }
        path.reverse();
        path
    }
}

struct Scan<'a> {
    text: &'a str,
    found: Blocks,
    /// A block that the next line may go on with.
    open: Option<Block>,
    fence: Option<Fence>,
    /// The last paragraph, if only a list has followed it.
    lead_in: Option<usize>,
    /// Items that the next item may stand in: indentation and block.
    parents: Vec<(usize, usize)>,
    /// Of the table that the last line stood in.
    header: Option<usize>,
    /// The last line, if it could be a table's header.
    previous_row: Option<usize>,
}

struct Fence {
    mark: u8,
    length: usize,
}

impl Scan<'_> {
    fn line(&mut self, at: usize, line: &str) {
        let body = line.trim_end();
        let indent = body.len() - body.trim_start().len();
        let body = body.trim_start();
        let range = at + indent..at + indent + body.len();
        if self.in_fence(body, &range) {
            return;
        }
        let is_row = body.starts_with('|') && body.len() > 1;
        if !is_row {
            self.header = None;
        }
        if body.is_empty() {
            self.close();
        } else if let Some((level, text)) = heading(body) {
            self.heading(level, range.start + text.start..range.start + text.end);
        } else if is_rule(body) {
            self.close();
            self.lead_in = None;
        } else if is_row {
            self.row(body, range);
        } else if let Some((level, text)) = heading_in_item(body) {
            self.heading(level, range.start + text.start..range.start + text.end);
        } else if let Some(mark) = item_mark(body) {
            self.item(indent, range.start + mark..range.end);
        } else if body.starts_with('>') {
            self.quote(range);
        } else {
            self.paragraph(indent, range);
        }
    }

    fn in_fence(&mut self, body: &str, range: &Range<usize>) -> bool {
        let mark = body.as_bytes().first().copied().unwrap_or_default();
        let length = body.bytes().take_while(|&byte| byte == mark).count();
        let is_fence = matches!(mark, b'`' | b'~') && length >= 3;
        match &self.fence {
            Some(fence) => {
                if is_fence && mark == fence.mark && length >= fence.length && length == body.len()
                {
                    self.fence = None;
                    self.close();
                } else if body.is_empty() {
                    self.close();
                } else {
                    self.code(range);
                }
                true
            }
            None if is_fence && !body[length..].contains('`') => {
                self.close();
                self.fence = Some(Fence { mark, length });
                true
            }
            None => false,
        }
    }

    fn code(&mut self, range: &Range<usize>) {
        if let Some(open) = &mut self.open
            && range.end - open.range.start <= CODE_BYTES
        {
            open.range.end = range.end;
            return;
        }
        self.close();
        self.begin(PassageKind::Code, range.clone(), self.lead_in);
    }

    fn heading(&mut self, level: u8, range: Range<usize>) {
        self.close();
        self.forget_lists();
        if range.is_empty() {
            return;
        }
        self.found.headings.push(Heading {
            level,
            range: range.clone(),
        });
        self.begin(PassageKind::Heading, range, None);
        self.close();
    }

    fn row(&mut self, body: &str, range: Range<usize>) {
        let previous = self.previous_row.take();
        if is_delimiter(body) {
            if let Some(previous) = previous {
                self.header = Some(previous);
            }
            return;
        }
        self.close();
        self.begin(PassageKind::Row, range, self.header);
        self.close();
        self.previous_row = self.found.blocks.len().checked_sub(1);
    }

    fn item(&mut self, indent: usize, range: Range<usize>) {
        self.close();
        while self
            .parents
            .last()
            .is_some_and(|(other, _)| *other >= indent)
        {
            self.parents.pop();
        }
        let context = self.parents.last().map(|(_, block)| *block);
        let context = context.or(self.lead_in);
        if self.parents.len() < 8 {
            self.parents.push((indent, self.found.blocks.len()));
        }
        self.begin(PassageKind::Item, range, context);
    }

    fn quote(&mut self, range: Range<usize>) {
        if let Some(open) = &mut self.open
            && open.kind == PassageKind::Quote
        {
            open.range.end = range.end;
            return;
        }
        self.close();
        self.forget_lists();
        let text = &self.text[range.clone()];
        let mark = text.len() - text.trim_start_matches(['>', ' ']).len();
        if mark < text.len() {
            self.begin(PassageKind::Quote, range.start + mark..range.end, None);
        }
    }

    fn paragraph(&mut self, indent: usize, range: Range<usize>) {
        if let Some(open) = &mut self.open {
            open.range.end = range.end;
            return;
        }
        let in_item = indent >= 2 && !self.parents.is_empty();
        if in_item {
            let context = self.parents.last().map(|(_, block)| *block);
            self.begin(PassageKind::Item, range, context);
        } else {
            self.forget_lists();
            self.begin(PassageKind::Paragraph, range, None);
        }
    }

    fn begin(&mut self, kind: PassageKind, range: Range<usize>, context: Option<usize>) {
        self.open = Some(Block {
            kind,
            range,
            headings: self.found.headings.len(),
            context,
        });
    }

    fn close(&mut self) {
        self.previous_row = None;
        if let Some(block) = self.open.take() {
            if block.kind == PassageKind::Paragraph {
                self.lead_in = Some(self.found.blocks.len());
            }
            self.found.blocks.push(block);
        }
    }

    fn forget_lists(&mut self) {
        self.parents.clear();
        self.lead_in = None;
    }
}

/// The labels of pairs by their numbers, in order. A run of pairs has two at least whose value is plainly one; words count in
/// pairs between two of those, and behind two.
fn pairs(text: &str, blocks: &[Block]) -> Vec<usize> {
    let is = |at: usize, first: usize, is_one: fn(&str) -> bool| {
        blocks.get(at).is_some_and(|block| {
            block.kind == PassageKind::Paragraph
                && block.headings == blocks[first].headings
                && is_one(&text[block.range.clone()])
        })
    };
    let (mut found, mut run): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < blocks.len() {
        if is(at, at, is_label) && is(at + 1, at, is_plain_value) {
            run.push(at);
            at += 2;
            continue;
        }
        let first = run.first().copied().unwrap_or(at);
        let mut end = at;
        while is(end, first, is_label) {
            end += 1;
        }
        // The last label has a plain value.
        let goes_on = end > at && is(end, first, is_plain_value);
        end -= usize::from(goes_on);
        let is_inside = run.len() > usize::from(!goes_on) && (end - at).is_multiple_of(2);
        if end > at && is_inside {
            // "Material", "Plastic", "Colour", "Red".
            run.extend((at..end).step_by(2));
            at = end;
        } else {
            flush(&mut run, &mut found);
            at = end.max(at + 1);
        }
    }
    flush(&mut run, &mut found);
    found
}

fn flush(run: &mut Vec<usize>, found: &mut Vec<usize>) {
    if run.len() > 1 {
        found.append(run);
    }
    run.clear();
}

const LABEL_BYTES_MAX: usize = 60;
const VALUE_BYTES_MAX: usize = 40;

/// A few words that are no sentence.
fn is_label(text: &str) -> bool {
    text.len() <= LABEL_BYTES_MAX
        && text.starts_with(char::is_uppercase)
        && !text.ends_with(['.', '!', '?', '…', ';', ','])
        && !text.contains(['\n', '[', '*', '`'])
        && !text.contains(|c: char| c.is_ascii_digit())
        && !is_answer(text)
}

/// A number with what it counts, or a yes or no.
fn is_plain_value(text: &str) -> bool {
    let number = text.trim_start_matches(['$', '€', '£', '~', '≈', '±', '<', '>', '-', '+', ' ']);
    let is_number = number.starts_with(|c: char| c.is_ascii_digit())
        && !text.ends_with(['!', '?', '…', ';', ','])
        && !text.contains('\n');
    text.len() <= VALUE_BYTES_MAX && (is_number || is_answer(text))
}

fn is_answer(text: &str) -> bool {
    ["yes", "no", "n/a", "none", "true", "false"]
        .iter()
        .any(|answer| text.eq_ignore_ascii_case(answer))
}

/// Level and text of an ATX heading.
pub(crate) fn heading(line: &str) -> Option<(u8, Range<usize>)> {
    let level = line.bytes().take_while(|&byte| byte == b'#').count();
    let rest = &line[level..];
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let start = level + rest.len() - rest.trim_start().len();
    let text = line[start..].trim_end_matches('#').trim_end();
    Some((u8::try_from(level).ok()?, start..start + text.len()))
}

/// The heading that an item of a list begins with, as the questions of a list of answers do. It stands
/// over what follows like any other.
fn heading_in_item(line: &str) -> Option<(u8, Range<usize>)> {
    let mark = item_mark(line)?;
    let (level, text) = heading(&line[mark..])?;
    (!text.is_empty()).then(|| (level, mark + text.start..mark + text.end))
}

/// Bytes of an item's mark and the space after it.
pub(crate) fn item_mark(line: &str) -> Option<usize> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let mark = match line.as_bytes().get(digits)? {
        b'.' | b')' if (1..=9).contains(&digits) => digits + 1,
        b'-' | b'*' | b'+' if digits == 0 => 1,
        _ => return None,
    };
    let rest = &line[mark..];
    let text = rest.trim_start();
    (rest.len() > text.len() && !text.is_empty()).then(|| mark + rest.len() - text.len())
}

pub(crate) fn is_rule(line: &str) -> bool {
    let mark = line.as_bytes().first().copied().unwrap_or_default();
    matches!(mark, b'-' | b'*' | b'_')
        && line.bytes().all(|byte| byte == mark || byte == b' ')
        && line.bytes().filter(|&byte| byte == mark).count() >= 3
}

pub(crate) fn is_delimiter(row: &str) -> bool {
    row.contains('-') && row.bytes().all(|byte| b"|-: \t".contains(&byte))
}

#[cfg(test)]
mod tests {
    use crate::evidence::reading::blocks::*;

    /// "The keyboard is hot swappable." was supported by the label alone, whose value was "No".
    #[test]
    fn labels_and_values_are_one_block() {
        let check = |text: &str, expected: &[&str]| {
            let found = Blocks::of(text);
            let seen = found.blocks.iter().map(|block| &text[block.range.clone()]);
            let seen: Vec<String> = seen.map(|block| block.replace("\n\n", "=")).collect();
            assert_eq!(seen, expected);
        };
        check(
            "Performance\n\nHot Swappable\n\nNo\n\nStem Type\n\nCherry MX\n\nTotal Travel\n\n4.14 mm\n\nBuy one:\n\n- Here",
            &[
                "Performance",
                "Hot Swappable=No",
                "Stem Type=Cherry MX",
                "Total Travel=4.14 mm",
                "Buy one:",
                "Here",
            ],
        );
        check(
            "Weight\n\n653 g\n\nWired\n\nYes\n\nCase\n\nPlastic\n\nPlate\n\nSteel\n\nIt is new.",
            &[
                "Weight=653 g",
                "Wired=Yes",
                "Case=Plastic",
                "Plate=Steel",
                "It is new.",
            ],
        );
        check(
            "Weight\n\n653 g\n\nWired\n\nYes\n\nReviews\n\nIt is new.",
            &["Weight=653 g", "Wired=Yes", "Reviews", "It is new."],
        );
        check(
            "Chapter\n\n12\n\nIt began.",
            &["Chapter", "12", "It began."],
        );
        check(
            "Was it late?\n\nNo\n\nIt was early.\n\nNo",
            &["Was it late?", "No", "It was early.", "No"],
        );
        let text = "Weight\n\n653 g\n\nWired\n\nYes\n\nIt has:\n\n- a fan";
        let found = Blocks::of(text);
        assert_eq!(found.blocks[3].context, Some(2));
    }

    #[test]
    fn a_heading_in_an_item_stands_over_what_follows() {
        let text = "# Help\n\n- ### Is it free?\n\n  It is.\n- ### Is it new?\n\n  It is not.\n- #5 is one";
        let found = Blocks::of(text);
        let seen: Vec<(PassageKind, &str)> = found
            .blocks
            .iter()
            .map(|block| (block.kind, &text[block.range.clone()]))
            .collect();
        assert_eq!(
            seen[1..5],
            [
                (Head, "Is it free?"),
                (Paragraph, "It is."),
                (Head, "Is it new?"),
                (Paragraph, "It is not."),
            ]
        );
        assert_eq!(seen[5], (Item, "#5 is one"));
        assert_eq!(found.path(&found.blocks[4]), [0, 2]);
    }
    use PassageKind::{Code, Heading as Head, Item, Paragraph, Quote, Row};

    fn check(text: &str, expected: &[(PassageKind, &str, &str)]) {
        let found = Blocks::of(text);
        let seen: Vec<_> = found
            .blocks
            .iter()
            .map(|block| {
                let context = block
                    .context
                    .map_or("", |block| &text[found.blocks[block].range.clone()]);
                (block.kind, &text[block.range.clone()], context)
            })
            .collect();
        assert_eq!(seen, expected);
    }

    #[test]
    fn headings_and_paragraphs() {
        check(
            "# A *b* ##\ntext one\ntext two\n\n***\nthree",
            &[
                (Head, "A *b*", ""),
                (Paragraph, "text one\ntext two", ""),
                (Paragraph, "three", ""),
            ],
        );
    }

    #[test]
    fn an_item_knows_its_lead_in_or_the_item_it_stands_in() {
        check(
            "We offer:\n\n- a\n  more\n\n  own paragraph\n- b\n  1. c\n\nafter",
            &[
                (Paragraph, "We offer:", ""),
                (Item, "a\n  more", "We offer:"),
                (Item, "own paragraph", "a\n  more"),
                (Item, "b", "We offer:"),
                (Item, "c", "b"),
                (Paragraph, "after", ""),
            ],
        );
    }

    #[test]
    fn a_row_knows_its_header() {
        check(
            "| Plan | Price |\n| --- | ---: |\n| Pro | $9 |\n| Max | $99 |\n\n| x |",
            &[
                (Row, "| Plan | Price |", ""),
                (Row, "| Pro | $9 |", "| Plan | Price |"),
                (Row, "| Max | $99 |", "| Plan | Price |"),
                (Row, "| x |", ""),
            ],
        );
    }

    #[test]
    fn code_is_not_read_as_markdown() {
        check(
            "```sh\n# no heading\nrun\n\nnext\n```\n> quoted\n> more\n",
            &[
                (Code, "# no heading\nrun", ""),
                (Code, "next", ""),
                (Quote, "quoted\n> more", ""),
            ],
        );
    }

    #[test]
    fn a_path_holds_each_level_once() {
        let found = Blocks::of("# a\n## b\n### c\n## d\ntext");
        let last = found.blocks.last().expect("the paragraph");
        assert_eq!(found.path(last), [0, 3]);
    }
}
