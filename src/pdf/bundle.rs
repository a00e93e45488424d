//! The document of a bundle's report: a title page that answers, then sources, claims with their passages, the matrix,
//! agreements, conflicts, gaps, risks, the reports on each source, and how to check it all.

use crate::pdf::block::{Block, Kind, Span, Style, Table, Tone};
use crate::pdf::parts::{
    cell, cited, column, command, decision, facts, hash, items, kicker, passage, risks,
};
use crate::pdf::report;
use crate::pdf::told::{Told, bounded, capital, day, percent, spoken, when};

const TITLE_CHARS_MAX: usize = 140;
/// Passages that are shown for a claim; the others are named.
const PASSAGES_MAX: usize = 6;
/// Sources that have a line on the title page.
const GLANCE_MAX: usize = 12;
/// Sources in one table of the matrix.
const MATRIX_COLUMNS_MAX: usize = 13;

pub(super) fn blocks(report: Told<'_>, attachment: &str) -> Vec<Block> {
    let mut blocks = cover(report);
    blocks.push(Block::Page);
    blocks.push(Block::heading(1, "Contents", "contents"));
    blocks.push(Block::Contents);
    blocks.push(Block::Page);
    blocks.extend(sources(report));
    blocks.extend(claims(report));
    blocks.extend(matrix(report));
    blocks.extend(agreements(report));
    blocks.extend(conflicts(report));
    blocks.push(Block::heading(1, "Gaps", "gaps"));
    blocks.extend(listed(
        report.at("synthesis").at("gaps"),
        "Nothing that was asked stays open.",
    ));
    blocks.push(Block::heading(1, "Risks", "risks"));
    blocks.push(match report.at("risk_notes").count() {
        0 => Block::text("No risks were found."),
        _ => risks(report.at("risk_notes").list(), "Sources"),
    });
    blocks.push(Block::heading(1, "Source by source", "reports"));
    for (source, told) in read(report).zip(report.at("reports").list()) {
        blocks.extend(report::section(source, told));
    }
    blocks.extend(hashes(report));
    blocks.extend(verification(report, attachment));
    blocks.extend(method());
    blocks
}

fn cover(report: Told<'_>) -> Vec<Block> {
    let question = report.at("question").text();
    let coverage = report.at("synthesis").at("coverage");
    let number = |name: &str| coverage.at(name).number();
    let mut blocks = vec![
        kicker(format!(
            "EVIDENCE BUNDLE · {}",
            report.at("bundle").text().to_uppercase()
        )),
        Block::heading(0, bounded(question, TITLE_CHARS_MAX), "title"),
    ];
    if question.chars().count() > TITLE_CHARS_MAX {
        blocks.push(Block::text(question));
    }
    blocks.push(decision(
        report.at("decision"),
        report.at("agent_action").text(),
    ));
    blocks.push(Block::heading(3, "In short", "short"));
    blocks.push(Block::paragraph(cited(answer(report), "", Style::BODY)));
    blocks.push(Block::heading(3, "What it rests on", "rests"));
    blocks.push(facts(
        "What the bundle rests on",
        vec![
            (
                "Sources",
                cell(format!(
                    "{} submitted, {} read, {} of them independent of each other; {} could not be read",
                    number("source_count"),
                    number("read_count"),
                    number("independent_count"),
                    number("unreachable_count"),
                )),
            ),
            (
                "Claims",
                cell(format!(
                    "{} set beside each other: independent sources agree on {}, of which {} are disputed; {} rest on one source alone",
                    number("claim_count"),
                    number("agreed_count"),
                    number("disputed_count"),
                    number("single_source_count"),
                )),
            ),
            (
                "Conflicts",
                cell(match report.at("synthesis").at("conflicts").count() {
                    0 => "none found".to_owned(),
                    count => format!("{count}, both sides in their own words"),
                }),
            ),
            ("Order", cell(report.at("order_id").text())),
            ("Made", cell(when(report.at("created_at").number()))),
            ("SHA-256", hash(report.at("result_hash").text())),
        ],
    ));
    if (1..=GLANCE_MAX).contains(&report.at("sources").count()) {
        blocks.push(Block::heading(3, "What each source says", "glance"));
        blocks.push(glance(report));
    }
    blocks
}

/// The sources in a line each.
fn glance(report: Told<'_>) -> Block {
    let rows = report.at("sources").list().map(|source| {
        let id = source.at("id").text();
        let url = source.at("target_url").text();
        let host = url.split_once("://").map_or(url, |(_, rest)| rest);
        let name = match source.at("title").text() {
            "" => bounded(host, 70),
            title => bounded(title, 70),
        };
        if source.at("status").text() != "read" {
            return vec![cell(id), cell(name), cell("not read")];
        }
        vec![
            vec![Span::place(id, format!("source-{id}"), Style::SMALL.bold())],
            cell(name),
            cell(spoken(source.at("label").text())),
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
fn answer(report: Told<'_>) -> &str {
    let answer = report.at("answer").text();
    let rest = answer.strip_prefix(report.at("decision").at("summary").text());
    rest.map(str::trim)
        .filter(|rest| !rest.is_empty())
        .unwrap_or(answer)
}

/// The lines of the sources that were read, in their order.
fn read(report: Told<'_>) -> impl Iterator<Item = Told<'_>> {
    let sources = report.at("sources").list();
    sources.filter(|source| source.at("status").text() == "read")
}

fn listed(list: Told<'_>, none: &str) -> Vec<Block> {
    match list.count() {
        0 => vec![Block::text(none)],
        _ => items(list.list().map(Told::text)),
    }
}

fn sources(report: Told<'_>) -> Vec<Block> {
    let rows = report
        .at("sources")
        .list()
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
        .at("groups")
        .list()
        .filter(|group| group.at("source_ids").count() > 1)
    {
        let because: Vec<String> = group
            .at("because")
            .list()
            .map(|why| spoken(why.text()))
            .collect();
        blocks.push(Block::text(format!(
            "{}: {} carry the same text ({}) and count as one source.",
            group.at("id").text(),
            group.at("source_ids").texts(", "),
            because.join(", "),
        )));
    }
    blocks
}

fn source_row(report: Told<'_>, source: Told<'_>) -> Vec<Vec<Span>> {
    let id = source.at("id").text();
    let url = match source.at("final_url").text() {
        "" => source.at("target_url").text(),
        url => url,
    };
    let note = Style::NOTE;
    let mut name = Vec::new();
    match source.at("title").text() {
        "" => {}
        title => name.push(Span::new(
            format!("{}\n", bounded(title, 140)),
            Style::SMALL.bold(),
        )),
    }
    name.push(Span::address(url, note));
    match source.at("dated").text() {
        "" => {}
        dated => name.push(Span::new(format!("\ndated {}", day(dated)), note)),
    }
    if source.at("status").text() != "read" {
        let why = report.at("unreachable").find("source_id", id);
        let finding = format!("not read: {}", bounded(why.at("message").text(), 160));
        return vec![cell(id), name, cell(finding), cell("–"), cell("–")];
    }
    let finding = format!(
        "{}, {}",
        spoken(source.at("label").text()),
        percent(source.at("confidence").score())
    );
    vec![
        vec![Span::place(id, format!("source-{id}"), Style::SMALL.bold())],
        name,
        cell(finding),
        cell(percent(source.at("quality").score())),
        cell(source.at("group_id").text()),
    ]
}

fn claims(report: Told<'_>) -> Vec<Block> {
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

fn matrix(report: Told<'_>) -> Vec<Block> {
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

fn agreements(report: Told<'_>) -> Vec<Block> {
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

fn conflicts(report: Told<'_>) -> Vec<Block> {
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

fn hashes(report: Told<'_>) -> Vec<Block> {
    let rows = report.at("source_hashes").list().map(|source| {
        let mut hashes = vec![Span::new(
            format!("text  {}", source.at("sha256").text()),
            Style::CODE,
        )];
        if source.at("source_sha256").is_there() {
            hashes.push(Span::new(
                format!("\nbody  {}", source.at("source_sha256").text()),
                Style::CODE,
            ));
        }
        vec![
            cell(source.at("source_id").text()),
            vec![
                Span::address(source.at("url").text(), Style::NOTE),
                Span::new(
                    format!("\nread {}", when(source.at("fetched_at").number())),
                    Style::NOTE,
                ),
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

fn verification(report: Told<'_>, attachment: &str) -> Vec<Block> {
    let hash = report.at("result_hash").text();
    let mut blocks = vec![
        Block::heading(1, "Appendix B: how to check this report", "verify"),
        Block::text(format!(
            "The report is attached to this document as data ({attachment}). Save the attachment and hash it; the result must \
             be the hash at the foot of every page."
        )),
        command(format!("sha256sum {attachment}\n{hash}")),
        Block::text(
            "The attached file is the report in its canonical form (RFC 8785), without what stands around it in a delivery: \
             result_hash, signature, download, recovery_url, email, expires_at and progress. Whoever holds the delivered \
             JSON in any spelling can make the same bytes from it.",
        ),
        Block::text(
            "Each passage is the bytes from start to end of its source's text, whose hash stands in appendix A. The reports on \
             the sources are parts of the attached file.",
        ),
    ];
    let urls = report
        .at("reports")
        .list()
        .map(|told| told.at("verify_url").text());
    let checks = urls
        .filter(|url| !url.is_empty())
        .map(|url| format!("curl -s {url}"));
    let checks: Vec<String> = checks.collect();
    if !checks.is_empty() {
        blocks.push(Block::text(
            "They are retained by themselves too, and the service checks them free of charge:",
        ));
        blocks.push(command(checks.join("\n")));
    }
    blocks
}

fn method() -> Vec<Block> {
    let told = [
        "Every source is read once, turned into text and checked against the question by rules that give the same answer to \
         the same text. What a page tells AI systems to say is not taken as evidence.",
        "Sources that carry the same text, or most of it, count as one, whoever publishes them. Agreement needs two \
         independent sources; two pages of one publisher are noted as such.",
        "Each statement is put to every other source. A contradiction is called clear only where a source says otherwise in \
         nearly the same words, or answers the same question with another value of the same unit.",
        "The rules compare words, names, numbers and dates. They do not know whether a source is honest, and a source that says \
         a thing in quite other words may be counted as silent. The percentages say how often such labels were right on \
         questions with known answers; they are no promise about this one.",
    ];
    let mut blocks = vec![Block::heading(1, "Appendix C: method and limits", "method")];
    blocks.extend(items(told.into_iter()));
    blocks
}
