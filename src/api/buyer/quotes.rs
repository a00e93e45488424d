//! Quotes for pages and Proof Packs as JSON and HTML, and their stored receipts.

use serde_json::{Map, Value, json};

use crate::api::body::read_body;
use crate::api::buyer::{several_quotes, sources, stated_level};
use crate::api::orders::bundles;
use crate::api::query::attribution;
use crate::api::quoted::{add_rendering, offer_json, payment_json};
use crate::api::{failure, frame, query};
use crate::app::{App, Shared};
use crate::domain::amount::Amount;
use crate::domain::attribution::Attribution;
use crate::domain::code::Code;
use crate::domain::ids::{BundleQuoteId, QuoteId};
use crate::domain::level::{Level, Product};
use crate::domain::purchase::Purchase;
use crate::domain::refusal::{Refusal, With};
use crate::domain::requests::{QuoteRequest, QuotedProduct};
use crate::domain::schema::ValidationError;
use crate::domain::shapes::QUOTE_BELONGINGS;
use crate::domain::time::UnixSeconds;
use crate::flows::quotes::bundles::{self as bundle_flow, BundleQuote};
use crate::flows::quotes::quote::{self, Inspected, LevelOffer, LevelRequest, Quote};
use crate::http::{Call, Reply};
use crate::pages::buyer::checkout::{CheckoutState, CheckoutView, KeptQuote};
use crate::pages::buyer::quote::{QuoteOutcome, QuoteView, Quoted};
use crate::pages::commands::{self, Item};
use crate::store::QuoteRecord;

/// GET /v1/x402/quote.
pub async fn tiers(app: Shared, call: Call) -> Reply {
    if several_quotes::is_asked_for(&call) {
        return several_quotes::pages(&app, &call);
    }
    quoted(&app, &call, Product::Context).await
}

/// GET /v1/proof-pack/quote.
pub async fn packs(app: Shared, call: Call) -> Reply {
    quoted(&app, &call, Product::ProofPack).await
}

/// GET /quote.
pub async fn tiers_page(app: Shared, call: Call) -> Reply {
    quoted_page(&app, &call, Product::Context).await
}

/// GET /proof-pack/quote.
pub async fn packs_page(app: Shared, call: Call) -> Reply {
    quoted_page(&app, &call, Product::ProofPack).await
}

/// POST /v1/quotes: the same with a body; returns the receipt.
pub async fn create(app: Shared, call: Call) -> Reply {
    match created(&app, &call).await {
        Ok(Created::Bundle(quote)) => bundles::created(&app, &quote),
        Ok(Created::Level(id, record)) => {
            let location = app.url(&format!("/v1/quotes/{id}"));
            let receipt = receipt_json(&app, id, &record);
            Reply::json(201, receipt.to_string())
                .no_store()
                .header("location", &location)
        }
        Err(refusal) => failure::reply(&app, &refusal, &call),
    }
}

/// GET /v1/quotes/{quote_id}.
pub async fn receipt(app: Shared, call: Call) -> Reply {
    if is_of_bundle(&call) {
        return bundles::receipt(&app, &call).await;
    }
    match read(&app, &call).await {
        Ok((id, record)) => {
            Reply::json(200, receipt_json(&app, id, &record).to_string()).no_store()
        }
        Err(refusal) => failure::reply(&app, &refusal, &call),
    }
}

/// GET /checkout/{quote_id}.
pub async fn resume_page(app: Shared, call: Call) -> Reply {
    let is_bundle = is_of_bundle(&call);
    let page = match is_bundle {
        true => bundles::resume_page(&app, &call).await,
        false => resumed(&app, &call).await,
    };
    page.unwrap_or_else(|refusal| match refusal.code {
        Code::QuoteExpired => {
            let id = call.param("quote_id").unwrap_or_default();
            checkout_page(&app, id, 410, CheckoutState::Expired { is_bundle })
        }
        _ => failure::page(&app, &refusal, &call),
    })
}

async fn resumed(app: &Shared, call: &Call) -> Result<Reply, Refusal> {
    let (id, record) = read(app, call).await?;
    let state = CheckoutState::Kept(KeptQuote {
        target_url: record.purchase.target_url(),
        question: record.purchase.question(),
        force_refresh: record.purchase.stated_refresh(),
        level: record.purchase.level(),
        created_at: UnixSeconds(record.created_at),
        expires_at: UnixSeconds(record.expires_at),
    });
    Ok(checkout_page(app, &id.to_string(), 200, state))
}

fn checkout_page(app: &App, quote_id: &str, status: u16, state: CheckoutState<'_>) -> Reply {
    let texts = frame::Texts::of(app);
    let view = CheckoutView {
        site: frame::site(app, &texts),
        quote_id,
        state,
    };
    let page = Reply::html(status, crate::pages::buyer::checkout::page(&view));
    frame::with_page_headers(page)
        .no_store()
        .fixed("x-robots-tag", "noindex")
}

async fn quoted(app: &Shared, call: &Call, product: Product) -> Reply {
    match request_in_query(app, call, product) {
        Ok(asked) => match quote::quote(app, asked).await {
            Ok(quote) => Reply::json(200, quote_json(app, &quote).to_string()).no_store(),
            Err(refusal) => failure::reply(app, &refusal, call),
        },
        Err(refusal) => failure::reply(app, &refusal, call),
    }
}

async fn quoted_page(app: &Shared, call: &Call, product: Product) -> Reply {
    let text = |name: &str| call.query.get(name).unwrap_or_default().trim().to_owned();
    let (typed, typed_question) = (text("target_url"), text("question"));
    let quoted = match (typed.as_str(), request_in_query(app, call, product)) {
        ("", _) => None,
        (_, Ok(asked)) => Some(quote::quote(app, asked).await),
        (_, Err(refusal)) => Some(Err(refusal)),
    };
    let texts = frame::Texts::of(app);
    let id = quoted
        .as_ref()
        .and_then(|quoted| quoted.as_ref().ok())
        .and_then(|quote| quote.id)
        .map(|id| id.to_string());
    let outcome = match (&quoted, &id) {
        (Some(Ok(quote)), id) => QuoteOutcome::Quoted(quoted_view(quote, id.as_deref())),
        (Some(Err(refusal)), _) => QuoteOutcome::Refused {
            code: refusal.code.text(),
            message: &refusal.message,
        },
        _ => QuoteOutcome::Nothing,
    };
    let status = match &quoted {
        Some(Err(refusal)) => failure::status(refusal.code),
        _ => 200,
    };
    let view = QuoteView {
        site: frame::site(app, &texts),
        product,
        typed: &typed,
        typed_question: &typed_question,
        outcome,
    };
    let page = Reply::html(status, crate::pages::buyer::quote::page(&view));
    let page = frame::with_page_headers(page).no_store();
    match quoted.map(|quoted| quoted.map_err(|refusal| refusal.with)) {
        Some(Err(With::Limit(standing))) => failure::with_standing(page, &standing),
        _ => page,
    }
}

fn quoted_view<'a>(quote: &'a Quote, id: Option<&'a str>) -> Quoted<'a> {
    let offers = quote.offers.iter();
    Quoted {
        quote_id: id,
        target_url: &quote.target.target_url,
        question: quote.record.purchase.question(),
        is_cached: quote.target.is_cached,
        is_sample: quote.target.is_sample,
        recommended: quote.record.purchase.level(),
        offers: offers
            .map(|offer| crate::pages::buyer::quote::LevelOffer {
                level: offer.level,
                unavailable: offer.unavailable,
            })
            .collect(),
        expires_at: UnixSeconds(quote.record.expires_at),
    }
}

/// The quote request in a query.
pub fn request_in_query(app: &App, call: &Call, product: Product) -> Result<LevelRequest, Refusal> {
    // An unknown name is refused even if the request is for another product.
    let pack = query::once(call, "pack")?.map(|name| {
        let level = Product::ProofPack.level(&name);
        level.ok_or_else(|| stated_level::unknown_level(Product::ProofPack))
    });
    let level = pack
        .transpose()?
        .filter(|level| level.product() == product)
        .unwrap_or(product.default_level());
    let question = query::once(call, "question")?.map(|text| text.into_owned());
    if let Some(text) = question
        .as_deref()
        .filter(|_| product == Product::ProofPack)
    {
        query::check_length(text)?;
    }
    Ok(LevelRequest {
        target_url: target(app, call)?,
        level,
        question,
        force_refresh: None,
        attribution: attribution(call).map(|label| label.as_str().to_owned()),
        client: call.peer.client(),
    })
}

/// The quote request in a body.
enum Created {
    Level(QuoteId, Box<QuoteRecord>),
    Bundle(BundleQuote),
}

async fn created(app: &Shared, call: &Call) -> Result<Created, Refusal> {
    let body: QuoteRequest = read_body(app, call)?;
    check_belongings(&body)?;
    let level = match body.product {
        QuotedProduct::Context => Level::Tier(body.tier.unwrap_or_default()),
        QuotedProduct::ProofPack => Level::Pack(body.pack.unwrap_or_default()),
        QuotedProduct::ProofBundle => {
            let asked = bundles::request_in_body(call, body);
            return Ok(Created::Bundle(bundle_flow::quote(app, asked).await?));
        }
    };
    let labelled = body.source.as_deref().and_then(Attribution::parse);
    let attribution = labelled.or_else(|| attribution(call));
    let asked = LevelRequest {
        target_url: sources::canonical_target(app, body.target_url.as_deref().unwrap_or_default())?,
        level,
        question: body.question,
        force_refresh: None,
        attribution: attribution.map(|label| label.as_str().to_owned()),
        client: call.peer.client(),
    };
    let quote = quote::quote(app, asked).await?;
    let id = quote.id.ok_or_else(quote::not_kept)?;
    Ok(Created::Level(id, Box::new(quote.record)))
}

/// Refuses members of other products, and requires those of this one.
fn check_belongings(body: &QuoteRequest) -> Result<(), Refusal> {
    let (name, needed, foreign) = QUOTE_BELONGINGS[body.product as usize];
    let errors = foreign.iter().filter(|member| body.states(member));
    let mut errors: Vec<ValidationError> = errors
        .map(|member| {
            let why = format!("{member} does not belong to {name}");
            ValidationError::value(&["body", member], why, None)
        })
        .collect();
    if !body.states(needed) {
        let missing = ValidationError::new(&["body", needed], "missing", "Field required", None);
        errors.insert(0, missing);
    }
    match errors.is_empty() {
        true => Ok(()),
        false => Err(Refusal::validation(errors)),
    }
}

/// The target in the query; the sample page if there is none.
fn target(app: &App, call: &Call) -> Result<String, Refusal> {
    match query::once(call, "target_url")? {
        Some(text) => Ok(text.into_owned()),
        None => {
            query::check_names_target(app, call, "target_url")?;
            Ok(app.sample.url.clone())
        }
    }
}

async fn read(app: &Shared, call: &Call) -> Result<(QuoteId, QuoteRecord), Refusal> {
    quote::read(app, call.param("quote_id").unwrap_or_default()).await
}

fn is_of_bundle(call: &Call) -> bool {
    let id = call.param("quote_id").unwrap_or_default();
    id.starts_with(BundleQuoteId::PREFIX)
}

/// A complete quote: the shared members, then those of the product.
pub fn quote_json(app: &App, quote: &Quote) -> Value {
    let address = |path: &str| quote.id.map(|id| app.url(&format!("{path}{id}")));
    let record = &quote.record;
    let (purchase, product) = (&record.purchase, record.purchase.product());
    let item = Item {
        target_url: purchase.target_url(),
        level: purchase.level(),
        question: purchase.question(),
        force_refresh: purchase.stated_refresh(),
    };
    let texts = frame::Texts::of(app);
    let view = frame::site(app, &texts);
    let mut body = json!({
        "status": "success",
        "quote_id": quote.id.map(|id| id.to_string()),
        "kept": quote.id.is_some(),
        "target_url": quote.target.target_url,
        "target": target_json(&quote.target),
        "sample_available": quote.target.is_sample,
        "cache": cache_json(&quote.target),
        "payment": payment_json(app),
        "buyer_command": commands::buy(&view, item),
        "commands": {
            "curl": commands::challenge_curl(&view, item),
            "node": commands::typescript(&view, item),
            "python": commands::python(&view, item),
            "context402": commands::buy(&view, item),
        },
        "supplier_spend": 0,
        "created_at": record.created_at,
        "expires_at": record.expires_at,
        "resume_page": address("/checkout/"),
        "receipt_url": address("/v1/quotes/"),
        "next_steps": next_steps(app, product),
    });
    add_rendering(app, &mut body, Some(purchase.render()));
    let offers = quote.offers.iter();
    let offers = offers.map(|offer| offer_json(app, offer.level, None, offer.unavailable));
    let offers: Value = offers.collect();
    match purchase {
        Purchase::Context(context) => {
            body["recommended_tier"] = context.tier.name().into();
            body["tiers"] = offers;
        }
        Purchase::ProofPack(pack) => {
            let chosen = |offer: &&LevelOffer| offer.level == purchase.level();
            let chosen = quote.offers.iter().find(chosen);
            body["question"] = pack.question.clone().into();
            body["pack"] = pack.pack.name().into();
            body["recommended_pack"] = product.default_level().name().into();
            body["packs"] = offers;
            body["body"] = request_json(purchase);
            body["margin_ok"] = chosen
                .is_some_and(|offer| offer.unavailable.is_none())
                .into();
            body["sample_report_url"] = app.url("/v1/proof-pack/sample").into();
        }
        // Several sources have quotes of their own.
        Purchase::Pages(_) | Purchase::ProofBundle(_) | Purchase::Check(_) => {}
    }
    body
}

fn target_json(target: &Inspected) -> Value {
    json!({
        "valid": true, "host": target.host, "scheme": target.scheme, "port": target.port, "resolved": true,
        "blocked_reason": null, "robots": target.robots.name(),
    })
}

/// The other members stay null, for older clients: a free response must not reveal when others bought the page.
fn cache_json(target: &Inspected) -> Value {
    json!({
        "available": target.is_cached,
        "age_seconds": null,
        "expires_at": null,
        "last_fetched_at": null,
    })
}

fn next_steps(app: &App, product: Product) -> Value {
    let (address, word) = (app.url(product.path()), product.level_word());
    json!([
        format!(
            "POST {address} with this target_url and the {word} you choose; the response is a 402 with its price."
        ),
        "Sign the challenge in PAYMENT-REQUIRED and repeat the request with PAYMENT-SIGNATURE.",
    ])
}

/// The request that buys the quote.
pub fn request_json(purchase: &Purchase) -> Value {
    let level = purchase.level();
    let mut request = Map::new();
    let mut set = |name: &str, value: Value| request.insert(name.to_owned(), value);
    set("target_url", purchase.target_url().into());
    if let Some(question) = purchase.question() {
        set("question", question.into());
    }
    set(level.product().level_word(), level.name().into());
    if let Some(refresh) = purchase.stated_refresh() {
        set("force_refresh", refresh.into());
    }
    request.into()
}

fn receipt_json(app: &App, id: QuoteId, record: &QuoteRecord) -> Value {
    json!({
        "status": "success",
        "quote_id": id.to_string(),
        "product": record.purchase.product().name(),
        "state": "open",
        "request": request_json(&record.purchase),
        "amount_units": record.amount_units.to_string(),
        "price_usdc": Amount::from_units(record.amount_units).as_usdc(),
        "created_at": record.created_at,
        "expires_at": record.expires_at,
        "resume_page": app.url(&format!("/checkout/{id}")),
        "content_sha256": record.content_sha256,
    })
}
