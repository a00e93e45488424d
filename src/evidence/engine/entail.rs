//! What the entailment model says of the passages that were found for a question: each of the best units alone, the best
//! three together, and the best ones with the sentence before them. Decides nothing.

use std::sync::LazyLock;

use entailment::{Entailment, Verdict, Workspace};

use super::elsewhere::follows_from_exception;
use super::passage::{passage, statement};
use crate::evidence::Depth;
use crate::evidence::reading::page::Page;

/// Written by `data/evidence/entailment/fit.py` and `export.py`.
static WEIGHTS: &[u8] = include_bytes!("../../../data/evidence/entailment/weights.bin");

pub(super) static MODEL: LazyLock<Entailment<'static>> = LazyLock::new(|| {
    Entailment::read(WEIGHTS).expect("a test reads the weights that are compiled in")
});

/// Units that are read together.
const TOGETHER: usize = 3;

/// Which passages the model reads for a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// How many of the best units alone.
    pub(crate) alone: usize,
    /// The best ones once more, together.
    pub(crate) together: bool,
    /// How many of the best with the sentence before them.
    pub(crate) before: usize,
}

impl Plan {
    /// None where the depth asks for no model.
    pub(crate) fn of(depth: Depth) -> Option<Plan> {
        let (alone, before) = match depth {
            Depth::Quick => return None,
            Depth::Standard => (8, 2),
            Depth::Deep => (16, 6),
        };
        Some(Plan {
            alone,
            together: true,
            before,
        })
    }
}

/// A claim or question in the model's pieces, and what it is read with.
#[derive(Debug)]
pub(crate) struct Asking {
    text: String,
    claim: entailment::Claim,
    work: Workspace,
}

impl Asking {
    pub(crate) fn new(question: &str) -> Asking {
        Asking {
            text: question.to_owned(),
            claim: MODEL.claim(question),
            work: Workspace::new(),
        }
    }

    /// Puts another question.
    pub(crate) fn ask(&mut self, question: &str) {
        question.clone_into(&mut self.text);
        self.claim = MODEL.claim(question);
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

/// A question read beside passages of a page.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    pub(crate) page: &'a Page<'a>,
    pub(crate) asking: &'a mut Asking,
    pub(crate) plan: Plan,
}

impl Reader<'_> {
    fn judge(&mut self, units: &[usize]) -> Verdict {
        let text = passage(self.page, units);
        let Asking {
            text: asked,
            claim,
            work,
        } = &mut *self.asking;
        let verdict = MODEL.judge_claim(claim, &text, work);
        // The model takes the two negations of a rule and its exception for one.
        let mut stated = units.iter().map(|unit| statement(self.page, *unit));
        let is_misread = verdict.contradicted > verdict.supported
            && stated.any(|own| follows_from_exception(asked, &own));
        match is_misread {
            true => Verdict {
                supported: verdict.contradicted,
                contradicted: verdict.supported,
                ..verdict
            },
            false => verdict,
        }
    }

    /// Of units that are ranked, best first.
    pub(crate) fn alone(&mut self, ranked: &[usize]) -> Vec<Verdict> {
        let first = &ranked[..ranked.len().min(self.plan.alone)];
        first.iter().map(|unit| self.judge(&[*unit])).collect()
    }

    /// Of the best units with their neighbours, in the order of the page.
    pub(crate) fn together(&mut self, ranked: &[usize]) -> (Option<Verdict>, Vec<Verdict>) {
        let mut first: Vec<usize> = ranked.iter().copied().take(TOGETHER).collect();
        first.sort_unstable();
        let together = (self.plan.together && first.len() > 1).then(|| self.judge(&first));
        let with_one_before: Vec<usize> = ranked
            .iter()
            .copied()
            .take(self.plan.before)
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
