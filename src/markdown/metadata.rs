//! What a page says of itself: `<title>`, `<meta>`, `<link>`, the language and JSON-LD. Collects while the page is
//! read and decides at its end, because the better source may come later.

use serde_json::Value;
use url::Url;

use super::Metadata;
use super::attributes::Attributes;
use super::links::Links;
use super::select::hints::{Head, Hints};
use super::tag::Tag;

/// No field is longer; a description beyond it is no description.
const FIELD_BYTES_MAX: usize = 4096;
const FIELDS_MAX: usize = 200;
const JSON_LD_BYTES_MAX: usize = 256 * 1024;
const NOSCRIPT_BYTES_MAX: usize = 256 * 1024;

#[derive(Debug, Default)]
pub(super) struct Collected {
    title: String,
    titles: u32,
    language: Option<String>,
    canonical: Option<String>,
    icon: Option<String>,
    /// Name (lower case) and content, in page order.
    fields: Vec<(String, String)>,
    pub(super) scripts: u32,
    /// The markup in all `<noscript>` elements, as far as it fits.
    pub(super) noscript: String,
    json_ld: String,
    in_json_ld: bool,
}

impl Collected {
    pub(super) fn html(&mut self, attributes: &Attributes<'_>) {
        let language = attributes
            .get("lang")
            .or_else(|| attributes.get("xml:lang"));
        if self.language.is_none() {
            self.language = language.and_then(|language| clean(&language));
        }
    }

    pub(super) fn meta(&mut self, attributes: &Attributes<'_>) {
        if self.fields.len() >= FIELDS_MAX {
            return;
        }
        let name = ["name", "property", "itemprop"]
            .into_iter()
            .find_map(|key| attributes.get(key));
        if let Some(name) = name
            && let Some(content) = attributes
                .get("content")
                .and_then(|content| clean(&content))
        {
            let name = name.trim().to_ascii_lowercase();
            self.fields.push((name, content));
        }
    }

    pub(super) fn link(&mut self, attributes: &Attributes<'_>) {
        let (Some(rel), Some(href)) = (attributes.get("rel"), attributes.get("href")) else {
            return;
        };
        for token in rel.split_ascii_whitespace() {
            let place = match token.to_ascii_lowercase().as_str() {
                "canonical" => &mut self.canonical,
                "icon" => &mut self.icon,
                _ => continue,
            };
            if place.is_none() {
                *place = clean(&href);
            }
        }
    }

    /// An element begins whose content is not text of the page.
    pub(super) fn skipped(&mut self, tag: Tag, attributes: &Attributes<'_>) {
        match tag {
            Tag::Title => self.titles += 1,
            Tag::Noscript => self.noscript.push('\n'),
            Tag::Script => {
                self.scripts += 1;
                let kind = attributes.get("type").unwrap_or_default();
                self.in_json_ld = kind.trim().eq_ignore_ascii_case("application/ld+json");
                if self.in_json_ld {
                    self.json_ld.push('\n');
                }
            }
            _ => {}
        }
    }

    pub(super) fn title_text(&mut self, text: &str) {
        if self.titles == 1 && self.title.len() < FIELD_BYTES_MAX {
            self.title.push_str(text);
        }
    }

    pub(super) fn noscript_text(&mut self, text: &str) {
        if self.noscript.len() + text.len() <= NOSCRIPT_BYTES_MAX {
            self.noscript.push_str(text);
        }
    }

    pub(super) fn script_text(&mut self, text: &str) {
        if self.in_json_ld && self.json_ld.len() + text.len() <= JSON_LD_BYTES_MAX {
            // One line a script: line ends are white space in JSON, and raw ones are not allowed in its strings.
            for (at, line) in text.split(['\n', '\r']).enumerate() {
                if at > 0 {
                    self.json_ld.push(' ');
                }
                self.json_ld.push_str(line);
            }
        }
    }

    /// Whether a `<noscript>` asks the reader to turn scripts on.
    pub(super) fn asks_for_scripts(&self) -> bool {
        self.noscript.to_ascii_lowercase().contains("javascript")
    }

    /// The page's own title, as `<title>` gives it.
    pub(super) fn title(&self) -> Option<String> {
        clean(&self.title)
    }

    /// Directives of `<meta name="robots">`, lower case.
    pub(super) fn robots(&self) -> Vec<String> {
        let mut directives: Vec<String> = Vec::new();
        for (_, content) in self.fields.iter().filter(|(name, _)| name == "robots") {
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
        let description = text(&["description", "og:description"]);
        let mut descriptions = json_ld_texts(&self.json_ld, &["description"]);
        descriptions.push_str(&description);
        Hints::new(&Head {
            url,
            descriptions: &descriptions,
            body: &json_ld_texts(&self.json_ld, &["articleBody", "text", "reviewBody"]),
            title: &self.title,
            headline: &text(&["og:title", "twitter:title"]),
            description: &description,
            kind: &text(&["og:type"]),
            generator: &text(&["generator"]),
            types: &json_ld_types(&self.json_ld),
        })
    }

    pub(super) fn decide(&self, links: &Links, first_heading: Option<&str>) -> Metadata {
        let json_ld = JsonLd::read(&self.json_ld);
        let absolute = |href: Option<String>| href.and_then(|href| links.metadata(&href));
        let described = |names: &[&str]| self.first(names);
        Metadata {
            title: self
                .title()
                .or_else(|| described(&["og:title", "twitter:title"]))
                .or_else(|| first_heading.map(str::to_owned)),
            description: described(&["description", "og:description", "twitter:description"]),
            author: described(&["author", "dc.creator", "parsely-author"])
                .or(json_ld.author)
                .or_else(|| {
                    // Facebook wants the address of a profile here, which names nobody.
                    described(&["article:author"]).filter(|name| !name.starts_with("http"))
                })
                .or_else(|| described(&["twitter:creator"])),
            site_name: described(&["og:site_name", "application-name"]),
            published_at: described(&[
                "article:published_time",
                "datepublished",
                "og:published_time",
                "dc.date.issued",
                "date",
                "pubdate",
            ])
            .or(json_ld.published_at),
            modified_at: described(&[
                "article:modified_time",
                "datemodified",
                "og:updated_time",
                "last-modified",
            ])
            .or(json_ld.modified_at),
            language: self
                .language
                .clone()
                .or_else(|| described(&["content-language", "og:locale"])),
            canonical_url: absolute(self.canonical.clone())
                .or_else(|| absolute(described(&["og:url"]))),
            image: absolute(described(&[
                "og:image",
                "og:image:url",
                "twitter:image",
                "twitter:image:src",
            ])),
            favicon: absolute(self.icon.clone()),
            kind: described(&["og:type"]),
            keywords: self.keywords(),
        }
    }

    fn keywords(&self) -> Vec<String> {
        let listed = self.first(&["keywords", "news_keywords"]);
        let mut keywords: Vec<String> = Vec::new();
        let tags = self
            .fields
            .iter()
            .filter(|(name, _)| name == "article:tag")
            .map(|(_, content)| content.as_str());
        let listed = listed.as_deref().unwrap_or("");
        for keyword in listed.split([',', '，', '、', ';']).chain(tags) {
            let keyword = keyword.trim();
            if !keyword.is_empty() && keywords.len() < 50 && !keywords.iter().any(|k| k == keyword)
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

/// The strings under these keys anywhere in JSON-LD, a full stop between; HTML in them is left out.
fn json_ld_texts(json_ld: &str, keys: &[&str]) -> String {
    let mut texts = String::new();
    for key in keys {
        for after in json_ld.split(&format!("\"{key}\"")).skip(1).take(50) {
            let value = after.trim_start_matches([':', ' ']);
            let mut strings = serde_json::Deserializer::from_str(value).into_iter::<String>();
            let Some(Ok(value)) = strings.next() else {
                continue;
            };
            let value = htmlize::unescape(value);
            for (at, piece) in value.split('<').enumerate() {
                let piece = match at {
                    0 => piece,
                    _ => piece.split_once('>').map_or("", |(_, after)| after),
                };
                texts.push_str(piece);
                texts.push(' ');
            }
            texts.push_str(". ");
        }
    }
    texts
}

/// Every `@type` in JSON-LD, white space between.
fn json_ld_types(json_ld: &str) -> String {
    let mut types = String::new();
    for after in json_ld.split("\"@type\"").skip(1).take(100) {
        let value = after.trim_start_matches([':', ' ']);
        let end = match value.starts_with('[') {
            true => value.find(']'),
            false => value.find([',', '}']),
        };
        let value = &value[..end.filter(|&end| end <= 200).unwrap_or(0)];
        types.extend(value.chars().filter(|c| c.is_alphanumeric() || *c == ','));
        types.push(' ');
    }
    types
}

/// What schema.org data adds where `<meta>` says nothing.
#[derive(Debug, Default)]
struct JsonLd {
    author: Option<String>,
    published_at: Option<String>,
    modified_at: Option<String>,
}

impl JsonLd {
    fn read(scripts: &str) -> JsonLd {
        let mut found = JsonLd::default();
        for script in scripts.lines() {
            if let Ok(value) = serde_json::from_str::<Value>(script) {
                let graph = value.get("@graph").unwrap_or(&value);
                match graph {
                    Value::Array(items) => items.iter().for_each(|item| found.item(item)),
                    item => found.item(item),
                }
            }
        }
        found
    }

    fn item(&mut self, item: &Value) {
        let text = |key: &str| item.get(key)?.as_str().and_then(clean);
        let Some(published_at) = text("datePublished") else {
            return;
        };
        if self.published_at.is_none() {
            self.published_at = Some(published_at);
            self.modified_at = text("dateModified");
            self.author = item.get("author").and_then(name_of);
        }
    }
}

fn name_of(author: &Value) -> Option<String> {
    let one = match author {
        Value::Array(several) => several.first()?,
        one => one,
    };
    let name = one.get("name").unwrap_or(one).as_str()?;
    clean(name)
}

/// White space joined; nothing when nothing is left or when it is too long to be what it claims.
fn clean(text: &str) -> Option<String> {
    if text.len() > FIELD_BYTES_MAX {
        return None;
    }
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}
