//! What a page says of itself: `<title>`, `<meta>`, `<link>`, `<time>`, the language and JSON-LD. Collects while the
//! page is read and decides at its end, because the better source may come later. `<meta>` counts by any of `name`,
//! `property`, `itemprop` and `http-equiv`, without regard to case; the first of one name wins.
//!
//! | field | sources, the first that says something wins |
//! |---|---|
//! | title | `<title>` without the site's name (below); `og:title`; `twitter:title`; JSON-LD headline, then name; the first heading |
//! | description | `description`; `og:description`; `twitter:description`; `dc.description`; JSON-LD |
//! | author | `author` and its kin; JSON-LD author, then creator; `article:author` if no address; `twitter:creator` if not the site's |
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
//! The part of `<title>` before or behind a mark such as `|` is the title where another source gives just that part, or
//! where the other part is the site's name. Names of authors are joined by commas, or by semicolons where one of them has
//! a comma itself.
//!
//! Addresses are absolute and of http or https. Dates are ISO 8601 where they can be read in one way only, and a day that
//! does not exist is none.

mod decide;
mod json_ld;
mod microdata;
mod names;
#[cfg(test)]
mod tests;

use super::attributes::Attributes;
use super::injection;
use super::links::Links;
use super::scripts::{Scripts, within};
use super::tag::Tag;
use crate::domain::words::visible_line;
pub(super) use decide::without_domain;
use json_ld::JsonLd;
pub(super) use json_ld::Property;
pub(super) use microdata::Microdata;

/// No field is longer; a description beyond it is no description.
const FIELD_BYTES_MAX: usize = 4096;
const FIELDS_MAX: usize = 200;
const NOSCRIPT_BYTES_MAX: usize = 256 * 1024;
const HIDDEN_BYTES_MAX: usize = 64 * 1024;
const IN_TITLE_BYTES_MAX: usize = 2 * 1024 * 1024;
const COMMENTS_MAX: usize = 16;
const COMMENT_BYTES_MAX: usize = 1_024;

#[derive(Debug, Default)]
pub(super) struct Collected {
    title: String,
    titles: u32,
    /// Markup in a `<title>` that has not ended, as far as it fits: the whole page, if its end tag is missing.
    in_title: String,
    language: Option<String>,
    links: HeadLinks,
    /// Name (lower case) and content, in page order.
    fields: Vec<(String, String)>,
    /// Of `<time>` elements that say what they are.
    published: Option<String>,
    modified: Option<String>,
    pub(super) scripts: Scripts,
    pub(super) microdata: Microdata,
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
    pub(super) fn begin_skipped(&mut self, tag: Tag, attributes: &Attributes<'_>) {
        match tag {
            Tag::Title => {
                self.titles += 1;
                self.in_title.clear();
            }
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

    /// The source of a title's text. From its first tag on it may be more than the title.
    pub(super) fn title_source(&mut self, source: &str) {
        let start = match self.in_title.is_empty() {
            true => source.find('<').unwrap_or(source.len()),
            false => 0,
        };
        let markup = within(&self.in_title, &source[start..], IN_TITLE_BYTES_MAX);
        self.in_title.push_str(markup);
    }

    /// Ends a title whose end tag is missing before its first tag, and gives the page behind it.
    pub(super) fn end_title(&mut self) -> String {
        if self.titles == 1 {
            let length = self.title.find('<').unwrap_or(self.title.len());
            self.title.truncate(length);
        }
        // The last character may not have fitted.
        self.is_broken_off = self.in_title.len() + 4 > IN_TITLE_BYTES_MAX;
        std::mem::take(&mut self.in_title)
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
    pub(super) fn finish(&mut self, is_broken_off: bool, links: &Links) {
        self.is_broken_off |= is_broken_off;
        let canonical = self.links.canonical.as_deref();
        let canonical = canonical.and_then(|href| links.metadata(href));
        let addresses: Vec<&str> = [Some(links.address()), canonical.as_deref()]
            .into_iter()
            .flatten()
            .collect();
        self.json_ld = JsonLd::read(&self.scripts.json_ld, &addresses);
        let is_of_item = !self.json_ld.properties.is_empty();
        let field = |name: &str| {
            let mut fields = self.fields.iter();
            fields.find_map(|(known, text)| (known == name).then_some(text.as_str()))
        };
        if !is_of_item {
            self.json_ld.properties = self.microdata.properties(field);
        }
    }
}

/// White space joined; nothing when nothing is left or when it is too long to be what it claims.
pub(super) fn clean(text: impl AsRef<str>) -> Option<String> {
    let text = text.as_ref();
    if text.len() > FIELD_BYTES_MAX {
        return None;
    }
    let text = visible_line(text);
    (!text.is_empty()).then_some(text)
}

fn is_markdown(attributes: &Attributes<'_>) -> bool {
    let kind = attributes.get("type").unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    ["text/markdown", "text/x-markdown"]
        .iter()
        .any(|known| kind.eq_ignore_ascii_case(known))
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
