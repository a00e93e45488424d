//! Says in words how the quantities of a claim stand to those of a passage: "1.98 m is more than 1.95 m." The entailment
//! model reads numbers as pieces of text and cannot compare them itself.

use std::cmp::{Ordering, Reverse};

use super::quantities::{Kind, Quantity, quantities};
use super::shared;
use crate::evidence::Order;

/// Sentences for one quantity of the claim, and for all.
const FOR_ONE: usize = 2;
const FOR_ALL: usize = 3;
/// Bytes of a quantity; longer ones are not compared.
const WRITTEN_MAX: usize = 40;
/// Two days without a year lie in the order of one year if they are at most so many months apart.
const MONTHS_APART: u32 = 6;

/// How one quantity stands to another.
#[derive(Clone, Copy, PartialEq)]
enum Stands {
    Apart(Order),
    Within,
    Equal,
    SameTime,
}

impl Stands {
    fn words(self) -> &'static str {
        match self {
            Stands::Apart(Order::Less) => "is less than",
            Stands::Apart(Order::More) => "is more than",
            Stands::Apart(Order::Earlier) => "is before",
            Stands::Apart(Order::Later) => "is after",
            Stands::Within => "is within",
            Stands::Equal => "is equal to",
            Stands::SameTime => "is the same as",
        }
    }
}

/// Sentences for each quantity of the claim that no quantity of the passage agrees with, those with the nearest words
/// first; where one agrees that is written otherwise, the sentence that says so.
pub(crate) fn magnitudes(claim: &str, asked: &[Quantity], passage: &str) -> String {
    let found = match asked.is_empty() {
        true => Vec::new(),
        false => quantities(passage),
    };
    let mut sentences: Vec<String> = Vec::new();
    for asked in asked {
        let written = &claim[asked.range.clone()];
        if sentences.len() >= FOR_ALL {
            break;
        }
        let like = found.iter().filter_map(|one| {
            let stands = asked.stands_to(one)?;
            let other = passage.get(one.range.clone())?;
            let are_short = written.len().max(other.len()) <= WRITTEN_MAX;
            are_short.then_some((one, stands, other))
        });
        let mut like: Vec<_> = like.collect();
        let agrees = |stands| matches!(stands, Stands::Equal | Stands::SameTime);
        if like.iter().any(|(_, stands, _)| agrees(*stands)) {
            like.retain(|(_, stands, _)| agrees(*stands));
            let mut others = like.iter().map(|(.., other)| other);
            if others.any(|other| written.eq_ignore_ascii_case(other)) {
                continue;
            }
        }
        like.sort_by_cached_key(|(one, ..)| Reverse(shared(asked, one)));
        for (_, stands, other) in like.iter().take(FOR_ONE) {
            let sentence = format!("{written} {} {other}. ", stands.words());
            if !sentences.contains(&sentence) {
                sentences.push(sentence);
            }
        }
    }
    sentences.truncate(FOR_ALL);
    sentences.concat()
}

impl Quantity {
    /// Whether it is less or more, earlier or later than another of the same kind.
    pub(super) fn order(&self, other: &Quantity) -> Option<Order> {
        match self.stands_to(other)? {
            Stands::Apart(order) => Some(order),
            _ => None,
        }
    }

    /// None where neither is known to be the larger one.
    fn stands_to(&self, other: &Quantity) -> Option<Stands> {
        match (&self.kind, &other.kind) {
            (Kind::Date(one), Kind::Date(other)) => order_of_days(one, other).map(in_time),
            (Kind::Clock(one), Kind::Clock(other)) => Some(in_time(one.cmp(other))),
            (Kind::Measured(_), Kind::Measured(_)) | (Kind::Count(_), Kind::Count(_))
                if self.is_like(other) && !self.is_per_another(other) =>
            {
                let (one, slack) = (self.value(), self.slack(other).max(1e-9));
                let is_range = other.low.is_finite() && other.high.is_finite() && !other.is_about();
                let (low, high) = match is_range {
                    true => (other.low, other.high),
                    false => (other.value(), other.value()),
                };
                Some(if one < low - slack * low.abs() {
                    Stands::Apart(Order::Less)
                } else if one > high + slack * high.abs() {
                    Stands::Apart(Order::More)
                } else if low < high {
                    Stands::Within
                } else {
                    Stands::Equal
                })
            }
            _ => None,
        }
    }

    /// One is a month's and the other a year's.
    fn is_per_another(&self, other: &Quantity) -> bool {
        self.per.is_some() && other.per.is_some() && self.per != other.per
    }

    /// Its range lies around the number that is written.
    fn is_about(&self) -> bool {
        self.low < self.value() && self.value() < self.high
    }
}

fn in_time(order: Ordering) -> Stands {
    match order {
        Ordering::Less => Stands::Apart(Order::Earlier),
        Ordering::Equal => Stands::SameTime,
        Ordering::Greater => Stands::Apart(Order::Later),
    }
}

/// By the parts that both have. Without both years only days of months near each other have an order.
fn order_of_days(one: &[u32; 3], other: &[u32; 3]) -> Option<Ordering> {
    let has = |at: usize| one[at] > 0 && other[at] > 0;
    let from = match (has(0), has(1)) {
        (true, _) => 0,
        (false, true) if one[1].abs_diff(other[1]) <= MONTHS_APART => 1,
        _ => return None,
    };
    let parts = (from..3).take_while(|at| has(*at));
    let order = parts
        .map(|at| one[at].cmp(&other[at]))
        .find(|order| order.is_ne());
    // Parts that only one of them has leave the order open.
    let is_whole = (from..3).all(|at| (one[at] > 0) == (other[at] > 0));
    order.or(is_whole.then_some(Ordering::Equal))
}

#[cfg(test)]
mod tests {
    use crate::evidence::engine::account::magnitudes::*;

    #[track_caller]
    fn says(claim: &str, passage: &str, expected: &str) {
        let said = magnitudes(claim, &quantities(claim), passage);
        assert_eq!(said.trim_end(), expected, "{claim} / {passage}");
    }

    #[test]
    fn a_measure_is_compared_in_its_own_unit() {
        says(
            "A 1.98 m tall van will not fit.",
            "The garage has a headroom of 1.95 m.",
            "1.98 m is more than 1.95 m.",
        );
        says(
            "Our film of 100 minutes is long enough.",
            "Films of 2 hours or more are not accepted.",
            "100 minutes is less than 2 hours.",
        );
        says(
            "A trip of 120 minutes is fine.",
            "Trips of up to 2 hours are free.",
            "120 minutes is equal to 2 hours.",
        );
    }

    #[test]
    fn a_range_has_two_ends() {
        says(
            "A stay of 6 nights is possible.",
            "Stays of 5 to 7 nights are possible.",
            "6 nights is within 5 to 7 nights.",
        );
        says(
            "A stay of 9 nights is possible.",
            "Stays of 5 to 7 nights are possible.",
            "9 nights is more than 5 to 7 nights.",
        );
    }

    #[test]
    fn days_and_times_have_an_order() {
        says(
            "I can cancel at 17:00 on 9 June.",
            "Cancel until 18:00 on 10 June.",
            "17:00 is before 18:00. 9 June is before 10 June.",
        );
        says(
            "We arrive on 28 December.",
            "From 20 December to 6 January prices are higher.",
            "28 December is after 20 December.",
        );
        says(
            "It opened in 1994.",
            "It opened in 2001.",
            "1994 is before 2001.",
        );
    }

    #[test]
    fn what_has_no_order_is_not_compared() {
        says("It takes 3 hours.", "It costs 3 euros and weighs 4 kg.", "");
        says("It opened in 1994.", "It opened in May 1994.", "");
        says("It is free.", "It costs 3 euros.", "");
        says("It weighs 4 kg.", "It weighs 4 kg, the other 5 kg.", "");
        says("$5 per month is enough.", "It costs $60 a year.", "");
    }

    #[test]
    fn few_are_compared() {
        says(
            "1 cm, 2 cm",
            "Sizes are 3 cm, 4 cm, 5 cm and 6 cm.",
            "1 cm is less than 3 cm. 1 cm is less than 4 cm. 2 cm is less than 3 cm.",
        );
    }
}
