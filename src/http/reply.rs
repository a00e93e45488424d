//! An answer: status, headers, body.

use std::any::Any;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use hyper::HeaderMap;
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};

use crate::http::pieces::{Content, Pieces, Sink, channel};
use crate::http::response_budget::{OnSent, Slot};

/// What a handler answers.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
    /// What follows the body.
    rest: Vec<Bytes>,
    /// In place of the body, where it is made while it is sent.
    pieces: Option<Pieces>,
    /// Whether the body is one that is kept for many: sending it once more takes no more memory.
    pub is_shared: bool,
    /// What the hook `withheld` is told by, should this answer find no room.
    pub ticket: Option<[u8; 32]>,
    /// Dropped once this answer has its room among those that wait to be read, or has found none.
    pub held: Option<KeptAlive>,
    /// Called once the whole answer has been handed over to the connection. Dropped uncalled, it never was.
    pub on_sent: Option<OnSent>,
}

/// What an answer holds until it is on its way, such as a share of memory.
pub type KeptAlive = Arc<dyn Any + Send + Sync>;

/// A header value that was checked once and is cheap to clone: for values that are sent often.
#[derive(Clone, Debug)]
pub struct HeaderText(HeaderValue);

impl HeaderText {
    /// Bytes that a header may not carry (controls, non-ASCII) become `?`.
    pub fn new(text: &str) -> Self {
        HeaderText(HeaderValue::from_str(text).unwrap_or_else(|_| {
            let visible: String = text
                .chars()
                .map(|c| if (' '..='~').contains(&c) { c } else { '?' })
                .collect();
            HeaderValue::from_str(&visible).unwrap_or_else(|_| HeaderValue::from_static(""))
        }))
    }
}

impl Reply {
    pub fn new(status: u16, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        let mut headers = HeaderMap::with_capacity(16);
        headers.insert("content-type", HeaderValue::from_static(content_type));
        Reply {
            headers,
            body: body.into(),
            ..Reply::empty(status)
        }
    }

    /// An answer whose body lies in several places.
    pub fn in_parts(status: u16, content_type: &'static str, parts: Vec<Bytes>) -> Self {
        let mut parts = parts.into_iter();
        let mut reply = Reply::new(status, content_type, parts.next().unwrap_or_default());
        reply.rest = parts.collect();
        reply
    }

    /// The length of the body, as far as it is made.
    pub fn length(&self) -> usize {
        self.body.len() + self.rest.iter().map(Bytes::len).sum::<usize>()
    }

    /// Whether its body is made while it is sent.
    pub(in crate::http) fn is_streamed(&self) -> bool {
        self.pieces.is_some()
    }

    /// The body without a coding.
    pub(in crate::http) fn parts(&self) -> Vec<Bytes> {
        std::iter::once(&self.body)
            .chain(&self.rest)
            .cloned()
            .collect()
    }

    /// Puts the encoded body in place of the body.
    pub(in crate::http) fn set_encoded(&mut self, body: Bytes, is_shared: bool) {
        self.body = body;
        self.rest = Vec::new();
        self.is_shared = is_shared;
    }

    /// Takes the body away.
    pub(in crate::http) fn empty_body(&mut self) {
        self.body = Bytes::new();
        self.rest = Vec::new();
    }

    /// An answer whose body is made while it is sent, and where its pieces are put in.
    pub fn in_pieces(status: u16, content_type: &'static str) -> (Self, Sink) {
        let (sink, pieces) = channel();
        let mut reply = Reply::new(status, content_type, Bytes::new());
        reply.pieces = Some(pieces);
        (reply, sink)
    }

    /// Headers and body, on their way out over a connection.
    pub(in crate::http) fn content(self, slot: &Arc<Slot>) -> (HeaderMap, Content) {
        let content = match (self.pieces, self.on_sent) {
            (Some(pieces), _) => Content::Pieces(pieces),
            (None, None) => Content::parts(std::iter::once(self.body).chain(self.rest)),
            (None, Some(on_sent)) => Content::Watched {
                parts: std::iter::once(self.body).chain(self.rest).collect(),
                slot: slot.clone(),
                on_sent,
            },
        };
        (self.headers, content)
    }

    pub fn empty(status: u16) -> Self {
        Reply {
            status,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            rest: Vec::new(),
            pieces: None,
            is_shared: false,
            ticket: None,
            held: None,
            on_sent: None,
        }
    }

    pub fn json(status: u16, body: impl Into<Bytes>) -> Self {
        Reply::new(status, "application/json", body)
    }

    pub fn text(status: u16, body: impl Into<Bytes>) -> Self {
        Reply::new(status, "text/plain; charset=utf-8", body)
    }

    pub fn html(status: u16, body: impl Into<Bytes>) -> Self {
        Reply::new(status, "text/html; charset=utf-8", body)
    }

    pub fn redirect(status: u16, location: &str) -> Self {
        Reply::empty(status).header("location", location)
    }

    /// Says that the body is kept for many.
    pub fn shared(mut self) -> Self {
        self.is_shared = true;
        self
    }

    /// Sets a header whose value is made for this answer.
    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers
            .insert(HeaderName::from_static(name), HeaderText::new(value).0);
        self
    }

    /// Sets a header that a table names, in any case. What cannot be a header's name sets none.
    pub fn named(mut self, name: &str, value: &str) -> Self {
        if let Ok(name) = HeaderName::from_bytes(name.as_bytes()) {
            self.headers.insert(name, HeaderText::new(value).0);
        }
        self
    }

    /// Sets a header whose value is a constant.
    pub fn fixed(mut self, name: &'static str, value: &'static str) -> Self {
        self.headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
        self
    }

    /// Sets a header whose value was checked before.
    pub fn prepared(mut self, name: &'static str, value: &HeaderText) -> Self {
        self.headers
            .insert(HeaderName::from_static(name), value.0.clone());
        self
    }

    /// Lets no cache store it: the next answer may be another one.
    pub fn no_store(self) -> Self {
        self.fixed("cache-control", "no-store")
    }

    pub fn is_html(&self) -> bool {
        let media = self.headers.get(CONTENT_TYPE);
        media.is_some_and(|media| media.as_bytes().starts_with(b"text/html"))
    }

    /// Lets anybody keep this answer for a while and ask later whether it has changed. The tag is a hash of the body
    /// that only has to differ when the body does.
    pub fn public(self, max_age: &'static str) -> Self {
        let mut hash = DefaultHasher::new();
        self.body.hash(&mut hash);
        let etag = format!("\"{:016x}\"", hash.finish());
        self.fixed("cache-control", max_age).header("etag", &etag)
    }
}
