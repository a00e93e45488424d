//! What is the same for all candidates of a question: its terms as the page has them, and what it asks for. Knows no
//! candidate.

use std::collections::HashSet;

use super::{Features, count, flag};
use crate::evidence::engine::matching::Matching;
use crate::evidence::engine::measure::Measure;
use crate::evidence::engine::question::{ASKED, Asked};
use crate::evidence::reading::page::Page;
use crate::evidence::reading::words::{does, known};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Adjective,
    Verb,
    Adverb,
    Noun,
    Name,
    Number,
}

pub(crate) struct Asking<'a> {
    pub(crate) matching: &'a Matching<'a>,
    /// Stems of the terms on the page.
    pub(crate) term_stems: HashSet<u32>,
    pub(crate) classes: Vec<Class>,
    pub(crate) plain_antonyms: Vec<Vec<u32>>,
    pub(crate) antonyms: Vec<Vec<u32>>,
    /// Terms and stems of the noun that is asked for.
    pub(crate) head: Vec<(Option<usize>, Option<u32>)>,
    pub(crate) numbers: Vec<(usize, f64)>,
    pub(crate) measure: Option<Measure>,
    pub(crate) goes_up: bool,
    pub(crate) goes_down: bool,
}

impl<'a> Asking<'a> {
    pub(crate) fn new(matching: &'a Matching<'a>) -> Asking<'a> {
        let question = matching.question;
        let on_page = |words: &mut dyn Iterator<Item = String>| -> Vec<u32> {
            words
                .filter_map(|word| matching.page.lexicon.stem_of(&word))
                .collect()
        };
        let stems = || matching.terms.iter().map(|term| question.stem(term.at));
        let head = question.head.iter().map(|&stem| {
            let is_it = |at: &usize| question.form(*at).stem == stem;
            let term = question.terms.iter().position(is_it);
            let text = &question.lexicon.stems[stem as usize];
            (term, matching.page.lexicon.stem_of(text))
        });
        let numbers = (0..question.tokens.len()).filter_map(|at| Some((at, question.number(at)?)));
        let mut asking = Asking {
            matching,
            term_stems: matching
                .terms
                .iter()
                .filter_map(|term| matching.stems[term.at])
                .collect(),
            classes: Vec::new(),
            plain_antonyms: stems()
                .map(|stem| on_page(&mut known().plain_antonyms(stem).iter().cloned()))
                .collect(),
            antonyms: stems()
                .map(|stem| {
                    let mut all = known().antonyms(stem);
                    all.extend(known().plain_antonyms(stem).iter().cloned());
                    on_page(&mut all.into_iter())
                })
                .collect(),
            head: head.collect(),
            numbers: numbers.take(16).collect(),
            measure: Measure::asked_for(question),
            goes_up: question.has(does::UP),
            goes_down: question.has(does::DOWN),
        };
        asking.classes = (0..matching.terms.len())
            .map(|term| asking.class(term))
            .collect();
        asking
    }

    fn page(&self) -> &'a Page<'a> {
        self.matching.page
    }

    fn class(&self, term: usize) -> Class {
        const ADJECTIVES: &[&str] = &[
            "al", "ic", "ous", "ive", "ful", "less", "able", "ible", "ary", "est", "ish", "ant",
            "ent",
        ];
        const BEFORE_VERBS: &[&str] = &["to", "did", "does", "do", "can", "could", "would", "will"];
        let question = self.matching.question;
        let term = &self.matching.terms[term];
        let low = &*question.form(term.at).low;
        let before = match term.at {
            0 => "",
            at => &question.form(at - 1).low,
        };
        let is_last = term.at + 1 == question.tokens.len();
        let ends = |endings: &[&str]| endings.iter().any(|ending| low.ends_with(ending));
        if term.number.is_some() {
            Class::Number
        } else if term.is_name {
            Class::Name
        } else if low.ends_with("ly") {
            Class::Adverb
        } else if ends(&["ed", "ing"])
            || BEFORE_VERBS.contains(&before)
            || (is_last && question.forms().any(|form| &*form.low == "did"))
        {
            Class::Verb
        } else if ends(ADJECTIVES) {
            Class::Adjective
        } else {
            Class::Noun
        }
    }

    pub(crate) fn kind(&self, features: &mut Features) {
        let question = self.matching.question;
        let is = |asked: Asked| flag(question.asked == asked);
        let with_answer = |asked: Asked| is(asked) * features.hasans;
        let [who, when, num, place, why, how, what, whatx, yn, claim] = ASKED.map(is);
        features.ax_who = with_answer(Asked::Who);
        features.ax_when = with_answer(Asked::When);
        features.ax_num = with_answer(Asked::Number);
        features.ax_where = with_answer(Asked::Where);
        features.ax_why = with_answer(Asked::Why);
        features.ax_how = with_answer(Asked::How);
        (features.q_who, features.q_when, features.q_num) = (who, when, num);
        (features.q_where, features.q_why, features.q_how) = (place, why, how);
        (features.q_what, features.q_whatx) = (what, whatx);
        (features.q_yn, features.q_claim) = (yn, claim);
        features.lnn = (1.0 + count(self.page().units.len())).ln();
    }
}
