//! The one clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;

use crate::domain::time::UnixSeconds;

/// Where time comes from.
#[derive(Clone, Debug)]
pub enum Clock {
    System,
    /// Stands still until it is set: for tests.
    Manual(Arc<AtomicU64>),
}

impl Clock {
    pub fn manual(now: UnixSeconds) -> Self {
        Clock::Manual(Arc::new(AtomicU64::new(now.0)))
    }

    pub fn now(&self) -> UnixSeconds {
        match self {
            // A clock before 1970 reads as 1970: every authorization is then not valid yet, and nothing is sold.
            Clock::System => UnixSeconds(
                SystemTime::now()
                    .duration_since(UNIX_EPOCH)
                    .map_or(0, |time| time.as_secs()),
            ),
            Clock::Manual(now) => UnixSeconds(now.load(Ordering::SeqCst)),
        }
    }

    /// The same with fractions of a second, for the log.
    pub fn timestamp(&self) -> Timestamp {
        match self {
            Clock::System => Timestamp::try_from(SystemTime::now()).unwrap_or_default(),
            Clock::Manual(_) => {
                let seconds = i64::try_from(self.now().0).unwrap_or(i64::MAX);
                Timestamp::from_second(seconds).unwrap_or_default()
            }
        }
    }
}

/// How long this thread has computed: time in which it waited, or others had the processor, does not count.
pub fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Time that has passed since a moment. Unlike the clock's own, it does not jump when the system's time is corrected.
#[derive(Clone, Debug)]
pub enum Stopwatch {
    System(Instant),
    Manual {
        clock: Arc<AtomicU64>,
        began: UnixSeconds,
    },
}

impl Clock {
    /// A stopwatch that begins now.
    pub fn stopwatch(&self) -> Stopwatch {
        match self {
            Clock::System => Stopwatch::System(Instant::now()),
            Clock::Manual(clock) => Stopwatch::Manual {
                clock: clock.clone(),
                began: self.now(),
            },
        }
    }
}

impl Stopwatch {
    pub fn elapsed(&self) -> Duration {
        match self {
            Stopwatch::System(began) => began.elapsed(),
            Stopwatch::Manual { clock, began } => {
                Duration::from_secs(clock.load(Ordering::SeqCst).saturating_sub(began.0))
            }
        }
    }
}
