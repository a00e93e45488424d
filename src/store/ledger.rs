//! The operator's ledger: daily revenue on chain, its reconciliation with the receiving address, and whether sales are
//! paused.

use serde::{Deserialize, Serialize};

use crate::domain::payment::Payment;
use crate::domain::time::UnixSeconds;
use crate::store::StoreError;
use crate::store::record::{decode, encode};
use crate::store::tables::{Snapshot, Tables};

const LEDGER_TABLE: &str = "ledger-1";
const CHECKS_TABLE: &str = "reckonings-1";
const PAUSED_SINCE: &str = "paused-since";
/// Sources that one day tells apart; the rest share a line.
const SOURCES_MAX: usize = 100;
const OTHER_SOURCES: &str = "(others)";
const NO_SOURCE: &str = "(none)";

/// What one day (UTC) has earned, in USDC units.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerDay {
    pub sales: u64,
    pub revenue: u64,
    pub gas: u64,
    pub facilitator_fee: u64,
    pub supplier: u64,
    pub profit: u64,
    /// By what was sold: sales and units.
    pub levels: Vec<(String, u64, u64)>,
    /// By where the buyer came from.
    pub sources: Vec<(String, u64, u64)>,
}

/// One day's ledger compared with what the receiving address got on chain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerCheck {
    /// When it was made.
    pub at: u64,
    /// Settled by the ledger: how many payments, and their units.
    pub ledger_payments: u64,
    pub ledger_units: u64,
    /// Received on chain: how many transfers, and their units.
    pub received_transfers: u64,
    pub received_units: u64,
    /// Payments that the ledger has as settled and the chain does not show: keys in hex, the first few.
    pub missing: Vec<String>,
    pub missing_payments: u64,
    pub missing_units: u64,
    /// Received on chain for no payment of ours: somebody else's, or a sale that is not recorded.
    pub foreign_transfers: u64,
    pub foreign_units: u64,
    /// What the receiving address held when it was made.
    pub balance_units: u128,
}

impl LedgerCheck {
    /// Whether every payment of the ledger has arrived.
    pub fn is_balanced(&self) -> bool {
        self.missing_payments == 0
    }
}

impl Tables<'_> {
    /// Enters a payment that has just been settled.
    pub fn add_to_ledger(&mut self, payment: &Payment, now: UnixSeconds) -> Result<(), StoreError> {
        let day = now.day_number();
        let known: Option<LedgerDay> = self.ledger.record(day, LEDGER_TABLE)?;
        let mut entry = known.unwrap_or_default();
        entry.add(payment);
        self.ledger.insert(day, encode(&entry)?.as_slice())?;
        Ok(())
    }

    pub fn put_ledger_check(
        &mut self,
        day: u64,
        ledger_check: &LedgerCheck,
    ) -> Result<(), StoreError> {
        self.ledger_checks
            .insert(day, encode(ledger_check)?.as_slice())?;
        Ok(())
    }

    /// Notes since when nothing is sold; `None` when it is again.
    pub fn set_paused(&mut self, since: Option<UnixSeconds>) -> Result<(), StoreError> {
        match since {
            Some(since) => self.meta.insert(PAUSED_SINCE, since.0)?.map(drop),
            None => self.meta.remove(PAUSED_SINCE)?.map(drop),
        };
        Ok(())
    }
}

impl LedgerDay {
    fn add(&mut self, payment: &Payment) {
        let units = payment.amount_units;
        self.sales += 1;
        self.revenue = self.revenue.saturating_add(units);
        if let Some(answer) = &payment.answer {
            let margin = &answer.margin;
            self.gas = self.gas.saturating_add(margin.gas);
            self.facilitator_fee = self.facilitator_fee.saturating_add(margin.facilitator_fee);
            self.supplier = self.supplier.saturating_add(margin.supplier);
            self.profit = self.profit.saturating_add(margin.profit);
        }
        let level = payment.purchase.level();
        let level = format!("{} {}", level.product().name(), level.name());
        count(&mut self.levels, &level, units);
        let source = payment.attribution.as_deref().unwrap_or(NO_SOURCE);
        let is_known = self.sources.iter().any(|(name, ..)| name == source);
        let source = match is_known || self.sources.len() < SOURCES_MAX {
            true => source,
            false => OTHER_SOURCES,
        };
        count(&mut self.sources, source, units);
    }
}

fn count(lines: &mut Vec<(String, u64, u64)>, name: &str, units: u64) {
    match lines.iter_mut().find(|(known, ..)| known == name) {
        Some((_, sales, sum)) => {
            *sales += 1;
            *sum = sum.saturating_add(units);
        }
        None => lines.push((name.to_owned(), 1, units)),
    }
}

impl Snapshot {
    /// The newest days, newest first.
    pub fn ledger(&self, days_max: usize) -> Result<Vec<(u64, LedgerDay)>, StoreError> {
        let rows = self.ledger.iter()?.rev().take(days_max);
        rows.map(|row| {
            let (day, bytes) = row?;
            Ok((day.value(), decode(bytes.value(), LEDGER_TABLE)?))
        })
        .collect()
    }

    pub fn ledger_check(&self, day: u64) -> Result<Option<LedgerCheck>, StoreError> {
        self.ledger_checks.record(day, CHECKS_TABLE)
    }

    /// The newest days, newest first.
    pub fn ledger_checks(&self, days_max: usize) -> Result<Vec<(u64, LedgerCheck)>, StoreError> {
        let rows = self.ledger_checks.iter()?.rev().take(days_max);
        rows.map(|row| {
            let (day, bytes) = row?;
            Ok((day.value(), decode(bytes.value(), CHECKS_TABLE)?))
        })
        .collect()
    }

    pub fn paused_since(&self) -> Result<Option<UnixSeconds>, StoreError> {
        let since = self.meta.get(PAUSED_SINCE)?;
        Ok(since.map(|since| UnixSeconds(since.value())))
    }
}
