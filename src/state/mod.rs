//! What the running service knows beside its data file: parts of [`crate::app::App`] that know neither it nor what is
//! done with them. Nothing here survives the process.

pub mod delivered;
pub mod health;
pub mod in_flight;
pub mod markdown_alternates;
pub mod offers;
pub mod order_workers;
pub mod outbox;
pub mod page;
pub mod refusals;
pub mod sample;
pub mod settlement_checks;
pub mod unknown;
