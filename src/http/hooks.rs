//! The hooks through which the product words refusals, admits requests and counts them. The shell knows nothing else of it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::header::{HeaderMap, HeaderValue};

use crate::http::call::Peer;
use crate::http::method::Method;
use crate::http::reply::Reply;
use crate::http::route::{Answer, Route};

/// How the product words what the shell decides, and what it counts.
pub struct Hooks<S: 'static, D: 'static> {
    pub refuse: fn(&S, &Refused, &RequestFacts<'_>) -> Reply,
    /// Whether a request that did not come over the operator's socket is the operator's all the same.
    pub knows_operator: fn(&S, &HeaderMap) -> bool,
    /// Asked before the body is read.
    pub admit: fn(&S, &Route<S, D>, &Arrived<'_>) -> Admission,
    pub observe: fn(&S, &Seen),
    /// Makes markdown of a page for a client that prefers it to HTML.
    pub as_markdown: fn(Arc<S>, PageAsked, Reply) -> Answer,
    /// Told of an answer with a ticket that found no room, before the refusal goes out in its place.
    pub withheld: fn(Arc<S>, [u8; 32]) -> Notification,
}

/// The work that a notification starts.
pub type Notification = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A request whose row is found and whose body is not read yet.
#[derive(Clone, Copy, Debug)]
pub struct Arrived<'a> {
    pub method: Method,
    pub headers: &'a HeaderMap,
    pub peer: Peer,
    pub asked: RequestFacts<'a>,
}

/// Whether a request may come in.
#[derive(Clone, Debug)]
pub enum Admission {
    Granted,
    /// The answer gets these headers.
    Counted(HeaderMap),
    Refused(Reply),
}

/// Why a request never reached its handler, or left it without an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    NotFound,
    MethodNotAllowed(Vec<Method>),
    /// A defect of the message itself, as a sentence.
    BadRequest(&'static str),
    /// The bytes that the row takes.
    BodyTooLarge(usize),
    BodyTooSlow,
    /// Other requests' bodies take all the memory there is for them.
    NoRoomForBody,
    /// The client, behind a trusted proxy, has as many requests in progress as it may.
    TooManyRequests,
    /// As many requests are worked on as may be.
    TooManyRuns,
    HeadersTooLarge,
    UriTooLong,
    /// The body is sent in a transfer coding other than chunked.
    UnknownTransferCoding,
    Panicked,
    /// The request came in clear, and this is its address over HTTPS.
    InClear(String),
    /// Too much of what was answered to others still waits to be read.
    NoRoomForAnswer {
        /// Whether the answer was what a payment bought.
        is_sold: bool,
    },
}

/// What is known of a request when it is refused.
#[derive(Clone, Copy, Debug)]
pub struct RequestFacts<'a> {
    pub request_id: &'a str,
    /// The row's pattern, when one was found.
    pub pattern: Option<&'static str>,
    pub accepts_html: bool,
    /// The payment, transfer or credit in its headers.
    pub payment: Option<&'a HeaderValue>,
}

impl<'a> RequestFacts<'a> {
    /// Of a request that was not looked up.
    pub(in crate::http) fn of(request_id: &'a str, payment: Option<&'a HeaderValue>) -> Self {
        RequestFacts {
            request_id,
            pattern: None,
            accepts_html: false,
            payment,
        }
    }
}

/// A page that was asked for.
#[derive(Clone, Debug)]
pub struct PageAsked {
    /// The page's own path, also where its markdown was asked for.
    pub path: String,
    /// Of its row.
    pub pattern: &'static str,
    pub request_id: String,
}

/// A finished request, for the metrics.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// The row's pattern; `-` when none matched.
    pub pattern: &'static str,
    pub method: &'static str,
    pub status: u16,
    pub duration: Duration,
}

impl<S, D> std::fmt::Debug for Hooks<S, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hooks")
    }
}

/// The text of an Allow header.
pub fn method_list(methods: &[Method]) -> String {
    methods
        .iter()
        .map(|method| method.name())
        .collect::<Vec<_>>()
        .join(", ")
}
