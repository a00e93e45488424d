//! A resolved purchase: query, header and body agree.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::domain::amount::Amount;
use crate::domain::cache::Reading;
use crate::domain::keys::Fingerprint;
use crate::domain::level::{Level, Product};
use crate::domain::pack::Pack;
use crate::domain::tier::Tier;

/// What a payment buys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purchase {
    Context(ContextPurchase),
    ProofPack(ProofPackPurchase),
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

/// A report on one page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProofPackPurchase {
    /// The canonical target.
    pub target_url: String,
    pub question: String,
    /// The pack's name.
    pub pack: String,
    /// Skip reading the cache, be it stated or the pack's default.
    pub force_refresh: bool,
}

/// What is asked where the buyer asks nothing (specification 2.5).
pub const DEFAULT_QUESTION: &str = "What does this source establish?";

impl ContextPurchase {
    pub fn tier(&self) -> Tier {
        // Records are only ever written with a tier's own name.
        Tier::parse(&self.tier).unwrap_or_default()
    }
}

impl ProofPackPurchase {
    /// What a request asks for, with everything that it leaves out filled in.
    pub fn new(
        target_url: String,
        pack: Pack,
        question: Option<&str>,
        force_refresh: Option<bool>,
    ) -> Self {
        let question = question.map(str::trim).filter(|text| !text.is_empty());
        ProofPackPurchase {
            target_url,
            question: question.unwrap_or(DEFAULT_QUESTION).to_owned(),
            pack: pack.name().to_owned(),
            force_refresh: force_refresh.unwrap_or(pack.refreshes_by_default()),
        }
    }

    pub fn pack(&self) -> Pack {
        // Records are only ever written with a pack's own name.
        Pack::parse(&self.pack).unwrap_or_default()
    }
}

impl Purchase {
    pub fn level(&self) -> Level {
        match self {
            Purchase::Context(context) => Level::Tier(context.tier()),
            Purchase::ProofPack(pack) => Level::Pack(pack.pack()),
        }
    }

    pub fn product(&self) -> Product {
        self.level().product()
    }

    pub fn price(&self) -> Amount {
        self.level().price()
    }

    /// Empties what the buyer wrote. The level stays, and a payment's fingerprint still tells purchases apart.
    pub fn forget_text(&mut self) {
        match self {
            Purchase::Context(context) => context.target_url = String::new(),
            Purchase::ProofPack(pack) => {
                pack.target_url = String::new();
                pack.question = String::new();
            }
        }
    }

    pub fn target_url(&self) -> &str {
        match self {
            Purchase::Context(context) => &context.target_url,
            Purchase::ProofPack(pack) => &pack.target_url,
        }
    }

    /// What is asked of the page, where anything is.
    pub fn question(&self) -> Option<&str> {
        match self {
            Purchase::Context(_) => None,
            Purchase::ProofPack(pack) => Some(&pack.question),
        }
    }

    /// From where the page is read.
    pub fn reading(&self) -> Reading {
        Reading {
            cache: self.level().cache(),
            refresh: match self {
                Purchase::Context(context) => context.force_refresh,
                Purchase::ProofPack(pack) => pack.force_refresh,
            },
        }
    }

    /// What a request has to say of the cache, where it is not what the level does by itself.
    pub fn stated_refresh(&self) -> Option<bool> {
        let refresh = self.reading().refresh;
        let default = matches!(self.level(), Level::Pack(pack) if pack.refreshes_by_default());
        (refresh != default).then_some(refresh)
    }

    /// Path, alias and Accept are no part of it.
    pub fn fingerprint(&self) -> Fingerprint {
        let mut hash = Sha256::new();
        let mut part = |text: &str| {
            // Lengths first: no two lists of parts share their bytes.
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text);
        };
        let level = self.level();
        part(level.product().name());
        part(self.target_url());
        part(level.name());
        part(if self.reading().refresh {
            "refresh"
        } else {
            ""
        });
        if let Some(question) = self.question() {
            part(question);
        }
        Fingerprint(hash.finalize().into())
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

    fn pack(pack: Pack, question: Option<&str>, force_refresh: Option<bool>) -> Fingerprint {
        let url = "https://example.com/".to_owned();
        Purchase::ProofPack(ProofPackPurchase::new(url, pack, question, force_refresh))
            .fingerprint()
    }

    #[test]
    fn every_part_of_a_purchase_changes_its_fingerprint() {
        let one = context("https://example.com/", "fresh", false);
        assert_eq!(one, context("https://example.com/", "fresh", false));
        assert_ne!(one, context("https://example.com/", "fresh", true));
        assert_ne!(one, context("https://example.com/", "deep", false));
        assert_ne!(one, context("https://example.com/f", "resh", false));

        let one = pack(Pack::Deep, None, None);
        assert_ne!(one, context("https://example.com/", "deep", true));
        assert_eq!(one, pack(Pack::Deep, Some(" "), Some(true)));
        assert_eq!(one, pack(Pack::Deep, Some(DEFAULT_QUESTION), None));
        assert_ne!(one, pack(Pack::Deep, Some("Is it open?"), None));
        assert_ne!(one, pack(Pack::Deep, None, Some(false)));
        assert_ne!(one, pack(Pack::Standard, None, Some(true)));
    }

    #[test]
    fn the_documents_name_the_question_that_is_asked_by_default() {
        let fields = Product::ProofPack.request().fields;
        let question = fields.iter().find(|field| field.name == "question");
        let shown = question.and_then(|field| field.default);
        assert_eq!(shown, Some(format!("{DEFAULT_QUESTION:?}").as_str()));
    }

    /// A retry credit and a payment identifier of before an upgrade must still be for the same thing.
    #[test]
    fn fingerprints_stay_what_they_were() {
        assert_eq!(
            context("https://example.com/", "fresh", false).to_string(),
            "1e0175bac1f6f28f22ac8cfd63efac154ee6f211cbcbce4e166bc6554ae1ea9b"
        );
    }
}
