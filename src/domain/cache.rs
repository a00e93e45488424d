//! How old what is read of a page may be: the part of a tier or a pack that decides between the cache and the web.

/// Whether the cache may be read, and whether the web may be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CachePolicy {
    /// Whatever is kept, the sample page included when `sample` is set; never fetches.
    CacheOnly { sample: bool },
    /// An entry up to this many seconds old, else a fetch.
    UpTo { age_seconds: u64 },
    /// Always a fetch.
    Bypass,
}

impl CachePolicy {
    pub fn may_fetch(self) -> bool {
        !matches!(self, CachePolicy::CacheOnly { .. })
    }
}

/// What a purchase reads: the policy of what was bought, and whether this buyer skips the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    pub cache: CachePolicy,
    /// Skip reading the cache.
    pub refresh: bool,
}
