//! `/quote`: a form that asks for an address, and what each tier would cost for it right now. Whether a tier
//! can deliver is decided elsewhere and arrives in the view.

use maud::{Markup, html};

use crate::domain::tier::Tier;
use crate::domain::time::UnixSeconds;
use crate::pages::commands;
use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::site::Site;

/// The form, with or without a result under it.
#[derive(Clone, Debug)]
pub struct QuoteView<'a> {
    pub site: Site<'a>,
    /// What stands in the form: as it was typed, or empty.
    pub typed: &'a str,
    pub outcome: QuoteOutcome<'a>,
}

#[derive(Clone, Debug)]
pub enum QuoteOutcome<'a> {
    /// Nothing was asked yet.
    Nothing,
    /// The target cannot be sold; no quote was kept.
    Refused {
        /// An error code of `/docs`, such as `invalid_target`.
        code: &'a str,
        /// What is wrong, as a sentence with its full stop.
        message: &'a str,
    },
    Quoted(TierQuote<'a>),
}

/// A kept quote for one target.
#[derive(Clone, Debug)]
pub struct TierQuote<'a> {
    pub quote_id: &'a str,
    /// The target in its canonical form.
    pub target_url: &'a str,
    /// Age in seconds of the page we keep, when we keep one.
    pub kept_age_seconds: Option<u64>,
    pub recommended: Tier,
    /// Shown in this order.
    pub offers: Vec<TierOffer<'a>>,
    pub expires_at: UnixSeconds,
}

/// Whether one tier would deliver now.
#[derive(Clone, Copy, Debug)]
pub struct TierOffer<'a> {
    pub tier: Tier,
    /// Why it would not deliver, as a sentence; `None` when it would.
    pub unavailable: Option<&'a str>,
}

/// The quote page.
pub fn page(view: &QuoteView<'_>) -> String {
    let asked = !matches!(view.outcome, QuoteOutcome::Nothing);
    layout(
        Layout {
            site: view.site,
            title: "Quote",
            description: "See what a page costs at every tier before paying, with the exact command to buy it.",
            path: "/quote",
            noindex: asked,
            markdown: None,
        },
        html! {
            h1 { "What would this page cost?" }
            (parts::quote_form(&view.site, view.typed))
            @match &view.outcome {
                QuoteOutcome::Nothing => (nothing_asked()),
                QuoteOutcome::Refused { code, message } => (refused(code, message)),
                QuoteOutcome::Quoted(quote) => (quoted(&view.site, quote)),
            }
        },
    )
}

fn nothing_asked() -> Markup {
    html! {
        h2 { "The price list" }
        (parts::tier_table())
        p {
            "Agents ask the same question at " code { "GET /v1/x402/quote?target_url=…" }
            " and get JSON. A quote is kept for 7 days under its own address."
        }
    }
}

fn refused(code: &str, message: &str) -> Markup {
    html! {
        .note.bad role="alert" {
            p { strong { (message) } }
            p {
                "Nothing was charged, and no quote was kept. See "
                a href={ "/docs#" (code) } { code { (code) } } " for what to do."
            }
        }
    }
}

fn quoted(site: &Site<'_>, quote: &TierQuote<'_>) -> Markup {
    html! {
        h2 #offers { "Five prices for one page" }
        dl.facts {
            dt { "Page" } dd { (parts::foreign_link(quote.target_url)) }
            dt { "Kept copy" } dd {
                @match quote.kept_age_seconds {
                    Some(seconds) => { "yes, " (age(seconds)) " old" },
                    None => { "none; tiers that may fetch would fetch it" },
                }
            }
            dt { "Quote" } dd {
                a href={ "/checkout/" (parts::path_segment(quote.quote_id)) } { code { (quote.quote_id) } }
                ", kept until " (parts::time(quote.expires_at))
            }
        }
        (offer_table(quote))
        h2 #buy { "Buy it" }
        p { "At the " strong { (quote.recommended.name()) } " tier, paying "
            (quote.recommended.price()) " USDC and never more:" }
        (parts::code("With our buyer", &commands::buy(site, quote.target_url, quote.recommended)))
        (parts::code("See the challenge first, without paying",
            &commands::challenge_curl(site, quote.target_url, quote.recommended)))
        p { "Other clients: " a href="/quickstart#buyer" { "TypeScript and Python" } "." }
    }
}

fn offer_table(quote: &TierQuote<'_>) -> Markup {
    let table = html! {
        table.stack {
            thead { tr { th { "Tier" } th.num { "Price" } th { "Now" } th { "Cache" } } }
            tbody { @for offer in &quote.offers { (offer_row(offer, quote.recommended)) } }
        }
    };
    parts::scrolling("What each tier costs and whether it delivers", &table)
}

fn offer_row(offer: &TierOffer<'_>, recommended: Tier) -> Markup {
    let chosen = offer.tier == recommended;
    html! {
        tr.chosen[chosen] {
            th scope="row" {
                (offer.tier.name()) @if chosen { " " span.tag.good { "recommended" } }
            }
            td.num { (parts::usdc(offer.tier)) }
            td.long {
                @match offer.unavailable {
                    None => span.tag.good { "can deliver" },
                    Some(reason) => { span.tag { "not now" } " " (reason) },
                }
            }
            td.long.muted { (offer.tier.policy()) }
        }
    }
}

/// A duration in its largest whole unit.
fn age(seconds: u64) -> String {
    let (count, unit) = match seconds {
        0..60 => (seconds, "second"),
        60..3600 => (seconds / 60, "minute"),
        _ => (seconds / 3600, "hour"),
    };
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_told_in_one_unit() {
        for (seconds, expected) in [
            (0, "0 seconds"),
            (1, "1 second"),
            (119, "1 minute"),
            (7200, "2 hours"),
        ] {
            assert_eq!(age(seconds), expected);
        }
    }
}
