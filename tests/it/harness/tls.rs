//! A TLS client, and certificates to serve and to trust.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls_pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion,
};

use crate::harness::Answer;

const TIME_MAX: Duration = Duration::from_secs(15);

/// An authority of a test's own.
pub(crate) struct Ca {
    issuer: Issuer<'static, KeyPair>,
    root: CertificateDer<'static>,
}

impl Ca {
    pub(crate) fn new() -> Ca {
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let root = params.self_signed(&key).expect("signed").der().clone();
        let issuer = Issuer::new(params, key);
        Ca { issuer, root }
    }

    /// A certificate for these names with its key, both in PEM.
    pub(crate) fn certify(&self, names: &[&str]) -> (String, String) {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let key = KeyPair::generate().expect("a key");
        let params = CertificateParams::new(names).expect("names");
        let certificate = params.signed_by(&key, &self.issuer).expect("signed");
        (certificate.pem(), key.serialize_pem())
    }

    /// Puts them where a service reads them, each file whole.
    pub(crate) fn write(&self, names: &[&str], certificate: &Path, key: &Path) {
        let (chain, secret) = self.certify(names);
        for (path, text) in [(certificate, chain), (key, secret)] {
            let beside = path.with_extension("beside");
            std::fs::write(&beside, text).expect("written");
            let ours = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            std::fs::set_permissions(&beside, ours).expect("set");
            std::fs::rename(&beside, path).expect("renamed");
        }
    }

    /// A client that trusts this authority.
    pub(crate) fn client(&self, versions: &[&'static SupportedProtocolVersion]) -> Client {
        let mut roots = RootCertStore::empty();
        roots.add(self.root.clone()).expect("a root");
        let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()));
        let builder = builder.with_protocol_versions(versions).expect("versions");
        let config = builder.with_root_certificates(roots).with_no_client_auth();
        Client { config }
    }
}

#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) config: ClientConfig,
}

pub(crate) type Stream = StreamOwned<ClientConnection, TcpStream>;

impl Client {
    /// A connection whose handshake is done.
    pub(crate) fn connect(&self, address: SocketAddr, name: &str) -> std::io::Result<Stream> {
        let name = ServerName::try_from(name.to_owned()).expect("a name");
        let mut connection =
            ClientConnection::new(Arc::new(self.config.clone()), name).expect("a client");
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(TIME_MAX))?;
        while connection.is_handshaking() {
            connection.complete_io(&mut stream)?;
        }
        Ok(StreamOwned::new(connection, stream))
    }

    /// One request on a connection of its own.
    pub(crate) fn send(
        &self,
        address: SocketAddr,
        name: &str,
        request: &[u8],
    ) -> std::io::Result<Answer> {
        let mut stream = self.connect(address, name)?;
        stream.write_all(request)?;
        let mut bytes = Vec::new();
        // An end without close_notify would be an error.
        stream.read_to_end(&mut bytes)?;
        Ok(Answer::parse(&bytes))
    }
}
