//! The records of quotes for bundles. They are retained as all quotes are: see `quotes`.

use serde::{Deserialize, Serialize};

use crate::domain::bundle::Bundle;
use crate::domain::ids::BundleQuoteId;
use crate::domain::time::UnixSeconds;
use crate::store::lazy_table::Transaction;
use crate::store::record::{decode, decode_as, version};
use crate::store::tables::Records;
use crate::store::{Receipt, StoreError};

const TABLE: &str = "bundle-quotes-1";
/// The version of a tombstone.
pub(in crate::store) const TOMBSTONE: u8 = 2;

/// A retained quote for a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundleQuoteRecord {
    #[serde(with = "NumberedBundle")]
    pub bundle: Bundle,
    pub target_urls: Vec<String>,
    pub question: Option<String>,
    pub attribution: Option<String>,
    pub created_at: u64,
    pub expires_at: u64,
    /// When an order was paid for it.
    pub paid_at: Option<u64>,
}

/// These records hold a bundle as its number, not as its name.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Bundle")]
enum NumberedBundle {
    Scout,
    Builder,
    Audit,
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

pub(in crate::store) fn read(bytes: &[u8]) -> Result<Receipt<BundleQuoteRecord>, StoreError> {
    match version(bytes) {
        Some(TOMBSTONE) => decode_as::<u64>(TOMBSTONE, bytes, TABLE)
            .map(|expires_at| Receipt::Expired { expires_at }),
        _ => decode(bytes, TABLE).map(Receipt::Whole),
    }
}

pub(in crate::store) fn is_paid(bytes: &[u8]) -> Result<bool, StoreError> {
    Ok(matches!(read(bytes)?, Receipt::Whole(quote) if quote.paid_at.is_some()))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::record::encode;

    #[test]
    fn a_bundle_is_recorded_as_its_number() {
        for (bundle, number) in Bundle::ALL.into_iter().zip(0_u32..) {
            let quote = BundleQuoteRecord {
                bundle,
                target_urls: Vec::new(),
                question: None,
                attribution: None,
                created_at: 7,
                expires_at: 8,
                paid_at: None,
            };
            let before = (
                number,
                [(); 0].as_slice(),
                (None::<()>, None::<()>),
                7_u64,
                8_u64,
                None::<()>,
            );
            let before = encode(&before).expect("bytes");
            assert_eq!(encode(&quote), Ok(before.clone()));
            assert_eq!(read(&before), Ok(Receipt::Whole(quote)));
        }
    }
}
