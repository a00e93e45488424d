//! The buyer's side of the exchange, a step at a time: read a challenge, choose an offer within a limit, sign it, make
//! the header. It sends nothing; time and nonce are arguments, so the same arguments give the same header.

use std::fmt;

use serde_json::{Map, Value, json};

use crate::domain::amount::Amount;
use crate::domain::evm::{Address, Network, Nonce, Signature};
use crate::domain::figures::cents;
use crate::domain::time::UnixSeconds;
use crate::x402::challenge::PAYMENT_IDENTIFIER;
use crate::x402::eip3009::{Domain, SecretKey};
use crate::x402::wire::{Authorization, PaymentRequirements, SettleResponse};
use crate::x402::{encoding, json as strict};

/// Longest life of an authorization that a buyer signs, in seconds, whatever the seller asks.
const LIFE_SECONDS_MAX: u64 = 3_600;
/// Longest header of a seller that is decoded, in bytes.
const HEADER_BYTES_MAX: usize = 64 * 1024;

/// A token on a network. The buyer's limit is in USDC, so only tokens known to be USDC may be paid with: six decimals
/// of something else could be worth anything.
pub type Token = (Network, Address);

/// USDC as its issuer lists it: Base, Base Sepolia, Ethereum, Polygon, Arbitrum, OP Mainnet, Avalanche.
const USDC: [(u64, &str); 7] = [
    (8_453, "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"),
    (84_532, "0x036CbD53842c5426634e7929541eC2318f3dCF7e"),
    (1, "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"),
    (137, "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359"),
    (42_161, "0xaf88d065e77c8cC2239327C5EDb3A432268e5831"),
    (10, "0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85"),
    (43_114, "0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E"),
];

/// The deployments of USDC that a buyer pays with unless told of another.
pub fn usdc() -> Vec<Token> {
    USDC.iter()
        .filter_map(|(chain_id, asset)| Some((Network(*chain_id), Address::parse(asset)?)))
        .collect()
}

/// A challenge as a stranger sent it. Entries that we cannot pay (other schemes, other chains) stay values.
#[derive(Clone, Debug, PartialEq)]
pub struct ReceivedChallenge {
    pub error: Option<String>,
    /// `resource.url`, for showing.
    pub resource_url: Option<String>,
    resource: Option<Value>,
    accepts: Vec<Value>,
    extensions: Option<Map<String, Value>>,
}

/// The offer that will be paid, and how the seller wrote it.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    pub requirements: PaymentRequirements,
    accepted: Value,
}

/// A payment, signed and not sent.
#[derive(Clone, Debug, PartialEq)]
pub struct SignedPayment {
    pub authorization: Authorization,
    pub signature: Signature,
    /// The payment as JSON.
    pub payload: Value,
    /// The value of PAYMENT-SIGNATURE.
    pub header: String,
}

/// Why a buyer does not pay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PayerError {
    /// PAYMENT-REQUIRED is missing or no challenge of version 2.
    Challenge(String),
    /// Nothing offered is an EIP-3009 payment in USDC on a network that is known.
    NothingPayable,
    /// The cheapest payable offer.
    TooDear { price: Amount, max: Amount },
}

impl fmt::Display for PayerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PayerError::Challenge(detail) => {
                write!(f, "The seller's challenge cannot be read: {detail}")
            }
            PayerError::NothingPayable => f.write_str(
                "The seller offers no payment of scheme exact in USDC on a known EVM network",
            ),
            PayerError::TooDear { price, max } => write!(
                f,
                "The seller asks {} USDC, more than the limit of {} USDC; nothing was paid",
                cents(*price),
                cents(*max)
            ),
        }
    }
}

impl std::error::Error for PayerError {}

impl ReceivedChallenge {
    /// Reads the value of PAYMENT-REQUIRED.
    pub fn decode(header: &str) -> Result<Self, PayerError> {
        let malformed = |detail: &str| PayerError::Challenge(detail.to_owned());
        let mut value = decoded(header).map_err(PayerError::Challenge)?;
        if value.get("x402Version").and_then(Value::as_u64) != Some(2) {
            return Err(malformed("x402Version is not 2"));
        }
        let accepts = match value.get_mut("accepts").map(Value::take) {
            Some(Value::Array(accepts)) => accepts,
            _ => return Err(malformed("accepts is not a list")),
        };
        let extensions = match value.get_mut("extensions").map(Value::take) {
            Some(Value::Object(extensions)) => Some(extensions),
            _ => None,
        };
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(ToOwned::to_owned);
        let resource = value.get("resource").filter(|found| found.is_object());
        Ok(ReceivedChallenge {
            error: text(value.get("error")),
            resource_url: text(resource.and_then(|resource| resource.get("url"))),
            resource: resource.cloned(),
            accepts,
            extensions,
        })
    }

    /// What the seller put beside its offers.
    pub fn extensions(&self) -> Option<&Map<String, Value>> {
        self.extensions.as_ref()
    }

    /// The cheapest offer that can be paid with EIP-3009 in one of `tokens`, if it costs `max` or less.
    pub fn choose(&self, max: Amount, tokens: &[Token]) -> Result<Choice, PayerError> {
        let cheapest = self
            .accepts
            .iter()
            .filter_map(payable)
            .filter(|choice| {
                tokens.contains(&(choice.requirements.network, choice.requirements.asset))
            })
            .min_by_key(|choice| choice.requirements.amount)
            .ok_or(PayerError::NothingPayable)?;
        let price = cheapest.requirements.amount;
        if price > max {
            return Err(PayerError::TooDear { price, max });
        }
        Ok(cheapest)
    }

    /// Signs the choice and makes the header. `identifier` is sent when the seller takes one
    /// (extension payment-identifier); extensions are echoed as they came.
    pub fn sign(
        &self,
        choice: &Choice,
        key: &SecretKey,
        now: UnixSeconds,
        nonce: Nonce,
        identifier: Option<&str>,
    ) -> SignedPayment {
        let requirements = &choice.requirements;
        let life_seconds = requirements.max_timeout_seconds.min(LIFE_SECONDS_MAX);
        let authorization = Authorization {
            from: key.address(),
            to: requirements.pay_to,
            value: requirements.amount.units().into(),
            valid_after: 0,
            valid_before: now.plus(life_seconds).0.into(),
            nonce,
        };
        let signature = key.sign(Domain::of(requirements).digest(&authorization));
        let mut payload = json!({"x402Version": 2});
        if let Some(resource) = &self.resource {
            payload["resource"] = resource.clone();
        }
        payload["accepted"] = choice.accepted.clone();
        payload["payload"] = json!({"signature": signature, "authorization": authorization});
        if let Some(extensions) = &self.extensions {
            payload["extensions"] = Value::Object(echoed(extensions, identifier));
        }
        SignedPayment {
            header: encoding::encode(payload.to_string().as_bytes()),
            authorization,
            signature,
            payload,
        }
    }
}

fn echoed(extensions: &Map<String, Value>, identifier: Option<&str>) -> Map<String, Value> {
    let mut echoed = extensions.clone();
    let info = echoed
        .get_mut(PAYMENT_IDENTIFIER)
        .and_then(|extension| extension.get_mut("info"))
        .and_then(Value::as_object_mut);
    if let (Some(info), Some(identifier)) = (info, identifier) {
        info.insert("id".to_owned(), json!(identifier));
    }
    echoed
}

/// Our reading of an entry, when it is scheme exact by EIP-3009 on an EVM network.
fn payable(entry: &Value) -> Option<Choice> {
    let requirements: PaymentRequirements = serde_json::from_value(entry.clone()).ok()?;
    let method = requirements.extra.more.get("assetTransferMethod");
    let by_eip3009 = method.is_none_or(|method| method.is_null() || method == "eip3009");
    let usable = by_eip3009 && requirements.max_timeout_seconds > 0;
    usable.then(|| Choice {
        requirements,
        accepted: entry.clone(),
    })
}

/// Reads the value of PAYMENT-RESPONSE.
pub fn decode_settlement(header: &str) -> Option<SettleResponse> {
    serde_json::from_value(decoded(header).ok()?).ok()
}

fn decoded(header: &str) -> Result<Value, String> {
    if header.len() > HEADER_BYTES_MAX {
        return Err("the header is too long".to_owned());
    }
    let bytes = encoding::decode(header.trim()).ok_or("the header is not base64")?;
    strict::parse(&bytes).map_err(|failure| failure.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::x402::vectors;

    const NOW: UnixSeconds = UnixSeconds(1_795_248_000);

    fn entry(amount: &str) -> Value {
        json!({"scheme": "exact", "network": "eip155:8453", "amount": amount,
            "asset": "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
            "payTo": "0x90F79bf6EB2c4f870365E785982E1f101E93b906", "maxTimeoutSeconds": 300,
            "extra": {"name": "USD Coin", "version": "2"}})
    }

    fn challenge(accepts: Value) -> ReceivedChallenge {
        let document = json!({"x402Version": 2, "error": "pay", "accepts": accepts,
            "resource": {"url": "https://api.example.com/a", "odd": true},
            "extensions": {"payment-identifier": {"info": {"required": false}, "schema": {}}}});
        ReceivedChallenge::decode(&encoding::encode(document.to_string().as_bytes()))
            .expect("a challenge")
    }

    fn chosen(accepts: Value, max: u64) -> Result<u64, PayerError> {
        challenge(accepts)
            .choose(Amount::from_units(max), &usdc())
            .map(|choice| choice.requirements.amount.units())
    }

    /// A mistyped address would have another checksum.
    #[test]
    fn the_known_tokens_carry_their_checksum() {
        for (network, text) in USDC {
            let address = Address::parse(text).expect(text);
            assert_eq!(address.to_string(), text, "{network}");
        }
        assert_eq!(usdc().len(), USDC.len());
    }

    #[test]
    fn the_cheapest_payable_offer_within_the_limit_is_chosen() {
        let solana = json!({"scheme": "exact", "network": "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
            "amount": "1", "asset": "EPjF", "payTo": "x", "maxTimeoutSeconds": 60, "extra": {}});
        let mut permit2 = entry("2");
        permit2["extra"]["assetTransferMethod"] = json!("permit2");
        let mut other_token = entry("3");
        other_token["asset"] = json!("0x0000000000000000000000000000000000000001");
        let mut other_network = entry("4");
        other_network["network"] = json!("eip155:1");
        let mut without_domain = entry("5");
        without_domain["extra"] = json!({});
        let upto = json!({"scheme": "upto"});
        let unpayable = [
            solana,
            permit2,
            other_token,
            other_network,
            without_domain,
            upto,
        ];
        assert_eq!(
            chosen(json!(unpayable), 10),
            Err(PayerError::NothingPayable)
        );
        assert_eq!(chosen(json!([]), 10), Err(PayerError::NothingPayable));

        let mut named = entry("20000");
        named["extra"]["assetTransferMethod"] = json!("eip3009");
        let mut all = unpayable.to_vec();
        all.extend([entry("30000"), named]);
        assert_eq!(chosen(json!(all), 20_000), Ok(20_000));
        assert_eq!(
            chosen(json!(all), 19_999),
            Err(PayerError::TooDear {
                price: Amount::from_units(20_000),
                max: Amount::from_units(19_999)
            })
        );
        for amount in [
            json!(1),
            json!("-1"),
            json!("1e3"),
            json!("99999999999999999999"),
        ] {
            let mut odd = entry("1");
            odd["amount"] = amount;
            assert_eq!(
                chosen(json!([odd]), u64::MAX),
                Err(PayerError::NothingPayable)
            );
        }
    }

    /// The same arguments as another library's give the same header, byte for byte.
    #[test]
    fn the_header_is_that_of_the_vectors() {
        for payment in vectors::all().payments {
            let sent = &payment.payment_payload;
            let document = json!({"x402Version": 2, "resource": sent["resource"], "accepts": [sent["accepted"]]});
            let challenge =
                ReceivedChallenge::decode(&encoding::encode(document.to_string().as_bytes()))
                    .expect("a challenge");
            let mut choice = challenge
                .choose(Amount::from_units(1_000_000), &usdc())
                .expect("payable");
            let key = SecretKey::parse(&payment.private_key).expect("a key");
            // We sign from zero on; the vector with an earlier limit cannot be ours.
            if payment.authorization.valid_after == 0 {
                choice.requirements.max_timeout_seconds = 300;
                let now = UnixSeconds(4_102_444_800 - 300);
                let signed = challenge.sign(&choice, &key, now, payment.authorization.nonce, None);
                assert_eq!(signed.header, payment.payment_signature_header);
            }
        }
    }

    #[test]
    fn a_payment_echoes_the_offer_and_the_extensions() {
        let mut offered = entry("30000");
        offered["maxTimeoutSeconds"] = json!(86_400);
        offered["extra"]["tier"] = json!("fresh");
        let challenge = challenge(json!([offered]));
        assert_eq!(challenge.error.as_deref(), Some("pay"));
        let choice = challenge
            .choose(Amount::from_units(30_000), &usdc())
            .expect("payable");
        let key = SecretKey::from_bytes([7; 32]).expect("a key");
        let signed = challenge.sign(
            &choice,
            &key,
            NOW,
            Nonce([9; 32]),
            Some("pay_0123456789abcdef"),
        );
        assert_eq!(signed.payload["accepted"], offered);
        assert_eq!(signed.payload["resource"]["odd"], json!(true));
        assert_eq!(
            signed.payload["extensions"]["payment-identifier"]["info"],
            json!({"required": false, "id": "pay_0123456789abcdef"})
        );
        assert_eq!(signed.authorization.valid_before, u128::from(NOW.0 + 3_600));
        assert_eq!(signed.authorization.from, key.address());
    }

    #[test]
    fn what_is_no_challenge_is_refused() {
        for document in [
            json!({"x402Version": 1, "accepts": []}),
            json!({"x402Version": 2}),
            json!({"x402Version": 2, "accepts": {}}),
            json!([]),
        ] {
            let header = encoding::encode(document.to_string().as_bytes());
            assert!(
                matches!(
                    ReceivedChallenge::decode(&header),
                    Err(PayerError::Challenge(_))
                ),
                "{document}"
            );
        }
        assert!(ReceivedChallenge::decode("?").is_err());
        assert!(ReceivedChallenge::decode(&"A".repeat(HEADER_BYTES_MAX + 4)).is_err());
    }

    #[test]
    fn a_settlement_is_read_from_its_header() {
        let header =
            encoding::encode(br#"{"success":true,"transaction":"0x01","network":"eip155:8453"}"#);
        assert_eq!(
            decode_settlement(&header).map(|settled| (settled.success, settled.transaction)),
            Some((true, "0x01".to_owned()))
        );
        assert_eq!(decode_settlement("e30="), None);
    }
}
