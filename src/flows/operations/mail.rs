//! Sends due e-mails from the outbox and records the outcome. An e-mail stays due until its outcome is recorded, so a crash
//! loses none; at worst one is sent twice with the same Message-ID. Orders put their e-mails into the outbox themselves.

use crate::app::Shared;
use crate::domain::keys::MailKey;
use crate::domain::mail::MailState;
use crate::domain::time::UnixSeconds;
use crate::outside::mailer::{Attachment, MAILS_MAX, MailError, Message};
use crate::store::{Due, Mail, MailOutcome, StoreError};
use crate::sync::lock;

/// Exclusive right to send one e-mail.
struct SendPermit {
    app: Shared,
    key: MailKey,
}

impl SendPermit {
    /// `None` if it is being sent already, or the limit is reached.
    fn take(app: &Shared, key: MailKey) -> Option<SendPermit> {
        let mut under_way = lock(&app.mails_under_way);
        let is_free = under_way.len() < MAILS_MAX && under_way.insert(key);
        is_free.then(|| SendPermit {
            app: app.clone(),
            key,
        })
    }
}

impl Drop for SendPermit {
    fn drop(&mut self) {
        lock(&self.app.mails_under_way).remove(&self.key);
    }
}

/// Sends due e-mails up to the concurrency limit; the rest stays due.
pub async fn work_off(app: &Shared, rows: Vec<Due>) -> Result<(), StoreError> {
    for due in rows {
        // Reserved before it is read, so that e-mail sent by another task in between is seen as sent.
        let Some(permit) = SendPermit::take(app, MailKey(due.key)) else {
            continue;
        };
        if let Some(mail) = waiting(app, due).await?
            && app.outside.mailer.is_on()
        {
            app.tasks.spawn(run(permit, mail));
        }
    }
    Ok(())
}

/// The e-mail of a due row, if it still waits.
async fn waiting(app: &Shared, due: Due) -> Result<Option<Mail>, StoreError> {
    let record = app
        .store
        .read(move |snapshot| snapshot.mail(MailKey(due.key)));
    match record.await? {
        Some(record) if matches!(record.state, MailState::Waiting { .. }) => Ok(Some(record.mail)),
        _ => {
            let swept = app.store.write(move |tables| tables.sweep_mail(due));
            swept.await.map(|()| None)
        }
    }
}

async fn run(permit: SendPermit, mail: Mail) {
    let (app, key) = (&permit.app, permit.key);
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
        // A problem of this e-mail, not of the mail server.
        MailOutcome::Failed {
            is_permanent: true, ..
        } => {}
        MailOutcome::Failed { .. } => app.health.note_mail(false, now),
    }
    let noted = app
        .store
        .write(move |tables| tables.note_mail(key, note, now))
        .await;
    app.metrics.mails.count([match (&outcome, &noted) {
        (MailOutcome::Sent, _) => "sent",
        (_, Ok(Some(MailState::Failed))) => "failed",
        _ => "put_off",
    }]);
    match (outcome, noted) {
        (_, Err(error)) => {
            tracing::error!(error = %error, kind, about, "e-mail outcome could not be recorded")
        }
        (MailOutcome::Sent, _) => tracing::info!(kind, about, "e-mail sent"),
        (MailOutcome::Failed { why, .. }, Ok(Some(MailState::Failed))) => {
            tracing::error!(kind, about, why, "e-mail failed permanently");
        }
        (MailOutcome::Failed { why, .. }, _) => {
            tracing::warn!(kind, about, why, "e-mail not sent yet; will retry");
        }
    }
}

/// Sends one e-mail, with its attachment from the store.
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
            let gone = || MailError::Permanent("its attachment has expired".to_owned());
            Some(Attachment {
                name: attachment.name,
                media_type: attachment.media_type,
                bytes: bytes.ok_or_else(gone)?,
            })
        }
    };
    let message = Message {
        to: mail.to,
        reply_to: app.reloaded().reply_to(),
        subject: mail.subject,
        text: mail.text,
        html: mail.html,
        message_id: mail.message_id,
        attachment,
    };
    app.outside.mailer.send(message, now).await
}
