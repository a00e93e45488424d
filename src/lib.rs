//! context402 (map: being written)
pub mod api;
pub mod app;
pub mod appliance;
pub mod cli;
pub mod config;
pub mod domain;
pub mod flows;
pub mod http;
pub mod log;
pub mod markdown;
pub mod metrics;
pub mod outside;
pub mod pages;
pub mod routes;
pub mod sandbox;
pub mod store;
pub mod x402;
