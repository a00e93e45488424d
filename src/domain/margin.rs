//! The Unit Economic Guardian's rule: a sale below the minimum profit is refused before any work.

use serde::{Deserialize, Serialize};

use crate::domain::amount::Amount;
use crate::domain::time::UnixSeconds;

/// What one sale is expected to cost, in USDC units, and the least it must earn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// Gas of the settlement, where the seller pays it.
    pub gas: Amount,
    pub facilitator_fee: Amount,
    /// Fetching and converting; nothing when the cache answers.
    pub supplier: Amount,
    /// Least profit per sale.
    pub minimum_profit: Amount,
}

/// What gas costs on the network, in wei (10^-18 of its coin).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GasPrice {
    pub wei_per_gas: u128,
    /// What the layer below charges for one settlement, where there is one.
    pub l1_fee_wei: u128,
}

const WEI_PER_COIN: u128 = 1_000_000_000_000_000_000;

impl GasPrice {
    /// What a settlement of so much gas costs at this price of the coin, rounded up. What is too much for a number is
    /// too much for any sale.
    pub fn settlement_cost(&self, gas: u64, coin: Amount) -> Amount {
        let units = self
            .wei_per_gas
            .checked_mul(gas.into())
            .and_then(|wei| wei.checked_add(self.l1_fee_wei))
            .and_then(|wei| wei.checked_mul(coin.units().into()))
            .map(|product| product.div_ceil(WEI_PER_COIN))
            .and_then(|units| u64::try_from(units).ok());
        Amount::from_units(units.unwrap_or(u64::MAX))
    }

    /// For display: never computed with.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a number for people has as many digits as it has"
    )]
    pub fn gwei(&self) -> f64 {
        self.wei_per_gas as f64 / 1e9
    }
}

/// How a sale was judged (`ueg_receipt` in answers).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarginReceipt {
    pub revenue: u64,
    pub gas: u64,
    pub facilitator_fee: u64,
    pub supplier: u64,
    pub profit: u64,
    pub minimum_profit: u64,
    pub evaluated_at: u64,
}

/// The sale would earn less than the minimum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarginRejected {
    pub price: Amount,
    /// What it would cost, the minimum profit included.
    pub needed: Amount,
}

/// Accepts a sale whose price covers its costs and the minimum profit. A sum that overflows is a refusal.
pub fn judge(
    price: Amount,
    costs: &Costs,
    now: UnixSeconds,
) -> Result<MarginReceipt, MarginRejected> {
    let total = costs
        .gas
        .checked_add(costs.facilitator_fee)
        .and_then(|sum| sum.checked_add(costs.supplier));
    let needed = total.and_then(|sum| sum.checked_add(costs.minimum_profit));
    let rejected = MarginRejected {
        price,
        needed: needed.unwrap_or(Amount::from_units(u64::MAX)),
    };
    let profit = total
        .and_then(|sum| price.checked_sub(sum))
        .ok_or(rejected)?;
    if profit < costs.minimum_profit {
        return Err(rejected);
    }
    Ok(MarginReceipt {
        revenue: price.units(),
        gas: costs.gas.units(),
        facilitator_fee: costs.facilitator_fee.units(),
        supplier: costs.supplier.units(),
        profit: profit.units(),
        minimum_profit: costs.minimum_profit.units(),
        evaluated_at: now.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(price: u64, costs: [u64; 4], profit: Option<u64>) {
        let [gas, facilitator_fee, supplier, minimum_profit] = costs.map(Amount::from_units);
        let costs = Costs {
            gas,
            facilitator_fee,
            supplier,
            minimum_profit,
        };
        let judged = judge(Amount::from_units(price), &costs, UnixSeconds(1));
        assert_eq!(
            judged.ok().map(|receipt| receipt.profit),
            profit,
            "{price} {costs:?}"
        );
    }

    #[test]
    fn gas_is_priced_in_usdc_and_rounded_up() {
        let cost = |wei_per_gas, l1_fee_wei, gas, coin: &str| {
            let price = GasPrice {
                wei_per_gas,
                l1_fee_wei,
            };
            let coin = Amount::parse_usdc(coin).expect("an amount");
            price.settlement_cost(gas, coin).units()
        };
        // 100,000 gas at 0.01 gwei and 3,000 USDC are 0.003 USDC.
        assert_eq!(cost(10_000_000, 0, 100_000, "3000"), 3_000);
        assert_eq!(cost(10_000_000, 1_000_000_000_000, 100_000, "3000"), 6_000);
        assert_eq!(cost(1, 0, 1, "3000"), 1);
        assert_eq!(cost(0, 0, 100_000, "3000"), 0);
        assert_eq!(cost(u128::MAX, 0, 100_000, "3000"), u64::MAX);
        assert_eq!(cost(u128::MAX, 1, 1, "0.000001"), u64::MAX);
        assert_eq!(cost(1 << 100, 0, 1, "3000"), u64::MAX);
    }

    #[test]
    fn a_sale_must_earn_its_minimum() {
        check(30_000, [500, 1_000, 1_000, 2_000], Some(27_500));
        check(12_000, [5_000, 1_000, 4_000, 2_000], Some(2_000));
        check(12_000, [5_000, 1_000, 4_001, 2_000], None);
        check(12_000, [12_001, 0, 0, 0], None);
        check(12_000, [12_000, 0, 0, 0], Some(0));
        check(12_000, [u64::MAX, 1, 0, 0], None);
    }
}
