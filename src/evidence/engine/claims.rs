//! The parts of a compound claim or question, and whether a text asks or claims. Knows words, no page.

use std::borrow::Cow;
use std::ops::Range;

use crate::evidence::CLAIMS_MAX;
use crate::evidence::reading::words::{does, known, number_of_word};

const QUESTION_WORDS: &[&str] = &[
    "who", "whom", "whose", "when", "where", "why", "how", "what", "which", "what's", "who's",
];
/// Verbs that claims about products and events are made with, beside the auxiliary ones.
const VERBS: &[&str] = &[
    "accepts",
    "adds",
    "allows",
    "answers",
    "applies",
    "apply",
    "asks",
    "became",
    "becomes",
    "began",
    "begins",
    "blocks",
    "bought",
    "built",
    "charges",
    "checks",
    "closes",
    "collects",
    "comes",
    "connects",
    "contains",
    "converts",
    "cost",
    "costs",
    "covers",
    "creates",
    "deletes",
    "delivers",
    "drops",
    "employs",
    "encrypts",
    "ended",
    "ends",
    "expires",
    "exports",
    "gets",
    "gives",
    "grew",
    "handles",
    "helps",
    "holds",
    "imports",
    "improves",
    "include",
    "includes",
    "increases",
    "keeps",
    "lasts",
    "left",
    "lets",
    "limits",
    "lists",
    "made",
    "makes",
    "manages",
    "means",
    "measures",
    "needs",
    "offer",
    "offers",
    "opens",
    "operates",
    "owns",
    "pays",
    "prevents",
    "produces",
    "protects",
    "provides",
    "publishes",
    "ran",
    "reads",
    "receives",
    "reduces",
    "removes",
    "renews",
    "replaces",
    "requires",
    "returns",
    "rose",
    "runs",
    "saw",
    "says",
    "sells",
    "sends",
    "sent",
    "serves",
    "shares",
    "ships",
    "shows",
    "sold",
    "starts",
    "stores",
    "supports",
    "takes",
    "tracks",
    "updates",
    "uses",
    "wants",
    "weighs",
    "went",
    "won",
    "works",
    "writes",
    "wrote",
];

/// Whether it asks rather than claims.
pub(crate) fn is_question(text: &str) -> bool {
    let text = text.trim();
    if text.ends_with(['?', '？', '؟']) {
        return true;
    }
    let mut words = text.split_whitespace().map(bare);
    let first = words.next().unwrap_or_default();
    let second = words.next().unwrap_or_default();
    // "Do not store it above 25 °C." is a rule.
    if first == "do" && second == "not" {
        return false;
    }
    QUESTION_WORDS.contains(&first.as_str())
        || (known().flags(&first) & does::PREPOSITION != 0
            && QUESTION_WORDS.contains(&second.as_str()))
        || matches!(
            first.as_str(),
            "is" | "are"
                | "was"
                | "were"
                | "do"
                | "does"
                | "did"
                | "has"
                | "have"
                | "can"
                | "could"
                | "will"
                | "would"
                | "should"
                | "summarise"
                | "summarize"
                | "describe"
                | "explain"
                | "list"
                | "tell"
        )
}

/// "Isn't it free?" is answered as "Is it free?" is.
pub(crate) fn without_asking_back(question: &str) -> Cow<'_, str> {
    const AUXILIARIES: [(&str, &str); 17] = [
        ("isn't", "Is"),
        ("aren't", "Are"),
        ("wasn't", "Was"),
        ("weren't", "Were"),
        ("don't", "Do"),
        ("doesn't", "Does"),
        ("didn't", "Did"),
        ("hasn't", "Has"),
        ("haven't", "Have"),
        ("hadn't", "Had"),
        ("can't", "Can"),
        ("couldn't", "Could"),
        ("won't", "Will"),
        ("wouldn't", "Would"),
        ("shouldn't", "Should"),
        ("mustn't", "Must"),
        ("needn't", "Need"),
    ];
    let text = question.trim_start();
    let Some((first, rest)) = text.split_once(char::is_whitespace) else {
        return Cow::Borrowed(question);
    };
    let first = bare(first);
    let plain = AUXILIARIES.iter().find(|(negated, _)| *negated == first);
    match plain.filter(|_| text.trim_end().ends_with('?')) {
        Some((_, plain)) => Cow::Owned(format!("{plain} {rest}")),
        None => Cow::Borrowed(question),
    }
}

/// What a question for yes or no asks to be so, nearly as a statement: without what begins the question. "Does it cost more?"
/// is "It cost more." The entailment model, which has read more statements, judges that better.
pub(crate) fn as_statement(question: &str) -> String {
    const ASKING: [&str; 3] = [
        "is it true that ",
        "is it correct that ",
        "is it the case that ",
    ];
    let text = question.trim().trim_end_matches(['?', '？', ' ']);
    let lower = text.to_lowercase();
    let rest = match ASKING.iter().find(|begin| lower.starts_with(**begin)) {
        Some(begin) => text.get(begin.len()..).unwrap_or(text),
        None => match text.split_once(char::is_whitespace) {
            Some((first, rest)) if known().flags(&bare(first)) & does::AUXILIARY != 0 => rest,
            _ => text,
        },
    };
    let mut letters = rest.trim_start().chars();
    match letters.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), letters.as_str()),
        None => text.to_owned(),
    }
}

pub(crate) fn bare(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric())
        .to_lowercase()
        .replace('’', "'")
}

pub(crate) fn is_verb(word: &str) -> bool {
    let word = bare(word);
    is_finite(&word) || is_past(&word)
}

fn is_finite(bare: &str) -> bool {
    known().flags(bare) & does::AUXILIARY != 0 || VERBS.contains(&bare)
}

/// A past form, or an adjective that looks like one.
fn is_past(bare: &str) -> bool {
    bare.len() > 4 && bare.ends_with("ed")
}

/// Whether the word at this place is the verb of its clause: no adjective ("failed attempts", "with vaulted ceilings"),
/// and no verb in a relative clause.
fn is_main_verb(words: &[&str], at: usize) -> bool {
    may_be_verb(words, at) && (is_finite(&bare(words[at])) || !stands_before_noun(words, at))
}

/// The same, where a noun behind it may as well be its object: "charged customers".
fn may_be_verb(words: &[&str], at: usize) -> bool {
    let word = bare(words[at]);
    let before = at.checked_sub(1).map(|at| bare(words[at]));
    let before = before.unwrap_or_default();
    if matches!(before.as_str(), "who" | "that" | "which") {
        return false;
    }
    let describes = known().flags(&before) & does::PREPOSITION != 0
        || matches!(
            before.as_str(),
            "a" | "an" | "the" | "every" | "each" | "no" | "with"
        );
    is_finite(&word) || (is_past(&word) && !describes)
}

/// Nothing parts it from a common noun, so that it describes that. Objects of verbs mostly have an article, a number or a
/// capital.
fn stands_before_noun(words: &[&str], at: usize) -> bool {
    let ends = words[at].ends_with([',', ';', ':', '.']);
    let Some(next) = words.get(at + 1).filter(|_| !ends) else {
        return false;
    };
    let is_small = next.starts_with(|c: char| c.is_lowercase());
    let word = bare(next);
    let is_small_word = known().flags(&word)
        & (does::STOP | does::QUESTION | does::PREPOSITION | does::PRONOUN)
        != 0
        || LINKS.contains(&word.as_str());
    is_small && !is_small_word && !word.ends_with("ly") && number_of_word(&word).is_none()
}

/// Small words that no list of stop words has.
const LINKS: &[&str] = &[
    "across",
    "against",
    "along",
    "among",
    "around",
    "back",
    "behind",
    "beyond",
    "despite",
    "every",
    "inside",
    "near",
    "next",
    "onto",
    "outside",
    "per",
    "since",
    "that",
    "today",
    "toward",
    "towards",
    "under",
    "unless",
    "until",
    "upon",
    "via",
    "when",
    "within",
    "without",
    "yesterday",
];

pub(crate) fn is_content(word: &str) -> bool {
    let word = bare(word);
    !word.is_empty() && known().flags(&word) & (does::STOP | does::QUESTION) == 0
}

/// A part of a sentence that says something by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Clause {
    /// Bytes of the text that was split.
    pub(crate) range: Range<usize>,
    /// Its words, behind the subject of the first clause where it has none of its own.
    pub(crate) text: String,
}

/// The claims in a text, each to be read by itself; one if it is simple.
pub(crate) fn parts(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for sentence in crate::evidence::reading::sentences::sentences(text, 0..text.len()) {
        parts.extend(
            clauses(text, sentence)
                .into_iter()
                .map(|clause| clause.text),
        );
    }
    parts.truncate(CLAIMS_MAX);
    parts
}

/// The clauses of a sentence of a text, in order.
pub(crate) fn clauses(text: &str, sentence: Range<usize>) -> Vec<Clause> {
    let mut clauses = Vec::new();
    let mut start = sentence.start;
    for clause in text[sentence].split(';') {
        split(text, start..start + clause.len(), &mut clauses);
        start += clause.len() + 1;
    }
    clauses
}

/// Splits at "and" and "but" where both sides have a verb and something to say.
fn split(text: &str, clause: Range<usize>, clauses: &mut Vec<Clause>) {
    let mut at = clause.start;
    let mut places: Vec<Range<usize>> = Vec::new();
    let mut words: Vec<&str> = Vec::new();
    for word in text[clause].split_whitespace() {
        // Only white space stands before it.
        at += text[at..].find(word).unwrap_or_default();
        places.push(at..at + word.len());
        words.push(word);
        at += word.len();
    }
    if words.is_empty() {
        return;
    }
    let mut subject: Vec<&str> = Vec::new();
    let mut start = 0;
    let mut push = |from: usize, to: usize, subject: &[&str]| {
        let range = places[from].start..places[to - 1].end;
        let trimmed = text[range.clone()].trim_end_matches(',').len();
        clauses.push(Clause {
            range: range.start..range.start + trimmed,
            text: joined(subject, &words[from..to], from == 0),
        });
    };
    for at in 1..words.len() {
        let joins = matches!(words[at], "and" | "but" | "while" | "whereas");
        if !joins || !is_whole(&words[start..at], &subject) {
            continue;
        }
        let rest = &words[at + 1..];
        let next = rest.first().map_or(String::new(), |word| bare(word));
        let asks = QUESTION_WORDS.contains(&next.as_str());
        let has_verb = (0..rest.len().min(5)).any(|at| is_main_verb(rest, at));
        // "Is the show Ink and Empire included?": a name of two words, before a participle or in a question.
        let is_in_a_name = is_capital(words[at - 1])
            && is_capital(words[at + 1..].first().copied().unwrap_or_default());
        let is_participle = !(0..rest.len().min(5)).any(|at| is_finite(&bare(rest[at])));
        let asks_yes = known().flags(&bare(words[0])) & does::AUXILIARY != 0;
        if is_in_a_name && (is_participle || asks_yes) {
            continue;
        }
        let enough =
            rest.iter().filter(|word| is_content(word)).count() >= if asks { 1 } else { 2 };
        if !(enough && (asks || (has_verb && !hangs(rest)))) {
            continue;
        }
        if start == 0 {
            let verb = (0..at).find(|&place| is_main_verb(&words[..at], place));
            let verb = verb.or_else(|| (0..at).find(|&place| may_be_verb(&words, place)));
            let verb = verb.unwrap_or(0);
            subject = words[..verb].to_vec();
        }
        push(start, at, &subject);
        start = at + 1;
    }
    push(start, words.len(), &subject);
}

/// Whether words behind an "and" hang on the verb before it: an infinitive ("and still be free"), or a participle ("while
/// remaining connected").
fn hangs(rest: &[&str]) -> bool {
    let first = bare(rest[0]);
    let verb = (0..rest.len()).find(|&at| is_main_verb(rest, at));
    let is_finite = verb.is_some_and(|at| is_finite(&bare(rest[at])));
    let is_infinitive = verb.is_some_and(|at| {
        let led = at.checked_sub(1).map(|at| bare(rest[at]));
        let is_led = led.is_some_and(|word| known().flags(&word) & does::AUXILIARY != 0);
        bare(rest[at]) == "be" && !is_led
    });
    is_infinitive || (first.len() > 5 && first.ends_with("ing") && !is_finite)
}

fn is_capital(word: &str) -> bool {
    let name = word.trim_start_matches(|c: char| !c.is_alphanumeric());
    name.starts_with(char::is_uppercase) && !word.ends_with(',')
}

fn is_whole(words: &[&str], subject: &[&str]) -> bool {
    let content = words
        .iter()
        .chain(subject)
        .filter(|word| is_content(word))
        .count();
    let asks = words
        .first()
        .is_some_and(|word| QUESTION_WORDS.contains(&bare(word).as_str()));
    content >= 2 && (asks || (0..words.len()).any(|at| may_be_verb(words, at)))
}

/// A part that begins with its verb gets the subject of the first.
fn joined(subject: &[&str], words: &[&str], is_first: bool) -> String {
    let lends = !is_first && words.first().is_some_and(|word| is_verb(word)) && !has_subject(words);
    let subject = if lends { subject } else { &[] };
    let all: Vec<&str> = subject.iter().chain(words).copied().collect();
    all.join(" ").trim_end_matches([',', ' ']).to_owned()
}

/// "can it be cancelled" has its subject behind the verb.
fn has_subject(words: &[&str]) -> bool {
    let second = words.get(1).map(|word| bare(word)).unwrap_or_default();
    matches!(
        second.as_str(),
        "i" | "you" | "he" | "she" | "it" | "we" | "they" | "there" | "this" | "that"
    )
}

#[cfg(test)]
mod tests {
    use crate::evidence::engine::claims::*;

    #[test]
    fn who_asks_back_asks_the_same() {
        let check = |text: &str, expected: &str| assert_eq!(without_asking_back(text), expected);
        check("Isn't it free?", "Is it free?");
        check(
            "Doesn’t the plan have a limit?",
            "Does the plan have a limit?",
        );
        check("Don't open the door.", "Don't open the door.");
        check("Why isn't it free?", "Why isn't it free?");
        check("Can't?", "Can't?");
    }

    #[test]
    fn a_question_for_yes_or_no_is_read_as_a_statement() {
        let check = |text: &str, expected: &str| assert_eq!(as_statement(text), expected);
        check("Does the plan cost more?", "The plan cost more.");
        check("Is it true that dogs are allowed?", "Dogs are allowed.");
        check("Sind Hunde erlaubt?", "Sind Hunde erlaubt.");
        check("Is", "Is.");
    }

    #[test]
    fn compound_claims_fall_into_parts() {
        let check = |text: &str, expected: &[&str]| assert_eq!(parts(text), expected, "{text}");
        check(
            "The Pro plan costs $20 and includes single sign-on.",
            &[
                "The Pro plan costs $20",
                "The Pro plan includes single sign-on.",
            ],
        );
        check(
            "It supports Python and Java.",
            &["It supports Python and Java."],
        );
        check(
            "Apples and oranges are cheap fruits.",
            &["Apples and oranges are cheap fruits."],
        );
        check(
            "Refunds take 30 days; shipping is free worldwide.",
            &["Refunds take 30 days", "shipping is free worldwide."],
        );
        check(
            "What does the plan cost and when does it expire?",
            &["What does the plan cost", "when does it expire?"],
        );
        check(
            "What does the plan cost, and can it be cancelled at any time?",
            &[
                "What does the plan cost",
                "can it be cancelled at any time?",
            ],
        );
    }

    /// "Sudo failed access attempt." once was a part of a claim.
    #[test]
    fn adjectives_and_infinitives_are_no_parts() {
        for text in [
            "Sudo keeps a log of every command and failed access attempt.",
            "The home with vaulted ceilings and a pool is in Tucson.",
            "Anyone can commit a crime and still be eligible for a pension.",
            "It helps you teach a child to sleep while remaining emotionally connected.",
        ] {
            assert_eq!(parts(text), [text]);
        }
        let check = |text: &str, expected: &[&str]| assert_eq!(parts(text), expected, "{text}");
        check(
            "The patients who received dressings were older and had larger wounds.",
            &[
                "The patients who received dressings were older",
                "The patients who received dressings had larger wounds.",
            ],
        );
        check(
            "The firm opened in 1990 and acquired Basalt in 2001.",
            &[
                "The firm opened in 1990",
                "The firm acquired Basalt in 2001.",
            ],
        );
        check(
            "Prices doubled and the plant closed in May.",
            &["Prices doubled", "the plant closed in May."],
        );
        check(
            "Tea was banned and coffee will be banned next.",
            &["Tea was banned", "coffee will be banned next."],
        );
    }

    #[test]
    fn clauses_know_where_they_stand() {
        let text = "Known. The **Pro** plan costs $20, and  includes single sign-on; it is new.";
        let found = clauses(text, 7..text.len());
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|clause| (&text[clause.range.clone()], clause.text.as_str()))
            .collect();
        assert_eq!(
            found,
            [
                ("The **Pro** plan costs $20", "The **Pro** plan costs $20"),
                (
                    "includes single sign-on",
                    "The **Pro** plan includes single sign-on"
                ),
                ("it is new.", "it is new.")
            ]
        );
        assert_eq!(clauses("; ;", 0..3), []);
    }

    #[test]
    fn questions_are_told_from_claims() {
        for text in [
            "Is it free",
            "In which year was it built",
            "what is it",
            "Free?",
        ] {
            assert!(is_question(text), "{text}");
        }
        for text in ["It is free.", "In 1990 it was built", "Refunds are free"] {
            assert!(!is_question(text), "{text}");
        }
    }
}
