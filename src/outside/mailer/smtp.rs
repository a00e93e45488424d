//! SMTP: one connection per e-mail, encrypted unless the server is on this machine, and the meaning of the server's replies.

use std::fmt;
use std::time::Duration;

use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, Tls as Encryption, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use lettre::{Message, SmtpTransport, Transport as _};

use crate::outside::mailer::{MailError, SettingsError};

/// How to reach a mail server.
#[derive(Clone)]
pub struct SmtpSettings {
    pub host: String,
    pub port: u16,
    pub tls: Tls,
    /// Name and password.
    pub credentials: Option<(String, String)>,
    /// Further trust roots, for a server whose certificate no public authority has signed.
    pub ca_pem: Option<Vec<u8>>,
    /// For each step of the conversation.
    pub time_max: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tls {
    /// In clear until STARTTLS, which is insisted on.
    StartTls,
    /// From the first byte.
    Implicit,
    /// Not at all: for a server on this machine.
    None,
}

impl Tls {
    pub const NAMES: [&'static str; 3] = ["starttls", "implicit", "none"];

    pub fn parse(text: &str) -> Option<Tls> {
        Some(match text {
            "starttls" => Tls::StartTls,
            "implicit" => Tls::Implicit,
            "none" => Tls::None,
            _ => return None,
        })
    }

    pub fn port(self) -> u16 {
        match self {
            Tls::StartTls => 587,
            Tls::Implicit => 465,
            Tls::None => 25,
        }
    }
}

/// Replies about who we are, not about the mail (RFC 4954, 6): the operator mends them and the mail goes.
const ABOUT_CREDENTIALS: [&str; 4] = ["530", "534", "535", "538"];

pub(super) struct Smtp(SmtpTransport);

impl Smtp {
    pub(super) fn new(settings: &SmtpSettings, domain: &str) -> Result<Smtp, SettingsError> {
        let encryption = match settings.tls {
            Tls::StartTls => Encryption::Required(settings.tls_parameters()?),
            Tls::Implicit => Encryption::Wrapper(settings.tls_parameters()?),
            Tls::None => Encryption::None,
        };
        let mut builder = SmtpTransport::builder_dangerous(&settings.host)
            .port(settings.port)
            .tls(encryption)
            .timeout(Some(settings.time_max))
            .hello_name(ClientId::Domain(domain.to_owned()));
        if let Some((name, password)) = &settings.credentials {
            builder = builder.credentials(Credentials::new(name.clone(), password.clone()));
        }
        Ok(Smtp(builder.build()))
    }

    pub(super) fn send(&self, message: &Message) -> Result<(), MailError> {
        self.0
            .send(message)
            .map(drop)
            .map_err(|error| outcome(&error))
    }
}

impl Smtp {
    /// Connects, encrypts and says who we are, and sends nothing.
    pub(super) fn greet(&self) -> Result<(), MailError> {
        match self.0.test_connection() {
            Ok(true) => Ok(()),
            Ok(false) => Err(MailError::Temporary(
                "the mail server hangs up at once".to_owned(),
            )),
            Err(error) => Err(outcome(&error)),
        }
    }
}

impl SmtpSettings {
    fn tls_parameters(&self) -> Result<TlsParameters, SettingsError> {
        let unusable = |what: &str, error: &Error| SettingsError(format!("{what}: {error}"));
        let mut builder = TlsParameters::builder(self.host.clone());
        if let Some(pem) = &self.ca_pem {
            let root = Certificate::from_pem(pem)
                .map_err(|error| unusable("mail.ca_file holds no certificate in PEM", &error))?;
            builder = builder.add_root_certificate(root);
        }
        builder
            .build()
            .map_err(|error| unusable("mail.smtp_host cannot be spoken to in TLS", &error))
    }
}

fn outcome(error: &Error) -> MailError {
    let text = one_line(error);
    let is_about_credentials = error.status().is_some_and(|code| {
        let code = code.to_string();
        ABOUT_CREDENTIALS.iter().any(|known| known == &code)
    });
    if error.is_permanent() && !is_about_credentials {
        MailError::Permanent(text)
    } else {
        MailError::Temporary(text)
    }
}

/// One line of bounded length, with what the server has said.
fn one_line(error: &Error) -> String {
    const CHARACTERS_MAX: usize = 300;
    let mut text = error.to_string();
    if error.is_timeout() {
        text = format!("the mail server did not answer in time ({text})");
    }
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(CHARACTERS_MAX)
        .collect()
}

/// Without the password.
impl fmt::Debug for SmtpSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SmtpSettings")
            .field("host", &self.host)
            .field("port", &self.port)
            .field("tls", &self.tls)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Smtp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Smtp")
    }
}
