//! The document of one Proof Pack report, and the same as a section of a bundle's.

use crate::pdf::block::{Block, Span, Style, Table, Tone};
use crate::pdf::parts::{
    self, cell, cited, column, command, facts, hash, items, opening, passage, risks,
};
use crate::pdf::told::{Told, bounded, capital, day, percent, spoken, when};

/// Passages of a section; the attached JSON has all.
const PASSAGES_MAX: usize = 6;

pub(super) fn blocks(report: Told<'_>, attachment: &str) -> Vec<Block> {
    let answer = report.at("answer").text();
    let mut blocks = opening(report, "PROOF PACK", "pack", answer);
    blocks.push(Block::heading(3, "What it rests on", "rests"));
    blocks.push(profile(report));
    blocks.push(Block::heading(1, "Evidence", "evidence"));
    blocks.extend(claims(report));
    blocks.extend(passages(report, "", usize::MAX));
    blocks.push(Block::heading(1, "Gaps", "gaps"));
    blocks.extend(gaps(report));
    blocks.push(Block::heading(1, "Risks", "risks"));
    blocks.push(risk_table(report));
    blocks.extend(quality(report));
    blocks.extend(verification(report, attachment));
    blocks
}

/// One source's report within a bundle.
pub(super) fn section<'a>(source: Told<'a>, report: Told<'a>) -> Vec<Block> {
    let id = source.at("id").text();
    let title = match source.at("title").text() {
        "" => source.at("final_url").text(),
        title => title,
    };
    let label = format!(
        "{} ({}) · {}",
        capital(&spoken(source.at("label").text())),
        percent(source.at("confidence").score()),
        spoken(source.at("agent_action").text())
    );
    let mut blocks = vec![
        Block::heading(
            2,
            format!("{id}  {}", bounded(title, 140)),
            format!("source-{id}"),
        ),
        Block::paragraph(vec![Span::address(
            source.at("final_url").text(),
            Style::SMALL,
        )]),
        Block::paragraph(vec![Span::new(label, Style::BODY.bold())]),
        Block::paragraph(cited(
            report.at("answer").text(),
            &format!("{id}."),
            Style::BODY,
        )),
    ];
    blocks.extend(passages(report, &format!("{id}."), PASSAGES_MAX));
    if report.at("gaps").count() > 0 {
        blocks.push(Block::heading(3, "Gaps", format!("gaps-{id}")));
        blocks.extend(gaps(report));
    }
    // That a report rests on one source is no risk beside others.
    let risks = report.at("risk_details").list();
    let mut risks = risks
        .filter(|risk| risk.at("code").text() != "single_source")
        .peekable();
    if risks.peek().is_some() {
        blocks.push(Block::heading(3, "Risks", format!("risks-{id}")));
        blocks.push(parts::risks(risks, "Passages"));
    }
    blocks
}

fn profile(report: Told<'_>) -> Block {
    let profile = report.at("source_profile");
    let or_none = |text: &str| match text {
        "" => "not stated".to_owned(),
        text => bounded(text, 160),
    };
    let dated = match profile.at("modified_at").text() {
        "" => profile.at("published_at").text(),
        dated => dated,
    };
    facts(
        "The source, and the report on it",
        vec![
            (
                "Source",
                vec![
                    Span::new(
                        format!("{}\n", bounded(profile.at("title").text(), 160)),
                        Style::SMALL.bold(),
                    ),
                    Span::address(profile.at("final_url").text(), Style::NOTE),
                ],
            ),
            ("Author", cell(or_none(profile.at("author").text()))),
            ("Dated", cell(or_none(&day(dated)))),
            ("Read", cell(when(profile.at("retrieved_at").number()))),
            (
                "Quality",
                cell(percent(report.at("source_quality_score").score())),
            ),
            (
                "Report",
                cell(format!(
                    "{}, made {}, retained until {}",
                    report.at("report_id").text(),
                    when(report.at("created_at").number()),
                    when(report.at("expires_at").number()),
                )),
            ),
            ("SHA-256", hash(report.at("result_hash").text())),
        ],
    )
}

fn claims(report: Told<'_>) -> Vec<Block> {
    let claims = report.at("key_claims").list().map(|claim| {
        Block::item(vec![
            Span::new(claim.at("claim").text(), Style::BODY),
            Span::new(
                format!(" [{}]", claim.at("citation_ids").texts(", ")),
                Style::BODY.bold(),
            ),
        ])
    });
    claims.collect()
}

fn passages(report: Told<'_>, source: &str, most: usize) -> Vec<Block> {
    let profile = report.at("source_profile");
    let title = match profile.at("title").text() {
        "" => profile.at("final_url").text(),
        title => title,
    };
    let read_at = profile.at("retrieved_at").number();
    let citations = report.at("citations");
    let mut blocks = Vec::new();
    for citation in citations.list().take(most) {
        let said = spoken(citation.at("stance").text());
        let id = format!("{source}{}", citation.at("id").text());
        blocks.extend(passage(&id, &said, citation, title, read_at));
    }
    match citations.count() {
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

fn gaps(report: Told<'_>) -> Vec<Block> {
    match report.at("gaps").count() {
        0 => vec![Block::text("Nothing that was asked stays open.")],
        _ => items(report.at("gaps").list().map(Told::text)),
    }
}

fn risk_table(report: Told<'_>) -> Block {
    match report.at("risk_details").count() {
        0 => Block::text("No risks were found."),
        _ => risks(report.at("risk_details").list(), "Passages"),
    }
}

fn quality(report: Told<'_>) -> Vec<Block> {
    let components = report.at("source_quality").at("components");
    let rows = components.list().map(|component| {
        vec![
            cell(spoken(component.at("id").text())),
            cell(percent(component.at("value").score())),
            cell(component.at("detail").text()),
        ]
    });
    if components.count() == 0 {
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

fn verification(report: Told<'_>, attachment: &str) -> Vec<Block> {
    let verify = match report.at("verify_url").text() {
        "" => format!(
            "GET /v1/proof-pack/reports/{}/verify",
            report.at("report_id").text()
        ),
        url => format!("curl -s {url}"),
    };
    let profile = report.at("source_profile");
    vec![
        Block::heading(1, "How to check this report", "verify"),
        Block::text(format!(
            "The report is attached to this document as data ({attachment}), in its canonical form (RFC 8785) and without what \
             stands around it in an answer. Save the attachment and hash it; the result must be the hash at the foot of every \
             page."
        )),
        command(format!(
            "sha256sum {attachment}\n{}",
            report.at("result_hash").text()
        )),
        Block::text(
            "While it is retained, the service checks the report, its source and its passages itself, free of charge:",
        ),
        command(verify),
        facts(
            "Hashes of the source",
            vec![
                ("Text", hash(profile.at("content_sha256").text())),
                ("Body", hash(profile.at("source_sha256").text())),
            ],
        ),
        Block::paragraph(vec![Span::new(
            "Each passage is the bytes from start to end of the source's text. The label comes from rules that give the same \
             answer to the same text; they compare words, names, numbers and dates, and do not know whether a source is honest.",
            Style::SMALL.toned(Tone::Muted),
        )]),
    ]
}
