//! A resolved purchase: query, header and body agree.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::domain::amount::Amount;
use crate::domain::cache::Reading;
use crate::domain::keys::Fingerprint;
use crate::domain::level::{Level, Product};
use crate::domain::pack::Pack;
use crate::domain::render::Render;
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
    pub choices: Choices,
}

/// A report on one page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProofPackPurchase {
    /// The canonical target.
    pub target_url: String,
    pub question: String,
    /// The pack's name.
    pub pack: String,
    pub choices: Choices,
}

/// How the page is read. Stored as one byte, which was the flag `force_refresh` before there was a second choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "u8", into = "u8")]
pub struct Choices {
    /// Skip reading the cache, be it stated or the level's default.
    pub force_refresh: bool,
    /// `None`: what the level does by itself. So never that, in words.
    render: Option<Render>,
}

impl Choices {
    pub fn new(level: Level, force_refresh: bool, render: Option<Render>) -> Self {
        Choices {
            force_refresh,
            render: render.filter(|render| *render != Render::of_level(level)),
        }
    }
}

impl From<u8> for Choices {
    fn from(byte: u8) -> Self {
        Choices {
            force_refresh: byte & 1 == 1,
            render: match byte >> 1 {
                1 => Some(Render::Never),
                2 => Some(Render::Auto),
                3 => Some(Render::Always),
                _ => None,
            },
        }
    }
}

impl From<Choices> for u8 {
    fn from(choices: Choices) -> u8 {
        let render = match choices.render {
            None => 0,
            Some(Render::Never) => 1,
            Some(Render::Auto) => 2,
            Some(Render::Always) => 3,
        };
        u8::from(choices.force_refresh) | render << 1
    }
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
        render: Option<Render>,
    ) -> Self {
        let question = question.map(str::trim).filter(|text| !text.is_empty());
        ProofPackPurchase {
            target_url,
            question: question.unwrap_or(DEFAULT_QUESTION).to_owned(),
            pack: pack.name().to_owned(),
            choices: Choices::new(
                Level::Pack(pack),
                force_refresh.unwrap_or(pack.refreshes_by_default()),
                render,
            ),
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
            refresh: self.choices().force_refresh,
            render: self.render(),
        }
    }

    fn choices(&self) -> Choices {
        match self {
            Purchase::Context(context) => context.choices,
            Purchase::ProofPack(pack) => pack.choices,
        }
    }

    /// Whether the page is opened in a browser.
    pub fn render(&self) -> Render {
        let stated = self.choices().render;
        stated.unwrap_or_else(|| Render::of_level(self.level()))
    }

    /// The same, where it is not what the level does by itself.
    pub fn stated_render(&self) -> Option<Render> {
        self.choices().render
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
        // Only what is not the level's own: a purchase of before this choice has the fingerprint that it had.
        if let Some(render) = self.stated_render() {
            part("render");
            part(render.name());
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
            choices: Choices {
                force_refresh,
                render: None,
            },
        })
        .fingerprint()
    }

    fn pack(pack: Pack, question: Option<&str>, force_refresh: Option<bool>) -> Fingerprint {
        let url = "https://example.com/".to_owned();
        let purchase = ProofPackPurchase::new(url, pack, question, force_refresh, None);
        Purchase::ProofPack(purchase).fingerprint()
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

    #[test]
    fn rendering_is_part_of_a_purchase_where_it_is_stated() {
        let of = |tier: Tier, render| {
            Purchase::Context(ContextPurchase {
                target_url: "https://example.com/".to_owned(),
                tier: tier.name().to_owned(),
                choices: Choices::new(Level::Tier(tier), false, render),
            })
        };
        let plain = context("https://example.com/", "fresh", false);
        assert_eq!(of(Tier::Fresh, None).fingerprint(), plain);
        assert_eq!(of(Tier::Fresh, Some(Render::Auto)).fingerprint(), plain);
        assert_ne!(of(Tier::Fresh, Some(Render::Never)).fingerprint(), plain);
        assert_ne!(
            of(Tier::Fresh, Some(Render::Always)).fingerprint(),
            of(Tier::Fresh, Some(Render::Never)).fingerprint()
        );
        assert_eq!(of(Tier::Basic, None).render(), Render::Never);
        assert_eq!(of(Tier::Basic, Some(Render::Auto)).render(), Render::Auto);
        assert_eq!(of(Tier::Deep, None).render(), Render::Auto);
    }

    /// Records of before there was a second choice hold a flag in its place.
    #[test]
    fn choices_are_one_byte_that_was_a_flag() {
        for force_refresh in [false, true] {
            let old = Choices::from(u8::from(force_refresh));
            assert_eq!((old.force_refresh, old.render), (force_refresh, None));
            for render in [
                None,
                Some(Render::Never),
                Some(Render::Auto),
                Some(Render::Always),
            ] {
                let choices = Choices {
                    force_refresh,
                    render,
                };
                assert_eq!(Choices::from(u8::from(choices)), choices);
            }
        }
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
