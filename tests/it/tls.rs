//! HTTPS without a reverse proxy, with a certificate from files. Orders at an authority: tests/acme.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use context402::config::Resolved;
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{AlertDescription, Error, ProtocolVersion};

use crate::harness::process::program_with;
use crate::harness::tls::Ca;
use crate::harness::{ACCESS, ARTICLE, Ask, Folder, Rig, Service, Wallet, order, until};

const NAME: &str = "localhost";
const BASE_URL: &str = "https://localhost:4020";
const BOTH: &[&tokio_rustls::rustls::SupportedProtocolVersion] = &[&TLS13, &TLS12];

struct Https {
    rig: Rig,
    ca: Ca,
    certificate: PathBuf,
    key: PathBuf,
    _folder: Folder,
}

impl Https {
    fn start() -> Https {
        Https::with(|_| {})
    }

    fn with(change: impl FnOnce(&mut Resolved)) -> Https {
        let ca = Ca::new();
        let folder = Folder::new();
        let (certificate, key) = (folder.path("chain.pem"), folder.path("key.pem"));
        ca.write(&[NAME], &certificate, &key);
        let rig = Rig::today_with(|resolved| {
            resolved.set("base_url", BASE_URL);
            resolved.set("tls.certificate", certificate.display().to_string());
            resolved.set("tls.key", key.display().to_string());
            resolved.set("tls.http_listen", "127.0.0.1:0");
            change(resolved);
        });
        Https {
            rig,
            ca,
            _folder: folder,
            certificate,
            key,
        }
    }

    fn plain(&self) -> SocketAddr {
        self.rig.http_address().expect("a plain port")
    }

    fn get(&self, path: &str) -> std::io::Result<crate::harness::Answer> {
        let request = format!("GET {path} HTTP/1.1\r\nHost: {NAME}\r\nConnection: close\r\n\r\n");
        let client = self.ca.client(BOTH);
        client.send(self.rig.address, NAME, request.as_bytes())
    }
}

fn alert(outcome: std::io::Result<crate::harness::tls::Stream>) -> Option<AlertDescription> {
    let error = outcome.expect_err("a handshake that fails");
    match error.get_ref()?.downcast_ref()? {
        Error::AlertReceived(alert) => Some(*alert),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_page_is_sold_over_tls_1_3_and_1_2() {
    let https = Https::start();
    for (version, expected) in [
        (&TLS13, ProtocolVersion::TLSv1_3),
        (&TLS12, ProtocolVersion::TLSv1_2),
    ] {
        let client = https.ca.client(&[version]);
        let stream = client.connect(https.rig.address, NAME).expect("connected");
        assert_eq!(stream.conn.protocol_version(), Some(expected));
        drop(stream);
        let ask = Ask::new(https.rig.address, "POST", ACCESS).json(&order(ARTICLE, "fresh"));
        let send = |ask: &Ask| client.send(https.rig.address, NAME, &ask.bytes());
        let asked = send(&ask).expect("an answer").expect(402);
        let payment = Wallet::new().sign_answer(&asked, https.rig.now(), None);
        let sold = send(&ask.paid(&payment.header));
        let sold = sold.expect("an answer").expect(200);
        assert_eq!(sold.must("strict-transport-security"), "max-age=31536000");
    }
    let health = https.get("/health").expect("an answer").json();
    assert_eq!(health["checks"]["tls"]["status"], "ok", "{health}");
    let metrics = https.get("/metrics?format=prometheus").expect("an answer");
    let metrics = metrics.text();
    assert!(
        metrics.contains("context402_tls_expires_in_seconds "),
        "{metrics}"
    );
}

#[test]
fn only_http_1_1_is_offered_and_other_names_are_refused() {
    let https = Https::start();
    let mut client = https.ca.client(BOTH);
    client.config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let stream = client.connect(https.rig.address, NAME).expect("connected");
    assert_eq!(stream.conn.alpn_protocol(), Some(&b"http/1.1"[..]));
    client.config.alpn_protocols = vec![b"h2".to_vec()];
    let refused = client.connect(https.rig.address, NAME);
    assert_eq!(
        alert(refused),
        Some(AlertDescription::NoApplicationProtocol)
    );
    for protocol in [&b"http/1.1"[..], b"acme-tls/1"] {
        client.config.alpn_protocols = vec![protocol.to_vec()];
        let refused = client.connect(https.rig.address, "other.example.com");
        assert_eq!(alert(refused), Some(AlertDescription::AccessDenied));
    }
    // The authority's protocol without an order in progress.
    let refused = client.connect(https.rig.address, NAME);
    assert_eq!(alert(refused), Some(AlertDescription::AccessDenied));
}

/// TLS 1.0 and 1.1 as their clients begin.
#[test]
fn older_versions_are_refused() {
    let https = Https::start();
    for version in [1u8, 2] {
        let mut hello = vec![3, version];
        hello.extend([7; 32]);
        // No session, two cipher suites, no compression.
        hello.extend([0, 0, 4, 0xc0, 0x13, 0x00, 0x2f, 1, 0]);
        // Signature algorithms and groups that would do.
        hello.extend([
            0, 18, 0, 13, 0, 6, 0, 4, 4, 3, 4, 1, 0, 10, 0, 4, 0, 2, 0, 23,
        ]);
        let length = u8::try_from(hello.len()).expect("short");
        let mut bytes = vec![0x16, 3, 1, 0, length + 4, 1, 0, 0, length];
        bytes.extend(hello);
        let answer = crate::harness::ask::raw_bytes(https.rig.address, &bytes);
        // A fatal alert: protocol_version.
        assert_eq!(answer.first(), Some(&0x15), "{answer:?}");
        assert_eq!(answer.last(), Some(&70), "{answer:?}");
    }
}

#[test]
fn http_on_the_https_port_is_told_so() {
    let https = Https::start();
    let told = Ask::new(https.rig.address, "GET", "/health").send();
    assert!(told.expect(400).text().contains("https://"));
    let large = Ask::new(https.rig.address, "POST", ACCESS).body(vec![b'x'; 50_000]);
    large.send().expect(400);
    assert!(crate::harness::ask::raw_bytes(https.rig.address, b"").is_empty());
}

#[test]
fn the_plain_port_redirects_reads_and_refuses_everything_else() {
    let https = Https::start();
    for method in ["GET", "HEAD"] {
        let moved = Ask::new(https.plain(), method, "/pricing?a=b%20c").send();
        let moved = moved.expect(308);
        assert_eq!(
            moved.must("location"),
            "https://localhost:4020/pricing?a=b%20c"
        );
        assert_eq!(moved.header("strict-transport-security"), None);
        assert_eq!(moved.must("connection"), "close");
    }
    for method in ["POST", "DELETE", "OPTIONS", "PUT"] {
        let refused = Ask::new(https.plain(), method, ACCESS).body("{}").send();
        let refused = refused.refused(403, "https_required").json();
        let detail = refused["detail"].as_str().expect("text");
        assert!(detail.contains(&format!("{BASE_URL}{ACCESS}")), "{detail}");
    }
    let paid = Ask::new(https.plain(), "GET", "/").paid("e30=");
    paid.send().refused(403, "https_required");
    // A client that does not stop sending is answered too.
    let large = Ask::new(https.plain(), "POST", ACCESS).body(vec![b'x'; 2_000_000]);
    large.send().refused(403, "https_required");
    Ask::new(https.plain(), "GET", "/.well-known/acme-challenge/nothing")
        .send()
        .expect(308);
}

/// Clients come all the time, some stay; the certificate changes under them, through a moment of files that do not belong
/// together.
#[test]
fn a_new_certificate_is_served_without_a_dropped_request() {
    let https = Https::start();
    let (served, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let client = https.ca.client(BOTH);
    let leaf = || {
        let stream = client.connect(https.rig.address, NAME).expect("connected");
        stream.conn.peer_certificates().expect("certificates")[0].clone()
    };
    let before = leaf();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    https.get("/health?live=1").expect("an answer").expect(200);
                    served.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        scope.spawn(|| {
            let mut kept = client.connect(https.rig.address, NAME).expect("connected");
            while !stop.load(Ordering::Relaxed) {
                let request = b"GET /health?live=1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
                kept.write_all(request).expect("sent");
                let (mut answer, mut part) = (Vec::new(), [0; 4096]);
                while !answer.ends_with(b"{\"status\":\"ok\"}") {
                    let read = kept.read(&mut part).expect("answered");
                    assert!(read > 0, "the connection was closed");
                    answer.extend_from_slice(&part[..read]);
                }
                served.fetch_add(1, Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let other = https.certificate.with_extension("other");
        https.ca.write(&[NAME], &https.certificate, &other);
        std::thread::sleep(Duration::from_secs(6));
        assert_eq!(
            leaf(),
            before,
            "a certificate without its key is not served"
        );
        https.ca.write(&[NAME], &https.certificate, &https.key);
        until("the new certificate is served", || leaf() != before);
        stop.store(true, Ordering::Relaxed);
    });
    let served = served.load(Ordering::Relaxed);
    assert!(served > 100, "only {served} requests were made");
}

/// Whoever begins a handshake and goes no further has ten seconds, and no more connections than anybody else.
#[test]
fn slow_handshakes_hold_nothing_for_long() {
    let https = Https::with(|resolved| resolved.set("limits.connections_of_client_max", "8"));
    let begun = Instant::now();
    let slow: Vec<TcpStream> = (0..8)
        .map(|at| {
            let mut stream = TcpStream::connect(https.rig.address).expect("connected");
            if at % 2 == 0 {
                stream.write_all(&[0x16, 3, 1, 1, 0, 1]).expect("sent");
            }
            stream
        })
        .collect();
    std::thread::sleep(Duration::from_millis(200));
    assert!(https.get("/health?live=1").is_err(), "a ninth connection");
    for mut stream in slow {
        let limit = Some(Duration::from_secs(20));
        stream.set_read_timeout(limit).expect("set");
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
    }
    let took = begun.elapsed();
    assert!((9..19).contains(&took.as_secs()), "{took:?}");
    https.get("/health?live=1").expect("an answer").expect(200);
}

/// A handshake message may announce megabytes; rustls would keep 64 KiB of them for each connection.
#[test]
fn a_handshake_has_a_length() {
    let https = Https::start();
    let mut stream = TcpStream::connect(https.rig.address).expect("connected");
    let begun = Instant::now();
    let mut sent = 0;
    let mut record = vec![0x16, 3, 1, 0x10, 0, 1, 0, 0xff, 0xff];
    record.resize(5 + 0x1000, 0);
    let mut part = record.clone();
    while sent < 1_000_000 && stream.write_all(&part).is_ok() {
        sent += part.len();
        part = vec![0x16, 3, 1, 0x10, 0];
        part.resize(5 + 0x1000, 0);
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(sent < 200_000, "{sent} bytes were taken");
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[test]
fn configurations_that_cannot_work_are_refused() {
    let mut https = Https::start();
    assert!(https.rig.stop(), "the service stops in order");
    let refused = |more: &[(&str, &str)]| {
        let refused = Service::refused(https.rig.resolved(), more);
        refused.expect(78).err
    };
    let says = refused(&[("tls.acme", "true")]);
    assert!(says.contains("exclude each other"), "{says}");
    let says = refused(&[("base_url", "http://127.0.0.1:4020")]);
    assert!(says.contains("https"), "{says}");
    let says = refused(&[("base_url", "https://127.0.0.1:4020")]);
    assert!(says.contains("not for 127.0.0.1"), "{says}");
    let says = refused(&[("tls.key", "/nonexistent/key.pem")]);
    assert!(says.contains("cannot be read"), "{says}");
    let shown = crate::harness::process::Finished::of(
        program_with(https.rig.resolved(), &[]).args(["tls", "show"]),
    );
    let shown = shown.expect(0).out;
    assert!(shown.contains("Names:        localhost"), "{shown}");
    let shown = crate::harness::process::Finished::of(
        program_with(https.rig.resolved(), &[]).args(["tls", "show", "--json"]),
    );
    let shown = shown.expect(0).out;
    let shown: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
    assert_eq!(
        shown["certificate"]["names"],
        serde_json::json!(["localhost"])
    );
    assert!(shown["certificate"]["not_after"].is_u64(), "{shown}");
    assert_eq!(shown["renewed_by_service"], false);
}
