//! What the model keeps of a few of many alike blocks, such as one line of a list of other articles, is chance: the others
//! say that it is no content.

use std::collections::HashMap;

use super::super::outline::{Block, Outline};
use super::long::{Share, templates};

/// So many alike blocks are judged as a whole.
const ALIKE_MIN: u32 = 5;
/// They are dropped if the model keeps less than so many of a hundred of their words,
const KEPT_PERCENT_MIN: u64 = 25;
/// and if what all such groups would lose is not more than so many of a hundred of all that it keeps: an article may stand
/// among comments.
const PAGE_PERCENT_MAX: u64 = 25;

#[derive(Clone, Copy, Default)]
struct Alike {
    count: u32,
    words: Share,
}

/// Drops what is kept of a few of many alike blocks.
pub(super) fn drop_few(outline: &Outline, is_kept: &mut [bool]) {
    let templates = templates(outline);
    let is_text = |block: &Block| block.link_words * 2 < block.words;
    let template = |block: &Block| (templates[block.node as usize], is_text(block));
    let mut groups: HashMap<(u64, bool), Alike> = HashMap::new();
    let mut page = Share::default();
    for (block, &is_kept) in outline.blocks.iter().zip(&*is_kept) {
        page.add(block.words, is_kept);
        let alike = groups.entry(template(block)).or_default();
        alike.count += 1;
        alike.words.add(block.words, is_kept);
    }
    let is_much = |words: u64| words * 100 > page.kept * PAGE_PERCENT_MAX;
    groups.retain(|_, alike| {
        alike.count >= ALIKE_MIN
            && !alike.words.is_at_least(KEPT_PERCENT_MIN)
            && !is_much(alike.words.kept)
    });
    if is_much(groups.values().map(|alike| alike.words.kept).sum()) {
        return;
    }
    for (block, is_kept) in outline.blocks.iter().zip(is_kept) {
        *is_kept &= block.words == 0 || !groups.contains_key(&template(block));
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::kept_by;
    use super::*;

    #[test]
    fn one_of_many_alike_lines_is_not_kept_alone() {
        let text = "<p>The gate squeaks whenever the wind turns to the north.</p>".repeat(9);
        let line = |other: &str| format!("<li>How to build {other}</li>");
        let lines = |others: usize| {
            format!(
                "<ul>{}{}</ul>",
                line("a gate"),
                line("a fence").repeat(others)
            )
        };
        let kept = |html: &str| kept_by(drop_few, html).len();
        assert_eq!(kept(&format!("{text}{}", lines(4))), 9);
        // Few, most of which are kept, and what the page consists of.
        assert_eq!(kept(&format!("{text}{}", lines(3))), 10);
        assert_eq!(
            kept(&format!(
                "{text}<ul>{}{}</ul>",
                line("a gate").repeat(2),
                line("a fence").repeat(3)
            )),
            11
        );
        assert_eq!(kept(&lines(9)), 1);
        // Of several kinds, each of which is little of the page and all of which are much of it.
        let kind = |number| lines(4).replace("<ul>", &format!("<ul class=kind-{number}>"));
        let kinds: String = (0..9).map(kind).collect();
        assert_eq!(kept(&format!("{text}{kinds}")), 18);
        assert_eq!(kept(&format!("{}{kinds}", text.repeat(9))), 81);
    }
}
