//! What a service still does under load, under attack and when it is told to stop.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use context402::store::Unpaid;
use serde_json::json;

use crate::harness::ask::{Answer, at_once, connect, raw_bytes, read_all};
use crate::harness::{
    ACCESS, ARTICLE, FERRY, FERRY_CLAIM, FRESH, Page, Rig, Says, Wallet, amount, price, until,
};

/// A little less than the default limits, which are 10 s: what is closed sooner was closed by the limit that a test sets.
const UNSET_TIME: Duration = Duration::from_secs(9);

/// Sends a byte every 50 ms until the other side closes, and gives what came back. Fails where only the default limit closes.
fn drip(address: SocketAddr, head: &str) -> Vec<u8> {
    let mut stream = connect(address);
    stream.write_all(head.as_bytes()).expect("sent");
    stream
        .set_read_timeout(Some(Duration::from_millis(50)))
        .expect("a socket takes a timeout");
    let (started, mut answer) = (Instant::now(), Vec::new());
    loop {
        assert!(started.elapsed() < UNSET_TIME, "it is still open");
        let mut buffer = [0; 4096];
        match stream.read(&mut buffer) {
            Ok(0) => return answer,
            Ok(count) => answer.extend_from_slice(&buffer[..count]),
            Err(_) if stream.write_all(b"a").is_err() => return answer,
            Err(_) => {}
        }
    }
}

#[test]
fn headers_that_never_end_are_cut() {
    let rig = Rig::with(|resolved| resolved.set("limits.header_seconds_max", "0.4"));
    let answer = drip(rig.address, "GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: ");
    assert!(answer.is_empty() || Answer::parse(&answer).status == 408);
    rig.get("/health").expect(200);
}

#[test]
fn an_idle_connection_is_closed() {
    let rig = Rig::with(|resolved| resolved.set("limits.header_seconds_max", "0.4"));
    let started = Instant::now();
    assert_eq!(read_all(&mut connect(rig.address)), b"");
    // Also after it has been used.
    let mut stream = connect(rig.address);
    stream
        .write_all(b"GET /health?live=1 HTTP/1.1\r\nHost: x\r\n\r\n")
        .expect("sent");
    assert_eq!(Answer::parse(&read_all(&mut stream)).status, 200);
    assert!(started.elapsed() < UNSET_TIME);
}

#[test]
fn a_body_that_never_ends_is_cut() {
    let rig = Rig::with(|resolved| resolved.set("limits.body_seconds_max", "0.4"));
    let head = format!("POST {ACCESS} HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n");
    let answer = Answer::parse(&drip(rig.address, &head));
    assert_eq!(answer.must("connection"), "close");
    answer.refused(408, "request_timeout");
}

/// A body that stops half way is never a shorter body.
#[test]
fn a_body_that_ends_early_is_refused() {
    let rig = Rig::start();
    let payment = Wallet::new().sign(&rig, "fresh");
    let bytes = rig.order(ARTICLE, "fresh").paid(&payment.header).bytes();
    let mut stream = connect(rig.address);
    stream.write_all(&bytes[..bytes.len() - 1]).expect("sent");
    stream
        .shutdown(std::net::Shutdown::Write)
        .expect("half closed");
    let answer = read_all(&mut stream);
    assert!(answer.is_empty() || Answer::parse(&answer).status == 400);
    assert_eq!(rig.facilitator.verify_calls(), 0);
}

#[test]
fn whoever_does_not_read_is_dropped() {
    let rig = Rig::with(|resolved| {
        resolved.set("limits.write_stall_seconds_max", "0.3");
        resolved.set("fetch.seconds_max", "10");
        resolved.set("fetch.idle_seconds_max", "5");
    });
    let text = "Words that fill the page, line after line.\n".repeat(120_000);
    rig.site.put("/large", Page::of("text/plain", text));
    let target = "http://news.sample-site.org/large";
    let payment = Wallet::new().sign(&rig, "fresh");
    let ask = rig.order(target, "fresh").paid(&payment.header);
    let whole = ask.send().expect(200).body.len();
    // With a small window, so that the kernel does not take all of it.
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None);
    let socket = socket.expect("a socket");
    socket
        .set_recv_buffer_size(16 * 1024)
        .expect("a small buffer");
    socket
        .connect(&rig.address.into())
        .expect("the service accepts");
    let mut stream: TcpStream = socket.into();
    stream.write_all(&ask.bytes()).expect("sent");
    thread::sleep(Duration::from_millis(1_500));
    stream
        .set_read_timeout(Some(Duration::from_secs(5)))
        .expect("a socket takes a timeout");
    let got = read_all(&mut stream).len();
    assert!(
        got < whole,
        "all {whole} bytes were sent to a reader who did not read"
    );
    rig.get("/health").expect(200);
}

/// Where every connection has a request in progress, further ones wait; they are neither refused nor served out of turn,
/// and nobody is closed for them.
#[test]
fn a_connection_beyond_the_cap_waits_for_a_place() {
    let rig = Rig::with(|resolved| {
        resolved.set("limits.connections_max", "3");
        resolved.set("limits.header_seconds_max", "30");
        resolved.set("limits.body_seconds_max", "30");
    });
    let head = format!("POST {ACCESS} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n");
    let hold = |_| {
        let mut stream = connect(rig.address);
        stream.write_all(head.as_bytes()).expect("sent");
        stream
    };
    let held: Vec<TcpStream> = (0..3).map(hold).collect();
    thread::sleep(Duration::from_millis(100));
    let mut waiting = connect(rig.address);
    waiting
        .write_all(b"GET /health?live=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        .expect("sent");
    waiting
        .set_read_timeout(Some(Duration::from_millis(300)))
        .expect("a socket takes a timeout");
    let mut buffer = [0; 16];
    let early = waiting.read(&mut buffer);
    assert!(early.is_err(), "served beyond the cap: {early:?}");
    drop(held);
    waiting
        .set_read_timeout(Some(Duration::from_secs(5)))
        .expect("a socket takes a timeout");
    assert_eq!(Answer::parse(&read_all(&mut waiting)).status, 200);
}

/// The operator gets in even then.
#[test]
fn the_operator_needs_no_place() {
    let rig = Rig::with(|resolved| {
        resolved.set("limits.connections_max", "1");
        resolved.set("limits.header_seconds_max", "30");
    });
    let _held = connect(rig.address);
    thread::sleep(Duration::from_millis(100));
    rig.operator("/health").expect(200);
}

/// More than can wait for one payment are told to come back; nobody is charged twice.
#[test]
fn two_hundred_identical_requests_are_one_charge() {
    let rig = Rig::with(|resolved| {
        resolved.set("fetch.seconds_max", "8");
        resolved.set("fetch.idle_seconds_max", "8");
    });
    let page = Page::html("The slow page", "It takes its time to come.");
    rig.site
        .put("/slow", page.slow(Duration::from_millis(3_000)));
    let wallet = Wallet::new();
    let payment = wallet.sign(&rig, "fresh");
    let ask = rig
        .order("http://news.sample-site.org/slow", "fresh")
        .paid(&payment.header);
    let answers = ask.send_at_once(200);
    let served: Vec<&Answer> = answers
        .iter()
        .filter(|answer| answer.status == 200)
        .collect();
    assert!(served.len() >= 129, "{} were served", served.len());
    assert!(served.iter().all(|answer| answer.body == served[0].body));
    for answer in &answers {
        if answer.status != 200 {
            let answer = answer.clone().refused(409, "conflict");
            assert!(answer.header("retry-after").is_some());
        }
    }
    assert_eq!(rig.site.hits("/slow"), 1);
    assert_eq!(
        (
            rig.facilitator.verify_calls(),
            rig.facilitator.settle_calls()
        ),
        (1, 1)
    );
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

/// Those who find no place to wait while the payment is being settled read that it may be charged.
#[test]
fn a_payment_under_settlement_is_never_called_uncharged() {
    let rig = Rig::with(|resolved| {
        resolved.set("payment.settle_wait_seconds_max", "20");
        resolved.set("payment.settle_seconds_max", "20");
    });
    rig.facilitator.settles(Says::Slow(Duration::from_secs(4)));
    let wallet = Wallet::new();
    let payment = wallet.sign(&rig, "fresh");
    let ask = rig.order(ARTICLE, "fresh").paid(&payment.header);
    let answers = thread::scope(|scope| {
        let first = scope.spawn(|| ask.send());
        until("the settlement has begun", || {
            rig.facilitator.settle_calls() == 1
        });
        let answers = ask.send_at_once(190);
        first.join().expect("an answer").expect(200);
        answers
    });
    let (served, turned_away): (Vec<_>, Vec<_>) =
        answers.into_iter().partition(|answer| answer.status == 200);
    assert!(served.len() >= 128 && !turned_away.is_empty());
    for answer in turned_away {
        answer.refused_charged(503, "settlement_unknown");
    }
    assert_eq!(rig.facilitator.settle_calls(), 1);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

/// Different buyers at once each get what they paid for.
#[test]
fn many_buyers_at_once_are_all_served() {
    let rig = Rig::start();
    let wallets: Vec<Wallet> = (0..40).map(|_| Wallet::new()).collect();
    let asks: Vec<_> = wallets
        .iter()
        .map(|wallet| {
            let payment = wallet.sign(&rig, "fresh");
            rig.order(ARTICLE, "fresh").paid(&payment.header)
        })
        .collect();
    for answer in at_once(asks) {
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    for wallet in &wallets {
        assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
    }
    assert_eq!(rig.facilitator.settlements(), 40);
}

#[test]
fn a_stop_waits_for_the_sale_under_way() {
    let mut rig = Rig::start();
    let page = Page::html("The slow page", "It takes its time to come.");
    rig.site.put("/slow", page.slow(Duration::from_millis(400)));
    rig.facilitator
        .settles(Says::Slow(Duration::from_millis(200)));
    let wallet = Wallet::new();
    let payment = wallet.sign(&rig, "fresh");
    let ask = rig
        .order("http://news.sample-site.org/slow", "fresh")
        .paid(&payment.header);
    let asked = thread::spawn(move || ask.send());
    until("the page is being fetched", || rig.site.hits("/slow") == 1);
    assert!(rig.stop(), "everything is done in time");
    let answer = asked.join().expect("an answer");
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(
        TcpStream::connect(rig.address).is_err(),
        "nobody is let in any more"
    );
    rig.run();
    assert_eq!(
        rig.operator("/operator/payments?state=settled").json()["payments"][0]["amount_units"],
        amount(FRESH)
    );
}

/// A stop does not wait for ever: what has not ended is taken up by the next start.
#[test]
fn a_stop_that_cannot_wait_leaves_the_sale_to_the_next_start() {
    let mut rig = Rig::today();
    rig.facilitator.settles(Says::Hang);
    let wallet = Wallet::new();
    let mut payment = None;
    let more = [
        ("limits.stop_grace_seconds", "0.3"),
        ("payment.settle_wait_seconds_max", "30"),
        ("payment.settle_seconds_max", "30"),
    ];
    rig.in_process(&more, |rig, mut service| {
        let signed = wallet.sign_at(service.address, "fresh", rig.now(), None);
        let ask = service.order(ARTICLE, "fresh").paid(&signed.header);
        let asked = thread::spawn(move || raw_bytes(ask.address(), &ask.bytes()));
        until("it is being settled", || {
            rig.facilitator.settle_calls() == 1
        });
        service.terminate();
        service.end_within(Duration::from_secs(3));
        let answer = asked.join().expect("no panic");
        assert!(answer.is_empty() || Answer::parse(&answer).status != 402);
        payment = Some(signed);
    });
    rig.facilitator.settles(Says::Honest);
    let payment = payment.expect("signed");
    rig.pay(&payment, ARTICLE, "fresh").expect(200);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

/// A full disk stops sales before a payment is looked at; everything free goes on.
#[test]
fn a_full_disk_stops_sales_and_nothing_else() {
    let rig = Rig::with(|resolved| resolved.set("limits.free_disk_mib_min", "1000000000"));
    let wallet = Wallet::new();
    let answer = rig
        .buy(&wallet, ARTICLE, "fresh")
        .refused(503, "overloaded");
    assert_eq!(answer.must("retry-after"), "5");
    assert_eq!(answer.header("x-service-retry-credit"), None);
    assert_eq!(rig.facilitator.verify_calls(), 0);
    rig.get("/docs").expect(200);
    let health = rig.get("/health").expect(200).json();
    assert_eq!(health["paid_enabled"], false);
    assert_eq!(health["status"], "degraded");
    assert_eq!(health["checks"]["disk"]["status"], "low");
}

/// What is free is given as long as it can be; what would have to be written is not begun.
#[test]
fn quotes_are_answered_and_not_kept_without_room() {
    let rig = Rig::with(|resolved| resolved.set("limits.free_disk_mib_min", "1000000000"));
    for path in ["/v1/x402/quote", "/v1/proof-pack/quote"] {
        let quote = rig.get(&format!("{path}?target_url={ARTICLE}"));
        let quote = quote.expect(200).json();
        assert_eq!(quote["kept"], false);
        for member in ["quote_id", "receipt_url", "resume_page"] {
            assert!(quote[member].is_null(), "{member}: {quote}");
        }
        assert!(
            quote["tiers"].is_array() || quote["packs"].is_array(),
            "{quote}"
        );
    }
    let page = rig.get(&format!("/quote?target_url={ARTICLE}")).expect(200);
    assert!(page.text().contains("not saved"));
    let receipt = json!({"product": "context", "target_url": ARTICLE, "tier": "fresh"});
    let receipt = rig.post("/v1/quotes").json(&receipt).send();
    assert_eq!(receipt.refused(503, "overloaded").must("retry-after"), "5");
    rig.get(&format!(
        "/v1/proof-pack/bundle/quote?target_urls={ARTICLE}"
    ))
    .refused(503, "overloaded");
    for kind in Unpaid::ALL {
        assert_eq!(unpaid_bytes(&rig, kind), 0, "{kind:?}");
    }
}

fn unpaid_bytes(rig: &Rig, kind: Unpaid) -> u64 {
    let read = rig
        .app()
        .store
        .read(move |snapshot| snapshot.unpaid_bytes(kind));
    rig.wait(read).expect("reads")
}

/// A quote for 25 long addresses took 65 kB for 14 days, 28 GB a day from one address, until the service
/// could not start any more.
#[test]
fn a_flood_of_bundle_quotes_stays_within_its_bound() {
    const BOUND: u64 = 1024 * 1024;
    let mut rig = Rig::with(|resolved| {
        resolved.set("limits.unpaid_records_mib", "1");
        resolved.set("limits.quotes_per_minute", "0");
    });
    let long = "x".repeat(1_900);
    let ids: Vec<String> = (0..60)
        .map(|number| {
            let targets: Vec<String> = (0..25)
                .map(|source| format!("https://example.com/{number}/{source}/{long}"))
                .collect();
            let asked =
                json!({"product": "proof_bundle", "target_urls": targets, "bundle": "audit"});
            let receipt = rig.post("/v1/quotes").json(&asked).send().expect(201);
            assert!(unpaid_bytes(&rig, Unpaid::BundleQuotes) <= BOUND);
            rig.pass(1);
            receipt.json()["quote_id"]
                .as_str()
                .expect("an id")
                .to_owned()
        })
        .collect();
    assert!(unpaid_bytes(&rig, Unpaid::BundleQuotes) > BOUND / 2);
    let receipt = |rig: &Rig, number: usize| rig.get(&format!("/v1/quotes/{}", ids[number]));
    receipt(&rig, 0).refused(404, "quote_not_found");
    receipt(&rig, 59).expect(200);
    let before = unpaid_bytes(&rig, Unpaid::BundleQuotes);
    rig.restart();
    assert_eq!(unpaid_bytes(&rig, Unpaid::BundleQuotes), before);
    receipt(&rig, 59).expect(200);
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
}

/// Pages of sales that never settled stayed for a day, counted as reports and switched Proof Packs off.
#[test]
fn sales_that_never_settle_leave_nothing_behind() {
    let rig = Rig::with(|resolved| {
        resolved.set("limits.page_cache_mib", "1");
        resolved.set("limits.report_store_mib", "1");
    });
    let facts = || {
        let read = rig
            .app()
            .store
            .read(|snapshot| Ok((snapshot.blobs_bytes()?, snapshot.unsettled_bytes()?)));
        rig.wait(read).expect("reads")
    };
    let refuse = || {
        rig.facilitator
            .next_settles([Says::No("invalid_exact_evm_insufficient_balance")]);
    };
    for number in 0..12 {
        let text = format!("Words of page {number}, line after line.\n").repeat(8_000);
        let path = format!("/unsettled/{number}");
        rig.site.put(&path, Page::of("text/plain", text));
        let target = format!("http://news.sample-site.org{path}");
        refuse();
        rig.buy(&Wallet::new(), &target, "fresh").expect(402);
        rig.buy(&Wallet::new(), &target, "cached")
            .refused(400, "cache_miss");
    }
    refuse();
    rig.buy_report(&Wallet::new(), FERRY, "standard", FERRY_CLAIM)
        .expect(402);
    assert_eq!(facts(), (0, 0));
    // With a settlement the page is there for the next buyer, and reports are sold.
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
    rig.buy(&Wallet::new(), ARTICLE, "cached").expect(200);
    rig.buy_report(&Wallet::new(), FERRY, "standard", FERRY_CLAIM)
        .expect(200);
    let (blobs, unsettled) = facts();
    assert!(blobs > 0 && unsettled == 0, "{blobs}, {unsettled}");
}

#[test]
fn unsettled_answers_beyond_their_bound_are_refused_uncharged() {
    let rig = Rig::with(|resolved| resolved.set("limits.unsettled_mib", "0"));
    let payment = Wallet::new().sign(&rig, "fresh");
    let first = rig.order(ARTICLE, "fresh").paid(&payment.header);
    rig.facilitator.settles(Says::Hang);
    first.send().expect(503);
    let calls = rig.facilitator.settle_calls();
    let other = Wallet::new();
    let refused = rig.buy(&other, FERRY, "fresh").refused(503, "overloaded");
    assert_eq!(refused.json()["error"]["charged"], false, "{refused:?}");
    assert_eq!(rig.facilitator.settle_calls(), calls);
    rig.facilitator.settles(Says::Honest);
    first.send().expect(200);
    rig.buy(&other, FERRY, "fresh").expect(200);
}

/// Reports that are paid for are never dropped to make room: where there is none, no further one is sold, before its
/// payment is looked at, and everything else goes on.
#[test]
fn a_full_store_of_reports_stops_reports_alone() {
    let mut rig = Rig::start();
    let sold = rig.buy_report(&Wallet::new(), FERRY, "standard", FERRY_CLAIM);
    let sold = sold.expect(200);
    assert_eq!(
        rig.get("/health").expect(200).json()["checks"]["reports"]["status"],
        "ok"
    );
    rig.reconfigure(|resolved| resolved.set("limits.report_store_mib", "0"));
    let calls = rig.facilitator.verify_calls();
    let answer = rig
        .buy_report(&Wallet::new(), FERRY, "quick", FERRY_CLAIM)
        .refused(503, "overloaded");
    assert_eq!(answer.header("x-service-retry-credit"), None);
    assert_eq!(rig.facilitator.verify_calls(), calls);
    let health = rig.get("/health").expect(200).json();
    assert_eq!(health["checks"]["reports"]["status"], "full");
    assert_eq!(health["status"], "degraded");
    let health = rig.operator("/health").expect(200).json();
    let kept = health["checks"]["reports"]["kept_bytes"].as_u64();
    assert!(kept >= Some(sold.body.len() as u64), "{health}");
    let confidence = rig.get(&format!(
        "/v1/checkout/confidence?product=proof_pack&target_url={FERRY}"
    ));
    assert_eq!(confidence.expect(200).json()["ready"], false);
    let id = sold.json()["report_id"].clone();
    let id = id.as_str().expect("an id");
    let read = rig.get(&format!("/v1/proof-pack/reports/{id}")).expect(200);
    assert_eq!(read.body, sold.body);
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
}

/// Nobody is called for those who do not pay.
#[test]
fn a_thousand_unpaid_requests_call_nobody() {
    let rig = Rig::start();
    let mut stream = connect(rig.address);
    let request = format!(
        "POST {ACCESS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}"
    );
    let reader = stream.try_clone().expect("a second handle");
    let answers = thread::spawn(move || {
        let mut reader = reader;
        String::from_utf8_lossy(&read_all(&mut reader))
            .matches("HTTP/1.1 402")
            .count()
    });
    for _ in 0..999 {
        stream.write_all(request.as_bytes()).expect("sent");
    }
    let last = request.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    stream.write_all(last.as_bytes()).expect("sent");
    assert_eq!(answers.join().expect("no panic"), 1_000);
    assert_eq!(
        (rig.facilitator.verify_calls(), rig.site.requests().len()),
        (0, 0)
    );
}

/// Starts four sales whose pages take their time, and then one of somebody else, which must not wait for them.
fn is_served_meanwhile(slow: &dyn Fn(usize) -> (Wallet, String), other: &str) {
    let rig = Rig::with(|resolved| {
        resolved.set("fetch.at_once_max", "4");
        resolved.set("fetch.seconds_max", "4");
        resolved.set("fetch.idle_seconds_max", "4");
    });
    let asks: Vec<_> = (0..4)
        .map(|number| {
            let path = format!("/slow{number}");
            let page = Page::html("The slow page", "It takes its time to come.");
            rig.site.put(&path, page.slow(Duration::from_secs(3)));
            let (wallet, host) = slow(number);
            let payment = wallet.sign(&rig, "fresh");
            rig.order(&format!("http://{host}{path}"), "fresh")
                .paid(&payment.header)
        })
        .collect();
    let payment = Wallet::new().sign(&rig, "fresh");
    let ask = rig.order(other, "fresh").paid(&payment.header);
    let ended = AtomicUsize::new(0);
    thread::scope(|scope| {
        for ask in &asks {
            scope.spawn(|| {
                ask.send();
                ended.fetch_add(1, Ordering::Relaxed);
            });
        }
        thread::sleep(Duration::from_millis(300));
        let answer = ask.send();
        assert_eq!(answer.status, 200, "{answer:?}");
        let ended = ended.load(Ordering::Relaxed);
        assert_eq!(ended, 0, "it waited for somebody else's pages");
    });
}

/// Work is capped per payer.
#[test]
fn one_buyer_does_not_take_all_places() {
    let wallet = Wallet::new();
    let slow = |number: usize| {
        let host = ["www.second-site.org", "www.third-site.org"][number % 2];
        (wallet.clone(), host.to_owned())
    };
    is_served_meanwhile(&slow, ARTICLE);
}

/// Many payments whose money is there once: a few are worked on at the same time, and once several could not be settled
/// nothing more is done for their payer.
#[test]
fn one_wallet_with_many_nonces_gets_little_work_for_nothing() {
    let rig = Rig::start();
    rig.facilitator.next_settles([Says::Honest]);
    rig.facilitator.settles(Says::No("insufficient_funds"));
    let wallet = Wallet::new();
    let asks: Vec<_> = (0..60)
        .map(|number| {
            let path = format!("/page{number}");
            let page = Page::html("A page", "It takes a little while.");
            rig.site.put(&path, page.slow(Duration::from_millis(30)));
            let payment = wallet.sign(&rig, "fresh");
            rig.order(&format!("http://news.sample-site.org{path}"), "fresh")
                .paid(&payment.header)
        })
        .collect();
    let answers = at_once(asks);
    let with = |status: u16| {
        answers
            .iter()
            .filter(|answer| answer.status == status)
            .count()
    };
    assert_eq!(with(200), 1, "{answers:?}");
    assert!(with(429) >= 40, "{} were turned away", with(429));
    assert_eq!(with(200) + with(402) + with(429), 60);
    let pages = rig.site.requests().len();
    assert!(pages <= 20, "{pages} pages were fetched for one payment");
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

/// Work that could not be paid for is done a few times only.
#[test]
fn a_payer_whose_settlements_fail_is_not_worked_for() {
    let rig = Rig::start();
    rig.facilitator.settles(Says::No("insufficient_funds"));
    let wallet = Wallet::new();
    for _ in 0..3 {
        rig.buy(&wallet, ARTICLE, "fresh").expect(402);
    }
    rig.facilitator.settles(Says::Honest);
    rig.buy(&wallet, ARTICLE, "fresh")
        .refused(429, "rate_limited");
    assert_eq!(rig.site.hits("/article"), 3);
    assert_eq!(rig.facilitator.spent(wallet.address()), 0);
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
    rig.pass(601);
    rig.buy(&wallet, ARTICLE, "fresh").expect(200);
}

/// Work is capped per target domain, whatever names it has.
#[test]
fn one_slow_domain_does_not_take_all_places() {
    let slow = |number: usize| {
        let host = ["news.sample-site.org", "other.sample-site.org"][number % 2];
        (Wallet::new(), host.to_owned())
    };
    is_served_meanwhile(&slow, "http://www.second-site.org/article");
}
