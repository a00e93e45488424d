//! Background work, and operations for the operator.

pub mod backup;
pub mod certificates;
pub mod due;
pub mod health;
pub mod ledger_check;
pub mod mail;
pub mod overrides;
pub mod pause;
pub mod recover;
pub mod reload;
pub mod self_test;
pub mod sign_in;
pub mod watchdog;
