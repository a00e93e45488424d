//! `/paid-test`: a guided test purchase, with the live challenge explained field by field. The challenge arrives in the
//! view as the exact bytes that a buyer would get.

use maud::{Markup, html};
use serde_json::Value;

use crate::domain::amount::Amount;
use crate::domain::tier::Tier;
use crate::pages::commands::{self, Item};
use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::site::Site;

#[derive(Clone, Copy, Debug)]
pub struct PaidTestView<'a> {
    pub site: Site<'a>,
    /// The tier that the challenge is for.
    pub tier: Tier,
    /// The service's current 402 body: JSON.
    pub challenge_json: &'a str,
}

/// The test purchase page.
pub fn page(view: &PaidTestView<'_>) -> String {
    let site = &view.site;
    let target = site.sample_url();
    layout(
        Layout {
            site: view.site,
            title: "Test purchase",
            description: "Test this service with a real payment, step by step, with its live x402 challenge explained.",
            path: "/paid-test",
            noindex: false,
        },
        html! {
            h1 { "Make a test purchase" }
            p.lead {
                "Five steps, " (view.tier.price()) " USDC. The challenge below is the one this service returns now."
            }
            h2 #ask { "1. Send a request without payment" }
            p { "Expect status 402 with the challenge in the body and, as base64, in " code { "PAYMENT-REQUIRED" } "." }
            (parts::code("Shell", &commands::challenge_curl(site, Item::page(&target, view.tier))))
            h2 #check { "2. Check what you are asked to sign" }
            p { "Your client should refuse to pay if any of these differs from what you expect." }
            (checks(view))
            (parts::tall_code("The live challenge, decoded", &parts::pretty_json(view.challenge_json)))
            p { "The header contains the same bytes:" }
            (parts::code("Shell", &commands::decoded_challenge_curl(site, Item::page(&target, view.tier))))
            h2 #pay { "3. Pay and receive" }
            p { "Expect status 200 with the markdown. " a href="/quickstart#buyer" { "The quickstart" } " lists what to install." }
            (parts::ways_to_buy(site, Item::page(&target, view.tier)))
            h2 #receipt { "4. Read the receipt" }
            p {
                code { "PAYMENT-RESPONSE" } " is base64 of JSON: " code { "success" } ", " code { "transaction" } ", "
                code { "network" } " and " code { "payer" } ". The body repeats it under " code { "payment" } "."
            }
            h2 #again { "5. Failure cases" }
            ul {
                li { "Send the same paid request again: you get the cached response and are not charged twice." }
                li { "Send the same signature for another page: 400 " (error("payment_replayed")) "." }
                li { "Request a private address, such as " code { "http://127.0.0.1/" } ": refused, nothing charged." }
                li { "Request an uncached page at tier " (Tier::Cached.name()) ": 400 " (error("cache_miss")) ", nothing charged." }
            }
        },
    )
}

fn error(code: &str) -> Markup {
    html! { a href={ "/docs#" (code) } { code { (code) } } }
}

/// The fields that matter to a payer, read from the challenge itself.
fn checks(view: &PaidTestView<'_>) -> Markup {
    let challenge: Value = serde_json::from_str(view.challenge_json).unwrap_or_default();
    let accepted = &challenge["accepts"][0];
    let amount = text(&accepted["amount"]);
    let shown = Amount::parse_units(&amount).map_or(amount.clone(), |units| {
        format!("{amount} atomic units, which is {units} USDC")
    });
    let rows = [
        ("amount", shown, "the price of the tier you chose"),
        (
            "network",
            text(&accepted["network"]),
            view.site.network_name(),
        ),
        (
            "asset",
            text(&accepted["asset"]),
            "the USDC contract on that network",
        ),
        (
            "payTo",
            text(&accepted["payTo"]),
            "our receiving address, the same in every challenge",
        ),
        (
            "maxTimeoutSeconds",
            text(&accepted["maxTimeoutSeconds"]),
            "how long your signature is valid",
        ),
        (
            "resource.url",
            text(&challenge["resource"]["url"]),
            "what you are paying for",
        ),
    ];
    let table = html! {
        table {
            thead { tr { th { "Field" } th { "Value now" } th { "Expected" } } }
            tbody {
                @for (name, value, meaning) in &rows {
                    tr { td.tight { code { (name) } } td.long { (value) } td.long.muted { (meaning) } }
                }
            }
        }
    };
    parts::scrolling("Fields of the challenge", &table)
}

/// A JSON value for display: strings without quotes, a dash if absent.
fn text(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
