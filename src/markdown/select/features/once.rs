//! What the features need of a page once: the figures of its elements, which texts repeat, where its title stands, and
//! what is the same for all of its blocks.

use std::cmp::Reverse;

use super::Features;
use crate::markdown::outline::{Block, Kind, Node, PAGE};
use crate::markdown::select::facts::{FAR, Facts, Group, Page};
use crate::markdown::select::hints::Hints;
use crate::markdown::select::names::bin;
use crate::markdown::select::scale::{count, log, share, weight};

/// A block of at most so many words is compared with the title and known by its text.
const SHORT_WORDS: u32 = 16;

impl Features<'_> {
    pub(super) fn of_page(&self) -> Vec<(&'static str, u8)> {
        let page = self.page;
        let total = self.total();
        let blocks = &page.outline.blocks;
        let words_where = |asked: &dyn Fn(&Block) -> bool| {
            let words = blocks
                .iter()
                .filter(|block| asked(block))
                .map(|block| block.words);
            share(words.sum(), total.words)
        };
        let near = |block: &Block, kind: usize| page.near[block.node as usize].hops(kind) < FAR;
        let headings = blocks
            .iter()
            .filter(|block| matches!(block.kind, Kind::Heading(2..=4, _)));
        let prices = blocks
            .iter()
            .map(|block| u32::from(block.counts.prices))
            .sum();
        let function_words = blocks
            .iter()
            .map(|block| u32::from(block.counts.function_words))
            .sum();
        let main = page.fact(page.main);
        let top = page.fact(page.top);
        let largest = |asked: &dyn Fn(&Group) -> bool| {
            let found = page
                .groups
                .iter()
                .filter(|group| group.size >= 5 && asked(group));
            share(
                found.map(|group| group.words).max().unwrap_or(0),
                total.words,
            )
        };
        let good = count(page.good_blocks.len());
        let mut bytes = vec![
            ("page_words", log(total.words)),
            ("page_blocks", log(total.blocks)),
            ("page_links", share(total.link_words, total.words)),
            ("page_paragraphs", log(total.paragraphs)),
            ("page_good_blocks", log(good)),
            ("page_good_words", share(self.good_words, total.words)),
            ("page_good_length", log(self.good_words / good.max(1))),
            ("page_function_words", share(function_words, total.words)),
            ("page_prices", log(prices)),
            ("page_headings", log(count(headings.count()))),
            (
                "page_title_at",
                share(self.title_block.map_or(0, |at| count(at) + 1), total.blocks),
            ),
            ("page_in_items", words_where(&|block| near(block, 9))),
            ("page_in_tables", words_where(&|block| near(block, 11))),
            ("page_in_main", words_where(&|block| near(block, 3))),
            ("page_in_article", words_where(&|block| near(block, 4))),
            (
                "page_in_footer",
                words_where(&|block| near(block, 2) || near(block, 6)),
            ),
            (
                "page_in_code",
                words_where(&|block| matches!(block.kind, Kind::Code(_))),
            ),
            ("main_words", share(main.words, total.words)),
            ("main_links", share(main.link_words, main.words)),
            (
                "main_depth",
                page.outline.node(page.main).depth.min(255) as u8,
            ),
            ("main_names", weight(page.path[page.main as usize].sum / 2)),
            ("top_words", share(top.words, total.words)),
            ("top_score", log(top.score)),
            ("top_paragraphs", log(top.paragraphs)),
            (
                "long_group",
                largest(&|group| group.words > 25 * group.size),
            ),
            (
                "short_group",
                largest(&|group| group.words <= 25 * group.size && group.words > 3 * group.size),
            ),
        ];
        bytes.extend(self.hints.bytes());
        bytes
    }
}

pub(super) fn beside(page: &Page<'_>, names: &[i8], block: &Block) -> [u8; 4] {
    let text_weight = text_name(block).and_then(|bin| names.get(usize::from(bin)));
    [
        log(block.words) + 1,
        share(block.link_words, block.words),
        page.outline.node(block.node).tag.rank(),
        weight(text_weight.map_or(0, |&weight| i32::from(weight))),
    ]
}

/// The weight that a short text has of its own, as the number of it.
pub(in crate::markdown::select) fn text_name(block: &Block) -> Option<u16> {
    let is_short = block.words > 0 && block.words <= 6;
    is_short.then_some(bin(block.counts.hash))
}

/// Which of a node's bytes says how many siblings are like it.
pub(super) const SAME: usize = 5;

pub(super) fn nodes(page: &Page<'_>) -> Vec<[u8; 10]> {
    let total = page.fact(PAGE);
    let same = |fact: &Facts, node: &Node| match node.depth {
        0 => 0,
        _ => page.groups[fact.group as usize].size,
    };
    let of = |(fact, node): (&Facts, &Node)| {
        [
            node.tag.rank(),
            share(fact.words, total.words),
            share(fact.link_words, fact.words),
            log(fact.paragraphs),
            log(fact.blocks),
            log(same(fact, node)),
            share(fact.marks * 4, fact.words),
            log(fact.words / fact.blocks.max(1)),
            share(fact.good_words, total.good_words),
            weight(i32::from(node.names.mean)),
        ]
    };
    page.facts.iter().zip(&page.outline.nodes).map(of).collect()
}

/// How often each block's text stands on the page, and whether it did before.
pub(super) fn repeats(blocks: &[Block]) -> (Vec<u8>, Vec<bool>) {
    let mut order: Vec<u32> = (0..count(blocks.len())).collect();
    order.sort_unstable_by_key(|&at| (blocks[at as usize].counts.hash, at));
    let mut repeats = vec![0; blocks.len()];
    let mut is_repeated = vec![false; blocks.len()];
    for same in
        order.chunk_by(|&a, &b| blocks[a as usize].counts.hash == blocks[b as usize].counts.hash)
    {
        for (number, &at) in same.iter().enumerate() {
            repeats[at as usize] = log(count(same.len()));
            is_repeated[at as usize] = number > 0;
        }
    }
    (repeats, is_repeated)
}

/// The heading that says what the page's title says.
pub(super) fn title_block(page: &Page<'_>, hints: &Hints) -> Option<usize> {
    let likeness = |block: &Block| {
        let (own, of_title) = overlap(block, hints.title);
        u32::from(own) + u32::from(of_title)
    };
    let blocks = page.outline.blocks.iter().enumerate();
    let first = blocks
        .clone()
        .filter(|(_, block)| matches!(block.kind, Kind::Heading(1, _)))
        .max_by_key(|(at, block)| (likeness(block), Reverse(*at)));
    let other = || {
        blocks.clone().find(|(_, block)| {
            matches!(block.kind, Kind::Heading(2 | 3, _)) && likeness(block) > 380
        })
    };
    first.or_else(other).map(|(at, _)| at)
}

/// The share of a short block's words that the other text has, and the share of the other's that the block has.
pub(super) fn overlap(block: &Block, other: u64) -> (u8, u8) {
    if block.words == 0 || block.words > SHORT_WORDS {
        return (0, 0);
    }
    let own = block.counts.sketch;
    let both = (own & other).count_ones();
    (
        share(both, own.count_ones()),
        share(both, other.count_ones()),
    )
}
