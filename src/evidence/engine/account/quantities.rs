//! The quantities of a text: numbers with what they count or measure, bounds, dates and times of day.

mod amounts;
mod dates;

use std::ops::Range;

use super::addresses::without_addresses;
use super::units::Dimension;
use crate::evidence::reading::words::known;
use crate::markdown::WEEKDAYS;

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
    /// Written with two dots or more, or behind a "v" or "version"; a ratio or a score, such as "3:1".
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
    /// Minutes from UTC of the time zone behind a time of day, in winter and in summer.
    pub(crate) zone: Option<[i32; 2]>,
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

/// Words, numbers and signs in order.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces: Vec<Piece<'_>> = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let start = at;
        let mut number = None;
        let begins = text[..at].chars().next_back().is_none_or(|before| {
            before.is_whitespace()
                || matches!(before, '(' | '|' | '*' | '_' | '≈' | '~' | '<' | '>')
        });
        let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        let sign = if begins { sign_at(&text[at..]) } else { 0 };
        let digits = at + sign;
        let has_point = bytes.get(digits) == Some(&b'.') && (begins || sign > 0);
        if is_digit(at) || (sign > 0 || has_point) && is_digit(digits + usize::from(has_point)) {
            at = digits + usize::from(has_point);
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
            number = value(&text[digits..at]);
            if let Some((c, part)) = fraction(&text[at..]) {
                number = number.map(|number| number + part);
                at += c.len_utf8();
            }
            number = number.map(|number| if sign > 0 { -number } else { number });
        } else if let Some((c, part)) = fraction(&text[at..]) {
            number = Some(part);
            at += c.len_utf8();
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

/// The length of a minus right before digits.
fn sign_at(text: &str) -> usize {
    let sign = text.chars().next().filter(|c| matches!(c, '-' | '−'));
    sign.map_or(0, char::len_utf8)
}

/// A fraction in one character, and its value.
fn fraction(text: &str) -> Option<(char, f64)> {
    let c = text.chars().next()?;
    let part = match c {
        '½' => 0.5,
        '¼' => 0.25,
        '¾' => 0.75,
        '⅓' => 1.0 / 3.0,
        '⅔' => 2.0 / 3.0,
        '⅛' => 0.125,
        '⅜' => 0.375,
        '⅝' => 0.625,
        '⅞' => 0.875,
        _ => return None,
    };
    Some((c, part))
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
        let before = at.checked_sub(1).and_then(|at| self.pieces.get(at));
        let both = before.zip(self.pieces.get(at));
        both.is_some_and(|(one, other)| one.range.end == other.range.start)
    }

    fn number(&self, at: usize) -> Option<f64> {
        self.pieces.get(at)?.number
    }

    /// Whether a word before a number makes it negative: "minus 5 degrees", "−€5".
    fn is_negative(&self, at: usize, has_currency: bool) -> bool {
        let by = 1 + usize::from(has_currency);
        let sign = self.back(at, by);
        let is_sign = has_currency && matches!(sign, "-" | "−") && self.touches(at - 1);
        let begins = at >= by && !self.touches(at - by);
        sign == "minus" && self.number(at.wrapping_sub(by + 1)).is_none() || is_sign && begins
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
            zone: None,
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
            .or_else(|| self.ratio(at))
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
}

fn is_stop_sign(word: &str) -> bool {
    matches!(word, "." | ";" | "!" | "?")
}

fn is_content(word: &str) -> bool {
    use crate::evidence::reading::words::does;
    known().flags(word) & (does::STOP | does::QUESTION) == 0
}
