//! Simple pages of a heading, facts and lists: the HTML form of JSON endpoints.

use maud::{Markup, html};

use crate::pages::buyer::confidence::{self, Check};
use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::site::Site;

#[derive(Clone, Debug)]
pub struct PlainView<'a> {
    pub site: Site<'a>,
    /// The canonical path, beginning with a slash, encoded.
    pub path: &'a str,
    pub title: &'a str,
    /// One sentence, for the page and for search results.
    pub lead: &'a str,
    pub noindex: bool,
    pub parts: Vec<Part<'a>>,
}

#[derive(Clone, Debug)]
pub enum Part<'a> {
    Heading(&'a str),
    Text(String),
    /// Label and value.
    Facts(Vec<(&'a str, String)>),
    List(Vec<String>),
    Checks(Vec<Check<'a>>),
    /// Label and address: a path, http or https.
    Links(Vec<(String, String)>),
    Code {
        caption: &'a str,
        text: String,
    },
    /// The quote form for a Proof Pack, filled in.
    ReportForm {
        target_url: &'a str,
        question: &'a str,
    },
}

pub fn page(view: &PlainView<'_>) -> String {
    layout(
        Layout {
            site: view.site,
            title: view.title,
            description: view.lead,
            path: view.path,
            noindex: view.noindex,
        },
        html! {
            h1 { (view.title) }
            p.lead { (view.lead) }
            @for part in &view.parts { (part_markup(&view.site, part)) }
        },
    )
}

fn part_markup(site: &Site<'_>, part: &Part<'_>) -> Markup {
    html! {
        @match part {
            Part::Heading(text) => h2 { (text) },
            Part::Text(text) => p { (text) },
            Part::Facts(facts) => dl.facts {
                @for (label, value) in facts { dt { (label) } dd { (value) } }
            },
            Part::List(items) => ul { @for item in items { li { (item) } } },
            Part::Checks(checks) => (confidence::checks(checks)),
            Part::Links(links) => .actions { @for (label, address) in links { (link(label, address)) } },
            Part::Code { caption, text } => (parts::code(caption, text)),
            Part::ReportForm { target_url, question } => (parts::report_form(site, target_url, question)),
        }
    }
}

fn link(label: &str, address: &str) -> Markup {
    html! {
        @match parts::safe_href(address) {
            Some(href) => a.button.quiet href=(href) { (label) },
            None => (label),
        }
    }
}
