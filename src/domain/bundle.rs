//! Bundles, the levels of an Evidence Bundle, and their table. They are paid by x402, or through a payment link in US
//! cents.

use crate::domain::level_table::level_table;
use crate::domain::pack::Pack;

/// The sizes of an Evidence Bundle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Bundle {
    Scout,
    #[default]
    Builder,
    Audit,
}

struct Row {
    level: Bundle,
    name: &'static str,
    units: u64,
    source_limit: usize,
    /// How each of its sources is read.
    pack: Pack,
    /// What it reads, in words for buyers.
    policy: &'static str,
}

#[rustfmt::skip]
const TABLE: [Row; 3] = [
    Row { level: Bundle::Scout, name: "scout", units: 2_000_000, source_limit: 3, pack: Pack::Standard,
          policy: "up to 3 public sources, lightweight multi-source evidence scout" },
    Row { level: Bundle::Builder, name: "builder", units: 7_000_000, source_limit: 10, pack: Pack::Standard,
          policy: "up to 10 public sources, builder-ready evidence bundle" },
    Row { level: Bundle::Audit, name: "audit", units: 20_000_000, source_limit: 25, pack: Pack::Deep,
          policy: "up to 25 public sources, deeper launch or vendor due diligence" },
];

/// The most sources that any bundle takes.
pub const SOURCES_MAX: usize = TABLE[2].source_limit;
/// The fewest, and the fewest that are compared.
pub const SOURCES_MIN: usize = 2;
/// [`read_min`] in a buyer's words.
pub const READ_RULE: &str = "Over x402 a bundle is sold if at least two of its sources, and at least half of them, can be \
                             read; otherwise nothing is charged.";
/// What the product is called on the wire.
pub const PRODUCT: &str = "proof_bundle";
/// Atomic units of USDC in a cent.
const UNITS_PER_CENT: u64 = 10_000;

level_table!(Bundle);

/// How many of a bundle's sources have to be read before it is sold.
pub fn read_min(sources: usize) -> usize {
    sources.div_ceil(2).max(SOURCES_MIN)
}

/// How people without a wallet pay.
pub fn payment_of_people(has_payment_link: bool) -> &'static str {
    match has_payment_link {
        true => "through a payment link",
        false => "on request",
    }
}

impl Bundle {
    /// The smallest bundle for a number of sources; the largest if none fits, the default for zero.
    pub fn for_count(sources: usize) -> Bundle {
        if sources == 0 {
            return Bundle::default();
        }
        let fits = TABLE.iter().find(|row| row.source_limit >= sources);
        fits.map_or(Bundle::Audit, |row| row.level)
    }

    /// What the payment link charges, in cents of a dollar.
    pub fn cents(self) -> u64 {
        self.row().units / UNITS_PER_CENT
    }

    pub fn source_limit(self) -> usize {
        self.row().source_limit
    }

    /// The pack whose reports it is made of.
    pub fn pack(self) -> Pack {
        self.row().pack
    }

    /// How each source is read, in a buyer's words.
    pub fn reads(self, has_model: bool) -> String {
        self.pack().reads(has_model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_stands_in_the_order_of_the_enum() {
        for bundle in Bundle::ALL {
            assert_eq!(bundle.row().level, bundle);
            assert_eq!(Bundle::parse(bundle.name()), Some(bundle));
            assert_eq!(bundle.price().units(), bundle.cents() * UNITS_PER_CENT);
        }
        assert_eq!(Bundle::parse("Scout"), None);
        assert_eq!(Bundle::ALL.map(Bundle::cents), [200, 700, 2_000]);
    }

    #[test]
    fn the_smallest_that_takes_them_is_recommended() {
        for (sources, expected) in [
            (0, Bundle::Builder),
            (1, Bundle::Scout),
            (3, Bundle::Scout),
            (4, Bundle::Builder),
            (10, Bundle::Builder),
            (11, Bundle::Audit),
            (25, Bundle::Audit),
            (26, Bundle::Audit),
        ] {
            assert_eq!(Bundle::for_count(sources), expected, "{sources}");
        }
    }
}
