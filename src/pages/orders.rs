//! Evidence Bundles and other orders, from the quote to the delivery and its e-mails.

pub mod bundle;
pub mod bundle_checkout;
pub mod delivery;
pub mod email;
pub mod request;
