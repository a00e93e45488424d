//! Views of what is for buyers of bundles and for people who write to us.

use super::views::Texts;
use crate::domain::bundle::Bundle;
use crate::domain::lead::LeadProduct;
use crate::domain::time::UnixSeconds;
use crate::pages::orders::bundle::{self, BundleView, QuoteOutcome, Quoted};
use crate::pages::orders::bundle_checkout::{self, CheckoutView, State};
use crate::pages::orders::request::{self, Form, Known, ReceivedView, RequestView};

/// What is about one buyer, and for no search engine.
pub(super) const HIDDEN: [&str; 11] = [
    "bundle-quote-refused",
    "bundle-quote-result",
    "bundle-checkout",
    "bundle-checkout-paid",
    "bundle-checkout-expired",
    "request-bundle",
    "request-pack",
    "contact",
    "received-bundle",
    "received-pack",
    "received-message",
];

pub(super) fn pages(texts: Texts) -> Vec<(&'static str, String)> {
    let targets = [
        texts.pick("https://example.com/").to_owned(),
        texts.pick("https://example.org/a").to_owned(),
    ];
    vec![
        (
            "bundle",
            bundle::about_page(&BundleView::empty(texts.site(), "/proof-pack/bundle")),
        ),
        (
            "bundle-quote",
            bundle::quote_page(&bundle_view(texts, QuoteOutcome::Nothing)),
        ),
        (
            "bundle-quote-refused",
            bundle::quote_page(&bundle_view(texts, refused(texts))),
        ),
        (
            "bundle-quote-result",
            bundle::quote_page(&bundle_view(texts, quoted(texts, &targets))),
        ),
        ("bundle-checkout", checkout(texts, &targets, State::Open)),
        (
            "bundle-checkout-paid",
            checkout(texts, &targets, State::Paid),
        ),
        ("bundle-checkout-expired", expired(texts)),
        ("request-bundle", requested(texts, LeadProduct::Bundle)),
        ("request-pack", requested(texts, LeadProduct::Pack)),
        ("contact", requested(texts, LeadProduct::Contact)),
        (
            "received-bundle",
            received(texts, &targets, LeadProduct::Bundle),
        ),
        (
            "received-pack",
            received(texts, &targets, LeadProduct::Pack),
        ),
        (
            "received-message",
            received(texts, &[], LeadProduct::Contact),
        ),
    ]
}

fn bundle_view<'a>(texts: Texts, outcome: QuoteOutcome<'a>) -> BundleView<'a> {
    BundleView {
        site: texts.site(),
        path: "/proof-pack/bundle/quote",
        typed: texts.pick("https://example.com/\nexample.org/a"),
        typed_question: texts.pick("Is the free plan limited to three users?"),
        typed_bundle: texts.pick("scout"),
        outcome,
    }
}

fn rejected(texts: Texts) -> Vec<(&'static str, &'static str)> {
    vec![(
        texts.pick("http://10.0.0.1/"),
        texts.pick("The target is a private address."),
    )]
}

fn refused<'a>(texts: Texts) -> QuoteOutcome<'a> {
    QuoteOutcome::Refused {
        code: texts.pick("target_blocked"),
        message: texts.pick("The source cannot be read."),
        rejected: rejected(texts),
    }
}

fn quoted<'a>(texts: Texts, target_urls: &'a [String]) -> QuoteOutcome<'a> {
    QuoteOutcome::Quoted(Quoted {
        quote_id: texts.pick("bq_00000000000000000000000000000001"),
        bundle: Bundle::Builder,
        recommended: Bundle::Scout,
        target_urls,
        rejected: rejected(texts),
        question: Some(texts.pick("Is the free plan limited to three users?")),
        expires_at: UnixSeconds(1_795_852_800),
    })
}

fn checkout(texts: Texts, target_urls: &[String], state: State) -> String {
    bundle_checkout::page(&CheckoutView {
        site: texts.site(),
        quote_id: texts.pick("bq_00000000000000000000000000000001"),
        state,
        bundle: Bundle::Builder,
        target_urls,
        listed: texts.pick("https://example.com/\nhttps://example.org/a"),
        question: Some(texts.pick("Is the free plan limited to three users?")),
        created_at: UnixSeconds(1_795_248_000),
        expires_at: UnixSeconds(1_795_852_800),
        pay_path: Some("/proof-pack/bundle/pay?bundle=builder"),
    })
}

fn form(texts: Texts) -> Form<'static> {
    Form {
        contact: texts.pick("ada@example.com"),
        name: texts.pick("Ada"),
        target_urls: texts.pick("https://example.com/"),
        question: texts.pick("Is it free?"),
        level: texts.pick("audit"),
        use_case: texts.pick("Choosing a vendor"),
        budget_usdc: texts.pick("50 a month"),
        notes: texts.pick("Needed by Friday"),
        source: texts.pick("newsletter"),
        quote_id: texts.pick("bq_00000000000000000000000000000001"),
    }
}

fn requested(texts: Texts, product: LeadProduct) -> String {
    request::page(&RequestView {
        site: texts.site(),
        path: "/proof-pack/request",
        action: "/v1/proof-pack/bundle/leads",
        product,
        form: form(texts),
        complaints: &[texts.pick("contact: Field required").to_owned()],
        known: Some(Known {
            lead_id: texts.pick("lead_00000000000000000000000000000001"),
            pay_path: Some("/proof-pack/bundle/pay?bundle=audit"),
        }),
    })
}

fn received(texts: Texts, target_urls: &[String], product: LeadProduct) -> String {
    request::received_page(&ReceivedView {
        site: texts.site(),
        product,
        lead_id: texts.pick("lead_00000000000000000000000000000001"),
        contact: texts.pick("a***@example.com"),
        bundle: (product == LeadProduct::Bundle).then_some(Bundle::Audit),
        target_urls,
        rejected: rejected(texts),
        pay_path: Some("/proof-pack/bundle/pay?bundle=audit"),
        pack_path: (product == LeadProduct::Pack).then_some("/proof-pack/quote?pack=quick"),
    })
}

fn expired(texts: Texts) -> String {
    crate::pages::buyer::checkout::page(&crate::pages::buyer::checkout::CheckoutView {
        site: texts.site(),
        quote_id: texts.pick("bq_00000000000000000000000000000001"),
        state: crate::pages::buyer::checkout::CheckoutState::Expired { is_bundle: true },
    })
}
