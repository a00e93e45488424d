//! Example responses, made by the code that makes the real ones.

use serde_json::{Map, Value, json};

use crate::api::failure;
use crate::app::{App, Row};
use crate::domain::code::Code;
use crate::domain::endpoint::{Price, Schema};
use crate::domain::level::Product;
use crate::domain::refusal::Refusal;
use crate::domain::tier::Tier;

const PAGE: &str = "SamplePage";
const REPORT: &str = "SampleReport";

/// The long examples, stored once under `components`.
pub fn all(app: &App) -> Map<String, Value> {
    let mut examples = Map::new();
    let mut put = |name: &str, summary: &str, value: Option<Value>| {
        let value = value.unwrap_or_default();
        examples.insert(name.to_owned(), json!({"summary": summary, "value": value}));
    };
    put(PAGE, "The sample page", page(app));
    put(REPORT, "The sample report", report(app));
    for product in Product::ALL {
        let summary = "The challenge of an unpaid request";
        put(challenge_name(product), summary, challenge(app, product));
    }
    examples
}

/// The member `examples` that shows one of them.
pub fn named(name: &str) -> Value {
    json!({"made": {"$ref": format!("#/components/examples/{name}")}})
}

pub fn challenge_name(product: Product) -> &'static str {
    match product {
        Product::Context => "PageChallenge",
        Product::ProofPack => "ReportChallenge",
        Product::ProofBundle => "BundleChallenge",
        Product::Check => "CheckChallenge",
    }
}

/// A route's successful response.
pub fn success(row: &Row) -> Option<&'static str> {
    match (row.about.answers.first()?, row.about.price) {
        (Schema::PaymentRequired, Price::Of(product)) => Some(challenge_name(product)),
        (Schema::Page, _) => Some(PAGE),
        (Schema::Report, _) => Some(REPORT),
        _ => None,
    }
}

/// As returned by `/v1/proof-pack/sample`.
fn report(app: &App) -> Option<Value> {
    serde_json::from_slice(&app.sample.report.body).ok()
}

/// The sample page as a purchase returns it, with the sample report's payment: none.
fn page(app: &App) -> Option<Value> {
    let (goods, report) = (app.sample.goods.value().ok()?, report(app)?);
    let mut answer =
        json!({"status": "success", "target_url": app.sample.url, "tier": Tier::Starter.name()});
    for (name, value) in goods.as_object()? {
        answer[name] = value.clone();
    }
    for name in ["cache", "payment", "ueg_receipt"] {
        answer[name] = report[name].clone();
    }
    // Constant, so that the document is the same after every start.
    answer["fetched_at"] = report["created_at"].clone();
    Some(answer)
}

fn challenge(app: &App, product: Product) -> Option<Value> {
    let challenge = &app.offers.level(product.default_level()).challenge;
    serde_json::from_slice(&challenge.json).ok()
}

/// A route's error response.
pub fn refusal(app: &App, row: &Row, status: u16) -> Option<Value> {
    let code = match (status, row.about.price) {
        (402, Price::Transfer) => Code::PaymentHashRequired,
        (402, _) => Code::RetryCreditRequired,
        (422, _) => return invalid(app, row),
        (404, _) if row.path.contains("{quote_id}") => Code::QuoteNotFound,
        (404, _) if row.path.contains("{report_id}") => Code::ReportNotFound,
        (410, _) if row.path.contains("{report_id}") => Code::ReportExpired,
        (404, _) => Code::NotFound,
        (400, Price::Of(_)) => Code::InvalidPayment,
        (400, Price::Credit) => Code::RetryCreditInvalid,
        (400, Price::Transfer) => Code::InvalidPaymentHash,
        (400, _) => Code::TargetBlocked,
        (503, _) if row.path == "/health" => return None,
        _ => *Code::ALL
            .iter()
            .find(|code| failure::status(**code) == status)?,
    };
    Some(failure::example(app, &Refusal::of(code)))
}

/// The error for an empty body.
fn invalid(app: &App, row: &Row) -> Option<Value> {
    let errors = row.about.takes?.validate(b"{}").err()?;
    Some(failure::example(app, &Refusal::validation(errors)))
}
