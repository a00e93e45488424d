//! How much of a source is read before its report gives a label.

use crate::domain::closed_set::closed_set;

closed_set! {
    /// The least first.
    pub enum Depth {
        Quick = "quick",
        Standard = "standard",
        Deep = "deep",
    }
}

impl Depth {
    /// What it reads, in a buyer's words.
    pub fn reads(self) -> &'static str {
        match self {
            Depth::Quick => "compares words, names, numbers and dates",
            Depth::Standard => {
                "compares words, names, numbers and dates, and checks the best passages with an entailment model"
            }
            Depth::Deep => {
                "as standard, with more passages, pairs of neighbouring sentences and each part of the question by itself"
            }
        }
    }
}
