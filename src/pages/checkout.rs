//! `/checkout/{quote_id}`: comes back to a kept quote. Quotes are looked up elsewhere.

use maud::{Markup, html};

use crate::domain::tier::Tier;
use crate::domain::time::UnixSeconds;
use crate::pages::commands;
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
    /// Kept once, but its 7 days are over.
    Expired {
        /// The page it was for, when that is still known.
        target_url: Option<&'a str>,
    },
}

/// A quote that still stands.
#[derive(Clone, Copy, Debug)]
pub struct KeptQuote<'a> {
    pub target_url: &'a str,
    /// The tier that was chosen, or the recommended one.
    pub tier: Tier,
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
            description: "A kept quote for one web page, with the command to buy it.",
            path: &path,
            noindex: true,
            markdown: None,
        },
        match &view.state {
            CheckoutState::Kept(quote) => kept(view, quote),
            CheckoutState::Expired { target_url } => expired(view, *target_url),
        },
    )
}

fn kept(view: &CheckoutView<'_>, quote: &KeptQuote<'_>) -> Markup {
    html! {
        p.kicker { "Quote kept until " (parts::time(quote.expires_at)) }
        h1 { "Your quote: " (quote.tier.price()) " USDC" }
        dl.facts {
            dt { "Page" } dd { (parts::foreign_link(quote.target_url)) }
            dt { "Tier" } dd { strong { (quote.tier.name()) } ": " (quote.tier.policy()) }
            dt { "Price" } dd { (quote.tier.price()) " USDC (" (quote.tier.price().units()) " units) on "
                (view.site.network_name()) }
            dt { "Asked" } dd { (parts::time(quote.created_at)) }
            dt { "Quote" } dd { code { (view.quote_id) } }
        }
        h2 #buy { "Buy it now" }
        p { "A quote costs nothing. This pays the price above and never more:" }
        (parts::code("With our buyer", &commands::buy(&view.site, quote.target_url, quote.tier)))
        (parts::code("See the challenge first, without paying",
            &commands::challenge_curl(&view.site, quote.target_url, quote.tier)))
        p { "Other clients: " a href="/quickstart#buyer" { "TypeScript and Python" } "." }
        .actions {
            a.button.quiet href=(parts::quote_path(quote.target_url)) { "Compare all tiers" }
            a.button.quiet href={ "/v1/quotes/" (parts::path_segment(view.quote_id)) } { "Receipt as JSON" }
        }
    }
}

fn expired(view: &CheckoutView<'_>, target_url: Option<&str>) -> Markup {
    html! {
        h1 { "This quote has expired" }
        p.lead { "Quotes are kept for 7 days. Nothing was charged, and a new one costs nothing." }
        dl.facts { dt { "Quote" } dd { code { (view.quote_id) } } }
        (parts::quote_form(&view.site, target_url.unwrap_or_default()))
    }
}
