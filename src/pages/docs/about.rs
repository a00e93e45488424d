//! `/about`: where our User-Agent points. It tells the people whose pages we read who we are and how to stop us.

use maud::{Markup, html};

use crate::domain::robots::AGENT;
use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::site::Site;

#[derive(Clone, Copy, Debug)]
pub struct AboutView<'a> {
    pub site: Site<'a>,
    /// The User-Agent exactly as it is sent to targets.
    pub user_agent: &'a str,
}

/// The page about the service and its fetcher.
pub fn page(view: &AboutView<'_>) -> String {
    layout(
        Layout {
            site: view.site,
            title: "About",
            description: "How context402 fetches pages, how it identifies itself, and how a site can opt out.",
            path: "/about",
            noindex: false,
        },
        html! {
            h1 { "About this service" }
            p.lead {
                "context402 turns public web pages into markdown for software agents, one page for one payment. "
                "It is not a crawler: it follows no links and builds no index."
            }
            (fetching(view.user_agent))
            (opting_out(view.site.contact))
            (keeping())
            (contact(view.site.contact))
            h2 #notices { "Third-party software" }
            p {
                "The program contains open-source software, fonts and data of others. "
                a href="/notices" { "Third-party notices" } " names them with their licenses."
            }
        },
    )
}

fn fetching(user_agent: &str) -> Markup {
    html! {
        h2 #fetching { "How we fetch" }
        ul {
            li { "A page is fetched when somebody asks for that page, and not otherwise." }
            li { "Plain GET requests over HTTP or HTTPS, ports 80 and 443, no cookies, no forms, no script." }
            li { "Public addresses only. Every name and every redirect is checked before it is followed." }
            li { "At most 5 MB of a page, and few requests at a time to one domain." }
            li { "No paywall, login or captcha is worked around." }
        }
        p { "Every request carries this header:" }
        (parts::folded_code("User-Agent", user_agent))
    }
}

fn opting_out(operator: Option<&str>) -> Markup {
    html! {
        h2 #opt-out { "How to opt out" }
        p {
            "What your site says in robots.txt, in content signals, in robots meta tags and in " code { "X-Robots-Tag" }
            " is reported to the buyer with the page; in robots.txt we are " code { (AGENT) } ". "
            "To keep us from fetching your site at all, do any of these:"
        }
        ul {
            li { "Refuse our User-Agent at your server with status 403: we take it as the answer and do not retry." }
            @if operator.is_some() {
                li { "Write to us with the domain: it goes on the block list, and its pages are no longer sold." }
            } @else {
                li { "Ask the operator of this service to put your domain on its block list." }
            }
        }
    }
}

fn keeping() -> Markup {
    html! {
        h2 #keeping { "What is kept" }
        ul {
            li { "Converted pages for 24 hours at most, so that a second buyer need not disturb the site again." }
            li { "Quotes for 7 days." }
            li { "Payments, as the accounts require: amount, payer address, transaction. Never a key." }
        }
        p {
            "These pages set no cookies and load nothing from anyone else. They run two small scripts of ours, one that copies "
            "examples and one that checks a report in your browser; all but the API explorer work without."
        }
    }
}

fn contact(operator: Option<&str>) -> Markup {
    html! {
        @if let Some(text) = operator {
            h2 #contact { "Contact" }
            p { (parts::contact(text)) }
        }
    }
}
