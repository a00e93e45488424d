//! Bombs are pages like any other: whoever pays for one gets an answer, in time and within the memory of a fetch.

use std::io::Write as _;
use std::net::SocketAddr;
use std::process::Command;

use context402::markdown::{ContentKind, Converter, PAGE_BYTES_MAX, Settings};
use url::Url;

use crate::harness::ask::raw_bytes;
use crate::harness::{ACCESS, Answer, Ask, Rig, Wallet, for_each, order};
use crate::hostile::bombs::BOMBS;
use crate::hostile::{MEMORY_MIB_MAX, as_shipped, number, tell};

/// Enough to show what grows faster than its page, little enough for a build without optimisation. With optimisation
/// they may be as long as pages may be (`CONTEXT402_BOMB_BYTES=5000000`).
const BOMB_BYTES: usize = 128 * 1024;
/// Buyers at once: as many as the program converts at once.
const AT_ONCE: usize = 16;
/// What may become of a bomb.
const ANSWERS: [(u16, &str); 7] = [
    (200, ""),
    (400, "content_too_large"),
    (400, "nothing_readable"),
    (400, "page_walled"),
    (400, "unsupported_content_type"),
    (400, "upstream_refused"),
    (503, "upstream_unavailable"),
];

/// Each has a deadline of the harness's, as every answer has.
#[test]
fn every_bomb_is_answered_within_its_memory() {
    assert!(BOMBS.len() >= 50, "{} bombs", BOMBS.len());
    let mut rig = Rig::today_with(|resolved| {
        resolved.set("fetch.seconds_max", "30");
        resolved.set("fetch.at_once_max", AT_ONCE.to_string());
        as_shipped(resolved);
    });
    let bytes = number("CONTEXT402_BOMB_BYTES", BOMB_BYTES);
    for bomb in BOMBS {
        rig.site.put(&path(bomb.name), bomb.page(bytes));
    }
    rig.in_process(&[], |rig, service| {
        let idle = service.memory_mib();
        for group in BOMBS.chunks(AT_ONCE) {
            for_each(group, |bomb| buy(rig, service.address, bomb.name));
        }
        let most = service.memory_mib_most();
        tell(&format!(
            "{most} MiB for {} bombs of {bytes} bytes",
            BOMBS.len()
        ));
        let used = most.saturating_sub(idle);
        assert!(used <= MEMORY_MIB_MAX, "{used} MiB were in use at once");
        service.get("/health").send().expect(200);
    });
}

/// The converter alone, for one page of the largest size.
const CONVERTER_BYTES_MAX: u64 = 16_000_000;
/// Names the page to convert in a process that has never held more.
const SHAPE: &str = "CONTEXT402_SHAPE";
/// Pages that each took more, for a reason of their own: a copy of a block, of a table, of a code span, of the page before
/// its encoding is known, of text that is escaped or in another encoding. A build without optimisation takes its time.
const SHAPES: [&str; 10] = [
    "a-huge-table",
    "colspan",
    "invalid-utf-8",
    "markdown-to-escape",
    "nested-links",
    "one-code-span",
    "one-heading",
    "one-sentence",
    "text-in-latin-1",
    "undeclared",
];

/// Of 129 made-up pages of 5 MiB, 35 took more than 16 MB, and up to 48.
#[test]
fn no_page_takes_the_converter_more_than_its_memory() {
    let test = "hostile::pages::a_shape_is_converted_alone";
    let program = std::env::current_exe().expect("this program");
    for name in SHAPES {
        let output = Command::new(&program)
            .args(["--exact", test, "--nocapture", "--test-threads", "1"])
            .env(SHAPE, name)
            .env("MALLOC_MMAP_THRESHOLD_", "524288")
            .output()
            .expect("a process");
        let text = String::from_utf8_lossy(&output.stdout);
        let line = text.lines().find_map(|line| line.split_once("grew by "));
        let grown: u64 = line
            .and_then(|(_, bytes)| bytes.trim().parse().ok())
            .unwrap_or_else(|| panic!("{name}: {text}"));
        assert!(grown <= CONVERTER_BYTES_MAX, "{name}: {grown} bytes");
    }
}

/// Does nothing unless it was started by the test above.
#[test]
fn a_shape_is_converted_alone() {
    let Ok(name) = std::env::var(SHAPE) else {
        return;
    };
    let size = usize::try_from(PAGE_BYTES_MAX).expect("fits");
    // The program's own pages are there before memory is looked at.
    convert_shape(&name, size / 16);
    let grown = convert_shape(&name, size);
    writeln!(std::io::stdout(), "{name} grew by {grown}").expect("a pipe");
}

/// By how many bytes the process grew at most.
fn convert_shape(name: &str, size: usize) -> u64 {
    let (page, charset) = shape(name, size);
    let page = &page[..size.min(page.len())];
    let before = memory_bytes("VmRSS:");
    let mut converter = Converter::new(Settings {
        kind: ContentKind::Html,
        url: Url::parse("https://example.org/").expect("a valid URL"),
        charset: charset.map(str::to_owned),
        full: false,
    });
    for chunk in page.chunks(16 * 1024) {
        converter.push(chunk).expect("the page is read");
    }
    let converted = converter.finish().expect("the page converts");
    assert!(!converted.markdown.is_empty());
    memory_bytes("VmHWM:").saturating_sub(before)
}

/// A page, and the encoding that its header names.
fn shape(name: &str, size: usize) -> (Vec<u8>, Option<&'static str>) {
    let many = |piece: &[u8]| piece.repeat(size / piece.len());
    let utf_8 = Some("utf-8");
    match name {
        "one-code-span" => ([b"<p><code>".to_vec(), many(b"let x ")].concat(), utf_8),
        "one-heading" => ([b"<h1>".to_vec(), many(b"words ")].concat(), utf_8),
        "text-in-latin-1" => (many(b"\xf6\xe4 "), Some("iso-8859-1")),
        "undeclared" => (
            many(b"<p>Some words of text that go on for a while.</p>\n"),
            None,
        ),
        _ => {
            let bomb = BOMBS.iter().find(|bomb| bomb.name == name);
            (bomb.expect("a bomb").bytes(size), utf_8)
        }
    }
}

fn memory_bytes(name: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let kilobytes = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.expect("a size") * 1024
}

fn buy(rig: &Rig, address: SocketAddr, name: &str) {
    let payment = Wallet::new().sign_at(address, "fresh", rig.now(), None);
    let host = [
        "news.sample-site.org",
        "www.second-site.org",
        "www.third-site.org",
    ][name.len() % 3];
    let target = format!("http://{host}{}", path(name));
    let ask = Ask::new(address, "POST", ACCESS).json(&order(&target, "fresh"));
    let bytes = raw_bytes(address, &ask.paid(&payment.header).bytes());
    assert!(!bytes.is_empty(), "{name}: no answer");
    let answer = Answer::parse(&bytes);
    let outcome = (answer.status, answer.code());
    assert!(
        ANSWERS
            .iter()
            .any(|(status, code)| outcome == (*status, (*code).to_owned())),
        "{name}: {outcome:?} {answer:?}"
    );
}

fn path(name: &str) -> String {
    format!("/bombs/{name}")
}
