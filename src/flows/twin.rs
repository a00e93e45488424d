//! A page of our own as markdown, by the converter that is for sale.

use crate::app::Shared;
use crate::domain::refusal::{Code, Refusal};
use crate::flows::internal;
use crate::markdown::{ContentKind, ConvertError, Converter, Settings};

/// The main part of a page, under its title and address.
pub async fn markdown(app: &Shared, path: &str, html: String) -> Result<String, Refusal> {
    let url = app.url(path);
    let title = between(&html, "<title>", "</title>").unwrap_or_default();
    let main = between(&html, "<main id=\"main\">", "</main>").unwrap_or(&html);
    let document = format!("<!DOCTYPE html><title>{title}</title><main>{main}</main>");
    let address = url.clone();
    let converted = app.outside.checks.run(move || converted(&document, &url));
    match converted.await {
        Ok(Ok(markdown)) => Ok(format!("---\nurl: {address}\n---\n\n{markdown}")),
        Ok(Err(error)) => Err(internal(
            "a page of ours has no markdown",
            &error.to_string(),
        )),
        Err(_) => Err(Refusal::of(Code::Overloaded)),
    }
}

fn converted(document: &str, url: &str) -> Result<String, ConvertError> {
    let mut converter = Converter::new(Settings {
        kind: ContentKind::Html,
        url: url.parse().map_err(|_| ConvertError::Empty)?,
        charset: Some("utf-8".to_owned()),
        full: true,
    });
    converter.push(document.as_bytes())?;
    Ok(converter.finish()?.markdown)
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let rest = text.split_once(start)?.1;
    Some(rest.split_once(end)?.0)
}
