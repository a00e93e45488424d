//! Pages without text, and pages that show a wall in place of their content: refused and uncharged, whatever is bought
//! and by whichever way.

use context402::flows::content::source::kept_page;
use context402::store::PageRecord;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::harness::provider::{Event, lead, settle, shop};
use crate::harness::{ACCESS, ARTICLE, FERRY, FERRY_CLAIM, Page, Rig, Wallet};

const WALLED: &str = "http://news.sample-site.org/walled";
const PAPER: &str = "http://news.sample-site.org/paper";

/// One of the pages that the converter's own tests know.
fn fixture(name: &str) -> Page {
    let path = format!(
        "{}/tests/walls/walled/{name}.html",
        env!("CARGO_MANIFEST_DIR")
    );
    let page = std::fs::read(path).expect("the page is there");
    Page::of("text/html; charset=utf-8", page)
}

/// A PDF of these pages, each of these lines.
fn pdf(pages: &[Vec<String>]) -> Page {
    let kids: Vec<String> = (0..pages.len())
        .map(|at| format!("{} 0 R", 4 + 2 * at))
        .collect();
    let mut file = format!(
        "%PDF-1.4\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\n2 0 obj <</Kids[{}]>> endobj\n\
         3 0 obj <</Type/Font/Subtype/Type1/BaseFont/Helvetica>> endobj\n",
        kids.join(" ")
    );
    for (at, lines) in pages.iter().enumerate() {
        let (own, contents) = (4 + 2 * at, 5 + 2 * at);
        let shown: String = lines
            .iter()
            .map(|line| format!("({line}) Tj 0 -40 Td "))
            .collect();
        let content = format!("BT /F1 10 Tf 50 700 Td {shown}ET");
        file.push_str(&format!(
            "{own} 0 obj <</Contents {contents} 0 R/Resources<</Font<</F1 3 0 R>>>>>> endobj\n\
             {contents} 0 obj <</Length {}>>\nstream\n{content}\nendstream endobj\n",
            content.len()
        ));
    }
    file.push_str("trailer <</Root 1 0 R>>");
    Page::of("application/pdf", file)
}

fn tool(rig: &Rig, tool: &str, arguments: &Value, payment: &Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments, "_meta": {"x402/payment": payment}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let answer = rig
        .post("/mcp")
        .header("Accept", "application/json, text/event-stream")
        .json(&body)
        .send()
        .expect(200);
    answer.json()["result"].clone()
}

/// A page stored by a version that sold everything.
fn store_as_before(rig: &Rig, target_url: &str, title: &str, markdown: &str) {
    let members =
        json!({"markdown": markdown, "metadata": {"title": title}, "warnings": []}).to_string();
    let members = members.as_bytes()[1..members.len() - 1].to_vec();
    let record = PageRecord {
        blob: Sha256::digest(&members).into(),
        blob_bytes: members.len() as u64,
        content_sha256: hex::encode(Sha256::digest(markdown)),
        tokens: markdown.chars().count().div_ceil(4) as u64,
        title: Some(title.to_owned()),
        fetched_at: rig.now().0,
        etag: Some("\"before\"".to_owned()),
        last_modified: None,
    };
    let target_url = target_url.to_owned();
    let written = rig
        .app()
        .store
        .write(move |tables| tables.put_page(&target_url, &record, &members));
    rig.wait(written).expect("the store takes it");
}

/// Three invoices that differ in the total: every line was taken for a running head, and `markdown: ""` was sold.
#[test]
fn a_short_pdf_with_pages_alike_is_sold_with_its_text() {
    let rig = Rig::start();
    let invoice = |total: u32| {
        ["Harbour Supplies", "Invoice", "Thank you"]
            .map(str::to_owned)
            .into_iter()
            .chain([format!("Total {total}.00")])
            .collect::<Vec<String>>()
    };
    let pages: Vec<_> = [120, 75, 310].map(invoice).to_vec();
    rig.site.put("/paper", pdf(&pages));
    let answer = rig.buy(&Wallet::new(), PAPER, "fresh").expect(200).json();
    let markdown = answer["markdown"].as_str().expect("markdown");
    for line in pages.iter().flatten() {
        assert!(markdown.contains(line.as_str()), "{line} in {markdown}");
    }
}

#[test]
fn every_kind_of_wall_is_refused_with_its_name() {
    let rig = Rig::start();
    for (name, kind, code) in [
        ("captcha-interstitial", "captcha", "page_walled"),
        ("captcha-noscript-only", "captcha", "page_walled"),
        ("block-edge-server", "block", "page_walled"),
        ("login-form", "login", "page_walled"),
        ("paywall-bare", "paywall", "page_walled"),
        ("consent-pur-abo-de", "consent", "page_walled"),
        ("scripts-app", "scripts", "nothing_readable"),
    ] {
        rig.site.put("/walled", fixture(name));
        let wallet = Wallet::new();
        let answer = rig.buy(&wallet, WALLED, "fresh").refused(400, code);
        let error = answer.json()["error"].clone();
        assert!(
            error["message"]
                .as_str()
                .is_some_and(|text| text.contains(kind)),
            "{name}: {error}"
        );
        assert_eq!(error["retryable"], false, "{name}");
        assert_eq!(answer.header("x-service-retry-credit"), None, "{name}");
        assert_eq!(rig.facilitator.spent(wallet.address()), 0, "{name}");
        // It is no page to the cache, either.
        let kept = kept_page(rig.app(), WALLED);
        assert!(kept.expect("the store answers").is_none(), "{name}");
    }
    assert_eq!(rig.facilitator.settle_calls(), 0);
}

#[test]
fn a_wall_is_refused_whatever_is_bought_and_by_whichever_way() {
    let rig = Rig::start();
    rig.site.put("/walled", fixture("captcha-press-and-hold"));
    for tier in ["basic", "fresh", "deep"] {
        rig.buy(&Wallet::new(), WALLED, tier)
            .refused(400, "page_walled");
    }
    for tier in ["starter", "cached"] {
        rig.buy(&Wallet::new(), WALLED, tier)
            .refused(400, "cache_miss");
    }
    for pack in ["quick", "standard", "deep"] {
        rig.buy_report(&Wallet::new(), WALLED, pack, FERRY_CLAIM)
            .refused(400, "page_walled");
    }
    let payment = Wallet::new().sign(&rig, "fresh");
    rig.post(&format!("/from/a-list{ACCESS}"))
        .json(&json!({"target_url": WALLED, "tier": "fresh"}))
        .paid(&payment.header)
        .send()
        .refused(400, "page_walled");
    for (name, payment, arguments) in [
        (
            "web_to_markdown",
            Wallet::new().sign(&rig, "fresh"),
            json!({"target_url": WALLED, "tier": "fresh"}),
        ),
        (
            "proof_pack",
            Wallet::new().sign_pack(&rig, "quick"),
            json!({"target_url": WALLED, "pack": "quick", "question": FERRY_CLAIM}),
        ),
    ] {
        let result = tool(&rig, name, &arguments, &payment.payload);
        let error = &result["structuredContent"]["error"];
        assert_eq!(
            (&error["code"], &error["charged"]),
            (&json!("page_walled"), &json!(false)),
            "{name}: {result}"
        );
    }
    assert_eq!(rig.facilitator.settle_calls(), 0);
}

/// The site was down and comes back behind a wall: the credit is not spent on it, and nothing is settled.
#[test]
fn a_wall_is_refused_to_a_retry_credit() {
    let rig = Rig::start();
    rig.site.put("/walled", Page::Status(503));
    let wallet = Wallet::new();
    let answer = rig.buy(&wallet, WALLED, "fresh");
    let credit = answer.must("x-service-retry-credit").to_owned();
    rig.site.put("/walled", fixture("login-form"));
    rig.retry(&credit, WALLED, "fresh")
        .send()
        .refused(400, "page_walled");
    assert_eq!(rig.facilitator.spent(wallet.address()), 0);
    assert_eq!(rig.facilitator.settle_calls(), 0);
}

#[test]
fn a_walled_source_of_a_bundle_is_out_of_reach() {
    let (rig, _mailbox) = shop();
    rig.site.put("/walled", fixture("consent-partners-fr"));
    let event = Event::paid(&lead(&rig, "builder", FERRY_CLAIM, &[FERRY, WALLED]));
    event.send(&rig);
    settle(&rig);
    let body = rig.get(&event.delivery()).expect(200).json();
    assert_eq!(body["synthesis"]["coverage"]["read_count"], 1);
    let unreachable = &body["unreachable"][0];
    assert_eq!(
        (&unreachable["target_url"], &unreachable["code"]),
        (&json!(WALLED), &json!("page_walled"))
    );
}

/// What an earlier version stored is a miss, not goods: read anew by tiers that may, refused by those that may not.
#[test]
fn stored_pages_without_text_and_stored_walls_are_not_sold() {
    let rig = Rig::start();
    for (title, markdown) in [
        ("Paper", ""),
        ("Paper", " \n\n"),
        ("Paper", "\u{200b}\n"),
        (
            "Access Denied",
            "# Access Denied\n\nYou don't have permission to access this page on this server.\n",
        ),
    ] {
        store_as_before(&rig, ARTICLE, title, markdown);
        rig.pass(1);
        for tier in ["cached", "starter"] {
            rig.buy(&Wallet::new(), ARTICLE, tier)
                .refused(400, "cache_miss");
        }
        let answer = rig.buy(&Wallet::new(), ARTICLE, "basic").expect(200).json();
        assert_eq!(answer["cache"]["hit"], false, "{markdown:?}");
        assert!(
            answer["markdown"]
                .as_str()
                .is_some_and(|text| text.contains("Boats")),
            "{answer}"
        );
        // Now the cache has the page itself.
        rig.buy(&Wallet::new(), ARTICLE, "cached").expect(200);
    }
    // The site is not asked whether an empty page is unchanged.
    let asked = rig.site.requests();
    assert!(
        asked
            .iter()
            .all(|request| request.header("if-none-match").is_none())
    );
}

/// Long members are judged only when they are asked for; then they are refused.
#[test]
fn a_stored_wall_with_long_members_is_refused() {
    let rig = Rig::start();
    let links = vec![json!({"text": "x".repeat(900), "url": "https://a.example/", "rel": ""}); 100];
    let members = json!({"markdown": "Please log in to continue.\n", "metadata": {"title": "Log in"}, "links": links})
        .to_string();
    let members = members.as_bytes()[1..members.len() - 1].to_vec();
    let record = PageRecord {
        blob: Sha256::digest(&members).into(),
        blob_bytes: members.len() as u64,
        content_sha256: "0".repeat(64),
        tokens: 7,
        title: None,
        fetched_at: rig.now().0,
        etag: None,
        last_modified: None,
    };
    let written = rig
        .app()
        .store
        .write(move |tables| tables.put_page(ARTICLE, &record, &members));
    rig.wait(written).expect("the store takes it");
    rig.buy(&Wallet::new(), ARTICLE, "cached")
        .refused(400, "page_walled");
    assert_eq!(rig.facilitator.settle_calls(), 0);
}

/// An article with a banner, one that stops at a paywall and one about captchas are sold, with their warnings.
#[test]
fn pages_that_are_partly_walled_are_sold_with_a_warning() {
    let rig = Rig::start();
    for (name, warning) in [
        ("teaser-before-paywall", Some("paywall")),
        ("article-with-consent-banner", None),
        ("article-about-captchas", None),
        ("login-documentation", None),
    ] {
        let path = format!(
            "{}/tests/walls/open/{name}.html",
            env!("CARGO_MANIFEST_DIR")
        );
        let page = std::fs::read(path).expect("the page is there");
        rig.site
            .put("/open", Page::of("text/html; charset=utf-8", page));
        let answer = rig
            .buy(&Wallet::new(), "http://news.sample-site.org/open", "fresh")
            .expect(200)
            .json();
        let warnings = answer["warnings"].as_array().expect("a list");
        if let Some(code) = warning {
            assert!(warnings.iter().any(|one| one["code"] == code), "{answer}");
        }
    }
}
