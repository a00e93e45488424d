//! Quote receipts: what was quoted, retained 7 days (specification section 8) within a bound in bytes, the oldest
//! leaving first. An expired one leaves a tombstone of its identifier and its end.

use serde::{Deserialize, Serialize};

use crate::domain::ids::QuoteId;
use crate::domain::purchase::{Choices, ContextPurchase, Purchase};
use crate::domain::time::{QUOTE_SECONDS, UnixSeconds};
use crate::store::record::{decode, decode_as, encode_as, version};
use crate::store::tables::{Snapshot, Tables};
use crate::store::unpaid::row_bytes;
use crate::store::{Due, DueKind, StoreError, Unpaid};

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
    recommended_tier: String,
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

impl Tables<'_> {
    /// Keeps a quote; the oldest make room for it. Tells whether it was kept: not where the disk has no room for quotes.
    pub fn put_quote(&mut self, id: QuoteId, quote: &QuoteRecord) -> Result<bool, StoreError> {
        let bytes = encode_as(VERSION, quote)?;
        if !self.make_room(Unpaid::Quotes, bytes.len())? {
            return Ok(false);
        }
        self.write_quote(id, &bytes, UnixSeconds(quote.expires_at))?;
        Ok(true)
    }

    /// Writes what is looked at again at `at`.
    fn write_quote(
        &mut self,
        id: QuoteId,
        bytes: &[u8],
        at: UnixSeconds,
    ) -> Result<(), StoreError> {
        let before = self.quotes.insert(id.0, bytes)?;
        let before = before.map(|before| before.value().len());
        if let Some(before) = before {
            self.take_unpaid(Unpaid::Quotes, before)?;
        }
        self.add_unpaid(Unpaid::Quotes, bytes.len())?;
        self.schedule(due(id, at))
    }

    /// Works off a due row: an expired quote becomes a tombstone, and an old tombstone goes.
    pub fn sweep_quote(&mut self, due: Due, now: UnixSeconds) -> Result<(), StoreError> {
        let id = QuoteId(due.id());
        let stored = self.quotes.get(id.0)?.map(|bytes| read(bytes.value()));
        let expires_at = match stored.transpose()? {
            None => return self.unschedule(due),
            Some(Receipt::Whole(quote)) => quote.expires_at,
            Some(Receipt::Expired { expires_at }) => expires_at,
        };
        let gone_at = UnixSeconds(expires_at).plus(TOMBSTONE_SECONDS);
        if now >= gone_at {
            return self.forget_quote(due);
        }
        self.unschedule(due)?;
        self.write_quote(id, &encode_as(TOMBSTONE, &expires_at)?, gone_at)
    }

    /// Counts the quotes of a file from before they were counted. They were due at the end of their tombstones; now they
    /// are due when they expire, which is the order in which they leave.
    pub(in crate::store) fn count_quotes(&mut self) -> Result<u64, StoreError> {
        let (mut bytes, mut whole) = (0, Vec::new());
        for row in self.quotes.iter()? {
            let (id, value) = row?;
            bytes += row_bytes(value.value().len());
            if let Receipt::Whole(quote) = read(value.value())? {
                whole.push((id.value(), UnixSeconds(quote.expires_at)));
            }
        }
        for (id, expires_at) in whole {
            let id = QuoteId(id);
            self.unschedule(due(id, expires_at.plus(TOMBSTONE_SECONDS)))?;
            self.schedule(due(id, expires_at))?;
        }
        Ok(bytes)
    }

    /// Takes out the quote, or the tombstone, that a due row is of.
    pub(in crate::store) fn forget_quote(&mut self, due: Due) -> Result<(), StoreError> {
        self.unschedule(due)?;
        let removed = self.quotes.remove(QuoteId(due.id()).0)?;
        let removed = removed.map(|bytes| bytes.value().len());
        match removed {
            Some(value) => self.take_unpaid(Unpaid::Quotes, value),
            None => Ok(()),
        }
    }
}

impl Snapshot {
    pub fn quote(&self, id: QuoteId) -> Result<Option<Receipt<QuoteRecord>>, StoreError> {
        let record = self.quotes.get(id.0)?;
        record.map(|bytes| read(bytes.value())).transpose()
    }
}

fn due(id: QuoteId, at: UnixSeconds) -> Due {
    Due::of_id(DueKind::Quote, id.0, at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::record::encode;

    #[test]
    fn a_quote_of_before_proof_packs_stays_readable() {
        let old = PageQuote {
            target_url: "https://example.com/".to_owned(),
            recommended_tier: "fresh".to_owned(),
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
