//! `/proof-pack/bundle/delivery` and `/proof-pack/bundle/recover`: an order for its buyer, from the wait for the payment
//! to the report, and the form by which a lost link is asked for.

mod report;

use maud::{Markup, html};

use crate::domain::time::UnixSeconds;
use crate::evidence::bundle::BundleReport;
use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::site::Site;

const RECOVER_PATH: &str = "/proof-pack/bundle/recover";

#[derive(Clone, Debug)]
pub struct DeliveryView<'a> {
    pub site: Site<'a>,
    pub stage: Stage,
    /// What the order has come to, as a sentence or two.
    pub message: &'a str,
    pub order_id: Option<&'a str>,
    /// Sources that are done, and all of them.
    pub progress: Option<(u32, u32)>,
    /// The buyer's address, masked.
    pub email: Option<&'a str>,
    /// None before it is delivered.
    pub report: Option<&'a BundleReport>,
    pub json_url: Option<&'a str>,
    pub pdf_url: Option<&'a str>,
    /// The link that leads back, and its end.
    pub way_back: Option<(String, UnixSeconds)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The page looks again by itself.
    UnderWay,
    /// It has looked long enough.
    TakingLong,
    /// Nothing more will come.
    Ended,
    Delivered,
}

#[derive(Clone, Debug)]
pub struct RecoverView<'a> {
    pub site: Site<'a>,
    /// What became of a request; none before one is made.
    pub message: Option<&'a str>,
    /// Whether the service sends mail; without it no link is given.
    pub is_mailed: bool,
}

pub fn page(view: &DeliveryView<'_>) -> String {
    let content = match view.report {
        Some(report) => report::delivered(view, report),
        None => waiting(view),
    };
    layout(
        Layout {
            site: view.site,
            title: "Your Evidence Bundle",
            description: "What several public sources establish together, for anyone who ordered it.",
            path: "/proof-pack/bundle/delivery",
            noindex: true,
        },
        content,
    )
}

fn waiting(view: &DeliveryView<'_>) -> Markup {
    html! {
        h1 { "Your Evidence Bundle" }
        p.lead role="status" { (view.message) }
        @if let Some((done, total)) = view.progress {
            p {
                progress value=(done) max=(total) { (done) " of " (total) }
                " " (done) " of " (total) " sources are done."
            }
        }
        @match view.stage {
            Stage::UnderWay => p { "This page looks again by itself. You can close it" (told_later(view)) "." },
            Stage::TakingLong => p {
                "It takes longer than usual. " a href=(RECOVER_PATH) { "Have the link sent to you" } " when it is ready."
            },
            _ => {},
        }
        @if let Some(contact) = view.site.contact { p { "Questions: " (parts::contact(contact)) } }
        @if let Some(id) = view.order_id { p.small.muted { "Order " code { (id) } } }
    }
}

fn told_later(view: &DeliveryView<'_>) -> Markup {
    html! {
        @if let Some(email) = view.email { ": what is ready can also be found again with your address " (email) }
    }
}

/// The form by which a lost link is asked for, and what became of it.
pub fn recover_page(view: &RecoverView<'_>) -> String {
    layout(
        Layout {
            site: view.site,
            title: "Find a delivery again",
            description: "Has the link to a paid Evidence Bundle sent again to the address that it was bought with.",
            path: RECOVER_PATH,
            noindex: true,
        },
        html! {
            h1 { "Find a delivery again" }
            @if let Some(message) = view.message { p.lead role="status" { (message) } }
            @if view.is_mailed { (recover_form()) } @else {
                p { "This service sends no e-mail, so it cannot send the link again. Use the address that the payment "
                    "page led to, or " a href="/contact" { "write to the operator" } "." }
            }
        },
    )
}

fn recover_form() -> Markup {
    html! {
            form.ask action=(RECOVER_PATH) method="post" {
                label for="email" { "The e-mail address that you gave at the checkout" }
                .row {
                    input #email name="email" type="email" maxlength="254" required autocomplete="email";
                }
                label for="target_url" { "One of the sources that you submitted" }
                .row {
                    input #target_url name="target_url" type="text" inputmode="url" maxlength="2048" required
                        autocomplete="off" spellcheck="false" placeholder="https://example.com/pricing";
                    button type="submit" { "Send the link" }
                }
            }
            p.hint {
                "The answer is the same whether or not an order fits, so that nobody learns from it who has bought what."
            }
    }
}
