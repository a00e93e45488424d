//! Machine-readable documents: prices, OpenAPI, MCP and agent cards.

pub mod agent;
pub mod catalogue;
pub mod discovery;
pub mod documents;
pub mod mcp;
pub mod openapi;
pub mod pricing;
pub mod rpc;
