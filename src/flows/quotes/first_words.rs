//! The first words of a page for free, so that a buyer sees what the converter makes of it. Cached pages and a small
//! number of fetches a day; a site whose robots.txt refuses programs is left alone.

use std::net::IpAddr;

use crate::app::Shared;
use crate::domain::cache::{CachePolicy, Reading};
use crate::domain::code::Code;
use crate::domain::refusal::Refusal;
use crate::domain::render::Render;
use crate::domain::robots::Permission;
use crate::domain::target::TargetUrl;
use crate::domain::time::PAGE_SECONDS;
use crate::domain::words;
use crate::flows::content::robots;
use crate::flows::content::source::{self, Reader, Trouble};
use crate::flows::internal;
use crate::flows::quotes::quote::{self, Inspected};

/// Words that are shown of a page.
pub const WORDS_MAX: usize = 300;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstWords {
    /// Canonical.
    pub target_url: String,
    pub title: Option<String>,
    /// The beginning of the markdown.
    pub markdown: String,
    /// Words of the whole page.
    pub word_count: usize,
}

/// `client` is `None` for the operator.
pub async fn first_words(
    app: &Shared,
    target_url: &str,
    client: Option<IpAddr>,
) -> Result<FirstWords, Refusal> {
    let found = quote::inspect(app, target_url, client).await?;
    let is_ready = found.is_cached || found.is_sample;
    let (day, quota) = (app.now().day_number(), app.reloaded().limits.free_fetches);
    // First: asking for robots.txt is a fetch too.
    if !is_ready && !app.free_fetches.take(client, day, quota) {
        return Err(Refusal::new(Code::RateLimited, NO_MORE));
    }
    let words = words_of(app, found, client).await;
    if !is_ready && words.is_err() {
        app.free_fetches.give_back(client, day, quota);
    }
    words
}

async fn words_of(
    app: &Shared,
    found: Inspected,
    client: Option<IpAddr>,
) -> Result<FirstWords, Refusal> {
    let is_ready = found.is_cached || found.is_sample;
    // Also a cached page: a buyer may have it fetched, but the site asks that it is not shown for nothing.
    if !found.is_sample {
        check_robots(app, &found.target_url).await?;
    }
    let reading = Reading {
        cache: match is_ready {
            true => CachePolicy::CacheOnly { sample: true },
            false => CachePolicy::UpTo {
                age_seconds: PAGE_SECONDS,
            },
        },
        refresh: false,
        // Nobody pays for it.
        render: Render::Never,
    };
    let holder = client.map_or_else(|| "operator".to_owned(), |client| client.to_string());
    let read = source::read(app, &found.target_url, reading, &Reader::of(app, &holder)).await;
    let read = read.map_err(Trouble::into_refusal)?;
    let members = read.page.value();
    let members = members.map_err(|error| internal("a page cannot be read as JSON", &error))?;
    let markdown = members["markdown"].as_str().unwrap_or_default();
    Ok(FirstWords {
        target_url: found.target_url,
        title: members["metadata"]["title"].as_str().map(str::to_owned),
        markdown: words::first_blocks(markdown, WORDS_MAX).to_owned(),
        word_count: words::count(markdown),
    })
}

const NO_MORE: &str = "No more free previews today: only cached pages are shown until tomorrow (UTC). You can still buy the page.";

async fn check_robots(app: &Shared, target_url: &str) -> Result<(), Refusal> {
    let Ok(target) = TargetUrl::parse(target_url) else {
        return Ok(());
    };
    match robots::permission(app, &target).await {
        Permission::Disallowed => Err(Refusal::new(
            Code::TargetBlocked,
            "The site's robots.txt asks programs not to read this page, so there is no free preview of it.",
        )),
        _ => Ok(()),
    }
}
