//! The simulated legacy brokerage: whether a fee would cover a task. No task is run, and nothing is paid or stored.

use crate::domain::amount::Amount;
use crate::domain::margin::{Costs, judge};
use crate::domain::time::UnixSeconds;

/// What would have become of a task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Simulated {
    pub accepted: bool,
    pub estimated_cost_usdc: f64,
    /// What would be earned as a share of the fee. `None` for a fee of nothing or less, of which nothing is a share.
    pub projected_margin: Option<f64>,
}

/// Judges a fee by the rule that real sales are judged by.
pub fn simulate(offered_fee_usdc: f64, costs: &Costs, now: UnixSeconds) -> Simulated {
    let cost = [costs.gas, costs.facilitator_fee, costs.supplier]
        .map(Amount::as_usdc)
        .iter()
        .sum::<f64>();
    // A negative fee, or one beyond the range of an amount, cannot be paid.
    let accepted = Amount::parse_usdc(&format!("{offered_fee_usdc:.6}"))
        .is_some_and(|fee| judge(fee, costs, now).is_ok());
    Simulated {
        accepted,
        estimated_cost_usdc: cost,
        projected_margin: (offered_fee_usdc > 0.0)
            .then(|| share(offered_fee_usdc - cost, offered_fee_usdc)),
    }
}

/// To six decimals: what lies beyond is the noise of binary fractions.
fn share(part: f64, whole: f64) -> f64 {
    (part / whole * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(fee: f64, accepted: bool, margin: Option<f64>) {
        let costs = Costs {
            gas: Amount::ZERO,
            facilitator_fee: Amount::from_units(1_000),
            supplier: Amount::from_units(1_000),
            minimum_profit: Amount::from_units(5_000),
        };
        let expected = Simulated {
            accepted,
            estimated_cost_usdc: 0.002,
            projected_margin: margin,
        };
        assert_eq!(simulate(fee, &costs, UnixSeconds(1)), expected, "{fee}");
    }

    #[test]
    fn a_fee_must_earn_what_a_sale_must() {
        check(0.02, true, Some(0.9));
        check(0.008, true, Some(0.75));
        check(0.007, true, Some(0.714_286));
        check(0.004, false, Some(0.5));
        check(0.002, false, Some(0.0));
        check(0.0, false, None);
        check(-0.002, false, None);
        check(1e300, false, Some(1.0));
    }
}
