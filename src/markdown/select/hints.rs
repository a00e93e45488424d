//! What a page's head and address say about its kind and its title, as far as the selection asks.

use url::Url;

use super::scale::{byte, count};
use crate::markdown::counts::{Grams, sketch};

#[derive(Clone, Debug, Default)]
pub(in crate::markdown) struct Hints {
    /// Sketches of the page's title, of its headline and of its description.
    pub(in crate::markdown) title: u64,
    pub(in crate::markdown) headline: u64,
    pub(in crate::markdown) description: u64,
    /// Runs of words of the descriptions, and of the texts that the page gives as its own body.
    pub(super) description_grams: Grams,
    pub(super) body_grams: Grams,
    pub(in crate::markdown) is_article: bool,
    /// Made by a generator of reference pages.
    pub(in crate::markdown) is_reference: bool,
    /// The address says that it is documentation.
    pub(in crate::markdown) is_documentation: bool,
    /// A forum's thread or a question with its answers.
    pub(in crate::markdown) is_talk: bool,
    pub(in crate::markdown) is_product: bool,
    bytes: Vec<(&'static str, u8)>,
}

/// What is known of a page beside its blocks.
#[derive(Clone, Copy, Debug)]
pub(in crate::markdown) struct Head<'a> {
    pub(in crate::markdown) url: &'a Url,
    pub(in crate::markdown) title: &'a str,
    pub(in crate::markdown) headline: &'a str,
    pub(in crate::markdown) description: &'a str,
    /// Every description that the page gives, in its `<meta>` and in JSON-LD.
    pub(in crate::markdown) descriptions: &'a str,
    /// What JSON-LD gives as the body.
    pub(in crate::markdown) body: &'a str,
    /// `og:type`.
    pub(in crate::markdown) kind: &'a str,
    pub(in crate::markdown) generator: &'a str,
    /// `@type` of the page's JSON-LD, white space between.
    pub(in crate::markdown) types: &'a str,
}

/// Words of an address or of a head, and the feature that says that one of them is there.
const WORDS: [(&str, Part, &[&str]); 14] = [
    (
        "ld_article",
        Part::Types,
        &["Article", "BlogPosting", "Report"],
    ),
    ("ld_product", Part::Types, &["Product", "Offer"]),
    (
        "ld_forum",
        Part::Types,
        &["DiscussionForum", "QAPage", "Question"],
    ),
    ("ld_list", Part::Types, &["ItemList", "CollectionPage"]),
    ("ld_faq", Part::Types, &["FAQPage", "Recipe"]),
    ("og_article", Part::Kind, &["article"]),
    ("og_product", Part::Kind, &["product"]),
    (
        "url_forum",
        Part::Url,
        &[
            "forum",
            "thread",
            "topic",
            "question",
            "discuss",
            "community",
            "/t/",
            "/r/",
        ],
    ),
    (
        "url_product",
        Part::Url,
        &["product", "shop", "/p/", "/dp/", "item", "store"],
    ),
    (
        "url_list",
        Part::Url,
        &[
            "categor",
            "collection",
            "/tag",
            "search",
            "/list",
            "/c/",
            "browse",
            "/best-",
        ],
    ),
    (
        "url_docs",
        Part::Url,
        &[
            "docs",
            "/doc",
            "guide",
            "reference",
            "/api",
            "help",
            "manual",
            "tutorial",
            "wiki",
            "support",
        ],
    ),
    (
        "url_news",
        Part::Url,
        &["blog", "news", "article", "/20", "story", "post"],
    ),
    (
        "url_service",
        Part::Url,
        &["service", "about", "pricing", "solution", "features"],
    ),
    (
        "made_by_forum",
        Part::Generator,
        &[
            "discourse",
            "vbulletin",
            "phpbb",
            "xenforo",
            "flarum",
            "mybb",
        ],
    ),
];

/// Generators of reference pages, as they name themselves in `<meta name="generator">`.
const REFERENCE_GENERATORS: [&str; 25] = [
    "antora",
    "asciidoc",
    "docbook",
    "docfx",
    "docusaurus",
    "docutils",
    "doxygen",
    "exdoc",
    "ex_doc",
    "gi-docgen",
    "gtk-doc",
    "haddock",
    "javadoc",
    "jdk",
    "makeinfo",
    "texi2any",
    "texi2html",
    "mdbook",
    "mkdocs",
    "pdoc",
    "rustdoc",
    "sphinx",
    "typedoc",
    "vitepress",
    "yard",
];

/// Hosts on which the comments are the page, or much of it.
const TALK_HOSTS: [&str; 10] = [
    "askubuntu",
    "lemmy",
    "lobste.rs",
    "mastodon",
    "reddit",
    "serverfault",
    "stackexchange",
    "stackoverflow",
    "superuser",
    "ycombinator",
];

/// What stands before the number of a thread in the addresses of trackers.
const THREADS: [&str; 5] = ["discussions", "issues", "merge_requests", "pull", "pulls"];

/// Parts of the names of hosts of trackers. Others are recognised by the `/-/` in their addresses.
const TRACKERS: [&str; 6] = [
    "bitbucket",
    "codeberg",
    "forgejo",
    "gitea",
    "github",
    "gitlab",
];

/// Whether an address is that of a tracker's thread: elsewhere issues are of magazines or of public interest.
fn is_thread(host: &str, path: &str) -> bool {
    let segments: Vec<&str> = path.split('/').collect();
    let has_number = segments.windows(2).any(|pair| {
        let is_number = !pair[1].is_empty() && pair[1].bytes().all(|byte| byte.is_ascii_digit());
        THREADS.contains(&pair[0]) && is_number
    });
    has_number && (TRACKERS.iter().any(|name| host.contains(name)) || segments.contains(&"-"))
}

#[derive(Clone, Copy)]
enum Part {
    Types,
    Kind,
    Url,
    Generator,
}

impl Hints {
    pub(in crate::markdown) fn new(head: &Head<'_>) -> Hints {
        let host = head.url.host_str().unwrap_or("");
        let host = host.strip_prefix("www.").unwrap_or(host);
        let path = head.url.path();
        let address = format!("{host}{path}").to_ascii_lowercase();
        let kind = head.kind.to_ascii_lowercase();
        let generator = head.generator.to_ascii_lowercase();
        let mut bytes: Vec<(&'static str, u8)> = WORDS
            .iter()
            .map(|(name, part, words)| {
                let text = match part {
                    Part::Types => head.types,
                    Part::Kind => &kind,
                    Part::Url => &address,
                    Part::Generator => &generator,
                };
                (
                    *name,
                    u8::from(words.iter().any(|word| text.contains(word))),
                )
            })
            .collect();
        let bytes_of =
            |asked: fn(u8) -> bool| byte(count(path.bytes().filter(|&byte| asked(byte)).count()));
        bytes.extend([
            (
                "url_segments",
                byte(count(
                    path.split('/').filter(|part| !part.is_empty()).count(),
                )),
            ),
            ("url_digits", bytes_of(|byte| byte.is_ascii_digit())),
            ("url_hyphens", bytes_of(|byte| byte == b'-')),
        ]);
        let value = |name: &str| {
            bytes
                .iter()
                .any(|&(other, value)| other == name && value > 0)
        };
        Hints {
            title: sketch(head.title.split(['|', '–', '—', '·']).next().unwrap_or("")),
            headline: sketch(head.headline),
            description: sketch(head.description),
            description_grams: Grams::of(head.descriptions),
            body_grams: Grams::of(head.body),
            is_article: value("ld_article") || value("og_article"),
            is_reference: REFERENCE_GENERATORS
                .iter()
                .any(|name| generator.contains(name)),
            is_documentation: value("url_docs"),
            is_talk: ["ld_forum", "url_forum", "made_by_forum"]
                .into_iter()
                .any(value)
                || TALK_HOSTS.iter().any(|name| host.contains(name))
                || is_thread(host, path),
            is_product: value("ld_product") || value("og_product"),
            bytes,
        }
    }

    pub(super) fn bytes(&self) -> impl Iterator<Item = (&'static str, u8)> + '_ {
        self.bytes.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_those_of_trackers() {
        for (host, path, expected) in [
            ("github.com", "/rust-lang/rust/issues/1", true),
            ("github.com", "/a/b/pull/12/files", true),
            ("github.com", "/a/b/discussions/12", true),
            ("gitlab.example.org", "/a/merge_requests/3", true),
            ("code.example.org", "/a/-/issues/3", true),
            ("github.com", "/a/b/issues", false),
            ("github.com", "/a/b/blob/main/issues/readme.md", false),
            ("aclu.org", "/issues/free-speech", false),
            ("magazine.example", "/issues/2024", false),
        ] {
            assert_eq!(is_thread(host, path), expected, "{host}{path}");
        }
    }
}
