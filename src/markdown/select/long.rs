//! What the model cannot tell of long pages. It knows of each block how far it is from the end and what share of the page
//! stands before it, but few pages that it learned from are long: of thousands of paragraphs it doubts the last fifth.

use super::super::builder::BLOCKS_MAX;
use super::super::outline::{Block, NodeId, Outline};

/// So many lines of text in one element are judged as a whole.
const LINES_MIN: u32 = 40;
/// A line of text has so many words, most of them no links.
const TEXT_WORDS_MIN: u32 = 8;
/// They are kept if the model keeps so many of a hundred of their words.
const KEPT_PERCENT_MIN: u64 = 60;

/// Lines of text in one element, such as the paragraphs of a chapter.
#[derive(Clone, Copy, Default)]
struct Lines {
    count: u32,
    words: u64,
    kept_words: u64,
}

impl Lines {
    fn add(&mut self, block: &Block, is_kept: bool) {
        self.count += 1;
        self.words += u64::from(block.words);
        self.kept_words += u64::from(block.words) * u64::from(is_kept);
    }

    fn are_mostly_kept(&self) -> bool {
        self.kept_words * 100 >= self.words * KEPT_PERCENT_MIN
    }
}

/// The element in which a block is a line of text beside others.
fn element(outline: &Outline, block: &Block) -> Option<NodeId> {
    let is_text = block.words >= TEXT_WORDS_MIN && block.link_words * 2 < block.words;
    is_text.then(|| outline.node(block.node).parent)
}

/// Keeps all lines of an element with many of which most are kept, and what follows the last block that a page may have as
/// most before it.
pub(super) fn keep_long(outline: &Outline, is_kept: &mut [bool]) {
    let mut elements = vec![Lines::default(); outline.nodes.len()];
    let blocks = || outline.blocks.iter().take(BLOCKS_MAX);
    for (block, &is_kept) in blocks().zip(&*is_kept) {
        if let Some(element) = element(outline, block) {
            elements[element as usize].add(block, is_kept);
        }
    }
    let mut page = Lines::default();
    for (block, is_kept) in blocks().zip(&mut *is_kept) {
        let lines = element(outline, block).map(|element| elements[element as usize]);
        *is_kept |= lines.is_some_and(|lines| lines.count >= LINES_MIN && lines.are_mostly_kept());
        page.add(block, *is_kept);
    }
    if let Some(rest) = is_kept.get_mut(BLOCKS_MAX..) {
        rest.fill(page.are_mostly_kept());
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{kept_by, main_page};
    use super::*;

    const OTHER: &str = "<p>The fence along the road was painted green last spring.</p>";

    /// How many lines are kept of so many of which the model keeps the first ones.
    fn kept(kept: usize, others: usize, other: &str) -> usize {
        let line = "<p>The gate squeaks whenever the wind turns to the north.</p>";
        let page = format!("{}{}", line.repeat(kept), other.repeat(others));
        kept_by(keep_long, &page).len()
    }

    #[test]
    fn many_lines_in_one_element_are_kept_as_most_of_them() {
        assert_eq!(kept(70, 30, OTHER), 100);
        assert_eq!(kept(50, 50, OTHER), 50);
        // Few, elsewhere, links, and words without a sentence around them.
        assert_eq!(kept(20, 10, OTHER), 20);
        assert_eq!(kept(70, 30, &format!("<div>{OTHER}</div>")), 70);
        assert_eq!(
            kept(
                70,
                30,
                "<p><a href=/a>The fence along the road was painted green</a></p>"
            ),
            70
        );
        assert_eq!(kept(70, 30, "<p>Fences</p>"), 70);
    }

    #[test]
    fn a_page_with_more_text_than_most_is_kept_to_its_end() {
        // More than the blocks that a page may have, too.
        for count in [300, 10_000, BLOCKS_MAX + 5_000] {
            let line = |n| {
                format!(
                    "<p>Boat {n} leaves the north quay at noon and returns before the evening.</p>"
                )
            };
            let lines: String = (0..count).map(line).collect();
            let page = main_page(&format!(
                "<title>Boats</title><main><h1>Boats</h1>{lines}</main>"
            ));
            assert_eq!(page.markdown.matches("Boat ").count(), count);
        }
    }
}
