//! The first sale: the service sells its sample page to the operator's wallet, at the address that buyers use.

use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::cli::buyer::complaint;
use crate::cli::progress::Progress;
use crate::cli::serve::doctor;
use crate::cli::{Failure, failed, say};
use crate::config::Config;
use crate::domain::level::Product;
use crate::domain::tier::Tier;
use crate::outside::buyer::{BuyError, Buyer, BuyerSettings, Purchase, SellerRequest, Wallet};
use crate::outside::clock::Clock;

const TIER: Tier = Tier::Starter;
/// A certificate or a reverse proxy may be a moment behind. Only the first request is repeated, which signs nothing.
const TRIES_MAX: u32 = 10;
const PAUSE: Duration = Duration::from_secs(2);

pub(super) fn purchase(config: &Config, wallet: &Wallet) -> Result<(), Failure> {
    let base_url = &config.base_url;
    let target = format!("{base_url}/sample");
    let body = json!({"target_url": target, "tier": TIER.name()});
    let address = format!("{base_url}{}", Product::Context.path());
    let request = SellerRequest::post_json(&address, &body);
    let mut settings = BuyerSettings {
        ca_pem: doctor::roots(config)?,
        ..BuyerSettings::default()
    };
    let coin = (config.payment.network, config.payment.asset);
    settings.tokens.push(coin);
    let buyer = Buyer::new(settings).map_err(failed)?;
    let progress = Progress::start("Buying the sample page");
    let mut tries = 1..=TRIES_MAX;
    let bought = loop {
        let now = Clock::System.now();
        match buyer.pay(wallet, &request, TIER.price(), now, None) {
            Err(BuyError::Unreachable(_)) if tries.next().is_some() => thread::sleep(PAUSE),
            bought => break bought,
        }
    };
    drop(progress);
    let why = |text: String| failed(format_args!("the service could not sell {target}: {text}"));
    let Purchase { paid, reply } = bought.map_err(|error| why(error.to_string()))?;
    let settled = paid.as_ref().and_then(|paid| paid.settlement.as_ref());
    match (&paid, settled.filter(|settled| settled.success)) {
        (Some(paid), Some(settled)) if reply.status == 200 => Ok(say(format_args!(
            "\nBought {target} for {} USDC from {} to {}, transaction {}",
            paid.choice.requirements.amount,
            wallet.address(),
            paid.choice.requirements.pay_to,
            settled.transaction
        ))?),
        _ => Err(why(complaint::of(&reply))),
    }
}
