//! context402 (map: being written)
pub mod domain;
pub mod markdown;
pub mod outside;
pub mod sandbox;
pub mod x402;
