//! What a purchase of a cached page costs and how many there are in a second, for short and long pages, many buyers
//! and one, with an empty book and with a million past payments in it.
//!
//! Three things are measured in the same run to compare with: the two calls of the facilitator alone, by the same client
//! and as many at once; the store's limit, which is the two durable commits of a purchase and nothing else; the limit of
//! HTTP, which is the service's cheapest answer. The facilitator runs in a process of its own, whose time does not
//! count; it believes every signature.
//!
//! With `-- --peer PROGRAM` (benches/peer) x402-axum sells the same page for the same payments by the same facilitator.
//! With `-- --profile` there are only purchases of 4 KB by many buyers, and the time of their service's threads: for
//! who looks for where it goes.

#[path = "harness/ask.rs"]
mod ask;
mod harness;
#[path = "harness/shop.rs"]
mod shop;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};
use tokio::task::JoinSet;

use context402::appliance::Appliance;
use context402::config::Config;
use context402::domain::keys::PaymentKey;
use context402::domain::level::Level;
use context402::domain::tier::Tier;
use context402::outside::clock::Clock;
use context402::outside::facilitator::{
    Attempt, Facilitator, FacilitatorAuth, FacilitatorSettings, Settlement, Verification,
};
use context402::state::offers::Offers;
use context402::store::{self, DueKind};
use context402::x402::proof::PaymentProof;
use context402::x402::wire::WrittenRequirements;

use ask::one_answer;
use harness::{
    AT_ONCE, Folder, Series, Server, child, config, obey, runtime, say, say_machine, send_all,
    serve,
};
use shop::{LONG, Page, SHORT, Signed, access_request, facilitator, keep_pages, past};

/// Short and many: the machine's own speed changes from second to second.
const PURCHASES: usize = 1_000;
const REPETITIONS: usize = 15;
const CHALLENGES: usize = 5_000;
/// Repetitions of a profile.
const PROFILED: usize = 30;
/// One buyer waits for each answer.
const PURCHASES_OF_ONE: usize = 200;
const PAST_PAYMENTS: usize = 1_000_000;
/// Past payments that are written in one transaction.
const PAST_AT_ONCE: usize = 20_000;
const GOAL_US: f64 = 125.0;
/// With the facilitator's calls and all that is done later.
const LIFE_GOAL_US: f64 = 200.0;
/// Longer than an answer is given again.
const PASSED_SECONDS: u64 = 1_000;

/// The program named by `--peer`.
fn peer() -> Option<String> {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--peer");
    arguments.nth(1)
}

fn main() {
    match child() {
        None if std::env::args().any(|argument| argument == "--profile") => profile(),
        None => compare(),
        Some((role, arguments)) => match role.as_str() {
            "service" => serve(
                &arguments[0],
                &arguments[1],
                clock_that_can_jump(),
                keep_pages,
                obeyed,
            ),
            "calls" => calls(&arguments[0], &arguments[1]),
            "store" => commits(&arguments[0]),
            _ => facilitator(),
        },
    }
}

/// The servers of one run, and how many payments were signed so far: each has a nonce of its own.
struct Run {
    runtime: tokio::runtime::Runtime,
    service: Server,
    calls: Server,
    store: Server,
    peer: Option<Server>,
    facilitator: Server,
    signed: Signed,
    spent: usize,
}

/// What one thing took: CPU time of its process and time on the clock, for each.
#[derive(Default)]
struct Took {
    cpu: Series,
    wall: Series,
}

/// Purchases of 4 KB alone.
fn profile() {
    let folder = Folder::new("sale");
    let mut run = Run::start(&folder);
    run.purchases(SHORT, AT_ONCE, PURCHASES);
    let (mut short, before) = (Took::default(), threads(&run.service.order("threads")));
    for _ in 0..PROFILED {
        short.add(run.purchases(SHORT, AT_ONCE, PURCHASES));
    }
    let after = threads(&run.service.order("threads"));
    say_machine();
    short.cpu.show("a purchase of 4 KB", "µs");
    short.show_rate("purchases of 4 KB");
    let sales = (PROFILED * PURCHASES) as f64;
    for (name, us) in after {
        let us = (us - before.get(&name).copied().unwrap_or_default()) / sales;
        say(&format!("{name:40} {us:10.2} µs for each"));
    }
    let before = run.service.cpu();
    let looked: usize = run.service.order("pass").parse().expect("a number");
    let afterwards = (run.service.cpu() - before).as_secs_f64() * 1e6 / looked as f64;
    say(&format!("looked at later: {afterwards:.1} µs for each"));
}

fn compare() {
    let folder = Folder::new("sale");
    let mut run = Run::start(&folder);
    run.peer = peer().map(|program| run.start_peer(&program, &folder));
    let (mut short, mut long, mut one) = (Took::default(), Took::default(), Took::default());
    let (mut calls, mut commits, mut answers) = (Took::default(), Took::default(), Took::default());
    let (mut challenges, mut of_peer) = (Took::default(), [Took::default(), Took::default()]);
    for repetition in 0..=REPETITIONS {
        let took = [
            run.purchases(SHORT, AT_ONCE, PURCHASES),
            run.purchases(LONG, AT_ONCE, PURCHASES),
            run.purchases(SHORT, 1, PURCHASES_OF_ONE),
            of_child(&mut run.calls, "call"),
            of_child(&mut run.store, "commit"),
            run.answers(),
            run.challenges(),
        ];
        let peer = run.of_peer();
        // The first is for warming up.
        if repetition > 0 {
            let kinds = [
                &mut short,
                &mut long,
                &mut one,
                &mut calls,
                &mut commits,
                &mut answers,
                &mut challenges,
            ];
            for (kind, took) in kinds.into_iter().zip(took) {
                kind.add(took);
            }
            for (kind, took) in of_peer.iter_mut().zip(peer.into_iter().flatten()) {
                kind.add(took);
            }
        }
    }
    say_machine();
    say(&format!(
        "Paid answers of a cached page, {AT_ONCE} buyers unless it says one, {REPETITIONS} repetitions of {PURCHASES}: CPU \
         of the process for each, median (middle half, least)"
    ));
    short.cpu.show("a purchase of 4 KB", "µs");
    long.cpu.show("a purchase of 32 KB", "µs");
    one.cpu.show("a purchase of 4 KB, one buyer", "µs");
    calls.cpu.show("verify and settle alone", "µs");
    let own = short.cpu.with(&calls.cpu, |sale, calls| sale - calls);
    own.show(&format!("the sale of 4 KB itself (goal {GOAL_US})"), "µs");
    challenges.cpu.show("an unpaid challenge", "µs");
    if run.peer.is_some() {
        let [purchase, challenge] = &of_peer;
        purchase
            .cpu
            .show("x402-axum: the same purchase of 4 KB", "µs");
        challenge.cpu.show("x402-axum: its unpaid challenge", "µs");
        let beside =
            |ours: &Took, theirs: &Took| ours.cpu.with(&theirs.cpu, |one, other| one / other);
        beside(&short, purchase).show("our purchase beside x402-axum's", "×");
        beside(&challenges, challenge).show("our challenge beside x402-axum's (goal 1)", "×");
    }
    say("How many in a second");
    if run.peer.is_some() {
        of_peer[0].show_rate("x402-axum: purchases of 4 KB");
    }
    short.show_rate("purchases of 4 KB");
    long.show_rate("purchases of 32 KB");
    one.show_rate("purchases of 4 KB, one buyer");
    commits.show_rate("twice a durable commit, the store alone");
    answers.show_rate("cheap answers, HTTP alone");
    let slower = short
        .wall
        .with(&commits.wall, |sale, commits| sale / commits);
    slower.show("a purchase's time beside its commits' (goal 2)", "×");

    // Until here nothing was looked at again.
    let before = run.service.cpu();
    let sales: usize = run.service.order("pass").parse().expect("a number");
    let afterwards = (run.service.cpu() - before).as_secs_f64() * 1e6 / sales as f64;
    say(&format!(
        "After the sale, {sales} of them looked at 15 minutes later: {afterwards:.1} µs of CPU for each"
    ));
    short
        .cpu
        .with(&short.cpu, |sale, _| sale + afterwards)
        .show(
            &format!("a purchase of 4 KB over its whole life (goal {LIFE_GOAL_US})"),
            "µs",
        );

    let written = run.service.order(&format!("fill {PAST_PAYMENTS}"));
    let mut late = Took::default();
    for repetition in 0..=REPETITIONS {
        let took = run.purchases(SHORT, AT_ONCE, PURCHASES);
        if repetition > 0 {
            late.add(took);
        }
    }
    say(&format!("With {written} past payments in the file"));
    late.cpu.show("a purchase of 4 KB", "µs");
    late.show_rate("purchases of 4 KB");
    let slower = late.wall.with(&short.wall, |late, early| late / early);
    slower.show("its time beside that with none (goal 1)", "×");
}

impl Run {
    fn start(folder: &Folder) -> Run {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let facilitator = Server::start("facilitator", folder, &[]);
        let facilitator_url = format!("http://{}", facilitator.ready);
        Run {
            runtime,
            service: Server::start("service", folder, &[folder.text(), &facilitator_url]),
            calls: Server::start("calls", folder, &[folder.text(), &facilitator_url]),
            store: Server::start("store", folder, &[folder.text()]),
            peer: None,
            signed: Signed::new(&config(&folder.0, &facilitator_url), Clock::System),
            spent: 0,
            facilitator,
        }
    }

    fn purchases(
        &mut self,
        page: Page,
        at_once: usize,
        count: usize,
    ) -> (Duration, Duration, usize) {
        let first = self.spent;
        self.spent += count;
        let headers = (first..self.spent).map(|number| self.signed.header(number));
        let requests = headers
            .map(|header| access_request(page.url, Some(&header)))
            .collect();
        self.requests(requests, at_once, count)
    }

    fn answers(&mut self) -> (Duration, Duration, usize) {
        let request = b"GET /robots.txt HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".to_vec();
        self.requests(vec![request], AT_ONCE, PURCHASES)
    }

    fn challenges(&mut self) -> (Duration, Duration, usize) {
        let request = Arc::new(vec![access_request(SHORT.url, None)]);
        let count = CHALLENGES;
        sent(
            &mut self.service,
            &self.runtime,
            request,
            AT_ONCE,
            count,
            "402",
        )
    }

    /// It gives the page as the service does, byte for byte.
    fn start_peer(&mut self, program: &str, folder: &Folder) -> Server {
        let facilitator_url = format!("http://{}", self.facilitator.ready);
        let header = self.signed.header(self.spent);
        self.spent += 1;
        let request = access_request(SHORT.url, Some(&header));
        let answer = self
            .runtime
            .block_on(one_answer(&self.service.ready, &request));
        let body = answer.windows(4).position(|window| window == b"\r\n\r\n");
        let page = folder.0.join("page.json");
        std::fs::write(&page, &answer[body.expect("a head") + 4..]).expect("a file");
        let requirements = folder.0.join("requirements.json");
        std::fs::write(
            &requirements,
            required(&config(&folder.0, &facilitator_url)),
        )
        .expect("a file");
        let mut command = Command::new(program);
        command.arg(requirements).arg(page).arg(&facilitator_url);
        Server::run(command, &folder.0.join("peer.log"))
    }

    /// Purchases and challenges of the peer.
    fn of_peer(&mut self) -> Option<[(Duration, Duration, usize); 2]> {
        let peer = self.peer.as_mut()?;
        let first = self.spent;
        self.spent += PURCHASES;
        let headers = (first..self.spent).map(|number| self.signed.header(number));
        let paid = headers.map(|header| access_request(SHORT.url, Some(&header)));
        let unpaid = vec![access_request(SHORT.url, None)];
        let mut sent = |requests, count, status| {
            sent(
                peer,
                &self.runtime,
                Arc::new(requests),
                AT_ONCE,
                count,
                status,
            )
        };
        Some([
            sent(paid.collect(), PURCHASES, "200"),
            sent(unpaid, CHALLENGES, "402"),
        ])
    }

    fn requests(
        &mut self,
        requests: Vec<Vec<u8>>,
        at_once: usize,
        count: usize,
    ) -> (Duration, Duration, usize) {
        let requests = Arc::new(requests);
        sent(
            &mut self.service,
            &self.runtime,
            requests,
            at_once,
            count,
            "200",
        )
    }
}

/// Sends so many requests; every answer must have this status.
fn sent(
    server: &mut Server,
    runtime: &tokio::runtime::Runtime,
    requests: Arc<Vec<Vec<u8>>>,
    at_once: usize,
    count: usize,
    status: &'static str,
) -> (Duration, Duration, usize) {
    let (before, began) = (server.cpu(), Instant::now());
    runtime.block_on(send_all(&server.ready, requests, at_once, count, status));
    let wall = began.elapsed();
    (server.cpu() - before, wall, count)
}

/// What a purchase requires, as JSON.
fn required(config: &Config) -> Vec<u8> {
    let offers = Offers::new(config, None, Vec::new()).expect("offers");
    let offer = offers.level(Level::Tier(Tier::Cached));
    offer.requirements.json().as_bytes().to_vec()
}

/// A child does its thing as often as there are purchases.
fn of_child(server: &mut Server, order: &str) -> (Duration, Duration, usize) {
    let (before, began) = (server.cpu(), Instant::now());
    server.order(order);
    let wall = began.elapsed();
    (server.cpu() - before, wall, PURCHASES)
}

impl Took {
    fn add(&mut self, (cpu, wall, count): (Duration, Duration, usize)) {
        self.cpu.add(cpu, count);
        self.wall.add(wall, count);
    }

    fn show_rate(&self, name: &str) {
        let rate = self.wall.with(&self.wall, |us, _| 1e6 / us);
        rate.show(name, "/s");
    }
}

/// It goes as the machine's does, so that the rows of the schedule lie as those of a real service: by the second.
fn clock_that_can_jump() -> Clock {
    let clock = Clock::manual(Clock::System.now());
    if let Clock::Manual(now) = clock.clone() {
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(Duration::from_secs(1));
                now.fetch_add(1, Ordering::SeqCst);
            }
        });
    }
    clock
}

/// What `threads` was answered, by the threads' names.
fn threads(answer: &str) -> BTreeMap<String, f64> {
    serde_json::from_str(answer).expect("numbers by names")
}

/// The time in microseconds that the threads of this process have run, those of one name together.
fn threads_of_this_process() -> String {
    let mut ran = BTreeMap::<String, f64>::new();
    for task in std::fs::read_dir("/proc/self/task")
        .expect("threads")
        .flatten()
    {
        let read = |file| std::fs::read_to_string(task.path().join(file)).unwrap_or_default();
        let nanoseconds = read("schedstat")
            .split(' ')
            .next()
            .and_then(|ran| ran.parse().ok());
        let name = read("comm").trim_end().to_owned();
        *ran.entry(name).or_default() += nanoseconds.unwrap_or(0.0) / 1e3;
    }
    serde_json::to_string(&ran).expect("JSON")
}

/// `threads`: see there. `pass`: time goes on until every sale is looked at again; gives how many were. `fill N`: see there.
async fn obeyed(appliance: &Appliance, line: &str) -> String {
    match line {
        "threads" => return threads_of_this_process(),
        "pass" => {}
        _ => return fill(appliance, line).await,
    }
    let app = &appliance.app;
    let due = || async {
        let until = app.now().plus(PASSED_SECONDS);
        let due = app
            .store
            .read(move |snapshot| snapshot.due(DueKind::Payment, until, usize::MAX));
        due.await.expect("the store is open").len()
    };
    let sales = due().await;
    let Clock::Manual(now) = &app.outside.clock else {
        unreachable!("the service was started with one");
    };
    now.fetch_add(PASSED_SECONDS, Ordering::SeqCst);
    let left = || async {
        let (store, now) = (&app.store, app.now());
        let due = store.read(move |snapshot| snapshot.due(DueKind::Payment, now, 1));
        due.await.expect("the store is open").len()
    };
    while left().await > 0 {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    now.fetch_sub(PASSED_SECONDS, Ordering::SeqCst);
    sales.to_string()
}

/// `fill N`: so many payments that ended long ago, as the book keeps them.
async fn fill(appliance: &Appliance, line: &str) -> String {
    let count: usize = line
        .strip_prefix("fill ")
        .and_then(|count| count.parse().ok())
        .unwrap_or_else(|| panic!("unknown order {line}"));
    let now = appliance.app.now();
    for first in (0..count).step_by(PAST_AT_ONCE) {
        let write = appliance.app.store.write(move |tables| {
            for number in first..(first + PAST_AT_ONCE).min(count) {
                let key: [u8; 32] =
                    Sha256::digest([&b"past"[..], &number.to_be_bytes()].concat()).into();
                tables.put_payment(PaymentKey(key), &past(key, now))?;
            }
            Ok(())
        });
        write.await.expect("they are stored");
    }
    count.to_string()
}

/// The store's limit: of each purchase the two commits, each of a small record, as many at once as there are buyers.
fn commits(folder: &str) {
    let path = Path::new(folder).join("commits.redb");
    let config = config(folder.as_ref(), "sandbox");
    let settings = store::Settings {
        cache_bytes: config.limits.store_cache_bytes,
        pages_bytes_max: 0,
        unpaid_bytes_max: 64 * 1024 * 1024,
        unsettled_bytes_max: 64 * 1024 * 1024,
        sales_free_bytes_min: 0,
        free_bytes_min: 0,
    };
    let opened = settings.create(&path).expect("a new file");
    let runtime = runtime(context402::app::blocking_threads(&config));
    let now = Clock::System.now();
    let mut done = 0;
    obey("ready", |_| {
        let first = done;
        done += PURCHASES;
        runtime.block_on(async {
            let mut tasks = JoinSet::new();
            for buyer in 0..AT_ONCE {
                let store = opened.store.clone();
                tasks.spawn(async move {
                    for number in (first + buyer..first + PURCHASES).step_by(AT_ONCE) {
                        let key: [u8; 32] = Sha256::digest(number.to_be_bytes()).into();
                        for _ in 0..2 {
                            let write = store.write(move |tables| {
                                tables.put_payment(PaymentKey(key), &past(key, now))
                            });
                            write.await.expect("it is stored");
                        }
                    }
                });
            }
            while let Some(task) = tasks.join_next().await {
                task.expect("no commit fails");
            }
        });
        "done".to_owned()
    });
}

/// The facilitator's calls of as many purchases, and nothing else. The payments were read before.
fn calls(folder: &str, facilitator_url: &str) {
    let config = config(folder.as_ref(), facilitator_url);
    let settings = FacilitatorSettings {
        base_url: facilitator_url.to_owned(),
        auth: FacilitatorAuth::None,
        connect_timeout: Duration::from_secs(5),
        verify_timeout: config.payment.verify_time_max,
        settle_timeout: config.payment.settle_time_max,
        calls_max: config.payment.calls_max,
        passes_on: context402::outside::facilitator::PassesOn::Everything,
        ca_pem: None,
    };
    let facilitator = Facilitator::new(settings).expect("a client");
    let offer = Offers::new(&config, None, Vec::new())
        .expect("offers")
        .level(Level::Tier(Tier::Cached))
        .requirements
        .clone();
    let signed = Signed::new(&config, Clock::System);
    let read = |number| PaymentProof::decode(&signed.header(number)).expect("our own payment");
    let proofs: Arc<Vec<PaymentProof>> = Arc::new((0..PURCHASES).map(read).collect());
    let runtime = runtime(context402::app::blocking_threads(&config));
    obey("ready", |_| {
        runtime.block_on(call_all(&facilitator, &proofs, &offer));
        "done".to_owned()
    });
}

async fn call_all(
    facilitator: &Facilitator,
    proofs: &Arc<Vec<PaymentProof>>,
    offer: &WrittenRequirements,
) {
    let mut tasks = JoinSet::new();
    for first in 0..AT_ONCE {
        let (facilitator, proofs, offer) = (facilitator.clone(), proofs.clone(), offer.clone());
        tasks.spawn(async move {
            for proof in proofs.iter().skip(first).step_by(AT_ONCE) {
                let now = Clock::System.now();
                let request = facilitator.request(proof, &offer);
                let verdict = facilitator.verify(&request, now).await;
                assert!(
                    matches!(verdict, Ok(Verification::Valid { .. })),
                    "{verdict:?}"
                );
                let settlement = facilitator.settle(&request, Attempt::First, now).await;
                assert!(
                    matches!(settlement, Settlement::Success { .. }),
                    "{settlement:?}"
                );
            }
        });
    }
    while let Some(task) = tasks.join_next().await {
        task.expect("no call fails");
    }
}
