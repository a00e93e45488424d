//! Settlements by their verification: reported but unconfirmed, contradicted, abandoned; and overpayments of transfers.

use serde::{Deserialize, Serialize};

use crate::domain::evm::{self, Address, Nonce};
use crate::domain::keys::PaymentKey;
use crate::domain::time::UnixSeconds;
use crate::store::StoreError;
use crate::store::lazy_table::Transaction;
use crate::store::record::{decode, encode};
use crate::store::tables::{Records, Snapshot, Tables};

const UNVERIFIED_TABLE: &str = "unverified-settlements-1";
const DISCREPANCIES_TABLE: &str = "settlement-discrepancies-1";
const OVERPAYMENTS_TABLE: &str = "overpayments-1";

/// What the facilitator has said of a settlement, with all that is needed to look it up on chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettlementClaim {
    /// The EVM chain id.
    pub network: u64,
    #[serde(with = "evm::bytes")]
    pub token: Address,
    #[serde(with = "evm::bytes")]
    pub pay_to: Address,
    #[serde(with = "evm::bytes")]
    pub payer: Address,
    #[serde(with = "evm::bytes")]
    pub nonce: Nonce,
    pub amount_units: u64,
    pub valid_before: u64,
    /// When the payment was first seen, in Unix seconds.
    pub since: u64,
    /// The transaction that the facilitator has named.
    pub transaction: String,
    /// When it said so, in Unix seconds.
    pub reported_at: u64,
}

/// A claim that waits for the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnverifiedSettlement {
    pub next_look: u64,
    pub key: PaymentKey,
    pub claim: SettlementClaim,
}

/// How the chain contradicts a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Difference {
    /// The payment is not on chain; the reason is a word for operators.
    NotOnChain { reason: String },
    /// The payment is on chain, by another transaction than the one that was named.
    OtherTransaction { transaction: String },
}

/// A contradiction between the facilitator and the chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discrepancy {
    pub claim: SettlementClaim,
    pub difference: Difference,
    /// When it was found, in Unix seconds.
    pub found_at: u64,
    /// When it was last looked at, in Unix seconds.
    pub looked_at: u64,
}

impl Discrepancy {
    /// Whether the money is missing.
    pub fn is_missing(&self) -> bool {
        matches!(self.difference, Difference::NotOnChain { .. })
    }
}

/// What a transfer brought beyond the price of what it bought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overpayment {
    pub units: u64,
    /// When the sale was made, in Unix seconds.
    pub at: u64,
}

/// How the reported settlements compare with the chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SettlementSummary {
    pub unverified: u64,
    /// When the facilitator reported the oldest of them.
    pub oldest_reported_at: Option<u64>,
    /// Settlements that are not on chain, all of them.
    pub missing: u64,
    pub missing_units: u64,
    /// Those that were found since a given moment.
    pub missing_lately: u64,
}

impl<T: Transaction> Records<T> {
    pub fn discrepancy(&self, key: PaymentKey) -> Result<Option<Discrepancy>, StoreError> {
        self.discrepancies.record(key, DISCREPANCIES_TABLE)
    }

    /// Since when the background no longer looks for this settlement's end.
    pub fn abandoned_at(&self, key: PaymentKey) -> Result<Option<UnixSeconds>, StoreError> {
        let at = self.abandoned.get(key)?;
        Ok(at.map(|at| UnixSeconds(at.value())))
    }
}

impl Tables<'_> {
    /// Enters a settlement that is to be looked up at `next_look`.
    pub fn put_unverified(&mut self, row: &UnverifiedSettlement) -> Result<(), StoreError> {
        let key = (row.next_look, row.key);
        self.unverified_settlements
            .insert(key, encode(&row.claim)?.as_slice())?;
        Ok(())
    }

    pub fn drop_unverified(&mut self, row: &UnverifiedSettlement) -> Result<(), StoreError> {
        self.unverified_settlements
            .remove((row.next_look, row.key))?;
        Ok(())
    }

    pub fn put_discrepancy(
        &mut self,
        key: PaymentKey,
        discrepancy: &Discrepancy,
    ) -> Result<(), StoreError> {
        self.discrepancies
            .insert(key, encode(discrepancy)?.as_slice())?;
        Ok(())
    }

    pub fn drop_discrepancy(&mut self, key: PaymentKey) -> Result<(), StoreError> {
        self.discrepancies.remove(key)?;
        Ok(())
    }

    /// Notes that the background no longer looks for the end of an unknown settlement.
    pub fn abandon(&mut self, key: PaymentKey, now: UnixSeconds) -> Result<(), StoreError> {
        self.abandoned.insert(key, now.0)?;
        Ok(())
    }

    /// Its end is known after all.
    pub fn drop_abandoned(&mut self, key: PaymentKey) -> Result<(), StoreError> {
        self.abandoned.remove(key)?;
        Ok(())
    }

    pub fn drop_overpayment(&mut self, key: PaymentKey) -> Result<(), StoreError> {
        self.overpayments.remove(key)?;
        Ok(())
    }

    pub fn put_overpayment(
        &mut self,
        key: PaymentKey,
        overpayment: Overpayment,
    ) -> Result<(), StoreError> {
        self.overpayments
            .insert(key, encode(&overpayment)?.as_slice())?;
        Ok(())
    }
}

impl Snapshot {
    /// Settlements that are to be looked up by `now`, those that wait longest first, at most `rows_max`.
    pub fn unverified(
        &self,
        now: UnixSeconds,
        rows_max: usize,
    ) -> Result<Vec<UnverifiedSettlement>, StoreError> {
        let rows = self
            .unverified_settlements
            .range((0, PaymentKey::LEAST)..=(now.0, PaymentKey::GREATEST))?;
        let rows = rows.take(rows_max).map(|row| {
            let (key, bytes) = row?;
            let (next_look, key) = key.value();
            Ok(UnverifiedSettlement {
                next_look,
                key,
                claim: decode(bytes.value(), UNVERIFIED_TABLE)?,
            })
        });
        rows.collect()
    }

    /// The payments whose settlement waits for the chain, at most `rows_max`.
    pub fn unverified_keys(&self, rows_max: usize) -> Result<Vec<PaymentKey>, StoreError> {
        let rows = self.unverified_settlements.iter()?.take(rows_max);
        rows.map(|row| Ok(row?.0.value().1)).collect()
    }

    /// Discrepancies in the order of their keys, at most `rows_max`.
    pub fn discrepancies(
        &self,
        rows_max: usize,
    ) -> Result<Vec<(PaymentKey, Discrepancy)>, StoreError> {
        self.discrepancies
            .records_after(DISCREPANCIES_TABLE, None, rows_max)
    }

    /// Settlements that were given up, each with the Unix seconds at which; at most `rows_max`.
    pub fn abandoned(&self, rows_max: usize) -> Result<Vec<(PaymentKey, u64)>, StoreError> {
        let rows = self.abandoned.iter()?.take(rows_max);
        rows.map(|row| {
            let (key, at) = row?;
            Ok((key.value(), at.value()))
        })
        .collect()
    }

    pub fn overpayment(&self, key: PaymentKey) -> Result<Option<Overpayment>, StoreError> {
        self.overpayments.record(key, OVERPAYMENTS_TABLE)
    }

    /// Overpayments in the order of their keys, at most `rows_max`.
    pub fn overpayments(
        &self,
        rows_max: usize,
    ) -> Result<Vec<(PaymentKey, Overpayment)>, StoreError> {
        self.overpayments
            .records_after(OVERPAYMENTS_TABLE, None, rows_max)
    }

    /// The reported settlements beside the chain; `lately` is the moment from which discrepancies count as recent. At
    /// most `rows_max` rows of each table are read.
    pub fn settlement_summary(
        &self,
        lately: UnixSeconds,
        rows_max: usize,
    ) -> Result<SettlementSummary, StoreError> {
        let table = &self.unverified_settlements;
        let mut summary = SettlementSummary {
            unverified: table.len()?,
            ..SettlementSummary::default()
        };
        for row in table.iter()?.take(rows_max) {
            let claim: SettlementClaim = decode(row?.1.value(), UNVERIFIED_TABLE)?;
            let oldest = summary.oldest_reported_at.unwrap_or(u64::MAX);
            summary.oldest_reported_at = Some(oldest.min(claim.reported_at));
        }
        for (_, discrepancy) in self.discrepancies(rows_max)? {
            if discrepancy.is_missing() {
                summary.missing += 1;
                summary.missing_units = summary
                    .missing_units
                    .saturating_add(discrepancy.claim.amount_units);
                summary.missing_lately += u64::from(discrepancy.found_at >= lately.0);
            }
        }
        Ok(summary)
    }
}
