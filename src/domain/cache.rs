//! Cache policies of tiers and packs, and which pages a shared cache may store.

use crate::domain::render::Render;

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
    /// Whether the page is opened in a browser, where there is one.
    pub render: Render,
}

/// Whether a response's Cache-Control allows its page to be stored and sold to others. The buyer who paid for the fetch
/// gets the page anyway.
///
/// Ours is a shared cache (RFC 9111 section 3): `private` and `no-store` forbid storing the page. `no-cache` and a lifetime
/// of zero (`s-maxage`, else `max-age`) require revalidation before each reuse, which cache-only tiers do not do, so such a
/// page is not stored either. A positive lifetime does not limit the age that a buyer accepts by choosing a tier, like
/// `max-stale` in a request; every answer states the age of its copy.
///
/// `private="x-name"` and `no-cache="x-name"` concern header fields, which are not stored.
pub fn may_be_shared<'a>(cache_control: impl IntoIterator<Item = &'a str>) -> bool {
    let (mut max_age, mut s_maxage) = (None::<u64>, None::<u64>);
    for value in cache_control {
        for directive in directives(value) {
            let (name, argument) = match directive.split_once('=') {
                Some((name, argument)) => (name, Some(argument)),
                None => (directive, None),
            };
            // A lifetime that is no number counts as over (section 4.2.1), and of several the shortest holds.
            let seconds = || -> u64 {
                let text = argument.unwrap_or_default().trim().trim_matches('"');
                match !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
                    true => text.parse().unwrap_or(u64::MAX),
                    false => 0,
                }
            };
            match (name.trim().to_ascii_lowercase().as_str(), argument) {
                ("private" | "no-store" | "no-cache", None) => return false,
                ("max-age", _) => max_age = Some(max_age.unwrap_or(u64::MAX).min(seconds())),
                ("s-maxage", _) => s_maxage = Some(s_maxage.unwrap_or(u64::MAX).min(seconds())),
                _ => {}
            }
        }
    }
    s_maxage.or(max_age) != Some(0)
}

/// The parts between commas that stand outside of quotation marks.
fn directives(value: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    let parts = value.split(move |character| {
        quoted ^= character == '"';
        character == ',' && !quoted
    });
    parts.map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_decides_whether_its_page_is_sold_again() {
        let check = |values: &[&str], expected: bool| {
            assert_eq!(
                may_be_shared(values.iter().copied()),
                expected,
                "{values:?}"
            );
        };
        check(&[], true);
        check(&[""], true);
        check(&["public"], true);
        check(&["public, max-age=60, must-revalidate"], true);
        check(&["max-age=0, s-maxage=600"], true);
        check(&["max-age=\"60\""], true);
        check(&["max-age=99999999999999999999999"], true);
        check(&["private=\"set-cookie, x\", max-age=60"], true);
        check(&["no-cache=\"set-cookie, private\""], true);
        check(&["x-private, no-stored, extension=\"no-store\""], true);

        check(&["private"], false);
        check(&["no-store"], false);
        check(&["no-cache"], false);
        check(&["Private, No-Store"], false);
        check(&["max-age=600,no-store"], false);
        check(&["public", "  PRIVATE "], false);
        check(&["max-age=0"], false);
        check(&["max-age=00, public"], false);
        check(&["max-age=600, s-maxage=0"], false);
        check(&["max-age=600", "max-age=0"], false);
        check(&["max-age=soon"], false);
        check(&["max-age"], false);
        check(&["max-age=-1"], false);
    }
}
