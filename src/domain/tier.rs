//! Tiers of the context endpoint and their table.

use crate::domain::cache::CachePolicy;
use crate::domain::level_table::level_table;

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
    level: Tier,
    name: &'static str,
    units: u64,
    cache: CachePolicy,
    /// The cache policy, in words for buyers.
    policy: &'static str,
}

#[rustfmt::skip]
const TABLE: [Row; 5] = [
    Row { level: Tier::Starter, name: "starter", units: 12_000, cache: CachePolicy::CacheOnly { sample: true },
          policy: "starter sample or cache-only; no upstream fetch on a miss" },
    Row { level: Tier::Cached, name: "cached", units: 15_000, cache: CachePolicy::CacheOnly { sample: false },
          policy: "cache-only; no upstream fetch on a miss" },
    Row { level: Tier::Basic, name: "basic", units: 20_000, cache: CachePolicy::UpTo { age_seconds: 3600 },
          policy: "standard cache, 3600 seconds" },
    Row { level: Tier::Fresh, name: "fresh", units: 30_000, cache: CachePolicy::Bypass,
          policy: "bypass cache" },
    Row { level: Tier::Deep, name: "deep", units: 50_000, cache: CachePolicy::UpTo { age_seconds: 1800 },
          policy: "short cache, 1800 seconds" },
];

level_table!(Tier);

impl Tier {
    pub fn cache(self) -> CachePolicy {
        self.row().cache
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
            assert_eq!(tier.row().level, tier);
            assert_eq!(Tier::parse(tier.name()), Some(tier));
        }
        assert_eq!(Tier::parse("Fresh"), None);
        assert_eq!(Tier::default().price().units(), 30_000);
    }
}
