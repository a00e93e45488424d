//! What a page says of itself in JSON-LD (schema.org). Reads broken scripts as far as they go, joins `@graph` by
//! `@id`, and looks at no more than a bounded number of items. Knows no HTML but the markers around a script.

mod place;
mod properties;
mod script;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};

use serde_json::{Map, Value};

use super::clean;
use place::{Place, place_of};
pub(in crate::markdown) use properties::Property;
use properties::properties;
pub(super) use properties::spoken;
use script::values;

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
pub(in crate::markdown) struct JsonLd {
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
    pub(in crate::markdown) article_body: Option<String>,
    /// False as soon as any part of the page says that it is not.
    pub(in crate::markdown) is_free: Option<bool>,
    /// Of the product, the event, the job or the recipe that the page is about.
    pub(in crate::markdown) properties: Vec<Property>,
}

impl JsonLd {
    /// Whether any item is content, such as an article or a product, and not just a page or its site.
    pub(super) fn is_item(&self) -> bool {
        let is_subject = |kind: &String| SUBJECTS.contains(&kind.as_str());
        self.types.iter().any(is_subject)
    }

    /// `scripts` holds one script a line, `addresses` are those of the page.
    pub(super) fn read(scripts: &str, addresses: &[&str]) -> JsonLd {
        let values: Vec<Value> = scripts.lines().flat_map(values).collect();
        let here: Vec<String> = addresses.iter().filter_map(|it| place_of(it)).collect();
        let items = of_this_page(items(&values), &here);
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
        let of_page = |item: &&'_ Map<String, Value>| item.contains_key("@type");
        let items = items.iter().copied().filter(|item| of_page(item));
        let items: Vec<Item<'_>> = items
            .map(|item| Item {
                item,
                by_id: &by_id,
            })
            .collect();
        found.properties = properties(&items);
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

/// A name without the link that it is written as.
fn without_tags(name: String) -> String {
    if !name.contains('<') {
        return name;
    }
    let parts = name.split('<').enumerate();
    let texts = parts.map(|(at, part)| match at {
        0 => part,
        _ => part.split_once('>').map_or("", |(_, text)| text),
    });
    texts.collect::<String>().trim().to_owned()
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
                        .referenced_object(object)
                        .and_then(|object| text(object.get("name"))),
                },
                value => text(Some(value)),
            };
            let name = name.map(without_tags);
            let is_name = |name: &String| !name.is_empty() && !name.starts_with("http");
            let Some(name) = name.filter(is_name) else {
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
                        self.referenced_object(object)?
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

    fn referenced_object(&self, object: &Map<String, Value>) -> Option<&Map<String, Value>> {
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

/// Without what says that it is about another page, if something else is about this one.
fn of_this_page<'a>(
    items: Vec<&'a Map<String, Value>>,
    here: &[String],
) -> Vec<&'a Map<String, Value>> {
    let places: Vec<Place> = items
        .iter()
        .map(|item| match rank(item) {
            Some(_) => Place::of(item, here),
            None => Place::Unsaid,
        })
        .collect();
    let has_own = places.contains(&Place::Here);
    let places = items.into_iter().zip(places);
    places
        .filter(|(_, place)| !has_own || *place != Place::Elsewhere)
        .map(|(item, _)| item)
        .collect()
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
