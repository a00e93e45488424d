//! `/checkout/{quote_id}`: returns to a saved quote. The lookup happens elsewhere.

use maud::{Markup, html};

use crate::domain::level::{Level, Product};
use crate::domain::time::UnixSeconds;
use crate::pages::buyer::wallet;
use crate::pages::commands::Item;
use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::price_lists;
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
    /// Its 7 days are over; only its identifier is still known.
    Expired {
        is_bundle: bool,
    },
}

/// A quote that is still valid.
#[derive(Clone, Copy, Debug)]
pub struct KeptQuote<'a> {
    pub target_url: &'a str,
    /// The question, for a report.
    pub question: Option<&'a str>,
    /// Overrides the cache mode of the level.
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
            description: "A saved quote, with the command to buy it.",
            path: &path,
            noindex: true,
        },
        match &view.state {
            CheckoutState::Kept(quote) => kept_quote(view, quote),
            CheckoutState::Expired { is_bundle } => expired_quote(view, *is_bundle),
        },
    )
}

fn kept_quote(view: &CheckoutView<'_>, quote: &KeptQuote<'_>) -> Markup {
    let (level, price) = (quote.level, parts::usdc(quote.level.price()));
    let item = Item {
        target_url: quote.target_url,
        level,
        question: quote.question,
        force_refresh: quote.force_refresh,
    };
    let all = match level.product() {
        Product::Context => parts::quote_path(quote.target_url),
        _ => parts::report_quote_path(quote.target_url, quote.question.unwrap_or_default()),
    };
    html! {
        p.kicker { "Quote valid until " (parts::time(quote.expires_at)) }
        h1 { "Your quote: " (price) }
        dl.facts {
            dt { "Page" } dd { (parts::foreign_link(quote.target_url)) }
            @if let Some(question) = quote.question { dt { "Question" } dd { (question) } }
            dt { @match level.product() { Product::Context => "Tier", _ => "Pack" } }
            dd { strong { (level.name()) } ": " (price_lists::in_words(level, view.site.has_model)) }
            dt { "Price" } dd { (price) " on " (view.site.network_name()) }
            dt { "Created" } dd { (parts::time(quote.created_at)) }
            dt { "Quote" } dd { code { (view.quote_id) } }
        }
        h2 #buy { "Buy it now" }
        @if quote.force_refresh.is_none() {
            (parts::wallet_button(&view.site, &wallet::path(item)))
        }
        p { "The quote is free. These commands pay at most the price above:" }
        (parts::ways_to_buy(&view.site, item))
        (parts::what_to_install(&view.site))
        .actions {
            a.button.quiet href=(all) { "Compare all prices" }
            a.button.quiet href={ "/v1/quotes/" (parts::path_segment(view.quote_id)) } { "Receipt as JSON" }
        }
    }
}

fn expired_quote(view: &CheckoutView<'_>, is_bundle: bool) -> Markup {
    html! {
        h1 { "This quote has expired" }
        p.lead { "Quotes are valid for 7 days. Nothing was charged, and a new quote is free." }
        dl.facts { dt { "Quote" } dd { code { (view.quote_id) } } }
        @if is_bundle {
            .actions { a.button href="/proof-pack/bundle/quote" { "Get a new quote" } }
        } @else {
            (parts::quote_form(&view.site, ""))
            .actions { a.button.quiet href="/proof-pack/quote" { "Quote a Proof Pack instead" } }
        }
    }
}
