//! What is claimed, by whom, and with which words: the claims with their passages, the matrix, agreements and conflicts.

use crate::pdf::block::{Block, Kind, Span, Style, Table, Tone};
use crate::pdf::parts::{column, passage};
use crate::pdf::told::{Told, bounded, capital, day, spoken};

/// Passages that are shown for a claim; the others are named.
const PASSAGES_MAX: usize = 6;
/// Sources in one table of the matrix.
const MATRIX_COLUMNS_MAX: usize = 13;

pub(super) fn claims(report: Told<'_>) -> Vec<Block> {
    let mut blocks = vec![
        Block::heading(1, "Claims and evidence", "claims"),
        Block::paragraph(vec![Span::new(
            "The parts of the question come first, then statements that the sources make themselves. Each passage is quoted \
             word for word; its name stands for it throughout.",
            Style::SMALL.toned(Tone::Muted),
        )]),
    ];
    for claim in report.at("matrix").at("claims").list() {
        blocks.extend(claim_blocks(report, claim));
    }
    if report.at("matrix").at("claims").count() == 0 {
        blocks.push(Block::text(
            "No source that was read makes a claim on this.",
        ));
    }
    blocks
}

fn claim_blocks(report: Told<'_>, claim: Told<'_>) -> Vec<Block> {
    let id = claim.at("id").text();
    let kind = match claim.at("kind").text() {
        "question" => "asked",
        _ => "stated",
    };
    let mut blocks = vec![
        Block::heading(
            2,
            format!("{id}  {}", capital(claim.at("text").text())),
            format!("claim-{id}"),
        ),
        Block::Text {
            kind: Kind::Paragraph,
            spans: vec![Span::new(
                format!("{kind} · {}", standing(claim)),
                Style::SMALL,
            )],
            after: 5.0,
        },
    ];
    let mut further: Vec<&str> = Vec::new();
    let mut shown: Vec<(&str, &str)> = Vec::new();
    for cell in claim.at("cells").list() {
        let source = report.at("sources").find("id", cell.at("source_id").text());
        let voice = (source.at("group_id").text(), cell.at("verdict").text());
        let mut is_full = shown.contains(&voice) || shown.len() >= PASSAGES_MAX;
        for cited in cell.at("citation_ids").list() {
            // One passage of each group, while there is room.
            if is_full {
                further.push(cited.text());
                continue;
            }
            is_full = true;
            shown.push(voice);
            let citation = report.at("citations").find("id", cited.text());
            let title = match source.at("title").text() {
                "" => source.at("final_url").text(),
                title => title,
            };
            let said = spoken(cell.at("verdict").text());
            blocks.extend(passage(
                cited.text(),
                &said,
                citation,
                title,
                source.at("fetched_at").number(),
            ));
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

/// Who says what, by name.
fn standing(claim: Told<'_>) -> String {
    const SAID: [(&str, &str); 6] = [
        ("supports", "supported by"),
        ("partial", "in part by"),
        ("contradicts", "contradicted by"),
        ("may_contradict", "perhaps contradicted by"),
        ("silent", "silent:"),
        ("unreachable", "not read:"),
    ];
    let said = SAID.iter().filter_map(|(verdict, words)| {
        let cells = claim.at("cells").list();
        let cells = cells.filter(|cell| cell.at("verdict").text() == *verdict);
        let ids: Vec<&str> = cells.map(|cell| cell.at("source_id").text()).collect();
        (!ids.is_empty()).then(|| format!("{words} {}", ids.join(", ")))
    });
    let independent = match claim.at("supporting_groups").number() {
        0 | 1 => String::new(),
        count => format!(" · {count} independent sources"),
    };
    format!("{}{independent}", said.collect::<Vec<_>>().join(" · "))
}

pub(super) fn matrix(report: Told<'_>) -> Vec<Block> {
    let ids: Vec<&str> = report
        .at("sources")
        .list()
        .map(|source| source.at("id").text())
        .collect();
    let claims = report.at("matrix").at("claims");
    if ids.is_empty() || claims.count() == 0 {
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
        let rows = claims.list().map(|claim| {
            let id = claim.at("id").text();
            let name = vec![
                Span::place(id, format!("claim-{id}"), Style::SMALL.bold()),
                Span::new(
                    format!(" {}", bounded(claim.at("text").text(), 90)),
                    Style::NOTE,
                ),
            ];
            let said = ids.iter().map(|id| {
                let cell = claim.at("cells").find("source_id", id);
                vec![Span::new(
                    short(cell.at("verdict").text()),
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

fn short(verdict: &str) -> &'static str {
    match verdict {
        "supports" => "yes",
        "partial" => "part",
        "contradicts" => "no",
        "may_contradict" => "no?",
        "unreachable" => "n/a",
        _ => "–",
    }
}

pub(super) fn agreements(report: Told<'_>) -> Vec<Block> {
    let mut blocks = vec![Block::heading(1, "Where sources agree", "agreements")];
    let agreements = report.at("synthesis").at("agreements");
    for agreement in agreements.list() {
        let id = agreement.at("claim_id").text();
        let value = match agreement.at("value").text() {
            "" => String::new(),
            value => format!(" “{value}”"),
        };
        let mut told = format!(
            " {}{value} – {} independent sources: {}",
            capital(agreement.at("statement").text()),
            agreement.at("group_count").number(),
            agreement.at("source_ids").texts(", "),
        );
        if agreement.at("publisher_count").number() == 1 {
            told.push_str(" (one publisher)");
        }
        if agreement.at("disputed").is_true() {
            told.push_str(" – disputed, see the conflicts");
        }
        blocks.push(Block::item(vec![
            Span::place(id, format!("claim-{id}"), Style::BODY.bold()),
            Span::new(told, Style::BODY),
        ]));
    }
    if agreements.count() == 0 {
        blocks.push(Block::text(
            "No two independent sources were found to say the same.",
        ));
    }
    blocks
}

pub(super) fn conflicts(report: Told<'_>) -> Vec<Block> {
    let mut blocks = vec![Block::heading(1, "Conflicts", "conflicts")];
    let conflicts = report.at("synthesis").at("conflicts");
    for conflict in conflicts.list() {
        let (id, claim) = (conflict.at("id").text(), conflict.at("claim").text());
        blocks.push(Block::heading(
            2,
            format!("{id}  {}", capital(claim)),
            format!("conflict-{id}"),
        ));
        blocks.push(Block::paragraph(vec![
            Span::new(
                format!(
                    "{} conflict of {}s, see ",
                    capital(conflict.at("certainty").text()),
                    conflict.at("kind").text()
                ),
                Style::SMALL,
            ),
            Span::place(
                conflict.at("claim_id").text(),
                format!("claim-{}", conflict.at("claim_id").text()),
                Style::SMALL,
            ),
        ]));
        for side in conflict.at("sides").list() {
            let dated = match side.at("dated").text() {
                "" => "undated".to_owned(),
                dated => format!("dated {}", day(dated)),
            };
            let value = match side.at("value").text() {
                "" => String::new(),
                value => format!("{value} · "),
            };
            blocks.push(Block::lead(vec![
                Span::new(
                    format!("{value}{}", side.at("source_ids").texts(", ")),
                    Style::SMALL.bold(),
                ),
                Span::new(
                    format!("  {} · {dated}", side.at("citation_id").text()),
                    Style::NOTE,
                ),
            ]));
            blocks.push(Block::quote(bounded(side.at("excerpt").text().trim(), 700)));
        }
    }
    if conflicts.count() == 0 {
        blocks.push(Block::text(
            "No two independent sources were found to say different things. What no rule compares may still differ.",
        ));
    }
    blocks
}
