//! `/pricing`: every price, and what a month of them comes to. The form works without script.

use maud::{Markup, html};

use crate::domain::bundle::Bundle;
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
    /// Or what is wrong with the form, as a sentence.
    pub outcome: Result<Estimate, &'a str>,
    /// Whether somebody has asked; else an example is shown.
    pub is_asked: bool,
}

/// What stands in the fields: three counts and three levels.
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
            description: "What a page, a report and a bundle of sources cost, and what a month of them comes to.",
            path: "/pricing",
            noindex: view.is_asked,
        },
        html! {
            h1 { "What it costs" }
            p.lead {
                "Each call is paid by itself. There is no subscription, no minimum and no account, and what cannot be "
                "delivered is not charged."
            }
            h2 #calculator { "Reckon a month" }
            (calculator(&view.form))
            @match &view.outcome {
                Err(complaint) => .note.bad role="alert" { p { strong { (complaint) } } },
                Ok(estimate) => (estimated(estimate)),
            }
            h2 #page-prices { "A page as markdown" }
            p { "One price for one page, whatever its size. You choose how fresh it has to be." }
            (parts::tier_table())
            h2 #report-prices { "A report on a source" }
            p { "A Proof Pack: whether one page supports a claim, with the passages that say so." }
            (parts::pack_table())
            h2 #bundle-prices { "A report on several sources" }
            p { "An Evidence Bundle, paid through a payment link." }
            (bundle::bundle_table(None))
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
            .row { button type="submit" { "Add it up" } }
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
            thead { tr { th { "What" } th.num { "Sum" } th.num { "Price" } } }
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
            (parts::scrolling("What it comes to", &table))
        }
        p.small.muted {
            "USDC is paid call by call, and gas is not yours to pay. Dollars are paid through the payment link."
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
