//! Makes the purchased goods: pages, or a report on them.

use crate::app::Shared;
use crate::domain::ids::ReportId;
use crate::domain::level::{Level, LineItem};
use crate::domain::payment::Means;
use crate::domain::purchase::{PagesPurchase, Purchase, SourceInput};
use crate::domain::refusal::UnreadSource;
use crate::flows::content::report::{self, Draft, Synthesis};
use crate::flows::content::several::{self, ReadSource};
use crate::flows::content::source::{self, SourcePage, Trouble};
use crate::flows::content::{bundle, check, excerpts};
use crate::flows::sale::margin_guard::Work;

/// The buyer's goods, and the effect on the cache.
#[derive(Debug)]
pub struct Goods {
    /// The pages that were read, each under its canonical address.
    pub pages: Vec<(String, SourcePage)>,
    pub made: Made,
}

/// What is sold of the pages.
#[derive(Debug)]
pub enum Made {
    /// The one page.
    Page,
    /// The report on the one page.
    Report(ReportId, Draft),
    /// All pages; and those that could not be read.
    Pages(Vec<UnreadSource>),
    /// The report on all of them.
    Bundle(bundle::Draft),
    /// The text checked against all of them.
    Check(check::Draft),
}

impl Goods {
    /// The resources used, including those of the payment method.
    pub fn work(&self, means: Means) -> Work {
        let fetched = self.pages.iter().filter(|(_, page)| !page.cache.hit);
        let rendered = self.pages.iter().filter(|(_, page)| page.asked_browser);
        Work {
            settles: means.is_settled_later(),
            fetches: fetched.count(),
            renders: rendered.count(),
            asks_model: matches!(&self.made, Made::Report(_, draft) if draft.asked_model),
        }
    }
}

/// Target safety, then the pages, then the report (specification 4.1 rule 2).
pub async fn deliver(app: &Shared, purchase: &Purchase, payer: &str) -> Result<Goods, Trouble> {
    match purchase {
        Purchase::Context(_) => {
            let source = one(app, purchase, payer).await?;
            Ok(Goods {
                pages: vec![(purchase.target_url().to_owned(), source)],
                made: Made::Page,
            })
        }
        Purchase::ProofPack(pack) => {
            let mut source = one(app, purchase, payer).await?;
            let (id, draft) = report::draft(app, pack, &mut source, Synthesis::ByPack).await?;
            Ok(Goods {
                pages: vec![(purchase.target_url().to_owned(), source)],
                made: Made::Report(id, draft),
            })
        }
        Purchase::Pages(pages) => several_pages(app, pages, purchase, payer).await,
        Purchase::ProofBundle(bundle) => {
            let (draft, pages) = bundle::draft(app, bundle, payer).await?;
            Ok(Goods {
                pages,
                made: Made::Bundle(draft),
            })
        }
        Purchase::Check(check) => {
            let (draft, pages) = check::draft(app, check, payer).await?;
            Ok(Goods {
                pages,
                made: Made::Check(draft),
            })
        }
    }
}

/// All pages at their full price, or none: with fewer than the buyer takes, nothing is sold.
async fn several_pages(
    app: &Shared,
    pages: &PagesPurchase,
    purchase: &Purchase,
    payer: &str,
) -> Result<Goods, Trouble> {
    let sources: Vec<SourceInput> = purchase
        .target_urls()
        .map(|url| SourceInput::Page(url.to_owned()))
        .collect();
    let make = |_, _, page| async move { Ok((page, ())) };
    let read = several::read_all(app, &sources, purchase.reading(), payer, make).await;
    several::enough(&read, pages.min_pages, |readable| {
        LineItem::new(Level::Tier(pages.tier()), readable)
    })?;
    let unread = read.iter().filter_map(ReadSource::unread).collect();
    let read = read.into_iter().filter_map(|source| {
        let (page, ()) = source.outcome.ok()?;
        Some((source.name, page))
    });
    Ok(Goods {
        pages: read.collect(),
        made: Made::Pages(unread),
    })
}

/// The page, and the part of it that is asked for.
async fn one(app: &Shared, purchase: &Purchase, payer: &str) -> Result<SourcePage, Trouble> {
    let target_url = purchase.target_url();
    let Some(wanted) = purchase.excerpt() else {
        return source::read(app, target_url, purchase.reading(), payer).await;
    };
    let mut source = match wanted.selectors.is_nothing() {
        true => source::read(app, target_url, purchase.reading(), payer).await?,
        false => {
            source::read_selected(
                app,
                target_url,
                (&wanted.selectors, purchase.render()),
                payer,
            )
            .await?
        }
    };
    excerpts::cut(app, wanted, &mut source).await?;
    Ok(source)
}
