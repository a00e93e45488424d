//! Stops, crashes and other configurations over one data file: no sale is lost, none is charged twice.

use std::thread;

use serde_json::json;

use crate::harness::buyer::Payment;
use crate::harness::{
    ARTICLE, FERRY, FRESH, Page, Rig, Says, Service, Wallet, Wish, for_each, price, until,
};

const SECOND: &str = "http://news.sample-site.org/second";

fn state(rig: &Rig) -> serde_json::Value {
    rig.operator("/operator/payments").json()["payments"][0]["state"].clone()
}

/// Signs at a running process and sends; the process dies before it can answer.
fn buy_and_die(rig: &Rig, mut service: Service, wallet: &Wallet) -> Payment {
    let payment = wallet.sign_at(service.address, "fresh", rig.now(), None);
    let ask = service.order(ARTICLE, "fresh").paid(&payment.header);
    let bytes = crate::harness::ask::raw_bytes(service.address, &ask.bytes());
    assert!(
        bytes.is_empty(),
        "it died: {:?}",
        String::from_utf8_lossy(&bytes)
    );
    assert!(!service.end().success());
    payment
}

/// The answer was kept and settle was not sent: the next start does not know that, and finds out.
#[test]
fn a_crash_after_the_answer_was_kept_is_reconciled() {
    let mut rig = Rig::today();
    let wallet = Wallet::new();
    let mut payment = None;
    rig.in_process(&[("lab.crash_at", "kept")], |rig, service| {
        payment = Some(buy_and_die(rig, service, &wallet));
    });
    assert_eq!(rig.facilitator.settle_calls(), 0);
    assert_eq!(state(&rig), "unknown");
    // In the background, without the buyer.
    rig.pass(20);
    rig.work_off();
    until("it is settled", || state(&rig) == "settled");
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
    // And the buyer finds the answer with the payment that bought it.
    let payment = payment.expect("signed");
    let answer = rig.pay(&payment, ARTICLE, "fresh").expect(200);
    assert!(answer.text().contains("Boats"));
    assert_eq!(rig.site.hits("/article"), 1);
    assert_eq!(rig.facilitator.settlements(), 1);
}

/// The same, and the buyer comes first.
#[test]
fn a_crash_after_the_answer_was_kept_is_ended_by_the_buyer_s_next_try() {
    let mut rig = Rig::today();
    let wallet = Wallet::new();
    let mut payment = None;
    rig.in_process(&[("lab.crash_at", "kept")], |rig, service| {
        payment = Some(buy_and_die(rig, service, &wallet));
    });
    // The facilitator is of no use yet: the buyer gets a credit beside the 503.
    rig.facilitator.settles(Says::Status(503));
    let payment = payment.expect("signed");
    let ask = rig.order(ARTICLE, "fresh").paid(&payment.header);
    let answer = ask.send();
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (503, "settlement_unknown"),
        "{answer:?}"
    );
    let credit = answer.credit();
    rig.facilitator.settles(Says::Honest);
    rig.retry(&credit, ARTICLE, "fresh").send().expect(200);
    ask.send().expect(200);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
    assert_eq!(rig.site.hits("/article"), 1);
}

/// The money has moved and nobody has written it down.
#[test]
fn a_crash_after_the_money_has_moved_charges_once_and_delivers() {
    let mut rig = Rig::today();
    let wallet = Wallet::new();
    let mut payment = None;
    rig.in_process(&[("lab.crash_at", "settled")], |rig, service| {
        payment = Some(buy_and_die(rig, service, &wallet));
    });
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
    let payment = payment.expect("signed");
    let answer = rig.pay(&payment, ARTICLE, "fresh").expect(200);
    assert_eq!(answer.settlement()["success"], true);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
    assert_eq!(rig.facilitator.settlements(), 1);
    // Nothing else is bought with it.
    let other = rig.pay(&payment, SECOND, "fresh");
    other.refused_charged(400, "payment_replayed");
}

/// A claim becomes durable when the goods are kept; a crash before that owes nothing.
#[test]
fn a_crash_after_the_verification_owes_nothing() {
    let mut rig = Rig::today();
    let wallet = Wallet::new();
    let mut payment = None;
    rig.in_process(&[("lab.crash_at", "verified")], |rig, service| {
        payment = Some(buy_and_die(rig, service, &wallet));
    });
    assert_eq!(
        rig.operator("/operator/payments").json()["payments"],
        json!([])
    );
    assert_eq!(rig.facilitator.settle_calls(), 0);
    let payment = payment.expect("signed");
    rig.pay(&payment, ARTICLE, "fresh").expect(200);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

/// Killed while the facilitator is taking the money.
#[test]
fn a_kill_during_the_settlement_is_reconciled() {
    let mut rig = Rig::today();
    let wallet = Wallet::new();
    let mut payment = None;
    rig.facilitator.settles(Says::Hang);
    let more = [
        ("payment.settle_seconds_max", "30"),
        ("payment.settle_wait_seconds_max", "30"),
    ];
    rig.in_process(&more, |rig, service| {
        let signed = wallet.sign_at(service.address, "fresh", rig.now(), None);
        let ask = service.order(ARTICLE, "fresh").paid(&signed.header);
        let address = service.address;
        let asked = thread::spawn(move || crate::harness::ask::raw_bytes(address, &ask.bytes()));
        until("it is being settled", || {
            rig.facilitator.settle_calls() == 1
        });
        service.kill();
        assert!(asked.join().expect("no panic").is_empty());
        payment = Some(signed);
    });
    rig.facilitator.settles(Says::Honest);
    assert_eq!(state(&rig), "unknown");
    let payment = payment.expect("signed");
    rig.pay(&payment, ARTICLE, "fresh").expect(200);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
    assert_eq!(rig.site.hits("/article"), 1);
}

/// Crashed in the middle of redeeming a credit: the settlement may have been sent, so the credit stands for an unknown
/// settlement now and first repeats the settle.
#[test]
fn a_crash_while_a_credit_is_redeemed_loses_nothing() {
    let mut rig = Rig::today();
    rig.site.put("/second", Page::Status(503));
    let wallet = Wallet::new();
    let credit = rig.buy(&wallet, SECOND, "fresh").expect(503).credit();
    rig.site
        .put("/second", Page::html("The second page", "Back again."));
    rig.in_process(&[("lab.crash_at", "kept")], |_, mut service| {
        let ask = service
            .post(crate::harness::RETRY)
            .header("X-Service-Retry-Credit", &*credit);
        let ask = ask.json(&crate::harness::order(SECOND, "fresh"));
        let bytes = crate::harness::ask::raw_bytes(service.address, &ask.bytes());
        assert!(bytes.is_empty(), "it died");
        assert!(!service.end().success());
    });
    assert_eq!(rig.facilitator.settle_calls(), 0);
    let answer = rig.retry(&credit, SECOND, "fresh").send();
    assert_eq!(answer.status, 200, "{answer:?}");
    rig.retry(&credit, SECOND, "fresh")
        .send()
        .refused(400, "retry_credit_invalid");
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
    assert_eq!(rig.site.hits("/second"), 2);
}

/// A stop asks for the end of what is under way, and its start finds a clean file.
#[test]
fn a_terminated_service_ends_its_sale_and_exits_in_order() {
    let mut rig = Rig::today();
    rig.site.put(
        "/second",
        Page::html("The second page", "Slow but sure.").slow(std::time::Duration::from_millis(500)),
    );
    let wallet = Wallet::new();
    rig.in_process(&[], |rig, mut service| {
        let payment = wallet.sign_at(service.address, "fresh", rig.now(), None);
        let ask = service.order(SECOND, "fresh").paid(&payment.header);
        let asked = thread::spawn(move || ask.send());
        until("the page is being fetched", || {
            rig.site.hits("/second") == 1
        });
        service.terminate();
        let answer = asked.join().expect("an answer");
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(service.end().success());
        let log = service.log();
        assert!(
            log.iter().any(|line| line.contains("\"stopped\"")),
            "{log:#?}"
        );
    });
    assert_eq!(state(&rig), "settled");
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

/// What is unknown stays so over a restart, for the same payload and for a newly signed one.
#[test]
fn an_unknown_settlement_is_remembered_over_a_restart() {
    let mut rig = Rig::start();
    let wallet = Wallet::new();
    rig.facilitator.settles(Says::Status(500));
    let credit = rig.buy(&wallet, ARTICLE, "fresh").expect(503).credit();
    let first = rig.facilitator.settle_bodies()[0].clone();
    rig.restart();
    assert_eq!(state(&rig), "unknown");
    let again = rig.buy(&wallet, ARTICLE, "fresh");
    assert_eq!(
        (again.status, again.code().as_str()),
        (503, "settlement_unknown"),
        "{again:?}"
    );
    rig.facilitator.settles(Says::Honest);
    rig.buy(&wallet, ARTICLE, "fresh").expect(200);
    assert!(
        rig.facilitator
            .settle_bodies()
            .iter()
            .all(|body| body["paymentPayload"] == first["paymentPayload"])
    );
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
    rig.retry(&credit, ARTICLE, "fresh").send().expect(200);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

/// The same of every kind of purchase.
#[test]
fn an_unknown_settlement_of_any_kind_is_remembered_over_a_restart() {
    for_each(Wish::all(ARTICLE), |wish| {
        let mut rig = Rig::start();
        let wallet = Wallet::new();
        let sign = |rig: &Rig| wish.sign(rig.address, &wallet, rig.now(), None).header;
        let (first, second) = (sign(&rig), sign(&rig));
        let pay = |rig: &Rig, header: &str| wish.ask(rig.address).paid(header).send();
        rig.facilitator.settles(Says::Lost);
        let credit = pay(&rig, &first).expect(503).credit();
        rig.restart();
        pay(&rig, &first).refused_charged(503, "settlement_unknown");
        pay(&rig, &second).refused(503, "settlement_unknown");
        rig.facilitator.settles(Says::Honest);
        rig.restart();
        let bought = pay(&rig, &second).expect(200).body;
        assert_eq!(pay(&rig, &first).expect(200).body, bought, "{wish:?}");
        let retried = wish.retry(rig.address, &credit).send();
        assert_eq!(retried.expect(200).body, bought, "{wish:?}");
        assert_eq!(rig.facilitator.settlements(), 1, "{wish:?}");
        assert_eq!(rig.facilitator.spent(wallet.address()), wish.units);
        assert_eq!(rig.site.hits("/article"), 1, "{wish:?}");
    });
}

/// The page of a kept answer was due to go during a long stop. A buyer who came before the first look at the payment got
/// the answer once, and a 500 from then on.
#[test]
fn an_answer_outlives_a_long_stop() {
    let mut rig = Rig::start();
    let payment = Wallet::new().sign(&rig, "fresh");
    rig.facilitator.settles(Says::Lost);
    let asked = rig.pay(&payment, ARTICLE, "fresh");
    asked.expect(503);
    assert!(rig.stop(), "the service stops in order");
    rig.pass(2 * 24 * 3_600);
    rig.facilitator.settles(Says::Honest);
    rig.run();
    for _ in 0..3 {
        let answer = rig.pay(&payment, ARTICLE, "fresh");
        assert!(answer.expect(200).text().contains("Boats"));
        rig.work_off();
    }
    assert_eq!(rig.facilitator.settlements(), 1);
}

/// A payment whose settlement is unknown never meets a 402, not even long after its window.
#[test]
fn an_unknown_settlement_never_meets_a_402() {
    let mut rig = Rig::start();
    let wallet = Wallet::new();
    let payment = wallet.sign(&rig, "fresh");
    rig.facilitator.settles(Says::Lost);
    rig.pay(&payment, ARTICLE, "fresh").expect(503);
    for _ in 0..2 {
        rig.pass(3_600);
        let answer = rig.pay(&payment, ARTICLE, "fresh");
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (503, "settlement_unknown"),
            "{answer:?}"
        );
        rig.restart();
    }
    rig.facilitator.settles(Says::Honest);
    rig.pay(&payment, ARTICLE, "fresh").expect(200);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

/// An offer is honoured for 300 s after it was made, whatever the configuration says now.
#[test]
fn an_offer_of_the_last_five_minutes_is_honoured() {
    let mut rig = Rig::start();
    let (wallet, other_vault) = (Wallet::new(), "0x5030503050305030503050305030503050305030");
    let payment = wallet.sign(&rig, "fresh");
    let late = wallet.sign(&rig, "fresh");
    rig.reconfigure(|resolved| resolved.set("payment.pay_to", other_vault));
    rig.pass(200);
    let asked = rig.order(ARTICLE, "fresh").send().expect(402);
    assert_eq!(asked.challenge()["accepts"][0]["payTo"], other_vault);
    let ask = rig.order(ARTICLE, "fresh").paid(&payment.header);
    let sold = ask.send().expect(200);
    // The answer names the vault that was paid, also when it is given again.
    assert_eq!(
        sold.json()["payment"]["vault_address"],
        crate::harness::PAY_TO
    );
    assert_eq!(ask.send().expect(200).body, sold.body);
    let told = rig.facilitator.settle_bodies();
    assert_eq!(
        told[0]["paymentRequirements"]["payTo"],
        crate::harness::PAY_TO
    );
    rig.pass(101);
    let answer = rig.pay(&late, ARTICLE, "fresh").expect(402);
    assert_eq!(answer.challenge()["accepts"][0]["payTo"], other_vault);
    assert_eq!(rig.facilitator.settle_calls(), 1);
}

/// The margin is checked again at each retry.
#[test]
fn a_retry_that_no_longer_pays_is_refused() {
    let mut rig = Rig::start();
    rig.site.put("/second", Page::Status(503));
    let wallet = Wallet::new();
    let credit = rig.buy(&wallet, SECOND, "fresh").expect(503).credit();
    rig.site
        .put("/second", Page::html("The second page", "Back again."));
    rig.reconfigure(|resolved| resolved.set("guard.gas_usdc", "0.029"));
    rig.retry(&credit, SECOND, "fresh")
        .send()
        .refused(400, "margin_rejected");
    assert_eq!(rig.site.hits("/second"), 1);
    assert_eq!(rig.facilitator.settle_calls(), 0);
    rig.reconfigure(|resolved| resolved.set("guard.gas_usdc", "0"));
    rig.retry(&credit, SECOND, "fresh").send().expect(200);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

/// The cache is part of the data file.
#[test]
fn cached_pages_outlive_a_restart() {
    let mut rig = Rig::start();
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
    rig.restart();
    rig.buy(&Wallet::new(), ARTICLE, "cached").expect(200);
    assert_eq!(rig.site.hits("/article"), 1);
}

/// A clock that goes back revives nothing.
#[test]
fn a_clock_that_goes_back_revives_no_payment() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    let payment = wallet.sign(&rig, "fresh");
    let ask = rig.order(ARTICLE, "fresh").paid(&payment.header);
    ask.send().expect(200);
    rig.pass(1_000);
    ask.send().refused_charged(400, "payment_replayed");
    rig.work_off();
    rig.go_back(1_000);
    ask.send().refused_charged(400, "payment_replayed");
    assert_eq!(rig.facilitator.settle_calls(), 1);
}

/// A page that a clock far ahead has dated is not fresh for as long as it was ahead.
#[test]
fn a_page_dated_in_the_future_is_fetched_anew() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    rig.pass(8 * 86_400);
    rig.buy(&wallet, ARTICLE, "fresh").expect(200);
    rig.go_back(8 * 86_400);
    rig.pass(86_400);
    for tier in ["deep", "basic"] {
        let hits = rig.site.hits("/article");
        let answer = rig.buy(&wallet, ARTICLE, tier).expect(200);
        assert_eq!(
            (answer.must("x-service-cache"), rig.site.hits("/article")),
            ("miss", hits + 1),
            "{tier}"
        );
        rig.pass(7200);
    }
    // What was fetched now is the copy that counts.
    let answer = rig.buy(&wallet, ARTICLE, "cached").expect(200);
    assert_eq!(answer.must("x-service-cache"), "hit");
}

/// The offer of a former token is honoured for some minutes. Later, what was charged in it still was.
#[test]
fn a_payment_in_a_former_token_is_not_denied() {
    let mut rig = Rig::start();
    let paid = Wallet::new().sign(&rig, "fresh");
    let settled = rig.order(ARTICLE, "fresh").paid(&paid.header);
    let first = settled.send().expect(200);
    let lost = Wallet::new().sign(&rig, "fresh");
    let unknown = rig.order(ARTICLE, "fresh").paid(&lost.header);
    rig.facilitator.settles(Says::Lost);
    unknown.send().refused_charged(503, "settlement_unknown");
    rig.reconfigure(|resolved| {
        resolved.set(
            "payment.asset",
            "0x2222222222222222222222222222222222222222",
        );
        resolved.set("payment.asset_name", "Other");
    });
    rig.pass(400);
    let again = settled.at(rig.address);
    assert_eq!(again.send().expect(200).body, first.body);
    unknown
        .at(rig.address)
        .send()
        .refused_charged(503, "settlement_unknown");
    let other = rig.order(FERRY, "fresh").paid(&paid.header);
    other.send().refused_charged(400, "payment_replayed");
    let unread = again.body("{");
    unread.send().refused_charged(400, "payment_replayed");
}

/// A clock far ahead for a while puts nothing off for as long as it was ahead.
#[test]
fn a_settlement_of_a_clock_that_was_ahead_is_looked_up_after_a_restart() {
    let mut rig = Rig::start();
    rig.pass(8 * 86_400);
    let wallet = Wallet::new();
    rig.facilitator.settles(Says::Reset);
    rig.buy(&wallet, ARTICLE, "fresh")
        .refused_charged(503, "settlement_unknown");
    rig.facilitator.settles(Says::Honest);
    rig.go_back(8 * 86_400);
    rig.restart();
    rig.work_off();
    until("it is settled", || state(&rig) == "settled");
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}
