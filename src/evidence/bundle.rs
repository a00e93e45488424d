//! What several sources say together on one question: the reports on them side by side, with what can be said of the
//! whole. Pure; knows no order, no payment and no page around it. The member names are those of the delivery.

pub mod compare;
mod compose;
pub mod decide;
pub mod footnotes;
pub mod groups;
pub mod matrix;
mod read;
pub mod remarks;

use serde_json::{Map, Value};

use crate::domain::time::UnixSeconds;
use crate::evidence::bundle::compose::compose;
use crate::evidence::report::Report;
use crate::evidence::report::canonical::{bundle_hash, members};

pub use compose::{BundleReport, CellLine, ClaimKind, ClaimLine, SourceLine};
use footnotes::Footnote;

/// The most sources of a bundle.
pub const SOURCES_MAX: usize = 25;

/// What a bundle report is made for.
#[derive(Clone, Copy, Debug)]
pub struct BundleRequest<'a> {
    pub order_id: &'a str,
    /// The bundle's name.
    pub bundle: &'a str,
    pub question: &'a str,
    pub created_at: UnixSeconds,
}

/// One of the addresses that were submitted, and what became of it.
#[derive(Clone, Debug)]
pub struct BundleSource<'a> {
    /// As the buyer named it.
    pub target_url: &'a str,
    pub outcome: Result<SourceReport<'a>, Unreachable>,
    pub fetched_at: UnixSeconds,
}

/// A source that was read.
#[derive(Clone, Copy, Debug)]
pub struct SourceReport<'a> {
    pub report: &'a Report,
    /// The text that its citations are slices of.
    pub text: &'a str,
}

/// Why a source could not be read, in words for the buyer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreachable {
    /// Of the closed set of error codes.
    pub code: String,
    pub message: String,
}

/// The report of a bundle. Sources beyond [`SOURCES_MAX`] are left out. Same input, same bytes.
pub fn bundle_report(request: &BundleRequest<'_>, sources: &[BundleSource<'_>]) -> BundleReport {
    let sources = &sources[..sources.len().min(SOURCES_MAX)];
    let mut report = compose(request, sources);
    report.result_hash = bundle_hash(&report.members());
    report
}

impl BundleReport {
    /// Its members as JSON.
    pub fn members(&self) -> Map<String, Value> {
        members(self)
    }

    pub fn source(&self, id: &str) -> Option<&SourceLine> {
        self.sources.iter().find(|source| source.id == id)
    }

    pub fn citation(&self, id: &str) -> Option<&Footnote> {
        self.citations.iter().find(|citation| citation.id == id)
    }

    /// The sources that were read, each with the report on it.
    pub fn read(&self) -> impl Iterator<Item = (&SourceLine, &Report)> {
        let read = self.sources.iter().filter(|source| source.label.is_some());
        read.zip(&self.reports)
    }

    /// Why a source could not be read, in words; empty where it was.
    pub fn why_unread(&self, source_id: &str) -> &str {
        let mut unread = self.unreachable.iter();
        let found = unread.find(|unread| unread.source_id == source_id);
        found.map_or("", |unread| &unread.message)
    }
}

#[cfg(test)]
pub(crate) mod tests;
