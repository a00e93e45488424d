//! The part of a page that a buyer asks for, cut from the page as it was read. CPU-bound: it runs on its own threads.

use std::time::Instant;

use crate::app::Shared;
use crate::domain::code::Code;
use crate::domain::depth::Depth;
use crate::domain::excerpt::Excerpt;
use crate::domain::refusal::Refusal;
use crate::flows::content::MEMORY_WAIT_MAX;
use crate::flows::content::source::{SourcePage, Trouble};
use crate::flows::internal;
use crate::markdown::Narrowing;
use crate::state::excerpt::{NoExcerpt, excerpt_goods};

/// Maximum memory of cutting per byte of the page's members: the members twice, the text twice, its units, pieces and index.
const CUTTING_FACTOR: usize = 9;
/// Memory per byte that is needed until the sale is stored: the page, its part, and the store's copies of both.
const HELD_FACTOR: usize = 6;

/// Whether a CSS selector can be used.
///
/// # Errors
/// Why not, as a sentence without a period.
pub fn check_selector(selector: &str) -> Result<(), String> {
    Narrowing::parse_selector(selector).map(drop)
}

/// Puts the part that is asked for beside the page.
pub async fn cut(app: &Shared, wanted: &Excerpt, source: &mut SourcePage) -> Result<(), Trouble> {
    let full = |_| {
        let message = "Too many pages are being cut to excerpts. Try again in a few seconds.";
        Trouble::Outage(Refusal::new(Code::Overloaded, message))
    };
    let page = source.page.clone();
    let depth = match app.config.entailment_model {
        true => Depth::Standard,
        false => Depth::Quick,
    };
    let (asked, mut permit) = (wanted.clone(), source.permit.hand_over());
    let cutting = app.outside.checks.run(move || {
        let deadline = Instant::now() + MEMORY_WAIT_MAX;
        let bytes = page.members.len();
        let permitted = permit.resize(bytes * CUTTING_FACTOR, deadline);
        permitted?;
        let sold = excerpt_goods(&page, &asked, depth);
        drop(page);
        permit.shrink(HELD_FACTOR * bytes);
        Ok((sold, permit))
    });
    let (sold, permit) = cutting.await.and_then(|outcome| outcome).map_err(full)?;
    source.permit = permit;
    source.sold = Some(sold.map_err(|why| Trouble::Refused(refusal(why)))?);
    Ok(())
}

fn refusal(why: NoExcerpt) -> Refusal {
    match why {
        NoExcerpt::Empty => Refusal::new(
            Code::NothingReadable,
            "Without what the request leaves out, the page has no readable text.",
        ),
        NoExcerpt::TooSmall => Refusal::of(Code::BudgetTooSmall),
        NoExcerpt::Json(error) => internal("a page could not be read as JSON", &error),
    }
}
