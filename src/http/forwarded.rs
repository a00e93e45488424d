//! The client's address behind proxies. `X-Forwarded-For` and `Forwarded` (RFC 7239) count only from trusted proxies and
//! are read from the right: the first address that is not a trusted proxy is the client. Everything left of it is the
//! client's own claim.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use hyper::HeaderMap;

use crate::http::call::Peer;

/// Hops that are looked at, from the right. A longer chain ends at a proxy.
const HOPS_MAX: usize = 16;

/// Blocks of addresses whose forwarding headers are believed.
#[derive(Clone, Debug, Default)]
pub struct TrustedProxies(Vec<(u128, u32)>);

impl TrustedProxies {
    /// Each block is an address and how many of its leading bits count.
    pub fn new(blocks: impl IntoIterator<Item = (IpAddr, u8)>) -> Self {
        let blocks = blocks.into_iter().map(|(address, bits)| match address {
            IpAddr::V4(_) => (number(address), 96 + u32::from(bits)),
            IpAddr::V6(_) => (number(address), u32::from(bits)),
        });
        TrustedProxies(blocks.collect())
    }

    pub(in crate::http) fn trusts(&self, address: IpAddr) -> bool {
        let address = number(address);
        self.0.iter().any(|(block, bits)| {
            let differing = (address ^ block).leading_zeros();
            differing >= *bits
        })
    }

    /// The client behind `peer`. Where the headers cannot be read, or say different things, it is the last hop that is
    /// certain.
    pub fn client(&self, peer: Peer, headers: &HeaderMap) -> Peer {
        let Peer::Network(address) = peer else {
            return peer;
        };
        if self.0.is_empty() || !self.trusts(address.ip().to_canonical()) {
            return peer;
        }
        let by_list = texts(headers, "x-forwarded-for").map(|text| {
            let hops = text.rsplit(',').map(|hop| node(hop.trim()));
            self.walk(hops, address)
        });
        let by_elements = texts(headers, "forwarded").map(|text| match elements(&text) {
            Some(hops) => self.walk(hops.into_iter().rev(), address),
            None => address,
        });
        // A proxy writes one of them and may hand on the other as the client sent it: nobody knows which is which.
        match (by_list, by_elements) {
            (Some(one), None) | (None, Some(one)) => Peer::Network(one),
            (Some(one), Some(other)) if one.ip() == other.ip() => Peer::Network(one),
            (Some(_), Some(_)) | (None, None) => peer,
        }
    }

    /// Goes from hop to hop as long as each is trusted. A hop that cannot be read ends the way.
    fn walk(&self, hops: impl Iterator<Item = Option<IpAddr>>, peer: SocketAddr) -> SocketAddr {
        let mut last = peer;
        for hop in hops.take(HOPS_MAX) {
            let Some(address) = hop else { break };
            last = SocketAddr::new(address, 0);
            if !self.trusts(address) {
                break;
            }
        }
        last
    }
}

/// IPv4 as the IPv6 addresses that stand for it, so that one comparison does for both.
fn number(address: IpAddr) -> u128 {
    let v6: Ipv6Addr = match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped(),
        IpAddr::V6(v6) => v6,
    };
    u128::from(v6)
}

/// All values of a header as one list (RFC 9110, 5.3). `Some` of nothing readable when it is there but no ASCII.
fn texts(headers: &HeaderMap, name: &str) -> Option<String> {
    let values: Vec<&str> = headers
        .get_all(name)
        .iter()
        .map(|value| value.to_str().unwrap_or("?"))
        .collect();
    (!values.is_empty()).then(|| values.join(","))
}

/// An address, with or without a port: `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]`, `[2001:db8::1]:80`.
fn node(text: &str) -> Option<IpAddr> {
    let bracketed = || {
        text.strip_prefix('[')?
            .strip_suffix(']')?
            .parse::<Ipv6Addr>()
            .ok()
    };
    text.parse::<IpAddr>()
        .ok()
        .or_else(|| bracketed().map(IpAddr::V6))
        .or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()))
        .map(|address| address.to_canonical())
}

/// The `for` of each element of a Forwarded header, from the left; `None` for one that names no address. `None` of all
/// when the header is malformed: quotes that do not close could hide any number of elements.
fn elements(text: &str) -> Option<Vec<Option<IpAddr>>> {
    let (mut found, mut hop) = (Vec::new(), None);
    let mut rest = text;
    loop {
        let (pair, after, end) = pair(rest)?;
        if let Some((name, value)) = pair
            && name.eq_ignore_ascii_case("for")
        {
            hop = node(&value);
        }
        if end != Some(';') {
            found.push(hop.take());
        }
        match end {
            Some(_) => rest = after,
            None => return Some(found),
        }
    }
}

type Pair<'a> = (Option<(&'a str, String)>, &'a str, Option<char>);

/// One `name=value` from the left, what comes after its separator, and the separator.
fn pair(text: &str) -> Option<Pair<'_>> {
    let stop = text.find(['=', ';', ',']).unwrap_or(text.len());
    let (name, rest) = text.split_at(stop);
    let Some(value) = rest.strip_prefix('=') else {
        // An empty element or parameter says nothing (RFC 9110, 5.6.1); a word without a value is malformed.
        let (end, after) = separator(rest)?;
        return name.trim().is_empty().then_some((None, after, end));
    };
    let (value, rest) = match value.strip_prefix('"') {
        Some(quoted) => unquoted(quoted)?,
        None => {
            let stop = value.find([';', ',']).unwrap_or(value.len());
            let (value, rest) = value.split_at(stop);
            (value.trim().to_owned(), rest)
        }
    };
    let (end, after) = separator(rest.trim_start())?;
    Some((Some((name.trim(), value)), after, end))
}

/// The text up to the closing quote, and what comes after it.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let (mut value, mut escaped) = (String::new(), false);
    for (position, c) in text.char_indices() {
        match c {
            _ if escaped => {
                value.push(c);
                escaped = false;
            }
            '\\' => escaped = true,
            '"' => return Some((value, &text[position + 1..])),
            c => value.push(c),
        }
    }
    None
}

fn separator(text: &str) -> Option<(Option<char>, &str)> {
    match text.chars().next() {
        None => Some((None, "")),
        Some(c @ (';' | ',')) => Some((Some(c), &text[1..])),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::{HeaderName, HeaderValue};

    use super::*;

    const PROXY: &str = "10.0.0.1:4000";

    fn trusted() -> TrustedProxies {
        let block = |text: &str, bits| (text.parse().expect("an address"), bits);
        TrustedProxies::new([block("10.0.0.0", 8), block("2001:db8:ffff::", 48)])
    }

    /// Who the client is, given lines of headers.
    fn client(peer: &str, lines: &[(&'static str, &str)]) -> String {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            let value = HeaderValue::from_bytes(value.as_bytes()).expect("a value");
            headers.append(HeaderName::from_static(name), value);
        }
        let peer = Peer::Network(peer.parse().expect("a peer"));
        match trusted().client(peer, &headers) {
            Peer::Network(address) => address.ip().to_string(),
            Peer::Operator => "operator".to_owned(),
        }
    }

    fn check(line: (&'static str, &str), expected: &str) {
        assert_eq!(client(PROXY, &[line]), expected, "{line:?}");
    }

    #[test]
    fn the_rightmost_hop_that_is_no_proxy_is_the_client() {
        for (list, expected) in [
            ("203.0.113.7", "203.0.113.7"),
            ("198.51.100.1, 203.0.113.7", "203.0.113.7"),
            ("198.51.100.1, 203.0.113.7,10.9.9.9", "203.0.113.7"),
            ("203.0.113.7:51000", "203.0.113.7"),
            ("[2001:db8::7]:51000", "2001:db8::7"),
            ("2001:db8::7", "2001:db8::7"),
            ("::ffff:203.0.113.7", "203.0.113.7"),
            ("::ffff:203.0.113.7, ::ffff:10.2.3.4", "203.0.113.7"),
            ("203.0.113.7, 2001:db8:ffff::1", "203.0.113.7"),
            // Proxies all the way: the first of them.
            ("10.0.0.3, 10.0.0.2", "10.0.0.3"),
        ] {
            check(("x-forwarded-for", list), expected);
        }
        let lines = [
            ("x-forwarded-for", "198.51.100.1"),
            ("x-forwarded-for", "203.0.113.7"),
        ];
        assert_eq!(client(PROXY, &lines), "203.0.113.7");
    }

    #[test]
    fn the_standard_s_header_says_the_same() {
        for (elements, expected) in [
            ("for=203.0.113.7", "203.0.113.7"),
            (
                "For=\"[2001:db8::7]:4711\";proto=https;by=10.0.0.1",
                "2001:db8::7",
            ),
            (
                "for=198.51.100.1, proto=http; for=203.0.113.7, for=10.0.0.2",
                "203.0.113.7",
            ),
            ("for=203.0.113.7;host=\"a,for=198.51.100.9\"", "203.0.113.7"),
            ("for=\"203\\.0.113.7\"", "203.0.113.7"),
        ] {
            check(("forwarded", elements), expected);
        }
    }

    #[test]
    fn what_cannot_be_read_ends_the_way() {
        for list in [
            "",
            "unknown",
            "203.0.113.7, ",
            "203.0.113.7;10.0.0.2",
            "1.2.3",
            "203.0.113.256",
            "\u{e9}",
            "203.0.113.7, \u{e9}",
        ] {
            check(("x-forwarded-for", list), "10.0.0.1");
        }
        check(
            ("x-forwarded-for", "203.0.113.7, hidden, 10.0.0.2"),
            "10.0.0.2",
        );
        for elements in [
            "for=unknown",
            "for=_hidden",
            "proto=https",
            "for",
            "for=\"203.0.113.7",
            "for=203.0.113.7, for=\"",
            "for=\"203.0.113.7\"x",
        ] {
            check(("forwarded", elements), "10.0.0.1");
        }
    }

    #[test]
    fn nobody_else_is_believed() {
        let line = ("x-forwarded-for", "203.0.113.7");
        assert_eq!(client("192.0.2.9:1", &[line]), "192.0.2.9");
        assert_eq!(client("[2001:db8:fffe::1]:1", &[line]), "2001:db8:fffe::1");
        assert_eq!(client("[::ffff:10.0.0.1]:1", &[line]), "203.0.113.7");
        let none = TrustedProxies::default();
        let peer = Peer::Network(PROXY.parse().expect("a peer"));
        let headers = HeaderMap::from_iter([(
            HeaderName::from_static("x-forwarded-for"),
            HeaderValue::from_static("203.0.113.7"),
        )]);
        assert_eq!(none.client(peer, &headers), peer);
        assert_eq!(trusted().client(Peer::Operator, &headers), Peer::Operator);
    }

    /// A client writes the header that its proxy does not.
    #[test]
    fn two_headers_that_differ_are_none() {
        let spoofed = [
            ("x-forwarded-for", "203.0.113.7"),
            ("forwarded", "for=198.51.100.1"),
        ];
        assert_eq!(client(PROXY, &spoofed), "10.0.0.1");
        let same = [
            ("x-forwarded-for", "203.0.113.7"),
            ("forwarded", "for=203.0.113.7"),
        ];
        assert_eq!(client(PROXY, &same), "203.0.113.7");
    }

    proptest::proptest! {
        #[test]
        fn no_text_breaks_it(text in "[ -~]{0,80}", pieces in "(for=|[\"\\\\;,= 1.:\\[\\]]){0,40}") {
            for text in [text, pieces] {
                let hops = elements(&text).unwrap_or_default();
                proptest::prop_assert!(hops.len() <= text.matches(',').count() + 1);
                for name in ["forwarded", "x-forwarded-for"] {
                    client(PROXY, &[(name, &text)]);
                }
            }
        }
    }

    /// Hostile length does not lead past a bound.
    #[test]
    fn a_chain_of_proxies_has_an_end() {
        let chain = format!("203.0.113.7{}", ", 10.0.0.2".repeat(HOPS_MAX));
        check(("x-forwarded-for", &chain), "10.0.0.2");
    }
}
