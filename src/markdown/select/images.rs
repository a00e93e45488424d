//! Keeps the pictures and players between what is kept: they have no words that the model could judge. Which of them only decorate was
//! said by their attributes, before they came into the outline.

use super::super::outline::{Block, Kind, NodeId, Outline, PAGE};
use super::super::tag::Tag;
use super::repair::is_apart;

/// What stands between two kept blocks beside pictures is a caption, a byline or a button; with more words it is something
/// else, and so are the pictures in it.
const GAP_WORDS_MAX: u32 = 60;
const GAP_BLOCKS_MAX: usize = 16;
/// One of so many kept blocks on either side is a line of text: the pictures of a grid of names and prices stay out.
const BLOCKS_NEAR: usize = 3;
const TEXT_WORDS_MIN: u32 = 8;

/// Words of file names that decorate.
const DECORATIONS: [&str; 22] = [
    "ad",
    "ads",
    "arrow",
    "avatar",
    "avatars",
    "badge",
    "badges",
    "blank",
    "btn",
    "button",
    "emoji",
    "gravatar",
    "icon",
    "icons",
    "loader",
    "loading",
    "logo",
    "logos",
    "pixel",
    "placeholder",
    "spacer",
    "sprite",
];

pub(super) fn keep_images(outline: &Outline, is_kept: &mut [bool]) {
    let blocks = &outline.blocks;
    let kept: Vec<usize> = (0..is_kept.len()).filter(|&at| is_kept[at]).collect();
    let is_text = |&at: &usize| blocks[at].words >= TEXT_WORDS_MIN;
    for (number, pair) in kept.windows(2).enumerate() {
        let first = (number + 1).saturating_sub(BLOCKS_NEAR);
        let last = kept.len().min(number + 1 + BLOCKS_NEAR);
        let gap = pair[0] + 1..pair[1];
        if gap.is_empty() || !kept[first..last].iter().any(is_text) {
            continue;
        }
        let between = &blocks[gap.clone()];
        let words: u32 = between.iter().map(|block| block.words).sum();
        if between.len() > GAP_BLOCKS_MAX || words > GAP_WORDS_MAX {
            continue;
        }
        for at in gap {
            let block = &blocks[at];
            let is_picture = is_image(outline, block) && !decorates(outline.markdown(block));
            is_kept[at] |= (is_picture || is_player(outline, at)) && !is_apart(outline, block.node);
        }
    }
}

/// A caption stands so near to its picture: in blocks, and in elements around the picture up to the figure.
const CAPTION_BLOCKS: usize = 3;
const FIGURE_HOPS_MAX: usize = 4;

/// Keeps the `<figcaption>` of a kept picture.
pub(super) fn keep_captions(outline: &Outline, is_kept: &mut [bool]) {
    let blocks = &outline.blocks;
    let is_caption = |node: &NodeId| outline.node(*node).tag == Tag::FigureCaption;
    let is_pictured = |at: usize, figure: NodeId| {
        let near = at.saturating_sub(CAPTION_BLOCKS)..blocks.len().min(at + 1 + CAPTION_BLOCKS);
        let mut pictures = near.filter(|&at| is_kept[at] && is_image(outline, &blocks[at]));
        pictures.any(|at| {
            let mut node = blocks[at].node;
            (0..FIGURE_HOPS_MAX).any(|_| {
                let is_around = node == figure;
                node = outline.node(node).parent;
                is_around
            })
        })
    };
    let found: Vec<usize> = (0..blocks.len())
        .filter(|&at| {
            let node = blocks[at].node;
            let mut caption = [node, outline.node(node).parent].into_iter();
            let figure = caption
                .find(is_caption)
                .map(|node| outline.node(node).parent);
            let is_short = (1..=GAP_WORDS_MAX).contains(&blocks[at].words);
            let figure = figure.filter(|figure| is_short && !is_kept[at] && *figure != PAGE);
            figure.is_some_and(|figure| is_pictured(at, figure) && !is_apart(outline, node))
        })
        .collect();
    for at in found {
        is_kept[at] = true;
    }
}

/// Whether the name of a picture's file says that it only decorates.
fn decorates(markdown: &str) -> bool {
    let image = markdown.split("](").nth(1).unwrap_or_default();
    let path = image.split([')', '?', '#', ' ']).next().unwrap_or_default();
    let file = path.rsplit('/').next().unwrap_or_default();
    file.split(|c: char| !c.is_ascii_alphanumeric())
        .any(|word| DECORATIONS.contains(&word.to_ascii_lowercase().as_str()))
}

/// Whether a block holds players and nothing else.
fn is_player(outline: &Outline, at: usize) -> bool {
    let block = &outline.blocks[at];
    block.words == block.link_words && outline.players.binary_search(&at).is_ok()
}

/// Whether a block holds pictures and nothing else.
pub(super) fn is_image(outline: &Outline, block: &Block) -> bool {
    block.words == 0 && block.kind == Kind::Paragraph && outline.markdown(block).contains("![")
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::kept_by;
    use super::*;

    /// Of three pictures in an article none was kept, because each stood in a block of its own, without a word.
    #[test]
    fn a_picture_between_kept_text_is_kept() {
        let text = "<p>The gate squeaks whenever the wind turns to the north.</p>";
        let image = "<div><img src=/i.png></div>";
        let kept =
            |between: &str| kept_by(keep_images, &format!("{text}{between}{text}")).len() - 2;
        assert_eq!(kept(image), 1);
        assert_eq!(
            kept(&format!(
                "<figure><img src=/i.png><figcaption>Seen from above</figcaption></figure>{image}"
            )),
            2
        );
        assert_eq!(kept("<img src=/img/logo-2.png>"), 0);
        // Among other things, and before or behind the text.
        let other = "<p>Fences, walls, hedges and ditches of all kinds.</p>".repeat(9);
        assert_eq!(kept(&format!("{other}{image}")), 0);
        assert_eq!(kept(&format!("<nav>{image}</nav>")), 0);
        assert_eq!(
            kept_by(keep_images, &format!("{image}{text}{image}")).len(),
            1
        );
    }

    /// Captions of a few words were dropped, and their pictures said nothing without them.
    #[test]
    fn a_caption_follows_its_picture() {
        let text = "<p>The gate squeaks whenever the wind turns to the north.</p>";
        let kept = |figure: &str| {
            let rule = |outline: &Outline, is_kept: &mut [bool]| {
                keep_images(outline, is_kept);
                keep_captions(outline, is_kept);
            };
            kept_by(rule, &format!("{text}{figure}{text}")).len() - 2
        };
        let caption = "<figcaption>Seen from above</figcaption>";
        assert_eq!(
            kept(&format!("<figure><img src=/i.png>{caption}</figure>")),
            2
        );
        assert_eq!(
            kept(&format!(
                "<figure><div><img src=/i.png></div>{caption}</figure>"
            )),
            2
        );
        // Of a picture that is left out, and beside another figure.
        assert_eq!(
            kept(&format!("<figure><img src=/logo.png>{caption}</figure>")),
            0
        );
        assert_eq!(
            kept(&format!(
                "<figure><img src=/i.png></figure><figure>{caption}</figure>"
            )),
            1
        );
    }
}
