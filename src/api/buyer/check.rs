//! The endpoint that checks a whole text: buy a check of each of its claims.

use crate::api::buyer::{paid, sources};
use crate::app::Shared;
use crate::domain::check::CheckDepth;
use crate::domain::level::{Level, Product};
use crate::domain::purchase::{CheckPurchase, Choices, Purchase};
use crate::domain::refusal::Refusal;
use crate::domain::requests::CheckRequest;
use crate::http::{Call, Reply};

/// POST /v1/x402/check.
pub async fn buy(app: Shared, call: Call) -> Reply {
    paid::buy(&app, &call, Product::Check).await
}

/// GET /v1/x402/check.
pub async fn probe(app: Shared, call: Call) -> Reply {
    paid::probe(&app, &call, Product::Check)
}

/// The purchase.
pub fn purchase(app: &Shared, body: &CheckRequest, depth: CheckDepth) -> Result<Purchase, Refusal> {
    let refresh = body.force_refresh.unwrap_or(false);
    let choices = Choices::new(Level::Check(depth), refresh, body.render);
    Ok(Purchase::Check(CheckPurchase {
        text: body.text.clone(),
        sources: sources::of_bodies(app, &body.sources, "sources")?,
        depth: depth.name().to_owned(),
        choices: choices.with_comments(body.include_comments.unwrap_or(false)),
    }))
}
