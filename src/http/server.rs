//! Sockets: accept, cap, serve, stop. Each connection has a deadline for its headers and a bound on how slowly a reader
//! may read, and is heard out before it is closed; all of them end when the service stops.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::http::call::Peer;
use crate::http::crowd::{Crowd, Member};
use crate::http::forwarded::TrustedProxies;
use crate::http::linger::{Lingering, Speaking};
use crate::http::outgoing::{Line, Outgoing};
use crate::http::reply::Reply;
use crate::http::request_ids::RequestIds;
use crate::http::route::Route;
use crate::http::router::Router;
use crate::http::service::{Admission, Hooks, Limits, Shell};
use crate::http::stall::Stalled;

#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Connections at once; further ones wait in the listener's backlog.
    pub connections_max: usize,
    /// Connections of one client at once; one more is told so and closed. `None` where all clients come through a proxy
    /// that is not known.
    pub connections_of_client_max: Option<usize>,
    /// Time for a request's whole header block, counted from the connection's idle state too.
    pub header_time_max: Duration,
    /// Time a client may leave us unable to write.
    pub write_stall_max: Duration,
}

/// Serves a table on any number of listeners until it is stopped.
pub struct Server<S: 'static, D: 'static> {
    shell: Arc<Shell<S, D>>,
    settings: Settings,
    places: Arc<Semaphore>,
    crowd: Crowd,
    outgoing: Arc<Outgoing>,
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
/// A connection that was accepted just before a stop has this long to send its request; hyper would close it unheard.
const FIRST_REQUEST_TIME: Duration = Duration::from_secs(1);

impl<S: Send + Sync + 'static, D: Send + Sync + 'static> Server<S, D> {
    pub fn new(shell: Shell<S, D>, settings: Settings) -> Self {
        Server {
            shell: Arc::new(shell),
            settings,
            places: Arc::new(Semaphore::new(settings.connections_max)),
            crowd: Crowd::new(settings.connections_of_client_max),
            outgoing: Arc::default(),
            connections: TaskTracker::new(),
            stopping: CancellationToken::new(),
        }
    }

    /// Accepts on a TCP listener, in a task of its own.
    pub fn listen(self: &Arc<Self>, listener: TcpListener) {
        let server = self.clone();
        self.connections.spawn(async move {
            while let Some(place) = server.place().await {
                tokio::select! {
                    accepted = listener.accept() => match accepted {
                        Ok((stream, peer)) => server.welcome(stream, peer, place),
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
                        Ok((stream, _)) => server.connect(stream, Peer::Operator, (None, None)),
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

    async fn place(&self) -> Option<Option<OwnedSemaphorePermit>> {
        tokio::select! {
            place = self.places.clone().acquire_owned() => place.ok().map(Some),
            () = self.stopping.cancelled() => None,
        }
    }

    fn welcome(&self, stream: TcpStream, peer: SocketAddr, place: Option<OwnedSemaphorePermit>) {
        let address = peer.ip().to_canonical();
        let member = match self.shell.trusted_proxies.trusts(address) {
            true => None,
            false => match self.crowd.join(address) {
                Ok(member) => member,
                Err(_) => {
                    // It may not be listening; then the closed connection says enough.
                    let _ = stream.try_write(TOO_MANY);
                    return;
                }
            },
        };
        // Answers are written whole; waiting to fill a segment only delays them.
        let _ = stream.set_nodelay(true);
        self.connect(stream, Peer::Network(peer), (place, member));
    }

    fn connect<I>(
        &self,
        stream: I,
        peer: Peer,
        held: (Option<OwnedSemaphorePermit>, Option<Member>),
    ) where
        I: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let (shell, stopping, settings) =
            (self.shell.clone(), self.stopping.clone(), self.settings);
        let line = Arc::new(Line::new(&self.outgoing));
        let speaking = Arc::<Speaking>::default();
        self.connections.spawn(async move {
            let _held = held;
            let is_new = AtomicBool::new(true);
            let service = service_fn(|request| {
                let (shell, line, speaking) = (shell.clone(), line.clone(), speaking.clone());
                is_new.store(false, Ordering::Relaxed);
                async move {
                    let answer = shell.answer(request, peer, &line, &speaking).await;
                    Ok::<_, std::convert::Infallible>(answer)
                }
            });
            let io = Lingering::new(stream, speaking.clone(), settings.header_time_max);
            let io = Stalled::new(io, settings.write_stall_max, line.clone());
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
                () = line.let_go() => return tracing::debug!("a slow reader made room for others"),
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
        },
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
