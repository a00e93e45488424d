//! From probabilities to the blocks that are kept: the threshold with the best expected F1 for this page, and of
//! repeated text only the first. What has no meaning in part is made whole.

use std::collections::HashSet;

use super::super::outline::{Outline, PAGE, Role, Shape};
use super::Selected;
use super::announced;
use super::bylines;
use super::cards;
use super::comments;
use super::concealed;
use super::endings;
use super::hints::Hints;
use super::images;
use super::long;
use super::neighbours;
use super::note_titles;
use super::notes;
use super::orphans;
use super::promotions;
use super::reference;
use super::repair::repair;
use super::rows;
use super::shares;
use super::siblings;
use super::sources;
use super::voices::Voices;

/// Text of at least so many words is kept once.
const REPEATED_WORDS: u32 = 6;

/// What is kept of a reference page is not the model's choice, and was measured to be right (data/reference).
const WHOLE_CONFIDENCE: f32 = 0.95;

/// Numbers of the blocks to keep, in document order. `chances` are probabilities of being content.
/// `title` is the block that says the page's title.
pub(super) fn decide(
    outline: &Outline,
    chances: &[f32],
    hints: &Hints,
    title: Option<usize>,
    include_comments: bool,
) -> Selected {
    let blocks = &outline.blocks;
    let expected = expected_f1(outline, chances);
    // Where the model is sure of the page, what it doubts is better left out.
    let mut strictness = 0.92 * (1.0 + 1.5 * (expected - 0.8).max(0.0));
    if hints.is_article {
        strictness *= 1.2;
    }
    // Half of the best F1 is the threshold that reaches it (Lipton et al., 2014).
    let threshold = (strictness * expected / 2.0).clamp(0.15, 0.75);
    let mut is_kept: Vec<bool> = chances.iter().map(|&chance| chance >= threshold).collect();
    long::keep_long(outline, &mut is_kept);
    outline.work.look();
    cards::drop_few(outline, &mut is_kept);
    let said_title = title;
    // Whether a title belongs to the content is a matter of taste: a small doubt is enough to keep it.
    let title = title.filter(|&at| chances[at] * 2.0 >= threshold);
    let is_whole = reference::keep_whole(outline, hints, said_title, &mut is_kept);
    let comments = comments::under_article(outline, hints, &is_kept, said_title);
    outline.work.look();
    if !is_whole && !hints.is_talk {
        rows::keep_lines(outline, &mut is_kept);
    }
    repair(outline, chances, threshold, &mut is_kept, title);
    endings::keep_ending(outline, &mut is_kept);
    if !hints.is_talk {
        siblings::keep_alike_parts(outline, &mut is_kept);
        announced::keep_announced(outline, &mut is_kept);
    }
    for (is_kept, is_comment) in is_kept.iter_mut().zip(comments) {
        if is_comment {
            *is_kept = include_comments;
        }
    }
    outline.work.look();
    notes::keep_notes(outline, &mut is_kept);
    if !hints.is_talk {
        sources::keep_sources(outline, &mut is_kept);
    }
    let voices = match hints.is_talk || include_comments {
        true => Voices::of(outline),
        false => None,
    };
    match &voices {
        Some(voices) => voices.keep(outline, &mut is_kept),
        None if hints.is_talk => bylines::keep_bylines(outline, &mut is_kept),
        None => {}
    }
    if !is_whole && !hints.is_talk && !hints.is_product {
        comments::drop_other_articles(outline, &mut is_kept);
    }
    outline.work.look();
    shares::drop_shares(outline, &mut is_kept);
    neighbours::drop_neighbours(outline, &mut is_kept);
    if !hints.is_talk && !hints.is_product && !include_comments {
        comments::drop_last_label(outline, &mut is_kept);
    }
    images::keep_images(outline, &mut is_kept);
    images::keep_captions(outline, &mut is_kept);
    drop_consent(outline, &mut is_kept);
    concealed::drop_concealed(outline, &mut is_kept);
    outline.work.look();
    promotions::drop_promotions(outline, &mut is_kept);
    note_titles::keep_note_titles(outline, &mut is_kept);
    if !is_whole && !hints.is_talk {
        rows::keep_headings(outline, &mut is_kept);
    }
    if !is_whole {
        orphans::drop_orphans(outline, &mut is_kept);
    }
    let mut kept: Vec<usize> = (0..blocks.len()).filter(|&at| is_kept[at]).collect();
    if kept.is_empty() {
        let most =
            (0..blocks.len()).max_by(|&a, &b| chances[a].total_cmp(&chances[b]).then(b.cmp(&a)));
        kept.extend(most);
    }
    // Two functions may be declared or explained in the same words.
    if !is_whole {
        drop_repeated(outline, voices.as_ref(), &mut kept);
    }
    Selected {
        blocks: kept,
        confidence: match is_whole {
            true => expected.max(WHOLE_CONFIDENCE),
            false => expected,
        },
        voices,
    }
}

/// The best F1, by words, that keeping the likeliest blocks can be expected to have.
fn expected_f1(outline: &Outline, chances: &[f32]) -> f32 {
    let mut order: Vec<(f32, f32)> = chances
        .iter()
        .zip(&outline.blocks)
        // Exact up to sixteen million words.
        .map(|(&chance, block)| (chance, block.words as f32))
        .collect();
    order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    let content: f32 = order.iter().map(|(chance, words)| chance * words).sum();
    let (mut right, mut kept, mut best) = (0.0, 0.0, 0.0f32);
    for (chance, words) in order {
        right += chance * words;
        kept += words;
        if kept + content > 0.0 {
            best = best.max(2.0 * right / (kept + content));
        }
    }
    best
}

/// A banner that asks for consent to cookies is no content of a page that has any.
fn drop_consent(outline: &Outline, is_kept: &mut [bool]) {
    let mut asks = vec![false; outline.nodes.len()];
    for (id, node) in outline.nodes.iter().enumerate().skip(PAGE as usize + 1) {
        asks[id] = node.role == Role::Consent || asks[node.parent as usize];
    }
    let asks = |at: usize| asks[outline.blocks[at].node as usize];
    if (0..is_kept.len()).any(|at| is_kept[at] && !asks(at)) {
        for (at, is_kept) in is_kept.iter_mut().enumerate() {
            *is_kept &= !asks(at);
        }
    }
}

fn drop_repeated(outline: &Outline, voices: Option<&Voices>, kept: &mut Vec<usize>) {
    let mut seen: HashSet<(u32, &str)> = HashSet::new();
    let mut headings: HashSet<(u32, &str)> = HashSet::new();
    let mut chain = Vec::new();
    kept.retain(|&at| {
        let block = &outline.blocks[at];
        // A table of contents says what the headings say.
        let seen = if block.kind.is_heading() && block.link_words == 0 {
            &mut headings
        } else {
            &mut seen
        };
        // Two may say the same; a quote of what was said before says nothing new.
        let speaker = voices.map_or(0, |voices| voices.speaker(outline, block));
        let text = outline.markdown(block);
        let is_new = seen.insert((speaker, text));
        seen.insert((0, text));
        if images::is_image(outline, block) {
            return is_new;
        }
        if block.words < REPEATED_WORDS || is_new {
            return true;
        }
        outline.containers(block.node, &mut chain);
        chain
            .iter()
            .any(|&node| matches!(outline.node(node).shape, Shape::Cell { .. }))
    });
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::kept_by;
    use super::*;

    /// On pages with little prose the model kept the banner, because it is a sentence.
    #[test]
    fn a_banner_that_asks_for_consent_is_no_content() {
        let banner = "<div id=cookie-banner class=cookie-consent><p>This gate uses cookies.</div>";
        assert_eq!(
            kept_by(drop_consent, &format!("{banner}<p>A gate")),
            ["A gate"]
        );
        assert_eq!(kept_by(drop_consent, banner).len(), 1);
    }
}
