//! Opens a page in the browser where its plain text is too little, and takes whichever text is longer. A browser that is off,
//! slow or broken stops no sale of a page that can be read without one.

use std::io;
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use serde::Deserialize;
use sha2::{Digest, Sha256};
use tokio::task::JoinHandle;

use crate::app::{App, Shared};
use crate::domain::cache::Reading;
use crate::domain::code::Code;
use crate::domain::excerpt::{Extent, Selectors};
use crate::domain::payment::Means;
use crate::domain::purchase::Purchase;
use crate::domain::refusal::Refusal;
use crate::domain::render::{PlainPage, Render, RenderNote};
use crate::domain::target::TargetUrl;
use crate::domain::words;
use crate::flows::content::MEMORY_WAIT_MAX;
use crate::markdown::{
    ContentKind, ConvertError, Converter, Narrowing, Page, Settings, Wall, Warning, has_text,
};
use crate::outside::clock::thread_time;
use crate::outside::memory::MemoryPermit;
use crate::outside::network::Requester;
use crate::outside::render::job::{FailureKind, ScreenshotJob, Settled};
use crate::outside::render::{RenderError, Rendered, Renderer};
use crate::outside::web::{Conversion, FetchedPage};
use crate::state::page::RenderFacts;

/// Memory to convert a rendered page per byte of it: its HTML, and what conversion takes.
const CONVERTING_FACTOR: usize = 5;
/// Pages of more bytes are not judged again when they are cached: they are no pages with little text.
const JUDGED_BYTES_MAX: usize = 64 * 1024;
/// How long the address at which a page ended may take to be looked up.
const CLEAR_TIME_MAX: Duration = Duration::from_secs(5);

/// What came of a try to render a page.
#[derive(Debug)]
pub struct Attempt {
    pub facts: RenderFacts,
    /// The buyer's selector matches nothing of what the browser shows.
    pub is_unmatched: bool,
    pub error: Option<RenderError>,
}

/// Opens the way for the browser's traffic, and tries the browser. Sales do not wait for it.
///
/// # Errors
/// The socket cannot be bound.
pub fn open(app: &Shared, egress: Option<UnixListener>) -> io::Result<Vec<JoinHandle<()>>> {
    let Some(renderer) = app.outside.renderer.clone() else {
        return Ok(Vec::new());
    };
    let unit = app
        .config
        .render
        .as_ref()
        .and_then(|render| render.unit.as_ref());
    let guard = renderer.start(egress, unit.map(|unit| unit.egress_socket.as_path()))?;
    Ok(vec![guard, tokio::spawn(watch(app.clone(), renderer))])
}

/// How often the browser is tried that did not work, or that nobody has used for so long.
const CHECK_EVERY: Duration = Duration::from_secs(600);

async fn watch(app: Shared, renderer: Renderer) {
    loop {
        let trouble = match renderer.check().await {
            Ok(facts) => {
                app.health.note_browser(&facts.browser);
                None
            }
            // It works for others.
            Err(RenderError::Busy) => None,
            Err(error) => {
                tracing::warn!(reason = %error, "the browser does not work; pages are read without it");
                Some(error.to_string())
            }
        };
        app.health.note_renderer(app.now(), trouble);
        tokio::time::sleep(CHECK_EVERY).await;
    }
}

/// Whether a purchase may open a browser.
pub fn may_render(app: &Shared, render: Render) -> bool {
    app.outside.renderer.is_some() && render != Render::Never
}

/// Refuses a new purchase that needs a browser where there is none. What was sold before is given out all the same.
///
/// # Errors
/// There is no browser.
pub fn check_available(app: &App, purchase: &Purchase, means: Means) -> Result<(), Refusal> {
    let Some(advice) = without_browser(app, purchase) else {
        return Ok(());
    };
    let message = format!("This service has no browser. {}: {advice}.", means.unused());
    Err(Refusal::new(Code::RenderUnavailable, message))
}

/// What to change of a purchase that needs a browser where there is none.
pub fn without_browser(app: &App, purchase: &Purchase) -> Option<&'static str> {
    match (purchase.stated_render(), purchase.has_screenshot()) {
        _ if app.outside.renderer.is_some() => None,
        (Some(Render::Always), _) => Some("leave `render` out to read the page without one"),
        (_, true) => Some("leave `screenshot` out to buy the report without a picture"),
        _ => None,
    }
}

/// The same of a purchase whose payment a retry credit holds: its request cannot be changed any more. A report is made
/// without its picture, and says so.
///
/// # Errors
/// There is no browser, and the page was to be read with one.
pub fn check_still_available(app: &App, purchase: &Purchase) -> Result<(), Refusal> {
    if app.outside.renderer.is_some() || purchase.stated_render() != Some(Render::Always) {
        return Ok(());
    }
    let message = "This service has no browser now. Nothing was charged and no attempt of the credit was used: redeem it \
        later, or send a new request without `render` to read the page without a browser.";
    Err(Refusal::new(Code::RenderUnavailable, message))
}

/// How long rendering may make a purchase take.
pub fn time_max(app: &App, render: Render) -> Duration {
    let renderer = app.outside.renderer.as_ref();
    let renderer = renderer.filter(|_| render != Render::Never);
    renderer.map_or(Duration::ZERO, Renderer::time_max)
}

/// Whether a cached page will do: not if the same purchase would have a fresh one rendered, and this one was not.
pub fn suits(app: &Shared, reading: &Reading, members: &[u8]) -> bool {
    if !reading.cache.may_fetch() || !may_render(app, reading.render) {
        return true;
    }
    // They are a page's first members where a browser was asked.
    let was_asked = members.starts_with(b"\"rendered\":");
    match reading.render {
        Render::Never => true,
        Render::Always => was_asked,
        Render::Auto => was_asked || !has_little(members),
    }
}

/// The members of a cached page that [`PlainPage`] is about.
#[derive(Deserialize)]
struct Judged {
    content_source: String,
    stats: Stats,
    warnings: Vec<Coded>,
}

#[derive(Deserialize)]
struct Stats {
    word_count: u64,
}

#[derive(Deserialize)]
struct Coded {
    code: String,
}

fn has_little(members: &[u8]) -> bool {
    if members.len() > JUDGED_BYTES_MAX {
        return false;
    }
    let object = [b"{", members, b"}"].concat();
    let Ok(page) = serde_json::from_slice::<Judged>(&object) else {
        return false;
    };
    let warns = |warning: Warning| {
        page.warnings
            .iter()
            .any(|known| known.code == warning.code())
    };
    let kinds = [
        "html",
        "json_ld_fallback",
        "noscript_fallback",
        "app_state_fallback",
        "description_fallback",
    ];
    let plain = PlainPage {
        is_html: kinds.contains(&page.content_source.as_str()),
        words: page.stats.word_count,
        is_empty: false,
        is_thin: warns(Warning::ThinContent),
        asks_for_scripts: warns(Warning::JsRequired),
        is_barred: [Warning::Captcha, Warning::LoginWall, Warning::Paywall]
            .into_iter()
            .any(warns),
    };
    plain.calls_for_rendering()
}

/// What the plain page, or the part of it that was asked for, says about itself.
pub fn plain(page: &Page, kind: ContentKind, is_part: bool) -> PlainPage {
    let warns = |warning| page.warnings.contains(&warning);
    let asks_only_for_scripts = page.wall == Some(Wall::Scripts);
    PlainPage {
        is_html: kind == ContentKind::Html,
        words: words::count(&page.markdown) as u64,
        is_empty: asks_only_for_scripts || !has_text(&page.markdown),
        // Of a part, being short says nothing.
        is_thin: !is_part && warns(Warning::ThinContent),
        asks_for_scripts: !is_part && warns(Warning::JsRequired),
        is_barred: (page.wall.is_some() && !asks_only_for_scripts)
            || [Warning::Captcha, Warning::LoginWall, Warning::Paywall]
                .into_iter()
                .any(warns),
    }
}

/// Renders a fetched page if the purchase asks for it and the page needs it. `None` if it was not tried; else the page is
/// what the browser shows, where that has more text.
pub async fn improve(
    app: &Shared,
    fetched: &mut FetchedPage,
    permit: &mut MemoryPermit,
    (render, extent): (Render, &Extent),
    payer: &str,
) -> Option<Attempt> {
    let plain = plain(&fetched.page, fetched.kind, !extent.selectors.is_nothing());
    if !may_render(app, render) || !plain.is_rendered(render) {
        return None;
    }
    let began = Instant::now();
    let outcome = open_page(app, &fetched.final_url, payer, None).await;
    let outcome = match outcome {
        Ok((page, target)) => convert(app, page, (target, extent), permit).await,
        Err(error) => Err(error),
    };
    let elapsed = note(app, outcome.as_ref().map(drop), began);
    let is_unmatched = outcome.as_ref().is_ok_and(|shown| shown.is_unmatched);
    let attempt = |rendered, render_ms, note, error| Attempt {
        facts: RenderFacts {
            rendered,
            render_ms,
            note,
        },
        is_unmatched,
        error,
    };
    Some(match outcome {
        Ok(shown) => {
            let (note, render_ms) = (shown.note, shown.render_ms);
            let is_better = shown.page.wall.is_none()
                && characters(&shown.page.markdown) > characters(&fetched.page.markdown);
            if is_better {
                shown.replace(fetched);
            } else {
                // Its scripts were run, and gave no more.
                fetched
                    .page
                    .warnings
                    .retain(|warning| *warning != Warning::JsRequired);
            }
            attempt(is_better, render_ms, note.filter(|_| is_better), None)
        }
        Err(error) => {
            let note = match error.is_ours() {
                true => RenderNote::Unavailable,
                false => RenderNote::Failed,
            };
            attempt(false, elapsed, Some(note), Some(error))
        }
    })
}

/// Counts a render and the milliseconds it took, and tells the health what its outcome says about the browser.
pub fn note(app: &App, outcome: Result<(), &RenderError>, began: Instant) -> u64 {
    let elapsed = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    app.metrics.render_milliseconds.add([], elapsed);
    match outcome {
        Ok(()) => {
            app.metrics.renders.count(["rendered"]);
            app.health.note_renderer(app.now(), None);
        }
        Err(error) => {
            app.metrics.renders.count([error.outcome()]);
            if let RenderError::Unavailable(text) = error {
                tracing::warn!(reason = text, "a page could not be rendered");
                app.health.note_renderer(app.now(), Some(text.clone()));
            } else {
                tracing::info!(reason = %error, "a page could not be rendered");
            }
        }
    }
    elapsed
}

fn characters(markdown: &str) -> usize {
    markdown.chars().filter(|c| !c.is_whitespace()).count()
}

/// The page as the browser shows it, and the address at which it ended. Both addresses are cleared like any target.
pub async fn open_page(
    app: &Shared,
    url: &TargetUrl,
    payer: &str,
    screenshot: Option<ScreenshotJob>,
) -> Result<(Rendered, TargetUrl), RenderError> {
    let outside = &app.outside;
    let renderer = outside.renderer.as_ref();
    let renderer = renderer.ok_or_else(|| RenderError::Unavailable("no browser".to_owned()))?;
    let domain = url.domain();
    let of_domain = outside.fetches_of_domain.place(domain).await;
    let _of_domain = of_domain.map_err(|_| RenderError::Busy)?;
    let failed = |kind, detail: String| RenderError::Failed { kind, detail };
    let refused = |error: &dyn std::fmt::Display| failed(FailureKind::Refused, error.to_string());
    let deadline = || Instant::now() + CLEAR_TIME_MAX;
    let cleared = outside
        .web
        .clear_for(Requester::Buyer, url, deadline())
        .await;
    let cleared = cleared.map_err(|error| refused(&error))?;
    let page = renderer.render(&cleared, payer, screenshot).await?;
    app.metrics.render_refused.add([], u64::from(page.refused));
    if !matches!(page.facts.status, 200 | 203) {
        let detail = format!("the site answered the browser with {}", page.facts.status);
        return Err(failed(FailureKind::NotOpened, detail));
    }
    let last = TargetUrl::parse(&page.facts.final_url).map_err(|error| refused(&error))?;
    let cleared = outside
        .web
        .clear_for(Requester::Buyer, &last, deadline())
        .await;
    cleared.map_err(|error| refused(&error))?;
    Ok((page, last))
}

/// A page as the browser shows it, converted.
struct RenderedPage {
    page: Page,
    is_unmatched: bool,
    final_url: TargetUrl,
    source_sha256: [u8; 32],
    bytes: u64,
    render_ms: u64,
    extract_ms: u64,
    note: Option<RenderNote>,
}

async fn convert(
    app: &Shared,
    rendered: Rendered,
    (final_url, extent): (TargetUrl, &Extent),
    permit: &mut MemoryPermit,
) -> Result<RenderedPage, RenderError> {
    let permitted = permit.resized(CONVERTING_FACTOR * rendered.html.len(), MEMORY_WAIT_MAX);
    permitted.await.map_err(|_| RenderError::Busy)?;
    let failed = |detail: String| RenderError::Failed {
        kind: FailureKind::NotOpened,
        detail,
    };
    let comments = extent.comments;
    let narrowing = match extent.selectors.is_nothing() {
        true => None,
        false => {
            let Selectors { include, exclude } = &extent.selectors;
            let narrowing = Narrowing::new(include.as_deref(), exclude.as_deref());
            Some(narrowing.map_err(failed)?)
        }
    };
    let converting = app.outside.fetches.run(move || {
        let mut conversion = Conversion::of(final_url.host(), ContentKind::Html);
        conversion.bytes = rendered.html.len();
        let mut converter = Converter::new(Settings {
            kind: ContentKind::Html,
            url: final_url.url().clone(),
            charset: Some("utf-8".to_owned()),
            full: false,
        })
        .timed(thread_time);
        if let Some(narrowing) = narrowing {
            converter = converter.narrowed(narrowing);
        }
        if comments {
            converter.include_comments();
        }
        let converted = conversion.run(|| {
            let pushed = converter.push(&rendered.html);
            pushed.and_then(|()| converter.finish())
        });
        let is_unmatched = matches!(converted, Err(ConvertError::SelectorUnmatched));
        let page = match converted {
            Ok(page) => page,
            // Then the plain page is better.
            Err(ConvertError::Empty | ConvertError::SelectorUnmatched) => Page::default(),
            Err(error) => {
                return Err(RenderError::Failed {
                    kind: FailureKind::NotOpened,
                    detail: error.to_string(),
                });
            }
        };
        let is_whole = !rendered.facts.is_cut && rendered.facts.settled != Settled::Deadline;
        Ok(RenderedPage {
            page,
            is_unmatched,
            final_url,
            source_sha256: Sha256::digest(&rendered.html).into(),
            bytes: rendered.html.len() as u64,
            render_ms: rendered.render_ms,
            extract_ms: conversion.elapsed_ms(),
            note: (!is_whole).then_some(RenderNote::Incomplete),
        })
    });
    converting.await.unwrap_or(Err(RenderError::Busy))
}

impl RenderedPage {
    /// Takes the plain page's place. What the site said about its use stays: it said so in its headers.
    fn replace(mut self, fetched: &mut FetchedPage) {
        let known = std::mem::take(&mut fetched.page.meta_robots);
        for directive in known {
            if !self.page.meta_robots.contains(&directive) {
                self.page.meta_robots.push(directive);
            }
        }
        fetched.page = self.page;
        fetched.final_url = self.final_url;
        fetched.source_sha256 = self.source_sha256;
        fetched.bytes_fetched = self.bytes;
        fetched.extract_ms = self.extract_ms;
        // They are of the page without what its scripts load, which may change while it does not.
        fetched.etag = None;
        fetched.last_modified = None;
    }
}
