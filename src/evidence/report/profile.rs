//! The source as a report describes it (`source_profile`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::time::UnixSeconds;
use crate::evidence::reading::text::{URL_CHARS_MAX, bounded};
use crate::evidence::report::facts::Facts;
use crate::evidence::report::text_stats::TextStats;

const TEXT_CHARS_MAX: usize = 300;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceProfile {
    /// After redirects.
    pub final_url: String,
    /// Of the text that the citations are slices of.
    pub content_sha256: String,
    /// Of the raw body.
    pub source_sha256: Option<String>,
    pub title: Option<String>,
    pub author: Option<String>,
    pub site_name: Option<String>,
    pub published_at: Option<String>,
    pub modified_at: Option<String>,
    pub language: Option<String>,
    pub canonical_url: Option<String>,
    pub http_status: u16,
    pub content_type: String,
    pub content_source: String,
    /// When the page was fetched.
    pub retrieved_at: u64,
    /// How long that was before the report was made.
    pub age_seconds: u64,
    pub is_redirected: bool,
    pub word_count: u64,
    pub text_bytes: usize,
    pub outbound_links: usize,
    /// The converter's warnings.
    pub warnings: Vec<String>,
}

pub(crate) fn profile(
    facts: &Facts,
    text_stats: &TextStats,
    text: &str,
    content_sha256: &str,
    now: UnixSeconds,
) -> SourceProfile {
    let metadata = &facts.metadata;
    let told = |text: &Option<String>| text.as_deref().map(|text| bounded(text, TEXT_CHARS_MAX));
    let url = |url: &str| bounded(url, URL_CHARS_MAX);
    SourceProfile {
        final_url: url(&facts.final_url),
        content_sha256: content_sha256.to_owned(),
        source_sha256: (!facts.source_sha256.is_empty()).then(|| bounded(&facts.source_sha256, 64)),
        title: told(&metadata.title),
        author: told(&metadata.author),
        site_name: told(&metadata.site_name),
        published_at: told(&metadata.published_at),
        modified_at: told(&metadata.modified_at),
        language: told(&metadata.language),
        canonical_url: metadata.canonical_url.as_deref().map(url),
        http_status: facts.http_status,
        content_type: bounded(&facts.content_type, TEXT_CHARS_MAX),
        content_source: bounded(&facts.content_source, TEXT_CHARS_MAX),
        retrieved_at: facts.fetched_at.0,
        age_seconds: now.since(facts.fetched_at),
        is_redirected: facts.final_url != facts.target_url,
        word_count: text_stats.words,
        text_bytes: text.len(),
        outbound_links: facts.links.len(),
        warnings: facts
            .warnings
            .iter()
            .take(20)
            .map(|code| bounded(code, 64))
            .collect(),
    }
}
