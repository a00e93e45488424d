//! The payments in tests/data/x402_vectors.json, made by two independent wallets' libraries that agree byte for byte.

use serde::Deserialize;

use crate::domain::evm::Address;
use crate::x402::eip3009::Domain;
use crate::x402::wire::Authorization;

pub(crate) struct Vectors {
    pub(crate) domain: Domain,
    pub(crate) domain_separator: String,
    pub(crate) payments: Vec<Payment>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Payment {
    pub(crate) private_key: String,
    pub(crate) authorization: Authorization,
    pub(crate) struct_hash: String,
    pub(crate) digest: String,
    pub(crate) signature: String,
    pub(crate) payment_payload: serde_json::Value,
    pub(crate) payment_signature_header: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    domain: FileDomain,
    domain_separator: String,
    vectors: Vec<Payment>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FileDomain {
    name: String,
    version: String,
    chain_id: u64,
    verifying_contract: Address,
}

pub(crate) fn all() -> Vectors {
    let file: File = serde_json::from_str(include_str!("../../tests/data/x402_vectors.json"))
        .expect("the vectors are in the repository");
    Vectors {
        domain: Domain {
            name: file.domain.name,
            version: file.domain.version,
            chain_id: file.domain.chain_id,
            verifying_contract: file.domain.verifying_contract,
        },
        domain_separator: file.domain_separator,
        payments: file.vectors,
    }
}
