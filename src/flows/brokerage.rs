//! The simulated brokerage: an offer is judged, and forgotten.

use crate::app::Shared;
use crate::domain::brokerage::{Simulated, simulate};
use crate::domain::ids::JobId;
use crate::outside::chance;

/// A task that will not be run.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    pub id: JobId,
    pub simulated: Simulated,
}

/// What would have become of a task for which this fee is offered: it costs what a sale costs that fetches.
pub fn offer(app: &Shared, offered_fee_usdc: f64) -> Job {
    let costs = app.config.guard.costs(true);
    Job {
        id: JobId(chance::bytes()),
        simulated: simulate(offered_fee_usdc, &costs, app.now()),
    }
}
