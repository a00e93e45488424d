//! What is claimed, by whom, and with which words: the claims with their passages, the matrix, agreements and conflicts.

use crate::domain::figures::capitalized;
use crate::evidence::bundle::matrix::Verdict;
use crate::evidence::bundle::{BundleReport, ClaimKind, ClaimLine};
use crate::pdf::block::{Block, Kind, Span, Style, Table, Tone};
use crate::pdf::parts::{Passage, column};
use crate::pdf::words::{bounded, day, spoken};

/// Passages that are shown for a claim; the others are named.
const PASSAGES_MAX: usize = 6;
/// Sources in one table of the matrix.
const MATRIX_COLUMNS_MAX: usize = 13;

pub(super) fn claims(report: &BundleReport) -> Vec<Block> {
    let mut blocks = vec![
        Block::heading(1, "Claims and evidence", "claims"),
        Block::paragraph(vec![Span::new(
            "The parts of the question come first, then statements that the sources make themselves. Each passage is quoted \
             word for word; its name stands for it throughout.",
            Style::SMALL.toned(Tone::Muted),
        )]),
    ];
    for claim in &report.matrix.claims {
        blocks.extend(claim_blocks(report, claim));
    }
    if report.matrix.claims.is_empty() {
        blocks.push(Block::text(
            "No source that was read makes a claim on this.",
        ));
    }
    blocks
}

fn claim_blocks(report: &BundleReport, claim: &ClaimLine) -> Vec<Block> {
    let id = &claim.id;
    let kind = match claim.kind {
        ClaimKind::Question => "asked",
        ClaimKind::Statement => "stated",
    };
    let mut blocks = vec![
        Block::heading(
            2,
            format!("{id}  {}", capitalized(&claim.text)),
            format!("claim-{id}"),
        ),
        Block::Text {
            kind: Kind::Paragraph,
            spans: vec![Span::new(
                format!("{kind} · {}", sides(claim)),
                Style::SMALL,
            )],
            after: 5.0,
        },
    ];
    let mut further: Vec<&str> = Vec::new();
    let mut shown: Vec<(Option<&str>, Verdict)> = Vec::new();
    for cell in &claim.cells {
        let Some(source) = report.source(&cell.source_id) else {
            continue;
        };
        let voice = (source.group_id.as_deref(), cell.verdict);
        let mut is_full = shown.contains(&voice) || shown.len() >= PASSAGES_MAX;
        for id in &cell.citation_ids {
            // One passage of each group, while there is room.
            if is_full {
                further.push(id);
                continue;
            }
            is_full = true;
            shown.push(voice);
            let Some(citation) = report.citation(id) else {
                continue;
            };
            let passage = Passage {
                id,
                stance: &spoken(cell.verdict.name()),
                excerpt: citation.quote(),
                around: Default::default(),
                said: (None, None),
                link: citation.link.as_deref(),
                truncated: citation.truncated,
                matching: citation.matching,
                bytes: (citation.start, citation.end),
                heading_path: &citation.heading_path,
                source: source.title.as_deref().unwrap_or(&citation.url),
                read_at: source.fetched_at,
            };
            blocks.extend(passage.blocks());
        }
    }
    if !further.is_empty() {
        blocks.push(Block::paragraph(vec![Span::new(
            format!(
                "Further passages, in the attached JSON: {}.",
                bounded(&further.join(", "), 400)
            ),
            Style::NOTE,
        )]));
    }
    blocks
}

/// Which source says what.
fn sides(claim: &ClaimLine) -> String {
    let said = Verdict::ALL.iter().filter_map(|verdict| {
        let words = match verdict {
            Verdict::Supports => "supported by",
            Verdict::Partial => "in part by",
            Verdict::Contradicts => "contradicted by",
            Verdict::MayContradict => "perhaps contradicted by",
            Verdict::Silent => "silent:",
            Verdict::Unreachable => "not read:",
        };
        let cells = claim.cells.iter().filter(|cell| cell.verdict == *verdict);
        let ids: Vec<&str> = cells.map(|cell| &*cell.source_id).collect();
        (!ids.is_empty()).then(|| format!("{words} {}", ids.join(", ")))
    });
    let independent = match claim.supporting_groups {
        0 | 1 => String::new(),
        count => format!(" · {count} independent sources"),
    };
    format!("{}{independent}", said.collect::<Vec<_>>().join(" · "))
}

pub(super) fn matrix(report: &BundleReport) -> Vec<Block> {
    let ids: Vec<&str> = report.sources.iter().map(|source| &*source.id).collect();
    let claims = &report.matrix.claims;
    if ids.is_empty() || claims.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![
        Block::heading(1, "Claims by source", "matrix"),
        Block::paragraph(vec![Span::new(
            "yes: supports · part: a part of it, or not beyond doubt · no: contradicts · no?: may contradict, read both · \
             –: silent · n/a: not read",
            Style::NOTE,
        )]),
    ];
    let tables = ids.len().div_ceil(MATRIX_COLUMNS_MAX);
    for (part, ids) in ids.chunks(ids.len().div_ceil(tables)).enumerate() {
        let rows = claims.iter().map(|claim| {
            let id = &claim.id;
            let name = vec![
                Span::place(&**id, format!("claim-{id}"), Style::SMALL.bold()),
                Span::new(format!(" {}", bounded(&claim.text, 90)), Style::NOTE),
            ];
            let said = ids.iter().map(|id| {
                let cell = claim.cells.iter().find(|cell| cell.source_id == *id);
                vec![Span::new(
                    cell.map_or("–", |cell| short(cell.verdict)),
                    Style::NOTE.toned(Tone::Ink),
                )]
            });
            [name].into_iter().chain(said).collect()
        });
        let sources = ids.iter().map(|id| column(id, 0.5));
        blocks.push(Block::Table(Table {
            summary: format!("What each source says to each claim, part {}", part + 1),
            columns: [column("Claim", 4.2)].into_iter().chain(sources).collect(),
            rows: rows.collect(),
            after: 12.0,
        }));
    }
    blocks
}

fn short(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Supports => "yes",
        Verdict::Partial => "part",
        Verdict::Contradicts => "no",
        Verdict::MayContradict => "no?",
        Verdict::Unreachable => "n/a",
        Verdict::Silent => "–",
    }
}

pub(super) fn agreements(report: &BundleReport) -> Vec<Block> {
    let mut blocks = vec![Block::heading(1, "Where sources agree", "agreements")];
    let agreements = &report.synthesis.agreements;
    for agreement in agreements {
        let id = &agreement.claim_id;
        let value = agreement.value.as_ref();
        let value = value.map_or_else(String::new, |value| format!(" “{value}”"));
        let mut sentence = format!(
            " {}{value} – {} independent sources: {}",
            capitalized(&agreement.statement),
            agreement.group_count,
            agreement.source_ids.join(", "),
        );
        if agreement.publisher_count == 1 {
            sentence.push_str(" (one publisher)");
        }
        if agreement.disputed {
            sentence.push_str(" – disputed, see the conflicts");
        }
        blocks.push(Block::item(vec![
            Span::place(&**id, format!("claim-{id}"), Style::BODY.bold()),
            Span::new(sentence, Style::BODY),
        ]));
    }
    if agreements.is_empty() {
        blocks.push(Block::text(
            "No two independent sources were found to say the same.",
        ));
    }
    blocks
}

pub(super) fn conflicts(report: &BundleReport) -> Vec<Block> {
    let mut blocks = vec![Block::heading(1, "Conflicts", "conflicts")];
    let conflicts = &report.synthesis.conflicts;
    for conflict in conflicts {
        let (id, claim) = (&conflict.id, &conflict.claim);
        blocks.push(Block::heading(
            2,
            format!("{id}  {}", capitalized(claim)),
            format!("conflict-{id}"),
        ));
        blocks.push(Block::paragraph(vec![
            Span::new(
                format!(
                    "{} conflict of {}s, see ",
                    capitalized(conflict.certainty.name()),
                    conflict.kind
                ),
                Style::SMALL,
            ),
            Span::place(
                &*conflict.claim_id,
                format!("claim-{}", conflict.claim_id),
                Style::SMALL,
            ),
        ]));
        for side in &conflict.sides {
            let dated = match &side.dated {
                None => "undated".to_owned(),
                Some(dated) => format!("dated {}", day(dated)),
            };
            let value = side.value.as_ref();
            let value = value.map_or_else(String::new, |value| format!("{value} · "));
            blocks.push(Block::lead(vec![
                Span::new(
                    format!("{value}{}", side.source_ids.join(", ")),
                    Style::SMALL.bold(),
                ),
                Span::new(format!("  {} · {dated}", side.citation_id), Style::NOTE),
            ]));
            blocks.push(Block::quote(bounded(side.excerpt.trim(), 700)));
        }
    }
    if conflicts.is_empty() {
        blocks.push(Block::text(
            "No two independent sources were found to say different things. What no rule compares may still differ.",
        ));
    }
    blocks
}
