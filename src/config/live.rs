//! The settings that change while the service runs: when the configuration is reloaded, and from the console.

use url::Url;

use crate::config::bundles::{LINK_EXPECTED, usable};
use crate::config::values::{LINES_EXPECTED, QUOTA_EXPECTED, lines, quota};
use crate::config::{Config, ConfigError, web};

/// A setting that changes without a restart.
#[derive(Clone, Copy, Debug)]
pub struct Live {
    pub key: &'static str,
    pub kind: LiveKind,
}

/// What a live setting holds, and where.
#[derive(Clone, Copy, Debug)]
pub enum LiveKind {
    /// Hosts with white space or commas between them.
    Hosts,
    /// The payment link of a bundle, or nothing.
    Link,
    /// A limit on what is free for clients. A wrong value refuses or spends requests, never money.
    Quota(fn(&mut Config) -> &mut u64),
    /// What pages and e-mails say, or nothing.
    Text(fn(&mut Config) -> &mut Option<String>),
    /// An address that pages lead to, or nothing.
    Page(fn(&mut Config) -> &mut Option<Url>),
}

use LiveKind::{Hosts, Link, Page, Quota, Text};

const fn live(key: &'static str, kind: LiveKind) -> Live {
    Live { key, kind }
}

/// The settings that change without a restart.
#[rustfmt::skip]
pub static LIVE: [Live; 15] = [
    live("fetch.blocklist", Hosts),
    live("bundles.scout_link", Link),
    live("bundles.builder_link", Link),
    live("bundles.audit_link", Link),
    live("limits.quotes_per_minute", Quota(|config| &mut config.limits.quotas.quote)),
    live("limits.quotes_of_domain_per_minute", Quota(|config| &mut config.limits.quotas.domain)),
    live("limits.leads_per_minute", Quota(|config| &mut config.limits.quotas.lead)),
    live("limits.free_fetches_per_day", Quota(|config| &mut config.limits.free_fetches.all)),
    live("limits.free_fetches_of_client_per_day", Quota(|config| &mut config.limits.free_fetches.client)),
    live("contact", Text(|config| &mut config.contact)),
    live("download_url", Page(|config| &mut config.download_url)),
    live("legal.name", Text(|config| &mut config.legal.name)),
    live("legal.address", Text(|config| &mut config.legal.address)),
    live("legal.email", Text(|config| &mut config.legal.email)),
    live("legal.law", Text(|config| &mut config.legal.law)),
];

/// Where a value of the console comes from, as the list of settings says it.
pub const CONSOLE: &str = "the console";

/// How a setting without a value is shown.
pub const NOT_SET: &str = "(not set)";

impl Live {
    /// The setting with this key, if it changes without a restart.
    pub fn find(key: &str) -> Option<&'static Live> {
        LIVE.iter().find(|live| live.key == key)
    }
}

impl Config {
    /// The same configuration with another value of a live setting.
    ///
    /// # Errors
    /// What is wrong with the value, or that the setting needs a restart.
    pub fn with_live(mut self, key: &str, text: &str) -> Result<Config, ConfigError> {
        let live = Live::find(key);
        let live = live.ok_or_else(|| ConfigError::new(format!("{key} needs a restart")))?;
        let text = text.trim();
        let invalid = |expected: &str| {
            let message = format!("{key} = \"{text}\" is invalid: it must be {expected}");
            ConfigError::of(key, message)
        };
        let shown = match live.kind {
            Hosts => {
                let hosts = text.split(|c: char| c.is_whitespace() || c == ',');
                let hosts: Vec<_> = hosts.filter(|host| !host.is_empty()).collect();
                self.fetch.blocklist = web::blocklist(hosts)?;
                self.fetch.blocklist.join(", ")
            }
            Link => self.bundles.links.set(key, text)?,
            Quota(of) => {
                let value = quota(text).ok_or_else(|| invalid(QUOTA_EXPECTED))?;
                *of(&mut self) = value;
                value.to_string()
            }
            Text(of) => {
                let value = match text {
                    "" => None,
                    text => Some(lines(text).ok_or_else(|| invalid(LINES_EXPECTED))?),
                };
                of(&mut self).clone_from(&value);
                value.unwrap_or_default()
            }
            Page(of) => {
                let value = match text {
                    "" => None,
                    text => Some(usable(text).ok_or_else(|| invalid(LINK_EXPECTED))?),
                };
                let shown = value.as_ref().map(Url::to_string);
                *of(&mut self) = value;
                shown.unwrap_or_default()
            }
        };
        let shown = match shown.is_empty() {
            true => NOT_SET.to_owned(),
            false => shown,
        };
        self.show(key, shown, CONSOLE.to_owned());
        Ok(self)
    }

    /// The same configuration with every live setting of another.
    #[must_use]
    pub fn with_live_of(mut self, mut other: Config) -> Config {
        for Live { key, kind } in &LIVE {
            match kind {
                Hosts => self.fetch.blocklist.clone_from(&other.fetch.blocklist),
                Link => self.bundles.links.clone_from(&other.bundles.links),
                Quota(of) => *of(&mut self) = *of(&mut other),
                Text(of) => of(&mut self).clone_from(of(&mut other)),
                Page(of) => of(&mut self).clone_from(of(&mut other)),
            }
            if let Some((value, origin)) = other.line(key) {
                self.show(key, value.to_owned(), origin.to_owned());
            }
        }
        self
    }

    fn show(&mut self, key: &str, value: String, origin: String) {
        if let Some(line) = self.lines.iter_mut().find(|(known, ..)| *known == key) {
            (line.1, line.2) = (value, origin);
        }
    }

    /// How a setting is shown: value and origin.
    pub fn line(&self, key: &str) -> Option<(&str, &str)> {
        let mut lines = self.lines.iter();
        let line = lines.find(|(known, ..)| *known == key);
        line.map(|(_, value, origin)| (value.as_str(), origin.as_str()))
    }
}
