//! Examples of answers, each made by the part of the service that gives the answer.

use serde_json::{Value, json};

use crate::api::agent::{self, card};
use crate::api::{catalogue, discovery, failure};
use crate::app::{App, Row};
use crate::domain::endpoint::Price;
use crate::domain::level::Product;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::tier::Tier;

/// Rows that answer with a whole report.
const REPORTS: [&str; 2] = [
    "/v1/proof-pack/sample",
    "/v1/proof-pack/reports/{report_id}",
];

pub fn is_report(row: &Row) -> bool {
    REPORTS.contains(&row.path)
}

/// What a row answers when all is well.
pub fn success(app: &App, row: &Row) -> Option<Value> {
    let sells = row.about.takes.is_some();
    match (row.about.price, row.path) {
        (Price::Of(product), _) if !sells => challenge(app, product),
        (Price::Of(Product::Context) | Price::Transfer | Price::Credit, _) => page(app),
        (Price::Of(Product::ProofPack), _) => report(app),
        _ if is_report(row) => report(app),
        (_, "/") => Some(discovery::brief(app)),
        (_, "/discovery/resources") => Some(catalogue::listing(app)),
        (_, catalogue::X402_PATH) => Some(catalogue::advertisement(app)),
        (_, agent::CARD_PATH) => Some(card::card_json(app)),
        _ => None,
    }
}

/// The sample report, as `/v1/proof-pack/sample` gives it.
fn report(app: &App) -> Option<Value> {
    serde_json::from_slice(&app.sample.report.body).ok()
}

/// The sample page as a purchase gives it; what was paid for it is what was paid for the sample report: nothing.
fn page(app: &App) -> Option<Value> {
    let (goods, report) = (app.sample.goods.value().ok()?, report(app)?);
    let mut answer =
        json!({"status": "success", "target_url": app.sample.url, "tier": Tier::Starter.name()});
    for part in [&goods, &pick(&report, &["cache", "payment", "ueg_receipt"])] {
        for (name, value) in part.as_object()? {
            answer[name] = value.clone();
        }
    }
    Some(answer)
}

fn pick(object: &Value, names: &[&str]) -> Value {
    let members = names.iter();
    members
        .map(|name| ((*name).to_owned(), object[*name].clone()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn challenge(app: &App, product: Product) -> Option<Value> {
    let challenge = &app.offers.level(product.default_level()).challenge;
    serde_json::from_slice(&challenge.json).ok()
}

/// What a row answers when it says no.
pub fn refusal(app: &App, row: &Row, status: u16) -> Option<Value> {
    let code = match (status, row.about.price) {
        (402, Price::Of(product)) => return challenge(app, product),
        (402, Price::Credit) => Code::RetryCreditRequired,
        (402, Price::Transfer) => Code::PaymentHashRequired,
        (422, _) => return invalid(row),
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

/// What an empty body is told where one is needed.
fn invalid(row: &Row) -> Option<Value> {
    let errors = row.about.takes?.validate(b"{}").err()?;
    let detail: Vec<Value> = errors.iter().map(|error| error.to_json()).collect();
    Some(json!({"detail": detail}))
}
