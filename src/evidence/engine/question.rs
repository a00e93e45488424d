//! What a question asks, as far as its words tell without any page: its terms, its kind, the noun it asks for.

use crate::evidence::reading::foreign::{QuestionWord, question_word};
use crate::evidence::reading::language::Language;
use crate::evidence::reading::tokens::{Form, Lexicon};
use crate::evidence::reading::words::{Asks, does, is_superlative, known};

/// Terms of a question that are compared; a thousand characters hold few more.
pub(crate) const TERMS_MAX: usize = 64;
/// Words of a question that are read.
const TOKENS_MAX: usize = 256;

/// What an answer must hold, in the order that the model knows them by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Who,
    When,
    Number,
    Where,
    Why,
    How,
    What,
    /// A certain kind of thing: "which river".
    WhatNoun,
    YesNo,
    Claim,
}

pub(crate) const ASKED: [Asked; 10] = [
    Asked::Who,
    Asked::When,
    Asked::Number,
    Asked::Where,
    Asked::Why,
    Asked::How,
    Asked::What,
    Asked::WhatNoun,
    Asked::YesNo,
    Asked::Claim,
];

#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) lexicon: Lexicon,
    pub(crate) tokens: Vec<u32>,
    pub(crate) asked: Asked,
    /// Stems of the noun that is asked for, in the question's own lexicon.
    pub(crate) head: Vec<u32>,
    /// Positions in `tokens` of the distinct terms.
    pub(crate) terms: Vec<usize>,
    /// For each token the term that has its stem.
    pub(crate) term_of: Vec<Option<usize>>,
    /// A short question of what something is.
    pub(crate) is_definition: bool,
    /// Says that the superlative or the exception matters.
    pub(crate) is_exacting: bool,
}

impl Question {
    pub(crate) fn new(text: &str, is_claim: bool, language: Language) -> Question {
        let mut lexicon = Lexicon::new(language);
        let mut tokens = Vec::new();
        lexicon.read(text, &mut tokens);
        tokens.truncate(TOKENS_MAX);
        let mut question = Question {
            lexicon,
            tokens,
            asked: Asked::Claim,
            head: Vec::new(),
            terms: Vec::new(),
            term_of: Vec::new(),
            is_definition: false,
            is_exacting: is_exacting(text),
        };
        if !is_claim {
            (question.asked, question.head) = question
                .ask_abroad(text, language)
                .unwrap_or_else(|| question.ask());
        }
        question.find_terms();
        question.is_definition = question.terms.len() <= 3 && question.asks_what_it_is(text);
        question
    }

    pub(crate) fn form(&self, at: usize) -> &Form {
        self.lexicon.form(self.tokens[at])
    }

    pub(crate) fn forms(&self) -> impl Iterator<Item = &Form> {
        self.tokens.iter().map(|token| self.lexicon.form(*token))
    }

    pub(crate) fn stem(&self, at: usize) -> &str {
        &self.lexicon.stems[self.form(at).stem as usize]
    }

    pub(crate) fn has(&self, flags: u32) -> bool {
        self.forms().any(|form| form.is(flags))
    }

    pub(crate) fn number(&self, at: usize) -> Option<f64> {
        self.lexicon.number(&self.tokens, at)
    }

    fn find_terms(&mut self) {
        let all = 0..self.tokens.len();
        let mut terms: Vec<usize> = all.clone().filter(|&at| !self.form(at).is_stop()).collect();
        if terms.is_empty() {
            terms = all
                .clone()
                .filter(|&at| !self.form(at).is(does::QUESTION))
                .collect();
        }
        if terms.is_empty() {
            terms = all.clone().collect();
        }
        for at in terms {
            let stem = self.form(at).stem;
            if self.terms.len() < TERMS_MAX
                && !self
                    .terms
                    .iter()
                    .any(|&known| self.form(known).stem == stem)
            {
                self.terms.push(at);
            }
        }
        let of = |at: usize| {
            let stem = self.form(at).stem;
            self.terms
                .iter()
                .position(|&term| self.form(term).stem == stem)
        };
        self.term_of = all.map(of).collect();
    }

    fn asks_what_it_is(&self, text: &str) -> bool {
        let start = text.trim_start().to_lowercase().replace('’', "'");
        if start.starts_with("what's") || start.starts_with("who's") {
            return true;
        }
        let word = |at: usize| self.tokens.get(at).map_or("", |_| &self.form(at).low);
        matches!(word(0), "what" | "who")
            && matches!(word(1), "is" | "are" | "was" | "were" | "does")
    }

    /// The kind of a question in another language: by the word that asks, which stands at its beginning or its end, or for
    /// yes or no where none does.
    fn ask_abroad(&self, text: &str, language: Language) -> Option<(Asked, Vec<u32>)> {
        let tag = language.listed_tag()?;
        if !text.trim_end().ends_with('?') || self.question_word().is_some() {
            return None;
        }
        let word = |at: usize| &*self.form(at).low;
        let count = self.tokens.len();
        // "Est-ce que" asks for yes or no, "est ce que" behind a word that asks does not.
        let is_formula = count > 2 && (word(0), word(1), word(2)) == ("est", "ce", "que");
        let first = 0..count.min(if is_formula { 0 } else { 2 });
        let last = count.checked_sub(1).filter(|&at| at > 1);
        let mut places = first.chain(last);
        let Some((at, asking)) = places.find_map(|at| Some((at, question_word(tag, word(at))?)))
        else {
            return Some((Asked::YesNo, Vec::new()));
        };
        let follows = |words: &[&str]| at + 1 < count && words.contains(&word(at + 1));
        let asked = match asking {
            QuestionWord::Who => Asked::Who,
            QuestionWord::When => Asked::When,
            QuestionWord::Number => Asked::Number,
            QuestionWord::Where => Asked::Where,
            QuestionWord::Why => Asked::Why,
            QuestionWord::How
                if follows(&[
                    "viel", "viele", "lange", "hoch", "gross", "alt", "lang", "oud",
                ]) =>
            {
                Asked::Number
            }
            QuestionWord::How => Asked::How,
            QuestionWord::What => Asked::What,
        };
        Some((asked, Vec::new()))
    }

    /// Its kind, and the noun that it asks for.
    fn ask(&self) -> (Asked, Vec<u32>) {
        let Some((word, after)) = self.question_word() else {
            let first = self.forms().next();
            let asks = first.is_some_and(|form| form.is(does::AUXILIARY));
            return (if asks { Asked::YesNo } else { Asked::Claim }, Vec::new());
        };
        let head = self.head_noun(after);
        match word {
            "who" | "whom" => (Asked::Who, Vec::new()),
            "whose" => (Asked::Who, head),
            "when" => (Asked::When, Vec::new()),
            "where" => (Asked::Where, Vec::new()),
            "why" => (Asked::Why, Vec::new()),
            "how many" => (Asked::Number, head),
            "how far" => (Asked::Number, Vec::new()),
            "how" => (Asked::How, Vec::new()),
            _ if head.is_empty() => self.what_it_is(after),
            _ => self.by_noun(head),
        }
    }

    /// The word that asks, and the position after it. A question that begins with an auxiliary asks for yes or no, whatever
    /// such words stand in it: "Is it valid when used at sea?", but not "Do you know when it opens?"
    fn question_word(&self) -> Option<(&'static str, usize)> {
        const WORDS: &[&str] = &[
            "who", "whom", "whose", "when", "where", "why", "how", "what", "which",
        ];
        let begins = self.forms().next();
        let asks_yes = begins.is_some_and(|form| form.is(does::AUXILIARY));
        for (at, form) in self.forms().enumerate() {
            let Some(word) = WORDS.iter().find(|word| **word == &*form.low) else {
                continue;
            };
            if asks_yes && !self.is_led_by_knowing(at) {
                continue;
            }
            let next = self
                .tokens
                .get(at + 1)
                .map_or("", |_| &self.form(at + 1).low);
            return Some(match (*word, next) {
                ("how", "many" | "much") => ("how many", at + 2),
                ("how", "long" | "old" | "far" | "often" | "tall" | "large" | "big" | "high") => {
                    ("how far", at + 2)
                }
                _ => (word, at + 1),
            });
        }
        None
    }

    /// Whether a verb of knowing or telling stands before a place: "Do you know when", "Can you tell me which".
    fn is_led_by_knowing(&self, at: usize) -> bool {
        const KNOWING: [&str; 8] = [
            "know", "tell", "say", "state", "explain", "specify", "mention", "show",
        ];
        let word = |by: usize| at.checked_sub(by).map_or("", |at| &*self.form(at).low);
        let by = 1 + usize::from(matches!(word(1), "me" | "us" | "exactly" | "in"));
        KNOWING.contains(&word(by))
    }

    fn head_noun(&self, from: usize) -> Vec<u32> {
        let mut head = Vec::new();
        for form in self.forms().skip(from).take(5) {
            let is_of = &*form.low == "of";
            if form.is(does::AUXILIARY) || (form.is_stop() && !head.is_empty() && !is_of) {
                break;
            }
            if !form.is_stop() {
                head.push(form.stem);
            } else if is_of {
                break;
            }
        }
        head
    }

    fn asks_for(&self, stem: u32) -> Option<Asks> {
        known().asks(&self.lexicon.stems[stem as usize])
    }

    fn by_noun(&self, mut head: Vec<u32>) -> (Asked, Vec<u32>) {
        head.truncate(3);
        for &stem in &head {
            let asked = match self.asks_for(stem) {
                Some(Asks::Time) => Asked::When,
                Some(Asks::Number) => Asked::Number,
                Some(Asks::Person) => Asked::Who,
                Some(Asks::Place) => Asked::Where,
                None => continue,
            };
            return (asked, vec![stem]);
        }
        (Asked::WhatNoun, head)
    }

    /// "What is the population of": the noun stands after the verb.
    fn what_it_is(&self, after: usize) -> (Asked, Vec<u32>) {
        let mut rest = self.forms().skip(after);
        if rest.next().is_some_and(|form| form.is(does::AUXILIARY)) {
            let noun = rest.take(4).find(|form| !form.is_stop());
            if let Some(noun) = noun {
                match self.asks_for(noun.stem) {
                    Some(Asks::Time) => return (Asked::When, vec![noun.stem]),
                    Some(Asks::Number) => return (Asked::Number, vec![noun.stem]),
                    _ => {}
                }
            }
        }
        (Asked::What, Vec::new())
    }

    pub(crate) fn has_superlative(&self) -> bool {
        self.forms().any(|form| is_superlative(&form.low))
    }
}

fn is_exacting(text: &str) -> bool {
    let text = text.to_lowercase();
    [" least", " most ", " only ", " never", " not ", "n't"]
        .iter()
        .any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use crate::evidence::engine::question::*;

    fn check(text: &str, asked: Asked, head: &[&str]) {
        let question = Question::new(text, false, Language::English);
        let found: Vec<&str> = question
            .head
            .iter()
            .map(|stem| &*question.lexicon.stems[*stem as usize])
            .collect();
        assert_eq!((question.asked, &*found), (asked, head), "{text}");
    }

    #[test]
    fn questions_ask_for_something() {
        check("Who wrote it?", Asked::Who, &[]);
        check("In what year was it founded?", Asked::When, &["year"]);
        check(
            "What is the population of Turin?",
            Asked::Number,
            &["popul"],
        );
        check(
            "How many seats does the Pro plan have?",
            Asked::Number,
            &["seat"],
        );
        check(
            "Which band flows there?",
            Asked::WhatNoun,
            &["band", "flow"],
        );
        check("What is a monad?", Asked::What, &[]);
        check("Does it rain?", Asked::YesNo, &[]);
        check("Rain falls.", Asked::Claim, &[]);
        // A word that asks inside a question for yes or no.
        for text in [
            "Is the warranty valid when it is used at sea?",
            "Do I have to pay when the item is faulty?",
            "Is there a place where I can park?",
            "Can guests who smoke stay here?",
        ] {
            check(text, Asked::YesNo, &[]);
        }
        check("Do you know when it opens?", Asked::When, &[]);
        check("Can you tell me who wrote it?", Asked::Who, &[]);
        check("Does the page say where it is?", Asked::Where, &[]);
    }

    /// Every question on a German page was read as one for a thing: "Sind Hunde erlaubt?" was answered by what forbids them.
    #[test]
    fn questions_in_other_languages_ask_for_something() {
        let check = |tag: &str, text: &str, expected: Asked| {
            let language = Language::of(Some(tag), "");
            let question = Question::new(text, false, language);
            assert_eq!(question.asked, expected, "{text}");
        };
        check("de", "Sind Hunde erlaubt?", Asked::YesNo);
        check("de", "Wann öffnet das Bad?", Asked::When);
        check("de", "Was kostet der Eintritt?", Asked::What);
        check("de", "In welchem Jahr schloss es?", Asked::What);
        check("de", "Wie viele Becken hat es?", Asked::Number);
        check("fr", "Le musée est-il ouvert le lundi ?", Asked::YesNo);
        check("fr", "Est-ce que le musée est ouvert ?", Asked::YesNo);
        check("fr", "Le musée ouvre quand ?", Asked::When);
        check("fr", "Où se trouve le musée ?", Asked::Where);
        check("es", "¿Está abierto el museo?", Asked::YesNo);
        check("es", "¿Quién dirige el museo?", Asked::Who);
        check("it", "Il museo è aperto?", Asked::YesNo);
        check("pt", "Quantos livros tem?", Asked::Number);
        check("nl", "Zijn honden toegestaan?", Asked::YesNo);
        check("nl", "Wie leidt het museum?", Asked::Who);
        check("de", "Who runs the museum?", Asked::Who);
    }

    #[test]
    fn terms_are_distinct() {
        let question = Question::new(
            "Does the plan for plans support planning?",
            false,
            Language::English,
        );
        let terms: Vec<&str> = question.terms.iter().map(|&at| question.stem(at)).collect();
        assert_eq!(terms, ["plan", "support"]);
        assert_eq!(question.term_of[4], Some(0));
    }
}
