//! `[mail]`: the mail server or folder, and the sender.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::config::{ConfigError, Resolved, Secret};
use crate::outside::mailer::{Sender, Tls};

#[derive(Clone, Debug)]
pub struct Mail {
    pub transport: Transport,
    pub from: Sender,
    /// As it is configured; [`crate::config::Config::reply_to`] has the default.
    pub reply_to: Option<Sender>,
}

#[derive(Clone, Debug)]
pub enum Transport {
    Smtp(Smtp),
    /// For tests: a file per e-mail.
    Folder(PathBuf),
}

#[derive(Clone, Debug)]
pub struct Smtp {
    pub host: String,
    pub port: u16,
    pub tls: Tls,
    pub credentials: Option<(String, Secret)>,
    pub ca_file: Option<PathBuf>,
    pub time_max: Duration,
}

impl Mail {
    /// Where e-mails are written instead of being sent.
    pub fn folder(&self) -> Option<&Path> {
        match &self.transport {
            Transport::Folder(folder) => Some(folder),
            Transport::Smtp(_) => None,
        }
    }
}

pub(in crate::config) fn mail(resolved: &Resolved) -> Result<Option<Mail>, ConfigError> {
    let host = resolved.optional("mail.smtp_host");
    let transport = match (host, resolved.optional("mail.folder")) {
        (None, None) => return Ok(None),
        (None, Some(folder)) => Transport::Folder(folder.into()),
        (Some(_), Some(_)) => {
            return Err(ConfigError::of(
                "mail.folder",
                "mail.folder and mail.smtp_host are both set: remove mail.folder to send e-mails, or mail.smtp_host \
                 to write them to that folder and send none",
            ));
        }
        (Some(host), None) => Transport::Smtp(smtp(resolved, host)?),
    };
    let expected = "an address such as reports@example.com, or Example <reports@example.com>";
    let reply_to = match resolved.optional("mail.reply_to") {
        Some(_) => Some(resolved.checked("mail.reply_to", expected, Sender::parse)?),
        None => None,
    };
    Ok(Some(Mail {
        transport,
        from: resolved.checked("mail.from", expected, Sender::parse)?,
        reply_to,
    }))
}

fn smtp(resolved: &Resolved, host: &str) -> Result<Smtp, ConfigError> {
    let tls = resolved.checked("mail.tls", "starttls, implicit or none", Tls::parse)?;
    if tls == Tls::None && !is_loopback(host) {
        return Err(ConfigError::of(
            "mail.tls",
            format!(
                "mail.tls = \"none\" is only allowed for a server on this machine, but mail.smtp_host is \"{host}\": use \
            starttls or implicit, or set 127.0.0.1"
            ),
        ));
    }
    let port = match resolved.optional("mail.smtp_port") {
        None => tls.port(),
        Some(_) => resolved.checked("mail.smtp_port", "a port from 1 to 65535", |text| {
            text.parse().ok().filter(|port| *port > 0)
        })?,
    };
    let credentials = match resolved.optional("mail.username") {
        None => None,
        Some(name) => Some((name.to_owned(), resolved.secret("mail.password")?)),
    };
    Ok(Smtp {
        host: host.to_owned(),
        port,
        tls,
        credentials,
        ca_file: resolved.optional("mail.ca_file").map(PathBuf::from),
        time_max: resolved.seconds("mail.seconds_max")?,
    })
}

fn is_loopback(host: &str) -> bool {
    let address = host.parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}
