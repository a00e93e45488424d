//! A report of one source as the others are laid beside it: the members that a bundle needs, and nothing of the report
//! that its text does not bear out.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::domain::target::TargetUrl;
use crate::evidence::Label;
use crate::evidence::bundle::{BundleSource, SourceReport};

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
    pub(super) told: Told,
    /// The holder of the name under which it was found in the end.
    pub(super) publisher: String,
}

/// The members of a report that are read here.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Told {
    /// Of a report that can be read by itself.
    pub(super) report_id: Option<String>,
    pub(super) question: String,
    pub(super) answer: String,
    pub(super) decision: Decided,
    pub(super) agent_action: String,
    pub(super) source_quality_score: f64,
    pub(super) citations: Vec<Cited>,
    pub(super) key_claims: Vec<Claimed>,
    pub(super) analysis: Analysed,
    pub(super) risk_details: Vec<Risked>,
    pub(super) source_profile: Profiled,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Decided {
    pub(super) label: String,
    pub(super) confidence: f64,
    pub(super) support_score: f64,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Cited {
    pub(super) id: String,
    pub(super) excerpt: String,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) truncated: bool,
    #[serde(rename = "match")]
    pub(super) matching: String,
    pub(super) stance: String,
    pub(super) kind: String,
    pub(super) heading_path: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Claimed {
    pub(super) claim: String,
    pub(super) citation_ids: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Analysed {
    pub(super) question_kind: String,
    pub(super) parts: Vec<Part>,
    pub(super) missing_terms: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Part {
    pub(super) text: String,
    pub(super) label: String,
    pub(super) support_score: f64,
    pub(super) citation_ids: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Risked {
    pub(super) code: String,
    pub(super) severity: String,
    pub(super) text: String,
    pub(super) evidence_ids: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Profiled {
    pub(super) final_url: String,
    pub(super) content_sha256: String,
    pub(super) source_sha256: Option<String>,
    pub(super) title: Option<String>,
    pub(super) published_at: Option<String>,
    pub(super) modified_at: Option<String>,
    pub(super) canonical_url: Option<String>,
    pub(super) language: Option<String>,
    pub(super) retrieved_at: u64,
    pub(super) word_count: u64,
    pub(super) warnings: Vec<String>,
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
    fn of(report: &SourceReport<'a>) -> Read<'a> {
        let text = report.text;
        let mut told = Told::of(report.report);
        told.citations.truncate(CITATIONS_MAX);
        told.citations
            .retain(|cited| text.get(cited.start..cited.end) == Some(cited.excerpt.as_str()));
        told.key_claims.truncate(CLAIMS_MAX);
        told.analysis.parts.truncate(crate::evidence::CLAIMS_MAX);
        let url = TargetUrl::parse(&told.source_profile.final_url);
        Read {
            text,
            publisher: url.map_or_else(|_| String::new(), |url| url.domain().to_owned()),
            told,
        }
    }

    pub(super) fn cited(&self, id: &str) -> Option<&Cited> {
        self.told.citations.iter().find(|cited| cited.id == id)
    }

    pub(super) fn label(&self) -> Label {
        Label::parse(&self.told.decision.label).unwrap_or(Label::Unsupported)
    }

    /// When it says that it was last changed, or published.
    pub(super) fn dated(&self) -> Option<&str> {
        let profile = &self.told.source_profile;
        let dated = profile
            .modified_at
            .as_ref()
            .or(profile.published_at.as_ref());
        dated.map(String::as_str)
    }
}

/// Whether a report has an address of its own.
pub(super) fn is_retained(report: &Map<String, Value>) -> bool {
    report.contains_key("verify_url")
}

impl Told {
    /// A member that is not what it should be is as good as absent, and so are those after it; no report of ours has
    /// one.
    fn of(report: &Map<String, Value>) -> Told {
        const READ: [&str; 11] = [
            "report_id",
            "question",
            "answer",
            "decision",
            "agent_action",
            "source_quality_score",
            "citations",
            "key_claims",
            "analysis",
            "risk_details",
            "source_profile",
        ];
        let members = READ.iter().filter_map(|name| {
            let value = report.get(*name)?;
            Some(((*name).to_owned(), value.clone()))
        });
        let mut told: Told =
            serde_json::from_value(Value::Object(members.collect())).unwrap_or_default();
        told.report_id = told.report_id.filter(|_| is_retained(report));
        told
    }
}
