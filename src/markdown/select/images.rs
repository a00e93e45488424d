//! Keeps the pictures between what is kept: they have no words that the model could judge. Which of them only decorate was
//! said by their attributes, before they came into the outline.

use super::super::outline::{Block, Kind, Outline};
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
        for (is_kept, block) in is_kept[gap].iter_mut().zip(between) {
            *is_kept |= is_image(outline, block)
                && !decorates(outline.markdown(block))
                && !is_apart(outline, block.node);
        }
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
}
