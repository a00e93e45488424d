//! The Unit Economic Guardian at work: what a sale costs as far as is known now. Gas that has to be known and is not
//! means that nothing is sold.

use crate::app::Shared;
use crate::config::{Coin, Gas};
use crate::domain::amount::Amount;
use crate::domain::margin::{self, Costs, GasPrice, MarginReceipt, MarginRejected};

/// An accepted sale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    pub receipt: MarginReceipt,
    /// As the chain told it, where it is asked.
    pub gas_price: Option<GasPrice>,
}

/// Why a sale is not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsold {
    TooThin(MarginRejected),
    /// What its settlement would cost is not known at the moment.
    GasUnknown,
}

/// Judges a sale at `price`.
pub fn judge(app: &Shared, price: Amount, fetches: bool) -> Result<Judged, Unsold> {
    let gas_price = app.health.gas_price(app);
    let gas = gas(app, gas_price).ok_or(Unsold::GasUnknown)?;
    let costs = app.config.guard.costs(gas, fetches);
    let receipt = margin::judge(price, &costs, app.now()).map_err(Unsold::TooThin)?;
    Ok(Judged { receipt, gas_price })
}

/// Judges a sale whose money is here already: nobody is paid for a settlement.
pub fn judge_settled(app: &Shared, price: Amount, fetches: bool) -> Result<Judged, Unsold> {
    let costs = Costs {
        facilitator_fee: Amount::ZERO,
        ..app.config.guard.costs(Amount::ZERO, fetches)
    };
    let receipt = margin::judge(price, &costs, app.now()).map_err(Unsold::TooThin)?;
    Ok(Judged {
        receipt,
        gas_price: None,
    })
}

/// What the gas of a settlement costs; `None` when it has to be known and is not.
pub fn gas(app: &Shared, gas_price: Option<GasPrice>) -> Option<Amount> {
    match app.config.guard.gas {
        Gas::Fixed(gas) => Some(gas),
        Gas::Live {
            settlement_gas,
            coin,
        } => {
            let coin = match coin {
                Coin::Fixed(price) => price,
                Coin::Feed { .. } => app.health.coin_price(app)?,
            };
            gas_price.map(|price| price.settlement_cost(settlement_gas, coin))
        }
    }
}

/// Whether the guardian knows what it needs to judge anything.
pub fn can_judge(app: &Shared) -> bool {
    gas(app, app.health.gas_price(app)).is_some()
}
