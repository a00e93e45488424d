//! The embedded facilitator: real checks of EIP-3009 payments with test funds, over the real protocol, so that demo and
//! tests use the service's own client. Pure: bytes and time in, status and bytes out. No chain, and no state across
//! restarts.

pub mod ledger;

use serde::Deserialize;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::domain::time::UnixSeconds;
use crate::sandbox::ledger::Ledger;
use crate::x402::proof::PaymentProof;
use crate::x402::wire::{
    PaymentRequirements, SettleResponse, Supported, SupportedKind, VerifyResponse, Version2,
};

/// Longest request body in bytes.
pub const BODY_BYTES_MAX: usize = 64 * 1024;

/// What goes back over HTTP: the status and a JSON body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub json: Vec<u8>,
}

/// The body of /verify and /settle.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a> {
    #[serde(rename = "x402Version")]
    _version: Version2,
    #[serde(borrow)]
    payment_payload: &'a RawValue,
    payment_requirements: Value,
}

impl Ledger {
    /// Answers one request. `path` is what follows the facilitator's base address.
    pub fn answer(&mut self, method: &str, path: &str, body: &[u8], now: UnixSeconds) -> Answer {
        match (method, path) {
            ("GET", "/supported") => answer(200, &self.supported()),
            ("POST", "/verify") => self.answer_verify(body, now),
            ("POST", "/settle") => self.answer_settle(body, now),
            (_, "/supported" | "/verify" | "/settle") => {
                answer(405, &json!({"error": "method not allowed"}))
            }
            _ => answer(404, &json!({"error": "not found"})),
        }
    }

    fn answer_verify(&self, body: &[u8], now: UnixSeconds) -> Answer {
        let (status, payer, outcome) = match read(body) {
            Ok((proof, requirements)) => (
                200,
                Some(proof.from().to_string()),
                self.verify(&proof, &requirements, now),
            ),
            Err(reason) => (400, None, Err(reason)),
        };
        let response = VerifyResponse {
            is_valid: outcome.is_ok(),
            invalid_reason: outcome.err().map(ToOwned::to_owned),
            payer,
        };
        answer(status, &response)
    }

    fn answer_settle(&mut self, body: &[u8], now: UnixSeconds) -> Answer {
        let mut response = SettleResponse {
            network: self.network().to_string(),
            ..SettleResponse::default()
        };
        let (status, outcome) = match read(body) {
            Ok((proof, requirements)) => {
                response.payer = Some(proof.from().to_string());
                (200, self.settle(&proof, &requirements, now))
            }
            Err(reason) => (400, Err(reason)),
        };
        match outcome {
            Ok(transaction) => {
                response.success = true;
                response.transaction = transaction.to_string();
            }
            Err(reason) => response.error_reason = Some(reason.to_owned()),
        }
        answer(status, &response)
    }

    fn supported(&self) -> Supported {
        Supported {
            kinds: vec![SupportedKind {
                x402_version: 2,
                scheme: "exact".to_owned(),
                network: self.network().to_string(),
            }],
            extensions: Vec::new(),
            signers: Map::new(),
        }
    }
}

fn answer(status: u16, body: &impl Serialize) -> Answer {
    Answer {
        status,
        json: serde_json::to_vec(body).expect("strings and numbers always serialize"),
    }
}

/// The payment and the requirements of a request, or the reason for refusing it.
fn read(body: &[u8]) -> Result<(PaymentProof, PaymentRequirements), &'static str> {
    if body.len() > BODY_BYTES_MAX {
        return Err("invalid_payload");
    }
    let request: Request<'_> = serde_json::from_slice(body).map_err(|_| "invalid_payload")?;
    let proof = PaymentProof::from_json(request.payment_payload.get().as_bytes())
        .map_err(|refusal| refusal.reason())?;
    let named = |key: &str| {
        let pointer = format!("/extra/{key}");
        let found = request.payment_requirements.pointer(&pointer);
        found.is_some_and(Value::is_string)
    };
    if !named("name") || !named("version") {
        return Err("invalid_exact_evm_missing_eip712_domain");
    }
    let requirements = serde_json::from_value(request.payment_requirements)
        .map_err(|_| "invalid_payment_requirements")?;
    Ok((proof, requirements))
}

#[cfg(test)]
mod tests;
