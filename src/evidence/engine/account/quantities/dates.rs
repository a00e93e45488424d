//! Dates, times of day and versions among the quantities of a text.

use super::{Kind, Reader, is_content};
use crate::markdown::MONTHS;

/// Time zones by their codes: minutes from UTC in winter and in summer.
const ZONES: [(&str, [i32; 2]); 24] = [
    ("UTC", [0, 0]),
    ("GMT", [0, 0]),
    ("Z", [0, 0]),
    ("WET", [0, 0]),
    ("BST", [60, 60]),
    ("CET", [60, 60]),
    ("CEST", [120, 120]),
    ("EET", [120, 120]),
    ("EEST", [180, 180]),
    ("EST", [-300, -300]),
    ("EDT", [-240, -240]),
    ("ET", [-300, -240]),
    ("CST", [-360, -360]),
    ("CDT", [-300, -300]),
    ("CT", [-360, -300]),
    ("MST", [-420, -420]),
    ("MDT", [-360, -360]),
    ("MT", [-420, -360]),
    ("PST", [-480, -480]),
    ("PDT", [-420, -420]),
    ("PT", [-480, -420]),
    ("JST", [540, 540]),
    ("IST", [330, 330]),
    ("AEST", [600, 600]),
];
/// The same by the words before "time".
const PLACES: [(&str, [i32; 2]); 16] = [
    ("eastern", [-300, -240]),
    ("new york", [-300, -240]),
    ("central", [-360, -300]),
    ("chicago", [-360, -300]),
    ("mountain", [-420, -360]),
    ("pacific", [-480, -420]),
    ("california", [-480, -420]),
    ("london", [0, 60]),
    ("uk", [0, 60]),
    ("berlin", [60, 120]),
    ("paris", [60, 120]),
    ("madrid", [60, 120]),
    ("rome", [60, 120]),
    ("amsterdam", [60, 120]),
    ("tokyo", [540, 540]),
    ("india", [330, 330]),
];

impl Reader<'_> {
    /// The day behind "10-" or "10 to " that ends a range of days: its place.
    fn last_day(&self, at: usize, first: u32, is_between: bool) -> Option<usize> {
        let joins = match self.low(at) {
            "-" | "–" | "to" | "through" => true,
            "and" => is_between,
            _ => false,
        };
        let is_later = |last: u32| last > first;
        (joins && self.whole(at + 1, 31).is_some_and(is_later)).then_some(at + 1)
    }

    /// 4 March 2021, March 4 2021, March 2021, 2021-03-04, 2021; not what a unit or a thing follows.
    pub(super) fn date(&mut self, at: usize) -> Option<usize> {
        let year = |reader: &Self, at: usize| {
            reader
                .whole(at, 2100)
                .filter(|year| *year >= 1000 && reader.pieces[at].text.len() == 4)
        };
        let suffix = |reader: &Self, at: usize| {
            usize::from(matches!(reader.low(at), "st" | "nd" | "rd" | "th"))
        };
        let mut date = [0; 3];
        let mut end = at + 1;
        // Another day or year that ends a range: its place, and the date.
        let mut last = None;
        let is_between = self.back(at, 1) == "between";
        if let Some(found) =
            month(self.low(at)).filter(|_| self.pieces[at].text.starts_with(char::is_uppercase))
        {
            date[1] = found;
            let stop = self.stop_of_month(at);
            if let Some(day) = self.whole(end + stop, 31).filter(|day| *day > 0) {
                date[2] = day;
                end += stop + 1;
                end += suffix(self, end);
                let day = self.last_day(end, day, is_between).filter(|day| {
                    let behind = self.low(day + 1 + suffix(self, day + 1));
                    !behind.starts_with(char::is_alphabetic) || !is_content(behind)
                });
                if let Some(place) = day.filter(|day| !self.has_unit(day + 1)) {
                    last = Some((place, self.whole(place, 31).unwrap_or_default(), end));
                    end = place + 1 + suffix(self, place + 1);
                }
            } else if self.low(at) == "may" && year(self, end).is_none() && !self.is_may_a_month(at)
            {
                return None;
            }
            let comma = usize::from(self.low(end) == ",");
            let skipped = comma.max(self.stop_of_month(end - 1));
            if let Some(found) = year(self, end + skipped) {
                date[0] = found;
                end += skipped + 1;
            }
        } else if let Some(found) = year(self, at) {
            // "The 1980s" are no year.
            if self.low(end) == "s" && self.touches(end) && found % 10 == 0 {
                return Some(end + 1);
            }
            date[0] = found;
            let part = |reader: &Self, at: usize, most| {
                (reader.low(at) == "-" && reader.touches(at))
                    .then(|| reader.whole(at + 1, most))
                    .flatten()
            };
            if let (Some(month), Some(day)) = (part(self, at + 1, 12), part(self, at + 3, 31)) {
                (date[1], date[2], end) = (month, day, at + 5);
            } else if self.has_unit(end)
                || self.touches(at) && self.back(at, 1) != "("
                || self.is_counted(end)
            {
                return None;
            } else if matches!(self.low(end), "-" | "–")
                && self.touches(end)
                && let Some(later) = year(self, end + 1).filter(|later| *later > found)
                && !self.has_unit(end + 2)
            {
                self.push_date(at, end, [found, 0, 0]);
                self.push_date(end + 1, end + 2, [later, 0, 0]);
                return Some(end + 2);
            }
        } else {
            let day = self.whole(at, 31).filter(|day| *day > 0)?;
            let next = at + 1 + suffix(self, at + 1);
            if let Some(place) = self.last_day(next, day, is_between) {
                // The day that ends the range has the month behind it, and perhaps the year.
                let known = self.found.len();
                let behind = self.date(place)?;
                match self.found.get(known).map(|later| &later.kind) {
                    Some(&Kind::Date([year, month, last])) if last > 0 && month > 0 => {
                        self.push_date(at, at + 1, [year, month, day]);
                        self.found[known..].rotate_right(1);
                        return Some(behind);
                    }
                    _ => {
                        self.found.truncate(known);
                        return None;
                    }
                }
            }
            let next = next + usize::from(self.low(next) == "of");
            let found = month(self.low(next))
                .filter(|_| self.pieces[next].text.starts_with(char::is_uppercase))?;
            (date[1], date[2], end) = (found, day, next + 1);
            let comma = usize::from(self.low(end) == ",");
            let skipped = comma.max(self.stop_of_month(next));
            if let Some(found) = year(self, end + skipped) {
                date[0] = found;
                end += skipped + 1;
            }
        }
        match last {
            Some((place, day, first_end)) => {
                self.push_date(at, first_end, date);
                self.push_date(place, end, [date[0], date[1], day]);
            }
            None => self.push_date(at, end, date),
        }
        Some(end)
    }

    fn push_date(&mut self, from: usize, to: usize, date: [u32; 3]) {
        let day = f64::from(date[0]) * 10_000.0 + f64::from(date[1] * 100 + date[2]);
        self.push(from, to, Kind::Date(date), day, day, day);
    }

    /// "May" with neither day nor year behind it, by what stands before it.
    fn is_may_a_month(&self, at: usize) -> bool {
        match self.back(at, 1) {
            "in" | "of" | "since" | "until" | "by" | "from" | "last" | "next" => true,
            "to" | "through" | "and" | "or" | "-" | "–" => month(self.back(at, 2)).is_some(),
            _ => false,
        }
    }

    /// One where a month is cut short with a full stop right behind it.
    pub(super) fn stop_of_month(&self, at: usize) -> usize {
        let is_short = is_short_month(self.low(at)) && month(self.low(at)).is_some();
        usize::from(is_short && self.low(at + 1) == "." && self.touches(at + 1))
    }

    /// 17:30, 5 pm, 5.30 p.m., noon, midnight, 8 o'clock.
    pub(super) fn clock(&mut self, at: usize) -> Option<usize> {
        if let "noon" | "midnight" | "midday" = self.low(at) {
            let minutes = if self.low(at) == "midnight" { 0 } else { 720 };
            self.push(
                at,
                at + 1,
                Kind::Clock(minutes),
                f64::from(minutes),
                f64::from(minutes),
                f64::from(minutes),
            );
            return Some(at + 1);
        }
        let piece = self.pieces.get(at)?;
        piece.number?;
        let (mut hour, mut minute, mut end) = (0, 0, at + 1);
        let mut is_clock = false;
        if self.low(at + 1) == ":"
            && self.touches(at + 1)
            && self
                .pieces
                .get(at + 2)
                .is_some_and(|next| next.text.len() == 2)
        {
            (hour, minute, end) = (self.whole(at, 24)?, self.whole(at + 2, 59)?, at + 3);
            is_clock = true;
        } else if let Some((one, other)) = piece
            .text
            .split_once('.')
            .filter(|(_, other)| other.len() == 2)
        {
            (hour, minute) = (
                one.parse().ok().filter(|hour| *hour <= 24)?,
                other.parse().ok().filter(|minute| *minute <= 59)?,
            );
        } else if let Some(found) = self.whole(at, 24) {
            hour = found;
        }
        let half = match (self.low(end), self.low(end + 1), self.low(end + 2)) {
            ("am" | "pm", _, _) => (Some(self.low(end) == "pm"), 1),
            ("a" | "p", ".", "m") if self.touches(end + 1) => (
                Some(self.low(end) == "p"),
                3 + usize::from(self.low(end + 3) == "."),
            ),
            ("o'clock", _, _) => (None, 1),
            _ if is_clock => (None, 0),
            _ => return None,
        };
        if half.0 == Some(true) && hour < 12 {
            hour += 12;
        } else if half.0 == Some(false) && hour == 12 {
            hour = 0;
        }
        let minutes = f64::from(hour * 60 + minute);
        let end = end + half.1;
        let zone = self.zone(end);
        let end = zone.map_or(end, |(_, end)| end);
        let kind = Kind::Clock(hour * 60 + minute);
        self.push(at, end, kind, minutes, minutes, minutes);
        if let Some(quantity) = self.found.last_mut() {
            quantity.zone = zone.map(|(zone, _)| zone);
        }
        Some(end)
    }

    /// The time zone that begins here, and the place behind it: "UTC", "CET", "New York time".
    fn zone(&self, at: usize) -> Option<([i32; 2], usize)> {
        let code = self.pieces.get(at).map_or("", |piece| piece.text);
        let of_code = ZONES.iter().find(|(name, _)| *name == code);
        if let Some((_, zone)) = of_code {
            return Some((*zone, at + 1));
        }
        (1..=2).find_map(|count| {
            let words: Vec<&str> = (at..at + count).map(|at| self.low(at)).collect();
            let name = words.join(" ");
            let (_, zone) = PLACES.iter().find(|(place, _)| *place == name)?;
            (self.low(at + count) == "time").then_some((*zone, at + count + 1))
        })
    }

    pub(super) fn version(&mut self, at: usize) -> Option<usize> {
        let piece = self.pieces.get(at)?;
        piece.number?;
        let before = self.back(at, 1);
        let is_named = matches!(before, "v" | "version" | "release" | "firmware")
            || piece.text.matches('.').count() > 1;
        if !is_named {
            return None;
        }
        let written = piece.text.to_owned();
        self.push(at, at + 1, Kind::Version(written), 0.0, 0.0, 0.0);
        Some(at + 1)
    }
}

fn month(word: &str) -> Option<u32> {
    let at = MONTHS
        .iter()
        .position(|month| *month == word || is_short_month(word) && month.starts_with(word))?;
    u32::try_from(at + 1).ok()
}

/// "Jan", "Sept": how a month is cut short, with a full stop behind it or without.
fn is_short_month(word: &str) -> bool {
    word == "sept" || word.len() == 3 && word != "may"
}
