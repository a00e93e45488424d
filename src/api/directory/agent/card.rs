//! The agent card, valid for A2A 1.0 and 0.3. Its skills are the MCP tools, from the route table.

use serde_json::{Value, json};

use crate::api::directory::documents::{A2A_PATH, DESCRIPTION_VERSION, contact, document};
use crate::api::directory::mcp::tools;
use crate::api::directory::openapi;
use crate::api::frame::made_once;
use crate::app::{App, Row, Shared};
use crate::http::{Call, Reply};
use crate::pages::assets::ICON_PATH;

const X402_EXTENSION: &str =
    "https://github.com/google-agentic-commerce/a2a-x402/blob/main/spec/v0.2";

/// GET /.well-known/agent-card.json and /.well-known/agent.json.
pub async fn card(app: Shared, call: Call) -> Reply {
    made_once(&app, &call, |app| document(card_json(app)))
}

fn card_json(app: &App) -> Value {
    let interface = app.url(A2A_PATH);
    json!({
        "protocolVersion": "0.3.0",
        "name": app.config.service_name,
        "description": env!("CARGO_PKG_DESCRIPTION"),
        "url": interface,
        "preferredTransport": "JSONRPC",
        "additionalInterfaces": [{"url": interface, "transport": "JSONRPC"}],
        "supportedInterfaces": [
            {"url": interface, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
            {"url": interface, "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"},
            {"url": interface, "protocolBinding": "JSONRPC", "protocolVersion": "0.3"},
        ],
        "version": DESCRIPTION_VERSION,
        "provider": {"organization": app.config.service_name, "url": app.config.base_url},
        "documentationUrl": app.url("/docs"),
        "iconUrl": app.url(ICON_PATH),
        "capabilities": {
            "streaming": false, "pushNotifications": false, "extendedAgentCard": false,
            "extensions": [{
                "uri": X402_EXTENSION, "required": false,
                "description": "Paid operations are HTTP endpoints and MCP tools that take x402 version 2 payments.",
                "params": {"resources": app.url("/discovery/resources"), "contact": contact(app)},
            }],
        },
        "defaultInputModes": ["text/plain", "application/json"],
        "defaultOutputModes": ["application/json", "text/markdown"],
        "skills": tools::rows(app).map(skill).collect::<Vec<_>>(),
    })
}

/// Skills whose names differ from the tools' names.
const NAMES: [(&str, &str); 2] = [("quote_page", "quote"), ("quote_bundle", "bundle-quote")];

fn skill(row: &Row) -> Value {
    let about = &row.about;
    let tool = about.tool.unwrap_or_default();
    let name = NAMES.iter().find(|(of, _)| *of == tool);
    let id = name.map_or_else(|| tool.replace('_', "-"), |(_, name)| (*name).to_owned());
    let price = about.price.text().unwrap_or_else(|| "free".to_owned());
    let example = match about.takes {
        Some(object) => openapi::request_example(object).to_string(),
        None => format!("{} {}", row.method.name(), row.path),
    };
    json!({
        "id": id,
        "name": about.summary,
        "description": format!("{}: {} {}, {price}.", about.summary, row.method.name(), row.path),
        "tags": [about.tag.name(), "x402", "web"],
        "examples": [example],
        "inputModes": ["application/json"],
        "outputModes": [about.gives],
    })
}
