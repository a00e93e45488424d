//! A whole text checked against sources: which of its statements need one, what the sources say to each, and what to
//! correct. Pure; knows no payment, no fetch and no page around it.

mod compose;
mod cut;
mod grounding;
mod judge;
mod subject;
#[cfg(test)]
pub(crate) mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::domain::time::UnixSeconds;
use crate::evidence::bundle::decide::BundleLabel;
use crate::evidence::report::action::AgentAction;
use crate::evidence::report::canonical::{bundle_hash, members};
use crate::evidence::report::citation::Citation;
use crate::evidence::report::risks::RiskDetail;
use crate::evidence::report::{Comparison, Links, Success};
use crate::evidence::{Depth, Label};

pub use crate::domain::check::{SOURCES_MAX, TEXT_CHARACTERS_MAX};
pub use grounding::NoGrounding;

/// Statements that a text is cut into; the text behind them is not checked.
pub const STATEMENTS_MAX: usize = 120;
/// Bytes of one source that are read, in UTF-8.
pub const SOURCE_BYTES_MAX: usize = 512 * 1024;
/// Citations of one claim.
pub const CLAIM_CITATIONS_MAX: usize = 6;

/// How the score of a text is reckoned, in a sentence for answers and pages.
pub const SCORE_DEFINITION: &str = "The mean over the claims that need grounding: 1 for supported, 0.5 for partially_supported, 0 for every \
     other label.";

/// What is checked.
#[derive(Clone, Copy, Debug)]
pub struct CheckRequest<'a> {
    /// Markdown or plain text. What stands behind [`TEXT_CHARACTERS_MAX`] is not checked.
    pub text: &'a str,
    pub depth: Depth,
    pub now: UnixSeconds,
}

/// What a text is checked against.
#[derive(Clone, Copy, Debug)]
pub struct CheckSource<'a> {
    /// Unique within the check; by custom `S1`, `S2` … in the order of the request.
    pub id: &'a str,
    /// The final URL of a page; `None` for a text that was sent along.
    pub url: Option<&'a str>,
    pub title: Option<&'a str>,
    /// BCP 47, if known.
    pub language: Option<&'a str>,
    /// Markdown; the offsets of citations point into it. What stands behind [`SOURCE_BYTES_MAX`] is not read.
    pub text: &'a str,
    /// The converter found text for AI systems on the page (`prompt_injection_suspected`).
    pub is_suspected: bool,
}

/// What became of a text: the one place where the members of the answer are named. A member that is added has
/// `#[serde(default)]`. Payment, cost and cache facts are put beside it by the sale.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckReport {
    pub status: Success,
    /// SHA-256 of the report in its canonical form (RFC 8785) without the members that verify names, in hex.
    #[schemars(regex(pattern = SHA256))]
    pub result_hash: String,
    /// SHA-256 of the submitted text in UTF-8, in hex.
    #[schemars(regex(pattern = SHA256))]
    pub text_sha256: String,
    /// Seconds since 1970.
    pub created_at: u64,
    /// How much of the sources was read: by the words alone (`quick`), or with the entailment model on the best passages.
    pub depth: Depth,
    /// The submitted text, into which `start` and `end` of claims and corrections point, in bytes of UTF-8.
    pub text: String,
    /// The text goes on behind what was checked.
    pub truncated: bool,
    /// What was found, in a few sentences.
    pub summary: String,
    /// The mean over the claims that need grounding: 1 for supported, 0.5 for partially_supported, 0 for every other label.
    /// Null where no claim needs grounding.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub score: Option<f64>,
    pub counts: CheckCounts,
    pub agent_action: AgentAction,
    /// The claims that a source contradicts, in the order of the text, each with the passage that says otherwise.
    pub corrections: Vec<Correction>,
    /// The statements of the text in its order. They do not overlap.
    pub claims: Vec<CheckedClaim>,
    pub sources: Vec<CheckedSource>,
    /// Codes; what each means stands in `risk_details`.
    pub risks: Vec<String>,
    pub risk_details: Vec<SourceRisk>,
    /// Absent before the report is sold.
    #[serde(flatten)]
    pub links: Option<Links>,
}

/// Lower-case hex of 32 bytes.
const SHA256: &str = "^[0-9a-f]{64}$";

/// How many statements there are of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckCounts {
    /// All of them.
    pub claims: usize,
    /// Those that a source must bear out. Each of them has one of the labels that follow.
    pub need_grounding: usize,
    pub supported: usize,
    pub partially_supported: usize,
    pub weak: usize,
    pub unsupported: usize,
    pub contradicted: usize,
    pub contested: usize,
}

/// A statement of the text, and what the sources say to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedClaim {
    /// `C1`, `C2` … in the order of the text.
    pub id: String,
    /// Where it begins in the submitted text, in bytes of UTF-8.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
    /// Verbatim: bytes `start..end`.
    pub text: String,
    /// As it was put to the sources, where words of the text around it were needed: "Acme was founded in 1999" for "It was
    /// founded in 1999".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_as: Option<String>,
    /// A source must bear it out. The members from `label` on are null or empty where it is false.
    pub needs_grounding: bool,
    /// Why it needs no grounding.
    pub no_grounding_reason: Option<NoGrounding>,
    /// What the sources together say to it; `contested` where one supports and another contradicts it.
    pub label: Option<BundleLabel>,
    /// The probability that a source establishes it: that of the source that says it best.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub support_score: Option<f64>,
    /// The probability that a source says the opposite: that of the source that says it most clearly.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub contradiction_score: Option<f64>,
    /// Passages that support or contradict it, those that carry the label first.
    pub citations: Vec<CheckCitation>,
    /// Its quantities beside those of the source that decides its label.
    pub comparisons: Vec<Comparison>,
    /// Its terms that no passage of that source carries.
    pub missing_terms: Vec<String>,
    /// What each source says to it that has words for it.
    pub by_source: Vec<SourceVerdict>,
}

/// What one source says to a claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SourceVerdict {
    pub source_id: String,
    pub label: Label,
    #[schemars(range(min = 0.0, max = 1.0))]
    pub support_score: f64,
    #[schemars(range(min = 0.0, max = 1.0))]
    pub contradiction_score: f64,
}

/// A passage of a source: a citation as in a report, with its source. One passage has one `id` wherever it is cited; its
/// `stance`, `score` and terms are those for the claim that it stands under. `url` is empty for an inline text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckCitation {
    pub source_id: String,
    /// SHA-256 of `excerpt` in UTF-8, in hex.
    #[schemars(regex(pattern = SHA256))]
    pub excerpt_sha256: String,
    #[serde(flatten)]
    pub citation: Citation,
}

/// Something that the text should not say as it does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Correction {
    pub claim_id: String,
    /// The claim in the submitted text, in bytes of UTF-8.
    pub start: usize,
    pub end: usize,
    pub text: String,
    /// `contradicted`, or `contested` where another source supports it.
    pub label: BundleLabel,
    /// The passage that says otherwise, by the id of its citation, and as readers see it.
    pub citation_id: String,
    pub source_id: String,
    pub quote: String,
    /// The figures that differ.
    pub figures: Vec<Figure>,
}

/// A figure of the text that the source has otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// Where it stands in the submitted text, in bytes of UTF-8.
    pub start: usize,
    pub end: usize,
    pub written: String,
    /// As the source writes it.
    pub found: String,
}

/// A source that the text was checked against.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedSource {
    pub id: String,
    /// Null for an inline text.
    pub url: Option<String>,
    pub title: Option<String>,
    pub language: Option<String>,
    /// SHA-256 of the text that the citations are slices of, in hex.
    #[schemars(regex(pattern = SHA256))]
    pub content_sha256: String,
    pub characters: usize,
    /// Sentences, items and rows that were read.
    pub units_examined: usize,
    /// Claims that it supports, also in part, and claims that it contradicts.
    pub supports: usize,
    pub contradicts: usize,
}

/// A risk of one source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceRisk {
    pub source_id: String,
    #[serde(flatten)]
    pub risk: RiskDetail,
}

/// Checks a text. Sources beyond [`SOURCES_MAX`] are left out. Same input, same bytes.
pub fn check_report(request: &CheckRequest<'_>, sources: &[CheckSource<'_>]) -> CheckReport {
    let sources = &sources[..sources.len().min(SOURCES_MAX)];
    let mut report = compose::compose(request, sources);
    report.result_hash = bundle_hash(&report.members());
    report
}

impl CheckReport {
    /// From its JSON, with whatever else stands beside it in an answer.
    pub fn parse(json: &[u8]) -> Result<CheckReport, serde_json::Error> {
        serde_json::from_slice(json)
    }

    /// Its members as JSON.
    pub fn members(&self) -> Map<String, Value> {
        members(self)
    }

    pub fn source(&self, id: &str) -> Option<&CheckedSource> {
        self.sources.iter().find(|source| source.id == id)
    }
}
