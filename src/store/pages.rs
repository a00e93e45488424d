//! The page cache: what a URL gave when it was last fetched. Pages are kept 24 hours within a size; the oldest go
//! first. The record holds only public page text, nothing of whoever bought it (safety A19).

use redb::{ReadableTable, ReadableTableMetadata};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::domain::time::{
    PAGE_SECONDS, REDELIVERY_SECONDS, UNKNOWN_LOOK_SECONDS_MAX, UnixSeconds,
};
use crate::store::record::{decode, encode};
use crate::store::tables::{Hash, PAGES, Snapshot, Tables};
use crate::store::{Due, DueKind, StoreError};

const TABLE: &str = "pages-1";
pub(in crate::store) const PAGES_BYTES: &str = "pages-bytes";
/// How far ahead an answer ever keeps its page; one whose settlement stays unknown extends it again and again.
pub(crate) const ANSWER_SECONDS_MAX: u64 = 2 * REDELIVERY_SECONDS;

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
    /// Puts a freshly fetched page in place of an older one, and drops the oldest pages beyond the configured size.
    pub fn put_page(
        &mut self,
        target_url: &str,
        page: &PageRecord,
        members: &[u8],
    ) -> Result<(), StoreError> {
        let (key, expires) = (
            page_key(target_url),
            UnixSeconds(page.fetched_at).plus(PAGE_SECONDS),
        );
        self.drop_page(key)?;
        self.put_blob(page.blob, members, expires.plus(ANSWER_SECONDS_MAX))?;
        self.pages.insert(key, encode(page)?.as_slice())?;
        self.schedule(Due {
            at: expires,
            kind: DueKind::Page,
            key,
        })?;
        let bytes = self.pages_bytes()? + page.blob_bytes;
        self.meta.insert(PAGES_BYTES, bytes)?;
        self.shrink_pages(UnixSeconds(page.fetched_at))
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
        let expires = fetched_at.plus(PAGE_SECONDS);
        self.keep_blob(page.blob, expires.plus(ANSWER_SECONDS_MAX))?;
        self.pages.insert(key, encode(&page)?.as_slice())?;
        self.schedule(Due {
            at: expires,
            kind: DueKind::Page,
            key,
        })
    }

    /// Works off a due row. A page that was fetched again since has a later row of its own.
    pub fn sweep_page(&mut self, due: Due, now: UnixSeconds) -> Result<(), StoreError> {
        self.unschedule(due)?;
        match self.page(due.key)? {
            Some(page) if now.since(UnixSeconds(page.fetched_at)) >= PAGE_SECONDS => {
                self.drop_page(due.key)
            }
            _ => Ok(()),
        }
    }

    fn page(&self, key: Hash) -> Result<Option<PageRecord>, StoreError> {
        self.pages
            .get(key)?
            .map(|bytes| decode(bytes.value(), TABLE))
            .transpose()
    }

    fn pages_bytes(&self) -> Result<u64, StoreError> {
        Ok(self.meta.get(PAGES_BYTES)?.map_or(0, |value| value.value()))
    }

    fn drop_page(&mut self, key: Hash) -> Result<(), StoreError> {
        let Some(page) = self.page(key)? else {
            return Ok(());
        };
        self.pages.remove(key)?;
        self.unschedule(Due {
            at: UnixSeconds(page.fetched_at).plus(PAGE_SECONDS),
            kind: DueKind::Page,
            key,
        })?;
        let bytes = self.pages_bytes()?.saturating_sub(page.blob_bytes);
        self.meta.insert(PAGES_BYTES, bytes)?;
        Ok(())
    }

    /// Pages leave in the order in which they were fetched. A blob goes once no answer can need it any more, and not
    /// before every open one was looked at, which keeps it; a page that happens to share it turns into a cache miss.
    fn shrink_pages(&mut self, now: UnixSeconds) -> Result<(), StoreError> {
        while self.pages_bytes()? > self.pages_bytes_max && self.pages.len()? > 1 {
            let Some(oldest) = self.first_due(DueKind::Page)? else {
                return Ok(());
            };
            self.unschedule(oldest)?;
            if let Some(page) = self.page(oldest.key)? {
                self.drop_page(oldest.key)?;
                let until = now.plus(UNKNOWN_LOOK_SECONDS_MAX + ANSWER_SECONDS_MAX);
                self.shorten_blob(page.blob, until)?;
            }
        }
        Ok(())
    }
}

impl Snapshot {
    /// The cached page of a canonical URL, however old.
    pub fn page(&self, target_url: &str) -> Result<Option<PageRecord>, StoreError> {
        let table = self.table(PAGES)?;
        let record = table.get(page_key(target_url))?;
        record.map(|bytes| decode(bytes.value(), TABLE)).transpose()
    }
}
