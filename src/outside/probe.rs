//! Diagnostic probes for `doctor`: DNS, reachability and clock of an upstream. The running service does not use them.

use std::fmt;
use std::net::{IpAddr, ToSocketAddrs as _};
use std::time::Duration;

use ureq::tls::RootCerts;

use crate::domain::caa::CaaRecord;
use crate::domain::time::UnixSeconds;
use crate::outside::network::NameServers;
use crate::outside::network::dns::{self, Failure, Resolver};
use crate::outside::{agent, roots};

const CONNECT_MAX: Duration = Duration::from_secs(5);
const TIME_MAX: Duration = Duration::from_secs(10);
const BODY_BYTES_MAX: usize = 256 * 1024;

/// What a GET was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probed {
    pub status: u16,
    /// The time by the upstream's clock.
    pub date: Option<UnixSeconds>,
    /// Empty when it is longer than anything that is expected.
    pub body: Vec<u8>,
}

/// Why there was no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoAnswer(String);

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoAnswer {}

/// Blocks until there is an answer or none is to be expected.
pub fn get(url: &str) -> Result<Probed, NoAnswer> {
    get_trusting(url, None)
}

/// The same with trust roots in PEM in place of the public ones.
pub fn get_trusting(url: &str, pem: Option<&[u8]>) -> Result<Probed, NoAnswer> {
    let no_answer = |error: ureq::Error| NoAnswer(error.to_string());
    let roots = pem
        .and_then(roots::certs_of_pem)
        .unwrap_or(RootCerts::WebPki);
    let agent = agent::agent(CONNECT_MAX, 0, roots);
    let request = agent.get(url).config().timeout_global(Some(TIME_MAX));
    let mut response = request.build().call().map_err(no_answer)?;
    let date = response.headers().get("date");
    Ok(Probed {
        status: response.status().as_u16(),
        date: date.and_then(|date| date.to_str().ok()).and_then(http_date),
        body: agent::body(&mut response, BODY_BYTES_MAX)
            .map_err(no_answer)?
            .unwrap_or_default(),
    })
}

/// The addresses of a name, as this machine resolves it.
pub fn resolve(host: &str) -> std::io::Result<Vec<IpAddr>> {
    let found = (host, 443).to_socket_addrs()?;
    Ok(found.map(|address| address.ip()).collect())
}

/// The CAA records that hold for a host.
pub async fn caa(host: &str, servers: NameServers) -> Result<Vec<CaaRecord>, NoAnswer> {
    let resolver = Resolver::new(servers);
    let deadline = tokio::time::Instant::now() + TIME_MAX;
    resolver.caa(host, deadline).await.map_err(|failure| {
        NoAnswer(match failure {
            Failure::TimedOut => "the name servers did not answer in time".to_owned(),
            Failure::Failed | Failure::NotFound => "the name servers could not tell".to_owned(),
        })
    })
}

/// The name servers that this machine asks.
pub fn name_servers() -> Vec<IpAddr> {
    dns::name_servers()
}

fn http_date(text: &str) -> Option<UnixSeconds> {
    let at = jiff::fmt::rfc2822::DateTimeParser::new()
        .parse_timestamp(text)
        .ok()?;
    u64::try_from(at.as_second()).ok().map(UnixSeconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_http_are_read() {
        assert_eq!(
            http_date("Sat, 21 Nov 2026 08:00:00 GMT"),
            Some(UnixSeconds(1_795_248_000))
        );
        for other in ["", "yesterday", "Sat, 21 Nov 1926 08:00:00 GMT"] {
            assert_eq!(http_date(other), None, "{other:?}");
        }
    }
}
