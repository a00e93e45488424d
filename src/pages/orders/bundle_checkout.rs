//! `/checkout/{quote_id}` for a bundle: returns to a saved quote and continues to payment or to a request.

use maud::{Markup, html};

use crate::domain::bundle::Bundle;
use crate::domain::lead::LeadProduct;
use crate::domain::time::UnixSeconds;
use crate::pages::layout::{Layout, layout};
use crate::pages::orders::bundle;
use crate::pages::orders::request::{self, Form};
use crate::pages::parts;
use crate::pages::site::Site;

#[derive(Clone, Copy, Debug)]
pub struct CheckoutView<'a> {
    pub site: Site<'a>,
    pub quote_id: &'a str,
    pub state: State,
    pub bundle: Bundle,
    pub target_urls: &'a [String],
    /// The same, one on each line.
    pub listed: &'a str,
    pub question: Option<&'a str>,
    pub created_at: UnixSeconds,
    pub expires_at: UnixSeconds,
    /// The path to the payment link, if there is one.
    pub pay_path: Option<&'a str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Open,
    Paid,
}

/// The resume page.
pub fn page(view: &CheckoutView<'_>) -> String {
    let path = format!("/checkout/{}", parts::path_segment(view.quote_id));
    layout(
        Layout {
            site: view.site,
            title: "Your bundle",
            description: "A saved quote for an Evidence Bundle, and how to buy it.",
            path: &path,
            noindex: true,
        },
        html! {
            @match view.state {
                State::Open => {
                    p.kicker { "Quote valid until " (parts::time(view.expires_at)) }
                    h1 { "Your bundle: " (bundle::price(view.bundle)) }
                },
                State::Paid => h1 { "This bundle is paid" },
            }
            (facts(view))
            @match view.state {
                State::Open => (open(view)),
                State::Paid => p {
                    "The report is delivered automatically. To find it again, "
                    a href="/proof-pack/bundle/recover" { "enter your e-mail address" } "."
                },
            }
            (bundle::source_list(view.target_urls))
        },
    )
}

fn facts(view: &CheckoutView<'_>) -> Markup {
    let (count, limit) = (view.target_urls.len(), view.bundle.source_limit());
    html! {
        dl.facts {
            dt { "Bundle" } dd { strong { (view.bundle.name()) } ": " (view.bundle.reads(view.site.has_model)) }
            dt { "Sources" } dd { (count) " of at most " (limit) }
            @if let Some(question) = view.question { dt { "Question" } dd { (question) } }
            dt { "Created" } dd { (parts::time(view.created_at)) }
            dt { "Quote" } dd { code { (view.quote_id) } }
        }
    }
}

fn open(view: &CheckoutView<'_>) -> Markup {
    html! {
        (bundle::one_source(view.target_urls, view.question))
        @if let Some(path) = view.pay_path {
            .actions { a.button href=(path) rel="nofollow" { "Pay " (bundle::price(view.bundle)) } }
            p.muted {
                "Opens our provider’s payment page. The report is delivered even if you close the browser."
            }
            h2 #request { "Or send a request first" }
        } @else {
            h2 #request { "Request it" }
            p { "Leave your e-mail address, and we tell you how to pay." }
        }
        (request::bundle_form(&form(view), "/v1/proof-pack/bundle/leads"))
    }
}

fn form<'a>(view: &CheckoutView<'a>) -> Form<'a> {
    Form {
        target_urls: view.listed,
        question: view.question.unwrap_or_default(),
        level: view.bundle.name(),
        quote_id: view.quote_id,
        ..Form::empty(LeadProduct::Bundle)
    }
}
