//! The parts of a compound claim or question, and whether a text asks or claims. Knows words, no page.

use std::ops::Range;

use crate::evidence::CLAIMS_MAX;
use crate::evidence::reading::words::{does, known};

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

pub(crate) fn bare(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric())
        .to_lowercase()
        .replace('’', "'")
}

pub(crate) fn is_verb(word: &str) -> bool {
    let word = bare(word);
    known().flags(&word) & does::AUXILIARY != 0
        || VERBS.contains(&word.as_str())
        || (word.len() > 4 && word.ends_with("ed"))
}

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
        let has_verb = rest.iter().take(5).position(|word| is_verb(word));
        let enough =
            rest.iter().filter(|word| is_content(word)).count() >= if asks { 1 } else { 2 };
        if !(enough && (asks || has_verb.is_some())) {
            continue;
        }
        if start == 0 {
            let verb = words[..at]
                .iter()
                .position(|word| is_verb(word))
                .unwrap_or(0);
            subject = words[..verb].to_vec();
        }
        push(start, at, &subject);
        start = at + 1;
    }
    push(start, words.len(), &subject);
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
    content >= 2 && (asks || words.iter().any(|word| is_verb(word)))
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
