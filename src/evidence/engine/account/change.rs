//! A change from one value to another: which was before, which came after. "Rose to 51 from 47" and "47, compared with 51"
//! say opposite things with the same numbers.

use super::quantities::{Kind, Quantity, quantities};
use crate::evidence::Relation;

/// What parts the value after a change from the one before it.
const BESIDE: [&str; 9] = [
    "compared with",
    "compared to",
    "against",
    "versus",
    "up from",
    "down from",
    "after",
    "from",
    "vs",
];
/// Logarithm of how many times one value of a change may be the other: twenty.
const SIZES_APART_MAX: f64 = 3.0;
const RISES: [&str; 12] = [
    "rose",
    "rises",
    "risen",
    "rise",
    "increased",
    "increases",
    "grew",
    "grows",
    "grown",
    "climbed",
    "climbs",
    "gained",
];
const FALLS: [&str; 12] = [
    "fell",
    "falls",
    "fallen",
    "fall",
    "dropped",
    "drops",
    "declined",
    "declines",
    "decreased",
    "decreases",
    "shrank",
    "slipped",
];

/// The value before and the one after.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) old: Quantity,
    pub(super) new: Quantity,
}

/// The quantities of a text that can rise and fall.
fn values(text: &str) -> Vec<Quantity> {
    let all = quantities(text).into_iter();
    all.filter(|one| matches!(one.kind, Kind::Measured(_) | Kind::Count(_)))
        .collect()
}

/// The first change in a text.
pub(super) fn change(text: &str) -> Option<Change> {
    let found = values(text);
    let lower = text.to_ascii_lowercase();
    (1..found.len()).find_map(|at| {
        let other = &found[at];
        // "$47.9 million, or $0.88 a share, compared with $51.2 million": the one of its size.
        let size = |one: &Quantity| (one.written * one.factor).abs().max(1e-9).ln();
        let distance = |one: &Quantity| (size(one) - size(other)).abs();
        let alike = found[at.saturating_sub(3)..at].iter();
        let one = alike
            .filter(|one| is_one_kind(one, other) && distance(one) < SIZES_APART_MAX)
            .min_by(|one, two| distance(one).total_cmp(&distance(two)))?;
        let between = lower.get(found[at - 1].range.end..other.range.start)?;
        let between = between.trim_matches(|c: char| !c.is_alphabetic());
        let before = lower[..one.range.start].trim_end_matches(|c: char| !c.is_alphabetic());
        let is_behind = |word: &str| {
            let rest = before.strip_suffix(word);
            rest.is_some_and(|rest| !rest.ends_with(char::is_alphabetic))
        };
        // What is counted may stand behind the number: "47 cases, compared with 51".
        let says = |words: &str| {
            let rest = between.strip_suffix(words);
            rest.is_some_and(|rest| {
                rest.split_whitespace().count() <= 4 && !rest.ends_with(char::is_alphabetic)
            })
        };
        let (old, new) = if is_behind("from") && says("to") {
            (one, other)
        } else if BESIDE.iter().any(|words| says(words)) {
            (other, one)
        } else {
            return None;
        };
        Some(Change {
            old: old.clone(),
            new: new.clone(),
        })
    })
}

fn is_one_kind(one: &Quantity, other: &Quantity) -> bool {
    one.is_like(other) || matches!((&one.kind, &other.kind), (Kind::Count(_), Kind::Count(_)))
}

/// Whether a claim has the values of a change in the other order than a passage, or calls a fall a rise.
pub(crate) fn is_turned(claim: &str, passage: &str) -> bool {
    let Some(stated) = change(passage) else {
        return false;
    };
    let Some(claimed) = change(claim) else {
        return has_other_end(claim, passage, &stated);
    };
    let same = |one: &Quantity, other: &Quantity| {
        let (one, other) = (one.written * one.factor, other.written * other.factor);
        (one - other).abs() <= 1e-6 * one.abs().max(other.abs())
    };
    let is_other_order = same(&claimed.old, &stated.new) && same(&claimed.new, &stated.old);
    let is_same_order = same(&claimed.old, &stated.old) && same(&claimed.new, &stated.new);
    if same(&claimed.old, &claimed.new) {
        return false;
    }
    let lower = claim.to_lowercase();
    let says = |list: &[&str]| {
        let mut words = lower.split(|c: char| !c.is_alphanumeric());
        words.any(|word| list.contains(&word))
    };
    let rises = claimed.new.written * claimed.new.factor > claimed.old.written * claimed.old.factor;
    let is_misnamed = match (says(&RISES), says(&FALLS)) {
        (true, false) => !rises,
        (false, true) => rises,
        _ => false,
    };
    is_other_order || is_same_order && is_misnamed
}

/// Whether the one value of a claim is where a change leads "to", and in the passage where it began, or the other way round.
fn has_other_end(claim: &str, passage: &str, stated: &Change) -> bool {
    let is_same = |one: &Quantity, other: &Quantity| {
        is_one_kind(one, other) && one.relation(other) == Relation::Same
    };
    let [asked] = &values(claim)[..] else {
        return false;
    };
    let before = claim[..asked.range.start].trim_end_matches(|c: char| !c.is_alphanumeric());
    let end = match before.rsplit(' ').next() {
        Some("to") => &stated.old,
        Some("from") => &stated.new,
        _ => return false,
    };
    let found = values(passage);
    let mut same = found.iter().filter(|one| is_same(asked, one));
    // It may be a value of its own elsewhere in the passage.
    is_same(asked, end)
        && same.all(|one| one.range == end.range)
        && !is_same(&stated.old, &stated.new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_is_where_a_change_begins_or_ends() {
        let check = |claim: &str, passage: &str, expected: bool| {
            assert_eq!(is_turned(claim, passage), expected, "{claim} / {passage}");
        };
        let staff = "The number of staff increased from 60 to 80.";
        check("Staff increased from 80 to 60.", staff, true);
        check("Staff increased from 60 to 80.", staff, false);
        check("Staff increased to 60.", staff, true);
        check("Staff increased to 80.", staff, false);
        check("Staff increased from 80.", staff, true);
        let outlook = "The outlook was raised to €585–595 million from €570–590 million.";
        check("The outlook was raised to €570–590 million.", outlook, true);
        check(
            "The outlook was raised to €585–595 million.",
            outlook,
            false,
        );
        check("The outlook was €570–590 million.", outlook, false);
        let fare = "The fare went from £3 to £4; children pay up to £3.";
        check("Children pay up to £3.", fare, false);
    }

    #[test]
    fn a_change_has_a_direction() {
        let check = |claim: &str, passage: &str, expected: bool| {
            assert_eq!(is_turned(claim, passage), expected, "{claim} / {passage}");
        };
        let income = "Net income was $47.9 million, compared with $51.2 million a year earlier.";
        check(
            "Net income rose to $51.2 million from $47.9 million.",
            income,
            true,
        );
        check("Net income fell to $47.9m from $51.2m.", income, false);
        check("Net income rose to $47.9m from $51.2m.", income, true);
        check("Net income fell from $51.2m to $47.9m.", income, false);
        check("Net income was $47.9m.", income, false);
        let shares = "Net income of $47.9 million, or $0.88 per share, compared with $51.2 million, or $0.93.";
        check(
            "Net income rose to $51.2 million from $47.9 million.",
            shares,
            true,
        );
        check(
            "Net income fell to $47.9 million from $51.2 million.",
            shares,
            false,
        );
        let cases = "It counted 51 cases, up from 47 cases in May.";
        check("Cases rose from 47 to 51.", cases, false);
        check("Cases fell from 51 to 47.", cases, true);
        check("It moved from 12 rooms to 14 rooms.", cases, false);
    }
}
