//! What a language model may add to a report: claims that the evidence carries, and a doubt of its own. What it is asked
//! holds evidence units only, in a fence that no page can close; what it answers is believed in nothing that cannot be
//! checked against those units. Knows no endpoint and no model.

mod label;
mod prompt;
mod support;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::closed_set::closed_set;
use crate::domain::words::folded;
use crate::evidence::reading::text::{bounded, plain};
use crate::evidence::report::citation::{citation_id, rounded};
use crate::evidence::report::examine::Examined;
use crate::evidence::{Label, QuestionKind};
use crate::markdown::addresses_models;
use label::{label, rank};
use support::{Support, keeps_its_turns, touches, vetted};

pub use prompt::{Prompt, prompt};

/// Claims that are kept.
pub const CLAIMS_MAX: usize = 6;
/// Claims that are looked at; further ones are dropped unread.
const CLAIMS_READ_MAX: usize = 20;
/// Bytes of an answer that are read.
const ANSWER_BYTES_MAX: usize = 64 * 1024;
const CLAIM_CHARS_MAX: usize = 300;
const QUOTE_CHARS_MAX: usize = 1_000;
/// A shorter quote stands in nearly every unit.
const QUOTE_CHARS_MIN: usize = 8;
const IDS_MAX: usize = 4;
const CONFIDENCE_MAX: f64 = 0.85;
const MODEL_CHARS_MAX: usize = 100;

/// What is left of a model's answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Synthesis {
    pub claims: Vec<ModelClaim>,
    /// The report's label.
    pub label: Label,
    pub receipt: SynthesisReceipt,
}

/// A claim that the evidence carries.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelClaim {
    pub text: String,
    /// Indices into the check's findings.
    pub findings: Vec<usize>,
    pub confidence: f64,
}

/// What became of a model's answer, as the report tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SynthesisReceipt {
    pub model: String,
    pub outcome: Outcome,
    pub claims_accepted: usize,
    pub claims_dropped: usize,
    /// How many claims were dropped for which reason.
    pub dropped: BTreeMap<Cow<'static, str>, usize>,
    pub effect_on_label: Effect,
}

closed_set! {
    /// What a model did to the label.
    pub enum Effect {
        None = "none",
        Lowered = "lowered",
        Raised = "raised",
    }
}

closed_set! {
/// What came of asking a model.
pub enum Outcome {
    Used = "used",
    /// No claim was left, and no doubt: the report is what it is without a model.
    NothingAccepted = "nothing_accepted",
    UnusableAnswer = "unusable_answer",
    /// The model did not answer in time, or not at all.
    Unavailable = "unavailable",
}
}

/// Why a claim is not in the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dropped {
    Malformed,
    TooMany,
    Duplicate,
    UnknownEvidence,
    Misquoted,
    NumberAbsent,
    NameAbsent,
    NotCarried,
    NegationDiffers,
    HedgeLost,
    ConditionLost,
    OffTopic,
    Vetoed,
    Instruction,
}

impl Dropped {
    fn reason(self) -> &'static str {
        match self {
            Dropped::Malformed => "malformed",
            Dropped::TooMany => "too_many",
            Dropped::Duplicate => "duplicate",
            Dropped::UnknownEvidence => "unknown_evidence_id",
            Dropped::Misquoted => "quote_not_in_evidence",
            Dropped::NumberAbsent => "number_not_in_evidence",
            Dropped::NameAbsent => "name_not_in_evidence",
            Dropped::NotCarried => "not_carried_by_evidence",
            Dropped::NegationDiffers => "negation_differs",
            Dropped::HedgeLost => "hedge_lost",
            Dropped::ConditionLost => "condition_lost",
            Dropped::OffTopic => "off_topic",
            Dropped::Vetoed => "vetoed",
            Dropped::Instruction => "instruction",
        }
    }
}

impl Synthesis {
    /// A model was asked and said nothing that can be used.
    fn of_nothing(examined: &Examined<'_>, model: &str, outcome: Outcome) -> Synthesis {
        Synthesis {
            claims: Vec::new(),
            label: examined.check.label,
            receipt: SynthesisReceipt {
                model: bounded(model, MODEL_CHARS_MAX),
                outcome,
                claims_accepted: 0,
                claims_dropped: 0,
                dropped: BTreeMap::new(),
                effect_on_label: Effect::None,
            },
        }
    }

    /// The model could not be asked, or did not answer.
    pub fn unavailable(examined: &Examined<'_>, model: &str) -> Synthesis {
        Synthesis::of_nothing(examined, model, Outcome::Unavailable)
    }
}

/// What is left of an answer once every claim in it is checked.
pub fn checked(examined: &Examined<'_>, answer: &str, model: &str) -> Synthesis {
    let Some(answer) = parsed(answer) else {
        return Synthesis::of_nothing(examined, model, Outcome::UnusableAnswer);
    };
    let mut synthesis = Synthesis::of_nothing(examined, model, Outcome::NothingAccepted);
    let claims = answer["claims"].as_array().map_or(&[][..], Vec::as_slice);
    for (number, claim) in claims.iter().enumerate() {
        let is_full = number >= CLAIMS_READ_MAX || synthesis.claims.len() >= CLAIMS_MAX;
        let judged = match is_full {
            true => Err(Dropped::TooMany),
            false => accepted(examined, claim, &synthesis.claims),
        };
        match judged {
            Ok(claim) => synthesis.claims.push(claim),
            Err(dropped) => {
                *synthesis
                    .receipt
                    .dropped
                    .entry(dropped.reason().into())
                    .or_default() += 1
            }
        }
    }
    let receipt = &mut synthesis.receipt;
    receipt.claims_accepted = synthesis.claims.len();
    receipt.claims_dropped = receipt.dropped.values().sum();
    // A model that claims nothing may still doubt; one whose claims were all dropped is not believed.
    if synthesis.claims.is_empty() && !claims.is_empty() {
        return synthesis;
    }
    synthesis.label = label(examined, answer["decision"].as_str(), &synthesis.claims);
    let (before, after) = (rank(examined.check.label), rank(synthesis.label));
    receipt.effect_on_label = match after.cmp(&before) {
        std::cmp::Ordering::Less => Effect::Lowered,
        std::cmp::Ordering::Equal => Effect::None,
        std::cmp::Ordering::Greater => Effect::Raised,
    };
    if !claims.is_empty() || receipt.effect_on_label != Effect::None {
        receipt.outcome = Outcome::Used;
    }
    synthesis
}

/// The object in an answer. Models like to put it into a fence, or to say something before it.
fn parsed(answer: &str) -> Option<Value> {
    if answer.len() > ANSWER_BYTES_MAX {
        return None;
    }
    let object = answer.get(answer.find('{')?..=answer.rfind('}')?)?;
    let value: Value = serde_json::from_str(object).ok()?;
    value["claims"].is_array().then_some(value)
}

fn accepted(
    examined: &Examined<'_>,
    claim: &Value,
    before: &[ModelClaim],
) -> Result<ModelClaim, Dropped> {
    let text = sentence(&claim["text"], CLAIM_CHARS_MAX)?;
    if addresses_models(&text) {
        return Err(Dropped::Instruction);
    }
    let same = |other: &ModelClaim| other.text.to_lowercase() == text.to_lowercase();
    if before.iter().any(same) {
        return Err(Dropped::Duplicate);
    }
    let findings = cited(examined, &claim["evidence_ids"])?;
    let quote = sentence(&claim["quote"], QUOTE_CHARS_MAX)?;
    let quoted = quoted(examined, &findings, &quote).ok_or(Dropped::Misquoted)?;
    let support = Support::of(examined, &findings);
    support.carry(&text)?;
    keeps_its_turns(&text, unit(examined, quoted))?;
    if examined.check.kind != QuestionKind::Open && !touches(examined.question, &text) {
        return Err(Dropped::OffTopic);
    }
    Ok(ModelClaim {
        confidence: rounded(vetted(&support, &text)?.min(CONFIDENCE_MAX)),
        text,
        findings,
    })
}

fn sentence(value: &Value, characters: usize) -> Result<String, Dropped> {
    let text = folded(value.as_str().ok_or(Dropped::Malformed)?);
    let fits = !text.is_empty() && text.chars().nth(characters).is_none();
    let is_clean = !text.chars().any(char::is_control);
    (fits && is_clean).then_some(text).ok_or(Dropped::Malformed)
}

/// The findings that these ids name.
fn cited(examined: &Examined<'_>, ids: &Value) -> Result<Vec<usize>, Dropped> {
    let ids = ids.as_array().ok_or(Dropped::Malformed)?;
    if ids.is_empty() || ids.len() > IDS_MAX {
        return Err(Dropped::UnknownEvidence);
    }
    let known = |id: &Value| {
        let count = examined.check.findings.len();
        (0..count).find(|index| id.as_str() == Some(&citation_id(*index)))
    };
    let found: Option<BTreeSet<usize>> = ids.iter().map(known).collect();
    let found = found.ok_or(Dropped::UnknownEvidence)?;
    Ok(found.into_iter().collect())
}

fn unit<'a>(examined: &Examined<'a>, finding: usize) -> &'a str {
    let range = examined.check.findings[finding].range.clone();
    examined.source.text.get(range).unwrap_or_default()
}

/// The cited finding that holds the quote.
fn quoted(examined: &Examined<'_>, findings: &[usize], quote: &str) -> Option<usize> {
    findings.iter().copied().find(|finding| {
        let unit = unit(examined, *finding);
        [folded(unit), plain(unit)].iter().any(|unit| {
            unit == quote || (quote.chars().count() >= QUOTE_CHARS_MIN && unit.contains(quote))
        })
    })
}

#[cfg(test)]
mod tests;
