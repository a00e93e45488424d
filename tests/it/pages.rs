//! What pages offer beyond reading: their markdown twins, the demo, the report's evidence and checks, the operator's
//! details, the API explorer.

use crate::harness::{Answer, BASE_URL, Page, Rig, Wallet};

const FERRY: &str = "http://news.sample-site.org/ferry";

fn page(rig: &Rig, path: &str) -> Answer {
    rig.ask("GET", path).header("Accept", "text/html").send()
}

fn markdown(rig: &Rig, path: &str) -> String {
    let answer = rig
        .ask("GET", path)
        .header("Accept", "text/markdown, text/html;q=0.8")
        .send()
        .expect(200);
    assert_eq!(answer.must("content-type"), "text/markdown; charset=utf-8");
    answer.text()
}

#[test]
fn every_page_has_a_markdown_twin_at_its_own_address() {
    let rig = Rig::start();
    for path in [
        "/",
        "/docs",
        "/quickstart",
        "/paid-test",
        "/pricing",
        "/proof-pack",
        "/proof-pack/sample",
        "/faq",
        "/notices",
        "/terms",
        "/demo",
        "/quote",
        "/about",
    ] {
        let html = page(&rig, path).expect(200);
        assert!(html.text().contains("?format=markdown\""), "{path}");
        let heading = html.text();
        let heading = heading.split("<h1").nth(1).expect("a heading");
        let (_, heading) = heading.split_once('>').expect("a whole tag");
        let heading = heading.split("</h1>").next().expect("its end").to_owned();
        let twin = markdown(&rig, path);
        assert!(
            twin.contains(&format!("\n# {heading}\n")),
            "{path}: {heading}"
        );
        assert!(twin.starts_with(&format!("---\nurl: {BASE_URL}{path}\n---\n")));
        for markup in ["<script", "<form", "<div", "class="] {
            assert!(
                !twin.contains(markup) || path == "/" || path == "/demo",
                "{path}: {markup}"
            );
        }
        let said = rig.get(&format!("{path}?format=markdown")).expect(200);
        assert_eq!(said.text(), twin, "{path}");
        let tokens: usize = said.must("x-markdown-tokens").parse().expect("a number");
        assert_eq!(tokens, twin.chars().count().div_ceil(4), "{path}");
        let tags = [&said, &html].map(|answer| answer.header("etag").map(str::to_owned));
        assert!(tags[0] != tags[1] || tags[0].is_none(), "{path}: {tags:?}");
        assert!(html.must("vary").contains("Accept"), "{path}");
    }
}

/// Experience, point 4: paste an address and read markdown. What is fetched for nothing is counted for each client and in
/// all; what is cached costs nobody a fetch.
#[test]
fn a_page_is_previewed_for_nothing_only_so_often() {
    let rig = Rig::with(|resolved| {
        resolved.set("limits.free_fetches_of_client_per_day", "2");
    });
    let words = format!("{}lastword", "ordinary words of a long page. ".repeat(80));
    for path in ["/long", "/second", "/third"] {
        rig.site.put(path, Page::html("A long page", &words));
    }
    let tried = |path: &str| {
        let address = format!("/try?target_url=http%3A%2F%2Fnews.sample-site.org{path}");
        page(&rig, &address)
    };
    let shown = tried("/long").expect(200).text();
    assert!(shown.contains("ordinary words of a long page."), "{shown}");
    assert!(shown.contains("The first 300 of "), "{shown}");
    assert!(shown.contains("The whole page: 0.03 USDC"), "{shown}");
    assert!(!shown.contains("lastword"), "the rest is for sale: {shown}");
    assert!(
        !shown.contains("Buy with test funds"),
        "money is real here: {shown}"
    );
    tried("/second").expect(200);
    let over = tried("/third").expect(429);
    let seconds: u64 = over.must("retry-after").parse().expect("seconds");
    assert!(
        (1..=86_400).contains(&seconds),
        "until the next day: {seconds}"
    );
    let over = over.text();
    assert!(
        over.contains("No more free previews today") && over.contains("Buy the rest"),
        "{over}"
    );
    assert_eq!(rig.site.hits("/third"), 0);
    // Once somebody has bought it, it is cached and shown.
    rig.buy(&Wallet::new(), "http://news.sample-site.org/third", "fresh")
        .expect(200);
    tried("/third").expect(200);
    rig.pass(86_400);
    tried("/second").expect(200);
    let sample = format!(
        "/try?target_url={}",
        "http%3A%2F%2F127.0.0.1%3A4020%2Fsample"
    );
    assert!(
        page(&rig, &sample)
            .expect(200)
            .text()
            .contains("How HTTP 402 works")
    );
    assert!(page(&rig, "/try").expect(200).text().contains("Page URL"));
    // What showed nobody a word does not count.
    assert!(page(&rig, "/").text().contains("for 2 pages a day"));
    rig.pass(86_400);
    assert_ne!(tried("/missing").status, 200);
    tried("/long").expect(200);
    tried("/second").expect(200);
    let blocked = page(&rig, "/try?target_url=http%3A%2F%2F10.0.0.1%2F");
    assert!(blocked.expect(400).text().contains("target_blocked"));
}

/// A site that refuses programs is not read for nothing, and no test purchase is made with real money.
#[test]
fn a_preview_honours_robots_and_test_funds_stay_in_the_sandbox() {
    let rig = Rig::start();
    let robots = Page::of("text/plain", "User-agent: *\nDisallow: /private");
    rig.site.put("/robots.txt", robots);
    rig.site
        .put("/private", Page::html("Private", "Some words."));
    let address = "/try?target_url=http%3A%2F%2Fnews.sample-site.org%2Fprivate";
    let refused = page(&rig, address).expect(400).text();
    assert!(
        refused.contains("robots.txt") && !refused.contains("Some words"),
        "{refused}"
    );
    assert_eq!(rig.site.hits("/private"), 0);
    // Nor once a buyer has had it fetched: its cached copy is no gift, either.
    let url = "http://news.sample-site.org/private";
    rig.buy(&Wallet::new(), url, "fresh").expect(200);
    let refused = page(&rig, address).expect(400).text();
    assert!(
        refused.contains("robots.txt") && !refused.contains("Some words"),
        "{refused}"
    );
    let bought = rig
        .post("/try")
        .header("Content-Type", "application/x-www-form-urlencoded")
        .header("Origin", BASE_URL)
        .body("target_url=http%3A%2F%2F127.0.0.1%3A4020%2Fsample".to_owned())
        .send();
    bought.expect(404);
}

/// Three answers at one address.
#[test]
fn the_first_address_is_json_page_or_markdown_by_accept() {
    let rig = Rig::start();
    for (accept, content_type) in [
        ("application/json", "application/json"),
        ("*/*", "text/html; charset=utf-8"),
        ("text/html,*/*;q=0.8", "text/html; charset=utf-8"),
        ("text/markdown", "text/markdown; charset=utf-8"),
    ] {
        let answer = rig.ask("GET", "/").header("Accept", accept).send();
        assert_eq!(answer.must("content-type"), content_type, "{accept}");
    }
}

#[test]
fn a_twin_of_a_private_page_is_as_private() {
    let rig = Rig::start();
    let sold = rig.buy_report(&Wallet::new(), FERRY, "quick", "Do children travel free?");
    let id = sold.expect(200).json()["report_id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let answer = rig.get(&format!("/proof-pack/reports/{id}?format=markdown"));
    let answer = answer.expect(200);
    assert_eq!(answer.must("cache-control"), "private, no-store");
    assert!(answer.text().contains("# Do children travel free?"));
    let gone = rig.get("/proof-pack/reports/ppr_00000000000000000000000000000000?format=markdown");
    assert_eq!(gone.status, 404);
}

#[test]
fn a_conditional_question_for_the_twin_is_answered_by_its_own_tag() {
    let rig = Rig::start();
    let tag = rig.get("/faq?format=markdown").must("etag").to_owned();
    let again = |path: &str| {
        rig.ask("GET", path)
            .header("If-None-Match", tag.clone())
            .send()
    };
    assert_eq!(again("/faq?format=markdown").status, 304);
    assert_eq!(again("/faq").status, 200);
}

#[test]
fn the_demo_answers_for_nothing_and_always_the_same() {
    let rig = Rig::start();
    let path = "/demo?page=shop&question=Is+the+guarantee+three+years%3F";
    let first = page(&rig, path).expect(200).text();
    assert!(first.contains("wo-year guarantee"), "{first}");
    assert_eq!(first, page(&rig, path).expect(200).text());
    let other = page(
        &rig,
        "/demo?page=docs&question=Do+limits+count+per+address%3F",
    );
    assert!(other.expect(200).text().contains("not per address"));
    assert_eq!(rig.facilitator.verify_calls(), 0, "nobody was paid");
    assert!(rig.site.requests().is_empty(), "nothing was fetched");
}

#[test]
fn the_demo_refuses_what_it_does_not_have() {
    let rig = Rig::start();
    assert_eq!(page(&rig, "/demo?page=elsewhere").status, 404);
    let long = format!("/demo?question={}", "a".repeat(1_001));
    assert_eq!(page(&rig, &long).status, 422);
    let hostile = page(&rig, "/demo?question=%3Cscript%3Ealert(1)%3C/script%3E");
    assert!(!hostile.expect(200).text().contains("<script>alert"));
}

#[test]
fn a_report_stands_beside_its_evidence_and_is_checked_on_demand() {
    let rig = Rig::start();
    let sold = rig.buy_report(&Wallet::new(), FERRY, "quick", "Do bicycles cost 2 euros?");
    let sold = sold.expect(200).json();
    let path = format!(
        "/proof-pack/reports/{}",
        sold["report_id"].as_str().expect("an id")
    );
    let answer = page(&rig, &path).expect(200);
    let html = answer.text();
    let label = sold["decision"]["label"]
        .as_str()
        .expect("a label")
        .replace('_', " ");
    assert!(html.contains(&format!(">{label}</span>")), "{label}");
    for claim in sold["key_claims"].as_array().expect("claims") {
        let id = claim["citation_ids"][0].as_str().expect("an id");
        assert!(
            html.contains(&format!("id=\"{id}\"")) && html.contains(&format!("href=\"#{id}\""))
        );
    }
    assert!(html.contains("<mark>"), "the evidence is marked");
    assert!(html.contains(&format!("/v1{path}/pdf")) && html.contains("?format=markdown"));
    assert!(
        answer
            .must("content-security-policy")
            .contains("connect-src 'self'")
    );
    assert!(!html.contains("class=\"pass\""), "nothing was checked yet");
    let checked = page(&rig, &format!("{path}?check=1")).expect(200).text();
    assert!(
        checked.contains("The stored bytes are unchanged. <code>stored_bytes</code>"),
        "{checked}"
    );
    assert!(!checked.contains("class=\"fail\""));
    // What is too long for a question is said, not dropped.
    let long = format!("{path}?question={}", "word+".repeat(300));
    let refused = page(&rig, &long).expect(422).text();
    assert!(
        refused.contains("longer than 1,000 characters"),
        "{refused}"
    );
    let buy = format!(
        "/buy?target_url=example.com&question={}",
        "word+".repeat(300)
    );
    let refused = page(&rig, &buy).expect(422).text();
    assert!(
        refused.contains("longer than 1,000 characters"),
        "{refused}"
    );
    let title = html.split("<title>").nth(1).expect("a title");
    assert!(title.starts_with("Do bicycles cost 2 euros?"), "{title}");
    let lost = page(&rig, "/proof-pack/share/share_00").expect(404).text();
    assert!(lost.contains("href=\"/proof-pack/library\""), "{lost}");
}

/// Whoever knows only the shared name learns no address of the report itself.
#[test]
fn a_shared_report_offers_nothing_that_needs_its_identifier() {
    let rig = Rig::start();
    let sold = rig.buy_report(&Wallet::new(), FERRY, "quick", "Do bicycles cost 2 euros?");
    let id = sold.expect(200).json()["report_id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let shared = rig
        .post(&format!("/v1/proof-pack/reports/{id}/share"))
        .json(&serde_json::json!({"listed": true}))
        .send();
    let slug = shared.expect(200).json()["slug"]
        .as_str()
        .expect("a slug")
        .to_owned();
    let html = page(&rig, &format!("/proof-pack/share/{slug}"))
        .expect(200)
        .text();
    assert!(html.contains("Do bicycles cost 2 euros?") && !html.contains(&id));
    assert!(!html.contains("recompute") && !html.contains("follow-up"));
    rig.operate("POST", &format!("/operator/reports/{id}/approve"))
        .expect(200);
    let library = page(&rig, "/proof-pack/library").expect(200).text();
    assert!(
        library.contains(&format!("href=\"/proof-pack/share/{slug}\"")) && !library.contains(&id)
    );
}

#[test]
fn the_operator_stands_on_the_legal_pages() {
    let unnamed = Rig::start();
    let named = Rig::with(|resolved| {
        resolved.set("legal.name", "Harbour Data AS");
        resolved.set("legal.address", "1 Quay Street, Bergen");
        resolved.set("legal.email", "law@sample-site.org");
        resolved.set("legal.law", "Norway");
    });
    for path in ["/terms", "/privacy", "/refunds"] {
        let html = page(&unnamed, path).expect(200).text();
        assert!(
            html.contains("has not stated their identity") && html.contains("legal.name"),
            "{path}"
        );
        let html = page(&named, path).expect(200).text();
        assert!(!html.contains("has not said"), "{path}");
        for said in [
            "Harbour Data AS",
            "1 Quay Street, Bergen",
            "mailto:law@sample-site.org",
            "Norway",
        ] {
            assert!(html.contains(said), "{path}: {said}");
        }
    }
}

#[test]
fn the_explorer_is_all_ours_and_compressed() {
    let rig = Rig::start();
    let answer = page(&rig, "/swagger").expect(200);
    let policy = answer.must("content-security-policy").to_owned();
    assert!(
        policy.contains("script-src 'self'") && !policy.contains("unsafe"),
        "{policy}"
    );
    let html = answer.text();
    for (path, content_type) in [
        ("/assets/swagger-ui.js", "text/javascript; charset=utf-8"),
        ("/assets/swagger-ui.css", "text/css; charset=utf-8"),
    ] {
        assert!(html.contains(&format!("\"{path}\"")), "{path}");
        let file = rig.get(path).expect(200);
        assert_eq!(file.must("content-type"), content_type);
        assert_eq!(file.must("content-encoding"), "gzip");
        assert!(file.body.starts_with(&[0x1f, 0x8b]), "{path}");
    }
    let start = rig.get("/assets/swagger-start.js").expect(200).text();
    assert!(start.contains("\"/openapi.json\"") && start.contains("validatorUrl: null"));
}

/// The reference names each public endpoint with each status that it documents.
#[test]
fn the_reference_holds_every_endpoint_and_status() {
    let rig = Rig::start();
    let html = page(&rig, "/docs").expect(200).text();
    let openapi = rig.get("/openapi.json").expect(200).json();
    let paths = openapi["paths"].as_object().expect("paths");
    let aliased = |path: &str| path.starts_with("/from/");
    for path in paths.keys().filter(|path| !aliased(path)) {
        assert!(html.contains(&format!("<code>{path}</code>")), "{path}");
    }
    let linked = html.split("href=\"#status-").skip(1);
    let statuses: Vec<&str> = linked.filter_map(|rest| rest.split('"').next()).collect();
    assert!(statuses.contains(&"402") && statuses.contains(&"503"));
    for status in statuses {
        assert!(
            html.contains(&format!("id=\"status-{status}\"")),
            "{status}"
        );
    }
}

/// `pages`: a price calculator, which adds up on the server.
#[test]
fn prices_are_added_up() {
    let rig = Rig::start();
    let said = |query: &str| page(&rig, &format!("/pricing{query}"));
    let example = said("").expect(200).text();
    for sum in ["42.00 USDC", "30.00 USDC", "7.00 USDC", "5.00 USDC"] {
        assert!(example.contains(sum), "{sum}");
    }
    assert!(!example.contains("noindex"));
    let asked = said("?pages=2,000&tier=starter&reports=1&pack=deep&checks=10&depth=standard")
        .expect(200)
        .text();
    for shown in [
        "27.50 USDC",
        "10 checked sources, standard",
        "2,000 pages, starter",
        "1 Proof Pack, deep",
        "noindex",
    ] {
        assert!(asked.contains(shown), "{shown}: {asked}");
    }
    for chosen in [
        "<option value=\"starter\" selected>",
        "<option value=\"deep\" selected>",
        "value=\"2,000\"",
    ] {
        assert!(asked.contains(chosen), "{chosen}");
    }
    for wrong in [
        "?pages=-1",
        "?reports=1e9",
        "?bundles=1000001",
        "?pages=1&tier=free",
        "?pages=%3Cb%3E",
    ] {
        let refused = said(wrong).expect(400);
        assert_eq!(refused.must("cache-control"), "no-store");
        let text = refused.text();
        assert!(text.contains("role=\"alert\""), "{wrong}");
    }
}

/// A bundle that was chosen stays chosen, whatever is wrong with the list.
#[test]
fn a_form_keeps_the_bundle_that_was_chosen() {
    let rig = Rig::start();
    let scout = "<option value=\"scout\" selected>";
    let send = |body: &str| {
        let ask = rig
            .post("/proof-pack/bundle/quote")
            .header("Accept", "text/html");
        ask.header("Content-Type", "application/x-www-form-urlencoded")
            .body(body)
            .send()
    };
    let refused =
        send("target_urls=ftp%3A%2F%2Fexample.com&bundle=scout&question=So%3F").expect(400);
    assert!(refused.text().contains(scout), "{}", refused.text());
    let open = page(&rig, "/proof-pack/bundle/quote").expect(200).text();
    assert!(open.contains("<option value=\"\" selected>") && !open.contains(scout));
    let taken = send("target_urls=example.com&bundle=scout")
        .expect(200)
        .text();
    assert!(taken.contains("2.00 USD"), "{taken}");
}
