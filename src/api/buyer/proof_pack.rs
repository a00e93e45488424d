//! The Proof Pack endpoint: buy a report on a page, or probe its price.

use crate::api::buyer::sources;
use crate::app::Shared;
use crate::domain::pack::Pack;
use crate::domain::purchase::{ProofPackPurchase, Purchase};
use crate::domain::refusal::Refusal;
use crate::domain::render::Render;
use crate::domain::requests::ProofPackRequest;
use crate::domain::schema::ValidationError;

/// The purchase.
pub fn purchase(app: &Shared, body: &ProofPackRequest, pack: Pack) -> Result<Purchase, Refusal> {
    let target_url = sources::canonical_target(app, &body.target_url)?;
    let question = body.question.as_deref();
    let screenshot = screenshot(body, pack)?;
    let mut purchase =
        ProofPackPurchase::new(target_url, pack, question, body.force_refresh, body.render);
    let comments = body.include_comments.unwrap_or(false);
    purchase.choices = purchase.choices.with_comments(comments);
    Ok(Purchase::ProofPack(purchase.with_screenshot(screenshot)))
}

/// Whether a picture of the page is asked for, and fits the rest of the request.
fn screenshot(body: &ProofPackRequest, pack: Pack) -> Result<bool, Refusal> {
    if body.screenshot != Some(true) {
        return Ok(false);
    }
    let needs = match (pack, body.render) {
        (Pack::Deep, Some(Render::Never)) => "a browser, and render is never",
        (Pack::Deep, _) => return Ok(true),
        (Pack::Quick | Pack::Standard, _) => "the pack deep",
    };
    let why = format!("screenshot needs {needs}");
    let error = ValidationError::value(&["body", "screenshot"], why, Some(true.into()));
    Err(Refusal::validation(vec![error]))
}
