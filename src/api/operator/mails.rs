//! The outbox for the operator: waiting and failed e-mails, with retry and delete.

use serde_json::{Value, json};

use crate::api::failure;
use crate::api::operator::{Newest, answered, is_named, state_asked};
use crate::app::Shared;
use crate::domain::code::Code;
use crate::domain::keys::MailKey;
use crate::domain::mail::MailState;
use crate::domain::refusal::Refusal;
use crate::domain::time::UnixSeconds;
use crate::http::{Call, Reply};
use crate::store::{MailRecord, Store, StoreError};

pub const NO_MAIL: &str = "No such e-mail: `context402 mail list` shows the keys.";
const NOTHING_TO_RETRY: &str = "No such e-mail, or it has been sent already.";

/// GET /operator/mails: the newest, optionally by state.
pub async fn mails(app: Shared, call: Call) -> Reply {
    match state_asked(&call, &MailState::NAMES) {
        Ok(state) => answered(&app, &call, list(&app.store, state).await),
        Err(refusal) => failure::reply(&app, &refusal, &call),
    }
}

/// GET /operator/mails/{key}: one, with its text.
pub async fn mail(app: Shared, call: Call) -> Reply {
    let found = match key(call.param("key").unwrap_or_default()) {
        None => Ok(None),
        Some(key) => show(&app.store, key).await,
    };
    match found {
        Ok(Some(answer)) => Reply::json(200, answer.to_string()),
        Ok(None) => failure::reply(&app, &Refusal::new(Code::NotFound, NO_MAIL), &call),
        Err(error) => failure::reply(&app, &error.into(), &call),
    }
}

/// POST /operator/mails/{key}/retry.
pub async fn retry_mail(app: Shared, call: Call) -> Reply {
    let retried = retry(&app.store, call.param("key").unwrap_or_default(), app.now()).await;
    changed(&app, &call, retried)
}

/// POST /operator/mails/{key}/delete.
pub async fn delete_mail(app: Shared, call: Call) -> Reply {
    let deleted = delete(&app.store, call.param("key").unwrap_or_default()).await;
    changed(&app, &call, deleted)
}

fn changed(app: &Shared, call: &Call, outcome: Result<(), Refusal>) -> Reply {
    match outcome {
        Ok(()) => Reply::json(200, json!({"status": "success"}).to_string()),
        Err(refusal) => failure::reply(app, &refusal, call),
    }
}

/// Retries an unsent e-mail.
pub async fn retry(store: &Store, text: &str, now: UnixSeconds) -> Result<(), Refusal> {
    let missing = || Refusal::new(Code::NotFound, NOTHING_TO_RETRY);
    let key = key(text).ok_or_else(missing)?;
    let retried = store.write(move |tables| tables.retry_mail(key, now));
    retried.await?.map(drop).ok_or_else(missing)
}

/// Deletes an e-mail.
pub async fn delete(store: &Store, text: &str) -> Result<(), Refusal> {
    let missing = || Refusal::new(Code::NotFound, NO_MAIL);
    let key = key(text).ok_or_else(missing)?;
    let was_there = store.write(move |tables| tables.delete_mail(key)).await?;
    was_there.then_some(()).ok_or_else(missing)
}

pub async fn list(store: &Store, state: Option<String>) -> Result<Value, StoreError> {
    find(store, state, String::new()).await
}

/// What an e-mail is found by.
const NAMES: [&str; 5] = ["key", "about", "to", "subject", "problem"];

/// The same of e-mails that have these words in one of [`NAMES`].
pub async fn find(
    store: &Store,
    state: Option<String>,
    words: String,
) -> Result<Value, StoreError> {
    let words = words.to_lowercase();
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
pub async fn show(store: &Store, key: MailKey) -> Result<Option<Value>, StoreError> {
    let record = store.read(move |snapshot| snapshot.mail(key)).await?;
    Ok(record.map(|record| {
        let mut answer = mail_json(key, &record);
        answer["text"] = record.mail.text.into();
        answer
    }))
}

pub fn key(text: &str) -> Option<MailKey> {
    MailKey::parse(text)
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
