//! The service from its start to its end: the true application over a disk in memory, without sockets. A loss of power
//! ends it at any operation of its disk; anyone who asked then has no answer.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use tokio::sync::Semaphore;

use crate::app::{App, Shared};
use crate::config::{Config, Resolved};
use crate::domain::evm::Network;
use crate::domain::keys::PaymentKey;
use crate::domain::payment::Payment;
use crate::domain::time::UnixSeconds;
use crate::flows::content::sample::sample_page;
use crate::flows::operations::{due, recover};
use crate::flows::quotes::offers;
use crate::flows::sale::{payments, sent};
use crate::http::{Call, Method, Peer, Query, Reply};
use crate::outside::Outside;
use crate::outside::chain::{Chain, ChainSettings};
use crate::outside::clock::Clock;
use crate::outside::facilitator::{Facilitator, FacilitatorAuth, FacilitatorSettings, PassesOn};
use crate::outside::mailer::Mailer;
use crate::outside::render::{Renderer, RendererSettings, Workers};
use crate::outside::robots::RobotsFiles;
use crate::routes::ROUTES;
use crate::state::sample::SamplePage;
use crate::store::{Due, DueKind, Settings, StoreError};
use crate::tests::dice::Dice;
use crate::tests::disk::{Disk, Faults};
use crate::tests::simulation::world::{Authorization, DELAY, World};

pub(super) const SETTINGS: Settings = Settings {
    cache_bytes: 1024 * 1024,
    pages_bytes_max: 1024 * 1024,
    unpaid_bytes_max: 64 * 1024 * 1024,
    unsettled_bytes_max: 64 * 1024 * 1024,
    sales_free_bytes_min: 0,
    free_bytes_min: 0,
};

/// Nobody is ever called there.
const NOWHERE: &str = "http://127.0.0.1:9";
const TIME_MAX: Duration = Duration::from_secs(30);

/// A service that runs, or has lost its power and does not know it.
#[derive(Debug)]
pub(super) struct Service {
    pub(super) app: Shared,
    disk: Disk,
    clock: Clock,
    world: Arc<World>,
}

/// The settings of a history.
pub(super) fn config(is_patient: bool) -> Config {
    let mut resolved = Resolved::defaults();
    resolved.set("base_url", "http://127.0.0.1:4020");
    // What reports say is no matter here, and the model is most of their time.
    resolved.set("evidence.model", "false");
    resolved.set(
        "payment.pay_to",
        "0x4020402040204020402040204020402040204020",
    );
    resolved.set("payment.facilitator_url", NOWHERE);
    resolved.set("chain.rpc_url", NOWHERE);
    resolved.set_map(
        "lab.hosts",
        vec![(
            "news.sample-site.org".to_owned(),
            "93.184.216.34@127.0.0.1:9".to_owned(),
        )],
    );
    let mut config = Config::from_resolved(&resolved).expect("a good configuration");
    if !is_patient {
        // The buyer is answered before any settlement has ended.
        config.payment.settle_wait_max = Duration::ZERO;
    }
    config
}

impl Service {
    /// Starts over a file that was found, at the world's time plus `ahead`. `Err` when the power fails meanwhile, with
    /// what is found then.
    pub(super) async fn start(
        world: &Arc<World>,
        config: &Config,
        file: Vec<u8>,
        (faults, dice): (Faults, Dice),
        ahead: i64,
    ) -> Result<Service, Vec<u8>> {
        let disk = Disk::of(file, faults, dice);
        let clock = Clock::manual(shifted(world.truth().now, ahead));
        let opened = SETTINGS.open_on(disk.clone());
        if disk.is_cut() {
            return Err(disk.found());
        }
        let store = match opened {
            Ok(opened) => opened.store,
            Err(error) => panic!("the file that was found cannot be opened: {error}"),
        };
        let former = offers::former_terms(&store).await.expect("terms are read");
        let (mut outside, sample) = parts(config);
        outside.web.replace(world.web());
        let web = outside.web.clone();
        let outside = Outside {
            facilitator: Facilitator::replaced(facilitator_settings(), world.facilitator(&disk)),
            chain: Some(Chain::replaced(chain_settings(), world.chain(&disk))),
            mailer: Mailer::Off,
            robots: RobotsFiles::new(outside.web.clone(), clock.clone()),
            clock: clock.clone(),
            // An operator may take it away between two starts.
            renderer: world
                .has_browser()
                .then(|| Renderer::replaced(renderer_settings(), web, world.renderer(&disk))),
            ..outside
        };
        let parts = (outside, sample, None);
        let app =
            App::of(config.clone(), ROUTES, store, parts, former).expect("the parts fit together");
        let service = Service {
            app: Arc::new(app),
            disk,
            clock,
            world: world.clone(),
        };
        let begun = async {
            offers::note_terms(&service.app).await?;
            recover::recover(&service.app).await
        };
        match begun.await {
            _ if service.disk.is_cut() => Err(service.disk.found()),
            Ok(_) => Ok(service),
            Err(error) => panic!("recovery failed: {error}"),
        }
    }

    /// Several requests at once; `None` for those whose buyer has no answer: it left or lost it, or the power failed.
    pub(super) async fn ask(&self, requests: Vec<Request>) -> Vec<Option<Reply>> {
        let running: Vec<_> = requests
            .into_iter()
            .map(|request| {
                let row = ROUTES
                    .iter()
                    .find(|row| row.method == Method::Post && row.path == request.path)
                    .expect("a row of the table");
                let (waiting, reading) = (request.waiting.clone(), request.reading);
                let call = request.call(row.path);
                let (app, disk, world) = (self.app.clone(), self.disk.clone(), self.world.clone());
                tokio::spawn(async move {
                    let mut reply = (row.handler)(app, call).await;
                    if reading == Reading::Late {
                        tokio::time::sleep(DELAY).await;
                    }
                    let has_left = waiting.is_some_and(|waiting| waiting.upgrade().is_none());
                    if disk.is_cut() || has_left || reading == Reading::Never {
                        return None;
                    }
                    world.truth().note_received(&reply);
                    if let Some(on_sent) = reply.on_sent.take() {
                        on_sent.call();
                    }
                    Some(reply)
                })
            })
            .collect();
        let mut replies = Vec::with_capacity(running.len());
        for run in running {
            replies.push(run.await.expect("no handler panics"));
        }
        replies
    }

    /// Works off what is due, and the end of everything that goes on behind the buyers' backs.
    pub(super) async fn work_off(&self) {
        let places = Arc::new(Semaphore::new(4));
        let mut worked = Ok(true);
        while let Ok(true) = worked {
            worked = due::work_off(&self.app, &places).await;
        }
        assert!(
            worked.is_ok() || self.disk.is_cut(),
            "what is due cannot be worked off: {worked:?}"
        );
        self.rest().await;
    }

    /// Until nothing goes on any more.
    pub(super) async fn rest(&self) {
        while !self.app.tasks.is_empty() {
            tokio::time::sleep(Duration::from_micros(200)).await;
        }
    }

    pub(super) fn is_cut(&self) -> bool {
        self.disk.is_cut()
    }

    /// The power will fail after so many operations of the disk.
    pub(super) fn lose_power_after(&self, operations: u64) {
        self.disk.set_faults(Faults {
            cut_at: Some(operations),
            ..Faults::default()
        });
    }

    pub(super) fn set_clock(&self, now: UnixSeconds) {
        match &self.clock {
            Clock::Manual(clock) => clock.store(now.0, Ordering::SeqCst),
            Clock::System => unreachable!("the simulation has a clock of its own"),
        }
    }

    /// Loses its power now, and gives what is found.
    pub(super) async fn lose_power(self) -> Vec<u8> {
        self.disk.cut();
        self.rest().await;
        self.disk.found()
    }

    /// Ends in order, and gives the file.
    pub(super) async fn stop(self) -> Vec<u8> {
        self.rest().await;
        let _ = sent::write_down(&self.app).await;
        let closed = self.app.store.clone().close().await;
        match self.disk.is_cut() {
            true => self.disk.found(),
            false => {
                closed.expect("the file is closed");
                self.disk.live()
            }
        }
    }

    pub(super) async fn payment(&self, authorization: Authorization) -> Option<Payment> {
        let offer = &self.app.offers.of(&sample_purchase()).requirements;
        let key = payments::payment_key(offer.token(), authorization.0, authorization.1);
        let read = self.app.store.read(move |snapshot| snapshot.payment(key));
        read.await.ok().flatten()
    }

    /// All payments, and what is due for them.
    pub(super) async fn payments(
        &self,
    ) -> Result<(HashMap<PaymentKey, Payment>, Vec<Due>), StoreError> {
        let read = self.app.store.read(|snapshot| {
            let mut found = HashMap::new();
            snapshot.payments(|key, payment| {
                found.insert(key, payment);
                Ok(())
            })?;
            let due = snapshot.due(DueKind::Payment, UnixSeconds(u64::MAX), usize::MAX)?;
            Ok((found, due))
        });
        read.await
    }
}

/// What takes long to make and is the same in every history.
fn parts(config: &Config) -> (Outside, SamplePage) {
    static PARTS: OnceLock<(Outside, SamplePage)> = OnceLock::new();
    PARTS
        .get_or_init(|| {
            let opened = SETTINGS.open_on(Disk::new()).expect("a new file");
            let (clock, store) = (Clock::manual(UnixSeconds(0)), opened.store);
            let app = App::new(
                config.clone(),
                ROUTES,
                store,
                clock,
                NOWHERE,
                Vec::new(),
                sample_page,
            )
            .expect("the parts fit together");
            (app.outside, app.sample)
        })
        .clone()
}

fn facilitator_settings() -> FacilitatorSettings {
    FacilitatorSettings {
        base_url: NOWHERE.to_owned(),
        auth: FacilitatorAuth::None,
        connect_timeout: TIME_MAX,
        verify_timeout: TIME_MAX,
        settle_timeout: TIME_MAX,
        calls_max: 16,
        passes_on: PassesOn::Everything,
        ca_pem: None,
    }
}

fn renderer_settings() -> RendererSettings {
    RendererSettings {
        browser: "auto".to_owned(),
        jit: false,
        user_agent: "simulation".to_owned(),
        time_max: TIME_MAX,
        at_once_max: 4,
        workers: Workers::Unit {
            socket: "/nowhere/worker.sock".into(),
        },
    }
}

fn chain_settings() -> ChainSettings {
    ChainSettings {
        rpc_url: NOWHERE.to_owned(),
        network: Network(8_453),
        time_max: TIME_MAX,
        confirmations: 1,
    }
}

/// Any purchase: the key of a payment does not depend on which.
fn sample_purchase() -> crate::domain::purchase::Purchase {
    use crate::domain::purchase::{Choices, ContextPurchase, Purchase};
    use crate::domain::tier::Tier;
    Purchase::Context(ContextPurchase {
        target_url: String::new(),
        tier: Tier::Fresh,
        choices: Choices::default(),
        excerpt: None,
    })
}

pub(super) fn shifted(now: UnixSeconds, ahead: i64) -> UnixSeconds {
    UnixSeconds(now.0.saturating_add_signed(ahead))
}

/// What comes of an answer on its way to a buyer who waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    AtOnce,
    Late,
    /// It is lost.
    Never,
}

/// A POST of JSON.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) path: &'static str,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: String,
    /// Alive as long as the buyer waits.
    pub(super) waiting: Option<Weak<()>>,
    pub(super) reading: Reading,
}

impl Request {
    fn call(self, pattern: &'static str) -> Call {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        for (name, value) in self.headers {
            let value = HeaderValue::from_str(&value).expect("visible ASCII");
            headers.insert(HeaderName::from_static(name), value);
        }
        Call {
            method: Method::Post,
            path: self.path.to_owned(),
            pattern,
            params: Vec::new(),
            query: Query::default(),
            headers,
            body: self.body.into(),
            peer: Peer::Network(SocketAddr::from(([203, 0, 113, 7], 4_020))),
            request_id: "req_00000000000000000000000000000402".to_owned(),
            waiting: self.waiting,
        }
    }
}
