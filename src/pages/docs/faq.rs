//! `/faq`: questions from people and agents before they buy. Prices come from the price tables.

use maud::{Markup, html};

use crate::domain::bundle::Bundle;
use crate::domain::check::CheckDepth;
use crate::domain::pack::Pack;
use crate::domain::tier::Tier;
use crate::pages::layout::{Layout, layout};
use crate::pages::parts::{self, cents};
use crate::pages::site::{FacilitatorMode, Site};

#[derive(Clone, Copy, Debug)]
pub struct FaqView<'a> {
    pub site: Site<'a>,
}

pub fn page(view: &FaqView<'_>) -> String {
    layout(
        Layout {
            site: view.site,
            title: "FAQ",
            description: "Short answers about prices, payment, delivery and failures.",
            path: "/faq",
            noindex: false,
        },
        parts::with_toc(&html! {
            h1 { "Frequently asked questions" }
            p.lead { "For details, see " a href="/docs" { "the reference" } "." }
            h2 #buying { "Buying" }
            (questions(&buying(&view.site)))
            h2 #pages { "Pages" }
            (questions(&pages()))
            h2 #reports { "Reports" }
            (questions(&reports()))
            h2 #trouble { "Troubleshooting" }
            (questions(&trouble()))
        }),
    )
}

type Question = (&'static str, Markup);

fn questions(questions: &[Question]) -> Markup {
    html! {
        .questions {
            @for (index, (question, answer)) in questions.iter().enumerate() {
                details open[index == 0] { summary { h3 { (question) } } (answer) }
            }
        }
    }
}

fn buying(site: &Site<'_>) -> Vec<Question> {
    let cheapest = cents(Tier::Starter.price());
    let (quick, deep) = (cents(Pack::Quick.price()), cents(Pack::Deep.price()));
    let scout = cents(Bundle::Scout.price());
    vec![
        (
            "What does it cost?",
            html! { p {
                "A page from " (cheapest) " USDC, or " (cents(Tier::default().price())) " USDC at the default tier; a Proof Pack from "
                (quick) " to " (deep) " USDC; an Evidence Bundle from " (scout) " USDC; a check of a text from "
                (cents(CheckDepth::Quick.price())) " USDC for each source. "
                a href="/pricing" { "All prices and a cost estimate" } "."
            } },
        ),
        (
            "Do I need an account or an API key?",
            html! { p {
                "No. Your first request returns 402 with the price; your client signs a payment for that exact amount and sends the "
                "request again. The signature is all we need."
            } },
        ),
        (
            "What do I need in order to pay?",
            html! { p {
                @match site.facilitator {
                    FacilitatorMode::Sandbox => { "Any private key: this is a sandbox with test funds. A live service needs a key with a little USDC." },
                    FacilitatorMode::Real => { "A private key with a little USDC on " (site.network_name()) ". No ETH: the facilitator pays the gas fees." },
                }
                " " a href="/quickstart" { "The quickstart" } " takes a few minutes."
            } },
        ),
        (
            "Can I try it first?",
            html! { p {
                a href="/demo" { "The demo" } " runs the converter and the evidence check on sample pages for free, and there is a complete "
                a href="/proof-pack/sample" { "sample report" } "."
            } },
        ),
    ]
}

fn pages() -> Vec<Question> {
    vec![
        (
            "Which tier should I choose?",
            html! { p {
                strong { "fresh" } " fetches the page now. " strong { "basic" } " and " strong { "deep" }
                " accept a cached copy up to 60 or 30 minutes old. " strong { "cached" } " never fetches, and "
                strong { "starter" } " is for trying the service. " a href="/docs#tiers" { "All tiers" } "."
            } },
        ),
        (
            "Can you read pages that need JavaScript?",
            html! { p {
                "Yes, if this service has a browser; a quote says so. With the tiers " strong { "fresh" } " and "
                strong { "deep" } ", a page with little or no text in its HTML is opened in the browser, and you get the rendered text if there "
                "is more of it. The response then has " code { "rendered" } ". Send " code { "\"render\": \"never\"" } " or "
                code { "\"always\"" } " to decide it yourself. A render has no extra charge, whether it works or fails."
            } },
        ),
        (
            "When is a page not cached?",
            html! { p {
                "When its response has " code { "Cache-Control: private" } ", " code { "no-store" } ", " code { "no-cache" } " or a "
                "lifetime of zero. You get the page and can repeat your request, but your copy is never sold to others: for them, "
                "cache-only tiers report a cache miss and charge nothing."
            } },
        ),
        (
            "What if this service has no browser?",
            html! { p {
                "Many script-based pages still have their text in the HTML or in embedded data, and we use that. If there is too "
                "little, the response says so in " code { "warnings" } "; if there is none, the sale is refused."
            } },
        ),
        (
            "Which content types are supported?",
            html! { p { "HTML, PDF with a text layer, DOCX, ODT, EPUB, XLSX, Jupyter notebooks, JSON, XML, CSV, feeds, plain text and markdown, up to 5 MB." }
            p { "Reports read a JSON document, such as the response of an API, member by member, and cite the members." } },
        ),
        (
            "Do you obey robots.txt?",
            html! { p {
                "We are not a crawler: we fetch single pages on request. The page is delivered with the policies from robots.txt, content "
                "signals and meta tags, and " a href="/about#opt-out" { "sites can opt out" } "."
            } },
        ),
    ]
}

fn reports() -> Vec<Question> {
    vec![
        (
            "What does “supported” mean?",
            html! { p {
                "The source contains passages that support the claim. The confidence is an estimate; where it was measured, the report says how often this label was right. "
                "It does not mean that the claim is true: check a second, independent source for that."
            } },
        ),
        (
            "What do the other decisions mean?",
            html! {
                p { "Each decision comes with advice for programs." }
                ul {
                    li { strong { "partly supported" } ": the source supports a part of it, or doubt remains." }
                    li { strong { "weak" } ": only navigation, boilerplate or vague wording mentions it." }
                    li { strong { "not stated" } ": the source does not establish it; programs get " code { "unsupported" } "." }
                    li { strong { "contradicted" } ": the source says otherwise." }
                    li { strong { "contested" } ": the sources of an Evidence Bundle contradict each other." }
                }
            },
        ),
        (
            "How good are these judgements?",
            html! { p {
                "We publish " a href="/v1/proof-pack/benchmarks" { "benchmark results" } " with the method."
            } },
        ),
        (
            "Who can read my report?",
            html! { p {
                "Anyone who knows its address. You can also share it under its own name, list it among the "
                a href="/proof-pack/library" { "public reports" } ", and undo either."
            } },
        ),
    ]
}

fn trouble() -> Vec<Question> {
    vec![
        (
            "I got a 503. Was I charged?",
            html! { p {
                "See " code { "charged" } " in the error. If it carries a retry credit, send the same body to " code { "/v1/x402/retry" }
                " with that credit, and do not sign again. " a href="/refunds" { "Refund policy" } "."
            } },
        ),
        (
            "My connection broke after I paid.",
            html! { p { "Send the same request with the same payment within 15 minutes: you get the cached response and are not charged again." } },
        ),
        (
            "Can I get an invoice?",
            html! { p {
                "Each paid response carries a receipt with the transaction, signed if the service has a signing key. For an invoice, "
                "contact " a href="/terms#operator" { "the operator" } "."
            } },
        ),
    ]
}
