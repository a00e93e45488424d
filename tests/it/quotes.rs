//! Quotes: what a page would cost at every tier, without spending anything.

use context402::domain::level::Product;
use serde_json::{Value, json};

use crate::harness::{
    ARTICLE, Answer, BASE_URL, FERRY, FERRY_CLAIM, PAY_TO, Page, Rig, Wallet, amount, until,
};

fn ask(rig: &Rig, target: &str) -> Answer {
    rig.get(&format!("/v1/x402/quote?target_url={target}"))
}

fn offer(quote: &Value, tier: &str) -> Value {
    let tiers = quote["tiers"].as_array().expect("tiers");
    let found = tiers.iter().find(|offer| offer["tier"] == tier);
    found.expect(tier).clone()
}

/// Where buyers can download the program, whose commands the pages then show.
fn with_program() -> Rig {
    Rig::with(|resolved| resolved.set("download_url", "https://releases.example.org/context402/"))
}

#[test]
fn a_quote_says_what_every_tier_would_do() {
    let rig = Rig::start();
    let answer = ask(&rig, ARTICLE).expect(200);
    assert_eq!(answer.must("cache-control"), "no-store");
    let quote = answer.json();
    assert_eq!(quote["status"], "success");
    let id = quote["quote_id"].as_str().expect("an id");
    assert!(id.starts_with("qt_") && id.len() == 35, "{id}");
    assert_eq!(quote["target_url"], ARTICLE);
    assert_eq!(
        quote["target"],
        json!({"valid": true, "host": "news.sample-site.org", "scheme": "http", "port": 80, "resolved": true,
            "blocked_reason": null, "robots": "unknown"})
    );
    assert_eq!(quote["sample_available"], false);
    assert_eq!(quote["cache"]["available"], false);
    assert_eq!(quote["recommended_tier"], "fresh");
    let expected = [
        ("starter", "12000", 0.012, false),
        ("cached", "15000", 0.015, false),
        ("basic", "20000", 0.02, true),
        ("fresh", "30000", 0.03, true),
        ("deep", "50000", 0.05, true),
    ];
    assert_eq!(quote["tiers"].as_array().map(Vec::len), Some(5));
    for (tier, amount, price, deliverable) in expected {
        let offer = offer(&quote, tier);
        assert_eq!(offer["amount"], amount);
        assert_eq!(offer["price_usdc"], price);
        assert_eq!(offer["deliverable_now"], deliverable, "{tier}");
        assert_eq!(offer["reason"].is_null(), deliverable, "{tier}");
        assert!(offer["cache_policy"].is_string());
        assert_eq!(offer["endpoint"], "/v1/x402/access");
        assert_eq!(offer["accepts"][0]["amount"], amount);
        assert_eq!(offer["accepts"][0]["payTo"], PAY_TO);
    }
    assert_eq!(
        quote["payment"],
        json!({"network": "eip155:8453", "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "pay_to": PAY_TO,
            "scheme": "exact", "x402Version": 2, "max_timeout_seconds": 300})
    );
    let command = quote["buyer_command"].as_str().expect("a command");
    assert!(
        command.contains(ARTICLE) && command.contains(BASE_URL),
        "{command}"
    );
    assert_eq!(quote["supplier_spend"], 0);
    assert_eq!(quote["created_at"], rig.now().0);
    assert_eq!(quote["expires_at"], rig.now().0 + 7 * 24 * 3600);
    assert_eq!(quote["resume_page"], format!("{BASE_URL}/checkout/{id}"));
    assert_eq!(quote["receipt_url"], format!("{BASE_URL}/v1/quotes/{id}"));
    assert!(quote["next_steps"].is_array());
    assert_eq!(
        rig.site.requests().len(),
        0,
        "nothing is fetched for a quote"
    );
    assert_eq!(rig.facilitator.verify_calls(), 0);
}

#[test]
fn without_a_target_the_sample_is_quoted() {
    let rig = Rig::start();
    let quote = rig.get("/v1/x402/quote").expect(200).json();
    assert_eq!(quote["target_url"], format!("{BASE_URL}/sample"));
    assert_eq!(quote["sample_available"], true);
    // It is not kept: the tier cached would miss.
    assert_eq!(quote["cache"]["available"], false);
    assert_eq!(offer(&quote, "starter")["deliverable_now"], true);
    assert_eq!(offer(&quote, "cached")["deliverable_now"], false);
    let reason = offer(&quote, "cached")["reason"].to_string();
    assert!(reason.contains("our sample page"), "{reason}");
    for path in ["/quote", "/proof-pack/preview"] {
        let html = rig.ask("GET", &format!("{path}?target_url={BASE_URL}/sample"));
        let html = html.header("Accept", "text/html").send().expect(200).text();
        assert!(html.contains("not needed; it is our sample page"), "{html}");
        assert!(!html.contains("The page is not cached"), "{html}");
    }
}

/// What a quote calls deliverable is delivered, and what it does not is not (the quote and the sale must agree).
#[test]
fn a_quote_keeps_its_word() {
    let rig = Rig::start();
    for target in [&*format!("{BASE_URL}/sample"), ARTICLE] {
        let quote = ask(&rig, target).expect(200).json();
        for tier in ["starter", "cached", "basic", "fresh", "deep"] {
            // One sale would change what the next tier finds in the cache.
            let rig = Rig::start();
            let answer = rig.buy(&Wallet::new(), target, tier);
            let delivered = answer.status == 200;
            assert_eq!(
                offer(&quote, tier)["deliverable_now"],
                delivered,
                "{target} {tier}: {answer:?}"
            );
        }
    }
}

#[test]
fn a_quote_knows_the_cache() {
    let rig = Rig::start();
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
    rig.pass(100);
    let quote = ask(&rig, ARTICLE).expect(200).json();
    assert_eq!(
        quote["cache"],
        json!({"available": true, "age_seconds": null, "expires_at": null, "last_fetched_at": null})
    );
    assert_eq!(offer(&quote, "cached")["deliverable_now"], true);
    assert_eq!(offer(&quote, "starter")["deliverable_now"], true);
    rig.pass(24 * 3600);
    let quote = ask(&rig, ARTICLE).expect(200).json();
    assert_eq!(quote["cache"]["available"], false);
    assert_eq!(offer(&quote, "cached")["deliverable_now"], false);
}

/// A review found that anybody could read off a free quote when a page was last bought. Whoever asks before and after
/// another purchase of a page that has changed meanwhile sees no difference.
#[test]
fn free_answers_do_not_tell_when_a_page_was_bought() {
    let rig = Rig::start();
    let paths = [
        "/v1/x402/quote",
        "/quote",
        "/v1/proof-pack/quote",
        "/proof-pack/quote",
        "/v1/proof-pack/preview",
        "/proof-pack/preview",
        "/v1/checkout/confidence",
        "/checkout/confidence",
    ];
    let asked = || {
        let texts = paths.map(|path| {
            let answer = rig.get(&format!("{path}?target_url={FERRY}")).expect(200);
            plain(&rig, &answer.text())
        });
        let body = json!({"product": "context", "target_url": FERRY, "tier": "fresh"});
        let receipt = rig.post("/v1/quotes").json(&body).send().expect(201);
        assert_eq!(receipt.json()["content_sha256"], Value::Null);
        let kept = rig.get(&receipt.must("location")[BASE_URL.len()..]);
        let receipts = [receipt.text(), kept.expect(200).text()];
        let receipts = receipts.map(|text| plain(&rig, &text));
        texts.into_iter().chain(receipts).collect::<Vec<_>>()
    };
    rig.buy(&Wallet::new(), FERRY, "fresh").expect(200);
    until("the facilitator was probed", || {
        let health = rig.get("/v1/checkout/confidence").expect(200).text();
        !health.contains("The facilitator has not been checked yet.")
    });
    let before = asked();
    rig.pass(5_000);
    rig.site.put(
        "/ferry",
        Page::html("Another title", "Other words, sold a moment ago."),
    );
    rig.buy(&Wallet::new(), FERRY, "fresh").expect(200);
    for (path, (before, after)) in paths
        .iter()
        .chain(&["made", "kept"])
        .zip(before.iter().zip(asked()))
    {
        assert_eq!(*before, after, "{path}");
    }
}

/// An answer without what every answer has anew: identifiers, and the time of the quote itself.
fn plain(rig: &Rig, text: &str) -> String {
    let mut plain = String::new();
    for (number, piece) in text.split("qt_").enumerate() {
        let id = |c: &char| c.is_ascii_hexdigit();
        let rest = if number == 0 {
            piece
        } else {
            piece.trim_start_matches(|c| id(&c))
        };
        plain.push_str(rest);
    }
    if let Some((before, rest)) = plain.split_once("valid until <time ") {
        let (_, after) = rest.split_once("</time>").expect("a whole element");
        plain = format!("{before}{after}");
    }
    let now = rig.now();
    for time in [now.0, now.plus(7 * 24 * 3600).0] {
        plain = plain.replace(&time.to_string(), "TIME");
    }
    plain
}

/// A bare domain is refused everywhere but in the list of a bundle, with the address to send instead.
#[test]
fn a_bare_domain_is_refused_with_the_address_to_send() {
    let rig = Rig::start();
    let meant = "send https://news.sample-site.org/article instead";
    let bare = "news.sample-site.org/article";
    let told = ask(&rig, bare).refused(400, "invalid_target").text();
    assert!(told.contains(meant), "{told}");
    let page = rig.get(&format!("/quote?target_url={bare}")).expect(400);
    assert!(page.text().contains(meant), "{page:?}");
    let body = json!({"product": "context", "target_url": bare});
    let told = rig.post("/v1/quotes").json(&body).send();
    let told = told.invalid("url_parsing", &["body", "target_url"]).text();
    assert!(told.contains(meant), "{told}");
    let told = rig.buy(&Wallet::new(), bare, "fresh");
    let told = told.invalid("url_parsing", &["body", "target_url"]).text();
    assert!(told.contains(meant), "{told}");
    assert_eq!(rig.facilitator.verify_calls(), 0);
}

/// A tier that would not cover its costs is not called deliverable.
#[test]
fn a_quote_knows_the_margin() {
    let rig = Rig::with(|resolved| resolved.set("guard.gas_usdc", "0.02"));
    let quote = ask(&rig, ARTICLE).expect(200).json();
    assert_eq!(offer(&quote, "basic")["deliverable_now"], false);
    assert_eq!(offer(&quote, "deep")["deliverable_now"], true);
}

#[test]
fn a_target_that_cannot_be_sold_is_not_quoted() {
    let rig = Rig::start();
    for (target, code) in [
        ("not%20a%20url", "invalid_target"),
        ("", "invalid_target"),
        ("ftp%3A%2F%2Fnews.sample-site.org%2F", "invalid_target"),
        ("http://10.0.0.1/", "target_blocked"),
        ("http://inside.sample-site.org/", "target_blocked"),
        ("http://news.sample-site.org:8080/", "port_not_allowed"),
        ("http://localhost/", "target_blocked"),
    ] {
        let answer = ask(&rig, target);
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (400, code),
            "{target}: {answer:?}"
        );
        assert!(answer.json().get("quote_id").is_none());
    }
    assert_eq!(rig.site.requests().len(), 0);
}

#[test]
fn a_quote_is_kept_for_seven_days_and_then_said_to_be_over() {
    let mut rig = Rig::start();
    let quote = ask(&rig, ARTICLE).expect(200).json();
    let id = quote["quote_id"].as_str().expect("an id").to_owned();
    let receipt = rig.get(&format!("/v1/quotes/{id}")).expect(200).json();
    assert_eq!(receipt["status"], "success");
    assert_eq!(receipt["quote_id"], id.as_str());
    assert_eq!(receipt["product"], "context");
    assert_eq!(receipt["state"], "open");
    assert_eq!(
        receipt["request"],
        json!({"target_url": ARTICLE, "tier": "fresh"})
    );
    assert_eq!(
        (&receipt["amount_units"], &receipt["price_usdc"]),
        (&json!("30000"), &json!(0.03))
    );
    for member in ["created_at", "expires_at", "resume_page"] {
        assert_eq!(receipt[member], quote[member], "{member}");
    }
    rig.restart();
    rig.pass(7 * 24 * 3600 - 1);
    rig.work_off();
    rig.get(&format!("/v1/quotes/{id}")).expect(200);
    rig.get(&format!("/checkout/{id}")).expect(200);
    rig.pass(1);
    rig.work_off();
    let answer = rig.get(&format!("/v1/quotes/{id}"));
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (410, "quote_expired"),
        "{answer:?}"
    );
    let page = rig.get(&format!("/checkout/{id}")).expect(410);
    assert!(page.text().contains("expired"));
}

#[test]
fn a_receipt_names_the_content_it_knows() {
    let rig = Rig::start();
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
    let quote = ask(&rig, ARTICLE).expect(200).json();
    let id = quote["quote_id"].as_str().expect("an id");
    let receipt = rig.get(&format!("/v1/quotes/{id}")).expect(200).json();
    assert!(receipt.get("content_sha256").is_some(), "{receipt}");
}

#[test]
fn quotes_that_never_were_are_not_found() {
    let rig = Rig::start();
    for id in [
        "qt_00000000000000000000000000000000",
        "qt_",
        "nonsense",
        "QT_00000000000000000000000000000000",
        "rc_00000000000000000000000000000000",
        "%2e%2e",
    ] {
        rig.get(&format!("/v1/quotes/{id}"))
            .refused(404, "quote_not_found");
        let page = rig
            .ask("GET", &format!("/checkout/{id}"))
            .header("Accept", "text/html")
            .send();
        assert_eq!(page.status, 404, "{id}");
        assert_eq!(page.must("content-type"), "text/html; charset=utf-8");
    }
}

/// The page does without script what the JSON does.
#[test]
fn the_quote_page_asks_and_answers() {
    let rig = with_program();
    let form = rig.get("/quote").expect(200).text();
    assert!(
        form.contains("<form") && form.contains("name=\"target_url\""),
        "{form}"
    );
    let answer = rig.get(&format!("/quote?target_url={ARTICLE}")).expect(200);
    assert_eq!(answer.must("content-type"), "text/html; charset=utf-8");
    assert_eq!(answer.must("cache-control"), "no-store");
    let page = answer.text();
    assert!(
        page.contains("context402 buy") && page.contains(ARTICLE),
        "{page}"
    );
    for price in ["0.012", "0.015", "0.02", "0.03", "0.05"] {
        assert!(page.contains(price), "{price}");
    }
    let refused = rig.get("/quote?target_url=http://10.0.0.1/").expect(400);
    assert!(refused.text().contains("target_blocked"));
    assert_eq!(rig.site.requests().len(), 0);
}

#[test]
fn the_resume_page_repeats_the_command() {
    let rig = with_program();
    let quote = ask(&rig, ARTICLE).expect(200).json();
    let id = quote["quote_id"].as_str().expect("an id");
    let answer = rig.get(&format!("/checkout/{id}")).expect(200);
    assert_eq!(answer.must("x-robots-tag"), "noindex");
    assert!(answer.text().contains(ARTICLE) && answer.text().contains("context402 buy"));
}

/// What a stranger typed is text on the page.
#[test]
fn hostile_targets_are_shown_as_text() {
    let rig = Rig::start();
    for hostile in [
        "%22%3E%3Cscript%3Ealert(1)%3C/script%3E",
        "javascript:alert(1)",
        "http://news.sample-site.org/%22onmouseover=%22alert(1)",
        "http://news.sample-site.org/'%3B%20reboot%20'",
        "http://news.sample-site.org/%3Cimg%20src=x%20onerror=alert(1)%3E",
    ] {
        let page = rig.get(&format!("/quote?target_url={hostile}")).text();
        assert!(!page.contains("<script>alert"), "{page}");
        assert!(!page.contains("<img src=x"), "{page}");
        assert!(!page.contains("\"onmouseover"), "{page}");
        assert!(!page.contains("href=\"javascript"), "{page}");
    }
}

#[test]
fn a_quote_has_commands_for_three_languages() {
    let rig = Rig::start();
    let quote = ask(&rig, ARTICLE).expect(200).json();
    for language in ["curl", "node", "python"] {
        let commands = &quote["commands"];
        assert!(
            commands[language].is_string(),
            "{language} is missing: {commands}"
        );
    }
}

/// Prices and quotes say how a pack reads its source; without the entailment model all of them compare words alone.
#[test]
fn packs_say_how_they_read() {
    let mut rig = Rig::start();
    let told = |rig: &Rig, pack: usize| {
        let quote = rig.get(&format!("/v1/proof-pack/quote?target_url={FERRY}"));
        let reads = quote.expect(200).json()["packs"][pack]["reads"].clone();
        let reads = reads.as_str().expect("a text").to_owned();
        for path in [
            "/pricing",
            "/proof-pack",
            "/llms.txt",
            "/v1/proof-pack/quote",
            "/manifest.json",
            "/.well-known/x402",
        ] {
            assert!(
                rig.get(path).expect(200).text().contains(&reads),
                "{path}: {reads}"
            );
        }
        reads
    };
    assert!(!told(&rig, 0).contains("entailment model"));
    assert!(told(&rig, 1).contains("entailment model"));
    rig.reconfigure(|resolved| resolved.set("evidence.model", "false"));
    for pack in 0..3 {
        assert!(told(&rig, pack).ends_with(": compares words, names, numbers and dates."));
    }
    let report = rig
        .buy_report(&Wallet::new(), FERRY, "standard", FERRY_CLAIM)
        .expect(200)
        .json();
    assert_eq!(report["analysis"]["depth"], "quick");
    let summary = report["executive_summary"].as_str().expect("a text");
    assert!(
        summary.contains("entailment model was switched off"),
        "{summary}"
    );
}

#[test]
fn a_pack_quote_prices_every_pack_and_brings_the_request() {
    let rig = with_program();
    let question = "Do%20bicycles%20travel%20free%3F";
    let asked = format!("/v1/proof-pack/quote?target_url={FERRY}&question={question}&pack=deep");
    let answer = rig.get(&asked).expect(200);
    assert_eq!(answer.must("cache-control"), "no-store");
    let quote = answer.json();
    assert_eq!(
        (&quote["pack"], &quote["question"]),
        (&json!("deep"), &json!("Do bicycles travel free?"))
    );
    assert_eq!(quote["recommended_pack"], "standard");
    let packs = quote["packs"].as_array().expect("packs");
    let expected = [
        ("quick", "100000", 0.1),
        ("standard", "250000", 0.25),
        ("deep", "1000000", 1.0),
    ];
    assert_eq!(packs.len(), expected.len());
    for (pack, (name, amount, price)) in packs.iter().zip(expected) {
        assert_eq!(
            (&pack["pack"], &pack["amount"]),
            (&json!(name), &json!(amount))
        );
        assert_eq!(pack["price_usdc"], price);
        assert_eq!(pack["deliverable_now"], true);
        assert!(pack["policy"].is_string());
        assert_eq!(pack["endpoint"], "/v1/x402/proof-pack");
        assert_eq!(pack["accepts"][0]["amount"], amount);
    }
    assert_eq!(quote["margin_ok"], true);
    assert_eq!(quote["supplier_spend"], 0);
    assert_eq!(
        quote["body"],
        json!({"target_url": FERRY, "question": "Do bicycles travel free?", "pack": "deep"})
    );
    let command = quote["buyer_command"].as_str().expect("a command");
    assert!(
        command.contains("--pack deep") && command.contains("--question 'Do bicycles"),
        "{command}"
    );
    for language in ["curl", "node", "python"] {
        let text = quote["commands"][language].as_str().expect(language);
        assert!(text.contains("/v1/x402/proof-pack"), "{language}: {text}");
    }
    // The ready request buys what was quoted, at the quoted price.
    let payment = Wallet::new().sign_pack(&rig, "deep");
    let ask = rig.post("/v1/x402/proof-pack").json(&quote["body"]);
    let sold = ask.paid(&payment.header).send().expect(200).json();
    assert_eq!(sold["question"], "Do bicycles travel free?");
    assert_eq!(sold["payment"]["amount_units"], packs[2]["amount"]);

    let id = quote["quote_id"].as_str().expect("an id");
    let receipt = rig.get(&format!("/v1/quotes/{id}")).expect(200).json();
    assert_eq!(
        (&receipt["product"], &receipt["state"]),
        (&json!("proof_pack"), &json!("open"))
    );
    assert_eq!(receipt["request"], quote["body"]);
    assert_eq!(receipt["amount_units"], "1000000");
    let page = rig.get(&format!("/checkout/{id}")).expect(200).text();
    assert!(page.contains("--pack deep") && page.contains("Do bicycles travel free?"));
    rig.pass(7 * 24 * 3600);
    let page = rig.get(&format!("/checkout/{id}")).expect(410).text();
    assert!(page.contains("expired") && page.contains("/proof-pack/quote"));
    // Only the identifier is still known, before and after the work that is due.
    assert!(!page.contains("Do bicycles travel free?"), "{page}");
    rig.work_off();
    let later = rig.get(&format!("/checkout/{id}")).expect(410).text();
    assert_eq!(later, page);
}

#[test]
fn a_pack_quote_without_anything_is_of_the_sample() {
    let rig = Rig::start();
    let quote = rig.get("/v1/proof-pack/quote").expect(200).json();
    assert_eq!(quote["target_url"], format!("{BASE_URL}/sample"));
    assert_eq!(quote["question"], "What does this source establish?");
    assert_eq!(
        (&quote["pack"], &quote["sample_available"]),
        (&json!("standard"), &json!(true))
    );
}

#[test]
fn what_cannot_be_quoted_is_refused() {
    let rig = Rig::start();
    for path in ["/v1/proof-pack/quote", "/v1/proof-pack/preview"] {
        rig.get(&format!("{path}?pack=huge"))
            .refused(400, "invalid_pack");
        rig.get(&format!("{path}?target_url=http://10.0.0.1/"))
            .refused(400, "target_blocked");
        rig.get(&format!("{path}?target_url=nonsense"))
            .refused(400, "invalid_target");
        rig.get(&format!("{path}?question={}", "a".repeat(1001)))
            .invalid("string_too_long", &["query", "question"]);
    }
    // Each product that documents link to is judged.
    for product in Product::ALL {
        let sources = match product {
            Product::ProofBundle => "&target_urls=a.example.com%20b.example.org",
            _ => "",
        };
        let path = format!(
            "/v1/checkout/confidence?product={}{sources}",
            product.name()
        );
        let judged = rig.get(&path).expect(200).json();
        assert_eq!(judged["product"], product.name(), "{judged}");
    }
    let judged = rig.get("/v1/checkout/confidence?product=check").json();
    let level = Product::Check.default_level();
    assert_eq!(
        (&judged["depth"], &judged["price"]["amount_units"]),
        (&json!(level.name()), &json!(amount(level)))
    );
    assert!(
        judged["what_you_get"].to_string().contains("Each claim"),
        "{judged}"
    );
    rig.get("/v1/checkout/confidence?product=yacht")
        .refused(400, "invalid_product");
    rig.get("/v1/checkout/confidence?product=context&tier=golden")
        .refused(400, "invalid_tier");
    for path in ["/v1/proof-pack/bundle/quote", "/v1/checkout/confidence"] {
        rig.get(&format!("{path}?bundle=huge"))
            .refused(400, "invalid_bundle");
    }
    rig.get("/v1/checkout/confidence?pack=huge")
        .refused(400, "invalid_pack");
}

/// What a quote is for is never guessed: a target under another name is not the sample page, and of two values neither
/// is the first.
#[test]
fn a_quote_is_of_what_was_meant() {
    let rig = Rig::start();
    for (path, wanted) in [
        ("/v1/x402/quote", "target_url"),
        ("/v1/proof-pack/quote", "target_url"),
        ("/v1/proof-pack/preview", "target_url"),
        ("/v1/checkout/confidence", "target_url"),
        ("/v1/proof-pack/bundle/quote", "target_urls"),
        (
            "/v1/checkout/confidence?product=proof_bundle",
            "target_urls",
        ),
    ] {
        let mark = if path.contains('?') { '&' } else { '?' };
        for name in ["url", "URL", "targetUrl", "link", "page"] {
            let query = format!("{path}{mark}{name}={ARTICLE}");
            let answer = rig.get(&query).invalid("extra_forbidden", &["query", name]);
            let told = answer.json()["detail"][0]["msg"].to_string();
            assert!(
                told.contains(&format!("send the target as {wanted}")),
                "{query} {told}"
            );
        }
        // Labels of campaigns are no targets; a bundle's quote has no sample to stand in.
        let labelled = rig.get(&format!("{path}{mark}utm_source=a&ref=b&page=2"));
        match path.ends_with("/bundle/quote") {
            true => labelled.invalid("missing", &["query", "target_urls"]),
            false => labelled.expect(200),
        };
    }
    let twice = format!("target_url={ARTICLE}&target_url=http://news.sample-site.org/other");
    rig.get(&format!("/v1/x402/quote?{twice}"))
        .invalid("value_error", &["query", "target_url"]);
    rig.get(&format!(
        "/v1/x402/quote?target_url={ARTICLE}&target_url={ARTICLE}"
    ))
    .expect(200);
    rig.get("/v1/proof-pack/quote?pack=quick&pack=deep")
        .invalid("value_error", &["query", "pack"]);
    rig.get("/v1/checkout/confidence?product=context&product=proof_pack")
        .invalid("value_error", &["query", "product"]);
    rig.get("/v1/proof-pack/bundle/quote?bundle=scout&bundle=audit")
        .invalid("value_error", &["query", "bundle"]);
}

/// An address that is too long is one thing by every method, and a target that is too long another.
#[test]
fn what_is_too_long_is_told_apart_from_where_it_stands() {
    let rig = Rig::start();
    let target = format!("http://news.sample-site.org/{}", "a".repeat(3_000));
    rig.get(&format!("/v1/x402/quote?target_url={target}"))
        .refused(400, "invalid_target");
    let body = json!({"product": "context", "target_url": target});
    rig.post("/v1/quotes")
        .json(&body)
        .send()
        .invalid("string_too_long", &["body", "target_url"]);
    for bytes in [9_000, 27_000, 40_000, 200_000] {
        let query = format!("?x={}", "a".repeat(bytes));
        for (method, path) in [
            ("GET", "/v1/x402/quote"),
            ("POST", "/v1/quotes"),
            ("POST", "/v1/x402/access"),
            ("DELETE", "/nothing"),
        ] {
            let answer = rig.ask(method, &format!("{path}{query}")).send();
            answer.refused(414, "uri_too_long");
        }
    }
}

#[test]
fn the_pack_quote_page_asks_and_answers() {
    let rig = with_program();
    let form = rig.get("/proof-pack/quote").expect(200).text();
    assert!(form.contains("name=\"target_url\"") && form.contains("name=\"question\""));
    let page = rig
        .get(&format!(
            "/proof-pack/quote?target_url={FERRY}&question=Is+it+%3Cfree%3E%3F"
        ))
        .expect(200)
        .text();
    assert!(page.contains("--pack standard") && page.contains("Is it &lt;free&gt;?"));
    assert!(!page.contains("<free>"));
    rig.get("/proof-pack/quote?target_url=http://10.0.0.1/")
        .expect(400);
    assert_eq!(rig.site.requests().len(), 0);
}

/// Nothing is fetched, kept or spent.
#[test]
fn a_preview_says_what_a_report_would_hold() {
    let rig = Rig::start();
    let path = format!("/v1/proof-pack/preview?target_url={FERRY}&pack=quick");
    let preview = rig.get(&path).expect(200).json();
    assert_eq!(
        (&preview["pack"], &preview["supplier_spend"]),
        (&json!("quick"), &json!(0))
    );
    assert_eq!(preview["cached_source"]["available"], false);
    assert_eq!(preview["limits"]["max_bytes"], 5_242_880);
    assert!(
        preview["would_include"]
            .as_array()
            .is_some_and(|all| all.len() >= 5)
    );
    for member in ["citations", "seconds"] {
        assert!(preview["estimated"][member].is_u64(), "{member}");
    }
    for member in ["sample_report_url", "quote_url"] {
        let address = preview[member].as_str().expect(member);
        rig.get(&address[BASE_URL.len()..]).expect(200);
    }
    rig.buy(&Wallet::new(), FERRY, "fresh").expect(200);
    rig.pass(60);
    let cached = rig.get(&path).expect(200).json()["cached_source"].clone();
    assert_eq!(
        cached,
        json!({"available": true, "age_seconds": null, "title": null, "content_sha256": null})
    );
    let text = rig.get(&format!("/proof-pack/preview?target_url={FERRY}"));
    assert!(!text.expect(200).text().contains("Harbour ferry fares"));
    assert_eq!(
        rig.site.requests().len(),
        2,
        "the page and its robots.txt, for the sale alone"
    );
}

#[test]
fn confidence_says_whether_a_purchase_would_go_well() {
    let rig = Rig::start();
    let ask = |query: &str| {
        rig.get(&format!("/v1/checkout/confidence?{query}"))
            .expect(200)
            .json()
    };
    until("the facilitator was probed", || {
        let checks = ask("")["checks"].clone();
        let all = checks.as_array().cloned().unwrap_or_default();
        all.iter()
            .all(|check| check["id"] != "facilitator" || check["status"] == "pass")
    });
    let sample = ask("");
    assert_eq!(
        (&sample["product"], &sample["pack"]),
        (&json!("proof_pack"), &json!("standard"))
    );
    assert_eq!(
        (&sample["ready"], &sample["score"]),
        (&json!(true), &json!(1.0))
    );
    assert_eq!(
        sample["price"],
        json!({"amount_units": "250000", "price_usdc": 0.25})
    );
    for member in ["refund_policy", "sample_url", "support_url"] {
        assert!(sample[member].is_string(), "{member}");
    }
    assert_eq!(
        sample["delivery"]["channels"],
        json!(["browser", "pdf", "json"])
    );
    for member in ["checks", "what_you_get", "payment_methods"] {
        assert!(
            sample[member].as_array().is_some_and(|all| !all.is_empty()),
            "{member}"
        );
    }
    for check in sample["checks"].as_array().expect("checks") {
        for member in ["id", "label", "status", "detail"] {
            assert!(check[member].is_string(), "{member}");
        }
    }
    let unknown = ask(&format!("product=context&target_url={ARTICLE}"));
    assert_eq!(
        (&unknown["product"], &unknown["tier"]),
        (&json!("context"), &json!("fresh"))
    );
    assert_eq!(unknown["ready"], true);
    assert!(
        unknown["score"].as_f64().is_some_and(|score| score < 1.0),
        "it was never read"
    );
    // A level that is named is the one that is judged, and one that does not exist is refused.
    let cached = ask(&format!("product=context&tier=cached&target_url={ARTICLE}"));
    assert_eq!(
        (&cached["tier"], &cached["price"]["amount_units"]),
        (&json!("cached"), &json!("15000"))
    );
    assert_eq!(cached["ready"], false, "the page is not kept");
    rig.get("/v1/checkout/confidence?product=context&tier=gold")
        .refused(400, "invalid_tier");
    let blocked = ask("target_url=http://10.0.0.1/&pack=quick");
    assert_eq!(blocked["ready"], false);
    assert_eq!(blocked["checks"][0]["status"], "fail");
    let page = rig.get("/checkout/confidence?target_url=http://10.0.0.1/");
    assert!(page.expect(200).text().contains("fail"));
    assert_eq!(rig.site.requests().len(), 0);
}

/// 201, Location, and the receipt itself.
#[test]
fn quotes_are_made_by_post_too() {
    let rig = Rig::start();
    let post = |body: &Value| rig.post("/v1/quotes").json(body).send();
    let request = json!({"product": "proof_pack", "target_url": FERRY, "pack": "quick", "question": "Is it free?", "source": "a-list"});
    let answer = post(&request).expect(201);
    let receipt = answer.json();
    let id = receipt["quote_id"].as_str().expect("an id");
    assert_eq!(
        answer.must("location"),
        format!("{BASE_URL}/v1/quotes/{id}")
    );
    assert_eq!(
        receipt["request"],
        json!({"target_url": FERRY, "question": "Is it free?", "pack": "quick"})
    );
    assert_eq!(
        (&receipt["product"], &receipt["amount_units"]),
        (&json!("proof_pack"), &json!("100000"))
    );
    let kept = rig.get(&format!("/v1/quotes/{id}")).expect(200);
    assert_eq!(kept.json(), receipt);
    let page = post(&json!({"product": "context", "target_url": ARTICLE, "tier": "deep"}));
    assert_eq!(
        page.expect(201).json()["request"],
        json!({"target_url": ARTICLE, "tier": "deep"})
    );
    let form = rig
        .post("/v1/quotes")
        .header("Content-Type", "application/x-www-form-urlencoded")
        .body("product=proof_pack&target_url=http%3A%2F%2Fnews.sample-site.org%2Fferry");
    assert_eq!(
        form.send().expect(201).json()["request"]["pack"],
        "standard"
    );
    post(&json!({"target_url": FERRY})).invalid("missing", &["body", "product"]);
    post(&json!({"product": "proof_pack"})).invalid("missing", &["body", "target_url"]);
    post(&json!({"product": "context", "target_url": FERRY, "pack": "quick"}))
        .invalid("value_error", &["body", "pack"]);
    post(&json!({"product": "proof_pack", "target_url": FERRY, "tier": "deep"}))
        .invalid("value_error", &["body", "tier"]);
    post(&json!({"product": "context", "target_url": "nonsense"}))
        .invalid("url_parsing", &["body", "target_url"]);
    post(&json!({"product": "context", "target_url": "http://10.0.0.1/"}))
        .refused(400, "target_blocked");
    assert_eq!(rig.site.requests().len(), 0);
}
