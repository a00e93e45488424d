//! Whether a sentence tells of what is no more, excepts what is claimed, or tells of it as less often. Knows words, no page.

use crate::evidence::reading::text::{content, is_negation};

/// Words that begin a sentence's present holder, in the order former, present ("was replaced by") or present, former
/// ("succeeded").
const REPLACED_BY: [&str; 10] = [
    " was replaced by ",
    " were replaced by ",
    " been replaced by ",
    " was succeeded by ",
    " were succeeded by ",
    " been succeeded by ",
    " was superseded by ",
    " been superseded by ",
    " gave way to ",
    " made way for ",
];
const REPLACES: [&str; 5] = [
    " replaced ",
    " replaces ",
    " succeeded ",
    " succeeds ",
    " took over from ",
];
/// A claim with one of these may be of the past itself.
const PAST: [&str; 24] = [
    "was",
    "were",
    "had",
    "did",
    "until",
    "till",
    "former",
    "formerly",
    "previously",
    "before",
    "once",
    "used",
    "replaced",
    "replaces",
    "succeeded",
    "succeeds",
    "superseded",
    "gave",
    "took",
    "made",
    "became",
    "originally",
    "ago",
    "past",
];
const PRESENT: [&str; 8] = ["is", "are", "has", "have", "does", "do", "can", "comes"];

/// Whether a claim of the present names what a sentence tells of as former: "X is the chief executive." beside "Y succeeded
/// X as chief executive."
pub(super) fn is_of_the_past(claim: &str, sentence: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric());
        words.map(str::to_lowercase).collect()
    };
    let said = words(claim);
    let is_present = said.iter().any(|word| PRESENT.contains(&word.as_str()))
        && !said.iter().any(|word| PAST.contains(&word.as_str()));
    if !is_present {
        return false;
    }
    let claimed = content(claim);
    let clauses = sentence.split([';', '.']);
    clauses.into_iter().any(|clause| {
        let lower = format!(" {} ", clause.to_lowercase());
        let split = |list: &[&str]| {
            let found = list.iter().find_map(|words| lower.split_once(*words));
            found.map(|(before, after)| (content(before), content(after)))
        };
        let sides = split(&REPLACED_BY)
            .or_else(|| split(&REPLACES).map(|(present, former)| (former, present)));
        let is_former = sides.is_some_and(|(former, present)| {
            let mut own = claimed.iter();
            let is_said = own.any(|word| former.contains(word) && !present.contains(word));
            let mut own = claimed.iter();
            is_said && !own.any(|word| present.contains(word) && !former.contains(word))
        });
        is_former
            || has_ended(&lower) && {
                let told = content(&lower);
                claimed.iter().filter(|word| told.contains(*word)).count() * 2 >= claimed.len()
            }
    })
}

/// "It was provided by A until the end of 2024."
fn has_ended(lower: &str) -> bool {
    let Some((before, after)) = lower.split_once(" until ") else {
        return false;
    };
    let mut words = before.split(|c: char| !c.is_alphanumeric());
    let is_past = words.any(|word| matches!(word, "was" | "were" | "had"));
    let mut soon = after.split(|c: char| !c.is_alphanumeric()).take(5);
    let is_date =
        soon.any(|word| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit()));
    is_past && is_date && !before.contains(" not ") && !before.contains("n't ")
}

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
            // What is said of the exception itself is a statement of its own.
            let rest = after[end..].trim_start_matches([',', ' ', ')']);
            let is_told = ["which", "who", "whose", "where", "when"]
                .iter()
                .any(|word| rest.starts_with(word));
            if is_told || negates(before) {
                return false;
            }
            let excepted = content(&after[..end]);
            let rule = content(before);
            let own: Vec<&String> = excepted.difference(&rule).collect();
            !own.is_empty() && own.iter().all(|word| claimed.contains(*word))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_replaced_is_former() {
        let check = |claim: &str, sentence: &str, expected: bool| {
            assert_eq!(is_of_the_past(claim, sentence), expected, "{claim}");
        };
        let housing =
            "The aluminium housing of the NX-260 was replaced by one of stainless steel in 2023.";
        check("The NX-260 has an aluminium housing.", housing, true);
        check("The NX-260 has a stainless steel housing.", housing, false);
        check("The NX-260 had an aluminium housing.", housing, false);
        let post = "Siddiqui succeeded Martin Doyle as chief executive; Doyle became chair.";
        check("Martin Doyle is the chief executive.", post, true);
        check("Siddiqui is the chief executive.", post, false);
        let until = "Insurance of riders was provided by Axiom until the end of 2024.";
        check("Insurance of riders is provided by Axiom.", until, true);
        check("Insurance of riders was provided by Axiom.", until, false);
        check(
            "The office is open until 2030.",
            "The office was not open until 2024.",
            false,
        );
    }

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
