//! TLS in front of the server: 1.2 and 1.3, for one certificate that can be replaced while connections go on, and for the
//! proof that an ACME authority asks for on the same port (RFC 8737). It does not know where certificates come from.
//!
//! Only HTTP/1.1 is offered. The limits of the server (idle connections, stalled readers, lingering close, connections of
//! a client) are held per connection; with HTTP/2 each connection would carry many requests and escape them.
//!
//! There is no early data, which could be replayed, and no session resumption: nothing is held for clients that left, and
//! each connection has keys of its own. A handshake costs well below a millisecond.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, RwLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::client::verify_server_name;
use tokio_rustls::rustls::crypto::ring::{default_provider, sign};
use tokio_rustls::rustls::server::{
    ClientHello, NoServerSessionStorage, ParsedCertificate, ResolvesServerCert,
};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{self, ServerConfig};
use tokio_rustls::server::TlsStream;

use crate::sync::{read_lock, write_lock};

/// From the accept to the end of the handshake; a slower client is closed.
const HANDSHAKE_TIME_MAX: Duration = Duration::from_secs(10);
/// What a client may send before the handshake ends. A usual one sends 2 KiB; rustls alone would hold 64 KiB for each.
const HANDSHAKE_BYTES_MAX: usize = 16 * 1024;
/// The first byte of every TLS connection: a handshake record.
const HANDSHAKE_RECORD: u8 = 0x16;
/// What is read of a client that speaks HTTP here, so that the answer reaches it.
const CLEAR_BYTES_MAX: u64 = 64 * 1024;
const CLEAR_TIME_MAX: Duration = Duration::from_secs(1);
const CLEAR_ANSWER: &[u8] =
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n\
    Content-Length: 80\r\nConnection: close\r\n\r\n\
    This port accepts HTTPS only. Nothing was charged. Use an https:// address here.";
const HTTP_1: &[u8] = b"http/1.1";
const ACME: &[u8] = b"acme-tls/1";

/// The certificate that is served, and the proofs of an order in progress. Both can be replaced at any time.
#[derive(Debug, Default)]
pub struct Certificates(RwLock<Slots>);

#[derive(Debug, Default)]
struct Slots {
    served: Option<Arc<CertifiedKey>>,
    /// With the name that it proves.
    proof: Option<(String, Arc<CertifiedKey>)>,
    /// The last segment of a path, and the text to answer there (RFC 8555, 8.3).
    text: Option<(String, String)>,
}

/// Why a certificate with its key was not taken, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotUsable(String);

impl fmt::Display for NotUsable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotUsable {}

impl From<rustls::Error> for NotUsable {
    fn from(error: rustls::Error) -> Self {
        NotUsable(error.to_string())
    }
}

impl Certificates {
    /// Serves this certificate from the next handshake on. The chain begins with the certificate itself.
    ///
    /// # Errors
    /// If the chain is empty, or the key is not the certificate's. Then the former certificate is still served.
    pub fn serve(
        &self,
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
    ) -> Result<(), NotUsable> {
        let key = CertifiedKey::from_der(chain, key, &default_provider())?;
        self.write().served = Some(Arc::new(key));
        Ok(())
    }

    /// Answers the authority's handshakes for `name` with this certificate until the proof ends.
    ///
    /// # Errors
    /// If the key cannot be used.
    pub fn prove(
        &self,
        name: &str,
        certificate: CertificateDer<'static>,
        key: &PrivateKeyDer<'static>,
    ) -> Result<(), NotUsable> {
        let key = sign::any_supported_type(key)?;
        // Not by `from_der`: the certificate has a critical extension that only authorities know.
        let key = CertifiedKey::new(vec![certificate], key);
        self.write().proof = Some((name.to_ascii_lowercase(), Arc::new(key)));
        Ok(())
    }

    /// Answers the authority's request for `token` over plain HTTP with this text until the proof ends.
    pub fn prove_by_text(&self, token: &str, text: &str) {
        self.write().text = Some((token.to_owned(), text.to_owned()));
    }

    pub fn end_proof(&self) {
        let mut slots = self.write();
        (slots.proof, slots.text) = (None, None);
    }

    /// The text that proves `token`.
    pub(in crate::http) fn text(&self, token: &str) -> Option<String> {
        let slots = read_lock(&self.0);
        let (known, text) = slots.text.as_ref()?;
        (known == token).then(|| text.clone())
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, Slots> {
        write_lock(&self.0)
    }
}

impl ResolvesServerCert for Certificates {
    /// Another name than the certificate's gets a handshake failure: a client could not trust it, and a scanner learns
    /// nothing. No name at all, as for an IP address, gets the certificate.
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let slots = read_lock(&self.0);
        let is_authority = hello.alpn().is_some_and(|offered| offered.eq([ACME]));
        if is_authority {
            let (name, proof) = slots.proof.as_ref()?;
            let asked = hello.server_name()?;
            return asked.eq_ignore_ascii_case(name).then(|| proof.clone());
        }
        let served = slots.served.as_ref()?;
        if let Some(name) = hello.server_name() {
            let certificate = ParsedCertificate::try_from(served.end_entity_cert().ok()?).ok()?;
            verify_server_name(&certificate, &ServerName::try_from(name).ok()?).ok()?;
        }
        Some(served.clone())
    }
}

/// What one listener needs to speak TLS. Cheap to clone.
#[derive(Clone)]
pub struct Tls(TlsAcceptor);

impl Tls {
    /// # Errors
    /// If the compiled-in cryptography lacks TLS 1.2 or 1.3.
    pub fn new(certificates: Arc<Certificates>) -> Result<Tls, NotUsable> {
        let provider = Arc::new(default_provider());
        let builder = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13, &TLS12])?;
        let mut config = builder
            .with_no_client_auth()
            .with_cert_resolver(certificates);
        config.alpn_protocols = vec![HTTP_1.to_vec(), ACME.to_vec()];
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        config.max_early_data_size = 0;
        Ok(Tls(TlsAcceptor::from(Arc::new(config))))
    }

    /// The connection after a successful handshake. `None` where there is nothing left to serve: a client without TLS,
    /// which gets a 400; a handshake that failed or timed out; and an ACME authority, which needs only the handshake.
    pub(in crate::http) async fn accept(self, stream: TcpStream) -> Option<Encrypted> {
        let outcome = tokio::time::timeout(HANDSHAKE_TIME_MAX, self.shake_hands(stream)).await;
        let outcome = outcome.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        if let Err(error) = &outcome {
            tracing::debug!(%error, "TLS handshake failed");
        }
        outcome.ok().flatten()
    }

    async fn shake_hands(self, stream: TcpStream) -> io::Result<Option<Encrypted>> {
        let mut first = [0];
        match stream.peek(&mut first).await? {
            0 => return Ok(None),
            _ if first != [HANDSHAKE_RECORD] => {
                say_https(stream).await?;
                return Ok(None);
            }
            _ => {}
        }
        let bounded = Bounded {
            inner: stream,
            left: Some(HANDSHAKE_BYTES_MAX),
        };
        let mut stream = self.0.accept(bounded).await?;
        if stream.get_ref().1.alpn_protocol() == Some(ACME) {
            stream.shutdown().await?;
            return Ok(None);
        }
        stream.get_mut().0.left = None;
        Ok(Some(stream))
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls")
    }
}

/// Answers a client that speaks HTTP without TLS, and reads on for a moment so that the answer is not lost to a reset.
async fn say_https(mut stream: TcpStream) -> io::Result<()> {
    stream.write_all(CLEAR_ANSWER).await?;
    stream.shutdown().await?;
    let mut rest = stream.take(CLEAR_BYTES_MAX);
    let mut sink = tokio::io::sink();
    let read = tokio::io::copy(&mut rest, &mut sink);
    // A client that takes longer is disconnected.
    let _ = tokio::time::timeout(CLEAR_TIME_MAX, read).await;
    Ok(())
}

/// A connection after its handshake.
pub(in crate::http) type Encrypted = TlsStream<Bounded>;

/// A connection that may read so many bytes until its handshake ends.
#[derive(Debug)]
pub(in crate::http) struct Bounded {
    inner: TcpStream,
    /// `None` after the handshake.
    left: Option<usize>,
}

impl AsyncRead for Bounded {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        let came = buffer.filled().len() - before;
        match self.left.map(|left| left.checked_sub(came)) {
            None => Poll::Ready(Ok(())),
            Some(Some(left)) => {
                self.left = Some(left);
                Poll::Ready(Ok(()))
            }
            Some(None) => Poll::Ready(Err(io::Error::other("the handshake is too large"))),
        }
    }
}

impl AsyncWrite for Bounded {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(context, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}
