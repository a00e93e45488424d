//! context402 (map: being written)
pub mod domain;
pub mod markdown;
pub mod outside;
pub mod pages;
pub mod x402;
