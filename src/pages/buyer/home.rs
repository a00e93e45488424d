//! `/`: what the service does, what it costs and how to call it.

use maud::{Markup, PreEscaped, html};
use serde_json::json;

use crate::domain::amount::Amount;
use crate::domain::bundle::Bundle;
use crate::domain::check::{CheckDepth, SOURCES_MAX};
use crate::domain::level::Product;
use crate::domain::pack::Pack;
use crate::domain::tier::Tier;
use crate::evidence::report::Report;
use crate::pages::buyer::first_words;
use crate::pages::buyer::outcomes;
use crate::pages::buyer::sample;
use crate::pages::buyer::wallet;
use crate::pages::commands::{self, Item};
use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::price_lists;
use crate::pages::site::{FacilitatorMode, NAME, Site};

/// What the home page shows beyond the price list.
#[derive(Clone, Debug)]
pub struct HomeView<'a> {
    pub site: Site<'a>,
    /// The converter's output for the sample page.
    pub sample_markdown: &'a str,
    /// A supported, a contradicted and a not stated answer.
    pub outcomes: &'a [Report],
    /// Free previews that are fetched for one visitor in a day.
    pub previews_per_day: u64,
}

/// The home page.
pub fn page(view: &HomeView<'_>) -> String {
    layout(
        Layout {
            site: view.site,
            title: "",
            description: "Send a web address, get clean markdown, or evidence on what the page supports. Agents pay per \
                          call in USDC over x402: no account, no API key, no subscription.",
            path: "/",
            noindex: false,
        },
        html! {
            (hero(view))
            (products(&view.site))
            h2 #example { "A page goes in, markdown comes out" }
            p {
                "This is " a href="/sample" { "our sample page" } ", converted by this service. "
                "Navigation, footers and banners are gone; headings, lists, tables, code and links stay."
            }
            .pair {
                figure.reading.preview {
                    figcaption.source-head { "In: the page, as people see it" }
                    .source-text tabindex="0" role="region" aria-label="The sample page" { (sample::article(&view.site)) }
                }
                (parts::tall_code("Out: markdown", view.sample_markdown))
            }
            h2 #evidence { "A question goes in, evidence comes out" }
            p {
                "One article and three questions, answered by this service: what the page supports, what it contradicts and what it "
                "does not say. " a href="/proof-pack/sample" { "Read a whole report" } "."
            }
            (outcomes::side_by_side(view.outcomes))
            h2 #prices { "What a page costs" }
            p {
                "One price per page, whatever its size. You choose how fresh it must be. "
                a href="/pricing" { "All prices and a cost estimate" } "."
            }
            (price_lists::tier_table())
            (how_a_sale_goes())
            (what_you_get())
            (where_next())
            script type="application/ld+json" { (PreEscaped(structured_data(&view.site))) }
        },
    )
}

/// Structured data for search engines: the API and its prices.
fn structured_data(site: &Site<'_>) -> String {
    let offer = |name: String, price: Amount, product: Product| {
        json!({
            "@type": "Offer", "name": name, "price": parts::cents(price), "priceCurrency": "USD",
            "url": site.url(product.path()),
        })
    };
    let tiers = Tier::ALL.into_iter().map(|tier| {
        offer(
            format!("A page, tier {}", tier.name()),
            tier.price(),
            Product::Context,
        )
    });
    let packs = Pack::ALL.into_iter().map(|pack| {
        offer(
            format!("A Proof Pack, pack {}", pack.name()),
            pack.price(),
            Product::ProofPack,
        )
    });
    let document = json!({
        "@context": "https://schema.org",
        "@type": "WebAPI",
        "name": NAME,
        "description": env!("CARGO_PKG_DESCRIPTION"),
        "url": site.url("/"),
        "documentation": site.url("/docs"),
        "offers": tiers.chain(packs).collect::<Vec<_>>(),
    });
    // The JSON is inlined between script tags.
    document.to_string().replace('<', "\\u003c")
}

fn hero(view: &HomeView<'_>) -> Markup {
    let site = &view.site;
    let target = site.sample_url();
    let tier = Tier::Starter;
    html! {
        .hero {
            div {
                h1 { "Clean markdown of any public web page, paid per call" }
                p.lead {
                    "Send a URL, get the page as markdown your model can read. From "
                    strong.nowrap { (parts::cents(cheapest())) " USDC" } " (dollars on a blockchain) a page, paid over x402, the HTTP standard for "
                    "payments by programs: no account, no API key, no subscription. If we can’t deliver, you don’t pay."
                }
                (first_words::form(""))
                p.hint {
                    "Up to the first 300 words are free"
                    @if view.previews_per_day > 0 { ", for " (view.previews_per_day) @if view.previews_per_day == 1 { " page a day" } @else { " pages a day" } }
                    ". No page at hand? Try "
                    a href=(first_words::path(&site.sample_url())) { "our sample page" } ", or " a href="/demo" { "the demo" } "."
                }
            }
            div {
                (parts::code("Ask: the response is 402 with the price", &commands::challenge_curl(site, Item::page(&target, tier))))
                @if site.has_program() {
                    (parts::code("Buy: sign, pay, receive", &commands::buy(site, Item::page(&target, tier))))
                } @else {
                    p { a href="/quickstart" { "Buy it from TypeScript or Python" } ", or with " a href=(wallet::path(Item::page(&target, tier))) { "the wallet in your browser" } "." }
                }
                @if site.facilitator == FacilitatorMode::Sandbox {
                    p.small.muted { "This is a sandbox: any private key works and starts with test funds." }
                } @else {
                    p.small.muted {
                        "You need a private key with a little USDC on " (site.network_name())
                        ". No ETH, no gas fees."
                    }
                }
            }
        }
    }
}

fn cheapest() -> Amount {
    let prices = Tier::ALL.map(Tier::price).into_iter();
    prices.min().unwrap_or_default()
}

fn products(site: &Site<'_>) -> Markup {
    html! {
        h2 #products { "Four products" }
        ul.cards.two {
            li {
                h3 { a href="/quote" { "A page as markdown" } }
                p.price { (parts::cents(cheapest())) small { " to " (parts::cents(Tier::Deep.price())) " USDC" } }
                p {
                    "Title, author, dates, headings and links as fields; source hashes; warnings about thin pages, paywalls and "
                    "text aimed at AI systems."
                }
            }
            li {
                h3 { a href="/proof-pack" { "Proof Pack" } }
                p.price { (parts::cents(Pack::Quick.price())) small { " to " (parts::cents(Pack::Deep.price())) " USDC" } }
                p {
                    "Does this page support that claim? A decision with the engine’s estimate of it, verbatim excerpts, gaps, risks, and advice "
                    "for the agent. Stored for 30 days; anyone can verify it."
                }
            }
            li {
                h3 { a href="/proof-pack/bundle" { "Evidence Bundle" } }
                p.price { (parts::cents(Bundle::Scout.price())) small { " to " (parts::cents(Bundle::Audit.price())) " USDC" } }
                p {
                    "One question to up to " (Bundle::Audit.source_limit()) " sources: where they agree, where they conflict, what is missing. "
                    "As a web page, PDF and JSON; agents pay per call, people " (site.payment_of_people()) "."
                }
            }
            li {
                h3 { a href="/docs#example-check" { "Check of a text" } }
                p.price {
                    (parts::cents(CheckDepth::Quick.price())) small { " to " (parts::cents(CheckDepth::Standard.price())) " USDC a source" }
                }
                p {
                    "A whole answer of a model, claim by claim against up to " (SOURCES_MAX) " sources: what is supported, what is "
                    "contradicted, and what to correct, with the passages."
                }
            }
        }
    }
}

fn how_a_sale_goes() -> Markup {
    html! {
        h2 #how { "How a payment works" }
        (exchange())
        ol.steps {
            li {
                h3 { "Ask" }
                p { "Send the request without payment. The 402 response states amount, token, network and recipient." }
            }
            li {
                h3 { "Sign" }
                p {
                    "Your client signs a USDC authorization for that exact amount, valid for five minutes, and sends the request "
                    "again with it."
                }
            }
            li {
                h3 { "Settle" }
                p { "We verify the signature, check the target and convert the page. We settle only when the markdown is ready." }
            }
            li {
                h3 { "Receive" }
                p { "The response carries the markdown and the receipt." }
            }
        }
    }
}

/// 402, signature, settlement: who sends what to whom.
pub(in crate::pages) fn exchange() -> Markup {
    const AGENT: i32 = 70;
    const SERVICE: i32 = 360;
    const CHAIN: i32 = 650;
    let lines = [
        (50, AGENT, SERVICE, "1  POST without payment"),
        (92, SERVICE, AGENT, "402: amount, token, recipient"),
        (134, AGENT, SERVICE, "2  POST with the signature"),
        (176, SERVICE, CHAIN, "3  verify, then settle"),
        (218, CHAIN, SERVICE, "transaction"),
        (260, SERVICE, AGENT, "4  200: markdown and receipt"),
    ];
    html! {
        svg.exchange viewBox="0 0 720 290" role="img"
            aria-label="The agent asks without payment and gets 402 with the price; it asks again with a signature; the service verifies, converts the page, settles with the facilitator and returns the markdown with the receipt." {
            @for (x, name) in [(AGENT, "Agent"), (SERVICE, NAME), (CHAIN, "Facilitator")] {
                line.life x1=(x) y1="34" x2=(x) y2="284" {}
                rect x=(x - 62) y="4" width="124" height="30" rx="6" {}
                text.party x=(x) y="24" text-anchor="middle" { (name) }
            }
            @for (y, from, to, words) in lines {
                @let head = if from < to { to - 8 } else { to + 8 };
                line.message x1=(from) y1=(y + 14) x2=(head) y2=(y + 14) {}
                path.head d={ "M" (to) " " (y + 14) " L" (head) " " (y + 9) " L" (head) " " (y + 19) " Z" } {}
                text x=((from + to) / 2) y=(y + 7) text-anchor="middle" { (words) }
            }
        }
    }
}

fn what_you_get() -> Markup {
    html! {
        h2 #answer { "What every paid response contains" }
        ul {
            li { strong { "The markdown" } ", with title, author, dates, language, headings and links as fields." }
            li { strong { "Proof of what was read:" } " the final address, the time, and SHA-256 of source and markdown." }
            li { strong { "Warnings" } " when a page has little text, needs scripts, stops at a login, paywall or captcha, or addresses AI systems." }
            li { strong { "The site’s policy:" } " its robots meta tags, so that you can decide." }
            li { strong { "The receipt:" } " amount, payer and transaction, and our own margin calculation." }
        }
        p {
            "If an outage on our side or the target’s interrupts a paid delivery, you get a retry credit and repeat the call "
            "without paying again."
        }
    }
}

fn where_next() -> Markup {
    html! {
        h2 #next { "Next steps" }
        ul.cards.three {
            li {
                h3 { a href="/quickstart" { "Quickstart" } }
                p { "Buy your first page from the shell, TypeScript or Python in a few minutes." }
            }
            li {
                h3 { a href="/demo" { "Demo" } }
                p { "Try the converter and the evidence check on four sample pages, free." }
            }
            li {
                h3 { a href="/llms.txt" { "For agents" } }
                p { "llms.txt and openapi.json describe the API for machines." }
            }
        }
    }
}
