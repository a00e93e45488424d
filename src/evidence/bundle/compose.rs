//! How a bundle's report is put together from its parts, and the sentences that it opens with.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::closed_set::closed_set;
use crate::evidence::bundle::compare::{Agreement, Bench, Certainty, Conflict, claim_id};
use crate::evidence::bundle::decide::{BundleLabel, Decided, Decision, Grounds, PartCounts};
use crate::evidence::bundle::footnotes::{Footnote, Footnotes};
use crate::evidence::bundle::groups::{Group, Groups};
use crate::evidence::bundle::matrix::{Row, Verdict, rows};
use crate::evidence::bundle::read::Submitted;
use crate::evidence::bundle::remarks::{RiskNote, gaps, risk_notes};
use crate::evidence::bundle::{BundleRequest, BundleSource};
use crate::evidence::reading::text::{URL_CHARS_MAX, bounded, plain};
use crate::evidence::report::action::AgentAction;
use crate::evidence::report::canonical::{report_text, sha256};
use crate::evidence::report::citation::rounded;
use crate::evidence::report::{Links, QuestionForm, Report};
use crate::evidence::{Label, QUESTION_CHARS_MAX};

const MESSAGE_CHARS_MAX: usize = 300;
const QUOTE_CHARS_MAX: usize = 300;
const SUMMARY_CHARS_MAX: usize = 1_200;

closed_set! {
    pub enum Fulfilled {
        Fulfilled = "fulfilled",
    }
}

closed_set! {
    pub enum SourceStatus {
        Read = "read",
        Unreachable = "unreachable",
    }
}

closed_set! {
    /// Whether a claim is a part of the question or a statement of a source.
    pub enum ClaimKind {
        Question = "question",
        Statement = "statement",
    }
}

/// The report of a bundle. The one place where its members are named: page, document and delivery read this type. A
/// member that is added has `#[serde(default)]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BundleReport {
    pub status: Fulfilled,
    pub order_id: String,
    pub bundle: String,
    pub question: String,
    pub created_at: u64,
    pub answer: String,
    pub executive_summary: String,
    pub decision: Decision,
    /// That the label is right, reckoned from the sources' by rule: no set of bundles with known answers was there to
    /// measure it on.
    pub confidence_score: f64,
    /// That the sources establish it.
    pub support_score: f64,
    pub agent_action: AgentAction,
    pub synthesis: Synthesised,
    pub sources: Vec<SourceLine>,
    pub groups: Vec<Group>,
    pub matrix: Matrix,
    pub citations: Vec<Footnote>,
    pub unreachable: Vec<Unread>,
    pub source_hashes: Vec<SourceHash>,
    pub risk_notes: Vec<RiskNote>,
    /// The reports on the sources that were read.
    pub reports: Vec<Report>,
    pub result_hash: String,
    /// Absent in the report of an order, whose delivery says it, and before it is sold.
    #[serde(flatten)]
    pub links: Option<Links>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Synthesised {
    pub agreements: Vec<Agreement>,
    pub conflicts: Vec<Conflict>,
    pub coverage: Coverage,
    pub gaps: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    pub source_count: usize,
    pub read_count: usize,
    pub unreachable_count: usize,
    /// Sources that speak for themselves.
    pub independent_count: usize,
    pub publisher_count: usize,
    pub citation_count: usize,
    pub claim_count: usize,
    /// Claims that independent sources agree on, and how many of these another source disputes.
    pub agreed_count: usize,
    pub disputed_count: usize,
    /// Claims that one independent source alone supports.
    pub single_source_count: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SourceLine {
    pub id: String,
    pub target_url: String,
    pub status: SourceStatus,
    pub final_url: Option<String>,
    pub title: Option<String>,
    pub dated: Option<String>,
    pub language: Option<String>,
    pub publisher: Option<String>,
    pub report_id: Option<String>,
    pub group_id: Option<String>,
    pub label: Option<Label>,
    pub confidence: Option<f64>,
    pub quality: Option<f64>,
    pub agent_action: Option<AgentAction>,
    pub citation_count: usize,
    pub word_count: u64,
    pub fetched_at: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Matrix {
    pub claims: Vec<ClaimLine>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimLine {
    pub id: String,
    pub text: String,
    pub kind: ClaimKind,
    pub made_by: Vec<String>,
    pub supporting_groups: usize,
    pub opposing_groups: usize,
    pub cells: Vec<CellLine>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellLine {
    pub source_id: String,
    pub verdict: Verdict,
    pub support: f64,
    pub citation_ids: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unread {
    pub source_id: String,
    pub target_url: String,
    pub code: String,
    pub message: String,
    pub tried_at: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SourceHash {
    pub source_id: String,
    pub url: String,
    /// Of the text that the citations are slices of.
    pub sha256: String,
    /// Of the raw body.
    pub source_sha256: Option<String>,
    pub fetched_at: u64,
}

pub(super) fn compose(request: &BundleRequest<'_>, sources: &[BundleSource<'_>]) -> BundleReport {
    let submitted = Submitted::all(sources);
    let groups = Groups::of(&submitted);
    let mut notes = Footnotes::default();
    let rows = rows(&submitted, &groups, &mut notes);
    let kind = kind(&submitted);
    let bench = Bench {
        submitted: &submitted,
        groups: &groups,
        rows: &rows,
        notes: &notes,
        is_wh: kind == QuestionForm::Wh,
    };
    let conflicts = bench.conflicts();
    let agreements = bench.agreements(&conflicts);
    let grounds = Grounds {
        submitted: &submitted,
        groups: &groups,
        rows: &rows,
        agreements: &agreements,
        conflicts: &conflicts,
        is_wh: kind == QuestionForm::Wh,
        is_yes_no: kind == QuestionForm::YesNo,
    };
    let decided = grounds.decided();
    let decision = decided.decision.clone();
    let standings = grounds.standings();
    let coverage = coverage(&submitted, &groups, &rows, &notes, &agreements);
    let gaps = gaps(&submitted, &rows, &standings);
    let answer = answer(&decision, (&rows, &groups), &notes, &conflicts);
    BundleReport {
        status: Fulfilled::Fulfilled,
        order_id: request.order_id.to_owned(),
        bundle: request.bundle.to_owned(),
        question: bounded(request.question, QUESTION_CHARS_MAX),
        created_at: request.created_at.0,
        executive_summary: executive_summary(&decided, &coverage, &standings, &gaps, &conflicts),
        answer,
        confidence_score: decided.confidence,
        support_score: decided.support,
        agent_action: decided.action,
        risk_notes: risk_notes(&submitted, &groups, &agreements, &conflicts),
        sources: source_lines(&submitted, &groups),
        matrix: matrix(&submitted, &groups, &rows),
        unreachable: submitted.iter().filter_map(unread).collect(),
        source_hashes: submitted.iter().filter_map(source_hash).collect(),
        reports: reports(&submitted),
        result_hash: String::new(),
        decision,
        synthesis: Synthesised {
            agreements,
            conflicts,
            coverage,
            gaps,
        },
        groups: groups.groups,
        citations: notes.notes,
        links: None,
    }
}

/// What the question was taken for.
fn kind(submitted: &[Submitted<'_>]) -> QuestionForm {
    let mut reads = submitted.iter().filter_map(|source| source.read.as_ref());
    reads.next().map_or(QuestionForm::Open, |read| {
        read.report.analysis.question_kind
    })
}

fn coverage(
    submitted: &[Submitted<'_>],
    groups: &Groups,
    rows: &[Row],
    notes: &Footnotes,
    agreements: &[Agreement],
) -> Coverage {
    let read_count = submitted
        .iter()
        .filter(|source| source.read.is_some())
        .count();
    let single = rows.iter().filter(|row| supporting(groups, row) == 1);
    Coverage {
        source_count: submitted.len(),
        read_count,
        unreachable_count: submitted.len() - read_count,
        independent_count: groups.groups.len(),
        publisher_count: groups.publishers(0..submitted.len()),
        citation_count: notes.notes.len(),
        claim_count: rows.len(),
        agreed_count: agreements.len(),
        disputed_count: agreements
            .iter()
            .filter(|agreement| agreement.disputed)
            .count(),
        single_source_count: single.count(),
    }
}

fn supporting(groups: &Groups, row: &Row) -> usize {
    groups.count(row.sources_with(|verdict| verdict == Verdict::Supports))
}

fn source_lines(submitted: &[Submitted<'_>], groups: &Groups) -> Vec<SourceLine> {
    let lines = submitted.iter().enumerate().map(|(at, source)| {
        let read = source.read.as_ref();
        let report = read.map(|read| &read.report);
        let profile = report.map(|report| &report.source_profile);
        let group = groups.of_source(at);
        SourceLine {
            id: source.id.clone(),
            target_url: bounded(source.source.target_url, URL_CHARS_MAX),
            status: match read {
                Some(_) => SourceStatus::Read,
                None => SourceStatus::Unreachable,
            },
            final_url: profile.map(|profile| profile.final_url.clone()),
            title: profile.and_then(|profile| profile.title.clone()),
            dated: report.and_then(Report::dated).map(str::to_owned),
            language: profile.and_then(|profile| profile.language.clone()),
            publisher: read.map(|read| read.publisher.clone()),
            report_id: report.and_then(own_id),
            group_id: group.map(|group| groups.groups[group].id.clone()),
            label: report.map(|report| report.decision.label),
            confidence: report.map(|report| rounded(report.confidence_score)),
            quality: report.map(|report| rounded(report.source_quality_score)),
            agent_action: report.map(|report| report.agent_action),
            citation_count: report.map_or(0, |report| report.citations.len()),
            word_count: profile.map_or(0, |profile| profile.word_count),
            fetched_at: source.source.fetched_at.0,
        }
    });
    lines.collect()
}

fn matrix(submitted: &[Submitted<'_>], groups: &Groups, rows: &[Row]) -> Matrix {
    let claims = rows.iter().enumerate().map(|(number, row)| {
        let cells = row
            .cells
            .iter()
            .zip(submitted)
            .map(|(cell, source)| CellLine {
                source_id: source.id.clone(),
                verdict: cell.verdict,
                support: rounded(cell.support),
                citation_ids: cell.citation_ids.clone(),
            });
        ClaimLine {
            id: claim_id(number),
            text: row.text.clone(),
            kind: match row.is_asked {
                true => ClaimKind::Question,
                false => ClaimKind::Statement,
            },
            made_by: row
                .made_by
                .iter()
                .map(|at| submitted[*at].id.clone())
                .collect(),
            supporting_groups: supporting(groups, row),
            opposing_groups: groups.count(row.sources_with(Verdict::opposes)),
            cells: cells.collect(),
        }
    });
    Matrix {
        claims: claims.collect(),
    }
}

fn unread(source: &Submitted<'_>) -> Option<Unread> {
    let why = source.source.outcome.as_ref().err()?;
    Some(Unread {
        source_id: source.id.clone(),
        target_url: bounded(source.source.target_url, URL_CHARS_MAX),
        code: why.code.clone(),
        message: bounded(&why.message, MESSAGE_CHARS_MAX),
        tried_at: source.source.fetched_at.0,
    })
}

fn source_hash(source: &Submitted<'_>) -> Option<SourceHash> {
    let profile = &source.read.as_ref()?.report.source_profile;
    Some(SourceHash {
        source_id: source.id.clone(),
        url: profile.final_url.clone(),
        sha256: profile.content_sha256.clone(),
        source_sha256: profile.source_sha256.clone(),
        fetched_at: source.source.fetched_at.0,
    })
}

fn reports(submitted: &[Submitted<'_>]) -> Vec<Report> {
    let read = submitted
        .iter()
        .filter_map(|source| source.source.outcome.as_ref().ok());
    read.map(|read| within(read.report)).collect()
}

/// The identifier of a report that can be read by itself.
fn own_id(report: &Report) -> Option<String> {
    report.access.as_ref()?;
    Some(report.id().to_owned())
}

/// A report as a part of this one. Without an address of its own it promises none, and its hash is made anew.
fn within(report: &Report) -> Report {
    let mut report = report.clone();
    if report.access.is_none() {
        report.retention = None;
        report.result_hash = sha256(&report_text(&report.members()));
    }
    report
}

/// The decision in a sentence, and the words of the sources that carry it.
fn answer(
    decision: &Decision,
    (rows, groups): (&[Row], &Groups),
    notes: &Footnotes,
    conflicts: &[Conflict],
) -> String {
    let quoted = |id: &str| {
        let note = notes.get(id)?;
        let excerpt = bounded(&plain(&note.excerpt), QUOTE_CHARS_MAX);
        Some(format!("“{excerpt}” [{id}]"))
    };
    let conflict = conflicts
        .iter()
        .find(|conflict| conflict.certainty == Certainty::Clear);
    let ids: Vec<&str> = match conflict.filter(|_| decision.disputed) {
        Some(conflict) => conflict
            .sides
            .iter()
            .map(|side| side.citation_id.as_str())
            .collect(),
        None => carrying(decision, rows, groups),
    };
    let quotes: Vec<String> = ids.iter().filter_map(|id| quoted(id)).take(3).collect();
    let sentences = [decision.summary.clone()].into_iter().chain(quotes);
    bounded(&sentences.collect::<Vec<_>>().join(" "), SUMMARY_CHARS_MAX)
}

/// The first citation of each independent source that carries a claim, the first claim's first.
fn carrying<'a>(decision: &Decision, rows: &'a [Row], groups: &Groups) -> Vec<&'a str> {
    let carries = |verdict: Verdict| match decision.label {
        BundleLabel::Contradicted => verdict.opposes(),
        BundleLabel::Contested => verdict.opposes() || verdict == Verdict::Supports,
        BundleLabel::Supported | BundleLabel::PartiallySupported => {
            matches!(verdict, Verdict::Supports | Verdict::Partial)
        }
        _ => false,
    };
    let mut ids: Vec<&str> = Vec::new();
    for row in rows {
        let mut heard: Vec<Option<usize>> = Vec::new();
        for (at, cell) in row.cells.iter().enumerate() {
            let group = groups.of_source(at);
            if let Some(id) = cell.citation_ids.first()
                && carries(cell.verdict)
                && !heard.contains(&group)
                && !ids.contains(&id.as_str())
            {
                heard.push(group);
                ids.push(id);
            }
        }
    }
    ids
}

fn executive_summary(
    decided: &Decided,
    coverage: &Coverage,
    standings: &[PartCounts],
    gaps: &[String],
    conflicts: &[Conflict],
) -> String {
    let mut sentences = vec![
        decided.decision.summary.clone(),
        format!(
            "{} of {} sources were read; {} of them are independent of each other.",
            coverage.read_count, coverage.source_count, coverage.independent_count
        ),
    ];
    if standings.len() > 1 {
        let firm = standings.iter().filter(|standing| standing.supporting >= 2);
        sentences.push(format!(
            "The question has {} parts, of which {} rest on two independent sources or more.",
            standings.len(),
            firm.count()
        ));
    }
    sentences.push(format!(
        "Claims set beside each other: {}. Independent sources agree on {} ({} of them disputed). Conflicts found: {}.",
        coverage.claim_count,
        coverage.agreed_count,
        coverage.disputed_count,
        conflicts.len()
    ));
    sentences.extend(gaps.iter().take(2).cloned());
    sentences.push(format!(
        "Confidence in the label: {:.2}.",
        decided.confidence
    ));
    bounded(&sentences.join(" "), SUMMARY_CHARS_MAX)
}
