//! Trust roots from a file, for upstreams whose certificates no public authority has signed.

use ureq::tls::{PemItem, RootCerts, parse_pem};

/// Every certificate in a PEM text. They take the place of the compiled-in roots. `None` when there is none.
pub(super) fn from_pem(pem: &[u8]) -> Option<RootCerts> {
    let certificates: Vec<_> = parse_pem(pem)
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        })
        .collect();
    (!certificates.is_empty()).then(|| certificates.into())
}
