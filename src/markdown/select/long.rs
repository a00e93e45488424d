//! What the model cannot tell of long pages. It knows of each block how far it is from the end and what share of the page
//! stands before it, but few pages that it learned from are long: of thousands of paragraphs it doubts the last fifth.
//! Blocks that a page's template made alike are judged together.

use std::collections::HashMap;

use super::super::outline::{BLOCKS_MAX, Block, Outline, PAGE};

/// So many alike blocks are judged as a whole.
const ALIKE_MIN: u32 = 40;
/// They are kept if the model keeps so many of a hundred of their words, or of the words of the first of them.
const KEPT_PERCENT_MIN: u64 = 60;
/// A line of text has so many words.
const LINE_WORDS_MIN: u32 = 8;

/// How many of some words, blocks or items the model keeps.
#[derive(Clone, Copy, Default)]
pub(super) struct Share {
    pub all: u64,
    pub kept: u64,
}

impl Share {
    pub(super) fn add(&mut self, count: u32, is_kept: bool) {
        self.all += u64::from(count);
        self.kept += u64::from(count) * u64::from(is_kept);
    }

    pub(super) fn is_at_least(self, percent: u64) -> bool {
        self.kept * 100 >= self.all * percent
    }
}

/// Blocks in elements with the same tag and classes, all the way up.
#[derive(Clone, Copy, Default)]
struct Alike {
    count: u32,
    /// Of the words of the first of them, and of all.
    first: Share,
    all: Share,
}

impl Alike {
    fn add(&mut self, block: &Block, is_kept: bool) {
        if self.count < ALIKE_MIN {
            self.first.add(block.words, is_kept);
        }
        self.all.add(block.words, is_kept);
        self.count += 1;
    }

    fn are_content(&self) -> bool {
        let are_mostly_kept = |words: Share| words.is_at_least(KEPT_PERCENT_MIN);
        self.count >= ALIKE_MIN && (are_mostly_kept(self.all) || are_mostly_kept(self.first))
    }
}

/// Of each node a number of its tag and classes, and of those of the elements around it.
pub(super) fn templates(outline: &Outline) -> Vec<u64> {
    let mut templates: Vec<u64> = Vec::with_capacity(outline.nodes.len());
    templates.push(u64::from(PAGE));
    for node in outline.nodes.iter().skip(1) {
        let own = u64::from(node.class_hash) << 8 | u64::from(node.tag.rank());
        let around = templates[node.parent as usize].rotate_left(23);
        templates.push((around ^ own).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }
    templates
}

/// Keeps all of many alike blocks of which most are kept, and what follows the last block that a page may have as most
/// before it.
pub(super) fn keep_long(outline: &Outline, is_kept: &mut [bool]) {
    let templates = templates(outline);
    let mut groups: HashMap<(Likeness, u64), Alike> = HashMap::new();
    let mut page_words = 0;
    let blocks = || outline.blocks.iter().take(BLOCKS_MAX);
    for (block, &is_kept) in blocks().zip(&*is_kept) {
        page_words += u64::from(block.words);
        for group in groups_of(outline, &templates, block) {
            groups.entry(group).or_default().add(block, is_kept);
        }
    }
    // Links stand in alike elements in menus, too: only where they are the page they are content.
    groups.retain(|(likeness, _), alike| {
        alike.are_content() && (*likeness != Likeness::Links || alike.all.all * 2 > page_words)
    });
    let mut page = Share::default();
    for (block, is_kept) in blocks().zip(&mut *is_kept) {
        let mut own = groups_of(outline, &templates, block);
        *is_kept |= own.any(|group| groups.contains_key(&group));
        page.add(block.words, *is_kept);
    }
    if let Some(rest) = is_kept.get_mut(BLOCKS_MAX..) {
        rest.fill(page.is_at_least(KEPT_PERCENT_MIN));
    }
}

/// In what blocks are alike.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Likeness {
    /// Text in alike elements,
    Text,
    /// links in them,
    Links,
    /// or lines of text in elements of which those around are alike: paragraphs, quotes and verses of one chapter.
    Lines,
}

fn groups_of(
    outline: &Outline,
    templates: &[u64],
    block: &Block,
) -> impl Iterator<Item = (Likeness, u64)> {
    let own = templates[block.node as usize];
    let around = templates[outline.node(block.node).parent as usize];
    let is_text = block.link_words * 2 < block.words;
    let likeness = match is_text {
        true => Likeness::Text,
        false => Likeness::Links,
    };
    let is_line = is_text && block.words >= LINE_WORDS_MIN;
    let lines = is_line.then_some((Likeness::Lines, around));
    (block.words > 0)
        .then_some((likeness, own))
        .into_iter()
        .chain(lines)
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{kept_by, main_page};
    use super::*;

    const LINE: &str = "<p>The gate squeaks whenever the wind turns to the north.</p>";
    const OTHER: &str = "<p>The fence along the road was painted green last spring.</p>";

    /// How many lines are kept of a page of which the model keeps those with the gate.
    fn kept(lines: &[(&str, usize)]) -> usize {
        let page: String = lines
            .iter()
            .map(|(line, count)| line.repeat(*count))
            .collect();
        kept_by(keep_long, &page).len()
    }

    #[test]
    fn many_alike_lines_are_kept_as_most_of_them_or_of_the_first() {
        assert_eq!(kept(&[(OTHER, 30), (LINE, 70)]), 100);
        assert_eq!(kept(&[(LINE, 45), (OTHER, 200)]), 245);
        assert_eq!(kept(&[(OTHER, 50), (LINE, 50)]), 50);
        assert_eq!(kept(&[(LINE, 20), (OTHER, 10)]), 20);
        // Headings between them, and lines of other elements in the same one.
        assert_eq!(kept(&[(LINE, 70), ("<p>Fences</p>", 30)]), 100);
        let quote = OTHER.replace("p>", "blockquote>");
        assert_eq!(kept(&[(LINE, 70), (&quote, 30)]), 100);
        // Elsewhere, and links.
        assert_eq!(
            kept(&[(LINE, 70), (&format!("<div>{OTHER}</div>"), 30)]),
            70
        );
        let link = "<p><a href=/a>The fence along the road was painted green</a></p>";
        assert_eq!(kept(&[(LINE, 70), (link, 30)]), 70);
    }

    /// Of five hundred sections, lists, questions with answers or examples of code the last ones were lost.
    #[test]
    fn alike_lines_stand_in_alike_elements() {
        for (before, after) in [
            ("<section><h2>On fences</h2>", "</section>"),
            ("<ul><li>", "</ul>"),
            ("<div class=item><div class=text>", "</div></div>"),
        ] {
            let [line, other] = [LINE, OTHER].map(|line| format!("{before}{line}{after}"));
            let headings = if before.contains("h2") { 100 } else { 0 };
            let found = kept(&[(&line, 70), (&other, 30)]);
            assert!(found == 100 || found == 100 + headings, "{before}: {found}");
        }
        assert_eq!(
            kept(&[("<pre>gate()</pre>", 70), ("<pre>fence()</pre>", 30)]),
            100
        );
    }

    #[test]
    fn links_are_kept_alike_only_where_they_are_the_page() {
        let link = |what: &str| format!("<li><a href=/a>On building a {what}</a></li>");
        let page = |before: &str| {
            let lines = format!("{}{}", link("gate").repeat(70), link("fence").repeat(30));
            kept_by(keep_long, &format!("{before}<ul>{lines}</ul>")).len()
        };
        assert_eq!(page(""), 100);
        assert_eq!(page(&OTHER.repeat(60)), 70);
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
