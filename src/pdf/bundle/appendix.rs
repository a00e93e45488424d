//! What a reader checks a bundle's report by: hashes, commands, and how it was made.

use crate::evidence::bundle::BundleReport;
use crate::pdf::block::{Block, Span, Style, Table, Tone};
use crate::pdf::parts::{cell, column, command, items};
use crate::pdf::words::when;

pub(super) fn hashes(report: &BundleReport) -> Vec<Block> {
    let rows = report.source_hashes.iter().map(|source| {
        let mut hashes = vec![Span::new(format!("text  {}", source.sha256), Style::CODE)];
        if let Some(body) = &source.source_sha256 {
            hashes.push(Span::new(format!("\nbody  {body}"), Style::CODE));
        }
        vec![
            cell(&*source.source_id),
            vec![
                Span::address(&source.url, Style::NOTE),
                Span::new(format!("\nread {}", when(source.fetched_at)), Style::NOTE),
            ],
            hashes,
        ]
    });
    vec![
        Block::heading(1, "Appendix A: hashes of the sources", "hashes"),
        Block::paragraph(vec![Span::new(
            "SHA-256 of the text that the passages are slices of, and of the body that the server sent.",
            Style::SMALL.toned(Tone::Muted),
        )]),
        Block::Table(Table {
            summary: "Hashes of the sources that were read".to_owned(),
            columns: vec![
                column("", 0.4),
                column("Source", 3.0),
                column("SHA-256", 5.4),
            ],
            rows: rows.collect(),
            after: 10.0,
        }),
    ]
}

pub(super) fn verification(report: &BundleReport, attachment: &str) -> Vec<Block> {
    let hash = &report.result_hash;
    let mut blocks = vec![
        Block::heading(1, "Appendix B: how to check this report", "verify"),
        Block::text(format!(
            "The report is attached to this document as data ({attachment}). Save the attachment and hash it; the result must \
             be the hash at the foot of every page."
        )),
        command(format!("sha256sum {attachment}\n{hash}")),
        Block::text(
            "The attached file is the report in its canonical form (RFC 8785), without what stands around it in a delivery: \
             result_hash, signature, download, recovery_url, email, expires_at and progress. Anyone who holds the delivered \
             JSON in any spelling can make the same bytes from it.",
        ),
        Block::text(
            "Each passage is the bytes from start to end of its source's text, whose hash stands in appendix A. The reports on \
             the sources are parts of the attached file.",
        ),
    ];
    if let Some(links) = &report.links {
        blocks.push(Block::text(
            "While it is retained, the service checks the report, its sources and its passages itself, free of charge:",
        ));
        blocks.push(command(format!("curl -s {}", links.verify_url)));
    }
    let accesses = report
        .reports
        .iter()
        .filter_map(|single| single.access.as_ref());
    let checks = accesses.map(|access| format!("curl -s {}", access.verify_url));
    let checks: Vec<String> = checks.collect();
    if !checks.is_empty() {
        blocks.push(Block::text(
            "They are retained by themselves too, and the service checks them free of charge:",
        ));
        blocks.push(command(checks.join("\n")));
    }
    blocks
}

pub(super) fn method() -> Vec<Block> {
    let told = [
        "Every source is read once, turned into text and checked against the question by rules that give the same answer to \
         the same text. What a page tells AI systems to say is not taken as evidence.",
        "Sources that carry the same text, or most of it, count as one, no matter who publishes them. Agreement needs two \
         independent sources; two pages of one publisher are noted as such.",
        "Each statement is put to every other source. A contradiction is called clear only where a source says otherwise in \
         nearly the same words, or answers the same question with another value of the same unit.",
        "The rules compare words, names, numbers and dates. They do not know whether a source is honest, and a source that says \
         a thing in quite other words may be counted as silent. The percentages of single sources are \
         the engine’s estimates; those of the whole are computed from them by rule. Where it was measured, the report on a \
         source in the attached file says how often such a label was right.",
    ];
    let mut blocks = vec![Block::heading(1, "Appendix C: method and limits", "method")];
    blocks.extend(items(told.into_iter()));
    blocks
}
