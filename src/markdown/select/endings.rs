//! Keeps the code or the table that a text ends with: it stands behind the last kept words, in the element that holds
//! them, and the model doubts it because it says little by its words.

use super::super::outline::{Block, Kind, LinkSpan, NodeId, Outline, PAGE};
use super::repair::is_apart;

const CODE_BLOCKS_MAX: usize = 4;
const TABLE_BLOCKS_MAX: usize = 100;
/// So many levels above it the element stands that holds the last kept words, too.
const HOPS_MAX: usize = 2;

pub(super) fn keep_ending(outline: &Outline, is_kept: &mut [bool]) {
    let Some(last) = is_kept.iter().rposition(|is_kept| *is_kept) else {
        return;
    };
    let blocks = &outline.blocks;
    let around = outline.node(blocks[last].node).parent;
    let is_beside = |node: NodeId| hops(outline, node, around).is_some_and(|hops| hops <= HOPS_MAX);
    let mut at = last + 1;
    // Its title.
    if blocks.get(at).is_some_and(|block| block.kind.is_heading()) {
        if !is_beside(blocks[at].node) {
            return;
        }
        at += 1;
    }
    let Some(first) = blocks.get(at) else { return };
    let end = match first.kind {
        Kind::Code(_) if is_beside(first.node) => {
            let code = blocks[at..]
                .iter()
                .take_while(|block| block.kind.is_code() && is_beside(block.node));
            at + code.take(CODE_BLOCKS_MAX).count()
        }
        _ => match table_of(outline, first) {
            Some(table) if is_beside(table) => {
                let cells = blocks[at..]
                    .iter()
                    .take_while(|block| table_of(outline, block) == Some(table));
                let cells: Vec<&Block> = cells.collect();
                let words: u32 = cells.iter().map(|block| block.words).sum();
                let link_words: u32 = cells.iter().map(|block| block.link_words).sum();
                let end = at + cells.len();
                // Not by words alone: Chinese has none between spaces.
                let is_in = |link: &&LinkSpan| (at..end).contains(&(link.block as usize));
                let linked = outline.links.iter().filter(is_in);
                if cells.len() > TABLE_BLOCKS_MAX
                    || link_words * 3 > words
                    || linked.count() * 2 >= cells.len()
                {
                    return;
                }
                end
            }
            _ => return,
        },
    };
    if !is_apart(outline, first.node) {
        is_kept[last + 1..end].fill(true);
    }
}

/// How many levels an element stands below another one.
fn hops(outline: &Outline, node: NodeId, around: NodeId) -> Option<usize> {
    let mut at = node;
    for hops in 0..=HOPS_MAX {
        at = outline.node(at).parent;
        if at == around {
            return Some(hops);
        }
        if at == PAGE {
            return None;
        }
    }
    None
}

/// The table of data that a block stands in.
fn table_of(outline: &Outline, block: &Block) -> Option<NodeId> {
    let mut chain = Vec::new();
    outline.containers(block.node, &mut chain);
    chain.into_iter().find(|&node| outline.is_data_table(node))
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::kept_by;
    use super::*;

    fn kept(html: &str) -> usize {
        kept_by(keep_ending, html).len()
    }

    #[test]
    fn code_and_tables_that_end_a_text_are_kept_with_their_title() {
        let text = "<p>The gate squeaks when it rains.</p>";
        let table = "<table><tr><th>Height<td>2 m<tr><th>Width<td>1 m</table>";
        let ending = format!("<div><h2>Sizes</h2></div>{table}");
        assert_eq!(kept(&format!("<main>{text}{ending}</main>")), 6);
        assert_eq!(
            kept(&format!(
                "<main>{text}<pre>open</pre><pre>close</pre></main>"
            )),
            3
        );
        assert_eq!(
            kept(&format!(
                "<main>{text}<h2>Use</h2><pre>open</pre><p>More</main>"
            )),
            3
        );
        // Outside, in a menu, of links, not at once.
        for other in [
            format!("<main>{text}</main><div><div>{ending}</div></div>"),
            format!("<main>{text}<nav>{ending}</nav></main>"),
            format!(
                "<main>{text}{}</main>",
                ending.replace("<td>", "<td><a href=/a>")
            ),
            format!("<main>{text}<p>More{ending}</main>"),
            format!("<main>{text}<h2>Sizes</h2></main>"),
        ] {
            assert_eq!(kept(&other), 1, "{other}");
        }
    }
}
