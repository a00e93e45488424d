//! What the units around one lend it, and what it has where the question has something else.

use super::look::Look;
use super::{Features, count, flag};
use crate::evidence::reading::words::does;

impl Look<'_> {
    pub(crate) fn neighbours(&self, f: &mut Features) {
        let matching = self.matching;
        let unit = self.unit;
        let before = matching.carried_in(unit.checked_sub(1));
        let second = matching.carried_in(unit.checked_sub(2));
        let after = matching.carried_in(Some(unit + 1));
        f.prevcov = self.share(|term| before[term]);
        f.nextcov = self.share(|term| after[term]);
        let here = |term: usize, above: f64| self.carried[term].max(above * self.above[term]);
        f.cov_p = self.share(|term| here(term, 0.7).max(0.7 * before[term]));
        f.cov_n = self.share(|term| here(term, 0.7).max(0.7 * after[term]));
        f.lent = self.share(|term| match self.is_missing(term) {
            true => before[term].max(after[term]),
            false => 0.0,
        });
        f.cov_u3 = self.share(|term| self.carried[term].max(before[term]).max(after[term]));
        f.cov_w = self.share(|term| {
            here(term, 0.8)
                .max(0.7 * before[term])
                .max(0.5 * second[term])
                .max(0.5 * after[term])
        });
        let form = |at: usize| self.forms.get(at);
        let is_pronoun = self.forms.iter().take(6).any(|form| form.is(does::PRONOUN));
        let is_definite =
            self.low(0) == "the" && form(1).is_some_and(|next| !next.is(does::CAPITAL));
        f.pron = flag(is_pronoun || is_definite);
        f.cov_pr = if f.pron > 0.0 { f.cov_p } else { f.cov_r };
        let around = unit.saturating_sub(3)..(unit + 4).min(matching.score.len());
        let others: Vec<f64> = around
            .filter(|other| *other != unit)
            .map(|other| matching.score[other])
            .collect();
        if !others.is_empty() {
            f.nb3 = others.iter().sum::<f64>() / count(others.len()) / matching.score_max;
        }
    }

    pub(crate) fn substitutions(&self, f: &mut Features) {
        if !self.terms().any(|term| self.is_missing(term)) {
            return;
        }
        let question = self.matching.question;
        let stems = &self.matching.stems;
        for at in 1..question.tokens.len().saturating_sub(1) {
            let form = question.form(at);
            let is_carried = question.term_of[at].is_some_and(|term| self.carried[term] > 0.0);
            let (Some(left), Some(right)) = (stems[at - 1], stems[at + 1]) else {
                continue;
            };
            if form.is_stop() || is_carried {
                continue;
            }
            let other = (1..self.forms.len().saturating_sub(1)).find(|&place| {
                self.forms[place - 1].stem == left
                    && self.forms[place + 1].stem == right
                    && Some(self.forms[place].stem) != stems[at]
                    && !self.forms[place].is_stop()
            });
            if let Some(other) = other {
                f.sub += 1.0;
                f.entconf += flag(self.forms[other].is(does::CAPITAL) || form.is(does::CAPITAL));
            }
        }
        for pair in question.term_of.windows(2) {
            if let [Some(first), Some(second)] = *pair {
                self.modifiers(first, second, f);
            }
        }
    }

    /// Two terms side by side in the question, of which the unit carries one.
    fn modifiers(&self, first: usize, second: usize, f: &mut Features) {
        let places = |term: usize| {
            (0..self.forms.len())
                .filter(move |&at| self.matching.carries(self.forms[at].stem, term))
        };
        let has = |term: usize| !self.places[term].is_empty();
        if self.is_missing(first) && has(second) {
            if places(second).any(|at| at > 0 && self.is_new(at - 1)) {
                f.modsub += self.weight(first);
            } else {
                f.modnone += self.weight(first);
            }
        }
        if self.is_missing(second)
            && has(first)
            && places(first).any(|at| at + 1 < self.forms.len() && self.is_new(at + 1))
        {
            f.rsub += self.weight(second);
        }
    }
}
