//! The passages that a bundle rests on, each verbatim and once: citations of the reports under their source's name
//! (`S2.E1`), and passages that were found only when one source was asked what another says (`S2.X1`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::closed_set::closed_set;
use crate::evidence::bundle::read::{Read, Submitted};
use crate::evidence::report::citation::{Citation, citation};
use crate::evidence::{Finding, Match};
use crate::markdown::PassageKind;

/// A passage of a source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Footnote {
    pub id: String,
    pub source_id: String,
    pub url: String,
    /// Bytes `start..end` of the source's text.
    pub excerpt: String,
    /// The excerpt as readers see it, without the marks of markdown.
    #[serde(default)]
    pub quote: String,
    /// The passage on the page itself, by a text fragment.
    #[serde(default)]
    pub link: Option<String>,
    pub start: usize,
    pub end: usize,
    /// The passage goes on after what is shown.
    pub truncated: bool,
    #[serde(rename = "match")]
    pub matching: Match,
    pub kind: PassageKind,
    pub heading_path: Vec<String>,
    pub found_by: FoundBy,
}

impl Footnote {
    /// For readers; the excerpt in reports that were stored before there were quotes.
    pub fn quote(&self) -> &str {
        match self.quote.is_empty() {
            true => &self.excerpt,
            false => &self.quote,
        }
    }
}

closed_set! {
    /// Where a passage was found: in a source's own report, or when it was asked what another source says.
    pub enum FoundBy {
        Report = "report",
        CrossCheck = "cross_check",
    }
}

#[derive(Debug, Default)]
pub(super) struct Footnotes {
    pub(super) notes: Vec<Footnote>,
}

impl Footnotes {
    pub(super) fn get(&self, id: &str) -> Option<&Footnote> {
        self.notes.iter().find(|note| note.id == id)
    }

    /// The names of a report's citations in the bundle. What is no slice of the source's text is left out.
    pub(super) fn of_report(
        &mut self,
        source: &Submitted<'_>,
        read: &Read<'_>,
        ids: &[&str],
    ) -> Vec<String> {
        let cited = ids.iter().filter_map(|id| read.cited(id));
        cited
            .map(|cited| self.add(source, read, cited, FoundBy::Report))
            .collect()
    }

    /// The names of findings of the engine: those that the report cites already keep theirs.
    pub(super) fn of_findings(
        &mut self,
        source: &Submitted<'_>,
        read: &Read<'_>,
        findings: &[&Finding],
    ) -> Vec<String> {
        let mut ids = Vec::new();
        for finding in findings {
            let start = finding.range.start;
            if let Some(cited) = read
                .report
                .citations
                .iter()
                .find(|cited| cited.start == start)
            {
                ids.push(self.add(source, read, cited, FoundBy::Report));
                continue;
            }
            let known = self.notes.iter();
            let mut known = known.filter(|note| note.source_id == source.id);
            if let Some(note) = known.find(|note| note.start == start) {
                ids.push(note.id.clone());
                continue;
            }
            let found = citation(0, finding, read.text, &read.report.source_profile.final_url);
            let own = self.notes.iter().filter(|note| note.source_id == source.id);
            let number = own
                .filter(|note| note.found_by == FoundBy::CrossCheck)
                .count()
                + 1;
            let cited = Citation {
                id: format!("X{number}"),
                ..found
            };
            ids.push(self.add(source, read, &cited, FoundBy::CrossCheck));
        }
        ids
    }

    fn add(
        &mut self,
        source: &Submitted<'_>,
        read: &Read<'_>,
        cited: &Citation,
        found_by: FoundBy,
    ) -> String {
        let id = source.cited_as(&cited.id);
        if self.get(&id).is_none() {
            self.notes.push(Footnote {
                id: id.clone(),
                source_id: source.id.clone(),
                url: read.report.source_profile.final_url.clone(),
                excerpt: cited.excerpt.clone(),
                quote: cited.quote.clone(),
                link: cited.link.clone(),
                start: cited.start,
                end: cited.end,
                truncated: cited.truncated,
                matching: cited.matching,
                kind: cited.kind,
                heading_path: cited.heading_path.clone(),
                found_by,
            });
        }
        id
    }
}
