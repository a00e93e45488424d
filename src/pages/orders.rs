//! Evidence Bundles and requests, from quote to delivery and e-mails.

pub mod bundle;
pub mod bundle_checkout;
pub mod delivery;
pub mod email;
pub mod request;
