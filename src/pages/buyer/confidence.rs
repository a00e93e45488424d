//! `/checkout/confidence`: whether a purchase would succeed now. The checks arrive in the view.

use maud::{Markup, html};

use crate::domain::level::Level;
use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::site::Site;

#[derive(Clone, Debug)]
pub struct ConfidenceView<'a> {
    pub site: Site<'a>,
    pub target_url: &'a str,
    pub level: Level,
    pub is_ready: bool,
    pub checks: Vec<Check<'a>>,
    pub what_you_get: &'a [&'a str],
    pub refunds: &'a str,
    /// How long a delivery may take.
    pub seconds: u64,
}

#[derive(Clone, Copy, Debug)]
pub struct Check<'a> {
    pub label: &'a str,
    /// `pass`, `warn` or `fail`.
    pub status: &'a str,
    pub detail: &'a str,
}

pub fn page(view: &ConfidenceView<'_>) -> String {
    let (level, word) = (view.level, view.level.product().level_word());
    layout(
        Layout {
            site: view.site,
            title: "Before you pay",
            description: "Check whether this purchase can succeed before you pay.",
            path: "/checkout/confidence",
            noindex: true,
        },
        html! {
            h1 { "Before you pay" }
            p.lead {
                @if view.is_ready { "This purchase is ready to go." }
                @else { "This purchase would fail right now. This check is free." }
            }
            dl.facts {
                dt { "Page" } dd { (parts::foreign_link(view.target_url)) }
                dt { "Price" } dd { (parts::usdc(level.price())) " (" (word) " " strong { (level.name()) } ")" }
                dt { "Delivered within" } dd { (view.seconds) " seconds" }
                dt { "Refunds" } dd { (view.refunds) " " a href="/refunds" { "Refund policy" } }
            }
            h2 #checks { "Checked just now" }
            (checks(&view.checks))
            h2 #what { "What you get" }
            ul { @for item in view.what_you_get { li { (item) } } }
        },
    )
}

/// The checks, each with its result.
pub(crate) fn checks(checks: &[Check<'_>]) -> Markup {
    html! {
        ul.checks {
            @for check in checks {
                li class=(check.status) { strong { (check.label) } p { (check.detail) } }
            }
        }
    }
}
