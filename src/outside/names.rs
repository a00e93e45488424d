//! Cached addresses of an upstream. ureq resolves before every request, even on an open connection, and starts a thread for
//! that: a third of a call's cost.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use ureq::Error;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

use crate::sync::lock;

/// How long an answer is believed. Short beside any name's own lifetime, long beside a call.
const BELIEVED: Duration = Duration::from_secs(10);

/// Asks the system and remembers its last answer. For one agent that knows one host.
#[derive(Debug, Default)]
pub(super) struct Remembered {
    system: DefaultResolver,
    answer: Mutex<Option<(Instant, ResolvedSocketAddrs)>>,
}

impl Resolver for Remembered {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let known = lock(&self.answer);
        match &*known {
            Some((asked, addresses)) if asked.elapsed() < BELIEVED => return Ok(addresses.clone()),
            _ => drop(known),
        }
        let addresses = self.system.resolve(uri, config, timeout)?;
        *lock(&self.answer) = Some((Instant::now(), addresses.clone()));
        Ok(addresses)
    }
}
