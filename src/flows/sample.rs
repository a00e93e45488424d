//! The page of our own that quotes and the starter tier use, and the report on it. Markdown and report are made by the
//! real converter and engine from the embedded page and never fetched, so they are there before anybody has bought
//! anything.

use std::time::Duration;

use serde_json::json;
use sha2::{Digest, Sha256};

use crate::config::{Config, FacilitatorAt};
use crate::domain::pack::Pack;
use crate::domain::purchase::ProofPackPurchase;
use crate::domain::time::UnixSeconds;
use crate::domain::usage::Usage;
use crate::flows::page::{PageFacts, PageGoods, page_goods};
use crate::flows::report;
use crate::flows::reports::{self, SAMPLE_ID};
use crate::markdown::{ContentKind, Converter, Settings};
use crate::pages;
use crate::pages::site::{FacilitatorMode, Site};
use crate::signing::Signer;

/// The path of the sample page below `base_url`.
pub const SAMPLE_PATH: &str = "/sample";

#[derive(Debug)]
pub struct SamplePage {
    pub url: String,
    pub html: String,
    pub markdown: String,
    pub goods: PageGoods,
    pub made_at: UnixSeconds,
    pub report: SampleReport,
}

/// A whole report for nothing, which never expires.
#[derive(Debug)]
pub struct SampleReport {
    /// The JSON that is served.
    pub body: Vec<u8>,
    pub source_text: String,
}

/// What the sample report is asked: something that the page establishes.
const SAMPLE_QUESTION: &str = "HTTP has carried the status code 402 since the nineties.";
/// When the sample report says that it was made: the same bytes at every start.
const SAMPLE_AT: UnixSeconds = UnixSeconds(1_793_491_200);

impl SamplePage {
    pub fn new(
        config: &Config,
        signer: Option<&Signer>,
        now: UnixSeconds,
    ) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        let url = format!("{}{SAMPLE_PATH}", config.base_url);
        let payment = &config.payment;
        let (pay_to, network, asset) = (
            payment.pay_to.to_string(),
            payment.network.to_string(),
            payment.asset.to_string(),
        );
        let html = pages::sample::page(&Site {
            base_url: &config.base_url,
            pay_to: &pay_to,
            network: &network,
            asset: &asset,
            facilitator: facilitator_mode(config),
            version: env!("CARGO_PKG_VERSION"),
            contact: config.contact.as_deref(),
        });
        let mut converter = Converter::new(Settings {
            kind: ContentKind::Html,
            url: url.parse()?,
            charset: Some("utf-8".to_owned()),
            full: false,
        });
        converter.push(html.as_bytes())?;
        let page = converter.finish()?;
        let goods_of = |fetched_at| {
            let facts = PageFacts {
                final_url: &url,
                status: 200,
                content_type: "text/html; charset=utf-8",
                kind: ContentKind::Html,
                source_sha256: Sha256::digest(&html).into(),
                bytes_fetched: html.len() as u64,
                fetch_time: Duration::ZERO,
                extract_time: Duration::ZERO,
                usage: &Usage::default(),
                fetched_at,
            };
            page_goods(&page, &facts)
        };
        let goods = goods_of(now)?;
        Ok(SamplePage {
            report: SampleReport::new(config, signer, &url, &goods_of(SAMPLE_AT)?)?,
            url,
            html,
            markdown: page.markdown,
            goods,
            made_at: now,
        })
    }

    /// The sample's title, for quotes.
    pub fn title(&self) -> Option<String> {
        self.goods.value().ok()?["metadata"]["title"]
            .as_str()
            .map(str::to_owned)
    }
}

impl SampleReport {
    fn new(
        config: &Config,
        signer: Option<&Signer>,
        url: &str,
        goods: &PageGoods,
    ) -> Result<Self, serde_json::Error> {
        let pack = Pack::default();
        let question = Some(SAMPLE_QUESTION);
        let purchase = ProofPackPurchase::new(url.to_owned(), pack, question, None);
        let draft = report::sample(&goods.members, &purchase, SAMPLE_ID, SAMPLE_AT)?;
        let mut members = draft.members;
        reports::put_around_with(&config.base_url, signer, SAMPLE_ID, &mut members);
        let payment = &config.payment;
        let around = [
            ("cache", json!({"hit": true, "policy": pack.policy()})),
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
            source_text: draft.source_text,
        })
    }
}

pub fn facilitator_mode(config: &Config) -> FacilitatorMode {
    match config.payment.facilitator {
        FacilitatorAt::Sandbox => FacilitatorMode::Sandbox,
        FacilitatorAt::Url(_) => FacilitatorMode::Real,
    }
}
