//! Addresses in a page made absolute. Knows `<base>`, lazy images and which schemes lead anywhere; never fetches.

use url::{Position, Url};

use super::attributes::Attributes;

/// Longer addresses are left out: they carry state, not a place, and an answer should not be made of them.
pub(super) const URL_BYTES_MAX: usize = 2048;

/// All addresses of one page together; beyond it links become plain text. A long `<base>` would multiply otherwise.
const URLS_BYTES_MAX: usize = 5 * 1024 * 1024;

/// Where loaders find the address of a picture that is not loaded yet.
const LAZY_SOURCES: [&str; 7] = [
    "data-src",
    "data-original",
    "data-lazy-src",
    "data-actualsrc",
    "data-cfsrc",
    "data-ezsrc",
    "data-echo",
];

#[derive(Clone, Debug)]
pub(super) struct Links {
    /// Of the page itself.
    own: Url,
    base: Url,
    has_base: bool,
    bytes_left: usize,
}

/// The mail address in a code that hides it from harvesters (Cloudflare's): hexadecimal, the first byte is mixed into the
/// others.
pub(super) fn protected_address(code: &str) -> Option<String> {
    const DIGITS_MAX: usize = 512;
    let is_code = code.is_ascii() && code.len() <= DIGITS_MAX && code.len().is_multiple_of(2);
    if !is_code {
        return None;
    }
    let pairs = (0..code.len()).step_by(2);
    let bytes = pairs.map(|at| u8::from_str_radix(&code[at..at + 2], 16).ok());
    let bytes = bytes.collect::<Option<Vec<u8>>>()?;
    let (key, mixed) = bytes.split_first()?;
    let address = String::from_utf8(mixed.iter().map(|byte| byte ^ key).collect()).ok()?;
    let is_address = address.contains('@')
        && !address.contains(|c: char| c.is_whitespace() || c.is_control() || "<>".contains(c));
    is_address.then_some(address)
}

impl Links {
    pub(super) fn new(url: Url) -> Links {
        Links {
            own: url.clone(),
            base: url,
            has_base: false,
            bytes_left: URLS_BYTES_MAX,
        }
    }

    /// The address of the page.
    pub(super) fn address(&self) -> &str {
        self.own.as_str()
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

    /// Where a link leads, if to a page, a mailbox, a telephone or a chat.
    pub(super) fn page(&mut self, href: &str) -> Option<String> {
        self.absolute(href, &["http", "https", "mailto", "tel", "whatsapp"])
    }

    /// The address of an image, and whether a script would have loaded it: what loaders leave in `src` until then is
    /// a placeholder.
    pub(super) fn image(&mut self, attributes: &Attributes<'_>) -> Option<(String, bool)> {
        for name in LAZY_SOURCES {
            let url = attributes.get(name).and_then(|value| self.picture(&value));
            if let Some(url) = url {
                return Some((url, true));
            }
        }
        let own = attributes.get("src").filter(|src| !is_placeholder(src));
        if let Some(url) = own.and_then(|src| self.picture(&src)) {
            return Some((url, false));
        }
        for name in ["data-srcset", "data-lazy-srcset", "srcset"] {
            let candidates = attributes.get(name);
            let best = candidates.as_deref().and_then(best_candidate);
            if let Some(url) = best.and_then(|address| self.picture(address)) {
                return Some((url, name != "srcset"));
            }
        }
        None
    }

    /// The address of the best picture that a `<source>` offers.
    pub(super) fn source(&mut self, attributes: &Attributes<'_>) -> Option<String> {
        ["data-srcset", "srcset"].iter().find_map(|name| {
            let candidates = attributes.get(name)?;
            self.picture(best_candidate(&candidates)?)
        })
    }

    fn picture(&mut self, address: &str) -> Option<String> {
        self.absolute(address, &["http", "https"])
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
        let url = match plainly_joined(&self.base, href) {
            Some(url) => url,
            None => {
                let url = self.base.join(href).ok()?;
                if !schemes.contains(&url.scheme()) {
                    return None;
                }
                url.into()
            }
        };
        if url.len() > URL_BYTES_MAX || url.len() > self.bytes_left {
            return None;
        }
        self.bytes_left -= url.len();
        Some(url)
    }
}

/// What [`Url::join`] would give, for the many addresses of which it would change nothing; its own way takes long.
fn plainly_joined(base: &Url, href: &str) -> Option<String> {
    let bytes = href.as_bytes();
    let is_dotted = |pair: &[u8]| matches!(pair, [b'/', b'.' | b'%' | b'/']);
    let (kept, from) = match bytes {
        _ if !matches!(base.scheme(), "http" | "https") => return None,
        [b'/', b'/', ..] => return None,
        [b'/', ..] => (&base[..Position::BeforePath], 0),
        _ => match plain_authority(href) {
            Some(end) => ("", end),
            // Before the first slash a colon would end a scheme.
            None if bytes.first()?.is_ascii_alphanumeric() && !bytes.contains(&b':') => {
                let path = &base[..Position::AfterPath];
                (&path[..=path.rfind('/')?], 0)
            }
            None => return None,
        },
    };
    let rest = &bytes[from..];
    let is_plain = rest.iter().all(|b| PLAIN[usize::from(*b)]) && !rest.windows(2).any(is_dotted);
    is_plain.then(|| [kept, href].concat())
}

/// The length of `https://host` before a path, if it has neither port nor user and nothing in it needs a closer look.
fn plain_authority(href: &str) -> Option<usize> {
    let rest = href
        .strip_prefix("https://")
        .or_else(|| href.strip_prefix("http://"))?;
    let host = &rest[..rest.find('/')?];
    let is_plain = |label: &str| {
        let bytes = label.as_bytes();
        let letters = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-';
        bytes.iter().all(letters)
            && bytes.first().is_some_and(|b| *b != b'-')
            && bytes.last().is_some_and(|b| *b != b'-')
            && bytes.get(2..4) != Some(b"--")
    };
    let last = host.rsplit('.').next()?;
    let is_name = last.as_bytes().first()?.is_ascii_lowercase();
    let length = href.len() - rest.len() + host.len();
    (is_name && host.len() <= 253 && host.split('.').all(is_plain)).then_some(length)
}

/// Bytes that stay as they are in a path, a query and a fragment.
static PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let bytes =
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_~.!$&()*+,;=:@/%?#";
    let mut at = 0;
    while at < bytes.len() {
        plain[bytes[at] as usize] = true;
        at += 1;
    }
    plain
};

/// Small pictures of nothing, by the names that loaders give them.
fn is_placeholder(src: &str) -> bool {
    const NAMES: [&str; 10] = [
        "1x1.",
        "blank.",
        "grey.",
        "lazy.",
        "lazyload.",
        "loading.",
        "pixel.",
        "placeholder.",
        "spacer.",
        "transparent.",
    ];
    let path = src.split(['?', '#']).next().unwrap_or("");
    let file = path.rsplit('/').next().unwrap_or("");
    NAMES
        .iter()
        .any(|name| file.starts_with(name) && file.len() <= name.len() + 4)
}

/// The largest of a `srcset`'s candidates (HTML Standard 4.8.4.2.1). An address may hold commas, though not at its
/// ends.
fn best_candidate(srcset: &str) -> Option<&str> {
    let mut best: Option<(&str, f32)> = None;
    let mut rest = srcset;
    loop {
        rest = rest.trim_start_matches(|c: char| c == ',' || c.is_ascii_whitespace());
        if rest.is_empty() {
            return best.map(|(address, _)| address);
        }
        let end = rest
            .find(|c: char| c.is_ascii_whitespace())
            .unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let address = word.trim_end_matches(',');
        let descriptor = if address.len() < word.len() {
            rest = after;
            ""
        } else {
            let end = after.find(',').unwrap_or(after.len());
            rest = &after[end..];
            after[..end].trim()
        };
        let size = descriptor
            .trim_end_matches(['w', 'x'])
            .parse()
            .unwrap_or(1.0);
        if !address.starts_with("data:") && best.is_none_or(|(_, largest)| size > largest) {
            best = Some((address, size));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn what_is_joined_plainly_is_what_the_url_crate_joins(
            base in "https?://(u(:p)?@)?[a-z.]{1,4}(:[0-9]{2,3})?(/[a-z.:%@]{0,3}){0,3}([?#][a-z/]{0,2}){0,2}",
            href in "(https?:)?/{0,2}([a-z0-9A-Z.-]{0,5}(xn--)?){0,2}([/.:a-zA-Z0-9%@?#&=;~+'()|-]|%2[eE]|[ \u{E9}\\\\]){0,10}",
        ) {
            if let Ok(base) = Url::parse(&base)
                && let Some(joined) = plainly_joined(&base, &href)
            {
                prop_assert_eq!(Ok(joined), base.join(&href).map(String::from));
            }
        }
    }

    #[test]
    fn plain_addresses_are_joined_plainly() {
        let base = Url::parse("https://u@example.org:81/a/b?c#d").expect("a valid URL");
        for (href, expected) in [
            ("/x?y#z", Some("https://u@example.org:81/x?y#z")),
            ("x/y.html", Some("https://u@example.org:81/a/x/y.html")),
            (
                "http://a-b.example.com/~c%20d",
                Some("http://a-b.example.com/~c%20d"),
            ),
            ("../x", None),
            ("x/./y", None),
            ("http://1.2.3/", None),
            ("http://xn--a.example.com/", None),
            ("HTTP://example.com/", None),
            ("http://example.com", None),
            ("mailto:x", None),
            ("/a b", None),
        ] {
            assert_eq!(plainly_joined(&base, href).as_deref(), expected, "{href}");
        }
    }

    fn check_candidate(srcset: &str, expected: Option<&str>) {
        assert_eq!(best_candidate(srcset), expected, "{srcset}");
    }

    #[test]
    fn the_largest_candidate_is_taken() {
        check_candidate("/a.png", Some("/a.png"));
        check_candidate("/s.png 1x, /l.png 2.5x", Some("/l.png"));
        check_candidate("/l.png 800w,\n/s.png 80w", Some("/l.png"));
        check_candidate(
            "/c_fill,w_80/a.png 80w,/c_fill,w_9/b.png 90w",
            Some("/c_fill,w_9/b.png"),
        );
        check_candidate("/a.png, /b.png 2x", Some("/b.png"));
        check_candidate("data:image/gif;base64,AA 900w, /a.png 1w", Some("/a.png"));
        check_candidate(" , ", None);
    }

    #[test]
    fn placeholders_have_names() {
        assert!(is_placeholder("/img/blank.gif?x"));
        assert!(is_placeholder("pixel.png"));
        assert!(!is_placeholder("/img/pixel.phone.jpg"));
        assert!(!is_placeholder("/blank.gif/real.jpg"));
    }

    #[test]
    fn protected_addresses_are_read() {
        let check = |code: &str, expected: Option<&str>| {
            assert_eq!(protected_address(code).as_deref(), expected, "{code}");
        };
        check("543127353a3c352d142c7a3b2633", Some("esanhay@x.org"));
        check("5431", None);
        check("543", None);
        check("zz", None);
        check("", None);
        check("00203c40", None);
    }

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
