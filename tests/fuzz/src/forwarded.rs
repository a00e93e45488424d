//! Any headers of proxies: nobody is believed who is not trusted, and nobody is invented.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use context402::http::Peer;
use context402::http::forwarded::TrustedProxies;
use hyper::header::{HeaderMap, HeaderValue};

use super::mutation::mutated;
use super::random::Random;

const WORDS: [&str; 36] = [
    "for=",
    "For=",
    "FOR=",
    "by=",
    "host=",
    "proto=https",
    ";",
    ",",
    ", ",
    "=",
    "\"",
    "\\",
    "\\\"",
    "[",
    "]",
    "[2001:db8::7]",
    "2001:db8::7",
    "203.0.113.7",
    "10.0.0.1",
    "10.9.9.9",
    "::ffff:10.0.0.1",
    ":80",
    ":99999",
    "unknown",
    "_hidden",
    "127.0.0.1",
    " ",
    "\t",
    "203.0.113.256",
    "0xcb.0.113.7",
    "203.0.113.7:51000",
    "for=\"",
    "for=;",
    "for=,",
    "1",
    "é",
];
const TRUSTED: SocketAddr =
    SocketAddr::new(IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1)), 4_000);
const STRANGER: SocketAddr =
    SocketAddr::new(IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 9)), 4_000);

pub(crate) fn corpus(_: &Path) -> Vec<Vec<u8>> {
    let seeds = [
        "203.0.113.7, 10.9.9.9",
        "for=203.0.113.7;proto=https;by=10.0.0.1, for=\"[2001:db8::7]:4711\"",
        "for=\"203\\.0.113.7\";host=\"a,for=198.51.100.9\"",
    ];
    seeds.iter().map(|seed| seed.as_bytes().to_vec()).collect()
}

pub(crate) fn input(random: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut data = vec![random.byte()];
    data.extend(mutated(random, seeds, &WORDS));
    data
}

/// The first byte says which header holds the rest.
pub(crate) fn body(data: &[u8]) {
    let [mode, rest @ ..] = data else {
        return;
    };
    let Ok(value) = HeaderValue::from_bytes(rest) else {
        return;
    };
    let mut headers = HeaderMap::new();
    if mode % 3 != 0 {
        headers.append("x-forwarded-for", value.clone());
    }
    if mode % 3 != 1 {
        headers.append("forwarded", value);
    }
    let block = (IpAddr::from([10, 0, 0, 0]), 8);
    let proxies = TrustedProxies::new([block]);
    let stranger = Peer::Network(STRANGER);
    assert_eq!(proxies.client(stranger, &headers), stranger);
    assert_eq!(proxies.client(Peer::Operator, &headers), Peer::Operator);
    let Peer::Network(client) = proxies.client(Peer::Network(TRUSTED), &headers) else {
        panic!("a client became the operator");
    };
    if client.ip() != TRUSTED.ip() {
        let text = String::from_utf8_lossy(rest)
            .replace('\\', "")
            .to_ascii_lowercase();
        let named =
            text.contains(&client.ip().to_string()) || client.is_ipv6() || text.contains("::ffff:");
        assert!(named, "{client} does not stand in {text}");
    }
}
