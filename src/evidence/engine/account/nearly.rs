//! What was not done, or is not what it is called: "almost won", "tried to climb", "a fake doctor", "the vice president". A claim
//! without such a word says more.

use crate::evidence::reading::text::{lower_words, number, stem};
use crate::evidence::reading::words::{does, known};

/// What stands before a verb that tells of nothing that happened.
const BEFORE_VERBS: [&[&str]; 31] = [
    &["almost"],
    &["nearly"],
    &["about", "to"],
    &["aimed", "to"],
    &["asked", "to"],
    &["attempted", "to"],
    &["attempts", "to"],
    &["declined", "to"],
    &["expected", "to"],
    &["falsely"],
    &["hoped", "to"],
    &["hopes", "to"],
    &["intended", "to"],
    &["invited", "to"],
    &["misled", "into"],
    &["narrowly", "missed"],
    &["offered", "to"],
    &["planned", "to"],
    &["pretended", "to"],
    &["pretends", "to"],
    &["promised", "to"],
    &["refused", "to"],
    &["supposed", "to"],
    &["threatened", "to"],
    &["threatens", "to"],
    &["tried", "to"],
    &["tries", "to"],
    &["trying", "to"],
    &["unable", "to"],
    &["wanted", "to"],
    &["wrongly"],
];
/// What stands before a noun and makes another thing or person of it.
const BEFORE_NOUNS: [&[&str]; 11] = [
    &["alleged"],
    &["aspiring"],
    &["deputy"],
    &["fake"],
    &["mock"],
    &["self", "proclaimed"],
    &["so", "called"],
    &["supposed"],
    &["suspected"],
    &["vice"],
    &["would", "be"],
];
/// What somebody was.
const FORMER: [&[&str]; 2] = [&["ex"], &["former"]];
/// The verb or noun is one of so many words behind.
const REACH: usize = 3;

/// Whether a sentence has such words right before what a claim says, and the claim has none of them.
pub(crate) fn is_only_nearly(claim: &str, sentence: &str) -> bool {
    // "Then-CEO Ada King".
    let told = sentence
        .replace("then-", "former ")
        .replace("Then-", "former ");
    let (said, claimed) = (lower_words(&told), lower_words(claim));
    let has = |words: &[String], marker: &[&str]| {
        (0..words.len()).find(|at| begins_with(&words[*at..], marker))
    };
    let own: Vec<String> = claimed.iter().map(|word| stem(word)).collect();
    let is_claimed = |word: &String| {
        known().flags(word) & (does::STOP | does::AUXILIARY) == 0 && own.contains(&stem(word))
    };
    let holds = |markers: &[&[&str]], reach: usize| {
        markers.iter().any(|marker| {
            let Some(at) = has(&said, marker).filter(|_| has(&claimed, marker).is_none()) else {
                return false;
            };
            let behind = said[at + marker.len()..].iter().take(reach);
            // "Almost 50 percent", "nearly all".
            let counts = behind.clone().next().is_some_and(|word| {
                number(word).is_some()
                    || matches!(&**word, "all" | "every" | "always" | "half" | "a" | "an")
            });
            !counts && behind.into_iter().any(is_claimed)
        })
    };
    // "Former president Ada King" is Ada King; "deputy mayor of Oslo" is not the mayor of Oslo.
    let is_named = || {
        let names = sentence.split(|c: char| !c.is_alphanumeric());
        let names = names
            .filter(|word| word.starts_with(char::is_uppercase))
            .skip(1);
        names
            .map(str::to_lowercase)
            .any(|name| claimed.contains(&name))
    };
    holds(&BEFORE_VERBS, REACH) || holds(&BEFORE_NOUNS, 1) || holds(&FORMER, 1) && !is_named()
}

fn begins_with(words: &[String], marker: &[&str]) -> bool {
    words.len() >= marker.len() && words.iter().zip(marker).all(|(word, other)| word == other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nearly_happened_did_not() {
        for (claim, sentence, expected) in [
            ("He won the race.", "He almost won the race.", true),
            ("He almost won the race.", "He almost won the race.", false),
            ("Half of them won.", "Almost half of them won.", false),
            (
                "He climbed the mountain.",
                "He tried to climb the mountain.",
                true,
            ),
            (
                "A doctor treated them.",
                "A fake doctor treated them.",
                true,
            ),
            (
                "The mayor of Oslo resigned.",
                "The deputy mayor of Oslo resigned.",
                true,
            ),
            ("He was a doctor.", "He pretended to be a doctor.", true),
            ("The president spoke.", "The vice president spoke.", true),
            (
                "Ada King spoke.",
                "The former president Ada King spoke.",
                false,
            ),
            (
                "The president spoke.",
                "The president spoke to a former teacher.",
                false,
            ),
            (
                "The film won two prizes.",
                "The film was nominated for two prizes.",
                false,
            ),
        ] {
            assert_eq!(
                is_only_nearly(claim, sentence),
                expected,
                "{claim} / {sentence}"
            );
        }
    }
}
