//! What we offer: the payment requirements of every tier, and the challenges that carry them.

use serde_json::{Map, json};

use crate::config::Config;
use crate::domain::purchase::Purchase;
use crate::domain::shapes::ACCESS_REQUEST;
use crate::domain::tier::Tier;
use crate::x402::challenge::{Bazaar, Challenge, ChallengeError, ChallengeInputs};
use crate::x402::resource::Resource;
use crate::x402::wire::{Extra, PaymentRequirements, Scheme};

/// How long a payment is valid (specification section 8).
pub const TIMEOUT_SECONDS_MAX: u64 = 300;
/// The context endpoint.
pub const ACCESS_PATH: &str = "/v1/x402/access";
const TAGS: [&str; 4] = ["markdown", "scrape", "web", "context"];

/// Every offer of this service.
#[derive(Debug)]
pub struct Offers {
    tiers: Vec<Offer>,
    /// Which addresses a payment for the context endpoint may name.
    pub access: Resource,
    base_url: String,
    service_name: String,
}

/// The offer of one tier.
#[derive(Debug)]
pub struct Offer {
    pub tier: Tier,
    pub requirements: PaymentRequirements,
    /// The challenge of a request that came without payment.
    pub challenge: Challenge,
}

impl Offers {
    pub fn new(config: &Config) -> Result<Offers, Box<dyn std::error::Error + Send + Sync>> {
        let access = Resource::new(&config.base_url, ACCESS_PATH)
            .ok_or("base_url cannot be offered as a resource")?;
        let mut offers = Offers {
            tiers: Vec::new(),
            access,
            base_url: config.base_url.clone(),
            service_name: config.service_name.clone(),
        };
        for tier in Tier::ALL {
            let requirements = requirements(config, tier);
            let challenge =
                offers.challenge(tier, &requirements, "PAYMENT-SIGNATURE header is required")?;
            offers.tiers.push(Offer {
                tier,
                requirements,
                challenge,
            });
        }
        Ok(offers)
    }

    pub fn tier(&self, tier: Tier) -> &Offer {
        &self.tiers[tier as usize]
    }

    pub fn of(&self, purchase: &Purchase) -> &Offer {
        match purchase {
            Purchase::Context(context) => self.tier(context.tier()),
        }
    }

    /// A fresh challenge that says why the last payment was not taken.
    pub fn challenge_because(&self, tier: Tier, error: &str) -> Challenge {
        let offer = self.tier(tier);
        // Only the error's text differs from the challenge that was made at start, and optional parts make room for it.
        self.challenge(tier, &offer.requirements, error)
            .unwrap_or_else(|_| offer.challenge.clone())
    }

    fn challenge(
        &self,
        tier: Tier,
        requirements: &PaymentRequirements,
        error: &str,
    ) -> Result<Challenge, ChallengeError> {
        let (name, price) = (tier.name(), tier.price());
        Challenge::new(&ChallengeInputs {
            resource_url: &format!("{}{ACCESS_PATH}", self.base_url),
            description: &format!(
                "Convert a public web page into clean markdown (tier {name}, {price} USDC)."
            ),
            service_name: &self.service_name,
            tags: &TAGS,
            icon_url: Some(&format!("{}/icon.png", self.base_url)),
            requirements: std::slice::from_ref(requirements),
            bazaar: Bazaar {
                body_example: json!({"target_url": "https://example.com/", "tier": name}),
                body_schema: ACCESS_REQUEST.json_schema(),
                output_example: json!({"status": "success", "markdown": "# Example"}),
            },
            further_extensions: Map::new(),
            error,
        })
    }
}

fn requirements(config: &Config, tier: Tier) -> PaymentRequirements {
    let payment = &config.payment;
    PaymentRequirements {
        scheme: Scheme::Exact,
        network: payment.network,
        amount: tier.price(),
        asset: payment.asset,
        pay_to: payment.pay_to,
        max_timeout_seconds: TIMEOUT_SECONDS_MAX,
        extra: Extra::domain(&payment.asset_name, &payment.asset_version),
    }
}
