//! Whether a sentence excepts what is claimed, or tells of it as less often. Knows words, no page.

use std::collections::BTreeSet;

use crate::evidence::engine::account::quantities::{Kind, Quantity, quantities};
use crate::evidence::engine::account::units::Dimension;
use crate::evidence::reading::text::{content, is_negation, lower_words, negates};

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

/// Whether a claim of all leaves out what a sentence narrows them by: "All first-year students from abroad".
pub(super) fn is_narrowed(claim: &str, sentence: &str) -> bool {
    const ALL: [&str; 4] = ["all", "every", "each", "any"];
    const NARROWS: [&str; 22] = [
        "who", "whose", "that", "which", "from", "with", "without", "under", "over", "aged",
        "older", "younger", "born", "living", "for", "except", "outside", "within", "below",
        "above", "named", "bought",
    ];
    /// The first words of a modifier tell by what it narrows.
    const MODIFIER_WORDS: usize = 4;
    let words = |text: &str| -> Vec<String> {
        // A comma ends what narrows: "All members, who …".
        let text = text.to_lowercase().replace([',', ';', '('], " , ");
        let words = text.split(|c: char| !c.is_alphanumeric() && c != ',');
        let words = words.filter(|word| !word.is_empty());
        words.map(str::to_owned).collect()
    };
    let (claimed, said, known) = (words(claim), words(sentence), content(claim));
    let is_all = |word: &String| ALL.contains(&word.as_str());
    let Some(all) = claimed.iter().position(is_all) else {
        return false;
    };
    let noun_phrase = &claimed[all + 1..];
    let mut places = (0..said.len()).filter(|at| is_all(&said[*at]));
    places.any(|at| {
        let same = said[at + 1..].iter().zip(noun_phrase);
        let same = same.take_while(|(one, other)| one == other).count();
        let modifier = said[at + 1 + same..].iter().take(MODIFIER_WORDS);
        let modifier: Vec<&str> = modifier
            .map(String::as_str)
            .take_while(|word| *word != ",")
            .collect();
        let narrows = modifier.first().is_some_and(|word| NARROWS.contains(word));
        same > 0 && narrows && !content(&modifier.join(" ")).is_subset(&known)
    })
}

/// Whether a claim of all, or of always, leaves out a condition that a sentence has: "All models have a camera." beside
/// "camera on Pro models only".
pub(super) fn is_under_a_condition(claim: &str, sentence: &str) -> bool {
    const ALL: [&str; 6] = ["all", "every", "any", "always", "never", "whole"];
    const UNDER: [&str; 8] = [
        "if",
        "unless",
        "only",
        "other",
        "others",
        "otherwise",
        "except",
        "whose",
    ];
    let said = lower_words(claim);
    let has = |words: &[String], list: &[&str]| words.iter().any(|word| list.contains(&&**word));
    if !has(&said, &ALL) || has(&said, &UNDER) || follows_from_exception(claim, sentence) {
        return false;
    }
    let mut claimed = content(claim);
    claimed.retain(|word| !ALL.contains(&&**word));
    // A condition on something else is none on this.
    sentence
        .split([';', '.', '—'])
        .any(|clause| has(&lower_words(clause), &UNDER) && !content(clause).is_disjoint(&claimed))
}

/// Whether a claim leaves out the condition under which a sentence says it: "You get a discount." beside "If you pay by card,
/// you get a discount."
pub(super) fn is_without_its_condition(claim: &str, sentence: &str) -> bool {
    const CONDITIONS: [&str; 4] = ["if", "unless", "provided", "whenever"];
    /// Before "if" they make a question or a comparison of it.
    const ASKS: [&str; 19] = [
        "as", "ask", "asked", "asking", "asks", "check", "checks", "doubt", "even", "find", "know",
        "knows", "only", "see", "sure", "tell", "tells", "wonder", "what",
    ];
    let said = lower_words(claim);
    let leads = |word: &String| {
        CONDITIONS.contains(&&**word) || matches!(&**word, "when" | "only" | "with" | "without")
    };
    if said.iter().any(leads) {
        return false;
    }
    let claimed = content(claim);
    let told = sentence.to_lowercase();
    CONDITIONS.iter().any(|word| {
        let mut places = told.match_indices(word);
        let Some((at, _)) = places.find(|(at, word)| is_whole_word(&told, *at, word.len())) else {
            return false;
        };
        let before = lower_words(&told[..at]);
        let is_asked = before.last().is_some_and(|word| ASKS.contains(&&**word));
        let behind = &told[at + word.len()..];
        // "If" first: the condition ends at a comma. Else it goes on to the end of the clause.
        let end = behind.find([',', ';', '.', ')']).unwrap_or(behind.len());
        let condition = content(&behind[..end]);
        let rest = content(&format!("{} {}", &told[..at], &behind[end..]));
        let is_open = condition.iter().any(|word| !claimed.contains(word));
        // What is claimed is what is said under the condition, and nothing of the condition itself.
        let is_said = claimed.intersection(&rest).count() * 2 > claimed.len();
        !is_asked && is_open && is_said && condition.is_disjoint(&claimed)
    })
}

fn is_whole_word(text: &str, at: usize, length: usize) -> bool {
    let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    !is_letter(text[..at].chars().next_back()) && !is_letter(text[at + length..].chars().next())
}

/// Whether a claim of things of a kind leaves out what a sentence narrows them by: "Users get support." beside "Users who pay
/// get support."
pub(super) fn is_of_some(claim: &str, sentence: &str) -> bool {
    const NARROW: [&str; 3] = ["who", "whose", "that"];
    let (said, claimed) = (lower_words(sentence), lower_words(claim));
    let known = content(claim);
    said.windows(3).enumerate().any(|(at, words)| {
        let [noun, narrows, next] = words else {
            return false;
        };
        let is_many =
            noun.len() > 3 && noun.ends_with('s') || matches!(&**noun, "people" | "children");
        let before = at.checked_sub(1).map(|at| &*said[at]);
        let own = claimed.iter().position(|word| word == noun);
        let goes_on = |own: usize| {
            let next = claimed.get(own + 1).map_or("", String::as_str);
            !NARROW.contains(&next) && !matches!(next, "with" | "from" | "in" | "of" | "without")
        };
        let is_kind = |own: usize| own == 0 || matches!(&*claimed[own - 1], "all" | "any");
        let is_set_off = sentence
            .to_lowercase()
            .contains(&format!("{noun}, {narrows}"));
        is_many
            && NARROW.contains(&&**narrows)
            && !matches!(before, Some("the" | "these" | "those"))
            && own.is_some_and(|own| goes_on(own) && is_kind(own))
            && !is_set_off
            && !content(next).is_subset(&known)
    })
}

/// Whether a claim of what costs nothing stands beside a price: "included at no extra cost" beside "Add-on, $4 per user".
pub(super) fn is_priced(claim: &str, sentence: &str) -> bool {
    const COSTS: [&str; 6] = ["cost", "costs", "charge", "charges", "fee", "fees"];
    let (said, told) = (lower_words(claim), lower_words(sentence));
    let denies_costs = |words: &[String]| {
        words.iter().enumerate().any(|(at, word)| {
            let next = words[at + 1..].iter().take(2);
            word == "free"
                || matches!(&**word, "no" | "without" | "any")
                    && next.into_iter().any(|next| COSTS.contains(&&**next))
        })
    };
    let is_price = |one: &Quantity| {
        matches!(one.kind, Kind::Measured(Dimension::Money(_))) && one.written > 0.0
    };
    let says_so = |word: &String| matches!(&**word, "included" | "includes" | "waived" | "nothing");
    denies_costs(&said)
        && !quantities(claim).iter().any(is_price)
        && !denies_costs(&told)
        && !told.iter().any(|word| says_so(word) || is_negation(word))
        && quantities(sentence).iter().any(is_price)
}

/// Whether a claim says to be included what a sentence sells apart: "comes in the box" beside "is sold separately".
pub(super) fn is_sold_apart(claim: &str, sentence: &str) -> bool {
    const APART: [&str; 5] = [
        "sold separately",
        "available separately",
        "ordered separately",
        "bought separately",
        "optional extra",
    ];
    const INCLUDED: [&str; 9] = [
        "includ",
        "comes with",
        "come with",
        "comes in",
        "come in",
        "in the box",
        "supplied with",
        "ships with",
        "delivered with",
    ];
    let (said, told) = (claim.to_lowercase(), sentence.to_lowercase());
    if !INCLUDED.iter().any(|words| said.contains(words)) || negates(claim) {
        return false;
    }
    let mut claimed = content(claim);
    claimed.retain(|word| !INCLUDED.iter().any(|words| words.contains(word.as_str())));
    let is_apart =
        |clause: &&str| APART.iter().any(|words| clause.contains(words)) && !negates(clause);
    let clauses = || {
        told.split([';', ',', '.'])
            .flat_map(|clause| clause.split(" but "))
    };
    let shared = |clause: &str| content(clause).intersection(&claimed).count();
    let apart = clauses().filter(is_apart).map(shared).max().unwrap_or(0);
    let others = clauses().filter(|clause| !is_apart(clause)).map(shared);
    apart > others.max().unwrap_or(0)
}

/// Whether a claim names what a sentence is "unlike", or does "instead of": "Unlike in 2019, when we recalled the iron by order,
/// this recall is voluntary.", "if you build from Git instead of a released package".
pub(super) fn is_unlike(claim: &str, sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let claimed_lower = claim.to_lowercase();
    let claimed = content(claim);
    let has = |side: &BTreeSet<String>, not: &BTreeSet<String>| {
        side.difference(not)
            .filter(|word| claimed.contains(*word))
            .count()
    };
    let is_of_other = |other: &str, own: &str| {
        let (other, own) = (content(other), content(own));
        !negates(claim) && has(&other, &own) >= 2 && has(&own, &other) >= 1
    };
    let unlike = lower.split_once("unlike ").is_some_and(|(before, after)| {
        // The sentence itself stands behind the last comma.
        match before.trim().is_empty() {
            true => after
                .rsplit_once(',')
                .is_some_and(|(other, own)| is_of_other(other, own)),
            false => is_of_other(after, before),
        }
    });
    let instead = [" instead of ", " rather than "].iter().any(|words| {
        let sides = lower
            .split_once(words)
            .filter(|_| !claimed_lower.contains(words));
        sides.is_some_and(|(before, after)| {
            let end = after.find([',', ';', ':', '.', ')']).unwrap_or(after.len());
            let place = before.rfind([',', ';', ':', '(']).map_or(0, |at| at + 1);
            let (other, own) = (content(&after[..end]), content(&before[place..]));
            let named = other.difference(&own).count();
            named > 0 && has(&other, &own) == named && !is_all_of(&own, &other, &claimed)
        })
    });
    unlike || instead
}

/// Whether a claim names all that one side says of its own.
fn is_all_of(side: &BTreeSet<String>, not: &BTreeSet<String>, claimed: &BTreeSet<String>) -> bool {
    side.difference(not).all(|word| claimed.contains(word))
}

/// Signs of an exception.
const EXCEPT: [&str; 19] = [
    " except for ",
    " except on ",
    " except ",
    " excluding ",
    " apart from ",
    " other than ",
    " with the exception of ",
    " but not ",
    " hormis ",
    " sauf ",
    " außer ",
    " ausgenommen ",
    " mit ausnahme von ",
    " salvo ",
    " excepto ",
    " tranne ",
    " eccetto ",
    " behalve ",
    " uitgezonderd ",
];

/// Whether a claim says of an exception what follows from it: "not on Fridays" beside "daily except Fridays", "only X may"
/// beside "nobody may, except X".
pub(crate) fn follows_from_exception(claim: &str, sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let said = claim.to_lowercase();
    let claimed = content(claim);
    EXCEPT.iter().any(|except| {
        let Some((before, after)) = lower.split_once(except) else {
            return false;
        };
        // Two negations of a claim are not told apart here.
        let denies = said.split(" only ").all(negates);
        if negates(before) == denies || except == &" but not " {
            return false;
        }
        // The head of what is excepted: "the goats in the children's farm".
        let end = after
            .find([',', ';', '.', ')', ':', '('])
            .unwrap_or(after.len());
        let head = &after[..end];
        let parts = [
            " in ", " of ", " with ", " for ", " at ", " from ", " who ", " that ",
        ];
        let head = parts
            .iter()
            .fold(head, |head, part| head.split(part).next().unwrap_or(head));
        let head: BTreeSet<String> = content(head);
        let named = head.iter().filter(|word| claimed.contains(*word)).count();
        let (rule, of_exception) = (content(before), content(&after[end..]));
        let others = claimed.difference(&head).filter(|word| !is_negation(word));
        let others: Vec<&String> = others.collect();
        let known = others.iter().filter(|word| rule.contains(**word)).count();
        // What goes on about the exception counts where next to nothing of the claim is left.
        let told = others
            .iter()
            .filter(|word| rule.contains(**word) || of_exception.contains(**word));
        let told = told.count();
        let is_told = told >= 2 && told + 1 >= others.len();
        !head.is_empty() && named * 2 > head.len() && (known * 2 >= others.len() || is_told)
    })
}

/// Whether a sentence excepts what a claim names: "All tickets but group tickets, …".
pub(super) fn is_excepted(claim: &str, sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let said = claim.to_lowercase();
    let mut words = said.split(|c: char| !c.is_alphanumeric());
    if words
        .any(|word| is_negation(word) || matches!(word, "only" | "other" | "apart" | "excluding"))
    {
        return false;
    }
    let claimed = content(claim);
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
    fn a_condition_is_a_part_of_what_is_said() {
        for (claim, sentence, expected) in [
            (
                "You get a discount.",
                "If you pay by card, you get a discount.",
                true,
            ),
            (
                "You get a discount.",
                "You get a discount if you pay by card.",
                true,
            ),
            (
                "The match takes place on Friday.",
                "Unless it rains, the match takes place on Friday.",
                true,
            ),
            (
                "You get a discount if you pay by card.",
                "If you pay by card, you get a discount.",
                false,
            ),
            (
                "Card payments get a discount.",
                "If you pay by card, you get a discount.",
                false,
            ),
            (
                "He asked if it was open.",
                "He asked if it was open.",
                false,
            ),
        ] {
            assert_eq!(
                is_without_its_condition(claim, sentence),
                expected,
                "{claim} / {sentence}"
            );
        }
        let paying = "Users who pay get support.";
        assert!(is_of_some("Users get support.", paying));
        assert!(!is_of_some("Users who pay get support.", paying));
        assert!(!is_of_some("Paying users get support.", paying));
        assert!(!is_of_some(
            "Users get support.",
            "Users, who pay for it, get support."
        ));
        let git = "Run it if you build from Git instead of a released package.";
        assert!(is_unlike(
            "Run it if you build from a released package.",
            git
        ));
        assert!(!is_unlike("Run it if you build from Git.", git));
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
    fn what_is_sold_apart_is_not_included() {
        let kit = "A descaling kit is sold separately (£7.50).";
        assert!(is_sold_apart("A descaling kit comes in the box.", kit));
        assert!(is_sold_apart("Is a descaling kit included?", kit));
        assert!(!is_sold_apart("No descaling kit is included.", kit));
        assert!(!is_sold_apart("A descaling kit costs £7.50.", kit));
        let lamp = "The bulb is included; the shade is sold separately.";
        assert!(!is_sold_apart("The bulb is included.", lamp));
        assert!(is_sold_apart("The shade is included.", lamp));
        let case = "The case is included, not sold separately.";
        assert!(!is_sold_apart("The case is included.", case));
    }

    #[test]
    fn other_languages_except_too() {
        let musee = "Le musée est ouvert tous les jours sauf le mardi.";
        assert!(is_excepted("Le musée est ouvert le mardi.", musee));
        assert!(!is_excepted("Le musée est ouvert le lundi.", musee));
        let bad = "Das Bad ist täglich geöffnet, außer montags.";
        assert!(is_excepted("Das Bad ist montags geöffnet.", bad));
        assert!(!is_excepted("Das Bad ist sonntags geöffnet.", bad));
    }

    #[test]
    fn all_under_a_condition_are_not_all() {
        let check = |claim: &str, sentence: &str, expected: bool| {
            assert_eq!(is_under_a_condition(claim, sentence), expected, "{claim}");
        };
        let camera = "Fingerprint reader on all models; infrared camera on Pro models only";
        check("All models have an infrared camera.", camera, true);
        check("Pro models have an infrared camera.", camera, false);
        let refund = "If you cancel within the first 14 days, you get a full refund.";
        check(
            "It can be cancelled at any time with a full refund.",
            refund,
            true,
        );
        check("Cancelled within 14 days, it is refunded.", refund, false);
        let years = "The term is five years for offices, otherwise 2 years.";
        check("The term is always five years.", years, true);
        // A condition on something else, and one that the claim has.
        let daily = "The museum is open every day; the café only at weekends.";
        check("The museum is open every day.", daily, false);
        check(
            "All members may vote only if they paid.",
            "All members may vote if they paid.",
            false,
        );
    }

    #[test]
    fn what_an_exception_says_follows_from_it() {
        let check = |claim: &str, sentence: &str, expected: bool| {
            assert_eq!(follows_from_exception(claim, sentence), expected, "{claim}");
        };
        let lions = "Sea lions are fed daily except on Fridays at 14:00";
        check("Sea lions aren't fed on Fridays.", lions, true);
        check("Sea lions are fed on Fridays.", lions, false);
        check("Sea lions aren't fed on Mondays.", lions, false);
        let goats = "Visitors may not feed the animals, except the goats in the farm.";
        check(
            "Goats are the only animals that visitors may feed.",
            goats,
            true,
        );
        check("Visitors may feed the goats.", goats, true);
        check("Visitors may not feed the goats.", goats, false);
        let spring =
            "There is no entry in spring, apart from Nursing, which also starts in February.";
        check(
            "Nursing is the only programme that starts in February.",
            spring,
            true,
        );
    }

    #[test]
    fn some_of_all_are_not_all() {
        let rooms = "It guarantees a room to all first-year students from abroad; others wait.";
        assert!(is_narrowed(
            "All first-year students are guaranteed a room.",
            rooms
        ));
        assert!(!is_narrowed(
            "All first-year students from abroad get a room.",
            rooms
        ));
        assert!(!is_narrowed("First-year students get a room.", rooms));
        let plans = "All plans include email.";
        assert!(!is_narrowed("All plans come with email.", plans));
    }

    #[test]
    fn what_has_a_price_is_not_free() {
        let check = |claim: &str, sentence: &str, expected: bool| {
            assert_eq!(is_priced(claim, sentence), expected, "{claim}");
        };
        let add_on = "Feature: Call recording; Pro: Add-on, $4 per user";
        check("Call recording is included at no extra cost.", add_on, true);
        check("Call recording costs $4 per user.", add_on, false);
        let delivery = "Delivery is free for orders of £50 or more.";
        check("Delivery of such an order is free.", delivery, false);
        check(
            "The wifi is free.",
            "The wifi is included in the £9 ticket.",
            false,
        );
    }

    #[test]
    fn what_something_is_unlike_is_not_meant() {
        let recall =
            "Unlike in 2019, when we recalled the iron by order, this recall is voluntary.";
        assert!(is_unlike(
            "The recall of the iron in 2019 was voluntary.",
            recall
        ));
        assert!(!is_unlike("This recall is voluntary.", recall));
        assert!(!is_unlike(
            "This recall is not like the one of the iron in 2019.",
            recall
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
