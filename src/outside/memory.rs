//! A memory budget for large work: pages during conversion, sources during examination, answers during composition. Work
//! declares its maximum in advance and waits until that is available.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::domain::limit_reached::LimitReached;
use crate::sync::lock;

/// What each piece of work may need without being counted: most pages are small.
pub const UNCOUNTED_BYTES: usize = 256 * 1024;
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Pieces of work that may wait for memory; one more is [`LimitReached`] at once.
const WAITERS_MAX: usize = 64;

/// What all work may need together, besides [`UNCOUNTED_BYTES`] each, and besides the one that may need more. Cheap to
/// clone.
#[derive(Clone, Debug)]
pub struct Memory(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    all: usize,
    free: usize,
    /// Who needs more than there is left, and has it.
    exceeding: Option<Exceeding>,
    /// Pieces of work that wait.
    waiting: usize,
    /// Parties so far.
    parties: u64,
}

/// The one party that may have more than there is left. Its pieces of work get it one after the other, and never wait for
/// another party: so it comes to an end, and no two parties wait for each other.
#[derive(Debug)]
struct Exceeding {
    party: u64,
    /// Its permits that have more than was left.
    permits: usize,
    /// One of them may grow as it likes.
    grows: bool,
}

/// Pieces of work that keep their memory until all of them are done, such as the pages of one purchase.
#[derive(Clone, Debug)]
pub struct Party {
    memory: Memory,
    number: u64,
}

/// A place among those who wait, for as long as this value is there.
#[derive(Debug)]
struct Waiter(Memory);

/// What one piece of work has of it. Given back when it is dropped.
#[derive(Debug)]
pub struct MemoryPermit {
    memory: Memory,
    party: u64,
    counted: usize,
    exceeds: bool,
    /// It is the one of its party that may grow.
    grows: bool,
}

impl Memory {
    pub fn new(bytes: usize) -> Memory {
        Memory(Arc::new(Mutex::new(State {
            all: bytes,
            free: bytes,
            exceeding: None,
            waiting: 0,
            parties: 0,
        })))
    }

    /// For work that begins and waits for no other.
    pub fn nothing(&self) -> MemoryPermit {
        self.party().nothing()
    }

    /// For several pieces of work that wait for each other.
    pub fn party(&self) -> Party {
        let mut state = self.state();
        state.parties += 1;
        Party {
            memory: self.clone(),
            number: state.parties,
        }
    }

    fn wait(&self) -> Result<Waiter, LimitReached> {
        let mut state = self.state();
        if state.waiting >= WAITERS_MAX {
            return Err(LimitReached);
        }
        state.waiting += 1;
        Ok(Waiter(self.clone()))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }
}

impl Party {
    /// For a piece of its work that begins.
    pub fn nothing(&self) -> MemoryPermit {
        MemoryPermit {
            memory: self.memory.clone(),
            party: self.number,
            counted: 0,
            exceeds: false,
            grows: false,
        }
    }
}

impl MemoryPermit {
    /// Moves it elsewhere; nothing is left here.
    pub fn hand_over(&mut self) -> MemoryPermit {
        let nothing = self.memory.nothing();
        std::mem::replace(self, nothing)
    }

    /// Has so many bytes from now on, fewer or more than before. Blocking until then.
    pub fn resize(&mut self, bytes: usize, deadline: Instant) -> Result<(), LimitReached> {
        if self.try_resize(bytes) {
            return Ok(());
        }
        let _waiter = self.memory.wait()?;
        while !self.try_resize(bytes) {
            if Instant::now() >= deadline {
                return Err(LimitReached);
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    /// The same for anyone who must not block.
    pub async fn resized(&mut self, bytes: usize, time_max: Duration) -> Result<(), LimitReached> {
        if self.try_resize(bytes) {
            return Ok(());
        }
        let _waiter = self.memory.wait()?;
        let resized = async {
            while !self.try_resize(bytes) {
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        let in_time = tokio::time::timeout(time_max, resized).await;
        in_time.map_err(|_| LimitReached)
    }

    /// Has no more than so many bytes from now on.
    pub fn shrink(&mut self, bytes: usize) {
        if bytes.saturating_sub(UNCOUNTED_BYTES) < self.counted || self.exceeds {
            // One that exceeds and still does stays as it is.
            self.try_resize(bytes);
        }
        self.pause();
    }

    /// Does not grow for now: another of its party may, beyond what is left.
    pub fn pause(&mut self) {
        let memory = self.memory.clone();
        self.stop_growing(&mut memory.state());
    }

    /// Has so many bytes for a while in which nothing is done with them, each of them counted, if that leaves half to
    /// others; nothing at all if not.
    pub fn rest(&mut self, bytes: usize) -> bool {
        let memory = self.memory.clone();
        let mut state = memory.state();
        self.give_back(&mut state);
        let may_rest = state.free >= state.all / 2 + bytes;
        if may_rest {
            self.take(&mut state, bytes);
        }
        may_rest
    }

    fn try_resize(&mut self, bytes: usize) -> bool {
        let counted = bytes.saturating_sub(UNCOUNTED_BYTES);
        let memory = self.memory.clone();
        let mut state = memory.state();
        let available = state.free + self.counted;
        if counted <= available {
            self.give_back(&mut state);
            self.take(&mut state, counted);
            return true;
        }
        let exceeding = state.exceeding.get_or_insert(Exceeding {
            party: self.party,
            permits: 0,
            grows: false,
        });
        if exceeding.party != self.party || (exceeding.grows && !self.grows) {
            return false;
        }
        exceeding.permits += usize::from(!self.exceeds);
        exceeding.grows = true;
        (self.exceeds, self.grows) = (true, true);
        true
    }

    fn stop_growing(&mut self, state: &mut State) {
        if std::mem::take(&mut self.grows)
            && let Some(exceeding) = &mut state.exceeding
        {
            exceeding.grows = false;
        }
    }

    fn take(&mut self, state: &mut State, counted: usize) {
        state.free -= counted;
        self.counted = counted;
    }

    fn give_back(&mut self, state: &mut State) {
        state.free += std::mem::take(&mut self.counted);
        self.stop_growing(state);
        if std::mem::take(&mut self.exceeds)
            && let Some(exceeding) = &mut state.exceeding
        {
            exceeding.permits -= 1;
            if exceeding.permits == 0 {
                state.exceeding = None;
            }
        }
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.0.state().waiting -= 1;
    }
}

impl Drop for MemoryPermit {
    fn drop(&mut self) {
        let memory = self.memory.clone();
        self.give_back(&mut memory.state());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARED_BYTES: usize = 16 * 1024 * 1024;
    const HALF: usize = SHARED_BYTES / 2 + UNCOUNTED_BYTES;
    const ALL: usize = SHARED_BYTES + UNCOUNTED_BYTES;

    #[test]
    fn one_at_a_time_may_exceed_and_gives_way_to_the_next() {
        let memory = Memory::new(SHARED_BYTES);
        let mut works: Vec<MemoryPermit> = (0..5).map(|_| memory.nothing()).collect();
        let mut has = |number: usize, bytes| works[number].try_resize(bytes);
        assert!(has(0, HALF) && has(1, HALF));
        // Nothing is left: one exceeds, and may grow as it likes; a further one waits.
        assert!(has(2, HALF) && has(2, 100 * HALF) && !has(3, HALF));
        // Small work does not wait.
        assert!(has(4, UNCOUNTED_BYTES));
        // What is enough again exceeds no longer.
        assert!(has(0, 0) && has(2, HALF) && has(3, HALF));
        drop(works);
        let state = memory.state();
        assert!(state.free == SHARED_BYTES && state.exceeding.is_none());
    }

    /// The pages of one purchase never wait for those of another that waits for them.
    #[test]
    fn a_party_exceeds_one_after_the_other() {
        let memory = Memory::new(SHARED_BYTES);
        let (ours, theirs) = (memory.party(), memory.party());
        let mut other = theirs.nothing();
        assert!(other.try_resize(HALF));
        let [mut one, mut two, mut answer] = [(); 3].map(|()| ours.nothing());
        assert!(one.try_resize(ALL) && one.try_resize(10 * ALL));
        // While one grows, the next waits; another party waits until all of ours is given back.
        assert!(!two.try_resize(ALL) && !other.try_resize(ALL + 1));
        one.shrink(ALL);
        assert!(two.try_resize(ALL) && !one.try_resize(2 * ALL) && !other.try_resize(ALL + 1));
        two.pause();
        assert!(answer.try_resize(ALL));
        drop((one, two));
        assert!(!other.try_resize(ALL + 1));
        drop(answer);
        assert!(other.try_resize(ALL + 1));
        drop(other);
        let state = memory.state();
        assert!(state.free == SHARED_BYTES && state.exceeding.is_none());
    }

    #[test]
    fn what_rests_leaves_half_to_others() {
        let memory = Memory::new(SHARED_BYTES);
        let (mut one, mut other) = (memory.nothing(), memory.nothing());
        assert!(one.rest(SHARED_BYTES / 2) && !other.rest(1));
        assert!(other.try_resize(HALF) && !one.rest(1));
        drop(other);
        assert!(one.rest(1));
    }

    #[test]
    fn waiting_has_an_end() {
        let memory = Memory::new(SHARED_BYTES);
        let mut works: Vec<MemoryPermit> = (0..3).map(|_| memory.nothing()).collect();
        assert!(works[0].try_resize(ALL + 1) && works[1].try_resize(ALL));
        let now = Instant::now();
        assert_eq!(works[2].resize(HALF, now), Err(LimitReached));
        works.remove(0);
        assert_eq!(works[1].resize(HALF, now), Ok(()));
    }

    #[tokio::test]
    async fn the_queue_is_bounded() {
        let memory = Memory::new(SHARED_BYTES);
        let mut held: Vec<MemoryPermit> = (0..2).map(|_| memory.nothing()).collect();
        assert!(held[0].try_resize(ALL + 1) && held[1].try_resize(ALL));
        let wait = || {
            let mut work = memory.nothing();
            tokio::spawn(async move { work.resized(HALF, Duration::from_secs(60)).await })
        };
        let waiting: Vec<_> = (0..WAITERS_MAX).map(|_| wait()).collect();
        while memory.state().waiting < WAITERS_MAX {
            tokio::task::yield_now().await;
        }
        let (mut one_more, far) = (memory.nothing(), Instant::now() + Duration::from_secs(60));
        assert_eq!(one_more.resize(HALF, far), Err(LimitReached));
        assert_eq!(
            one_more.resize(UNCOUNTED_BYTES, far),
            Ok(()),
            "it needs no wait"
        );
        held.clear();
        for work in waiting {
            assert_eq!(work.await.expect("no panic"), Ok(()));
        }
        assert_eq!(memory.state().waiting, 0);
    }

    #[tokio::test]
    async fn whoever_waits_gets_what_others_give_back() {
        let memory = Memory::new(SHARED_BYTES);
        let (mut one, mut two, mut last) = (memory.nothing(), memory.nothing(), memory.nothing());
        assert!(one.try_resize(ALL + 1) && two.try_resize(ALL) && !last.try_resize(HALF));
        let giving = tokio::spawn(async move {
            tokio::time::sleep(2 * LOOK_EVERY).await;
            one.shrink(UNCOUNTED_BYTES);
            one
        });
        assert_eq!(last.resized(HALF, Duration::from_secs(60)).await, Ok(()));
        giving.await.expect("no panic");
    }
}
