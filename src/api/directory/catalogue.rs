//! Documents for x402 directories: the resource listing and the well-known documents. They use the same tables of products
//! and levels as the challenges.

use std::num::IntErrorKind;

use serde_json::{Map, Value, json};

use crate::api::directory::documents::{document, levels};
use crate::api::directory::openapi;
use crate::api::failure;
use crate::api::frame::made_once;
use crate::api::orders::bundles;
use crate::app::{App, Row, Shared};
use crate::domain::bundle::payment_of_people;
use crate::domain::level::{Level, Product};
use crate::domain::refusal::Refusal;
use crate::domain::schema::ValidationError;
use crate::http::{Call, Reply};
use crate::state::offers;
use crate::x402::challenge::{bazaar, bazaar_of_query};

/// Where x402 clients look.
pub const X402_PATH: &str = "/.well-known/x402.json";
/// Decimals of the token.
const DECIMALS: u8 = 6;
/// Units of a cent.
const CENT_UNITS: u64 = 10_000;
const LIMIT_DEFAULT: usize = 20;
const LIMIT_MAX: usize = 100;

/// GET /discovery/resources.
pub async fn resources(app: Shared, call: Call) -> Reply {
    let page = number(&call, "limit", LIMIT_DEFAULT, 1)
        .and_then(|limit| Ok((limit.min(LIMIT_MAX), number(&call, "offset", 0, 0)?)));
    let (limit, offset) = match page {
        Ok(page) => page,
        Err(refusal) => return failure::reply(&app, &refusal, &call),
    };
    // All of ours are of one type.
    let is_asked_for = call.query.get("type").is_none_or(|kind| kind == "http");
    let items = if is_asked_for { items(&app) } else { vec![] };
    document(paged(&items, limit, offset))
}

fn items(app: &App) -> Vec<Value> {
    let mut items = Product::ALL.map(|product| listed(app, product)).to_vec();
    items.push(listed_bundles(app));
    items
}

fn paged(items: &[Value], limit: usize, offset: usize) -> Value {
    let shown: Vec<&Value> = items.iter().skip(offset).take(limit).collect();
    json!({
        "x402Version": 2,
        "items": shown,
        "pagination": {"limit": limit, "offset": offset, "total": items.len()},
    })
}

/// GET /.well-known/x402 and /.well-known/x402.json.
pub async fn well_known(app: Shared, call: Call) -> Reply {
    made_once(&app, &call, |app| document(advertisement(app)))
}

pub fn advertisement(app: &App) -> Value {
    let accepts: Vec<Value> = Product::ALL
        .iter()
        .map(|product| accept(app, product.default_level()))
        .collect();
    json!({
        "x402Version": 2,
        "version": 1,
        "name": app.config.service_name,
        "description": env!("CARGO_PKG_DESCRIPTION"),
        "network": app.config.payment.network,
        "lastUpdated": app.sample.made_at.0,
        "resources": Product::ALL.map(|product| app.url(product.path())),
        "ownershipProofs": [],
        "accepts": accepts,
        "routes": Product::ALL.map(|product| route(app, product)),
        "items": Product::ALL.map(|product| item(app, product)),
        "tiers": levels(app, Product::Context),
        "packs": levels(app, Product::ProofPack),
        "bundles": bundles::price_list(app),
        "depths": levels(app, Product::Check),
        "instructions": "POST without payment to get the price (402, header PAYMENT-REQUIRED), sign it, and repeat \
        the request with PAYMENT-SIGNATURE. Quotes and the sample report are free.",
        "openapi": app.url("/openapi.json"),
        "llms": app.url("/llms.txt"),
        "discovery": app.url("/discovery/resources"),
    })
}

fn number(call: &Call, name: &str, default: usize, least: usize) -> Result<usize, Refusal> {
    let Some(text) = call.query.get(name) else {
        return Ok(default);
    };
    match text.parse::<i64>() {
        Ok(number) if usize::try_from(number).is_ok_and(|number| number >= least) => {
            Ok(usize::try_from(number).unwrap_or(usize::MAX))
        }
        // A number too large to parse is beyond the end.
        Err(error) if *error.kind() == IntErrorKind::PosOverflow => Ok(usize::MAX),
        parsed => {
            let (kind, message) = match parsed {
                Ok(_) => (
                    "greater_than_equal",
                    format!("Input should be greater than or equal to {least}"),
                ),
                Err(_) => ("int_parsing", "Input should be a valid integer".to_owned()),
            };
            let given = Some(Value::from(text.into_owned()));
            let error = ValidationError::new(&["query", name], kind, message, given);
            Err(Refusal::validation(vec![error]))
        }
    }
}

/// A product in the listing, at its default level.
fn listed(app: &App, product: Product) -> Value {
    let level = product.default_level();
    let sells = |row: &&Row| row.path == product.path() && row.about.takes.is_some();
    let answers = app
        .rows
        .iter()
        .find(sells)
        .map_or(&[][..], |row| row.about.answers);
    json!({
        "resource": app.url(product.path()),
        "type": "http",
        "x402Version": 2,
        "method": "POST",
        "accepts": [accept(app, level)],
        "lastUpdated": app.sample.made_at.0,
        "metadata": {
            "name": app.config.service_name,
            "description": offers::description(level.into()),
            "tags": product.tags(),
            product.levels_word(): levels(app, product),
        },
        "inputSchema": product.request().json_schema(),
        "outputSchema": answers.first().copied().map(openapi::answer_schema),
        "discoverable": true,
        "extensions": {"bazaar": bazaar(&offers::bazaar(level.into()))},
    })
}

/// The bundle quote, with an empty `accepts`, because the quote is free. It is listed so that directories find bundles; those that require an offer in every item skip it. The bundle that x402 pays has its own item.
fn listed_bundles(app: &App) -> Value {
    let row = app.rows.iter().find(|row| row.path == bundles::QUOTE_PATH);
    let parameters = row.map_or(&[][..], |row| row.about.query);
    let properties = parameters
        .iter()
        .map(|parameter| (parameter.name.to_owned(), openapi::query_schema(parameter)));
    let input = json!({"type": "object", "properties": properties.collect::<Map<_, _>>()});
    let example =
        json!({"target_urls": "https://example.com/ https://example.org/", "bundle": "scout"});
    let given = json!({"status": "success", "supplier_spend": 0, "bundle": "scout", "amount_units": "2000000"});
    let text = json!({"type": "string"});
    let answer = json!({
        "status": text, "quote_id": text, "supplier_spend": {"type": "integer"},
        "target_urls": {"type": "array", "items": text}, "bundle": text, "amount_units": text,
        "price_usdc": {"type": "number"}, "next_steps": {"type": "array", "items": {"type": "object"}},
    });
    json!({
        "resource": app.url(bundles::QUOTE_PATH),
        "type": "http",
        "x402Version": 2,
        "method": "GET",
        "accepts": [],
        "lastUpdated": app.sample.made_at.0,
        "metadata": {
            "name": app.config.service_name,
            "description": format!(
                "Which of up to 25 addresses are allowed, and which Evidence Bundle fits them; free. Bundles are paid by \
                 x402 at POST {}, or in dollars {}.",
                Product::ProofBundle.path(),
                payment_of_people(app.has_payment_link())
            ),
            "tags": ["evidence", "sources", "quote"],
            "bundles": bundles::price_list(app),
        },
        "inputSchema": input,
        "outputSchema": {
            "type": "object", "properties": answer,
            "required": ["status", "supplier_spend", "target_urls", "bundle", "amount_units", "next_steps"],
        },
        "discoverable": true,
        "extensions": {"bazaar": bazaar_of_query(&example, &input, &given)},
    })
}

/// How to pay for a level, with descriptions that a live challenge omits.
fn accept(app: &App, level: Level) -> Value {
    let (product, requirements) = (level.product(), &app.offers.level(level).requirements);
    let mut extra = Map::new();
    let mut set = |name: &str, value: Value| extra.insert(name.to_owned(), value);
    set("name", app.config.payment.asset_name.clone().into());
    set("version", app.config.payment.asset_version.clone().into());
    set("decimals", DECIMALS.into());
    set("price", format!("${}", level.price()).into());
    set(product.level_word(), level.name().into());
    set("mimeType", "application/json".into());
    set("resource", app.url(product.path()).into());
    set("description", offers::description(level.into()).into());
    set("quote", app.url(product.quote_path()).into());
    let checkout = format!("/checkout/confidence?product={}", product.name());
    set("checkout", app.url(&checkout).into());
    json!({
        "scheme": "exact",
        "network": requirements.network,
        "amount": requirements.amount.units().to_string(),
        "asset": requirements.asset,
        "payTo": requirements.pay_to,
        "maxTimeoutSeconds": requirements.max_timeout_seconds,
        "extra": extra,
    })
}

fn route(app: &App, product: Product) -> Value {
    let (level, path) = (product.default_level(), product.path());
    json!({
        "agent": app.config.service_name,
        "tool": path.rsplit('/').next(),
        "method": "POST",
        "endpoint": path,
        "x402_version": 2,
        "price_minor": level.price().units() / CENT_UNITS,
        "price": format!("${}", level.price()),
    })
}

fn item(app: &App, product: Product) -> Value {
    let (level, path) = (product.default_level(), product.path());
    let called = offers::bazaar(level.into());
    json!({
        "resource": {
            "url": app.url(path), "description": offers::description(level.into()), "mimeType": "application/json",
            "serviceName": app.config.service_name, "tags": product.tags(),
        },
        "type": "http",
        "accepts": [accept(app, level)],
        "input": {
            "method": "POST", "routeTemplate": path, "bodyType": "json", "body": product.request().json_schema(),
            "example": called.body_example,
        },
        "output": {"mimeType": "application/json", "example": called.output_example},
    })
}
