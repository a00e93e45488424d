//! Makes whole what has no meaning in part: tables and lists with holes, code cut out of the text around it, a page
//! without its title. Reads the outline; knows nothing of probabilities.

use super::super::outline::{Block, Kind, NodeId, Outline, Shape};

/// The most blocks of code between two kept ones.
const CODE_BLOCKS_MAX: usize = 4;

/// `title` is the block that says the page's title.
pub(super) fn mend(outline: &Outline, is_kept: &mut [bool], title: Option<usize>) {
    keep_whole(outline, is_kept);
    keep_code_between(outline, is_kept);
    keep_title(outline, is_kept, title);
}

/// Code says little by its words. What of it stands between two kept blocks is kept.
fn keep_code_between(outline: &Outline, is_kept: &mut [bool]) {
    let mut last = None;
    for at in 0..is_kept.len() {
        if !is_kept[at] {
            continue;
        }
        let from = last.map_or(at, |last| last + 1);
        let gap = &outline.blocks[from..at];
        if gap.len() <= CODE_BLOCKS_MAX
            && gap.iter().all(|block| matches!(block.kind, Kind::Code(_)))
        {
            is_kept[from..at].fill(true);
        }
        last = Some(at);
    }
}

/// A page begins with its title, whether or not people who mark main content count it.
fn keep_title(outline: &Outline, is_kept: &mut [bool], title: Option<usize>) {
    let is_first = |block: &Block| matches!(block.kind, Kind::Heading(1, _));
    let Some(title) = title.filter(|&at| is_first(&outline.blocks[at])) else {
        return;
    };
    let mut kept = outline
        .blocks
        .iter()
        .zip(&*is_kept)
        .filter(|(_, is_kept)| **is_kept);
    let has_other = kept.any(|(block, _)| is_first(block));
    let stands_before = is_kept[title..].contains(&true) && !is_kept[..title].contains(&true);
    if stands_before && !has_other {
        is_kept[title] = true;
    }
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
    /// Whether more than one in so many of its words is kept.
    fn is_kept_by(self, share: u32) -> bool {
        self.kept_words.saturating_mul(share) > self.words
    }
}

/// A table or a list with holes says something else than the page. A table of data is kept whole when a third of it is,
/// or not at all; of a table with long cells, whole rows; a plain list whole from the half on.
fn keep_whole(outline: &Outline, is_kept: &mut [bool]) {
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
    let verdict = |node: NodeId, chain: &[NodeId]| {
        let part = parts[node as usize];
        match outline.node(node).shape {
            // Long cells are text that a table arranges, whatever it looks like.
            Shape::Table(_) => (outline.is_data_table(node) && part.words <= part.blocks * 12)
                .then(|| part.is_kept_by(3)),
            Shape::Row { .. } => {
                let in_table = chain.iter().any(|&node| outline.is_data_table(node));
                (part.is_kept_by(2) && in_table).then_some(true)
            }
            // Cards and menus have more in an item than a line of text.
            Shape::List { .. } => {
                let is_plain = part.blocks <= part.items + part.items / 4;
                (part.is_kept_by(2) && is_plain).then_some(true)
            }
            _ => None,
        }
    };
    for (block, is_kept) in outline.blocks.iter().zip(is_kept) {
        outline.containers(block.node, &mut chain);
        if let Some(whole) = chain.iter().find_map(|&node| verdict(node, &chain)) {
            *is_kept = whole;
        }
    }
}
