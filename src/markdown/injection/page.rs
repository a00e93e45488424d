//! Whether a page is addressed to models: what its readers see of it, and what they do not. Knows no phrase.

use super::anchors::may_match;
use super::marks::{marks_of, marks_of_matching};
use super::unseen::has_tag_text;
use super::{BLOCKS_MAX, STRONG, SUSPECTED, begins_with, marks_about};
use crate::markdown::outline::{Block, Kind, Node, Outline, PAGE, Role, Shape};

/// What a page says without showing it.
pub(in crate::markdown) struct Unshown<'a> {
    pub(in crate::markdown) description: &'a str,
    /// Text of hidden elements.
    pub(in crate::markdown) hidden: &'a str,
    pub(in crate::markdown) comments: &'a [String],
}

pub(in crate::markdown) fn is_suspected(outline: &Outline, unshown: &Unshown<'_>) -> bool {
    let texts = [&outline.text, unshown.hidden, unshown.description];
    if texts.into_iter().any(has_tag_text) {
        return true;
    }
    let comments = unshown.comments.iter();
    let beside = marks_of(unshown.hidden) * 2
        + marks_of(unshown.description)
        + comments
            .map(|comment| marks_of_comment(comment))
            .sum::<u32>();
    let suspicious: Vec<&Block> = outline
        .blocks
        .iter()
        .filter(|block| {
            outline.work.step();
            may_match(outline.markdown(block))
        })
        .take(BLOCKS_MAX)
        .collect();
    if suspicious.is_empty() {
        return beside >= SUSPECTED;
    }
    let (visible, concealed) = marks_of_blocks(outline, &suspicious);
    let marks = beside + concealed * 2;
    marks + visible >= SUSPECTED
        && (marks >= SUSPECTED || marks + marks_about(&outline.text, visible) >= SUSPECTED)
}

/// The first look at a comment.
pub(in crate::markdown) fn may_address_models(comment: &str) -> bool {
    may_match(comment) || begins_with_a_role(comment)
}

/// Nobody sees a comment, so nobody is told about such attacks there.
fn marks_of_comment(comment: &str) -> u32 {
    let role = if begins_with_a_role(comment) {
        STRONG
    } else {
        0
    };
    role + marks_of(comment) * 2
}

fn begins_with_a_role(comment: &str) -> bool {
    const ROLES: [&str; 6] = [
        "assistant:",
        "assistants:",
        "ai agent",
        "ai assistant",
        "llm:",
        "dear ai",
    ];
    begins_with(comment.trim_start(), &ROLES)
}

/// Of what readers see, and of what they do not.
fn marks_of_blocks(outline: &Outline, blocks: &[&Block]) -> (u32, u32) {
    let quoting = nodes(outline, |node| node.shape == Shape::Quote);
    let concealing = nodes(outline, |node| node.role == Role::Hidden);
    let (mut visible, mut concealed) = (0, 0);
    for block in blocks {
        outline.work.look();
        let node = block.node as usize;
        let is_quoted = matches!(block.kind, Kind::Code(_)) || quoting[node];
        let marks = marks_of_matching(outline.markdown(block), is_quoted);
        let total = if concealing[node] {
            &mut concealed
        } else {
            &mut visible
        };
        *total += marks;
    }
    (visible, concealed)
}

/// For each node, whether it or one around it is such.
fn nodes(outline: &Outline, is: impl Fn(&Node) -> bool) -> Vec<bool> {
    let mut all = vec![false; outline.nodes.len()];
    for (id, node) in outline.nodes.iter().enumerate() {
        all[id] = is(node) || (id != PAGE as usize && all[node.parent as usize]);
    }
    all
}
