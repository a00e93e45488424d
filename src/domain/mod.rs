//! The product's words and rules: pure values and decisions. Nothing here waits, reads a clock, draws a random
//! number or knows how a request arrives.

pub mod amount;
pub mod ids;
pub mod target;
pub mod tier;
pub mod time;
