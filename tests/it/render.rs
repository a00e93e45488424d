//! Pages whose text is made by scripts, sold over real sockets: a worker beside the service, and a browser that is this
//! test program, so that neither Chromium nor namespaces are needed. `tests/render/run` does the same with Chromium.

use std::sync::Arc;

use context402::config::Resolved;
use context402::outside::render::worker::Worker;
use serde_json::{Value, json};
use tokio::net::UnixListener;
use tokio::runtime::Runtime;

use context402::store::Snapshot;
use sha2::{Digest as _, Sha256};

use crate::harness::{
    ACCESS, ARTICLE, Answer, Ask, BASE_URL, Folder, PROOF_PACK, Page, RETRY, Rig, Says, Wallet,
    fake_browser, report_order,
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
    /// The settings of the same service without a browser, and with it.
    without: Resolved,
    with: Resolved,
    /// Runs the worker.
    _worker: Runtime,
    _folder: Folder,
}

impl Rendering {
    fn start(manner: &str) -> Rendering {
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
        });
        rig.site.put("/app", app());
        Rendering {
            with: rig.resolved().clone(),
            without,
            rig,
            _worker: runtime,
            _folder: folder,
        }
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
        .refused(404, "report_not_found");
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
            .refused(404, "report_not_found");
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
