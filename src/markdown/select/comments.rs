//! Tells the comments under an article from a page that consists of them: a forum, a question with its answers, the
//! permalink of one comment. Reads the names that pages give to comments, never texts alone.

use super::super::outline::Outline;
use super::super::tag::Tag;
use super::facts::is_good;
use super::hints::Hints;

/// With fewer words of prose beside them the comments are the page.
const ARTICLE_WORDS_MIN: u32 = 20;
/// The longest heading over comments: "4 thoughts on " and the title.
const HEADING_WORDS_MAX: u32 = 24;

/// Which of a page's blocks are comments under something else, with the headings over them; empty if there are none.
pub(super) fn under_article(
    outline: &Outline,
    hints: &Hints,
    is_kept: &[bool],
    title: Option<usize>,
) -> Vec<bool> {
    let is_area = areas(outline);
    if hints.is_talk || hints.is_product || !is_area.contains(&true) {
        return Vec::new();
    }
    let in_area = |at: usize| is_area[outline.blocks[at].node as usize];
    let is_prose = |at: &usize| is_kept[*at] && is_good(&outline.blocks[*at]) && !in_area(*at);
    let blocks = 0..outline.blocks.len();
    let Some(first) = blocks.clone().find(is_prose) else {
        return Vec::new();
    };
    let prose = blocks.clone().filter(is_prose);
    let words: u32 = prose.map(|at| outline.blocks[at].words).sum();
    let holds_title = title.is_some_and(in_area);
    if words < ARTICLE_WORDS_MIN || holds_title {
        return Vec::new();
    }
    let mut is_comment: Vec<bool> = blocks.map(|at| at > first && in_area(at)).collect();
    // Whatever stands before the first of them and names them.
    for at in (1..is_comment.len()).rev() {
        let block = &outline.blocks[at - 1];
        is_comment[at - 1] |= is_comment[at]
            && block.words <= HEADING_WORDS_MAX
            && (block.kind.is_heading() || block.words <= 4)
            && names_comments(outline.markdown(block));
    }
    is_comment
}

/// Of each node whether it stands in an element that is named for comments.
fn areas(outline: &Outline) -> Vec<bool> {
    let mut is_area = vec![false; outline.nodes.len()];
    for (id, node) in outline.nodes.iter().enumerate().skip(1) {
        let is_code = node.tag == Tag::Preformatted;
        is_area[id] = is_area[node.parent as usize] || (node.is_comment && !is_code);
    }
    is_area
}

fn names_comments(text: &str) -> bool {
    let text = text.to_lowercase();
    [
        "comment",
        "respon",
        "repl",
        "thought",
        "kommentar",
        "comentario",
        "comentário",
        "commentaire",
        "reactie",
        "commenti",
        "discussion",
        "评论",
        "評論",
        "コメント",
        "留言",
        "комментар",
    ]
    .iter()
    .any(|word| text.contains(word))
}

/// So many lines of links in a row under an article are a list of other articles.
const LINKS_MIN: usize = 3;
/// An article has more words than this.
const PROSE_WORDS_MIN: u32 = 120;

/// Drops what follows an article's last words: lists of links to other articles.
pub(super) fn drop_other_articles(outline: &Outline, is_kept: &mut [bool]) {
    let blocks = &outline.blocks;
    let prose = (0..blocks.len()).filter(|&at| is_kept[at] && is_good(&blocks[at]));
    let words: u32 = prose.clone().map(|at| blocks[at].words).sum();
    let Some(last) = prose.max() else { return };
    if words < PROSE_WORDS_MIN {
        return;
    }
    let is_links = |at: &usize| {
        let block = &blocks[*at];
        block.words >= 3 && block.link_words * 10 >= block.words * 9
    };
    let tail: Vec<usize> = (last + 1..blocks.len())
        .filter(|&at| is_kept[at] && is_links(&at))
        .collect();
    let before = (0..last).filter(|&at| is_kept[at] && is_links(&at)).count();
    let linked: u32 = tail.iter().map(|&at| blocks[at].words).sum();
    if tail.len() < LINKS_MIN || linked * 2 > words || before >= LINKS_MIN {
        return;
    }
    for at in tail {
        is_kept[at] = false;
    }
}
