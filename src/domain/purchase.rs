//! A resolved purchase: query, header and body agree.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::domain::amount::Amount;
use crate::domain::cache::Reading;
use crate::domain::excerpt::Excerpt;
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
    /// The part of the page that is sold, where it is not the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<Box<Excerpt>>,
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
            Purchase::Context(context) => {
                context.target_url = String::new();
                context.excerpt = None;
            }
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

    /// The part of the page that is bought, where it is not the whole.
    pub fn excerpt(&self) -> Option<&Excerpt> {
        match self {
            Purchase::Context(context) => context.excerpt.as_deref(),
            Purchase::ProofPack(_) => None,
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
        if let Some(excerpt) = self.excerpt() {
            // The members stand in the order of the struct; none that is absent is written.
            part("excerpt");
            part(&serde_json::to_string(excerpt).unwrap_or_default());
        }
        Fingerprint(hash.finalize().into())
    }
}

/// How a record of the store holds a purchase. The forms of the first version stay byte for byte what they were; what they
/// cannot say is held as JSON, so that a purchase gains members (each with `#[serde(default)]`) and kinds without a new
/// version of every record that holds one.
pub mod record {
    use serde::de::Error as _;
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{ContextPurchase, ProofPackPurchase, Purchase};

    #[derive(Clone, Serialize, Deserialize)]
    enum Recorded {
        Context {
            target_url: String,
            tier: String,
            force_refresh: bool,
        },
        ProofPack {
            target_url: String,
            question: String,
            pack: String,
            force_refresh: bool,
        },
        Json(String),
    }

    impl Recorded {
        /// The form of the first version, if there is one, whether or not it says all of the purchase.
        fn first(purchase: &Purchase) -> Option<Recorded> {
            match purchase.clone() {
                Purchase::Context(context) => Some(Recorded::Context {
                    target_url: context.target_url,
                    tier: context.tier,
                    force_refresh: context.force_refresh,
                }),
                Purchase::ProofPack(pack) => Some(Recorded::ProofPack {
                    target_url: pack.target_url,
                    question: pack.question,
                    pack: pack.pack,
                    force_refresh: pack.force_refresh,
                }),
            }
        }

        fn read(self) -> Result<Purchase, serde_json::Error> {
            Ok(match self {
                Recorded::Context {
                    target_url,
                    tier,
                    force_refresh,
                } => Purchase::Context(ContextPurchase {
                    target_url,
                    tier,
                    force_refresh,
                    excerpt: None,
                }),
                Recorded::ProofPack {
                    target_url,
                    question,
                    pack,
                    force_refresh,
                } => Purchase::ProofPack(ProofPackPurchase {
                    target_url,
                    question,
                    pack,
                    force_refresh,
                }),
                Recorded::Json(text) => serde_json::from_str(&text)?,
            })
        }
    }

    pub fn serialize<S: Serializer>(purchase: &Purchase, to: S) -> Result<S::Ok, S::Error> {
        // The first form is taken where it says all of the purchase.
        let says_all = |form: &Recorded| form.clone().read().is_ok_and(|read| read == *purchase);
        if let Some(form) = Recorded::first(purchase).filter(says_all) {
            return form.serialize(to);
        }
        let text = serde_json::to_string(purchase).map_err(S::Error::custom)?;
        Recorded::Json(text).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Purchase, D::Error> {
        Recorded::deserialize(from)?
            .read()
            .map_err(D::Error::custom)
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
            excerpt: None,
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
    fn each_part_of_an_excerpt_changes_the_fingerprint_and_is_kept_in_a_record() {
        use crate::domain::excerpt::{Omitted, Selectors};
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        struct Record(#[serde(with = "record")] Purchase);
        let text = |text: &str| Some(text.to_owned());
        let excerpts = [
            Excerpt::default(),
            Excerpt {
                query: text("a"),
                ..Excerpt::default()
            },
            Excerpt {
                query: text("b"),
                ..Excerpt::default()
            },
            Excerpt {
                max_tokens: Some(500),
                ..Excerpt::default()
            },
            Excerpt {
                max_characters: Some(500),
                ..Excerpt::default()
            },
            Excerpt {
                omitted: Omitted {
                    links: true,
                    ..Omitted::default()
                },
                ..Excerpt::default()
            },
            Excerpt {
                omitted: Omitted {
                    images: true,
                    ..Omitted::default()
                },
                ..Excerpt::default()
            },
            Excerpt {
                omitted: Omitted {
                    tables: true,
                    ..Omitted::default()
                },
                ..Excerpt::default()
            },
            Excerpt {
                selectors: Selectors {
                    include: text("a"),
                    exclude: None,
                },
                ..Excerpt::default()
            },
            Excerpt {
                selectors: Selectors {
                    include: None,
                    exclude: text("a"),
                },
                ..Excerpt::default()
            },
        ];
        let mut seen = std::collections::HashSet::new();
        let config = bincode::config::standard();
        for excerpt in excerpts {
            let is_whole = excerpt.is_whole();
            let purchase = Purchase::Context(ContextPurchase {
                target_url: "https://example.com/".into(),
                tier: "fresh".into(),
                force_refresh: false,
                excerpt: Some(Box::new(excerpt)).filter(|_| !is_whole),
            });
            assert_eq!(
                purchase.fingerprint() == context("https://example.com/", "fresh", false),
                is_whole
            );
            assert!(
                seen.insert(purchase.fingerprint().to_string()),
                "{purchase:?}"
            );
            let bytes =
                bincode::serde::encode_to_vec(Record(purchase.clone()), config).expect("bytes");
            let (read, _): (Record, usize) =
                bincode::serde::decode_from_slice(&bytes, config).expect("a record");
            assert_eq!(read.0, purchase);
            if is_whole {
                // As it was before there were excerpts.
                let before = bincode::serde::encode_to_vec(&purchase, config).expect("bytes");
                assert_eq!(bytes, before);
            }
        }
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
