//! The simulated brokerage: an offer is judged, and forgotten.

use crate::app::Shared;
use crate::domain::brokerage::{Simulated, simulate};
use crate::domain::ids::JobId;
use crate::flows::sale::margin_guard;
use crate::outside::chance;

/// A task that will not be run.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    pub id: JobId,
    pub simulated: Simulated,
}

/// What would have become of a task for which this fee is offered: it costs what a sale costs that fetches.
pub fn offer(app: &Shared, offered_fee_usdc: f64) -> Job {
    let gas = margin_guard::gas(
        app,
        app.health
            .gas_price(app.now(), app.config.guard.gas_age_max),
    );
    let costs = app.config.guard.costs(gas.unwrap_or_default(), true);
    let mut simulated = simulate(offered_fee_usdc, &costs, app.now());
    // Nothing is sold while the cost of its settlement is not known.
    simulated.accepted &= gas.is_some();
    Job {
        id: JobId(chance::bytes()),
        simulated,
    }
}
