//! The document of a bundle's report: a title page that answers, then sources, claims with their passages, the matrix,
//! agreements, conflicts, gaps, risks, the reports on each source, and how to check it all.

mod appendix;
mod claims;

use crate::pdf::block::{Block, Span, Style, Table};
use crate::pdf::bundle::appendix::{hashes, method, verification};
use crate::pdf::bundle::claims::{agreements, claims, conflicts, matrix};
use crate::pdf::parts::{cell, column, facts, hash, items, opening, risks};
use crate::pdf::report;
use crate::pdf::told::{Told, bounded, day, percent, spoken, when};

/// Sources that have a line on the title page.
const GLANCE_MAX: usize = 12;

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
    let coverage = report.at("synthesis").at("coverage");
    let number = |name: &str| coverage.at(name).number();
    let mut blocks = opening(report, "EVIDENCE BUNDLE", "bundle", answer(report));
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
