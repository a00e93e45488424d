//! The paid operation: asking for the price, paying, and what the buyer gets.

use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::harness::{
    ACCESS, ARTICLE, Ask, BASE_URL, DEEP, FRESH, PAY_TO, Page, Rig, STARTER, Wallet, amount,
    for_each, order, price,
};

const TIERS: [(&str, u64); 5] = [
    ("starter", 12_000),
    ("cached", 15_000),
    ("basic", 20_000),
    ("fresh", 30_000),
    ("deep", 50_000),
];

#[test]
fn every_tier_is_sold_at_its_price_wherever_it_is_stated() {
    let rig = Rig::start();
    // Somebody has to fetch the page before the tiers that only read the cache can sell it.
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
    for (tier, units) in TIERS {
        let in_query = rig
            .post(&format!("{ACCESS}?tier={tier}"))
            .json(&json!({"target_url": ARTICLE}));
        let in_header = rig
            .post(ACCESS)
            .header("X-Service-Tier", tier)
            .json(&json!({"target_url": ARTICLE}));
        let in_body = rig.order(ARTICLE, tier);
        for ask in [in_query, in_header, in_body] {
            let asked = ask.send().expect(402);
            assert_eq!(
                asked.challenge()["accepts"][0]["amount"],
                units.to_string(),
                "{tier}"
            );
            assert_eq!(asked.must("x-service-payment-tier"), tier);
            let wallet = Wallet::new();
            let payment = wallet.sign(&rig, tier);
            let answer = ask.paid(&payment.header).send().expect(200);
            let body = answer.json();
            assert_eq!(body["tier"], tier);
            assert_eq!(body["payment"]["amount_units"], units.to_string());
            assert_eq!(rig.facilitator.spent(wallet.address()), u128::from(units));
        }
    }
    assert_eq!(rig.facilitator.settlements(), 16);
}

#[test]
fn a_sale_without_a_stated_tier_is_a_fresh_one() {
    let rig = Rig::start();
    let ask = rig.post(ACCESS).json(&json!({"target_url": ARTICLE}));
    let asked = ask.send().expect(402);
    assert_eq!(asked.challenge()["accepts"][0]["amount"], amount(FRESH));
    assert_eq!(
        asked.challenge()["resource"]["url"],
        format!("{BASE_URL}{ACCESS}")
    );
    let payment = Wallet::new().sign(&rig, "fresh");
    let answer = ask.paid(&payment.header).send().expect(200);
    assert_eq!(answer.json()["tier"], "fresh");
    assert_eq!(rig.site.hits("/article"), 1);
}

/// Every place where a tier can be stated either agrees with the others, or the payment is refused untouched.
#[test]
fn query_header_and_body_must_agree() {
    let rig = Rig::start();
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
    let calls = rig.facilitator.verify_calls();
    let wallet = Wallet::new();
    let mut refused = 0;
    // A sample of the 5 x 5 x 5 matrix: every pair of places meets every pair of tiers at least once.
    for (first, (query, _)) in TIERS.iter().enumerate() {
        for (second, (header, _)) in TIERS.iter().enumerate() {
            let names = [*query, *header, TIERS[(first + 2 * second) % 5].0];
            // Whatever is paid for, the three must agree first.
            let payment = wallet.sign(&rig, names[2]);
            let answer = rig
                .post(&format!("{ACCESS}?tier={}", names[0]))
                .header("X-Service-Tier", names[1])
                .json(&order(ARTICLE, names[2]))
                .paid(&payment.header)
                .send();
            if names[0] == names[1] && names[1] == names[2] {
                answer.expect(200);
            } else {
                answer.refused(400, "tier_mismatch");
                refused += 1;
            }
        }
    }
    // starter three times is the one that agrees.
    assert_eq!(refused, 24);
    assert_eq!(rig.facilitator.verify_calls(), calls + 1);
}

#[test]
fn two_places_that_disagree_are_refused_and_two_that_agree_are_served() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    let paid = |ask: Ask, tier: &str| ask.paid(&wallet.sign(&rig, tier).header).send();
    let bare = json!({"target_url": ARTICLE});
    let in_query_and_header = |query: &str, header: &str| {
        rig.post(&format!("{ACCESS}?tier={query}"))
            .header("X-Service-Tier", header)
            .json(&bare)
    };
    paid(in_query_and_header("fresh", "deep"), "fresh").refused(400, "tier_mismatch");
    paid(in_query_and_header("deep", "deep"), "deep").expect(200);
    let in_query_and_body = |query: &str, body: &str| {
        rig.post(&format!("{ACCESS}?tier={query}"))
            .json(&order(ARTICLE, body))
    };
    paid(in_query_and_body("basic", "deep"), "basic").refused(400, "tier_mismatch");
    paid(in_query_and_body("basic", "basic"), "basic").expect(200);
    let in_header_and_body =
        |header: &str, body: &str| rig.order(ARTICLE, body).header("X-Service-Tier", header);
    paid(in_header_and_body("starter", "deep"), "starter").refused(400, "tier_mismatch");
    paid(in_header_and_body("deep", "deep"), "deep").expect(200);
    // Two queries that differ are no better.
    let twice = rig
        .post(&format!("{ACCESS}?tier=fresh&tier=deep"))
        .json(&bare);
    paid(twice, "fresh").refused(400, "tier_mismatch");
}

/// A payment of the cheap tier does not buy the dear one.
#[test]
fn a_cheap_payment_buys_no_dear_page() {
    let rig = Rig::start();
    let payment = Wallet::new().sign(&rig, "starter");
    let answer = rig.pay(&payment, ARTICLE, "deep").expect(402);
    assert_eq!(
        answer.challenge()["error"],
        "No matching payment requirements"
    );
    assert_eq!(answer.challenge()["accepts"][0]["amount"], amount(DEEP));
    assert_eq!(rig.facilitator.verify_calls(), 0);
    assert_eq!(rig.site.requests().len(), 0);
}

#[test]
fn the_answer_has_all_its_parts() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    let answer = rig.buy(&wallet, ARTICLE, "fresh").expect(200);
    let body = answer.json();
    let payer = wallet.address().to_string();
    let now = rig.now().0;

    assert_eq!(answer.must("content-type"), "application/json");
    assert_eq!(body["status"], "success");
    assert_eq!(body["target_url"], ARTICLE);
    assert_eq!(body["tier"], "fresh");
    let markdown = body["markdown"].as_str().expect("markdown");
    assert!(markdown.contains("# The quiet harbour") && markdown.contains("Boats come and go"));
    assert!(
        markdown.contains("[the rest of the story](http://news.sample-site.org/more)"),
        "{markdown}"
    );
    assert_eq!(body["final_url"], ARTICLE);
    assert_eq!(body["http_status"], 200);
    assert_eq!(body["content_type"], "text/html; charset=utf-8");
    assert_eq!(body["content_source"], "html");

    let metadata = &body["metadata"];
    assert_eq!(metadata["title"], "The quiet harbour");
    assert_eq!(metadata["description"], "About The quiet harbour");
    assert_eq!(metadata["language"], "en");
    for member in [
        "author",
        "site_name",
        "published_at",
        "modified_at",
        "canonical_url",
        "image",
        "favicon",
        "type",
        "keywords",
        "next",
        "previous",
        "markdown_alternate",
        "json_ld_types",
    ] {
        assert!(metadata.get(member).is_some(), "metadata.{member}");
    }
    let link = body["links"]
        .as_array()
        .expect("links")
        .iter()
        .find(|link| link["text"] == "the rest of the story");
    assert_eq!(
        link.expect("the page's link")["url"],
        "http://news.sample-site.org/more"
    );
    assert_eq!(
        body["headings"][0],
        json!({"level": 1, "text": "The quiet harbour"})
    );

    let stats = &body["stats"];
    assert_eq!(stats["markdown_bytes"], markdown.len());
    assert_eq!(stats["word_count"], markdown.split_whitespace().count());
    for member in ["token_count", "bytes_fetched", "fetch_ms", "extract_ms"] {
        assert!(stats[member].is_u64(), "stats.{member}");
    }
    assert_eq!(stats["token_method"], "approx_chars_div_4");
    assert_eq!(
        body["content_sha256"],
        hex::encode(Sha256::digest(markdown))
    );
    assert_eq!(body["source_sha256"].as_str().map(str::len), Some(64));
    assert_eq!(body["fetched_at"], now);
    assert!(body["warnings"].is_array());
    for member in ["robots", "content_signal", "meta_robots"] {
        assert!(body["policy"].get(member).is_some(), "policy.{member}");
    }

    let cache = &body["cache"];
    assert_eq!(
        (&cache["hit"], &cache["revalidated"]),
        (&json!(false), &json!(false))
    );
    assert_eq!(cache["policy"], "bypass cache");
    assert_eq!(cache["stored_at"], now);
    for member in ["age_seconds", "ttl_seconds", "expires_at"] {
        assert!(cache[member].is_u64(), "cache.{member}");
    }
    assert!(
        cache.get("changed_since_last").is_some(),
        "cache.changed_since_last"
    );

    let payment = &body["payment"];
    assert_eq!(payment["mode"], "x402");
    assert_eq!(payment["network"], "eip155:8453");
    assert_eq!(payment["vault_address"], PAY_TO);
    assert_eq!(
        payment["token_address"],
        "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
    );
    assert_eq!(
        (&payment["amount_units"], &payment["amount_usdc"]),
        (&json!("30000"), &json!(0.03))
    );
    assert_eq!(payment["payer"], payer.as_str());
    assert_eq!(payment["settled"], true);

    let receipt = &body["ueg_receipt"];
    for member in [
        "revenue_usdc",
        "gas_cost_usdc",
        "supplier_cost_usdc",
        "facilitator_fee_usdc",
        "total_cost_usdc",
        "projected_profit_usdc",
        "projected_margin",
    ] {
        assert!(
            receipt[member].is_number(),
            "ueg_receipt.{member} is missing: {receipt}"
        );
    }
    assert_eq!(receipt["revenue_usdc"], 0.03);
    // KeyedLimit without the noise of binary fractions.
    assert_eq!(receipt["projected_margin"], 0.95);
    assert_eq!(receipt["min_margin"], 0.166667);
    assert_eq!(receipt["decision"], "accept");
    assert_eq!(receipt["evaluated_at"], now);
    assert_eq!(body["retry_credit"], json!(null));
    assert_eq!(body["request_id"], answer.must("x-request-id"));

    let settlement = answer.settlement();
    assert_eq!(settlement["success"], true);
    assert_eq!(settlement["network"], "eip155:8453");
    assert_eq!(settlement["payer"], payer.as_str());
    assert_eq!(settlement["transaction"], payment["transaction"]);
    let transaction = settlement["transaction"].as_str().expect("a transaction");
    assert_eq!((transaction.len(), &transaction[..2]), (66, "0x"));
}

#[test]
fn the_answer_s_headers_say_what_it_is_and_that_it_is_private() {
    let rig = Rig::start();
    let answer = rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
    let body = answer.json();
    let sha256 = body["content_sha256"].as_str().expect("a hash");
    assert_eq!(answer.must("etag"), format!("\"{sha256}\""));
    assert_eq!(
        answer.must("x-markdown-tokens"),
        body["stats"]["token_count"].to_string()
    );
    assert_eq!(answer.must("x-service-cache"), "miss");
    assert_eq!(answer.must("cache-control"), "private, no-store");
    assert!(answer.must("vary").contains("PAYMENT-SIGNATURE"));
    assert_eq!(answer.header("payment-required"), None);
    let again = rig.buy(&Wallet::new(), ARTICLE, "basic").expect(200);
    assert_eq!(again.must("x-service-cache"), "hit");
    assert_eq!(again.json()["cache"]["hit"], true);
}

#[test]
fn whoever_prefers_markdown_gets_it_under_a_front_matter() {
    let rig = Rig::start();
    let payment = Wallet::new().sign(&rig, "fresh");
    let ask = rig.order(ARTICLE, "fresh").paid(&payment.header);
    let json = ask.send().expect(200);
    // Path, alias and Accept are no part of the purchase: the kept answer in another dress.
    let answer = ask
        .clone()
        .header("Accept", "text/markdown, application/json;q=0.5")
        .send()
        .expect(200);
    assert_eq!(answer.must("content-type"), "text/markdown; charset=utf-8");
    for name in [
        "etag",
        "x-markdown-tokens",
        "x-service-cache",
        "cache-control",
        "payment-response",
        "vary",
    ] {
        assert_eq!(answer.header(name), json.header(name), "{name}");
    }
    let text = answer.text();
    let (front, markdown) = text
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("---\n\n"))
        .expect("a front matter");
    assert_eq!(
        markdown,
        json.json()["markdown"].as_str().expect("markdown")
    );
    let sha256 = json.json()["content_sha256"]
        .as_str()
        .expect("a hash")
        .to_owned();
    for line in [
        "title: \"The quiet harbour\"",
        &format!("url: \"{ARTICLE}\""),
        &format!("sha256: \"{sha256}\""),
    ] {
        assert!(
            front.lines().any(|found| found == line),
            "{line} is not in {front}"
        );
    }
    for name in ["title", "url", "date", "fetched", "sha256"] {
        let line = format!("{name}: ");
        assert!(
            front.lines().any(|found| found.starts_with(&line)),
            "{name}"
        );
    }
    assert_eq!(rig.facilitator.settlements(), 1);
    // JSON wins where markdown is not preferred.
    for accept in [
        "text/markdown;q=0.4, application/json",
        "text/markdown, application/json",
    ] {
        let other = ask.clone().header("Accept", accept).send().expect(200);
        assert_eq!(other.must("content-type"), "application/json", "{accept}");
    }
}

/// However its address is written, the sample is the sample.
#[test]
fn the_sample_is_known_by_any_spelling_of_its_address() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    let sample = format!("{BASE_URL}/sample");
    for spelling in [format!("{sample}#part"), sample.replace("http", "HTTP")] {
        let body = rig.buy(&wallet, &spelling, "starter").expect(200).json();
        assert_eq!(body["target_url"], sample, "{spelling}");
    }
    rig.buy(&wallet, &format!("{sample}/"), "starter")
        .expect(400);
    assert!(rig.site.requests().is_empty());
}

#[test]
fn the_sample_is_sold_without_a_fetch_and_only_to_tiers_that_include_it() {
    let rig = Rig::start();
    let sample = format!("{BASE_URL}/sample");
    let wallet = Wallet::new();
    let answer = rig.buy(&wallet, &sample, "starter").expect(200);
    let body = answer.json();
    assert_eq!(body["target_url"], sample);
    assert!(
        body["markdown"]
            .as_str()
            .is_some_and(|text| text.contains("# "))
    );
    // Whoever asks the wrong tier is told of the one that is cheapest, too.
    let answer = rig.buy(&wallet, &sample, "cached");
    let alternatives = answer.refused(400, "cache_miss").json()["alternatives"].clone();
    assert_eq!(
        alternatives[0],
        json!({"tier": "starter", "amount": "12000"})
    );
    assert_eq!(alternatives.as_array().map(Vec::len), Some(4));
    assert_eq!(rig.site.requests().len(), 0);
    assert_eq!(rig.facilitator.spent(wallet.address()), price(STARTER));
}

#[test]
fn a_miss_of_a_tier_that_never_fetches_costs_nothing() {
    for tier in ["starter", "cached"] {
        let rig = Rig::start();
        let wallet = Wallet::new();
        let answer = rig.buy(&wallet, ARTICLE, tier).refused(400, "cache_miss");
        let alternatives = answer.json()["alternatives"].clone();
        assert_eq!(
            alternatives,
            json!([{"tier": "basic", "amount": "20000"}, {"tier": "fresh", "amount": "30000"}, {"tier": "deep", "amount": "50000"}])
        );
        assert_eq!(answer.header("x-service-retry-credit"), None);
        assert_eq!(rig.facilitator.settle_calls(), 0);
        assert_eq!(rig.facilitator.spent(wallet.address()), 0);
        assert_eq!(rig.site.requests().len(), 0);
        // The authorization is free again: nothing remembers it.
        rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
        rig.buy(&wallet, ARTICLE, tier).expect(200);
    }
}

#[test]
fn a_missed_payment_can_still_buy_the_page_once_it_is_cached() {
    let rig = Rig::start();
    let payment = Wallet::new().sign(&rig, "cached");
    let ask = rig.order(ARTICLE, "cached").paid(&payment.header);
    ask.send().refused(400, "cache_miss");
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
    ask.send().expect(200);
    assert_eq!(rig.facilitator.settlements(), 2);
}

/// basic reads copies up to 3600 s old, deep up to 1800 s, fresh none; the others whatever is kept, for 24 hours.
#[test]
fn each_tier_reads_copies_as_old_as_it_says() {
    let rig = Rig::start();
    let hit = |tier: &str| {
        let answer = rig.buy(&Wallet::new(), ARTICLE, tier).expect(200).json();
        assert!(answer["cache"]["policy"].is_string());
        answer["cache"]["hit"] == true
    };
    assert!(!hit("fresh"));
    rig.pass(1800);
    assert!(hit("deep"));
    assert!(hit("basic"));
    assert_eq!(rig.site.hits("/article"), 1);
    rig.pass(1);
    assert!(hit("basic"));
    assert!(!hit("deep"), "1801 s are too old for deep");
    rig.pass(3600);
    assert!(hit("basic"));
    rig.pass(1);
    assert!(!hit("basic"), "3601 s are too old for basic");
    assert_eq!(rig.site.hits("/article"), 3);
    assert!(!hit("fresh"));
    rig.pass(24 * 3600 - 1);
    assert!(hit("cached"));
    assert!(hit("starter"));
    rig.pass(1);
    rig.buy(&Wallet::new(), ARTICLE, "cached")
        .refused(400, "cache_miss");
}

#[test]
fn an_old_copy_is_asked_about_and_kept_if_nothing_has_changed() {
    let rig = Rig::start();
    let page = Page::html("The quiet harbour", "Boats come and go here.");
    rig.site.put("/article", page.tagged("\"v1\""));
    rig.buy(&Wallet::new(), ARTICLE, "basic").expect(200);
    rig.pass(4000);
    let answer = rig.buy(&Wallet::new(), ARTICLE, "basic").expect(200).json();
    assert_eq!(answer["cache"]["revalidated"], true);
    assert_eq!(answer["cache"]["changed_since_last"], false);
    assert_eq!(answer["cache"]["stored_at"], rig.now().0);
    assert!(
        answer["markdown"]
            .as_str()
            .is_some_and(|text| text.contains("Boats"))
    );
    {
        let requests = rig.site.requests();
        let of_page = requests.iter().filter(|asked| asked.path == "/article");
        let asked: Vec<_> = of_page.collect();
        assert_eq!(asked.len(), 2);
        assert_eq!(asked[0].header("if-none-match"), None);
        assert_eq!(asked[1].header("if-none-match"), Some("\"v1\""));
    }
    // From now on it is young again.
    rig.pass(3000);
    let answer = rig.buy(&Wallet::new(), ARTICLE, "basic").expect(200).json();
    assert_eq!(
        (&answer["cache"]["hit"], &answer["cache"]["age_seconds"]),
        (&json!(true), &json!(3000))
    );
    assert_eq!(rig.site.hits("/article"), 2);
    // And when it has changed, the buyer gets what it is now.
    rig.site.put(
        "/article",
        Page::html("The busy harbour", "Ships come and go here.").tagged("\"v2\""),
    );
    rig.pass(4000);
    let answer = rig.buy(&Wallet::new(), ARTICLE, "basic").expect(200).json();
    assert_eq!(answer["cache"]["changed_since_last"], true);
    assert!(
        answer["markdown"]
            .as_str()
            .is_some_and(|text| text.contains("Ships"))
    );
    // fresh never asks conditionally.
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
    assert_eq!(
        rig.site
            .requests()
            .last()
            .and_then(|asked| asked.header("if-none-match").map(str::to_owned)),
        None
    );
}

/// A review found that pages were sold again whose sites forbid shared caches to keep them.
#[test]
fn a_page_that_its_site_keeps_from_shared_caches_is_its_buyer_s_alone() {
    let article = || Page::html("The quiet harbour", "Boats come and go here.");
    let headers = [
        "private",
        "no-store",
        "Private, max-age=600",
        "no-cache",
        "max-age=0",
        "public, s-maxage=0",
    ];
    for_each(headers, |value| {
        let rig = Rig::start();
        // An older copy that was public leaves too.
        rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
        rig.buy(&Wallet::new(), ARTICLE, "cached").expect(200);
        rig.site
            .put("/article", article().with("Cache-Control", value));
        let payment = Wallet::new().sign(&rig, "fresh");
        let ask = rig.order(ARTICLE, "fresh").paid(&payment.header);
        let first = ask.send().expect(200);
        let cache = first.json()["cache"].clone();
        assert_eq!(
            (&cache["shared"], &cache["hit"]),
            (&json!(false), &json!(false)),
            "{value}"
        );
        assert_eq!(cache["expires_at"], cache["stored_at"], "{value}");
        // Its buyer is given it again, as any answer.
        assert_eq!(ask.send().expect(200).body, first.body, "{value}");
        for tier in ["cached", "starter"] {
            let answer = rig.buy(&Wallet::new(), ARTICLE, tier);
            answer.refused(400, "cache_miss");
        }
        let quote = rig
            .get(&format!("/v1/x402/quote?target_url={ARTICLE}"))
            .expect(200);
        assert_eq!(quote.json()["cache"]["available"], false, "{value}");
        for tier in ["basic", "deep"] {
            let hits = rig.site.hits("/article");
            let answer = rig.buy(&Wallet::new(), ARTICLE, tier).expect(200).json();
            assert_eq!(answer["cache"]["hit"], false, "{value} {tier}");
            assert_eq!(rig.site.hits("/article"), hits + 1, "{value} {tier}");
        }
        rig.buy_report(&Wallet::new(), ARTICLE, "quick", "Do boats come here?")
            .expect(200);
        let answer = rig.buy(&Wallet::new(), ARTICLE, "cached");
        answer.refused(400, "cache_miss");
        // Once the site allows it, the page is kept.
        rig.site.put(
            "/article",
            article().with("Cache-Control", "public, max-age=60"),
        );
        let answer = rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200).json();
        assert_eq!(answer["cache"]["shared"], true, "{value}");
        rig.pass(3600);
        rig.buy(&Wallet::new(), ARTICLE, "cached").expect(200);
    });
}

/// The site says so of a copy that it was asked about.
#[test]
fn a_copy_that_became_private_leaves_the_cache() {
    let rig = Rig::start();
    let page = || Page::html("The quiet harbour", "Boats come and go here.").tagged("\"v1\"");
    rig.site.put("/article", page());
    rig.buy(&Wallet::new(), ARTICLE, "basic").expect(200);
    rig.pass(4000);
    rig.site
        .put("/article", page().with("Cache-Control", "private"));
    let payment = Wallet::new().sign(&rig, "basic");
    let ask = rig.order(ARTICLE, "basic").paid(&payment.header);
    let answer = ask.send().expect(200);
    let cache = answer.json()["cache"].clone();
    assert_eq!(
        (&cache["revalidated"], &cache["shared"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(ask.send().expect(200).body, answer.body);
    let answer = rig.buy(&Wallet::new(), ARTICLE, "cached");
    answer.refused(400, "cache_miss");
}

#[test]
fn force_refresh_skips_the_cache_where_there_is_something_to_refresh() {
    let rig = Rig::start();
    rig.buy(&Wallet::new(), ARTICLE, "basic").expect(200);
    for tier in ["basic", "deep", "fresh"] {
        let before = rig.site.hits("/article");
        let payment = Wallet::new().sign(&rig, tier);
        let body = json!({"target_url": ARTICLE, "tier": tier, "force_refresh": true});
        let answer = rig
            .post(ACCESS)
            .json(&body)
            .paid(&payment.header)
            .send()
            .expect(200);
        assert_eq!(answer.json()["cache"]["hit"], false, "{tier}");
        assert_eq!(rig.site.hits("/article"), before + 1, "{tier}");
    }
    let calls = rig.facilitator.verify_calls();
    for tier in ["cached", "starter"] {
        let payment = Wallet::new().sign(&rig, tier);
        let body = json!({"target_url": ARTICLE, "tier": tier, "force_refresh": true});
        let ask = rig.post(ACCESS).json(&body).paid(&payment.header);
        ask.send()
            .invalid("value_error", &["body", "force_refresh"]);
        // The same whether the tier is in the body or in the address.
        let body = json!({"target_url": ARTICLE, "force_refresh": true});
        let ask = rig
            .post(&format!("{ACCESS}?tier={tier}"))
            .json(&body)
            .paid(&payment.header);
        ask.send()
            .invalid("value_error", &["body", "force_refresh"]);
        let body = json!({"target_url": ARTICLE, "force_refresh": false});
        let ask = rig
            .post(&format!("{ACCESS}?tier={tier}"))
            .json(&body)
            .paid(&payment.header);
        ask.send().expect(200);
    }
    assert_eq!(rig.facilitator.verify_calls(), calls + 2);
}

#[test]
fn the_alias_sells_the_same_and_remembers_where_the_buyer_came_from() {
    let rig = Rig::start();
    let alias = "/from/some_list.v2/v1/x402/access";
    let asked = rig.post(alias).send().expect(402);
    // The challenge names the one resource whichever way it was reached.
    assert_eq!(
        asked.challenge()["resource"]["url"],
        format!("{BASE_URL}{ACCESS}")
    );
    let payment = Wallet::new().sign(&rig, "fresh");
    let answer = rig
        .post(alias)
        .json(&order(ARTICLE, "fresh"))
        .paid(&payment.header)
        .send()
        .expect(200);
    // Replayed at the base path it is the same purchase.
    let again = rig.pay(&payment, ARTICLE, "fresh").expect(200);
    assert_eq!(again.body, answer.body);
    assert_eq!(rig.facilitator.settlements(), 1);
    let listed = rig.operator("/operator/payments").json();
    assert_eq!(listed["payments"][0]["source"], "some_list.v2");

    let by_query = rig
        .post(&format!("{ACCESS}?source=a-list"))
        .json(&order(ARTICLE, "fresh"));
    by_query
        .paid(&Wallet::new().sign(&rig, "fresh").header)
        .send()
        .expect(200);
    let by_header = rig
        .order(ARTICLE, "fresh")
        .header("X-Service-Source", "<b>bad</b>");
    rig.pass(1);
    by_header
        .paid(&Wallet::new().sign(&rig, "fresh").header)
        .send()
        .expect(200);
    let listed = rig.operator("/operator/payments").json();
    let sources: Vec<&serde_json::Value> = listed["payments"]
        .as_array()
        .expect("payments")
        .iter()
        .map(|payment| &payment["source"])
        .collect();
    // A label that does not fit is dropped, never stored.
    assert_eq!(sources[0], &json!(null));
    assert!(sources.contains(&&json!("a-list")), "{sources:?}");
}

/// What we tell the facilitator is our own offer and the buyer's payment byte for byte.
#[test]
fn the_facilitator_is_told_our_own_offer() {
    let rig = Rig::start();
    let payment = Wallet::new().sign(&rig, "fresh").altered(|payload| {
        payload["accepted"]["payTo"] = json!(PAY_TO.to_lowercase());
        payload["accepted"]["extra"]["added"] = json!("by the buyer");
        payload["extra_member"] = json!({"kept": ["as", "it", "is"]});
    });
    rig.pay(&payment, ARTICLE, "fresh").expect(200);
    let told = &rig.facilitator.settle_bodies()[0];
    assert_eq!(told["x402Version"], 2);
    assert_eq!(told["paymentPayload"], payment.payload);
    assert_eq!(
        told["paymentRequirements"],
        json!({
            "scheme": "exact", "network": "eip155:8453", "amount": "30000",
            "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "payTo": PAY_TO, "maxTimeoutSeconds": 300,
            "extra": {"name": "USD Coin", "version": "2"},
        })
    );
}

#[test]
fn pages_of_other_kinds_are_sold_too() {
    let rig = Rig::start();
    let kinds = [
        (
            "/notes.md",
            "text/markdown",
            "# Notes\n\nSome words that stand here as they are, in a file of markdown.\n",
            "origin_markdown",
        ),
        (
            "/notes.txt",
            "text/plain; charset=utf-8",
            "Plain words, one line after the other.\nAnd another line.\n",
            "text",
        ),
        (
            "/page",
            "application/xhtml+xml",
            "<html><body><h1>Title</h1><p>Some words of a page that is XHTML.</p></body></html>",
            "html",
        ),
        (
            "/data",
            "application/json",
            "{\"words\":[12345678901234567890,1.10]}",
            "json",
        ),
        (
            "/data.xml",
            "text/xml",
            "<?xml version=\"1.0\"?><catalog><item>words</item></catalog>",
            "xml",
        ),
        (
            "/feed",
            "text/html; charset=utf-8",
            "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>Words</title><item><title>One</title>\
             <description>&lt;p&gt;Many words&lt;/p&gt;</description></item></channel></rss>",
            "feed",
        ),
        ("/table", "text/csv", "a;words\n1;2\n", "text"),
        ("/paper", "application/octet-stream", PDF, "pdf"),
    ];
    for (path, content_type, body, source) in kinds {
        rig.site.put(path, Page::of(content_type, body));
        let answer = rig
            .buy(
                &Wallet::new(),
                &format!("http://news.sample-site.org{path}"),
                "fresh",
            )
            .expect(200)
            .json();
        assert_eq!(answer["content_source"], source, "{path}");
        assert!(
            answer["markdown"]
                .as_str()
                .is_some_and(|text| text.contains("words")),
            "{path}"
        );
    }
}

/// As small as a file with a text can be.
const PDF: &str = "%PDF-1.4\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\n2 0 obj <</Kids[3 0 R]>> endobj\n\
     3 0 obj <</Type/Page/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>> endobj\n\
     4 0 obj <</Length 40>> stream\nBT /F 12 Tf 50 700 Td (Some words) Tj ET\nendstream endobj\n\
     5 0 obj <</Type/Font/Subtype/Type1/BaseFont/Helvetica>> endobj\ntrailer <</Root 1 0 R>>\n";

#[test]
fn what_holds_no_text_is_named_and_not_charged() {
    let rig = Rig::start();
    let locked = PDF.replace("<</Root", "<</Encrypt 9 0 R/Root");
    let refused = [
        ("/picture", "text/html", "GIF89a....", "GIF image"),
        ("/archive", "application/zip", "PK", "application/zip"),
        ("/locked", "application/pdf", locked.as_str(), "encrypted"),
    ];
    for (path, content_type, body, found) in refused {
        rig.site.put(path, Page::of(content_type, body));
        let answer = rig
            .buy(
                &Wallet::new(),
                &format!("http://news.sample-site.org{path}"),
                "fresh",
            )
            .expect(400)
            .json();
        assert_eq!(
            answer["error"]["code"], "unsupported_content_type",
            "{path}"
        );
        assert_eq!(answer["error"]["charged"], false, "{path}");
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(found), "{message}");
    }
}

#[test]
fn a_redirected_page_says_where_it_was_found() {
    let rig = Rig::start();
    rig.site.put("/old", Page::Redirect("/article".to_owned()));
    let answer = rig
        .buy(&Wallet::new(), "http://news.sample-site.org/old", "fresh")
        .expect(200)
        .json();
    assert_eq!(answer["target_url"], "http://news.sample-site.org/old");
    assert_eq!(answer["final_url"], ARTICLE);
}

/// The page is fetched in our name, with nothing of the buyer's.
#[test]
fn a_site_learns_who_we_are_and_nothing_about_the_buyer() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    rig.buy(&wallet, ARTICLE, "fresh").expect(200);
    let asked = rig.site.requests();
    let agent = asked[0].header("user-agent").expect("a user agent");
    assert!(
        agent.contains("context402") && agent.contains(&format!("{BASE_URL}/about")),
        "{agent}"
    );
    assert_eq!(asked[0].header("host"), Some("news.sample-site.org"));
    let told = format!("{:?}", asked[0]).to_lowercase();
    assert!(!told.contains(&wallet.address().to_string().to_lowercase()[2..]));
    assert!(!told.contains("payment"), "{told}");
}

/// A margin below the minimum is refused before any work.
#[test]
fn a_sale_that_does_not_pay_is_refused_before_the_work() {
    let rig = Rig::with(|resolved| resolved.set("guard.gas_usdc", "0.02"));
    let wallet = Wallet::new();
    rig.buy(&wallet, ARTICLE, "basic")
        .refused(400, "margin_rejected");
    assert_eq!(rig.site.requests().len(), 0);
    assert_eq!(rig.facilitator.settle_calls(), 0);
    let figures = rig
        .operator("/metrics?format=prometheus")
        .expect(200)
        .text();
    assert!(figures.contains("context402_ueg_rejections_total{reason=\"too_thin\"} 1\n"));
    rig.buy(&wallet, ARTICLE, "deep").expect(200);
}

/// `cache.key` is a prefix of a SHA-256.
#[test]
fn the_cache_part_names_its_key() {
    let rig = Rig::start();
    let body = rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200).json();
    assert!(body["cache"]["key"].is_string(), "{}", body["cache"]);
}

#[test]
fn the_margin_receipt_names_minimum_margin_and_gas_price() {
    let rig = Rig::start();
    let body = rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200).json();
    let receipt = &body["ueg_receipt"];
    for member in ["min_margin", "gas_price_gwei"] {
        assert!(
            receipt.get(member).is_some(),
            "{member} is missing: {receipt}"
        );
    }
}
