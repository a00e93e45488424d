//! One blocking call to a neighbour, off the async threads: a bounded number at once, a bounded wait for a place.
//! The call itself must carry its own deadline; a dropped future does not stop a blocking call.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

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
