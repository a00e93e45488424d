//! A report of one source as the others are laid beside it: the members that a bundle needs, and nothing of the report
//! that its text does not bear out.

use crate::domain::target::TargetUrl;
use crate::evidence::bundle::{BundleSource, SourceReport};
use crate::evidence::report::Report;
use crate::evidence::report::citation::Citation;

/// Citations of a report that are read; it has no more than this.
const CITATIONS_MAX: usize = 24;
const CLAIMS_MAX: usize = 12;

/// A submitted address, as the bundle's parts see it.
#[derive(Debug)]
pub(super) struct Submitted<'a> {
    /// `S1`, `S2` … in the order in which they were submitted.
    pub(super) id: String,
    pub(super) source: &'a BundleSource<'a>,
    /// Nothing where it could not be read.
    pub(super) read: Option<Read<'a>>,
}

/// A source that was read, and what its report says.
#[derive(Debug)]
pub(super) struct Read<'a> {
    pub(super) text: &'a str,
    /// Without what its text does not bear out.
    pub(super) report: Report,
    /// The holder of the name under which it was found in the end.
    pub(super) publisher: String,
}

impl<'a> Submitted<'a> {
    pub(super) fn all(sources: &'a [BundleSource<'a>]) -> Vec<Submitted<'a>> {
        let numbered = sources.iter().zip(1..);
        let submitted = numbered.map(|(source, number): (_, usize)| Submitted {
            id: format!("S{number}"),
            source,
            read: source.outcome.as_ref().ok().map(Read::of),
        });
        submitted.collect()
    }

    /// Its name in the bundle for a citation of its report.
    pub(super) fn cited_as(&self, id: &str) -> String {
        format!("{}.{id}", self.id)
    }
}

impl<'a> Read<'a> {
    fn of(source: &SourceReport<'a>) -> Read<'a> {
        let text = source.text;
        let mut report = source.report.clone();
        report.citations.truncate(CITATIONS_MAX);
        report
            .citations
            .retain(|cited| text.get(cited.start..cited.end) == Some(cited.excerpt.as_str()));
        report.key_claims.truncate(CLAIMS_MAX);
        report.analysis.parts.truncate(crate::evidence::CLAIMS_MAX);
        let url = TargetUrl::parse(&report.source_profile.final_url);
        Read {
            text,
            publisher: url.map_or_else(|_| String::new(), |url| url.domain().to_owned()),
            report,
        }
    }

    pub(super) fn cited(&self, id: &str) -> Option<&Citation> {
        self.report.citations.iter().find(|cited| cited.id == id)
    }
}
