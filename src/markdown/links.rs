//! Addresses in a page made absolute. Knows `<base>`, lazy images and which schemes lead anywhere; never fetches.

use url::Url;

use super::attributes::Attributes;

/// Longer addresses are left out: they carry state, not a place, and an answer should not be made of them.
const URL_BYTES_MAX: usize = 2048;

/// All addresses of one page together; beyond it links become plain text. A long `<base>` would multiply otherwise.
const URLS_BYTES_MAX: usize = 5 * 1024 * 1024;

#[derive(Clone, Debug)]
pub(super) struct Links {
    base: Url,
    has_base: bool,
    bytes_left: usize,
}

impl Links {
    pub(super) fn new(url: Url) -> Links {
        Links {
            base: url,
            has_base: false,
            bytes_left: URLS_BYTES_MAX,
        }
    }

    /// The first `<base href>` counts (HTML Standard 4.2.3).
    pub(super) fn set_base(&mut self, attributes: &Attributes<'_>) {
        if self.has_base {
            return;
        }
        let Some(href) = attributes.get("href") else {
            return;
        };
        self.has_base = true;
        if let Ok(base) = self.base.join(href.trim())
            && matches!(base.scheme(), "http" | "https")
            && base.as_str().len() <= URL_BYTES_MAX
        {
            self.base = base;
        }
    }

    /// Where a link leads, if to a page, a mailbox or a telephone.
    pub(super) fn page(&mut self, href: &str) -> Option<String> {
        self.absolute(href, &["http", "https", "mailto", "tel"])
    }

    /// The address of an image, also of one that a script would load later.
    pub(super) fn image(&mut self, attributes: &Attributes<'_>) -> Option<String> {
        const LAZY: [&str; 5] = [
            "data-src",
            "data-original",
            "data-lazy-src",
            "data-srcset",
            "data-lazy-srcset",
        ];
        for name in LAZY.into_iter().chain(["src", "srcset"]) {
            let Some(value) = attributes.get(name) else {
                continue;
            };
            let address = if name.ends_with("srcset") {
                value.split_ascii_whitespace().next().unwrap_or("")
            } else {
                &*value
            };
            if let Some(url) = self.absolute(address.trim_end_matches(','), &["http", "https"]) {
                return Some(url);
            }
        }
        None
    }

    /// An http or https address, outside of the text and so of its bound.
    pub(super) fn metadata(&self, href: &str) -> Option<String> {
        let url = self.base.join(href.trim()).ok()?;
        let is_web = matches!(url.scheme(), "http" | "https");
        (is_web && url.as_str().len() <= URL_BYTES_MAX).then(|| url.into())
    }

    fn absolute(&mut self, href: &str, schemes: &[&str]) -> Option<String> {
        let href = href.trim();
        if href.is_empty() || href.len() > URL_BYTES_MAX {
            return None;
        }
        let url = self.base.join(href).ok()?;
        let length = url.as_str().len();
        if !schemes.contains(&url.scheme()) || length > URL_BYTES_MAX || length > self.bytes_left {
            return None;
        }
        self.bytes_left -= length;
        Some(url.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links() -> Links {
        Links::new(Url::parse("https://example.org/a/b?c#d").expect("a valid URL"))
    }

    fn check(href: &str, expected: Option<&str>) {
        assert_eq!(links().page(href).as_deref(), expected, "{href}");
    }

    #[test]
    fn addresses_become_absolute() {
        check("x", Some("https://example.org/a/x"));
        check(" /x\n", Some("https://example.org/x"));
        check("//cdn.example.com/x", Some("https://cdn.example.com/x"));
        check("mailto:a@example.org", Some("mailto:a@example.org"));
        check("javascript:alert(1)", None);
        check("JaVa\tScript:alert(1)", None);
        check("data:text/html,x", None);
        check("http://[broken", None);
        check("", None);
    }

    #[test]
    fn the_addresses_of_a_page_are_bounded() {
        let mut links = links();
        let long = "x".repeat(URL_BYTES_MAX - 100);
        let written = (0..4000).filter(|_| links.page(&long).is_some()).count();
        assert!(written * long.len() <= URLS_BYTES_MAX && written > 2000);
        assert_eq!(links.page(&"x".repeat(URL_BYTES_MAX + 1)), None);
    }
}
