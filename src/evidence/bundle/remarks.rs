//! What a reader of a bundle must know beside its findings: what stays open, and what speaks against trusting it.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::evidence::bundle::compare::{Agreement, Certainty, Conflict};
use crate::evidence::bundle::decide::PartCounts;
use crate::evidence::bundle::groups::{Groups, Likeness};
use crate::evidence::bundle::matrix::Row;
use crate::evidence::bundle::read::Submitted;
use crate::evidence::reading::text::bounded;
use crate::evidence::report::risks::Severity;

const STATEMENT_CHARS_MAX: usize = 300;
const TERMS_MAX: usize = 12;
const ADDRESSES_MAX: usize = 5;

/// A risk, with the sources that it was found in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RiskNote {
    pub code: Cow<'static, str>,
    pub severity: Severity,
    pub text: String,
    pub source_ids: Vec<String>,
    pub citation_ids: Vec<String>,
}

/// What the sources leave open, in sentences.
pub(super) fn gaps(
    submitted: &[Submitted<'_>],
    rows: &[Row],
    standings: &[PartCounts],
) -> Vec<String> {
    let mut gaps = Vec::new();
    let asked = rows.iter().filter(|row| row.is_asked);
    for (row, standing) in asked.zip(standings) {
        let text = bounded(&row.text, STATEMENT_CHARS_MAX);
        match (standing.supporting, standing.partial, standing.opposing) {
            (0, 0, 0) => gaps.push(format!("No source establishes “{text}”.")),
            (0, 0, _) => gaps.push(format!("No source supports “{text}”; some say otherwise.")),
            (0, _, _) => gaps.push(format!(
                "“{text}” is established in part only, or not beyond doubt."
            )),
            (1, _, _) => gaps.push(format!("“{text}” rests on a single independent source.")),
            _ => {}
        }
    }
    let missing = missing_everywhere(submitted);
    if !missing.is_empty() {
        let named: Vec<String> = missing.iter().map(|term| format!("“{term}”")).collect();
        gaps.push(format!(
            "No cited passage of any source mentions {}.",
            named.join(", ")
        ));
    }
    let unread = submitted.iter().filter(|source| source.read.is_none());
    let unread: Vec<&str> = unread.map(|source| source.source.target_url).collect();
    if !unread.is_empty() {
        let named: Vec<String> = unread
            .iter()
            .take(ADDRESSES_MAX)
            .map(|url| bounded(url, 200))
            .collect();
        let more = match unread.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        gaps.push(format!(
            "Could not be read, so its content is unknown: {}{more}.",
            named.join(", ")
        ));
    }
    gaps
}

/// Terms of the question that no source has.
fn missing_everywhere(submitted: &[Submitted<'_>]) -> Vec<String> {
    let mut reads = submitted.iter().filter_map(|source| source.read.as_ref());
    let Some(first) = reads.next() else {
        return Vec::new();
    };
    let mut missing = first.report.analysis.missing_terms.clone();
    for read in reads {
        missing.retain(|term| read.report.analysis.missing_terms.contains(term));
    }
    missing.truncate(TERMS_MAX);
    missing
}

/// The risks of the whole, then those of the sources; the gravest first.
pub(super) fn risk_notes(
    submitted: &[Submitted<'_>],
    groups: &Groups,
    agreements: &[Agreement],
    conflicts: &[Conflict],
) -> Vec<RiskNote> {
    let mut notes = of_the_whole(submitted, groups, agreements, conflicts);
    notes.extend(of_the_sources(submitted));
    notes.sort_by_key(|note| Reverse(note.severity));
    notes
}

fn of_the_whole(
    submitted: &[Submitted<'_>],
    groups: &Groups,
    agreements: &[Agreement],
    conflicts: &[Conflict],
) -> Vec<RiskNote> {
    let mut notes = Vec::new();
    let mut add =
        |code: &'static str, severity: Severity, text: String, source_ids: Vec<String>| {
            notes.push(RiskNote {
                code: code.into(),
                severity,
                text,
                source_ids,
                citation_ids: Vec::new(),
            });
        };
    let clear: Vec<&Conflict> = conflicts
        .iter()
        .filter(|conflict| conflict.certainty == Certainty::Clear)
        .collect();
    if !clear.is_empty() {
        let sides = clear.iter().flat_map(|conflict| &conflict.sides);
        let named: Vec<&String> = sides.flat_map(|side| &side.source_ids).collect();
        let sources = submitted
            .iter()
            .filter(|source| named.contains(&&source.id));
        let sources = sources.map(|source| source.id.clone()).collect();
        let text = format!(
            "Independent sources contradict each other on {} of the claims; read both sides.",
            clear.len()
        );
        add("conflicting_sources", Severity::High, text, sources);
    }
    let unread = submitted.iter().filter(|source| source.read.is_none());
    let unread: Vec<String> = unread.map(|source| source.id.clone()).collect();
    if !unread.is_empty() {
        let text = format!(
            "{} of {} sources could not be read.",
            unread.len(),
            submitted.len()
        );
        add("unreachable_sources", Severity::Medium, text, unread);
    }
    for group in groups
        .groups
        .iter()
        .filter(|group| group.source_ids.len() > 1)
    {
        let text = format!(
            "{} sources carry the same text and count as one ({}).",
            group.source_ids.len(),
            named(&group.because)
        );
        add(
            "mirrored_sources",
            Severity::Medium,
            text,
            group.source_ids.clone(),
        );
    }
    for agreement in agreements
        .iter()
        .filter(|agreement| agreement.publisher_count == 1)
    {
        let text = format!(
            "All sources on {} are from one publisher and may not be independent.",
            agreement.claim_id
        );
        add(
            "same_publisher",
            Severity::Medium,
            text,
            agreement.source_ids.clone(),
        );
    }
    if groups.groups.len() == 1 {
        let text =
            "Only one independent source was read; a second one would make it firmer.".to_owned();
        add(
            "single_source",
            Severity::Medium,
            text,
            groups.groups[0].source_ids.clone(),
        );
    }
    notes
}

/// The risks of the reports, each code once.
fn of_the_sources(submitted: &[Submitted<'_>]) -> Vec<RiskNote> {
    let mut by_code: BTreeMap<(Cow<'static, str>, String), RiskNote> = BTreeMap::new();
    for source in submitted {
        let Some(read) = &source.read else { continue };
        for risk in &read.report.risk_details {
            let note = by_code
                .entry((risk.code.clone(), risk.text.clone()))
                .or_insert_with(|| RiskNote {
                    code: risk.code.clone(),
                    severity: risk.severity,
                    text: risk.text.clone(),
                    source_ids: Vec::new(),
                    citation_ids: Vec::new(),
                });
            if note.source_ids.last() != Some(&source.id) {
                note.source_ids.push(source.id.clone());
            }
            note.citation_ids
                .extend(risk.evidence_ids.iter().map(|id| source.cited_as(id)));
        }
    }
    by_code.into_values().collect()
}

/// `same address, same content`.
fn named(likenesses: &[Likeness]) -> String {
    let names: Vec<&str> = likenesses.iter().map(|why| why.name()).collect();
    names.join(", ").replace('_', " ")
}
