//! Fetches over real sockets: every name is a `[lab]` host, so the checks run as in production and only the last
//! step, the dialling, ends on loopback.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sha2::{Digest, Sha256};

use super::body::Drained;
use super::*;
use crate::domain::target::TargetError;
use crate::markdown::{ConvertError, PAGE_BYTES_MAX};
use crate::outside::network::{ForbiddenHosts, LabHost, NetworkSettings};

const PUBLIC: &str = "93.184.216.34";
const PAGE_BYTES: usize = 5_242_880;

/// A server on loopback that answers each connection with whatever the closure writes.
struct Site {
    port: u16,
    connections: Arc<AtomicUsize>,
}

impl Site {
    fn start(answer: impl Fn(&str, &mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let port = listener.local_addr().expect("bound").port();
        let connections = Arc::new(AtomicUsize::new(0));
        let counter = connections.clone();
        let answer = Arc::new(answer);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                counter.fetch_add(1, Ordering::SeqCst);
                let answer = answer.clone();
                std::thread::spawn(move || answer(&read_head(&mut stream), &mut stream));
            }
        });
        Site { port, connections }
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
        Site::start(move |head, stream| {
            let response = match table.get(path(head)) {
                Some(location) => format!(
                    "HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n"
                ),
                None => page("text/plain", "arrived"),
            };
            send(stream, response.as_bytes());
        })
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// The client may have given up already; that is its test's business.
fn send(stream: &mut TcpStream, bytes: &[u8]) {
    let _ = stream.write_all(bytes);
}

fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|count| count == 1) {
        head.push(byte[0]);
    }
    String::from_utf8_lossy(&head).into_owned()
}

fn path(head: &str) -> &str {
    head.split(' ').nth(1).unwrap_or_default()
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

fn lab(sites: &[(&str, &Site)]) -> HashMap<String, LabHost> {
    sites
        .iter()
        .map(|(name, site)| {
            let text = format!("{PUBLIC}@127.0.0.1:{}", site.port);
            (
                (*name).to_owned(),
                LabHost::parse(&text).expect("a lab host"),
            )
        })
        .collect()
}

fn web_of(settings: WebSettings, sites: &[(&str, &Site)]) -> Web {
    let forbidden = ForbiddenHosts::new(["shop.sample-site.org"]);
    let network = Network::new(NetworkSettings::default(), lab(sites), forbidden).expect("threads");
    Web::new(settings, network).expect("no lab roots to read")
}

fn target(text: &str) -> TargetUrl {
    TargetUrl::parse(text).expect("a target in a test")
}

fn options() -> FetchOptions {
    FetchOptions {
        full: true,
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
        Opened::NotModified => panic!("no validator was sent"),
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

#[test]
fn a_page_is_read_from_the_address_that_was_checked() {
    let site = Site::start(|head, stream| {
        let head = head.to_ascii_lowercase();
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
    match web.fetch(cleared, &options()) {
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
fn a_redirect_is_followed_to_where_the_policy_allows() {
    let news = Site::redirecting(&[
        ("/old", "/new"),
        ("/new", "//other.sample-site.org/page?x#y"),
        ("/space", "/a b"),
    ]);
    let other = Site::saying(page("text/plain", "arrived"));
    let web = web_of(
        settings(),
        &[
            ("news.sample-site.org", &news),
            ("other.sample-site.org", &other),
        ],
    );
    let (body, drained, redirects) =
        read_page(&web, "http://news.sample-site.org/old").expect("a page");
    assert_eq!(
        body.final_url.as_str(),
        "http://other.sample-site.org/page?x"
    );
    assert_eq!((drained.bytes, redirects), (7, 2));
    let (body, _, _) = read_page(&web, "http://news.sample-site.org/space").expect("a page");
    assert_eq!(body.final_url.as_str(), "http://news.sample-site.org/a%20b");
}

#[test]
fn a_redirect_to_what_is_refused_is_not_followed() {
    for location in [
        "http://127.0.0.1/",
        "http://10.0.0.1/",
        "http://100.64.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://168.63.129.16/",
        "http://224.0.0.1/",
        "http://0.0.0.0/",
        "http://0x7f.1/",
        "http://2130706433/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[fd00:ec2::254]/",
        "http://[64:ff9b::7f00:1]/",
        "http://localhost/",
        "http://metadata.google.internal/",
        "http://printer/",
        "//127.0.0.1/",
        "http://news.sample-site.org:8080/",
        "http://user:pw@news.sample-site.org/new",
        "//user@news.sample-site.org/new",
        "http://shop.sample-site.org/",
        "http://private.sample-site.org/",
        "/\\127.0.0.1/",
        "http:\\\\127.0.0.1/",
        "/a\tb",
        "file:///etc/passwd",
        "gopher://news.sample-site.org/",
        "javascript:alert(1)",
    ] {
        let news = Site::redirecting(&[("/", location)]);
        let private = Site::saying(page("text/plain", "never read"));
        let mut hosts = lab(&[("news.sample-site.org", &news)]);
        let text = format!("10.0.0.1@127.0.0.1:{}", private.port);
        hosts.insert(
            "private.sample-site.org".to_owned(),
            LabHost::parse(&text).expect("a lab host"),
        );
        let forbidden = ForbiddenHosts::new(["shop.sample-site.org"]);
        let network = Network::new(NetworkSettings::default(), hosts, forbidden).expect("threads");
        let web = Web::new(settings(), network).expect("no lab roots to read");
        let error = read_page(&web, "http://news.sample-site.org/")
            .map(|_| ())
            .expect_err(location);
        assert_eq!(
            (error.code(), error.is_transient()),
            ("redirect_blocked", false),
            "{location}: {error}"
        );
        assert_eq!(
            (news.connections(), private.connections()),
            (1, 0),
            "{location}"
        );
    }
}

#[test]
fn a_location_of_nine_kilobytes_is_refused() {
    let error = failure(format!(
        "HTTP/1.1 301 Moved\r\nLocation: /{}\r\nContent-Length: 0\r\n\r\n",
        "a".repeat(9 * 1024)
    ));
    assert_eq!(
        error,
        FetchError::Redirect(RedirectError::Target(TargetError::TooLong))
    );
}

#[test]
fn redirects_end_after_five_in_a_circle_and_without_a_location() {
    let steps: Vec<(String, String)> = (0..9)
        .map(|n| (format!("/{n}"), format!("/{}", n + 1)))
        .collect();
    let table: Vec<(&str, &str)> = steps
        .iter()
        .map(|(from, to)| (from.as_str(), to.as_str()))
        .collect();
    let site = Site::redirecting(&table);
    let web = web_of(settings(), &[("news.sample-site.org", &site)]);
    let (_, _, redirects) =
        read_page(&web, "http://news.sample-site.org/4").expect("five redirects");
    assert_eq!(redirects, 5);
    let error = read_page(&web, "http://news.sample-site.org/3")
        .map(|_| ())
        .expect_err("six redirects");
    assert_eq!(error, FetchError::TooManyRedirects(5));
    assert_eq!(error.code(), "too_many_redirects");

    let site = Site::redirecting(&[("/a", "/b"), ("/b", "/a#again")]);
    let web = web_of(settings(), &[("news.sample-site.org", &site)]);
    let error = read_page(&web, "http://news.sample-site.org/a")
        .map(|_| ())
        .expect_err("a circle");
    assert_eq!(error, FetchError::Redirect(RedirectError::Loop));
    assert_eq!(error.code(), "too_many_redirects");
    assert_eq!(site.connections(), 2);

    assert_eq!(
        failure("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n"),
        FetchError::Status(302)
    );
}

#[test]
fn a_redirect_never_leaves_https() {
    let web = web_of(settings(), &[]);
    let from = target("https://news.sample-site.org/");
    let visited = [from.clone()];
    let next = |location: &str| web.next_hop(&from, location, &visited);
    assert_eq!(
        next("http://other.sample-site.org/"),
        Err(FetchError::Redirect(RedirectError::Downgrade))
    );
    assert!(next("https://other.sample-site.org/").is_ok());
}

/// A name whose answer changes from public to loopback between the check and the dialling, and between two hops.
#[test]
fn rebinding_never_reaches_loopback() {
    let news = Site::redirecting(&[("/again", "/page")]);
    let hosts = lab(&[("news.sample-site.org", &news)]);
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = asked.clone();
    let settings_without_memory = NetworkSettings {
        positive_max: Duration::ZERO,
        ..NetworkSettings::default()
    };
    let lookup = move |_: &str| {
        let answer = match counter.fetch_add(1, Ordering::SeqCst) {
            0 => PUBLIC,
            _ => "127.0.0.1",
        };
        Ok(vec![answer.parse::<IpAddr>().expect("an address")])
    };
    let network = Network::with_lookup(
        settings_without_memory,
        hosts,
        ForbiddenHosts::default(),
        lookup,
    )
    .expect("threads");
    let web = Web::new(settings(), network).expect("no lab roots to read");

    let cleared = web
        .clear(&target("http://news.sample-site.org/page"))
        .expect("public at first");
    // The name now leads to loopback. The page is read all the same, from the address that was checked.
    assert!(
        web.clear(&target("http://news.sample-site.org/page"))
            .is_err()
    );
    assert!(matches!(
        web.open(cleared.clone(), &options()),
        Ok(Opened::Page { .. })
    ));
    assert_eq!(asked.load(Ordering::SeqCst), 2, "fetching looks nothing up");

    let mut again = cleared;
    again.target = target("http://news.sample-site.org/again");
    let error = web
        .open(again, &options())
        .map(|_| ())
        .expect_err("the second hop is looked up again");
    assert!(matches!(
        error,
        FetchError::Redirect(RedirectError::Target(TargetError::AddressRefused(_)))
    ));
    assert_eq!(asked.load(Ordering::SeqCst), 3, "once per hop");
}

fn with_length(bytes: usize) -> Vec<u8> {
    let mut response =
        format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {bytes}\r\n\r\n")
            .into_bytes();
    response.resize(response.len() + bytes, b'a');
    response
}

fn until_close(bytes: usize) -> Vec<u8> {
    let mut response =
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n".to_vec();
    response.resize(response.len() + bytes, b'a');
    response
}

fn chunked(mut bytes: usize) -> Vec<u8> {
    let mut response =
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
            .to_vec();
    while bytes > 0 {
        let chunk = bytes.min(60_000);
        response.extend_from_slice(format!("{chunk:x}\r\n").as_bytes());
        response.resize(response.len() + chunk, b'a');
        response.extend_from_slice(b"\r\n");
        bytes -= chunk;
    }
    response.extend_from_slice(b"0\r\n\r\n");
    response
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

/// CRC-32 of gzip (RFC 1952 section 8).
fn crc32(bytes: impl Iterator<Item = u8>) -> u32 {
    let table: Vec<u32> = (0..256)
        .map(|byte| {
            (0..8).fold(byte, |crc, _| match crc & 1 {
                1 => (crc >> 1) ^ 0xedb8_8320,
                _ => crc >> 1,
            })
        })
        .collect();
    !bytes.fold(u32::MAX, |crc, byte| {
        (crc >> 8) ^ table[usize::from(crc.to_le_bytes()[0] ^ byte)]
    })
}

/// gzip (RFC 1952) of `count` letters a: one block with fixed codes (RFC 1951 section 3.2.6), a letter, then copies
/// of 258 letters from a distance of one in 13 bits each.
fn gzip_of_letters(count: usize) -> Vec<u8> {
    let mut bits: Vec<bool> = vec![true, true, false];
    let mut code = |value: u32, length: u32| {
        bits.extend((0..length).rev().map(|bit| value >> bit & 1 == 1));
    };
    let letters = match count {
        0 => 0,
        _ => 1 + (count - 1) % 258,
    };
    for _ in 0..letters {
        code(0x30 + u32::from(b'a'), 8);
    }
    for _ in 0..(count - letters) / 258 {
        code(0b1100_0101, 8);
        code(0, 5);
    }
    code(0, 7);
    let mut gzip = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    gzip.extend(bits.chunks(8).map(|byte| {
        byte.iter()
            .enumerate()
            .fold(0, |value, (place, &bit)| value | u8::from(bit) << place)
    }));
    gzip.extend(crc32(std::iter::repeat_n(b'a', count)).to_le_bytes());
    gzip.extend(u32::try_from(count).expect("a test's size").to_le_bytes());
    gzip
}

#[test]
fn exactly_the_limit_passes_and_one_byte_more_fails() {
    assert_eq!(PAGE_BYTES as u64, PAGE_BYTES_MAX);
    let check = |name: &str, response: fn(usize) -> Vec<u8>| {
        assert_eq!(
            bytes_read(response(PAGE_BYTES)),
            Ok(PAGE_BYTES_MAX),
            "{name}"
        );
        assert_eq!(
            bytes_read(response(PAGE_BYTES + 1)),
            Err(FetchError::TooLarge),
            "{name}"
        );
    };
    check("Content-Length", with_length);
    check("chunked", chunked);
    check("until close", until_close);
    check("gzip", |bytes| compressed("gzip", &gzip_of_letters(bytes)));
    assert_eq!(FetchError::TooLarge.code(), "content_too_large");
}

#[test]
fn a_bomb_is_stopped_at_the_limit_and_not_at_its_end() {
    let taken = Arc::new(AtomicUsize::new(0));
    let site = Site::saying(compressed("gzip", &gzip_of_letters(20_000_000)));
    let web = web_of(settings(), &[("news.sample-site.org", &site)]);
    let cleared = web
        .clear(&target("http://news.sample-site.org/"))
        .expect("cleared");
    let Ok(Opened::Page { body, .. }) = web.open(cleared, &options()) else {
        panic!("the headers are fine");
    };
    let outcome = body.drain(|chunk| {
        taken.fetch_add(chunk.len(), Ordering::SeqCst);
        Ok(())
    });
    assert_eq!(outcome.map(|_| ()).err(), Some(FetchError::TooLarge));
    assert!(taken.load(Ordering::SeqCst) <= PAGE_BYTES);
}

#[test]
fn a_body_that_ends_early_is_transient() {
    let cut = |mut response: Vec<u8>, bytes: usize| {
        response.truncate(response.len() - bytes);
        response
    };
    let check = |response: Vec<u8>| {
        let error = failure(response);
        assert_eq!(error, FetchError::Truncated);
        assert!(error.is_transient());
    };
    check(cut(with_length(1_000), 1));
    check(cut(chunked(1_000), 20));
    check(cut(chunked(1_000), 5));
    check(cut(compressed("gzip", &gzip_of_letters(100_000)), 30));
    check(cut(compressed("br", b"\x0b\x02\x80hello\x03"), 3));
    // Whole by HTTP's count, cut by gzip's.
    let gzip = gzip_of_letters(100_000);
    check(compressed("gzip", &gzip[..gzip.len() - 30]));
    assert_eq!(failure("HTTP/1.1 200 OK\r\nContent-Ty"), FetchError::Lost);
    assert_eq!(failure(""), FetchError::Lost);
}

/// ureq takes a reset for the end of a body without a length.
#[test]
fn a_reset_is_not_the_end_of_a_body_without_a_length() {
    let site = Site::start(|_, stream| {
        send(stream, &until_close(5_000));
        let socket = socket2::SockRef::from(&*stream);
        // Let the bytes arrive before the reset throws away what is under way.
        std::thread::sleep(Duration::from_millis(100));
        socket
            .set_linger(Some(Duration::ZERO))
            .expect("a socket option");
    });
    let web = web_of(settings(), &[("news.sample-site.org", &site)]);
    let error = read_page(&web, "http://news.sample-site.org/")
        .map(|_| ())
        .expect_err("a reset");
    assert_eq!(error, FetchError::Truncated);
}

#[test]
fn a_drip_feed_is_cut_at_the_deadline() {
    let site = Site::start(|_, stream| {
        send(
            stream,
            b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000\r\n\r\n",
        );
        for _ in 0..100 {
            send(stream, b"a");
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    let mut short = settings();
    short.budget = Duration::from_millis(700);
    let web = web_of(short, &[("news.sample-site.org", &site)]);
    let started = Instant::now();
    let error = read_page(&web, "http://news.sample-site.org/")
        .map(|_| ())
        .expect_err("too slow");
    assert_eq!(
        (error.clone(), error.is_transient()),
        (FetchError::TimedOut, true)
    );
    assert!(started.elapsed() < Duration::from_secs(3));
}

/// The budget is one for all hops: five redirects of 300 ms do not fit into a second.
#[test]
fn the_deadline_is_one_over_all_hops() {
    let site = Site::start(|head, stream| {
        std::thread::sleep(Duration::from_millis(300));
        let response = format!(
            "HTTP/1.1 302 Found\r\nLocation: {}a\r\nContent-Length: 0\r\n\r\n",
            path(head)
        );
        send(stream, response.as_bytes());
    });
    let web = web_of(settings(), &[("news.sample-site.org", &site)]);
    let cleared = web
        .clear(&target("http://news.sample-site.org/"))
        .expect("cleared");
    let mut options = options();
    options.deadline = Instant::now() + Duration::from_secs(1);
    let error = web
        .open(cleared, &options)
        .map(|_| ())
        .expect_err("too slow");
    assert_eq!(error, FetchError::TimedOut);
    assert!(site.connections() <= 4);
}

#[test]
fn a_silent_server_is_given_up() {
    let site = Site::start(|_, _| std::thread::sleep(Duration::from_secs(5)));
    let mut short = settings();
    short.read_idle_max = Duration::from_millis(200);
    let web = web_of(short, &[("news.sample-site.org", &site)]);
    let started = Instant::now();
    let error = read_page(&web, "http://news.sample-site.org/")
        .map(|_| ())
        .expect_err("silence");
    assert_eq!(error, FetchError::TimedOut);
    assert!(started.elapsed() < Duration::from_secs(2));
}

#[test]
fn a_status_is_transient_or_final() {
    let check = |status: u16, transient: bool| {
        let error = failure(format!(
            "HTTP/1.1 {status} Word\r\nContent-Length: 2\r\n\r\nno"
        ));
        assert_eq!(error, FetchError::Status(status));
        assert_eq!(
            (error.is_transient(), error.code()),
            (transient, "upstream_unavailable"),
            "{status}"
        );
    };
    for status in [408, 425, 429, 500, 502, 503, 504, 520] {
        check(status, true);
    }
    for status in [201, 206, 300, 400, 401, 403, 404, 410, 418, 451] {
        check(status, false);
    }
    assert_eq!(
        failure("HTTP/1.1 204 No Content\r\n\r\n"),
        FetchError::Status(204)
    );
    assert_eq!(
        failure("HTTP/1.1 304 Not Modified\r\n\r\n"),
        FetchError::Status(304)
    );
}

#[test]
fn a_refused_connection_is_transient_and_a_broken_handshake_is_final() {
    let closed = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let site = Site {
        port: closed.local_addr().expect("bound").port(),
        connections: Arc::default(),
    };
    drop(closed);
    let web = web_of(settings(), &[("news.sample-site.org", &site)]);
    let error = read_page(&web, "http://news.sample-site.org/")
        .map(|_| ())
        .expect_err("closed");
    assert_eq!(
        (error.clone(), error.is_transient()),
        (FetchError::Refused, true)
    );

    // Speaks first: a request for TLS holds no empty line that it could wait for.
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let plain = Site {
        port: listener.local_addr().expect("bound").port(),
        connections: Arc::default(),
    };
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        send(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n");
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let web = web_of(settings(), &[("news.sample-site.org", &plain)]);
    let error = read_page(&web, "https://news.sample-site.org/")
        .map(|_| ())
        .expect_err("no TLS");
    assert_eq!(
        (error.clone(), error.is_transient()),
        (FetchError::Tls, false)
    );
}

#[test]
fn a_kept_copy_is_asked_about_and_confirmed() {
    let site = Site::start(|head, stream| {
        let head = head.to_ascii_lowercase();
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
        web.fetch(cleared, &options),
        Ok(Fetched::NotModified)
    ));
}

#[test]
fn what_cannot_be_read_is_refused_by_its_name() {
    for coding in ["zstd", "deflate", "x-gzip", "GZIP", "gzip, gzip"] {
        let error = failure(compressed(coding, b"whatever"));
        assert_eq!(error, FetchError::ContentEncoding(coding.to_owned()));
        assert_eq!(
            (error.code(), error.is_transient()),
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
        assert_eq!((error.code(), error.is_transient()), (code, false), "{url}");
    };
    check("http://shop.sample-site.org/", "target_blocked");
    check("http://gone.sample-site.org/", "dns_failed");
}

/// Runs one of the tests above in a child whose environment names a proxy, and sees that nobody calls it.
#[test]
fn a_proxy_in_the_environment_is_not_used() {
    let proxy = Site::saying(page("text/plain", "from the proxy"));
    let address = format!("http://127.0.0.1:{}", proxy.port);
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
