//! Where the terms of a question stand on a page, and how well each unit carries them: credits for words that are not
//! quite the same, weights of terms, BM25. Chooses the candidates that are looked at closely.

mod partial_match;

use super::question::{Question, TERMS_MAX};
use crate::evidence::reading::page::Page;
use crate::evidence::reading::words::{does, known};
use partial_match::{COMPARISONS_MAX, credits};

/// Units that are compared with the question in full.
const CANDIDATES_MAX: usize = 40;
/// Units from which the extent of a page is measured.
const REACH_UNITS: usize = 6;

/// A term of the question on this page.
#[derive(Debug)]
pub(crate) struct Term {
    /// Position among the question's tokens.
    pub(crate) at: usize,
    pub(crate) is_name: bool,
    pub(crate) number: Option<f64>,
    pub(crate) weight: f64,
    pub(crate) idf: f64,
    /// How well the title carries it.
    pub(crate) title: f64,
    /// Whether any unit carries it.
    pub(crate) is_anywhere: bool,
}

/// A term that a unit carries.
#[derive(Clone, Copy, Debug)]
struct Hit {
    term: usize,
    credit: f64,
    frequency: f64,
    exact: f64,
}

#[derive(Debug)]
pub(crate) struct Matching<'a> {
    pub(crate) page: &'a Page<'a>,
    pub(crate) question: &'a Question,
    pub(crate) terms: Vec<Term>,
    /// Sums of the terms' weights and of their rarity.
    pub(crate) weight: f64,
    pub(crate) idf: f64,
    /// For each of the question's tokens its stem on the page.
    pub(crate) stems: Vec<Option<u32>>,
    /// By stem of the page: the terms it carries.
    carried: Vec<u32>,
    carries: Vec<Vec<(usize, f64)>>,
    hits: Vec<Hit>,
    /// The first hit of each unit, and one more.
    unit_hits: Vec<u32>,
    /// BM25 with exact stems, and with credits.
    pub(crate) exact_score: Vec<f64>,
    pub(crate) score: Vec<f64>,
    pub(crate) exact_score_max: f64,
    pub(crate) score_max: f64,
    /// Units in the order of the page.
    pub(crate) candidates: Vec<usize>,
    pub(crate) touched: usize,
}

const SATURATION: f64 = 1.2;
const LENGTH_SHARE: f64 = 0.6;

impl<'a> Matching<'a> {
    pub(crate) fn new(page: &'a Page<'a>, question: &'a Question) -> Matching<'a> {
        Matching::of_candidates(page, question, CANDIDATES_MAX)
    }

    /// With this many candidates at most.
    pub(crate) fn of_candidates(
        page: &'a Page<'a>,
        question: &'a Question,
        candidates_max: usize,
    ) -> Matching<'a> {
        let stem_on_page = |at| page.lexicon.stem_of(question.stem(at));
        let mut matching = Matching {
            page,
            question,
            terms: Vec::new(),
            weight: 0.0,
            idf: 0.0,
            stems: (0..question.tokens.len()).map(stem_on_page).collect(),
            carried: vec![0; page.lexicon.stems.len()],
            carries: vec![Vec::new()],
            hits: Vec::new(),
            unit_hits: Vec::with_capacity(page.units.len() + 1),
            exact_score: vec![0.0; page.units.len()],
            score: vec![0.0; page.units.len()],
            exact_score_max: 0.0,
            score_max: 0.0,
            candidates: Vec::new(),
            touched: 0,
        };
        matching.find_credits();
        matching.find_hits();
        matching.weigh();
        matching.score_units();
        matching.score_by_context();
        matching.choose(candidates_max);
        matching
    }

    fn find_credits(&mut self) {
        let all = credits(self.page, self.question, COMPARISONS_MAX);
        for (&at, credits) in self.question.terms.iter().zip(all) {
            let number = self.terms.len();
            for &(stem, credit) in &credits {
                let carried = &mut self.carried[stem as usize];
                if *carried == 0 {
                    *carried = u32::try_from(self.carries.len()).unwrap_or(0);
                    self.carries.push(Vec::new());
                }
                self.carries[*carried as usize].push((number, credit));
            }
            let form = self.question.form(at);
            let capital = form.is(does::CAPITAL) && at > 0;
            let known_name = self.stems[at].is_some_and(|stem| self.page.is_name(stem));
            let number = self.question.number(at);
            self.terms.push(Term {
                at,
                is_name: capital || (known_name && number.is_none()),
                number,
                weight: 0.0,
                idf: 0.0,
                title: self.best_credit(&self.page.title, &credits),
                is_anywhere: false,
            });
        }
    }

    fn best_credit(&self, tokens: &[u32], credits: &[(u32, f64)]) -> f64 {
        let forms = tokens.iter().map(|token| self.page.lexicon.form(*token));
        let stems = forms.filter(|form| !form.is_stop()).map(|form| form.stem);
        stems
            .filter_map(|stem| credits.iter().find(|(other, _)| *other == stem))
            .map(|(_, credit)| *credit)
            .fold(0.0, f64::max)
    }

    /// The terms that a stem of the page carries.
    pub(crate) fn carried_by(&self, stem: u32) -> &[(usize, f64)] {
        let carried = self.carried.get(stem as usize).copied().unwrap_or_default();
        &self.carries[carried as usize]
    }

    pub(crate) fn carries(&self, stem: u32, term: usize) -> bool {
        self.carried_by(stem)
            .iter()
            .any(|(other, _)| *other == term)
    }

    fn find_hits(&mut self) {
        let mut frequency = [0.0; TERMS_MAX];
        let mut exact = [0.0; TERMS_MAX];
        let mut credit = [0.0_f64; TERMS_MAX];
        let mut seen = Vec::new();
        self.unit_hits.push(0);
        for unit in 0..self.page.units.len() {
            for &token in self.page.unit_tokens(unit) {
                let form = self.page.lexicon.form(token);
                let carried = self.carried[form.stem as usize];
                if carried == 0 || form.is_stop() {
                    continue;
                }
                for &(term, value) in &self.carries[carried as usize] {
                    if credit[term] == 0.0 {
                        seen.push(term);
                    }
                    frequency[term] += value;
                    exact[term] += if value >= 1.0 { 1.0 } else { 0.0 };
                    credit[term] = credit[term].max(value);
                }
            }
            seen.sort_unstable();
            for term in seen.drain(..) {
                self.hits.push(Hit {
                    term,
                    credit: credit[term],
                    frequency: frequency[term],
                    exact: exact[term],
                });
                (frequency[term], exact[term], credit[term]) = (0.0, 0.0, 0.0);
            }
            self.unit_hits
                .push(u32::try_from(self.hits.len()).unwrap_or(u32::MAX));
        }
    }

    fn hits_of(&self, unit: usize) -> &[Hit] {
        &self.hits[self.unit_hits[unit] as usize..self.unit_hits[unit + 1] as usize]
    }

    /// How many units carry each term: exactly, and at all.
    fn unit_counts(&self) -> (Vec<f64>, Vec<f64>) {
        let mut exact = vec![0.0; self.terms.len()];
        let mut any = vec![0.0; self.terms.len()];
        for hit in &self.hits {
            any[hit.term] += 1.0;
            if hit.exact > 0.0 {
                exact[hit.term] += 1.0;
            }
        }
        (exact, any)
    }

    fn rarity(&self, units: f64) -> f64 {
        let total = self.page.units.len() as f64;
        (1.0 + (total - units + 0.5) / (units + 0.5)).ln()
    }

    fn weigh(&mut self) {
        let (exact, any) = self.unit_counts();
        let rarity_max = self.rarity(0.0).max(f64::MIN_POSITIVE);
        for number in 0..self.terms.len() {
            let idf = self.rarity(exact[number]);
            let term = &mut self.terms[number];
            let common = known().is_common(self.question.stem(term.at));
            let factor = if common { 0.35 } else { 1.0 };
            let named = if term.is_name || term.number.is_some() {
                1.25
            } else {
                1.0
            };
            term.idf = idf;
            term.weight = factor * named * (0.5 + 0.5 * idf / rarity_max);
            term.is_anywhere = any[number] > 0.0;
        }
        let or_one = |sum: f64| if sum > 0.0 { sum } else { 1.0 };
        self.weight = or_one(self.terms.iter().map(|term| term.weight).sum());
        self.idf = or_one(self.terms.iter().map(|term| term.idf).sum());
    }

    fn score_units(&mut self) {
        let (_, any) = self.unit_counts();
        let rarities: Vec<f64> = any.iter().map(|&units| self.rarity(units)).collect();
        for unit in 0..self.page.units.len() {
            let hits = self.unit_hits[unit] as usize..self.unit_hits[unit + 1] as usize;
            if hits.is_empty() {
                continue;
            }
            self.touched += 1;
            let length = self.page.units[unit].content as f64 / self.page.mean_content;
            let norm = SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * length);
            let saturated = |frequency: f64| frequency * (1.0 + SATURATION) / (frequency + norm);
            for hit in &self.hits[hits] {
                let term = &self.terms[hit.term];
                let weight = 0.6 + 0.4 * term.weight;
                self.score[unit] += weight * rarities[hit.term] * saturated(hit.frequency);
                if hit.exact > 0.0 {
                    self.exact_score[unit] += term.idf * saturated(hit.exact);
                }
            }
        }
        let largest = |scores: &[f64]| scores.iter().copied().fold(0.0, f64::max);
        let or_one = |largest: f64| if largest > 0.0 { largest } else { 1.0 };
        self.exact_score_max = or_one(largest(&self.exact_score));
        self.score_max = or_one(largest(&self.score));
    }

    /// What headings, lead-ins and headers carry helps the units they stand over to become candidates.
    fn score_by_context(&mut self) {
        let page = self.page;
        if page.blocks.headings.is_empty() && page.blocks.blocks.iter().all(|b| b.context.is_none())
        {
            return;
        }
        let any: Vec<f64> = self
            .terms
            .iter()
            .map(|term| term.idf * term.weight)
            .collect();
        let mut path: Vec<(u8, Vec<usize>)> = Vec::new();
        let mut heading = 0;
        for (number, block) in page.blocks.blocks.iter().enumerate() {
            let units = page.units_of(number);
            if block.headings > heading {
                heading = block.headings;
                let level = page.blocks.headings[heading - 1].level;
                while path.last().is_some_and(|(other, _)| *other >= level) {
                    path.pop();
                }
                let carried = units.clone().flat_map(|unit| self.hits_of(unit));
                path.push((level, carried.map(|hit| hit.term).collect()));
                continue;
            }
            let context = page.context_unit(block);
            let mut above: Vec<usize> = path.iter().flat_map(|(_, terms)| terms).copied().collect();
            above.extend(
                context
                    .iter()
                    .flat_map(|unit| self.hits_of(*unit))
                    .map(|hit| hit.term),
            );
            if above.is_empty() {
                continue;
            }
            above.sort_unstable();
            above.dedup();
            for unit in units {
                let own = self.hits_of(unit);
                let lent: f64 = above
                    .iter()
                    .filter(|term| !own.iter().any(|hit| hit.term == **term))
                    .map(|term| 0.5 * any[*term])
                    .sum();
                self.score[unit] += lent;
            }
        }
    }

    fn choose(&mut self, most: usize) {
        let total = self.page.units.len();
        let mut order: Vec<usize> = (0..total).collect();
        if total > most {
            let by_score = |one: &usize, other: &usize| {
                self.score[*other]
                    .total_cmp(&self.score[*one])
                    .then(one.cmp(other))
            };
            order.select_nth_unstable_by(most, by_score);
            order.truncate(most);
            order.sort_unstable();
        }
        self.candidates = order;
    }

    /// The most of the question's weight that a unit carries with the title and the units beside it, 0 to 1, of the units
    /// that score best.
    pub(crate) fn reach(&self) -> f64 {
        let mut best = self.candidates.clone();
        best.sort_by(|one, other| self.score[*other].total_cmp(&self.score[*one]));
        let shares = best.iter().take(REACH_UNITS).map(|&unit| {
            let own = self.carried_in(Some(unit));
            let before = self.carried_in(unit.checked_sub(1));
            let after = self.carried_in(Some(unit + 1));
            let terms = self.terms.iter().enumerate();
            let carried = terms.map(|(number, term)| {
                let beside = before[number].max(after[number]).max(term.title);
                term.weight * own[number].max(0.7 * beside)
            });
            carried.sum::<f64>() / self.weight
        });
        shares.fold(0.0, f64::max)
    }

    /// How well a unit carries each term.
    pub(crate) fn carried_in(&self, unit: Option<usize>) -> Vec<f64> {
        let mut credits = vec![0.0; self.terms.len()];
        if let Some(unit) = unit.filter(|unit| *unit < self.page.units.len()) {
            for hit in self.hits_of(unit) {
                credits[hit.term] = hit.credit;
            }
        }
        credits
    }

    /// How well the title, the headings above a unit and what leads it in carry each term.
    pub(crate) fn carried_above(&self, unit: usize) -> Vec<f64> {
        let mut credits: Vec<f64> = self.terms.iter().map(|term| term.title).collect();
        let block = self.page.block(unit);
        let mut above: Vec<usize> = self.page.heading_units(block).collect();
        above.extend(self.page.context_unit(block));
        for unit in above {
            for hit in self.hits_of(unit) {
                credits[hit.term] = credits[hit.term].max(hit.credit);
            }
        }
        credits
    }
}
