//! Points in time, and the product's retention periods. The clock is in `outside::clock`.

use std::fmt;

/// Seconds since 1970-01-01T00:00:00Z, the one form in which bodies and records carry time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixSeconds(pub u64);

/// A quote receipt lives 7 days (specification section 8).
pub const QUOTE_SECONDS: u64 = 7 * 24 * 3600;
/// A report is retained 30 days (specification 2.8), and known as expired for as long again (decisions, Addresses).
pub const REPORT_SECONDS: u64 = REPORT_DAYS * 24 * 3600;
pub const REPORT_DAYS: u64 = 30;
/// A converted page stays in the cache 24 hours (decisions, Addresses and samples).
pub const PAGE_SECONDS: u64 = 24 * 3600;
/// How long after settlement a kept answer is given again to the same payload (decisions, Money 4).
pub const REDELIVERY_SECONDS: u64 = 15 * 60;
/// A retry credit lives 15 minutes at most (decisions, Retry credits).
pub const CREDIT_SECONDS: u64 = 15 * 60;
/// An unknown settlement is looked at again after so long at the latest, and its answer kept until then.
pub const UNKNOWN_LOOK_SECONDS_MAX: u64 = 3600;

impl UnixSeconds {
    pub const fn plus(self, seconds: u64) -> Self {
        UnixSeconds(self.0.saturating_add(seconds))
    }

    /// Whole seconds from `earlier` to `self`; zero when the clock has gone back.
    pub const fn since(self, earlier: UnixSeconds) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// The day in UTC, as 2026-11-21.
pub fn day(at: UnixSeconds) -> String {
    let timestamp = i64::try_from(at.0)
        .ok()
        .and_then(|at| jiff::Timestamp::from_second(at).ok());
    timestamp.map_or_else(String::new, |at| at.strftime("%Y-%m-%d").to_string())
}

impl fmt::Display for UnixSeconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
