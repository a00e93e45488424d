//! Sends e-mail over the operator's SMTP server or writes it to a folder. Messages with possible header injection are
//! refused.

mod smtp;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Attachment as AttachedPart, Mailbox, MultiPart, SinglePart};
use lettre::{Address, Message as Composed};

use crate::domain::mail::{ADDRESS_CHARACTERS_MAX, ATTACHMENT_BYTES_MAX};
use crate::domain::time::UnixSeconds;
use crate::outside::call::ConcurrencyLimit;

pub use smtp::{SmtpSettings, Tls};

/// Mails that are sent at the same time.
pub const MAILS_MAX: usize = 2;
/// How long a mail waits for its place before it is tried later.
const PLACE_WAIT_MAX: Duration = Duration::from_secs(60);
const SUBJECT_CHARACTERS_MAX: usize = 200;
const NAME_CHARACTERS_MAX: usize = 120;
const MESSAGE_ID_CHARACTERS_MAX: usize = 128;

/// How mail leaves, and in whose name.
#[derive(Clone, Debug)]
pub struct MailerSettings {
    pub transport: Transport,
    pub from: Sender,
    /// The right half of Message-IDs, and how we introduce ourselves to the server.
    pub domain: String,
}

#[derive(Clone, Debug)]
pub enum Transport {
    Smtp(SmtpSettings),
    /// Writes each mail into a file, for trying out.
    Folder(PathBuf),
}

/// Somebody with an address, and perhaps a name.
#[derive(Clone, PartialEq, Eq)]
pub struct Sender(Mailbox);

/// The client. Cheap to clone; clones share their places.
#[derive(Clone, Debug)]
pub enum Mailer {
    /// Nothing is configured: mails wait.
    Off,
    On {
        outlet: Arc<Outlet>,
        mails: ConcurrencyLimit,
    },
}

/// What sends.
#[derive(Debug)]
pub struct Outlet {
    settings: MailerSettings,
    smtp: Option<smtp::Smtp>,
}

/// One mail to one reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub to: String,
    /// Without it, answers go to the sender.
    pub reply_to: Option<Sender>,
    pub subject: String,
    pub text: String,
    pub html: String,
    /// The left half of the Message-ID.
    pub message_id: String,
    pub attachment: Option<Attachment>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    pub name: String,
    pub media_type: String,
    pub bytes: Vec<u8>,
}

/// Why a mail was not sent. Shows neither password nor body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MailError {
    /// It may go later: the server was busy or away, or did not take our credentials.
    Temporary(String),
    /// This mail never will.
    Permanent(String),
}

/// Why the settings cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError(pub String);

impl Mailer {
    pub fn new(settings: MailerSettings) -> Result<Mailer, SettingsError> {
        let smtp = match &settings.transport {
            Transport::Smtp(smtp) => Some(smtp::Smtp::new(smtp, &settings.domain)?),
            Transport::Folder(_) => None,
        };
        Ok(Mailer::On {
            outlet: Arc::new(Outlet { settings, smtp }),
            mails: ConcurrencyLimit::new(MAILS_MAX, PLACE_WAIT_MAX),
        })
    }

    pub fn is_on(&self) -> bool {
        !matches!(self, Mailer::Off)
    }

    /// Whether mail would leave now, as far as can be told without sending any. Nothing to check where it is off.
    pub async fn check(&self) -> Result<(), MailError> {
        let Mailer::On { outlet, mails } = self else {
            return Ok(());
        };
        let outlet = outlet.clone();
        let checked = mails.run(move || outlet.check()).await;
        checked.unwrap_or_else(|_| Err(no_place()))
    }

    /// Sends one mail. After an `Ok` the next server is answerable for it.
    pub async fn send(&self, message: Message, now: UnixSeconds) -> Result<(), MailError> {
        let Mailer::On { outlet, mails } = self else {
            return Err(MailError::Temporary(
                "no mail server is configured: set mail.smtp_host".to_owned(),
            ));
        };
        let outlet = outlet.clone();
        let sent = mails.run(move || outlet.send(&message, now));
        sent.await.unwrap_or_else(|_| Err(no_place()))
    }
}

fn no_place() -> MailError {
    MailError::Temporary("earlier mails took all places for too long".to_owned())
}

impl Outlet {
    fn check(&self) -> Result<(), MailError> {
        match (&self.smtp, &self.settings.transport) {
            (Some(smtp), _) => smtp.greet(),
            (None, Transport::Folder(folder)) if folder.is_dir() => Ok(()),
            (None, _) => Err(MailError::Temporary("the folder is not there".to_owned())),
        }
    }

    fn send(&self, message: &Message, now: UnixSeconds) -> Result<(), MailError> {
        let composed = self.settings.compose(message, now)?;
        match (&self.smtp, &self.settings.transport) {
            (Some(smtp), _) => smtp.send(&composed),
            (None, Transport::Folder(folder)) => {
                let path = folder.join(format!("{}.eml", message.message_id));
                std::fs::write(&path, composed.formatted()).map_err(|error| {
                    MailError::Temporary(format!("{} cannot be written: {error}", path.display()))
                })
            }
            (None, Transport::Smtp(_)) => Err(MailError::Temporary("no mail server".to_owned())),
        }
    }
}

impl MailerSettings {
    fn compose(&self, message: &Message, now: UnixSeconds) -> Result<Composed, MailError> {
        check(message)?;
        let to = recipient(&message.to)
            .ok_or_else(|| refused("the address is not one that mail can be sent to"))?;
        let mut builder = Composed::builder()
            .from(self.from.0.clone())
            .to(Mailbox::new(None, to))
            .subject(message.subject.clone())
            .date(UNIX_EPOCH + Duration::from_secs(now.0))
            .message_id(Some(format!("<{}@{}>", message.message_id, self.domain)))
            .raw_header(HeaderValue::new(
                HeaderName::new_from_ascii_str("Auto-Submitted"),
                "auto-generated".to_owned(),
            ));
        if let Some(reply_to) = &message.reply_to {
            builder = builder.reply_to(reply_to.0.clone());
        }
        let body = MultiPart::alternative_plain_html(message.text.clone(), message.html.clone());
        let composed = match &message.attachment {
            None => builder.multipart(body),
            Some(attachment) => {
                let attached = attached(attachment)?;
                builder.multipart(MultiPart::mixed().multipart(body).singlepart(attached))
            }
        };
        composed.map_err(|error| refused(&error.to_string()))
    }
}

fn attached(attachment: &Attachment) -> Result<SinglePart, MailError> {
    let media_type = ContentType::parse(&attachment.media_type)
        .map_err(|_| refused("its attachment has an unknown media type"))?;
    let part = AttachedPart::new(attachment.name.clone());
    Ok(part.body(attachment.bytes.clone(), media_type))
}

fn refused(why: &str) -> MailError {
    MailError::Permanent(why.to_owned())
}

/// Whatever ends up in a header is one line of bounded length.
fn check(message: &Message) -> Result<(), MailError> {
    let name = message.attachment.as_ref().map(|file| file.name.as_str());
    let lines = [
        (
            "subject",
            Some(message.subject.as_str()),
            SUBJECT_CHARACTERS_MAX,
        ),
        ("attachment's name", name, NAME_CHARACTERS_MAX),
    ];
    for (what, text, characters_max) in lines {
        let text = text.unwrap_or("-");
        if text.is_empty()
            || text.chars().count() > characters_max
            || text.chars().any(char::is_control)
        {
            return Err(refused(&format!(
                "its {what} is not one line of at most {characters_max} characters"
            )));
        }
    }
    let is_id = |text: &str| {
        (1..=MESSAGE_ID_CHARACTERS_MAX).contains(&text.len())
            && !text.starts_with('.')
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
    };
    if !is_id(&message.message_id) {
        return Err(refused("its Message-ID is not letters, digits, . _ and -"));
    }
    let bytes = message
        .attachment
        .as_ref()
        .map_or(0, |file| file.bytes.len());
    if bytes > ATTACHMENT_BYTES_MAX {
        return Err(refused("its attachment is too large; it should be linked"));
    }
    Ok(())
}

/// An address and nothing else: no name, no brackets, no second address.
fn recipient(text: &str) -> Option<Address> {
    let is_plain = text.chars().count() <= ADDRESS_CHARACTERS_MAX
        && !text.chars().any(|c| c.is_control() || c.is_whitespace());
    is_plain.then(|| text.parse().ok()).flatten()
}

/// Whether mail can be sent to this address, as far as its form tells.
pub fn is_address(text: &str) -> bool {
    recipient(text).is_some()
}

impl Sender {
    /// `reports@example.com`, or `Example <reports@example.com>`.
    pub fn parse(text: &str) -> Option<Sender> {
        let is_plain =
            text.len() <= ADDRESS_CHARACTERS_MAX + 100 && !text.chars().any(char::is_control);
        is_plain.then(|| text.parse().ok().map(Sender)).flatten()
    }

    pub fn domain(&self) -> &str {
        self.0.email.domain()
    }

    pub fn address(&self) -> &str {
        self.0.email.as_ref()
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Display for MailError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MailError::Temporary(why) | MailError::Permanent(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for MailError {}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SettingsError {}
