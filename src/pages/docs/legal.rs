//! `/terms`, `/privacy` and `/refunds`: what holds between buyer and operator. What the service does is said here as it
//! does it; who the operator is comes from the configuration, and where it says nothing the pages say that.

use maud::{Markup, html};

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

/// Who runs the service, as far as the configuration says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Operator<'a> {
    pub name: Option<&'a str>,
    pub address: Option<&'a str>,
    pub email: Option<&'a str>,
    /// Whose law applies, such as `Norway`.
    pub law: Option<&'a str>,
}

pub fn page(view: &LegalView<'_>) -> String {
    let (title, description, path) = match view.document {
        Document::Terms => (
            "Terms",
            "What you buy from this service, what it promises and what it does not.",
            "/terms",
        ),
        Document::Privacy => (
            "Privacy",
            "What this service keeps about buyers and pages, for how long, and how to have it deleted.",
            "/privacy",
        ),
        Document::Refunds => (
            "Refunds",
            "When a payment is taken, when it is not, and what happens after an outage.",
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
        html! {
            h1 { (title) }
            p.lead { (description) }
            @match view.document {
                Document::Terms => (terms(view)),
                Document::Privacy => (privacy()),
                Document::Refunds => (refunds()),
            }
            (operator(&view.operator))
        },
    )
}

fn terms(view: &LegalView<'_>) -> Markup {
    html! {
        h2 #sale { "The sale" }
        p {
            "You buy one answer per payment: the markdown of a public web page, or a report on whether a public source supports "
            "what you ask. The price is the one in the 402 answer, in USDC on " (view.site.network_name())
            ", and includes everything. There is no account, no subscription and no minimum."
        }
        p {
            "A report on several sources is paid once through the payment link, in dollars, at the price that stands on "
            a href="/pricing#bundle-prices" { "the price list" } ". It is made when the payment is confirmed."
        }
        @if view.site.facilitator == FacilitatorMode::Sandbox {
            p { strong { "This instance runs with its sandbox: " } "payments are test funds and nothing is owed by anyone." }
        }
        p {
            "A sale by USDC is made when the payment is settled. What is delivered is kept for you as " a href="/docs#limits" { "the reference" }
            " says. " a href="/refunds" { "Refunds" } " has its own page."
        }
        h2 #promise { "What we promise" }
        ul {
            li { "The markdown is made from the bytes that the page’s server sent us at the time that the answer states." }
            li { "Each excerpt of a report is a verbatim slice of that text; hashes let anyone check it." }
            li { "What we say of a page is the result of a program. It can be wrong, and says how likely it is to be right." }
        }
        h2 #limits { "What we do not promise" }
        ul {
            li { "That a page tells the truth, stays as it is, or may be used for your purpose. Its author’s rights remain theirs." }
            li { "That the service is always there. When it is not, nothing is charged." }
            li { "Advice. A report is evidence for a decision of yours, not the decision." }
        }
        h2 #use { "What you may not do" }
        ul {
            li { "Aim the service at addresses that are not public, or at pages that you may not lawfully read." }
            li { "Use it to burden a site, to get around its refusal, or to get at personal data unlawfully." }
            li { "Resell the name of this service as an endorsement of what a page says." }
        }
    }
}

fn privacy() -> Markup {
    let kept = [
        (
            "Quotes",
            "What was asked, the price, where the buyer came from",
            "7 days",
        ),
        (
            "Payments",
            "Amount, payer’s address, transaction, what was bought",
            "as long as accounts require",
        ),
        (
            "Reports",
            "The report and the text that it cites",
            "30 days, then only that it existed, for 30 more",
        ),
        (
            "Pages",
            "The converted page, without who asked for it",
            "24 hours at most",
        ),
        (
            "Requests and bundles",
            "What you write in the form, your e-mail address, the bundle’s report",
            "until you or we delete them",
        ),
        (
            "Checkouts",
            "What the payment provider tells of them: name, e-mail address, amount, never a card number",
            "35 days, or until the order is deleted",
        ),
        (
            "E-mails to you",
            "Their text, and whether they were sent",
            "30 days after they were sent",
        ),
        (
            "Access log",
            "Time, path pattern, status, network address",
            "as long as the operator’s log is kept",
        ),
    ];
    let table = html! {
        table.stack {
            thead { tr { th { "What" } th { "Holds" } th { "Kept" } } }
            tbody { @for (what, holds, time) in kept { tr { th scope="row" { (what) } td.long { (holds) } td.long { (time) } } } }
        }
    };
    html! {
        h2 #kept { "What is kept" }
        (parts::scrolling("What is kept, and for how long", &table))
        p {
            "Payments in USDC stand on a public chain, where payer, recipient and amount can be read by anyone, for ever. "
            "That record is not ours to delete."
        }
        h2 #not { "What is not" }
        ul {
            li { "No cookies for visitors, no scripts of others, no fonts or pictures from elsewhere, no analytics." }
            li { "No account and no card number. Payment signatures are not written to the log." }
            li { "Nothing is sold or passed on. The facilitator sees what it must verify and settle; where the operator has "
                 "configured a language model, it sees passages of the public page and your question." }
        }
        h2 #rights { "Your rights" }
        p {
            "You may ask what is kept about you, have it corrected, exported or deleted. Write to the operator from the address "
            "that it concerns, or name the payment or report that is yours."
        }
    }
}

fn refunds() -> Markup {
    html! {
        h2 #rule { "The rule" }
        p {
            "A payment is settled only when the answer is ready and kept for you. What we refuse or cannot deliver is not "
            "charged: the error says " code { "\"charged\": false" } "."
        }
        h2 #cases { "Case by case" }
        ul.checks {
            li.pass { strong { "The target is refused, missing or unreadable." } p { "Answer 400. Your authorization is let go; nothing is paid." } }
            li.pass { strong { "An outage on our side or the target’s." } p { "Answer 503 with a retry credit. It holds your payment for up to 15 minutes; a retry costs nothing more. If you do not retry, nothing is paid." } }
            li.pass { strong { "The connection breaks after you have paid." } p { "Send the same request with the same payment within 15 minutes: you get the kept answer and are not charged again." } }
            li.pass { strong { "It is not known whether the payment went through." } p { "Answer 503. We find out from the chain; do not sign a new payment meanwhile. You get your answer, or the payment never happened." } }
            li.warn { strong { "The answer came and is not what you hoped for." } p { "A conversion is a description of a page as it is, and a report may well say “unsupported”. That is the service, and is not refunded." } }
            li.warn { strong { "The answer is plainly defective." } p { "Write to us with the " code { "X-Request-Id" } " or the report’s identifier within 30 days. Settled payments are returned by a transfer to the address that paid." } }
        }
        p { "Bundles paid by card are refunded by the same rule, through the payment provider, as long as nothing was delivered." }
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
                    "The operator of this instance has not said who they are. Until they do, buy from it only what you can "
                    "afford to lose. Operators: set " code { "legal.name" } ", " code { "legal.address" } ", "
                    code { "legal.email" } " and " code { "legal.law" } " in the configuration."
                }
            }
        }
    }
}
