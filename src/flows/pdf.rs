//! A report as a PDF document: a place among the examinations, the document, and once more with the machine's fonts
//! where the built-in ones lack a character. Keeps nothing.

use serde_json::{Map, Value};

use crate::app::App;
use crate::domain::refusal::{Code, Refusal};
use crate::flows::internal;
use crate::pdf::{Fonts, PdfError, Rendered, render, render_report};

/// The document of a bundle's report.
pub async fn of_bundle(app: &App, report: Map<String, Value>) -> Result<Rendered, Refusal> {
    write(app, move |fonts| render(&report, fonts)).await
}

/// The document of a single report.
pub async fn of_report(app: &App, report: Map<String, Value>) -> Result<Rendered, Refusal> {
    write(app, move |fonts| render_report(&report, fonts)).await
}

async fn write(
    app: &App,
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
    let rendered = app.outside.checks.run(work).await;
    let rendered = rendered.map_err(|_| Refusal::of(Code::Overloaded))?;
    rendered.map_err(|error| internal("a document cannot be written", &error))
}
