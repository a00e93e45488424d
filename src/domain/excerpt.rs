//! Which part of a page a request asks for: passages that answer a query within a budget, text without links, images or
//! tables, and the elements that are read at all. A request that asks for none of it gets the whole page.

use serde::{Deserialize, Serialize};

/// The least budget in tokens: less holds no sentence with its heading.
pub const TOKENS_MIN: u64 = 100;
/// The largest budget in tokens: the whole of the largest page is less.
pub const TOKENS_MAX: u64 = 10_000_000;
/// The least budget in characters.
pub const CHARACTERS_MIN: u64 = 400;
/// The largest budget in characters.
pub const CHARACTERS_MAX: u64 = 10_000_000;
/// The budget in tokens where a query is stated and no budget.
pub const TOKENS_DEFAULT: u64 = 2_000;
/// Longest CSS selector in characters: bounds the work for each element of a page.
pub const SELECTOR_CHARACTERS_MAX: usize = 256;

/// What is asked for of a page. [`Default`] is the whole page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excerpt {
    /// The passages that answer this best.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// Estimated tokens, at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// Unicode code points, at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_characters: Option<u64>,
    #[serde(default, skip_serializing_if = "Omitted::is_nothing")]
    pub omitted: Omitted,
    #[serde(default, skip_serializing_if = "Selectors::is_nothing")]
    pub selectors: Selectors,
}

/// Kinds of markup that are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Omitted {
    /// Links become their text.
    #[serde(default)]
    pub links: bool,
    #[serde(default)]
    pub images: bool,
    #[serde(default)]
    pub tables: bool,
}

/// CSS selectors of what is read, as lol_html understands them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selectors {
    /// Only elements that match are read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include: Option<String>,
    /// Elements that match are not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclude: Option<String>,
}

/// What of a page's HTML is read. [`Default`] is the page as it is cached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    pub selectors: Selectors,
    /// The comments under an article too, which are left out otherwise.
    pub comments: bool,
}

/// What an excerpt may be long at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Estimated tokens.
    pub tokens: Option<u64>,
    /// Unicode code points.
    pub characters: Option<u64>,
}

impl Excerpt {
    /// Whether the whole page is asked for, as it is.
    pub fn is_whole(&self) -> bool {
        *self == Excerpt::default()
    }

    /// The stated budget. A query without one gets [`TOKENS_DEFAULT`].
    pub fn budget(&self) -> Option<Budget> {
        let budget = Budget {
            tokens: self.max_tokens,
            characters: self.max_characters,
        };
        match (budget == Budget::default(), &self.query) {
            (false, _) => Some(budget),
            (true, Some(_)) => Some(Budget {
                tokens: Some(TOKENS_DEFAULT),
                characters: None,
            }),
            (true, None) => None,
        }
    }
}

impl Omitted {
    pub fn is_nothing(&self) -> bool {
        *self == Omitted::default()
    }
}

impl Selectors {
    pub fn is_nothing(&self) -> bool {
        *self == Selectors::default()
    }
}

impl Extent {
    /// Whether it is what is read of a page that the cache may hold.
    pub fn is_usual(&self) -> bool {
        *self == Extent::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_alone_has_a_budget_and_nothing_at_all_is_the_whole_page() {
        let query = |max_tokens| Excerpt {
            query: Some("What does it cost?".to_owned()),
            max_tokens,
            ..Excerpt::default()
        };
        let tokens = |excerpt: &Excerpt| excerpt.budget().and_then(|budget| budget.tokens);
        assert_eq!(tokens(&query(None)), Some(TOKENS_DEFAULT));
        assert_eq!(tokens(&query(Some(500))), Some(500));
        assert_eq!(Excerpt::default().budget(), None);
        assert!(Excerpt::default().is_whole() && !query(None).is_whole());
    }
}
