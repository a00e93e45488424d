//! A client that sends exactly what it is told, and reads what comes back without interpreting it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::Duration;

use context402::x402::encoding;
use serde_json::Value;

/// Far more than an answer takes: the machine may have much to do besides.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(60);

/// A request that can be sent any number of times.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    address: SocketAddr,
    method: String,
    target: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Ask {
    pub(crate) fn new(address: SocketAddr, method: &str, target: &str) -> Self {
        Ask {
            address,
            method: method.to_owned(),
            target: target.to_owned(),
            headers: vec![("Host".to_owned(), "some.other.name".to_owned())],
            body: Vec::new(),
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The same of a service that listens elsewhere by now.
    pub(crate) fn at(&self, address: SocketAddr) -> Ask {
        Ask {
            address,
            ..self.clone()
        }
    }

    pub(crate) fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(key, _)| key != name);
        self
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.header("Content-Type", "application/json")
            .body(body.to_string())
    }

    pub(crate) fn paid(self, header: &str) -> Self {
        self.header("PAYMENT-SIGNATURE", header)
    }

    /// The bytes on the wire.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut text = format!("{} {} HTTP/1.1\r\n", self.method, self.target);
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if !self.body.is_empty() || self.method == "POST" {
            text.push_str(&format!("Content-Length: {}\r\n", self.body.len()));
        }
        text.push_str("Connection: close\r\n\r\n");
        let mut bytes = text.into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes
    }

    /// The answer of a service that may end meanwhile: none if it did not answer in full.
    pub(crate) fn try_send(&self) -> Option<Answer> {
        let mut stream = TcpStream::connect(self.address).ok()?;
        stream.set_read_timeout(Some(ANSWER_TIME_MAX)).ok()?;
        let _ = stream.write_all(&self.bytes());
        Answer::parse_whole(&read_all(&mut stream))
    }

    pub(crate) fn send(&self) -> Answer {
        let answer = raw(self.address, &self.bytes());
        let length = answer
            .header("content-length")
            .map(|text| text.parse::<usize>());
        let is_chunked = answer.header("transfer-encoding") == Some("chunked");
        if is_chunked {
            assert_eq!(length, None, "{answer:?}");
        } else if self.method != "HEAD" && !matches!(answer.status, 204 | 304) {
            assert_eq!(length, Some(Ok(answer.body.len())), "{answer:?}");
        }
        answer
    }

    /// Sends it `count` times at once.
    pub(crate) fn send_at_once(&self, count: usize) -> Vec<Answer> {
        at_once(vec![self.clone(); count])
    }
}

/// Sends all of them at the same moment and gives the answers in order.
pub(crate) fn at_once(asks: Vec<Ask>) -> Vec<Answer> {
    let start = std::sync::Barrier::new(asks.len());
    thread::scope(|scope| {
        let asked: Vec<_> = asks
            .iter()
            .map(|ask| {
                scope.spawn(|| {
                    start.wait();
                    ask.send()
                })
            })
            .collect();
        let answers = asked.into_iter().map(|thread| thread.join());
        answers.map(|answer| answer.expect("an answer")).collect()
    })
}

/// Sends bytes and reads until the server closes.
pub(crate) fn raw(address: SocketAddr, bytes: &[u8]) -> Answer {
    Answer::parse(&raw_bytes(address, bytes))
}

/// The same without reading anything into it. A refusal may come before all was sent.
pub(crate) fn raw_bytes(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = connect(address);
    let _ = stream.write_all(bytes);
    read_all(&mut stream)
}

pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the service accepts");
    stream
        .set_read_timeout(Some(ANSWER_TIME_MAX))
        .expect("a socket takes a timeout");
    stream
}

/// What comes until the end, be it orderly or not.
pub(crate) fn read_all(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    bytes
}

/// An answer. Header names are lower case.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// None for one that breaks off before its end.
    pub(crate) fn parse_whole(bytes: &[u8]) -> Option<Answer> {
        let is_head = bytes.windows(4).any(|window| window == b"\r\n\r\n");
        let answer = is_head.then(|| Answer::parse(bytes))?;
        let is_whole = match answer.header("content-length") {
            Some(length) => length.parse() == Ok(answer.body.len()),
            // The last chunk is empty.
            None => bytes.ends_with(b"0\r\n\r\n"),
        };
        is_whole.then_some(answer)
    }

    pub(crate) fn parse(bytes: &[u8]) -> Answer {
        let shown = || String::from_utf8_lossy(bytes).into_owned();
        let end = bytes
            .windows(4)
            .position(|window| window == b"\r\n\r\n")
            .unwrap_or_else(|| panic!("no whole answer came: {:?}", shown()));
        let head = std::str::from_utf8(&bytes[..end]).expect("a head in ASCII");
        let mut lines = head.split("\r\n");
        let status_line = lines.next().unwrap_or_default();
        let status = status_line.split(' ').nth(1).and_then(|s| s.parse().ok());
        let headers = lines.filter_map(|line| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_ascii_lowercase(), value.trim().to_owned()))
        });
        let mut answer = Answer {
            status: status.unwrap_or_else(|| panic!("no status: {:?}", shown())),
            headers: headers.collect(),
            body: bytes[end + 4..].to_vec(),
        };
        if answer.header("transfer-encoding") == Some("chunked") {
            answer.body = whole(&answer.body);
        }
        answer
    }

    /// The value of a header that is there exactly once.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(key, _)| key == name);
        match (found.next(), found.next()) {
            (Some((_, value)), None) => Some(value),
            (None, _) => None,
            (Some(_), Some(_)) => panic!("{name} is there twice: {self:?}"),
        }
    }

    /// The value of a header that must be there.
    pub(crate) fn must(&self, name: &str) -> &str {
        self.header(name)
            .unwrap_or_else(|| panic!("{name} is missing: {self:?}"))
    }

    /// Insists on a status.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    /// Insists on an error: its status, its code, and that it says nothing was charged.
    #[track_caller]
    pub(crate) fn refused(self, status: u16, code: &str) -> Self {
        self.error(status, code, false)
    }

    /// The same, where the payment that the request carries was charged before.
    #[track_caller]
    pub(crate) fn refused_charged(self, status: u16, code: &str) -> Self {
        self.error(status, code, true)
    }

    #[track_caller]
    fn error(self, status: u16, code: &str, is_charged: bool) -> Self {
        assert_eq!(
            (self.status, self.code().as_str()),
            (status, code),
            "{self:?}"
        );
        let body = self.json();
        assert_eq!(body["status"], "error", "{self:?}");
        assert_eq!(body["error"]["charged"], is_charged, "{self:?}");
        assert_eq!(body["detail"], body["error"]["message"], "{self:?}");
        self.explains(&body);
        self
    }

    /// What every error says beside its detail.
    #[track_caller]
    fn explains(&self, body: &Value) {
        assert_eq!(body["request_id"], self.must("x-request-id"), "{self:?}");
        let error = &body["error"];
        assert!(error["retryable"].is_boolean(), "{self:?}");
        for member in ["code", "message", "next_step", "docs_url"] {
            assert!(error[member].is_string(), "{member}: {self:?}");
        }
    }

    /// Insists on a 422 whose first complaint is of this kind at this place.
    #[track_caller]
    pub(crate) fn invalid(self, kind: &str, loc: &[&str]) -> Self {
        assert_eq!(self.status, 422, "{self:?}");
        let complaint = self.json()["detail"][0].clone();
        assert_eq!(complaint["type"], kind, "{self:?}");
        let places = complaint["loc"].as_array().cloned().unwrap_or_default();
        let places: Vec<String> = places
            .iter()
            .map(|part| {
                part.as_str()
                    .map_or_else(|| part.to_string(), str::to_owned)
            })
            .collect();
        assert_eq!(places, loc, "{self:?}");
        assert!(complaint["msg"].is_string(), "{self:?}");
        let body = self.json();
        self.explains(&body);
        assert_eq!(body["error"]["code"], "validation_failed", "{self:?}");
        assert_eq!(body["error"]["charged"], false, "{self:?}");
        self
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The error's code.
    pub(crate) fn code(&self) -> String {
        let body: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        body["error"]["code"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// What PAYMENT-REQUIRED says.
    #[track_caller]
    pub(crate) fn challenge(&self) -> Value {
        self.decoded("payment-required")
    }

    /// What PAYMENT-RESPONSE says.
    #[track_caller]
    pub(crate) fn settlement(&self) -> Value {
        self.decoded("payment-response")
    }

    #[track_caller]
    fn decoded(&self, name: &str) -> Value {
        let bytes = encoding::decode(self.must(name)).expect("base64");
        serde_json::from_slice(&bytes).expect("JSON in a payment header")
    }

    /// The retry credit that header and body agree on.
    #[track_caller]
    pub(crate) fn credit(&self) -> String {
        let credit = self.must("x-service-retry-credit").to_owned();
        let retry = &self.json()["retry"];
        assert_eq!(retry["credit"], credit.as_str(), "{self:?}");
        assert_eq!(retry["header"], "X-Service-Retry-Credit");
        assert_eq!(retry["endpoint"], "/v1/x402/retry");
        assert!(
            retry["expires_at"].is_u64() && retry["attempts_left"].is_u64(),
            "{self:?}"
        );
        credit
    }
}

/// A body that came in chunks.
fn whole(mut chunks: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let end = chunks.windows(2).position(|window| window == b"\r\n");
        let (size, rest) = chunks.split_at(end.expect("the size of a chunk"));
        let size = std::str::from_utf8(size).expect("digits");
        let size = usize::from_str_radix(size, 16).expect("a number");
        if size == 0 {
            return body;
        }
        body.extend_from_slice(&rest[2..2 + size]);
        chunks = &rest[2 + size + 2..];
    }
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}", self.status)?;
        for (name, value) in &self.headers {
            let shown: String = value.chars().take(100).collect();
            writeln!(f, "{name}: {shown}")?;
        }
        let shown: String = self.text().chars().take(1500).collect();
        write!(f, "{shown}")
    }
}
