//! The extension offer-receipt (version 1, format JWS): the seller's signature under an offer and under what was paid
//! and delivered, and a buyer's check of both. Members are written in the order of RFC 8785, so that the same facts
//! have the same signature. It does not fetch the seller's key.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::domain::time::UnixSeconds;
use crate::signing::{self, BadJws, PublicKey, Signer};
use crate::x402::address::{Address, Network};
use crate::x402::challenge::SCHEMA_DIALECT;
use crate::x402::wire::{PaymentRequirements, Scheme};

/// The key of the extension.
pub const OFFER_RECEIPT: &str = "offer-receipt";
const VERSION: u64 = 1;
const FORMAT: &str = "jws";
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
    /// Of a format that is not checked here, such as eip712.
    Format,
    Jws(BadJws),
    /// The key that it names is not one of the seller's.
    Stranger,
    /// It is genuine and says something else than the buyer has seen, in this member.
    Differs(&'static str),
}

impl fmt::Display for Unproven {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unproven::Format => f.write_str("It is of a format that is not checked here"),
            Unproven::Jws(bad) => bad.fmt(f),
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

/// A JWS that a seller has sent, and the name of the key in it, which must be found in the seller's own document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed {
    jws: String,
    pub kid: String,
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

/// The signed offer for the entry of `accepts` that was chosen. `None` when the challenge has none.
pub fn claimed_offer(extensions: &Map<String, Value>) -> Option<Result<Claimed, Unproven>> {
    let offers = extensions.get(OFFER_RECEIPT)?.pointer("/info/offers")?;
    offers.as_array()?.first().map(claimed)
}

/// The signed receipt of a settlement. `None` when it has none.
pub fn claimed_receipt(extensions: &Map<String, Value>) -> Option<Result<Claimed, Unproven>> {
    let receipt = extensions.get(OFFER_RECEIPT)?.pointer("/info/receipt")?;
    Some(claimed(receipt))
}

fn claimed(signed: &Value) -> Result<Claimed, Unproven> {
    if signed["format"] != FORMAT {
        return Err(Unproven::Format);
    }
    let jws = signed["signature"].as_str().unwrap_or_default().to_owned();
    let kid = signing::claimed_kid(&jws).map_err(Unproven::Jws)?;
    Ok(Claimed { jws, kid })
}

impl Claimed {
    /// Whether the name of the key is one that whoever answers at `resource_url` can give.
    pub fn is_named_by(&self, resource_url: &str) -> bool {
        let did = self.kid.split_once('#').map(|(did, _)| did);
        did == Some(signing::did(resource_url).as_str())
    }

    fn payload(&self, key: &PublicKey) -> Result<Value, Unproven> {
        let payload = signing::verified(&self.jws, key).map_err(Unproven::Jws)?;
        serde_json::from_slice(&payload).map_err(|_| Unproven::Jws(BadJws::Form))
    }

    /// Whether the offer is the one that was paid.
    pub fn check_offer(&self, key: &PublicKey, seen: &Seen<'_>) -> Result<(), Unproven> {
        let payload = self.payload(key)?;
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
    pub fn check_receipt(&self, key: &PublicKey, seen: &Seen<'_>) -> Result<Receipt, Unproven> {
        let receipt: Receipt =
            serde_json::from_value(self.payload(key)?).map_err(|_| Unproven::Jws(BadJws::Form))?;
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
