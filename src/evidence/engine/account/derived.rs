//! Values that a claim computes from those of a passage: "£3 cheaper" beside £30 and £27, "eight of the twenty have not" beside
//! "twelve of the twenty have".

use super::change::change;
use super::quantities::{Kind, Quantity, quantities};
use crate::evidence::Relation;
use crate::evidence::reading::text::{lower_words, negates};
use crate::evidence::reading::words::{does, known};

/// Values of one kind in a passage that are subtracted from one another.
const ALIKE_MAX: usize = 4;
/// "Saves a family £3".
const WORDS_BEFORE: usize = 4;

/// How a claim's value follows from a passage: the values that it is computed from, and what is known of its direction. A
/// difference in an unknown direction is not found on the page; it is not denied by the values that it is of.
pub(super) fn derived(
    claim: &str,
    asked: &Quantity,
    (passage, found): (&str, &[Quantity]),
) -> Option<(Option<Quantity>, Relation)> {
    if let Some(whole) = complement(claim, asked, passage, found) {
        return Some((Some(whole), Relation::Same));
    }
    if !is_difference(claim, asked) {
        return None;
    }
    let is_gap = |one: &Quantity, other: &Quantity| {
        let gap = (one.value() - other.value()).abs();
        gap > 0.0
            && (gap - asked.value()).abs() <= 1e-6 * one.value().abs().max(other.value().abs())
    };
    if let Some(change) = change(passage)
        && asked.is_like(&change.new)
        && is_gap(&change.old, &change.new)
    {
        let says = |flag| {
            lower_words(claim)
                .iter()
                .any(|word| known().flags(word) & flag != 0)
        };
        let rises = change.new.value() > change.old.value();
        let relation = match (says(does::UP), says(does::DOWN)) {
            (up, down) if up == down => Relation::NotFound,
            (up, _) if up == rises => Relation::Same,
            _ => Relation::Differs,
        };
        let found = (relation != Relation::NotFound).then(|| both(&change.old, &change.new));
        return Some((found, relation));
    }
    let alike: Vec<&Quantity> = found.iter().filter(|one| asked.is_like(one)).collect();
    let mut ones = alike.iter().take(ALIKE_MAX).enumerate();
    let is_found = ones.any(|(at, one)| alike[..at].iter().any(|other| is_gap(one, other)));
    is_found.then_some((None, Relation::NotFound))
}

/// Whether a claim says by how much something is more or less: "£3 cheaper", "by £3", "saves £3".
fn is_difference(claim: &str, asked: &Quantity) -> bool {
    let (before, after) = (&claim[..asked.range.start], &claim[asked.range.end..]);
    let (before, after) = (lower_words(before), lower_words(after));
    let compares = |word: &String| {
        let is_comparative = word.len() > 4 && word.ends_with("er");
        is_comparative
            && !matches!(
                &**word,
                "over" | "under" | "after" | "per" | "user" | "order" | "member" | "other"
            )
            || matches!(&**word, "more" | "less" | "fewer" | "off" | "extra")
    };
    let saves = |word: &String| matches!(&*known().stem(word), "save" | "differ");
    let is_by = before.last().is_some_and(|word| word == "by");
    is_by && before.len() > 1
        || after.first().is_some_and(compares)
        || before.iter().rev().take(WORDS_BEFORE).any(saves)
}

/// "Eight of the twenty have not": what is left of the twenty beside the number of a passage, where one of both denies.
fn complement(
    claim: &str,
    asked: &Quantity,
    passage: &str,
    found: &[Quantity],
) -> Option<Quantity> {
    let of = |text: &str, part: &Quantity, all: &[Quantity]| {
        let whole = all
            .iter()
            .find(|whole| whole.range.start > part.range.start)?;
        let between = text
            .get(part.range.start..whole.range.start)?
            .to_lowercase();
        let words: Vec<&str> = between.split_whitespace().skip(1).collect();
        matches!(*words, ["of"] | ["of", "the" | "all"]).then_some(whole.written)
    };
    let whole = of(claim, asked, &quantities(claim))?;
    let is_rest = |part: &&Quantity| {
        let is_count = matches!(part.kind, Kind::Count(_));
        is_count && of(passage, part, found) == Some(whole) && part.written + asked.written == whole
    };
    let rest = found.iter().find(is_rest)?;
    (negates(claim) != negates(passage)).then(|| rest.clone())
}

/// The text from one value to another.
fn both(one: &Quantity, other: &Quantity) -> Quantity {
    let start = one.range.start.min(other.range.start);
    Quantity {
        range: start..one.range.end.max(other.range.end),
        ..one.clone()
    }
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
    fn a_difference_is_computed() {
        let family = "| Family | £30 | £27 |";
        check(
            "A family ticket is £3 cheaper online.",
            family,
            Relation::NotFound,
        );
        check(
            "A family saves three pounds online.",
            family,
            Relation::NotFound,
        );
        check(
            "A family ticket is £5 cheaper online.",
            family,
            Relation::Differs,
        );
        check("A family ticket costs £3.", family, Relation::Differs);
        let debt = "Net debt decreased to €64 million from €88 million.";
        check("Net debt fell by €24 million.", debt, Relation::Same);
        check("Net debt rose by €24 million.", debt, Relation::Differs);
        check("Net debt fell by €20 million.", debt, Relation::Differs);
        check("Net debt was €24 million.", debt, Relation::Differs);
    }

    #[test]
    fn the_rest_of_a_whole_is_computed() {
        let ported = "Twelve of the twenty plug-ins have been ported.";
        check(
            "Eight of the twenty plug-ins have not been ported.",
            ported,
            Relation::Same,
        );
        check(
            "Eight of the twenty plug-ins have been ported.",
            ported,
            Relation::Differs,
        );
        check(
            "Nine of the twenty plug-ins have not been ported.",
            ported,
            Relation::Differs,
        );
    }
}
