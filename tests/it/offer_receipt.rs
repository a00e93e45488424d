//! What the service signs, so that a buyer can prove what was offered, paid and delivered.

use std::net::TcpListener;

use context402::signing::{self, PublicKey};
use context402::x402::encoding;
use serde_json::{Value, json};

use crate::harness::process::{Finished, run};
use crate::harness::{ACCESS, ARTICLE, Answer, BASE_URL, Rig, Service, Wallet, Wish, for_each};

const KEY: &str = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";

fn rig() -> Rig {
    Rig::with(|resolved| resolved.set("signing.key", KEY))
}

fn decoded(answer: &Answer, header: &str) -> Value {
    let bytes = encoding::decode(answer.must(header)).expect("base64");
    serde_json::from_slice(&bytes).expect("JSON")
}

/// The service's key, found as a stranger finds it.
fn key(rig: &Rig, jws: &str) -> PublicKey {
    let kid = signing::claimed_kid(jws).expect("a JWS");
    let document = rig.get("/.well-known/did.json").expect(200).json();
    PublicKey::in_did_document(&document, &kid).expect("the key that signed")
}

fn payload(rig: &Rig, signed: &Value) -> Value {
    assert_eq!(signed["format"], "jws");
    assert!(signed.get("payload").is_none(), "the JWS holds it");
    let jws = signed["signature"].as_str().expect("a JWS");
    let bytes = signing::verified(jws, &key(rig, jws)).expect("our own signature");
    serde_json::from_slice(&bytes).expect("JSON")
}

#[test]
fn every_tier_s_offer_is_signed_as_it_is_made() {
    let rig = rig();
    for_each(["starter", "cached", "basic", "fresh", "deep"], |tier| {
        let unpaid = rig.order(ARTICLE, tier).send().expect(402);
        let challenge = decoded(&unpaid, "payment-required");
        assert!(unpaid.text().len() <= 2_900);
        let offers = challenge["extensions"]["offer-receipt"]["info"]["offers"].clone();
        assert_eq!(offers.as_array().map(Vec::len), Some(1));
        assert_eq!(offers[0]["acceptIndex"], 0);
        let accepted = &challenge["accepts"][0];
        let expected = json!({
            "amount": accepted["amount"], "asset": accepted["asset"], "network": accepted["network"],
            "payTo": accepted["payTo"], "resourceUrl": challenge["resource"]["url"], "scheme": "exact", "version": 1,
        });
        assert_eq!(payload(&rig, &offers[0]), expected, "{tier}");
    });
}

/// Also in the challenge that answers a payment which was not taken.
#[test]
fn a_refused_payment_is_answered_with_the_same_signed_offer() {
    let rig = rig();
    let payment = Wallet::new().sign(&rig, "fresh");
    let payment = payment.altered(|payload| payload["accepted"]["amount"] = json!("1"));
    let refused = rig.pay(&payment, ARTICLE, "fresh");
    let unpaid = rig.order(ARTICLE, "fresh").send().expect(402);
    let offers = |answer: &Answer| {
        decoded(answer, "payment-required")["extensions"]["offer-receipt"]["info"].clone()
    };
    assert_eq!(offers(&refused.expect(402)), offers(&unpaid));
}

#[test]
fn a_receipt_says_who_paid_for_what_and_what_came() {
    let rig = rig();
    let wallet = Wallet::new();
    let payment = wallet.sign(&rig, "fresh");
    let order = rig.order(ARTICLE, "fresh").paid(&payment.header);
    let bought = order.send().expect(200);
    let settlement = bought.settlement();
    let receipt = payload(
        &rig,
        &settlement["extensions"]["offer-receipt"]["info"]["receipt"],
    );
    let expected = json!({
        "contentSha256": bought.json()["content_sha256"], "issuedAt": rig.now().0, "network": "eip155:8453",
        "payer": wallet.address().to_string(), "resourceUrl": format!("{BASE_URL}{ACCESS}"),
        "transaction": settlement["transaction"], "version": 1,
    });
    assert_eq!(receipt, expected);
    // Given out again, it is the same receipt.
    rig.pass(60);
    assert_eq!(order.send().expect(200).settlement(), settlement);
}

/// The same of every kind of purchase: the offer names its price, the receipt what came.
#[test]
fn the_offer_and_the_receipt_of_every_kind_are_signed() {
    let rig = rig();
    for_each(Wish::all(ARTICLE), |wish| {
        let wallet = Wallet::new();
        let ask = wish.ask(rig.address);
        let unpaid = ask.send().expect(402);
        let challenge = decoded(&unpaid, "payment-required");
        let offer = &challenge["extensions"]["offer-receipt"]["info"]["offers"][0];
        let offer = payload(&rig, offer);
        assert_eq!(offer["amount"], wish.units.to_string(), "{wish:?}");
        assert_eq!(offer["resourceUrl"], challenge["resource"]["url"]);
        let payment = wallet.sign_answer(&unpaid, rig.now(), None);
        let bought = ask.paid(&payment.header).send().expect(200);
        let (settlement, body) = (bought.settlement(), bought.json());
        let receipt = &settlement["extensions"]["offer-receipt"]["info"]["receipt"];
        let receipt = payload(&rig, receipt);
        assert_eq!(receipt["payer"], wallet.address().to_string());
        assert_eq!(receipt["transaction"], settlement["transaction"]);
        assert_eq!(receipt["resourceUrl"], challenge["resource"]["url"]);
        let came = [&body["content_sha256"], &body["result_hash"]];
        assert!(came.contains(&&receipt["contentSha256"]), "{wish:?}");
    });
}

#[test]
fn a_failed_settlement_has_no_receipt() {
    let rig = rig();
    rig.facilitator
        .settles(crate::harness::Says::No("insufficient_funds"));
    let failed = rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(402);
    assert_eq!(failed.settlement()["success"], false);
    assert!(failed.settlement().get("extensions").is_none());
}

#[test]
fn the_public_half_is_published_and_nothing_more() {
    let rig = rig();
    let keys = rig.get("/.well-known/jwks.json").expect(200);
    assert_eq!(keys.must("content-type"), "application/jwk-set+json");
    let keys = keys.json();
    let document = rig.get("/.well-known/did.json").expect(200);
    assert_eq!(document.must("content-type"), "application/did+json");
    let document = document.json();
    assert_eq!(document["id"], "did:web:127.0.0.1%3A4020");
    let method = &document["verificationMethod"][0];
    assert_eq!(keys["keys"][0]["kid"], method["id"]);
    assert_eq!(keys["keys"][0]["x"], method["publicKeyJwk"]["x"]);
    for text in [keys.to_string(), document.to_string()] {
        assert!(!text.contains("\"d\"") && !text.contains(KEY), "{text}");
    }
}

/// Everything works without a key, and says that there is none.
#[test]
fn without_a_key_nothing_is_signed() {
    let rig = Rig::start();
    for path in ["/.well-known/jwks.json", "/.well-known/did.json"] {
        rig.get(path).refused(404, "not_found");
    }
    let unpaid = rig.order(ARTICLE, "fresh").send().expect(402);
    let challenge = decoded(&unpaid, "payment-required");
    assert!(challenge["extensions"].get("offer-receipt").is_none());
    let bought = rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
    assert!(bought.settlement().get("extensions").is_none());
}

/// A payment signed before the key was changed is one for the same terms.
#[test]
fn another_key_turns_no_buyer_away() {
    let mut rig = rig();
    let payment = Wallet::new().sign(&rig, "fresh");
    let keys = rig.get("/.well-known/jwks.json").expect(200).json();
    let former = keys["keys"][0]["x"].as_str().expect("a key").to_owned();
    rig.reconfigure(|resolved| {
        resolved.set("signing.key", KEY.replace('9', "8"));
        resolved.set_list("signing.former_keys", vec![former]);
    });
    let now = rig.get("/.well-known/jwks.json").expect(200).json();
    assert_eq!(now["keys"][1], keys["keys"][0]);
    assert_ne!(now["keys"][0], keys["keys"][0]);
    let order = rig.order(ARTICLE, "fresh").paid(&payment.header);
    order.send().expect(200);
}

fn buy(rig: &Rig, service: &Service) -> Finished {
    let file = rig.folder.path("wallet.key");
    std::fs::write(&file, format!("0x{}", "7".repeat(64))).expect("written");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&file, mode).expect("its mode");
    let seller = format!("http://{}", service.address);
    run(&[
        "buy",
        ARTICLE,
        "--seller",
        &seller,
        "--key-file",
        &file.display().to_string(),
    ])
    .expect(0)
}

/// `context402 buy` says whether the signatures hold, and asks nobody but the seller for its key.
#[test]
fn buy_says_whether_the_receipt_is_good() {
    let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let listen = free.local_addr().expect("its address").to_string();
    drop(free);
    let base_url = format!("http://{listen}");
    let mut rig = Rig::today();
    let more = [
        ("signing.key", KEY),
        ("listen", listen.as_str()),
        ("base_url", base_url.as_str()),
    ];
    rig.in_process(&more, |rig, service| {
        let said = buy(rig, &service).err;
        assert!(said.contains("offer     signed by did:web:127.0.0.1%3A"));
        assert!(said.contains("valid receipt, signed by did:web:"), "{said}");
    });
    // Under a name at which somebody else answers, or nobody.
    rig.in_process(&[("signing.key", KEY)], |rig, service| {
        let said = buy(rig, &service).err;
        assert!(said.contains("receipt   0x"), "{said}");
        assert!(said.contains("invalid receipt"), "{said}");
    });
    rig.in_process(&[], |rig, service| {
        let said = buy(rig, &service).err;
        assert!(!said.contains("proof") && !said.contains("offer"), "{said}");
    });
}

#[test]
fn a_bad_key_is_refused_and_not_shown() {
    let mut rig = Rig::start();
    assert!(rig.stop());
    for bad in ["secret", &KEY[1..], &"0".repeat(64)] {
        let line = Service::refused(rig.resolved(), &[("signing.key", bad)]).failed(78);
        assert!(line.contains("signing.key") && line.contains("openssl rand -hex 32"));
        assert!(!line.contains(bad), "{line}");
    }
}
