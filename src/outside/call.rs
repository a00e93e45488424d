//! One blocking call to a neighbour, off the async threads: a bounded number at once, a bounded wait for a place.
//! The call itself must carry its own deadline; a dropped future does not stop a blocking call.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The places that one neighbour's calls may take on the blocking threads.
#[derive(Clone, Debug)]
pub struct Lane {
    places: Arc<Semaphore>,
    wait_max: Duration,
}

/// Every place stayed taken for as long as a call may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneFull;

impl Lane {
    pub fn new(calls_max: usize, wait_max: Duration) -> Self {
        Lane {
            places: Arc::new(Semaphore::new(calls_max)),
            wait_max,
        }
    }

    /// The places that nobody has taken at this moment.
    pub fn free(&self) -> usize {
        self.places.available_permits()
    }

    /// Runs `work` on a blocking thread once a place is free. A panic inside `work` is passed on to the caller.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, LaneFull> {
        let place =
            match tokio::time::timeout(self.wait_max, self.places.clone().acquire_owned()).await {
                Ok(Ok(place)) => place,
                Ok(Err(_)) | Err(_) => return Err(LaneFull),
            };
        let outcome = tokio::task::spawn_blocking(move || {
            let _place = place;
            work()
        })
        .await;
        match outcome {
            Ok(value) => Ok(value),
            Err(failure) => match failure.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // Only when the runtime is being shut down.
                Err(_) => Err(LaneFull),
            },
        }
    }
}

/// Shares of a lane: how many calls for one and the same payer, or to one and the same site, may be under way, so that
/// none of them takes every place.
#[derive(Clone, Debug)]
pub struct Shares {
    each_max: usize,
    wait_max: Duration,
    holders: Arc<Mutex<HashMap<String, Arc<Semaphore>>>>,
}

/// Holders in the table before those without a call are cleared away.
const HOLDERS_MAX: usize = 1024;

impl Shares {
    pub fn new(each_max: usize, wait_max: Duration) -> Self {
        Shares {
            each_max: each_max.max(1),
            wait_max,
            holders: Arc::default(),
        }
    }

    /// A place among those of `holder`, given back when it is dropped.
    pub async fn place(&self, holder: &str) -> Result<OwnedSemaphorePermit, LaneFull> {
        let places = {
            let mut holders = self
                .holders
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner());
            if holders.len() >= HOLDERS_MAX {
                // Whoever has a call under way, or waits for one, holds a second reference.
                holders.retain(|_, places| Arc::strong_count(places) > 1);
            }
            let fresh = || Arc::new(Semaphore::new(self.each_max));
            holders
                .entry(holder.to_owned())
                .or_insert_with(fresh)
                .clone()
        };
        match tokio::time::timeout(self.wait_max, places.acquire_owned()).await {
            Ok(Ok(place)) => Ok(place),
            Ok(Err(_)) | Err(_) => Err(LaneFull),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_holder_takes_its_share_and_no_more() {
        let shares = Shares::new(2, Duration::from_millis(20));
        let held = (shares.place("a").await, shares.place("a").await);
        assert!(held.0.is_ok() && held.1.is_ok());
        assert_eq!(shares.place("a").await.err(), Some(LaneFull));
        assert!(shares.place("b").await.is_ok());
        drop(held);
        assert!(shares.place("a").await.is_ok());
    }

    #[tokio::test]
    async fn holders_without_a_call_are_forgotten() {
        let shares = Shares::new(1, Duration::from_millis(20));
        let kept = shares.place("kept").await;
        for number in 0..2 * HOLDERS_MAX {
            assert!(shares.place(&number.to_string()).await.is_ok());
        }
        assert!(shares.holders.lock().expect("not poisoned").len() <= HOLDERS_MAX);
        assert_eq!(shares.place("kept").await.err(), Some(LaneFull));
        drop(kept);
    }
}
