//! context402 (map: being written)
pub mod domain;
pub mod http;
pub mod markdown;
pub mod outside;
pub mod store;
pub mod x402;
