//! Reads the page of a purchase as markdown, from the cache or the web, according to its tier or pack.

mod cached;
mod fetch;
mod trouble;

use crate::app::Shared;
use crate::domain::cache::{CachePolicy, Reading};
use crate::domain::excerpt::Extent;
use crate::domain::target::{TargetError, TargetUrl};
use crate::domain::time::UnixSeconds;
use crate::flows::content::rendering;
use crate::markdown::PAGE_BYTES_MAX;
use crate::outside::memory::{MemoryPermit, Party};
use crate::outside::web::FetchError;
use crate::state::page::{PageGoods, Unfetched, selected_page};
use crate::store::PageRecord;
use cached::{CachedPage, SMALL_BYTES_MAX, kept_source, sellable_page};
use fetch::fetch;
use trouble::cache_miss;

pub use cached::{held_page, keep_page, kept_page};
pub use trouble::{Trouble, fetch_trouble, refused_target};

/// Memory to read or write a blob per byte: the store rounds sizes up to a power of two.
pub const STORING_FACTOR: usize = 3;

/// The buyer on whose behalf a page is read, and the memory that the purchase shares.
#[derive(Clone, Debug)]
pub struct Reader {
    /// Whose fetches are counted together: a payer, an order or a client.
    pub payer: String,
    /// What else is read for the same purchase.
    pub memory: Party,
}

impl Reader {
    pub fn of(app: &Shared, payer: &str) -> Reader {
        Reader {
            payer: payer.to_owned(),
            memory: app.outside.memory.party(),
        }
    }
}

/// The largest page that is read, in bytes.
pub const BYTES_MAX: u64 = PAGE_BYTES_MAX;

/// A page, and its effect on the cache.
#[derive(Debug)]
pub struct SourcePage {
    pub page: PageGoods,
    /// The part of it that is sold, where that is not the whole.
    pub sold: Option<PageGoods>,
    /// The page's memory until it is stored.
    pub permit: MemoryPermit,
    pub cache: CacheFacts,
    pub storing: Storing,
    /// Whether a browser was asked for it now.
    pub asked_browser: bool,
}

impl SourcePage {
    /// What is sold of it.
    pub fn goods(&self) -> &PageGoods {
        self.sold.as_ref().unwrap_or(&self.page)
    }

    /// Bytes in memory: the page, and the part of it that is sold.
    pub fn held_bytes(&self) -> usize {
        let goods = [Some(&self.page), self.sold.as_ref()];
        goods
            .iter()
            .flatten()
            .map(|goods| goods.members.len())
            .sum()
    }

    /// Lets go of the page where only a part of it is sold. It is not cached then.
    pub fn keep_only_part(&mut self) {
        let Some(part) = self.sold.take() else {
            return;
        };
        self.page = part;
        if let Storing::Page(_) = self.storing {
            self.storing = Storing::Blob;
        }
        let bytes = STORING_FACTOR.saturating_mul(self.page.members.len());
        self.permit.shrink(bytes);
    }

    /// What was not fetched and does not belong into the cache.
    pub fn unfetched(page: PageGoods, permit: MemoryPermit, at: UnixSeconds) -> SourcePage {
        SourcePage {
            asked_browser: false,
            page,
            sold: None,
            permit,
            cache: CacheFacts {
                hit: true,
                revalidated: false,
                stored_at: at,
                changed_since_last: None,
                is_shared: false,
            },
            storing: Storing::Blob,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct CacheFacts {
    pub hit: bool,
    pub revalidated: bool,
    pub stored_at: UnixSeconds,
    /// Compared with the previous copy, if any.
    pub changed_since_last: Option<bool>,
    /// Whether this copy may be sold to others.
    pub is_shared: bool,
}

/// How to store a page before it is sold.
#[derive(Clone, Debug)]
pub enum Storing {
    /// The page's blob is stored already.
    Nothing,
    /// The page is not in the cache and does not belong there, as the sample.
    Blob,
    Page(PageRecord),
    /// The site forbids selling the page to others. Only this buyer gets it, and an older copy leaves the cache.
    Unshared,
    /// The cached page was revalidated just now.
    Unchanged {
        fetched_at: UnixSeconds,
    },
}

/// An allowed target: a public address, or our own sample page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    Web(TargetUrl),
    Sample,
}

impl Target {
    pub fn parse(app: &Shared, text: &str) -> Result<Target, TargetError> {
        if is_of_sample(text, &app.sample.url) {
            Ok(Target::Sample)
        } else {
            TargetUrl::parse(text).map(Target::Web)
        }
    }

    pub fn canonical<'a>(&'a self, app: &'a Shared) -> &'a str {
        match self {
            Target::Web(target) => target.as_str(),
            Target::Sample => &app.sample.url,
        }
    }
}

/// Whether an address is the sample's, ignoring case of scheme and host, and the fragment.
fn is_of_sample(text: &str, sample_url: &str) -> bool {
    text == sample_url
        || url::Url::parse(text).is_ok_and(|mut address| {
            address.set_fragment(None);
            address.as_str() == sample_url
        })
}

/// Whether reading may need the network, which the margin must cover.
pub fn may_fetch(reading: Reading, target_url: &str, sample_url: &str) -> bool {
    reading.cache.may_fetch() && target_url != sample_url
}

/// Target safety, then cache or fetch, then conversion. All products use the result, so this is
/// where pages without text and walls are refused.
pub async fn read(
    app: &Shared,
    target_url: &str,
    reading: Reading,
    reader: &Reader,
) -> Result<SourcePage, Trouble> {
    check_sellable(app, found(app, target_url, reading, reader).await?)
}

/// The same of what a buyer wants read of the page. Other than the usual extent it is fetched: the cache holds no HTML. It
/// is no page that others could buy, so it is not cached.
pub async fn read_extent(
    app: &Shared,
    target_url: &str,
    (reading, extent): (Reading, &Extent),
    reader: &Reader,
) -> Result<SourcePage, Trouble> {
    if extent.is_usual() {
        return read(app, target_url, reading, reader).await;
    }
    let target =
        Target::parse(app, target_url).map_err(|error| refused_target(target_url, error))?;
    let mut source = match target {
        Target::Sample => selected_sample(app, extent).await?,
        Target::Web(target) if app.outside.web.is_forbidden(&target) => {
            return Err(fetch_trouble(&FetchError::OwnHost));
        }
        Target::Web(target) => {
            let how = (false, reading.render, extent);
            fetch(app, target, None, how, reader).await?
        }
    };
    if let Storing::Page(_) = source.storing {
        source.storing = Storing::Blob;
    }
    check_sellable(app, source)
}

fn check_sellable(app: &Shared, source: SourcePage) -> Result<SourcePage, Trouble> {
    let PageGoods {
        blob,
        tokens,
        members,
        ..
    } = &source.page;
    match app.sellable_pages.judge(*blob, *tokens, members) {
        Ok(None) => Ok(source),
        Ok(Some(error)) => Err(fetch_trouble(&FetchError::Convert(error))),
        Err(error) => Err(Trouble::Refused(crate::flows::internal(
            "a page could not be read as JSON",
            &error,
        ))),
    }
}

/// The page from the cache or the web.
async fn found(
    app: &Shared,
    target_url: &str,
    reading: Reading,
    reader: &Reader,
) -> Result<SourcePage, Trouble> {
    let target =
        Target::parse(app, target_url).map_err(|error| refused_target(target_url, error))?;
    let target = match target {
        Target::Sample if reading.cache != (CachePolicy::CacheOnly { sample: false }) => {
            return Ok(sample(app));
        }
        Target::Sample => return Err(Trouble::Refused(cache_miss(true))),
        Target::Web(target) => target,
    };
    // Cached pages of a host that was blocked later are not sold.
    if app.outside.web.is_forbidden(&target) {
        return Err(fetch_trouble(&FetchError::OwnHost));
    }
    let kept = app.store.look_up(|snapshot| {
        let Some(record) = sellable_page(app, snapshot, target.as_str())? else {
            return Ok(None);
        };
        let members = match record.blob_bytes <= SMALL_BYTES_MAX {
            true => snapshot.blob(record.blob)?,
            false => None,
        };
        Ok(Some(CachedPage { record, members }))
    });
    let kept = kept.map_err(|error| Trouble::Refused(error.into()))?;
    let fresh_enough = |CachedPage { record: kept, .. }: &CachedPage| match reading.cache {
        CachePolicy::CacheOnly { .. } => true,
        CachePolicy::UpTo { age_seconds } => {
            let age = UnixSeconds(kept.fetched_at).age_at(app.now());
            !reading.refresh && age.is_some_and(|age| age <= age_seconds)
        }
        CachePolicy::Bypass => false,
    };
    match kept {
        Some(kept) if fresh_enough(&kept) => {
            let record = kept.record.clone();
            let source = kept_source(app, kept, reader).await?;
            if rendering::suits(app, &reading, &source.page.members) {
                app.metrics.cache.count(["hit"]);
                return Ok(source);
            }
            app.metrics.cache.count(["miss"]);
            let unread = CachedPage {
                record,
                members: None,
            };
            let how = (false, reading.render, &Extent::default());
            fetch(app, target, Some(unread), how, reader).await
        }
        _ if !reading.cache.may_fetch() => {
            app.metrics.cache.count(["miss"]);
            Err(Trouble::Refused(cache_miss(false)))
        }
        kept => {
            app.metrics.cache.count(["miss"]);
            let revalidates = matches!(reading.cache, CachePolicy::UpTo { .. }) && !reading.refresh;
            let how = (revalidates, reading.render, &Extent::default());
            fetch(app, target, kept, how, reader).await
        }
    }
}

/// What is to be read of the sample page.
async fn selected_sample(app: &Shared, extent: &Extent) -> Result<SourcePage, Trouble> {
    let (shared, extent) = (app.clone(), extent.clone());
    let converted = app.outside.checks.run(move || {
        let sample = &shared.sample;
        selected_page(&sample.url, &sample.html, &extent, sample.made_at)
    });
    let converted = converted
        .await
        .map_err(|_| fetch_trouble(&FetchError::Overloaded))?;
    let page = converted.map_err(|error| match error {
        Unfetched::Convert(error) => fetch_trouble(&FetchError::Convert(error)),
        Unfetched::Other(error) => Trouble::Refused(crate::flows::internal(
            "the sample page could not be converted",
            &error,
        )),
    })?;
    Ok(SourcePage {
        page,
        ..sample(app)
    })
}

fn sample(app: &Shared) -> SourcePage {
    SourcePage {
        page: app.sample.goods.clone(),
        sold: None,
        permit: app.outside.memory.nothing(),
        cache: CacheFacts {
            hit: true,
            revalidated: false,
            stored_at: app.sample.made_at,
            changed_since_last: None,
            is_shared: true,
        },
        storing: Storing::Blob,
        asked_browser: false,
    }
}
