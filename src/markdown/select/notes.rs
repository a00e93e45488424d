//! Footnotes say little of themselves, so the model doubts them. Those to which kept text refers are kept where they
//! stand in the element that holds most of what is kept.

use std::collections::HashSet;

use super::super::outline::{Node, NodeId, Outline, PAGE, Shape, Span};

pub(super) fn keep_notes(outline: &Outline, is_kept: &mut [bool]) {
    let is_note = |node: &Node| matches!(node.shape, Shape::Note { .. });
    if !outline.nodes.iter().any(is_note) {
        return;
    }
    // Of each node the label of the note that it is of, and the element that holds the list of them.
    let mut notes: Vec<Option<(Span, NodeId)>> = vec![None; outline.nodes.len()];
    for (id, node) in outline.nodes.iter().enumerate().skip(1) {
        notes[id] = match node.shape {
            Shape::Note { label, .. } => Some((label, outline.node(node.parent).parent)),
            _ => notes[node.parent as usize],
        };
    }
    let mut labels: HashSet<&str> = HashSet::new();
    let mut kept_words = vec![0_u64; outline.nodes.len()];
    let kept = outline.blocks.iter().zip(&*is_kept);
    for (block, _) in kept.filter(|(_, is_kept)| **is_kept) {
        kept_words[block.node as usize] += u64::from(block.words);
        let after = outline.markdown(block).split("[^").skip(1);
        labels.extend(after.filter_map(|rest| Some(rest.split_once(']')?.0)));
    }
    for id in (1..outline.nodes.len()).rev() {
        kept_words[outline.nodes[id].parent as usize] += kept_words[id];
    }
    for (block, is_kept) in outline.blocks.iter().zip(is_kept) {
        let Some((label, around)) = notes[block.node as usize] else {
            continue;
        };
        let is_beside_text = kept_words[around as usize] * 2 >= kept_words[PAGE as usize];
        *is_kept |= is_beside_text && labels.contains(outline.label(label));
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::kept_by;
    use super::*;

    #[test]
    fn notes_that_kept_text_refers_to_are_kept_beside_it() {
        let text = |number: u32| {
            format!("<p>The gate squeaks when it rains<a href=#fn{number}>{number}</a>.</p>")
        };
        let notes = "<ol><li id=fn1>In autumn.</li><li id=fn2>In spring.</li></ol>";
        let kept = |html: &str| kept_by(keep_notes, html);
        let page = format!("<div>{}{notes}</div>", text(1));
        assert_eq!(kept(&page).last().map(String::as_str), Some("In autumn."));
        assert_eq!(kept(&page).len(), 2);
        assert_eq!(
            kept(&format!("<div>{}{}{notes}</div>", text(1), text(2))).len(),
            4
        );
        // Referred to by what is not kept, and elsewhere.
        let other = text(2).replace("gate", "door");
        assert_eq!(
            kept(&format!("<div>{}{other}{notes}</div>", text(1))).len(),
            2
        );
        let apart = format!(
            "<div><div>{}</div><div><div>{notes}</div></div></div>",
            text(1)
        );
        assert_eq!(kept(&apart).len(), 1);
    }
}
