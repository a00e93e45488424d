//! Proof Packs go through the same sale as pages; what differs is told here.

use serde_json::{Value, json};

use crate::harness::{
    ACCESS, ARTICLE, BASE_URL, FERRY, FERRY_CLAIM, FRESH, PAY_TO, PROOF_PACK, Page, QUICK, Rig,
    STANDARD, Says, Wallet, amount, order, price, report_order,
};

const PACKS: [(&str, u64); 3] = [
    ("quick", 100_000),
    ("standard", 250_000),
    ("deep", 1_000_000),
];

/// Whether a label says that the source carries the claim. How far is the engine's own matter.
fn carried(label: &Value) -> bool {
    label == "supported" || label == "partially_supported"
}

#[test]
fn every_pack_is_sold_at_its_price_wherever_it_is_stated() {
    let rig = Rig::start();
    for (pack, units) in PACKS {
        let bare = json!({"target_url": FERRY, "question": FERRY_CLAIM});
        let in_query = rig.post(&format!("{PROOF_PACK}?pack={pack}")).json(&bare);
        let in_header = rig
            .post(PROOF_PACK)
            .header("X-Service-Pack", pack)
            .json(&bare);
        let in_body = rig.ask_report(FERRY, pack, FERRY_CLAIM);
        for ask in [in_query, in_header, in_body] {
            let asked = ask.send().expect(402);
            assert_eq!(
                asked.challenge()["accepts"][0]["amount"],
                units.to_string(),
                "{pack}"
            );
            assert_eq!(asked.must("x-service-payment-pack"), pack);
            assert_eq!(asked.header("x-service-payment-tier"), None);
            let wallet = Wallet::new();
            let payment = wallet.sign_pack(&rig, pack);
            let answer = ask.paid(&payment.header).send().expect(200);
            assert_eq!(answer.must("x-service-payment-pack"), pack);
            let body = answer.json();
            assert_eq!(body["pack"], pack);
            assert_eq!(body["payment"]["amount_units"], units.to_string());
            assert_eq!(rig.facilitator.spent(wallet.address()), u128::from(units));
        }
    }
    assert_eq!(rig.facilitator.settlements(), 9);
}

#[test]
fn a_sale_without_a_stated_pack_is_a_standard_one_about_everything() {
    let rig = Rig::start();
    let ask = rig.post(PROOF_PACK).json(&json!({"target_url": FERRY}));
    let asked = ask.send().expect(402);
    assert_eq!(asked.challenge()["accepts"][0]["amount"], amount(STANDARD));
    assert_eq!(
        asked.challenge()["resource"]["url"],
        format!("{BASE_URL}{PROOF_PACK}")
    );
    for (name, path) in [
        ("x-service-proof-pack", "/proof-pack"),
        ("x-service-proof-pack-quote", "/v1/proof-pack/quote"),
    ] {
        assert_eq!(asked.must(name), format!("{BASE_URL}{path}"));
        rig.get(path).expect(200);
    }
    // Directories probe without any body.
    rig.post(PROOF_PACK).send().expect(402);
    let payment = Wallet::new().sign_pack(&rig, "standard");
    let body = ask.paid(&payment.header).send().expect(200).json();
    assert_eq!(body["pack"], "standard");
    assert_eq!(body["question"], "What does this source establish?");
    assert_ne!(
        body["decision"]["label"], "supported",
        "nothing in particular was asked"
    );
}

/// Every member, and that it is true.
#[test]
fn the_report_has_all_its_parts() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    let answer = rig
        .buy_report(&wallet, FERRY, "standard", FERRY_CLAIM)
        .expect(200);
    assert_eq!(answer.must("content-type"), "application/json");
    assert_eq!(answer.must("cache-control"), "private, no-store");
    let body = answer.json();
    assert_eq!(body["status"], "success");
    assert_eq!(
        (&body["target_url"], &body["question"]),
        (&json!(FERRY), &json!(FERRY_CLAIM))
    );
    let id = body["report_id"].as_str().expect("an id");
    assert!(id.starts_with("ppr_") && id.len() == 36, "{id}");
    let api = format!("{BASE_URL}/v1/proof-pack/reports/{id}");
    assert_eq!(body["report_url"], api);
    assert_eq!(
        body["report_page"],
        format!("{BASE_URL}/proof-pack/reports/{id}")
    );
    assert_eq!(body["verify_url"], format!("{api}/verify"));
    assert_eq!(body["follow_up_url"], format!("{api}/follow-up"));
    assert_eq!(body["refresh_url"], format!("{api}/refresh"));
    for member in ["result_hash", "source_hash"] {
        let hash = body[member].as_str().expect("a hash");
        assert!(
            hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()),
            "{member}"
        );
    }
    assert_eq!(
        body["source_hash"],
        body["source_profile"]["content_sha256"]
    );
    let now = rig.now().0;
    assert_eq!(body["created_at"], now);
    assert_eq!(body["expires_at"], now + 30 * 24 * 3600);
    assert_eq!(body["retention_days"], 30);
    assert!(carried(&body["decision"]["label"]), "{body}");
    for member in ["summary", "recommended_agent_use"] {
        assert!(body["decision"][member].is_string(), "decision.{member}");
    }
    for member in ["answer", "executive_summary", "agent_action"] {
        assert!(body[member].is_string(), "{member}");
    }
    for member in ["confidence_score", "source_quality_score"] {
        let score = body[member].as_f64().expect("a number");
        assert!((0.0..=1.0).contains(&score), "{member}");
    }
    for member in ["action", "endpoint", "reason"] {
        assert!(
            body["recommended_next_call"][member].is_string(),
            "{member}"
        );
    }
    for member in ["key_claims", "supported_findings", "gaps", "risks"] {
        assert!(body[member].is_array(), "{member}");
    }
    let coverage = &body["citation_coverage"];
    assert_eq!(coverage["cache_hit"], false);
    assert_eq!(coverage["source_count"], 1);
    assert_eq!(body["source_profile"]["final_url"], FERRY);
    assert_eq!(body["cache"]["hit"], false);
    let payment = &body["payment"];
    assert_eq!(payment["mode"], "x402");
    assert_eq!(payment["vault_address"], PAY_TO);
    assert_eq!(payment["amount_usdc"], 0.25);
    assert_eq!(payment["payer"], wallet.address().to_string());
    assert_eq!(payment["transaction"], answer.settlement()["transaction"]);
    assert_eq!(payment["settled"], true);
    assert_eq!(body["ueg_receipt"]["revenue_usdc"], 0.25);
    assert!(body["ueg_receipt"]["projected_profit_usdc"].is_number());
    assert_eq!(body["ueg_receipt"]["llm_cost_usdc"], 0.0);
}

/// Every citation is a slice of the page's markdown, and every claim names citations that are there.
#[test]
fn citations_are_slices_of_the_page() {
    let rig = Rig::start();
    let page = rig.buy(&Wallet::new(), FERRY, "fresh").expect(200).json();
    let markdown = page["markdown"].as_str().expect("markdown");
    let answer = rig.buy_report(&Wallet::new(), FERRY, "standard", FERRY_CLAIM);
    let report = answer.expect(200).json();
    assert_eq!(report["source_hash"], page["content_sha256"]);
    assert_eq!(
        report["cache"]["hit"], true,
        "the page was kept an instant ago"
    );
    let citations = report["citations"].as_array().expect("citations");
    assert!(!citations.is_empty());
    // In which unit they count is said where programs look.
    let openapi = rig.get("/openapi.json").expect(200).json();
    let described =
        &openapi["components"]["schemas"]["ProofPackResponse"]["properties"]["citations"];
    let start = described["items"]["properties"]["start"]["description"].as_str();
    assert!(start.is_some_and(|text| text.contains("bytes of UTF-8")));
    let place = |citation: &Value, name: &str| {
        usize::try_from(citation[name].as_u64().expect("an offset")).expect("small")
    };
    for citation in citations {
        let slice = &markdown[place(citation, "start")..place(citation, "end")];
        assert_eq!(citation["excerpt"], slice);
        assert_eq!(citation["url"], FERRY);
    }
    let ids: Vec<&Value> = citations.iter().map(|citation| &citation["id"]).collect();
    let claims = report["key_claims"].as_array().expect("claims");
    assert!(!claims.is_empty());
    for id in claims
        .iter()
        .flat_map(|claim| claim["citation_ids"].as_array().expect("ids"))
    {
        assert!(ids.contains(&id), "{id}");
    }
}

#[test]
fn what_the_page_does_not_say_is_not_supported() {
    let rig = Rig::start();
    for question in [
        "The museum of glass opens at noon on Thursdays.",
        "Who won the chess tournament in Lima?",
    ] {
        let answer = rig.buy_report(&Wallet::new(), FERRY, "quick", question);
        let report = answer.expect(200).json();
        assert_eq!(report["decision"]["label"], "unsupported", "{report}");
        assert_eq!(report["key_claims"], json!([]));
    }
}

/// Query, header and body name one pack, or the payment is refused untouched.
#[test]
fn query_header_and_body_must_agree() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    let mut refused = 0;
    for (query, _) in PACKS {
        for (header, _) in PACKS {
            for (body, _) in PACKS {
                let payment = wallet.sign_pack(&rig, body);
                let answer = rig
                    .post(&format!("{PROOF_PACK}?pack={query}"))
                    .header("X-Service-Pack", header)
                    .json(&report_order(FERRY, body, FERRY_CLAIM))
                    .paid(&payment.header)
                    .send();
                if query == header && header == body {
                    answer.expect(200);
                } else {
                    answer.refused(400, "pack_mismatch");
                    refused += 1;
                }
            }
        }
    }
    assert_eq!(refused, 24);
    assert_eq!(rig.facilitator.verify_calls(), 3);
}

/// An invalid pack is 400 where it selects the price, 422 on the probes and in a body.
#[test]
fn a_pack_that_does_not_exist_is_refused_in_its_place() {
    let rig = Rig::start();
    rig.post(&format!("{PROOF_PACK}?pack=huge"))
        .send()
        .refused(400, "invalid_pack");
    rig.post(PROOF_PACK)
        .header("X-Service-Pack", "fresh")
        .send()
        .refused(400, "invalid_pack");
    rig.get(&format!("{PROOF_PACK}?pack=huge"))
        .invalid("literal_error", &["query", "pack"]);
    rig.ask("GET", PROOF_PACK)
        .header("X-Service-Pack", "huge")
        .send()
        .invalid("literal_error", &["header", "X-Service-Pack"]);
    let payment = Wallet::new().sign_pack(&rig, "standard");
    let paid = |body: Value| {
        rig.post(PROOF_PACK)
            .json(&body)
            .paid(&payment.header)
            .send()
    };
    paid(json!({"target_url": FERRY, "pack": "huge"})).invalid("literal_error", &["body", "pack"]);
    paid(json!({"target_url": FERRY, "tier": "fresh"}))
        .invalid("extra_forbidden", &["body", "tier"]);
    paid(json!({"target_url": FERRY, "question": "a".repeat(1001)}))
        .invalid("string_too_long", &["body", "question"]);
    paid(json!({"target_url": FERRY, "question": 7})).invalid("string_type", &["body", "question"]);
    paid(json!({"question": FERRY_CLAIM})).invalid("missing", &["body", "target_url"]);
    assert_eq!(rig.facilitator.verify_calls(), 0);
}

#[test]
fn probes_show_the_challenge_and_do_nothing() {
    let rig = Rig::start();
    for path in [PROOF_PACK, "/from/a-list/v1/x402/proof-pack"] {
        for (pack, units) in PACKS {
            let answer = rig.get(&format!("{path}?pack={pack}")).expect(200);
            assert_eq!(answer.json(), answer.challenge());
            assert_eq!(answer.json()["accepts"][0]["amount"], units.to_string());
            assert_eq!(answer.must("x-service-payment-pack"), pack);
        }
        let head = rig.ask("HEAD", path).send().expect(200);
        assert!(head.body.is_empty());
        assert_eq!(head.challenge()["accepts"][0]["amount"], amount(STANDARD));
    }
    assert_eq!(rig.facilitator.verify_calls(), 0);
    assert_eq!(rig.site.requests().len(), 0);
}

#[test]
fn the_alias_sells_like_the_plain_path_and_is_attributed() {
    let rig = Rig::start();
    let payment = Wallet::new().sign_pack(&rig, "quick");
    let ask = rig
        .post("/from/a-list/v1/x402/proof-pack")
        .json(&report_order(FERRY, "quick", FERRY_CLAIM));
    ask.paid(&payment.header).send().expect(200);
    let listed = rig.operator("/operator/payments").json();
    assert_eq!(listed["payments"][0]["source"], "a-list");
    assert_eq!(listed["payments"][0]["amount_units"], amount(QUICK));
}

/// A page's payment buys no report, nor the other way round, even where the amounts agreed.
#[test]
fn a_payment_buys_the_product_it_was_signed_for() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    let for_page = wallet.sign(&rig, "fresh");
    rig.ask_report(FERRY, "quick", FERRY_CLAIM)
        .paid(&for_page.header)
        .send()
        .expect(402);
    let for_report = wallet.sign_pack(&rig, "quick");
    let answer = rig.pay(&for_report, ARTICLE, "fresh").expect(402);
    assert_eq!(answer.challenge()["accepts"][0]["amount"], amount(FRESH));
    // A quick payment is worth less than a deep one.
    rig.ask_report(FERRY, "deep", FERRY_CLAIM)
        .paid(&for_report.header)
        .send()
        .expect(402);
    assert_eq!(rig.facilitator.verify_calls(), 0);
}

#[test]
fn packs_read_the_source_as_their_policies_say() {
    let rig = Rig::start();
    let hits = || rig.site.hits("/ferry");
    let buy = |pack: &str| {
        let answer = rig.buy_report(&Wallet::new(), FERRY, pack, FERRY_CLAIM);
        answer.expect(200).json()["cache"]["hit"].clone()
    };
    assert_eq!(buy("quick"), false);
    rig.pass(1_000);
    assert_eq!((buy("quick"), buy("standard")), (json!(true), json!(true)));
    assert_eq!(hits(), 1);
    // Deep packs refresh by default, and read a short cache where they are told not to.
    assert_eq!(buy("deep"), false);
    assert_eq!(hits(), 2);
    let deep = |refresh: bool| {
        let payment = Wallet::new().sign_pack(&rig, "deep");
        let mut body = report_order(FERRY, "deep", FERRY_CLAIM);
        body["force_refresh"] = refresh.into();
        let ask = rig.post(PROOF_PACK).json(&body).paid(&payment.header);
        ask.send().expect(200).json()["cache"]["hit"].clone()
    };
    assert_eq!((deep(false), hits()), (json!(true), 2));
    assert_eq!((deep(true), hits()), (json!(false), 3));
    rig.pass(1_801);
    assert_eq!((deep(false), hits()), (json!(false), 4));
    rig.pass(3_601);
    assert_eq!((buy("quick"), hits()), (json!(true), 4));
    assert_eq!((buy("standard"), hits()), (json!(false), 5));
}

#[test]
fn the_same_payment_gives_the_same_report_again_and_no_other() {
    let rig = Rig::start();
    let payment = Wallet::new().sign_pack(&rig, "standard");
    let ask = rig
        .ask_report(FERRY, "standard", FERRY_CLAIM)
        .paid(&payment.header);
    let first = ask.send().expect(200);
    let again = ask.send().expect(200);
    assert_eq!(first.body, again.body);
    assert_eq!(rig.site.hits("/ferry"), 1);
    assert_eq!(rig.facilitator.settlements(), 1);
    let other = rig.ask_report(FERRY, "standard", "Do bicycles travel free?");
    other
        .paid(&payment.header)
        .send()
        .refused_charged(400, "payment_replayed");
}

#[test]
fn identical_requests_at_once_make_one_report() {
    let rig = Rig::start();
    let payment = Wallet::new().sign_pack(&rig, "standard");
    let ask = rig
        .ask_report(FERRY, "standard", FERRY_CLAIM)
        .paid(&payment.header);
    let answers = ask.send_at_once(20);
    let bodies: std::collections::BTreeSet<Vec<u8>> = answers
        .into_iter()
        .map(|answer| answer.expect(200).body)
        .collect();
    assert_eq!(bodies.len(), 1);
    assert_eq!(rig.facilitator.settlements(), 1);
}

/// A Proof Pack's 503 carries a credit; the retry endpoint takes the request that was sent.
#[test]
fn an_outage_earns_a_credit_that_buys_the_report() {
    let rig = Rig::start();
    rig.site.put("/ferry", Page::Status(503));
    let wallet = Wallet::new();
    let outage = rig.buy_report(&wallet, FERRY, "standard", FERRY_CLAIM);
    let credit = outage.expect(503).credit();
    assert_eq!(rig.facilitator.settlements(), 0);
    rig.site.put("/ferry", Page::html("Ferry", FERRY_CLAIM));
    let retry = |body: &Value| {
        rig.post("/v1/x402/retry")
            .header("X-Service-Retry-Credit", &*credit)
            .json(body)
            .send()
    };
    // What differs from the purchase is refused, and spends nothing.
    for other in [
        report_order(FERRY, "deep", FERRY_CLAIM),
        report_order(FERRY, "standard", "Something else?"),
        order(FERRY, "fresh"),
        report_order(ARTICLE, "standard", FERRY_CLAIM),
    ] {
        retry(&other).refused(400, "retry_credit_invalid");
    }
    let mut both = report_order(FERRY, "standard", FERRY_CLAIM);
    both["tier"] = "fresh".into();
    retry(&both).invalid("extra_forbidden", &["body", "tier"]);
    let answer = retry(&report_order(FERRY, "standard", FERRY_CLAIM)).expect(200);
    assert_eq!(answer.must("x-service-payment-pack"), "standard");
    let report = answer.json();
    assert!(carried(&report["decision"]["label"]), "{report}");
    assert_eq!(rig.facilitator.spent(wallet.address()), price(STANDARD));
    let id = report["report_id"].as_str().expect("an id");
    let kept = rig.get(&format!("/v1/proof-pack/reports/{id}")).expect(200);
    assert_eq!(kept.body, answer.body);
}

/// What a retry leaves out is the credit's own.
#[test]
fn a_retry_need_not_repeat_the_question() {
    let rig = Rig::start();
    rig.site.put("/ferry", Page::Reset);
    let outage = rig.buy_report(&Wallet::new(), FERRY, "deep", FERRY_CLAIM);
    let credit = outage.expect(503).credit();
    rig.site.put("/ferry", Page::html("Ferry", FERRY_CLAIM));
    let answer = rig
        .post("/v1/x402/retry")
        .header("X-Service-Retry-Credit", credit)
        .json(&json!({"target_url": FERRY}))
        .send()
        .expect(200);
    assert_eq!(answer.json()["question"], FERRY_CLAIM);
    assert_eq!(answer.json()["pack"], "deep");
}

/// Nothing was settled, so there is nothing to be read.
#[test]
fn a_failed_settlement_leaves_no_report() {
    let rig = Rig::start();
    rig.facilitator.settles(Says::No("insufficient_funds"));
    let answer = rig.buy_report(&Wallet::new(), FERRY, "standard", FERRY_CLAIM);
    let answer = answer.expect(402);
    assert_eq!(answer.must("x-service-payment-pack"), "standard");
    assert_eq!(answer.settlement()["success"], false);
    assert!(!answer.text().contains("ppr_0") && !answer.text().contains(FERRY_CLAIM));
}

#[test]
fn the_guardian_judges_packs_too() {
    let rig = Rig::with(|resolved| resolved.set("guard.minimum_profit_usdc", "0.2"));
    rig.buy_report(&Wallet::new(), FERRY, "quick", FERRY_CLAIM)
        .refused(400, "margin_rejected");
    rig.buy_report(&Wallet::new(), FERRY, "standard", FERRY_CLAIM)
        .expect(200);
    let operator = rig.operator("/metrics?format=prometheus").text();
    let sold = "context402_payments_total{product=\"proof_pack\",level=\"standard\",outcome=\"settled\"} 1";
    assert!(operator.contains(sold), "{operator}");
}

/// Both products are refused the same targets, in the same order of checks.
#[test]
fn targets_that_may_not_be_read_are_refused_and_not_charged() {
    let rig = Rig::start();
    for (target, code) in [
        ("http://10.0.0.1/", "target_blocked"),
        ("http://inside.sample-site.org/", "target_blocked"),
        ("http://news.sample-site.org:8080/", "port_not_allowed"),
    ] {
        rig.buy_report(&Wallet::new(), target, "quick", FERRY_CLAIM)
            .refused(400, code);
    }
    rig.site.put("/ferry", Page::Status(404));
    rig.buy_report(&Wallet::new(), FERRY, "quick", FERRY_CLAIM)
        .refused(400, "upstream_refused");
    assert_eq!(rig.facilitator.settlements(), 0);
}

/// The page is the same page: a report leaves it in the cache, and the challenge of a page is as it was.
#[test]
fn a_report_fills_the_cache_that_pages_are_sold_from() {
    let rig = Rig::start();
    rig.buy_report(&Wallet::new(), FERRY, "quick", FERRY_CLAIM)
        .expect(200);
    let page = rig.buy(&Wallet::new(), FERRY, "cached").expect(200);
    assert!(
        page.json()["markdown"]
            .as_str()
            .is_some_and(|text| text.contains(FERRY_CLAIM))
    );
    assert_eq!(rig.site.hits("/ferry"), 1);
    let challenge = rig.post(ACCESS).send().expect(402);
    assert_eq!(challenge.must("x-service-payment-tier"), "fresh");
    assert_eq!(challenge.header("x-service-payment-pack"), None);
}
