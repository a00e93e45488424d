//! HTTP/1.1 connections to one host, over hyper. An error tells whether the other side can have seen the request,
//! because a payment that was seen may settle.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rustls_pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use url::Url;

use crate::outside::facilitator::outcome::CallError;
use crate::outside::facilitator::reply::Reply;
use crate::sync::lock;

/// Longest head of a reply.
const REPLY_HEAD_BYTES_MAX: usize = 16 * 1024;
/// Longest body of a reply.
const REPLY_BYTES_MAX: usize = 64 * 1024;
/// Older idle connections are not used: the other side, or something between, may be about to close them.
const IDLE_MAX: Duration = Duration::from_secs(15);
/// How long an idle connection may take to be ready again.
const READY_WAIT_MAX: Duration = Duration::from_millis(100);
/// How long the addresses of the host are believed.
const ADDRESSES_BELIEVED: Duration = Duration::from_secs(10);

type Sender = http1::SendRequest<Full<Bytes>>;

/// A pool of connections to one host.
pub(super) struct Connections {
    host: String,
    port: u16,
    /// `None` for plain HTTP.
    tls: Option<(TlsConnector, ServerName<'static>)>,
    connect_max: Duration,
    idle_max: usize,
    idle: Mutex<Vec<(Sender, Instant)>>,
    addresses: Mutex<Option<(Instant, Arc<[SocketAddr]>)>>,
}

impl Connections {
    /// `None` where the address has no host that can be connected to.
    pub(super) fn new(
        base_url: &Url,
        roots: RootCertStore,
        connect_max: Duration,
        idle_max: usize,
    ) -> Option<Connections> {
        let host = base_url.host_str()?.trim_matches(['[', ']']).to_owned();
        let tls = match base_url.scheme() {
            "https" => {
                let config = ClientConfig::builder()
                    .with_root_certificates(roots)
                    .with_no_client_auth();
                let name = ServerName::try_from(host.clone()).ok()?;
                Some((TlsConnector::from(Arc::new(config)), name))
            }
            _ => None,
        };
        Some(Connections {
            host,
            port: base_url.port_or_known_default()?,
            tls,
            connect_max,
            idle_max,
            idle: Mutex::default(),
            addresses: Mutex::default(),
        })
    }

    /// One request and its whole reply, whatever its status. What ends this future early closes the connection.
    ///
    /// # Errors
    /// [`CallError::Unreachable`] only where no byte of the request was handed to a connection.
    pub(super) async fn send(
        &self,
        mut request: Request<Full<Bytes>>,
        deadline: Instant,
    ) -> Result<Reply, CallError> {
        loop {
            let idle = self.take_idle().await;
            let was_idle = idle.is_some();
            let mut sender = match idle {
                Some(sender) => sender,
                None => self.connect(deadline).await?,
            };
            let sent = tokio::time::timeout_at(deadline, sender.try_send_request(request));
            let mut failed = match sent.await {
                Err(_) => return Err(CallError::TimedOut),
                Ok(Ok(response)) => {
                    let reply = tokio::time::timeout_at(deadline, read(response));
                    let reply = reply.await.unwrap_or(Err(CallError::TimedOut))?;
                    self.keep(sender);
                    return Ok(reply);
                }
                Ok(Err(failed)) => failed,
            };
            match failed.take_message() {
                // Closed while it was idle, before any of this request was written.
                Some(unsent) if was_idle => request = unsent,
                Some(_) => return Err(CallError::Unreachable(described(failed.error()))),
                None => return Err(failure(failed.error())),
            }
        }
    }

    /// The youngest, so that what is needed no longer grows old.
    async fn take_idle(&self) -> Option<Sender> {
        loop {
            let (mut sender, since) = lock(&self.idle).pop()?;
            if sender.is_closed() || since.elapsed() >= IDLE_MAX {
                continue;
            }
            // The task behind it may not have noticed yet that its last reply is read.
            if let Ok(Ok(())) = timeout(READY_WAIT_MAX, sender.ready()).await {
                return Some(sender);
            }
        }
    }

    fn keep(&self, sender: Sender) {
        let mut idle = lock(&self.idle);
        if !sender.is_closed() && idle.len() < self.idle_max {
            idle.push((sender, Instant::now()));
        }
    }

    async fn connect(&self, deadline: Instant) -> Result<Sender, CallError> {
        let at_most = deadline.saturating_duration_since(Instant::now());
        let connected = timeout(self.connect_max.min(at_most), self.open());
        match connected.await {
            Ok(opened) => opened.map_err(CallError::Unreachable),
            Err(_) => Err(CallError::Unreachable("no connection in time".to_owned())),
        }
    }

    async fn open(&self) -> Result<Sender, String> {
        let stream = self
            .open_stream()
            .await
            .map_err(|error| error.to_string())?;
        let _ = stream.set_nodelay(true);
        let Some((connector, name)) = &self.tls else {
            return handshake(TokioIo::new(stream)).await;
        };
        let stream = connector.connect(name.clone(), stream);
        let stream = stream.await.map_err(|error| error.to_string())?;
        handshake(TokioIo::new(stream)).await
    }

    async fn open_stream(&self) -> std::io::Result<TcpStream> {
        let addresses = self.addresses().await?;
        let share = self.connect_max / u32::try_from(addresses.len().max(1)).unwrap_or(u32::MAX);
        let mut outcome = Err(std::io::ErrorKind::HostUnreachable.into());
        for address in addresses.iter() {
            outcome = match timeout(share, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => Err(error),
                Err(late) => Err(late.into()),
            };
        }
        outcome
    }

    /// The host's addresses, asked of the system.
    async fn addresses(&self) -> std::io::Result<Arc<[SocketAddr]>> {
        if let Some((asked, addresses)) = &*lock(&self.addresses)
            && asked.elapsed() < ADDRESSES_BELIEVED
        {
            return Ok(addresses.clone());
        }
        let found = tokio::net::lookup_host((self.host.as_str(), self.port)).await?;
        let found: Arc<[SocketAddr]> = found.collect();
        *lock(&self.addresses) = Some((Instant::now(), found.clone()));
        Ok(found)
    }
}

async fn handshake<S>(stream: S) -> Result<Sender, String>
where
    S: hyper::rt::Read + hyper::rt::Write + Send + Unpin + 'static,
{
    let opened = http1::Builder::new()
        .max_buf_size(REPLY_HEAD_BYTES_MAX)
        .handshake(stream);
    let (sender, connection) = opened.await.map_err(|error| error.to_string())?;
    // Its errors reach the future that waits for the reply.
    tokio::spawn(connection);
    Ok(sender)
}

async fn read(response: Response<Incoming>) -> Result<Reply, CallError> {
    if let Some(value) = response.headers().get("extension-responses") {
        let shown: String = value.to_str().unwrap_or("").chars().take(512).collect();
        tracing::debug!(
            extension_responses = shown,
            "the facilitator answered on extensions"
        );
    }
    let status = response.status().as_u16();
    let body = Limited::new(response.into_body(), REPLY_BYTES_MAX);
    match body.collect().await {
        Ok(body) => Ok(Reply {
            status,
            body: body.to_bytes(),
        }),
        Err(error) => Err(match error.downcast::<hyper::Error>() {
            Ok(broken) => failure(&broken),
            Err(other) if other.is::<LengthLimitError>() => {
                CallError::Garbled(format!("longer than {REPLY_BYTES_MAX} bytes"))
            }
            Err(other) => CallError::Garbled(other.to_string()),
        }),
    }
}

/// Sorts errors of a request that was handed to a connection: the other side may have seen it.
fn failure(error: &hyper::Error) -> CallError {
    if error.is_parse() || error.is_user() {
        CallError::Garbled(described(error))
    } else {
        CallError::Cut(described(error))
    }
}

/// With its causes, which hyper leaves out.
fn described(error: &hyper::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
