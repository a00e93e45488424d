//! What an authority says of renewals (RFC 9773), asked of one on loopback that is just enough of one.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use rcgen::{KeyIdMethod, SerialNumber};

use super::*;

/// The example of RFC 9773, 4.1.
const KEY_IDENTIFIER: &str = "69885b6b87464041e1b37b847ba0ae2cde01c8d4";
const SERIAL: [u8; 4] = [0x87, 0x65, 0x43, 0x21];
const ASKED_FOR: &str = "GET /renewal/aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE";

/// The address of a directory, and each request's method and path. It offers renewal information if there is a `window`.
fn authority(window: Option<(&'static str, &'static str)>) -> (String, Receiver<String>) {
    refusing(0, window)
}

/// It refuses the nonces of the first so many calls for an account.
fn refusing(
    mut refusals: usize,
    window: Option<(&'static str, &'static str)>,
) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let base = format!("http://{}", listener.local_addr().expect("bound"));
    let (tell, asked) = channel();
    let address = format!("{base}/directory");
    thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.expect("a connection");
            answer(stream, &base, &mut refusals, window, &tell);
        }
    });
    (address, asked)
}

/// Tells what is asked for before it answers: who has the answer looks for it.
fn answer(
    mut stream: TcpStream,
    base: &str,
    refusals: &mut usize,
    window: Option<(&str, &str)>,
    tell: &Sender<String>,
) {
    let mut reader = BufReader::new(stream.try_clone().expect("a descriptor"));
    let mut head = Vec::new();
    while head.last().is_none_or(|line: &String| !line.is_empty()) {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a line");
        head.push(line.trim_end().to_ascii_lowercase());
        if head.len() == 1 {
            head[0] = line;
        }
    }
    let length = head
        .iter()
        .find_map(|line| line.strip_prefix("content-length: "));
    let length = length.map_or(0, |length| length.parse().expect("a number"));
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    let (asked, _) = head[0].rsplit_once(' ').expect("a version");
    let _ = tell.send(asked.to_owned());
    let is_refused = asked.ends_with("/account") && *refusals > 0;
    *refusals -= usize::from(is_refused);
    let body = match (asked, window) {
        _ if is_refused => serde_json::json!({"type": BAD_NONCE, "detail": "not this one"}),
        ("GET /directory", _) => {
            let mut directory = serde_json::json!({"newNonce": format!("{base}/nonce"),
                "newAccount": format!("{base}/account"), "newOrder": format!("{base}/order")});
            if window.is_some() {
                directory["renewalInfo"] = format!("{base}/renewal").into();
            }
            directory
        }
        (ASKED_FOR, Some((start, end))) => {
            serde_json::json!({"suggestedWindow": {"start": start, "end": end}})
        }
        _ => serde_json::json!({"status": "valid"}),
    };
    let body = body.to_string();
    let (body, length) = match asked.starts_with("HEAD ") {
        true => ("", 0),
        false => (&*body, body.len()),
    };
    let status = match asked.ends_with("/account") {
        _ if is_refused => 400,
        true => 201,
        false => 200,
    };
    let _ = write!(
        stream,
        "HTTP/1.1 {status} OK\r\nContent-Type: application/json\r\nReplay-Nonce: bm9uY2U\r\nRetry-After: 21600\r\n\
         Location: {base}/account/1\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
}

fn certificate() -> Certificate {
    let mut params =
        CertificateParams::new(vec!["context.example.com".to_owned()]).expect("a name");
    params.serial_number = Some(SerialNumber::from_slice(&SERIAL));
    params.use_authority_key_identifier_extension = true;
    let identifier = hex::decode(KEY_IDENTIFIER).expect("hex");
    params.key_identifier_method = KeyIdMethod::PreSpecified(identifier);
    let key = KeyPair::generate().expect("a key");
    let made = params.self_signed(&key).expect("a certificate");
    Certificate::parse(made.der()).expect("facts")
}

/// The renewal window that a new account gets, and the paths that were requested for it.
async fn window(
    offered: Option<(&'static str, &'static str)>,
) -> (Option<(UnixSeconds, UnixSeconds)>, Vec<String>) {
    let (directory, asked) = authority(offered);
    let authority = Authority::new(&directory, None, None).expect("no roots");
    let (account, _) = authority.account(None).await.expect("an account");
    let told = account.renewal_window(&certificate()).await;
    (told.expect("an answer"), asked.try_iter().collect())
}

#[tokio::test]
async fn the_authority_says_when_to_renew() {
    let (start, end) = ("2026-12-01T00:00:00Z", "2026-12-02T12:00:00Z");
    let (told, asked) = window(Some((start, end))).await;
    let expected = (UnixSeconds(1_796_083_200), UnixSeconds(1_796_212_800));
    assert_eq!(told, Some(expected));
    assert!(asked.iter().any(|one| one == ASKED_FOR), "{asked:#?}");
    let at = certificate().renew_within(expected.0, expected.1);
    assert!(expected.0 <= at && at < expected.1, "{at:?}");
}

#[tokio::test]
async fn an_authority_that_says_nothing_of_renewals_is_not_asked() {
    let (told, asked) = window(None).await;
    assert_eq!(told, None);
    let more = asked.iter().filter(|one| one.contains("renewal"));
    assert_eq!(more.count(), 0, "{asked:#?}");
    // Nor is an end before its start believed.
    let (told, _) = window(Some(("2026-12-02T00:00:00Z", "2026-12-01T00:00:00Z"))).await;
    assert_eq!(told, None);
}

#[tokio::test]
async fn refused_nonces_are_no_reason_to_give_up_until_there_are_too_many() {
    // The library gives up after three.
    let (directory, _) = refusing(3 * ATTEMPTS_MAX - 1, None);
    let authority = Authority::new(&directory, None, None).expect("no roots");
    assert!(authority.account(None).await.is_ok());
    let (directory, _) = refusing(3 * ATTEMPTS_MAX, None);
    let authority = Authority::new(&directory, None, None).expect("no roots");
    let error = authority.account(None).await.expect_err("no account");
    assert!(error.text.contains("not this one"), "{error}");
}
