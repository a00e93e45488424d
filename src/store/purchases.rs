//! What each payer has bought: an index of settled payments, for the payer who signs in. A row is written in the
//! transaction that settles the payment, and goes after 30 days; the payment's own record stays.

use sha2::{Digest, Sha256};

use crate::domain::evm::Address;
use crate::domain::ids::PurchaseId;
use crate::domain::keys::PaymentKey;
use crate::domain::payment::{Payment, State};
use crate::domain::time::{PURCHASE_SECONDS, UnixSeconds};
use crate::store::tables::{Snapshot, Tables};
use crate::store::{Due, DueKind, StoreError};

/// Whether the payments of a file from before the index are in it.
const INDEXED: &str = "purchases-indexed";
/// Bytes of an identifier that are the time of settlement.
const TIME_BYTES: usize = 6;

/// A row of the index.
#[derive(Clone, Debug, PartialEq)]
pub struct BoughtPayment {
    pub id: PurchaseId,
    pub key: PaymentKey,
    pub payment: Payment,
}

/// The identifier of a settled payment's purchase: the time of settlement, so that identifiers sort by it, and a hash of the
/// key. It opens nothing by itself. `None` unless the payment is settled.
pub fn purchase_id(key: PaymentKey, payment: &Payment) -> Option<PurchaseId> {
    let State::Settled { at, .. } = payment.state else {
        return None;
    };
    let mut hash = Sha256::new();
    hash.update(b"context402 purchase 1");
    hash.update(key.0);
    let hash: [u8; 32] = hash.finalize().into();
    let mut id = [0; 16];
    let (time, rest) = id.split_at_mut(TIME_BYTES);
    time.copy_from_slice(&at.to_be_bytes()[size_of::<u64>() - TIME_BYTES..]);
    rest.copy_from_slice(&hash[..16 - TIME_BYTES]);
    Some(PurchaseId(id))
}

/// When a payment's row goes; `None` unless it is settled.
fn end(payment: &Payment) -> Option<UnixSeconds> {
    match payment.state {
        State::Settled { at, .. } => Some(UnixSeconds(at).plus(PURCHASE_SECONDS)),
        _ => None,
    }
}

impl Tables<'_> {
    /// Lists a payment among its payer's purchases, for 30 days from its settlement. One that is not settled is not listed.
    pub fn list_purchase(&mut self, key: PaymentKey, payment: &Payment) -> Result<(), StoreError> {
        let (Some(id), Some(end)) = (purchase_id(key, payment), end(payment)) else {
            return Ok(());
        };
        self.purchases.insert((payment.payer.0, id.0), key)?;
        self.schedule_of_payment(DueKind::Purchase, end, key)
    }

    /// Works off a due row: the purchase is listed no longer.
    pub fn sweep_purchase(&mut self, due: Due) -> Result<(), StoreError> {
        self.unschedule(due)?;
        if let Some((key, payment)) = self.payment_of(due)?
            && let Some(id) = purchase_id(key, &payment)
        {
            self.purchases.remove((payment.payer.0, id.0))?;
        }
        Ok(())
    }

    /// Lists the purchases of a file from before they were listed, once: those of the 30 days before the newest.
    pub(in crate::store) fn list_older_purchases(&mut self) -> Result<(), StoreError> {
        if self.meta.get(INDEXED)?.is_some() {
            return Ok(());
        }
        let mut settled = Vec::new();
        self.payments(|key, payment| {
            if let (Some(id), Some(end)) = (purchase_id(key, &payment), end(&payment)) {
                settled.push((payment.payer, id, key, end));
            }
            Ok(())
        })?;
        let newest = settled.iter().map(|(.., end)| *end).max();
        let oldest = newest.map_or(0, |end| end.0.saturating_sub(PURCHASE_SECONDS));
        for (payer, id, key, end) in settled {
            if end.0 > oldest {
                self.purchases.insert((payer.0, id.0), key)?;
                self.schedule_of_payment(DueKind::Purchase, end, key)?;
            }
        }
        self.set_fact(INDEXED, 1)
    }
}

impl Snapshot {
    /// A payer's purchases that were settled after `since`, newest first, at most `rows_max`; only those before another
    /// one, if it is named.
    pub fn purchases(
        &self,
        payer: Address,
        before: Option<PurchaseId>,
        since: UnixSeconds,
        rows_max: usize,
    ) -> Result<Vec<BoughtPayment>, StoreError> {
        let last = before.map_or([u8::MAX; 16], |before| before.0);
        let rows = self.purchases.range((payer.0, [0; 16])..(payer.0, last))?;
        let mut found = Vec::new();
        for row in rows.rev().take(rows_max) {
            let (id, key) = row?;
            let (id, key) = (PurchaseId(id.value().1), key.value());
            match self.bought(payer, id, key, since)? {
                Some(bought) => found.push(bought),
                // The rows before it are older still.
                None => break,
            }
        }
        Ok(found)
    }

    /// One purchase of a payer that was settled after `since`.
    pub fn purchase(
        &self,
        payer: Address,
        id: PurchaseId,
        since: UnixSeconds,
    ) -> Result<Option<BoughtPayment>, StoreError> {
        let key = self.purchases.get((payer.0, id.0))?;
        match key.map(|key| key.value()) {
            Some(key) => self.bought(payer, id, key, since),
            None => Ok(None),
        }
    }

    fn bought(
        &self,
        payer: Address,
        id: PurchaseId,
        key: PaymentKey,
        since: UnixSeconds,
    ) -> Result<Option<BoughtPayment>, StoreError> {
        let payment = self.payment(key)?;
        let payment = payment.filter(|payment| {
            let is_recent = matches!(payment.state, State::Settled { at, .. } if at > since.0);
            is_recent && payment.payer == payer
        });
        Ok(payment.map(|payment| BoughtPayment { id, key, payment }))
    }
}
