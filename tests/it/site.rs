//! Pages for people: whole without script, safe against what strangers put on them, and without dead ends.

use std::collections::BTreeSet;

use base64::Engine as _;
use serde_json::{Value, json};

use crate::harness::{ARTICLE, Answer, Rig};

const PAGES: [&str; 24] = [
    "/buy",
    "/buy?target_url=example.com&tier=basic",
    "/buy?target_url=example.com&question=What+does+it+cost%3F&pack=deep",
    "/docs",
    "/quickstart",
    "/paid-test",
    "/proof-pack",
    "/about",
    "/sample",
    "/quote",
    "/from/a-list",
    "/faq",
    "/notices",
    "/pricing",
    "/pricing?pages=1000&tier=fresh&reports=20&pack=standard",
    "/demo",
    "/demo?page=shop&question=Is+the+guarantee+three+years%3F",
    "/terms",
    "/privacy",
    "/refunds",
    "/proof-pack/sample",
    "/proof-pack/sample?check=1",
    "/proof-pack/library",
    "/nothing-here",
];

fn page(rig: &Rig, path: &str) -> Answer {
    let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    rig.ask("GET", path).header("Accept", browser).send()
}

fn all(rig: &Rig) -> Vec<(String, Answer)> {
    let quote = rig
        .get(&format!("/v1/x402/quote?target_url={ARTICLE}"))
        .json();
    let id = quote["quote_id"].as_str().expect("an id").to_owned();
    let paths = PAGES.iter().map(|path| (*path).to_owned());
    paths
        .chain([
            "/".to_owned(),
            format!("/checkout/{id}"),
            format!("/quote?target_url={ARTICLE}"),
        ])
        .map(|path| {
            let answer = page(rig, &path);
            (path, answer)
        })
        .collect()
}

#[test]
fn every_page_has_its_headers_and_runs_no_script_but_ours() {
    let rig = Rig::start();
    for (path, answer) in all(&rig) {
        let expected = if path == "/nothing-here" { 404 } else { 200 };
        let answer = answer.expect(expected);
        assert_eq!(
            answer.must("content-type"),
            "text/html; charset=utf-8",
            "{path}"
        );
        let policy = answer.must("content-security-policy");
        assert!(
            policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
            "{path}: {policy}"
        );
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(answer.must("x-content-type-options"), "nosniff", "{path}");
        assert!(answer.header("referrer-policy").is_some(), "{path}");
        assert!(
            answer.header("cross-origin-opener-policy").is_some(),
            "{path}"
        );
        let link = answer.must("link");
        for relation in ["service-desc", "service-doc", "api-catalog", "alternate"] {
            assert!(
                link.contains(&format!("rel=\"{relation}\"")),
                "{path}: {link}"
            );
        }
        let html = answer.text();
        for script in html.split("<script").skip(1) {
            let (tag, script) = script.split_once('>').expect("a tag");
            let script = script.split("</script>").next().unwrap_or_default();
            // Data, which no browser runs.
            if tag == " type=\"application/ld+json\"" {
                continue;
            }
            let hash = <sha2::Sha256 as sha2::Digest>::digest(script);
            let hash = base64::engine::general_purpose::STANDARD.encode(hash);
            assert!(
                policy.contains(&hash),
                "{path} has a script that its policy does not know"
            );
        }
        assert!(!html.contains("javascript:"), "{path}");
        assert!(
            !html.contains(" style=\""),
            "{path} has an inline style, which the policy blocks"
        );
        let handler = html
            .split(' ')
            .find(|word| word.starts_with("on") && word.contains("=\""));
        assert_eq!(handler, None, "{path} has an inline handler");
    }
}

#[test]
fn every_page_is_a_whole_document() {
    let rig = Rig::start();
    for (path, answer) in all(&rig) {
        let html = answer.text();
        assert!(html.starts_with("<!DOCTYPE html>"), "{path}");
        assert!(html.trim_end().ends_with("</html>"), "{path}");
        assert_eq!(html.matches("<h1").count(), 1, "{path}");
        assert!(html.contains("lang=\"en\""), "{path}");
        let title = html
            .split("<title>")
            .nth(1)
            .and_then(|rest| rest.split("</title>").next());
        assert!(title.is_some_and(|title| !title.is_empty()), "{path}");
        assert!(
            html.contains("name=\"viewport\"") && html.contains("name=\"description\""),
            "{path}"
        );
        // Nothing is loaded from anybody else.
        for attribute in ["src=\"http", "action=\"http"] {
            assert!(!html.contains(attribute), "{path}: {attribute}");
        }
        for (position, _) in html.match_indices("<img ") {
            let tag = html[position..].split('>').next().unwrap_or_default();
            assert!(tag.contains(" alt=\""), "{path}: {tag}");
        }
    }
}

/// From wherever a person stands, every link of ours leads somewhere, to the very place that it names.
#[test]
fn every_link_leads_somewhere() {
    let rig = Rig::start();
    let mut links = BTreeSet::new();
    for (path, answer) in all(&rig) {
        let html = answer.text();
        for attribute in ["href=\"", "src=\"", "action=\""] {
            for found in html.split(attribute).skip(1) {
                let link = found
                    .split('"')
                    .next()
                    .unwrap_or_default()
                    .replace("&amp;", "&");
                if let Some(fragment) = link.strip_prefix('#') {
                    assert!(
                        html.contains(&format!("id=\"{fragment}\"")),
                        "{path}: #{fragment}"
                    );
                } else if link.starts_with('/') {
                    links.insert(link);
                }
            }
        }
    }
    assert!(links.len() > 15, "{links:?}");
    for link in links {
        let (address, fragment) = link.split_once('#').unwrap_or((&link, ""));
        let answer = page(&rig, address);
        assert_eq!(answer.status, 200, "{link}: {answer:?}");
        assert!(
            fragment.is_empty() || answer.text().contains(&format!("id=\"{fragment}\"")),
            "{link}"
        );
    }
}

#[test]
fn assets_are_what_they_say() {
    let rig = Rig::start();
    for (path, content_type, beginning) in [
        ("/assets/style.css", "text/css; charset=utf-8", &b""[..]),
        ("/assets/console.css", "text/css; charset=utf-8", b""),
        ("/favicon.svg", "image/svg+xml", b"<svg"),
        ("/icon.png", "image/png", b"\x89PNG"),
    ] {
        let answer = rig.get(path).expect(200);
        assert_eq!(answer.must("content-type"), content_type);
        assert!(answer.body.starts_with(beginning), "{path}");
        assert!(answer.must("cache-control").starts_with("public, max-age="));
    }
}

/// A source that does not fit is dropped: the page is there, and the alias sells.
#[test]
fn a_source_that_is_no_label_is_dropped() {
    let rig = Rig::start();
    let page_of = |source: &str| page(&rig, &format!("/from/{source}"));
    assert!(page_of("a-list").expect(200).text().contains("a-list"));
    for source in [
        "%3Cscript%3E",
        "AbC",
        "a%20b",
        &"a".repeat(65),
        "a'b",
        "%00",
    ] {
        let text = page_of(source).expect(200).text();
        assert!(!text.contains(source), "{source}");
        assert!(!text.contains("Welcome from"), "{source}");
        let alias = format!("/from/{source}{}", crate::harness::ACCESS);
        rig.post(&alias).send().expect(402);
        rig.get(&alias).expect(200);
    }
}

/// The link to a page's markdown leads to markdown for whoever follows it, and the home page tells search engines what
/// is sold in data that agrees with the prices.
#[test]
fn pages_link_to_their_markdown_and_the_home_page_lists_its_offers() {
    let rig = Rig::start();
    for path in ["/faq", "/quote", "/proof-pack/reports/ppr_sample"] {
        let html = page(&rig, path).expect(200).text();
        let link = html
            .split("rel=\"alternate\" type=\"text/markdown\" href=\"")
            .nth(1);
        let link = link
            .and_then(|rest| rest.split('"').next())
            .expect("a link");
        let twin = rig.get(link.trim_start_matches(crate::harness::BASE_URL));
        assert!(
            twin.must("content-type").starts_with("text/markdown"),
            "{path}"
        );
    }
    let html = page(&rig, "/").expect(200).text();
    let data = html.split("<script type=\"application/ld+json\">").nth(1);
    let data = data.and_then(|rest| rest.split("</script>").next());
    let data: Value = data
        .and_then(|text| serde_json::from_str(text).ok())
        .expect("JSON");
    assert_eq!(data["@type"], "WebAPI");
    let prices = data["offers"].as_array().expect("offers").iter();
    let prices: Vec<&str> = prices.filter_map(|offer| offer["price"].as_str()).collect();
    assert_eq!(
        prices,
        [
            "0.012", "0.015", "0.02", "0.03", "0.05", "0.10", "0.25", "1.00"
        ]
    );
}

/// The documentation's pages are there for programs at an address of their own.
#[test]
fn guides_have_a_markdown_twin() {
    let rig = Rig::start();
    for path in [
        "/docs",
        "/quickstart",
        "/proof-pack/bundle",
        "/demo",
        "/sample",
    ] {
        let twin = rig.get(&format!("{path}.md")).expect(200);
        assert_eq!(twin.must("content-type"), "text/markdown; charset=utf-8");
        let asked = rig
            .ask("GET", path)
            .header("Accept", "text/markdown")
            .send();
        assert_eq!(twin.text(), asked.expect(200).text(), "{path}");
        assert!(!twin.must("x-markdown-tokens").is_empty());
        let tag = twin.header("etag").map(str::to_owned);
        if let Some(tag) = tag {
            let again = rig.ask("GET", &format!("{path}.md"));
            again.header("If-None-Match", tag).send().expect(304);
        }
    }
    rig.ask("POST", "/docs.md").send().expect(405);
    for path in [
        "/health.md",
        "/quote.md",
        "/v1/x402/access.md",
        "/.md",
        "/docs.md.md",
    ] {
        rig.get(path).refused(404, "not_found");
    }
}

/// What the reference shows is what the service does: types of fields, and an error as it is answered.
#[test]
fn the_reference_tells_true_types_and_errors() {
    let rig = Rig::start();
    let docs = rig.get("/docs.md").expect(200).text();
    for row in [
        "| `force_refresh` | boolean | no |",
        "| `target_urls` | array | **yes** |",
        "| `task_payload` | object | **yes** |",
        "| `offered_fee` | number | **yes** |",
    ] {
        assert!(docs.contains(row), "{row}");
    }
    let shown = docs.split("Example error").nth(1);
    let shown = shown.and_then(|rest| rest.split("```").nth(1));
    let mut shown: Value = shown
        .and_then(|json| serde_json::from_str(json).ok())
        .expect("an example that is JSON");
    let quote = json!({"product": "context", "target_url": "http://10.0.0.1/"});
    let mut answer = rig
        .post("/v1/quotes")
        .json(&quote)
        .send()
        .expect(400)
        .json();
    for error in [&mut shown, &mut answer] {
        error["request_id"].take();
        error["error"]["docs_url"].take();
    }
    assert_eq!(shown, answer);
    let headings: Vec<&str> = docs
        .lines()
        .filter(|line| line.starts_with("### "))
        .collect();
    let once: BTreeSet<&str> = headings.iter().copied().collect();
    assert_eq!(headings.len(), once.len(), "{headings:?}");
}

/// The page that the starter tier sells is the page that is sold.
#[test]
fn the_sample_page_is_what_the_starter_tier_sells() {
    let rig = Rig::start();
    let sample = format!("{}/sample", crate::harness::BASE_URL);
    let html = rig.get("/sample").expect(200).text();
    let sold = rig
        .buy(&crate::harness::Wallet::new(), &sample, "starter")
        .expect(200)
        .json();
    let heading = sold["headings"][0]["text"].as_str().expect("a heading");
    assert!(html.contains(heading), "{heading}");
    assert_eq!(
        sold["source_sha256"],
        hex::encode(<sha2::Sha256 as sha2::Digest>::digest(&html))
    );
}

/// /paid-test shows the challenge that is really sent.
#[test]
fn the_paid_test_shows_the_live_challenge() {
    let rig = Rig::start();
    let html = rig.get("/paid-test").expect(200).text();
    let challenge = rig.post(crate::harness::ACCESS).send().expect(402).json();
    for text in [
        challenge["accepts"][0]["payTo"].as_str(),
        challenge["accepts"][0]["asset"].as_str(),
    ] {
        assert!(html.contains(text.expect("text")));
    }
}
