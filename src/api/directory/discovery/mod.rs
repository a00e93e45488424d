//! Descriptions of the service for programs: the brief at `/`, health, metrics, and texts for crawlers, models and
//! directories, all made from the route, field and price tables.

pub mod crawlers;
mod exposition;
pub mod figures;
pub mod full;
mod gauges;
pub mod health;
pub mod keys;
pub mod llms;
pub mod manifest;
pub mod trust;

use serde_json::{Value, json};

use crate::api::directory::documents::{
    A2A_PATH, DESCRIPTION_VERSION, document, documents, levels,
};
use crate::api::directory::openapi;
use crate::api::frame::made_once;
use crate::api::orders::bundles;
use crate::api::{frame, site};
use crate::app::{App, Shared};
use crate::domain::endpoint::MCP_PATH;
use crate::domain::level::Product;
use crate::http::{Call, Reply};

/// GET /: a brief for programs, the home page for people.
pub async fn root(app: Shared, call: Call) -> Reply {
    if call.wants_markdown() || call.wants_page() {
        return site::home_page(&app, &call);
    }
    document(brief(&app))
        .fixed("vary", "Accept")
        .fixed("link", frame::LINKS)
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
        "api_version": DESCRIPTION_VERSION,
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
        "interfaces": {"mcp": app.url(MCP_PATH), "a2a": app.url(A2A_PATH)},
        "documents": documents,
    })
}
