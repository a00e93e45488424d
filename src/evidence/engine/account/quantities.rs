//! The quantities of a text: numbers with what they count or measure, bounds, dates and times of day.

use std::ops::Range;

use super::addresses::without_addresses;
use super::units::{Dimension, period, unit};
use crate::evidence::reading::words::{known, number_of_word, scale};
use crate::markdown::{MONTHS, WEEKDAYS};

/// What a number is of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Measured(Dimension),
    /// Things, by the stems of the words behind the number.
    Count(Vec<String>),
    /// Year, month and day; what is not given is 0.
    Date([u32; 3]),
    /// Minutes of the day.
    Clock(u32),
    Weekday(u32),
    /// Written with two dots or more, or behind a "v" or "version".
    Version(String),
}

/// A quantity, with the values that it leaves open in the base unit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Quantity {
    /// Bytes of the text.
    pub(crate) range: Range<usize>,
    pub(crate) kind: Kind,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// The number as it is written, without its unit and bound.
    pub(crate) written: f64,
    /// How much of the base unit its unit is.
    pub(crate) factor: f64,
    pub(crate) per: Option<&'static str>,
    /// Stems of the two content words before it: what the number is said of.
    pub(crate) before: Vec<String>,
    /// Stems of the next three content words behind it.
    pub(crate) after: Vec<String>,
    /// "Over three years" is the time that something took, or more than three years.
    pub(crate) is_span: bool,
}

/// Quantities that are read of one text.
const QUANTITIES_MAX: usize = 64;

#[derive(Clone, Debug)]
struct Piece<'a> {
    text: &'a str,
    low: String,
    range: Range<usize>,
    number: Option<f64>,
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

/// Words, numbers and signs in order.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces: Vec<Piece<'_>> = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let start = at;
        let mut number = None;
        if c.is_ascii_digit() {
            while at < bytes.len() {
                let joins = matches!(bytes[at], b'.' | b',')
                    && bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
                // A thin or no-break space between groups of three digits.
                let gap = ["\u{202f}", "\u{a0}", "\u{2009}"]
                    .iter()
                    .find(|gap| text[at..].starts_with(**gap));
                let three = gap.filter(|gap| {
                    let rest = &bytes[at + gap.len()..];
                    rest.len() >= 3
                        && rest[..3].iter().all(u8::is_ascii_digit)
                        && !rest.get(3).is_some_and(u8::is_ascii_digit)
                });
                match (bytes[at].is_ascii_digit() || joins, three) {
                    (true, _) => at += 1,
                    (false, Some(gap)) => at += gap.len(),
                    _ => break,
                }
            }
            number = value(&text[start..at]);
        } else if c.is_alphabetic() || c == '°' || c == 'µ' {
            let is_within = |c: char| c.is_alphabetic() || matches!(c, '\'' | '’' | '²' | '³');
            at += c.len_utf8();
            while let Some(c) = text[at..].chars().next().filter(|c| is_within(*c)) {
                at += c.len_utf8();
            }
        } else {
            at += c.len_utf8();
            if c.is_whitespace() || matches!(c, '*' | '_' | '`') {
                continue;
            }
        }
        let text = &text[start..at];
        pieces.push(Piece {
            text,
            low: text.to_lowercase().replace('’', "'"),
            range: start..at,
            number,
        });
    }
    pieces
}

/// 1,190 and 1.190.000 are grouped; 4.1 and 4,15 are not.
fn value(written: &str) -> Option<f64> {
    let written: String = written
        .chars()
        .filter(|c| c.is_ascii_digit() || matches!(c, '.' | ','))
        .collect();
    let grouped = |sign: char| {
        let mut groups = written.split(sign);
        let first = groups.next().unwrap_or_default();
        (1..=3).contains(&first.len())
            && written.contains(sign)
            && groups.all(|group| group.len() == 3)
    };
    let cleaned = match (written.contains(','), written.contains('.')) {
        (true, true) if written.rfind(',') < written.rfind('.') => written.replace(',', ""),
        (true, true) => written.replace('.', "").replace(',', "."),
        (true, false) if grouped(',') => written.replace(',', ""),
        (true, false) => written.replacen(',', ".", 1),
        (false, true) if written.matches('.').count() > 1 => written.replace('.', ""),
        _ => written,
    };
    cleaned.parse().ok()
}

struct Reader<'a> {
    pieces: Vec<Piece<'a>>,
    found: Vec<Quantity>,
}

/// The quantities of a text, in order.
pub(crate) fn quantities(text: &str) -> Vec<Quantity> {
    let text = without_addresses(text);
    let mut reader = Reader {
        pieces: pieces(&text),
        found: Vec::new(),
    };
    let mut at = 0;
    while at < reader.pieces.len() && reader.found.len() < QUANTITIES_MAX {
        at = reader.read(at).max(at + 1);
    }
    reader.found
}

impl Reader<'_> {
    fn low(&self, at: usize) -> &str {
        self.pieces.get(at).map_or("", |piece| &piece.low)
    }

    fn back(&self, at: usize, by: usize) -> &str {
        at.checked_sub(by).map_or("", |at| self.low(at))
    }

    fn touches(&self, at: usize) -> bool {
        at > 0 && self.pieces[at - 1].range.end == self.pieces[at].range.start
    }

    fn number(&self, at: usize) -> Option<f64> {
        self.pieces.get(at)?.number
    }

    fn whole(&self, at: usize, most: u32) -> Option<u32> {
        let piece = self.pieces.get(at)?;
        let is_plain =
            piece.text.len() <= 4 && piece.text.bytes().all(|byte| byte.is_ascii_digit());
        piece
            .text
            .parse()
            .ok()
            .filter(|value| is_plain && *value <= most)
    }

    fn push(&mut self, from: usize, to: usize, kind: Kind, low: f64, high: f64, written: f64) {
        let range = self.pieces[from].range.start..self.pieces[to - 1].range.end;
        self.found.push(Quantity {
            range,
            kind,
            low,
            high,
            written,
            factor: 1.0,
            per: None,
            before: self.before(from),
            after: self.after(to),
            is_span: false,
        });
    }

    fn after(&self, at: usize) -> Vec<String> {
        let words = self.pieces[at.min(self.pieces.len())..].iter().take(8);
        let words = words.take_while(|piece| !is_stop_sign(&piece.low));
        let content = words.filter(|piece| piece.low.len() > 2 && is_content(&piece.low));
        content
            .take(3)
            .map(|piece| known().stem(&piece.low))
            .collect()
    }

    fn before(&self, at: usize) -> Vec<String> {
        let words = self.pieces[..at].iter().rev().take(6);
        let words = words.take_while(|piece| !is_stop_sign(&piece.low));
        let content = words.filter(|piece| piece.low.len() > 2 && is_content(&piece.low));
        content
            .take(2)
            .map(|piece| known().stem(&piece.low))
            .collect()
    }

    /// Reads what begins here; gives where to go on.
    fn read(&mut self, at: usize) -> usize {
        if let Some(next) = self
            .date(at)
            .or_else(|| self.clock(at))
            .or_else(|| self.version(at))
        {
            return next;
        }
        let low = self.low(at);
        if let Some(day) = WEEKDAYS
            .iter()
            .position(|day| low.strip_suffix('s').unwrap_or(low) == *day)
        {
            let day = u32::try_from(day).unwrap_or_default();
            self.push(
                at,
                at + 1,
                Kind::Weekday(day),
                f64::from(day),
                f64::from(day),
                f64::from(day),
            );
            return at + 1;
        }
        self.amount(at)
    }

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
    fn date(&mut self, at: usize) -> Option<usize> {
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
    fn stop_of_month(&self, at: usize) -> usize {
        let is_short = is_short_month(self.low(at)) && month(self.low(at)).is_some();
        usize::from(is_short && self.low(at + 1) == "." && self.touches(at + 1))
    }

    /// 17:30, 5 pm, 5.30 p.m., noon, midnight, 8 o'clock.
    fn clock(&mut self, at: usize) -> Option<usize> {
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
        self.push(
            at,
            end + half.1,
            Kind::Clock(hour * 60 + minute),
            minutes,
            minutes,
            minutes,
        );
        Some(end + half.1)
    }

    fn version(&mut self, at: usize) -> Option<usize> {
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

    /// The longest name of a unit that begins here: its dimension, its factor, the place behind it.
    fn unit_at(&self, at: usize) -> Option<(Dimension, f64, usize)> {
        let at = at + usize::from(self.low(at) == "-" && self.touches(at));
        let joined = |count: usize| {
            let mut name = String::new();
            for (number, piece) in self.pieces.get(at..at + count)?.iter().enumerate() {
                if number > 0 && !self.touches(at + number) {
                    name.push(' ');
                }
                name.push_str(if piece.low == "-" { " " } else { &piece.low });
            }
            Some(name)
        };
        (1..=4).rev().find_map(|count| {
            let name = joined(count)?;
            let (dimension, factor) =
                unit(&name).or_else(|| unit(&name.replace("hours", "hour")))?;
            let is_letter = name.len() == 1 && name.is_ascii();
            let is_cased = name != "m" || self.pieces[at].text == "m";
            (is_cased && (!is_letter || self.number(at.wrapping_sub(1)).is_some())).then_some((
                dimension,
                factor,
                at + count,
            ))
        })
    }

    fn has_unit(&self, at: usize) -> bool {
        self.unit_at(at).is_some()
    }

    fn is_counted(&self, at: usize) -> bool {
        let word = self.low(at);
        word.len() > 3
            && word.ends_with('s')
            && word.chars().all(char::is_alphabetic)
            && is_content(word)
    }

    fn amount(&mut self, at: usize) -> usize {
        let currency = self.currency_before(at);
        let Some((mut number, mut end)) = self.spelled(at) else {
            return at + 1;
        };
        if self.touches(at)
            && self.back(at, 1) == "-"
            && at > 1
            && self.touches(at - 1)
            && self.number(at - 2).is_none()
            && currency.is_none()
        {
            // A part of a name: COVID-19.
            return end;
        }
        let mut upper = None;
        // 5 to 7, 5–7, 10 or 11.
        if matches!(self.low(end), "to" | "-" | "–" | "or")
            && let Some((other, next)) = self.spelled(end + 1)
            && other > number
            && (self.low(end) != "or" || self.has_unit(next))
        {
            (upper, end) = (Some(other), next);
        }
        while let Some(factor) =
            scale(self.low(end)).or_else(|| short_scale(&self.pieces, end, currency.is_some()))
        {
            number *= factor;
            upper = upper.map(|upper| upper * factor);
            end += 1;
        }
        let written = number;
        let (mut kind, mut factor) = (None, 1.0);
        if let Some(dimension) = currency {
            kind = Some(Kind::Measured(dimension));
        } else if let Some((dimension, of, next)) =
            self.unit_at(end).or_else(|| self.unit_behind(end))
        {
            (kind, factor, end) = (Some(Kind::Measured(dimension)), of, next);
        }
        let per = self.per(end);
        end = per.map_or(end, |(_, next)| next);
        let counted = end + usize::from(self.low(end) == "plus" && self.spelled(end + 1).is_none());
        let kind = kind.unwrap_or_else(|| Kind::Count(self.counted(counted)));
        let is_span =
            upper.is_none() && kind == Kind::Measured(Dimension::Duration) && self.is_span(at, end);
        let (low, high) = match is_span {
            true => (number, number),
            false => self.bounds(at, end, number, upper),
        };
        let (low, high) = (low * factor, high * factor);
        let start = if currency.is_some() { at - 1 } else { at };
        self.push(start, end, kind, low, high, written);
        if let Some(quantity) = self.found.last_mut() {
            quantity.per = per.map(|(period, _)| period);
            quantity.is_span = is_span;
            quantity.factor = factor;
        }
        end
    }

    /// A unit behind one or two adjectives, written out and in the plural: "six consecutive weeks".
    fn unit_behind(&self, at: usize) -> Option<(Dimension, f64, usize)> {
        let is_adjective = |at: usize| {
            let word = self.low(at);
            let is_word = word.len() > 2 && word.chars().all(char::is_alphabetic);
            let name = self.pieces.get(at).map_or("", |piece| piece.text);
            is_word && !word.ends_with('s') && is_content(word)
                || name.len() == 2 && name.bytes().all(|byte| byte.is_ascii_uppercase())
        };
        (1..=2)
            .take_while(|by| is_adjective(at + by - 1))
            .find_map(|by| {
                let name = self.low(at + by);
                let is_plural = name.len() > 4 && name.ends_with('s') || name == "feet";
                self.unit_at(at + by).filter(|_| is_plural)
            })
    }

    /// "Rose 45 % over three years", beside "took over three years", "for over three years", "over three years ago".
    fn is_span(&self, at: usize, end: usize) -> bool {
        const LEAVES_OPEN: &[&str] = &[
            "for", "of", "after", "in", "at", "by", "from", "than", "to", "just", "well", "some",
            "slightly", "is", "are", "was", "were", "be", "been", "and", "or", "take", "takes",
            "took", "taken", "taking", "last", "lasts", "lasted", "lasting", "spend", "spends",
            "spent", "spending", "wait", "waits", "waited", "waiting", "need", "needs", "needed",
            "require", "requires", "required", "span", "spans", "spanned", "spanning", "has",
            "have", "had", "with", "aged", "age", "stay", "stays", "stayed", "serve", "served",
        ];
        let is_word = |word: &str| word.starts_with(char::is_alphanumeric) || word == "%";
        self.back(at, 1) == "over"
            && is_word(self.back(at, 2))
            && !LEAVES_OPEN.contains(&self.back(at, 2))
            && !matches!(
                self.low(end),
                "ago" | "old" | "earlier" | "later" | "before" | "late" | "long" | "of" | "'"
            )
    }

    fn currency_before(&self, at: usize) -> Option<Dimension> {
        let name = self.back(at, 1);
        let is_code = name.len() == 3
            && self.pieces[at - 1]
                .text
                .bytes()
                .all(|byte| byte.is_ascii_uppercase());
        let is_sign = matches!(name, "€" | "$" | "£" | "¥" | "₹" | "₽");
        (is_sign || is_code)
            .then(|| unit(name))
            .flatten()
            .map(|(dimension, _)| dimension)
            .filter(|dimension| matches!(dimension, Dimension::Money(_)))
    }

    /// A number in digits or words, more than "one" or "a": its value, and the place behind it.
    fn spelled(&self, at: usize) -> Option<(f64, usize)> {
        if let Some(number) = self.number(at) {
            // 3/4 and 1½ are rare; 2/3 is read as two thirds.
            if self.low(at + 1) == "/"
                && self.touches(at + 1)
                && let Some(other) = self
                    .number(at + 2)
                    .filter(|other| *other > 1.0 && number < *other)
            {
                return Some((number / other, at + 3));
            }
            return Some((number, at + 1));
        }
        let low = self.low(at);
        match low {
            "dozen" => return Some((12.0, at + 1)),
            "twice" => return Some((2.0, at + 1)),
            "once" | "one" => return None,
            "a" if self.low(at + 1) == "dozen" => return Some((12.0, at + 2)),
            "a" | "half"
                if matches!(
                    self.low(at + 1),
                    "hundred" | "thousand" | "million" | "billion"
                ) =>
            {
                let value = number_of_word(self.low(at + 1))?;
                return Some((f64::from(value), at + 2));
            }
            _ => {}
        }
        let mut total = f64::from(number_of_word(low)?);
        let mut end = at + 1;
        loop {
            let skip =
                usize::from(self.low(end) == "-" || (self.low(end) == "and" && total >= 100.0));
            let Some(next) = number_of_word(self.low(end + skip)).map(f64::from) else {
                break;
            };
            match next {
                100.0 if total < 100.0 && skip == 0 => total *= 100.0,
                next if next >= 1000.0 && skip == 0 => total *= next,
                next if total >= 20.0 && next < 10.0 && total < 100.0 && skip > 0 => total += next,
                next if total >= 100.0 && next < 100.0 => total += next,
                _ => break,
            }
            end += skip + 1;
        }
        Some((total, end))
    }

    /// "a week", "per month", "/kWh", "each year".
    fn per(&self, at: usize) -> Option<(&'static str, usize)> {
        let names = |reader: &Self, at: usize| {
            let low = reader.low(at);
            period(low)
                .or_else(|| period(low.strip_suffix('s')?))
                .map(|period| (period, at + 1))
        };
        match self.low(at) {
            "a" | "an" | "per" | "/" | "each" | "every" => names(self, at + 1),
            "monthly" | "yearly" | "annually" | "weekly" | "daily" => names(self, at),
            _ => None,
        }
    }

    /// Stems of the words behind a number, up to the next that is no noun or adjective.
    fn counted(&self, at: usize) -> Vec<String> {
        let mut at = at;
        if matches!(self.low(at), "of" | "-") {
            at += 1;
        }
        while matches!(
            self.low(at),
            "the" | "its" | "their" | "our" | "her" | "his" | "these" | "those"
        ) {
            at += 1;
        }
        // "12 state-of-the-art models": what is joined by hyphens says which ones.
        let (mut things, mut joined) = (Vec::new(), Vec::new());
        while things.len() < 3 {
            let next = self.compound_end(at);
            let is_word = |piece: &&Piece<'_>| {
                piece.low.len() > 2
                    && piece.low.chars().all(char::is_alphabetic)
                    && is_content(&piece.low)
            };
            let words = self.pieces.get(at..next).unwrap_or_default().iter();
            let mut stems = words.filter(is_word).map(|piece| known().stem(&piece.low));
            match next - at {
                1 => match stems.next_back() {
                    Some(stem) => things.push(stem),
                    None => break,
                },
                _ => joined.extend(stems),
            }
            at = next;
        }
        if things.is_empty() {
            things = joined;
            things.truncate(3);
        }
        things
    }

    /// The place behind a word and those that hyphens join to it.
    fn compound_end(&self, at: usize) -> usize {
        let is_word = |at: usize| self.low(at).starts_with(char::is_alphabetic);
        let mut end = at + 1;
        while self.low(end) == "-"
            && is_word(end - 1)
            && is_word(end + 1)
            && self.touches(end)
            && self.touches(end + 1)
        {
            end += 2;
        }
        end
    }

    /// The values that a number with the words around it leaves open.
    fn bounds(&self, at: usize, end: usize, number: f64, upper: Option<f64>) -> (f64, f64) {
        let at = at
            - usize::from(
                at > 0 && matches!(self.back(at, 1), "€" | "$" | "£" | "¥" | "a" | "the"),
            );
        let (one, two, three) = (self.back(at, 1), self.back(at, 2), self.back(at, 3));
        let above = number * (1.0 + 1e-9) + 1e-9;
        let below = number * (1.0 - 1e-9) - 1e-9;
        if let Some(upper) = upper {
            return (number, upper);
        }
        match (three, two, one) {
            ("no", "less" | "fewer", "than") | (_, "minimum", "of") => (number, f64::INFINITY),
            ("no", "more", "than") => (f64::NEG_INFINITY, number),
            (
                _,
                "more" | "greater" | "higher" | "longer" | "older" | "larger" | "better",
                "than",
            ) => (above, f64::INFINITY),
            (_, "little" | "slightly" | "just" | "barely", "over" | "above") => {
                (below, number * 1.1)
            }
            (_, "little" | "slightly" | "just", "under" | "below") => (number * 0.9, above),
            (_, _, "over" | "above" | "exceeding" | "exceeds" | "exceed" | "beyond" | ">") => {
                (above, f64::INFINITY)
            }
            (
                _,
                "less" | "fewer" | "lower" | "shorter" | "under" | "younger" | "smaller",
                "than",
            ) => (f64::NEG_INFINITY, below),
            (_, _, "under" | "below" | "<") => (f64::NEG_INFINITY, below),
            (_, "at", "least") | (_, _, "minimum") | (_, "no", "fewer") => (number, f64::INFINITY),
            (_, "at", "most")
            | (_, "up", "to")
            | (_, "maximum", "of")
            | (_, _, "maximum" | "max") => (f64::NEG_INFINITY, number),
            (_, _, "almost" | "nearly") => (number * 0.9, below),
            (
                _,
                _,
                "about" | "around" | "approximately" | "roughly" | "some" | "circa" | "ca"
                | "approx" | "~" | "≈",
            ) => (number * 0.9, number * 1.1),
            _ if matches!(self.low(end), "+")
                || (self.low(end) == "plus" && self.spelled(end + 1).is_none())
                || (matches!(self.low(end), "or" | "and")
                    && matches!(
                        self.low(end + 1),
                        "more" | "above" | "over" | "older" | "up" | "longer" | "higher"
                    )) =>
            {
                (number, f64::INFINITY)
            }
            _ if self.low(end) == "or"
                && matches!(
                    self.low(end + 1),
                    "less" | "fewer" | "under" | "below" | "younger"
                ) =>
            {
                (f64::NEG_INFINITY, number)
            }
            _ => (number, number),
        }
    }
}

fn is_stop_sign(word: &str) -> bool {
    matches!(word, "." | ";" | "!" | "?")
}

fn is_content(word: &str) -> bool {
    use crate::evidence::reading::words::does;
    known().flags(word) & (does::STOP | does::QUESTION) == 0
}

/// 5k, 3m, 2bn behind a currency or right behind the number.
fn short_scale(pieces: &[Piece<'_>], at: usize, is_money: bool) -> Option<f64> {
    let piece = pieces.get(at)?;
    let is_close = at > 0 && pieces[at - 1].range.end == piece.range.start;
    match piece.text {
        "k" | "K" if is_close => Some(1e3),
        "m" | "M" | "mn" if is_close && is_money => Some(1e6),
        "bn" | "B" if is_close && is_money => Some(1e9),
        "m" | "bn" if is_money => Some(if piece.text == "m" { 1e6 } else { 1e9 }),
        _ => None,
    }
}
