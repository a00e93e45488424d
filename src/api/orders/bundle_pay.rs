//! Redirects to a bundle's payment link, or to the pre-filled request form. Only configured links are used. The redirect
//! is recorded only in a lead's history; the payment carries the reference of the lead or quote.

use std::fmt;

use url::Url;

use crate::api::failure;
use crate::api::orders::bundles::{REQUEST_PATH, away, bundle_in_query, with_query};
use crate::app::{App, Shared};
use crate::domain::bundle::{self, Bundle};
use crate::domain::code::Code;
use crate::domain::email::is_email;
use crate::domain::ids::{BundleQuoteId, LeadId};
use crate::domain::refusal::Refusal;
use crate::flows::orders::leads as flow;
use crate::flows::quotes::bundles;
use crate::http::{Call, Reply};

/// GET /proof-pack/bundle/pay: redirects to the payment link, or to the pre-filled request form.
pub async fn pay(app: Shared, call: Call) -> Reply {
    match way(&app, &call).await {
        Ok(location) => away(&location),
        Err(refusal) if call.prefers("text/html", "application/json") => {
            failure::page(&app, &refusal, &call)
        }
        Err(refusal) => failure::reply(&app, &refusal, &call),
    }
}

/// SECURITY: redirects only to a configured link or our own pages, and passes on only known parameters.
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
    // An invalid identifier, or sources without quote: a payment could not be matched.
    match lead_id.is_empty() && text("target_urls").is_empty() {
        true => Ok(of_nothing(app, call, chosen)),
        false => request(),
    }
}

/// Redirects to the link of the lead's bundle. Another bundle needs another request.
async fn of_lead(
    app: &Shared,
    call: &Call,
    id: LeadId,
    chosen: Option<Bundle>,
) -> Result<String, Refusal> {
    let found = flow::find(&app.store, id).await?;
    let is_for_another = found.is_some_and(|lead| {
        chosen.is_some_and(|chosen| lead.bundle().is_some_and(|own| own != chosen))
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

/// Redirects to the link of the chosen bundle if it fits the quote's sources, else of the quoted one. The payment carries
/// the quote, and the lead is made when it arrives.
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

/// Only a bundle is given: the payment is matched by the buyer's e-mail address.
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

/// The link with the payment's reference, and the buyer's e-mail address if known.
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
