//! The buyers' endpoints, paid and free.

pub mod access;
pub mod check;
pub mod diagnose;
pub mod first_words;
pub mod legacy;
pub mod paid;
pub mod preview;
pub mod proof_bundle;
pub mod proof_pack;
pub mod purchases;
pub mod quotes;
pub mod report_page;
pub mod reports;
pub mod retry;
pub mod several_quotes;
pub mod sources;
pub mod stated_level;
pub mod wallet;
