//! `/pricing`: all prices and a monthly estimate. The form works without script.

use maud::{Markup, html};

use crate::domain::bundle::Bundle;
use crate::domain::check::SOURCES_MAX;
use crate::domain::estimate::{Estimate, Line};
use crate::domain::pack::Pack;
use crate::domain::tier::Tier;
use crate::pages::layout::{Layout, layout};
use crate::pages::orders::bundle;
use crate::pages::parts;
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

/// The values of the fields: three counts and three levels.
#[derive(Clone, Copy, Debug)]
pub struct Form<'a> {
    pub pages: &'a str,
    pub tier: &'a str,
    pub reports: &'a str,
    pub pack: &'a str,
    pub bundles: &'a str,
    pub bundle: &'a str,
}

pub fn page(view: &PricingView<'_>) -> String {
    layout(
        Layout {
            site: view.site,
            title: "Prices",
            description: "Prices of pages, Proof Packs and Evidence Bundles, with a monthly estimate.",
            path: "/pricing",
            noindex: view.is_asked,
        },
        html! {
            h1 { "Pricing" }
            p.lead {
                "Pay per call. No subscription, no minimum, no account, and no charge for what we cannot deliver."
            }
            h2 #calculator { "Estimate your monthly cost" }
            (calculator(&view.form))
            @match &view.outcome {
                Err(complaint) => .note.bad role="alert" { p { strong { (complaint) } } },
                Ok(estimate) => (estimated(estimate)),
            }
            h2 #page-prices { "A page as markdown" }
            p { "One price per page, whatever its size. You choose how fresh it must be." }
            (parts::tier_table())
            h2 #report-prices { "Proof Pack" }
            p { "A report on whether one page supports a claim, with the passages that show it." }
            (parts::pack_table(view.site.has_model))
            h2 #bundle-prices { "Evidence Bundle" }
            p { "A report on up to 25 sources, paid per call in USDC, or in dollars through a payment link." }
            (bundle::bundle_table(None, view.site.has_model))
            h2 #check-prices { "Check of a text" }
            p { "Each claim of a text checked against up to " (SOURCES_MAX) " sources. The price is for each source." }
            (parts::depth_table(view.site.has_model))
        },
    )
}

fn calculator(form: &Form<'_>) -> Markup {
    let tiers = Tier::ALL.map(|tier| (tier.name(), format!("{} USDC", parts::cents(tier.price()))));
    let packs = Pack::ALL.map(|pack| (pack.name(), format!("{} USDC", parts::cents(pack.price()))));
    let bundles = Bundle::ALL.map(|bundle| (bundle.name(), bundle::price(bundle)));
    html! {
        form.ask.sums action="/pricing#calculator" method="get" {
            (count("pages", "Pages", form.pages)) (level("tier", "Tier", form.tier, &tiers))
            (count("reports", "Proof Packs", form.reports)) (level("pack", "Pack", form.pack, &packs))
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

fn estimated(estimate: &Estimate) -> Markup {
    let bundles = estimate.bundles();
    let table = html! {
        table.stack {
            thead { tr { th { "Item" } th.num { "Total" } th.num { "Unit price" } } }
            tbody {
                (line(["page", "pages"], estimate.pages.1.name(), estimate.pages(), "USDC"))
                (line(["Proof Pack", "Proof Packs"], estimate.reports.1.name(), estimate.reports(), "USDC"))
                (line(["Evidence Bundle", "Evidence Bundles"], estimate.bundles.1.name(), bundles, "USD"))
            }
        }
    };
    html! {
        p.price.total role="status" {
            (parts::cents(estimate.by_call())) " USDC"
            @if bundles.count > 0 { " and " (parts::cents(bundles.sum)) " USD" }
        }
        @if [estimate.pages(), estimate.reports(), bundles].iter().any(|line| line.count > 0) {
            (parts::scrolling("Cost estimate", &table))
        }
        p.small.muted {
            "USDC is paid per call, without gas fees. Dollars are paid through the payment link."
        }
    }
}

fn line([one, more]: [&str; 2], level: &str, line: Line, currency: &str) -> Markup {
    let what = if line.count == 1 { one } else { more };
    html! {
        @if line.count > 0 {
            tr {
                th scope="row" { (line.count) " " (what) ", " (level) }
                td.num { (parts::cents(line.sum)) " " (currency) }
                td.num.muted { (parts::cents(line.price)) " " (currency) " each" }
            }
        }
    }
}
