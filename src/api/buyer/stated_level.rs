//! The level that a paid request states, in query, header or body, and the price of an unpaid one.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::domain::bundle::Bundle;
use crate::domain::level::{Level, LineItem, Product};
use crate::domain::refusal::Refusal;
use crate::domain::requests::{AddressList, PaidBody};
use crate::domain::schema::{ValidationError, without_mark};
use crate::http::Call;

/// What an unpaid request gets the price of: the level from the query, else the header, else a readable body, else the
/// default; as often as a readable body names pages or sources.
pub fn priced(call: &Call, product: Product, stated: Option<Level>) -> LineItem {
    PriceHints::of(call, product).priced(product, stated)
}

/// The level in query and header.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stated {
    /// The query's, else the header's.
    pub level: Option<Level>,
    /// Whether the two differ.
    pub differ: bool,
}

/// The level in query or header. Unknown levels are refused, and so are two different ones in the same place. Query and
/// header may differ only without payment.
pub fn level_outside_body(call: &Call, product: Product) -> Result<Stated, Refusal> {
    let header = product.level_header();
    // Fast path: most requests carry neither.
    if call.query.0.is_empty() && call.header_count(header) == 0 {
        return Ok(Stated::default());
    }
    let in_query = call.query.all(product.level_word());
    let in_query = one_level(product, in_query.map(|text| text.into_owned()))?;
    let headers = call.headers.get_all(header).iter();
    let headers = headers.map(|value| String::from_utf8_lossy(value.as_bytes()).trim().to_owned());
    let in_header = one_level(product, headers)?;
    let differ = matches!((in_query, in_header), (Some(one), Some(other)) if one != other);
    let pays = ["payment-signature", "x-service-payment-hash"];
    if differ && pays.iter().any(|header| call.header_count(header) > 0) {
        return Err(mismatch(product));
    }
    Ok(Stated {
        level: in_query.or(in_header),
        differ,
    })
}

/// The level in one place, which may repeat it.
fn one_level(
    product: Product,
    mut names: impl Iterator<Item = String>,
) -> Result<Option<Level>, Refusal> {
    let known = |name: String| product.level(&name).ok_or_else(|| unknown_level(product));
    let Some(first) = names.next().map(known).transpose()? else {
        return Ok(None);
    };
    for name in names {
        if known(name)? != first {
            return Err(mismatch(product));
        }
    }
    Ok(Some(first))
}

/// 400 for a level that does not exist.
pub fn unknown_level(product: Product) -> Refusal {
    let (word, names) = (product.level_word(), product.level_names().join(", "));
    let code = product.invalid_level();
    Refusal::new(code, format!("No such {word}. Use one of {names}."))
}

fn mismatch(product: Product) -> Refusal {
    Refusal::of(product.level_mismatch())
}

/// A probe's validation error for two different levels in the same place.
pub fn named_twice(call: &Call, product: Product) -> Refusal {
    let (word, header) = (product.level_word(), product.level_header());
    let mut in_query = call.query.all(word);
    let first = in_query.next();
    let loc = match in_query.any(|other| Some(other) != first) {
        true => ["query", word],
        false => ["header", header],
    };
    let why = format!("different {word}s are named in the same place");
    Refusal::validation(vec![ValidationError::value(&loc, why, None)])
}

/// A probe's validation error for an unknown level.
pub fn no_such_level(call: &Call, product: Product) -> Refusal {
    let (word, header) = (product.level_word(), product.level_header());
    let in_query = call.query.get(word);
    let in_query = in_query.filter(|name| product.level(name).is_none());
    let loc = match in_query {
        Some(_) => ["query", word],
        None => ["header", header],
    };
    let given = in_query.or_else(|| call.header(header).map(Into::into));
    let message = format!(
        "Input should be one of {}",
        product.level_names().join(", ")
    );
    let given = given.map(|text| Value::from(text.into_owned()));
    Refusal::validation(vec![ValidationError::new(
        &loc,
        "literal_error",
        message,
        given,
    )])
}

pub fn stated_level(
    call: &Call,
    product: Product,
    body: &PaidBody,
) -> Result<Option<Level>, Refusal> {
    let outside_body = level_outside_body(call, product)?.level;
    match (outside_body, body.level()) {
        (Some(one), Some(other)) if one != other => Err(mismatch(product)),
        (one, other) => Ok(one.or(other)),
    }
}

/// What a readable body says of the price. serde refuses a member that is there twice.
#[derive(Debug, Default)]
pub struct PriceHints {
    pub level: Option<Level>,
    /// How many pages or sources it names.
    sources: usize,
}

#[derive(Deserialize)]
struct HintMembers {
    tier: Option<Value>,
    pack: Option<Value>,
    bundle: Option<Value>,
    depth: Option<Value>,
    target_urls: Option<AddressList>,
    sources: Option<Vec<IgnoredAny>>,
}

impl PriceHints {
    pub fn of(call: &Call, product: Product) -> PriceHints {
        // Skips the parser for bodies with none of the words.
        let words = [product.level_word(), "target_urls", "sources"];
        let has = |word: &str| {
            let mut windows = call.body.windows(word.len());
            windows.any(|window| window == word.as_bytes())
        };
        if !words.into_iter().any(has) {
            return PriceHints::default();
        }
        let read = serde_json::from_slice::<HintMembers>(without_mark(&call.body));
        let Ok(members) = read else {
            return PriceHints::default();
        };
        let level = match product {
            Product::Context => members.tier,
            Product::ProofPack => members.pack,
            Product::ProofBundle => members.bundle,
            Product::Check => members.depth,
        };
        let listed = members.target_urls.map_or(0, |list| list.addresses().len());
        let sources = members.sources.map_or(0, |sources| sources.len());
        PriceHints {
            level: level.and_then(|level| product.level(level.as_str()?)),
            sources: listed.max(sources),
        }
    }

    /// The same of a body that was read whole.
    pub fn of_body(body: &PaidBody) -> PriceHints {
        PriceHints {
            level: body.level(),
            sources: body.sources_count(),
        }
    }

    /// The price at the level that is stated beside the body, else at the body's own, else at the default one.
    pub fn priced(&self, product: Product, stated: Option<Level>) -> LineItem {
        let level = stated.or(self.level);
        LineItem {
            level: level.unwrap_or_else(|| self.default_level(product)),
            quantity: self.sources.clamp(1, product.quantity_max()),
        }
    }

    /// The level that is meant where none is stated. A bundle's depends on its sources.
    fn default_level(&self, product: Product) -> Level {
        match product {
            Product::ProofBundle if self.sources > 0 => {
                Level::Bundle(Bundle::for_count(self.sources))
            }
            _ => product.default_level(),
        }
    }
}
