//! How a report is put together, and the words it is put in: plain sentences made from findings, and nothing that no
//! finding says.

use std::collections::HashSet;

use crate::domain::pack::Pack;
use crate::domain::time::{REPORT_DAYS, REPORT_SECONDS};
use crate::evidence::reading::text::{URL_CHARS_MAX, bounded, plain};
use crate::evidence::report::action::AgentAction;
use crate::evidence::report::canonical::sha256;
use crate::evidence::report::citation::{Citation, citation_id, rounded, terms};
use crate::evidence::report::examine::Examined;
use crate::evidence::report::facts::Facts;
use crate::evidence::report::profile::profile;
use crate::evidence::report::quality::quality;
use crate::evidence::report::reliability::measured;
use crate::evidence::report::risks::{Grounds, Risk, RiskDetail, Severity, risks};
use crate::evidence::report::synthesis::Synthesis;
use crate::evidence::report::text_stats::TextStats;
use crate::evidence::report::{
    Analysis, Comparison, Coverage, Decision, KeyClaim, Origin, Part, QuestionForm, Report,
    Request, Retention, Success,
};
use crate::evidence::{Claim, Label, QUESTION_CHARS_MAX, QuestionKind, Stance};

const ANSWER_CHARS_MAX: usize = 800;
const SUMMARY_CHARS_MAX: usize = 1_200;
const STATEMENT_CHARS_MAX: usize = 300;
const VALUE_CHARS_MAX: usize = 200;
const COMPARISONS_MAX: usize = 12;
/// Statements that the compact answer quotes.
const ANSWER_STATEMENTS: usize = 2;
const KEY_CLAIMS_MAX: usize = 12;

/// Passages that say nothing of the question by themselves, cited for the reader's sake when they are among the best.
const MENTIONS_MAX: usize = 3;
/// Of the best finding's score; what is further off would only distract.
const MENTION_SHARE_MIN: f64 = 0.1;

/// The ids of the findings that a report shows: those that speak for or against, the best, and what a model cites.
fn cited(examined: &Examined<'_>, synthesis: Option<&Synthesis>) -> HashSet<String> {
    let check = &examined.check;
    let best = check.findings.first().map_or(0.0, |finding| finding.score);
    let findings = check.findings.iter().enumerate();
    let relevant = findings.filter(|(index, finding)| {
        let is_near = *index < MENTIONS_MAX && finding.score >= best * MENTION_SHARE_MIN;
        is_near || finding.stance != Stance::Mentions
    });
    let parts = check.claims.iter();
    let of_parts = parts.filter_map(|part| part.findings.first().copied());
    let claims = synthesis.iter().flat_map(|synthesis| &synthesis.claims);
    let of_claims = claims.flat_map(|claim| claim.findings.iter().copied());
    let compared = check.comparisons.iter();
    let compared = compared.filter_map(|comparison| comparison.finding);
    let all = relevant
        .map(|(index, _)| index)
        .chain(of_parts)
        .chain(compared)
        .chain(of_claims);
    all.map(citation_id).collect()
}

/// All that a report is made from, with what its parts share.
pub(super) struct Composition<'a> {
    request: &'a Request<'a>,
    examined: &'a Examined<'a>,
    facts: &'a Facts,
    synthesis: Option<&'a Synthesis>,
    text_stats: TextStats,
    citations: Vec<Citation>,
    risks: Vec<RiskDetail>,
    label: Label,
    confidence: f64,
}

impl<'a> Composition<'a> {
    pub(super) fn new(
        request: &'a Request<'a>,
        examined: &'a Examined<'a>,
        facts: &'a Facts,
        synthesis: Option<&'a Synthesis>,
    ) -> Composition<'a> {
        let text_stats = TextStats::of(examined.source.text);
        let mut citations = examined.citations(&facts.final_url);
        let is_cited = cited(examined, synthesis);
        citations.retain(|citation| is_cited.contains(&citation.id));
        let mut risks = risks(&Grounds {
            examined,
            facts,
            text_stats: &text_stats,
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
        Composition {
            request,
            examined,
            facts,
            synthesis,
            text_stats,
            citations,
            risks,
            label,
            confidence: rounded(check.confidence * moved),
        }
    }

    pub(super) fn report(&self) -> Report {
        let (request, check) = (self.request, &self.examined.check);
        let source_hash = sha256(self.examined.source.text.as_bytes());
        let action = AgentAction::of(self.label, self.is_yes_no(), self.confidence, &self.risks);
        let quality = quality(self.facts, &self.text_stats, &self.risks, request.now);
        let key_claims = self.key_claims();
        Report {
            status: Success::Success,
            target_url: bounded(request.target_url, URL_CHARS_MAX),
            question: self.question(),
            pack: request.pack.to_owned(),
            result_hash: String::new(),
            created_at: request.now.0,
            retention: Some(Retention {
                report_id: request.report_id.to_owned(),
                expires_at: request.now.plus(REPORT_SECONDS).0,
                retention_days: REPORT_DAYS,
                recommended_next_call: action.next_call(request.report_id),
            }),
            answer: self.answer(),
            executive_summary: self.executive_summary(quality.score),
            decision: Decision {
                label: self.label,
                summary: self.verdict(),
                recommended_agent_use: action.advice(self.label).to_owned(),
                answer_value: self.answer_value(),
                // Measured is the engine alone.
                reliability: (self.label == check.label)
                    .then(|| measured(self.form(), self.label, check.depth))
                    .flatten(),
            },
            confidence_score: self.confidence,
            support_score: rounded(check.support_score),
            source_quality_score: quality.score,
            agent_action: action,
            supported_findings: self.supported_findings(),
            gaps: self.gaps(),
            comparisons: self.comparisons(),
            citation_coverage: Coverage {
                citation_count: self.citations.len(),
                supported_claim_count: key_claims.len(),
                // An open question establishes more than it asks.
                claim_count: check.claims.len().max(key_claims.len()),
                source_count: 1,
                cache_hit: self.facts.cache_hit,
            },
            key_claims,
            risks: self
                .risks
                .iter()
                .map(|risk| risk.code.to_string())
                .collect(),
            risk_details: self.risks.clone(),
            source_profile: profile(
                self.facts,
                &self.text_stats,
                self.examined.source.text,
                &source_hash,
                request.now,
            ),
            source_hash,
            screenshot: None,
            source_quality: quality,
            citations: self.citations.clone(),
            analysis: self.analysis(),
            synthesis: self.synthesis.map(|synthesis| synthesis.receipt.clone()),
            access: None,
        }
    }

    fn question(&self) -> String {
        bounded(self.examined.question, QUESTION_CHARS_MAX)
    }

    fn is_yes_no(&self) -> bool {
        self.examined.check.kind == QuestionKind::YesNo
    }

    fn is_open(&self) -> bool {
        self.examined.check.kind == QuestionKind::Open
    }

    /// The citations that carry the label.
    fn carrying(&self) -> Vec<&Citation> {
        let stance = match self.label {
            Label::Contradicted => Stance::Contradicts,
            Label::Unsupported => return Vec::new(),
            _ => Stance::Supports,
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
            Label::Supported if self.is_yes_no() => format!("The source says yes: see {ids}."),
            Label::Contradicted if self.is_yes_no() => format!("The source says no: see {ids}."),
            Label::Supported => format!("The source establishes this: see {ids}."),
            Label::PartiallySupported if self.is_open() => {
                format!(
                    "The question names nothing to be decided; these are the source's key statements: {ids}."
                )
            }
            Label::PartiallySupported if self.lacks_something() => {
                format!("The source establishes a part of this: see {ids}.")
            }
            Label::PartiallySupported => {
                format!("The source seems to establish this, but not beyond doubt: see {ids}.")
            }
            Label::Weak if self.citations.is_empty() => {
                "The source holds little that could establish anything.".to_owned()
            }
            Label::Weak if self.seems_to_deny() => {
                format!("The source does not establish this and seems to say otherwise: see {ids}.")
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
            Label::Supported if self.is_yes_no() => format!("Yes. {statements}"),
            Label::Contradicted if self.is_yes_no() => format!("No. {statements}"),
            Label::Supported => statements,
            Label::PartiallySupported if self.is_open() => statements,
            Label::PartiallySupported => {
                let how = match self.examined.check.kind {
                    _ if self.lacks_something() => "In part.",
                    // Who, when or how many is not answered by a degree.
                    QuestionKind::Wh(_) => "",
                    _ => "Probably.",
                };
                let gaps = self.gaps();
                let gap = gaps.first().map_or("", String::as_str);
                let stop = if gap.is_empty() { "" } else { "." };
                let parts = [how, &format!("{statements}{stop}"), gap];
                parts
                    .into_iter()
                    .filter(|part| !part.is_empty())
                    .collect::<Vec<_>>()
                    .join(" ")
            }
            Label::Weak if statements.is_empty() => "The source does not say.".to_owned(),
            Label::Weak if self.seems_to_deny() => {
                format!("The source seems to say otherwise. {statements}")
            }
            Label::Weak => format!("The source does not clearly say. Nearest: {statements}"),
            Label::Unsupported => "The source does not say.".to_owned(),
            Label::Contradicted => format!("No, the source says otherwise. {statements}"),
        };
        bounded(&answer, ANSWER_CHARS_MAX)
    }

    /// The source's words for what is asked, or a plain yes or no.
    fn answer_value(&self) -> Option<String> {
        let check = &self.examined.check;
        match (check.kind, self.label) {
            (QuestionKind::YesNo, Label::Supported) => Some("yes".to_owned()),
            (QuestionKind::YesNo, Label::Contradicted) => Some("no".to_owned()),
            (QuestionKind::Wh(_), Label::Supported | Label::PartiallySupported) => {
                let words = plain(self.examined.source.text.get(check.answer.clone()?)?);
                (!words.is_empty()).then(|| bounded(&words, VALUE_CHARS_MAX))
            }
            _ => None,
        }
    }

    fn comparisons(&self) -> Vec<Comparison> {
        let (check, text) = (&self.examined.check, self.examined.source.text);
        let compared = check.comparisons.iter().take(COMPARISONS_MAX);
        let compared = compared.map(|comparison| {
            let found = comparison.found.clone().and_then(|range| text.get(range));
            Comparison {
                asked: bounded(&comparison.asked, VALUE_CHARS_MAX),
                found: found.map(|words| bounded(&plain(words), VALUE_CHARS_MAX)),
                relation: comparison.relation,
                order: comparison.order,
                citation_id: comparison
                    .finding
                    .and_then(|finding| self.ids_of(&[finding]).into_iter().next()),
            }
        });
        compared.collect()
    }

    fn executive_summary(&self, quality: f64) -> String {
        let check = &self.examined.check;
        let mut sentences = vec![self.verdict()];
        sentences.extend(self.gaps().into_iter().take(2));
        let (examined, cited) = (check.stats.units, self.citations.len());
        let passages = match examined {
            1 => "passage was",
            _ => "passages were",
        };
        sentences.push(format!(
            "{examined} {passages} examined and {cited} cited; confidence in the label: {:.2}.",
            self.confidence
        ));
        let of_pack = Pack::parse(self.request.pack).map(|pack| pack.depth(true));
        if of_pack.is_some_and(|depth| check.depth < depth) {
            sentences.push(
                "The entailment model was switched off, so only words were compared.".to_owned(),
            );
        }
        sentences.push(self.of_source(quality));
        let grave = self
            .risks
            .iter()
            .filter(|risk| risk.severity >= Severity::Medium);
        let grave: Vec<&str> = grave.map(|risk| &*risk.code).take(5).collect();
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
                origin: Origin::Llm,
            }
        }));
        claims.truncate(KEY_CLAIMS_MAX);
        claims
    }

    fn established_parts(&self) -> Vec<KeyClaim> {
        let check = &self.examined.check;
        let established = check.claims.iter().filter(|part| is_established(part));
        let claims = established.map(|part| KeyClaim {
            claim: bounded(&part.text, STATEMENT_CHARS_MAX),
            citation_ids: self.ids_of(&part.findings),
            confidence: rounded(part.support_score),
            origin: Origin::Deterministic,
        });
        claims
            .filter(|claim| !claim.citation_ids.is_empty())
            .collect()
    }

    /// What supports, else whatever of it is cited.
    fn ids_of(&self, findings: &[usize]) -> Vec<String> {
        let ids: Vec<String> = findings.iter().map(|index| citation_id(*index)).collect();
        let cited = self
            .citations
            .iter()
            .filter(|citation| ids.contains(&citation.id));
        let cited: Vec<&Citation> = cited.collect();
        let supports = cited
            .iter()
            .any(|citation| citation.stance == Stance::Supports);
        let shown = cited
            .into_iter()
            .filter(|citation| !supports || citation.stance == Stance::Supports);
        shown.map(|citation| citation.id.clone()).collect()
    }

    /// Whether the nearest passage contradicts what it does not settle.
    fn seems_to_deny(&self) -> bool {
        let first = self.citations.first();
        first.is_some_and(|citation| citation.stance == Stance::Contradicts)
    }

    /// A part or a term of the question that nothing carries.
    fn lacks_something(&self) -> bool {
        let check = &self.examined.check;
        let parts = &check.claims;
        !check.missing.is_empty()
            || (parts.len() > 1 && parts.iter().any(|part| !is_established(part)))
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
            let open = check.claims.iter().filter(|part| !is_established(part));
            gaps.extend(open.map(|part| {
                format!(
                    "Not established: “{}”",
                    bounded(&part.text, STATEMENT_CHARS_MAX)
                )
            }));
        }
        let missing = terms(&check.missing);
        if !missing.is_empty() {
            let named: Vec<String> = missing.iter().map(|term| format!("“{term}”")).collect();
            gaps.push(format!("No cited passage mentions {}.", named.join(", ")));
        }
        if gaps.is_empty() && !self.is_open() {
            let asked = bounded(self.examined.question, STATEMENT_CHARS_MAX);
            match self.label {
                Label::Supported => {}
                Label::Contradicted if self.is_yes_no() => {}
                Label::PartiallySupported => {
                    gaps.push("The cited passages leave some doubt.".to_owned());
                }
                _ => gaps.push(format!("Not established: “{asked}”")),
            }
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
            label: part.label,
            support_score: rounded(part.support_score),
            citation_ids: self.ids_of(&part.findings),
        });
        Analysis {
            question_kind: self.form(),
            engine_label: check.label,
            parts: parts.collect(),
            missing_terms: terms(&check.missing),
            units_examined: check.stats.units,
            depth: Some(check.depth),
        }
    }

    fn form(&self) -> QuestionForm {
        match self.examined.check.kind {
            QuestionKind::Claim => QuestionForm::Claim,
            QuestionKind::Wh(_) => QuestionForm::Wh,
            QuestionKind::YesNo => QuestionForm::YesNo,
            QuestionKind::Open => QuestionForm::Open,
        }
    }
}

impl KeyClaim {
    fn of_citation(citation: &Citation) -> KeyClaim {
        KeyClaim {
            claim: citation.spoken(STATEMENT_CHARS_MAX),
            citation_ids: vec![citation.id.clone()],
            confidence: citation.score,
            origin: Origin::Deterministic,
        }
    }
}

fn is_established(part: &Claim) -> bool {
    matches!(part.label, Label::Supported | Label::PartiallySupported)
}

fn statement(citation: &Citation) -> String {
    format!("{} [{}]", citation.quoted(STATEMENT_CHARS_MAX), citation.id)
}

fn id_list(citations: &[&Citation]) -> String {
    let ids: Vec<&str> = citations
        .iter()
        .map(|citation| citation.id.as_str())
        .take(5)
        .collect();
    ids.join(", ")
}
