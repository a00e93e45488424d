//! What may be done without something: "may not enter without a warrant" and "may enter without a warrant" have the same words
//! but one.

use std::collections::BTreeSet;

use crate::evidence::reading::text::{is_negation, lower_words};
use crate::evidence::reading::words::{does, known};

/// Words behind "without" or "unless" that say what is missing.
const BEHIND: usize = 10;

/// What a text says of doing something without something.
struct Without {
    is_denied: bool,
    /// The stems of what is missing.
    missing: BTreeSet<String>,
    /// It says "unless" or the like, which allows nothing without a negation.
    is_exception: bool,
}

/// Whether one of the two allows without something what the other forbids without it.
pub(crate) fn is_other_permission(claim: &str, sentence: &str) -> bool {
    let (Some(claimed), Some(stated)) = (without(claim), without(sentence)) else {
        return false;
    };
    let allows = |one: &Without| !one.is_denied && !one.is_exception;
    claimed.is_denied != stated.is_denied
        && (allows(&claimed) || allows(&stated))
        && !claimed.missing.is_disjoint(&stated.missing)
}

/// Nothing where two exceptions are made.
fn without(text: &str) -> Option<Without> {
    let words = lower_words(text);
    let is_exception = |word: &str| matches!(word, "unless" | "until" | "except");
    let parts = |word: &String| word == "without" || is_exception(word);
    let at = words.iter().position(parts)?;
    if words[at + 1..].iter().any(parts) {
        return None;
    }
    let denies = |word: &String| is_negation(word) && !parts(word);
    let missing = words[at + 1..].iter().take(BEHIND);
    let missing = missing.filter(|word| word.len() > 2 && known().flags(word) & does::STOP == 0);
    Some(Without {
        is_denied: words.iter().any(denies),
        missing: missing.map(|word| known().stem(word)).collect(),
        is_exception: is_exception(&words[at]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_forbidden_without_something_is_not_allowed_without_it() {
        let check = |claim: &str, sentence: &str, expected: bool| {
            let found = is_other_permission(claim, sentence);
            assert_eq!(found, expected, "{claim} / {sentence}");
        };
        let enter =
            "An officer shall not enter a house without the consent of the owner or a warrant.";
        check("Officers may enter a house without a warrant.", enter, true);
        check(
            "Officers may not enter a house without a warrant.",
            enter,
            false,
        );
        check("Officers may enter without ringing.", enter, false);
        check("Officers may enter with a warrant.", enter, false);
        let stop = "Do not stop warfarin unless we tell you to.";
        check(
            "Patients should stop warfarin without being told.",
            stop,
            true,
        );
        let fee = "You can cancel without a fee.";
        check("You cannot cancel without a fee.", fee, true);
        check("You can cancel without a fee.", fee, false);
        check("You can cancel unless there is a fee.", fee, false);
        let two = "You cannot cancel without a fee unless you are ill.";
        check("You can cancel without a fee.", two, false);
    }
}
