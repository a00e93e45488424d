//! The document of one Proof Pack report, and the same as a section of a bundle's.

use crate::domain::figures::{capitalized, label_words};
use crate::evidence::bundle::SourceLine;
use crate::evidence::report::Report;
use crate::evidence::report::citation::Citation;
use crate::evidence::report::risks::RiskDetail;
use crate::evidence::{Depth, plain};
use crate::pdf::block::{Block, Span, Style, Table, Tone};
use crate::pdf::parts::{
    Opening, Passage, cell, cited, column, command, facts, hash, items, risks,
};
use crate::pdf::words::{bounded, day, percent, spoken, when};

/// Passages of a section; the attached JSON has all.
const PASSAGES_MAX: usize = 6;

pub(super) fn blocks(report: &Report, attachment: &str) -> Vec<Block> {
    let opening = Opening {
        product: "PROOF PACK",
        level: &report.pack,
        question: &report.question,
        label: report.decision.label.name(),
        disputed: false,
        shares: (report.confidence_score, report.support_score),
        summary: &report.decision.summary,
        advice: &report.decision.recommended_agent_use,
        action: report.agent_action,
        value: report.decision.answer_value.as_deref(),
        answer: &report.answer,
    };
    let mut blocks = opening.blocks();
    blocks.push(Block::heading(3, "What it rests on", "rests"));
    blocks.push(profile(report));
    blocks.push(Block::heading(1, "Evidence", "evidence"));
    // In the order of the page.
    blocks.extend(compared(report));
    blocks.extend(claims(report));
    blocks.extend(passages(report, "", usize::MAX));
    blocks.push(Block::heading(1, "Gaps", "gaps"));
    blocks.extend(gaps(report));
    blocks.push(Block::heading(1, "Risks", "risks"));
    blocks.push(risk_table(&report.risk_details.iter().collect::<Vec<_>>()));
    blocks.extend(quality(report));
    blocks.extend(verification(report, attachment));
    blocks
}

/// One source's report within a bundle.
pub(super) fn section(source: &SourceLine, report: &Report) -> Vec<Block> {
    let id = &source.id;
    let label = format!(
        "{} ({}) · {}",
        capitalized(&label_words(report.decision.label.name())),
        percent(report.confidence_score),
        spoken(report.agent_action.name())
    );
    let mut blocks = vec![
        Block::heading(
            2,
            format!("{id}  {}", bounded(title(report), 140)),
            format!("source-{id}"),
        ),
        Block::paragraph(vec![Span::address(
            &report.source_profile.final_url,
            Style::SMALL,
        )]),
        Block::paragraph(vec![Span::new(label, Style::BODY.bold())]),
        Block::paragraph(cited(&report.answer, &format!("{id}."), Style::BODY)),
    ];
    blocks.extend(passages(report, &format!("{id}."), PASSAGES_MAX));
    if !report.gaps.is_empty() {
        blocks.push(Block::heading(3, "Gaps", format!("gaps-{id}")));
        blocks.extend(gaps(report));
    }
    let risks: Vec<&RiskDetail> = report.risk_details.iter().collect();
    if !risks.is_empty() {
        blocks.push(Block::heading(3, "Risks", format!("risks-{id}")));
        blocks.push(risk_table(&risks));
    }
    blocks
}

/// The title of the source, or its address.
fn title(report: &Report) -> &str {
    let profile = &report.source_profile;
    profile.title.as_deref().unwrap_or(&profile.final_url)
}

fn profile(report: &Report) -> Block {
    let profile = &report.source_profile;
    let or_none = |text: Option<&str>| match text {
        None | Some("") => "not stated".to_owned(),
        Some(text) => bounded(text, 160),
    };
    let dated = report.dated().map(day);
    let ends = report
        .retention
        .as_ref()
        .map_or(0, |retention| retention.expires_at);
    facts(
        "The source, and the report on it",
        vec![
            (
                "Source",
                vec![
                    Span::new(
                        format!(
                            "{}\n",
                            bounded(profile.title.as_deref().unwrap_or_default(), 160)
                        ),
                        Style::SMALL.bold(),
                    ),
                    Span::address(&profile.final_url, Style::NOTE),
                ],
            ),
            ("Author", cell(or_none(profile.author.as_deref()))),
            ("Dated", cell(or_none(dated.as_deref()))),
            ("Read", cell(when(profile.retrieved_at))),
            ("Quality", cell(percent(report.source_quality_score))),
            ("Depth", cell(depth(report))),
            ("Reliability", cell(reliability(report))),
            (
                "Report",
                cell(format!(
                    "{}, made {}, retained until {}",
                    report.id(),
                    when(report.created_at),
                    when(ends),
                )),
            ),
            ("SHA-256", hash(&report.result_hash)),
        ],
    )
}

fn depth(report: &Report) -> String {
    let depth = report.depth();
    format!("{depth}: {}", depth.reads())
}

fn reliability(report: &Report) -> String {
    match &report.decision.reliability {
        None => "not measured for this kind of question and label".to_owned(),
        Some(measured) => format!(
            "this label was right in {} of {} such questions, measured {}",
            percent(measured.right_share),
            measured.rows,
            measured.measured_on
        ),
    }
}

fn claims(report: &Report) -> Vec<Block> {
    let claims = report.key_claims.iter().map(|claim| {
        Block::item(vec![
            Span::new(&*claim.claim, Style::BODY),
            Span::new(
                format!(" [{}]", claim.citation_ids.join(", ")),
                Style::BODY.bold(),
            ),
        ])
    });
    claims.collect()
}

/// The quantities of the question beside those of the source.
fn compared(report: &Report) -> Option<Block> {
    let rows = report.comparisons.iter().map(|compared| {
        let id = compared.citation_id.as_deref().unwrap_or("–");
        vec![
            cell(&*compared.asked),
            cell(compared.found.as_deref().unwrap_or("none")),
            cell(compared.result()),
            cell(id),
        ]
    });
    let table = Table {
        summary: "Figures of the question beside those of the source".to_owned(),
        columns: vec![
            column("Asked", 2.0),
            column("In the source", 2.0),
            column("Result", 1.2),
            column("Passage", 0.8),
        ],
        rows: rows.collect(),
        after: 8.0,
    };
    (!table.rows.is_empty()).then_some(Block::Table(table))
}

fn passages(report: &Report, source: &str, most: usize) -> Vec<Block> {
    let mut blocks = Vec::new();
    for citation in report.citations.iter().take(most) {
        let passage = Passage {
            id: &format!("{source}{}", citation.id),
            stance: citation.stance.name(),
            excerpt: citation.quote(),
            around: around(citation),
            said: (citation.speaker.as_deref(), citation.date.as_deref()),
            link: citation.link.as_deref(),
            truncated: citation.truncated,
            matching: citation.matching,
            bytes: (citation.start, citation.end),
            heading_path: &citation.heading_path,
            source: title(report),
            read_at: report.source_profile.retrieved_at,
        };
        blocks.extend(passage.blocks());
    }
    match report.citations.len() {
        0 => blocks.push(Block::text(
            "No passage of the source bears on the question.",
        )),
        count if count > most => blocks.push(Block::paragraph(vec![Span::new(
            format!(
                "{} further passages stand in the attached JSON.",
                count - most
            ),
            Style::NOTE,
        )])),
        _ => {}
    }
    blocks
}

/// The sentences before and after a passage, without marks of markdown.
fn around(citation: &Citation) -> [String; 2] {
    [&citation.before, &citation.after].map(|slice| {
        let excerpt = slice.as_ref().map(|slice| plain(&slice.excerpt));
        excerpt.unwrap_or_default()
    })
}

fn gaps(report: &Report) -> Vec<Block> {
    match report.gaps.is_empty() {
        true => vec![Block::text("Nothing that was asked stays open.")],
        false => items(report.gaps.iter().map(String::as_str)),
    }
}

fn risk_table(found: &[&RiskDetail]) -> Block {
    if found.is_empty() {
        return Block::text("No risks were found.");
    }
    let rows = found
        .iter()
        .map(|risk| (risk.severity, &*risk.code, &*risk.text, &*risk.evidence_ids));
    risks(rows, "Passages")
}

fn quality(report: &Report) -> Vec<Block> {
    let components = &report.source_quality.components;
    let rows = components.iter().map(|component| {
        vec![
            cell(spoken(&component.id)),
            cell(percent(component.value)),
            cell(&*component.detail),
        ]
    });
    if components.is_empty() {
        return Vec::new();
    }
    vec![
        Block::heading(1, "Quality of the source", "quality"),
        Block::Table(Table {
            summary: "What the quality of the source is made of".to_owned(),
            columns: vec![
                column("Component", 1.5),
                column("Score", 0.8),
                column("Seen", 5.0),
            ],
            rows: rows.collect(),
            after: 8.0,
        }),
    ]
}

fn verification(report: &Report, attachment: &str) -> Vec<Block> {
    let verify = match &report.access {
        None => format!("GET /v1/proof-pack/reports/{}/verify", report.id()),
        Some(access) => format!("curl -s {}", access.verify_url),
    };
    let profile = &report.source_profile;
    vec![
        Block::heading(1, "How to check this report", "verify"),
        Block::text(format!(
            "The report is attached to this document as data ({attachment}), in its canonical form (RFC 8785) and without what \
             stands around it in an answer. Save the attachment and hash it; the result must be the hash at the foot of every \
             page."
        )),
        command(format!("sha256sum {attachment}\n{}", report.result_hash)),
        Block::text(
            "While it is retained, the service checks the report, its source and its passages itself, free of charge:",
        ),
        command(verify),
        facts(
            "Hashes of the source",
            vec![
                ("Text", hash(&profile.content_sha256)),
                (
                    "Body",
                    hash(profile.source_sha256.as_deref().unwrap_or_default()),
                ),
            ],
        ),
        Block::paragraph(vec![Span::new(
            format!(
                "Each passage is the bytes from start to end of the source's text. The label comes from {}, which give the \
                 same answer to the same text and do not know whether a source is honest.",
                match report.depth() {
                    Depth::Quick => "rules that compare words, names, numbers and dates",
                    Depth::Standard | Depth::Deep =>
                        "rules that compare words, names, numbers and dates, and from an entailment model",
                }
            ),
            Style::SMALL.toned(Tone::Muted),
        )]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::report::citation::Context;
    use crate::evidence::report::sample::outcomes;

    /// The sentence before a passage within a quote was printed with the marks of the quote.
    #[test]
    fn sentences_around_a_passage_have_no_marks() {
        let outcomes = outcomes().expect("the reports");
        let mut citation = outcomes[0].citations[0].clone();
        let excerpt = "> > Halina Brandt, **union**\n>".to_owned();
        citation.before = Some(Context {
            excerpt,
            start: 0,
            end: 1,
        });
        citation.after = None;
        let expected = ["Halina Brandt, union".to_owned(), String::new()];
        assert_eq!(around(&citation), expected);
    }
}
