//! Names of comments under something else, and of the lines that say who wrote them and when.

use super::{Attributes, Names};

/// Names of those who wrote a post and of when they did.
pub(super) const AUTHORS_AND_DATES: [&str; 40] = [
    "age",
    "author",
    "author-name",
    "bbp-author-name",
    "bbp-reply-post-date",
    "byline",
    "comhead",
    "comment-author",
    "comment-date",
    "comment-user",
    "comment_author",
    "comment_date",
    "commentauthor",
    "creator",
    "date",
    "hnuser",
    "ipsComment_author",
    "lia-user-name-link",
    "local-friendly-time",
    "message-attribution",
    "message-author",
    "message-name",
    "nickname",
    "post-author",
    "post-date",
    "post-time",
    "post_author",
    "post_date",
    "postauthor",
    "postdate",
    "postdetails",
    "poster",
    "poster-name",
    "relative-time",
    "relativetime",
    "timestamp",
    "topic-author",
    "user-details",
    "user-name",
    "username",
];

/// Names of comments that do not say so.
const COMMENTS: [&str; 16] = [
    "commentlist",
    "disqus_thread",
    "dsq-content",
    "echo-item",
    "fb-comments",
    "idc-container",
    "js-kit-comments",
    "livefyre",
    "pingback",
    "pingbacks",
    "responses",
    "trackback",
    "trackbacks",
    "wpdcom",
    "wpd-thread-list",
    "wp-discuz",
];

static COMMENTED: Names = Names::new(&COMMENTS);

/// Whether a class or id is one of comments, or of one of them: `comments`, `comment-body`, `post-comments`.
pub(super) fn names_comments(token: &str) -> bool {
    let bytes = token.as_bytes();
    let last = bytes.len().saturating_sub(6);
    let is_here = |at: &usize| {
        bytes[*at] | 0x20 == b'c' && bytes[at + 1..at + 7].eq_ignore_ascii_case(b"omment")
    };
    let Some(at) = (0..last).find(is_here) else {
        return COMMENTED.contain(token);
    };
    let (before, after) = (&token[..at], &token[at + 7..]);
    let rest = after.strip_prefix(['s', 'S']).unwrap_or(after);
    let is_part = before.is_empty() || before.ends_with(['-', '_']) || bytes[at] == b'C';
    let before = before.trim_matches(['-', '_']);
    let rest = rest.trim_start_matches(['-', '_']);
    let begins = |word: &&str| {
        let head = rest.get(..word.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(word))
    };
    is_part
        && !NO_COMMENTS
            .iter()
            .any(|word| before.eq_ignore_ascii_case(word))
        && (rest.is_empty()
            || rest.starts_with(|c: char| c.is_ascii_digit())
            || PARTS_OF_COMMENTS.iter().any(begins))
}

/// What stands before `comment` in names of other things.
const NO_COMMENTS: [&str; 13] = [
    "allow", "fa", "has", "hide", "hl", "hljs", "icon", "no", "open", "show", "token", "with",
    "without",
];

/// What follows on `comment` or `comments` in the names of comments.
const PARTS_OF_COMMENTS: [&str; 36] = [
    "area",
    "author",
    "avatar",
    "block",
    "body",
    "box",
    "by",
    "container",
    "content",
    "copy",
    "data",
    "date",
    "div",
    "entry",
    "form",
    "frame",
    "header",
    "holder",
    "info",
    "inner",
    "item",
    "list",
    "main",
    "meta",
    "name",
    "post",
    "repl",
    "resp",
    "row",
    "section",
    "tab",
    "text",
    "thread",
    "time",
    "tree",
    "wrap",
];

/// Whether the element's id is one of comments.
pub(in crate::markdown) fn is_comment(attributes: &Attributes<'_>) -> bool {
    attributes.raw("id").is_some_and(names_comments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_told_by_whole_words() {
        for name in [
            "comments",
            "Comment",
            "comment-12",
            "comment_body",
            "post-comments",
            "postComment",
            "comments-area",
            "commentlist",
            "disqus_thread",
        ] {
            assert!(names_comments(name), "{name}");
        }
        for name in [
            "",
            "commentary",
            "uncomment",
            "no-comments",
            "hljs-comment",
            "token-comment",
            "comment-policy",
            "comet",
            "recommend",
        ] {
            assert!(!names_comments(name), "{name}");
        }
    }
}
