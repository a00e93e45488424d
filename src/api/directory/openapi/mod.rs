//! openapi.json (3.1), made from the route table and the field tables.

pub mod examples;
pub mod parameters;
pub mod responses;
pub mod schemas;

use serde_json::{Map, Value, json};

use crate::api::directory::documents::{A2A_PATH, DESCRIPTION_VERSION, operations};
use crate::api::orders::webhook;
use crate::app::{App, Row};
use crate::domain::endpoint::{MCP_PATH, Price};
use crate::domain::level::Product;
use crate::domain::schema::Object;

pub use parameters::query_schema;
pub use schemas::answer_schema;

pub fn document(app: &App) -> Value {
    let mut paths = Map::new();
    for row in app.rows.iter().filter(|row| row.about.in_openapi) {
        add(app, &mut paths, row);
    }
    let contact = match app.reloaded().contact.as_deref() {
        Some(address) if address.contains('@') => {
            json!({"email": address.trim_start_matches("mailto:"), "url": app.url("/about")})
        }
        _ => json!({"url": app.url("/about")}),
    };
    let described = app.rows.iter().filter(|row| row.about.in_openapi);
    let mut tags: Vec<&str> = described.map(|row| row.about.tag.name()).collect();
    tags.sort_unstable();
    tags.dedup();
    // Bodies of operations that are not described are left out too.
    let mut schemas = schemas::all();
    let references = json!([paths, schemas]).to_string();
    schemas.retain(|name, _| references.contains(&format!("#/components/schemas/{name}\"")));
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": app.config.service_name,
            "version": DESCRIPTION_VERSION,
            "description": format!("{}. {}", env!("CARGO_PKG_DESCRIPTION"), not_described(app)),
            "contact": contact,
            "x-guidance": "POST /v1/x402/access with a target_url. Without payment the response is 402 with the price; sign it and repeat the request with PAYMENT-SIGNATURE. Call GET /v1/x402/quote first to see what each tier would deliver. POST /v1/x402/proof-pack with a target_url and a question to buy a report on whether the source supports it; GET /v1/proof-pack/sample returns a free one.",
        },
        "x-agentcash-guidance": {"llmsTxtUrl": app.url("/llms.txt")},
        "x-discovery": {"ownershipProofs": []},
        "servers": [{"url": app.config.base_url}],
        "tags": tags.iter().map(|name| json!({"name": name, "description": tag_description(name)})).collect::<Vec<_>>(),
        "paths": paths,
        "components": {"schemas": schemas, "examples": examples::all(app)},
    })
}

/// The document's note on what it omits. Directories reject more than 40 operations, so it has only those that agents
/// call most.
fn not_described(app: &App) -> String {
    let omitted = operations(app).filter(|row| !row.about.in_openapi);
    let omitted = omitted.map(|row| format!("{} {}", row.method.name(), row.path));
    format!(
        "Every GET also supports HEAD, and /v1/x402/access and /v1/x402/proof-pack also stand under /from/{{source}}. \
         Omitted are HEAD, HTML pages, the brief at /, redirects (/proof-pack/bundle/pay), the documents that /.well-known/api-catalog \
         lists, the protocols at {} and {}, the payment provider's webhook ({}), the operator's addresses, and these \
         operations, which /llms-full.txt describes: {}.",
        MCP_PATH,
        A2A_PATH,
        webhook::PATH,
        omitted.collect::<Vec<_>>().join(", "),
    )
}

fn add(app: &App, paths: &mut Map<String, Value>, row: &Row) {
    let operation = operation(app, row, row.path);
    let entry = paths.entry(row.path).or_insert_with(|| json!({}));
    entry[row.method.name().to_ascii_lowercase()] = operation;
}

fn operation(app: &App, row: &Row, path: &str) -> Value {
    let about = &row.about;
    let mut operation = json!({
        "operationId": operation_id(row.method.name(), path),
        "summary": about.summary,
        "tags": [about.tag.name()],
        "security": [],
        "parameters": parameters::parameters(row, path),
        "responses": responses::responses(app, row),
    });
    if let Some(object) = about.takes {
        let reference = |object: &Object| {
            let whole = json!({"$ref": format!("#/components/schemas/{}", object.name)});
            match schemas::narrowing(object) {
                None => whole,
                Some(narrowing) => json!({"allOf": [whole, narrowing]}),
            }
        };
        let schema = match about.or_takes {
            [] => reference(object),
            others => {
                let all = std::iter::once(&object).chain(others);
                json!({"anyOf": all.map(|object| reference(object)).collect::<Vec<_>>()})
            }
        };
        operation["requestBody"] = json!({
            "required": object.fields.iter().any(|field| field.required),
            "content": {"application/json": {"schema": schema, "example": request_example(object)}},
        });
    }
    if let (Price::Of(product), Some(_)) = (about.price, about.takes) {
        let (least, most) = product.prices();
        operation["x-payment-info"] = json!({
            "price": {"mode": "dynamic", "currency": "USD", "min": least.to_string(), "max": most.to_string()},
            "protocols": [{"x402": {}}],
        });
    }
    operation
}

/// Constraints of bodies whose members exclude each other.
const TOGETHER: [(&str, &[&str]); 2] = [
    (
        "QuoteRequest",
        &["product", "target_url", "pack", "question"],
    ),
    ("ProofBundleRequest", &["sources", "question", "bundle"]),
];

/// A valid example body. Some optional members exclude each other.
pub fn request_example(object: &Object) -> Value {
    if let Some((_, names)) = TOGETHER.iter().find(|(name, _)| *name == object.name) {
        let mut example = object.example(true);
        if let Some(members) = example.as_object_mut() {
            members.retain(|name, _| names.contains(&name.as_str()));
        }
        return example;
    }
    let sells = Product::ALL.map(|product| product.request().name);
    object.example(sells.contains(&object.name))
}

/// `POST /v1/x402/access` → `post_v1_x402_access`.
fn operation_id(method: &str, path: &str) -> String {
    let words = path
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    let mut id = method.to_ascii_lowercase();
    words.for_each(|word| {
        id.push('_');
        id.push_str(word);
    });
    id
}

fn tag_description(name: &str) -> String {
    let what = match name {
        "paid" => "Operations paid by x402",
        "legacy" => "Operations from before x402 version 2",
        "quotes" => "Free quotes and previews",
        "bundles" => "Evidence Bundles: quotes, requests, messages",
        "reports" => "Stored reports: read, verify, ask, refresh, share",
        "discovery" => "Service description and health",
        other => return format!("Operations on {other}."),
    };
    format!("{what}.")
}
