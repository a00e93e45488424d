//! What the facilitator reports, held against the chain; and settlements whose end nobody can tell.

use context402::flows::operations::ledger_check;
use context402::flows::sale::verify_settlement;
use serde_json::{Value, json};

use crate::harness::buyer::Payment;
use crate::harness::process::{Finished, program};
use crate::harness::{
    ARTICLE, Answer, Ask, End, FRESH, Page, Rig, Says, Tells, Wallet, Wish, amount, for_each,
    price, until,
};

const DAY: u64 = 86_400;
/// What a facilitator says of a payment that it cannot tell the end of.
const USED: Says = Says::No("invalid_exact_evm_nonce_already_used");

fn rig() -> Rig {
    Rig::on_chain(|_| {})
}

fn before_delivery() -> Rig {
    Rig::on_chain(|resolved| {
        resolved.set("payment.verify_settlement", "before_delivery");
        resolved.set("chain.confirmations", "1");
        resolved.set("payment.settle_wait_seconds_max", "6");
    })
}

/// A sale that the facilitator reports as settled; its payment and the transaction that it names.
fn sell(rig: &Rig) -> (Payment, String) {
    let payment = Wallet::new().sign(rig, "fresh");
    let sold = rig.pay(&payment, ARTICLE, "fresh");
    let transaction = sold.expect(200).settlement()["transaction"].clone();
    (payment, transaction.as_str().expect("a hash").to_owned())
}

/// The same, and it is true.
fn sell_truly(rig: &Rig) -> (Payment, String) {
    let (payment, transaction) = sell(rig);
    rig.chain.write_as(&payment, End::Paid, &transaction);
    (payment, transaction)
}

fn sweep(rig: &Rig) {
    rig.wait(verify_settlement::sweep(rig.app()))
        .expect("is recorded");
}

fn check(rig: &Rig) -> Value {
    rig.operator("/health").json()["checks"]["settlements"].clone()
}

fn payments(rig: &Rig, state: &str) -> Vec<Value> {
    let listed = rig
        .operator(&format!("/operator/payments?state={state}"))
        .expect(200)
        .json();
    listed["payments"].as_array().cloned().unwrap_or_default()
}

fn checks(rig: &Rig) -> Value {
    rig.operator("/metrics").json()["settlement_checks"].clone()
}

#[test]
fn an_honest_facilitator_is_confirmed_with_few_calls_however_many_sales_there_are() {
    let rig = rig();
    for _ in 0..12 {
        sell_truly(&rig);
    }
    assert_eq!(check(&rig)["status"], "ok");
    assert_eq!(
        payments(&rig, "settled")[0]["settlement_check"]["result"],
        "pending"
    );
    rig.pass(20);
    let calls = rig.chain.calls();
    sweep(&rig);
    let calls = rig.chain.calls() - calls;
    assert!(calls <= 10, "{calls} calls for 12 settlements");
    let found = check(&rig);
    assert_eq!(
        (&found["status"], &found["unverified"]),
        (&json!("ok"), &json!(0)),
        "{found}"
    );
    assert_eq!(checks(&rig), json!({"verified": 12}));
    assert!(
        payments(&rig, "settled")
            .iter()
            .all(|payment| payment["settlement_check"].is_null())
    );
    // Nothing is left to ask for.
    let calls = rig.chain.calls();
    sweep(&rig);
    assert_eq!(rig.chain.calls(), calls);
}

/// Success with an invented transaction was believed for a day.
#[test]
fn an_invented_settlement_shows_within_a_minute() {
    let rig = rig();
    sell_truly(&rig);
    let (_, invented) = sell(&rig);
    for _ in 0..6 {
        rig.pass(10);
        sweep(&rig);
    }
    let public = rig.get("/health").expect(200).json();
    assert_eq!(public["status"], "degraded", "{public}");
    assert_eq!(public["checks"]["settlements"]["status"], "contradicted");
    assert!(
        public["checks"]["settlements"]
            .get("contradicted")
            .is_none(),
        "{public}"
    );
    // Whether to go on selling is the operator's decision.
    assert_eq!(public["paid_enabled"], true);
    let found = check(&rig);
    assert_eq!(found["contradicted"], 1, "{found}");
    assert_eq!(found["contradicted_usdc"], "0.03", "{found}");
    let listed = payments(&rig, "contradicted");
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(listed[0]["transaction"], json!(invented));
    assert_eq!(
        listed[0]["settlement_check"]["reason"],
        "transaction_not_found"
    );
    let ledger = rig.operator("/operator/ledger").json();
    assert_eq!(
        ledger["days"][0]["contradicted"],
        json!({"payments": 1, "usdc": "0.03"}),
        "{ledger}"
    );
    let figures = rig.operator("/metrics?format=prometheus").text();
    for line in [
        "settlements_confirmed 0",
        "settlements_contradicted 1",
        "settlements_contradicted_units 30000",
    ] {
        assert!(figures.contains(line), "{line}: {figures}");
    }
    let public = rig.get("/metrics?format=prometheus").text();
    assert!(
        public.contains("context402_settlements_confirmed 0"),
        "{public}"
    );
    assert!(!public.contains("settlements_contradicted"), "{public}");
    // A day later it degrades nothing any more, and stays in the ledger.
    rig.pass(DAY);
    sweep(&rig);
    assert_eq!(check(&rig)["status"], "ok");
    assert_eq!(payments(&rig, "contradicted").len(), 1);
}

/// The same of every kind of purchase, each with what it cost.
#[test]
fn an_invented_settlement_of_any_kind_shows() {
    let rig = rig();
    let wishes = Wish::all(ARTICLE);
    for wish in &wishes {
        let payment = wish.sign(rig.address, &Wallet::new(), rig.now(), None);
        let sold = wish.ask(rig.address).paid(&payment.header).send();
        sold.expect(200);
    }
    rig.pass(30);
    sweep(&rig);
    let listed = payments(&rig, "contradicted");
    assert_eq!(listed.len(), wishes.len(), "{listed:?}");
    for payment in &listed {
        let reason = &payment["settlement_check"]["reason"];
        assert_eq!(reason, "transaction_not_found", "{payment}");
    }
    let units: u128 = wishes.iter().map(|wish| wish.units).sum();
    let figures = rig.operator("/metrics?format=prometheus").text();
    let line = format!("settlements_contradicted_units {units}");
    assert!(figures.contains(&line), "{line}: {figures}");
}

/// Each way in which the chain says something else.
#[test]
fn every_lie_has_its_reason() {
    type Lie = fn(&Rig, &Payment, &str);
    let cases: [(Lie, &str); 4] = [
        (|_, _, _| {}, "transaction_not_found"),
        (
            |rig, _, transaction| rig.chain.settle(transaction, price(FRESH)),
            "transaction_of_something_else",
        ),
        (
            |rig, payment, _| drop(rig.chain.write(payment, End::Canceled)),
            "authorization_canceled",
        ),
        (
            |rig, payment, transaction| rig.chain.write_as(payment, End::Elsewhere, transaction),
            "authorization_used_elsewhere",
        ),
    ];
    for_each(cases, |(lie, reason)| {
        let rig = rig();
        let (payment, transaction) = sell(&rig);
        lie(&rig, &payment, &transaction);
        rig.pass(30);
        sweep(&rig);
        let listed = payments(&rig, "contradicted");
        assert_eq!(listed.len(), 1, "{reason}");
        assert_eq!(listed[0]["settlement_check"]["reason"], reason);
    });
}

/// What came late is taken off the list again.
#[test]
fn a_settlement_that_comes_late_is_confirmed_after_all() {
    let rig = rig();
    let (payment, transaction) = sell(&rig);
    rig.pass(30);
    sweep(&rig);
    assert_eq!(check(&rig)["status"], "contradicted");
    rig.chain.write_as(&payment, End::Paid, &transaction);
    rig.pass(900);
    sweep(&rig);
    assert_eq!(check(&rig)["status"], "ok");
    assert!(payments(&rig, "contradicted").is_empty());
}

/// The money is here by another transaction: nothing is missing, and the ledger knows where it is.
#[test]
fn another_transaction_than_the_one_that_was_named_is_noted() {
    let rig = rig();
    let (payment, _) = sell(&rig);
    let transaction = rig.chain.write(&payment, End::Paid);
    rig.pass(30);
    sweep(&rig);
    assert_eq!(check(&rig)["status"], "ok");
    let listed = payments(&rig, "settled");
    assert_eq!(listed[0]["settlement_check"]["result"], "other_transaction");
    assert_eq!(
        listed[0]["settlement_check"]["transaction"],
        json!(transaction)
    );
    let day = rig.operator("/operator/today").json()["day"]
        .as_str()
        .expect("a day")
        .to_owned();
    rig.pass(DAY - rig.now().0 % DAY + 3600);
    rig.wait(ledger_check::catch_up(rig.app()))
        .expect("is compared");
    let ledger = rig.operator("/operator/ledger").json();
    assert_eq!(ledger["days"][0]["day"], json!(day), "{ledger}");
    assert_eq!(
        ledger["days"][0]["ledger_check"]["status"], "balanced",
        "{ledger}"
    );
}

/// A node that says nothing proves no lie: it shows as an unconfirmed settlement, and nothing is forgotten meanwhile.
#[test]
fn a_node_that_fails_contradicts_nobody_and_loses_nothing() {
    for_each(Tells::LIES, |tells| {
        let mut rig = rig();
        let (payment, transaction) = sell(&rig);
        rig.chain.tells(tells.clone());
        rig.pass(290);
        sweep(&rig);
        assert_eq!(check(&rig)["status"], "ok", "{tells:?}");
        rig.pass(20);
        sweep(&rig);
        let found = check(&rig);
        assert_eq!(found["status"], "behind", "{tells:?} {found}");
        assert!(found["trouble"].is_string(), "{tells:?} {found}");
        assert_eq!(found["unverified"], 1, "{tells:?} {found}");
        rig.chain.write_as(&payment, End::Paid, &transaction);
        rig.chain.tells(Tells::Honest);
        rig.pass(20);
        rig.restart();
        sweep(&rig);
        let found = check(&rig);
        assert_eq!(
            (&found["status"], &found["unverified"]),
            (&json!("ok"), &json!(0)),
            "{tells:?}"
        );
    });
}

#[test]
fn switched_off_nothing_is_looked_up() {
    let rig = Rig::on_chain(|resolved| resolved.set("payment.verify_settlement", "off"));
    sell(&rig);
    rig.pass(30);
    let calls = rig.chain.calls();
    sweep(&rig);
    assert_eq!(rig.chain.calls(), calls);
    assert_eq!(check(&rig)["status"], "not_configured");
    assert_eq!(check(&rig)["unverified"], 0);
}

// --- Before the delivery

#[test]
fn a_buyer_may_be_kept_waiting_until_the_chain_shows_the_payment() {
    let rig = before_delivery();
    let payment = Wallet::new().sign(&rig, "fresh");
    let ask = rig.order(ARTICLE, "fresh").paid(&payment.header);
    let transaction = rig.chain.write(&payment, End::Paid);
    let answer = ask.send().expect(200);
    assert_eq!(answer.settlement()["transaction"], json!(transaction));
    assert_eq!(check(&rig)["unverified"], 0);
    assert_eq!(ask.send().expect(200).text(), answer.text());
}

/// Never a 402: the chain may only be slow.
#[test]
fn what_the_chain_does_not_show_is_not_delivered_and_not_asked_for_again() {
    let rig = before_delivery();
    let payment = Wallet::new().sign(&rig, "fresh");
    let ask = rig.order(ARTICLE, "fresh").paid(&payment.header);
    let answer = ask.send();
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (503, "settlement_unknown"),
        "{answer:?}"
    );
    let credit = answer.credit();
    assert_eq!(payments(&rig, "unknown").len(), 1);
    // It was slow: the same payment is delivered, once it is there, and nothing is settled again.
    let settles = rig.facilitator.settle_calls();
    rig.chain.write(&payment, End::Paid);
    rig.pass(4);
    rig.retry(&credit, ARTICLE, "fresh").send().expect(200);
    ask.send().expect(200);
    assert_eq!(rig.facilitator.settle_calls(), settles);
    assert_eq!(
        rig.operator("/metrics").json()["revenue_units"],
        amount(FRESH)
    );
}

/// A facilitator that always lies sells nothing, and is seen.
#[test]
fn a_lying_facilitator_gives_no_goods_away() {
    let rig = before_delivery();
    let payment = Wallet::new().sign(&rig, "fresh");
    let ask = rig.order(ARTICLE, "fresh").paid(&payment.header);
    let calls = rig.chain.calls();
    let buyer = std::thread::spawn(move || ask.send());
    until("the chain was asked", || rig.chain.calls() > calls);
    rig.pass(30);
    let answer = buyer.join().expect("an answer");
    assert_eq!(answer.status, 503, "{answer:?}");
    assert_eq!(check(&rig)["status"], "contradicted");
    // Once its window is over the chain proves that it never came.
    rig.pass(400);
    rig.work_off();
    let failed = payments(&rig, "failed");
    assert_eq!(
        failed[0]["reason"], "authorization_never_used",
        "{failed:?}"
    );
    assert_eq!(rig.operator("/metrics").json()["revenue_units"], "0");
}

// --- Settlements whose end nobody can tell

fn lost(rig: &Rig, wallet: &Wallet, target_url: &str) -> (Payment, Ask, Answer) {
    let payment = wallet.sign(rig, "fresh");
    rig.facilitator.settles(USED);
    let ask = rig.order(target_url, "fresh").paid(&payment.header);
    let answer = ask.send();
    assert_eq!(answer.status, 503, "{answer:?}");
    (payment, ask, answer)
}

/// The nonce used elsewhere, with one unit for us in the same transaction.
#[test]
fn a_nonce_used_elsewhere_beside_a_transfer_to_us_has_failed() {
    for_each([1, 30_000], |units| {
        let rig = rig();
        let payment = Wallet::new().sign(&rig, "fresh");
        rig.facilitator.settles(USED);
        rig.chain.write_beside(&payment, End::Elsewhere, units);
        let ask = rig.order(ARTICLE, "fresh").paid(&payment.header);
        assert_eq!(ask.send().status, 503);
        rig.pass(20);
        rig.work_off();
        let failed = payments(&rig, "failed");
        assert_eq!(
            failed[0]["reason"], "authorization_used_elsewhere",
            "{units} {failed:?}"
        );
    });
}

/// Without a chain nobody can tell: the background stops after a day, and the buyer is never asked for money again. The
/// answer is kept for one more day: a buyer who comes back in that time gets what was paid for.
#[test]
fn an_unknown_settlement_is_given_up_after_a_day() {
    let mut rig = Rig::start();
    let payment = Wallet::new().sign(&rig, "fresh");
    rig.facilitator.settles(Says::Lost);
    let ask = rig.order(ARTICLE, "fresh").paid(&payment.header);
    assert_eq!(ask.send().status, 503);
    rig.pass(DAY);
    rig.work_off();
    assert!(
        payments(&rig, "abandoned").is_empty(),
        "its window ended less than a day ago"
    );
    rig.pass(3_600);
    rig.work_off();
    let listed = payments(&rig, "abandoned");
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(listed[0]["state"], "unknown");
    let settles = rig.facilitator.settle_calls();
    for _ in 0..20 {
        rig.pass(3_000);
        rig.work_off();
    }
    assert_eq!(
        rig.facilitator.settle_calls(),
        settles,
        "nothing is settled any more by itself"
    );
    rig.restart();
    let ask = rig.order(ARTICLE, "fresh").paid(&payment.header);
    let answer = ask.send();
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (503, "settlement_unknown"),
        "{answer:?}"
    );
    // The facilitator is asked for whoever asks us, and knows it again.
    rig.facilitator.settles(Says::Honest);
    assert!(ask.send().expect(200).text().contains("Boats"));
    assert!(payments(&rig, "abandoned").is_empty());
    assert_eq!(
        rig.operator("/metrics").json()["revenue_units"],
        amount(FRESH)
    );
}

/// What is left of it in the end: the record, no answer, and no 402.
#[test]
fn the_answer_of_a_settlement_that_was_given_up_is_dropped_in_the_end() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    let (_, ask, _) = lost(&rig, &wallet, ARTICLE);
    rig.pass(DAY + 3_600);
    rig.work_off();
    rig.pass(2 * DAY);
    rig.work_off();
    let listed = payments(&rig, "abandoned");
    assert_eq!(listed.len(), 1, "{listed:?}");
    let answer = ask.send();
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (503, "settlement_unknown"),
        "{answer:?}"
    );
    assert_eq!(
        answer.header("x-service-retry-credit"),
        None,
        "there is nothing left to redeem"
    );
    // Another purchase of the same payer is a purchase.
    rig.facilitator.settles(Says::Honest);
    rig.buy(&wallet, ARTICLE, "fresh").expect(200);
}

/// Each unknown settlement is an amount that one payer may owe.
#[test]
fn a_payer_with_many_unknown_settlements_waits() {
    let mut rig = Rig::start();
    let (wallet, other) = (Wallet::new(), Wallet::new());
    let page = |number: usize| {
        let page = Page::html("Boats", &format!("Boat {number} comes and goes here."));
        rig.site.put(&format!("/boat-{number}"), page);
        format!("http://news.sample-site.org/boat-{number}")
    };
    let pages: Vec<String> = (0..10).map(page).collect();
    for page in &pages[..8] {
        lost(&rig, &wallet, page);
    }
    for restarted in [false, true] {
        if restarted {
            rig.restart();
        }
        let settles = rig.facilitator.settle_calls();
        let refused = rig
            .buy(&wallet, &pages[8], "fresh")
            .refused(429, "rate_limited");
        assert_eq!(refused.json()["error"]["charged"], false);
        assert_eq!(rig.facilitator.settle_calls(), settles);
    }
    rig.facilitator.settles(Says::Honest);
    rig.buy(&other, &pages[9], "fresh").expect(200);
    // They end, and the payer is served again.
    rig.pass(30);
    rig.work_off();
    rig.buy(&wallet, &pages[8], "fresh").expect(200);
}

// --- The operator's word

fn end(rig: &Rig, key: &str, query: &str) -> Answer {
    rig.operate("POST", &format!("/operator/payments/{key}/end?{query}"))
}

fn only_key(rig: &Rig) -> String {
    payments(rig, "unknown")[0]["key"]
        .as_str()
        .expect("a key")
        .to_owned()
}

#[test]
fn the_operator_ends_a_settlement_as_settled() {
    let rig = Rig::start();
    let (_, ask, _) = lost(&rig, &Wallet::new(), ARTICLE);
    let key = only_key(&rig);
    let hash = format!("0x{}", "ab".repeat(32));
    for query in [
        "",
        "as=settled",
        "as=settled&transaction=0x12",
        "as=new",
        "as=failed&transaction=0x12",
    ] {
        end(&rig, &key, query).refused(400, "invalid_request");
    }
    // It can still be used: whoever ends it as failed would lie.
    end(&rig, &key, "as=failed").refused(409, "conflict");
    end(&rig, &"00".repeat(32), "as=failed").refused(404, "not_found");
    let ended = end(&rig, &key, &format!("as=settled&transaction={hash}"))
        .expect(200)
        .json();
    assert_eq!(
        (&ended["state"], &ended["transaction"]),
        (&json!("settled"), &json!(hash))
    );
    assert_eq!(
        rig.operator("/metrics").json()["revenue_units"],
        amount(FRESH)
    );
    assert_eq!(
        rig.operator("/operator/ledger").json()["days"][0]["ledger"]["revenue_usdc"],
        "0.03"
    );
    ask.send().expect(200);
    end(&rig, &key, &format!("as=settled&transaction={hash}")).refused(409, "conflict");
    rig.post(&format!("/operator/payments/{key}/end?as=failed"))
        .send()
        .expect(404);
}

#[test]
fn the_operator_ends_a_settlement_as_failed() {
    let rig = Rig::start();
    let (_, ask, _) = lost(&rig, &Wallet::new(), ARTICLE);
    let key = only_key(&rig);
    rig.pass(2 * DAY);
    rig.work_off();
    assert_eq!(payments(&rig, "abandoned").len(), 1);
    let finished = Finished::of(
        program()
            .args(["payments", "end", &key, "--as", "failed"])
            .env("CONTEXT402_BASE_URL", crate::harness::BASE_URL)
            .env("CONTEXT402_PAYMENT_PAY_TO", crate::harness::PAY_TO)
            .env("CONTEXT402_DATA_FILE", rig.folder.path("data.redb")),
    );
    let told = finished.expect(0).out;
    assert!(told.contains("failed") && told.contains(&key), "{told}");
    assert!(payments(&rig, "abandoned").is_empty());
    assert_eq!(payments(&rig, "failed")[0]["reason"], "ended_by_operator");
    assert_eq!(rig.operator("/metrics").json()["revenue_units"], "0");
    assert_eq!(
        ask.send().expect(402).settlement()["errorReason"],
        "ended_by_operator"
    );
}

/// Where a chain can tell, nobody else's word counts.
#[test]
fn the_chain_overrules_the_operator() {
    let rig = rig();
    let (payment, _, _) = lost(&rig, &Wallet::new(), ARTICLE);
    let (key, hash) = (only_key(&rig), format!("0x{}", "ab".repeat(32)));
    let settled = format!("as=settled&transaction={hash}");
    end(&rig, &key, &settled).refused(409, "conflict");
    rig.chain.tells(Tells::Status(500));
    end(&rig, &key, &settled).refused(503, "network_unavailable");
    rig.chain.tells(Tells::Honest);
    let transaction = rig.chain.write(&payment, End::Paid);
    rig.pass(20);
    let refused = end(&rig, &key, "as=failed").refused(409, "conflict");
    assert!(refused.text().contains("settled"), "{refused:?}");
    assert_eq!(
        payments(&rig, "settled")[0]["transaction"],
        json!(transaction)
    );
}
