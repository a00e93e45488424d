//! The products and their levels.

use crate::domain::amount::Amount;
use crate::domain::bundle::{self, Bundle};
use crate::domain::cache::CachePolicy;
use crate::domain::check::{self, CheckDepth};
use crate::domain::code::Code;
use crate::domain::pack::Pack;
use crate::domain::render::Render;
use crate::domain::tier::Tier;

/// A paid operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Product {
    /// Pages as markdown.
    Context,
    /// A report on what a page establishes.
    ProofPack,
    /// A report on what several sources say together.
    ProofBundle,
    /// A whole text checked against sources, claim by claim.
    Check,
}

/// What is priced: a level of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    Tier(Tier),
    Pack(Pack),
    Bundle(Bundle),
    Check(CheckDepth),
}

/// What one payment is for: a level, once or several times (pages, or sources of a check).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LineItem {
    pub level: Level,
    /// From 1 to [`Product::quantity_max`].
    pub quantity: usize,
}

/// The fewest pages of a purchase of several.
pub const PAGES_MIN: usize = 2;
/// The most pages of one purchase.
pub const PAGES_MAX: usize = 10;

struct Row {
    product: Product,
    name: &'static str,
    path: &'static str,
    /// What a level is called in query, body and answers.
    word: &'static str,
    /// The same in the plural, as documents name the list of levels.
    plural: &'static str,
    /// What documents call the words about what a level reads.
    policy_word: &'static str,
    /// The same as a header.
    header: &'static str,
    /// The header that names the level of a challenge and of an answer.
    paid_header: &'static str,
    /// How often a level may be bought at once.
    quantity_max: usize,
    /// The path that quotes the price for given sources.
    quote_path: &'static str,
    /// For a level that does not exist, and for two different ones in one request.
    invalid: Code,
    mismatch: Code,
    /// Words under which directories find it.
    tags: &'static [&'static str],
    /// The members of an answer that examples show, with the names of the objects that they are in.
    shows: &'static [&'static [&'static str]],
}

#[rustfmt::skip]
static TABLE: [Row; 4] = [
    Row { product: Product::Context, name: "context", path: "/v1/x402/access", word: "tier", plural: "tiers",
          policy_word: "cache_policy", header: "X-Service-Tier", paid_header: "x-service-payment-tier",
          quantity_max: PAGES_MAX, quote_path: "/v1/x402/quote",
          invalid: Code::InvalidTier, mismatch: Code::TierMismatch,
          tags: &["markdown", "scrape", "web", "context"], shows: &[&["markdown"]] },
    Row { product: Product::ProofPack, name: "proof_pack", path: "/v1/x402/proof-pack", word: "pack", plural: "packs",
          policy_word: "policy", header: "X-Service-Pack", paid_header: "x-service-payment-pack",
          quantity_max: 1, quote_path: "/v1/proof-pack/quote",
          invalid: Code::InvalidPack, mismatch: Code::PackMismatch,
          tags: &["evidence", "citations", "verification", "trust"],
          shows: &[&["decision", "label"], &["answer"], &["report_url"]] },
    Row { product: Product::ProofBundle, name: bundle::PRODUCT, path: "/v1/x402/proof-bundle", word: "bundle", plural: "bundles",
          policy_word: "policy", header: "X-Service-Bundle", paid_header: "x-service-payment-bundle",
          quantity_max: 1, quote_path: "/v1/proof-pack/bundle/quote",
          invalid: Code::InvalidBundle, mismatch: Code::BundleMismatch,
          tags: &["evidence", "multi-source", "verification", "diligence"],
          shows: &[&["decision", "label"], &["answer"], &["report_url"]] },
    Row { product: Product::Check, name: "check", path: "/v1/x402/check", word: "depth", plural: "depths",
          policy_word: "policy", header: "X-Service-Depth", paid_header: "x-service-payment-depth",
          quantity_max: check::SOURCES_MAX, quote_path: "/v1/x402/check/quote",
          invalid: Code::InvalidDepth, mismatch: Code::DepthMismatch,
          tags: &["grounding", "fact-check", "citations", "verification"],
          shows: &[&["score"], &["corrections"], &["report_url"]] },
];

impl Product {
    pub const ALL: [Product; 4] = [
        Product::Context,
        Product::ProofPack,
        Product::ProofBundle,
        Product::Check,
    ];
    /// The closed set of names, in the table's order.
    pub const NAMES: [&'static str; 4] =
        [TABLE[0].name, TABLE[1].name, TABLE[2].name, TABLE[3].name];

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

    /// What a level of it is called: `tier`, `pack`, `bundle` or `depth`.
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

    /// `tiers`, `packs`, `bundles` or `depths`.
    pub fn levels_word(self) -> &'static str {
        self.row().plural
    }

    /// What documents call [`Level::policy`].
    pub fn policy_word(self) -> &'static str {
        self.row().policy_word
    }

    /// How often a level may be bought at once.
    pub fn quantity_max(self) -> usize {
        self.row().quantity_max
    }

    /// What the price of a level is multiplied by, if by anything.
    pub fn priced_by(self) -> Option<&'static str> {
        match self {
            Product::Context => Some("page"),
            Product::Check => Some("source"),
            Product::ProofPack | Product::ProofBundle => None,
        }
    }

    /// The path that quotes the price for given sources.
    pub fn quote_path(self) -> &'static str {
        self.row().quote_path
    }

    /// The refusal of a level that does not exist.
    pub fn invalid_level(self) -> Code {
        self.row().invalid
    }

    /// The refusal of two different levels in one request.
    pub fn level_mismatch(self) -> Code {
        self.row().mismatch
    }

    /// Words under which directories find it.
    pub fn tags(self) -> &'static [&'static str] {
        self.row().tags
    }

    /// The members of an answer that examples show, each by its path.
    pub fn shows(self) -> &'static [&'static [&'static str]] {
        self.row().shows
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
            Product::ProofBundle => Level::Bundle(Bundle::default()),
            Product::Check => Level::Check(CheckDepth::default()),
        }
    }

    /// The level of this product with that name.
    pub fn level(self, name: &str) -> Option<Level> {
        match self {
            Product::Context => Tier::parse(name).map(Level::Tier),
            Product::ProofPack => Pack::parse(name).map(Level::Pack),
            Product::ProofBundle => Bundle::parse(name).map(Level::Bundle),
            Product::Check => CheckDepth::parse(name).map(Level::Check),
        }
    }

    pub fn level_names(self) -> &'static [&'static str] {
        match self {
            Product::Context => &Tier::NAMES,
            Product::ProofPack => &Pack::NAMES,
            Product::ProofBundle => &Bundle::NAMES,
            Product::Check => &CheckDepth::NAMES,
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
    pub const ALL: [Level; 13] = [
        Level::Tier(Tier::Starter),
        Level::Tier(Tier::Cached),
        Level::Tier(Tier::Basic),
        Level::Tier(Tier::Fresh),
        Level::Tier(Tier::Deep),
        Level::Pack(Pack::Quick),
        Level::Pack(Pack::Standard),
        Level::Pack(Pack::Deep),
        Level::Bundle(Bundle::Scout),
        Level::Bundle(Bundle::Builder),
        Level::Bundle(Bundle::Audit),
        Level::Check(CheckDepth::Quick),
        Level::Check(CheckDepth::Standard),
    ];

    /// Its place in [`Level::ALL`].
    pub fn position(self) -> usize {
        match self {
            Level::Tier(tier) => tier as usize,
            Level::Pack(pack) => Tier::ALL.len() + pack as usize,
            Level::Bundle(bundle) => Tier::ALL.len() + Pack::ALL.len() + bundle as usize,
            Level::Check(depth) => {
                Tier::ALL.len() + Pack::ALL.len() + Bundle::ALL.len() + depth as usize
            }
        }
    }

    pub fn product(self) -> Product {
        match self {
            Level::Tier(_) => Product::Context,
            Level::Pack(_) => Product::ProofPack,
            Level::Bundle(_) => Product::ProofBundle,
            Level::Check(_) => Product::Check,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Level::Tier(tier) => tier.name(),
            Level::Pack(pack) => pack.name(),
            Level::Bundle(bundle) => bundle.name(),
            Level::Check(depth) => depth.name(),
        }
    }

    /// Of one page, report or bundle, or of a check for each source.
    pub fn price(self) -> Amount {
        match self {
            Level::Tier(tier) => tier.price(),
            Level::Pack(pack) => pack.price(),
            Level::Bundle(bundle) => bundle.price(),
            Level::Check(depth) => depth.price(),
        }
    }

    pub fn cache(self) -> CachePolicy {
        match self {
            Level::Tier(tier) => tier.cache(),
            Level::Pack(pack) => pack.cache(),
            Level::Bundle(bundle) => bundle.pack().cache(),
            Level::Check(depth) => depth.cache(),
        }
    }

    /// Whether its pages are opened in a browser where a request does not say.
    pub fn render(self) -> Render {
        match self {
            Level::Tier(Tier::Fresh | Tier::Deep) => Render::Auto,
            Level::Tier(Tier::Starter | Tier::Cached | Tier::Basic) => Render::Never,
            Level::Pack(Pack::Standard | Pack::Deep) => Render::Auto,
            Level::Pack(Pack::Quick) => Render::Never,
            // A bundle reads each source as its pack does.
            Level::Bundle(bundle) => Level::Pack(bundle.pack()).render(),
            Level::Check(CheckDepth::Standard) => Render::Auto,
            Level::Check(CheckDepth::Quick) => Render::Never,
        }
    }

    /// Whether a language model may be asked for it.
    pub fn may_synthesize(self) -> bool {
        match self {
            Level::Pack(pack) => pack.may_synthesize(),
            // Several sources are read within one deadline, in which a language model cannot be asked of each.
            Level::Tier(_) | Level::Bundle(_) | Level::Check(_) => false,
        }
    }

    /// What a report of it is made from, in a buyer's words.
    pub fn reads(self, has_model: bool) -> Option<String> {
        match self {
            Level::Tier(_) => None,
            Level::Pack(pack) => Some(pack.reads(has_model)),
            Level::Bundle(bundle) => Some(bundle.reads(has_model)),
            Level::Check(depth) => Some(format!("It {}.", depth.reading(has_model).reads())),
        }
    }

    /// What it reads, in words for buyers.
    pub fn policy(self) -> &'static str {
        match self {
            Level::Tier(tier) => tier.policy(),
            Level::Pack(pack) => pack.policy(),
            Level::Bundle(bundle) => bundle.policy(),
            Level::Check(depth) => depth.policy(),
        }
    }
}

impl LineItem {
    /// `None` beyond what the product sells at once.
    pub fn new(level: Level, quantity: usize) -> Option<LineItem> {
        let is_sold = (1..=level.product().quantity_max()).contains(&quantity);
        is_sold.then_some(LineItem { level, quantity })
    }

    /// What it costs in all.
    pub fn price(self) -> Amount {
        self.level.price().times(self.quantity)
    }

    pub fn product(self) -> Product {
        self.level.product()
    }
}

impl From<Level> for LineItem {
    fn from(level: Level) -> LineItem {
        LineItem { level, quantity: 1 }
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
        let of_all = Product::ALL.map(|product| product.levels().count());
        assert_eq!(Level::ALL.len(), of_all.iter().sum::<usize>());
    }

    #[test]
    fn the_table_of_products_stands_in_the_order_of_the_enum() {
        for product in Product::ALL {
            assert_eq!(product.row().product, product);
            assert_eq!(Product::parse(product.name()), Some(product));
            assert_eq!(product.name(), Product::NAMES[product as usize]);
            let names: Vec<&str> = product.levels().map(Level::name).collect();
            assert_eq!(names, product.level_names());
        }
    }

    #[test]
    fn levels_that_promise_the_page_as_people_see_it_render() {
        for tier in Tier::ALL {
            let expected = match tier {
                Tier::Fresh | Tier::Deep => Render::Auto,
                _ => Render::Never,
            };
            assert_eq!(Level::Tier(tier).render(), expected);
        }
        assert_eq!(Level::Pack(Pack::Quick).render(), Render::Never);
        assert_eq!(Level::Pack(Pack::Standard).render(), Render::Auto);
        assert_eq!(Level::Pack(Pack::Deep).render(), Render::Auto);
    }
}
