//! Reads the page of a purchase as markdown, from the cache or the web, according to its tier or pack.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::app::Shared;
use crate::domain::cache::{CachePolicy, Reading};
use crate::domain::excerpt::Extent;
use crate::domain::refusal::{Code, Refusal, With};
use crate::domain::render::Render;
use crate::domain::target::{TargetError, TargetUrl, explained};
use crate::domain::tier::Tier;
use crate::domain::time::{PAGE_SECONDS, UnixSeconds};
use crate::domain::usage::Usage;
use crate::flows::content::MEMORY_WAIT_MAX;
use crate::flows::content::rendering::{self, Attempt};
use crate::flows::content::robots;
use crate::markdown::{ConvertError, PAGE_BYTES_MAX, has_text};
use crate::outside::memory::{MemoryFull, MemoryPermit, Party};
use crate::outside::network::Asker;
use crate::outside::render::RenderError;
use crate::outside::web::{FetchError, FetchOptions, Fetched, FetchedPage};
use crate::state::page::{
    JUDGED_TOKENS_MAX, PageFacts, PageGoods, RenderFacts, Unfetched, page_goods, selected_page,
};
use crate::store::{HeldPage, PageRecord, Snapshot, StoreError, Tables};

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

/// Why delivery fails.
#[derive(Clone, Debug, PartialEq)]
pub enum Trouble {
    /// Final: nothing is owed.
    Refused(Refusal),
    /// Transient: an accepted payment earns a retry credit.
    Outage(Refusal),
}

impl Trouble {
    pub fn refusal(&self) -> &Refusal {
        let (Trouble::Refused(refusal) | Trouble::Outage(refusal)) = self;
        refusal
    }
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

/// Target safety, then cache or fetch, then conversion (specification 4.1 rule 2). All products use the result, so this is
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
            !reading.refresh && app.now().since(UnixSeconds(kept.fetched_at)) <= age_seconds
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

/// Longer members of a stored page are read only on demand, in bytes, off the async threads. Walls are shorter.
const SMALL_BYTES_MAX: u64 = 64 * 1024;

/// A cached page, with its members where they are small.
struct CachedPage {
    record: PageRecord,
    members: Option<Vec<u8>>,
}

/// The cached page of a canonical URL. A record whose bytes are gone is a miss, and so is a page that may not be sold:
/// older versions stored pages without text, and walls.
pub fn kept_page(app: &Shared, target_url: &str) -> Result<Option<PageRecord>, Refusal> {
    let kept = app
        .store
        .look_up(|snapshot| sellable_page(app, snapshot, target_url))?;
    Ok(kept)
}

fn sellable_page(
    app: &Shared,
    snapshot: &Snapshot,
    target_url: &str,
) -> Result<Option<PageRecord>, StoreError> {
    let Some(record) = snapshot.page(target_url)? else {
        return Ok(None);
    };
    let is_there = app.now().since(UnixSeconds(record.fetched_at)) < PAGE_SECONDS
        && snapshot.keeps_blob(record.blob)?;
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
async fn kept_source(
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
    permitted.map_err(|MemoryFull| fetch_trouble(&FetchError::Overloaded))?;
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

/// The sample page is also sold by the starter tier.
fn cache_miss(is_sample: bool) -> Refusal {
    let message =
        "This tier only reads the cache, and the page is not cached. The payment was not used.";
    let delivers = |tier: &Tier| match tier.cache() {
        CachePolicy::CacheOnly { sample } => sample && is_sample,
        CachePolicy::UpTo { .. } | CachePolicy::Bypass => true,
    };
    let alternatives = Tier::ALL.into_iter().filter(delivers).collect();
    Refusal::new(Code::CacheMiss, message).with(With::Alternatives(alternatives))
}

async fn fetch(
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
    let fetched = match (fetched.and_then(without_wall), &attempt) {
        (Err(error @ FetchError::Convert(_)), Some(attempt)) => {
            let trouble = render_trouble(attempt);
            return Err(trouble.unwrap_or_else(|| fetch_trouble(&error)));
        }
        // With a browser, a page of which nothing is selected was kept until it was asked.
        (Err(FetchError::Convert(ConvertError::Empty)), None) if !extent.selectors.is_nothing() => {
            Err(FetchError::Convert(ConvertError::SelectorUnmatched))
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
            fetched_source(app, *page, permit, (&usage, render), earlier).await
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
    let cleared = web.clear_for(Asker::Buyer, &target, deadline).await?;
    let asked = robots::ask(app, &target);
    let mut permit = reader.memory.nothing();
    let fetching = outside.fetches.run(move || {
        let fetched = web.fetch(cleared, &options, &mut permit)?;
        Ok((fetched, permit))
    });
    let (fetched, permit) = fetching.await.unwrap_or(Err(FetchError::Overloaded))?;
    Ok((fetched, permit, asked))
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

async fn fetched_source(
    app: &Shared,
    fetched: FetchedPage,
    mut permit: MemoryPermit,
    (usage, render): (&Usage, Option<RenderFacts>),
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
        .map_err(|MemoryFull| fetch_trouble(&FetchError::Overloaded))?;
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

/// Refuses a target with the policy's explanation.
pub fn refused_target(text: &str, error: TargetError) -> Trouble {
    let code = Code::parse(error.code()).unwrap_or(Code::InvalidTarget);
    Trouble::Refused(Refusal::new(code, format!("{}.", explained(text, error))))
}

/// What to say in place of a page that cannot be sold, if the browser is to blame.
fn render_trouble(attempt: &Attempt) -> Option<Trouble> {
    let error = attempt.error.as_ref()?;
    Some(match error {
        RenderError::Busy => Trouble::Outage(Refusal::new(
            Code::Overloaded,
            "The page's text is made by scripts, and too many pages are being rendered. Try again in a few seconds.",
        )),
        RenderError::Unavailable(_) => Trouble::Refused(Refusal::of(Code::RenderUnavailable)),
        RenderError::Failed { detail, .. } => Trouble::Refused(Refusal::new(
            Code::RenderFailed,
            format!("The page's text is made by scripts, and it could not be rendered: {detail}."),
        )),
    })
}

/// `FetchError` decides what is transient and what is final (decisions, Retry credits).
pub fn fetch_trouble(error: &FetchError) -> Trouble {
    let code = match Code::parse(error.code()) {
        Some(Code::UpstreamUnavailable) if !error.is_transient() => Code::UpstreamRefused,
        code => code.unwrap_or(Code::UpstreamRefused),
    };
    let refusal = Refusal::new(code, format!("{error}."));
    if error.is_transient() {
        Trouble::Outage(refusal)
    } else {
        Trouble::Refused(refusal)
    }
}
