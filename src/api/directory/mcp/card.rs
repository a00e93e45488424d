//! The MCP server card (SEP-2127), for clients before they connect.

use serde_json::{Value, json};

use crate::api::directory::documents::document_of;
use crate::api::directory::mcp::era;
use crate::app::{App, Shared};
use crate::domain::endpoint::MCP_PATH;
use crate::http::{Call, Reply};
use crate::pages::assets::ICON_PATH;

pub const PATH: &str = "/.well-known/mcp/server-card.json";
/// The same beside the endpoint.
pub const PATH_BESIDE: &str = "/mcp/server-card";
pub const MEDIA_TYPE: &str = "application/mcp-server-card+json";
const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json";

/// GET /.well-known/mcp/server-card.json.
pub async fn card(app: Shared, _: Call) -> Reply {
    document_of(MEDIA_TYPE, document(&app).to_string())
}

fn document(app: &App) -> Value {
    json!({
        "$schema": SCHEMA,
        "name": format!("{}/context402", reversed_host(&app.config.base_url)),
        "title": app.config.service_name,
        "version": env!("CARGO_PKG_VERSION"),
        "description": env!("CARGO_PKG_DESCRIPTION"),
        "websiteUrl": app.config.base_url,
        "icons": [{"src": app.url(ICON_PATH), "mimeType": "image/png", "sizes": ["256x256"]}],
        "remotes": [{
            "type": "streamable-http", "url": app.url(MCP_PATH), "supportedProtocolVersions": era::versions(),
        }],
    })
}

/// `https://api.example.com` → `com.example.api`; an address without a name as it is.
fn reversed_host(base_url: &str) -> String {
    let url = url::Url::parse(base_url).ok();
    match url.as_ref().and_then(url::Url::host) {
        Some(url::Host::Domain(name)) => name.rsplit('.').collect::<Vec<_>>().join("."),
        Some(url::Host::Ipv4(address)) => address.to_string(),
        _ => "localhost".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_from_its_end() {
        for (base_url, expected) in [
            ("https://api.example.com", "com.example.api"),
            ("http://127.0.0.1:4020", "127.0.0.1"),
            ("http://[::1]:4020", "localhost"),
            ("http://localhost:4020", "localhost"),
        ] {
            assert_eq!(reversed_host(base_url), expected);
        }
    }
}
