//! What a language model may add to a report.

use serde::Serialize;

use crate::evidence::Label;
use crate::evidence::examine::Examined;

/// What a model is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    pub system: String,
    pub user: String,
}

/// What is left of a model's answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Synthesis {
    pub claims: Vec<ModelClaim>,
    pub label: Label,
    pub receipt: SynthesisReceipt,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ModelClaim {
    pub text: String,
    pub findings: Vec<usize>,
    pub confidence: f64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SynthesisReceipt {
    pub model: String,
    pub claims_accepted: usize,
    pub claims_dropped: usize,
}

pub fn prompt(examined: &Examined<'_>, bytes_max: usize) -> Option<Prompt> {
    let _ = (examined, bytes_max);
    None
}

pub fn checked(examined: &Examined<'_>, answer: &str, model: &str) -> Synthesis {
    let _ = (examined, answer, model);
    Synthesis {
        claims: Vec::new(),
        label: examined.check.label,
        receipt: SynthesisReceipt {
            model: model.to_owned(),
            claims_accepted: 0,
            claims_dropped: 0,
        },
    }
}
