//! The settings `chain.…`: the node for the network.

use std::time::Duration;

use url::Url;

use crate::config::{ConfigError, Resolved, Secret, is_loopback_url};

#[derive(Clone, Debug)]
pub struct Chain {
    /// Secret, because providers put keys into the URL.
    pub rpc_url: Secret,
    pub time_max: Duration,
    pub confirmations: u64,
    /// Maximum age of a transfer when its hash is first sent, in seconds.
    pub transfer_age_max: u64,
}

pub(in crate::config) fn chain(resolved: &Resolved) -> Result<Option<Chain>, ConfigError> {
    if resolved.optional("chain.rpc_url").is_none() {
        return Ok(None);
    }
    // SECURITY: anyone who can change its responses in transit decides which payments have settled.
    let expected = "an https address, or http on loopback, without credentials before the host";
    let rpc_url = resolved.checked("chain.rpc_url", expected, |text| {
        let url = Url::parse(text).ok()?;
        let safe = url.scheme() == "https" || (url.scheme() == "http" && is_loopback_url(text));
        let plain = url.username().is_empty() && url.password().is_none();
        (safe && plain && url.has_host()).then(|| Secret::new(url.as_str()))
    })?;
    let confirmations = resolved.count("chain.confirmations")?;
    Ok(Some(Chain {
        rpc_url,
        time_max: resolved.seconds("chain.seconds_max")?,
        confirmations: u64::try_from(confirmations).unwrap_or(u64::MAX),
        transfer_age_max: resolved.age("chain.transfer_age_seconds_max")?,
    }))
}
