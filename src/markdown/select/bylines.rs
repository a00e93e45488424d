//! Keeps who said it and when with the posts of a forum, the answers to a question and other talk. The gold of no corpus
//! has these lines, so no model keeps them; the names that engines give to them are known.

use super::super::outline::{NodeId, Outline, PAGE, Role};
use super::super::tag::Tag;

/// A line with a name or a date is not longer.
const BYLINE_WORDS_MAX: u32 = 16;
/// The post begins or ends within so many blocks of it.
const NEAR_BLOCKS: usize = 10;
/// An element around the line and its post that holds more of what is kept holds other posts.
const POST_PERCENT_MAX: u64 = 70;
/// The element that is the post is not further away.
const POST_HOPS_MAX: usize = 8;

pub(super) fn keep_bylines(outline: &Outline, is_kept: &mut [bool]) {
    let kept = kept_words(outline, is_kept);
    let total = kept[PAGE as usize];
    let is_post = |at: usize| is_kept[at] && !outline.blocks[at].is_byline;
    let mut found = Vec::new();
    for (at, block) in outline.blocks.iter().enumerate() {
        if is_kept[at]
            || !block.is_byline
            || block.words == 0
            || block.words > BYLINE_WORDS_MAX
            || is_apart(outline, &kept, block.node)
        {
            continue;
        }
        let after =
            (at + 1..outline.blocks.len().min(at + 1 + NEAR_BLOCKS)).find(|&at| is_post(at));
        let before = (at.saturating_sub(NEAR_BLOCKS)..at).rfind(|&at| is_post(at));
        let is_in_post = |other: usize| {
            let around = meeting(outline, block.node, outline.blocks[other].node);
            around.is_some_and(|node| kept[node as usize] * 100 <= total * POST_PERCENT_MAX)
        };
        if after.is_some_and(is_in_post) || before.is_some_and(is_in_post) {
            found.push(at);
        }
    }
    for at in found {
        is_kept[at] = true;
    }
}

fn kept_words(outline: &Outline, is_kept: &[bool]) -> Vec<u64> {
    let mut words = vec![0; outline.nodes.len()];
    for (block, _) in outline
        .blocks
        .iter()
        .zip(is_kept)
        .filter(|(_, is_kept)| **is_kept)
    {
        words[block.node as usize] += u64::from(block.words);
    }
    for id in (1..outline.nodes.len()).rev() {
        words[outline.nodes[id].parent as usize] += words[id];
    }
    words
}

/// The nearest element around both, if it is near.
fn meeting(outline: &Outline, line: NodeId, post: NodeId) -> Option<NodeId> {
    let holds = |outer: NodeId, mut node: NodeId| {
        while outline.node(node).depth > outline.node(outer).depth {
            node = outline.node(node).parent;
        }
        node == outer
    };
    let mut around = line;
    for _ in 0..POST_HOPS_MAX {
        if around == PAGE || holds(around, post) {
            return Some(around);
        }
        around = outline.node(around).parent;
    }
    None
}

/// Some engines put the whole thread into a form; what is kept is then in there, too.
fn is_apart(outline: &Outline, kept: &[u64], mut node: NodeId) -> bool {
    while node != PAGE {
        let about = outline.node(node);
        let is_form = about.role == Role::Form && kept[node as usize] == 0;
        if is_form
            || matches!(about.role, Role::Hidden | Role::Consent | Role::Navigation)
            || about.tag == Tag::Button
        {
            return true;
        }
        node = about.parent;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::kept_by;
    use super::*;

    /// Which blocks stay, if only those with `gate` in them were kept.
    fn kept(html: &str) -> Vec<String> {
        kept_by(keep_bylines, html)
    }

    fn post(author: &str, text: &str) -> String {
        format!("<div><div class=author>{author}</div><p>{text}</p></div>")
    }

    #[test]
    fn a_post_keeps_the_line_with_its_author() {
        let posts = [
            post("alice", "My gate squeaks."),
            post("bob", "Oil the gate."),
        ]
        .concat();
        assert_eq!(
            kept(&posts),
            ["alice", "My gate squeaks.", "bob", "Oil the gate."]
        );
        // Nothing of this post is kept.
        let posts = format!("{posts}{}", post("carol", "Buy my watches."));
        assert_eq!(kept(&posts).len(), 4);
    }

    #[test]
    fn other_lines_stay_out() {
        let long = "word ".repeat(BYLINE_WORDS_MAX as usize + 1);
        let posts = [
            post(&long, "My gate squeaks."),
            "<div><div>bob</div><p>Oil the gate.</p></div>".to_owned(),
            "<div><nav class=author>carol</nav><p>Paint the gate.</p></div>".to_owned(),
            "<div><form><div class=author>dave</div></form><p>Sell the gate.</p></div>".to_owned(),
        ];
        assert_eq!(
            kept(&posts.concat()),
            [
                "My gate squeaks.",
                "Oil the gate.",
                "Paint the gate.",
                "Sell the gate."
            ]
        );
        // The element around both holds all that is kept: the line is the page's.
        let page =
            "<div><div class=author>alice</div><p>My gate squeaks.</p><p>Oil the gate.</p></div>";
        assert_eq!(kept(page), ["My gate squeaks.", "Oil the gate."]);
    }
}
