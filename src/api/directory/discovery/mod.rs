//! Descriptions of the service for programs: the brief at `/`, health, metrics, and texts for crawlers, models and
//! directories, all made from the route, field and price tables.

pub mod crawlers;
pub mod figures;
pub mod full;
mod gauges;
pub mod health;
pub mod keys;
pub mod llms;
pub mod manifest;
pub mod trust;

use serde_json::{Value, json};

use crate::api::directory::openapi;
use crate::api::frame::made_once;
use crate::api::orders::{bundles, webhook};
use crate::api::{frame, site};
use crate::app::{App, Row, Shared};
use crate::domain::endpoint::Tag;
use crate::domain::level::{Level, Product};
use crate::http::{Call, Guard, Method, Reply};
use crate::signing::{DID_PATH, JWKS_PATH};

/// GET /: a brief for programs, the home page for people.
pub async fn root(app: Shared, call: Call) -> Reply {
    if call.wants_markdown() || call.wants_page() {
        return site::home_page(&app, &call);
    }
    document(brief(&app))
        .fixed("vary", "Accept")
        .fixed("link", frame::LINKS)
}

pub fn document(value: Value) -> Reply {
    public(Reply::json(200, value.to_string()))
}

/// A document with another media type than JSON.
pub fn document_of(media_type: &'static str, text: String) -> Reply {
    public(Reply::new(200, media_type, text))
}

fn public(reply: Reply) -> Reply {
    reply.public("public, max-age=300")
}

/// GET /openapi.json.
pub async fn openapi(app: Shared, call: Call) -> Reply {
    made_once(&app, &call, |app| document(openapi::document(app)))
}

pub fn brief(app: &App) -> Value {
    let terms = &app.config.payment;
    let documents: serde_json::Map<String, Value> = documents(app)
        .map(|row| (row.path.to_owned(), row.about.summary.into()))
        .collect();
    json!({
        "status": "success",
        "name": app.config.service_name,
        "version": env!("CARGO_PKG_VERSION"),
        "api_version": openapi::DESCRIPTION_VERSION,
        "description": env!("CARGO_PKG_DESCRIPTION"),
        "base_url": app.config.base_url,
        "buy": {"method": "POST", "url": app.url(Product::Context.path()), "body": {"target_url": "https://example.com/", "tier": "fresh"}},
        "tiers": levels(app, Product::Context),
        "proof_pack": {
            "method": "POST", "url": app.url(Product::ProofPack.path()),
            "body": {"target_url": "https://example.com/", "question": "Is it free to use?", "pack": "standard"},
        },
        "packs": levels(app, Product::ProofPack),
        "proof_bundle": {
            "method": "POST", "url": app.url(Product::ProofBundle.path()),
            "body": {"target_urls": ["https://example.com/", "https://example.org/"], "question": "Is it free to use?"},
            "quote": {"method": "GET", "url": app.url(bundles::QUOTE_PATH), "query": ["target_urls", "question", "bundle"]},
        },
        "bundles": bundles::price_list(app),
        "check": {
            "method": "POST", "url": app.url(Product::Check.path()),
            "body": {"text": "It is free to use.", "sources": ["https://example.com/"], "depth": "standard"},
        },
        "depths": levels(app, Product::Check),
        "payment": {
            "protocol": "x402", "x402Version": 2, "scheme": "exact", "network": terms.network, "asset": terms.asset,
            "pay_to": terms.pay_to,
        },
        "links": {
            "docs": app.url("/docs"), "openapi": app.url("/openapi.json"), "quickstart": app.url("/quickstart"),
            "quote": app.url("/v1/x402/quote"), "sample": app.sample.url, "health": app.url("/health"),
            "llms": app.url("/llms.txt"), "proof_pack": app.url("/proof-pack"),
            "proof_pack_quote": app.url("/v1/proof-pack/quote"), "sample_report": app.url("/v1/proof-pack/sample"),
            "bundles": app.url("/proof-pack/bundle"), "bundle_quote": app.url(bundles::QUOTE_PATH),
            "contact": app.url("/contact"),
        },
        "interfaces": {"mcp": app.url(super::mcp::PATH), "a2a": app.url(super::agent::PATH)},
        "documents": documents,
    })
}

/// The price list of a product.
pub fn levels(app: &App, product: Product) -> Value {
    let policy = product.policy_word();
    let row = |level: Level| {
        let mut row = json!({
            product.level_word(): level.name(), "amount": level.price().units().to_string(),
            "price_usdc": level.price().as_usdc(), policy: level.policy(),
        });
        if let Some(reads) = level.reads(app.config.entailment_model) {
            row["reads"] = reads.into();
        }
        row
    };
    product.levels().map(row).collect()
}

/// The public endpoints.
pub fn public_rows(app: &App) -> impl Iterator<Item = &'static Row> {
    let rows = app.rows.iter();
    rows.filter(|row| row.guard == Guard::Everyone)
}

/// The operations of the API, for the lists of endpoints. openapi.json describes most of them, and names the others.
pub fn operations(app: &App) -> impl Iterator<Item = &'static Row> {
    public_rows(app).filter(|row| {
        let is_called = row.path.starts_with("/v1/") && row.path != webhook::PATH;
        row.about.in_openapi || is_called
    })
}

/// The documents for programs, except the brief.
pub fn documents(app: &App) -> impl Iterator<Item = &'static Row> {
    let signs = app.signer.is_some();
    public_rows(app).filter(move |row| {
        row.about.tag == Tag::Discovery
            && row.method == Method::Get
            && row.path != "/"
            && (signs || ![JWKS_PATH, DID_PATH].contains(&row.path))
    })
}

/// The configured contact, else the contact page.
pub fn contact(app: &App) -> String {
    match app.reloaded().contact.as_deref() {
        Some(address) if address.contains("://") || address.starts_with("mailto:") => {
            address.to_owned()
        }
        Some(address) if address.contains('@') => format!("mailto:{address}"),
        _ => app.url("/contact"),
    }
}
