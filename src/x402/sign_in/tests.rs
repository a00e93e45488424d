use serde_json::{Value, json};

use super::*;
use crate::x402::eip3009::SecretKey;

/// 2026-11-23T20:00:00Z.
const NOW: UnixSeconds = UnixSeconds(1_795_464_000);
const SERVICE: Service<'_> = Service {
    base_url: "https://context.example.com",
    path: "/v1/x402/purchases",
    network: Network(8453),
};

fn key() -> SecretKey {
    SecretKey::from_bytes([7; 32]).expect("a key")
}

/// The payload of a client that signs what the service asks, with members altered before the signature.
fn signed(alter: impl FnOnce(&mut Value)) -> Value {
    let extension = SERVICE.extension("00112233445566778899aabbccddeeff", NOW);
    let mut payload = extension["info"].clone();
    payload["chainId"] = extension["supportedChains"][0]["chainId"].clone();
    payload["type"] = extension["supportedChains"][0]["type"].clone();
    payload["address"] = key().address().to_string().into();
    payload["signature"] = "".into();
    alter(&mut payload);
    let text = serde_json::from_value::<Payload>(payload.clone())
        .expect("a payload")
        .text();
    payload["signature"] = key().sign(personal_digest(&text)).to_string().into();
    payload
}

fn read_at(payload: &Value, now: UnixSeconds) -> Result<SignedIn, SignInError> {
    let header = encoding::encode(payload.to_string().as_bytes());
    read(&header, &SERVICE, now)
}

#[test]
fn the_texts_and_headers_are_those_of_the_official_client() {
    let file: Value =
        serde_json::from_str(include_str!("../../../tests/data/sign_in_vectors.json"))
            .expect("JSON");
    let vectors = file["vectors"].as_array().expect("a list");
    assert_eq!(vectors.len(), 4);
    for vector in vectors {
        let text = |name: &str| vector[name].as_str().expect("text");
        let payload = Payload::decode(text("header")).expect("a payload");
        assert_eq!(payload.text(), text("message"));
        assert_eq!(
            payload.signer().map(|address| address.to_string()),
            Ok(text("address").to_owned())
        );
    }
    let asked = vectors[0]["header"].as_str().expect("text");
    let signed_in = read(asked, &SERVICE, NOW).expect("what this service asks for");
    assert_eq!(signed_in.address, key().address());
    assert_eq!(signed_in.nonce, "00112233445566778899aabbccddeeff");
}

#[test]
fn the_domain_has_the_port_as_browsers_write_it() {
    for (base_url, domain) in [
        ("https://context.example.com", "context.example.com"),
        ("https://context.example.com:443", "context.example.com"),
        (
            "https://context.example.com:8443",
            "context.example.com:8443",
        ),
        ("http://127.0.0.1:8402", "127.0.0.1:8402"),
        ("http://[::1]:8402", "[::1]:8402"),
    ] {
        let service = Service {
            base_url,
            ..SERVICE
        };
        assert_eq!(service.domain(), domain);
    }
}

#[test]
fn each_statement_that_is_not_ours_is_refused_for_its_reason() {
    let check = |name: &str, value: Value, expected: SignInError| {
        let payload = signed(|payload| payload[name] = value.clone());
        assert_eq!(read_at(&payload, NOW), Err(expected), "{name}: {value}");
    };
    check("domain", json!("evil.example"), SignInError::Domain);
    check(
        "domain",
        json!("context.example.com:443"),
        SignInError::Domain,
    );
    check(
        "uri",
        json!("https://evil.example/v1/x402/purchases"),
        SignInError::Uri,
    );
    check(
        "uri",
        json!("https://context.example.com/"),
        SignInError::Uri,
    );
    check("version", json!("2"), SignInError::Version);
    check("chainId", json!("eip155:84532"), SignInError::Chain);
    check(
        "chainId",
        json!("solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"),
        SignInError::Chain,
    );
    check("type", json!("ed25519"), SignInError::Scheme);
    check("signatureScheme", json!("eip1271"), SignInError::Scheme);
    check(
        "statement",
        json!("Give me everything."),
        SignInError::Statement,
    );
    check("statement", Value::Null, SignInError::Statement);
    check("address", json!("4a62"), SignInError::Address);
    check("issuedAt", json!("yesterday"), SignInError::IssuedAt);
    check(
        "issuedAt",
        json!("2026-11-23T20:01:01Z"),
        SignInError::FromTheFuture,
    );
    check(
        "issuedAt",
        json!("2026-11-23T19:54:59Z"),
        SignInError::TooOld,
    );
    check("expirationTime", json!("soon"), SignInError::ExpirationTime);
    check(
        "expirationTime",
        json!("2026-11-23T20:00:00Z"),
        SignInError::Expired,
    );
    check("notBefore", json!("later"), SignInError::NotBefore);
    check(
        "notBefore",
        json!("2026-11-23T20:01:01Z"),
        SignInError::NotYetValid,
    );
    check("nonce", json!("a\nIssued At: b"), SignInError::Malformed);
    check("resources", json!(vec!["x"; 9]), SignInError::Malformed);
    check("requestId", json!("x".repeat(513)), SignInError::Malformed);
}

#[test]
fn times_within_the_window_are_taken() {
    for (name, value) in [
        ("issuedAt", "2026-11-23T19:55:00Z"),
        ("issuedAt", "2026-11-23T20:01:00.000Z"),
        ("expirationTime", "2026-11-23T20:00:01Z"),
        ("notBefore", "2026-11-23T20:01:00Z"),
    ] {
        let payload = signed(|payload| payload[name] = value.into());
        assert!(read_at(&payload, NOW).is_ok(), "{name}: {value}");
    }
    let payload = signed(|_| {});
    assert!(read_at(&payload, NOW.plus(AGE_SECONDS_MAX - 1)).is_ok());
    assert_eq!(
        read_at(&payload, NOW.plus(AGE_SECONDS_MAX)),
        Err(SignInError::Expired)
    );
}

/// Whatever is changed after the signature, no address is proven.
#[test]
fn what_is_altered_after_the_signature_is_refused() {
    let other = SecretKey::from_bytes([8; 32]).expect("a key").address();
    for (name, value) in [
        ("address", other.to_string()),
        ("nonce", "ff112233445566778899aabbccddeeff".to_owned()),
        ("issuedAt", "2026-11-23T20:00:01Z".to_owned()),
        ("expirationTime", "2026-11-23T20:09:00Z".to_owned()),
        ("notBefore", "2026-11-23T19:00:00Z".to_owned()),
        ("requestId", "1".to_owned()),
        ("signature", "0x00".to_owned()),
        ("signature", format!("0x{}", "11".repeat(65))),
    ] {
        let mut payload = signed(|_| {});
        payload[name] = value.into();
        assert_eq!(
            read_at(&payload, NOW),
            Err(SignInError::Signature),
            "{name}"
        );
    }
    let mut payload = signed(|_| {});
    payload["resources"] = json!(["https://evil.example/"]);
    assert_eq!(read_at(&payload, NOW), Err(SignInError::Signature));
}

#[test]
fn what_is_no_header_is_refused() {
    let check = |header: &str, expected: SignInError| {
        assert_eq!(read(header, &SERVICE, NOW), Err(expected));
    };
    check("", SignInError::Malformed);
    check("not base64!", SignInError::NotBase64);
    check(&"A".repeat(HEADER_BYTES_MAX + 1), SignInError::TooLong);
    check(&encoding::encode(b"{}"), SignInError::Malformed);
    check(&encoding::encode(b"\xff\xfe"), SignInError::Malformed);
    let mut unknown = signed(|_| {});
    unknown["admin"] = true.into();
    assert_eq!(read_at(&unknown, NOW), Err(SignInError::Malformed));
    let mut partial = signed(|_| {});
    partial.as_object_mut().expect("an object").remove("nonce");
    assert_eq!(read_at(&partial, NOW), Err(SignInError::Malformed));
}

#[test]
fn every_error_has_a_word_and_a_sentence_of_its_own() {
    let all = [
        SignInError::TooLong,
        SignInError::NotBase64,
        SignInError::Malformed,
        SignInError::Address,
        SignInError::Domain,
        SignInError::Uri,
        SignInError::Version,
        SignInError::Chain,
        SignInError::Scheme,
        SignInError::Statement,
        SignInError::IssuedAt,
        SignInError::TooOld,
        SignInError::FromTheFuture,
        SignInError::ExpirationTime,
        SignInError::Expired,
        SignInError::NotBefore,
        SignInError::NotYetValid,
        SignInError::Signature,
        SignInError::NonceUnknown,
        SignInError::NonceUsed,
    ];
    let words: std::collections::HashSet<&str> = all.into_iter().map(SignInError::name).collect();
    assert_eq!(words.len(), all.len());
    for error in all {
        assert!(!error.to_string().ends_with('.'), "{error}");
    }
}
