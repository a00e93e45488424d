//! `/quote` and `/proof-pack/quote`: a form for an address, and the current price of each tier or pack for it. Which of
//! them can deliver arrives in the view.

use maud::{Markup, html};

use crate::domain::level::{Level, Product};
use crate::domain::time::UnixSeconds;
use crate::pages::buyer::wallet;
use crate::pages::commands::Item;
use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::price_lists;
use crate::pages::site::Site;

/// The form, with or without a result under it.
#[derive(Clone, Debug)]
pub struct QuoteView<'a> {
    pub site: Site<'a>,
    pub product: Product,
    /// The value in the form: as typed, or empty.
    pub typed: &'a str,
    /// The same for the question to a source.
    pub typed_question: &'a str,
    pub outcome: QuoteOutcome<'a>,
}

#[derive(Clone, Debug)]
pub enum QuoteOutcome<'a> {
    /// No request yet.
    Nothing,
    /// The target cannot be sold; no quote was saved.
    Refused {
        /// An error code of `/docs`, such as `invalid_target`.
        code: &'a str,
        /// What is wrong, as a sentence with its full stop.
        message: &'a str,
    },
    Quoted(Quoted<'a>),
}

/// A saved quote for one target.
#[derive(Clone, Debug)]
pub struct Quoted<'a> {
    /// `None` if it was not saved.
    pub quote_id: Option<&'a str>,
    /// The target in its canonical form.
    pub target_url: &'a str,
    /// The question, for a report.
    pub question: Option<&'a str>,
    /// Whether a copy of the page is cached.
    pub is_cached: bool,
    /// Whether it is our sample page, which needs no copy.
    pub is_sample: bool,
    pub recommended: Level,
    /// Shown in this order.
    pub offers: Vec<LevelOffer<'a>>,
    pub expires_at: UnixSeconds,
}

/// Whether a level would deliver now.
#[derive(Clone, Copy, Debug)]
pub struct LevelOffer<'a> {
    pub level: Level,
    /// Why it would not deliver, as a sentence; `None` when it would.
    pub unavailable: Option<&'a str>,
}

/// The quote page.
pub fn page(view: &QuoteView<'_>) -> String {
    let asked = !matches!(view.outcome, QuoteOutcome::Nothing);
    let words = words(view.product);
    layout(
        Layout {
            site: view.site,
            title: words.title,
            description: words.description,
            path: words.path,
            noindex: asked,
        },
        html! {
            h1 { (words.heading) }
            @match view.product {
                Product::Context => (parts::quote_form(&view.site, view.typed)),
                _ => (parts::report_form(&view.site, view.typed, view.typed_question)),
            }
            @match &view.outcome {
                QuoteOutcome::Nothing => (nothing_asked(&view.site, view.product)),
                QuoteOutcome::Refused { code, message } => (parts::refusal_note(code, message)),
                QuoteOutcome::Quoted(quote) => (offers(&view.site, quote)),
            }
        },
    )
}

/// What differs between the products.
struct Words {
    title: &'static str,
    description: &'static str,
    path: &'static str,
    heading: &'static str,
    /// The endpoint for programs.
    api: &'static str,
}

fn words(product: Product) -> Words {
    match product {
        Product::Context => Words {
            title: "Quote",
            description: "See what a page costs at every tier before paying, with the exact command to buy it.",
            path: "/quote",
            heading: "What would this page cost?",
            api: "GET /v1/x402/quote?target_url=…",
        },
        _ => Words {
            title: "Proof Pack quote",
            description: "See what a Proof Pack costs at every level before paying, with the exact command to buy it.",
            path: "/proof-pack/quote",
            heading: "What would this Proof Pack cost?",
            api: "GET /v1/proof-pack/quote?target_url=…&question=…",
        },
    }
}

fn nothing_asked(site: &Site<'_>, product: Product) -> Markup {
    html! {
        h2 { "Price list" }
        @match product {
            Product::Context => (price_lists::tier_table()),
            _ => (price_lists::pack_table(site.has_model)),
        }
        p {
            "For programs: " code { (words(product).api) } " returns the same as JSON. A quote is valid for 7 days."
        }
    }
}

fn offers(site: &Site<'_>, quote: &Quoted<'_>) -> Markup {
    let word = quote.recommended.product().level_word();
    let item = Item {
        target_url: quote.target_url,
        level: quote.recommended,
        question: quote.question,
        force_refresh: None,
    };
    html! {
        h2 #offers { "Prices for this page" }
        dl.facts {
            dt { "Page" } dd { (parts::foreign_link(quote.target_url)) }
            @if let Some(question) = quote.question { dt { "Question" } dd { (question) } }
            dt { "Cached copy" } dd {
                @if quote.is_sample { "not needed; it is our sample page" }
                @else if quote.is_cached { "yes" }
                @else { "none; the page is fetched if the " (word) " allows it" }
            }
            dt { "Quote" } dd {
                @match quote.quote_id {
                    Some(id) => {
                        a href={ "/checkout/" (parts::path_segment(id)) } { code { (id) } }
                        ", valid until " (parts::time(quote.expires_at))
                    },
                    None => { "not saved: the store is full at the moment" },
                }
            }
        }
        (offer_table(quote, site.has_model))
        h2 #buy { "Buy it" }
        p { "With " (word) " " strong { (quote.recommended.name()) } ", for at most "
        (parts::usdc(quote.recommended.price())) "." }
        @if let Some(cheaper) = cheapest(quote) {
            p {
                "If an older copy is good enough, " a href=(wallet::path(Item { level: cheaper, ..item })) { (cheaper.name()) }
                " delivers one for " (parts::usdc(cheaper.price())) "."
            }
        }
        (parts::wallet_button(site, &wallet::path(item)))
        (parts::ways_to_buy(site, item))
        (parts::what_to_install(site))
    }
}

/// The cheapest tier that would deliver now, if it costs less than the recommended one.
fn cheapest(quote: &Quoted<'_>) -> Option<Level> {
    let offers = quote
        .offers
        .iter()
        .filter(|offer| offer.unavailable.is_none());
    let cheapest = offers
        .map(|offer| offer.level)
        .min_by_key(|level| level.price())?;
    let is_page = cheapest.product() == Product::Context;
    (is_page && cheapest.price() < quote.recommended.price()).then_some(cheapest)
}

fn offer_table(quote: &Quoted<'_>, has_model: bool) -> Markup {
    let head = match quote.recommended.product() {
        Product::Context => ("Tier", "How fresh"),
        _ => ("Pack", "What it reads"),
    };
    let table = html! {
        table.stack {
            thead { tr { th { (head.0) } th.num { "Price" } th { "Now" } th { (head.1) } } }
            tbody { @for offer in &quote.offers { (offer_row(offer, quote.recommended, has_model)) } }
        }
    };
    parts::scrolling("Prices and availability", &table)
}

fn offer_row(offer: &LevelOffer<'_>, recommended: Level, has_model: bool) -> Markup {
    let chosen = offer.level == recommended;
    html! {
        tr.chosen[chosen] {
            th scope="row" {
                (offer.level.name()) @if chosen { " " span.tag.good { "recommended" } }
            }
            td.num { (parts::usdc(offer.level.price())) }
            td.long {
                @match offer.unavailable {
                    None => span.tag.good { "can deliver" },
                    Some(reason) => { span.tag { "not now" } " " (reason) },
                }
            }
            td.long.muted { (price_lists::in_words(offer.level, has_model)) }
        }
    }
}
