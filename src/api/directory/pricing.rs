//! `/pricing`: reads the form and computes the estimate.

use crate::api::frame;
use crate::api::frame::made_once;
use crate::app::{App, Shared};
use crate::domain::bundle::Bundle;
use crate::domain::check::CheckDepth;
use crate::domain::estimate::{Estimate, count};
use crate::domain::pack::Pack;
use crate::domain::tier::Tier;
use crate::http::{Call, Reply};
use crate::pages::buyer::pricing::{self, Form, PricingView};

/// The form's fields; others are ignored.
const FIELDS: [&str; 8] = [
    "pages", "tier", "reports", "pack", "bundles", "bundle", "checks", "depth",
];
const NO_COUNT: &str = "Counts must be whole numbers up to 1,000,000.";
const NO_LEVEL: &str = "No such tier, pack, bundle or depth: choose one from the lists.";

/// GET /pricing: the estimate for the query, or a fixed example.
pub async fn page(app: Shared, call: Call) -> Reply {
    match FIELDS.iter().any(|name| call.query.get(name).is_some()) {
        true => made(&app, &call, true),
        false => made_once(&app, &call, |app| made(app, &call, false)),
    }
}

fn made(app: &App, call: &Call, is_asked: bool) -> Reply {
    let typed = |name: &str, example: &str| match call.query.get(name) {
        Some(text) => text.trim().to_owned(),
        None => example.to_owned(),
    };
    let example = |text| if is_asked { "" } else { text };
    let [pages, reports, bundles, checks] = [
        ("pages", "1000"),
        ("reports", "20"),
        ("bundles", "1"),
        ("checks", "0"),
    ]
    .map(|(name, number)| typed(name, example(number)));
    let tier = typed("tier", Tier::default().name());
    let pack = typed("pack", Pack::default().name());
    let bundle = typed("bundle", Bundle::default().name());
    let depth = typed("depth", CheckDepth::default().name());
    let form = Form {
        pages: &pages,
        tier: &tier,
        reports: &reports,
        pack: &pack,
        bundles: &bundles,
        bundle: &bundle,
        checks: &checks,
        depth: &depth,
    };
    let outcome = estimate(&form);
    let status = if outcome.is_ok() { 200 } else { 400 };
    let texts = frame::Texts::of(app);
    let html = pricing::page(&PricingView {
        site: frame::site(app, &texts),
        form,
        outcome,
        is_asked,
    });
    let reply = frame::with_page_headers(Reply::html(status, html));
    match status {
        200 => reply.public("public, max-age=300"),
        _ => reply.no_store(),
    }
}

fn estimate(form: &Form<'_>) -> Result<Estimate, &'static str> {
    Ok(Estimate {
        pages: (
            count(form.pages).ok_or(NO_COUNT)?,
            Tier::parse(form.tier).ok_or(NO_LEVEL)?,
        ),
        reports: (
            count(form.reports).ok_or(NO_COUNT)?,
            Pack::parse(form.pack).ok_or(NO_LEVEL)?,
        ),
        bundles: (
            count(form.bundles).ok_or(NO_COUNT)?,
            Bundle::parse(form.bundle).ok_or(NO_LEVEL)?,
        ),
        checks: (
            count(form.checks).ok_or(NO_COUNT)?,
            CheckDepth::parse(form.depth).ok_or(NO_LEVEL)?,
        ),
    })
}
