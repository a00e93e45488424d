//! The one pipeline: hyper's request → `Call` → row → `Reply` → hyper's response. Limits, request ids, the panic
//! guard, detached runs, CORS, conditional answers and the access log are applied here, once, for every row.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{
    ACCEPT, AUTHORIZATION, CACHE_CONTROL, COOKIE, ETAG, HOST, HeaderMap, HeaderName, HeaderValue,
    IF_NONE_MATCH, TRANSFER_ENCODING,
};
use hyper::{Request, Response, StatusCode, Version};
use tokio_util::task::TaskTracker;

use crate::http::bodies::Bodies;
use crate::http::call::{Call, MARKDOWN_PARAMETER, Peer, Query};
use crate::http::coding::{self, Accepted, Encoder};
use crate::http::connection_limit::{ConnectionLimit, ConnectionPermit, Full};
use crate::http::forwarded::TrustedProxies;
use crate::http::hooks::{
    Admission, Arrived, Hooks, PageAsked, Refused, RequestFacts, Seen, method_list,
};
use crate::http::host;
use crate::http::lingering_close::RequestInProgress;
use crate::http::method::Method;
use crate::http::pieces::Content;
use crate::http::reply::Reply;
use crate::http::request_body;
use crate::http::request_ids::RequestIds;
use crate::http::response_budget::{COUNTED_BYTES_MIN, Slot};
use crate::http::route::{Answer, Guard, Route, Run};
use crate::http::router::{Found, Params, Router};
use crate::http::to_https::ToHttps;
use crate::http::unparsed::Explanation;

/// What the shell needs to serve a table.
pub struct Shell<S: 'static, D: 'static> {
    pub state: Arc<S>,
    pub router: Router<S, D>,
    pub limits: Limits,
    /// The request bodies in memory.
    pub bodies: Bodies,
    pub encoder: Encoder,
    pub hooks: Hooks<S, D>,
    /// Whose word on where a request comes from counts.
    pub trusted_proxies: TrustedProxies,
    /// Headers that every answer carries unless its handler has set them.
    pub common_headers: &'static [(HeaderName, HeaderValue)],
    /// The request headers that a browser's script may send (CORS).
    pub cors_request_headers: &'static str,
    /// The request headers that carry a payment.
    pub payment_headers: &'static [HeaderName],
    pub request_ids: RequestIds,
    /// Detached runs; a graceful stop waits for them.
    pub runs: TaskTracker,
    /// Whether every request leaves a line in the log.
    pub access_log: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Largest request body; more is 413.
    pub body_bytes_max: usize,
    /// Largest sum of header names and values; more is 431.
    pub header_bytes_max: usize,
    /// Largest path and query; more is 414.
    pub uri_bytes_max: usize,
    /// Time for a whole request body to arrive; more is 408.
    pub body_time_max: Duration,
    /// Detached runs at once, whether or not their clients still wait; one more is 503.
    pub runs_max: usize,
}

/// Names the request in the log and to its client.
static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// A body that nobody has read and that is no larger has mostly come with its head: hyper skips it, and the connection
/// goes on.
const SKIPPED_BYTES_MAX: u64 = 8 * 1024;
/// Method, version and line end of a request line, at most.
const LINE_BYTES_BESIDE_URI: usize = 24;
/// What is answered anywhere.
const METHODS: [Method; 5] = [
    Method::Get,
    Method::Head,
    Method::Post,
    Method::Delete,
    Method::Options,
];

impl<S: Send + Sync + 'static, D> Shell<S, D> {
    /// Answers one request. Never fails: whatever goes wrong is an answer.
    pub(in crate::http) async fn answer(
        &self,
        request: Request<Incoming>,
        peer: Peer,
        slot: &Arc<Slot>,
        in_progress: &RequestInProgress,
        is_full: bool,
    ) -> Response<Content> {
        let started = Instant::now();
        // hyper drops this future when the client leaves.
        let waiting = Arc::new(());
        if request.body().is_end_stream() {
            in_progress.ended();
        }
        let unread = request.body().size_hint().upper();
        let request_id = self.request_ids.next();
        let peer = match (self.hooks.knows_operator)(&self.state, request.headers()) {
            true => Peer::Operator,
            false => self.trusted_proxies.client(peer, request.headers()),
        };
        let method_text = Method::parse(request.method().as_str()).map_or("OTHER", Method::name);
        let payment = self.payment(request.headers()).cloned();
        let conditional = request.headers().get(IF_NONE_MATCH).cloned();
        let accepted = match is_encoded_for(request.headers(), peer) {
            true => Accepted::of(request.headers()),
            false => Accepted::default(),
        };
        let mut pattern = "-";
        let mut reply = match is_full {
            true => {
                let asked = RequestFacts::of(&request_id, payment.as_ref());
                (self.hooks.refuse)(&self.state, &Refused::TooManyRequests, &asked)
            }
            false => {
                let watched = (in_progress, &waiting);
                self.reply(request, peer, &request_id, &mut pattern, watched)
                    .await
            }
        };
        coding::note_variance(&mut reply);
        let coding = accepted.coding(&reply);
        let reads = matches!(method_text, "GET" | "HEAD");
        if reads && reply.status == 200 && is_current(conditional.as_ref(), &reply.headers) {
            reply.status = 304;
            reply.empty_body();
            if let Some(coding) = coding {
                coding::mark_tag(&mut reply, coding);
            }
        } else if let Some(coding) = coding {
            reply = self.encoder.encode(reply, coding).await;
        }
        if takes_room(&reply, peer) && !slot.begin(reply.length()).await {
            let asked = RequestFacts {
                pattern: Some(pattern),
                ..RequestFacts::of(&request_id, payment.as_ref())
            };
            if let Some(ticket) = reply.ticket {
                (self.hooks.withheld)(self.state.clone(), ticket).await;
            }
            let refused = Refused::NoRoomForAnswer {
                is_sold: reply.on_sent.is_some(),
            };
            reply = (self.hooks.refuse)(&self.state, &refused, &asked);
        }
        reply.held = None;
        if in_progress.is_under_way() && unread.is_none_or(|bytes| bytes > SKIPPED_BYTES_MAX) {
            reply = reply.fixed("connection", "close");
        }
        let seen = Seen {
            pattern,
            method: method_text,
            status: reply.status,
            duration: started.elapsed(),
        };
        self.respond(reply, &seen, peer, &request_id, slot)
    }

    /// Answers a request on the plain port beside HTTPS. The connection ends with it.
    pub(in crate::http) fn answer_in_clear(
        &self,
        to_https: &ToHttps,
        request: &Request<Incoming>,
        peer: Peer,
        slot: &Arc<Slot>,
    ) -> Response<Content> {
        let started = Instant::now();
        let request_id = self.request_ids.next();
        let payment = self.payment(request.headers());
        let asked = RequestFacts::of(&request_id, payment);
        let refuse = |refused| (self.hooks.refuse)(&self.state, &refused, &asked);
        let reply = match self.check_head(request) {
            Err(refused) => refuse(refused),
            Ok(()) => (to_https.read(request).filter(|_| payment.is_none()))
                .unwrap_or_else(|| refuse(Refused::InClear(to_https.address(request)))),
        };
        let reply = reply.fixed("connection", "close");
        let seen = Seen {
            pattern: "-",
            method: Method::parse(request.method().as_str()).map_or("OTHER", Method::name),
            status: reply.status,
            duration: started.elapsed(),
        };
        self.respond(reply, &seen, peer, &request_id, slot)
    }

    /// Counts a request against the client that a trusted proxy names. `Ok(None)` where it names none, and for the
    /// operator.
    pub(in crate::http) fn count_behind(
        &self,
        connection_limit: &ConnectionLimit,
        proxy: Peer,
        headers: &HeaderMap,
    ) -> Result<Option<ConnectionPermit>, Full> {
        match self.trusted_proxies.client(proxy, headers) {
            client if client == proxy => Ok(None),
            Peer::Network(_) if (self.hooks.knows_operator)(&self.state, headers) => Ok(None),
            Peer::Network(client) => connection_limit.join(client.ip().to_canonical()),
            Peer::Operator => Ok(None),
        }
    }

    async fn reply(
        &self,
        request: Request<Incoming>,
        peer: Peer,
        request_id: &str,
        pattern: &mut &'static str,
        (in_progress, waiting): (&RequestInProgress, &Arc<()>),
    ) -> Reply {
        let accepts_html = request
            .headers()
            .get(ACCEPT)
            .is_some_and(|accept| accept.as_bytes().starts_with(b"text/html"));
        let payment = self.payment(request.headers()).cloned();
        let asked = |pattern| RequestFacts {
            request_id,
            pattern,
            accepts_html,
            payment: payment.as_ref(),
        };
        if let Err(refused) = self.check_head(&request) {
            return (self.hooks.refuse)(&self.state, &refused, &asked(None));
        }
        let (row, params, method) = match self.find(&request, peer) {
            Ok(found) => found,
            Err(Preflight::Refused(refused)) => {
                return (self.hooks.refuse)(&self.state, &refused, &asked(None));
            }
            Err(Preflight::Options(methods)) => return self.options(&methods),
        };
        *pattern = row.path;
        let arrived = Arrived {
            method,
            headers: request.headers(),
            peer,
            asked: asked(Some(row.path)),
        };
        let counted = match (self.hooks.admit)(&self.state, row, &arrived) {
            Admission::Granted => None,
            Admission::Counted(headers) => Some(headers),
            Admission::Refused(reply) => return reply,
        };
        let (head, body) = request.into_parts();
        let body = match method {
            Method::Post | Method::Delete => {
                let limit = row.body_bytes_max.unwrap_or(self.limits.body_bytes_max);
                let body = self.read_body(body, limit).await;
                if body.is_ok() {
                    in_progress.ended();
                }
                body
            }
            Method::Get | Method::Head | Method::Options => Ok(Bytes::new()),
        };
        let body = match body {
            Ok(body) => body,
            Err(refused) => {
                let reply = (self.hooks.refuse)(&self.state, &refused, &asked(Some(row.path)));
                return reply.fixed("connection", "close");
            }
        };
        let call = Call {
            method,
            path: head.uri.path().to_owned(),
            pattern: row.path,
            params,
            query: Query(head.uri.query().unwrap_or_default().to_owned()),
            headers: head.headers,
            body,
            peer,
            request_id: request_id.to_owned(),
            waiting: Some(Arc::downgrade(waiting)),
        };
        let as_markdown = call.wants_markdown().then(|| PageAsked {
            path: match call.param(MARKDOWN_PARAMETER) {
                Some(_) => row.path.to_owned(),
                None => call.path.clone(),
            },
            pattern: row.path,
            request_id: request_id.to_owned(),
        });
        if row.run == Run::Detached && self.runs.len() >= self.limits.runs_max {
            let refused = Refused::TooManyRuns;
            return (self.hooks.refuse)(&self.state, &refused, &asked(Some(row.path)));
        }
        match self.run(row, call).await {
            Ok(mut reply) => {
                if let Some(asked) = as_markdown.filter(|_| reply.is_html()) {
                    reply = (self.hooks.as_markdown)(self.state.clone(), asked, reply).await;
                }
                if row.guard == Guard::Operator {
                    // What the operator alone may see is kept by nobody on the way.
                    let never = HeaderValue::from_static("no-store");
                    reply.headers.entry(CACHE_CONTROL).or_insert(never);
                }
                // A limit that the handler found is nearer than the one at admission.
                for (name, value) in counted.iter().flatten() {
                    reply.headers.entry(name).or_insert(value.clone());
                }
                reply
            }
            Err(Panicked) => {
                tracing::error!(
                    request.id = request_id,
                    path = row.path,
                    "a handler panicked"
                );
                (self.hooks.refuse)(&self.state, &Refused::Panicked, &asked(Some(row.path)))
            }
        }
    }

    fn payment<'a>(&self, headers: &'a HeaderMap) -> Option<&'a HeaderValue> {
        self.payment_headers
            .iter()
            .find_map(|name| headers.get(name))
    }

    fn check_head(&self, request: &Request<Incoming>) -> Result<(), Refused> {
        let uri = request.uri();
        let uri_bytes = uri.path().len() + uri.query().map_or(0, |query| query.len() + 1);
        if uri_bytes > self.limits.uri_bytes_max {
            return Err(Refused::UriTooLong);
        }
        let header_bytes: usize = request
            .headers()
            .iter()
            .map(|(name, value)| name.as_str().len() + value.len() + 4)
            .sum();
        if header_bytes > self.limits.header_bytes_max {
            return Err(Refused::HeadersTooLarge);
        }
        // hyper does not insist on it (RFC 9112, 3.2). Before HTTP/1.1 there was none, and load balancers still ask so.
        let hosts = request.headers().get_all(HOST).iter().count();
        match hosts {
            1 => Ok(()),
            0 if request.version() <= Version::HTTP_10 => Ok(()),
            _ => Err(Refused::BadRequest(
                "A request needs exactly one Host header",
            )),
        }?;
        let stated = request.headers().get(HOST).map(HeaderValue::as_bytes);
        let authority = uri
            .authority()
            .map(|authority| authority.as_str().as_bytes());
        if !stated.into_iter().chain(authority).all(host::is_valid) {
            return Err(Refused::BadRequest(
                "The Host header, or the host of the address, is not a host with an optional port",
            ));
        }
        check_transfer_coding(request.headers())
    }

    /// The answer to a request whose head hyper has refused with this status. Of the request only the length of its
    /// first line is known: hyper counts it as part of the header block.
    pub(in crate::http) fn unparsed(
        &self,
        status: u16,
        line_bytes: usize,
        peer: Peer,
        slot: &Arc<Slot>,
    ) -> Explanation {
        let request_id = self.request_ids.next();
        let is_line = line_bytes > self.limits.uri_bytes_max + LINE_BYTES_BESIDE_URI;
        let refused = match status {
            414 | 431 if is_line => Refused::UriTooLong,
            414 | 431 => Refused::HeadersTooLarge,
            _ => Refused::BadRequest("The request's head is not well-formed HTTP/1.1"),
        };
        let asked = RequestFacts::of(&request_id, None);
        let reply = (self.hooks.refuse)(&self.state, &refused, &asked);
        let seen = Seen {
            pattern: "-",
            method: "OTHER",
            status: reply.status,
            duration: Duration::ZERO,
        };
        let body = reply.body.clone();
        let response = self.respond(reply, &seen, peer, &request_id, slot);
        Explanation {
            status: seen.status,
            headers: response.into_parts().0.headers,
            body,
        }
    }

    fn find(
        &self,
        request: &Request<Incoming>,
        peer: Peer,
    ) -> Result<(&'static Route<S, D>, Params, Method), Preflight> {
        let method = Method::parse(request.method().as_str());
        match (method, request.uri().path()) {
            // Of the service as a whole, not of an address (RFC 9110, 9.3.7).
            (Some(Method::Options), "*") => return Err(Preflight::Options(METHODS.to_vec())),
            // A tunnel has no path to be looked up, and there are none here.
            (None, "") => {
                let refused = Refused::MethodNotAllowed(METHODS.to_vec());
                return Err(Preflight::Refused(refused));
            }
            _ => {}
        }
        // A method we do not know is looked up as OPTIONS, which no row has, to learn whether the path is there.
        let found = self.router.find(
            method.unwrap_or(Method::Options),
            request.uri().path(),
            peer,
        );
        match (found, method) {
            (Found::Row(row, params), Some(method)) => Ok((row, params, method)),
            (Found::OtherMethods(methods), Some(Method::Options)) => {
                Err(Preflight::Options(methods))
            }
            (Found::OtherMethods(methods), _) => {
                Err(Preflight::Refused(Refused::MethodNotAllowed(methods)))
            }
            (Found::Row(..), None) | (Found::Nothing, _) => {
                Err(Preflight::Refused(Refused::NotFound))
            }
        }
    }

    async fn read_body(&self, body: Incoming, limit: usize) -> Result<Bytes, Refused> {
        if body.size_hint().lower() > limit as u64 {
            return Err(Refused::BodyTooLarge(limit));
        }
        let counted = self.bodies.begin();
        let let_go = counted.let_go();
        let whole = request_body::collect(body, limit, counted);
        let in_time = tokio::time::timeout(self.limits.body_time_max, whole);
        tokio::select! {
            outcome = in_time => match outcome {
                Ok(outcome) => outcome,
                Err(_) => Err(Refused::BodyTooSlow),
            },
            // Slower than others that need its room.
            () = let_go.notified() => Err(Refused::BodyTooSlow),
        }
    }

    /// Runs a handler behind the panic guard. The first poll is made in place: most answers are ready then. Only a
    /// detached row that has to wait moves to a task of its own, which outlives the connection.
    async fn run(&self, row: &'static Route<S, D>, call: Call) -> Result<Reply, Panicked> {
        let mut guarded = Guarded((row.handler)(self.state.clone(), call));
        let first =
            std::future::poll_fn(|context| Poll::Ready(Pin::new(&mut guarded).poll(context))).await;
        match (first, row.run) {
            (Poll::Ready(outcome), _) => outcome,
            (Poll::Pending, Run::Attached) => guarded.await,
            (Poll::Pending, Run::Detached) => match self.runs.spawn(guarded).await {
                Ok(outcome) => outcome,
                Err(_) => Err(Panicked),
            },
        }
    }

    fn options(&self, methods: &[Method]) -> Reply {
        let names = method_list(methods);
        Reply::empty(204)
            .header("allow", &names)
            .header("access-control-allow-methods", &names)
            .fixed("access-control-allow-headers", self.cors_request_headers)
            .fixed("access-control-max-age", "86400")
    }

    /// Counts and logs an answer, and gives it to hyper.
    fn respond(
        &self,
        reply: Reply,
        seen: &Seen,
        peer: Peer,
        request_id: &str,
        slot: &Arc<Slot>,
    ) -> Response<Content> {
        (self.hooks.observe)(&self.state, seen);
        if self.access_log {
            log_access(seen, peer, reply.length(), request_id);
        }
        let status = StatusCode::from_u16(reply.status);
        let (mut headers, content) = reply.content(slot);
        let mut response = Response::new(content);
        *response.status_mut() = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        for (name, value) in self.common_headers {
            headers.entry(name).or_insert_with(|| value.clone());
        }
        if let Ok(value) = HeaderValue::from_str(request_id) {
            headers.insert(&REQUEST_ID, value);
        }
        *response.headers_mut() = headers;
        response
    }
}

/// chunked is the only transfer coding that is read, and it may be applied once (RFC 9112, 6.1 and 7).
fn check_transfer_coding(headers: &HeaderMap) -> Result<(), Refused> {
    let lines = headers.get_all(TRANSFER_ENCODING).iter();
    let names: Vec<&[u8]> = lines
        .flat_map(|line| line.as_bytes().split(|byte| *byte == b','))
        .map(<[u8]>::trim_ascii)
        .filter(|name| !name.is_empty())
        .collect();
    let is_chunked = |name: &&[u8]| name.eq_ignore_ascii_case(b"chunked");
    match names.iter().all(is_chunked) {
        false => Err(Refused::UnknownTransferCoding),
        true if names.len() > 1 => Err(Refused::BadRequest(
            "The transfer coding chunked is named more than once",
        )),
        true => Ok(()),
    }
}

/// Whether an answer is large and in memory for this client alone. The operator is not counted.
fn takes_room(reply: &Reply, peer: Peer) -> bool {
    reply.length() >= COUNTED_BYTES_MIN && !reply.is_shared && peer != Peer::Operator
}

/// What is answered before a row's handler runs.
enum Preflight {
    Refused(Refused),
    Options(Vec<Method>),
}

/// Whether the answer may be encoded, as far as the request tells.
///
/// SECURITY: the length of an encoded answer tells what its parts share (BREACH). That is of use to somebody who can make
/// another's browser ask again and again with its credentials, so what is answered to credentials is not encoded: the
/// operator's, and any request with a cookie or authorization. What is paid for is asked for once, with a signature.
fn is_encoded_for(headers: &HeaderMap, peer: Peer) -> bool {
    peer != Peer::Operator && !headers.contains_key(COOKIE) && !headers.contains_key(AUTHORIZATION)
}

/// RFC 9110, 13.1.2: If-None-Match compares weakly. An answer is as current in one coding as in another.
fn is_current(conditional: Option<&HeaderValue>, headers: &HeaderMap) -> bool {
    let (Some(conditional), Some(etag)) = (
        conditional.and_then(|value| value.to_str().ok()),
        headers.get(ETAG),
    ) else {
        return false;
    };
    let Ok(etag) = etag.to_str() else {
        return false;
    };
    conditional
        .split(',')
        .map(str::trim)
        .any(|tag| tag == "*" || coding::plain_tag(tag.trim_start_matches("W/")) == etag)
}

fn log_access(seen: &Seen, peer: Peer, bytes: usize, request_id: &str) {
    let duration_us = u64::try_from(seen.duration.as_micros()).unwrap_or(u64::MAX);
    let client = match peer {
        Peer::Network(address) => Some(address.ip()),
        Peer::Operator => None,
    };
    tracing::info!(
        target: "access",
        method = seen.method,
        path = seen.pattern,
        status = seen.status,
        duration_us,
        bytes,
        client = client.as_ref().map(tracing::field::display),
        request.id = request_id,
        "answered"
    );
}

/// A handler whose panic is a value. State behind it is either immutable, atomic or in the store, whose writer does
/// not run here, so nothing half-changed is seen afterwards.
struct Guarded(Answer);

#[derive(Debug)]
struct Panicked;

impl Future for Guarded {
    type Output = Result<Reply, Panicked>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match std::panic::catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(context))) {
            Ok(Poll::Ready(reply)) => Poll::Ready(Ok(reply)),
            Ok(Poll::Pending) => Poll::Pending,
            Err(_) => Poll::Ready(Err(Panicked)),
        }
    }
}

impl<S, D> std::fmt::Debug for Shell<S, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shell")
            .field("router", &self.router)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
