//! The connections to the facilitator: one pool, our credentials, one request and its bounded reply.

use std::fmt;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue, USER_AGENT};
use hyper::{Method, Request};
use tokio::time::Instant;
use url::{Position, Url};

use crate::domain::time::UnixSeconds;
use crate::outside::facilitator::cdp::CdpKey;
use crate::outside::facilitator::connections::Connections;
use crate::outside::facilitator::outcome::CallError;
use crate::outside::facilitator::reply::Reply;
use crate::outside::facilitator::{FacilitatorAuth, FacilitatorSettings, SettingsError};
use crate::outside::roots;

pub(super) struct Client {
    connections: Connections,
    base_url: Url,
    host: HeaderValue,
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
            None => roots::compiled_in(),
            Some(pem) => roots::store_of_pem(pem).ok_or(SettingsError::TrustRoots)?,
        };
        let refused = || SettingsError::BaseUrl(settings.base_url.clone());
        let host = HeaderValue::from_str(&base_url[Position::BeforeHost..Position::AfterPort]);
        // Two limits share the pool, so that verifies never crowd out the settles whose work is done.
        let idle_max = settings.calls_max * 2;
        let connections = Connections::new(&base_url, roots, settings.connect_timeout, idle_max);
        Ok(Client {
            connections: connections.ok_or_else(refused)?,
            host: host.map_err(|_| refused())?,
            base_url,
            credentials,
            #[cfg(test)]
            fake: None,
        })
    }

    /// One request and its whole reply, whatever the status.
    pub(super) async fn exchange(
        &self,
        operation: &str,
        body: Option<Bytes>,
        deadline: Instant,
        now: UnixSeconds,
    ) -> Result<Reply, CallError> {
        #[cfg(test)]
        if let Some(fake) = &self.fake {
            let (status, body) = fake(operation, &body.unwrap_or_default()).await?;
            let body = body.into();
            return Ok(Reply { status, body });
        }
        let method = if body.is_some() {
            Method::POST
        } else {
            Method::GET
        };
        let mut request = Request::builder()
            .uri(format!("{}{operation}", self.base_url.path()))
            .header(HOST, &self.host)
            .header(
                USER_AGENT,
                concat!("context402/", env!("CARGO_PKG_VERSION")),
            )
            .header(ACCEPT, "application/json");
        if body.is_some() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        if let Some(value) = self.authorization(method.as_str(), operation, now)? {
            request = request.header(AUTHORIZATION, value);
        }
        let request = request
            .method(method)
            .body(Full::new(body.unwrap_or_default()))
            .map_err(|error| CallError::Unreachable(error.to_string()))?;
        self.connections.send(request, deadline).await
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
