//! The Unit Economic Guardian at work: what a sale costs as far as is known now. Gas that has to be known and is not
//! means that nothing is sold.

use crate::app::Shared;
use crate::config::Gas;
use crate::domain::amount::Amount;
use crate::domain::margin::{self, GasPrice, MarginReceipt, MarginRejected};
use crate::outside::llm::Llm;

/// An accepted sale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    pub receipt: MarginReceipt,
    pub work: Work,
    /// What of the supplier's cost is a language model's, at most.
    pub llm: Amount,
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

/// What a sale takes beside its settlement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    pub fetches: bool,
    /// A language model may be asked, where one is configured.
    pub asks_model: bool,
}

/// Judges a sale at `price`.
pub fn judge(app: &Shared, price: Amount, work: Work) -> Result<Judged, Unsold> {
    let gas_price = app.health.gas_price(app);
    let gas = gas(app, gas_price).ok_or(Unsold::GasUnknown)?;
    let llm = app.outside.llm.as_ref().filter(|_| work.asks_model);
    let llm = llm.map(Llm::cost_max).unwrap_or_default();
    let mut costs = app.config.guard.costs(gas, work.fetches);
    // What is too much for a number is too much for any sale.
    let supplier = costs.supplier.checked_add(llm);
    costs.supplier = supplier.unwrap_or(Amount::from_units(u64::MAX));
    let receipt = margin::judge(price, &costs, app.now()).map_err(Unsold::TooThin)?;
    Ok(Judged {
        receipt,
        work,
        llm,
        gas_price,
    })
}

/// What the gas of a settlement costs; `None` when it has to be known and is not.
pub fn gas(app: &Shared, gas_price: Option<GasPrice>) -> Option<Amount> {
    match app.config.guard.gas {
        Gas::Fixed(gas) => Some(gas),
        Gas::Live {
            settlement_gas,
            coin,
        } => gas_price.map(|price| price.settlement_cost(settlement_gas, coin)),
    }
}

/// Whether the guardian knows what it needs to judge anything.
pub fn can_judge(app: &Shared) -> bool {
    gas(app, app.health.gas_price(app)).is_some()
}
