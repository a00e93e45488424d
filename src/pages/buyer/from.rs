//! `/from/{source}`: the landing page for buyers who come from somewhere in particular. Its commands go through
//! the alias that keeps the attribution; a source that is no label is dropped.

use maud::html;

use crate::domain::level::Product;
use crate::domain::tier::Tier;
use crate::pages::commands::{self, Item};
use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::site::Site;

#[derive(Clone, Copy, Debug)]
pub struct FromView<'a> {
    pub site: Site<'a>,
    /// Where the buyer came from, as it stands in the path, if it is a label.
    pub source: Option<&'a str>,
}

/// The landing page. Its canonical address is the home page, of which it is a variant.
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
            @if let Some(source) = view.source { p.kicker { "You come from " (source) } }
            h1 { "Any public web page as clean markdown, paid per call" }
            p.lead {
                "One request, one signature, one receipt. No account, no API key. "
                "If we can’t deliver, you don’t pay."
            }
            (parts::quote_form(site, ""))
            h2 #ask { "Ask for the price" }
            @if let Some(source) = view.source {
                p { "Requests under this address behave like the plain ones and are counted for " strong { (source) } "." }
            }
            (parts::code("Shell", &commands::challenge_curl_at(site, &access, Item::page(&site.sample_url(), Tier::Starter))))
            h2 #prices { "What a page costs" }
            (parts::tier_table())
            .actions {
                a.button href="/quickstart" { "Buy a first page" }
                a.button.quiet href="/" { "More about the service" }
            }
        },
    )
}
