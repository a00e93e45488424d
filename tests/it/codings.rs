//! Answers in gzip and brotli: the same answer to everybody, shorter on the wire.

use std::io::Read as _;

use serde_json::json;

use crate::harness::ask::Answer;
use crate::harness::{ACCESS, ARTICLE, Page, Rig, Wallet};

fn decoded(answer: &Answer) -> Vec<u8> {
    let mut body = Vec::new();
    let sent = answer.body.as_slice();
    match answer.must("content-encoding") {
        "gzip" => flate2::read::GzDecoder::new(sent).read_to_end(&mut body),
        "br" => brotli::Decompressor::new(sent, 4096).read_to_end(&mut body),
        other => panic!("{other}"),
    }
    .expect("whole");
    body
}

fn varies(answer: &Answer) -> bool {
    answer
        .must("vary")
        .split(", ")
        .any(|name| name == "Accept-Encoding")
}

#[test]
fn pages_documents_and_challenges_come_in_the_coding_that_is_preferred() {
    let rig = Rig::start();
    let challenge = || rig.post(ACCESS).json(&json!({"target_url": ARTICLE}));
    for ask in [
        rig.ask("GET", "/docs"),
        rig.ask("GET", "/openapi.json"),
        rig.ask("GET", "/assets/style.css"),
        challenge(),
    ] {
        let plain = ask.send();
        assert_eq!(plain.header("content-encoding"), None);
        assert!(varies(&plain));
        for (accepts, coding) in [
            ("gzip", "gzip"),
            ("br", "br"),
            ("gzip, br", "br"),
            ("br;q=0.2, gzip;q=0.9", "gzip"),
            ("identity;q=0, *;q=0.1", "br"),
        ] {
            let answer = ask.clone().header("Accept-Encoding", accepts).send();
            assert_eq!(
                (answer.status, answer.must("content-encoding")),
                (plain.status, coding),
                "{accepts}"
            );
            assert_eq!(answer.must("content-length"), answer.body.len().to_string());
            assert!(varies(&answer) && answer.body.len() < plain.body.len());
            // Request identifiers apart, which the challenge has none of.
            assert_eq!(decoded(&answer), plain.body, "{accepts}");
        }
        for accepts in ["identity", "gzip;q=0, br;q=0", "deflate", "identity;q=0"] {
            let answer = ask.clone().header("Accept-Encoding", accepts).send();
            assert_eq!(answer.header("content-encoding"), None, "{accepts}");
        }
    }
}

#[test]
fn a_tag_belongs_to_its_coding_and_is_current_in_each() {
    let rig = Rig::start();
    let ask = |accepts: &str| {
        rig.ask("GET", "/assets/style.css")
            .header("Accept-Encoding", accepts)
    };
    let (plain, coded) = (ask("identity").send(), ask("gzip").send());
    let (tag, coded_tag) = (plain.must("etag"), coded.must("etag"));
    assert_eq!(coded_tag, format!("{}-gzip\"", tag.trim_end_matches('"')));
    for known in [tag, coded_tag, "*"] {
        let answer = ask("gzip")
            .header("If-None-Match", known)
            .send()
            .expect(304);
        assert_eq!(answer.must("etag"), coded_tag);
        assert!(varies(&answer) && answer.body.is_empty());
        assert_eq!(answer.header("content-encoding"), None);
    }
    // HEAD says what GET would.
    let head = rig
        .ask("HEAD", "/assets/style.css")
        .header("Accept-Encoding", "gzip")
        .send()
        .expect(200);
    for name in ["etag", "content-encoding", "content-length", "vary"] {
        assert_eq!(head.must(name), coded.must(name), "{name}");
    }
    assert!(head.body.is_empty());
}

#[test]
fn what_is_short_or_packed_already_goes_out_as_it_is() {
    let rig = Rig::start();
    for path in [
        "/icon.png",
        "/favicon.svg",
        "/health?live=1",
        "/nothing-here",
    ] {
        let answer = rig
            .ask("GET", path)
            .header("Accept-Encoding", "gzip, br")
            .send();
        let is_short = answer.body.len() < 1024;
        assert!(
            is_short || path == "/icon.png",
            "{path}: {}",
            answer.body.len()
        );
        assert_eq!(answer.header("content-encoding"), None, "{path}");
    }
    let script = rig
        .ask("GET", "/assets/swagger-ui.js")
        .header("Accept-Encoding", "br")
        .send();
    assert_eq!(script.must("content-encoding"), "gzip");
}

#[test]
fn a_paid_answer_is_the_same_in_every_coding() {
    let rig = Rig::start();
    let words = "A page of some length says many words that are alike. ".repeat(400);
    rig.site.put(
        "/long",
        Page::of(
            "text/html",
            format!("<html><title>Long</title><main><p>{words}</p></main></html>"),
        ),
    );
    let payment = Wallet::new().sign(&rig, "fresh");
    let body = json!({"target_url": "http://news.sample-site.org/long"});
    let ask = || rig.post(ACCESS).json(&body).paid(&payment.header);
    let coded = ask()
        .header("Accept-Encoding", "gzip, br")
        .send()
        .expect(200);
    let plain = ask().send().expect(200);
    assert_eq!(decoded(&coded), plain.body);
    assert!(coded.body.len() < plain.body.len() / 4);
    assert_eq!(rig.facilitator.settlements(), 1);
    let tag = format!(
        "\"{}\"",
        plain.json()["content_sha256"].as_str().expect("a hash")
    );
    assert_eq!(plain.must("etag"), tag);
    assert_eq!(
        coded.must("etag"),
        format!("{}-br\"", tag.trim_end_matches('"'))
    );
    assert!(
        coded.must("vary").starts_with("Accept, PAYMENT-SIGNATURE"),
        "{}",
        coded.must("vary")
    );
    let text = ask()
        .header("Accept", "text/markdown")
        .header("Accept-Encoding", "gzip")
        .send()
        .expect(200);
    assert_eq!(text.must("content-encoding"), "gzip");
    assert!(
        String::from_utf8(decoded(&text))
            .is_ok_and(|text| text.contains("many words that are alike"))
    );
}

/// BREACH: the length of an answer to credentials must tell nothing.
#[test]
fn answers_to_credentials_are_not_encoded() {
    let rig = Rig::start();
    for (name, value) in [("Cookie", "a=b"), ("Authorization", "Bearer x")] {
        let answer = rig
            .ask("GET", "/docs")
            .header(name, value)
            .header("Accept-Encoding", "gzip, br")
            .send()
            .expect(200);
        assert_eq!(answer.header("content-encoding"), None, "{name}");
    }
}
