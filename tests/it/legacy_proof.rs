//! Transfers that only their sender can buy with: the hash is public, the signature is not.

use serde_json::{Value, json};

use crate::harness::{ARTICLE, Ask, BASE_URL, Move, Rig, Sent, Wallet, order};

/// Of the dearest tier that is asked for.
const UNITS: u128 = 50_000;

fn rig() -> Rig {
    Rig::on_chain(|resolved| resolved.set("legacy.access", "true"))
}

fn transfer(rig: &Rig, sender: &Wallet) -> String {
    let hash = rig.chain.send(Sent::of(vec![Move {
        from: sender.address().to_string(),
        ..Move::to_us(UNITS)
    }]));
    rig.pass(20);
    hash
}

fn buy(rig: &Rig, hash: &str, target_url: &str, tier: &str) -> Ask {
    rig.post("/v1/access")
        .json(&order(target_url, tier))
        .header("X-Service-Payment-Hash", hash)
}

fn signed(ask: &Ask, wallet: &Wallet, text: &str) -> Ask {
    ask.clone()
        .header("X-Service-Payment-Proof", wallet.sign_text(text))
}

/// The text that the service asks to be signed.
fn text_of(ask: &Ask) -> String {
    let refused = ask.send().refused(400, "payment_proof_required").json();
    assert_eq!(refused["error"]["charged"], false, "{refused}");
    let proof = &refused["payment_proof"];
    assert_eq!(proof["header"], "X-Service-Payment-Proof", "{refused}");
    assert_eq!(proof["scheme"], "eip191", "{refused}");
    proof["text"].as_str().expect("a text").to_owned()
}

#[test]
fn the_sender_signs_and_buys() {
    let mut rig = rig();
    let sender = Wallet::new();
    let hash = transfer(&rig, &sender);
    let calls = rig.chain.calls();
    let ask = buy(&rig, &hash, ARTICLE, "fresh");
    let text = text_of(&ask);
    assert_eq!(
        text,
        format!(
            "Buy a page with a transfer\nservice: {BASE_URL}\ntransaction: {hash}\ntarget_url: {ARTICLE}\ntier: fresh\n\
             force_refresh: false"
        )
    );
    assert_eq!(rig.chain.calls(), calls, "the node is not asked for it");
    let first = signed(&ask, &sender, &text).send().expect(200);
    // Its answer is lost, and the service stops: the sender is given it again.
    rig.restart();
    let ask = buy(&rig, &hash, ARTICLE, "fresh");
    let again = signed(&ask, &sender, &text).send().expect(200);
    assert_eq!(again.text(), first.text());
    assert_eq!(rig.site.hits("/article"), 1);
    assert_eq!(rig.operator("/metrics").json()["paid_total"], 0);
}

/// The attack: somebody reads the hash on chain and is first to send it.
#[test]
fn who_has_not_sent_the_transfer_buys_nothing_with_it() {
    let rig = rig();
    let (sender, thief) = (Wallet::new(), Wallet::new());
    let hash = transfer(&rig, &sender);
    let ask = buy(&rig, &hash, ARTICLE, "fresh");
    let text = text_of(&ask);
    signed(&ask, &thief, &text)
        .send()
        .refused(400, "payment_proof_required");
    // A signature for one purchase is none for another.
    for other in [
        buy(&rig, &hash, ARTICLE, "deep"),
        buy(&rig, &hash, "http://news.sample-site.org/other", "fresh"),
        buy(&rig, &transfer(&rig, &sender), ARTICLE, "fresh"),
    ] {
        signed(&other, &sender, &text)
            .send()
            .refused(400, "payment_proof_required");
    }
    assert_eq!(rig.site.hits("/article"), 0);
    assert_eq!(
        rig.operator("/operator/payments").json()["payments"],
        json!([])
    );
    signed(&ask, &sender, &text).send().expect(200);
    // Nor is it met again by the thief afterwards.
    signed(&ask, &thief, &text)
        .send()
        .refused(400, "payment_proof_required");
}

#[test]
fn what_is_no_signature_is_refused() {
    let rig = rig();
    let hash = transfer(&rig, &Wallet::new());
    for bad in ["", "0x", "0x12", "nonsense"] {
        let ask = buy(&rig, &hash, ARTICLE, "fresh").header("X-Service-Payment-Proof", bad);
        let answer = ask.send();
        match bad {
            // Hex, and not 65 bytes.
            "0x12" => answer.refused(400, "payment_proof_required"),
            _ => answer.invalid("value_error", &["header", "X-Service-Payment-Proof"]),
        };
    }
    let terms = rig.post("/v1/access").send().expect(402).json()["payment"].clone();
    assert_eq!(terms["proof_header"], "X-Service-Payment-Proof", "{terms}");
    let told: Value = terms["instructions"].clone();
    assert!(
        told.as_str().is_some_and(|told| told.contains("sender")),
        "{told}"
    );
}
