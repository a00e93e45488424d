//! Evidence Bundles before payment: quotes as JSON and HTML, their receipts, and checkout.

use serde_json::{Value, json};

use crate::api::body::check_origin;
use crate::api::frame::made_once;
use crate::api::orders::form_values::Typed;
use crate::api::query::{attribution, check_question};
use crate::api::quoted::{add_rendering, payment_json};
use crate::api::{failure, frame, query};
use crate::app::{App, Shared};
use crate::domain::bundle::{self, Bundle, SOURCES_MIN};
use crate::domain::code::Code;
use crate::domain::figures::cents;
use crate::domain::ids::BundleQuoteId;
use crate::domain::level::{Level, Product};
use crate::domain::refusal::Refusal;
use crate::domain::requests::{AddressList, QuoteRequest};
use crate::domain::schema::ValidationError;
use crate::domain::time::UnixSeconds;
use crate::flows::quotes::bundles::{self, BundleQuote, BundleRequest, Listed, Rejected};
use crate::http::{Call, Method, Reply};
use crate::pages;
use crate::pages::orders::bundle::{BundleView, QuoteOutcome, Quoted};
use crate::pages::orders::bundle_checkout::{CheckoutView, State};
use crate::store::BundleQuoteRecord;

pub const QUOTE_PATH: &str = "/v1/proof-pack/bundle/quote";
pub const LEADS_PATH: &str = "/v1/proof-pack/bundle/leads";
pub const PAY_PATH: &str = "/proof-pack/bundle/pay";
pub const REQUEST_PATH: &str = "/proof-pack/request";

/// GET /v1/proof-pack/bundle/quote.
pub async fn quote(app: Shared, call: Call) -> Reply {
    let outcome = async {
        let asked = request_in_query(&call)?;
        if asked.listed.is_empty() {
            query::check_names_target(&app, &call, "target_urls")?;
        }
        check_sources(&call, &asked.listed)?;
        bundles::quote(&app, asked).await
    };
    match outcome.await {
        Ok(quote) => Reply::json(200, quote_json(&app, &quote).to_string()).no_store(),
        Err(refusal) => failure::reply(&app, &refusal, &call),
    }
}

/// GET /proof-pack/bundle: the product page.
pub async fn about_page(app: Shared, call: Call) -> Reply {
    made_once(&app, &call, |app| {
        let texts = frame::Texts::of(app);
        let view = BundleView::empty(frame::site(app, &texts), "/proof-pack/bundle");
        let page = Reply::html(200, pages::orders::bundle::about_page(&view));
        frame::with_page_headers(page).public("public, max-age=300")
    })
}

/// GET and POST /proof-pack/bundle/quote. The form is posted, because its list may be too long for a URL.
pub async fn quote_page(app: Shared, call: Call) -> Reply {
    let typed = Typed::of(&call);
    let listed = Listed::in_texts([typed.target_urls.as_str()]);
    let outcome = async {
        if call.method == Method::Post {
            check_origin(&app, &call)?;
        }
        if listed.is_empty() {
            return Ok(None);
        }
        check_question(&typed.question, &["body", "question"])?;
        let bundle = Bundle::parse(&typed.level);
        let asked = BundleRequest {
            bundle: bundle.or_else(|| Some(bundles::smallest(&app, &listed))),
            listed,
            question: Some(typed.question.clone()),
            attribution: typed.attribution(&call),
        };
        bundles::quote(&app, asked).await.map(Some)
    };
    let outcome: Result<Option<BundleQuote>, Refusal> = outcome.await;
    let texts = frame::Texts::of(&app);
    let id = match &outcome {
        Ok(Some(quote)) => quote.id.to_string(),
        _ => String::new(),
    };
    let refused = outcome.as_ref().err().map(failure::rejected_of);
    let refused = refused.unwrap_or_default();
    let view = BundleView {
        typed: &typed.target_urls,
        typed_question: &typed.question,
        typed_bundle: &typed.level,
        outcome: match &outcome {
            Ok(None) => QuoteOutcome::Nothing,
            Ok(Some(quote)) => QuoteOutcome::Quoted(quoted(quote, &id)),
            Err(refusal) => QuoteOutcome::Refused {
                code: refusal.code.text(),
                message: &refusal.message,
                rejected: refused,
            },
        },
        ..BundleView::empty(frame::site(&app, &texts), "/proof-pack/bundle/quote")
    };
    let status = match &outcome {
        Err(refusal) => failure::status(refusal.code),
        Ok(_) => 200,
    };
    let page = Reply::html(status, pages::orders::bundle::quote_page(&view));
    frame::with_page_headers(page).no_store()
}

fn quoted<'a>(quote: &'a BundleQuote, id: &'a str) -> Quoted<'a> {
    let rejected = quote.rejected.iter();
    Quoted {
        quote_id: id,
        bundle: quote.record.bundle,
        recommended: quote.recommended,
        target_urls: &quote.record.target_urls,
        rejected: rejected
            .map(|one| (one.url.as_str(), one.reason.as_str()))
            .collect(),
        question: quote.record.question.as_deref(),
        expires_at: UnixSeconds(quote.record.expires_at),
    }
}

/// GET /proof-pack/bundle/checkout: makes a quote and redirects to it.
pub async fn checkout_page(app: Shared, call: Call) -> Reply {
    let text = |name: &str| call.query.get(name).unwrap_or_default().into_owned();
    if let Some(id) = BundleQuoteId::parse(&text("quote_id")) {
        return away(&app.url(&format!("/checkout/{id}")));
    }
    let outcome = async { bundles::quote(&app, request_in_query(&call)?).await };
    if text("target_urls").trim().is_empty() {
        return away(&with_query(&app, REQUEST_PATH, &call));
    }
    match outcome.await {
        Ok(quote) => away(&app.url(&format!("/checkout/{}", quote.id))),
        Err(refusal) => failure::page(&app, &refusal, &call),
    }
}

/// The bundle request of POST /v1/quotes.
pub fn request_in_body(call: &Call, body: QuoteRequest) -> BundleRequest {
    BundleRequest {
        listed: body.target_urls.as_ref().map(listed_in).unwrap_or_default(),
        bundle: body.bundle,
        question: body.question,
        attribution: query::attributed(call, body.source.as_deref()),
    }
}

/// The sources of a body: an array of addresses, or a text that lists them.
pub fn listed_in(list: &AddressList) -> Listed {
    match list {
        AddressList::Array(addresses) => Listed::of_addresses(addresses.iter().map(String::as_str)),
        AddressList::Text(text) => Listed::in_texts([text.as_str()]),
    }
}

/// The response to POST /v1/quotes for a bundle: its receipt and the rejected sources.
pub fn created(app: &App, quote: &BundleQuote) -> Reply {
    let mut receipt = receipt_json(app, quote.id, &quote.record);
    if !quote.rejected.is_empty() {
        receipt["rejected_urls"] = rejected_json(&quote.rejected);
    }
    let location = app.url(&format!("/v1/quotes/{}", quote.id));
    Reply::json(201, receipt.to_string())
        .no_store()
        .header("location", &location)
}

/// GET /v1/quotes/{quote_id} for a bundle.
pub async fn receipt(app: &Shared, call: &Call) -> Reply {
    match read_quote(app, call).await {
        Ok((id, record)) => Reply::json(200, receipt_json(app, id, &record).to_string()).no_store(),
        Err(refusal) => failure::reply(app, &refusal, call),
    }
}

/// GET /checkout/{quote_id} for a bundle.
pub async fn resume_page(app: &Shared, call: &Call) -> Result<Reply, Refusal> {
    let (id, record) = read_quote(app, call).await?;
    let state = match record.paid_at {
        Some(_) => State::Paid,
        None => State::Open,
    };
    let texts = frame::Texts::of(app);
    let quote_id = id.to_string();
    let pay_path = pay_path(app, record.bundle, &[("quote_id", &quote_id)]);
    let targets = record.target_urls.join("\n");
    let view = CheckoutView {
        site: frame::site(app, &texts),
        quote_id: &quote_id,
        state,
        bundle: record.bundle,
        target_urls: &record.target_urls,
        listed: &targets,
        question: record.question.as_deref(),
        created_at: UnixSeconds(record.created_at),
        expires_at: UnixSeconds(record.expires_at),
        pay_path: pay_path.as_deref(),
    };
    let page = Reply::html(200, pages::orders::bundle_checkout::page(&view));
    let page = frame::with_page_headers(page)
        .no_store()
        .fixed("x-robots-tag", "noindex");
    Ok(page)
}

/// A redirect.
pub fn away(location: &str) -> Reply {
    Reply::redirect(303, location)
        .no_store()
        .fixed("x-robots-tag", "noindex")
}

/// One of our addresses with the original query.
pub fn with_query(app: &App, path: &str, call: &Call) -> String {
    match call.query.0.as_str() {
        "" => app.url(path),
        query => app.url(&format!("{path}?{query}")),
    }
}

async fn read_quote(
    app: &Shared,
    call: &Call,
) -> Result<(BundleQuoteId, BundleQuoteRecord), Refusal> {
    bundles::read(app, call.param("quote_id").unwrap_or_default()).await
}

/// The quote request in a query.
pub fn request_in_query(call: &Call) -> Result<BundleRequest, Refusal> {
    let question = query::once(call, "question")?.map(|text| text.into_owned());
    if let Some(text) = &question {
        check_question(text, &["query", "question"])?;
    }
    let lists: Vec<_> = call.query.all("target_urls").collect();
    Ok(BundleRequest {
        listed: Listed::in_texts(lists.iter().map(|list| &**list)),
        bundle: bundle_in_query(call)?,
        question,
        attribution: attribution(call).map(|label| label.as_str().to_owned()),
    })
}

/// The bundle that a query names.
pub fn bundle_in_query(call: &Call) -> Result<Option<Bundle>, Refusal> {
    let Some(name) = query::once(call, "bundle")?.filter(|name| !name.is_empty()) else {
        return Ok(None);
    };
    let bundle = Bundle::parse(&name).ok_or_else(|| {
        let message = format!("No such bundle. Use one of {}.", Bundle::NAMES.join(", "));
        Refusal::new(Code::InvalidBundle, message)
    });
    bundle.map(Some)
}

/// The error for missing sources; there is no default source.
fn check_sources(call: &Call, listed: &Listed) -> Result<(), Refusal> {
    if !listed.is_empty() {
        return Ok(());
    }
    let loc = &["query", "target_urls"];
    let error = match call.query.get("target_urls") {
        None => ValidationError::new(loc, "missing", "Field required", None),
        Some(given) => {
            let given = Some(Value::from(given.into_owned()));
            ValidationError::new(
                loc,
                "too_short",
                "List should have at least 1 source",
                given,
            )
        }
    };
    Err(Refusal::validation(vec![error]))
}

/// The path to the payment link, if the bundle has one.
pub fn pay_path(app: &App, bundle: Bundle, more: &[(&str, &str)]) -> Option<String> {
    app.payment_link(bundle)?;
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("bundle", bundle.name());
    query.extend_pairs(more);
    Some(format!("{PAY_PATH}?{}", query.finish()))
}

/// Every bundle with its price.
pub fn price_list(app: &App) -> Value {
    Bundle::ALL.map(|bundle| priced(app, bundle)).into()
}

fn priced(app: &App, bundle: Bundle) -> Value {
    json!({
        "bundle": bundle.name(),
        "amount": bundle.price().units().to_string(),
        "amount_units": bundle.price().units().to_string(),
        "price_usdc": bundle.price().as_usdc(),
        "source_limit": bundle.source_limit(),
        "policy": bundle.policy(),
        "reads": bundle.reads(app.config.entailment_model),
    })
}

/// The same with how it is bought over x402, as other quotes state it.
fn buyable(app: &App, bundle: Bundle) -> Value {
    let mut row = priced(app, bundle);
    row["endpoint"] = Product::ProofBundle.path().into();
    row["accepts"] = json!([app.offers.level(Level::Bundle(bundle)).requirements]);
    row
}

fn quote_json(app: &App, quote: &BundleQuote) -> Value {
    let record = &quote.record;
    let id = quote.id.to_string();
    let mut body = receipt_json(app, quote.id, record);
    body["supplier_spend"] = 0.into();
    body["target_urls"] = record.target_urls.clone().into();
    body["rejected_urls"] = rejected_json(&quote.rejected);
    body["source_count"] = record.target_urls.len().into();
    body["source_limit"] = record.bundle.source_limit().into();
    body["bundle"] = record.bundle.name().into();
    body["recommended_bundle"] = quote.recommended.name().into();
    body["question"] = record.question.clone().into();
    body["bundles"] = Bundle::ALL.map(|bundle| buyable(app, bundle)).into();
    body["payment"] = payment_json(app);
    body["next_steps"] = next_steps(app, quote, &id);
    body["receipt_url"] = app.url(&format!("/v1/quotes/{id}")).into();
    let render = Level::Bundle(record.bundle).render();
    add_rendering(app, &mut body, Some(render));
    body
}

/// Where to pay for or request a bundle.
fn checkout_json(app: &App, bundle: Bundle, quote_id: &str) -> Value {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("bundle", bundle.name());
    query.append_pair("quote_id", quote_id);
    let query = query.finish();
    json!({
        "pay_url": app.url(&format!("{PAY_PATH}?{query}")),
        "configured": app.payment_link(bundle).is_some(),
        "request_form": app.url(&format!("{REQUEST_PATH}?{query}")),
    })
}

/// How an agent buys it. Over x402 a bundle of one source is not sold; a Proof Pack checks it.
fn buy_step(app: &App, quote: &BundleQuote) -> Value {
    let (record, recommended) = (&quote.record, quote.recommended);
    let (level, mut body, mut description) = match record.target_urls.as_slice() {
        [only] => (
            Product::ProofPack.default_level(),
            json!({"target_url": only}),
            format!(
                "A bundle takes at least {SOURCES_MIN} sources over x402; a Proof Pack checks one."
            ),
        ),
        several => (
            Level::Bundle(record.bundle),
            json!({"target_urls": several}),
            "Buy it over x402: sign the challenge of the 402 and repeat the request with PAYMENT-SIGNATURE."
                .to_owned(),
        ),
    };
    let product = level.product();
    if product == Product::ProofBundle && recommended != record.bundle {
        let (name, price) = (recommended.name(), cents(recommended.price()));
        description.push_str(&format!(
            " The smallest bundle that takes all allowed sources is {name}, for {price} USDC."
        ));
    }
    if let Some(question) = &record.question {
        body["question"] = question.clone().into();
    }
    body[product.level_word()] = level.name().into();
    json!({
        "action": "buy", "method": "POST", "url": app.url(product.path()), "body": body,
        "accepts": [app.offers.level(level).requirements], "description": description,
    })
}

fn next_steps(app: &App, quote: &BundleQuote, quote_id: &str) -> Value {
    let bundle = quote.record.bundle;
    let checkout = checkout_json(app, bundle, quote_id);
    let pay = match app.payment_link(bundle) {
        Some(_) => "Pay through the payment link; the report is delivered automatically.",
        None => "No payment link: opens the pre-filled request form.",
    };
    json!([
        buy_step(app, quote),
        {
            "action": "leave_lead", "method": "POST", "url": app.url(LEADS_PATH),
            "description": "Send contact, target_urls and bundle; the response says where to pay.",
        },
        {"action": "pay", "method": "GET", "url": checkout["pay_url"], "description": pay},
        {
            "action": "resume", "method": "GET", "url": app.url(&format!("/checkout/{quote_id}")),
            "description": "This quote as a web page, for 7 days.",
        },
    ])
}

pub(in crate::api) fn rejected_json(rejected: &[Rejected]) -> Value {
    let rejected = rejected.iter();
    rejected
        .map(|one| json!({"url": one.url, "code": one.code, "reason": one.reason}))
        .collect()
}

fn receipt_json(app: &App, id: BundleQuoteId, record: &BundleQuoteRecord) -> Value {
    let (id, bundle) = (id.to_string(), record.bundle);
    let mut request = json!({
        "product": bundle::PRODUCT, "target_urls": record.target_urls, "bundle": bundle.name(),
    });
    if let Some(question) = &record.question {
        request["question"] = question.clone().into();
    }
    json!({
        "status": "success",
        "quote_id": id,
        "product": bundle::PRODUCT,
        "state": record.state(app.now()),
        "request": request,
        "amount_units": bundle.price().units().to_string(),
        "price_usdc": bundle.price().as_usdc(),
        "checkout": checkout_json(app, bundle, &id),
        "created_at": record.created_at,
        "expires_at": record.expires_at,
        "resume_page": app.url(&format!("/checkout/{id}")),
        "content_sha256": null,
    })
}
