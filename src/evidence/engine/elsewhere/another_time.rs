//! Whether a sentence tells of what is no more, or is only planned, beside a claim of the present. Knows words, no page.

use super::tense::{has_no_present, is_past_form};
use crate::evidence::reading::text::{content, is_negation, lower_words};

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
    // "The firm sells lamps."
    let has_verb = || {
        let mut behind = said.iter().skip(1);
        behind.any(|word| word.len() > 3 && word.ends_with('s') && !word.ends_with("ss"))
            && !said.iter().any(|word| is_past_form(word))
    };
    let is_present = !said.iter().any(|word| PAST.contains(&word.as_str()))
        && (said.iter().any(|word| PRESENT.contains(&word.as_str())) || has_verb());
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

/// "It was provided by A until the end of 2024.", "A was the provider from 2010 to 2019.", "Until 2024 it was A.", "The
/// treasurer until last year".
fn has_ended(lower: &str) -> bool {
    let words: Vec<&str> = (lower.split(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty())
        .collect();
    let is_year = |word: &&str| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
    let all = lower_words(lower);
    let has_past = has_no_present(&all) && all.iter().any(|word| is_past_form(word));
    let is_past = has_past
        || words
            .iter()
            .any(|word| matches!(*word, "was" | "were" | "had" | "served" | "worked" | "held"));
    let until = words.iter().enumerate().any(|(at, word)| {
        let span = match *word {
            "until" | "till" => 1,
            // "From 2010 to 2019", "between 2010 and 2019"; "in 1998 and 2015" are two years.
            "to" if at > 0 && is_year(&words[at - 1]) => 0,
            "and" if at > 0 && is_year(&words[at - 1]) && words.contains(&"between") => 0,
            _ => return false,
        };
        let soon = words[at + 1..].iter().take(1 + 4 * span);
        soon.into_iter().any(is_year)
    });
    let joined = lower.split(['–', '-']).collect::<Vec<_>>();
    let is_range = joined.windows(2).any(|sides| {
        let ends = |text: &str| {
            text.trim_end().len() >= 4 && {
                let digits = text.trim_end().chars().rev();
                digits.take_while(char::is_ascii_digit).count() == 4
            }
        };
        let begins = |text: &str| {
            let digits = text.trim_start().chars();
            digits.take_while(char::is_ascii_digit).count() == 4
        };
        ends(sides[0]) && begins(sides[1])
    });
    let lately = words.windows(2).enumerate().any(|(at, pair)| {
        let is_period = |word: &&&str| {
            matches!(
                **word,
                "year" | "month" | "week" | "season" | "summer" | "winter"
            )
        };
        let ended = match pair[1] {
            "recently" | "yesterday" => true,
            "last" => words.get(at + 2).filter(is_period).is_some(),
            _ => false,
        };
        matches!(pair[0], "until" | "till") && ended
    });
    (lately || is_past && (until || is_range) || has_past && is_of_former(lower))
        && !lower.contains(" not ")
        && !lower.contains("n't ")
}

/// "Before her, X was mayor.", "X was once a pharmacist.", "It used to close at noon.", "At its peak it employed 300."
fn is_of_former(lower: &str) -> bool {
    const BEGINNINGS: [&str; 5] = [
        "before her,",
        "before him,",
        "before them,",
        "before that,",
        "once ",
    ];
    const WITHIN: [&str; 5] = [
        " was once ",
        " were once ",
        " at its peak",
        " at their peak",
        " used to ",
    ];
    let text = lower.trim_start();
    BEGINNINGS.iter().any(|words| text.starts_with(words))
        || WITHIN.iter().any(|words| lower.contains(words))
}

/// What somebody means to do, or is to happen at a time to come.
const PLANS: [&str; 18] = [
    " plan to ",
    " plans to ",
    " planning to ",
    " planned to ",
    " aim to ",
    " aims to ",
    " aiming to ",
    " intend to ",
    " intends to ",
    " hope to ",
    " hopes to ",
    " hoping to ",
    " propose to ",
    " proposes to ",
    " scheduled to ",
    " due to open",
    " due to launch",
    " target is ",
];
/// Verbs of what begins, which "will" puts into the future.
const BEGINNINGS: [&str; 16] = [
    "open",
    "launch",
    "start",
    "begin",
    "become",
    "arrive",
    "introduce",
    "add",
    "release",
    "reopen",
    "build",
    "ship",
    "come",
    "join",
    "support",
    "offer",
];
/// A time to come.
const LATER: [&str; 10] = [
    " next ",
    " later this ",
    " later in ",
    " soon",
    " by the end of ",
    " in the future",
    " in the coming ",
    " in 20",
    " by 20",
    " from 20",
];
/// A claim with one of these may be of the future itself.
const FUTURE: [&str; 24] = [
    "will",
    "shall",
    "plan",
    "plans",
    "planned",
    "planning",
    "aim",
    "aims",
    "intend",
    "intends",
    "hope",
    "hopes",
    "expected",
    "expects",
    "expect",
    "scheduled",
    "due",
    "future",
    "going",
    "target",
    "proposed",
    "would",
    "want",
    "wants",
];

/// Whether a claim of the present is of what a sentence tells only as planned, or to come: "Night trains are offered." beside
/// "We plan to offer night trains next year."
pub(super) fn is_of_the_future(claim: &str, sentence: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric());
        words.map(str::to_lowercase).collect()
    };
    let said = words(claim);
    if said
        .iter()
        .any(|word| FUTURE.contains(&word.as_str()) || is_negation(word))
    {
        return false;
    }
    let claimed = content(claim);
    let of_claim = format!(" {} ", claim.to_lowercase());
    sentence.split([';', '.']).any(|clause| {
        let lower = format!(" {} ", clause.to_lowercase());
        // "If you plan to cancel, …" states no plan of anybody.
        let is_readers = [" if ", " you ", " who ", " when "];
        let is_planned = PLANS.iter().any(|words| lower.contains(words))
            && !is_readers.iter().any(|words| lower.contains(words));
        let is_later = || {
            let later = LATER
                .iter()
                .any(|words| lower.contains(words) && !of_claim.contains(words));
            let clause = words(clause);
            let mut pairs = clause.windows(3);
            later
                && pairs.any(|three| {
                    matches!(&*three[0], "will" | "shall")
                        && three[1..]
                            .iter()
                            .any(|word| BEGINNINGS.contains(&word.as_str()))
                })
        };
        (is_planned || is_later()) && {
            let told = content(&lower);
            claimed.iter().filter(|word| told.contains(*word)).count() * 2 >= claimed.len()
        }
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
    fn what_has_ended_is_former() {
        let check = |claim: &str, sentence: &str, expected: bool| {
            assert_eq!(is_of_the_past(claim, sentence), expected, "{claim}");
        };
        let berg = "Anna Berg was chief executive from 2010 to 2019.";
        check("Anna Berg is the chief executive.", berg, true);
        check("Who is the chief executive?", berg, true);
        check("Anna Berg was chief executive.", berg, false);
        let board = "Anna Berg was chief executive (2010–2019).";
        check("Anna Berg is the chief executive.", board, true);
        let until = "Until 2021 the service was provided by Axiom.";
        check("The service is provided by Axiom.", until, true);
        let lately = "He said Colin Bray, treasurer of the club until last year";
        check("Colin Bray is the treasurer of the club.", lately, true);
        check("Colin Bray was the treasurer of the club.", lately, false);
        let bar = "The bar is open until last orders.";
        check("The bar is open.", bar, false);
        let hours = "The shop is open from 10 to 19 and has parking.";
        check("The shop is open.", hours, false);
        let trains = "Passenger trains ran until 1990.";
        check("Are there passenger trains?", trains, true);
        check("Passenger trains ran.", trains, false);
        let lamps = "Until 2019 the firm sold lamps.";
        check("The firm sells lamps.", lamps, true);
        check("The firm sold lamps.", lamps, false);
        let mayor = "Before her, Hugh Petrie was mayor for three terms.";
        check("Who is the mayor?", mayor, true);
        check("Who was mayor before her?", mayor, false);
        let herons = "The Ellery Herons won the championship in 1998 and 2015.";
        check("The Ellery Herons have been champions.", herons, false);
        let chapel = "Once a chapel, the building is a museum.";
        check("The building is a museum.", chapel, false);
        let peak = "At its peak the mill employed 300 people.";
        check("The mill employs 300 people.", peak, true);
    }

    #[test]
    fn what_is_planned_is_not_so_yet() {
        let check = |claim: &str, sentence: &str, expected: bool| {
            assert_eq!(is_of_the_future(claim, sentence), expected, "{claim}");
        };
        let trains = "We plan to offer night trains next year.";
        check("Northline offers night trains.", trains, true);
        check("Northline plans to offer night trains.", trains, false);
        let bridge = "The Elm Bridge station will open in 2030.";
        check("Is the Elm Bridge station open?", bridge, true);
        check("The Elm Bridge station opens in 2030.", bridge, false);
        check("The Elm Bridge station will open.", bridge, false);
        let pets = "If you plan to travel with pets, you need a permit.";
        check("Travelling with pets needs a permit.", pets, false);
        let refunds = "Refunds will be paid within 14 days.";
        check("Refunds are paid within 14 days.", refunds, false);
        let team = "The Team plan costs $20 a month.";
        check("The Team plan costs $20 a month.", team, false);
    }
}
