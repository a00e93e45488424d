//! The simulated brokerage: judges an offer and stores nothing.

use crate::app::Shared;
use crate::domain::brokerage::{Simulated, simulate};
use crate::domain::ids::JobId;
use crate::flows::sale::margin_guard;
use crate::outside::chance;

/// A task, which is never run.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    pub id: JobId,
    pub simulated: Simulated,
}

/// Judges a task with this fee: it costs as much as a sale with a fetch.
pub fn offer(app: &Shared, offered_fee_usdc: f64) -> Job {
    let gas = margin_guard::gas(
        app,
        app.health
            .gas_price(app.now(), app.config.guard.gas_age_max),
    );
    let costs = app.config.guard.costs(gas.unwrap_or_default(), 1, 0);
    let mut simulated = simulate(offered_fee_usdc, &costs, app.now());
    // No sales while the settlement cost is unknown.
    simulated.accepted &= gas.is_some();
    Job {
        id: JobId(chance::bytes()),
        simulated,
    }
}
