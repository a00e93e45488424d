//! Starts and stops the whole service in order. `serve`, `demo` and the tests use exactly this.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, UnixListener};
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

use crate::api::buyer::paid::PAYMENT_HEADERS;
use crate::api::directory::openapi::responses::title_case;
use crate::api::site::markdown_alternate;
use crate::api::{admission, failure};
use crate::app::{App, Shared, blocking_threads, network_settings, store_settings};
use crate::config::{Config, ConfigError, FacilitatorAt};
use crate::domain::endpoint::Endpoint;
use crate::domain::keys::PaymentKey;
use crate::domain::level::Product;
use crate::flows::content::rendering;
use crate::flows::content::sample::sample_page;
use crate::flows::operations::{
    certificates, due, health, ledger_check, overrides, pause, recover,
};
use crate::flows::quotes::offers;
use crate::flows::sale::{recall, sent, verify_settlement};
use crate::http::forwarded::TrustedProxies;
use crate::http::hooks::Hooks;
use crate::http::request_ids::RequestIds;
use crate::http::router::Router;
use crate::http::server::{self, Server, Transport};
use crate::http::service::{Limits, Shell};
use crate::http::tls::Tls;
use crate::http::to_https::ToHttps;
use crate::http::{Bodies, Call, Encoder, HeaderName, HeaderValue, Method, Reply, Route};
use crate::log::Troubles;
use crate::outside::chain::ChainError;
use crate::outside::chance;
use crate::outside::clock::Clock;
use crate::outside::descriptors::descriptors_max;
use crate::routes::ROUTES;
use crate::sandbox::ledger::Ledger;
use crate::sync::lock;

/// Largest request body.
const BODY_BYTES_MAX: usize = 64 * 1024;
/// Largest header block.
const HEADER_BYTES_MAX: usize = 16 * 1024;
/// Largest path and query; longer input goes into a body.
const URI_BYTES_MAX: usize = 8 * 1024;

/// Requests that are worked on whether or not their clients still wait: sales and everything else that is posted. Each
/// may hold a header block and a small body; larger bodies are counted by themselves (limits.request_bodies_mib).
const RUNS_MAX: usize = 2048;

/// Headers of every answer.
static COMMON_HEADERS: LazyLock<[(HeaderName, HeaderValue); 3]> = LazyLock::new(|| {
    let exposed = exposed_headers().join(", ");
    let common = |name, value| (HeaderName::from_static(name), value);
    [
        common("access-control-allow-origin", HeaderValue::from_static("*")),
        common(
            "access-control-expose-headers",
            HeaderValue::try_from(exposed).expect("names of headers are ASCII"),
        ),
        common(
            "x-content-type-options",
            HeaderValue::from_static("nosniff"),
        ),
    ]
});

/// Headers that a web page may send. Some clients send the names of exposed headers as request headers.
static CORS_REQUEST_HEADERS: LazyLock<String> = LazyLock::new(|| {
    let levels = Product::ALL.map(|product| product.level_header().to_owned());
    let sent = SENT_HEADERS.map(str::to_owned).into_iter();
    let all: Vec<String> = sent.chain(levels).chain(exposed_headers()).collect();
    all.join(", ")
});

/// Headers that a web page may read: those below, and the one that names what is paid for, of each product.
fn exposed_headers() -> Vec<String> {
    let levels = Product::ALL.map(|product| title_case(product.paid_header()));
    let fixed = EXPOSED_HEADERS.map(str::to_owned).into_iter();
    fixed.chain(levels).collect()
}

const EXPOSED_HEADERS: [&str; 11] = [
    "PAYMENT-REQUIRED",
    "PAYMENT-RESPONSE",
    "X-Payment-Required",
    "X-Service-Payment-Error",
    "X-Service-Retry-Credit",
    "Link",
    "Retry-After",
    "RateLimit-Limit",
    "RateLimit-Remaining",
    "RateLimit-Reset",
    "X-Request-Id",
];
const SENT_HEADERS: [&str; 15] = [
    "Content-Type",
    "Accept",
    "PAYMENT-SIGNATURE",
    "SIGN-IN-WITH-X",
    "X-Service-Source",
    "X-Service-Payment-Hash",
    "X-Service-Payment-Proof",
    "Idempotency-Key",
    "Access-Control-Expose-Headers",
    "X402-Token",
    "MCP-Protocol-Version",
    "Mcp-Method",
    "Mcp-Name",
    "Mcp-Session-Id",
    "A2A-Version",
];

/// Descriptors beside those of connections and upstreams: data file, listeners, the operator, the runtime, and spare
/// ones.
const DESCRIPTORS_RESERVED: usize = 48;

/// How long a start waits for the facilitator's first answer.
const FIRST_PROBE_TIME_MAX: Duration = Duration::from_secs(2);
/// Connections that wait to be accepted. Where there is no room, a client tries again after a second or more.
const BACKLOG: u32 = 1024;

/// Any failure to start, as one line.
pub type StartError = Box<dyn std::error::Error + Send + Sync>;

/// A running service.
#[derive(Debug)]
pub struct Appliance {
    pub app: Shared,
    /// Where it accepts connections.
    pub address: SocketAddr,
    /// Where it leads plain HTTP to HTTPS.
    pub http_address: Option<SocketAddr>,
    /// Whether the data file had been closed by the process before.
    pub was_clean: bool,
    server: Arc<Server<App, Endpoint>>,
    sandbox: Option<Arc<Server<Sandbox, ()>>>,
    loops: Vec<JoinHandle<()>>,
    socket: PathBuf,
}

/// What may differ between the ways to start.
#[derive(Debug)]
pub struct Start {
    pub config: Config,
    pub clock: Clock,
    /// Make the data file if it is not there.
    pub create: bool,
    /// Check the whole data file even if it was closed cleanly.
    pub check: bool,
    /// A listener that was bound before, when the address had to be known; otherwise `config.listen` is bound.
    pub listener: Option<TcpListener>,
    /// The same for plain HTTP beside HTTPS; otherwise `config.tls.http_listen` is bound.
    pub http_listener: Option<TcpListener>,
    /// The same for what the browser loads; otherwise `config.render.unit.egress_socket` is bound.
    pub egress: Option<std::os::unix::net::UnixListener>,
    /// What the log remembers, for the console.
    pub troubles: Arc<Troubles>,
}

impl Appliance {
    /// Starts everything. Connections are accepted once recovery has looked at every sale that was left half way.
    pub async fn start(start: Start) -> Result<Appliance, StartError> {
        let Start {
            config,
            clock,
            create,
            check,
            listener,
            http_listener,
            egress,
            troubles,
        } = start;
        let settings = store_settings(&config);
        let opened = match create && !config.data_file.exists() {
            true => settings.create(&config.data_file)?,
            false => settings.open(&config.data_file, check)?,
        };
        let listener = match listener {
            Some(listener) => listener,
            None => bind_for(config.listen, "listen")?,
        };
        let http_listen = config.tls.as_ref().and_then(|tls| tls.http_listen);
        let http_listener = match (http_listener, http_listen) {
            (Some(listener), Some(_)) => Some(listener),
            (_, Some(address)) => Some(bind_for(address, "tls.http_listen")?),
            (_, None) => None,
        };
        let (sandbox, facilitator_url) = match &config.payment.facilitator {
            FacilitatorAt::Url(url) => (None, url.clone()),
            FacilitatorAt::Sandbox => {
                let (server, address) = start_sandbox(&config, clock.clone()).await?;
                (Some(server), format!("http://{address}"))
            }
        };
        let socket = config.socket.clone();
        let former = offers::former_terms(&opened.store).await?;
        let app = Arc::new(
            App::new(
                config,
                ROUTES,
                opened.store,
                clock,
                &facilitator_url,
                former,
                sample_page,
            )?
            .with_troubles(troubles),
        );
        offers::note_terms(&app).await?;
        pause::restore(&app).await?;
        overrides::restore(&app).await?;
        check_chain(&app).await?;
        recover_sales(&app).await?;
        let address = listener.local_addr()?;
        let server = Arc::new(Server::new(
            shell(app.clone()),
            server_settings(&app.config, address),
        ));
        warn_of_hidden_clients(&app.config, address);
        if app.outside.chain.is_none() && app.config.payment.facilitator != FacilitatorAt::Sandbox {
            tracing::warn!("{}", health::NO_CHAIN);
        }
        let http_address = http_listener.as_ref().map(TcpListener::local_addr);
        let http_address = http_address.transpose()?;
        listen(&server, &app, listener, http_listener)?;
        server.listen_operator(bind_operator(&socket)?);
        first_probes(&app).await?;
        let browser = rendering::open(&app, egress)?;
        let mut loops = background(&app);
        loops.extend(browser);
        Ok(Appliance {
            app,
            address,
            http_address,
            was_clean: opened.was_clean,
            server,
            sandbox,
            loops,
            socket,
        })
    }

    /// Resolves when the data file has failed: the process should end and be restarted.
    pub async fn failed(&self) {
        self.app.store.failed().await;
        self.app.health.note_store_failed();
    }

    /// Stops in order: no new sales, requests and detached work to their end, settlements recorded, the file closed.
    /// Tells whether all of it was done in time.
    pub async fn stop(self) -> bool {
        let grace = self.app.config.limits.stop_grace;
        self.app.health.note_stopping();
        let served = self.server.stop(grace).await;
        self.loops.iter().for_each(JoinHandle::abort);
        self.app.tasks.close();
        let settled = tokio::time::timeout(grace, self.app.tasks.wait())
            .await
            .is_ok();
        if let Some(sandbox) = &self.sandbox {
            sandbox.stop(grace).await;
        }
        if let Err(error) = offers::note_terms(&self.app).await {
            tracing::warn!(error = %error, "the terms on offer could not be noted");
        }
        if let Err(error) = sent::write_down(&self.app).await {
            tracing::warn!(%error, "sent answers could not be noted; their payments stay owed");
        }
        // It lies beside the data file and means nothing without its process.
        let _ = std::fs::remove_file(&self.socket);
        // The process may end before the last task that holds the renderer is dropped.
        if let Some(renderer) = &self.app.outside.renderer {
            renderer.remove_scratch();
        }
        let closed = match self.app.store.clone().close().await {
            Ok(()) => true,
            Err(error) => {
                tracing::error!(error = %error, "the data file could not be closed cleanly; it will be checked at the next start");
                false
            }
        };
        served && settled && closed
    }
}

async fn recover_sales(app: &Shared) -> Result<(), StartError> {
    let recovered = recover::recover(app).await?;
    if recovered.unknown + recovered.held + recovered.orders > 0 {
        tracing::warn!(
            unknown = recovered.unknown,
            held = recovered.held,
            orders = recovered.orders,
            "took up sales that were left half way"
        );
    }
    Ok(())
}

/// Accepts connections: plain ones, or over TLS, beside which plain HTTP leads to HTTPS.
fn listen(
    server: &Arc<Server<App, Endpoint>>,
    app: &Shared,
    listener: TcpListener,
    http_listener: Option<TcpListener>,
) -> Result<(), StartError> {
    let Some(held) = app.certificates.clone() else {
        server.listen(listener, Transport::Plain);
        return Ok(());
    };
    certificates::load_first(app).map_err(ConfigError::new)?;
    server.listen(listener, Transport::Tls(Tls::new(held.clone())?));
    if let Some(listener) = http_listener {
        let to_https = ToHttps::new(&app.config.base_url, held);
        server.listen(listener, Transport::ToHttps(Arc::new(to_https)));
    }
    Ok(())
}

/// Whether we sell should be known when we are ready, but a facilitator that hangs must not delay that.
async fn first_probes(app: &Shared) -> Result<(), StartError> {
    health::probe_disk(app);
    health::probe_store(app).await;
    health::probe_kept(app).await;
    verify_settlement::refresh(app).await?;
    let facilitator = health::probe_facilitator(app);
    drop(tokio::time::timeout(FIRST_PROBE_TIME_MAX, facilitator).await);
    Ok(())
}

/// All that goes on beside the requests, but the browser.
fn background(app: &Shared) -> Vec<JoinHandle<()>> {
    vec![
        tokio::spawn(health::watch_disk(app.clone())),
        tokio::spawn(health::probe(app.clone())),
        tokio::spawn(health::watch_gas(app.clone())),
        tokio::spawn(due::work(app.clone())),
        tokio::spawn(sent::work(app.clone())),
        tokio::spawn(ledger_check::watch(app.clone())),
        tokio::spawn(verify_settlement::watch(app.clone())),
        tokio::spawn(verify_settlement::watch_waiting(app.clone())),
        tokio::spawn(certificates::watch(app.clone())),
    ]
}

/// An endpoint of another network is a mistake that no waiting mends. One that does not answer now may do so later;
/// until it does, nothing is taken from it.
async fn check_chain(app: &Shared) -> Result<(), ConfigError> {
    match health::probe_gas(app).await {
        Err(error @ ChainError::WrongNetwork { .. }) => {
            Err(ConfigError::of("chain.rpc_url", error.to_string()))
        }
        _ => Ok(()),
    }
}

/// As many as are configured, or as there are descriptors for beside those of the service's own work: without these no
/// page could be fetched and no payment settled.
fn connections_max(config: &Config) -> usize {
    let wanted = config.limits.connections_max;
    let Some(descriptors) = descriptors_max() else {
        return wanted;
    };
    let lookups = network_settings(config).descriptors_max();
    let own = blocking_threads(config) + lookups + DESCRIPTORS_RESERVED;
    let possible = usize::try_from(descriptors).unwrap_or(usize::MAX);
    let possible = possible.saturating_sub(own).max(1);
    if possible < wanted {
        tracing::warn!(
            descriptors,
            connections_max = possible,
            "limits.connections_max is {wanted}, but the system gives fewer descriptors; raise LimitNOFILE in the unit, \
             or `ulimit -n`, to {}",
            wanted + own
        );
    }
    possible.min(wanted)
}

/// Who serves the public from loopback has a proxy in front, and then everybody comes from its address.
fn hides_clients(config: &Config, address: SocketAddr) -> bool {
    let has_proxy = address.ip().is_loopback() && !config.is_loopback() && config.tls.is_none();
    has_proxy && config.trusted_proxies.is_empty()
}

fn warn_of_hidden_clients(config: &Config, address: SocketAddr) {
    if hides_clients(config, address) {
        tracing::warn!(
            "trusted_proxies is not set: all clients behind the reverse proxy share one client's rate limits. Set it to \
             the proxy's address, such as [\"127.0.0.1\"], if the proxy sets X-Forwarded-For or Forwarded itself"
        );
    }
}

fn bind_for(address: SocketAddr, setting: &str) -> Result<TcpListener, StartError> {
    let listen = || {
        let socket = match address {
            SocketAddr::V4(_) => TcpSocket::new_v4(),
            SocketAddr::V6(_) => TcpSocket::new_v6(),
        }?;
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)
    };
    listen().map_err(|error| {
        format!("cannot listen on {address}: {error}. Set `{setting}` to a free address").into()
    })
}

/// The socket's folder decides who may reach it; its own mode makes that the owner alone.
fn bind_operator(path: &Path) -> Result<UnixListener, StartError> {
    let explain = |error: std::io::Error| -> StartError {
        format!("cannot open the operator's socket {}: {error}. Set `socket` to a path that can be written", path.display())
            .into()
    };
    // The data file's lock says that no other service is running here: what lies there is left over.
    if path.exists() {
        std::fs::remove_file(path).map_err(explain)?;
    }
    let listener = UnixListener::bind(path).map_err(explain)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(explain)?;
    Ok(listener)
}

fn shell(app: Shared) -> Shell<App, Endpoint> {
    let body_time_max = app.config.limits.body_time_max;
    let bodies_bytes_max = app.config.limits.bodies_bytes_max;
    let proxies = app.config.trusted_proxies.clone();
    Shell {
        router: Router::new(app.rows),
        state: app,
        limits: Limits {
            body_bytes_max: BODY_BYTES_MAX,
            header_bytes_max: HEADER_BYTES_MAX,
            uri_bytes_max: URI_BYTES_MAX,
            body_time_max,
            runs_max: RUNS_MAX,
        },
        bodies: Bodies::new(bodies_bytes_max),
        encoder: Encoder::default(),
        hooks: Hooks {
            refuse: failure::from_shell,
            knows_operator: admission::knows_operator,
            admit: admission::admit,
            observe: |app, seen| {
                app.metrics
                    .request((seen.pattern, seen.method, seen.status), seen.duration)
            },
            as_markdown: markdown_alternate::as_markdown,
            withheld: |app, payment| Box::pin(recall::withheld(app, PaymentKey(payment))),
        },
        trusted_proxies: TrustedProxies::new(proxies),
        common_headers: COMMON_HEADERS.as_slice(),
        cors_request_headers: &CORS_REQUEST_HEADERS,
        payment_headers: &PAYMENT_HEADERS,
        request_ids: RequestIds::new(chance::bytes()),
        runs: TaskTracker::new(),
        access_log: true,
    }
}

fn server_settings(config: &Config, address: SocketAddr) -> server::Settings {
    let of_client_max = config.limits.connections_of_client_max;
    server::Settings {
        connections_max: connections_max(config),
        connections_of_client_max: (!hides_clients(config, address)).then_some(of_client_max),
        header_time_max: config.limits.header_time_max,
        write_stall_max: config.limits.write_stall_max,
    }
}

/// The embedded facilitator behind its own loopback port, so that the service's own client is what talks to it.
#[derive(Debug)]
struct Sandbox {
    ledger: Mutex<Ledger>,
    clock: Clock,
}

static SANDBOX_ROUTES: &[Route<Sandbox, ()>] = &[
    Route::new(
        Method::Get,
        "/supported",
        |sandbox, call| Box::pin(ask_sandbox(sandbox, call)),
        (),
    ),
    Route::new(
        Method::Post,
        "/verify",
        |sandbox, call| Box::pin(ask_sandbox(sandbox, call)),
        (),
    ),
    Route::new(
        Method::Post,
        "/settle",
        |sandbox, call| Box::pin(ask_sandbox(sandbox, call)),
        (),
    ),
];

async fn ask_sandbox(sandbox: Arc<Sandbox>, call: Call) -> Reply {
    let now = sandbox.clock.now();
    let mut ledger = lock(&sandbox.ledger);
    let answer = ledger.answer(call.method.name(), &call.path, &call.body, now);
    Reply::json(answer.status, answer.json)
}

async fn start_sandbox(
    config: &Config,
    clock: Clock,
) -> Result<(Arc<Server<Sandbox, ()>>, SocketAddr), StartError> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    let sandbox = Sandbox {
        ledger: Mutex::new(Ledger::new(config.payment.network)),
        clock,
    };
    let server = server::plain(SANDBOX_ROUTES, Arc::new(sandbox), chance::bytes());
    server.listen(listener, Transport::Plain);
    Ok((server, address))
}
