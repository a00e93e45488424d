//! Orders for the operator, with their history and possible acts, and the payment provider's events.

use serde_json::{Value, json};

use crate::api::operator::{Newest, Search, answered, is_named, state_asked};
use crate::app::Shared;
use crate::domain::checkout;
use crate::domain::code::Code;
use crate::domain::ids::{LeadId, OrderId};
use crate::domain::order::{Order, OrderState};
use crate::domain::refusal::Refusal;
use crate::domain::time::UnixSeconds;
use crate::flows::orders::order_emails::{OrderEmails, delivery_key};
use crate::flows::orders::{ActionOutcome, OrderAction, apply};
use crate::http::{Call, Reply};
use crate::store::{EventRecord, SourceRecord, Store};

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
const NAMES: [&str; 5] = ["order_id", "lead_id", "email", "bundle", "question"];

/// The newest orders, from a running service or from the file of a stopped one.
///
/// # Errors
/// The store does not answer.
pub async fn list(store: &Store, search: Search) -> Result<Value, Refusal> {
    let (state, words) = (search.state, search.words.to_lowercase());
    let listed = store.read(move |snapshot| {
        let mut newest = Newest::default();
        snapshot.orders(|id, order| {
            let fits = |state: &String| state == order.state.name();
            if state.as_ref().is_none_or(fits) {
                let answer = order_json(id, &order);
                if is_named(&answer, &NAMES, &words) {
                    newest.add(order.created_at, answer);
                }
            }
            Ok(())
        })?;
        Ok(newest.values())
    });
    Ok(json!({"status": "success", "orders": listed.await?}))
}

/// One order with its history, sources, events and e-mail.
///
/// # Errors
/// There is none of this identifier.
pub async fn show(store: &Store, id: &str) -> Result<Value, Refusal> {
    let id = OrderId::parse(id).ok_or_else(no_order)?;
    let found = store.read(move |snapshot| {
        let Some(order) = snapshot.order(id)? else {
            return Ok(None);
        };
        let sources = snapshot.order_sources(id)?;
        let report = snapshot.order_report(id)?;
        let mail = snapshot.mail(delivery_key(id, &order))?;
        let mut events = Newest::default();
        snapshot.provider_events(|event| {
            if event.order == Some(id.0) {
                events.add(event.received_at, event_json(&event));
            }
            Ok(())
        })?;
        let mut answer = order_json(id, &order);
        answer["session_id"] = order.session_id.clone().into();
        answer["target_urls"] = order.target_urls.clone().into();
        answer["trail"] = order
            .trail
            .iter()
            .map(|step| json!({"at": step.at, "what": step.what}))
            .collect();
        answer["sources"] = sources.iter().map(source_json).collect();
        answer["events"] = events.values().into();
        answer["report"] = report.map_or(Value::Null, |report| {
            json!({
                "sha256": hex::encode(report.document),
                "pdf_sha256": report.pdf.map(hex::encode),
                "pdf_bytes": report.pdf_bytes,
                "sources_read": report.sources_read,
                "created_at": report.created_at,
            })
        });
        answer["mail"] = mail.map_or(Value::Null, |mail| {
            json!({"state": mail.state.name(), "tries": mail.tries, "problem": mail.problem})
        });
        Ok(Some(answer))
    });
    found.await?.ok_or_else(no_order)
}

/// The provider's events, from a running service or a stopped one's file.
///
/// # Errors
/// The store does not answer.
pub async fn list_events(store: &Store) -> Result<Value, Refusal> {
    let listed = store.read(|snapshot| {
        let mut newest = Newest::default();
        snapshot.provider_events(|event| {
            newest.add(event.received_at, event_json(&event));
            Ok(())
        })?;
        Ok(newest.values())
    });
    Ok(json!({"status": "success", "events": listed.await?}))
}

pub fn order_json(id: OrderId, order: &Order) -> Value {
    let (doubt, reason) = match &order.state {
        OrderState::NeedsReview { doubt } => (Some(doubt.name()), Some(doubt.to_string())),
        OrderState::Failed { reason } => (None, Some(reason.clone())),
        _ => (None, None),
    };
    let progress = match order.state {
        OrderState::Processing { done, total, .. } => Some(json!({"done": done, "total": total})),
        _ => None,
    };
    json!({
        "order_id": id.to_string(),
        "state": order.state.name(),
        "doubt": doubt,
        "reason": reason,
        "progress": progress,
        "bundle": order.bundle,
        "lead_id": order.lead.map(|lead| LeadId(lead).to_string()),
        "email": order.email,
        "question": order.question,
        "source_count": order.target_urls.len(),
        "amount_total": order.amount_total,
        "currency": order.currency,
        "paid": order.amount_total.map(|units| checkout::amount(units, &order.currency)),
        "livemode": order.livemode,
        "round": order.round,
        "created_at": order.created_at,
        "changed_at": order.changed_at,
        "fulfilled_at": order.fulfilled_at,
    })
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
    match source {
        SourceRecord::Read { fetched_at, .. } => {
            json!({"place": place, "state": "read", "fetched_at": fetched_at})
        }
        SourceRecord::Waiting {
            tries,
            again_at,
            code,
            message,
        } => json!({
            "place": place, "state": "waiting", "tries": tries, "again_at": again_at, "code": code,
            "message": message,
        }),
        SourceRecord::Unreachable {
            fetched_at,
            code,
            message,
        } => json!({
            "place": place, "state": "unreachable", "fetched_at": fetched_at, "code": code, "message": message,
        }),
    }
}
