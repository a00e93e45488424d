//! Tiers of the context endpoint and their table (specification 2.1).

use crate::domain::amount::Amount;
use crate::domain::cache::CachePolicy;

/// The levels of the context endpoint: freshness against price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tier {
    Starter,
    Cached,
    Basic,
    #[default]
    Fresh,
    Deep,
}

struct Row {
    tier: Tier,
    name: &'static str,
    units: u64,
    cache: CachePolicy,
    /// The specification's words for the cache policy.
    policy: &'static str,
}

#[rustfmt::skip]
const TABLE: [Row; 5] = [
    Row { tier: Tier::Starter, name: "starter", units: 12_000, cache: CachePolicy::CacheOnly { sample: true },
          policy: "starter sample or cache-only; no upstream fetch on a miss" },
    Row { tier: Tier::Cached, name: "cached", units: 15_000, cache: CachePolicy::CacheOnly { sample: false },
          policy: "cache-only; no upstream fetch on a miss" },
    Row { tier: Tier::Basic, name: "basic", units: 20_000, cache: CachePolicy::UpTo { age_seconds: 3600 },
          policy: "standard cache, 3600 seconds" },
    Row { tier: Tier::Fresh, name: "fresh", units: 30_000, cache: CachePolicy::Bypass,
          policy: "bypass cache" },
    Row { tier: Tier::Deep, name: "deep", units: 50_000, cache: CachePolicy::UpTo { age_seconds: 1800 },
          policy: "short cache, 1800 seconds" },
];

impl Tier {
    pub const ALL: [Tier; 5] = [
        Tier::Starter,
        Tier::Cached,
        Tier::Basic,
        Tier::Fresh,
        Tier::Deep,
    ];
    /// The closed set of names, in the table's order.
    pub const NAMES: [&'static str; 5] = [
        TABLE[0].name,
        TABLE[1].name,
        TABLE[2].name,
        TABLE[3].name,
        TABLE[4].name,
    ];

    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    pub fn parse(name: &str) -> Option<Tier> {
        TABLE
            .iter()
            .find(|row| row.name == name)
            .map(|row| row.tier)
    }

    pub fn name(self) -> &'static str {
        self.row().name
    }

    pub fn price(self) -> Amount {
        Amount::from_units(self.row().units)
    }

    pub fn cache(self) -> CachePolicy {
        self.row().cache
    }

    pub fn policy(self) -> &'static str {
        self.row().policy
    }

    /// Whether this tier may read the network at all.
    pub fn may_fetch(self) -> bool {
        self.cache().may_fetch()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_stands_in_the_order_of_the_enum() {
        for tier in Tier::ALL {
            assert_eq!(tier.row().tier, tier);
            assert_eq!(Tier::parse(tier.name()), Some(tier));
        }
        assert_eq!(Tier::parse("Fresh"), None);
        assert_eq!(Tier::default().price().units(), 30_000);
    }
}
