//! A citation: a slice of the source, verbatim, with where it stands and why it was cited.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::evidence::reading::text::{bounded, cells, head, plain};
use crate::evidence::{Finding, Match, Stance};
use crate::markdown::PassageKind;

/// Longer slices are cut, and say so.
pub const EXCERPT_BYTES_MAX: usize = 2_000;
const CONTEXT_BYTES_MAX: usize = 600;
const HEADINGS_MAX: usize = 6;
const HEADING_CHARS_MAX: usize = 200;
const TERMS_MAX: usize = 24;
const TERM_CHARS_MAX: usize = 80;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Citation {
    /// `E1`, `E2` … in the report's order.
    pub id: String,
    pub url: String,
    /// Verbatim: bytes `start..end` of the source's text.
    pub excerpt: String,
    /// Where the excerpt begins in the source's markdown, in bytes of UTF-8.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
    /// The slice goes on after what is shown.
    pub truncated: bool,
    #[serde(rename = "match")]
    pub matching: Match,
    pub stance: Stance,
    /// How well it fits beside the others.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub score: f64,
    pub matched_terms: Vec<String>,
    pub missing_terms: Vec<String>,
    /// What it is in the source.
    pub kind: PassageKind,
    /// The headings it stands under, outermost first.
    pub heading_path: Vec<String>,
    /// The line that leads a list in, the header of a table.
    pub context: Option<Context>,
}

impl Citation {
    /// What it says to a reader, in so many characters: a row with the names of its columns, an item behind the line
    /// that leads it in.
    pub(crate) fn spoken(&self, characters: usize) -> String {
        let context = self
            .context
            .as_ref()
            .map(|context| context.excerpt.as_str());
        let spoken = match (self.kind, context) {
            (PassageKind::Row, Some(header)) => row(header, &self.excerpt),
            (PassageKind::Item, Some(lead_in)) if lead_in.trim_end().ends_with([':', '：']) => {
                format!("{} {}", plain(lead_in), plain(&self.excerpt))
            }
            _ => plain(&self.excerpt),
        };
        bounded(&spoken, characters)
    }

    pub(crate) fn quoted(&self, characters: usize) -> String {
        format!("“{}”", self.spoken(characters))
    }
}

/// `Plan: Pro; Price: $9`.
fn row(header: &str, row: &str) -> String {
    let (names, values) = (cells(header), cells(row));
    if names.len() != values.len() {
        return plain(row);
    }
    let pairs = names.iter().zip(&values);
    let pairs = pairs.filter(|(_, value)| !value.is_empty());
    let told = pairs.map(|(name, value)| match name.is_empty() {
        true => plain(value),
        false => format!("{}: {}", plain(name), plain(value)),
    });
    told.collect::<Vec<_>>().join("; ")
}

/// A second slice without which the excerpt says too little.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Context {
    pub excerpt: String,
    pub start: usize,
    pub end: usize,
}

/// The name of the finding with this index.
pub(crate) fn citation_id(finding: usize) -> String {
    format!("E{}", finding.saturating_add(1))
}

/// What a finding is cited as. `text` is the source's.
pub(crate) fn citation(index: usize, finding: &Finding, text: &str, url: &str) -> Citation {
    let whole = text.get(finding.range.clone()).unwrap_or_default();
    let excerpt = head(whole, EXCERPT_BYTES_MAX);
    let start = finding.range.start;
    let context = finding.context.clone().and_then(|range| {
        let excerpt = head(text.get(range.clone())?, CONTEXT_BYTES_MAX);
        Some(Context {
            excerpt: excerpt.to_owned(),
            start: range.start,
            end: range.start + excerpt.len(),
        })
    });
    Citation {
        id: citation_id(index),
        url: url.to_owned(),
        excerpt: excerpt.to_owned(),
        start,
        end: start + excerpt.len(),
        truncated: excerpt.len() < whole.len(),
        matching: finding.matching,
        stance: finding.stance,
        score: rounded(finding.score),
        matched_terms: terms(&finding.matched),
        missing_terms: terms(&finding.missing),
        kind: finding.kind,
        heading_path: finding
            .heading_path
            .iter()
            .rev()
            .take(HEADINGS_MAX)
            .rev()
            .map(|heading| bounded(heading, HEADING_CHARS_MAX))
            .collect(),
        context,
    }
}

pub(crate) fn terms(terms: &[String]) -> Vec<String> {
    let kept = terms.iter().take(TERMS_MAX);
    kept.map(|term| bounded(term, TERM_CHARS_MAX)).collect()
}

/// Four decimals are all that a score can promise. What is no number is 0.
pub(crate) fn rounded(score: f64) -> f64 {
    match score.is_finite() {
        true => (score.clamp(0.0, 1.0) * 10_000.0).round() / 10_000.0,
        false => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use crate::evidence::report::citation::*;
    use crate::evidence::{Match, Stance};

    fn spoken(kind: PassageKind, context: &str, text: &str) -> String {
        let whole = format!("{context}\n{text}");
        let finding = Finding {
            range: context.len() + 1..whole.len(),
            kind,
            heading_path: Vec::new(),
            context: (!context.is_empty()).then_some(0..context.len()),
            before: None,
            after: None,
            matching: Match::Exact,
            matched: Vec::new(),
            missing: Vec::new(),
            stance: Stance::Supports,
            score: 1.0,
        };
        citation(0, &finding, &whole, "https://x.test/").spoken(60)
    }

    #[test]
    fn what_is_cited_is_spoken_with_what_it_needs() {
        let header = "| Plan | **Price** | |";
        assert_eq!(
            spoken(PassageKind::Row, header, "| Pro | $9 | x |"),
            "Plan: Pro; Price: $9; x"
        );
        assert_eq!(
            spoken(PassageKind::Row, header, "| Pro |  | x |"),
            "Plan: Pro; x"
        );
        assert_eq!(spoken(PassageKind::Row, header, "| Pro | $9 |"), "Pro · $9");
        assert_eq!(spoken(PassageKind::Row, "", "| Pro | $9 |"), "Pro · $9");
        assert_eq!(
            spoken(PassageKind::Item, "We offer:", "*tea*"),
            "We offer: tea"
        );
        assert_eq!(spoken(PassageKind::Item, "We offer.", "tea"), "tea");
        assert_eq!(
            spoken(PassageKind::Paragraph, "", &"a ".repeat(100))
                .chars()
                .count(),
            60
        );
    }

    #[test]
    fn a_long_slice_is_cut_between_characters_and_says_so() {
        let text = "é".repeat(EXCERPT_BYTES_MAX);
        let finding = Finding {
            range: 0..text.len(),
            kind: PassageKind::Code,
            heading_path: vec!["deep".to_owned(); 20],
            context: None,
            before: None,
            after: None,
            matching: Match::Partial,
            matched: vec!["term".repeat(100); 50],
            missing: Vec::new(),
            stance: Stance::Mentions,
            score: f64::NAN,
        };
        let citation = citation(4, &finding, &text, "https://x.test/");
        assert!(citation.truncated);
        assert_eq!(citation.excerpt, text[citation.start..citation.end]);
        assert_eq!((citation.id.as_str(), citation.score), ("E5", 0.0));
        assert_eq!(
            (citation.heading_path.len(), citation.matched_terms.len()),
            (HEADINGS_MAX, TERMS_MAX)
        );
    }
}
