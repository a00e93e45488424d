//! The connections to the facilitator: one pool, our credentials, one request and its bounded reply.

use std::fmt;
use std::io::ErrorKind;
use std::time::Instant;

use url::Url;

use crate::domain::time::UnixSeconds;
use crate::outside::agent;
use crate::outside::facilitator::cdp::CdpKey;
use crate::outside::facilitator::outcome::CallError;
use crate::outside::facilitator::reply::Reply;
use crate::outside::facilitator::{FacilitatorAuth, FacilitatorSettings, SettingsError};
use crate::outside::roots;

/// Longest reply that is read, in bytes after decompression.
const REPLY_BYTES_MAX: usize = 64 * 1024;

/// What a blocking call needs.
pub(super) struct Client {
    agent: ureq::Agent,
    base_url: Url,
    credentials: Credentials,
    #[cfg(test)]
    pub(super) fake: Option<super::Fake>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Client({})", self.base_url)
    }
}

enum Credentials {
    None,
    Bearer(String),
    Cdp(CdpKey),
}

impl Client {
    pub(super) fn open(settings: &FacilitatorSettings) -> Result<Client, SettingsError> {
        let base_url = base_url(&settings.base_url)?;
        let credentials = match &settings.auth {
            FacilitatorAuth::None => Credentials::None,
            FacilitatorAuth::Bearer(token) => {
                if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
                    return Err(SettingsError::Token);
                }
                Credentials::Bearer(token.clone())
            }
            FacilitatorAuth::Cdp { key_id, secret } => {
                Credentials::Cdp(CdpKey::parse(key_id, secret).map_err(SettingsError::CdpKey)?)
            }
        };
        let roots = match &settings.ca_pem {
            None => ureq::tls::RootCerts::WebPki,
            Some(pem) => roots::from_pem(pem).ok_or(SettingsError::TrustRoots)?,
        };
        // Two limits share the pool, so that verifies never crowd out the settles whose work is done.
        Ok(Client {
            agent: agent::agent(settings.connect_timeout, settings.calls_max * 2, roots),
            base_url,
            credentials,
            #[cfg(test)]
            fake: None,
        })
    }

    /// One request and its whole reply, whatever the status.
    pub(super) fn exchange(
        &self,
        operation: &str,
        body: Option<&[u8]>,
        deadline: Instant,
        now: UnixSeconds,
    ) -> Result<Reply, CallError> {
        #[cfg(test)]
        if let Some(fake) = &self.fake {
            let (status, body) = fake(operation, body.unwrap_or_default())?;
            return Ok(Reply { status, body });
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(CallError::TimedOut);
        }
        let url = format!("{}{operation}", self.base_url);
        let method = if body.is_some() { "POST" } else { "GET" };
        let authorization = self.authorization(method, operation, now)?;
        let response = match body {
            Some(body) => {
                let mut request = self.agent.post(&url);
                if let Some(value) = authorization {
                    request = request.header("Authorization", value);
                }
                request
                    .content_type("application/json")
                    .config()
                    .timeout_global(Some(left))
                    .build()
                    .send(body)
            }
            None => {
                let mut request = self.agent.get(&url);
                if let Some(value) = authorization {
                    request = request.header("Authorization", value);
                }
                request.config().timeout_global(Some(left)).build().call()
            }
        };
        read(response.map_err(failure)?)
    }

    fn authorization(
        &self,
        method: &str,
        operation: &str,
        now: UnixSeconds,
    ) -> Result<Option<String>, CallError> {
        match &self.credentials {
            Credentials::None => Ok(None),
            Credentials::Bearer(token) => Ok(Some(format!("Bearer {token}"))),
            Credentials::Cdp(key) => match self.signed(key, method, operation, now) {
                Some(token) => Ok(Some(format!("Bearer {token}"))),
                None => Err(CallError::Unreachable(
                    "no token could be signed".to_owned(),
                )),
            },
        }
    }

    fn signed(
        &self,
        key: &CdpKey,
        method: &str,
        operation: &str,
        now: UnixSeconds,
    ) -> Option<String> {
        let mut nonce = [0; 16];
        getrandom::fill(&mut nonce).ok()?;
        let host = self.base_url.host_str()?;
        let port = self.base_url.port().map(|port| format!(":{port}"));
        let path = self.base_url.path();
        let uri = format!(
            "{method} {host}{}{path}{operation}",
            port.unwrap_or_default()
        );
        key.token(&uri, now, nonce)
    }
}

fn base_url(text: &str) -> Result<Url, SettingsError> {
    let refused = || SettingsError::BaseUrl(text.to_owned());
    let mut url = Url::parse(text).map_err(|_| refused())?;
    let plain = matches!(url.scheme(), "http" | "https")
        && url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    if !plain {
        return Err(refused());
    }
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&format!("{path}/"));
    Ok(url)
}

fn read(mut response: ureq::http::Response<ureq::Body>) -> Result<Reply, CallError> {
    let too_long = || CallError::Garbled(format!("longer than {REPLY_BYTES_MAX} bytes"));
    let body = agent::body(&mut response, REPLY_BYTES_MAX)
        .map_err(failure)?
        .ok_or_else(too_long)?;
    if let Some(value) = response.headers().get("extension-responses") {
        let shown: String = value.to_str().unwrap_or("").chars().take(512).collect();
        tracing::debug!(
            extension_responses = shown,
            "the facilitator answered on extensions"
        );
    }
    Ok(Reply {
        status: response.status().as_u16(),
        body,
    })
}

/// Sorts the library's errors by what they say about the request having been seen.
fn failure(error: ureq::Error) -> CallError {
    match error {
        ureq::Error::Timeout(ureq::Timeout::Resolve | ureq::Timeout::Connect) => {
            CallError::Unreachable("no connection in time".to_owned())
        }
        ureq::Error::Timeout(_) => CallError::TimedOut,
        ureq::Error::HostNotFound
        | ureq::Error::ConnectionFailed
        | ureq::Error::BadUri(_)
        | ureq::Error::Tls(_)
        | ureq::Error::Rustls(_) => CallError::Unreachable(error.to_string()),
        ureq::Error::Io(broken) => match broken.kind() {
            ErrorKind::ConnectionRefused
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
            | ErrorKind::AddrNotAvailable => CallError::Unreachable(broken.to_string()),
            ErrorKind::TimedOut | ErrorKind::WouldBlock => CallError::TimedOut,
            ErrorKind::InvalidData | ErrorKind::InvalidInput => {
                CallError::Garbled(broken.to_string())
            }
            _ => CallError::Cut(broken.to_string()),
        },
        other => CallError::Garbled(other.to_string()),
    }
}
