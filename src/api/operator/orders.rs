//! Orders for the operator, with their history and possible acts, and the payment provider's events.

use serde_json::{Value, json};

use crate::api::operator::{Newest, Search, answered, is_named, state_asked};
use crate::app::Shared;
use crate::domain::bundle::Bundle;
use crate::domain::checkout;
use crate::domain::code::Code;
use crate::domain::ids::{LeadId, OrderId};
use crate::domain::order::{Order, OrderState};
use crate::domain::refusal::Refusal;
use crate::domain::time::UnixSeconds;
use crate::flows::orders::order_emails::{OrderEmails, delivery_key};
use crate::flows::orders::{ActionOutcome, OrderAction, apply};
use crate::http::{Call, Reply};
use crate::store::{EventRecord, MailRecord, OrderReport, SourceRecord, Store, StoreError};

const NO_ORDER: &str = "No such order: `context402 orders list` shows the identifiers.";
const NO_LEAD: &str = "lead_id is required and begins with lead_.";

/// GET /operator/orders: the newest, optionally by state.
pub async fn orders(app: Shared, call: Call) -> Reply {
    let listed = async {
        let state = state_asked(&call, &OrderState::NAMES)?;
        list(&app.store, Search::of_state(state)).await
    };
    answered(&app, &call, listed.await)
}

/// GET /operator/orders/{order_id}.
pub async fn order(app: Shared, call: Call) -> Reply {
    let shown = show(&app.store, call.param("order_id").unwrap_or_default()).await;
    answered(&app, &call, shown)
}

/// GET /operator/events: the payment provider's events of the last 35 days, newest first.
pub async fn events(app: Shared, call: Call) -> Reply {
    answered(&app, &call, list_events(&app.store).await)
}

/// POST /operator/orders/{order_id}/refulfil.
pub async fn refulfil(app: Shared, call: Call) -> Reply {
    act(&app, &call, OrderAction::Refulfil).await
}

/// POST /operator/orders/{order_id}/resend.
pub async fn resend(app: Shared, call: Call) -> Reply {
    act(&app, &call, OrderAction::Resend).await
}

/// POST /operator/orders/{order_id}/refund.
pub async fn refund(app: Shared, call: Call) -> Reply {
    act(&app, &call, OrderAction::Refund).await
}

/// POST /operator/orders/{order_id}/delete.
pub async fn delete(app: Shared, call: Call) -> Reply {
    act(&app, &call, OrderAction::Delete).await
}

/// POST /operator/orders/{order_id}/attach?lead_id=.
pub async fn attach(app: Shared, call: Call) -> Reply {
    let lead = call.query.get("lead_id").and_then(|id| LeadId::parse(&id));
    match lead {
        Some(lead) => act(&app, &call, OrderAction::Attach(lead)).await,
        None => {
            let refusal = Refusal::new(Code::InvalidRequest, NO_LEAD);
            answered(&app, &call, Err(refusal))
        }
    }
}

async fn act(app: &Shared, call: &Call, action: OrderAction) -> Reply {
    let id = call.param("order_id").unwrap_or_default();
    let done = carry_out(&app.store, id, action, OrderEmails::of(app), app.now()).await;
    answered(app, call, done)
}

/// Performs the operator's action, on a running service or a stopped one's file.
///
/// # Errors
/// There is no such order, or its state does not allow it.
pub async fn carry_out(
    store: &Store,
    id: &str,
    action: OrderAction,
    emails: OrderEmails,
    now: UnixSeconds,
) -> Result<Value, Refusal> {
    let id = OrderId::parse(id).ok_or_else(no_order)?;
    let applied = store.write(move |tables| apply(tables, id, action, &emails, now));
    match applied.await? {
        ActionOutcome::Done => {
            tracing::info!(order.id = %id, wish = ?action, "order changed by the operator");
            Ok(json!({"status": "success", "order_id": id.to_string()}))
        }
        ActionOutcome::NoOrder => Err(no_order()),
        ActionOutcome::Refused(why) => Err(Refusal::new(Code::Conflict, why)),
    }
}

fn no_order() -> Refusal {
    Refusal::new(Code::NotFound, NO_ORDER)
}

/// What an order is found by.
fn is_order_named(words: &str, id: OrderId, order: &Order) -> bool {
    let (id, lead) = (id.to_string(), order.lead_id().map(|lead| lead.to_string()));
    let texts = [
        Some(&*id),
        lead.as_deref(),
        order.email.as_deref(),
        order.bundle.map(Bundle::name),
        Some(&*order.question),
    ];
    is_named(words, texts)
}

/// The newest orders, from a running service or from the file of a stopped one.
///
/// # Errors
/// The store does not answer.
pub async fn list(store: &Store, search: Search) -> Result<Value, Refusal> {
    let orders = newest(store, search).await?;
    let orders = orders.iter().map(|(id, order)| order_json(*id, order));
    Ok(json!({"status": "success", "orders": orders.collect::<Vec<_>>()}))
}

/// The same as records.
pub async fn newest(store: &Store, search: Search) -> Result<Vec<(OrderId, Order)>, StoreError> {
    let (state, words) = (search.state, search.words.to_lowercase());
    let found = store.read(move |snapshot| {
        let mut newest = Newest::none();
        snapshot.orders(|id, order| {
            let fits = |state: &String| state == order.state.name();
            if state.as_ref().is_none_or(fits) && is_order_named(&words, id, &order) {
                newest.add(order.created_at, (id, order));
            }
            Ok(())
        })?;
        Ok(newest.records())
    });
    found.await
}

/// An order with its sources, events and e-mail.
#[derive(Debug)]
pub struct FoundOrder {
    pub id: OrderId,
    pub order: Order,
    pub sources: Vec<(u32, SourceRecord)>,
    pub report: Option<OrderReport>,
    pub mail: Option<MailRecord>,
    events: Vec<EventRecord>,
}

/// One order with its history, sources, events and e-mail.
///
/// # Errors
/// There is none of this identifier.
pub async fn show(store: &Store, id: &str) -> Result<Value, Refusal> {
    let found = one(store, id).await?;
    let order = &found.order;
    let mut answer = order_json(found.id, order);
    answer["session_id"] = order.session_id.clone().into();
    answer["target_urls"] = order.target_urls.clone().into();
    answer["trail"] = order
        .trail
        .iter()
        .map(|step| json!({"at": step.at, "what": step.what}))
        .collect();
    answer["sources"] = found.sources.iter().map(source_json).collect();
    answer["events"] = found.events.iter().map(event_json).collect();
    answer["report"] = found.report.map_or(Value::Null, |report| {
        json!({
            "sha256": hex::encode(report.document),
            "pdf_sha256": report.pdf.map(hex::encode),
            "pdf_bytes": report.pdf_bytes,
            "sources_read": report.sources_read,
            "created_at": report.created_at,
        })
    });
    answer["mail"] = found.mail.map_or(
        Value::Null,
        |mail| json!({"state": mail.state.name(), "tries": mail.tries, "problem": mail.problem}),
    );
    Ok(answer)
}

/// The same as records.
pub async fn one(store: &Store, id: &str) -> Result<FoundOrder, Refusal> {
    let id = OrderId::parse(id).ok_or_else(no_order)?;
    let found = store.read(move |snapshot| {
        let Some(order) = snapshot.order(id)? else {
            return Ok(None);
        };
        let mut events = Newest::none();
        snapshot.provider_events(|event| {
            if event.order == Some(id.0) {
                events.add(event.received_at, event);
            }
            Ok(())
        })?;
        Ok(Some(FoundOrder {
            id,
            sources: snapshot.order_sources(id)?,
            report: snapshot.order_report(id)?,
            mail: snapshot.mail(delivery_key(id, &order))?,
            order,
            events: events.records(),
        }))
    });
    found.await?.ok_or_else(no_order)
}

/// The provider's events, from a running service or a stopped one's file.
///
/// # Errors
/// The store does not answer.
pub async fn list_events(store: &Store) -> Result<Value, Refusal> {
    let events = newest_events(store).await?;
    let events = events.iter().map(event_json);
    Ok(json!({"status": "success", "events": events.collect::<Vec<_>>()}))
}

/// The same as records.
pub async fn newest_events(store: &Store) -> Result<Vec<EventRecord>, StoreError> {
    let found = store.read(|snapshot| {
        let mut newest = Newest::none();
        snapshot.provider_events(|event| {
            newest.add(event.received_at, event);
            Ok(())
        })?;
        Ok(newest.records())
    });
    found.await
}

pub fn order_json(id: OrderId, order: &Order) -> Value {
    let doubt = match &order.state {
        OrderState::NeedsReview { doubt } => Some(doubt.name()),
        _ => None,
    };
    let progress = match order.state {
        OrderState::Processing { done, total, .. } => Some(json!({"done": done, "total": total})),
        _ => None,
    };
    json!({
        "order_id": id.to_string(),
        "state": order.state.name(),
        "doubt": doubt,
        "reason": order.state.reason(),
        "progress": progress,
        "bundle": order.bundle,
        "lead_id": order.lead_id().map(|lead| lead.to_string()),
        "email": order.email,
        "question": order.question,
        "source_count": order.target_urls.len(),
        "amount_total": order.amount_total,
        "currency": order.currency,
        "paid": paid(order),
        "livemode": order.livemode,
        "round": order.round,
        "created_at": order.created_at,
        "changed_at": order.changed_at,
        "fulfilled_at": order.fulfilled_at,
    })
}

/// What was paid, as people write it.
pub fn paid(order: &Order) -> Option<String> {
    let units = order.amount_total?;
    Some(checkout::amount(units, &order.currency))
}

pub fn event_json(event: &EventRecord) -> Value {
    json!({
        "event_id": event.id,
        "type": event.kind,
        "livemode": event.livemode,
        "order_id": event.order.map(|id| OrderId(id).to_string()),
        "outcome": event.outcome,
        "raw": event.raw,
        "created_at": event.created_at,
        "received_at": event.received_at,
    })
}

fn source_json((place, source): &(u32, SourceRecord)) -> Value {
    let state = source.state();
    match source {
        SourceRecord::Read { fetched_at, .. } => {
            json!({"place": place, "state": state, "fetched_at": fetched_at})
        }
        SourceRecord::Waiting {
            tries,
            again_at,
            code,
            message,
        } => json!({
            "place": place, "state": state, "tries": tries, "again_at": again_at, "code": code,
            "message": message,
        }),
        SourceRecord::Unreachable {
            fetched_at,
            code,
            message,
        } => json!({
            "place": place, "state": state, "fetched_at": fetched_at, "code": code, "message": message,
        }),
    }
}
