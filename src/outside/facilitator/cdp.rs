//! Tokens for the Coinbase Developer Platform facilitator: a JWT per request, bound to method, host and path, valid for two
//! minutes.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair};
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject;
use serde_json::{Value, json};

use crate::domain::time::UnixSeconds;

const TOKEN_SECONDS: u64 = 120;

/// PKCS#8 up to the octet string that holds a SEC1 key: version 0, id-ecPublicKey, prime256v1. ring reads PKCS#8 only.
const PKCS8_P256: [u8; 24] = [
    0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08,
    0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07,
];

/// A key that signs tokens.
pub(super) struct CdpKey {
    key_id: String,
    signer: Signer,
}

enum Signer {
    Ed25519(Ed25519KeyPair),
    P256(Box<EcdsaKeyPair>, SystemRandom),
}

/// Why a secret is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CdpKeyError {
    KeyId,
    /// Neither 64 bytes in base64 nor PEM.
    Form,
    /// PEM of something else than an EC key of P-256, or without its public half.
    Pem,
    /// The two halves of the Ed25519 key do not belong together.
    Ed25519,
}

impl fmt::Display for CdpKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CdpKeyError::KeyId => "The facilitator's key id is empty",
            CdpKeyError::Form => {
                "The facilitator's secret is neither 64 bytes in base64 nor a key in PEM"
            }
            CdpKeyError::Pem => {
                "The facilitator's secret in PEM is not a P-256 EC key with its public half"
            }
            CdpKeyError::Ed25519 => {
                "The two halves of the facilitator's Ed25519 secret do not belong together"
            }
        })
    }
}

impl std::error::Error for CdpKeyError {}

impl CdpKey {
    pub(super) fn parse(key_id: &str, secret: &str) -> Result<CdpKey, CdpKeyError> {
        if key_id.is_empty() {
            return Err(CdpKeyError::KeyId);
        }
        let signer = if secret.contains("-----BEGIN") {
            p256(secret)?
        } else {
            ed25519(secret)?
        };
        Ok(CdpKey {
            key_id: key_id.to_owned(),
            signer,
        })
    }

    /// The token for one request, `uri` being `METHOD host/path`. `None` when the system gives no random bytes.
    pub(super) fn token(&self, uri: &str, now: UnixSeconds, nonce: [u8; 16]) -> Option<String> {
        let algorithm = match self.signer {
            Signer::Ed25519(_) => "EdDSA",
            Signer::P256(..) => "ES256",
        };
        let header = json!({"alg": algorithm, "kid": self.key_id, "typ": "JWT", "nonce": hex::encode(nonce)});
        let claims = json!({"sub": self.key_id, "iss": "cdp", "nbf": now.0, "iat": now.0,
            "exp": now.plus(TOKEN_SECONDS).0, "uris": [uri]});
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(&header), part(&claims));
        let signature = match &self.signer {
            Signer::Ed25519(pair) => pair.sign(signed.as_bytes()),
            Signer::P256(pair, random) => pair.sign(random, signed.as_bytes()).ok()?,
        };
        Some(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}

/// 32 bytes of seed and 32 of public key.
fn ed25519(secret: &str) -> Result<Signer, CdpKeyError> {
    let bytes = STANDARD
        .decode(secret.trim())
        .map_err(|_| CdpKeyError::Form)?;
    let (seed, public) = bytes
        .split_at_checked(32)
        .filter(|(_, public)| public.len() == 32)
        .ok_or(CdpKeyError::Form)?;
    Ed25519KeyPair::from_seed_and_public_key(seed, public)
        .map(Signer::Ed25519)
        .map_err(|_| CdpKeyError::Ed25519)
}

/// PKCS#8 or SEC1. Environment files often hold the line breaks of PEM as `\n`.
fn p256(secret: &str) -> Result<Signer, CdpKeyError> {
    let pem = secret.replace("\\n", "\n");
    let key = PrivateKeyDer::from_pem_slice(pem.as_bytes()).map_err(|_| CdpKeyError::Pem)?;
    let pkcs8 = match &key {
        PrivateKeyDer::Pkcs8(key) => key.secret_pkcs8_der().to_vec(),
        PrivateKeyDer::Sec1(key) => {
            let mut parts = PKCS8_P256.to_vec();
            parts.extend(der(0x04, key.secret_sec1_der()).ok_or(CdpKeyError::Pem)?);
            der(0x30, &parts).ok_or(CdpKeyError::Pem)?
        }
        _ => return Err(CdpKeyError::Pem),
    };
    let random = SystemRandom::new();
    EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &pkcs8, &random)
        .map(|pair| Signer::P256(Box::new(pair), random))
        .map_err(|_| CdpKeyError::Pem)
}

/// A DER element of up to 65,535 bytes.
fn der(tag: u8, content: &[u8]) -> Option<Vec<u8>> {
    let [high, low] = u16::try_from(content.len()).ok()?.to_be_bytes();
    let mut element = match (high, low) {
        (0, 0..=127) => vec![tag, low],
        (0, _) => vec![tag, 0x81, low],
        _ => vec![tag, 0x82, high, low],
    };
    element.extend_from_slice(content);
    Some(element)
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, ED25519, KeyPair, UnparsedPublicKey};

    use super::*;

    const NOW: UnixSeconds = UnixSeconds(1_795_248_000);
    const URI: &str = "POST api.cdp.coinbase.com/platform/v2/x402/verify";

    fn json_part(text: &str) -> Value {
        let bytes = URL_SAFE_NO_PAD.decode(text).expect("base64url");
        serde_json::from_slice(&bytes).expect("JSON")
    }

    fn check(key: &CdpKey, algorithm: &str, public: &UnparsedPublicKey<&[u8]>) {
        let token = key.token(URI, NOW, [7; 16]).expect("a token");
        let parts: Vec<&str> = token.split('.').collect();
        let [header, claims, signature] = parts[..] else {
            panic!("three parts: {token}");
        };
        assert_eq!(
            json_part(header),
            json!({"alg": algorithm, "kid": "key-1", "typ": "JWT", "nonce": "07".repeat(16)})
        );
        assert_eq!(
            json_part(claims),
            json!({"sub": "key-1", "iss": "cdp", "nbf": NOW.0, "iat": NOW.0, "exp": NOW.0 + 120, "uris": [URI]})
        );
        let signed = format!("{header}.{claims}");
        let signature = URL_SAFE_NO_PAD.decode(signature).expect("base64url");
        assert!(public.verify(signed.as_bytes(), &signature).is_ok());
        assert!(public.verify(b"something else", &signature).is_err());
    }

    #[test]
    fn ed25519_tokens_verify() {
        let seed = [3; 32];
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed).expect("a key");
        let public = pair.public_key().as_ref();
        let secret = STANDARD.encode([&seed[..], public].concat());
        let key = CdpKey::parse("key-1", &format!("{secret}\n")).expect("a key");
        check(&key, "EdDSA", &UnparsedPublicKey::new(&ED25519, public));
    }

    /// A fresh P-256 key as PKCS#8, its SEC1 part, and its public point.
    fn p256_key() -> (Vec<u8>, Vec<u8>, Vec<u8>) {
        let random = SystemRandom::new();
        let document =
            EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).expect("a key");
        let pkcs8 = document.as_ref().to_vec();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &pkcs8, &random)
            .expect("a key");
        // SEQUENCE header (3), the prefix, OCTET STRING header (2): the rest is SEC1.
        let sec1 = pkcs8[3 + PKCS8_P256.len() + 2..].to_vec();
        (pkcs8, sec1, pair.public_key().as_ref().to_vec())
    }

    fn pem(label: &str, der: &[u8]) -> String {
        let text = STANDARD.encode(der);
        let lines: Vec<&str> = text
            .as_bytes()
            .chunks(64)
            .map(|line| std::str::from_utf8(line).expect("ASCII"))
            .collect();
        format!(
            "-----BEGIN {label}-----\n{}\n-----END {label}-----\n",
            lines.join("\n")
        )
    }

    #[test]
    fn es256_tokens_verify_for_both_forms_of_pem() {
        let (pkcs8, sec1, public) = p256_key();
        let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, &public[..]);
        for text in [pem("PRIVATE KEY", &pkcs8), pem("EC PRIVATE KEY", &sec1)] {
            for spelling in [text.clone(), text.replace('\n', "\\n")] {
                let key = CdpKey::parse("key-1", &spelling).expect(&spelling);
                check(&key, "ES256", &public);
            }
        }
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let wrong_half = STANDARD.encode([5; 64]);
        for (key_id, secret, expected) in [
            ("", "x", CdpKeyError::KeyId),
            ("key-1", "", CdpKeyError::Form),
            ("key-1", "AAAA", CdpKeyError::Form),
            ("key-1", "not base64", CdpKeyError::Form),
            ("key-1", &wrong_half, CdpKeyError::Ed25519),
            ("key-1", "-----BEGIN nothing", CdpKeyError::Pem),
            ("key-1", &pem("PRIVATE KEY", &[1, 2, 3]), CdpKeyError::Pem),
            (
                "key-1",
                &pem("RSA PRIVATE KEY", &[1, 2, 3]),
                CdpKeyError::Pem,
            ),
        ] {
            let refusal = CdpKey::parse(key_id, secret).err();
            assert_eq!(refusal, Some(expected), "{secret}");
        }
    }
}
