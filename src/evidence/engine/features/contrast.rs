//! What in a unit may speak against what is asked: other numbers, a negation, an antonym, another direction.

use super::look::Look;
use super::{Features, count, flag};
use crate::evidence::reading::words::does;

impl Look<'_> {
    fn number(&self, at: usize) -> Option<f64> {
        self.matching.page.lexicon.number(self.tokens, at)
    }

    pub(crate) fn numbers(&self, f: &mut Features) {
        let here: Vec<(usize, f64)> = (0..self.tokens.len())
            .filter_map(|at| Some((at, self.number(at)?)))
            .collect();
        let is_here = |number: f64| here.iter().any(|(_, other)| *other == number);
        let wanted = self.matching.terms.iter().filter_map(|term| term.number);
        let (found, total) = wanted.fold((0, 0), |(found, total), number| {
            (found + usize::from(is_here(number)), total + 1)
        });
        f.nnum = count(total);
        f.numcov = if total > 0 {
            count(found) / count(total)
        } else {
            1.0
        };
        f.numfar = flag(total > 0 && found == 0 && !here.is_empty());
        if found < total {
            let others = self
                .asking
                .numbers
                .iter()
                .filter(|(_, number)| !is_here(*number));
            let conflicts = |at: usize| {
                here.iter()
                    .take(64)
                    .any(|(other, _)| self.conflicts(at, *other))
            };
            f.numconf = flag(others.into_iter().any(|(at, _)| conflicts(*at)));
        }
    }

    /// Whether a number of the question and one of the unit stand beside the same words.
    fn conflicts(&self, at: usize, other: usize) -> bool {
        let question = self.matching.question;
        if question.form(at).is(does::YEAR) != self.forms[other].is(does::YEAR) {
            return false;
        }
        let beside = |at: usize, total: usize| at.saturating_sub(2)..(at + 3).min(total);
        let same = beside(at, question.tokens.len()).any(|near| {
            let form = question.form(near);
            let is_word = !form.is_stop() && form.number.is_none();
            is_word
                && beside(other, self.forms.len()).any(|place| {
                    let form = self.forms[place];
                    !form.is_stop()
                        && form.number.is_none()
                        && self.matching.stems[near] == Some(form.stem)
                })
        });
        same || (question.form(at).is(does::YEAR)
            && at > 0
            && other > 0
            && question.form(at - 1).low == self.forms[other - 1].low)
    }

    pub(crate) fn polarity(&self, f: &mut Features) {
        let question = self.matching.question;
        let (asked, said) = (question.has(does::NEGATION), self.has(does::NEGATION));
        f.negq = flag(asked);
        f.negs = flag(said);
        f.negd = flag(asked != said);
        let (up, down) = (self.has(does::UP), self.has(does::DOWN));
        let (goes_up, goes_down) = (self.asking.goes_up, self.asking.goes_down);
        f.dr =
            flag((goes_up && down && !up && !goes_down) || (goes_down && up && !down && !goes_up));
        f.hedge = flag(self.has(does::HEDGE));
        f.hedgeq = flag(question.has(does::HEDGE));
        let here = |stems: &[u32]| stems.iter().any(|stem| self.stems.contains(stem));
        for term in self.terms().filter(|&term| !self.is_exact(term)) {
            f.ant += flag(here(&self.asking.plain_antonyms[term]));
            let antonyms = &self.asking.antonyms[term];
            if here(antonyms) {
                f.antw += 1.0;
                let stands_beside = |at: usize| {
                    let near = at.saturating_sub(2)..(at + 3).min(self.forms.len());
                    near.into_iter()
                        .any(|other| other != at && self.is_hit(other))
                };
                let places =
                    (0..self.forms.len()).filter(|&at| antonyms.contains(&self.forms[at].stem));
                f.antadj = f.antadj.max(flag(places.into_iter().any(stands_beside)));
            }
        }
        let asked_ordinals: Vec<u8> = question
            .forms()
            .map(|form| form.ordinal)
            .filter(|o| *o > 0)
            .collect();
        let ordinals: Vec<u8> = self
            .forms
            .iter()
            .map(|form| form.ordinal)
            .filter(|o| *o > 0)
            .collect();
        let is_same = asked_ordinals
            .iter()
            .any(|ordinal| ordinals.contains(ordinal));
        f.ordconf = flag(!asked_ordinals.is_empty() && !ordinals.is_empty() && !is_same);
        let superlative = question.has_superlative();
        f.supq = flag(superlative);
        f.supmis = flag(superlative && !self.has(does::SUPERLATIVE));
        f.sups = flag(!superlative && self.has(does::SUPERLATIVE));
        let mut all = question.forms().filter(|form| form.is(does::ALL));
        f.allmis = flag(all.any(|form| !self.forms.iter().any(|other| other.low == form.low)));
    }
}
