//! A resolved purchase: query, header and body agree.

mod kinds;
pub mod record;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::domain::amount::Amount;
use crate::domain::bundle::read_min;
use crate::domain::cache::Reading;
use crate::domain::excerpt::{Excerpt, Extent};
use crate::domain::keys::Fingerprint;
use crate::domain::level::{Level, LineItem, Product};
use crate::domain::render::Render;

pub use kinds::{
    CheckPurchase, Choices, ContextPurchase, DEFAULT_QUESTION, PagesPurchase, ProofBundlePurchase,
    ProofPackPurchase, SourceInput,
};

/// What a payment buys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purchase {
    Context(ContextPurchase),
    ProofPack(ProofPackPurchase),
    Pages(PagesPurchase),
    ProofBundle(ProofBundlePurchase),
    Check(CheckPurchase),
}

impl Purchase {
    pub fn level(&self) -> Level {
        match self {
            Purchase::Context(context) => Level::Tier(context.tier),
            Purchase::ProofPack(pack) => Level::Pack(pack.pack),
            Purchase::Pages(pages) => Level::Tier(pages.tier),
            Purchase::ProofBundle(bundle) => Level::Bundle(bundle.bundle),
            Purchase::Check(check) => Level::Check(check.depth),
        }
    }

    pub fn product(&self) -> Product {
        self.level().product()
    }

    /// The level, and how often it is bought: for each page, and for each source of a check.
    pub fn line_item(&self) -> LineItem {
        let quantity = match self {
            Purchase::Pages(pages) => pages.target_urls.len(),
            Purchase::Check(check) => check.sources.len(),
            Purchase::Context(_) | Purchase::ProofPack(_) | Purchase::ProofBundle(_) => 1,
        };
        LineItem {
            level: self.level(),
            quantity,
        }
    }

    pub fn price(&self) -> Amount {
        self.line_item().price()
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
            Purchase::Pages(pages) => {
                pages.target_urls.iter_mut().for_each(String::clear);
                pages.excerpt = None;
            }
            Purchase::ProofBundle(bundle) => {
                bundle.sources = vec![SourceInput::Page(String::new()); bundle.sources.len()];
                bundle.question = String::new();
            }
            Purchase::Check(check) => {
                check.sources = vec![SourceInput::Page(String::new()); check.sources.len()];
                check.text = String::new();
            }
        }
    }

    /// Empties the texts that came with the request. They are in the answer; the record of the payment needs them only
    /// until there is one.
    pub fn forget_sources(&mut self) {
        match self {
            Purchase::ProofBundle(bundle) => {
                bundle.sources.iter_mut().for_each(SourceInput::forget_text);
            }
            Purchase::Check(check) => {
                check.sources.iter_mut().for_each(SourceInput::forget_text);
                check.text = String::new();
            }
            Purchase::Context(_) | Purchase::ProofPack(_) | Purchase::Pages(_) => {}
        }
    }

    /// The first page that it reads; empty where it reads none.
    pub fn target_url(&self) -> &str {
        self.target_urls().next().unwrap_or_default()
    }

    /// Every page that it reads.
    pub fn target_urls(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        match self {
            Purchase::Context(ContextPurchase { target_url, .. })
            | Purchase::ProofPack(ProofPackPurchase { target_url, .. }) => {
                Box::new(std::iter::once(target_url.as_str()))
            }
            Purchase::Pages(pages) => Box::new(pages.target_urls.iter().map(String::as_str)),
            Purchase::ProofBundle(ProofBundlePurchase { sources, .. })
            | Purchase::Check(CheckPurchase { sources, .. }) => {
                Box::new(sources.iter().filter_map(SourceInput::target_url))
            }
        }
    }

    /// The sources of a purchase that may have others than pages.
    fn sources(&self) -> &[SourceInput] {
        match self {
            Purchase::ProofBundle(ProofBundlePurchase { sources, .. })
            | Purchase::Check(CheckPurchase { sources, .. }) => sources,
            Purchase::Context(_) | Purchase::Pages(_) | Purchase::ProofPack(_) => &[],
        }
    }

    /// How many sources it has, and how many of them have to be read for it to be sold.
    pub fn sources_needed(&self) -> (usize, usize) {
        match self {
            Purchase::Context(_) | Purchase::ProofPack(_) => (1, 1),
            Purchase::Pages(pages) => (pages.target_urls.len(), pages.min_pages),
            Purchase::ProofBundle(bundle) => {
                let count = bundle.sources.len();
                (count, read_min(count))
            }
            Purchase::Check(check) => (check.sources.len(), check.sources.len()),
        }
    }

    /// What is asked of the sources, where anything is.
    pub fn question(&self) -> Option<&str> {
        match self {
            Purchase::ProofPack(pack) => Some(&pack.question),
            Purchase::ProofBundle(bundle) => Some(&bundle.question),
            Purchase::Context(_) | Purchase::Pages(_) | Purchase::Check(_) => None,
        }
    }

    /// The part of the page, or of each page, that is bought, where it is not the whole.
    pub fn excerpt(&self) -> Option<&Excerpt> {
        match self {
            Purchase::Context(context) => context.excerpt.as_deref(),
            Purchase::Pages(pages) => pages.excerpt.as_deref(),
            Purchase::ProofPack(_) | Purchase::ProofBundle(_) | Purchase::Check(_) => None,
        }
    }

    /// What of the pages' HTML is read.
    pub fn extent(&self) -> Extent {
        let selectors = self.excerpt().map(|excerpt| excerpt.selectors.clone());
        Extent {
            selectors: selectors.unwrap_or_default(),
            comments: self.choices().include_comments,
        }
    }

    /// Whether a picture of the page is part of it.
    pub fn has_screenshot(&self) -> bool {
        matches!(self, Purchase::ProofPack(pack) if pack.screenshot)
    }

    /// From where the pages are read.
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
            Purchase::Pages(pages) => pages.choices,
            Purchase::ProofBundle(bundle) => bundle.choices,
            Purchase::Check(check) => check.choices,
        }
    }

    /// Whether the page is opened in a browser.
    pub fn render(&self) -> Render {
        let stated = self.choices().render;
        stated.unwrap_or_else(|| self.level().render())
    }

    /// The same, where it is not what the level does by itself.
    pub fn stated_render(&self) -> Option<Render> {
        self.choices().render
    }

    /// What a request has to say of the cache, where it is not what the level does by itself.
    pub fn stated_refresh(&self) -> Option<bool> {
        let refresh = self.reading().refresh;
        let default = match self.level() {
            Level::Pack(pack) => pack.refreshes_by_default(),
            Level::Bundle(bundle) => bundle.pack().refreshes_by_default(),
            Level::Tier(_) | Level::Check(_) => false,
        };
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
        match self {
            Purchase::Context(_) | Purchase::ProofPack(_) => part(self.target_url()),
            Purchase::Pages(pages) => {
                // No page has this address.
                part("");
                part(&pages.min_pages.to_string());
                pages.target_urls.iter().for_each(|url| part(url));
            }
            Purchase::Check(check) => part(&check.text),
            Purchase::ProofBundle(_) => {}
        }
        let sources = self.sources();
        sources.iter().for_each(|source| part(&source.name()));
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
        if self.choices().include_comments {
            part("comments");
        }
        if let Some(excerpt) = self.excerpt() {
            // The members stand in the order of the struct; none that is absent is written.
            part("excerpt");
            part(&serde_json::to_string(excerpt).unwrap_or_default());
        }
        if self.has_screenshot() {
            part("screenshot");
        }
        for (at, source) in sources.iter().enumerate() {
            if let SourceInput::Text {
                title: Some(title), ..
            } = source
            {
                part(&format!("title {at}"));
                part(title);
            }
        }
        Fingerprint(hash.finalize().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::bundle::Bundle;
    use crate::domain::check::CheckDepth;
    use crate::domain::pack::Pack;
    use crate::domain::tier::Tier;

    fn context(target_url: &str, tier: Tier, force_refresh: bool) -> Fingerprint {
        Purchase::Context(ContextPurchase {
            target_url: target_url.into(),
            tier,
            choices: Choices::refresh(force_refresh),
            excerpt: None,
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
        let one = context("https://example.com/", Tier::Fresh, false);
        assert_eq!(one, context("https://example.com/", Tier::Fresh, false));
        assert_ne!(one, context("https://example.com/", Tier::Fresh, true));
        assert_ne!(one, context("https://example.com/", Tier::Deep, false));
        assert_ne!(one, context("https://example.com/f", Tier::Fresh, false));

        // No two lists of parts share their bytes.
        let pages = |target_urls: [&str; 2]| {
            Purchase::Pages(PagesPurchase {
                target_urls: target_urls.map(str::to_owned).into(),
                tier: Tier::Fresh,
                choices: Choices::default(),
                min_pages: 1,
                excerpt: None,
            })
            .fingerprint()
        };
        assert_ne!(pages(["ab", "c"]), pages(["a", "bc"]));

        let one = pack(Pack::Deep, None, None);
        assert_ne!(one, context("https://example.com/", Tier::Deep, true));
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
                tier: Tier::Fresh,
                choices: Choices::default(),
                excerpt: Some(Box::new(excerpt)).filter(|_| !is_whole),
            });
            assert_eq!(
                purchase.fingerprint() == context("https://example.com/", Tier::Fresh, false),
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
                let before = (0_u32, "https://example.com/", Tier::Fresh, false);
                let before = bincode::serde::encode_to_vec(before, config).expect("bytes");
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

    #[test]
    fn rendering_is_part_of_a_purchase_where_it_is_stated() {
        let of = |tier: Tier, render| {
            Purchase::Context(ContextPurchase {
                target_url: "https://example.com/".to_owned(),
                tier,
                choices: Choices::new(Level::Tier(tier), false, render),
                excerpt: None,
            })
        };
        let plain = context("https://example.com/", Tier::Fresh, false);
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

    /// Records of before there were types for them hold the same texts.
    #[test]
    fn a_level_is_recorded_as_its_name_and_no_other_text_is_read() {
        fn check<L>(levels: &[L], name: fn(L) -> &'static str)
        where
            L: Copy + std::fmt::Debug + PartialEq + Serialize + serde::de::DeserializeOwned,
        {
            let config = bincode::config::standard();
            for level in levels.iter().copied() {
                let text = bincode::serde::encode_to_vec(name(level), config).expect("bytes");
                let bytes = bincode::serde::encode_to_vec(level, config).expect("bytes");
                assert_eq!(bytes, text, "{level:?}");
                let (read, _): (L, usize) =
                    bincode::serde::decode_from_slice(&text, config).expect("a level");
                assert_eq!(read, level);
            }
            let damaged = bincode::serde::encode_to_vec("Deep", config).expect("bytes");
            let read = bincode::serde::decode_from_slice::<L, _>(&damaged, config);
            assert!(read.is_err(), "{read:?}");
        }
        check(&Tier::ALL, Tier::name);
        check(&Pack::ALL, Pack::name);
        check(&Bundle::ALL, Bundle::name);
        check(&CheckDepth::ALL, CheckDepth::name);
    }

    /// A purchase as its level reads it is recorded as before there was a second choice.
    #[test]
    fn a_stated_choice_is_recorded_and_the_level_s_own_is_not() {
        let recorded = |render| {
            let purchase = Purchase::Context(ContextPurchase {
                target_url: "https://example.com/".to_owned(),
                tier: Tier::Fresh,
                choices: Choices::new(Level::Tier(Tier::Fresh), true, render),
                excerpt: None,
            });
            let mut text = Vec::new();
            let mut to = serde_json::Serializer::new(&mut text);
            record::serialize(&purchase, &mut to).expect("text");
            let mut from = serde_json::Deserializer::from_slice(&text);
            assert_eq!(record::deserialize(&mut from).expect("our own"), purchase);
            String::from_utf8(text).expect("JSON")
        };
        let first = recorded(None);
        assert!(
            first.starts_with("{\"Context\"") && !first.contains("render"),
            "{first}"
        );
        assert_eq!(recorded(Some(Render::Auto)), first);
        assert!(recorded(Some(Render::Never)).contains("never"));
    }

    /// A report without a picture is recorded and identified as before there were any.
    #[test]
    fn a_screenshot_is_part_of_a_purchase_where_it_is_asked_for() {
        let url = "https://example.com/".to_owned();
        let plain = ProofPackPurchase::new(url, Pack::Deep, None, None, None);
        let purchases = [false, true]
            .map(|screenshot| Purchase::ProofPack(plain.clone().with_screenshot(screenshot)));
        assert_eq!(purchases[0].fingerprint(), pack(Pack::Deep, None, None));
        assert_ne!(purchases[0].fingerprint(), purchases[1].fingerprint());
        let recorded = purchases.each_ref().map(|purchase| {
            let mut text = Vec::new();
            record::serialize(purchase, &mut serde_json::Serializer::new(&mut text)).expect("text");
            let mut from = serde_json::Deserializer::from_slice(&text);
            assert_eq!(record::deserialize(&mut from).expect("our own"), *purchase);
            String::from_utf8(text).expect("JSON")
        });
        assert!(recorded[0].starts_with("{\"ProofPack\"") && !recorded[0].contains("screenshot"));
        assert!(recorded[1].contains("screenshot"), "{}", recorded[1]);
    }

    /// The title of a text stands in the report.
    #[test]
    fn texts_with_other_titles_are_other_purchases() {
        let check = |title: Option<&str>| {
            Purchase::Check(CheckPurchase {
                text: "Boats are long.".to_owned(),
                sources: vec![SourceInput::Text {
                    title: title.map(str::to_owned),
                    text: "Boats.".to_owned(),
                }],
                depth: CheckDepth::Quick,
                choices: Choices::default(),
            })
        };
        let [none, draft, last] =
            [None, Some("Draft"), Some("Final")].map(|title| check(title).fingerprint());
        assert!(none != draft && draft != last && none != last);
    }

    /// A retry credit and a payment identifier of before an upgrade must still be for the same thing.
    #[test]
    fn fingerprints_stay_what_they_were() {
        assert_eq!(
            context("https://example.com/", Tier::Fresh, false).to_string(),
            "1e0175bac1f6f28f22ac8cfd63efac154ee6f211cbcbce4e166bc6554ae1ea9b"
        );
    }
}
