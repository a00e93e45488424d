//! From probabilities to the blocks that are kept: the threshold with the best expected F1 for this page, and of
//! repeated text only the first. Then what has no meaning in part is made whole.

use std::collections::HashSet;

use super::super::outline::{Kind, Node, NodeId, Outline, Shape};

/// Text of at least so many words is kept once.
const REPEATED_WORDS: u32 = 6;

/// The most blocks of code between two kept ones.
const GAP_BLOCKS_MAX: usize = 4;

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
    let mut kept: Vec<usize> = (0..blocks.len())
        .filter(|&at| chances[at] >= threshold)
        .collect();
    if kept.is_empty() {
        let most =
            (0..blocks.len()).max_by(|&a, &b| chances[a].total_cmp(&chances[b]).then(b.cmp(&a)));
        kept.extend(most);
    }
    drop_repeated(outline, &mut kept);
    with_code_between(outline, whole_tables(outline, kept))
}

/// Code says little by its words. What of it stands between two kept blocks is kept.
fn with_code_between(outline: &Outline, kept: Vec<usize>) -> Vec<usize> {
    let is_code = |block: usize| matches!(outline.blocks[block].kind, Kind::Code(_));
    let mut whole: Vec<usize> = Vec::with_capacity(kept.len());
    for at in kept {
        let next = whole.last().map_or(at, |last| last + 1);
        if at - next <= GAP_BLOCKS_MAX && (next..at).all(is_code) {
            whole.extend(next..at);
        }
        whole.push(at);
    }
    whole
}

/// A table of data with holes says something else than the page: it is kept whole if at least a third of it
/// is kept.
fn whole_tables(outline: &Outline, kept: Vec<usize>) -> Vec<usize> {
    let is_data = |node: &Node| match node.shape {
        Shape::Table(table) => outline.tables[table as usize].is_data(),
        _ => false,
    };
    let mut tables: Vec<Option<NodeId>> = Vec::with_capacity(outline.nodes.len());
    for (id, node) in (0..).zip(&outline.nodes) {
        let above = tables.get(node.parent as usize).copied().flatten();
        tables.push(above.or_else(|| is_data(node).then_some(id)));
    }
    let table_of = |at: usize| tables[outline.blocks[at].node as usize];
    let mut is_kept = vec![false; outline.blocks.len()];
    for &at in &kept {
        is_kept[at] = true;
    }
    let mut start = 0;
    while start < is_kept.len() {
        let table = table_of(start);
        let mut end = start + 1;
        while end < is_kept.len() && table_of(end) == table {
            end += 1;
        }
        let count = is_kept[start..end].iter().filter(|kept| **kept).count();
        if table.is_some() && 3 * count >= end - start {
            is_kept[start..end].fill(true);
        }
        start = end;
    }
    (0..is_kept.len()).filter(|&at| is_kept[at]).collect()
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
