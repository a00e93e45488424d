//! Purchases of several sources: pages in one answer, Evidence Bundles over x402. All of the price or none of it, whatever
//! becomes of single sources.

use std::time::Duration;

use context402::domain::bundle::Bundle;
use context402::domain::check::CheckDepth;
use context402::domain::level::Level;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::harness::{
    ACCESS, ARTICLE, Answer, Ask, BASE_URL, FERRY, FERRY_CLAIM, FRESH, Page, RETRY, Rig, Says,
    Wallet, price,
};

const BUNDLE: &str = "/v1/x402/proof-bundle";
const CHECK: &str = "/v1/x402/check";
const QUICK: Level = Level::Check(CheckDepth::Quick);
const SCOUT: Level = Level::Bundle(Bundle::Scout);
const BUILDER: Level = Level::Bundle(Bundle::Builder);
const OTHER: &str = "http://www.second-site.org/fares";
const THIRD: &str = "http://www.third-site.org/fares";
const DOWN: &str = "http://down.sample-site.org/article";
const MISSING: &str = "http://news.sample-site.org/there-is-no-such-page";

/// Asks, signs what the 402 wants, and asks again with the payment.
fn pay(rig: &Rig, wallet: &Wallet, ask: &Ask) -> Answer {
    let payment = wallet.sign_answer(&ask.send().expect(402), rig.now(), None);
    ask.clone().paid(&payment.header).send()
}

fn pages(rig: &Rig, target_urls: &[&str]) -> Ask {
    let body = json!({"target_urls": target_urls, "tier": "fresh"});
    rig.post(ACCESS).json(&body)
}

fn bundle(rig: &Rig, sources: &Value) -> Ask {
    rig.post(BUNDLE)
        .json(&json!({"sources": sources, "question": FERRY_CLAIM}))
}

fn rig() -> Rig {
    let rig = Rig::start();
    let text =
        "Children under six travel free on the harbour ferry. Adults pay two euros for a crossing.";
    rig.site
        .put("/fares", Page::html("Fares of the harbour ferry", text));
    rig
}

fn paid(rig: &Rig, wallet: &Wallet) -> u128 {
    rig.facilitator.spent(wallet.address())
}

#[test]
fn several_pages_cost_as_many_times_the_price_and_come_in_one_answer() {
    let rig = rig();
    let wallet = Wallet::new();
    let ask = pages(&rig, &[ARTICLE, FERRY, OTHER]);
    let challenge = ask.send().expect(402).challenge();
    assert_eq!(
        challenge["accepts"][0]["amount"],
        (3 * price(FRESH)).to_string()
    );
    let description = challenge["resource"]["description"].as_str();
    assert!(
        description.is_some_and(|text| text.contains("3 public web pages")),
        "{challenge}"
    );
    let answer = pay(&rig, &wallet, &ask).expect(200);
    assert_eq!(answer.must("x-service-payment-tier"), "fresh");
    assert_eq!(
        answer.settlement()["amount"],
        (3 * price(FRESH)).to_string()
    );
    let body = answer.json();
    let bought = body["pages"].as_array().expect("pages");
    let addresses: Vec<&str> = bought
        .iter()
        .filter_map(|page| page["target_url"].as_str())
        .collect();
    assert_eq!(
        addresses,
        [ARTICLE, FERRY, OTHER],
        "in the order of the request"
    );
    for page in bought {
        assert!(
            page["markdown"]
                .as_str()
                .is_some_and(|text| text.starts_with("# ")),
            "{page}"
        );
        assert_eq!(page["cache"]["hit"], false);
        assert_eq!(page["content_sha256"].as_str().map(str::len), Some(64));
    }
    assert_eq!(body["unread"], json!([]));
    assert_eq!(
        body["payment"]["amount_units"],
        (3 * price(FRESH)).to_string()
    );
    assert_eq!(body["payment"]["settled"], true);
    assert_eq!(paid(&rig, &wallet), 3 * price(FRESH));
    // What was fetched for it is in the cache.
    let cached = rig.buy(&wallet, OTHER, "cached").expect(200);
    assert_eq!(cached.must("x-service-cache"), "hit");
}

/// What a request may ask for of one page it may ask for of several, within the budget of each.
#[test]
fn of_each_of_several_pages_the_part_that_is_asked_for_is_sold() {
    let rig = rig();
    let wallet = Wallet::new();
    let body = json!({
        "target_urls": [FERRY, OTHER], "tier": "fresh", "query": "Who travels free?", "max_characters": 400,
        "exclude_selector": "h2",
    });
    let ask = rig.post(ACCESS).json(&body);
    let answer = pay(&rig, &wallet, &ask).expect(200).json();
    assert_eq!(paid(&rig, &wallet), 2 * price(FRESH));
    let sold = answer["pages"].as_array().expect("pages");
    let mut hashes = String::new();
    for page in sold {
        let markdown = page["markdown"].as_str().expect("text");
        assert!(
            markdown.chars().count() <= 400 && markdown.contains("free"),
            "{page}"
        );
        assert!(!markdown.contains("Times"), "{markdown}");
        assert_eq!(page["excerpt"]["query"], "Who travels free?");
        let hash = hex::encode(Sha256::digest(markdown));
        assert_eq!(page["content_sha256"], hash);
        hashes.push_str(&format!("{hash}\n"));
    }
    assert_eq!(
        answer["content_sha256"],
        hex::encode(Sha256::digest(hashes))
    );
    // The whole page is another purchase.
    let payment = wallet.sign_answer(&ask.send().expect(402), rig.now(), None);
    ask.clone().paid(&payment.header).send().expect(200);
    let whole = pages(&rig, &[FERRY, OTHER]).paid(&payment.header);
    whole.send().refused_charged(400, "payment_replayed");
    // A selector that matches nothing on one of them is a source that cannot be read.
    let body = json!({"target_urls": [FERRY, OTHER], "tier": "fresh", "selector": "main a"});
    let before = paid(&rig, &wallet);
    let refused = pay(&rig, &wallet, &rig.post(ACCESS).json(&body));
    let refused = refused.refused(400, "sources_unread").json();
    assert_eq!(refused["unread"][0]["code"], "selector_unmatched");
    assert_eq!(paid(&rig, &wallet), before);
    // The tiers that never fetch have no HTML to read.
    for option in [
        json!({"selector": "main"}),
        json!({"include_comments": true}),
        json!({"render": "always"}),
    ] {
        let mut body = json!({"target_urls": [FERRY, OTHER], "tier": "cached"});
        for (name, value) in option.as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        let payment = wallet.sign(&rig, "cached");
        let ask = rig.post(ACCESS).json(&body).paid(&payment.header);
        assert_eq!(ask.send().expect(422).json()["error"]["charged"], false);
    }
}

/// A page with its comments is read for one buyer. What others buy from the cache is the page without.
#[test]
fn comments_are_read_where_they_are_asked_for_and_never_cached() {
    const TALK: &str = "http://news.sample-site.org/talk";
    let rig = rig();
    let article: String = (1..=6)
        .map(|n| {
            format!("<p>Part {n} of the article tells at some length how the harbour was built and who paid for it in the end.</p>")
        })
        .collect();
    let comments: String = (1..=4)
        .map(|n| {
            format!("<li class=comment><p>Reader {n} remembers the old pier, and that it was painted green all over.</p></li>")
        })
        .collect();
    let html = format!(
        "<html lang=en><head><title>The harbour</title></head><body><article><h1>The harbour</h1>{article}</article>\
         <section id=comments class=comments><h2>Comments</h2><ol class=comment-list>{comments}</ol></section></body></html>"
    );
    rig.site.put("/talk", Page::of("text/html", html));
    let wallet = Wallet::new();
    let sold = |body: Value| pay(&rig, &wallet, &rig.post(ACCESS).json(&body)).expect(200);
    let of = |answer: &Answer| answer.json()["markdown"].as_str().expect("text").to_owned();
    let with = json!({"target_url": TALK, "tier": "fresh", "include_comments": true});
    assert!(of(&sold(with.clone())).contains("painted green"));
    // It was not cached: the next buyer's page is fetched, and is the article alone.
    let plain = sold(json!({"target_url": TALK, "tier": "fresh"}));
    assert_eq!(plain.must("x-service-cache"), "miss");
    assert!(!of(&plain).contains("painted green"));
    // Nor is it read from the cache.
    let again = sold(with);
    assert_eq!(again.must("x-service-cache"), "miss");
    assert!(of(&again).contains("painted green"));
    let cached = sold(json!({"target_url": TALK, "tier": "cached"}));
    assert!(!of(&cached).contains("painted green"));
    // A payment for the one does not get the other.
    let ask = |body: &Value| rig.post(ACCESS).json(body);
    let usual = json!({"target_url": TALK, "tier": "fresh", "include_comments": false});
    let payment = wallet.sign(&rig, "fresh");
    ask(&usual).paid(&payment.header).send().expect(200);
    let absent = json!({"target_url": TALK, "tier": "fresh"});
    ask(&absent).paid(&payment.header).send().expect(200);
    let with = json!({"target_url": TALK, "tier": "fresh", "include_comments": true});
    let other = ask(&with).paid(&payment.header).send();
    other.refused_charged(400, "payment_replayed");
    // Reports read them too, each source of several as well.
    let question = "What colour was the old pier painted?";
    let report = |comments: bool| {
        let body = json!({"target_url": TALK, "pack": "quick", "question": question, "include_comments": comments});
        let ask = rig.post("/v1/x402/proof-pack?pack=quick").json(&body);
        pay(&rig, &wallet, &ask).expect(200).text()
    };
    assert!(report(true).contains("painted green") && !report(false).contains("painted green"));
    let body = json!({"text": "The old pier was painted green.", "sources": [TALK], "depth": "quick", "include_comments": true});
    let checked = pay(&rig, &wallet, &rig.post(CHECK).json(&body)).expect(200);
    assert!(checked.text().contains("painted green all over"));
}

#[test]
fn several_sources_are_quoted_at_the_price_that_the_402_asks() {
    let rig = rig();
    let listed = |urls: &[&str]| {
        url::form_urlencoded::Serializer::new(String::new())
            .append_pair("target_urls", &urls.join("\n"))
            .finish()
    };
    let list = listed(&[ARTICLE, FERRY, ARTICLE, "http://10.0.0.1/"]);
    let quote = rig
        .get(&format!("/v1/x402/quote?{list}"))
        .expect(200)
        .json();
    assert_eq!(quote["target_urls"], json!([ARTICLE, FERRY]));
    let codes: Vec<&str> = quote["rejected_urls"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|one| one["code"].as_str())
        .collect();
    assert_eq!(codes, ["duplicate", "target_blocked"]);
    let tiers = quote["tiers"].as_array().expect("tiers");
    assert_eq!((tiers.len(), &quote["quantity"]), (5, &json!(2)));
    for offer in tiers {
        let tier = offer["tier"].as_str().expect("a tier");
        let body = json!({"target_urls": [ARTICLE, FERRY], "tier": tier});
        let challenge = rig.post(ACCESS).json(&body).send().expect(402).challenge();
        assert_eq!(offer["accepts"][0], challenge["accepts"][0], "{tier}");
        assert_eq!(offer["amount"], challenge["accepts"][0]["amount"]);
        let fetches = !["starter", "cached"].contains(&tier);
        assert_eq!(offer["deliverable_now"], fetches, "{offer}");
    }
    let list = listed(&[ARTICLE, FERRY]);
    let second = rig.get(&format!("/v1/x402/quote?target_urls=&{list}"));
    assert_eq!(second.expect(200).json()["quantity"], 2);
    let quote = rig.get(&format!("/v1/x402/check/quote?{list}&texts=1"));
    let quote = quote.expect(200).json();
    let named = list.replace("target_urls", "sources");
    let same = rig.get(&format!("/v1/x402/check/quote?{named}&texts=1"));
    let (same, sources) = (same.expect(200).json(), "target_urls");
    assert_eq!(same[sources], quote[sources], "as the purchase names them");
    let depths = quote["depths"].as_array().expect("depths");
    assert_eq!((depths.len(), &quote["quantity"]), (2, &json!(3)));
    for offer in depths {
        let sources = json!([ARTICLE, FERRY, {"text": "Mine."}]);
        let body = json!({"text": "A claim.", "sources": sources, "depth": offer["depth"]});
        let challenge = rig.post(CHECK).json(&body).send().expect(402).challenge();
        assert_eq!(offer["accepts"][0], challenge["accepts"][0], "{offer}");
        assert_eq!(offer["deliverable_now"], true);
    }
    // Nothing was fetched, kept or resolved; without any source the sample page is quoted.
    assert_eq!(rig.site.hits("/article") + rig.site.hits("/ferry"), 0);
    let sample = rig.get("/v1/x402/check/quote").expect(200).json();
    assert_eq!(
        (&sample["quantity"], &sample["kept"]),
        (&json!(1), &json!(false))
    );
    // Bounds: what does not fit into one purchase is named, and nothing is counted without end.
    let many: Vec<String> = (0..12).map(|n| format!("{ARTICLE}?{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let quote = rig.get(&format!("/v1/x402/check/quote?{}&texts=4", listed(&many)));
    let quote = quote.expect(200).json();
    assert_eq!(quote["quantity"], 10);
    assert_eq!(quote["rejected_urls"].as_array().map(Vec::len), Some(6));
    let reason = &quote["rejected_urls"][0]["reason"];
    assert_eq!(
        reason,
        "One purchase takes at most 10 sources, texts included."
    );
    let quote = rig.get(&format!("/v1/x402/quote?{}", listed(&many)));
    let reason = quote.expect(200).json()["rejected_urls"][0]["reason"].clone();
    assert_eq!(reason, "One purchase takes at most 10 pages.");
    for query in [
        "texts=11",
        "texts=-1",
        "texts=1&texts=2",
        "url=http://a.example/",
    ] {
        rig.get(&format!("/v1/x402/check/quote?{query}"))
            .expect(422);
    }
    rig.get(&format!("/v1/x402/quote?{list}&target_url={FERRY}"))
        .expect(422);
    let blocked = listed(&["http://10.0.0.1/"]);
    rig.get(&format!("/v1/x402/quote?{blocked}"))
        .refused(400, "target_blocked");
}

#[test]
fn the_same_payment_gets_the_same_pages_and_is_charged_once() {
    let rig = rig();
    let wallet = Wallet::new();
    let ask = pages(&rig, &[ARTICLE, FERRY]);
    let payment = wallet.sign_answer(&ask.send().expect(402), rig.now(), None);
    let ask = ask.paid(&payment.header);
    let answers = ask.send_at_once(3);
    let first = answers[0].clone().expect(200).body;
    for answer in answers {
        assert_eq!(answer.expect(200).body, first);
    }
    assert_eq!(ask.send().expect(200).body, first);
    assert_eq!(paid(&rig, &wallet), 2 * price(FRESH));
    // In another order it is another purchase.
    let other = pages(&rig, &[FERRY, ARTICLE]).paid(&payment.header);
    other.send().refused_charged(400, "payment_replayed");
}

#[test]
fn pages_that_cannot_all_be_read_are_not_sold_and_the_rest_is_named() {
    let rig = rig();
    let wallet = Wallet::new();
    let refused = pay(&rig, &wallet, &pages(&rig, &[ARTICLE, MISSING, FERRY]));
    let body = refused.refused(400, "sources_unread").json();
    assert_eq!(body["readable"], json!([ARTICLE, FERRY]));
    assert_eq!(body["unread"][0]["source"], MISSING);
    assert_eq!(body["unread"][0]["code"], "upstream_refused");
    assert_eq!(body["instead"]["amount"], (2 * price(FRESH)).to_string());
    assert_eq!(
        (paid(&rig, &wallet), rig.facilitator.settle_calls()),
        (0, 0)
    );
    // The next request succeeds.
    let readable: Vec<&str> = body["readable"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    pay(&rig, &wallet, &pages(&rig, &readable)).expect(200);
    assert_eq!(paid(&rig, &wallet), 2 * price(FRESH));
}

#[test]
fn who_takes_fewer_pages_pays_the_full_price_knowingly() {
    let rig = rig();
    let wallet = Wallet::new();
    let body = json!({"target_urls": [ARTICLE, MISSING, FERRY], "tier": "fresh", "min_pages": 2});
    let answer = pay(&rig, &wallet, &rig.post(ACCESS).json(&body))
        .expect(200)
        .json();
    assert_eq!(answer["pages"].as_array().map(Vec::len), Some(2));
    assert_eq!(answer["unread"][0]["target_url"], MISSING);
    assert_eq!(paid(&rig, &wallet), 3 * price(FRESH));
}

/// One page that did not fit used up the room of those that came after it, and its buyer paid for them all the same.
#[test]
fn a_page_that_is_too_large_keeps_no_other_out() {
    let rig = Rig::with(|resolved| resolved.set("fetch.seconds_max", "20"));
    // Four times as long in JSON.
    let text = "\\".repeat(1_100_000);
    rig.site.put("/large", Page::of("text/plain", text));
    let small = |number: usize| {
        let page = Page::html(
            "A small page",
            &format!("Boat {number} comes and goes here."),
        );
        let path = format!("/boat-{number}");
        rig.site.put(&path, page.slow(Duration::from_millis(500)));
        format!("http://news.sample-site.org{path}")
    };
    let mut target_urls = vec!["http://news.sample-site.org/large".to_owned()];
    target_urls.extend((0..6).map(small));
    let (wallet, stranger) = (Wallet::new(), Wallet::new());
    let body = json!({"target_urls": target_urls, "tier": "fresh", "min_pages": 1});
    let answer = pay(&rig, &wallet, &rig.post(ACCESS).json(&body)).expect(200);
    let answer = answer.json();
    assert_eq!(answer["pages"].as_array().map(Vec::len), Some(6));
    assert_eq!(answer["unread"][0]["target_url"], target_urls[0]);
    let advice = |unread: &Value| unread["message"].as_str().expect("why").to_owned();
    assert!(advice(&answer["unread"][0]).contains("max_tokens"));
    // A check has neither a budget nor a smaller purchase: its advice is its own.
    let body = json!({"text": "Boats come.", "sources": [target_urls[0], target_urls[1]], "depth": "quick"});
    let refused = pay(&rig, &stranger, &rig.post(CHECK).json(&body));
    let refused = refused.refused(400, "sources_unread").json();
    let advice = advice(&refused["unread"][0]);
    assert!(
        advice.contains("a text of your own") && !advice.contains("max_tokens"),
        "{advice}"
    );
    assert_eq!(paid(&rig, &stranger), 0);
}

#[test]
fn an_outage_of_one_page_holds_the_payment_and_the_credit_buys_all() {
    let rig = rig();
    let wallet = Wallet::new();
    let target_urls = [ARTICLE, DOWN];
    let refused = pay(&rig, &wallet, &pages(&rig, &target_urls));
    let credit = refused.refused(503, "upstream_unavailable").credit();
    assert_eq!(paid(&rig, &wallet), 0);
    rig.site.raise();
    let redeem = |body: &Value| {
        let ask = rig
            .post(RETRY)
            .header("X-Service-Retry-Credit", credit.as_str());
        ask.json(body).send()
    };
    // The credit is for this purchase alone.
    let other = json!({"target_urls": [DOWN, ARTICLE], "tier": "fresh"});
    redeem(&other).refused(400, "retry_credit_invalid");
    let answer = redeem(&json!({"target_urls": target_urls, "tier": "fresh"})).expect(200);
    assert_eq!(answer.json()["pages"].as_array().map(Vec::len), Some(2));
    assert_eq!(paid(&rig, &wallet), 2 * price(FRESH));
}

#[test]
fn lists_of_pages_that_make_no_sense_are_refused_before_any_payment_is_looked_at() {
    let rig = rig();
    let wallet = Wallet::new();
    let eleven: Vec<String> = (0..11)
        .map(|n| format!("http://news.sample-site.org/{n}"))
        .collect();
    for body in [
        json!({"target_urls": [ARTICLE]}),
        json!({"target_urls": [ARTICLE, ARTICLE]}),
        json!({"target_urls": eleven}),
        json!({"target_urls": [ARTICLE, FERRY], "target_url": ARTICLE}),
        json!({"target_urls": [ARTICLE, FERRY], "min_pages": 3}),
        json!({"target_urls": [ARTICLE, FERRY], "min_pages": 0}),
        json!({"target_urls": [ARTICLE, 5]}),
    ] {
        let payment = wallet.sign(&rig, "fresh");
        let ask = rig.post(ACCESS).json(&body).paid(&payment.header);
        let error = ask.send().expect(422).json()["error"].clone();
        assert_eq!(
            (&error["code"], &error["charged"]),
            (&json!("validation_failed"), &json!(false))
        );
    }
    assert_eq!(
        (paid(&rig, &wallet), rig.facilitator.verify_calls()),
        (0, 0)
    );
}

#[test]
fn a_payment_for_one_page_does_not_buy_two() {
    let rig = rig();
    let wallet = Wallet::new();
    let payment = wallet.sign(&rig, "fresh");
    let answer = pages(&rig, &[ARTICLE, FERRY]).paid(&payment.header).send();
    let challenge = answer.expect(402).challenge();
    assert_eq!(
        challenge["accepts"][0]["amount"],
        (2 * price(FRESH)).to_string()
    );
    assert_eq!(
        (paid(&rig, &wallet), rig.facilitator.verify_calls()),
        (0, 0)
    );
}

#[test]
fn a_bundle_is_read_compared_sold_and_kept() {
    let rig = rig();
    let wallet = Wallet::new();
    let own =
        json!({"title": "Notes", "text": "Children under six travel free on the harbour ferry."});
    let ask = bundle(&rig, &json!([FERRY, {"url": OTHER}, own]));
    let challenge = ask.send().expect(402).challenge();
    assert_eq!(challenge["accepts"][0]["amount"], price(SCOUT).to_string());
    let answer = pay(&rig, &wallet, &ask).expect(200);
    assert_eq!(answer.must("x-service-payment-bundle"), "scout");
    assert_eq!(paid(&rig, &wallet), price(SCOUT));
    let report = answer.json();
    assert_eq!(
        (&report["bundle"], &report["question"]),
        (&json!("scout"), &json!(FERRY_CLAIM))
    );
    assert_eq!(report["synthesis"]["coverage"]["read_count"], 3);
    assert_eq!(report["payment"]["settled"], true);
    assert!(
        ["supported", "partially_supported"]
            .contains(&report["decision"]["label"].as_str().unwrap_or_default()),
        "{}",
        report["decision"]
    );
    let names: Vec<&str> = report["sources"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|source| source["target_url"].as_str())
        .collect();
    assert_eq!(names[..2], [FERRY, OTHER]);
    assert!(names[2].starts_with("urn:sha256:"), "{names:?}");
    // It is kept, verifiable, and shown.
    let path = |name: &str| path(&report, name);
    assert_eq!(rig.get(&path("report_url")).expect(200).body, answer.body);
    let receipt = rig.get(&path("verify_url")).expect(200).json();
    assert_eq!(receipt["valid"], true, "{receipt}");
    assert_eq!(receipt["report_id"], report["report_id"]);
    let texts = rig.get(&path("source_text_url")).expect(200).json();
    assert_eq!(texts[2]["source_id"], "S3");
    let page = rig
        .ask("GET", &path("report_page"))
        .header("Accept", "text/html")
        .send();
    let page = page.expect(200).text();
    for part in [
        "Evidence Bundle",
        "matrix",
        "?check=1#verify",
        "?format=markdown",
        "<dt>Report</dt>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let checked = rig.ask("GET", &format!("{}?check=1", path("report_page")));
    let checked = checked.header("Accept", "text/html").send().expect(200);
    assert!(checked.text().contains("class=\"pass\""), "{checked:?}");
    assert!(
        rig.get(&path("pdf_url"))
            .expect(200)
            .body
            .starts_with(b"%PDF")
    );
    // What only one source can do says so.
    let asked = rig
        .post(&format!("{}/follow-up", path("report_url")))
        .json(&json!({"question": "Why?"}));
    let refused = asked.send().refused(404, "not_offered_for_report");
    let step = refused.json()["error"]["next_step"].to_string();
    assert!(step.contains("Read the report at"), "{step}");
    rig.get(&format!("{}/screenshot", path("report_url")))
        .refused(404, "not_offered_for_report");
    // After its days it is gone.
    rig.pass(31 * 86_400);
    rig.get(&path("report_url")).refused(410, "report_expired");
}

/// A cached page bore the time of the sale.
#[test]
fn a_bundle_says_when_each_source_was_fetched() {
    let rig = rig();
    let ask = bundle(&rig, &json!([FERRY, OTHER]));
    let [first, again] = [0, 600].map(|seconds| {
        rig.pass(seconds);
        pay(&rig, &Wallet::new(), &ask).expect(200).json()
    });
    assert_ne!(first["created_at"], again["created_at"]);
    for report in [&first, &again] {
        let fetched_at = &first["sources"][0]["fetched_at"];
        assert_eq!(&report["sources"][0]["fetched_at"], fetched_at);
        assert_eq!(&report["source_hashes"][0]["fetched_at"], fetched_at);
        assert_eq!(
            &report["reports"][0]["source_profile"]["retrieved_at"],
            fetched_at
        );
    }
}

/// The credit for an outage is no reason to leave out which sources failed.
#[test]
fn an_outage_of_some_sources_names_them_beside_the_credit() {
    let rig = rig();
    rig.site.put("/flaky", Page::Status(503));
    let flaky = "http://news.sample-site.org/flaky";
    let sources = json!([FERRY, flaky]);
    let refused = pay(&rig, &Wallet::new(), &check(&rig, FERRY_CLAIM, &sources));
    let refused = refused.refused(503, "upstream_unavailable");
    let body = refused.json();
    assert_eq!(body["readable"], json!([FERRY]));
    assert_eq!(body["unread"][0]["source"], flaky);
    assert_eq!(body["instead"]["amount"], price(QUICK).to_string());
    assert_eq!(body["retry"]["credit"], refused.credit());
}

#[test]
fn a_bundle_of_which_fewer_than_half_can_be_read_is_not_sold() {
    let rig = rig();
    let wallet = Wallet::new();
    let sources = json!([
        FERRY,
        MISSING,
        format!("{MISSING}/2"),
        format!("{MISSING}/3"),
        OTHER,
        format!("{MISSING}/4")
    ]);
    let refused = pay(&rig, &wallet, &bundle(&rig, &sources));
    let body = refused.refused(400, "sources_unread").json();
    assert_eq!(body["readable"], json!([FERRY, OTHER]));
    assert_eq!(body["unread"].as_array().map(Vec::len), Some(4));
    assert_eq!(
        (&body["instead"]["bundle"], &body["instead"]["sources"]),
        (&json!("scout"), &json!(2))
    );
    assert_eq!(
        (paid(&rig, &wallet), rig.facilitator.settle_calls()),
        (0, 0)
    );
    // With half of them it is sold, and says what was not read.
    let sources = json!([FERRY, MISSING, OTHER, format!("{MISSING}/2")]);
    let answer = pay(&rig, &wallet, &bundle(&rig, &sources))
        .expect(200)
        .json();
    assert_eq!(answer["unreachable"][0]["target_url"], MISSING);
    assert_eq!(answer["synthesis"]["coverage"]["read_count"], 2);
    assert_eq!(paid(&rig, &wallet), price(BUILDER));
}

/// One source has nothing to be compared with. It was sold as half of a bundle of two, though a bundle of one is refused.
#[test]
fn a_bundle_of_which_one_source_can_be_read_is_not_sold() {
    let rig = rig();
    let wallet = Wallet::new();
    let refused = pay(&rig, &wallet, &bundle(&rig, &json!([FERRY, MISSING])));
    let body = refused.refused(400, "sources_unread").json();
    assert_eq!(body["readable"], json!([FERRY]));
    assert!(body.get("instead").is_none(), "{body}");
    let message = body["error"]["message"].as_str().expect("a text");
    assert!(message.contains("2 are needed"), "{message}");
    assert_eq!(paid(&rig, &wallet), 0);
    // The rule stands where buyers read.
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let tools = rig.post("/mcp").json(&list).send().expect(200).text();
    assert!(tools.contains("at least half of them, can be read"));
    for path in [
        "/openapi.json",
        "/docs",
        "/proof-pack/bundle",
        "/refunds",
        "/llms-full.txt",
    ] {
        let text = rig.get(path).expect(200).text();
        assert!(
            text.contains("at least half of them, can be read"),
            "{path}"
        );
    }
}

/// A private address counts as unread: the 402 says so, and does not say that the bundle is not sold where enough is left.
#[test]
fn a_bundle_with_an_address_that_is_not_allowed_is_sold_where_enough_is_left() {
    let rig = rig();
    let wallet = Wallet::new();
    let told = |ask: &Ask| ask.send().expect(402).challenge()["error"].to_string();
    let enough = bundle(&rig, &json!([FERRY, OTHER, "http://10.0.0.1/"]));
    let said = told(&enough);
    assert!(
        said.contains("1 of 3 sources will count as unread"),
        "{said}"
    );
    assert!(
        said.contains("http://10.0.0.1/") && !said.contains("cannot be served"),
        "{said}"
    );
    pay(&rig, &wallet, &enough).expect(200);
    let few = bundle(&rig, &json!([FERRY, "http://10.0.0.1/"]));
    assert!(told(&few).contains("cannot be served as it stands"));
    pay(&rig, &wallet, &few).refused(400, "sources_unread");
    let body = json!({"target_urls": [FERRY, "http://10.0.0.1/"], "min_pages": 1});
    let one_will_do = rig.post(ACCESS).json(&body);
    assert!(told(&one_will_do).contains("1 of 2 sources will count as unread"));
    pay(&rig, &wallet, &one_will_do).expect(200);
}

/// What a schema allows is sold: a client checks its request against it before it pays.
#[test]
fn the_description_states_how_many_sources_are_taken_and_what_reports_look_like() {
    let rig = rig();
    let openapi = rig.get("/openapi.json").expect(200).json();
    let bounds = |body: &str, member: &str| {
        let field = &openapi["components"]["schemas"][body]["properties"][member];
        (field["minItems"].as_u64(), field["maxItems"].as_u64())
    };
    for (body, member, least, most) in [
        ("ProofBundleRequest", "sources", 2, 25),
        ("ProofBundleRequest", "target_urls", 2, 25),
        ("PagesRequest", "target_urls", 2, 10),
        ("CheckRequest", "sources", 1, 10),
    ] {
        assert_eq!(
            bounds(body, member),
            (Some(least), Some(most)),
            "{body} {member}"
        );
    }
    for path in ["/docs", "/llms-full.txt"] {
        let text = rig.get(path).expect(200).text();
        assert!(
            text.contains("a text has at most 20000 characters"),
            "{path}"
        );
    }
    let report = &openapi["paths"]["/v1/proof-pack/reports/{report_id}"];
    let schema = &report["get"]["responses"]["200"]["content"]["application/json"]["schema"];
    for name in ["ProofPackResponse", "ProofBundleResponse", "CheckResponse"] {
        assert!(schema.to_string().contains(name), "{name}: {schema}");
    }
    let source = &openapi["paths"]["/v1/proof-pack/reports/{report_id}/source"];
    let content = &source["get"]["responses"]["200"]["content"];
    for kind in ["text/markdown", "application/json"] {
        assert!(content[kind].is_object(), "{kind}: {content}");
    }
    let refused = &openapi["paths"]["/v1/x402/check"]["post"]["responses"]["402"]["headers"];
    assert!(refused["X-Service-Payment-Error"].is_object(), "{refused}");
}

#[test]
fn claims_stand_for_a_question_and_the_bundle_follows_from_the_sources() {
    let rig = rig();
    let wallet = Wallet::new();
    let body = json!({"target_urls": [FERRY, OTHER, THIRD, ARTICLE], "claims": [FERRY_CLAIM, "Adults pay two euros"]});
    let ask = rig.post(BUNDLE).json(&body);
    let answer = pay(&rig, &wallet, &ask).expect(200).json();
    assert_eq!(answer["bundle"], "builder");
    assert_eq!(
        answer["question"],
        format!("{FERRY_CLAIM} Adults pay two euros.")
    );
    assert_eq!(paid(&rig, &wallet), price(Level::Bundle(Bundle::Builder)));
    let wallet = Wallet::new();
    for body in [
        json!({"question": FERRY_CLAIM}),
        json!({"sources": [FERRY]}),
        json!({"sources": [FERRY, FERRY]}),
        json!({"sources": [FERRY, {"text": " "}]}),
        json!({"sources": [FERRY, {"text": "a", "url": OTHER}]}),
        json!({"sources": [FERRY, {"report_id": "ppr_sample"}]}),
        json!({"sources": [FERRY, {"url": OTHER, "title": "no"}]}),
        json!({"sources": [FERRY, OTHER], "target_urls": [FERRY, OTHER]}),
        json!({"sources": [FERRY, OTHER], "question": "a", "claims": ["b"]}),
        json!({"sources": [FERRY, OTHER, THIRD, ARTICLE], "bundle": "scout"}),
        json!({"target_urls": [FERRY, OTHER], "claims": ["a".repeat(600), "b".repeat(600)]}),
    ] {
        let probe = rig.post(BUNDLE).send().expect(402);
        let payment = wallet.sign_answer(&probe, rig.now(), None);
        let ask = rig.post(BUNDLE).json(&body).paid(&payment.header);
        let error = ask.send().expect(422).json()["error"].clone();
        assert_eq!(
            (&error["code"], &error["charged"]),
            (&json!("validation_failed"), &json!(false))
        );
    }
    assert_eq!(
        (paid(&rig, &wallet), rig.facilitator.verify_calls()),
        (0, 1)
    );
}

/// A settled bundle whose answer is lost is given again, uncharged, as every other product.
#[test]
fn a_bundle_survives_a_lost_answer_and_an_unknown_settlement() {
    let rig = rig();
    let wallet = Wallet::new();
    let ask = bundle(
        &rig,
        &json!([FERRY, {"text": "Children under six travel free on the harbour ferry."}]),
    );
    let payment = wallet.sign_answer(&ask.send().expect(402), rig.now(), None);
    let paid_ask = ask.clone().paid(&payment.header);
    rig.facilitator.settles(Says::Reset);
    let answer = paid_ask.send();
    let credit = answer.expect(503).credit();
    rig.facilitator.settles(Says::Honest);
    // The texts came with the first request; the kept answer needs them no more.
    let body = json!({"sources": [FERRY, {"text": "Children under six travel free on the harbour ferry."}], "question": FERRY_CLAIM});
    let redeemed = rig
        .post(RETRY)
        .header("X-Service-Retry-Credit", credit.as_str())
        .json(&body)
        .send();
    let report = redeemed.expect(200).json();
    assert_eq!(report["payment"]["settled"], true);
    assert_eq!(paid(&rig, &wallet), price(SCOUT));
    assert_eq!(paid_ask.send().expect(200).json(), report);
    assert_eq!(paid(&rig, &wallet), price(SCOUT));
}

fn check(rig: &Rig, text: &str, sources: &Value) -> Ask {
    let body = json!({"text": text, "sources": sources, "depth": "quick"});
    rig.post(CHECK).json(&body)
}

/// The path of an address that a report names.
fn path(report: &Value, name: &str) -> String {
    let url = report[name]
        .as_str()
        .unwrap_or_else(|| panic!("{name} is missing: {report}"));
    url.trim_start_matches(BASE_URL).to_owned()
}

#[test]
fn each_claim_of_a_text_is_checked_against_all_sources_and_the_report_is_kept() {
    let rig = rig();
    let wallet = Wallet::new();
    let text = "Thank you for asking! Children under six travel free on the harbour ferry. \
                Adults pay nine euros for a crossing.";
    let ask = check(&rig, text, &json!([FERRY, {"url": OTHER}]));
    let challenge = ask.send().expect(402).challenge();
    assert_eq!(
        challenge["accepts"][0]["amount"],
        (2 * price(QUICK)).to_string()
    );
    let answer = pay(&rig, &wallet, &ask).expect(200);
    assert_eq!(answer.must("x-service-payment-depth"), "quick");
    assert_eq!(paid(&rig, &wallet), 2 * price(QUICK));
    let report = answer.json();
    assert_eq!(
        (&report["text"], &report["depth"]),
        (&json!(text), &json!("quick"))
    );
    let claims = report["claims"].as_array().expect("claims");
    for claim in claims {
        let place = |name: &str| {
            claim[name]
                .as_u64()
                .and_then(|at| usize::try_from(at).ok())
                .expect("a position")
        };
        assert_eq!(
            text.get(place("start")..place("end")),
            claim["text"].as_str(),
            "{claim}"
        );
    }
    assert_eq!(claims[0]["needs_grounding"], false, "{}", claims[0]);
    let free = claims.iter().find(|claim| {
        claim["text"]
            .as_str()
            .is_some_and(|text| text.contains("six"))
    });
    let label = &free.expect("the claim")["label"];
    assert!(
        label == "supported" || label == "partially_supported",
        "{label}"
    );
    let wrong = &report["corrections"][0];
    assert_eq!(wrong["source_id"], "S2", "{}", report["corrections"]);
    assert!(
        wrong["quote"]
            .as_str()
            .is_some_and(|quote| quote.contains("two euros")),
        "{wrong}"
    );
    // It is kept, verifiable, and shown.
    assert_eq!(
        rig.get(&path(&report, "report_url")).expect(200).body,
        answer.body
    );
    let receipt = rig.get(&path(&report, "verify_url")).expect(200).json();
    assert_eq!(receipt["valid"], true, "{receipt}");
    let page = rig
        .ask("GET", &path(&report, "report_page"))
        .header("Accept", "text/html")
        .send();
    assert!(page.expect(200).text().contains("Checked text"));
    let verified = rig
        .ask("GET", &format!("{}?check=1", path(&report, "report_page")))
        .header("Accept", "text/html")
        .send()
        .expect(200)
        .text();
    assert!(
        verified.contains("class=\"pass\"") && !verified.contains("class=\"fail\""),
        "{verified}"
    );
    rig.get(&format!("{}/pdf", path(&report, "report_url")))
        .refused(404, "not_offered_for_report");
    let confidence = rig.get("/v1/checkout/confidence?product=check").json();
    assert_eq!(
        confidence["delivery"]["channels"],
        json!(["browser", "json"])
    );
    // The source of a report that is kept is read again without a fetch.
    let hits = rig.site.hits("/ferry");
    let bought = rig
        .buy_report(&wallet, FERRY, "quick", FERRY_CLAIM)
        .expect(200)
        .json();
    let before = paid(&rig, &wallet);
    let again = check(
        &rig,
        FERRY_CLAIM,
        &json!([{"report_id": bought["report_id"]}]),
    );
    let again = pay(&rig, &wallet, &again).expect(200).json();
    assert_eq!(again["sources"][0]["content_sha256"], bought["source_hash"]);
    assert_eq!(paid(&rig, &wallet) - before, price(QUICK));
    assert_eq!(rig.site.hits("/ferry"), hits);
    // One on several sources is a list of texts, not the text of a page.
    let of_a_check = json!([{"report_id": report["report_id"]}]);
    pay(&rig, &wallet, &check(&rig, FERRY_CLAIM, &of_a_check))
        .refused(404, "not_offered_for_report");
    assert_eq!(paid(&rig, &wallet) - before, price(QUICK));
}

#[test]
fn a_check_with_a_source_that_cannot_be_read_is_not_sold() {
    let rig = rig();
    let wallet = Wallet::new();
    let refused = pay(
        &rig,
        &wallet,
        &check(&rig, FERRY_CLAIM, &json!([FERRY, MISSING])),
    );
    let body = refused.refused(400, "sources_unread").json();
    assert_eq!(body["readable"], json!([FERRY]));
    assert_eq!(body["instead"]["amount"], price(QUICK).to_string());
    // One source alone is refused in its own words.
    let refused = pay(&rig, &wallet, &check(&rig, FERRY_CLAIM, &json!([MISSING])));
    refused.refused(400, "upstream_refused");
    let unknown = json!([{"report_id": "ppr_00000000000000000000000000000000"}]);
    let refused = pay(&rig, &wallet, &check(&rig, FERRY_CLAIM, &unknown));
    refused.refused(404, "report_not_found");
    let sample = json!([{"report_id": "ppr_sample"}]);
    let told = check(&rig, FERRY_CLAIM, &sample).send().expect(402);
    let told = told.challenge()["error"].to_string();
    assert!(
        told.contains("the sample report cannot be a source"),
        "{told}"
    );
    assert_eq!(
        (paid(&rig, &wallet), rig.facilitator.settle_calls()),
        (0, 0)
    );
    for body in [
        json!({"sources": [FERRY]}),
        json!({"text": " ", "sources": [FERRY]}),
        json!({"text": "a".repeat(8_001), "sources": [FERRY]}),
        json!({"text": "a", "sources": []}),
        json!({"text": "a", "sources": "b"}),
        json!({"text": "a", "sources": [FERRY, FERRY]}),
        json!({"text": "a", "sources": [{"report_id": "ppr_1"}]}),
        json!({"text": "a", "sources": [FERRY], "depth": "deep"}),
    ] {
        let probe = rig.post(CHECK).send().expect(402);
        let payment = wallet.sign_answer(&probe, rig.now(), None);
        let ask = rig.post(CHECK).json(&body).paid(&payment.header);
        let error = ask.send().expect(422).json()["error"].clone();
        assert_eq!(
            (&error["code"], &error["charged"]),
            (&json!("validation_failed"), &json!(false))
        );
    }
}
