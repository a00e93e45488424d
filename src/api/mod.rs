//! HTTP handlers: read the call, run a flow, shape the reply.

pub mod admission;
pub mod body;
pub mod buyer;
pub mod challenge;
pub mod checks;
pub mod directory;
pub mod failure;
pub mod frame;
pub mod operator;
pub mod orders;
pub mod query;
pub mod quoted;
pub mod site;
