//! `/proof-pack`: what Proof Packs are and cost, and how one is bought.

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
                "A Proof Pack answers a question about one public source with passages quoted from it, says how far they "
                "carry, and keeps the evidence for 30 days."
            }
            (parts::report_form(site, "", ""))
            h2 #prices { "Three levels" }
            ul.cards.three { @for pack in Pack::ALL { (card(pack)) } }
            h2 #buy { "Buy one" }
            p { "Paid like a page: the first request is answered 402, the second carries the signature." }
            (parts::ways_to_buy(site, item))
            p {
                "Not sure yet? " a href="/proof-pack/sample" { "Read the sample report" } ", "
                a href="/proof-pack/preview" { "see what a report would hold" } ", or look into "
                a href="/proof-pack/library" { "the library" } ". More than one source? "
                a href="/proof-pack/bundle" { "Evidence Bundles" } " ask up to 25."
            }
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
                "a refresh is quoted before it is bought. Reports are private to anyone who knows their address."
            }
        },
    )
}

fn card(pack: Pack) -> Markup {
    html! {
        li {
            h3 { (pack.name()) @if pack == Pack::default() { " " span.tag.good { "default" } } }
            p.price { (parts::cents(pack.price())) " " small { "USDC a report" } }
            p { (choose_it_for(pack)) }
        }
    }
}

/// What a buyer gets, in a sentence.
fn choose_it_for(pack: Pack) -> &'static str {
    match pack {
        Pack::Quick => {
            "A cache-friendly read of the source, with the deterministic evidence check."
        }
        Pack::Standard => {
            "A cache-aware read; a language model may add claims where one is configured."
        }
        Pack::Deep => {
            "A fresh read, unless you say otherwise: what the source says now, no matter who asked before."
        }
    }
}
