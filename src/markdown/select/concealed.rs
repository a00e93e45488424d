//! Leaves out text that the page hides and never shows: it could be cited, and nobody could find it there. What is
//! shown on a click stays, and so does a page that is hidden until a script has run.

use std::collections::HashMap;

use super::super::outline::{Outline, PAGE};

/// So many hidden elements of one class are shown in turn, or each by its own heading.
const ALIKE: u32 = 3;

/// More than one in so many words that are kept is the page itself.
const SHARE: u64 = 3;

pub(super) fn drop_concealed(outline: &Outline, is_kept: &mut [bool]) {
    if outline.concealed.is_empty() {
        return;
    }
    let mut words = vec![0_u64; outline.nodes.len()];
    for (block, _) in outline
        .blocks
        .iter()
        .zip(&*is_kept)
        .filter(|(_, kept)| **kept)
    {
        words[block.node as usize] += u64::from(block.words);
    }
    for id in (1..outline.nodes.len()).rev() {
        words[outline.nodes[id].parent as usize] += words[id];
    }
    let mut alike: HashMap<u32, u32> = HashMap::new();
    for concealed in &outline.concealed {
        *alike
            .entry(outline.node(concealed.node).class_hash)
            .or_default() += 1;
    }
    let mut is_concealed = vec![false; outline.nodes.len()];
    for concealed in &outline.concealed {
        let class = outline.node(concealed.node).class_hash;
        let is_one_of_many = class != 0 && alike[&class] >= ALIKE;
        let is_controlled = concealed
            .id
            .is_some_and(|id| outline.controlled.contains(&id));
        let is_page = words[concealed.node as usize] * SHARE > words[PAGE as usize];
        is_concealed[concealed.node as usize] = !is_one_of_many && !is_controlled && !is_page;
    }
    for id in 1..outline.nodes.len() {
        is_concealed[id] |= is_concealed[outline.nodes[id].parent as usize];
    }
    let is_concealed = |at: usize| is_concealed[outline.blocks[at].node as usize];
    if (0..is_kept.len()).any(|at| is_kept[at] && !is_concealed(at)) {
        for (at, is_kept) in is_kept.iter_mut().enumerate() {
            *is_kept &= !is_concealed(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::kept_by;
    use super::*;

    const SEEN: &str = "<p>The gate in the south was opened in the spring of the year and has been open since then.";

    fn check(html: &str, expected: usize) {
        let kept = kept_by(drop_concealed, &format!("{SEEN}{html}{SEEN}"));
        assert_eq!(kept.len(), expected + 2, "{html}: {kept:?}");
    }

    /// A hidden paragraph was cited as evidence, though nobody who opened the page could find it.
    #[test]
    fn what_the_page_never_shows_is_left_out() {
        for attributes in [
            "hidden",
            "style='color: red; Display: NONE !important'",
            "style='visibility:hidden'",
            "style='font-size: 0px'",
            "style='position:absolute; left:-9999px'",
            "hidden class=note id=a",
        ] {
            check(&format!("<p {attributes}>The gate is shut."), 0);
        }
        check(
            "<div style='display:none'><h2>The gate</h2><p>The gate is shut.</div>",
            0,
        );
        check("<ul><li>A gate<li hidden>No gate<li>One more gate</ul>", 2);
    }

    #[test]
    fn what_is_shown_on_a_click_stays() {
        for attributes in [
            "hidden=until-found",
            "hidden role=tabpanel",
            "hidden aria-labelledby=a",
            "style=display:none class=accordion-body",
            "style=display:none id=readMore1",
            "hidden id=S:1",
            "aria-hidden=true",
            "style='font-size:0.9em; left:0'",
        ] {
            check(&format!("<div {attributes}>The gate is shut.</div>"), 1);
        }
        check(
            "<button aria-controls=a>Hours</button><div id=a hidden>The gate is shut.</div>",
            1,
        );
        check(
            "<a href='#a'>Hours</a><div id=a hidden>The gate is shut.</div>",
            1,
        );
        check(
            "<details><summary>The gate</summary><p>The gate is shut.</details>",
            2,
        );
        check(
            &"<div class=quote hidden>The gate is shut.</div>".repeat(3),
            3,
        );
    }

    #[test]
    fn a_page_that_is_hidden_until_a_script_has_run_is_not_emptied() {
        let page = format!("<body style='visibility:hidden'>{SEEN}<p hidden>The gate is shut.");
        assert_eq!(kept_by(drop_concealed, &page).len(), 1);
        assert_eq!(kept_by(drop_concealed, "<p hidden>A gate").len(), 1);
    }
}
