//! `/proof-pack/bundle/delivery` and `/proof-pack/bundle/recover`: the status of an order, its report, and the form that
//! sends a lost link again.

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
    /// The status of the order, in a sentence or two.
    pub message: &'a str,
    pub order_id: Option<&'a str>,
    /// What was ordered; none before it is known, and where it must not be shown.
    pub ordered: Option<Ordered<'a>>,
    /// Where a payment that failed is made again.
    pub pay_again: Option<String>,
    /// What happens next, in a sentence or two; may be empty.
    pub next: &'a str,
    /// Finished sources, and their total.
    pub progress: Option<(u32, u32)>,
    /// The buyer's address, masked.
    pub email: Option<&'a str>,
    /// None before it is delivered.
    pub report: Option<&'a BundleReport>,
    /// The page of a report that is no order's, where it can be verified.
    pub report_path: Option<&'a str>,
    /// The result of a check, if requested.
    pub checks: Option<&'a [(&'static str, bool)]>,
    pub json_url: Option<&'a str>,
    pub pdf_url: Option<&'a str>,
    /// Whether the service sends mail, and so can send the link again.
    pub is_mailed: bool,
    /// The permanent link and its expiry.
    pub way_back: Option<(String, UnixSeconds)>,
}

#[derive(Clone, Debug)]
pub struct Ordered<'a> {
    pub question: &'a str,
    /// Amount and currency.
    pub paid: Option<String>,
    /// The address of each source, and why it could not be read.
    pub sources: Vec<(&'a str, Option<&'a str>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The page refreshes automatically.
    UnderWay,
    /// The page has stopped refreshing.
    TakingLong,
    /// The order has ended without a report.
    Ended,
    Delivered,
}

#[derive(Clone, Debug)]
pub struct RecoverView<'a> {
    pub site: Site<'a>,
    /// The result of a request; none before the first.
    pub message: Option<&'a str>,
    /// Whether the service sends mail; without mail there is no form.
    pub is_mailed: bool,
}

pub fn page(view: &DeliveryView<'_>) -> String {
    let content = match view.report {
        Some(report) => report::body(view, report),
        None => waiting(view),
    };
    layout(
        Layout {
            site: view.site,
            title: "Your Evidence Bundle",
            description: "Status and report of your Evidence Bundle.",
            path: view.report_path.unwrap_or("/proof-pack/bundle/delivery"),
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
            Stage::UnderWay => p { "This page refreshes automatically. " (way_back_hint(view)) },
            Stage::TakingLong if view.is_mailed => p {
                "This is taking longer than usual. Come back later, or " a href=(RECOVER_PATH) { "request the link by e-mail" } "."
            },
            Stage::TakingLong => p { "This is taking longer than usual. Come back later. " (way_back_hint(view)) },
            _ => {},
        }
        @if !view.next.is_empty() { p { (view.next) } }
        @if let Some(path) = &view.pay_again { .actions { a.button href=(path) { "Pay again" } } }
        @if let Some(ordered) = &view.ordered { (order_facts(ordered)) }
        @if let Some(contact) = view.site.contact { p { "Questions: " (parts::contact(contact)) } }
        @if let Some(id) = view.order_id { p.small.muted { "Order " code { (id) } } }
    }
}

fn order_facts(ordered: &Ordered<'_>) -> Markup {
    let has_reasons = ordered.sources.iter().any(|(_, reason)| reason.is_some());
    html! {
        h2 { "Your order" }
        dl.facts {
            dt { "Question" } dd { (ordered.question) }
            @if let Some(paid) = &ordered.paid { dt { "Paid" } dd { (paid) } }
        }
        (parts::scrolling("Your sources", &html! {
            table.stack {
                thead { tr { th { "Source" } @if has_reasons { th { "Why it could not be read" } } } }
                tbody { @for (address, reason) in &ordered.sources { tr {
                    td.long { (parts::foreign_link(address)) }
                    @if has_reasons { td.long.muted { (reason.unwrap_or("–")) } }
                } } }
            }
        }))
    }
}

/// How the buyer comes back to this page.
fn way_back_hint(view: &DeliveryView<'_>) -> Markup {
    html! {
        @match view.email {
            _ if !view.is_mailed => "Bookmark it: this service sends no e-mail, so this page is the only way back to your report.",
            Some(email) => { "You can close it and find the report again with your e-mail address " (email) "." },
            None => "You can close it.",
        }
    }
}

/// The form that sends a lost link again, and the result.
pub fn recover_page(view: &RecoverView<'_>) -> String {
    layout(
        Layout {
            site: view.site,
            title: "Find your delivery",
            description: "Get the link to a paid Evidence Bundle by e-mail again.",
            path: RECOVER_PATH,
            noindex: true,
        },
        html! {
            h1 { "Find your delivery" }
            @if let Some(message) = view.message { p.lead role="status" { (message) } }
            @if view.is_mailed { (recover_form()) } @else {
                p { "This service sends no e-mail, so it cannot send the link again. Use the page that the payment provider "
                "sent you to, or " a href="/contact" { "contact the operator" } "." }
            }
        },
    )
}

fn recover_form() -> Markup {
    html! {
            form.ask action=(RECOVER_PATH) method="post" {
                label for="email" { "The e-mail address you used at checkout" }
                .row {
                    input #email name="email" type="email" maxlength="254" required autocomplete="email";
                }
                label for="target_url" { "One of your sources" }
                .row {
                    input #target_url name="target_url" type="text" inputmode="url" maxlength="2048" required
                        autocomplete="off" spellcheck="false" placeholder="https://example.com/pricing";
                    button type="submit" { "Send the link" }
                }
            }
            p.hint {
                "For privacy, the response is the same whether or not we find an order."
            }
    }
}
