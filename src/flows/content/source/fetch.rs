//! Fetches a page in its payer's and its domain's turn, has it rendered where its text needs scripts, and makes goods of it.

use std::time::{Duration, Instant};

use crate::app::Shared;
use crate::domain::excerpt::Extent;
use crate::domain::limit_reached::LimitReached;
use crate::domain::render::Render;
use crate::domain::target::TargetUrl;
use crate::domain::usage::Usage;
use crate::flows::content::MEMORY_WAIT_MAX;
use crate::flows::content::rendering::{self, Attempt};
use crate::flows::content::robots;
use crate::flows::content::source::cached::{CachedPage, kept_source};
use crate::flows::content::source::trouble::render_trouble;
use crate::flows::content::source::{
    CacheFacts, Reader, STORING_FACTOR, SourcePage, Storing, Trouble, fetch_trouble,
};
use crate::markdown::{ConvertError, has_text};
use crate::outside::memory::MemoryPermit;
use crate::outside::network::Requester;
use crate::outside::web::{FetchError, FetchOptions, Fetched, FetchedPage};
use crate::state::page::{PageFacts, RenderFacts, page_goods};
use crate::store::PageRecord;

pub(super) async fn fetch(
    app: &Shared,
    target: TargetUrl,
    kept: Option<CachedPage>,
    (revalidates, render, extent): (bool, Render, &Extent),
    reader: &Reader,
) -> Result<SourcePage, Trouble> {
    let cached = kept.as_ref().map(|kept| &kept.record);
    let record = cached.filter(|_| revalidates);
    let options = FetchOptions {
        full: false,
        keeps_empty: rendering::may_render(app, render),
        extent: extent.clone(),
        if_none_match: record.and_then(|record| record.etag.clone()),
        if_modified_since: record.and_then(|record| record.last_modified.clone()),
        deadline: Instant::now() + app.config.fetch.time_max,
    };
    let fetched = fetch_in_turn(app, target, options, reader).await;
    let (fetched, attempt) = rendered(app, fetched, (render, extent), reader).await;
    // With a browser, a page of which nothing is selected was kept until it was asked.
    let is_unmatched = match &attempt {
        Some(attempt) => attempt.is_unmatched,
        None => !extent.selectors.is_nothing(),
    };
    let fetched = match (fetched.and_then(without_wall), &attempt) {
        (Err(FetchError::Convert(ConvertError::Empty)), _) if is_unmatched => {
            Err(FetchError::Convert(ConvertError::SelectorUnmatched))
        }
        (Err(error @ FetchError::Convert(_)), Some(attempt)) => {
            let trouble = render_trouble(attempt);
            return Err(trouble.unwrap_or_else(|| fetch_trouble(&error)));
        }
        (fetched, _) => fetched,
    };
    match (fetched, kept) {
        (Ok((Fetched::Page(mut page), permit, asked)), kept) => {
            app.metrics.fetches.count(["page"]);
            let usage = std::mem::take(&mut page.usage);
            let usage = robots::complete(app, usage, asked, &page.final_url).await;
            let earlier = kept.as_ref().map(|kept| &kept.record);
            let render = attempt.map(|attempt| attempt.facts);
            fetched_source(app, *page, permit, &usage, render, earlier).await
        }
        (Ok((Fetched::NotModified { may_be_shared }, ..)), Some(kept)) => {
            app.metrics.fetches.count(["not_modified"]);
            let mut source = kept_source(app, kept, reader).await?;
            let fetched_at = app.now();
            source.cache = CacheFacts {
                hit: true,
                revalidated: true,
                stored_at: fetched_at,
                changed_since_last: Some(false),
                is_shared: may_be_shared,
            };
            source.storing = match may_be_shared {
                true => Storing::Unchanged { fetched_at },
                false => Storing::Unshared,
            };
            Ok(source)
        }
        (Ok((Fetched::NotModified { .. }, ..)), None) => Err(fetch_trouble(&FetchError::Protocol)),
        (Err(error), _) => {
            app.metrics.fetches.count([if error.is_transient() {
                "outage"
            } else {
                "refused"
            }]);
            Err(fetch_trouble(&error))
        }
    }
}

type FetchedInTurn = (Fetched, MemoryPermit, robots::PendingRobots);

/// The same after the browser, where it was asked.
async fn rendered(
    app: &Shared,
    fetched: Result<FetchedInTurn, FetchError>,
    how: (Render, &Extent),
    reader: &Reader,
) -> (Result<FetchedInTurn, FetchError>, Option<Attempt>) {
    match fetched {
        Ok((Fetched::Page(mut page), mut permit, asked)) => {
            let attempt = rendering::improve(app, &mut page, &mut permit, how, &reader.payer).await;
            (Ok((Fetched::Page(page), permit, asked)), attempt)
        }
        other => (other, None),
    }
}

/// Refuses a wall, and a page without text; judged with the page's markup, which the cache does not store.
fn without_wall((fetched, permit, asked): FetchedInTurn) -> Result<FetchedInTurn, FetchError> {
    let unsold = match &fetched {
        Fetched::Page(fetched) => match fetched.page.wall {
            Some(wall) => Some(ConvertError::Walled(wall)),
            None => (!has_text(&fetched.page.markdown)).then_some(ConvertError::Empty),
        },
        Fetched::NotModified { .. } => None,
    };
    match unsold {
        Some(error) => Err(FetchError::Convert(error)),
        None => Ok((fetched, permit, asked)),
    }
}

/// The payer's limit first, then the domain's, then a permit: requests that wait for a limit hold no permit.
async fn fetch_in_turn(
    app: &Shared,
    target: TargetUrl,
    options: FetchOptions,
    reader: &Reader,
) -> Result<FetchedInTurn, FetchError> {
    let outside = &app.outside;
    let full = |_| FetchError::Overloaded;
    let _of_payer = outside
        .fetches_of_payer
        .place(&reader.payer)
        .await
        .map_err(full)?;
    let _of_domain = outside
        .fetches_of_domain
        .place(target.domain())
        .await
        .map_err(full)?;
    // Before a permit is taken: a name whose servers do not respond must not block other fetches.
    let (web, deadline) = (outside.web.clone(), options.deadline);
    let cleared = web.clear_for(Requester::Buyer, &target, deadline).await?;
    let asked = robots::ask(app, &target);
    let mut permit = reader.memory.nothing();
    // Before it begins: one that gets stuck, or ends the process, has no other line.
    let host = target.host().to_owned();
    let fetching = outside.fetches.run(move || {
        tracing::info!(host, "fetching a page");
        let fetched = web.fetch(cleared, &options, &mut permit)?;
        Ok((fetched, permit))
    });
    let (fetched, permit) = fetching.await.unwrap_or(Err(FetchError::Overloaded))?;
    Ok((fetched, permit, asked))
}

async fn fetched_source(
    app: &Shared,
    fetched: FetchedPage,
    mut permit: MemoryPermit,
    usage: &Usage,
    render: Option<RenderFacts>,
    kept: Option<&PageRecord>,
) -> Result<SourcePage, Trouble> {
    let now = app.now();
    if let Some(confidence) = fetched.page.confidence {
        app.metrics.extraction(confidence);
    }
    let page = page_goods(
        &fetched.page,
        &PageFacts {
            final_url: fetched.final_url.as_str(),
            status: fetched.status,
            content_type: &fetched.content_type,
            kind: fetched.kind,
            source_sha256: fetched.source_sha256,
            bytes_fetched: fetched.bytes_fetched,
            fetch_time: Duration::from_millis(fetched.fetch_ms),
            extract_time: Duration::from_millis(fetched.extract_ms),
            usage,
            fetched_at: now,
            render,
        },
    )
    .map_err(|error| {
        Trouble::Refused(crate::flows::internal(
            "a page could not be written as JSON",
            &error,
        ))
    })?;
    let record = PageRecord {
        blob: page.blob,
        blob_bytes: page.members.len() as u64,
        content_sha256: page.content_sha256.clone(),
        tokens: page.tokens,
        title: fetched.page.metadata.title,
        fetched_at: now.0,
        etag: fetched.etag,
        last_modified: fetched.last_modified,
    };
    let permitted = permit.resized(STORING_FACTOR * page.members.len(), MEMORY_WAIT_MAX);
    permitted
        .await
        .map_err(|LimitReached| fetch_trouble(&FetchError::Overloaded))?;
    let changed_since_last = kept.map(|kept| kept.content_sha256 != page.content_sha256);
    let cache = CacheFacts {
        hit: false,
        revalidated: false,
        stored_at: now,
        changed_since_last,
        is_shared: fetched.may_be_shared,
    };
    let storing = match fetched.may_be_shared {
        true => Storing::Page(record),
        false => Storing::Unshared,
    };
    Ok(SourcePage {
        page,
        sold: None,
        permit,
        cache,
        storing,
        asked_browser: render.is_some(),
    })
}
