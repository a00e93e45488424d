//! Tests of upstreams for the operator: e-mail, webhook, facilitator. They do not touch outbox and leads.

use serde_json::{Value, json};

use crate::app::Shared;
use crate::config::Config;
use crate::domain::code::Code;
use crate::domain::figures::capitalized;
use crate::domain::ids::EventId;
use crate::domain::mail::MailKind;
use crate::domain::refusal::Refusal;
use crate::domain::time::UnixSeconds;
use crate::flows::operations::health;
use crate::outside::chance;
use crate::outside::mailer::Message;
use crate::pages::orders::email;

/// The event name of a test notice.
pub const NOTICE_EVENT: &str = "notice.test";

pub const NO_MAIL_SERVER: &str = "no mail server is configured: set mail.smtp_host and mail.from";
pub const NO_NOTICES: &str = "no webhook is configured: set bundles.notify_url";

/// Sends a test e-mail.
pub async fn mail(app: &Shared, to: String) -> Result<(), Refusal> {
    if !app.outside.mailer.is_on() {
        return Err(refused(NO_MAIL_SERVER));
    }
    let (message, now) = (message(&app.reloaded(), to), app.now());
    let sent = app.outside.mailer.send(message, now).await;
    sent.map_err(|error| refused(format_args!("the e-mail was not sent: {error}")))
}

/// Sends a test notice.
pub async fn notice(app: &Shared) -> Result<(), Refusal> {
    let hook = app.outside.hook.clone();
    let hook = hook.ok_or_else(|| refused(NO_NOTICES))?;
    let now = app.now();
    let body = notice_json(&app.config, now).to_string();
    let sent = hook.send(NOTICE_EVENT, body, now).await;
    sent.map_err(|error| {
        refused(format_args!(
            "the webhook did not accept the notice: {error}"
        ))
    })
}

/// Checks that the facilitator supports our payments.
pub async fn facilitator(app: &Shared) -> Result<(), Refusal> {
    match health::probe_facilitator(app).await {
        None => Ok(()),
        Some(trouble) => Err(refused(format_args!(
            "the facilitator cannot be used: {trouble}"
        ))),
    }
}

pub fn message(config: &Config, to: String) -> Message {
    let email = email::notice(&email::Notice {
        service: &config.service_name,
        is: "a test",
        subject: &format!("Test e-mail from {}", config.service_name),
        paragraphs: &[format!(
            "Deliveries from {} will reach buyers like this e-mail.",
            config.base_url
        )],
        links: &[],
        contact: config.contact.as_deref(),
    });
    let random: [u8; 16] = chance::bytes();
    Message {
        to,
        reply_to: config.reply_to(),
        subject: email.subject,
        text: email.text,
        html: email.html,
        message_id: format!("{}.{}", hex::encode(random), MailKind::Test.name()),
        attachment: None,
    }
}

/// In the format of lead notices.
pub fn notice_json(config: &Config, now: UnixSeconds) -> Value {
    let text = format!("Test notice from {}", config.service_name);
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
    let reason = capitalized(&why.to_string());
    Refusal::new(Code::UpstreamUnavailable, format!("{reason}."))
}
