//! The operator's webhook for new leads. A notice is stored with its lead, and the next attempt is recorded before the
//! current one starts, so a crash loses none and repeats at most one.

use serde_json::{Value, json};

use crate::app::Shared;
use crate::domain::ids::{EventId, LeadId};
use crate::domain::lead::{By, Lead};
use crate::domain::time::UnixSeconds;
use crate::outside::call::Permit;
use crate::outside::hooks::Hook;
use crate::store::{Due, NoticeRecord, StoreError, Tables};

/// The event name of a notice.
const EVENT: &str = "lead.created";
/// Seconds between attempts; after the last one the notice fails.
const PAUSES: [u64; 3] = [30, 300, 60];

/// Starts due notices while the webhook has places; the rest stays due, with all its attempts.
pub async fn work_off(app: &Shared, rows: Vec<Due>, now: UnixSeconds) -> Result<(), StoreError> {
    for due in rows {
        let Some(hook) = app.outside.hook.clone() else {
            drop_due(app, due).await?;
            continue;
        };
        // Taken before the attempt is counted.
        let Some(place) = hook.try_place() else {
            return Ok(());
        };
        if let Some((notice, lead)) = begin(app, due, now).await? {
            let app_in_task = app.clone();
            app.tasks.spawn(async move {
                announce(&app_in_task, &hook, place, LeadId(due.id()), &notice, &lead).await;
            });
        }
    }
    Ok(())
}

/// Records the next attempt and when it is due. `None`: there is no notice any more, or it has failed.
async fn begin(
    app: &Shared,
    due: Due,
    now: UnixSeconds,
) -> Result<Option<(NoticeRecord, Lead)>, StoreError> {
    let id = LeadId(due.id());
    let begun = app.store.write(move |tables| {
        tables.unschedule(due)?;
        let (Some(mut notice), Some(lead)) = (tables.notice(id)?, tables.lead(id)?) else {
            return Ok(None);
        };
        let Some(pause) = PAUSES.get(usize::from(notice.attempts)) else {
            give_up(tables, id, lead, now)?;
            return Ok(None);
        };
        notice.attempts += 1;
        tables.put_notice(id, &notice, now.plus(*pause))?;
        Ok(Some((notice, lead)))
    });
    begun.await
}

/// The notice is no longer needed.
async fn drop_due(app: &Shared, due: Due) -> Result<(), StoreError> {
    let dropped = app.store.write(move |tables| {
        tables.unschedule(due)?;
        tables.drop_notice(LeadId(due.id()))
    });
    dropped.await
}

fn give_up(
    tables: &mut Tables<'_>,
    id: LeadId,
    mut lead: Lead,
    now: UnixSeconds,
) -> Result<(), StoreError> {
    tracing::error!(lead.id = %id, "lead notice failed permanently");
    lead.note(By::Service, "webhook notice failed", now);
    tables.put_lead(id, &lead)?;
    tables.drop_notice(id)
}

async fn announce(
    app: &Shared,
    hook: &Hook,
    place: Permit,
    id: LeadId,
    notice: &NoticeRecord,
    lead: &Lead,
) {
    let body = notice_json(id, notice, lead).to_string();
    match hook.send_in(place, EVENT, body, app.now()).await {
        Ok(()) => {
            let dropped = app.store.write(move |tables| tables.drop_notice(id)).await;
            if let Err(error) = dropped {
                tracing::warn!(error = %error, "lead notice delivered but not recorded; it may be sent again");
            }
        }
        Err(error) => {
            let attempts = notice.attempts;
            tracing::warn!(error = %error, attempts, "lead notice failed; will retry");
        }
    }
}

/// Without personal data, because the receiver may not be trusted with contacts.
fn notice_json(id: LeadId, notice: &NoticeRecord, lead: &Lead) -> Value {
    let product = lead.product.name();
    let mut data = json!({
        "lead_id": id.to_string(),
        "product": product,
        "source": lead.source,
        "budget_usdc": lead.budget_usdc,
        "target_count": lead.target_urls.len(),
    });
    if let Some(word) = lead.product.level_word() {
        data[word] = lead.level.clone().into();
    }
    let text = match lead.product.level_word() {
        Some(word) => format!("New {word} lead {id}: {}", lead.level),
        None => format!("New message {id}"),
    };
    json!({
        "type": EVENT,
        "id": EventId(notice.event).to_string(),
        "created_at": notice.created_at,
        "data": data,
        // Chat services display one of these.
        "text": text,
        "content": text,
    })
}
