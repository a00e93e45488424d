//! Everything that leaves the process. ureq, name resolution, the clock and randomness are used here only.

pub mod call;
pub mod network;
pub mod web;
