//! The passages of a page that answer a query best, within a budget: ranked as the engine ranks evidence, given in the
//! order of the page under their headings, with `[…]` where something was left out. Without a query, the page's beginning.
//! Pure: the same page, query and budget give the same excerpt.

mod layout;
mod tokens;

use std::collections::BTreeSet;
use std::ops::Range;

use crate::domain::excerpt::Budget;
use crate::evidence::reading::text::plain;
use crate::evidence::{Depth, Examiner, Reading, Source};

use layout::{Kind, Layout};

pub use tokens::estimated;

/// The share of a budget that places with what stands around them may take before single sentences of other places had
/// their turn, in hundredths. `data/excerpts/README.md` has what other shares find.
const AROUND_SHARE: u64 = 50;
/// A block that takes no more than this share of a budget is kept whole, in hundredths; of a longer one the sentence and
/// the one behind it.
const WHOLE_BLOCK_SHARE: u64 = 20;
/// Words of a sentence that only leads to the next, such as "**Sign.**" in front of what signing is.
const LEAD_WORDS_MAX: usize = 3;

/// A part of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    pub text: String,
    /// The estimate by which the budget was kept.
    pub tokens: u64,
    /// Unicode code points.
    pub characters: u64,
    /// Blocks of which at least one sentence is kept.
    pub blocks_kept: usize,
    pub blocks_total: usize,
    /// Whether anything was left out.
    pub is_truncated: bool,
    /// Whether the passages were chosen by the query; false without one, and where the page has none of its words.
    pub is_ranked: bool,
    /// Levels and texts of the headings that are kept.
    pub headings: Vec<(u8, String)>,
}

/// The excerpt, or nothing if not one passage fits into the budget. At [`Depth::Quick`] passages are ranked by words alone.
pub fn excerpt(
    source: &Source<'_>,
    query: Option<&str>,
    budget: Budget,
    depth: Depth,
) -> Option<Excerpt> {
    let layout = Layout::of(source.text);
    let is_whole = fits(source.text.trim(), budget);
    // The order of what is all kept does not matter.
    let depth = if is_whole { Depth::Quick } else { depth };
    let order = query.map_or_else(Vec::new, |query| ranked(source, query, &layout, depth));
    let mut choice = Choice::new(source.text, &layout, budget);
    let whole: Vec<usize> = (0..layout.pieces.len()).collect();
    if is_whole {
        return Some(choice.whole(&whole, !order.is_empty()));
    }
    match order.is_empty() {
        true => choice.beginning(),
        false => choice.best(&order),
    }
    choice.excerpt(!order.is_empty())
}

/// The pieces that have something to do with a query, best first.
fn ranked(source: &Source<'_>, query: &str, layout: &Layout, depth: Depth) -> Vec<usize> {
    let examiner = Examiner::new(source).at(depth);
    let units = examiner.ranking(query, Reading::Guess);
    let mut seen = BTreeSet::new();
    let pieces = units
        .into_iter()
        .filter_map(|unit| layout.piece_at(unit.start));
    pieces.filter(|piece| seen.insert(*piece)).collect()
}

fn fits(text: &str, budget: Budget) -> bool {
    let characters = || text.chars().count() as u64;
    budget.characters.is_none_or(|most| characters() <= most)
        && budget.tokens.is_none_or(|most| estimated(text) <= most)
}

/// What a text takes of a budget.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    hundredths: u64,
    characters: u64,
}

impl Cost {
    fn of(text: &str) -> Cost {
        Cost {
            hundredths: tokens::hundredths(text),
            characters: text.chars().count() as u64,
        }
    }

    fn plus(self, other: Cost) -> Cost {
        Cost {
            hundredths: self.hundredths + other.hundredths,
            characters: self.characters + other.characters,
        }
    }

    fn less(self, other: Cost) -> Cost {
        Cost {
            hundredths: self.hundredths.saturating_sub(other.hundredths),
            characters: self.characters.saturating_sub(other.characters),
        }
    }

    /// Whether it is within this share of a budget, in hundredths.
    fn is_within(self, budget: Budget, share: u64) -> bool {
        budget
            .tokens
            .is_none_or(|most| self.hundredths <= most.saturating_mul(share))
            && budget.characters.is_none_or(|most| {
                self.characters.saturating_mul(100) <= most.saturating_mul(share)
            })
    }
}

/// The pieces that are kept so far.
struct Choice<'a> {
    text: &'a str,
    layout: &'a Layout,
    budget: Budget,
    kept: BTreeSet<usize>,
    /// What was added together, in this order.
    groups: Vec<Vec<usize>>,
    cost: Cost,
}

impl<'a> Choice<'a> {
    fn new(text: &'a str, layout: &'a Layout, budget: Budget) -> Choice<'a> {
        Choice {
            text,
            layout,
            budget,
            kept: BTreeSet::new(),
            groups: Vec::new(),
            cost: Cost::default(),
        }
    }

    /// The best pieces with what stands around them for a share of the budget, then the next best alone, then the rest of
    /// the blocks that were begun.
    fn best(&mut self, order: &[usize]) {
        let short = self.short_blocks();
        // What did not fit once does not fit later: each of them is tried once.
        let mut refused = BTreeSet::new();
        for &piece in order {
            let with = self.with_following(piece);
            let number = self.layout.pieces[with].block;
            let block = self.layout.blocks[number].clone();
            let is_short = short.contains(&number);
            let around = match is_short {
                true => block,
                false => with..block.end.min(with + 2),
            };
            if !refused.contains(&number) {
                let around: Vec<usize> = around.chain([piece]).collect();
                if self.add(&around, AROUND_SHARE) {
                    continue;
                }
                if is_short {
                    refused.insert(number);
                }
            }
            self.add(&[piece, with], 100);
        }
        let mut tried = BTreeSet::new();
        for &piece in order {
            let number = self.layout.pieces[piece].block;
            let mut block = self.layout.blocks[number].clone();
            if tried.insert(number) && block.any(|piece| self.kept.contains(&piece)) {
                let block: Vec<usize> = self.layout.blocks[number].clone().collect();
                self.add(&block, 100);
            }
        }
    }

    /// The blocks that are kept whole.
    fn short_blocks(&self) -> BTreeSet<usize> {
        let cost = |pieces: Range<usize>| {
            let pieces = pieces.map(|piece| self.layout.pieces[piece].range.clone());
            let costs = pieces.map(|range| Cost::of(&self.text[range]));
            costs.fold(Cost::default(), Cost::plus)
        };
        let blocks = self.layout.blocks.iter().cloned().enumerate();
        let short = blocks
            .filter(|(_, block)| cost(block.clone()).is_within(self.budget, WHOLE_BLOCK_SHARE));
        short.map(|(number, _)| number).collect()
    }

    /// A heading says little without what follows it, and so do the few words in bold that many items of a list begin with.
    fn with_following(&self, piece: usize) -> usize {
        let pieces = &self.layout.pieces;
        let is_heading = |at: usize| matches!(pieces[at].kind, Kind::Heading(_));
        let leads = || {
            plain(&self.text[pieces[piece].range.clone()])
                .split_whitespace()
                .count()
                <= LEAD_WORDS_MAX
        };
        match pieces.get(piece + 1) {
            Some(next) if is_heading(piece) && !matches!(next.kind, Kind::Heading(_)) => piece + 1,
            Some(next) if !is_heading(piece) && next.block == pieces[piece].block && leads() => {
                piece + 1
            }
            _ => piece,
        }
    }

    /// Blocks from the first on until one does not fit, and of that one its first pieces.
    fn beginning(&mut self) {
        let mut next = 0;
        for block in &self.layout.blocks {
            let is_heading = |at: usize| matches!(self.layout.pieces[at].kind, Kind::Heading(_));
            let is_last = block.end == self.layout.pieces.len();
            if is_heading(block.start) && !is_last {
                continue;
            }
            let whole: Vec<usize> = (next..block.end).collect();
            if self.add(&whole, 100) {
                next = block.end;
                continue;
            }
            // Headings of the section are wanted by its pieces.
            for piece in block.clone() {
                if !self.add(&[piece], 100) {
                    break;
                }
            }
            if !self.kept.is_empty() {
                return;
            }
        }
    }

    /// Keeps these pieces and all that they need, if they fit into this share of the budget.
    fn add(&mut self, pieces: &[usize], share: u64) -> bool {
        let mut added = Vec::new();
        let before = self.cost;
        for &piece in pieces {
            let mut wanted = Some(piece);
            while let Some(piece) = wanted.filter(|piece| !self.kept.contains(piece)) {
                self.cost = self.cost_with(piece);
                self.kept.insert(piece);
                added.push(piece);
                wanted = self.layout.pieces[piece].needs;
            }
        }
        if self.cost.is_within(self.budget, share) {
            self.groups.push(added);
            return true;
        }
        for piece in added {
            self.kept.remove(&piece);
        }
        self.cost = before;
        false
    }

    /// What all takes once this piece is kept too.
    fn cost_with(&self, piece: usize) -> Cost {
        let before = self.kept.range(..piece).next_back().copied();
        let after = self.kept.range(piece + 1..).next().copied();
        let between = |one: Option<usize>, other: Option<usize>| match (one, other) {
            (Some(one), Some(other)) => Cost::of(&self.layout.between(self.text, one, other)),
            _ => Cost::default(),
        };
        let own = Cost::of(&self.text[self.layout.pieces[piece].range.clone()]);
        self.cost
            .plus(own)
            .plus(between(before, Some(piece)))
            .plus(between(Some(piece), after))
            .less(between(before, after))
    }

    fn composed(&self) -> String {
        let mut text = String::new();
        let mut last = None;
        for &piece in &self.kept {
            if let Some(last) = last {
                text.push_str(&self.layout.between(self.text, last, piece));
            }
            text.push_str(&self.text[self.layout.pieces[piece].range.clone()]);
            last = Some(piece);
        }
        text
    }

    /// What is kept, which is never more than the budget: the sum of the parts is only nearly that of the whole.
    fn excerpt(mut self, is_ranked: bool) -> Option<Excerpt> {
        let mut text = self.composed();
        while !fits(&text, self.budget) {
            for piece in self.groups.pop()? {
                self.kept.remove(&piece);
            }
            text = self.composed();
        }
        let says_something =
            |piece: &usize| !matches!(self.layout.pieces[*piece].kind, Kind::Heading(_));
        let has_text = self
            .layout
            .pieces
            .iter()
            .any(|piece| !matches!(piece.kind, Kind::Heading(_)));
        if self.kept.is_empty() || (has_text && !self.kept.iter().any(says_something)) {
            return None;
        }
        Some(self.described(text, is_ranked, true))
    }

    fn whole(mut self, all: &[usize], is_ranked: bool) -> Excerpt {
        self.kept = all.iter().copied().collect();
        let text = self.text.trim().to_owned();
        self.described(text, is_ranked, false)
    }

    fn described(&self, text: String, is_ranked: bool, is_truncated: bool) -> Excerpt {
        let pieces = || self.kept.iter().map(|piece| &self.layout.pieces[*piece]);
        let blocks: BTreeSet<usize> = pieces().map(|piece| piece.block).collect();
        let headings = pieces().filter_map(|piece| match piece.kind {
            Kind::Heading(level) => Some((level, plain(&self.text[piece.range.clone()]))),
            _ => None,
        });
        Excerpt {
            tokens: estimated(&text),
            characters: text.chars().count() as u64,
            blocks_kept: blocks.len(),
            blocks_total: self.layout.blocks.len(),
            is_truncated,
            is_ranked,
            headings: headings.collect(),
            text,
        }
    }
}

#[cfg(test)]
mod tests;
