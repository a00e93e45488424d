//! One unit looked at closely: its words, and where it carries which term. Knows no feature.

use std::collections::HashSet;

use super::asking::Asking;
use crate::evidence::engine::matching::Matching;
use crate::evidence::reading::tokens::Form;

pub(crate) struct Look<'a> {
    pub(crate) asking: &'a Asking<'a>,
    pub(crate) matching: &'a Matching<'a>,
    pub(crate) unit: usize,
    pub(crate) tokens: &'a [u32],
    pub(crate) forms: Vec<&'a Form>,
    /// Stems of content words, in order.
    pub(crate) content: Vec<u32>,
    pub(crate) stems: HashSet<u32>,
    pub(crate) carried: Vec<f64>,
    pub(crate) above: Vec<f64>,
    /// Positions in `content` of each term.
    pub(crate) places: Vec<Vec<usize>>,
    /// Positions in `content` that carry a term.
    pub(crate) hits: Vec<usize>,
}

impl<'a> Look<'a> {
    pub(crate) fn new(asking: &'a Asking<'a>, unit: usize) -> Look<'a> {
        let matching = asking.matching;
        let tokens = matching.page.unit_tokens(unit);
        let forms: Vec<&Form> = tokens
            .iter()
            .map(|token| matching.page.lexicon.form(*token))
            .collect();
        let content: Vec<u32> = forms
            .iter()
            .filter(|form| !form.is_stop())
            .map(|form| form.stem)
            .collect();
        let mut places = vec![Vec::new(); matching.terms.len()];
        let mut hits = Vec::new();
        for (place, &stem) in content.iter().enumerate() {
            let carried = matching.carried_by(stem);
            carried
                .iter()
                .for_each(|(term, _)| places[*term].push(place));
            if !carried.is_empty() {
                hits.push(place);
            }
        }
        Look {
            asking,
            matching,
            unit,
            tokens,
            forms,
            stems: content.iter().copied().collect(),
            content,
            carried: matching.carried_in(Some(unit)),
            above: matching.carried_above(unit),
            places,
            hits,
        }
    }

    pub(crate) fn weight(&self, term: usize) -> f64 {
        self.matching.terms[term].weight
    }

    pub(crate) fn terms(&self) -> std::ops::Range<usize> {
        0..self.matching.terms.len()
    }

    /// Weighted share of the terms, each by what is given for it.
    pub(crate) fn share(&self, value: impl Fn(usize) -> f64) -> f64 {
        self.terms()
            .map(|term| self.weight(term) * value(term))
            .sum::<f64>()
            / self.matching.weight
    }

    pub(crate) fn is_exact(&self, term: usize) -> bool {
        self.carried[term] >= 1.0
    }

    /// Neither here nor above.
    pub(crate) fn is_missing(&self, term: usize) -> bool {
        self.carried[term] == 0.0 && self.above[term] < 0.8
    }

    pub(crate) fn is_term(&self, stem: u32) -> bool {
        self.asking.term_stems.contains(&stem)
    }

    /// A content word that is not of the question.
    pub(crate) fn is_new(&self, at: usize) -> bool {
        !self.forms[at].is_stop() && !self.is_term(self.forms[at].stem)
    }

    pub(crate) fn is_hit(&self, at: usize) -> bool {
        let stem = self.forms[at].stem;
        self.stems.contains(&stem) && !self.matching.carried_by(stem).is_empty()
    }

    pub(crate) fn has(&self, flags: u32) -> bool {
        self.forms.iter().any(|form| form.is(flags))
    }

    pub(crate) fn low(&self, at: usize) -> &str {
        self.forms.get(at).map_or("", |form| &form.low)
    }
}
