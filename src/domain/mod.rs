//! The product's words and rules: pure values and decisions. Nothing here waits, reads a clock, draws a random
//! number or knows how a request arrives.

pub mod amount;
pub mod attribution;
pub mod brokerage;
pub mod bundle;
pub mod cache;
pub mod checkout;
pub mod csv;
pub mod email;
pub mod endpoint;
pub mod estimate;
pub mod evm;
pub mod ids;
pub mod keccak;
pub mod keys;
pub mod lead;
pub mod level;
pub mod mail;
pub mod margin;
pub mod order;
pub mod pack;
pub mod payment;
pub mod purchase;
pub mod rate;
pub mod refusal;
pub mod requests;
pub mod robots;
pub mod schema;
pub mod shapes;
pub mod source_list;
pub mod target;
pub mod tier;
pub mod time;
pub mod usage;
