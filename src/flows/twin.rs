//! A page of our own as markdown, by the converter that is for sale.

use crate::app::Shared;
use crate::domain::refusal::{Code, Refusal};
use crate::flows::internal;
use crate::markdown::{ContentKind, ConvertError, Converter, Settings};

/// Elements that say nothing where they cannot be used or seen.
const ONLY_SEEN: [&str; 5] = ["form", "nav", "script", "meter", "output"];

/// The main part of a page, under its title and address.
pub async fn markdown(app: &Shared, path: &str, html: String) -> Result<String, Refusal> {
    let url = app.url(path);
    let title = between(&html, "<title>", "</title>").unwrap_or_default();
    let main = between(&html, "<main id=\"main\">", "</main>").unwrap_or(&html);
    let text = ONLY_SEEN
        .iter()
        .fold(main.to_owned(), |text, element| without(&text, element));
    let document = format!("<!DOCTYPE html><title>{title}</title><main>{text}</main>");
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

/// A page of ours without its elements of one name, none of which stand within another.
fn without(html: &str, element: &str) -> String {
    let (start, end) = (format!("<{element} "), format!("</{element}>"));
    let mut pieces = html.split(start.as_str());
    let mut kept = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        kept.push_str(
            piece
                .split_once(end.as_str())
                .map_or("", |(_, after)| after),
        );
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_used_in_markdown_is_left_out() {
        let html = r#"a <form action="/x">b <b>c</b></form> d <nav id="n">e</nav>"#;
        assert_eq!(without(&without(html, "form"), "nav"), "a  d ");
        assert_eq!(without("<p>formal</p>", "form"), "<p>formal</p>");
    }
}
