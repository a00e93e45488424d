//! Many clients that each take a little: what they hold together is bounded, and the next client is served meanwhile.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use context402::signing::stamp;

use crate::harness::ask::{Answer, connect, raw, read_all};
use crate::harness::provider::{Event, SECRET, WEBHOOK, shop_with};
use crate::harness::{ACCESS, ARTICLE, FERRY, Page, Rig, Service, Wallet, until};
use crate::hostile::floods::{connect_from, is_served};
use crate::hostile::{number, tell};

/// Until an incomplete body may be let go for another.
const GRACE: Duration = Duration::from_millis(1_100);

/// Sends so much of a request and leaves it at that.
fn half_sent(mut stream: TcpStream, head: &str, body_bytes: usize) -> TcpStream {
    stream
        .set_write_timeout(Some(Duration::from_secs(1)))
        .expect("a socket takes a timeout");
    let _ = stream.write_all(&[head.as_bytes(), &vec![b'x'; body_bytes]].concat());
    stream
}

fn is_open(stream: &mut TcpStream) -> bool {
    stream.set_nonblocking(true).expect("a socket");
    let read = stream.read(&mut [0; 1]);
    stream.set_nonblocking(false).expect("a socket");
    read.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
}

/// The same page for everybody: once it is converted, it needs no place among the conversions, whichever way it is asked
/// for. Other pages do.
#[test]
fn a_constant_page_is_converted_once() {
    let rig = Rig::start();
    let by_address = rig.get("/faq.md").expect(200);
    let places = &rig.app().outside.free_checks;
    let held: Vec<_> = (0..places.free())
        .map(|_| rig.wait(places.enter()).expect("a free place"))
        .collect();
    for _ in 0..10 {
        let by_header = rig.ask("GET", "/faq").header("Accept", "text/markdown");
        let by_header = by_header.send().expect(200);
        assert_eq!(by_header.body, by_address.body);
        assert_eq!(by_header.must("etag"), by_address.must("etag"));
        assert_eq!(
            by_header.must("content-type"),
            "text/markdown; charset=utf-8"
        );
    }
    // Eight may wait for each place; the others are told at once, and all of them in the end.
    let sample = rig.ask("GET", "/proof-pack/sample.md");
    let began = Instant::now();
    let refused = sample.send_at_once(40);
    let waited = began.elapsed();
    assert!(waited < Duration::from_secs(19), "{waited:?}");
    for answer in refused {
        answer.refused(503, "overloaded").must("retry-after");
    }
    drop(held);
    sample.send().expect(200);
    // What the query changes is another page.
    let example = rig.get("/pricing.md").expect(200).text();
    let asked = rig.get("/pricing.md?pages=7&tier=fresh").expect(200).text();
    assert_ne!(asked, example);
    assert_eq!(rig.get("/pricing.md").expect(200).text(), example);
    assert_ne!(rig.get("/demo.md").expect(200).text(), example);
}

/// The documentation as markdown, for hundreds of clients at once who read nothing, and pages that are not the same for
/// everybody. Once it took three megabytes for each.
#[test]
fn a_crowd_that_asks_for_markdown_has_a_bounded_part_of_memory() {
    const USED_MIB_MAX: u64 = 20;
    let clients = number("CONTEXT402_CROWD", 250);
    let mut rig = Rig::today_with(|resolved| {
        resolved.set("limits.connections_of_client_max", "4000");
        resolved.set("limits.quotes_per_minute", "0");
    });
    rig.in_process(&[], |rig, service| {
        service.get("/docs").send().expect(200);
        let before = service.memory_mib();
        let asks = ["/docs", "/proof-pack/sample", "/docs", "/docs"];
        let asks = asks.map(|page| service.get(page).header("Accept", "text/markdown"));
        let asks = &asks;
        let ask = |number: usize| {
            let ask = &asks[number % asks.len()];
            let mut stream = connect(ask.address());
            stream.write_all(&ask.bytes()).expect("sent");
            stream
        };
        let held: Vec<TcpStream> = thread::scope(|scope| {
            let asking: Vec<_> = (0..clients).map(|n| scope.spawn(move || ask(n))).collect();
            let asked = asking.into_iter().map(|thread| thread.join());
            asked.map(|stream| stream.expect("no panic")).collect()
        });
        buy(rig, &service).expect(200);
        let mut served = [0; 4];
        for (number, mut stream) in held.into_iter().enumerate() {
            let answer = Answer::parse(&read_all(&mut stream));
            match (number % asks.len(), answer.status) {
                (_, 200) => served[number % asks.len()] += 1,
                // Many at once: those beyond the queue are told at once.
                (1, 503) => drop(answer.refused(503, "overloaded")),
                _ => panic!("{answer:?}"),
            }
        }
        let used = service.memory_mib_most().saturating_sub(before);
        tell(&format!(
            "{used} MiB for {clients} who ask for markdown, {served:?} served"
        ));
        let constant = served[0] + served[2] + served[3];
        assert_eq!(constant, clients - (clients + 2) / 4, "{served:?}");
        assert!(served[1] > 0, "{served:?}");
        assert!(used <= USED_MIB_MAX, "{used} MiB for {clients}");
    });
}

fn buy(rig: &Rig, service: &Service) -> Answer {
    let payment = Wallet::new().sign_at(service.address, "fresh", rig.now(), None);
    let ask = service.order(ARTICLE, "fresh").paid(&payment.header);
    ask.send()
}

/// Hundreds of clients send most of a body and then nothing: they hold what the setting says beside the buffers of their
/// connections (30 MiB for 400), and a buyer is served meanwhile.
#[test]
fn half_sent_bodies_have_a_bounded_part_of_memory() {
    const USED_MIB_MAX: u64 = 40;
    let clients = number("CONTEXT402_CROWD", 400);
    let mut rig = Rig::today_with(|resolved| {
        resolved.set("limits.request_bodies_mib", "4");
        resolved.set("limits.connections_of_client_max", "4000");
        resolved.set("limits.body_seconds_max", "20");
    });
    rig.in_process(&[], |rig, service| {
        buy(rig, &service).expect(200);
        let before = service.memory_mib();
        let head = format!("POST {ACCESS} HTTP/1.1\r\nHost: x\r\nContent-Length: 65536\r\n\r\n");
        let send = |_| half_sent(connect(service.address), &head, 65_000);
        let held: Vec<TcpStream> = (0..clients).map(send).collect();
        for _ in 0..3 {
            buy(rig, &service).expect(200);
        }
        let used = service.memory_mib_most().saturating_sub(before);
        tell(&format!("{used} MiB for {clients} half-sent bodies"));
        assert!(used <= USED_MIB_MAX, "{used} MiB for {clients}");
        drop(held);
    });
}

/// One mebibyte for bodies is full after 17 of 64 KiB.
#[test]
fn the_oldest_half_sent_body_makes_room() {
    const FIT: usize = 17;
    let rig = Rig::with(|resolved| {
        resolved.set("limits.request_bodies_mib", "1");
        resolved.set("limits.body_seconds_max", "30");
    });
    let head = format!("POST {ACCESS} HTTP/1.1\r\nHost: x\r\nContent-Length: 65000\r\n\r\n");
    let began = Instant::now();
    let mut held: Vec<TcpStream> = (0..FIT)
        .map(|_| half_sent(connect(rig.address), &head, 60_000))
        .collect();
    thread::sleep(Duration::from_millis(100));
    let full = raw(rig.address, &[head.as_bytes(), &[b'x'; 60_000]].concat());
    assert!(
        began.elapsed() < GRACE,
        "the machine is too slow for this test"
    );
    assert_eq!(full.must("connection"), "close");
    assert!(full.header("retry-after").is_some());
    full.refused(503, "overloaded");
    assert!(held.iter_mut().all(is_open));
    // An ordinary purchase needs no room.
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
    thread::sleep(GRACE);
    let whole = raw(rig.address, &[head.as_bytes(), &[b'x'; 65_000]].concat());
    assert_eq!(whole.status, 402, "{whole:?}");
    let open = held
        .iter_mut()
        .filter_map(|stream| is_open(stream).then_some(()));
    assert_eq!(
        open.count(),
        FIT - 1,
        "one makes room, and no more than one"
    );
    let closed = held.iter_mut().position(|stream| !is_open(stream));
    assert!(closed.is_some());
    for stream in &mut held {
        if !is_open(stream) {
            let rest = read_all(stream);
            assert!(String::from_utf8_lossy(&rest).contains(" 408 "), "{rest:?}");
        }
    }
}

/// Without a secret, or without a header that can be a signature of now, nobody's body is waited for.
#[test]
fn an_event_that_cannot_be_the_provider_s_is_refused_at_its_head() {
    let patient = |resolved: &mut context402::config::Resolved| {
        resolved.set("limits.body_seconds_max", "30");
    };
    let ask = |address: SocketAddr, signature: &str| {
        let head = format!(
            "POST {WEBHOOK} HTTP/1.1\r\nHost: x\r\nContent-Length: 250000\r\n{signature}\r\n"
        );
        let began = Instant::now();
        let mut stream = half_sent(connect(address), &head, 9);
        let answer = Answer::parse(&read_all(&mut stream));
        assert!(
            began.elapsed() < Duration::from_secs(10),
            "it waited for the body"
        );
        assert_eq!(answer.must("connection"), "close");
        answer
    };
    let rig = Rig::with(patient);
    let good = |rig: &Rig| stamp::sign(SECRET, rig.now().0, b"another body");
    let header = |value: String| format!("Stripe-Signature: {value}\r\n");
    let without_secret = ask(rig.address, &header(good(&rig)));
    without_secret.refused(503, "webhook_not_taken");
    let (rig, _) = shop_with(patient);
    let (good, now) = (good(&rig), rig.now().0);
    for signature in [
        String::new(),
        header("nonsense".to_owned()),
        header(good.replace("v1=", "v0=")),
        header(stamp::sign(SECRET, now - 301, b"")),
        header(stamp::sign(SECRET, now + 301, b"")),
        header(good.clone()).repeat(2),
    ] {
        let refused = ask(rig.address, &signature);
        refused.refused(400, "invalid_signature");
    }
    // One that can be a signature is worth waiting for.
    let head = format!(
        "POST {WEBHOOK} HTTP/1.1\r\nHost: x\r\nContent-Length: 250000\r\n{}\r\n",
        header(good)
    );
    let mut waited_for = half_sent(connect(rig.address), &head, 9);
    thread::sleep(Duration::from_millis(300));
    assert!(is_open(&mut waited_for));
}

/// Whoever writes a header that can be a signature may take the few places for large bodies, for a second.
#[test]
fn a_few_bodies_at_once_may_be_large() {
    const PLACES: usize = 4;
    let (rig, _) = shop_with(|resolved| resolved.set("limits.body_seconds_max", "30"));
    let forged = stamp::sign("whsec_that_is_not_the_secret", rig.now().0, b"");
    let head = format!(
        "POST {WEBHOOK} HTTP/1.1\r\nHost: x\r\nStripe-Signature: {forged}\r\nContent-Length: 250000\r\n\r\n"
    );
    let began = Instant::now();
    let mut held: Vec<TcpStream> = (0..PLACES)
        .map(|_| half_sent(connect(rig.address), &head, 100_000))
        .collect();
    thread::sleep(Duration::from_millis(100));
    let large = Event::paid("lead_1").with("metadata", "x".repeat(200_000));
    let full = large.at(&rig).send();
    assert!(
        began.elapsed() < GRACE,
        "the machine is too slow for this test"
    );
    full.refused(503, "overloaded").must("retry-after");
    // An event of the usual size needs none of them.
    let mut usual = Event::paid("lead_1");
    usual.0["type"] = "charge.refunded".into();
    usual.at(&rig).send().expect(200);
    thread::sleep(GRACE);
    large.at(&rig).send().expect(200);
    let open = held
        .iter_mut()
        .filter_map(|stream| is_open(stream).then_some(()));
    assert_eq!(open.count(), PLACES - 1);
}

/// Three clients that may have 15 connections each take all of 40 with heads that never end.
#[test]
fn unfinished_heads_make_room_for_the_next_client() {
    let rig = Rig::with(|resolved| {
        resolved.set("limits.connections_max", "40");
        resolved.set("limits.connections_of_client_max", "15");
        resolved.set("limits.header_seconds_max", "60");
    });
    let mut held = Vec::new();
    for client in [2, 3, 4] {
        for _ in 0..15 {
            let stream = connect_from(client, rig.address);
            held.push(half_sent(
                stream,
                "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: a",
                0,
            ));
        }
    }
    // A kept connection that was used counts from its last answer.
    let began = Instant::now();
    let mut kept = connect_from(5, rig.address);
    for _ in 0..3 {
        let mut answer = [0; 12];
        kept.write_all(b"GET /health?live=1 HTTP/1.1\r\nHost: x\r\n\r\n")
            .expect("sent");
        kept.read_exact(&mut answer).expect("an answer");
        assert_eq!(&answer, b"HTTP/1.1 200");
        thread::sleep(Duration::from_millis(50));
        let _ = kept.read(&mut [0; 4096]).expect("the rest");
    }
    for _ in 0..10 {
        assert_eq!(is_served(connect_from(6, rig.address)), 200);
    }
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
    assert!(is_open(&mut kept), "it has not waited longest");
    // The oldest heads have made room: 5 by those that came after them, and the rest by those that were served.
    let open: Vec<usize> = (0..held.len())
        .filter(|number| is_open(&mut held[*number]))
        .collect();
    assert!(open.len() < held.len(), "nobody was closed");
    assert_eq!(open.last(), Some(&(held.len() - 1)), "{open:?}");
    assert!(!open.contains(&0), "{open:?}");
}

/// A purchase that is worked on, an answer that is being read and a body that is being sent go on, whoever comes.
#[test]
fn a_request_in_progress_is_never_closed_for_another() {
    let rig = Rig::with(|resolved| {
        resolved.set("limits.connections_max", "4");
        resolved.set("limits.header_seconds_max", "60");
        resolved.set("limits.body_seconds_max", "60");
        resolved.set("limits.write_stall_seconds_max", "60");
        resolved.set("fetch.seconds_max", "20");
        resolved.set("fetch.idle_seconds_max", "20");
    });
    let page = Page::html("The slow page", "It takes its time to come.");
    rig.site.put("/slow", page.slow(Duration::from_secs(3)));
    let payment = Wallet::new().sign(&rig, "fresh");
    let order = rig
        .order("http://news.sample-site.org/slow", "fresh")
        .paid(&payment.header);
    let mut bought = connect(rig.address);
    bought.write_all(&order.bytes()).expect("sent");
    let bytes = rig.order(ARTICLE, "fresh").bytes();
    let mut sending = connect(rig.address);
    sending.write_all(&bytes[..bytes.len() - 1]).expect("sent");
    until("the page is being fetched", || rig.site.hits("/slow") == 1);
    for _ in 0..20 {
        // Each takes a place, and the one before it makes room.
        half_sent(connect(rig.address), "GET / HTTP/1.1\r\n", 0);
        assert_eq!(is_served(connect_from(2, rig.address)), 200);
    }
    sending.write_all(&bytes[bytes.len() - 1..]).expect("sent");
    assert_eq!(Answer::parse(&read_all(&mut sending)).status, 402);
    assert_eq!(Answer::parse(&read_all(&mut bought)).status, 200);
    assert_eq!(rig.facilitator.settlements(), 1);
}

/// A proxy's connections are many clients'; each of these has as many requests in progress as it might have connections.
#[test]
fn one_client_behind_a_proxy_has_so_many_requests_in_progress() {
    let rig = Rig::with(|resolved| {
        resolved.set("limits.connections_of_client_max", "2");
        resolved.set("limits.body_seconds_max", "30");
        resolved.set_list("trusted_proxies", vec!["127.0.0.1".to_owned()]);
    });
    let half = |client: &str| {
        let head = format!(
            "POST {ACCESS} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: {client}\r\nContent-Length: 99\r\n\r\n"
        );
        half_sent(connect(rig.address), &head, 9)
    };
    let ask = |client: &str| {
        let ask = rig.ask("GET", "/health?live=1");
        ask.header("X-Forwarded-For", client).send()
    };
    let mut held = vec![half("203.0.113.9"), half("203.0.113.9")];
    thread::sleep(Duration::from_millis(100));
    let full = ask("203.0.113.9");
    assert!(full.header("retry-after").is_some());
    full.refused(429, "rate_limited");
    ask("203.0.113.10").expect(200);
    // The proxy's own look at us is nobody's.
    rig.get("/health?live=1").expect(200);
    held.pop();
    until("its request has ended", || ask("203.0.113.9").status == 200);
    let _ = rig.buy(&Wallet::new(), FERRY, "fresh").expect(200);
}
