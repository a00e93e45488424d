//! The levels of a check of a whole text against sources, and their table. The price is a source's.

use crate::domain::amount::Amount;
use crate::domain::cache::CachePolicy;
use crate::domain::depth::Depth;
use crate::domain::time::PAGE_SECONDS;

/// How thoroughly a text is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CheckDepth {
    Quick,
    #[default]
    Standard,
}

struct Row {
    depth: CheckDepth,
    name: &'static str,
    /// For each source.
    units: u64,
    cache: CachePolicy,
    reading: Depth,
    /// What it reads, in a sentence's words.
    policy: &'static str,
}

#[rustfmt::skip]
const TABLE: [Row; 2] = [
    Row { depth: CheckDepth::Quick, name: "quick", units: 100_000,
          cache: CachePolicy::UpTo { age_seconds: PAGE_SECONDS }, reading: Depth::Quick,
          policy: "each claim of the text by the words, names, numbers and dates of cached sources; priced per source" },
    Row { depth: CheckDepth::Standard, name: "standard", units: 250_000,
          cache: CachePolicy::UpTo { age_seconds: 3600 }, reading: Depth::Standard,
          policy: "each claim of the text by its meaning as well, on sources at most an hour old; priced per source" },
];

/// The most sources of one check.
pub const SOURCES_MAX: usize = 10;
/// The longest text that is checked.
pub const TEXT_CHARACTERS_MAX: usize = 8_000;

impl CheckDepth {
    pub const ALL: [CheckDepth; 2] = [CheckDepth::Quick, CheckDepth::Standard];
    /// The closed set of names, in the table's order.
    pub const NAMES: [&'static str; 2] = [TABLE[0].name, TABLE[1].name];

    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    pub fn parse(name: &str) -> Option<CheckDepth> {
        TABLE
            .iter()
            .find(|row| row.name == name)
            .map(|row| row.depth)
    }

    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// For each source.
    pub fn price(self) -> Amount {
        Amount::from_units(self.row().units)
    }

    pub fn cache(self) -> CachePolicy {
        self.row().cache
    }

    pub fn policy(self) -> &'static str {
        self.row().policy
    }

    /// Without the entailment model only words are compared.
    pub fn reading(self, has_model: bool) -> Depth {
        match has_model {
            true => self.row().reading,
            false => Depth::Quick,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_stands_in_the_order_of_the_enum() {
        for depth in CheckDepth::ALL {
            assert_eq!(depth.row().depth, depth);
            assert_eq!(CheckDepth::parse(depth.name()), Some(depth));
        }
        assert_eq!(CheckDepth::default().price().units(), 250_000);
    }
}
