//! Any text as a target, and any text as a place to be redirected to: what is let through is public by every rule that
//! can be written down without looking at ours.

use std::net::IpAddr;
use std::path::Path;

use context402::domain::target::{CHARACTERS_MAX, TargetUrl, check_answers};

use super::mutation::mutated;
use super::random::Random;

const WORDS: [&str; 64] = [
    "http://",
    "https://",
    "//",
    "/",
    "\\",
    "\\\\",
    ":",
    "@",
    "%",
    "%2f",
    "%00",
    "%40",
    "?",
    "#",
    ".",
    "..",
    "。",
    "．",
    "｡",
    "localhost",
    "LOCALHOST",
    "127.0.0.1",
    "127.1",
    "0x7f000001",
    "2130706433",
    "017700000001",
    "0177.0.0.1",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[fe80::1%25eth0]",
    "[::]",
    "[fd00::1]",
    "0",
    "0.0.0.0",
    "10.0.0.1",
    "169.254.169.254",
    "168.63.129.16",
    "metadata.google.internal",
    "①②⑦.⓪.⓪.①",
    "１２７.0.0.1",
    "xn--",
    "ß",
    "İ",
    "\u{ad}",
    "\u{200b}",
    "\u{202e}",
    "\t",
    "\n",
    "\r",
    "\0",
    " ",
    ":80",
    ":443",
    ":22",
    ":00080",
    ":65616",
    "example.com",
    "user:pass@",
    "javascript:",
    "file:///",
    ".internal",
];

/// The texts that must be refused and those that must not.
pub(crate) fn corpus(tests: &Path) -> Vec<Vec<u8>> {
    let lists = ["accept.tsv", "reject.tsv"]
        .map(|name| std::fs::read_to_string(tests.join("targets").join(name)).unwrap_or_default());
    let lines = lists.iter().flat_map(|text| text.lines().skip(1));
    let urls = lines.filter_map(|line| line.split('\t').next());
    urls.map(|url| url.as_bytes().to_vec()).collect()
}

pub(crate) fn input(random: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    mutated(random, seeds, &WORDS)
}

pub(crate) fn body(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let page = TargetUrl::parse("https://www.example.com/a/b?c").expect("a public page");
    for target in [TargetUrl::parse(&text), page.redirect(&text)] {
        match target {
            Ok(target) => is_public(&target),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

fn is_public(target: &TargetUrl) {
    let text = target.as_str();
    let again = TargetUrl::parse(text);
    assert_eq!(
        again.as_ref().ok(),
        Some(target),
        "{text} is read otherwise: {again:?}"
    );
    assert!(text.len() <= CHARACTERS_MAX && text.is_ascii(), "{text}");
    let url = target.url();
    assert!(matches!(url.scheme(), "http" | "https"), "{text}");
    assert!(
        url.username().is_empty() && url.password().is_none(),
        "{text}"
    );
    assert!(matches!(target.port(), 80 | 443), "{text}");
    assert!(url.fragment().is_none(), "{text}");
    let host = target.host();
    assert!(
        !host.is_empty() && !host.ends_with('.') && host.contains(['.', ':']),
        "{text}"
    );
    assert!(!host.contains(['@', '%', '/', '\\', ' ']), "{text}");
    for ending in [
        ".localhost",
        ".local",
        ".internal",
        ".arpa",
        ".onion",
        ".test",
        ".invalid",
        ".home",
    ] {
        assert!(!host.ends_with(ending), "{text}");
    }
    match target.literal_address() {
        Some(address) => assert!(
            is_global(address) && check_answers(&[address]).is_ok(),
            "{text}"
        ),
        // What some reader of addresses would take for one is not let through as a name.
        None => assert!(
            host.rsplit('.')
                .next()
                .is_some_and(|label| label.parse::<u64>().is_err()),
            "{text}"
        ),
    }
}

/// What the standard library knows of addresses, which is less than our own rules do.
fn is_global(address: IpAddr) -> bool {
    let common = address.is_loopback() || address.is_multicast() || address.is_unspecified();
    let own = match address {
        IpAddr::V4(v4) => {
            v4.is_private() || v4.is_link_local() || v4.is_broadcast() || v4.is_documentation()
        }
        IpAddr::V6(v6) => {
            let embedded = v6.to_ipv4_mapped().is_some() || v6.to_ipv4().is_some();
            embedded || v6.is_unique_local() || v6.is_unicast_link_local()
        }
    };
    !common && !own
}
