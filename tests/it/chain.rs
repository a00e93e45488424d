//! What the chain knows and nobody else tells: settlements whose end is lost, and the price of gas.

use context402::config::Resolved;
use serde_json::{Value, json};

use crate::harness::buyer::Payment;
use crate::harness::process::{Finished, program};
use crate::harness::{
    ARTICLE, Answer, Ask, End, FEED, FRESH, Rig, Says, Service, Tells, Wallet, amount, for_each,
    price,
};

/// What a facilitator says of a payment that it has settled itself.
const USED: Says = Says::No("invalid_exact_evm_nonce_already_used");
const WORDS: &str = "Boats";

fn rig() -> Rig {
    Rig::on_chain(|_| {})
}

fn at_once(resolved: &mut Resolved) {
    resolved.set("chain.confirmations", "1");
}

fn payment(rig: &Rig) -> Value {
    rig.operator("/operator/payments").json()["payments"][0].clone()
}

fn state(rig: &Rig) -> String {
    payment(rig)["state"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// A settlement that the facilitator has done, or not, and of which it will never say more than that the nonce is used.
fn lost(rig: &Rig, wallet: &Wallet, end: Option<End>) -> (Payment, Ask, Answer, Option<String>) {
    let payment = wallet.sign(rig, "fresh");
    rig.facilitator.settles(USED);
    let transaction = end.map(|end| rig.chain.write(&payment, end));
    let ask = rig.order(ARTICLE, "fresh").paid(&payment.header);
    let answer = ask.send();
    (payment, ask, answer, transaction)
}

#[track_caller]
fn unknown(answer: &Answer) {
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (503, "settlement_unknown"),
        "{answer:?}"
    );
}

/// The story that this is for: the money is ours, the facilitator does not know it any more, and the buyer has nothing.
#[test]
fn a_lost_settlement_is_found_on_chain_in_the_background() {
    let rig = rig();
    let wallet = Wallet::new();
    let (_, ask, answer, transaction) = lost(&rig, &wallet, Some(End::Paid));
    // Its block is not deep enough yet.
    unknown(&answer);
    let credit = answer.credit();
    rig.pass(20);
    rig.work_off();
    let found = payment(&rig);
    assert_eq!(found["state"], "settled", "{found}");
    assert_eq!(found["transaction"], json!(transaction));
    let settles = rig.facilitator.settle_calls();
    let answer = ask.send().expect(200);
    assert!(answer.text().contains(WORDS));
    assert_eq!(answer.settlement()["success"], true);
    assert_eq!(answer.settlement()["transaction"], json!(transaction));
    rig.retry(&credit, ARTICLE, "fresh").send().expect(200);
    assert_eq!(rig.facilitator.settle_calls(), settles);
    assert_eq!(rig.site.hits("/article"), 1);
    let figures = rig.operator("/metrics").json();
    assert_eq!(figures["revenue_units"], amount(FRESH), "{figures}");
    assert_eq!(figures["chain_inquiries"]["paid"], 1, "{figures}");
}

/// The buyer comes first.
#[test]
fn a_lost_settlement_is_found_when_the_buyer_asks_again() {
    for_each([false, true], |with_credit| {
        let rig = rig();
        let wallet = Wallet::new();
        let (_, ask, answer, transaction) = lost(&rig, &wallet, Some(End::Paid));
        unknown(&answer);
        rig.pass(20);
        let again = if with_credit {
            rig.retry(&answer.credit(), ARTICLE, "fresh").send()
        } else {
            ask.send()
        };
        assert!(again.expect(200).text().contains(WORDS));
        assert_eq!(payment(&rig)["transaction"], json!(transaction));
        assert_eq!(
            rig.operator("/metrics").json()["revenue_units"],
            amount(FRESH)
        );
    });
}

/// Where one block is deep enough, the buyer does not notice anything.
#[test]
fn a_lost_settlement_that_stands_already_is_delivered_at_once() {
    let rig = Rig::on_chain(at_once);
    let wallet = Wallet::new();
    let (_, ask, answer, _) = lost(&rig, &wallet, Some(End::Paid));
    let first = answer.expect(200);
    assert!(first.text().contains(WORDS));
    assert_eq!(ask.send().expect(200).text(), first.text());
    assert_eq!(state(&rig), "settled");
    assert_eq!(
        rig.operator("/metrics").json()["revenue_units"],
        amount(FRESH)
    );
    assert_eq!(payment(&rig)["credit"], Value::Null);
}

/// A credit that is redeemed is spent, whoever has told that its payment was settled.
#[test]
fn a_credit_whose_settlement_the_chain_tells_is_spent() {
    let rig = Rig::on_chain(at_once);
    rig.site.put("/later", crate::harness::Page::Status(503));
    let target = "http://news.sample-site.org/later";
    let wallet = Wallet::new();
    let signed = wallet.sign(&rig, "fresh");
    let order = rig.order(target, "fresh").paid(&signed.header);
    let credit = order.send().expect(503).credit();
    rig.site.put(
        "/later",
        crate::harness::Page::html("Later", "Boats again."),
    );
    rig.facilitator.settles(USED);
    rig.chain.write(&signed, End::Paid);
    rig.retry(&credit, target, "fresh").send().expect(200);
    rig.retry(&credit, target, "fresh")
        .send()
        .refused(400, "retry_credit_invalid");
}

/// What can never pay us any more has failed for good: a fresh challenge, no content, no credit.
#[test]
fn a_settlement_that_can_never_come_has_failed() {
    let cases = [
        (Some(End::Canceled), "authorization_canceled"),
        (Some(End::Elsewhere), "authorization_used_elsewhere"),
        (None, "authorization_never_used"),
    ];
    for_each(cases, |(end, reason)| {
        let rig = rig();
        let (_, ask, answer, _) = lost(&rig, &Wallet::new(), end);
        unknown(&answer);
        let credit = answer.credit();
        rig.pass(if end.is_some() { 20 } else { 400 });
        rig.work_off();
        let found = payment(&rig);
        assert_eq!(
            (&found["state"], &found["reason"]),
            (&json!("failed"), &json!(reason))
        );
        let again = ask.send().expect(402);
        assert_eq!(again.settlement()["errorReason"], reason);
        assert!(!again.text().contains(WORDS));
        rig.retry(&credit, ARTICLE, "fresh")
            .send()
            .refused(400, "retry_credit_invalid");
        assert_eq!(rig.operator("/metrics").json()["revenue_units"], "0");
    });
}

/// Unused proves nothing as long as it may still be used.
#[test]
fn an_unused_authorization_stays_unknown_in_its_window() {
    let rig = rig();
    let (_, ask, answer, _) = lost(&rig, &Wallet::new(), None);
    unknown(&answer);
    rig.pass(200);
    rig.work_off();
    assert_eq!(state(&rig), "unknown");
    unknown(&ask.send());
    // The facilitator was not asked in vain: it may still settle.
    rig.facilitator.settles(Says::Honest);
    ask.send().expect(200);
    let told = rig.operator("/metrics").json()["chain_inquiries"].clone();
    let told: Vec<_> = told
        .as_object()
        .into_iter()
        .flat_map(|told| told.keys())
        .collect();
    assert_eq!(told, ["open"]);
}

/// Whatever a bad node says, it decides nothing; and a good facilitator is believed beside it.
#[test]
fn a_node_that_lies_or_stalls_decides_nothing() {
    for_each(Tells::LIES, |tells| {
        let rig = rig();
        let wallet = Wallet::new();
        rig.chain.tells(tells.clone());
        let (_, ask, answer, _) = lost(&rig, &wallet, None);
        unknown(&answer);
        rig.pass(400);
        rig.work_off();
        assert_eq!(state(&rig), "unknown", "{tells:?}");
        let figures = rig.operator("/metrics").json();
        assert!(
            figures["chain_inquiries"]["failed"].as_u64() >= Some(1),
            "{figures}"
        );
        // When it comes to its senses, so does the payment.
        rig.chain.tells(Tells::Honest);
        rig.pass(3_600);
        rig.work_off();
        assert_eq!(state(&rig), "failed", "{tells:?}");
        ask.send().expect(402);
    });
}

/// What a reorganisation is undoing is not yet anything.
#[test]
fn a_reorganisation_is_waited_for() {
    let rig = rig();
    rig.chain.tells(Tells::Reorganised);
    let (_, ask, answer, _) = lost(&rig, &Wallet::new(), Some(End::Paid));
    unknown(&answer);
    rig.pass(20);
    rig.work_off();
    unknown(&ask.send());
    rig.chain.tells(Tells::Honest);
    ask.send().expect(200);
}

#[test]
fn a_node_with_a_limit_on_logs_is_asked_for_fewer() {
    let rig = rig();
    rig.chain.tells(Tells::Logs { blocks_max: 10 });
    let (_, ask, answer, _) = lost(&rig, &Wallet::new(), Some(End::Paid));
    unknown(&answer);
    rig.pass(3_600);
    ask.send().expect(200);
}

/// A settlement that was never sent is sent: the chain is no substitute for that.
#[test]
fn a_kept_answer_is_still_settled_by_the_facilitator() {
    let rig = rig();
    let wallet = Wallet::new();
    rig.facilitator.settles(Says::Status(503));
    unknown(&rig.buy(&wallet, ARTICLE, "fresh"));
    rig.facilitator.settles(Says::Honest);
    rig.pass(20);
    rig.work_off();
    assert_eq!(state(&rig), "settled");
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

#[test]
fn the_operator_may_ask_at_once() {
    let rig = rig();
    let (_, _, answer, transaction) = lost(&rig, &Wallet::new(), Some(End::Paid));
    unknown(&answer);
    let key = payment(&rig)["key"].as_str().expect("a key").to_owned();
    let path = format!("/operator/payments/{key}/reconcile");
    assert_eq!(
        rig.operate("POST", &path).expect(200).json()["state"],
        "unknown"
    );
    rig.pass(20);
    let told = rig.operate("POST", &path).expect(200).json();
    assert_eq!(
        (&told["state"], &told["transaction"]),
        (&json!("settled"), &json!(transaction))
    );
    // What has ended is left alone.
    let calls = rig.chain.calls();
    assert_eq!(rig.operate("POST", &path).expect(200).json(), told);
    assert_eq!(rig.chain.calls(), calls);
    for key in ["00", "nonsense", &"00".repeat(32)] {
        let path = format!("/operator/payments/{key}/reconcile");
        assert_eq!(rig.operate("POST", &path).status, 404);
    }
    rig.post(&path).send().expect(404);
}

fn reconcile(rig: &Rig, arguments: &[&str]) -> Finished {
    Finished::of(
        program()
            .args(["payments", "reconcile"])
            .args(arguments)
            .env("CONTEXT402_BASE_URL", crate::harness::BASE_URL)
            .env("CONTEXT402_PAYMENT_PAY_TO", crate::harness::PAY_TO)
            .env("CONTEXT402_DATA_FILE", rig.folder.path("data.redb")),
    )
}

#[test]
fn payments_reconcile_asks_the_running_service() {
    let mut rig = Rig::on_chain(|_| {});
    let (_, _, answer, _) = lost(&rig, &Wallet::new(), Some(End::Paid));
    unknown(&answer);
    let key = payment(&rig)["key"].as_str().expect("a key").to_owned();
    // The beginning of the key is enough.
    let told = reconcile(&rig, &[&key[..6]]).expect(0).out;
    assert!(told.contains("unknown") && told.contains(&key), "{told}");
    rig.pass(20);
    let told = reconcile(&rig, &["--all"]).expect(0).out;
    assert!(told.contains("settled") && told.contains(&key), "{told}");
    let told = reconcile(&rig, &["--all"]).expect(0).out;
    assert!(told.contains("known"), "{told}");
    reconcile(&rig, &["nonsense"]).failed(1);
    // Without a key all of them are meant.
    let told = reconcile(&rig, &[]).expect(0).out;
    assert!(told.contains("known"), "{told}");
    assert_eq!(reconcile(&rig, &["--all", &key]).code, Some(2));
    assert!(rig.stop());
    let line = reconcile(&rig, &["--all"]).failed(1);
    assert!(line.contains("not running"), "{line}");
}

/// An endpoint of another network is a mistake in the configuration: said at start, and never lived with.
#[test]
fn a_node_of_another_network_is_refused_at_start() {
    let mut rig = Rig::start();
    rig.chain.tells(Tells::AnotherNetwork);
    assert!(rig.stop());
    let url = rig.chain.url.clone();
    let refused = Service::refused(rig.resolved(), &[("chain.rpc_url", &url)]);
    let line = refused.expect(78);
    let last = line.err.lines().last().unwrap_or_default();
    for part in ["eip155:1,", "eip155:8453", "chain.rpc_url"] {
        assert!(last.contains(part), "{part}: {line:?}");
    }
}

/// One that does not answer keeps nobody from starting.
#[test]
fn a_node_that_is_down_is_waited_for() {
    let rig = Rig::on_chain(|resolved| resolved.set("chain.rpc_url", "http://127.0.0.1:9"));
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
    let health = rig.get("/health").expect(200).json();
    assert_eq!(health["paid_enabled"], true);
    // Fixed gas is known without it.
    assert_ne!(health["checks"]["gas_oracle"]["status"], "ok");
}

fn live(resolved: &mut Resolved) {
    resolved.set("guard.gas_usdc", "live");
    resolved.set("guard.coin_usdc", "3000");
}

/// 100,000 gas at 0.01 gwei and 3,000 USDC: 0.003 USDC.
#[test]
fn live_gas_is_a_cost_of_the_sale() {
    let rig = Rig::on_chain(live);
    let receipt =
        rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200).json()["ueg_receipt"].clone();
    assert_eq!(receipt["gas_cost_usdc"], 0.003, "{receipt}");
    assert_eq!(receipt["gas_price_gwei"], 0.01, "{receipt}");
    let health = rig.get("/health").expect(200).json();
    assert_eq!(health["checks"]["gas_oracle"]["status"], "ok", "{health}");
    assert_eq!(health["checks"]["gas_oracle"]["gas_price_gwei"], 0.01);
    let figures = rig.get("/metrics?format=prometheus").expect(200).text();
    assert!(
        figures.contains("\ncontext402_gas_price_gwei 0.01\n"),
        "{figures}"
    );
    // Dearer than the sale.
    rig.chain.gas_costs(100_000_000);
    rig.probe_gas();
    rig.buy(&Wallet::new(), ARTICLE, "fresh")
        .refused(400, "margin_rejected");
    assert_eq!(rig.site.hits("/article"), 1);
}

/// The guard fails closed: what is not known is not sold at a guess.
#[test]
fn a_gas_price_that_is_too_old_stops_all_sales() {
    let rig = Rig::on_chain(|resolved| {
        live(resolved);
        resolved.set("legacy.access", "true");
    });
    rig.chain.tells(Tells::Status(500));
    rig.pass(119);
    rig.probe_gas();
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
    rig.pass(2);
    rig.buy(&Wallet::new(), ARTICLE, "fresh")
        .refused(400, "margin_rejected");
    let quote = rig.get("/v1/x402/quote").expect(200).json();
    assert!(
        quote["tiers"]
            .as_array()
            .is_some_and(|tiers| !tiers.is_empty()
                && tiers.iter().all(|tier| tier["deliverable_now"] == false)),
        "{quote}"
    );
    let task = json!({"agent_id": "a", "task_payload": {}, "offered_fee": 1});
    let brokerage = rig.post("/v1/broker/compute").header("x402-token", "t");
    let offered = brokerage.json(&task).send();
    assert_eq!(offered.json()["accepted"], false, "{offered:?}");
    let health = rig.get("/health").expect(200).json();
    assert_eq!(
        (
            &health["status"],
            &health["paid_enabled"],
            &health["checks"]["gas_oracle"]["status"]
        ),
        (&json!("degraded"), &json!(false), &json!("down")),
        "{health}"
    );
    assert!(health["checks"]["gas_oracle"].get("trouble").is_none());
    let told = rig.operator("/health").json();
    assert!(
        told["checks"]["gas_oracle"]["trouble"]
            .as_str()
            .is_some_and(|text| text.contains("500")),
        "{told}"
    );
    rig.chain.tells(Tells::Honest);
    rig.probe_gas();
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
}

#[test]
fn without_a_chain_nothing_is_said_of_gas() {
    let rig = Rig::start();
    let health = rig.get("/health").expect(200).json();
    assert_eq!(health["checks"]["gas_oracle"]["status"], "not_configured");
    assert_eq!(rig.chain.calls(), 0);
}

/// The price of the coin may be asked of the chain too: 100,000 gas at 0.01 gwei and 4,000 USDC are 0.004 USDC.
#[test]
fn the_coin_s_price_may_come_from_a_feed() {
    let rig = Rig::on_chain(|resolved| {
        live(resolved);
        resolved.set("guard.coin_usdc", format!("chainlink:{FEED}"));
    });
    let buy = || rig.buy(&Wallet::new(), ARTICLE, "fresh");
    // Nobody has fed it yet.
    buy().refused(400, "margin_rejected");
    rig.chain.coin_costs(400_000);
    rig.probe_gas();
    let receipt = buy().expect(200).json()["ueg_receipt"].clone();
    assert_eq!(receipt["gas_cost_usdc"], 0.004, "{receipt}");
    let oracle = rig.get("/health").expect(200).json()["checks"]["gas_oracle"].clone();
    assert_eq!(
        (&oracle["status"], &oracle["coin_usdc"]),
        (&json!("ok"), &json!(4000.0))
    );
    rig.chain.coin_costs(40_000_000);
    rig.probe_gas();
    buy().refused(400, "margin_rejected");
    rig.chain.coin_costs(400_000);
    rig.probe_gas();
    buy().expect(200);
    // A feed that stands still is not believed for ever, nor is what it said before.
    rig.pass(7_201);
    rig.probe_gas();
    buy().refused(400, "margin_rejected");
    let told = rig.operator("/health").json()["checks"]["gas_oracle"]["trouble"].clone();
    assert!(
        told.as_str()
            .is_some_and(|told| told.contains("7201 s old")),
        "{told}"
    );
}
