//! The worker with a browser that fails in every way, and the guard with names and sites that want out.

#[path = "../../../tests/it/harness/fake_browser.rs"]
mod fake_browser;

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, UnixStream};

use crate::domain::target::TargetUrl;
use crate::outside::chance;
use crate::outside::network::{ForbiddenHosts, LabHost, Network, NetworkSettings, Requester};
use crate::outside::render::budget::BudgetLimits;
use crate::outside::render::guard::{Guard, Pass, REFUSED_HEADER};
use crate::outside::render::job::{
    self, Answered, FailureKind, Job, Outcome, PNG_BYTES_MAX, Pictured, ScreenshotJob, Settled,
    VERSION,
};
use crate::outside::render::worker::Worker;
use crate::outside::render::{RenderError, Renderer, RendererSettings, Workers, picture};
use crate::outside::web::{Web, WebSettings};

const FAKE: &str =
    "outside::render::tests::this_program_is_the_browser_where_it_was_started_as_one";
const URL: &str = "http://app.example.org/page";
/// Long enough for a busy machine to start the fake browser.
const DEADLINE_MS: u64 = 8_000;
/// For a browser that is to miss it.
const SHORT_DEADLINE_MS: u64 = 2_500;
/// A job with either ends sooner.
const JOB_TIME_MAX: Duration = Duration::from_secs(20);

#[test]
fn this_program_is_the_browser_where_it_was_started_as_one() {
    fake_browser::run();
}

/// A folder of one test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        let name = format!(
            "context402-render-test-{}",
            hex::encode(chance::bytes::<8>())
        );
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    fn worker(&self) -> Worker {
        let scratch = self.0.join("scratch");
        std::fs::create_dir_all(&scratch).expect("a folder");
        let mut worker = Worker::new(self.0.join("egress.sock"), scratch, true);
        worker.nests = false;
        worker
    }

    fn profiles(&self) -> usize {
        std::fs::read_dir(self.0.join("scratch"))
            .expect("a folder")
            .count()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn job(browser: &str) -> Job {
    Job {
        version: VERSION,
        token: "0".repeat(32),
        url: URL.to_owned(),
        browser: browser.to_owned(),
        user_agent: "test".to_owned(),
        jit: false,
        deadline_ms: DEADLINE_MS,
        inspects: false,
        screenshot: None,
    }
}

/// The answer of a worker whose browser behaves in this manner.
async fn answer(folder: &Folder, manner: &str) -> (Answered, Duration) {
    let script = fake_browser::script(&folder.0, manner, FAKE);
    let mut job = job(&script.display().to_string());
    if matches!(manner, "silent" | "hangs") {
        job.deadline_ms = SHORT_DEADLINE_MS;
    }
    asked(folder, &job).await
}

async fn asked(folder: &Folder, job: &Job) -> (Answered, Duration) {
    asked_of(folder.worker(), job).await
}

async fn asked_of(worker: Worker, job: &Job) -> (Answered, Duration) {
    let began = Instant::now();
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (from, to) = tokio::io::split(theirs);
    let (mut reading, mut writing) = tokio::io::split(ours);
    let told = async {
        job::write_job(&mut writing, job).await.expect("open");
        job::read_answer(&mut reading).await
    };
    let (served, read) = tokio::join!(worker.serve(from, to), told);
    served.expect("served");
    (read.expect("an answer"), began.elapsed())
}

/// How a failure is reported, and that it leaves nothing behind.
async fn check_failure(manner: &str, kind: FailureKind, word: &str) {
    let folder = Folder::new();
    let (Answered { answer, html, .. }, took) = answer(&folder, manner).await;
    let Outcome::Failed { kind: told, detail } = answer.outcome else {
        panic!("{manner}: {answer:?}");
    };
    assert_eq!((told, html.len()), (kind, 0), "{manner}: {detail}");
    assert!(detail.contains(word), "{manner}: {detail}");
    assert!(took < JOB_TIME_MAX, "{manner}: {took:?}");
    assert_eq!(folder.profiles(), 0, "{manner}");
}

#[tokio::test]
async fn a_page_is_given_as_the_browser_shows_it() {
    for (manner, settled) in [("asks", Settled::Quiet), ("restless", Settled::Deadline)] {
        let folder = Folder::new();
        let (Answered { answer, html, .. }, _) = answer(&folder, manner).await;
        let Outcome::Rendered(facts) = answer.outcome else {
            panic!("{manner}: {answer:?}");
        };
        assert!(String::from_utf8_lossy(&html).contains("The ferry to the island"));
        assert_eq!(
            (facts.final_url.as_str(), facts.status, facts.settled),
            (URL, 200, settled)
        );
        assert_eq!(facts.dialogs, u32::from(manner == "asks"));
        assert_eq!(facts.browser, "FakeBrowser/1.0");
        assert_eq!(folder.profiles(), 0, "{manner}");
    }
}

/// What a worker answers that is asked for a picture, too.
async fn pictured(manner: &str) -> Answered {
    let folder = Folder::new();
    let script = fake_browser::script(&folder.0, manner, FAKE);
    let mut job = job(&script.display().to_string());
    let passage = Some("The ferry to the island".to_owned());
    job.screenshot = Some(ScreenshotJob { passage });
    let (answered, took) = asked(&folder, &job).await;
    assert!(took < JOB_TIME_MAX, "{manner}: {took:?}");
    assert_eq!(folder.profiles(), 0, "{manner}");
    answered
}

#[tokio::test]
async fn a_picture_comes_with_the_page_and_is_small_enough() {
    for (manner, shows_passage) in [
        ("plain", true),
        ("not-there", false),
        ("picture-large", true),
    ] {
        let Answered { answer, html, png } = pictured(manner).await;
        let Outcome::Rendered(facts) = answer.outcome else {
            panic!("{manner}: {answer:?}");
        };
        assert_eq!(
            facts.screenshot,
            Some(Pictured::Taken { shows_passage }),
            "{manner}"
        );
        assert_eq!(picture::size(&png), Some((640, 800)), "{manner}");
        assert!(png.len() <= PNG_BYTES_MAX && !html.is_empty(), "{manner}");
    }
}

#[tokio::test]
async fn a_picture_that_cannot_be_taken_leaves_the_page() {
    for (manner, word) in [
        ("picture-refused", "Unable to capture"),
        ("picture-of-text", "no picture"),
        ("picture-huge", "larger than"),
        ("picture-crashes", "process ended"),
        ("picture-lost", "gone"),
        ("picture-hangs", ""),
    ] {
        let Answered { answer, html, png } = pictured(manner).await;
        let Outcome::Rendered(facts) = answer.outcome else {
            panic!("{manner}: {answer:?}");
        };
        let Some(Pictured::Failed(reason)) = facts.screenshot else {
            panic!("{manner}: {facts:?}");
        };
        assert!(reason.contains(word), "{manner}: {reason}");
        assert!(png.is_empty(), "{manner}");
        assert!(String::from_utf8_lossy(&html).contains("The ferry to the island"));
    }
}

#[tokio::test]
async fn a_browser_that_does_not_start_is_told_with_its_remedy() {
    check_failure("exits", FailureKind::NoBrowser, "did not start").await;
    check_failure("no-sandbox", FailureKind::NoBrowser, "user namespaces").await;
    let folder = Folder::new();
    for (browser, word) in [
        ("/nowhere/browser", "render.browser"),
        ("/bin/false", "did not start"),
    ] {
        let (Answered { answer, .. }, _) = asked(&folder, &job(browser)).await;
        assert!(
            matches!(&answer.outcome, Outcome::Failed { kind: FailureKind::NoBrowser, detail } if detail.contains(word)),
            "{answer:?}"
        );
    }
    let mut other = job("/bin/false");
    other.version = VERSION + 1;
    let (Answered { answer, .. }, _) = asked(&folder, &other).await;
    assert!(matches!(
        answer.outcome,
        Outcome::Failed {
            kind: FailureKind::Version,
            ..
        }
    ));
}

#[tokio::test]
async fn a_page_that_cannot_be_opened_is_told_apart() {
    check_failure("unopened", FailureKind::NotOpened, "ERR_CERT_DATE_INVALID").await;
    check_failure("refused", FailureKind::Refused, "not allowed").await;
    check_failure("lost", FailureKind::BrowserLost, "gone").await;
    check_failure("garbage", FailureKind::NoBrowser, "did not start").await;
    check_failure("crashes", FailureKind::Crashed, "process ended").await;
    check_failure(
        "leads-away",
        FailureKind::NotOpened,
        "not lead to an http address",
    )
    .await;
}

/// A browser that was killed once held its place to the deadline: its own children had the pipe.
#[tokio::test]
async fn a_browser_that_ends_is_noticed_although_its_children_go_on() {
    for own_groups in [true, false] {
        let folder = Folder::new();
        let script = fake_browser::script(&folder.0, "leaves-child", FAKE);
        let mut worker = folder.worker();
        worker.own_groups = own_groups;
        let job = job(&script.display().to_string());
        let (Answered { answer, .. }, _) = asked_of(worker, &job).await;
        assert!(
            matches!(
                answer.outcome,
                Outcome::Failed {
                    kind: FailureKind::BrowserLost,
                    ..
                }
            ),
            "{answer:?}"
        );
    }
}

#[tokio::test]
async fn a_caller_that_is_gone_leaves_no_folder_of_its_one_job() {
    let folder = Folder::new();
    let script = fake_browser::script(&folder.0, "hangs", FAKE);
    let mut worker = folder.worker();
    worker.own_groups = false;
    let (mut ours, theirs) = tokio::io::duplex(1 << 16);
    let (from, to) = tokio::io::split(theirs);
    let scratch = worker.scratch.clone();
    let leaving = async {
        let job = job(&script.display().to_string());
        job::write_job(&mut ours, &job).await.expect("open");
        let has_profile = || std::fs::read_dir(&scratch).is_ok_and(|found| found.count() == 1);
        while !has_profile() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        drop(ours);
    };
    let (served, ()) = tokio::join!(worker.serve(from, to), leaving);
    served.expect("nobody to answer");
    assert!(!worker.scratch.exists());
}

#[tokio::test]
async fn a_browser_that_hangs_is_ended_soon_after_the_deadline() {
    check_failure("silent", FailureKind::TimedOut, "in time").await;
    check_failure("hangs", FailureKind::TimedOut, "").await;
}

#[tokio::test]
async fn a_caller_that_leaves_ends_the_browser() {
    let folder = Folder::new();
    let script = fake_browser::script(&folder.0, "hangs", FAKE);
    let job = job(&script.display().to_string());
    let (mut ours, theirs) = tokio::io::duplex(1 << 16);
    let (from, to) = tokio::io::split(theirs);
    let worker = folder.worker();
    let leaving = async {
        job::write_job(&mut ours, &job).await.expect("open");
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert_eq!(folder.profiles(), 1);
        drop(ours);
    };
    let began = Instant::now();
    let (served, ()) = tokio::join!(worker.serve(from, to), leaving);
    served.expect("nobody to answer");
    assert!(began.elapsed() < Duration::from_secs(2));
    assert_eq!(folder.profiles(), 0);
}

/// A site on loopback that answers each connection with these bytes and notes what it was asked.
async fn site(answer: &'static [u8]) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback");
    let address = listener.local_addr().expect("bound");
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = asked.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let noted = noted.clone();
            tokio::spawn(async move {
                let mut bytes = vec![0; 4096];
                let read = stream.read(&mut bytes).await.unwrap_or(0);
                let text = String::from_utf8_lossy(&bytes[..read]).into_owned();
                noted.lock().expect("no panic").push(text);
                let _ = stream.write_all(answer).await;
            });
        }
    });
    (address, asked)
}

/// The web in which `app.example.org` is a site at `dial`, `rebind.example.org` is public at every other lookup only, and
/// every other name is private.
fn web(dial: SocketAddr) -> Web {
    let public: IpAddr = "93.184.216.34".parse().expect("an address");
    let names = [
        "app.example.org",
        "rebind.example.org",
        "private.example.org",
        "own.example.org",
    ];
    let lab = names.map(|name| {
        (
            name.to_owned(),
            LabHost {
                address: public,
                dial,
            },
        )
    });
    let lookups = AtomicUsize::new(0);
    let settings = NetworkSettings {
        positive_max: Duration::ZERO,
        ..NetworkSettings::default()
    };
    let lookup = move |name: &str| -> io::Result<Vec<IpAddr>> {
        let private = "127.0.0.1".parse().expect("an address");
        Ok(match name {
            "app.example.org" | "own.example.org" => vec![public],
            "rebind.example.org" if lookups.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) => {
                vec![public]
            }
            _ => vec![private],
        })
    };
    let forbidden = ForbiddenHosts::new(["own.example.org"]);
    let network =
        Network::with_lookup(settings, HashMap::from(lab), forbidden, lookup).expect("a thread");
    Web::new(WebSettings::new("test".to_owned()), network).expect("no roots to read")
}

/// What the guard answers to a request under a token.
async fn through(folder: &Folder, token: &str, request: &str) -> String {
    let mut stream = UnixStream::connect(folder.0.join("egress.sock"))
        .await
        .expect("the guard");
    let _ = stream
        .write_all(format!("{token}\n{request}").as_bytes())
        .await;
    let mut answer = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut answer)).await;
    let _ = read.expect("an end");
    String::from_utf8_lossy(&answer).into_owned()
}

fn guard(folder: &Folder, dial: SocketAddr, limits: BudgetLimits) -> (Guard, Pass) {
    let guard = Guard::new(web(dial), limits);
    guard
        .listen_at(&folder.0.join("egress.sock"))
        .expect("a socket");
    let pass = guard.admit(None);
    (guard, pass)
}

const PAGE: &[u8] = b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello";

#[tokio::test]
async fn the_guard_lets_through_what_a_fetch_may_reach_and_nothing_else() {
    let (address, seen) = site(PAGE).await;
    let folder = Folder::new();
    let (_guard, pass) = guard(&folder, address, BudgetLimits::default());
    let get = |url: &str| {
        format!("GET {url} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: keep-alive\r\n\r\n")
    };
    let answer = through(&folder, &pass.token, &get("http://app.example.org/a?b")).await;
    assert!(
        answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\nhello"),
        "{answer}"
    );
    assert!(answer.contains("Connection: close"), "{answer}");
    let asked = seen.lock().expect("no panic").pop().expect("one request");
    assert!(
        asked.starts_with("GET /a?b HTTP/1.1\r\nHost: app.example.org\r\n"),
        "{asked}"
    );
    assert!(
        !asked.contains("127.0.0.1") && !asked.contains("keep-alive"),
        "{asked}"
    );

    let port = address.port();
    let mut refused = 0;
    for target in [
        "http://127.0.0.1/".to_owned(),
        format!("http://127.0.0.1:{port}/"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "http://10.0.0.1/".to_owned(),
        "http://[::1]/".to_owned(),
        "http://[::ffff:127.0.0.1]/".to_owned(),
        "http://2130706433/".to_owned(),
        "http://0x7f.1/".to_owned(),
        "http://localhost/".to_owned(),
        "http://private.example.org/".to_owned(),
        "http://own.example.org/".to_owned(),
        format!("http://app.example.org:{port}/"),
        "http://app.example.org:8080/".to_owned(),
    ] {
        let answer = through(&folder, &pass.token, &get(&target)).await;
        assert!(answer.starts_with("HTTP/1.1 403 "), "{target}: {answer}");
        assert!(
            answer.contains(&format!("{REFUSED_HEADER}: refused")),
            "{target}"
        );
        refused += 1;
    }
    for authority in [
        "127.0.0.1:443",
        "private.example.org:443",
        "app.example.org:80",
        "app.example.org:22",
    ] {
        let request = format!("CONNECT {authority} HTTP/1.1\r\nHost: app.example.org:443\r\n\r\n");
        let answer = through(&folder, &pass.token, &request).await;
        assert!(answer.starts_with("HTTP/1.1 403 "), "{authority}: {answer}");
        refused += 1;
    }
    assert_eq!(pass.refused(), refused);
    assert!(
        seen.lock().expect("no panic").is_empty(),
        "nothing else was dialled"
    );
}

#[tokio::test]
async fn a_name_that_changes_its_address_is_checked_at_each_request() {
    let (address, seen) = site(PAGE).await;
    let folder = Folder::new();
    let (_guard, pass) = guard(&folder, address, BudgetLimits::default());
    let mut passed = 0;
    for _ in 0..4 {
        let request = "GET http://rebind.example.org/ HTTP/1.1\r\n\r\n";
        let answer = through(&folder, &pass.token, request).await;
        match answer.starts_with("HTTP/1.1 200 ") {
            // What is dialled is what was looked at.
            true => passed += 1,
            false => assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}"),
        }
    }
    assert_eq!(passed, seen.lock().expect("no panic").len());
    assert!(passed < 4, "a private answer was let through");
}

#[tokio::test]
async fn only_a_render_under_way_passes() {
    let (address, seen) = site(PAGE).await;
    let folder = Folder::new();
    let (_guard, pass) = guard(&folder, address, BudgetLimits::default());
    let request = "GET http://app.example.org/ HTTP/1.1\r\n\r\n";
    assert_eq!(through(&folder, &"0".repeat(32), request).await, "");
    assert_eq!(through(&folder, "short", request).await, "");
    let token = pass.token.clone();
    assert!(
        through(&folder, &token, request)
            .await
            .starts_with("HTTP/1.1 200 ")
    );
    drop(pass);
    assert_eq!(through(&folder, &token, request).await, "");
    assert_eq!(seen.lock().expect("no panic").len(), 1);
}

#[tokio::test]
async fn the_end_of_a_render_ends_its_connections() {
    let (address, _) = site(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf").await;
    let folder = Folder::new();
    let (_guard, pass) = guard(&folder, address, BudgetLimits::default());
    let token = pass.token.clone();
    // A tunnel that nobody closes.
    let request = "CONNECT app.example.org:443 HTTP/1.1\r\n\r\n";
    let open = through(&folder, &token, request);
    let ending = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        drop(pass);
    };
    let (answer, ()) = tokio::join!(open, ending);
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[tokio::test]
async fn a_render_takes_no_more_than_its_bytes_and_requests() {
    static LONG: [u8; 4096] = {
        let mut page = [b'x'; 4096];
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 4055\r\n\r\n";
        let mut at = 0;
        while at < head.len() {
            page[at] = head[at];
            at += 1;
        }
        page
    };
    let (address, seen) = site(&LONG).await;
    let folder = Folder::new();
    let limits = BudgetLimits {
        requests_max: 3,
        down_bytes_max: 5_000,
        up_bytes_max: 2_000,
        ..BudgetLimits::default()
    };
    let (_guard, pass) = guard(&folder, address, limits);
    let request = "GET http://app.example.org/ HTTP/1.1\r\n\r\n";
    assert_eq!(
        through(&folder, &pass.token, request)
            .await
            .matches('x')
            .count(),
        4_055
    );
    let cut = through(&folder, &pass.token, request).await;
    assert!(cut.matches('x').count() < 4_055, "the bytes are spent");
    let body = "y".repeat(3_000);
    let posted =
        format!("POST http://app.example.org/ HTTP/1.1\r\nContent-Length: 3000\r\n\r\n{body}");
    assert_eq!(through(&folder, &pass.token, &posted).await, "");
    let spent = through(&folder, &pass.token, request).await;
    assert!(spent.starts_with("HTTP/1.1 429 "), "{spent}");
    assert!(seen.lock().expect("no panic").len() <= 3);
}

/// A renderer whose worker is a unit at this folder's socket.
fn renderer(folder: &Folder, dial: SocketAddr) -> Renderer {
    let settings = RendererSettings {
        browser: fake_browser::script(&folder.0, "plain", FAKE)
            .display()
            .to_string(),
        jit: false,
        user_agent: "test".to_owned(),
        time_max: Duration::from_secs(3),
        at_once_max: 1,
        workers: Workers::Unit {
            socket: folder.0.join("worker.sock"),
        },
    };
    Renderer::new(settings, web(dial)).expect("no folder is needed")
}

#[tokio::test]
async fn one_place_is_for_one_page() {
    let folder = Folder::new();
    let renderer = renderer(&folder, "127.0.0.1:9".parse().expect("a socket"));
    // A worker that takes jobs and answers none.
    let _listener = tokio::net::UnixListener::bind(folder.0.join("worker.sock")).expect("a socket");
    let target = TargetUrl::parse(URL).expect("a target");
    let deadline = Instant::now() + Duration::from_secs(5);
    let web = web("127.0.0.1:9".parse().expect("a socket"));
    let cleared = web.clear_for(Requester::Buyer, &target, deadline).await;
    let cleared = cleared.expect("a public address");
    let (one, other) = tokio::join!(
        renderer.render(&cleared, "a", None),
        renderer.render(&cleared, "b", None)
    );
    // The first holds the place until its hard end, and the second then has one of its own.
    for outcome in [one, other] {
        assert_eq!(outcome.expect_err("nobody answers").outcome(), "timed_out");
    }
    assert_eq!(renderer.waiting(), 0);
}

#[tokio::test]
async fn a_worker_that_is_not_there_or_does_not_answer_is_told() {
    let folder = Folder::new();
    let renderer = renderer(&folder, "127.0.0.1:9".parse().expect("a socket"));
    let missing = renderer.check().await.expect_err("no worker");
    assert!(
        matches!(&missing, RenderError::Unavailable(text) if text.contains("context402-browser")),
        "{missing}"
    );
    let listener = tokio::net::UnixListener::bind(folder.0.join("worker.sock")).expect("a socket");
    let began = Instant::now();
    let silent = renderer.check().await.expect_err("nobody answers");
    assert_eq!(silent.outcome(), "timed_out");
    assert!(
        began.elapsed() < Duration::from_secs(7),
        "{:?}",
        began.elapsed()
    );
    drop(listener);
}
