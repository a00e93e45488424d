//! Which of several dates, amounts or names of a passage is said of some words: the one in the clause with most of them; of
//! those that have as many the one that is nearest to each. Where more than one could be it, none is.

use std::ops::Range;

use crate::evidence::reading::words::{does, known};

pub(crate) struct Word {
    pub(crate) range: Range<usize>,
    pub(crate) low: String,
    pub(crate) stem: String,
}

/// What could be the answer.
pub(crate) struct Choice {
    pub(crate) range: Range<usize>,
    /// How well its kind fits.
    pub(crate) fit: usize,
}

/// A passage with the words that one of its values is looked for by.
pub(crate) struct Passage<'a> {
    pub(crate) text: &'a str,
    pub(crate) words: Vec<Word>,
    /// Stems, and how much each counts.
    pub(crate) terms: Vec<(String, usize)>,
}

fn words(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (c.is_alphanumeric(), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                let low = text[from..at].to_lowercase();
                let stem = known().stem(&low);
                let range = from..at;
                words.push(Word { range, low, stem });
                start = None;
            }
            _ => {}
        }
    }
    words
}

impl<'a> Passage<'a> {
    pub(crate) fn new(text: &'a str, terms: Vec<(String, usize)>) -> Self {
        Passage {
            text,
            words: words(text),
            terms,
        }
    }

    pub(crate) fn has_term(&self, stem: &str) -> bool {
        self.terms.iter().any(|(term, _)| term == stem)
    }

    /// The one whose clause alone has most of the words.
    pub(crate) fn said_most_of(&self, ranges: &[Range<usize>]) -> Option<Range<usize>> {
        let first = ranges.first()?;
        let shares: Vec<usize> = ranges
            .iter()
            .map(|range| self.share(&self.places(range, first)))
            .collect();
        let most = *shares.iter().max()?;
        let mut best = ranges
            .iter()
            .zip(&shares)
            .filter(|(_, share)| **share == most);
        let (chosen, _) = best.next()?;
        best.next().is_none().then(|| chosen.clone())
    }

    /// The one whose clause has most of the question; of those that have as much the one that is nearest to every term.
    pub(crate) fn choose(&self, mut choices: Vec<Choice>) -> Option<Range<usize>> {
        let first = choices.first()?.range.clone();
        let lead = self.lead(&first);
        // "$5 for children and $9 for adults": nothing but what stands before the first says what the second is.
        let is_bare = |range: &Range<usize>| {
            let clause = self.clause(range);
            let mut before = self.places_in(clause.start, range.start);
            before.all(|at| known().flags(&self.words[at].low) & does::PREPOSITION != 0)
        };
        if choices.len() > 1 {
            let shares = choices
                .iter()
                .map(|choice| self.share(&self.places(&choice.range, &first)));
            let shares: Vec<usize> = shares.collect();
            let most = shares.iter().copied().max();
            let mut shares = shares.into_iter();
            choices.retain(|_| shares.next() == most);
        }
        if let [one] = &*choices {
            return Some(one.range.clone());
        }
        let distances: Vec<Vec<usize>> = choices
            .iter()
            .map(|choice| {
                let lead: &[usize] = if is_bare(&choice.range) { &lead } else { &[] };
                self.distances(&choice.range, &first, lead)
            })
            .collect();
        let is_nearest = |one: &Vec<usize>| {
            let is_near =
                |other: &Vec<usize>| one.iter().zip(other).all(|(one, other)| one <= other);
            let is_alone = distances.iter().filter(|other| *other == one).count() == 1;
            is_alone && distances.iter().all(is_near)
        };
        let at = distances.iter().position(is_nearest)?;
        Some(choices[at].range.clone())
    }

    fn places_in(&self, from: usize, to: usize) -> impl Iterator<Item = usize> {
        let words = self.words.iter().enumerate();
        let inside =
            words.filter(move |(_, word)| word.range.start >= from && word.range.end <= to);
        inside.map(|(at, _)| at)
    }

    /// What stands before the first value in its clause.
    fn lead(&self, first: &Range<usize>) -> Vec<usize> {
        let clause = self.clause(first);
        self.places_in(clause.start, first.start).collect()
    }

    /// The words that are said of a value: those of its clause. "Built for $3m and enlarged for $8m": what stands before the
    /// first is said of the second too, unless that has a name of its own.
    fn places(&self, range: &Range<usize>, first: &Range<usize>) -> Vec<usize> {
        let clause = self.clause(range);
        let own = self.places_in(clause.start, range.start);
        let mut places: Vec<usize> = own.chain(self.places_in(range.end, clause.end)).collect();
        let has_name = places.iter().any(|at| {
            let word = &self.words[*at];
            self.text[word.range.clone()].starts_with(char::is_uppercase)
                && known().flags(&word.low) & does::DATE == 0
        });
        if !has_name {
            places.extend(self.lead(first));
        }
        places
    }

    /// How much of the question stands in these places.
    fn share(&self, places: &[usize]) -> usize {
        let has = |stem: &str| places.iter().any(|at| self.words[*at].stem == stem);
        let terms = self.terms.iter().filter(|(stem, _)| has(stem));
        terms.map(|(_, weight)| weight).sum()
    }

    /// Words between a quantity and each term that the passage has; to the terms of its lead, those from the first one.
    fn distances(&self, range: &Range<usize>, first: &Range<usize>, lead: &[usize]) -> Vec<usize> {
        let apart = |at: usize, range: &Range<usize>| {
            let before = self
                .words
                .partition_point(|word| word.range.end <= range.start);
            let next = self
                .words
                .partition_point(|word| word.range.start < range.end);
            match at < before {
                true => before - at,
                false => (at + 1).saturating_sub(next),
            }
        };
        let of = |stem: &str| {
            let places = self.words.iter().enumerate();
            let places = places.filter(|(_, word)| word.stem == stem);
            let from = |at: usize| match lead.contains(&at) {
                true => first,
                false => range,
            };
            places.map(|(at, _)| apart(at, from(at))).min()
        };
        self.terms.iter().filter_map(|(stem, _)| of(stem)).collect()
    }

    /// Between signs and words that part a sentence.
    pub(super) fn clause(&self, range: &Range<usize>) -> Range<usize> {
        let mut clause = 0..self.text.len();
        let mut part = |from: usize, to: usize| {
            if to <= range.start {
                clause.start = clause.start.max(to);
            } else if from >= range.end {
                clause.end = clause.end.min(from);
            }
        };
        for (at, c) in self.text.char_indices() {
            let rest = &self.text[at + c.len_utf8()..];
            let is_apart = rest.is_empty() || rest.starts_with(char::is_whitespace);
            if matches!(c, ';' | '(' | ')' | '—' | '|') || is_apart && matches!(c, ',' | ':' | '–')
            {
                part(at, at + c.len_utf8());
            }
        }
        for (number, word) in self.words.iter().enumerate() {
            let next = self.words.get(number + 1);
            let parts = match &*word.low {
                "and" | "but" | "unless" | "while" | "whereas" | "although" | "though" | "when"
                | "where" | "which" | "who" => true,
                "after" | "before" => next.is_some_and(|next| next.range.start != range.start),
                _ => false,
            };
            if parts {
                part(word.range.start, word.range.end);
            }
        }
        clause
    }
}

/// Stems of the words that a claim says a value of: those of its clause.
pub(crate) fn said_of(claim: &str, value: &Range<usize>) -> Vec<(String, usize)> {
    let claim = Passage::new(claim, Vec::new());
    let clause = claim.clause(value);
    let words = claim.words.iter().filter(|word| {
        let is_inside = word.range.start >= clause.start && word.range.end <= clause.end;
        let is_value = word.range.start < value.end && word.range.end > value.start;
        let is_told =
            known().flags(&word.low) & (does::STOP | does::QUESTION | does::AUXILIARY) == 0;
        is_inside && !is_value && is_told && word.low.len() > 1
    });
    let is_name = |word: &Word| {
        let written = &claim.text[word.range.clone()];
        let capitals = written.chars().skip(usize::from(word.range.start == 0));
        capitals.into_iter().any(char::is_uppercase)
    };
    words
        .map(|word| (word.stem.clone(), 1 + usize::from(is_name(word))))
        .collect()
}
