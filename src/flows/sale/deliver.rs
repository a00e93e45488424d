//! Makes what a payment buys: the page itself, or a report on it.

use crate::app::Shared;
use crate::domain::ids::ReportId;
use crate::domain::payment::Means;
use crate::domain::purchase::Purchase;
use crate::flows::content::report::{self, Draft};
use crate::flows::content::source::{self, SourcePage, Trouble};
use crate::flows::sale::margin_guard::Work;

/// What a buyer gets, and what the cache gains by it.
#[derive(Debug)]
pub struct Goods {
    pub source: SourcePage,
    /// What was made of the page, where that is what is sold.
    pub report: Option<(ReportId, Draft)>,
}

impl Goods {
    /// What making them took, and what being paid by these means takes.
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

/// Target safety, then the page, then what is made of it (specification 4.1 rule 2).
pub async fn deliver(app: &Shared, purchase: &Purchase, payer: &str) -> Result<Goods, Trouble> {
    let mut source = source::read(app, purchase.target_url(), purchase.reading(), payer).await?;
    let report = match purchase {
        Purchase::Context(_) => None,
        Purchase::ProofPack(pack) => Some(report::draft(app, pack, &mut source).await?),
    };
    Ok(Goods { source, report })
}
