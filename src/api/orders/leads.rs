//! Requests and messages, as JSON or as a form without script, and their validation.

use crate::api::body::{check_origin, read_body};
use crate::api::buyer::paid::{self, attribution};
use crate::api::failure;
use crate::api::orders::bundles;
use crate::api::orders::form_values::Typed;
use crate::api::orders::lead_answers::{Taken, answer, form_page};
use crate::app::{App, Shared};
use crate::domain::attribution::Attribution;
use crate::domain::bundle::Bundle;
use crate::domain::email::is_email;
use crate::domain::ids::{BundleQuoteId, LeadId, QuoteId};
use crate::domain::lead::{Lead, LeadProduct};
use crate::domain::level::{Level, Product};
use crate::domain::pack::Pack;
use crate::domain::refusal::Refusal;
use crate::domain::schema::{Checked, ValidationError};
use crate::domain::shapes::{BUNDLE_LEAD_REQUEST, CONTACT_REQUEST, HONEYPOT, PACK_LEAD_REQUEST};
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
    let is_payable = lead.product == LeadProduct::Bundle && lead.status.is_open();
    let bundle = Bundle::parse(&lead.level).filter(|_| is_payable)?;
    bundles::pay_path(app, bundle, &[("lead_id", id)])
}

/// GET /contact.
pub async fn contact_page(app: Shared, call: Call) -> Reply {
    let typed = Typed::of(&call);
    form_page(&app, 200, LeadProduct::Contact, &typed, &[], None)
}

async fn taken_pack(app: &Shared, call: &Call) -> Result<Taken, Refusal> {
    check_origin(app, call)?;
    let body = read_body(app, call, &PACK_LEAD_REQUEST)?;
    let contact = contact_in(&body, "contact")?;
    let listed = bundle_flow::Listed::of_addresses(body.text("target_url"));
    let mut sorted = bundle_flow::sort(app, &listed, Some(Bundle::Scout));
    let lead = Lead {
        level: pack_of(&body).name().to_owned(),
        contact,
        target_urls: vec![sorted.sources.pop().unwrap_or_default()],
        ..told(app, call, &body, LeadProduct::Pack)
    };
    if is_robot(&body) {
        return Ok(unread(flow::forget(app, lead)));
    }
    if lead.target_urls[0].is_empty() {
        return Err(bundle_flow::nothing_left(sorted.rejected));
    }
    Ok(unread(flow::receive(app, lead).await?))
}

async fn taken_bundle(app: &Shared, call: &Call) -> Result<Taken, Refusal> {
    check_origin(app, call)?;
    let body = read_body(app, call, &BUNDLE_LEAD_REQUEST)?;
    let contact = contact_in(&body, "contact")?;
    let chosen = body.text("bundle").and_then(Bundle::parse);
    let sorted = bundle_flow::sort(app, &bundles::listed_in(&body), chosen);
    let lead = Lead {
        level: sorted.bundle.name().to_owned(),
        contact,
        target_urls: sorted.sources,
        ..told(app, call, &body, LeadProduct::Bundle)
    };
    if is_robot(&body) {
        return Ok(unread(flow::forget(app, lead)));
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
    Ok(Taken {
        received: flow::receive(app, lead).await?,
        rejected: sorted.rejected,
    })
}

async fn taken_message(app: &Shared, call: &Call) -> Result<Taken, Refusal> {
    check_origin(app, call)?;
    let body = read_body(app, call, &CONTACT_REQUEST)?;
    let contact = contact_in(&body, "email")?;
    if !is_email(contact.trim()) {
        let message = "Value error, this is not an e-mail address, so we could not reply";
        return Err(invalid("email", "value_error", message));
    }
    let lead = Lead {
        contact,
        name: cleaned(&body, "name"),
        notes: cleaned(&body, "message"),
        ..told(app, call, &body, LeadProduct::Contact)
    };
    if lead.notes.is_empty() {
        let message = "String should have at least 1 character";
        return Err(invalid("message", "string_too_short", message));
    }
    if is_robot(&body) {
        return Ok(unread(flow::forget(app, lead)));
    }
    Ok(unread(flow::receive(app, lead).await?))
}

fn unread(received: Received) -> Taken {
    Taken {
        received,
        rejected: Vec::new(),
    }
}

/// The fields that every form has.
fn told(app: &App, call: &Call, body: &Checked, product: LeadProduct) -> Lead {
    let quote = body.text("quote_id").map(str::trim);
    let is_quote = |id: &&str| BundleQuoteId::parse(id).is_some() || QuoteId::parse(id).is_some();
    Lead {
        question: cleaned(body, "question"),
        use_case: cleaned(body, "use_case"),
        budget_usdc: cleaned(body, "budget_usdc"),
        notes: cleaned(body, "notes"),
        source: attributed(call, body),
        quote: quote.filter(is_quote).map(str::to_owned),
        ..Lead::of(product, app.now())
    }
}

/// The label of the body, else of the request.
pub fn attributed(call: &Call, body: &Checked) -> Option<String> {
    let labelled = body.text("source").and_then(Attribution::parse);
    let label = labelled.or_else(|| attribution(call));
    label.map(|label| label.as_str().to_owned())
}

fn pack_of(body: &Checked) -> Pack {
    match paid::stated_level(Product::ProofPack, body) {
        Some(Level::Pack(pack)) => pack,
        _ => Pack::default(),
    }
}

/// SECURITY: a contact may become an e-mail address, so it must not contain line breaks.
fn contact_in(body: &Checked, name: &str) -> Result<String, Refusal> {
    let contact = body.text(name).unwrap_or_default().trim();
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

fn invalid(name: &str, kind: &'static str, message: &str) -> Refusal {
    Refusal::validation(vec![ValidationError::new(
        &["body", name],
        kind,
        message,
        None,
    )])
}

/// Removes control characters.
fn cleaned(body: &Checked, name: &str) -> String {
    let text = body.text(name).unwrap_or_default().trim();
    let text = text.replace("\r\n", "\n");
    text.chars()
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .collect()
}

fn is_robot(body: &Checked) -> bool {
    let filled = body.text(HONEYPOT).unwrap_or_default();
    !filled.trim().is_empty()
}
