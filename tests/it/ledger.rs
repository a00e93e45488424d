//! The operator's ledger: each day's ledger, held against what the vault has received.

use context402::flows::operations::ledger_check;
use serde_json::Value;

use crate::harness::{ARTICLE, FRESH, Move, Rig, Sent, Tells, Wallet, price};

const DAY: u64 = 86_400;
/// After midnight, when a day is in blocks that count.
const AFTER: u64 = 3600;

fn date(rig: &Rig) -> String {
    rig.operator("/operator/today").json()["day"]
        .as_str()
        .expect("a day")
        .to_owned()
}

/// Sells a page; what the facilitator has settled it with.
fn sell(rig: &Rig) -> String {
    let sold = rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
    sold.settlement()["transaction"]
        .as_str()
        .expect("a transaction")
        .to_owned()
}

fn to_next_day(rig: &Rig) {
    rig.pass(DAY - rig.now().0 % DAY + AFTER);
}

fn check(rig: &Rig, day: &str) -> Value {
    rig.operate("POST", &format!("/operator/ledger/{day}/check"))
        .expect(200)
        .json()
}

#[test]
fn a_day_whose_payments_have_all_arrived_is_balanced() {
    let rig = Rig::on_chain(|_| {});
    let day = date(&rig);
    for _ in 0..3 {
        rig.chain.settle(&sell(&rig), price(FRESH));
    }
    to_next_day(&rig);
    let found = check(&rig, &day);
    assert_eq!(found["status"], "balanced", "{found}");
    assert_eq!(found["ledger"]["payments"], 3, "{found}");
    assert_eq!(found["ledger"]["usdc"], "0.09", "{found}");
    assert_eq!(found["vault"]["transfers"], 3, "{found}");
    assert_eq!(found["vault"]["usdc"], "0.09", "{found}");
    assert_eq!(found["foreign"]["transfers"], 0, "{found}");
    assert_eq!(found["balance_units"], "90000", "{found}");
    let kept = rig.operator("/operator/ledger").json();
    assert_eq!(kept["days"][0]["ledger_check"], found, "{kept}");
}

/// What was paid to the receiving address of that day has arrived, wherever the next payments go.
#[test]
fn a_day_on_which_the_receiving_address_changed_is_balanced() {
    let mut rig = Rig::on_chain(|_| {});
    let day = date(&rig);
    rig.chain.settle(&sell(&rig), price(FRESH));
    rig.reconfigure(|resolved| {
        resolved.set(
            "payment.pay_to",
            "0x4021402140214021402140214021402140214021",
        );
    });
    to_next_day(&rig);
    let found = check(&rig, &day);
    assert_eq!(found["status"], "balanced", "{found}");
    assert_eq!(found["vault"]["transfers"], 1, "{found}");
    to_next_day(&rig);
    assert_eq!(check(&rig, &day)["status"], "balanced");
}

#[test]
fn a_payment_that_never_arrived_is_named() {
    let rig = Rig::on_chain(|_| {});
    let day = date(&rig);
    rig.chain.settle(&sell(&rig), price(FRESH));
    let lost = sell(&rig);
    // Less than what the facilitator told is not the payment either.
    rig.chain.settle(&sell(&rig), 29_999);
    to_next_day(&rig);
    let found = check(&rig, &day);
    assert_eq!(found["status"], "missing", "{found}");
    assert_eq!(found["missing"]["payments"], 2, "{found}");
    assert_eq!(found["missing"]["usdc"], "0.06", "{found}");
    let payments = rig.operator("/operator/payments").json();
    let payments = payments["payments"].as_array().expect("a list");
    let payment = payments
        .iter()
        .find(|payment| payment["transaction"] == lost);
    let key = &payment.expect("the lost one")["key"];
    assert!(
        found["missing"]["keys"]
            .as_array()
            .expect("keys")
            .contains(key),
        "{found}"
    );
    let figures = rig.operator("/metrics?format=prometheus").text();
    assert!(
        figures.contains("ledger_check_missing_units 60000"),
        "{figures}"
    );
    assert!(
        figures.contains("ledger_checks_total{outcome=\"missing\"} 1"),
        "{figures}"
    );
    let public = rig.get("/metrics?format=prometheus").text();
    assert!(!public.contains("ledger_check"), "{public}");
}

#[test]
fn several_payments_may_share_a_transaction() {
    let rig = Rig::on_chain(|_| {});
    let day = date(&rig);
    let transactions = [sell(&rig), sell(&rig)];
    // The facilitator's hash of each is its own here; a batch brings the sum of several.
    for transaction in &transactions {
        rig.chain.settle(transaction, 10_000);
        rig.chain.settle(transaction, 20_000);
    }
    to_next_day(&rig);
    let found = check(&rig, &day);
    assert_eq!(found["status"], "balanced", "{found}");
    assert_eq!(found["vault"]["transfers"], 4, "{found}");
}

#[test]
fn money_of_others_is_told_apart() {
    let rig = Rig::on_chain(|_| {});
    let day = date(&rig);
    rig.chain.settle(&sell(&rig), price(FRESH));
    rig.chain.transfer(5_000_000);
    // Another token, and the vault's own spending, are nobody's income.
    rig.chain.send(Sent::of(vec![Move {
        token: format!("0x{}", "99".repeat(20)),
        ..Move::to_us(7)
    }]));
    rig.chain.send(Sent::of(vec![Move {
        from: crate::harness::PAY_TO.to_owned(),
        to: format!("0x{}", "70".repeat(20)),
        ..Move::to_us(8)
    }]));
    to_next_day(&rig);
    // What comes on the next day is not of this one.
    rig.chain.transfer(1_000_000);
    let found = check(&rig, &day);
    assert_eq!(found["status"], "balanced", "{found}");
    assert_eq!(found["vault"]["transfers"], 2, "{found}");
    assert_eq!(found["foreign"]["transfers"], 1, "{found}");
    assert_eq!(found["foreign"]["usdc"], "5", "{found}");
}

#[test]
fn a_payment_that_arrived_on_another_day_has_arrived() {
    let rig = Rig::on_chain(|_| {});
    let day = date(&rig);
    let late = sell(&rig);
    to_next_day(&rig);
    rig.chain.settle(&late, price(FRESH));
    rig.pass(AFTER);
    let found = check(&rig, &day);
    assert_eq!(found["status"], "balanced", "{found}");
    assert_eq!(found["vault"]["transfers"], 0, "{found}");
    // Nor is it somebody else's money on the day on which it came.
    let next = date(&rig);
    to_next_day(&rig);
    let found = check(&rig, &next);
    assert_eq!(found["foreign"]["transfers"], 0, "{found}");
}

/// After a long outage that ends after midnight, more payments than are looked up one by one arrived on the day before.
#[test]
fn many_payments_that_arrived_the_day_before_have_arrived() {
    const MANY: usize = 205;
    let rig = Rig::on_chain(|resolved| resolved.set("limits.free_per_minute", "1000000"));
    to_next_day(&rig);
    let wallet = Wallet::new();
    let sold: Vec<String> = (0..MANY)
        .map(|_| {
            let sold = rig.buy(&wallet, ARTICLE, "fresh").expect(200);
            sold.settlement()["transaction"]
                .as_str()
                .expect("a transaction")
                .to_owned()
        })
        .collect();
    let day = date(&rig);
    // Their blocks are of the day before.
    rig.go_back(AFTER + 600);
    for transaction in &sold {
        rig.chain.settle(transaction, price(FRESH));
    }
    rig.pass(AFTER + 600);
    to_next_day(&rig);
    let calls = rig.chain.calls();
    let found = check(&rig, &day);
    assert_eq!(found["status"], "balanced", "{found}");
    assert_eq!(found["ledger"]["payments"], MANY, "{found}");
    assert_eq!(found["vault"]["transfers"], 0, "{found}");
    assert!(rig.chain.calls() - calls < MANY);
}

#[test]
fn a_day_that_is_not_over_is_not_judged() {
    let rig = Rig::on_chain(|_| {});
    let day = date(&rig);
    sell(&rig);
    let path = format!("/operator/ledger/{day}/check");
    rig.operate("POST", &path)
        .refused(503, "network_unavailable");
    rig.operate("POST", "/operator/ledger/yesterday/check")
        .refused(404, "not_found");
    assert_eq!(
        rig.operator("/operator/ledger").json()["days"][0]["ledger_check"],
        Value::Null
    );
}

#[test]
fn a_node_that_says_nothing_or_nonsense_decides_nothing() {
    let rig = Rig::on_chain(|_| {});
    let day = date(&rig);
    rig.chain.settle(&sell(&rig), price(FRESH));
    to_next_day(&rig);
    let path = format!("/operator/ledger/{day}/check");
    for tells in [
        Tells::Garbage,
        Tells::Status(500),
        Tells::AnotherNetwork,
        Tells::Future,
        Tells::Endless,
    ] {
        rig.chain.tells(tells.clone());
        rig.operate("POST", &path)
            .refused(503, "network_unavailable");
    }
    // Blocks by the hundred are what it allows: it is asked so.
    rig.chain.tells(Tells::Logs { blocks_max: 500 });
    assert_eq!(check(&rig, &day)["status"], "balanced");
}

#[test]
fn each_day_is_held_against_the_vault_once_by_itself() {
    let rig = Rig::on_chain(|_| {});
    let day = date(&rig);
    rig.chain.settle(&sell(&rig), price(FRESH));
    let catch_up = || {
        rig.wait(ledger_check::catch_up(rig.app()))
            .expect("is looked at")
    };
    catch_up();
    assert_eq!(
        rig.operator("/operator/ledger").json()["days"][0]["ledger_check"],
        Value::Null
    );
    to_next_day(&rig);
    catch_up();
    let days = rig.operator("/operator/ledger").json();
    assert_eq!(days["days"][0]["day"], day.as_str(), "{days}");
    assert_eq!(
        days["days"][0]["ledger_check"]["status"], "balanced",
        "{days}"
    );
    let calls = rig.chain.calls();
    catch_up();
    assert_eq!(rig.chain.calls(), calls, "it is not asked again");
}

#[test]
fn without_a_chain_nothing_is_compared() {
    let rig = Rig::start();
    let day = date(&rig);
    sell(&rig);
    rig.pass(2 * DAY);
    let answer = rig.operate("POST", &format!("/operator/ledger/{day}/check"));
    let answer = answer.refused(503, "network_unavailable");
    assert!(answer.text().contains("chain.rpc_url"), "{answer:?}");
}
