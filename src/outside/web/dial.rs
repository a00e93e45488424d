//! The only file that uses ureq's unstable resolver and transport APIs: requests that can reach only the given addresses.
//!
//! Two safeguards: the resolver returns only the checked addresses, and the connector checks every address again. There is
//! no proxy, no connection reuse and no cookie.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use ureq::config::Config;
use ureq::http::{HeaderMap, Response, Uri};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, NextTimeout, RustlsConnector, TcpConnector, Transport,
};
use ureq::{Agent, Error};

use crate::domain::target::{AddressVerdict, TargetUrl, classify};
use crate::outside::web::{FetchError, WebError, WebSettings};

/// Addresses of one name that are tried; ureq has room for no more.
pub(super) const ADDRESSES_MAX: usize = 16;

/// A checked address, and the socket that is dialled for it: the address itself, or a loopback port of `[lab] hosts`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pin {
    pub(super) address: IpAddr,
    pub(super) dialled: SocketAddr,
}

/// Makes requests. The two TLS set-ups are shared by all of them, because building one reads every root certificate.
#[derive(Clone)]
pub(super) struct Dialler {
    settings: Arc<WebSettings>,
    public: Tls,
    lab: Tls,
    #[cfg(test)]
    pub(super) fake: Option<super::Fake>,
}

impl Dialler {
    pub(super) fn new(settings: Arc<WebSettings>) -> Result<Self, WebError> {
        let public = Tls::new(TlsConfig::builder().build());
        let lab = match &settings.lab_roots_pem {
            None => public.clone(),
            Some(pem) => Tls::new(TlsConfig::builder().root_certs(lab_roots(pem)?).build()),
        };
        Ok(Dialler {
            settings,
            public,
            lab,
            #[cfg(test)]
            fake: None,
        })
    }

    /// One GET of one hop. `sockets` are the only ones it can reach.
    pub(super) fn get(
        &self,
        target: &TargetUrl,
        sockets: Vec<Pin>,
        is_lab: bool,
        headers: &[(&str, &str)],
        deadline: Instant,
    ) -> Result<Answer, FetchError> {
        #[cfg(test)]
        if let Some(fake) = &self.fake {
            return fake(target.as_str()).map(Answer::of_text);
        }
        let tls = if is_lab { &self.lab } else { &self.public };
        let wire = Arc::new(Wire::default());
        let agent = self.agent(target, sockets, tls, wire.clone(), deadline)?;
        let mut request = agent.get(target.as_str());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = request.call().map_err(FetchError::from_ureq)?;
        Ok(Answer { response, wire })
    }

    fn agent(
        &self,
        target: &TargetUrl,
        sockets: Vec<Pin>,
        tls: &Tls,
        wire: Arc<Wire>,
        deadline: Instant,
    ) -> Result<Agent, FetchError> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(FetchError::TimedOut);
        }
        let config = Agent::config_builder()
            // SECURITY: the default reads HTTP_PROXY and its like, and with a proxy ureq skips the resolver.
            .proxy(None)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .max_idle_connections(0)
            .max_response_header_size(self.settings.header_bytes_max)
            .user_agent(self.settings.user_agent.as_str())
            .accept_encoding("gzip, br")
            .timeout_global(Some(left))
            .timeout_connect(Some(self.settings.connect_max.min(left)))
            .timeout_per_read(Some(self.settings.read_idle_max))
            .timeout_per_write(Some(self.settings.read_idle_max))
            .tls_config(tls.config.clone())
            .build();
        let port = target.port();
        let resolver = Pinned {
            sockets: sockets
                .iter()
                .map(|pin| SocketAddr::new(pin.address, port))
                .collect(),
        };
        let guard = Guard {
            pins: sockets,
            tcp: TcpConnector::default(),
        };
        let connector = guard.chain(tls.clone()).chain(Count { wire });
        Ok(Agent::with_parts(config, connector, resolver))
    }
}

impl fmt::Debug for Dialler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dialler").finish_non_exhaustive()
    }
}

/// The roots of the lab alone. ureq cannot add a root to the public ones, and need not: a lab host has no public
/// certificate, and so its root vouches for no real site.
fn lab_roots(pem: &[u8]) -> Result<RootCerts, WebError> {
    let mut certificates = Vec::new();
    for item in parse_pem(pem) {
        match item {
            Ok(PemItem::Certificate(certificate)) => certificates.push(certificate),
            Ok(_) => {}
            Err(error) => return Err(WebError::LabRoots(error.to_string())),
        }
    }
    if certificates.is_empty() {
        return Err(WebError::NoLabRoot);
    }
    Ok(RootCerts::from(certificates))
}

/// A response whose body has not been read.
pub(super) struct Answer {
    pub(super) response: Response<ureq::Body>,
    pub(super) wire: Arc<Wire>,
}

impl Answer {
    /// A whole page without a connection.
    #[cfg(test)]
    fn of_text((status, text): (u16, Vec<u8>)) -> Answer {
        let wire = Wire::default();
        wire.bytes.fetch_add(text.len() as u64, Ordering::Relaxed);
        let mime_type = match text.starts_with(b"<!doctype html>") {
            true => "text/html; charset=utf-8",
            false => "text/plain",
        };
        let body = ureq::Body::builder().mime_type(mime_type).data(text);
        let mut response = Response::new(body);
        *response.status_mut() = ureq::http::StatusCode::from_u16(status).expect("a status");
        Answer {
            response,
            wire: Arc::new(wire),
        }
    }

    pub(super) fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }
}

/// Bytes on the wire, with the response's head, that may decode to nothing; each decoded byte allows some more, because a
/// body may come in very small chunks.
const EMPTY_BYTES_MAX: u64 = 512 * 1024;
const EMPTY_RATIO: u64 = 6;

/// What came through a connection before any decoding.
#[derive(Debug, Default)]
pub(super) struct Wire {
    bytes: AtomicU64,
    /// What was made of them so far.
    decoded: AtomicU64,
    broken: AtomicBool,
    refused: AtomicBool,
}

impl Wire {
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Notes that so many more bytes were decoded.
    pub(super) fn decode(&self, bytes: u64) {
        self.decoded.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Whether the transfer ended because it decodes to nothing.
    pub(super) fn is_refused(&self) -> bool {
        self.refused.load(Ordering::Relaxed)
    }

    /// Packed data may hold blocks without a byte in them: a decoder works on them and gives nothing, so that nobody
    /// behind it can stop. What arrives ahead of what is decoded is bounded here, before it.
    fn is_empty_work(&self) -> bool {
        let decoded = self.decoded.load(Ordering::Relaxed);
        self.bytes() > EMPTY_BYTES_MAX.saturating_add(decoded.saturating_mul(EMPTY_RATIO))
    }

    /// Whether the connection ended with an error. ureq takes a reset for the end of a body that has no length, so a
    /// page cut in half would pass for a whole one.
    pub(super) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }
}

/// First lock: names are not looked up again.
#[derive(Debug)]
struct Pinned {
    sockets: Vec<SocketAddr>,
}

impl Resolver for Pinned {
    fn resolve(&self, _: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
        Ok(array(self.empty(), self.sockets.iter().copied()))
    }
}

fn array(
    mut empty: ResolvedSocketAddrs,
    sockets: impl Iterator<Item = SocketAddr>,
) -> ResolvedSocketAddrs {
    for socket in sockets.take(ADDRESSES_MAX) {
        empty.push(socket);
    }
    empty
}

/// Second lock: refuses to dial what is not public or not among the pins, then dials what the pins say.
#[derive(Debug)]
struct Guard {
    pins: Vec<Pin>,
    tcp: TcpConnector,
}

impl Guard {
    fn dialled(&self, socket: &SocketAddr) -> Result<SocketAddr, Error> {
        let pin = self.pins.iter().find(|pin| pin.address == socket.ip());
        match pin {
            Some(pin) if classify(pin.address) == AddressVerdict::Public => Ok(pin.dialled),
            _ => Err(Error::Io(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "an address that was not cleared",
            ))),
        }
    }
}

impl Connector<()> for Guard {
    type Out = <TcpConnector as Connector<()>>::Out;

    fn connect(
        &self,
        details: &ConnectionDetails,
        _: Option<()>,
    ) -> Result<Option<Self::Out>, Error> {
        let dialled = details
            .addrs
            .iter()
            .map(|socket| self.dialled(socket))
            .collect::<Result<Vec<_>, Error>>()?;
        let details = ConnectionDetails {
            uri: details.uri,
            addrs: array(details.resolver.empty(), dialled.into_iter()),
            config: details.config,
            request_level: details.request_level,
            resolver: details.resolver,
            now: details.now,
            timeout: details.timeout,
            current_time: details.current_time.clone(),
            run_connector: details.run_connector.clone(),
            register_shutdown: details.register_shutdown.clone(),
        };
        self.tcp.connect(&details, None::<()>)
    }
}

/// A TLS set-up and the connector that keeps what was built from it.
#[derive(Clone, Debug)]
struct Tls {
    config: TlsConfig,
    connector: Arc<RustlsConnector>,
}

impl Tls {
    fn new(config: TlsConfig) -> Self {
        Tls {
            config,
            connector: Arc::new(RustlsConnector::default()),
        }
    }
}

impl<In: Transport> Connector<In> for Tls {
    type Out = <RustlsConnector as Connector<In>>::Out;

    fn connect(
        &self,
        details: &ConnectionDetails,
        chained: Option<In>,
    ) -> Result<Option<Self::Out>, Error> {
        self.connector.connect(details, chained)
    }
}

/// Last in the chain: counts what arrives, above TLS and below HTTP.
#[derive(Debug)]
struct Count {
    wire: Arc<Wire>,
}

impl<In: Transport> Connector<In> for Count {
    type Out = Counted<In>;

    fn connect(
        &self,
        _: &ConnectionDetails,
        chained: Option<In>,
    ) -> Result<Option<Self::Out>, Error> {
        Ok(chained.map(|inner| Counted {
            inner,
            wire: self.wire.clone(),
        }))
    }
}

#[derive(Debug)]
struct Counted<T> {
    inner: T,
    wire: Arc<Wire>,
}

impl<T: Transport> Transport for Counted<T> {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.inner.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        self.inner.transmit_output(amount, timeout)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        let before = self.inner.buffers().input().len();
        let outcome = self.inner.await_input(timeout);
        let after = self.inner.buffers().input().len();
        let arrived = u64::try_from(after.saturating_sub(before)).unwrap_or(u64::MAX);
        self.wire.bytes.fetch_add(arrived, Ordering::Relaxed);
        if self.wire.is_empty_work() {
            self.wire.refused.store(true, Ordering::Relaxed);
            return Err(Error::Io(io::Error::other(
                "a body that decodes to nothing",
            )));
        }
        if outcome.is_err() {
            self.wire.broken.store(true, Ordering::Relaxed);
        }
        outcome
    }

    fn is_open(&mut self) -> bool {
        self.inner.is_open()
    }

    fn is_tls(&self) -> bool {
        self.inner.is_tls()
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    fn pin(address: &str, dialled: SocketAddr) -> Pin {
        Pin {
            address: address.parse().expect("an address in a test"),
            dialled,
        }
    }

    fn dialler() -> Dialler {
        Dialler::new(Arc::new(WebSettings::new("test".to_owned()))).expect("no lab roots to read")
    }

    /// Whatever answers in the resolver's place, nothing but a pin is dialled.
    #[test]
    fn the_guard_refuses_an_address_that_was_not_pinned_or_is_not_public() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let socket = listener.local_addr().expect("bound");
        let guard = |pins| Guard {
            pins,
            tcp: TcpConnector::default(),
        };
        let public = guard(vec![pin("93.184.216.34", socket)]);
        let dialled = |guard: &Guard, text: &str| {
            guard
                .dialled(&text.parse().expect("a socket in a test"))
                .ok()
        };
        assert_eq!(dialled(&public, "93.184.216.34:80"), Some(socket));
        assert_eq!(dialled(&public, "93.184.216.35:80"), None);
        assert_eq!(dialled(&public, "127.0.0.1:80"), None);
        let private = guard(vec![pin("127.0.0.1", socket)]);
        assert_eq!(dialled(&private, "127.0.0.1:80"), None);

        listener.set_nonblocking(true).expect("loopback");
        let target = TargetUrl::parse("http://rebinding.sample-site.org/").expect("a target");
        let deadline = Instant::now() + Duration::from_secs(5);
        let outcome = dialler().get(&target, private.pins, false, &[], deadline);
        assert!(outcome.is_err());
        assert_eq!(
            listener.accept().map_err(|error| error.kind()).err(),
            Some(io::ErrorKind::WouldBlock),
            "nothing was dialled"
        );
    }

    #[test]
    fn no_proxy_is_ever_configured() {
        let target = TargetUrl::parse("http://sample-site.org/").expect("a target");
        let deadline = Instant::now() + Duration::from_secs(5);
        let dialler = dialler();
        let agent = dialler
            .agent(
                &target,
                Vec::new(),
                &dialler.public,
                Arc::default(),
                deadline,
            )
            .expect("time is left");
        assert!(agent.config().proxy().is_none());
        assert_eq!(agent.config().max_redirects(), 0);
        assert_eq!(agent.config().max_idle_connections(), 0);
    }

    #[test]
    fn lab_roots_must_be_certificates() {
        let open = |pem: &str| {
            let mut settings = WebSettings::new("test".to_owned());
            settings.lab_roots_pem = Some(pem.as_bytes().to_vec());
            Dialler::new(Arc::new(settings))
        };
        assert!(matches!(open(""), Err(WebError::NoLabRoot)));
        assert!(matches!(open("no pem at all"), Err(WebError::NoLabRoot)));
        let broken = "-----BEGIN CERTIFICATE-----\n*\n-----END CERTIFICATE-----\n";
        assert!(matches!(open(broken), Err(WebError::LabRoots(_))));
    }

    proptest! {
        /// ureq reads the canonical text with a second parser. The two must see the same host, port and path.
        #[test]
        fn both_parsers_read_the_same_address(
            text in "(http|https)://(a-b\\.c_d\\.com|[a-zäß.]{1,12}\\.org|8\\.8\\.8\\.8|\\[2606:4700::1\\])(:80|:443|)[/?#][ -~äß€😀]{0,30}",
        ) {
            let Ok(target) = TargetUrl::parse(&text) else { return Ok(()) };
            let uri: Uri = target.as_str().parse().expect("the second parser reads it too");
            prop_assert_eq!(uri.host(), Some(target.host()));
            prop_assert_eq!(uri.scheme_str(), Some(target.url().scheme()));
            prop_assert_eq!(uri.port_u16(), target.url().port());
            prop_assert_eq!(uri.path(), target.url().path());
            prop_assert_eq!(uri.query(), target.url().query());
        }
    }
}
