//! Offers and receipts in the extension's other format, EIP-712: their digests, from the payload as it was sent. Their
//! domain names no contract, and its chain is 1 whatever the network is.

use serde_json::Value;

use crate::domain::keccak::keccak256;
use crate::x402::abi::number_word;
use crate::x402::eip3009::Digest;

const DOMAIN_TYPE: &[u8] = b"EIP712Domain(string name,string version,uint256 chainId)";
const CHAIN: u128 = 1;

/// What is signed: the name of its domain, its type, and the type's members.
pub(super) struct Kind {
    domain: &'static str,
    signature: &'static str,
    members: &'static [Member],
}

enum Member {
    Text(&'static str),
    Number(&'static str),
}

use Member::{Number, Text};

pub(super) const OFFER: Kind = Kind {
    domain: "x402 offer",
    signature: "Offer(uint256 version,string resourceUrl,string scheme,string network,string asset,string payTo,\
                string amount,uint256 validUntil)",
    members: &[
        Number("version"),
        Text("resourceUrl"),
        Text("scheme"),
        Text("network"),
        Text("asset"),
        Text("payTo"),
        Text("amount"),
        Number("validUntil"),
    ],
};

pub(super) const RECEIPT: Kind = Kind {
    domain: "x402 receipt",
    signature: "Receipt(uint256 version,string network,string resourceUrl,string payer,uint256 issuedAt,\
                string transaction)",
    members: &[
        Number("version"),
        Text("network"),
        Text("resourceUrl"),
        Text("payer"),
        Number("issuedAt"),
        Text("transaction"),
    ],
};

/// `None` when a member is missing or of another kind.
pub(super) fn digest(kind: &Kind, payload: &Value) -> Option<Digest> {
    let mut members = keccak256(&[kind.signature.as_bytes()]).to_vec();
    for member in kind.members {
        let word = match member {
            Text(name) => keccak256(&[payload[*name].as_str()?.as_bytes()]),
            Number(name) => number_word(payload[*name].as_u64()?.into()),
        };
        members.extend_from_slice(&word);
    }
    let domain = keccak256(&[
        &keccak256(&[DOMAIN_TYPE]),
        &keccak256(&[kind.domain.as_bytes()]),
        &keccak256(&[b"1"]),
        &number_word(CHAIN),
    ]);
    Some(Digest(keccak256(&[
        b"\x19\x01",
        &domain,
        &keccak256(&[&members]),
    ])))
}
