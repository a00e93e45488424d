//! Names of the parts of a discussion: a post, its text, its author and its date, as schema.org and the common forum
//! engines give them to elements.

use super::super::tag::Tag;
use super::names::Found;
use super::{Attributes, decoded};

/// What an element is to a discussion. None of it is sure alone: a post is one when it has an author.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::markdown) struct TalkSigns {
    pub(in crate::markdown) is_post: bool,
    /// The text of a post.
    pub(in crate::markdown) is_body: bool,
    /// The signature of a post's author, or what repeats the post before.
    pub(in crate::markdown) is_signature: bool,
    /// The text of a remark on a post, which is less than a post.
    pub(in crate::markdown) is_remark: bool,
    pub(in crate::markdown) is_author: bool,
    pub(in crate::markdown) is_date: bool,
    /// The author or the date is marked by schema.org's vocabulary, which means this and nothing else.
    pub(in crate::markdown) is_microdata: bool,
}

pub(super) const POSTS: [&str; 47] = [
    "answer",
    "athing",
    "b-post",
    "blockpost",
    "comment",
    "comment-item",
    "comment-node",
    "comment-wrapper",
    "comments__list-item",
    "comtr",
    "crawler-post",
    "discussion-comment",
    "discussion-post",
    "entry",
    "fatitem",
    "firstPost",
    "forum-post",
    "forum-reply",
    "ipsComment",
    "ipsEntry",
    "ItemComment",
    "ItemDiscussion",
    "js-comment",
    "lia-message-view-wrapper",
    "message",
    "message--post",
    "msg",
    "note",
    "post",
    "post-article",
    "post-box",
    "post-container",
    "post-wrapper",
    "post_wrapper",
    "postbit",
    "postbitlegacy",
    "postbox",
    "postcontainer",
    "question",
    "react-issue-body",
    "react-issue-comment",
    "reply",
    "thread-post",
    "timeline-comment",
    "topic-post",
    "type-reply",
    "type-topic",
];

pub(super) const BODIES: [&str; 32] = [
    "bbp-reply-content",
    "bbp-topic-content",
    "bbWrapper",
    "comment-content",
    "comment__content",
    "comment__text",
    "comment_text",
    "commentBody",
    "comments__list-item__text",
    "commtext",
    "cooked",
    "js-post-body",
    "js-post__content-text",
    "lia-message-body-content",
    "markdown-body",
    "md-div",
    "messageContent",
    "messageText",
    "msg_text",
    "note-text",
    "post-body",
    "post-content",
    "post-message",
    "post-text",
    "post_body",
    "post_content",
    "postcontent",
    "postmsg",
    "s-prose",
    "toptext",
    "userContent",
    "usertext-body",
];

pub(super) const SIGNATURES: [&str; 8] = [
    "message-signature",
    "postsignature",
    "sig",
    "sigbody",
    "signature",
    "signature-container",
    "post-sig",
    "user-signature",
];

pub(super) const REMARKS: [&str; 1] = ["comment-copy"];

pub(super) const AUTHORS: [&str; 45] = [
    "author",
    "author-link",
    "author-name",
    "author-name-link",
    "author_information",
    "author_name",
    "authorname",
    "bbp-author-name",
    "bigusername",
    "by",
    "byline",
    "cAuthorPane_author",
    "comment-author",
    "comment-user",
    "comment_author",
    "commentauthor",
    "creator",
    "display-name",
    "fn",
    "hnuser",
    "ipsEntry__username",
    "lia-user-name-link",
    "message-author",
    "message-name",
    "nickname",
    "note-header-author-name",
    "p-author",
    "person-listing",
    "post-author",
    "post_author",
    "postauthor",
    "poster",
    "postleft",
    "PostUser-name",
    "screen-name",
    "thread-user-name",
    "topic-author",
    "u-author",
    "user-details",
    "user-link",
    "user-name",
    "user_name",
    "userlink",
    "username",
    "username-coloured",
];

pub(super) const DATES: [&str; 31] = [
    "age",
    "bbp-reply-post-date",
    "comment-date",
    "comment-time",
    "comment_date",
    "commentdate",
    "date",
    "DateTime",
    "datetime",
    "dt-published",
    "local-friendly-time",
    "message-date",
    "moment-time",
    "otherdetails",
    "post-date",
    "post-time",
    "post_date",
    "post_time",
    "postdate",
    "posted",
    "posted-on",
    "postTime",
    "published",
    "relative-date",
    "relative-time",
    "relativetime",
    "relativetime-clean",
    "timeago",
    "timestamp",
    "topic-date",
    "u-dt",
];

impl TalkSigns {
    /// What one of an element's classes says; the lists begin at `first`.
    pub(super) fn add_class(&mut self, found: Found, first: usize) {
        let signs = [
            &mut self.is_post,
            &mut self.is_body,
            &mut self.is_signature,
            &mut self.is_remark,
            &mut self.is_author,
            &mut self.is_date,
        ];
        for (at, sign) in signs.into_iter().enumerate() {
            *sign |= found.is_in(first + at);
        }
    }

    fn add_property(&mut self, value: &str) {
        for property in value.split_ascii_whitespace().take(3) {
            match property {
                "text" | "articleBody" | "commentText" => {
                    self.is_body = true;
                    // A class may call the text of a post a post.
                    self.is_post = false;
                }
                "author" | "creator" => (self.is_author, self.is_microdata) = (true, true),
                "datePublished" | "dateCreated" => {
                    (self.is_date, self.is_microdata) = (true, true);
                }
                "dateModified" => self.is_date = false,
                "comment" | "suggestedAnswer" | "acceptedAnswer" => self.is_post = true,
                _ => {}
            }
        }
    }

    fn add_component(&mut self, value: &str) {
        self.is_post |= value == "post";
        self.is_body |= value == "post/content";
        self.is_signature |= value.starts_with("post/parent") || value == "post/signature";
    }
}

/// What an element is to a discussion; `class` is what its classes say.
pub(in crate::markdown) fn talk_signs(
    tag: Tag,
    attributes: &Attributes<'_>,
    class: TalkSigns,
) -> TalkSigns {
    const ITEMS: [&str; 5] = [
        "/Comment",
        "/Answer",
        "/Question",
        "/DiscussionForumPosting",
        "/UserComments",
    ];
    let mut signs = class;
    signs.is_date |= tag == Tag::Time;
    for (name, value) in attributes.iter() {
        match name.len() {
            2 if name.eq_ignore_ascii_case("id") => {
                let number = |prefix: &str| {
                    let rest = value.strip_prefix(prefix);
                    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
                };
                signs.is_body |= number("post_message_") || number("msg_");
                signs.is_post |= tag == Tag::Table && number("post");
            }
            8 if name.eq_ignore_ascii_case("itemprop") => signs.add_property(value),
            8 if name.eq_ignore_ascii_case("itemtype") => {
                signs.is_post |= ITEMS.iter().any(|item| value.trim_end().ends_with(item));
            }
            9 if name.eq_ignore_ascii_case("component") => signs.add_component(value),
            9 if name.eq_ignore_ascii_case("data-role") => {
                signs.is_body |= value == "commentContent";
            }
            11 if name.eq_ignore_ascii_case("data-testid") => {
                signs.is_author |= matches!(value, "issue-body-header-author" | "avatar-link");
            }
            _ => {}
        }
    }
    signs
}

/// The author that is named in a post's own attributes.
pub(in crate::markdown) fn author_of_post(attributes: &Attributes<'_>) -> Option<String> {
    const NAMES: [&str; 4] = [
        "data-author",
        "data-username",
        "data-author-username",
        "author",
    ];
    let names = NAMES.iter();
    let value = names.filter_map(|name| attributes.get(name)).next()?;
    Some(value.into_owned())
}

/// The attributes that may hold the date of the element, in the order in which they are believed.
pub(in crate::markdown) fn date_of<'a>(
    attributes: &Attributes<'a>,
) -> impl Iterator<Item = std::borrow::Cow<'a, str>> {
    const NAMES: [&str; 7] = [
        "datetime",
        "content",
        "title",
        "data-time",
        "ts",
        "data-tippy-content",
        "data-timestamp",
    ];
    NAMES
        .into_iter()
        .filter_map(|name| attributes.raw(name))
        .map(decoded)
}

#[cfg(test)]
mod tests {
    use super::super::ClassSigns;
    use super::super::tests::with;
    use super::*;

    fn signs(tag: Tag, pairs: &[(&str, &str)]) -> TalkSigns {
        with(pairs, |attributes| {
            let class = ClassSigns::of(attributes.raw("class").unwrap_or_default());
            talk_signs(tag, attributes, class.talk)
        })
    }

    #[test]
    fn engines_mark_posts_in_many_ways() {
        let is_post = |tag, pairs: &[(&str, &str)]| signs(tag, pairs).is_post;
        assert!(is_post(
            Tag::Article,
            &[("class", "message message--post js-post")]
        ));
        assert!(is_post(
            Tag::Division,
            &[("itemtype", "https://schema.org/Answer")]
        ));
        assert!(is_post(Tag::Item, &[("component", "post")]));
        assert!(is_post(Tag::Table, &[("id", "post123")]));
        assert!(!is_post(Tag::Division, &[("id", "post123")]));
        assert!(!is_post(Tag::Division, &[("class", "poster message-body")]));
        // Discourse calls the text of a post so.
        let text = signs(Tag::Division, &[("class", "post"), ("itemprop", "text")]);
        assert!(text.is_body && !text.is_post);
    }

    #[test]
    fn authors_and_dates_are_told_by_class_and_property() {
        assert!(signs(Tag::Inline, &[("class", "hnuser")]).is_author);
        let author = signs(Tag::Inline, &[("itemprop", "author")]);
        assert!(author.is_author && author.is_microdata);
        assert!(signs(Tag::Time, &[]).is_date);
        assert!(!signs(Tag::Time, &[("itemprop", "dateModified")]).is_date);
        assert!(!signs(Tag::Inline, &[("class", "authority update")]).is_author);
    }

    #[test]
    fn values_are_taken_from_attributes() {
        let author = |pairs: &[(&str, &str)]| with(pairs, author_of_post);
        assert_eq!(
            author(&[("data-author", "a&amp;b")]),
            Some("a&b".to_owned())
        );
        assert_eq!(author(&[("class", "post")]), None);
        let dates = with(
            &[("title", "x"), ("datetime", "2024-05-01")],
            |attributes| date_of(attributes).map(String::from).collect::<Vec<_>>(),
        );
        assert_eq!(dates, ["2024-05-01", "x"]);
    }
}
