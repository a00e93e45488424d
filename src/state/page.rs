//! A converted page as the JSON members under which it is kept and served: everything in an answer that
//! does not depend on who buys it.

use std::error::Error;
use std::io::{BufReader, Read};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::domain::excerpt::{Extent, Selectors};
use crate::domain::render::RenderNote;
use crate::domain::time::UnixSeconds;
use crate::domain::usage::Usage;
use crate::domain::words;
use crate::markdown::{
    ContentKind, ContentSource, ConvertError, Converter, Narrowing, Page, Settings, WALL_BYTES_MAX,
    Warning, has_text, wall_of_markdown,
};
use crate::outside::clock::thread_time;

/// A page ready to be served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageGoods {
    /// SHA-256 of `members`, their key in the store.
    pub blob: [u8; 32],
    /// The page's JSON members without the braces around them.
    pub members: Arc<Vec<u8>>,
    /// Hex SHA-256 of the markdown.
    pub content_sha256: String,
    pub tokens: u64,
}

impl PageGoods {
    /// Of an object, whose braces belong to the answer that the members become a part of.
    pub(super) fn of(mut object: Vec<u8>, content_sha256: String, tokens: u64) -> PageGoods {
        object.pop();
        object.remove(0);
        PageGoods {
            blob: Sha256::digest(&object).into(),
            members: Arc::new(object),
            content_sha256,
            tokens,
        }
    }

    /// The members as one object.
    pub fn value(&self) -> Result<Value, serde_json::Error> {
        object(&self.members)
    }
}

/// A page of HTML that was not fetched, as one that a site has just answered with.
pub fn unfetched_page(
    url: &str,
    html: &str,
    now: UnixSeconds,
) -> Result<(Page, PageGoods), Box<dyn Error + Send + Sync>> {
    Ok(unfetched(about_html(url), html, None, None, now)?)
}

/// A text of a buyer's own, plain or markdown, as a page. `name` is its URI.
pub fn text_page(
    name: &str,
    title: Option<&str>,
    text: &str,
    now: UnixSeconds,
) -> Result<PageGoods, Box<dyn Error + Send + Sync>> {
    let media_type = "text/markdown; charset=utf-8";
    let about = (name, media_type, ContentKind::Markdown);
    Ok(unfetched(about, text, title, None, now)?.1)
}

/// What is to be read of a page of HTML that was not fetched.
pub fn selected_page(
    url: &str,
    html: &str,
    extent: &Extent,
    now: UnixSeconds,
) -> Result<PageGoods, Unfetched> {
    Ok(unfetched(about_html(url), html, None, Some(extent), now)?.1)
}

/// Why a page that was not fetched could not be made.
#[derive(Debug)]
pub enum Unfetched {
    Convert(ConvertError),
    Other(String),
}

impl From<Unfetched> for Box<dyn Error + Send + Sync> {
    fn from(error: Unfetched) -> Self {
        match error {
            Unfetched::Convert(error) => error.into(),
            Unfetched::Other(error) => error.into(),
        }
    }
}

fn about_html(url: &str) -> (&str, &str, ContentKind) {
    (url, "text/html; charset=utf-8", ContentKind::Html)
}

fn unfetched(
    (url, content_type, kind): (&str, &str, ContentKind),
    text: &str,
    title: Option<&str>,
    extent: Option<&Extent>,
    now: UnixSeconds,
) -> Result<(Page, PageGoods), Unfetched> {
    let other = |error: &dyn std::fmt::Display| Unfetched::Other(error.to_string());
    let mut converter = Converter::new(Settings {
        kind,
        url: (url.parse()).map_err(|error: url::ParseError| other(&error))?,
        charset: Some("utf-8".to_owned()),
        full: false,
    })
    .timed(thread_time);
    if let Some(Extent {
        selectors,
        comments,
    }) = extent
    {
        let Selectors { include, exclude } = selectors;
        let narrowing = Narrowing::new(include.as_deref(), exclude.as_deref());
        converter = converter.narrowed(narrowing.map_err(Unfetched::Other)?);
        if *comments {
            converter.include_comments();
        }
    }
    let text_bytes = converter.push(text.as_bytes());
    let page = text_bytes.and_then(|()| converter.finish());
    let mut page = page.map_err(Unfetched::Convert)?;
    if let Some(title) = title {
        page.metadata.title = Some(title.to_owned());
    }
    let facts = PageFacts {
        final_url: url,
        status: 200,
        content_type,
        kind,
        source_sha256: Sha256::digest(text).into(),
        bytes_fetched: text.len() as u64,
        fetch_time: Duration::ZERO,
        extract_time: Duration::ZERO,
        usage: &Usage::default(),
        fetched_at: now,
        render: None,
    };
    let goods = page_goods(&page, &facts).map_err(|error| other(&error))?;
    Ok((page, goods))
}

/// No wall has more tokens: markdown of more characters is not looked at.
pub const JUDGED_TOKENS_MAX: u64 = (WALL_BYTES_MAX / 4) as u64;

/// Why a page must not be sold, by its JSON members: it has no text, or it is a wall.
pub(super) fn unsellable(
    tokens: u64,
    members: &[u8],
) -> Result<Option<ConvertError>, serde_json::Error> {
    if tokens == 0 {
        return Ok(Some(ConvertError::Empty));
    }
    if tokens > JUDGED_TOKENS_MAX {
        return Ok(None);
    }
    let page: Judged = serde_json::from_reader(braced(members))?;
    if !has_text(&page.markdown) {
        return Ok(Some(ConvertError::Empty));
    }
    // Never more than was judged of the whole page when it was fetched.
    let has_content =
        page.metadata.published_at.is_some() || !page.metadata.json_ld_types.is_empty();
    let wall = (!has_content)
        .then(|| wall_of_markdown(page.metadata.title.as_deref(), &page.markdown))
        .flatten();
    Ok(wall.map(ConvertError::Walled))
}

/// What of a page tells whether it may be sold.
#[derive(Deserialize)]
struct Judged {
    markdown: String,
    #[serde(default)]
    metadata: JudgedMetadata,
}

#[derive(Default, Deserialize)]
struct JudgedMetadata {
    title: Option<String>,
    published_at: Option<String>,
    #[serde(default)]
    json_ld_types: Vec<String>,
}

/// Members as one object. They are not copied for their braces: there may be many.
pub fn object(members: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_reader(braced(members))
}

fn braced(members: &[u8]) -> impl Read + '_ {
    BufReader::new((&b"{"[..]).chain(members).chain(&b"}"[..]))
}

/// What is known of a page beside its conversion.
#[derive(Clone, Copy, Debug)]
pub struct PageFacts<'a> {
    pub final_url: &'a str,
    pub status: u16,
    pub content_type: &'a str,
    pub kind: ContentKind,
    pub source_sha256: [u8; 32],
    pub bytes_fetched: u64,
    pub fetch_time: Duration,
    pub extract_time: Duration,
    /// What the site says about the page's use outside of it.
    pub usage: &'a Usage,
    pub fetched_at: UnixSeconds,
    /// Where a browser was asked for the page.
    pub render: Option<RenderFacts>,
}

/// What came of asking a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenderFacts {
    /// Whether the markdown is of the page as the browser shows it.
    pub rendered: bool,
    pub render_ms: u64,
    pub note: Option<RenderNote>,
}

/// The page's part of an answer: everything that does not depend on who buys it.
#[derive(Serialize)]
struct Members<'a> {
    /// First, so that a cached page's first bytes tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    rendered: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    render_ms: Option<u64>,
    markdown: &'a str,
    final_url: &'a str,
    http_status: u16,
    content_type: &'a str,
    content_source: &'static str,
    extraction: Value,
    metadata: Value,
    links: Vec<Value>,
    headings: Vec<Value>,
    stats: Value,
    content_sha256: &'a str,
    source_sha256: String,
    fetched_at: u64,
    warnings: Vec<Value>,
    policy: Value,
}

/// About how many tokens a text is to a language model.
pub fn tokens(markdown: &str) -> u64 {
    markdown.chars().count().div_ceil(4) as u64
}

/// Writes a page as the JSON members under which it is kept and served.
pub fn page_goods(page: &Page, facts: &PageFacts<'_>) -> Result<PageGoods, serde_json::Error> {
    let tokens = tokens(&page.markdown);
    let content_sha256 = hex::encode(Sha256::digest(&page.markdown));
    let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let members = serde_json::to_vec(&Members {
        rendered: facts.render.map(|render| render.rendered),
        render_ms: facts.render.map(|render| render.render_ms),
        markdown: &page.markdown,
        final_url: facts.final_url,
        http_status: facts.status,
        content_type: facts.content_type,
        content_source: content_source(page.source, facts.kind),
        extraction: extraction(page),
        metadata: metadata(page),
        links: page
            .links
            .iter()
            .map(|link| json!({"text": link.text, "url": link.url, "rel": link.rel}))
            .collect(),
        headings: page
            .headings
            .iter()
            .map(|heading| json!({"level": heading.level, "text": heading.text}))
            .collect(),
        stats: json!({
            "word_count": words::count(&page.markdown),
            "token_count": tokens,
            "token_method": "approx_chars_div_4",
            "bytes_fetched": facts.bytes_fetched,
            "markdown_bytes": page.markdown.len(),
            "fetch_ms": milliseconds(facts.fetch_time),
            "extract_ms": milliseconds(facts.extract_time),
        }),
        content_sha256: &content_sha256,
        source_sha256: hex::encode(facts.source_sha256),
        fetched_at: facts.fetched_at.0,
        warnings: warnings(page, facts),
        policy: policy(page, facts.usage),
    })?;
    Ok(PageGoods::of(members, content_sha256, tokens))
}

/// How well the content was probably separated from the rest of the page: the expected word F1, to two decimal places.
fn extraction(page: &Page) -> Value {
    let confidence = page
        .confidence
        .map(|share| f64::from((share * 100.0).round()) / 100.0);
    json!({"confidence": confidence})
}

fn metadata(page: &Page) -> Value {
    let metadata = &page.metadata;
    json!({
        "title": metadata.title,
        "description": metadata.description,
        "author": metadata.author,
        "site_name": metadata.site_name,
        "published_at": metadata.published_at,
        "modified_at": metadata.modified_at,
        "language": metadata.language,
        "canonical_url": metadata.canonical_url,
        "image": metadata.image,
        "favicon": metadata.favicon,
        "type": metadata.kind,
        "keywords": metadata.keywords,
        "next": metadata.next,
        "previous": metadata.previous,
        "markdown_alternate": metadata.markdown_alternate,
        "json_ld_types": metadata.json_ld_types,
    })
}

/// What the markdown was made from.
fn content_source(source: ContentSource, kind: ContentKind) -> &'static str {
    match (source, kind) {
        (ContentSource::JsonLd, _) => "json_ld_fallback",
        (ContentSource::Noscript, _) => "noscript_fallback",
        (ContentSource::AppState, _) => "app_state_fallback",
        (ContentSource::Description, _) => "description_fallback",
        (ContentSource::Page, kind) => kind.row().source,
    }
}

fn warnings(page: &Page, facts: &PageFacts<'_>) -> Vec<Value> {
    let refuses_ai = facts.usage.refuses_ai(&page.meta_robots);
    let noai = refuses_ai.then_some(Warning::NoaiSignal);
    let all = page.warnings.iter().copied().chain(noai);
    let all = all.map(|warning| (warning.code(), warning.message()));
    let render = facts.render.and_then(|render| render.note);
    let all = all.chain(render.map(|note| (note.code(), note.message())));
    all.map(|(code, message)| json!({"code": code, "message": message}))
        .collect()
}

/// What the site says about the page's use: its robots.txt, the response's headers, the page's meta tags.
fn policy(page: &Page, usage: &Usage) -> Value {
    let signals = usage.signals;
    json!({
        "robots": usage.robots.name(),
        "content_signal": {
            "ai_input": signals.ai_input.name(),
            "ai_train": signals.ai_train.name(),
            "search": signals.search.name(),
        },
        "meta_robots": usage.directives_with(&page.meta_robots),
    })
}
