//! One file per thing that can happen. Flows wait and decide; they know no HTTP status, no redb, no ureq.

pub mod answer;
pub mod backup;
pub mod brokerage;
pub mod bundles;
pub mod deliver;
pub mod delivery;
pub mod demo;
pub mod desk;
pub mod diagnose;
pub mod due;
pub mod fulfil;
pub mod guardian;
pub mod health;
pub mod leads;
pub mod letters;
pub mod mail;
pub mod notices;
pub mod offer;
pub mod orders;
pub mod page;
pub mod pause;
pub mod payments;
pub mod pdf;
pub mod quote;
pub mod recall;
pub mod reckoning;
pub mod reconcile;
pub mod recover;
pub mod report;
pub mod reports;
pub mod retry;
pub mod robots;
pub mod sale;
pub mod sample;
pub mod settle;
pub mod sign_in;
pub mod source;
pub mod synthesis;
pub mod transfer;
pub mod trial;
pub mod twin;
pub mod watchdog;

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
