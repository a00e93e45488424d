//! `/try`: the beginning of a page as markdown, free, beside how it reads; then the rest for its price. In a sandbox the
//! rest is bought with test funds on the spot.

use maud::{Markup, html};

use crate::domain::tier::Tier;
use crate::pages::buyer::report;
use crate::pages::buyer::wallet;
use crate::pages::commands::Item;
use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::site::{FacilitatorMode, Site};

#[derive(Clone, Debug)]
pub struct FirstWordsView<'a> {
    pub site: Site<'a>,
    /// The address in the form.
    pub typed: &'a str,
    pub outcome: Outcome<'a>,
}

#[derive(Clone, Debug)]
pub enum Outcome<'a> {
    Nothing,
    Refused {
        /// An error code of `/docs`.
        code: &'a str,
        message: &'a str,
    },
    Shown {
        target_url: &'a str,
        title: Option<&'a str>,
        markdown: &'a str,
        words_shown: usize,
        word_count: usize,
    },
    /// With test funds: what was told, signed and settled.
    Bought {
        title: Option<&'a str>,
        markdown: &'a str,
        receipt: &'a [(&'a str, String)],
    },
}

/// What the rest is offered at.
const TIER: Tier = Tier::Fresh;

pub fn page(view: &FirstWordsView<'_>) -> String {
    layout(
        Layout {
            site: view.site,
            title: "Try it",
            description: "Paste a web address and read the beginning of the page as markdown, free.",
            path: "/try",
            noindex: !matches!(view.outcome, Outcome::Nothing),
        },
        html! {
            @match &view.outcome {
                Outcome::Nothing => {
                    h1 { "Read any page as markdown" }
                    (form(view.typed))
                },
                Outcome::Refused { code, message } => {
                    h1 { "No preview of this page" }
                    .note.bad role="alert" {
                        p { strong { (message) } }
                        p { "See " a href={ "/docs#" (code) } { code { (code) } } " for what to do." }
                    }
                    (form(view.typed))
                    @if *code == "rate_limited" { (offer(view.typed, &view.site)) }
                },
                Outcome::Shown { target_url, title, markdown, words_shown, word_count } => {
                    p.kicker { "Free preview" }
                    (parts::question(title.unwrap_or(target_url)))
                    p.muted { (parts::foreign_link(target_url)) }
                    (both(markdown))
                    @if words_shown < word_count {
                        p.muted { "The first " (words_shown) " of " (word_count) " words." }
                    } @else {
                        p.muted { "All " (word_count) " words." }
                    }
                    (offer(target_url, &view.site))
                    h2 #another { "Another page" }
                    (form(""))
                },
                Outcome::Bought { title, markdown, receipt } => {
                    p.kicker { "Bought with test funds" }
                    (parts::question(title.unwrap_or(view.typed)))
                    ul.checks {
                        li.pass { "The first request got a 402 response with the price." }
                        li.pass { "A throwaway wallet signed an authorization for exactly that amount." }
                        li.pass { "The second request carried the signature; the page was read and converted." }
                        li.pass { "The payment was settled once the markdown was ready." }
                    }
                    h2 #receipt { "Receipt" }
                    dl.facts { @for (name, text) in *receipt { dt { (name) } dd {
                        // Prose is not set as code: only identifiers have no space.
                        @if text.contains(' ') { (text) } @else { code { (text) } }
                    } } }
                    h2 #page { "The page" }
                    (both(markdown))
                    .actions {
                        a.button href="/quickstart" { "Do the same from code" }
                        a.button.quiet href="/" { "Another page" }
                    }
                },
            }
        },
    )
}

/// How it reads, beside the markdown.
fn both(markdown: &str) -> Markup {
    html! {
        .pair.preview {
            .reading { (report::source_text(markdown)) }
            (parts::tall_code("Markdown", markdown))
        }
    }
}

/// The rest of a page, for its price.
fn offer(target_url: &str, site: &Site<'_>) -> Markup {
    html! {
        .panel.offer {
            div {
                p { strong { "The whole page: " (parts::usdc(TIER.price())) } }
                p.muted { "With title, author, dates, links and hashes as fields, and a receipt. No account." }
            }
            .actions {
                @if site.is_paused {
                    p.muted { "Sales are paused." }
                    a.button.quiet href=(parts::quote_path(target_url)) { "All prices" }
                } @else if site.facilitator == FacilitatorMode::Sandbox {
                    form action="/try" method="post" {
                        input type="hidden" name="target_url" value=(target_url);
                        button type="submit" { "Buy with test funds" }
                    }
                    a.button.quiet href=(parts::quote_path(target_url)) { "All prices" }
                } @else {
                    a.button href=(wallet::path(Item::page(target_url, TIER))) { "Buy the rest" }
                    a.button.quiet href=(parts::quote_path(target_url)) { "All prices" }
                }
            }
        }
    }
}

/// The preview of a page.
pub(crate) fn path(target_url: &str) -> String {
    let query: String = url::form_urlencoded::byte_serialize(target_url.as_bytes()).collect();
    format!("/try?target_url={query}")
}

/// The form of the home page and of this one.
pub(crate) fn form(typed: &str) -> Markup {
    html! {
        form.ask action="/try" method="get" {
            label for="target_url" { "Page URL" }
            .row {
                input #target_url name="target_url" type="text" inputmode="url" required maxlength="2048"
                    autocomplete="off" spellcheck="false" value=(typed) placeholder="https://example.com/article";
                button type="submit" { "Convert" }
            }
        }
    }
}
