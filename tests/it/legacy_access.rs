//! Pages paid by a transfer that the buyer has made itself, shown by the transaction's hash.

use std::time::Instant;

use context402::config::Resolved;
use serde_json::{Value, json};

use crate::harness::ask::at_once;
use crate::harness::{
    ARTICLE, ASSET, Answer, Ask, FRESH, Move, PAY_TO, Page, Rig, Says, Sent, Tells, Wallet, amount,
    for_each, order, price,
};

const LEGACY: &str = "/v1/access";
const HASH: &str = "X-Service-Payment-Hash";
const SECRET: &str = "a secret of this buyer";
const FLAKY: &str = "http://news.sample-site.org/flaky";

/// Whoever sends the hash first has the page: proofs are tried in `legacy_proof`.
fn rig() -> Rig {
    Rig::on_chain(switched_on)
}

fn switched_on(resolved: &mut Resolved) {
    resolved.set("legacy.access", "true");
    resolved.set("legacy.payment_proof", "false");
}

fn buy(rig: &Rig, hash: &str, target_url: &str, tier: &str) -> Ask {
    rig.post(LEGACY)
        .json(&order(target_url, tier))
        .header(HASH, hash)
}

/// A transfer that stands deep enough.
fn standing(rig: &Rig, units: u128) -> String {
    let hash = rig.chain.transfer(units);
    rig.pass(20);
    hash
}

fn secret() -> String {
    SECRET.replace(' ', "-")
}

fn payments(rig: &Rig) -> Vec<Value> {
    let listed = rig.operator("/operator/payments").json()["payments"].clone();
    listed.as_array().cloned().unwrap_or_default()
}

#[test]
fn a_transfer_buys_a_page_and_nobody_else_is_asked_for_money() {
    let rig = rig();
    let hash = standing(&rig, price(FRESH));
    let answer = buy(&rig, &hash, ARTICLE, "fresh").send().expect(200);
    assert!(answer.text().contains("Boats"));
    assert_eq!(answer.header("payment-response"), None);
    assert_eq!(answer.must("cache-control"), "private, no-store");
    let body = answer.json();
    assert_eq!(body["status"], "success");
    let paid = &body["payment"];
    assert_eq!(paid["mode"], "transaction_hash");
    assert_eq!(paid["transaction"], json!(hash));
    assert_eq!(paid["amount_units"], amount(FRESH));
    assert_eq!(
        paid["payer"].as_str().map(str::to_lowercase),
        Some(format!("0x{}", "70".repeat(20)))
    );
    let receipt = &body["ueg_receipt"];
    assert_eq!(receipt["gas_cost_usdc"], 0.0);
    assert_eq!(receipt["facilitator_fee_usdc"], 0.0);
    assert_eq!(receipt["supplier_cost_usdc"], 0.0005);
    assert_eq!(
        (
            rig.facilitator.verify_calls(),
            rig.facilitator.settle_calls()
        ),
        (0, 0)
    );
    let kept = payments(&rig);
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0]["state"], "settled");
    assert_eq!(kept[0]["transaction"], json!(hash));
    assert_eq!(
        rig.operator("/metrics").json()["revenue_units"],
        amount(FRESH)
    );
}

/// Also as markdown, and with the tier in the header.
#[test]
fn it_is_the_same_product() {
    let rig = rig();
    let hash = standing(&rig, 50_000);
    let answer = rig
        .post(LEGACY)
        .json(&json!({"target_url": ARTICLE}))
        .header("X-Service-Tier", "deep")
        .header("Accept", "text/markdown")
        .header(HASH, &hash)
        .send()
        .expect(200);
    assert!(answer.text().starts_with("---\ntitle: "));
    assert_eq!(answer.must("x-service-payment-tier"), "deep");
}

#[test]
fn without_a_hash_the_answer_says_how_to_pay() {
    let rig = rig();
    for ask in [
        rig.post(LEGACY),
        rig.post(LEGACY).json(&order(ARTICLE, "fresh")),
        rig.post(LEGACY).body("{nonsense"),
        rig.post(LEGACY).json(&order("http://10.0.0.1/", "fresh")),
    ] {
        let answer = ask.send().refused(402, "payment_hash_required");
        assert_eq!(answer.header("payment-required"), None);
        let body = answer.json();
        let terms = &body["payment"];
        assert_eq!(terms["pay_to"].as_str(), Some(PAY_TO));
        assert_eq!(terms["asset"].as_str(), Some(ASSET));
        assert_eq!(terms["network"], "eip155:8453");
        assert_eq!(terms["confirmations"], 5);
        assert_eq!(
            terms["tiers"][3],
            json!({"tier": "fresh", "amount": "30000", "price_usdc": 0.03})
        );
        assert_eq!(body["error"]["charged"], false);
    }
    assert!(payments(&rig).is_empty());
}

/// Nobody is told to transfer what nobody looks for: without a chain, and with one as long as the operator has not
/// switched the endpoint on.
#[test]
fn switched_off_no_transfer_is_asked_for_or_taken() {
    for_each([Rig::start(), Rig::on_chain(|_| {})], not_taken);
}

fn not_taken(rig: Rig) {
    let unpaid = rig.post(LEGACY).json(&order(ARTICLE, "fresh")).send();
    let unpaid = unpaid.refused(402, "payment_hash_required");
    assert_eq!(unpaid.json()["payment"], Value::Null);
    let unreadable = buy(&rig, "0x12", ARTICLE, "fresh").send();
    let unreadable = unreadable.refused(400, "invalid_payment_hash");
    for (answer, part) in [
        (&unpaid, "message"),
        (&unpaid, "next_step"),
        (&unreadable, "next_step"),
    ] {
        let text = answer.json()["error"][part].clone();
        let text = text.as_str().expect("a sentence");
        assert!(text.contains("do not transfer anything"), "{part}: {text}");
    }
    let hash = format!("0x{}", "ab".repeat(32));
    let refused = buy(&rig, &hash, ARTICLE, "fresh").send();
    let refused = refused.refused(503, "transfers_not_taken");
    assert_eq!(refused.json()["error"]["retryable"], false);
    assert_eq!(refused.json()["error"]["charged"], false);
    assert_eq!(rig.site.hits("/article"), 0);
}

#[test]
fn what_is_no_hash_is_refused_before_anybody_is_asked() {
    let rig = rig();
    let calls = rig.chain.calls();
    let hash = format!("0x{}", "ab".repeat(32));
    for bad in [
        "",
        "0x",
        "nonsense",
        &hash[..65],
        &format!("{hash}00"),
        &hash.replace('b', "g"),
    ] {
        buy(&rig, bad, ARTICLE, "fresh")
            .send()
            .refused(400, "invalid_payment_hash");
    }
    let twice = buy(&rig, &hash, ARTICLE, "fresh").header(HASH, &hash);
    twice.send().refused(400, "invalid_payment_hash");
    // Nor for a body that cannot be served.
    let ask = rig.post(LEGACY).header(HASH, &hash);
    ask.json(&json!({"tier": "fresh"}))
        .send()
        .invalid("missing", &["body", "target_url"]);
    let ask = buy(&rig, &hash, ARTICLE, "fresh").header("X-Service-Tier", "deep");
    ask.send().refused(400, "tier_mismatch");
    let ask = buy(&rig, &hash, ARTICLE, "fresh").header("Idempotency-Key", "short");
    ask.send()
        .invalid("value_error", &["header", "Idempotency-Key"]);
    assert_eq!(rig.chain.calls(), calls);
}

/// Every way in which a transaction is not this payment. None of them costs a fetch.
#[test]
fn a_transaction_that_does_not_pay_is_refused() {
    let other = format!("0x{}", "99".repeat(20));
    let to_us = || Move::to_us(price(FRESH));
    let moved = |change: &dyn Fn(&mut Move)| {
        let mut moved = to_us();
        change(&mut moved);
        Sent::of(vec![moved])
    };
    let failed = Sent {
        succeeded: false,
        ..Sent::of(vec![to_us()])
    };
    // Somebody's signed payment, settled by a facilitator: it pays for what was signed for alone.
    let settlement = Sent {
        settles: true,
        ..Sent::of(vec![to_us()])
    };
    let cases = [
        moved(&|moved| moved.units = price(FRESH) - 1),
        moved(&|moved| moved.units = u128::MAX),
        moved(&|moved| moved.to = other.clone()),
        moved(&|moved| moved.token = other.clone()),
        moved(&|moved| moved.from = PAY_TO.to_owned()),
        Sent::of(vec![]),
        // Two halves are no whole.
        Sent::of(vec![
            Move::to_us(price(FRESH) / 2),
            Move::to_us(price(FRESH) / 2),
        ]),
        failed,
        settlement,
    ];
    for_each(cases, |sent| {
        let rig = rig();
        let hash = rig.chain.send(sent.clone());
        rig.pass(20);
        let refused = buy(&rig, &hash, ARTICLE, "fresh").send();
        let refused = refused.refused(400, "invalid_payment_hash");
        assert_eq!(refused.json()["error"]["charged"], false, "{sent:?}");
        assert_eq!(rig.site.hits("/article"), 0, "{sent:?}");
        assert!(payments(&rig).is_empty(), "{sent:?}");
    });
}

/// A settlement of our own, found on chain, is not sold again.
#[test]
fn an_x402_settlement_is_no_transfer() {
    let rig = rig();
    let wallet = Wallet::new();
    let payment = wallet.sign(&rig, "fresh");
    let hash = rig.chain.write(&payment, crate::harness::End::Paid);
    rig.pass(20);
    buy(&rig, &hash, ARTICLE, "fresh")
        .send()
        .refused(400, "invalid_payment_hash");
}

#[test]
fn a_transfer_waits_for_its_confirmations() {
    let rig = rig();
    let hash = rig.chain.transfer(price(FRESH));
    let ask = buy(&rig, &hash, ARTICLE, "fresh");
    let early = ask.send().refused(400, "payment_hash_unconfirmed");
    assert_eq!(early.must("retry-after"), "5");
    assert_eq!(early.json()["error"]["retryable"], true);
    // One block short, then deep enough: its own block counts.
    rig.pass(6);
    ask.send().refused(400, "payment_hash_unconfirmed");
    rig.pass(2);
    ask.send().expect(200);
    let unknown = format!("0x{}", "ab".repeat(32));
    buy(&rig, &unknown, ARTICLE, "fresh")
        .send()
        .refused(400, "payment_hash_unconfirmed");
}

#[test]
fn a_reorganised_transfer_is_none() {
    let rig = rig();
    let hash = standing(&rig, price(FRESH));
    rig.chain.tells(Tells::Reorganised);
    let ask = buy(&rig, &hash, ARTICLE, "fresh");
    ask.send().refused(400, "payment_hash_unconfirmed");
    rig.chain.tells(Tells::Honest);
    ask.send().expect(200);
}

/// Anybody may read old hashes on chain.
#[test]
fn an_old_transfer_buys_nothing() {
    let rig = Rig::on_chain(|resolved| {
        switched_on(resolved);
        resolved.set("chain.transfer_age_seconds_max", "60");
    });
    let (first, second) = (
        rig.chain.transfer(price(FRESH)),
        rig.chain.transfer(price(FRESH)),
    );
    rig.pass(60);
    buy(&rig, &first, ARTICLE, "fresh").send().expect(200);
    rig.pass(2);
    let late = buy(&rig, &second, ARTICLE, "fresh").send();
    assert!(
        late.refused(400, "invalid_payment_hash")
            .text()
            .contains("too old")
    );
}

/// More than the price is taken, and is no revenue: the ledger shows it apart.
#[test]
fn what_a_transfer_brings_beyond_the_price_is_no_revenue() {
    let rig = rig();
    let hash = standing(&rig, 1_000_000);
    let body = buy(&rig, &hash, ARTICLE, "fresh").send().expect(200).json();
    assert_eq!(body["payment"]["amount_units"], amount(FRESH));
    assert_eq!(
        rig.operator("/metrics").json()["revenue_units"],
        amount(FRESH)
    );
    let kept = payments(&rig);
    assert_eq!(kept[0]["amount_units"], amount(FRESH), "{kept:?}");
    assert_eq!(kept[0]["overpaid_units"], "970000", "{kept:?}");
    let days = rig.operator("/operator/ledger").json();
    assert_eq!(days["days"][0]["ledger"]["revenue_usdc"], "0.03", "{days}");
    assert_eq!(
        days["days"][0]["overpaid"],
        json!({"payments": 1, "usdc": "0.97"})
    );
    // A sale that was refused has no part in the ledger.
    let refused = standing(&rig, 1_000_000);
    buy(&rig, &refused, "http://10.0.0.1/", "fresh")
        .send()
        .expect(400);
    let days = rig.operator("/operator/ledger").json();
    assert_eq!(days["days"][0]["overpaid"]["payments"], 1, "{days}");
}

/// In whatever spelling, for whatever purchase, by whomever, across restarts.
#[test]
fn a_hash_buys_once() {
    let mut rig = rig();
    let hash = standing(&rig, 50_000);
    buy(&rig, &hash, ARTICLE, "fresh").send().expect(200);
    for restarted in [false, true] {
        if restarted {
            rig.restart();
        }
        let digits = &hash[2..];
        for spelling in [
            hash.clone(),
            digits.to_owned(),
            digits.to_uppercase(),
            format!("0X{}", digits.to_uppercase()),
            format!("  {hash} "),
        ] {
            for (target, tier) in [
                (ARTICLE, "fresh"),
                (ARTICLE, "deep"),
                ("http://news.sample-site.org/other", "fresh"),
            ] {
                let again = buy(&rig, &spelling, target, tier).send();
                again.refused_charged(400, "payment_hash_replayed");
            }
        }
        let with_secret = buy(&rig, &hash, ARTICLE, "fresh").header("Idempotency-Key", secret());
        with_secret
            .send()
            .refused_charged(400, "payment_hash_replayed");
    }
    assert_eq!(rig.site.hits("/article"), 1);
    assert_eq!(payments(&rig).len(), 1);
}

#[test]
fn of_many_at_once_one_wins() {
    let rig = rig();
    let hash = standing(&rig, price(FRESH));
    let answers = buy(&rig, &hash, ARTICLE, "fresh").send_at_once(12);
    let count = |status: u16| {
        answers
            .iter()
            .filter(|answer| answer.status == status)
            .count()
    };
    assert_eq!(count(200), 1, "{answers:?}");
    // In flight, or too late.
    assert_eq!(count(409) + count(400) + count(503), 11, "{answers:?}");
    assert_eq!(rig.site.hits("/article"), 1);
    assert_eq!(payments(&rig).len(), 1);
    assert_eq!(
        rig.operator("/metrics").json()["revenue_units"],
        amount(FRESH)
    );
}

/// A transfer that was made to yesterday's vault while it was asked for still buys after the vault was changed; one that
/// was made later does not.
#[test]
fn a_transfer_to_the_former_vault_buys_as_long_as_it_was_asked_for() {
    let mut rig = rig();
    let (early, new) = (
        standing(&rig, price(FRESH)),
        "0x5020502050205020502050205020502050205020",
    );
    rig.reconfigure(|resolved| resolved.set("payment.pay_to", new));
    let answer = buy(&rig, &early, ARTICLE, "fresh").send().expect(200);
    let vault = &answer.json()["payment"]["vault_address"];
    assert!(
        PAY_TO.eq_ignore_ascii_case(vault.as_str().expect("an address")),
        "{vault}"
    );
    buy(&rig, &early, ARTICLE, "fresh")
        .send()
        .refused_charged(400, "payment_hash_replayed");
    rig.pass(400);
    let late = standing(&rig, price(FRESH));
    let refused = buy(&rig, &late, ARTICLE, "fresh").send();
    refused.refused(400, "invalid_payment_hash");
}

/// Two transfers in one transaction buy twice, and not three times.
#[test]
fn each_transfer_of_a_transaction_buys_once() {
    let rig = rig();
    let hash = rig.chain.send(Sent::of(vec![
        Move::to_us(price(FRESH)),
        Move::to_us(price(FRESH) - 1),
        Move::to_us(price(FRESH)),
    ]));
    rig.pass(20);
    let ask = buy(&rig, &hash, ARTICLE, "fresh");
    let answers = at_once(vec![ask.clone(), ask.clone()]);
    for answer in answers {
        // Both may have been after the same one.
        if answer.status != 200 {
            assert_eq!(answer.status, 409, "{answer:?}");
            ask.send().expect(200);
        }
    }
    ask.send().refused_charged(400, "payment_hash_replayed");
    // The smaller one pays for a smaller tier.
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
    buy(&rig, &hash, ARTICLE, "cached").send().expect(200);
    buy(&rig, &hash, ARTICLE, "cached")
        .send()
        .refused_charged(400, "payment_hash_replayed");
    // Three prices of fresh, and one of cached that a transfer of almost as much as fresh has paid.
    assert_eq!(rig.operator("/metrics").json()["revenue_units"], "105000");
}

/// A lost answer can be had again by whoever sent a secret with the purchase, and by nobody else.
#[test]
fn a_buyer_with_a_secret_is_given_the_answer_again() {
    let mut rig = rig();
    let hash = standing(&rig, price(FRESH));
    let ask = |rig: &Rig| buy(rig, &hash, ARTICLE, "fresh");
    let first = ask(&rig).header("Idempotency-Key", secret());
    let first = first.send().expect(200);
    rig.restart();
    let (ask, mine) = (ask(&rig), ask(&rig).header("Idempotency-Key", secret()));
    let again = mine.send().expect(200);
    assert_eq!(again.text(), first.text());
    ask.send().refused_charged(400, "payment_hash_replayed");
    ask.clone()
        .header("Idempotency-Key", "another-secret-of-somebody")
        .send()
        .refused_charged(400, "payment_hash_replayed");
    let other = buy(&rig, &hash, ARTICLE, "deep").header("Idempotency-Key", secret());
    other.send().refused(400, "invalid_payment_hash");
    assert_eq!(rig.site.hits("/article"), 1);
    // For a while, and a few times.
    for _ in 0..4 {
        mine.send().expect(200);
    }
    mine.send().refused_charged(400, "payment_hash_replayed");
}

/// An answer that is there and cannot be sent now is no used-up transfer.
#[test]
fn a_charged_buyer_is_told_to_come_back_when_memory_is_short() {
    let rig = rig();
    let long = "A long page about boats. ".repeat(20_000);
    rig.site.put("/long", Page::html("Long", &long));
    let hash = standing(&rig, price(FRESH));
    let ask = buy(&rig, &hash, "http://news.sample-site.org/long", "fresh")
        .header("Idempotency-Key", secret());
    let first = ask.send().expect(200);
    // One may exceed the memory for work; what is left of it is taken bit by bit.
    let memory = &rig.app().outside.memory;
    let (mut exceeding, mut rest) = (memory.nothing(), memory.nothing());
    let all = exceeding.resize(1 << 40, Instant::now());
    assert_eq!(all, Ok(()));
    let (mut taken, mut step) = (0, 1 << 30);
    while step > 0 {
        match rest.resize(taken + step, Instant::now()) {
            Ok(()) => taken += step,
            Err(_) => step /= 2,
        }
    }
    ask.send().refused_charged(503, "overloaded");
    drop((exceeding, rest));
    assert_eq!(ask.send().expect(200).text(), first.text());
}

#[track_caller]
fn outage(answer: Answer) -> String {
    let answer = answer.refused(503, "upstream_unavailable");
    assert_eq!(answer.must("retry-after"), "5");
    answer.credit()
}

/// What was paid for is owed: the credit is redeemed without further payment.
#[test]
fn an_outage_earns_a_credit_that_holds_the_transfer() {
    let mut rig = rig();
    rig.site.put("/flaky", Page::Status(503));
    let hash = standing(&rig, price(FRESH));
    let ask = |rig: &Rig| buy(rig, &hash, FLAKY, "fresh");
    let credit = outage(ask(&rig).send());
    assert_eq!(payments(&rig)[0]["state"], "held");
    // The hash alone, which anybody can read, no longer does anything.
    let held = ask(&rig).send();
    let held = held.refused_charged(400, "payment_hash_held").json();
    for advice in ["message", "next_step"] {
        let advice = held["error"][advice].as_str().expect("advice");
        assert!(advice.contains("/v1/x402/retry"), "{advice}");
        assert!(!advice.contains("new transfer"), "{advice}");
    }
    rig.restart();
    rig.retry(&credit, ARTICLE, "fresh")
        .send()
        .refused(400, "retry_credit_invalid");
    outage(rig.retry(&credit, FLAKY, "fresh").send());
    rig.site.put("/flaky", Page::html("Back", "Boats again."));
    let answer = rig.retry(&credit, FLAKY, "fresh").send().expect(200);
    assert!(answer.text().contains("Boats again"));
    assert_eq!(answer.json()["payment"]["mode"], "transaction_hash");
    assert_eq!(answer.header("payment-response"), None);
    assert_eq!(rig.facilitator.settle_calls(), 0);
    rig.retry(&credit, FLAKY, "fresh")
        .send()
        .refused(400, "retry_credit_invalid");
    ask(&rig)
        .send()
        .refused_charged(400, "payment_hash_replayed");
    assert_eq!(
        rig.operator("/metrics").json()["revenue_units"],
        amount(FRESH)
    );
}

/// A credit that runs out takes no money with it: the hash is good again, for whatever is wanted now.
#[test]
fn a_credit_that_runs_out_lets_the_transfer_go() {
    let rig = Rig::on_chain(|resolved| {
        switched_on(resolved);
        resolved.set("chain.transfer_age_seconds_max", "60");
    });
    rig.site.put("/flaky", Page::Status(503));
    let hash = standing(&rig, price(FRESH));
    let credit = outage(buy(&rig, &hash, FLAKY, "fresh").send());
    rig.pass(15 * 60);
    rig.work_off();
    assert_eq!(payments(&rig)[0]["state"], "released");
    rig.retry(&credit, FLAKY, "fresh")
        .send()
        .refused(400, "retry_credit_invalid");
    // It was young when it was first sent.
    let second = outage(buy(&rig, &hash, FLAKY, "fresh").send());
    assert_ne!(second, credit);
    rig.pass(15 * 60);
    rig.work_off();
    buy(&rig, &hash, ARTICLE, "fresh").send().expect(200);
    buy(&rig, &hash, ARTICLE, "fresh")
        .send()
        .refused_charged(400, "payment_hash_replayed");
    assert_eq!(payments(&rig).len(), 1);
}

/// Its money is here: unlike a held authorization, nothing takes its place when the same buyer signs a payment.
#[test]
fn a_payment_for_the_same_page_leaves_a_held_transfer_alone() {
    let (rig, wallet) = (rig(), Wallet::new());
    rig.site.put("/flaky", Page::Status(503));
    let transfer = Move {
        from: wallet.address().to_string(),
        ..Move::to_us(price(FRESH))
    };
    let hash = rig.chain.send(Sent::of(vec![transfer]));
    rig.pass(20);
    let credit = outage(buy(&rig, &hash, FLAKY, "fresh").send());
    rig.site.put("/flaky", Page::html("Back", "Boats again."));
    rig.buy(&wallet, FLAKY, "fresh").expect(200);
    rig.retry(&credit, FLAKY, "fresh").send().expect(200);
}

/// With the secret, the same request is worked on again; the credit stands beside it until one of them delivers.
#[test]
fn a_held_transfer_is_worked_on_again_for_its_secret() {
    let rig = rig();
    rig.site.put("/flaky", Page::Status(503));
    let hash = standing(&rig, price(FRESH));
    let mine = buy(&rig, &hash, FLAKY, "fresh").header("Idempotency-Key", secret());
    let credit = outage(mine.send());
    let again = mine.send().refused(503, "upstream_unavailable");
    assert_eq!(again.header("x-service-retry-credit"), None, "told once");
    rig.site.put("/flaky", Page::html("Back", "Boats again."));
    mine.send().expect(200);
    rig.retry(&credit, FLAKY, "fresh")
        .send()
        .refused(400, "retry_credit_invalid");
    assert_eq!(
        rig.operator("/metrics").json()["revenue_units"],
        amount(FRESH)
    );
}

/// The Guardian and target safety come before any work, and what they refuse leaves the transfer unused.
#[test]
fn a_refusal_leaves_the_transfer_unused() {
    let mut rig = rig();
    let hash = standing(&rig, price(FRESH));
    buy(&rig, &hash, "http://10.0.0.1/", "fresh")
        .send()
        .refused(400, "target_blocked");
    buy(
        &rig,
        &hash,
        "http://inside.sample-site.org/article",
        "fresh",
    )
    .send()
    .refused(400, "target_blocked");
    // The money has arrived: nobody may read that nothing was charged.
    let unused = |refused: Answer| {
        let told = refused.json()["detail"].to_string();
        assert!(told.contains("was not used"), "{told}");
        assert!(!told.contains("othing was charged"), "{told}");
    };
    let cached = buy(&rig, &hash, ARTICLE, "cached").send();
    unused(cached.refused(400, "cache_miss"));
    let body = json!({"target_url": ARTICLE, "tier": "fresh", "render": "always"});
    let rendered = rig.post(LEGACY).json(&body).header(HASH, &*hash).send();
    unused(rendered.refused(400, "render_unavailable"));
    rig.reconfigure(|resolved| resolved.set("guard.minimum_profit_usdc", "0.0296"));
    let thin = buy(&rig, &hash, ARTICLE, "fresh").send();
    unused(thin.refused(400, "margin_rejected"));
    assert_eq!(rig.site.hits("/article"), 0);
    rig.reconfigure(|resolved| resolved.set("guard.minimum_profit_usdc", "0.0295"));
    buy(&rig, &hash, ARTICLE, "fresh").send().expect(200);
}

/// A node that does not answer, or lies, proves nothing; the hash is good when it comes to its senses.
#[test]
fn a_bad_node_proves_nothing() {
    for_each(Tells::LIES, |tells| {
        let rig = rig();
        let hash = standing(&rig, price(FRESH));
        rig.chain.tells(tells.clone());
        let ask = buy(&rig, &hash, ARTICLE, "fresh");
        let refused = ask.send().refused(503, "network_unavailable");
        assert_eq!(refused.header("x-service-retry-credit"), None, "{tells:?}");
        assert_eq!(rig.site.hits("/article"), 0, "{tells:?}");
        rig.chain.tells(Tells::Honest);
        ask.send().expect(200);
    });
}

/// The money of a transfer does not depend on the facilitator.
#[test]
fn a_facilitator_that_is_gone_is_not_missed() {
    let rig = rig();
    rig.facilitator.verifies(Says::Status(503));
    rig.facilitator.settles(Says::Status(503));
    let hash = standing(&rig, price(FRESH));
    buy(&rig, &hash, ARTICLE, "fresh").send().expect(200);
}

/// Guesses cost the node's calls: they are counted.
#[test]
fn hashes_are_counted() {
    let rig = Rig::on_chain(|resolved| {
        switched_on(resolved);
        resolved.set("limits.credits_per_minute", "3");
    });
    let guess = buy(&rig, &format!("0x{}", "ab".repeat(32)), ARTICLE, "fresh");
    for _ in 0..3 {
        guess.send().refused(400, "payment_hash_unconfirmed");
    }
    let calls = rig.chain.calls();
    guess.send().refused(429, "rate_limited");
    assert_eq!(rig.chain.calls(), calls);
}

/// A stop between keeping and answering loses nothing: the record says what was bought.
#[test]
fn a_transfer_bought_before_a_crash_is_given_out_after_it() {
    let mut rig = Rig::on_chain_today();
    rig.reconfigure(switched_on);
    let hash = standing(&rig, price(FRESH));
    let chain = rig.chain.url.clone();
    let mine = |ask: Ask| ask.header("Idempotency-Key", secret()).header(HASH, &hash);
    rig.in_process(
        &[("chain.rpc_url", &chain), ("lab.crash_at", "kept")],
        |_, mut service| {
            let ask = mine(service.post(LEGACY).json(&order(ARTICLE, "fresh")));
            let _ = std::panic::catch_unwind(|| ask.send());
            assert!(!service.end().success());
        },
    );
    assert_eq!(payments(&rig)[0]["state"], "settled");
    let ask = mine(rig.post(LEGACY).json(&order(ARTICLE, "fresh")));
    ask.send().expect(200);
    assert_eq!(rig.site.hits("/article"), 1);
}

/// A transfer of the history, and what it has bought.
struct Sold {
    hash: String,
    units: u128,
    /// What was bought, and whether the secret was shown with it.
    bought: Option<(usize, bool)>,
}

const PURCHASES: [(&str, &str); 3] = [(ARTICLE, "fresh"), (FLAKY, "fresh"), (FLAKY, "basic")];

/// A few histories of transfers, outages, lying nodes, restarts and time going by, each from its seed: no transfer buys
/// two things or nothing, whatever happens in between.
#[test]
fn no_transfer_is_lost_or_spent_twice() {
    for_each(1..9, history);
}

fn history(seed: u64) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut draw = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).expect("small")
    };
    let mut rig = Rig::on_chain(|resolved| {
        switched_on(resolved);
        resolved.set("chain.transfer_age_seconds_max", "86400");
    });
    let mut sold: Vec<Sold> = Vec::new();
    let mut credits: Vec<(usize, (usize, bool), String)> = Vec::new();
    for step in 0..60 {
        match draw(11) {
            0..=2 => {
                let units = [price(FRESH), price(FRESH) - 1][draw(2)];
                let hash = standing(&rig, units);
                sold.push(Sold {
                    hash,
                    units,
                    bought: None,
                });
            }
            3..=6 if !sold.is_empty() => {
                let (which, purchase) = (draw(sold.len()), draw(PURCHASES.len()));
                let has_secret = draw(2) == 0;
                let (target, tier) = PURCHASES[purchase];
                let ask = buy(&rig, &sold[which].hash, target, tier);
                let answer = match has_secret {
                    true => ask.header("Idempotency-Key", secret()).send(),
                    false => ask.send(),
                };
                let seen = (purchase, has_secret);
                if answer.status == 200 {
                    let before = sold[which].bought.replace(seen);
                    let is_again = before == Some((purchase, true)) && has_secret;
                    assert!(before.is_none() || is_again, "seed {seed}, step {step}");
                } else if let Some(credit) = answer.header("x-service-retry-credit") {
                    assert_eq!(answer.status, 503, "seed {seed}, step {step}: {answer:?}");
                    assert!(sold[which].bought.is_none(), "seed {seed}, step {step}");
                    credits.push((which, seen, credit.to_owned()));
                }
            }
            7 if !credits.is_empty() => {
                let (which, seen, credit) = credits[draw(credits.len())].clone();
                let (target, tier) = PURCHASES[seen.0];
                if rig.retry(&credit, target, tier).send().status == 200 {
                    let before = sold[which].bought.replace(seen);
                    assert!(before.is_none(), "seed {seed}, step {step}");
                }
            }
            8 => rig.site.put(
                "/flaky",
                [Page::Status(503), Page::html("Back", "Boats.")][draw(2)].clone(),
            ),
            9 => rig
                .chain
                .tells([Tells::Honest, Tells::Honest, Tells::Status(500)][draw(3)].clone()),
            10 if draw(3) == 0 => rig.restart(),
            _ => {
                rig.pass(draw(600) as u64);
                rig.work_off();
            }
        }
    }
    rig.chain.tells(Tells::Honest);
    rig.pass(16 * 60);
    rig.work_off();
    for (which, transfer) in sold.iter().enumerate() {
        let answer = buy(&rig, &transfer.hash, ARTICLE, "fresh").send();
        let expected = match (transfer.bought, transfer.units) {
            (None, units) if units == price(FRESH) => (200, String::new()),
            // For less than that price it may have bought the cheaper tier.
            (_, units) if units == price(FRESH) => (400, "payment_hash_replayed".to_owned()),
            _ => (400, "invalid_payment_hash".to_owned()),
        };
        let code = if answer.status == 200 {
            String::new()
        } else {
            answer.code()
        };
        assert_eq!(
            (answer.status, code),
            expected,
            "seed {seed}, transfer {which}"
        );
    }
    let paid = |transfer: &Sold| transfer.bought.is_some() || transfer.units == price(FRESH);
    let expected: u128 = sold
        .iter()
        .filter(|transfer| paid(transfer))
        .map(|transfer| transfer.units)
        .sum();
    let kept = payments(&rig);
    let settled = kept.iter().filter(|payment| payment["state"] == "settled");
    // The price is booked, and what is beyond it stands beside: nothing is lost between them.
    let number = |value: &Value| {
        let digits = value.as_str().unwrap_or("0");
        digits.parse::<u128>().expect("a number")
    };
    let units = settled
        .map(|payment| number(&payment["amount_units"]) + number(&payment["overpaid_units"]));
    assert_eq!(units.sum::<u128>(), expected, "seed {seed}");
    // A history in which nothing happens proves nothing.
    assert!(kept.len() > 3, "seed {seed}: {} payments", kept.len());
}
