//! What is free of charge before a sale: offers, quotes, and what is wrong with a payment header.

pub mod availability;
pub mod brokerage;
pub mod bundles;
pub mod diagnose;
pub mod offers;
pub mod quote;
