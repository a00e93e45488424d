//! A resolved purchase: what exactly is sold once query, header and body agree.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::domain::amount::Amount;
use crate::domain::tier::Tier;

/// What a payment buys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purchase {
    Context(ContextPurchase),
}

/// One page as markdown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextPurchase {
    /// The canonical target.
    pub target_url: String,
    /// The tier's name.
    pub tier: String,
    /// Skip reading the cache.
    pub force_refresh: bool,
}

/// Two requests with equal fingerprints ask for the same thing. Path, alias and Accept are no part of it.
pub type Fingerprint = [u8; 32];

impl ContextPurchase {
    pub fn tier(&self) -> Tier {
        // Records are only ever written with a tier's own name.
        Tier::parse(&self.tier).unwrap_or_default()
    }
}

impl Purchase {
    pub fn price(&self) -> Amount {
        match self {
            Purchase::Context(context) => context.tier().price(),
        }
    }

    pub fn target_url(&self) -> &str {
        match self {
            Purchase::Context(context) => &context.target_url,
        }
    }

    pub fn fingerprint(&self) -> Fingerprint {
        let mut hash = Sha256::new();
        let mut part = |text: &str| {
            // Lengths first: no two lists of parts share their bytes.
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text);
        };
        match self {
            Purchase::Context(context) => {
                part("context");
                part(&context.target_url);
                part(&context.tier);
                part(if context.force_refresh { "refresh" } else { "" });
            }
        }
        hash.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(target_url: &str, tier: &str, force_refresh: bool) -> Fingerprint {
        Purchase::Context(ContextPurchase {
            target_url: target_url.into(),
            tier: tier.into(),
            force_refresh,
        })
        .fingerprint()
    }

    #[test]
    fn every_part_of_a_purchase_changes_its_fingerprint() {
        let one = context("https://example.com/", "fresh", false);
        assert_eq!(one, context("https://example.com/", "fresh", false));
        assert_ne!(one, context("https://example.com/", "fresh", true));
        assert_ne!(one, context("https://example.com/", "deep", false));
        assert_ne!(one, context("https://example.com/f", "resh", false));
    }
}
