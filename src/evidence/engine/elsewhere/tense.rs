//! Whether a sentence tells by the forms of its verbs of another time than a claim: only of what was, or of what is wanted,
//! planned or was missed. Knows words, no page.

use crate::evidence::reading::text::{is_negation, lower_words};
use crate::evidence::reading::words::{does, known};

/// Past forms that endings do not explain. Those that are the present form too, or seldom a past, are left out.
const PAST_FORMS: [&str; 62] = [
    "was", "were", "had", "began", "became", "came", "went", "saw", "took", "gave", "wrote",
    "spoke", "knew", "grew", "flew", "drew", "threw", "won", "lost", "built", "bought", "brought",
    "thought", "taught", "caught", "fought", "held", "led", "met", "sold", "sent", "spent", "made",
    "kept", "slept", "rose", "fell", "chose", "broke", "stole", "drove", "rode", "sang", "swam",
    "ran", "drank", "ate", "bore", "wore", "hid", "sat", "stood", "paid", "laid", "meant", "dealt",
    "shot", "struck", "sought", "sank", "shrank", "froze",
];
/// Verbs of what somebody says or finds: what a report found, it finds.
const OF_SAYING: &str = "say tell find show report warn argue announce state claim conclude suggest note describe explain call \
                         write confirm recommend believe think see mean add";
/// A claim with one of these may be of the past itself.
const OF_THE_PAST: &str = "was were had did until till former formerly previously before once used ago past originally ended \
                           longer";
/// Before a participle: "has closed", "the required form".
const BEFORE_PARTICIPLE: &str = "have has had is are be been being was were am get gets got having";
const BEFORE_NOUN: &str =
    "a an the any all no some its their your our his her this that these those of with and or";
/// Verbs of the present that many sentences have.
const PRESENT: &str = "is are am has have does do can must may isn't aren't hasn't haven't doesn't don't can't cannot";
/// What is said to be made stays made: "is built of stone" beside "was built of stone".
const MADE: &str = "built made founded established written designed named created published released introduced developed \
                    invented discovered born based signed elected appointed set drawn painted composed";

fn has(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|one| one == word)
}

/// Whether a word is a past form; "-ed" may be a participle too.
pub(super) fn is_past_form(word: &str) -> bool {
    PAST_FORMS.contains(&word) || word.len() > 4 && word.ends_with("ed") && !word.ends_with("eed")
}

/// Whether a sentence has none of the commonest verbs of the present.
pub(super) fn has_no_present(words: &[String]) -> bool {
    !words.iter().any(|word| has(PRESENT, word))
}

/// Whether a claim of the present has a verb that a sentence has only as a past: "The firm sells lamps." beside "The firm
/// sold lamps.", "is the mayor" beside "was mayor".
pub(super) fn is_only_of_the_past(claim: &str, sentence: &str) -> bool {
    let (said, told) = (lower_words(claim), lower_words(sentence));
    let is_year = |word: &String| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
    let is_open = |word: &String| has(OF_THE_PAST, word) || is_negation(word) || is_year(word);
    if said.iter().any(is_open) || !has_no_present(&told) {
        return false;
    }
    has_verb_in_the_past(&said, &told) || is_what_was(&said, &told)
}

fn has_verb_in_the_past(said: &[String], told: &[String]) -> bool {
    let stems: Vec<String> = told.iter().map(|word| known().stem(word)).collect();
    let mut verbs = said
        .iter()
        .skip(1)
        .filter(|word| word.len() > 3 && word.ends_with('s') && !word.ends_with("ss"));
    verbs.any(|verb| {
        let stem = known().stem(verb);
        let of_saying = OF_SAYING
            .split_whitespace()
            .any(|one| known().stem(one) == stem);
        let places: Vec<usize> = (0..told.len()).filter(|at| stems[*at] == stem).collect();
        !of_saying && !places.is_empty() && places.iter().all(|at| is_simple_past(told, *at))
    })
}

/// A past form that stands behind a subject: no participle, and not the first word, as those of lists of changes are.
fn is_simple_past(told: &[String], at: usize) -> bool {
    let before = &told[at.saturating_sub(3)..at];
    is_past_form(&told[at])
        && at > 0
        && !before.iter().any(|word| has(BEFORE_PARTICIPLE, word))
        && !has(BEFORE_NOUN, &told[at - 1])
}

/// "X is the mayor." beside "X was mayor for years."
fn is_what_was(said: &[String], told: &[String]) -> bool {
    const NEAR: usize = 4;
    let Some(at) = said.iter().position(|word| matches!(&**word, "is" | "are")) else {
        return false;
    };
    let is_content = |word: &&String| word.len() > 2 && known().flags(word) & does::STOP == 0;
    let Some(what) = said[at + 1..].iter().take(NEAR).find(is_content) else {
        return false;
    };
    let stem = known().stem(what);
    let mut places = (0..told.len()).filter(|at| matches!(&*told[*at], "was" | "were"));
    !has(MADE, what)
        && places.any(|at| {
            let near = told[at + 1..].iter().take(NEAR);
            near.into_iter().any(|word| known().stem(word) == stem)
        })
}

/// A claim with one of these may itself be of what is to come or ought to be.
const OF_WHAT_IS_TO_COME: &str = "will shall plan plans planned planning aim aims aimed intend intends intended hope hopes hoped \
                                  expected expects expect scheduled due future going target proposed would want wants wanted \
                                  should supposed must need needs meant wish wishes could might may";

/// Whether a claim of what is, or was, has a verb that a sentence has only as wanted, planned or missed: "The lease was
/// renewed." beside "should have been renewed".
pub(super) fn is_yet_to_be(claim: &str, sentence: &str) -> bool {
    let said = lower_words(claim);
    let is_open = |word: &String| has(OF_WHAT_IS_TO_COME, word) || is_negation(word);
    if said.iter().any(is_open) {
        return false;
    }
    let is_done = |at: usize| {
        let before = &said[at.saturating_sub(2)..at];
        is_past_form(&said[at])
            && !before
                .iter()
                .any(|word| matches!(&**word, "is" | "are" | "be"))
    };
    let is_of_now = said
        .iter()
        .any(|word| matches!(&**word, "now" | "already" | "currently" | "today" | "been"))
        || (1..said.len()).any(is_done);
    let does_it = |verb: &String| {
        let stem = known().stem(verb);
        let is_content = verb.len() > 2 && known().flags(verb) & does::STOP == 0;
        let mut places = (1..said.len()).filter(|at| known().stem(&said[*at]) == stem);
        is_content && places.any(|at| said[at - 1] != "to")
    };
    sentence.split([';', '.']).any(|clause| {
        let told = lower_words(clause);
        // "If you want to cancel, …" states no wish of anybody.
        let of_reader = ["if", "you", "who", "when", "whether"];
        let is_readers = told.iter().any(|word| of_reader.contains(&word.as_str()));
        (0..told.len()).any(|at| {
            let next = told.get(at + 1).map_or("", String::as_str);
            let (behind, may_be) = match (told[at].as_str(), next) {
                ("should", "have") => (2, true),
                _ if is_readers => return false,
                ("will", _) if is_of_now => (1, false),
                (
                    "want" | "wants" | "wanted" | "planned" | "hoped" | "wish" | "wishes"
                    | "wished" | "intended",
                    "to",
                ) => (2, true),
                // "Applications are to be sent by post" is a rule.
                ("is" | "are", "to") => (2, false),
                ("was" | "were", "to") => (2, true),
                _ => return false,
            };
            let is_between = |word: &&String| {
                matches!(&***word, "not" | "also" | "soon" | "then")
                    || may_be && matches!(&***word, "be" | "been")
            };
            let mut rest = told[at + behind..].iter().skip_while(is_between);
            rest.next().is_some_and(does_it)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_is_not_so_now() {
        let check = |claim: &str, sentence: &str, expected: bool| {
            assert_eq!(is_only_of_the_past(claim, sentence), expected, "{claim}");
        };
        let leeds = "He played for Leeds from 1990 to 1995.";
        check("He plays for Leeds.", leeds, true);
        check("He played for Leeds.", leeds, false);
        check("He no longer plays for Leeds.", leeds, false);
        let law = "The law required a permit.";
        check("The law requires a permit.", law, true);
        let firm = "Until 2019 the firm sold lamps.";
        check("The firm sells lamps.", firm, true);
        check("The firm sold lamps.", firm, false);
        let mayor = "Before her, Hugh Petrie was mayor for three terms.";
        check("Hugh Petrie is the mayor.", mayor, true);
        check("Hugh Petrie was the mayor.", mayor, false);
        // What is made, said or fixed in a version is still so.
        let hall = "The hall was built of stone.";
        check("The hall is built of stone.", hall, false);
        let study = "The study found no effect on sleep.";
        check("The study finds an effect on sleep.", study, false);
        let fixed = "Fixed a crash at the start.";
        check("Version 9 fixes a crash.", fixed, false);
        let form = "The required form costs nothing.";
        check("The office requires a form.", form, false);
        let stored = "Data is stored in the EU.";
        check("The firm stores data in the EU.", stored, false);
        let bridge = "The bridge was opened in 1950 and measures 40 m.";
        check("The bridge is 40 m long.", bridge, false);
    }

    #[test]
    fn what_is_wanted_is_not_done() {
        let check = |claim: &str, sentence: &str, expected: bool| {
            assert_eq!(is_yet_to_be(claim, sentence), expected, "{claim}");
        };
        let regions = "From spring we will run it in two regions.";
        check("The service now runs in two regions.", regions, true);
        check("The service will run in two regions.", regions, false);
        let cut = "We want to cut emissions by 60%.";
        check("Emissions have been cut by 60%.", cut, true);
        check("The aim is to cut emissions by 60%.", cut, false);
        let lease = "The lease should have been renewed on 1 March, but nobody signed.";
        check("The lease was renewed on 1 March.", lease, true);
        check("The lease was not renewed on 1 March.", lease, false);
        let leave = "She said that Ito had wanted to leave since May.";
        check("Ito is leaving.", leave, true);
        check("Ito wanted to leave.", leave, false);
        // Rules and promises.
        let refunds = "We will refund the price within 14 days.";
        check("The price is refunded within 14 days.", refunds, false);
        let post = "Applications are to be sent by post.";
        check("Applications are sent by post.", post, false);
        let cancel = "If you want to cancel, write to us.";
        check("Customers cancel by writing.", cancel, false);
    }
}
