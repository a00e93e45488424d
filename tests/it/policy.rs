//! What sites say about the use of their pages: reported with every sale, never in its way. And hosts that the
//! operator has blocked.

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{ARTICLE, Page, Rig, Wallet};

const OTHER: &str = "http://other.sample-site.org/article";

fn robots(rig: &Rig, text: &str) {
    let file = Page::of("text/plain", text);
    rig.site.put("/robots.txt", file);
}

fn sold(rig: &Rig, url: &str) -> Value {
    rig.buy(&Wallet::new(), url, "fresh").expect(200).json()
}

fn codes(answer: &Value) -> Vec<&str> {
    let warnings = answer["warnings"].as_array().expect("warnings");
    let codes = warnings
        .iter()
        .filter_map(|warning| warning["code"].as_str());
    codes.collect()
}

/// We report, the buyer decides.
#[test]
fn robots_txt_is_reported_and_the_page_is_sold() {
    let rig = Rig::start();
    robots(
        &rig,
        "User-agent: context402\nDisallow: /private\nContent-Signal: search=yes, ai-train=no\n\nUser-agent: *\nDisallow: /\n",
    );
    rig.site
        .put("/private", Page::html("Private", "Some words."));
    let answer = sold(&rig, ARTICLE);
    assert_eq!(answer["policy"]["robots"], "allowed");
    let signals = json!({"ai_input": "unset", "ai_train": "no", "search": "yes"});
    assert_eq!(answer["policy"]["content_signal"], signals);
    assert!(!codes(&answer).contains(&"noai_signal"));
    let answer = sold(&rig, "http://news.sample-site.org/private");
    assert_eq!(answer["policy"]["robots"], "disallowed");
    // One question a day to a site, whatever is sold of it.
    assert_eq!(rig.site.hits("/robots.txt"), 1);
    rig.pass(24 * 3600);
    robots(&rig, "User-agent: *\nDisallow: /article");
    assert_eq!(sold(&rig, ARTICLE)["policy"]["robots"], "disallowed");
    assert_eq!(rig.site.hits("/robots.txt"), 2);
    let asked = rig.site.requests();
    let question = asked.iter().find(|request| request.path == "/robots.txt");
    let agent = question.and_then(|request| request.header("user-agent"));
    assert!(agent.is_some_and(|agent| agent.contains("context402") && agent.contains("/about")));
}

#[test]
fn a_site_without_robots_txt_allows_and_one_that_fails_is_unknown() {
    let rig = Rig::start();
    assert_eq!(sold(&rig, ARTICLE)["policy"]["robots"], "allowed");
    for page in [
        Page::Status(503),
        Page::Status(429),
        Page::Reset,
        Page::Truncated,
        Page::Redirect("http://inside.sample-site.org/robots.txt".to_owned()),
    ] {
        let rig = Rig::start();
        rig.site.put("/robots.txt", page.clone());
        assert_eq!(
            sold(&rig, ARTICLE)["policy"]["robots"],
            "unknown",
            "{page:?}"
        );
        // Asked again after a while, and not at once.
        robots(&rig, "User-agent: *\nDisallow: /");
        assert_eq!(
            sold(&rig, ARTICLE)["policy"]["robots"],
            "unknown",
            "{page:?}"
        );
        rig.pass(600);
        assert_eq!(
            sold(&rig, ARTICLE)["policy"]["robots"],
            "disallowed",
            "{page:?}"
        );
    }
}

/// What is said in the first 500 KiB counts; the rest is not even waited for.
#[test]
fn a_huge_robots_txt_is_read_as_far_as_it_counts() {
    let rig = Rig::start();
    let text = format!(
        "User-agent: *\nDisallow: /article\n{}Allow: /article\n",
        "# nothing\n".repeat(200_000)
    );
    robots(&rig, &text);
    assert_eq!(sold(&rig, ARTICLE)["policy"]["robots"], "disallowed");
}

/// The sale does not wait for a site's robots.txt. What it says is there for the next one.
#[test]
fn a_slow_robots_txt_does_not_hold_up_a_sale() {
    let rig = Rig::start();
    rig.site.put("/robots.txt", Page::Hang);
    assert_eq!(sold(&rig, ARTICLE)["policy"]["robots"], "unknown");

    let rig = Rig::start();
    let file = Page::of("text/plain", "User-agent: *\nDisallow: /");
    let late = Duration::from_millis(600);
    rig.site.put("/robots.txt", file.slow(late));
    crate::harness::until("the answer is there", || {
        sold(&rig, ARTICLE)["policy"]["robots"] == "disallowed"
    });
    assert_eq!(rig.site.hits("/robots.txt"), 1);
}

/// Both addresses of a redirected page were fetched, so both sites have a say.
#[test]
fn a_redirected_page_is_as_allowed_as_the_stricter_of_its_sites() {
    let rig = Rig::start();
    robots(&rig, "User-agent: *\nDisallow: /old\n");
    rig.site.put("/old", Page::Redirect(OTHER.to_owned()));
    rig.site.put("/new", Page::Redirect(OTHER.to_owned()));
    let old = sold(&rig, "http://news.sample-site.org/old");
    assert_eq!(old["final_url"], OTHER);
    assert_eq!(old["policy"]["robots"], "disallowed");
    let new = sold(&rig, "http://news.sample-site.org/new");
    assert_eq!(new["policy"]["robots"], "allowed");
}

#[test]
fn headers_and_meta_tags_are_reported_together() {
    let rig = Rig::start();
    robots(
        &rig,
        "User-agent: *\nContent-Signal: ai-train=yes, search=yes\n",
    );
    let page = Page::of(
        "text/html",
        "<meta name=robots content='noarchive, noindex'><p>Some words to be read.",
    );
    let page = page
        .with("X-Robots-Tag", "otherbot: none")
        .with("X-Robots-Tag", "noindex, noai")
        .with("Content-Signal", "ai-train=no");
    rig.site.put("/stated", page);
    let answer = sold(&rig, "http://news.sample-site.org/stated");
    let directives = json!(["noarchive", "noindex", "noai"]);
    assert_eq!(answer["policy"]["meta_robots"], directives);
    let signals = json!({"ai_input": "unset", "ai_train": "no", "search": "yes"});
    assert_eq!(answer["policy"]["content_signal"], signals);
    assert!(codes(&answer).contains(&"noai_signal"));
    let page = Page::html("Page", "Words.").with("Content-Usage", "train-ai=n");
    rig.site.put("/used", page);
    let answer = sold(&rig, "http://news.sample-site.org/used");
    assert_eq!(answer["policy"]["content_signal"]["ai_train"], "no");
}

/// A quote tells what is known and asks no site.
#[test]
fn a_quote_knows_robots_txt_from_earlier_sales_only() {
    let rig = Rig::start();
    robots(&rig, "User-agent: *\nDisallow: /article\n");
    let quoted = |rig: &Rig| {
        let quote = rig.get(&format!("/v1/x402/quote?target_url={ARTICLE}"));
        quote.expect(200).json()["target"]["robots"].clone()
    };
    assert_eq!(quoted(&rig), "unknown");
    assert_eq!(rig.site.requests().len(), 0);
    sold(&rig, ARTICLE);
    assert_eq!(quoted(&rig), "disallowed");
    rig.pass(24 * 3600);
    assert_eq!(quoted(&rig), "unknown");
    assert_eq!(rig.site.hits("/robots.txt"), 1);
}

/// Blocking a host takes its pages off the shelf too.
/// Nobody reads by us where the operator is told of leads.
#[test]
fn the_host_of_the_operator_s_notices_is_no_target() {
    let hook = "https://other.sample-site.org/hooks/0123";
    let rig = Rig::with(|resolved| resolved.set("bundles.notify_url", hook));
    for target in [
        "http://other.sample-site.org/article",
        "https://other.sample-site.org/hooks/0123",
    ] {
        rig.buy(&Wallet::new(), target, "fresh")
            .refused(400, "target_blocked");
    }
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
    assert_eq!(rig.facilitator.settle_calls(), 1);
}

#[test]
fn a_host_that_was_blocked_is_not_sold_from_the_cache_either() {
    let mut rig = Rig::start();
    sold(&rig, ARTICLE);
    rig.buy(&Wallet::new(), ARTICLE, "cached").expect(200);
    rig.reconfigure(|resolved| {
        resolved.set_list("fetch.blocklist", vec!["*.sample-site.org".to_owned()])
    });
    for tier in ["cached", "basic", "fresh"] {
        let answer = rig.buy(&Wallet::new(), ARTICLE, tier);
        answer.refused(400, "target_blocked");
    }
    assert_eq!(rig.site.hits("/article"), 1);
}

/// Metadata, warnings and the place that the text was found in reach the buyer.
#[test]
fn text_from_json_ld_is_marked_as_such() {
    let rig = Rig::start();
    let story = "The boats leave at dawn and come back late. ".repeat(20);
    let page = format!(
        "<title>Boats</title><link rel=next href=/2><link rel=alternate type=text/markdown href=/boats.md>\
         <script type=application/ld+json>{{\"@type\":\"NewsArticle\",\"isAccessibleForFree\":false,\
         \"articleBody\":\"{story}\"}}</script><div>Loading</div>"
    );
    rig.site.put("/boats", Page::of("text/html", page));
    let answer = sold(&rig, "http://news.sample-site.org/boats");
    assert_eq!(answer["content_source"], "json_ld_fallback");
    assert!(
        answer["markdown"]
            .as_str()
            .is_some_and(|text| text.contains("leave at dawn"))
    );
    assert_eq!(codes(&answer), ["paywall"]);
    let metadata = &answer["metadata"];
    assert_eq!(metadata["json_ld_types"], json!(["NewsArticle"]));
    assert_eq!(metadata["next"], "http://news.sample-site.org/2");
    assert_eq!(metadata["previous"], Value::Null);
    assert_eq!(
        metadata["markdown_alternate"],
        "http://news.sample-site.org/boats.md"
    );
}
