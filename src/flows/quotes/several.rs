//! What several pages in one purchase, or a check against several sources, would cost. No name is resolved, nothing is
//! fetched and nothing is kept: the price follows from the tables and the number of sources.

use crate::app::Shared;
use crate::domain::level::{LineItem, Product};
use crate::domain::refusal::Refusal;
use crate::flows::content::source;
use crate::flows::quotes::bundles::{self, Listed, Rejected};
use crate::flows::quotes::quote::{Known, unavailable};

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
    let known = sources.iter().map(|page: &Page| Known {
        is_cached: page.is_cached,
        is_sample: page.target_url == app.sample.url,
    });
    let known: Vec<Known> = known.collect();
    let quantity = sources.len() + asked.texts;
    let items = asked.product.levels();
    let items = items.filter_map(|level| LineItem::new(level, quantity));
    let offers = items.map(|item| Offer {
        item,
        unavailable: unavailable(app, item, &known),
    });
    Ok(Quote {
        offers: offers.collect(),
        sources,
        texts: asked.texts,
        rejected,
    })
}
