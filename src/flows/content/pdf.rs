//! A report as PDF: waits for a permit, renders, and renders again with the system's fonts if the built-in ones lack a
//! character. Stores nothing.

use serde_json::{Map, Value};

use crate::app::{App, Shared};
use crate::domain::code::Code;
use crate::domain::level::Product;
use crate::domain::limit_reached::LimitReached;
use crate::domain::refusal::Refusal;
use crate::evidence::bundle::BundleReport;
use crate::flows::content::reports::{self, Retained};
use crate::flows::internal;
use crate::outside::call::Permit;
use crate::pdf::{Fonts, PdfError, Rendered, render, render_report};

/// The PDF of a bundle's report, which is paid.
pub async fn of_bundle(app: &App, report: BundleReport) -> Result<Rendered, Refusal> {
    let place = app.outside.checks.enter().await.map_err(full)?;
    write(app, place, move |fonts| render(&report, fonts)).await
}

/// The PDF of a Proof Pack, free. The report is read after the permit is granted: waiting requests hold none.
pub async fn of_report(app: &Shared, retained: &Retained) -> Result<Rendered, Refusal> {
    let place = reports::place(app, retained).await?;
    match retained.product() {
        Product::ProofBundle => {
            let report = reports::read_bundle(app, retained).await?;
            return write(app, place, move |fonts| render(&report, fonts)).await;
        }
        Product::Check | Product::Context => {
            let message = "There is no PDF of a checked text's report.";
            return Err(Refusal::new(Code::NotOfferedForReport, message));
        }
        Product::ProofPack => {}
    }
    let body = reports::body(app, retained).await?;
    let report: Map<String, Value> = serde_json::from_slice(&body)
        .map_err(|error| internal("a stored report cannot be read", &error))?;
    write(app, place, move |fonts| render_report(&report, fonts)).await
}

fn full(_: LimitReached) -> Refusal {
    Refusal::of(Code::Overloaded)
}

async fn write(
    app: &App,
    place: Permit,
    render: impl Fn(&Fonts) -> Result<Rendered, PdfError> + Send + 'static,
) -> Result<Rendered, Refusal> {
    let shelf = app.outside.fonts.clone();
    let work = move || {
        let plain = render(&Fonts::embedded())?;
        if plain.missing_glyphs == 0 || shelf.is_empty() {
            return Ok(plain);
        }
        render(&Fonts::with(shelf.read()))
    };
    let rendered = place.run(work).await.map_err(full)?;
    rendered.map_err(|error| internal("a PDF could not be rendered", &error))
}
