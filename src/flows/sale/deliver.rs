//! Makes the purchased goods: the page, or a report on it.

use crate::app::Shared;
use crate::domain::ids::ReportId;
use crate::domain::payment::Means;
use crate::domain::purchase::Purchase;
use crate::flows::content::excerpts;
use crate::flows::content::report::{self, Draft};
use crate::flows::content::source::{self, SourcePage, Trouble};
use crate::flows::sale::margin_guard::Work;

/// The buyer's goods, and the effect on the cache.
#[derive(Debug)]
pub struct Goods {
    pub source: SourcePage,
    /// The report on the page, if one is sold.
    pub report: Option<(ReportId, Draft)>,
}

impl Goods {
    /// The resources used, including those of the payment method.
    pub fn work(&self, means: Means) -> Work {
        Work {
            settles: means.is_settled_later(),
            fetches: !self.source.cache.hit,
            asks_model: self
                .report
                .as_ref()
                .is_some_and(|(_, draft)| draft.asked_model),
        }
    }
}

/// Target safety, then the page, then the report (specification 4.1 rule 2).
pub async fn deliver(app: &Shared, purchase: &Purchase, payer: &str) -> Result<Goods, Trouble> {
    let mut source = one(app, purchase, payer).await?;
    let report = match purchase {
        Purchase::Context(_) => None,
        Purchase::ProofPack(pack) => Some(report::draft(app, pack, &mut source).await?),
    };
    Ok(Goods { source, report })
}

/// The page, and the part of it that is asked for.
async fn one(app: &Shared, purchase: &Purchase, payer: &str) -> Result<SourcePage, Trouble> {
    let target_url = purchase.target_url();
    let Some(wanted) = purchase.excerpt() else {
        return source::read(app, target_url, purchase.reading(), payer).await;
    };
    let mut source = match wanted.selectors.is_nothing() {
        true => source::read(app, target_url, purchase.reading(), payer).await?,
        false => source::read_selected(app, target_url, &wanted.selectors, payer).await?,
    };
    excerpts::cut(app, wanted, &mut source).await?;
    Ok(source)
}
