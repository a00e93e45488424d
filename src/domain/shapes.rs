//! The field tables themselves: one row per member of a request body.

mod purchases;
mod requests;

use crate::domain::bundle;
use crate::domain::level::Product;
use crate::domain::schema::Object;

pub use purchases::{
    ACCESS_REQUEST, CHECK_REQUEST, PAGES_REQUEST, PROOF_BUNDLE_REQUEST, PROOF_PACK_REQUEST,
};
pub use requests::{
    BUNDLE_LEAD_REQUEST, COMPUTE_REQUEST, CONTACT_REQUEST, DIAGNOSE_REQUEST, FOLLOW_UP_REQUEST,
    PACK_LEAD_REQUEST, QUOTE_BELONGINGS, QUOTE_REQUEST, RECOVER_REQUEST, REFRESH_REQUEST,
    SHARE_REQUEST,
};

/// What can be quoted: the products that x402 sells, and bundles.
pub const QUOTED_PRODUCTS: [&str; 3] = [Product::NAMES[0], Product::NAMES[1], bundle::PRODUCT];
/// The field that people do not see and programs that fill in everything do.
pub const HONEYPOT: &str = "website";

/// Longest target URL.
pub const TARGET_URL_CHARACTERS_MAX: usize = 2048;
/// Longest question.
pub const QUESTION_CHARACTERS_MAX: usize = 1000;

/// Every body shape, for OpenAPI's components and the table tests.
pub static ALL: [&Object; 15] = [
    &ACCESS_REQUEST,
    &PROOF_PACK_REQUEST,
    &PAGES_REQUEST,
    &PROOF_BUNDLE_REQUEST,
    &CHECK_REQUEST,
    &QUOTE_REQUEST,
    &FOLLOW_UP_REQUEST,
    &REFRESH_REQUEST,
    &SHARE_REQUEST,
    &PACK_LEAD_REQUEST,
    &BUNDLE_LEAD_REQUEST,
    &RECOVER_REQUEST,
    &CONTACT_REQUEST,
    &COMPUTE_REQUEST,
    &DIAGNOSE_REQUEST,
];

impl Product {
    /// The body of its paid request.
    pub fn request(self) -> &'static Object {
        match self {
            Product::Context => &ACCESS_REQUEST,
            Product::ProofPack => &PROOF_PACK_REQUEST,
            Product::ProofBundle => &PROOF_BUNDLE_REQUEST,
            Product::Check => &CHECK_REQUEST,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_paid_request_names_its_level() {
        for product in Product::ALL {
            let (word, fields) = (product.level_word(), product.request().fields);
            assert!(fields.iter().any(|field| field.name == word), "{word}");
        }
    }
}
