//! Quote receipts: what was quoted, retained 7 days within a bound in bytes, the oldest leaving
//! first. An expired one leaves a tombstone of its identifier and its end. Quotes for bundles lie in a table of
//! their own: those that were paid for do not count toward the bound, and are whole for 7 days more.

use serde::{Deserialize, Serialize};

use crate::domain::ids::{BundleQuoteId, QuoteId};
use crate::domain::purchase::{Choices, ContextPurchase, Purchase};
use crate::domain::tier::Tier;
use crate::domain::time::{QUOTE_SECONDS, UnixSeconds};
use crate::store::lazy_table::{LazyTable, Transaction};
use crate::store::record::{decode, decode_as, encode, encode_as, version};
use crate::store::tables::{Records, Snapshot, Tables};
use crate::store::unpaid::row_bytes;
use crate::store::{BundleQuoteRecord, Due, DueKind, StoreError, Unpaid, bundle_quotes};

const TABLE: &str = "quotes-1";
/// How long an expired quote is still known as expired (410) before it is forgotten (404).
const TOMBSTONE_SECONDS: u64 = QUOTE_SECONDS;

/// Version 1 knew pages alone.
const VERSION: u8 = 2;
const TOMBSTONE: u8 = 3;

/// What is stored under a quote's identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Receipt<T> {
    Whole(T),
    /// Its days are over; nothing else is known of it.
    Expired {
        expires_at: u64,
    },
}

impl<T> Receipt<T> {
    fn map<U>(self, facts: impl FnOnce(T) -> U) -> Receipt<U> {
        match self {
            Receipt::Whole(quote) => Receipt::Whole(facts(quote)),
            Receipt::Expired { expires_at } => Receipt::Expired { expires_at },
        }
    }
}

/// A retained quote: what would be bought, and for how much.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuoteRecord {
    #[serde(with = "crate::domain::purchase::record")]
    pub purchase: Purchase,
    pub amount_units: u64,
    /// Hex SHA-256 of the page's markdown, when we knew it.
    pub content_sha256: Option<String>,
    pub attribution: Option<String>,
    pub created_at: u64,
    pub expires_at: u64,
}

/// A quote as version 1 wrote it.
#[derive(Serialize, Deserialize)]
struct PageQuote {
    target_url: String,
    recommended_tier: Tier,
    amount_units: u64,
    content_sha256: Option<String>,
    attribution: Option<String>,
    created_at: u64,
    expires_at: u64,
}

impl From<PageQuote> for QuoteRecord {
    fn from(quote: PageQuote) -> Self {
        QuoteRecord {
            purchase: Purchase::Context(ContextPurchase {
                target_url: quote.target_url,
                tier: quote.recommended_tier,
                choices: Choices::default(),
                excerpt: None,
            }),
            amount_units: quote.amount_units,
            content_sha256: quote.content_sha256,
            attribution: quote.attribution,
            created_at: quote.created_at,
            expires_at: quote.expires_at,
        }
    }
}

pub(in crate::store) fn read(bytes: &[u8]) -> Result<Receipt<QuoteRecord>, StoreError> {
    match version(bytes) {
        Some(1) => decode::<PageQuote>(bytes, TABLE)
            .map(QuoteRecord::from)
            .map(Receipt::Whole),
        Some(TOMBSTONE) => decode_as::<u64>(TOMBSTONE, bytes, TABLE)
            .map(|expires_at| Receipt::Expired { expires_at }),
        _ => decode_as(VERSION, bytes, TABLE).map(Receipt::Whole),
    }
}

/// The two tables of quotes, alike in all but their records.
#[derive(Clone, Copy)]
enum QuoteKind {
    /// For a page or a report.
    Single,
    Bundle,
}

impl QuoteKind {
    fn of(kind: DueKind) -> QuoteKind {
        match kind {
            DueKind::BundleQuote => QuoteKind::Bundle,
            _ => QuoteKind::Single,
        }
    }

    fn unpaid(self) -> Unpaid {
        match self {
            QuoteKind::Single => Unpaid::Quotes,
            QuoteKind::Bundle => Unpaid::BundleQuotes,
        }
    }

    fn due(self, id: [u8; 16], at: UnixSeconds) -> Due {
        let kind = match self {
            QuoteKind::Single => DueKind::Quote,
            QuoteKind::Bundle => DueKind::BundleQuote,
        };
        Due::of_id(kind, id, at)
    }

    /// The end of a quote.
    fn end(self, bytes: &[u8]) -> Result<Receipt<u64>, StoreError> {
        match self {
            QuoteKind::Single => Ok(read(bytes)?.map(|quote| quote.expires_at)),
            QuoteKind::Bundle => Ok(bundle_quotes::read(bytes)?.map(|quote| quote.expires_at)),
        }
    }

    fn is_paid(self, bytes: &[u8]) -> Result<bool, StoreError> {
        match self {
            QuoteKind::Single => Ok(false),
            QuoteKind::Bundle => bundle_quotes::is_paid(bytes),
        }
    }

    fn tombstone(self, expires_at: u64) -> Result<Vec<u8>, StoreError> {
        let version = match self {
            QuoteKind::Single => TOMBSTONE,
            QuoteKind::Bundle => bundle_quotes::TOMBSTONE,
        };
        encode_as(version, &expires_at)
    }
}

impl<T: Transaction> Records<T> {
    fn quote_rows(&mut self, kind: QuoteKind) -> &mut LazyTable<T, [u8; 16], &'static [u8]> {
        match kind {
            QuoteKind::Single => &mut self.quotes,
            QuoteKind::Bundle => &mut self.bundle_quotes,
        }
    }
}

impl Tables<'_> {
    /// Keeps a quote; the oldest make room for it. Tells whether it was kept: not where the disk has no room for quotes.
    pub fn put_quote(&mut self, id: QuoteId, quote: &QuoteRecord) -> Result<bool, StoreError> {
        let bytes = encode_as(VERSION, quote)?;
        self.put_quote_row(QuoteKind::Single, id.0, &bytes, quote.expires_at)
    }

    /// The same of a quote for a bundle.
    pub fn put_bundle_quote(
        &mut self,
        id: BundleQuoteId,
        quote: &BundleQuoteRecord,
    ) -> Result<bool, StoreError> {
        self.put_quote_row(QuoteKind::Bundle, id.0, &encode(quote)?, quote.expires_at)
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
        self.write_quote(QuoteKind::Bundle, id.0, &encode(&quote)?)
    }

    fn put_quote_row(
        &mut self,
        kind: QuoteKind,
        id: [u8; 16],
        bytes: &[u8],
        expires_at: u64,
    ) -> Result<bool, StoreError> {
        if !self.make_room(kind.unpaid(), bytes.len())? {
            return Ok(false);
        }
        self.write_quote(kind, id, bytes)?;
        self.schedule(kind.due(id, UnixSeconds(expires_at)))?;
        Ok(true)
    }

    /// Writes a quote or a tombstone, and counts it unless it is paid for.
    fn write_quote(
        &mut self,
        kind: QuoteKind,
        id: [u8; 16],
        bytes: &[u8],
    ) -> Result<(), StoreError> {
        self.forget_quote(kind, id)?;
        self.quote_rows(kind).insert(id, bytes)?;
        match kind.is_paid(bytes)? {
            true => Ok(()),
            false => self.add_unpaid(kind.unpaid(), bytes.len()),
        }
    }

    fn forget_quote(&mut self, kind: QuoteKind, id: [u8; 16]) -> Result<(), StoreError> {
        let removed = self.quote_rows(kind).remove(id)?;
        let removed = removed.map(|bytes| (bytes.value().len(), kind.is_paid(bytes.value())));
        let Some((value, is_paid)) = removed else {
            return Ok(());
        };
        match is_paid? {
            true => Ok(()),
            false => self.take_unpaid(kind.unpaid(), value),
        }
    }

    /// Works off a due row: an expired quote that nobody has paid for becomes a tombstone, and what is old goes.
    pub fn sweep_quote(&mut self, due: Due, now: UnixSeconds) -> Result<(), StoreError> {
        let kind = QuoteKind::of(due.kind);
        self.unschedule(due)?;
        let (end, is_paid) = match self.quote_rows(kind).get(due.id())? {
            Some(row) => (kind.end(row.value())?, kind.is_paid(row.value())?),
            None => return Ok(()),
        };
        let (Receipt::Whole(expires_at) | Receipt::Expired { expires_at }) = end;
        let gone_at = UnixSeconds(expires_at).plus(TOMBSTONE_SECONDS);
        if now >= gone_at {
            return self.forget_quote(kind, due.id());
        }
        if !is_paid {
            self.write_quote(kind, due.id(), &kind.tombstone(expires_at)?)?;
        }
        self.schedule(kind.due(due.id(), gone_at))
    }

    /// Lets the oldest go that nobody has paid for. Tells whether there was one.
    pub(in crate::store) fn evict_quote(&mut self, due_kind: DueKind) -> Result<bool, StoreError> {
        let (kind, mut after) = (QuoteKind::of(due_kind), None);
        while let Some(due) = self.next_due(due_kind, after)? {
            let stored = self.quote_rows(kind).get(due.id())?;
            let is_paid = stored
                .map(|bytes| kind.is_paid(bytes.value()))
                .transpose()?;
            if is_paid != Some(true) {
                self.unschedule(due)?;
                return self.forget_quote(kind, due.id()).map(|()| true);
            }
            after = Some(due);
        }
        Ok(false)
    }

    /// Counts the quotes of a file from before they were counted. They were due at the end of their tombstones; now they
    /// are due when they expire, which is the order in which they leave.
    pub(in crate::store) fn count_quotes(&mut self, kind: DueKind) -> Result<u64, StoreError> {
        let kind = QuoteKind::of(kind);
        let (mut bytes, mut whole) = (0, Vec::new());
        for row in self.quote_rows(kind).iter()? {
            let (id, value) = row?;
            if !kind.is_paid(value.value())? {
                bytes += row_bytes(value.value().len());
            }
            if let Receipt::Whole(expires_at) = kind.end(value.value())? {
                whole.push((id.value(), UnixSeconds(expires_at)));
            }
        }
        for (id, expires_at) in whole {
            self.unschedule(kind.due(id, expires_at.plus(TOMBSTONE_SECONDS)))?;
            self.schedule(kind.due(id, expires_at))?;
        }
        Ok(bytes)
    }
}

impl Snapshot {
    pub fn quote(&self, id: QuoteId) -> Result<Option<Receipt<QuoteRecord>>, StoreError> {
        let record = self.quotes.get(id.0)?;
        record.map(|bytes| read(bytes.value())).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_of_before_proof_packs_stays_readable() {
        let old = PageQuote {
            target_url: "https://example.com/".to_owned(),
            recommended_tier: Tier::Fresh,
            amount_units: 30_000,
            content_sha256: Some("c".to_owned()),
            attribution: None,
            created_at: 1,
            expires_at: 2,
        };
        let read_whole = |bytes: &[u8]| match read(bytes) {
            Ok(Receipt::Whole(quote)) => quote,
            other => panic!("{other:?}"),
        };
        let quote = read_whole(&encode(&old).expect("encodes"));
        assert_eq!(quote.purchase.target_url(), "https://example.com/");
        assert_eq!(quote.purchase.level().name(), "fresh");
        assert_eq!((quote.amount_units, quote.expires_at), (30_000, 2));
        let again = encode_as(VERSION, &quote).expect("encodes");
        assert_eq!(read_whole(&again), quote);
    }
}
