//! What the entailment model says of the passages that were found for a question: each of the best units alone, the best
//! three together, and the best ones with the sentence before them. Decides nothing.

use std::sync::LazyLock;

use entailment::{Entailment, Verdict, Workspace};

use super::passage::passage;
use crate::evidence::Depth;
use crate::evidence::reading::page::Page;

/// Written by `data/evidence/entailment/fit.py` and `export.py`.
static WEIGHTS: &[u8] = include_bytes!("../../../data/evidence/entailment/weights.bin");

static MODEL: LazyLock<Entailment<'static>> = LazyLock::new(|| {
    Entailment::read(WEIGHTS).expect("a test reads the weights that are compiled in")
});

/// Units that are read together.
const TOGETHER: usize = 3;

/// How many of the best units are read alone, and how many with the sentence before them.
fn reach(depth: Depth) -> Option<(usize, usize)> {
    match depth {
        Depth::Quick => None,
        Depth::Standard => Some((8, 2)),
        Depth::Deep => Some((16, 6)),
    }
}

/// What was said of each passage.
#[derive(Clone, Debug, Default)]
pub(crate) struct Verdicts {
    /// Of the best units alone, in the order they were given in.
    pub(crate) alone: Vec<Verdict>,
    pub(crate) together: Option<Verdict>,
    /// With the sentence before, of the best ones that have one.
    pub(crate) before: Vec<Verdict>,
}

/// A question in the model's pieces, read beside passages.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    page: &'a Page<'a>,
    claim: entailment::Claim,
    work: Workspace,
    alone: usize,
    before: usize,
}

impl<'a> Reader<'a> {
    /// None where the depth asks for no model.
    pub(crate) fn new(page: &'a Page<'a>, question: &str, depth: Depth) -> Option<Reader<'a>> {
        let (alone, before) = reach(depth)?;
        Some(Reader {
            page,
            claim: MODEL.claim(question),
            work: Workspace::new(),
            alone,
            before,
        })
    }

    fn judge(&mut self, units: &[usize]) -> Verdict {
        let text = passage(self.page, units);
        MODEL.judge_claim(&self.claim, &text, &mut self.work)
    }

    /// Of units that are ranked, best first.
    pub(crate) fn alone(&mut self, ranked: &[usize]) -> Vec<Verdict> {
        let first = &ranked[..ranked.len().min(self.alone)];
        first.iter().map(|unit| self.judge(&[*unit])).collect()
    }

    /// Of the best units with their neighbours, in the order of the page.
    pub(crate) fn together(&mut self, ranked: &[usize]) -> (Option<Verdict>, Vec<Verdict>) {
        let mut first: Vec<usize> = ranked.iter().copied().take(TOGETHER).collect();
        first.sort_unstable();
        let together = (first.len() > 1).then(|| self.judge(&first));
        let with_one_before: Vec<usize> = ranked
            .iter()
            .copied()
            .take(self.before)
            .filter(|unit| self.page.unit_before(*unit).is_some())
            .collect();
        let before = with_one_before
            .into_iter()
            .map(|unit| self.judge(&[unit - 1, unit]))
            .collect();
        (together, before)
    }
}

/// How much a passage has to do with the question: it says yes or no.
pub(crate) fn relevance(verdict: &Verdict) -> f64 {
    f64::from(1.0 - verdict.not_stated)
}

#[cfg(test)]
mod tests {
    use crate::evidence::engine::entail::*;

    #[test]
    fn the_weights_that_are_compiled_in_can_be_read() {
        Entailment::read(WEIGHTS).expect("weights");
    }
}
