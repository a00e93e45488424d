//! Any payment header through the reader of payments, and what must hold whatever it was.

use std::path::Path;
use std::sync::LazyLock;

use context402::domain::time::UnixSeconds;
use context402::x402::encoding;
use context402::x402::proof::{HEADER_BYTES_MAX, PaymentProof};
use context402::x402::resource::Resource;
use context402::x402::wire::{PaymentRequirements, WrittenRequirements};

use super::mutation::{files, mutated};
use super::random::Random;

const WORDS: [&str; 40] = [
    "\"",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "null",
    "true",
    "0",
    "-1",
    "1e400",
    "12000",
    "0012000",
    "12000.0",
    "115792089237316195423570985008687907853269984665640564039457584007913129639936",
    "340282366920938463463374607431768211456",
    "18446744073709551616",
    "\\u0000",
    "\\ud800",
    "\\\"",
    "\u{feff}",
    "\u{ff10}",
    "0x",
    "0X",
    "00",
    "eip155:8453",
    "\"x402Version\":2",
    "\"x402Version\":1,",
    "\"payload\":{",
    "\"authorization\":",
    "\"signature\":\"0x",
    "\"accepted\":{}",
    "\"resource\":{\"url\":\"",
    "\"extensions\":{",
    "\"payment-identifier\":{\"info\":{\"id\":\"",
    "[[[[[[[[[[[[[[[[",
    "  ",
    "\n",
    "=",
];
const NOW: UnixSeconds = UnixSeconds(4_102_444_700);

/// What the seeds pay for, and what a shop that offers it compares them with.
static OFFER: LazyLock<(Vec<WrittenRequirements>, Resource)> = LazyLock::new(|| {
    let seed = include_str!("../corpus/payment/0.json");
    let payload: serde_json::Value = serde_json::from_str(seed).expect("a seed is JSON");
    let offer = serde_json::from_value(payload["accepted"].clone());
    let offer: PaymentRequirements = offer.expect("a seed holds an offer");
    let resource = Resource::new("https://api.example.com", "/v1/x402/access");
    (vec![offer.into()], resource.expect("an address"))
});

pub(crate) fn corpus(tests: &Path) -> Vec<Vec<u8>> {
    files(&tests.join("fuzz/corpus/payment"))
}

/// The first byte says whether the rest is the header itself or the JSON in it.
pub(crate) fn input(random: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut data = vec![random.byte()];
    let json = mutated(random, seeds, &WORDS);
    match data[0] % 4 {
        0 => {
            let header = encoding::encode(&json).into_bytes();
            data.extend(mutated(
                random,
                &[header],
                &["=", "-", "_", "+", "/", " ", "\n", "AAAA", "e30"],
            ));
        }
        _ => data.extend(json),
    }
    data
}

pub(crate) fn body(data: &[u8]) {
    let [mode, rest @ ..] = data else {
        return;
    };
    let header = match mode % 4 {
        0 => String::from_utf8_lossy(rest).into_owned(),
        _ => encoding::encode(rest),
    };
    let proof = match PaymentProof::decode(&header) {
        Ok(proof) => proof,
        Err(error) => {
            assert!(!error.to_string().is_empty() && !error.reason().is_empty());
            return;
        }
    };
    assert!(
        header.len() <= HEADER_BYTES_MAX,
        "{} bytes were read",
        header.len()
    );
    let again = PaymentProof::decode(&header).expect("it was read before");
    assert_eq!(again.payload_hash(), proof.payload_hash());
    let identifier = proof.payment_identifier().map_or(16, str::len);
    assert!((16..=128).contains(&identifier));
    // What the facilitator is told is the payment that was read.
    let told = PaymentProof::from_json(proof.raw().as_bytes()).expect("it was read before");
    assert_eq!(told.authorization(), proof.authorization());
    if let Some(bare) = proof.bare() {
        let told = PaymentProof::from_json(bare.as_bytes()).expect("a part of it");
        assert_eq!(told.authorization(), proof.authorization());
    }
    let (offers, resource) = &*OFFER;
    if let Ok(paid) = proof.check(offers, resource, NOW, 0) {
        let authorization = proof.authorization();
        assert_eq!(authorization.to, paid.pay_to);
        assert_eq!(authorization.value, u128::from(paid.amount.units()));
        assert!(proof.valid_before() > NOW);
    }
}
