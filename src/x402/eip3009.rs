//! The signature of `TransferWithAuthorization` (EIP-3009) over typed data (EIP-712): digest, recovery, signing.
//! Only signatures made by a key can be checked here; a contract wallet's (EIP-1271) needs the chain, so a seller never
//! takes recovery for a verdict.

use std::fmt;

use secp256k1::ecdsa::{RecoverableSignature, RecoveryId};
use secp256k1::{Message, PublicKey};

use crate::domain::evm::{Address, Signature};
use crate::domain::keccak::keccak256;
use crate::x402::abi::{address_word, number_word};
use crate::x402::wire::{Authorization, PaymentRequirements};

const DOMAIN_TYPE: &[u8] =
    b"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)";
const AUTHORIZATION_TYPE: &[u8] =
    b"TransferWithAuthorization(address from,address to,uint256 value,\
uint256 validAfter,uint256 validBefore,bytes32 nonce)";

/// Half of the curve's order, rounded down: `s` above it is the malleable twin that token contracts refuse.
const S_MAX: [u8; 32] = [
    0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0x5d, 0x57, 0x6e, 0x73, 0x57, 0xa4, 0x50, 0x1d, 0xdf, 0xe9, 0x2f, 0x46, 0x68, 0x1b, 0x20, 0xa0,
];

/// What is signed: a hash that binds the words to one token on one network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(pub [u8; 32]);

/// Why no address comes out of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureError {
    /// Not 65 bytes: a contract wallet's, or none at all.
    Length(usize),
    /// The last byte is none of 0, 1, 27, 28.
    RecoveryByte(u8),
    /// `s` is in the upper half of the order.
    HighS,
    /// No point of the curve fits.
    NoKey,
}

impl fmt::Display for SignatureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SignatureError::Length(bytes) => write!(f, "The signature has {bytes} bytes, not 65"),
            SignatureError::RecoveryByte(byte) => {
                write!(
                    f,
                    "The signature's last byte is {byte}, none of 0, 1, 27 and 28"
                )
            }
            SignatureError::HighS => {
                f.write_str("The signature's s is in the upper half of the order")
            }
            SignatureError::NoKey => f.write_str("No key can have made the signature"),
        }
    }
}

impl std::error::Error for SignatureError {}

/// The EIP-712 domain of a token contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domain {
    pub name: String,
    pub version: String,
    pub chain_id: u64,
    pub verifying_contract: Address,
}

impl Domain {
    /// The domain that these requirements name: `extra.name`, `extra.version`, the network's chain id, the asset.
    pub fn of(requirements: &PaymentRequirements) -> Self {
        Domain {
            name: requirements.extra.name.clone(),
            version: requirements.extra.version.clone(),
            chain_id: requirements.network.0,
            verifying_contract: requirements.asset,
        }
    }

    pub fn separator(&self) -> [u8; 32] {
        keccak256(&[
            &keccak256(&[DOMAIN_TYPE]),
            &keccak256(&[self.name.as_bytes()]),
            &keccak256(&[self.version.as_bytes()]),
            &number_word(u128::from(self.chain_id)),
            &address_word(self.verifying_contract),
        ])
    }

    pub fn digest(&self, authorization: &Authorization) -> Digest {
        Digest(keccak256(&[
            b"\x19\x01",
            &self.separator(),
            &struct_hash(authorization),
        ]))
    }
}

/// EIP-712 `hashStruct` of the authorization.
pub fn struct_hash(authorization: &Authorization) -> [u8; 32] {
    keccak256(&[
        &keccak256(&[AUTHORIZATION_TYPE]),
        &address_word(authorization.from),
        &address_word(authorization.to),
        &number_word(authorization.value),
        &number_word(authorization.valid_after),
        &number_word(authorization.valid_before),
        &authorization.nonce.0,
    ])
}

/// The address whose key signed `digest`, by the rules of USDC's contract: 65 bytes, v of 0, 1, 27 or 28, low s.
pub fn recover(digest: Digest, signature: &Signature) -> Result<Address, SignatureError> {
    let bytes: &[u8; 65] = signature
        .0
        .as_slice()
        .try_into()
        .map_err(|_| SignatureError::Length(signature.0.len()))?;
    let (compact, v) = (&bytes[..64], bytes[64]);
    let recovery = match v {
        0 | 27 => RecoveryId::Zero,
        1 | 28 => RecoveryId::One,
        other => return Err(SignatureError::RecoveryByte(other)),
    };
    if compact[32..] > S_MAX[..] {
        return Err(SignatureError::HighS);
    }
    let key = RecoverableSignature::from_compact(compact, recovery)
        .and_then(|parsed| parsed.recover(Message::from_digest(digest.0)))
        .map_err(|_| SignatureError::NoKey)?;
    Ok(address_of_key(&key))
}

fn address_of_key(key: &PublicKey) -> Address {
    let point = key.serialize_uncompressed();
    let hash = keccak256(&[&point[1..]]);
    let mut bytes = [0; 20];
    bytes.copy_from_slice(&hash[12..]);
    Address(bytes)
}

/// A buyer's secret key. Never printed.
#[derive(Clone)]
pub struct SecretKey(secp256k1::SecretKey);

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(***)")
    }
}

impl SecretKey {
    /// `None` for zero and for numbers from the curve's order upward.
    pub fn from_bytes(bytes: [u8; 32]) -> Option<Self> {
        secp256k1::SecretKey::from_secret_bytes(bytes)
            .ok()
            .map(SecretKey)
    }

    /// 64 hex digits, with or without `0x`, white space around them ignored: the form of key files.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let mut bytes = [0; 32];
        hex::decode_to_slice(text.strip_prefix("0x").unwrap_or(text), &mut bytes).ok()?;
        SecretKey::from_bytes(bytes)
    }

    pub fn address(&self) -> Address {
        address_of_key(&self.0.public_key())
    }

    /// 65 bytes r, s, v with v of 27 or 28. Deterministic (RFC 6979), low s.
    pub fn sign(&self, digest: Digest) -> Signature {
        let message = Message::from_digest(digest.0);
        let (recovery, compact) =
            RecoverableSignature::sign_ecdsa_recoverable(message, &self.0).serialize_compact();
        let mut bytes = compact.to_vec();
        bytes.push(27 + recovery.to_u8());
        Signature(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::evm::Nonce;
    use crate::x402::vectors;

    #[test]
    fn every_vector_agrees_byte_for_byte() {
        let all = vectors::all();
        assert_eq!(all.payments.len(), 4);
        for payment in &all.payments {
            let authorization = &payment.authorization;
            assert_eq!(
                hex::encode(all.domain.separator()),
                all.domain_separator.trim_start_matches("0x")
            );
            assert_eq!(
                format!("0x{}", hex::encode(struct_hash(authorization))),
                payment.struct_hash
            );
            let digest = all.domain.digest(authorization);
            assert_eq!(format!("0x{}", hex::encode(digest.0)), payment.digest);
            let key = SecretKey::parse(&payment.private_key).expect("a key of the vectors");
            assert_eq!(key.address(), authorization.from);
            assert_eq!(key.sign(digest).to_string(), payment.signature);
            let signature = Signature::parse(&payment.signature).expect("hex");
            assert_eq!(recover(digest, &signature), Ok(authorization.from));
        }
    }

    #[test]
    fn the_type_of_the_authorization_has_the_published_hash() {
        assert_eq!(
            hex::encode(keccak256(&[AUTHORIZATION_TYPE])),
            "7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a2267"
        );
    }

    /// The example payment of the protocol's specification: USDC on Base Sepolia.
    #[test]
    fn the_published_example_recovers_to_its_payer() {
        let address = |text| Address::parse(text).expect("an address");
        let domain = Domain {
            name: "USDC".to_owned(),
            version: "2".to_owned(),
            chain_id: 84_532,
            verifying_contract: address("0x036CbD53842c5426634e7929541eC2318f3dCF7e"),
        };
        let authorization = Authorization {
            from: address("0x857b06519E91e3A54538791bDbb0E22373e36b66"),
            to: address("0x209693Bc6afc0C5328bA36FaF03C514EF312287C"),
            value: 10_000,
            valid_after: 1_740_672_089,
            valid_before: 1_740_672_154,
            nonce: Nonce::parse(
                "0xf3746613c2d920b5fdabc0856f2aeb2d4f88ee6037b8cc5d04a71a4462f13480",
            )
            .expect("a nonce"),
        };
        let signature = Signature::parse(concat!(
            "0x2d6a7588d6acca505cbf0d9a4a227e0c52c6c34008c8e8986a1283259764173608",
            "a2ce6496642e377d6da8dbbf5836e9bd15092f9ecab05ded3d6293af148b571c"
        ))
        .expect("hex");
        let digest = domain.digest(&authorization);
        assert_eq!(
            hex::encode(digest.0),
            "f256992871671abcb27ff92885a7afa46218724e5fc0bac35d050115aa1d22e6"
        );
        assert_eq!(recover(digest, &signature), Ok(authorization.from));
        let other_name = Domain {
            name: "USD Coin".to_owned(),
            ..domain
        };
        assert_eq!(
            recover(other_name.digest(&authorization), &signature),
            Ok(address("0xED07B31Fa76779c7A25BA712fB1bFBECefa2ad7e"))
        );
    }

    /// One authorization must not have a second accepted signature besides v 0/1 for 27/28.
    #[test]
    fn other_forms_of_a_good_signature_are_refused() {
        let all = vectors::all();
        let payment = &all.payments[0];
        let digest = all.domain.digest(&payment.authorization);
        let good = Signature::parse(&payment.signature).expect("hex").0;
        let with_v = |v: u8| {
            let mut bytes = good.clone();
            bytes[64] = v;
            Signature(bytes)
        };
        assert_eq!(recover(digest, &with_v(1)), Ok(payment.authorization.from));
        assert_ne!(recover(digest, &with_v(0)), Ok(payment.authorization.from));
        for v in [2, 3, 26, 29, 35, 128, 255] {
            assert_eq!(
                recover(digest, &with_v(v)),
                Err(SignatureError::RecoveryByte(v))
            );
        }
        let twin = Signature(high_s_twin(&good));
        assert_eq!(recover(digest, &twin), Err(SignatureError::HighS));
        for length in [0, 64, 66, 130] {
            let mut bytes = good.clone();
            bytes.resize(length, 0);
            assert_eq!(
                recover(digest, &Signature(bytes)),
                Err(SignatureError::Length(length))
            );
        }
        let mut zero = vec![0; 65];
        zero[64] = 27;
        assert_eq!(
            recover(digest, &Signature(zero)),
            Err(SignatureError::NoKey)
        );
    }

    /// n - s with the other v: valid mathematics, refused by the token.
    fn high_s_twin(good: &[u8]) -> Vec<u8> {
        let order = hex::decode("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141")
            .expect("hex");
        let mut twin = good.to_vec();
        let mut borrow = 0i16;
        for index in (0..32).rev() {
            let difference = i16::from(order[index]) - i16::from(good[32 + index]) - borrow;
            borrow = i16::from(difference < 0);
            twin[32 + index] = u8::try_from(difference.rem_euclid(256)).expect("a byte");
        }
        twin[64] = 55 - twin[64];
        twin
    }

    #[test]
    fn keys_out_of_range_are_refused_and_none_is_printed() {
        assert!(SecretKey::from_bytes([0; 32]).is_none());
        assert!(SecretKey::from_bytes([0xff; 32]).is_none());
        assert!(SecretKey::parse("0x01").is_none());
        let key = SecretKey::parse(&format!(" 0x{}\n", "01".repeat(32))).expect("a key");
        assert_eq!(format!("{key:?}"), "SecretKey(***)");
    }
}
