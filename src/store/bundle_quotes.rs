//! Receipts of quotes for bundles, retained 7 days like those of pages and reports. Those that were paid for do not
//! count toward the bound, and are whole for 7 days more.

use serde::{Deserialize, Serialize};

use crate::domain::bundle::Bundle;
use crate::domain::ids::BundleQuoteId;
use crate::domain::time::{QUOTE_SECONDS, UnixSeconds};
use crate::store::lazy_table::Transaction;
use crate::store::record::{decode, decode_as, encode, encode_as, version};
use crate::store::tables::{Records, Snapshot, Tables};
use crate::store::unpaid::row_bytes;
use crate::store::{Due, DueKind, Receipt, StoreError, Unpaid};

const TABLE: &str = "bundle-quotes-1";
/// How long an expired quote is still known as expired (410) before it is forgotten (404).
const TOMBSTONE_SECONDS: u64 = QUOTE_SECONDS;
/// The version of a tombstone.
const TOMBSTONE: u8 = 2;

/// A retained quote for a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundleQuoteRecord {
    pub bundle: Bundle,
    pub target_urls: Vec<String>,
    pub question: Option<String>,
    pub attribution: Option<String>,
    pub created_at: u64,
    pub expires_at: u64,
    /// When an order was paid for it.
    pub paid_at: Option<u64>,
}

impl BundleQuoteRecord {
    /// `open`, `expired` or `paid`.
    pub fn state(&self, now: UnixSeconds) -> &'static str {
        match (self.paid_at, self.is_expired(now)) {
            (Some(_), _) => "paid",
            (None, true) => "expired",
            (None, false) => "open",
        }
    }

    /// Whether its price holds no longer. A quote that was paid for does not expire.
    pub fn is_expired(&self, now: UnixSeconds) -> bool {
        self.paid_at.is_none() && now.0 >= self.expires_at
    }
}

fn read(bytes: &[u8]) -> Result<Receipt<BundleQuoteRecord>, StoreError> {
    match version(bytes) {
        Some(TOMBSTONE) => decode_as::<u64>(TOMBSTONE, bytes, TABLE)
            .map(|expires_at| Receipt::Expired { expires_at }),
        _ => decode(bytes, TABLE).map(Receipt::Whole),
    }
}

impl Receipt<BundleQuoteRecord> {
    fn is_paid(&self) -> bool {
        matches!(self, Receipt::Whole(quote) if quote.paid_at.is_some())
    }
}

impl<T: Transaction> Records<T> {
    pub fn bundle_quote(
        &self,
        id: BundleQuoteId,
    ) -> Result<Option<Receipt<BundleQuoteRecord>>, StoreError> {
        let found = self.bundle_quotes.get(id.0)?;
        found.map(|bytes| read(bytes.value())).transpose()
    }
}

impl Tables<'_> {
    /// Keeps a quote; the oldest make room for it. Tells whether it was kept: not where the disk has no room for quotes.
    pub fn put_bundle_quote(
        &mut self,
        id: BundleQuoteId,
        quote: &BundleQuoteRecord,
    ) -> Result<bool, StoreError> {
        let bytes = encode(quote)?;
        if !self.make_room(Unpaid::BundleQuotes, bytes.len())? {
            return Ok(false);
        }
        self.write_bundle_quote(id, &bytes)?;
        self.schedule(due(id, UnixSeconds(quote.expires_at)))?;
        Ok(true)
    }

    /// Writes a quote or a tombstone, and counts it unless it is paid for.
    fn write_bundle_quote(&mut self, id: BundleQuoteId, bytes: &[u8]) -> Result<(), StoreError> {
        self.remove_bundle_quote(id)?;
        self.bundle_quotes.insert(id.0, bytes)?;
        match read(bytes)?.is_paid() {
            true => Ok(()),
            false => self.add_unpaid(Unpaid::BundleQuotes, bytes.len()),
        }
    }

    fn remove_bundle_quote(&mut self, id: BundleQuoteId) -> Result<(), StoreError> {
        let removed = self.bundle_quotes.remove(id.0)?;
        let removed = removed.map(|bytes| (bytes.value().len(), read(bytes.value())));
        let Some((value, stored)) = removed else {
            return Ok(());
        };
        match stored?.is_paid() {
            true => Ok(()),
            false => self.take_unpaid(Unpaid::BundleQuotes, value),
        }
    }

    /// Notes that the quote was paid for, once. Nothing happens where it is forgotten or has expired.
    pub(in crate::store) fn pay_bundle_quote(
        &mut self,
        id: BundleQuoteId,
        now: UnixSeconds,
    ) -> Result<(), StoreError> {
        let Some(Receipt::Whole(mut quote)) = self.bundle_quote(id)? else {
            return Ok(());
        };
        quote.paid_at.get_or_insert(now.0);
        self.write_bundle_quote(id, &encode(&quote)?)
    }

    /// Works off a due row: an expired quote that nobody has paid for becomes a tombstone, and what is old goes.
    pub fn sweep_bundle_quote(&mut self, due_row: Due, now: UnixSeconds) -> Result<(), StoreError> {
        self.unschedule(due_row)?;
        let id = BundleQuoteId(due_row.id());
        let Some(stored) = self.bundle_quote(id)? else {
            return Ok(());
        };
        let expires_at = match &stored {
            Receipt::Whole(quote) => quote.expires_at,
            Receipt::Expired { expires_at } => *expires_at,
        };
        let gone_at = UnixSeconds(expires_at).plus(TOMBSTONE_SECONDS);
        if now >= gone_at {
            return self.remove_bundle_quote(id);
        }
        if !stored.is_paid() {
            self.write_bundle_quote(id, &encode_as(TOMBSTONE, &expires_at)?)?;
        }
        self.schedule(due(id, gone_at))
    }

    /// Lets the oldest go that nobody has paid for. Tells whether there was one.
    pub(in crate::store) fn evict_bundle_quote(&mut self) -> Result<bool, StoreError> {
        let mut after = None;
        while let Some(due_row) = self.next_due(DueKind::BundleQuote, after)? {
            let id = BundleQuoteId(due_row.id());
            let is_paid = self
                .bundle_quote(id)?
                .is_some_and(|stored| stored.is_paid());
            if !is_paid {
                self.unschedule(due_row)?;
                self.remove_bundle_quote(id)?;
                return Ok(true);
            }
            after = Some(due_row);
        }
        Ok(false)
    }

    /// Counts the quotes of a file from before they were counted, and has them looked at when they expire.
    pub(in crate::store) fn count_bundle_quotes(&mut self) -> Result<u64, StoreError> {
        let (mut bytes, mut whole) = (0, Vec::new());
        for row in self.bundle_quotes.iter()? {
            let (id, value) = row?;
            let stored = read(value.value())?;
            if !stored.is_paid() {
                bytes += row_bytes(value.value().len());
            }
            if let Receipt::Whole(quote) = stored {
                whole.push((BundleQuoteId(id.value()), UnixSeconds(quote.expires_at)));
            }
        }
        for (id, expires_at) in whole {
            self.unschedule(due(id, expires_at.plus(TOMBSTONE_SECONDS)))?;
            self.schedule(due(id, expires_at))?;
        }
        Ok(bytes)
    }
}

impl Snapshot {
    pub fn bundle_quotes_count(&self) -> Result<u64, StoreError> {
        self.bundle_quotes.len()
    }
}

fn due(id: BundleQuoteId, at: UnixSeconds) -> Due {
    Due::of_id(DueKind::BundleQuote, id.0, at)
}
