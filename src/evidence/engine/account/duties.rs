//! What has to be done, and what need not: "have to book" and "don't need to book" say opposite things of one verb.

use crate::evidence::reading::text::{is_negation, lower_words};
use crate::evidence::reading::words::{does, known};

/// Words before a duty among which one denies it: "no longer have to", "isn't required to".
const BEFORE: usize = 3;

/// Whether a claim and a sentence disagree on whether the same has to be done.
pub(crate) fn is_other_duty(claim: &str, sentence: &str) -> bool {
    let (claimed, stated) = (duties(claim), duties(sentence));
    let has = |verb: &str, is_duty: bool| {
        let mut stated = stated.iter();
        stated.any(|(other, other_duty)| other == verb && *other_duty == is_duty)
    };
    let mut claimed = claimed.iter();
    claimed.any(|(verb, is_duty)| has(verb, !is_duty) && !has(verb, *is_duty))
}

/// The stems of what has to be done, and of what need not. What must not be done is neither.
fn duties(text: &str) -> Vec<(String, bool)> {
    let words = lower_words(text);
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    let denies = |word: &String| is_negation(word) || word == "longer";
    let duty = |at: usize| {
        let before = &words[at.saturating_sub(BEFORE)..at];
        let is_duty = !before.iter().any(denies);
        let (verb, is_duty) = match (word(at), word(at + 1)) {
            (
                "have" | "has" | "had" | "having" | "need" | "needs" | "needed" | "required"
                | "obliged" | "necessary",
                "to",
            ) => (at + 2, is_duty),
            ("needn't", _) => (at + 1, false),
            ("need" | "must", "not" | "never") => (at + 2, false),
            ("must", _) => (at + 1, true),
            _ => return None,
        };
        let is_forbidden = word(at) == "must" && !is_duty;
        let is_skipped = |word: &&String| {
            let is_adverb =
                word.ends_with("ly") || matches!(&***word, "also" | "always" | "first" | "be");
            is_adverb || known().flags(word) & does::PRONOUN != 0
        };
        let behind = words.get(verb..).unwrap_or_default();
        let verb = behind.iter().find(|word| !is_skipped(word))?;
        (!is_forbidden).then(|| (known().stem(verb), is_duty))
    };
    (0..words.len()).filter_map(duty).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_need_not_be_done_is_no_duty() {
        let check = |claim: &str, sentence: &str, expected: bool| {
            assert_eq!(
                is_other_duty(claim, sentence),
                expected,
                "{claim} / {sentence}"
            );
        };
        let groups = "Groups of ten or more get 15% off and have to book two weeks in advance.";
        check(
            "Groups of ten or more don't need to book ahead.",
            groups,
            true,
        );
        check("Groups of ten or more must book ahead.", groups, false);
        check("Do groups need to pay?", groups, false);
        let visa = "Visitors no longer have to apply for a visa.";
        check("Visitors must apply for a visa.", visa, true);
        check("Visitors needn't apply for a visa.", visa, false);
        check("Do I need to apply for a visa?", visa, true);
        let both = "Members need not book; guests must book by noon.";
        check("Guests have to book.", both, false);
        check("Members don't have to book.", both, false);
        check("You must not smoke.", "You don't have to smoke.", false);
        check("Helmets must be worn.", "Helmets need not be worn.", true);
    }
}
