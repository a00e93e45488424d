//! Points in time, and the product's retention periods. The clock is in `outside::clock`.

use std::fmt;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// Seconds since 1970-01-01T00:00:00Z, the one form in which bodies and records carry time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixSeconds(pub u64);

pub const DAY_SECONDS: u64 = 24 * 3600;
/// A quote receipt lives 7 days.
pub const QUOTE_SECONDS: u64 = 7 * DAY_SECONDS;
/// A report is retained 30 days, and known as expired for as long again.
pub const REPORT_SECONDS: u64 = REPORT_DAYS * DAY_SECONDS;
pub const REPORT_DAYS: u64 = 30;
/// How long a payer finds a purchase in its list.
pub const PURCHASE_SECONDS: u64 = 30 * DAY_SECONDS;
/// A converted page stays in the cache 24 hours.
pub const PAGE_SECONDS: u64 = DAY_SECONDS;
/// How long after settlement a kept answer is given again to the same payload.
pub const REDELIVERY_SECONDS: u64 = 15 * 60;
/// A retry credit lives 15 minutes at most.
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

    /// Whole seconds from this to `now`. `None` if it lies ahead by more than a minute: a wrong clock has dated it.
    pub fn age_at(self, now: UnixSeconds) -> Option<u64> {
        (self <= now.plus(60)).then(|| now.since(self))
    }

    /// The day in UTC, counted from 1970-01-01: the key of a day's ledger.
    pub const fn day_number(self) -> u64 {
        self.0 / DAY_SECONDS
    }

    /// Until the next day begins (UTC): 1 to 86,400.
    pub const fn seconds_to_next_day(self) -> u64 {
        DAY_SECONDS - self.0 % DAY_SECONDS
    }

    /// The start of the day with this number.
    pub const fn of_day(number: u64) -> Self {
        UnixSeconds(number.saturating_mul(DAY_SECONDS))
    }

    /// The start of this day in UTC; `None` before 1970.
    pub fn of_date(date: Date) -> Option<Self> {
        let start = date.to_zoned(TimeZone::UTC).ok()?.timestamp();
        u64::try_from(start.as_second()).ok().map(UnixSeconds)
    }

    /// For the calendar's functions; `None` after the year 9999.
    pub fn timestamp(self) -> Option<Timestamp> {
        Timestamp::from_second(i64::try_from(self.0).ok()?).ok()
    }
}

/// A length of time as people read it, in its two largest units: `3 days 4 hours`, `45 seconds`.
pub fn span(seconds: u64) -> String {
    let units = [
        (DAY_SECONDS, "day"),
        (3600, "hour"),
        (60, "minute"),
        (1, "second"),
    ];
    let mut rest = seconds;
    let parts = units.into_iter().map(|(unit, name)| {
        let count = rest / unit;
        rest %= unit;
        (count, name)
    });
    let parts = parts.skip_while(|(count, name)| *count == 0 && *name != "second");
    let parts = parts.take(2).enumerate();
    let parts = parts.filter(|(place, (count, _))| *place == 0 || *count > 0);
    let parts = parts.map(|(_, (count, name))| match count {
        1 => format!("1 {name}"),
        _ => format!("{count} {name}s"),
    });
    parts.collect::<Vec<_>>().join(" ")
}

/// The day in UTC, as 2026-11-21.
pub fn day(at: UnixSeconds) -> String {
    let timestamp = at.timestamp();
    timestamp.map_or_else(String::new, |at| at.strftime("%Y-%m-%d").to_string())
}

/// The minute in UTC, as 2026-11-21 12:30 UTC.
pub fn minute(at: UnixSeconds) -> String {
    let timestamp = at.timestamp();
    timestamp.map_or_else(String::new, |at| {
        at.strftime("%Y-%m-%d %H:%M UTC").to_string()
    })
}

impl fmt::Display for UnixSeconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_has_its_two_largest_units() {
        for (seconds, expected) in [
            (0, "0 seconds"),
            (1, "1 second"),
            (59, "59 seconds"),
            (60, "1 minute"),
            (61, "1 minute 1 second"),
            (3_600, "1 hour"),
            (3_605, "1 hour"),
            (2 * DAY_SECONDS + 3_700, "2 days 1 hour"),
            (DAY_SECONDS + 120, "1 day"),
        ] {
            assert_eq!(span(seconds), expected);
        }
    }
}
