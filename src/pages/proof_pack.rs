//! `/proof-pack`: what Proof Packs are and cost, and whether this version sells them.

use maud::{Markup, html};

use crate::domain::amount::Amount;
use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::site::Site;

#[derive(Clone, Copy, Debug)]
pub struct ProofPackView<'a> {
    pub site: Site<'a>,
    /// Whether the Proof Pack endpoint takes payments.
    pub on_sale: bool,
}

struct Pack {
    name: &'static str,
    price: Amount,
    policy: &'static str,
    default: bool,
}

/// Specification 2.2.
#[rustfmt::skip]
const PACKS: [Pack; 3] = [
    Pack { name: "quick", price: Amount::from_units(100_000), default: false,
           policy: "A cache-friendly read of the source, with the deterministic evidence check" },
    Pack { name: "standard", price: Amount::from_units(250_000), default: true,
           policy: "A cache-aware read; a language model words the findings where one is configured" },
    Pack { name: "deep", price: Amount::from_units(1_000_000), default: false,
           policy: "A fresh read and the fullest set of evidence; refreshes fetch again" },
];

/// The page about Proof Packs.
pub fn page(view: &ProofPackView<'_>) -> String {
    layout(
        Layout {
            site: view.site,
            title: "Proof Packs",
            description: "A Proof Pack says whether a web page supports a claim, with citations, risks and hashes that \
                          anyone can check.",
            path: "/proof-pack",
            noindex: false,
            markdown: None,
        },
        html! {
            h1 { "Does this page really say that?" }
            p.lead {
                "A Proof Pack answers a question about one public source with passages quoted from it, says how far they "
                "carry, and keeps the evidence for 30 days."
            }
            @if !view.on_sale { (not_on_sale()) }
            h2 #prices { "Three levels" }
            ul.cards.three { @for pack in &PACKS { (card(pack)) } }
            h2 #report { "What a report holds" }
            ul {
                li { strong { "An answer and a decision:" } " supported, partially supported, weak, unsupported or contradicted." }
                li { strong { "Citations:" } " exact excerpts of the source. A claim that cites none is dropped." }
                li { strong { "Gaps and risks:" } " what the source does not establish, and why to be careful." }
                li { strong { "Advice for the agent" } " that asked: use it, look for a second source, or do not use it." }
                li { strong { "Hashes" } " of source and report, so that anyone can verify both later." }
            }
            h2 #kept { "Kept, and checkable" }
            p {
                "For 30 days a paid report can be read again, verified and asked further questions without paying again; "
                "a refresh is quoted before it is bought. Reports are private to whoever knows their address."
            }
        },
    )
}

fn not_on_sale() -> Markup {
    html! {
        .note.warn {
            p {
                strong { "Not on sale in this version yet." }
                " This page says what Proof Packs will be and cost. What you can buy today is "
                a href="/" { "a page as markdown" } "."
            }
        }
    }
}

fn card(pack: &Pack) -> Markup {
    html! {
        li {
            h3 { (pack.name) @if pack.default { " " span.tag.good { "default" } } }
            p.price { (parts::cents(pack.price)) " " small { "USDC a report" } }
            p { (pack.policy) "." }
        }
    }
}
