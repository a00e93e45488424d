//! Whether a sentence excepts what is claimed, or tells of it as less often. Knows words, no page.

use std::collections::BTreeSet;

use crate::evidence::reading::text::{content, is_negation};

/// "Every day" is more often than "every other day".
pub(super) fn is_less_often(claim: &str, sentence: &str) -> bool {
    const LESS: [&str; 3] = [" every other ", " every second ", " alternate "];
    let lower = |text: &str| format!(" {} ", text.to_lowercase());
    let (claim, sentence) = (lower(claim), lower(sentence));
    let is_less = |text: &str| LESS.iter().any(|words| text.contains(words));
    let periods = [("day", "daily"), ("week", "weekly"), ("month", "monthly")];
    !is_less(&claim)
        && is_less(&sentence)
        && periods.iter().any(|(period, often)| {
            let mut words = claim.split(|c: char| !c.is_alphanumeric());
            let mut before = "";
            words.any(|word| {
                let each = word == *period && matches!(before, "every" | "each" | "a" | "per");
                before = word;
                each || word == *often
            })
        })
}

/// Whether a sentence excepts what a claim names: "All tickets but group tickets, …".
pub(super) fn is_excepted(claim: &str, sentence: &str) -> bool {
    const EXCEPT: [&str; 8] = [
        " except for ",
        " except on ",
        " except ",
        " excluding ",
        " apart from ",
        " other than ",
        " with the exception of ",
        " but not ",
    ];
    let lower = sentence.to_lowercase();
    let said = claim.to_lowercase();
    let mut words = said.split(|c: char| !c.is_alphanumeric());
    if words
        .any(|word| is_negation(word) || matches!(word, "only" | "other" | "apart" | "excluding"))
    {
        return false;
    }
    let claimed = content(claim);
    let negates = |text: &str| {
        let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’');
        words.any(|word| is_negation(word) || word.ends_with("n't") || word.ends_with("n’t"))
    };
    EXCEPT.iter().any(|except| {
        let sides = lower.split_once(except);
        sides.is_some_and(|(before, after)| {
            let end = after.find([',', ';', '.', ')', ':']).unwrap_or(after.len());
            if negates(before) {
                return false;
            }
            let excepted = content(&after[..end]);
            let rule = content(before);
            // What is said of the exception itself is a statement of its own.
            let rest = after[end..].trim_start_matches([',', ' ', ')']);
            let is_told = ["which", "who", "whose", "where", "when"]
                .iter()
                .any(|word| rest.starts_with(word));
            let told = match is_told {
                true => content(rest),
                false => BTreeSet::new(),
            };
            let says = |own: &BTreeSet<String>, other: &BTreeSet<String>| {
                let mut own = own.difference(other);
                own.any(|word| claimed.contains(word) && !excepted.contains(word))
            };
            if is_told && (says(&told, &rule) || !says(&rule, &told)) {
                return false;
            }
            let own: Vec<&String> = excepted.difference(&rule).collect();
            !own.is_empty() && own.iter().all(|word| claimed.contains(*word))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_excepted_is_not_meant() {
        let tickets = "Tickets are valid for twelve months, except group tickets.";
        assert!(is_excepted(
            "Group tickets are valid for twelve months.",
            tickets
        ));
        assert!(!is_excepted(
            "Tickets are valid for twelve months.",
            tickets
        ));
        assert!(!is_excepted(
            "Group tickets are not valid for twelve months.",
            tickets
        ));
        assert!(is_excepted(
            "Is it open on Tuesdays?",
            "It is open daily except Tuesday."
        ));
        let library = "Items can be returned at any branch, except musical instruments, which must go back to Main Street.";
        assert!(is_excepted(
            "Musical instruments can be returned at any branch.",
            library
        ));
        assert!(!is_excepted(
            "Musical instruments must go back to Main Street.",
            library
        ));
        assert!(!is_excepted(
            "Is it open on Mondays?",
            "It is open daily except Tuesday."
        ));
    }

    #[test]
    fn every_other_day_is_less_often() {
        let dose = "Over 65: 25 mg every other day";
        assert!(is_less_often("They should take 25 mg every day.", dose));
        assert!(is_less_often("They should take 25 mg daily.", dose));
        assert!(!is_less_often(
            "They should take 25 mg every other day.",
            dose
        ));
        assert!(!is_less_often("They should take 25 mg.", dose));
    }
}
