//! Settlements and verifications that go wrong in every way. Failed is failed, unknown is unknown, and a buyer is never
//! led to pay twice.

use std::time::Duration;

use serde_json::json;

use crate::harness::{
    ARTICLE, Answer, FRESH, Page, Rig, Says, Wallet, Wish, amount, for_each, price, until,
};

/// Every end of a settle that leaves open whether money has moved.
fn doubts() -> Vec<Says> {
    vec![
        Says::Reset,
        Says::Hang,
        Says::Garbage,
        Says::Status(500),
        Says::Status(502),
        Says::Status(401),
        Says::Status(429),
        Says::Status(302),
        Says::Lost,
        Says::WrongPayer,
        Says::WrongNetwork,
        Says::NoTransaction,
        Says::Pending,
        Says::No("invalid_exact_evm_nonce_already_used"),
        Says::No("invalid_exact_evm_transaction_failed"),
        Says::No("invalid_exact_evm_transaction_simulation_failed"),
        Says::No("invalid_transaction_state"),
        Says::No("unexpected_settle_error"),
        Says::No("settlement_timeout"),
        Says::No("settle_exact_node_failure"),
        Says::No(""),
    ]
}

/// Insists on the answer to an unknown settlement, and gives its credit.
#[track_caller]
fn unknown(answer: &Answer) -> String {
    assert_eq!(answer.status, 503, "{answer:?}");
    assert_eq!(answer.code(), "settlement_unknown");
    assert_eq!(answer.must("retry-after"), "5");
    assert_eq!(
        answer.header("payment-required"),
        None,
        "a buyer would sign again: {answer:?}"
    );
    assert_eq!(answer.header("payment-response"), None);
    assert!(!answer.text().contains("Boats"), "the goods are withheld");
    answer.credit()
}

/// Money 8: never 402, and a repeated payload delivers once the facilitator works again.
#[test]
fn a_doubtful_settlement_is_503_and_the_same_payment_delivers_later() {
    let wishes = Wish::all(ARTICLE);
    let mut cases: Vec<(Says, Vec<Wish>)> = Vec::new();
    for (number, doubt) in doubts().into_iter().enumerate() {
        // A page in every doubt, and with it each of the other kinds in turn.
        let other = wishes[1 + number % (wishes.len() - 1)].clone();
        cases.push((doubt, vec![wishes[0].clone(), other]));
    }
    // What may have happened and what may not: all kinds.
    cases.push((Says::Lost, wishes.clone()));
    cases.push((Says::Status(500), wishes));
    for_each(cases, |(doubt, wishes)| {
        for wish in wishes {
            let case = format!("{doubt:?}, {wish:?}");
            let rig = Rig::start();
            let wallet = Wallet::new();
            let payment = wish.sign(rig.address, &wallet, rig.now(), None);
            let ask = wish.ask(rig.address).paid(&payment.header);
            rig.facilitator.settles(doubt.clone());
            let answer = ask.send();
            assert_eq!(answer.status, 503, "{case}: {answer:?}");
            unknown(&answer);
            // Still in doubt: still 503, and no second page is fetched.
            let again = ask.send();
            assert_eq!(
                (again.status, again.code().as_str()),
                (503, "settlement_unknown"),
                "{case}: {again:?}"
            );
            assert_eq!(again.header("payment-required"), None);
            assert_eq!(again.must("retry-after"), "5");

            rig.facilitator.settles(Says::Honest);
            let answer = ask.send();
            assert_eq!(answer.status, 200, "{case}: {answer:?}");
            assert_eq!(answer.settlement()["success"], true);
            assert_eq!(rig.facilitator.settlements(), 1, "{case}");
            assert_eq!(
                rig.facilitator.spent(wallet.address()),
                wish.units,
                "{case}"
            );
            assert_eq!(rig.site.hits("/article"), 1, "{case}");
            assert_eq!(rig.facilitator.verify_calls(), 1, "{case}");
        }
    });
}

#[test]
fn the_credit_of_a_doubtful_settlement_delivers_once() {
    let doubts = [Says::Hang, Says::Lost, Says::Status(500), Says::WrongPayer];
    let wishes = Wish::all(ARTICLE);
    let page = doubts
        .iter()
        .map(|doubt| (doubt.clone(), wishes[0].clone()));
    let others = wishes[1..].iter().zip(doubts.iter().cycle());
    let others = others.map(|(wish, doubt)| (doubt.clone(), wish.clone()));
    for_each(page.chain(others), |(doubt, wish)| {
        let rig = Rig::start();
        let wallet = Wallet::new();
        let payment = wish.sign(rig.address, &wallet, rig.now(), None);
        rig.facilitator.settles(doubt.clone());
        let credit = unknown(&wish.ask(rig.address).paid(&payment.header).send());
        let retry = wish.retry(rig.address, &credit);
        // Still in doubt costs no attempt, however often it is asked.
        for _ in 0..4 {
            let answer = retry.send();
            assert_eq!(
                (answer.status, answer.code().as_str()),
                (503, "settlement_unknown"),
                "{doubt:?}: {answer:?}"
            );
        }
        rig.facilitator.settles(Says::Honest);
        let answer = retry.send();
        assert_eq!(answer.status, 200, "{doubt:?}: {answer:?}");
        assert_eq!(answer.settlement()["success"], true);
        retry.send().refused(400, "retry_credit_invalid");
        assert_eq!(rig.facilitator.settlements(), 1, "{doubt:?}");
        assert_eq!(
            rig.facilitator.spent(wallet.address()),
            wish.units,
            "{doubt:?}"
        );
        assert_eq!(rig.site.hits("/article"), 1, "{doubt:?}");
    });
}

/// Money 8: the payload as well as the credit, whichever comes first, and no second charge.
#[test]
fn credit_and_payload_of_one_sale_are_one_sale() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    let payment = wallet.sign(&rig, "fresh");
    let ask = rig.order(ARTICLE, "fresh").paid(&payment.header);
    rig.facilitator.settles(Says::Lost);
    let credit = unknown(&ask.send());
    rig.facilitator.settles(Says::Honest);
    let by_payload = ask.send().expect(200);
    // The settlement is known now: the credit is good without further payment, once.
    let by_credit = rig.retry(&credit, ARTICLE, "fresh").send().expect(200);
    assert_eq!(by_credit.json()["markdown"], by_payload.json()["markdown"]);
    rig.retry(&credit, ARTICLE, "fresh")
        .send()
        .refused(400, "retry_credit_invalid");
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
    assert_eq!(rig.site.hits("/article"), 1);
}

/// A facilitator that is asked once more while it waits for the chain.
#[test]
fn a_pending_settlement_is_asked_again_at_once() {
    let rig = Rig::start();
    rig.facilitator.next_settles([Says::Pending]);
    let wallet = Wallet::new();
    rig.buy(&wallet, ARTICLE, "fresh").expect(200);
    assert_eq!(rig.facilitator.settle_calls(), 2);
    let bodies = rig.facilitator.settle_bodies();
    assert_eq!(bodies[0], bodies[1]);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

/// A connection that breaks is tried once more with the identical payload.
#[test]
fn a_broken_settle_is_repeated_and_succeeds() {
    for first in [Says::Reset, Says::Lost] {
        let rig = Rig::start();
        rig.facilitator.next_settles([first]);
        let wallet = Wallet::new();
        rig.buy(&wallet, ARTICLE, "fresh").expect(200);
        assert_eq!(rig.facilitator.settlements(), 1);
        assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
    }
}

/// A repetition that is refused proves nothing: the first may have moved the money.
#[test]
fn a_refusal_of_a_repeated_settle_stays_unknown() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    let payment = wallet.sign(&rig, "fresh");
    let ask = rig.order(ARTICLE, "fresh").paid(&payment.header);
    rig.facilitator
        .next_settles([Says::Lost, Says::No("insufficient_funds")]);
    unknown(&ask.send());
    rig.facilitator
        .next_settles([Says::No("insufficient_funds")]);
    let again = ask.send();
    assert_eq!(
        (again.status, again.code().as_str()),
        (503, "settlement_unknown"),
        "{again:?}"
    );
    ask.send().expect(200);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

/// Money 8: a definite failure is told with a fresh challenge; nothing is delivered, owed or kept.
#[test]
fn a_definite_failure_is_402_and_nothing_is_owed() {
    for reason in [
        "insufficient_funds",
        "invalid_exact_evm_insufficient_balance",
        "invalid_exact_evm_signature",
        "invalid_exact_evm_payload_authorization_from_address_kyt",
    ] {
        let rig = Rig::start();
        let wallet = Wallet::new();
        let payment = wallet.sign(&rig, "fresh");
        let ask = rig.order(ARTICLE, "fresh").paid(&payment.header);
        rig.facilitator.settles(Says::No(reason));
        let answer = ask.send().expect(402);
        assert_eq!(answer.challenge()["error"], reason);
        assert_eq!(answer.challenge()["accepts"][0]["amount"], amount(FRESH));
        let settlement = answer.settlement();
        assert_eq!(
            settlement,
            json!({"success": false, "errorReason": reason, "payer": wallet.address(), "transaction": "", "network": "eip155:8453"})
        );
        assert_eq!(answer.header("x-service-retry-credit"), None);
        assert!(!answer.text().contains("Boats"));
        assert_eq!(rig.facilitator.settle_calls(), 1);
        let listed = rig.operator("/operator/payments?state=failed").json();
        assert_eq!(listed["payments"][0]["reason"], reason);
        assert_eq!(listed["payments"][0]["credit"], json!(null));

        // The same payment stays failed; a new one is a new sale.
        rig.facilitator.settles(Says::Honest);
        ask.send().expect(402);
        assert_eq!(
            rig.facilitator.settle_calls(),
            1,
            "a failed authorization is not settled again"
        );
        rig.buy(&wallet, ARTICLE, "fresh").expect(200);
        assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
    }
}

/// The same of every kind of purchase.
#[test]
fn a_definite_failure_sells_nothing_of_any_kind() {
    let rig = Rig::start();
    for wish in Wish::all(ARTICLE) {
        let wallet = Wallet::new();
        let payment = wish.sign(rig.address, &wallet, rig.now(), None);
        let ask = wish.ask(rig.address).paid(&payment.header);
        rig.facilitator.settles(Says::No("insufficient_funds"));
        let answer = ask.send().expect(402);
        let challenge = answer.challenge();
        assert_eq!(challenge["accepts"][0]["amount"], wish.units.to_string());
        assert_eq!(answer.header("x-service-retry-credit"), None, "{wish:?}");
        rig.facilitator.settles(Says::Honest);
        ask.send().expect(402);
        assert_eq!(rig.facilitator.spent(wallet.address()), 0, "{wish:?}");
        let payment = wish.sign(rig.address, &wallet, rig.now(), None);
        wish.ask(rig.address)
            .paid(&payment.header)
            .send()
            .expect(200);
        assert_eq!(
            rig.facilitator.spent(wallet.address()),
            wish.units,
            "{wish:?}"
        );
    }
}

/// Money moved away between verify and settle.
#[test]
fn a_buyer_who_has_spent_the_money_meanwhile_gets_nothing() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    rig.facilitator
        .next_settles([Says::No("invalid_exact_evm_insufficient_balance")]);
    let answer = rig.buy(&wallet, ARTICLE, "fresh").expect(402);
    assert!(!answer.text().contains("Boats"));
    assert_eq!(rig.facilitator.spent(wallet.address()), 0);
}

/// Money 9: as long as one is unknown, a newly signed payment for the same purchase is not settled.
#[test]
fn a_newly_signed_payment_does_not_pay_for_an_unknown_one() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    rig.facilitator.settles(Says::Hang);
    unknown(&rig.buy(&wallet, ARTICLE, "fresh"));
    let first = rig.facilitator.settle_bodies()[0].clone();
    // The buyer signs anew although it was told not to.
    let answer = rig.buy(&wallet, ARTICLE, "fresh");
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (503, "settlement_unknown"),
        "{answer:?}"
    );
    rig.facilitator.settles(Says::Honest);
    let answer = rig.buy(&wallet, ARTICLE, "fresh").expect(200);
    assert_eq!(answer.settlement()["success"], true);
    for body in rig.facilitator.settle_bodies() {
        assert_eq!(
            body["paymentPayload"], first["paymentPayload"],
            "only the first one is ever settled"
        );
    }
    assert_eq!(rig.facilitator.settlements(), 1);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
    // Once it is known, a new payment is a new purchase.
    rig.buy(&wallet, ARTICLE, "fresh").expect(200);
    assert_eq!(rig.facilitator.spent(wallet.address()), 60_000);
}

/// Another page of the same buyer, or the same page of another buyer, is not held up by it.
#[test]
fn an_unknown_settlement_holds_up_nobody_else() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    rig.facilitator.next_settles([Says::Status(500)]);
    unknown(&rig.buy(&wallet, ARTICLE, "fresh"));
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
    rig.buy(&wallet, ARTICLE, "basic").expect(200);
    rig.buy(&wallet, "http://other.sample-site.org/article", "fresh")
        .expect(200);
}

#[test]
fn what_is_unknown_is_looked_at_in_the_background_until_it_is_known() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    let payment = wallet.sign(&rig, "fresh");
    rig.facilitator.settles(Says::Status(500));
    unknown(&rig.pay(&payment, ARTICLE, "fresh"));
    let states = || rig.operator("/operator/payments").json()["payments"][0]["state"].clone();
    assert_eq!(states(), "unknown");
    let calls = rig.facilitator.settle_calls();
    rig.pass(15);
    rig.work_off();
    until("it was asked again", || {
        rig.facilitator.settle_calls() > calls
    });
    assert_eq!(states(), "unknown");
    // Hours later the facilitator works again.
    rig.facilitator.settles(Says::Lost);
    rig.pass(60);
    rig.work_off();
    rig.facilitator.settles(Says::Honest);
    until("it is known", || {
        rig.pass(60);
        rig.work_off();
        states() == "settled"
    });
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
    // The answer is still there for the payment that bought it, with no further call.
    let calls = rig.facilitator.settle_calls();
    rig.pay(&payment, ARTICLE, "fresh").expect(200);
    assert_eq!(rig.facilitator.settle_calls(), calls);
    assert_eq!(rig.site.hits("/article"), 1);
}

/// Each look once left two further looks behind, so that a settlement that stayed unknown was asked for ever more often.
#[test]
fn what_stays_unknown_is_looked_at_more_and_more_rarely() {
    let rig = Rig::start();
    rig.facilitator.settles(Says::Status(500));
    unknown(&rig.buy(&Wallet::new(), ARTICLE, "fresh"));
    let looks_in = |seconds: u64| {
        let before = rig.facilitator.settle_calls();
        for _ in 0..seconds / 5 {
            rig.pass(5);
            rig.work_off();
        }
        rig.facilitator.settle_calls() - before
    };
    let (first, second) = (looks_in(300), looks_in(900));
    assert!((5..=10).contains(&first), "{first} looks in five minutes");
    assert!((2..=5).contains(&second), "{second} in the next fifteen");
}

/// The credit lives until 15 minutes after the settlement is known, however long that takes.
#[test]
fn the_credit_of_an_unknown_settlement_waits_for_its_end() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    rig.facilitator.settles(Says::Lost);
    let credit = unknown(&rig.buy(&wallet, ARTICLE, "fresh"));
    rig.pass(2 * 3600);
    rig.work_off();
    rig.facilitator.settles(Says::Honest);
    rig.pass(3600);
    rig.work_off();
    let state = || rig.operator("/operator/payments").json()["payments"][0]["state"].clone();
    until("it is known", || state() == "settled");
    rig.pass(899);
    rig.work_off();
    rig.retry(&credit, ARTICLE, "fresh").send().expect(200);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

/// The buyer waits so long and no longer; the call goes on, and what it says later still counts.
#[test]
fn a_late_success_is_still_recorded() {
    let rig = Rig::with(|resolved| {
        resolved.set("payment.settle_wait_seconds_max", "0.3");
        resolved.set("payment.settle_seconds_max", "5");
    });
    rig.facilitator
        .settles(Says::Slow(Duration::from_millis(900)));
    let wallet = Wallet::new();
    let payment = wallet.sign(&rig, "fresh");
    let ask = rig.order(ARTICLE, "fresh").paid(&payment.header);
    let credit = unknown(&ask.send());
    assert_eq!(rig.facilitator.settle_calls(), 1);
    let state = || rig.operator("/operator/payments").json()["payments"][0]["state"].clone();
    until("the call ends", || state() == "settled");
    ask.send().expect(200);
    rig.retry(&credit, ARTICLE, "fresh").send().expect(200);
    assert_eq!(rig.facilitator.settle_calls(), 1);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

/// While the call is under way neither payload nor credit nor another signature starts another one, and none of them is told
/// that nothing was charged: it may be, at any moment.
#[test]
fn a_settlement_that_is_under_way_is_an_unknown_one() {
    for_each(Wish::all(ARTICLE), |wish| {
        let rig = Rig::with(|resolved| {
            resolved.set("payment.settle_wait_seconds_max", "0.3");
            resolved.set("payment.settle_seconds_max", "20");
        });
        let wallet = Wallet::new();
        let payment = wish.sign(rig.address, &wallet, rig.now(), None);
        let ask = wish.ask(rig.address).paid(&payment.header);
        rig.facilitator.settles(Says::Hang);
        let credit = unknown(&ask.send());
        let again = ask.send();
        assert_eq!(again.header("payment-required"), None);
        assert_eq!(again.must("retry-after"), "5");
        again.refused_charged(503, "settlement_unknown");
        let retried = wish.retry(rig.address, &credit).send();
        let retried = retried.refused_charged(503, "settlement_unknown");
        assert_eq!(retried.credit(), credit, "it is as good as before");
        assert_eq!(retried.json()["retry"]["attempts_left"], 3);
        let other = wish.sign(rig.address, &wallet, rig.now(), None);
        let other = wish.ask(rig.address).paid(&other.header);
        for _ in 0..2 {
            let answer = other.send().refused(503, "settlement_unknown");
            assert_eq!(answer.json()["earlier_payment"]["charged"], "unknown");
        }
        assert_eq!(rig.facilitator.settle_calls(), 1, "{wish:?}");
    });
}

/// Money 6: without a verdict nothing is done and nothing is owed.
#[test]
fn a_verification_without_a_verdict_is_503_and_costs_nothing() {
    let faults = [
        Says::Reset,
        Says::Hang,
        Says::Garbage,
        Says::Status(500),
        Says::Status(503),
        Says::Status(401),
        Says::Status(403),
        Says::Status(404),
        Says::Status(429),
        Says::Status(307),
        Says::WrongPayer,
        Says::No("unexpected_verify_error"),
    ];
    for_each(faults, |fault| {
        let rig = Rig::start();
        let wallet = Wallet::new();
        let payment = wallet.sign(&rig, "fresh");
        let ask = rig.order(ARTICLE, "fresh").paid(&payment.header);
        rig.facilitator.verifies(fault.clone());
        let answer = ask.send();
        assert_eq!(answer.status, 503, "{fault:?}: {answer:?}");
        let answer = answer.refused(503, "network_unavailable");
        assert_eq!(answer.must("retry-after"), "5");
        assert_eq!(answer.header("x-service-retry-credit"), None, "{fault:?}");
        assert_eq!(answer.header("payment-required"), None, "{fault:?}");
        assert_eq!(rig.facilitator.settle_calls(), 0);
        assert_eq!(rig.site.requests().len(), 0);
        assert_eq!(
            rig.operator("/operator/payments").json()["payments"],
            json!([])
        );
        // The payment is as good as before.
        rig.facilitator.verifies(Says::Honest);
        ask.send().expect(200);
        assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
    });
}

#[test]
fn an_invalid_payment_is_402_and_does_no_work() {
    let rig = Rig::start();
    // Signed by somebody else.
    let payment = Wallet::new().sign(&rig, "fresh").altered(|payload| {
        payload["payload"]["authorization"]["from"] = json!(Wallet::new().address());
    });
    let answer = rig.pay(&payment, ARTICLE, "fresh").expect(402);
    assert_eq!(answer.challenge()["error"], "invalid_exact_evm_signature");
    assert_eq!(rig.site.requests().len(), 0);
    assert_eq!(rig.facilitator.settle_calls(), 0);
    assert_eq!(
        rig.operator("/operator/payments").json()["payments"],
        json!([])
    );
}

#[test]
fn an_empty_wallet_is_told_so() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    rig.facilitator
        .verifies(Says::No("invalid_exact_evm_insufficient_balance"));
    let answer = rig.buy(&wallet, ARTICLE, "fresh").expect(402);
    assert_eq!(
        answer.challenge()["error"],
        "invalid_exact_evm_insufficient_balance"
    );
}

/// Money 7: an authorization that runs out while the page is fetched is not settled.
#[test]
fn an_authorization_that_ran_out_during_the_work_is_not_settled() {
    let rig = Rig::start();
    rig.site.put(
        "/slow",
        Page::html("The slow page", "It takes its time.").slow(Duration::from_millis(600)),
    );
    let wallet = Wallet::new();
    let payment = wallet.sign(&rig, "fresh");
    let ask = rig
        .order("http://news.sample-site.org/slow", "fresh")
        .paid(&payment.header);
    let answer = std::thread::scope(|scope| {
        let asked = scope.spawn(|| ask.send());
        until("the page is being fetched", || rig.site.hits("/slow") == 1);
        rig.pass(295);
        asked.join().expect("an answer")
    });
    assert_eq!(answer.status, 402, "{answer:?}");
    assert_eq!(
        answer.challenge()["error"],
        "invalid_exact_evm_payload_authorization_valid_before"
    );
    assert_eq!(rig.facilitator.settle_calls(), 0);
    assert_eq!(rig.facilitator.spent(wallet.address()), 0);
}

/// A buyer who leaves between paying and being served has still bought, and finds the answer later.
#[test]
fn a_buyer_who_leaves_is_still_served_later() {
    use std::io::Write as _;
    let rig = Rig::start();
    rig.site.put(
        "/slow",
        Page::html("The slow page", "It takes its time.").slow(Duration::from_millis(300)),
    );
    let wallet = Wallet::new();
    let payment = wallet.sign(&rig, "fresh");
    let ask = rig
        .order("http://news.sample-site.org/slow", "fresh")
        .paid(&payment.header);
    let mut stream = crate::harness::ask::connect(rig.address);
    stream.write_all(&ask.bytes()).expect("sent");
    until("the page is being fetched", || rig.site.hits("/slow") == 1);
    drop(stream);
    until("the sale is finished without its buyer", || {
        rig.facilitator.settlements() == 1
    });
    ask.send().expect(200);
    assert_eq!(rig.site.hits("/slow"), 1);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}
