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
    let claimed = claimed_offer(&extensions).expect("an offer");
    claimed.expect("a JWS")
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
        signing::verified(&offer.jws, &signer.public_key()),
        signing::verified(&received(&ours()).jws, &signer.public_key()),
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
    assert_eq!(offer.check_offer(&key, &seen(&requirements)), Ok(()));
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
            offer.check_offer(&key, &seen(&changed)),
            Err(Unproven::Differs(member))
        );
    }
    let elsewhere = Seen {
        resource_url: "https://api.example.com/v1/x402/proof-pack",
        ..seen(&requirements)
    };
    assert_eq!(
        offer.check_offer(&key, &elsewhere),
        Err(Unproven::Differs("resourceUrl"))
    );
}

#[test]
fn a_receipt_proves_its_own_purchase_and_no_other() {
    let (key, requirements) = (signer().public_key(), requirements());
    let check = |receipt: &Receipt| received(receipt).check_receipt(&key, &seen(&requirements));
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
    assert!(claimed.is_named_by(RESOURCE));
    for other in [
        "https://api.example.com.evil.org/v1/x402/access",
        "https://example.com/v1/x402/access",
        "https://api.example.com:8443/v1/x402/access",
    ] {
        assert!(!claimed.is_named_by(other), "{other}");
    }
}

#[test]
fn other_formats_and_absence_are_told_apart() {
    assert_eq!(claimed_receipt(&Map::new()), None);
    assert_eq!(claimed_offer(&Map::new()), None);
    let other =
        json!({"info": {"receipt": {"format": "eip712", "payload": {}, "signature": "0x00"}}});
    let extensions = Map::from_iter([(OFFER_RECEIPT.to_owned(), other)]);
    assert_eq!(claimed_receipt(&extensions), Some(Err(Unproven::Format)));
    let broken = json!({"info": {"receipt": {"format": "jws"}}});
    let extensions = Map::from_iter([(OFFER_RECEIPT.to_owned(), broken)]);
    assert_eq!(
        claimed_receipt(&extensions),
        Some(Err(Unproven::Jws(BadJws::Form)))
    );
}
