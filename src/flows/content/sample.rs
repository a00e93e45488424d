//! The sample page for quotes and the starter tier, and the sample report. The real converter and engine make them from
//! the embedded page, without a fetch.

use serde_json::json;

use crate::config::{Config, FacilitatorAt};
use crate::domain::pack::Pack;
use crate::domain::time::UnixSeconds;
use crate::evidence::report::Report;
use crate::evidence::report::sample::{REPORT_ID as SAMPLE_ID, outcomes, sample_report};
use crate::flows::content::reports;
use crate::markdown::Page;
use crate::pages;
use crate::pages::site::{FacilitatorMode, Site};
use crate::signing::Signer;
use crate::state::page::unfetched_page;
use crate::state::sample::{SamplePage, SampleReport};

/// The path of the sample page below `base_url`.
const SAMPLE_PATH: &str = "/sample";

/// Makes the sample page and its report.
pub fn sample_page(
    config: &Config,
    signer: Option<&Signer>,
    now: UnixSeconds,
) -> Result<SamplePage, Box<dyn std::error::Error + Send + Sync>> {
    let url = format!("{}{SAMPLE_PATH}", config.base_url);
    let payment = &config.payment;
    let (pay_to, network, asset) = (
        payment.pay_to.to_string(),
        payment.network.to_string(),
        payment.asset.to_string(),
    );
    let html = pages::buyer::sample::page(&Site {
        base_url: &config.base_url,
        pay_to: &pay_to,
        network: &network,
        asset: &asset,
        facilitator: facilitator_mode(config),
        version: env!("CARGO_PKG_VERSION"),
        contact: config.contact.as_deref(),
        download: None,
        has_model: config.entailment_model,
        has_payment_link: false,
        is_paused: false,
    });
    let (page, goods) = unfetched_page(&url, &html, now)?;
    Ok(SamplePage {
        report: sample_report_of(config, signer, sample_report(&page, &html, &url), &page)?,
        outcomes: outcomes()?,
        url,
        html,
        markdown: page.markdown,
        goods,
        made_at: now,
    })
}

fn sample_report_of(
    config: &Config,
    signer: Option<&Signer>,
    mut report: Report,
    page: &Page,
) -> Result<SampleReport, serde_json::Error> {
    let policy = Pack::parse(&report.pack).unwrap_or_default().policy();
    reports::put_around_with(&config.base_url, signer, SAMPLE_ID, &mut report);
    let mut members = report.members();
    let payment = &config.payment;
    let around = [
        ("cache", json!({"hit": true, "policy": policy})),
        (
            "payment",
            json!({
                "mode": "sample", "network": payment.network, "vault_address": payment.pay_to,
                "token_address": payment.asset, "amount_units": "0", "amount_usdc": 0.0,
                "payer": null, "transaction": null, "settled": false,
            }),
        ),
        (
            "ueg_receipt",
            json!({"revenue_usdc": 0.0, "total_cost_usdc": 0.0, "projected_profit_usdc": 0.0, "decision": "sample"}),
        ),
    ];
    members.extend(around.map(|(name, value)| (name.to_owned(), value)));
    Ok(SampleReport {
        body: serde_json::to_vec(&members)?,
        report,
        source_text: page.markdown.clone(),
    })
}

pub fn facilitator_mode(config: &Config) -> FacilitatorMode {
    match config.payment.facilitator {
        FacilitatorAt::Sandbox => FacilitatorMode::Sandbox,
        FacilitatorAt::Url(_) => FacilitatorMode::Real,
    }
}
