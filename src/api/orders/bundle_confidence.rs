//! Checkout confidence for bundles: whether a purchase would succeed now. Nothing is charged, stored, resolved or fetched.

use serde_json::{Value, json};

use crate::api::checks::{self, Check, Status, check};
use crate::api::orders::bundles::{self, PAY_PATH, REQUEST_PATH};
use crate::api::{failure, query};
use crate::app::{App, Shared};
use crate::domain::bundle::{self, Bundle, READ_RULE, SOURCES_MIN};
use crate::domain::level::Product;
use crate::domain::refusal::Refusal;
use crate::flows::quotes::bundles::{self as flow, Listed, Sorted};
use crate::http::{Call, Reply};
use crate::pages::plain::Part;

const PATH: &str = "/checkout/confidence";

const WHAT_YOU_GET: [&str; 6] = [
    "One report on all sources as a web page, PDF and JSON",
    "Decision, claims and verbatim excerpts for each source",
    "A table of claims by source; copies of one text count once",
    "Agreement, conflicting numbers and dates, coverage and gaps",
    "Risks, and the sources that could not be fetched",
    "Hashes of sources and report, and a recovery link for 30 days",
];

/// When nothing is paid, by either way to pay.
fn refund_policy() -> String {
    format!(
        "{READ_RULE} Through the payment link you pay once; the operator refunds what cannot be \
         delivered, and sources that cannot be read are listed in the report."
    )
}

/// Whether a request is about a bundle.
pub fn is_asked_for(call: &Call) -> bool {
    match call.query.get("product") {
        Some(name) => name == bundle::PRODUCT,
        None => call.query.get("bundle").is_some(),
    }
}

/// GET /v1/checkout/confidence?product=proof_bundle.
pub fn confidence(app: &Shared, call: &Call) -> Reply {
    match judged(app, call) {
        Ok((sorted, checks)) => {
            Reply::json(200, confidence_json(app, &sorted, &checks).to_string()).no_store()
        }
        Err(refusal) => failure::reply(app, &refusal, call),
    }
}

/// GET /checkout/confidence?product=proof_bundle.
pub fn page(app: &Shared, call: &Call) -> Reply {
    let (sorted, checks) = match judged(app, call) {
        Ok(judged) => judged,
        Err(refusal) => return failure::page(app, &refusal, call),
    };
    let ready = if checks::is_ready(&checks) {
        "yes"
    } else {
        "no"
    };
    let (name, cents) = (sorted.bundle.name(), sorted.bundle.cents());
    let price = format!("{}.{:02}", cents / 100, cents % 100);
    let parts = vec![
        Part::Facts(vec![
            ("Ready", ready.to_owned()),
            ("Price", format!("{price} USD (bundle {name})")),
            ("Refunds", refund_policy()),
        ]),
        Part::Heading("Checked just now"),
        Part::Checks(checks.iter().map(Check::view).collect()),
        Part::Heading("What you get"),
        Part::List(WHAT_YOU_GET.map(str::to_owned).to_vec()),
        Part::Links(vec![(
            "Get a quote for my sources".to_owned(),
            "/proof-pack/bundle/quote".to_owned(),
        )]),
    ];
    let lead = "Check whether this purchase can succeed before you pay.";
    checks::page(app, PATH, "Before you pay", lead, parts)
}

fn judged(app: &Shared, call: &Call) -> Result<(Sorted, Vec<Check>), Refusal> {
    let mut asked = bundles::request_in_query(call)?;
    if asked.listed.is_empty() {
        let single = query::once(call, "target_url")?;
        asked.listed = Listed::in_texts(single.as_deref());
    }
    let names_none = asked.listed.is_empty();
    if names_none {
        query::check_names_target(app, call, "target_urls")?;
        asked.listed = Listed::of_addresses([app.sample.url.as_str()]);
    }
    let sorted = flow::sort(app, &asked.listed, asked.bundle);
    let checks = vec![
        match names_none {
            true => unnamed(sorted.bundle),
            false => sources(&sorted),
        },
        payment_link(app, &sorted),
        checks::service(app.health.check_can_sell_product(Product::ProofBundle)),
    ];
    Ok((sorted, checks))
}

fn unnamed(bundle: Bundle) -> Check {
    let most = bundle.source_limit();
    let detail = format!(
        "None was named; a bundle {} takes {SOURCES_MIN} to {most}.",
        bundle.name()
    );
    check("sources", "Sources allowed", Status::Warn, detail)
}

fn sources(sorted: &Sorted) -> Check {
    let (taken, left) = (sorted.sources.len(), sorted.rejected.len());
    let (status, detail) = match (taken, left) {
        _ if sorted.left_out > 0 => {
            let (bundle, count) = (sorted.bundle, taken + sorted.left_out);
            (Status::Fail, flow::beyond(bundle, count))
        }
        (0, _) => {
            let first = sorted.rejected.first();
            let reason = first.map_or("No source was given.", |first| &first.reason);
            (Status::Fail, format!("None is allowed. {reason}"))
        }
        (1, _) => (
            Status::Fail,
            format!(
                "One is allowed, and a bundle takes at least {SOURCES_MIN}; a Proof Pack checks one."
            ),
        ),
        (taken, 0) => (
            Status::Pass,
            format!("All {taken} sources have public addresses."),
        ),
        (taken, left) => (
            Status::Warn,
            format!("{taken} accepted, {left} rejected; see the quote for the reasons."),
        ),
    };
    check("sources", "Sources allowed", status, detail)
}

fn payment_link(app: &App, sorted: &Sorted) -> Check {
    let (status, detail) = match app.payment_link(sorted.bundle) {
        Some(_) => (Status::Pass, "Available for this bundle."),
        None => (
            Status::Warn,
            "Not available: pay over x402, or contact us to pay in dollars.",
        ),
    };
    check("payment_link", "Payment link", status, detail)
}

/// E-mail only if a mail server is configured.
fn channels(app: &App) -> Vec<&'static str> {
    let mail = app.config.mail.as_ref().map(|_| "email");
    ["browser", "json", "pdf"].into_iter().chain(mail).collect()
}

fn confidence_json(app: &App, sorted: &Sorted, checks: &[Check]) -> Value {
    let bundle = sorted.bundle;
    let is_payable = app.payment_link(bundle).is_some();
    // One after the other at worst.
    let seconds = app.config.fetch.time_max.as_secs() * sorted.sources.len() as u64;
    json!({
        "status": "success",
        "product": bundle::PRODUCT,
        "bundle": bundle.name(),
        "recommended_bundle": sorted.recommended.name(),
        "target_urls": sorted.sources,
        "ready": checks::is_ready(checks),
        "score": checks::score(checks),
        "checks": checks.iter().map(Check::to_json).collect::<Vec<_>>(),
        "price": {
            "amount_units": bundle.price().units().to_string(), "price_usdc": bundle.price().as_usdc(),
            "amount_cents": bundle.cents(), "currency": "usd",
        },
        "refund_policy": refund_policy(),
        "what_you_get": WHAT_YOU_GET,
        "payment_methods": ["x402", if is_payable { "payment_link" } else { "on_request" }],
        "checkout_url": app.url(if is_payable { PAY_PATH } else { REQUEST_PATH }),
        "delivery": {"channels": channels(app), "expected_seconds": seconds},
        "sample_url": app.url("/v1/proof-pack/sample"),
        "support_url": app.url("/contact"),
    })
}
