//! Whether a sentence takes back, doubts or limits what it says. Knows words, no page.

use crate::evidence::reading::words::known;

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
    if !all.iter().any(|word| HEDGES.contains(&word.as_str())) {
        return false;
    }
    let asked = all.iter().filter(|word| is_asked(word)).count();
    clauses(text).into_iter().any(|clause| {
        let clause = words(clause);
        clause.iter().any(|word| HEDGES.contains(&word.as_str()))
            && clause.iter().filter(|word| is_asked(word)).count() * 2 >= asked
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
    let lower = text.to_lowercase();
    let after = VERSIONS
        .iter()
        .find_map(|version| lower.split_once(version));
    after.is_some_and(|(_, rest)| {
        let mut words = rest.split(|c: char| !c.is_alphanumeric());
        words.any(|word| SAID.contains(&word))
    })
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
