//! What several sources say together on one question: the reports on them side by side, with what can be said of the
//! whole. Pure; knows no order, no payment and no page around it. The member names are those of the delivery.

mod compare;
mod compose;
mod decide;
mod footnotes;
mod groups;
mod matrix;
mod read;
mod remarks;
mod values;

use serde_json::{Map, Value};

use crate::domain::time::UnixSeconds;
use crate::evidence::bundle::compose::compose;
use crate::evidence::report::canonical::bundle_hash;

/// The most sources of a bundle (specification 2.3).
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
    /// The members of a Proof Pack report.
    pub report: &'a Map<String, Value>,
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

/// The members of a bundle's delivery that are the report. What stands around them (addresses, the e-mail's fate) is
/// put there by the delivery. Sources beyond [`SOURCES_MAX`] are left out. Same input, same bytes.
pub fn bundle_report(
    request: &BundleRequest<'_>,
    sources: &[BundleSource<'_>],
) -> Map<String, Value> {
    let sources = &sources[..sources.len().min(SOURCES_MAX)];
    let report = serde_json::to_value(compose(request, sources));
    let Ok(Value::Object(mut report)) = report else {
        // Plain structs of text and finite numbers: there is no other outcome.
        return Map::new();
    };
    let hash = bundle_hash(&report);
    report.insert("result_hash".to_owned(), Value::String(hash));
    report
}

#[cfg(test)]
pub(crate) mod tests;
