//! Numbers, times and the report's codes in words.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use krilla::metadata::DateTime;

/// `conflict_of_interest` as it is read.
pub(super) fn spoken(code: &str) -> String {
    code.replace('_', " ")
}

/// A share as per cent.
pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", share.clamp(0.0, 1.0) * 100.0)
}

/// `2026-03-01 12:00 UTC`.
pub(super) fn when(seconds: u64) -> String {
    let at = i64::try_from(seconds)
        .ok()
        .and_then(|at| Timestamp::from_second(at).ok());
    at.map_or_else(
        || "unknown".to_owned(),
        |at| at.strftime("%Y-%m-%d %H:%M UTC").to_string(),
    )
}

/// The day of a stated point in time; what is no ISO 8601 stays as it is stated.
pub(super) fn day(stated: &str) -> String {
    match (stated.get(..10), stated.as_bytes().get(10)) {
        (Some(day), Some(b'T' | b' ')) => day.to_owned(),
        _ => bounded(stated, 40),
    }
}

/// As the document's metadata want it.
pub(super) fn date_time(seconds: u64) -> DateTime {
    let at = i64::try_from(seconds)
        .ok()
        .and_then(|at| Timestamp::from_second(at).ok());
    let at = at.unwrap_or_default().to_zoned(TimeZone::UTC).datetime();
    let small = |number: i8| u8::try_from(number).unwrap_or_default();
    DateTime::new(u16::try_from(at.year()).unwrap_or_default())
        .month(small(at.month()))
        .day(small(at.day()))
        .hour(small(at.hour()))
        .minute(small(at.minute()))
        .second(small(at.second()))
        .utc_offset_hour(0)
        .utc_offset_minute(0)
}

/// At most so many characters, an ellipsis included.
pub(super) fn bounded(text: &str, characters: usize) -> String {
    if text.chars().count() <= characters {
        return text.to_owned();
    }
    let mut kept: String = text.chars().take(characters.saturating_sub(1)).collect();
    kept.truncate(kept.trim_end().len());
    kept.push('…');
    kept
}
