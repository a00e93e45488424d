//! Values of passages set against each other: money, shares, dates, measured and counted things. A number without a unit is
//! not compared. Knows no source and no question but its words.

use super::account::quantities::{Kind, Quantity, quantities};
use super::account::units::{Dimension, unit};
use crate::evidence::Relation;
use crate::evidence::reading::text::{is_stop, words};
use crate::evidence::reading::words::known;

/// A long passage has more than can mean one thing.
const VALUES_MAX: usize = 12;
/// A passage with more values of a kind than this is a table, and says no single thing.
const OF_KIND_MAX: usize = 2;

/// A quantity that can be compared, and how the passage writes it, with what it counts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Value {
    pub(crate) text: String,
    quantity: Quantity,
}

/// The values of a passage, in its order.
pub(crate) fn values(passage: &str) -> Vec<Value> {
    let found = quantities(passage).into_iter();
    let compared = found.filter(|quantity| match &quantity.kind {
        Kind::Measured(_) => true,
        Kind::Count(things) => !things.is_empty(),
        Kind::Date([year, ..]) => *year > 0,
        Kind::Clock(_) | Kind::Weekday(_) | Kind::Version(_) => false,
    });
    let values = compared.take(VALUES_MAX).map(|quantity| Value {
        text: passage[quantity.range.start..end(passage, &quantity)].to_owned(),
        quantity,
    });
    values.collect()
}

/// Behind the number and its unit, or the first of the words that it counts.
fn end(passage: &str, quantity: &Quantity) -> usize {
    let end = quantity.range.end;
    let Kind::Count(things) = &quantity.kind else {
        return end;
    };
    let rest = &passage[end..];
    let behind = words(rest).into_iter().take(3).find_map(|word| {
        let is_counted = things.first() == Some(&known().stem(&word.text.to_lowercase()));
        is_counted.then(|| word.text.as_ptr().addr() - rest.as_ptr().addr() + word.text.len())
    });
    end + behind.unwrap_or(0)
}

impl Value {
    pub(crate) fn is_date(&self) -> bool {
        matches!(self.quantity.kind, Kind::Date(_))
    }

    /// Whether both say something of one kind, so that they could differ.
    fn is_like(&self, other: &Value) -> bool {
        let (one, other) = (&self.quantity, &other.quantity);
        match (&one.kind, &other.kind) {
            (Kind::Count(one), Kind::Count(other)) => one.first() == other.first(),
            _ => one.is_like(other) && one.per == other.per,
        }
    }

    /// Whether both can be right of one thing: a month and a day in it, "over 20" and 25.
    fn fits(&self, other: &Value) -> bool {
        let (one, other) = (&self.quantity, &other.quantity);
        let agrees = matches!(one.relation(other), Relation::Same | Relation::Within);
        let is_date = matches!(one.kind, Kind::Date(_));
        match is_date {
            true => one.relation(other) != Relation::Differs,
            false => agrees || (one.low <= other.high && other.low <= one.high),
        }
    }
}

/// Two values of one kind that cannot both be right of one thing.
pub(crate) fn clash<'a>(ones: &'a [Value], others: &'a [Value]) -> Option<(&'a Value, &'a Value)> {
    ones.iter().find_map(|one| {
        let like = |list: &'a [Value]| -> Vec<&'a Value> {
            list.iter().filter(|value| value.is_like(one)).collect()
        };
        let (own, other) = (like(ones), like(others));
        let is_clear = [&own, &other]
            .iter()
            .all(|list| (1..=OF_KIND_MAX).contains(&list.len()));
        let fits = || {
            own.iter()
                .any(|own| other.iter().any(|other| own.fits(other)))
        };
        (is_clear && !fits()).then(|| (one, other[0]))
    })
}

/// A value that both have.
pub(crate) fn shared<'a>(ones: &'a [Value], others: &[Value]) -> Option<&'a Value> {
    let is_there = |one: &Value| {
        let mut like = others.iter().filter(|other| one.is_like(other));
        like.any(|other| one.fits(other))
    };
    ones.iter().find(|one| is_there(one))
}

/// What a question wants a value of, where its words say so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Date,
    Money,
    Measured(Dimension),
    /// `how many passengers`, by the stem of what is counted.
    Count(String),
}

impl Wanted {
    pub(crate) fn of(question: &str) -> Option<Wanted> {
        let lower = question.to_lowercase();
        let words: Vec<&str> = words(&lower).iter().map(|word| word.text).collect();
        let has = |word: &str| words.contains(&word);
        let after = |one: &str, two: &str| {
            let mut pairs = words.windows(2);
            pairs.position(|pair| pair == [one, two]).map(|at| at + 2)
        };
        if let Some(at) = after("how", "many") {
            let counted = words.get(at).filter(|word| !is_stop(word))?;
            return Some(match unit(counted) {
                Some((dimension, _)) => Wanted::Measured(dimension),
                None => Wanted::Count(known().stem(counted)),
            });
        }
        if has("when") || after("what", "year").is_some() || after("what", "date").is_some() {
            Some(Wanted::Date)
        } else if has("percent") || has("percentage") || question.contains('%') {
            Some(Wanted::Measured(Dimension::Share))
        } else if after("how", "long").is_some() {
            Some(Wanted::Measured(Dimension::Duration))
        } else if has("price") || has("cost") || has("costs") || has("pay") {
            Some(Wanted::Money)
        } else {
            None
        }
    }

    pub(crate) fn takes(&self, value: &Value) -> bool {
        match (self, &value.quantity.kind) {
            (Wanted::Date, Kind::Date(_)) => true,
            (Wanted::Money, Kind::Measured(dimension)) => matches!(dimension, Dimension::Money(_)),
            (Wanted::Measured(asked), Kind::Measured(dimension)) => asked == dimension,
            (Wanted::Count(counted), Kind::Count(things)) => things.contains(counted),
            _ => false,
        }
    }
}

/// The one date that a text states, as `2026-03-01`, `2026-03` or `2026`. A year alone is one only behind a word such as
/// "in": 2026 may count anything.
pub(crate) fn stated_date(text: &str) -> Option<String> {
    const BEFORE_YEARS: [&str; 10] = [
        "in", "since", "by", "during", "until", "from", "before", "after", "of", "year",
    ];
    let mut stated = None;
    for quantity in quantities(text) {
        let Kind::Date(date @ [year, month, _]) = quantity.kind else {
            continue;
        };
        let mut before = text[..quantity.range.start].split_whitespace();
        let word = before.next_back().unwrap_or_default().to_lowercase();
        match stated {
            _ if year == 0 || (month == 0 && !BEFORE_YEARS.contains(&&*word)) => {}
            Some(other) if other != date => return None,
            _ => stated = Some(date),
        }
    }
    stated.map(|[year, month, day]| match (month, day) {
        (0, _) => format!("{year:04}"),
        (_, 0) => format!("{year:04}-{month:02}"),
        _ => format!("{year:04}-{month:02}-{day:02}"),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn told(text: &str) -> Vec<String> {
        values(text).into_iter().map(|value| value.text).collect()
    }

    #[test]
    fn a_value_is_told_as_it_is_written_with_what_it_counts() {
        assert_eq!(told("for $24 per month."), ["$24 per month"]);
        assert_eq!(told("| Pro | €20/month |"), ["€20/month"]);
        assert_eq!(told("in two weeks, 12.5 % more"), ["two weeks", "12.5 %"]);
        assert_eq!(told("20 € on 1 March 2026"), ["20 €", "1 March 2026"]);
        assert_eq!(told("It has 4,000 passengers."), ["4,000 passengers"]);
        assert_eq!(
            told("It has 500 of the employees."),
            ["500 of the employees"]
        );
        assert_eq!(told("USD 3 million were paid"), ["USD 3 million"]);
        assert_eq!(told("version 3, two of them, at 5 pm"), [""; 0]);
    }

    #[test]
    fn a_question_wants_values_of_one_kind() {
        let taken = |question: &str| -> Vec<String> {
            let wanted = Wanted::of(question).expect("a kind");
            let found = values(
                "In 2025 it carried 4,000 passengers, 5 % more, for $9 a month within two days.",
            );
            let found = found.into_iter().filter(|value| wanted.takes(value));
            found.map(|value| value.text).collect()
        };
        assert_eq!(
            taken("How many passengers did it carry?"),
            ["4,000 passengers"]
        );
        assert_eq!(taken("When was that?"), ["2025"]);
        assert_eq!(taken("By what percentage did it grow?"), ["5 %"]);
        assert_eq!(taken("What does it cost?"), ["$9 a month"]);
        assert_eq!(taken("How long did it take?"), ["two days"]);
        assert_eq!(taken("How many hours did it take?"), ["two days"]);
        assert_eq!(Wanted::of("Who runs it?"), None);
    }

    #[test]
    fn a_stated_date_is_the_only_one() {
        let stated = |text: &str| stated_date(text);
        assert_eq!(stated("It rose in March 2026.").as_deref(), Some("2026-03"));
        assert_eq!(
            stated("On 1 May 2026 it rose.").as_deref(),
            Some("2026-05-01")
        );
        assert_eq!(stated("In 2026 it rose.").as_deref(), Some("2026"));
        assert_eq!(stated("The 2026 it rose to."), None);
        assert_eq!(stated("From May 2025 to May 2026 it rose."), None);
        assert_eq!(stated("It rose."), None);
    }

    #[test]
    fn values_clash_only_within_a_kind() {
        let clashes = |one: &str, other: &str| clash(&values(one), &values(other)).is_some();
        assert!(clashes("It costs $20.", "The price is $25."));
        assert!(!clashes(
            "It costs $20 a month.",
            "The price is $200 a year."
        ));
        assert!(!clashes("It costs $20.", "It takes 25 days."));
        assert!(!clashes("It costs $20.", "It costs €19."));
        assert!(!clashes("Refunds take 14 days.", "Refunds take two weeks."));
        assert!(!clashes("It takes 60 days.", "It takes two months."));
        assert!(clashes("It began in May 2020.", "It began in June 2020."));
        assert!(!clashes("It began in May 2020.", "It began on 3 May 2020."));
        assert!(!clashes("$1, $2 or $3", "It costs $9."));
        assert!(!clashes("from $20 to $30", "It costs $30."));
        assert!(!clashes(
            "It has over 400 employees.",
            "It has 500 employees."
        ));
        assert!(!clashes("over 400 employees", "more than 500 employees"));
        assert!(clashes("fewer than 400 employees", "It has 500 employees."));
        assert!(clashes("Twelve models were used.", "They used 15 models."));
        assert!(shared(&values("about $30"), &values("$20 to $30")).is_some());
    }

    proptest! {
        #[test]
        fn any_text_is_read_and_quoted_from(text in "[\\PC$€% 0-9.,/-]{0,60}") {
            for value in values(&text) {
                prop_assert!(text.contains(&value.text), "{value:?}");
            }
            let _ = stated_date(&text);
        }
    }
}
