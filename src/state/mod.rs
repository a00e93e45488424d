//! In-memory state of the running service: independent parts of [`crate::app::App`].

pub mod excerpt;
pub mod free_fetches;
pub mod health;
pub mod in_flight;
pub mod markdown_alternates;
pub mod offers;
pub mod page;
pub mod refusals;
pub mod sample;
pub mod sellable_pages;
pub mod settlement_checks;
pub mod sign_in_links;
pub mod sign_in_nonces;
pub mod unknown;
