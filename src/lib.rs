//! context402 (map: being written)
pub mod config;
pub mod domain;
pub mod http;
pub mod markdown;
pub mod outside;
pub mod pages;
pub mod store;
pub mod x402;
