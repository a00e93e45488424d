//! The way to the payment link of a bundle, or to the request form with everything kept. Only the configured links are
//! ever led to. Nothing is kept by going there but, in a lead's trail, that its buyer went: a payment names the lead or
//! the quote that it is for.

use std::fmt;

use url::Url;

use crate::api::failure;
use crate::api::orders::bundles::{REQUEST_PATH, away, bundle_in_query, with_query};
use crate::app::{App, Shared};
use crate::domain::bundle::{self, Bundle};
use crate::domain::email::is_email;
use crate::domain::ids::{BundleQuoteId, LeadId};
use crate::domain::refusal::{Code, Refusal};
use crate::flows::orders::leads as flow;
use crate::flows::quotes::bundles;
use crate::http::{Call, Reply};

/// GET /proof-pack/bundle/pay: on to the payment link, or to the request form with everything kept.
pub async fn pay(app: Shared, call: Call) -> Reply {
    match way(&app, &call).await {
        Ok(location) => away(&location),
        Err(refusal) if call.accepts_rather("text/html", "application/json") => {
            failure::page(&app, &refusal, &call)
        }
        Err(refusal) => failure::reply(&app, &refusal, &call),
    }
}

/// SECURITY: leads to a configured link or to an address of ours; nothing of the query but its own parameters goes
/// along.
async fn way(app: &Shared, call: &Call) -> Result<String, Refusal> {
    let chosen = bundle_in_query(call)?;
    let text = |name: &str| call.query.get(name).unwrap_or_default().trim().to_owned();
    let request = || Ok(with_query(app, REQUEST_PATH, call));
    let (lead_id, quote_id) = (text("lead_id"), text("quote_id"));
    if let Some(id) = LeadId::parse(&lead_id) {
        return of_lead(app, call, id, chosen).await;
    }
    if let Some(id) = BundleQuoteId::parse(&quote_id) {
        return of_quote(app, call, id, chosen).await;
    }
    // An identifier that is none, or sources that nobody has quoted: a payment would belong to nothing.
    match lead_id.is_empty() && text("target_urls").is_empty() {
        true => Ok(of_nothing(app, call, chosen)),
        false => request(),
    }
}

/// To the link of the bundle that the lead is for. Another bundle is another request.
async fn of_lead(
    app: &Shared,
    call: &Call,
    id: LeadId,
    chosen: Option<Bundle>,
) -> Result<String, Refusal> {
    let found = flow::find(&app.store, id).await?;
    let is_for_another = found.is_some_and(|lead| {
        let own = Bundle::parse(&lead.level);
        chosen.is_some_and(|chosen| own.is_some_and(|own| own != chosen))
    });
    if is_for_another {
        return Ok(with_query(app, REQUEST_PATH, call));
    }
    let Some((lead, bundle)) = flow::start_checkout(app, id).await? else {
        return Ok(with_query(app, REQUEST_PATH, call));
    };
    Ok(match app.payment_link(bundle) {
        Some(link) => {
            count(app);
            link_for(&link, &id, &lead.contact)
        }
        None => with_query(app, REQUEST_PATH, call),
    })
}

/// To the link of the chosen bundle if it takes the quote's sources, else of the quoted one. The payment names the
/// quote, and the lead is made when it arrives.
async fn of_quote(
    app: &Shared,
    call: &Call,
    id: BundleQuoteId,
    chosen: Option<Bundle>,
) -> Result<String, Refusal> {
    let quote = match bundles::read(app, &id.to_string()).await {
        Ok((_, quote)) if quote.paid_at.is_some() => return Err(Refusal::of(Code::AlreadyPaid)),
        Ok((_, quote)) => quote,
        Err(refusal) if refusal.code == Code::QuoteExpired => return Err(refusal),
        Err(_) => return Ok(with_query(app, REQUEST_PATH, call)),
    };
    let takes_all = |bundle: &Bundle| bundle.source_limit() >= quote.target_urls.len();
    let bundle = chosen.filter(takes_all).unwrap_or(quote.bundle);
    Ok(match app.payment_link(bundle) {
        Some(link) => {
            count(app);
            link_for(&link, &id, "")
        }
        None => with_query(app, REQUEST_PATH, call),
    })
}

/// Nothing but a bundle: the payment finds its lead by the buyer's e-mail address.
fn of_nothing(app: &App, call: &Call, chosen: Option<Bundle>) -> String {
    match app.payment_link(chosen.unwrap_or_default()) {
        Some(link) => {
            count(app);
            link.to_string()
        }
        None => with_query(app, REQUEST_PATH, call),
    }
}

fn count(app: &App) {
    app.metrics
        .leads
        .count([bundle::PRODUCT, "checkout_started"]);
}

/// The link with what the payment is for, and the buyer's address where it is known.
fn link_for(link: &Url, reference: &impl fmt::Display, contact: &str) -> String {
    let mut address = link.clone();
    let mut query = address.query_pairs_mut();
    query.append_pair("client_reference_id", &reference.to_string());
    if is_email(contact.trim()) {
        query.append_pair("prefilled_email", contact.trim());
    }
    drop(query);
    address.to_string()
}
