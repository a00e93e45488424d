//! `/proof-pack/request` and `/contact`: the forms and their confirmation pages. They work without script; a hidden
//! honeypot field catches robots.

use maud::{Markup, html};

use crate::domain::bundle::Bundle;
use crate::domain::lead::{
    CONTACT_CHARACTERS_MAX, LABEL_CHARACTERS_MAX, LeadProduct, NOTES_CHARACTERS_MAX,
};
use crate::domain::pack::Pack;
use crate::domain::shapes::{HONEYPOT, QUESTION_CHARACTERS_MAX, TARGET_URL_CHARACTERS_MAX};
use crate::pages::layout::{Layout, layout};
use crate::pages::orders::bundle;
use crate::pages::parts;
use crate::pages::site::Site;

#[derive(Clone, Debug)]
pub struct RequestView<'a> {
    pub site: Site<'a>,
    pub path: &'a str,
    /// The path that receives the form.
    pub action: &'a str,
    pub product: LeadProduct,
    pub form: Form<'a>,
    /// The errors of the submitted form.
    pub complaints: &'a [String],
    pub known: Option<Known<'a>>,
}

/// The values of the fields.
#[derive(Clone, Copy, Debug)]
pub struct Form<'a> {
    pub contact: &'a str,
    pub name: &'a str,
    pub target_urls: &'a str,
    pub question: &'a str,
    pub level: &'a str,
    pub use_case: &'a str,
    pub budget_usdc: &'a str,
    pub notes: &'a str,
    pub source: &'a str,
    pub quote_id: &'a str,
}

/// An earlier identical request.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    pub lead_id: &'a str,
    /// The path to the payment link, if there is one.
    pub pay_path: Option<&'a str>,
}

impl Form<'_> {
    /// Empty except for a pack's default; the number of sources decides which bundle.
    pub fn empty(product: LeadProduct) -> Self {
        Form {
            contact: "",
            name: "",
            target_urls: "",
            question: "",
            level: match product {
                LeadProduct::Pack => Pack::default().name(),
                LeadProduct::Bundle | LeadProduct::Contact => "",
            },
            use_case: "",
            budget_usdc: "",
            notes: "",
            source: "",
            quote_id: "",
        }
    }
}

/// The page with the form.
pub fn page(view: &RequestView<'_>) -> String {
    let (title, description, heading) = match view.product {
        LeadProduct::Bundle => (
            "Request an Evidence Bundle",
            "Request a report on up to 25 sources.",
            "Request an Evidence Bundle",
        ),
        LeadProduct::Pack => (
            "Request a Proof Pack",
            "Request a report on one source.",
            "Request a Proof Pack",
        ),
        LeadProduct::Contact => ("Contact", "Contact the operator.", "Contact us"),
    };
    layout(
        Layout {
            site: view.site,
            title,
            description,
            path: view.path,
            noindex: view.known.is_some() || !view.complaints.is_empty(),
        },
        html! {
            h1 { (heading) }
            @if let Some(known) = &view.known { (known_already(known)) }
            @if !view.complaints.is_empty() {
                .note.bad role="alert" {
                    p { strong { "Please correct the form. Nothing was saved." } }
                    ul { @for complaint in view.complaints { li { (complaint) } } }
                }
            }
            @if view.product == LeadProduct::Bundle && !view.site.has_payment_link {
                p { "This service has no payment link. Send this form, and we tell you how to pay." }
            }
            @match view.product {
                LeadProduct::Bundle => (bundle_form(&view.form, view.action)),
                LeadProduct::Pack => (pack_form(&view.form, view.action)),
                LeadProduct::Contact => (contact_form(view)),
            }
        },
    )
}

fn known_already(known: &Known<'_>) -> Markup {
    html! {
        .note role="status" {
            p {
                strong { "We have received your request." } " Its reference is " code { (known.lead_id) } "."
            }
            @if let Some(path) = known.pay_path {
                .actions { a.button href=(path) rel="nofollow" { "Go to the payment" } }
            }
            p { "To request something else, send the form below." }
        }
    }
}

/// The form for a bundle.
pub(crate) fn bundle_form(form: &Form<'_>, action: &str) -> Markup {
    html! {
        form.ask action=(action) method="post" {
            (contact_field("contact", "Your e-mail address", form.contact))
            label for="target_urls" { "Sources, one per line" }
            .row {
                textarea #target_urls name="target_urls" rows="6" required maxlength="60000" spellcheck="false" {
                    (form.target_urls)
                }
            }
            (question_field(form.question))
            label for="bundle" { "Bundle" }
            .row {
                (bundle::bundle_choice(form.level))
            }
            (rest(form))
        }
    }
}

fn pack_form(form: &Form<'_>, action: &str) -> Markup {
    html! {
        form.ask action=(action) method="post" {
            (contact_field("contact", "Your e-mail address", form.contact))
            label for="target_url" { "Source" }
            .row {
                input #target_url name="target_url" type="text" inputmode="url" required
                    maxlength=(TARGET_URL_CHARACTERS_MAX) autocomplete="off" spellcheck="false"
                    value=(form.target_urls);
            }
            (question_field(form.question))
            label for="pack" { "Pack" }
            .row {
                select #pack name="pack" {
                    @for pack in Pack::ALL {
                        option value=(pack.name()) selected[pack.name() == form.level] {
                            (pack.name()) ": " (parts::cents(pack.price())) " USDC"
                        }
                    }
                }
            }
            (rest(form))
        }
    }
}

fn contact_form(view: &RequestView<'_>) -> Markup {
    let form = &view.form;
    html! {
        @if let Some(contact) = view.site.contact {
            p.lead { "Or contact the operator directly: " (parts::contact(contact)) "." }
        }
        form.ask action=(view.action) method="post" {
            label for="name" { "Your name (optional)" }
            .row {
                input #name name="name" type="text" maxlength=(LABEL_CHARACTERS_MAX) autocomplete="name"
                    value=(form.name);
            }
            (contact_field("email", "Your e-mail address", form.contact))
            label for="message" { "Message" }
            .row {
                textarea #message name="message" rows="6" required maxlength=(NOTES_CHARACTERS_MAX) { (form.notes) }
            }
            (hidden(form))
            .row { button type="submit" { "Send" } }
        }
    }
}

fn contact_field(name: &str, label: &str, typed: &str) -> Markup {
    html! {
        label for=(name) { (label) }
        .row {
            input id=(name) name=(name) type="email" required maxlength=(CONTACT_CHARACTERS_MAX) autocomplete="email"
                value=(typed);
        }
    }
}

fn question_field(typed: &str) -> Markup {
    html! {
        label for="question" { "Question or claim (optional)" }
        .row {
            input #question name="question" type="text" maxlength=(QUESTION_CHARACTERS_MAX) autocomplete="off"
                value=(typed);
        }
    }
}

/// The fields that both requests end with.
fn rest(form: &Form<'_>) -> Markup {
    html! {
        label for="use_case" { "Use case (optional)" }
        .row {
            textarea #use_case name="use_case" rows="2" maxlength=(NOTES_CHARACTERS_MAX) { (form.use_case) }
        }
        label for="budget_usdc" { "Budget (optional)" }
        .row {
            input #budget_usdc name="budget_usdc" type="text" maxlength=(LABEL_CHARACTERS_MAX) autocomplete="off"
                value=(form.budget_usdc);
        }
        label for="notes" { "Notes (optional)" }
        .row { textarea #notes name="notes" rows="2" maxlength=(NOTES_CHARACTERS_MAX) { (form.notes) } }
        (hidden(form))
        .row { button type="submit" { "Send the request" } }
        p.hint { "Free and non-binding. We use your address only for this request." }
    }
}

fn hidden(form: &Form<'_>) -> Markup {
    html! {
        @if !form.source.is_empty() { input type="hidden" name="source" value=(form.source); }
        @if !form.quote_id.is_empty() { input type="hidden" name="quote_id" value=(form.quote_id); }
        .away aria-hidden="true" {
            label for=(HONEYPOT) { "Leave this empty" }
            input id=(HONEYPOT) name=(HONEYPOT) type="text" tabindex="-1" autocomplete="off";
        }
    }
}

/// The confirmation of a request or message.
#[derive(Clone, Debug)]
pub struct ReceivedView<'a> {
    pub site: Site<'a>,
    pub product: LeadProduct,
    pub lead_id: &'a str,
    /// Masked.
    pub contact: &'a str,
    pub bundle: Option<Bundle>,
    pub target_urls: &'a [String],
    /// Address and reason.
    pub rejected: Vec<(&'a str, &'a str)>,
    /// The path to the payment link, if there is one.
    pub pay_path: Option<&'a str>,
    /// The path of the quote, for a Proof Pack.
    pub pack_path: Option<&'a str>,
}

/// The confirmation page.
pub fn received_page(view: &ReceivedView<'_>) -> String {
    let heading = match view.product {
        LeadProduct::Contact => "Message received",
        _ => "Request received",
    };
    layout(
        Layout {
            site: view.site,
            title: heading,
            description: "Confirmation and next steps.",
            path: match view.product {
                LeadProduct::Contact => "/contact",
                _ => "/proof-pack/request",
            },
            noindex: true,
        },
        html! {
            h1 { (heading) }
            p.lead {
                "We will reply to " (view.contact) "."
            }
            dl.facts {
                dt { "Reference" } dd { code { (view.lead_id) } }
                @if let Some(bundle) = view.bundle {
                    dt { "Bundle" } dd { strong { (bundle.name()) } ", " (bundle::price(bundle)) }
                }
            }
            @match (view.bundle, view.pay_path, view.pack_path) {
                (Some(bundle), Some(path), _) => {
                    .actions { a.button href=(path) rel="nofollow" { "Pay " (bundle::price(bundle)) } }
                    p.muted { "The report is delivered even if you close the browser." }
                },
                (_, _, Some(path)) => .actions { a.button href=(path) { "Buy the Proof Pack now" } },
                _ => {},
            }
            @if !view.target_urls.is_empty() { (bundle::source_list(view.target_urls)) }
            (bundle::rejected_list(&view.rejected))
        },
    )
}
