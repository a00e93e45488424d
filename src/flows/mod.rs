//! What can happen, a folder for each actor: a sale, its content, quotes, orders, operations. Flows wait and decide;
//! they know no HTTP status, no redb, no ureq.

pub mod content;
pub mod operations;
pub mod orders;
pub mod quotes;
pub mod sale;

use crate::domain::refusal::{Code, Refusal};
use crate::store::StoreError;

/// Something of ours broke: the client is told that, the log is told what.
pub fn internal(what: &'static str, error: &dyn std::fmt::Display) -> Refusal {
    tracing::error!(error = %error, "{what}");
    Refusal::of(Code::Internal)
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Busy => Refusal::of(Code::Overloaded),
            // The log has it from the probe of the disk.
            StoreError::NoRoom => Refusal::new(
                Code::Overloaded,
                "The service cannot write anything down at the moment. Try again later.",
            ),
            error => internal("the store failed", &error),
        }
    }
}
