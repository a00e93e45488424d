//! The use cases, a folder for each actor: sales, content, quotes, orders, operations. Flows wait and decide; they know no
//! HTTP status, no redb, no ureq.

pub mod content;
pub mod operations;
pub mod orders;
pub mod quotes;
pub mod sale;

use crate::domain::code::Code;
use crate::domain::refusal::Refusal;
use crate::store::StoreError;

/// An internal failure: the client learns only that, the log gets the details.
pub fn internal(what: &'static str, error: &dyn std::fmt::Display) -> Refusal {
    tracing::error!(error = %error, "{what}");
    Refusal::of(Code::Internal)
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Busy => Refusal::of(Code::Overloaded),
            // The disk probe has logged it.
            StoreError::NoRoom => Refusal::new(
                Code::Overloaded,
                "The service cannot store anything at the moment. Try again later.",
            ),
            error => internal("the store failed", &error),
        }
    }
}
