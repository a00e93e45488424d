//! Makes whole what has no meaning in part: tables and lists with holes, code cut out of the text around it, a page
//! without its title. Reads the outline; knows nothing of probabilities.

use super::super::outline::{Block, Kind, NodeId, Outline, PAGE, Role, Shape};

/// The most blocks of each kind that are taken in between two kept ones.
const CODE_BLOCKS_MAX: usize = 4;
const TABLE_BLOCKS_MAX: usize = 200;
const FEW_BLOCKS: usize = 2;
const PRICE_BLOCKS_MAX: usize = 5;
/// What a few words are.
const FEW_WORDS: u32 = 8;

/// `title` is the block that says the page's title.
pub(super) fn repair(outline: &Outline, is_kept: &mut [bool], title: Option<usize>) {
    keep_whole(outline, is_kept);
    keep_title(outline, is_kept, title);
    close_gaps(outline, is_kept);
}

/// Code, figures and prices say little by their words. Between two kept blocks stays what is code or one table of data,
/// and what is only a few words beside them.
fn close_gaps(outline: &Outline, is_kept: &mut [bool]) {
    let kept: Vec<usize> = (0..is_kept.len()).filter(|&at| is_kept[at]).collect();
    for (number, &before) in kept.iter().enumerate() {
        let after = kept.get(number + 1).copied().unwrap_or(is_kept.len());
        if after < is_kept.len() && belongs_between(outline, before, after) {
            is_kept[before..after].fill(true);
            continue;
        }
        // Of the last card as of the others.
        let near = before + 1..after.min(before + PRICE_BLOCKS_MAX);
        for (is_kept, block) in is_kept[near.clone()].iter_mut().zip(&outline.blocks[near]) {
            let parent = outline.node(block.node).parent;
            let is_beside = stands_beside(outline, block.node, before, after)
                || stands_beside(outline, parent, before, after);
            *is_kept |= is_beside && is_price(outline, block) && !is_apart(outline, block.node);
        }
    }
}

/// Whether one of these two blocks is of an element in `parent`.
fn stands_beside(outline: &Outline, parent: NodeId, before: usize, after: usize) -> bool {
    let mut kept = [before, after]
        .into_iter()
        .filter_map(|at| outline.blocks.get(at));
    kept.any(|kept| outline.node(kept.node).parent == parent)
}

fn belongs_between(outline: &Outline, before: usize, after: usize) -> bool {
    let gap = &outline.blocks[before + 1..after];
    let is_few = gap.len() <= FEW_BLOCKS
        && gap.iter().all(|block| {
            let parent = outline.node(block.node).parent;
            let is_line =
                block.words <= FEW_WORDS && block.link_words == 0 && !block.kind.is_heading();
            is_line
                && stands_beside(outline, parent, before, after)
                && !is_apart(outline, block.node)
        });
    let is_code = gap.len() <= CODE_BLOCKS_MAX && gap.iter().all(|block| block.kind.is_code());
    is_few || is_code || is_one_table(outline, gap)
}

/// A card says what it costs in a block of its own.
fn is_price(outline: &Outline, block: &Block) -> bool {
    let text = outline.markdown(block);
    block.words <= FEW_WORDS
        && block.link_words == 0
        && text.contains(['€', '$', '£', '¥', '₹'])
        && text.contains(|c: char| c.is_ascii_digit())
}

/// Whether an element around it says that it is no content.
fn is_apart(outline: &Outline, mut node: NodeId) -> bool {
    while node != PAGE {
        let about = outline.node(node);
        if matches!(
            about.role,
            Role::Hidden | Role::Consent | Role::Navigation | Role::Form
        ) {
            return true;
        }
        node = about.parent;
    }
    false
}

fn is_one_table(outline: &Outline, gap: &[Block]) -> bool {
    let mut chain = Vec::new();
    let mut table_of = |block: &Block| {
        outline.containers(block.node, &mut chain);
        let is_table = |node: &NodeId| outline.is_data_table(*node);
        chain.iter().copied().find(is_table)
    };
    gap.len() <= TABLE_BLOCKS_MAX
        && gap.first().is_some_and(|first| {
            let table = table_of(first);
            table.is_some() && gap.iter().all(|block| table_of(block) == table)
        })
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
    let verdict = |at: usize, chain: &[NodeId]| {
        let node = chain[at];
        let part = parts[node as usize];
        match outline.node(node).shape {
            // Long cells are text that a table arranges, whatever it looks like.
            Shape::Table(_) => (outline.is_data_table(node) && part.words <= part.blocks * 12)
                .then(|| part.is_kept_by(3)),
            Shape::Row { .. } => {
                // Its own table: a row that arranges the page may have a table of data in it.
                let is_table =
                    |node: &&NodeId| matches!(outline.node(**node).shape, Shape::Table(_));
                let table = chain[..at].iter().rfind(is_table);
                let in_data = table.is_some_and(|&table| outline.is_data_table(table));
                (part.is_kept_by(2) && in_data).then_some(true)
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
        if let Some(whole) = (0..chain.len()).find_map(|at| verdict(at, &chain)) {
            *is_kept = whole;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::outline;
    use super::*;

    /// The texts that stay, if those with `gate` in them were kept.
    fn kept(html: &str) -> Vec<String> {
        let outline = outline(html);
        let text = |at: usize| outline.markdown(&outline.blocks[at]);
        let mut is_kept: Vec<bool> = (0..outline.blocks.len())
            .map(|at| text(at).contains("gate"))
            .collect();
        keep_whole(&outline, &mut is_kept);
        let kept = (0..outline.blocks.len()).filter(|&at| is_kept[at]);
        kept.map(|at| text(at).to_owned()).collect()
    }

    #[test]
    fn a_row_of_data_is_kept_whole() {
        let long =
            "The gate of this garden squeaks whenever the wind turns to the north in autumn.";
        let data = format!("<table><tr><th>Place<th>Note<tr><td>Orrin<td>{long}</table>");
        assert_eq!(kept(&data), ["Orrin", long]);
    }

    /// Comments and headlines in tables of their own were kept with an article, because all of them stood in one row.
    #[test]
    fn a_row_that_arranges_the_page_is_not_kept_for_a_table_in_it() {
        let article = "<p>The gate squeaks when it rains.</p>".repeat(9);
        let data = "<table><tr><td>alice<td>Monday<tr><td>bob<td>Tuesday</table>";
        let page = format!("<table><tr><td>{article}{data}<td>Menu</table>");
        assert_eq!(kept(&page).len(), 9);
    }
}
