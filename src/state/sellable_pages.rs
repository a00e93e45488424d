//! The pages that were found fit to be sold: a page is judged once by its content, not at each quote and sale.

use std::collections::HashSet;
use std::sync::Mutex;

use crate::markdown::ConvertError;
use crate::state::page::unsellable;
use crate::sync::lock;

/// Pages that are remembered, of 32 bytes each. Once there are as many, all are forgotten.
pub const PAGES_MAX: usize = 16_384;

/// The SHA-256 of the members of pages that may be sold. Which those are depends on the members and the program alone.
#[derive(Debug, Default)]
pub struct SellablePages(Mutex<HashSet<[u8; 32]>>);

impl SellablePages {
    /// Whether a page was judged before, and may be sold.
    pub fn contains(&self, blob: [u8; 32]) -> bool {
        lock(&self.0).contains(&blob)
    }

    /// Why a page must not be sold, if it must not. `blob` is the SHA-256 of `members`.
    pub fn judge(
        &self,
        blob: [u8; 32],
        tokens: u64,
        members: &[u8],
    ) -> Result<Option<ConvertError>, serde_json::Error> {
        if self.contains(blob) {
            return Ok(None);
        }
        let reason = unsellable(tokens, members)?;
        if reason.is_none() {
            let mut pages = lock(&self.0);
            if pages.len() >= PAGES_MAX {
                pages.clear();
            }
            pages.insert(blob);
        }
        Ok(reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SELLABLE: &[u8] = br#""markdown":"Rain is expected on Tuesday.","metadata":{}"#;
    const EMPTY: &[u8] = br#""markdown":"","metadata":{}"#;

    #[test]
    fn a_page_is_judged_once_and_an_unfit_one_each_time() {
        let pages = SellablePages::default();
        assert_eq!(pages.judge([1; 32], 7, SELLABLE).expect("JSON"), None);
        assert_eq!(pages.judge([1; 32], 7, b"not read").expect("known"), None);
        for _ in 0..2 {
            let reason = pages.judge([2; 32], 7, EMPTY).expect("JSON");
            assert_eq!(reason, Some(ConvertError::Empty));
        }
        assert!(pages.judge([3; 32], 7, b"not JSON").is_err());
        assert!(!pages.contains([2; 32]) && !pages.contains([3; 32]));
    }

    #[test]
    fn pages_are_forgotten_once_there_are_too_many() {
        let pages = SellablePages::default();
        for number in 0..=PAGES_MAX as u64 {
            let mut blob = [0; 32];
            blob[..8].copy_from_slice(&number.to_be_bytes());
            assert_eq!(pages.judge(blob, 7, SELLABLE).expect("JSON"), None);
        }
        assert_eq!(lock(&pages.0).len(), 1);
    }
}
