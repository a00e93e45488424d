//! `/pricing`: all prices and a monthly estimate. The form works without script.

use maud::{Markup, html};

use crate::domain::bundle::Bundle;
use crate::domain::check::{CheckDepth, SOURCES_MAX};
use crate::domain::estimate::{Estimate, Line};
use crate::domain::figures::grouped;
use crate::domain::level::{Level, PAGES_MAX};
use crate::domain::pack::Pack;
use crate::domain::render::Render;
use crate::domain::tier::Tier;
use crate::domain::time::REPORT_DAYS;
use crate::pages::layout::{Layout, layout};
use crate::pages::orders::bundle;
use crate::pages::parts;
use crate::pages::price_lists;
use crate::pages::site::Site;

#[derive(Clone, Debug)]
pub struct PricingView<'a> {
    pub site: Site<'a>,
    pub form: Form<'a>,
    /// The estimate, or what is wrong with the form, as a sentence.
    pub outcome: Result<Estimate, &'a str>,
    /// Whether the form was submitted; otherwise an example is shown.
    pub is_asked: bool,
}

/// The values of the fields: counts, each with its level.
#[derive(Clone, Copy, Debug)]
pub struct Form<'a> {
    pub pages: &'a str,
    pub tier: &'a str,
    pub reports: &'a str,
    pub pack: &'a str,
    pub bundles: &'a str,
    pub bundle: &'a str,
    /// Sources of checked texts.
    pub checks: &'a str,
    pub depth: &'a str,
}

pub fn page(view: &PricingView<'_>) -> String {
    layout(
        Layout {
            site: view.site,
            title: "Prices",
            description: "Prices of pages, Proof Packs, checks and Evidence Bundles in USDC, with a monthly estimate.",
            path: "/pricing",
            noindex: view.is_asked,
        },
        html! {
            h1 { "Pricing" }
            p.lead {
                "Pay per call. No subscription, no minimum, no account, and no charge for what we cannot deliver."
            }
            h2 #page-prices { "A page as markdown" }
            p { "One price per page, whatever its size. You choose how fresh it must be." }
            (price_lists::tier_table())
            (included_features())
            h2 #report-prices { "Proof Pack" }
            p { "A report on whether one page supports a claim, with the passages that show it." }
            (price_lists::pack_table(view.site.has_model))
            h2 #check-prices { "Check of a text" }
            p { "Each claim of a text checked against up to " (SOURCES_MAX) " sources. The price is for each source." }
            (price_lists::depth_table(view.site.has_model))
            h2 #bundle-prices { "Evidence Bundle" }
            p {
                "One report on several sources. Each quote names the smallest bundle that fits all accepted sources; "
                "duplicates and rejected sources do not raise the price. A form or a paid request that names no bundle gets "
                "that one. A quote of the API that names none is for " code { (Bundle::default().name()) }
                ", or for the smallest that fits more sources."
            }
            (bundle::bundle_table(None, view.site.has_model))
            p.small.muted {
                "Without a wallet, " a href="/proof-pack/bundle" { "order a bundle " (view.site.payment_of_people()) }
                " for the same amount in dollars."
            }
            h2 #calculator { "What a month costs" }
            (calculator(&view.form))
            @match &view.outcome {
                Err(complaint) => .note.bad role="alert" { p { strong { (complaint) } } },
                Ok(estimate) => (estimate_rows(estimate)),
            }
            (free())
        },
    )
}

/// What is bought at the price of a page, or of several.
fn included_features() -> Markup {
    let rendering: Vec<&str> = Tier::ALL
        .into_iter()
        .filter(|tier| Level::Tier(*tier).render() == Render::Auto)
        .map(Tier::name)
        .collect();
    html! {
        ul {
            li {
                strong { "Only the passages that answer a question" } ", within a budget of tokens: the price of the page. "
                a href="/docs#example-excerpt" { "Example" } "."
            }
            li {
                strong { "Up to " (PAGES_MAX) " pages in one request" } ": one page price for each page. Nothing is charged "
                "unless all of them, or the minimum that you set, can be read. " a href="/docs#example-pages" { "Example" } "."
            }
            li {
                strong { "Pages that need scripts" } " are rendered in a browser, where this service has one, at no extra charge: "
                "automatically with " (rendering.join(" and ")) ", on request with other tiers that fetch."
            }
        }
    }
}

/// What nobody pays for.
fn free() -> Markup {
    html! {
        h2 #free { "What costs nothing" }
        ul {
            li { "Quotes, previews and the first words of a page on " a href="/try" { "the try-it page" } }
            li { "Reading a report again for " (REPORT_DAYS) " days, as page, JSON and PDF; follow-up questions; verification" }
            li { a href="/docs#example-purchases" { "Reading what you bought again" } ", signed by the wallet that paid" }
            li { "Gas: the facilitator pays it" }
            li { "Anything that could not be delivered" }
        }
    }
}

fn calculator(form: &Form<'_>) -> Markup {
    let price = |amount| format!("{} USDC", parts::cents(amount));
    let tiers = Tier::ALL.map(|tier| (tier.name(), price(tier.price())));
    let packs = Pack::ALL.map(|pack| (pack.name(), price(pack.price())));
    let bundles = Bundle::ALL.map(|bundle| (bundle.name(), price(bundle.price())));
    let depths = CheckDepth::ALL.map(|depth| (depth.name(), price(depth.price())));
    html! {
        form.ask.sums action="/pricing#calculator" method="get" {
            (count("pages", "Pages", form.pages)) (level("tier", "Tier", form.tier, &tiers))
            (count("reports", "Proof Packs", form.reports)) (level("pack", "Pack", form.pack, &packs))
            (count("checks", "Sources of checked texts", form.checks)) (level("depth", "Depth", form.depth, &depths))
            (count("bundles", "Evidence Bundles", form.bundles)) (level("bundle", "Bundle", form.bundle, &bundles))
            .row { button type="submit" { "Estimate" } }
        }
    }
}

fn count(name: &str, label: &str, typed: &str) -> Markup {
    html! {
        div {
            label for=(name) { (label) }
            input id=(name) name=(name) type="text" inputmode="numeric" maxlength="12" autocomplete="off" value=(typed);
        }
    }
}

fn level(name: &str, label: &str, typed: &str, levels: &[(&str, String)]) -> Markup {
    html! {
        div {
            label for=(name) { (label) }
            select id=(name) name=(name) {
                @for (level, price) in levels {
                    option value=(level) selected[*level == typed] { (level) ", " (price) }
                }
            }
        }
    }
}

fn estimate_rows(estimate: &Estimate) -> Markup {
    let rows = [
        (["page", "pages"], estimate.pages.1.name(), estimate.pages()),
        (
            ["Proof Pack", "Proof Packs"],
            estimate.reports.1.name(),
            estimate.reports(),
        ),
        (
            ["checked source", "checked sources"],
            estimate.checks.1.name(),
            estimate.checks(),
        ),
        (
            ["Evidence Bundle", "Evidence Bundles"],
            estimate.bundles.1.name(),
            estimate.bundles(),
        ),
    ];
    let table = html! {
        table.stack {
            thead { tr { th { "Item" } th.num { "Total" } th.num { "Unit price" } } }
            tbody { @for (words, level, sum) in rows { (line(words, level, sum)) } }
        }
    };
    html! {
        p.price.total role="status" { (parts::usdc(estimate.total())) small { " a month" } }
        @if rows.iter().any(|(_, _, line)| line.count > 0) {
            (parts::scrolling("Cost estimate", &table))
        }
    }
}

fn line([one, more]: [&str; 2], level: &str, line: Line) -> Markup {
    let what = if line.count == 1 { one } else { more };
    html! {
        @if line.count > 0 {
            tr {
                th scope="row" { (grouped(line.count)) " " (what) ", " (level) }
                td.num { (parts::usdc(line.sum)) }
                td.num.muted { (parts::usdc(line.price)) " each" }
            }
        }
    }
}
