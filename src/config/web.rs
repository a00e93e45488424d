//! The settings for our addresses and proxies, and for fetching: `fetch.…` and `lab.…`.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use url::{Host, Url};

use crate::config::settings::{BASE_URL_EXAMPLE, doc};
use crate::config::{ConfigError, Resolved};
use crate::domain::target::host_name;
use crate::outside::network::LabHost;

#[derive(Clone, Debug)]
pub struct Fetch {
    pub time_max: Duration,
    pub idle_max: Duration,
    pub fetches_max: usize,
    pub redirects_max: usize,
    /// Blocked hosts; a name covers its subdomains.
    pub blocklist: Vec<String>,
}

/// For tests. Refused unless `base_url` is on loopback.
#[derive(Clone, Debug, Default)]
pub struct Lab {
    pub hosts: BTreeMap<String, LabHost>,
    /// The name server for targets instead of the system's. On loopback.
    pub name_server: Option<SocketAddr>,
    pub ca_file: Option<PathBuf>,
    /// Another ACME authority. On loopback.
    pub acme_directory: Option<String>,
    /// The roots of its own HTTPS and of what it issues.
    pub acme_root: Option<PathBuf>,
    /// The program that renders, in place of this one.
    pub render_worker: Option<PathBuf>,
    /// Abort the process at this named point of a sale.
    pub crash_at: Option<String>,
}

pub(in crate::config) fn base_url(resolved: &Resolved) -> Result<String, ConfigError> {
    refuse_example(resolved, "base_url", BASE_URL_EXAMPLE)?;
    let expected = "an http or https address without path, query or credentials, such as https://context.example.com";
    resolved.checked("base_url", expected, |text| {
        let url = Url::parse(text).ok()?;
        let plain = matches!(url.scheme(), "http" | "https")
            && url.path() == "/"
            && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none();
        let has_host = match url.host()? {
            Host::Domain(name) => host_name(name).is_some(),
            Host::Ipv4(_) | Host::Ipv6(_) => true,
        };
        (plain && has_host).then(|| url.as_str().trim_end_matches('/').to_owned())
    })
}

/// What `config init` wrote is not yet set.
pub(in crate::config) fn refuse_example(
    resolved: &Resolved,
    key: &str,
    example: &str,
) -> Result<(), ConfigError> {
    match resolved.optional(key) == Some(example) {
        true => Err(ConfigError::of(
            key,
            format!("{key} is still the example. Set it: {}", doc(key)),
        )),
        false => Ok(()),
    }
}

pub(in crate::config) fn is_loopback_url(base_url: &str) -> bool {
    let Ok(url) = Url::parse(base_url) else {
        return false;
    };
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => IpAddr::V4(address).is_loopback(),
        Some(Host::Ipv6(address)) => IpAddr::V6(address).is_loopback(),
        None => false,
    }
}

/// `10.0.0.0/8`, or one address. Bits beyond the length are an error.
pub(in crate::config) fn trusted_proxies(
    resolved: &Resolved,
) -> Result<Vec<(IpAddr, u8)>, ConfigError> {
    let blocks = resolved.list("trusted_proxies");
    let parsed = blocks.iter().map(|text| {
        address_block(text).ok_or_else(|| {
            ConfigError::of(
"trusted_proxies", format!(
                "trusted_proxies: \"{text}\" is invalid: each must be an address or a block such as 10.0.0.0/8, \
                without bits set beyond its length"
            ))
        })
    });
    parsed.collect()
}

fn address_block(text: &str) -> Option<(IpAddr, u8)> {
    let (address, bits) = match text.split_once('/') {
        Some((address, bits)) => (address, Some(bits.parse::<u8>().ok()?)),
        None => (text, None),
    };
    let address: IpAddr = address.parse().ok()?;
    let width = if address.is_ipv4() { 32 } else { 128 };
    let bits = bits.unwrap_or(width);
    let number = match address {
        IpAddr::V4(v4) => u128::from(u32::from(v4)) << 96,
        IpAddr::V6(v6) => u128::from(v6),
    };
    let beyond = u128::MAX.checked_shr(u32::from(bits)).unwrap_or(0);
    (bits <= width && number & beyond == 0).then_some((address, bits))
}

pub(in crate::config) fn fetch(resolved: &Resolved) -> Result<Fetch, ConfigError> {
    let blocklist = resolved.list("fetch.blocklist");
    Ok(Fetch {
        blocklist: self::blocklist(blocklist.iter().map(String::as_str))?,
        time_max: resolved.seconds_to("fetch.seconds_max", 60)?,
        idle_max: resolved.seconds("fetch.idle_seconds_max")?,
        fetches_max: resolved.count("fetch.at_once_max")?,
        redirects_max: resolved.count("fetch.redirects_max")?,
    })
}

pub(in crate::config) fn blocklist<'a>(
    hosts: impl IntoIterator<Item = &'a str>,
) -> Result<Vec<String>, ConfigError> {
    hosts.into_iter().map(blocked).collect()
}

/// A host in any valid spelling. An invalid one would block nothing.
fn blocked(text: &str) -> Result<String, ConfigError> {
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    let is_address = bare.parse::<IpAddr>().is_ok();
    let name = text.strip_prefix("*.").unwrap_or(text);
    match is_address || host_name(name).is_some() {
        true => Ok(text.to_lowercase()),
        false => Err(ConfigError::of(
            "fetch.blocklist",
            format!(
                "fetch.blocklist: \"{text}\" is invalid: each must be a host such as example.net, which covers its \
             subdomains"
            ),
        )),
    }
}

/// The crash points for `lab.crash_at`: of a sale, of an order, and of an order for a certificate.
pub(in crate::config) const CRASH_POINTS: [&str; 21] = [
    "verified",
    "fetched",
    "held",
    "redeeming",
    "kept",
    "settled",
    "recorded",
    "event_taken",
    "order_taken",
    "source_kept",
    "sources_done",
    "order_written",
    "order_delivered",
    "mailed",
    "acme_begun",
    "acme_account",
    "acme_order",
    "acme_proven",
    "acme_finalized",
    "acme_written",
    "acme_renamed",
];

fn crash_at(resolved: &Resolved) -> Result<Option<String>, ConfigError> {
    match resolved.optional("lab.crash_at") {
        Some(point) if !CRASH_POINTS.contains(&point) => {
            let expected = format!("one of {}", CRASH_POINTS.join(", "));
            Err(resolved.expected("lab.crash_at", &expected))
        }
        point => Ok(point.map(str::to_owned)),
    }
}

pub(in crate::config) fn lab(resolved: &Resolved) -> Result<Lab, ConfigError> {
    let mut hosts = BTreeMap::new();
    for (name, text) in resolved.map("lab.hosts") {
        let host = LabHost::parse(&text).map_err(|error| {
            ConfigError::of(
"lab.hosts", format!(
                "lab.hosts, {name} = \"{text}\": {error}. Write \"93.184.216.34@127.0.0.1:8081\""
            ))
        })?;
        hosts.insert(name.to_ascii_lowercase(), host);
    }
    let expected = "an address on loopback with a port, such as 127.0.0.1:5353";
    let name_server = match resolved.optional("lab.name_server") {
        None => None,
        Some(_) => Some(resolved.checked("lab.name_server", expected, |text| {
            let server: SocketAddr = text.parse().ok()?;
            server.ip().is_loopback().then_some(server)
        })?),
    };
    Ok(Lab {
        hosts,
        name_server,
        ca_file: resolved.optional("lab.ca_file").map(PathBuf::from),
        acme_directory: match resolved.optional("lab.acme_directory") {
            None => None,
            Some(_) => Some(resolved.checked(
                "lab.acme_directory",
                "an https address on loopback, such as https://127.0.0.1:14000/dir",
                |text| {
                    let safe = text.starts_with("https://") && is_loopback_url(text);
                    safe.then(|| text.to_owned())
                },
            )?),
        },
        acme_root: resolved.optional("lab.acme_root").map(PathBuf::from),
        render_worker: resolved.optional("lab.render_worker").map(PathBuf::from),
        crash_at: crash_at(resolved)?,
    })
}
