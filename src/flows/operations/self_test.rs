//! Tries, because the operator asks, whether an upstream does its part: a mail, a notice, the facilitator. Outbox and
//! leads are left alone.

use serde_json::{Value, json};

use crate::app::Shared;
use crate::config::Config;
use crate::domain::ids::EventId;
use crate::domain::mail::MailKind;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::UnixSeconds;
use crate::flows::operations::health;
use crate::outside::chance;
use crate::outside::mailer::Message;
use crate::pages::orders::email;

/// What a notice that is none is of.
pub const NOTICE_EVENT: &str = "notice.test";

pub const NO_MAIL_SERVER: &str = "no mail server is configured: set mail.smtp_host and mail.from";
pub const NO_NOTICES: &str = "no address for notices is configured: set bundles.notify_url";

/// Sends a short mail.
pub async fn mail(app: &Shared, to: String) -> Result<(), Refusal> {
    if !app.outside.mailer.is_on() {
        return Err(refused(NO_MAIL_SERVER));
    }
    let (message, now) = (message(&app.config, to), app.now());
    let sent = app.outside.mailer.send(message, now).await;
    sent.map_err(|error| refused(format_args!("the mail was not sent: {error}")))
}

/// Sends a notice that tells of nothing.
pub async fn notice(app: &Shared) -> Result<(), Refusal> {
    let hook = app.outside.hook.clone();
    let hook = hook.ok_or_else(|| refused(NO_NOTICES))?;
    let now = app.now();
    let body = notice_json(&app.config, now).to_string();
    let sent = hook.send(NOTICE_EVENT, body, now).await;
    sent.map_err(|error| refused(format_args!("the notice was not taken: {error}")))
}

/// Asks the facilitator what it takes.
pub async fn facilitator(app: &Shared) -> Result<(), Refusal> {
    match health::probe_facilitator(app).await {
        None => Ok(()),
        Some(trouble) => Err(refused(format_args!(
            "the facilitator is of no use: {trouble}"
        ))),
    }
}

pub fn message(config: &Config, to: String) -> Message {
    let email = email::notice(&email::Notice {
        service: &config.service_name,
        subject: &format!("A test mail of {}", config.service_name),
        paragraphs: &[format!(
            "This is how the deliveries of {} will reach their buyers.",
            config.base_url
        )],
        links: &[],
        contact: config.contact.as_deref(),
    });
    let random: [u8; 16] = chance::bytes();
    Message {
        to,
        subject: email.subject,
        text: email.text,
        html: email.html,
        message_id: format!("{}.{}", hex::encode(random), MailKind::Test.name()),
        attachment: None,
    }
}

/// In the shape of the notices of leads.
pub fn notice_json(config: &Config, now: UnixSeconds) -> Value {
    let text = format!("A test notice of {}", config.service_name);
    json!({
        "type": NOTICE_EVENT,
        "id": EventId(chance::bytes()).to_string(),
        "created_at": now.0,
        "data": {},
        "text": text,
        "content": text,
    })
}

fn refused(why: impl ToString) -> Refusal {
    let why = why.to_string();
    let sentence = format!("{}{}.", why[..1].to_uppercase(), &why[1..]);
    Refusal::new(Code::UpstreamUnavailable, sentence)
}
