//! The Unit Economic Guardian: judges a sale by its current cost. If a required gas price is unknown, there are no sales.

use crate::app::Shared;
use crate::config::{Coin, Gas};
use crate::domain::amount::Amount;
use crate::domain::code::Code;
use crate::domain::margin::{self, Costs, GasPrice, MarginReceipt, MarginRejected};
use crate::domain::payment::Means;
use crate::domain::purchase::Purchase;
use crate::domain::refusal::Refusal;
use crate::flows::content::{rendering, screenshot, source};
use crate::outside::llm::Llm;

/// An accepted sale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    pub receipt: MarginReceipt,
    pub work: Work,
    /// The language model's maximum share of the supplier cost.
    pub llm: Amount,
    /// From the chain, if chain.rpc_url is set.
    pub gas_price: Option<GasPrice>,
}

/// Why a sale is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsold {
    TooThin(MarginRejected),
    /// The settlement cost is currently unknown.
    GasUnknown,
}

/// The resources of a sale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Pages that may be fetched.
    pub fetches: usize,
    /// Those of them that a configured browser may open.
    pub renders: usize,
    /// Whether a configured language model may be called.
    pub asks_model: bool,
    /// Whether a settlement costs fees; not if the money has already arrived.
    pub settles: bool,
}

/// The Unit Economic Guardian, before any work.
pub fn check(app: &Shared, purchase: &Purchase, means: Means) -> Result<Judged, Refusal> {
    let reading = purchase.reading();
    let pages = purchase.target_urls();
    let fetched = pages.filter(|url| source::may_fetch(reading, url, &app.sample.url));
    let fetches = fetched.count();
    let renders = rendering::may_render(app, reading.render);
    let work = Work {
        fetches,
        renders: if renders { fetches } else { 0 }
            + usize::from(screenshot::may_take(app, purchase)),
        asks_model: app.outside.llm.is_some() && purchase.level().may_synthesize(),
        settles: means.is_settled_later(),
    };
    let price = purchase.price();
    judge(app, price, work).map_err(|unsold| {
        let reason = match unsold {
            Unsold::TooThin(_) => "too_thin",
            Unsold::GasUnknown => "gas_unknown",
        };
        app.metrics.margin_rejections.count([reason]);
        let message = match unsold {
            Unsold::TooThin(rejected) => format!(
                "At {price} USDC this sale would not cover its costs ({} USDC). {}.",
                rejected.needed,
                means.unused()
            ),
            Unsold::GasUnknown => format!(
                "The settlement cost is currently unknown, so sales are stopped. {}: try again in a minute.",
                means.unused()
            ),
        };
        Refusal::new(Code::MarginRejected, message)
    })
}

/// Judges a sale at `price`.
pub fn judge(app: &Shared, price: Amount, work: Work) -> Result<Judged, Unsold> {
    let gas_price = app
        .health
        .gas_price(app.now(), app.config.guard.gas_age_max)
        .filter(|_| work.settles);
    let llm = app.outside.llm.as_ref().filter(|_| work.asks_model);
    let llm = llm.map(Llm::cost_max).unwrap_or_default();
    let mut costs = costs(app, gas_price, work)?;
    // An overflow is too much for any sale.
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

fn costs(app: &Shared, gas_price: Option<GasPrice>, work: Work) -> Result<Costs, Unsold> {
    let guard = &app.config.guard;
    if work.settles {
        let gas = gas(app, gas_price).ok_or(Unsold::GasUnknown)?;
        return Ok(guard.costs(gas, work.fetches, work.renders));
    }
    Ok(Costs {
        facilitator_fee: Amount::ZERO,
        ..guard.costs(Amount::ZERO, work.fetches, work.renders)
    })
}

/// The gas cost of a settlement; `None` if it is required and unknown.
pub fn gas(app: &Shared, gas_price: Option<GasPrice>) -> Option<Amount> {
    match app.config.guard.gas {
        Gas::Fixed(gas) => Some(gas),
        Gas::Live {
            settlement_gas,
            coin,
        } => {
            let coin = match coin {
                Coin::Fixed(price) => price,
                Coin::Feed { .. } => app
                    .health
                    .coin_price(app.now(), app.config.guard.gas_age_max)?,
            };
            gas_price.map(|price| price.settlement_cost(settlement_gas, coin))
        }
    }
}
