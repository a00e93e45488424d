//! Idle connections. At the connection limit, the one that has been idle longest is closed for the next client. A
//! connection with a request or an unwritten response in progress is never closed.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::sync::Notify;

use crate::http::connection_limit::ConnectionPermit;
use crate::http::pieces::{BrokenOff, Content};
use crate::http::unparsed::Exchange;
use crate::sync::lock;

/// All connections that wait for a request.
#[derive(Debug, Default)]
pub(in crate::http) struct Idle(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Those that wait, by when they began to.
    waiting: BTreeMap<u64, Arc<Notify>>,
    last: u64,
    /// Those that were told to close and have not closed yet.
    closing: usize,
}

/// One connection's part in it. It begins by waiting.
#[derive(Debug)]
pub(in crate::http) struct Turns {
    idle: Arc<Idle>,
    /// Its key among those that wait; 0 while a request is in progress.
    key: AtomicU64,
    /// The answer's last byte was handed over, and is written with the next flush.
    is_answered: AtomicBool,
    let_go: Arc<Notify>,
}

impl Idle {
    /// Closes the connection that has waited longest, unless another one is closing already. Tells whether there will be
    /// a place.
    pub(in crate::http) fn close_longest(&self) -> bool {
        let mut state = self.state();
        if state.closing > 0 {
            return true;
        }
        let Some((_, connection)) = state.waiting.pop_first() else {
            return false;
        };
        state.closing += 1;
        connection.notify_one();
        true
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }
}

impl State {
    fn wait(&mut self, connection: &Arc<Notify>) -> u64 {
        self.last += 1;
        self.waiting.insert(self.last, connection.clone());
        self.last
    }
}

impl Turns {
    pub(in crate::http) fn new(idle: &Arc<Idle>) -> Turns {
        let let_go = Arc::default();
        let key = idle.state().wait(&let_go);
        Turns {
            idle: idle.clone(),
            key: AtomicU64::new(key),
            is_answered: AtomicBool::new(false),
            let_go,
        }
    }

    /// A request has come. False where the connection was told to close just before: then nothing may be done for the
    /// request, because its answer would not arrive.
    pub(in crate::http) fn begin(&self) -> bool {
        self.is_answered.store(false, Ordering::Relaxed);
        let mut state = self.idle.state();
        match self.key.swap(0, Ordering::Relaxed) {
            0 => true,
            key if state.waiting.remove(&key).is_some() => true,
            key => {
                self.key.store(key, Ordering::Relaxed);
                false
            }
        }
    }

    /// All that was handed over is written. After an answer's last byte the connection waits again.
    pub(in crate::http) fn flushed(&self) {
        if self.is_answered.swap(false, Ordering::Relaxed) {
            let key = self.idle.state().wait(&self.let_go);
            self.key.store(key, Ordering::Relaxed);
        }
    }

    /// The connection ends in good order, and may take its time to.
    pub(in crate::http) fn ends(&self) {
        self.begin();
    }

    /// Resolves when the connection has to be closed for others.
    pub(in crate::http) async fn let_go(&self) {
        self.let_go.notified().await;
    }
}

impl Drop for Turns {
    fn drop(&mut self) {
        let mut state = self.idle.state();
        let key = self.key.load(Ordering::Relaxed);
        if key != 0 && state.waiting.remove(&key).is_none() {
            state.closing -= 1;
        }
    }
}

/// An answer that says when its last byte was handed over.
#[derive(Debug)]
pub(in crate::http) struct Answering {
    content: Content,
    turns: Arc<Turns>,
    exchange: Arc<Exchange>,
    /// The request counts as one of its client's until then.
    _member: Option<ConnectionPermit>,
}

impl Answering {
    pub(in crate::http) fn new(
        content: Content,
        turns: Arc<Turns>,
        exchange: Arc<Exchange>,
        permit: Option<ConnectionPermit>,
    ) -> Answering {
        Answering {
            content,
            turns,
            exchange,
            _member: permit,
        }
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.exchange.note_taken();
        self.turns.is_answered.store(true, Ordering::Relaxed);
    }
}

impl Body for Answering {
    type Data = Bytes;
    type Error = BrokenOff;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        Pin::new(&mut self.content).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.content.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.content.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_let_go(turns: &Turns) -> bool {
        let mut let_go = std::pin::pin!(turns.let_go());
        let mut context = Context::from_waker(std::task::Waker::noop());
        let_go.as_mut().poll(&mut context).is_ready()
    }

    fn answer(turns: &Arc<Turns>) {
        drop(Answering::new(
            Content::parts(std::iter::empty()),
            turns.clone(),
            Arc::default(),
            None,
        ));
    }

    #[test]
    fn the_connection_that_has_waited_longest_is_closed() {
        let idle = Arc::<Idle>::default();
        let all: Vec<Arc<Turns>> = (0..3).map(|_| Arc::new(Turns::new(&idle))).collect();
        assert!(all[0].begin());
        answer(&all[0]);
        all[0].flushed();
        assert!(idle.close_longest());
        assert!(is_let_go(&all[1]) && !is_let_go(&all[0]) && !is_let_go(&all[2]));
        // One at a time: its place is not free yet.
        assert!(idle.close_longest());
        assert!(!is_let_go(&all[0]) && !is_let_go(&all[2]));
        let mut all = all;
        drop(all.remove(1));
        assert!(idle.close_longest());
        assert!(is_let_go(&all[1]));
    }

    #[test]
    fn a_request_in_progress_is_left_alone_until_its_answer_is_written() {
        let idle = Arc::<Idle>::default();
        let turns = Arc::new(Turns::new(&idle));
        assert!(turns.begin() && !idle.close_longest());
        // Something else was written, such as leave to send the body.
        turns.flushed();
        assert!(!idle.close_longest());
        answer(&turns);
        assert!(!idle.close_longest(), "its last bytes are not written yet");
        turns.flushed();
        assert!(idle.close_longest() && is_let_go(&turns));
    }

    #[test]
    fn a_connection_that_ends_is_left_alone() {
        let idle = Arc::<Idle>::default();
        let turns = Arc::new(Turns::new(&idle));
        turns.ends();
        assert!(!idle.close_longest());
        drop(turns);
        assert!(idle.state().waiting.is_empty());
    }

    #[test]
    fn nothing_begins_on_a_connection_that_is_closing() {
        let idle = Arc::<Idle>::default();
        let turns = Turns::new(&idle);
        assert!(idle.close_longest());
        assert!(!turns.begin() && !turns.begin());
        assert_eq!(idle.state().closing, 1);
        drop(turns);
        assert_eq!(idle.state().closing, 0);
        assert!(!idle.close_longest());
    }
}
