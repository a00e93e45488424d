//! Interprets a facilitator's reply. Each field is compared with the request, and an inconsistent reply is an error, not a
//! verdict.

use hyper::body::Bytes;
use serde::de::DeserializeOwned;

use crate::domain::amount::Amount;
use crate::domain::evm::{Address, Network, TransactionHash};
use crate::outside::facilitator::outcome::{
    Attempt, CallError, SettleDoubt, Settlement, Verification,
};
use crate::x402::wire::{SettleResponse, Supported, VerifyResponse};

/// A whole reply, bounded, of any status.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) body: Bytes,
}

/// What a settlement must say.
#[derive(Clone, Debug)]
pub(super) struct Expected {
    pub(super) payer: Address,
    pub(super) network: Network,
    pub(super) amount: Amount,
}

/// Longest reason that is passed on.
const REASON_CHARS_MAX: usize = 80;

/// The reasons that prove that the money has not moved: each is found before a transaction is sent (x402 v2, "Error
/// codes", and what facilitators really answer). Every other reason, known or not, leaves the outcome open: the nonce
/// may have been used for us, or a transaction tried. With a chain configured even these are held against it.
const DEFINITE: [&str; 35] = [
    "asset_not_deployed_contract",
    "insufficient_balance",
    "insufficient_funds",
    "invalid_exact_evm_authorization_value",
    "invalid_exact_evm_eip3009_not_supported",
    "invalid_exact_evm_failed_to_parse_signature",
    "invalid_exact_evm_insufficient_balance",
    "invalid_exact_evm_missing_eip712_domain",
    "invalid_exact_evm_network_mismatch",
    "invalid_exact_evm_payload_authorization_from_address_kyt",
    "invalid_exact_evm_payload_authorization_to_address_kyt",
    "invalid_exact_evm_payload_authorization_typed_data_message",
    "invalid_exact_evm_payload_authorization_valid_after",
    "invalid_exact_evm_payload_authorization_valid_before",
    "invalid_exact_evm_payload_authorization_value",
    "invalid_exact_evm_payload_authorization_value_mismatch",
    "invalid_exact_evm_payload_recipient_mismatch",
    "invalid_exact_evm_payload_signature",
    "invalid_exact_evm_payload_signature_address",
    "invalid_exact_evm_recipient_mismatch",
    "invalid_exact_evm_scheme",
    "invalid_exact_evm_signature",
    "invalid_exact_evm_token_name_mismatch",
    "invalid_exact_evm_token_version_mismatch",
    "invalid_network",
    "invalid_payload",
    "invalid_payment_requirements",
    "invalid_request",
    "invalid_scheme",
    "invalid_signature",
    "invalid_x402_version",
    "unsupported_network",
    "unsupported_payload_type",
    "unsupported_scheme",
    "unsupported_version",
];

/// The reason if it is a machine word that may be shown to anyone.
fn machine_word(reason: Option<&str>) -> Option<&str> {
    reason.filter(|text| {
        (1..=REASON_CHARS_MAX).contains(&text.len())
            && text
                .bytes()
                .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
    })
}

/// The reason for showing: facilitators put addresses of nodes and stack traces into theirs.
fn public_reason(reason: Option<&str>) -> String {
    machine_word(reason).unwrap_or("payment_invalid").to_owned()
}

/// Reads the answer that a status may carry.
fn answer<T: DeserializeOwned>(reply: &Reply) -> Result<T, CallError> {
    match reply.status {
        401 | 403 => Err(CallError::Denied(reply.status)),
        429 => Err(CallError::Busy),
        300..=399 => Err(CallError::Redirected(reply.status)),
        status => serde_json::from_slice(&reply.body).map_err(|failure| {
            if is_good(status) {
                CallError::Garbled(failure.to_string())
            } else {
                CallError::Status(status)
            }
        }),
    }
}

fn is_good(status: u16) -> bool {
    (200..300).contains(&status)
}

/// Whether the payer is the one we asked about, or not named.
fn is_payer(named: Option<&str>, payer: Address) -> bool {
    named.is_none_or(|text| Address::parse(text) == Some(payer))
}

fn is_said(reason: Option<&str>) -> bool {
    reason.is_some_and(|text| !text.is_empty())
}

/// What /verify says of a payment of `payer`.
pub(super) fn verification(reply: &Reply, payer: Address) -> Result<Verification, CallError> {
    let response: VerifyResponse = answer(reply)?;
    let reason = response.invalid_reason.as_deref();
    if response.is_valid {
        if !is_good(reply.status) {
            return Err(CallError::Contradiction("isValid under a failing status"));
        }
        if is_said(reason) {
            return Err(CallError::Contradiction("isValid with an invalidReason"));
        }
        if !is_payer(response.payer.as_deref(), payer) {
            return Err(CallError::Contradiction("isValid for another payer"));
        }
        return Ok(Verification::Valid { payer });
    }
    if reply.status >= 500 && !is_said(reason) {
        return Err(CallError::Status(reply.status));
    }
    match machine_word(reason) {
        Some(word) if word.starts_with("unexpected_") => Err(CallError::Faulty(word.to_owned())),
        _ => Ok(Verification::Invalid {
            reason: public_reason(reason),
        }),
    }
}

/// The outcome that /settle tells.
pub(super) fn settlement(reply: &Reply, expected: &Expected, attempt: Attempt) -> Settlement {
    let response: SettleResponse = match answer(reply) {
        Ok(response) => response,
        Err(failure) => {
            return Settlement::Unknown {
                why: SettleDoubt::Call(failure),
                transaction: None,
            };
        }
    };
    let transaction = transaction(&response);
    let unknown = |why| Settlement::Unknown { why, transaction };
    if let Some(lie) = contradiction(&response, reply.status, expected) {
        return unknown(SettleDoubt::Call(CallError::Contradiction(lie)));
    }
    if let (true, Some(transaction)) = (response.success, transaction) {
        return Settlement::Success { transaction };
    }
    let reason = response.error_reason.as_deref();
    if attempt == Attempt::First && is_definite(reply.status, &response) {
        return Settlement::Failed {
            reason: public_reason(reason),
        };
    }
    unknown(SettleDoubt::Indefinite {
        status: reply.status,
        reason: public_reason(reason),
    })
}

/// What in the answer cannot be true.
fn contradiction(
    response: &SettleResponse,
    status: u16,
    expected: &Expected,
) -> Option<&'static str> {
    let network_is_given = !response.network.is_empty();
    if !is_payer(response.payer.as_deref(), expected.payer) {
        return Some("a settlement of another payer");
    }
    if (network_is_given || response.success)
        && Network::parse(&response.network) != Some(expected.network)
    {
        return Some("a settlement on another network");
    }
    if !response.success {
        return None;
    }
    if !is_good(status) {
        Some("success under a failing status")
    } else if transaction(response).is_none() {
        Some("success without a transaction")
    } else if is_said(response.error_reason.as_deref()) {
        Some("success with an errorReason")
    } else if response
        .amount
        .as_deref()
        .is_some_and(|amount| Amount::parse_units(amount) != Some(expected.amount))
    {
        Some("success with another amount")
    } else {
        None
    }
}

/// The transaction that a reply names. Zeros are none.
fn transaction(response: &SettleResponse) -> Option<TransactionHash> {
    TransactionHash::parse(&response.transaction).filter(|hash| *hash != TransactionHash([0; 32]))
}

/// Whether a first settle's failure certainly left the money where it was: no transaction, a reason that proves it, and
/// not a server's error, which is what a lost outcome looks like too.
fn is_definite(status: u16, response: &SettleResponse) -> bool {
    let reason = machine_word(response.error_reason.as_deref());
    status < 500
        && response.transaction.is_empty()
        && reason.is_some_and(|word| DEFINITE.contains(&word))
}

/// What /supported lists.
pub(super) fn supported(reply: &Reply) -> Result<Supported, CallError> {
    if !is_good(reply.status) && !matches!(reply.status, 300..=399 | 401 | 403 | 429) {
        return Err(CallError::Status(reply.status));
    }
    answer(reply)
}
