//! A place in an order is no number of things: "the third release" says nothing of three releases, and the second largest of
//! two editors nothing of two largest ones.

use crate::evidence::reading::words::{does, known, number_of_word, ordinal};

/// Words behind an ordinal or a number among which the thing is looked for that it orders or counts.
const THING_WORDS: usize = 3;

/// An ordinal or a number with the words behind it.
struct Counted {
    value: u32,
    is_place: bool,
    /// Stems.
    things: Vec<String>,
}

/// Whether a claim counts as many things as the place has in an order that a passage gives to one of them, where the passage
/// does not count so many of them.
pub(crate) fn counts_a_place(claim: &str, passage: &str) -> bool {
    let (claim, passage) = (counts_of(claim), counts_of(passage));
    claim.iter().filter(|one| !one.is_place).any(|number| {
        let is_same = |other: &Counted| other.value == number.value;
        let is_alike = |other: &Counted| {
            let mut things = other.things.iter();
            things.any(|thing| number.things.contains(thing))
        };
        let alike = || {
            passage
                .iter()
                .filter(|other| is_same(other) && is_alike(other))
        };
        alike().any(|other| other.is_place) && alike().all(|other| other.is_place)
    })
}

/// The ordinals and the numbers of a text that something stands behind. "One of the two largest" is a place too.
fn counts_of(text: &str) -> Vec<Counted> {
    let low = text.to_lowercase();
    let words: Vec<&str> = low
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let back = |at: usize, by: usize| at.checked_sub(by).map_or("", |at| words[at]);
    let found = words.iter().enumerate().filter_map(|(at, word)| {
        // A third of them, two thirds, a second of time.
        let is_part = |word: &str| {
            matches!(word, "a" | "an" | "one" | "per" | "each")
                || word.starts_with(|c: char| c.is_ascii_digit())
                || number_of_word(word).is_some()
        };
        let (value, is_place) = match place(word) {
            Some(value) if !is_part(back(at, 1)) => (value, true),
            Some(_) => return None,
            None => (number(word)?, false),
        };
        let is_of_few = matches!(back(at, 1), "of") || back(at, 2) == "of" && back(at, 1) == "the";
        if !is_place && is_of_few {
            return None;
        }
        let behind = words[at + 1..].iter().take(THING_WORDS);
        let things = behind
            .take_while(|word| known().flags(word) & (does::STOP | does::AUXILIARY) == 0)
            .map(|word| known().stem(word));
        Some(Counted {
            value,
            is_place,
            things: things.collect(),
        })
    });
    found.collect()
}

/// Which place an ordinal gives: "third", "3rd".
fn place(word: &str) -> Option<u32> {
    let digits = word.trim_end_matches(char::is_alphabetic);
    match (&word[digits.len()..], digits.is_empty()) {
        ("st" | "nd" | "rd" | "th", false) => digits.parse().ok(),
        _ => Some(u32::from(ordinal(word))).filter(|place| *place > 0),
    }
}

/// "One" is mostly no number.
fn number(word: &str) -> Option<u32> {
    let value = word.parse().ok().or_else(|| number_of_word(word));
    value.filter(|value| *value > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_an_order_is_no_number() {
        for (claim, passage, expected) in [
            (
                "Three releases of Quill appeared in May.",
                "The third release of Quill appeared in May.",
                true,
            ),
            (
                "3 releases appeared in May.",
                "The 3rd release appeared in May.",
                true,
            ),
            (
                "Quill has two largest editors.",
                "Quill is the second largest editor of its kind.",
                true,
            ),
            (
                "Berit Moe scored two goals.",
                "The second goal was scored by Berit Moe.",
                true,
            ),
            (
                "Berit Moe scored two goals.",
                "Berit Moe, who left after two seasons, scored the second goal.",
                true,
            ),
            (
                "The third release of Quill appeared in May.",
                "The third release of Quill appeared in May.",
                false,
            ),
            (
                "The house has two floors.",
                "The house has two floors; the second floor is closed.",
                false,
            ),
            (
                "Quill is one of the two largest editors.",
                "Quill is the second largest editor.",
                false,
            ),
            (
                "It waits for three seconds.",
                "A third of the users wait for a second.",
                false,
            ),
            (
                "Ada Lund trained the team for four seasons.",
                "Ada Lund is the fourth coach.",
                false,
            ),
        ] {
            assert_eq!(counts_a_place(claim, passage), expected, "{claim}");
        }
    }
}
