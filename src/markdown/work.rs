//! A time limit for one conversion, in the time that its thread computes, as a backstop for the other limits. Each kind of
//! page has bounds of its own that make its work grow with its length alone; this one is for a cause that nobody knows yet.
//!
//! Reading time is for the caller, who gives the clock. What spends all of it is left by unwinding: a pass over a page needs
//! no way out in its middle, and nothing half done is looked at afterwards.

use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::time::Duration;

/// A page of 5 MiB made to cost time takes a second of a slow processor, and any other page much less.
pub const WORK_TIME_MAX: Duration = Duration::from_secs(20);

/// The clock costs as much as some of these steps.
const STEPS_OF_LOOK: u32 = 1024;

/// What all parts of one conversion share.
#[derive(Clone, Default)]
pub(super) struct Work(Option<Rc<Meter>>);

struct Meter {
    /// How long this thread has computed.
    clock: Box<dyn Fn() -> Duration>,
    ends_at: Duration,
    steps: Cell<u32>,
}

/// All time is spent.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Spent;

impl Work {
    /// Begins now.
    pub(super) fn new(clock: impl Fn() -> Duration + 'static) -> Work {
        Work(Some(Rc::new(Meter {
            ends_at: clock() + WORK_TIME_MAX,
            clock: Box::new(clock),
            steps: Cell::new(0),
        })))
    }

    /// Called where work repeats; now and then it looks at the clock.
    pub(super) fn step(&self) {
        if let Some(meter) = &self.0 {
            let steps = meter.steps.get() + 1;
            meter.steps.set(steps % STEPS_OF_LOOK);
            if steps == STEPS_OF_LOOK {
                self.look();
            }
        }
    }

    /// Called between the parts of a conversion.
    pub(super) fn look(&self) {
        if let Some(meter) = &self.0
            && (meter.clock)() > meter.ends_at
        {
            // Without the hook that logs panics: this is an ordinary end.
            resume_unwind(Box::new(Spent));
        }
    }
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Work")
    }
}

/// Runs a part of a conversion up to its end, or to that of its time.
pub(super) fn within_time<T>(part: impl FnOnce() -> T) -> Result<T, Spent> {
    catch_unwind(AssertUnwindSafe(part)).map_err(|thrown| match thrown.downcast() {
        Ok(spent) => *spent,
        Err(other) => resume_unwind(other),
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A clock that goes on by so much each time it is read.
    pub(in crate::markdown) fn fast_clock(each: Duration) -> impl Fn() -> Duration + 'static {
        let now = Cell::new(Duration::ZERO);
        move || {
            now.set(now.get() + each);
            now.get()
        }
    }

    #[test]
    fn what_takes_longer_than_it_may_is_too_complex() {
        let steps = |count: u32, each: Duration| {
            let work = Work::new(fast_clock(each));
            within_time(|| {
                (0..count).for_each(|_| work.step());
                count
            })
        };
        let looks = 20;
        assert_eq!(
            steps(looks * STEPS_OF_LOOK, Duration::from_secs(1)),
            Ok(20 * STEPS_OF_LOOK)
        );
        let too_many = (looks + 1) * STEPS_OF_LOOK;
        assert_eq!(steps(too_many, Duration::from_secs(1)), Err(Spent));
        assert_eq!(steps(too_many, Duration::ZERO), Ok(too_many));
    }

    #[test]
    fn other_panics_go_on() {
        let other = || within_time::<()>(|| resume_unwind(Box::new("another")));
        let thrown = catch_unwind(other).expect_err("it is thrown");
        assert_eq!(thrown.downcast_ref(), Some(&"another"));
    }
}
