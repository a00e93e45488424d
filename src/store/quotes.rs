//! Quote receipts: what was quoted, retained 7 days (specification section 8).

use serde::{Deserialize, Serialize};

use crate::domain::ids::QuoteId;
use crate::domain::purchase::{ContextPurchase, Purchase};
use crate::domain::time::{QUOTE_SECONDS, UnixSeconds};
use crate::store::record::{decode, decode_as, encode_as, version};
use crate::store::tables::{QUOTES, Snapshot, Tables};
use crate::store::{Due, DueKind, StoreError};

const TABLE: &str = "quotes-1";
/// How long an expired quote is still known as expired (410) before it is forgotten (404).
const TOMBSTONE_SECONDS: u64 = QUOTE_SECONDS;

/// Version 1 knew pages alone.
const VERSION: u8 = 2;

/// A retained quote: what would be bought, and for how much.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuoteRecord {
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
                force_refresh: false,
            }),
            amount_units: quote.amount_units,
            content_sha256: quote.content_sha256,
            attribution: quote.attribution,
            created_at: quote.created_at,
            expires_at: quote.expires_at,
        }
    }
}

pub(in crate::store) fn read(bytes: &[u8]) -> Result<QuoteRecord, StoreError> {
    match version(bytes) {
        Some(1) => decode::<PageQuote>(bytes, TABLE).map(QuoteRecord::from),
        _ => decode_as(VERSION, bytes, TABLE),
    }
}

impl Tables<'_> {
    pub fn put_quote(&mut self, id: QuoteId, quote: &QuoteRecord) -> Result<(), StoreError> {
        let bytes = encode_as(VERSION, quote)?;
        self.quotes.insert(id.0, bytes.as_slice())?;
        let at = UnixSeconds(quote.expires_at).plus(TOMBSTONE_SECONDS);
        self.schedule(Due {
            at,
            kind: DueKind::Quote,
            key: due_key(id),
        })
    }

    /// Works off a due row.
    pub fn sweep_quote(&mut self, due: Due) -> Result<(), StoreError> {
        self.unschedule(due)?;
        let mut id = [0; 16];
        id.copy_from_slice(&due.key[..16]);
        self.quotes.remove(id)?;
        Ok(())
    }
}

impl Snapshot {
    pub fn quote(&self, id: QuoteId) -> Result<Option<QuoteRecord>, StoreError> {
        let table = self.table(QUOTES)?;
        let record = table.get(id.0)?;
        record.map(|bytes| read(bytes.value())).transpose()
    }
}

fn due_key(id: QuoteId) -> [u8; 32] {
    let mut key = [0; 32];
    key[..16].copy_from_slice(&id.0);
    key
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
        let quote = read(&encode(&old).expect("encodes")).expect("is read");
        assert_eq!(quote.purchase.target_url(), "https://example.com/");
        assert_eq!(quote.purchase.level().name(), "fresh");
        assert_eq!((quote.amount_units, quote.expires_at), (30_000, 2));
        let again = encode_as(VERSION, &quote).expect("encodes");
        assert_eq!(read(&again), Ok(quote));
    }
}
