//! Everything that leaves the process. ureq, name resolution, the clock and randomness are used here only.

pub mod buyer;
pub mod call;
pub mod facilitator;

mod roots;

#[cfg(test)]
pub(crate) mod loopback;
