//! Messages that a proxy and this service might cut at different places. What counts: a request that is hidden in
//! another's body is never answered, a payment that stands in the wrong place pays for nothing, and what cannot be read
//! ends the connection.

use crate::harness::ask::raw_bytes;
use crate::harness::{ACCESS, ARTICLE, Rig, Wallet, order};

/// What stands behind a message and must not become one.
const HIDDEN: &str = "GET /health?live=1 HTTP/1.1\r\nHost: hidden\r\n\r\n";

/// Sends a message and gives the statuses that came back, in order.
fn statuses(rig: &Rig, bytes: &[u8]) -> Vec<u16> {
    let answer = raw_bytes(rig.address, bytes);
    let text = String::from_utf8_lossy(&answer).into_owned();
    // What a refusal says of HTTP/1.1 has no number behind it.
    let firsts = text.split("HTTP/1.1 ").skip(1);
    firsts
        .filter_map(|rest| rest.get(..3)?.parse().ok())
        .collect()
}

/// A service that waits for the next request of a connection as short as a test may.
fn impatient() -> Rig {
    Rig::with(|resolved| {
        resolved.set("limits.header_seconds_max", "0.7");
        resolved.set("limits.body_seconds_max", "0.7");
    })
}

/// A POST with these lines and this body, and a hidden request behind it.
fn post(lines: &str, body: &str) -> Vec<u8> {
    format!("POST {ACCESS} HTTP/1.1\r\nHost: x\r\n{lines}\r\n{body}{HIDDEN}").into_bytes()
}

/// Whatever is answered is one refusal, and the connection ends.
#[test]
fn a_message_that_can_be_cut_in_two_ways_is_refused() {
    let rig = impatient();
    let cl = "Content-Length: 5\r\n";
    let te = "Transfer-Encoding: chunked\r\n";
    for (lines, body) in [
        // Lengths.
        ("Content-Length: 5\r\nContent-Length: 6\r\n", "hello"),
        ("Content-Length: 5, 6\r\n", "hello"),
        ("Content-Length: 0x5\r\n", "hello"),
        ("Content-Length: 5 5\r\n", "hello"),
        ("Content-Length: +5\r\n", "hello"),
        ("Content-Length: -5\r\n", "hello"),
        ("Content-Length: 5_0\r\n", "hello"),
        ("Content-Length: 5.0\r\n", "hello"),
        ("Content-Length: 5;\r\n", "hello"),
        ("Content-Length:\r\n", "hello"),
        ("Content-Length: \u{665}\r\n", "hello"),
        ("Content-Length: 18446744073709551621\r\n", "hello"),
        (
            "Content-Length: 99999999999999999999999999999999\r\n",
            "hello",
        ),
        ("Content-Length : 5\r\n", "hello"),
        (" Content-Length: 5\r\n", "hello"),
        ("X-A: b\r\n Content-Length: 5\r\n", "hello"),
        ("Content-Length: 5\rX-A: b\r\n", "hello"),
        ("Content-Length: 5\0\r\n", "hello"),
        ("Content\0-Length: 5\r\n", "hello"),
        ("X-A: b\0c\r\nContent-Length: 5\r\n", "hello"),
        ("X-A: b\rc\r\nContent-Length: 5\r\n", "hello"),
        (": b\r\nContent-Length: 5\r\n", "hello"),
        ("X A: b\r\nContent-Length: 5\r\n", "hello"),
        ("X-A\r\nContent-Length: 5\r\n", "hello"),
        // Codings.
        ("Transfer-Encoding: gzip\r\n", "hello"),
        ("Transfer-Encoding: identity\r\n", "hello"),
        ("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"),
        ("Transfer-Encoding: chunked-not\r\n", "0\r\n\r\n"),
        ("Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n"),
        ("Transfer-Encoding: chunked, gzip\r\n", "0\r\n\r\n"),
        ("Transfer-Encoding : chunked\r\n", "0\r\n\r\n"),
        ("Transfer-Encoding:\u{b}chunked\r\n", "0\r\n\r\n"),
        ("Transfer-Encoding: \"chunked\"\r\n", "0\r\n\r\n"),
        ("Transfer-Encoding: chunked\0\r\n", "0\r\n\r\n"),
        ("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n"),
        ("Transfer-Encoding: chu\r\n nked\r\n", "0\r\n\r\n"),
        ("Transfer-Encoding\r\n: chunked\r\n", "0\r\n\r\n"),
        // Chunks.
        (te, "0x5\r\nhello\r\n0\r\n\r\n"),
        (te, "-5\r\nhello\r\n0\r\n\r\n"),
        (te, "+5\r\nhello\r\n0\r\n\r\n"),
        (te, "FFFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n"),
        (te, "10000000000000005\r\nhello\r\n0\r\n\r\n"),
        (te, "\r\nhello\r\n0\r\n\r\n"),
        (te, "5\nhello\r\n0\r\n\r\n"),
        (te, "5\rhello\r\n0\r\n\r\n"),
        (te, "5\r\nhello0\r\n\r\n"),
        (te, "5\r\nhelloXX0\r\n\r\n"),
        (te, "5 5\r\nhello\r\n0\r\n\r\n"),
        (te, "5;a\nb\r\nhello\r\n0\r\n\r\n"),
        (te, "g\r\nhello\r\n0\r\n\r\n"),
        (te, "0;\n\r\n"),
    ] {
        let got = statuses(&rig, &post(lines, body));
        assert!(
            got.len() <= 1 && got.iter().all(|status| (400..500).contains(status)),
            "{lines:?} {body:?}: {got:?}"
        );
        let both = [cl, lines].concat();
        if lines.starts_with("Transfer-Encoding") {
            let got = statuses(&rig, &post(&both, body));
            assert!(
                got.len() <= 1 && !got.contains(&200),
                "{both:?} {body:?}: {got:?}"
            );
        }
    }
    rig.get("/health?live=1").expect(200);
    assert_eq!(rig.facilitator.verify_calls(), 0);
}

/// Both at once: the coding counts, as RFC 9112 says, and nothing more is read from that connection.
#[test]
fn a_length_beside_a_coding_ends_the_connection() {
    let rig = impatient();
    for lines in [
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: Chunked\r\nContent-Length: 5\r\n",
        "Transfer-Encoding:\tchunked\r\nContent-Length: 5\r\n",
        "Transfer-Encoding: gzip, chunked\r\nContent-Length: 5\r\n",
        "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n",
    ] {
        let got = statuses(&rig, &post(lines, "0\r\n\r\n"));
        assert!(got.len() <= 1, "{lines:?}: {got:?}");
    }
}

/// The other way round: what is a body is read as one, and what follows it is a request of its own.
#[test]
fn what_is_clear_is_read_to_its_end() {
    let rig = impatient();
    for (lines, body) in [
        ("Content-Length: 5\r\n", "hello"),
        ("Content-Length: 005\r\n", "hello"),
        ("Content-Length: 5\r\nContent-Length: 5\r\n", "hello"),
        ("Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\n\r\n"),
        (
            "Transfer-Encoding: chunked\r\n",
            "005\r\nhello\r\n000\r\n\r\n",
        ),
        (
            "Transfer-Encoding: chunked\r\n",
            "5;name=value\r\nhello\r\n0\r\n\r\n",
        ),
        (
            "Transfer-Encoding: chunked\r\n",
            "5\r\nhello\r\n0\r\nX-Trailer: a\r\n\r\n",
        ),
    ] {
        let mut message = post(lines, body);
        let last = "GET /health?live=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        message.extend_from_slice(last.as_bytes());
        assert_eq!(
            statuses(&rig, &message),
            [402, 200, 200],
            "{lines:?} {body:?}"
        );
    }
}

/// The body of a request that has none to be read is skipped, or ends the connection; it is never the next request.
#[test]
fn the_body_of_a_get_is_no_request() {
    let rig = impatient();
    for method in ["GET", "HEAD", "OPTIONS", "BREW"] {
        for path in ["/health?live=1", "/nothing", ACCESS] {
            let head = format!(
                "{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n",
                HIDDEN.len()
            );
            let got = statuses(&rig, format!("{head}{HIDDEN}").as_bytes());
            assert_eq!(got.len(), 1, "{method} {path}: {got:?}");
        }
    }
}

/// A refusal that comes before the body was read does not let the body become a request.
#[test]
fn the_body_of_a_refused_request_is_no_request() {
    let rig = impatient();
    let filler = "a".repeat(17_000);
    let long = format!("/{}", "a".repeat(9_000));
    for (path, more) in [
        (ACCESS, format!("X-Filler: {filler}\r\n")),
        (long.as_str(), String::new()),
        ("/nothing", String::new()),
        (ACCESS, "Host: another\r\n".to_owned()),
        ("/health", String::new()),
    ] {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\n{more}Content-Length: {}\r\n\r\n",
            HIDDEN.len()
        );
        let got = statuses(&rig, format!("{head}{HIDDEN}").as_bytes());
        assert_eq!(got.len(), 1, "{path}: {got:?}");
        assert!((400..500).contains(&got[0]), "{path}: {got:?}");
    }
}

/// A field that comes after the body was no part of what was asked (RFC 9110, 6.5.1).
#[test]
fn a_payment_in_a_trailer_pays_for_nothing() {
    let rig = impatient();
    let payment = Wallet::new().sign(&rig, "fresh");
    let body = order(ARTICLE, "fresh").to_string();
    let message = format!(
        "POST {ACCESS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTrailer: PAYMENT-SIGNATURE\r\n\
         Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n{:x}\r\n{body}\r\n0\r\nPAYMENT-SIGNATURE: {}\r\n\r\n",
        body.len(),
        payment.header
    );
    assert_eq!(statuses(&rig, message.as_bytes()), [402]);
    assert_eq!(rig.facilitator.verify_calls(), 0);
}

/// Nor is a payment one whose header is folded, joined or cut by a control byte.
#[test]
fn a_payment_in_a_broken_header_pays_for_nothing() {
    let rig = impatient();
    let payment = Wallet::new().sign(&rig, "fresh");
    let body = order(ARTICLE, "fresh").to_string();
    let (start, end) = payment.header.split_at(40);
    for line in [
        format!("PAYMENT-SIGNATURE: {start}\r\n {end}"),
        format!("PAYMENT-SIGNATURE:\r\n\t{start}{end}"),
        format!("PAYMENT-SIGNATURE: {start}\0{end}"),
        format!("PAYMENT-SIGNATURE: {start}\r{end}"),
        format!("PAYMENT-SIGNATURE : {start}{end}"),
        format!("PAYMENT-SIGNATURE: {start}{end}, {start}{end}"),
    ] {
        let message = format!(
            "POST {ACCESS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{line}\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n{body}",
            body.len()
        );
        let got = statuses(&rig, message.as_bytes());
        assert!(got.is_empty() || got == [400], "{line:?}: {got:?}");
    }
    assert_eq!(rig.facilitator.verify_calls(), 0);
}

/// Other protocols, and attempts to leave this one.
#[test]
fn only_http_1_is_spoken() {
    let rig = impatient();
    for (what, message, allowed) in [
        ("HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(), &[400][..]),
        ("HTTP/0.9", "GET /health?live=1\r\n\r\n".to_owned(), &[400]),
        ("HTTP/3.0", "GET / HTTP/3.0\r\nHost: x\r\n\r\n".to_owned(), &[400]),
        ("lower case", "GET / http/1.1\r\nHost: x\r\n\r\n".to_owned(), &[400]),
        ("two spaces", "GET  / HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(), &[400]),
        ("a tab", "GET\t/ HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(), &[400]),
        ("a tunnel", "CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".to_owned(), &[405]),
        ("all of it", "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".to_owned(), &[204]),
        ("a coding in 1.0", format!("POST {ACCESS} HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), &[400]),
        ("a change to h2c", "GET /health?live=1 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\n\
          HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n\r\n".to_owned(), &[200]),
        ("a change to websocket", "GET /health?live=1 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\
          Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".to_owned(), &[200]),
        ("empty lines first", "\r\n\r\nGET /health?live=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".to_owned(), &[200]),
        ("a hundred and one headers", format!("GET / HTTP/1.1\r\nHost: x\r\n{}\r\n", "X-A: b\r\n".repeat(101)), &[400, 431]),
        ("an expectation of its own", "GET / HTTP/1.1\r\nHost: x\r\nExpect: money\r\nConnection: close\r\n\r\n".to_owned(), &[200, 417]),
    ] {
        let got = statuses(&rig, message.as_bytes());
        assert!(
            got.len() <= 1 && got.iter().all(|status| allowed.contains(status)),
            "{what}: {got:?}"
        );
        assert!(!got.is_empty() || allowed.contains(&400) || allowed.contains(&431), "{what}: nothing");
    }
    rig.get("/health?live=1").expect(200);
}

/// Extensions of chunks and trailers are read over, but not for ever.
#[test]
fn what_surrounds_a_body_has_bounds() {
    let rig = impatient();
    let head = format!("POST {ACCESS} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (what, rest) in [
        (
            "one long extension",
            format!("1;{}\r\nx\r\n0\r\n\r\n", "a".repeat(40_000)),
        ),
        (
            "an extension at each chunk",
            format!(
                "{}0\r\n\r\n",
                format!("1;{}\r\nx\r\n", "a".repeat(200)).repeat(200)
            ),
        ),
        (
            "one long trailer",
            format!("0\r\nX-A: {}\r\n\r\n", "a".repeat(40_000)),
        ),
        (
            "very many trailers",
            format!("0\r\n{}\r\n", "X-A: b\r\n".repeat(5_000)),
        ),
    ] {
        let got = statuses(&rig, format!("{head}{rest}{HIDDEN}").as_bytes());
        assert!(got.is_empty() || got == [400], "{what}: {got:?}");
    }
    rig.get("/health?live=1").expect(200);
}
