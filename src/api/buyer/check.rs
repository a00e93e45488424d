//! The endpoint that checks a whole text: buy a check of each of its claims.

use crate::api::buyer::sources;
use crate::app::Shared;
use crate::domain::check::CheckDepth;
use crate::domain::level::Level;
use crate::domain::purchase::{CheckPurchase, Choices, Purchase};
use crate::domain::refusal::Refusal;
use crate::domain::requests::CheckRequest;

/// The purchase.
pub fn purchase(app: &Shared, body: &CheckRequest, depth: CheckDepth) -> Result<Purchase, Refusal> {
    let refresh = body.force_refresh.unwrap_or(false);
    let choices = Choices::new(Level::Check(depth), refresh, body.render);
    Ok(Purchase::Check(CheckPurchase {
        text: body.text.clone(),
        sources: sources::of_bodies(app, &body.sources, "sources")?,
        depth,
        choices: choices.with_comments(body.include_comments.unwrap_or(false)),
    }))
}
