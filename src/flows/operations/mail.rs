//! Works off the outbox: each mail that is due is sent once at a time, and what became of it is noted. A mail stays due
//! until that is noted, so that none is lost with the process; one that was taken just then goes again, under the same
//! Message-ID. Knows no order: those put their mails into the outbox with the facts that they tell of.

use crate::app::Shared;
use crate::domain::keys::MailKey;
use crate::domain::mail::MailState;
use crate::domain::time::UnixSeconds;
use crate::outside::mailer::{Attachment, MAILS_MAX, MailError, Message};
use crate::store::{Due, Mail, MailOutcome, StoreError};

/// One mail that nobody else sends as long as this lives.
struct Sending {
    app: Shared,
    key: MailKey,
}

impl Sending {
    /// `None` when it is being sent, or as many others are as can be.
    fn take(app: &Shared, key: MailKey) -> Option<Sending> {
        let mut under_way = app.outbox.lock();
        let is_free = under_way.len() < MAILS_MAX && under_way.insert(key);
        is_free.then(|| Sending {
            app: app.clone(),
            key,
        })
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        self.app.outbox.lock().remove(&self.key);
    }
}

/// What one look at a due row calls for.
enum Call {
    Nothing,
    Send(Box<Mail>),
}

/// Sends what is due, as far as there are places; the rest stays due.
pub async fn work_off(app: &Shared, rows: Vec<Due>) -> Result<(), StoreError> {
    for due in rows {
        // Taken before it is looked at: what another task has sent in between is seen as sent.
        let Some(sending) = Sending::take(app, MailKey(due.key)) else {
            continue;
        };
        match look_at(app, due).await? {
            Call::Send(mail) if app.outside.mailer.is_on() => {
                app.tasks.spawn(run(sending, *mail));
            }
            Call::Nothing | Call::Send(_) => {}
        }
    }
    Ok(())
}

async fn look_at(app: &Shared, due: Due) -> Result<Call, StoreError> {
    let record = app
        .store
        .read(move |snapshot| snapshot.mail(MailKey(due.key)));
    match record.await? {
        Some(record) if matches!(record.state, MailState::Waiting { .. }) => {
            Ok(Call::Send(Box::new(record.mail)))
        }
        _ => {
            let swept = app.store.write(move |tables| tables.sweep_mail(due));
            swept.await.map(|()| Call::Nothing)
        }
    }
}

async fn run(sending: Sending, mail: Mail) {
    let (app, key) = (&sending.app, sending.key);
    let (kind, about) = (mail.kind.name(), mail.about.clone());
    let outcome = match send(app, mail, app.now()).await {
        Ok(()) => MailOutcome::Sent,
        Err(error) => MailOutcome::Failed {
            why: error.to_string(),
            is_permanent: matches!(error, MailError::Permanent(_)),
        },
    };
    if outcome == MailOutcome::Sent {
        app.crash_point("mailed");
    }
    let (now, note) = (app.now(), outcome.clone());
    match &outcome {
        MailOutcome::Sent => app.health.note_mail(true, now),
        // One mail is at fault, not the way of all.
        MailOutcome::Failed {
            is_permanent: true, ..
        } => {}
        MailOutcome::Failed { .. } => app.health.note_mail(false, now),
    }
    let noted = app
        .store
        .write(move |tables| tables.note_mail(key, note, now))
        .await;
    app.metrics.mail(match (&outcome, &noted) {
        (MailOutcome::Sent, _) => "sent",
        (_, Ok(Some(MailState::Failed))) => "failed",
        _ => "put_off",
    });
    match (outcome, noted) {
        (_, Err(error)) => {
            tracing::error!(error = %error, kind, about, "what became of a mail could not be noted")
        }
        (MailOutcome::Sent, _) => tracing::info!(kind, about, "a mail was sent"),
        (MailOutcome::Failed { why, .. }, Ok(Some(MailState::Failed))) => {
            tracing::error!(
                kind,
                about,
                why,
                "a mail was not sent and is not tried again"
            );
        }
        (MailOutcome::Failed { why, .. }, _) => {
            tracing::warn!(kind, about, why, "a mail was not sent yet");
        }
    }
}

/// Sends one mail, with its attachment from the store.
async fn send(app: &Shared, mail: Mail, now: UnixSeconds) -> Result<(), MailError> {
    let attachment = match mail.attachment {
        None => None,
        Some(attachment) => {
            let bytes = app
                .store
                .read(move |snapshot| snapshot.blob(attachment.blob));
            let bytes = bytes
                .await
                .map_err(|error| MailError::Temporary(error.to_string()))?;
            let gone = || MailError::Permanent("its attachment is no longer kept".to_owned());
            Some(Attachment {
                name: attachment.name,
                media_type: attachment.media_type,
                bytes: bytes.ok_or_else(gone)?,
            })
        }
    };
    let message = Message {
        to: mail.to,
        subject: mail.subject,
        text: mail.text,
        html: mail.html,
        message_id: mail.message_id,
        attachment,
    };
    app.outside.mailer.send(message, now).await
}
