//! A settled payment whose answer its buyer never received: the goods are owed, and given once, uncharged. Official
//! clients sign anew whenever a request has failed, so each story ends with exactly one charge.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use context402::domain::keys::Fingerprint;
use context402::domain::purchase::{Choices, ContextPurchase, Purchase};
use context402::domain::tier::Tier;
use serde_json::Value;

use crate::harness::ask::connect;
use crate::harness::{
    ARTICLE, BASIC, FRESH, Page, Rig, Says, Wallet, Wish, for_each, price, until,
};

const SLOW: &str = "http://news.sample-site.org/slow";

/// A settlement whose reply is lost, and the background that has found out since.
fn settled_unheard(rig: &Rig, wallet: &Wallet) {
    rig.facilitator.settles(Says::Lost);
    rig.buy(wallet, ARTICLE, "fresh")
        .refused_charged(503, "settlement_unknown");
    rig.facilitator.settles(Says::Honest);
    rig.pass(35);
    rig.work_off();
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

fn fingerprint(target_url: &str) -> Fingerprint {
    let purchase = Purchase::Context(ContextPurchase {
        target_url: target_url.to_owned(),
        tier: Tier::Fresh,
        choices: Choices::default(),
        excerpt: None,
    });
    purchase.fingerprint()
}

/// Waits until the service has noted that it sent all its answers.
fn noted(rig: &Rig) {
    until("sent answers are noted", || {
        rig.app().in_flight.answers.sent(1).is_empty()
    });
}

#[test]
fn a_new_signature_gets_what_an_earlier_payment_has_bought() {
    for_each([false, true], |restarts| {
        let mut rig = Rig::start();
        let wallet = Wallet::new();
        settled_unheard(&rig, &wallet);
        if restarts {
            rig.restart();
        }
        let answer = rig.buy(&wallet, ARTICLE, "fresh").expect(200);
        assert!(answer.text().contains("Boats"));
        assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
        assert_eq!(rig.site.hits("/article"), 1);
        // It was given: the next one is a purchase of its own, also after a restart.
        noted(&rig);
        if restarts {
            rig.restart();
        }
        rig.buy(&wallet, ARTICLE, "fresh").expect(200);
        assert_eq!(rig.facilitator.spent(wallet.address()), 2 * price(FRESH));
    });
}

/// The second signature has done its own work when the first one's client leaves, while its answer is made ready: nobody gets
/// that, so the second one must.
#[test]
fn a_client_that_leaves_behind_a_second_signature_is_charged_once() {
    let rig = Rig::start();
    rig.facilitator
        .settles(Says::Slow(Duration::from_millis(400)));
    for number in 0..8 {
        let path = format!("/slow-{number}");
        let page = Page::html("The slow page", "It takes its time to come.");
        rig.site.put(&path, page.slow(Duration::from_millis(300)));
        let mut wish = Wish::all(&format!("http://news.sample-site.org{path}")).remove(2);
        wish.body["force_refresh"] = true.into();
        let wallet = Wallet::new();
        let sign = || {
            let payment = wish.sign(rig.address, &wallet, rig.now(), None);
            wish.ask(rig.address).paid(&payment.header)
        };
        let (first, second) = (sign(), sign());
        let settled = rig.facilitator.settle_calls();
        let mut stream = connect(first.address());
        stream.write_all(&first.bytes()).expect("it is sent");
        until("the page is fetched", || rig.site.hits(&path) == 1);
        std::thread::sleep(Duration::from_millis(150));
        std::thread::scope(|scope| {
            let second = scope.spawn(|| second.send());
            until("the first is sent for settlement", || {
                rig.facilitator.settle_calls() > settled
            });
            drop(stream);
            second.join().expect("no panic").expect(200);
        });
        assert_eq!(rig.facilitator.spent(wallet.address()), wish.units);
    }
}

/// A client that sends a second request when the first is slow, and leaves the one that is not answered first, is charged once;
/// one that waits for both has bought twice.
#[test]
fn two_requests_for_one_purchase_are_settled_one_after_the_other() {
    for_each([false, true], |waits_for_both| {
        let rig = Rig::start();
        rig.facilitator
            .settles(Says::Slow(Duration::from_millis(300)));
        let wish = &Wish::all(ARTICLE)[1];
        let wallet = Wallet::new();
        let sign = || {
            let payment = wish.sign(rig.address, &wallet, rig.now(), None);
            wish.ask(rig.address).paid(&payment.header)
        };
        let streams = [sign(), sign()].map(|ask| {
            let mut stream = connect(ask.address());
            stream.write_all(&ask.bytes()).expect("it is sent");
            stream.set_nonblocking(true).expect("a setting");
            stream
        });
        let is_answered = |place: usize| {
            let read: std::io::Result<usize> = streams[place].peek(&mut [0]);
            read.is_ok_and(|bytes| bytes > 0)
        };
        until("one is answered", || is_answered(0) || is_answered(1));
        let other = if is_answered(0) { 1 } else { 0 };
        assert!(!is_answered(other));
        assert_eq!(rig.facilitator.settle_calls(), 1);
        if waits_for_both {
            until("the other is answered", || is_answered(other));
            assert_eq!(rig.facilitator.spent(wallet.address()), 2 * wish.units);
        } else {
            drop(streams);
            until("both have ended", || {
                rig.app().in_flight.payloads.is_empty() && rig.app().tasks.is_empty()
            });
            assert_eq!(rig.facilitator.spent(wallet.address()), wish.units);
        }
    });
}

#[test]
fn a_payment_that_failed_leaves_little_behind() {
    let rig = Rig::start();
    let check = &Wish::all(ARTICLE)[5];
    rig.facilitator.settles(Says::No("insufficient_funds"));
    let payment = check.sign(rig.address, &Wallet::new(), rig.now(), None);
    let ask = check.ask(rig.address).paid(&payment.header);
    ask.send().expect(402);
    let store = &rig.app().store;
    let kept = || {
        let kept = rig.wait(store.read(|snapshot| snapshot.payments_after(None, 10)));
        let kept = kept.expect("they can be read").into_iter();
        let kept = kept.map(|(_, payment)| match payment.purchase {
            Purchase::Check(check) => (payment.state.name(), check.text),
            _ => panic!("a check was asked for"),
        });
        kept.collect::<Vec<_>>()
    };
    assert_eq!(kept(), [("failed", String::new())]);
    let again = ask.send().expect(402);
    assert!(again.text().contains("insufficient_funds"), "{again:?}");
    rig.pass(8 * 86_400);
    rig.work_off();
    assert_eq!(kept(), []);
}

/// What the operator has purged is owed to nobody any more.
#[test]
fn a_purged_report_does_not_stand_in_the_way_of_a_new_purchase() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    let wish = &Wish::all(ARTICLE)[2];
    let buy = || {
        let payment = wish.sign(rig.address, &wallet, rig.now(), None);
        wish.ask(rig.address).paid(&payment.header).send()
    };
    rig.facilitator.settles(Says::Lost);
    buy().refused_charged(503, "settlement_unknown");
    rig.facilitator.settles(Says::Honest);
    rig.pass(35);
    rig.work_off();
    let listed = rig.operator("/operator/reports").json();
    let id = listed["reports"][0]["report_id"].as_str().expect("an id");
    rig.operate("POST", &format!("/operator/reports/{id}/purge"))
        .expect(200);
    let answers = rig.wait(
        rig.app()
            .store
            .read(|snapshot| snapshot.payments_after(None, 10)),
    );
    let mut answers = answers.expect("they can be read").into_iter();
    assert!(
        answers.all(|(_, payment)| payment.answer.is_none()),
        "its buyer's copy is gone"
    );
    buy().expect(200);
    assert_eq!(rig.facilitator.spent(wallet.address()), 2 * wish.units);
}

/// The same of every kind of purchase, and of one whose client left before the answer.
#[test]
fn a_new_signature_gets_what_an_earlier_payment_of_any_kind_has_bought() {
    for_each(Wish::all(ARTICLE), |wish| {
        for leaves in [false, true] {
            let mut rig = Rig::start();
            let wallet = Wallet::new();
            let sign = |rig: &Rig| {
                let payment = wish.sign(rig.address, &wallet, rig.now(), None);
                wish.ask(rig.address).paid(&payment.header)
            };
            let first = sign(&rig);
            if leaves {
                rig.facilitator
                    .settles(Says::Slow(Duration::from_millis(400)));
                let mut stream = connect(first.address());
                stream.write_all(&first.bytes()).expect("it is sent");
                until("the payment is sent for settlement", || {
                    rig.facilitator.settle_calls() == 1
                });
                drop(stream);
                until("it is settled", || rig.facilitator.settlements() == 1);
                until("the sale has ended", || rig.app().tasks.is_empty());
                rig.facilitator.settles(Says::Honest);
            } else {
                rig.facilitator.settles(Says::Lost);
                first.send().refused_charged(503, "settlement_unknown");
                rig.facilitator.settles(Says::Honest);
                rig.pass(35);
                rig.work_off();
            }
            assert_eq!(rig.facilitator.spent(wallet.address()), wish.units);
            rig.restart();
            let fetched = rig.site.hits("/article");
            sign(&rig).send().expect(200);
            assert_eq!(
                rig.facilitator.spent(wallet.address()),
                wish.units,
                "{wish:?}"
            );
            assert_eq!(rig.site.hits("/article"), fetched, "{wish:?}");
            // It was given: the next one is a purchase of its own.
            noted(&rig);
            sign(&rig).send().expect(200);
            assert_eq!(rig.facilitator.spent(wallet.address()), 2 * wish.units);
        }
    });
}

#[test]
fn what_is_owed_is_kept_for_days_and_belongs_to_its_payer_and_purchase() {
    let rig = Rig::start();
    let (wallet, stranger) = (Wallet::new(), Wallet::new());
    settled_unheard(&rig, &wallet);
    for _ in 0..6 {
        rig.pass(86_400);
        rig.work_off();
    }
    rig.buy(&stranger, ARTICLE, "fresh").expect(200);
    assert_eq!(rig.facilitator.spent(stranger.address()), price(FRESH));
    rig.buy(&wallet, ARTICLE, "basic").expect(200);
    assert_eq!(
        rig.facilitator.spent(wallet.address()),
        price(FRESH) + price(BASIC)
    );
    rig.buy(&wallet, ARTICLE, "fresh").expect(200);
    assert_eq!(
        rig.facilitator.spent(wallet.address()),
        price(FRESH) + price(BASIC)
    );
    assert_eq!(rig.facilitator.settlements(), 3);
}

/// The answer's own advice, followed to the letter.
#[test]
fn a_second_signature_is_told_the_truth_and_stays_uncharged() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    rig.facilitator.settles(Says::Lost);
    rig.buy(&wallet, ARTICLE, "fresh")
        .refused_charged(503, "settlement_unknown");
    let second = wallet.sign(&rig, "fresh");
    let second = rig.order(ARTICLE, "fresh").paid(&second.header);
    let answer = second.send().expect(503);
    let body = answer.json();
    assert_eq!(answer.code(), "settlement_unknown");
    assert_eq!(body["error"]["charged"], false, "it moved nothing: {body}");
    assert_eq!(body["earlier_payment"]["charged"], "unknown");
    assert_eq!(answer.header("payment-required"), None);
    rig.facilitator.settles(Says::Honest);
    rig.pass(45);
    rig.work_off();
    let goods = second.send().expect(200);
    assert!(goods.text().contains("Boats"));
    // It never pays for the same purchase, however late it comes again.
    assert_eq!(second.send().expect(200).body, goods.body);
    rig.pass(200);
    assert_eq!(second.send().expect(200).body, goods.body);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
    assert_eq!(rig.facilitator.settlements(), 1);
}

#[test]
fn a_second_signature_buys_if_the_first_has_failed() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    rig.facilitator.settles(Says::Status(500));
    rig.buy(&wallet, ARTICLE, "fresh")
        .refused_charged(503, "settlement_unknown");
    let second = wallet.sign(&rig, "fresh");
    let second = rig.order(ARTICLE, "fresh").paid(&second.header);
    second.send().refused(503, "settlement_unknown");
    // The operator's ledger says that the first one never came.
    let open = rig
        .app()
        .in_flight
        .earlier((wallet.address(), fingerprint(ARTICLE)));
    assert_eq!(open.len(), 1);
    let ended = context402::flows::sale::payments::advance(
        rig.app(),
        open[0],
        context402::domain::payment::Event::ChainNeverUsed,
    );
    rig.wait(ended).expect("it is written down");
    rig.facilitator.settles(Says::Honest);
    second.send().expect(200);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

#[test]
fn a_signature_that_got_owed_goods_gets_the_same_bytes_again_and_is_never_charged() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    settled_unheard(&rig, &wallet);
    let second = wallet.sign(&rig, "fresh");
    let second = rig.order(ARTICLE, "fresh").paid(&second.header);
    let goods = second.send().expect(200);
    for _ in 0..5 {
        assert_eq!(second.send().expect(200).body, goods.body);
    }
    second.send().refused(400, "payment_replayed");
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

/// Two signatures under one payment-identifier are one purchase, also for the second one's bytes after the answer is
/// gone.
#[test]
fn an_identified_second_signature_is_never_charged() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    let first = wallet.sign_identified(&rig, "fresh", "order-number-0001");
    rig.pay(&first, ARTICLE, "fresh").expect(200);
    let second = wallet.sign_identified(&rig, "fresh", "order-number-0001");
    let second = rig.order(ARTICLE, "fresh").paid(&second.header);
    second.send().expect(200);
    for _ in 0..2 {
        rig.pass(100);
        rig.work_off();
        second.send().expect(200);
    }
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

/// A client that gives up while the page is fetched, and signs anew at once.
#[test]
fn a_client_that_left_and_signs_anew_waits_for_its_first_sale() {
    let rig = Rig::start();
    let page = Page::html("The slow page", "Boats take their time.");
    rig.site.put("/slow", page.slow(Duration::from_millis(800)));
    let wallet = Wallet::new();
    let first = wallet.sign(&rig, "fresh");
    let first = rig.order(SLOW, "fresh").paid(&first.header);
    let mut stream = connect(first.address());
    stream.write_all(&first.bytes()).expect("it is sent");
    until("the page is asked for", || rig.site.hits("/slow") == 1);
    drop(stream);
    let answer = rig.buy(&wallet, SLOW, "fresh").expect(200);
    assert!(answer.text().contains("Boats"));
    // That the first client has left may be noticed only while the page is fetched for the second.
    assert!(rig.site.hits("/slow") <= 2);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

/// The first payment is still being verified when its client leaves, and only then is the second one sent.
#[test]
fn a_client_that_left_during_verification_and_signs_anew_is_charged_once() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    let first = wallet.sign(&rig, "fresh");
    let first = rig.order(ARTICLE, "fresh").paid(&first.header);
    rig.facilitator
        .next_verifies([Says::Slow(Duration::from_millis(800))]);
    let mut stream = connect(first.address());
    stream.write_all(&first.bytes()).expect("it is sent");
    until("the payment is being verified", || {
        rig.facilitator.verify_calls() == 1
    });
    drop(stream);
    rig.buy(&wallet, ARTICLE, "fresh").expect(200);
    until("the first sale has ended", || {
        rig.app().in_flight.payloads.is_empty()
    });
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
    // It was not used, and buys when it is sent again.
    first.send().expect(200);
    assert_eq!(rig.facilitator.spent(wallet.address()), 2 * price(FRESH));
}

/// The money moves, and the client is gone before the answer.
#[test]
fn a_client_that_left_before_its_answer_gets_it_later() {
    for_each([false, true], |is_same| {
        let rig = Rig::start();
        rig.facilitator
            .settles(Says::Slow(Duration::from_millis(400)));
        let wallet = Wallet::new();
        let first = wallet.sign(&rig, "fresh");
        let first = rig.order(ARTICLE, "fresh").paid(&first.header);
        let mut stream = connect(first.address());
        stream.write_all(&first.bytes()).expect("it is sent");
        until("the payment is sent for settlement", || {
            rig.facilitator.settle_calls() == 1
        });
        drop(stream);
        until("it is settled", || rig.facilitator.settlements() == 1);
        until("the sale has ended", || rig.app().tasks.is_empty());
        // Much later than an answer that was received is given again.
        rig.pass(3_000);
        rig.work_off();
        let answer = match is_same {
            true => first.send(),
            false => rig.buy(&wallet, ARTICLE, "fresh"),
        };
        assert!(answer.expect(200).text().contains("Boats"));
        assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
    });
}

/// Two purchases at once by clients that both wait are two purchases.
#[test]
fn clients_that_wait_for_their_answers_buy_each_for_itself() {
    let rig = Rig::start();
    let page = Page::html("The slow page", "Boats take their time.");
    rig.site.put("/slow", page.slow(Duration::from_millis(300)));
    let wallet = Wallet::new();
    let asks = (0..3).map(|_| {
        rig.order(SLOW, "fresh")
            .paid(&wallet.sign(&rig, "fresh").header)
    });
    for answer in crate::harness::ask::at_once(asks.collect()) {
        answer.expect(200);
    }
    assert_eq!(rig.facilitator.spent(wallet.address()), 3 * price(FRESH));
}

/// An answer that is not read to its end was not received.
#[test]
fn an_answer_that_breaks_off_is_owed() {
    let rig = Rig::start();
    let text = "Boats and ships come and go. ".repeat(150_000);
    rig.site.put("/large", Page::html("A large page", &text));
    let large = "http://news.sample-site.org/large";
    let wallet = Wallet::new();
    let first = wallet.sign(&rig, "fresh");
    let first = rig.order(large, "fresh").paid(&first.header);
    let mut stream = connect(first.address());
    stream.write_all(&first.bytes()).expect("it is sent");
    let mut begun = [0; 1_000];
    stream.read_exact(&mut begun).expect("the answer begins");
    assert!(begun.starts_with(b"HTTP/1.1 200"));
    drop(stream);
    until("the connection is closed", || {
        !rig.app()
            .in_flight
            .earlier((wallet.address(), fingerprint(large)))
            .is_empty()
    });
    until("nothing is being sent", || {
        let earlier = rig
            .app()
            .in_flight
            .earlier((wallet.address(), fingerprint(large)));
        !rig.app().in_flight.answers.has(earlier[0])
    });
    rig.buy(&wallet, large, "fresh").expect(200);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

/// After settlement anybody can write the payload again from the chain and our challenge.
#[test]
fn a_stranger_neither_gets_a_kept_answer_nor_uses_it_up() {
    let rig = Rig::with(|resolved| {
        resolved.set_list("trusted_proxies", vec!["127.0.0.1".to_owned()]);
    });
    let wallet = Wallet::new();
    let payment = wallet.sign(&rig, "fresh");
    let ask = rig.order(ARTICLE, "fresh").paid(&payment.header);
    let buyer = ask.clone().header("x-forwarded-for", "203.0.113.7");
    let goods = buyer.send().expect(200);
    for stranger in 0..10 {
        let stranger = ask
            .clone()
            .header("x-forwarded-for", format!("198.51.100.{stranger}"));
        stranger.send().refused_charged(400, "payment_replayed");
    }
    for _ in 0..5 {
        assert_eq!(buyer.send().expect(200).body, goods.body);
    }
    // A payment-identifier is on no chain: whoever knows it may come from anywhere.
    let payment = wallet.sign_identified(&rig, "fresh", "order-number-0002");
    let ask = rig.order(ARTICLE, "fresh").paid(&payment.header);
    ask.clone()
        .header("x-forwarded-for", "203.0.113.7")
        .send()
        .expect(200);
    ask.header("x-forwarded-for", "203.0.113.8")
        .send()
        .expect(200);
    assert_eq!(rig.facilitator.spent(wallet.address()), 2 * price(FRESH));
}

/// Verified authorizations that are never settled, against a target that never works.
#[test]
fn a_payer_holds_a_few_payments_and_leaves_little_behind() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    let mut answers = Vec::new();
    for number in 0..14 {
        rig.site.put(&format!("/down{number}"), Page::Status(503));
        let target = format!("http://news.sample-site.org/down{number}");
        answers.push(rig.buy(&wallet, &target, "fresh"));
    }
    let (held, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 503);
    assert_eq!((held.len(), refused.len()), (8, 6));
    assert!(refused.iter().all(|answer| answer.code() == "rate_limited"
        && answer.json()["error"]["charged"] == Value::Bool(false)));
    // Once the credits have run out, little is left of them.
    rig.pass(1_000);
    rig.work_off();
    let payments = rig.wait(
        rig.app()
            .store
            .read(|snapshot| snapshot.payments_after(None, 100)),
    );
    for (_, payment) in payments.expect("the book is read") {
        assert_eq!(payment.state.name(), "released");
        assert!(payment.payload.is_empty() && payment.requirements.is_empty());
        assert_eq!(payment.purchase.target_url(), "");
    }
}
