use serde_json::{Value, json};

use super::*;
use crate::domain::amount::Amount;
use crate::domain::evm::{Address, Network, Nonce, Signature};
use crate::x402::eip3009::{Domain, SecretKey};
use crate::x402::wire::{Authorization, Extra, Scheme};

const NOW: UnixSeconds = UnixSeconds(1_795_248_000);
const BASE: Network = Network(8453);

fn key(byte: u8) -> SecretKey {
    SecretKey::from_bytes([byte; 32]).expect("a key")
}

fn requirements(units: u64) -> PaymentRequirements {
    PaymentRequirements {
        scheme: Scheme::Exact,
        network: BASE,
        amount: Amount::from_units(units),
        asset: Address([0x83; 20]),
        pay_to: Address([0x42; 20]),
        max_timeout_seconds: 300,
        extra: Extra::domain("USD Coin", "2"),
    }
}

fn authorization(units: u64, nonce: u8) -> Authorization {
    Authorization {
        from: key(1).address(),
        to: Address([0x42; 20]),
        value: units.into(),
        valid_after: 0,
        valid_before: u128::from(NOW.0 + 300),
        nonce: Nonce([nonce; 32]),
    }
}

fn request(authorization: &Authorization, requirements: &PaymentRequirements) -> Value {
    let signature = key(1).sign(Domain::of(requirements).digest(authorization));
    with_signature(authorization, requirements, &signature)
}

fn with_signature(
    authorization: &Authorization,
    requirements: &PaymentRequirements,
    signature: &Signature,
) -> Value {
    json!({"x402Version": 2,
        "paymentPayload": {"x402Version": 2, "accepted": requirements,
            "payload": {"signature": signature, "authorization": authorization}},
        "paymentRequirements": requirements})
}

fn post(ledger: &mut Ledger, path: &str, body: &Value, now: UnixSeconds) -> (u16, Value) {
    let answer = ledger.answer("POST", path, body.to_string().as_bytes(), now);
    let json = serde_json::from_slice(&answer.json).expect("JSON");
    (answer.status, json)
}

fn refused_with(body: &Value, reason: &str) {
    let mut ledger = Ledger::new(BASE);
    let (status, verdict) = post(&mut ledger, "/verify", body, NOW);
    assert_eq!(
        (status, &verdict["isValid"]),
        (200, &json!(false)),
        "{body}"
    );
    assert_eq!(verdict["invalidReason"], json!(reason), "{body}");
    let (_, settlement) = post(&mut ledger, "/settle", body, NOW);
    assert_eq!(settlement["success"], json!(false), "{body}");
    assert_eq!(settlement["errorReason"], json!(reason), "{body}");
    assert_eq!(settlement["transaction"], json!(""), "{body}");
    assert_eq!(ledger.settlements(), 0);
}

#[test]
fn a_good_payment_is_verified_settled_and_counted_once() {
    let mut ledger = Ledger::new(BASE);
    let body = request(&authorization(30_000, 1), &requirements(30_000));
    let payer = key(1).address();
    let (status, verdict) = post(&mut ledger, "/verify", &body, NOW);
    assert_eq!(status, 200);
    assert_eq!(verdict, json!({"isValid": true, "payer": payer}));

    let (status, settlement) = post(&mut ledger, "/settle", &body, NOW);
    assert_eq!((status, &settlement["success"]), (200, &json!(true)));
    assert_eq!(settlement["network"], json!("eip155:8453"));
    assert_eq!(settlement["payer"], json!(payer));
    // The same again, even after its window, is the same settlement.
    let again = post(&mut ledger, "/settle", &body, NOW.plus(1_000));
    assert_eq!(again, (200, settlement));
    assert_eq!(ledger.settlements(), 1);
    assert_eq!(
        ledger.balance(Address([0x83; 20]), payer),
        10_000_000 - 30_000
    );
    assert_eq!(
        ledger.balance(Address([0x83; 20]), Address([0x42; 20])),
        10_000_000 + 30_000
    );
    let (_, verdict) = post(&mut ledger, "/verify", &body, NOW);
    assert_eq!(
        verdict["invalidReason"],
        json!("invalid_exact_evm_nonce_already_used")
    );
    let other = request(&authorization(20_000, 1), &requirements(20_000));
    let (_, settlement) = post(&mut ledger, "/settle", &other, NOW);
    assert_eq!(
        settlement["errorReason"],
        json!("invalid_exact_evm_nonce_already_used")
    );
}

#[test]
fn transactions_are_deterministic_and_differ_by_payment() {
    let settled = |nonce| {
        let body = request(&authorization(30_000, nonce), &requirements(30_000));
        let (_, settlement) = post(&mut Ledger::new(BASE), "/settle", &body, NOW);
        settlement["transaction"]
            .as_str()
            .expect("a hash")
            .to_owned()
    };
    assert_eq!(settled(1), settled(1));
    assert_ne!(settled(1), settled(2));
}

#[test]
fn play_money_runs_out() {
    let mut ledger = Ledger::new(BASE);
    let pay = |ledger: &mut Ledger, units: u64, nonce: u8| {
        let body = request(&authorization(units, nonce), &requirements(units));
        post(ledger, "/settle", &body, NOW).1
    };
    assert_eq!(pay(&mut ledger, 9_999_999, 1)["success"], json!(true));
    assert_eq!(
        pay(&mut ledger, 2, 2)["errorReason"],
        json!("invalid_exact_evm_insufficient_balance")
    );
    assert_eq!(pay(&mut ledger, 1, 3)["success"], json!(true));
}

#[test]
fn each_check_has_its_reason() {
    let good = authorization(30_000, 1);
    let asked = requirements(30_000);
    let stranger = Authorization {
        from: key(2).address(),
        ..good
    };
    refused_with(&request(&stranger, &asked), "invalid_exact_evm_signature");
    let elsewhere = Authorization {
        to: Address([9; 20]),
        ..good
    };
    refused_with(
        &request(&elsewhere, &asked),
        "invalid_exact_evm_recipient_mismatch",
    );
    for value in [29_999, 30_001] {
        let other = Authorization { value, ..good };
        refused_with(
            &request(&other, &asked),
            "invalid_exact_evm_payload_authorization_value_mismatch",
        );
    }
    let ending = Authorization {
        valid_before: u128::from(NOW.0 + 5),
        ..good
    };
    refused_with(
        &request(&ending, &asked),
        "invalid_exact_evm_payload_authorization_valid_before",
    );
    let coming = Authorization {
        valid_after: u128::from(NOW.0 + 1),
        ..good
    };
    refused_with(
        &request(&coming, &asked),
        "invalid_exact_evm_payload_authorization_valid_after",
    );
    let dear = requirements(10_000_001);
    refused_with(
        &request(&authorization(10_000_001, 1), &dear),
        "invalid_exact_evm_insufficient_balance",
    );
    let other_network = PaymentRequirements {
        network: Network(1),
        ..asked.clone()
    };
    refused_with(
        &request(&good, &other_network),
        "invalid_exact_evm_network_mismatch",
    );
    // Signed for a token of another name: recovers to a stranger.
    let other_name = PaymentRequirements {
        extra: Extra::domain("USDC", "2"),
        ..asked.clone()
    };
    let mut body = request(&good, &other_name);
    body["paymentRequirements"] = json!(asked);
    refused_with(&body, "invalid_exact_evm_signature");
    for signature in [vec![0; 65], vec![1; 64], vec![1; 300]] {
        let body = with_signature(&good, &asked, &Signature(signature));
        refused_with(&body, "invalid_exact_evm_signature");
    }
}

#[test]
fn what_cannot_be_read_is_answered_400_with_a_reason() {
    let good = request(&authorization(30_000, 1), &requirements(30_000));
    let changed = |pointer: &str, value: Value| {
        let mut body = good.clone();
        *body.pointer_mut(pointer).expect(pointer) = value;
        body
    };
    for (body, reason) in [
        (json!({}), "invalid_payload"),
        (changed("/x402Version", json!(1)), "invalid_payload"),
        (
            changed("/paymentPayload/x402Version", json!(1)),
            "invalid_x402_version",
        ),
        (
            changed("/paymentPayload/payload", json!({})),
            "unsupported_payload_type",
        ),
        (
            changed("/paymentRequirements/extra", json!({})),
            "invalid_exact_evm_missing_eip712_domain",
        ),
        (
            changed("/paymentRequirements/amount", json!(30_000)),
            "invalid_payment_requirements",
        ),
    ] {
        let mut ledger = Ledger::new(BASE);
        let (status, verdict) = post(&mut ledger, "/verify", &body, NOW);
        assert_eq!(
            (status, &verdict["invalidReason"]),
            (400, &json!(reason)),
            "{body}"
        );
        let (status, settlement) = post(&mut ledger, "/settle", &body, NOW);
        assert_eq!(
            (status, &settlement["errorReason"]),
            (400, &json!(reason)),
            "{body}"
        );
    }
    let mut ledger = Ledger::new(BASE);
    let padded = format!("{good}{}", " ".repeat(BODY_BYTES_MAX));
    assert_eq!(
        ledger
            .answer("POST", "/verify", padded.as_bytes(), NOW)
            .status,
        400
    );
}

#[test]
fn it_says_what_it_takes_and_nothing_else() {
    let mut ledger = Ledger::new(BASE);
    let answer = ledger.answer("GET", "/supported", b"", NOW);
    let supported: Supported = serde_json::from_slice(&answer.json).expect("JSON");
    assert!(supported.takes_exact_on(BASE));
    assert!(!supported.takes_exact_on(Network(1)));
    for (method, path, status) in [
        ("GET", "/verify", 405),
        ("POST", "/supported", 405),
        ("GET", "/", 404),
        ("POST", "/verify/", 404),
    ] {
        assert_eq!(
            ledger.answer(method, path, b"", NOW).status,
            status,
            "{method} {path}"
        );
    }
}
