//! Payments with their credits: one record each, found by the payment's key, by a credit, or by the buyer's own
//! payment identifier.
//!
//! Records and due rows lie in the order in which payments arrive: payments that are written at the same time share
//! pages, where each would write pages of its own under its key, which is a hash. Only the key's row, which leads to the
//! place, lies anywhere, and is written once. A record moves to the table of those that are like it: what is short does not
//! stay where it was long.

use std::ops::Bound;

use redb::{AccessGuard, TableHandle as _, WriteTransaction};
use sha2::{Digest, Sha256};

use crate::domain::evm::Address;
use crate::domain::ids::CreditId;
use crate::domain::keys::{CreditHash, IdentifierKey, PaymentKey};
use crate::domain::payment::{Delivery, Payment};
use crate::domain::time::UnixSeconds;
use crate::store::lazy_table::{LazyTable, Transaction};
use crate::store::record::{decode, decode_as, encode_as, version};
use crate::store::tables::{Hash, META, Records, Snapshot, Tables};
use crate::store::{Due, DueKind, StoreError};

const TABLE: &str = "payments";
/// Since version 2 the record ends in what is known of its delivery, since version 3 it begins with the key.
const VERSION: u8 = 3;
/// Places that were given out.
const PLACED: &str = "payments-placed";

/// What is still needed of a payment, which says in which table its record lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Open,
    Answered,
    Ended,
}

impl Stage {
    const ALL: [Stage; 3] = [Stage::Open, Stage::Answered, Stage::Ended];

    fn of(payment: &Payment) -> Stage {
        match (payment.payload.is_empty(), &payment.answer) {
            (false, _) => Stage::Open,
            (true, Some(_)) => Stage::Answered,
            (true, None) => Stage::Ended,
        }
    }
}

pub(in crate::store) fn write(key: PaymentKey, payment: &Payment) -> Result<Vec<u8>, StoreError> {
    encode_as(VERSION, &(key, payment, payment.delivery))
}

pub(in crate::store) fn read(bytes: &[u8]) -> Result<(PaymentKey, Payment), StoreError> {
    let (key, payment, delivery): (PaymentKey, Payment, Delivery) =
        decode_as(VERSION, bytes, TABLE)?;
    let payment = Payment {
        delivery,
        ..payment
    };
    Ok((key, payment))
}

/// A record of a file of schema 1.
pub(in crate::store) fn read_keyed(bytes: &[u8]) -> Result<Payment, StoreError> {
    if version(bytes) == Some(1) {
        return decode(bytes, TABLE);
    }
    let (payment, delivery): (Payment, Delivery) = decode_as(2, bytes, TABLE)?;
    Ok(Payment {
        delivery,
        ..payment
    })
}

/// Bits of a place in its row; the others are its checksum.
const PLACE_BITS: u32 = 40;

/// A place as its row has it, with a checksum: a flipped bit must not lead to another payment, or to none.
fn sealed(key: PaymentKey, place: u64) -> u64 {
    let mut hash = Sha256::new();
    hash.update(key.0);
    hash.update(place.to_be_bytes());
    let hash: [u8; 32] = hash.finalize().into();
    let sum = hash.first_chunk().map_or(0, |sum| u64::from_be_bytes(*sum));
    sum << PLACE_BITS | place
}

fn unsealed(key: PaymentKey, row: u64) -> Result<u64, StoreError> {
    let place = row & ((1 << PLACE_BITS) - 1);
    match sealed(key, place) == row {
        true => Ok(place),
        false => Err(StoreError::Damaged {
            table: "payment-places",
        }),
    }
}

/// The payment found at the place that a key leads to.
fn of_key(
    key: PaymentKey,
    found: Option<(PaymentKey, Payment)>,
) -> Result<Option<Payment>, StoreError> {
    match found {
        Some((other, _)) if other != key => Err(StoreError::Damaged { table: TABLE }),
        found => Ok(found.map(|(_, payment)| payment)),
    }
}

/// Whether there was an earlier record, which must be of this payment: its key stands behind the version.
fn is_record_of(
    key: PaymentKey,
    earlier: Option<AccessGuard<'_, &'static [u8]>>,
) -> Result<bool, StoreError> {
    match earlier {
        None => Ok(false),
        Some(earlier) if earlier.value().get(1..=key.0.len()) == Some(&key.0[..]) => Ok(true),
        Some(_) => Err(StoreError::Damaged { table: TABLE }),
    }
}

/// What a due row of a payment has for a key.
fn due_key(place: u64) -> Hash {
    let mut key = [0; 32];
    key[24..].copy_from_slice(&place.to_be_bytes());
    key
}

fn place_of(due: Due) -> u64 {
    due.key
        .last_chunk()
        .map_or(0, |place| u64::from_be_bytes(*place))
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

impl<T: Transaction> Records<T> {
    fn payments_of_all_stages(&self) -> [&LazyTable<T, u64, &'static [u8]>; 3] {
        [
            &self.open_payments,
            &self.answered_payments,
            &self.ended_payments,
        ]
    }

    pub(in crate::store) fn known_place(&self, key: PaymentKey) -> Result<Option<u64>, StoreError> {
        if let Some((placed, place)) = self.placed.get()
            && placed == key
        {
            return Ok(Some(place));
        }
        let row = self.payment_places.get(key)?.map(|row| row.value());
        let place = row.map(|row| unsealed(key, row)).transpose()?;
        self.placed.set(place.map(|place| (key, place)));
        Ok(place)
    }

    pub fn payment(&self, key: PaymentKey) -> Result<Option<Payment>, StoreError> {
        match self.known_place(key)? {
            Some(place) => of_key(key, self.payment_at(place)?),
            None => Ok(None),
        }
    }

    fn payment_at(&self, place: u64) -> Result<Option<(PaymentKey, Payment)>, StoreError> {
        for table in self.payments_of_all_stages() {
            if let Some(bytes) = table.get(place)? {
                return read(bytes.value()).map(Some);
            }
        }
        Ok(None)
    }

    /// The payment of a due row.
    pub fn payment_of(&self, due: Due) -> Result<Option<(PaymentKey, Payment)>, StoreError> {
        let place = place_of(due);
        let found = self.payment_at(place)?;
        if let Some((key, _)) = &found {
            self.placed.set(Some((*key, place)));
        }
        Ok(found)
    }

    /// Every payment, in no order.
    pub fn payments(
        &self,
        mut each: impl FnMut(PaymentKey, Payment) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        for table in self.payments_of_all_stages() {
            for row in table.iter()? {
                let (key, payment) = read(row?.1.value())?;
                each(key, payment)?;
            }
        }
        Ok(())
    }
}

impl<'txn> Tables<'txn> {
    fn payments_at(
        &mut self,
        stage: Stage,
    ) -> &mut LazyTable<&'txn WriteTransaction, u64, &'static [u8]> {
        match stage {
            Stage::Open => &mut self.open_payments,
            Stage::Answered => &mut self.answered_payments,
            Stage::Ended => &mut self.ended_payments,
        }
    }

    /// The place of a payment in the order of arrival; one that has none gets the next. No place is given out twice.
    pub(in crate::store) fn place(&mut self, key: PaymentKey) -> Result<u64, StoreError> {
        if let Some(place) = self.known_place(key)? {
            return Ok(place);
        }
        let place = self.fact(PLACED)?.saturating_add(1);
        if place >> PLACE_BITS != 0 {
            return Err(StoreError::Damaged { table: META.name() });
        }
        self.set_fact(PLACED, place)?;
        self.payment_places.insert(key, sealed(key, place))?;
        self.placed.set(Some((key, place)));
        Ok(place)
    }

    /// # Errors
    /// [`StoreError::Damaged`] where the record of another payment lies at this one's place.
    pub fn put_payment(&mut self, key: PaymentKey, payment: &Payment) -> Result<(), StoreError> {
        let (place, stage) = (self.place(key)?, Stage::of(payment));
        let record = write(key, payment)?;
        let earlier = self.payments_at(stage).insert(place, record.as_slice())?;
        if is_record_of(key, earlier)? {
            return Ok(());
        }
        for other in Stage::ALL.into_iter().filter(|other| *other != stage) {
            let earlier = self.payments_at(other).remove(place)?;
            if is_record_of(key, earlier)? {
                break;
            }
        }
        Ok(())
    }

    /// Deletes the record of a payment.
    pub fn drop_payment(&mut self, key: PaymentKey) -> Result<(), StoreError> {
        let Some(place) = self.known_place(key)? else {
            return Ok(());
        };
        self.placed.set(None);
        self.payment_places.remove(key)?;
        for stage in Stage::ALL {
            self.payments_at(stage).remove(place)?;
        }
        Ok(())
    }

    /// Lets a payment be looked at.
    pub fn schedule_payment(&mut self, at: UnixSeconds, key: PaymentKey) -> Result<(), StoreError> {
        self.schedule_of_payment(DueKind::Payment, at, key)
    }

    pub(in crate::store) fn schedule_of_payment(
        &mut self,
        kind: DueKind,
        at: UnixSeconds,
        key: PaymentKey,
    ) -> Result<(), StoreError> {
        let key = due_key(self.place(key)?);
        self.schedule(Due { at, kind, key })
    }

    /// Takes back that a payment is looked at.
    pub fn unschedule_payment(
        &mut self,
        at: UnixSeconds,
        key: PaymentKey,
    ) -> Result<(), StoreError> {
        let Some(place) = self.known_place(key)? else {
            return Ok(());
        };
        let (kind, key) = (DueKind::Payment, due_key(place));
        self.unschedule(Due { at, kind, key })
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
    pub fn payment_by_credit(&self, hash: CreditHash) -> Result<Option<PaymentKey>, StoreError> {
        Ok(self.credits.get(hash)?.map(|key| key.value()))
    }

    pub fn payment_by_identifier(
        &self,
        identifier: IdentifierKey,
    ) -> Result<Option<PaymentKey>, StoreError> {
        Ok(self.identifiers.get(identifier)?.map(|key| key.value()))
    }

    /// The payments after one, in the order of their keys.
    pub fn payments_after(
        &self,
        after: Option<PaymentKey>,
        rows_max: usize,
    ) -> Result<Vec<(PaymentKey, Payment)>, StoreError> {
        let begin = after.map_or(Bound::Unbounded, Bound::Excluded);
        let rows = self
            .payment_places
            .range::<PaymentKey>((begin, Bound::Unbounded))?;
        let rows = rows.map(|row| {
            let (key, row) = row?;
            let (key, place) = (key.value(), unsealed(key.value(), row.value())?);
            let payment = of_key(key, self.payment_at(place)?)?;
            Ok(payment.map(|payment| (key, payment)))
        });
        // A place that is due has no record yet.
        let rows = rows.filter_map(Result::transpose);
        rows.take(rows_max).collect()
    }
}
