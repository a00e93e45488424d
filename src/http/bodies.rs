//! A memory budget for request bodies on all connections, from reception until their handlers end. Clients that send half
//! a body and stop could otherwise use up the machine's memory. When the budget is full, the oldest incomplete bodies are
//! dropped for a new one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::sync::lock;

/// Of each body, this much is not counted, so that ordinary purchases find room whatever others send. There are at most
/// so many of these as connections.
pub(in crate::http) const UNCOUNTED_BYTES: usize = 4 * 1024;
/// A larger body needs one of [`LARGE_BODIES_MAX`] places as well.
const LARGE_BYTES: usize = 64 * 1024;
/// Bodies above [`LARGE_BYTES`] at once; one more is refused.
const LARGE_BODIES_MAX: usize = 4;
/// An incomplete body is not let go for another before this.
const GRACE: Duration = Duration::from_secs(1);

/// The bodies of all requests. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Bodies(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    bytes_max: usize,
    bytes: usize,
    large: usize,
    /// Those that are incomplete, oldest first.
    incomplete: BTreeMap<u64, Incomplete>,
    last: u64,
}

#[derive(Debug)]
struct Incomplete {
    counted: usize,
    is_large: bool,
    since: Instant,
    let_go: Arc<Notify>,
}

/// One body's part in it, given back when it is dropped.
#[derive(Debug)]
pub(in crate::http) struct Body {
    bodies: Bodies,
    id: u64,
    counted: usize,
    is_large: bool,
    is_whole: bool,
    let_go: Arc<Notify>,
}

/// Other bodies take all there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) struct NoRoom;

impl Bodies {
    /// Room for `bytes_max` bytes, beside [`UNCOUNTED_BYTES`] of each body.
    pub fn new(bytes_max: usize) -> Bodies {
        Bodies(Arc::new(Mutex::new(State {
            bytes_max,
            bytes: 0,
            large: 0,
            incomplete: BTreeMap::new(),
            last: 0,
        })))
    }

    /// A body of which nothing has come yet.
    pub(in crate::http) fn begin(&self) -> Body {
        self.begin_at(Instant::now())
    }

    fn begin_at(&self, now: Instant) -> Body {
        let let_go = Arc::<Notify>::default();
        let mut state = self.state();
        state.last += 1;
        let id = state.last;
        let incomplete = Incomplete {
            counted: 0,
            is_large: false,
            since: now,
            let_go: let_go.clone(),
        };
        state.incomplete.insert(id, incomplete);
        Body {
            bodies: self.clone(),
            id,
            counted: 0,
            is_large: false,
            is_whole: false,
            let_go,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }
}

impl State {
    /// Lets the oldest incomplete bodies go that `helps` names, until `missing` of what it gives for each is there;
    /// none, if that were not enough.
    fn let_go(
        &mut self,
        mut missing: usize,
        now: Instant,
        helps: impl Fn(&Incomplete) -> usize,
    ) -> bool {
        if missing == 0 {
            return true;
        }
        let old = |body: &Incomplete| now.duration_since(body.since) >= GRACE && helps(body) > 0;
        let mut leaving = Vec::new();
        for (id, body) in self.incomplete.iter().filter(|(_, body)| old(body)) {
            leaving.push(*id);
            missing = missing.saturating_sub(helps(body));
            if missing == 0 {
                break;
            }
        }
        if missing > 0 {
            return false;
        }
        for id in leaving {
            if let Some(body) = self.incomplete.remove(&id) {
                self.bytes -= body.counted;
                self.large -= usize::from(body.is_large);
                body.let_go.notify_one();
            }
        }
        true
    }
}

impl Body {
    /// Takes so many bytes in all from now on, no fewer than before.
    pub(in crate::http) fn grow(&mut self, bytes: usize) -> Result<(), NoRoom> {
        self.grow_at(bytes, Instant::now())
    }

    fn grow_at(&mut self, bytes: usize, now: Instant) -> Result<(), NoRoom> {
        let counted = bytes.saturating_sub(UNCOUNTED_BYTES);
        let is_large = bytes > LARGE_BYTES;
        if counted <= self.counted {
            return Ok(());
        }
        let mut state = self.bodies.state();
        let state = &mut *state;
        // One that was let go has no room any more. While it grows it does not stand among those that may be let go.
        let mut own = state.incomplete.remove(&self.id).ok_or(NoRoom)?;
        let added = counted - self.counted;
        let has_place = self.is_large
            || !is_large
            || state.large < LARGE_BODIES_MAX
            || state.let_go(1, now, |body| usize::from(body.is_large));
        let missing = (state.bytes + added).saturating_sub(state.bytes_max);
        let has_room = has_place && state.let_go(missing, now, |body| body.counted);
        if has_room {
            state.bytes += added;
            state.large += usize::from(is_large && !self.is_large);
            (self.counted, self.is_large) = (counted, is_large);
            (own.counted, own.is_large) = (counted, is_large);
        }
        state.incomplete.insert(self.id, own);
        if has_room { Ok(()) } else { Err(NoRoom) }
    }

    /// All of it has come: from now on it is not let go for others. [`NoRoom`] where it was let go before.
    pub(in crate::http) fn complete(&mut self) -> Result<(), NoRoom> {
        let own = self.bodies.state().incomplete.remove(&self.id);
        self.is_whole = own.is_some();
        own.map(drop).ok_or(NoRoom)
    }

    /// Whether nothing of it is counted.
    pub(in crate::http) fn is_free(&self) -> bool {
        self.counted == 0
    }

    /// Resolves when others need its room.
    pub(in crate::http) fn let_go(&self) -> Arc<Notify> {
        self.let_go.clone()
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        let mut state = self.bodies.state();
        let is_incomplete = state.incomplete.remove(&self.id).is_some();
        // The bytes of one that was let go were given back then.
        if is_incomplete || self.is_whole {
            state.bytes -= self.counted;
            state.large -= usize::from(self.is_large);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: usize = 1024;

    fn is_let_go(body: &Body) -> bool {
        let let_go = body.let_go();
        let mut let_go = std::pin::pin!(let_go.notified());
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let_go.as_mut().poll(&mut context).is_ready()
    }

    fn is_idle(bodies: &Bodies) -> bool {
        let state = bodies.state();
        state.bytes == 0 && state.large == 0 && state.incomplete.is_empty()
    }

    #[test]
    fn small_bodies_need_no_room() {
        let bodies = Bodies::new(0);
        let mut all: Vec<Body> = (0..100).map(|_| bodies.begin()).collect();
        assert!(
            all.iter_mut()
                .all(|body| body.grow(UNCOUNTED_BYTES).is_ok())
        );
        assert_eq!(all[0].grow(UNCOUNTED_BYTES + 1), Err(NoRoom));
        // It is refused, not forgotten: what it has had before stays its own.
        assert_eq!(all[0].complete(), Ok(()));
        drop(all);
        assert!(is_idle(&bodies));
    }

    #[test]
    fn the_oldest_incomplete_body_makes_room_once_it_has_had_its_time() {
        let now = Instant::now();
        let bodies = Bodies::new(3 * 20 * KIB);
        let begin = |at| {
            let mut body = bodies.begin_at(at);
            body.grow_at(24 * KIB, at).map(|()| body)
        };
        let mut whole = begin(now).expect("room");
        whole.complete().expect("it was not let go");
        let (oldest, other) = (begin(now).expect("room"), begin(now).expect("room"));
        assert!(begin(now + GRACE / 2).is_err(), "before their time");
        assert!(!is_let_go(&oldest));
        let mut next = begin(now + GRACE).expect("room");
        assert!(is_let_go(&oldest) && !is_let_go(&other) && !is_let_go(&whole));
        // The one that was let go gives back nothing a second time, and gets nothing any more.
        assert_eq!(bodies.state().bytes, 3 * 20 * KIB);
        let mut oldest = oldest;
        assert_eq!(oldest.grow(25 * KIB), Err(NoRoom));
        assert_eq!(oldest.complete(), Err(NoRoom));
        drop(oldest);
        assert_eq!(bodies.state().bytes, 3 * 20 * KIB);
        // Nobody is let go for one that would not find room even then.
        assert_eq!(next.grow_at(64 * KIB, now + 2 * GRACE), Err(NoRoom));
        assert!(!is_let_go(&other));
        drop((whole, other, next));
        assert!(is_idle(&bodies));
    }

    #[test]
    fn a_few_bodies_may_be_large() {
        let now = Instant::now();
        let bodies = Bodies::new(KIB * KIB * 16);
        let large = |at| {
            let mut body = bodies.begin_at(at);
            body.grow_at(LARGE_BYTES + 1, at).map(|()| body)
        };
        let held: Vec<Body> = (0..LARGE_BODIES_MAX)
            .map(|_| large(now).expect("a place"))
            .collect();
        assert!(large(now).is_err());
        let mut small = bodies.begin_at(now);
        assert_eq!(small.grow_at(LARGE_BYTES, now), Ok(()));
        let next = large(now + GRACE).expect("the oldest makes room");
        assert!(is_let_go(&held[0]) && !is_let_go(&held[1]) && !is_let_go(&small));
        drop((held, small, next));
        assert!(is_idle(&bodies));
    }
}
