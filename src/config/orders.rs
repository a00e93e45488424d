//! The rows `bundles.…` that are about what has been paid: the provider's webhook, and how sources are asked.

use crate::config::{ConfigError, Resolved, Secret};

/// How paid bundles are taken and made.
#[derive(Clone, Debug)]
pub struct Orders {
    /// Any of them may have signed an event; none means that no event is taken.
    pub webhook_secrets: Vec<Secret>,
    /// Whether live payments count; test payments count otherwise.
    pub is_live: bool,
    /// How long a source that is down is left alone before it is asked again, in seconds.
    pub source_pause: u64,
}

/// Shorter than any provider's, and what a mistyped one may look like.
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
        return Err(ConfigError(format!(
            "{key} is not usable: it must be one signing secret as the payment provider shows it (whsec_…), or \
             several separated by commas or white space"
        )));
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
