//! Fetches a cleared target and streams it into the converter. It connects only to checked addresses, applies the whole
//! policy at each redirect, and stops at the first limit.
//!
//! Blocking: run it through `outside::call::ConcurrencyLimit`. One deadline covers all hops, the body and the
//! conversion.

mod body;
mod conversion;
mod dial;
mod error;
#[cfg(test)]
mod tests;

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ureq::http::HeaderMap;

use crate::domain::cache;
use crate::domain::excerpt::{Extent, Selectors};
use crate::domain::limit_reached::LimitReached;
use crate::domain::robots::{self, Robots};
use crate::domain::target::TargetUrl;
use crate::domain::usage::Usage;
use crate::markdown::{ContentKind, ConvertError, Converter, Narrowing, Page, Settings};
use crate::outside::clock::thread_time;
use crate::outside::memory::MemoryPermit;
use crate::outside::network::{ForbiddenHosts, Network, Requester};
use crate::outside::web::body::Body;
use crate::outside::web::dial::{ADDRESSES_MAX, Answer, Dialler};

pub use crate::outside::web::conversion::Conversion;
pub use crate::outside::web::error::{FetchError, RedirectError};

/// Markdown first, because some sites write it for us; the last part keeps servers from answering 406.
const ACCEPT: &str =
    "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.1";

/// Bounds of a fetch.
#[derive(Clone, Debug)]
pub struct WebSettings {
    /// Sent as it is; says who we are and where to read about it.
    pub user_agent: String,
    /// From the first lookup to the last byte converted, over all hops.
    pub budget: Duration,
    /// TCP and TLS of one hop, over all of its addresses.
    pub connect_max: Duration,
    /// The longest silence while a response is read.
    pub read_idle_max: Duration,
    /// Status line and headers of one response.
    pub header_bytes_max: usize,
    pub redirects_max: usize,
    /// `[lab] ca_file`: certificates in PEM that `[lab] hosts` are trusted by, and nobody else is.
    pub lab_roots_pem: Option<Vec<u8>>,
}

impl WebSettings {
    pub fn new(user_agent: String) -> Self {
        WebSettings {
            user_agent,
            budget: Duration::from_secs(30),
            connect_max: Duration::from_secs(8),
            read_idle_max: Duration::from_secs(8),
            header_bytes_max: 16 * 1024,
            redirects_max: 5,
            lab_roots_pem: None,
        }
    }
}

/// A target whose text and whose addresses have all been checked. Only [`Web::clear`] makes one, and only one can
/// be fetched.
#[derive(Clone, Debug)]
pub struct ClearedTarget {
    target: TargetUrl,
    addresses: Vec<IpAddr>,
}

impl ClearedTarget {
    /// All addresses were checked; those that are tried stay.
    fn of(target: &TargetUrl, mut addresses: Vec<IpAddr>) -> Self {
        addresses.truncate(ADDRESSES_MAX);
        ClearedTarget {
            target: target.clone(),
            addresses,
        }
    }

    pub fn target(&self) -> &TargetUrl {
        &self.target
    }
}

#[derive(Clone, Debug)]
pub struct FetchOptions {
    /// Keep the whole page instead of its main content.
    pub full: bool,
    /// Give a page of HTML without text as an empty one instead of an error: a browser may show more.
    pub keeps_empty: bool,
    /// What is read of a page of HTML.
    pub extent: Extent,
    /// Validators of a kept copy, as the server sent them.
    pub if_none_match: Option<String>,
    pub if_modified_since: Option<String>,
    /// The caller's own end; the budget of the settings ends the fetch earlier if it is shorter.
    pub deadline: Instant,
}

impl FetchOptions {
    fn headers(&self) -> Vec<(&str, &str)> {
        let mut headers = vec![("accept", ACCEPT)];
        if let Some(etag) = &self.if_none_match {
            headers.push(("if-none-match", etag));
        }
        if let Some(date) = &self.if_modified_since {
            headers.push(("if-modified-since", date));
        }
        headers
    }

    fn is_conditional(&self) -> bool {
        self.if_none_match.is_some() || self.if_modified_since.is_some()
    }
}

#[derive(Clone, Debug)]
pub enum Fetched {
    Page(Box<FetchedPage>),
    /// The kept copy is still what the server has.
    NotModified {
        /// See [`FetchedPage::may_be_shared`].
        may_be_shared: bool,
    },
}

#[derive(Clone, Debug)]
pub struct FetchedPage {
    /// After redirects, without a fragment.
    pub final_url: TargetUrl,
    /// 200 or 203.
    pub status: u16,
    /// The Content-Type header, or what the first bytes look like when it is absent.
    pub content_type: String,
    pub kind: ContentKind,
    pub page: Page,
    /// SHA-256 of the decoded (uncompressed) body.
    pub source_sha256: [u8; 32],
    /// Bytes of the decoded body.
    pub bytes_fetched: u64,
    /// Lookups, hops and reading; without the conversion.
    pub fetch_ms: u64,
    pub extract_ms: u64,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    /// What the response's headers say about its use.
    pub usage: Usage,
    /// Whether the response's Cache-Control lets the page be kept and sold to others.
    pub may_be_shared: bool,
    /// How many redirects led to `final_url`.
    pub redirects: usize,
}

/// In unit tests: answers for an address in a site's place, with a status and a page: HTML if it begins so, else plain text.
#[cfg(test)]
pub(crate) type Fake = Arc<dyn Fn(&str) -> Result<(u16, Vec<u8>), FetchError> + Send + Sync>;

/// A byte of markdown is two at most in JSON.
const JSON_FACTOR: usize = 2;

/// The one way to a page. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Web {
    settings: Arc<WebSettings>,
    network: Network,
    dialler: Dialler,
}

impl Web {
    /// Fails when the lab's root certificates cannot be read.
    pub fn new(settings: WebSettings, network: Network) -> Result<Self, WebError> {
        let settings = Arc::new(settings);
        let dialler = Dialler::new(settings.clone())?;
        Ok(Web {
            settings,
            network,
            dialler,
        })
    }

    /// Dials nobody from now on.
    #[cfg(test)]
    pub(crate) fn replace(&mut self, fake: Fake) {
        self.dialler.fake = Some(fake);
    }

    /// The DNS preflight: looks the host up and checks every answer. Blocking, for a buyer.
    pub fn clear(&self, target: &TargetUrl) -> Result<ClearedTarget, FetchError> {
        self.clear_before(target, Instant::now() + self.settings.budget)
    }

    /// The same without a thread that waits. Ends by `deadline`.
    pub async fn clear_for(
        &self,
        requester: Requester,
        target: &TargetUrl,
        deadline: Instant,
    ) -> Result<ClearedTarget, FetchError> {
        let checked = self.network.checked(target, requester, deadline).await?;
        Ok(ClearedTarget::of(target, checked))
    }

    /// A cleared target's addresses, each with the socket that is dialled for it.
    pub fn dialled<'a>(
        &'a self,
        cleared: &'a ClearedTarget,
    ) -> impl Iterator<Item = (IpAddr, SocketAddr)> + 'a {
        let (host, port) = (cleared.target.host(), cleared.target.port());
        let addresses = cleared.addresses.iter();
        addresses.map(move |&address| (address, self.network.dialled(host, address, port)))
    }

    /// Fetches the page, follows its redirects and converts what comes, all while it comes. In the end the permit is
    /// what the page takes as markdown and as JSON. Blocking.
    pub fn fetch(
        &self,
        cleared: ClearedTarget,
        options: &FetchOptions,
        permit: &mut MemoryPermit,
    ) -> Result<Fetched, FetchError> {
        let started = Instant::now();
        let (body, redirects) = match self.open(cleared, options)? {
            Opened::NotModified { may_be_shared } => {
                return Ok(Fetched::NotModified { may_be_shared });
            }
            Opened::Page { body, redirects } => (body, redirects),
        };
        let mut converter = Converter::new(Settings {
            kind: body.kind,
            url: body.final_url.url().clone(),
            charset: body.charset.clone(),
            full: options.full,
        })
        .timed(thread_time);
        if options.extent.comments {
            converter.include_comments();
        }
        let selectors = &options.extent.selectors;
        if !selectors.is_nothing() {
            let Selectors { include, exclude } = selectors;
            // They were parsed when the request was read.
            let narrowing = Narrowing::new(include.as_deref(), exclude.as_deref());
            let narrowing =
                narrowing.map_err(|_| FetchError::Convert(ConvertError::SelectorUnmatched))?;
            converter = converter.narrowed(narrowing);
        }
        let deadline = options.deadline.min(started + self.settings.budget);
        let mut resize = |bytes: usize| {
            let resized = permit.resize(bytes, deadline);
            resized.map_err(|LimitReached| FetchError::Overloaded)
        };
        let kind = body.kind;
        let mut conversion = Conversion::of(body.final_url.host(), kind);
        // The page as a whole, and twice what is left of it.
        let narrowing_factor = match selectors.is_nothing() {
            true => 0,
            false => 3,
        };
        let (body, drained) = body.drain(|chunk| {
            conversion.bytes += chunk.len();
            resize(conversion.bytes * (kind.row().reading_factor + narrowing_factor))?;
            let outcome = conversion.run(|| converter.push(chunk));
            outcome.map_err(FetchError::Convert)
        })?;
        match kind.row().converting_bytes(conversion.bytes) {
            0 => {}
            unpacked => resize(unpacked)?,
        }
        let fetching = started.elapsed().saturating_sub(conversion.elapsed);
        let page = match conversion.run(|| converter.finish()) {
            Err(ConvertError::Empty | ConvertError::SelectorUnmatched)
                if options.keeps_empty && kind == ContentKind::Html =>
            {
                Page::default()
            }
            converted => converted.map_err(FetchError::Convert)?,
        };
        resize(page.markdown.len() * (1 + JSON_FACTOR))?;
        Ok(Fetched::Page(Box::new(FetchedPage {
            final_url: body.final_url,
            status: body.status,
            content_type: body.content_type,
            kind: body.kind,
            page,
            source_sha256: drained.sha256,
            bytes_fetched: drained.bytes,
            fetch_ms: milliseconds(fetching),
            extract_ms: conversion.elapsed_ms(),
            etag: text(&body.headers, "etag"),
            last_modified: text(&body.headers, "last-modified"),
            usage: Usage::of_headers(
                texts(&body.headers, &["x-robots-tag"]),
                texts(&body.headers, &["content-signal", "content-usage"]),
            ),
            may_be_shared: may_be_shared(&body.headers),
            redirects,
        })))
    }

    /// The robots.txt of a target's site, as far as it is for us; a site without one forbids nothing. `None` when
    /// that cannot be told. Blocking, for `time_max` at the longest.
    pub fn robots(&self, target: &TargetUrl, time_max: Duration) -> Option<Robots> {
        let deadline = Instant::now() + time_max;
        let file = target.redirect("/robots.txt").ok()?;
        let cleared = self.clear_before(&file, deadline).ok()?;
        let headers = [("accept", "text/plain, */*;q=0.1")];
        let (_, answer, _) = self.follow(cleared, &headers, deadline).ok()?;
        match answer.status() {
            200 | 203 => {
                let bytes = body::beginning(answer, robots::BYTES_MAX).ok()?;
                Some(Robots::parse(&bytes))
            }
            // RFC 9309 section 2.3.1.3, but who asks us to slow down has not answered.
            429 => None,
            204 | 400..=499 => Some(Robots::default()),
            _ => None,
        }
    }

    /// Whether this service or its operator refuses the host, before any lookup.
    pub fn is_forbidden(&self, target: &TargetUrl) -> bool {
        self.network.is_forbidden(target)
    }

    /// Puts other hosts in place of those that the operator blocks.
    pub fn block(&self, hosts: ForbiddenHosts) {
        self.network.block(hosts);
    }

    fn clear_before(
        &self,
        target: &TargetUrl,
        deadline: Instant,
    ) -> Result<ClearedTarget, FetchError> {
        let checked = self.network.checked_addresses(target, deadline)?;
        Ok(ClearedTarget::of(target, checked))
    }

    fn open(&self, cleared: ClearedTarget, options: &FetchOptions) -> Result<Opened, FetchError> {
        let deadline = options.deadline.min(Instant::now() + self.settings.budget);
        let (target, answer, redirects) = self.follow(cleared, &options.headers(), deadline)?;
        match answer.status() {
            200 | 203 => {
                let body = Box::new(Body::new(target, answer, deadline)?);
                Ok(Opened::Page { body, redirects })
            }
            304 if options.is_conditional() => Ok(Opened::NotModified {
                may_be_shared: may_be_shared(answer.headers()),
            }),
            status => Err(FetchError::Status(status)),
        }
    }

    /// Goes from hop to hop until a response is no redirect. Gives where that is, and after how many redirects.
    fn follow(
        &self,
        cleared: ClearedTarget,
        headers: &[(&str, &str)],
        deadline: Instant,
    ) -> Result<(TargetUrl, Answer, usize), FetchError> {
        let mut visited = vec![cleared.target.clone()];
        let mut hop = cleared;
        loop {
            let answer = self.request(&hop, headers, deadline)?;
            match answer.status() {
                status @ (301 | 302 | 303 | 307 | 308) => {
                    let location = answer
                        .headers()
                        .get("location")
                        .ok_or(FetchError::Status(status))?;
                    let location = std::str::from_utf8(location.as_bytes())
                        .map_err(|_| FetchError::Redirect(RedirectError::NotText))?;
                    let next = self.next_hop(&hop.target, location, &visited)?;
                    hop = self
                        .clear_before(&next, deadline)
                        .map_err(FetchError::behind_redirect)?;
                    visited.push(next);
                }
                _ => return Ok((hop.target, answer, visited.len() - 1)),
            }
        }
    }

    fn next_hop(
        &self,
        from: &TargetUrl,
        location: &str,
        visited: &[TargetUrl],
    ) -> Result<TargetUrl, FetchError> {
        if visited.len() > self.settings.redirects_max {
            return Err(FetchError::TooManyRedirects(self.settings.redirects_max));
        }
        let next = from
            .redirect(location)
            .map_err(|error| FetchError::Redirect(RedirectError::Target(error)))?;
        if from.is_https() && !next.is_https() {
            return Err(FetchError::Redirect(RedirectError::Downgrade));
        }
        if visited.contains(&next) {
            return Err(FetchError::Redirect(RedirectError::Loop));
        }
        Ok(next)
    }

    fn request(
        &self,
        hop: &ClearedTarget,
        headers: &[(&str, &str)],
        deadline: Instant,
    ) -> Result<Answer, FetchError> {
        tracing::debug!(host = %hop.target.host(), "requesting a page");
        let sockets = self.dialled(hop);
        let sockets: Vec<_> = sockets
            .map(|(address, dialled)| dial::Pin { address, dialled })
            .collect();
        let is_lab = self.network.is_lab_host(hop.target.host());
        self.dialler
            .get(&hop.target, sockets, is_lab, headers, deadline)
    }
}

enum Opened {
    Page { body: Box<Body>, redirects: usize },
    NotModified { may_be_shared: bool },
}

/// A header's value, when it is visible ASCII.
fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

/// All values of several headers, as far as they are visible ASCII.
fn texts<'a>(headers: &'a HeaderMap, names: &'a [&str]) -> impl Iterator<Item = &'a str> {
    let values = names.iter().flat_map(|name| headers.get_all(*name));
    values.filter_map(|value| value.to_str().ok())
}

fn may_be_shared(headers: &HeaderMap) -> bool {
    cache::may_be_shared(texts(headers, &["cache-control"]))
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Why the web could not be opened at start.
#[derive(Debug)]
pub enum WebError {
    /// The lab's certificates are no PEM.
    LabRoots(String),
    /// The lab's file holds no certificate.
    NoLabRoot,
}

impl fmt::Display for WebError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WebError::LabRoots(error) => write!(f, "lab.ca_file cannot be read as PEM: {error}"),
            WebError::NoLabRoot => f.write_str("lab.ca_file holds no certificate"),
        }
    }
}

impl std::error::Error for WebError {}
