//! `[bundles]`: payment links, and the webhook for new leads.

use std::path::PathBuf;

use url::Url;

use crate::config::{ConfigError, Resolved, Secret, is_loopback_url};
use crate::domain::bundle::Bundle;

#[derive(Clone, Debug)]
pub struct Bundles {
    pub links: Links,
    pub notify: Option<Notify>,
    pub leads_max: usize,
    /// Additional fonts for PDFs.
    pub font_dir: Option<PathBuf>,
}

/// The webhook for new leads.
#[derive(Clone, Debug)]
pub struct Notify {
    /// Secret, because receivers put keys into the URL.
    pub url: Secret,
    pub secret: Option<Secret>,
}

/// Payment links, in the order of the bundles' table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Links([Option<Url>; Bundle::ALL.len()]);

impl Links {
    /// The payment link of a bundle.
    pub fn of(&self, bundle: Bundle) -> Option<&Url> {
        self.0[bundle as usize].as_ref()
    }

    /// Gives a bundle another payment link, or none; returns the link as it is shown.
    pub(in crate::config) fn set(&mut self, key: &str, text: &str) -> Result<String, ConfigError> {
        let bundle = Bundle::ALL
            .into_iter()
            .find(|bundle| self::key(*bundle) == key);
        let bundle =
            bundle.ok_or_else(|| ConfigError::new(format!("{key} is not a payment link")))?;
        let link = match text {
            "" => None,
            text => Some(usable(text).ok_or_else(|| {
                ConfigError::of(
                    key,
                    format!("{key} = \"{text}\" is invalid: it must be {LINK_EXPECTED}"),
                )
            })?),
        };
        let shown = link.as_ref().map(Url::to_string);
        self.0[bundle as usize] = link;
        Ok(shown.unwrap_or_default())
    }
}

pub(in crate::config) fn bundles(resolved: &Resolved) -> Result<Bundles, ConfigError> {
    let mut links = [const { None }; Bundle::ALL.len()];
    for bundle in Bundle::ALL {
        links[bundle as usize] = link(resolved, &key(bundle))?;
    }
    Ok(Bundles {
        links: Links(links),
        notify: notify(resolved)?,
        leads_max: resolved.count("bundles.leads_max")?,
        font_dir: resolved.optional("bundles.font_dir").map(PathBuf::from),
    })
}

/// An optional address that pages lead to.
pub(in crate::config) fn link(resolved: &Resolved, key: &str) -> Result<Option<Url>, ConfigError> {
    match resolved.optional(key) {
        None => Ok(None),
        Some(_) => resolved.checked(key, LINK_EXPECTED, usable).map(Some),
    }
}

pub(in crate::config) const LINK_EXPECTED: &str =
    "an https address, without fragment and credentials";

/// The setting with the payment link of a bundle.
fn key(bundle: Bundle) -> String {
    format!("bundles.{}_link", bundle.name())
}

/// https, or http on loopback.
pub(in crate::config) fn usable(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    let safe = url.scheme() == "https" || (url.scheme() == "http" && is_loopback_url(text));
    let plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    (safe && plain && url.has_host()).then_some(url)
}

fn notify(resolved: &Resolved) -> Result<Option<Notify>, ConfigError> {
    if resolved.optional("bundles.notify_url").is_none() {
        return Ok(None);
    }
    let expected = "an https address, or http on loopback, without fragment and credentials";
    let url = resolved.checked("bundles.notify_url", expected, |text| {
        usable(text).map(|url| Secret::new(url.as_str()))
    })?;
    let secret = resolved.optional("bundles.notify_secret");
    Ok(Some(Notify {
        url,
        secret: secret.filter(|text| !text.is_empty()).map(Secret::new),
    }))
}
