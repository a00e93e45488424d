//! Parts of pages: what a request may ask for, what it gets, and what it is refused without a charge.

use context402::evidence::excerpt::estimated;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::harness::{ACCESS, ARTICLE, Answer, PROOF_PACK, Page, Rig, Wallet};

const GUIDE: &str = "http://news.sample-site.org/guide";

/// A page of which one sentence answers in other words.
const LANTERN: &str = concat!(
    "<html lang=en><head><title>The Lantern</title></head><body><main><h1>The Lantern</h1><p>",
    include_str!("../evidence/lantern.txt"),
    "</p></main></body></html>"
);

/// A page with sections, links, a picture and a table.
fn guide() -> Page {
    let filler = |about: &str| {
        let words = "and more on it than anybody would want to know about it in a single sitting";
        format!("<p>This part is on {about}, {words}. It goes on for a while, {words}.</p>")
    };
    let sections: String = (1..=12)
        .map(|number| {
            format!(
                "<h2>Part {number}</h2>{}",
                filler(&format!("topic {number}"))
            )
        })
        .collect();
    let html = format!(
        "<html lang=en><head><title>Kettle guide</title></head><body><main><article><h1>Kettle guide</h1>{sections}\
         <h2>Prices</h2><p>The copper kettle costs 49 euros in <a href=/shop>the shop</a>.</p>\
         <p><img src=/kettle.png alt='A kettle'></p>\
         <table><tr><th>Kettle</th><th>Weight</th></tr><tr><td>copper</td><td>900 g</td></tr><tr><td>steel</td><td>700 g</td></tr></table>\
         <div id=reviews><p>The handle of this kettle stays cool, says everybody who has bought it.</p></div>\
         </article></main></body></html>"
    );
    Page::of("text/html", html)
}

fn rig() -> Rig {
    let rig = Rig::start();
    rig.site.put("/guide", guide());
    rig
}

fn buy(rig: &Rig, wallet: &Wallet, body: &Value) -> Answer {
    let tier = body["tier"].as_str().unwrap_or("fresh");
    let payment = wallet.sign(rig, tier);
    rig.post(ACCESS).json(body).paid(&payment.header).send()
}

fn sold(rig: &Rig, mut asked: Value) -> Value {
    asked["target_url"] = GUIDE.into();
    buy(rig, &Wallet::new(), &asked).expect(200).json()
}

#[test]
fn a_query_gets_its_passages_within_the_budget() {
    let rig = rig();
    let page = sold(
        &rig,
        json!({"query": "What does the copper kettle cost?", "max_tokens": 120}),
    );
    let markdown = page["markdown"].as_str().expect("text");
    assert!(
        markdown
            .starts_with("# Kettle guide\n\n[…]\n\n## Prices\n\nThe copper kettle costs 49 euros"),
        "{markdown}"
    );
    assert!(estimated(markdown) <= 120);
    let excerpt = &page["excerpt"];
    assert_eq!(excerpt["max_tokens"], 120);
    assert_eq!(excerpt["estimated_tokens"], estimated(markdown));
    assert_eq!(excerpt["characters"], markdown.chars().count());
    assert_eq!(
        (&excerpt["truncated"], &excerpt["ranked_by_query"]),
        (&json!(true), &json!(true))
    );
    assert!(excerpt["blocks_kept"].as_u64() < excerpt["blocks_total"].as_u64());
    assert_eq!(
        page["content_sha256"],
        hex::encode(Sha256::digest(markdown))
    );
}

/// With the built-in models switched off, passages are ranked by words alone.
#[test]
fn passages_are_ranked_by_meaning_too_unless_the_models_are_off() {
    let mut rig = rig();
    let asked =
        json!({"query": "By what transport do visitors reach the Lantern?", "max_tokens": 100});
    let lantern = "http://news.sample-site.org/lantern";
    let cut = |rig: &Rig| {
        let mut body = asked.clone();
        body["target_url"] = lantern.into();
        let page = buy(rig, &Wallet::new(), &body).expect(200).json();
        page["markdown"].as_str().expect("text").to_owned()
    };
    rig.site.put("/lantern", Page::of("text/html", LANTERN));
    let answer = "Tram nine stops in front of the Lantern.";
    let by_meaning = cut(&rig);
    assert!(by_meaning.contains(answer), "{by_meaning}");
    assert_eq!(cut(&rig), by_meaning);
    rig.reconfigure(|resolved| resolved.set("evidence.model", "false"));
    let by_words = cut(&rig);
    assert!(!by_words.contains(answer), "{by_words}");
}

#[test]
fn the_page_is_cached_whole_and_cited_whole() {
    let rig = rig();
    let excerpt = sold(
        &rig,
        json!({"query": "copper kettle cost", "max_tokens": 120}),
    );
    let hits = rig.site.hits("/guide");
    let whole = sold(&rig, json!({"tier": "cached"}));
    assert_eq!(whole["cache"]["hit"], true);
    assert!(
        whole["markdown"]
            .as_str()
            .is_some_and(|text| text.contains("Part 7"))
    );
    assert_eq!(whole.get("excerpt"), None);
    assert_eq!(
        excerpt["excerpt"]["page_content_sha256"],
        whole["content_sha256"]
    );
    let wallet = Wallet::new();
    let payment = wallet.sign_pack(&rig, "quick");
    let question = json!({"target_url": GUIDE, "question": "What does the copper kettle cost?", "pack": "quick"});
    let report = rig
        .post(PROOF_PACK)
        .json(&question)
        .paid(&payment.header)
        .send()
        .expect(200)
        .json();
    assert_eq!(
        report["source_profile"]["content_sha256"],
        whole["content_sha256"]
    );
    // From the cache an excerpt of the same page costs no fetch.
    let beginning = sold(&rig, json!({"tier": "cached", "max_characters": 400}));
    let text = beginning["markdown"].as_str().expect("text");
    assert!(
        whole["markdown"]
            .as_str()
            .is_some_and(|whole| whole.starts_with(text)),
        "{text}"
    );
    assert!(text.chars().count() <= 400);
    assert_eq!(rig.site.hits("/guide"), hits);
}

#[test]
fn links_images_and_tables_are_left_out() {
    let rig = rig();
    let bare = sold(
        &rig,
        json!({"include_links": false, "include_images": false, "include_tables": false}),
    );
    let text = bare["markdown"].as_str().expect("text");
    assert!(text.contains("costs 49 euros in the shop."), "{text}");
    assert!(!text.contains("](") && !text.contains("900 g"), "{text}");
    assert_eq!(bare["links"], json!([]));
    assert_eq!(bare["excerpt"]["truncated"], false);
}

#[test]
fn selectors_narrow_what_is_read_and_nothing_of_it_is_cached() {
    let rig = rig();
    let narrow = sold(&rig, json!({"selector": "#reviews"}));
    assert_eq!(
        narrow["markdown"].as_str().map(str::trim),
        Some("The handle of this kettle stays cool, says everybody who has bought it.")
    );
    assert_eq!(narrow["metadata"]["title"], "Kettle guide");
    buy(
        &rig,
        &Wallet::new(),
        &json!({"target_url": GUIDE, "tier": "cached"}),
    )
    .refused(400, "cache_miss");
    let without = sold(
        &rig,
        json!({"exclude_selector": "table, #reviews", "tier": "deep"}),
    );
    let text = without["markdown"].as_str().expect("text");
    assert!(
        !text.contains("900 g") && !text.contains("handle"),
        "{text}"
    );
}

#[test]
fn what_cannot_be_had_is_refused_and_not_charged() {
    let rig = rig();
    let wallet = Wallet::new();
    let ask = |body: Value| {
        let mut body = body;
        body["target_url"] = GUIDE.into();
        buy(&rig, &wallet, &body)
    };
    ask(json!({"selector": "#nowhere"})).refused(400, "selector_unmatched");
    ask(json!({"selector": "p:hover"})).invalid("value_error", &["body", "selector"]);
    ask(json!({"selector": "main", "tier": "cached"}))
        .invalid("value_error", &["body", "selector"]);
    ask(json!({"exclude_selector": "p >", "tier": "basic"}))
        .invalid("value_error", &["body", "exclude_selector"]);
    ask(json!({"max_tokens": 99})).invalid("int_range", &["body", "max_tokens"]);
    ask(json!({"max_tokens": "500"})).invalid("int_type", &["body", "max_tokens"]);
    ask(json!({"max_characters": 399})).invalid("int_range", &["body", "max_characters"]);
    ask(json!({"query": "x".repeat(1_001)})).invalid("string_too_long", &["body", "query"]);
    assert_eq!(rig.facilitator.settlements(), 0);
    let html = format!(
        "<html><title>T</title><main><p>{}</p></main></html>",
        "word".repeat(900)
    );
    rig.site.put("/one-word", Page::of("text/html", html));
    let long = json!({"target_url": "http://news.sample-site.org/one-word", "max_tokens": 100});
    buy(&rig, &wallet, &long).refused(400, "budget_too_small");
    assert_eq!(rig.facilitator.settlements(), 0);
}

#[test]
fn a_part_is_part_of_what_is_paid_for() {
    let rig = rig();
    let wallet = Wallet::new();
    let payment = wallet.sign(&rig, "fresh");
    let ask = |body: Value| rig.post(ACCESS).json(&body).paid(&payment.header).send();
    let asked = json!({"target_url": GUIDE, "query": "copper kettle", "max_tokens": 200});
    let first = ask(asked.clone()).expect(200);
    assert_eq!(ask(asked).expect(200).body, first.body);
    ask(json!({"target_url": GUIDE, "query": "copper kettle", "max_tokens": 201}))
        .refused_charged(400, "payment_replayed");
    ask(json!({"target_url": GUIDE})).refused_charged(400, "payment_replayed");
    assert_eq!(rig.facilitator.settlements(), 1);
    // What asks for nothing is the whole page, as before.
    let other = wallet.sign(&rig, "fresh");
    let plain = json!({"target_url": ARTICLE});
    let whole = rig
        .post(ACCESS)
        .json(&plain)
        .paid(&other.header)
        .send()
        .expect(200);
    let same = json!({"target_url": ARTICLE, "query": " ", "include_links": true});
    let again = rig
        .post(ACCESS)
        .json(&same)
        .paid(&other.header)
        .send()
        .expect(200);
    assert_eq!(again.body, whole.body);
}
