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
use crate::store::{MailRecord, Store, StoreError};

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
fn is_mail_named(words: &str, key: MailKey, record: &MailRecord) -> bool {
    let (key, mail) = (key.to_string(), &record.mail);
    let texts = [&key, &mail.about, &mail.to, &mail.subject].map(|text| Some(text.as_str()));
    is_named(words, texts.into_iter().chain([record.problem.as_deref()]))
}

/// The newest e-mails, from a running service or from the file of a stopped one.
///
/// # Errors
/// The store does not answer.
pub async fn list(store: &Store, search: Search) -> Result<Value, Refusal> {
    let mails = newest(store, search).await?;
    let mails = mails.iter().map(|(key, record)| mail_json(*key, record));
    Ok(json!({"status": "success", "mails": mails.collect::<Vec<_>>()}))
}

/// The same as records, without their texts.
pub async fn newest(
    store: &Store,
    search: Search,
) -> Result<Vec<(MailKey, MailRecord)>, StoreError> {
    let (state, words) = (search.state, search.words.to_lowercase());
    let found = store.read(move |snapshot| {
        let mut newest = Newest::none();
        snapshot.mails(|key, mut record| {
            let fits = |state: &String| state == record.state.name();
            if state.as_ref().is_none_or(fits) && is_mail_named(&words, key, &record) {
                (record.mail.text, record.mail.html) = (String::new(), String::new());
                newest.add(record.created_at, (key, record));
            }
            Ok(())
        })?;
        Ok(newest.records())
    });
    found.await
}

/// One mail with its text.
///
/// # Errors
/// There is none of this key.
pub async fn show(store: &Store, key: &str) -> Result<Value, Refusal> {
    let (key, record) = one(store, key).await?;
    let mut answer = mail_json(key, &record);
    answer["text"] = record.mail.text.into();
    Ok(answer)
}

/// The same as a record.
pub async fn one(store: &Store, key: &str) -> Result<(MailKey, MailRecord), Refusal> {
    let key = MailKey::parse(key).ok_or_else(no_mail)?;
    let record = store.read(move |snapshot| snapshot.mail(key)).await?;
    Ok((key, record.ok_or_else(no_mail)?))
}

pub fn mail_json(key: MailKey, record: &MailRecord) -> Value {
    json!({
        "key": key.to_string(),
        "state": record.state.name(),
        "kind": record.mail.kind.name(),
        "about": record.mail.about,
        "to": record.mail.to,
        "subject": record.mail.subject,
        "attachment": record.mail.attachment.as_ref().map(|file| &file.name),
        "tries": record.tries,
        "next_try": record.state.next_try(),
        "problem": record.problem,
        "created_at": record.created_at,
        "changed_at": record.changed_at,
    })
}
