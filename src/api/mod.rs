//! Thin handlers: read the call, run a flow, shape the reply.

pub mod access;
pub mod body;
pub mod bundle_confidence;
pub mod bundle_pay;
pub mod bundles;
pub mod catalogue;
pub mod challenge;
pub mod delivery;
pub mod discovery;
pub mod door;
pub mod failure;
pub mod lead_answers;
pub mod leads;
pub mod legacy;
pub mod openapi;
pub mod operator;
pub mod operator_leads;
pub mod paid;
pub mod preview;
pub mod proof_pack;
pub mod quotes;
pub mod reports;
pub mod retry;
pub mod site;
pub mod typed;
pub mod webhook;
