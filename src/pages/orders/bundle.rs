//! `/proof-pack/bundle` and `/proof-pack/bundle/quote`: what Evidence Bundles are, what they cost, and the quote for a
//! list of sources. Which sources can be read arrives in the view.

use maud::{Markup, html};

use crate::domain::bundle::{Bundle, READ_RULE, SOURCES_MIN};
use crate::domain::pack::Pack;
use crate::domain::time::UnixSeconds;
use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::site::Site;

/// The form, with or without a result under it.
#[derive(Clone, Debug)]
pub struct BundleView<'a> {
    pub site: Site<'a>,
    pub path: &'a str,
    /// The values in the form.
    pub typed: &'a str,
    pub typed_question: &'a str,
    pub typed_bundle: &'a str,
    pub outcome: QuoteOutcome<'a>,
}

#[derive(Clone, Debug)]
pub enum QuoteOutcome<'a> {
    /// No request yet.
    Nothing,
    /// No source can be read; no quote was saved.
    Refused {
        /// An error code of `/docs`.
        code: &'a str,
        /// What is wrong, as a sentence with its full stop.
        message: &'a str,
        rejected: Vec<(&'a str, &'a str)>,
    },
    Quoted(Quoted<'a>),
}

/// A saved quote for a bundle.
#[derive(Clone, Debug)]
pub struct Quoted<'a> {
    pub quote_id: &'a str,
    pub bundle: Bundle,
    pub recommended: Bundle,
    pub target_urls: &'a [String],
    /// Address and reason.
    pub rejected: Vec<(&'a str, &'a str)>,
    pub question: Option<&'a str>,
    pub expires_at: UnixSeconds,
}

impl<'a> BundleView<'a> {
    pub fn empty(site: Site<'a>, path: &'a str) -> Self {
        BundleView {
            site,
            path,
            typed: "",
            typed_question: "",
            typed_bundle: "",
            outcome: QuoteOutcome::Nothing,
        }
    }
}

/// The page about bundles.
pub fn about_page(view: &BundleView<'_>) -> String {
    layout(
        Layout {
            site: view.site,
            title: "Evidence Bundles",
            description: "One question, up to 25 public sources, one report: where they agree, where they conflict, and what \
            is missing.",
            path: view.path,
            noindex: false,
        },
        html! {
            h1 { "What do all of these sources say?" }
            p.lead {
                "An Evidence Bundle checks one question against up to 25 public sources and delivers one report: where they agree, "
                "where they conflict, and what none of them establishes."
            }
            .beside {
                (form(view))
                (what_you_get())
            }
            h2 #prices { "Three sizes" }
            (bundle_table(None, view.site.has_model))
            p {
                "Agents pay in USDC over x402 (" a href="/docs#example-proof-bundle" { "example" } "). " (READ_RULE) " People pay "
                "the same amount in dollars " (view.site.payment_of_people()) ". Only one source? See "
                a href="/proof-pack" { "Proof Packs" } ". Questions? "
                a href="/contact" { "Write to us" } "."
            }
        },
    )
}

fn what_you_get() -> Markup {
    html! {
        div.panel {
            h2 #delivery { "What you get" }
            ul {
                li { "A report for each source, with exact excerpts, and a table of claims by source" }
                li { "Agreement across independent sources; copies of one text count once" }
                li { "Conflicting numbers and dates, gaps, risks, and the sources we could not fetch" }
                li { "A web page, a PDF and JSON with the hashes of every source" }
            }
        }
    }
}

/// The quote page.
pub fn quote_page(view: &BundleView<'_>) -> String {
    layout(
        Layout {
            site: view.site,
            title: "Evidence Bundle quote",
            description: "See which bundle fits your sources, and what it costs, before you pay.",
            path: view.path,
            noindex: !matches!(view.outcome, QuoteOutcome::Nothing),
        },
        html! {
            h1 { "What would this bundle cost?" }
            @match &view.outcome {
                QuoteOutcome::Nothing => { (form(view)) (nothing_asked(&view.site)) },
                QuoteOutcome::Refused { code, message, rejected } => {
                    (parts::refusal_note(code, message))
                    (rejected_list(rejected))
                    (form(view))
                },
                QuoteOutcome::Quoted(quote) => (offers(view, quote)),
            }
        },
    )
}

/// The quote form.
fn form(view: &BundleView<'_>) -> Markup {
    html! {
        form.ask action="/proof-pack/bundle/quote" method="post" {
            label for="target_urls" { "Sources, one per line" }
            .row {
                textarea #target_urls name="target_urls" rows="6" required maxlength="60000" spellcheck="false"
                    placeholder="https://example.com/pricing\nexample.org/review" { (view.typed) }
            }
            label for="question" { "Question or claim" }
            .row {
                input #question name="question" type="text" maxlength="1000" autocomplete="off"
                    value=(view.typed_question) placeholder="Is the free plan limited to three users?";
            }
            label for="bundle" { "Bundle" }
            .row {
                (bundle_choice(view.typed_bundle))
                button type="submit" { "Show the price" }
            }
            p.hint { "Free; nothing is fetched. Bare domains use https." }
        }
    }
}

/// The choice of a bundle; by default the number of sources decides.
pub(crate) fn bundle_choice(typed: &str) -> Markup {
    html! {
        select #bundle name="bundle" {
            option value="" selected[Bundle::parse(typed).is_none()] { "by the number of sources" }
            @for bundle in Bundle::ALL {
                option value=(bundle.name()) selected[bundle.name() == typed] {
                    (bundle.name()) ": up to " (bundle.source_limit()) " sources, " (price(bundle))
                }
            }
        }
    }
}

fn nothing_asked(site: &Site<'_>) -> Markup {
    html! {
        h2 { "Price list" }
        (bundle_table(None, site.has_model))
        p {
            "For programs: " code { "GET /v1/proof-pack/bundle/quote?target_urls=…" }
            " returns the same as JSON, and " code { "POST /v1/quotes" } " takes longer lists. A quote is valid for 7 days."
        }
    }
}

/// The price list of the bundles, straight from their table.
pub(crate) fn bundle_table(chosen: Option<Bundle>, has_model: bool) -> Markup {
    let table = html! {
        table.stack {
            thead { tr { th { "Bundle" } th.num { "Price" } th.num { "Sources" } th { "How it reads each source" } } }
            tbody { @for bundle in Bundle::ALL { (bundle_row(bundle, chosen, has_model)) } }
        }
    };
    parts::scrolling("Bundles and prices", &table)
}

fn bundle_row(bundle: Bundle, chosen: Option<Bundle>, has_model: bool) -> Markup {
    let marked = chosen == Some(bundle);
    html! {
        tr.chosen[marked] {
            th scope="row" { (bundle.name()) @if marked { " " span.tag.good { "this quote" } } }
            td.num { (parts::usdc(bundle.price())) }
            td.num data-label="Sources" { "up to " (bundle.source_limit()) }
            td.long { (bundle.reads(has_model)) }
        }
    }
}

/// The price as the payment link charges it.
pub(crate) fn price(bundle: Bundle) -> String {
    format!("{} USD", parts::cents(bundle.price()))
}

fn offers(view: &BundleView<'_>, quote: &Quoted<'_>) -> Markup {
    let (count, limit) = (quote.target_urls.len(), quote.bundle.source_limit());
    html! {
        dl.facts {
            dt { "Sources" } dd { (count) " of at most " (limit) }
            @if let Some(question) = quote.question { dt { "Question" } dd { (question) } }
            dt { "Bundle" } dd { strong { (quote.bundle.name()) } ", " (price(quote.bundle)) }
            @if quote.recommended != quote.bundle {
                dt { "Recommended" } dd { (quote.recommended.name()) ", " (price(quote.recommended)) }
            }
            dt { "Quote" } dd {
                a href={ "/checkout/" (parts::path_segment(quote.quote_id)) } { code { (quote.quote_id) } }
                ", valid until " (parts::time(quote.expires_at))
            }
        }
        (one_source(quote.target_urls, quote.question))
        @let is_cheaper = quote.recommended.price() < quote.bundle.price();
        @if is_cheaper { (instead(view, quote.recommended, quote.bundle)) }
        .actions {
            a.button.quiet[is_cheaper] href={ "/checkout/" (parts::path_segment(quote.quote_id)) } {
                "Continue with " (quote.bundle.name()) ", " (price(quote.bundle))
            }
            a.button.quiet href="/proof-pack/bundle/quote" { "Edit sources" }
        }
        @if quote.recommended.price() > quote.bundle.price() { (instead(view, quote.recommended, quote.bundle)) }
        (source_list(quote.target_urls))
        (rejected_list(&quote.rejected))
        h2 { "Price list" }
        p.muted { "Agents pay in USDC; people pay the same number of dollars " (view.site.payment_of_people()) "." }
        (bundle_table(Some(quote.bundle), view.site.has_model))
    }
}

/// Says that x402 sells no bundle of one source, and links to the Proof Pack.
pub(crate) fn one_source(target_urls: &[String], question: Option<&str>) -> Markup {
    html! {
        @if let [only] = target_urls {
            .note.warn {
                p {
                    "Over x402 a bundle has at least " (SOURCES_MIN) " sources. A "
                    a href=(parts::report_quote_path(only, question.unwrap_or_default())) { "Proof Pack" }
                    " checks one, for " (parts::usdc(Pack::default().price())) "."
                }
            }
        }
    }
}

/// A form that switches to the recommended bundle with the same list.
fn instead(view: &BundleView<'_>, recommended: Bundle, chosen: Bundle) -> Markup {
    let why = match recommended.source_limit() > chosen.source_limit() {
        true => "includes the sources that did not fit.",
        false => "also fits these sources.",
    };
    html! {
        form.ask action="/proof-pack/bundle/quote" method="post" {
            p { strong { (recommended.name()) } " " (why) }
            input type="hidden" name="target_urls" value=(view.typed);
            input type="hidden" name="question" value=(view.typed_question);
            input type="hidden" name="bundle" value=(recommended.name());
            .row { button class=[(recommended.price() > chosen.price()).then_some("quiet")] type="submit" { "Switch to " (recommended.name()) ", " (price(recommended)) } }
        }
    }
}

/// The accepted sources.
pub(crate) fn source_list(target_urls: &[String]) -> Markup {
    html! {
        h2 { "Sources" }
        ol { @for url in target_urls { li { (parts::foreign_link(url)) } } }
    }
}

/// The rejected sources, with reasons.
pub(crate) fn rejected_list(rejected: &[(&str, &str)]) -> Markup {
    html! {
        @if !rejected.is_empty() {
            h2 { "Rejected sources" }
            ul { @for (address, reason) in rejected { li { code { (address) } ": " (reason) } } }
        }
    }
}
