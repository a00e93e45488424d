//! What a long life costs: starts, reads and sales with very many retained reports and payments in the file, beside the
//! same with none. `cargo bench --bench retained -- 100000` takes another number than a million, which needs a few
//! gigabytes below `target`.
//!
//! Each report has a document of its own; they share one source. The service is the real one, in a process of its own,
//! which is stopped in order and then killed. The backup is the operator's command, with its look through the copy.

mod harness;
#[path = "harness/shop.rs"]
mod shop;

use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

use context402::appliance::Appliance;
use context402::domain::ids::ReportId;
use context402::domain::pack::Pack;
use context402::domain::time::UnixSeconds;
use context402::store::ReportRecord;

use harness::{
    AT_ONCE, DATA_FILE, Folder, PAY_TO, Series, Server, child, config, read_message, say,
    say_machine, send_all, serve,
};
use shop::{SHORT, Signed, facilitator, keep_pages, paid_request, past};

const RETAINED: usize = 1_000_000;
/// Written in one transaction.
const FILLED_AT_ONCE: usize = 20_000;
/// Asked one after the other, on one connection.
const READS: usize = 2_000;
const SALES: usize = 500;
/// Without a backup, and as much again after it.
const CALM_TIME: Duration = Duration::from_secs(20);
const REPETITIONS: usize = 5;
/// The backup.
const COPY: &str = "copy.redb";
const DOCUMENT_BYTES: usize = 600;
const LIFE_SECONDS: u64 = 30 * 86_400;

fn main() {
    match child() {
        None => compare(),
        Some((role, arguments)) => match role.as_str() {
            "service" => serve(&arguments[0], &arguments[1], keep_pages, obeyed),
            _ => facilitator(),
        },
    }
}

/// How long each of many took, in order.
struct Times(Vec<Duration>);

impl Times {
    fn at(&self, percent: usize) -> f64 {
        self.0[(self.0.len() - 1) * percent / 100].as_secs_f64() * 1e3
    }

    fn add(&mut self, more: Times) {
        self.0.extend(more.0);
        self.0.sort_unstable();
    }

    fn show(&self, name: &str) {
        let (half, most) = (self.at(50), self.at(99));
        say(&format!("{name:<44} {half:>7.2} ms, p99 {most:.2} ms"));
    }
}

fn compare() {
    let wanted = std::env::args().find_map(|argument| argument.parse().ok());
    let count: usize = wanted.unwrap_or(RETAINED);
    let folder = Folder::new("retained");
    let runtime = runtime();
    let shop = Server::start("facilitator", &folder, &[]);
    let url = format!("http://{}", shop.ready);
    let signed = Signed::new(&config(&folder.0, &url));
    let start = || {
        let began = Instant::now();
        let service = Server::start("service", &folder, &[folder.text(), &url]);
        (service, began.elapsed())
    };
    say_machine();
    let (mut service, took) = start();
    say(&format!(
        "Start on no file: {:.0} ms",
        took.as_secs_f64() * 1e3
    ));
    // A few, so that there is something to read.
    service.order("fill 0 100");
    let reads = reads(&runtime, &service.ready, 100);
    let sales = sales(&runtime, &service.ready, &signed, 0);
    let work = work(&runtime, &mut service, 100);
    let began = Instant::now();
    for first in (100..count).step_by(FILLED_AT_ONCE) {
        let end = count.min(first + FILLED_AT_ONCE);
        service.order(&format!("fill {first} {end}"));
    }
    let filled = began.elapsed().as_secs_f64();
    let bytes = std::fs::metadata(folder.0.join(DATA_FILE)).map_or(0, |file| file.len());
    say(&format!(
        "{count} reports and payments: {} MB, written in {filled:.0} s",
        bytes / 1_000_000
    ));
    drop(service);
    let (mut service, took) = start();
    say(&format!(
        "Start after a stop: {:.0} ms (goal 2000)",
        took.as_secs_f64() * 1e3
    ));
    reads.show("a report, almost no file");
    let late_reads = self::reads(&runtime, &service.ready, count);
    late_reads.show("a report, full file");
    sales.show("a sale, almost no file");
    let late_sales = self::sales(&runtime, &service.ready, &signed, SALES);
    late_sales.show("a sale, full file");
    say(&format!(
        "p99 of reads and sales, full beside almost empty (goal 2): {:.2} and {:.2}",
        late_reads.at(99) / reads.at(99),
        late_sales.at(99) / sales.at(99)
    ));
    work.show("CPU of a report, almost no file", "µs");
    let late_work = self::work(&runtime, &mut service, count);
    late_work.show("CPU of a report, full file", "µs");
    let more = late_work.with(&work, |late, early| late / early);
    more.show("the one beside the other", "×");
    backup(&service, &folder, &signed, count);
    service.order("die");
    drop(service);
    let (service, took) = start();
    say(&format!(
        "Start after a kill: {:.0} ms (goal 10000)",
        took.as_secs_f64() * 1e3
    ));
    drop(service);
}

/// One client's.
fn runtime() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().expect("a runtime")
}

fn reads(runtime: &Runtime, address: &str, count: usize) -> Times {
    runtime.block_on(timed(address, read_requests(count)))
}

/// Requests for reports all over the file.
fn read_requests(count: usize) -> Vec<Vec<u8>> {
    let request = |number: usize| {
        let id = report_id(number * 7_919 % count);
        format!("GET /v1/proof-pack/reports/{id} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").into_bytes()
    };
    (0..READS).map(request).collect()
}

/// What reading costs of the processor, with many readers at once.
fn work(runtime: &Runtime, service: &mut Server, count: usize) -> Series {
    let requests = Arc::new(read_requests(count));
    let mut series = Series::default();
    for _ in 0..REPETITIONS {
        let before = service.cpu();
        let sent = send_all(&service.ready, requests.clone(), AT_ONCE, READS, "200");
        runtime.block_on(sent);
        series.add(service.cpu() - before, READS);
    }
    series
}

fn sales(runtime: &Runtime, address: &str, signed: &Signed, first: usize) -> Times {
    let requests =
        (first..first + SALES).map(|number| paid_request(SHORT.url, &signed.header(number)));
    runtime.block_on(timed(address, requests))
}

/// What a backup costs those who read and buy meanwhile: one reader and one buyer, each asking again at once.
fn backup(service: &Server, folder: &Folder, signed: &Signed, count: usize) {
    let first = AtomicUsize::new(2 * SALES);
    let calm = || std::thread::sleep(CALM_TIME);
    let (mut reads, mut sales, ()) = load(&service.ready, signed, &first, count, calm);
    let began = Instant::now();
    let (busy_reads, busy_sales, done) =
        load(&service.ready, signed, &first, count, || back_up(&folder.0));
    assert!(done.is_ok_and(|done| done.success()), "a backup");
    let took = began.elapsed().as_secs_f64();
    let (more_reads, more_sales, ()) = load(&service.ready, signed, &first, count, calm);
    reads.add(more_reads);
    sales.add(more_sales);
    let copy = std::fs::metadata(folder.0.join(COPY)).expect("a backup");
    say(&format!(
        "A backup under load: {took:.0} s with its verification, {} MB",
        copy.len() / 1_000_000
    ));
    reads.show("a report under load, no backup");
    busy_reads.show("a report under load, during the backup");
    sales.show("a sale under load, no backup");
    busy_sales.show("a sale under load, during the backup");
    say(&format!(
        "p99 of reads and sales, during the backup beside none (goal 3): {:.2} and {:.2}",
        busy_reads.at(99) / reads.at(99),
        busy_sales.at(99) / sales.at(99)
    ));
}

/// The operator's command, as little in the way of others as its unit has it.
fn back_up(folder: &Path) -> io::Result<ExitStatus> {
    Command::new("nice")
        .args(["-n", "10", env!("CARGO_BIN_EXE_context402"), "backup"])
        .arg(folder.join(COPY))
        .env("CONTEXT402_BASE_URL", "http://127.0.0.1:4020")
        .env("CONTEXT402_DATA_FILE", folder.join(DATA_FILE))
        .env("CONTEXT402_PAYMENT_PAY_TO", PAY_TO)
        .stdout(Stdio::null())
        .status()
}

/// Reads and sales, as long as something else takes; and what comes of that.
fn load<T>(
    address: &str,
    signed: &Signed,
    next: &AtomicUsize,
    count: usize,
    something: impl FnOnce() -> T,
) -> (Times, Times, T) {
    let over = AtomicBool::new(false);
    let goes_on = || !over.load(Ordering::Relaxed);
    let read = || {
        let requests = read_requests(count).into_iter().cycle();
        runtime().block_on(timed(address, requests.take_while(|_| goes_on())))
    };
    let buy = || {
        let number = || next.fetch_add(1, Ordering::Relaxed);
        let request = || paid_request(SHORT.url, &signed.header(number()));
        let requests = std::iter::repeat_with(request);
        runtime().block_on(timed(address, requests.take_while(|_| goes_on())))
    };
    std::thread::scope(|scope| {
        let (reader, buyer) = (scope.spawn(read), scope.spawn(buy));
        let something = something();
        over.store(true, Ordering::Relaxed);
        let reads = reader.join().expect("the reader is served");
        (reads, buyer.join().expect("the buyer is served"), something)
    })
}

async fn timed(address: &str, requests: impl IntoIterator<Item = Vec<u8>>) -> Times {
    let mut stream = TcpStream::connect(address).await.expect("it accepts");
    stream.set_nodelay(true).expect("a socket");
    let (mut buffer, mut times) = (Vec::new(), Vec::new());
    for request in requests {
        let began = Instant::now();
        stream.write_all(&request).await.expect("it reads");
        let read = read_message(&mut stream, &mut buffer).await;
        let length = read.expect("it answers");
        times.push(began.elapsed());
        let shown = String::from_utf8_lossy(&buffer[..length]).into_owned();
        assert_eq!(buffer.get(9..12), Some(&b"200"[..]), "{shown}");
        buffer.drain(..length);
    }
    times.sort_unstable();
    Times(times)
}

/// `fill FIRST END`: these reports with their payments, as if they had been sold this minute. `die`: end as a crash does.
async fn obeyed(appliance: &Appliance, line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let number = |place: usize| words.get(place).and_then(|word| word.parse::<usize>().ok());
    match (words[0], number(1), number(2)) {
        ("fill", Some(first), Some(end)) => fill(appliance, first, end).await,
        _ => {
            std::thread::spawn(|| {
                std::thread::sleep(Duration::from_millis(100));
                std::process::abort();
            });
        }
    }
    "done".to_owned()
}

async fn fill(appliance: &Appliance, first: usize, end: usize) {
    let now = appliance.app.now();
    let until = now.plus(LIFE_SECONDS);
    let source = b"Children under six travel free on the harbour ferry.";
    let write = appliance.app.store.write(move |tables| {
        for number in first..end {
            let payment = key(b"payment", number);
            let (document, record) = report(number, payment, now);
            tables.put_payment(payment, &past(payment, now))?;
            tables.put_blob(record.document, &document, until)?;
            tables.put_report(report_id(number), &record, source, until)?;
            tables.release_report(payment, "0xab", until)?;
        }
        Ok(())
    });
    write.await.expect("they are stored");
}

fn report(number: usize, payment: [u8; 32], now: UnixSeconds) -> (Vec<u8>, ReportRecord) {
    let id = report_id(number);
    let words = "A passage that was found on the page. ".repeat(DOCUMENT_BYTES / 38);
    let document = format!(r#"{{"report_id":"{id}","text":"{words}"}}"#).into_bytes();
    let record = ReportRecord {
        payment,
        target_url: "https://example.com/ferry".to_owned(),
        question: "Do children travel free?".to_owned(),
        pack: Pack::Standard.name().to_owned(),
        label: "supported".to_owned(),
        title: Some("Harbour ferry fares".to_owned()),
        document: Sha256::digest(&document).into(),
        source: Sha256::digest(b"Children under six travel free on the harbour ferry.").into(),
        paid: r#""amount_usdc":"0.25""#.to_owned(),
        transaction: None,
        shared: None,
        created_at: now.0,
        expires_at: now.plus(LIFE_SECONDS).0,
    };
    (document, record)
}

fn report_id(number: usize) -> ReportId {
    let mut id = [0; 16];
    id.copy_from_slice(&key(b"report", number)[..16]);
    ReportId(id)
}

fn key(kind: &[u8], number: usize) -> [u8; 32] {
    Sha256::digest([kind, &number.to_be_bytes()].concat()).into()
}
