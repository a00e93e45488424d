//! `/sample`: an article of our own, the default target of quotes; the starter tier always delivers it. The converter
//! makes its markdown from exactly these bytes.

use crate::pages::site::Site;

const SOURCE: &str = include_str!("../../../data/samples/sample.html");

/// The article as served, with the service's address filled in.
pub fn page(site: &Site<'_>) -> String {
    SOURCE.replace("{base_url}", &maud::html! { (site.base_url) }.into_string())
}

/// The body of the page up to its second heading, to show the converter's input.
pub(crate) fn excerpt(site: &Site<'_>) -> String {
    let page = page(site);
    let end = page.find("<h2>").unwrap_or(page.len());
    let start = page.find("<body>").unwrap_or_default();
    page[start..end].trim_end().to_owned()
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
    fn the_excerpt_ends_before_the_second_heading() {
        let excerpt = excerpt(&site());
        assert!(excerpt.contains("<h1>How HTTP 402 works with x402</h1>"));
        assert!(!excerpt.contains("<h2>"));
    }
}
