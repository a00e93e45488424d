//! Responses to requests and messages, as JSON and HTML. A contact is never shown in full.

use serde_json::{Value, json};

use crate::api::orders::bundles::{self, LEADS_PATH, REQUEST_PATH};
use crate::api::orders::form_values::Typed;
use crate::api::{failure, frame};
use crate::app::App;
use crate::domain::email::masked;
use crate::domain::figures::{capitalized, grouped};
use crate::domain::lead::{Lead, LeadProduct};
use crate::domain::level::Product;
use crate::domain::pack::Pack;
use crate::domain::refusal::{Refusal, With};
use crate::domain::schema::ValidationError;
use crate::flows::orders::leads::Received;
use crate::flows::quotes::bundles::Rejected;
use crate::http::{Call, Reply};
use crate::pages;
use crate::pages::orders::request::{Known, ReceivedView, RequestView};

const PACK_LEADS_PATH: &str = "/v1/proof-pack/leads";
const MESSAGES_PATH: &str = "/v1/contact";
const CONTACT_PATH: &str = "/contact";

/// The status of an accepted lead.
const TAKEN: u16 = 202;
/// SECURITY: constant, so that nobody learns whether the same request was made before. Kept for existing clients.
const NEVER_TOLD: bool = false;

/// An accepted lead, with its rejected sources.
#[derive(Clone, Debug)]
pub struct AcceptedLead {
    pub received: Received,
    pub rejected: Vec<Rejected>,
}

/// As JSON, or as HTML for a form.
pub fn answer(
    app: &App,
    call: &Call,
    product: LeadProduct,
    outcome: Result<AcceptedLead, Refusal>,
) -> Reply {
    let is_page = call.prefers("text/html", "application/json");
    match outcome {
        Ok(taken) if is_page => received_page(app, &taken),
        Ok(taken) => {
            let body = match product {
                LeadProduct::Contact => ticket_json(&taken.received),
                _ => lead_json(app, &taken),
            };
            Reply::json(TAKEN, body.to_string()).no_store()
        }
        Err(refusal) if is_page => {
            let complaints = complaints(&refusal);
            let status = failure::status(refusal.code);
            form_page(app, status, product, &Typed::of(call), &complaints, None)
        }
        Err(refusal) => failure::reply(app, &refusal, call),
    }
}

fn ticket_json(received: &Received) -> Value {
    json!({
        "status": "received",
        "ticket_id": received.id.to_string(),
        "duplicate": NEVER_TOLD,
        "created_at": received.lead.created_at,
    })
}

fn lead_json(app: &App, taken: &AcceptedLead) -> Value {
    let Received { id, lead } = &taken.received;
    let mut body = json!({
        "status": "received",
        "lead_id": id.to_string(),
        "pipeline_status": lead.status.name(),
        "duplicate": NEVER_TOLD,
        "target_urls": lead.target_urls,
        "pay_url": null,
        "created_at": lead.created_at,
    });
    let price = match lead.bundle() {
        Some(bundle) => {
            let path = bundles::pay_path(app, bundle, &[("lead_id", &id.to_string())]);
            body["bundle"] = bundle.name().into();
            body["source_limit"] = bundle.source_limit().into();
            body["rejected_urls"] = bundles::rejected_json(&taken.rejected);
            body["next_steps"] = bundle_steps(path.is_some());
            body["pay_url"] = path.map(|path| app.url(&path)).into();
            body["resume_page"] = app.url(&format!("{REQUEST_PATH}?lead_id={id}")).into();
            bundle.price()
        }
        None => {
            let pack = Pack::parse(&lead.level).unwrap_or_default();
            body["pack"] = pack.name().into();
            body["next_steps"] = json!([
                format!(
                    "POST {} to buy the report now.",
                    app.url(Product::ProofPack.path())
                ),
                "Otherwise the operator will reply to your contact address.",
            ]);
            body["resume_page"] = app.url(&pack_path(lead)).into();
            pack.price()
        }
    };
    body["amount_units"] = price.units().to_string().into();
    body["price_usdc"] = price.as_usdc().into();
    body
}

fn bundle_steps(is_payable: bool) -> Value {
    match is_payable {
        true => json!([
            "GET pay_url redirects to the payment link; the report is delivered automatically.",
            "You can find the delivery again with the e-mail address you pay with.",
        ]),
        false => {
            json!(["The operator will reply to your contact address about payment and delivery."])
        }
    }
}

/// The quote of the same report.
fn pack_path(lead: &Lead) -> String {
    let target = lead.target_urls.first().map(String::as_str);
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("target_url", target.unwrap_or_default());
    if !lead.question.is_empty() {
        query.append_pair("question", &lead.question);
    }
    query.append_pair("pack", &lead.level);
    format!("/proof-pack/quote?{}", query.finish())
}

/// The errors of a form, a sentence each.
fn complaints(refusal: &Refusal) -> Vec<String> {
    match &refusal.with {
        With::Validation(errors) => errors.iter().map(complaint).collect(),
        With::Rejected(rejected) if rejected.len() > 1 => {
            let each = rejected.iter();
            each.map(|(url, reason)| format!("{url}: {reason}"))
                .collect()
        }
        _ => vec![refusal.message.clone()],
    }
}

/// An error in the words of the form, where the API's are for programs.
fn complaint(error: &ValidationError) -> String {
    let place = error.loc.get(1).and_then(Value::as_str).unwrap_or_default();
    let what = match place {
        "contact" | "email" => "your e-mail address",
        "message" => "a message",
        "target_url" => "the address of a source",
        "target_urls" => "at least one source",
        _ => "",
    };
    let label = place.replace('_', " ");
    match error.kind {
        "missing" | "string_too_short" | "too_short" if !what.is_empty() => {
            format!("Enter {what}.")
        }
        "string_too_long" => match error
            .ctx
            .as_ref()
            .and_then(|ctx| ctx["max_length"].as_u64())
        {
            Some(most) => format!(
                "{} is longer than {} characters.",
                capitalized(&label),
                grouped(most)
            ),
            None => format!("{} is too long.", capitalized(&label)),
        },
        "value_error" if matches!(place, "contact" | "email") => {
            let why = error.msg.trim_start_matches("Value error, ");
            format!("{}.", capitalized(why))
        }
        "too_long" if place == "target_urls" => error
            .msg
            .replace("List should be shorter: it has", "You listed"),
        _ if label.is_empty() => error.msg.clone(),
        _ => format!("{}: {}", capitalized(&label), error.msg),
    }
}

fn received_page(app: &App, taken: &AcceptedLead) -> Reply {
    let Received { id, lead } = &taken.received;
    let lead_id = id.to_string();
    let bundle = lead.bundle();
    let pay_path =
        bundle.and_then(|bundle| bundles::pay_path(app, bundle, &[("lead_id", &lead_id)]));
    let pack_path = (lead.product == LeadProduct::Pack).then(|| pack_path(lead));
    let texts = frame::Texts::of(app);
    let contact = masked(&lead.contact);
    let rejected = taken.rejected.iter();
    let view = ReceivedView {
        site: frame::site(app, &texts),
        product: lead.product,
        lead_id: &lead_id,
        contact: &contact,
        bundle,
        target_urls: &lead.target_urls,
        rejected: rejected
            .map(|one| (one.url.as_str(), one.reason.as_str()))
            .collect(),
        pay_path: pay_path.as_deref(),
        pack_path: pack_path.as_deref(),
    };
    private(Reply::html(
        TAKEN,
        pages::orders::request::received_page(&view),
    ))
}

/// The form, with its values and errors.
pub fn form_page(
    app: &App,
    status: u16,
    product: LeadProduct,
    typed: &Typed,
    complaints: &[String],
    known: Option<Known<'_>>,
) -> Reply {
    let texts = frame::Texts::of(app);
    let (path, action) = match product {
        LeadProduct::Pack => (REQUEST_PATH, PACK_LEADS_PATH),
        LeadProduct::Bundle => (REQUEST_PATH, LEADS_PATH),
        LeadProduct::Contact => (CONTACT_PATH, MESSAGES_PATH),
    };
    let view = RequestView {
        site: frame::site(app, &texts),
        path,
        action,
        product,
        form: typed.form(),
        complaints,
        known,
    };
    private(Reply::html(status, pages::orders::request::page(&view)))
}

/// The page shows the visitor's input, so it is not cached. Browsers send Origin with the form only if the referrer policy
/// allows it.
fn private(page: Reply) -> Reply {
    frame::with_page_headers(page)
        .no_store()
        .fixed("referrer-policy", "same-origin")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_answered_in_words_of_the_form() {
        let said = |place, kind, message: &str| {
            complaint(&ValidationError::new(&["body", place], kind, message, None))
        };
        let short = "String should have at least 1 character";
        assert_eq!(
            said("email", "string_too_short", short),
            "Enter your e-mail address."
        );
        assert_eq!(
            said("message", "missing", "Field required"),
            "Enter a message."
        );
        assert_eq!(
            said(
                "target_urls",
                "too_long",
                "List should be shorter: it has 41 sources. The largest bundle takes 25."
            ),
            "You listed 41 sources. The largest bundle takes 25."
        );
        let why = "Value error, this is not an e-mail address";
        assert_eq!(
            said("contact", "value_error", why),
            "This is not an e-mail address."
        );
        assert_eq!(said("notes", "other", "No."), "Notes: No.");
    }
}
