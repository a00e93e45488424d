//! Requests and messages of people, as JSON or as a form without script: what is taken of them, and what is not.

use crate::api::body::read_body;
use crate::api::lead_answers::{Taken, answer, form_page};
use crate::api::paid::{self, attribution};
use crate::api::typed::Typed;
use crate::api::{bundles, failure};
use crate::app::{App, Shared};
use crate::domain::attribution::Attribution;
use crate::domain::bundle::Bundle;
use crate::domain::ids::{BundleQuoteId, LeadId, QuoteId};
use crate::domain::lead::{Lead, LeadProduct, masked};
use crate::domain::level::{Level, Product};
use crate::domain::pack::Pack;
use crate::domain::refusal::Refusal;
use crate::domain::schema::{Checked, ValidationError};
use crate::domain::shapes::{BUNDLE_LEAD_REQUEST, CONTACT_REQUEST, HONEYPOT, PACK_LEAD_REQUEST};
use crate::flows::bundles as bundle_flow;
use crate::flows::leads::{self as flow, Received};
use crate::http::{Call, Reply};
use crate::pages::request::Known;

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
    let mut known = None;
    if let Some(id) = LeadId::parse(&text("lead_id")) {
        match flow::find(&app.store, id).await {
            Ok(Some(lead)) if lead.product == product => {
                known = Some((id.to_string(), masked(&lead.contact)));
                typed.fill(&lead);
            }
            Ok(_) => {}
            Err(error) => return failure::page(&app, &error.into(), &call),
        }
    }
    if BundleQuoteId::parse(&typed.quote_id).is_some()
        && let Ok((_, quote)) = bundle_flow::read(&app, &typed.quote_id).await
    {
        typed.fill_quote(&quote.target_urls, quote.question.as_deref(), quote.bundle);
    }
    let known = known.as_ref();
    let known = known.map(|(lead_id, contact)| Known { lead_id, contact });
    form_page(&app, 200, product, &typed, &[], known)
}

/// GET /contact.
pub async fn contact_page(app: Shared, call: Call) -> Reply {
    let typed = Typed::of(&call);
    form_page(&app, 200, LeadProduct::Contact, &typed, &[], None)
}

async fn taken_pack(app: &Shared, call: &Call) -> Result<Taken, Refusal> {
    let body = read_body(call, &PACK_LEAD_REQUEST)?;
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
    let is_chosen = body.text("pack").is_some();
    Ok(unread(flow::receive(app, lead, is_chosen).await?))
}

async fn taken_bundle(app: &Shared, call: &Call) -> Result<Taken, Refusal> {
    let body = read_body(call, &BUNDLE_LEAD_REQUEST)?;
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
    Ok(Taken {
        received: flow::receive(app, lead, chosen.is_some()).await?,
        rejected: sorted.rejected,
    })
}

async fn taken_message(app: &Shared, call: &Call) -> Result<Taken, Refusal> {
    let body = read_body(call, &CONTACT_REQUEST)?;
    let contact = contact_in(&body, "email")?;
    if !is_email(&contact) {
        let message = "Value error, this is no e-mail address; without one no answer reaches you";
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
    Ok(unread(flow::receive(app, lead, false).await?))
}

fn unread(received: Received) -> Taken {
    Taken {
        received,
        rejected: Vec::new(),
    }
}

/// What every form tells.
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

/// SECURITY: a contact may become an address of an e-mail; what could end a header's line is no contact.
fn contact_in(body: &Checked, name: &str) -> Result<String, Refusal> {
    let contact = body.text(name).unwrap_or_default().trim();
    if contact.is_empty() {
        let message = "String should have at least 1 character";
        return Err(invalid(name, "string_too_short", message));
    }
    if contact.chars().any(char::is_control) {
        let message = "Value error, a contact holds no line breaks or other control characters";
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

/// Without the control characters that no text needs.
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

/// Whether something can be written to it, roughly: who is wrong about their own address is not mended by a grammar.
pub fn is_email(contact: &str) -> bool {
    let contact = contact.trim();
    contact.split_once('@').is_some_and(|(user, host)| {
        let plain = |c: char| c.is_alphanumeric() || "!#$%&'*+/=?^_`{|}~.-".contains(c);
        !user.is_empty() && host.contains('.') && (user.chars().chain(host.chars())).all(plain)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_email_address_is_known_roughly() {
        for (contact, expected) in [
            ("a@example.com", true),
            (" a.b+c@mail.example.co ", true),
            ("ä@bücher.example", true),
            ("a@localhost", false),
            ("@example.com", false),
            ("a@b@example.com", false),
            ("a b@example.com", false),
            ("a@example.com\r\nBcc: x@y.z", false),
            ("+49 30 1234", false),
        ] {
            assert_eq!(is_email(contact), expected, "{contact:?}");
        }
    }
}
