//! A memory budget for unread responses on all connections. Clients that request much and read little could otherwise use
//! up the machine's memory. When the budget is full, the slowest readers are disconnected for a new response.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::sync::lock;

/// Bytes of answers that wait to be read. A larger answer counts as so many: it has all of the room to itself. (There
/// are pages that a tool's answer says twice and escaped, at eight times their length.)
const UNREAD_BYTES_MAX: usize = 24 * 1024 * 1024;
/// Bytes of answers that wait for room among those.
const QUEUED_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Smaller answers are not counted: the kernel mostly takes them at once.
pub(in crate::http) const COUNTED_BYTES_MIN: usize = 16 * 1024;
/// A reader is not let go for another before this, however slowly it begins.
const GRACE: Duration = Duration::from_secs(1);
/// Room is waited for a little longer than it takes for a reader to have had its time.
const WAIT_MAX: Duration = Duration::from_millis(1500);
const LOOK_EVERY: Duration = Duration::from_millis(25);

/// What is called when an answer has been sent.
#[derive(Clone)]
pub struct OnSent(Arc<dyn Fn() + Send + Sync>);

impl OnSent {
    pub fn new(call: impl Fn() + Send + Sync + 'static) -> OnSent {
        OnSent(Arc::new(call))
    }

    pub fn call(&self) {
        (self.0)();
    }
}

impl std::fmt::Debug for OnSent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OnSent")
    }
}

/// Everything that waits to be read.
#[derive(Debug, Default)]
pub(in crate::http) struct ResponseBudget {
    unread: Mutex<Unread>,
    queued: AtomicUsize,
}

#[derive(Debug, Default)]
struct Unread {
    bytes: usize,
    answers: HashMap<u64, Answer>,
    last: u64,
}

#[derive(Debug)]
struct Answer {
    bytes: usize,
    since: Instant,
    reader: Arc<Reader>,
}

/// What is known of the client on a connection.
#[derive(Debug, Default)]
struct Reader {
    /// Of the answer that it is reading.
    taken: AtomicUsize,
    let_go: Notify,
}

/// One connection's part in it. What it holds is given back with it.
#[derive(Debug)]
pub(in crate::http) struct Slot {
    response_budget: Arc<ResponseBudget>,
    reader: Arc<Reader>,
    /// The answer that is being read; 0 when none is.
    answer: AtomicU64,
    /// To be called once what was written so far has been flushed.
    on_sent: Mutex<Option<OnSent>>,
}

impl ResponseBudget {
    fn unread(&self) -> MutexGuard<'_, Unread> {
        lock(&self.unread)
    }
}

impl Unread {
    fn begin(&mut self, bytes: usize, reader: &Arc<Reader>, now: Instant) -> Option<u64> {
        let bytes = bytes.min(UNREAD_BYTES_MAX);
        self.make_room(bytes, now).then(|| {
            self.bytes += bytes;
            self.last += 1;
            let answer = Answer {
                bytes,
                since: now,
                reader: reader.clone(),
            };
            self.answers.insert(self.last, answer);
            self.last
        })
    }

    /// Lets the slowest go until there is room; nobody, if that were not enough.
    fn make_room(&mut self, bytes: usize, now: Instant) -> bool {
        let mut missing = (self.bytes + bytes).saturating_sub(UNREAD_BYTES_MAX);
        if missing == 0 {
            return true;
        }
        let old = |answer: &&Answer| now.duration_since(answer.since) >= GRACE;
        let slow: usize = self
            .answers
            .values()
            .filter(old)
            .map(|answer| answer.bytes)
            .sum();
        if slow < missing {
            return false;
        }
        while missing > 0 {
            let old = self.answers.iter().filter(|(_, answer)| old(answer));
            let slowest = old.min_by_key(|(_, answer)| answer.bytes_per_second(now));
            let Some(id) = slowest.map(|(id, _)| *id) else {
                break;
            };
            if let Some(answer) = self.end(id) {
                missing = missing.saturating_sub(answer.bytes);
                answer.reader.let_go.notify_one();
            }
        }
        true
    }

    fn end(&mut self, id: u64) -> Option<Answer> {
        let answer = self.answers.remove(&id)?;
        self.bytes -= answer.bytes;
        Some(answer)
    }
}

impl Answer {
    fn bytes_per_second(&self, now: Instant) -> u128 {
        let milliseconds = now.duration_since(self.since).as_millis().max(1);
        self.reader.taken.load(Ordering::Relaxed) as u128 * 1000 / milliseconds
    }
}

impl Slot {
    pub(in crate::http) fn new(response_budget: &Arc<ResponseBudget>) -> Slot {
        Slot {
            response_budget: response_budget.clone(),
            reader: Arc::default(),
            answer: AtomicU64::new(0),
            on_sent: Mutex::default(),
        }
    }

    /// Dropped uncalled if the connection ends before.
    pub(in crate::http) fn call_when_flushed(&self, on_sent: OnSent) {
        *lock(&self.on_sent) = Some(on_sent);
    }

    /// All that was written has been handed over to the kernel.
    pub(in crate::http) fn flushed(&self) {
        let on_sent = lock(&self.on_sent).take();
        if let Some(on_sent) = on_sent {
            on_sent.call();
        }
        self.read_out();
    }

    /// Room for the next answer on this connection, if there is some or soon will be.
    pub(in crate::http) async fn begin(&self, bytes: usize) -> bool {
        self.read_out();
        if self.try_begin(bytes) {
            return true;
        }
        let queued = Queued::join(&self.response_budget.queued, bytes);
        let until = Instant::now() + WAIT_MAX;
        while queued.is_some() && Instant::now() < until {
            tokio::time::sleep(LOOK_EVERY).await;
            if self.try_begin(bytes) {
                return true;
            }
        }
        false
    }

    fn try_begin(&self, bytes: usize) -> bool {
        let begun = self
            .response_budget
            .unread()
            .begin(bytes, &self.reader, Instant::now());
        if let Some(id) = begun {
            self.reader.taken.store(0, Ordering::Relaxed);
            self.answer.store(id, Ordering::Relaxed);
        }
        begun.is_some()
    }

    /// The client, or the kernel for it, has taken so much.
    pub(in crate::http) fn note_taken(&self, bytes: usize) {
        self.reader.taken.fetch_add(bytes, Ordering::Relaxed);
    }

    /// All of the answer has been taken.
    pub(in crate::http) fn read_out(&self) {
        match self.answer.swap(0, Ordering::Relaxed) {
            0 => {}
            id => drop(self.response_budget.unread().end(id)),
        }
    }

    /// Resolves when the connection has to be closed for others.
    pub(in crate::http) async fn let_go(&self) {
        self.reader.let_go.notified().await;
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.read_out();
    }
}

/// A place among those who wait, for as long as this value is there.
struct Queued<'a> {
    queued: &'a AtomicUsize,
    bytes: usize,
}

impl<'a> Queued<'a> {
    fn join(queued: &'a AtomicUsize, bytes: usize) -> Option<Queued<'a>> {
        let before = queued.fetch_add(bytes, Ordering::Relaxed);
        let place = Queued { queued, bytes };
        (before + bytes <= QUEUED_BYTES_MAX).then_some(place)
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        self.queued.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: usize = 5 * 1024 * 1024;
    const FIT: usize = UNREAD_BYTES_MAX / LARGE;

    /// As many readers of large answers as there is room for, all begun now.
    fn full(now: Instant) -> (Unread, Vec<(u64, Arc<Reader>)>) {
        let mut unread = Unread::default();
        let mut begin = |_| {
            let reader = Arc::default();
            (unread.begin(LARGE, &reader, now).expect("room"), reader)
        };
        let readers = (0..FIT).map(&mut begin).collect();
        (unread, readers)
    }

    fn is_let_go(reader: &Reader) -> bool {
        let mut let_go = std::pin::pin!(reader.let_go.notified());
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let_go.as_mut().poll(&mut context).is_ready()
    }

    #[test]
    fn the_slowest_reader_makes_room_once_it_has_had_its_time() {
        let now = Instant::now();
        let (mut unread, readers) = full(now);
        for (number, (_, reader)) in readers.iter().enumerate() {
            let taken = if number == 3 { 1_000 } else { 100_000 };
            reader.taken.store(taken, Ordering::Relaxed);
        }
        let next = Arc::default();
        assert_eq!(unread.begin(LARGE, &next, now + GRACE / 2), None);
        assert!(unread.begin(LARGE, &next, now + GRACE).is_some());
        let gone = readers.iter().map(|(_, reader)| is_let_go(reader));
        let gone: Vec<usize> = (0..)
            .zip(gone)
            .filter_map(|(place, gone)| gone.then_some(place))
            .collect();
        assert_eq!(gone, [3]);
        assert_eq!(unread.bytes, FIT * LARGE);
    }

    #[test]
    fn what_was_read_makes_room_at_once() {
        let now = Instant::now();
        let (mut unread, readers) = full(now);
        assert!(unread.end(readers[0].0).is_some());
        assert!(unread.end(readers[0].0).is_none());
        assert!(unread.begin(LARGE, &Arc::default(), now).is_some());
        assert!(!readers.iter().any(|(_, reader)| is_let_go(reader)));
    }

    #[test]
    fn what_is_larger_than_the_room_has_all_of_it() {
        let now = Instant::now();
        let (mut unread, readers) = full(now);
        let begin =
            |unread: &mut Unread, now| unread.begin(UNREAD_BYTES_MAX + 1, &Arc::default(), now);
        assert_eq!(begin(&mut unread, now + GRACE / 2), None);
        assert!(!readers.iter().any(|(_, reader)| is_let_go(reader)));
        let begun = begin(&mut unread, now + GRACE).expect("all had their time");
        assert!(readers.iter().all(|(_, reader)| is_let_go(reader)));
        assert_eq!(unread.begin(1, &Arc::default(), now + GRACE), None);
        assert!(unread.end(begun).is_some() && unread.bytes == 0);
    }

    #[tokio::test]
    async fn a_connection_gives_back_what_it_held() {
        let response_budget = Arc::default();
        let slot = Slot::new(&response_budget);
        assert!(slot.begin(LARGE).await && slot.begin(LARGE).await);
        assert_eq!(response_budget.unread().bytes, LARGE);
        slot.read_out();
        assert_eq!(response_budget.unread().bytes, 0);
        assert!(slot.begin(LARGE).await);
        drop(slot);
        assert_eq!(response_budget.unread().bytes, 0);
    }

    #[tokio::test]
    async fn a_full_queue_is_no_place_to_wait_in() {
        let response_budget: Arc<ResponseBudget> = Arc::default();
        let place = Queued::join(&response_budget.queued, QUEUED_BYTES_MAX);
        assert!(place.is_some() && Queued::join(&response_budget.queued, 1).is_none());
        let slot = Slot::new(&response_budget);
        assert!(slot.begin(UNREAD_BYTES_MAX).await);
        assert!(!Slot::new(&response_budget).begin(1).await);
        drop(place);
        assert_eq!(response_budget.queued.load(Ordering::Relaxed), 0);
    }
}
