//! What a page says of itself in JSON-LD (schema.org). Reads broken scripts as far as they go, joins `@graph` by
//! `@id`, and looks at no more than a bounded number of items. Knows no HTML but the markers around a script.

use std::collections::{HashMap, VecDeque};

use serde_json::{Map, Value};

use super::metadata::clean;

/// Items looked at on one page, nested ones included.
const ITEMS_MAX: usize = 400;
const TYPES_MAX: usize = 50;
const AUTHORS_MAX: usize = 20;
/// Values of one field that are looked through for the first good one.
const VALUES_MAX: usize = 50;

/// Types whose item is what the page is about, the surest first; what the page itself or its site is comes after.
const SUBJECTS: [&str; 22] = [
    "NewsArticle",
    "BlogPosting",
    "Article",
    "ReportageNewsArticle",
    "AnalysisNewsArticle",
    "OpinionNewsArticle",
    "LiveBlogPosting",
    "TechArticle",
    "ScholarlyArticle",
    "Report",
    "DiscussionForumPosting",
    "QAPage",
    "Recipe",
    "HowTo",
    "Product",
    "JobPosting",
    "Event",
    "Review",
    "Course",
    "Book",
    "Movie",
    "VideoObject",
];
const PAGES: [&str; 6] = [
    "WebPage",
    "ItemPage",
    "AboutPage",
    "CollectionPage",
    "ProfilePage",
    "FAQPage",
];

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct JsonLd {
    /// Every `@type` of the page's items, in the page's order, each once.
    pub(super) types: Vec<String>,
    /// Of the item that the page is about.
    pub(super) headline: Option<String>,
    pub(super) name: Option<String>,
    pub(super) description: Option<String>,
    pub(super) authors: Vec<String>,
    pub(super) published_at: Option<String>,
    pub(super) modified_at: Option<String>,
    pub(super) publisher: Option<String>,
    pub(super) site: Option<String>,
    pub(super) image: Option<String>,
    pub(super) language: Option<String>,
    pub(super) keywords: Vec<String>,
    /// The type of the item that the page is about.
    pub(super) subject: Option<String>,
    /// The longest `articleBody` or `text`, as it is written: it may be HTML.
    pub(super) article_body: Option<String>,
    /// False as soon as any part of the page says that it is not.
    pub(super) is_free: Option<bool>,
}

impl JsonLd {
    /// `scripts` holds one script a line.
    pub(super) fn read(scripts: &str) -> JsonLd {
        let values: Vec<Value> = scripts.lines().flat_map(values).collect();
        let items = items(&values);
        let by_id: HashMap<&str, &Map<String, Value>> = items
            .iter()
            .filter(|item| item.len() > 1)
            .filter_map(|item| Some((item.get("@id")?.as_str()?, *item)))
            .collect();
        let mut found = JsonLd::default();
        for item in &items {
            found.take_everywhere(item);
        }
        let mut ranked: Vec<_> = items
            .iter()
            .filter_map(|item| Some((rank(item)?, *item)))
            .collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        for (_, item) in ranked {
            found.take_subject(&Item {
                item,
                by_id: &by_id,
            });
        }
        found
    }

    /// What counts wherever it stands.
    fn take_everywhere(&mut self, item: &Map<String, Value>) {
        for kind in types(item) {
            if self.types.len() < TYPES_MAX && !self.types.iter().any(|known| known == kind) {
                self.types.push(kind.to_owned());
            }
            if kind == "WebSite" && self.site.is_none() {
                self.site = text(item.get("name"));
            }
        }
        for field in ["articleBody", "text"] {
            let body = item.get(field).and_then(Value::as_str).map(str::trim);
            let length = self.article_body.as_deref().map_or(0, str::len);
            // The text of a comment is not that of the page.
            let is_body =
                field == "articleBody" || types(item).any(|kind| kind == "DiscussionForumPosting");
            if let Some(body) = body.filter(|body| is_body && body.len() > length) {
                self.article_body = Some(body.to_owned());
            }
        }
        if let Some(is_free) = item.get("isAccessibleForFree").and_then(truth) {
            self.is_free = Some(self.is_free.unwrap_or(true) && is_free);
        }
    }

    /// Fills what no surer item has said.
    fn take_subject(&mut self, item: &Item<'_>) {
        let fill = |place: &mut Option<String>, found: Option<String>| {
            if place.is_none() {
                *place = found;
            }
        };
        fill(
            &mut self.subject,
            types(item.item).next().map(str::to_owned),
        );
        fill(&mut self.headline, item.text("headline"));
        fill(&mut self.name, item.text("name"));
        fill(&mut self.description, item.text("description"));
        fill(&mut self.language, item.text("inLanguage"));
        fill(&mut self.published_at, item.text("datePublished"));
        fill(&mut self.modified_at, item.text("dateModified"));
        fill(
            &mut self.publisher,
            item.names("publisher").into_iter().next(),
        );
        fill(&mut self.image, item.image());
        if self.authors.is_empty() {
            self.authors = item.names("author");
        }
        if self.authors.is_empty() {
            self.authors = item.names("creator");
        }
        if self.keywords.is_empty() {
            self.keywords = item.keywords();
        }
    }
}

/// An item with the means to follow its references.
struct Item<'a> {
    item: &'a Map<String, Value>,
    by_id: &'a HashMap<&'a str, &'a Map<String, Value>>,
}

impl Item<'_> {
    fn text(&self, field: &str) -> Option<String> {
        text(self.item.get(field))
    }

    fn names(&self, field: &str) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for value in several(self.item.get(field)) {
            let name = match value {
                Value::Object(object) => match object.get("name") {
                    Some(name) => text(Some(name)),
                    None => self
                        .referred(object)
                        .and_then(|object| text(object.get("name"))),
                },
                value => text(Some(value)),
            };
            let Some(name) = name.filter(|name| !name.starts_with("http")) else {
                continue;
            };
            if names.len() < AUTHORS_MAX && !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    fn image(&self) -> Option<String> {
        several(self.item.get("image"))
            .chain(several(self.item.get("thumbnailUrl")))
            .find_map(|value| match value {
                Value::Object(object) => {
                    let object = if object.contains_key("url") || object.contains_key("contentUrl")
                    {
                        object
                    } else {
                        self.referred(object)?
                    };
                    text(object.get("url")).or_else(|| text(object.get("contentUrl")))
                }
                value => text(Some(value)),
            })
    }

    fn keywords(&self) -> Vec<String> {
        let found = several(self.item.get("keywords")).filter_map(|value| match value {
            Value::Object(object) => text(object.get("name")),
            value => text(Some(value)),
        });
        found.collect()
    }

    fn referred(&self, object: &Map<String, Value>) -> Option<&Map<String, Value>> {
        self.by_id.get(object.get("@id")?.as_str()?).copied()
    }
}

/// All items, those of `@graph` and nested ones too, breadth first.
fn items(values: &[Value]) -> Vec<&Map<String, Value>> {
    const NESTED: [&str; 5] = [
        "@graph",
        "mainEntity",
        "mainEntityOfPage",
        "hasPart",
        "itemReviewed",
    ];
    let mut waiting: VecDeque<&Value> = values.iter().collect();
    let mut items = Vec::new();
    while let Some(value) = waiting.pop_front() {
        match value {
            Value::Array(several) => {
                let room = ITEMS_MAX.saturating_sub(waiting.len());
                waiting.extend(several.iter().take(room));
            }
            Value::Object(item) if items.len() < ITEMS_MAX => {
                items.push(item);
                waiting.extend(NESTED.iter().filter_map(|field| item.get(*field)));
            }
            _ => {}
        }
    }
    items
}

/// The surest first; nothing for what only surrounds the page, as its site, its publisher or its breadcrumbs.
fn rank(item: &Map<String, Value>) -> Option<usize> {
    let subject = |kind: &str| SUBJECTS.iter().position(|known| *known == kind);
    let page = |kind: &str| {
        PAGES
            .iter()
            .position(|known| *known == kind)
            .map(|at| at + 100)
    };
    types(item)
        .filter_map(|kind| subject(kind).or_else(|| page(kind)))
        .min()
        .or_else(|| item.contains_key("headline").then_some(50))
        .or_else(|| item.contains_key("datePublished").then_some(60))
}

/// Names without the vocabulary's address before them.
fn types(item: &Map<String, Value>) -> impl Iterator<Item = &str> {
    several(item.get("@type")).filter_map(|kind| {
        let kind = kind.as_str()?.rsplit(['/', '#', ':']).next()?.trim();
        (!kind.is_empty() && kind.len() <= 60).then_some(kind)
    })
}

/// One value or the values of a list.
fn several(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    let list: &[Value] = match value {
        None | Some(Value::Null) => &[],
        Some(Value::Array(list)) => list,
        Some(one) => std::slice::from_ref(one),
    };
    list.iter().take(VALUES_MAX)
}

/// The first text of a value; systems that write HTML entities into it are many.
fn text(value: Option<&Value>) -> Option<String> {
    several(value).find_map(|value| {
        let text = match value {
            Value::Object(object) => object.get("@value")?.as_str()?,
            value => value.as_str()?,
        };
        clean(htmlize::unescape(text))
    })
}

fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(truth) => Some(*truth),
        Value::String(text) if text.eq_ignore_ascii_case("true") => Some(true),
        Value::String(text) if text.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

/// The JSON values of one script; those before a mistake that cannot be mended.
fn values(script: &str) -> Vec<Value> {
    let script = bare(script);
    if script.is_empty() {
        return Vec::new();
    }
    // serde_json gives up at 128 levels, so that nesting cannot exhaust the stack.
    let read = |text: &str| -> (Vec<Value>, bool) {
        let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        let mut values = Vec::new();
        let mut is_whole = true;
        for value in stream.by_ref().take(ITEMS_MAX) {
            match value {
                Ok(value) => values.push(value),
                Err(_) => is_whole = false,
            }
        }
        (values, is_whole)
    };
    let (values, is_whole) = read(script);
    if is_whole {
        return values;
    }
    let (mended, _) = read(&mended(script));
    if mended.len() >= values.len() {
        mended
    } else {
        values
    }
}

/// Without the comment or CDATA markers that hide a script from old readers.
fn bare(script: &str) -> &str {
    const BEFORE: [&str; 6] = [
        "<!--",
        "//<![CDATA[",
        "/*<![CDATA[*/",
        "/* <![CDATA[ */",
        "<![CDATA[",
        "//",
    ];
    const AFTER: [&str; 7] = ["-->", "//]]>", "/*]]>*/", "/* ]]> */", "]]>", "//", ";"];
    let mut script = script.trim_start_matches('\u{feff}').trim();
    while let Some(rest) = BEFORE.iter().find_map(|mark| script.strip_prefix(mark)) {
        script = rest.trim();
    }
    while let Some(rest) = AFTER.iter().find_map(|mark| script.strip_suffix(mark)) {
        script = rest.trim();
    }
    script
}

/// The usual mistakes taken back: commas before a closing bracket, escapes that JSON does not have.
fn mended(script: &str) -> String {
    let mut out = String::with_capacity(script.len());
    let mut in_string = false;
    let mut characters = script.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' => {
                in_string = !in_string;
                out.push('"');
            }
            '\\' if in_string => match characters.next() {
                Some(escaped) if "\"\\/bfnrtu".contains(escaped) => {
                    out.push('\\');
                    out.push(escaped);
                }
                Some(escaped) => out.push(escaped),
                None => {}
            },
            '}' | ']' if !in_string => {
                let kept = out.trim_end().trim_end_matches([',', ' ']).len();
                out.truncate(kept);
                out.push(character);
            }
            _ => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(script: &str) -> JsonLd {
        JsonLd::read(script)
    }

    #[test]
    fn the_subject_is_found_in_a_graph() {
        let found = read(
            r##"{"@context":"https://schema.org","@graph":[
            {"@type":"WebSite","name":"The Harbour Post","@id":"#site"},
            {"@type":["WebPage","FAQPage"],"name":"Boats - The Harbour Post","datePublished":"2024-01-01","inLanguage":"en-GB"},
            {"@type":"BreadcrumbList","name":"Home"},
            {"@id":"#ann","@type":"Person","name":"Ann &amp; Lee"},
            {"@type":"http://schema.org/NewsArticle","headline":"Boats","author":[{"@id":"#ann"},{"name":"Bo"},"Cy"],
             "publisher":{"@type":"Organization","name":"Harbour Ltd"},"image":{"@type":"ImageObject","url":"/boat.jpg"},
             "dateModified":"2024-03-04","keywords":["sea","ships"],"articleBody":"All about boats.","isAccessibleForFree":"False"}]}"##
                .replace('\n', " ")
                .as_str(),
        );
        assert_eq!(
            found.types,
            [
                "WebSite",
                "WebPage",
                "FAQPage",
                "BreadcrumbList",
                "Person",
                "NewsArticle"
            ]
        );
        assert_eq!(found.subject.as_deref(), Some("NewsArticle"));
        assert_eq!(found.headline.as_deref(), Some("Boats"));
        assert_eq!(found.name.as_deref(), Some("Boats - The Harbour Post"));
        assert_eq!(found.authors, ["Ann & Lee", "Bo", "Cy"]);
        assert_eq!(found.publisher.as_deref(), Some("Harbour Ltd"));
        assert_eq!(found.site.as_deref(), Some("The Harbour Post"));
        assert_eq!(found.image.as_deref(), Some("/boat.jpg"));
        assert_eq!(found.published_at.as_deref(), Some("2024-01-01"));
        assert_eq!(found.modified_at.as_deref(), Some("2024-03-04"));
        assert_eq!(found.language.as_deref(), Some("en-GB"));
        assert_eq!(found.keywords, ["sea", "ships"]);
        assert_eq!(found.article_body.as_deref(), Some("All about boats."));
        assert_eq!(found.is_free, Some(false));
    }

    fn check_headline(script: &str) {
        assert_eq!(read(script).headline.as_deref(), Some("It's A"), "{script}");
    }

    #[test]
    fn broken_scripts_are_read() {
        check_headline(r#"[{"@type":"Article","headline":"It's A",},]"#);
        check_headline(r#"<!-- {"@type":"Article","headline":"It's A"} -->"#);
        check_headline(r#"//<![CDATA[ {"@type":"Article","headline":"It's A"} //]]>"#);
        check_headline(r#"/* <![CDATA[ */ {"@type":"Article","headline":"It's A"}; /* ]]> */"#);
        check_headline(r#"{"@type":"Article","headline":"It\'s A"}"#);
        check_headline(r#"{"@type":"Article","headline":"It's A"}{"@type":"#);
        check_headline("nonsense\n{\"@type\":\"Article\",\"headline\":\"It&#39;s A\"}");
    }

    #[test]
    fn nothing_is_made_up_and_nothing_runs_away() {
        assert_eq!(read(""), JsonLd::default());
        assert_eq!(read("null\n3\n\"x\"\n[[]]"), JsonLd::default());
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(read(&deep), JsonLd::default());
        let deep = "{\"mainEntity\":".repeat(100_000);
        assert_eq!(read(&deep), JsonLd::default());
        let wide = format!("[{}]", vec!["{\"@type\":\"Article\"}"; 10_000].join(","));
        assert_eq!(read(&wide).types, ["Article"]);
        let types = (0..500)
            .map(|n| format!("{{\"@type\":\"T{n}\"}}"))
            .collect::<Vec<_>>();
        assert_eq!(read(&types.join("\n")).types.len(), TYPES_MAX);
    }

    #[test]
    fn a_free_page_with_a_part_that_is_not_is_not_free() {
        let found = read(
            r#"{"@type":"NewsArticle","isAccessibleForFree":true,"hasPart":{"isAccessibleForFree":"false","cssSelector":".paywall"}}"#,
        );
        assert_eq!(found.is_free, Some(false));
        assert_eq!(
            read(r#"{"@type":"NewsArticle","isAccessibleForFree":true}"#).is_free,
            Some(true)
        );
    }
}
