//! Whether a sentence takes back, doubts or limits what it says. Knows words, no page.

use crate::evidence::reading::text::{is_negation, lower_words};
use crate::evidence::reading::words::{does, known};

/// Words that only say that it may be so; "May" is mostly a month.
const HEDGES: &[&str] = &[
    "may",
    "might",
    "could",
    "possibly",
    "perhaps",
    "reportedly",
    "allegedly",
    "rumoured",
    "rumored",
    "rumours",
    "rumors",
    "unconfirmed",
    "supposedly",
    "apparently",
    "presumably",
];

/// What is only planned or thought. A claim that says so itself is none of the present.
const PLANS: &[&str] = &[
    "planned",
    "proposed",
    "suspected",
    "intends",
    "intended",
    "hopes",
    "aims",
];

/// Whether a text says of what is asked, in these terms, only that it may be so: such a word stands in a clause with half of
/// the terms that the text has, and not beside it.
pub(crate) fn is_hedged(text: &str, terms: &[(String, bool)]) -> bool {
    let stem = |word: &str| known().stem(&word.to_lowercase());
    let terms: Vec<String> = terms.iter().map(|(written, _)| stem(written)).collect();
    let words = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let is_asked = |word: &String| terms.contains(&stem(word));
    let all = words(text);
    let plans: &[&str] = match terms
        .iter()
        .any(|term| PLANS.iter().any(|word| *term == stem(word)))
    {
        true => &[],
        false => PLANS,
    };
    let hedges = |word: &String| HEDGES.contains(&word.as_str()) || plans.contains(&word.as_str());
    let guesses: Vec<&String> = all.iter().filter(|word| hedges(word)).collect();
    let is_permission = guesses.iter().all(|word| *word == "may") && permits(&all);
    if guesses.is_empty() || is_permission {
        return false;
    }
    let asked = all.iter().filter(|word| is_asked(word)).count();
    clauses(text).into_iter().any(|clause| {
        let clause = words(clause);
        clause.iter().any(hedges)
            && clause.iter().filter(|word| is_asked(word)).count() * 2 >= asked
    })
}

/// Whether a claim says itself only what can or may be.
pub(crate) fn is_of_what_can_be(claim: &str) -> bool {
    const CAN: [&str; 6] = ["can", "could", "may", "might", "possible", "allowed"];
    let words = lower_words(claim);
    words.iter().any(|word| CAN.contains(&word.as_str()))
}

/// Whether a sentence says by each "may" what may be done: "Items may be returned". That establishes that they can be.
pub(crate) fn says_what_may_be_done(text: &str) -> bool {
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    let hedges = |word: &String| HEDGES.contains(&word.as_str());
    let is_participle = |word: &String| word.ends_with("ed") || known().is_irregular(word);
    let is_done = |at: usize| {
        let behind = &words[at + 1..];
        let behind = behind
            .strip_prefix(&["only".to_owned()][..])
            .unwrap_or(behind);
        words[at] == "may" && matches!(behind, [be, next, ..] if be == "be" && is_participle(next))
    };
    let mut guesses = (0..words.len()).filter(|at| hedges(&words[*at])).peekable();
    guesses.peek().is_some() && guesses.all(is_done)
}

/// Whether the "may" of a sentence allows or forbids, where others guess: "Members may bring a guest", "No bag may weigh more
/// than 32 kg", "You may cancel". Of one person or company, or before a verb of what happens, it guesses.
fn permits(words: &[String]) -> bool {
    const HAPPENS: &str = "be have cause occur become lead result rise fall increase decrease contain include affect change \
                           vary differ happen appear seem take require need lose fail see feel experience soon well \
                           eventually delay reduce improve suffer develop expect notice find raise continue remain get go \
                           come make start begin end stop move drop exceed reach last run show work count depend hurt harm \
                           damage break block slow crash trigger produce create cost grow shrink slip spread follow return";
    let low: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let places: Vec<usize> = (0..low.len()).filter(|at| low[*at] == "may").collect();
    !places.is_empty()
        && places.into_iter().all(|at| {
            let subject = &low[..at];
            let is_denied = subject.iter().rev().take(5).any(|word| word == "no");
            let last = subject.last().map_or("", String::as_str);
            let is_many = last.ends_with('s') && last.len() > 3 && !matches!(last, "this" | "also");
            let is_anybody = matches!(
                last,
                "you" | "anyone" | "everyone" | "everybody" | "they" | "who"
            );
            let is_told = is_many && !subject.iter().rev().take(3).any(|word| word == "the");
            let skipped = ["not", "only", "also", "then", "each"];
            let mut next = low[at + 1..].iter().map(String::as_str);
            let verb = next
                .find(|word| !skipped.contains(word))
                .unwrap_or_default();
            is_denied || (is_anybody || is_told) && HAPPENS.split(' ').all(|word| word != verb)
        })
}

/// Parts of a sentence that say something of their own.
fn clauses(text: &str) -> Vec<&str> {
    let mut clauses = vec![];
    let mut start = 0;
    for (at, sign) in text.match_indices([',', ';', ':', '(', ')', ' ']) {
        let rest = &text[at + sign.len()..];
        let word = rest.split(|c: char| !c.is_alphanumeric()).next();
        if sign != " "
            || matches!(
                word,
                Some("which" | "who" | "whom" | "whose" | "while" | "but")
            )
        {
            clauses.push(&text[start..at]);
            start = at;
        }
    }
    clauses.push(&text[start..]);
    clauses
}

/// Whether a sentence tells what an earlier version of its page said, which the page has corrected since.
pub(crate) fn is_withdrawn(text: &str) -> bool {
    const VERSIONS: &[&str] = &[
        "earlier version",
        "previous version",
        "original version",
        "first version",
    ];
    const SAID: &[&str] = &[
        "gave",
        "said",
        "stated",
        "misstated",
        "reported",
        "listed",
        "described",
        "put",
    ];
    const WRONGLY: &[&str] = &[
        "misstated",
        "misspelled",
        "misspelt",
        "misidentified",
        "misattributed",
        "misquoted",
        "misreported",
        "incorrectly",
        "wrongly",
        "mistakenly",
        "erroneously",
    ];
    const TOLD: &[&str] = &[
        "article", "story", "report", "piece", "page", "post", "version", "caption", "headline",
        "we",
    ];
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).collect();
    let place = |list: &[&str]| words.iter().position(|word| list.contains(word));
    // "The article also misstated the name", "We wrongly reported".
    if let (Some(told), Some(wrongly)) = (place(TOLD), place(WRONGLY))
        && told < wrongly
        && wrongly - told <= 4
        && (words[wrongly].starts_with("mis") && words[wrongly] != "mistakenly"
            || place(SAID).is_some())
    {
        return true;
    }
    let after = VERSIONS
        .iter()
        .find_map(|version| lower.split_once(version));
    after.is_some_and(|(_, rest)| {
        let mut words = rest.split(|c: char| !c.is_alphanumeric());
        words.any(|word| SAID.contains(&word))
    })
}

/// Whether the lead-in of a list denies or forbids what its items say: "Do not take it if you:".
pub(crate) fn denies_what_follows(lead_in: &str) -> bool {
    // A longer one would take the place of what follows.
    const BYTES_MAX: usize = 300;
    // One without a colon ends as no sentence does.
    const BARE_BYTES_MAX: usize = 100;
    let text = lead_in.trim_end();
    let is_bare =
        text.len() <= BARE_BYTES_MAX && text.ends_with(|c: char| c.is_alphanumeric() || c == '*');
    let is_lead_in = text.len() <= BYTES_MAX && (is_bare || text.ends_with([':', '：', '…']));
    let denies = |word: &String| is_negation(word) || word == "avoid";
    is_lead_in && lower_words(lead_in).iter().any(denies)
}

/// Whether a heading denies or forbids what stands under it: "Do not take it", "Not included", "What you cannot bring".
pub(crate) fn denies_as_heading(heading: &str) -> bool {
    const WORDS_MAX: usize = 8;
    const BEGINNING: usize = 4;
    let lower = heading.to_lowercase().replace('’', "'");
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty())
        .collect();
    let first = words.first().copied().unwrap_or_default();
    let denies = |word: &&str| {
        matches!(
            *word,
            "not" | "never" | "cannot" | "avoid" | "nicht" | "kein" | "keine" | "nunca"
        ) || word.ends_with("n't")
    };
    let asks = matches!(
        first,
        "why" | "if" | "is" | "are" | "does" | "do" | "can" | "has"
    );
    words.len() <= WORDS_MAX
        && (!asks || lower.starts_with("do not "))
        && (words.iter().take(BEGINNING).any(denies)
            || matches!(
                first,
                "exclusions" | "excluded" | "prohibited" | "forbidden" | "unsupported"
            ))
}

/// Whether a sentence says that something is open: "It is not known whether it passes into milk."
pub(crate) fn is_left_open(text: &str) -> bool {
    const OPEN: [&str; 17] = [
        "an open mind",
        "not known whether",
        "not known if",
        "not clear whether",
        "not clear if",
        "not yet clear",
        "not yet known",
        "unknown whether",
        "unknown if",
        "unclear whether",
        "unclear if",
        "remains to be seen",
        "remains unclear",
        "too early to say",
        "not been decided whether",
        "undecided whether",
        "not certain whether",
    ];
    let lower = text.to_lowercase();
    OPEN.iter().any(|words| lower.contains(words))
}

/// Whether a claim itself says that something is open: "It is unknown …", "It has not been decided …".
pub(crate) fn says_what_is_open(claim: &str) -> bool {
    const OPEN: [&str; 5] = ["whether", "unknown", "unclear", "undecided", "uncertain"];
    const SETTLED: [&str; 6] = ["known", "knows", "clear", "decided", "certain", "early"];
    let words = lower_words(claim);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let denies = |word: &String| is_negation(word) || word == "too";
    has(&OPEN) || has(&SETTLED) && words.iter().any(denies)
}

/// Whether a sentence says that something is not so, or that somebody denies it: "The firm denies that it sold data", "It is a
/// myth that …". A claim that does not say so itself says something else.
pub(crate) fn is_told_as_false(claim: &str, sentence: &str) -> bool {
    const FALSE: [&str; 22] = [
        "denied that",
        "denied having",
        "denies having",
        "denies that",
        "deny that",
        "false that",
        "(false)",
        "myth",
        "misconception",
        "not true that",
        "untrue that",
        "wrong that",
        "refuted",
        "debunked",
        "disproved",
        "disproven",
        "been retracted",
        "falsely claim",
        "falsely told",
        "falsely said",
        "misled into believing",
        "hoax",
    ];
    let (claim, sentence) = (claim.to_lowercase(), sentence.to_lowercase());
    let is_there = |words: &&str| sentence.contains(words) && !claim.contains(words);
    let says_so = lower_words(&claim).iter().any(|word| {
        is_negation(word)
            || matches!(
                &**word,
                "denied" | "denies" | "deny" | "false" | "falsely" | "myth" | "wrong" | "untrue"
            )
    });
    !says_so && FALSE.iter().any(is_there)
}

/// Whether a claim says of itself that it may be so. "May" inside a sentence is a month or a name.
pub(crate) fn hedges(claim: &str) -> bool {
    let words = claim.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty()).enumerate();
    words
        .filter(|(at, word)| *at == 0 || *word != "May")
        .any(|(_, word)| known().flags(&word.to_lowercase()) & does::HEDGE != 0)
}

/// Words that make a statement depend on something.
pub(crate) fn is_conditional(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "if",
        "unless",
        "except",
        "provided",
        "depending",
        "depends",
        "excluding",
        "otherwise",
    ];
    let lower = text.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    words.any(|word| WORDS.contains(&word))
        || ["subject to", "only when", "as long as", "in case"]
            .iter()
            .any(|words| lower.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_allowed_is_no_guess() {
        let check = |text: &str, expected: bool| {
            let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            assert_eq!(permits(&words), expected, "{text}");
        };
        check("Business workspaces may set any value", true);
        check("No single bag may weigh more than 32 kg", true);
        check("You may not bring food", true);
        check("The company may sell its stake", false);
        check("The airlines may cancel flights", false);
        check("Prices may rise", false);
        check("Sales may continue to fall", false);
        check("Patients may experience pain", false);
        check("No date is set", false);
    }

    #[test]
    fn what_may_be_done_can_be() {
        assert!(says_what_may_be_done(
            "Items may be returned within 45 days."
        ));
        assert!(says_what_may_be_done("Bikes may only be taken off-peak."));
        assert!(!says_what_may_be_done("Items may be faulty."));
        assert!(!says_what_may_be_done(
            "Items may be returned and could be lost."
        ));
        assert!(!says_what_may_be_done("Open in May."));
        assert!(is_of_what_can_be("Can I return it?"));
        assert!(!is_of_what_can_be("Items are returned."));
    }

    #[test]
    fn what_somebody_denies_is_not_said() {
        let sold = "The firm sold user data.";
        assert!(is_told_as_false(
            sold,
            "The firm denies that it sold user data."
        ));
        assert!(is_told_as_false(sold, "The firm sold user data (false)."));
        assert!(!is_told_as_false(
            "The firm denies selling user data.",
            "The firm denies that it sold user data."
        ));
        assert!(!is_told_as_false(sold, "The firm sold user data."));
        assert!(hedges("The firm may cut jobs."));
        assert!(!hedges("The firm cut jobs in May."));
    }

    #[test]
    fn a_correction_withdraws() {
        for (text, expected) in [
            ("An earlier version of this article said 4,000.", true),
            (
                "The article also misstated the name of the head of transport as Priya Arnold.",
                true,
            ),
            ("In March we wrongly reported that it had closed.", true),
            (
                "A report said that some parcels were wrongly delivered.",
                false,
            ),
            ("Wrongly parked cars are towed, as this page said.", false),
        ] {
            assert_eq!(is_withdrawn(text), expected, "{text}");
        }
    }

    #[test]
    fn a_lead_in_may_deny_its_items() {
        assert!(denies_what_follows("Do not take it if you:"));
        assert!(denies_what_follows("You can’t bring:"));
        assert!(denies_what_follows("Do not take Rinelast"));
        assert!(denies_what_follows("**Do not take Rinelast**"));
        assert!(!denies_what_follows("You may bring:"));
        assert!(!denies_what_follows("You may bring"));
        assert!(!denies_what_follows("You may not bring food."));
    }

    #[test]
    fn a_heading_may_deny_what_stands_under_it() {
        for (heading, expected) in [
            ("Do not take Tirodan", true),
            ("Not included", true),
            ("What you can’t bring", true),
            ("When not to use it", true),
            ("Exclusions", true),
            ("Why not try it?", false),
            ("Do I need a permit?", false),
            ("What is included", false),
            (
                "The reason why the company has not paid its suppliers so far",
                false,
            ),
        ] {
            assert_eq!(denies_as_heading(heading), expected, "{heading}");
        }
    }

    #[test]
    fn a_claim_may_be_of_what_is_open() {
        assert!(says_what_is_open("It is unknown if it passes into milk."));
        assert!(says_what_is_open("It isn't known if it passes into milk."));
        assert!(says_what_is_open("It is too early to say."));
        assert!(!says_what_is_open("It is known to pass into milk."));
        assert!(!says_what_is_open("It passes into clear milk early."));
    }
}
