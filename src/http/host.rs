//! Whether a text can be the host and port of a request: the value of a Host header, or the authority of an absolute
//! address (RFC 9112, 3.2; RFC 3986, 3.2.2 and 3.2.3). The grammar alone: which host is meant changes no answer.

use std::net::Ipv6Addr;

/// Whether this is `uri-host [":" port]`. The host may not be empty (RFC 9110, 4.2.1), a port not above 65535, and user
/// information is an error (RFC 9110, 4.2.4).
pub(in crate::http) fn is_valid(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else {
        return false;
    };
    let (host, rest) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((literal, rest)) => (is_ip_literal(literal), rest),
        None => {
            let end = text.find(':').unwrap_or(text.len());
            (is_registered_name(&text[..end]), &text[end..])
        }
    };
    host && (rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port))
}

/// Digits, or nothing at all (RFC 3986, 3.2.3).
fn is_port(text: &str) -> bool {
    let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    is_digits && (text.is_empty() || text.parse::<u16>().is_ok())
}

fn is_ip_literal(text: &str) -> bool {
    let future = text
        .strip_prefix(['v', 'V'])
        .and_then(|rest| rest.split_once('.'));
    match future {
        Some((version, address)) => {
            let is_version =
                !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_hexdigit());
            let is_address = address.bytes().all(|byte| is_plain(byte) || byte == b':');
            is_version && !address.is_empty() && is_address
        }
        None => text.parse::<Ipv6Addr>().is_ok(),
    }
}

/// A name or an IPv4 address.
fn is_registered_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let is_allowed = match byte {
            b'%' => {
                let mut digit = || bytes.next().is_some_and(|byte| byte.is_ascii_hexdigit());
                digit() && digit()
            }
            byte => is_plain(byte),
        };
        if !is_allowed {
            return false;
        }
    }
    !text.is_empty()
}

/// The unreserved characters and sub-delimiters of RFC 3986, 2.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_by_their_grammar() {
        for good in [
            "example.com",
            "EXAMPLE.com.",
            "example.com:443",
            "example.com:",
            "127.0.0.1:65535",
            "[::1]",
            "[::ffff:192.0.2.1]:80",
            "[v1.fe80::a+en1]",
            "a_b~c!d",
            "caf%C3%A9.example",
            "x",
        ] {
            assert!(is_valid(good.as_bytes()), "{good}");
        }
        for bad in [
            "",
            ":80",
            "a b",
            "a/b",
            "a\\b",
            "a?b",
            "a#b",
            "u@b",
            "u:p@b",
            "x:99999",
            "x:65536",
            "x:8o",
            "x:-1",
            "x:+1",
            "x:1:2",
            "::1",
            "[::1",
            "::1]",
            "[::1]80",
            "[::1]:99999",
            "[fe80::1%25en0]",
            "[]",
            "[v.a]",
            "[v1.]",
            "[1.2.3.4]",
            "a%2",
            "a%zz",
            "a\"b",
            "<a>",
            "{a}",
            "a,b c",
            "caf\u{e9}",
        ] {
            assert!(!is_valid(bad.as_bytes()), "{bad}");
        }
        assert!(!is_valid(b"a\xff"));
    }
}
