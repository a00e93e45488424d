//! Payments with their credits: one record each, found by the payment's key, by a credit, or by the buyer's own
//! payment identifier.

use redb::ReadableTable;
use sha2::{Digest, Sha256};

use crate::domain::ids::CreditId;
use crate::domain::payment::{Payment, PaymentKey};
use crate::store::StoreError;
use crate::store::record::{decode, encode};
use crate::store::tables::{CREDITS, IDENTIFIERS, PAYMENTS, Snapshot, Tables};

const TABLE: &str = "payments-1";

/// What is stored of a credit: its holder proves it by the identifier itself.
pub fn credit_hash(credit: CreditId) -> [u8; 32] {
    Sha256::digest(credit.0).into()
}

/// The key of a buyer's `payment-identifier`: bound to the payer, so that nobody else's id is ever met.
pub fn identifier_key(payer: [u8; 20], identifier: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(payer);
    hash.update(identifier);
    hash.finalize().into()
}

impl Tables<'_> {
    pub fn payment(&self, key: PaymentKey) -> Result<Option<Payment>, StoreError> {
        self.payments
            .get(key)?
            .map(|bytes| decode(bytes.value(), TABLE))
            .transpose()
    }

    pub fn put_payment(&mut self, key: PaymentKey, payment: &Payment) -> Result<(), StoreError> {
        self.payments.insert(key, encode(payment)?.as_slice())?;
        Ok(())
    }

    /// Takes a payment out of the book.
    pub fn drop_payment(&mut self, key: PaymentKey) -> Result<(), StoreError> {
        self.payments.remove(key)?;
        Ok(())
    }

    pub fn put_credit(&mut self, hash: [u8; 32], key: PaymentKey) -> Result<(), StoreError> {
        self.credits.insert(hash, key)?;
        Ok(())
    }

    pub fn drop_credit(&mut self, hash: [u8; 32]) -> Result<(), StoreError> {
        self.credits.remove(hash)?;
        Ok(())
    }

    pub fn put_identifier(
        &mut self,
        identifier: [u8; 32],
        key: PaymentKey,
    ) -> Result<(), StoreError> {
        self.identifiers.insert(identifier, key)?;
        Ok(())
    }

    pub fn drop_identifier(&mut self, identifier: [u8; 32]) -> Result<(), StoreError> {
        self.identifiers.remove(identifier)?;
        Ok(())
    }
}

impl Snapshot {
    pub fn payment(&self, key: PaymentKey) -> Result<Option<Payment>, StoreError> {
        let table = self.table(PAYMENTS)?;
        let record = table.get(key)?;
        record.map(|bytes| decode(bytes.value(), TABLE)).transpose()
    }

    pub fn payment_by_credit(&self, hash: [u8; 32]) -> Result<Option<PaymentKey>, StoreError> {
        Ok(self.table(CREDITS)?.get(hash)?.map(|key| key.value()))
    }

    pub fn payment_by_identifier(
        &self,
        identifier: [u8; 32],
    ) -> Result<Option<PaymentKey>, StoreError> {
        Ok(self
            .table(IDENTIFIERS)?
            .get(identifier)?
            .map(|key| key.value()))
    }

    /// The payments after one, in the order of their keys.
    pub fn payments_after(
        &self,
        after: Option<PaymentKey>,
        rows_max: usize,
    ) -> Result<Vec<(PaymentKey, Payment)>, StoreError> {
        self.records_after((PAYMENTS, TABLE), after, rows_max)
    }

    /// Every payment, in the order of their keys, for the operator's list.
    pub fn payments(
        &self,
        mut each: impl FnMut(PaymentKey, Payment) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        for row in self.table(PAYMENTS)?.iter()? {
            let (key, bytes) = row?;
            each(key.value(), decode(bytes.value(), TABLE)?)?;
        }
        Ok(())
    }
}
