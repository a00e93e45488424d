//! Fetches over real sockets: every name is a `[lab]` host, so the checks run as in production and only the last
//! step, the dialling, ends on loopback.

mod bodies;
mod failures;
mod redirects;

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sha2::{Digest, Sha256};

use super::body::Drained;
use super::*;
use crate::domain::code::Code;
use crate::domain::excerpt::Extent;
use crate::domain::target::TargetError;
use crate::markdown::{ConvertError, PAGE_BYTES_MAX};
use crate::outside::loopback::{Next, Request, Server};
use crate::outside::memory::Memory;
use crate::outside::network::{ForbiddenHosts, LabHost, NameServers, NetworkSettings};

const PUBLIC: &str = "93.184.216.34";
const PAGE_BYTES: usize = 5_242_880;

/// A server on loopback that answers each connection with whatever the closure writes.
struct Site(Server);

impl Site {
    fn start(answer: impl Fn(&Request, &TcpStream) + Send + Sync + 'static) -> Self {
        Site(Server::with(move |request, stream| {
            answer(request, stream);
            Next::Close
        }))
    }

    /// Answers every path with the same bytes.
    fn saying(response: impl Into<Vec<u8>>) -> Self {
        let response = response.into();
        Site::start(move |_, stream| send(stream, &response))
    }

    /// Answers with a redirect to the value that this path has in the table, else with a page.
    fn redirecting(table: &[(&str, &str)]) -> Self {
        let table: HashMap<String, String> = table
            .iter()
            .map(|(path, location)| ((*path).to_owned(), (*location).to_owned()))
            .collect();
        Site::start(move |request, stream| {
            let response = match table.get(&request.path) {
                Some(location) => format!(
                    "HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n"
                ),
                None => page("text/plain", "arrived"),
            };
            send(stream, response.as_bytes());
        })
    }

    fn port(&self) -> u16 {
        self.0.address.port()
    }

    fn connections(&self) -> usize {
        self.0.connections()
    }
}

/// The client may have given up already; that is its test's business.
fn send(mut stream: &TcpStream, bytes: &[u8]) {
    let _ = stream.write_all(bytes);
}

fn page(content_type: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn settings() -> WebSettings {
    let mut settings =
        WebSettings::new("context402-test/1.0 (+http://shop.sample-site.org/about)".to_owned());
    settings.budget = Duration::from_secs(20);
    settings
}

fn lab<'a>(ports: impl IntoIterator<Item = (&'a str, u16)>) -> HashMap<String, LabHost> {
    let host = |port| LabHost::parse(&format!("{PUBLIC}@127.0.0.1:{port}")).expect("a lab host");
    let ports = ports.into_iter();
    ports
        .map(|(name, port)| (name.to_owned(), host(port)))
        .collect()
}

fn web_of(settings: WebSettings, sites: &[(&str, &Site)]) -> Web {
    web_on(
        settings,
        sites.iter().map(|(name, site)| (*name, site.port())),
    )
}

fn web_on<'a>(settings: WebSettings, ports: impl IntoIterator<Item = (&'a str, u16)>) -> Web {
    let forbidden = ForbiddenHosts::new(["shop.sample-site.org"]);
    let network = Network::new(
        NetworkSettings::default(),
        NameServers::System,
        lab(ports),
        forbidden,
    )
    .expect("a thread");
    Web::new(settings, network).expect("no lab roots to read")
}

fn target(text: &str) -> TargetUrl {
    TargetUrl::parse(text).expect("a target in a test")
}

fn options() -> FetchOptions {
    FetchOptions {
        keeps_empty: false,
        full: true,
        extent: Extent::default(),
        if_none_match: None,
        if_modified_since: None,
        deadline: Instant::now() + Duration::from_secs(20),
    }
}

/// Reads a page to its end without converting it.
fn read_page(web: &Web, url: &str) -> Result<(Body, Drained, usize), FetchError> {
    let cleared = web.clear(&target(url))?;
    match web.open(cleared, &options())? {
        Opened::Page { body, redirects } => {
            let (body, drained) = body.drain(|_| Ok(()))?;
            Ok((body, drained, redirects))
        }
        Opened::NotModified { .. } => panic!("no validator was sent"),
    }
}

/// What reading `http://news.sample-site.org/` fails with when the site answers these bytes.
fn failure(response: impl Into<Vec<u8>>) -> FetchError {
    let site = Site::saying(response);
    let web = web_of(settings(), &[("news.sample-site.org", &site)]);
    let outcome = read_page(&web, "http://news.sample-site.org/");
    assert_eq!(site.connections(), 1);
    outcome.map(|_| ()).expect_err("a failure")
}

fn bytes_read(response: impl Into<Vec<u8>>) -> Result<u64, FetchError> {
    let site = Site::saying(response);
    let web = web_of(settings(), &[("news.sample-site.org", &site)]);
    let (_, drained, _) = read_page(&web, "http://news.sample-site.org/")?;
    Ok(drained.bytes)
}

fn compressed(coding: &str, body: &[u8]) -> Vec<u8> {
    let mut response = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: {coding}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    response.extend_from_slice(body);
    response
}

#[test]
fn a_page_is_read_from_the_address_that_was_checked() {
    let site = Site::start(|request, stream| {
        let head = request.head.to_ascii_lowercase();
        assert!(head.starts_with("get /a?b http/1.1\r\n"), "{head}");
        for expected in [
            "\r\nhost: news.sample-site.org\r\n",
            "\r\naccept: text/markdown, text/html;",
            "\r\naccept-encoding: gzip, br\r\n",
            "\r\nuser-agent: context402-test/1.0 (+http://shop.sample-site.org/about)\r\n",
        ] {
            assert!(head.contains(expected), "{expected:?} in {head}");
        }
        for absent in ["cookie", "authorization", "referer", "if-none-match"] {
            assert!(!head.contains(absent), "{absent:?} in {head}");
        }
        send(
            stream,
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=latin1\r\nETag: \"1\"\r\nX-Robots-Tag: noai\r\n\
              X-Robots-Tag: noindex\r\nContent-Length: 5\r\n\r\nhello",
        );
    });
    let other = Site::saying(page("text/plain", "other"));
    let web = web_of(
        settings(),
        &[
            ("news.sample-site.org", &site),
            ("other.sample-site.org", &other),
        ],
    );
    let (body, drained, redirects) =
        read_page(&web, "http://news.sample-site.org/a?b#c").expect("a page");
    assert_eq!(body.final_url.as_str(), "http://news.sample-site.org/a?b");
    assert_eq!(
        (body.status, body.kind, redirects),
        (200, ContentKind::Html, 0)
    );
    assert_eq!(body.charset.as_deref(), Some("latin1"));
    assert_eq!(text(&body.headers, "etag").as_deref(), Some("\"1\""));
    let tags: Vec<&str> = texts(&body.headers, &["x-robots-tag"]).collect();
    assert_eq!(tags, ["noai", "noindex"]);
    assert_eq!(drained.bytes, 5);
    assert_eq!(drained.sha256[..], Sha256::digest(b"hello")[..]);
    assert_eq!((site.connections(), other.connections()), (1, 0));
}

/// The whole way, conversion included: what the converter says is what the fetch says.
#[test]
fn a_fetch_ends_with_what_the_converter_makes_of_the_page() {
    let body =
        "The committee met on Tuesday and agreed on the plan. It will be published in the spring.";
    let site = Site::saying(page("text/plain; charset=utf-8", body));
    let web = web_of(settings(), &[("news.sample-site.org", &site)]);
    let cleared = web
        .clear(&target("http://news.sample-site.org/"))
        .expect("cleared");
    match web.fetch(cleared, &options(), &mut Memory::new(0).nothing()) {
        Ok(Fetched::Page(fetched)) => {
            assert!(fetched.page.markdown.contains("agreed on the plan"));
            assert_eq!(fetched.bytes_fetched, body.len() as u64);
            assert_eq!(fetched.source_sha256[..], Sha256::digest(body)[..]);
            assert_eq!(fetched.content_type, "text/plain; charset=utf-8");
        }
        outcome => assert_eq!(
            outcome.map(|_| ()).err(),
            Some(FetchError::Convert(ConvertError::Empty))
        ),
    }
}

#[test]
fn a_kept_copy_is_asked_about_and_confirmed() {
    let site = Site::start(|request, stream| {
        let head = request.head.to_ascii_lowercase();
        assert!(head.contains("\r\nif-none-match: \"abc\"\r\n"), "{head}");
        assert!(
            head.contains("\r\nif-modified-since: sat, 21 nov 2026 10:00:00 gmt\r\n"),
            "{head}"
        );
        send(
            stream,
            b"HTTP/1.1 304 Not Modified\r\nETag: \"abc\"\r\n\r\n",
        );
    });
    let web = web_of(settings(), &[("news.sample-site.org", &site)]);
    let cleared = web
        .clear(&target("http://news.sample-site.org/"))
        .expect("cleared");
    let mut options = options();
    options.if_none_match = Some("\"abc\"".to_owned());
    options.if_modified_since = Some("Sat, 21 Nov 2026 10:00:00 GMT".to_owned());
    assert!(matches!(
        web.fetch(cleared, &options, &mut Memory::new(0).nothing()),
        Ok(Fetched::NotModified {
            may_be_shared: true
        })
    ));
}

#[test]
fn what_cannot_be_read_is_refused_by_its_name() {
    for coding in ["zstd", "deflate", "x-gzip", "GZIP", "gzip, gzip"] {
        let error = failure(compressed(coding, b"whatever"));
        assert_eq!(error, FetchError::ContentEncoding(coding.to_owned()));
        assert_eq!(
            (error.code().text(), error.is_transient()),
            ("unsupported_content_type", false)
        );
    }
    assert_eq!(bytes_read(compressed("identity", b"plain")), Ok(5));
    assert_eq!(
        bytes_read(compressed("br", b"\x0b\x02\x80hello\x03")),
        Ok(5)
    );
    assert_eq!(
        failure(compressed("br", b"\xff\xff\xff\xff\xff")),
        FetchError::Corrupt
    );
    assert_eq!(
        failure(compressed("gzip", b"this is no gzip")),
        FetchError::Corrupt
    );

    let error = failure(page("application/zip", "PK"));
    assert_eq!(error, FetchError::ContentType("application/zip".to_owned()));
    assert!(error.to_string().contains("application/zip"));
    // By the first bytes, whatever the type says.
    assert_eq!(
        failure(page("text/html", "GIF89a")),
        FetchError::ContentType("a GIF image".to_owned())
    );
    assert!(matches!(
        failure("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ntext\0text"),
        FetchError::ContentType(_)
    ));
}

#[test]
fn a_page_without_a_type_is_read_by_its_looks() {
    let site =
        Site::saying("HTTP/1.1 200 OK\r\nContent-Length: 25\r\n\r\n<!doctype html><p>hello</");
    let web = web_of(settings(), &[("news.sample-site.org", &site)]);
    let (body, drained, _) = read_page(&web, "http://news.sample-site.org/").expect("a page");
    assert_eq!(
        (body.kind, body.content_type.as_str()),
        (ContentKind::Html, "text/html")
    );
    assert_eq!(
        drained.sha256[..],
        Sha256::digest(b"<!doctype html><p>hello</")[..]
    );
    // Longer than what is looked at, shorter than a chunk, and longer than both.
    for bytes in [0, 511, 512, 513, 40_000, 100_000] {
        let response = [
            b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".to_vec(),
            vec![b'x'; bytes],
        ]
        .concat();
        assert_eq!(bytes_read(response), Ok(bytes as u64), "{bytes}");
    }
}

#[test]
fn headers_are_bounded() {
    let header = format!("X-Filler: {}\r\n", "a".repeat(1_000));
    let error = failure(format!(
        "HTTP/1.1 200 OK\r\n{}Content-Length: 0\r\n\r\n",
        header.repeat(17)
    ));
    assert_eq!(
        (error.clone(), error.is_transient()),
        (FetchError::HeadersTooLarge, false)
    );
    let error = failure(format!(
        "HTTP/1.1 200 OK\r\n{}Content-Length: 0\r\n\r\n",
        "A: b\r\n".repeat(200)
    ));
    assert_eq!(error, FetchError::Protocol);
    let error = failure("HTTP/1.1 100 Continue\r\n\r\n".repeat(1_000));
    assert!(!matches!(error, FetchError::Status(_)), "{error}");
    assert_eq!(failure("SSH-2.0-OpenSSH_9.6\r\n\r\n"), FetchError::Protocol);
}

#[test]
fn our_own_host_and_a_name_without_addresses_are_not_cleared() {
    let lookup = |_: &str| Ok(Vec::new());
    let forbidden = ForbiddenHosts::new(["shop.sample-site.org"]);
    let network = Network::with_lookup(
        NetworkSettings::default(),
        HashMap::new(),
        forbidden,
        lookup,
    )
    .expect("threads");
    let web = Web::new(settings(), network).expect("no lab roots to read");
    let check = |url: &str, code: &str| {
        let error = web.clear(&target(url)).map(|_| ()).expect_err(url);
        assert_eq!(
            (error.code().text(), error.is_transient()),
            (code, false),
            "{url}"
        );
    };
    check("http://shop.sample-site.org/", "target_blocked");
    check("http://gone.sample-site.org/", "dns_failed");
}

/// Runs one of the tests above in a child whose environment names a proxy, and sees that nobody calls it.
#[test]
fn a_proxy_in_the_environment_is_not_used() {
    let proxy = Site::saying(page("text/plain", "from the proxy"));
    let address = format!("http://127.0.0.1:{}", proxy.port());
    let child = Command::new(std::env::current_exe().expect("this test"))
        .args([
            "--exact",
            "outside::web::tests::a_page_is_read_from_the_address_that_was_checked",
        ])
        .envs(
            [
                "HTTP_PROXY",
                "http_proxy",
                "HTTPS_PROXY",
                "ALL_PROXY",
                "all_proxy",
            ]
            .map(|name| (name, address.as_str())),
        )
        .output()
        .expect("a child");
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(
        child.status.success() && said.contains("1 passed"),
        "{said}"
    );
    assert_eq!(proxy.connections(), 0);
}
