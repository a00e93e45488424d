//! The context endpoint: buy a page, or probe its price.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::api::buyer::sources;
use crate::app::Shared;
use crate::domain::excerpt::Excerpt;
use crate::domain::level::{Level, PAGES_MAX, PAGES_MIN};
use crate::domain::purchase::{Choices, ContextPurchase, PagesPurchase, Purchase, SourceInput};
use crate::domain::refusal::Refusal;
use crate::domain::render::Render;
use crate::domain::requests::{AccessRequest, AsksForPart, PagesRequest};
use crate::domain::schema::ValidationError;
use crate::domain::tier::Tier;
use crate::domain::time::UnixSeconds;
use crate::flows::content::excerpts;

/// The purchase of one page.
pub fn purchase(app: &Shared, body: &AccessRequest, tier: Tier) -> Result<Purchase, Refusal> {
    let stated = (body.force_refresh, body.render, body.include_comments);
    let choices = choices(stated, tier)?;
    Ok(Purchase::Context(ContextPurchase {
        target_url: sources::canonical_target(app, &body.target_url)?,
        tier,
        choices,
        excerpt: excerpt(body, tier)?,
    }))
}

/// The purchase of several pages.
pub fn pages(app: &Shared, body: &PagesRequest, tier: Tier) -> Result<Purchase, Refusal> {
    let stated = (body.force_refresh, body.render, body.include_comments);
    let choices = choices(stated, tier)?;
    let pages = sources::of_addresses(app, &body.target_urls, "target_urls")?;
    let target_urls = pages.iter().filter_map(SourceInput::target_url);
    let target_urls: Vec<String> = target_urls.map(str::to_owned).collect();
    if !(PAGES_MIN..=PAGES_MAX).contains(&target_urls.len()) {
        let why = format!("{PAGES_MIN} to {PAGES_MAX} pages; for one page send target_url");
        return Err(sources::wrong("target_urls", &why));
    }
    let min_pages = body.min_pages.unwrap_or(target_urls.len());
    if min_pages > target_urls.len() {
        let why = "min_pages is larger than the number of pages";
        return Err(sources::wrong("min_pages", why));
    }
    Ok(Purchase::Pages(PagesPurchase {
        target_urls,
        tier,
        choices,
        min_pages,
        excerpt: excerpt(body, tier)?,
    }))
}

/// How the pages are read, as far as the tier allows it.
fn choices(
    (refresh, render, comments): (Option<bool>, Option<Render>, Option<bool>),
    tier: Tier,
) -> Result<Choices, Refusal> {
    let force_refresh = fetched_for("force_refresh", refresh, tier)?;
    check_render(render, tier)?;
    let comments = fetched_for("include_comments", comments, tier)?;
    Ok(Choices::new(Level::Tier(tier), force_refresh, render).with_comments(comments))
}

/// A flag for which the page has to be fetched.
fn fetched_for(name: &str, stated: Option<bool>, tier: Tier) -> Result<bool, Refusal> {
    let is_set = stated.unwrap_or(false);
    if is_set && !tier.may_fetch() {
        let why = format!("{name} is not supported for the tier {}", tier.name());
        let error = ValidationError::value(&["body", name], why, Some(true.into()));
        return Err(Refusal::validation(vec![error]));
    }
    Ok(is_set)
}

/// Whether the tier can have a page rendered as the buyer asks.
fn check_render(stated: Option<Render>, tier: Tier) -> Result<(), Refusal> {
    if stated == Some(Render::Always) && !tier.may_fetch() {
        let why = format!(
            "render always is not supported for the tier {}",
            tier.name()
        );
        let error = ValidationError::value(&["body", "render"], why, Some("always".into()));
        return Err(Refusal::validation(vec![error]));
    }
    Ok(())
}

/// The part of the page that a request asks for, once its selectors can be read. They need the page's HTML, which only a
/// tier that fetches has.
fn excerpt(body: &impl AsksForPart, tier: Tier) -> Result<Option<Box<Excerpt>>, Refusal> {
    let excerpt = body.excerpt();
    let mut errors = Vec::new();
    let selectors = [
        ("selector", &excerpt.selectors.include),
        ("exclude_selector", &excerpt.selectors.exclude),
    ];
    for (name, selector) in selectors {
        let Some(selector) = selector else { continue };
        let why = match excerpts::check_selector(selector) {
            Err(why) => format!("it is not a usable CSS selector: {why}"),
            Ok(()) if !tier.may_fetch() => {
                format!(
                    "it is not supported for the tier {}, which never fetches",
                    tier.name()
                )
            }
            Ok(()) => continue,
        };
        let input = Some(selector.as_str().into());
        errors.push(ValidationError::value(&["body", name], why, input));
    }
    match errors.is_empty() {
        true => Ok(Some(Box::new(excerpt)).filter(|excerpt| !excerpt.is_whole())),
        false => Err(Refusal::validation(errors)),
    }
}

/// A page as text: its markdown with a YAML front matter.
#[derive(Debug)]
pub struct Text<'a> {
    pub front: String,
    /// The string as serialized in the response.
    pub markdown: &'a RawValue,
}

#[derive(Deserialize)]
struct Answered<'a> {
    #[serde(borrow)]
    markdown: &'a RawValue,
    final_url: Value,
    metadata: Value,
    content_sha256: Value,
    fetched_at: Option<u64>,
}

/// A response as text. The front matter writes strings as JSON, which is valid YAML; missing values are null.
pub fn text(body: &[u8]) -> Option<Text<'_>> {
    let answer: Answered<'_> = serde_json::from_slice(body).ok()?;
    let metadata = &answer.metadata;
    let date = [&metadata["modified_at"], &metadata["published_at"]]
        .into_iter()
        .find(|date| date.is_string());
    let fetched = answer.fetched_at.and_then(|at| UnixSeconds(at).timestamp());
    let fetched = fetched.map_or(Value::Null, |at| Value::from(at.to_string()));
    let lines = [
        ("title", &metadata["title"]),
        ("url", &answer.final_url),
        ("date", date.unwrap_or(&Value::Null)),
        ("fetched", &fetched),
        ("sha256", &answer.content_sha256),
    ];
    let mut front = String::from("---\n");
    for (name, value) in lines {
        front.push_str(&format!("{name}: {value}\n"));
    }
    front.push_str("---\n\n");
    Some(Text {
        front,
        markdown: answer.markdown,
    })
}
