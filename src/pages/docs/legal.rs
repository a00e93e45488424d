//! `/terms`, `/privacy` and `/refunds`: the agreement between buyer and operator. The texts describe what the service
//! does; the operator's identity comes from the configuration, and the pages say so if it is missing.

use maud::{Markup, html};

use crate::domain::bundle::READ_RULE;
use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::site::{FacilitatorMode, Site};

/// Which of the three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Document {
    Terms,
    Privacy,
    Refunds,
}

#[derive(Clone, Copy, Debug)]
pub struct LegalView<'a> {
    pub site: Site<'a>,
    pub document: Document,
    pub operator: Operator<'a>,
}

/// The operator's identity, as configured.
#[derive(Clone, Copy, Debug, Default)]
pub struct Operator<'a> {
    pub name: Option<&'a str>,
    pub address: Option<&'a str>,
    pub email: Option<&'a str>,
    /// The governing law, such as `Norway`.
    pub law: Option<&'a str>,
}

pub fn page(view: &LegalView<'_>) -> String {
    let (title, description, path) = match view.document {
        Document::Terms => (
            "Terms",
            "What you buy, what we guarantee and what we do not.",
            "/terms",
        ),
        Document::Privacy => (
            "Privacy",
            "What this service stores about buyers and pages, for how long, and how to have it deleted.",
            "/privacy",
        ),
        Document::Refunds => (
            "Refunds",
            "When you are charged, when you are not, and what happens after an outage.",
            "/refunds",
        ),
    };
    layout(
        Layout {
            site: view.site,
            title,
            description,
            path,
            noindex: false,
        },
        parts::with_toc(&html! {
            h1 { (title) }
            p.lead { (description) }
            @match view.document {
                Document::Terms => (terms(view)),
                Document::Privacy => (privacy()),
                Document::Refunds => (refunds()),
            }
            (operator(&view.operator))
        }),
    )
}

fn terms(view: &LegalView<'_>) -> Markup {
    html! {
        h2 #sale { "The sale" }
        p {
            "Each USDC payment buys one response: the markdown of public web pages, a Proof Pack, an Evidence Bundle, or the check "
            "of a text. The total price is the one in the 402 response, in USDC on " (view.site.network_name())
            ". There is no account, no subscription and no minimum."
        }
        p {
            "People can also buy an Evidence Bundle with a one-time payment in dollars " (view.site.payment_of_people()) ", at the price in "
            a href="/pricing#bundle-prices" { "the price list" } ". We start on it when the payment is confirmed."
        }
        @if view.site.facilitator == FacilitatorMode::Sandbox {
            p { strong { "This instance is a sandbox: " } "payments use test funds, and no one owes anything." }
        }
        p {
            "A USDC sale is complete when the payment is settled. How long deliveries stay available: " a href="/docs#limits" { "limits" }
            ". Refunds: " a href="/refunds" { "refund policy" } "."
        }
        h2 #promise { "What we guarantee" }
        ul {
            li { "The markdown is made from the bytes that the page’s server sent us at the stated time." }
            li { "Each excerpt in a report is quoted verbatim from that text; anyone can verify it by its hash." }
            li { "A program makes our judgements about a page. They can be wrong; each states how likely it is to be right." }
        }
        h2 #limits { "What we do not guarantee" }
        ul {
            li { "That a page is true, stays unchanged, or may be used for your purpose. Its authors keep their rights." }
            li { "That the service is always available. When it is not, nothing is charged." }
            li { "Advice. A report is evidence for your decision, not the decision." }
        }
        h2 #use { "What you may not do" }
        ul {
            li { "Point the service at non-public addresses, or at pages that you may not lawfully read." }
            li { "Use it to overload a site, to circumvent its opt-out, or to obtain personal data unlawfully." }
            li { "Present this service as endorsing what a page says." }
        }
    }
}

fn privacy() -> Markup {
    let kept = [
        (
            "Quotes",
            "The request, the price, the referral source",
            "7 days",
        ),
        (
            "Payments",
            "Amount, payer’s address, transaction, what was bought",
            "as long as accounting rules require",
        ),
        (
            "Bought answers",
            "The response as it was sold, under the payment of the wallet that bought it",
            "15 minutes after it was sent, or up to 7 days if you never received it",
        ),
        (
            "Reports",
            "The report, the text that it cites, and any text that you submitted for a check",
            "30 days; for 30 more days, only that it existed",
        ),
        (
            "Pages",
            "The converted page, not who requested it",
            "24 hours at most",
        ),
        (
            "Requests and bundles",
            "Your entries in the form, your e-mail address, the bundle’s report",
            "until you or we delete them",
        ),
        (
            "Checkouts",
            "Data from the payment provider: name, e-mail address, amount, never a card number",
            "35 days, or until the order is deleted",
        ),
        (
            "E-mails to you",
            "Text and delivery status",
            "30 days after sending",
        ),
        (
            "Access log",
            "Time, path pattern, status, network address",
            "as long as the operator keeps logs",
        ),
        (
            "Fetch log",
            "Time and host name of each page that is fetched, without who asked for it",
            "as long as the operator keeps logs",
        ),
    ];
    let table = html! {
        table.stack {
            thead { tr { th { "Record" } th { "Contents" } th { "Stored for" } } }
            tbody { @for (what, holds, time) in kept { tr { th scope="row" { (what) } td.long { (holds) } td.long { (time) } } } }
        }
    };
    html! {
        h2 #kept { "What we store" }
        (parts::scrolling("Stored data and retention", &table))
        p {
            "USDC payments are on a public chain, where anyone can see payer, recipient and amount permanently. "
            "We cannot delete that record."
        }
        h2 #not { "What we do not store" }
        ul {
            li { "No visitor cookies, no third-party scripts, fonts or images, no analytics." }
            li { "No accounts and no card numbers. Payment signatures are never logged." }
            li { "We do not sell or share data. The facilitator sees the payments it verifies and settles. If the operator has "
            "configured a language model, it sees passages of the public page and your question." }
        }
        h2 #rights { "Your rights" }
        p {
            "You may ask what is stored about you and have it corrected, exported or deleted. Write to the operator from the "
            "e-mail address concerned, or state your payment or report."
        }
    }
}

fn refunds() -> Markup {
    html! {
        h2 #rule { "When you are charged" }
        p {
            "A payment is settled only when the response is ready and stored for you. Refused or failed requests are not "
            "charged: the error says " code { "\"charged\": false" } ". It says " code { "true" } " only where the payment that "
            "you sent was charged before, or may have been."
        }
        h2 #cases { "Cases" }
        ul.checks {
            li.pass { strong { "The target is refused, missing or unreadable." } p { "Response 400. Your authorization is voided; you pay nothing." } }
            li.pass { strong { "Too few sources of an Evidence Bundle can be read." } p { (READ_RULE) " The response lists those that can." } }
            li.pass { strong { "An outage on our side or the target’s." } p { "Response 503 with a retry credit, which holds your payment for up to 15 minutes. Retries are free. If you do not retry, you pay nothing." } }
            li.pass { strong { "The connection breaks after you paid." } p { "Send the same request with the same payment within 15 minutes: you get the cached response and are not charged again." } }
            li.pass { strong { "You send two requests for one purchase at once." } p { "They are settled one after the other. Close the second when the first is answered, and only the first is charged." } }
            li.pass { strong { "The settlement outcome is unknown." } p { "Response 503. Do not sign a new payment: we look up the outcome on chain. Either you get your response, or you were never charged." } }
            li.warn { strong { "The response is not what you hoped for." } p { "A conversion reproduces the page as it is, and a report may say “not stated”. Both are valid deliveries and are not refunded." } }
            li.warn { strong { "The response is clearly defective." } p { "Write to us within 30 days with the " code { "X-Request-Id" } " or the report’s identifier. We return the payment to the address that paid." } }
        }
        p { "Undelivered bundles are refunded through the payment provider." }
    }
}

fn operator(operator: &Operator<'_>) -> Markup {
    let details = [
        ("Name", operator.name),
        ("Address", operator.address),
        ("Law", operator.law),
    ];
    let said = details.iter().any(|(_, text)| text.is_some()) || operator.email.is_some();
    html! {
        h2 #operator { "The operator" }
        @if said {
            dl.facts {
                @for (label, text) in details { @if let Some(text) = text { dt { (label) } dd { (text) } } }
                @if let Some(email) = operator.email { dt { "E-mail" } dd { (parts::contact(email)) } }
            }
        } @else {
            .note.warn {
                p {
                    "The operator of this instance has not stated their identity. Until they do, spend only what you can afford to "
                    "lose. Operators: set " code { "legal.name" } ", " code { "legal.address" } ", "
                    code { "legal.email" } " and " code { "legal.law" } " in the configuration."
                }
            }
        }
    }
}
