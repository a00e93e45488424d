//! What a page says of itself: `<title>`, `<meta>`, `<link>`, `<time>`, the language and JSON-LD. Collects while the
//! page is read and decides at its end, because the better source may come later. `<meta>` counts by any of `name`,
//! `property`, `itemprop` and `http-equiv`, without regard to case; the first of one name wins.
//!
//! | field | sources, the first that says something wins |
//! |---|---|
//! | title | `<title>`; `og:title`; `twitter:title`; JSON-LD headline, then name; the first heading |
//! | description | `description`; `og:description`; `twitter:description`; `dc.description`; JSON-LD |
//! | author | `author` and its kin; JSON-LD author, then creator; `article:author` if no address; `twitter:creator` |
//! | site name | `og:site_name`; `application-name`; JSON-LD WebSite, then publisher |
//! | published | `article:published_time` and its kin; `datePublished`; JSON-LD; parsely, sailthru, Dublin Core, `date`; `<time>` marked as such |
//! | modified | `article:modified_time` and its kin; `dateModified`; JSON-LD; `last-modified`; `<time>` marked as such |
//! | language | `<html lang>`; `content-language`; `og:locale`; JSON-LD inLanguage; only what looks like a language tag |
//! | canonical | `<link rel=canonical>`; `og:url` |
//! | image | `og:image`; `twitter:image`; JSON-LD image; `<link rel=image_src>` |
//! | favicon | `<link rel=icon>`; `<link rel=apple-touch-icon>`; never the guess `/favicon.ico`, which nobody has seen |
//! | type | `og:type`; the type of the JSON-LD item that the page is about |
//! | keywords | `keywords`, then `news_keywords`, then JSON-LD; and each `article:tag` |
//! | next, previous | `<link rel>`; `<a rel>` |
//! | markdown | `<link rel=alternate type=text/markdown>` |
//!
//! Addresses are absolute and of http or https. Dates are ISO 8601 where they can be read in one way only.

use url::Url;

use super::Metadata;
use super::attributes::Attributes;
use super::dates;
use super::injection;
use super::json_ld::JsonLd;
use super::links::Links;
use super::outline::Outline;
use super::scripts::{Scripts, within};
use super::select::hints::{Head, Hints};
use super::tag::Tag;

/// No field is longer; a description beyond it is no description.
const FIELD_BYTES_MAX: usize = 4096;
const FIELDS_MAX: usize = 200;
const NOSCRIPT_BYTES_MAX: usize = 256 * 1024;
const HIDDEN_BYTES_MAX: usize = 64 * 1024;
const COMMENTS_MAX: usize = 16;
const COMMENT_BYTES_MAX: usize = 1_024;
const KEYWORDS_MAX: usize = 50;

/// What robots meta tags may call us by.
const AGENT: &str = env!("CARGO_PKG_NAME");

const TITLE: &[&str] = &["og:title", "twitter:title"];
const DESCRIPTION: &[&str] = &[
    "description",
    "og:description",
    "twitter:description",
    "dc.description",
    "dcterms.description",
];
const AUTHOR: &[&str] = &[
    "author",
    "dc.creator",
    "dcterms.creator",
    "parsely-author",
    "sailthru.author",
    "citation_author",
    "byl",
];
const SITE_NAME: &[&str] = &["og:site_name", "application-name"];
const PUBLISHED: &[&str] = &[
    "article:published_time",
    "article:published",
    "og:published_time",
    "og:article:published_time",
    "datepublished",
];
const PUBLISHED_TOO: &[&str] = &[
    "parsely-pub-date",
    "sailthru.date",
    "dc.date.issued",
    "dcterms.issued",
    "dc.date",
    "dcterms.date",
    "dc.date.created",
    "dcterms.created",
    "citation_publication_date",
    "citation_date",
    "date",
    "pubdate",
    "publishdate",
    "publish-date",
    "publish_date",
    "publication_date",
    "cxenseparse:recs:publishtime",
];
const MODIFIED: &[&str] = &[
    "article:modified_time",
    "article:modified",
    "og:updated_time",
    "og:article:modified_time",
    "datemodified",
];
const MODIFIED_TOO: &[&str] = &[
    "dcterms.modified",
    "dc.date.modified",
    "last-modified",
    "revised",
];
const IMAGE: &[&str] = &[
    "og:image",
    "og:image:url",
    "og:image:secure_url",
    "twitter:image",
    "twitter:image:src",
    "image",
];
const KEYWORDS: &[&str] = &["keywords", "news_keywords", "parsely-tags"];

#[derive(Debug, Default)]
pub(super) struct Collected {
    title: String,
    titles: u32,
    language: Option<String>,
    links: HeadLinks,
    /// Name (lower case) and content, in page order.
    fields: Vec<(String, String)>,
    /// Of `<time>` elements that say what they are.
    published: Option<String>,
    modified: Option<String>,
    pub(super) scripts: Scripts,
    /// Read from the scripts at the page's end.
    pub(super) json_ld: JsonLd,
    /// The markup in all `<noscript>` elements, as far as it fits.
    pub(super) noscript: String,
    /// Text of hidden elements that is in no block.
    pub(super) hidden: String,
    /// Beginnings of the comments that may be addressed to an AI system, as far as they fit.
    pub(super) comments: Vec<String>,
    pub(super) password_fields: u32,
    /// The page ends inside an element that is left out: it was cut, or an end tag is missing.
    pub(super) is_broken_off: bool,
}

#[derive(Debug, Default)]
struct HeadLinks {
    canonical: Option<String>,
    icon: Option<String>,
    touch_icon: Option<String>,
    image: Option<String>,
    next: Option<String>,
    previous: Option<String>,
    markdown: Option<String>,
}

impl Collected {
    pub(super) fn html(&mut self, attributes: &Attributes<'_>) {
        let language = attributes
            .get("lang")
            .or_else(|| attributes.get("xml:lang"));
        if self.language.is_none() {
            self.language = language.and_then(language_tag);
        }
    }

    pub(super) fn meta(&mut self, attributes: &Attributes<'_>) {
        if self.fields.len() >= FIELDS_MAX {
            return;
        }
        let Some(content) = attributes.get("content").and_then(clean) else {
            return;
        };
        for key in ["name", "property", "itemprop", "http-equiv"] {
            if let Some(name) = attributes.get(key) {
                let name = name.trim().to_ascii_lowercase();
                self.fields.push((name, content.clone()));
            }
        }
    }

    pub(super) fn link(&mut self, attributes: &Attributes<'_>) {
        let (Some(rel), Some(href)) = (attributes.get("rel"), attributes.get("href")) else {
            return;
        };
        for token in rel.split_ascii_whitespace() {
            let place = match token.to_ascii_lowercase().as_str() {
                "canonical" => &mut self.links.canonical,
                "icon" => &mut self.links.icon,
                "apple-touch-icon" | "apple-touch-icon-precomposed" => &mut self.links.touch_icon,
                "image_src" => &mut self.links.image,
                "next" => &mut self.links.next,
                "prev" | "previous" => &mut self.links.previous,
                "alternate" if is_markdown(attributes) => &mut self.links.markdown,
                _ => continue,
            };
            if place.is_none() {
                *place = clean(&href);
            }
        }
    }

    pub(super) fn time(&mut self, attributes: &Attributes<'_>) {
        let kind = attributes.get("itemprop").unwrap_or_default();
        let class = attributes.get("class").unwrap_or_default();
        let is = |wanted: &str| {
            let mut tokens = kind
                .split_ascii_whitespace()
                .chain(class.split_ascii_whitespace());
            tokens.any(|token| token.eq_ignore_ascii_case(wanted))
        };
        let place =
            if attributes.get("pubdate").is_some() || is("datePublished") || is("dt-published") {
                &mut self.published
            } else if is("dateModified") || is("dt-updated") {
                &mut self.modified
            } else {
                return;
            };
        if place.is_none() {
            *place = attributes.get("datetime").and_then(clean);
        }
    }

    pub(super) fn input(&mut self, attributes: &Attributes<'_>) {
        let kind = attributes.get("type");
        if kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("password")) {
            self.password_fields += 1;
        }
    }

    /// An element begins whose content is not text of the page.
    pub(super) fn skipped(&mut self, tag: Tag, attributes: &Attributes<'_>) {
        match tag {
            Tag::Title => self.titles += 1,
            Tag::Noscript => self.noscript.push('\n'),
            Tag::Script => self.scripts.begin(attributes),
            _ => {}
        }
    }

    /// Text of an element that is left out.
    pub(super) fn skipped_text(&mut self, tag: Tag, text: &str) {
        let is_hidden = !tag.is_skipped() && tag != Tag::Button;
        if tag == Tag::Title && self.titles == 1 && self.title.len() < FIELD_BYTES_MAX {
            self.title.push_str(text);
        } else if is_hidden && self.hidden.len() + text.len() <= HIDDEN_BYTES_MAX {
            // What is hidden from readers is not hidden from an agent that is given the source.
            self.hidden.push_str(text);
        }
    }

    pub(super) fn comment(&mut self, text: &str) {
        let text = within("", text, COMMENT_BYTES_MAX);
        if self.comments.len() < COMMENTS_MAX && injection::may_address_models(text) {
            self.comments.push(text.to_owned());
        }
    }

    pub(super) fn noscript_text(&mut self, text: &str) {
        let text = within(&self.noscript, text, NOSCRIPT_BYTES_MAX);
        self.noscript.push_str(text);
    }

    /// The page has ended.
    pub(super) fn finish(&mut self, is_broken_off: bool) {
        self.is_broken_off = is_broken_off;
        self.json_ld = JsonLd::read(&self.scripts.json_ld);
    }

    /// Whether a `<noscript>` asks the reader to turn scripts on.
    pub(super) fn asks_for_scripts(&self) -> bool {
        self.noscript.to_ascii_lowercase().contains("javascript")
    }

    /// The page's own title, as `<title>` gives it.
    pub(super) fn title(&self) -> Option<String> {
        clean(&self.title)
    }

    /// A title for text that comes without one: without the site's name where the page gives it so.
    pub(super) fn headline(&self) -> Option<String> {
        let headline = self.json_ld.headline.clone();
        headline
            .or_else(|| self.first(TITLE))
            .or_else(|| self.title())
    }

    pub(super) fn description(&self) -> Option<String> {
        self.first(DESCRIPTION)
            .or_else(|| self.json_ld.description.clone())
    }

    /// Whether the page says by `<meta>` that it is not for everybody.
    pub(super) fn is_locked(&self) -> bool {
        self.first(&["article:content_tier"])
            .is_some_and(|tier| tier.eq_ignore_ascii_case("locked"))
    }

    /// Directives of `<meta name="robots">` and of the same under our own name, lower case.
    pub(super) fn robots(&self) -> Vec<String> {
        let mut directives: Vec<String> = Vec::new();
        let is_for_us = |name: &str| name == "robots" || name == AGENT;
        for (_, content) in self.fields.iter().filter(|(name, _)| is_for_us(name)) {
            for directive in content.split(',') {
                let directive = directive.trim().to_ascii_lowercase();
                if !directive.is_empty() && !directives.contains(&directive) {
                    directives.push(directive);
                }
            }
        }
        directives
    }

    /// What the selection asks.
    pub(super) fn hints(&self, url: &Url) -> Hints {
        let text = |names: &[&str]| self.first(names).unwrap_or_default();
        let json_ld = &self.json_ld;
        let description = self.description().unwrap_or_default();
        let all = [
            &description,
            json_ld.description.as_deref().unwrap_or_default(),
        ];
        Hints::new(&Head {
            url,
            title: &self.title,
            headline: &text(&["og:title", "twitter:title"]),
            description: &description,
            descriptions: &all.join(". "),
            body: json_ld.article_body.as_deref().unwrap_or_default(),
            kind: &text(&["og:type"]),
            generator: &text(&["generator"]),
            types: &json_ld.types.join(" "),
        })
    }

    pub(super) fn decide(
        &self,
        links: &Links,
        outline: &Outline,
        first_heading: Option<&str>,
    ) -> Metadata {
        let json_ld = &self.json_ld;
        let absolute =
            |href: &Option<String>| href.as_deref().and_then(|href| links.metadata(href));
        let date = |found: Option<String>| found.map(|text| dates::normalised(&text));
        Metadata {
            title: self
                .title()
                .or_else(|| self.first(TITLE))
                .or_else(|| json_ld.headline.clone())
                .or_else(|| json_ld.name.clone())
                .or_else(|| first_heading.map(str::to_owned)),
            description: self.description(),
            author: self.author(),
            site_name: self
                .first(SITE_NAME)
                .or_else(|| json_ld.site.clone())
                .or_else(|| json_ld.publisher.clone()),
            published_at: date(
                self.first(PUBLISHED)
                    .or_else(|| json_ld.published_at.clone())
                    .or_else(|| self.first(PUBLISHED_TOO))
                    .or_else(|| self.published.clone()),
            ),
            modified_at: date(
                self.first(MODIFIED)
                    .or_else(|| json_ld.modified_at.clone())
                    .or_else(|| self.first(MODIFIED_TOO))
                    .or_else(|| self.modified.clone()),
            ),
            language: self
                .language
                .clone()
                .or_else(|| language_tag(self.first(&["content-language"])?))
                .or_else(|| language_tag(self.first(&["og:locale"])?))
                .or_else(|| language_tag(json_ld.language.clone()?)),
            canonical_url: absolute(&self.links.canonical)
                .or_else(|| absolute(&self.first(&["og:url"]))),
            image: absolute(&self.first(IMAGE))
                .or_else(|| absolute(&json_ld.image))
                .or_else(|| absolute(&self.links.image)),
            favicon: absolute(&self.links.icon).or_else(|| absolute(&self.links.touch_icon)),
            kind: self.first(&["og:type"]).or_else(|| json_ld.subject.clone()),
            keywords: self.keywords(),
            next: absolute(&self.links.next).or_else(|| related(outline, &["next"])),
            previous: absolute(&self.links.previous)
                .or_else(|| related(outline, &["prev", "previous"])),
            markdown_alternate: absolute(&self.links.markdown),
            json_ld_types: json_ld.types.clone(),
        }
    }

    fn author(&self) -> Option<String> {
        let listed: Vec<&str> = self
            .fields
            .iter()
            .filter(|(name, _)| name == "citation_author" || name == "dc.creator")
            .map(|(_, content)| content.as_str())
            .take(KEYWORDS_MAX)
            .collect();
        // Facebook wants the address of a profile in `article:author`, which names nobody.
        let is_name = |name: &String| {
            let is_address =
                name.starts_with("http") || (name.contains('@') && !name.contains(' '));
            !is_address && !name.eq_ignore_ascii_case("admin")
        };
        let joined = |names: &[String]| (!names.is_empty()).then(|| names.join(", "));
        let author = (listed.len() > 1)
            .then(|| listed.join(", "))
            .or_else(|| self.first(AUTHOR).filter(is_name))
            .or_else(|| joined(&self.json_ld.authors))
            .or_else(|| self.first(&["article:author"]).filter(is_name))
            .or_else(|| self.first(&["twitter:creator"]));
        author.map(without_by)
    }

    fn keywords(&self) -> Vec<String> {
        let mut keywords: Vec<String> = Vec::new();
        let tags = self
            .fields
            .iter()
            .filter(|(name, _)| name == "article:tag")
            .map(|(_, content)| content.as_str());
        let listed = match self.first(KEYWORDS) {
            Some(listed) => vec![listed],
            None => self.json_ld.keywords.clone(),
        };
        let listed = listed
            .iter()
            .flat_map(|list| list.split([',', '，', '、', ';']));
        for keyword in listed.chain(tags) {
            let keyword = keyword.trim();
            if !keyword.is_empty()
                && keywords.len() < KEYWORDS_MAX
                && !keywords.iter().any(|known| known == keyword)
            {
                keywords.push(keyword.to_owned());
            }
        }
        keywords
    }

    /// The first field under the first of these names that is there at all.
    fn first(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|wanted| {
            let (_, content) = self.fields.iter().find(|(name, _)| name == wanted)?;
            Some(content.clone())
        })
    }
}

/// The word before a byline is no part of the name.
fn without_by(author: String) -> String {
    match author.split_at_checked(3) {
        Some((by, name)) if by.eq_ignore_ascii_case("by ") => name.trim_start().to_owned(),
        _ => author,
    }
}

fn is_markdown(attributes: &Attributes<'_>) -> bool {
    let kind = attributes.get("type").unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    ["text/markdown", "text/x-markdown"]
        .iter()
        .any(|known| kind.eq_ignore_ascii_case(known))
}

/// Where the first link of the text leads that has one of these relations.
fn related(outline: &Outline, wanted: &[&str]) -> Option<String> {
    let is_related = |rel: &str| {
        let mut tokens = rel.split_ascii_whitespace();
        tokens.any(|token| wanted.iter().any(|known| token.eq_ignore_ascii_case(known)))
    };
    let found = outline
        .links
        .iter()
        .find(|link| is_related(outline.label(link.rel)))?;
    let url = &outline.text[found.url.range()];
    url.starts_with("http").then(|| url.to_owned())
}

/// `en_US` and `EN` too are written by many; `{{ lang }}` is no language.
fn language_tag(text: impl AsRef<str>) -> Option<String> {
    let text = text
        .as_ref()
        .split(',')
        .next()
        .unwrap_or_default()
        .trim()
        .replace('_', "-");
    let mut parts = text.split('-');
    let is_tag = parts.next().is_some_and(|first| {
        (2..=3).contains(&first.len()) && first.bytes().all(|byte| byte.is_ascii_alphabetic())
    }) && parts.all(|part| {
        (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    is_tag.then_some(text)
}

/// White space joined; nothing when nothing is left or when it is too long to be what it claims.
pub(super) fn clean(text: impl AsRef<str>) -> Option<String> {
    let text = text.as_ref();
    if text.len() > FIELD_BYTES_MAX {
        return None;
    }
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::super::{ContentKind, Converter, Settings};
    use super::*;

    fn metadata(html: &str) -> Metadata {
        let mut converter = Converter::new(Settings {
            kind: ContentKind::Html,
            url: Url::parse("https://example.org/docs/page").expect("a valid URL"),
            charset: None,
            full: false,
        });
        let html = format!("{html}<body><p>Text of the page.");
        converter.push(html.as_bytes()).expect("HTML");
        converter.finish().expect("a page").metadata
    }

    fn check_published(html: &str, expected: &str) {
        assert_eq!(
            metadata(html).published_at.as_deref(),
            Some(expected),
            "{html}"
        );
    }

    #[test]
    fn dates_are_found_under_many_names() {
        check_published(
            "<meta property=article:published_time content='2024-05-06T07:08:09+0200'>",
            "2024-05-06T07:08:09+02:00",
        );
        check_published(
            "<meta itemprop=datePublished content='May 6, 2024'>",
            "2024-05-06",
        );
        check_published("<meta name=DC.date content=20240506>", "2024-05-06");
        check_published(
            "<meta name=parsely-pub-date content=2024-05-06>",
            "2024-05-06",
        );
        check_published(
            "<meta name=sailthru.date content='Mon, 06 May 2024 10:00:00 GMT'>",
            "2024-05-06T10:00:00Z",
        );
        check_published(
            "<body><time datetime=2024-05-06 pubdate>yesterday</time>",
            "2024-05-06",
        );
        check_published(
            "<body><time itemprop='a datePublished' datetime=2024-05-06>",
            "2024-05-06",
        );
        check_published("<meta name=date content=05/06/2024>", "05/06/2024");
        assert_eq!(
            metadata("<body><time datetime=2024-05-06>").published_at,
            None
        );
        let modified =
            metadata("<body><time itemprop=dateModified datetime=2024-05-07>").modified_at;
        assert_eq!(modified.as_deref(), Some("2024-05-07"));
    }

    #[test]
    fn the_better_source_wins_wherever_it_stands() {
        let html = "<meta name=date content=2020-01-01><script type=application/ld+json>{\"@type\":\"Article\",\
            \"datePublished\":\"2021-01-01\",\"headline\":\"H\",\"author\":{\"name\":\"Ann\"},\"description\":\"D\",\
            \"image\":\"/j.png\",\"publisher\":{\"name\":\"P\"},\"keywords\":\"a, b\",\"inLanguage\":\"de\"}</script>";
        let found = metadata(html);
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(found.published_at, some("2021-01-01"));
        assert_eq!(found.title, some("H"));
        assert_eq!(found.author, some("Ann"));
        assert_eq!(found.description, some("D"));
        assert_eq!(found.image, some("https://example.org/j.png"));
        assert_eq!(found.site_name, some("P"));
        assert_eq!(found.keywords, ["a", "b"]);
        assert_eq!(found.language, some("de"));
        assert_eq!(found.kind, some("Article"));
        assert_eq!(found.json_ld_types, ["Article"]);
        let html = format!(
            "{html}<meta name=author content=Bo><meta property=article:published_time content=2022-01-01>"
        );
        let found = metadata(&html);
        assert_eq!(
            (found.author, found.published_at),
            (some("Bo"), some("2022-01-01"))
        );
    }

    #[test]
    fn authors_are_names() {
        let author = |html: &str| metadata(html).author;
        assert_eq!(author("<meta name=author content=admin>"), None);
        assert_eq!(author("<meta name=author content=ann@example.org>"), None);
        let byline = author("<meta name=author content='By Ann'>");
        assert_eq!(byline.as_deref(), Some("Ann"));
        assert_eq!(
            author("<meta property=article:author content=https://example.com/ann>"),
            None
        );
        let two =
            "<meta name=citation_author content='Lee, Ann'><meta name=citation_author content=Bo>";
        assert_eq!(author(two).as_deref(), Some("Lee, Ann, Bo"));
    }

    #[test]
    fn languages_are_tags() {
        let language = |html: &str| metadata(html).language;
        assert_eq!(
            language("<html lang='{{ lang }}'><meta property=og:locale content=pt_BR>").as_deref(),
            Some("pt-BR")
        );
        assert_eq!(
            language("<meta http-equiv=Content-Language content='de, en'>").as_deref(),
            Some("de")
        );
        assert_eq!(language("<html lang=english>"), None);
    }

    #[test]
    fn related_addresses_are_absolute_and_of_the_web() {
        let found = metadata(
            "<link rel=next href=?page=3><link rel=prev href=?page=1><link rel=canonical href=javascript:x>\
             <meta property=og:url content=//example.org/c><link rel=alternate type='text/markdown; charset=utf-8' href=page.md>\
             <link rel=alternate type=application/rss+xml href=/feed><link rel=apple-touch-icon href=/t.png>",
        );
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(found.next, some("https://example.org/docs/page?page=3"));
        assert_eq!(found.previous, some("https://example.org/docs/page?page=1"));
        assert_eq!(found.canonical_url, some("https://example.org/c"));
        assert_eq!(
            found.markdown_alternate,
            some("https://example.org/docs/page.md")
        );
        assert_eq!(found.favicon, some("https://example.org/t.png"));
        let found = metadata("<body><a rel='nofollow next' href=/2>Next</a>");
        assert_eq!(found.next, some("https://example.org/2"));
        assert_eq!((found.previous, found.favicon), (None, None));
    }
}
