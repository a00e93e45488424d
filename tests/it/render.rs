//! Pages whose text is made by scripts, sold over real sockets: a worker beside the service, and a browser that is this
//! test program, so that neither Chromium nor namespaces are needed. `tests/render/run` does the same with Chromium.

use std::sync::Arc;

use context402::outside::render::worker::Worker;
use serde_json::{Value, json};
use tokio::net::UnixListener;
use tokio::runtime::Runtime;

use crate::harness::{ACCESS, Answer, Folder, Page, Rig, Wallet, fake_browser};

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
        let rig = Rig::with(|resolved| {
            resolved.set("render.browser", browser.display().to_string());
            resolved.set("render.socket", socket.display().to_string());
            resolved.set("render.egress_socket", egress.display().to_string());
            resolved.set("render.seconds_max", "4");
        });
        rig.site.put("/app", app());
        Rendering {
            rig,
            _worker: runtime,
            _folder: folder,
        }
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
        let answer = rendering
            .rig
            .buy(&Wallet::new(), crate::harness::ARTICLE, "basic");
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
    let body = json!({"target_url": crate::harness::ARTICLE, "tier": "fresh", "render": "always"});
    let calls = rig.facilitator.verify_calls();
    let ask = rig.post(ACCESS).json(&body).paid(&payment.header);
    ask.send().refused(400, "render_unavailable");
    assert_eq!(
        rig.facilitator.verify_calls(),
        calls,
        "nobody was asked about the payment"
    );
    let answer = rig.buy(&Wallet::new(), crate::harness::ARTICLE, "fresh");
    let answer = answer.expect(200).json();
    assert!(answer.get("rendered").is_none() && answer.get("render_ms").is_none());
    let health = rig.get("/health").expect(200).json();
    assert!(health["checks"].get("renderer").is_none());
}
