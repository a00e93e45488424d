//! The service's own signature: one Ed25519 key, JWS in compact form with `alg` EdDSA (RFC 7515, RFC 8037), and the
//! two documents by which anybody finds its public half, a key set (RFC 7517) and a `did:web` document. Pure: Ed25519
//! draws nothing, so that the same payload always has the same signature. It does not know what it signs.

pub mod session;
pub mod stamp;

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// Where a `did:web` without a path has its document.
pub const DID_PATH: &str = "/.well-known/did.json";
pub const JWKS_PATH: &str = "/.well-known/jwks.json";

/// Longest JWS that is read, in bytes.
const JWS_BYTES_MAX: usize = 64 * 1024;

/// The secret half, as the operator keeps it. Never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningKey([u8; 32]);

impl SigningKey {
    /// 64 hex digits, as `openssl rand -hex 32` writes them. `None` when they are something else.
    pub fn parse(text: &str) -> Option<SigningKey> {
        let mut seed = [0; 32];
        hex::decode_to_slice(text, &mut seed).ok()?;
        // Nobody draws these; anyone who finds them in place of a key knows everything.
        let is_drawn = seed.iter().any(|byte| *byte != seed[0]);
        is_drawn.then_some(SigningKey(seed))
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// The key at work, under the name that the service's address gives it.
pub struct Signer {
    pair: Ed25519KeyPair,
    did: String,
    kid: String,
    /// The start of every JWS: header and full stop.
    head: String,
    /// Keys that signed before this one: what they have signed stays provable.
    former: Vec<PublicKey>,
}

/// The half that everybody may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicKey(pub [u8; 32]);

impl Signer {
    /// `base_url` names the service: anyone who can answer there can name its keys.
    pub fn new(key: &SigningKey, former: &[PublicKey], base_url: &str) -> Signer {
        let pair = Ed25519KeyPair::from_seed_unchecked(&key.0)
            .expect("a seed of 32 bytes always makes a key");
        let did = did(base_url);
        let kid = kid(&did, &public(&pair));
        let header = json!({"alg": "EdDSA", "kid": kid}).to_string();
        Signer {
            head: format!("{}.", URL_SAFE_NO_PAD.encode(header)),
            pair,
            did,
            kid,
            former: former.to_vec(),
        }
    }

    /// Every key of ours with its name, the one at work first.
    pub fn keys(&self) -> impl Iterator<Item = (String, PublicKey)> {
        std::iter::once(self.public_key())
            .chain(self.former.iter().copied())
            .map(|key| (kid(&self.did, &key), key))
    }

    /// The name of the key: a DID with a fragment that changes with the key.
    pub fn kid(&self) -> &str {
        &self.kid
    }

    /// Who signs: `did:web:` and our host.
    pub fn did(&self) -> &str {
        &self.did
    }

    pub fn public_key(&self) -> PublicKey {
        public(&self.pair)
    }

    /// The payload as a JWS in compact form, which holds it.
    pub fn sign(&self, payload: &[u8]) -> String {
        let mut jws = self.head.clone();
        URL_SAFE_NO_PAD.encode_string(payload, &mut jws);
        let signature = self.pair.sign(jws.as_bytes());
        jws.push('.');
        URL_SAFE_NO_PAD.encode_string(signature, &mut jws);
        jws
    }

    /// `/.well-known/jwks.json`.
    pub fn key_set(&self) -> Value {
        let keys = self.keys().map(|(kid, key)| {
            let mut jwk = key.jwk();
            jwk["kid"] = kid.into();
            jwk["use"] = "sig".into();
            jwk["alg"] = "EdDSA".into();
            jwk
        });
        json!({"keys": keys.collect::<Vec<_>>()})
    }

    /// `/.well-known/did.json`.
    pub fn did_document(&self) -> Value {
        let methods = self.keys().map(|(kid, key)| {
            json!({"id": kid, "type": "JsonWebKey2020", "controller": self.did, "publicKeyJwk": key.jwk()})
        });
        let names: Vec<String> = self.keys().map(|(kid, _)| kid).collect();
        json!({
            "@context": ["https://www.w3.org/ns/did/v1", "https://w3id.org/security/suites/jws-2020/v1"],
            "id": self.did,
            "verificationMethod": methods.collect::<Vec<_>>(),
            "authentication": [self.kid],
            "assertionMethod": names,
        })
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer")
            .field("kid", &self.kid)
            .finish_non_exhaustive()
    }
}

/// The DID of anyone who answers at an address: its scheme and path are no part of it.
pub fn did(base_url: &str) -> String {
    let authority = base_url
        .split_once("://")
        .map_or(base_url, |(_, rest)| rest);
    let end = authority.find(['/', '?', '#']).unwrap_or(authority.len());
    let mut did = String::from("did:web:");
    for byte in authority[..end].bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_') {
            did.push(char::from(byte));
        } else {
            did.push_str(&format!("%{byte:02X}"));
        }
    }
    did
}

fn public(pair: &Ed25519KeyPair) -> PublicKey {
    let mut key = [0; 32];
    key.copy_from_slice(pair.public_key().as_ref());
    PublicKey(key)
}

/// The name of a key: it changes with the key.
fn kid(did: &str, key: &PublicKey) -> String {
    format!("{did}#{}", &thumbprint(key)[..16])
}

/// RFC 7638.
fn thumbprint(key: &PublicKey) -> String {
    let x = URL_SAFE_NO_PAD.encode(key.0);
    let members = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}"#);
    URL_SAFE_NO_PAD.encode(Sha256::digest(members))
}

impl PublicKey {
    pub fn jwk(&self) -> Value {
        json!({"kty": "OKP", "crv": "Ed25519", "x": URL_SAFE_NO_PAD.encode(self.0)})
    }

    /// The member `x` of a JWK: 32 bytes in base64url.
    pub fn parse(x: &str) -> Option<PublicKey> {
        Some(PublicKey(URL_SAFE_NO_PAD.decode(x).ok()?.try_into().ok()?))
    }

    fn from_jwk(jwk: &Value) -> Option<PublicKey> {
        let is_ed25519 = jwk["kty"] == "OKP" && jwk["crv"] == "Ed25519";
        PublicKey::parse(jwk["x"].as_str().filter(|_| is_ed25519)?)
    }

    /// The key of this name in a DID document, if it may sign statements.
    pub fn in_did_document(document: &Value, kid: &str) -> Option<PublicKey> {
        let (did, _) = kid.split_once('#')?;
        let asserts = document["assertionMethod"].as_array()?;
        let methods = document["verificationMethod"].as_array()?;
        if document["id"] != did || !asserts.iter().any(|method| *method == kid) {
            return None;
        }
        let method = methods.iter().find(|method| method["id"] == kid)?;
        PublicKey::from_jwk(&method["publicKeyJwk"])
    }
}

/// Why a JWS proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadJws {
    /// Not three parts of base64url with a header that names EdDSA and a key.
    Form,
    Signature,
}

impl fmt::Display for BadJws {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BadJws::Form => "It is not a JWS in compact form with alg EdDSA and a kid",
            BadJws::Signature => "Its signature is not of the key that it names",
        })
    }
}

impl std::error::Error for BadJws {}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: String,
    /// Extensions that a reader must understand; none is understood here.
    crit: Option<Value>,
}

/// The name of the key that a JWS claims to be signed with. Nothing is proven by it.
pub fn claimed_kid(jws: &str) -> Result<String, BadJws> {
    let parts: Vec<&str> = jws.split('.').take(4).collect();
    let [header, ..] = parts[..] else {
        return Err(BadJws::Form);
    };
    let fits = parts.len() == 3 && jws.len() <= JWS_BYTES_MAX;
    let header = URL_SAFE_NO_PAD.decode(header).ok().filter(|_| fits);
    let header: Header = header
        .and_then(|header| serde_json::from_slice(&header).ok())
        .ok_or(BadJws::Form)?;
    if header.alg != "EdDSA" || header.crit.is_some() {
        return Err(BadJws::Form);
    }
    Ok(header.kid)
}

/// The payload of a JWS that this key has signed.
pub fn verified(jws: &str, key: &PublicKey) -> Result<Vec<u8>, BadJws> {
    claimed_kid(jws)?;
    let (signed, signature) = jws.rsplit_once('.').ok_or(BadJws::Form)?;
    let (_, payload) = signed.split_once('.').ok_or(BadJws::Form)?;
    let decode = |text: &str| URL_SAFE_NO_PAD.decode(text).map_err(|_| BadJws::Form);
    UnparsedPublicKey::new(&ED25519, key.0)
        .verify(signed.as_bytes(), &decode(signature)?)
        .map_err(|_| BadJws::Signature)?;
    decode(payload)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8037, appendix A.
    const SEED: &str = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
    const X: &str = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";

    fn signer(base_url: &str) -> Signer {
        Signer::new(&SigningKey::parse(SEED).expect("a key"), &[], base_url)
    }

    #[test]
    fn the_key_and_its_thumbprint_are_those_of_rfc_8037() {
        let signer = signer("https://api.example.com");
        assert_eq!(signer.public_key().jwk()["x"], X);
        assert_eq!(
            thumbprint(&signer.public_key()),
            "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"
        );
        assert_eq!(signer.kid(), "did:web:api.example.com#kPrK_qmxVWaYVA9w");
    }

    /// RFC 8037, appendix A.4, whose header has no kid: its signature is checked as it stands there.
    #[test]
    fn signatures_are_those_of_rfc_8037() {
        let signed = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc";
        let expected = "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";
        let pair = signer("https://api.example.com").pair;
        assert_eq!(
            URL_SAFE_NO_PAD.encode(pair.sign(signed.as_bytes())),
            expected
        );
    }

    #[test]
    fn a_name_is_the_host_and_port_alone() {
        for (base_url, expected) in [
            ("https://api.example.com", "did:web:api.example.com"),
            ("http://127.0.0.1:4020", "did:web:127.0.0.1%3A4020"),
            ("http://[::1]:4020", "did:web:%5B%3A%3A1%5D%3A4020"),
            (
                "https://api.example.com/v1/x402/access?a#b",
                "did:web:api.example.com",
            ),
        ] {
            assert_eq!(did(base_url), expected);
        }
    }

    #[test]
    fn what_was_signed_reads_back_and_nothing_else_does() {
        let signer = signer("https://api.example.com");
        let jws = signer.sign(br#"{"a":1}"#);
        let key = signer.public_key();
        assert_eq!(claimed_kid(&jws).as_deref(), Ok(signer.kid()));
        assert_eq!(verified(&jws, &key).as_deref(), Ok(&br#"{"a":1}"#[..]));
        assert_eq!(signer.sign(br#"{"a":1}"#), jws, "the same every time");
        let other = SigningKey::parse(&SEED.replace('9', "8")).expect("a key");
        let other = Signer::new(&other, &[], "https://api.example.com");
        assert_ne!(other.kid(), signer.kid());
        assert_eq!(verified(&jws, &other.public_key()), Err(BadJws::Signature));
        for position in 0..jws.len() {
            let mut bytes = jws.clone().into_bytes();
            bytes[position] = if bytes[position] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).expect("ASCII");
            assert!(verified(&changed, &key).is_err(), "{position}");
        }
    }

    /// A receipt outlives the key that signed it, and names it for good.
    #[test]
    fn what_a_former_key_has_signed_stays_provable() {
        let former = signer("https://api.example.com");
        let jws = former.sign(b"{}");
        let next = SigningKey::parse(&SEED.replace('9', "8")).expect("a key");
        let retired = PublicKey::parse(X).expect("a public key");
        let now = Signer::new(&next, &[retired], "https://api.example.com");
        let kid = claimed_kid(&jws).expect("a JWS");
        let key = PublicKey::in_did_document(&now.did_document(), &kid);
        assert_eq!(
            verified(&jws, &key.expect("still there")).as_deref(),
            Ok(&b"{}"[..])
        );
        assert_eq!(now.key_set()["keys"][1]["kid"], kid);
        assert_ne!(now.kid(), kid);
        for refused in ["", "AA", &X[1..], &format!("{X}A")] {
            assert_eq!(PublicKey::parse(refused), None, "{refused}");
        }
    }

    #[test]
    fn other_algorithms_and_forms_are_refused() {
        let head = |header: &str| format!("{}.e30.AAAA", URL_SAFE_NO_PAD.encode(header));
        for refused in [
            "",
            "..",
            "a.b",
            "e30.e30.AAAA",
            &head(r#"{"alg":"none","kid":"did:web:a#b"}"#),
            &head(r#"{"alg":"HS256","kid":"did:web:a#b"}"#),
            &head(r#"{"alg":"EdDSA"}"#),
            &head(r#"{"alg":"EdDSA","kid":"did:web:a#b","crit":["b64"]}"#),
            &format!("{}.x", head(r#"{"alg":"EdDSA","kid":"did:web:a#b"}"#)),
            &head(&format!(
                r#"{{"alg":"EdDSA","kid":"{}"}}"#,
                "a".repeat(JWS_BYTES_MAX)
            )),
        ] {
            assert_eq!(claimed_kid(refused), Err(BadJws::Form), "{refused:.80}");
        }
    }

    #[test]
    fn a_key_is_64_hex_digits_that_somebody_drew() {
        for refused in ["", "ab", &SEED[1..], &format!("0x{SEED}"), &"0".repeat(64)] {
            assert_eq!(SigningKey::parse(refused), None, "{refused}");
        }
        assert!(!format!("{:?}", SigningKey::parse(SEED)).contains("9d61"));
        assert!(!format!("{:?}", signer("https://a.org")).contains("9d61"));
    }

    #[test]
    fn the_key_is_found_in_the_document_under_its_name_alone() {
        let signer = signer("https://api.example.com");
        let document = signer.did_document();
        let found = PublicKey::in_did_document(&document, signer.kid());
        assert_eq!(found, Some(signer.public_key()));
        for (member, value) in [
            ("id", json!("did:web:evil.example.com")),
            ("assertionMethod", json!([])),
            ("verificationMethod", json!([])),
        ] {
            let mut changed = document.clone();
            changed[member] = value;
            assert_eq!(
                PublicKey::in_did_document(&changed, signer.kid()),
                None,
                "{member}"
            );
        }
        let named = signer.key_set();
        assert_eq!(named["keys"][0]["kid"], signer.kid());
        assert_eq!(named["keys"][0]["x"], X);
        assert!(named["keys"][0].get("d").is_none());
    }
}
