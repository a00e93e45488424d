//! Lead management for the operator: list, show, change status, add notes, export and delete. The functions take a store,
//! so that the command line can use them on a stopped service's file.

use serde_json::{Value, json};

use crate::api::operator::{LIST_MAX, Search, answered, is_named};
use crate::app::Shared;
use crate::domain::code::Code;
use crate::domain::figures::capitalized;
use crate::domain::ids::LeadId;
use crate::domain::lead::{Lead, LeadEvent, LeadProduct, LeadStatus, LeadStep};
use crate::domain::refusal::Refusal;
use crate::domain::time::UnixSeconds;
use crate::flows::orders::leads;
use crate::http::{Call, Reply};
use crate::store::{LeadFilter, Store};

/// Leads per part of an export.
const PART_MAX: usize = 200;

pub const NO_LEAD: &str = "No such lead: `context402 leads list` shows the identifiers.";

/// GET /operator/leads: the newest, optionally by status or product.
pub async fn list(app: Shared, call: Call) -> Reply {
    let text = |name: &str| call.query.get(name).map(|text| text.into_owned());
    let outcome = listed(
        &app.store,
        Search::of_state(text("status")),
        text("product"),
    )
    .await;
    answered(&app, &call, outcome)
}

/// GET /operator/leads/{lead_id}.
pub async fn show(app: Shared, call: Call) -> Reply {
    let outcome = read_one(&app.store, lead_id(&call)).await;
    answered(&app, &call, outcome)
}

/// GET /operator/leads/export: all of them, in parts.
pub async fn export(app: Shared, call: Call) -> Reply {
    let after = call.query.get("after").map(|text| text.into_owned());
    let outcome = part(&app.store, after.as_deref()).await;
    answered(&app, &call, outcome)
}

/// POST /operator/leads/{lead_id}/move.
pub async fn advance(app: Shared, call: Call) -> Reply {
    let text = |name: &str| call.query.get(name).unwrap_or_default().into_owned();
    let outcome = moved(
        &app.store,
        lead_id(&call),
        &text("to"),
        text("note"),
        app.now(),
    )
    .await;
    answered(&app, &call, outcome)
}

/// POST /operator/leads/{lead_id}/note.
pub async fn annotate(app: Shared, call: Call) -> Reply {
    let text = call.query.get("text").unwrap_or_default().into_owned();
    let outcome = noted(&app.store, lead_id(&call), text, app.now()).await;
    answered(&app, &call, outcome)
}

/// POST /operator/leads/{lead_id}/delete.
pub async fn delete(app: Shared, call: Call) -> Reply {
    let outcome = deleted(&app.store, lead_id(&call)).await;
    answered(&app, &call, outcome)
}

/// POST /operator/leads/delete: every lead of one contact.
pub async fn delete_of(app: Shared, call: Call) -> Reply {
    let contact = call.query.get("contact").unwrap_or_default().into_owned();
    let outcome = deleted_of(&app.store, contact).await;
    answered(&app, &call, outcome)
}

fn lead_id(call: &Call) -> &str {
    call.param("lead_id").unwrap_or_default()
}

fn found(id: &str) -> Result<LeadId, Refusal> {
    LeadId::parse(id).ok_or_else(no_lead)
}

fn no_lead() -> Refusal {
    Refusal::new(Code::NotFound, NO_LEAD)
}

/// What a lead is found by.
fn is_lead_named(words: &str, id: LeadId, lead: &Lead) -> bool {
    let id = id.to_string();
    let texts = [&id, &lead.contact, &lead.name, &lead.question].into_iter();
    let texts = texts.chain(&lead.target_urls).chain(&lead.source);
    is_named(words, texts.map(|text| Some(text.as_str())))
}

/// The newest leads, from a running service or from the file of a stopped one.
///
/// # Errors
/// The state or the product does not exist, or the store does not answer.
pub async fn listed(
    store: &Store,
    search: Search,
    product: Option<String>,
) -> Result<Value, Refusal> {
    let leads = newest(store, search, product).await?;
    let leads = leads.iter().map(|(id, lead)| summary_json(*id, lead));
    Ok(json!({"status": "success", "leads": leads.collect::<Vec<_>>()}))
}

/// The same as records.
pub async fn newest(
    store: &Store,
    search: Search,
    product: Option<String>,
) -> Result<Vec<(LeadId, Lead)>, Refusal> {
    let (status, words) = (search.state, search.words.to_lowercase());
    let statuses = LeadStatus::ALL.map(LeadStatus::name);
    let products = LeadProduct::ALL.map(LeadProduct::name);
    let filter = LeadFilter {
        status: named(status, "status", &statuses, LeadStatus::parse)?,
        product: named(product, "product", &products, LeadProduct::parse)?,
    };
    let fits = move |id, lead: &Lead| is_lead_named(&words, id, lead);
    Ok(leads::newest(store, filter, fits, LIST_MAX).await?)
}

fn named<T>(
    name: Option<String>,
    what: &str,
    names: &[&str],
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, Refusal> {
    let Some(name) = name else {
        return Ok(None);
    };
    let message = format!("No such {what} of a lead; use one of {}.", names.join(", "));
    let parsed = parse(&name).ok_or_else(|| Refusal::new(Code::InvalidRequest, message));
    parsed.map(Some)
}

/// One lead with its trail.
pub async fn read_one(store: &Store, id: &str) -> Result<Value, Refusal> {
    let (id, lead) = one(store, id).await?;
    Ok(lead_json(id, &lead))
}

/// The same as a record.
pub async fn one(store: &Store, id: &str) -> Result<(LeadId, Lead), Refusal> {
    let id = found(id)?;
    let lead = leads::find(store, id).await?.ok_or_else(no_lead)?;
    Ok((id, lead))
}

/// A part of all leads, ordered by identifier, and where the next part begins.
pub async fn part(store: &Store, after: Option<&str>) -> Result<Value, Refusal> {
    let after = after.map(found).transpose()?;
    let leads = store
        .read(move |snapshot| snapshot.leads_after(after, PART_MAX))
        .await?;
    let next = match leads.len() {
        PART_MAX => leads.last().map(|(id, _)| id.to_string()),
        _ => None,
    };
    let leads = leads.iter().map(|(id, lead)| lead_json(*id, lead));
    Ok(json!({"status": "success", "leads": leads.collect::<Vec<_>>(), "next": next}))
}

/// Changes a lead's status, if the pipeline allows it.
pub async fn moved(
    store: &Store,
    id: &str,
    to: &str,
    note: String,
    now: UnixSeconds,
) -> Result<Value, Refusal> {
    let id = found(id)?;
    let invalid = |message: String| Refusal::new(Code::InvalidRequest, message);
    let event = LeadStatus::parse(to).and_then(LeadEvent::towards);
    let event = event.ok_or_else(|| {
        invalid("A lead's new status must be contacted, paid, fulfilled or lost.".to_owned())
    })?;
    let advanced = leads::advance(store, id, event, note, now).await?;
    match advanced.ok_or_else(no_lead)? {
        Ok(lead) => Ok(lead_json(id, &lead)),
        Err(refused) => {
            let reason = capitalized(&refused.to_string());
            Err(invalid(format!("{reason}.")))
        }
    }
}

/// Adds a note to a lead's history.
pub async fn noted(
    store: &Store,
    id: &str,
    text: String,
    now: UnixSeconds,
) -> Result<Value, Refusal> {
    let id = found(id)?;
    let lead = leads::annotate(store, id, text, now).await?;
    Ok(lead_json(id, &lead.ok_or_else(no_lead)?))
}

/// Deletes one lead.
pub async fn deleted(store: &Store, id: &str) -> Result<Value, Refusal> {
    match leads::delete(store, found(id)?).await? {
        true => Ok(json!({"status": "success", "deleted": 1})),
        false => Err(no_lead()),
    }
}

/// Deletes all leads of one contact.
pub async fn deleted_of(store: &Store, contact: String) -> Result<Value, Refusal> {
    let count = leads::delete_of(store, contact).await?;
    Ok(json!({"status": "success", "deleted": count}))
}

fn summary_json(id: LeadId, lead: &Lead) -> Value {
    json!({
        "lead_id": id.to_string(),
        "product": lead.product.name(),
        "level": lead.level,
        "status": lead.status.name(),
        "contact": lead.contact,
        "source_count": lead.target_urls.len(),
        "source": lead.source,
        "created_at": lead.created_at,
        "changed_at": lead.changed_at,
    })
}

/// All fields of a lead, for the operator only.
pub fn lead_json(id: LeadId, lead: &Lead) -> Value {
    let step = |step: &LeadStep| json!({"at": step.at, "by": step.by.name(), "what": step.what});
    let mut body = summary_json(id, lead);
    body["name"] = lead.name.clone().into();
    body["target_urls"] = lead.target_urls.clone().into();
    body["question"] = lead.question.clone().into();
    body["use_case"] = lead.use_case.clone().into();
    body["budget_usdc"] = lead.budget_usdc.clone().into();
    body["notes"] = lead.notes.clone().into();
    body["quote_id"] = lead.quote.clone().into();
    body["trail"] = lead.trail.iter().map(step).collect();
    body
}
