//! What the descriptions of the service have in common: versions, paths, price lists, rows of the route table.

use serde_json::{Value, json};

use crate::api::orders::webhook;
use crate::app::{App, Row};
use crate::domain::endpoint::Tag;
use crate::domain::level::{Level, Product};
use crate::http::{Guard, Method, Reply};
use crate::signing::{DID_PATH, JWKS_PATH};

/// [`DESCRIPTION_VERSION`] as a literal for texts that are put together at compile time.
macro_rules! description_version {
    () => {
        "1.2.0"
    };
}
pub(crate) use description_version;

/// The version of the API, not of the program.
pub const DESCRIPTION_VERSION: &str = description_version!();

/// The message interface of A2A.
pub const A2A_PATH: &str = "/a2a";
pub const AGENT_CARD_PATH: &str = "/.well-known/agent-card.json";

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
