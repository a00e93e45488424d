//! What a statement is about, so that "It was founded in 1999" can be put to a source with its subject: the words before the
//! verb of the claim before it. Knows English, and no source.

use crate::evidence::engine::claims::{bare, is_content, is_verb};
use crate::evidence::reading::words::{does, known};

/// Longer runs of words before a verb are no subjects.
const SUBJECT_WORDS_MAX: usize = 10;
/// How far into a statement its pronoun is looked for.
const PRONOUN_REACH: usize = 8;

const SUBJECTS: [&str; 4] = ["it", "he", "she", "they"];
const OWNERS: [&str; 4] = ["its", "his", "her", "their"];
/// What is said of "it" and of nothing that was named: "It is known that …".
const EXPLETIVES: [&str; 14] = [
    "known",
    "said",
    "possible",
    "clear",
    "important",
    "likely",
    "unlikely",
    "estimated",
    "believed",
    "true",
    "worth",
    "raining",
    "expected",
    "necessary",
];

/// The subject of a statement, if its words show one.
pub(super) fn subject(statement: &str) -> Option<String> {
    let words: Vec<&str> = statement.split_whitespace().collect();
    // "In 1999, Acme opened": what stands before the comma is no part of it.
    let verb = words.iter().position(|word| is_verb(word));
    let before = &words[..verb.unwrap_or_default()];
    let from = before
        .iter()
        .rposition(|word| word.ends_with(','))
        .map_or(0, |at| at + 1);
    let named = match &before[from..] {
        [] => capitals(&words),
        words => words,
    };
    let is_person = |word: &&str| {
        matches!(
            bare(word).as_str(),
            "i" | "you" | "we" | "there" | "this" | "that" | "these" | "those"
        )
    };
    let is_plain = !named.iter().any(is_person) && !named.iter().any(|word| is_pronoun(word));
    let says = named
        .iter()
        .any(|word| is_content(word) && word.chars().any(char::is_alphabetic));
    (says && is_plain && named.len() <= SUBJECT_WORDS_MAX).then(|| named.join(" "))
}

/// "The Eiffel Tower" in "The Eiffel Tower stands in Paris": words with a capital at the beginning.
fn capitals<'w>(words: &'w [&'w str]) -> &'w [&'w str] {
    let length = words
        .iter()
        .take_while(|word| word.starts_with(char::is_uppercase))
        .count();
    &words[..length]
}

fn is_pronoun(word: &str) -> bool {
    let word = bare(word);
    SUBJECTS.contains(&word.as_str()) || OWNERS.contains(&word.as_str())
}

/// The statement with a subject in the place of its first pronoun; `None` where it has none that stands for one.
pub(super) fn resolved(statement: &str, subject: &str) -> Option<String> {
    let words: Vec<&str> = statement.split_whitespace().collect();
    let at = words
        .iter()
        .take(PRONOUN_REACH)
        .position(|word| is_pronoun(word))?;
    let word = bare(words[at]);
    // A pronoun behind a subject of the statement's own stands for that.
    let is_first =
        words[..at].iter().all(|word| is_lead(word)) || words[at - 1].ends_with(',') && at <= 6;
    let next: Vec<String> = words[at + 1..]
        .iter()
        .take(3)
        .map(|word| bare(word))
        .collect();
    let is_expletive = word == "it" && next.iter().any(|word| EXPLETIVES.contains(&word.as_str()));
    if !is_first || is_expletive {
        return None;
    }
    let put = match OWNERS.contains(&word.as_str()) {
        true if subject.ends_with('s') => format!("{subject}'"),
        true => format!("{subject}'s"),
        false => subject.to_owned(),
    };
    let mut resolved: Vec<&str> = words.clone();
    resolved[at] = &put;
    Some(resolved.join(" "))
}

/// What may stand before a subject: "Today", "In 1999", "However".
fn is_lead(word: &str) -> bool {
    let word = bare(word);
    let flags = known().flags(&word);
    flags & (does::STOP | does::PREPOSITION | does::DATE) != 0 && flags & does::AUXILIARY == 0
        || word.starts_with(|c: char| c.is_ascii_digit())
        || matches!(
            word.as_str(),
            "however" | "today" | "later" | "moreover" | "also" | "additionally" | "furthermore"
        )
}

#[cfg(test)]
mod tests {
    use crate::evidence::check::subject::*;

    #[test]
    fn the_subject_stands_before_the_verb() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(subject(text).as_deref(), expected, "{text}");
        };
        check("Acme was founded in 1999.", Some("Acme"));
        check(
            "In 2004, the Harbour Museum reopened.",
            Some("the Harbour Museum"),
        );
        check(
            "The Eiffel Tower stands in Paris.",
            Some("The Eiffel Tower"),
        );
        check("It was founded in 1999.", None);
        check("There are ten of them.", None);
        check("You can cancel.", None);
        check("", None);
    }

    #[test]
    fn a_pronoun_gives_way_to_the_subject() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(resolved(text, "Acme").as_deref(), expected, "{text}");
        };
        check("It was founded in 1999.", Some("Acme was founded in 1999."));
        check("In 1999 it was founded.", Some("In 1999 Acme was founded."));
        check(
            "When it opened, it had two rooms.",
            Some("When Acme opened, it had two rooms."),
        );
        check(
            "Its offices are in Oslo.",
            Some("Acme's offices are in Oslo."),
        );
        check(
            "However, they employ forty people.",
            Some("However, Acme employ forty people."),
        );
        check("The firm says it is new.", None);
        check("It is known that water is wet.", None);
        check("Acme is new.", None);
    }
}
