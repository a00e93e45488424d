//! A source cut into units that can be cited, each as a row of words. Knows where names and abbreviations stand in it;
//! knows no question.

use std::borrow::Cow;
use std::ops::Range;

use crate::markdown::{PassageKind, plainly_addresses_models};

use super::blocks::{Block, Blocks};
use super::language::Language;
use super::sentences::{pieces, sentences};
use super::tokens::Lexicon;
use super::words::{does, known};
use crate::evidence::Source;

/// Units that are examined; the README of a large project has some thousands.
const UNITS_MAX: usize = 100_000;
const ABBREVIATIONS_MAX: usize = 1_000;

/// A sentence, an item, a row: what a finding can be.
#[derive(Debug)]
pub(crate) struct Unit {
    pub(crate) range: Range<usize>,
    /// An index into the page's blocks.
    pub(crate) block: usize,
    /// In the page's tokens.
    pub(crate) tokens: Range<usize>,
    /// Tokens that are not stop words.
    pub(crate) content: usize,
}

#[derive(Debug)]
pub(crate) struct Page<'a> {
    pub(crate) text: &'a str,
    pub(crate) language: Language,
    pub(crate) blocks: Blocks,
    pub(crate) units: Vec<Unit>,
    /// The first unit of each block, and one more.
    block_units: Vec<usize>,
    /// The block of each heading.
    heading_blocks: Vec<usize>,
    pub(crate) lexicon: Lexicon,
    pub(crate) tokens: Vec<u32>,
    pub(crate) title: Vec<u32>,
    pub(crate) title_text: Option<&'a str>,
    /// Mean number of content words of a unit.
    pub(crate) mean_content: f64,
    /// By stem: written as a name.
    names: Vec<bool>,
    /// A short form and the stems of the words it stands for.
    pub(crate) abbreviations: Vec<(String, Vec<String>)>,
    pub(crate) is_cut: bool,
    /// Sentences that are addressed to agents. They are no units.
    pub(crate) instructions: Vec<Range<usize>>,
}

impl<'a> Page<'a> {
    /// No unit reaches across one of these blanks, which stand in order.
    pub(crate) fn of(source: &Source<'a>, blanks: &[Range<usize>]) -> Page<'a> {
        let blocks = Blocks::of(source.text);
        let mut ranges = Vec::new();
        let mut instructions = Vec::new();
        for (number, block) in blocks.blocks.iter().enumerate() {
            let found = match (&blocks.json, block.kind) {
                (Some(json), _) => json.units(source.text, number),
                (None, PassageKind::Heading | PassageKind::Code | PassageKind::Row) => {
                    pieces(source.text, block.range.clone())
                }
                _ => sentences(source.text, block.range.clone()),
            };
            let found = found.into_iter();
            for range in found.flat_map(|range| around(source.text, range, blanks)) {
                // SECURITY: what is said to models is no evidence, and must not even change how rare a word is. Reports
                // read a text whose instructions are blanked (`examine`), except on a page that is about such attacks:
                // there a sentence alone is left out, so that no page can make itself trusted by naming them.
                if plainly_addresses_models(&source.text[range.clone()]) {
                    instructions.push(range);
                } else {
                    ranges.push((number, range));
                }
            }
        }
        let mut page = Page::of_units(source, blocks, ranges);
        page.instructions = instructions;
        page
    }

    /// With units that are known already: these slices of the text, in order.
    pub(crate) fn of_sentences(source: &Source<'a>, sentences: &[Range<usize>]) -> Page<'a> {
        let mut blocks = Blocks::default();
        blocks.blocks.extend(sentences.iter().map(|range| Block {
            kind: PassageKind::Paragraph,
            range: range.clone(),
            headings: 0,
            context: None,
        }));
        let ranges = sentences.iter().cloned().enumerate().collect();
        Page::of_units(source, blocks, ranges)
    }

    fn of_units(
        source: &Source<'a>,
        blocks: Blocks,
        mut ranges: Vec<(usize, Range<usize>)>,
    ) -> Page<'a> {
        let language = Language::of(source.language, source.text);
        let is_cut = blocks.is_cut || ranges.len() > UNITS_MAX;
        ranges.truncate(UNITS_MAX);
        let mut lexicon = Lexicon::new(language);
        let mut title = Vec::new();
        lexicon.read(source.title.unwrap_or_default(), &mut title);
        let mut tokens = Vec::with_capacity(source.text.len() / 5);
        let mut units = Vec::with_capacity(ranges.len());
        let mut content_total = 0;
        let mut block_units = vec![0; blocks.blocks.len() + 1];
        for (block, range) in ranges {
            let start = tokens.len();
            match &blocks.json {
                Some(json) => {
                    for name in json.path(source.text, block, &range) {
                        lexicon.read(&name, &mut tokens);
                    }
                    lexicon.read(&json.statement(source.text, block, &range), &mut tokens);
                }
                None => lexicon.read(&source.text[range.clone()], &mut tokens),
            }
            let is_content = |token: &&u32| !lexicon.form(**token).is_stop();
            let content = tokens[start..].iter().filter(is_content).count();
            content_total += content;
            block_units[block + 1] += 1;
            units.push(Unit {
                range,
                block,
                tokens: start..tokens.len(),
                content,
            });
        }
        for block in 1..block_units.len() {
            block_units[block] += block_units[block - 1];
        }
        let heading_blocks = blocks
            .blocks
            .iter()
            .enumerate()
            .filter(|(_, block)| block.kind == PassageKind::Heading)
            .map(|(number, _)| number)
            .collect();
        let mut page = Page {
            text: source.text,
            language,
            blocks,
            block_units,
            heading_blocks,
            is_cut: is_cut || lexicon.is_cut,
            lexicon,
            title,
            title_text: source.title,
            mean_content: (content_total as f64 / units.len().max(1) as f64).max(1.0),
            units,
            tokens,
            names: Vec::new(),
            abbreviations: Vec::new(),
            instructions: Vec::new(),
        };
        page.find_names();
        page.find_abbreviations();
        page
    }

    pub(crate) fn block(&self, unit: usize) -> &Block {
        &self.blocks.blocks[self.units[unit].block]
    }

    pub(crate) fn unit_text(&self, unit: usize) -> &'a str {
        &self.text[self.units[unit].range.clone()]
    }

    /// What a unit says: its text, or a member of a JSON document in words.
    pub(crate) fn unit_said(&self, unit: usize) -> Cow<'a, str> {
        let Unit { range, block, .. } = &self.units[unit];
        match &self.blocks.json {
            Some(json) => Cow::Owned(json.statement(self.text, *block, range)),
            None => Cow::Borrowed(self.unit_text(unit)),
        }
    }

    /// The headings over a unit, outermost first; in a JSON document the names of what it stands in.
    pub(crate) fn headings_over(&self, unit: usize) -> Vec<Cow<'a, str>> {
        let Unit { range, block, .. } = &self.units[unit];
        match &self.blocks.json {
            Some(json) => {
                let path = json.path(self.text, *block, range).into_iter();
                path.map(Cow::Owned).collect()
            }
            None => {
                let headings = self.heading_units(self.block(unit));
                headings
                    .map(|unit| Cow::Borrowed(self.unit_text(unit)))
                    .collect()
            }
        }
    }

    pub(crate) fn unit_tokens(&self, unit: usize) -> &[u32] {
        &self.tokens[self.units[unit].tokens.clone()]
    }

    pub(crate) fn is_name(&self, stem: u32) -> bool {
        self.names.get(stem as usize).copied().unwrap_or_default()
    }

    /// The units of a block.
    pub(crate) fn units_of(&self, block: usize) -> Range<usize> {
        self.block_units[block]..self.block_units[block + 1]
    }

    /// The unit before this one, where both are prose under the same heading.
    pub(crate) fn unit_before(&self, unit: usize) -> Option<Range<usize>> {
        unit.checked_sub(1)
            .and_then(|other| self.neighbour(unit, other))
    }

    /// The unit after this one, where both are prose under the same heading.
    pub(crate) fn unit_after(&self, unit: usize) -> Option<Range<usize>> {
        self.neighbour(unit, unit + 1)
    }

    fn neighbour(&self, unit: usize, other: usize) -> Option<Range<usize>> {
        let range = self.units.get(other)?.range.clone();
        let (one, other) = (self.block(unit), self.block(other));
        let is_prose = |block: &Block| {
            matches!(
                block.kind,
                PassageKind::Paragraph | PassageKind::Item | PassageKind::Quote
            )
        };
        (is_prose(one) && is_prose(other) && one.headings == other.headings).then_some(range)
    }

    /// The unit that leads a block in: the last sentence before a list, a parent item, a table's header.
    pub(crate) fn context_unit(&self, block: &Block) -> Option<usize> {
        let context = block.context?;
        let units = self.units_of(context);
        match self.blocks.blocks[context].kind {
            PassageKind::Paragraph => units.last(),
            _ => units.into_iter().next(),
        }
    }

    /// Whether it says what stands in the columns of a table.
    pub(crate) fn is_header(&self, unit: usize) -> bool {
        let number = self.units[unit].block;
        let is_row = self.blocks.blocks[number].kind == PassageKind::Row;
        let next = self.blocks.blocks.get(number + 1);
        is_row
            && next
                .is_some_and(|next| next.context == Some(number) && next.kind == PassageKind::Row)
    }

    /// The units of the headings that a block stands under, outermost first.
    pub(crate) fn heading_units(&self, block: &Block) -> impl Iterator<Item = usize> {
        let path = self.blocks.path(block).into_iter();
        path.filter_map(|heading| self.units_of(*self.heading_blocks.get(heading)?).next())
    }

    /// A stem is a name where it is mostly written with a capital inside of sentences.
    fn find_names(&mut self) {
        let mut balance = vec![0_i32; self.lexicon.stems.len()];
        let rows = self
            .units
            .iter()
            .map(|unit| &self.tokens[unit.tokens.clone()]);
        for row in rows.chain([&*self.title]) {
            for &token in row.iter().skip(1) {
                let form = self.lexicon.form(token);
                if form.number.is_none() {
                    let step = if form.is(does::CAPITAL) { 1 } else { -1 };
                    balance[form.stem as usize] += step;
                }
            }
        }
        self.names = balance.into_iter().map(|balance| balance > 0).collect();
    }

    /// "Long Form (LF)".
    fn find_abbreviations(&mut self) {
        for unit in &self.units {
            let text = &self.text[unit.range.clone()];
            for (open, _) in text.match_indices('(') {
                if self.abbreviations.len() >= ABBREVIATIONS_MAX {
                    return;
                }
                if let Some(found) = abbreviation(&text[..open], &text[open + 1..]) {
                    self.abbreviations.push(found);
                }
            }
        }
    }
}

/// What is left of a range beside the blanks, without the space around it.
fn around(text: &str, range: Range<usize>, blanks: &[Range<usize>]) -> Vec<Range<usize>> {
    let first = blanks.partition_point(|blank| blank.end <= range.start);
    let within = blanks[first..].iter();
    let within = within.take_while(|blank| blank.start < range.end);
    let (mut left, mut start) = (Vec::new(), range.start);
    for blank in within {
        left.push(start..blank.start.max(start));
        start = blank.end;
    }
    if left.is_empty() {
        return vec![range];
    }
    left.push(start.min(range.end)..range.end);
    let trimmed = left.into_iter().map(|piece| {
        let start = piece.end - text[piece.clone()].trim_start().len();
        start..start + text[start..piece.end].trim_end().len()
    });
    trimmed
        .filter(|piece| text[piece.clone()].chars().any(char::is_alphanumeric))
        .collect()
}

fn abbreviation(before: &str, after: &str) -> Option<(String, Vec<String>)> {
    let length = after
        .bytes()
        .take(10)
        .take_while(u8::is_ascii_alphabetic)
        .count();
    let written = &after[..length];
    let ends = |short: &str| after[short.len()..].starts_with(')');
    let plural = written.strip_suffix('s').filter(|_| ends(written));
    let short = match plural {
        Some(singular) if singular.len() >= 2 => singular,
        _ if ends(written) => written,
        _ => return None,
    };
    if !(2..=8).contains(&short.len()) || !short.starts_with(|c: char| c.is_ascii_uppercase()) {
        return None;
    }
    let is_part = |c: char| c.is_alphanumeric() || "_&’'-".contains(c);
    if !before.ends_with(char::is_whitespace) {
        return None;
    }
    let mut words: Vec<&str> = before
        .split_whitespace()
        .rev()
        .take(8)
        .take_while(|word| word.chars().all(is_part))
        .flat_map(|word| word.rsplit('-'))
        .filter(|word| !word.is_empty())
        .collect();
    words.reverse();
    for first in 0..words.len() {
        let kept: Vec<String> = words[first..]
            .iter()
            .map(|word| word.to_lowercase())
            .filter(|word| known().flags(word) & does::STOP == 0)
            .collect();
        let initials: String = kept.iter().filter_map(|word| word.chars().next()).collect();
        if initials.eq_ignore_ascii_case(short) {
            let long = kept.iter().map(|word| known().stem(word)).collect();
            return Some((known().stem(&short.to_ascii_lowercase()), long));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::evidence::reading::page::*;

    #[test]
    fn long_forms_are_known_by_their_abbreviation() {
        let text = "The European Court of Justice (ECJ) ruled on it (again).";
        let page = Page::of(&Source::of_text(text), &[]);
        let expected: Vec<String> = ["european", "court", "justic"].map(str::to_owned).into();
        assert_eq!(page.abbreviations, [("ecj".to_owned(), expected)]);
    }

    /// The fuzzer found a sentence that went on behind what was blanked in it, and would have been quoted as a whole.
    #[test]
    fn no_unit_reaches_across_a_blank() {
        let text = "Kettles cost nine dollars          and lamps seven. Cups 2.     .";
        let seen = |blanks: &[Range<usize>]| {
            let page = Page::of(&Source::of_text(text), blanks);
            let units = page.units.iter();
            let units: Vec<&str> = units.map(|unit| &text[unit.range.clone()]).collect();
            units
        };
        assert_eq!(
            seen(&[25..35, 59..64]),
            ["Kettles cost nine dollars", "and lamps seven.", "Cups 2."]
        );
        assert_eq!(seen(&[0..1, 1..65]), [""; 0]);
        assert_eq!(seen(&[]).len(), 2);
    }

    #[test]
    fn units_know_what_stands_above_them() {
        let text = "# Plans\n\nBoth are paid. They differ in:\n\n- Seats. Many.\n\n## Free\n\n| a | b |\n|---|---|\n| 1 | 2 |";
        let page = Page::of(&Source::of_text(text), &[]);
        let seen = |unit: usize| {
            let block = page.block(unit);
            let headings: Vec<&str> = page
                .heading_units(block)
                .map(|unit| page.unit_text(unit))
                .collect();
            let context = page
                .context_unit(block)
                .map_or("", |unit| page.unit_text(unit));
            (page.unit_text(unit), headings, context)
        };
        assert_eq!(seen(2), ("They differ in:", vec!["Plans"], ""));
        assert_eq!(seen(3), ("Seats.", vec!["Plans"], "They differ in:"));
        assert_eq!(seen(7), ("| 1 | 2 |", vec!["Plans", "Free"], "| a | b |"));
    }
}
