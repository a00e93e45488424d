//! All units of a page by how well they may answer a query: what an excerpt is chosen by. Where a report has to find the
//! best unit, an excerpt has to hold it among some; so more units are compared, and a block that has the query's words
//! together lifts each of its sentences. `data/excerpts/README.md` has what each part of it gives.

use super::features::candidates;
use super::matching::Matching;
use super::question::Question;
use super::similarity::similarities;
use super::verdict::Judge;
use crate::evidence::Depth;

/// Units that are compared with a query in full.
const CANDIDATES_MAX: usize = 160;
/// What the block that scores best adds to the rank score of its units.
const BLOCK_WORTH: f64 = 2.0;
/// Of the units of a block each next best counts this much less.
const NEXT_IN_BLOCK: f64 = 0.5;
/// What a unit loses that is e times as long, for the room that it takes.
const LENGTH_COST: f64 = 0.25;
/// How many of the best are compared with the query in meaning, unless words alone are asked for, and what that counts.
const COMPARED: usize = 24;
const SIMILARITY: f64 = 9.0;

impl Judge<'_> {
    /// Units by how well they bear on a query: the candidates by their rank, then those with less of its words. Units
    /// without any of them are none.
    pub(crate) fn ranking(&self, text: &str, is_claim: bool) -> Vec<usize> {
        let question = Question::new(text, is_claim, self.page.language);
        let matching = Matching::of_candidates(self.page, &question, CANDIDATES_MAX);
        if matching.touched == 0 {
            return Vec::new();
        }
        let score = |unit: usize| matching.score[unit];
        let found = candidates(&matching);
        let blocks = blocks(&matching);
        let worth = |unit: usize| {
            let length = self.page.unit_text(unit).chars().count().max(1) as f64;
            BLOCK_WORTH * blocks[self.page.units[unit].block] - LENGTH_COST * length.ln()
        };
        let order = self.order(&found, text, question.asked);
        let mut best: Vec<(usize, f64)> = order
            .into_iter()
            .map(|(at, rank)| (found[at].unit, rank))
            .filter(|(unit, _)| score(*unit) > 0.0)
            .map(|(unit, rank)| (unit, rank + worth(unit)))
            .collect();
        sort(&mut best);
        if self.depth != Depth::Quick {
            let compared = best.len().min(COMPARED);
            let compared = &mut best[..compared];
            let units: Vec<usize> = compared.iter().map(|(unit, _)| *unit).collect();
            let similarities = similarities(self.page, text, &units);
            for ((_, rank), similarity) in compared.iter_mut().zip(similarities) {
                *rank += SIMILARITY * similarity;
            }
            sort(compared);
        }
        let mut rest: Vec<usize> = (0..self.page.units.len())
            .filter(|unit| score(*unit) > 0.0 && matching.candidates.binary_search(unit).is_err())
            .collect();
        rest.sort_by(|one, other| score(*other).total_cmp(&score(*one)).then(one.cmp(other)));
        best.into_iter().map(|(unit, _)| unit).chain(rest).collect()
    }
}

/// Best first.
fn sort(units: &mut [(usize, f64)]) {
    units.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
}

/// How well each block carries the query, 0 to 1: its best unit, and less and less of the others.
fn blocks(matching: &Matching<'_>) -> Vec<f64> {
    let page = matching.page;
    let sum = |block: usize| {
        let units = page.units_of(block);
        let mut scores: Vec<f64> = units.map(|unit| matching.score[unit]).collect();
        scores.sort_by(|one, other| other.total_cmp(one));
        let mut share = 1.0;
        let shares = scores.into_iter().map(|score| {
            let counted = score * share;
            share *= NEXT_IN_BLOCK;
            counted
        });
        shares.sum::<f64>()
    };
    let sums: Vec<f64> = (0..page.blocks.blocks.len()).map(sum).collect();
    let largest = sums.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    sums.into_iter().map(|sum| sum / largest).collect()
}
