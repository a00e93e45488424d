//! What the benches share: servers in processes of their own with the CPU time that they use, the real service on
//! loopback, clients on raw sockets, and the figures. It knows nothing of what is compared.
//!
//! A bench starts itself again for every server (`child`). A child says one line when it is ready, answers a line for
//! each line that it is sent, and ends when its standard input closes: nothing is left behind, however the bench ends.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use context402::app::blocking_threads;
use context402::appliance::{Appliance, Start};
use context402::config::{Config, Resolved, log_filter};
use context402::log;
use context402::outside::clock::Clock;

/// As in the program that is published.
#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// The first argument of a child.
const CHILD: &str = "child";
/// Asks a child for its CPU time in nanoseconds.
const CPU: &str = "cpu";
/// A repetition that takes longer has failed.
const REPETITION_TIME_MAX: Duration = Duration::from_secs(20);
/// Connections, or calls, at once.
pub(crate) const AT_ONCE: usize = 64;
/// The service's data file, in its folder.
pub(crate) const DATA_FILE: &str = "bench.redb";
pub(crate) const PAY_TO: &str = "0x4020402040204020402040204020402040204020";

/// Role and arguments, when this process was started as a server.
pub(crate) fn child() -> Option<(String, Vec<String>)> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next()? != CHILD {
        return None;
    }
    Some((arguments.next()?, arguments.collect()))
}

/// The async side of a server: the threads that `context402 serve` has.
pub(crate) fn runtime(blocking_threads: usize) -> Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(blocking_threads)
        .build()
        .expect("threads")
}

/// Runs in a child: says that it is ready, then answers lines until the bench lets go.
pub(crate) fn obey(ready: &str, mut order: impl FnMut(&str) -> String) {
    say(ready);
    for line in io::stdin().lines().map_while(Result::ok) {
        match line.as_str() {
            CPU => {
                let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
                let nanoseconds =
                    i128::from(used.tv_sec) * 1_000_000_000 + i128::from(used.tv_nsec);
                say(&nanoseconds.to_string());
            }
            line => say(&order(line)),
        }
    }
}

/// A line on standard output, seen at once.
pub(crate) fn say(line: &str) {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")
        .and_then(|()| out.flush())
        .expect("standard output");
}

/// Runs in a child: the real service with its access log, on loopback, until the bench lets go.
pub(crate) fn serve(
    folder: &str,
    facilitator_url: &str,
    clock: Clock,
    prepare: impl AsyncFnOnce(&Appliance),
    order: impl AsyncFn(&Appliance, &str) -> String,
) {
    let config = config(Path::new(folder), facilitator_url);
    let log = log::start(
        log_filter("info").expect("a readable filter"),
        false,
        Clock::System,
    );
    let runtime = runtime(blocking_threads(&config));
    let start = Start {
        config,
        clock,
        create: true,
        check: false,
        listener: None,
        http_listener: None,
        egress: None,
        troubles: log.troubles(),
    };
    let appliance = runtime
        .block_on(Appliance::start(start))
        .expect("the service starts");
    runtime.block_on(prepare(&appliance));
    obey(&appliance.address.to_string(), |line| {
        runtime.block_on(order(&appliance, line))
    });
    runtime.block_on(appliance.stop());
}

/// The service's own defaults, on a free port.
pub(crate) fn config(folder: &Path, facilitator_url: &str) -> Config {
    let mut resolved = Resolved::defaults();
    // One client asks for everything. Counting it is part of what is measured.
    resolved.set("limits.unpaid_per_minute", "1000000");
    resolved.set("limits.sales_per_minute", "1000000");
    resolved.set("limits.free_per_minute", "1000000");
    resolved.set("base_url", "http://127.0.0.1:4020");
    resolved.set("listen", "127.0.0.1:0");
    resolved.set("data_file", folder.join(DATA_FILE).display().to_string());
    resolved.set("payment.pay_to", PAY_TO);
    resolved.set("payment.facilitator_url", facilitator_url);
    Config::from_resolved(&resolved).expect("a good configuration")
}

/// A server in a process of its own. It ends with this value.
#[derive(Debug)]
pub(crate) struct Server {
    process: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    /// What it said when it was ready: its address, mostly.
    pub(crate) ready: String,
}

impl Server {
    /// Starts this program again in a role. What it logs goes to a file in the folder.
    pub(crate) fn start(role: &str, folder: &Folder, arguments: &[&str]) -> Server {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args([CHILD, role]).args(arguments);
        Server::run(command, &folder.0.join(format!("{role}.log")))
    }

    /// A program that says and obeys the same lines.
    pub(crate) fn run(mut command: Command, log: &Path) -> Server {
        let log = File::create(log).expect("a log file");
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("a process");
        let orders = process.stdin.take();
        let answers = BufReader::new(process.stdout.take().expect("it is piped"));
        let mut server = Server {
            process,
            orders,
            answers,
            ready: String::new(),
        };
        server.ready = server.answer();
        server
    }

    /// Sends a line and waits for the answer.
    pub(crate) fn order(&mut self, line: &str) -> String {
        let orders = self.orders.as_mut().expect("open until it is dropped");
        writeln!(orders, "{line}").expect("it listens");
        self.answer()
    }

    /// User and system time of the whole process so far.
    pub(crate) fn cpu(&mut self) -> Duration {
        Duration::from_nanos(self.order(CPU).parse().expect("nanoseconds"))
    }

    fn answer(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("it answers");
        assert!(
            !line.is_empty(),
            "the process {} has ended; its log is in target/tmp",
            self.process.id()
        );
        line.trim_end().to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.orders.take());
        if std::thread::panicking() {
            // It may be stuck where the bench was.
            let _ = self.process.kill();
        }
        let _ = self.process.wait();
    }
}

/// A folder on the disk of `target`, gone with this value unless the bench failed.
#[derive(Debug)]
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Folder {
        let path =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    pub(crate) fn text(&self) -> &str {
        self.0.to_str().expect("a path in UTF-8")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}

/// Sends every request once, over so many connections that stay open between repetitions' requests, each waiting for
/// its answer. Every answer must have this status.
pub(crate) async fn send_all(
    address: &str,
    requests: Arc<Vec<Vec<u8>>>,
    at_once: usize,
    count: usize,
    status: &'static str,
) {
    let next = Arc::new(AtomicUsize::new(0));
    let mut clients = JoinSet::new();
    for _ in 0..at_once {
        let (address, requests, next) = (address.to_owned(), requests.clone(), next.clone());
        clients.spawn(async move {
            let mut stream = TcpStream::connect(&address).await.expect("it accepts");
            stream.set_nodelay(true).expect("a socket");
            let mut buffer = Vec::new();
            loop {
                let turn = next.fetch_add(1, Ordering::Relaxed);
                if turn >= count {
                    return;
                }
                stream
                    .write_all(&requests[turn % requests.len()])
                    .await
                    .expect("it reads");
                let length = read_message(&mut stream, &mut buffer)
                    .await
                    .expect("it answers");
                let message = &buffer[..length];
                assert_eq!(
                    message.get(9..12),
                    Some(status.as_bytes()),
                    "{}",
                    String::from_utf8_lossy(message)
                );
                buffer.drain(..length);
            }
        });
    }
    let all = async {
        while let Some(client) = clients.join_next().await {
            client.expect("no client fails");
        }
    };
    tokio::time::timeout(REPETITION_TIME_MAX, all)
        .await
        .expect("a repetition ends in time");
}

/// Reads one HTTP message with a Content-Length to the front of the buffer and gives its length; `None` at the end of
/// the stream. Far from a parser: it knows who is speaking.
pub(crate) async fn read_message(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<usize> {
    loop {
        if let Some(length) = message_length(buffer)
            && buffer.len() >= length
        {
            return Some(length);
        }
        if stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    }
}

fn message_length(buffer: &[u8]) -> Option<usize> {
    let head = buffer.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let lines = std::str::from_utf8(&buffer[..head]).ok()?.lines();
    let body = lines
        .filter_map(|line| line.split_once(": "))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .map_or(0, |(_, value)| value.parse().expect("a length"));
    Some(head + body)
}

/// The figures of one thing measured, one for each repetition, in microseconds of CPU time for each request.
#[derive(Debug, Default)]
pub(crate) struct Series(Vec<f64>);

impl Series {
    pub(crate) fn add(&mut self, used: Duration, requests: usize) {
        self.0.push(
            used.as_secs_f64() * 1e6 / f64::from(u32::try_from(requests).expect("not so many")),
        );
    }

    /// Repetition by repetition, since neighbours on the machine slow both sides alike.
    pub(crate) fn with(&self, other: &Series, combine: impl Fn(f64, f64) -> f64) -> Series {
        Series(
            self.0
                .iter()
                .zip(&other.0)
                .map(|(one, other)| combine(*one, *other))
                .collect(),
        )
    }

    /// The row of a table: median, the middle half, and the least, which neighbours have disturbed least.
    pub(crate) fn show(&self, name: &str, unit: &str) {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |quarter: usize| sorted[(sorted.len() - 1) * quarter / 4];
        say(&format!(
            "{name:<44} {:>7.2} {unit:<3} ({:.2} to {:.2}, least {:.2})",
            at(2),
            at(1),
            at(3),
            at(0)
        ));
    }
}

/// Says where and when this was measured.
pub(crate) fn say_machine() {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or("?", |(_, model)| model);
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    say(&format!(
        "{model}, {cores} cores, Linux {}, load {}, {:.0}",
        kernel.trim(),
        load.split(' ').next().unwrap_or_default(),
        jiff::Timestamp::now()
    ));
}
