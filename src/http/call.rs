//! A request for a handler: complete, bounded, without hyper's types.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Weak;

use hyper::HeaderMap;
use hyper::body::Bytes;
use hyper::header::ACCEPT;

use crate::http::method::Method;

/// The parameter by which a call knows that it asked for markdown.
pub(in crate::http) const MARKDOWN_PARAMETER: &str = "markdown";

/// A request with its whole body.
#[derive(Clone, Debug)]
pub struct Call {
    pub method: Method,
    /// The raw path, as it was sent.
    pub path: String,
    /// The pattern of the row that answers, such as `/v1/quotes/{quote_id}`.
    pub pattern: &'static str,
    /// Path segments by the row's parameter names, and `source` for a `/from/{source}` alias.
    pub params: Vec<(&'static str, String)>,
    pub query: Query,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub peer: Peer,
    /// `req_` and 32 hex digits.
    pub request_id: String,
    /// Alive as long as the client waits for the answer: a handler that runs detached goes on after the client has left.
    /// `None`: there is no connection that could end.
    pub waiting: Option<Weak<()>>,
}

/// The client: the other end of the connection, or the address that a trusted proxy names (`forwarded.rs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    Network(SocketAddr),
    /// A process that may open the operator's Unix socket (mode 0600), or anyone who proves to be the operator.
    Operator,
}

impl Peer {
    /// The key under which a client is counted: an IPv4 address, or an IPv6 address's /64, since one customer holds
    /// at least that many.
    pub fn client(self) -> Option<IpAddr> {
        match self {
            Peer::Operator => None,
            Peer::Network(address) => Some(match address.ip().to_canonical() {
                IpAddr::V4(v4) => IpAddr::V4(v4),
                IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from(u128::from(v6) & (u128::MAX << 64))),
            }),
        }
    }
}

impl Call {
    /// The text of a header that is there once. `None` too when it is repeated or no visible ASCII.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.get_all(name).iter();
        match (values.next(), values.next()) {
            (Some(value), None) => value.to_str().ok().map(str::trim),
            _ => None,
        }
    }

    /// How often a header is there.
    pub fn header_count(&self, name: &str) -> usize {
        self.headers.get_all(name).iter().count()
    }

    pub fn param(&self, name: &str) -> Option<&str> {
        self.params
            .iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value.as_str())
    }

    /// Whether the Accept header prefers `wanted` to `other` (RFC 9110, 12.5.1). Wildcards count for `other` alone, so
    /// that a client has to name `wanted`. Of equal weight, the one named first is preferred.
    pub fn prefers(&self, wanted: &str, other: &str) -> bool {
        let accept = self.accept();
        match weighed(&accept, wanted, other) {
            Ordering::Equal => position(&accept, wanted) < position(&accept, other),
            order => order == Ordering::Greater,
        }
    }

    /// The same, but of equal weight it is `other` that is preferred, unless only a wildcard stands for it.
    pub fn strictly_prefers(&self, wanted: &str, other: &str) -> bool {
        let accept = self.accept();
        match weighed(&accept, wanted, other) {
            Ordering::Equal => position(&accept, other) == usize::MAX,
            order => order == Ordering::Greater,
        }
    }

    /// Whether JSON is asked for by its name, and not less than a page.
    pub fn asks_json(&self) -> bool {
        self.prefers("application/json", "text/html")
    }

    /// Whether an address that has a page and a document answers with the page: anyone who accepts anything gets the
    /// page, as crawlers and browsers expect. Without an Accept header it is the document.
    pub fn wants_page(&self) -> bool {
        let accept = self.accept();
        let takes_page = !accept.is_empty() && quality(&accept, "text/html", true) > 0.0;
        takes_page && !self.asks_json()
    }

    /// All Accept headers in lower case; empty when there is none.
    fn accept(&self) -> String {
        let headers = self.headers.get_all(ACCEPT).iter();
        let texts: Vec<&str> = headers.filter_map(|value| value.to_str().ok()).collect();
        texts.join(",").to_ascii_lowercase()
    }

    /// Whether a page is wanted as markdown: by Accept, or by `?format=markdown` or its markdown address, which a link
    /// can say.
    pub fn wants_markdown(&self) -> bool {
        let format = self.query.get("format");
        format.is_some_and(|format| format == "markdown")
            || self.param(MARKDOWN_PARAMETER).is_some()
            || self.prefers("text/markdown", "text/html")
    }
}

/// How the weight of `wanted` compares with that of `other`. What is not accepted at all is less than anything.
fn weighed(accept: &str, wanted: &str, other: &str) -> Ordering {
    let (mine, theirs) = (quality(accept, wanted, false), quality(accept, other, true));
    match mine > 0.0 {
        true => mine.total_cmp(&theirs),
        false => Ordering::Less,
    }
}

/// The weight of a media type, by its name or also by wildcards.
fn quality(accept: &str, media: &str, wildcards: bool) -> f32 {
    accept
        .split(',')
        .filter_map(|range| {
            let mut parts = range.split(';').map(str::trim);
            let name = parts.next().unwrap_or_default();
            let wildcard = name == "*/*"
                || name
                    .strip_suffix('*')
                    .is_some_and(|kind| media.starts_with(kind));
            let named = name == media || (wildcards && wildcard);
            let quality = parts
                .find_map(|parameter| parameter.strip_prefix("q="))
                .map_or(1.0, |text| text.parse::<f32>().unwrap_or(0.0));
            named.then_some(quality)
        })
        .fold(0.0, f32::max)
}

fn position(accept: &str, media: &str) -> usize {
    accept.find(media).unwrap_or(usize::MAX)
}

/// The query string, decoded on demand.
#[derive(Clone, Debug, Default)]
pub struct Query(pub String);

impl Query {
    /// The first value of a parameter, percent-decoded.
    pub fn get(&self, name: &str) -> Option<Cow<'_, str>> {
        self.all(name).next()
    }

    /// Every value of a parameter, in order.
    pub fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = Cow<'a, str>> {
        url::form_urlencoded::parse(self.0.as_bytes())
            .filter_map(move |(key, value)| (key == name).then_some(value))
            .collect::<Vec<_>>()
            .into_iter()
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    fn call(accept: &'static str) -> Call {
        let mut headers = HeaderMap::new();
        headers.insert("accept", HeaderValue::from_static(accept));
        Call {
            method: Method::Get,
            path: "/".to_owned(),
            pattern: "/",
            params: Vec::new(),
            query: Query::default(),
            headers,
            body: Bytes::new(),
            peer: Peer::Operator,
            request_id: String::new(),
            waiting: None,
        }
    }

    #[test]
    fn a_browser_gets_a_page_and_a_program_gets_json() {
        for (accept, html) in [
            (
                "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
                true,
            ),
            ("*/*", false),
            ("application/json", false),
            ("application/json, text/html", false),
            ("text/html;q=0.5, application/json", false),
            ("text/html", true),
            ("text/*", false),
        ] {
            assert_eq!(
                call(accept).prefers("text/html", "application/json"),
                html,
                "{accept}"
            );
        }
    }

    #[test]
    fn who_accepts_anything_gets_the_page_where_there_is_one() {
        for (accept, page) in [
            ("*/*", true),
            ("text/html", true),
            ("text/*", true),
            (
                "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
                true,
            ),
            ("text/html, application/json", true),
            ("image/png, */*;q=0.1", true),
            ("", false),
            ("application/json", false),
            ("application/*", false),
            ("application/json, text/html", false),
            ("application/json, text/plain, */*", false),
            ("text/html;q=0.5, application/json", false),
            ("text/html;q=0", false),
        ] {
            assert_eq!(call(accept).wants_page(), page, "{accept}");
        }
    }

    #[test]
    fn of_equal_weight_what_is_named_first_is_preferred_or_the_usual_form() {
        let asked = |accept| {
            let call = call(accept);
            (
                call.prefers("text/markdown", "application/json"),
                call.strictly_prefers("text/markdown", "application/json"),
            )
        };
        for (accept, rather, above) in [
            ("text/markdown", true, true),
            ("TEXT/Markdown", true, true),
            ("text/markdown, */*", true, true),
            ("text/markdown, application/json", true, false),
            ("application/json, text/markdown", false, false),
            ("application/json;q=0.9, text/markdown", true, true),
            ("text/markdown;q=0.9, application/json", false, false),
            ("text/markdown;q=0", false, false),
            ("*/*", false, false),
        ] {
            assert_eq!(asked(accept), (rather, above), "{accept}");
        }
    }

    #[test]
    fn clients_are_counted_by_address_and_by_ipv6_network() {
        let key = |text: &str| Peer::Network(text.parse().expect("a socket address")).client();
        assert_eq!(
            key("[2001:db8:1:2:3::4]:9"),
            key("[2001:db8:1:2:ffff::1]:10")
        );
        assert_ne!(key("[2001:db8:1:2::]:9"), key("[2001:db8:1:3::]:9"));
        assert_eq!(key("[::ffff:192.0.2.1]:9"), key("192.0.2.1:10"));
    }
}
