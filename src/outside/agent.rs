//! Common settings of upstream connections: no proxy, no redirects, cached addresses, bounded replies.

use std::io::Read;
use std::time::Duration;

use ureq::tls::{RootCerts, TlsConfig};
use ureq::unversioned::transport::DefaultConnector;

use crate::outside::names::Remembered;

const REPLY_HEADER_BYTES_MAX: usize = 16 * 1024;

/// A pool of connections to one upstream, with so many kept idle.
pub(super) fn agent(connect_max: Duration, idle_max: usize, roots: RootCerts) -> ureq::Agent {
    let config = ureq::Agent::config_builder()
        .proxy(None)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .user_agent(concat!("context402/", env!("CARGO_PKG_VERSION")))
        .accept("application/json")
        .timeout_connect(Some(connect_max))
        .max_response_header_size(REPLY_HEADER_BYTES_MAX)
        .max_idle_connections(idle_max)
        .max_idle_connections_per_host(idle_max)
        .tls_config(TlsConfig::builder().root_certs(roots).build())
        .build();
    ureq::Agent::with_parts(config, DefaultConnector::default(), Remembered::default())
}

/// Why there was no reply.
pub(super) enum Failure {
    TimedOut,
    Unreachable(String),
}

pub(super) fn failure(error: &ureq::Error) -> Failure {
    match error {
        ureq::Error::Timeout(_) => Failure::TimedOut,
        ureq::Error::Io(broken) if broken.kind() == std::io::ErrorKind::TimedOut => {
            Failure::TimedOut
        }
        // Its text would hold the address, which may hold a secret.
        ureq::Error::BadUri(_) => Failure::Unreachable("its address cannot be used".to_owned()),
        other => Failure::Unreachable(other.to_string()),
    }
}

/// The whole body of a reply; nothing when it is longer than so many bytes.
pub(super) fn body(
    response: &mut ureq::http::Response<ureq::Body>,
    bytes_max: usize,
) -> Result<Option<Vec<u8>>, ureq::Error> {
    let mut bytes = Vec::new();
    // The library's limit counts bytes on the wire; ours counts what decompression makes of them.
    let read = response
        .body_mut()
        .with_config()
        .limit(bytes_max as u64 + 1)
        .reader()
        .take(bytes_max as u64 + 1)
        .read_to_end(&mut bytes);
    match read.map_err(ureq::Error::from) {
        Ok(_) => Ok((bytes.len() <= bytes_max).then_some(bytes)),
        Err(ureq::Error::BodyExceedsLimit(_)) => Ok(None),
        Err(broken) => Err(broken),
    }
}
