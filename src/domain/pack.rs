//! Packs, the levels of a Proof Pack, and their table.

use crate::domain::cache::CachePolicy;
use crate::domain::depth::Depth;
use crate::domain::level_table::level_table;
use crate::domain::time::PAGE_SECONDS;

/// What a buyer of a report chooses between: how fresh the source, and how much is made of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Pack {
    Quick,
    #[default]
    Standard,
    Deep,
}

struct Row {
    level: Pack,
    name: &'static str,
    units: u64,
    cache: CachePolicy,
    /// Whether the source is fetched again unless the buyer says otherwise.
    refreshes: bool,
    /// How much is read before a label is given.
    depth: Depth,
    /// Whether a language model may add claims, where one is configured.
    synthesis: bool,
    /// What it reads, in words for buyers.
    policy: &'static str,
}

#[rustfmt::skip]
const TABLE: [Row; 3] = [
    Row { level: Pack::Quick, name: "quick", units: 100_000,
          cache: CachePolicy::UpTo { age_seconds: PAGE_SECONDS }, refreshes: false, depth: Depth::Quick, synthesis: false,
          policy: "cache-friendly source read with deterministic fallback" },
    Row { level: Pack::Standard, name: "standard", units: 250_000,
          cache: CachePolicy::UpTo { age_seconds: 3600 }, refreshes: false, depth: Depth::Standard, synthesis: true,
          policy: "cache-aware source read with LLM-assisted evidence synthesis when configured" },
    Row { level: Pack::Deep, name: "deep", units: 1_000_000,
          cache: CachePolicy::UpTo { age_seconds: 1800 }, refreshes: true, depth: Depth::Deep, synthesis: true,
          policy: "deep evidence pack with short-cache source material and fresh-by-default refresh" },
];

level_table!(Pack);

impl Pack {
    pub fn cache(self) -> CachePolicy {
        self.row().cache
    }

    /// What an absent `force_refresh` means: deep packs refresh by default.
    pub fn refreshes_by_default(self) -> bool {
        self.row().refreshes
    }

    /// Without the entailment model only words are compared.
    pub fn depth(self, has_model: bool) -> Depth {
        match has_model {
            true => self.row().depth,
            false => Depth::Quick,
        }
    }

    /// What it reads and how, in a buyer's words.
    pub fn reads(self, has_model: bool) -> String {
        let source = match (self.refreshes_by_default(), self.cache()) {
            (false, CachePolicy::UpTo { age_seconds }) if age_seconds > 3600 => {
                format!("A copy of the page up to {} hours old", age_seconds / 3600)
            }
            (false, CachePolicy::UpTo { age_seconds }) => {
                format!("A copy of the page up to {} minutes old", age_seconds / 60)
            }
            _ => "The page as it is now".to_owned(),
        };
        format!("{source}: {}.", self.depth(has_model).reads())
    }

    pub fn may_synthesize(self) -> bool {
        self.row().synthesis
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_stands_in_the_order_of_the_enum() {
        for pack in Pack::ALL {
            assert_eq!(pack.row().level, pack);
            assert_eq!(Pack::parse(pack.name()), Some(pack));
        }
        assert_eq!(Pack::parse("Quick"), None);
        assert_eq!(Pack::default().price().units(), 250_000);
    }

    #[test]
    fn packs_read_more_the_more_they_cost() {
        assert_eq!(
            Pack::Quick.reads(true),
            "A copy of the page up to 24 hours old: compares words, names, numbers and dates."
        );
        assert!(Pack::ALL.is_sorted_by(|one, other| one.depth(true) < other.depth(true)));
        assert!(
            Pack::ALL
                .into_iter()
                .all(|pack| pack.depth(false) == Depth::Quick)
        );
        assert!(!Pack::Deep.reads(false).contains("model"));
    }

    /// A report is made of a page: anyone who buys one gets it whether or not the page is kept.
    #[test]
    fn every_pack_may_fetch_and_only_deep_does_by_default() {
        for pack in Pack::ALL {
            assert!(pack.cache().may_fetch(), "{}", pack.name());
            assert_eq!(pack.refreshes_by_default(), pack == Pack::Deep);
        }
    }
}
