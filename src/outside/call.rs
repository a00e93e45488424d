//! Blocking upstream calls off the async threads, with limits for concurrency, queue length and wait. The call needs its
//! own deadline: dropping the future does not stop it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::domain::limit_reached::LimitReached;
use crate::sync::lock;

/// The places that one upstream's calls may take on the blocking threads.
#[derive(Clone, Debug)]
pub struct ConcurrencyLimit {
    places: Arc<Semaphore>,
    waiters: Arc<Semaphore>,
    wait_max: Duration,
}

/// One place of a limit, held until the work in it has ended.
#[derive(Debug)]
pub struct Permit(#[expect(dead_code, reason = "held until it is dropped")] OwnedSemaphorePermit);

/// Calls that may wait for each place of a limit; one more is [`LimitReached`] at once.
const WAITERS_OF_PLACE_MAX: usize = 8;

impl ConcurrencyLimit {
    /// `calls_max` calls at once. [`WAITERS_OF_PLACE_MAX`] times as many may wait, each for `wait_max`.
    pub fn new(calls_max: usize, wait_max: Duration) -> Self {
        ConcurrencyLimit {
            places: Arc::new(Semaphore::new(calls_max)),
            waiters: Arc::new(Semaphore::new(calls_max * WAITERS_OF_PLACE_MAX)),
            wait_max,
        }
    }

    /// The places that nobody has taken at this moment.
    pub fn free(&self) -> usize {
        self.places.available_permits()
    }

    /// A place, for work that first has to take memory or to read what it works on: whatever waits holds nothing yet.
    pub async fn enter(&self) -> Result<Permit, LimitReached> {
        let place = wait(&self.places, &self.waiters, self.wait_max).await?;
        Ok(Permit(place))
    }

    /// A place, if one is free now.
    pub fn try_enter(&self) -> Option<Permit> {
        self.places.clone().try_acquire_owned().ok().map(Permit)
    }

    /// Runs `work` on a blocking thread once a place is free. A panic inside `work` is passed on to the caller.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, LimitReached> {
        self.enter().await?.run(work).await
    }
}

impl Permit {
    /// Runs `work` on a blocking thread and gives the place back at its end. A panic inside `work` is passed on to the
    /// caller.
    pub async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, LimitReached> {
        let outcome = tokio::task::spawn_blocking(move || {
            let _place = self;
            work()
        })
        .await;
        match outcome {
            Ok(value) => Ok(value),
            Err(failure) => match failure.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // Only when the runtime is being shut down.
                Err(_) => Err(LimitReached),
            },
        }
    }
}

/// A place at once if there is one; otherwise a bounded wait, if not too many wait already.
async fn wait(
    places: &Arc<Semaphore>,
    waiters: &Semaphore,
    wait_max: Duration,
) -> Result<OwnedSemaphorePermit, LimitReached> {
    if let Ok(place) = places.clone().try_acquire_owned() {
        return Ok(place);
    }
    let _waiter = waiters.try_acquire().map_err(|_| LimitReached)?;
    match tokio::time::timeout(wait_max, places.clone().acquire_owned()).await {
        Ok(Ok(place)) => Ok(place),
        Ok(Err(_)) | Err(_) => Err(LimitReached),
    }
}

/// The calls of each key within a limit: how many calls for one and the same payer, or to one and the same site, may be
/// under way, so that none of them takes every place.
#[derive(Clone, Debug)]
pub struct KeyedLimit {
    each_max: usize,
    wait_max: Duration,
    holders: Arc<Mutex<HashMap<String, Holder>>>,
}

#[derive(Clone, Debug)]
struct Holder {
    places: Arc<Semaphore>,
    waiters: Arc<Semaphore>,
}

/// Holders with a call under way, or one that waits; a call of one more is [`LimitReached`] at once.
const HOLDERS_MAX: usize = 4096;
/// Calls of one holder that may wait; one more is [`LimitReached`] at once.
const WAITERS_OF_HOLDER_MAX: usize = 64;

impl KeyedLimit {
    pub fn new(each_max: usize, wait_max: Duration) -> Self {
        KeyedLimit {
            each_max: each_max.max(1),
            wait_max,
            holders: Arc::default(),
        }
    }

    /// A place among those of `holder`, given back when it is dropped.
    pub async fn place(&self, holder: &str) -> Result<OwnedSemaphorePermit, LimitReached> {
        let Holder { places, waiters } = self.holder(holder)?;
        wait(&places, &waiters, self.wait_max).await
    }

    fn holder(&self, name: &str) -> Result<Holder, LimitReached> {
        let mut holders = lock(&self.holders);
        if let Some(holder) = holders.get(name) {
            return Ok(holder.clone());
        }
        if holders.len() >= HOLDERS_MAX {
            // A call that is under way, or waits, holds a second reference.
            holders.retain(|_, holder| Arc::strong_count(&holder.places) > 1);
        }
        if holders.len() >= HOLDERS_MAX {
            return Err(LimitReached);
        }
        let holder = Holder {
            places: Arc::new(Semaphore::new(self.each_max)),
            waiters: Arc::new(Semaphore::new(WAITERS_OF_HOLDER_MAX)),
        };
        holders.insert(name.to_owned(), holder.clone());
        Ok(holder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    /// Whether a call is refused without waiting.
    async fn is_refused_at_once<T>(call: impl Future<Output = Result<T, LimitReached>>) -> bool {
        matches!(
            tokio::time::timeout(Duration::from_secs(5), call).await,
            Ok(Err(LimitReached))
        )
    }

    #[tokio::test]
    async fn a_limit_has_a_bounded_queue() {
        let limit = ConcurrencyLimit::new(2, LONG);
        let held = (limit.enter().await, limit.enter().await);
        let waiting: Vec<_> = (0..2 * WAITERS_OF_PLACE_MAX)
            .map(|_| {
                let limit = limit.clone();
                tokio::spawn(async move { limit.run(|| 7).await })
            })
            .collect();
        while limit.waiters.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        assert!(is_refused_at_once(limit.run(|| 7)).await);
        drop(held);
        for call in waiting {
            assert_eq!(call.await.expect("no panic"), Ok(7));
        }
        assert_eq!(limit.run(|| 7).await, Ok(7));
        assert_eq!(
            limit.waiters.available_permits(),
            2 * WAITERS_OF_PLACE_MAX,
            "a place in the queue was lost"
        );
    }

    #[tokio::test]
    async fn a_limit_without_wait_refuses_at_once() {
        let limit = ConcurrencyLimit::new(1, Duration::ZERO);
        let held = limit.enter().await;
        assert!(is_refused_at_once(limit.enter()).await);
        drop(held);
        assert!(limit.enter().await.is_ok());
    }

    #[tokio::test]
    async fn a_holder_takes_its_share_and_no_more() {
        let limit = KeyedLimit::new(2, Duration::from_millis(20));
        let held = (limit.place("a").await, limit.place("a").await);
        assert!(held.0.is_ok() && held.1.is_ok());
        assert_eq!(limit.place("a").await.err(), Some(LimitReached));
        assert!(limit.place("b").await.is_ok());
        drop(held);
        assert!(limit.place("a").await.is_ok());
    }

    #[tokio::test]
    async fn a_holder_has_a_bounded_queue() {
        let limit = KeyedLimit::new(1, LONG);
        let held = limit.place("a").await;
        let waiting: Vec<_> = (0..WAITERS_OF_HOLDER_MAX)
            .map(|_| {
                let limit = limit.clone();
                tokio::spawn(async move { limit.place("a").await.is_ok() })
            })
            .collect();
        let of_a = limit.holder("a").expect("it is there");
        while of_a.waiters.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        assert!(is_refused_at_once(limit.place("a")).await);
        assert!(limit.place("b").await.is_ok());
        drop(held);
        for call in waiting {
            assert!(call.await.expect("no panic"));
        }
    }

    #[tokio::test]
    async fn holders_without_a_call_are_forgotten() {
        let limit = KeyedLimit::new(1, Duration::from_millis(20));
        let kept = limit.place("kept").await;
        for number in 0..2 * HOLDERS_MAX {
            assert!(limit.place(&number.to_string()).await.is_ok());
        }
        assert!(limit.holders.lock().expect("not poisoned").len() <= HOLDERS_MAX);
        assert_eq!(limit.place("kept").await.err(), Some(LimitReached));
        drop(kept);
    }

    #[tokio::test]
    async fn holders_with_a_call_are_bounded() {
        let limit = KeyedLimit::new(1, LONG);
        let mut held = Vec::new();
        for number in 0..HOLDERS_MAX {
            held.push(limit.place(&number.to_string()).await.expect("room"));
        }
        assert!(is_refused_at_once(limit.place("one more")).await);
        held.pop();
        assert!(limit.place("one more").await.is_ok());
    }
}
