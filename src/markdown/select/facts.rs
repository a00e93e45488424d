//! What the elements of a page amount to: sums over their subtrees, how many like them stand beside each other, where
//! the bulk of the prose is. Reads the outline, decides nothing.

use super::super::outline::{Block, Kind, NodeId, Outline, PAGE, Role};
use super::super::tag::Tag;
use super::scale::count;

/// Sums over an element and everything in it, and how it stands among its like.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Facts {
    pub(super) words: u32,
    pub(super) link_words: u32,
    pub(super) marks: u32,
    pub(super) blocks: u32,
    /// Blocks of prose: more than fifteen words, few of them links.
    pub(super) paragraphs: u32,
    /// Words of blocks that are long and have sentences.
    pub(super) good_words: u32,
    /// What its blocks say for it as the container of the content, halved at each level up.
    pub(super) score: u32,
    /// Which of its group of siblings it is, from 0.
    pub(super) index: u32,
    /// Number of its group of siblings.
    pub(super) group: u32,
}

/// Siblings that look alike.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Group {
    pub(super) size: u32,
    pub(super) words: u32,
    pub(super) link_words: u32,
    /// Of the squares of their words.
    pub(super) squares: u64,
}

/// Where a node stands towards a landmark: hops up to the meeting point, and from the landmark up to it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hops {
    pub(super) from_here: u8,
    pub(super) from_there: u8,
}

/// Kinds of elements by their tag or role, to which the distance is told.
pub(super) const NEAR: usize = 16;

/// Hops to the nearest ancestor of each kind of [`near_kind`], at most this.
pub(super) const FAR: u8 = 15;

/// Hops to the nearest ancestor of each kind, four bits each.
#[derive(Clone, Copy)]
pub(super) struct Near(u64);

impl Near {
    const NOWHERE: Near = Near(u64::MAX);

    pub(super) fn hops(self, kind: usize) -> u8 {
        let hops = (self.0 >> (4 * kind)) & u64::from(FAR);
        u8::try_from(hops).unwrap_or(FAR)
    }

    /// One hop further from all of them.
    fn further(self) -> Near {
        let is_far = self.0 & (self.0 >> 1) & (self.0 >> 2) & (self.0 >> 3) & EACH;
        Near(self.0 + (EACH ^ is_far))
    }

    fn here(self, kind: usize) -> Near {
        Near(self.0 & !(u64::from(FAR) << (4 * kind)))
    }
}

/// The lowest of each four bits.
const EACH: u64 = 0x1111_1111_1111_1111;

pub(super) struct Page<'a> {
    pub(super) outline: &'a Outline,
    pub(super) facts: Vec<Facts>,
    pub(super) groups: Vec<Group>,
    /// By node: hops to the nearest element of each kind.
    pub(super) near: Vec<Near>,
    /// By node: the weights of the names on the way up, the nearest counting most.
    pub(super) path: Vec<Path>,
    /// The deepest element that holds most of the good words.
    pub(super) main: NodeId,
    /// The element with the best score.
    pub(super) top: NodeId,
    pub(super) to_main: Vec<Hops>,
    pub(super) to_top: Vec<Hops>,
    pub(super) good_blocks: Vec<u32>,
}

/// Sums of names' weights from a node up to the page.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Path {
    pub(super) sum: i32,
    pub(super) most: i8,
    pub(super) least: i8,
}

/// A block long enough to be prose and mostly not links.
fn is_paragraph(block: &Block) -> bool {
    block.words > 15 && block.link_words * 10 < block.words * 3
}

/// Prose beyond doubt: long, with sentences, few links.
pub(super) fn is_good(block: &Block) -> bool {
    block.words >= 20 && block.link_words * 10 < block.words * 3 && block.counts.stops >= 1
}

/// What a block says for the element that holds it (after Readability's scoring), in sixteenths.
fn score(block: &Block) -> u32 {
    if block.words < 10 || block.link_words * 2 >= block.words {
        return 0;
    }
    let counts = &block.counts;
    16 * (1 + u32::from(counts.commas.min(8))) + (counts.chars * 16 / 100).min(64)
}

fn near_kind(tag: Tag, role: Role) -> Option<usize> {
    Some(match (role, tag) {
        (Role::Hidden, _) => 0,
        (Role::Consent, _) => 1,
        (Role::Navigation, _) => 2,
        (Role::Main, _) => 3,
        (Role::Article, _) => 4,
        (Role::Header, _) | (_, Tag::Header) => 5,
        (Role::Footer, _) | (_, Tag::Footer) => 6,
        (Role::Aside, _) | (_, Tag::Aside) => 7,
        (Role::Form, _) => 8,
        (_, Tag::Item) => 9,
        (_, Tag::Cell | Tag::HeaderCell) => 10,
        (_, Tag::Table) => 11,
        (_, Tag::Section) => 12,
        (_, Tag::Quote) => 13,
        (_, Tag::FigureCaption) => 14,
        (_, Tag::DefinitionList) => 15,
        _ => return None,
    })
}

impl<'a> Page<'a> {
    pub(super) fn new(outline: &'a Outline) -> Page<'a> {
        let mut facts = sums(outline);
        let groups = groups(outline, &mut facts);
        let main = main(outline, &facts);
        let top = top(&facts);
        Page {
            to_main: hops(outline, main),
            to_top: hops(outline, top),
            near: near(outline),
            path: path(outline),
            good_blocks: good_blocks(outline),
            outline,
            facts,
            groups,
            main,
            top,
        }
    }

    pub(super) fn fact(&self, node: NodeId) -> &Facts {
        &self.facts[node as usize]
    }

    /// Hops from each of two nodes to where their ways up meet.
    pub(super) fn meeting(&self, a: NodeId, b: NodeId) -> Hops {
        let depth = |node: NodeId| self.outline.node(node).depth;
        let parent = |node: NodeId| self.outline.node(node).parent;
        let (mut a, mut b) = (a, b);
        let mut hops = Hops::default();
        while a != b && hops.from_here < 30 && hops.from_there < 30 {
            let (depth_a, depth_b) = (depth(a), depth(b));
            if depth_a >= depth_b {
                a = parent(a);
                hops.from_here += 1;
            }
            if depth_b >= depth_a {
                b = parent(b);
                hops.from_there += 1;
            }
        }
        hops
    }
}

fn sums(outline: &Outline) -> Vec<Facts> {
    let mut facts = vec![Facts::default(); outline.nodes.len()];
    for block in &outline.blocks {
        let mut node = block.node;
        let score = score(block);
        let sum = &mut facts[node as usize];
        sum.words = sum.words.saturating_add(block.words);
        sum.link_words = sum.link_words.saturating_add(block.link_words);
        sum.marks += u32::from(block.counts.stops) + u32::from(block.counts.commas);
        sum.blocks += 1;
        sum.paragraphs += u32::from(is_paragraph(block));
        if is_good(block) {
            sum.good_words = sum.good_words.saturating_add(block.words);
        }
        // What a paragraph says, it says for the element around it.
        let tag = outline.node(node).tag;
        if matches!(tag, Tag::Paragraph | Tag::Preformatted | Tag::Item) {
            node = outline.node(node).parent;
        }
        facts[node as usize].score = facts[node as usize].score.saturating_add(score);
    }
    for id in (1..outline.nodes.len()).rev() {
        let inner = facts[id];
        let outer = &mut facts[outline.nodes[id].parent as usize];
        outer.words = outer.words.saturating_add(inner.words);
        outer.link_words = outer.link_words.saturating_add(inner.link_words);
        outer.marks = outer.marks.saturating_add(inner.marks);
        outer.blocks += inner.blocks;
        outer.paragraphs += inner.paragraphs;
        outer.good_words = outer.good_words.saturating_add(inner.good_words);
        outer.score = outer.score.saturating_add(inner.score / 2);
    }
    facts
}

/// Finds siblings that look alike: an open table of parent, tag and class.
fn groups(outline: &Outline, facts: &mut [Facts]) -> Vec<Group> {
    let slots = (outline.nodes.len() * 2).next_power_of_two();
    let mut table: Vec<u32> = vec![u32::MAX; slots];
    let mut groups: Vec<Group> = Vec::new();
    let mut first_of: Vec<u32> = Vec::new();
    for (id, node) in outline.nodes.iter().enumerate().skip(1) {
        let key =
            u64::from(node.parent) << 32 | u64::from(node.class_hash ^ u32::from(node.tag.rank()));
        let spread = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut slot = (spread >> 20) as usize & (slots - 1);
        let group = loop {
            let Some(&first) = first_of.get(table[slot] as usize) else {
                table[slot] = count(groups.len());
                groups.push(Group::default());
                first_of.push(count(id));
                break table[slot];
            };
            let other = outline.node(first);
            if other.parent == node.parent
                && other.class_hash == node.class_hash
                && other.tag.rank() == node.tag.rank()
            {
                break table[slot];
            }
            slot = (slot + 1) & (slots - 1);
        };
        let sums = &mut groups[group as usize];
        let fact = &mut facts[id];
        fact.group = group;
        fact.index = sums.size;
        sums.size += 1;
        sums.words = sums.words.saturating_add(fact.words);
        sums.link_words = sums.link_words.saturating_add(fact.link_words);
        let square = u64::from(fact.words) * u64::from(fact.words);
        sums.squares = sums.squares.saturating_add(square);
    }
    groups
}

fn main(outline: &Outline, facts: &[Facts]) -> NodeId {
    let total = u64::from(facts[PAGE as usize].good_words);
    let mut main = PAGE;
    if total > 0 {
        for (id, node) in outline.nodes.iter().enumerate() {
            let holds_most = u64::from(facts[id].good_words) * 10 >= total * 6;
            if holds_most && node.depth >= outline.node(main).depth {
                main = count(id);
            }
        }
    }
    main
}

fn top(facts: &[Facts]) -> NodeId {
    let worth = |fact: &Facts| {
        let own = u64::from(fact.words - fact.link_words.min(fact.words));
        u64::from(fact.score) * own / u64::from(fact.words.max(1))
    };
    let mut best = (PAGE, 0);
    for (id, fact) in facts.iter().enumerate() {
        let worth = worth(fact);
        if worth > best.1 {
            best = (count(id), worth);
        }
    }
    best.0
}

pub(super) fn hops(outline: &Outline, landmark: NodeId) -> Vec<Hops> {
    let mut on_path = vec![false; outline.nodes.len()];
    let mut at = landmark;
    while at != PAGE {
        on_path[at as usize] = true;
        at = outline.node(at).parent;
    }
    on_path[PAGE as usize] = true;
    let depth = outline.node(landmark).depth;
    let mut hops: Vec<Hops> = Vec::with_capacity(outline.nodes.len());
    for (id, node) in outline.nodes.iter().enumerate() {
        let found = if on_path[id] {
            Hops {
                from_here: 0,
                from_there: u8::try_from(depth - node.depth).unwrap_or(u8::MAX),
            }
        } else {
            let parent = hops[node.parent as usize];
            Hops {
                from_here: parent.from_here.saturating_add(1),
                from_there: parent.from_there,
            }
        };
        hops.push(found);
    }
    hops
}

fn near(outline: &Outline) -> Vec<Near> {
    let mut near: Vec<Near> = Vec::with_capacity(outline.nodes.len());
    near.push(Near::NOWHERE);
    for node in &outline.nodes[1..] {
        let mut hops = near[node.parent as usize].further();
        if let Some(kind) = near_kind(node.tag, node.role) {
            hops = hops.here(kind);
        }
        near.push(hops);
    }
    near
}

fn path(outline: &Outline) -> Vec<Path> {
    let mut path: Vec<Path> = Vec::with_capacity(outline.nodes.len());
    path.push(Path::default());
    for node in &outline.nodes[1..] {
        let outer = path[node.parent as usize];
        path.push(Path {
            sum: outer.sum + i32::from(node.names.mean),
            most: outer.most.max(node.names.mean),
            least: outer.least.min(node.names.least),
        });
    }
    path
}

fn good_blocks(outline: &Outline) -> Vec<u32> {
    let blocks = outline.blocks.iter().enumerate();
    blocks
        .filter(|(_, block)| is_good(block) && !matches!(block.kind, Kind::Rule))
        .map(|(at, _)| count(at))
        .collect()
}
