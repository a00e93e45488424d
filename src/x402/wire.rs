//! The JSON of x402 version 2, field for field (specification v2, transports-v2/http; scheme exact on EVM).
//! Numbers of tokens and of seconds are decimal strings, and a JSON number in their place is refused. It knows shapes
//! alone: whether a payment fits an offer is decided in `proof.rs`.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::domain::amount::Amount;
use crate::domain::evm::{Address, Network, Nonce, Signature};

/// What the schemas of extensions are written in.
pub const SCHEMA_DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The protocol version: the JSON number 2, nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Version2;

impl Serialize for Version2 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(2)
    }
}

impl<'de> Deserialize<'de> for Version2 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u64::deserialize(deserializer)? {
            2 => Ok(Version2),
            other => Err(de::Error::custom(format!(
                "expected version 2, not {other}"
            ))),
        }
    }
}

/// The one scheme: exactly the asked amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    Exact,
}

/// The 402's content; header PAYMENT-REQUIRED is its base64.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PaymentRequired {
    pub x402_version: Version2,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub resource: ResourceInfo,
    pub accepts: Vec<PaymentRequirements>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extensions: Option<Map<String, Value>>,
}

/// What is sold, for people and directories.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceInfo {
    /// The public absolute address that the client called.
    pub url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon_url: Option<String>,
}

/// One way to pay: an entry of `accepts`, and what the facilitator is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PaymentRequirements {
    pub scheme: Scheme,
    pub network: Network,
    #[serde(with = "units")]
    pub amount: Amount,
    pub asset: Address,
    pub pay_to: Address,
    pub max_timeout_seconds: u64,
    pub extra: Extra,
}

impl PaymentRequirements {
    /// The names of its fields as they are written.
    pub const FIELDS: [&str; 7] = [
        "scheme",
        "network",
        "amount",
        "asset",
        "payTo",
        "maxTimeoutSeconds",
        "extra",
    ];

    pub fn token(&self) -> Token {
        (self.network, self.asset)
    }
}

/// A network, and the address of a token's contract there.
pub type Token = (Network, Address);

/// Requirements with their JSON, written once: it is compared with what buyers copy, passed on and stored. Cheap to clone.
#[derive(Clone, Debug)]
pub struct WrittenRequirements(Arc<(PaymentRequirements, String)>);

impl WrittenRequirements {
    pub fn json(&self) -> &str {
        &self.0.1
    }
}

impl From<PaymentRequirements> for WrittenRequirements {
    fn from(requirements: PaymentRequirements) -> Self {
        let json = serde_json::to_string(&requirements);
        let json = json.expect("strings and numbers always serialize");
        WrittenRequirements(Arc::new((requirements, json)))
    }
}

impl Deref for WrittenRequirements {
    type Target = PaymentRequirements;

    fn deref(&self) -> &PaymentRequirements {
        &self.0.0
    }
}

impl Serialize for WrittenRequirements {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl PartialEq for WrittenRequirements {
    fn eq(&self, other: &Self) -> bool {
        self.json() == other.json()
    }
}

/// The EIP-712 domain of the token, and whatever else the seller put there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Extra {
    pub name: String,
    pub version: String,
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl Extra {
    /// Name and version alone, which is all that a live challenge should carry: clients that rebuild `accepted` from
    /// a fixed struct drop other keys and would no longer match.
    pub fn domain(name: impl Into<String>, version: impl Into<String>) -> Self {
        Extra {
            name: name.into(),
            version: version.into(),
            more: Map::new(),
        }
    }
}

/// A buyer's payment; header PAYMENT-SIGNATURE is its base64.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PaymentPayload {
    pub x402_version: Version2,
    pub resource: Option<ResourceInfo>,
    /// The entry of `accepts` that the buyer chose, as it copied it. Text, because what does not fit our type is an
    /// offer that is not ours (402), not a malformed payment (400), and because most copy ours byte for byte.
    pub accepted: Option<Box<RawValue>>,
    pub payload: ExactPayload,
    /// Most of a payment's bytes, of which one id is read: they stay text.
    pub extensions: Option<BTreeMap<String, Box<RawValue>>>,
}

/// The payload of scheme exact with EIP-3009.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExactPayload {
    pub signature: Signature,
    pub authorization: Authorization,
}

/// The signed words of `TransferWithAuthorization` (EIP-3009).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Authorization {
    pub from: Address,
    pub to: Address,
    /// Atomic units of the token.
    #[serde(with = "decimal")]
    pub value: u128,
    /// Unix seconds; the chain demands a time after this one.
    #[serde(with = "decimal")]
    pub valid_after: u128,
    /// Unix seconds; the chain demands a time before this one.
    #[serde(with = "decimal")]
    pub valid_before: u128,
    pub nonce: Nonce,
}

/// The facilitator's answer to /verify. Null is absent, unknown keys are ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VerifyResponse {
    pub is_valid: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalid_reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payer: Option<String>,
}

/// The facilitator's answer to /settle, and the content of PAYMENT-RESPONSE. The facilitator's `errorMessage` is not
/// read: it carries stack traces and addresses of nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SettleResponse {
    pub success: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payer: Option<String>,
    /// Empty when there is none.
    #[serde(default, deserialize_with = "null_is_empty")]
    pub transaction: String,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub network: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extensions: Option<Map<String, Value>>,
}

/// The facilitator's answer to GET /supported.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Supported {
    pub kinds: Vec<SupportedKind>,
    #[serde(default)]
    pub extensions: Vec<String>,
    #[serde(default)]
    pub signers: Map<String, Value>,
}

/// One kind of payment that a facilitator takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SupportedKind {
    pub x402_version: u64,
    pub scheme: String,
    pub network: String,
}

impl Supported {
    /// Whether version 2 payments of scheme exact on `network` are taken.
    pub fn takes_exact_on(&self, network: Network) -> bool {
        self.kinds.iter().any(|kind| {
            kind.x402_version == 2
                && kind.scheme == "exact"
                && Network::parse(&kind.network) == Some(network)
        })
    }
}

fn null_is_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Amounts as strings of atomic units.
mod units {
    use super::{Amount, Deserialize, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(
        amount: &Amount,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&amount.units())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Amount, D::Error> {
        let text = String::deserialize(deserializer)?;
        Amount::parse_units(&text).ok_or_else(|| de::Error::custom("expected decimal digits"))
    }
}

/// Numbers of 256 bits on the chain, of which we read those below 2^128: canonical decimal strings.
mod decimal {
    use super::{Deserialize, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(
        number: &u128,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_str(number)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<u128, D::Error> {
        let text = String::deserialize(deserializer)?;
        let canonical = !text.is_empty()
            && text.bytes().all(|byte| byte.is_ascii_digit())
            && (text.len() == 1 || !text.starts_with('0'));
        canonical
            .then(|| text.parse().ok())
            .flatten()
            .ok_or_else(|| de::Error::custom("expected decimal digits below 2^128"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn authorization() -> Value {
        json!({"from": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
            "to": "0x90f79bf6eb2c4f870365e785982e1f101e93b906", "value": "30000", "validAfter": "0",
            "validBefore": "340282366920938463463374607431768211455",
            "nonce": "0x625458d585bd64d4ed1968a901f22019c8113f4f13a5023112cf20603cfc89b6"})
    }

    #[test]
    fn numbers_are_canonical_decimal_strings() {
        assert!(serde_json::from_value::<Authorization>(authorization()).is_ok());
        for refused in [
            json!(30000),
            json!(""),
            json!("-1"),
            json!("+1"),
            json!("1e4"),
            json!("030000"),
            json!("30000.0"),
            json!("0x7530"),
            json!(" 30000"),
            json!("340282366920938463463374607431768211456"),
            json!(null),
        ] {
            for field in ["value", "validAfter", "validBefore"] {
                let mut changed = authorization();
                changed[field] = refused.clone();
                assert!(
                    serde_json::from_value::<Authorization>(changed).is_err(),
                    "{field} {refused}"
                );
            }
        }
    }

    #[test]
    fn the_version_is_the_number_two() {
        assert_eq!(
            serde_json::from_value::<Version2>(json!(2)).ok(),
            Some(Version2)
        );
        for refused in [json!(1), json!("2"), json!(2.5), json!(null), json!(3)] {
            assert!(
                serde_json::from_value::<Version2>(refused.clone()).is_err(),
                "{refused}"
            );
        }
    }

    #[test]
    fn requirements_have_the_protocol_s_field_names() {
        let requirements = PaymentRequirements {
            scheme: Scheme::Exact,
            network: Network(8453),
            amount: Amount::from_units(30_000),
            asset: Address([1; 20]),
            pay_to: Address([2; 20]),
            max_timeout_seconds: 300,
            extra: Extra::domain("USD Coin", "2"),
        };
        assert_eq!(
            serde_json::to_string(&requirements).ok().as_deref(),
            Some(concat!(
                r#"{"scheme":"exact","network":"eip155:8453","amount":"30000","#,
                r#""asset":"0x0101010101010101010101010101010101010101","#,
                r#""payTo":"0x0202020202020202020202020202020202020202","#,
                r#""maxTimeoutSeconds":300,"extra":{"name":"USD Coin","version":"2"}}"#
            ))
        );
    }

    #[test]
    fn absent_and_null_are_the_same_in_the_facilitator_s_replies() {
        for text in [
            r#"{"success":false,"errorReason":"x","transaction":null,"network":null,"payer":null}"#,
            r#"{"success":false,"errorReason":"x","requirements":{}}"#,
        ] {
            let read: SettleResponse = serde_json::from_str(text).expect(text);
            let expected = SettleResponse {
                error_reason: Some("x".to_owned()),
                ..SettleResponse::default()
            };
            assert_eq!(read, expected, "{text}");
        }
    }
}
