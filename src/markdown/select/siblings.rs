//! Of alike items, such as the parameters of a call, the model keeps the short parts of some: a name here, a type there. A
//! part that it keeps of several is kept of all whose text it keeps. Reads how elements repeat, never what they say.

use std::collections::HashMap;

use super::super::outline::{Block, NodeId, Outline, PAGE};
use super::long::{Share, templates};
use super::repair::is_apart;

/// So many items are alike.
const ITEMS_MIN: u64 = 3;
/// An item is not further away from its part.
const ITEM_HOPS_MAX: usize = 6;
/// A part of so few words is a name, a type, a price or a date.
const PART_WORDS_MAX: u32 = 8;
/// A line of so many words is the text of its item.
const TEXT_WORDS_MIN: u32 = 8;
/// The model keeps the text of so many of a hundred items, and the part of so many of them.
const TEXT_PERCENT_MIN: u64 = 80;
const PART_PERCENT_MIN: u64 = 20;
const PARTS_MIN: u64 = 2;

/// What is known of the text of an item.
#[derive(Clone, Copy, Default)]
struct Item {
    has_text: bool,
    is_kept: bool,
    is_counted: bool,
}

pub(super) fn keep_alike_parts(outline: &Outline, is_kept: &mut [bool]) {
    let templates = templates(outline);
    let template = |node: NodeId| templates[node as usize];
    let items = items(outline, &templates);
    let mut texts = vec![Item::default(); outline.nodes.len()];
    let mut parts: HashMap<u64, Share> = HashMap::new();
    for ((block, item), &is_kept) in outline.blocks.iter().zip(&items).zip(&*is_kept) {
        if let Some(item) = *item {
            let text = &mut texts[item as usize];
            text.has_text |= is_text(block);
            text.is_kept |= is_text(block) && is_kept;
            if is_part(block) {
                let part = parts.entry(template(block.node)).or_default();
                part.add(1, is_kept);
            }
        }
    }
    // By template of the items.
    let mut groups: HashMap<u64, Share> = HashMap::new();
    for item in items.iter().copied().flatten() {
        let text = &mut texts[item as usize];
        if text.has_text && !std::mem::replace(&mut text.is_counted, true) {
            let group = groups.entry(template(item)).or_default();
            group.add(1, text.is_kept);
        }
    }
    for ((block, item), is_kept) in outline.blocks.iter().zip(items).zip(is_kept) {
        let Some(item) = item.filter(|item| texts[*item as usize].is_kept && is_part(block)) else {
            continue;
        };
        let part = parts[&template(block.node)];
        let group = groups[&template(item)];
        *is_kept |= group.all >= ITEMS_MIN
            && group.is_at_least(TEXT_PERCENT_MIN)
            && part.kept >= PARTS_MIN
            && part.is_at_least(PART_PERCENT_MIN)
            && !is_apart(outline, block.node);
    }
}

fn is_text(block: &Block) -> bool {
    block.words >= TEXT_WORDS_MIN && block.link_words * 2 < block.words
}

fn is_part(block: &Block) -> bool {
    (1..=PART_WORDS_MAX).contains(&block.words) && block.link_words == 0 && !block.is_byline
}

/// Of each block the nearest element around it that has others like it beside it.
fn items(outline: &Outline, templates: &[u64]) -> Vec<Option<NodeId>> {
    let mut alike: HashMap<(NodeId, u64), u64> = HashMap::new();
    let key = |node: NodeId| (outline.node(node).parent, templates[node as usize]);
    for node in (1..).zip(outline.nodes.iter().skip(1)).map(|(id, _)| id) {
        *alike.entry(key(node)).or_default() += 1;
    }
    let item = |block: &Block| {
        let mut node = outline.node(block.node).parent;
        for _ in 0..ITEM_HOPS_MAX {
            if node == PAGE || alike[&key(node)] >= ITEMS_MIN {
                break;
            }
            node = outline.node(node).parent;
        }
        (node != PAGE && alike[&key(node)] >= ITEMS_MIN).then_some(node)
    };
    outline.blocks.iter().map(item).collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::kept_by;
    use super::*;

    /// The reference of an interface had the names and types of three of twelve parameters.
    #[test]
    fn a_part_that_some_items_keep_is_kept_of_all() {
        let item = |name: &str, text: &str| {
            format!(
                "<li class=property><div class=name>{name}</div><div class=type>text</div><p>{text}</p></li>"
            )
        };
        let kept = |items: &[String]| kept_by(keep_alike_parts, &items.concat());
        let long = "The gate of this parameter squeaks whenever the wind turns.";
        let some = [
            vec![item("gate_1", long), item("gate_2", long)],
            vec![item("other", long); 7],
        ]
        .concat();
        let found = kept(&some);
        assert_eq!(found.len(), 18, "{found:?}");
        assert_eq!(found[4], "other");
        // Of one only, of items whose text is not kept, and beside one of these.
        let one = [vec![item("gate_1", long)], vec![item("other", long); 7]].concat();
        assert_eq!(kept(&one).len(), 9);
        let other = "The fence of this parameter squeaks whenever the wind turns.";
        let few = [&some[..4], &vec![item("other", other); 4]].concat();
        assert_eq!(kept(&few).len(), 6);
        let most = [&some[..], &[item("other", other)]].concat();
        assert_eq!(kept(&most).len(), 18);
    }
}
