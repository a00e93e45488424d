//! Amounts of something that is measured: which kind a question asks for, and whether a text has one. Knows the words
//! and signs of units, no page.

use crate::evidence::engine::question::{Asked, Question};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    Money,
    Time,
    Share,
    Length,
}

impl Measure {
    pub(crate) fn asked_for(question: &Question) -> Option<Measure> {
        let has = |words: &[&str]| question.forms().any(|form| words.contains(&&*form.low));
        if !matches!(
            question.asked,
            Asked::Number | Asked::What | Asked::WhatNoun | Asked::How
        ) {
            return None;
        }
        let asks_much = has(&["much", "what", "how"]) && !has(&["many"]);
        let pair = |one: &str, two: &str| {
            let words: Vec<&str> = question.forms().map(|form| &*form.low).collect();
            words.windows(2).any(|pair| pair == [one, two])
        };
        if pair("how", "long") && !has(&["wide", "tall"])
            || pair("how", "often")
            || pair("how", "old")
        {
            Some(Measure::Time)
        } else if has(&["percentage", "percent"]) || pair("what", "share") {
            Some(Measure::Share)
        } else if asks_much
            && has(&[
                "cost", "costs", "price", "pay", "pays", "fee", "fees", "charge", "charged",
                "salary", "revenue", "budget", "worth", "spend", "money", "earn", "fare", "priced",
            ])
        {
            Some(Measure::Money)
        } else if ["far", "tall", "high", "wide", "deep"]
            .iter()
            .any(|word| pair("how", word))
        {
            Some(Measure::Length)
        } else {
            None
        }
    }

    pub(crate) fn is_in(self, text: &str) -> bool {
        let signs: &[char] = match self {
            Measure::Money => &['$', '€', '£', '¥', '₹', '元', '円'],
            Measure::Share => &['%'],
            Measure::Time | Measure::Length => &[],
        };
        let words: &[&str] = match self {
            Measure::Money => &[
                "dollar", "euro", "pound", "yen", "cent", "kroner", "krone", "franc", "rupee",
                "usd", "eur", "gbp", "usdc", "chf", "free", "million", "billion", "nothing",
            ],
            Measure::Time => &[
                "second",
                "minute",
                "hour",
                "day",
                "week",
                "month",
                "year",
                "decade",
                "century",
                "centuries",
                "min",
                "ms",
                "h",
                "until",
                "annual",
                "annually",
                "daily",
                "weekly",
                "monthly",
                "old",
            ],
            Measure::Share => &["percent", "half", "third", "quarter", "two-thirds", "fifth"],
            Measure::Length => &[
                "mile",
                "metre",
                "meter",
                "kilometre",
                "kilometer",
                "km",
                "m",
                "cm",
                "mm",
                "ft",
                "foot",
                "feet",
                "inch",
                "inches",
                "yard",
                "mi",
            ],
        };
        let is_word = |word: &str| {
            let lower = word.to_lowercase();
            words.contains(&lower.as_str())
                || lower
                    .strip_suffix('s')
                    .is_some_and(|one| words.contains(&one))
        };
        text.contains(signs)
            || text
                .split(|c: char| !c.is_alphabetic())
                .filter(|word| !word.is_empty() && word.len() <= 12)
                .any(is_word)
    }
}

#[cfg(test)]
mod tests {
    use crate::evidence::engine::measure::*;
    use crate::evidence::reading::language::Language;

    fn check(question: &str, measure: Option<Measure>) {
        let question = Question::new(question, false, Language::English);
        assert_eq!(Measure::asked_for(&question), measure);
    }

    #[test]
    fn questions_ask_for_a_measure() {
        check("How much does the Pro plan cost?", Some(Measure::Money));
        check("How long is the trial?", Some(Measure::Time));
        check("What percentage of users left?", Some(Measure::Share));
        check("How many users left?", None);
        check("Who pays?", None);
    }

    #[test]
    fn texts_have_a_measure() {
        assert!(Measure::Money.is_in("It is $12 a month"));
        assert!(!Measure::Money.is_in("It has 50 GB"));
        assert!(Measure::Time.is_in("after 14 days"));
        assert!(Measure::Share.is_in("37 % of them"));
    }
}
