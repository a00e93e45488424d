//! The extension sign-in-with-x: a wallet signs a text (EIP-4361) that names this service, a nonce and a time, and so
//! proves without a payment whose purchases it may read. Contract wallets (EIP-1271) and other chains are not supported.
//! Pure: the time comes in; whether a nonce is ours and unused is the caller's to know.

use std::fmt;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use url::{Position, Url};

use crate::domain::evm::{Address, Network, Signature};
use crate::domain::time::UnixSeconds;
use crate::x402::eip3009::recover;
use crate::x402::encoding;
use crate::x402::sender_proof::personal_digest;
use crate::x402::wire::SCHEMA_DIALECT;

/// The key of the extension in a challenge.
pub const EXTENSION: &str = "sign-in-with-x";
/// Name of the header that carries a signed statement.
pub const HEADER: &str = "SIGN-IN-WITH-X";
/// The version of EIP-4361.
const VERSION: &str = "1";
/// The one kind of signature: personal_sign by a key of its own (EIP-191).
const SCHEME: &str = "eip191";
/// The sentence that a wallet shows to its owner.
pub const STATEMENT: &str =
    "List and read my purchases at this service. This only signs me in; it pays nothing.";
/// How old a signed statement may be.
pub const AGE_SECONDS_MAX: u64 = 300;
/// How far the clock of the signer may be ahead of ours.
const SKEW_SECONDS: u64 = 60;
/// Longest header in bytes of base64.
const HEADER_BYTES_MAX: usize = 4_096;
/// Longest text member in bytes.
const TEXT_BYTES_MAX: usize = 512;
const RESOURCES_MAX: usize = 8;

/// The service and the purpose that a statement must be signed for.
#[derive(Clone, Copy, Debug)]
pub struct Service<'a> {
    /// The public address of the service, without a trailing slash.
    pub base_url: &'a str,
    /// Where purchases are read: path from the root.
    pub path: &'a str,
    pub network: Network,
}

impl Service<'_> {
    /// Host, with the port where it is not the scheme's own: what browsers call `location.host`. Empty if `base_url`
    /// is no URL, which no statement can then be for.
    fn domain(&self) -> String {
        let url = Url::parse(self.base_url);
        url.map_or_else(
            |_| String::new(),
            |url| url[Position::BeforeHost..Position::AfterPort].to_owned(),
        )
    }

    fn uri(&self) -> String {
        format!("{}{}", self.base_url, self.path)
    }

    /// The extension as a challenge carries it, with a fresh nonce.
    pub fn extension(&self, nonce: &str, now: UnixSeconds) -> Value {
        let chain = json!({"chainId": self.network.to_string(), "type": SCHEME});
        json!({
            "info": {
                "domain": self.domain(),
                "uri": self.uri(),
                "version": VERSION,
                "nonce": nonce,
                "issuedAt": written(now),
                "expirationTime": written(now.plus(AGE_SECONDS_MAX)),
                "statement": STATEMENT,
            },
            "supportedChains": [chain],
            "schema": schema(),
        })
    }
}

fn written(at: UnixSeconds) -> String {
    at.timestamp()
        .map_or_else(String::new, |time| time.to_string())
}

/// The schema of the header's JSON, as the official packages write it.
fn schema() -> Value {
    let text = json!({"type": "string"});
    let time = json!({"type": "string", "format": "date-time"});
    let uri = json!({"type": "string", "format": "uri"});
    json!({
        "$schema": SCHEMA_DIALECT,
        "type": "object",
        "properties": {
            "domain": text, "address": text, "statement": text, "uri": uri, "version": text, "chainId": text,
            "type": text, "nonce": text, "issuedAt": time, "expirationTime": time, "notBefore": time,
            "requestId": text, "resources": {"type": "array", "items": uri}, "signature": text,
        },
        "required": ["domain", "address", "uri", "version", "chainId", "type", "nonce", "issuedAt", "signature"],
    })
}

/// Why a header is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignInError {
    TooLong,
    NotBase64,
    /// Not the JSON object that the schema describes, or a member that is too long or contains control characters.
    Malformed,
    Address,
    Domain,
    Uri,
    Version,
    Chain,
    Scheme,
    Statement,
    IssuedAt,
    TooOld,
    FromTheFuture,
    ExpirationTime,
    Expired,
    NotBefore,
    NotYetValid,
    /// The signature is not one by the address over this text.
    Signature,
    /// Not issued by this service since it was started, or too old.
    NonceUnknown,
    NonceUsed,
}

impl SignInError {
    /// The word for programs.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    fn row(self) -> (&'static str, &'static str) {
        match self {
            SignInError::TooLong => ("too_long", "The header is longer than 4,096 bytes"),
            SignInError::NotBase64 => ("not_base64", "The header is not base64"),
            SignInError::Malformed => (
                "malformed",
                "The header is not the JSON object that the extension's schema describes",
            ),
            SignInError::Address => ("address", "The address is not 0x and 40 hex digits"),
            SignInError::Domain => ("domain", "The statement is for another domain"),
            SignInError::Uri => ("uri", "The statement is for another URI"),
            SignInError::Version => ("version", "The version is not 1"),
            SignInError::Chain => (
                "chain",
                "The chain is not the one that this service is paid on",
            ),
            SignInError::Scheme => (
                "scheme",
                "Only eip191 signatures, by a key of its own, are supported",
            ),
            SignInError::Statement => {
                ("statement", "The statement is not the one in the challenge")
            }
            SignInError::IssuedAt => ("issued_at", "issuedAt is not an RFC 3339 time"),
            SignInError::TooOld => ("too_old", "issuedAt is more than 5 minutes ago"),
            SignInError::FromTheFuture => ("from_the_future", "issuedAt is in the future"),
            SignInError::ExpirationTime => {
                ("expiration_time", "expirationTime is not an RFC 3339 time")
            }
            SignInError::Expired => ("expired", "The statement has expired"),
            SignInError::NotBefore => ("not_before", "notBefore is not an RFC 3339 time"),
            SignInError::NotYetValid => ("not_yet_valid", "The statement is not valid yet"),
            SignInError::Signature => (
                "signature",
                "The signature was not made by the address over this statement",
            ),
            SignInError::NonceUnknown => (
                "nonce_unknown",
                "The nonce was not issued by this service, or it has expired",
            ),
            SignInError::NonceUsed => ("nonce_used", "The nonce was already used"),
        }
    }
}

impl fmt::Display for SignInError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().1)
    }
}

impl std::error::Error for SignInError {}

/// Who signed, and with which nonce.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedIn {
    pub address: Address,
    pub nonce: String,
}

/// What the header says.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Payload {
    domain: String,
    address: String,
    #[serde(default)]
    statement: Option<String>,
    uri: String,
    version: String,
    chain_id: String,
    #[serde(rename = "type")]
    scheme: String,
    nonce: String,
    issued_at: String,
    #[serde(default)]
    expiration_time: Option<String>,
    #[serde(default)]
    not_before: Option<String>,
    #[serde(default)]
    request_id: Option<String>,
    #[serde(default)]
    resources: Option<Vec<String>>,
    #[serde(default)]
    signature_scheme: Option<String>,
    signature: String,
}

/// Reads a header and checks everything but whether the nonce is ours and unused.
///
/// # Errors
///
/// The first check that fails.
pub fn read(
    header: &str,
    service: &Service<'_>,
    now: UnixSeconds,
) -> Result<SignedIn, SignInError> {
    let payload = Payload::decode(header)?;
    payload.check(service)?;
    payload.check_times(now)?;
    let address = payload.signer()?;
    Ok(SignedIn {
        address,
        nonce: payload.nonce,
    })
}

impl Payload {
    fn decode(header: &str) -> Result<Payload, SignInError> {
        if header.len() > HEADER_BYTES_MAX {
            return Err(SignInError::TooLong);
        }
        let bytes = encoding::decode(header).ok_or(SignInError::NotBase64)?;
        let payload: Payload =
            serde_json::from_slice(&bytes).map_err(|_| SignInError::Malformed)?;
        match payload.is_bounded() {
            true => Ok(payload),
            false => Err(SignInError::Malformed),
        }
    }

    /// SECURITY: a line break in a member could make two different payloads one text.
    fn is_bounded(&self) -> bool {
        let resources = self.resources.as_deref().unwrap_or_default();
        let members = [&self.domain, &self.address, &self.uri, &self.version];
        let more = [
            &self.chain_id,
            &self.scheme,
            &self.nonce,
            &self.issued_at,
            &self.signature,
        ];
        let optional = [
            &self.statement,
            &self.expiration_time,
            &self.not_before,
            &self.request_id,
            &self.signature_scheme,
        ];
        let all = members.into_iter().chain(more).chain(resources);
        let mut all = all.chain(optional.into_iter().flatten());
        resources.len() <= RESOURCES_MAX
            && all.all(|text| text.len() <= TEXT_BYTES_MAX && !text.contains(char::is_control))
    }

    fn check(&self, service: &Service<'_>) -> Result<(), SignInError> {
        let stated_schemes = [Some(self.scheme.as_str()), self.signature_scheme.as_deref()];
        if self.domain != service.domain() {
            Err(SignInError::Domain)
        } else if self.uri != service.uri() {
            Err(SignInError::Uri)
        } else if self.version != VERSION {
            Err(SignInError::Version)
        } else if self.chain_id != service.network.to_string() {
            Err(SignInError::Chain)
        } else if stated_schemes
            .into_iter()
            .flatten()
            .any(|said| said != SCHEME)
        {
            Err(SignInError::Scheme)
        } else if self.statement.as_deref() != Some(STATEMENT) {
            Err(SignInError::Statement)
        } else {
            Ok(())
        }
    }

    fn check_times(&self, now: UnixSeconds) -> Result<(), SignInError> {
        let issued_at = seconds(&self.issued_at).ok_or(SignInError::IssuedAt)?;
        if issued_at.plus(AGE_SECONDS_MAX) < now {
            return Err(SignInError::TooOld);
        }
        if issued_at > now.plus(SKEW_SECONDS) {
            return Err(SignInError::FromTheFuture);
        }
        if let Some(text) = &self.expiration_time
            && seconds(text).ok_or(SignInError::ExpirationTime)? <= now
        {
            return Err(SignInError::Expired);
        }
        if let Some(text) = &self.not_before
            && seconds(text).ok_or(SignInError::NotBefore)? > now.plus(SKEW_SECONDS)
        {
            return Err(SignInError::NotYetValid);
        }
        Ok(())
    }

    /// The address that the payload names, if its key has signed the text.
    fn signer(&self) -> Result<Address, SignInError> {
        let address = Address::parse(&self.address).ok_or(SignInError::Address)?;
        let signature = Signature::parse(&self.signature).ok_or(SignInError::Signature)?;
        let signer = recover(personal_digest(&self.text()), &signature);
        match signer {
            Ok(signer) if signer == address => Ok(address),
            _ => Err(SignInError::Signature),
        }
    }

    /// The text that was signed (EIP-4361), with the address as the payload writes it.
    fn text(&self) -> String {
        let chain = self
            .chain_id
            .strip_prefix("eip155:")
            .unwrap_or(&self.chain_id);
        let mut text = format!(
            "{} wants you to sign in with your Ethereum account:\n{}\n\n",
            self.domain, self.address
        );
        if let Some(statement) = &self.statement {
            text += statement;
            text += "\n";
        }
        text += &format!(
            "\nURI: {}\nVersion: {}\nChain ID: {chain}\nNonce: {}\nIssued At: {}",
            self.uri, self.version, self.nonce, self.issued_at
        );
        let optional = [
            ("Expiration Time", &self.expiration_time),
            ("Not Before", &self.not_before),
            ("Request ID", &self.request_id),
        ];
        for (name, value) in optional {
            if let Some(value) = value {
                text += &format!("\n{name}: {value}");
            }
        }
        if let Some(resources) = &self.resources {
            text += "\nResources:";
            for resource in resources {
                text += &format!("\n- {resource}");
            }
        }
        text
    }
}

fn seconds(text: &str) -> Option<UnixSeconds> {
    let time: Timestamp = text.parse().ok()?;
    u64::try_from(time.as_second()).ok().map(UnixSeconds)
}

#[cfg(test)]
mod tests;
