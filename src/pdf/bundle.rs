//! The document of a bundle's report: a title page that answers, then sources, claims with their passages, the matrix,
//! agreements, conflicts, gaps, risks, the reports on each source, and how to check it all.

mod appendix;
mod claims;

use crate::domain::figures::{label_words, named_by};
use crate::evidence::bundle::decide::BundleLabel;
use crate::evidence::bundle::{BundleReport, SourceLine};
use crate::pdf::block::{Block, Span, Style, Table};
use crate::pdf::bundle::appendix::{hashes, method, verification};
use crate::pdf::bundle::claims::{agreements, claims, conflicts, matrix};
use crate::pdf::parts::{Opening, cell, column, facts, hash, items, risks};
use crate::pdf::report;
use crate::pdf::words::{bounded, day, percent, spoken, when};

/// Sources that have a line on the title page.
const GLANCE_MAX: usize = 12;

pub(super) fn blocks(report: &BundleReport, attachment: &str) -> Vec<Block> {
    let mut blocks = cover(report);
    blocks.push(Block::Page);
    blocks.push(Block::heading(1, "Contents", "contents"));
    blocks.push(Block::Contents);
    blocks.push(Block::Page);
    // In the order of the page.
    blocks.extend(matrix(report));
    blocks.extend(claims(report));
    blocks.extend(agreements(report));
    blocks.extend(conflicts(report));
    blocks.push(Block::heading(1, "Gaps", "gaps"));
    let gaps = &report.synthesis.gaps;
    blocks.extend(match gaps.is_empty() {
        true => vec![Block::text("Nothing that was asked stays open.")],
        false => items(gaps.iter().map(String::as_str)),
    });
    blocks.push(Block::heading(1, "Risks", "risks"));
    blocks.push(match report.risk_notes.is_empty() {
        true => Block::text("No risks were found."),
        false => {
            let notes = report.risk_notes.iter();
            let rows =
                notes.map(|note| (note.severity, &*note.code, &*note.text, &*note.source_ids));
            risks(rows, "Sources")
        }
    });
    blocks.extend(sources(report));
    blocks.push(Block::heading(1, "Source by source", "reports"));
    for (source, single) in report.read() {
        blocks.extend(report::section(source, single));
    }
    blocks.extend(hashes(report));
    blocks.extend(verification(report, attachment));
    blocks.extend(method());
    blocks
}

fn cover(report: &BundleReport) -> Vec<Block> {
    let coverage = &report.synthesis.coverage;
    let opening = Opening {
        product: "EVIDENCE BUNDLE",
        level: &report.bundle,
        question: &report.question,
        label: report.decision.label.name(),
        disputed: report.decision.disputed && report.decision.label != BundleLabel::Contested,
        shares: (report.confidence_score, report.support_score),
        summary: &report.decision.summary,
        advice: &report.decision.recommended_agent_use,
        action: report.agent_action,
        value: None,
        answer: answer(report),
    };
    let mut blocks = opening.blocks();
    blocks.push(Block::heading(3, "What it rests on", "rests"));
    blocks.push(facts(
        "What the bundle rests on",
        vec![
            (
                "Sources",
                cell(format!(
                    "{} submitted, {} read, {} of them independent of each other; {} could not be read",
                    coverage.source_count,
                    coverage.read_count,
                    coverage.independent_count,
                    coverage.unreachable_count,
                )),
            ),
            (
                "Claims",
                cell(format!(
                    "{} set beside each other: independent sources agree on {}, of which {} are disputed; {} rest on one source alone",
                    coverage.claim_count,
                    coverage.agreed_count,
                    coverage.disputed_count,
                    coverage.single_source_count,
                )),
            ),
            (
                "Conflicts",
                cell(match report.synthesis.conflicts.len() {
                    0 => "none found".to_owned(),
                    count => format!("{count}, both sides in their own words"),
                }),
            ),
            (named_by(&report.order_id), cell(&*report.order_id)),
            ("Made", cell(when(report.created_at))),
            ("SHA-256", hash(&report.result_hash)),
        ],
    ));
    if (1..=GLANCE_MAX).contains(&report.sources.len()) {
        blocks.push(Block::heading(3, "What each source says", "glance"));
        blocks.push(glance(report));
    }
    blocks
}

/// The sources in a line each.
fn glance(report: &BundleReport) -> Block {
    let rows = report.sources.iter().map(|source| {
        let (id, url) = (&source.id, &*source.target_url);
        let host = url.split_once("://").map_or(url, |(_, rest)| rest);
        let name = bounded(source.title.as_deref().unwrap_or(host), 70);
        let Some(label) = source.label else {
            return vec![cell(id), cell(name), cell("not read")];
        };
        vec![
            vec![Span::place(
                &**id,
                format!("source-{id}"),
                Style::SMALL.bold(),
            )],
            cell(name),
            cell(label_words(label.name())),
        ]
    });
    Block::Table(Table {
        summary: "What each source says to the question".to_owned(),
        columns: vec![
            column("", 0.5),
            column("Source", 6.0),
            column("Finding", 2.2),
        ],
        rows: rows.collect(),
        after: 6.0,
    })
}

/// What follows the sentence of the decision, which the panel has said.
fn answer(report: &BundleReport) -> &str {
    let answer = &*report.answer;
    let rest = answer.strip_prefix(&*report.decision.summary);
    rest.map(str::trim)
        .filter(|rest| !rest.is_empty())
        .unwrap_or(answer)
}

fn sources(report: &BundleReport) -> Vec<Block> {
    let rows = report
        .sources
        .iter()
        .map(|source| source_row(report, source));
    let table = Table {
        summary: "The submitted sources, and what became of each".to_owned(),
        columns: vec![
            column("", 0.5),
            column("Source", 5.2),
            column("Finding", 2.2),
            column("Quality", 0.9),
            column("Group", 0.8),
        ],
        rows: rows.collect(),
        after: 8.0,
    };
    let mut blocks = vec![Block::heading(1, "Sources", "sources"), Block::Table(table)];
    for group in report
        .groups
        .iter()
        .filter(|group| group.source_ids.len() > 1)
    {
        let because = group.because.iter().map(|why| spoken(why.name()));
        blocks.push(Block::text(format!(
            "{}: {} carry the same text ({}) and count as one source.",
            group.id,
            group.source_ids.join(", "),
            because.collect::<Vec<_>>().join(", "),
        )));
    }
    blocks
}

fn source_row(report: &BundleReport, source: &SourceLine) -> Vec<Vec<Span>> {
    let (id, note) = (&*source.id, Style::NOTE);
    let url = source.final_url.as_deref().unwrap_or(&source.target_url);
    let mut name = Vec::new();
    if let Some(title) = &source.title {
        name.push(Span::new(
            format!("{}\n", bounded(title, 140)),
            Style::SMALL.bold(),
        ));
    }
    name.push(Span::address(url, note));
    if let Some(dated) = &source.dated {
        name.push(Span::new(format!("\ndated {}", day(dated)), note));
    }
    let Some(label) = source.label else {
        let finding = format!("not read: {}", bounded(report.why_unread(id), 160));
        return vec![cell(id), name, cell(finding), cell("–"), cell("–")];
    };
    let finding = format!(
        "{}, {}",
        label_words(label.name()),
        percent(source.confidence.unwrap_or_default())
    );
    vec![
        vec![Span::place(id, format!("source-{id}"), Style::SMALL.bold())],
        name,
        cell(finding),
        cell(percent(source.quality.unwrap_or_default())),
        cell(source.group_id.as_deref().unwrap_or_default()),
    ]
}
