//! Trust roots from a file, for upstreams whose certificates no public authority has signed.

use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;
use tokio_rustls::rustls::RootCertStore;
use ureq::tls::{PemItem, RootCerts, parse_pem};

/// The public authorities.
pub(super) fn compiled_in() -> RootCertStore {
    RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    }
}

/// Every certificate in a PEM text. `None` when there is none, or one that cannot be a root.
pub(super) fn store_of_pem(pem: &[u8]) -> Option<RootCertStore> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        roots.add(certificate.ok()?).ok()?;
    }
    (!roots.is_empty()).then_some(roots)
}

/// Every certificate in a PEM text. They take the place of the compiled-in roots. `None` when there is none.
pub(super) fn certs_of_pem(pem: &[u8]) -> Option<RootCerts> {
    let certificates: Vec<_> = parse_pem(pem)
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        })
        .collect();
    (!certificates.is_empty()).then(|| certificates.into())
}
