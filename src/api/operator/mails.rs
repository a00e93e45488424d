//! The outbox for the operator: waiting and failed e-mails, with retry and delete.

use serde_json::{Value, json};

use crate::api::operator::{Newest, Search, answered, is_named, state_asked};
use crate::app::Shared;
use crate::domain::code::Code;
use crate::domain::keys::MailKey;
use crate::domain::mail::MailState;
use crate::domain::refusal::Refusal;
use crate::domain::time::UnixSeconds;
use crate::http::{Call, Reply};
use crate::store::{MailRecord, Store};

const NO_MAIL: &str = "No such e-mail: `context402 mail list` shows the keys.";
const NOTHING_TO_RETRY: &str = "No such e-mail, or it has been sent already.";

/// GET /operator/mails: the newest, optionally by state.
pub async fn mails(app: Shared, call: Call) -> Reply {
    let listed = async {
        let state = state_asked(&call, &MailState::NAMES)?;
        list(&app.store, Search::of_state(state)).await
    };
    answered(&app, &call, listed.await)
}

/// GET /operator/mails/{key}: one, with its text.
pub async fn mail(app: Shared, call: Call) -> Reply {
    let shown = show(&app.store, call.param("key").unwrap_or_default()).await;
    answered(&app, &call, shown)
}

/// POST /operator/mails/{key}/retry.
pub async fn retry_mail(app: Shared, call: Call) -> Reply {
    let retried = retry(&app.store, call.param("key").unwrap_or_default(), app.now()).await;
    answered(&app, &call, retried)
}

/// POST /operator/mails/{key}/delete.
pub async fn delete_mail(app: Shared, call: Call) -> Reply {
    let deleted = delete(&app.store, call.param("key").unwrap_or_default()).await;
    answered(&app, &call, deleted)
}

/// Retries an unsent e-mail.
///
/// # Errors
/// There is none of this key, or it was sent.
pub async fn retry(store: &Store, key: &str, now: UnixSeconds) -> Result<Value, Refusal> {
    let missing = || Refusal::new(Code::NotFound, NOTHING_TO_RETRY);
    let key = MailKey::parse(key).ok_or_else(missing)?;
    let retried = store.write(move |tables| tables.retry_mail(key, now));
    retried.await?.ok_or_else(missing)?;
    Ok(json!({"status": "success"}))
}

/// Deletes an e-mail.
///
/// # Errors
/// There is none of this key.
pub async fn delete(store: &Store, key: &str) -> Result<Value, Refusal> {
    let key = MailKey::parse(key).ok_or_else(no_mail)?;
    let was_there = store.write(move |tables| tables.delete_mail(key)).await?;
    was_there
        .then(|| json!({"status": "success"}))
        .ok_or_else(no_mail)
}

fn no_mail() -> Refusal {
    Refusal::new(Code::NotFound, NO_MAIL)
}

/// What an e-mail is found by.
const NAMES: [&str; 5] = ["key", "about", "to", "subject", "problem"];

/// The newest e-mails, from a running service or from the file of a stopped one.
///
/// # Errors
/// The store does not answer.
pub async fn list(store: &Store, search: Search) -> Result<Value, Refusal> {
    let (state, words) = (search.state, search.words.to_lowercase());
    let listed = store.read(move |snapshot| {
        let mut newest = Newest::default();
        snapshot.mails(|key, record| {
            let fits = |state: &String| state == record.state.name();
            if !state.as_ref().is_none_or(fits) {
                return Ok(());
            }
            let answer = mail_json(key, &record);
            if is_named(&answer, &NAMES, &words) {
                newest.add(record.created_at, answer);
            }
            Ok(())
        })?;
        Ok(newest.values())
    });
    Ok(json!({"status": "success", "mails": listed.await?}))
}

/// One mail with its text.
///
/// # Errors
/// There is none of this key.
pub async fn show(store: &Store, key: &str) -> Result<Value, Refusal> {
    let key = MailKey::parse(key).ok_or_else(no_mail)?;
    let record = store.read(move |snapshot| snapshot.mail(key)).await?;
    let record = record.ok_or_else(no_mail)?;
    let mut answer = mail_json(key, &record);
    answer["text"] = record.mail.text.into();
    Ok(answer)
}

pub fn mail_json(key: MailKey, record: &MailRecord) -> Value {
    let next_try = match record.state {
        MailState::Waiting { at } => Some(at),
        MailState::Sent | MailState::Failed => None,
    };
    json!({
        "key": key.to_string(),
        "state": record.state.name(),
        "kind": record.mail.kind.name(),
        "about": record.mail.about,
        "to": record.mail.to,
        "subject": record.mail.subject,
        "attachment": record.mail.attachment.as_ref().map(|file| &file.name),
        "tries": record.tries,
        "next_try": next_try,
        "problem": record.problem,
        "created_at": record.created_at,
        "changed_at": record.changed_at,
    })
}
