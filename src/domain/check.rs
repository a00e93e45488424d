//! The levels of a check of a whole text against sources, and their table. The price is a source's.

use crate::domain::cache::CachePolicy;
use crate::domain::depth::Depth;
use crate::domain::level_table::level_table;
use crate::domain::time::PAGE_SECONDS;

/// How thoroughly a text is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CheckDepth {
    Quick,
    #[default]
    Standard,
}

struct Row {
    level: CheckDepth,
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
    Row { level: CheckDepth::Quick, name: "quick", units: 100_000,
          cache: CachePolicy::UpTo { age_seconds: PAGE_SECONDS }, reading: Depth::Quick,
          policy: "each claim of the text by the words, names, numbers and dates of cached sources; priced per source" },
    Row { level: CheckDepth::Standard, name: "standard", units: 250_000,
          cache: CachePolicy::UpTo { age_seconds: 3600 }, reading: Depth::Standard,
          policy: "each claim of the text by its meaning as well, on sources at most an hour old; priced per source" },
];

/// The most sources of one check.
pub const SOURCES_MAX: usize = 10;
/// The longest text that is checked.
pub const TEXT_CHARACTERS_MAX: usize = 8_000;

level_table!(CheckDepth);

impl CheckDepth {
    pub fn cache(self) -> CachePolicy {
        self.row().cache
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
            assert_eq!(depth.row().level, depth);
            assert_eq!(CheckDepth::parse(depth.name()), Some(depth));
        }
        assert_eq!(CheckDepth::default().price().units(), 250_000);
    }
}
