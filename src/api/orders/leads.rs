//! Requests and messages, as JSON or as a form without script, and their validation.

use crate::api::body::{check_origin, is_form, read_body};
use crate::api::failure;
use crate::api::orders::bundles;
use crate::api::orders::form_values::Typed;
use crate::api::orders::lead_answers::{AcceptedLead, answer, form_page};
use crate::api::query::attributed;
use crate::app::{App, Shared};
use crate::domain::bundle::Bundle;
use crate::domain::email::is_email;
use crate::domain::ids::{BundleQuoteId, LeadId, QuoteId};
use crate::domain::lead::{Lead, LeadProduct};
use crate::domain::level::Product;
use crate::domain::refusal::Refusal;
use crate::domain::requests::{BundleLeadRequest, ContactRequest, PackLeadRequest};
use crate::domain::schema::ValidationError;
use crate::domain::words::is_unseen;
use crate::flows::orders::leads::{self as flow, Received};
use crate::flows::quotes::bundles as bundle_flow;
use crate::http::{Call, Reply};
use crate::pages::orders::request::Known;

/// POST /v1/proof-pack/leads.
pub async fn pack(app: Shared, call: Call) -> Reply {
    let outcome = taken_pack(&app, &call).await;
    answer(&app, &call, LeadProduct::Pack, outcome)
}

/// POST /v1/proof-pack/bundle/leads.
pub async fn bundle(app: Shared, call: Call) -> Reply {
    let outcome = taken_bundle(&app, &call).await;
    answer(&app, &call, LeadProduct::Bundle, outcome)
}

/// POST /v1/contact.
pub async fn contact(app: Shared, call: Call) -> Reply {
    let outcome = taken_message(&app, &call).await;
    answer(&app, &call, LeadProduct::Contact, outcome)
}

/// GET /proof-pack/request: the form for a bundle, or for a report with `product=proof_pack` or a pack.
pub async fn request_page(app: Shared, call: Call) -> Reply {
    let mut typed = Typed::of(&call);
    let text = |name: &str| call.query.get(name).unwrap_or_default().into_owned();
    let is_pack = text("product") == Product::ProofPack.name() || !text("pack").is_empty();
    let product = match is_pack {
        true => LeadProduct::Pack,
        false => LeadProduct::Bundle,
    };
    // SECURITY: identifiers travel in links and to the payment provider. They reveal that a request exists and link to its
    // payment, but no contents.
    let mut known = None;
    if let Some(id) = LeadId::parse(&text("lead_id")) {
        match flow::find(&app.store, id).await {
            Ok(Some(lead)) if lead.product == product => known = Some((id.to_string(), lead)),
            Ok(_) => {}
            Err(error) => return failure::page(&app, &error.into(), &call),
        }
    }
    if BundleQuoteId::parse(&typed.quote_id).is_some()
        && let Ok((_, quote)) = bundle_flow::read(&app, &typed.quote_id).await
    {
        typed.fill_quote(&quote.target_urls, quote.question.as_deref(), quote.bundle);
    }
    let pay_path = known
        .as_ref()
        .and_then(|(id, lead)| pay_path(&app, id, lead));
    let known = known.as_ref().map(|(id, _)| Known {
        lead_id: id,
        pay_path: pay_path.as_deref(),
    });
    form_page(&app, 200, product, &typed, &[], known)
}

/// Where to pay for an open bundle request, if there is a payment link.
fn pay_path(app: &App, id: &str, lead: &Lead) -> Option<String> {
    let bundle = lead.bundle().filter(|_| lead.status.is_open())?;
    bundles::pay_path(app, bundle, &[("lead_id", id)])
}

/// GET /contact.
pub async fn contact_page(app: Shared, call: Call) -> Reply {
    let typed = Typed::of(&call);
    form_page(&app, 200, LeadProduct::Contact, &typed, &[], None)
}

async fn taken_pack(app: &Shared, call: &Call) -> Result<AcceptedLead, Refusal> {
    check_origin(app, call)?;
    let body: PackLeadRequest = read_body(app, call)?;
    let contact = checked_contact("contact", &body.contact)?;
    check_form_contact(call, &contact)?;
    let listed = bundle_flow::Listed::of_addresses([body.target_url.as_str()]);
    let mut sorted = bundle_flow::sort(app, &listed, Some(Bundle::Scout));
    let lead = Lead {
        level: body.pack.unwrap_or_default().name().to_owned(),
        contact,
        target_urls: vec![sorted.sources.pop().unwrap_or_default()],
        question: cleaned(body.question.as_deref()),
        use_case: cleaned(body.use_case.as_deref()),
        budget_usdc: cleaned(body.budget_usdc.as_deref()),
        notes: cleaned(body.notes.as_deref()),
        source: attributed(call, body.source.as_deref()),
        quote: quote_named(body.quote_id.as_deref()),
        ..Lead::of(LeadProduct::Pack, app.now())
    };
    if is_robot(body.website.as_deref()) {
        return Ok(without_rejected(flow::forget(app, lead)));
    }
    if lead.target_urls[0].is_empty() {
        return Err(bundle_flow::nothing_left(sorted.rejected));
    }
    Ok(without_rejected(flow::receive(app, lead).await?))
}

async fn taken_bundle(app: &Shared, call: &Call) -> Result<AcceptedLead, Refusal> {
    check_origin(app, call)?;
    let body: BundleLeadRequest = read_body(app, call)?;
    let contact = checked_contact("contact", &body.contact)?;
    check_form_contact(call, &contact)?;
    let listed = bundles::listed_in(&body.target_urls);
    // Forms say that the number of sources decides; a program that names no bundle gets the default.
    let by_count = || is_form(call).then(|| bundle_flow::smallest(app, &listed));
    let sorted = bundle_flow::sort(app, &listed, body.bundle.or_else(by_count));
    let lead = Lead {
        level: sorted.bundle.name().to_owned(),
        contact,
        target_urls: sorted.sources,
        question: cleaned(body.question.as_deref()),
        use_case: cleaned(body.use_case.as_deref()),
        budget_usdc: cleaned(body.budget_usdc.as_deref()),
        notes: cleaned(body.notes.as_deref()),
        source: attributed(call, body.source.as_deref()),
        quote: quote_named(body.quote_id.as_deref()),
        ..Lead::of(LeadProduct::Bundle, app.now())
    };
    if is_robot(body.website.as_deref()) {
        return Ok(without_rejected(flow::forget(app, lead)));
    }
    if lead.target_urls.is_empty() {
        return Err(match sorted.rejected.is_empty() {
            true => invalid(
                "target_urls",
                "too_short",
                "List should have at least 1 source",
            ),
            false => bundle_flow::nothing_left(sorted.rejected),
        });
    }
    if sorted.left_out > 0 {
        let count = lead.target_urls.len() + sorted.left_out;
        let beyond = bundle_flow::beyond(sorted.bundle, count);
        let message = format!("List should be shorter: it has {count} sources. {beyond}");
        return Err(invalid("target_urls", "too_long", &message));
    }
    Ok(AcceptedLead {
        received: flow::receive(app, lead).await?,
        rejected: sorted.rejected,
    })
}

async fn taken_message(app: &Shared, call: &Call) -> Result<AcceptedLead, Refusal> {
    check_origin(app, call)?;
    let body: ContactRequest = read_body(app, call)?;
    let contact = checked_contact("email", &body.email)?;
    if !is_email(contact.trim()) {
        return Err(invalid("email", "value_error", NO_EMAIL));
    }
    let lead = Lead {
        contact,
        name: cleaned(body.name.as_deref()),
        notes: cleaned(Some(&body.message)),
        source: attributed(call, body.source.as_deref()),
        ..Lead::of(LeadProduct::Contact, app.now())
    };
    if lead.notes.is_empty() {
        let message = "String should have at least 1 character";
        return Err(invalid("message", "string_too_short", message));
    }
    if is_robot(body.website.as_deref()) {
        return Ok(without_rejected(flow::forget(app, lead)));
    }
    Ok(without_rejected(flow::receive(app, lead).await?))
}

fn without_rejected(received: Received) -> AcceptedLead {
    AcceptedLead {
        received,
        rejected: Vec::new(),
    }
}

/// The quote that a request follows; anything that is no quote's identifier is dropped.
fn quote_named(id: Option<&str>) -> Option<String> {
    let is_quote = |id: &&str| BundleQuoteId::parse(id).is_some() || QuoteId::parse(id).is_some();
    id.map(str::trim).filter(is_quote).map(str::to_owned)
}

/// SECURITY: a contact may become an e-mail address, so it must not contain line breaks.
fn checked_contact(name: &str, contact: &str) -> Result<String, Refusal> {
    let contact = contact.trim();
    if contact.is_empty() {
        let message = "String should have at least 1 character";
        return Err(invalid(name, "string_too_short", message));
    }
    if contact.chars().any(char::is_control) {
        let message =
            "Value error, a contact must not contain line breaks or other control characters";
        return Err(invalid(name, "value_error", message));
    }
    Ok(contact.to_owned())
}

/// A form asks for an e-mail address; programs may leave another contact.
fn check_form_contact(call: &Call, contact: &str) -> Result<(), Refusal> {
    match is_form(call) && !is_email(contact) {
        true => Err(invalid("contact", "value_error", NO_EMAIL)),
        false => Ok(()),
    }
}

const NO_EMAIL: &str =
    "Value error, this is not an e-mail address such as name@example.com, so we could not reply";

fn invalid(name: &str, kind: &'static str, message: &str) -> Refusal {
    Refusal::validation(vec![ValidationError::new(
        &["body", name],
        kind,
        message,
        None,
    )])
}

/// Removes control characters and those that nobody sees.
fn cleaned(text: Option<&str>) -> String {
    let text = text.unwrap_or_default().trim().replace("\r\n", "\n");
    text.chars()
        .filter(|c| (!c.is_control() || matches!(c, '\n' | '\t')) && !is_unseen(*c))
        .collect()
}

/// Whether the field is filled in that people do not see.
fn is_robot(honeypot: Option<&str>) -> bool {
    honeypot.is_some_and(|text| !text.trim().is_empty())
}
