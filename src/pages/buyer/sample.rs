//! `/sample`: an article of our own, the default target of quotes; the starter tier always delivers it. The converter
//! makes its markdown from exactly these bytes.

use maud::{Markup, PreEscaped, html};

use crate::pages::site::Site;

const SOURCE: &str = include_str!("../../../data/samples/sample.html");

/// The article as served, with the service's address filled in.
pub fn page(site: &Site<'_>) -> String {
    SOURCE.replace("{base_url}", &maud::html! { (site.base_url) }.into_string())
}

/// The article with the navigation above it, as part of another page: its headings are paragraphs there.
pub(crate) fn article(site: &Site<'_>) -> Markup {
    let page = page(site);
    let between = |begin: &str, end: &str| {
        let (_, rest) = page.split_once(begin)?;
        Some(rest.split_once(end)?.0)
    };
    let mut article = between(r#"<article class="article">"#, "</article>")
        .unwrap_or_default()
        .to_owned();
    for level in ["h1", "h2", "h3"] {
        let (open, close) = (format!("<{level}>"), format!("</{level}>"));
        article = article.replace(&open, r#"<p class="heading">"#);
        article = article.replace(&close, "</p>");
    }
    html! {
        p.small.muted { "context402 · Docs · Quickstart · Quote" }
        (PreEscaped(article))
    }
}

#[cfg(test)]
mod tests {
    use crate::pages::buyer::sample::*;
    use crate::pages::tests::site;

    #[test]
    fn the_sample_is_a_whole_page_that_knows_its_address() {
        let page = page(&site());
        assert!(
            page.contains(r#"<link rel="canonical" href="https://shop.sample-site.org/sample">"#)
        );
        assert!(!page.contains("{base_url}"));
        for part in [
            "<h1>",
            "<table>",
            "<pre><code",
            "<ol>",
            "<ul>",
            "<blockquote>",
            "article:published_time",
        ] {
            assert!(page.contains(part), "{part}");
        }
    }

    #[test]
    fn the_rendered_article_has_no_heading_of_its_own() {
        let article = article(&site()).into_string();
        assert!(article.contains(r#"<p class="heading">How HTTP 402 works with x402</p>"#));
        assert!(
            article.contains("<table>") && !article.contains("<h"),
            "{article}"
        );
    }
}
