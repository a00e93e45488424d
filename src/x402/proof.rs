//! A buyer's payment: reading the header, and comparing it with what we offered. Both are free of any caller, so a
//! payment that fails here has cost nobody anything. Whether the signature is good is the facilitator's to say: a
//! contract wallet's cannot be checked without the chain.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use crate::domain::amount::Amount;
use crate::domain::evm::{Address, Network, Nonce};
use crate::domain::keys::PayloadHash;
use crate::domain::time::UnixSeconds;
use crate::x402::challenge::{Advertised, PAYMENT_IDENTIFIER};
use crate::x402::resource::Resource;
use crate::x402::wire::{
    Authorization, PaymentPayload, PaymentRequirements, Token, WrittenRequirements,
};
use crate::x402::{encoding, json};

/// Longest header value in bytes.
pub const HEADER_BYTES_MAX: usize = 16 * 1024;
/// Time that settlement may take after the work, in seconds.
const SETTLE_SECONDS: u64 = 30;
/// How far a buyer's clock may be ahead of ours, in seconds.
const CLOCK_SKEW_SECONDS: u64 = 60;

/// A payment that could be read. It has not been compared with an offer, nor verified.
#[derive(Clone, Debug)]
pub struct PaymentProof {
    payload: PaymentPayload,
    raw: Arc<str>,
    payload_hash: PayloadHash,
    payment_identifier: Option<String>,
}

/// Why a header is not a payment of ours to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProofError {
    TooLong,
    NotBase64,
    /// With serde's words on where it breaks.
    NotJson(String),
    Version,
    /// With serde's words on what is missing or of the wrong kind.
    Shape(String),
    PaymentIdentifier,
    /// A well-formed payment of a kind that we do not offer (Permit2, ERC-7710): 402, not 400.
    UnsupportedPayloadType,
}

impl ProofError {
    /// The machine reason for the answer's `error`.
    pub fn reason(&self) -> &'static str {
        match self {
            ProofError::Version => "invalid_x402_version",
            ProofError::UnsupportedPayloadType => "unsupported_payload_type",
            _ => "invalid_payload",
        }
    }

    /// Whether the header is malformed (400) rather than a payment that does not fit (402).
    pub fn is_malformed(&self) -> bool {
        *self != ProofError::UnsupportedPayloadType
    }
}

impl fmt::Display for ProofError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProofError::TooLong => {
                write!(
                    f,
                    "The payment header has more than {HEADER_BYTES_MAX} bytes"
                )
            }
            ProofError::NotBase64 => f.write_str("The payment header is not base64"),
            ProofError::NotJson(detail) => write!(f, "The payment is not JSON: {detail}"),
            ProofError::Version => f.write_str("The payment's x402Version is not the number 2"),
            ProofError::Shape(detail) => write!(f, "The payment has the wrong shape: {detail}"),
            ProofError::PaymentIdentifier => f.write_str(
                "The payment identifier is not 16 to 128 letters, digits, hyphens and underscores",
            ),
            ProofError::UnsupportedPayloadType => {
                f.write_str("The payment is not an EIP-3009 authorization")
            }
        }
    }
}

impl std::error::Error for ProofError {}

/// Why a payment does not pay for what is asked: answered with 402 and a fresh challenge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProofMismatch {
    Requirements,
    Resource,
    Recipient,
    Value,
    NotYetValid,
    ExpiresTooSoon,
    ExpiresTooLate,
    Echo,
}

impl ProofMismatch {
    /// The machine reason for the challenge's `error`; the reference server's words where it has some.
    pub fn reason(self) -> &'static str {
        match self {
            ProofMismatch::Requirements => "No matching payment requirements",
            ProofMismatch::Echo => "extension_echo_mismatch",
            ProofMismatch::Resource => "invalid_resource",
            ProofMismatch::Recipient => "invalid_exact_evm_recipient_mismatch",
            ProofMismatch::Value => "invalid_exact_evm_payload_authorization_value_mismatch",
            ProofMismatch::NotYetValid => "invalid_exact_evm_payload_authorization_valid_after",
            ProofMismatch::ExpiresTooSoon | ProofMismatch::ExpiresTooLate => {
                "invalid_exact_evm_payload_authorization_valid_before"
            }
        }
    }
}

impl fmt::Display for ProofMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ProofMismatch::Requirements => "The payment accepts an offer that we did not make",
            ProofMismatch::Resource => "The payment names another resource",
            ProofMismatch::Recipient => "The authorization pays another address",
            ProofMismatch::Value => "The authorization is not for exactly the asked amount",
            ProofMismatch::NotYetValid => "The authorization is not valid yet",
            ProofMismatch::ExpiresTooSoon => {
                "The authorization ends before the work and its settlement can be done"
            }
            ProofMismatch::ExpiresTooLate => "The authorization lives longer than the offer allows",
            ProofMismatch::Echo => "The payment alters an extension of the challenge",
        })
    }
}

impl std::error::Error for ProofMismatch {}

impl PaymentProof {
    /// Reads the value of one PAYMENT-SIGNATURE header.
    pub fn decode(header: &str) -> Result<PaymentProof, ProofError> {
        if header.len() > HEADER_BYTES_MAX {
            return Err(ProofError::TooLong);
        }
        let decoded = encoding::decode(header.trim()).ok_or(ProofError::NotBase64)?;
        PaymentProof::from_json(&decoded)
    }

    /// Reads the decoded payment, from a header or from [`PaymentProof::raw`] as it was kept.
    pub fn from_json(decoded: &[u8]) -> Result<PaymentProof, ProofError> {
        json::check(decoded).map_err(|failure| ProofError::NotJson(failure.0))?;
        let payload = typed(decoded)?;
        let payment_identifier = payment_identifier(payload.extensions.as_ref())?;
        // White space around the text is left out; the hash is taken after that, so that a proof that was kept as
        // `raw` has the same hash when it is read again.
        let raw = std::str::from_utf8(decoded)
            .map_err(|failure| ProofError::NotJson(failure.to_string()))?
            .trim_matches([' ', '\t', '\n', '\r']);
        Ok(PaymentProof {
            payload_hash: PayloadHash(Sha256::digest(raw).into()),
            payload,
            raw: raw.into(),
            payment_identifier,
        })
    }

    pub fn payload(&self) -> &PaymentPayload {
        &self.payload
    }

    /// The decoded JSON as the buyer wrote it. It goes to the facilitator verbatim, so that nothing is lost.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// The same without what settlement does not need: the resource, extensions, and whatever else was added.
    pub fn bare(&self) -> Option<String> {
        const NEEDED: [&str; 3] = ["x402Version", "accepted", "payload"];
        let mut members: BTreeMap<String, &RawValue> = serde_json::from_str(&self.raw).ok()?;
        members.retain(|key, _| NEEDED.contains(&key.as_str()));
        serde_json::to_string(&members).ok()
    }

    /// SHA-256 of the decoded JSON text: only this very payment is given a kept answer again.
    pub fn payload_hash(&self) -> PayloadHash {
        self.payload_hash
    }

    /// The id of the buyer's own, if it sent one (extension payment-identifier).
    pub fn payment_identifier(&self) -> Option<&str> {
        self.payment_identifier.as_deref()
    }

    pub fn authorization(&self) -> &Authorization {
        &self.payload.payload.authorization
    }

    /// Who pays.
    pub fn from(&self) -> Address {
        self.authorization().from
    }

    pub fn nonce(&self) -> Nonce {
        self.authorization().nonce
    }

    /// What is to be paid with, as the payment itself says.
    pub fn token(&self) -> Option<Token> {
        let accepted = self.payload.accepted.as_ref()?;
        let accepted: Value = serde_json::from_str(accepted.get()).ok()?;
        let text = |key: &str| accepted.get(key).and_then(Value::as_str);
        Some((
            text("network").and_then(Network::parse)?,
            text("asset").and_then(Address::parse)?,
        ))
    }

    /// The end of the authorization; the furthest time there is when it lies beyond.
    pub fn valid_before(&self) -> UnixSeconds {
        UnixSeconds(u64::try_from(self.authorization().valid_before).unwrap_or(u64::MAX))
    }

    /// Whether the extensions that the buyer has sent back are ours: facilitators list us by them. A buyer may add to
    /// them, and leave any of them out.
    pub fn check_echo(
        &self,
        advertised: &BTreeMap<String, Advertised>,
    ) -> Result<(), ProofMismatch> {
        let echoed = self.payload.extensions.iter().flatten();
        let mut ours = echoed.filter_map(|(key, echo)| Some((echo, advertised.get(key)?)));
        match ours.all(|(echo, ours)| is_echo(echo.get(), ours)) {
            true => Ok(()),
            false => Err(ProofMismatch::Echo),
        }
    }

    /// Compares the payment with what we offer now or offered lately, and gives the offer that it pays. The caller
    /// goes on with that offer, never with what the buyer copied. `work_seconds` is the longest the work may take.
    pub fn check<'a>(
        &self,
        offers: &'a [WrittenRequirements],
        resource: &Resource,
        now: UnixSeconds,
        work_seconds: u64,
    ) -> Result<&'a WrittenRequirements, ProofMismatch> {
        let offer = self
            .payload
            .accepted
            .as_ref()
            .and_then(|accepted| copied(accepted.get(), offers))
            .ok_or(ProofMismatch::Requirements)?;
        if let Some(named) = &self.payload.resource
            && !resource.covers(&named.url)
        {
            return Err(ProofMismatch::Resource);
        }
        let authorization = self.authorization();
        if authorization.to != offer.pay_to {
            return Err(ProofMismatch::Recipient);
        }
        if authorization.value != u128::from(offer.amount.units()) {
            return Err(ProofMismatch::Value);
        }
        let latest = now.plus(offer.max_timeout_seconds.saturating_add(CLOCK_SKEW_SECONDS));
        let earliest = now.plus(work_seconds.saturating_add(SETTLE_SECONDS));
        if authorization.valid_after > u128::from(now.0) {
            Err(ProofMismatch::NotYetValid)
        } else if authorization.valid_before < u128::from(earliest.0) {
            Err(ProofMismatch::ExpiresTooSoon)
        } else if authorization.valid_before > u128::from(latest.0) {
            Err(ProofMismatch::ExpiresTooLate)
        } else {
            Ok(offer)
        }
    }
}

fn typed(decoded: &[u8]) -> Result<PaymentPayload, ProofError> {
    // serde would also take an array of the members.
    if decoded.trim_ascii_start().first() != Some(&b'{') {
        return Err(ProofError::Shape("expected an object".to_owned()));
    }
    let payload: PaymentPayload =
        serde_json::from_slice(decoded).map_err(|failure| misfit(decoded, &failure))?;
    match &payload.accepted {
        Some(accepted) if !accepted.get().starts_with('{') => {
            Err(ProofError::Shape("accepted is not an object".to_owned()))
        }
        _ => Ok(payload),
    }
}

/// Why an object is no payment: another version or another kind of payment is told before what is missing for ours.
fn misfit(decoded: &[u8], failure: &serde_json::Error) -> ProofError {
    let value: Value = serde_json::from_slice(decoded).unwrap_or_default();
    let payload = value.get("payload").and_then(Value::as_object);
    if value.get("x402Version").and_then(Value::as_u64) != Some(2) {
        ProofError::Version
    } else if payload.is_some_and(|payload| !payload.contains_key("authorization")) {
        ProofError::UnsupportedPayloadType
    } else {
        ProofError::Shape(failure.to_string())
    }
}

fn payment_identifier(
    extensions: Option<&BTreeMap<String, Box<RawValue>>>,
) -> Result<Option<String>, ProofError> {
    let Some(extension) = extensions.and_then(|extensions| extensions.get(PAYMENT_IDENTIFIER))
    else {
        return Ok(None);
    };
    let extension: Value =
        serde_json::from_str(extension.get()).map_err(|_| ProofError::PaymentIdentifier)?;
    match extension.pointer("/info/id") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(id)) if is_identifier(id) => Ok(Some(id.clone())),
        Some(_) => Err(ProofError::PaymentIdentifier),
    }
}

fn is_identifier(text: &str) -> bool {
    (16..=128).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// The offer that was copied.
fn copied<'a>(
    accepted: &str,
    offers: &'a [WrittenRequirements],
) -> Option<&'a WrittenRequirements> {
    let same = offers.iter().find(|offer| offer.json() == accepted);
    same.or_else(|| {
        let accepted: Value = serde_json::from_str(accepted).ok()?;
        offers.iter().find(|offer| is_copy_of(&accepted, offer))
    })
}

/// Whether `accepted` is our offer copied: addresses by their bytes, the amount by its number, `extra` with all that
/// we put there (the buyer may add), no other key with a value, everything else exactly.
fn is_copy_of(accepted: &Value, offer: &PaymentRequirements) -> bool {
    let Some(fields) = accepted.as_object() else {
        return false;
    };
    let text = |key: &str| fields.get(key).and_then(Value::as_str);
    let Ok(our_extra) = serde_json::to_value(&offer.extra) else {
        return false;
    };
    text("scheme") == Some("exact")
        && text("network").and_then(Network::parse) == Some(offer.network)
        && text("amount").and_then(Amount::parse_units) == Some(offer.amount)
        && text("asset").and_then(Address::parse) == Some(offer.asset)
        && text("payTo").and_then(Address::parse) == Some(offer.pay_to)
        && fields.get("maxTimeoutSeconds").and_then(Value::as_u64)
            == Some(offer.max_timeout_seconds)
        && fields
            .get("extra")
            .is_some_and(|theirs| is_within(&our_extra, theirs))
        && fields.iter().all(|(key, value)| {
            value.is_null() || PaymentRequirements::FIELDS.contains(&key.as_str())
        })
}

fn is_echo(echo: &str, ours: &Advertised) -> bool {
    // Absent and null are the same.
    if echo == ours.text || echo == "null" {
        return true;
    }
    let echo: Value = serde_json::from_str(echo).unwrap_or_default();
    let info = echo.get("info").unwrap_or(&Value::Null);
    // Some languages leave out what is false.
    let is_false = |ours: &Value, key: &str| ours[key] == false && info.get(key).is_none();
    match &ours.info {
        Value::Object(members) => members.iter().all(|(key, value)| {
            is_false(&ours.info, key) || info.get(key).is_some_and(|other| is_within(value, other))
        }),
        other => is_within(other, info),
    }
}

/// Every key of `ours` is in `theirs` with the same value, down through objects.
fn is_within(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => ours
            .iter()
            .all(|(key, value)| theirs.get(key).is_some_and(|other| is_within(value, other))),
        _ => ours == theirs,
    }
}

#[cfg(test)]
mod tests;
