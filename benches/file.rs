//! What a large data file costs its operator: how soon the service answers over a million payments and reports, after a
//! clean stop and after a kill; how long a backup takes, and what it costs those who are served meanwhile. Beside it the
//! same on an empty file, and the memory and the start of a service with nothing to do.

mod harness;

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use context402::domain::ids::ReportId;
use context402::domain::payment::{Payment, State};
use context402::domain::purchase::{ContextPurchase, Purchase};
use context402::domain::time::{REPORT_SECONDS, UnixSeconds};
use context402::outside::clock::Clock;
use context402::store::{ReportRecord, Settings, Store};
use sha2::{Digest as _, Sha256};

use harness::{Folder, runtime, say, say_machine};

const ROWS: usize = 1_000_000;
const ROWS_AT_ONCE: usize = 20_000;
const STARTS: usize = 5;
const CLIENTS: usize = 8;
const SAMPLE_TIME: Duration = Duration::from_secs(10);
const SETTINGS: Settings = Settings {
    cache_bytes: 64 << 20,
    pages_bytes_max: 0,
};

fn main() {
    say_machine();
    let folder = Folder::new("file");
    let (empty, full) = (folder.0.join("empty.redb"), folder.0.join("full.redb"));
    fill(&empty, 0);
    let filled = Instant::now();
    fill(&full, ROWS);
    say(&format!(
        "{ROWS} payments and reports: {} MiB, written in {:.1} s",
        bytes(&full) >> 20,
        filled.elapsed().as_secs_f64()
    ));
    for (name, file) in [("empty file", &empty), ("full file", &full)] {
        starts(name, file);
    }
    let mut calm = Vec::new();
    for (name, file) in [("empty file", &empty), ("full file", &full)] {
        let service = Service::start(file);
        say(&format!(
            "{name}, idle: {} KiB of memory",
            service.memory_kib()
        ));
        calm = sample(&service, name, || std::thread::sleep(SAMPLE_TIME));
        service.end();
    }
    let service = Service::start(&full);
    let copy = folder.0.join("copy.redb");
    let mut took = Duration::ZERO;
    let busy = sample(&service, "full file, backup under way", || {
        let begun = Instant::now();
        let mut command = service.command("backup");
        let made = command.arg(&copy).stdout(Stdio::null()).status();
        assert!(made.expect("it runs").success(), "a backup");
        took = begun.elapsed();
    });
    say(&format!(
        "the backup: {:.1} s with its verification, {} MiB; memory after it {} KiB",
        took.as_secs_f64(),
        bytes(&copy) >> 20,
        service.memory_kib()
    ));
    for ((name, calm), (_, busy)) in calm.iter().zip(&busy) {
        say(&format!(
            "{name}: {:.2} times the p99 without a backup (goal 3)",
            busy / calm
        ));
    }
    service.end();
}

fn bytes(path: &Path) -> u64 {
    std::fs::metadata(path).expect("a file").len()
}

/// A data file with so many settled payments, each with its report.
fn fill(path: &Path, rows: usize) {
    let store = SETTINGS.create(path).expect("a new file").store;
    let now = Clock::System.now();
    runtime(4).block_on(async {
        for first in (0..rows).step_by(ROWS_AT_ONCE) {
            put(&store, first, now).await;
        }
        store.close().await.expect("it closes");
    });
}

async fn put(store: &Store, first: usize, now: UnixSeconds) {
    let written = store.write(move |tables| {
        for number in first..first + ROWS_AT_ONCE {
            let key: [u8; 32] = Sha256::digest(number.to_be_bytes()).into();
            let mut id = [0; 16];
            id.copy_from_slice(&key[..16]);
            tables.put_payment(key, &payment(key, now))?;
            let end = now.plus(REPORT_SECONDS);
            tables.put_report(
                ReportId(id),
                &report(key, now),
                b"the source that all of them have",
                end,
            )?;
            tables.release_report(key, "0xab", end)?;
        }
        Ok(())
    });
    written.await.expect("they are stored");
}

fn payment(key: [u8; 32], now: UnixSeconds) -> Payment {
    let purchase = Purchase::Context(ContextPurchase {
        target_url: "https://example.com/".to_owned(),
        tier: "fresh".to_owned(),
        force_refresh: false,
    });
    let mut payer = [0; 20];
    payer.copy_from_slice(&key[..20]);
    Payment {
        payer,
        nonce: key,
        amount_units: 30_000,
        valid_before: now.0,
        payload_hash: key,
        payload: Vec::new(),
        requirements: Vec::new(),
        fingerprint: purchase.fingerprint(),
        purchase,
        identifier: None,
        attribution: None,
        state: State::Settled {
            transaction: format!("0x{}", hex::encode(key)),
            at: now.0 - 86_400,
        },
        answer: None,
        credit: None,
        redelivered: 0,
        created_at: now.0 - 86_400,
        changed_at: now.0 - 86_400,
    }
}

fn report(key: [u8; 32], now: UnixSeconds) -> ReportRecord {
    ReportRecord {
        payment: key,
        target_url: "https://example.com/".to_owned(),
        question: "Is it free?".to_owned(),
        pack: "standard".to_owned(),
        label: "supported".to_owned(),
        title: Some("A page".to_owned()),
        document: [7; 32],
        source: Sha256::digest(b"the source that all of them have").into(),
        paid: "\"mode\":\"x402\"".to_owned(),
        transaction: None,
        shared: None,
        created_at: now.0,
        expires_at: now.0 + REPORT_SECONDS,
    }
}

/// The real program over a file.
struct Service {
    child: Child,
    address: SocketAddr,
    file: PathBuf,
    /// From its start to its first answer.
    started_in: Duration,
}

impl Service {
    fn start(file: &Path) -> Service {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("bound");
        drop(listener);
        let begun = Instant::now();
        let child = command("serve", file, address)
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        while TcpStream::connect(address).is_err() {
            assert!(
                begun.elapsed() < Duration::from_secs(120),
                "it does not start"
            );
            std::thread::sleep(Duration::from_micros(500));
        }
        ask(address, &request("GET", "/health", ""));
        Service {
            child,
            address,
            file: file.to_owned(),
            started_in: begun.elapsed(),
        }
    }

    fn command(&self, name: &str) -> Command {
        command(name, &self.file, self.address)
    }

    fn memory_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().next());
        number
            .and_then(|number| number.parse().ok())
            .expect("a number")
    }

    fn end(mut self) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-TERM", &id]).status();
        assert!(sent.expect("kill runs").success());
        assert!(self.child.wait().expect("it ends").success());
    }

    fn kill(mut self) {
        self.child.kill().expect("it is killed");
        self.child.wait().expect("it ends");
    }
}

fn command(name: &str, file: &Path, address: SocketAddr) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_context402"));
    command
        .arg(name)
        .env_clear()
        .env("CONTEXT402_BASE_URL", format!("http://{address}"))
        .env("CONTEXT402_LISTEN", address.to_string())
        .env("CONTEXT402_DATA_FILE", file)
        .env(
            "CONTEXT402_PAYMENT_PAY_TO",
            "0x4020402040204020402040204020402040204020",
        )
        .env("CONTEXT402_LIMITS_QUOTES_PER_MINUTE", "0")
        .env("CONTEXT402_LIMITS_QUOTES_OF_DOMAIN_PER_MINUTE", "0")
        .env("CONTEXT402_LIMITS_FREE_PER_MINUTE", "0");
    command
}

fn starts(name: &str, file: &Path) {
    let (mut clean, mut killed) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let service = Service::start(file);
        clean.push(service.started_in);
        service.kill();
        let service = Service::start(file);
        killed.push(service.started_in);
        service.end();
    }
    for (how, mut times) in [("a clean stop", clean), ("a kill", killed)] {
        times.sort();
        say(&format!(
            "{name}, start to first answer after {how}: {:.0} ms ({:.0} to {:.0})",
            milliseconds(times[STARTS / 2]),
            milliseconds(times[0]),
            milliseconds(times[STARTS - 1])
        ));
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn request(method: &str, path: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    )
    .into_bytes()
}

fn ask(address: SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).expect("it accepts");
    stream.write_all(request).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    assert!(answer.starts_with("HTTP/1.1 20"), "{answer}");
    answer
}

/// The p99 of reads and of durable writes, as long as `meanwhile` takes.
fn sample(service: &Service, name: &str, meanwhile: impl FnOnce()) -> Vec<(&'static str, f64)> {
    let quote = request(
        "POST",
        "/v1/quotes",
        r#"{"product": "context", "target_url": "https://example.com/", "tier": "fresh"}"#,
    );
    let kept = ask(service.address, &quote);
    let id = kept
        .split("\"quote_id\":\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    let read = request("GET", &format!("/v1/quotes/{}", id.expect("an id")), "");
    let done = AtomicBool::new(false);
    let times = |request: &[u8]| {
        let mut times = Vec::new();
        while !done.load(Ordering::Relaxed) {
            let begun = Instant::now();
            ask(service.address, request);
            times.push(milliseconds(begun.elapsed()));
        }
        times
    };
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(|| times(&read))).collect();
        let writers: Vec<_> = (0..CLIENTS)
            .map(|_| scope.spawn(|| times(&quote)))
            .collect();
        meanwhile();
        done.store(true, Ordering::Relaxed);
        let all = |clients: Vec<std::thread::ScopedJoinHandle<'_, Vec<f64>>>| -> Vec<f64> {
            clients
                .into_iter()
                .flat_map(|client| client.join().expect("no panic"))
                .collect()
        };
        (reads, writes) = (all(readers), all(writers));
    });
    [("reads", reads), ("durable writes", writes)]
        .map(|(kind, mut times)| {
            times.sort_by(f64::total_cmp);
            let at = |hundredth: usize| times[(times.len() - 1) * hundredth / 100];
            say(&format!(
                "{name}, {kind}: {:.2} ms half, {:.2} ms p99, of {}",
                at(50),
                at(99),
                times.len()
            ));
            (kind, at(99))
        })
        .into()
}
