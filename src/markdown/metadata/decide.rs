//! Which of all that a page says of itself counts, once it is read to its end.

use url::Url;

use super::names::{
    AUTHOR, DESCRIPTION, IMAGE, KEYWORDS, MODIFIED, MODIFIED_TOO, PUBLISHED, PUBLISHED_TOO,
    SITE_NAME, TITLE,
};
use super::{Collected, clean, language_tag};
use crate::domain::target::registrable_domain;
use crate::markdown::dates;
use crate::markdown::links::Links;
use crate::markdown::outline::Outline;
use crate::markdown::select::hints::{Head, Hints};
use crate::markdown::title::TitleParts;
use crate::markdown::{Heading, Metadata};

const KEYWORDS_MAX: usize = 50;
/// A page's own heading is one of the first.
const TITLE_HEADINGS: usize = 3;
/// What robots meta tags may call us by.
const AGENT: &str = env!("CARGO_PKG_NAME");

impl Collected {
    /// Whether a `<noscript>` asks the reader to turn scripts on.
    pub(in crate::markdown) fn asks_for_scripts(&self) -> bool {
        self.noscript.to_ascii_lowercase().contains("javascript")
    }

    /// The page's own title, as `<title>` gives it.
    pub(in crate::markdown) fn title(&self) -> Option<String> {
        clean(&self.title)
    }

    /// A title for text that comes without one: without the site's name where the page gives it so.
    pub(in crate::markdown) fn headline(&self) -> Option<String> {
        let headline = self.json_ld.headline.clone();
        headline
            .or_else(|| self.first(TITLE))
            .or_else(|| self.title())
    }

    pub(in crate::markdown) fn site_name(&self) -> Option<String> {
        let json_ld = &self.json_ld;
        self.first(SITE_NAME)
            .or_else(|| json_ld.site.clone())
            .or_else(|| json_ld.publisher.clone())
    }

    pub(in crate::markdown) fn description(&self) -> Option<String> {
        self.first(DESCRIPTION)
            .or_else(|| self.json_ld.description.clone())
    }

    /// Whether the page says by `<meta>` that it is not for everybody.
    pub(in crate::markdown) fn is_locked(&self) -> bool {
        self.first(&["article:content_tier"])
            .is_some_and(|tier| tier.eq_ignore_ascii_case("locked"))
    }

    /// Whether the page says when it was published or which kind of item it shows, as pages with content do.
    pub(in crate::markdown) fn is_item(&self) -> bool {
        self.json_ld.is_item() || self.published.is_some() || self.first(PUBLISHED).is_some()
    }

    /// Directives of `<meta name="robots">` and of the same under our own name, lower case.
    pub(in crate::markdown) fn robots(&self) -> Vec<String> {
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
    pub(in crate::markdown) fn hints(&self, url: &Url) -> Hints {
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

    pub(in crate::markdown) fn decide(
        &self,
        links: &Links,
        outline: &Outline,
        url: &Url,
        headings: &[Heading],
    ) -> Metadata {
        let json_ld = &self.json_ld;
        let absolute =
            |href: &Option<String>| href.as_deref().and_then(|href| links.metadata(href));
        let date = |found: Option<String>| found.and_then(|text| dates::possible(&text));
        Metadata {
            title: self
                .title()
                .map(|title| self.beside_site(&title, url, headings).to_owned())
                .or_else(|| self.first(TITLE))
                .or_else(|| json_ld.headline.clone())
                .or_else(|| json_ld.name.clone())
                .or_else(|| Some(headings.first()?.text.clone())),
            description: self.description(),
            author: self.author(),
            site_name: self.site_name(),
            published_at: date(self.first(PUBLISHED))
                .or_else(|| date(json_ld.published_at.clone()))
                .or_else(|| date(self.first(PUBLISHED_TOO)))
                .or_else(|| date(self.published.clone())),
            modified_at: date(self.first(MODIFIED))
                .or_else(|| date(json_ld.modified_at.clone()))
                .or_else(|| date(self.first(MODIFIED_TOO)))
                .or_else(|| date(self.modified.clone())),
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

    /// A `<title>` without the name of the site, as far as other sources show where it begins.
    fn beside_site<'a>(&self, title: &'a str, url: &Url, headings: &[Heading]) -> &'a str {
        let site = self.site_name();
        let others = [self.first(TITLE), self.json_ld.headline.clone()];
        let others = others.iter().flatten().map(String::as_str);
        let headings = headings.iter().map(|heading| heading.text.as_str());
        let parts = TitleParts::of(title);
        // Of a manual each page may have the manual's name as its first heading, and its own as the second.
        let begins = |heading: &&str| parts.begins_with(heading, site.as_deref());
        let first = headings.clone().next();
        let heading = headings.take(TITLE_HEADINGS).find(begins).or(first);
        let own = others
            .chain(heading)
            .find_map(|own| parts.own(own, site.as_deref()));
        own.or_else(|| parts.beside(site.as_deref()?))
            .unwrap_or_else(|| without_domain(title, url))
    }

    pub(super) fn author(&self) -> Option<String> {
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
        let author = (listed.len() > 1)
            .then(|| joined(&listed))
            .or_else(|| self.first(AUTHOR).filter(is_name))
            .or_else(|| {
                let names: Vec<&str> = self.json_ld.authors.iter().map(String::as_str).collect();
                (!names.is_empty()).then(|| joined(&names))
            })
            .or_else(|| self.first(&["article:author"]).filter(is_name))
            .or_else(|| {
                let site = self.first(&["twitter:site"]);
                let is_sites = |handle: &String| {
                    site.as_ref()
                        .is_some_and(|site| site.eq_ignore_ascii_case(handle))
                };
                self.first(&["twitter:creator"])
                    .filter(|handle| !is_sites(handle))
            });
        author.map(without_by)
    }

    pub(super) fn keywords(&self) -> Vec<String> {
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

/// A title without the part that names the domain of its site. The first page of a site has that name for a title.
pub(in crate::markdown) fn without_domain<'a>(title: &'a str, url: &Url) -> &'a str {
    let host = url.host_str().filter(|_| url.path() != "/");
    let domain = host.and_then(registrable_domain);
    let own = domain.and_then(|domain| TitleParts::of(title).beside_domain(domain));
    own.unwrap_or(title)
}

/// Names as one text, so that each can be found in it: "Lee, Ann; Bo".
fn joined(names: &[&str]) -> String {
    let has_comma = names.iter().any(|name| name.contains(','));
    names.join(if has_comma { "; " } else { ", " })
}

/// The word before a byline is no part of the name.
fn without_by(author: String) -> String {
    match author.split_at_checked(3) {
        Some((by, name)) if by.eq_ignore_ascii_case("by ") => name.trim_start().to_owned(),
        _ => author,
    }
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
