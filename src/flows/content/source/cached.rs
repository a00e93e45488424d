//! Pages of the cache: which may be sold, their bytes, and what a sale or an order writes there.

use std::sync::Arc;

use crate::app::Shared;
use crate::domain::limit_reached::LimitReached;
use crate::domain::refusal::Refusal;
use crate::domain::time::{PAGE_SECONDS, UnixSeconds};
use crate::flows::content::MEMORY_WAIT_MAX;
use crate::flows::content::source::{
    CacheFacts, Reader, STORING_FACTOR, SourcePage, Storing, Trouble, fetch_trouble,
};
use crate::outside::web::FetchError;
use crate::state::page::{JUDGED_TOKENS_MAX, PageGoods};
use crate::store::{HeldPage, PageRecord, Snapshot, StoreError, Tables};

/// Longer members of a stored page are read only on demand, in bytes, off the async threads. Walls are shorter.
pub(super) const SMALL_BYTES_MAX: u64 = 64 * 1024;

/// A cached page, with its members where they are small.
pub(super) struct CachedPage {
    pub(super) record: PageRecord,
    pub(super) members: Option<Vec<u8>>,
}

/// The cached page of a canonical URL. A record whose bytes are gone is a miss, and so is a page that may not be sold:
/// older versions stored pages without text, and walls.
pub fn kept_page(app: &Shared, target_url: &str) -> Result<Option<PageRecord>, Refusal> {
    let kept = app
        .store
        .look_up(|snapshot| sellable_page(app, snapshot, target_url))?;
    Ok(kept)
}

pub(super) fn sellable_page(
    app: &Shared,
    snapshot: &Snapshot,
    target_url: &str,
) -> Result<Option<PageRecord>, StoreError> {
    let Some(record) = snapshot.page(target_url)? else {
        return Ok(None);
    };
    let age = UnixSeconds(record.fetched_at).age_at(app.now());
    let is_there = age.is_some_and(|age| age < PAGE_SECONDS) && snapshot.keeps_blob(record.blob)?;
    if !is_there || record.tokens == 0 {
        return Ok(None);
    }
    let is_short = record.tokens <= JUDGED_TOKENS_MAX && record.blob_bytes <= SMALL_BYTES_MAX;
    if is_short && !app.sellable_pages.contains(record.blob) {
        let members = snapshot.blob(record.blob)?.unwrap_or_default();
        let reason = app
            .sellable_pages
            .judge(record.blob, record.tokens, &members);
        if !matches!(reason, Ok(None)) {
            return Ok(None);
        }
    }
    Ok(Some(record))
}

/// A cached page with its bytes.
pub(super) async fn kept_source(
    app: &Shared,
    kept: CachedPage,
    reader: &Reader,
) -> Result<SourcePage, Trouble> {
    let CachedPage {
        record: kept,
        members,
    } = kept;
    let mut permit = reader.memory.nothing();
    let bytes = usize::try_from(kept.blob_bytes).unwrap_or(usize::MAX);
    let permitted = permit
        .resized(bytes.saturating_mul(STORING_FACTOR), MEMORY_WAIT_MAX)
        .await;
    permitted.map_err(|LimitReached| fetch_trouble(&FetchError::Overloaded))?;
    let blob = kept.blob;
    let members = match members {
        Some(members) => Ok(Some(members)),
        None => app.store.read(move |snapshot| snapshot.blob(blob)).await,
    };
    let members = members.map_err(|error| Trouble::Refused(error.into()))?;
    let members = members.ok_or_else(|| {
        let page = hex::encode(blob);
        Trouble::Refused(crate::flows::internal("a cached page is missing", &page))
    })?;
    Ok(SourcePage {
        page: PageGoods {
            blob,
            members: Arc::new(members),
            content_sha256: kept.content_sha256,
            tokens: kept.tokens,
        },
        sold: None,
        permit,
        cache: CacheFacts {
            hit: true,
            revalidated: false,
            stored_at: UnixSeconds(kept.fetched_at),
            changed_since_last: None,
            is_shared: true,
        },
        storing: Storing::Nothing,
        asked_browser: false,
    })
}

/// The cache entry of a page, written once its sale is settled.
pub fn held_page(source: &SourcePage) -> Option<HeldPage> {
    match &source.storing {
        Storing::Nothing | Storing::Blob | Storing::Unshared => None,
        Storing::Page(record) => Some(HeldPage::Fetched(record.clone())),
        Storing::Unchanged { fetched_at } => Some(HeldPage::Unchanged {
            fetched_at: fetched_at.0,
        }),
    }
}

/// Caches a page for an order, which is already paid.
pub fn keep_page(
    tables: &mut Tables<'_>,
    target_url: &str,
    source: &SourcePage,
    now: UnixSeconds,
) -> Result<(), StoreError> {
    match &source.storing {
        Storing::Nothing | Storing::Blob => Ok(()),
        Storing::Page(record) => tables.put_page(target_url, record, &source.page.members),
        Storing::Unshared => tables.forget_page(target_url, now),
        Storing::Unchanged { fetched_at } => tables.touch_page(target_url, *fetched_at),
    }
}
