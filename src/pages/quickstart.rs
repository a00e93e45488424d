//! `/quickstart`: from nothing to a bought page, in the shell, TypeScript and Python. `#buyer` is where the 402's
//! `X-Service-Buyer-Example` header points.

use maud::{Markup, html};

use crate::domain::tier::Tier;
use crate::pages::commands::{self, ACCESS_PATH};
use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::site::{FacilitatorMode, Site};

/// The examples are made for this service and its sample page.
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
            markdown: None,
        },
        html! {
            h1 { "Buy your first page" }
            p.lead {
                "The starter tier sells " a href="/sample" { "our sample page" } " for "
                (Tier::Starter.price()) " USDC: the cheapest way to see the whole exchange."
            }
            (see_the_price(site))
            (buyer(site))
            (what_happened())
            (next())
        },
    )
}

fn see_the_price(site: &Site<'_>) -> Markup {
    html! {
        h2 #price { "See the price" }
        p { "Ask without paying. The answer is 402, and its body is the challenge that a client signs." }
        (parts::code("Shell", &commands::challenge_curl(site, &site.sample_url(), Tier::Starter)))
        p { "Nothing is charged by asking. " a href="/paid-test" { "The paid test" } " explains each field of the answer." }
    }
}

fn buyer(site: &Site<'_>) -> Markup {
    html! {
        h2 #buyer { "Pay with a client" }
        (key(site))
        h3 #buyer-shell { "Shell" }
        p {
            "The program that runs this service is also a buyer. It shows the price, pays at most what "
            code { "--max-usdc" } " allows, and prints the markdown and the receipt."
        }
        (parts::code("Shell", &commands::buy(site, &site.sample_url(), Tier::Starter)))
        h3 #buyer-typescript { "TypeScript" }
        p { "The official client wraps " code { "fetch" } ": on a 402 it signs and sends the request again." }
        (parts::code("Install", "npm install @x402/fetch @x402/core @x402/evm viem tsx"))
        (parts::code("buy.mts", &typescript(site)))
        (parts::code("Run", "PRIVATE_KEY=0x… npx tsx buy.mts"))
        h3 #buyer-python { "Python" }
        p { "The official client is a transport for httpx that does the same." }
        (parts::code("Install", "pip install 'x402[httpx,evm]'"))
        (parts::code("buy.py", &python(site)))
        (parts::code("Run", "PRIVATE_KEY=0x… python buy.py"))
        .note {
            p {
                "Both clients pay what the seller asks on the network you register. Give them a key of their own that "
                "holds no more than you mean to spend."
            }
        }
    }
}

fn key(site: &Site<'_>) -> Markup {
    html! {
        @match site.facilitator {
            FacilitatorMode::Sandbox => p {
                "This service runs with its sandbox: any private key works, and each new payer starts with play money. "
                "Put one in a file for the shell, and in " code { "PRIVATE_KEY" } " for the other two."
            },
            FacilitatorMode::Real => p {
                "You need a private key that holds a little USDC on " (site.network_name()) "; no ETH, because the payer "
                "of gas is the facilitator. Put it in a file for the shell, and in " code { "PRIVATE_KEY" }
                " for the other two."
            },
        }
    }
}

fn typescript(site: &Site<'_>) -> String {
    let [address, target, network] = json_words(site);
    format!(
        r#"import {{ x402Client }} from "@x402/core/client";
import {{ ExactEvmScheme }} from "@x402/evm/exact/client";
import {{ wrapFetchWithPayment }} from "@x402/fetch";
import {{ privateKeyToAccount }} from "viem/accounts";

const account = privateKeyToAccount(process.env.PRIVATE_KEY as `0x${{string}}`);
const client = new x402Client().register({network}, new ExactEvmScheme(account));
const paidFetch = wrapFetchWithPayment(fetch, client);

const response = await paidFetch({address}, {{
  method: "POST",
  headers: {{ "Content-Type": "application/json" }},
  body: JSON.stringify({{ target_url: {target}, tier: "{tier}" }}),
}});
if (!response.ok) throw new Error(`${{response.status}}: ${{await response.text()}}`);

const page = await response.json();
const receipt = JSON.parse(atob(response.headers.get("PAYMENT-RESPONSE") ?? "e30="));
console.log(page.markdown);
console.error("paid in", receipt.transaction);"#,
        tier = Tier::Starter.name(),
    )
}

fn python(site: &Site<'_>) -> String {
    let [address, target, network] = json_words(site);
    format!(
        r#"import asyncio, base64, json, os, sys

import httpx
from eth_account import Account
from x402 import x402Client
from x402.http.clients import x402_httpx_transport
from x402.mechanisms.evm import EthAccountSigner
from x402.mechanisms.evm.exact import ExactEvmScheme


async def main() -> None:
    signer = EthAccountSigner(Account.from_key(os.environ["PRIVATE_KEY"]))
    client = x402Client()
    client.register({network}, ExactEvmScheme(signer=signer))
    transport = x402_httpx_transport(client)
    async with httpx.AsyncClient(transport=transport, timeout=60) as http:
        response = await http.post(
            {address},
            json={{"target_url": {target}, "tier": "{tier}"}},
        )
    response.raise_for_status()
    receipt = json.loads(base64.b64decode(response.headers["PAYMENT-RESPONSE"]))
    print(response.json()["markdown"])
    print("paid in", receipt["transaction"], file=sys.stderr)


asyncio.run(main())"#,
        tier = Tier::Starter.name(),
    )
}

/// Address, target and network as string literals; JSON's are good in both languages.
fn json_words(site: &Site<'_>) -> [String; 3] {
    let address = site.url(&format!("{ACCESS_PATH}?tier={}", Tier::Starter.name()));
    [address, site.sample_url(), site.network.to_owned()]
        .map(|text| serde_json::Value::String(text).to_string())
}

fn what_happened() -> Markup {
    html! {
        h2 #exchange { "What just happened" }
        ol.steps {
            li {
                h3 { "402" }
                p { "The first request came back with " code { "PAYMENT-REQUIRED" } ": amount, token, network, recipient." }
            }
            li {
                h3 { "Sign" }
                p { "The client signed a USDC transfer authorization (EIP-3009) for that amount and recipient, good for five minutes." }
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
            li { "402 after you paid: the payment failed, and nothing was charged. The answer holds a fresh challenge." }
            li {
                "503: wait five seconds. When it carries " code { "X-Service-Retry-Credit" } ", send the same body to "
                code { "/v1/x402/retry" } " with that header. Do not sign again."
            }
        }
    }
}

fn next() -> Markup {
    html! {
        h2 #next { "Next" }
        .actions {
            a.button href="/quote" { "Price a page of yours" }
            a.button.quiet href="/docs" { "Read the reference" }
        }
    }
}
