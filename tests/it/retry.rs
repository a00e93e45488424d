//! Retry credits: earned when an accepted payment meets an outage, held by that payment, spent once.

use std::thread;
use std::time::Duration;

use context402::domain::keys::PaymentKey;
use context402::domain::payment::Event;
use context402::flows::sale::payments;
use serde_json::json;

use crate::harness::ask::at_once;
use crate::harness::{
    ARTICLE, Answer, DEEP, FRESH, Page, RETRY, Rig, Says, Wallet, Wish, amount, for_each, price,
    until,
};

const DOWN: &str = "http://down.sample-site.org/article";
const FLAKY: &str = "http://news.sample-site.org/flaky";

/// Insists on the answer to an outage after verification, and gives its credit.
#[track_caller]
fn outage(answer: Answer) -> String {
    let answer = answer.refused(503, "upstream_unavailable");
    assert_eq!(answer.must("retry-after"), "5");
    assert_eq!(answer.header("payment-required"), None);
    assert_eq!(answer.json()["retry"]["attempts_left"], 3);
    answer.credit()
}

fn good() -> Page {
    Page::html("The page that came back", "It was away for a while.")
}

/// A rig whose flaky page has failed once, and the credit for it.
fn owed(wallet: &Wallet) -> (Rig, String) {
    let rig = Rig::start();
    rig.site.put("/flaky", Page::Status(503));
    let credit = outage(rig.buy(wallet, FLAKY, "fresh"));
    (rig, credit)
}

#[test]
fn a_site_that_refuses_connections_earns_a_credit_that_is_good_when_it_is_back() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    let credit = outage(rig.buy(&wallet, DOWN, "fresh"));
    assert_eq!(rig.facilitator.settle_calls(), 0);
    assert_eq!(rig.facilitator.spent(wallet.address()), 0);
    rig.site.raise();
    let answer = rig.retry(&credit, DOWN, "fresh").send().expect(200);
    assert!(answer.text().contains("Boats"));
    assert_eq!(answer.settlement()["success"], true);
    assert_eq!(answer.settlement()["payer"], json!(wallet.address()));
    assert_eq!(answer.json()["payment"]["amount_units"], amount(FRESH));
    assert_eq!(answer.must("cache-control"), "private, no-store");
    assert_eq!(rig.facilitator.settle_calls(), 1);
    assert_eq!(rig.facilitator.verify_calls(), 1);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
    // Used is used.
    rig.retry(&credit, DOWN, "fresh")
        .send()
        .refused(400, "retry_credit_invalid");
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

#[test]
fn every_transient_outage_earns_a_credit() {
    let failures = [
        Page::Reset,
        Page::Hang,
        Page::Truncated,
        Page::Status(408),
        Page::Status(425),
        Page::Status(429),
        Page::Status(500),
        Page::Status(502),
        Page::Status(503),
        Page::Status(504),
    ];
    for_each(failures, |failing| {
        let rig = Rig::start();
        let wallet = Wallet::new();
        rig.site.put("/flaky", failing.clone());
        let answer = rig.buy(&wallet, FLAKY, "fresh");
        assert_eq!(answer.status, 503, "{failing:?}: {answer:?}");
        let credit = outage(answer);
        assert_eq!(rig.facilitator.settle_calls(), 0, "{failing:?}");
        rig.site.put("/flaky", good());
        rig.retry(&credit, FLAKY, "fresh").send().expect(200);
        assert_eq!(rig.facilitator.settle_calls(), 1, "{failing:?}");
        assert_eq!(
            rig.facilitator.spent(wallet.address()),
            price(FRESH),
            "{failing:?}"
        );
    });
}

/// 400, `charged: false`, no credit.
#[test]
fn a_final_refusal_earns_nothing_and_costs_nothing() {
    let rig = Rig::start();
    let image = [&b"\x89PNG\r\n\x1a\n"[..], &[0; 64]].concat();
    let large = format!(
        "<html><body><h1>Large</h1><p>{}</p></body></html>",
        "word ".repeat(1_100_000)
    );
    for (path, page, code) in [
        ("/gone", Page::Status(404), "upstream_refused"),
        ("/secret", Page::Status(401), "upstream_refused"),
        ("/forbidden", Page::Status(403), "upstream_refused"),
        ("/removed", Page::Status(410), "upstream_refused"),
        (
            "/image",
            Page::of("image/png", image),
            "unsupported_content_type",
        ),
        (
            "/pdf",
            Page::of("application/pdf", "%PDF-1.7 and so on"),
            "unsupported_content_type",
        ),
        (
            "/zipped",
            good().with("Content-Encoding", "zstd"),
            "unsupported_content_type",
        ),
        ("/large", Page::of("text/html", large), "content_too_large"),
        (
            "/to-private",
            Page::Redirect("http://10.0.0.1/".to_owned()),
            "redirect_blocked",
        ),
        (
            "/to-inside",
            Page::Redirect("http://inside.sample-site.org/".to_owned()),
            "redirect_blocked",
        ),
        (
            "/to-port",
            Page::Redirect("http://news.sample-site.org:8080/".to_owned()),
            "redirect_blocked",
        ),
        (
            "/to-file",
            Page::Redirect("file:///etc/passwd".to_owned()),
            "redirect_blocked",
        ),
        (
            "/to-itself",
            Page::Redirect("/to-itself".to_owned()),
            "too_many_redirects",
        ),
        (
            "/hop1",
            Page::Redirect("/hop2".to_owned()),
            "too_many_redirects",
        ),
        (
            "/empty",
            Page::of("text/html", "<html><body></body></html>"),
            "nothing_readable",
        ),
        (
            "/blank",
            Page::of("text/plain", " \n\u{200b}\u{feff}\t\n"),
            "nothing_readable",
        ),
        (
            "/walled",
            Page::of(
                "text/html",
                "<title>Just a moment...</title><p>Verify you are human.",
            ),
            "page_walled",
        ),
    ] {
        rig.site.put(path, page);
        if path == "/hop1" {
            for hop in 2..9 {
                rig.site.put(
                    &format!("/hop{hop}"),
                    Page::Redirect(format!("/hop{}", hop + 1)),
                );
            }
        }
        let wallet = Wallet::new();
        let answer = rig.buy(
            &wallet,
            &format!("http://news.sample-site.org{path}"),
            "fresh",
        );
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (400, code),
            "{path}: {answer:?}"
        );
        let answer = answer.refused(400, code);
        assert_eq!(answer.header("x-service-retry-credit"), None, "{path}");
        assert_eq!(answer.header("payment-response"), None, "{path}");
        assert_eq!(rig.facilitator.spent(wallet.address()), 0, "{path}");
        // The wallet's next purchase is not held up.
        rig.buy(&wallet, ARTICLE, "fresh").expect(200);
    }
    assert_eq!(rig.facilitator.settle_calls(), 17);
    let listed = rig.operator("/operator/payments").json();
    assert_eq!(
        listed["payments"].as_array().map(Vec::len),
        Some(17),
        "refused sales leave no record"
    );
}

/// A page of exactly 5,242,880 bytes passes, one byte more does not.
#[test]
fn the_largest_page_is_sold_and_one_byte_more_is_not() {
    let rig = Rig::with(|resolved| {
        resolved.set("fetch.seconds_max", "20");
        resolved.set("fetch.idle_seconds_max", "5");
    });
    let page = |bytes: usize| {
        let mut body = "Words that fill the page, line after line.\n".repeat(bytes / 40);
        body.truncate(bytes);
        Page::of("text/plain", body)
    };
    rig.site.put("/most", page(5_242_880));
    rig.site.put("/more", page(5_242_881));
    rig.buy(&Wallet::new(), "http://news.sample-site.org/more", "fresh")
        .refused(400, "content_too_large");
    let answer = rig
        .buy(&Wallet::new(), "http://news.sample-site.org/most", "fresh")
        .expect(200);
    assert_eq!(answer.json()["stats"]["bytes_fetched"], 5_242_880);
}

#[test]
fn without_a_credit_the_retry_endpoint_asks_for_one() {
    let rig = Rig::start();
    let answer = rig.post(RETRY).json(&json!({"target_url": ARTICLE})).send();
    let answer = answer.refused(402, "retry_credit_required");
    // It is no challenge: nobody may pay here.
    assert_eq!(answer.header("payment-required"), None);
    rig.post(RETRY).send().refused(402, "retry_credit_required");
    let payment = Wallet::new().sign(&rig, "fresh");
    let answer = rig
        .post(RETRY)
        .json(&json!({"target_url": ARTICLE}))
        .paid(&payment.header)
        .send();
    answer.refused(402, "retry_credit_required");
    assert_eq!(rig.facilitator.verify_calls(), 0);
}

/// Wrong, unknown, misspelt, used and expired are one and the same answer.
#[test]
fn nobody_learns_why_a_credit_is_not_good() {
    let wallet = Wallet::new();
    let (rig, credit) = owed(&wallet);
    rig.site.put("/flaky", good());
    let messages: Vec<String> = [
        "rc_00000000000000000000000000000000".to_owned(),
        "rc_".to_owned(),
        "nonsense".to_owned(),
        String::new(),
        credit.to_uppercase(),
        credit[..credit.len() - 1].to_owned(),
        format!("{credit}0"),
        format!("{credit},{credit}"),
        credit.replace("rc_", "qt_"),
    ]
    .iter()
    .map(|wrong| {
        let answer = rig.retry(wrong, FLAKY, "fresh").send();
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (400, "retry_credit_invalid"),
            "{wrong:?}: {answer:?}"
        );
        answer.refused(400, "retry_credit_invalid").json()["detail"].to_string()
    })
    .collect();
    // For something else than it was given for: another target, tier or cache mode.
    let mut others = vec![
        rig.retry(&credit, ARTICLE, "fresh").send(),
        rig.retry(&credit, FLAKY, "deep").send(),
        rig.retry(&credit, FLAKY, "starter").send(),
        rig.retry(&credit, "http://other.sample-site.org/flaky", "fresh")
            .send(),
    ];
    let refreshed = json!({"target_url": FLAKY, "tier": "fresh", "force_refresh": true});
    others.push(
        rig.post(RETRY)
            .header("X-Service-Retry-Credit", &*credit)
            .json(&refreshed)
            .send(),
    );
    // Of two, nobody knows which is meant.
    let twice = rig.retry(&credit, FLAKY, "fresh");
    others.push(twice.header("X-Service-Retry-Credit", &*credit).send());
    let mut texts = messages;
    for answer in others {
        texts.push(answer.refused(400, "retry_credit_invalid").json()["detail"].to_string());
    }
    // None of that has spent it.
    rig.retry(&credit, FLAKY, "fresh").send().expect(200);
    texts.push(
        rig.retry(&credit, FLAKY, "fresh")
            .send()
            .refused(400, "retry_credit_invalid")
            .json()["detail"]
            .to_string(),
    );
    assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

/// An absent field means the credit's own.
#[test]
fn what_is_not_stated_is_the_credit_s_own() {
    let rig = Rig::start();
    rig.site.put("/flaky", Page::Status(503));
    let wallet = Wallet::new();
    let credit = outage(rig.buy(&wallet, FLAKY, "deep"));
    rig.site.put("/flaky", good());
    let ask = rig.post(RETRY).header("X-Service-Retry-Credit", credit);
    let answer = ask.json(&json!({"target_url": FLAKY})).send().expect(200);
    assert_eq!(answer.json()["tier"], "deep");
    assert_eq!(rig.facilitator.spent(wallet.address()), price(DEEP));
}

/// The same, said of the target as well: "an absent field means the credit's own". The body is an AccessRequest, whose
/// target_url is required, so that an empty one is complained about.
#[test]
fn the_body_of_a_retry_is_an_access_request() {
    let wallet = Wallet::new();
    let (rig, credit) = owed(&wallet);
    let ask = |body: &str| {
        let ask = rig.post(RETRY).header("X-Service-Retry-Credit", &*credit);
        ask.header("Content-Type", "application/json")
            .body(body)
            .send()
    };
    ask("{}").invalid("missing", &["body", "target_url"]);
    ask("{\"target_url\": \"http://news.sample-site.org/flaky\", \"odd\": 1}")
        .invalid("extra_forbidden", &["body", "odd"]);
    let text = rig
        .post(RETRY)
        .header("X-Service-Retry-Credit", &*credit)
        .header("Content-Type", "text/plain")
        .body("x");
    text.send().refused(415, "unsupported_media_type");
    rig.site.put("/flaky", good());
    rig.retry(&credit, FLAKY, "fresh").send().expect(200);
}

#[test]
fn fifty_redemptions_at_once_have_one_winner() {
    let wallet = Wallet::new();
    let (rig, credit) = owed(&wallet);
    rig.site
        .put("/flaky", good().slow(Duration::from_millis(200)));
    let hits = rig.site.hits("/flaky");
    let answers = rig.retry(&credit, FLAKY, "fresh").send_at_once(50);
    let winners = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(winners, 1, "{answers:?}");
    lost_the_race(answers);
    assert_eq!(rig.site.hits("/flaky"), hits + 1);
    assert_eq!(rig.facilitator.settle_calls(), 1);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

/// Insists on the answers to redemptions of a credit that another request redeems.
fn lost_the_race(answers: Vec<Answer>) {
    for answer in answers {
        match answer.status {
            200 => {}
            409 => {
                let answer = answer.refused(409, "conflict");
                assert!(answer.header("retry-after").is_some());
            }
            // It was sent for settlement.
            503 => {
                answer.refused_charged(503, "settlement_unknown");
            }
            _ => {
                answer.refused(400, "retry_credit_invalid");
            }
        }
    }
}

/// The same of every kind of purchase, whose credit has outlived a restart.
#[test]
fn a_credit_of_any_kind_outlives_a_restart_and_is_redeemed_once() {
    for_each(Wish::all(FLAKY), |wish| {
        let mut rig = Rig::start();
        let wallet = Wallet::new();
        for path in ["/flaky", "/ferry"] {
            rig.site.put(path, Page::Status(503));
        }
        let payment = wish.sign(rig.address, &wallet, rig.now(), None);
        let credit = outage(wish.ask(rig.address).paid(&payment.header).send());
        for path in ["/flaky", "/ferry"] {
            rig.site.put(path, good().slow(Duration::from_millis(200)));
        }
        rig.restart();
        let hits = rig.site.hits("/flaky");
        let answers = wish.retry(rig.address, &credit).send_at_once(50);
        let winners = answers.iter().filter(|answer| answer.status == 200).count();
        assert_eq!(winners, 1, "{wish:?}: {answers:?}");
        lost_the_race(answers);
        assert_eq!(rig.site.hits("/flaky"), hits + 1, "{wish:?}");
        assert_eq!(rig.facilitator.settle_calls(), 1, "{wish:?}");
        rig.restart();
        let used = wish.retry(rig.address, &credit).send();
        used.refused(400, "retry_credit_invalid");
        assert_eq!(
            rig.facilitator.spent(wallet.address()),
            wish.units,
            "{wish:?}"
        );
    });
}

#[test]
fn a_credit_is_good_for_three_attempts() {
    let wallet = Wallet::new();
    let (rig, credit) = owed(&wallet);
    let retry = rig.retry(&credit, FLAKY, "fresh");
    for left in [2, 1] {
        let answer = retry.send().refused(503, "upstream_unavailable");
        assert_eq!(answer.json()["retry"]["attempts_left"], left);
        assert_eq!(answer.credit(), credit);
        assert_eq!(answer.must("retry-after"), "5");
    }
    let last = retry.send().refused(503, "upstream_unavailable");
    assert_eq!(
        last.header("x-service-retry-credit"),
        None,
        "nothing is left: {last:?}"
    );
    rig.site.put("/flaky", good());
    retry.send().refused(400, "retry_credit_invalid");
    assert_eq!(rig.facilitator.settle_calls(), 0);
    assert_eq!(rig.facilitator.spent(wallet.address()), 0);
}

/// It lives until the authorization's end less 30 s, 15 minutes at most: then nothing can be settled any more.
#[test]
fn a_credit_ends_with_the_authorization_it_holds() {
    let wallet = Wallet::new();
    let (rig, credit) = owed(&wallet);
    rig.site.put("/flaky", good());
    let retry = rig.retry(&credit, FLAKY, "fresh");
    rig.pass(270);
    retry.send().refused(400, "retry_credit_invalid");
    rig.work_off();
    retry.send().refused(400, "retry_credit_invalid");
    let listed = rig.operator("/operator/payments").json();
    assert_eq!(listed["payments"][0]["state"], "released");
    assert_eq!(rig.facilitator.settle_calls(), 0);
    // Nothing moved and nothing can any more: the book need not tell of it for ever.
    rig.pass(8 * 86_400);
    rig.work_off();
    let listed = rig.operator("/operator/payments").json();
    assert_eq!(listed["payments"], serde_json::json!([]));

    let wallet = Wallet::new();
    rig.site.put("/flaky", Page::Status(503));
    let answer = rig.buy(&wallet, FLAKY, "fresh");
    let expires_at = answer.json()["retry"]["expires_at"].as_u64();
    assert_eq!(expires_at, Some(rig.now().0 + 270));
    let credit = outage(answer);
    rig.site.put("/flaky", good());
    rig.pass(269);
    rig.retry(&credit, FLAKY, "fresh").send().expect(200);
}

/// The payment that a credit holds may be presented again itself.
#[test]
fn the_held_payment_itself_is_as_good_as_its_credit() {
    let rig = Rig::start();
    rig.site.put("/flaky", Page::Status(503));
    let wallet = Wallet::new();
    let payment = wallet.sign(&rig, "fresh");
    let ask = rig.order(FLAKY, "fresh").paid(&payment.header);
    let credit = outage(ask.send());
    // Still down: no second credit is handed out for the same payment.
    let again = ask.send();
    assert_eq!(again.status, 503, "{again:?}");
    let counted = rig.operator("/metrics").json();
    assert_eq!(counted["payments"]["context fresh held"], 1);
    rig.site.put("/flaky", good());
    ask.send().expect(200);
    rig.retry(&credit, FLAKY, "fresh")
        .send()
        .refused(400, "retry_credit_invalid");
    assert_eq!(rig.facilitator.settle_calls(), 1);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

/// Money 9: a newly signed payment for the same purchase takes the held one's place.
#[test]
fn a_new_payment_voids_the_credit_of_the_old_one() {
    let wallet = Wallet::new();
    let (rig, credit) = owed(&wallet);
    rig.site.put("/flaky", good());
    rig.buy(&wallet, FLAKY, "fresh").expect(200);
    rig.retry(&credit, FLAKY, "fresh")
        .send()
        .refused(400, "retry_credit_invalid");
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
    assert_eq!(rig.facilitator.settle_calls(), 1);
}

/// Credit and held payment at the same moment are still one delivery and one charge.
#[test]
fn credit_and_held_payment_at_once_are_one_charge() {
    let rig = Rig::start();
    rig.site.put("/flaky", Page::Status(503));
    let wallet = Wallet::new();
    let payment = wallet.sign(&rig, "fresh");
    let ask = rig.order(FLAKY, "fresh").paid(&payment.header);
    let credit = outage(ask.send());
    rig.site
        .put("/flaky", good().slow(Duration::from_millis(200)));
    let retry = rig.retry(&credit, FLAKY, "fresh");
    let answers = at_once(vec![ask.clone(), retry.clone(), ask.clone(), retry]);
    assert!(
        answers.iter().any(|answer| answer.status == 200),
        "{answers:?}"
    );
    assert!(
        answers
            .iter()
            .all(|answer| matches!(answer.status, 200 | 400 | 409)),
        "{answers:?}"
    );
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
    assert_eq!(rig.facilitator.settlements(), 1);
    ask.send().expect(200);
}

/// The simulation's seed 290: while the facilitator looked at a held payment, its credit was redeemed and the money
/// moved. The payment was then no longer valid, and its buyer was told by a 402 that nothing had been charged.
#[test]
fn a_payment_whose_credit_is_redeemed_while_it_is_verified_meets_no_402() {
    let (answer, _) = redeemed_while_verified(Says::Slow(Duration::from_millis(400)));
    assert_eq!(answer.settlement()["success"], true);
}

/// The same, and the facilitator looked before the money moved: its word that the payment is good comes too late.
#[test]
fn a_payment_that_was_verified_before_its_credit_was_redeemed_is_given_the_answer() {
    let (answer, redeemed) = redeemed_while_verified(Says::Late(Duration::from_millis(600)));
    assert_eq!(answer.body, redeemed.body);
}

/// The answers to a payment that is verified, and to its credit that is redeemed meanwhile. Money moves once.
fn redeemed_while_verified(says: Says) -> (Answer, Answer) {
    let rig = Rig::start();
    rig.site.put("/article", Page::Status(503));
    let wallet = Wallet::new();
    let payment = wallet.sign(&rig, "fresh");
    let ask = rig.order(ARTICLE, "fresh").paid(&payment.header);
    let credit = outage(ask.send());
    rig.site.put("/article", good());
    rig.facilitator.verifies(says);
    let again = ask.clone();
    let verified = thread::spawn(move || again.send());
    until("it is being verified", || {
        rig.facilitator.verify_calls() == 2
    });
    let redeemed = rig.retry(&credit, ARTICLE, "fresh").send().expect(200);
    let answer = verified.join().expect("no panic").expect(200);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
    (answer, redeemed)
}

/// The work may take longer than the authorization lives. Nothing is settled then, and no 402 asks for money at an
/// address where none is taken.
#[test]
fn an_authorization_that_runs_out_during_a_retry_is_not_asked_for_again() {
    let wallet = Wallet::new();
    let (rig, credit) = owed(&wallet);
    rig.site
        .put("/flaky", good().slow(Duration::from_millis(600)));
    rig.pass(269);
    let hits = rig.site.hits("/flaky");
    let retry = rig.retry(&credit, FLAKY, "fresh");
    let asked = thread::spawn(move || retry.send());
    until("the page is fetched", || rig.site.hits("/flaky") > hits);
    rig.pass(26);
    let answer = asked.join().expect("no panic");
    let answer = answer.refused(400, "retry_credit_invalid");
    assert_eq!(answer.header("payment-required"), None);
    assert_eq!(rig.facilitator.settle_calls(), 0);
}

/// News that come after a payment has ended change nothing: its credit ends when it was said to end.
#[test]
fn late_news_of_an_ended_payment_do_not_prolong_its_credit() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    rig.facilitator.settles(Says::Lost);
    let credit = rig.buy(&wallet, ARTICLE, "fresh").expect(503).credit();
    rig.facilitator.settles(Says::Honest);
    rig.pass(20);
    rig.work_off();
    let listed = rig.operator("/operator/payments").json();
    assert_eq!(listed["payments"][0]["state"], "settled");
    let mut key = [0; 32];
    let digits = listed["payments"][0]["key"].as_str().expect("a key");
    hex::decode_to_slice(digits, &mut key).expect("hex");
    rig.pass(899);
    rig.wait(payments::advance(
        rig.app(),
        PaymentKey(key),
        Event::Restarted,
    ))
    .expect("writes");
    rig.pass(1);
    rig.retry(&credit, ARTICLE, "fresh")
        .send()
        .refused(400, "retry_credit_invalid");
}

/// A definite failure while a credit is redeemed is 400 there: a 402 would make a client pay at that address.
#[test]
fn a_failed_settlement_voids_the_credit_without_asking_for_money() {
    let wallet = Wallet::new();
    let (rig, credit) = owed(&wallet);
    rig.site.put("/flaky", good());
    rig.facilitator.settles(Says::No("insufficient_funds"));
    let answer = rig.retry(&credit, FLAKY, "fresh").send();
    let answer = answer.refused(400, "retry_credit_invalid");
    assert_eq!(answer.header("payment-required"), None);
    assert!(!answer.text().contains("away for a while"));
    rig.facilitator.settles(Says::Honest);
    rig.retry(&credit, FLAKY, "fresh")
        .send()
        .refused(400, "retry_credit_invalid");
    assert_eq!(rig.facilitator.settle_calls(), 1);
}

/// A doubtful settlement while a credit is redeemed is unknown like any other.
#[test]
fn a_doubtful_settlement_of_a_credit_is_503_and_delivers_later() {
    let wallet = Wallet::new();
    let (rig, credit) = owed(&wallet);
    rig.site.put("/flaky", good());
    rig.facilitator.settles(Says::Lost);
    let answer = rig.retry(&credit, FLAKY, "fresh").send();
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (503, "settlement_unknown"),
        "{answer:?}"
    );
    let newest = answer.credit();
    rig.facilitator.settles(Says::Honest);
    rig.retry(&newest, FLAKY, "fresh").send().expect(200);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

/// What was refused for good while a credit is redeemed costs nothing, now as before.
#[test]
fn a_page_that_is_gone_at_the_retry_is_refused_and_not_charged() {
    let wallet = Wallet::new();
    let (rig, credit) = owed(&wallet);
    rig.site.put("/flaky", Page::Status(404));
    rig.retry(&credit, FLAKY, "fresh")
        .send()
        .refused(400, "upstream_refused");
    assert_eq!(rig.facilitator.settle_calls(), 0);
    assert_eq!(rig.facilitator.spent(wallet.address()), 0);
}

#[test]
fn a_credit_outlives_a_restart() {
    let wallet = Wallet::new();
    let (mut rig, credit) = owed(&wallet);
    rig.site.put("/flaky", good());
    rig.restart();
    rig.retry(&credit, FLAKY, "fresh").send().expect(200);
    rig.restart();
    rig.retry(&credit, FLAKY, "fresh")
        .send()
        .refused(400, "retry_credit_invalid");
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

/// A credit is a secret: the operator's list and the data file show none.
#[test]
fn credits_are_stored_hashed() {
    let wallet = Wallet::new();
    let (mut rig, credit) = owed(&wallet);
    let listed = rig.operator("/operator/payments").text();
    assert!(!listed.contains(&credit), "{listed}");
    assert!(rig.stop());
    let bytes = std::fs::read(rig.folder.path("data.redb")).expect("the data file");
    let secret = hex::decode(&credit[3..]).expect("hex");
    assert!(!bytes.windows(secret.len()).any(|window| window == secret));
    assert!(
        !bytes
            .windows(credit.len())
            .any(|window| window == credit.as_bytes())
    );
}

/// The answer with the newer credit may get lost as well: the buyer holds the old one and must not be told that it was
/// not charged.
#[test]
fn the_first_credit_is_still_good_after_a_doubtful_settlement() {
    let wallet = Wallet::new();
    let (rig, credit) = owed(&wallet);
    rig.site.put("/flaky", good());
    rig.facilitator.settles(Says::Lost);
    rig.retry(&credit, FLAKY, "fresh").send().expect(503);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
    rig.facilitator.settles(Says::Honest);
    rig.retry(&credit, FLAKY, "fresh").send().expect(200);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}
