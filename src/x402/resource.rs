//! Which addresses are the resource that a payment was offered for. The signature does not cover the address, so this
//! only stops a payment that openly names another seller or another product.

use url::Url;

/// One paid endpoint under our public base address, its attribution aliases included.
#[derive(Clone, Debug)]
pub struct Resource {
    base: Url,
    path: String,
}

/// Longest attribution in an alias: `[a-z0-9_.-]{1,64}`, in any case.
const ATTRIBUTION_CHARS_MAX: usize = 64;

impl Resource {
    /// `path` begins with a slash and is appended to the base address. `None` when the base is no http(s) address.
    pub fn new(base_url: &str, path: &str) -> Option<Self> {
        let base = Url::parse(base_url).ok()?;
        let usable = matches!(base.scheme(), "http" | "https") && path.starts_with('/');
        usable.then(|| Resource {
            path: path.to_owned(),
            base,
        })
    }

    /// Whether `url` has our origin and this path, plain or behind `/from/{source}`. Query and fragment do not count.
    pub fn covers(&self, url: &str) -> bool {
        let Ok(url) = Url::parse(url) else {
            return false;
        };
        if url.origin() != self.base.origin()
            || !url.username().is_empty()
            || url.password().is_some()
        {
            return false;
        }
        let Some(below) = url
            .path()
            .strip_prefix(self.base.path().trim_end_matches('/'))
        else {
            return false;
        };
        below == self.path || self.is_alias(below)
    }

    fn is_alias(&self, below: &str) -> bool {
        below
            .strip_prefix("/from/")
            .and_then(|rest| rest.strip_suffix(self.path.as_str()))
            .is_some_and(is_attribution)
    }
}

fn is_attribution(text: &str) -> bool {
    (1..=ATTRIBUTION_CHARS_MAX).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(base_url: &str, url: &str, expected: bool) {
        let resource = Resource::new(base_url, "/v1/x402/access").expect("a base address");
        assert_eq!(resource.covers(url), expected, "{base_url} {url}");
    }

    #[test]
    fn origin_and_path_count_and_the_query_does_not() {
        let base = "https://api.example.com";
        for (url, expected) in [
            ("https://api.example.com/v1/x402/access", true),
            ("https://API.example.com:443/v1/x402/access", true),
            ("https://api.example.com/v1/x402/access?tier=deep#a", true),
            (
                "https://api.example.com/from/news.list-1/v1/x402/access",
                true,
            ),
            ("https://api.example.com/v1/x402/access/", false),
            ("https://api.example.com/v1/x402/proof-pack", false),
            ("https://api.example.com/from//v1/x402/access", false),
            ("https://api.example.com/from/a/b/v1/x402/access", false),
            ("https://api.example.com/from/v1/x402/access", false),
            ("https://api.example.com/V1/x402/access", false),
            ("https://api.example.com/v1/x402/%61ccess", false),
            ("http://api.example.com/v1/x402/access", false),
            ("https://api.example.com:8443/v1/x402/access", false),
            ("https://api.example.com.evil.org/v1/x402/access", false),
            ("https://me@api.example.com/v1/x402/access", false),
            ("https://:pw@api.example.com/v1/x402/access", false),
            ("/v1/x402/access", false),
            ("mcp://tool/access", false),
            ("", false),
        ] {
            check(base, url, expected);
            check("https://api.example.com/", url, expected);
        }
    }

    #[test]
    fn a_base_address_may_have_a_path() {
        let base = "http://127.0.0.1:8402/shop/";
        check(base, "http://127.0.0.1:8402/shop/v1/x402/access", true);
        check(
            base,
            "http://127.0.0.1:8402/shop/from/a/v1/x402/access",
            true,
        );
        check(base, "http://127.0.0.1:8402/v1/x402/access", false);
        assert!(Resource::new("example.com", "/a").is_none());
        assert!(Resource::new("ftp://example.com", "/a").is_none());
        assert!(Resource::new("https://example.com", "a").is_none());
    }
}
