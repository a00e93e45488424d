//! The passages that a bundle rests on, each verbatim and once: citations of the reports under their source's name
//! (`S2.E1`), and passages that were found only when one source was asked what another says (`S2.X1`).

use serde::Serialize;

use crate::evidence::Finding;
use crate::evidence::bundle::read::{Cited, Read, Submitted};
use crate::evidence::report::citation::citation;

/// A passage of a source.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Footnote {
    pub(super) id: String,
    pub(super) source_id: String,
    pub(super) url: String,
    /// Bytes `start..end` of the source's text.
    pub(super) excerpt: String,
    pub(super) start: usize,
    pub(super) end: usize,
    /// The passage goes on after what is shown.
    pub(super) truncated: bool,
    #[serde(rename = "match")]
    pub(super) matching: String,
    pub(super) kind: String,
    pub(super) heading_path: Vec<String>,
    /// `report` or `cross_check`.
    pub(super) found_by: &'static str,
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
            .map(|cited| self.add(source, read, cited, "report"))
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
                .told
                .citations
                .iter()
                .find(|cited| cited.start == start)
            {
                ids.push(self.add(source, read, cited, "report"));
                continue;
            }
            let known = self.notes.iter();
            let mut known = known.filter(|note| note.source_id == source.id);
            if let Some(note) = known.find(|note| note.start == start) {
                ids.push(note.id.clone());
                continue;
            }
            let found = citation(0, finding, read.text, "");
            let own = self.notes.iter().filter(|note| note.source_id == source.id);
            let number = own.filter(|note| note.found_by == "cross_check").count() + 1;
            let cited = Cited {
                id: format!("X{number}"),
                excerpt: found.excerpt,
                start: found.start,
                end: found.end,
                truncated: found.truncated,
                matching: found.matching.to_owned(),
                stance: String::new(),
                kind: found.kind.to_owned(),
                heading_path: found.heading_path,
            };
            ids.push(self.add(source, read, &cited, "cross_check"));
        }
        ids
    }

    fn add(
        &mut self,
        source: &Submitted<'_>,
        read: &Read<'_>,
        cited: &Cited,
        found_by: &'static str,
    ) -> String {
        let id = source.cited_as(&cited.id);
        if self.get(&id).is_none() {
            self.notes.push(Footnote {
                id: id.clone(),
                source_id: source.id.clone(),
                url: read.told.source_profile.final_url.clone(),
                excerpt: cited.excerpt.clone(),
                start: cited.start,
                end: cited.end,
                truncated: cited.truncated,
                matching: cited.matching.clone(),
                kind: cited.kind.clone(),
                heading_path: cited.heading_path.clone(),
                found_by,
            });
        }
        id
    }
}
