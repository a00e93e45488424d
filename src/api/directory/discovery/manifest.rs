//! The manifest, the API catalog (RFC 9727) and the AI catalog.

use serde_json::{Value, json};

use crate::api::directory::catalogue::X402_PATH;
use crate::api::directory::documents::{
    AGENT_CARD_PATH, DESCRIPTION_VERSION, document, document_of, levels, operations, public_rows,
};
use crate::api::directory::mcp;
use crate::api::frame::made_once;
use crate::api::orders::bundles;
use crate::app::{App, Shared};
use crate::domain::endpoint::{MCP_PATH, Tag};
use crate::domain::level::Product;
use crate::http::{Call, Reply};
use crate::pages::assets::{FAVICON_PATH, ICON_PATH};

/// The colours of the icon and of pages while they load.
const THEME_COLOUR: &str = "#0c6b52";
const BACKGROUND_COLOUR: &str = "#fdfcf9";

/// GET /manifest.json: web app manifest and service description in one object.
pub async fn manifest(app: Shared, call: Call) -> Reply {
    made_once(&app, &call, |app| document(manifest_json(app)))
}

fn manifest_json(app: &App) -> Value {
    let terms = &app.config.payment;
    let legacy = public_rows(app).filter(|row| row.about.tag == Tag::Legacy);
    json!({
        "name": app.config.service_name,
        "short_name": app.config.service_name,
        "description": env!("CARGO_PKG_DESCRIPTION"),
        "id": "/", "start_url": "/", "scope": "/", "display": "standalone",
        "background_color": BACKGROUND_COLOUR, "theme_color": THEME_COLOUR,
        "icons": [
            {"src": FAVICON_PATH, "sizes": "any", "type": "image/svg+xml"},
            {"src": ICON_PATH, "sizes": "256x256", "type": "image/png"},
        ],
        "version": DESCRIPTION_VERSION,
        "api_version": DESCRIPTION_VERSION,
        "software_version": env!("CARGO_PKG_VERSION"),
        "base_url": app.config.base_url,
        "documentation": app.url("/docs"),
        "openapi": app.url("/openapi.json"),
        "llms": app.url("/llms.txt"),
        "agent_card": app.url(AGENT_CARD_PATH),
        "x402": app.url(X402_PATH),
        "mcp": app.url(MCP_PATH),
        "endpoints": endpoints(app),
        "pricing": {"tiers": levels(app, Product::Context), "packs": levels(app, Product::ProofPack), "bundles": bundles::price_list(app), "depths": levels(app, Product::Check)},
        "payment": {
            "x402Version": 2, "scheme": "exact", "network": terms.network, "asset": terms.asset, "pay_to": terms.pay_to,
            "facilitator": terms.facilitator.name(),
        },
        "legacy": legacy.map(|row| row.path).collect::<Vec<_>>(),
    })
}

fn endpoints(app: &App) -> Vec<Value> {
    operations(app).map(|row| {
        json!({
            "method": row.method.name(), "path": row.path, "summary": row.about.summary, "group": row.about.tag.name(),
            "price": row.about.price.text(),
        })
    })
    .collect()
}

/// GET /.well-known/api-catalog (RFC 9727).
pub async fn api_catalog(app: Shared, _: Call) -> Reply {
    let link = |path: &str, media_type: &str| json!([{"href": app.url(path), "type": media_type}]);
    let catalogue = json!({"linkset": [{
        "anchor": app.config.base_url,
        "service-desc": link("/openapi.json", "application/vnd.oai.openapi+json;version=3.1"),
        "service-doc": [
            {"href": app.url("/docs"), "type": "text/html"}, {"href": app.url("/llms-full.txt"), "type": "text/plain"},
        ],
        "service-meta": [
            {"href": app.url(X402_PATH), "type": "application/json"},
            {"href": app.url(AGENT_CARD_PATH), "type": "application/json"},
            {"href": app.url(mcp::card::PATH), "type": mcp::card::MEDIA_TYPE},
        ],
        "status": link("/health", "application/json"),
    }]});
    document_of(
        "application/linkset+json; profile=\"https://www.rfc-editor.org/info/rfc9727\"",
        catalogue.to_string(),
    )
}

/// GET /.well-known/ai-catalog.json and /.well-known/ard.json.
pub async fn ai_catalog(app: Shared, _: Call) -> Reply {
    let host = url::Url::parse(&app.config.base_url);
    let host = host
        .ok()
        .and_then(|url| url.host_str().map(str::to_owned))
        .unwrap_or_default();
    let entry = |name: &str, title: &str, media_type: &str, path: &str, queries: [&str; 2]| {
        json!({
            "identifier": format!("urn:air:{host}:service:{name}"),
            "displayName": title,
            "type": media_type,
            "url": app.url(path),
            "description": env!("CARGO_PKG_DESCRIPTION"),
            "representativeQueries": queries,
            "tags": ["x402", "markdown", "evidence"],
        })
    };
    document(json!({
        "specVersion": "1.0",
        "host": {"displayName": app.config.service_name, "identifier": host},
        // The types that the catalogue's specification knows; the OpenAPI document stands in the API catalogue beside
        // it.
        "entries": [
            entry("agent", "Agent card", "application/a2a-agent-card+json", AGENT_CARD_PATH,
                  ["Turn this web page into clean markdown", "What does a page cost?"]),
            entry("mcp", "MCP server", mcp::card::MEDIA_TYPE, mcp::card::PATH,
                  ["Does this page support that claim?", "Check the citations of a report"]),
        ],
    }))
}
