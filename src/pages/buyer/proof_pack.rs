//! `/proof-pack`: what Proof Packs are, what they cost and how to buy one.

use maud::{Markup, html};

use crate::domain::pack::Pack;
use crate::domain::purchase::DEFAULT_QUESTION;
use crate::pages::commands::Item;
use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::site::Site;

#[derive(Clone, Copy, Debug)]
pub struct ProofPackView<'a> {
    pub site: Site<'a>,
}

/// The page about Proof Packs.
pub fn page(view: &ProofPackView<'_>) -> String {
    let site = &view.site;
    let (sample, pack) = (site.sample_url(), Pack::default());
    let item = Item::report(&sample, DEFAULT_QUESTION, pack);
    layout(
        Layout {
            site: view.site,
            title: "Proof Packs",
            description: "A Proof Pack says whether a web page supports a claim, with citations, risks and hashes that \
                          anyone can check.",
            path: "/proof-pack",
            noindex: false,
        },
        html! {
            h1 { "Does this page really say that?" }
            p.lead {
                "A Proof Pack answers a question about one public source, quotes the passages that support the answer, rates "
                "how strong they are, and stores the evidence for 30 days."
            }
            .beside {
                (parts::report_form(site, "", ""))
                (what_it_contains())
            }
            h2 #prices { "Three packs" }
            ul.cards.three { @for pack in Pack::ALL { (card(pack, site.has_model)) } }
            h2 #buy { "Buy one" }
            p { "The first request returns 402 with the price; the second carries the signed payment." }
            (parts::ways_to_buy(site, item))
            p {
                "Not sure yet? See " a href="/proof-pack/library#outcomes" { "three outcomes side by side" } ", read "
                a href="/proof-pack/sample" { "a whole sample report" } ", or "
                a href="/proof-pack/preview" { "preview a report" } ". More than one source? "
                a href="/proof-pack/bundle" { "Evidence Bundles" } " cover up to 25."
            }
            h2 #kept { "Stored and verifiable" }
            p {
                "For 30 days you can read a paid report again, verify it and ask follow-up questions, all free. A refresh is a new "
                "purchase with its own quote. Only people who know a report’s address can read it."
            }
        },
    )
}

fn what_it_contains() -> Markup {
    html! {
        div.panel {
            h2 #report { "What a report contains" }
            ul {
                li { strong { "An answer and a decision:" } " supported, partly supported, weak, not stated or contradicted." }
                li { strong { "Citations:" } " exact excerpts of the source. Claims without one are dropped." }
                li { strong { "Gaps and risks:" } " what the source does not establish, and why to be careful." }
                li { strong { "Advice for the agent:" } " use it, find a second source, or do not use it." }
                li { strong { "Source text and hashes" } ", so that anyone can verify the report later." }
            }
        }
    }
}

fn card(pack: Pack, has_model: bool) -> Markup {
    html! {
        li {
            h3 { (pack.name()) @if pack == Pack::default() { " " span.tag.good { "default" } } }
            p.price { (parts::cents(pack.price())) " " small { "USDC a report" } }
            p { (pack.reads(has_model)) }
        }
    }
}
