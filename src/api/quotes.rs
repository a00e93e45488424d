//! Quotes for pages: JSON and HTML of the same facts, and the receipts that are kept of them.

use serde_json::{Value, json};

use crate::api::access::attribution;
use crate::api::{failure, site};
use crate::app::{App, Shared};
use crate::domain::ids::QuoteId;
use crate::domain::refusal::{Code, Refusal, With};
use crate::domain::tier::Tier;
use crate::domain::time::UnixSeconds;
use crate::flows::offer::{ACCESS_PATH, TIMEOUT_SECONDS_MAX};
use crate::flows::quote::{self, TierQuote};
use crate::http::{Call, Reply};
use crate::pages::checkout::{CheckoutState, CheckoutView, KeptQuote};
use crate::pages::commands;
use crate::pages::quote::{QuoteOutcome, QuoteView};
use crate::store::QuoteRecord;

/// GET /v1/x402/quote.
pub async fn tiers(app: Shared, call: Call) -> Reply {
    let target = target(&app, &call);
    match quote::quote(&app, &target, source(&call)).await {
        Ok(quote) => fresh(Reply::json(200, quote_json(&app, &quote).to_string())),
        Err(refusal) => failure::reply(&app, &refusal, &call),
    }
}

/// GET /quote.
pub async fn tiers_page(app: Shared, call: Call) -> Reply {
    let typed = call
        .query
        .get("target_url")
        .unwrap_or_default()
        .trim()
        .to_owned();
    let quoted = match typed.as_str() {
        "" => None,
        target => Some(quote::quote(&app, target, source(&call)).await),
    };
    let texts = site::Texts::of(&app);
    let id = quoted
        .as_ref()
        .and_then(|quoted| quoted.as_ref().ok())
        .map(|quote| quote.id.to_string());
    let outcome = match (&quoted, &id) {
        (Some(Ok(quote)), Some(id)) => QuoteOutcome::Quoted(crate::pages::quote::TierQuote {
            quote_id: id,
            target_url: &quote.record.target_url,
            kept_age_seconds: quote.stored_at.map(|at| app.now().since(at)),
            recommended: Tier::default(),
            offers: quote
                .offers
                .iter()
                .map(|offer| crate::pages::quote::TierOffer {
                    tier: offer.tier,
                    unavailable: offer.unavailable,
                })
                .collect(),
            expires_at: UnixSeconds(quote.record.expires_at),
        }),
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
        site: site::site(&app, &texts),
        typed: &typed,
        outcome,
    };
    let page = fresh(site::with_page_headers(Reply::html(
        status,
        crate::pages::quote::page(&view),
    )));
    match quoted.map(|quoted| quoted.map_err(|refusal| refusal.with)) {
        Some(Err(With::Limit(standing))) => failure::with_standing(page, &standing),
        _ => page,
    }
}

/// GET /v1/quotes/{quote_id}.
pub async fn receipt(app: Shared, call: Call) -> Reply {
    match read(&app, &call).await {
        Ok((_, record)) if is_expired(&app, &record) => {
            failure::reply(&app, &Refusal::of(Code::QuoteExpired), &call)
        }
        Ok((id, record)) => fresh(Reply::json(
            200,
            receipt_json(&app, id, &record).to_string(),
        )),
        Err(refusal) => failure::reply(&app, &refusal, &call),
    }
}

/// GET /checkout/{quote_id}.
pub async fn resume_page(app: Shared, call: Call) -> Reply {
    let (id, record) = match read(&app, &call).await {
        Ok(found) => found,
        Err(refusal) => return failure::page(&app, &refusal, &call),
    };
    let expired = is_expired(&app, &record);
    let state = if expired {
        CheckoutState::Expired {
            target_url: Some(&record.target_url),
        }
    } else {
        CheckoutState::Kept(KeptQuote {
            target_url: &record.target_url,
            tier: Tier::parse(&record.recommended_tier).unwrap_or_default(),
            created_at: UnixSeconds(record.created_at),
            expires_at: UnixSeconds(record.expires_at),
        })
    };
    let texts = site::Texts::of(&app);
    let view = CheckoutView {
        site: site::site(&app, &texts),
        quote_id: &id.to_string(),
        state,
    };
    let page = Reply::html(
        if expired { 410 } else { 200 },
        crate::pages::checkout::page(&view),
    );
    fresh(site::with_page_headers(page)).fixed("x-robots-tag", "noindex")
}

fn target(app: &App, call: &Call) -> String {
    call.query
        .get("target_url")
        .map_or_else(|| app.sample.url.clone(), |text| text.into_owned())
}

fn source(call: &Call) -> Option<String> {
    attribution(call).map(|label| label.as_str().to_owned())
}

async fn read(app: &Shared, call: &Call) -> Result<(QuoteId, QuoteRecord), Refusal> {
    quote::read(app, call.param("quote_id").unwrap_or_default()).await
}

fn is_expired(app: &App, record: &QuoteRecord) -> bool {
    app.now() >= UnixSeconds(record.expires_at)
}

/// Prices may change with the cache: a quote is never reused by a proxy.
fn fresh(reply: Reply) -> Reply {
    reply.fixed("cache-control", "no-store")
}

fn quote_json(app: &App, quote: &TierQuote) -> Value {
    let id = quote.id.to_string();
    let (record, terms) = (&quote.record, &app.config.payment);
    let texts = site::Texts::of(app);
    let view = site::site(app, &texts);
    let tiers: Vec<Value> = quote
        .offers
        .iter()
        .map(|offer| {
            json!({
                "tier": offer.tier.name(),
                "amount": offer.tier.price().units().to_string(),
                "price_usdc": offer.tier.price().as_usdc(),
                "cache_policy": offer.tier.policy(),
                "deliverable_now": offer.unavailable.is_none(),
                "reason": offer.unavailable,
                "endpoint": ACCESS_PATH,
                "accepts": [app.offers.tier(offer.tier).requirements],
            })
        })
        .collect();
    let stored_at = quote.stored_at;
    json!({
        "status": "success",
        "quote_id": id,
        "target_url": record.target_url,
        "target": {
            "valid": true, "host": quote.host, "scheme": quote.scheme, "port": quote.port, "resolved": true,
            "blocked_reason": null, "robots": quote.robots.name(),
        },
        "sample_available": quote.is_sample,
        "cache": {
            "available": stored_at.is_some() || quote.is_sample,
            "age_seconds": stored_at.map(|at| app.now().since(at)),
            "expires_at": stored_at.map(|at| at.plus(crate::domain::time::PAGE_SECONDS).0),
            "last_fetched_at": stored_at.map(|at| at.0),
        },
        "recommended_tier": record.recommended_tier,
        "tiers": tiers,
        "payment": {
            "network": terms.network, "asset": terms.asset, "pay_to": terms.pay_to, "scheme": "exact",
            "x402Version": 2, "max_timeout_seconds": TIMEOUT_SECONDS_MAX,
        },
        "buyer_command": commands::buy(&view, &record.target_url, Tier::default()),
        "commands": {
            "curl": commands::challenge_curl(&view, &record.target_url, Tier::default()),
            "node": commands::typescript(&view, &record.target_url, Tier::default()),
            "python": commands::python(&view, &record.target_url, Tier::default()),
            "context402": commands::buy(&view, &record.target_url, Tier::default()),
        },
        "supplier_spend": 0,
        "created_at": record.created_at,
        "expires_at": record.expires_at,
        "resume_page": app.url(&format!("/checkout/{id}")),
        "receipt_url": app.url(&format!("/v1/quotes/{id}")),
        "next_steps": [
            format!("POST {} with this target_url and the tier you choose; the answer is a 402 with its price.", app.url(ACCESS_PATH)),
            "Sign the challenge in PAYMENT-REQUIRED and repeat the request with PAYMENT-SIGNATURE.",
        ],
    })
}

fn receipt_json(app: &App, id: QuoteId, record: &QuoteRecord) -> Value {
    json!({
        "status": "success",
        "quote_id": id.to_string(),
        "product": "context",
        "state": "open",
        "request": {"target_url": record.target_url, "tier": record.recommended_tier},
        "amount_units": record.amount_units.to_string(),
        "price_usdc": crate::domain::amount::Amount::from_units(record.amount_units).as_usdc(),
        "created_at": record.created_at,
        "expires_at": record.expires_at,
        "resume_page": app.url(&format!("/checkout/{id}")),
        "content_sha256": record.content_sha256,
    })
}
