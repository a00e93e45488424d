//! `[tls]`: HTTPS without a reverse proxy, with a certificate from an ACME authority or from files.

use std::net::SocketAddr;
use std::path::PathBuf;

use url::{Host, Url};

use crate::config::{ConfigError, Origin, Resolved};
use crate::domain::email::is_email;

/// Where HTTPS is accepted by default.
const LISTEN: &str = "[::]:443";

#[derive(Clone, Debug)]
pub struct Tls {
    /// The host of base_url.
    pub name: String,
    pub source: CertificateSource,
    /// The plain port that leads to HTTPS.
    pub http_listen: Option<SocketAddr>,
    /// For the account and the certificate of an authority.
    pub folder: PathBuf,
}

/// Where the certificate comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CertificateSource {
    Acme { email: Option<String> },
    Files { certificate: PathBuf, key: PathBuf },
}

pub(in crate::config) fn tls(
    resolved: &Resolved,
    base_url: &str,
    folder: PathBuf,
) -> Result<Option<Tls>, ConfigError> {
    let is_acme = resolved.parse("tls.acme", "true or false")?;
    let file = |key: &str| resolved.optional(key).map(PathBuf::from);
    let source = match (is_acme, file("tls.certificate"), file("tls.key")) {
        (false, None, None) => return Ok(None),
        (true, None, None) => CertificateSource::Acme {
            email: email(resolved)?,
        },
        (false, Some(certificate), Some(key)) => CertificateSource::Files { certificate, key },
        (true, ..) => {
            return refuse("tls.acme and tls.certificate exclude each other: set one of them");
        }
        (false, ..) => {
            return refuse("tls.certificate and tls.key belong together: set both of them");
        }
    };
    let Some(url) = Url::parse(base_url)
        .ok()
        .filter(|url| url.scheme() == "https")
    else {
        return refuse("[tls] is set, but base_url is not an https address: set it to https://");
    };
    let is_name = matches!(url.host(), Some(Host::Domain(name)) if name.contains('.'));
    let is_lab = resolved.optional("lab.acme_directory").is_some();
    if is_acme && !is_lab && (!is_name || url.port().is_some()) {
        return refuse(
            "tls.acme needs a base_url with a public host name and no port, such as https://context.example.com: the \
             authority connects to it on port 443",
        );
    }
    let http_listen = match resolved.text("tls.http_listen")? {
        "off" => None,
        _ => Some(resolved.parse(
            "tls.http_listen",
            "an address and port such as [::]:80, or \"off\"",
        )?),
    };
    let name = url.host_str().unwrap_or_default();
    Ok(Some(Tls {
        name: name.trim_matches(['[', ']']).to_owned(),
        source,
        http_listen,
        folder,
    }))
}

/// The address for HTTPS or, without it, for HTTP.
pub(in crate::config) fn listen(
    resolved: &Resolved,
    tls: Option<&Tls>,
) -> Result<SocketAddr, ConfigError> {
    let expected = "an address and port such as 127.0.0.1:4020";
    match (tls, resolved.get("listen")) {
        (Some(_), Some((_, Origin::Default))) => LISTEN
            .parse()
            .map_err(|_| resolved.expected("listen", expected)),
        _ => resolved.parse("listen", expected),
    }
}

fn email(resolved: &Resolved) -> Result<Option<String>, ConfigError> {
    match resolved.optional("tls.acme_email") {
        None => Ok(None),
        Some(_) => resolved
            .checked("tls.acme_email", "an e-mail address", |text| {
                is_email(text).then(|| text.to_owned())
            })
            .map(Some),
    }
}

fn refuse<T>(text: &str) -> Result<T, ConfigError> {
    Err(ConfigError::new(text))
}
