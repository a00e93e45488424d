//! Responses to requests whose head hyper refuses: too long, or not HTTP. hyper writes an empty response and closes the
//! connection. The stream here replaces it with our own, with a body and the common headers.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, ready};

use hyper::HeaderMap;
use hyper::body::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Where a connection is between two requests. What hyper writes while no answer of the shell is on its way is an
/// answer of hyper's own.
#[derive(Debug, Default)]
pub(in crate::http) struct Exchange(AtomicU8);

/// No answer of the shell is being written.
const IDLE: u8 = 0;
/// The shell is making an answer, or hyper is taking its body.
const ANSWERING: u8 = 1;
/// hyper has all of the answer; some of it may not be written yet.
const TAKEN: u8 = 2;

impl Exchange {
    /// The shell has a request.
    pub(in crate::http) fn begin(&self) {
        self.0.store(ANSWERING, Ordering::Relaxed);
    }

    /// hyper has all of its answer.
    pub(in crate::http) fn note_taken(&self) {
        self.0.store(TAKEN, Ordering::Relaxed);
    }
}

/// How requests begin; other methods have no long addresses.
const REQUEST_STARTS: [&[u8]; 6] = [
    b"GET /",
    b"HEAD /",
    b"POST /",
    b"DELETE /",
    b"PUT /",
    b"PATCH /",
];
const START_BYTES: usize = 8;

/// How long the request line of what hyper refused was. Bytes of a request may come with the end of the one before.
#[derive(Debug, Default)]
struct Lines {
    /// How the current line begins, and its length so far.
    start: [u8; START_BYTES],
    bytes: usize,
    /// The longest request line since the last answer.
    request_line_bytes: usize,
}

impl Lines {
    fn read(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let line = &bytes[..end.unwrap_or(bytes.len())];
            let free = self.start.iter_mut().skip(self.bytes);
            free.zip(line).for_each(|(kept, byte)| *kept = *byte);
            self.bytes += line.len();
            self.note();
            match end {
                Some(end) => {
                    (self.start, self.bytes) = ([0; START_BYTES], 0);
                    bytes = &bytes[end + 1..];
                }
                None => return,
            }
        }
    }

    /// The answer to one request is written: the next one begins, perhaps in the current line.
    fn begin(&mut self) {
        self.request_line_bytes = 0;
        self.note();
    }

    fn note(&mut self) {
        if REQUEST_STARTS
            .iter()
            .any(|start| self.start.starts_with(start))
        {
            self.request_line_bytes = self.request_line_bytes.max(self.bytes);
        }
    }
}

/// What the shell answers in hyper's place.
#[derive(Debug)]
pub(in crate::http) struct Explanation {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// `F` makes the answer, given hyper's status and the length of the request line as far as it was read.
pub(in crate::http) struct Explaining<I, F> {
    inner: I,
    exchange: Arc<Exchange>,
    explain: F,
    lines: Lines,
    /// What is left to write of the answer that takes the place of hyper's.
    answer: Bytes,
}

impl<I, F> Explaining<I, F> {
    pub(in crate::http) fn new(inner: I, exchange: Arc<Exchange>, explain: F) -> Self {
        Explaining {
            inner,
            exchange,
            explain,
            lines: Lines::default(),
            answer: Bytes::new(),
        }
    }
}

impl<I: AsyncWrite + Unpin, F: Fn(u16, usize) -> Explanation> Explaining<I, F> {
    /// Takes an answer of hyper's own, if this is one, and prepares the one that is sent instead.
    fn takes(&mut self, bytes: &[u8]) -> bool {
        if self.exchange.0.load(Ordering::Relaxed) != IDLE {
            return false;
        }
        let Some(status) = status_of_empty(bytes) else {
            return false;
        };
        self.answer = composed(
            bytes,
            &(self.explain)(status, self.lines.request_line_bytes),
        );
        true
    }

    fn poll_answer(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.answer.is_empty() {
            let written = ready!(Pin::new(&mut self.inner).poll_write(context, &self.answer))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.answer = self.answer.slice(written..);
        }
        Poll::Ready(Ok(()))
    }
}

/// The status of a whole answer with an empty body that refuses a request.
fn status_of_empty(bytes: &[u8]) -> Option<u16> {
    let text = std::str::from_utf8(bytes).ok()?;
    let status = text.strip_prefix("HTTP/1.")?.get(2..5)?.parse().ok()?;
    let is_empty = text.ends_with("\r\n\r\n") && text.contains("\r\ncontent-length: 0\r\n");
    (is_empty && (400..500).contains(&status)).then_some(status)
}

/// The answer in hyper's place: its version and date, the shell's headers and body.
fn composed(head: &[u8], explanation: &Explanation) -> Bytes {
    let status = explanation.status;
    let head = String::from_utf8_lossy(head);
    let version = head.split(' ').next().unwrap_or("HTTP/1.1");
    let date = head.lines().find(|line| line.starts_with("date: "));
    let reason = hyper::StatusCode::from_u16(status).ok();
    let reason = reason.and_then(|status| status.canonical_reason());
    let mut answer = format!(
        "{version} {status} {}\r\nconnection: close\r\ncontent-length: {}\r\n",
        reason.unwrap_or_default(),
        explanation.body.len()
    );
    answer.extend(date.into_iter().flat_map(|date| [date, "\r\n"]));
    let mut answer = answer.into_bytes();
    for (name, value) in &explanation.headers {
        if !matches!(name.as_str(), "connection" | "content-length" | "date") {
            answer.extend_from_slice(name.as_str().as_bytes());
            answer.extend_from_slice(b": ");
            answer.extend_from_slice(value.as_bytes());
            answer.extend_from_slice(b"\r\n");
        }
    }
    answer.extend_from_slice(b"\r\n");
    answer.extend_from_slice(&explanation.body);
    answer.into()
}

impl<I: AsyncRead + Unpin, F: Unpin> AsyncRead for Explaining<I, F> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        self.lines.read(&buffer.filled()[before..]);
        Poll::Ready(Ok(()))
    }
}

impl<I, F> AsyncWrite for Explaining<I, F>
where
    I: AsyncWrite + Unpin,
    F: Fn(u16, usize) -> Explanation + Unpin,
{
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_answer(context))?;
        if self.takes(bytes) {
            return Poll::Ready(Ok(bytes.len()));
        }
        Pin::new(&mut self.inner).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_answer(context))?;
        ready!(Pin::new(&mut self.inner).poll_flush(context))?;
        // hyper flushes once it has nothing left to write, and looks for the next request only then.
        if self.exchange.0.load(Ordering::Relaxed) == TAKEN {
            self.exchange.0.store(IDLE, Ordering::Relaxed);
            self.lines.begin();
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_answer(context))?;
        Pin::new(&mut self.inner).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_answer(context))?;
        // An answer without a body is one slice.
        if let [head] = buffers
            && self.takes(head)
        {
            return Poll::Ready(Ok(head.len()));
        }
        Pin::new(&mut self.inner).poll_write_vectored(context, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}

impl<I, F> std::fmt::Debug for Explaining<I, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Explaining")
            .field("exchange", &self.exchange)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    const OWN: &[u8] =
        b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\ndate: today\r\n\r\n";

    async fn sent(read: &[u8], exchange: Arc<Exchange>) -> String {
        let (mut client, ours) = duplex(4096);
        let mut ours = Explaining::new(ours, exchange, |status, line_bytes| Explanation {
            status,
            headers: HeaderMap::new(),
            body: format!("{line_bytes} bytes").into(),
        });
        client.write_all(read).await.expect("room");
        ours.read_exact(&mut vec![0; read.len()])
            .await
            .expect("it came");
        ours.write_all(OWN).await.expect("room");
        ours.shutdown().await.expect("closed");
        let mut text = String::new();
        client.read_to_string(&mut text).await.expect("text");
        text
    }

    #[tokio::test]
    async fn an_answer_of_hypers_own_gets_a_body() {
        let text = sent(b"GET / HTTP/1.1\r\nX: a", Arc::default()).await;
        let head = "HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 8\r\n";
        assert_eq!(text, format!("{head}date: today\r\n\r\n15 bytes"));
        let text = sent(b"GET /aaaa", Arc::default()).await;
        assert!(text.ends_with("\r\n\r\n9 bytes"), "{text}");
    }

    #[test]
    fn a_request_line_is_measured_wherever_it_begins() {
        let mut lines = Lines::default();
        lines.read(b"GET /a HT");
        lines.read(b"TP/1.1\r\nX: a\r\n\r\nPO");
        assert_eq!(lines.request_line_bytes, 16);
        lines.begin();
        assert_eq!(lines.request_line_bytes, 0);
        lines.read(b"ST /bbbb");
        assert_eq!(lines.request_line_bytes, 10);
        lines.read(b"bb");
        assert_eq!(lines.request_line_bytes, 12);
        lines.read(b"\r\nX: GET /a\r\nY: aaaaaaaaaaaaaaaaaaaaaaa");
        assert_eq!(lines.request_line_bytes, 13);
        lines.begin();
        assert_eq!(lines.request_line_bytes, 0);
    }

    #[tokio::test]
    async fn an_answer_of_the_shell_is_written_as_it_is() {
        let exchange = Arc::<Exchange>::default();
        exchange.begin();
        let text = sent(b"GET / HTTP/1.1\r\n", exchange).await;
        assert_eq!(text.as_bytes(), OWN);
    }
}
