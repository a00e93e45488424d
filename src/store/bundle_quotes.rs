//! Receipts of quotes for bundles, retained 7 days like those of pages and reports.

use redb::ReadableTable;
use serde::{Deserialize, Serialize};

use crate::domain::bundle::Bundle;
use crate::domain::ids::BundleQuoteId;
use crate::domain::time::{QUOTE_SECONDS, UnixSeconds};
use crate::store::record::{decode, encode};
use crate::store::tables::{BUNDLE_QUOTES, Hash, Snapshot, Tables};
use crate::store::{Due, DueKind, StoreError};

const TABLE: &str = "bundle-quotes-1";
/// How long an expired quote is still known as expired (410) before it is forgotten (404).
const TOMBSTONE_SECONDS: u64 = QUOTE_SECONDS;

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
        match (self.paid_at, now.0 >= self.expires_at) {
            (Some(_), _) => "paid",
            (None, true) => "expired",
            (None, false) => "open",
        }
    }
}

impl Tables<'_> {
    pub fn put_bundle_quote(
        &mut self,
        id: BundleQuoteId,
        quote: &BundleQuoteRecord,
    ) -> Result<(), StoreError> {
        self.bundle_quotes.insert(id.0, encode(quote)?.as_slice())?;
        let mut key: Hash = [0; 32];
        key[..16].copy_from_slice(&id.0);
        self.schedule(Due {
            at: UnixSeconds(quote.expires_at).plus(TOMBSTONE_SECONDS),
            kind: DueKind::BundleQuote,
            key,
        })
    }

    /// Notes that the quote was paid for, once. Nothing happens where it is forgotten.
    pub(in crate::store) fn pay_bundle_quote(
        &mut self,
        id: BundleQuoteId,
        now: UnixSeconds,
    ) -> Result<(), StoreError> {
        let found = self.bundle_quotes.get(id.0)?;
        let found = found.map(|bytes| decode::<BundleQuoteRecord>(bytes.value(), TABLE));
        let Some(mut quote) = found.transpose()? else {
            return Ok(());
        };
        quote.paid_at.get_or_insert(now.0);
        self.bundle_quotes
            .insert(id.0, encode(&quote)?.as_slice())?;
        Ok(())
    }

    /// Works off a due row.
    pub fn sweep_bundle_quote(&mut self, due: Due) -> Result<(), StoreError> {
        self.unschedule(due)?;
        let mut id = [0; 16];
        id.copy_from_slice(&due.key[..16]);
        self.bundle_quotes.remove(id)?;
        Ok(())
    }
}

impl Snapshot {
    pub fn bundle_quote(&self, id: BundleQuoteId) -> Result<Option<BundleQuoteRecord>, StoreError> {
        let table = self.table(BUNDLE_QUOTES)?;
        let record = table.get(id.0)?;
        record.map(|bytes| decode(bytes.value(), TABLE)).transpose()
    }
}
