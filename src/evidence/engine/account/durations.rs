//! What a length of time measures. A case that a limit covers: "ten days after paying" beside "within 14 days of payment", "five
//! days before it" beside "3 to 10 days before it"; the passage need not give the claim's number. And an age, which is not the
//! time that something took.

use super::quantities::{Kind, Quantity};
use super::units::Dimension;
use crate::evidence::reading::text::lower_words;

/// Which way from an event a length of time is counted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

/// Whether the claim's length of time, counted from an event, is one of those that the passage's limit covers.
pub(super) fn is_case_within(
    (claim, asked): (&str, &Quantity),
    (passage, found): (&str, &Quantity),
) -> bool {
    let is_length = |one: &Quantity| one.kind == Kind::Measured(Dimension::Duration);
    let is_case = asked.low == asked.high && !says_within(claim, asked);
    if !is_length(asked) || !is_length(found) || !is_case {
        return false;
    }
    let (Some(own), Some(its)) = (side(claim, asked), side(passage, found)) else {
        return false;
    };
    let is_within = says_within(passage, found) && found.low == found.high;
    let lowest = if is_within { 0.0 } else { found.low };
    own == its && lowest < found.high && (lowest..=found.high).contains(&asked.low)
}

fn side(text: &str, one: &Quantity) -> Option<Side> {
    let words = lower_words(text.get(one.range.end..)?);
    match &**words.first()? {
        "before" | "beforehand" | "prior" | "ahead" => Some(Side::Before),
        "after" | "afterwards" | "later" | "into" | "of" | "from" | "following" => {
            Some(Side::After)
        }
        _ => None,
    }
}

fn says_within(text: &str, one: &Quantity) -> bool {
    let words = lower_words(text.get(..one.range.start).unwrap_or_default());
    let mut near = words.iter().rev().take(2);
    near.any(|word| matches!(&**word, "within" | "first"))
}

/// Whether one is somebody's age and the other the time that something took.
pub(super) fn is_age_beside_time(
    (claim, asked): (&str, &Quantity),
    (passage, found): (&str, &Quantity),
) -> bool {
    is_age(claim, asked) && is_time_spent(passage, found)
        || is_time_spent(claim, asked) && is_age(passage, found)
}

fn is_age(text: &str, one: &Quantity) -> bool {
    let before = lower_words(text.get(..one.range.start).unwrap_or_default());
    let behind = lower_words(text.get(one.range.end..).unwrap_or_default());
    let last = |by: usize| before.iter().rev().nth(by).map_or("", String::as_str);
    let next = |at: usize| behind.get(at).map_or("", String::as_str);
    next(0) == "old"
        || (next(0), next(1)) == ("of", "age")
        || last(0) == "aged"
        || (last(1), last(0)) == ("age", "of")
}

fn is_time_spent(text: &str, one: &Quantity) -> bool {
    const BEFORE: [&str; 14] = [
        "for", "next", "spent", "spend", "spends", "took", "takes", "take", "lasted", "lasts",
        "last", "within", "during", "after",
    ];
    const BEHIND: [&str; 6] = ["ago", "later", "earlier", "afterwards", "after", "before"];
    if one.kind != Kind::Measured(Dimension::Duration) || is_age(text, one) {
        return false;
    }
    let before = lower_words(text.get(..one.range.start).unwrap_or_default());
    let behind = lower_words(text.get(one.range.end..).unwrap_or_default());
    let mut near = before.iter().rev().take(2);
    near.any(|word| BEFORE.contains(&word.as_str()))
        || behind
            .first()
            .is_some_and(|word| BEHIND.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use crate::evidence::Relation;
    use crate::evidence::engine::account::compare;

    fn check(claim: &str, passage: &str, expected: Relation) {
        let compared = compare(claim, &[passage]);
        assert_eq!(compared[0].relation, expected, "{claim} / {passage}");
    }

    #[test]
    fn an_age_is_no_time_that_something_took() {
        let teacher = "She spent the next three years as a teacher in Bergen.";
        check(
            "She was 83 years old when she died.",
            teacher,
            Relation::NotFound,
        );
        check(
            "She taught for two years.",
            "She died aged 83 years.",
            Relation::NotFound,
        );
        let entry = "Members must be at least 18 years.";
        check("Members must be 16 years old.", entry, Relation::Differs);
        check(
            "She was 83 years old when she died.",
            "She died when she was 81 years old.",
            Relation::Differs,
        );
    }

    #[test]
    fn a_case_is_within_a_limit() {
        let plan = "You get a full refund if you cancel within 14 days of payment.";
        let relation = |claim: &str| compare(claim, &[plan])[0].relation;
        assert_eq!(
            relation("I can cancel ten days after paying."),
            Relation::Within
        );
        assert_eq!(
            relation("I can cancel 20 days after paying."),
            Relation::Differs
        );
        // Another limit is another statement.
        assert_eq!(
            relation("I can cancel within ten days of payment."),
            Relation::Differs
        );
        assert_eq!(
            relation("I can cancel ten days before paying."),
            Relation::Differs
        );
        let courses = "| 3 to 10 days before the first class | 60 percent |";
        check(
            "Five days before it begins, 60 percent is paid back.",
            courses,
            Relation::Within,
        );
        check(
            "It takes five days.",
            "It takes 3 to 10 days.",
            Relation::NotFound,
        );
        check(
            "Bookings can be changed 18 months after purchase.",
            "Changes are free for the first two years after purchase.",
            Relation::Within,
        );
    }
}
