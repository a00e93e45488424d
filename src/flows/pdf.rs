//! A report as a PDF document: a place among the examinations, the fonts that it needs, the document. Keeps nothing.

use serde_json::{Map, Value};

use crate::app::App;
use crate::domain::refusal::{Code, Refusal};
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
    render: impl FnOnce(&Fonts) -> Result<Rendered, PdfError> + Send + 'static,
) -> Result<Rendered, Refusal> {
    let work = move || render(&Fonts::embedded());
    let rendered = app.outside.checks.run(work).await;
    let rendered = rendered.map_err(|_| Refusal::of(Code::Overloaded))?;
    rendered.map_err(|error| {
        tracing::error!(%error, "a document could not be written");
        Refusal::of(Code::Internal)
    })
}
