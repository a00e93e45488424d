//! Rate limits: each class by client, who a client is, what is never turned away, and what is said to who is.

use std::thread;

use crate::harness::provider;
use crate::harness::{
    ACCESS, ARTICLE, Answer, Ask, FRESH, Page, RETRY, Rig, Says, Wallet, price, until,
};

const QUOTE: &str = "/v1/x402/quote?target_url=http://news.sample-site.org/article";
const GUESS: &str = "rc_00000000000000000000000000000000";

/// A rig where one kind of request is limited to so many in a minute.
fn limited(key: &'static str, quota: &str) -> Rig {
    Rig::with(|resolved| resolved.set(key, quota))
}

/// A rig behind a proxy on loopback.
fn behind_a_proxy() -> Rig {
    Rig::with(|resolved| {
        resolved.set("limits.quotes_per_minute", "1");
        resolved.set_list("trusted_proxies", vec!["127.0.0.0/8".to_owned()]);
    })
}

fn from(rig: &Rig, client: &str) -> Answer {
    rig.ask("GET", QUOTE)
        .header("X-Forwarded-For", client)
        .send()
}

/// Insists on a 429 that says everything, and gives the seconds to wait.
#[track_caller]
fn turned_away(answer: Answer, limit: &str, quota: u64) -> u64 {
    let answer = answer.refused(429, "rate_limited");
    let wait: u64 = answer.must("retry-after").parse().expect("whole seconds");
    assert!((1..=60).contains(&wait), "{answer:?}");
    assert_eq!(answer.must("ratelimit-limit"), quota.to_string());
    assert_eq!(answer.must("ratelimit-remaining"), "0");
    assert_eq!(answer.must("ratelimit-reset"), wait.to_string());
    assert_eq!(
        answer.must("ratelimit-policy"),
        format!("\"{limit}\";q={quota};w=60")
    );
    assert_eq!(
        answer.must("ratelimit"),
        format!("\"{limit}\";r=0;t={wait}")
    );
    assert_eq!(answer.must("cache-control"), "no-store");
    assert_eq!(answer.header("payment-required"), None);
    assert_eq!(answer.json()["error"]["retryable"], true);
    wait
}

/// How often each limit has refused, as the figures say.
fn refusals(rig: &Rig, limit: &str) -> u64 {
    rig.operator("/metrics").json()["rate_limited"][limit]
        .as_u64()
        .unwrap_or_default()
}

#[test]
fn each_class_has_a_limit_of_its_own() {
    let ask = |rig: &Rig, method: &str, path: &str| rig.ask(method, path).send();
    let cases: [(&str, &str, &str, &str, u16); 5] = [
        ("limits.free_per_minute", "free", "GET", "/docs", 200),
        ("limits.probes_per_minute", "probe", "GET", ACCESS, 200),
        ("limits.unpaid_per_minute", "unpaid", "POST", ACCESS, 402),
        ("limits.unpaid_per_minute", "unpaid", "POST", RETRY, 402),
        ("limits.quotes_per_minute", "quote", "GET", QUOTE, 200),
    ];
    for (key, class, method, path, status) in cases {
        let rig = limited(key, "2");
        for _ in 0..2 {
            ask(&rig, method, path).expect(status);
        }
        turned_away(ask(&rig, method, path), class, 2);
        assert_eq!(refusals(&rig, class), 1, "{class}");
        // The others go on.
        let other = if class == "free" { ACCESS } else { "/docs" };
        ask(&rig, "GET", other).expect(200);
        // The operator is not counted.
        rig.operator("/docs").expect(200);
    }
}

/// Events that the payment provider has not signed were refused without being counted.
#[test]
fn events_without_a_signature_have_a_limit() {
    let rig = Rig::with(|resolved| {
        provider::configure(resolved);
        resolved.set("limits.free_per_minute", "2");
    });
    let unsigned = || rig.post(provider::WEBHOOK).body("{}").send();
    for _ in 0..2 {
        unsigned().refused(400, "invalid_signature");
    }
    turned_away(unsigned(), "free", 2);
}

#[test]
fn nought_is_no_limit() {
    let rig = limited("limits.quotes_per_minute", "0");
    for _ in 0..400 {
        let answer = rig.get("/quote").expect(200);
        assert_eq!(answer.header("ratelimit-limit"), None);
    }
}

/// Whoever waits as long as is said is served, and not before.
#[test]
fn retry_after_is_kept() {
    let rig = limited("limits.quotes_per_minute", "7");
    let first = rig.get(QUOTE).expect(200);
    assert_eq!(first.must("ratelimit-limit"), "7");
    assert_eq!(first.must("ratelimit-remaining"), "6");
    assert_eq!(first.header("retry-after"), None);
    for _ in 0..6 {
        rig.get(QUOTE).expect(200);
    }
    let wait = turned_away(rig.get(QUOTE), "quote", 7);
    rig.pass(wait - 1);
    let left = turned_away(rig.get(QUOTE), "quote", 7);
    rig.pass(left);
    rig.get(QUOTE).expect(200);
    turned_away(rig.get(QUOTE), "quote", 7);
}

/// A person reads why.
#[test]
fn a_browser_is_turned_away_with_a_page() {
    let rig = limited("limits.free_per_minute", "1");
    rig.get("/docs").expect(200);
    let answer = rig
        .ask("GET", "/docs")
        .header("Accept", "text/html")
        .send()
        .expect(429);
    assert!(answer.must("content-type").starts_with("text/html"));
    assert_eq!(answer.must("retry-after"), "60");
    assert!(answer.text().contains("retry in 60 s"), "{answer:?}");
}

/// Nobody is called for a payment beyond the limit, and it is as good as before.
#[test]
fn a_new_payment_beyond_the_limit_is_not_used() {
    let rig = limited("limits.sales_per_minute", "1");
    let wallet = Wallet::new();
    rig.buy(&wallet, ARTICLE, "fresh").expect(200);
    let second = wallet.sign(&rig, "fresh");
    let ask = rig.order(ARTICLE, "fresh").paid(&second.header);
    let wait = turned_away(ask.send(), "sale", 1);
    assert_eq!(rig.facilitator.verify_calls(), 1);
    assert_eq!(rig.site.hits("/article"), 1);
    rig.pass(wait);
    ask.send().expect(200);
    assert_eq!(rig.facilitator.spent(wallet.address()), 60_000);
}

/// What was paid for is given out whatever the limit says.
#[test]
fn a_known_payment_is_answered_beyond_the_limit() {
    let rig = limited("limits.sales_per_minute", "1");
    let wallet = Wallet::new();
    let payment = wallet.sign(&rig, "fresh");
    let ask = rig.order(ARTICLE, "fresh").paid(&payment.header);
    let first = ask.send().expect(200);
    turned_away(rig.buy(&wallet, ARTICLE, "fresh"), "sale", 1);
    assert_eq!(ask.send().expect(200).body, first.body);
    // For anything else it buys nothing, and nobody reads that it was not charged.
    let other = rig.order("http://news.sample-site.org/other", "fresh");
    let other = other.paid(&payment.header).send();
    other.refused_charged(400, "payment_replayed");
    turned_away(rig.buy(&wallet, ARTICLE, "fresh"), "sale", 1);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

/// One that may have been taken must be found out about, however often somebody asks.
#[test]
fn an_unknown_payment_is_looked_into_beyond_the_limit() {
    let rig = Rig::with(|resolved| {
        resolved.set("limits.sales_per_minute", "1");
        resolved.set("limits.credits_per_minute", "1");
    });
    let wallet = Wallet::new();
    rig.facilitator.settles(Says::Status(500));
    let payment = wallet.sign(&rig, "fresh");
    let ask = rig.order(ARTICLE, "fresh").paid(&payment.header);
    let unknown = ask.send().expect(503);
    assert_eq!(unknown.code(), "settlement_unknown");
    let credit = unknown.credit();
    assert_eq!(ask.send().expect(503).code(), "settlement_unknown");
    // The credit's own limit is used up by a guess.
    rig.retry(GUESS, ARTICLE, "fresh")
        .send()
        .refused(400, "retry_credit_invalid");
    turned_away(rig.retry(GUESS, ARTICLE, "fresh").send(), "credit", 1);
    rig.facilitator.settles(Says::Honest);
    rig.retry(&credit, ARTICLE, "fresh").send().expect(200);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

/// A credit on a payment that was not taken is work for nothing so far. Turned away, it is as good as before.
#[test]
fn a_held_credit_is_counted_and_keeps_its_attempts() {
    let rig = limited("limits.credits_per_minute", "1");
    let wallet = Wallet::new();
    rig.site.put("/flaky", Page::Status(503));
    let target = "http://news.sample-site.org/flaky";
    let credit = rig.buy(&wallet, target, "fresh").expect(503).credit();
    let ask = rig.retry(&credit, target, "fresh");
    assert_eq!(ask.send().expect(503).json()["retry"]["attempts_left"], 2);
    let wait = turned_away(ask.send(), "credit", 1);
    rig.pass(wait);
    assert_eq!(ask.send().expect(503).json()["retry"]["attempts_left"], 1);
}

/// A payment that cannot be read is none.
#[test]
fn unreadable_payments_are_counted_as_none() {
    let rig = limited("limits.unpaid_per_minute", "2");
    let ask = rig.order(ARTICLE, "fresh").paid("no payment at all");
    for _ in 0..2 {
        ask.send().refused(400, "invalid_payment");
    }
    turned_away(ask.send(), "unpaid", 2);
}

#[test]
fn clients_are_told_apart_behind_a_proxy() {
    let rig = behind_a_proxy();
    from(&rig, "203.0.113.7").expect(200);
    turned_away(from(&rig, "203.0.113.7"), "quote", 1);
    from(&rig, "203.0.113.8").expect(200);
    turned_away(from(&rig, "::ffff:203.0.113.8"), "quote", 1);
    // Whatever a client claims stands to the left of what the proxy adds.
    turned_away(from(&rig, "198.51.100.1, 203.0.113.7"), "quote", 1);
    let standard = |client: &str| {
        let value = format!("for=\"{client}\";proto=https");
        rig.ask("GET", QUOTE).header("Forwarded", value).send()
    };
    turned_away(standard("203.0.113.7:4711"), "quote", 1);
    standard("203.0.113.9").expect(200);
}

/// One customer holds a /64 at least.
#[test]
fn an_ipv6_network_is_one_client() {
    let rig = behind_a_proxy();
    from(&rig, "2001:db8:1:2::1").expect(200);
    turned_away(from(&rig, "2001:db8:1:2:ffff::9"), "quote", 1);
    from(&rig, "2001:db8:1:3::1").expect(200);
}

#[test]
fn nobody_speaks_for_others_unless_trusted() {
    let rig = limited("limits.quotes_per_minute", "1");
    from(&rig, "203.0.113.7").expect(200);
    turned_away(from(&rig, "203.0.113.8"), "quote", 1);
    let rig = behind_a_proxy();
    rig.get(QUOTE).expect(200);
    // What cannot be read counts as the proxy itself.
    turned_away(from(&rig, "no address"), "quote", 1);
    let both = rig
        .ask("GET", QUOTE)
        .header("X-Forwarded-For", "203.0.113.7")
        .header("Forwarded", "for=203.0.113.8");
    turned_away(both.send(), "quote", 1);
}

/// Names of one domain are looked up for nothing only so often, whoever asks.
#[test]
fn a_domain_is_looked_up_for_nothing_only_so_often() {
    let rig = limited("limits.quotes_of_domain_per_minute", "2");
    let quote = |target: &str| rig.get(&format!("/v1/x402/quote?target_url={target}"));
    quote("http://news.sample-site.org/a").expect(200);
    quote("http://other.sample-site.org/b").expect(200);
    turned_away(quote("http://news.sample-site.org/c"), "domain", 2);
    let page = rig.get("/quote?target_url=http://news.sample-site.org/c");
    assert_eq!(
        (page.status, page.must("retry-after")),
        (429, "30"),
        "{page:?}"
    );
    assert_eq!(refusals(&rig, "domain"), 2);
    quote("http://www.second-site.org/a").expect(200);
    rig.get("/v1/x402/quote").expect(200);
    // Who pays is served.
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
}

#[test]
fn refusals_are_counted_for_prometheus_too() {
    let rig = limited("limits.free_per_minute", "1");
    rig.get("/docs").expect(200);
    rig.get("/docs").refused(429, "rate_limited");
    let text = rig.operator("/metrics?format=prometheus").text();
    assert!(
        text.contains("context402_rate_limited_total{limit=\"free\"} 1\n"),
        "{text}"
    );
}

#[test]
fn every_row_documents_its_limit() {
    let rig = Rig::start();
    let document = rig.get("/openapi.json").expect(200).json();
    let paths = document["paths"].as_object().expect("paths");
    for (path, operations) in paths {
        for (method, operation) in operations.as_object().expect("operations") {
            let headers = &operation["responses"]["429"]["headers"];
            for name in ["Retry-After", "RateLimit", "RateLimit-Policy"] {
                assert!(headers[name].is_object(), "{method} {path} {name}");
            }
        }
    }
}

/// The defaults let a directory look around, and an agent buy at its pace.
#[test]
fn the_defaults_are_generous() {
    let rig = Rig::start();
    let asks: Vec<Ask> = (0..64)
        .map(|_| rig.ask("POST", ACCESS))
        .chain((0..64).map(|_| rig.ask("GET", ACCESS)))
        .collect();
    for _ in 0..10 {
        for answer in crate::harness::ask::at_once(asks.clone()) {
            assert!(matches!(answer.status, 200 | 402), "{answer:?}");
        }
    }
}

/// The limit is asked before the body is waited for.
#[test]
fn a_slow_body_does_not_get_past_the_limit() {
    let rig = limited("limits.unpaid_per_minute", "1");
    rig.post(ACCESS).send().expect(402);
    let head = format!("POST {ACCESS} HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n");
    let address = rig.address;
    let asked = thread::spawn(move || crate::harness::ask::raw(address, head.as_bytes()));
    until("it is answered", || asked.is_finished());
    turned_away(asked.join().expect("an answer"), "unpaid", 1);
}
