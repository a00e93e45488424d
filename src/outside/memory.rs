//! A memory budget for large work: pages during conversion, sources during examination, answers during composition. Work
//! declares its maximum in advance and waits until that is available.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What each piece of work may need without being counted: most pages are small.
pub const UNCOUNTED_BYTES: usize = 256 * 1024;
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Pieces of work that may wait for memory; one more is [`MemoryFull`] at once.
const WAITERS_MAX: usize = 64;

/// What all work may need together, besides [`UNCOUNTED_BYTES`] each, and besides the one that may need more. Cheap to
/// clone.
#[derive(Clone, Debug)]
pub struct Memory(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    all: usize,
    free: usize,
    /// Somebody needs more than there is left, and has it. That one never waits again and so comes to an end: no two
    /// wait for each other.
    is_exceeded: bool,
    /// Pieces of work that wait.
    waiting: usize,
}

/// A place among those who wait, for as long as this value is there.
#[derive(Debug)]
struct Waiter(Memory);

/// What one piece of work has of it. Given back when it is dropped.
#[derive(Debug)]
pub struct MemoryPermit {
    memory: Memory,
    counted: usize,
    exceeds: bool,
}

/// Others needed it for as long as this one could wait, or too many wait already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryFull;

impl Memory {
    pub fn new(bytes: usize) -> Memory {
        Memory(Arc::new(Mutex::new(State {
            all: bytes,
            free: bytes,
            is_exceeded: false,
            waiting: 0,
        })))
    }

    /// For work that begins.
    pub fn nothing(&self) -> MemoryPermit {
        MemoryPermit {
            memory: self.clone(),
            counted: 0,
            exceeds: false,
        }
    }

    fn wait(&self) -> Result<Waiter, MemoryFull> {
        let mut state = self.state();
        if state.waiting >= WAITERS_MAX {
            return Err(MemoryFull);
        }
        state.waiting += 1;
        Ok(Waiter(self.clone()))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryPermit {
    /// Moves it elsewhere; nothing is left here.
    pub fn hand_over(&mut self) -> MemoryPermit {
        let nothing = self.memory.nothing();
        std::mem::replace(self, nothing)
    }

    /// Has so many bytes from now on, fewer or more than before. Blocking until then.
    pub fn resize(&mut self, bytes: usize, deadline: Instant) -> Result<(), MemoryFull> {
        if self.try_resize(bytes) {
            return Ok(());
        }
        let _waiter = self.memory.wait()?;
        while !self.try_resize(bytes) {
            if Instant::now() >= deadline {
                return Err(MemoryFull);
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    /// The same for anyone who must not block.
    pub async fn resized(&mut self, bytes: usize, time_max: Duration) -> Result<(), MemoryFull> {
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
        in_time.map_err(|_| MemoryFull)
    }

    /// Has no more than so many bytes from now on.
    pub fn shrink(&mut self, bytes: usize) {
        if bytes.saturating_sub(UNCOUNTED_BYTES) < self.counted || self.exceeds {
            // One that exceeds and still does stays as it is.
            self.try_resize(bytes);
        }
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
        if !self.exceeds && !state.is_exceeded {
            state.is_exceeded = true;
            self.exceeds = true;
        }
        self.exceeds
    }

    fn take(&mut self, state: &mut State, counted: usize) {
        state.free -= counted;
        self.counted = counted;
    }

    fn give_back(&mut self, state: &mut State) {
        state.free += std::mem::take(&mut self.counted);
        state.is_exceeded &= !std::mem::take(&mut self.exceeds);
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
        assert!(state.free == SHARED_BYTES && !state.is_exceeded);
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
        assert_eq!(works[2].resize(HALF, now), Err(MemoryFull));
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
        assert_eq!(one_more.resize(HALF, far), Err(MemoryFull));
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
