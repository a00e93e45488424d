//! The shell around every endpoint: what HTTP itself may do to a service, and what every answer carries.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use context402::domain::level::Product;

use crate::harness::ask::{Answer, connect, raw, raw_bytes, read_all};
use crate::harness::{ACCESS, ARTICLE, BASE_URL, RETRY, Rig, Wallet, order};

#[test]
fn a_body_over_64_kib_is_too_large_however_it_is_sent() {
    let rig = Rig::start();
    let at_limit = rig.post(ACCESS).body(vec![b'x'; 65_536]);
    at_limit.send().expect(402);
    let over = rig.post(ACCESS).body(vec![b'x'; 65_537]);
    let refused = over.send().refused(413, "body_too_large").json();
    assert_eq!(refused["detail"], "The request body is larger than 64 KiB.");
    // Announced and never sent: refused at once.
    let announced =
        format!("POST {ACCESS} HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999\r\n\r\n");
    raw(rig.address, announced.as_bytes()).refused(413, "body_too_large");
    // Not announced: cut when it has become too much.
    let mut chunked =
        format!("POST {ACCESS} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
            .into_bytes();
    for _ in 0..9 {
        chunked.extend_from_slice(b"2000\r\n");
        chunked.extend_from_slice(&[b'x'; 0x2000]);
        chunked.extend_from_slice(b"\r\n");
    }
    raw(rig.address, &chunked).refused(413, "body_too_large");
}

/// A connection that is closed while its client still sends is reset by the kernel: the client learns that it could not
/// send, and looks no further, as proxies do, which then say 502. Here nothing is read before all is sent, which is the
/// worst that can be.
#[test]
fn who_is_refused_while_sending_gets_the_refusal_whole() {
    const LARGE: usize = 5 * 1024 * 1024;
    let rig = Rig::start();
    let length = format!("Content-Length: {LARGE}\r\n\r\n");
    let coding = format!("Transfer-Encoding: chunked\r\n\r\n{LARGE:x}\r\n");
    for (request, framing, status) in [
        (format!("POST {ACCESS}"), &length, 413),
        (format!("POST {ACCESS}"), &coding, 413),
        ("POST /nothing".to_owned(), &length, 404),
        ("POST /nothing".to_owned(), &coding, 404),
        ("PUT /health".to_owned(), &length, 405),
        ("GET /health?live=1".to_owned(), &length, 200),
    ] {
        let head = format!("{request} HTTP/1.1\r\nHost: x\r\n{framing}");
        let message = [head.as_bytes(), &[b'x'; LARGE]].concat();
        for _ in 0..10 {
            let answer = Answer::parse(&unbroken(&rig, &message)).expect(status);
            assert_eq!(answer.must("connection"), "close", "{request}");
            let whole = answer.body.len().to_string();
            assert_eq!(answer.must("content-length"), whole, "{request}");
        }
    }
    let endless = format!("GET / HTTP/1.1\r\nHost: x\r\nX-A: {}", "a".repeat(LARGE));
    for _ in 0..10 {
        Answer::parse(&unbroken(&rig, endless.as_bytes())).expect(431);
    }
}

/// Sends all of a message, then reads to the end, and nobody hangs up meanwhile.
fn unbroken(rig: &Rig, message: &[u8]) -> Vec<u8> {
    let mut stream = connect(rig.address);
    stream.write_all(message).expect("all of it is taken");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an orderly end");
    answer
}

/// Nobody is heard out for ever: not who sends without end, nor who sends next to nothing.
#[test]
fn who_does_not_stop_sending_is_cut_off() {
    let rig = Rig::with(|resolved| resolved.set("limits.header_seconds_max", "0.5"));
    for (what, piece, pieces_max, pause_ms) in [
        ("a flood", vec![b'x'; 64 * 1024], 1024, 0),
        ("a trickle", vec![b'x'], 1024, 20),
    ] {
        let mut stream = connect(rig.address);
        let head =
            format!("POST {ACCESS} HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999\r\n\r\n");
        stream.write_all(head.as_bytes()).expect("sent");
        let is_taken = |_: &i32| {
            std::thread::sleep(Duration::from_millis(pause_ms));
            stream.write_all(&piece).is_ok()
        };
        let taken = (0..pieces_max).take_while(is_taken).count();
        assert!(taken < 1024, "{what}: {taken} pieces");
    }
}

/// A small body that nobody has to read is skipped, so that a client who is refused need not connect again.
#[test]
fn a_small_body_that_is_not_read_does_not_end_the_connection() {
    let rig = Rig::start();
    let refused = "POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello";
    let last = "GET /health?live=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    let both = raw_bytes(rig.address, format!("{refused}{last}").as_bytes());
    let both = String::from_utf8_lossy(&both);
    assert!(
        both.starts_with("HTTP/1.1 404") && both.contains("HTTP/1.1 200"),
        "{both}"
    );
}

#[test]
fn a_chunked_body_is_a_body() {
    let rig = Rig::start();
    let payment = Wallet::new().sign(&rig, "fresh");
    let body = order(ARTICLE, "fresh").to_string();
    let (one, two) = body.split_at(20);
    let request = format!(
        "POST {ACCESS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nPAYMENT-SIGNATURE: {}\r\n\
         Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n{:x}\r\n{one}\r\n{:x}\r\n{two}\r\n0\r\n\r\n",
        payment.header,
        one.len(),
        two.len()
    );
    raw(rig.address, request.as_bytes()).expect(200);
}

#[test]
fn headers_over_16_kib_are_too_large() {
    let rig = Rig::start();
    let with = |bytes: usize| {
        rig.ask("GET", "/health")
            .header("X-Filler", "a".repeat(bytes))
            .send()
    };
    with(16_000).expect(200);
    with(17_000).refused(431, "headers_too_large");
    // Far beyond it the connection may end before anything is explained, but nothing is served.
    let request = format!(
        "GET /health HTTP/1.1\r\nHost: x\r\nX-Filler: {}\r\n\r\n",
        "a".repeat(1_000_000)
    );
    let bytes = raw_bytes(rig.address, request.as_bytes());
    assert!(
        bytes.is_empty() || Answer::parse(&bytes).status == 431,
        "{:?}",
        String::from_utf8_lossy(&bytes)
    );
    // A payment of that size too.
    let answer = rig.order(ARTICLE, "fresh").paid(&"A".repeat(20_000)).send();
    answer.refused(431, "headers_too_large");
    let answer = rig.order(ARTICLE, "fresh").paid(&"A".repeat(14_000)).send();
    answer.refused(400, "invalid_payment");
}

#[test]
fn an_address_over_8_kib_is_too_long() {
    let rig = Rig::start();
    let query = |bytes: usize| rig.get(&format!("/health?live=1&x={}", "a".repeat(bytes)));
    query(8_000).expect(200);
    query(8_300).refused(414, "uri_too_long");
    let path = rig.get(&format!("/{}", "a".repeat(9_000)));
    path.refused(414, "uri_too_long");
}

#[test]
fn a_wrong_method_is_told_the_right_ones() {
    let rig = Rig::start();
    for (method, path, allow) in [
        ("PUT", ACCESS, "GET, HEAD, POST, OPTIONS"),
        ("DELETE", ACCESS, "GET, HEAD, POST, OPTIONS"),
        ("PATCH", ACCESS, "GET, HEAD, POST, OPTIONS"),
        ("TRACE", ACCESS, "GET, HEAD, POST, OPTIONS"),
        ("BREW", ACCESS, "GET, HEAD, POST, OPTIONS"),
        ("GET", RETRY, "POST, OPTIONS"),
        ("HEAD", RETRY, "POST, OPTIONS"),
        ("POST", "/health", "GET, HEAD, OPTIONS"),
        ("POST", "/v1/x402/quote", "GET, HEAD, OPTIONS"),
        ("PUT", "/from/a/v1/x402/access", "GET, HEAD, POST, OPTIONS"),
        (
            "DELETE",
            "/v1/quotes/qt_00000000000000000000000000000000",
            "GET, HEAD, OPTIONS",
        ),
    ] {
        let answer = rig.ask(method, path).send();
        assert_eq!(answer.status, 405, "{method} {path}: {answer:?}");
        let mut told: Vec<&str> = answer.must("allow").split(", ").collect();
        let mut expected: Vec<&str> = allow.split(", ").collect();
        told.sort_unstable();
        expected.sort_unstable();
        assert_eq!(told, expected, "{method} {path}");
        if method != "HEAD" {
            assert_eq!(answer.code(), "method_not_allowed", "{method} {path}");
        }
    }
}

/// CONNECT is 405, OPTIONS explicit, also without an address.
#[test]
fn a_tunnel_is_refused_and_the_whole_service_names_its_methods() {
    let rig = Rig::start();
    let ask = |line: &str| {
        let head = format!("{line} HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n");
        raw(rig.address, head.as_bytes())
    };
    let tunnel = ask("CONNECT example.com:443").refused(405, "method_not_allowed");
    let methods = ask("OPTIONS *").expect(204);
    for answer in [tunnel, methods] {
        assert_eq!(answer.must("allow"), "GET, HEAD, POST, DELETE, OPTIONS");
    }
    ask("GET *").refused(404, "not_found");
}

/// There was no Host before HTTP/1.1, and some load balancers still ask so.
#[test]
fn only_http_1_0_may_do_without_a_host() {
    let rig = Rig::start();
    let ask = |head: &str| raw(rig.address, format!("{head}\r\n\r\n").as_bytes());
    ask("GET /health HTTP/1.0").expect(200);
    ask("POST /v1/x402/access HTTP/1.0").expect(402);
    ask("GET /health HTTP/1.0\r\nHost: a").expect(200);
    ask("GET /health HTTP/1.0\r\nHost: a\r\nHost: b").expect(400);
    ask("GET /health HTTP/1.1\r\nConnection: close").expect(400);
}

#[test]
fn an_unknown_address_is_404_for_programs_and_people() {
    let rig = Rig::start();
    for path in [
        "/nothing",
        "/v1",
        "/v1/x402",
        "/v1/x402/access/more",
        "/from/",
        "/assets/../Cargo.toml",
    ] {
        rig.get(path).refused(404, "not_found");
        rig.post(path).send().refused(404, "not_found");
    }
    let page = rig
        .ask("GET", "/nothing")
        .header("Accept", "text/html,*/*;q=0.8")
        .send()
        .expect(404);
    assert_eq!(page.must("content-type"), "text/html; charset=utf-8");
    assert!(page.header("content-security-policy").is_some());
    // What was asked for is not shown back.
    let hostile = "/%3Cscript%3Ealert(1)%3C/script%3E";
    let page = rig
        .ask("GET", hostile)
        .header("Accept", "text/html")
        .send()
        .expect(404);
    assert!(!page.text().contains("alert(1)"), "{page:?}");
}

/// The operator's rows answer on the operator's socket alone, and do not even say that they are there.
#[test]
fn the_operator_s_addresses_are_not_there_for_the_public() {
    let rig = Rig::start();
    for path in ["/operator/payments", "/operator/payments/00"] {
        rig.get(path).refused(404, "not_found");
        rig.ask("HEAD", path).send().expect(404);
        rig.operator(path);
    }
    rig.operator("/operator/payments").expect(200);
}

/// Nor do their methods tell that they are there.
#[test]
fn a_wrong_method_does_not_betray_the_operator_s_addresses() {
    let rig = Rig::start();
    for path in ["/operator/payments", "/operator/payments/00"] {
        rig.post(path).send().refused(404, "not_found");
        rig.ask("OPTIONS", path).send().expect(404);
    }
}

/// No other spelling of a paid path reaches its handler.
#[test]
fn path_tricks_never_reach_the_paid_operation() {
    let rig = Rig::start();
    let tricks = [
        "//v1/x402/access",
        "/v1//x402/access",
        "/v1/x402//access",
        "/v1/x402/access/",
        "/v1/x402/access//",
        "/v1/x402/access/.",
        "/v1/x402/./access",
        "/v1/x402/../x402/access",
        "/v1/x402/access/..",
        "/./v1/x402/access",
        "/v1%2Fx402%2Faccess",
        "/v1%2fx402/access",
        "/v1/x402/%61ccess",
        "/v1/x402/acces%73",
        "/v1/x402/access%00",
        "/v1/x402/access%20",
        "/v1/x402/access%2F",
        "/v1/x402/access%3F",
        "/v1/x402/access%23",
        "/%76%31/x402/access",
        "/v1/x402/access;",
        "/v1/x402/access;x=1",
        "/v1;a/x402/access",
        "/V1/x402/access",
        "/v1/X402/access",
        "/v1/x402/Access",
        "/v1/x402/ACCESS",
        "/v1/x402/access.json",
        "/v1/x402/access.",
        "/v1/x402/access..",
        "/v1/x402/access\\",
        "/v1\\x402\\access",
        "/v1/x402/access%0a",
        "/v1/x402/access%0d%0a",
        "/v1/x402/access%09",
        "/v1/x402/access%c0%af",
        "/v1/x402/%252e%252e/access",
        "/v1/x402/%2e/access",
        "/v1/x402/%2e%2e/x402/access",
        "/from//v1/x402/access",
        "/from/a//v1/x402/access",
        "/from/a/b/v1/x402/access",
        "/from/v1/x402/access",
        "/from/a/v1/x402/access/",
        "/From/a/v1/x402/access",
        "/from/a/v1/x402/%61ccess",
        "/from/a/from/b/v1/x402/access",
        "/v1/x402/access&tier=fresh",
        "/v1/x402/access=",
        "/v1/x402/access,",
        "/v1/x402/access~",
        "/v1/x402/access*",
        "/x/../v1/x402/access",
        "/v1/x402/accesss",
        "/v1/x402/acces",
        "/v1/x402/access%",
        "/v1/x402/access%zz",
        "/v1/x402/retry/",
        "/v1/x402/%72etry",
        "/index.php/v1/x402/access",
        "/v1/x402/access/index.html",
    ];
    let payment = Wallet::new().sign(&rig, "fresh");
    for path in tricks {
        for method in ["POST", "GET"] {
            let ask = rig
                .ask(method, path)
                .json(&order(ARTICLE, "fresh"))
                .paid(&payment.header);
            let answer = ask.send();
            assert!(
                matches!(answer.status, 400 | 404),
                "{method} {path}: {answer:?}"
            );
            assert_eq!(answer.header("payment-required"), None, "{method} {path}");
        }
    }
    for bytes in [
        &b"POST /v1/x402/access\x00 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"[..],
        b"POST /v1/x402/access\n/x HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
        b"POST /v1/x402/acc\xc3\xa9ss HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        b"POST v1/x402/access HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    ] {
        let answer = raw(rig.address, bytes);
        assert!(matches!(answer.status, 400 | 404), "{answer:?}");
    }
    assert_eq!(rig.facilitator.verify_calls(), 0);
}

/// A proxy's form of the address names the same path; the host in it changes nothing.
#[test]
fn an_absolute_address_is_read_by_its_path() {
    let rig = Rig::start();
    let answer = rig
        .post("http://evil.example/v1/x402/access")
        .send()
        .expect(402);
    assert_eq!(
        answer.challenge()["resource"]["url"],
        format!("{BASE_URL}{ACCESS}")
    );
}

#[test]
fn a_browser_s_script_may_ask_and_read() {
    let rig = Rig::start();
    let answer = rig
        .ask("OPTIONS", ACCESS)
        .header("Origin", "https://app.example")
        .header("Access-Control-Request-Method", "POST")
        .header(
            "Access-Control-Request-Headers",
            "content-type, payment-signature",
        )
        .send()
        .expect(204);
    assert_eq!(answer.must("access-control-allow-origin"), "*");
    for name in ["allow", "access-control-allow-methods"] {
        for method in ["GET", "HEAD", "POST", "OPTIONS"] {
            assert!(
                answer.must(name).contains(method),
                "{name}: {}",
                answer.must(name)
            );
        }
    }
    let allowed = answer
        .must("access-control-allow-headers")
        .to_ascii_lowercase();
    let levels = Product::ALL.map(|product| product.level_header().to_ascii_lowercase());
    for name in levels.each_ref() {
        assert!(allowed.contains(name), "{name} is not in {allowed}");
    }
    for name in [
        "content-type",
        "payment-signature",
        "x-service-source",
        "x-service-retry-credit",
        "x-service-payment-hash",
        "payment-required",
        "payment-response",
        "access-control-expose-headers",
    ] {
        assert!(allowed.contains(name), "{name} is not in {allowed}");
    }
    rig.ask("OPTIONS", "/nothing").send().expect(404);
}

/// Some clients send them as request headers.
#[test]
fn the_exposed_names_may_be_sent_as_well() {
    let rig = Rig::start();
    let answer = rig.ask("OPTIONS", ACCESS).send().expect(204);
    let allowed = answer
        .must("access-control-allow-headers")
        .to_ascii_lowercase();
    let exposed = answer.must("access-control-expose-headers");
    for product in Product::ALL {
        let name = product.paid_header();
        assert!(
            exposed.to_ascii_lowercase().contains(name),
            "{name}: {exposed}"
        );
    }
    for name in exposed.split(", ") {
        assert!(
            allowed.contains(&name.to_ascii_lowercase()),
            "{name} is not in {allowed}"
        );
    }
}

/// Whatever the answer is, a browser may read it, and it can be named in a complaint.
#[test]
fn every_answer_can_be_read_by_scripts_and_named() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    let huge = "a".repeat(17_000);
    let answers = [
        rig.get("/health").expect(200),
        rig.get("/").expect(200),
        rig.get("/docs").expect(200),
        rig.buy(&wallet, ARTICLE, "fresh").expect(200),
        rig.ask("OPTIONS", ACCESS).send().expect(204),
        rig.order(ARTICLE, "fresh").paid("%%%").send().expect(400),
        rig.post(ACCESS).send().expect(402),
        rig.post(RETRY).send().expect(402),
        rig.get("/nothing").expect(404),
        rig.ask("PUT", ACCESS).send().expect(405),
        rig.post(ACCESS).body(vec![b'x'; 70_000]).send().expect(413),
        rig.get(&format!("/{huge}")).expect(414),
        rig.post(ACCESS)
            .body("x")
            .header("Content-Type", "text/html")
            .paid(&wallet.sign(&rig, "fresh").header)
            .send()
            .expect(415),
        rig.post(&format!("{ACCESS}?tier=golden"))
            .send()
            .expect(400),
        rig.ask("GET", "/health")
            .header("X-Filler", huge)
            .send()
            .expect(431),
        rig.ask("GET", "/health").without("Host").send().expect(400),
    ];
    let mut names = Vec::new();
    for answer in answers {
        assert_eq!(
            answer.must("access-control-allow-origin"),
            "*",
            "{answer:?}"
        );
        let exposed = answer.must("access-control-expose-headers");
        for name in [
            "PAYMENT-REQUIRED",
            "PAYMENT-RESPONSE",
            "X-Payment-Required",
            "X-Service-Payment-Tier",
            "X-Service-Payment-Pack",
            "X-Service-Retry-Credit",
            "Retry-After",
            "X-Request-Id",
        ] {
            assert!(exposed.contains(name), "{name} is not in {exposed}");
        }
        assert_eq!(answer.must("x-content-type-options"), "nosniff");
        let name = answer.must("x-request-id").to_owned();
        assert!(name.starts_with("req_") && name.len() == 36, "{name}");
        assert!(!names.contains(&name), "{name} is there twice");
        names.push(name);
    }
}

#[test]
fn a_request_names_exactly_one_host() {
    let rig = Rig::start();
    rig.ask("GET", "/health")
        .without("Host")
        .send()
        .refused(400, "invalid_request");
    rig.ask("GET", "/health")
        .header("Host", "another")
        .send()
        .refused(400, "invalid_request");
    rig.ask("GET", "/health")
        .header("host", "some.other.name")
        .send()
        .refused(400, "invalid_request");
}

/// RFC 9112, 3.2; RFC 9110, 4.2.4: also in an absolute address.
#[test]
fn a_host_that_is_none_is_refused() {
    let rig = Rig::start();
    let ask = |host: &str| {
        let ask = rig.ask("GET", "/health?live=1").without("Host");
        ask.header("Host", host).send()
    };
    for host in [
        "a",
        "a.example:443",
        "127.0.0.1",
        "[::1]:80",
        "a.example.",
        "x:",
    ] {
        ask(host).expect(200);
    }
    for host in [
        "", "a b", "a/b", "u@b", "x:99999", "x:y", "[::1", "::1", "a,b c", "a?b", "a#b",
    ] {
        ask(host).refused(400, "invalid_request");
    }
    for address in ["http://u@b/health", "http://x:99999/health"] {
        let head = format!("GET {address} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        raw(rig.address, head.as_bytes()).refused(400, "invalid_request");
    }
}

/// hyper refuses some heads by itself, without a word. Each is answered as everything else is.
#[test]
fn whatever_is_refused_is_explained() {
    let rig = Rig::start();
    let huge = "a".repeat(70_000);
    let large = format!("Host: x\r\nX-A: {huge}\r\n\r\n");
    for (message, status, code) in [
        (
            format!("GET /health HTTP/1.1\r\n{large}"),
            431,
            "headers_too_large",
        ),
        (
            format!("POST {ACCESS} HTTP/1.1\r\n{large}"),
            431,
            "headers_too_large",
        ),
        (
            format!("GET /{huge} HTTP/1.1\r\nHost: x\r\n\r\n"),
            414,
            "uri_too_long",
        ),
        (
            "GET / HTTP/1.1\r\nHo st: x\r\n\r\n".to_owned(),
            400,
            "invalid_request",
        ),
        (
            "GET / HTTP/7.7\r\nHost: x\r\n\r\n".to_owned(),
            400,
            "invalid_request",
        ),
        (
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n".to_owned(),
            400,
            "invalid_request",
        ),
    ] {
        let first = "GET /health?live=1 HTTP/1.1\r\nHost: x\r\n\r\n";
        // Alone, and after a request that is answered.
        let alone = unbroken(&rig, message.as_bytes());
        let after = unbroken(&rig, format!("{first}{message}").as_bytes());
        let text = String::from_utf8_lossy(&after).into_owned();
        assert!(text.starts_with("HTTP/1.1 200"), "{text}");
        let second = text[1..].find("HTTP/1.1 ").expect("two answers") + 1;
        for refusal in [&alone[..], &after[second..]] {
            let answer = Answer::parse(refusal).refused(status, code);
            assert_eq!(answer.must("connection"), "close");
            assert_eq!(answer.must("access-control-allow-origin"), "*");
            let length = answer.body.len().to_string();
            assert_eq!(answer.must("content-length"), length);
        }
    }
    let routes = rig.operator("/metrics").json()["by_route"].to_string();
    assert!(routes.contains("\"status\":431"), "{routes}");
}

/// RFC 9112, 6.1: what is not read is said to be so, whatever comes last.
#[test]
fn a_transfer_coding_that_is_not_read_is_not_implemented() {
    let rig = Rig::start();
    let ask = |codings: &str| {
        let body = "2\r\n{}\r\n0\r\n\r\n";
        let head = format!("POST {ACCESS} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n");
        raw(
            rig.address,
            format!("{head}{codings}\r\n\r\n{body}").as_bytes(),
        )
    };
    for codings in [
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: identity, chunked",
        "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: x-own,chunked",
    ] {
        ask(codings).refused(501, "unsupported_transfer_coding");
    }
    ask("Transfer-Encoding: chunked, chunked").refused(400, "invalid_request");
    ask("Transfer-Encoding: Chunked").expect(402);
}

/// base_url is the only source of public addresses.
#[test]
fn a_foreign_host_appears_nowhere() {
    let rig = Rig::start();
    let evil = "evil-host.example";
    for (method, path) in [
        ("POST", ACCESS),
        ("GET", ACCESS),
        ("GET", "/"),
        ("GET", "/docs"),
        ("GET", "/quickstart"),
        ("GET", "/openapi.json"),
        ("GET", "/llms.txt"),
        ("GET", "/robots.txt"),
        ("GET", "/v1/x402/quote"),
        ("GET", "/nothing"),
    ] {
        let answer = rig
            .ask(method, path)
            .without("Host")
            .header("Host", evil)
            .header("X-Forwarded-Host", evil)
            .header("X-Forwarded-Proto", "gopher")
            .header("Forwarded", format!("host={evil}"))
            .send();
        assert!(
            !format!("{:?}{}", answer.headers, answer.text()).contains(evil),
            "{method} {path}: {answer:?}"
        );
    }
}

/// What is not HTTP/1.1 is refused or closed, never guessed at.
#[test]
fn malformed_messages_are_refused() {
    let rig = Rig::start();
    let head = format!("POST {ACCESS} HTTP/1.1\r\nHost: x\r\n");
    for (what, bytes) in [
        ("no HTTP at all", "nonsense\r\n\r\n".to_owned()),
        (
            "a TLS hello",
            "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}".to_owned() + "\r\n\r\n",
        ),
        (
            "two lengths",
            format!("{head}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"),
        ),
        (
            "a length that is no number",
            format!("{head}Content-Length: +3\r\n\r\nabc"),
        ),
        (
            "a negative length",
            format!("{head}Content-Length: -1\r\n\r\n"),
        ),
        (
            "a folded header",
            format!("{head}X-A: b\r\n c\r\nContent-Length: 0\r\n\r\n"),
        ),
        (
            "a space before the colon",
            format!("{head}X-A : b\r\nContent-Length: 0\r\n\r\n"),
        ),
        (
            "a control byte in a header",
            format!("{head}X-A: b\u{1}\r\nContent-Length: 0\r\n\r\n"),
        ),
        (
            "a coding that does not end in chunked",
            format!("{head}Transfer-Encoding: gzip\r\n\r\n"),
        ),
        (
            "a chunk size that is no number",
            format!("{head}Transfer-Encoding: chunked\r\n\r\nzz\r\n"),
        ),
    ] {
        let bytes = raw_bytes(rig.address, bytes.as_bytes());
        if !bytes.is_empty() {
            let answer = Answer::parse(&bytes);
            assert_eq!(answer.status, 400, "{what}: {answer:?}");
        }
    }
    rig.get("/health").expect(200);
}

/// Of a length and a coding together, the coding counts, and nothing of the body is read as a second request.
#[test]
fn a_smuggled_request_is_not_answered() {
    let rig = Rig::start();
    let request = format!(
        "POST {ACCESS} HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n\
         GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    );
    let bytes = raw_bytes(rig.address, request.as_bytes());
    let text = String::from_utf8_lossy(&bytes);
    assert_eq!(text.matches("HTTP/1.1 ").count(), 1, "{text}");
}

#[test]
fn requests_follow_one_another_on_one_connection() {
    let rig = Rig::start();
    let mut stream = connect(rig.address);
    let request = "GET /health?live=1 HTTP/1.1\r\nHost: x\r\n\r\n";
    let last = "GET /health?live=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    stream
        .write_all(format!("{request}{request}{last}").as_bytes())
        .expect("sent");
    let text = String::from_utf8_lossy(&read_all(&mut stream)).into_owned();
    assert_eq!(text.matches("HTTP/1.1 200").count(), 3, "{text}");
}

#[test]
fn whoever_waits_for_100_is_told_to_go_on() {
    let rig = Rig::start();
    let mut stream = connect(rig.address);
    let head = format!(
        "POST {ACCESS} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).expect("sent");
    stream.write_all(b"{}").expect("sent");
    let text = String::from_utf8_lossy(&read_all(&mut stream)).into_owned();
    assert!(text.contains("HTTP/1.1 402"), "{text}");
}

/// HEAD answers like GET, without a body.
#[test]
fn every_page_answers_head() {
    let rig = Rig::start();
    for path in [
        "/",
        "/docs",
        "/quickstart",
        "/health",
        "/openapi.json",
        "/llms.txt",
        "/robots.txt",
        "/assets/style.css",
        "/sample",
    ] {
        let (get, head) = (
            rig.get(path).expect(200),
            rig.ask("HEAD", path).send().expect(200),
        );
        assert_eq!(head.body, b"", "{path}");
        assert_eq!(
            head.header("content-type"),
            get.header("content-type"),
            "{path}"
        );
        if path != "/health" {
            assert_eq!(
                head.header("content-length"),
                get.header("content-length"),
                "{path}"
            );
        }
    }
}
