//! Very many connections at once, and clients that send or read as slowly as they may.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use context402::x402::payer::ReceivedChallenge;
use serde_json::json;

use crate::harness::ask::{Answer, Ask, connect, read_all};
use crate::harness::{ACCESS, Page, Rig, Service, Wallet, report_order, until};
use crate::hostile::{MEMORY_MIB_MAX, as_shipped, number, tell};

/// For the beginning of an answer that is made while many others are.
const PATIENCE: Duration = Duration::from_secs(60);
const LIVE: &[u8] = b"GET /health?live=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

/// A connection from another address of loopback.
pub(super) fn connect_from(last: u8, address: SocketAddr) -> TcpStream {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None);
    let socket = socket.expect("a socket");
    let from: SocketAddr = (Ipv4Addr::new(127, 0, 0, last), 0).into();
    socket.bind(&from.into()).expect("all of 127/8 is ours");
    socket
        .connect(&address.into())
        .expect("the service accepts");
    let stream: TcpStream = socket.into();
    stream
        .set_read_timeout(Some(Duration::from_secs(5)))
        .expect("a socket takes a timeout");
    stream
}

pub(super) fn is_served(mut stream: TcpStream) -> u16 {
    stream.write_all(LIVE).expect("sent");
    Answer::parse(&read_all(&mut stream)).status
}

/// One client cannot take every place.
#[test]
fn a_client_with_too_many_connections_is_told_and_others_are_served() {
    let rig = Rig::with(|resolved| {
        resolved.set("limits.connections_of_client_max", "5");
        resolved.set("limits.header_seconds_max", "30");
    });
    let mut held: Vec<TcpStream> = (0..5).map(|_| connect(rig.address)).collect();
    // Accepted one after the other, so that the five before it are counted.
    let refused = Answer::parse(&read_all(&mut connect(rig.address))).expect(429);
    assert_eq!(refused.must("connection"), "close");
    assert_eq!(refused.must("retry-after"), "1");
    assert_eq!(
        refused.must("content-length"),
        refused.body.len().to_string()
    );
    assert_eq!(is_served(connect_from(2, rig.address)), 200);
    // Those that it has still work, and one that ends makes room.
    assert_eq!(is_served(held.remove(0)), 200);
    until("the place is free", || {
        let mut stream = connect(rig.address);
        stream.write_all(LIVE).is_ok() && Answer::parse(&read_all(&mut stream)).status == 200
    });
    drop(held);
}

/// Connections of a trusted proxy are many clients'.
#[test]
fn a_trusted_proxy_has_as_many_connections_as_it_needs() {
    let rig = Rig::with(|resolved| {
        resolved.set("limits.connections_of_client_max", "2");
        resolved.set_list("trusted_proxies", vec!["127.0.0.1".to_owned()]);
    });
    let _held: Vec<TcpStream> = (0..10).map(|_| connect(rig.address)).collect();
    assert_eq!(is_served(connect(rig.address)), 200);
}

/// Three hundred idle connections and as many half heads and half bodies: whoever asks something is served meanwhile,
/// and all of them are gone after their time.
#[test]
fn a_flood_of_waiting_connections_keeps_nobody_out() {
    let mut rig = Rig::today_with(|resolved| {
        resolved.set("limits.header_seconds_max", "1.5");
        resolved.set("limits.body_seconds_max", "1.5");
        resolved.set("limits.connections_of_client_max", "1000");
    });
    rig.in_process(&[], |_, service| {
        service.get("/health?live=1").send().expect(200);
        let before = service.descriptors();
        let body = format!("POST {ACCESS} HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\nx");
        let starts = ["", "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: a", &body];
        let mut held: Vec<TcpStream> = Vec::new();
        for start in starts.iter().cycle().take(900) {
            let mut stream = connect(service.address);
            stream.write_all(start.as_bytes()).expect("sent");
            held.push(stream);
        }
        for _ in 0..20 {
            service.get("/health?live=1").send().expect(200);
        }
        until("all are closed", || service.descriptors() <= before + 2);
        for mut stream in held {
            let end = read_all(&mut stream);
            assert!(end.is_empty() || Answer::parse(&end).status == 408);
        }
    });
}

/// What a client may send and leave half done takes little more memory than it has sent.
#[test]
fn half_requests_take_no_more_memory_than_they_are_long() {
    const CLIENTS: u64 = 150;
    let mut rig = Rig::today();
    let chunked =
        format!("POST {ACCESS} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    let whole = format!("POST {ACCESS} HTTP/1.1\r\nHost: x\r\nContent-Length: 65536\r\n\r\n");
    let pipeline = "GET /docs HTTP/1.1\r\nHost: x\r\n\r\n".repeat(400);
    for (what, start, rest, kib_max) in [
        (
            "a head",
            "GET / HTTP/1.1\r\nHost: x\r\nX-A: ",
            "a".repeat(65_000),
            80,
        ),
        ("a body", &*whole, "x".repeat(65_535), 180),
        (
            "a body of single bytes",
            &chunked,
            "1\r\nx\r\n".repeat(65_000),
            240,
        ),
        ("requests whose answers nobody reads", "", pipeline, 120),
    ] {
        rig.in_process(&[], |_, service| {
            service.get("/docs").send().expect(200);
            let before = service.memory_mib();
            let message = [start, &rest].concat();
            let held: Vec<TcpStream> = thread::scope(|scope| {
                let send = |_| scope.spawn(|| send_all(service.address, message.as_bytes()));
                let sending: Vec<_> = (0..CLIENTS).map(send).collect();
                let sent = sending.into_iter().map(|thread| thread.join());
                sent.map(|stream| stream.expect("no panic")).collect()
            });
            let used = service.memory_mib_most().saturating_sub(before);
            let most = CLIENTS * kib_max / 1024;
            assert!(
                used <= most,
                "{what}: {used} MiB for {CLIENTS} clients, {most} at most"
            );
            drop(held);
        });
    }
}

/// Sends as much of it as the service takes.
fn send_all(address: SocketAddr, bytes: &[u8]) -> TcpStream {
    let mut stream = connect(address);
    stream
        .set_write_timeout(Some(Duration::from_secs(1)))
        .expect("a socket takes a timeout");
    let _ = stream.write_all(bytes);
    stream
}

/// A page of a few megabytes in text, paid for.
fn large(rig: &Rig) -> (Ask, usize) {
    let text = "Words that fill the page, line after line.\n".repeat(110_000);
    rig.site.put("/large", Page::of("text/plain", text));
    let payment = Wallet::new().sign(rig, "fresh");
    let ask = rig
        .order("http://news.sample-site.org/large", "fresh")
        .paid(&payment.header);
    let length = ask.send().expect(200).body.len();
    (ask, length)
}

/// Asks on a connection whose kernel takes little of the answer before it is read.
fn ask_with_small_window(ask: &Ask) -> TcpStream {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None);
    let socket = socket.expect("a socket");
    socket
        .set_recv_buffer_size(16 * 1024)
        .expect("a small buffer");
    socket
        .connect(&ask.address().into())
        .expect("the service accepts");
    let mut stream: TcpStream = socket.into();
    stream
        .set_read_timeout(Some(PATIENCE))
        .expect("a socket takes a timeout");
    stream.write_all(&ask.bytes()).expect("sent");
    stream
}

/// Reads so much at a time, with so long a pause, for so long, then without pauses; gives how much came.
fn read_slowly(ask: &Ask, bytes: usize, pause: Duration, time: Duration) -> usize {
    let mut stream = ask_with_small_window(ask);
    let (mut got, mut buffer, start) = (0, vec![0; bytes], Instant::now());
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return got,
            Ok(count) => got += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return got,
        }
        if start.elapsed() < time {
            thread::sleep(pause);
        } else {
            buffer.resize(64 * 1024, 0);
        }
    }
}

fn patient(seconds: &str) -> Rig {
    Rig::with(|resolved| {
        resolved.set("limits.write_stall_seconds_max", seconds);
        resolved.set("fetch.seconds_max", "10");
        resolved.set("fetch.idle_seconds_max", "5");
    })
}

/// A reader who takes a little now and then is dropped as one who takes nothing: it would hold the answer for hours.
#[test]
fn whoever_reads_next_to_nothing_is_dropped() {
    let rig = patient("0.3");
    let (ask, whole) = large(&rig);
    let time = Duration::from_secs(3);
    let got = read_slowly(&ask, 60, Duration::from_millis(50), time);
    assert!(
        got < whole,
        "after {time:?} at 1,200 bytes a second the reader still gets all {whole}"
    );
    rig.get("/health?live=1").expect(200);
}

/// A slow line is none of that.
#[test]
fn whoever_reads_slowly_gets_all_of_it() {
    let rig = patient("1");
    let (ask, whole) = large(&rig);
    let got = read_slowly(&ask, 64 * 1024, Duration::from_millis(2), PATIENCE);
    assert!(
        got > whole,
        "{got} bytes of an answer whose body alone has {whole}"
    );
}

/// A redelivery that finds no room is none: whoever is told to ask again can ask as often as
/// before.
#[test]
fn an_answer_that_finds_no_room_does_not_count() {
    const PAGES: usize = 16;
    const REDELIVERIES: usize = 5;
    let rig = Rig::with(|resolved| resolved.set("fetch.seconds_max", "10"));
    let text = "Words that fill the page, line after line.\n".repeat(110_000);
    let buy = |number: usize| {
        let path = format!("/large{number}");
        let page = Page::of("text/plain", format!("{number}\n{text}"));
        rig.site.put(&path, page);
        let payment = Wallet::new().sign(&rig, "fresh");
        let target = format!("http://news.sample-site.org{path}");
        let ask = rig.order(&target, "fresh").paid(&payment.header);
        ask.send().expect(200);
        ask
    };
    let bought: Vec<Ask> = (0..PAGES).map(buy).collect();
    let mut given = [0; PAGES];
    let mut refused = Vec::new();
    // All at once, and nobody reads: more than there is room for, and more than may wait for room.
    for _ in 0..REDELIVERIES {
        let mut held: Vec<TcpStream> = bought.iter().map(ask_with_small_window).collect();
        for (number, stream) in held.iter_mut().enumerate() {
            let mut head = [0; 12];
            stream.read_exact(&mut head).expect("an answer begins");
            match &head {
                b"HTTP/1.1 200" => given[number] += 1,
                b"HTTP/1.1 503" => {
                    let told = String::from_utf8_lossy(&read_all(stream)).into_owned();
                    assert!(told.contains("\"charged\":true"), "{told}");
                    assert!(told.contains("with the same payment"), "{told}");
                    refused.push(number);
                }
                _ => panic!("{}", String::from_utf8_lossy(&head)),
            }
        }
        if !refused.is_empty() {
            break;
        }
    }
    let number = *refused.first().expect("somebody finds no room");
    for _ in given[number]..REDELIVERIES {
        bought[number].send().expect(200);
    }
    bought[number]
        .send()
        .refused_charged(400, "payment_replayed");
}

/// Whoever asks for the largest answers and does not read them has a bounded part of memory, however many they are; the
/// slowest leave it to those who read.
#[test]
fn unread_answers_have_a_bounded_part_of_memory() {
    const PAGES: usize = 12;
    const REDELIVERIES: usize = 5;
    const USED_MIB_MAX: u64 = 120;
    let mut rig = Rig::today_with(|resolved| resolved.set("fetch.seconds_max", "10"));
    let text = "Words that fill the page, line after line.\n".repeat(110_000);
    rig.in_process(&[], |rig, service| {
        let buy = |number: usize| {
            let path = format!("/large{number}");
            let page = Page::of("text/plain", format!("{number}\n{text}"));
            rig.site.put(&path, page);
            let payment = Wallet::new().sign_at(service.address, "fresh", rig.now(), None);
            let target = format!("http://news.sample-site.org{path}");
            let ask = service.order(&target, "fresh").paid(&payment.header);
            (ask.send().expect(200).body.len(), ask)
        };
        let bought: Vec<(usize, Ask)> = (0..PAGES).map(buy).collect();
        let unread = bought.iter().map(|(length, _)| length).sum::<usize>() * REDELIVERIES;
        assert!(unread > 2 * (120 << 20), "{unread} bytes are no trial");
        let before = service.memory_mib();
        let asks = bought.iter().flat_map(|(_, ask)| [ask; REDELIVERIES]);
        let held: Vec<TcpStream> = asks.map(ask_with_small_window).collect();
        // Until those who wait for room have been told; then whoever reads is served, and the slowest make room.
        thread::sleep(Duration::from_secs(2));
        buy(PAGES);
        let used = service.memory_mib_most().saturating_sub(before);
        assert!(
            used <= USED_MIB_MAX,
            "{used} MiB for answers that nobody reads"
        );
        drop(held);
    });
}

/// A report on a large page is looked at for nothing, by as many as like.
#[test]
fn a_crowd_of_readers_of_a_large_report_has_a_bounded_part_of_memory() {
    const READERS: usize = 48;
    let mut rig = with_large_pages(1);
    rig.in_process(&[], |rig, service| {
        let idle = service.memory_mib();
        let sold = answers_to(&[report_on_large_page(rig, &service, 0)]).remove(0);
        let report = sold.expect(200).json()["report_id"].clone();
        let report = report.as_str().expect("an identifier");
        let verify = service.get(&format!("/v1/proof-pack/reports/{report}/verify"));
        within_memory(&service, idle, &vec![verify; READERS]);
    });
}

/// Whoever buys the largest pages has a bounded part of memory, however many they are: while the pages are read,
/// examined, settled and given out, over HTTP and over MCP.
#[test]
fn a_crowd_of_buyers_of_large_pages_has_a_bounded_part_of_memory() {
    let buyers = number("CONTEXT402_BUYERS", 24);
    let mut rig = with_large_pages(buyers);
    rig.in_process(&[], |rig, service| {
        let idle = service.memory_mib();
        let ask = |number| match number % 3 {
            0 => {
                let payment = Wallet::new().sign_at(service.address, "fresh", rig.now(), None);
                let ask = service.order(&large_page(number), "fresh");
                ask.paid(&payment.header)
            }
            1 => tool_on_large_page(rig, &service, number),
            _ => report_on_large_page(rig, &service, number),
        };
        let asks: Vec<Ask> = (0..buyers).map(ask).collect();
        within_memory(&service, idle, &asks);
    });
}

/// Those who buy three pages in one answer do not wait for each other for ever, and what no answer has room for is refused.
#[test]
fn a_crowd_of_buyers_of_several_large_pages_has_a_bounded_part_of_memory() {
    let buyers = number("CONTEXT402_BUYERS", 24) / 2;
    let mut rig = with_pages_of(1_000_000, 3 * buyers);
    rig.in_process(&[], |rig, service| {
        let idle = service.memory_mib();
        let ask = |number: usize| {
            let pages: Vec<String> = (0..3).map(|page| large_page(3 * number + page)).collect();
            let body = json!({"target_urls": pages, "tier": "fresh"});
            let ask = service.post(ACCESS).json(&body);
            let challenge = ask.send().expect(402);
            let payment = Wallet::new().sign_answer(&challenge, rig.now(), None);
            ask.paid(&payment.header)
        };
        let asks: Vec<Ask> = (0..buyers).map(ask).collect();
        let answers = answers_to(&asks);
        let served = answers.iter().filter(|answer| answer.status == 200).count();
        // A page of backslashes is four times as long in JSON: with one of those there is no room for the others.
        for (ask, answer) in asks.iter().zip(&answers) {
            if answer.status == 200 {
                continue;
            }
            let told = String::from_utf8_lossy(&answer.body);
            let is_explained = match answer.status {
                503 => told.contains("overloaded") || told.contains("upstream_unavailable"),
                _ => told.contains("content_too_large"),
            };
            assert!(is_explained, "{answer:?}");
            // What had no room after it was settled is owed, and given out once there is room.
            if told.contains("\"charged\":true") {
                assert!(told.contains("with the same payment"), "{told}");
                let settled = rig.facilitator.settle_calls();
                for again in answers_to(std::slice::from_ref(ask)) {
                    assert_eq!(again.status, 200, "{answer:?}, then {again:?}");
                }
                assert_eq!(rig.facilitator.settle_calls(), settled);
            }
        }
        comes_again(&asks);
        let used = service.memory_mib_most().saturating_sub(idle);
        tell(&format!(
            "{used} MiB for {buyers} at once, {served} of them served"
        ));
        assert!(used <= MEMORY_MIB_MAX, "{used} MiB");
    });
}

/// Of ten large pages in one purchase only parts are sold. The pages themselves are let go where they do not fit.
#[test]
fn parts_of_many_large_pages_have_a_bounded_part_of_memory() {
    const PAGES: usize = 10;
    let buyers = number("CONTEXT402_BUYERS", 24) / 12;
    let mut rig = with_pages_of(number("CONTEXT402_BOMB_BYTES", 400_000), PAGES);
    rig.in_process(&[], |rig, service| {
        let idle = service.memory_mib();
        let pages: Vec<String> = (0..PAGES).map(large_page).collect();
        let ask = |_| {
            let body =
                json!({"target_urls": pages, "tier": "fresh", "max_tokens": 100, "min_pages": 1});
            let ask = service.post(ACCESS).json(&body);
            let challenge = ask.send().expect(402);
            let payment = Wallet::new().sign_answer(&challenge, rig.now(), None);
            ask.paid(&payment.header)
        };
        let asks: Vec<Ask> = (0..buyers).map(ask).collect();
        within_memory(&service, idle, &asks);
    });
}

/// With pages of 5 MB; every fourth is twice as long in markdown, and four times in JSON.
fn with_large_pages(count: usize) -> Rig {
    with_pages_of(5_000_000, count)
}

fn with_pages_of(bytes: usize, count: usize) -> Rig {
    let rig = Rig::today_with(|resolved| {
        resolved.set("fetch.seconds_max", "30");
        resolved.set("fetch.idle_seconds_max", "30");
        as_shipped(resolved);
    });
    let words = "Words that fill the page, line after line.\n".repeat(bytes / 45);
    let backslashes = "\\".repeat(bytes);
    for number in 0..count {
        let text = match number % 4 {
            3 => &backslashes,
            _ => &words,
        };
        let page = Page::of("text/plain", format!("{number}\n{text}"));
        rig.site.put(&format!("/large{number}"), page);
    }
    rig
}

fn large_page(number: usize) -> String {
    let hosts = [
        "news.sample-site.org",
        "www.second-site.org",
        "www.third-site.org",
    ];
    format!("http://{}/large{number}", hosts[number % 3])
}

fn tool_on_large_page(rig: &Rig, service: &Service, number: usize) -> Ask {
    let payment = Wallet::new().sign_at(service.address, "fresh", rig.now(), None);
    let params = json!({
        "name": "web_to_markdown",
        "arguments": {"target_url": large_page(number), "tier": "fresh"},
        "_meta": {"x402/payment": payment.payload},
    });
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    service.post("/mcp").json(&message)
}

fn report_on_large_page(rig: &Rig, service: &Service, number: usize) -> Ask {
    let order = report_order(&large_page(number), "quick", "Do words fill the page?");
    let ask = service.post("/v1/x402/proof-pack").json(&order);
    let challenge = ask.send().expect(402);
    let challenge = ReceivedChallenge::decode(challenge.must("payment-required"));
    let challenge = challenge.expect("a challenge that can be read");
    let payment = Wallet::new().sign_challenge(&challenge, rig.now(), None);
    ask.paid(&payment.header)
}

/// All at once: some are served, and the others told to come again.
fn within_memory(service: &Service, idle: u64, asks: &[Ask]) {
    let answers = answers_to(asks);
    let served = answers.iter().filter(|answer| answer.status == 200).count();
    comes_again(asks);
    for answer in &answers {
        assert!(matches!(answer.status, 200 | 503), "{answer:?}");
    }
    let (most, all) = (service.memory_mib_most(), answers.len());
    tell(&format!(
        "{most} MiB for {all} at once, {served} of them served"
    ));
    let used = most.saturating_sub(idle);
    assert!(used <= MEMORY_MIB_MAX, "{used} MiB for {all} at once");
}

/// A client that was turned away in the crowd is served later. The first of each crowd asks for a page without backslashes.
fn comes_again(asks: &[Ask]) {
    for answer in answers_to(&asks[..1]) {
        assert_eq!(answer.status, 200, "{answer:?}");
    }
}

fn answers_to(asks: &[Ask]) -> Vec<Answer> {
    let answer = |ask: &Ask| {
        let mut stream = connect(ask.address());
        stream
            .set_read_timeout(Some(PATIENCE))
            .expect("a socket takes a timeout");
        stream.write_all(&ask.bytes()).expect("sent");
        Answer::parse(&read_all(&mut stream))
    };
    thread::scope(|scope| {
        let asking: Vec<_> = asks
            .iter()
            .map(|ask| scope.spawn(move || answer(ask)))
            .collect();
        let answered = asking.into_iter().map(|thread| thread.join());
        answered.map(|answer| answer.expect("no panic")).collect()
    })
}
