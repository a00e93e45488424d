//! The values in a passage that can be compared with those in another: money, shares, dates and measured numbers, each
//! with its unit. Reads English words of units; a value without a unit is not compared.

use crate::evidence::reading::text::{Word, is_stop, number, stem, words};
use crate::markdown::MONTHS;

/// A long passage has more than can mean one thing.
const VALUES_MAX: usize = 12;
/// A passage with more values of a unit than this is a table or a range, and says no single thing.
const OF_UNIT_MAX: usize = 2;

/// A number or date in a passage.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Amount {
    /// `usd`, `usd/month`, `percent`, `date`, `day` … or the stem of the word that is counted.
    pub(crate) unit: String,
    pub(crate) quantity: Quantity,
    /// As the passage writes it, unit and all.
    pub(crate) text: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Quantity {
    Number(f64),
    /// `2026-03-01`, `2026-03` or `2026`.
    Date(String),
}

impl Quantity {
    /// Whether both can be true of one thing: a month and a day in it can.
    fn fits(&self, other: &Quantity) -> bool {
        match (self, other) {
            (Quantity::Number(one), Quantity::Number(other)) => {
                (one - other).abs() <= 1e-9 * one.abs().max(other.abs())
            }
            (Quantity::Date(one), Quantity::Date(other)) => {
                one.starts_with(other.as_str()) || other.starts_with(one.as_str())
            }
            _ => false,
        }
    }
}

/// Two values of one unit that cannot both be right of one thing.
pub(crate) fn clash<'a>(
    ones: &'a [Amount],
    others: &'a [Amount],
) -> Option<(&'a Amount, &'a Amount)> {
    for one in ones {
        let own = of_unit(ones, &one.unit);
        let other = of_unit(others, &one.unit);
        let is_clear =
            (1..=OF_UNIT_MAX).contains(&own.len()) && (1..=OF_UNIT_MAX).contains(&other.len());
        let fits = own
            .iter()
            .any(|own| other.iter().any(|other| own.quantity.fits(&other.quantity)));
        if is_clear && !fits {
            return Some((one, other[0]));
        }
    }
    None
}

/// A value that both have.
pub(crate) fn shared<'a>(ones: &'a [Amount], others: &[Amount]) -> Option<&'a Amount> {
    ones.iter().find(|one| {
        let other = of_unit(others, &one.unit);
        other.iter().any(|other| one.quantity.fits(&other.quantity))
    })
}

fn of_unit<'a>(amounts: &'a [Amount], unit: &str) -> Vec<&'a Amount> {
    amounts
        .iter()
        .filter(|amount| amount.unit == unit)
        .collect()
}

/// The values of a passage, in its order.
pub(crate) fn amounts(text: &str) -> Vec<Amount> {
    let words = words(text);
    let mut amounts = Vec::new();
    let mut at = 0;
    while at < words.len() && amounts.len() < VALUES_MAX {
        let passage = Passage {
            text,
            words: &words,
            at,
        };
        let (amount, used) = match passage.date().or_else(|| passage.measured()) {
            Some((amount, used)) => (Some(amount), used),
            None => (None, 1),
        };
        amounts.extend(amount);
        at += used;
    }
    amounts
}

/// What a question wants a value of, where its words say so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Date,
    Money,
    Percent,
    /// `how long`
    Duration,
    /// `how many passengers`, by the stem of what is counted.
    Count(String),
}

impl Wanted {
    pub(crate) fn of(question: &str) -> Option<Wanted> {
        let lower = question.to_lowercase();
        let words: Vec<&str> = words(&lower).iter().map(|word| word.text).collect();
        let has = |word: &str| words.contains(&word);
        let pairs = || words.windows(2);
        let after =
            |one: &str, two: &str| pairs().position(|pair| pair == [one, two]).map(|at| at + 2);
        if let Some(at) = after("how", "many") {
            let counted = words.get(at).filter(|word| !is_stop(word))?;
            return Some(match measure(&stem(counted)) {
                Some(("day" | "month", _)) => Wanted::Duration,
                _ => Wanted::Count(stem(counted)),
            });
        }
        if has("when") || after("what", "year").is_some() || after("what", "date").is_some() {
            Some(Wanted::Date)
        } else if has("percent") || has("percentage") || question.contains('%') {
            Some(Wanted::Percent)
        } else if after("how", "long").is_some() {
            Some(Wanted::Duration)
        } else if has("price") || has("cost") || has("costs") || has("pay") {
            Some(Wanted::Money)
        } else {
            None
        }
    }

    pub(crate) fn takes(&self, amount: &Amount) -> bool {
        let is_date = matches!(amount.quantity, Quantity::Date(_));
        let unit = amount.unit.split('/').next().unwrap_or_default();
        match self {
            Wanted::Date => is_date,
            Wanted::Money => matches!(unit, "usd" | "eur" | "gbp" | "yen" | "inr"),
            Wanted::Percent => unit == "percent",
            Wanted::Duration => matches!(unit, "day" | "month" | "ms"),
            Wanted::Count(counted) => {
                !is_date && (unit == counted || measure(counted).is_some_and(|(of, _)| of == unit))
            }
        }
    }
}

/// The one date that a text states. A year alone is one only behind a word such as "in": 2026 may count anything.
pub(crate) fn stated_date(text: &str) -> Option<String> {
    const BEFORE_YEARS: [&str; 10] = [
        "in", "since", "by", "during", "until", "from", "before", "after", "of", "year",
    ];
    let mut stated = None;
    for amount in amounts(text) {
        let Quantity::Date(date) = amount.quantity else {
            continue;
        };
        let before = text.split(&amount.text).next().unwrap_or_default();
        let word = before.split_whitespace().next_back().unwrap_or_default();
        let is_date = date.len() > 4 || BEFORE_YEARS.contains(&word.to_lowercase().as_str());
        match &stated {
            _ if !is_date => {}
            Some(other) if *other != date => return None,
            _ => stated = Some(date),
        }
    }
    stated
}

/// The words of a passage from one of them on.
struct Passage<'a> {
    text: &'a str,
    words: &'a [Word<'a>],
    at: usize,
}

impl<'a> Passage<'a> {
    fn word(&self, ahead: usize) -> &'a str {
        self.words.get(self.at + ahead).map_or("", |word| word.text)
    }

    fn lower(&self, ahead: usize) -> String {
        self.word(ahead).to_lowercase()
    }

    /// What stands between a word and the next one.
    fn after(&self, ahead: usize) -> &'a str {
        let end = |at: usize| {
            self.words
                .get(at)
                .map(|word| self.offset(word) + word.text.len())
        };
        let start = end(self.at + ahead).unwrap_or(self.text.len());
        let next = self.words.get(self.at + ahead + 1);
        let next = next.map_or(self.text.len(), |word| self.offset(word));
        self.text.get(start..next).unwrap_or_default()
    }

    fn before(&self) -> &'a str {
        let start = self.words.get(self.at).map_or(0, |word| self.offset(word));
        &self.text[..start]
    }

    fn offset(&self, word: &Word<'_>) -> usize {
        word.text.as_ptr().addr() - self.text.as_ptr().addr()
    }

    /// `2026-03-01`, `1 March 2026`, `March 1, 2026`, `March 2026` or a year.
    fn date(&self) -> Option<(Amount, usize)> {
        let number_at = |ahead: usize| self.word(ahead).parse::<u32>().ok();
        let day_at = |ahead: usize| {
            let digits = self
                .word(ahead)
                .trim_end_matches(|c: char| c.is_ascii_alphabetic());
            digits
                .parse::<u32>()
                .ok()
                .filter(|day| (1..=31).contains(day) && digits.len() <= 2)
        };
        let month_at = |ahead: usize| month(&self.lower(ahead));
        let year_at =
            |ahead: usize| number_at(ahead).filter(|year| is_year(self.word(ahead), *year));
        let date = |text: String, used: usize| {
            let amount = Amount {
                unit: "date".to_owned(),
                quantity: Quantity::Date(text),
                text: self.slice(used),
            };
            Some((amount, used))
        };
        let dashed = |ahead: usize| self.after(ahead) == "-";
        if let (Some(year), true, Some(month), true, Some(day)) =
            (year_at(0), dashed(0), number_at(1), dashed(1), day_at(2))
            && (1..=12).contains(&month)
        {
            return date(format!("{year:04}-{month:02}-{day:02}"), 3);
        }
        if let (Some(day), Some(month), Some(year)) = (day_at(0), month_at(1), year_at(2)) {
            return date(format!("{year:04}-{month:02}-{day:02}"), 3);
        }
        if let (Some(month), Some(day), Some(year)) = (month_at(0), day_at(1), year_at(2)) {
            return date(format!("{year:04}-{month:02}-{day:02}"), 3);
        }
        if let (Some(month), Some(year)) = (month_at(0), year_at(1)) {
            return date(format!("{year:04}-{month:02}"), 2);
        }
        let year =
            year_at(0).filter(|_| currency(self.before()).is_none() && self.unit(1).is_none())?;
        date(format!("{year:04}"), 1)
    }

    /// A number with a unit before or after it.
    fn measured(&self) -> Option<(Amount, usize)> {
        let word = self.word(0);
        let value: f64 = number(word)?.parse().ok()?;
        let suffix =
            word.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ','));
        let is_figure = suffix.len() < word.len();
        let mut used = 1;
        let mut factor = match (is_figure, suffix) {
            (true, "k" | "K") => 1e3,
            (true, "m" | "M") => 1e6,
            (true, "bn") => 1e9,
            _ => 1.0,
        };
        if let Some(scale) = scale(&self.lower(used)) {
            (factor, used) = (factor * scale, used + 1);
        }
        let (unit, times, used) = self.unit_around(is_figure.then_some(suffix), used)?;
        let amount = Amount {
            unit,
            quantity: Quantity::Number(value * factor * times),
            text: self.slice(used),
        };
        Some((amount, used))
    }

    /// The unit, what the number is to be multiplied by to be in it, and the words that are used up.
    fn unit_around(&self, suffix: Option<&str>, used: usize) -> Option<(String, f64, usize)> {
        let last = used - 1;
        if self.after(last).trim_start().starts_with('%') {
            return Some(("percent".to_owned(), 1.0, used));
        }
        let told = currency(self.before()).map(|unit| (unit, used));
        let told = told.or_else(|| {
            let sign = self.after(last).trim_start().chars().next();
            sign.and_then(sign_of).map(|unit| (unit, used))
        });
        let told = told.or_else(|| code(&self.lower(used)).map(|unit| (unit, used + 1)));
        if let Some((unit, used)) = told {
            return Some(match self.period(used) {
                Some((period, words)) => (format!("{unit}/{period}"), 1.0, used + words),
                None => (unit.to_owned(), 1.0, used),
            });
        }
        // "30d" and "5GB" are one word each.
        if let Some(suffix) = suffix.filter(|suffix| suffix.len() > 1)
            && let Some((unit, times)) = measure(&stem(suffix))
        {
            return Some((unit.to_owned(), times, used));
        }
        let (unit, times) = self.unit(used)?;
        (suffix.is_some() || measure(&stem(self.word(used))).is_some()).then_some((
            unit,
            times,
            used + 1,
        ))
    }

    /// What the word so far ahead says is counted.
    fn unit(&self, ahead: usize) -> Option<(String, f64)> {
        let gap = self.after(ahead.checked_sub(1)?);
        if !gap.chars().all(|c| c == ' ' || c == '-' || c == '\u{a0}') {
            return None;
        }
        let word = self.lower(ahead);
        if matches!(word.as_str(), "percent") || (word == "per" && self.lower(ahead + 1) == "cent")
        {
            return Some(("percent".to_owned(), 1.0));
        }
        if let Some((unit, times)) = measure(&stem(&word)) {
            return Some((unit.to_owned(), times));
        }
        let is_counted = word.len() > 2 && word.chars().all(char::is_alphabetic);
        (is_counted && !is_stop(&word) && month(&word).is_none()).then(|| (stem(&word), 1.0))
    }

    /// `per month`, `a month`, `/month`, and the words that it takes.
    fn period(&self, ahead: usize) -> Option<(String, usize)> {
        let slashed = self.after(ahead - 1).trim() == "/";
        let spoken = matches!(self.lower(ahead).as_str(), "per" | "a" | "each" | "every");
        let (word, used) = match (slashed, spoken) {
            (true, _) => (self.lower(ahead), 1),
            (false, true) => (self.lower(ahead + 1), 2),
            (false, false) => return None,
        };
        let period = stem(&word);
        let period = if period == "mo" {
            "month".to_owned()
        } else {
            period
        };
        (!period.is_empty()).then_some((period, used))
    }

    /// So many words as they stand, with the signs that belong to them.
    fn slice(&self, used: usize) -> String {
        let before = self.before().trim_end();
        let sign = before.chars().next_back().filter(|c| sign_of(*c).is_some());
        let start = before.len() - sign.map_or(0, char::len_utf8);
        let start = if sign.is_some() {
            start
        } else {
            self.before().len()
        };
        let last = self.words.get(self.at + used - 1);
        let mut end = last.map_or(self.text.len(), |word| self.offset(word) + word.text.len());
        let rest = &self.text[end..];
        let gap = rest.len() - rest.trim_start().len();
        let next = rest.trim_start().chars().next();
        if let Some(c) =
            next.filter(|c| *c == '%' || (used == 1 && sign_of(*c).is_some() && sign.is_none()))
        {
            end += gap + c.len_utf8();
        }
        self.text[start..end].to_owned()
    }
}

fn is_year(word: &str, year: u32) -> bool {
    word.len() == 4 && (1_500..=2_100).contains(&year)
}

fn month(lower: &str) -> Option<usize> {
    let is_short = lower.len() == 3 || lower == "sept";
    let found = MONTHS
        .iter()
        .position(|month| *month == lower || (is_short && month.starts_with(lower)));
    found.map(|index| index + 1)
}

fn scale(lower: &str) -> Option<f64> {
    match lower {
        "hundred" => Some(1e2),
        "thousand" => Some(1e3),
        "million" => Some(1e6),
        "billion" => Some(1e9),
        "trillion" => Some(1e12),
        _ => None,
    }
}

/// The currency that a text ends with.
fn currency(before: &str) -> Option<&'static str> {
    let before = before.trim_end();
    let sign = before.chars().next_back().and_then(sign_of);
    sign.or_else(|| {
        let last = before.rsplit(|c: char| !c.is_alphabetic()).next()?;
        code(&last.to_lowercase()).filter(|_| last.chars().all(char::is_uppercase))
    })
}

fn sign_of(sign: char) -> Option<&'static str> {
    Some(match sign {
        '$' => "usd",
        '€' => "eur",
        '£' => "gbp",
        '¥' => "yen",
        '₹' => "inr",
        _ => return None,
    })
}

fn code(lower: &str) -> Option<&'static str> {
    Some(match lower {
        "usd" | "dollar" | "dollars" | "usdc" => "usd",
        "eur" | "euro" | "euros" => "eur",
        "gbp" | "pound" | "pounds" => "gbp",
        "jpy" | "yen" => "yen",
        "inr" | "rupees" => "inr",
        _ => return None,
    })
}

/// A unit of measure by the stem of its word, in the unit that its kind is compared in.
fn measure(stem: &str) -> Option<(&'static str, f64)> {
    Some(match stem {
        "second" | "sec" => ("day", 1.0 / 86_400.0),
        "minut" | "min" => ("day", 1.0 / 1_440.0),
        "hour" | "hr" => ("day", 1.0 / 24.0),
        "day" | "da" => ("day", 1.0),
        "week" => ("day", 7.0),
        "month" => ("month", 1.0),
        "year" | "yr" => ("month", 12.0),
        "kb" => ("byte", 1e3),
        "mb" => ("byte", 1e6),
        "gb" => ("byte", 1e9),
        "tb" => ("byte", 1e12),
        "km" | "kilometr" | "kilomet" => ("metre", 1e3),
        "metr" | "met" | "meter" => ("metre", 1.0),
        "mil" => ("mile", 1.0),
        "kg" => ("kg", 1.0),
        "ms" => ("ms", 1.0),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: &[(&str, &str)]) {
        let found = amounts(text);
        let found: Vec<(String, String)> = found
            .into_iter()
            .map(|amount| {
                let quantity = match amount.quantity {
                    Quantity::Number(number) => format!("{number}"),
                    Quantity::Date(date) => date,
                };
                (amount.unit, quantity)
            })
            .collect();
        let found: Vec<(&str, &str)> = found.iter().map(|(unit, q)| (&**unit, &**q)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn values_are_read_with_their_units() {
        check("It costs $1,299.50.", &[("usd", "1299.5")]);
        check("The plan is $20 per month.", &[("usd/month", "20")]);
        check("| Pro | $20/month |", &[("usd/month", "20")]);
        check("20 euros a year", &[("eur/year", "20")]);
        check("USD 3 million were paid", &[("usd", "3000000")]);
        check(
            "12.5% of users, 5 percent of sales",
            &[("percent", "12.5"), ("percent", "5")],
        );
        check("within two weeks", &[("day", "14")]);
        check("a 30-day refund", &[("day", "30")]);
        check("It has 500 employees.", &[("employ", "500")]);
        check("48 hours", &[("day", "2")]);
        check("two of them", &[]);
        check("version 3", &[]);
    }

    #[test]
    fn a_value_is_told_as_it_is_written() {
        let told = |text: &str| {
            amounts(text)
                .into_iter()
                .map(|amount| amount.text)
                .collect::<Vec<_>>()
        };
        assert_eq!(told("for $ 24 per month."), ["$ 24 per month"]);
        assert_eq!(told("| Pro | €20/month |"), ["€20/month"]);
        assert_eq!(told("in two weeks, 12.5 % more"), ["two weeks", "12.5 %"]);
        assert_eq!(told("20 € on 1 March 2026"), ["20 €", "1 March 2026"]);
    }

    #[test]
    fn a_question_wants_values_of_one_kind() {
        let taken = |question: &str| -> Vec<String> {
            let wanted = Wanted::of(question).expect("a kind");
            let found = amounts(
                "In 2025 it carried 4,000 passengers, 5 % more, for $9 a head within two days.",
            );
            let found = found.into_iter().filter(|amount| wanted.takes(amount));
            found.map(|amount| amount.text).collect()
        };
        assert_eq!(
            taken("How many passengers did it carry?"),
            ["4,000 passengers"]
        );
        assert_eq!(taken("When was that?"), ["2025"]);
        assert_eq!(taken("By what percentage did it grow?"), ["5 %"]);
        assert_eq!(taken("What does it cost?"), ["$9 a head"]);
        assert_eq!(taken("How long did it take?"), ["two days"]);
        assert_eq!(Wanted::of("Who runs it?"), None);
    }

    #[test]
    fn a_stated_date_is_the_only_one() {
        let stated = |text: &str| stated_date(text);
        assert_eq!(stated("It rose in March 2026.").as_deref(), Some("2026-03"));
        assert_eq!(stated("In 2026 it rose.").as_deref(), Some("2026"));
        assert_eq!(stated("The 2026 it rose to."), None);
        assert_eq!(stated("From May 2025 to May 2026 it rose."), None);
        assert_eq!(stated("It rose."), None);
    }

    #[test]
    fn dates_are_read_however_they_are_written() {
        check("on 2026-03-01", &[("date", "2026-03-01")]);
        check("on 1 March 2026", &[("date", "2026-03-01")]);
        check("on March 1st, 2026", &[("date", "2026-03-01")]);
        check("in Sept 2026", &[("date", "2026-09")]);
        check("founded in 1998", &[("date", "1998")]);
        check("$2000 was paid", &[("usd", "2000")]);
        check("2000 people came", &[("peopl", "2000")]);
    }

    proptest! {
        #[test]
        fn any_text_is_read_and_quoted_from(text in "[\\PC$€% 0-9.,/-]{0,60}") {
            for amount in amounts(&text) {
                prop_assert!(text.contains(&amount.text), "{amount:?}");
            }
        }
    }

    #[test]
    fn values_clash_only_within_a_unit() {
        let clashes = |one: &str, other: &str| clash(&amounts(one), &amounts(other)).is_some();
        assert!(clashes("It costs $20.", "The price is $25."));
        assert!(!clashes(
            "It costs $20 a month.",
            "The price is $200 a year."
        ));
        assert!(!clashes("It costs $20.", "It takes 25 days."));
        assert!(!clashes("Refunds take 14 days.", "Refunds take two weeks."));
        assert!(clashes("It began in May 2020.", "It began in June 2020."));
        assert!(!clashes("It began in May 2020.", "It began on 3 May 2020."));
        assert!(!clashes("$1, $2 or $3", "It costs $9."));
        assert!(!clashes("from $20 to $30", "It costs $30."));
        assert!(shared(&amounts("about $30"), &amounts("$20 to $30")).is_some());
    }
}
