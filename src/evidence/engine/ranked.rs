//! A candidate with its rank, and what speaks against it.

use entailment::Verdict;

use super::features::{Candidate, Features};

/// From this probability on, a passage that the entailment model has read alone says the opposite.
const DENIES: f32 = 0.5;
/// ... surely.
const SURELY_DENIES: f32 = 0.9;

/// What speaks against a candidate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Doubts {
    pub(crate) number: bool,
    pub(crate) antonym: bool,
    pub(crate) ordinal: bool,
    pub(crate) negation: bool,
    pub(crate) direction: bool,
    /// A name or number of the question that it lacks.
    pub(crate) lacks_name: bool,
    pub(crate) lacks_number: bool,
    /// Another name in its place.
    pub(crate) other_name: bool,
}

impl Doubts {
    pub(crate) fn of(features: &Features, is_claim: bool) -> Doubts {
        let negated_from = if is_claim { 0.5 } else { 0.7 };
        Doubts {
            number: features.numconf > 0.0,
            antonym: features.antadj > 0.0,
            ordinal: features.ordconf > 0.0,
            negation: features.negd > 0.0 && features.cov_r >= negated_from,
            direction: is_claim && features.dr > 0.0,
            lacks_name: if is_claim {
                features.unname > 0.0
            } else {
                features.un_name > 0.0
            },
            lacks_number: features.un_num > 0.0,
            other_name: is_claim && features.entconf > 0.0,
        }
    }

    /// It may say the opposite.
    pub(crate) fn is_hard(&self) -> bool {
        self.number || self.antonym || self.ordinal || self.negation || self.direction
    }

    /// It may be about something else.
    pub(crate) fn is_soft(&self) -> bool {
        self.lacks_name || self.lacks_number || self.other_name
    }
}

/// A candidate with its rank.
#[derive(Debug)]
pub(crate) struct Ranked {
    pub(crate) candidate: Candidate,
    pub(crate) score: f64,
    pub(crate) doubts: Doubts,
    /// How close it is to the question in meaning, for those that were compared.
    pub(super) similarity: Option<f64>,
    /// What the entailment model says of it alone, where it has read it.
    pub(super) read: Option<Verdict>,
}

impl Ranked {
    /// The entailment model is sure that it says the opposite.
    pub(crate) fn surely_denies(&self) -> bool {
        self.read
            .as_ref()
            .is_some_and(|verdict| verdict.contradicted >= SURELY_DENIES)
    }

    /// Whether it says the opposite of a claim: by the entailment model where that has read it, else by the words.
    pub(crate) fn denies(&self) -> bool {
        match &self.read {
            Some(verdict) => {
                verdict.contradicted >= DENIES && verdict.contradicted > verdict.supported
            }
            None => self.doubts.is_hard(),
        }
    }
}
