//! The responses of each route, with generated examples.

use serde_json::{Map, Value, json};

use crate::api::challenge;
use crate::api::directory::openapi::examples;
use crate::api::failure::PAYMENT_ERROR;
use crate::app::{App, Row};
use crate::domain::endpoint::Price;
use crate::domain::level::Product;

pub fn responses(app: &App, row: &Row) -> Value {
    let about = &row.about;
    let mut success = json!({"schema": success_schema(row)});
    if let Some(name) = examples::success(row) {
        success["examples"] = examples::named(name);
    }
    let mut content = json!({about.gives: success});
    if let Some(other) = about.or_gives {
        content[other] = json!({"schema": {"type": "array", "items": {"type": "object"}}});
    }
    if has_markdown(row) {
        content["text/markdown"] = json!({"schema": {"type": "string"}});
    }
    let mut answer = match about.gives_status {
        303 => json!({
            "description": "Redirect.", "headers": {"Location": text("The next address.")},
        }),
        _ => json!({"description": "Success.", "content": content}),
    };
    if row.about.takes.is_some() && matches!(about.price, Price::Of(_)) {
        answer["headers"] = json!({"PAYMENT-RESPONSE": {
            "schema": {"type": "string"}, "description": "Base64 of the settlement, with its transaction and a signed receipt.",
        }});
    }
    let mut responses = Map::new();
    responses.insert(about.gives_status.to_string(), answer);
    for status in about.all_statuses() {
        if status != about.gives_status {
            let answer = match status {
                200..300 => other_success(),
                _ => refusal(app, row, status),
            };
            responses.insert(status.to_string(), answer);
        }
    }
    responses.into()
}

/// Pages are also available as markdown.
fn has_markdown(row: &Row) -> bool {
    let about = &row.about;
    about.takes.is_some()
        && matches!(
            about.price,
            Price::Of(Product::Context) | Price::Transfer | Price::Credit
        )
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

fn any_of<'a>(names: impl IntoIterator<Item = &'a str>) -> Value {
    let schemas: Vec<Value> = names.into_iter().map(reference).collect();
    json!({"anyOf": schemas})
}

fn success_schema(row: &Row) -> Value {
    let about = &row.about;
    match about.answers {
        [] if about.gives.ends_with("json") => json!({"type": "object"}),
        [] => json!({"type": "string"}),
        [answer] => reference(answer.name()),
        several => any_of(several.iter().map(|answer| answer.name())),
    }
}

/// A second successful status.
fn other_success() -> Value {
    let description = "Not ready yet; Retry-After says when to retry.";
    let schema = json!({"type": "object"});
    json!({"description": description, "content": {"application/json": {"schema": schema}}})
}

fn refusal(app: &App, row: &Row, status: u16) -> Value {
    let (description, schema) = match status {
        402 => (
            "Payment required. PAYMENT-REQUIRED carries the challenge in base64.",
            match row.about.price {
                Price::Of(_) => reference("PaymentRequired"),
                _ => any_of(["Error", "PaymentRequired"]),
            },
        ),
        422 => ("The request is invalid.", reference("HTTPValidationError")),
        429 => (
            "Too many requests. Retry-After says when to retry; nothing was charged.",
            reference("Error"),
        ),
        503 => (
            "An outage. Retry-After says when to retry; X-Service-Retry-Credit redeems an accepted payment.",
            // /health also responds while the service is down.
            match row.path {
                "/health" => json!({"type": "object"}),
                _ => reference("Error"),
            },
        ),
        _ => (
            "Refused; `error.code` says why and `error.charged` whether you were charged.",
            reference("Error"),
        ),
    };
    let mut content = json!({"schema": schema});
    if let (402, Price::Of(product)) = (status, row.about.price) {
        content["examples"] = examples::named(examples::challenge_name(product));
    } else if let Some(example) = examples::refusal(app, row, status) {
        content["example"] = example;
    }
    let mut answer = json!({"description": description, "content": {"application/json": content}});
    match (status, row.about.price) {
        (402, Price::Of(product)) => answer["headers"] = challenge_headers(product),
        (429, _) => answer["headers"] = limit_headers(),
        (503, price) => {
            answer["headers"] =
                json!({"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds."}});
            if price != Price::Free {
                answer["headers"]["X-Service-Retry-Credit"] = text(
                    "Redeems an accepted payment at /v1/x402/retry; absent if none was accepted.",
                );
            }
        }
        _ => {}
    }
    answer
}

/// The headers of a 402.
fn challenge_headers(product: Product) -> Value {
    let level = format!("The priced {}.", product.level_word());
    let mut level = text(&level);
    level["schema"]["enum"] = json!(product.level_names());
    let mut headers = Map::new();
    headers.insert("PAYMENT-REQUIRED".to_owned(), text("Base64 of the body."));
    headers.insert("X-Payment-Required".to_owned(), text("The same."));
    headers.insert(title_case(product.paid_header()), level);
    headers.insert(
        title_case(PAYMENT_ERROR),
        text("Why the payment that was sent is not accepted; absent without one."),
    );
    for (name, _) in challenge::help(product) {
        headers.insert(title_case(name), text("A link that helps to pay."));
    }
    headers.into()
}

fn text(doc: &str) -> Value {
    json!({"schema": {"type": "string"}, "description": doc})
}

/// A header's name in title case.
pub fn title_case(name: &str) -> String {
    let words = name.split('-').map(|word| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_ascii_uppercase() + rest
    });
    words.collect::<Vec<_>>().join("-")
}

fn limit_headers() -> Value {
    let header = |kind: &str, doc: &str| json!({"schema": {"type": kind}, "description": doc});
    json!({
        "Retry-After": header("integer", "Seconds until the next request is accepted."),
        "RateLimit-Limit": header("integer", "Requests per window."),
        "RateLimit-Remaining": header("integer", "Requests left now."),
        "RateLimit-Reset": header("integer", "Seconds until the next request is accepted."),
        "RateLimit-Policy": header("string", "The limit's name, quota and window, as in \"quote\";q=300;w=60."),
        "RateLimit": header("string", "The limit's name, what remains and seconds to wait, as in \"quote\";r=0;t=1."),
    })
}
