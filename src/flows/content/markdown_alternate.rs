//! One of our own pages as markdown. A constant page is converted once; others need a permit and memory first, so that
//! many requests for markdown use no more memory than for HTML.

use crate::app::Shared;
use crate::domain::code::Code;
use crate::domain::refusal::Refusal;
use crate::flows::content::MEMORY_WAIT_MAX;
use crate::flows::internal;
use crate::markdown::{ContentKind, ConvertError, Converter, Settings};
use crate::state::markdown_alternates::Markdown;
use crate::state::page;

/// Elements that have no meaning in markdown.
const ONLY_SEEN: [&str; 5] = ["form", "nav", "script", "meter", "output"];

/// Maximum memory of a conversion per byte of the page: copies, converter state and markdown.
const CONVERTING_FACTOR: usize = 8;

/// The markdown of a constant page, made on the first request and then shared until the page changes. Concurrent requests
/// wait for it without holding memory.
pub async fn alternate(
    app: &Shared,
    pattern: &'static str,
    path: &str,
    html: impl AsRef<[u8]> + Send + 'static,
) -> Result<Markdown, Refusal> {
    let page = app.alternates.of(pattern, html.as_ref());
    let made = page.get_or_try_init(|| markdown(app, path, html)).await;
    made.cloned()
}

/// The main part of a page, under its title and address. Fails with [`Code::Overloaded`] if too many requests wait for a
/// permit already.
pub async fn markdown(
    app: &Shared,
    path: &str,
    html: impl AsRef<[u8]> + Send + 'static,
) -> Result<Markdown, Refusal> {
    let full = || Refusal::of(Code::Overloaded);
    let place = app.outside.free_checks.enter().await.map_err(|_| full())?;
    let mut permit = app.outside.memory.nothing();
    let permitted = permit.resized(CONVERTING_FACTOR * html.as_ref().len(), MEMORY_WAIT_MAX);
    permitted.await.map_err(|_| full())?;
    let url = app.url(path);
    let converted = place.run(move || {
        let _permit = permit;
        let markdown = converted(&String::from_utf8_lossy(html.as_ref()), &url)?;
        let text = format!("---\nurl: {url}\n---\n\n{markdown}");
        Ok(Markdown {
            tokens: page::tokens(&text),
            text: text.into_bytes().into(),
        })
    });
    match converted.await {
        Ok(Ok(markdown)) => Ok(markdown),
        Ok(Err(error)) => Err(no_markdown(&error)),
        Err(_) => Err(full()),
    }
}

fn no_markdown(error: &ConvertError) -> Refusal {
    internal("one of our pages could not be converted to markdown", error)
}

fn converted(html: &str, url: &str) -> Result<String, ConvertError> {
    let title = between(html, "<title>", "</title>").unwrap_or_default();
    let main = between(html, "<main id=\"main\">", "</main>").unwrap_or(html);
    let text = ONLY_SEEN
        .iter()
        .fold(main.to_owned(), |text, element| without(&text, element));
    let document = format!("<!DOCTYPE html><title>{title}</title><main>{text}</main>");
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

/// The page without its elements of one name, which must not be nested.
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
    use crate::evidence::PassageKind;
    use crate::evidence::report::citation::Context;
    use crate::evidence::report::sample::outcomes;
    use crate::pages::buyer::report::brief;

    /// The heading, the passage and the sentences around it ran into each other.
    #[test]
    fn the_parts_of_an_excerpt_stand_apart() {
        let mut outcomes = outcomes().expect("the reports");
        let citation = &mut outcomes[0].citations[0];
        citation.kind = PassageKind::Paragraph;
        citation.heading_path = vec!["Title".to_owned(), "What tenants pay".to_owned()];
        let context = |excerpt: &str| {
            Some(Context {
                excerpt: excerpt.to_owned(),
                start: 0,
                end: 1,
            })
        };
        (citation.before, citation.after) =
            (context("It comes before."), context("It comes after."));
        let first = citation
            .quote()
            .split(' ')
            .next()
            .unwrap_or_default()
            .to_owned();
        let html = brief(&outcomes[0]).into_string();
        let markdown = converted(&html, "https://example.com/").expect("markdown");
        for part in [
            "What tenants pay\n",
            "It comes before.\n",
            &format!("> {first}"),
            "> It comes after.\n",
        ] {
            assert!(markdown.contains(part), "{part:?}: {markdown}");
        }
    }

    #[test]
    fn what_cannot_be_used_in_markdown_is_left_out() {
        let html = r#"a <form action="/x">b <b>c</b></form> d <nav id="n">e</nav>"#;
        assert_eq!(without(&without(html, "form"), "nav"), "a  d ");
        assert_eq!(without("<p>formal</p>", "form"), "<p>formal</p>");
    }
}
