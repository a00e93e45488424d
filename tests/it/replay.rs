//! The same payment again: at once, later, for something else, after a restart, under an identifier of the buyer's own.

use std::time::Duration;

use context402::domain::purchase::Purchase;
use context402::domain::time::UnixSeconds;
use context402::store::DueKind;
use serde_json::json;

use crate::harness::ask::at_once;
use crate::harness::{
    ACCESS, ARTICLE, Answer, FERRY, FRESH, Page, Rig, Says, Wallet, Wish, order, price, until,
};

fn slow_rig() -> Rig {
    let rig = Rig::start();
    let page = Page::html("The slow page", "It takes its time to come.");
    rig.site.put("/slow", page.slow(Duration::from_millis(300)));
    rig
}

const SLOW: &str = "http://news.sample-site.org/slow";

/// One piece of work, one settlement, one charge, and everybody gets the same bytes.
#[test]
fn fifty_identical_requests_at_once_are_one_sale() {
    let rig = slow_rig();
    rig.facilitator
        .verifies(Says::Slow(Duration::from_millis(100)));
    rig.facilitator
        .settles(Says::Slow(Duration::from_millis(100)));
    let wallet = Wallet::new();
    let payment = wallet.sign(&rig, "fresh");
    let answers = rig
        .order(SLOW, "fresh")
        .paid(&payment.header)
        .send_at_once(50);
    for answer in &answers {
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(answer.body, answers[0].body);
        assert_eq!(
            answer.header("payment-response"),
            answers[0].header("payment-response")
        );
    }
    assert_eq!(rig.site.hits("/slow"), 1);
    assert_eq!(rig.facilitator.verify_calls(), 1);
    assert_eq!(rig.facilitator.settle_calls(), 1);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

/// The same of every kind of purchase, and its bytes five times over.
#[test]
fn identical_requests_of_every_kind_are_one_sale() {
    let rig = slow_rig();
    rig.facilitator
        .settles(Says::Slow(Duration::from_millis(100)));
    for wish in Wish::all(SLOW) {
        let wallet = Wallet::new();
        let payment = wish.sign(rig.address, &wallet, rig.now(), None);
        let calls = || {
            (
                rig.facilitator.verify_calls(),
                rig.facilitator.settle_calls(),
            )
        };
        let (before, fetched) = (calls(), rig.site.hits("/slow"));
        let ask = wish.ask(rig.address).paid(&payment.header);
        let answers = ask.send_at_once(20);
        for answer in &answers {
            assert_eq!(answer.status, 200, "{wish:?}: {answer:?}");
            assert_eq!(answer.body, answers[0].body, "{wish:?}");
            assert_eq!(
                answer.header("payment-response"),
                answers[0].header("payment-response")
            );
        }
        for _ in 0..5 {
            assert_eq!(ask.send().expect(200).body, answers[0].body, "{wish:?}");
        }
        ask.send().refused_charged(400, "payment_replayed");
        assert_eq!(calls(), (before.0 + 1, before.1 + 1), "{wish:?}");
        assert_eq!(
            rig.facilitator.spent(wallet.address()),
            wish.units,
            "{wish:?}"
        );
        assert!(rig.site.hits("/slow") <= fetched + 1, "{wish:?}");
    }
}

/// What was paid for one kind buys no other, not even for less.
#[test]
fn a_used_payment_buys_nothing_of_another_kind() {
    let rig = Rig::start();
    let wishes = Wish::all(ARTICLE);
    for (number, wish) in wishes.iter().enumerate() {
        let wallet = Wallet::new();
        let payment = wish.sign(rig.address, &wallet, rig.now(), None);
        let ask = wish.ask(rig.address).paid(&payment.header);
        let first = ask.send().expect(200);
        for other in wishes
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != number)
        {
            let answer = other.1.ask(rig.address).paid(&payment.header).send();
            answer.refused_charged(400, "payment_replayed");
        }
        assert_eq!(ask.send().expect(200).body, first.body);
        assert_eq!(rig.facilitator.spent(wallet.address()), wish.units);
    }
    assert_eq!(rig.facilitator.settlements(), wishes.len());
}

/// Where a limit is reached as well, the buyer still reads that the payment was charged.
#[test]
fn a_limit_does_not_hide_that_a_payment_was_charged() {
    let rig = Rig::with(|resolved| resolved.set("limits.sales_per_minute", "1"));
    let wallet = Wallet::new();
    let payment = wallet.sign(&rig, "fresh");
    let ask = rig.order(ARTICLE, "fresh").paid(&payment.header);
    ask.send().expect(200);
    let other = rig.order(FERRY, "fresh").paid(&payment.header);
    for _ in 0..3 {
        other.send().refused_charged(400, "payment_replayed");
    }
    let fresh = rig.buy(&wallet, FERRY, "fresh");
    fresh.refused(429, "rate_limited");
}

/// A request that cannot be read is no reason to deny what its payment was charged for.
#[test]
fn a_used_payment_beside_an_unreadable_request_is_not_denied() {
    let rig = Rig::start();
    for wish in Wish::all(ARTICLE) {
        let payment = wish.sign(rig.address, &Wallet::new(), rig.now(), None);
        let ask = || wish.ask(rig.address).paid(&payment.header);
        let invalid = ask().body(r#"{"target_url": 7}"#);
        assert_eq!(invalid.send().code(), "validation_failed");
        ask().send().expect(200);
        let plain = ask().without("Content-Type");
        let plain = plain.header("Content-Type", "text/plain");
        for unread in [invalid, ask().body("{"), plain] {
            unread.send().refused_charged(400, "payment_replayed");
        }
    }
}

/// While a payment is in settlement, nobody reads that it was not charged.
#[test]
fn a_payment_in_settlement_is_not_denied() {
    let rig = Rig::with(|resolved| {
        resolved.set("payment.settle_seconds_max", "20");
        resolved.set("payment.settle_wait_seconds_max", "30");
    });
    let wallet = Wallet::new();
    rig.facilitator
        .settles(Says::Slow(Duration::from_millis(800)));
    let payment = wallet.sign(&rig, "fresh");
    let other = rig.order(FERRY, "fresh").paid(&payment.header);
    std::thread::scope(|scope| {
        let first = rig.order(ARTICLE, "fresh").paid(&payment.header);
        let first = scope.spawn(move || first.send());
        until("the payment is sent for settlement", || {
            rig.facilitator.settle_calls() == 1
        });
        other.send().refused_charged(503, "settlement_unknown");
        let unreadable = rig.post(ACCESS).paid(&payment.header).json(&json!({}));
        unreadable.send().refused_charged(503, "settlement_unknown");
        first.join().expect("no panic").expect(200);
    });
    other.send().refused_charged(400, "payment_replayed");
}

/// Whoever waited on the first one has not used up a redelivery.
#[test]
fn those_who_waited_do_not_count_as_redeliveries() {
    let rig = slow_rig();
    let payment = Wallet::new().sign(&rig, "fresh");
    let ask = rig.order(SLOW, "fresh").paid(&payment.header);
    let first = ask.send_at_once(20);
    for _ in 0..5 {
        assert_eq!(ask.send().expect(200).body, first[0].body);
    }
    ask.send().refused_charged(400, "payment_replayed");
    assert_eq!(rig.facilitator.settlements(), 1);
}

/// The same payload for different purchases at the same time: one is served, the others are told.
#[test]
fn one_payment_for_two_pages_at_once_buys_one() {
    let rig = slow_rig();
    let wallet = Wallet::new();
    let payment = wallet.sign(&rig, "fresh");
    let asks = [SLOW, ARTICLE, "http://other.sample-site.org/slow"]
        .map(|target| rig.order(target, "fresh").paid(&payment.header));
    let answers = at_once(asks.to_vec());
    let served = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(served, 1, "{answers:?}");
    for answer in answers {
        if answer.status != 200 {
            answer.refused(400, "payment_replayed");
        }
    }
    assert_eq!(rig.facilitator.settle_calls(), 1);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

/// Two payloads with the same authorization are one authorization, even when both arrive at once.
#[test]
fn one_authorization_in_two_payloads_at_once_is_settled_once() {
    let rig = slow_rig();
    let wallet = Wallet::new();
    let payment = wallet.sign(&rig, "fresh");
    let other = payment.altered(|payload| payload["note"] = json!("the same, said otherwise"));
    let asks = [&payment, &other].map(|payment| rig.order(SLOW, "fresh").paid(&payment.header));
    let answers = at_once(asks.to_vec());
    let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert!(matches!(statuses[..], [200, 400 | 409]), "{answers:?}");
    assert_eq!(rig.facilitator.settle_calls(), 1);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

/// An authorization that has come to be held by a credit while it was being verified for something else pays for what
/// the credit says, and for nothing else; nor is anybody given what the other bought.
#[test]
fn an_authorization_that_a_credit_holds_pays_for_nothing_else() {
    let rig = Rig::start();
    let flaky = "http://news.sample-site.org/flaky";
    rig.site.put("/flaky", Page::Status(503));
    let wallet = Wallet::new();
    let payment = wallet.sign(&rig, "fresh");
    let other = payment.altered(|payload| payload["note"] = json!("the same, said otherwise"));
    rig.facilitator.verifies(Says::Late(Duration::from_secs(1)));
    let slow = rig.order(ARTICLE, "fresh").paid(&other.header);
    let held = rig.order(flaky, "fresh").paid(&payment.header);
    let credit = std::thread::scope(|scope| {
        let slow = scope.spawn(|| slow.send());
        until("the first is being verified", || {
            rig.facilitator.verify_calls() == 1
        });
        rig.facilitator.verifies(Says::Honest);
        let owed = held.send().expect(503);
        let slow = slow.join().expect("an answer");
        slow.refused(400, "payment_replayed");
        owed.must("x-service-retry-credit").to_owned()
    });
    rig.site
        .put("/flaky", Page::html("Ferries", "They run again."));
    let retried = rig.retry(&credit, flaky, "fresh").send().expect(200);
    assert!(retried.text().contains("They run again."));
    assert_eq!(rig.facilitator.settle_calls(), 1);
    let anew = wallet.sign(&rig, "fresh");
    let bought = rig.pay(&anew, flaky, "fresh").expect(200);
    assert!(bought.text().contains("They run again."));
    assert_eq!(rig.facilitator.spent(wallet.address()), 60_000);
}

#[test]
fn a_repeated_request_gets_the_same_bytes_five_times() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    let payment = wallet.sign(&rig, "fresh");
    let ask = rig.order(ARTICLE, "fresh").paid(&payment.header);
    let first = ask.send().expect(200);
    for _ in 0..5 {
        let again = ask.send().expect(200);
        assert_eq!(again.body, first.body);
        for name in [
            "payment-response",
            "etag",
            "x-service-cache",
            "x-markdown-tokens",
        ] {
            assert_eq!(again.header(name), first.header(name), "{name}");
        }
    }
    ask.send().refused_charged(400, "payment_replayed");
    assert_eq!(rig.site.hits("/article"), 1);
    assert_eq!(
        (
            rig.facilitator.verify_calls(),
            rig.facilitator.settle_calls()
        ),
        (1, 1)
    );
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

#[test]
fn a_kept_answer_is_given_for_15_minutes() {
    let rig = Rig::start();
    let payment = Wallet::new().sign(&rig, "fresh");
    let ask = rig.order(ARTICLE, "fresh").paid(&payment.header);
    let first = ask.send().expect(200);
    rig.pass(899);
    assert_eq!(ask.send().expect(200).body, first.body);
    rig.pass(1);
    ask.send().refused_charged(400, "payment_replayed");
    // Also when what is due has been worked off.
    rig.work_off();
    ask.send().refused_charged(400, "payment_replayed");
    rig.pass(30 * 24 * 3600);
    rig.work_off();
    ask.send().refused_charged(400, "payment_replayed");
    assert_eq!(rig.facilitator.settlements(), 1);
}

#[test]
fn a_used_payment_buys_nothing_else() {
    let rig = Rig::start();
    rig.site.put(
        "/second",
        Page::html("The second page", "Something else to read."),
    );
    let payment = Wallet::new().sign(&rig, "fresh");
    let paid = |ask: crate::harness::Ask| ask.paid(&payment.header).send();
    paid(rig.order(ARTICLE, "fresh")).expect(200);
    paid(rig.order("http://news.sample-site.org/second", "fresh"))
        .refused_charged(400, "payment_replayed");
    paid(rig.order(&format!("{ARTICLE}?x=1"), "fresh")).refused_charged(400, "payment_replayed");
    let refreshed = json!({"target_url": ARTICLE, "tier": "fresh", "force_refresh": true});
    paid(rig.post(ACCESS).json(&refreshed)).refused_charged(400, "payment_replayed");
    paid(
        rig.post("/from/x/v1/x402/access")
            .json(&order("http://news.sample-site.org/second", "fresh")),
    )
    .refused_charged(400, "payment_replayed");
    // The same page written otherwise is the same purchase.
    paid(rig.order("HTTP://News.Sample-Site.ORG:80/article#part", "fresh")).expect(200);
    assert_eq!(rig.site.hits("/second"), 0);
    assert_eq!(rig.facilitator.settle_calls(), 1);
}

/// After settlement the authorization is public on chain: its words in other bytes are worth nothing.
#[test]
fn the_same_authorization_in_other_bytes_is_not_given_the_answer() {
    let rig = Rig::start();
    let payment = Wallet::new().sign(&rig, "fresh");
    rig.pay(&payment, ARTICLE, "fresh").expect(200);
    let others = [
        payment.altered(|payload| payload["note"] = json!(1)),
        payment.altered(|payload| {
            payload["payload"]["signature"] = json!(format!("0x{}", "11".repeat(65)))
        }),
        payment.altered(|payload| payload["extensions"] = json!({})),
        payment.altered(|payload| {
            let from = payload["payload"]["authorization"]["from"]
                .as_str()
                .expect("text")
                .to_lowercase();
            payload["payload"]["authorization"]["from"] = json!(from);
        }),
    ];
    for other in others {
        let answer = rig.pay(&other, ARTICLE, "fresh");
        answer.refused_charged(400, "payment_replayed");
    }
    assert_eq!(
        (
            rig.facilitator.verify_calls(),
            rig.facilitator.settle_calls()
        ),
        (1, 1)
    );
    // The very bytes, in another base64, are the very bytes.
    let url_safe = payment
        .header
        .replace('+', "-")
        .replace('/', "_")
        .trim_end_matches('=')
        .to_owned();
    rig.order(ARTICLE, "fresh")
        .paid(&url_safe)
        .send()
        .expect(200);
}

/// Whatever its letters, it is the number that the chain lets happen once.
#[test]
fn a_nonce_in_capitals_is_the_same_nonce() {
    let rig = Rig::start();
    let payment = Wallet::new().sign(&rig, "fresh");
    rig.pay(&payment, ARTICLE, "fresh").expect(200);
    let other = payment.altered(|payload| {
        let nonce = &mut payload["payload"]["authorization"]["nonce"];
        let digits = nonce.as_str().expect("text")[2..].to_uppercase();
        *nonce = json!(format!("0x{digits}"));
    });
    assert_ne!(other.header, payment.header);
    let answer = rig.pay(&other, ARTICLE, "fresh");
    answer.refused_charged(400, "payment_replayed");
    assert_eq!(rig.facilitator.verify_calls(), 1);
}

/// A forged signature neither blocks a nonce nor is remembered.
#[test]
fn a_forged_payment_does_not_stand_in_the_way_of_the_true_one() {
    let rig = Rig::start();
    let payment = Wallet::new().sign(&rig, "fresh");
    let forged = payment.altered(|payload| {
        payload["payload"]["signature"] = json!(format!("0x{}", "11".repeat(65)))
    });
    let pay = |header: &str| rig.order(ARTICLE, "fresh").paid(header).send();
    pay(&forged.header).expect(402);
    pay(&payment.header).expect(200);
    assert_eq!(rig.facilitator.settlements(), 1);
    let listed = rig.operator("/operator/payments").json();
    assert_eq!(listed["payments"].as_array().map(Vec::len), Some(1));
}

/// Whoever has paid and cannot be given the answer is not told that nothing was charged.
#[test]
fn an_answer_that_is_lost_was_still_charged_for() {
    let rig = Rig::start();
    let payment = Wallet::new().sign(&rig, "fresh");
    let ask = rig.order(ARTICLE, "fresh").paid(&payment.header);
    ask.send().expect(200);
    let ever = UnixSeconds(u64::MAX);
    let store = &rig.app().store;
    let due = rig.wait(store.read(move |snapshot| snapshot.due(DueKind::Blob, ever, 100)));
    let payments = rig.wait(store.read(|snapshot| snapshot.payments_after(None, 1)));
    let (key, payment) = payments.expect("reads").pop().expect("the payment");
    let page = payment.answer.map(|answer| answer.page);
    let lost = store.write(move |tables| {
        tables.drop_settled_answer(key, page, ever)?;
        let mut due = due?.into_iter();
        due.try_for_each(|due| tables.sweep_blob(due, ever))
    });
    rig.wait(lost).expect("writes");
    let answer = ask.send().expect(500);
    assert_eq!(answer.code(), "internal");
    assert_eq!(answer.json()["error"]["charged"], true);
}

#[test]
fn a_kept_answer_outlives_a_restart() {
    let mut rig = Rig::start();
    let payment = Wallet::new().sign(&rig, "fresh");
    let first = rig.pay(&payment, ARTICLE, "fresh").expect(200);
    rig.restart();
    let ask = rig.order(ARTICLE, "fresh").paid(&payment.header);
    assert_eq!(ask.send().expect(200).body, first.body);
    for _ in 0..4 {
        ask.send().expect(200);
    }
    rig.restart();
    // The count outlives it as well.
    let answer = rig.pay(&payment, ARTICLE, "fresh");
    answer.refused_charged(400, "payment_replayed");
    let other = rig.pay(&payment, "http://news.sample-site.org/other", "fresh");
    other.refused_charged(400, "payment_replayed");
    assert_eq!(rig.facilitator.settlements(), 1);
    assert_eq!(rig.site.hits("/article"), 1);
}

/// Each kind's answer, and the identifier that its buyer gave it, are known after a restart.
#[test]
fn what_was_bought_of_every_kind_outlives_a_restart() {
    let mut rig = Rig::start();
    let bought: Vec<_> = Wish::all(ARTICLE)
        .into_iter()
        .map(|wish| {
            let wallet = Wallet::new();
            let payment = wish.sign(rig.address, &wallet, rig.now(), Some(ID));
            let answer = wish.ask(rig.address).paid(&payment.header).send();
            (wish, wallet, payment, answer.expect(200).body)
        })
        .collect();
    rig.restart();
    let settlements = rig.facilitator.settlements();
    assert_eq!(settlements, bought.len());
    for (wish, wallet, payment, body) in bought {
        let again = wish.ask(rig.address).paid(&payment.header).send();
        assert_eq!(again.expect(200).body, body, "{wish:?}");
        let anew = wish.sign(rig.address, &wallet, rig.now(), Some(ID));
        let again = wish.ask(rig.address).paid(&anew.header).send();
        assert_eq!(again.expect(200).body, body, "{wish:?}");
        assert_eq!(rig.facilitator.spent(wallet.address()), wish.units);
    }
    assert_eq!(rig.facilitator.settlements(), settlements);
}

const ID: &str = "pay_0123456789abcdef0123456789abcdef";

/// A buyer whose answer was lost signs anew under the same identifier (x402, 7.2): the first sale is the sale.
#[test]
fn a_new_signature_under_the_same_identifier_is_given_the_first_answer() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    let pay = |target: &str, identifier: &str| {
        let payment = wallet.sign_identified(&rig, "fresh", identifier);
        rig.pay(&payment, target, "fresh")
    };
    let first = pay(ARTICLE, ID).expect(200);
    let again = pay(ARTICLE, ID).expect(200);
    assert_eq!(again.body, first.body);
    assert_eq!(
        again.header("payment-response"),
        first.header("payment-response")
    );
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
    assert_eq!(rig.facilitator.settle_calls(), 1);
    assert_eq!(rig.site.hits("/article"), 1);
    // For anything else the identifier is taken, for good: waiting would not help.
    let other = pay("http://other.sample-site.org/article", ID);
    let other = other.refused(409, "payment_identifier_used");
    assert_eq!(other.json()["error"]["retryable"], false);
    assert_eq!(other.json()["error"]["charged"], false);
    assert_eq!(other.header("retry-after"), None);
    assert_eq!(rig.facilitator.settle_calls(), 1);
    // Another identifier is another purchase.
    pay(ARTICLE, "another_identifier_of_the_buyer").expect(200);
    assert_eq!(rig.facilitator.spent(wallet.address()), 60_000);
}

/// An identifier is no bearer key: it counts for its payer alone.
/// Each such signature leaves a record and costs nothing.
#[test]
fn so_many_signatures_under_an_identifier_are_given_the_answer_and_leave_no_text() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    let check = &Wish::all(ARTICLE)[5];
    let pay = || {
        let payment = check.sign(rig.address, &wallet, rig.now(), Some(ID));
        check.ask(rig.address).paid(&payment.header).send()
    };
    for _ in 0..=20 {
        pay().expect(200);
    }
    pay().refused(400, "payment_replayed");
    assert_eq!(rig.facilitator.spent(wallet.address()), check.units);
    let store = &rig.app().store;
    let payments = rig.wait(store.read(|snapshot| snapshot.payments_after(None, 100)));
    let payments = payments.expect("they can be read").into_iter();
    let answered = payments.filter(|(_, payment)| payment.state.name() == "answered");
    let texts = answered.map(|(_, payment)| match payment.purchase {
        Purchase::Check(check) => (check.text, check.sources.len()),
        _ => panic!("checks alone were bought"),
    });
    let texts: Vec<(String, usize)> = texts.collect();
    assert_eq!(texts, vec![(String::new(), 2); 20]);
}

#[test]
fn somebody_else_s_identifier_gives_nothing() {
    let rig = Rig::start();
    let (one, other) = (Wallet::new(), Wallet::new());
    let pay = |wallet: &Wallet| {
        let payment = wallet.sign_identified(&rig, "fresh", ID);
        rig.pay(&payment, ARTICLE, "fresh")
    };
    pay(&one).expect(200);
    pay(&other).expect(200);
    assert_eq!(rig.facilitator.spent(other.address()), price(FRESH));
    assert_eq!(rig.facilitator.settlements(), 2);
    // Nor can one who does not hold the key claim to be the payer.
    let stolen = other.sign_identified(&rig, "fresh", ID).altered(|payload| {
        payload["payload"]["authorization"]["from"] = json!(one.address());
    });
    rig.pay(&stolen, ARTICLE, "fresh").expect(402);
}

#[test]
fn an_identifier_outlives_a_restart() {
    let mut rig = Rig::start();
    let wallet = Wallet::new();
    let payment = wallet.sign_identified(&rig, "fresh", ID);
    let first = rig.pay(&payment, ARTICLE, "fresh").expect(200);
    rig.restart();
    let payment = wallet.sign_identified(&rig, "fresh", ID);
    let again = rig.pay(&payment, ARTICLE, "fresh").expect(200);
    assert_eq!(again.body, first.body);
    assert_eq!(rig.facilitator.settle_calls(), 1);
}

/// Two signatures under one identifier at the same time: one is settled.
#[test]
fn two_signatures_under_one_identifier_at_once_are_one_charge() {
    let rig = slow_rig();
    let wallet = Wallet::new();
    let asks = (0..4).map(|_| {
        let payment = wallet.sign_identified(&rig, "fresh", ID);
        rig.order(SLOW, "fresh").paid(&payment.header)
    });
    let asks: Vec<_> = asks.collect();
    let answers = at_once(asks.clone());
    let served: Vec<&Answer> = answers
        .iter()
        .filter(|answer| answer.status == 200)
        .collect();
    assert!(!served.is_empty(), "{answers:?}");
    assert!(served.iter().all(|answer| answer.body == served[0].body));
    for answer in &answers {
        if answer.status != 200 {
            let answer = answer.clone().refused(409, "conflict");
            assert!(answer.header("retry-after").is_some());
        }
    }
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
    for ask in asks {
        assert_eq!(ask.send().expect(200).body, served[0].body);
    }
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

/// An identifier is recorded after verification: also while a credit holds its payment.
#[test]
fn an_identifier_counts_while_its_payment_is_held() {
    let rig = Rig::start();
    rig.site.put("/flaky", Page::Status(503));
    let wallet = Wallet::new();
    let flaky = "http://news.sample-site.org/flaky";
    let pay = |target: &str| {
        let payment = wallet.sign_identified(&rig, "fresh", ID);
        rig.pay(&payment, target, "fresh")
    };
    pay(flaky).expect(503);
    pay(ARTICLE).refused(409, "payment_identifier_used");
    rig.site
        .put("/flaky", Page::html("It is back", "Here again."));
    pay(flaky).expect(200);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

/// An identifier whose settlement is unknown leads to that settlement, whatever is signed.
#[test]
fn an_identifier_leads_to_the_unknown_settlement() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    let pay = |target: &str| {
        let payment = wallet.sign_identified(&rig, "fresh", ID);
        rig.pay(&payment, target, "fresh")
    };
    rig.facilitator.settles(Says::Lost);
    assert_eq!(pay(ARTICLE).expect(503).code(), "settlement_unknown");
    assert_eq!(pay(ARTICLE).expect(503).code(), "settlement_unknown");
    pay("http://other.sample-site.org/article").refused(409, "payment_identifier_used");
    rig.facilitator.settles(Says::Honest);
    pay(ARTICLE).expect(200);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

/// Whoever waited on a sale that failed shares that end too: one credit, one page asked for.
#[test]
fn fifty_identical_requests_at_once_share_an_outage() {
    let rig = slow_rig();
    rig.site.put(
        "/slow",
        Page::Slow(Duration::from_millis(300), Box::new(Page::Status(503))),
    );
    let wallet = Wallet::new();
    let payment = wallet.sign(&rig, "fresh");
    let answers = rig
        .order(SLOW, "fresh")
        .paid(&payment.header)
        .send_at_once(50);
    let credit = answers[0].credit();
    for answer in &answers {
        assert_eq!(answer.status, 503, "{answer:?}");
        assert_eq!(answer.credit(), credit);
    }
    assert_eq!(rig.site.hits("/slow"), 1);
    assert_eq!(rig.facilitator.settle_calls(), 0);
    rig.site
        .put("/slow", Page::html("The slow page", "Back again."));
    rig.retry(&credit, SLOW, "fresh").send().expect(200);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}
