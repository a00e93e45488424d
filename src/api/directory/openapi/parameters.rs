//! Path, query and header parameters.

use serde_json::{Value, json};

use crate::app::Row;
use crate::domain::check::SOURCES_MAX;
use crate::domain::endpoint::{Parameter, Price};
use crate::domain::lead::CONTACT_CHARACTERS_MAX;
use crate::domain::level::Product;
use crate::domain::shapes::{QUESTION_CHARACTERS_MAX, TARGET_URL_CHARACTERS_MAX};

/// Integer parameters: name, minimum, default and maximum.
const NUMBERS: [(&str, u64, u64, Option<usize>); 3] = [
    ("limit", 1, 20, None),
    ("offset", 0, 0, None),
    ("texts", 0, 0, Some(SOURCES_MAX)),
];
/// Text parameters with a maximum length.
const TEXTS: [(&str, usize); 3] = [
    ("question", QUESTION_CHARACTERS_MAX),
    ("email", CONTACT_CHARACTERS_MAX),
    ("target_url", TARGET_URL_CHARACTERS_MAX),
];
/// Path parameters with a pattern and an example.
const IDENTIFIERS: [(&str, &str, &str); 4] = [
    ("source", r"^[\s\S]+$", "newsletter"),
    ("report_id", "^ppr_([0-9a-f]{32}|sample)$", "ppr_sample"),
    (
        "quote_id",
        "^(qt|bq)_[0-9a-f]{32}$",
        "qt_00000000000000000000000000000000",
    ),
    (
        "purchase_id",
        PURCHASE_ID,
        "pur_00000000000000000000000000000000",
    ),
];
const PURCHASE_ID: &str = "^pur_[0-9a-f]{32}$";
/// Query parameters with a pattern.
const PATTERNS: [(&str, &str); 1] = [("before", PURCHASE_ID)];

/// The pattern of a text that must not be blank.
pub const NOT_BLANK: &str = r"\S";
/// Headers with a pattern.
const HEADERS: [(&str, &str); 4] = [
    ("X-Service-Payment-Proof", "^0[xX][0-9a-fA-F]{130}$"),
    ("X-Service-Payment-Hash", "^(0[xX])?[0-9a-fA-F]{64}$"),
    ("X-Service-Retry-Credit", "^rc_[0-9a-f]{32}$"),
    ("Idempotency-Key", "^[!-~]{16,128}$"),
];

pub fn parameters(row: &Row, path: &str) -> Vec<Value> {
    let names = path
        .split('/')
        .filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
    let in_path = names.map(in_path);
    // The alias already names the source.
    let in_query = row
        .about
        .query
        .iter()
        .filter(|parameter| parameter.name != "source" || !path.contains("{source}"));
    let in_query = in_query.map(|parameter| {
        let mut schema = query_schema(parameter);
        let is_needed = row.about.needs_query.contains(&parameter.name);
        if is_needed {
            schema["minLength"] = 1.into();
            schema["pattern"] = NOT_BLANK.into();
        }
        json!({
            "name": parameter.name, "in": "query", "required": is_needed, "description": parameter.doc,
            "schema": schema,
        })
    });
    // Without it a 402 says how to make one.
    let is_offered = row.about.statuses.contains(&402);
    let needed = row.about.needs.iter().map(|parameter| parameter.name);
    let needed: Vec<&str> = needed.filter(|_| !is_offered).collect();
    let in_headers = headers(row).into_iter().map(|(name, doc)| {
        json!({
            "name": name, "in": "header", "required": needed.contains(&name), "description": doc,
            "schema": header_schema(name),
        })
    });
    in_path.chain(in_query).chain(in_headers).collect()
}

fn in_path(name: &str) -> Value {
    let mut parameter =
        json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}});
    if let Some((_, pattern, example)) = IDENTIFIERS.iter().find(|(known, ..)| *known == name) {
        parameter["schema"]["pattern"] = (*pattern).into();
        parameter["example"] = (*example).into();
    }
    parameter
}

/// The schema of a query parameter.
pub fn query_schema(parameter: &Parameter) -> Value {
    let number = NUMBERS.iter().find(|(name, ..)| *name == parameter.name);
    let text = TEXTS.iter().find(|(name, _)| *name == parameter.name);
    let mut schema = match (number, text) {
        (Some((_, least, default, most)), _) => {
            let mut schema = json!({"type": "integer", "minimum": least, "default": default});
            if let Some(most) = most {
                schema["maximum"] = (*most).into();
            }
            schema
        }
        (_, Some((_, most))) => json!({"type": "string", "maxLength": most}),
        _ => json!({"type": "string"}),
    };
    if let Some((_, pattern)) = PATTERNS.iter().find(|(name, _)| *name == parameter.name) {
        schema["pattern"] = (*pattern).into();
    }
    if !parameter.one_of.is_empty() {
        schema["enum"] = json!(parameter.one_of);
    }
    schema["description"] = parameter.doc.into();
    schema
}

/// The schema of a header.
fn header_schema(name: &str) -> Value {
    let product = Product::ALL
        .into_iter()
        .find(|product| product.level_header() == name);
    let shape = HEADERS.iter().find(|(known, _)| *known == name);
    match (product, shape) {
        (Some(product), _) => json!({"type": "string", "enum": product.level_names()}),
        (None, Some((_, pattern))) => json!({"type": "string", "pattern": pattern}),
        (None, None) => json!({"type": "string"}),
    }
}

/// The headers that a row reads: name and meaning.
pub fn headers(row: &Row) -> Vec<(&'static str, String)> {
    let header = |name, doc: &str| (name, doc.to_owned());
    let level = |product: Product, elsewhere: &str| {
        let doc = format!("The {}, if not in {elsewhere}.", product.level_word());
        (product.level_header(), doc)
    };
    let mut headers = match row.about.price {
        Price::Of(product) if row.about.takes.is_some() => vec![
            header(
                "PAYMENT-SIGNATURE",
                "Base64 of the x402 payment payload; without it the response is 402.",
            ),
            level(product, "query or body"),
            header(
                "X-Service-Source",
                "The buyer's referral source; not a credential.",
            ),
        ],
        Price::Of(product) => vec![level(product, "the query")],
        Price::Credit => vec![header(
            "X-Service-Retry-Credit",
            "The retry credit of an earlier 503.",
        )],
        Price::Transfer => vec![
            header(
                "X-Service-Payment-Hash",
                "Hash of the transaction that transferred the price; without it the response is 402.",
            ),
            header("X-Service-Tier", "The tier, if not in the body."),
            header(
                "X-Service-Payment-Proof",
                "Signature (personal_sign) by the transfer's sender over the text in the response without it.",
            ),
            header(
                "Idempotency-Key",
                "A secret of 16 to 128 characters; sending it again returns the same response.",
            ),
        ],
        _ => vec![],
    };
    let needed = row.about.needs.iter();
    headers.extend(needed.map(|parameter| header(parameter.name, parameter.doc)));
    headers
}
