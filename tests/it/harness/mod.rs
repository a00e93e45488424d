//! The whole service over real sockets, with upstreams that really listen on loopback and behave as a test wants.

pub(crate) mod ask;
pub(crate) mod buyer;
pub(crate) mod chain;
pub(crate) mod facilitator;
pub(crate) mod fake_browser;
pub(crate) mod mailbox;
#[allow(dead_code, reason = "the unit tests of name resolution use the rest")]
pub(crate) mod name_server;
pub(crate) mod process;
pub(crate) mod provider;
#[allow(
    dead_code,
    reason = "the unit tests of the upstream clients use the rest"
)]
pub(crate) mod server;
pub(crate) mod site;
pub(crate) mod tls;
pub(crate) mod wish;

use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use context402::app::Shared;
use context402::appliance::{Appliance, Start, StartError};
use context402::config::{Config, Resolved};
use context402::domain::level::Level;
use context402::domain::pack::Pack;
use context402::domain::tier::Tier;
use context402::domain::time::UnixSeconds;
use context402::flows::operations::{due, health};
use context402::outside::clock::Clock;
use context402::store::OpenError;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

pub(crate) use ask::{Answer, Ask};
pub(crate) use buyer::Wallet;
pub(crate) use chain::{Chain, End, FEED, Move, Sent, Tells};
pub(crate) use facilitator::{Facilitator, Says};
pub(crate) use mailbox::{Mailbox, Manner};
pub(crate) use process::Service;
pub(crate) use site::{Page, Site};
pub(crate) use wish::Wish;

/// Where the public would reach the service. It does not listen there: nothing may be derived from where it does.
pub(crate) const BASE_URL: &str = "http://127.0.0.1:4020";
/// The vault.
pub(crate) const PAY_TO: &str = "0x4020402040204020402040204020402040204020";
/// The token.
pub(crate) const ASSET: &str = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
pub(crate) const ACCESS: &str = "/v1/x402/access";
pub(crate) const PROOF_PACK: &str = "/v1/x402/proof-pack";
pub(crate) const RETRY: &str = "/v1/x402/retry";
/// The page of most tests.
pub(crate) const ARTICLE: &str = "http://news.sample-site.org/article";
/// A page that states facts, for reports.
pub(crate) const FERRY: &str = "http://news.sample-site.org/ferry";
/// What it states, almost in its words.
pub(crate) const FERRY_CLAIM: &str = "Children under six travel free on the harbour ferry.";
pub(crate) const STARTER: Level = Level::Tier(Tier::Starter);
pub(crate) const BASIC: Level = Level::Tier(Tier::Basic);
/// The tier of most tests.
pub(crate) const FRESH: Level = Level::Tier(Tier::Fresh);
pub(crate) const DEEP: Level = Level::Tier(Tier::Deep);
pub(crate) const QUICK: Level = Level::Pack(Pack::Quick);
pub(crate) const STANDARD: Level = Level::Pack(Pack::Standard);
/// The service's patience with a page and with a verification, in seconds.
pub(crate) const FETCH_SECONDS: u64 = 5;
pub(crate) const VERIFY_SECONDS: u64 = 3;
const BEGINNING: UnixSeconds = UnixSeconds(1_795_248_000);

/// What a level costs, in units.
pub(crate) fn price(level: Level) -> u128 {
    level.price().units().into()
}

/// The same as JSON writes it.
pub(crate) fn amount(level: Level) -> String {
    price(level).to_string()
}

/// A running service with its upstreams and its clock.
#[derive(Debug)]
pub(crate) struct Rig {
    pub(crate) address: SocketAddr,
    pub(crate) site: Site,
    pub(crate) facilitator: Facilitator,
    /// Asked only where a test has configured it.
    pub(crate) chain: Chain,
    pub(crate) folder: Folder,
    clock: Clock,
    resolved: Resolved,
    appliance: Option<Appliance>,
    runtime: Option<Runtime>,
}

impl Rig {
    pub(crate) fn start() -> Rig {
        Rig::with(|_| {})
    }

    /// With other settings than most tests need.
    pub(crate) fn with(change: impl FnOnce(&mut Resolved)) -> Rig {
        Rig::at(BEGINNING, |resolved, _| change(resolved))
    }

    /// With the chain configured, and other settings.
    pub(crate) fn on_chain(change: impl FnOnce(&mut Resolved)) -> Rig {
        Rig::at(BEGINNING, |resolved, chain| {
            resolved.set("chain.rpc_url", chain.url.clone());
            change(resolved);
        })
    }

    /// With a clock that begins now, so that real processes agree with it for a while.
    pub(crate) fn today() -> Rig {
        Rig::today_with(|_| {})
    }

    pub(crate) fn today_with(change: impl FnOnce(&mut Resolved)) -> Rig {
        Rig::at(Clock::System.now(), |resolved, _| change(resolved))
    }

    /// The same with the chain configured.
    pub(crate) fn on_chain_today() -> Rig {
        Rig::at(Clock::System.now(), |resolved, chain| {
            resolved.set("chain.rpc_url", chain.url.clone());
        })
    }

    fn at(beginning: UnixSeconds, change: impl FnOnce(&mut Resolved, &Chain)) -> Rig {
        let clock = Clock::manual(beginning);
        let (site, facilitator) = (Site::start(), Facilitator::start(clock.clone()));
        site.put(
            "/article",
            Page::html("The quiet harbour", "Boats come and go here."),
        );
        site.put("/ferry", Page::of("text/html; charset=utf-8", FERRY_PAGE));
        let folder = Folder::new();
        let mut resolved = settings(&folder, &site, &facilitator.url);
        let chain = Chain::start(clock.clone());
        resolved.set("chain.seconds_max", "3");
        change(&mut resolved, &chain);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("threads");
        let mut rig = Rig {
            address: ([127, 0, 0, 1], 0).into(),
            site,
            facilitator,
            chain,
            folder,
            clock,
            resolved,
            appliance: None,
            runtime: Some(runtime),
        };
        rig.run();
        rig
    }

    pub(crate) fn run(&mut self) {
        if let Err(error) = self.try_run(false) {
            panic!("the service does not start: {error}");
        }
    }

    /// Starts, if the data file lets it; `check` asks for all of the file to be looked at.
    pub(crate) fn try_run(&mut self, check: bool) -> Result<(), StartError> {
        let mut tries = 0;
        let appliance = loop {
            match self.started(check) {
                // A process that another test has just forked holds the file's lock until it runs its own program.
                Err(error)
                    if matches!(error.downcast_ref(), Some(OpenError::InUse(_))) && tries < 50 =>
                {
                    tries += 1;
                    std::thread::sleep(Duration::from_millis(100));
                }
                started => break started?,
            }
        };
        self.address = appliance.address;
        self.appliance = Some(appliance);
        Ok(())
    }

    fn started(&self, check: bool) -> Result<Appliance, StartError> {
        let config = Config::from_resolved(&self.resolved).expect("a good configuration");
        let clock = self.clock.clone();
        self.runtime().block_on(async move {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
            let start = Start {
                config,
                clock,
                create: true,
                check,
                listener: Some(listener),
                http_listener: None,
                egress: None,
                troubles: Arc::default(),
            };
            Appliance::start(start).await
        })
    }

    /// Stops in order and starts again over the same data file.
    pub(crate) fn restart(&mut self) {
        self.reconfigure(|_| {});
    }

    /// Starts again with other settings.
    pub(crate) fn reconfigure(&mut self, change: impl FnOnce(&mut Resolved)) {
        assert!(self.stop(), "the service stops in order");
        change(&mut self.resolved);
        self.run();
    }

    /// Lets the real program serve from the same data file for a while, and takes over again once it has ended.
    pub(crate) fn in_process(
        &mut self,
        more: &[(&str, &str)],
        while_it_runs: impl FnOnce(&Rig, Service),
    ) {
        assert!(self.stop(), "the service stops in order");
        let service = Service::start(&self.resolved, more);
        while_it_runs(self, service);
        self.run();
    }

    /// The same with a line of shell before the program.
    pub(crate) fn in_process_behind(
        &mut self,
        line: &str,
        while_it_runs: impl FnOnce(&Rig, Service),
    ) {
        assert!(self.stop(), "the service stops in order");
        let service = Service::start_behind(line, &self.resolved, &[]);
        while_it_runs(self, service);
        self.run();
    }

    /// Stops in order; tells whether everything was done in time.
    pub(crate) fn stop(&mut self) -> bool {
        let appliance = self.appliance.take().expect("a service that runs");
        self.runtime().block_on(appliance.stop())
    }

    pub(crate) fn resolved(&self) -> &Resolved {
        &self.resolved
    }

    pub(crate) fn resolved_data_file(&self) -> PathBuf {
        self.folder.path("data.redb")
    }

    fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().expect("there until the rig is gone")
    }

    pub(crate) fn app(&self) -> &Shared {
        &self.appliance.as_ref().expect("a service that runs").app
    }

    /// Where plain HTTP leads to HTTPS, if anywhere.
    pub(crate) fn http_address(&self) -> Option<SocketAddr> {
        self.appliance.as_ref()?.http_address
    }

    pub(crate) fn now(&self) -> UnixSeconds {
        self.clock.now()
    }

    /// Lets time go by, for everybody.
    pub(crate) fn pass(&self, seconds: u64) {
        match &self.clock {
            Clock::Manual(now) => now.fetch_add(seconds, Ordering::SeqCst),
            Clock::System => unreachable!("rigs have a clock of their own"),
        };
    }

    /// Sets everybody's clock back.
    pub(crate) fn go_back(&self, seconds: u64) {
        match &self.clock {
            Clock::Manual(now) => now.fetch_sub(seconds, Ordering::SeqCst),
            Clock::System => unreachable!("rigs have a clock of their own"),
        };
    }

    /// Works off what is due now, to its end.
    pub(crate) fn work_off(&self) {
        while self.pass_over_due_work() {}
    }

    /// One pass over what is due, and the end of the work that it began. Tells whether a backlog is left.
    pub(crate) fn pass_over_due_work(&self) -> bool {
        let app = self.app();
        let places = Arc::new(Semaphore::new(4));
        let worked = self.runtime().block_on(due::work_off(app, &places));
        until("the work that was begun ends", || app.tasks.is_empty());
        worked.expect("what is due can be worked off")
    }

    /// Waits for something that a test asks of the program itself.
    pub(crate) fn wait<T>(&self, asked: impl Future<Output = T>) -> T {
        self.runtime().block_on(asked)
    }

    /// Asks for the price of gas, as the background does now and then.
    pub(crate) fn probe_gas(&self) {
        // What it came to is seen in health.
        let _ = self.runtime().block_on(health::probe_gas(self.app()));
    }

    pub(crate) fn ask(&self, method: &str, target: &str) -> Ask {
        Ask::new(self.address, method, target)
    }

    pub(crate) fn get(&self, target: &str) -> Answer {
        self.ask("GET", target).send()
    }

    pub(crate) fn post(&self, target: &str) -> Ask {
        self.ask("POST", target)
    }

    /// What the operator's socket answers to a GET.
    pub(crate) fn operator(&self, target: &str) -> Answer {
        self.operate("GET", target)
    }

    /// What the operator's socket answers to a request without a body.
    pub(crate) fn operate(&self, method: &str, target: &str) -> Answer {
        operate(&self.app().config.socket, method, target).expect("the operator's socket answers")
    }

    /// An unpaid request for a page.
    pub(crate) fn order(&self, target_url: &str, tier: &str) -> Ask {
        self.post(ACCESS).json(&order(target_url, tier))
    }

    /// Signs for a tier and buys a page with it.
    pub(crate) fn buy(&self, wallet: &Wallet, target_url: &str, tier: &str) -> Answer {
        self.pay(&wallet.sign(self, tier), target_url, tier)
    }

    /// Buys a page with a signed payment.
    pub(crate) fn pay(&self, payment: &buyer::Payment, target_url: &str, tier: &str) -> Answer {
        self.order(target_url, tier).paid(&payment.header).send()
    }

    /// An unpaid request for a report.
    pub(crate) fn ask_report(&self, target_url: &str, pack: &str, question: &str) -> Ask {
        self.post(PROOF_PACK)
            .json(&report_order(target_url, pack, question))
    }

    /// Signs for a pack and buys a report with it.
    pub(crate) fn buy_report(
        &self,
        wallet: &Wallet,
        target_url: &str,
        pack: &str,
        question: &str,
    ) -> Answer {
        let payment = wallet.sign_pack(self, pack);
        self.ask_report(target_url, pack, question)
            .paid(&payment.header)
            .send()
    }

    /// Redeems a retry credit for a purchase.
    pub(crate) fn retry(&self, credit: &str, target_url: &str, tier: &str) -> Ask {
        self.post(RETRY)
            .header("X-Service-Retry-Credit", credit)
            .json(&order(target_url, tier))
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        // Not stopped in order: a test that has failed must not wait for what it left hanging.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// What an operator's socket answers to a request without a body; none if the service ends before its answer does.
pub(crate) fn operate(socket: &Path, method: &str, target: &str) -> Option<Answer> {
    let mut stream = UnixStream::connect(socket).ok()?;
    let head = format!(
        "{method} {target} HTTP/1.1\r\nHost: operator\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).ok()?;
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    Answer::parse_whole(&bytes)
}

pub(crate) fn order(target_url: &str, tier: &str) -> Value {
    json!({"target_url": target_url, "tier": tier})
}

pub(crate) fn report_order(target_url: &str, pack: &str, question: &str) -> Value {
    json!({"target_url": target_url, "pack": pack, "question": question})
}

const FERRY_PAGE: &str = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Harbour ferry fares\
    </title><meta name=\"author\" content=\"Harbour Office\"><meta property=\"article:published_time\" \
    content=\"2026-10-01\"></head><body><main><article><h1>Harbour ferry fares</h1><p>A single crossing on the \
    harbour ferry costs 4 euros for adults. Children under six travel free on the harbour ferry. Bicycles cost 2 \
    euros on every crossing.</p><h2>Times</h2><p>The first boat leaves the north quay at 06:15 and the last boat \
    leaves at 22:30 on weekdays. On Sundays the ferry does not sail before nine in the morning, and it runs once \
    an hour from then until the evening.</p></article></main></body></html>";

fn settings(folder: &Folder, site: &Site, facilitator_url: &str) -> Resolved {
    let mut resolved = Resolved::defaults();
    resolved.set("base_url", BASE_URL);
    resolved.set("data_file", folder.path("data.redb").display().to_string());
    resolved.set("payment.pay_to", PAY_TO);
    resolved.set("payment.facilitator_url", facilitator_url);
    resolved.set("payment.verify_seconds_max", VERIFY_SECONDS.to_string());
    resolved.set("payment.settle_seconds_max", "2");
    resolved.set("payment.settle_wait_seconds_max", "5");
    resolved.set("fetch.seconds_max", FETCH_SECONDS.to_string());
    resolved.set("fetch.idle_seconds_max", "2");
    resolved.set("limits.free_disk_mib_min", "1");
    resolved.set("limits.store_cache_mib", "4");
    resolved.set_map("lab.hosts", hosts(site));
    resolved
}

/// The names of the lab's web: what they resolve to, and what is dialled.
pub(crate) fn hosts(site: &Site) -> Vec<(String, String)> {
    let host = |name: &str, address: &str, dialled: SocketAddr| {
        (
            format!("{name}.sample-site.org"),
            format!("{address}@{dialled}"),
        )
    };
    let elsewhere =
        |name: &str, address: &str| (name.to_owned(), format!("{address}@{}", site.address));
    vec![
        elsewhere("www.second-site.org", "93.184.216.37"),
        elsewhere("www.third-site.org", "93.184.216.38"),
        host("news", "93.184.216.34", site.address),
        host("other", "93.184.216.35", site.address),
        host("down", "93.184.216.36", site.down),
        host("inside", "10.1.2.3", site.address),
        host("metadata", "169.254.169.254", site.address),
    ]
}

/// A folder that is gone with its test.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Folder {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("context402-it-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).expect("a folder for the test");
        Folder(folder)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl AsRef<Path> for Folder {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Cases of one test that run side by side. Most of them only wait, but each starts a service, and the more of them
/// start at once, the longer an honest upstream takes to answer.
const SIDE_BY_SIDE_MAX: usize = 6;

/// Runs the same story for each case, some of them side by side.
pub(crate) fn for_each<T: Send>(
    cases: impl IntoIterator<Item = T, IntoIter: Send>,
    story: impl Fn(T) + Sync,
) {
    let cases = Mutex::new(cases.into_iter());
    let next = || cases.lock().expect("no story runs under the lock").next();
    std::thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE_MAX {
            scope.spawn(|| {
                while let Some(case) = next() {
                    story(case);
                }
            });
        }
    });
}

/// Waits for something that another thread does. Most takes milliseconds; the limit is for a busy machine.
#[track_caller]
pub(crate) fn until(what: &str, holds: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(120);
    while !holds() {
        assert!(Instant::now() < end, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
