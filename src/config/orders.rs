//! The settings `bundles.…` for paid orders: the provider's webhook, and retries of sources.

use crate::config::bundles::Bundles;
use crate::config::{ConfigError, Resolved, Secret};
use crate::domain::bundle::Bundle;

/// The settings for paid bundles.
#[derive(Clone, Debug)]
pub struct Orders {
    /// Events must be signed by one of them; without any, no event is accepted.
    pub webhook_secrets: Vec<Secret>,
    /// Whether live payments count; test payments count otherwise.
    pub is_live: bool,
    /// Pause before a source that is down is retried, in seconds.
    pub source_pause: u64,
}

impl Orders {
    /// What is wrong with payment links whose payments nobody records.
    pub(in crate::config) fn warning(&self, bundles: &Bundles) -> Option<String> {
        let mut all = Bundle::ALL.iter();
        let has_link = all.any(|bundle| bundles.links.of(*bundle).is_some());
        (has_link && self.webhook_secrets.is_empty()).then(|| {
            "payment links are set, but bundles.webhook_secrets is not: payments by link are not recorded, and nothing is \
             delivered for them"
                .to_owned()
        })
    }
}

/// Shorter than any provider's secret, to detect typing mistakes.
const SECRET_BYTES_MIN: usize = 16;

pub(in crate::config) fn orders(resolved: &Resolved) -> Result<Orders, ConfigError> {
    let key = "bundles.webhook_secrets";
    let text = resolved.optional(key).unwrap_or_default();
    let separate = |c: char| c == ',' || c.is_whitespace();
    let secrets: Vec<Secret> = text
        .split(separate)
        .filter(|secret| !secret.is_empty())
        .map(Secret::new)
        .collect();
    let is_good = |secret: &Secret| {
        secret.expose().len() >= SECRET_BYTES_MIN
            && secret.expose().bytes().all(|byte| byte.is_ascii_graphic())
    };
    if !secrets.iter().all(is_good) || (secrets.is_empty() && !text.is_empty()) {
        return Err(ConfigError::of(
            key,
            format!(
                "{key} is invalid: it must be a signing secret from the payment provider (whsec_…), or several separated by \
            commas or white space"
            ),
        ));
    }
    Ok(Orders {
        webhook_secrets: secrets,
        is_live: resolved.checked("bundles.livemode", "true or false", |text| {
            text.parse::<bool>().ok()
        })?,
        source_pause: resolved
            .seconds("bundles.source_pause_seconds")?
            .as_secs()
            .max(1),
    })
}
