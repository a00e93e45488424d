//! The page of our own that quotes and the starter tier use. Its markdown is made by the real converter from the
//! embedded page and never fetched, so it is there before anybody has bought anything.

use std::time::Duration;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::config::{Config, FacilitatorAt};
use crate::domain::time::UnixSeconds;
use crate::domain::usage::Usage;
use crate::flows::page::{PageFacts, PageGoods, page_goods};
use crate::markdown::{ContentKind, Converter, Settings};
use crate::pages;
use crate::pages::site::{FacilitatorMode, Site};

/// The path of the sample page below `base_url`.
pub const SAMPLE_PATH: &str = "/sample";

#[derive(Clone, Debug)]
pub struct SamplePage {
    pub url: String,
    pub html: String,
    pub markdown: String,
    pub goods: PageGoods,
    pub made_at: UnixSeconds,
}

impl SamplePage {
    pub fn new(
        config: &Config,
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
        let goods = page_goods(
            &page,
            &PageFacts {
                final_url: &url,
                status: 200,
                content_type: "text/html; charset=utf-8",
                kind: ContentKind::Html,
                source_sha256: Sha256::digest(&html).into(),
                bytes_fetched: html.len() as u64,
                fetch_time: Duration::ZERO,
                extract_time: Duration::ZERO,
                usage: &Usage::default(),
                fetched_at: now,
            },
        )?;
        Ok(SamplePage {
            url,
            html,
            markdown: page.markdown,
            goods,
            made_at: now,
        })
    }

    /// The sample's title, for quotes.
    pub fn title(&self) -> Option<String> {
        let members: Value =
            serde_json::from_slice(&[b"{", self.goods.members.as_slice(), b"}"].concat()).ok()?;
        members["metadata"]["title"].as_str().map(str::to_owned)
    }
}

pub fn facilitator_mode(config: &Config) -> FacilitatorMode {
    match config.payment.facilitator {
        FacilitatorAt::Sandbox => FacilitatorMode::Sandbox,
        FacilitatorAt::Url(_) => FacilitatorMode::Real,
    }
}
