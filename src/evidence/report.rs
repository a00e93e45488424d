//! The report that a buyer of a Proof Pack gets, and how it is put together: verbatim citations, findings, gaps, risks
//! and what to do with them, all of it made from what the engine found. What stands around it in an answer (payment,
//! addresses, signature) is put there by the sale.

use serde::Serialize;

use crate::domain::time::UnixSeconds;
use crate::evidence::action::{AgentAction, NextCall};
use crate::evidence::canonical::{result_hash, sha256};
use crate::evidence::citation::{Citation, citation_id, rounded, terms};
use crate::evidence::examine::Examined;
use crate::evidence::facts::Facts;
use crate::evidence::measure::Measure;
use crate::evidence::profile::{SourceProfile, profile};
use crate::evidence::quality::{SourceQuality, quality};
use crate::evidence::risks::{Grounds, Risk, RiskDetail, Severity, quoted, risks};
use crate::evidence::synthesis::{Synthesis, SynthesisReceipt};
use crate::evidence::text::{URL_CHARS_MAX, bounded, plain};
use crate::evidence::{Label, QUESTION_CHARS_MAX, QuestionKind};

/// A report is kept for so many days (specification 8).
pub const RETENTION_DAYS: u64 = 30;
/// What is asked when the buyer asks nothing (specification 2.5).
pub const DEFAULT_QUESTION: &str = "What does this source establish?";

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
    let maker = Maker::new(request, examined, facts, synthesis);
    let mut report = maker.report();
    if let Ok(value) = serde_json::to_value(&report) {
        report.result_hash = result_hash(&value);
    }
    report
}

const ANSWER_CHARS_MAX: usize = 800;
const SUMMARY_CHARS_MAX: usize = 1_200;
const STATEMENT_CHARS_MAX: usize = 300;
/// Statements that the compact answer quotes.
const ANSWER_STATEMENTS: usize = 2;
const KEY_CLAIMS_MAX: usize = 12;
const DAY_SECONDS: u64 = 86_400;

/// All that a report is made from, with what its parts share.
struct Maker<'a> {
    request: &'a Request<'a>,
    examined: &'a Examined<'a>,
    facts: &'a Facts,
    synthesis: Option<&'a Synthesis>,
    measure: Measure,
    citations: Vec<Citation>,
    risks: Vec<RiskDetail>,
    label: Label,
    confidence: f64,
}

impl<'a> Maker<'a> {
    fn new(
        request: &'a Request<'a>,
        examined: &'a Examined<'a>,
        facts: &'a Facts,
        synthesis: Option<&'a Synthesis>,
    ) -> Maker<'a> {
        let measure = Measure::of(examined.source.text);
        let citations = examined.citations(&facts.final_url);
        let mut risks = risks(&Grounds {
            examined,
            facts,
            measure: &measure,
            citations: &citations,
            now: request.now,
        });
        if synthesis.is_some_and(|synthesis| synthesis.receipt.claims_dropped > 0) {
            risks.push(RiskDetail::of(Risk::ModelClaimsDropped));
        }
        let check = &examined.check;
        let label = synthesis.map_or(check.label, |synthesis| synthesis.label);
        // Where a model moved the label, neither it nor the engine is sure.
        let moved = if label == check.label { 1.0 } else { 0.8 };
        Maker {
            request,
            examined,
            facts,
            synthesis,
            measure,
            citations,
            risks,
            label,
            confidence: rounded(check.confidence * moved),
        }
    }

    fn report(&self) -> Report {
        let (request, check) = (self.request, &self.examined.check);
        let source_hash = sha256(self.examined.source.text.as_bytes());
        let action = AgentAction::of(self.label, self.confidence, &self.risks);
        let quality = quality(self.facts, &self.measure, &self.risks, request.now);
        let key_claims = self.key_claims();
        Report {
            status: "success",
            target_url: bounded(request.target_url, URL_CHARS_MAX),
            question: self.question(),
            pack: request.pack.to_owned(),
            report_id: request.report_id.to_owned(),
            result_hash: String::new(),
            created_at: request.now.0,
            expires_at: request.now.plus(RETENTION_DAYS * DAY_SECONDS).0,
            retention_days: RETENTION_DAYS,
            answer: self.answer(),
            executive_summary: self.executive_summary(quality.score),
            decision: Decision {
                label: self.label.name(),
                summary: self.verdict(),
                recommended_agent_use: action.advice().to_owned(),
                confidence: self.confidence,
                support_score: rounded(check.support_score),
            },
            confidence_score: self.confidence,
            support_score: rounded(check.support_score),
            source_quality_score: quality.score,
            agent_action: action.name(),
            recommended_next_call: action.next_call(request.report_id),
            supported_findings: self.supported_findings(),
            gaps: self.gaps(),
            citation_coverage: Coverage {
                citation_count: self.citations.len(),
                supported_claim_count: key_claims.len(),
                claim_count: check.claims.len(),
                source_count: 1,
                cache_hit: self.facts.cache_hit,
            },
            key_claims,
            risks: self.risks.iter().map(RiskDetail::line).collect(),
            risk_details: self.risks.clone(),
            source_profile: profile(
                self.facts,
                &self.measure,
                self.examined.source.text,
                &source_hash,
                request.now,
            ),
            source_hash,
            source_quality: quality,
            citations: self.citations.clone(),
            analysis: self.analysis(),
            synthesis: self.synthesis.map(|synthesis| synthesis.receipt.clone()),
        }
    }

    fn question(&self) -> String {
        bounded(self.examined.question, QUESTION_CHARS_MAX)
    }

    fn is_open(&self) -> bool {
        self.examined.check.kind == QuestionKind::Open
    }

    /// The citations that carry the label.
    fn carrying(&self) -> Vec<&Citation> {
        let stance = match self.label {
            Label::Contradicted => "contradicts",
            Label::Unsupported => return Vec::new(),
            _ => "supports",
        };
        let carrying: Vec<&Citation> = self
            .citations
            .iter()
            .filter(|citation| citation.stance == stance)
            .collect();
        match carrying.is_empty() {
            false => carrying,
            true => self.citations.iter().take(1).collect(),
        }
    }

    /// One sentence (`decision.summary`).
    fn verdict(&self) -> String {
        let ids = id_list(&self.carrying());
        match self.label {
            Label::Supported => format!("The source establishes this: see {ids}."),
            Label::PartiallySupported if self.is_open() => {
                format!(
                    "The question names nothing to be decided; these are the source's key statements: {ids}."
                )
            }
            Label::PartiallySupported => {
                format!("The source establishes a part of this, or all but a detail: see {ids}.")
            }
            Label::Weak if self.citations.is_empty() => {
                "The source holds little that could establish anything.".to_owned()
            }
            Label::Weak => {
                format!("The source touches on this without establishing it; nearest is {ids}.")
            }
            Label::Unsupported => "The source does not establish this.".to_owned(),
            Label::Contradicted => format!("The source says otherwise: see {ids}."),
        }
    }

    fn answer(&self) -> String {
        let carrying = self.carrying();
        let statements = carrying.iter().take(ANSWER_STATEMENTS);
        let statements: Vec<String> = statements.map(|citation| statement(citation)).collect();
        let statements = statements.join(" ");
        let answer = match self.label {
            Label::Supported => statements,
            Label::PartiallySupported if self.is_open() => statements,
            Label::PartiallySupported => match self.gaps().first() {
                Some(gap) => format!("In part. {statements} {gap}"),
                None => format!("In part. {statements}"),
            },
            Label::Weak if statements.is_empty() => "The source does not say.".to_owned(),
            Label::Weak => format!("The source does not clearly say. Nearest: {statements}"),
            Label::Unsupported => "The source does not say.".to_owned(),
            Label::Contradicted => format!("No, the source says otherwise. {statements}"),
        };
        bounded(&answer, ANSWER_CHARS_MAX)
    }

    fn executive_summary(&self, quality: f64) -> String {
        let check = &self.examined.check;
        let mut sentences = vec![self.verdict()];
        if let Some(best) = self.carrying().first() {
            sentences.push(format!(
                "{} reads: {}.",
                best.id,
                quoted(best, STATEMENT_CHARS_MAX)
            ));
        }
        sentences.extend(self.gaps().into_iter().take(2));
        sentences.push(format!(
            "{} passages were examined, {} are cited; the label is right with probability {:.2}.",
            check.stats.units,
            self.citations.len(),
            self.confidence
        ));
        sentences.push(self.of_source(quality));
        let grave = self
            .risks
            .iter()
            .filter(|risk| risk.severity >= Severity::Medium);
        let grave: Vec<&str> = grave.map(|risk| risk.code).take(5).collect();
        if !grave.is_empty() {
            sentences.push(format!("Mind these risks: {}.", grave.join(", ")));
        }
        bounded(&sentences.join(" "), SUMMARY_CHARS_MAX)
    }

    fn of_source(&self, quality: f64) -> String {
        let metadata = &self.facts.metadata;
        let name = metadata.title.as_deref().unwrap_or(&self.facts.final_url);
        let name = bounded(name, 120);
        match metadata
            .modified_at
            .as_ref()
            .or(metadata.published_at.as_ref())
        {
            Some(date) => format!(
                "The source is “{name}”, dated {}, of quality {quality:.2}.",
                bounded(date, 40)
            ),
            None => format!("The source is “{name}”, undated, of quality {quality:.2}."),
        }
    }

    /// What a claim of the buyer's that is established says, else what the source says; then what a model adds.
    fn key_claims(&self) -> Vec<KeyClaim> {
        let check = &self.examined.check;
        let is_claim = matches!(check.kind, QuestionKind::Claim | QuestionKind::YesNo);
        let mut claims: Vec<KeyClaim> = match (is_claim, self.label) {
            (_, Label::Weak | Label::Unsupported | Label::Contradicted) => Vec::new(),
            (true, _) => self.established_parts(),
            (false, _) => self
                .carrying()
                .into_iter()
                .map(KeyClaim::of_citation)
                .collect(),
        };
        let added = self
            .synthesis
            .iter()
            .flat_map(|synthesis| &synthesis.claims);
        claims.extend(added.map(|claim| {
            KeyClaim {
                claim: bounded(&claim.text, STATEMENT_CHARS_MAX),
                citation_ids: claim
                    .findings
                    .iter()
                    .map(|finding| citation_id(*finding))
                    .collect(),
                confidence: rounded(claim.confidence),
                origin: "llm",
            }
        }));
        claims.truncate(KEY_CLAIMS_MAX);
        claims
    }

    fn established_parts(&self) -> Vec<KeyClaim> {
        let check = &self.examined.check;
        let established = check
            .claims
            .iter()
            .filter(|part| matches!(part.label, Label::Supported | Label::PartiallySupported));
        let claims = established.map(|part| KeyClaim {
            claim: bounded(&part.text, STATEMENT_CHARS_MAX),
            citation_ids: self.ids_of(&part.findings),
            confidence: rounded(part.support_score),
            origin: "deterministic",
        });
        claims
            .filter(|claim| !claim.citation_ids.is_empty())
            .collect()
    }

    fn ids_of(&self, findings: &[usize]) -> Vec<String> {
        let known = findings
            .iter()
            .filter(|index| **index < self.citations.len());
        known.map(|index| citation_id(*index)).collect()
    }

    fn supported_findings(&self) -> Vec<String> {
        match self.label {
            Label::Supported | Label::PartiallySupported => {
                self.carrying().into_iter().map(statement).collect()
            }
            _ => Vec::new(),
        }
    }

    /// What the cited excerpts do not establish.
    fn gaps(&self) -> Vec<String> {
        let check = &self.examined.check;
        let mut gaps = Vec::new();
        if check.claims.len() > 1 {
            let open = check
                .claims
                .iter()
                .filter(|part| !matches!(part.label, Label::Supported | Label::PartiallySupported));
            gaps.extend(open.map(|part| {
                format!(
                    "Not established: “{}”.",
                    bounded(&part.text, STATEMENT_CHARS_MAX)
                )
            }));
        }
        let missing = terms(&check.missing);
        if !missing.is_empty() {
            let named: Vec<String> = missing.iter().map(|term| format!("“{term}”")).collect();
            gaps.push(format!("No cited passage mentions {}.", named.join(", ")));
        }
        let is_established = self.label == Label::Supported;
        if gaps.is_empty() && !is_established && !self.is_open() {
            gaps.push(format!(
                "Not established: “{}”.",
                bounded(self.examined.question, STATEMENT_CHARS_MAX)
            ));
        }
        if self.is_open() {
            gaps.push("Nothing beyond the cited passages was judged, because nothing in particular was asked.".to_owned());
        }
        gaps
    }

    fn analysis(&self) -> Analysis {
        let check = &self.examined.check;
        let parts = check.claims.iter().map(|part| Part {
            text: bounded(&part.text, STATEMENT_CHARS_MAX),
            label: part.label.name(),
            support_score: rounded(part.support_score),
            citation_ids: self.ids_of(&part.findings),
        });
        Analysis {
            question_kind: match check.kind {
                QuestionKind::Claim => "claim",
                QuestionKind::Wh(_) => "wh",
                QuestionKind::YesNo => "yes_no",
                QuestionKind::Open => "open",
            },
            engine_label: check.label.name(),
            parts: parts.collect(),
            missing_terms: terms(&check.missing),
            units_examined: check.stats.units,
        }
    }
}

impl KeyClaim {
    fn of_citation(citation: &Citation) -> KeyClaim {
        KeyClaim {
            claim: bounded(&plain(&citation.excerpt), STATEMENT_CHARS_MAX),
            citation_ids: vec![citation.id.clone()],
            confidence: citation.score,
            origin: "deterministic",
        }
    }
}

fn statement(citation: &Citation) -> String {
    format!(
        "{} [{}]",
        quoted(citation, STATEMENT_CHARS_MAX),
        citation.id
    )
}

fn id_list(citations: &[&Citation]) -> String {
    let ids: Vec<&str> = citations
        .iter()
        .map(|citation| citation.id.as_str())
        .take(5)
        .collect();
    ids.join(", ")
}

#[cfg(test)]
pub(super) mod tests;
