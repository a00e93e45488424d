//! Results of settlement verification, and the sales that wait for it.

use std::collections::HashMap;
use std::sync::Mutex;

use tokio::sync::{Notify, oneshot};

use crate::domain::keys::PaymentKey;
use crate::domain::time::UnixSeconds;
use crate::outside::chain::ChainFinding;
use crate::store::{SettlementClaim, SettlementSummary};

/// What the checks have found so far, and the sales that wait for one.
#[derive(Debug, Default)]
pub struct SettlementChecks {
    pub waiting: Mutex<HashMap<PaymentKey, Waiting>>,
    pub woken: Notify,
    pub found: Mutex<Found>,
}

/// A sale that waits for the chain to show its settlement.
#[derive(Debug)]
pub struct Waiting {
    pub claim: SettlementClaim,
    pub tell: oneshot::Sender<ChainFinding>,
}

/// What the last looks have found.
#[derive(Debug, Default)]
pub struct Found {
    pub summary: SettlementSummary,
    pub trouble: Option<String>,
    pub checked_at: Option<UnixSeconds>,
    pub rechecked_at: UnixSeconds,
}
