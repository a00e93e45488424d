//! A certificate from an ACME authority (RFC 8555): account, order, proof. It decides neither when to order nor where a
//! proof is shown, and stores nothing.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use instant_acme::{
    Account, AccountCredentials, AuthorizationStatus, BodyWrapper, BytesResponse,
    CertificateIdentifier, ChallengeType, Error, HttpClient, Identifier, LetsEncrypt, NewAccount,
    NewOrder, Order, OrderStatus, RetryPolicy,
};
use rcgen::{CertificateParams, CustomExtension, KeyPair};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::Value;

use crate::domain::certificate::Certificate;
use crate::domain::time::UnixSeconds;
use crate::outside::agent;
use crate::outside::call::ConcurrencyLimit;
use crate::outside::roots;

/// Where orders are free of rate limits, and certificates are trusted by nobody.
pub const STAGING: &str = LetsEncrypt::Staging.url();
/// Where certificates come from.
pub const PRODUCTION: &str = LetsEncrypt::Production.url();
/// Blocking threads that calls may take.
pub const THREADS: usize = 1;

const CONNECT_MAX: Duration = Duration::from_secs(10);
const CALL_TIME_MAX: Duration = Duration::from_secs(30);
const REPLY_BYTES_MAX: usize = 256 * 1024;
/// The authority looks at the proof, and then signs; each may take so long.
const POLL: RetryPolicy = RetryPolicy::new()
    .initial_delay(Duration::from_millis(250))
    .backoff(1.5)
    .timeout(Duration::from_secs(90));
const NO_ACCOUNT: &str = "urn:ietf:params:acme:error:accountDoesNotExist";
const BAD_NONCE: &str = "urn:ietf:params:acme:error:badNonce";
/// Times that something is asked for where nonces are refused. That says nothing of what is asked (RFC 8555, 6.5), and the
/// library gives up after three refusals of one call.
const ATTEMPTS_MAX: usize = 8;

/// Asks once more where a nonce was refused.
async fn despite_refused_nonces<T, F>(ask: impl Fn() -> F) -> Result<T, AcmeError>
where
    F: Future<Output = Result<T, AcmeError>>,
{
    for _ in 1..ATTEMPTS_MAX {
        match ask().await {
            Err(error) if error.is_nonce_refused => {}
            done => return done,
        }
    }
    ask().await
}

/// One authority.
#[derive(Clone)]
pub struct Authority {
    directory: String,
    email: Option<String>,
    http: Http,
}

/// How the authority checks that a name is ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChallengeKind {
    /// A handshake on port 443 (RFC 8737).
    TlsAlpn,
    /// A request on port 80.
    Http,
}

/// What the authority wants to see while an order is in progress.
#[derive(Debug)]
pub enum Proof {
    /// This certificate in a handshake for `acme-tls/1`.
    Handshake {
        certificate: CertificateDer<'static>,
        key: PrivateKeyDer<'static>,
    },
    /// This text at the path that ends with the token.
    Text { token: String, text: String },
}

/// A certificate with its chain, and its key, in PEM.
#[derive(Clone)]
pub struct Issued {
    pub chain: String,
    pub key: String,
}

/// An account at the authority.
pub struct Registered(Account);

/// How an order goes on: shows a proof, and hears of each step by its name.
pub trait Progress: Send + Sync {
    /// # Errors
    /// If the proof cannot be shown.
    fn show(&self, proof: Proof) -> Result<(), String>;
    fn step(&self, name: &'static str);
}

/// Why there is no certificate, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcmeError {
    pub text: String,
    /// The stored account is not known there any more.
    pub is_account_gone: bool,
    /// Nonces were refused, which a new try cures.
    is_nonce_refused: bool,
}

impl Authority {
    /// # Errors
    /// If there is no certificate in `root_pem`.
    pub fn new(
        directory: &str,
        root_pem: Option<&[u8]>,
        email: Option<&str>,
    ) -> Result<Authority, AcmeError> {
        let roots = match root_pem {
            None => ureq::tls::RootCerts::WebPki,
            Some(pem) => roots::certs_of_pem(pem)
                .ok_or_else(|| AcmeError::new("lab.acme_root has no certificate"))?,
        };
        Ok(Authority {
            directory: directory.to_owned(),
            email: email.map(|email| format!("mailto:{email}")),
            http: Http {
                agent: agent::agent(CONNECT_MAX, THREADS, roots),
                places: ConcurrencyLimit::new(THREADS, CALL_TIME_MAX),
            },
        })
    }

    /// The account that was stored for this authority, or a new one with what is to be stored of it.
    pub async fn account(
        &self,
        stored: Option<&str>,
    ) -> Result<(Registered, Option<String>), AcmeError> {
        despite_refused_nonces(|| self.account_once(stored)).await
    }

    async fn account_once(
        &self,
        stored: Option<&str>,
    ) -> Result<(Registered, Option<String>), AcmeError> {
        let builder = Account::builder_with_http(Box::new(self.http.clone()));
        if let Some(credentials) = stored.and_then(|stored| self.credentials(stored)) {
            let account = builder.from_credentials(credentials).await?;
            return Ok((Registered(account), None));
        }
        let contact: Vec<&str> = self.email.as_deref().into_iter().collect();
        let wanted = NewAccount {
            contact: &contact,
            terms_of_service_agreed: true,
            only_return_existing: false,
        };
        let made = builder.create(&wanted, self.directory.clone(), None);
        let (account, credentials) = made.await?;
        let stored = serde_json::to_string(&credentials).map_err(Error::from)?;
        Ok((Registered(account), Some(stored)))
    }

    /// `None` for what is unreadable or belongs to another authority.
    fn credentials(&self, stored: &str) -> Option<AccountCredentials> {
        let value: Value = serde_json::from_str(stored).ok()?;
        let is_ours = value["directory"] == self.directory.as_str();
        serde_json::from_value(value).ok().filter(|_| is_ours)
    }
}

impl Registered {
    /// Orders a certificate for `name`, proves the name, and gets the certificate with a new key.
    pub async fn order(
        &self,
        name: &str,
        challenge: ChallengeKind,
        progress: &dyn Progress,
    ) -> Result<Issued, AcmeError> {
        despite_refused_nonces(|| self.order_once(name, challenge, progress)).await
    }

    async fn order_once(
        &self,
        name: &str,
        challenge: ChallengeKind,
        progress: &dyn Progress,
    ) -> Result<Issued, AcmeError> {
        let names = [Identifier::Dns(name.to_owned())];
        let mut order = self.0.new_order(&NewOrder::new(&names)).await?;
        progress.step("acme_order");
        prove(&mut order, challenge, progress).await?;
        match order.poll_ready(&POLL).await? {
            OrderStatus::Ready | OrderStatus::Valid => {}
            _ => return Err(refused(&mut order).await),
        }
        progress.step("acme_proven");
        let key = order.finalize().await?;
        progress.step("acme_finalized");
        let chain = order.poll_certificate(&POLL).await?;
        Ok(Issued { chain, key })
    }

    /// When the authority wants this certificate to be renewed; `None` where it does not say (RFC 9773).
    pub async fn renewal_window(
        &self,
        certificate: &Certificate,
    ) -> Result<Option<(UnixSeconds, UnixSeconds)>, AcmeError> {
        let Some(authority_key) = &certificate.authority_key else {
            return Ok(None);
        };
        let (key, serial) = (authority_key.as_slice(), certificate.serial.as_slice());
        let id = CertificateIdentifier::new(key.into(), serial.into());
        let window = match self.0.renewal_info(&id).await {
            Ok((info, _)) => info.suggested_window,
            Err(Error::Unsupported(_)) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let at = |seconds: i64| UnixSeconds(u64::try_from(seconds).unwrap_or(0));
        let (start, end) = (
            at(window.start.unix_timestamp()),
            at(window.end.unix_timestamp()),
        );
        Ok((start < end).then_some((start, end)))
    }
}

async fn prove(
    order: &mut Order,
    kind: ChallengeKind,
    progress: &dyn Progress,
) -> Result<(), AcmeError> {
    let mut authorizations = order.authorizations();
    while let Some(authorization) = authorizations.next().await {
        let mut authorization = authorization?;
        if authorization.status == AuthorizationStatus::Valid {
            continue;
        }
        let challenge_type = match kind {
            ChallengeKind::TlsAlpn => ChallengeType::TlsAlpn01,
            ChallengeKind::Http => ChallengeType::Http01,
        };
        let mut challenge = authorization.challenge(challenge_type).ok_or_else(|| {
            AcmeError::new("the authority offers no proof by TLS-ALPN-01 or HTTP-01 for this name")
        })?;
        let authorized = challenge.key_authorization();
        let proof = match kind {
            ChallengeKind::TlsAlpn => {
                let name = challenge.identifier().to_string();
                handshake(&name, authorized.digest().as_ref())?
            }
            ChallengeKind::Http => Proof::Text {
                token: challenge.token.clone(),
                text: authorized.as_str().to_owned(),
            },
        };
        progress
            .show(proof)
            .map_err(|error| AcmeError::new(&error))?;
        challenge.set_ready().await?;
    }
    Ok(())
}

/// The certificate of a proof: signed by itself, with the digest in a critical extension (RFC 8737, 3).
fn handshake(name: &str, digest: &[u8]) -> Result<Proof, AcmeError> {
    let made = |error: rcgen::Error| AcmeError::new(&error.to_string());
    let mut params = CertificateParams::new(vec![name.to_owned()]).map_err(made)?;
    let extension = CustomExtension::new_acme_identifier(digest);
    params.custom_extensions.push(extension);
    let key = KeyPair::generate().map_err(made)?;
    let certificate = params.self_signed(&key).map_err(made)?;
    let key = PrivateKeyDer::try_from(key.serialize_der()).map_err(AcmeError::new)?;
    Ok(Proof::Handshake {
        certificate: certificate.der().clone(),
        key,
    })
}

/// What the authority says that it has seen in place of the proof.
async fn refused(order: &mut Order) -> AcmeError {
    let mut reasons = Vec::new();
    let mut authorizations = order.authorizations();
    while let Some(Ok(mut authorization)) = authorizations.next().await {
        if let Ok(state) = authorization.refresh().await {
            let problems = state.challenges.iter();
            let problems =
                problems.filter_map(|challenge| challenge.error.as_ref()?.detail.clone());
            reasons.extend(problems);
        }
    }
    match reasons.is_empty() {
        true => AcmeError::new("the authority refused the order and gave no reason"),
        false => AcmeError::new(&format!(
            "the authority refused the order: {}",
            reasons.join("; ")
        )),
    }
}

/// The library's HTTP, over our own connections.
#[derive(Clone)]
struct Http {
    agent: ureq::Agent,
    places: ConcurrencyLimit,
}

type Answered = Pin<Box<dyn Future<Output = Result<BytesResponse, Error>> + Send>>;

impl HttpClient for Http {
    fn request(&self, request: ureq::http::Request<BodyWrapper<Bytes>>) -> Answered {
        let (agent, places) = (self.agent.clone(), self.places.clone());
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let Ok(body) = body.collect().await;
            let request = ureq::http::Request::from_parts(parts, body.to_bytes().to_vec());
            let answer = places.run(move || exchange(&agent, request)).await;
            let other = |text: &str| Error::Other(text.into());
            match answer {
                Ok(Ok(response)) => Ok(response.into()),
                Ok(Err(error)) => Err(other(&format!("the authority did not answer: {error}"))),
                Err(_) => Err(other("another call to the authority takes too long")),
            }
        })
    }
}

fn exchange(
    agent: &ureq::Agent,
    request: ureq::http::Request<Vec<u8>>,
) -> Result<ureq::http::Response<Full<VecDeque<u8>>>, ureq::Error> {
    let request = agent
        .configure_request(request)
        .timeout_global(Some(CALL_TIME_MAX))
        .build();
    let mut response = agent.run(request)?;
    let body = agent::body(&mut response, REPLY_BYTES_MAX)?.unwrap_or_default();
    let (parts, _) = response.into_parts();
    let body = Full::new(VecDeque::from(body));
    Ok(ureq::http::Response::from_parts(parts, body))
}

impl AcmeError {
    fn new(text: &str) -> AcmeError {
        AcmeError {
            text: text.to_owned(),
            is_account_gone: false,
            is_nonce_refused: false,
        }
    }
}

impl From<Error> for AcmeError {
    fn from(error: Error) -> AcmeError {
        let kind = match &error {
            Error::Api(problem) => problem.r#type.as_deref(),
            _ => None,
        };
        AcmeError {
            is_account_gone: kind == Some(NO_ACCOUNT),
            is_nonce_refused: kind == Some(BAD_NONCE),
            text: match &error {
                Error::Timeout(_) => "the authority did not finish in time".to_owned(),
                Error::Api(problem) => format!(
                    "the authority refused the order: {}",
                    problem.detail.as_deref().unwrap_or("no reason given")
                ),
                error => error.to_string(),
            },
        }
    }
}

impl fmt::Display for AcmeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for AcmeError {}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Authority({})", self.directory)
    }
}

impl fmt::Debug for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Registered")
    }
}

impl fmt::Debug for Issued {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Issued")
    }
}

#[cfg(test)]
mod tests;
