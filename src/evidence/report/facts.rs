//! What the fetch and the conversion know of a source beside its markdown, in one form for a page that was fetched
//! now and for one that is kept.

use serde::Deserialize;
use serde_json::Value;

use crate::domain::target::TargetUrl;
use crate::domain::time::UnixSeconds;
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
    /// From the JSON members under which a converted page is kept and served (bodies, Context 200). What is missing
    /// there stays unknown.
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
            warnings: page.warnings.into_iter().map(ToldWarning::code).collect(),
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

    /// What a report tells of its source: for questions asked of it later.
    pub fn of_report(report: &Value) -> Facts {
        let profile = &report["source_profile"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let mut facts = Facts::of_members(profile, &text(&report["target_url"]), true);
        facts.metadata = Told::deserialize(profile).unwrap_or_default().into();
        facts.fetched_at = UnixSeconds(profile["retrieved_at"].as_u64().unwrap_or_default());
        facts
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
    metadata: Told,
    links: Vec<ToldLink>,
    warnings: Vec<ToldWarning>,
    #[serde(deserialize_with = "or_default")]
    source_sha256: String,
    fetched_at: u64,
}

/// `null` is as good as absent.
fn or_default<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Told {
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
struct ToldLink {
    text: String,
    url: String,
    rel: String,
}

/// As a page has it, and as a report does.
#[derive(Deserialize)]
#[serde(untagged)]
enum ToldWarning {
    WithMessage { code: String },
    Code(String),
}

impl ToldWarning {
    fn code(self) -> String {
        match self {
            ToldWarning::WithMessage { code } | ToldWarning::Code(code) => code,
        }
    }
}

impl From<Told> for Metadata {
    fn from(told: Told) -> Metadata {
        Metadata {
            title: told.title,
            description: told.description,
            author: told.author,
            site_name: told.site_name,
            published_at: told.published_at,
            modified_at: told.modified_at,
            language: told.language,
            canonical_url: told.canonical_url,
            kind: told.kind,
            json_ld_types: told.json_ld_types,
            ..Metadata::default()
        }
    }
}

impl From<ToldLink> for Link {
    fn from(told: ToldLink) -> Link {
        Link {
            text: told.text,
            url: told.url,
            rel: told.rel,
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
