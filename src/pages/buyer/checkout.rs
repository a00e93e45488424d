//! `/checkout/{quote_id}`: comes back to a kept quote. Quotes are looked up elsewhere.

use maud::{Markup, html};

use crate::domain::level::{Level, Product};
use crate::domain::time::UnixSeconds;
use crate::pages::commands::Item;
use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::site::Site;

/// One quote, by its identifier.
#[derive(Clone, Copy, Debug)]
pub struct CheckoutView<'a> {
    pub site: Site<'a>,
    pub quote_id: &'a str,
    pub state: CheckoutState<'a>,
}

#[derive(Clone, Copy, Debug)]
pub enum CheckoutState<'a> {
    Kept(KeptQuote<'a>),
    /// Kept once, but its 7 days are over: only its identifier is still known.
    Expired {
        is_bundle: bool,
    },
}

/// A quote that still stands.
#[derive(Clone, Copy, Debug)]
pub struct KeptQuote<'a> {
    pub target_url: &'a str,
    /// What is asked of it, for a report.
    pub question: Option<&'a str>,
    /// What is said of the cache, where it is not what the level does by itself.
    pub force_refresh: Option<bool>,
    /// The level that was chosen, or the recommended one.
    pub level: Level,
    pub created_at: UnixSeconds,
    pub expires_at: UnixSeconds,
}

/// The resume page.
pub fn page(view: &CheckoutView<'_>) -> String {
    let path = format!("/checkout/{}", parts::path_segment(view.quote_id));
    layout(
        Layout {
            site: view.site,
            title: "Your quote",
            description: "A kept quote, with the command to buy it.",
            path: &path,
            noindex: true,
        },
        match &view.state {
            CheckoutState::Kept(quote) => kept(view, quote),
            CheckoutState::Expired { is_bundle } => expired(view, *is_bundle),
        },
    )
}

fn kept(view: &CheckoutView<'_>, quote: &KeptQuote<'_>) -> Markup {
    let (level, price) = (quote.level, quote.level.price());
    let item = Item {
        target_url: quote.target_url,
        level,
        question: quote.question,
        force_refresh: quote.force_refresh,
    };
    let all = match level.product() {
        Product::Context => parts::quote_path(quote.target_url),
        Product::ProofPack => {
            parts::report_quote_path(quote.target_url, quote.question.unwrap_or_default())
        }
    };
    html! {
        p.kicker { "Quote kept until " (parts::time(quote.expires_at)) }
        h1 { "Your quote: " (price) " USDC" }
        dl.facts {
            dt { "Page" } dd { (parts::foreign_link(quote.target_url)) }
            @if let Some(question) = quote.question { dt { "Question" } dd { (question) } }
            dt { @match level.product() { Product::Context => "Tier", Product::ProofPack => "Pack" } }
            dd { strong { (level.name()) } ": " (level.policy()) }
            dt { "Price" } dd { (price) " USDC (" (price.units()) " units) on "
                (view.site.network_name()) }
            dt { "Asked" } dd { (parts::time(quote.created_at)) }
            dt { "Quote" } dd { code { (view.quote_id) } }
        }
        h2 #buy { "Buy it now" }
        p { "A quote costs nothing. This pays the price above and never more:" }
        (parts::ways_to_buy(&view.site, item))
        p.small.muted { "What to install and where the key goes: " a href="/quickstart#buyer" { "the quickstart" } "." }
        .actions {
            a.button.quiet href=(all) { "Compare all prices" }
            a.button.quiet href={ "/v1/quotes/" (parts::path_segment(view.quote_id)) } { "Receipt as JSON" }
        }
    }
}

fn expired(view: &CheckoutView<'_>, is_bundle: bool) -> Markup {
    html! {
        h1 { "This quote has expired" }
        p.lead { "Quotes are kept for 7 days. Nothing was charged, and a new one costs nothing." }
        dl.facts { dt { "Quote" } dd { code { (view.quote_id) } } }
        @if is_bundle {
            .actions { a.button href="/proof-pack/bundle/quote" { "Ask for a new quote" } }
        } @else {
            (parts::quote_form(&view.site, ""))
            .actions { a.button.quiet href="/proof-pack/quote" { "Quote a report instead" } }
        }
    }
}
