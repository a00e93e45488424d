//! The bold title of a note or a part of it ("**Tip**") says next to nothing, so the model drops it. It is kept where the
//! text under it is: without it nobody knows whether the text warns or advises.

use super::super::outline::{NodeId, Outline, PAGE};

/// A longer line is no title.
const WORDS_MAX: u32 = 6;
/// How far up the element is looked for that holds a title and its text.
const LEVELS_MAX: usize = 3;

pub(super) fn keep_note_titles(outline: &Outline, is_kept: &mut [bool]) {
    let kept = outline.blocks.iter().zip(&*is_kept);
    let words = kept.filter_map(|(block, kept)| kept.then_some(block.words));
    let words = words.sum();
    for at in 0..outline.blocks.len().saturating_sub(1) {
        let block = &outline.blocks[at];
        if is_kept[at] || !is_kept[at + 1] || block.words > WORDS_MAX || block.link_words > 0 {
            continue;
        }
        let markdown = outline.markdown(block).trim();
        let bold = markdown
            .strip_prefix("**")
            .and_then(|rest| rest.strip_suffix("**"));
        let is_title = bold.is_some_and(|text| !text.is_empty() && !text.contains("**"));
        is_kept[at] =
            is_title && words_below(outline, at, is_kept).is_some_and(|below| below * 2 < words);
    }
}

/// The kept words behind a block in an element near it that begins with it. A page is no note.
fn words_below(outline: &Outline, at: usize, is_kept: &[bool]) -> Option<u32> {
    let after = above(outline, outline.blocks[at + 1].node);
    let common = above(outline, outline.blocks[at].node)
        .into_iter()
        .find(|id| *id != PAGE && after.contains(id))?;
    let depth = outline.node(common).depth;
    let is_in = |at: usize| {
        let mut id = outline.blocks[at].node;
        while outline.node(id).depth > depth {
            id = outline.node(id).parent;
        }
        id == common
    };
    if at.checked_sub(1).is_some_and(is_in) {
        return None;
    }
    let behind = (at + 1..outline.blocks.len()).take_while(|at| is_in(*at));
    let kept = behind.filter(|at| is_kept[*at]);
    Some(kept.map(|at| outline.blocks[at].words).sum())
}

/// The element itself and those around it.
fn above(outline: &Outline, node: NodeId) -> [NodeId; LEVELS_MAX + 1] {
    let mut ids = [PAGE; LEVELS_MAX + 1];
    let mut id = node;
    for place in &mut ids {
        *place = id;
        id = outline.node(id).parent;
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::kept_by;
    use super::*;

    #[test]
    fn the_title_of_a_kept_note_is_kept() {
        let kept = |html: &str| kept_by(keep_note_titles, html);
        let text = "<p>The gate squeaks when it rains.</p>";
        let note = |title: &str| format!("<aside><div>{title}</div><div>{text}</div></aside>");
        let all = kept(&format!("{text}{text}{}", note("<b>Tip</b>")));
        assert_eq!(all.get(2).map(String::as_str), Some("**Tip**"));
        for other in [
            note("Tip"),
            note("<b>Tip</b> of today"),
            note("<b><a href=/tips>Tips</a></b>"),
            note("<b>A line of more words than titles of notes have</b>"),
            // Over nothing that is kept; in the middle of what it stands in.
            format!("<aside><b>Tip</b></aside><p>Fences</p>{text}"),
            format!("<div><p>Fences</p><p><b>Doors</b></p>{text}</div>"),
            // The page itself.
            format!("<div><b>Gates</b>{text}{text}{text}</div>"),
        ] {
            let is_gate = |line: &&String| line.contains("gate");
            let all = kept(&format!("{text}{other}"));
            assert_eq!(all.iter().filter(is_gate).count(), all.len(), "{other}");
        }
    }
}
