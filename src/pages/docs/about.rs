//! `/about`: the page our User-Agent links to. It tells site owners who we are and how to opt out.

use maud::{Markup, html};

use crate::domain::robots::AGENT;
use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::site::Site;

#[derive(Clone, Copy, Debug)]
pub struct AboutView<'a> {
    pub site: Site<'a>,
    /// The User-Agent exactly as sent to targets.
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
        parts::with_toc(&html! {
            h1 { "About this service" }
            p.lead {
                "context402 converts public web pages to markdown for software agents, one page per payment. "
                "It is not a crawler: it follows no links and builds no index."
            }
            (fetching(view.user_agent))
            (opting_out(view.site.contact))
            (keeping())
            (contact(view.site.contact))
            h2 #notices { "Third-party software" }
            p {
                "The program contains third-party open-source software, fonts and data. "
                a href="/notices" { "Third-party notices" } " lists them with their licenses."
            }
        }),
    )
}

fn fetching(user_agent: &str) -> Markup {
    html! {
        h2 #fetching { "How we fetch" }
        ul {
            li { "A page is fetched only when a client requests that page." }
            li { "Plain GET requests over HTTP or HTTPS, ports 80 and 443, without cookies or forms." }
            li { "If this service has a browser, it may open a page whose text is made by scripts. All that it loads passes the same checks." }
            li { "Public addresses only. Every name and every redirect is checked before it is followed." }
            li { "At most 5 MB per page, and few concurrent requests per domain." }
            li { "We never bypass a paywall, login or captcha." }
        }
        p { "Every request carries this header:" }
        (parts::folded_code("User-Agent", user_agent))
    }
}

fn opting_out(operator: Option<&str>) -> Markup {
    html! {
        h2 #opt-out { "How to opt out" }
        p {
            "The page is delivered with the policies from your robots.txt, content signals, robots meta tags and "
            code { "X-Robots-Tag" } "; our name in robots.txt is " code { (AGENT) } ". To block us completely, do either of these:"
        }
        ul {
            li { "Return status 403 to our User-Agent. We do not retry." }
            @if operator.is_some() {
                li { a href="/contact" { "Write to us" } " with your domain. We add it to the block list and stop selling its pages." }
            } @else {
                li { a href="/contact" { "Ask the operator" } " of this service to put your domain on its block list." }
            }
        }
    }
}

fn keeping() -> Markup {
    html! {
        h2 #keeping { "What we store" }
        ul {
            li { "Converted pages, for at most 24 hours, so that a second buyer does not cause a second request to the site." }
            li { "Bought answers under the payment of the wallet, for 15 minutes after they were sent, or for up to 7 days if the buyer never received them." }
            li { "Quotes, for 7 days; reports with the text that they cite, for 30 days." }
            li { "Payments, as accounting rules require: amount, payer address, transaction. Never a private key." }
        }
        p {
            "These pages set no cookies and load nothing from third parties. They run three small scripts: one copies examples, "
            "one verifies a report in your browser, one pays with a browser wallet. Everything but the API explorer and the wallet "
            "works without them."
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
