//! `/quickstart`: the first purchase, in the shell, TypeScript and Python. The 402's `X-Service-Buyer-Example` header
//! points to `#buyer`.

use maud::{Markup, html};

use crate::domain::tier::Tier;
use crate::pages::buyer::home::exchange;
use crate::pages::buyer::wallet;
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
        parts::with_toc(&html! {
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
        }),
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
    let sample = site.sample_url();
    let item = Item::page(&sample, Tier::Starter);
    let program = ("CLI", cli(site, item));
    let clients = [
        (
            "TypeScript",
            html! {
                p { "The official client wraps " code { "fetch" } ": on a 402 it signs and repeats the request." }
                (parts::code("Install", "npm install @x402/fetch @x402/core @x402/evm @x402/extensions viem tsx"))
                (parts::code("buy.mts", &commands::typescript(site, item)))
                (parts::code("Run", "PRIVATE_KEY=0x$(cat buyer.key) npx tsx buy.mts"))
            },
        ),
        (
            "Python",
            html! {
                p { "The official client is a transport for httpx that does the same." }
                (parts::code("Install", "pip install 'x402[httpx,evm]'"))
                (parts::code("buy.py", &commands::python(site, item)))
                (parts::code("Run", "PRIVATE_KEY=0x$(cat buyer.key) python buy.py"))
            },
        ),
    ];
    // Who has to build the program first begins with a client.
    let ways: Vec<_> = match site.has_program() {
        true => std::iter::once(program).chain(clients).collect(),
        false => clients.into_iter().collect(),
    };
    html! {
        h2 #buyer { "Pay with a client" }
        (key(site))
        (parts::tabs("buyer", "Buy it with", &ways))
        p { "Or use the wallet in your browser: " a href=(wallet::path(item)) { "buy this page" } "." }
        .note {
            p {
                "The TypeScript and Python clients refuse to pay more than 1 USD at once unless you raise that limit, with " code { "setSpendControls" }
                " or " code { "set_spend_controls" } ". Give them a separate key that holds no more than you are willing to spend."
            }
        }
    }
}

fn cli(site: &Site<'_>, item: Item<'_>) -> Markup {
    html! {
        p {
            "The program that runs this service can also buy. It shows the price, pays at most " code { "--max-usdc" }
            ", and prints the markdown and the receipt."
        }
        @match site.download.and_then(parts::safe_href) {
            Some(download) => p { a href=(download) { "Download context402" } " and put it into your " code { "PATH" } "." },
            // The sandbox runs it.
            None => p { (parts::program_here()) },
        }
        (parts::code("Run", &commands::buy(site, item)))
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
                "This service is a sandbox: any private key works, and each new payer starts with test funds. Make one:"
            },
            FacilitatorMode::Real => p {
                "You need a private key with a little USDC on " (site.network_name()) ". No ETH: the facilitator pays the gas "
                "fees. Export one from your wallet, or make one and send USDC to its address:"
            },
        }
        (parts::code("Shell", "openssl rand -hex 32 > buyer.key\nchmod 600 buyer.key"))
    }
}

fn what_happened() -> Markup {
    html! {
        h2 #exchange { "What happened" }
        (exchange())
        ol {
            li { "The first request returned 402 with " code { "PAYMENT-REQUIRED" } ": amount, token, network, recipient." }
            li {
                "The client signed a USDC transfer authorization (EIP-3009) for that amount and recipient, valid for five "
                "minutes, and sent the request again with " code { "PAYMENT-SIGNATURE" } "."
            }
            li { "We verified the payment, converted the page, and then settled the payment." }
            li {
                "The 200 carries " code { "PAYMENT-RESPONSE" } " with the transaction. A failed delivery would not have been settled."
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
