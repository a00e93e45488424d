//! Accepts, limits, serves and stops connections. Each has a deadline for headers, a minimum read rate for responses and a
//! lingering close; all end when the service stops.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::header::{HeaderValue, STRICT_TRANSPORT_SECURITY};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::http::bodies::Bodies;
use crate::http::call::Peer;
use crate::http::coding::Encoder;
use crate::http::connection_limit::{ConnectionLimit, ConnectionPermit};
use crate::http::forwarded::TrustedProxies;
use crate::http::hooks::{Admission, Hooks};
use crate::http::idle::{Answering, Idle, Turns};
use crate::http::lingering_close::{LingeringClose, RequestInProgress};
use crate::http::reply::Reply;
use crate::http::request_ids::RequestIds;
use crate::http::response_budget::{ResponseBudget, Slot};
use crate::http::route::Route;
use crate::http::router::Router;
use crate::http::service::{Limits, Shell};
use crate::http::tls::Tls;
use crate::http::to_https::ToHttps;
use crate::http::unparsed::{Exchange, Explaining};
use crate::http::write_timeout::WriteTimeout;

#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Connections at once. For a further one the connection that has waited longest for a request is closed; where all
    /// have a request in progress, it waits.
    pub connections_max: usize,
    /// Concurrent connections of one client; one more gets a 429 and is closed. Behind a trusted proxy: concurrent requests.
    /// `None` where all clients come through a proxy that is not known.
    pub connections_of_client_max: Option<usize>,
    /// Time for a request's whole header block, counted from the connection's idle state too.
    pub header_time_max: Duration,
    /// Time a client may leave us unable to write.
    pub write_stall_max: Duration,
}

/// What a listener's connections speak, and what they are answered.
#[derive(Clone, Debug)]
pub enum Transport {
    /// HTTP, as behind a reverse proxy.
    Plain,
    /// HTTPS.
    Tls(Tls),
    /// HTTP beside HTTPS: every request is sent there.
    ToHttps(Arc<ToHttps>),
}

/// Serves a table on any number of listeners until it is stopped.
pub struct Server<S: 'static, D: 'static> {
    shell: Arc<Shell<S, D>>,
    settings: Settings,
    places: Arc<Semaphore>,
    connection_limit: ConnectionLimit,
    idle: Arc<Idle>,
    response_budget: Arc<ResponseBudget>,
    connections: TaskTracker,
    stopping: CancellationToken,
}

/// hyper's own bound on a request's head; above our limits for headers and address together, so that our answer explains
/// them, and not far above, because a thousand clients can each send almost as much and then wait.
const HEAD_BYTES_HARD_MAX: usize = 28 * 1024;
/// What hyper reads ahead, and what it writes before it waits, for each connection. A large answer is not copied there.
const BUFFER_BYTES_MAX: usize = 32 * 1024;
/// What a client with too many connections is told; no request of it was read.
const TOO_MANY: &[u8] =
    b"HTTP/1.1 429 Too Many Requests\r\nContent-Type: text/plain; charset=utf-8\r\n\
    Content-Length: 87\r\nRetry-After: 1\r\nConnection: close\r\n\r\n\
    Too many connections from your address are open. Close some, or use the open ones again";
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How often a connection without a place looks for one that waits for a request.
const PLACE_PAUSE: Duration = Duration::from_millis(25);
/// Bodies of a small service in memory, in bytes.
const PLAIN_BODIES_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Detached runs of a small service at once.
const PLAIN_RUNS_MAX: usize = 1024;
/// A connection that was accepted just before a stop has this long to send its request; hyper would close it unheard.
const FIRST_REQUEST_TIME: Duration = Duration::from_secs(1);
/// Browsers use HTTPS alone for a year after each visit (RFC 6797). Not for subdomains, which may be somebody else's.
const HSTS: HeaderValue = HeaderValue::from_static("max-age=31536000");

impl<S: Send + Sync + 'static, D: Send + Sync + 'static> Server<S, D> {
    pub fn new(shell: Shell<S, D>, settings: Settings) -> Self {
        Server {
            shell: Arc::new(shell),
            settings,
            places: Arc::new(Semaphore::new(settings.connections_max)),
            connection_limit: ConnectionLimit::new(settings.connections_of_client_max),
            idle: Arc::default(),
            response_budget: Arc::default(),
            connections: TaskTracker::new(),
            stopping: CancellationToken::new(),
        }
    }

    /// Accepts on a TCP listener, in a task of its own.
    pub fn listen(self: &Arc<Self>, listener: TcpListener, transport: Transport) {
        let server = self.clone();
        self.connections.spawn(async move {
            loop {
                tokio::select! {
                    accepted = listener.accept() => match accepted {
                        Ok((stream, peer)) => server.welcome(stream, peer, &transport).await,
                        Err(error) => accept_failed(&error).await,
                    },
                    () = server.stopping.cancelled() => break,
                }
            }
        });
    }

    /// Accepts on the operator's Unix socket.
    pub fn listen_operator(self: &Arc<Self>, listener: UnixListener) {
        let server = self.clone();
        self.connections.spawn(async move {
            loop {
                tokio::select! {
                    accepted = listener.accept() => match accepted {
                        Ok((stream, _)) => {
                            let opening = std::future::ready(Some(stream));
                            server.connect(opening, Peer::Operator, (None, None), None, Transport::Plain);
                        }
                        Err(error) => accept_failed(&error).await,
                    },
                    () = server.stopping.cancelled() => break,
                }
            }
        });
    }

    /// Stops accepting, lets requests and detached runs finish, and returns whether all did within `grace`.
    pub async fn stop(&self, grace: Duration) -> bool {
        self.stopping.cancel();
        self.connections.close();
        self.shell.runs.close();
        let finished = async {
            self.connections.wait().await;
            self.shell.runs.wait().await;
        };
        tokio::time::timeout(grace, finished).await.is_ok()
    }

    /// A place for a connection that was accepted. `None` when the service stops meanwhile.
    async fn place(&self) -> Option<OwnedSemaphorePermit> {
        loop {
            if let Ok(place) = self.places.clone().try_acquire_owned() {
                return Some(place);
            }
            self.idle.close_longest();
            tokio::select! {
                place = self.places.clone().acquire_owned() => return place.ok(),
                // One whose request was in progress may wait by then.
                () = tokio::time::sleep(PLACE_PAUSE) => {}
                () = self.stopping.cancelled() => return None,
            }
        }
    }

    async fn welcome(&self, stream: TcpStream, peer: SocketAddr, transport: &Transport) {
        let address = peer.ip().to_canonical();
        let is_proxy = self.shell.trusted_proxies.trusts(address);
        let permit = match is_proxy {
            true => None,
            false => match self.connection_limit.join(address) {
                Ok(permit) => permit,
                Err(_) => {
                    // It may not be listening, or speak TLS; then the closed connection says enough.
                    if !matches!(transport, Transport::Tls(_)) {
                        let _ = stream.try_write(TOO_MANY);
                    }
                    return;
                }
            },
        };
        let Some(place) = self.place().await else {
            return;
        };
        // Answers are written whole; waiting to fill a segment only delays them.
        let _ = stream.set_nodelay(true);
        let connection_limit = is_proxy.then(|| self.connection_limit.clone());
        let (peer, held) = (Peer::Network(peer), (Some(place), permit));
        let transport = transport.clone();
        match transport.clone() {
            Transport::Tls(tls) => {
                self.connect(tls.accept(stream), peer, held, connection_limit, transport);
            }
            Transport::Plain | Transport::ToHttps(_) => {
                let opening = std::future::ready(Some(stream));
                self.connect(opening, peer, held, connection_limit, transport);
            }
        }
    }

    /// Serves a connection once `opening` has made it ready, which counts as waiting for a request.
    fn connect<I>(
        &self,
        opening: impl Future<Output = Option<I>> + Send + 'static,
        peer: Peer,
        held: (Option<OwnedSemaphorePermit>, Option<ConnectionPermit>),
        connection_limit: Option<ConnectionLimit>,
        transport: Transport,
    ) where
        I: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let (shell, stopping, settings) =
            (self.shell.clone(), self.stopping.clone(), self.settings);
        let slot = Arc::new(Slot::new(&self.response_budget));
        let in_progress = Arc::<RequestInProgress>::default();
        let turns = Arc::new(Turns::new(&self.idle));
        let exchange = Arc::<Exchange>::default();
        self.connections.spawn(async move {
            let _held = held;
            tokio::pin!(opening);
            let stream = tokio::select! {
                stream = opening.as_mut() => stream,
                () = turns.let_go() => return tracing::debug!("a waiting connection made room for another"),
                () = stopping.cancelled() => {
                    let first = tokio::time::timeout(FIRST_REQUEST_TIME, opening);
                    first.await.ok().flatten()
                }
            };
            let Some(stream) = stream else { return };
            let is_new = AtomicBool::new(true);
            let service = service_fn(|request: Request<Incoming>| {
                let (shell, slot, in_progress) = (shell.clone(), slot.clone(), in_progress.clone());
                let (turns, exchange, transport) = (turns.clone(), exchange.clone(), transport.clone());
                is_new.store(false, Ordering::Relaxed);
                exchange.begin();
                let is_closing = !turns.begin();
                let permit = match &connection_limit {
                    Some(connection_limit) => shell.count_behind(connection_limit, peer, request.headers()),
                    None => Ok(None),
                };
                async move {
                    if is_closing {
                        // Its place was given away as it came: its client sees the connection close, and nothing is
                        // done.
                        std::future::pending::<()>().await;
                    }
                    let is_full = permit.is_err();
                    let mut answer = match &transport {
                        Transport::ToHttps(to_https) => shell.answer_in_clear(to_https, &request, peer, &slot),
                        Transport::Plain | Transport::Tls(_) => {
                            shell.answer(request, peer, &slot, &in_progress, is_full).await
                        }
                    };
                    if matches!(transport, Transport::Tls(_)) {
                        answer.headers_mut().insert(STRICT_TRANSPORT_SECURITY, HSTS);
                    }
                    let answer = answer
                        .map(|content| Answering::new(content, turns, exchange, permit.ok().flatten()));
                    Ok::<_, std::convert::Infallible>(answer)
                }
            });
            let io = LingeringClose::new(stream, in_progress.clone(), settings.header_time_max);
            let io = WriteTimeout::new(io, settings.write_stall_max, slot.clone(), turns.clone());
            let io = Explaining::new(io, exchange.clone(), |status, line_bytes| {
                shell.unparsed(status, line_bytes, peer, &slot)
            });
            let io = TokioIo::new(io);
            let connection = hyper::server::conn::http1::Builder::new()
                // Without a timer the header deadline is silently off.
                .timer(TokioTimer::new())
                .header_read_timeout(settings.header_time_max)
                .max_header_size(HEAD_BYTES_HARD_MAX)
                .max_buf_size(BUFFER_BYTES_MAX)
                .half_close(false)
                .serve_connection(io, service);
            tokio::pin!(connection);
            let outcome = tokio::select! {
                outcome = connection.as_mut() => outcome,
                () = slot.let_go() => return tracing::debug!("a slow reader made room for others"),
                () = turns.let_go() => return tracing::debug!("a waiting connection made room for another"),
                () = stopping.cancelled() => {
                    let first = match is_new.load(Ordering::Relaxed) {
                        true => tokio::time::timeout(FIRST_REQUEST_TIME, connection.as_mut()).await.ok(),
                        false => None,
                    };
                    match first {
                        Some(outcome) => outcome,
                        None => {
                            connection.as_mut().graceful_shutdown();
                            connection.await
                        }
                    }
                }
            };
            if let Err(error) = outcome {
                tracing::debug!(error = %error, "connection ended early");
            }
        });
    }
}

/// Serves a table with plain refusals and ordinary limits: for small services beside the real one, such as the embedded
/// facilitator and the web of the demo.
pub fn plain<S: Send + Sync + 'static>(
    rows: &'static [Route<S, ()>],
    state: Arc<S>,
    random: [u8; 16],
) -> Arc<Server<S, ()>> {
    let shell = Shell {
        state,
        router: Router::new(rows),
        limits: Limits {
            body_bytes_max: 128 * 1024,
            header_bytes_max: 32 * 1024,
            uri_bytes_max: 8 * 1024,
            body_time_max: Duration::from_secs(10),
            runs_max: PLAIN_RUNS_MAX,
        },
        bodies: Bodies::new(PLAIN_BODIES_BYTES_MAX),
        encoder: Encoder::default(),
        hooks: Hooks {
            refuse: |_, refused, _| Reply::text(404, format!("{refused:?}\n")),
            knows_operator: |_, _| false,
            admit: |_, _, _| Admission::Granted,
            observe: |_, _| {},
            as_markdown: |_, _, page| Box::pin(std::future::ready(page)),
            withheld: |_, _| Box::pin(std::future::ready(())),
        },
        trusted_proxies: TrustedProxies::default(),
        common_headers: &[],
        cors_request_headers: "",
        payment_headers: &[],
        request_ids: RequestIds::new(random),
        runs: TaskTracker::new(),
        access_log: false,
    };
    let settings = Settings {
        connections_max: 1024,
        connections_of_client_max: None,
        header_time_max: Duration::from_secs(60),
        write_stall_max: Duration::from_secs(30),
    };
    Arc::new(Server::new(shell, settings))
}

/// Out of descriptors, or a connection that was gone before it was accepted: neither ends the listener.
async fn accept_failed(error: &io::Error) {
    tracing::warn!(error = %error, "could not accept a connection");
    tokio::time::sleep(ACCEPT_PAUSE).await;
}

impl<S, D> std::fmt::Debug for Server<S, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::sync::Notify;

    use super::*;
    use crate::http::call::Call;
    use crate::http::method::Method;

    /// What the handler of the test waits for.
    #[derive(Debug, Default)]
    struct Gate {
        came: Notify,
        opens: Notify,
    }

    async fn pass(gate: Arc<Gate>, _: Call) -> Reply {
        gate.came.notify_one();
        gate.opens.notified().await;
        Reply::text(200, "passed\n")
    }

    static ROWS: &[Route<Gate, ()>] = &[
        Route::new(
            Method::Post,
            "/pass",
            |gate, call| Box::pin(pass(gate, call)),
            (),
        ),
        Route::new(
            Method::Get,
            "/",
            |_, _| Box::pin(std::future::ready(Reply::text(200, "here\n"))),
            (),
        ),
    ];

    /// A service with `runs_max`, and where it listens.
    async fn served(gate: &Arc<Gate>, runs_max: usize) -> SocketAddr {
        let mut server = plain(ROWS, gate.clone(), [1; 16]);
        let own = Arc::get_mut(&mut server).expect("nobody else has it");
        let shell = Arc::get_mut(&mut own.shell).expect("nobody else has it");
        shell.limits.runs_max = runs_max;
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("bound");
        server.listen(listener, Transport::Plain);
        address
    }

    async fn ask(address: SocketAddr, request: &str) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.expect("it accepts");
        let request = format!(
            "{request} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.expect("sent");
        stream
    }

    async fn answer(mut stream: TcpStream) -> String {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("an answer");
        answer
    }

    /// A client that posts and leaves keeps its work going, and none of its connections: the work itself is bounded.
    #[tokio::test]
    async fn work_that_goes_on_without_its_client_is_bounded() {
        let gate = Arc::<Gate>::default();
        let address = served(&gate, 2).await;
        for _ in 0..2 {
            let stream = ask(address, "POST /pass").await;
            gate.came.notified().await;
            drop(stream);
        }
        let refused = answer(ask(address, "POST /pass").await).await;
        assert!(refused.contains("TooManyRuns"), "{refused}");
        let read = answer(ask(address, "GET /").await).await;
        assert!(
            read.ends_with("here\n"),
            "what runs attached needs no place: {read}"
        );
        gate.opens.notify_waiters();
        let passed = loop {
            let stream = ask(address, "POST /pass").await;
            tokio::select! {
                () = gate.came.notified() => {
                    gate.opens.notify_one();
                    break answer(stream).await;
                }
                () = tokio::time::sleep(Duration::from_millis(50)) => {}
            }
        };
        assert!(passed.ends_with("passed\n"), "{passed}");
    }
}
