//! What the dates that a page states say about its age.

use jiff::civil::Date;

use crate::domain::time::UnixSeconds;

const DAY_SECONDS: i64 = 86_400;

/// Whole days from the date that a text begins with to `now`; negative for one in the future. Texts are ISO 8601 or
/// cannot be read.
pub(crate) fn days(stated: &str, now: UnixSeconds) -> Option<i64> {
    let date = date(stated.trim())?;
    let epoch = Date::constant(1970, 1, 1);
    let then = i64::from(date.since(epoch).ok()?.get_days());
    Some(i64::try_from(now.0).ok()? / DAY_SECONDS - then)
}

/// `2026-03-01…`, `2026-03` or `2026`.
fn date(text: &str) -> Option<Date> {
    let digits = |range: std::ops::Range<usize>| text.get(range)?.parse::<u16>().ok();
    let part = |from: usize| match text.as_bytes().get(from - 1) {
        Some(b'-') => digits(from..from + 2).and_then(|number| i8::try_from(number).ok()),
        None => Some(1),
        _ => None,
    };
    let year = i16::try_from(digits(0..4)?).ok()?;
    let month = part(5)?;
    let day = match text.len() {
        0..=7 => 1,
        _ => part(8)?,
    };
    Date::new(year, month, day).ok()
}

#[cfg(test)]
mod tests {
    use crate::evidence::report::age::*;

    #[test]
    fn ages_are_whole_days() {
        let now = UnixSeconds(1_772_323_200);
        let check = |stated, expected| assert_eq!(days(stated, now), expected, "{stated}");
        check("2026-03-01", Some(0));
        check("2026-02-28T23:59:59Z", Some(1));
        check("2025-03-01", Some(365));
        check("2026-03-02", Some(-1));
        check("2026-02", Some(28));
        check("2026", Some(59));
        check("1 March 2026", None);
        check("2026-13-01", None);
        check("2026/03/01", None);
        check("", None);
        check("20é6", None);
    }
}
