//! Requests and messages of people: taken in as JSON or as a form without script, and answered the same way. A contact
//! is never shown back in full.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::api::body::read_body;
use crate::api::bundles::{self, LEADS_PATH, REQUEST_PATH};
use crate::api::paid::{self, attribution};
use crate::api::quotes::fresh;
use crate::api::{failure, site};
use crate::app::{App, Shared};
use crate::domain::attribution::Attribution;
use crate::domain::bundle::Bundle;
use crate::domain::ids::{BundleQuoteId, LeadId, QuoteId};
use crate::domain::lead::{Lead, LeadProduct, masked};
use crate::domain::level::{Level, Product};
use crate::domain::pack::Pack;
use crate::domain::refusal::{Refusal, With};
use crate::domain::schema::{Checked, ValidationError};
use crate::domain::shapes::{BUNDLE_LEAD_REQUEST, CONTACT_REQUEST, HONEYPOT, PACK_LEAD_REQUEST};
use crate::flows::bundles as bundle_flow;
use crate::flows::bundles::Rejected;
use crate::flows::leads::{self as flow, Received, Told};
use crate::http::{Call, Reply};
use crate::pages;
use crate::pages::request::{Form, Known, ReceivedView, RequestView};

pub const PACK_LEADS_PATH: &str = "/v1/proof-pack/leads";
const CONTACT_PATH: &str = "/contact";

/// A lead that was taken in, with the sources that were left out of it.
struct Taken {
    received: Received,
    rejected: Vec<Rejected>,
}

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
    let told = Told {
        level: pack_of(&body).name().to_owned(),
        contact,
        target_urls: vec![sorted.sources.pop().unwrap_or_default()],
        ..told(call, &body, LeadProduct::Pack)
    };
    if is_robot(&body) {
        return Ok(unread(flow::forget(app, told)));
    }
    if told.target_urls[0].is_empty() {
        return Err(bundle_flow::nothing_left(sorted.rejected));
    }
    Ok(unread(flow::receive(app, told).await?))
}

async fn taken_bundle(app: &Shared, call: &Call) -> Result<Taken, Refusal> {
    let body = read_body(call, &BUNDLE_LEAD_REQUEST)?;
    let contact = contact_in(&body, "contact")?;
    let chosen = body.text("bundle").and_then(Bundle::parse);
    let sorted = bundle_flow::sort(app, &bundles::listed_in(&body), chosen);
    let told = Told {
        level: sorted.bundle.name().to_owned(),
        contact,
        target_urls: sorted.sources,
        ..told(call, &body, LeadProduct::Bundle)
    };
    if is_robot(&body) {
        return Ok(unread(flow::forget(app, told)));
    }
    if told.target_urls.is_empty() {
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
        received: flow::receive(app, told).await?,
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
    let told = Told {
        contact,
        name: cleaned(&body, "name"),
        notes: cleaned(&body, "message"),
        ..told(call, &body, LeadProduct::Contact)
    };
    if told.notes.is_empty() {
        let message = "String should have at least 1 character";
        return Err(invalid("message", "string_too_short", message));
    }
    if is_robot(&body) {
        return Ok(unread(flow::forget(app, told)));
    }
    Ok(unread(flow::receive(app, told).await?))
}

fn unread(received: Received) -> Taken {
    Taken {
        received,
        rejected: Vec::new(),
    }
}

/// What every form tells.
fn told(call: &Call, body: &Checked, product: LeadProduct) -> Told {
    let quote = body.text("quote_id").map(str::trim);
    let is_quote = |id: &&str| BundleQuoteId::parse(id).is_some() || QuoteId::parse(id).is_some();
    Told {
        question: cleaned(body, "question"),
        use_case: cleaned(body, "use_case"),
        budget_usdc: cleaned(body, "budget_usdc"),
        notes: cleaned(body, "notes"),
        source: attributed(call, body),
        quote: quote.filter(is_quote).map(str::to_owned),
        ..Told::of(product)
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

fn answer(app: &App, call: &Call, product: LeadProduct, outcome: Result<Taken, Refusal>) -> Reply {
    let is_page = call.accepts_rather("text/html", "application/json");
    match outcome {
        Ok(taken) if is_page => received_page(app, &taken),
        Ok(taken) => {
            let body = match product {
                LeadProduct::Contact => ticket_json(&taken.received),
                _ => lead_json(app, &taken),
            };
            fresh(Reply::json(status(&taken.received), body.to_string()))
        }
        Err(refusal) if is_page => {
            let complaints = complaints(&refusal);
            let status = failure::status(refusal.code);
            form_page(app, status, product, &Typed::of(call), &complaints, None)
        }
        Err(refusal) => failure::reply(app, &refusal, call),
    }
}

/// Accepted now, or known already.
fn status(received: &Received) -> u16 {
    match received.duplicate {
        true => 200,
        false => 202,
    }
}

fn ticket_json(received: &Received) -> Value {
    json!({
        "status": "received",
        "ticket_id": received.id.to_string(),
        "duplicate": received.duplicate,
        "created_at": received.lead.created_at,
    })
}

fn lead_json(app: &App, taken: &Taken) -> Value {
    let Received {
        id,
        lead,
        duplicate,
    } = &taken.received;
    let mut body = json!({
        "status": "received",
        "lead_id": id.to_string(),
        "pipeline_status": lead.status.name(),
        "duplicate": duplicate,
        "target_urls": lead.target_urls,
        "pay_url": null,
        "created_at": lead.created_at,
    });
    let price = match Bundle::parse(&lead.level) {
        Some(bundle) if lead.product == LeadProduct::Bundle => {
            let path = bundles::pay_path(app, bundle, &[("lead_id", &id.to_string())]);
            let rejected = taken.rejected.iter();
            body["bundle"] = bundle.name().into();
            body["source_limit"] = bundle.source_limit().into();
            body["rejected_urls"] = rejected
                .map(|one| json!({"url": one.url, "code": one.code, "reason": one.reason}))
                .collect();
            body["next_steps"] = bundle_steps(path.is_some());
            body["pay_url"] = path.map(|path| app.url(&path)).into();
            body["resume_page"] = app.url(&format!("{REQUEST_PATH}?lead_id={id}")).into();
            bundle.price()
        }
        _ => {
            let pack = Pack::parse(&lead.level).unwrap_or_default();
            body["pack"] = pack.name().into();
            body["next_steps"] = json!([
                format!(
                    "POST {} buys the report now, without waiting for anybody.",
                    app.url(Product::ProofPack.path())
                ),
                "Otherwise the operator writes to the contact you gave.",
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
            "GET pay_url leads to the payment link; the report follows by itself.",
            "The delivery is found again by the e-mail address you pay with.",
        ]),
        false => json!(["The operator writes to the contact you gave about payment and delivery."]),
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

/// What is wrong, a sentence each, for whoever filled in the form.
fn complaints(refusal: &Refusal) -> Vec<String> {
    match &refusal.with {
        With::Validation(errors) => {
            let complaint = |error: &ValidationError| {
                let place = error.loc.get(1).and_then(Value::as_str);
                match place {
                    Some(place) => format!("{}: {}", place.replace('_', " "), error.msg),
                    None => error.msg.clone(),
                }
            };
            errors.iter().map(complaint).collect()
        }
        With::Rejected(rejected) if rejected.len() > 1 => {
            let each = rejected.iter();
            each.map(|(url, reason)| format!("{url}: {reason}"))
                .collect()
        }
        _ => vec![refusal.message.clone()],
    }
}

fn received_page(app: &App, taken: &Taken) -> Reply {
    let Received {
        id,
        lead,
        duplicate,
    } = &taken.received;
    let lead_id = id.to_string();
    let bundle = Bundle::parse(&lead.level).filter(|_| lead.product == LeadProduct::Bundle);
    let pay_path =
        bundle.and_then(|bundle| bundles::pay_path(app, bundle, &[("lead_id", &lead_id)]));
    let pack_path = (lead.product == LeadProduct::Pack).then(|| pack_path(lead));
    let texts = site::Texts::of(app);
    let contact = masked(&lead.contact);
    let rejected = taken.rejected.iter();
    let view = ReceivedView {
        site: site::site(app, &texts),
        product: lead.product,
        lead_id: &lead_id,
        contact: &contact,
        duplicate: *duplicate,
        bundle,
        target_urls: &lead.target_urls,
        rejected: rejected
            .map(|one| (one.url.as_str(), one.reason.as_str()))
            .collect(),
        pay_path: pay_path.as_deref(),
        pack_path: pack_path.as_deref(),
    };
    let page = Reply::html(
        status(&taken.received),
        pages::request::received_page(&view),
    );
    private(page)
}

fn form_page(
    app: &App,
    status: u16,
    product: LeadProduct,
    typed: &Typed,
    complaints: &[String],
    known: Option<Known<'_>>,
) -> Reply {
    let texts = site::Texts::of(app);
    let (path, action) = match product {
        LeadProduct::Pack => (REQUEST_PATH, PACK_LEADS_PATH),
        LeadProduct::Bundle => (REQUEST_PATH, LEADS_PATH),
        LeadProduct::Contact => (CONTACT_PATH, "/v1/contact"),
    };
    let view = RequestView {
        site: site::site(app, &texts),
        path,
        action,
        product,
        form: typed.form(),
        complaints,
        known,
    };
    private(Reply::html(status, pages::request::page(&view)))
}

/// What somebody has typed is nobody else's to read.
fn private(page: Reply) -> Reply {
    fresh(site::with_page_headers(page)).fixed("referrer-policy", "no-referrer")
}

/// What stands in a form: as it was sent, or as an address brings it.
#[derive(Clone, Debug, Default)]
pub struct Typed {
    pub contact: String,
    pub name: String,
    pub target_urls: String,
    pub question: String,
    pub level: String,
    pub use_case: String,
    pub budget_usdc: String,
    pub notes: String,
    pub source: String,
    pub quote_id: String,
}

impl Typed {
    /// From a form's body, else from the query. Nothing of it is checked.
    pub fn of(call: &Call) -> Typed {
        let body = (!call.body.is_empty()).then_some(&*call.body);
        let pairs = url::form_urlencoded::parse(body.unwrap_or(call.query.0.as_bytes()));
        let mut fields: BTreeMap<String, String> = BTreeMap::new();
        for (name, text) in pairs {
            let field = fields.entry(name.into_owned()).or_default();
            if !field.is_empty() {
                field.push('\n');
            }
            field.push_str(&text);
        }
        let mut take = |names: &[&str]| {
            let mut found = names.iter().filter_map(|name| fields.remove(*name));
            found.next().unwrap_or_default()
        };
        Typed {
            contact: take(&["contact", "email"]),
            name: take(&["name"]),
            target_urls: take(&["target_urls", "target_url"]),
            question: take(&["question"]),
            level: take(&["bundle", "pack"]),
            use_case: take(&["use_case"]),
            budget_usdc: take(&["budget_usdc"]),
            notes: take(&["notes", "message"]),
            source: take(&["source"]),
            quote_id: take(&["quote_id"]),
        }
    }

    /// Where the person came from.
    pub fn attribution(&self, call: &Call) -> Option<String> {
        let label = Attribution::parse(&self.source).or_else(|| attribution(call));
        label.map(|label| label.as_str().to_owned())
    }

    /// What a lead knows and the address does not say, but for the contact.
    fn fill(&mut self, lead: &Lead) {
        let set = |field: &mut String, text: &str| {
            if field.is_empty() {
                text.clone_into(field);
            }
        };
        set(&mut self.target_urls, &lead.target_urls.join("\n"));
        set(&mut self.question, &lead.question);
        set(&mut self.level, &lead.level);
        set(&mut self.use_case, &lead.use_case);
        set(&mut self.budget_usdc, &lead.budget_usdc);
        set(&mut self.notes, &lead.notes);
        set(
            &mut self.quote_id,
            lead.quote.as_deref().unwrap_or_default(),
        );
    }

    fn fill_quote(&mut self, target_urls: &[String], question: Option<&str>, bundle: Bundle) {
        if self.target_urls.is_empty() {
            self.target_urls = target_urls.join("\n");
        }
        if self.question.is_empty() {
            self.question = question.unwrap_or_default().to_owned();
        }
        if self.level.is_empty() {
            self.level = bundle.name().to_owned();
        }
    }

    fn form(&self) -> Form<'_> {
        Form {
            contact: &self.contact,
            name: &self.name,
            target_urls: &self.target_urls,
            question: &self.question,
            level: &self.level,
            use_case: &self.use_case,
            budget_usdc: &self.budget_usdc,
            notes: &self.notes,
            source: &self.source,
            quote_id: &self.quote_id,
        }
    }
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
