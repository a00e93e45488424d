//! CPU time of a conversion: the whole converter beside a bare lol_html pass over the same pages, and beside the crates
//! that do the same trade. Then how much memory each takes for a dense page of the largest size.
//!
//! `cargo run --release --manifest-path benches/convert/Cargo.toml -- --pages WHERE` takes a folder of HTML files, or a
//! file of JSON lines with `path` and `url`. Without it the few pages of the repository are read, which are too small
//! to say much. `--limit N` takes every so many pages only, `--peers` measures the other crates too, `--enforce` fails
//! where a goal is missed.

use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use context402::markdown::{ContentKind, Converter, Settings};
use lol_html::html_content::{Element, TextChunk};
use lol_html::{DocumentContentHandlers, HtmlRewriter, element};
use rustix::time::{ClockId, clock_gettime};
use url::Url;

const ROUNDS: usize = 5;
/// What selecting and converting may take, as a multiple of the bare pass.
const RATIO_GOAL: f64 = 3.0;
const MEMORY_GOAL_MB: f64 = 16.0;
const PAGE_BYTES: usize = 5 * 1024 * 1024;
/// As pages arrive from the network.
const CHUNK_BYTES: usize = 16 * 1024;
/// Some of the others recurse as deep as the page is nested.
const STACK_BYTES: usize = 512 * 1024 * 1024;
/// The first argument of a child.
const CHILD: &str = "memory-of";

type Convert = fn(&Page);

const BARE: (&str, Convert) = ("bare lol_html", bare);
const OURS: [(&str, Convert); 2] = [
    ("context402", |page| ours(page, false)),
    ("context402 --full", |page| ours(page, true)),
];
const PEERS: [(&str, Convert); 4] = [
    ("fast_html2md", |page| {
        black_box(html2md::rewrite_html(&page.html, false));
    }),
    ("htmd", |page| {
        let _ = black_box(htmd::convert(&page.html));
    }),
    ("dom_smoothie", |page| {
        let read = dom_smoothie::Readability::new(page.html.as_str(), None, None);
        let _ = black_box(read.map(|mut page| page.parse()));
    }),
    ("trafilatura", |page| {
        let _ = black_box(trafilatura::extract(
            &page.html,
            &trafilatura::Options::default(),
        ));
    }),
];

struct Page {
    url: Url,
    html: String,
}

struct Options {
    pages: Option<PathBuf>,
    limit: usize,
    peers: bool,
    enforce: bool,
}

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == CHILD) {
        let name = arguments.pop().expect("a name");
        on_large_stack(move || say(&growth_bytes(&name).to_string()));
        return ExitCode::SUCCESS;
    }
    let options = Options::read(arguments);
    let pages = pages(&options);
    let mut measured = vec![BARE];
    measured.extend(OURS);
    if options.peers {
        measured.extend(PEERS);
    }
    let bytes: usize = pages.iter().map(|page| page.html.len()).sum();
    say(&format!(
        "{} pages, {:.1} MB, the least of {ROUNDS} rounds; memory for a dense page of 5 MiB",
        pages.len(),
        megabytes(bytes)
    ));
    let kept = measured.clone();
    let times = on_large_stack(move || times(&kept, &pages));
    let mut missed = false;
    for ((name, _), time) in measured.iter().zip(&times) {
        let ratio = time.as_secs_f64() / times[0].as_secs_f64();
        let memory = megabytes(memory_of(name));
        say(&format!(
            "{name:<20} {:>7.1} MB/s {ratio:>7.2} times bare {memory:>7.1} MB",
            megabytes(bytes) / time.as_secs_f64()
        ));
        let is_ours = OURS.iter().any(|(ours, _)| ours == name);
        missed |= is_ours && (ratio > RATIO_GOAL || memory > MEMORY_GOAL_MB);
    }
    say(&format!(
        "goals: {RATIO_GOAL} times bare, {MEMORY_GOAL_MB} MB: {}",
        if missed { "missed" } else { "met" }
    ));
    ExitCode::from(u8::from(missed && options.enforce))
}

impl Options {
    fn read(arguments: Vec<String>) -> Options {
        let mut options = Options {
            pages: None,
            limit: usize::MAX,
            peers: false,
            enforce: false,
        };
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--pages" => options.pages = arguments.next().map(PathBuf::from),
                "--limit" => {
                    let limit = arguments.next().and_then(|limit| limit.parse().ok());
                    options.limit = limit.expect("--limit N");
                }
                "--peers" => options.peers = true,
                "--enforce" => options.enforce = true,
                // From cargo.
                "--bench" => {}
                other => panic!("unknown argument {other}"),
            }
        }
        options
    }
}

fn pages(options: &Options) -> Vec<Page> {
    let found = match &options.pages {
        Some(path) if path.is_dir() => pages_below(path),
        Some(path) => pages_listed(path),
        None => {
            say("No --pages: the small pages of this repository.");
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
            let mut found = pages_below(&root.join("tests/pages"));
            found.extend(pages_below(&root.join("data/samples")));
            found
        }
    };
    assert!(!found.is_empty(), "no page was found");
    let step = found.len().div_ceil(options.limit.max(1));
    found.into_iter().step_by(step.max(1)).collect()
}

fn pages_below(folder: &Path) -> Vec<Page> {
    let mut pages = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "html") {
                pages.push(page(&path, "https://example.org/"));
            }
        }
    }
    pages
}

fn pages_listed(file: &Path) -> Vec<Page> {
    let listed = std::fs::read_to_string(file).expect("a list of pages");
    let pages = listed.lines().map(|line| {
        let job: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        let path = job["path"].as_str().expect("a path");
        page(Path::new(path), job["url"].as_str().unwrap_or_default())
    });
    pages.collect()
}

fn page(path: &Path, url: &str) -> Page {
    let bytes = std::fs::read(path).expect("a page");
    let known = Url::parse("https://example.org/").expect("a valid URL");
    Page {
        url: Url::parse(url).unwrap_or(known),
        html: String::from_utf8_lossy(&bytes).into_owned(),
    }
}

/// The least time that each takes for all pages. All take their turns, since neighbours on the machine come and go.
fn times(measured: &[(&str, Convert)], pages: &[Page]) -> Vec<Duration> {
    std::panic::set_hook(Box::new(|_| ()));
    let mut least = vec![Duration::MAX; measured.len()];
    for _ in 0..ROUNDS {
        for ((_, convert), least) in measured.iter().zip(&mut least) {
            let began = cpu();
            for page in pages {
                // Some of the others give up on some pages in this way.
                let _ = catch_unwind(AssertUnwindSafe(|| convert(page)));
            }
            *least = (*least).min(cpu() - began);
        }
    }
    least
}

fn cpu() -> Duration {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        used.tv_sec.try_into().expect("not negative"),
        used.tv_nsec.try_into().expect("below a second"),
    )
}

fn bare(page: &Page) {
    let on_text = |text: &mut TextChunk<'_>| {
        black_box(text.as_str());
        Ok(())
    };
    let settings = lol_html::Settings::new()
        .append_element_content_handler(element!("*", |element: &mut Element<'_, '_>| {
            black_box(element);
            Ok(())
        }))
        .append_document_content_handler(DocumentContentHandlers::default().text(on_text))
        .with_strict(false);
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    for chunk in page.html.as_bytes().chunks(CHUNK_BYTES) {
        rewriter.write(chunk).expect("no limit is set");
    }
    rewriter.end().expect("no limit is set");
}

fn ours(page: &Page, full: bool) {
    let mut converter = Converter::new(Settings {
        kind: ContentKind::Html,
        url: page.url.clone(),
        charset: Some("utf-8".to_owned()),
        full,
    });
    let chunks = page.html.as_bytes().chunks(CHUNK_BYTES);
    for chunk in chunks {
        if converter.push(chunk).is_err() {
            return;
        }
    }
    let _ = black_box(converter.finish());
}

/// Each in a process of its own, which has never held more.
fn memory_of(name: &str) -> usize {
    let program = std::env::current_exe().expect("this program");
    let output = Command::new(program).args([CHILD, name]).output();
    let output = output.expect("a process").stdout;
    let text = String::from_utf8_lossy(&output);
    text.trim().parse().expect("a number of bytes")
}

/// How much more memory than the page itself this process had at most.
fn growth_bytes(name: &str) -> usize {
    let page = Page {
        url: Url::parse("https://example.org/").expect("a valid URL"),
        html: dense(),
    };
    let every = [&[BARE][..], &OURS, &PEERS].concat();
    let named = every.iter().find(|(other, _)| *other == name);
    let (_, convert) = named.expect("a known name");
    let before = status_bytes("VmRSS:");
    convert(&page);
    status_bytes("VmHWM:").saturating_sub(before)
}

/// A page of many small elements.
fn dense() -> String {
    let mut html = String::with_capacity(PAGE_BYTES);
    html.push_str("<title>Dense</title><main>");
    let mut number = 0u32;
    while html.len() < PAGE_BYTES - 512 {
        number += 1;
        html.push_str(&format!(
            "<div class=\"row r{number}\"><h3>Row {number}</h3><p>Some <b>words</b> and <a href=\"/p/{number}\">a link</a>\
             </p><ul><li>one<li>two</ul></div>\n"
        ));
    }
    html
}

fn status_bytes(key: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix(key));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    let kilobytes: usize = kilobytes.expect("a size").parse().expect("a number");
    kilobytes * 1024
}

fn on_large_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
    let running = thread.spawn(work).expect("a thread");
    running.join().expect("it does not fail")
}

fn megabytes(bytes: usize) -> f64 {
    f64::from(u32::try_from(bytes).unwrap_or(u32::MAX)) / 1e6
}

/// A line on standard output.
fn say(line: &str) {
    use std::io::Write as _;
    writeln!(std::io::stdout(), "{line}").expect("standard output");
}
