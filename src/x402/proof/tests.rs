use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::domain::evm::Signature;
use crate::x402::vectors;
use crate::x402::wire::{Extra, Scheme};

const NOW: UnixSeconds = UnixSeconds(1_795_248_000);
const WORK_SECONDS: u64 = 40;

fn offer() -> PaymentRequirements {
    PaymentRequirements {
        scheme: Scheme::Exact,
        network: Network(8453),
        amount: Amount::from_units(12_000),
        asset: Address::parse("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913").expect("USDC"),
        pay_to: Address::parse("0x90F79bf6EB2c4f870365E785982E1f101E93b906").expect("payee"),
        max_timeout_seconds: 300,
        extra: Extra::domain("USD Coin", "2"),
    }
}

fn resource() -> Resource {
    Resource::new("https://api.example.com", "/v1/x402/access").expect("a base address")
}

/// The first vector with a window around [`NOW`]; its signature no longer fits, which nothing here looks at.
fn payment() -> Value {
    let mut payment = vectors::all().payments[0].payment_payload.clone();
    payment["payload"]["authorization"]["validBefore"] = json!((NOW.0 + 300).to_string());
    payment
}

fn decode(payment: &Value) -> Result<PaymentProof, ProofError> {
    PaymentProof::decode(&encoding::encode(payment.to_string().as_bytes()))
}

fn changed(pointer: &str, value: Value) -> Value {
    let mut payment = payment();
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    payment
        .pointer_mut(parent)
        .and_then(Value::as_object_mut)
        .expect(pointer)
        .insert(key.to_owned(), value);
    payment
}

fn without(pointer: &str) -> Value {
    let mut payment = payment();
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    payment
        .pointer_mut(parent)
        .and_then(Value::as_object_mut)
        .and_then(|object| object.remove(key))
        .expect(pointer);
    payment
}

fn check(payment: &Value, expected: Result<(), ProofMismatch>) {
    let proof = decode(payment).unwrap_or_else(|refusal| panic!("{refusal}: {payment}"));
    let offers = [offer().into()];
    let outcome = proof.check(&offers, &resource(), NOW, WORK_SECONDS);
    assert_eq!(outcome, expected.map(|()| &offers[0]), "{payment}");
}

#[test]
fn the_vectors_headers_are_read() {
    for payment in vectors::all().payments {
        let proof = PaymentProof::decode(&payment.payment_signature_header).expect("a payment");
        assert_eq!(*proof.authorization(), payment.authorization);
        assert_eq!(
            Some(&proof.payload().payload.signature),
            Signature::parse(&payment.signature).as_ref()
        );
        assert_eq!(
            proof.raw(),
            payment.payment_payload.to_string(),
            "forwarded verbatim"
        );
        let again = PaymentProof::from_json(proof.raw().as_bytes()).expect("kept");
        assert_eq!(again.payload_hash(), proof.payload_hash());
    }
}

#[test]
fn a_payment_that_fits_gives_our_own_offer() {
    check(&payment(), Ok(()));
    let dearer = PaymentRequirements {
        amount: Amount::from_units(50_000),
        ..offer()
    };
    let offers = [dearer.into(), offer().into()];
    let proof = decode(&payment()).expect("a payment");
    assert_eq!(
        proof.check(&offers, &resource(), NOW, WORK_SECONDS),
        Ok(&offers[1])
    );
    assert_eq!(
        proof.check(&offers[..1], &resource(), NOW, WORK_SECONDS),
        Err(ProofMismatch::Requirements)
    );
}

/// An altered copy of the offer is not our offer; another spelling of it is.
#[test]
fn accepted_is_compared_field_by_field() {
    for (pointer, value) in [
        (
            "/accepted/asset",
            json!("0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"),
        ),
        (
            "/accepted/payTo",
            json!("0X90F79BF6EB2C4F870365E785982E1F101E93B906"),
        ),
        ("/accepted/extra/tier", json!("starter")),
        ("/accepted/outputSchema", Value::Null),
        ("/extensions", json!({"unknown": {"info": {}}})),
        ("/extensions", Value::Null),
        ("/unknown", json!([1, 2, 3])),
    ] {
        check(&changed(pointer, value), Ok(()));
    }
    for (pointer, value) in [
        ("/accepted/scheme", json!("upto")),
        ("/accepted/scheme", json!("Exact")),
        ("/accepted/network", json!("eip155:84532")),
        ("/accepted/network", json!("base")),
        ("/accepted/amount", json!("1")),
        ("/accepted/amount", json!("12001")),
        ("/accepted/amount", json!("012000")),
        ("/accepted/amount", json!("12000.0")),
        ("/accepted/amount", json!("1.2e4")),
        ("/accepted/amount", json!(12_000)),
        (
            "/accepted/asset",
            json!("0x036CbD53842c5426634e7929541eC2318f3dCF7e"),
        ),
        (
            "/accepted/payTo",
            json!("0x70997970C51812dc3A010C7d01b50e0d17dc79C8"),
        ),
        ("/accepted/maxTimeoutSeconds", json!(301)),
        ("/accepted/maxTimeoutSeconds", json!("300")),
        ("/accepted/extra", json!({})),
        ("/accepted/extra", Value::Null),
        ("/accepted/extra/name", json!("USDC")),
        ("/accepted/extra/version", json!(2)),
        ("/accepted/outputSchema", json!({})),
        ("/accepted", json!({})),
        ("/accepted", Value::Null),
    ] {
        check(&changed(pointer, value), Err(ProofMismatch::Requirements));
    }
    for pointer in [
        "/accepted",
        "/accepted/amount",
        "/accepted/extra",
        "/accepted/extra/name",
    ] {
        check(&without(pointer), Err(ProofMismatch::Requirements));
    }
}

#[test]
fn everything_that_we_put_into_extra_must_come_back() {
    let mut offer = offer();
    offer
        .extra
        .more
        .insert("more".to_owned(), json!({"tier": "starter", "list": [1]}));
    let offers = [offer.into()];
    let outcome = |extra: Value| {
        let proof = decode(&changed("/accepted/extra", extra)).expect("a payment");
        proof.check(&offers, &resource(), NOW, WORK_SECONDS).is_ok()
    };
    let with = |more: Value| json!({"version": "2", "name": "USD Coin", "more": more});
    assert!(outcome(with(
        json!({"list": [1], "tier": "starter", "added": 1})
    )));
    assert!(!outcome(with(json!({"tier": "starter"}))));
    assert!(!outcome(with(json!({"tier": "starter", "list": [1, 2]}))));
    assert!(!outcome(with(json!("starter"))));
}

/// A payment that names a resource must name ours.
#[test]
fn the_resource_is_ours_or_absent() {
    check(&without("/resource"), Ok(()));
    check(&changed("/resource", Value::Null), Ok(()));
    for (url, expected) in [
        (
            "https://api.example.com/v1/x402/access?tier=starter",
            Ok(()),
        ),
        ("https://api.example.com/from/list/v1/x402/access", Ok(())),
        (
            "https://api.example.com/v1/x402/proof-pack",
            Err(ProofMismatch::Resource),
        ),
        (
            "https://other.example.com/v1/x402/access",
            Err(ProofMismatch::Resource),
        ),
        ("", Err(ProofMismatch::Resource)),
    ] {
        check(&changed("/resource/url", json!(url)), expected);
    }
}

/// Recipient, amount and window of what was signed.
#[test]
fn the_authorization_pays_us_the_amount_in_time() {
    let field = |name: &str| format!("/payload/authorization/{name}");
    let later = |seconds: u64| json!((NOW.0 + seconds).to_string());
    let earlier = |seconds: u64| json!((NOW.0 - seconds).to_string());
    for (name, value, expected) in [
        (
            "to",
            json!("0x90f79bf6eb2c4f870365e785982e1f101e93b906"),
            Ok(()),
        ),
        (
            "to",
            json!("0x70997970C51812dc3A010C7d01b50e0d17dc79C8"),
            Err(ProofMismatch::Recipient),
        ),
        ("value", json!("11999"), Err(ProofMismatch::Value)),
        ("value", json!("12001"), Err(ProofMismatch::Value)),
        ("value", json!("0"), Err(ProofMismatch::Value)),
        (
            "value",
            json!("18446744073709563616"),
            Err(ProofMismatch::Value),
        ),
        ("validAfter", earlier(600), Ok(())),
        ("validAfter", later(0), Ok(())),
        ("validAfter", later(1), Err(ProofMismatch::NotYetValid)),
        ("validBefore", later(70), Ok(())),
        ("validBefore", later(69), Err(ProofMismatch::ExpiresTooSoon)),
        (
            "validBefore",
            json!("0"),
            Err(ProofMismatch::ExpiresTooSoon),
        ),
        ("validBefore", later(360), Ok(())),
        (
            "validBefore",
            later(361),
            Err(ProofMismatch::ExpiresTooLate),
        ),
        (
            "validBefore",
            json!(u128::MAX.to_string()),
            Err(ProofMismatch::ExpiresTooLate),
        ),
    ] {
        check(&changed(&field(name), value), expected);
    }
}

#[test]
fn reasons_are_the_reference_server_s() {
    for (mismatch, reason) in [
        (
            ProofMismatch::Requirements,
            "No matching payment requirements",
        ),
        (
            ProofMismatch::Recipient,
            "invalid_exact_evm_recipient_mismatch",
        ),
        (
            ProofMismatch::ExpiresTooSoon,
            "invalid_exact_evm_payload_authorization_valid_before",
        ),
    ] {
        assert_eq!(mismatch.reason(), reason);
    }
}

fn refused(payment: &Value, expected: &str, malformed: bool) {
    let refusal = decode(payment).expect_err("refused");
    assert_eq!(refusal.reason(), expected, "{payment}");
    assert_eq!(refusal.is_malformed(), malformed, "{payment}");
}

/// What is not a payment of version 2 with an EIP-3009 authorization.
#[test]
fn malformed_payments_are_refused() {
    let short = "ab".repeat(31);
    let long = "ab".repeat(33);
    for (pointer, value) in [
        ("/payload/authorization/value", json!("-12000")),
        ("/payload/authorization/value", json!("012000")),
        ("/payload/authorization/value", json!("1.2e4")),
        ("/payload/authorization/value", json!("12000.0")),
        ("/payload/authorization/value", json!(12_000)),
        (
            "/payload/authorization/value",
            json!("115792089237316195423570985008687907853269984665640564039457584007913129639936"),
        ),
        ("/payload/authorization/nonce", json!(format!("0x{short}"))),
        ("/payload/authorization/nonce", json!(format!("0x{long}"))),
        ("/payload/authorization/nonce", json!("ab".repeat(32))),
        (
            "/payload/authorization/nonce",
            json!(format!("0x{}", "а".repeat(64))),
        ),
        ("/payload/authorization/from", json!("0x7099")),
        ("/payload/authorization/from", json!(7)),
        ("/payload/authorization", Value::Null),
        ("/payload/signature", json!("0x")),
        ("/payload/signature", json!("sig")),
        ("/payload", json!([])),
        ("/payload", Value::Null),
        ("/accepted", json!("exact")),
        ("/accepted", json!([])),
        ("/resource", json!("https://api.example.com/v1/x402/access")),
        ("/resource", json!({})),
        ("/extensions", json!([])),
        (
            "/extensions",
            json!({"payment-identifier": {"info": {"required": false, "id": "short"}}}),
        ),
        (
            "/extensions",
            json!({"payment-identifier": {"info": {"required": false, "id": 1}}}),
        ),
    ] {
        refused(&changed(pointer, value), "invalid_payload", true);
    }
    for version in [json!(1), json!("2"), Value::Null, json!(2.5)] {
        refused(
            &changed("/x402Version", version),
            "invalid_x402_version",
            true,
        );
    }
    refused(&without("/x402Version"), "invalid_x402_version", true);
    refused(&without("/payload"), "invalid_payload", true);
    refused(&without("/payload/signature"), "invalid_payload", true);
    refused(&json!([payment()]), "invalid_payload", true);
    let permit2 = changed(
        "/payload",
        json!({"signature": "0x00", "permit2Authorization": {}}),
    );
    refused(&permit2, "unsupported_payload_type", false);
}

#[test]
fn malformed_headers_are_refused() {
    let text = payment().to_string();
    let encode = |text: &[u8]| encoding::encode(text);
    for header in [
        String::new(),
        "not base64".to_owned(),
        encode(b""),
        encode(b"null"),
        encode(b"not json"),
        encode(b"{}"),
        encode(format!("\u{feff}{text}").as_bytes()),
        encode(format!("{text}{text}").as_bytes()),
        encode(
            text.replacen("\"payload\"", "\"x402Version\":2,\"payload\"", 1)
                .as_bytes(),
        ),
        encode(
            text.replacen(
                "\"value\":\"12000\"",
                "\"value\":\"1\",\"value\":\"12000\"",
                1,
            )
            .as_bytes(),
        ),
        encode(text.replacen("\"d\"", "\"\u{0}\"", 1).as_bytes()),
        encode(
            &text
                .replacen("\"d\"", "\"?\"", 1)
                .bytes()
                .map(|b| if b == b'?' { 0xff } else { b })
                .collect::<Vec<u8>>(),
        ),
        format!("{},{}", encode(text.as_bytes()), encode(text.as_bytes())),
        encode(format!("{}{}", "[".repeat(5_000), "]".repeat(5_000)).as_bytes()),
        "A".repeat(HEADER_BYTES_MAX + 4),
    ] {
        let refusal = PaymentProof::decode(&header).expect_err(&header);
        assert!(refusal.is_malformed(), "{header}");
    }
}

#[test]
fn every_form_of_base64_is_one_payment() {
    let mut payment = payment();
    payment["extensions"] = json!({"a": "?>~~~ü"});
    let padded = encoding::encode(payment.to_string().as_bytes());
    let hash = PaymentProof::decode(&padded)
        .expect("a payment")
        .payload_hash();
    for header in [
        padded.trim_end_matches('=').to_owned(),
        padded.replace('+', "-").replace('/', "_"),
        format!(" {padded} "),
        encoding::encode(format!("\n{payment} ").as_bytes()),
    ] {
        let proof = PaymentProof::decode(&header).expect(&header);
        assert_eq!(proof.payload_hash(), hash, "{header}");
    }
}

/// Another spelling of the same authorization has the same key.
#[test]
fn spellings_of_a_nonce_and_a_payer_are_one_key() {
    let plain = decode(&payment()).expect("a payment");
    let upper = |name: &str| {
        let pointer = format!("/payload/authorization/{name}");
        let text = payment()
            .pointer(&pointer)
            .and_then(Value::as_str)
            .expect("text")
            .to_uppercase();
        decode(&changed(&pointer, json!(text))).expect("a payment")
    };
    for other in [upper("nonce"), upper("from")] {
        assert_eq!((other.from(), other.nonce()), (plain.from(), plain.nonce()));
        assert_ne!(other.payload_hash(), plain.payload_hash());
    }
}

#[test]
fn the_payment_identifier_is_read_where_it_is_sent() {
    let id = "pay_0123456789abcdef";
    for (extensions, expected) in [
        (
            json!({"payment-identifier": {"info": {"required": false, "id": id}}}),
            Some(id),
        ),
        (
            json!({"payment-identifier": {"info": {"required": false}}}),
            None,
        ),
        (
            json!({"payment-identifier": {"info": {"required": false, "id": null}}}),
            None,
        ),
        (json!({}), None),
    ] {
        let proof = decode(&changed("/extensions", extensions)).expect("a payment");
        assert_eq!(proof.payment_identifier(), expected);
    }
}

#[test]
fn the_end_of_an_authorization_is_a_time_or_the_furthest_one() {
    let pointer = "/payload/authorization/validBefore";
    for (text, expected) in [
        ("1795248300".to_owned(), 1_795_248_300),
        (u128::MAX.to_string(), u64::MAX),
    ] {
        let proof = decode(&changed(pointer, json!(text))).expect("a payment");
        assert_eq!(proof.valid_before(), UnixSeconds(expected));
    }
}

#[test]
fn a_signature_is_not_printed() {
    let proof = decode(&payment()).expect("a payment");
    let signature = proof.payload().payload.signature.to_string();
    assert!(!format!("{:?}", proof.payload()).contains(&signature[2..40]));
}

proptest! {
    #[test]
    fn reading_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..600), text in ".{0,200}") {
        let _ = PaymentProof::decode(&text);
        let _ = PaymentProof::decode(&encoding::encode(&bytes));
        let _ = PaymentProof::from_json(&bytes);
    }

    /// One byte of a good payment changed: read or refused, never a panic, and never another's money.
    #[test]
    fn a_changed_byte_never_panics(position in 0usize..800, byte in any::<u8>()) {
        let mut text = payment().to_string().into_bytes();
        let position = position % text.len();
        text[position] = byte;
        if let Ok(proof) = PaymentProof::from_json(&text)
            && let Ok(offer) = proof.check(&[offer().into()], &resource(), NOW, WORK_SECONDS)
        {
            prop_assert_eq!(proof.authorization().to, offer.pay_to);
            prop_assert_eq!(proof.authorization().value, u128::from(offer.amount.units()));
        }
    }
}

/// A buyer may add to what it sends back, and leave it out, and may not alter it.
#[test]
fn extensions_come_back_unaltered() {
    let info = json!({"input": {"method": "POST", "body": {"tier": "fresh"}}, "required": false});
    let whole = json!({"info": info, "schema": {"type": "object"}});
    let ours = |info: &Value| Advertised {
        text: whole.to_string(),
        info: info.clone(),
    };
    let advertised = BTreeMap::from([("bazaar".to_owned(), ours(&info))]);
    let check = |extensions: Value| {
        let proof = decode(&changed("/extensions", extensions)).expect("a payment");
        proof.check_echo(&advertised)
    };
    let with = |pointer: &str, value: Value| {
        let mut echo = json!({"bazaar": whole});
        *echo.pointer_mut(pointer).expect("a place") = value;
        check(echo)
    };
    assert_eq!(check(json!({})), Ok(()));
    assert_eq!(check(Value::Null), Ok(()));
    assert_eq!(check(json!({"bazaar": null})), Ok(()));
    assert_eq!(check(json!({"bazaar": whole})), Ok(()));
    assert_eq!(check(json!({"unknown": {"info": 7}})), Ok(()));
    assert_eq!(
        with("/bazaar/schema", json!({})),
        Ok(()),
        "the schema is nobody's promise"
    );
    let more = json!({"input": {"body": {"tier": "fresh", "more": 1}, "method": "POST"}, "id": 1});
    assert_eq!(
        with("/bazaar/info", more),
        Ok(()),
        "added to, and without what is false"
    );
    for (pointer, value) in [
        ("/bazaar", json!({})),
        ("/bazaar", json!("x")),
        ("/bazaar/info", Value::Null),
        ("/bazaar/info/input", Value::Null),
        ("/bazaar/info/input/body/tier", json!("deep")),
        ("/bazaar/info/input/body", json!({})),
        ("/bazaar/info/required", json!(true)),
    ] {
        assert_eq!(with(pointer, value), Err(ProofMismatch::Echo), "{pointer}");
    }
}
