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
mod fragment;
pub mod profile;
pub mod quality;
pub mod reliability;
pub mod risks;
pub mod sample;
pub mod screenshot;
mod speaker;
pub mod synthesis;
#[cfg(test)]
pub(crate) mod tests;
pub mod text_stats;
pub mod verify;

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::domain::closed_set::closed_set;
use crate::domain::time::UnixSeconds;
use crate::evidence::report::action::{AgentAction, NextCall};
use crate::evidence::report::canonical::{members, result_hash};
use crate::evidence::report::citation::Citation;
use crate::evidence::report::examine::Examined;
use crate::evidence::report::facts::Facts;
use crate::evidence::report::profile::SourceProfile;
use crate::evidence::report::quality::SourceQuality;
use crate::evidence::report::reliability::Reliability;
use crate::evidence::report::risks::RiskDetail;
use crate::evidence::report::screenshot::Screenshot;
use crate::evidence::report::synthesis::{Synthesis, SynthesisReceipt};
use crate::evidence::{Depth, Label, Order, Relation};

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

closed_set! {
    pub enum Success {
        Success = "success",
    }
}

/// A report. This is the one place where its members and their order are stated: every page, document, command and
/// schema reads this type. A member that is added has `#[serde(default)]`, so that reports which were stored before stay
/// readable. Payment, cost and cache facts are put beside it by the sale.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    pub status: Success,
    pub target_url: String,
    /// The question or claim, at most 1,000 characters of it.
    pub question: String,
    /// The pack's name.
    pub pack: String,
    /// SHA-256 of the report in its canonical form (RFC 8785) without the members that verify names, in hex.
    #[schemars(regex(pattern = SHA256))]
    pub result_hash: String,
    /// SHA-256 of the text that the citations are slices of, in hex.
    #[schemars(regex(pattern = SHA256))]
    pub source_hash: String,
    /// Seconds since 1970.
    pub created_at: u64,
    /// Absent in a report within an Evidence Bundle.
    #[serde(flatten)]
    pub retention: Option<Retention>,
    /// The short answer, with the ids of the citations that it rests on.
    pub answer: String,
    pub executive_summary: String,
    pub decision: Decision,
    /// The engine's estimate that the label is right; what was measured is `decision.reliability`.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence_score: f64,
    /// The probability that the source establishes what was asked.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub support_score: f64,
    #[schemars(range(min = 0.0, max = 1.0))]
    pub source_quality_score: f64,
    pub agent_action: AgentAction,
    pub key_claims: Vec<KeyClaim>,
    pub supported_findings: Vec<String>,
    pub gaps: Vec<String>,
    /// The quantities of the question beside those of the source.
    #[serde(default)]
    pub comparisons: Vec<Comparison>,
    pub citation_coverage: Coverage,
    pub citations: Vec<Citation>,
    /// Codes; what each means stands in `risk_details`.
    pub risks: Vec<String>,
    pub risk_details: Vec<RiskDetail>,
    pub source_profile: SourceProfile,
    pub source_quality: SourceQuality,
    /// What the question was taken for and how its parts were judged.
    pub analysis: Analysis,
    /// What became of the claims of a language model; null when none was asked.
    pub synthesis: Option<SynthesisReceipt>,
    /// Only in a report that was bought with `screenshot`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screenshot: Option<Screenshot>,
    /// Absent in a report within an Evidence Bundle, and before it is sold.
    #[serde(flatten)]
    pub access: Option<Access>,
}

/// Lower-case hex of 32 bytes.
const SHA256: &str = "^[0-9a-f]{64}$";

/// A report that is stored under an identifier of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Retention {
    pub report_id: String,
    /// Seconds since 1970.
    pub expires_at: u64,
    pub retention_days: u64,
    pub recommended_next_call: NextCall,
}

/// How a sold report is checked, asked and read again. No hash covers it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Access {
    /// The seller's, where it has a key.
    pub signature: Option<Signature>,
    pub verify_url: String,
    pub follow_up_url: String,
    /// The text that the citations are slices of. Absent in reports from before it could be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_text_url: Option<String>,
    /// The picture of the page, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screenshot_url: Option<String>,
    pub refresh_url: String,
    pub report_url: String,
    pub report_page: String,
}

/// How a sold report on several sources is checked and read again. No hash covers it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Links {
    pub report_id: String,
    /// Seconds since 1970.
    pub expires_at: u64,
    pub retention_days: u64,
    /// The seller's, where it has a key.
    pub signature: Option<Signature>,
    pub verify_url: String,
    /// The texts that the citations are slices of, each under its source's id.
    pub source_text_url: String,
    /// Where there is a PDF of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pdf_url: Option<String>,
    pub report_url: String,
    pub report_page: String,
}

/// A JSON Web Signature (RFC 7515) over the report's identity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Signature {
    pub alg: Cow<'static, str>,
    pub kid: String,
    pub jws: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Decision {
    pub label: Label,
    pub summary: String,
    pub recommended_agent_use: String,
    /// The short answer: the source's words for what is asked (who, when, how many), else `yes` or `no`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_value: Option<String>,
    /// How often this label was right on questions of this kind, where that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reliability: Option<Reliability>,
}

/// A quantity of the question beside the one that the source has in its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// As the question writes it.
    pub asked: String,
    /// As the source writes it; null where it has none.
    pub found: Option<String>,
    pub relation: Relation,
    /// Where they differ, how the asked one stands to the one of the source; absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Order>,
    pub citation_id: Option<String>,
}

impl Comparison {
    /// What was asked beside the source, as people read it: "more than in the source".
    pub fn result(&self) -> String {
        match self.order {
            Some(order) => format!("{order} than in the source"),
            None => self.relation.name().replace('_', " "),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KeyClaim {
    pub claim: String,
    pub citation_ids: Vec<String>,
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: f64,
    pub origin: Origin,
}

closed_set! {
    /// Who worded a claim.
    pub enum Origin {
        Deterministic = "deterministic",
        Llm = "llm",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    pub citation_count: usize,
    pub supported_claim_count: usize,
    pub claim_count: usize,
    pub source_count: usize,
    pub cache_hit: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Analysis {
    pub question_kind: QuestionForm,
    /// The label before a language model was asked.
    pub engine_label: Label,
    pub parts: Vec<Part>,
    /// Terms of the question that no citation carries.
    pub missing_terms: Vec<String>,
    pub units_examined: usize,
    /// How much was read before the label was given: the words alone (`quick`), with the entailment model on the best
    /// passages (`standard`), or on more passages and pairs of sentences (`deep`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<Depth>,
}

closed_set! {
    /// What a question was taken for.
    pub enum QuestionForm {
        Claim = "claim",
        Wh = "wh",
        YesNo = "yes_no",
        Open = "open",
    }
}

/// One part of a compound question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Part {
    pub text: String,
    pub label: Label,
    #[schemars(range(min = 0.0, max = 1.0))]
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
    report.result_hash = result_hash(&Value::Object(report.members()));
    report
}

impl Report {
    /// Adds what came of a picture, which the hash then covers.
    pub fn set_screenshot(&mut self, screenshot: Screenshot) {
        self.screenshot = Some(screenshot);
        self.result_hash = result_hash(&Value::Object(self.members()));
    }

    /// From its JSON, with whatever else stands beside it in an answer.
    pub fn parse(json: &[u8]) -> Result<Report, serde_json::Error> {
        serde_json::from_slice(json)
    }

    /// Its members as JSON.
    pub fn members(&self) -> Map<String, Value> {
        members(self)
    }

    pub fn id(&self) -> &str {
        let retention = self.retention.as_ref();
        retention.map_or("", |retention| &retention.report_id)
    }

    /// How deeply its source was read: reports without the word compared words alone.
    pub fn depth(&self) -> Depth {
        self.analysis.depth.unwrap_or(Depth::Quick)
    }

    /// When its source says that it was last changed, or published.
    pub fn dated(&self) -> Option<&str> {
        let profile = &self.source_profile;
        let dated = profile.modified_at.as_deref();
        dated.or(profile.published_at.as_deref())
    }
}
