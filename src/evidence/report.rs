//! The report that a buyer of a Proof Pack gets: verbatim citations, findings, gaps, risks and what to do with them, all
//! of it made from what the engine found. What stands around it in an answer (payment, addresses, signature) is put
//! there by the sale.

pub mod action;
mod age;
pub mod canonical;
pub mod citation;
mod compose;
pub mod examine;
pub mod facts;
pub mod follow_up;
pub mod profile;
pub mod quality;
pub mod risks;
pub mod sample;
#[cfg(test)]
pub(crate) mod tests;
pub mod text_stats;
pub mod verify;

use serde::Serialize;

use crate::domain::time::UnixSeconds;
use crate::evidence::report::action::NextCall;
use crate::evidence::report::canonical::result_hash;
use crate::evidence::report::citation::Citation;
use crate::evidence::report::examine::Examined;
use crate::evidence::report::facts::Facts;
use crate::evidence::report::profile::SourceProfile;
use crate::evidence::report::quality::SourceQuality;
use crate::evidence::report::risks::RiskDetail;
use crate::evidence::synthesis::{Synthesis, SynthesisReceipt};

use compose::Composition;

/// What a report is made for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// As the buyer named it.
    pub target_url: &'a str,
    /// The pack's name.
    pub pack: &'a str,
    pub report_id: &'a str,
    pub now: UnixSeconds,
}

/// The members of specification 2.8 in its order, and more, without those that the sale puts around it.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub status: &'static str,
    pub target_url: String,
    pub question: String,
    pub pack: String,
    pub report_id: String,
    pub result_hash: String,
    pub source_hash: String,
    pub created_at: u64,
    pub expires_at: u64,
    pub retention_days: u64,
    pub answer: String,
    pub executive_summary: String,
    pub decision: Decision,
    pub confidence_score: f64,
    pub support_score: f64,
    pub source_quality_score: f64,
    pub agent_action: &'static str,
    pub recommended_next_call: NextCall,
    pub key_claims: Vec<KeyClaim>,
    pub supported_findings: Vec<String>,
    pub gaps: Vec<String>,
    pub citation_coverage: Coverage,
    pub citations: Vec<Citation>,
    /// `code: text`.
    pub risks: Vec<String>,
    pub risk_details: Vec<RiskDetail>,
    pub source_profile: SourceProfile,
    pub source_quality: SourceQuality,
    /// What the question was taken for and how its parts were judged.
    pub analysis: Analysis,
    /// What became of the claims of a language model; nothing when none was asked.
    pub synthesis: Option<SynthesisReceipt>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Decision {
    pub label: &'static str,
    pub summary: String,
    pub recommended_agent_use: String,
    /// P(the label is right).
    pub confidence: f64,
    /// P(the source establishes it).
    pub support_score: f64,
}

#[derive(Clone, Debug, Serialize)]
pub struct KeyClaim {
    pub claim: String,
    pub citation_ids: Vec<String>,
    pub confidence: f64,
    /// `deterministic` or `llm`.
    pub origin: &'static str,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct Coverage {
    pub citation_count: usize,
    pub supported_claim_count: usize,
    pub claim_count: usize,
    pub source_count: usize,
    pub cache_hit: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct Analysis {
    /// `claim`, `wh`, `yes_no` or `open`.
    pub question_kind: &'static str,
    /// The label before a language model was heard.
    pub engine_label: &'static str,
    pub parts: Vec<Part>,
    /// Terms of the question that no citation carries.
    pub missing_terms: Vec<String>,
    pub units_examined: usize,
}

/// One part of a compound question.
#[derive(Clone, Debug, Serialize)]
pub struct Part {
    pub text: String,
    pub label: &'static str,
    pub support_score: f64,
    pub citation_ids: Vec<String>,
}

/// Puts the report together. Same input, same bytes.
pub fn report(
    request: &Request<'_>,
    examined: &Examined<'_>,
    facts: &Facts,
    synthesis: Option<&Synthesis>,
) -> Report {
    let mut report = Composition::new(request, examined, facts, synthesis).report();
    if let Ok(value) = serde_json::to_value(&report) {
        report.result_hash = result_hash(&value);
    }
    report
}
