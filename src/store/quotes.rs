//! Quote receipts: what was quoted, retained 7 days (specification section 8).

use serde::{Deserialize, Serialize};

use crate::domain::ids::QuoteId;
use crate::domain::time::{QUOTE_SECONDS, UnixSeconds};
use crate::store::record::{decode, encode};
use crate::store::tables::{QUOTES, Snapshot, Tables};
use crate::store::{Due, DueKind, StoreError};

const TABLE: &str = "quotes-1";
/// How long an expired quote is still known as expired (410) before it is forgotten (404).
const TOMBSTONE_SECONDS: u64 = QUOTE_SECONDS;

/// A retained quote for a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuoteRecord {
    pub target_url: String,
    pub recommended_tier: String,
    pub amount_units: u64,
    /// Hex SHA-256 of the page's markdown, when we knew it.
    pub content_sha256: Option<String>,
    pub attribution: Option<String>,
    pub created_at: u64,
    pub expires_at: u64,
}

impl Tables<'_> {
    pub fn put_quote(&mut self, id: QuoteId, quote: &QuoteRecord) -> Result<(), StoreError> {
        self.quotes.insert(id.0, encode(quote)?.as_slice())?;
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
        record.map(|bytes| decode(bytes.value(), TABLE)).transpose()
    }
}

fn due_key(id: QuoteId) -> [u8; 32] {
    let mut key = [0; 32];
    key[..16].copy_from_slice(&id.0);
    key
}
