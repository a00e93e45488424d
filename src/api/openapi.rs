//! openapi.json (3.1), made from the route table and the field tables.

use serde_json::{Map, Value, json};

use crate::app::{App, Row};
use crate::domain::endpoint::Price;
use crate::domain::level::Product;
use crate::domain::pack::Pack;
use crate::domain::schema::Object;
use crate::domain::shapes;
use crate::domain::tier::Tier;

const CONTEXT_RESPONSE: &str = "#/components/schemas/ContextResponse";
const PROOF_PACK_RESPONSE: &str = "#/components/schemas/ProofPackResponse";
/// The specification's description version (section 9).
const DESCRIPTION_VERSION: &str = "1.2.0";

pub fn document(app: &App) -> Value {
    let mut paths = Map::new();
    for row in app.rows.iter().filter(|row| row.about.in_openapi) {
        add(&mut paths, row, row.path.to_owned());
        if row.from_alias {
            add(&mut paths, row, format!("/from/{{source}}{}", row.path));
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": app.config.service_name,
            "version": DESCRIPTION_VERSION,
            "description": env!("CARGO_PKG_DESCRIPTION"),
            "contact": {"url": app.url("/about")},
            "x-guidance": "POST /v1/x402/access with a target_url. Without payment the answer is 402 with the price; sign it and repeat the request with PAYMENT-SIGNATURE. Ask GET /v1/x402/quote first to see what each tier would deliver. POST /v1/x402/proof-pack with a target_url and a question buys a report on whether the source supports it; GET /v1/proof-pack/sample shows one for nothing.",
        },
        "x-agentcash-guidance": {"llmsTxtUrl": app.url("/llms.txt")},
        "x-discovery": {"ownershipProofs": []},
        "servers": [{"url": app.config.base_url}],
        "paths": paths,
        "components": {"schemas": schemas()},
    })
}

fn add(paths: &mut Map<String, Value>, row: &Row, path: String) {
    let alias = path != row.path;
    let operation = operation(row, &path, alias);
    let entry = paths.entry(path).or_insert_with(|| json!({}));
    entry[row.method.name().to_ascii_lowercase()] = operation;
}

fn operation(row: &Row, path: &str, alias: bool) -> Value {
    let about = &row.about;
    let mut operation = json!({
        "operationId": operation_id(row.method.name(), path),
        "summary": about.summary,
        "tags": [about.tag.name()],
        "security": [],
        "parameters": parameters(row, path),
        "responses": responses(row),
    });
    if alias {
        operation["description"] =
            "The same as without /from/{source}, attributed to the source.".into();
    }
    if let Some(object) = about.takes {
        let reference =
            |object: &Object| json!({"$ref": format!("#/components/schemas/{}", object.name)});
        let schema = match about.or_takes {
            None => reference(object),
            Some(other) => json!({"anyOf": [reference(object), reference(other)]}),
        };
        operation["requestBody"] = json!({
            "required": object.fields.iter().any(|field| field.required),
            "content": {"application/json": {"schema": schema, "example": object.example(false)}},
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

fn parameters(row: &Row, path: &str) -> Vec<Value> {
    let in_path = path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}')).map(|name| {
        json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}})
    });
    let in_query = row.about.query.iter().map(|parameter| {
        let mut schema = json!({"type": "string"});
        if !parameter.one_of.is_empty() {
            schema["enum"] = json!(parameter.one_of);
        }
        json!({"name": parameter.name, "in": "query", "required": false, "description": parameter.doc, "schema": schema})
    });
    let header = |name: &str, doc: &str| json!({"name": name, "in": "header", "required": false, "description": doc, "schema": {"type": "string"}});
    let in_headers = match row.about.price {
        Price::Of(product) if row.about.takes.is_some() => vec![
            header(
                "PAYMENT-SIGNATURE",
                "Base64 of the x402 payment payload; without it the answer is 402.",
            ),
            header(
                product.level_header(),
                &format!(
                    "The {}, where it is not in query or body.",
                    product.level_word()
                ),
            ),
            header(
                "X-Service-Source",
                "Where the buyer came from; no credential.",
            ),
        ],
        Price::Credit => vec![header(
            "X-Service-Retry-Credit",
            "The credit of an earlier 503.",
        )],
        Price::Transfer => vec![
            header(
                "X-Service-Payment-Hash",
                "Hash of the transaction that transferred the price; without it the answer is 402.",
            ),
            header("X-Service-Tier", "The tier, where it is not in the body."),
            header(
                "Idempotency-Key",
                "A secret of yours, 16 to 128 characters: who sends it again is given the answer again.",
            ),
        ],
        _ => vec![],
    };
    let needed = row.about.needs.iter().map(|parameter| {
        json!({"name": parameter.name, "in": "header", "required": true, "description": parameter.doc,
               "schema": {"type": "string"}})
    });
    let all = in_path.chain(in_query).chain(in_headers).chain(needed);
    all.collect()
}

fn responses(row: &Row) -> Value {
    let about = &row.about;
    let schema = match (about.gives, about.price) {
        ("application/json", Price::Of(Product::Context) | Price::Transfer)
            if about.takes.is_some() =>
        {
            json!({"$ref": CONTEXT_RESPONSE})
        }
        ("application/json", Price::Of(Product::ProofPack)) if about.takes.is_some() => {
            json!({"$ref": PROOF_PACK_RESPONSE})
        }
        ("application/json", Price::Credit) => {
            json!({"anyOf": [{"$ref": CONTEXT_RESPONSE}, {"$ref": PROOF_PACK_RESPONSE}]})
        }
        (media_type, _) if media_type.ends_with("json") => json!({"type": "object"}),
        _ => json!({"type": "string"}),
    };
    let mut responses = Map::new();
    responses.insert(
        about.gives_status.to_string(),
        json!({"description": "Success.", "content": {about.gives: {"schema": schema}}}),
    );
    // Every row is limited.
    let mut statuses: Vec<u16> = about.statuses.iter().copied().chain([429]).collect();
    statuses.sort_unstable();
    for status in statuses {
        let response = match status {
            200 => known_already(),
            status => refusal(status),
        };
        responses.insert(status.to_string(), response);
    }
    responses.into()
}

fn known_already() -> Value {
    let schema = json!({"type": "object"});
    json!({"description": "Known already.", "content": {"application/json": {"schema": schema}}})
}

fn refusal(status: u16) -> Value {
    let (description, schema) = match status {
        402 => (
            "Payment required. PAYMENT-REQUIRED carries the challenge in base64.",
            "PaymentRequired",
        ),
        422 => (
            "The request does not have the endpoint's shape.",
            "HTTPValidationError",
        ),
        429 => (
            "Too many requests. Retry-After says when to come back; nothing was charged.",
            "Error",
        ),
        503 => (
            "An outage. Retry-After says when to come back; X-Service-Retry-Credit redeems an accepted payment.",
            "Error",
        ),
        _ => (
            "Refused; `error.code` says why and `error.charged` whether it cost anything.",
            "Error",
        ),
    };
    let mut answer = json!({
        "description": description,
        "content": {"application/json": {"schema": {"$ref": format!("#/components/schemas/{schema}")}}},
    });
    if status == 402 {
        answer["headers"] = json!({"PAYMENT-REQUIRED": {"schema": {"type": "string"}, "description": "Base64 of the body."}});
    }
    if status == 429 {
        answer["headers"] = limit_headers();
    }
    answer
}

fn limit_headers() -> Value {
    let header = |kind: &str, doc: &str| json!({"schema": {"type": kind}, "description": doc});
    json!({
        "Retry-After": header("integer", "Seconds until the next request is taken."),
        "RateLimit-Limit": header("integer", "Requests in a window."),
        "RateLimit-Remaining": header("integer", "Requests left now."),
        "RateLimit-Reset": header("integer", "Seconds until the next request is taken."),
        "RateLimit-Policy": header("string", "The limit's name, quota and window, as in \"quote\";q=300;w=60."),
        "RateLimit": header("string", "The limit's name, what remains and seconds to wait, as in \"quote\";r=0;t=1."),
    })
}

/// What a page says of itself. Whatever it does not say is null.
fn metadata() -> Value {
    const TEXTS: [&str; 14] = [
        "title",
        "description",
        "author",
        "site_name",
        "published_at",
        "modified_at",
        "language",
        "canonical_url",
        "image",
        "favicon",
        "type",
        "next",
        "previous",
        "markdown_alternate",
    ];
    let texts = TEXTS.map(|name| (name.to_owned(), json!({"type": ["string", "null"]})));
    let lists = ["keywords", "json_ld_types"].map(|name| {
        let list = json!({"type": "array", "items": {"type": "string"}});
        (name.to_owned(), list)
    });
    let properties: Map<String, Value> = texts.into_iter().chain(lists).collect();
    json!({"type": "object", "properties": properties})
}

/// The shape of what a product answers when it is paid.
pub fn answer_schema(product: Product) -> Value {
    match product {
        Product::Context => context_response(),
        Product::ProofPack => proof_pack_response(),
    }
}

fn object(required: &[&str], properties: Value) -> Value {
    json!({"type": "object", "required": required, "properties": properties})
}

/// Specification 2.7.
fn context_response() -> Value {
    let text = || json!({"type": "string"});
    let signal = || json!({"enum": ["yes", "no", "unset"]});
    object(
        &[
            "status",
            "target_url",
            "tier",
            "markdown",
            "cache",
            "payment",
            "ueg_receipt",
        ],
        json!({
            "status": {"const": "success"}, "target_url": text(), "tier": {"enum": Tier::NAMES}, "markdown": text(),
            "final_url": text(), "content_source": text(), "metadata": metadata(), "links": {"type": "array"}, "headings": {"type": "array"},
            "stats": {"type": "object"}, "content_sha256": text(), "source_sha256": text(), "fetched_at": {"type": "integer"},
            "warnings": {"type": "array", "items": object(&["code", "message"], json!({"code": text(), "message": text()}))},
            "policy": object(&["robots", "content_signal", "meta_robots"], json!({
                "robots": {"enum": ["allowed", "disallowed", "unknown"]},
                "content_signal": object(&["ai_input", "ai_train", "search"], json!({
                    "ai_input": signal(), "ai_train": signal(), "search": signal(),
                })),
                "meta_robots": {"type": "array", "items": text()},
            })), "cache": {"type": "object"},
            "payment": {"type": "object"}, "ueg_receipt": {"type": "object"}, "request_id": text(),
        }),
    )
}

/// Specification 2.8.
fn proof_pack_response() -> Value {
    let text = || json!({"type": "string"});
    let texts = || json!({"type": "array", "items": text()});
    let share = || json!({"type": "number", "minimum": 0, "maximum": 1});
    let hash = || json!({"type": "string", "pattern": "^[0-9a-f]{64}$"});
    let required = [
        "status",
        "target_url",
        "question",
        "pack",
        "answer",
        "executive_summary",
        "confidence_score",
        "key_claims",
        "citations",
        "risks",
        "source_profile",
        "cache",
        "payment",
        "ueg_receipt",
    ];
    let place = |what| json!({"type": "integer", "minimum": 0, "description": what});
    let citation = object(
        &["id", "url", "excerpt", "start", "end"],
        json!({
            "id": text(), "url": text(), "excerpt": text(),
            "start": place("Where the excerpt begins in the source's markdown, in bytes of UTF-8."),
            "end": place("The byte after its last."),
        }),
    );
    json!({"type": "object", "required": required, "properties": {
        "status": {"const": "success"}, "target_url": text(), "question": text(), "pack": {"enum": Pack::NAMES},
        "report_id": text(), "report_url": text(), "report_page": text(), "verify_url": text(),
        "follow_up_url": text(), "refresh_url": text(), "result_hash": hash(), "source_hash": hash(),
        "created_at": {"type": "integer"}, "expires_at": {"type": "integer"}, "retention_days": {"type": "integer"},
        "answer": text(), "executive_summary": text(), "decision": {"type": "object"},
        "confidence_score": share(), "source_quality_score": share(), "agent_action": text(),
        "recommended_next_call": {"type": "object"}, "key_claims": {"type": "array", "items": {"type": "object"}},
        "supported_findings": texts(), "gaps": texts(), "citation_coverage": {"type": "object"},
        "citations": {"type": "array", "items": citation}, "risks": texts(),
        "source_profile": {"type": "object"}, "cache": {"type": "object"}, "payment": {"type": "object"},
        "ueg_receipt": {"type": "object"},
    }})
}

fn schemas() -> Map<String, Value> {
    let mut schemas: Map<String, Value> = shapes::ALL
        .iter()
        .map(|object| (object.name.to_owned(), object.json_schema()))
        .collect();
    let text = || json!({"type": "string"});
    schemas.insert(
        "ContextResponse".to_owned(),
        answer_schema(Product::Context),
    );
    schemas.insert(
        "ProofPackResponse".to_owned(),
        answer_schema(Product::ProofPack),
    );
    schemas.insert("Error".to_owned(), object(&["status", "error", "detail", "request_id"], json!({
        "status": {"const": "error"},
        "error": object(&["code", "message", "retryable", "charged"], json!({
            "code": text(), "message": text(), "retryable": {"type": "boolean"}, "charged": {"type": "boolean"},
            "next_step": text(), "docs_url": text(),
        })),
        "detail": text(),
        "request_id": text(),
        "retry": {"type": "object"},
        "alternatives": {"type": "array"},
    })));
    schemas.insert(
        "PaymentRequired".to_owned(),
        json!({"type": "object", "description": "x402 version 2 PaymentRequired."}),
    );
    schemas.insert("HTTPValidationError".to_owned(), object(&[], json!({
        "detail": {"type": "array", "items": {"$ref": "#/components/schemas/ValidationError"}},
    })));
    schemas.insert("ValidationError".to_owned(), object(&["loc", "msg", "type"], json!({
        "loc": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}},
        "msg": text(), "type": text(), "input": {}, "ctx": {"type": "object"},
    })));
    schemas
}
