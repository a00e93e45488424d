//! `/faq`: what people and agents ask before they buy. Figures come from the tables that the service sells by.

use maud::{Markup, html};

use crate::domain::bundle::Bundle;
use crate::domain::pack::Pack;
use crate::domain::tier::Tier;
use crate::pages::layout::{Layout, layout};
use crate::pages::parts::cents;
use crate::pages::site::{FacilitatorMode, Site};

#[derive(Clone, Copy, Debug)]
pub struct FaqView<'a> {
    pub site: Site<'a>,
}

pub fn page(view: &FaqView<'_>) -> String {
    layout(
        Layout {
            site: view.site,
            title: "Questions",
            description: "Short answers on prices, payment, what is delivered, and what happens when something goes wrong.",
            path: "/faq",
            noindex: false,
        },
        html! {
            h1 { "Questions" }
            p.lead { "Short answers; " a href="/docs" { "the reference" } " has the long ones." }
            h2 #buying { "Buying" }
            (questions(&buying(&view.site)))
            h2 #pages { "Pages" }
            (questions(&pages()))
            h2 #reports { "Reports" }
            (questions(&reports()))
            h2 #trouble { "When something goes wrong" }
            (questions(&trouble()))
        },
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
                "A page from " (cheapest) " USDC, the default tier " (cents(Tier::default().price())) " USDC; a report from "
                (quick) " to " (deep) " USDC; a report on several sources from " (scout) " USD. "
                a href="/pricing" { "All prices" } ", and what a month of them comes to."
            } },
        ),
        (
            "Do I need an account or an API key?",
            html! { p {
                "No. The answer to your first request is 402 with the price; your client signs a payment for exactly that and sends "
                "the request again. The signature is all we need to know of you."
            } },
        ),
        (
            "What do I need to pay?",
            html! { p {
                @match site.facilitator {
                    FacilitatorMode::Sandbox => { "Here, any private key: this is a sandbox with test funds. A real service needs one with a little USDC." },
                    FacilitatorMode::Real => { "A private key that holds a little USDC on " (site.network_name()) ". No ETH: the facilitator pays the gas." },
                }
                " " a href="/quickstart" { "The quickstart" } " takes a few minutes."
            } },
        ),
        (
            "Can I see what I get first?",
            html! { p {
                a href="/demo" { "The demo" } " runs the converter and the evidence check on sample pages for nothing, and "
                a href="/proof-pack/sample" { "the sample report" } " is a whole one."
            } },
        ),
    ]
}

fn pages() -> Vec<Question> {
    vec![
        (
            "Which tier do I want?",
            html! { p {
                strong { "fresh" } " reads the page now. " strong { "basic" } " and " strong { "deep" }
                " take a kept copy of at most 60 or 30 minutes. " strong { "cached" } " never fetches, and "
                strong { "starter" } " is for trying it. " a href="/docs#tiers" { "All tiers" } "."
            } },
        ),
        (
            "When is a page not kept?",
            html! { p {
                "When its response says " code { "Cache-Control: private" } ", " code { "no-store" } ", " code { "no-cache" } " or a "
                "lifetime of zero. You get it and may repeat your request, and nobody else is sold your copy: the tiers that only read "
                "the cache answer that it is not there, and charge nothing."
            } },
        ),
        (
            "Do you run a page’s scripts?",
            html! { p {
                "No. Many pages that need script still carry their text in the HTML or in embedded data, and that is used. Where "
                "there is nothing, the answer says so in " code { "warnings" } ", or nothing is sold at all."
            } },
        ),
        (
            "Which kinds of content?",
            html! { p { "HTML, PDF with a text layer, JSON, XML, CSV, feeds, plain text and markdown, up to 5 MB." } },
        ),
        (
            "Do you obey robots.txt?",
            html! { p {
                "We are no crawler: one page is read because somebody asks for that page. What robots.txt, content signals and meta tags "
                "say is reported with the page, and " a href="/about#opt-out" { "a site can opt out" } "."
            } },
        ),
    ]
}

fn reports() -> Vec<Question> {
    vec![
        (
            "What does “supported” mean?",
            html! { p {
                "That the source has passages which carry the claim, and how likely that judgement is to be right. It does not "
                "mean that the claim is true: for that, ask a second, independent source."
            } },
        ),
        (
            "What are the other decisions?",
            html! {
                p { "Each comes with what a program should do." }
                ul {
                    li { strong { "partially supported" } ": a part is carried, or it is likely but not beyond doubt." }
                    li { strong { "weak" } ": navigation, boilerplate or vague copy." }
                    li { strong { "unsupported" } ": the source does not establish it." }
                    li { strong { "contradicted" } ": the source says otherwise." }
                }
            },
        ),
        (
            "How good are these judgements?",
            html! { p {
                "Measured, and published with the method: " a href="/v1/proof-pack/benchmarks" { "the figures" } "."
            } },
        ),
        (
            "Who can read my report?",
            html! { p {
                "Anyone who knows its address. You may share it under a name of its own, listed in "
                a href="/proof-pack/library" { "the library" } " or not, and take that back."
            } },
        ),
    ]
}

fn trouble() -> Vec<Question> {
    vec![
        (
            "The answer was 503. Have I paid?",
            html! { p {
                "Read " code { "charged" } " in the error. With a retry credit, send the same body to " code { "/v1/x402/retry" }
                " with that credit, and do not sign again. " a href="/refunds" { "All cases" } "."
            } },
        ),
        (
            "My connection broke after I had paid.",
            html! { p { "Send the same request with the same payment within 15 minutes: you get the kept answer and are not charged again." } },
        ),
        (
            "Can I get an invoice?",
            html! { p {
                "Each paid answer carries its receipt with the transaction; where the service has a signing key, the receipt is signed. "
                a href="/terms#operator" { "The operator" } " can tell you more."
            } },
        ),
    ]
}
