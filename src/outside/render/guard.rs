//! The guard: the only way out of the browser. A forward proxy on a Unix socket in the service's own process, because the
//! browser has no network of its own.
//!
//! SECURITY: it clears and dials by the same code as every fetch (`outside::web`, `outside::network`), for ports 80 and 443
//! alone, and takes what it needs to know from the request's first line, never from its Host header. A connection begins
//! with the token of a render under way; without one nothing is let through.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::domain::target::{AddressVerdict, TargetUrl, classify};
use crate::outside::chance;
use crate::outside::network::Requester;
use crate::outside::render::budget::{Budget, BudgetLimits};
use crate::outside::render::head::{self, HEAD_BYTES_MAX, Request};
use crate::outside::web::Web;
use crate::sync::lock;

/// Connections of all browsers together; further ones wait to be accepted.
pub const CONNECTIONS_MAX: usize = 256;
/// How long a connection may take until its head is read.
const HEAD_TIME_MAX: Duration = Duration::from_secs(5);
/// How long a name may take to be looked up and its addresses to be dialled.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(8);
/// Interim responses before the one that is passed on.
const INTERIM_MAX: usize = 8;
const COPY_BYTES: usize = 16 * 1024;
/// Hex digits of a token.
pub const TOKEN_CHARACTERS: usize = 32;
/// What a refusal is marked by: the browser shows an answer to a refused navigation under the refused address.
pub const REFUSED_HEADER: &str = "x-context402-guard";

/// Where the browser's traffic passes. Cheap to clone.
#[derive(Clone)]
pub struct Guard {
    inner: Arc<Inner>,
}

struct Inner {
    web: Web,
    limits: BudgetLimits,
    /// The renders under way, by their tokens.
    renders: Mutex<HashMap<String, Arc<Render>>>,
    connections: Arc<Semaphore>,
}

#[derive(Debug)]
struct Render {
    budget: Budget,
    /// A page that is given in place of every other one: nothing leaves the machine.
    built_in: Option<&'static str>,
}

/// One render's right to pass. Ends all its connections when it is dropped.
#[derive(Debug)]
pub struct Pass {
    pub token: String,
    guard: Guard,
    render: Arc<Render>,
}

impl Pass {
    /// Requests that were not let through.
    pub fn refused(&self) -> u32 {
        self.render.budget.refused()
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        self.guard.renders().remove(&self.token);
        self.render.budget.end();
    }
}

impl Guard {
    pub fn new(web: Web, limits: BudgetLimits) -> Self {
        Guard {
            inner: Arc::new(Inner {
                web,
                limits,
                renders: Mutex::default(),
                connections: Arc::new(Semaphore::new(CONNECTIONS_MAX)),
            }),
        }
    }

    /// Lets a render's connections through until the pass is dropped.
    pub fn admit(&self, built_in: Option<&'static str>) -> Pass {
        let token = hex::encode(chance::bytes::<{ TOKEN_CHARACTERS / 2 }>());
        let render = Arc::new(Render {
            budget: Budget::new(self.inner.limits),
            built_in,
        });
        self.renders().insert(token.clone(), render.clone());
        Pass {
            token,
            guard: self.clone(),
            render,
        }
    }

    /// Accepts the browser's connections on a socket that is made here.
    pub fn listen_at(&self, path: &Path) -> io::Result<JoinHandle<()>> {
        Ok(self.listen(UnixListener::bind(path)?))
    }

    pub fn listen(&self, listener: UnixListener) -> JoinHandle<()> {
        let guard = self.clone();
        tokio::spawn(async move {
            loop {
                // Never closed.
                let Ok(place) = guard.inner.connections.clone().acquire_owned().await else {
                    return;
                };
                let Ok((stream, _)) = listener.accept().await else {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                };
                let guard = guard.clone();
                tokio::spawn(async move {
                    let _place = place;
                    guard.serve(stream).await;
                });
            }
        })
    }

    fn renders(&self) -> MutexGuard<'_, HashMap<String, Arc<Render>>> {
        lock(&self.inner.renders)
    }

    async fn serve(&self, mut stream: UnixStream) {
        let mut token = [0; TOKEN_CHARACTERS + 1];
        let read = timeout(HEAD_TIME_MAX, stream.read_exact(&mut token)).await;
        let token = std::str::from_utf8(&token)
            .ok()
            .and_then(|text| text.strip_suffix('\n'));
        let (Ok(Ok(_)), Some(token)) = (read, token) else {
            return;
        };
        let Some(render) = self.renders().get(token).cloned() else {
            return;
        };
        tokio::select! {
            () = render.budget.ended() => {}
            outcome = self.pass(&render, stream) => {
                if let Err(error) = outcome {
                    tracing::debug!(%error, "a connection of the browser ended");
                }
            }
        }
    }

    /// One connection: one request, or one tunnel.
    async fn pass(&self, render: &Render, mut stream: UnixStream) -> io::Result<()> {
        let (head, rest) = timeout(HEAD_TIME_MAX, read_head(&mut stream)).await??;
        let request = match head::request(&head) {
            Ok(request) => request,
            Err(error) => return refuse(render, &mut stream, 400, &error.to_string()).await,
        };
        if let Some(page) = render.built_in {
            return built_in(render, &mut stream, &request, page).await;
        }
        let target = match &request {
            Request::Connect { authority } => format!("https://{authority}/"),
            Request::Plain { authority, .. } => format!("http://{authority}/"),
        };
        let target = match TargetUrl::parse(&target) {
            Ok(target) => target,
            Err(error) => return refuse(render, &mut stream, 403, &error.to_string()).await,
        };
        if matches!(request, Request::Connect { .. }) && target.port() != 443 {
            return refuse(
                render,
                &mut stream,
                403,
                "a tunnel to another port than 443",
            )
            .await;
        }
        let Ok(_connection) = render.budget.request(target.host()).await else {
            return refuse(
                render,
                &mut stream,
                429,
                "the render has had all its requests",
            )
            .await;
        };
        let sockets = match self.sockets(render, &target).await {
            Ok(sockets) => sockets,
            Err(error) => return refuse(render, &mut stream, 403, &error).await,
        };
        let Some(site) = dial(&sockets).await else {
            return answer(&mut stream, 502, "no connection").await;
        };
        match request {
            Request::Connect { .. } => tunnel(&render.budget, stream, site, &rest).await,
            Request::Plain {
                method,
                path,
                headers,
                body_bytes,
                ..
            } => {
                let host = match target.url().port() {
                    Some(port) => format!("{}:{port}", target.host()),
                    None => target.host().to_owned(),
                };
                let head = head::forwarded(&method, &path, &host, &headers);
                exchange(&render.budget, stream, site, (&head, &rest, body_bytes)).await
            }
        }
    }

    /// Clears a target as every fetch does. Gives what is dialled for it, or why it is refused.
    async fn sockets(
        &self,
        render: &Render,
        target: &TargetUrl,
    ) -> Result<Vec<SocketAddr>, String> {
        // Never closed.
        let _lookup = render
            .budget
            .lookups
            .acquire()
            .await
            .map_err(|error| error.to_string())?;
        let deadline = Instant::now() + CONNECT_TIME_MAX;
        let cleared = self
            .inner
            .web
            .clear_for(Requester::Buyer, target, deadline)
            .await;
        let cleared = cleared.map_err(|error| error.to_string())?;
        let dialled = self.inner.web.dialled(&cleared);
        // Second lock, as in `outside::web::dial`.
        let public = dialled.filter(|(address, _)| classify(*address) == AddressVerdict::Public);
        Ok(public.map(|(_, socket)| socket).collect())
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").finish_non_exhaustive()
    }
}

/// A head, and what was read behind it.
async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let mut bytes = Vec::with_capacity(2048);
    loop {
        if let Some(end) = head::end_of_head(&bytes) {
            let rest = bytes.split_off(end);
            return Ok((bytes, rest));
        }
        if bytes.len() >= HEAD_BYTES_MAX {
            return Err(io::ErrorKind::InvalidData.into());
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

async fn dial(sockets: &[SocketAddr]) -> Option<TcpStream> {
    let tried = async {
        for socket in sockets {
            if let Ok(stream) = TcpStream::connect(socket).await {
                return Some(stream);
            }
        }
        None
    };
    timeout(CONNECT_TIME_MAX, tried).await.ok().flatten()
}

async fn refuse(
    render: &Render,
    stream: &mut UnixStream,
    status: u16,
    why: &str,
) -> io::Result<()> {
    render.budget.refuse();
    tracing::debug!(status, why, "the guard refused a request of the browser");
    answer(stream, status, "refused").await
}

async fn answer(stream: &mut UnixStream, status: u16, mark: &str) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status} Refused\r\n{REFUSED_HEADER}: {mark}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await?;
    stream.shutdown().await
}

async fn built_in(
    render: &Render,
    stream: &mut UnixStream,
    request: &Request,
    page: &str,
) -> io::Result<()> {
    if !matches!(request, Request::Plain { path, .. } if path == "/") {
        return refuse(render, stream, 403, "only the built-in page is there").await;
    }
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        page.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(page.as_bytes()).await?;
    stream.shutdown().await
}

async fn tunnel(
    budget: &Budget,
    mut stream: UnixStream,
    mut site: TcpStream,
    rest: &[u8],
) -> io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
    let (mut from_browser, mut to_browser) = stream.split();
    let (mut from_site, mut to_site) = site.split();
    let up = async {
        budget.count_sent(rest.len()).map_err(|_| spent())?;
        to_site.write_all(rest).await?;
        copy(&mut from_browser, &mut to_site, |bytes| {
            budget.count_sent(bytes).is_ok()
        })
        .await
    };
    let down = copy(&mut from_site, &mut to_browser, |bytes| {
        budget.count_received(bytes).is_ok()
    });
    tokio::try_join!(up, down).map(drop)
}

/// One request and its response, after which the connection ends.
async fn exchange(
    budget: &Budget,
    mut stream: UnixStream,
    mut site: TcpStream,
    (head, rest, body_bytes): (&[u8], &[u8], u64),
) -> io::Result<()> {
    budget.count_sent(head.len()).map_err(|_| spent())?;
    site.write_all(head).await?;
    let mut left = body_bytes;
    let mut first = rest;
    let mut chunk = vec![0; COPY_BYTES];
    while left > 0 {
        let read = match first.is_empty() {
            false => std::mem::take(&mut first),
            true => {
                let bytes = stream.read(&mut chunk).await?;
                &chunk[..bytes]
            }
        };
        if read.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // What lies behind the body is no second request: the connection ends with the response.
        let taken = usize::try_from(left).unwrap_or(usize::MAX).min(read.len());
        budget.count_sent(taken).map_err(|_| spent())?;
        site.write_all(&read[..taken]).await?;
        left -= taken as u64;
    }
    let Some((head, rest)) = response(&mut site).await? else {
        return answer(&mut stream, 502, "no response").await;
    };
    budget
        .count_received(head.len() + rest.len())
        .map_err(|_| spent())?;
    let (mut from_browser, mut to_browser) = stream.split();
    to_browser.write_all(&head).await?;
    to_browser.write_all(&rest).await?;
    let mut ignored = [0; 256];
    tokio::select! {
        copied = copy(&mut site, &mut to_browser, |bytes| budget.count_received(bytes).is_ok()) => copied,
        // The browser has left.
        () = async { while !matches!(from_browser.read(&mut ignored).await, Ok(0) | Err(_)) {} } => Ok(()),
    }
}

/// A site's final response as it is passed on, with what was read behind its head; `None` if it cannot be.
async fn response(site: &mut TcpStream) -> io::Result<Option<(Vec<u8>, Vec<u8>)>> {
    let mut bytes = Vec::with_capacity(2048);
    for _ in 0..INTERIM_MAX {
        let end = loop {
            if let Some(end) = head::end_of_head(&bytes) {
                break end;
            }
            if bytes.len() >= HEAD_BYTES_MAX || site.read_buf(&mut bytes).await? == 0 {
                return Ok(None);
            }
        };
        let rest = bytes.split_off(end);
        match head::response(&bytes) {
            Ok(Some(head)) => return Ok(Some((head, rest))),
            Ok(None) => bytes = rest,
            Err(error) => {
                tracing::debug!(%error, "a response is not passed on");
                return Ok(None);
            }
        }
    }
    Ok(None)
}

async fn copy(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    mut is_within: impl FnMut(usize) -> bool,
) -> io::Result<()> {
    let mut chunk = vec![0; COPY_BYTES];
    loop {
        let bytes = from.read(&mut chunk).await?;
        if bytes == 0 {
            return to.shutdown().await;
        }
        if !is_within(bytes) {
            return Err(spent());
        }
        to.write_all(&chunk[..bytes]).await?;
    }
}

fn spent() -> io::Error {
    io::Error::other("the render has had all its bytes")
}
