//! Leaves out what stands between the paragraphs of an article and is none of it: labels of advertisements, boxes that ask
//! for consent before they show what is embedded, and forms that ask for an address for a newsletter.

use super::super::outline::{Block, Outline, PAGE};
use super::super::tag::Tag;

/// A label of an advertisement is the whole of its line.
const LABELS: [&str; 20] = [
    "ad",
    "ads",
    "advertentie",
    "advertisement",
    "advertisement continue reading below",
    "advertisement scroll to continue",
    "advertisements",
    "advertising",
    "anzeige",
    "article continues below advertisement",
    "continue reading below advertisement",
    "publicidad",
    "publicidade",
    "publicité",
    "pubblicità",
    "reklama",
    "story continues below advertisement",
    "story continues below this ad",
    "the story continues below this advertisement",
    "werbung",
];
const LABEL_WORDS_MAX: u32 = 7;

/// Beginnings of what buttons say that give consent.
const ACCEPT: [&str; 12] = [
    "accept",
    "agree",
    "allow",
    "akzept",
    "accett",
    "acept",
    "autoriser",
    "erlauben",
    "inhalt",
    "load",
    "show content",
    "zustimm",
];

/// What asks for an address, beside a button.
const SIGN_UP: [&str; 6] = [
    "newsletter",
    "our mailing list",
    "in your inbox",
    "to your inbox",
    "get our emails",
    "sign up for weekly",
];
/// Such a line is not longer.
const SIGN_UP_WORDS_MAX: u32 = 25;
/// A box is not larger,
const BOX_WORDS_MAX: u32 = 60;
/// and what is kept beside it is at least so many times as much: a page may be about its newsletter.
const BESIDE_TIMES: u32 = 2;

/// What stands in an element.
#[derive(Clone, Copy, Default)]
struct Content {
    words: u32,
    /// It speaks of cookies; a button gives consent.
    names_cookies: bool,
    accepts: bool,
    /// It asks to sign up; there is a button or a form.
    signs_up: bool,
    has_button: bool,
}

impl Content {
    fn is_box(&self) -> bool {
        let asks = (self.names_cookies && self.accepts) || (self.signs_up && self.has_button);
        self.words <= BOX_WORDS_MAX && asks
    }

    fn add(&mut self, inner: Content) {
        self.words = self.words.saturating_add(inner.words);
        self.names_cookies |= inner.names_cookies;
        self.accepts |= inner.accepts;
        self.signs_up |= inner.signs_up;
        self.has_button |= inner.has_button;
    }
}

pub(super) fn drop_promotions(outline: &Outline, is_kept: &mut [bool]) {
    let kept_words = |is_kept: &[bool]| -> u32 {
        let kept = outline.blocks.iter().zip(is_kept).filter(|pair| *pair.1);
        kept.map(|(block, _)| block.words).sum()
    };
    let words = kept_words(is_kept);
    let is_in_box = boxes(outline);
    let mut without = is_kept.to_vec();
    for (block, is_kept) in outline.blocks.iter().zip(&mut without) {
        *is_kept &= !is_in_box[block.node as usize] && !is_label(outline, block);
    }
    let left = kept_words(&without);
    if left >= (words - left).saturating_mul(BESIDE_TIMES) && left > 0 {
        is_kept.copy_from_slice(&without);
    }
}

fn is_label(outline: &Outline, block: &Block) -> bool {
    let is_short = (1..=LABEL_WORDS_MAX).contains(&block.words);
    is_short
        && !block.kind.is_code()
        && LABELS.contains(&words_of(outline.markdown(block)).as_str())
}

/// In lower case, without marks.
fn words_of(text: &str) -> String {
    let text = text.to_lowercase();
    let words = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// Of each node whether it is or stands in a box: in the innermost element that holds the question and the button.
fn boxes(outline: &Outline) -> Vec<bool> {
    let mut contents = vec![Content::default(); outline.nodes.len()];
    for block in outline
        .blocks
        .iter()
        .filter(|block| block.words <= BOX_WORDS_MAX)
    {
        let content = content(outline, block);
        contents[block.node as usize].add(content);
    }
    for block in outline
        .blocks
        .iter()
        .filter(|block| block.words > BOX_WORDS_MAX)
    {
        contents[block.node as usize].words += block.words;
    }
    let mut holds_box = vec![false; outline.nodes.len()];
    let mut is_box = vec![false; outline.nodes.len()];
    for id in (1..outline.nodes.len()).rev() {
        let parent = outline.nodes[id].parent as usize;
        is_box[id] = contents[id].is_box() && !holds_box[id];
        holds_box[parent] |= holds_box[id] || is_box[id];
        let inner = contents[id];
        contents[parent].add(inner);
    }
    is_box[PAGE as usize] = false;
    for id in 1..outline.nodes.len() {
        is_box[id] |= is_box[outline.nodes[id].parent as usize];
    }
    is_box
}

fn content(outline: &Outline, block: &Block) -> Content {
    let is_button = outline.node(block.node).tag == Tag::Button;
    let text = outline.markdown(block).to_lowercase();
    let names = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let is_line = !is_button && block.link_words == 0 && block.words <= SIGN_UP_WORDS_MAX;
    Content {
        words: block.words,
        names_cookies: !is_button && text.contains("cookie"),
        accepts: is_button && names(&ACCEPT),
        signs_up: is_line && names(&SIGN_UP),
        has_button: is_button,
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::outline;
    use super::*;

    /// Which texts go, if all were kept.
    fn dropped(html: &str) -> Vec<String> {
        let text = "<p>The gate squeaks whenever the wind turns to the north, and it turns to the north in every night of the \
                    winter and in most of those of autumn.</p>";
        let outline = outline(&format!("<main>{}{html}</main>", text.repeat(9)));
        let mut is_kept = vec![true; outline.blocks.len()];
        drop_promotions(&outline, &mut is_kept);
        let gone = outline.blocks.iter().zip(is_kept).filter(|pair| !pair.1);
        gone.map(|(block, _)| outline.markdown(block).to_owned())
            .collect()
    }

    #[test]
    fn labels_of_advertisements_are_whole_lines() {
        assert_eq!(
            dropped("<div>Advertisement</div><p>- ANZEIGE -</p>").len(),
            2
        );
        assert_eq!(
            dropped("<div>Story continues below advertisement</div>").len(),
            1
        );
        assert!(dropped("<p>Advertisement for gates</p><p>The ad was false.</p>").is_empty());
    }

    #[test]
    fn boxes_that_ask_are_left_out() {
        let consent = "<div><p>This article contains content provided by X. We ask for your permission before anything is \
                       loaded, as they may be using cookies.</p><button>Accept and continue</button></div>";
        assert_eq!(dropped(consent).len(), 2);
        let letter = "<div><h3>Get our newsletter</h3><p>Stories from the coast.</p><form><input type=email>\
                      <button>Sign up</button></form></div>";
        assert_eq!(dropped(letter).len(), 3);
        // Without a button, or of text.
        assert!(dropped("<div><p>We bake cookies of all kinds.</p></div>").is_empty());
        assert!(dropped("<div><p>Her newsletter had nine readers.</p></div>").is_empty());
        // A page about it.
        let outline = outline(letter);
        let mut is_kept = vec![true; outline.blocks.len()];
        drop_promotions(&outline, &mut is_kept);
        assert_eq!(is_kept, [true; 3]);
    }
}
