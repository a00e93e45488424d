//! Secrets that are never printed: the signing key and the operator's token.

use crate::config::{ConfigError, Resolved};
use crate::signing::session::{Sessions, TOKEN_CHARACTERS_MIN};
use crate::signing::{PublicKey, SigningKey};

#[derive(Clone, Debug)]
pub struct Signing {
    pub key: SigningKey,
    /// Former keys: still published, no longer used to sign.
    pub former: Vec<PublicKey>,
}

pub(in crate::config) fn signing(resolved: &Resolved) -> Result<Option<Signing>, ConfigError> {
    let Some(text) = resolved.optional("signing.key") else {
        return Ok(None);
    };
    // The value is not shown: it may be most of a key.
    let key = SigningKey::parse(text).ok_or_else(|| {
        ConfigError::of(
            "signing.key",
            "signing.key is invalid: it must be 64 random hex digits. Create one with `openssl rand -hex 32`",
        )
    })?;
    let former = resolved.list("signing.former_keys");
    let former = former.iter().map(|text| {
        PublicKey::parse(text).ok_or_else(|| {
            ConfigError::of(
"signing.former_keys", format!(
                "signing.former_keys: \"{text}\" is invalid: each must be the member x of a key in \
                 /.well-known/jwks.json, 43 characters of base64url"
            ))
        })
    });
    let former = former.collect::<Result<_, _>>()?;
    Ok(Some(Signing { key, former }))
}

pub(in crate::config) fn operator(resolved: &Resolved) -> Result<Option<Sessions>, ConfigError> {
    let Some(token) = resolved.optional("operator.token") else {
        return Ok(None);
    };
    // The value is not shown: it may be most of a token.
    let sessions = Sessions::new(token).ok_or_else(|| {
        ConfigError::of(
"operator.token", format!(
            "operator.token is invalid: it must be at least {TOKEN_CHARACTERS_MIN} random visible ASCII \
            characters. Create one with `openssl rand -hex 32`"
        ))
    })?;
    Ok(Some(sessions))
}
