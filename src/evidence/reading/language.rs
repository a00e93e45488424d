//! In which language a text is written, as far as its commonest words tell. Knows only what the engine treats
//! differently: English, some languages whose stop words it has, and all others.

use super::words::{does, known};
use crate::domain::words::is_unspaced;

/// Words that are looked at.
const WORDS_MAX: usize = 2_000;
/// Fewer say nothing.
const WORDS_MIN: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    English,
    /// A number in the list of the other languages' stop words.
    Listed(usize),
    Other,
}

impl Language {
    /// The text decides where it is long enough, then the tag.
    pub(crate) fn of(tag: Option<&str>, text: &str) -> Language {
        let tagged = tag.map(Language::tagged);
        let others = known().stop_words();
        let mut words = 0_usize;
        let mut unspaced = 0_usize;
        let mut english = 0_usize;
        let mut accented = 0_usize;
        let mut listed = vec![0_usize; others.len()];
        let pieces = text.split(|c: char| !c.is_alphabetic() && c != '\'' && c != '’');
        for word in pieces.filter(|word| !word.is_empty()).take(WORDS_MAX) {
            if word.starts_with(is_paired) {
                unspaced += word.chars().take(100).count();
                continue;
            }
            words += 1;
            accented += usize::from(!word.is_ascii());
            // "DE" is a country, in a table of countries.
            let is_code = word.len() <= 3 && word.bytes().all(|byte| byte.is_ascii_uppercase());
            if word.len() > 12 || is_code && word.len() > 1 {
                continue;
            }
            let word = word.to_lowercase();
            english += usize::from(known().flags(&word) & does::STOP != 0);
            for (count, (_, list)) in listed.iter_mut().zip(others) {
                *count += usize::from(list.contains(word.as_str()));
            }
        }
        if unspaced > words {
            return Language::Other;
        }
        let best = (0..listed.len()).max_by_key(|&number| listed[number]);
        let best = best.map_or((0, 0), |number| (number, listed[number]));
        if words < WORDS_MIN {
            return match tagged {
                Some(language) => language,
                // "Per" and "plus" are English too.
                None if best.1 > english.max(1) => Language::Listed(best.0),
                None => Language::English,
            };
        }
        let is_common = |count: usize| count * 8 >= words;
        if english >= best.1 && is_common(english) {
            Language::English
        } else if is_common(best.1) {
            Language::Listed(best.0)
        } else if english * 25 >= words
            && accented * 8 < words
            && tagged.is_none_or(|tagged| tagged == Language::English)
        {
            // Tables, code and lists of names have few stop words.
            Language::English
        } else {
            tagged
                .filter(|tagged| *tagged != Language::English)
                .unwrap_or({
                    if text.is_ascii() {
                        Language::English
                    } else {
                        Language::Other
                    }
                })
        }
    }

    /// Of a language whose stop words are known, other than English.
    pub(crate) fn listed_tag(self) -> Option<&'static str> {
        match self {
            Language::Listed(number) => known().stop_words().get(number).map(|(tag, _)| *tag),
            _ => None,
        }
    }

    fn tagged(tag: &str) -> Language {
        let primary = tag
            .split(['-', '_'])
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase();
        if primary == "en" {
            return Language::English;
        }
        let found = known()
            .stop_words()
            .iter()
            .position(|(name, _)| *name == primary);
        found.map_or(Language::Other, Language::Listed)
    }
}

/// Characters that are compared in pairs: scripts without spaces, and Korean, whose words carry endings.
pub(crate) fn is_paired(c: char) -> bool {
    is_unspaced(c) || ('\u{ac00}'..='\u{d7af}').contains(&c)
}

#[cfg(test)]
mod tests {
    use crate::evidence::reading::language::*;

    #[test]
    fn common_words_tell_the_language() {
        let german = "Der Vertrag kann von beiden Seiten mit einer Frist von drei Monaten gekündigt werden, wenn nicht \
                      etwas anderes vereinbart ist und die Kündigung schriftlich erfolgt.";
        assert!(matches!(
            Language::of(Some("en"), german),
            Language::Listed(_)
        ));
        let english = "The contract may be ended by either side with three months of notice, unless something else has \
                       been agreed upon and the notice is given in writing.";
        assert_eq!(Language::of(Some("de"), english), Language::English);
        assert_eq!(
            Language::of(None, "契約は三か月前の通知により解除できる。"),
            Language::Other
        );
        assert_eq!(Language::of(None, "Pro plan: $9"), Language::English);
        let polish = "Wystawę można zwiedzać od wtorku do niedzieli. Bilet rodzinny obejmuje wstęp na wieżę. W zeszłym roku \
                      muzeum odwiedziło 41 tysięcy osób, które kupiły także przewodniki po ogrodach i książki o zegarach.";
        assert_eq!(Language::of(None, polish), Language::Other);
    }
}
