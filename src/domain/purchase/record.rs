//! How a record of the store holds a purchase. The forms of the first version stay byte for byte what they were; what they
//! cannot say is held as JSON, so that a purchase gains members (each with `#[serde(default)]`) and kinds without a new
//! version of every record that holds one.

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::domain::pack::Pack;
use crate::domain::purchase::{Choices, ContextPurchase, ProofPackPurchase, Purchase};
use crate::domain::tier::Tier;

#[derive(Clone, Serialize, Deserialize)]
enum Recorded {
    Context {
        target_url: String,
        tier: Tier,
        force_refresh: bool,
    },
    ProofPack {
        target_url: String,
        question: String,
        pack: Pack,
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
                force_refresh: context.choices.force_refresh,
            }),
            Purchase::ProofPack(pack) => Some(Recorded::ProofPack {
                target_url: pack.target_url,
                question: pack.question,
                pack: pack.pack,
                force_refresh: pack.choices.force_refresh,
            }),
            Purchase::Pages(_) | Purchase::ProofBundle(_) | Purchase::Check(_) => None,
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
                choices: Choices::refresh(force_refresh),
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
                choices: Choices::refresh(force_refresh),
                screenshot: false,
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
