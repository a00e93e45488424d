use super::*;
use crate::domain::amount::Amount;
use crate::signing::SigningKey;
use crate::x402::wire::Extra;

const RESOURCE: &str = "https://api.example.com/v1/x402/access";
const TRANSACTION: &str = "0x1111111111111111111111111111111111111111111111111111111111111111";
const PAYER: Address = Address([0x70; 20]);
const NOW: UnixSeconds = UnixSeconds(1_795_000_000);

fn signer() -> Signer {
    let seed = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
    Signer::new(
        &SigningKey::parse(seed).expect("a key"),
        &[],
        "https://api.example.com",
    )
}

fn requirements() -> PaymentRequirements {
    PaymentRequirements {
        scheme: Scheme::Exact,
        network: Network(8_453),
        amount: Amount::from_units(30_000),
        asset: Address([0x83; 20]),
        pay_to: Address([0x40; 20]),
        max_timeout_seconds: 300,
        extra: Extra::domain("USD Coin", "2"),
    }
}

fn seen(requirements: &PaymentRequirements) -> Seen<'_> {
    Seen {
        resource_url: RESOURCE,
        requirements,
        payer: PAYER,
        transaction: TRANSACTION,
        now: NOW,
    }
}

fn ours() -> Receipt {
    Receipt::new(
        Network(8_453),
        RESOURCE.to_owned(),
        PAYER.to_string(),
        TRANSACTION.to_owned(),
        "ab".repeat(32),
        NOW,
    )
}

fn offered(extension: Value) -> Claimed {
    let extensions = Map::from_iter([(OFFER_RECEIPT.to_owned(), extension)]);
    let mut claimed = claimed_offers(&extensions);
    assert_eq!(claimed.len(), 1);
    claimed.remove(0).expect("a JWS")
}

fn received(receipt: &Receipt) -> Claimed {
    let extensions = super::receipt(&signer(), receipt);
    let claimed = claimed_receipt(&extensions).expect("a receipt");
    claimed.expect("a JWS")
}

#[test]
fn what_is_signed_is_in_canonical_order() {
    let (signer, requirements) = (signer(), requirements());
    let offer = offered(offer(&signer, RESOURCE, &requirements));
    for payload in [
        signing::verified(jws(&offer), &signer.public_key()),
        signing::verified(jws(&received(&ours())), &signer.public_key()),
    ] {
        let payload = payload.expect("our own signature");
        let value: Map<String, Value> = serde_json::from_slice(&payload).expect("JSON");
        let names: Vec<&String> = value.keys().collect();
        assert!(names.is_sorted(), "{names:?}");
        assert_eq!(serde_json::to_vec(&value).ok(), Some(payload));
    }
}

#[test]
fn an_offer_proves_the_terms_that_it_was_made_for_and_no_others() {
    let (signer, requirements) = (signer(), requirements());
    let offer = offered(offer(&signer, RESOURCE, &requirements));
    let key = signer.public_key();
    assert_eq!(offer.check_offer(Some(&key), &seen(&requirements)), Ok(()));
    type Change = fn(&mut PaymentRequirements);
    let changes: [(Change, &str); 4] = [
        (|terms| terms.amount = Amount::from_units(30_001), "amount"),
        (|terms| terms.pay_to = Address([0x41; 20]), "payTo"),
        (|terms| terms.asset = Address([0x84; 20]), "asset"),
        (|terms| terms.network = Network(1), "network"),
    ];
    for (change, member) in changes {
        let mut changed = requirements.clone();
        change(&mut changed);
        assert_eq!(
            offer.check_offer(Some(&key), &seen(&changed)),
            Err(Unproven::Differs(member))
        );
    }
    let elsewhere = Seen {
        resource_url: "https://api.example.com/v1/x402/proof-pack",
        ..seen(&requirements)
    };
    assert_eq!(
        offer.check_offer(Some(&key), &elsewhere),
        Err(Unproven::Differs("resourceUrl"))
    );
}

#[test]
fn a_receipt_proves_its_own_purchase_and_no_other() {
    let (key, requirements) = (signer().public_key(), requirements());
    let check =
        |receipt: &Receipt| received(receipt).check_receipt(Some(&key), &seen(&requirements));
    assert_eq!(check(&ours()), Ok(ours()));
    let without = Receipt {
        transaction: None,
        content_sha256: None,
        ..ours()
    };
    assert_eq!(check(&without), Ok(without.clone()), "both are optional");
    type Change = fn(&mut Receipt);
    let changes: [(Change, &str); 6] = [
        (|receipt| receipt.version = 2, "version"),
        (|receipt| receipt.resource_url.push('/'), "resourceUrl"),
        (|receipt| receipt.network = "eip155:1".to_owned(), "network"),
        (
            |receipt| receipt.payer = Address([1; 20]).to_string(),
            "payer",
        ),
        (
            |receipt| receipt.transaction = Some(TRANSACTION.replace('1', "2")),
            "transaction",
        ),
        (|receipt| receipt.issued_at -= 3_601, "issuedAt"),
    ];
    for (change, member) in changes {
        let mut changed = ours();
        change(&mut changed);
        assert_eq!(check(&changed), Err(Unproven::Differs(member)));
    }
}

#[test]
fn only_a_key_of_the_seller_s_own_host_counts() {
    let claimed = received(&ours());
    assert!(matches!(claimed.kid(RESOURCE), Ok(Some(_))));
    for other in [
        "https://api.example.com.evil.org/v1/x402/access",
        "https://example.com/v1/x402/access",
        "https://api.example.com:8443/v1/x402/access",
    ] {
        assert_eq!(claimed.kid(other), Err(Unproven::Stranger), "{other}");
    }
}

fn jws(claimed: &Claimed) -> &str {
    match claimed {
        Claimed::Jws { jws, .. } => jws,
        Claimed::Typed { .. } => panic!("we sign as JWS"),
    }
}

#[test]
fn other_formats_and_absence_are_told_apart() {
    assert_eq!(claimed_receipt(&Map::new()), None);
    assert_eq!(claimed_offers(&Map::new()), []);
    for broken in [
        json!({"format": "jws"}),
        json!({"format": "jws", "signature": "e30.e30.AAAA"}),
        json!({"format": "eip712", "payload": {}, "signature": "0x"}),
        json!({"format": "cose", "signature": "AA"}),
        json!({"signature": "AA"}),
        json!(7),
    ] {
        let extension = json!({"info": {"receipt": broken, "offers": [broken]}});
        let extensions = Map::from_iter([(OFFER_RECEIPT.to_owned(), extension)]);
        assert_eq!(claimed_receipt(&extensions), Some(Err(Unproven::Form)));
        assert_eq!(claimed_offers(&extensions), [Err(Unproven::Form)]);
    }
}

/// The offer and receipt that two wallets' libraries have signed alike.
#[test]
fn the_other_format_is_checked_too() {
    let file: Value = serde_json::from_str(include_str!("../../../tests/data/x402_vectors.json"))
        .expect("the vectors are in the repository");
    let vectors = &file["offerReceipt"];
    let digest = |kind, name: &str| {
        let digest = typed::digest(kind, &vectors[name]["payload"]).expect("a whole payload");
        format!("0x{}", hex::encode(digest.0))
    };
    assert_eq!(digest(&typed::OFFER, "offer"), vectors["offerDigest"]);
    assert_eq!(digest(&typed::RECEIPT, "receipt"), vectors["receiptDigest"]);
    // The vectors' signer is whom the buyer pays.
    let signer = vectors["signer"]
        .as_str()
        .and_then(Address::parse)
        .expect("an address");
    let receipt = &vectors["receipt"];
    let payer = receipt["payload"]["payer"]
        .as_str()
        .and_then(Address::parse);
    let terms = PaymentRequirements {
        pay_to: signer,
        ..requirements()
    };
    let seen = Seen {
        payer: payer.expect("an address"),
        now: UnixSeconds(1_795_247_700),
        ..seen(&terms)
    };
    let good = claimed(receipt).expect("a signature");
    assert_eq!(good.kid(RESOURCE), Ok(None));
    let says = good.check_receipt(None, &seen).expect("a good receipt");
    assert_eq!(says.issued_at, 1_795_247_658);
    // The vectors' offer pays somebody else than its signer, who is nobody the buyer knows.
    let offer = claimed(&vectors["offer"]).expect("a signature");
    assert_eq!(
        offer.check_offer(None, &seen),
        Err(Unproven::Differs("asset"))
    );
    let elsewhere = Seen {
        requirements: &requirements(),
        ..seen.clone()
    };
    assert_eq!(
        good.check_receipt(None, &elsewhere),
        Err(Unproven::Stranger)
    );
    let mut altered = receipt.clone();
    altered["payload"]["issuedAt"] = json!(1_795_247_659);
    let altered = claimed(&altered).expect("a signature");
    assert_eq!(altered.check_receipt(None, &seen), Err(Unproven::Stranger));
    let mut partial = receipt.clone();
    partial["payload"] = json!({"version": 1});
    let partial = claimed(&partial).expect("a signature");
    assert_eq!(partial.check_receipt(None, &seen), Err(Unproven::Form));
}
