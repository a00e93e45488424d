//! Payments with their credits: one record each, found by the payment's key, by a credit, or by the buyer's own
//! payment identifier.

use std::ops::Bound;

use redb::ReadableTable;
use sha2::{Digest, Sha256};

use crate::domain::evm::Address;
use crate::domain::ids::CreditId;
use crate::domain::keys::{CreditHash, IdentifierKey, PaymentKey};
use crate::domain::payment::{Delivery, Payment};
use crate::store::StoreError;
use crate::store::record::{decode, decode_as, encode_as, version};
use crate::store::tables::{CREDITS, IDENTIFIERS, PAYMENTS, Snapshot, Tables};

const TABLE: &str = "payments-1";
/// Since version 2 the record ends in what is known of its delivery.
const VERSION: u8 = 2;

pub(in crate::store) fn write(payment: &Payment) -> Result<Vec<u8>, StoreError> {
    encode_as(VERSION, &(payment, payment.delivery))
}

pub(in crate::store) fn read(bytes: &[u8]) -> Result<Payment, StoreError> {
    if version(bytes) == Some(1) {
        return decode(bytes, TABLE);
    }
    let (payment, delivery): (Payment, Delivery) = decode_as(VERSION, bytes, TABLE)?;
    Ok(Payment {
        delivery,
        ..payment
    })
}

/// What is stored of a credit: its holder proves it by the identifier itself.
pub fn credit_hash(credit: CreditId) -> CreditHash {
    CreditHash(Sha256::digest(credit.0).into())
}

/// The key of a buyer's `payment-identifier`: bound to the payer, so that nobody else's id is ever met.
pub fn identifier_key(payer: Address, identifier: &str) -> IdentifierKey {
    let mut hash = Sha256::new();
    hash.update(payer.0);
    hash.update(identifier);
    IdentifierKey(hash.finalize().into())
}

impl Tables<'_> {
    pub fn payment(&self, key: PaymentKey) -> Result<Option<Payment>, StoreError> {
        self.payments
            .get(key)?
            .map(|bytes| read(bytes.value()))
            .transpose()
    }

    pub fn put_payment(&mut self, key: PaymentKey, payment: &Payment) -> Result<(), StoreError> {
        self.payments.insert(key, write(payment)?.as_slice())?;
        Ok(())
    }

    /// Takes a payment out of the book.
    pub fn drop_payment(&mut self, key: PaymentKey) -> Result<(), StoreError> {
        self.payments.remove(key)?;
        Ok(())
    }

    pub fn put_credit(&mut self, hash: CreditHash, key: PaymentKey) -> Result<(), StoreError> {
        self.credits.insert(hash, key)?;
        Ok(())
    }

    pub fn drop_credit(&mut self, hash: CreditHash) -> Result<(), StoreError> {
        self.credits.remove(hash)?;
        Ok(())
    }

    pub fn put_identifier(
        &mut self,
        identifier: IdentifierKey,
        key: PaymentKey,
    ) -> Result<(), StoreError> {
        self.identifiers.insert(identifier, key)?;
        Ok(())
    }

    pub fn drop_identifier(&mut self, identifier: IdentifierKey) -> Result<(), StoreError> {
        self.identifiers.remove(identifier)?;
        Ok(())
    }
}

impl Snapshot {
    pub fn payment(&self, key: PaymentKey) -> Result<Option<Payment>, StoreError> {
        let table = self.table(PAYMENTS)?;
        let record = table.get(key)?;
        record.map(|bytes| read(bytes.value())).transpose()
    }

    pub fn payment_by_credit(&self, hash: CreditHash) -> Result<Option<PaymentKey>, StoreError> {
        Ok(self.table(CREDITS)?.get(hash)?.map(|key| key.value()))
    }

    pub fn payment_by_identifier(
        &self,
        identifier: IdentifierKey,
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
        let begin = after.map_or(Bound::Unbounded, Bound::Excluded);
        let table = self.table(PAYMENTS)?;
        let rows = table.range::<PaymentKey>((begin, Bound::Unbounded))?;
        let rows = rows.take(rows_max).map(|row| {
            let (key, bytes) = row?;
            Ok((key.value(), read(bytes.value())?))
        });
        rows.collect()
    }

    /// Every payment, in the order of their keys, for the operator's list.
    pub fn payments(
        &self,
        mut each: impl FnMut(PaymentKey, Payment) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        for row in self.table(PAYMENTS)?.iter()? {
            let (key, bytes) = row?;
            each(key.value(), read(bytes.value())?)?;
        }
        Ok(())
    }
}
