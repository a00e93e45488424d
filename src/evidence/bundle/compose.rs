//! How a bundle's report is put together from its parts, and the sentences that it opens with.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::evidence::QUESTION_CHARS_MAX;
use crate::evidence::bundle::compare::{Agreement, Bench, Conflict, claim_id};
use crate::evidence::bundle::decide::{Decision, Grounds, Standing};
use crate::evidence::bundle::footnotes::{Footnote, Footnotes};
use crate::evidence::bundle::groups::{Group, Groups};
use crate::evidence::bundle::matrix::{Row, Verdict, rows};
use crate::evidence::bundle::read::{Submitted, is_retained};
use crate::evidence::bundle::remarks::{RiskNote, gaps, risk_notes};
use crate::evidence::bundle::{BundleRequest, BundleSource};
use crate::evidence::reading::text::{URL_CHARS_MAX, bounded, plain};
use crate::evidence::report::canonical::{report_text, sha256};
use crate::evidence::report::citation::rounded;

const MESSAGE_CHARS_MAX: usize = 300;
const QUOTE_CHARS_MAX: usize = 300;
const SUMMARY_CHARS_MAX: usize = 1_200;

#[derive(Serialize)]
pub(super) struct BundleReport {
    status: &'static str,
    order_id: String,
    bundle: String,
    question: String,
    created_at: u64,
    answer: String,
    executive_summary: String,
    decision: Decision,
    confidence_score: f64,
    support_score: f64,
    agent_action: &'static str,
    synthesis: Synthesised,
    sources: Vec<SourceLine>,
    groups: Vec<Group>,
    matrix: Matrix,
    citations: Vec<Footnote>,
    unreachable: Vec<Unread>,
    source_hashes: Vec<SourceHash>,
    risk_notes: Vec<RiskNote>,
    /// The reports on the sources that were read.
    reports: Vec<Map<String, Value>>,
}

#[derive(Serialize)]
struct Synthesised {
    agreements: Vec<Agreement>,
    conflicts: Vec<Conflict>,
    coverage: Coverage,
    gaps: Vec<String>,
}

#[derive(Serialize)]
struct Coverage {
    source_count: usize,
    read_count: usize,
    unreachable_count: usize,
    /// Sources that speak for themselves.
    independent_count: usize,
    publisher_count: usize,
    citation_count: usize,
    claim_count: usize,
    /// Claims that independent sources agree on, and how many of these another source disputes.
    agreed_count: usize,
    disputed_count: usize,
    /// Claims that one independent source alone supports.
    single_source_count: usize,
}

#[derive(Serialize)]
struct SourceLine {
    id: String,
    target_url: String,
    /// `read` or `unreachable`.
    status: &'static str,
    final_url: Option<String>,
    title: Option<String>,
    dated: Option<String>,
    language: Option<String>,
    publisher: Option<String>,
    report_id: Option<String>,
    group_id: Option<String>,
    label: Option<String>,
    confidence: Option<f64>,
    quality: Option<f64>,
    agent_action: Option<String>,
    citation_count: usize,
    word_count: u64,
    fetched_at: u64,
}

#[derive(Serialize)]
struct Matrix {
    claims: Vec<ClaimLine>,
}

#[derive(Serialize)]
struct ClaimLine {
    id: String,
    text: String,
    /// `question` or `statement`.
    kind: &'static str,
    made_by: Vec<String>,
    supporting_groups: usize,
    opposing_groups: usize,
    cells: Vec<CellLine>,
}

#[derive(Serialize)]
struct CellLine {
    source_id: String,
    verdict: &'static str,
    support: f64,
    citation_ids: Vec<String>,
}

#[derive(Serialize)]
struct Unread {
    source_id: String,
    target_url: String,
    code: String,
    message: String,
    tried_at: u64,
}

#[derive(Serialize)]
struct SourceHash {
    source_id: String,
    url: String,
    /// Of the text that the citations are slices of.
    sha256: String,
    /// Of the raw body.
    source_sha256: Option<String>,
    fetched_at: u64,
}

pub(super) fn compose(request: &BundleRequest<'_>, sources: &[BundleSource<'_>]) -> BundleReport {
    let submitted = Submitted::all(sources);
    let groups = Groups::of(&submitted);
    let mut notes = Footnotes::default();
    let rows = rows(&submitted, &mut notes);
    let kind = kind(&submitted);
    let bench = Bench {
        submitted: &submitted,
        groups: &groups,
        rows: &rows,
        notes: &notes,
        is_wh: kind == "wh",
    };
    let conflicts = bench.conflicts();
    let agreements = bench.agreements(&conflicts);
    let grounds = Grounds {
        submitted: &submitted,
        groups: &groups,
        rows: &rows,
        agreements: &agreements,
        conflicts: &conflicts,
        is_wh: kind == "wh",
        is_yes_no: kind == "yes_no",
    };
    let decision = grounds.decision();
    let standings = grounds.standings();
    let coverage = coverage(&submitted, &groups, &rows, &notes, &agreements);
    let gaps = gaps(&submitted, &rows, &standings);
    let answer = answer(&decision, (&rows, &groups), &notes, &conflicts);
    BundleReport {
        status: "fulfilled",
        order_id: request.order_id.to_owned(),
        bundle: request.bundle.to_owned(),
        question: bounded(request.question, QUESTION_CHARS_MAX),
        created_at: request.created_at.0,
        executive_summary: executive_summary(&decision, &coverage, &standings, &gaps, &conflicts),
        answer,
        confidence_score: decision.confidence,
        support_score: decision.support_score,
        agent_action: decision.agent_action,
        risk_notes: risk_notes(&submitted, &groups, &agreements, &conflicts),
        sources: source_lines(&submitted, &groups),
        matrix: matrix(&submitted, &groups, &rows),
        unreachable: submitted.iter().filter_map(unread).collect(),
        source_hashes: submitted.iter().filter_map(source_hash).collect(),
        reports: reports(&submitted),
        decision,
        synthesis: Synthesised {
            agreements,
            conflicts,
            coverage,
            gaps,
        },
        groups: groups.groups,
        citations: notes.notes,
    }
}

/// What the question was taken for.
fn kind<'a>(submitted: &'a [Submitted<'_>]) -> &'a str {
    let mut reads = submitted.iter().filter_map(|source| source.read.as_ref());
    reads
        .next()
        .map_or("open", |read| read.told.analysis.question_kind.as_str())
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
    groups.count(with(row, |verdict| verdict == Verdict::Supports))
}

fn with(row: &Row, has: fn(Verdict) -> bool) -> impl Iterator<Item = usize> {
    let cells = row.cells.iter().enumerate();
    cells
        .filter(move |(_, cell)| has(cell.verdict))
        .map(|(at, _)| at)
}

fn source_lines(submitted: &[Submitted<'_>], groups: &Groups) -> Vec<SourceLine> {
    let lines = submitted.iter().enumerate().map(|(at, source)| {
        let read = source.read.as_ref();
        let told = read.map(|read| &read.told);
        let profile = told.map(|told| &told.source_profile);
        let group = groups.of_source(at);
        SourceLine {
            id: source.id.clone(),
            target_url: bounded(source.source.target_url, URL_CHARS_MAX),
            status: if read.is_some() {
                "read"
            } else {
                "unreachable"
            },
            final_url: profile.map(|profile| profile.final_url.clone()),
            title: profile.and_then(|profile| profile.title.clone()),
            dated: read.and_then(|read| read.dated()).map(str::to_owned),
            language: profile.and_then(|profile| profile.language.clone()),
            publisher: read.map(|read| read.publisher.clone()),
            report_id: told.and_then(|told| told.report_id.clone()),
            group_id: group.map(|group| groups.groups[group].id.clone()),
            label: told.map(|told| told.decision.label.clone()),
            confidence: told.map(|told| rounded(told.decision.confidence)),
            quality: told.map(|told| rounded(told.source_quality_score)),
            agent_action: told.map(|told| told.agent_action.clone()),
            citation_count: told.map_or(0, |told| told.citations.len()),
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
                verdict: cell.verdict.name(),
                support: rounded(cell.support),
                citation_ids: cell.citation_ids.clone(),
            });
        ClaimLine {
            id: claim_id(number),
            text: row.text.clone(),
            kind: if row.is_asked {
                "question"
            } else {
                "statement"
            },
            made_by: row
                .made_by
                .iter()
                .map(|at| submitted[*at].id.clone())
                .collect(),
            supporting_groups: supporting(groups, row),
            opposing_groups: groups.count(with(row, Verdict::opposes)),
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
    let profile = &source.read.as_ref()?.told.source_profile;
    Some(SourceHash {
        source_id: source.id.clone(),
        url: profile.final_url.clone(),
        sha256: profile.content_sha256.clone(),
        source_sha256: profile.source_sha256.clone(),
        fetched_at: source.source.fetched_at.0,
    })
}

fn reports(submitted: &[Submitted<'_>]) -> Vec<Map<String, Value>> {
    let read = submitted
        .iter()
        .filter_map(|source| source.source.outcome.as_ref().ok());
    read.map(|read| within(read.report)).collect()
}

/// Members that speak of a report which can be read and asked by itself.
const OF_RETAINED: [&str; 4] = [
    "report_id",
    "expires_at",
    "retention_days",
    "recommended_next_call",
];

/// A report as a part of this one. Without an address of its own it promises none, and its hash is made anew.
fn within(report: &Map<String, Value>) -> Map<String, Value> {
    let mut report = report.clone();
    if is_retained(&report) {
        return report;
    }
    report.retain(|name, _| !OF_RETAINED.contains(&name.as_str()));
    let hash = sha256(&report_text(&report));
    report.insert("result_hash".to_owned(), Value::String(hash));
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
        .find(|conflict| conflict.certainty == "clear");
    let ids: Vec<&str> = match conflict.filter(|_| decision.disputed) {
        Some(conflict) => conflict
            .sides
            .iter()
            .map(|side| side.citation_id.as_str())
            .collect(),
        None => carrying(decision, rows, groups),
    };
    let quotes: Vec<String> = ids.iter().filter_map(|id| quoted(id)).take(3).collect();
    let told = [decision.summary.clone()].into_iter().chain(quotes);
    bounded(&told.collect::<Vec<_>>().join(" "), SUMMARY_CHARS_MAX)
}

/// The first citation of each independent source that carries a claim, the first claim's first.
fn carrying<'a>(decision: &Decision, rows: &'a [Row], groups: &Groups) -> Vec<&'a str> {
    let carries = |verdict: Verdict| match decision.label {
        "contradicted" => verdict.opposes(),
        "supported" | "partially_supported" => {
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
    decision: &Decision,
    coverage: &Coverage,
    standings: &[Standing],
    gaps: &[String],
    conflicts: &[Conflict],
) -> String {
    let mut sentences = vec![
        decision.summary.clone(),
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
        "The label is right with probability {:.2}.",
        decision.confidence
    ));
    bounded(&sentences.join(" "), SUMMARY_CHARS_MAX)
}
