//! Who does what to whom, by order and voice: two statements with the same words around the same verb or preposition, but
//! on the other sides of it, say different things.

use crate::evidence::reading::words::{does, known};

/// Words of a side that are looked at.
const SIDE: usize = 9;

struct Word {
    low: String,
    stem: String,
    is_content: bool,
    is_number: bool,
    /// Written with a capital.
    is_name: bool,
    /// A sentence or a clause ends before it.
    begins: bool,
}

fn words(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut begins = true;
    let mut rest = text;
    while let Some(at) = rest.find(char::is_alphanumeric) {
        begins |= rest[..at].contains(['.', ';', '!', '?', '\n', '|']);
        rest = &rest[at..];
        let end = rest
            .find(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '’')))
            .unwrap_or(rest.len());
        let low = rest[..end].to_lowercase();
        let low = low.trim_end_matches("'s").trim_end_matches("’s").to_owned();
        let stop = known().flags(&low) & (does::STOP | does::QUESTION | does::AUXILIARY) != 0;
        words.push(Word {
            stem: known().stem(&low),
            is_number: low.starts_with(|c: char| c.is_ascii_digit()),
            is_name: rest.starts_with(char::is_uppercase),
            is_content: !stop,
            low,
            begins,
        });
        begins = false;
        rest = &rest[end..];
    }
    words
}

/// Words that part two sides and are no verbs.
const PIVOTS: &[&str] = &[
    "than", "from", "before", "after", "by", "to", "over", "against", "for", "with", "of", "into",
];

/// Whether the verb at a place is passive: a form of "to be" before it, "by" behind it.
fn is_passive(words: &[Word], at: usize) -> bool {
    let is_be = |word: &Word| {
        matches!(
            &*word.low,
            "is" | "are" | "was" | "were" | "been" | "being" | "be" | "got"
        )
    };
    let before = words[at.saturating_sub(3)..at].iter().any(is_be);
    let behind = words[at + 1..]
        .iter()
        .take(7)
        .take_while(|word| !word.begins)
        .any(|word| word.low == "by");
    behind && (before || words[at].low.ends_with("ed") || words[at].low.ends_with("en"))
}

fn sides(words: &[Word], at: usize) -> (Vec<&str>, Vec<&str>) {
    let is_named = |word: &&Word| word.is_content && !word.is_number && word.low.len() > 2;
    let mut start = at;
    while start > 0 && !words[start].begins && at - start < SIDE {
        start -= 1;
    }
    let left = words[start..at]
        .iter()
        .filter(is_named)
        .map(|word| &*word.stem)
        .collect();
    let right = words[at + 1..]
        .iter()
        .take(SIDE)
        .take_while(|word| !word.begins)
        .filter(is_named)
        .map(|word| &*word.stem)
        .collect();
    (left, right)
}

/// Content words beside one that tell it from another.
const BESIDE: usize = 3;

/// The words on each side of a content word, nearest first, within its clause.
fn beside(words: &[Word], at: usize) -> [Vec<&str>; 2] {
    let is_named = |word: &&Word| word.is_content && word.low.len() > 1;
    let mut start = at;
    while start > 0 && !words[start].begins && at - start < SIDE {
        start -= 1;
    }
    let left = words[start..at].iter().rev().filter(is_named).take(BESIDE);
    let right = words[at + 1..]
        .iter()
        .take(SIDE)
        .take_while(|word| !word.begins)
        .filter(is_named)
        .take(BESIDE);
    [
        left.map(|word| &*word.stem).collect(),
        right.map(|word| &*word.stem).collect(),
    ]
}

/// Whether two names or numbers of a claim stand in each other's places in a passage: each beside the words that the
/// other one has beside it in the claim.
pub(crate) fn are_exchanged(claim: &str, passage: &str) -> bool {
    let (claim, passage) = (words(claim), words(passage));
    let is_voiced =
        |words: &[Word]| (1..words.len()).any(|at| words[at].is_content && is_passive(words, at));
    if is_voiced(&claim) != is_voiced(&passage) {
        return false;
    }
    let single = |words: &[Word], stem: &str| {
        let mut places = (0..words.len()).filter(|at| words[*at].stem == stem);
        let first = places.next()?;
        places.next().is_none().then_some(first)
    };
    let shared: Vec<(usize, usize)> = (0..claim.len())
        .filter(|at| claim[*at].is_content && (claim[*at].is_name || claim[*at].is_number))
        .filter_map(|at| {
            single(&claim, &claim[at].stem)?;
            Some((at, single(&passage, &claim[at].stem)?))
        })
        .take(12)
        .collect();
    let agree = |one: usize, other: usize, not: [&str; 2]| {
        let (mine, its) = (beside(&claim, one), beside(&passage, other));
        let pairs = mine.iter().zip(&its);
        let common = |(mine, its): (&Vec<&str>, &Vec<&str>)| {
            mine.iter()
                .filter(|stem| its.contains(stem) && !not.contains(stem))
                .count()
        };
        pairs.map(common).sum::<usize>()
    };
    for (number, &(one, its_one)) in shared.iter().enumerate() {
        for &(other, its_other) in &shared[number + 1..] {
            let not = [&*claim[one].stem, &*claim[other].stem];
            if claim[one].is_number != claim[other].is_number
                || other == one + 1
                || its_one.abs_diff(its_other) == 1
            {
                continue;
            }
            let (crossed_one, crossed_other) =
                (agree(one, its_other, not), agree(other, its_one, not));
            let (straight_one, straight_other) =
                (agree(one, its_one, not), agree(other, its_other, not));
            if crossed_one > 0
                && crossed_other > 0
                && crossed_one + crossed_other > straight_one + straight_other
            {
                return true;
            }
        }
    }
    false
}

/// Whether a claim turns round what a passage says: something left of a shared verb or preposition stands right of it,
/// and the other way round, in the same voice; or both keep their places and the voice changes.
pub(crate) fn are_swapped(claim: &str, passage: &str) -> bool {
    let (claim, passage) = (words(claim), words(passage));
    let mut is_kept = false;
    let mut is_turned = false;
    for (at, pivot) in claim.iter().enumerate() {
        let is_preposition = PIVOTS.contains(&&*pivot.low);
        if (!pivot.is_content && !is_preposition) || pivot.is_number {
            continue;
        }
        let (left, right) = sides(&claim, at);
        if left.is_empty() || right.is_empty() {
            continue;
        }
        for (other, word) in passage.iter().enumerate() {
            if (is_preposition && word.low != pivot.low)
                || (!is_preposition && word.stem != pivot.stem)
            {
                continue;
            }
            let (its_left, its_right) = sides(&passage, other);
            let crosses = |from: &[&str], not: &[&str], to: &[&str], nor: &[&str]| {
                from.iter()
                    .any(|stem| to.contains(stem) && !not.contains(stem) && !nor.contains(stem))
            };
            let is_crossed = crosses(&left, &right, &its_right, &its_left)
                && crosses(&right, &left, &its_left, &its_right);
            let is_straight = crosses(&left, &right, &its_left, &its_right)
                && crosses(&right, &left, &its_right, &its_left);
            let turns = is_passive(&claim, at) != is_passive(&passage, other) && !is_preposition;
            is_turned |= if turns {
                is_straight && !is_crossed
            } else {
                is_crossed && !is_straight
            };
            is_kept |= if turns { is_crossed } else { is_straight };
        }
    }
    is_turned && !is_kept
}

#[cfg(test)]
mod tests {
    use crate::evidence::engine::account::roles::*;

    #[test]
    fn roles_that_are_swapped_are_seen() {
        for (claim, passage, expected) in [
            (
                "Nordpumpe sued Aldersund in August.",
                "Aldersund sued the Danish company Nordpumpe in August.",
                true,
            ),
            (
                "Aldersund was sued by Nordpumpe.",
                "Aldersund sued the Danish company Nordpumpe in August.",
                true,
            ),
            (
                "Nordpumpe was sued by Aldersund.",
                "Aldersund sued the Danish company Nordpumpe in August.",
                false,
            ),
            (
                "In August Aldersund sued Nordpumpe.",
                "Aldersund sued Nordpumpe in August.",
                false,
            ),
            (
                "Gwenllian Rees bought the inn from Evan Pugh.",
                "Evan Pugh bought the inn from the widow Gwenllian Rees.",
                true,
            ),
            (
                "The lake is deeper than the river.",
                "The river is deeper than the lake.",
                true,
            ),
        ] {
            assert_eq!(are_swapped(claim, passage), expected, "{claim}");
        }
    }

    #[test]
    fn names_in_each_others_places_are_seen() {
        for (claim, passage, expected) in [
            (
                "It went off sale in Holland but goes on selling in Belgium.",
                "It went off sale in Belgium but goes on selling in Holland.",
                true,
            ),
            (
                "It went off sale in Belgium.",
                "It went off sale in Belgium but goes on selling in Holland.",
                false,
            ),
            (
                "Ann leads the north and Bob the south.",
                "Bob leads the north and Ann the south.",
                true,
            ),
        ] {
            assert_eq!(are_exchanged(claim, passage), expected, "{claim}");
        }
    }
}
