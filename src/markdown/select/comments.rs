//! Tells the comments under an article from a page that consists of them: a forum, a question with its answers, the
//! permalink of one comment. Reads the names that pages give to comments, never texts alone.

use super::super::outline::{Block, Outline, Role};
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
    // "3 Responses to" and the title are no title.
    let is_own = |at: usize| !names_comments(outline.markdown(&outline.blocks[at]));
    let holds_title = title.is_some_and(|at| in_area(at) && is_own(at));
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
    let sections = sections(outline);
    let mut is_area = vec![false; outline.nodes.len()];
    for (id, node) in outline.nodes.iter().enumerate().skip(1) {
        let is_code = node.tag == Tag::Preformatted;
        let is_named = node.is_comment && !is_code && !sections[id];
        is_area[id] = is_area[node.parent as usize] || is_named;
    }
    is_area
}

/// Which elements named for comments are sections about comments, as manuals have: they begin with a heading that counts
/// none, and in them is neither a comment nor a form, nor who wrote what and when.
fn sections(outline: &Outline) -> Vec<bool> {
    let mut is_section = vec![false; outline.nodes.len()];
    let mut has_talk = vec![false; outline.nodes.len()];
    let mut first = vec![None; outline.nodes.len()];
    for block in outline.blocks.iter().rev() {
        first[block.node as usize] = Some(block);
        has_talk[block.node as usize] |= block.is_byline;
    }
    for (id, node) in outline.nodes.iter().enumerate().skip(1).rev() {
        let heading = first[id].filter(|block| block.kind.is_heading());
        let counts = |block: &Block| {
            let text = outline.markdown(block);
            text.contains(|c: char| c.is_ascii_digit())
        };
        is_section[id] =
            node.is_comment && !has_talk[id] && heading.is_some_and(|block| !counts(block));
        let around = node.parent as usize;
        has_talk[around] |= has_talk[id] || node.is_comment || node.role == Role::Form;
        let begins_earlier = match (first[id], first[around]) {
            (Some(own), Some(other)) => own.text.range().start < other.text.range().start,
            (own, _) => own.is_some(),
        };
        if begins_earlier {
            first[around] = first[id];
        }
    }
    is_section
}

fn names_comments(text: &str) -> bool {
    let text = text.to_lowercase();
    [
        "comment",
        "respon",
        "repl",
        "review",
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

/// The most words of a line that only names the comments.
const LABEL_WORDS_MAX: u32 = 4;

/// Drops a line at the end that names comments of which none are kept.
pub(super) fn drop_last_label(outline: &Outline, is_kept: &mut [bool]) {
    let Some(last) = is_kept.iter().rposition(|is_kept| *is_kept) else {
        return;
    };
    let block = &outline.blocks[last];
    let is_line = !block.kind.is_code() && !block.counts.ends_sentence;
    let is_label = is_line && (1..=LABEL_WORDS_MAX).contains(&block.words);
    if is_label && is_kept[..last].contains(&true) && names_comments(outline.markdown(block)) {
        is_kept[last] = false;
    }
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

#[cfg(test)]
mod tests {
    use super::super::super::tests::outline;
    use super::*;

    const PROSE: &str = "<p>Every gate squeaks in its own way, and all of them squeak when it rains for longer than a day, which \
                         is what this article is about.</p>";

    /// The texts of what is taken for comments where everything is kept.
    fn found(html: &str, hints: &Hints, title: Option<usize>) -> Vec<String> {
        let outline = outline(html);
        let is_kept = vec![true; outline.blocks.len()];
        let is_comment = under_article(&outline, hints, &is_kept, title);
        let comments = outline.blocks.iter().zip(is_comment);
        let comments = comments.filter_map(|(block, is_comment)| is_comment.then_some(block));
        comments
            .map(|block| outline.markdown(block).to_owned())
            .collect()
    }

    #[test]
    fn comments_under_an_article_are_found_with_their_heading() {
        let comments = "<div id=comments><p>Mine is silent.</p></div>";
        let article = Hints::default();
        let html = format!("{PROSE}<h3>2 Responses to Gates</h3>{comments}");
        assert_eq!(
            found(&html, &article, None),
            ["2 Responses to Gates", "Mine is silent."]
        );
        let html = format!("{PROSE}<h3>More gates</h3>{comments}");
        assert_eq!(found(&html, &article, None), ["Mine is silent."]);
        // Nothing is named for comments.
        let html = format!("{PROSE}<div id=notes><p>Mine is silent.</p></div>");
        assert!(found(&html, &article, None).is_empty());
        // A section of a manual, about comments.
        let html = format!(
            "{PROSE}<div id=comments><h2>Comments</h2><p>Mine begin with two slashes.</p></div>"
        );
        assert!(found(&html, &article, None).is_empty());
        for talk in [
            "<h2>2 Comments</h2>",
            "<h2>Comments</h2><p class=comment-author>Ann",
            "<h2>Comments</h2><form><p>Say it</p></form>",
            "<h2>Comments</h2><div class=comment-body>Say it</div>",
        ] {
            let html = format!("{PROSE}<div id=comments>{talk}<p>Mine is silent.</p></div>");
            assert!(
                found(&html, &article, None).contains(&"Mine is silent.".to_owned()),
                "{talk}"
            );
        }
        // Code may be named for what it shows.
        let html = format!("{PROSE}<pre class=comment>// Mine</pre>");
        assert!(found(&html, &article, None).is_empty());
    }

    #[test]
    fn comments_that_are_the_page_are_none() {
        let comments = format!("<div id=comments>{PROSE}</div>");
        let article = Hints::default();
        assert!(found(&comments, &article, None).is_empty());
        let html = format!("{PROSE}{comments}");
        assert_eq!(found(&html, &article, None).len(), 1);
        let (mut talk, mut product) = (Hints::default(), Hints::default());
        (talk.is_talk, product.is_product) = (true, true);
        for hints in [talk, product] {
            assert!(found(&html, &hints, None).is_empty());
        }
        // The title stands among them.
        assert!(found(&html, &article, Some(1)).is_empty());
        // It is the heading over them.
        let over = format!("{PROSE}<div id=comments><h3>3 Responses to Gates</h3>{PROSE}</div>");
        assert_eq!(found(&over, &article, Some(1)).len(), 2);
        // A few words are no article.
        let html = format!("<p>Gates.</p>{comments}");
        assert!(found(&html, &article, None).is_empty());
    }

    #[test]
    fn a_line_that_names_comments_does_not_end_an_article() {
        let kept = |last: &str| {
            let outline = outline(&format!("{PROSE}{last}"));
            let mut is_kept = vec![true; outline.blocks.len()];
            drop_last_label(&outline, &mut is_kept);
            is_kept[outline.blocks.len() - 1]
        };
        assert!(!kept("<h3>Comments</h3>") && !kept("<p>Leave a <b>comment</b></p>"));
        assert!(kept("<p>No comment.</p>") && kept("<p>Gates</p>"));
        assert!(kept(
            "<p>The committee has not commented on any of this so far</p>"
        ));
        assert!(kept("<pre>comment()</pre>"));
    }

    /// Whether each block stays.
    fn after_articles(html: &str) -> Vec<bool> {
        let outline = outline(html);
        let mut is_kept = vec![true; outline.blocks.len()];
        drop_other_articles(&outline, &mut is_kept);
        is_kept
    }

    #[test]
    fn links_to_other_articles_are_dropped_below_the_last_words() {
        let article = PROSE.repeat(5);
        let links = "<p><a href=/a>Why do hinges rust</a>".repeat(3);
        let kept =
            |article: usize, links: usize| [vec![true; article], vec![false; links]].concat();
        assert_eq!(after_articles(&format!("{article}{links}")), kept(5, 3));
        // Two may be sources.
        let two = "<p><a href=/a>Why do hinges rust</a>".repeat(2);
        assert_eq!(after_articles(&format!("{article}{two}")), kept(7, 0));
        // A page that has them before its last words, too, is made of them.
        assert_eq!(
            after_articles(&format!("{links}{article}{links}")),
            kept(11, 0)
        );
        // Too short to be an article.
        assert_eq!(after_articles(&format!("{PROSE}{links}")), kept(4, 0));
        // More links than text.
        let many = "<p><a href=/a>Why do hinges rust</a>".repeat(30);
        assert_eq!(after_articles(&format!("{article}{many}")), kept(35, 0));
    }
}
