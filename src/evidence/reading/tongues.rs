//! In which language a question or a source is, told by its script and its commonest words. Says nothing when unsure.

use crate::evidence::reading::text::{head, words};

const TEXT_BYTES: usize = 8 * 1024;
/// So many of its commonest words tell a language.
const WORDS_MIN: usize = 2;

#[rustfmt::skip]
const COMMON: [(&str, &[&str]); 7] = [
    ("en", &["the", "of", "and", "is", "are", "does", "do", "what", "how", "which", "when", "who", "where", "for", "with", "this", "that", "on", "to"]),
    ("de", &["der", "die", "das", "und", "ist", "sind", "wie", "welche", "wann", "wer", "nicht", "ein", "eine", "für", "mit", "auf", "von", "zu"]),
    ("fr", &["le", "la", "les", "et", "est", "sont", "quel", "quelle", "comment", "quand", "qui", "des", "une", "pour", "avec", "dans", "du"]),
    ("es", &["el", "los", "las", "y", "es", "son", "qué", "cuál", "cómo", "cuándo", "quién", "una", "para", "con", "del", "por"]),
    ("it", &["il", "gli", "è", "sono", "che", "quale", "come", "quando", "chi", "della", "una", "per", "con", "di", "nel"]),
    ("pt", &["o", "os", "as", "é", "são", "qual", "como", "quando", "quem", "da", "do", "uma", "para", "com", "não", "em"]),
    ("nl", &["de", "het", "een", "en", "is", "zijn", "wat", "hoe", "welke", "wanneer", "wie", "niet", "voor", "met", "van", "op"]),
];

type Script = (&'static str, fn(char) -> bool);

const SCRIPTS: [Script; 6] = [
    ("ja", |c| matches!(c, '\u{3040}'..='\u{30ff}')),
    (
        "zh",
        |c| matches!(c, '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}'),
    ),
    ("ko", |c| matches!(c, '\u{ac00}'..='\u{d7af}')),
    ("ru", |c| matches!(c, '\u{0400}'..='\u{04ff}')),
    ("ar", |c| matches!(c, '\u{0600}'..='\u{06ff}')),
    ("el", |c| matches!(c, '\u{0370}'..='\u{03ff}')),
];

pub(crate) fn of_question(question: &str) -> Option<&'static str> {
    detected(question)
}

/// What the text shows, else what the page says of itself.
pub(crate) fn of_source(stated: Option<&str>, text: &str) -> Option<&'static str> {
    detected(head(text, TEXT_BYTES)).or_else(|| {
        let main = stated?.split(['-', '_']).next()?.to_ascii_lowercase();
        let mut known = COMMON.iter().map(|(name, _)| *name);
        let mut scripts = SCRIPTS.iter().map(|(name, _)| *name);
        known
            .find(|name| *name == main)
            .or_else(|| scripts.find(|name| *name == main))
    })
}

fn detected(text: &str) -> Option<&'static str> {
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    for (name, is_of) in SCRIPTS {
        // A few kana tell Japanese from Chinese.
        let share = if name == "ja" { 10 } else { 3 };
        if letters > 0 && text.chars().filter(|c| is_of(*c)).count() * share >= letters {
            return Some(name);
        }
    }
    // "DE" is a country, in a table of countries.
    let is_code =
        |word: &str| word.len() == 2 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    let words: Vec<String> = (words(text).iter())
        .filter(|word| !is_code(word.text))
        .map(|word| word.text.to_lowercase())
        .collect();
    let count = |common: &[&str]| {
        let of_it = words.iter().filter(|word| common.contains(&word.as_str()));
        of_it.count()
    };
    let mut counts: Vec<(usize, &str)> = COMMON
        .iter()
        .map(|(name, common)| (count(common), *name))
        .collect();
    counts.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    let is_clear = counts[0].0 >= WORDS_MIN && counts[0].0 * 2 >= counts[1].0 * 3;
    is_clear.then_some(counts[0].1)
}

#[cfg(test)]
mod tests {
    use crate::evidence::reading::tongues::*;

    #[test]
    fn languages_are_told_when_they_are_clear() {
        let check = |text, expected| assert_eq!(of_question(text), expected, "{text}");
        check("What is the price of the plan?", Some("en"));
        check(
            "Wie hoch ist der Preis und welche Tarife sind es?",
            Some("de"),
        );
        check("退款政策是什么？", Some("zh"));
        check("返金はいつまでですか", Some("ja"));
        check("Какая цена?", Some("ru"));
        check("oak desk, DE, 199; pine desk, DE, 99", None);
        check("SQLite 3.45", None);
        check("", None);
    }

    #[test]
    fn a_source_may_say_its_language() {
        assert_eq!(of_source(Some("de-AT"), "12.5"), Some("de"));
        assert_eq!(of_source(Some("tlh"), "12.5"), None);
        assert_eq!(
            of_source(Some("de"), "The price of the plan is what it is."),
            Some("en")
        );
    }
}
