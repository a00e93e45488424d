//! The Proof Pack endpoint: buy a report on a page, or probe its price.

use crate::api::buyer::paid;
use crate::app::Shared;
use crate::domain::level::Product;
use crate::domain::pack::Pack;
use crate::domain::purchase::{ProofPackPurchase, Purchase};
use crate::domain::refusal::Refusal;
use crate::domain::requests::ProofPackRequest;
use crate::http::{Call, Reply};

/// POST /v1/x402/proof-pack.
pub async fn buy(app: Shared, call: Call) -> Reply {
    paid::buy(&app, &call, Product::ProofPack).await
}

/// GET /v1/x402/proof-pack.
pub async fn probe(app: Shared, call: Call) -> Reply {
    paid::probe(&app, &call, Product::ProofPack)
}

/// The purchase.
pub fn purchase(app: &Shared, body: &ProofPackRequest, pack: Pack) -> Result<Purchase, Refusal> {
    let target_url = paid::canonical_target(app, &body.target_url)?;
    let question = body.question.as_deref();
    paid::check_render(app, body.render)?;
    let purchase =
        ProofPackPurchase::new(target_url, pack, question, body.force_refresh, body.render);
    Ok(Purchase::ProofPack(purchase))
}
