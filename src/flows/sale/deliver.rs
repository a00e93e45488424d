//! Makes the purchased goods: pages, or a report on them.

use crate::app::Shared;
use crate::domain::code::Code;
use crate::domain::ids::ReportId;
use crate::domain::level::{Level, LineItem};
use crate::domain::limit_reached::LimitReached;
use crate::domain::payment::{Means, Payment};
use crate::domain::purchase::{PagesPurchase, Purchase, SourceInput};
use crate::domain::refusal::{Refusal, UnreadSource};
use crate::flows::content::MEMORY_WAIT_MAX;
use crate::flows::content::report::{self, Draft, Synthesis};
use crate::flows::content::several::{self, ReadSource};
use crate::flows::content::source::{self, Reader, STORING_FACTOR, SourcePage, Trouble};
use crate::flows::content::{bundle, check, excerpts, screenshot};
use crate::flows::sale::margin_guard::Work;
use crate::outside::memory::MemoryPermit;

/// The buyer's goods, and the effect on the cache.
#[derive(Debug)]
pub struct Goods {
    /// The pages that were read, each under its canonical address.
    pub pages: Vec<(String, SourcePage)>,
    pub made: Made,
    /// The memory of the answer that several pages make, until it is stored: beside that of the pages.
    pub permit: MemoryPermit,
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
    pub fn work(&self, app: &Shared, means: Means) -> Work {
        let fetched = self.pages.iter().filter(|(_, page)| !page.cache.hit);
        let rendered = self.pages.iter().filter(|(_, page)| page.asked_browser);
        let pictured = app.outside.renderer.is_some()
            && matches!(&self.made, Made::Report(_, draft) if draft.report.screenshot.is_some());
        Work {
            settles: means.is_settled_later(),
            fetches: fetched.count(),
            renders: rendered.count() + usize::from(pictured),
            asks_model: matches!(&self.made, Made::Report(_, draft) if draft.asked_model),
        }
    }
}

/// Target safety, then the pages, then the report.
pub async fn deliver(app: &Shared, payment: &Payment) -> Result<Goods, Trouble> {
    let (purchase, payer) = (&payment.purchase, hex::encode(payment.payer.0));
    let payer = payer.as_str();
    match purchase {
        Purchase::Context(_) => {
            let source = one(app, purchase, payer).await?;
            Ok(Goods {
                pages: vec![(purchase.target_url().to_owned(), source)],
                made: Made::Page,
                permit: app.outside.memory.nothing(),
            })
        }
        Purchase::ProofPack(pack) => {
            let mut source = one(app, purchase, payer).await?;
            let (id, mut draft) = report::draft(app, pack, &mut source, Synthesis::ByPack).await?;
            if pack.screenshot {
                draft.screenshot = screenshot::add(app, &mut draft.report, payer).await;
            }
            Ok(Goods {
                pages: vec![(purchase.target_url().to_owned(), source)],
                made: Made::Report(id, draft),
                permit: app.outside.memory.nothing(),
            })
        }
        Purchase::Pages(pages) => several_pages(app, pages, purchase, payer).await,
        Purchase::ProofBundle(bundle) => {
            let (draft, pages) = bundle::draft(app, bundle, payer).await?;
            Ok(Goods {
                pages,
                made: Made::Bundle(draft),
                permit: app.outside.memory.nothing(),
            })
        }
        Purchase::Check(check) => {
            let (draft, pages) = check::draft(app, check, payer).await?;
            Ok(Goods {
                pages,
                made: Made::Check(draft),
                permit: app.outside.memory.nothing(),
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
    let wanted = pages.excerpt.as_deref().cloned();
    let room = several::Room::of_pages();
    let make = move |app: Shared, _, mut page: SourcePage| {
        let (wanted, room) = (wanted.clone(), room.clone());
        async move {
            if let Some(wanted) = wanted {
                excerpts::cut(&app, &wanted, &mut page).await?;
            }
            room.take(&mut page)?;
            Ok((page, ()))
        }
    };
    let how = (purchase.reading(), &purchase.extent());
    let reader = Reader::of(app, payer);
    let read = several::read_all(app, &sources, how, &reader, make).await;
    several::enough(&read, pages.min_pages, |readable| {
        LineItem::new(Level::Tier(pages.tier), readable)
    })?;
    let unread = read.iter().filter_map(ReadSource::unread).collect();
    let read = read.into_iter().filter_map(|source| {
        let (page, ()) = source.outcome.ok()?;
        Some((source.name, page))
    });
    let pages: Vec<(String, SourcePage)> = read.collect();
    let bytes = pages.iter().map(|(_, page)| page.goods().members.len());
    let bytes = bytes.sum::<usize>().saturating_mul(STORING_FACTOR);
    let mut permit = reader.memory.nothing();
    let permitted = permit.resized(bytes, MEMORY_WAIT_MAX).await;
    permitted.map_err(|LimitReached| {
        let message = "Too many pages are being sold. Try again in a few seconds.";
        Trouble::Outage(Refusal::new(Code::Overloaded, message))
    })?;
    Ok(Goods {
        pages,
        made: Made::Pages(unread),
        permit,
    })
}

/// The page, and the part of it that is asked for.
async fn one(app: &Shared, purchase: &Purchase, payer: &str) -> Result<SourcePage, Trouble> {
    let how = (purchase.reading(), &purchase.extent());
    let reader = Reader::of(app, payer);
    let mut source = source::read_extent(app, purchase.target_url(), how, &reader).await?;
    if let Some(wanted) = purchase.excerpt() {
        excerpts::cut(app, wanted, &mut source).await?;
    }
    Ok(source)
}
