//! The products and their levels.

use crate::domain::amount::Amount;
use crate::domain::cache::CachePolicy;
use crate::domain::pack::Pack;
use crate::domain::schema::Object;
use crate::domain::shapes::{ACCESS_REQUEST, PROOF_PACK_REQUEST};
use crate::domain::tier::Tier;

/// A paid operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Product {
    /// One page as markdown.
    Context,
    /// A report on what a page establishes.
    ProofPack,
}

/// What is priced: a level of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    Tier(Tier),
    Pack(Pack),
}

struct Row {
    product: Product,
    name: &'static str,
    path: &'static str,
    /// What a level is called in query, body and answers.
    word: &'static str,
    /// The same as a header.
    header: &'static str,
    /// The header that names the level of a challenge and of an answer.
    paid_header: &'static str,
    request: &'static Object,
}

#[rustfmt::skip]
static TABLE: [Row; 2] = [
    Row { product: Product::Context, name: "context", path: "/v1/x402/access", word: "tier",
          header: "X-Service-Tier", paid_header: "x-service-payment-tier", request: &ACCESS_REQUEST },
    Row { product: Product::ProofPack, name: "proof_pack", path: "/v1/x402/proof-pack", word: "pack",
          header: "X-Service-Pack", paid_header: "x-service-payment-pack", request: &PROOF_PACK_REQUEST },
];

impl Product {
    pub const ALL: [Product; 2] = [Product::Context, Product::ProofPack];
    pub const NAMES: [&'static str; 2] = ["context", "proof_pack"];

    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    pub fn parse(name: &str) -> Option<Product> {
        TABLE
            .iter()
            .find(|row| row.name == name)
            .map(|row| row.product)
    }

    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The path of the paid operation.
    pub fn path(self) -> &'static str {
        self.row().path
    }

    /// `tier` or `pack`.
    pub fn level_word(self) -> &'static str {
        self.row().word
    }

    /// The request header that states a level, as documents write it.
    pub fn level_header(self) -> &'static str {
        self.row().header
    }

    /// The answer's header that states what was, or is to be, paid for.
    pub fn paid_header(self) -> &'static str {
        self.row().paid_header
    }

    pub fn request(self) -> &'static Object {
        self.row().request
    }

    pub fn levels(self) -> impl Iterator<Item = Level> {
        Level::ALL
            .into_iter()
            .filter(move |level| level.product() == self)
    }

    /// The level that is meant where none is stated.
    pub fn default_level(self) -> Level {
        match self {
            Product::Context => Level::Tier(Tier::default()),
            Product::ProofPack => Level::Pack(Pack::default()),
        }
    }

    /// The level of this product with that name.
    pub fn level(self, name: &str) -> Option<Level> {
        match self {
            Product::Context => Tier::parse(name).map(Level::Tier),
            Product::ProofPack => Pack::parse(name).map(Level::Pack),
        }
    }

    pub fn level_names(self) -> &'static [&'static str] {
        match self {
            Product::Context => &Tier::NAMES,
            Product::ProofPack => &Pack::NAMES,
        }
    }

    /// The least and the most that it costs.
    pub fn prices(self) -> (Amount, Amount) {
        let prices = || self.levels().map(Level::price);
        (
            prices().min().unwrap_or_default(),
            prices().max().unwrap_or_default(),
        )
    }
}

impl Level {
    /// Every level, in the order of the tables.
    pub const ALL: [Level; 8] = [
        Level::Tier(Tier::Starter),
        Level::Tier(Tier::Cached),
        Level::Tier(Tier::Basic),
        Level::Tier(Tier::Fresh),
        Level::Tier(Tier::Deep),
        Level::Pack(Pack::Quick),
        Level::Pack(Pack::Standard),
        Level::Pack(Pack::Deep),
    ];

    /// Its place in [`Level::ALL`].
    pub fn position(self) -> usize {
        match self {
            Level::Tier(tier) => tier as usize,
            Level::Pack(pack) => Tier::ALL.len() + pack as usize,
        }
    }

    pub fn product(self) -> Product {
        match self {
            Level::Tier(_) => Product::Context,
            Level::Pack(_) => Product::ProofPack,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Level::Tier(tier) => tier.name(),
            Level::Pack(pack) => pack.name(),
        }
    }

    pub fn price(self) -> Amount {
        match self {
            Level::Tier(tier) => tier.price(),
            Level::Pack(pack) => pack.price(),
        }
    }

    pub fn cache(self) -> CachePolicy {
        match self {
            Level::Tier(tier) => tier.cache(),
            Level::Pack(pack) => pack.cache(),
        }
    }

    /// Whether a language model may be asked for it.
    pub fn may_synthesize(self) -> bool {
        matches!(self, Level::Pack(pack) if pack.may_synthesize())
    }

    /// What a report of it is made from, in a buyer's words.
    pub fn reads(self, has_model: bool) -> Option<String> {
        match self {
            Level::Tier(_) => None,
            Level::Pack(pack) => Some(pack.reads(has_model)),
        }
    }

    /// The specification's words for what it reads.
    pub fn policy(self) -> &'static str {
        match self {
            Level::Tier(tier) => tier.policy(),
            Level::Pack(pack) => pack.policy(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_stands_in_its_place_under_its_product() {
        for (position, level) in Level::ALL.into_iter().enumerate() {
            assert_eq!(level.position(), position);
            assert_eq!(level.product().level(level.name()), Some(level));
        }
        assert_eq!(Level::ALL.len(), Tier::ALL.len() + Pack::ALL.len());
    }

    #[test]
    fn the_table_of_products_stands_in_the_order_of_the_enum() {
        for product in Product::ALL {
            assert_eq!(product.row().product, product);
            assert_eq!(Product::parse(product.name()), Some(product));
            assert_eq!(product.name(), Product::NAMES[product as usize]);
            let names: Vec<&str> = product.levels().map(Level::name).collect();
            assert_eq!(names, product.level_names());
            let word = product.level_word();
            let fields = product.request().fields;
            assert!(fields.iter().any(|field| field.name == word), "{word}");
        }
    }
}
