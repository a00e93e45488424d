//! `/from/{source}`: the landing page for referred buyers. Its commands use the alias that records the attribution;
//! a source that is not a valid label is dropped.

use maud::html;

use crate::domain::level::Product;
use crate::domain::tier::Tier;
use crate::pages::commands::{self, Item};
use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::price_lists;
use crate::pages::site::Site;

#[derive(Clone, Copy, Debug)]
pub struct FromView<'a> {
    pub site: Site<'a>,
    /// The referrer from the path, if it is a valid label.
    pub source: Option<&'a str>,
}

/// The landing page. Its canonical address is the home page.
pub fn page(view: &FromView<'_>) -> String {
    let site = &view.site;
    let alias = view.source.map(parts::path_segment);
    let alias = alias.map(|segment| format!("/from/{segment}"));
    let access = alias.unwrap_or_default() + Product::Context.path();
    layout(
        Layout {
            site: view.site,
            title: "Welcome",
            description: "Clean markdown of any public web page, paid per call in USDC over x402.",
            path: "/",
            noindex: true,
        },
        html! {
            @if let Some(source) = view.source { p.kicker { "Welcome from " (source) } }
            h1 { "Any public web page as clean markdown, paid per call" }
            p.lead {
                "One request, one signature, one receipt. No account, no API key. "
                "If we can’t deliver, you don’t pay."
            }
            (parts::quote_form(site, ""))
            h2 #ask { "Get the price" }
            @if let Some(source) = view.source {
                p { "Requests to this address work as usual and are attributed to " strong { (source) } "." }
            }
            (parts::code("Shell", &commands::challenge_curl_at(site, &access, Item::page(&site.sample_url(), Tier::Starter))))
            h2 #prices { "What a page costs" }
            (price_lists::tier_table())
            .actions {
                a.button href="/quickstart" { "Buy your first page" }
                a.button.quiet href="/" { "More about the service" }
            }
        },
    )
}
