//! The free steps before a sale: offers, quotes, and diagnosis of payment headers.

pub mod availability;
pub mod brokerage;
pub mod bundles;
pub mod diagnose;
pub mod first_words;
pub mod offers;
pub mod quote;
pub mod several;
