//! Dates as pages write them, brought to ISO 8601 where only one reading is possible. Knows the time zone names of e-mail
//! (RFC 5322, 4.3) but CST, which China has too, and no language of month names but English; what it cannot read it leaves as it is written.

use jiff::Timestamp;
use jiff::civil::Date;

/// The months in English, as lower-case text is compared with them.
pub(crate) const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

pub(crate) const WEEKDAYS: [&str; 7] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];

/// Longer texts are sentences.
const DATE_BYTES_MAX: usize = 80;

/// The date in ISO 8601, or the text itself when it may mean several.
pub(super) fn normalised(text: &str) -> String {
    let text = text.trim();
    read(text).unwrap_or_else(|| text.to_owned())
}

/// The same for a date that a machine wrote: nothing where there is no such day, the day alone where there is no such hour.
pub(super) fn possible(text: &str) -> Option<String> {
    let text = text.trim();
    let is_part = |c: char| c.is_ascii_digit() || "-/.".contains(c);
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    let exists =
        |year: &str, month: &str, day: &str| date_of(number(year)?, number(month)?, number(day)?);
    let day = |parts: &[&str]| match *parts {
        [year, month, day] if year.len() == 4 => Some(exists(year, month, day)),
        [one, other, year] if year.len() == 4 => {
            let day = exists(year, one, other).or_else(|| exists(year, other, one));
            day.is_none().then_some(None)
        }
        [year, month] if year.len() == 4 && end == text.len() => {
            exists(year, month, "1").is_none().then_some(None)
        }
        [whole] if whole.len() == 8 => Some(exists(&whole[..4], &whole[4..6], &whole[6..])),
        _ => None,
    };
    let parts: Vec<&str> = text[..end].split(['-', '/', '.']).take(4).collect();
    match (read(text), day(&parts)) {
        (Some(date), _) => Some(date),
        (None, Some(day)) => day.map(|day| day.to_string()),
        (None, None) => Some(text.to_owned()),
    }
}

fn read(text: &str) -> Option<String> {
    if text.len() > DATE_BYTES_MAX || !text.is_ascii() {
        return None;
    }
    numeric(text)
        .or_else(|| date_in_words(text))
        .or_else(|| epoch(text))
}

fn date_of(year: u32, month: u32, day: u32) -> Option<Date> {
    let year = i16::try_from(year).ok()?;
    let (month, day) = (i8::try_from(month).ok()?, i8::try_from(day).ok()?);
    let date = Date::new(year, month, day).ok()?;
    (1000..=2999).contains(&year).then_some(date)
}

/// A year first is followed by its month in every country; a day first is only sure with dots, or beyond the 12th.
fn numeric(text: &str) -> Option<String> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && !"-/.".contains(c))
        .unwrap_or(text.len());
    let (date, rest) = text.split_at(end);
    let parts: Vec<&str> = date.split(['-', '/', '.']).collect();
    let day = match parts[..] {
        [year, month, day] if year.len() == 4 && month.len() <= 2 && day.len() <= 2 => {
            date_of(number(year)?, number(month)?, number(day)?)?
        }
        [first, second, year] if year.len() == 4 && first.len() <= 2 && second.len() <= 2 => {
            let (first, second, year) = (number(first)?, number(second)?, number(year)?);
            match (first, second) {
                _ if date.contains('.') || first > 12 || first == second => {
                    date_of(year, second, first)?
                }
                _ if second > 12 => date_of(year, first, second)?,
                _ => return None,
            }
        }
        [whole] if whole.len() == 8 => date_of(
            number(&whole[..4])?,
            number(&whole[4..6])?,
            number(&whole[6..])?,
        )?,
        [year, month] if year.len() == 4 && month.len() == 2 && rest.is_empty() => {
            date_of(number(year)?, number(month)?, 1)?;
            return Some(format!("{year}-{month}"));
        }
        _ => return None,
    };
    let rest = rest.strip_prefix(['T', 't']).unwrap_or(rest).trim();
    if rest.is_empty() {
        return Some(day.to_string());
    }
    time(rest).map(|time| format!("{day}T{time}"))
}

/// `Tue, 05 Mar 2024 10:00:00 GMT`, `March 5th, 2024`, `Tue Mar 05 2024 10:00:00 GMT+0100 (CET)`.
fn date_in_words(text: &str) -> Option<String> {
    let text = text.split('(').next()?.to_ascii_lowercase();
    let (mut day, mut month, mut year) = (None, None, None);
    let mut clock = String::new();
    for token in text.split([' ', ',']).filter(|token| !token.is_empty()) {
        let bare = token.trim_end_matches('.');
        let is_ordinal = ["st", "nd", "rd", "th"]
            .iter()
            .any(|end| bare.ends_with(end));
        let digits = if is_ordinal {
            &bare[..bare.len() - 2]
        } else {
            bare
        };
        if let Some(named) = index_of_name(bare, &MONTHS) {
            month.replace(named).is_none().then_some(())?;
        } else if is_weekday(bare) || bare == "at" {
        } else if let Some(value) = number(digits).filter(|_| token.len() <= 5) {
            let place = if digits.len() == 4 {
                &mut year
            } else {
                &mut day
            };
            place.replace(value).is_none().then_some(())?;
        } else {
            clock.push(' ');
            clock.push_str(token);
        }
    }
    let day = date_of(year?, month?, day?)?;
    match clock.trim() {
        "" => Some(day.to_string()),
        clock => time(clock).map(|time| format!("{day}T{time}")),
    }
}

fn is_weekday(token: &str) -> bool {
    index_of_name(token, &WEEKDAYS).is_some()
}

/// By the whole name or by its first three or four letters.
fn index_of_name(token: &str, names: &[&str]) -> Option<u32> {
    let found = names.iter().position(|name| {
        token == *name || ((3..=4).contains(&token.len()) && name.starts_with(token))
    })?;
    u32::try_from(found + 1).ok()
}

/// `10:00`, `10:00:05.123Z`, `10:00 pm +0200`, `10:00:00 gmt-05:00`.
fn time(text: &str) -> Option<String> {
    let text = text.to_ascii_lowercase();
    let end = text
        .find(|c: char| !c.is_ascii_digit() && !":.,".contains(c))
        .unwrap_or(text.len());
    let (clock, mut rest) = (text[..end].trim_end_matches('.'), text[end..].trim());
    let mut parts = clock.split(':');
    let (hour, minute) = (parts.next()?, parts.next()?);
    let seconds = parts.next().unwrap_or("00");
    let second = seconds.split(['.', ',']).next()?;
    let (mut hour, minute, second) = (number(hour)?, number(minute)?, number(second)?);
    for (mark, is_late) in [("am", false), ("pm", true)] {
        if let Some(after) = rest.strip_prefix(mark) {
            (1..=12).contains(&hour).then_some(())?;
            hour = hour % 12 + if is_late { 12 } else { 0 };
            rest = after.trim();
        }
    }
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    Some(format!("{hour:02}:{minute:02}:{second:02}{}", zone(rest)?))
}

fn zone(text: &str) -> Option<String> {
    let rest = match text {
        "" => return Some(String::new()),
        "z" | "gmt" | "utc" => return Some("Z".to_owned()),
        "edt" => return Some("-04:00".to_owned()),
        "est" | "cdt" => return Some("-05:00".to_owned()),
        "mdt" => return Some("-06:00".to_owned()),
        "mst" | "pdt" => return Some("-07:00".to_owned()),
        "pst" => return Some("-08:00".to_owned()),
        text => text
            .trim_start_matches("gmt")
            .trim_start_matches("utc")
            .trim(),
    };
    let rest = without_name(rest)?;
    let sign = rest
        .chars()
        .next()
        .filter(|sign| matches!(sign, '+' | '-'))?;
    let digits: String = rest[1..].chars().filter(|c| *c != ':').collect();
    let (hours, minutes) = match digits.len() {
        1 | 2 => (number(&digits)?, 0),
        4 => (number(&digits[..2])?, number(&digits[2..])?),
        _ => return None,
    };
    (hours <= 14 && minutes < 60).then(|| format!("{sign}{hours:02}:{minutes:02}"))
}

/// An offset may be followed by the zone's name, or by itself: Go prints `+0100 CET` and `+0100 +0100`.
fn without_name(zone: &str) -> Option<&str> {
    match zone.split_once(' ') {
        None => Some(zone),
        Some((offset, name)) => {
            let is_name = name.len() <= 5 && name.bytes().all(|byte| byte.is_ascii_alphabetic());
            (name == offset || is_name).then_some(offset)
        }
    }
}

/// Seconds or milliseconds since 1970, from 2001 to 2286.
fn epoch(text: &str) -> Option<String> {
    let seconds: i64 = match text.len() {
        10 => text.parse().ok()?,
        13 => text.parse::<i64>().ok()? / 1000,
        _ => return None,
    };
    (seconds >= 1_000_000_000).then_some(())?;
    Some(Timestamp::from_second(seconds).ok()?.to_string())
}

fn number(text: &str) -> Option<u32> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_plain.then(|| text.parse().ok())?
}

/// The day in ISO 8601, where only one can be meant.
pub(super) fn day(text: &str) -> Option<String> {
    let date = normalised(text);
    let is_iso = date.len() >= 10
        && date.is_char_boundary(10)
        && date
            .bytes()
            .take(10)
            .enumerate()
            .all(|(at, byte)| match at {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            });
    is_iso.then(|| date[..10].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(normalised(text), expected, "{text}");
    }

    #[test]
    fn dates_of_one_meaning_become_iso() {
        check("2024-05-06", "2024-05-06");
        check("2024-5-6", "2024-05-06");
        check("2024/05/06", "2024-05-06");
        check("20240506", "2024-05-06");
        check("2024-05", "2024-05");
        check("06.05.2024", "2024-05-06");
        check("25/03/2024", "2024-03-25");
        check("03/25/2024", "2024-03-25");
        check("March 5, 2024", "2024-03-05");
        check("5th Mar. 2024", "2024-03-05");
        check("Sept 7, 2023", "2023-09-07");
        check("1709632800", "2024-03-05T10:00:00Z");
        check("1709632800123", "2024-03-05T10:00:00Z");
    }

    /// A page that said 2021-13-45 was published on 2021-13-45.
    #[test]
    fn days_that_do_not_exist_are_no_dates() {
        for (text, expected) in [
            ("2021-13-45", None),
            ("2021-02-30", None),
            ("0000-00-00", None),
            ("0001-01-01T00:00:00Z", None),
            ("20210230", None),
            ("45/13/2021", None),
            ("2021-13", None),
            ("2021-03-04T25:61", Some("2021-03-04")),
            ("2021-03-04", Some("2021-03-04")),
            ("2021-03", Some("2021-03")),
            ("05/03/2024", Some("05/03/2024")),
            ("2024", Some("2024")),
            ("5. März 2024", Some("5. März 2024")),
            ("yesterday", Some("yesterday")),
        ] {
            assert_eq!(possible(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn times_keep_their_zone() {
        check("2024-05-06T07:08:09Z", "2024-05-06T07:08:09Z");
        check("2024-05-06T07:08:09.123+0200", "2024-05-06T07:08:09+02:00");
        check("2024-05-06 07:08", "2024-05-06T07:08:00");
        check("2024-05-06 07:08:09 UTC", "2024-05-06T07:08:09Z");
        check("Tue, 05 Mar 2024 10:00:00 GMT", "2024-03-05T10:00:00Z");
        check("Thu, 06 Oct 2011 08:10:27 EST", "2011-10-06T08:10:27-05:00");
        check(
            "Tue Mar 05 2024 10:00:00 GMT-0500 (EST)",
            "2024-03-05T10:00:00-05:00",
        );
        check("2024-03-05 10:00:00 +0100 CET", "2024-03-05T10:00:00+01:00");
        check(
            "2024-03-05 10:00:00 +0100 +0100",
            "2024-03-05T10:00:00+01:00",
        );
        check("March 5, 2024 at 10:07 pm", "2024-03-05T22:07:00");
        check("March 5, 2024 12:07 AM", "2024-03-05T00:07:00");
    }

    #[test]
    fn what_may_mean_several_days_stays_as_written() {
        for text in [
            "05/03/2024",
            "yesterday",
            "2024-13-40",
            "2023-02-29",
            "5. März 2024",
            "10:00 CST March 5, 2024",
            "2024-03-05 10:00:00 +0100 or so",
            "March 2024",
            "2024",
            "12345678901",
            "1",
            "",
            "2024-05-06T25:00",
            "5 March 2024 5 March 2025",
        ] {
            check(text, text);
        }
    }
}
