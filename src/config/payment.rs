//! The settings `payment.…`: facilitator, recipient and token.

use std::time::Duration;

use url::Url;

use crate::config::settings::FACILITATOR_EXAMPLE;
use crate::config::web::refuse_example;
use crate::config::{ConfigError, Origin, Resolved, Secret};
use crate::domain::evm::{Address, Network};
use crate::outside::facilitator::PassesOn;
use crate::x402::payer::usdc;

#[derive(Clone, Debug)]
pub struct Payment {
    pub facilitator: FacilitatorAt,
    pub auth: FacilitatorAuth,
    pub passes_on: PassesOn,
    pub verify_time_max: Duration,
    pub settle_time_max: Duration,
    /// How long a buyer waits for a settlement; the call goes on.
    pub settle_wait_max: Duration,
    pub calls_max: usize,
    pub verify_settlement: VerifySettlement,
    pub network: Network,
    pub asset: Address,
    pub asset_name: String,
    pub asset_version: String,
    pub pay_to: Address,
}

/// Whether reported settlements are verified on chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifySettlement {
    /// The facilitator is trusted.
    Off,
    /// Deliver at once, verify soon after.
    Background,
    /// Deliver after the chain confirms the payment.
    BeforeDelivery,
}

impl VerifySettlement {
    /// The name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            VerifySettlement::Off => "off",
            VerifySettlement::Background => "background",
            VerifySettlement::BeforeDelivery => "before_delivery",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FacilitatorAt {
    /// The embedded one: test funds on loopback.
    Sandbox,
    Url(String),
}

impl FacilitatorAt {
    /// The name in the configuration.
    pub fn name(&self) -> &str {
        match self {
            FacilitatorAt::Sandbox => "sandbox",
            FacilitatorAt::Url(url) => url,
        }
    }
}

#[derive(Clone, Debug)]
pub enum FacilitatorAuth {
    None,
    Bearer(Secret),
    Cdp { key_id: String, secret: Secret },
}

pub(in crate::config) fn payment(resolved: &Resolved) -> Result<Payment, ConfigError> {
    refuse_example(resolved, "payment.facilitator_url", FACILITATOR_EXAMPLE)?;
    let facilitator = resolved.checked(
        "payment.facilitator_url",
        "\"sandbox\" or an https address",
        |text| {
            if text == "sandbox" {
                return Some(FacilitatorAt::Sandbox);
            }
            let url = Url::parse(text).ok()?;
            let fits =
                matches!(url.scheme(), "http" | "https") && url.has_host() && url.query().is_none();
            fits.then(|| FacilitatorAt::Url(url.as_str().trim_end_matches('/').to_owned()))
        },
    )?;
    let auth = match resolved.text("payment.facilitator_auth")? {
        "none" => FacilitatorAuth::None,
        "bearer" => FacilitatorAuth::Bearer(resolved.secret("payment.facilitator_token")?),
        "cdp" => FacilitatorAuth::Cdp {
            key_id: resolved.text("payment.cdp_key_id")?.to_owned(),
            secret: resolved.secret("payment.cdp_key_secret")?,
        },
        _ => return Err(resolved.expected("payment.facilitator_auth", "none, bearer or cdp")),
    };
    let network = resolved.checked(
        "payment.network",
        "an EVM network such as eip155:8453",
        Network::parse,
    )?;
    refuse_token_of_another_network(resolved, network)?;
    let contract = "the token's address: 0x and 40 hex digits, not all of them 0; in mixed case its EIP-55 checksum \
                    must be right";
    let receiver = "your receiving address, whose key you hold: 0x and 40 hex digits, not all of them 0 and not the \
                    token's own address; in mixed case its EIP-55 checksum must be right";
    let asset = resolved.checked("payment.asset", contract, somebody)?;
    let of_domain = |key: &str| {
        let expected = "as in the EIP-712 domain of the token's contract, and not empty";
        resolved.checked(key, expected, |text| {
            (!text.is_empty()).then(|| text.to_owned())
        })
    };
    Ok(Payment {
        verify_settlement: verify_settlement(resolved, &facilitator)?,
        facilitator,
        auth,
        passes_on: resolved.checked("payment.facilitator_payload", "whole or bare", |text| {
            match text {
                "whole" => Some(PassesOn::Everything),
                "bare" => Some(PassesOn::Payment),
                _ => None,
            }
        })?,
        verify_time_max: resolved.seconds_to("payment.verify_seconds_max", 30)?,
        settle_time_max: resolved.seconds("payment.settle_seconds_max")?,
        settle_wait_max: resolved.seconds("payment.settle_wait_seconds_max")?,
        calls_max: resolved.count("payment.calls_max")?,
        network,
        asset,
        asset_name: of_domain("payment.asset_name")?,
        asset_version: of_domain("payment.asset_version")?,
        // Transfers to the token's contract are lost.
        pay_to: resolved.checked("payment.pay_to", receiver, |text| {
            somebody(text).filter(|address| *address != asset)
        })?,
    })
}

/// Base, which the default token belongs to.
const DEFAULT_NETWORK: Network = Network(8_453);

/// The name in the EIP-712 domain of USDC's contract, on the networks where we know the contract.
fn usdc_name(network: Network) -> &'static str {
    match network {
        Network(84_532) => "USDC",
        _ => "USD Coin",
    }
}

/// The default token is a contract on Base: on another network nothing, or something else, is at its address, and every
/// payment would fail. The token decides what a payment is worth, so it is not chosen silently.
fn refuse_token_of_another_network(
    resolved: &Resolved,
    network: Network,
) -> Result<(), ConfigError> {
    let is_default = |key: &str| {
        let found = resolved.get(key);
        found.is_some_and(|(_, origin)| *origin == Origin::Default)
    };
    if network == DEFAULT_NETWORK {
        return Ok(());
    }
    let mut known = usdc().into_iter();
    let known = known.find(|(of, _)| *of == network).map(|(_, asset)| asset);
    let name = usdc_name(network);
    if is_default("payment.asset") {
        let advice = match known {
            Some(asset) => format!(
                "for USDC on {network}, set payment.asset = \"{asset}\" and payment.asset_name = \"{name}\""
            ),
            None => "set payment.asset to the token's contract on that network, and payment.asset_name to the name in \
                     its EIP-712 domain"
                .to_owned(),
        };
        return Err(ConfigError::of(
            "payment.network",
            format!(
                "payment.network = \"{network}\" needs payment.asset, whose default is USDC on Base: {advice}"
            ),
        ));
    }
    let asset = resolved
        .optional("payment.asset")
        .and_then(Address::parse_checksummed);
    let differs = resolved.optional("payment.asset_name") != Some(name);
    if known.is_some() && asset == known && differs && is_default("payment.asset_name") {
        return Err(ConfigError::of(
            "payment.network",
            format!(
                "payment.network = \"{network}\" needs payment.asset_name = \"{name}\", the name in the EIP-712 domain of \
                 USDC there: with the default, every payment fails"
            ),
        ));
    }
    Ok(())
}

/// Background if the facilitator settles on a configured chain, else off.
fn verify_settlement(
    resolved: &Resolved,
    facilitator: &FacilitatorAt,
) -> Result<VerifySettlement, ConfigError> {
    const KEY: &str = "payment.verify_settlement";
    let has_chain = resolved.optional("chain.rpc_url").is_some();
    let can_verify = has_chain && *facilitator != FacilitatorAt::Sandbox;
    let asked = match resolved.optional(KEY) {
        None if can_verify => VerifySettlement::Background,
        None | Some("off") => VerifySettlement::Off,
        Some("background") => VerifySettlement::Background,
        Some("before_delivery") => VerifySettlement::BeforeDelivery,
        Some(_) => return Err(resolved.expected(KEY, "off, background or before_delivery")),
    };
    match asked {
        VerifySettlement::Off => Ok(asked),
        _ if can_verify => Ok(asked),
        _ if !has_chain => Err(ConfigError::of(
            KEY,
            format!(
                "{KEY} = \"{}\" needs chain.rpc_url to look up settlements",
                asked.name()
            ),
        )),
        _ => Err(ConfigError::of(
            KEY,
            format!(
                "{KEY} = \"{}\" needs a facilitator that settles on chain; the sandbox does not",
                asked.name()
            ),
        )),
    }
}

/// An address other than zero.
fn somebody(text: &str) -> Option<Address> {
    Address::parse_checksummed(text).filter(|address| *address != Address([0; 20]))
}
