//! `/proof-pack/library`: the sample report and the reports that buyers made public.

use maud::{Markup, html};

use crate::domain::time::UnixSeconds;
use crate::evidence::report::Report;
use crate::pages::buyer::outcomes;
use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::site::Site;

#[derive(Clone, Debug)]
pub struct LibraryView<'a> {
    pub site: Site<'a>,
    pub sample: Listed<'a>,
    /// A supported, a contradicted and a not stated answer.
    pub outcomes: &'a [Report],
    pub listed: Vec<Listed<'a>>,
}

/// A report in the library's list.
#[derive(Clone, Debug)]
pub struct Listed<'a> {
    /// The path of its page, encoded.
    pub path: String,
    pub question: &'a str,
    pub target_url: &'a str,
    /// The decision's label.
    pub label: &'a str,
    pub created_at: UnixSeconds,
}

pub fn page(view: &LibraryView<'_>) -> String {
    layout(
        Layout {
            site: view.site,
            title: "Public reports",
            description: "Reports that their buyers made public, and the sample report.",
            path: "/proof-pack/library",
            noindex: false,
        },
        html! {
            h1 { "Public reports" }
            p.lead { "Reports are unlisted unless their buyer publishes them. The operator approves each one before it appears here." }
            h2 #outcomes { "Three outcomes, side by side" }
            p { "One article, three questions: what the page supports, what it contradicts and what it does not say." }
            (outcomes::side_by_side(view.outcomes))
            h2 #sample { "A whole report" }
            ul.cards.two { (card(&view.sample)) }
            h2 #listed { "Published by buyers" }
            @if view.listed.is_empty() {
                p { "No reports have been published yet." }
            } @else {
                ul.cards.two { @for listed in &view.listed { (card(listed)) } }
            }
        },
    )
}

fn card(listed: &Listed<'_>) -> Markup {
    html! {
        li {
            p { (parts::label(listed.label)) }
            h3 { a href=(listed.path) { (listed.question) } }
            p { (parts::foreign_link(listed.target_url)) }
            p { (parts::time(listed.created_at)) }
        }
    }
}
