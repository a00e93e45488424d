//! From probabilities to the blocks that are kept: the threshold with the best expected F1 for this page, and of
//! repeated text only the first.

use std::collections::HashSet;

use super::super::outline::{NodeId, Outline, Shape};

/// Text of at least so many words is kept once.
const REPEATED_WORDS: u32 = 6;

/// Numbers of the blocks to keep, in document order. `chances` are probabilities of being content.
pub(super) fn decide(outline: &Outline, chances: &[f32], is_article: bool) -> Vec<usize> {
    let blocks = &outline.blocks;
    let expected = expected_f1(outline, chances);
    // Where the model is sure of the page, what it doubts is better left out.
    let mut strictness = 0.92 * (1.0 + 1.5 * (expected - 0.8).max(0.0));
    if is_article {
        strictness *= 1.2;
    }
    // Half of the best F1 is the threshold that reaches it (Lipton et al., 2014).
    let threshold = (strictness * expected / 2.0).clamp(0.15, 0.75);
    let mut is_kept: Vec<bool> = chances.iter().map(|&chance| chance >= threshold).collect();
    mend(outline, &mut is_kept);
    let mut kept: Vec<usize> = (0..blocks.len()).filter(|&at| is_kept[at]).collect();
    if kept.is_empty() {
        let most =
            (0..blocks.len()).max_by(|&a, &b| chances[a].total_cmp(&chances[b]).then(b.cmp(&a)));
        kept.extend(most);
    }
    drop_repeated(outline, &mut kept);
    kept
}

/// The best F1, by words, that keeping the likeliest blocks can be expected to have.
fn expected_f1(outline: &Outline, chances: &[f32]) -> f32 {
    let mut order: Vec<(f32, f32)> = chances
        .iter()
        .zip(&outline.blocks)
        // Exact up to sixteen million words.
        .map(|(&chance, block)| (chance, block.words as f32))
        .collect();
    order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    let content: f32 = order.iter().map(|(chance, words)| chance * words).sum();
    let (mut right, mut kept, mut best) = (0.0, 0.0, 0.0f32);
    for (chance, words) in order {
        right += chance * words;
        kept += words;
        if kept + content > 0.0 {
            best = best.max(2.0 * right / (kept + content));
        }
    }
    best
}

/// What is kept of a table's row, of a table of data or of a plain list.
#[derive(Clone, Copy, Default)]
struct Part {
    words: u32,
    kept_words: u32,
    blocks: u32,
    items: u32,
}

impl Part {
    fn is_mostly_kept(self) -> bool {
        self.kept_words * 2 > self.words
    }
}

/// A table or a list with holes says something else than the page: what is mostly kept is kept whole, and of a table
/// that is not, whole rows.
fn mend(outline: &Outline, is_kept: &mut [bool]) {
    let mut parts = vec![Part::default(); outline.nodes.len()];
    let mut chain = Vec::new();
    for (block, &is_kept) in outline.blocks.iter().zip(&*is_kept) {
        outline.containers(block.node, &mut chain);
        // An empty picture is a word, too.
        let words = block.words + 1;
        for &node in &chain {
            let part = &mut parts[node as usize];
            part.words += words;
            part.kept_words += if is_kept { words } else { 0 };
            part.blocks += 1;
        }
    }
    for node in &outline.nodes {
        if matches!(node.shape, Shape::Item { .. }) {
            parts[node.parent as usize].items += 1;
        }
    }
    let is_whole = |node: NodeId, chain: &[NodeId]| {
        let part = parts[node as usize];
        part.is_mostly_kept()
            && match outline.node(node).shape {
                // Long cells are text that a table arranges, whatever it looks like.
                Shape::Table(_) => outline.is_data_table(node) && part.words <= part.blocks * 12,
                Shape::Row { .. } => chain.iter().any(|&node| outline.is_data_table(node)),
                // Cards and menus have more in an item than a line of text.
                Shape::List { .. } => part.blocks <= part.items + part.items / 4,
                _ => false,
            }
    };
    for (block, is_kept) in outline.blocks.iter().zip(is_kept) {
        if !*is_kept {
            outline.containers(block.node, &mut chain);
            *is_kept = chain.iter().any(|&node| is_whole(node, &chain));
        }
    }
}

fn drop_repeated(outline: &Outline, kept: &mut Vec<usize>) {
    let mut seen: HashSet<&str> = HashSet::new();
    let mut chain = Vec::new();
    kept.retain(|&at| {
        let block = &outline.blocks[at];
        if block.words < REPEATED_WORDS || seen.insert(outline.markdown(block)) {
            return true;
        }
        outline.containers(block.node, &mut chain);
        chain
            .iter()
            .any(|&node| matches!(outline.node(node).shape, Shape::Cell { .. }))
    });
}
