//! Pages whose text is made by scripts, sold over real sockets: a worker beside the service, and a browser that is this
//! test program, so that neither Chromium nor namespaces are needed. `tests/render/run` does the same with Chromium.

use std::path::PathBuf;
use std::sync::Arc;

use context402::config::Resolved;
use context402::outside::render::worker::Worker;
use serde_json::{Value, json};
use tokio::net::UnixListener;
use tokio::runtime::Runtime;

use context402::store::Snapshot;
use sha2::{Digest as _, Sha256};

use crate::console::{SignedIn, TOKEN_GIVEN};
use crate::harness::process::{Finished, program_with};
use crate::harness::{
    ACCESS, ARTICLE, Answer, Ask, BASE_URL, Folder, PROOF_PACK, Page, RETRY, Rig, Says, Wallet,
    ask, fake_browser, report_order, until,
};

const FAKE: &str = "render::this_program_is_the_browser_where_it_was_started_as_one";
const APP: &str = "http://news.sample-site.org/app";
const ARTICLE_TEXT: &str = "The ferry to the island";

#[test]
fn this_program_is_the_browser_where_it_was_started_as_one() {
    fake_browser::run();
}

/// A service with a worker whose browser behaves in this manner.
struct Rendering {
    rig: Rig,
    browser: PathBuf,
    /// The settings of the same service without a browser, and with it.
    without: Resolved,
    with: Resolved,
    /// Runs the worker.
    _worker: Runtime,
    folder: Folder,
}

impl Rendering {
    fn start(manner: &str) -> Rendering {
        Rendering::with(manner, |_| {})
    }

    fn with(manner: &str, change: impl FnOnce(&mut Resolved)) -> Rendering {
        let folder = Folder::new();
        let (socket, egress) = (folder.path("worker.sock"), folder.path("egress.sock"));
        let scratch = folder.path("scratch");
        std::fs::create_dir_all(&scratch).expect("a folder");
        let browser = fake_browser::script(folder.as_ref(), manner, FAKE);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("threads");
        runtime.block_on(async {
            let listener = UnixListener::bind(&socket).expect("a socket");
            let mut worker = Worker::new(egress.clone(), scratch, true);
            // The fake has no sandbox that would refuse root.
            worker.nests = false;
            tokio::spawn(Arc::new(worker).listen(listener, 2));
        });
        let mut without = Resolved::defaults();
        let rig = Rig::with(|resolved| {
            without = resolved.clone();
            resolved.set("render.browser", browser.display().to_string());
            resolved.set("render.socket", socket.display().to_string());
            resolved.set("render.egress_socket", egress.display().to_string());
            resolved.set("render.seconds_max", "4");
            change(resolved);
        });
        rig.site.put("/app", app());
        Rendering {
            with: rig.resolved().clone(),
            without,
            rig,
            browser,
            _worker: runtime,
            folder,
        }
    }

    /// Waits until the service has tried the browser, which takes a place for as long.
    fn checked(self) -> Rendering {
        until("the browser was tried", || {
            !self.check()["checked_at"].is_null()
        });
        self
    }

    /// What the operator sees of the browser's health.
    fn check(&self) -> Value {
        let health = self.rig.operator("/health").json();
        health["checks"]["renderer"].clone()
    }

    /// From the next page on the browser behaves in this manner.
    fn becomes(&self, manner: &str) {
        let other = fake_browser::script(self.folder.as_ref(), manner, FAKE);
        std::fs::rename(other, &self.browser).expect("our own files");
    }

    /// Starts the service again over the same data file, with its browser or without.
    fn restart(&mut self, has_browser: bool) {
        let settings = match has_browser {
            true => self.with.clone(),
            false => self.without.clone(),
        };
        self.rig.reconfigure(|resolved| *resolved = settings);
    }

    fn buy(&self, tier: &str, render: Option<&str>) -> Answer {
        let payment = Wallet::new().sign(&self.rig, tier);
        let mut body = json!({"target_url": APP, "tier": tier});
        if let Some(render) = render {
            body["render"] = render.into();
        }
        let ask = self.rig.post(ACCESS).json(&body).paid(&payment.header);
        ask.send()
    }
}

/// An application's shell.
fn app() -> Page {
    Page::of(
        "text/html; charset=utf-8",
        "<!doctype html><title>App</title><div id=root></div><noscript>You need to enable JavaScript to run this app.</noscript>",
    )
}

fn codes(answer: &Value) -> Vec<&str> {
    let warnings = answer["warnings"].as_array().expect("warnings");
    warnings
        .iter()
        .filter_map(|warning| warning["code"].as_str())
        .collect()
}

fn markdown(answer: &Value) -> &str {
    answer["markdown"].as_str().expect("markdown")
}

#[test]
fn a_page_of_scripts_is_sold_as_the_browser_shows_it() {
    // What the browser loads comes through relay, guard and the service's own clearing.
    let rendering = Rendering::start("proxied");
    let answer = rendering.buy("fresh", None).expect(200).json();
    assert!(markdown(&answer).contains(ARTICLE_TEXT), "{answer}");
    assert!(markdown(&answer).contains("HTTP/1.1 200"), "{answer}");
    assert_eq!(answer["rendered"], true);
    assert!(answer["render_ms"].as_u64().is_some_and(|time| time > 0));
    assert_eq!(answer["final_url"], APP);
    assert_eq!(
        rendering.rig.site.hits("/app"),
        2,
        "the plain fetch, and the browser's"
    );
}

/// The selector is at fault, not the page: it has text once it is rendered.
#[test]
fn a_selector_that_matches_nothing_of_a_rendered_page_is_told_so() {
    let rendering = Rendering::start("plain");
    let rig = &rendering.rig;
    rig.site.put(
        "/sent",
        Page::html("Fares of the ferry", "The ferry is free for children."),
    );
    let sent = "http://news.sample-site.org/sent";
    for target_url in [APP, sent] {
        let payment = Wallet::new().sign(rig, "fresh");
        let body = json!({"target_url": target_url, "tier": "fresh", "selector": ".nope"});
        let ask = rig.post(ACCESS).json(&body).paid(&payment.header);
        ask.send().refused(400, "selector_unmatched");
    }
}

#[test]
fn the_buyer_decides_and_the_level_by_default() {
    let rendering = Rendering::start("plain");
    rendering
        .buy("basic", None)
        .refused(400, "nothing_readable");
    rendering
        .buy("fresh", Some("never"))
        .refused(400, "nothing_readable");
    let answer = rendering.buy("basic", Some("auto")).expect(200).json();
    assert_eq!(answer["rendered"], true);
    // A copy that was rendered is in the cache; who asks for no rendering may get it.
    let cached = rendering.buy("cached", None).expect(200).json();
    assert_eq!(
        (&cached["rendered"], &cached["cache"]["hit"]),
        (&json!(true), &json!(true))
    );
    let deep = rendering.buy("deep", None).expect(200).json();
    assert_eq!(deep["cache"]["hit"], true);
    rendering
        .buy("cached", Some("always"))
        .invalid("value_error", &["body", "render"]);
    rendering.buy("fresh", Some("sometimes")).expect(422);
}

/// Every quote says whether the browser works; a service without one says nothing of it.
#[test]
fn every_quote_says_whether_pages_are_rendered() {
    const QUOTES: [(&str, Option<&str>); 6] = [
        ("/v1/x402/quote", Some("auto")),
        ("/v1/proof-pack/quote?pack=quick", Some("never")),
        (
            "/v1/proof-pack/bundle/quote?target_urls=a.example.com%20b.example.org",
            Some("auto"),
        ),
        (
            "/v1/x402/quote?target_urls=http://a.example.com/%20http://b.example.org/",
            None,
        ),
        (
            "/v1/x402/check/quote?target_urls=http://a.example.com/",
            None,
        ),
        ("/v1/x402/check/quote?texts=2", None),
    ];
    let check = |rig: &Rig, available: Option<bool>| {
        for (path, render) in QUOTES {
            // The check at the start may end at any time, and notes what it found.
            let quote = (0..3).find_map(|_| {
                if let Some(available) = available {
                    let trouble = (!available).then(|| "it ended".to_owned());
                    rig.app().health.note_renderer(rig.now(), trouble);
                }
                let quote = rig.get(path).expect(200).json();
                (quote["rendering"]["available"].as_bool() == available).then_some(quote)
            });
            let quote = quote.unwrap_or_else(|| panic!("{path} does not say {available:?}"));
            let found = &quote["rendering"];
            let render = render.filter(|_| available.is_some());
            assert_eq!(found["render"].as_str(), render, "{path}: {quote}");
        }
    };
    check(&Rig::start(), None);
    let rendering = Rendering::start("plain");
    check(&rendering.rig, Some(true));
    check(&rendering.rig, Some(false));
}

#[test]
fn a_page_with_enough_text_is_rendered_only_if_that_is_asked_for() {
    let rendering = Rendering::start("plain");
    let text = "Boats come and go here all day long, and nobody counts them. ".repeat(40);
    rendering.rig.site.put("/app", Page::html("Harbour", &text));
    let auto = rendering.buy("fresh", None).expect(200).json();
    assert!(auto.get("rendered").is_none() && auto.get("render_ms").is_none());
    // The longer text wins: what the browser shows is shorter.
    let always = rendering.buy("fresh", Some("always")).expect(200).json();
    assert_eq!(always["rendered"], false);
    assert!(markdown(&always).contains("Boats come and go"));
    assert_eq!(markdown(&always), markdown(&auto));
}

#[test]
fn a_browser_that_fails_stops_no_sale_and_charges_for_nothing() {
    for (manner, note) in [
        ("exits", "render_unavailable"),
        ("no-sandbox", "render_unavailable"),
        ("crashes", "render_failed"),
        ("hangs", "render_failed"),
        ("refused", "render_failed"),
        ("ends-private", "render_failed"),
    ] {
        let rendering = Rendering::start(manner);
        // Nothing without the browser: refused and not charged.
        let code = match note {
            "render_unavailable" => "render_unavailable",
            _ => "render_failed",
        };
        rendering.buy("fresh", None).refused(400, code);
        // Little without the browser: sold as it is, with a warning.
        let thin = "<!doctype html><title>Thin</title><main><p>A few words that stand in the page itself.</p></main>";
        rendering.rig.site.put("/app", Page::of("text/html", thin));
        let answer = rendering.buy("fresh", None).expect(200).json();
        assert!(
            markdown(&answer).contains("A few words"),
            "{manner}: {answer}"
        );
        assert_eq!(answer["rendered"], false, "{manner}");
        assert!(codes(&answer).contains(&note), "{manner}: {answer}");
        // And everything else as ever.
        let answer = rendering.rig.buy(&Wallet::new(), ARTICLE, "basic");
        answer.expect(200);
        assert_eq!(rendering.rig.facilitator.settle_calls(), 2, "{manner}");
    }
}

#[test]
fn without_a_browser_nothing_is_different() {
    let rig = Rig::start();
    rig.site.put("/app", app());
    rig.buy(&Wallet::new(), APP, "fresh")
        .refused(400, "nothing_readable");
    let payment = Wallet::new().sign(&rig, "fresh");
    let body = json!({"target_url": ARTICLE, "tier": "fresh", "render": "always"});
    let ask = rig.post(ACCESS).json(&body).paid(&payment.header);
    ask.send().refused(400, "render_unavailable");
    assert_eq!(rig.facilitator.settle_calls(), 0);
    let answer = rig.buy(&Wallet::new(), ARTICLE, "fresh");
    let answer = answer.expect(200).json();
    assert!(answer.get("rendered").is_none() && answer.get("render_ms").is_none());
    let health = rig.get("/health").expect(200).json();
    assert!(health["checks"].get("renderer").is_none());
}

/// A question to the page at `/app`, and the report that answers it.
fn deep_with_screenshot(rendering: &Rendering) -> Answer {
    let rig = &rendering.rig;
    let payment = Wallet::new().sign_pack(rig, "deep");
    let mut body = report_order(APP, "deep", "The boats come and go all day long.");
    body["screenshot"] = true.into();
    rig.post(PROOF_PACK)
        .json(&body)
        .paid(&payment.header)
        .send()
}

/// A service whose page has text without any script.
fn with_text(manner: &str) -> Rendering {
    let rendering = Rendering::start(manner);
    let text = "The boats come and go all day long, and nobody counts them. ".repeat(40);
    rendering.rig.site.put("/app", Page::html("Harbour", &text));
    rendering
}

fn path(address: &Value) -> &str {
    let address = address.as_str().expect("an address");
    address.strip_prefix(BASE_URL).expect("our own")
}

#[test]
fn a_screenshot_is_sold_with_its_report_and_goes_with_it() {
    let rendering = with_text("plain");
    let rig = &rendering.rig;
    let report = deep_with_screenshot(&rendering).expect(200).json();
    let image = &report["screenshot"]["image"];
    assert_eq!(image["final_url"], APP);
    assert_eq!(
        (&image["width"], &image["height"]),
        (&json!(640), &json!(800))
    );
    assert_eq!(image["citation_id"], report["citations"][0]["id"]);
    assert!(report["screenshot"]["warning"].is_null());
    let address = path(&report["screenshot_url"]);
    let answer = rig.get(address).expect(200);
    assert_eq!(answer.header("content-type"), Some("image/png"));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(hex::encode(Sha256::digest(&answer.body)), image["sha256"]);
    assert_eq!(image["bytes"], answer.body.len());
    // What came of it is covered by the report's hash, and its address is not.
    let receipt = rig.get(path(&report["verify_url"])).expect(200).json();
    assert_eq!(receipt["valid"], true, "{receipt}");
    let page = rig.get(path(&report["report_page"])).expect(200).text();
    assert!(page.contains(&format!("src=\"{address}\"")), "{page}");
    // A reader of the shared page knows no address of the report, so that it shows none of the picture.
    let share = rig.post(&format!("{}/share", path(&report["report_url"])));
    let shared = share.json(&json!({})).send().expect(200).json();
    let shared = rig.get(path(&shared["share_page"])).expect(200).text();
    assert!(!shared.contains("/screenshot"), "{shared}");
    // Another report has none.
    let other = rig.buy_report(&Wallet::new(), APP, "deep", "When do the boats come?");
    let other = other.expect(200).json();
    assert!(other.get("screenshot").is_none() && other.get("screenshot_url").is_none());
    rig.get(&format!("{}/screenshot", path(&other["report_url"])))
        .refused(404, "not_offered_for_report");
    let before = rig
        .app()
        .store
        .look_up(|snapshot: &Snapshot| snapshot.blobs_bytes())
        .expect("reads");
    rig.pass(31 * 86_400);
    rig.get(address).refused(410, "report_expired");
    rig.work_off();
    let after = rig
        .app()
        .store
        .look_up(|snapshot: &Snapshot| snapshot.blobs_bytes())
        .expect("reads");
    assert!(after + 1_000 < before, "{before} and then {after} bytes");
}

/// A passage is highlighted whole or not at all: of a long one, the browser once got the first 400 characters.
#[test]
fn a_picture_names_a_citation_only_if_it_shows_all_of_it() {
    let long = format!(
        "The boats come and go all day long, {}so says the harbour master. ",
        "and nobody counts them, ".repeat(20)
    );
    for (manner, shows) in [("whole-passage", true), ("not-there", false)] {
        let rendering = with_text(manner);
        let rig = &rendering.rig;
        rig.site.put("/app", Page::html("Harbour", &long.repeat(2)));
        let report = deep_with_screenshot(&rendering).expect(200).json();
        let image = &report["screenshot"]["image"];
        assert!(image.is_object(), "{report}");
        let cited = &report["citations"][0];
        assert!(
            cited["quote"]
                .as_str()
                .is_some_and(|quote| quote.len() > 400)
        );
        let expected = if shows {
            cited["id"].clone()
        } else {
            Value::Null
        };
        assert_eq!(image["citation_id"], expected, "{manner}");
        let page = rig.get(path(&report["report_page"])).expect(200).text();
        assert_eq!(page.contains("is highlighted"), shows, "{manner}");
    }
}

#[test]
fn a_report_without_its_screenshot_says_why() {
    for (manner, code) in [
        ("exits", "screenshot_unavailable"),
        ("no-sandbox", "screenshot_unavailable"),
        ("crashes", "screenshot_failed"),
        ("hangs", "screenshot_failed"),
        ("refused", "screenshot_failed"),
        ("ends-private", "screenshot_failed"),
        ("picture-crashes", "screenshot_failed"),
        ("picture-huge", "screenshot_failed"),
        ("picture-of-text", "screenshot_failed"),
    ] {
        let rendering = with_text(manner);
        let report = deep_with_screenshot(&rendering).expect(200).json();
        assert_eq!(
            report["screenshot"]["warning"]["code"], code,
            "{manner}: {report}"
        );
        assert!(report["screenshot"]["image"].is_null(), "{manner}");
        assert!(report.get("screenshot_url").is_none(), "{manner}");
        assert!(report["citations"][0].is_object(), "{manner}: {report}");
        let rig = &rendering.rig;
        assert_eq!(rig.facilitator.settle_calls(), 1, "{manner}");
        let receipt = rig.get(path(&report["verify_url"])).expect(200).json();
        assert_eq!(receipt["valid"], true, "{manner}: {receipt}");
        rig.get(&format!("{}/screenshot", path(&report["report_url"])))
            .refused(404, "not_offered_for_report");
        let page = rig.get(path(&report["report_page"])).expect(200).text();
        assert!(
            page.contains("the report is complete without it")
                || page.contains("The report is complete without it")
        );
    }
}

#[test]
fn a_screenshot_is_only_for_deep_reports_of_rendered_pages() {
    let rendering = with_text("plain");
    let rig = &rendering.rig;
    let calls = rig.facilitator.verify_calls();
    for (pack, render) in [("quick", None), ("standard", None), ("deep", Some("never"))] {
        let payment = Wallet::new().sign_pack(rig, pack);
        let mut body = report_order(APP, pack, "Do the boats come?");
        body["screenshot"] = true.into();
        if let Some(render) = render {
            body["render"] = render.into();
        }
        let ask = rig.post(PROOF_PACK).json(&body).paid(&payment.header);
        ask.send().invalid("value_error", &["body", "screenshot"]);
    }
    let without = Rig::start();
    let payment = Wallet::new().sign_pack(&without, "deep");
    let mut body = report_order(ARTICLE, "deep", "Is it so?");
    body["screenshot"] = true.into();
    let ask = without.post(PROOF_PACK).json(&body).paid(&payment.header);
    ask.send().refused(400, "render_unavailable");
    body["screenshot"] = false.into();
    let ask = without.post(PROOF_PACK).json(&body).paid(&payment.header);
    assert!(ask.send().expect(200).json().get("screenshot").is_none());
    assert_eq!(
        (
            rig.facilitator.verify_calls(),
            without.facilitator.settle_calls()
        ),
        (calls, 1)
    );
}

/// A page that is to be rendered, and a report with a picture, each with its path.
fn with_browser_alone() -> [(&'static str, Value); 2] {
    let mut report = report_order(APP, "deep", "The boats come and go all day long.");
    report["screenshot"] = true.into();
    let page = json!({"target_url": APP, "tier": "fresh", "render": "always"});
    [(ACCESS, page), (PROOF_PACK, report)]
}

fn signed(rig: &Rig, wallet: &Wallet, path: &str, body: &Value) -> Ask {
    let ask = rig.post(path).json(body);
    let payment = wallet.sign_answer(&ask.send().expect(402), rig.now(), None);
    ask.paid(&payment.header)
}

/// A buyer whose answer was lost signs again. That the browser is gone meanwhile is no reason to withhold what was paid for.
#[test]
fn what_was_sold_with_a_browser_is_given_out_without_one() {
    let mut rendering = with_text("plain");
    let wallets = with_browser_alone().map(|(path, body)| {
        let wallet = Wallet::new();
        rendering.rig.facilitator.settles(Says::Lost);
        let answer = signed(&rendering.rig, &wallet, path, &body).send();
        answer.refused_charged(503, "settlement_unknown");
        wallet
    });
    rendering.restart(false);
    let rig = &rendering.rig;
    rig.facilitator.settles(Says::Honest);
    for ((path, body), wallet) in with_browser_alone().into_iter().zip(wallets) {
        let before = rig.facilitator.spent(wallet.address());
        assert!(before > 0);
        signed(rig, &wallet, path, &body).send().expect(200);
        assert_eq!(rig.facilitator.spent(wallet.address()), before);
        // A new purchase of the same is refused and not charged.
        let stranger = Wallet::new();
        let answer = signed(rig, &stranger, path, &body).send();
        answer.refused(400, "render_unavailable");
        assert_eq!(rig.facilitator.spent(stranger.address()), 0);
    }
    assert_eq!(rig.facilitator.settlements(), 2);
}

/// Tries that cannot succeed without a browser used the credit up. A picture alone is no reason to withhold a report.
#[test]
fn a_credit_is_not_used_up_while_there_is_no_browser() {
    let mut rendering = with_text("plain");
    rendering.rig.site.put("/app", Page::Status(503));
    let credits = with_browser_alone().map(|(path, body)| {
        let answer = signed(&rendering.rig, &Wallet::new(), path, &body).send();
        answer.refused(503, "upstream_unavailable").credit()
    });
    let text = "The boats come and go all day long, and nobody counts them. ".repeat(40);
    rendering.rig.site.put("/app", Page::html("Harbour", &text));
    let retry = |rig: &Rig, number: usize| {
        let (_, body) = &with_browser_alone()[number];
        let ask = rig.post(RETRY);
        let ask = ask.header("X-Service-Retry-Credit", credits[number].as_str());
        ask.json(body).send()
    };
    rendering.restart(false);
    for _ in 0..4 {
        let refused = retry(&rendering.rig, 0).refused(400, "render_unavailable");
        let advice = refused.json()["detail"].to_string();
        assert!(advice.contains("new request without `render`"), "{advice}");
    }
    let report = retry(&rendering.rig, 1).expect(200).json();
    let warning = &report["screenshot"]["warning"];
    assert_eq!(warning["code"], "screenshot_unavailable", "{report}");
    rendering.restart(true);
    let page = retry(&rendering.rig, 0).expect(200).json();
    assert!(markdown(&page).contains(ARTICLE_TEXT) || markdown(&page).contains("boats"));
    assert_eq!(rendering.rig.facilitator.settlements(), 2);
}

/// Two reports have the same picture; it goes with the last of them.
#[test]
fn a_purged_report_takes_its_screenshot_along() {
    let rendering = with_text("plain");
    let rig = &rendering.rig;
    let reports = [(); 2].map(|()| deep_with_screenshot(&rendering).expect(200).json());
    let [one, other] = reports
        .each_ref()
        .map(|report| path(&report["screenshot_url"]));
    let [first, second] = reports
        .each_ref()
        .map(|report| report["report_id"].as_str().expect("an id"));
    let bytes = || {
        rig.app()
            .store
            .look_up(|snapshot: &Snapshot| snapshot.blobs_bytes())
            .expect("reads")
    };
    let purge = |id: &str| {
        let answer = rig.operate("POST", &format!("/operator/reports/{id}/purge"));
        answer.expect(200);
    };
    purge(first);
    rig.get(one).refused(404, "report_not_found");
    rig.get(other).expect(200);
    let before = bytes();
    purge(second);
    rig.get(other).refused(404, "report_not_found");
    assert!(
        bytes() + 1_000 < before,
        "{before} and then {} bytes",
        bytes()
    );
}

/// Signs what the 402 asks for, and asks again.
fn pay(rig: &Rig, wallet: &Wallet, ask: Ask) -> Ask {
    let payment = wallet.sign_answer(&ask.send().expect(402), rig.now(), None);
    ask.paid(&payment.header)
}

/// What is bought of several sources reads each as a single purchase does; a source that the browser cannot give is unread.
#[test]
fn sources_are_rendered_in_purchases_of_several_and_unread_without_the_browser() {
    const CLAIM: &str = "The ferry to the island leaves at nine in the morning.";
    const OTHER: &str = "http://www.second-site.org/app";
    const TEXT: &str = "http://www.third-site.org/harbour";
    const BUNDLE: &str = "/v1/x402/proof-bundle";
    const CHECK: &str = "/v1/x402/check";
    let rendering = Rendering::start("plain").checked();
    let rig = &rendering.rig;
    let long = "The ferry to the island leaves at nine, and boats come and go. ".repeat(40);
    rig.site.put("/harbour", Page::html("Harbour", &long));
    let wallet = Wallet::new();
    let buy = |path: &str, body: &Value| pay(rig, &wallet, rig.post(path).json(body)).send();
    let several = |app: &str| json!({"target_urls": [app, TEXT], "tier": "fresh"});
    let bundle = |sources: Value| json!({"sources": sources, "question": CLAIM});
    let check = |app: &str| json!({"text": CLAIM, "sources": [app], "depth": "standard"});

    let sold = buy(ACCESS, &several(APP)).expect(200).json();
    assert_eq!(sold["pages"][0]["rendered"], true, "{sold}");
    assert!(markdown(&sold["pages"][0]).contains(ARTICLE_TEXT));
    assert!(sold["pages"][1].get("rendered").is_none());
    let report = buy(BUNDLE, &bundle(json!([APP, TEXT]))).expect(200).json();
    assert_eq!(report["synthesis"]["coverage"]["read_count"], 2, "{report}");
    let checked = buy(CHECK, &check(APP)).expect(200).json();
    assert_eq!(checked["claims"][0]["label"], "supported", "{checked}");

    rendering.becomes("exits");
    let paid = rig.facilitator.spent(wallet.address());
    let refused = buy(ACCESS, &several(OTHER));
    let refused = refused.refused(400, "sources_unread").json();
    assert_eq!(refused["unread"][0]["code"], "render_unavailable");
    assert_eq!(refused["readable"], json!([TEXT]));
    buy(CHECK, &check(OTHER)).refused(400, "render_unavailable");
    buy(BUNDLE, &bundle(json!([OTHER, format!("{OTHER}?2"), TEXT]))).refused(400, "sources_unread");
    assert_eq!(rig.facilitator.spent(wallet.address()), paid);
    // A bundle of which enough can be read is sold, and names the rest.
    let report = buy(BUNDLE, &bundle(json!([OTHER, TEXT, ARTICLE])))
        .expect(200)
        .json();
    assert_eq!(report["synthesis"]["coverage"]["read_count"], 2, "{report}");
    assert!(
        report.to_string().contains("render_unavailable"),
        "{report}"
    );
}

/// One place for two buyers.
#[test]
fn a_buyer_who_finds_every_place_taken_waits_or_gets_a_credit() {
    let rendering = Rendering::with("plain", |resolved| {
        resolved.set("render.at_once_max", "1");
        // Longer than a buyer waits for a place, and shorter than these buyers wait for an answer.
        resolved.set("render.seconds_max", "9");
    });
    let rendering = rendering.checked();
    let rig = &rendering.rig;
    let both = || {
        let hosts = ["www.second-site.org", "www.third-site.org"];
        let asks = hosts.map(|host| {
            let payment = Wallet::new().sign(rig, "fresh");
            rig.order(&format!("http://{host}/app"), "fresh")
                .paid(&payment.header)
        });
        ask::at_once(asks.to_vec())
    };
    // The second waits for as long as the first takes, unless the machine is so slow that this is too long.
    let answers = both();
    let (sold, waited_in_vain): (Vec<_>, Vec<_>) =
        answers.iter().partition(|answer| answer.status == 200);
    assert!(!sold.is_empty());
    assert!(sold.iter().all(|answer| answer.json()["rendered"] == true));
    for answer in waited_in_vain {
        assert_eq!((answer.status, answer.code().as_str()), (503, "overloaded"));
    }
    assert_eq!(rig.facilitator.settle_calls(), sold.len());
    // A page that holds the place to the end of its time.
    rendering.becomes("hangs");
    let answers = both();
    let statuses = answers.iter().map(|answer| answer.status);
    let mut statuses: Vec<u16> = statuses.collect();
    statuses.sort();
    assert_eq!(statuses, [400, 503], "{answers:?}");
    assert_eq!(
        rig.facilitator.settle_calls(),
        sold.len(),
        "neither is charged"
    );
    for (host, answer) in ["www.second-site.org", "www.third-site.org"]
        .iter()
        .zip(answers)
    {
        if answer.status == 400 {
            answer.refused(400, "render_failed");
            continue;
        }
        let answer = answer.refused(503, "overloaded");
        rendering.becomes("plain");
        let retry = rig.retry(&answer.credit(), &format!("http://{host}/app"), "fresh");
        assert_eq!(retry.send().expect(200).json()["rendered"], true);
    }
    assert_eq!(rig.facilitator.settle_calls(), sold.len() + 1);
}

/// Health, metrics, the console and the doctor say the same of a browser that works, and of one that does not.
#[test]
fn operators_see_whether_the_browser_works() {
    let rendering = Rendering::with("plain", |resolved| {
        resolved.set("operator.token", TOKEN_GIVEN);
    });
    let rendering = rendering.checked();
    let rig = &rendering.rig;
    let counted = |outcome: &str, count: u32| {
        let figures = rig.operator("/metrics?format=prometheus").text();
        let line = format!("context402_renders_total{{outcome=\"{outcome}\"}} {count}\n");
        assert!(figures.contains(&line), "{line} {figures}");
        assert!(
            figures.contains("context402_renders_waiting 0\n"),
            "{figures}"
        );
        assert!(
            figures.contains("context402_render_places 2\n"),
            "{figures}"
        );
    };
    let console = || {
        let page = SignedIn::open(rig).get("/operator/console/health");
        page.expect(200).text()
    };
    let doctor = || {
        let socket = rig.app().config.socket.display().to_string();
        // Secrets are not among what the rig's settings show.
        let more = [("socket", socket.as_str()), ("operator.token", TOKEN_GIVEN)];
        let found = Finished::of(program_with(rig.resolved(), &more).arg("doctor"));
        let line = found.out.lines().find(|line| line.contains(" browser "));
        line.unwrap_or_else(|| panic!("{found:#?}")).to_owned()
    };
    let public = || rig.get("/health").expect(200).json()["checks"]["renderer"].clone();

    rendering.buy("fresh", None).expect(200);
    counted("rendered", 1);
    let check = rendering.check();
    assert_eq!(
        (&check["status"], &check["browser"], &check["waiting"]),
        (&json!("ok"), &json!("FakeBrowser/1.0"), &json!(0))
    );
    assert_eq!(public()["status"], "ok");
    assert!(public().get("browser").is_none(), "only for the operator");
    assert!(console().contains("FakeBrowser/1.0"));
    let line = doctor();
    assert!(
        line.starts_with("ok") && line.contains("FakeBrowser/1.0"),
        "{line}"
    );

    // A page that fails says nothing about the browser.
    rendering.becomes("crashes");
    rendering.buy("fresh", None).refused(400, "render_failed");
    counted("crashed", 1);
    assert_eq!(public()["status"], "ok");

    rendering.becomes("no-sandbox");
    rendering
        .buy("fresh", None)
        .refused(400, "render_unavailable");
    counted("unavailable", 1);
    assert_eq!(public()["status"], "down");
    assert_eq!(
        rig.get("/health").expect(200).json()["status"],
        "ok",
        "sales go on"
    );
    let trouble = rendering.check()["trouble"].clone();
    let trouble = trouble.as_str().expect("a reason");
    assert!(trouble.contains("user namespaces"), "{trouble}");
    assert!(console().contains("user namespaces"));
    let line = doctor();
    assert!(
        line.starts_with("BAD") && line.contains("user namespaces"),
        "{line}"
    );

    // And once it works again.
    rendering.becomes("plain");
    rendering.buy("fresh", None).expect(200);
    counted("rendered", 2);
    assert_eq!(public()["status"], "ok");
    assert!(doctor().starts_with("ok"));
}
