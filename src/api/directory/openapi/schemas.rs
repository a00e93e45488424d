//! JSON Schemas of responses.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::api::directory::openapi::parameters;
use crate::domain::code::Code;
use crate::domain::endpoint::Schema;
use crate::domain::level::Product;
use crate::domain::pack::Pack;
use crate::domain::render::Render;
use crate::domain::schema::Object;
use crate::domain::shapes::{self, QUOTE_BELONGINGS};
use crate::domain::tier::Tier;
use crate::evidence::bundle::BundleReport;
use crate::evidence::check::CheckReport;
use crate::evidence::report::Report;
use crate::state::excerpt::TOKEN_METHOD;
use crate::x402::wire::PaymentRequirements;

/// A page's metadata. Missing values are null.
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

/// The schema of a successful answer.
pub fn answer_schema(schema: Schema) -> Value {
    match schema {
        Schema::Page => context_response(),
        Schema::Pages => pages_response(),
        Schema::Report => report_response::<Report>(&["cache", "payment", "ueg_receipt"]),
        Schema::BundleReport => report_response::<BundleReport>(&["payment", "ueg_receipt"]),
        Schema::CheckReport => report_response::<CheckReport>(&["payment", "ueg_receipt"]),
        Schema::Purchases => purchases_response(),
        Schema::PaymentRequired => payment_required(),
    }
}

fn object(required: &[&str], properties: Value) -> Value {
    json!({"type": "object", "required": required, "properties": properties})
}

/// An array of objects with these members.
fn list(properties: Value) -> Value {
    json!({"type": "array", "items": {"type": "object", "properties": properties}})
}

/// Several pages in one answer: each as a page is, without what belongs to the purchase.
fn pages_response() -> Value {
    let object_of = |names: &[&str]| -> Value {
        let members = names
            .iter()
            .map(|name| ((*name).to_owned(), json!({"type": "object"})));
        members.collect::<Map<_, _>>().into()
    };
    let page = json!({
        "type": "object", "required": ["target_url", "cache", "markdown", "content_sha256"],
        "properties": {
            "target_url": {"type": "string"}, "cache": {"type": "object"}, "markdown": {"type": "string"},
            "content_sha256": {"type": "string"}, "metadata": {"type": "object"},
        },
    });
    let unread = json!({"target_url": {"type": "string"}, "code": {"type": "string"}, "message": {"type": "string"}});
    let mut properties = object_of(&["ueg_receipt", "payment"]);
    properties["status"] = json!({"const": "success"});
    properties["tier"] = json!({"enum": Product::Context.level_names()});
    properties["pages"] = json!({"type": "array", "items": page});
    properties["unread"] = list(unread);
    object(
        &[
            "status",
            "tier",
            "pages",
            "unread",
            "payment",
            "ueg_receipt",
        ],
        properties,
    )
}

/// What a wallet has bought, the newest first.
fn purchases_response() -> Value {
    let text = || json!({"type": "string"});
    let number = || json!({"type": "integer"});
    let optional = || json!({"type": ["string", "null"]});
    let mut properties = json!({
        "purchase_id": text(), "settled_at": number(), "product": {"enum": Product::NAMES}, "quantity": number(),
        "target_url": text(), "target_urls": {"type": "array", "items": text()}, "question": optional(),
        "amount": text(), "network": text(), "transaction": text(), "paid_by": text(),
        "answer_owed": {"type": "boolean"}, "answer_kept": {"type": "boolean"}, "answer_url": text(),
        "report_id": text(), "report_url": text(), "report_page": text(), "report_expires_at": number(),
    });
    for product in Product::ALL {
        properties[product.level_word()] = json!({"enum": product.level_names()});
    }
    let required = [
        "purchase_id",
        "settled_at",
        "product",
        "quantity",
        "target_urls",
        "amount",
        "network",
        "answer_owed",
        "answer_kept",
        "answer_url",
    ];
    let pagination = json!({"limit": number(), "next": optional()});
    object(
        &["status", "payer", "purchases", "pagination"],
        json!({
            "status": {"const": "success"}, "payer": text(), "retention_days": number(),
            "purchases": {"type": "array", "items": object(&required, properties)},
            "pagination": object(&["limit", "next"], pagination),
        }),
    )
}

/// What a page's buyer gets.
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
            "final_url": text(), "content_source": text(), "extraction": object(&["confidence"], json!({"confidence": {"type": ["number", "null"]}})), "metadata": metadata(), "links": list(json!({"text": text(), "url": text(), "rel": {"type": ["string", "null"]}})),
            "headings": list(json!({"level": {"type": "integer"}, "text": text()})),
            "stats": stats(), "content_sha256": text(), "source_sha256": text(), "fetched_at": {"type": "integer"},
            "warnings": {"type": "array", "items": object(&["code", "message"], json!({"code": text(), "message": text()}))},
            "policy": object(&["robots", "content_signal", "meta_robots"], json!({
                "robots": {"enum": ["allowed", "disallowed", "unknown"]},
                "content_signal": object(&["ai_input", "ai_train", "search"], json!({
                    "ai_input": signal(), "ai_train": signal(), "search": signal(),
                })),
                "meta_robots": {"type": "array", "items": text()},
            })), "cache": {"type": "object"},
            "rendered": {"type": "boolean"}, "render_ms": {"type": "integer"},
            "payment": {"type": "object"}, "ueg_receipt": {"type": "object"}, "request_id": text(), "excerpt": excerpt(),
        }),
    )
}

fn stats() -> Value {
    let number = || json!({"type": "integer"});
    let word_count = "Words of the markdown. Each character of a script without spaces between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese) counts as one.";
    object(
        &["word_count", "token_count"],
        json!({
            "word_count": {"type": "integer", "description": word_count}, "token_count": number(),
            "token_method": {"type": "string"}, "bytes_fetched": number(), "markdown_bytes": number(),
            "fetch_ms": number(), "extract_ms": number(),
        }),
    )
}

/// What was done where a part of the page was asked for.
fn excerpt() -> Value {
    let number = || json!({"type": ["integer", "null"]});
    let flag = || json!({"type": "boolean"});
    let stated = || json!({"type": ["string", "null"]});
    object(
        &["characters", "estimated_tokens", "truncated"],
        json!({
            "query": stated(), "max_tokens": number(), "max_characters": number(), "selector": stated(),
            "exclude_selector": stated(), "include_links": flag(), "include_images": flag(), "include_tables": flag(),
            "characters": number(), "estimated_tokens": number(), "token_method": {"const": TOKEN_METHOD},
            "blocks_kept": number(), "blocks_total": number(), "truncated": flag(), "ranked_by_query": flag(),
            "page_content_sha256": {"type": "string"},
        }),
    )
}

/// The schema of a report's type, with the members that the sale puts beside it.
fn report_response<R: JsonSchema>(beside: &[&str]) -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let report = settings.into_generator().into_root_schema_for::<R>();
    let mut schema = report.to_value();
    without_titles(&mut schema);
    for name in beside {
        schema["properties"][*name] = json!({"type": "object"});
        if let Some(required) = schema["required"].as_array_mut() {
            required.push((*name).into());
        }
    }
    schema
}

/// Leaves out what only Rust means: names of types and widths of integers.
fn without_titles(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if members.get("title").is_some_and(Value::is_string) {
                members.remove("title");
            }
            if members.get("format").is_some_and(Value::is_string) {
                members.remove("format");
            }
            members.values_mut().for_each(without_titles);
        }
        Value::Array(items) => items.iter_mut().for_each(without_titles),
        _ => {}
    }
}

/// All schemas under `components`.
pub fn all() -> Map<String, Value> {
    let mut schemas: Map<String, Value> = shapes::ALL
        .iter()
        .map(|object| (object.name.to_owned(), object.json_schema()))
        .collect();
    let text = || json!({"type": "string"});
    for answer in Schema::ALL {
        schemas.insert(answer.name().to_owned(), answer_schema(answer));
    }
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.text()).collect();
    let error = object(
        &[
            "code",
            "message",
            "retryable",
            "charged",
            "next_step",
            "docs_url",
        ],
        json!({
            "code": {"enum": codes}, "message": text(), "retryable": {"type": "boolean"}, "charged": {"type": "boolean"},
            "next_step": text(), "docs_url": text(),
        }),
    );
    schemas.insert(
        "Error".to_owned(),
        object(
            &["status", "error", "detail", "request_id"],
            json!({
                "status": {"const": "error"},
                "error": error.clone(),
                "detail": text(),
                "request_id": text(),
                "retry": {"type": "object"},
                "alternatives": list(json!({"tier": text(), "amount": text()})),
                "rejected_urls": list(json!({"url": text(), "reason": text()})),
            }),
        ),
    );
    schemas.insert("HTTPValidationError".to_owned(), object(&["status", "error", "detail", "request_id"], json!({
        "status": {"const": "error"}, "error": error.clone(), "request_id": text(),
        "detail": {"type": "array", "items": {"$ref": "#/components/schemas/ValidationError"}},
    })));
    schemas.insert("ValidationError".to_owned(), object(&["loc", "msg", "type"], json!({
        "loc": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}},
        "msg": text(), "type": text(), "input": {}, "ctx": {"type": "object"},
    })));
    schemas
}

/// Further constraints of a body. Challenges contain the plain schema, where every byte counts.
pub fn narrowing(object: &Object) -> Option<Value> {
    let never_with = |names: &[&str]| {
        let members = names.iter().map(|name| ((*name).to_owned(), false.into()));
        members.collect::<Map<String, Value>>()
    };
    Some(match object.name {
        // A tier that never fetches takes nothing for which the page has to be fetched.
        "AccessRequest" | "PagesRequest" => json!({"not": {
            "required": ["tier"],
            "properties": {"tier": {"enum": ["starter", "cached"]}},
            "anyOf": [
                {"required": ["force_refresh"], "properties": {"force_refresh": {"const": true}}},
                {"required": ["render"], "properties": {"render": {"const": "always"}}},
                {"required": ["include_comments"], "properties": {"include_comments": {"const": true}}},
                {"required": ["selector"], "properties": {"selector": {"pattern": parameters::NOT_BLANK}}},
                {"required": ["exclude_selector"], "properties": {"exclude_selector": {"pattern": parameters::NOT_BLANK}}},
            ],
        }}),
        // Only a deep pack has a picture of the page, and a browser takes it.
        "ProofPackRequest" => json!({"not": {
            "required": ["screenshot"],
            "properties": {"screenshot": {"const": true}},
            "anyOf": [
                {"not": {"required": ["pack"], "properties": {"pack": {"const": Pack::Deep.name()}}}},
                {"required": ["render"], "properties": {"render": {"const": Render::Never.name()}}},
            ],
        }}),
        "QuoteRequest" => {
            let of = |(product, needed, foreign): &(&str, &str, &[&str])| {
                let mut properties = never_with(foreign);
                properties.insert("product".to_owned(), json!({"const": product}));
                json!({"required": [needed], "properties": properties})
            };
            json!({"anyOf": QUOTE_BELONGINGS.iter().map(of).collect::<Vec<_>>()})
        }
        "ProofBundleRequest" => json!({
            "oneOf": [
                {"required": ["target_urls"], "properties": {"target_urls": true}},
                {"required": ["sources"], "properties": {"sources": true}},
            ],
            "not": {"required": ["question", "claims"], "properties": {"question": true, "claims": true}},
        }),
        "PackLeadRequest" => json!({"properties": {"contact": {"pattern": ONE_LINE}}}),
        "BundleLeadRequest" => json!({"properties": {
            "contact": {"pattern": ONE_LINE}, "target_urls": {"contains": {"pattern": parameters::NOT_BLANK}},
        }}),
        "ContactRequest" => json!({"properties": {
            "email": {"pattern": EMAIL}, "message": {"pattern": PRINTED},
        }}),
        _ => return None,
    })
}

/// A text without line breaks and other control characters.
const ONE_LINE: &str = r"^[^\x00-\x1f\x7f-\x9f]*$";
/// A text with at least one visible character.
const PRINTED: &str = r"[^\s\x00-\x1f\x7f-\x9f]";
/// An e-mail address ([`crate::domain::email`]). The service takes letters of every alphabet as well, and more dots.
const EMAIL: &str = r"^ *[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,40}(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,20})?@([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])? *$";

/// x402 version 2.
fn payment_required() -> Value {
    let text = || json!({"type": "string"});
    let address = || json!({"type": "string", "pattern": "^0x[0-9a-fA-F]{40}$"});
    let accept = object(
        &PaymentRequirements::FIELDS,
        json!({
            "scheme": {"const": "exact"}, "network": {"type": "string", "pattern": "^eip155:[0-9]+$"},
            "amount": {"type": "string", "pattern": "^[0-9]+$", "description": "Units of the asset, which has 6 decimals."},
            "asset": address(), "payTo": address(), "maxTimeoutSeconds": {"type": "integer"},
            "extra": object(&["name", "version"], json!({"name": text(), "version": text()})),
        }),
    );
    object(
        &["x402Version", "resource", "accepts"],
        json!({
            "x402Version": {"const": 2}, "error": text(),
            "resource": object(&["url"], json!({
                "url": text(), "description": text(), "mimeType": text(), "serviceName": text(),
                "tags": {"type": "array", "items": text()}, "iconUrl": text(),
            })),
            "accepts": {"type": "array", "minItems": 1, "items": accept},
            "extensions": {"type": "object"},
        }),
    )
}
