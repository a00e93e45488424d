//! Takes the picture of a page that is part of a report, if its buyer asks for one. A report is sold without its picture
//! where none can be made: the text and its evidence are what is paid for, and the report says why there is none.

use std::time::Instant;

use sha2::{Digest, Sha256};

use crate::app::{App, Shared};
use crate::domain::purchase::Purchase;
use crate::domain::target::TargetUrl;
use crate::evidence::report::Report;
use crate::evidence::report::citation::EXCERPT_BYTES_MAX;
use crate::evidence::report::screenshot::{Image, MediaType, NoImage, NoImageCode, Screenshot};
use crate::flows::content::rendering;
use crate::outside::render::job::{FailureKind, PASSAGE_CHARACTERS_MAX, Pictured, ScreenshotJob};
use crate::outside::render::{RenderError, picture};

// Every passage is looked for whole: of a part, a picture would claim to show all of it.
const _: () = assert!(EXCERPT_BYTES_MAX <= PASSAGE_CHARACTERS_MAX);

/// A picture as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Png {
    pub sha256: [u8; 32],
    pub bytes: Vec<u8>,
}

/// Whether a browser is asked for a picture of this purchase.
pub fn may_take(app: &App, purchase: &Purchase) -> bool {
    purchase.has_screenshot() && app.outside.renderer.is_some()
}

/// Takes a picture of a report's source around its first citation, and notes in the report what came of it.
pub async fn add(app: &Shared, report: &mut Report, payer: &str) -> Option<Png> {
    let (image, png, warning) = match take_picture(app, report, payer).await {
        Ok((image, png)) => (Some(image), Some(png), None),
        Err(error) => (None, None, Some(no_image(&error))),
    };
    report.set_screenshot(Screenshot { image, warning });
    png
}

async fn take_picture(
    app: &Shared,
    report: &Report,
    payer: &str,
) -> Result<(Image, Png), RenderError> {
    if app.outside.renderer.is_none() {
        return Err(RenderError::Unavailable("no browser".to_owned()));
    }
    let final_url = &report.source_profile.final_url;
    let failed = |detail: String| RenderError::Failed {
        kind: FailureKind::NotOpened,
        detail,
    };
    // Such as our own sample page, which is not fetched.
    let url = TargetUrl::parse(final_url).map_err(|error| failed(error.to_string()))?;
    let cited = report.citations.first();
    let passage = cited.map(|citation| citation.quote().chars());
    let wanted = ScreenshotJob {
        passage: passage.map(|text| text.take(PASSAGE_CHARACTERS_MAX).collect()),
    };
    let began = Instant::now();
    let rendered = rendering::open_page(app, &url, payer, Some(wanted)).await;
    rendering::note(app, rendered.as_ref().map(drop), began);
    let (page, last) = rendered?;
    let shows_passage = match page.facts.screenshot {
        Some(Pictured::Taken { shows_passage }) => shows_passage,
        Some(Pictured::Failed(reason)) => return Err(failed(reason)),
        None => return Err(failed("the render worker took no picture".to_owned())),
    };
    let png = page.png.unwrap_or_default();
    let (width, height) =
        picture::size(&png).ok_or_else(|| failed("the browser gave no picture".to_owned()))?;
    let sha256: [u8; 32] = Sha256::digest(&png).into();
    let image = Image {
        sha256: hex::encode(sha256),
        media_type: MediaType::Png,
        bytes: png.len(),
        width,
        height,
        final_url: last.as_str().to_owned(),
        captured_at: app.now().0,
        citation_id: cited
            .filter(|_| shows_passage)
            .map(|citation| citation.id.clone()),
    };
    Ok((image, Png { sha256, bytes: png }))
}

fn no_image(error: &RenderError) -> NoImage {
    match error.is_ours() {
        true => NoImage {
            code: NoImageCode::Unavailable,
            message: "No browser was available to take a picture of the page; the report is complete without it.".to_owned(),
        },
        false => NoImage {
            code: NoImageCode::Failed,
            message: format!(
                "No picture of the page could be taken: {error}. The report is complete without it."
            ),
        },
    }
}
