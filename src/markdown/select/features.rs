//! What the model is told of each block: some two hundred bytes, the same at training and at run time because both
//! come from here. Reads the facts of a page, judges nothing.

mod once;

use super::super::outline::{Block, Kind, NodeId, PAGE};
use super::columns::{ANCESTOR_NAMES, ANCESTORS, NEAR_NAMES, NEIGHBOUR_NAMES, REPEAT_NAMES};
use super::facts::{Facts, Group, Hops, Page};
use super::hints::Hints;
use super::scale::{count, log, ratio, share, signed, weight};
pub(super) use once::text_name;
use once::{SAME, beside, nodes, overlap, repeats, title_block};

/// Takes the features of a block one after the other, always in the same order.
pub(super) trait Row {
    /// The next features are the same for all blocks of the page.
    fn page(&mut self, values: &[(&'static str, u8)]);
    fn put(&mut self, name: &'static str, value: u8);
}

/// Blocks before and after whose figures are told.
const NEIGHBOURS: isize = 3;

/// All that is computed once a page.
pub(super) struct Features<'a> {
    pub(super) page: &'a Page<'a>,
    pub(super) hints: &'a Hints,
    nodes: Vec<[u8; 10]>,
    to_heading: Vec<Hops>,
    pub(super) title_block: Option<usize>,
    /// Words before the title's block.
    title_offset: u32,
    page_bytes: Vec<(&'static str, u8)>,
    repeats: Vec<u8>,
    is_repeated: Vec<bool>,
    /// What each block tells of itself as a neighbour: words, links, tag, weight of its text.
    beside: Vec<[u8; 4]>,
    pub(super) good_words: u32,
}

/// What changes from one block to the next.
pub(super) struct Walk {
    at: usize,
    words: u32,
    good: usize,
    good_words: u32,
    since_heading: u32,
    heading_level: u8,
    heading_words: u32,
    heading_weight: u8,
    heading_node: NodeId,
    first_headings: u32,
}

impl Default for Walk {
    fn default() -> Walk {
        Walk {
            at: 0,
            words: 0,
            good: 0,
            good_words: 0,
            since_heading: 0,
            heading_level: 0,
            heading_words: 0,
            heading_weight: weight(0),
            heading_node: PAGE,
            first_headings: 0,
        }
    }
}

impl<'a> Features<'a> {
    pub(super) fn new(page: &'a Page<'a>, hints: &'a Hints, names: &'a [i8]) -> Features<'a> {
        let blocks = &page.outline.blocks;
        let title_block = title_block(page, hints);
        let title_offset =
            title_block.map_or(0, |at| blocks[..at].iter().map(|block| block.words).sum());
        let title_node = title_block.map_or(PAGE, |at| blocks[at].node);
        let (repeats, is_repeated) = repeats(blocks);
        let good = page.good_blocks.iter().map(|&at| blocks[at as usize].words);
        let mut features = Features {
            nodes: nodes(page),
            to_heading: super::facts::hops(page.outline, title_node),
            title_block,
            title_offset,
            page_bytes: Vec::new(),
            repeats,
            is_repeated,
            beside: blocks
                .iter()
                .map(|block| beside(page, names, block))
                .collect(),
            good_words: good.sum(),
            page,
            hints,
        };
        features.page_bytes = features.of_page();
        features
    }

    /// Tells everything about the next block.
    pub(super) fn next(&self, walk: &mut Walk, row: &mut impl Row) {
        let Some(block) = self.page.outline.blocks.get(walk.at) else {
            return;
        };
        row.page(&self.page_bytes);
        self.heading(walk, block);
        self.text(walk, block, row);
        self.place(walk, block, row);
        self.landmarks(walk, block, row);
        self.ancestors(block, row);
        self.repetition(block, row);
        self.neighbours(walk, row);
        walk.words = walk.words.saturating_add(block.words);
        if self.page.good_blocks.get(walk.good) == Some(&(count(walk.at))) {
            walk.good += 1;
            walk.good_words = walk.good_words.saturating_add(block.words);
        }
        walk.at += 1;
    }

    pub(super) fn total(&self) -> &Facts {
        self.page.fact(PAGE)
    }

    fn heading(&self, walk: &mut Walk, block: &Block) {
        let [.., text_weight] = self.beside[walk.at];
        match block.kind {
            Kind::Heading(level, _) => {
                walk.since_heading = 0;
                walk.heading_level = level;
                walk.heading_words = block.words;
                walk.heading_weight = text_weight;
                walk.heading_node = block.node;
                walk.first_headings += u32::from(level == 1);
            }
            _ => walk.since_heading += 1,
        }
    }

    fn text(&self, walk: &Walk, block: &Block, row: &mut impl Row) {
        let counts = &block.counts;
        let marks = u32::from(counts.stops) + u32::from(counts.commas);
        row.put("words", log(block.words));
        row.put("chars", log(counts.chars));
        row.put(
            "chars_per_word",
            ratio(counts.chars, block.words.saturating_mul(4)),
        );
        row.put("link_share", share(block.link_words, block.words));
        row.put("stops", log(u32::from(counts.stops)));
        row.put("commas", log(u32::from(counts.commas)));
        row.put("marks_per_word", share(marks * 4, block.words));
        row.put(
            "uppercase",
            share(u32::from(counts.uppercase), counts.chars),
        );
        row.put("digits", share(u32::from(counts.digits), counts.chars));
        row.put(
            "function_words",
            share(u32::from(counts.function_words), block.words),
        );
        row.put("prices", log(u32::from(counts.prices)));
        row.put("ends_sentence", u8::from(counts.ends_sentence));
        row.put("opening", counts.opening);
        row.put("text_weight", self.beside[walk.at][3]);
        row.put(
            "kind",
            match block.kind {
                Kind::Paragraph => 0,
                Kind::Code(_) => 1,
                Kind::Rule => 2,
                Kind::Heading(level, _) => 3 + level,
            },
        );
        row.put("repeats", self.repeats[walk.at]);
        row.put("is_repeated", u8::from(self.is_repeated[walk.at]));
        let (own, of_title) = overlap(block, self.hints.title);
        row.put("in_title", own);
        row.put("of_title", of_title);
        let (own, of_headline) = overlap(block, self.hints.headline);
        row.put("in_headline", own);
        row.put("of_headline", of_headline);
        let (own, of_description) = overlap(block, self.hints.description);
        row.put("in_description", own);
        row.put("of_description", of_description);
        row.put(
            "description_grams",
            self.hints.description_grams.holds(counts),
        );
        row.put("body_grams", self.hints.body_grams.holds(counts));
    }

    fn place(&self, walk: &Walk, block: &Block, row: &mut impl Row) {
        let blocks = count(self.page.outline.blocks.len());
        row.put("position", share(count(walk.at), blocks));
        row.put("number", log(count(walk.at)));
        row.put("number_from_end", log(blocks - count(walk.at)));
        row.put("offset", share(walk.words, self.total().words));
        row.put(
            "depth",
            self.page.outline.node(block.node).depth.min(255) as u8,
        );
        row.put("since_heading", log(walk.since_heading));
        row.put("heading_level", walk.heading_level);
        row.put("heading_words", log(walk.heading_words));
        row.put("heading_weight", walk.heading_weight);
        let to_heading = self.page.meeting(block.node, walk.heading_node);
        row.put("heading_up", to_heading.from_here);
        row.put("heading_down", to_heading.from_there);
        row.put("first_headings", log(walk.first_headings));
        let (distance, words) = match self.title_block {
            Some(title) => (
                i64::from(count(walk.at)) - i64::from(count(title)),
                i64::from(walk.words) - i64::from(self.title_offset),
            ),
            None => (-100_000, -1_000_000),
        };
        row.put("title_distance", signed(distance));
        row.put("title_words", signed(words));
        let hops = self.to_heading[block.node as usize];
        row.put("title_up", hops.from_here);
        row.put("title_down", hops.from_there);
    }

    fn landmarks(&self, walk: &Walk, block: &Block, row: &mut impl Row) {
        let node = block.node as usize;
        let (main, top) = (self.page.to_main[node], self.page.to_top[node]);
        row.put("main_up", main.from_here);
        row.put("main_down", main.from_there);
        row.put("top_up", top.from_here);
        row.put("top_down", top.from_there);
        let good = &self.page.good_blocks;
        row.put("good_before", log(count(walk.good)));
        row.put("good_after", log(count(good.len() - walk.good)));
        row.put("good_words_before", share(walk.good_words, self.good_words));
        let before = walk.good.checked_sub(1).map(|at| good[at]);
        let next = walk.good + usize::from(good.get(walk.good) == Some(&(count(walk.at))));
        let after = good.get(next).copied();
        for (names, other) in [
            (["before_blocks", "before_up", "before_down"], before),
            (["after_blocks", "after_up", "after_down"], after),
        ] {
            let (blocks, hops) = match other {
                Some(other) => {
                    let other_node = self.page.outline.blocks[other as usize].node;
                    let hops = self.page.meeting(block.node, other_node);
                    (log((count(walk.at)).abs_diff(other)), hops)
                }
                None => (
                    u8::MAX,
                    Hops {
                        from_here: 99,
                        from_there: 99,
                    },
                ),
            };
            row.put(names[0], blocks);
            row.put(names[1], hops.from_here);
            row.put(names[2], hops.from_there);
        }
    }

    fn ancestors(&self, block: &Block, row: &mut impl Row) {
        let outline = self.page.outline;
        let path = self.page.path[block.node as usize];
        row.put("names_sum", weight(path.sum / 2));
        row.put("names_most", weight(i32::from(path.most)));
        row.put("names_least", weight(i32::from(path.least)));
        let near = self.page.near[block.node as usize];
        for (kind, name) in NEAR_NAMES.iter().enumerate() {
            row.put(name, near.hops(kind));
        }
        let mut at = block.node;
        for names in &ANCESTOR_NAMES[..ANCESTORS] {
            for (name, value) in names.iter().zip(self.nodes[at as usize]) {
                row.put(name, value);
            }
            at = outline.node(at).parent;
        }
    }

    /// The nearest and the outermost ancestor that has siblings like it.
    fn repetition(&self, block: &Block, row: &mut impl Row) {
        let outline = self.page.outline;
        let (mut nearest, mut outermost) = ((0, PAGE), (0, PAGE));
        let (mut at, mut hops) = (block.node, 0u8);
        while at != PAGE {
            if self.nodes[at as usize][SAME] >= log(3) {
                if nearest.1 == PAGE {
                    nearest = (hops, at);
                }
                outermost = (hops, at);
            }
            at = outline.node(at).parent;
            hops = hops.saturating_add(1);
        }
        for (names, (hops, node)) in REPEAT_NAMES.iter().zip([nearest, outermost]) {
            let values = match node {
                PAGE => [0; 8],
                node => self.repeat(hops, node),
            };
            for (name, value) in names.iter().zip(values) {
                row.put(name, value);
            }
        }
    }

    fn repeat(&self, hops: u8, node: NodeId) -> [u8; 8] {
        let fact = self.page.fact(node);
        let group = &self.page.groups[fact.group as usize];
        [
            hops.min(31) + 1,
            log(group.size),
            log(group.words / group.size.max(1)),
            variation(group),
            share(group.link_words, group.words),
            share(group.words, self.total().words),
            share(fact.index, group.size),
            log(fact.words),
        ]
    }

    fn neighbours(&self, walk: &Walk, row: &mut impl Row) {
        let mut names = NEIGHBOUR_NAMES.iter();
        for offset in (-NEIGHBOURS..=NEIGHBOURS).filter(|&offset| offset != 0) {
            let neighbour = walk
                .at
                .checked_add_signed(offset)
                .and_then(|at| self.beside.get(at));
            let values = neighbour.copied().unwrap_or([0, 0, 0, 128]);
            for (name, value) in names.next().into_iter().flatten().zip(values) {
                row.put(name, value);
            }
        }
    }
}

/// How unequal the members of a group are: the coefficient of variation of their words.
fn variation(group: &Group) -> u8 {
    let size = u64::from(group.size.max(1));
    let mean = u64::from(group.words) / size;
    let variance = (group.squares / size).saturating_sub(mean * mean);
    let scaled = variance.isqrt().saturating_mul(64) / mean.max(1);
    u8::try_from(scaled).unwrap_or(u8::MAX)
}
