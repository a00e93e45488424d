//! Being asked for money: the 402 of an unpaid request and the probes of directories.

use context402::x402::encoding;
use serde_json::{Value, json};

use crate::harness::{
    ACCESS, ARTICLE, Ask, BASE_URL, DEEP, PAY_TO, PROOF_PACK, Rig, Says, Wallet, amount, order,
};

/// Directories probe with anything or nothing.
#[test]
fn an_unpaid_request_is_asked_for_money_whatever_its_body_is() {
    let rig = Rig::start();
    let huge = vec![b'x'; 64 * 1024];
    let bodies: [&[u8]; 10] = [
        b"",
        b"{}",
        b"null",
        b"[1,2,3]",
        b"not json at all",
        b"{\"target_url\": 7, \"tier\": [], \"unknown\": true}",
        b"{\"tier\": \"golden\"}",
        b"{\"tier\": \"fresh\", \"tier\": \"deep\"}",
        b"\xff\xfe\x00\x01",
        &huge,
    ];
    for body in bodies {
        for content_type in [
            None,
            Some("application/json"),
            Some("text/html"),
            Some("multipart/form-data; boundary=x"),
        ] {
            let mut ask = rig.post(ACCESS).body(body);
            if let Some(content_type) = content_type {
                ask = ask.header("Content-Type", content_type);
            }
            let answer = ask.send().expect(402);
            assert_eq!(answer.must("x-service-payment-tier"), "fresh");
        }
    }
    assert_eq!(
        (rig.facilitator.verify_calls(), rig.site.requests().len()),
        (0, 0)
    );
}

#[test]
fn the_402_carries_its_headers_and_the_header_is_the_body() {
    let rig = Rig::start();
    for tier in ["starter", "cached", "basic", "fresh", "deep"] {
        let answer = rig
            .post(&format!("{ACCESS}?tier={tier}"))
            .send()
            .expect(402);
        let required = answer.must("payment-required");
        assert_eq!(
            encoding::decode(required).as_ref(),
            Some(&answer.body),
            "{tier}"
        );
        assert_eq!(required, encoding::encode(&answer.body));
        assert!(answer.body.len() <= 2_900, "{} bytes", answer.body.len());
        assert_eq!(answer.must("x-payment-required"), required);
        assert_eq!(answer.must("x-service-payment-tier"), tier);
        for (name, path) in [
            ("x-service-paid-test", "/paid-test"),
            ("x-service-quickstart", "/quickstart"),
            ("x-service-quote", "/v1/x402/quote"),
            ("x-service-buyer-example", "/quickstart#buyer"),
        ] {
            assert_eq!(answer.must(name), format!("{BASE_URL}{path}"));
        }
        assert_eq!(answer.must("content-type"), "application/json");
        assert_eq!(answer.must("cache-control"), "no-store");
        assert_eq!(answer.header("payment-response"), None);
    }
}

#[test]
fn the_challenge_says_what_is_sold_and_how_it_is_paid() {
    let rig = Rig::start();
    let challenge = rig
        .post(&format!("{ACCESS}?tier=deep"))
        .send()
        .expect(402)
        .json();
    assert_eq!(challenge["x402Version"], 2);
    assert_eq!(challenge["error"], "PAYMENT-SIGNATURE header is required");
    assert_eq!(
        challenge["accepts"],
        json!([{
            "scheme": "exact", "network": "eip155:8453", "amount": "50000",
            "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "payTo": PAY_TO, "maxTimeoutSeconds": 300,
            "extra": {"name": "USD Coin", "version": "2"},
        }])
    );
    let resource = &challenge["resource"];
    assert_eq!(resource["url"], format!("{BASE_URL}{ACCESS}"));
    assert_eq!(resource["mimeType"], "application/json");
    assert_eq!(resource["iconUrl"], format!("{BASE_URL}/icon.png"));
    assert_eq!(
        resource["tags"],
        json!(["markdown", "scrape", "web", "context"])
    );
    let description = resource["description"].as_str().expect("a description");
    assert!(
        description.contains("deep")
            && description.contains("0.05 USDC")
            && description.len() <= 300
    );

    let extensions = challenge["extensions"].as_object().expect("extensions");
    let names: Vec<&String> = extensions.keys().collect();
    assert_eq!(names, ["bazaar", "payment-identifier"]);
    let input = &extensions["bazaar"]["info"]["input"];
    assert_eq!(
        (&input["type"], &input["method"], &input["bodyType"]),
        (&json!("http"), &json!("POST"), &json!("json"))
    );
    assert_eq!(input["body"]["tier"], "deep");
    let schema = &extensions["bazaar"]["schema"]["properties"]["input"]["properties"]["body"];
    assert_eq!(schema["required"], json!(["target_url"]));
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(
        extensions["payment-identifier"]["info"],
        json!({"required": false})
    );
}

/// A client that checks its body against the challenge's schema can buy several pages.
#[test]
fn the_challenge_of_several_pages_describes_a_body_of_several() {
    let rig = Rig::start();
    let body = json!({"target_urls": [ARTICLE, "https://example.com/"], "tier": "fresh"});
    let answer = rig.post(ACCESS).json(&body).send().expect(402);
    assert!(answer.body.len() <= 2_900, "{}", answer.body.len());
    let bazaar = &answer.challenge()["extensions"]["bazaar"];
    let schema = &bazaar["schema"]["properties"]["input"]["properties"]["body"];
    assert_eq!(schema["required"], json!(["target_urls"]), "{schema}");
    let example = &bazaar["info"]["input"]["body"];
    assert_eq!(example["target_urls"].as_array().map(Vec::len), Some(2));
}

/// The stated tier is priced: query, then header, then a readable body, then the default.
#[test]
fn the_price_is_that_of_the_stated_tier() {
    let rig = Rig::start();
    let priced = |ask: Ask| {
        let answer = ask.send().expect(402);
        answer.must("x-service-payment-tier").to_owned()
    };
    let all = |query: &str, header: &str, body: &str| {
        rig.post(&format!("{ACCESS}{query}"))
            .header("X-Service-Tier", header)
            .json(&order(ARTICLE, body))
    };
    assert_eq!(priced(all("?tier=deep", "basic", "cached")), "deep");
    assert_eq!(priced(all("", "basic", "cached")), "basic");
    assert_eq!(priced(rig.order(ARTICLE, "cached")), "cached");
    assert_eq!(
        priced(rig.post(ACCESS).body("{\"tier\":\"starter\"}")),
        "starter"
    );
    assert_eq!(priced(rig.post(&format!("{ACCESS}?source=x"))), "fresh");
}

#[test]
fn a_tier_that_does_not_exist_is_400_on_the_sale_and_422_on_the_probes() {
    let rig = Rig::start();
    for tier in [
        "golden",
        "Fresh",
        "FRESH",
        "fresh%20",
        "",
        "0",
        "fr%00esh",
        "fresh,deep",
    ] {
        let answer = rig.post(&format!("{ACCESS}?tier={tier}")).send();
        answer.refused(400, "invalid_tier");
        let answer = rig.get(&format!("{ACCESS}?tier={tier}"));
        answer.invalid("literal_error", &["query", "tier"]);
    }
    let with_header = |method: &str| {
        rig.ask(method, ACCESS)
            .header("X-Service-Tier", "golden")
            .send()
    };
    with_header("POST").refused(400, "invalid_tier");
    with_header("GET").invalid("literal_error", &["header", "X-Service-Tier"]);
    assert_eq!(with_header("HEAD").expect(422).body, b"");
    // A good tier in the query does not excuse a bad one in the header.
    let answer = rig
        .post(&format!("{ACCESS}?tier=deep"))
        .header("X-Service-Tier", "golden")
        .send();
    answer.refused(400, "invalid_tier");
    // With a payment it is the same, and in a validated body it is a validation error.
    let payment = Wallet::new().sign(&rig, "fresh");
    let answer = rig
        .post(&format!("{ACCESS}?tier=golden"))
        .json(&order(ARTICLE, "fresh"))
        .paid(&payment.header)
        .send();
    answer.refused(400, "invalid_tier");
    let answer = rig.pay(&payment, ARTICLE, "golden");
    answer.invalid("literal_error", &["body", "tier"]);
    assert_eq!(rig.facilitator.verify_calls(), 0);
}

/// Of two levels in one place neither comes first.
#[test]
fn two_levels_in_one_place_are_refused_before_anybody_signs() {
    let rig = Rig::start();
    for (path, word, code) in [
        (ACCESS, "tier", "tier_mismatch"),
        (PROOF_PACK, "pack", "pack_mismatch"),
    ] {
        let names = match word {
            "tier" => ["fresh", "deep"],
            _ => ["quick", "deep"],
        };
        let [one, other] = names;
        let twice = format!("{path}?{word}={one}&{word}={other}");
        rig.post(&twice).send().refused(400, code);
        rig.get(&twice).invalid("value_error", &["query", word]);
        let header = if word == "tier" {
            "X-Service-Tier"
        } else {
            "X-Service-Pack"
        };
        let in_headers = |method: &str| {
            let ask = rig.ask(method, path).header(header, one);
            ask.header(header, other).send()
        };
        in_headers("POST").refused(400, code);
        in_headers("GET").invalid("value_error", &["header", header]);
        // The same twice is one.
        let same = rig.post(&format!("{path}?{word}={other}&{word}={other}"));
        let level = format!("x-service-payment-{word}");
        assert_eq!(same.send().expect(402).must(&level), other);
    }
}

/// The price comes before the refusal, so the challenge itself says that a payment for this request would
/// be refused.
#[test]
fn a_challenge_for_a_request_that_disagrees_with_itself_says_so() {
    let rig = Rig::start();
    let plain = "PAYMENT-SIGNATURE header is required";
    let error = |ask: Ask| ask.send().expect(402).challenge()["error"].to_string();
    let agreed = rig.post(&format!("{ACCESS}?tier=deep"));
    let agreed = error(agreed.json(&order(ARTICLE, "deep")));
    assert_eq!(agreed, format!("\"{plain}\""));
    let in_body = rig.post(&format!("{ACCESS}?tier=deep"));
    let in_body = in_body.json(&order(ARTICLE, "fresh"));
    let in_header = rig.post(&format!("{ACCESS}?tier=deep"));
    let in_header = in_header.header("X-Service-Tier", "fresh");
    for ask in [in_body, in_header] {
        let answer = ask.send().expect(402);
        assert_eq!(answer.must("x-service-payment-tier"), "deep");
        assert_eq!(answer.challenge()["accepts"][0]["amount"], amount(DEEP));
        let told = answer.challenge()["error"].to_string();
        for part in [plain, "different tiers", "the price of deep", "refused"] {
            assert!(told.contains(part), "{part}: {told}");
        }
        assert!(answer.body.len() <= 2_900, "{}", answer.body.len());
    }
}

/// A request that can never be served still gets its price, and why a payment for it would be refused. Nothing is looked up
/// for that.
#[test]
fn a_challenge_for_a_request_that_cannot_be_served_says_why() {
    let rig = Rig::start();
    let told = |path: &str, body: &str| {
        let answer = rig.post(path).body(body).send().expect(402);
        assert!(answer.body.len() <= 2_900, "{}", answer.body.len());
        let challenge = answer.challenge();
        assert!(challenge["extensions"]["bazaar"].is_object(), "{challenge}");
        let error = challenge["error"].as_str().expect("a text").to_owned();
        assert!(error.starts_with("PAYMENT-SIGNATURE header is required"));
        error
    };
    let page = "{\"target_url\":\"https://example.com/\"";
    for (path, body, why) in [
        (ACCESS, "not json".to_owned(), "JSON"),
        (
            ACCESS,
            "{\"tier\":\"fresh\"}".to_owned(),
            "body.target_url: Field required.",
        ),
        (
            ACCESS,
            format!("{page},\"tier\":\"golden\"}}"),
            "body.tier: ",
        ),
        (
            ACCESS,
            format!("{page},\"unknown\":true}}"),
            "body.unknown: ",
        ),
        (
            PROOF_PACK,
            format!("{page},\"tier\":\"fresh\"}}"),
            "body.tier: ",
        ),
    ] {
        let told = told(path, &body);
        for part in [why, "cannot be served as it stands", "before you sign"] {
            assert!(told.contains(part), "{body}: {part}: {told}");
        }
    }
    let long = format!("{{\"target_url\":\"x{}\"}}", "é".repeat(3_000));
    assert!(told(ACCESS, &long).len() < 600, "{}", told(ACCESS, &long));
    // What can be served, and what a directory probes with, gets the challenge that is made once.
    for body in ["", "{}", " {}\n", &format!("{page}}}")] {
        assert_eq!(told(ACCESS, body), "PAYMENT-SIGNATURE header is required");
    }
    assert!(rig.site.requests().is_empty(), "nothing is fetched");
}

/// The rules of a purchase that need no lookup are told before anybody signs, too.
#[test]
fn a_challenge_tells_which_rule_of_its_purchase_a_request_breaks() {
    let rig = Rig::start();
    let urls = |count: usize| -> Value {
        let urls = (0..count).map(|number| format!("https://example.com/{number}"));
        urls.collect::<Vec<_>>().into()
    };
    let (page, bundle) = ("https://example.com/", "/v1/x402/proof-bundle");
    for (path, body, why) in [
        (
            ACCESS,
            json!({"target_url": page, "tier": "cached", "selector": "main"}),
            "the tier cached",
        ),
        (
            ACCESS,
            json!({"target_url": page, "tier": "cached", "force_refresh": true}),
            "force_refresh is not supported",
        ),
        (
            ACCESS,
            json!({"target_url": page, "selector": "main["}),
            "body.selector: it is not a usable CSS selector",
        ),
        (
            ACCESS,
            json!({"target_urls": urls(2), "min_pages": 3}),
            "min_pages is larger",
        ),
        (ACCESS, json!({"target_urls": urls(1)}), "2 to 10 pages"),
        (
            ACCESS,
            json!({"target_url": page, "render": "always"}),
            "no browser: leave `render` out",
        ),
        (
            ACCESS,
            json!({"target_url": "ftp://example.com/"}),
            "must begin with http",
        ),
        (
            ACCESS,
            json!({"target_url": "http://10.0.0.1/"}),
            "only public addresses are read",
        ),
        (
            ACCESS,
            json!({"target_urls": [page, "http://localhost/"]}),
            "The source is http://localhost/",
        ),
        (
            PROOF_PACK,
            json!({"target_url": page, "pack": "standard", "screenshot": true}),
            "screenshot needs the pack deep",
        ),
        (
            bundle,
            json!({"target_urls": urls(4), "bundle": "scout"}),
            "builder takes 4",
        ),
        (
            bundle,
            json!({"target_urls": urls(1)}),
            "at least 2 sources",
        ),
        (bundle, json!({"sources": urls(1)}), "at least 2 sources"),
        (bundle, json!({"target_urls": urls(26)}), "at most 25"),
        (
            bundle,
            json!({"target_urls": urls(2), "claims": ["It is."], "question": "Is it?"}),
            "either a question or claims",
        ),
        (
            "/v1/x402/check",
            json!({"text": "It is.", "sources": ["http://10.0.0.1/"]}),
            "only public addresses are read",
        ),
    ] {
        let answer = rig.post(path).json(&body).send().expect(402);
        assert!(answer.body.len() <= 2_900, "{}", answer.body.len());
        let told = answer.challenge()["error"].to_string();
        for part in [why, "cannot be served as it stands", "before you sign"] {
            assert!(told.contains(part), "{body}: {part}: {told}");
        }
        assert!(!told.contains("Value error"), "{told}");
    }
    // The price is that of the request, served or not.
    let four = json!({"target_urls": urls(4), "bundle": "scout"});
    let answer = rig.post(bundle).json(&four).send().expect(402);
    assert_eq!(answer.challenge()["accepts"][0]["amount"], "2000000");
    assert!(rig.site.requests().is_empty(), "nothing is fetched");
}

/// A client of version 1 would pay for ever without learning that its header is not read.
#[test]
fn a_payment_of_version_1_is_told_that_only_version_2_is_accepted() {
    let rig = Rig::start();
    let order = order(ARTICLE, "fresh");
    let ask = rig.post(ACCESS).json(&order).header("X-PAYMENT", "AAAA");
    let told = ask.send().expect(402).challenge()["error"].to_string();
    for part in ["PAYMENT-SIGNATURE", "X-PAYMENT", "version 2"] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

/// 200 with the challenge, no upstream work, no payment.
#[test]
fn probes_show_the_challenge_and_take_no_payment() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    for path in [ACCESS, "/from/a-list/v1/x402/access"] {
        for (query, tier) in [("", "fresh"), ("?tier=deep", "deep")] {
            let target = format!("{path}{query}");
            let asked = rig.post(&target).send().expect(402);
            let payment = wallet.sign(&rig, tier);
            let probe = rig
                .ask("GET", &target)
                .paid(&payment.header)
                .send()
                .expect(200);
            assert_eq!(probe.body, asked.body, "{target}");
            let head = rig
                .ask("HEAD", &target)
                .paid(&payment.header)
                .send()
                .expect(200);
            assert_eq!(head.body, b"");
            for name in [
                "payment-required",
                "x-payment-required",
                "x-service-payment-tier",
                "x-service-paid-test",
                "x-service-quickstart",
                "x-service-quote",
                "x-service-buyer-example",
                "cache-control",
                "content-type",
                "content-length",
            ] {
                assert_eq!(probe.header(name), asked.header(name), "{target} {name}");
                assert_eq!(head.header(name), asked.header(name), "{target} {name}");
            }
        }
    }
    assert_eq!(
        (
            rig.facilitator.verify_calls(),
            rig.facilitator.settle_calls()
        ),
        (0, 0)
    );
    assert_eq!(rig.site.requests().len(), 0);
}

/// The price needs nobody else.
#[test]
fn the_price_is_told_while_the_facilitator_is_gone() {
    let rig = Rig::with(|resolved| {
        resolved.set("payment.facilitator_url", "http://127.0.0.1:9");
    });
    rig.order(ARTICLE, "fresh").send().expect(402);
    rig.get(ACCESS).expect(200);
    let wallet = Wallet::new();
    let answer = rig.buy(&wallet, ARTICLE, "fresh");
    answer.refused(503, "network_unavailable");
    assert_eq!(rig.site.requests().len(), 0);
}

/// A version 1 payment is not one of ours: it is as if nothing had been paid.
#[test]
fn a_version_1_payment_alone_is_asked_for_version_2() {
    let rig = Rig::start();
    let v1 = encoding::encode(
        json!({"x402Version": 1, "scheme": "exact", "network": "base", "payload": {}})
            .to_string()
            .as_bytes(),
    );
    let answer = rig.order(ARTICLE, "fresh").header("X-PAYMENT", v1).send();
    assert_eq!(answer.expect(402).json()["x402Version"], 2);
}

/// After a payment that was not taken, the fresh challenge says why, in the facilitator's word if it is one.
#[test]
fn a_new_challenge_says_why_the_last_payment_was_not_taken() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    for (said, shown) in [
        ("insufficient_funds", "insufficient_funds"),
        (
            "invalid_exact_evm_payload_signature",
            "invalid_exact_evm_payload_signature",
        ),
        // Neither markup nor stack traces are passed on.
        ("<script>alert(1)</script>", "payment_invalid"),
        (
            "Error: connect 10.0.0.7:8545\n  at x.js:1",
            "payment_invalid",
        ),
    ] {
        rig.facilitator.verifies(Says::No(said));
        let answer = rig.buy(&wallet, ARTICLE, "deep").expect(402);
        let challenge: Value = answer.challenge();
        assert_eq!(challenge["error"], shown);
        assert_eq!(challenge["accepts"][0]["amount"], amount(DEEP));
        assert_eq!(
            encoding::decode(answer.must("payment-required")),
            Some(answer.body.clone())
        );
        assert!(answer.body.len() <= 2_900);
        assert_eq!(answer.header("payment-response"), None);
        assert_eq!(answer.header("x-service-retry-credit"), None);
    }
    assert_eq!(rig.facilitator.settle_calls(), 0);
    assert_eq!(rig.site.requests().len(), 0);
}
