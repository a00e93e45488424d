//! `/proof-pack/library`: the sample report, and what buyers have listed for everybody.

use maud::{Markup, html};

use crate::domain::time::UnixSeconds;
use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::site::Site;

#[derive(Clone, Debug)]
pub struct LibraryView<'a> {
    pub site: Site<'a>,
    pub sample: Listed<'a>,
    pub listed: Vec<Listed<'a>>,
}

/// A report as the library names it.
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
            title: "Library of reports",
            description: "Reports that their buyers have listed for everybody to read, and the sample report.",
            path: "/proof-pack/library",
            noindex: false,
        },
        html! {
            h1 { "Library of reports" }
            p.lead { "Reports that their buyers have listed for everybody to read, each approved by the operator. A report is private unless its buyer shares it." }
            h2 #sample { "The sample" }
            ul.cards.two { (card(&view.sample)) }
            h2 #listed { "Listed by their buyers" }
            @if view.listed.is_empty() {
                p { "None is listed at present." }
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
