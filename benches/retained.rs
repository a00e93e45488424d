//! What a long life costs: starts, reads and sales with very many retained reports and payments in the file, beside the
//! same with none. `cargo bench --package benches --bench retained -- 100000` takes another number than a million, which needs a few
//! gigabytes below `target`.
//!
//! Each report has a document of its own; they share one source. The service is the real one, in a process of its own,
//! which is stopped in order and then killed. The backup is the operator's command, with its look through the copy.

mod harness;
#[path = "harness/shop.rs"]
mod shop;

use std::io;
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

use context402::appliance::Appliance;
use context402::domain::ids::ReportId;
use context402::domain::keys::PaymentKey;
use context402::domain::pack::Pack;
use context402::domain::time::UnixSeconds;
use context402::outside::clock::Clock;
use context402::store::ReportRecord;

use harness::{
    AT_ONCE, DATA_FILE, Folder, PAY_TO, Series, Server, child, config, read_message, say,
    say_machine, send_all, serve,
};
use shop::{SHORT, Signed, access_request, facilitator, keep_pages, past};

const RETAINED: usize = 1_000_000;
/// In the almost empty file, so that there is something to read.
const FEW: usize = 100;
/// Written in one transaction.
const FILLED_AT_ONCE: usize = 20_000;
/// Asked one after the other, on one connection.
const READS: usize = 2_000;
const SALES: usize = 500;
/// Without a backup, and as much again after it.
const CALM_TIME: Duration = Duration::from_secs(20);
/// Under load: from one request of a client to the next.
const READ_EVERY: Duration = Duration::from_millis(10);
const SALE_EVERY: Duration = Duration::from_millis(50);
const REPETITIONS: usize = 5;
/// The first argument of a process of this bench that is the program itself, and its command.
const BACKUP: &str = "backup";
/// What it makes.
const COPY: &str = "copy.redb";
const DOCUMENT_BYTES: usize = 600;
const LIFE_SECONDS: u64 = 30 * 86_400;

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some(BACKUP) {
        return context402::cli::run();
    }
    match child() {
        None => compare(),
        Some((role, arguments)) => match role.as_str() {
            "service" => serve(
                &arguments[0],
                &arguments[1],
                Clock::System,
                keep_pages,
                obeyed,
            ),
            _ => facilitator(),
        },
    }
    ExitCode::SUCCESS
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
    let (folder, other) = (Folder::new("retained"), Folder::new("retained-few"));
    let shop = Server::start("facilitator", &folder, &[]);
    let url = format!("http://{}", shop.ready);
    let signed = Signed::new(&config(&folder.0, &url), Clock::System);
    let start = |folder: &Folder| Server::start("service", folder, &[folder.text(), &url]);
    let show_start = |after: &str| {
        let began = Instant::now();
        let service = start(&folder);
        say(&format!(
            "Start {after}: {:.0} ms",
            began.elapsed().as_secs_f64() * 1e3
        ));
        service
    };
    say_machine();
    let mut service = show_start("on no file");
    fill_up(&mut service, &folder, count);
    drop(service);
    let mut full = Side::new(show_start("after a stop (goal 2000)"), count);
    let mut few = Side::new(start(&other), FEW);
    few.service.order(&format!("fill 0 {FEW}"));
    // In turn, since neighbours on the machine slow both sides alike.
    for repetition in 0..REPETITIONS {
        few.ask(&signed, repetition);
        full.ask(&signed, repetition);
    }
    drop(few.service);
    few.reads.show("a report, almost no file");
    full.reads.show("a report, full file");
    few.sales.show("a sale, almost no file");
    full.sales.show("a sale, full file");
    say(&format!(
        "p99 of reads and sales, full beside almost empty (goal 2): {:.2} and {:.2}",
        full.reads.at(99) / few.reads.at(99),
        full.sales.at(99) / few.sales.at(99)
    ));
    few.work.show("CPU of a report, almost no file", "µs");
    full.work.show("CPU of a report, full file", "µs");
    let more = full.work.with(&few.work, |full, few| full / few);
    more.show("the one beside the other", "×");
    let mut service = full.service;
    backup(&service, &folder, &signed, count);
    service.order("die");
    drop(service);
    drop(show_start("after a kill (goal 10000)"));
}

fn fill_up(service: &mut Server, folder: &Folder, count: usize) {
    let began = Instant::now();
    for first in (0..count).step_by(FILLED_AT_ONCE) {
        let end = count.min(first + FILLED_AT_ONCE);
        service.order(&format!("fill {first} {end}"));
    }
    say(&format!(
        "{count} reports and payments: {} MB, written in {:.0} s",
        megabytes(&folder.0.join(DATA_FILE)),
        began.elapsed().as_secs_f64()
    ));
}

fn megabytes(file: &Path) -> u64 {
    std::fs::metadata(file).map_or(0, |file| file.len()) / 1_000_000
}

/// One of the two services, and what was measured of it.
struct Side {
    service: Server,
    count: usize,
    reads: Times,
    sales: Times,
    work: Series,
}

impl Side {
    fn new(service: Server, count: usize) -> Side {
        let (reads, sales) = (Times(Vec::new()), Times(Vec::new()));
        let work = Series::default();
        Side {
            service,
            count,
            reads,
            sales,
            work,
        }
    }

    fn ask(&mut self, signed: &Signed, repetition: usize) {
        let (runtime, requests) = (runtime(), read_requests(self.count));
        let first = repetition * SALES;
        let sales = (first..first + SALES)
            .map(|number| access_request(SHORT.url, Some(&signed.header(number))));
        let address = &self.service.ready;
        self.reads
            .add(runtime.block_on(timed(address, requests.clone())));
        self.sales.add(runtime.block_on(timed(address, sales)));
        // What reading costs of the processor, with many readers at once.
        let before = self.service.cpu();
        let address = &self.service.ready;
        runtime.block_on(send_all(address, Arc::new(requests), AT_ONCE, READS, "200"));
        self.work.add(self.service.cpu() - before, READS);
    }
}

/// One client's.
fn runtime() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().expect("a runtime")
}

/// Requests for reports all over the file.
fn read_requests(count: usize) -> Vec<Vec<u8>> {
    let request = |number: usize| {
        let id = report_id(number * 7_919 % count);
        format!("GET /v1/proof-pack/reports/{id} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").into_bytes()
    };
    (0..READS).map(request).collect()
}

/// What a backup costs those who read and buy meanwhile, at an even load: while it reads, nothing that is let go of in
/// the data file can be used again, so that with as many sales as there can be a large file would grow by gigabytes.
fn backup(service: &Server, folder: &Folder, signed: &Signed, count: usize) {
    let first = AtomicUsize::new(REPETITIONS * SALES);
    let calm = || std::thread::sleep(CALM_TIME);
    let (mut reads, mut sales, ()) = load(&service.ready, signed, &first, count, calm);
    let before = megabytes(&folder.0.join(DATA_FILE));
    let began = Instant::now();
    let (busy_reads, busy_sales, done) =
        load(&service.ready, signed, &first, count, || back_up(&folder.0));
    assert!(done.is_ok_and(|done| done.success()), "a backup");
    let took = began.elapsed().as_secs_f64();
    let (more_reads, more_sales, ()) = load(&service.ready, signed, &first, count, calm);
    reads.add(more_reads);
    sales.add(more_sales);
    say(&format!(
        "A backup under load: {took:.0} s with its verification, {} MB; the data file has {} MB then, {before} before",
        megabytes(&folder.0.join(COPY)),
        megabytes(&folder.0.join(DATA_FILE)),
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
        .args(["-n", "10"])
        .arg(std::env::current_exe()?)
        .arg(BACKUP)
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
        let requests = requests.inspect(|_| std::thread::sleep(READ_EVERY));
        runtime().block_on(timed(address, requests.take_while(|_| goes_on())))
    };
    let buy = || {
        let number = || next.fetch_add(1, Ordering::Relaxed);
        let request = || access_request(SHORT.url, Some(&signed.header(number())));
        let requests = std::iter::repeat_with(request);
        let requests = requests.inspect(|_| std::thread::sleep(SALE_EVERY));
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

/// `fill FIRST END`: these reports with their payments, as if they had been sold this minute. `die`: end as a crash
/// does.
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
            tables.put_payment(PaymentKey(payment), &past(payment, now))?;
            tables.put_blob(record.document, &document, until)?;
            tables.put_blob(record.source, source, until)?;
            tables.put_report(report_id(number), &record)?;
            tables.release_report(PaymentKey(payment), "0xab", until)?;
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
        payment: PaymentKey(payment),
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
