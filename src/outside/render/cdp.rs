//! The Chrome DevTools Protocol over the pipe that the browser inherits: JSON messages, each ended by NUL. Nobody else can
//! drive the browser, as they could through a port. Messages are untyped, because their fields change between releases.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader,
};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::timeout;

use crate::sync::lock;

/// The longest message of the browser: a page's HTML, escaped twice.
const MESSAGE_BYTES_MAX: usize = 40 * 1024 * 1024;
/// Events that wait to be looked at; then the browser waits.
const EVENTS_MAX: usize = 1024;
/// Messages that wait to be written.
const COMMANDS_MAX: usize = 1024;

/// Why a command has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CdpError {
    /// The pipe is closed, or what comes out of it is not the protocol.
    Lost,
    /// No answer in time.
    Silent,
    /// The browser's own error.
    Refused(String),
}

impl fmt::Display for CdpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CdpError::Lost => f.write_str("the browser is gone"),
            CdpError::Silent => f.write_str("the browser does not answer"),
            CdpError::Refused(message) => f.write_str(message),
        }
    }
}

/// One browser's protocol. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Cdp {
    commands: mpsc::Sender<Vec<u8>>,
    calls: Arc<Mutex<Calls>>,
    next: Arc<AtomicU64>,
    closed: Arc<Notify>,
}

#[derive(Debug, Default)]
struct Calls {
    waiting: HashMap<u64, oneshot::Sender<Result<Value, CdpError>>>,
    is_lost: bool,
}

/// A message that answers no command.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) session: String,
    pub(super) method: String,
    pub(super) params: Value,
}

impl Cdp {
    /// Speaks through a pipe's two ends. Events come out of the receiver, which ends when the browser does.
    pub(super) fn new(
        mut to: impl AsyncWrite + Unpin + Send + 'static,
        from: impl AsyncRead + Unpin + Send + 'static,
    ) -> (Cdp, mpsc::Receiver<Event>) {
        let (commands, mut queue) = mpsc::channel::<Vec<u8>>(COMMANDS_MAX);
        let (events, received) = mpsc::channel(EVENTS_MAX);
        tokio::spawn(async move {
            while let Some(message) = queue.recv().await {
                if to.write_all(&message).await.is_err() {
                    break;
                }
            }
        });
        let calls = Arc::new(Mutex::new(Calls::default()));
        let answered = calls.clone();
        let closed = Arc::new(Notify::new());
        let closing = closed.clone();
        tokio::spawn(async move {
            let mut from = BufReader::with_capacity(64 * 1024, from);
            loop {
                let message = tokio::select! {
                    message = message(&mut from) => message,
                    () = closing.notified() => break,
                };
                let Ok(message) = message else { break };
                let taken = take(&answered, message);
                let goes_on = match taken {
                    Ok(None) => true,
                    Ok(Some(event)) => events.send(event).await.is_ok(),
                    Err(_) => false,
                };
                if !goes_on {
                    break;
                }
            }
            let mut calls = lock(&answered);
            calls.is_lost = true;
            calls.waiting.clear();
        });
        let cdp = Cdp {
            commands,
            calls,
            next: Arc::new(AtomicU64::new(1)),
            closed,
        };
        (cdp, received)
    }

    /// Reads no more, as if the pipe were closed: of a browser that has ended, whose children may hold it open.
    pub(super) fn close(&self) {
        self.closed.notify_one();
    }

    /// Sends a command to a session (empty: to the browser) and waits for its result.
    pub(super) async fn call(
        &self,
        session: &str,
        method: &str,
        params: Value,
        within: Duration,
    ) -> Result<Value, CdpError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (result, waits) = oneshot::channel();
        {
            let mut calls = lock(&self.calls);
            if calls.is_lost {
                return Err(CdpError::Lost);
            }
            calls.waiting.insert(id, result);
        }
        let asked = async {
            let message = command(id, session, method, &params);
            self.commands
                .send(message)
                .await
                .map_err(|_| CdpError::Lost)?;
            waits.await.unwrap_or(Err(CdpError::Lost))
        };
        let answer = timeout(within, asked).await;
        lock(&self.calls).waiting.remove(&id);
        answer.unwrap_or(Err(CdpError::Silent))
    }

    /// Sends a command whose result nobody needs. A browser that takes no more commands misses it.
    pub(super) fn post(&self, session: &str, method: &str, params: Value) {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let _ = self
            .commands
            .try_send(command(id, session, method, &params));
    }
}

fn command(id: u64, session: &str, method: &str, params: &Value) -> Vec<u8> {
    let mut message = json!({"id": id, "method": method, "params": params});
    if !session.is_empty() {
        message["sessionId"] = session.into();
    }
    let mut bytes = message.to_string().into_bytes();
    bytes.push(0);
    bytes
}

/// The next message, without its end.
async fn message(from: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Vec<u8>> {
    let mut message = Vec::new();
    loop {
        let read = from.fill_buf().await?;
        if read.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let end = memchr::memchr(0, read);
        let taken = end.unwrap_or(read.len());
        if message.len() + taken > MESSAGE_BYTES_MAX {
            return Err(io::ErrorKind::InvalidData.into());
        }
        message.extend_from_slice(&read[..taken]);
        from.consume(taken + usize::from(end.is_some()));
        if end.is_some() {
            return Ok(message);
        }
    }
}

/// Gives a result to who waits for it; an event is given back.
fn take(calls: &Mutex<Calls>, message: Vec<u8>) -> Result<Option<Event>, serde_json::Error> {
    let mut message: Value = serde_json::from_slice(&message)?;
    if let Some(id) = message["id"].as_u64() {
        if let Some(waiting) = lock(calls).waiting.remove(&id) {
            let result = match message.get("error") {
                Some(error) => {
                    let text = error["message"]
                        .as_str()
                        .unwrap_or("an error without words");
                    Err(CdpError::Refused(text.to_owned()))
                }
                None => Ok(message["result"].take()),
            };
            let _ = waiting.send(result);
        }
        return Ok(None);
    }
    let text = |name: &str| message[name].as_str().unwrap_or_default().to_owned();
    let (session, method) = (text("sessionId"), text("method"));
    Ok(Some(Event {
        session,
        method,
        params: message["params"].take(),
    }))
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    const SHORT: Duration = Duration::from_millis(200);

    /// A browser that answers each command with the next of these messages, then closes.
    fn browser(answers: &'static [&'static [u8]]) -> (Cdp, mpsc::Receiver<Event>) {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        tokio::spawn(async move {
            let (mut from, mut to) = tokio::io::split(theirs);
            for answer in answers {
                while from.read_u8().await.is_ok_and(|byte| byte != 0) {}
                to.write_all(answer).await.expect("open");
            }
        });
        let (from, to) = tokio::io::split(ours);
        Cdp::new(to, from)
    }

    #[tokio::test]
    async fn results_events_and_errors_are_told_apart() {
        let (cdp, mut events) = browser(&[
            b"{\"method\":\"A.b\",\"sessionId\":\"s\",\"params\":{\"x\":1}}\0{\"id\":1,\"result\":{\"y\":2}}\0",
            b"{\"id\":2,\"error\":{\"message\":\"no\"}}\0",
        ]);
        let result = cdp.call("", "M.a", json!({}), SHORT).await;
        assert_eq!(result, Ok(json!({"y": 2})));
        let event = events.recv().await.expect("one");
        assert_eq!(
            (event.session.as_str(), event.method.as_str()),
            ("s", "A.b")
        );
        let result = cdp.call("s", "M.b", json!({}), SHORT).await;
        assert_eq!(result, Err(CdpError::Refused("no".to_owned())));
        assert!(events.recv().await.is_none(), "it has closed");
        assert_eq!(
            cdp.call("", "M.c", json!({}), SHORT).await,
            Err(CdpError::Lost)
        );
    }

    #[tokio::test]
    async fn what_is_not_the_protocol_ends_it() {
        const NONSENSE: [&[&[u8]]; 2] = [&[b"nonsense\0"], &[b"{\"id\":1"]];
        for nonsense in NONSENSE {
            let (cdp, _events) = browser(nonsense);
            assert_eq!(
                cdp.call("", "M.a", json!({}), SHORT).await,
                Err(CdpError::Lost)
            );
        }
    }

    #[tokio::test]
    async fn a_silent_browser_is_not_waited_for() {
        let (cdp, _events) = browser(&[b"{\"id\":77,\"result\":{}}\0", b""]);
        assert_eq!(
            cdp.call("", "M.a", json!({}), SHORT).await,
            Err(CdpError::Silent)
        );
        assert!(lock(&cdp.calls).waiting.is_empty());
    }
}
