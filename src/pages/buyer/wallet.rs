//! `/buy`: a page or a report, paid with the wallet of a browser (EIP-1193). Paying needs script; without it the page
//! shows the commands that buy the same.

use maud::{Markup, PreEscaped, html};

use crate::domain::level::{Level, Product};
use crate::domain::pack::Pack;
use crate::domain::tier::Tier;
use crate::pages::assets::WALLET_SCRIPT;
use crate::pages::commands::{self, Item};
use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::site::{FacilitatorMode, Site};

#[derive(Clone, Copy, Debug)]
pub struct WalletView<'a> {
    pub site: Site<'a>,
    /// The values in the form.
    pub typed: &'a str,
    pub typed_question: &'a str,
    pub tier: Tier,
    pub pack: Pack,
    pub outcome: Outcome<'a>,
}

#[derive(Clone, Copy, Debug)]
pub enum Outcome<'a> {
    /// No address yet.
    Nothing,
    Refused {
        /// An error code of `/docs`.
        code: &'a str,
        /// A sentence.
        message: &'a str,
    },
    /// The page can be asked for; whether it can be read shows when it is bought.
    Offered { target_url: &'a str },
}

pub fn page(view: &WalletView<'_>) -> String {
    layout(
        Layout {
            site: view.site,
            title: "Buy with a wallet",
            description: "Buy a page as markdown or a Proof Pack with the wallet in your browser.",
            path: "/buy",
            noindex: !matches!(view.outcome, Outcome::Nothing),
        },
        html! {
            @match view.outcome {
                Outcome::Nothing => {
                    h1 { "Buy with a wallet" }
                    p.lead {
                        "A page as markdown, or a report on whether it supports a claim, paid with the wallet in this browser. "
                        "You sign once, for exactly the price."
                    }
                    (form(view))
                },
                Outcome::Refused { code, message } => {
                    h1 { "Buy with a wallet" }
                    .note.bad role="alert" {
                        p { strong { (message) } }
                        p { "Nothing was charged. See " a href={ "/docs#" (code) } { code { (code) } } " for what to do." }
                    }
                    (form(view))
                },
                Outcome::Offered { target_url } => (offer(view, view.item(target_url))),
            }
        },
    )
}

impl<'a> WalletView<'a> {
    /// A report if there is a question, else the page.
    fn item(&self, target_url: &'a str) -> Item<'a> {
        match self.typed_question {
            "" => Item::page(target_url, self.tier),
            question => Item::report(target_url, question, self.pack),
        }
    }
}

/// The page that buys this; without an option for a cache mode, which only programs state.
pub(crate) fn path(item: Item<'_>) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("target_url", item.target_url);
    if let Some(question) = item.question {
        query.append_pair("question", question);
    }
    query.append_pair(item.level.product().level_word(), item.level.name());
    format!("/buy?{}", query.finish())
}

fn form(view: &WalletView<'_>) -> Markup {
    html! {
        form.ask action="/buy" method="get" {
            label for="target_url" { "Page URL" }
            .row {
                input #target_url name="target_url" type="text" inputmode="url" required maxlength="2048"
                    autocomplete="off" spellcheck="false" value=(view.typed) placeholder="https://example.com/article";
            }
            label for="question" { "Question or claim, for a report; leave it empty for the page" }
            .row {
                input #question name="question" type="text" maxlength="1000" autocomplete="off" value=(view.typed_question);
            }
            .row {
                div {
                    label for="tier" { "Tier of a page" }
                    select #tier name="tier" {
                        @for tier in Tier::ALL { (option(Level::Tier(tier), tier == view.tier)) }
                    }
                }
                div {
                    label for="pack" { "Pack of a report" }
                    select #pack name="pack" {
                        @for pack in Pack::ALL { (option(Level::Pack(pack), pack == view.pack)) }
                    }
                }
            }
            .row { button type="submit" { "Continue" } }
        }
    }
}

fn option(level: Level, is_chosen: bool) -> Markup {
    html! {
        option value=(level.name()) selected[is_chosen] { (level.name()) ", " (parts::usdc(level.price())) }
    }
}

fn offer(view: &WalletView<'_>, item: Item<'_>) -> Markup {
    let (site, level) = (&view.site, item.level);
    let word = level.product().level_word();
    html! {
        p.kicker { "Buy with a wallet" }
        h1 {
            @match level.product() { Product::Context => "This page", _ => "A report on this page" }
            " for " (parts::usdc(level.price()))
        }
        .beside {
            dl.facts {
                dt { "Page" } dd { (parts::foreign_link(item.target_url)) }
                @if let Some(question) = item.question { dt { "Question" } dd { (question) } }
                dt { @match level.product() { Product::Context => "Tier", _ => "Pack" } } dd { (level.name()) }
                dt { "Price" } dd { (parts::usdc(level.price())) " on " (site.network_name()) ", no gas fees" }
                dt { "Paid to" } dd { code { (site.pay_to) } }
            }
            @if site.is_paused { (parts::paused_note()) } @else { #wallet-panel.panel data-path={ (level.product().path()) "?" (word) "=" (level.name()) }
                data-body=(commands::request(item)) data-units=(level.price().units()) data-network=(site.network)
                data-network-name=(site.network_name()) data-file=(file(item)) data-asset=(site.asset) data-pay-to=(site.pay_to) {
                p {
                    "Your wallet shows a USDC transfer authorization (" span.nowrap { "EIP-3009" } ") for this amount and this recipient. It is settled "
                    "only when the answer is ready. If the answer is lost, this page asks for it again with the same signature."
                }
                @if site.facilitator == FacilitatorMode::Sandbox {
                    p { "This is a sandbox: every wallet has test funds, and nothing reaches a chain." }
                }
                .actions { button #wallet-pay type="button" hidden { "Pay " (parts::usdc(level.price())) } }
                output #wallet-status {}
                noscript { p { "Paying in the browser needs JavaScript. The commands below do not." } }
            } }
        }
        section #wallet-answer hidden {
            h2 tabindex="-1" { "Your answer" }
            dl.facts {
                dt { "Paid" } dd { (parts::usdc(level.price())) }
                dt { "Payer" } dd { code #wallet-payer {} }
                dt { "Transaction" } dd { code #wallet-transaction {} }
                dt { "Network" } dd { code #wallet-network {} }
            }
            .actions {
                a.button #wallet-report href="/docs#report" hidden { "Open the whole report" }
                a.button.quiet #wallet-download href="#wallet-text" { "Download .md" }
            }
            figure.code.fold.tall { figcaption { "Answer" } pre tabindex="0" { code #wallet-text {} } }
            p.small.muted {
                "This tab shows the answer again after a reload, until you close it. The wallet that paid can read a page again for 15 minutes and a report for 30 days: see "
                a href="/docs#example-purchases" { "purchases" } "."
            }
        }
        h2 #commands { "Or from a program" }
        (parts::ways_to_buy(site, item))
        (parts::what_to_install(site))
        h2 #another { "Something else" }
        (form(view))
        @if !site.is_paused { script { (PreEscaped(WALLET_SCRIPT)) } }
    }
}

/// The name of the downloaded answer: `example.com.md`.
fn file(item: Item<'_>) -> String {
    let url = url::Url::parse(item.target_url).ok();
    let host = url.as_ref().and_then(url::Url::host_str);
    format!("{}.md", host.unwrap_or("answer"))
}
