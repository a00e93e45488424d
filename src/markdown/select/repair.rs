//! Makes whole what has no meaning in part: tables and lists with holes, code cut out of the text around it, a page
//! without its title. Reads the outline, and of probabilities only how far a table is from being kept.

use super::super::outline::{Block, Kind, NodeId, Outline, PAGE, Role, Shape};
use super::super::tag::Tag;

/// The most blocks of each kind that are taken in between two kept ones.
const CODE_BLOCKS_MAX: usize = 4;
const TABLE_BLOCKS_MAX: usize = 200;
const FEW_BLOCKS: usize = 2;
const PRICE_BLOCKS_MAX: usize = 5;
/// What a few words are.
const FEW_WORDS: u32 = 8;
/// A table with so many rows and columns holds figures: no cell of it says much alone.
const GRID_MIN: u32 = 3;
/// Between the text of a page it is kept from this part of the threshold on.
const GRID_DOUBT: f32 = 0.4;
/// The text stands at most so many levels above it.
const GRID_HOPS_MAX: usize = 2;

/// `title` is the block that says the page's title.
pub(super) fn repair(
    outline: &Outline,
    chances: &[f32],
    threshold: f32,
    is_kept: &mut [bool],
    title: Option<usize>,
) {
    keep_grids(outline, chances, threshold, is_kept);
    keep_whole(outline, is_kept);
    keep_terms(outline, is_kept);
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
pub(super) fn is_apart(outline: &Outline, mut node: NodeId) -> bool {
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

/// The model judges cell by cell, and doubts each. A table of figures between the text of a page is judged as a whole.
fn keep_grids(outline: &Outline, chances: &[f32], threshold: f32, is_kept: &mut [bool]) {
    let is_grid = |node: NodeId| match outline.node(node).shape {
        Shape::Table(facts) => {
            let facts = &outline.tables[facts as usize];
            facts.is_data() && facts.rows.min(u32::from(facts.columns)) >= GRID_MIN
        }
        _ => false,
    };
    let mut grids = vec![Grid::default(); outline.nodes.len()];
    let mut kept_words = vec![0_u32; outline.nodes.len()];
    let mut chain = Vec::new();
    let grid_of = |block: &Block, chain: &mut Vec<NodeId>| {
        outline.containers(block.node, chain);
        chain.iter().copied().find(|&node| is_grid(node))
    };
    for (at, block) in outline.blocks.iter().enumerate() {
        if is_kept[at] {
            kept_words[block.node as usize] += block.words;
        }
        if let Some(grid) = grid_of(block, &mut chain) {
            grids[grid as usize].add(block, chances[at]);
        }
    }
    for id in (1..outline.nodes.len()).rev() {
        kept_words[outline.nodes[id].parent as usize] += kept_words[id];
    }
    for (at, block) in outline.blocks.iter().enumerate() {
        let grid = grid_of(block, &mut chain);
        is_kept[at] |= grid.is_some_and(|node| {
            grids[node as usize].is_likely(threshold * GRID_DOUBT)
                && stands_in_text(outline, &kept_words, node)
        });
    }
}

/// What the cells of a table of figures come to.
#[derive(Clone, Copy, Default)]
struct Grid {
    words: f32,
    link_words: f32,
    likely_words: f32,
}

impl Grid {
    fn add(&mut self, block: &Block, chance: f32) {
        // An empty picture is a word, too.
        let words = (block.words + 1) as f32;
        self.words += words;
        self.link_words += block.link_words as f32;
        self.likely_words += words * chance;
    }

    fn is_likely(&self, chance: f32) -> bool {
        self.likely_words > self.words * chance && self.link_words * 3.0 < self.words
    }
}

/// Whether most of what is kept beside a table stands right around it.
fn stands_in_text(outline: &Outline, kept_words: &[u32], table: NodeId) -> bool {
    let own = kept_words[table as usize];
    let mut around = table;
    for _ in 0..GRID_HOPS_MAX {
        around = outline.node(around).parent;
        let beside = kept_words[around as usize] - own;
        if beside > 0 {
            return beside * 2 > kept_words[PAGE as usize] - own;
        }
    }
    false
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

/// A definition without its term says nothing of anything: where some of it is kept, so are the terms before it.
fn keep_terms(outline: &Outline, is_kept: &mut [bool]) {
    let is_term = |node: NodeId| outline.node(node).tag == Tag::Term;
    if !outline.nodes.iter().any(|node| node.tag == Tag::Term) {
        return;
    }
    let mut holds_kept = vec![false; outline.nodes.len()];
    for (block, _) in outline.blocks.iter().zip(&*is_kept).filter(|pair| *pair.1) {
        holds_kept[block.node as usize] = true;
    }
    for id in (1..outline.nodes.len()).rev() {
        holds_kept[outline.nodes[id].parent as usize] |= holds_kept[id];
    }
    // By parent, from the end: whether the definitions behind this place hold what is kept, and whether a term stood last.
    let mut behind = vec![(false, false); outline.nodes.len()];
    let mut is_needed = vec![false; outline.nodes.len()];
    for (id, node) in outline.nodes.iter().enumerate().skip(1).rev() {
        let (is_defined, after_term) = &mut behind[node.parent as usize];
        match node.tag {
            Tag::Term => (is_needed[id], *after_term) = (*is_defined, true),
            Tag::Definition => {
                *is_defined = holds_kept[id] || (*is_defined && !*after_term);
                *after_term = false;
            }
            _ => {}
        }
    }
    for (at, block) in outline.blocks.iter().enumerate() {
        let parent = outline.node(block.node).parent;
        let term = [block.node, parent].into_iter().find(|&node| is_term(node));
        // A definition that begins with a heading has said it.
        let term = term.filter(|_| {
            !outline
                .blocks
                .get(at + 1)
                .is_some_and(|next| next.kind.is_heading())
        });
        is_kept[at] |=
            term.is_some_and(|term| is_needed[term as usize] && !is_apart(outline, term));
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{kept_by, outline};
    use super::*;

    /// The texts that stay, if those with `gate` in them were kept.
    fn kept(html: &str) -> Vec<String> {
        kept_by(keep_whole, html)
    }

    /// Standings were lost, and with them most of their page, because no cell alone was likely to be content.
    #[test]
    fn a_table_of_figures_in_the_text_is_judged_as_a_whole() {
        let row = "<tr><td>Orrin<td>12<td>7</tr>";
        let table = format!("<table>{}</table>", row.repeat(4));
        let kept = |html: &str, chance: f32| {
            let outline = outline(html);
            let is_text = |block: &Block| outline.markdown(block).contains("gate");
            let mut is_kept: Vec<bool> = outline.blocks.iter().map(is_text).collect();
            let chances = vec![chance; outline.blocks.len()];
            keep_grids(&outline, &chances, 0.4, &mut is_kept);
            is_kept.iter().filter(|is_kept| **is_kept).count()
        };
        let text = "<p>The gate squeaks when it rains.</p>";
        let page = format!("<div>{text}{table}</div>");
        assert_eq!(kept(&page, 0.25), 13);
        assert_eq!(kept(&page, 0.15), 1);
        // Beside the text, not in it; two columns; links.
        let aside = format!("<div><div>{text}</div></div><div><div><div>{table}</div></div></div>");
        let pairs = page.replace("<td>7", "");
        let links = page.replace("<td>", "<td><a href=/a>");
        for other in [aside, pairs, links] {
            assert_eq!(kept(&other, 0.25), 1, "{other}");
        }
    }

    #[test]
    fn a_row_of_data_is_kept_whole() {
        let long =
            ["The gate of this garden squeaks whenever the wind turns to the north."; 6].join(" ");
        let data = format!("<table><tr><th>Place<th>Note<tr><td>Orrin<td>{long}</table>");
        assert_eq!(kept(&data), ["Orrin", &long]);
    }

    /// Comments and headlines in tables of their own were kept with an article, because all of them stood in one row.
    #[test]
    fn a_row_that_arranges_the_page_is_not_kept_for_a_table_in_it() {
        let article = "<p>The gate squeaks when it rains.</p>".repeat(9);
        let data = "<table><tr><td>alice<td>Monday<tr><td>bob<td>Tuesday</table>";
        let page = format!("<table><tr><td>{article}{data}<td>Menu</table>");
        assert_eq!(kept(&page).len(), 9);
    }

    /// Of a law's numbered list the short numbers were lost, and of a glossary some terms.
    #[test]
    fn a_definition_keeps_its_terms() {
        let kept = |html: &str| kept_by(keep_terms, html);
        let pair = |term: &str, text: &str| format!("<dt>{term}<dd><div>{text}</div>");
        let list = [
            pair("1.", "The gate."),
            pair("2.", "The fence."),
            pair("3.", "A gate."),
        ];
        assert_eq!(
            kept(&format!("<dl>{}</dl>", list.concat())),
            ["**1.**", "The gate.", "**3.**", "A gate."]
        );
        // Several terms of one definition, and several definitions of one term.
        let several = "<dl><dt>a<dt>b<dd>The wall.<dd>The gate.<dt>c<dd>The hedge.</dl>";
        assert_eq!(kept(several), ["**a**", "**b**", "The gate."]);
        let inner = format!("<dl><dt>1.<dd>Either<dl>{}</dl></dl>", pair("a)", "a gate"));
        assert_eq!(kept(&inner), ["**1.**", "**a)**", "a gate"]);
    }
}
