//! The settings `legacy.…`: the endpoints from before x402 version 2.

use crate::config::{ConfigError, Resolved};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Legacy {
    /// Whether /v1/access and /v1/broker/compute are enabled, which requires the chain.
    pub access: bool,
    /// Whether only the sender can use a transfer, by signing for it.
    pub wants_proof: bool,
}

pub(in crate::config) fn legacy(resolved: &Resolved) -> Result<Legacy, ConfigError> {
    let flag = |key: &'static str| {
        resolved.checked(key, "true or false", |text| match text {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        })
    };
    let access = flag("legacy.access")?;
    if access && resolved.optional("chain.rpc_url").is_none() {
        return Err(ConfigError::of(
            "legacy.access",
            "legacy.access needs chain.rpc_url: transfers are looked up there".to_owned(),
        ));
    }
    Ok(Legacy {
        access,
        wants_proof: flag("legacy.payment_proof")?,
    })
}
