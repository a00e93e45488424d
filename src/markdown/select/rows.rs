//! Short lines that belong together: rows of ingredients, amounts and facts, the parts of one item, a heading and what stands
//! under it. The model judges each line alone, and doubts the short ones; half of a row says something else than the row.

use std::collections::HashMap;

use super::super::outline::{Block, Kind, NodeId, Outline, PAGE, Role, Shape};
use super::super::tag::Tag;
use super::repair::is_apart;

/// So many elements of one kind beside each other are rows,
const ROWS_MIN: u32 = 3;
/// with no more words than this on average; longer ones are paragraphs or cards.
const ROW_WORDS_MAX: u32 = 8;
/// One of so many of their words is kept: then all are.
const ROWS_KEPT_ONE_IN: u32 = 3;
/// An item of no more words and blocks is one line.
const ITEM_WORDS_MAX: u32 = 20;
const ITEM_BLOCKS_MAX: u32 = 4;
/// An element of a recipe with more words is the page.
const RECIPE_WORDS_MAX: u32 = 600;
const RECIPE_LINE_WORDS_MAX: u32 = 25;

/// What is in an element, or in all rows of a kind.
#[derive(Clone, Copy, Default)]
struct Sum {
    blocks: u32,
    words: u32,
    link_words: u32,
    kept_words: u32,
}

impl Sum {
    fn add(&mut self, other: Sum) {
        self.blocks += other.blocks;
        self.words += other.words;
        self.link_words += other.link_words;
        self.kept_words += other.kept_words;
    }

    fn of(block: &Block, is_kept: bool) -> Sum {
        Sum {
            blocks: 1,
            words: block.words,
            link_words: block.link_words,
            kept_words: if is_kept { block.words } else { 0 },
        }
    }

    fn has_few_links(self) -> bool {
        self.link_words * 2 <= self.words
    }
}

/// By node, of all blocks in it.
fn sums(outline: &Outline, is_kept: &[bool]) -> Vec<Sum> {
    let mut sums = vec![Sum::default(); outline.nodes.len()];
    for (block, &is_kept) in outline.blocks.iter().zip(is_kept) {
        sums[block.node as usize].add(Sum::of(block, is_kept));
    }
    for id in (1..outline.nodes.len()).rev() {
        let own = sums[id];
        sums[outline.nodes[id].parent as usize].add(own);
    }
    sums
}

/// Keeps what is short and belongs to what is kept.
pub(super) fn keep_lines(outline: &Outline, is_kept: &mut [bool]) {
    keep_recipe(outline, is_kept);
    keep_rows(outline, is_kept);
    keep_items(outline, is_kept);
}

/// Elements that are named for the ingredients or steps of a recipe are its content.
fn keep_recipe(outline: &Outline, is_kept: &mut [bool]) {
    if !outline.nodes.iter().any(|node| node.role == Role::Recipe) {
        return;
    }
    let sums = sums(outline, is_kept);
    let mut is_part = vec![false; outline.nodes.len()];
    for (id, node) in outline.nodes.iter().enumerate().skip(PAGE as usize + 1) {
        let own = sums[id];
        let is_own = node.role == Role::Recipe
            && own.words <= RECIPE_WORDS_MAX.min(own.blocks * RECIPE_LINE_WORDS_MAX)
            && own.has_few_links();
        is_part[id] = is_own || is_part[node.parent as usize];
    }
    let has_text = sums[PAGE as usize].kept_words > 0;
    for (block, is_kept) in outline.blocks.iter().zip(is_kept) {
        *is_kept |= has_text && is_part[block.node as usize] && !is_apart(outline, block.node);
    }
}

/// Rows of a kind beside each other are kept together, where a good part of their words is.
fn keep_rows(outline: &Outline, is_kept: &mut [bool]) {
    let sums = sums(outline, is_kept);
    let kind = |id: NodeId| {
        let node = outline.node(id);
        (node.parent, node.class_hash, node.tag.rank())
    };
    let ids = || (1..).zip(&outline.nodes[1..]).map(|(id, _)| id);
    let mut kinds: HashMap<(NodeId, u32, u8), (u32, Sum)> = HashMap::new();
    for id in ids().filter(|&id: &NodeId| sums[id as usize].blocks > 0) {
        let (count, all) = kinds.entry(kind(id)).or_default();
        *count += 1;
        all.add(sums[id as usize]);
    }
    kinds.retain(|_, (count, all)| {
        *count >= ROWS_MIN
            && (1..=*count * ROW_WORDS_MAX).contains(&all.words)
            && all.has_few_links()
            && all.kept_words * ROWS_KEPT_ONE_IN >= all.words
    });
    let mut in_row = vec![false; outline.nodes.len()];
    for id in ids() {
        let around = in_row[outline.node(id).parent as usize];
        in_row[id as usize] = around || kinds.contains_key(&kind(id));
    }
    for (block, is_kept) in outline.blocks.iter().zip(is_kept) {
        *is_kept |= in_row[block.node as usize]
            && !is_on_button(outline, block)
            && !is_apart(outline, block.node);
    }
}

/// An item of a list is one line: with a part of it that is kept, all of it is.
fn keep_items(outline: &Outline, is_kept: &mut [bool]) {
    let sums = sums(outline, is_kept);
    let mut chain = Vec::new();
    for (block, is_kept) in outline.blocks.iter().zip(is_kept) {
        if *is_kept || block.is_byline {
            continue;
        }
        outline.containers(block.node, &mut chain);
        let is_item = |node: &&NodeId| matches!(outline.node(**node).shape, Shape::Item { .. });
        *is_kept = chain.iter().rfind(is_item).is_some_and(|&item| {
            let all = sums[item as usize];
            all.kept_words > 0
                && all.words <= ITEM_WORDS_MAX
                && all.blocks <= ITEM_BLOCKS_MAX
                && all.has_few_links()
                && !is_apart(outline, block.node)
        });
    }
}

/// What stands right before kept text as its heading: a heading, or a question that opens its answer. One before the next
/// heading of its level has lost what it was over.
pub(super) fn keep_headings(outline: &Outline, is_kept: &mut [bool]) {
    for at in (1..is_kept.len()).rev() {
        let (heading, next) = (&outline.blocks[at - 1], &outline.blocks[at]);
        let level = match heading.kind {
            Kind::Heading(level, _) => level,
            _ if opens_an_answer(outline, heading) => u8::MAX,
            _ => continue,
        };
        let is_under = match next.kind {
            Kind::Heading(other, _) => other > level,
            _ => next.link_words * 2 <= next.words,
        };
        is_kept[at - 1] |=
            is_kept[at] && is_under && heading.link_words == 0 && !is_apart(outline, heading.node);
    }
}

/// A question on a button that shows its answer.
fn opens_an_answer(outline: &Outline, block: &Block) -> bool {
    is_on_button(outline, block) && outline.markdown(block).ends_with(['?', '？'])
}

fn is_on_button(outline: &Outline, block: &Block) -> bool {
    let parent = outline.node(block.node).parent;
    let mut around = [block.node, parent].into_iter();
    around.any(|node| outline.node(node).tag == Tag::Button)
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::kept_by;
    use super::*;

    /// A recipe had "large shallot" for "1 large shallot", and four of seven ingredients.
    #[test]
    fn rows_and_items_are_kept_whole() {
        let row = |name: &str, amount: &str| {
            format!("<div class=row><div>{name}</div><div>{amount}</div></div>")
        };
        let rows = [
            row("a gate", "2"),
            row("a fence", "1"),
            row("the gate", "3"),
            row("hay", "200 g"),
        ];
        let kept = |html: &str| kept_by(keep_lines, html).len();
        assert_eq!(kept(&rows.concat()), 8);
        // Too little of them is kept; longer ones; links.
        let few = [&rows[..1], &[row("a wall and a hedge", "of some length")]].concat();
        assert_eq!(kept(&[&few[..], &few[1..], &few[1..]].concat().concat()), 1);
        let long = row(
            "a gate that squeaks whenever the wind turns",
            "to the north",
        );
        assert_eq!(kept(&long.repeat(3)), 3);
        let links = rows
            .concat()
            .replace("<div class=row><div>", "<div class=row><div><a href=/a>");
        assert!(kept(&links) < 8);
        let item = "<li><span>1</span><div>large gate</div></li>";
        let list = kept_by(keep_lines, &format!("<ul>{item}<li>hay</ul>"));
        assert_eq!(list.concat().matches(['1', 'g']).count(), 3, "{list:?}");
    }

    #[test]
    fn ingredients_are_content_wherever_they_stand() {
        let text = "<p>The gate squeaks.</p>";
        let list = |attributes: &str| {
            format!("{text}<aside {attributes}><h3>For it</h3><div>1 squash</div></aside>")
        };
        let kept = |html: &str| kept_by(keep_lines, html).len();
        assert_eq!(kept(&list("class='recipe__Ingredients'")), 3);
        assert_eq!(kept(&list("itemprop=recipeIngredient")), 3);
        assert_eq!(kept(&list("class=related")), 1);
        assert_eq!(kept(&list("class=ingredients hidden")), 1);
        let page = format!(
            "<div class=ingredients>{text}{}</div>",
            "<p>hay</p>".repeat(700)
        );
        assert_eq!(kept(&page), 1);
    }

    #[test]
    fn what_is_kept_keeps_its_heading() {
        let kept = |html: &str| kept_by(keep_headings, html).len();
        let text = "<p>The gate squeaks.</p>";
        assert_eq!(
            kept(&format!(
                "<section><header><h2>Method</h2></header>{text}</section>"
            )),
            2
        );
        assert_eq!(kept(&format!("<h2>More</h2><h2>Method</h2>{text}")), 2);
        assert_eq!(kept(&format!("<h2>More</h2><h3>Method</h3>{text}")), 3);
        assert_eq!(kept(&format!("<h2><a href=/a>More</a></h2>{text}")), 1);
        let answer = |label: &str| format!("<div><button>{label}</button></div>{text}");
        assert_eq!(kept(&answer("Does it squeak when it rains?")), 2);
        assert_eq!(kept(&answer("Subscribe to our letter")), 1);
    }
}
