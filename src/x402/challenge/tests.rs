use serde_json::{Map, Value, json};

use super::{Bazaar, Challenge, ChallengeError, ChallengeInputs, JSON_BYTES_MAX};
use crate::domain::amount::Amount;
use crate::domain::evm::{Address, Network};
use crate::x402::encoding;
use crate::x402::wire::{Extra, PaymentRequirements, Scheme};

fn requirements() -> PaymentRequirements {
    PaymentRequirements {
        scheme: Scheme::Exact,
        network: Network(8453),
        amount: Amount::from_units(30_000),
        asset: Address::parse("0x833589fcd6edb6e08f4c7c32d4f71b54bda02913").expect("USDC"),
        pay_to: Address([0x42; 20]),
        max_timeout_seconds: 300,
        extra: Extra::domain("USD Coin", "2"),
    }
}

fn inputs(requirements: &[PaymentRequirements]) -> ChallengeInputs<'_> {
    ChallengeInputs {
        resource_url: "https://api.example.com/v1/x402/access",
        description: "Convert a public web page into clean markdown (tier fresh, 0.03 USDC).",
        service_name: "context402",
        tags: &["markdown", "scrape"],
        icon_url: Some("https://api.example.com/icon.png"),
        requirements,
        bazaar: Bazaar {
            body_example: json!({"target_url": "https://example.com/", "tier": "fresh"}),
            body_schema: json!({"type": "object", "properties": {"target_url": {"type": "string", "description": "Which page."}},
                "required": ["target_url"]}),
            output_example: json!({"status": "success"}),
        },
        further_extensions: Map::new(),
        error: "PAYMENT-SIGNATURE header is required",
    }
}

fn parsed(challenge: &Challenge) -> Value {
    serde_json::from_slice(&challenge.json).expect("JSON")
}

#[test]
fn the_header_is_the_body_and_the_body_is_the_protocol_s() {
    let offers = [requirements()];
    let challenge = Challenge::new(&inputs(&offers)).expect("fits");
    assert_eq!(
        encoding::decode(&challenge.header),
        Some(challenge.json.clone())
    );
    assert_eq!(Challenge::new(&inputs(&offers)), Ok(challenge.clone()));
    let body = parsed(&challenge);
    let keys: Vec<&String> = body.as_object().expect("an object").keys().collect();
    assert_eq!(
        keys,
        ["x402Version", "error", "resource", "accepts", "extensions"]
    );
    assert_eq!(body["x402Version"], json!(2));
    assert_eq!(
        body["resource"],
        json!({"url": "https://api.example.com/v1/x402/access",
            "description": "Convert a public web page into clean markdown (tier fresh, 0.03 USDC).",
            "mimeType": "application/json", "serviceName": "context402", "tags": ["markdown", "scrape"],
            "iconUrl": "https://api.example.com/icon.png"})
    );
    assert_eq!(
        body["accepts"],
        json!([{"scheme": "exact", "network": "eip155:8453", "amount": "30000",
            "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
            "payTo": "0x4242424242424242424242424242424242424242", "maxTimeoutSeconds": 300,
            "extra": {"name": "USD Coin", "version": "2"}}])
    );
    let input = &body["extensions"]["bazaar"]["info"]["input"];
    assert_eq!(
        *input,
        json!({"type": "http", "method": "POST", "bodyType": "json",
            "body": {"target_url": "https://example.com/", "tier": "fresh"}})
    );
    assert_eq!(
        body["extensions"]["payment-identifier"]["info"],
        json!({"required": false})
    );
}

/// Pads the Bazaar example, which is never cut, so that the challenge without padding grows by `bytes`.
fn padded(bytes: usize) -> Result<Challenge, ChallengeError> {
    let offers = [requirements()];
    let mut inputs = inputs(&offers);
    inputs
        .further_extensions
        .insert("more".to_owned(), json!({"info": {}}));
    inputs.bazaar.body_example["tier"] = json!("x".repeat(bytes));
    Challenge::new(&inputs)
}

#[test]
fn a_long_challenge_loses_its_optional_parts_in_order() {
    let kept = |challenge: &Challenge| -> Vec<&'static str> {
        let body = parsed(challenge);
        assert_eq!(body["accepts"].as_array().map(Vec::len), Some(1));
        assert!(body["extensions"]["bazaar"]["info"]["input"]["body"]["tier"].is_string());
        [
            (
                "prose",
                "/extensions/bazaar/schema/properties/input/properties/body/properties/target_url/description",
            ),
            ("more", "/extensions/more"),
            ("icon", "/resource/iconUrl"),
            ("tags", "/resource/tags"),
            ("name", "/resource/serviceName"),
            ("description", "/resource/description"),
        ]
        .into_iter()
        .filter(|(_, pointer)| body.pointer(pointer).is_some())
        .map(|(name, _)| name)
        .collect()
    };
    let mut stages = Vec::new();
    let mut bytes = 0;
    let refused = loop {
        match padded(bytes) {
            Ok(challenge) => {
                assert!(challenge.json.len() <= JSON_BYTES_MAX);
                let now = kept(&challenge);
                if stages.last() != Some(&now) {
                    stages.push(now);
                }
            }
            Err(refusal) => break refusal,
        }
        bytes += 1;
    };
    assert_eq!(
        stages,
        [
            vec!["prose", "more", "icon", "tags", "name", "description"],
            vec!["more", "icon", "tags", "name", "description"],
            vec!["icon", "tags", "name", "description"],
            vec!["tags", "name", "description"],
            vec!["name", "description"],
            vec!["description"],
            vec![],
        ]
    );
    assert_eq!(
        refused,
        ChallengeError::TooLong {
            bytes: JSON_BYTES_MAX + 1
        }
    );
}

#[test]
fn unfit_inputs_are_refused() {
    let offers = [requirements()];
    let good = inputs(&offers);
    let long = "d".repeat(301);
    let name = "n".repeat(33);
    for (changed, expected) in [
        (
            ChallengeInputs {
                requirements: &[],
                ..good.clone()
            },
            ChallengeError::NoRequirements,
        ),
        (
            ChallengeInputs {
                description: &long,
                ..good.clone()
            },
            ChallengeError::Description,
        ),
        (
            ChallengeInputs {
                service_name: "",
                ..good.clone()
            },
            ChallengeError::ServiceName,
        ),
        (
            ChallengeInputs {
                service_name: &name,
                ..good.clone()
            },
            ChallengeError::ServiceName,
        ),
        (
            ChallengeInputs {
                tags: &["é"],
                ..good.clone()
            },
            ChallengeError::Tags,
        ),
        (
            ChallengeInputs {
                tags: &["a"; 6],
                ..good.clone()
            },
            ChallengeError::Tags,
        ),
        (
            ChallengeInputs {
                icon_url: Some("/icon.png"),
                ..good.clone()
            },
            ChallengeError::IconUrl,
        ),
    ] {
        assert_eq!(Challenge::new(&changed), Err(expected));
    }
}
