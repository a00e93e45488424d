//! What a product, an event, a job or a recipe is, by the properties that schema.org has for it: price, start, place,
//! ingredients. Pages often show them in places that are no text. Gives labels and values in the page's own words; knows
//! nothing of what the page says elsewhere.

use serde_json::{Map, Value};

use super::{Item, several, types};
use crate::domain::words::folded;

/// A longer value is text that stands on the page, or means to fill it.
const VALUE_BYTES_MAX: usize = 300;
/// Ingredients and steps.
const PARTS_MAX: usize = 60;
const LIST_BYTES_MAX: usize = 8 * 1024;
/// Places, organisers and the like of one item.
const NAMES_MAX: usize = 5;

/// A property of what the page is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::markdown) struct Property {
    pub(in crate::markdown) label: &'static str,
    /// One value, or the parts of a list.
    pub(in crate::markdown) values: Vec<String>,
}

/// A property's label, and how it is read.
type Row = (&'static str, fn(&Item<'_>) -> Vec<String>);

/// An item's type as it ends, whether an article may be about it, and its properties in the order of a reader's questions.
const KINDS: [(&str, bool, &[Row]); 5] = [
    (
        "Recipe",
        true,
        &[
            ("Yield", |item| longest(item.texts("recipeYield"))),
            ("Preparation", |item| duration(item, "prepTime")),
            ("Cooking", |item| duration(item, "cookTime")),
            ("Total time", |item| duration(item, "totalTime")),
            ("Ingredients", |item| item.texts("recipeIngredient")),
            ("Steps", steps),
            ("Nutrition", nutrition),
            ("Rating", rating),
        ],
    ),
    (
        "JobPosting",
        false,
        &[
            ("Organization", |item| item.texts("hiringOrganization.name")),
            ("Location", |item| places(item, "jobLocation")),
            ("Remote work", |item| words_of(item, "jobLocationType")),
            ("Employment", |item| words_of(item, "employmentType")),
            ("Salary", salary),
            ("Posted", |item| item.one("datePosted")),
            ("Valid through", |item| item.one("validThrough")),
        ],
    ),
    (
        "Event",
        false,
        &[
            ("Starts", |item| item.one("startDate")),
            ("Ends", |item| item.one("endDate")),
            ("Status", |item| {
                let mut status = words_of(item, "eventStatus");
                status.retain(|status| status != "event scheduled");
                status
            }),
            ("Location", |item| places(item, "location")),
            ("Home team", |item| item.texts("homeTeam.name")),
            ("Away team", |item| item.texts("awayTeam.name")),
            ("Organizer", |item| item.texts("organizer.name")),
            ("Price", price),
        ],
    ),
    ("Product", false, PRODUCT),
    ("ProductGroup", false, PRODUCT),
];

const PRODUCT: &[Row] = &[
    ("Brand", |item| match item.texts("brand.name") {
        names if names.is_empty() => item.one("brand"),
        names => names,
    }),
    ("SKU", |item| item.one("sku")),
    ("Price", price),
    ("Availability", |item| words_of(item, "offers.availability")),
    ("Rating", rating),
];

/// The properties of the one item that the page is about. A page that lists several of a kind is about none of them, and
/// an article about something has its own text.
pub(super) fn properties(items: &[Item<'_>]) -> Vec<Property> {
    let is_kind = |item: &Item<'_>, kind: &str| {
        types(item.item).any(|name| name == kind || (kind == "Event" && name.ends_with(kind)))
    };
    let is_article = items.iter().any(|item| {
        types(item.item).any(|name| name.ends_with("Article") || name.ends_with("BlogPosting"))
    });
    for (kind, may_be_in_article, rows) in KINDS {
        let mut alike = items.iter().filter(|item| is_kind(item, kind));
        let (Some(item), None) = (alike.next(), alike.next()) else {
            continue;
        };
        if is_article && !may_be_in_article {
            continue;
        }
        let properties = rows.iter().map(|(label, read)| Property {
            label,
            values: bounded(read(item)),
        });
        return properties
            .filter(|property| !property.values.is_empty())
            .collect();
    }
    Vec::new()
}

fn bounded(values: Vec<String>) -> Vec<String> {
    let mut bytes = 0;
    let mut found: Vec<String> = Vec::new();
    for value in values.into_iter().take(PARTS_MAX) {
        bytes += value.len();
        if bytes > LIST_BYTES_MAX {
            break;
        }
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

impl<'a> Item<'a> {
    /// The objects and values at the end of a way of properties, such as `offers.price`.
    fn values(&self, way: &str) -> Vec<&'a Value> {
        let mut steps = way.split('.');
        let first = steps.next().unwrap_or_default();
        let mut found: Vec<&Value> = several(self.item.get(first)).collect();
        for step in steps {
            let objects = found.into_iter().filter_map(|value| self.object(value));
            found = objects
                .flat_map(|object| several(object.get(step)))
                .collect();
            found.truncate(PARTS_MAX);
        }
        found
    }

    fn object(&self, value: &'a Value) -> Option<&'a Map<String, Value>> {
        let object = value.as_object()?;
        let is_reference = object.len() == 1;
        let referenced = || self.by_id.get(object.get("@id")?.as_str()?).copied();
        Some(is_reference.then(referenced).flatten().unwrap_or(object))
    }

    fn texts(&self, way: &str) -> Vec<String> {
        self.values(way).into_iter().filter_map(short).collect()
    }

    fn one(&self, way: &str) -> Vec<String> {
        self.texts(way).into_iter().take(1).collect()
    }

    fn first(&self, way: &str) -> Option<String> {
        self.texts(way).into_iter().next()
    }
}

/// A text or a number, if it is as short as a value is.
fn short(value: &Value) -> Option<String> {
    let text = match value {
        Value::Number(number) => {
            let number = number.to_string();
            number.strip_suffix(".0").unwrap_or(&number).to_owned()
        }
        Value::String(text) if text.len() <= 2 * VALUE_BYTES_MAX => {
            // In a script an entity is often escaped once more.
            folded(&htmlize::unescape(&*htmlize::unescape(text.as_str())))
        }
        Value::Object(object) => return short(object.get("@value")?),
        _ => return None,
    };
    let is_value = !text.is_empty() && text.len() <= VALUE_BYTES_MAX && !text.contains(['<', '>']);
    is_value.then_some(text)
}

fn longest(texts: Vec<String>) -> Vec<String> {
    texts
        .into_iter()
        .max_by_key(String::len)
        .into_iter()
        .collect()
}

/// A name of the vocabulary in words: `https://schema.org/InStock` is "in stock", `FULL_TIME` "full time".
pub(in crate::markdown::metadata) fn spoken(name: &str) -> String {
    let name = name.rsplit('/').next().unwrap_or_default();
    let is_shouted = !name.contains(|c: char| c.is_ascii_lowercase());
    let mut words = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_ascii_uppercase() && !is_shouted && !words.is_empty() && !words.ends_with(' ') {
            words.push(' ');
        }
        words.push(if c == '_' {
            ' '
        } else {
            c.to_ascii_lowercase()
        });
    }
    words
}

/// The names that a way of properties ends with.
fn words_of(item: &Item<'_>, way: &str) -> Vec<String> {
    let names = item.texts(way).into_iter().take(NAMES_MAX);
    let mut found: Vec<String> = Vec::new();
    for name in names
        .map(|name| spoken(&name))
        .filter(|name| !name.is_empty())
    {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    // Of several offers that differ it is not known which one counts.
    match found.len() {
        0 | 1 => found,
        _ => vec![found.join(" or ")],
    }
}

/// `PT1H15M` as "1 hour 15 minutes"; what is written otherwise stays so.
fn duration(item: &Item<'_>, way: &str) -> Vec<String> {
    let Some(written) = item.first(way) else {
        return Vec::new();
    };
    match in_words(&written) {
        Some(words) => vec![words],
        // "PT0S", "PT", "PT-447094H" say nothing; "45 min" does, and "PT 5 minutes".
        None => {
            let said = written.trim_start_matches(['P', 'T']).trim();
            let says = said.contains(|c: char| c.is_ascii_lowercase() || c == ':');
            says.then(|| said.to_owned()).into_iter().collect()
        }
    }
}

fn in_words(written: &str) -> Option<String> {
    let rest = written.strip_prefix('P')?;
    let mut words: Vec<String> = Vec::new();
    let mut digits = String::new();
    let mut in_time = false;
    for c in rest.chars() {
        let unit = match c {
            'T' => {
                in_time = true;
                continue;
            }
            '0'..='9' => {
                digits.push(c);
                continue;
            }
            'Y' => "year",
            'W' => "week",
            'D' => "day",
            'M' if !in_time => "month",
            'H' => "hour",
            'M' if in_time => "minute",
            'S' => "second",
            _ => return None,
        };
        let count: u32 = std::mem::take(&mut digits).parse().ok()?;
        if count > 0 {
            words.push(format!(
                "{count} {unit}{}",
                if count == 1 { "" } else { "s" }
            ));
        }
    }
    (digits.is_empty() && !words.is_empty()).then(|| words.join(" "))
}

/// One price, or from which to which the offers go.
fn price(item: &Item<'_>) -> Vec<String> {
    let ways = ["offers.price", "offers.priceSpecification.price"];
    let ends = ["offers.lowPrice", "offers.highPrice"].map(|way| item.first(way));
    let prices = match ends {
        [Some(low), Some(high)] => vec![low, high],
        _ => ways
            .iter()
            .map(|way| item.texts(way))
            .find(|found| !found.is_empty())
            .unwrap_or_default(),
    };
    let currency = [
        "offers.priceCurrency",
        "offers.priceSpecification.priceCurrency",
    ]
    .iter()
    .find_map(|way| item.first(way))
    .unwrap_or_default();
    let amount = |text: &String| {
        text.replace(',', "")
            .parse::<f64>()
            .ok()
            .filter(|amount| amount.is_finite())
    };
    let mut amounts: Vec<(f64, &String)> = prices
        .iter()
        .filter_map(|text| Some((amount(text)?, text)))
        .collect();
    amounts.sort_by(|a, b| a.0.total_cmp(&b.0));
    let said = match (amounts.first(), amounts.last()) {
        (Some((low, text)), Some((high, _))) if low >= high => (*text).clone(),
        (Some((_, low)), Some((_, high))) => format!("{low} to {high}"),
        _ => return Vec::new(),
    };
    vec![format!("{said} {currency}").trim_end().to_owned()]
}

fn rating(item: &Item<'_>) -> Vec<String> {
    let Some(value) = item.first("aggregateRating.ratingValue") else {
        return Vec::new();
    };
    let best = item.first("aggregateRating.bestRating");
    let best = best.map_or(String::new(), |best| format!(" out of {best}"));
    let counts = [
        ("aggregateRating.reviewCount", "reviews"),
        ("aggregateRating.ratingCount", "ratings"),
    ];
    let count = counts
        .iter()
        .find_map(|(way, of)| Some(format!(", {} {of}", item.first(way)?)));
    vec![format!("{value}{best}{}", count.unwrap_or_default())]
}

/// The name and the address of each place.
fn places(item: &Item<'_>, way: &str) -> Vec<String> {
    const ADDRESS: [&str; 5] = [
        "streetAddress",
        "postalCode",
        "addressLocality",
        "addressRegion",
        "addressCountry",
    ];
    let values = item.values(way).into_iter().take(NAMES_MAX);
    let places = values.filter_map(|value| {
        let Some(place) = item.object(value) else {
            return short(value).filter(|text| !text.starts_with("http"));
        };
        if types(place).any(|name| name == "VirtualLocation") {
            return Some("online".to_owned());
        }
        let mut parts: Vec<String> = place.get("name").and_then(short).into_iter().collect();
        let address = place
            .get("address")
            .into_iter()
            .flat_map(|address| several(Some(address)));
        for address in address.take(1) {
            match item.object(address) {
                None => parts.extend(short(address)),
                Some(address) => parts.extend(ADDRESS.iter().filter_map(|field| {
                    several(address.get(*field)).find_map(|value| match value.as_object() {
                        Some(country) => short(country.get("name")?),
                        None => short(value),
                    })
                })),
            }
        }
        (!parts.is_empty()).then(|| parts.join(", "))
    });
    let places: Vec<String> = places.collect();
    (!places.is_empty())
        .then(|| places.join("; "))
        .into_iter()
        .collect()
}

fn salary(item: &Item<'_>) -> Vec<String> {
    let first = |way: &str| item.first(way);
    let range = [
        first("baseSalary.value.minValue"),
        first("baseSalary.value.maxValue"),
    ];
    let amount = match range {
        [Some(low), Some(high)] if low != high => Some(format!("{low} to {high}")),
        [Some(one), _] | [_, Some(one)] => Some(one),
        _ => first("baseSalary.value.value")
            .or_else(|| first("baseSalary.value"))
            .or_else(|| first("baseSalary")),
    };
    let Some(amount) = amount else {
        return Vec::new();
    };
    let currency = first("baseSalary.currency").or_else(|| first("salaryCurrency"));
    let currency = currency.map_or(String::new(), |currency| format!(" {currency}"));
    let unit = first("baseSalary.value.unitText").or_else(|| first("baseSalary.unitText"));
    let unit = unit.map_or(String::new(), |unit| {
        format!(" per {}", unit.to_lowercase())
    });
    vec![format!("{amount}{currency}{unit}")]
}

fn steps(item: &Item<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for value in item.values("recipeInstructions") {
        let sections = value.get("itemListElement");
        let parts: Vec<&Value> = match sections {
            Some(parts) => several(Some(parts)).collect(),
            None => vec![value],
        };
        for part in parts {
            let text = part
                .get("text")
                .or_else(|| part.get("name"))
                .unwrap_or(part);
            found.extend(
                text.as_str()
                    .into_iter()
                    .flat_map(str::lines)
                    .filter_map(|line| {
                        let line = folded(&htmlize::unescape(line));
                        let is_step = !line.is_empty()
                            && line.len() <= 4 * VALUE_BYTES_MAX
                            && !line.contains(['<', '>']);
                        is_step.then_some(line)
                    }),
            );
        }
    }
    found
}

fn nutrition(item: &Item<'_>) -> Vec<String> {
    const PARTS: [(&str, &str); 7] = [
        ("nutrition.calories", "energy"),
        ("nutrition.fatContent", "fat"),
        ("nutrition.carbohydrateContent", "carbohydrates"),
        ("nutrition.sugarContent", "sugar"),
        ("nutrition.proteinContent", "protein"),
        ("nutrition.fiberContent", "fiber"),
        ("nutrition.sodiumContent", "sodium"),
    ];
    let parts = PARTS
        .iter()
        .filter_map(|(way, of)| Some(format!("{of} {}", item.first(way)?)));
    parts.collect()
}
