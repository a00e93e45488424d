//! Keeps the list that kept text announces: "The new stops are:", or a heading of its own. The model doubts short lines,
//! and what announces them promises them.

use super::super::outline::{Block, Kind, NodeId, Outline, PAGE, Shape};
use super::super::tag::Tag;
use super::repair::is_apart;

/// Longer lists are judged by themselves.
const WORDS_MAX: u32 = 80;
const BLOCKS_MAX: usize = 24;

pub(super) fn keep_announced(outline: &Outline, is_kept: &mut [bool]) {
    let mut chain = Vec::new();
    let mut at = 1;
    while at < is_kept.len() {
        let Some(list) = list_of(outline, &outline.blocks[at], &mut chain) else {
            at += 1;
            continue;
        };
        let rest = &outline.blocks[at..];
        let is_in = |block: &&Block| list_of(outline, block, &mut chain) == Some(list);
        let length = rest.iter().take_while(is_in).count();
        let blocks = &rest[..length];
        if is_kept[at - 1]
            && announces(outline, &outline.blocks[at - 1], list)
            && is_short(blocks)
            && !is_apart(outline, list)
        {
            is_kept[at..at + length].fill(true);
        }
        at += length.max(1);
    }
}

/// The outermost list that a block stands in.
fn list_of(outline: &Outline, block: &Block, chain: &mut Vec<NodeId>) -> Option<NodeId> {
    outline.containers(block.node, chain);
    let is_list = |node: &&NodeId| matches!(outline.node(**node).shape, Shape::List { .. });
    let around = outline.node(block.node).parent;
    chain.iter().find(is_list).copied().or_else(|| {
        let is_terms = outline.node(around).tag == Tag::DefinitionList;
        (chain.is_empty() && is_terms).then_some(around)
    })
}

/// Whether a block stands right before a list, beside it, and says what is in it.
fn announces(outline: &Outline, block: &Block, list: NodeId) -> bool {
    let around = outline.node(list).parent;
    let own = [block.node, outline.node(block.node).parent];
    // Below a page's title stand an author and a date.
    let is_lead = matches!(block.kind, Kind::Heading(2.., _))
        || outline.markdown(block).ends_with([':', '：']);
    is_lead && block.link_words == 0 && block.node != PAGE && own.contains(&around)
}

fn is_short(blocks: &[Block]) -> bool {
    let words: u32 = blocks.iter().map(|block| block.words).sum();
    let link_words: u32 = blocks.iter().map(|block| block.link_words).sum();
    let is_line = |block: &Block| !block.kind.is_heading() && !block.is_byline;
    blocks.iter().all(is_line)
        && blocks.len() <= BLOCKS_MAX
        && words <= WORDS_MAX
        && link_words * 3 <= words
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::kept_by;
    use super::*;

    /// "The new stops are:" was all that an article said of the new stops.
    #[test]
    fn a_short_list_stays_with_what_announces_it() {
        let kept = |html: &str| kept_by(keep_announced, html).len();
        let list = "<ul><li>Harbour<li>Library<ul><li>Lift</ul></ul>";
        assert_eq!(kept(&format!("<p>Stops at the gate:</p>{list}<p>End")), 4);
        assert_eq!(kept(&format!("<h2>The gate</h2>{list}<p>End")), 4);
        assert_eq!(kept("<h2>The gate</h2><dl><dt>Length<dd>3.2 km</dl>"), 3);
        // Not announced; elsewhere; links; long.
        assert_eq!(kept(&format!("<p>Stops at the gate.</p>{list}")), 1);
        assert_eq!(kept(&format!("<p>Stop:</p>{list}<p>A gate")), 1);
        assert_eq!(
            kept(&format!(
                "<div><div><p>A gate:</div></div><aside>{list}</aside>"
            )),
            1
        );
        assert_eq!(
            kept("<p>A gate:</p><ul><li><a href=/a>One</a><li>Two</ul>"),
            1
        );
        let long = "<li>Harbour".repeat(BLOCKS_MAX + 1);
        assert_eq!(kept(&format!("<p>A gate:</p><ul>{long}</ul>")), 1);
        assert_eq!(kept(&format!("<p>A gate:</p><nav>{list}</nav>")), 1);
        assert_eq!(kept(&format!("<h1>A gate</h1>{list}")), 1);
        assert_eq!(
            kept("<h2>A gate</h2><ul><li>By <span class=author>Ann</span></ul>"),
            1
        );
    }
}
