//! The extension offer-receipt (version 1): the seller's signature under an offer and under what was paid and delivered,
//! and a buyer's check of both. We sign as JWS, with the members in the order of RFC 8785, so that the same facts have
//! the same signature; a buyer also meets EIP-712. It does not fetch the seller's key.

mod typed;

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::domain::evm::{Address, Network, Signature};
use crate::domain::time::UnixSeconds;
use crate::signing::{self, BadJws, PublicKey, Signer};
use crate::x402::eip3009::recover;
use crate::x402::wire::{PaymentRequirements, SCHEMA_DIALECT, Scheme};

/// The key of the extension.
pub const OFFER_RECEIPT: &str = "offer-receipt";
const VERSION: u64 = 1;
const FORMAT: &str = "jws";
/// Offers of one challenge that a buyer looks at.
const OFFERS_MAX: usize = 16;
/// A receipt that names no transaction must be of the purchase just made.
const RECEIPT_AGE_SECONDS_MAX: u64 = 3_600;

/// What an offer says. It names no end, so that it can be signed once.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Offer<'a> {
    amount: String,
    asset: Address,
    network: Network,
    pay_to: Address,
    resource_url: &'a str,
    scheme: Scheme,
    version: u64,
}

/// What a receipt says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    /// Hex SHA-256 of what was delivered. The extension has no such member; without it a receipt would prove that
    /// something was paid for, not what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_sha256: Option<String>,
    /// Unix seconds.
    pub issued_at: u64,
    pub network: String,
    pub payer: String,
    pub resource_url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction: Option<String>,
    pub version: u64,
}

/// The extension of a challenge with one offer.
pub fn offer(signer: &Signer, resource_url: &str, requirements: &PaymentRequirements) -> Value {
    let payload = encoded(&Offer {
        amount: requirements.amount.units().to_string(),
        asset: requirements.asset,
        network: requirements.network,
        pay_to: requirements.pay_to,
        resource_url,
        scheme: requirements.scheme,
        version: VERSION,
    });
    let offers = json!([{"format": FORMAT, "acceptIndex": 0, "signature": signer.sign(&payload)}]);
    // The shortest schema that says something: challenges have little room.
    json!({
        "info": {"offers": offers},
        "schema": {"type": "object", "properties": {"offers": {"type": "array"}}, "required": ["offers"]},
    })
}

/// The extensions of a settlement's outcome, with the receipt.
pub fn receipt(signer: &Signer, receipt: &Receipt) -> Map<String, Value> {
    let signature = signer.sign(&encoded(receipt));
    let extension = json!({
        "info": {"receipt": {"format": FORMAT, "signature": signature}},
        "schema": {
            "$schema": SCHEMA_DIALECT,
            "type": "object",
            "properties": {"receipt": {
                "type": "object",
                "properties": {"format": {"type": "string"}, "signature": {"type": "string"}},
                "required": ["format", "signature"],
            }},
            "required": ["receipt"],
        },
    });
    Map::from_iter([(OFFER_RECEIPT.to_owned(), extension)])
}

impl Receipt {
    /// The receipt of a sale of ours.
    pub fn new(
        network: Network,
        resource_url: String,
        payer: String,
        transaction: String,
        content_sha256: String,
        issued_at: UnixSeconds,
    ) -> Receipt {
        Receipt {
            content_sha256: Some(content_sha256),
            issued_at: issued_at.0,
            network: network.to_string(),
            payer,
            resource_url,
            transaction: Some(transaction),
            version: VERSION,
        }
    }
}

fn encoded(payload: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(payload).expect("strings and whole numbers always serialize")
}

/// Why a signed offer or receipt proves nothing to a buyer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unproven {
    /// Neither of the extension's formats, or not of the form that its own has.
    Form,
    /// Signed with another key than the one it names.
    Signature,
    /// The key is not one of the seller's.
    Stranger,
    /// It is genuine and says something else than the buyer has seen, in this member.
    Differs(&'static str),
}

impl fmt::Display for Unproven {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unproven::Form => f.write_str("It is signed in a form that is not supported"),
            Unproven::Signature => f.write_str("Its signature is not of the key that it names"),
            Unproven::Stranger => f.write_str("It is not signed with a key of the seller's"),
            Unproven::Differs(member) => {
                write!(
                    f,
                    "It is genuine, and its {member} is not that of this purchase"
                )
            }
        }
    }
}

impl std::error::Error for Unproven {}

impl From<BadJws> for Unproven {
    fn from(bad: BadJws) -> Self {
        match bad {
            BadJws::Form => Unproven::Form,
            BadJws::Signature => Unproven::Signature,
        }
    }
}

/// A signature that a seller has sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Claimed {
    /// With the name of the key in it, which must be found in the seller's own document.
    Jws { jws: String, kid: String },
    /// By EIP-712, with the key of the address that is paid.
    Typed {
        payload: Value,
        signature: Signature,
    },
}

/// What a buyer knows of a purchase without any signature.
#[derive(Clone, Debug)]
pub struct Seen<'a> {
    pub resource_url: &'a str,
    pub requirements: &'a PaymentRequirements,
    pub payer: Address,
    /// As PAYMENT-RESPONSE names it; empty when it names none.
    pub transaction: &'a str,
    pub now: UnixSeconds,
}

/// The signed offers of a challenge, the first few; not all need be for the entry that was chosen.
pub fn claimed_offers(extensions: &Map<String, Value>) -> Vec<Result<Claimed, Unproven>> {
    let extension = extensions.get(OFFER_RECEIPT);
    let offers = extension.and_then(|extension| extension.pointer("/info/offers")?.as_array());
    let offers = offers.into_iter().flatten().take(OFFERS_MAX);
    offers.map(claimed).collect()
}

/// The signed receipt of a settlement. `None` when it has none.
pub fn claimed_receipt(extensions: &Map<String, Value>) -> Option<Result<Claimed, Unproven>> {
    let receipt = extensions.get(OFFER_RECEIPT)?.pointer("/info/receipt")?;
    Some(claimed(receipt))
}

fn claimed(signed: &Value) -> Result<Claimed, Unproven> {
    let signature = signed["signature"].as_str().ok_or(Unproven::Form)?;
    match signed["format"].as_str() {
        Some(FORMAT) => Ok(Claimed::Jws {
            kid: signing::claimed_kid(signature)?,
            jws: signature.to_owned(),
        }),
        Some("eip712") => Ok(Claimed::Typed {
            payload: signed["payload"].clone(),
            signature: Signature::parse(signature).ok_or(Unproven::Form)?,
        }),
        _ => Err(Unproven::Form),
    }
}

impl Claimed {
    /// The name of the key to be looked up, if it is one that anyone who answers at `resource_url` can give. `None` when
    /// there is nothing to look up.
    pub fn kid(&self, resource_url: &str) -> Result<Option<&str>, Unproven> {
        match self {
            Claimed::Typed { .. } => Ok(None),
            Claimed::Jws { kid, .. } => {
                let did = kid.split_once('#').map(|(did, _)| did);
                match did == Some(signing::did(resource_url).as_str()) {
                    true => Ok(Some(kid)),
                    false => Err(Unproven::Stranger),
                }
            }
        }
    }

    /// What is said under a good signature. `key` is that of `kid`.
    fn payload(
        &self,
        kind: &typed::Kind,
        key: Option<&PublicKey>,
        seen: &Seen<'_>,
    ) -> Result<Value, Unproven> {
        match self {
            Claimed::Jws { jws, .. } => {
                let payload = signing::verified(jws, key.ok_or(Unproven::Stranger)?)?;
                serde_json::from_slice(&payload).map_err(|_| Unproven::Form)
            }
            Claimed::Typed { payload, signature } => {
                let digest = typed::digest(kind, payload).ok_or(Unproven::Form)?;
                let signer = recover(digest, signature).map_err(|_| Unproven::Signature)?;
                // Of all addresses only the one that is paid is known to be the seller's.
                match signer == seen.requirements.pay_to {
                    true => Ok(payload.clone()),
                    false => Err(Unproven::Stranger),
                }
            }
        }
    }

    /// Whether the offer is the one that was paid.
    pub fn check_offer(&self, key: Option<&PublicKey>, seen: &Seen<'_>) -> Result<(), Unproven> {
        let payload = self.payload(&typed::OFFER, key, seen)?;
        let offered = seen.requirements;
        let text = |member: &str| payload[member].as_str().unwrap_or_default();
        let address = |member: &str| Address::parse(text(member));
        let ends = payload["validUntil"].as_u64().filter(|end| *end > 0);
        let checks = [
            ("version", payload["version"] == VERSION),
            ("resourceUrl", text("resourceUrl") == seen.resource_url),
            ("scheme", text("scheme") == "exact"),
            (
                "network",
                Network::parse(text("network")) == Some(offered.network),
            ),
            ("asset", address("asset") == Some(offered.asset)),
            ("payTo", address("payTo") == Some(offered.pay_to)),
            (
                "amount",
                text("amount") == offered.amount.units().to_string(),
            ),
            ("validUntil", ends.is_none_or(|end| seen.now.0 <= end)),
        ];
        all_hold(&checks)
    }

    /// Whether the receipt is of this purchase.
    pub fn check_receipt(
        &self,
        key: Option<&PublicKey>,
        seen: &Seen<'_>,
    ) -> Result<Receipt, Unproven> {
        let payload = self.payload(&typed::RECEIPT, key, seen)?;
        let receipt: Receipt = serde_json::from_value(payload).map_err(|_| Unproven::Form)?;
        let named = receipt
            .transaction
            .as_deref()
            .filter(|hash| !hash.is_empty());
        let network = Network::parse(&receipt.network);
        let checks = [
            ("version", receipt.version == VERSION),
            ("resourceUrl", receipt.resource_url == seen.resource_url),
            ("network", network == Some(seen.requirements.network)),
            ("payer", Address::parse(&receipt.payer) == Some(seen.payer)),
            (
                "transaction",
                named.is_none_or(|hash| hash.eq_ignore_ascii_case(seen.transaction)),
            ),
            (
                "issuedAt",
                seen.now.0.abs_diff(receipt.issued_at) <= RECEIPT_AGE_SECONDS_MAX,
            ),
        ];
        all_hold(&checks).map(|()| receipt)
    }
}

fn all_hold(checks: &[(&'static str, bool)]) -> Result<(), Unproven> {
    match checks.iter().find(|(_, holds)| !holds) {
        Some((member, _)) => Err(Unproven::Differs(member)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
