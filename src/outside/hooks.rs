//! Webhook notices to the operator: a signed JSON POST; any 2xx is success, a redirect is a failure.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::domain::limit_reached::LimitReached;
use crate::domain::time::UnixSeconds;
use crate::outside::agent::{self, Failure};
use crate::outside::call::{ConcurrencyLimit, Permit};
use crate::signing::stamp;

const CONNECT_MAX: Duration = Duration::from_secs(5);
const NOTICE_TIME_MAX: Duration = Duration::from_secs(10);
/// Notices at once.
const NOTICES_MAX: usize = 2;
/// How long a notice waits for its place.
const PLACE_WAIT_MAX: Duration = Duration::from_secs(20);

/// The client. Cheap to clone; clones share connections and places.
#[derive(Clone)]
pub struct Hook {
    agent: ureq::Agent,
    url: Arc<str>,
    secret: Option<Arc<str>>,
    places: ConcurrencyLimit,
}

/// Why a notice was not taken. Shows neither address nor secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookError {
    /// Our own limit; nothing was sent.
    Saturated,
    Unreachable(String),
    TimedOut,
    Status(u16),
}

/// Blocking threads that notices may take.
pub const THREADS: usize = NOTICES_MAX;

impl Hook {
    pub fn new(url: &str, secret: Option<&str>) -> Hook {
        Hook {
            agent: agent::agent(CONNECT_MAX, NOTICES_MAX, ureq::tls::RootCerts::WebPki),
            url: url.into(),
            secret: secret.map(Into::into),
            places: ConcurrencyLimit::new(NOTICES_MAX, PLACE_WAIT_MAX),
        }
    }

    /// A place for a notice, if one is free now.
    pub fn try_place(&self) -> Option<Permit> {
        self.places.try_enter()
    }

    /// Sends one notice, once a place is free.
    pub async fn send(
        &self,
        event: &'static str,
        body: String,
        now: UnixSeconds,
    ) -> Result<(), HookError> {
        match self.places.enter().await {
            Ok(place) => self.send_in(place, event, body, now).await,
            Err(LimitReached) => Err(HookError::Saturated),
        }
    }

    /// Sends one notice in a place that is taken for it.
    pub async fn send_in(
        &self,
        place: Permit,
        event: &'static str,
        body: String,
        now: UnixSeconds,
    ) -> Result<(), HookError> {
        let hook = self.clone();
        let sent = place.run(move || hook.exchange(event, &body, now));
        sent.await.unwrap_or(Err(HookError::Saturated))
    }

    fn exchange(&self, event: &str, body: &str, now: UnixSeconds) -> Result<(), HookError> {
        let mut request = self
            .agent
            .post(&*self.url)
            .content_type("application/json")
            .header("X-Service-Event", event);
        if let Some(secret) = &self.secret {
            let signature = stamp::sign(secret, now.0, body.as_bytes());
            request = request.header("X-Service-Signature", signature);
        }
        let response = request
            .config()
            .timeout_global(Some(NOTICE_TIME_MAX))
            .build()
            .send(body)
            .map_err(|error| failure(&error))?;
        match response.status().as_u16() {
            200..=299 => Ok(()),
            status => Err(HookError::Status(status)),
        }
    }
}

fn failure(error: &ureq::Error) -> HookError {
    match agent::failure(error) {
        Failure::TimedOut => HookError::TimedOut,
        Failure::Unreachable(why) => HookError::Unreachable(why),
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hook")
    }
}

impl fmt::Display for HookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HookError::Saturated => f.write_str("too many notices are under way already"),
            HookError::Unreachable(detail) => {
                write!(f, "the address for notices cannot be reached: {detail}")
            }
            HookError::TimedOut => f.write_str("the address for notices did not answer in time"),
            HookError::Status(status) => {
                write!(f, "the address for notices answered with status {status}")
            }
        }
    }
}

impl std::error::Error for HookError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outside::loopback::{Server, Step, response};

    const NOW: UnixSeconds = UnixSeconds(1_795_000_000);

    async fn sent(server: &Server, secret: Option<&str>) -> Result<(), HookError> {
        let hook = Hook::new(&format!("{}/hook?key=1", server.url), secret);
        hook.send("lead.created", "{\"a\":1}".to_owned(), NOW).await
    }

    #[tokio::test]
    async fn a_notice_is_signed_with_its_time() {
        let server = Server::start(|_| Step::Reply(response(204, &[], b"")));
        assert_eq!(sent(&server, Some("s-1")).await, Ok(()));
        let request = &server.requests()[0];
        assert_eq!(
            (request.method.as_str(), request.path.as_str()),
            ("POST", "/hook?key=1")
        );
        assert_eq!(request.header("x-service-event"), Some("lead.created"));
        assert_eq!(request.header("content-type"), Some("application/json"));
        let header = request.header("x-service-signature").expect("signed");
        assert_eq!(stamp::check(header, ["s-1"], &request.body, NOW.0), Ok(()));
        assert!(stamp::check(header, ["s-2"], &request.body, NOW.0).is_err());
    }

    #[tokio::test]
    async fn without_a_secret_nothing_is_signed() {
        let server = Server::start(|_| Step::Reply(response(200, &[], b"ok")));
        assert_eq!(sent(&server, None).await, Ok(()));
        assert_eq!(server.requests()[0].header("x-service-signature"), None);
    }

    #[tokio::test]
    async fn whatever_is_no_yes_is_a_failure_and_no_redirect_is_followed() {
        let elsewhere = Server::start(|_| Step::Reply(response(200, &[], b"")));
        let location = elsewhere.url.clone();
        for status in [307, 404, 500] {
            let location = location.clone();
            let server = Server::start(move |_| {
                Step::Reply(response(status, &[("Location", &location)], b"no"))
            });
            let failed = Err(HookError::Status(status));
            assert_eq!(sent(&server, Some("s")).await, failed);
        }
        assert!(elsewhere.requests().is_empty());
        let hook = Hook::new("http://127.0.0.1:1/secret-path", None);
        let refused = hook.send("lead.created", "{}".to_owned(), NOW).await;
        let refused = refused.expect_err("nobody listens").to_string();
        assert!(!refused.contains("secret-path"), "{refused}");
    }
}
