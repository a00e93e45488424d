//! The words of x402 version 2, scheme `exact` on EVM chains: what stands in the three headers, what the signature of
//! EIP-3009 covers, and how a payment is compared with an offer. Pure: the time, keys and random bytes are arguments.
//! It does not know the facilitator, nor what is sold.

pub mod wire;

pub mod challenge;
pub mod offer_receipt;
pub mod payer;
pub mod proof;
pub mod resource;
pub mod sender_proof;
pub mod sign_in;

pub mod abi;
pub mod eip3009;
pub mod encoding;
pub mod json;
pub mod onchain;

/// Name of the header that carries the challenge on a 402 (transports-v2/http).
pub const PAYMENT_REQUIRED: &str = "PAYMENT-REQUIRED";
/// Name of the header that carries a buyer's payment.
pub const PAYMENT_SIGNATURE: &str = "PAYMENT-SIGNATURE";
/// Name of the header that carries the settlement's outcome.
pub const PAYMENT_RESPONSE: &str = "PAYMENT-RESPONSE";

#[cfg(test)]
pub(crate) mod vectors;
