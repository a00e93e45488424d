//! Who says what a sentence says, where the sentence itself names them: "according to X", "X said". Reads English; what
//! is not plainly one of these forms has no speaker.

use crate::evidence::reading::text::plain;

const WORDS_MAX: usize = 6;

/// Forms that are seldom anything else; "reports" and "states" are nouns as well.
const VERBS: [&str; 10] = [
    "said",
    "says",
    "told",
    "stated",
    "wrote",
    "announced",
    "reported",
    "explained",
    "confirmed",
    "claimed",
];

/// With these a group of words is a whole sentence, or names nobody.
const FOREIGN: [&str; 26] = [
    "who", "that", "which", "what", "when", "where", "is", "are", "was", "were", "be", "been",
    "has", "have", "had", "not", "never", "he", "she", "it", "they", "we", "i", "you", "this",
    "as",
];

const DETERMINERS: [&str; 12] = [
    "the", "a", "an", "its", "their", "his", "her", "our", "one", "two", "some", "several",
];

/// What ends a name: "said the mayor on Monday".
const STOPS: [&str; 14] = [
    "on", "in", "at", "to", "during", "after", "before", "that", "which", "who", "when", "while",
    "this", "last",
];

/// Nobody where the sentence names several.
pub(crate) fn speaker(sentence: &str) -> Option<String> {
    let text = plain(sentence);
    let mut found: Option<String> = None;
    for (number, clause) in clauses(&text).enumerate() {
        let words: Vec<&str> = clause.split_whitespace().collect();
        let Some(name) = named(&words, number == 0) else {
            continue;
        };
        match &found {
            Some(other) if *other != name => return None,
            _ => found = Some(name),
        }
    }
    found
}

/// The pieces between marks of punctuation. A dot within a number parts nothing.
fn clauses(text: &str) -> impl Iterator<Item = &str> {
    let parts = |c: char| {
        matches!(
            c,
            ',' | ';' | ':' | '“' | '”' | '"' | '(' | ')' | '–' | '—' | '?' | '!'
        )
    };
    text.split(parts)
        .flat_map(|piece| piece.split(". "))
        .map(|piece| piece.trim().trim_end_matches('.'))
        .filter(|piece| !piece.is_empty())
}

fn named(mut words: &[&str], is_first: bool) -> Option<String> {
    if let [first, rest @ ..] = words
        && ["and", "but", "while"].contains(&first.to_lowercase().as_str())
    {
        words = rest;
    }
    let is = |word: &str, other: &str| word.eq_ignore_ascii_case(other);
    let pairs = words.windows(2);
    if let Some(at) = pairs
        .clone()
        .position(|pair| is(pair[0], "according") && is(pair[1], "to"))
    {
        return name(until_stop(&words[at + 2..]));
    }
    let verb = words.iter().position(|word| VERBS.contains(word))?;
    match verb {
        0 if !is_first => name(until_stop(&words[1..])),
        _ => name(&words[..verb]),
    }
}

fn until_stop<'a>(words: &'a [&'a str]) -> &'a [&'a str] {
    let end = words.iter().position(|word| STOPS.contains(word));
    &words[..end.unwrap_or(words.len())]
}

/// The words, if they are a name or begin with a determiner.
fn name(words: &[&str]) -> Option<String> {
    let first = words.first()?;
    let lower = first.to_lowercase();
    let begins = DETERMINERS.contains(&lower.as_str()) || first.starts_with(char::is_uppercase);
    let is_foreign = |word: &&str| FOREIGN.contains(&word.to_lowercase().as_str());
    if words.len() > WORDS_MAX || !begins || words.iter().any(is_foreign) {
        return None;
    }
    let rest = words[1..].iter().map(|word| (*word).to_owned());
    let first = match DETERMINERS.contains(&lower.as_str()) {
        true => lower,
        false => (*first).to_owned(),
    };
    Some(
        std::iter::once(first)
            .chain(rest)
            .collect::<Vec<_>>()
            .join(" "),
    )
}

#[cfg(test)]
mod tests {
    use crate::evidence::report::speaker::*;

    fn check(sentence: &str, expected: Option<&str>) {
        assert_eq!(speaker(sentence).as_deref(), expected, "{sentence}");
    }

    #[test]
    fn a_speaker_is_named_by_the_sentence_itself() {
        check(
            "It delivered 4.1 GWh, according to the utility.",
            Some("the utility"),
        );
        check(
            "According to **Anna Berg**, it opened in May.",
            Some("Anna Berg"),
        );
        check(
            "The utility said that the plant delivered 4.1 GWh.",
            Some("the utility"),
        );
        check(
            "“We will build it,” said Anna Berg on Monday.",
            Some("Anna Berg"),
        );
        check("\"We will build it,\" the mayor said.", Some("the mayor"));
    }

    #[test]
    fn what_is_not_plainly_said_by_somebody_has_no_speaker() {
        check("The plant delivered 4.1 GWh.", None);
        check("It went according to plan.", None);
        check("She said that it was late.", None);
        check("What the utility said was wrong.", None);
        check("It is said to be old.", None);
        check("The United States reports a loss.", None);
        check("“No,” said Anna Berg, but the mayor said yes.", None);
        check(
            "according to the one of the many people whom we asked about it",
            None,
        );
    }
}
