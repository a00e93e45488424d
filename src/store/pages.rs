//! The page cache: the last fetched page of a URL, for 24 hours and within a size limit; the oldest are deleted first. A
//! record has only public page text, nothing about buyers.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::domain::time::{PAGE_SECONDS, UnixSeconds};
use crate::store::record::encode;
use crate::store::tables::{Hash, Snapshot, Tables};
use crate::store::{Due, DueKind, StoreError};

const TABLE: &str = "pages-1";
pub(in crate::store) const PAGES_BYTES: &str = "pages-bytes";
/// How long the bytes of a page stay that has left the cache: a sale that has just found it there reads them, at the
/// latest when a site has said that it is unchanged.
pub(in crate::store) const REPLACED_SECONDS: u64 = 300;

/// A cached page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageRecord {
    /// SHA-256 of the page's JSON members, which lie in the blob table.
    pub blob: [u8; 32],
    pub blob_bytes: u64,
    /// Hex SHA-256 of the markdown.
    pub content_sha256: String,
    pub tokens: u64,
    pub title: Option<String>,
    pub fetched_at: u64,
    /// Validators of the response, for revalidation.
    pub etag: Option<String>,
    pub last_modified: Option<String>,
}

/// The cache's key of a canonical URL.
pub(crate) fn page_key(target_url: &str) -> Hash {
    Sha256::digest(target_url).into()
}

impl Tables<'_> {
    /// Puts a freshly fetched page with its bytes in place of an older one, and drops the oldest pages beyond the
    /// configured size.
    pub fn put_page(
        &mut self,
        target_url: &str,
        page: &PageRecord,
        members: &[u8],
    ) -> Result<(), StoreError> {
        let fetched_at = UnixSeconds(page.fetched_at);
        self.put_blob(page.blob, members, fetched_at.plus(PAGE_SECONDS))?;
        self.list_page(target_url, page, fetched_at)
    }

    /// The same for a page whose bytes are stored.
    pub(in crate::store) fn list_page(
        &mut self,
        target_url: &str,
        page: &PageRecord,
        now: UnixSeconds,
    ) -> Result<(), StoreError> {
        let (key, fetched_at) = (page_key(target_url), UnixSeconds(page.fetched_at));
        self.drop_page(key, now)?;
        self.keep_blob(page.blob, fetched_at.plus(PAGE_SECONDS + REPLACED_SECONDS))?;
        self.pages.insert(key, encode(page)?.as_slice())?;
        self.schedule(Due {
            at: fetched_at.plus(PAGE_SECONDS),
            kind: DueKind::Page,
            key,
        })?;
        let bytes = self.fact(PAGES_BYTES)? + page.blob_bytes;
        self.set_fact(PAGES_BYTES, bytes)?;
        self.shrink_pages(now, usize::MAX).map(drop)
    }

    /// Whether the cache has a copy of this URL that was fetched at this moment or later, and not by a clock that was ahead.
    pub(in crate::store) fn is_cached_since(
        &self,
        target_url: &str,
        fetched_at: u64,
        now: UnixSeconds,
    ) -> Result<bool, StoreError> {
        let cached = self.page(page_key(target_url))?;
        Ok(cached.is_some_and(|cached| {
            let is_dated_right = UnixSeconds(cached.fetched_at).age_at(now).is_some();
            cached.fetched_at >= fetched_at && is_dated_right
        }))
    }

    /// Notes that a page was found unchanged at `fetched_at`.
    pub fn touch_page(
        &mut self,
        target_url: &str,
        fetched_at: UnixSeconds,
    ) -> Result<(), StoreError> {
        let key = page_key(target_url);
        let Some(mut page) = self.page(key)? else {
            return Ok(());
        };
        self.unschedule(Due {
            at: UnixSeconds(page.fetched_at).plus(PAGE_SECONDS),
            kind: DueKind::Page,
            key,
        })?;
        page.fetched_at = fetched_at.0;
        self.keep_blob(page.blob, fetched_at.plus(PAGE_SECONDS + REPLACED_SECONDS))?;
        self.pages.insert(key, encode(&page)?.as_slice())?;
        self.schedule(Due {
            at: fetched_at.plus(PAGE_SECONDS),
            kind: DueKind::Page,
            key,
        })
    }

    /// Takes a page out of the cache, if it is there. Answers that hold it keep its blob.
    pub fn forget_page(&mut self, target_url: &str, now: UnixSeconds) -> Result<(), StoreError> {
        self.drop_page(page_key(target_url), now)
    }

    /// Works off a due row. A page that was fetched again since has a later row of its own.
    pub fn sweep_page(&mut self, due: Due, now: UnixSeconds) -> Result<(), StoreError> {
        self.unschedule(due)?;
        match self.page(due.key)? {
            Some(page) if now.since(UnixSeconds(page.fetched_at)) >= PAGE_SECONDS => {
                self.drop_page(due.key, now)
            }
            _ => Ok(()),
        }
    }

    fn page(&self, key: Hash) -> Result<Option<PageRecord>, StoreError> {
        self.pages.record(key, TABLE)
    }

    /// Its blob goes a little later, unless a sale holds it; a page that happens to share it turns into a cache miss.
    fn drop_page(&mut self, key: Hash, now: UnixSeconds) -> Result<(), StoreError> {
        let Some(page) = self.page(key)? else {
            return Ok(());
        };
        self.pages.remove(key)?;
        self.unschedule(Due {
            at: UnixSeconds(page.fetched_at).plus(PAGE_SECONDS),
            kind: DueKind::Page,
            key,
        })?;
        let bytes = self.fact(PAGES_BYTES)?.saturating_sub(page.blob_bytes);
        self.set_fact(PAGES_BYTES, bytes)?;
        self.shorten_blob(page.blob, now.plus(REPLACED_SECONDS))
    }

    /// Pages leave in the order in which they were fetched, at most so many at a time. Tells whether more are to leave.
    pub(in crate::store) fn shrink_pages(
        &mut self,
        now: UnixSeconds,
        pages_max: usize,
    ) -> Result<bool, StoreError> {
        let is_over = |tables: &Self| {
            Ok::<bool, StoreError>(
                tables.fact(PAGES_BYTES)? > tables.allowed.pages && tables.pages.len()? > 1,
            )
        };
        for _ in 0..pages_max {
            if !is_over(self)? {
                return Ok(false);
            }
            let Some(oldest) = self.first_due(DueKind::Page)? else {
                return Ok(false);
            };
            self.unschedule(oldest)?;
            self.drop_page(oldest.key, now)?;
        }
        is_over(self)
    }
}

impl Snapshot {
    /// How many pages are cached, and their bytes.
    pub fn cached_pages(&self) -> Result<(u64, u64), StoreError> {
        let bytes = self.fact(PAGES_BYTES)?;
        Ok((self.pages.len()?, bytes))
    }

    /// Whether the cache holds more than so many bytes, one page aside.
    pub(in crate::store) fn has_pages_beyond(&self, bytes_max: u64) -> Result<bool, StoreError> {
        let bytes = self.fact(PAGES_BYTES)?;
        Ok(bytes > bytes_max && self.pages.len()? > 1)
    }

    /// The cached page of a canonical URL, however old.
    pub fn page(&self, target_url: &str) -> Result<Option<PageRecord>, StoreError> {
        self.pages.record(page_key(target_url), TABLE)
    }
}
