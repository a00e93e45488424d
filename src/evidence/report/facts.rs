//! What the fetch and the conversion know of a source beside its markdown, in one form for a page that was fetched
//! now and for one that is kept.

use serde::Deserialize;
use serde_json::Value;

use crate::domain::target::TargetUrl;
use crate::domain::time::UnixSeconds;
use crate::evidence::report::Report;
use crate::markdown::{Link, Metadata, Page};

/// What is known of where a text comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    pub target_url: String,
    /// After redirects.
    pub final_url: String,
    pub http_status: u16,
    pub content_type: String,
    /// As `content_source` in answers.
    pub content_source: String,
    pub metadata: Metadata,
    pub links: Vec<Link>,
    /// Codes, as in answers.
    pub warnings: Vec<String>,
    /// Hex SHA-256 of the raw body.
    pub source_sha256: String,
    pub fetched_at: UnixSeconds,
    /// The page was kept from an earlier fetch.
    pub cache_hit: bool,
}

impl Facts {
    /// From the JSON members under which a converted page is kept and served. What is missing there
    /// stays unknown.
    pub fn of_members(members: &Value, target_url: &str, cache_hit: bool) -> Facts {
        let page = Members::deserialize(members).unwrap_or_default();
        Facts {
            target_url: target_url.to_owned(),
            final_url: page.final_url,
            http_status: page.http_status,
            content_type: page.content_type,
            content_source: page.content_source,
            metadata: page.metadata.into(),
            links: page.links.into_iter().map(Link::from).collect(),
            warnings: page
                .warnings
                .into_iter()
                .map(|warning| warning.code)
                .collect(),
            source_sha256: page.source_sha256,
            fetched_at: UnixSeconds(page.fetched_at),
            cache_hit,
        }
    }

    /// Of a page that was just converted; what only the fetch knows is left to the caller.
    pub fn of_page(page: &Page, target_url: &str, final_url: &str) -> Facts {
        Facts {
            target_url: target_url.to_owned(),
            final_url: final_url.to_owned(),
            metadata: page.metadata.clone(),
            links: page.links.clone(),
            warnings: page
                .warnings
                .iter()
                .map(|warning| warning.code().to_owned())
                .collect(),
            ..Facts::default()
        }
    }

    /// What a report says of its source: for questions asked of it later.
    pub fn of_report(report: &Report) -> Facts {
        let profile = &report.source_profile;
        Facts {
            target_url: report.target_url.clone(),
            final_url: profile.final_url.clone(),
            http_status: profile.http_status,
            content_type: profile.content_type.clone(),
            content_source: profile.content_source.clone(),
            metadata: Metadata {
                title: profile.title.clone(),
                author: profile.author.clone(),
                site_name: profile.site_name.clone(),
                published_at: profile.published_at.clone(),
                modified_at: profile.modified_at.clone(),
                language: profile.language.clone(),
                canonical_url: profile.canonical_url.clone(),
                ..Metadata::default()
            },
            links: Vec::new(),
            warnings: profile.warnings.clone(),
            source_sha256: profile.source_sha256.clone().unwrap_or_default(),
            fetched_at: UnixSeconds(profile.retrieved_at),
            cache_hit: true,
        }
    }

    pub fn warns(&self, code: &str) -> bool {
        self.warnings.iter().any(|warning| warning == code)
    }

    /// What one owner holds, such as `example.co.uk`; nothing for an address that no policy would let through.
    pub(crate) fn domain(url: &str) -> Option<String> {
        let target = TargetUrl::parse(url).ok()?;
        Some(target.domain().to_owned())
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Members {
    final_url: String,
    http_status: u16,
    content_type: String,
    content_source: String,
    metadata: PageMetadata,
    links: Vec<PageLink>,
    warnings: Vec<PageWarning>,
    source_sha256: String,
    fetched_at: u64,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PageMetadata {
    title: Option<String>,
    description: Option<String>,
    author: Option<String>,
    site_name: Option<String>,
    published_at: Option<String>,
    modified_at: Option<String>,
    language: Option<String>,
    canonical_url: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    json_ld_types: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PageLink {
    text: String,
    url: String,
    rel: String,
}

#[derive(Deserialize)]
struct PageWarning {
    code: String,
}

impl From<PageMetadata> for Metadata {
    fn from(metadata: PageMetadata) -> Metadata {
        Metadata {
            title: metadata.title,
            description: metadata.description,
            author: metadata.author,
            site_name: metadata.site_name,
            published_at: metadata.published_at,
            modified_at: metadata.modified_at,
            language: metadata.language,
            canonical_url: metadata.canonical_url,
            kind: metadata.kind,
            json_ld_types: metadata.json_ld_types,
            ..Metadata::default()
        }
    }
}

impl From<PageLink> for Link {
    fn from(link: PageLink) -> Link {
        Link {
            text: link.text,
            url: link.url,
            rel: link.rel,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::evidence::report::facts::*;

    #[test]
    fn facts_are_read_from_the_kept_members() {
        let members = json!({
            "markdown": "# A",
            "final_url": "https://www.example.com/b",
            "http_status": 200,
            "metadata": {"title": "A", "author": null, "type": "article", "keywords": []},
            "links": [{"text": "x", "url": "https://x.example.org/", "rel": ""}],
            "warnings": [{"code": "paywall", "message": "…"}],
            "fetched_at": 5,
        });
        let facts = Facts::of_members(&members, "https://example.com/a", true);
        assert_eq!(facts.target_url, "https://example.com/a");
        assert_eq!(facts.final_url, "https://www.example.com/b");
        assert_eq!(facts.metadata.title.as_deref(), Some("A"));
        assert_eq!(facts.metadata.kind.as_deref(), Some("article"));
        assert_eq!(facts.links.len(), 1);
        assert!(facts.warns("paywall") && !facts.warns("captcha"));
        assert_eq!(facts.fetched_at, UnixSeconds(5));
    }

    #[test]
    fn a_domain_is_what_one_owner_holds() {
        let domain = |url| Facts::domain(url);
        assert_eq!(
            domain("https://a.b.example.co.uk/x").as_deref(),
            Some("example.co.uk")
        );
        assert_eq!(domain("nonsense"), None);
    }
}
