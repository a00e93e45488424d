//! Text as a row of words: lower case, without accents, numbers with their value, a stem for each. Every distinct form
//! is read once, however often it stands in the text. Scripts without spaces give pairs of neighbouring characters.

mod scan;

use std::collections::HashMap;

use super::foreign::{is_negation, is_negation_elsewhere};
use super::language::{Language, is_paired};
use super::words::{does, is_superlative, known, ordinal, scale, spelled_number};
use scan::{after_address, fold, initials, is_year, number, number_part, number_value, word};

/// More distinct forms than any page has; further ones are left out.
const FORMS_MAX: usize = 200_000;
/// Nobody asks for longer words.
const FORM_BYTES_MAX: usize = 64;

/// A distinct form of a word.
#[derive(Debug)]
pub(crate) struct Form {
    pub(crate) low: Box<str>,
    pub(crate) stem: u32,
    pub(crate) number: Option<f64>,
    /// [`does`].
    pub(crate) flags: u32,
    /// 1 for "first"; 0 for anything else.
    pub(crate) ordinal: u8,
}

impl Form {
    pub(crate) fn is(&self, flags: u32) -> bool {
        self.flags & flags != 0
    }

    pub(crate) fn is_stop(&self) -> bool {
        self.is(does::STOP | does::QUESTION)
    }
}

/// The distinct forms of a text, and their stems.
#[derive(Debug)]
pub(crate) struct Lexicon {
    pub(crate) forms: Vec<Form>,
    pub(crate) stems: Vec<Box<str>>,
    by_form: HashMap<Box<str>, u32>,
    by_stem: HashMap<Box<str>, u32>,
    language: Language,
    folded: String,
    pub(crate) is_cut: bool,
}

impl Lexicon {
    pub(crate) fn new(language: Language) -> Lexicon {
        Lexicon {
            forms: Vec::new(),
            stems: Vec::new(),
            by_form: HashMap::new(),
            by_stem: HashMap::new(),
            language,
            folded: String::new(),
            is_cut: false,
        }
    }

    pub(crate) fn form(&self, token: u32) -> &Form {
        &self.forms[token as usize]
    }

    /// As the text has it, without accents. Looks through all forms: for questions, not for pages.
    pub(crate) fn written(&self, token: u32) -> &str {
        let found = self.by_form.iter().find(|(_, number)| **number == token);
        found.map_or("", |(written, _)| written)
    }

    pub(crate) fn stem_of(&self, stem: &str) -> Option<u32> {
        self.by_stem.get(stem).copied()
    }

    /// The value of a number, with the word of its scale after it.
    pub(crate) fn number(&self, tokens: &[u32], at: usize) -> Option<f64> {
        let form = self.form(tokens[at]);
        let number = form.number?;
        if !form.low.starts_with(|c: char| c.is_ascii_digit()) {
            return Some(number);
        }
        let scale = tokens
            .get(at + 1)
            .and_then(|next| scale(&self.form(*next).low));
        Some(number * scale.unwrap_or(1.0))
    }

    /// Appends the words of a text.
    pub(crate) fn read(&mut self, text: &str, tokens: &mut Vec<u32>) {
        if text.is_ascii() {
            self.scan(text, tokens);
        } else {
            let mut folded = std::mem::take(&mut self.folded);
            folded.clear();
            text.chars().for_each(|c| fold(c, &mut folded));
            self.scan(&folded, tokens);
            self.folded = folded;
        }
    }

    fn scan(&mut self, text: &str, tokens: &mut Vec<u32>) {
        let bytes = text.as_bytes();
        let mut address_end = None;
        let mut at = 0;
        while at < bytes.len() {
            let end = match bytes[at] {
                b'A'..=b'Z' => initials(bytes, at).unwrap_or_else(|| word(text, at)),
                b'a'..=b'z' => word(text, at),
                b'0'..=b'9' => number(text, at),
                b'(' if at > 0 && bytes[at - 1] == b']' => {
                    at = after_address(text, at, &mut address_end);
                    continue;
                }
                byte if byte < 0x80 => {
                    at += 1;
                    continue;
                }
                _ => {
                    let c = text[at..].chars().next().unwrap_or_default();
                    if !c.is_alphanumeric() {
                        at += c.len_utf8();
                        continue;
                    }
                    if is_paired(c) {
                        at = self.pairs(text, at, tokens);
                        continue;
                    }
                    word(text, at).max(at + c.len_utf8())
                }
            };
            self.push(&text[at..end], tokens);
            at = end;
        }
    }

    /// Pairs of neighbouring characters in a run of a script without spaces.
    fn pairs(&mut self, text: &str, start: usize, tokens: &mut Vec<u32>) -> usize {
        let mut before: Option<usize> = None;
        let mut count = 0;
        let mut at = start;
        for c in text[start..].chars() {
            if !is_paired(c) {
                break;
            }
            let end = at + c.len_utf8();
            if let Some(before) = before {
                self.push(&text[before..end], tokens);
            }
            before = Some(at);
            count += 1;
            at = end;
        }
        if count == 1 {
            self.push(&text[start..at], tokens);
        }
        at
    }

    fn push(&mut self, raw: &str, tokens: &mut Vec<u32>) {
        if let Some(&known) = self.by_form.get(raw) {
            tokens.push(known);
            return;
        }
        if self.forms.len() >= FORMS_MAX || raw.len() > FORM_BYTES_MAX {
            self.is_cut |= self.forms.len() >= FORMS_MAX;
            return;
        }
        let form = self.new_form(raw);
        let number = u32::try_from(self.forms.len()).unwrap_or(u32::MAX);
        self.forms.push(form);
        self.by_form.insert(raw.into(), number);
        tokens.push(number);
    }

    fn new_form(&mut self, raw: &str) -> Form {
        let mut low = raw.to_lowercase().replace('’', "'");
        if let Some(own) = low.strip_suffix("'s") {
            low.truncate(own.len());
        }
        let mut flags = 0;
        let value;
        let stem = if raw.starts_with(|c: char| c.is_ascii_digit()) {
            let digits = number_part(raw);
            let suffix = &raw[digits..];
            let written = &raw[..digits];
            value = number_value(written);
            low = written.replace(',', "").trim_end_matches('.').to_owned();
            if suffix.is_empty() && is_year(written) {
                flags |= does::YEAR | does::DATE;
            }
            if suffix.eq_ignore_ascii_case("s") && written.len() >= 3 {
                flags |= does::YEAR | does::DATE;
                low = written.to_owned();
            }
            if suffix == "%" {
                flags |= does::PERCENT;
            }
            low.clone()
        } else {
            if low.contains('.') {
                low.retain(|c| c != '.');
                if low == "us" || low == "usa" {
                    low = "u.s.".to_owned();
                }
            }
            value = spelled_number(&low).map(f64::from);
            match self.language {
                Language::English => known().stem(&low),
                _ => low.clone(),
            }
        };
        let capital = raw.starts_with(char::is_uppercase);
        flags |= self.known_flags(raw, &low);
        if matches!(&*low, "may" | "march") && !capital || low == "ad" && raw != "AD" {
            flags &= !does::DATE;
        }
        if capital {
            flags |= does::CAPITAL;
        }
        if is_superlative(&low) {
            flags |= does::SUPERLATIVE;
        }
        if low.ends_with("n't")
            || matches!(&*low, "dont" | "didnt" | "isnt" | "wasnt" | "cant" | "wont")
        {
            flags |= does::NEGATION;
        }
        Form {
            stem: self.intern(stem),
            number: value,
            flags,
            ordinal: ordinal(&low),
            low: low.into(),
        }
    }

    /// Words of other languages look like English ones and are not.
    fn known_flags(&self, raw: &str, low: &str) -> u32 {
        let flags = known().flags(low);
        match self.language {
            Language::English => flags,
            Language::Other => {
                let negation = match is_negation_elsewhere(low) {
                    true => does::NEGATION,
                    false => 0,
                };
                flags & (does::STOP | does::QUESTION | does::DATE) | negation
            }
            Language::Listed(number) => {
                let accented = raw.to_lowercase();
                let (tag, list) = &known().stop_words()[number];
                let is_stop = list.contains(accented.as_str()) || list.contains(low);
                let mut own = flags & does::DATE;
                if is_stop {
                    own |= does::STOP;
                }
                if is_negation(tag, low) {
                    own |= does::NEGATION;
                }
                own
            }
        }
    }

    fn intern(&mut self, stem: String) -> u32 {
        if let Some(&known) = self.by_stem.get(stem.as_str()) {
            return known;
        }
        let number = u32::try_from(self.stems.len()).unwrap_or(u32::MAX);
        self.stems.push(stem.as_str().into());
        self.by_stem.insert(stem.into(), number);
        number
    }
}

#[cfg(test)]
mod tests {
    use crate::evidence::reading::tokens::*;

    fn check(text: &str, expected: &[&str]) {
        let mut lexicon = Lexicon::new(Language::English);
        let mut tokens = Vec::new();
        lexicon.read(text, &mut tokens);
        let found: Vec<&str> = tokens
            .iter()
            .map(|token| &*lexicon.form(*token).low)
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn words_and_numbers() {
        check(
            "It’s the U.S. Navy's 2nd don't-ask rule",
            &["it", "the", "u.s.", "navy", "2", "don't", "ask", "rule"],
        );
        check(
            "1,234.5 in the 1990s, 60% of v1.2.3",
            &["1234.5", "in", "the", "1990", "60", "of", "v", "1.2.3"],
        );
        check(
            "Amazônia naïve Đồ 10GB",
            &["amazonia", "naive", "đo", "10", "gb"],
        );
        check(
            "see [the docs](https://example.com/a_b) or snake_case",
            &["see", "the", "docs", "or", "snake", "case"],
        );
    }

    #[test]
    fn scripts_without_spaces_give_pairs() {
        check("価格は1000円", &["価格", "格は", "1000", "円"]);
    }

    #[test]
    fn numbers_have_their_value() {
        let mut lexicon = Lexicon::new(Language::English);
        let mut tokens = Vec::new();
        lexicon.read("2.5 million people in 1999, twenty of them", &mut tokens);
        assert_eq!(lexicon.number(&tokens, 0), Some(2_500_000.0));
        assert!(lexicon.form(tokens[4]).is(does::YEAR));
        assert_eq!(lexicon.number(&tokens, 5), Some(20.0));
    }

    #[test]
    fn an_unclosed_address_is_read() {
        check("[a](b c](d", &["a", "b", "c", "d"]);
    }
}
