//! Evidence Bundles: quotes, requests, payment links and delivery.

pub mod bundle_confidence;
pub mod bundle_pay;
pub mod bundles;
pub mod delivery;
pub mod form_values;
pub mod lead_answers;
pub mod leads;
pub mod webhook;
