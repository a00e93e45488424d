//! The way to the payment link of a bundle, or to the request form with everything kept. Only the configured links are
//! ever led to.

use url::Url;

use crate::api::bundles::{REQUEST_PATH, asked, away, bundle_in_query, with_query};
use crate::api::{failure, leads};
use crate::app::{App, Shared};
use crate::domain::bundle::{self, Bundle};
use crate::domain::ids::{BundleQuoteId, LeadId};
use crate::domain::lead::Lead;
use crate::domain::refusal::{Code, Refusal};
use crate::flows::{bundles, leads as flow};
use crate::http::{Call, Reply};
use crate::store::BundleQuoteRecord;

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

/// SECURITY: leads to a configured link or to an address of ours; nothing of the query but its own parameters goes along.
async fn way(app: &Shared, call: &Call) -> Result<String, Refusal> {
    let chosen = bundle_in_query(call)?;
    let text = |name: &str| call.query.get(name).unwrap_or_default().trim().to_owned();
    if let Some(lead) = LeadId::parse(&text("lead_id")) {
        return of_lead(app, call, lead, chosen).await;
    }
    if !text("lead_id").is_empty() {
        return Ok(with_query(app, REQUEST_PATH, call));
    }
    let quote = match BundleQuoteId::parse(&text("quote_id")) {
        Some(id) => bundles::read(app, &id.to_string()).await.ok(),
        None if text("target_urls").is_empty() => return Ok(of_nothing(app, call, chosen)),
        None => None,
    };
    let wanted =
        |quote: &BundleQuoteRecord| chosen_for(quote.target_urls.len(), chosen, quote.bundle);
    match quote {
        Some((_, quote)) if quote.paid_at.is_some() => Err(Refusal::of(Code::AlreadyPaid)),
        Some((id, quote)) if app.config.bundles.link(wanted(&quote)).is_some() => {
            let received = flow::lead_of_quote(app, id, quote).await?;
            of_lead(app, call, received.id, chosen).await
        }
        Some(_) => Ok(with_query(app, REQUEST_PATH, call)),
        None => of_list(app, call, chosen).await,
    }
}

/// The chosen bundle, unless it does not take so many sources.
fn chosen_for(sources: usize, chosen: Option<Bundle>, own: Bundle) -> Bundle {
    let takes_all = |bundle: &Bundle| bundle.source_limit() >= sources;
    chosen.filter(takes_all).unwrap_or(own)
}

async fn of_lead(
    app: &Shared,
    call: &Call,
    id: LeadId,
    chosen: Option<Bundle>,
) -> Result<String, Refusal> {
    let Some(checkout) = flow::start_checkout(app, id, chosen).await? else {
        return Ok(with_query(app, REQUEST_PATH, call));
    };
    Ok(match app.config.bundles.link(checkout.bundle) {
        Some(link) => link_for(link, checkout.id, &checkout.lead),
        None => {
            let mut query = url::form_urlencoded::Serializer::new(String::new());
            query.append_pair("bundle", checkout.bundle.name());
            query.append_pair("lead_id", &checkout.id.to_string());
            app.url(&format!("{REQUEST_PATH}?{}", query.finish()))
        }
    })
}

/// Sources that nobody has quoted yet are quoted now, so that the payment has something to belong to.
async fn of_list(app: &Shared, call: &Call, chosen: Option<Bundle>) -> Result<String, Refusal> {
    let request = with_query(app, REQUEST_PATH, call);
    let Ok(asked) = asked(call) else {
        return Ok(request);
    };
    let bundle = bundles::sort(app, &asked.listed, chosen).bundle;
    if asked.listed.is_empty() || app.config.bundles.link(bundle).is_none() {
        return Ok(request);
    }
    match bundles::quote(app, asked).await {
        Ok(quote) => {
            let received = flow::lead_of_quote(app, quote.id, quote.record).await?;
            of_lead(app, call, received.id, chosen).await
        }
        // What cannot be read is said where it can be mended.
        Err(_) => Ok(request),
    }
}

/// Nothing but a bundle: the payment finds its lead by the buyer's e-mail address.
fn of_nothing(app: &App, call: &Call, chosen: Option<Bundle>) -> String {
    match app.config.bundles.link(chosen.unwrap_or_default()) {
        Some(link) => {
            app.metrics.lead(bundle::PRODUCT, "checkout_started");
            link.to_string()
        }
        None => with_query(app, REQUEST_PATH, call),
    }
}

fn link_for(link: &Url, id: LeadId, lead: &Lead) -> String {
    let mut address = link.clone();
    let mut query = address.query_pairs_mut();
    query.append_pair("client_reference_id", &id.to_string());
    if leads::is_email(&lead.contact) {
        query.append_pair("prefilled_email", lead.contact.trim());
    }
    drop(query);
    address.to_string()
}
