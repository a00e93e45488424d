//! Preview of a report, and checkout confidence: whether a purchase would succeed now. Nothing is charged, stored or
//! fetched.

use serde_json::{Value, json};

use crate::api::buyer::{quotes, stated_level};
use crate::api::checks::{Check, Status, check, hidden, is_ready, page, score, service};
use crate::api::orders::bundle_confidence;
use crate::api::{failure, frame, query};
use crate::app::{App, Shared};
use crate::domain::code::Code;
use crate::domain::figures::cents;
use crate::domain::level::{Level, Product};
use crate::domain::refusal::Refusal;
use crate::flows::content::report::CITATIONS_MAX;
use crate::flows::content::source::BYTES_MAX;
use crate::flows::quotes::quote::{self, Inspected, LevelOffer};
use crate::http::{Call, Reply};
use crate::pages::buyer::confidence::{self, ConfidenceView};
use crate::pages::plain::Part;

/// GET /v1/proof-pack/preview.
pub async fn preview(app: Shared, call: Call) -> Reply {
    match previewed(&app, &call).await {
        Ok((level, target)) => {
            Reply::json(200, preview_json(&app, level, &target).to_string()).no_store()
        }
        Err(refusal) => failure::reply(&app, &refusal, &call),
    }
}

/// GET /proof-pack/preview.
pub async fn preview_page(app: Shared, call: Call) -> Reply {
    let (level, target) = match previewed(&app, &call).await {
        Ok(found) => found,
        Err(refusal) => return failure::page(&app, &refusal, &call),
    };
    let title = target.is_sample.then(|| app.sample.title()).flatten();
    let parts = vec![
        Part::Facts(vec![
            ("Source", target.target_url.clone()),
            (
                "Pack",
                format!("{} ({} USDC)", level.name(), cents(level.price())),
            ),
            (
                "Cached copy",
                match (target.is_sample, target.is_cached) {
                    (true, _) => "not needed; it is our sample page",
                    (false, true) => "yes",
                    (false, false) => "no",
                }
                .to_owned(),
            ),
            ("Title", title.unwrap_or_else(|| "in the report".to_owned())),
        ]),
        Part::Heading("What the report would contain"),
        Part::List(WOULD_INCLUDE.map(str::to_owned).to_vec()),
        Part::Links(vec![(
            "Sample report".to_owned(),
            "/proof-pack/sample".to_owned(),
        )]),
        Part::Heading("Get a quote"),
        Part::ReportForm {
            target_url: &target.target_url,
            question: "",
        },
    ];
    page(
        &app,
        "/proof-pack/preview",
        "Proof Pack preview",
        "What a Proof Pack on this source would contain.",
        parts,
    )
}

/// GET /v1/checkout/confidence.
pub async fn confidence(app: Shared, call: Call) -> Reply {
    if bundle_confidence::is_asked_for(&call) {
        return bundle_confidence::confidence(&app, &call);
    }
    match judged(&app, &call).await {
        Ok(judged) => Reply::json(200, confidence_json(&app, &judged).to_string()).no_store(),
        Err(refusal) => failure::reply(&app, &refusal, &call),
    }
}

/// GET /checkout/confidence.
pub async fn confidence_page(app: Shared, call: Call) -> Reply {
    if bundle_confidence::is_asked_for(&call) {
        return bundle_confidence::page(&app, &call);
    }
    let judged = match judged(&app, &call).await {
        Ok(judged) => judged,
        Err(refusal) => return failure::page(&app, &refusal, &call),
    };
    let texts = frame::Texts::of(&app);
    let view = ConfidenceView {
        site: frame::site(&app, &texts),
        target_url: &judged.target_url,
        level: judged.level,
        is_ready: is_ready(&judged.checks),
        checks: judged.checks.iter().map(Check::view).collect(),
        what_you_get: what_you_get(judged.level.product()),
        refunds: REFUND_POLICY,
        seconds: judged.seconds,
    };
    hidden(Reply::html(200, confidence::page(&view)))
}

const WOULD_INCLUDE: [&str; 7] = [
    "An answer and a decision: supported, partly supported, weak, not stated or contradicted",
    "Citations: verbatim excerpts of the source with their positions, their neighbouring sentences and a link to the passage",
    "Key claims, each with its citations, and the gaps",
    "Risks such as stale or undated text, hedging, marketing and instructions to agents",
    "A profile of the source with a quality score",
    "Advice for the agent, and the recommended next call",
    "The source text, hashes of source and result, and 30 days of free access, verification and follow-up questions",
];

async fn previewed(app: &Shared, call: &Call) -> Result<(Level, Inspected), Refusal> {
    let asked = quotes::request_in_query(app, call, Product::ProofPack)?;
    Ok((
        asked.level,
        quote::inspect(app, &asked.target_url, asked.client).await?,
    ))
}

fn preview_json(app: &App, level: Level, target: &Inspected) -> Value {
    // For other pages only whether there is a copy: age, title and hash would reveal when others bought the page.
    let cached = match target.is_sample {
        true => json!({
            "available": true, "age_seconds": null, "title": app.sample.title(),
            "content_sha256": app.sample.goods.content_sha256,
        }),
        false => json!({
            "available": target.is_cached, "age_seconds": null, "title": null, "content_sha256": null,
        }),
    };
    let quote_query = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("target_url", &target.target_url)
        .append_pair("pack", level.name())
        .finish();
    json!({
        "status": "success",
        "target_url": target.target_url,
        "pack": level.name(),
        "price_usdc": level.price().as_usdc(),
        "amount_units": level.price().units().to_string(),
        "policy": level.policy(),
        "reads": level.reads(app.config.entailment_model),
        "supplier_spend": 0,
        "would_include": WOULD_INCLUDE,
        "sample_report_url": app.url("/v1/proof-pack/sample"),
        "cached_source": cached,
        "estimated": {"citations": CITATIONS_MAX, "seconds": seconds(app, target)},
        "limits": {"max_bytes": BYTES_MAX},
        "quote_url": app.url(&format!("/v1/proof-pack/quote?{quote_query}")),
    })
}

/// The maximum: the source has to be fetched first, unless it is cached.
fn seconds(app: &App, target: &Inspected) -> u64 {
    match target.is_sample || target.is_cached {
        true => 2,
        false => app.config.fetch.time_max.as_secs(),
    }
}

/// Whether a purchase would succeed now.
struct Judged {
    level: Level,
    target_url: String,
    checks: Vec<Check>,
    seconds: u64,
}

/// The refund policy.
pub const REFUND_POLICY: &str = "You pay only when the response is ready. Failed deliveries are not charged; after an \
outage you get a retry credit.";

async fn judged(app: &Shared, call: &Call) -> Result<Judged, Refusal> {
    let product = product(call)?;
    let asked = quotes::request_in_query(app, call, product)?;
    let tier = tier(call)?.filter(|_| product == Product::Context);
    let level = tier.unwrap_or(asked.level);
    let mut checks = Vec::new();
    let (mut target_url, mut time) = (
        asked.target_url.clone(),
        app.config.fetch.time_max.as_secs(),
    );
    match quote::inspect(app, &asked.target_url, asked.client).await {
        Ok(target) => {
            checks.push(check(
                "target",
                "Source allowed",
                Status::Pass,
                match target.is_sample {
                    true => "It is our sample page.",
                    false => "It is public and its name resolves.",
                },
            ));
            checks.push(cached(&target));
            checks.push(margin(quote::offer(app, level, &target)));
            time = seconds(app, &target);
            target_url = target.target_url;
        }
        // Nothing was checked beyond a rate limit.
        Err(refusal) if refusal.code == Code::RateLimited => return Err(refusal),
        Err(refusal) => checks.push(check(
            "target",
            "Source allowed",
            Status::Fail,
            refusal.message,
        )),
    }
    checks.push(facilitator(app));
    checks.push(service(app.health.check_can_sell_product(product)));
    Ok(Judged {
        level,
        target_url,
        checks,
        seconds: time,
    })
}

/// The tier in the query. An unknown tier is refused even if the request is for a report.
fn tier(call: &Call) -> Result<Option<Level>, Refusal> {
    let named = query::once(call, "tier")?.map(|name| {
        let level = Product::Context.level(&name);
        level.ok_or_else(|| stated_level::unknown_level(Product::Context))
    });
    named.transpose()
}

fn product(call: &Call) -> Result<Product, Refusal> {
    let Some(name) = query::once(call, "product")? else {
        return Ok(Product::ProofPack);
    };
    let names = Product::NAMES.join(", ");
    let message = format!("No such product. Use one of {names}.");
    Product::parse(&name).ok_or_else(|| Refusal::new(Code::InvalidProduct, message))
}

fn cached(target: &Inspected) -> Check {
    let (status, detail) = match (target.is_sample, target.is_cached) {
        (true, _) => (Status::Pass, "It is our sample page, which needs no fetch."),
        (false, true) => (Status::Pass, "A copy is cached."),
        (false, false) => (Status::Warn, "No copy is cached; it will be fetched."),
    };
    check("source", "Source cached", status, detail)
}

fn margin(offer: LevelOffer) -> Check {
    match offer.unavailable {
        None => check(
            "margin",
            "Deliverable at this price",
            Status::Pass,
            "The price covers the costs.",
        ),
        Some(reason) => check("margin", "Deliverable at this price", Status::Fail, reason),
    }
}

fn facilitator(app: &App) -> Check {
    let (status, detail) = match app.health.facilitator() {
        Some(found) if found.trouble.is_none() => (Status::Pass, "The facilitator responds."),
        Some(_) => (Status::Fail, "The facilitator does not respond."),
        None => (Status::Warn, "The facilitator has not been checked yet."),
    };
    check("facilitator", "Payment processing", status, detail)
}

fn channels(product: Product) -> &'static [&'static str] {
    match product {
        Product::Context => &["json", "markdown"],
        Product::Check => &["browser", "json"],
        _ => &["browser", "pdf", "json"],
    }
}

fn what_you_get(product: Product) -> &'static [&'static str] {
    match product {
        Product::Context => &[
            "The page as clean markdown",
            "Its metadata, links and headings",
            "Hashes, warnings and the receipt",
        ],
        Product::Check => &[
            "Each claim of your text: a decision, scores and exact citations with their stance",
            "What to correct, with the passage that says otherwise",
            "A score for the whole text",
            "Hashes, and 30 days of free access and verification",
        ],
        _ => &WOULD_INCLUDE,
    }
}

fn confidence_json(app: &App, judged: &Judged) -> Value {
    let (level, product) = (judged.level, judged.level.product());
    json!({
        "status": "success",
        "product": product.name(),
        product.level_word(): level.name(),
        "target_url": judged.target_url,
        "ready": is_ready(&judged.checks),
        "score": score(&judged.checks),
        "checks": judged.checks.iter().map(Check::to_json).collect::<Vec<_>>(),
        "price": {"amount_units": level.price().units().to_string(), "price_usdc": level.price().as_usdc()},
        "refund_policy": REFUND_POLICY,
        "what_you_get": what_you_get(product),
        "payment_methods": ["x402"],
        "delivery": {"channels": channels(product), "expected_seconds": judged.seconds},
        "sample_url": match product {
            Product::Context => app.sample.url.clone(),
            _ => app.url("/v1/proof-pack/sample"),
        },
        "support_url": app.url("/contact"),
    })
}
