//! What several pages in one purchase, or a check against several sources, would cost. No name is resolved, nothing is
//! fetched and nothing is kept: the price follows from the tables and the number of sources.

use crate::app::Shared;
use crate::domain::cache::CachePolicy;
use crate::domain::level::{LineItem, Product};
use crate::domain::refusal::Refusal;
use crate::domain::render::Render;
use crate::flows::content::rendering;
use crate::flows::content::source;
use crate::flows::quotes::bundles::{self, Listed, Rejected};
use crate::flows::quotes::quote::{NOT_CACHED, unprofitable};
use crate::flows::sale::margin_guard::Work;

/// The request: pages, and how many further sources the buyer brings along.
#[derive(Clone, Debug)]
pub struct SeveralRequest {
    pub product: Product,
    pub listed: Listed,
    pub texts: usize,
}

/// What all of the readable sources cost at each level.
#[derive(Clone, Debug)]
pub struct Quote {
    pub sources: Vec<Page>,
    pub texts: usize,
    pub rejected: Vec<Rejected>,
    pub offers: Vec<Offer>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    pub target_url: String,
    /// Whether a copy is cached. SECURITY: nothing more, because age, title and hash would reveal when others bought the
    /// page.
    pub is_cached: bool,
}

/// A level for all sources, and whether it would deliver now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    pub item: LineItem,
    pub unavailable: Option<&'static str>,
}

/// Checks the sources as a bundle's are checked, and prices those that can be read.
///
/// # Errors
/// No source is left, or the cache cannot be read.
pub fn quote(app: &Shared, asked: &SeveralRequest) -> Result<Quote, Refusal> {
    let (readable, rejected) =
        bundles::sorted_up_to(app, &asked.listed, asked.product, asked.texts);
    if readable.is_empty() && asked.texts == 0 {
        return Err(bundles::nothing_left(rejected));
    }
    let mut sources = Vec::with_capacity(readable.len());
    for target_url in readable {
        let is_cached = source::kept_page(app, &target_url)?.is_some();
        sources.push(Page {
            target_url,
            is_cached,
        });
    }
    let quantity = sources.len() + asked.texts;
    let items = asked.product.levels();
    let items = items.filter_map(|level| LineItem::new(level, quantity));
    let offers = items.map(|item| Offer {
        item,
        unavailable: unavailable(app, item, &sources),
    });
    Ok(Quote {
        offers: offers.collect(),
        sources,
        texts: asked.texts,
        rejected,
    })
}

fn unavailable(app: &Shared, item: LineItem, sources: &[Page]) -> Option<&'static str> {
    let cache = item.level.cache();
    let is_sample = |page: &&Page| page.target_url == app.sample.url;
    let fetched = sources.iter().filter(|page| !is_sample(page)).count();
    let fetches = if cache.may_fetch() { fetched } else { 0 };
    let may_render = rendering::may_render(app, Render::of_level(item.level));
    let work = Work {
        fetches,
        renders: if may_render { fetches } else { 0 },
        asks_model: item.level.may_synthesize(),
        settles: true,
    };
    if let Some(reason) = unprofitable(app, item.price(), work) {
        return Some(reason);
    }
    let is_there = |page: &Page| match cache {
        CachePolicy::CacheOnly { sample } => page.is_cached || sample && is_sample(&page),
        CachePolicy::UpTo { .. } | CachePolicy::Bypass => true,
    };
    (!sources.iter().all(is_there)).then_some(NOT_CACHED)
}
