//! The Proof Pack endpoint: buy a report on a page, or probe its price.

use crate::api::buyer::paid;
use crate::app::Shared;
use crate::domain::level::{Level, Product};
use crate::domain::purchase::{ProofPackPurchase, Purchase};
use crate::domain::refusal::{Code, Refusal};
use crate::domain::schema::Checked;
use crate::http::{Call, Reply};

/// POST /v1/x402/proof-pack.
pub async fn buy(app: Shared, call: Call) -> Reply {
    paid::buy(&app, &call, Product::ProofPack, purchase).await
}

/// GET /v1/x402/proof-pack.
pub async fn probe(app: Shared, call: Call) -> Reply {
    paid::probe(&app, &call, Product::ProofPack)
}

/// The purchase.
fn purchase(app: &Shared, body: &Checked, level: Level) -> Result<Purchase, Refusal> {
    let Level::Pack(pack) = level else {
        return Err(Refusal::of(Code::InvalidPack));
    };
    let target_url = paid::canonical_target(app, body)?;
    let (question, refresh) = (body.text("question"), body.flag("force_refresh"));
    let purchase = ProofPackPurchase::new(target_url, pack, question, refresh);
    Ok(Purchase::ProofPack(purchase))
}
