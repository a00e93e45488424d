//! What the engine knows of words by themselves: lists, irregular forms, synonyms, antonyms. Read once from the tables
//! in `data/evidence/`, which are compiled in; knows no pages and no questions.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::stem::stem;

/// What a word does, a bit each.
pub(crate) mod does {
    pub(in crate::evidence) const STOP: u32 = 1;
    pub(in crate::evidence) const QUESTION: u32 = 1 << 1;
    pub(in crate::evidence) const COMMON: u32 = 1 << 2;
    pub(in crate::evidence) const NEGATION: u32 = 1 << 3;
    pub(in crate::evidence) const HEDGE: u32 = 1 << 4;
    pub(in crate::evidence) const UP: u32 = 1 << 5;
    pub(in crate::evidence) const DOWN: u32 = 1 << 6;
    pub(in crate::evidence) const ALL: u32 = 1 << 7;
    pub(in crate::evidence) const AUXILIARY: u32 = 1 << 8;
    pub(in crate::evidence) const PREPOSITION: u32 = 1 << 9;
    pub(in crate::evidence) const PRONOUN: u32 = 1 << 10;
    pub(in crate::evidence) const DATE: u32 = 1 << 11;
    /// Not of a list: as the word is written.
    pub(in crate::evidence) const SUPERLATIVE: u32 = 1 << 12;
    pub(in crate::evidence) const CAPITAL: u32 = 1 << 13;
    pub(in crate::evidence) const YEAR: u32 = 1 << 14;
    pub(in crate::evidence) const PERCENT: u32 = 1 << 15;
}

const SECTIONS: &[(&str, u32)] = &[
    ("stop", does::STOP),
    ("question", does::QUESTION),
    ("common", does::COMMON),
    ("negation", does::NEGATION),
    ("hedge", does::HEDGE),
    ("up", does::UP),
    ("down", does::DOWN),
    ("all", does::ALL),
    ("auxiliary", does::AUXILIARY),
    ("preposition", does::PREPOSITION),
    ("pronoun", does::PRONOUN),
    ("date", does::DATE),
];

/// Stems of nouns that say what kind of answer is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asks {
    Person,
    Place,
    Number,
    Time,
}

#[derive(Debug)]
pub(crate) struct Words {
    flags: HashMap<&'static str, u32>,
    irregular: HashMap<&'static str, &'static str>,
    common_stems: HashSet<String>,
    asks: HashMap<String, Asks>,
    synonyms: HashMap<String, Vec<String>>,
    /// A stem and what may stand for it, in order.
    derived_synonyms: Vec<&'static str>,
    /// Hand-written pairs, and those with the derived ones.
    antonyms: HashMap<String, Vec<String>>,
    all_antonyms: HashMap<String, Vec<String>>,
    /// Of other languages, by tag.
    stop_words: Vec<(&'static str, HashSet<&'static str>)>,
}

static KNOWN: LazyLock<Words> = LazyLock::new(Words::read);

/// The tables that are compiled in.
pub(crate) fn known() -> &'static Words {
    &KNOWN
}

fn lines(table: &'static str) -> impl Iterator<Item = &'static str> {
    table
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

impl Words {
    fn read() -> Words {
        let mut words = Words {
            flags: HashMap::new(),
            irregular: HashMap::new(),
            common_stems: HashSet::new(),
            asks: HashMap::new(),
            synonyms: HashMap::new(),
            derived_synonyms: lines(include_str!("../../../data/evidence/wordnet-synonyms.txt"))
                .collect(),
            antonyms: HashMap::new(),
            all_antonyms: HashMap::new(),
            stop_words: Vec::new(),
        };
        for line in lines(include_str!("../../../data/evidence/irregular.txt")) {
            let mut forms = line.split_whitespace();
            let first = forms.next().unwrap_or_default();
            words.irregular.extend(forms.map(|form| (form, first)));
        }
        for line in lines(include_str!("../../../data/evidence/stopwords.txt")) {
            if let Some((tag, list)) = line.split_once(' ') {
                let list = list.split_whitespace().collect();
                words.stop_words.push((tag, list));
            }
        }
        words.read_sections();
        words.read_synonyms();
        words.read_antonyms();
        words
    }

    fn read_sections(&mut self) {
        let mut section = "";
        for line in lines(include_str!("../../../data/evidence/words.txt")) {
            if let Some(name) = line.strip_prefix('[') {
                section = name.trim_end_matches(']');
                continue;
            }
            let bit = SECTIONS.iter().find(|(name, _)| *name == section);
            let asks = match section {
                "person" => Some(Asks::Person),
                "place" => Some(Asks::Place),
                "number" => Some(Asks::Number),
                "time" => Some(Asks::Time),
                _ => None,
            };
            for word in line.split_whitespace() {
                if let Some((_, bit)) = bit {
                    *self.flags.entry(word).or_default() |= bit;
                }
                if section == "common" {
                    self.common_stems.insert(self.stem(word));
                    self.common_stems.insert(word.to_owned());
                }
                if let Some(asks) = asks {
                    self.asks.insert(self.stem(word), asks);
                }
            }
        }
    }

    fn read_synonyms(&mut self) {
        for line in lines(include_str!("../../../data/evidence/synonyms.txt")) {
            let group: Vec<String> = line
                .split_whitespace()
                .map(|word| self.stem(word))
                .collect();
            for one in &group {
                let others = self.synonyms.entry(one.clone()).or_default();
                for other in &group {
                    if other != one && !others.contains(other) {
                        others.push(other.clone());
                    }
                }
            }
        }
    }

    fn read_antonyms(&mut self) {
        for line in lines(include_str!("../../../data/evidence/antonyms.txt")) {
            if let Some((one, other)) = line.split_once(' ') {
                let (one, other) = (self.stem(one), self.stem(other));
                pair(&mut self.antonyms, &one, &other);
                pair(&mut self.all_antonyms, &one, &other);
            }
        }
        for line in lines(include_str!("../../../data/evidence/wordnet-antonyms.txt")) {
            if let Some((one, other)) = line.split_once(' ') {
                pair(&mut self.all_antonyms, one, other);
            }
        }
    }

    /// Of languages other than English: tag and words.
    pub(crate) fn stop_words(&self) -> &[(&'static str, HashSet<&'static str>)] {
        &self.stop_words
    }

    /// What the lists say of a lower-case word.
    pub(crate) fn flags(&self, word: &str) -> u32 {
        self.flags.get(word).copied().unwrap_or_default()
    }

    pub(crate) fn stem(&self, word: &str) -> String {
        stem(self.irregular.get(word).copied().unwrap_or(word))
    }

    /// Whether a lower-case word is a form that no rule makes: "grew", "taken".
    pub(crate) fn is_irregular(&self, word: &str) -> bool {
        self.irregular.contains_key(word)
    }

    pub(crate) fn is_common(&self, stem: &str) -> bool {
        self.common_stems.contains(stem)
    }

    pub(crate) fn asks(&self, stem: &str) -> Option<Asks> {
        self.asks.get(stem).copied()
    }

    /// Of the hand-written groups, then the derived ones.
    pub(crate) fn synonyms(&self, stem: &str) -> impl Iterator<Item = &str> {
        let own = self.synonyms.get(stem).into_iter().flatten();
        own.map(String::as_str).chain(self.derived_synonyms(stem))
    }

    pub(crate) fn derived_synonyms(&self, stem: &str) -> impl Iterator<Item = &str> {
        let first = |line: &'static str| line.split(' ').next().unwrap_or_default();
        let line: &str = self
            .derived_synonyms
            .binary_search_by(|line| first(line).cmp(stem))
            .map_or("", |at| self.derived_synonyms[at]);
        line.split(' ').skip(1)
    }

    /// Of the hand-written pairs alone.
    pub(crate) fn plain_antonyms(&self, stem: &str) -> &[String] {
        self.antonyms.get(stem).map_or(&[], Vec::as_slice)
    }

    /// Of all pairs, and by a prefix that denies.
    pub(crate) fn antonyms(&self, stem: &str) -> Vec<String> {
        const PREFIXES: &[&str] = &["un", "in", "im", "ir", "il", "dis", "non", "anti"];
        let mut found = self.all_antonyms.get(stem).cloned().unwrap_or_default();
        for prefix in PREFIXES {
            found.push(format!("{prefix}{stem}"));
            if let Some(rest) = stem.strip_prefix(prefix)
                && rest.len() >= 4
            {
                found.push(rest.to_owned());
            }
        }
        found
    }
}

fn pair(pairs: &mut HashMap<String, Vec<String>>, one: &str, other: &str) {
    for (one, other) in [(one, other), (other, one)] {
        let others = pairs.entry(one.to_owned()).or_default();
        if !others.iter().any(|known| known == other) {
            others.push(other.to_owned());
        }
    }
}

/// What a spelled-out number is worth in a question or a sentence. "one" is mostly not a number there.
pub(crate) fn spelled_number(word: &str) -> Option<u32> {
    number_of_word(word).filter(|value| *value != 1 && *value <= 100)
}

pub(crate) fn number_of_word(word: &str) -> Option<u32> {
    const SMALL: &[&str] = &[
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
        "twenty",
    ];
    let small = SMALL.iter().position(|small| *small == word);
    if let Some(value) = small {
        return u32::try_from(value).ok();
    }
    Some(match word {
        "thirty" => 30,
        "forty" => 40,
        "fifty" => 50,
        "sixty" => 60,
        "seventy" => 70,
        "eighty" => 80,
        "ninety" => 90,
        "hundred" => 100,
        "thousand" => 1_000,
        "million" => 1_000_000,
        "billion" => 1_000_000_000,
        _ => return None,
    })
}

/// First is 1; 0 is none.
pub(crate) fn ordinal(word: &str) -> u8 {
    match word {
        "first" => 1,
        "second" => 2,
        "third" => 3,
        "fourth" => 4,
        "fifth" => 5,
        "sixth" => 6,
        "seventh" => 7,
        "eighth" => 8,
        "ninth" => 9,
        "tenth" => 10,
        _ => 0,
    }
}

pub(crate) fn scale(word: &str) -> Option<f64> {
    Some(match word {
        "thousand" => 1e3,
        "million" => 1e6,
        "billion" => 1e9,
        "trillion" => 1e12,
        _ => return None,
    })
}

pub(crate) fn is_superlative(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "most",
        "least",
        "first",
        "last",
        "only",
        "highest",
        "lowest",
        "oldest",
        "youngest",
        "earliest",
        "latest",
        "best",
        "worst",
        "biggest",
        "largest",
        "largst",
        "smallest",
        "greatest",
        "longest",
        "shortest",
        "tallest",
        "strongest",
        "weakest",
        "fastest",
        "slowest",
        "main",
        "maximum",
        "minimum",
    ];
    let by_ending = word.strip_suffix("iest");
    WORDS.contains(&word)
        || by_ending.is_some_and(|start| {
            start.len() >= 3 && start.bytes().all(|byte| byte.is_ascii_lowercase())
        })
}

#[cfg(test)]
mod tests {
    use crate::evidence::reading::words::*;

    #[test]
    fn every_section_is_known() {
        for line in lines(include_str!("../../../data/evidence/words.txt")) {
            if let Some(name) = line.strip_prefix('[') {
                let name = name.trim_end_matches(']');
                let is_noun = ["person", "place", "number", "time"].contains(&name);
                assert!(
                    is_noun || SECTIONS.iter().any(|(other, _)| *other == name),
                    "{name}"
                );
            }
        }
    }

    #[test]
    fn words_are_known_by_their_lists() {
        let words = known();
        assert_eq!(words.stem("begun"), words.stem("beginning"));
        let mut own = words.synonyms("write");
        assert!(own.any(|word| word == "author"));
        assert!(words.antonyms("legal").contains(&"illegal".to_owned()));
        assert!(words.plain_antonyms("rise").contains(&"fall".to_owned()));
        assert_ne!(words.flags("never") & does::NEGATION, 0);
        assert_eq!(words.flags("paris"), 0);
    }

    /// They are found by halving.
    #[test]
    fn derived_synonyms_stand_in_order_and_go_both_ways() {
        let stems = KNOWN.derived_synonyms.iter().map(|line| line.split(' '));
        let firsts: Vec<&str> = stems.filter_map(|mut words| words.next()).collect();
        assert!(firsts.len() > 7_000 && firsts.is_sorted_by(|one, other| one < other));
        for (one, other) in [("award", "prize"), ("prize", "award"), ("compos", "pen")] {
            assert!(
                known().synonyms(one).any(|word| word == other),
                "{one} {other}"
            );
        }
        assert_eq!(known().synonyms("award-winning").count(), 0);
    }
}
