//! What several sources say together on one question: the reports on them side by side, with what can be said of the
//! whole. Pure; knows no order, no payment and no page around it. The member names are those of the delivery.

use serde_json::{Map, Value, json};

use crate::domain::time::UnixSeconds;
use crate::evidence::canonical::bundle_hash;

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
/// put there by the delivery. Sources beyond [`SOURCES_MAX`] are left out.
pub fn bundle_report(
    request: &BundleRequest<'_>,
    sources: &[BundleSource<'_>],
) -> Map<String, Value> {
    let sources = &sources[..sources.len().min(SOURCES_MAX)];
    let read = sources
        .iter()
        .filter_map(|source| source.outcome.as_ref().ok());
    let reports: Vec<Value> = read
        .map(|read| Value::Object(read.report.clone()))
        .collect();
    let report = json!({
        "status": "fulfilled",
        "order_id": request.order_id,
        "bundle": request.bundle,
        "question": request.question,
        "created_at": request.created_at.0,
        "reports": reports,
    });
    let Value::Object(mut report) = report else {
        return Map::new();
    };
    let hash = bundle_hash(&report);
    report.insert("result_hash".to_owned(), Value::String(hash));
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_covers_the_report_and_not_what_stands_around_it() {
        let request = BundleRequest {
            order_id: "ord_1",
            bundle: "builder",
            question: "Is it free?",
            created_at: UnixSeconds(1),
        };
        let mut report = bundle_report(&request, &[]);
        report.insert("email".to_owned(), json!({"sent": true}));
        assert_eq!(report["result_hash"], bundle_hash(&report));
        report.insert("question".to_owned(), json!("Is it dear?"));
        assert_ne!(report["result_hash"], bundle_hash(&report));
    }
}
