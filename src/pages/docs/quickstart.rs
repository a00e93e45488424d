//! `/quickstart`: the first purchase, in the shell, TypeScript and Python. The 402's `X-Service-Buyer-Example` header
//! points to `#buyer`.

use maud::{Markup, html};

use crate::domain::tier::Tier;
use crate::pages::commands::{self, Item};
use crate::pages::docs::snippets;
use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::site::{FacilitatorMode, Site};

/// The examples use this service and its sample page.
#[derive(Clone, Copy, Debug)]
pub struct QuickstartView<'a> {
    pub site: Site<'a>,
}

/// The quickstart page.
pub fn page(view: &QuickstartView<'_>) -> String {
    let site = &view.site;
    layout(
        Layout {
            site: view.site,
            title: "Quickstart",
            description: "Buy your first page as markdown with curl, the context402 buyer, TypeScript or Python.",
            path: "/quickstart",
            noindex: false,
        },
        html! {
            h1 { "Buy your first page" }
            p.lead {
                "The starter tier sells " a href="/sample" { "our sample page" } " for "
                (Tier::Starter.price()) " USDC: the cheapest way to see the whole exchange."
            }
            (see_the_price(site))
            (buyer(site))
            (products(site))
            (what_happened())
            (next())
        },
    )
}

fn see_the_price(site: &Site<'_>) -> Markup {
    html! {
        h2 #price { "See the price" }
        p { "Send a request without payment. The response is 402, and its body is the challenge that your client signs." }
        (parts::code("Shell", &commands::challenge_curl(site, Item::page(&site.sample_url(), Tier::Starter))))
        p { "This is free. " a href="/paid-test" { "The test purchase" } " explains each field." }
    }
}

fn buyer(site: &Site<'_>) -> Markup {
    html! {
        h2 #buyer { "Pay with a client" }
        (key(site))
        h3 #buyer-shell { "Shell" }
        p {
            "The program that runs this service can also buy. It shows the price, pays at most " code { "--max-usdc" }
            ", and prints the markdown and the receipt."
        }
        (parts::code("Shell", &commands::buy(site, Item::page(&site.sample_url(), Tier::Starter))))
        h3 #buyer-typescript { "TypeScript" }
        p { "The official client wraps " code { "fetch" } ": on a 402 it signs and repeats the request." }
        (parts::code("Install", "npm install @x402/fetch @x402/core @x402/evm @x402/extensions viem tsx"))
        (parts::code("buy.mts", &commands::typescript(site, Item::page(&site.sample_url(), Tier::Starter))))
        (parts::code("Run", "PRIVATE_KEY=0x… npx tsx buy.mts"))
        h3 #buyer-python { "Python" }
        p { "The official client is a transport for httpx that does the same." }
        (parts::code("Install", "pip install 'x402[httpx,evm]'"))
        (parts::code("buy.py", &commands::python(site, Item::page(&site.sample_url(), Tier::Starter))))
        (parts::code("Run", "PRIVATE_KEY=0x… python buy.py"))
        .note {
            p {
                "Both clients refuse to pay more than 1 USD at once unless you raise that limit, with " code { "setSpendControls" }
                " or " code { "set_spend_controls" } ". Give them a separate key that holds no more than you are willing to spend."
            }
        }
    }
}

/// Everything else, in the same three ways.
fn products(site: &Site<'_>) -> Markup {
    html! {
        h2 #products { "Buy something else" }
        p {
            "Each example is a whole program, with the response beside it. Set " code { "BASE_URL" } " to "
            code { (site.base_url) } "; the key is in " code { "PRIVATE_KEY" } "."
        }
        @for snippet in snippets::SNIPPETS.iter().skip(1) {
            (snippet.markup(site, &html! { h3 { (snippet.title) } }))
        }
    }
}

fn key(site: &Site<'_>) -> Markup {
    html! {
        @match site.facilitator {
            FacilitatorMode::Sandbox => p {
                "This service is a sandbox: any private key works, and each new payer starts with test funds. Put the key in a file "
                "for the shell, and in " code { "PRIVATE_KEY" } " for TypeScript and Python."
            },
            FacilitatorMode::Real => p {
                "You need a private key with a little USDC on " (site.network_name()) ". No ETH: the facilitator pays the gas "
                "fees. Put the key in a file for the shell, and in " code { "PRIVATE_KEY" } " for TypeScript and Python."
            },
        }
    }
}

fn what_happened() -> Markup {
    html! {
        h2 #exchange { "What happened" }
        ol.steps {
            li {
                h3 { "402" }
                p { "The first request returned 402 with " code { "PAYMENT-REQUIRED" } ": amount, token, network, recipient." }
            }
            li {
                h3 { "Sign" }
                p { "The client signed a USDC transfer authorization (EIP-3009) for that amount and recipient, valid for five minutes." }
            }
            li {
                h3 { "Pay" }
                p { "It sent the request again with " code { "PAYMENT-SIGNATURE" } ". We verified it, converted the page, then settled." }
            }
            li {
                h3 { "Receipt" }
                p { "The 200 carries " code { "PAYMENT-RESPONSE" } " with the transaction. A failed delivery would not have been settled." }
            }
        }
        h3 { "If something goes wrong" }
        ul {
            li { "400 or 422: the request can’t be served. Nothing was charged; the error says why." }
            li { "402 after you paid: the payment failed, and nothing was charged. The response carries a new challenge." }
            li {
                "503: wait five seconds. If it carries " code { "X-Service-Retry-Credit" } ", send the same body to "
                code { "/v1/x402/retry" } " with that header. Do not sign again."
            }
        }
    }
}

fn next() -> Markup {
    html! {
        h2 #next { "Next" }
        .actions {
            a.button href="/quote" { "Price your own page" }
            a.button.quiet href="/docs" { "Read the reference" }
        }
    }
}
