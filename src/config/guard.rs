//! The settings `guard.…`: a sale's costs and minimum profit.

use crate::config::{ConfigError, Resolved};
use crate::domain::amount::Amount;
use crate::domain::evm::Address;
use crate::domain::level::Level;
use crate::domain::margin::Costs;

#[derive(Clone, Copy, Debug)]
pub struct Guard {
    pub gas: Gas,
    /// Maximum age of a gas price, in seconds.
    pub gas_age_max: u64,
    pub facilitator_fee: Amount,
    /// Cost of one fetch and conversion.
    pub fetch_cost: Amount,
    /// Cost of rendering a page in a browser, beside its fetch.
    pub render_cost: Amount,
    pub minimum_profit: Amount,
}

/// Source of a settlement's gas cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gas {
    Fixed(Amount),
    /// From the chain, for a settlement of this much gas.
    Live {
        settlement_gas: u64,
        coin: Coin,
    },
}

/// Source of the native coin's price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coin {
    Fixed(Amount),
    /// From a price feed on the chain, up to this many seconds old.
    Feed {
        address: Address,
        age_max: u64,
    },
}

impl Guard {
    /// For so many pages fetched, and so many of them rendered.
    pub fn costs(&self, gas: Amount, fetches: usize, renders: usize) -> Costs {
        let fetching = self.fetch_cost.times(fetches);
        let supplier = fetching.checked_add(self.render_cost.times(renders));
        Costs {
            gas,
            facilitator_fee: self.facilitator_fee,
            // An overflow is too much for any sale.
            supplier: supplier.unwrap_or(Amount::from_units(u64::MAX)),
            minimum_profit: self.minimum_profit,
        }
    }
}

impl Guard {
    /// What can never be sold because its price is below what every sale must bring.
    pub(in crate::config) fn warning(&self) -> Option<String> {
        let gas = match self.gas {
            Gas::Fixed(gas) => gas,
            // Known only when it is sold.
            Gas::Live { .. } => Amount::ZERO,
        };
        let fixed = self.facilitator_fee.checked_add(gas);
        let needed = fixed.and_then(|fixed| fixed.checked_add(self.minimum_profit));
        let needed = needed.unwrap_or(Amount::from_units(u64::MAX));
        let unsold = Level::ALL
            .into_iter()
            .filter(|level| level.price() < needed);
        let unsold: Vec<String> = unsold
            .map(|level| format!("{} {}", level.product().level_word(), level.name()))
            .collect();
        (!unsold.is_empty()).then(|| {
            format!(
                "guard.minimum_profit_usdc, guard.facilitator_fee_usdc and guard.gas_usdc ask for {needed} USDC of each \
                 sale. These cost less, and one of them alone is never sold: {}",
                unsold.join(", ")
            )
        })
    }
}

pub(in crate::config) fn guard(resolved: &Resolved) -> Result<Guard, ConfigError> {
    Ok(Guard {
        gas: gas(resolved)?,
        gas_age_max: resolved.age("guard.gas_age_seconds_max")?,
        facilitator_fee: resolved.usdc("guard.facilitator_fee_usdc")?,
        fetch_cost: resolved.usdc("guard.fetch_cost_usdc")?,
        render_cost: resolved.usdc("guard.render_usdc")?,
        minimum_profit: resolved.usdc("guard.minimum_profit_usdc")?,
    })
}

fn gas(resolved: &Resolved) -> Result<Gas, ConfigError> {
    if resolved.text("guard.gas_usdc")? != "live" {
        let expected = "an amount of USDC such as 0.001, or \"live\"";
        let amount = resolved.checked("guard.gas_usdc", expected, Amount::parse_usdc)?;
        return Ok(Gas::Fixed(amount));
    }
    if resolved.optional("chain.rpc_url").is_none() {
        return Err(ConfigError::of(
"guard.gas_usdc", 
            "guard.gas_usdc = \"live\" needs chain.rpc_url: set it to a JSON-RPC endpoint of the network".to_owned(),
        ));
    }
    let settlement_gas = resolved.count("guard.settlement_gas")?;
    Ok(Gas::Live {
        settlement_gas: u64::try_from(settlement_gas).unwrap_or(u64::MAX),
        coin: coin(resolved)?,
    })
}

fn coin(resolved: &Resolved) -> Result<Coin, ConfigError> {
    let age_max = resolved.age("guard.coin_age_seconds_max")?;
    let expected = "the price of the network's coin in USDC, such as 3000, or chainlink: and the address of a feed, \
                    because guard.gas_usdc is \"live\"";
    resolved.checked("guard.coin_usdc", expected, |text| {
        match text.strip_prefix("chainlink:") {
            Some(address) => {
                let address = Address::parse_checksummed(address)?;
                Some(Coin::Feed { address, age_max })
            }
            None => {
                let price = Amount::parse_usdc(text).filter(|price| *price > Amount::ZERO);
                price.map(Coin::Fixed)
            }
        }
    })
}
