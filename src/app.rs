//! The state that all handlers share: configuration, store, upstreams, offers, sales in progress, metrics.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::net::IpAddr;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock, RwLock};
use std::time::{Duration, Instant};

use tokio_util::task::TaskTracker;
use url::Url;

use crate::config::{self, Config, ConfigError, FacilitatorAt, FacilitatorAuth};
use crate::domain::bundle::Bundle;
use crate::domain::endpoint::Endpoint;
use crate::domain::keys::MailKey;
use crate::domain::rate::{RateClass, Standing};
use crate::domain::refusal::Refusal;
use crate::domain::time::UnixSeconds;
use crate::http::tls::Certificates;
use crate::http::{Reply, Route};
use crate::limits::Limits;
use crate::log::Troubles;
use crate::metrics::Metrics;
use crate::outside::Outside;
use crate::outside::acme;
use crate::outside::call::{ConcurrencyLimit, KeyedLimit};
use crate::outside::chain::{
    Chain, ChainSettings, INQUIRIES_MAX, SETTLEMENT_LOOKS_MAX, TRANSACTIONS_MAX,
};
use crate::outside::chance;
use crate::outside::clock::Clock;
use crate::outside::facilitator::{self, Facilitator, FacilitatorSettings};
use crate::outside::fonts::FontShelf;
use crate::outside::hooks::{self, Hook};
use crate::outside::llm::{self, Llm, LlmSettings};
use crate::outside::mailer::{MAILS_MAX, Mailer, MailerSettings, SmtpSettings, Transport};
use crate::outside::memory::Memory;
use crate::outside::network::{ForbiddenHosts, NameServers, Network, NetworkSettings};
use crate::outside::render::{Renderer, RendererSettings, Workers};
use crate::outside::robots::{LOOKUPS_MAX as ROBOTS_LOOKUPS_MAX, RobotsFiles};
use crate::outside::web::{Web, WebSettings};
use crate::signing::Signer;
use crate::state::free_fetches::FreeFetches;
use crate::state::health::Health;
use crate::state::in_flight::InFlight;
use crate::state::markdown_alternates::Alternates;
use crate::state::offers::{Offers, Terms};
use crate::state::refusals::Refusals;
use crate::state::sample::SamplePage;
use crate::state::sellable_pages::SellablePages;
use crate::state::settlement_checks::SettlementChecks;
use crate::state::sign_in_links::SignInLinks;
use crate::state::sign_in_nonces::SignInNonces;
use crate::store::{self, Store};
use crate::sync::{lock, read_lock, write_lock};

/// A row of the route table.
pub type Row = Route<App, Endpoint>;

/// Reads the configuration again, from where the service was started with it.
pub type ReadConfig = Box<dyn Fn() -> Result<Config, ConfigError> + Send + Sync>;

/// Makes the sample page; it has to be converted, which is above this layer.
pub type MakeSample = fn(
    &Config,
    Option<&Signer>,
    UnixSeconds,
) -> Result<SamplePage, Box<dyn std::error::Error + Send + Sync>>;

/// The running service.
pub struct App {
    /// As the service was started with it. `reloaded` has the values in force of the settings in `config::live::LIVE`.
    pub config: Config,
    /// The configuration as it was read last, and the same with the console's values, which is in force.
    read: RwLock<[Arc<Config>; 2]>,
    /// One change of live settings at a time.
    pub setting_changes: ConcurrencyLimit,
    /// Where it is read again from; nowhere in tests and for the demo.
    pub read_config: OnceLock<ReadConfig>,
    /// The route table, for the documents that are made from it.
    pub rows: &'static [Row],
    pub store: Store,
    pub outside: Outside,
    /// Signs in the service's name, where a key is configured.
    pub signer: Option<Signer>,
    pub offers: Offers,
    pub in_flight: Arc<InFlight>,
    /// The mails that are being sent.
    pub mails_under_way: Mutex<HashSet<MailKey>>,
    /// Places for orders that are worked on.
    pub order_places: ConcurrencyLimit,
    pub sample: SamplePage,
    pub sellable_pages: SellablePages,
    pub limits: Limits,
    pub metrics: Metrics,
    /// Pages that were fetched for free previews today.
    pub free_fetches: FreeFetches,
    /// The last refusals of paid requests.
    pub refusals: Refusals,
    pub health: Health,
    /// The latest warnings and errors of the log.
    pub troubles: Arc<Troubles>,
    /// When a refused webhook event was last a warning, in Unix seconds.
    pub webhook_warned_at: AtomicU64,
    /// What our own HTTPS serves, where it is configured.
    pub certificates: Option<Arc<Certificates>>,
    /// One-time links to the console.
    pub sign_in_links: SignInLinks,
    /// Nonces of payers who sign in to read what they bought.
    pub sign_in_nonces: SignInNonces,
    /// How the settlements that the facilitator reports compare with the chain.
    pub settlement_checks: SettlementChecks,
    /// One copy of the data file at a time.
    pub backups: ConcurrencyLimit,
    /// Calls that go on after their buyer has been answered; a graceful stop waits for them.
    pub tasks: TaskTracker,
    /// The 402 of each level, made once by the API layer.
    pub challenges: OnceLock<Vec<Reply>>,
    /// Documents that change only with live settings, by their row's pattern and whether sales are paused, which pages say.
    documents: Mutex<HashMap<(&'static str, bool), Reply>>,
    /// The markdown of constant pages.
    pub alternates: Alternates,
    pub started: Instant,
}

/// Orders that are worked on at the same time.
const ORDERS_MAX: usize = 2;
/// Longest wait for a place to fetch; then the service is at its limits.
const FETCH_WAIT_MAX: Duration = Duration::from_secs(5);
/// Pages that one payer may have fetched at the same time.
pub const FETCHES_OF_PAYER_MAX: usize = 2;
/// Pages that are fetched from one registrable domain at the same time: we are guests there.
pub const FETCHES_OF_DOMAIN_MAX: usize = 4;
/// Sources that are examined at the same time.
const CHECKS_MAX: usize = 8;
/// The same for those who have bought a report.
const REPORT_CHECKS_MAX: usize = 4;
/// The same for everybody, and pages of ours that are converted.
const FREE_CHECKS_MAX: usize = 2;
/// Longest wait for another change of live settings.
const SETTING_CHANGE_WAIT_MAX: Duration = Duration::from_secs(5);
const FACILITATOR_CONNECT_MAX: Duration = Duration::from_secs(5);

impl App {
    /// Puts a service together. `facilitator_url` is where the configured facilitator, or the embedded one, answers.
    pub fn new(
        config: Config,
        rows: &'static [Row],
        store: Store,
        clock: Clock,
        facilitator_url: &str,
        former_terms: Vec<(Terms, UnixSeconds)>,
        make_sample: MakeSample,
    ) -> Result<App, Box<dyn std::error::Error + Send + Sync>> {
        let web = Web::new(web_settings(&config)?, network(&config, facilitator_url)?)?;
        let outside = Outside {
            facilitator: Facilitator::new(facilitator_settings(&config, facilitator_url)?)?,
            chain: chain(&config)?,
            llm: llm(&config)?,
            hook: hook(&config),
            mailer: mailer(&config)?,
            robots: RobotsFiles::new(web.clone(), clock.clone()),
            renderer: renderer(&config, &web)?,
            web,
            memory: Memory::new(config.limits.work_memory_bytes),
            fetches: ConcurrencyLimit::new(config.fetch.fetches_max, FETCH_WAIT_MAX),
            fetches_of_payer: KeyedLimit::new(
                FETCHES_OF_PAYER_MAX.min(config.fetch.fetches_max / 2),
                FETCH_WAIT_MAX,
            ),
            fetches_of_domain: KeyedLimit::new(
                FETCHES_OF_DOMAIN_MAX.min(config.fetch.fetches_max / 2),
                FETCH_WAIT_MAX,
            ),
            checks: ConcurrencyLimit::new(CHECKS_MAX, FETCH_WAIT_MAX),
            report_checks: ConcurrencyLimit::new(REPORT_CHECKS_MAX, FETCH_WAIT_MAX),
            free_checks: ConcurrencyLimit::new(FREE_CHECKS_MAX, FETCH_WAIT_MAX),
            fonts: FontShelf::look(config.bundles.font_dir.as_deref()),
            clock,
        };
        let signer = config
            .signing
            .as_ref()
            .map(|signing| Signer::new(&signing.key, &signing.former, &config.base_url));
        let sample = make_sample(&config, signer.as_ref(), outside.clock.now())?;
        App::of(config, rows, store, (outside, sample, signer), former_terms)
    }

    /// The same with upstreams, a sample page and a signer that were made before.
    pub(crate) fn of(
        config: Config,
        rows: &'static [Row],
        store: Store,
        (outside, sample, signer): (Outside, SamplePage, Option<Signer>),
        former_terms: Vec<(Terms, UnixSeconds)>,
    ) -> Result<App, Box<dyn std::error::Error + Send + Sync>> {
        let offers = Offers::new(&config, signer.as_ref(), former_terms)?;
        let limits = Limits::new(&config.limits.quotas, &outside.clock.stopwatch());
        let configured = Arc::new(config.clone());
        outside.web.block(blocked(&config));
        let certificates = config.tls.as_ref().map(|_| Arc::default());
        Ok(App {
            config,
            certificates,
            read: RwLock::new([configured.clone(), configured]),
            setting_changes: ConcurrencyLimit::new(1, SETTING_CHANGE_WAIT_MAX),
            read_config: OnceLock::new(),
            rows,
            store,
            outside,
            signer,
            offers,
            in_flight: Arc::default(),
            mails_under_way: Mutex::default(),
            order_places: ConcurrencyLimit::new(ORDERS_MAX, Duration::ZERO),
            sample,
            sellable_pages: SellablePages::default(),
            limits,
            metrics: Metrics::default(),
            free_fetches: FreeFetches::default(),
            refusals: Refusals::default(),
            health: Health::default(),
            troubles: Arc::default(),
            webhook_warned_at: AtomicU64::default(),
            sign_in_links: SignInLinks::default(),
            sign_in_nonces: SignInNonces::new(chance::bytes()),
            settlement_checks: SettlementChecks::default(),
            backups: ConcurrencyLimit::new(1, Duration::ZERO),
            tasks: TaskTracker::new(),
            challenges: OnceLock::new(),
            documents: Mutex::default(),
            alternates: Alternates::default(),
            started: Instant::now(),
        })
    }

    /// With what the log of this process remembers.
    pub fn with_troubles(mut self, troubles: Arc<Troubles>) -> App {
        self.troubles = troubles;
        self
    }

    /// Where e-mails are written instead of being sent.
    pub fn mail_folder(&self) -> Option<&Path> {
        self.config.mail.as_ref()?.folder()
    }

    /// Counts a request of a client; `None` is the operator, who is not counted.
    pub fn admit(&self, class: RateClass, client: Option<IpAddr>) -> Result<(), Refusal> {
        let admitted = client.map(|client| self.limits.admit(class, client));
        self.refuse_beyond(admitted.unwrap_or(Ok(None)))
    }

    /// Counts work for a registrable domain that nobody pays for.
    pub fn admit_domain(&self, domain: &str) -> Result<(), Refusal> {
        self.refuse_beyond(self.limits.admit_domain(domain))
    }

    fn refuse_beyond(&self, admitted: Result<Option<Standing>, Standing>) -> Result<(), Refusal> {
        admitted.map(drop).map_err(|standing| {
            self.metrics.limited.count([standing.limit]);
            Refusal::limited(standing)
        })
    }

    /// The configuration in force. Of a live setting it has the console's value, else the one that was read last; of
    /// others, the one at start.
    pub fn reloaded(&self) -> Arc<Config> {
        let [_, effective] = &*read_lock(&self.read);
        effective.clone()
    }

    /// The configuration as it was read last, without the console's values.
    pub fn configured(&self) -> Arc<Config> {
        let [configured, _] = &*read_lock(&self.read);
        configured.clone()
    }

    /// Puts the live settings of a configuration in force.
    pub fn put_in_force(&self, configured: Arc<Config>, effective: Arc<Config>) {
        self.outside.web.block(blocked(&effective));
        self.limits.set(&effective.limits.quotas);
        *write_lock(&self.read) = [configured, effective];
        // Afterwards: a document that is made meanwhile is not stored (`document`).
        lock(&self.documents).clear();
    }

    /// The document of a row, made when first asked for and again after each change of live settings.
    pub fn document(&self, pattern: &'static str, make: impl FnOnce(&App) -> Reply) -> Reply {
        let key = (pattern, self.health.paused_since().is_some());
        if let Some(document) = lock(&self.documents).get(&key) {
            return document.clone();
        }
        let effective = self.reloaded();
        let document = make(self).shared();
        let mut documents = lock(&self.documents);
        let is_paused = self.health.paused_since().is_some();
        if Arc::ptr_eq(&effective, &self.reloaded()) && key == (pattern, is_paused) {
            documents.insert(key, document.clone());
        }
        document
    }

    /// Where a bundle is paid for.
    pub fn payment_link(&self, bundle: Bundle) -> Option<Url> {
        self.reloaded().bundles.links.of(bundle).cloned()
    }

    pub fn has_payment_link(&self) -> bool {
        let reloaded = self.reloaded();
        let mut bundles = Bundle::ALL.iter();
        bundles.any(|bundle| reloaded.bundles.links.of(*bundle).is_some())
    }

    pub fn now(&self) -> UnixSeconds {
        self.outside.clock.now()
    }

    /// The absolute address of a path that begins with a slash.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.config.base_url)
    }

    /// Ends the process here if a test asked for it, as a crash would.
    pub fn crash_point(&self, name: &str) {
        if self.config.lab.crash_at.as_deref() == Some(name) {
            std::process::abort();
        }
    }
}

/// Where notices go, if anywhere.
pub fn hook(config: &Config) -> Option<Hook> {
    let notify = config.bundles.notify.as_ref()?;
    let secret = notify.secret.as_ref().map(|secret| secret.expose());
    Some(Hook::new(notify.url.expose(), secret))
}

fn llm(config: &Config) -> Result<Option<Llm>, llm::SettingsError> {
    let settings = config.llm.as_ref().map(|llm| LlmSettings {
        base_url: llm.base_url.clone(),
        model: llm.model.clone(),
        key: llm.key.as_ref().map(|key| key.expose().to_owned()),
        time_max: llm.time_max,
        questions_max: llm.questions_max,
        input_tokens_max: llm.input_tokens_max,
        output_tokens_max: llm.output_tokens_max,
        input_price: llm.input_price,
        output_price: llm.output_price,
        style: llm.style,
    });
    settings.map(Llm::new).transpose()
}

/// The browser, where one is configured.
pub fn renderer(config: &Config, web: &Web) -> std::io::Result<Option<Renderer>> {
    let Some(render) = &config.render else {
        return Ok(None);
    };
    let workers = match &render.unit {
        Some(unit) => Workers::Unit {
            socket: unit.socket.clone(),
        },
        None => Workers::Children {
            program: match &config.lab.render_worker {
                Some(program) => program.clone(),
                None => std::env::current_exe()?,
            },
        },
    };
    let settings = RendererSettings {
        browser: render.browser.clone(),
        jit: render.jit,
        user_agent: user_agent(config),
        time_max: render.time_max,
        at_once_max: render.at_once_max,
        workers,
    };
    Renderer::new(settings, web.clone()).map(Some)
}

/// How mail leaves, if it does.
pub fn mailer(config: &Config) -> Result<Mailer, Box<dyn std::error::Error + Send + Sync>> {
    let Some(mail) = &config.mail else {
        return Ok(Mailer::Off);
    };
    let transport = match &mail.transport {
        config::mail::Transport::Folder(folder) => Transport::Folder(folder.clone()),
        config::mail::Transport::Smtp(smtp) => Transport::Smtp(SmtpSettings {
            host: smtp.host.clone(),
            port: smtp.port,
            tls: smtp.tls,
            credentials: smtp
                .credentials
                .as_ref()
                .map(|(name, password)| (name.clone(), password.expose().to_owned())),
            ca_pem: file_of("mail.ca_file", smtp.ca_file.as_deref())?,
            time_max: smtp.time_max,
        }),
    };
    let settings = MailerSettings {
        transport,
        domain: mail.from.domain().to_owned(),
        from: mail.from.clone(),
    };
    Ok(Mailer::new(settings)?)
}

/// Blocking threads that the upstreams' limits need together.
pub fn blocking_threads(config: &Config) -> usize {
    // Beside the limits of the chain's inquiries, the one for the price of gas.
    let chain = config.chain.as_ref().map_or(0, |_| {
        INQUIRIES_MAX + TRANSACTIONS_MAX + SETTLEMENT_LOOKS_MAX + 1
    });
    config.fetch.fetches_max
        + CHECKS_MAX
        + REPORT_CHECKS_MAX
        + FREE_CHECKS_MAX
        + ROBOTS_LOOKUPS_MAX
        + chain
        + config.llm.as_ref().map_or(0, |llm| llm.questions_max)
        + hooks::THREADS
        + config.mail.as_ref().map_or(0, |_| MAILS_MAX)
        + config.tls.as_ref().map_or(0, |_| acme::THREADS)
        + 8
}

/// Space that anything written needs; far below what sales need, so that those under way end in between.
const WRITE_ROOM_BYTES: u64 = 4 * 1024 * 1024;

pub fn store_settings(config: &Config) -> store::Settings {
    store::Settings {
        cache_bytes: config.limits.store_cache_bytes,
        pages_bytes_max: config.limits.pages_bytes_max,
        unpaid_bytes_max: config.limits.unpaid_bytes_max,
        unsettled_bytes_max: config.limits.unsettled_bytes_max,
        sales_free_bytes_min: config.limits.free_disk_bytes_min,
        free_bytes_min: WRITE_ROOM_BYTES.min(config.limits.free_disk_bytes_min),
    }
}

/// Who we are to the sites that we read.
pub fn user_agent(config: &Config) -> String {
    format!(
        "Mozilla/5.0 (compatible; context402/{}; +{}/about)",
        env!("CARGO_PKG_VERSION"),
        config.base_url
    )
}

pub fn facilitator_settings(
    config: &Config,
    url: &str,
) -> Result<FacilitatorSettings, std::io::Error> {
    let auth = match &config.payment.auth {
        // The embedded one asks for none.
        _ if config.payment.facilitator == FacilitatorAt::Sandbox => {
            facilitator::FacilitatorAuth::None
        }
        FacilitatorAuth::None => facilitator::FacilitatorAuth::None,
        FacilitatorAuth::Bearer(token) => {
            facilitator::FacilitatorAuth::Bearer(token.expose().to_owned())
        }
        FacilitatorAuth::Cdp { key_id, secret } => facilitator::FacilitatorAuth::Cdp {
            key_id: key_id.clone(),
            secret: secret.expose().to_owned(),
        },
    };
    Ok(FacilitatorSettings {
        base_url: url.to_owned(),
        auth,
        connect_timeout: FACILITATOR_CONNECT_MAX,
        verify_timeout: config.payment.verify_time_max,
        settle_timeout: config.payment.settle_time_max,
        calls_max: config.payment.calls_max,
        passes_on: config.payment.passes_on,
        ca_pem: None,
    })
}

pub fn chain(config: &Config) -> Result<Option<Chain>, crate::outside::chain::SettingsError> {
    let settings = config.chain.as_ref().map(|chain| ChainSettings {
        rpc_url: chain.rpc_url.expose().to_owned(),
        network: config.payment.network,
        time_max: chain.time_max,
        confirmations: chain.confirmations,
    });
    settings.map(Chain::new).transpose()
}

/// What a file holds that a setting names; an error names the setting.
fn file_of(setting: &str, path: Option<&Path>) -> Result<Option<Vec<u8>>, std::io::Error> {
    let read = |path: &Path| {
        std::fs::read(path).map_err(|error| {
            let says = format!("{setting} = {} cannot be read: {error}", path.display());
            std::io::Error::new(error.kind(), says)
        })
    };
    path.map(read).transpose()
}

fn web_settings(config: &Config) -> Result<WebSettings, std::io::Error> {
    let mut settings = WebSettings::new(user_agent(config));
    settings.budget = config.fetch.time_max;
    settings.read_idle_max = config.fetch.idle_max;
    settings.redirects_max = config.fetch.redirects_max;
    settings.lab_roots_pem = file_of("lab.ca_file", config.lab.ca_file.as_deref())?;
    Ok(settings)
}

/// The hosts that the operator blocks.
fn blocked(config: &Config) -> ForbiddenHosts {
    ForbiddenHosts::new(config.fetch.blocklist.iter().map(String::as_str))
}

pub fn network_settings(config: &Config) -> NetworkSettings {
    NetworkSettings::for_fetches(config.fetch.fetches_max, ROBOTS_LOOKUPS_MAX)
}

fn network(config: &Config, facilitator_url: &str) -> Result<Network, std::io::Error> {
    let host_of = |text: &str| {
        Url::parse(text)
            .ok()
            .and_then(|url| url.host_str().map(str::to_owned))
    };
    let notify = config.bundles.notify.as_ref();
    let own = [
        host_of(&config.base_url),
        host_of(facilitator_url),
        // Buyers have no business where the operator is told of things.
        notify.and_then(|notify| host_of(notify.url.expose())),
        Some(config.listen.ip().to_string()),
    ];
    let own: Vec<String> = own.into_iter().flatten().collect();
    let hosts = own.iter().map(String::as_str);
    let lab: HashMap<_, _> = config
        .lab
        .hosts
        .iter()
        .map(|(name, host)| (name.clone(), *host))
        .collect();
    let name_servers = match config.lab.name_server {
        Some(server) => NameServers::Only(vec![server]),
        None => NameServers::System,
    };
    let forbidden = ForbiddenHosts::new(hosts);
    Network::new(network_settings(config), name_servers, lab, forbidden)
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App")
            .field("base_url", &self.config.base_url)
            .finish_non_exhaustive()
    }
}

/// Handlers are given the shared service.
pub type Shared = Arc<App>;
