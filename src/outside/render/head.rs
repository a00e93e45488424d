//! Heads of HTTP/1.1 messages as the guard reads them. Stricter than a server has to be: the browser writes plain heads,
//! and what is unclear is refused. Pure.

use std::fmt;

/// The longest head that is read, in bytes.
pub(super) const HEAD_BYTES_MAX: usize = 32 * 1024;
/// What ends a head.
const END: &[u8] = b"\r\n\r\n";
/// Names that concern one connection (RFC 9110, 7.6.1) or would move the browser off this way.
const DROPPED: [&str; 10] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authorization",
    "proxy-authenticate",
    "te",
    "trailer",
    "upgrade",
    "alt-svc",
    "host",
];
const METHODS: [&str; 4] = ["GET", "HEAD", "POST", "OPTIONS"];

/// What the browser asks the guard for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// A tunnel to a host and port.
    Connect { authority: String },
    /// One request for an http page.
    Plain {
        method: String,
        authority: String,
        /// Path and query, beginning with a slash.
        path: String,
        /// Each line without its end; hop-by-hop headers and Host are left out.
        headers: Vec<Vec<u8>>,
        body_bytes: u64,
    },
}

/// A head that is not forwarded, with the reason for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BadHead(pub(super) &'static str);

impl fmt::Display for BadHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Where a head ends: behind its empty line.
pub(super) fn end_of_head(bytes: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, END).map(|at| at + END.len())
}

/// Reads a request's head, its empty line included.
pub(super) fn request(head: &[u8]) -> Result<Request, BadHead> {
    let mut lines = lines(head)?;
    let first = lines.next().ok_or(BadHead("no request line"))?;
    let first =
        std::str::from_utf8(first).map_err(|_| BadHead("a request line that is not ASCII"))?;
    let mut parts = first.split(' ');
    let (Some(method), Some(target), Some("HTTP/1.1"), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(BadHead("no request line of HTTP/1.1"));
    };
    if !target.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(BadHead("a target that is not ASCII"));
    }
    let mut body_bytes = None;
    let mut headers = Vec::new();
    for line in lines {
        let (name, value) = header(line)?;
        if name == "transfer-encoding" {
            return Err(BadHead("a body of unknown length"));
        }
        if name == "content-length" {
            let number = std::str::from_utf8(value).ok().filter(|text| {
                (1..=12).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
            });
            let number = number.and_then(|text| text.parse().ok());
            if body_bytes
                .replace(number.ok_or(BadHead("a length that is not a number"))?)
                .is_some()
            {
                return Err(BadHead("two lengths"));
            }
        }
        if !DROPPED.contains(&name.as_str()) {
            headers.push(line.to_vec());
        }
    }
    if method == "CONNECT" {
        return Ok(Request::Connect {
            authority: authority(target)?,
        });
    }
    if !METHODS.contains(&method) {
        return Err(BadHead("a method that is not forwarded"));
    }
    let rest = target
        .strip_prefix("http://")
        .ok_or(BadHead("no absolute http target"))?;
    let at = rest.find(['/', '?']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(at);
    if path.contains('#') {
        return Err(BadHead("a fragment"));
    }
    Ok(Request::Plain {
        method: method.to_owned(),
        authority: authority(host)?,
        path: match path.starts_with('/') {
            true => path.to_owned(),
            false => format!("/{path}"),
        },
        headers,
        body_bytes: body_bytes.unwrap_or(0),
    })
}

/// A response's head as the browser gets it: the same without hop-by-hop headers, and the connection ends with it.
/// `None` for an interim response (1xx), which is not passed on.
pub(super) fn response(head: &[u8]) -> Result<Option<Vec<u8>>, BadHead> {
    let mut lines = lines(head)?;
    let first = lines.next().ok_or(BadHead("no status line"))?;
    let is_http = first.starts_with(b"HTTP/1.1 ") || first.starts_with(b"HTTP/1.0 ");
    let status = first.get(9..12).filter(|_| is_http);
    let status = status.and_then(|text| std::str::from_utf8(text).ok()?.parse::<u16>().ok());
    match status {
        Some(101) => return Err(BadHead("a switch of protocols")),
        Some(100..=199) => return Ok(None),
        Some(200..=599) => {}
        _ => return Err(BadHead("no status line of HTTP/1")),
    }
    let mut written = b"HTTP/1.1 ".to_vec();
    written.extend_from_slice(&first[9..]);
    written.extend_from_slice(b"\r\n");
    for line in lines {
        let (name, _) = header(line)?;
        if !DROPPED.contains(&name.as_str()) {
            written.extend_from_slice(line);
            written.extend_from_slice(b"\r\n");
        }
    }
    written.extend_from_slice(b"Connection: close\r\n\r\n");
    Ok(Some(written))
}

/// The head that goes to a site.
pub(super) fn forwarded(method: &str, path: &str, host: &str, headers: &[Vec<u8>]) -> Vec<u8> {
    let mut written = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n").into_bytes();
    for line in headers {
        written.extend_from_slice(line);
        written.extend_from_slice(b"\r\n");
    }
    written.extend_from_slice(b"Connection: close\r\n\r\n");
    written
}

/// The lines of a head without their ends and without the empty one.
fn lines(head: &[u8]) -> Result<impl Iterator<Item = &[u8]>, BadHead> {
    let text = head
        .strip_suffix(END)
        .ok_or(BadHead("no end of the head"))?;
    // SECURITY: a bare CR or LF is where readers of HTTP differ, and request smuggling begins.
    let mut rest = text;
    let mut found = Vec::new();
    loop {
        let at = memchr::memmem::find(rest, b"\r\n");
        let line = &rest[..at.unwrap_or(rest.len())];
        let is_plain = |byte: &u8| *byte == b'\t' || (*byte >= b' ' && *byte != 0x7f);
        if line.is_empty() || !line.iter().all(is_plain) {
            return Err(BadHead("a control character or an empty line"));
        }
        found.push(line);
        match at {
            Some(at) => rest = &rest[at + 2..],
            None => return Ok(found.into_iter()),
        }
    }
}

/// A header's name in lower case, and its value.
fn header(line: &[u8]) -> Result<(String, &[u8]), BadHead> {
    let colon = memchr::memchr(b':', line).ok_or(BadHead("a header without a colon"))?;
    let name = &line[..colon];
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    if name.is_empty() || !name.iter().all(is_token) {
        return Err(BadHead("a header's name"));
    }
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    Ok((name, line[colon + 1..].trim_ascii()))
}

/// A host with or without a port, without credentials. Whether it is allowed is not decided here.
fn authority(text: &str) -> Result<String, BadHead> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    match !text.is_empty() && text.len() <= 300 && text.bytes().all(fits) {
        true => Ok(text.to_owned()),
        false => Err(BadHead("no host")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<Request, BadHead> {
        request(text.as_bytes())
    }

    #[test]
    fn requests_of_a_browser_are_read() {
        assert_eq!(
            read(
                "CONNECT a.example.org:443 HTTP/1.1\r\nHost: a.example.org:443\r\nUser-Agent: x\r\n\r\n"
            ),
            Ok(Request::Connect {
                authority: "a.example.org:443".to_owned()
            })
        );
        let plain = read(
            "GET http://a.example.org/p?q=1 HTTP/1.1\r\nHost: other\r\nProxy-Connection: keep-alive\r\nAccept: */*\r\n\r\n",
        );
        let Ok(Request::Plain {
            method,
            authority,
            path,
            headers,
            body_bytes,
        }) = plain
        else {
            panic!("{plain:?}");
        };
        assert_eq!(
            (method.as_str(), authority.as_str(), path.as_str()),
            ("GET", "a.example.org", "/p?q=1")
        );
        assert_eq!(
            (headers.as_slice(), body_bytes),
            (&[b"Accept: */*".to_vec()][..], 0)
        );
        let sent = forwarded(&method, &path, &authority, &headers);
        assert_eq!(
            String::from_utf8_lossy(&sent),
            "GET /p?q=1 HTTP/1.1\r\nHost: a.example.org\r\nAccept: */*\r\nConnection: close\r\n\r\n"
        );
        assert!(
            matches!(read("GET http://a.example.org?q HTTP/1.1\r\n\r\n"),
            Ok(Request::Plain { path, .. }) if path == "/?q")
        );
    }

    #[test]
    fn what_is_unclear_is_refused() {
        for text in [
            "",
            "\r\n\r\n",
            "GET / HTTP/1.1\r\n\r\n",
            "GET  http://a.org/ HTTP/1.1\r\n\r\n",
            "GET http://a.org/ HTTP/1.0\r\n\r\n",
            "GET http://a.org/\u{e9} HTTP/1.1\r\n\r\n",
            "GET http://u:p@a.org/ HTTP/1.1\r\n\r\n",
            "GET ftp://a.org/ HTTP/1.1\r\n\r\n",
            "GET http://a.org/#x HTTP/1.1\r\n\r\n",
            "TRACE http://a.org/ HTTP/1.1\r\n\r\n",
            "CONNECT http://a.org/ HTTP/1.1\r\n\r\n",
            "GET http://a.org/ HTTP/1.1\r\nA: b\nC: d\r\n\r\n",
            "GET http://a.org/ HTTP/1.1\r\nA : b\r\n\r\n",
            "GET http://a.org/ HTTP/1.1\r\n folded\r\n\r\n",
            "POST http://a.org/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST http://a.org/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
            "POST http://a.org/ HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        ] {
            assert!(read(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn responses_end_their_connection() {
        let sent = response(
            b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nAlt-Svc: h3=\":443\"\r\nA: b\r\n\r\n",
        );
        assert_eq!(
            sent,
            Ok(Some(
                b"HTTP/1.1 200 OK\r\nA: b\r\nConnection: close\r\n\r\n".to_vec()
            ))
        );
        assert_eq!(
            response(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
            Ok(None)
        );
        for bad in [
            &b"HTTP/1.1 101 Switching Protocols\r\n\r\n"[..],
            b"HTTP/2 200\r\n\r\n",
            b"ICY 200 OK\r\n\r\n",
            b"HTTP/1.1 20\r\n\r\n",
            b"HTTP/1.1 999 x\r\n\r\n",
        ] {
            assert!(response(bad).is_err(), "{}", String::from_utf8_lossy(bad));
        }
    }

    proptest! {
        /// Whatever the browser writes, what is forwarded has one head, one Host and no line of its own making.
        #[test]
        fn what_is_forwarded_is_one_clean_head(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            lines in prop::collection::vec("[A-Za-z-]{1,12}:[ -~\\t]{0,30}|[ -~\\r\\n]{0,20}", 0..6),
            target in "http://[a-zA-Z0-9.:@_/?#\\[\\]%-]{0,40}|[!-~]{0,20}",
        ) {
            let mut head = format!("GET {target} HTTP/1.1\r\n{}", lines.join("\r\n")).into_bytes();
            head.extend_from_slice(b"\r\n\r\n");
            for head in [head, [bytes.as_slice(), END].concat(), bytes.clone()] {
                let _ = response(&head);
                let Ok(Request::Plain { method, authority, path, headers, .. }) = request(&head) else {
                    continue;
                };
                let sent = forwarded(&method, &path, &authority, &headers);
                prop_assert_eq!(end_of_head(&sent), Some(sent.len()));
                let text = String::from_utf8_lossy(&sent).into_owned();
                prop_assert!(!text.replace("\r\n", "").contains(['\r', '\n']));
                let hosts = text.split("\r\n").filter(|line| line.to_ascii_lowercase().starts_with("host:"));
                prop_assert_eq!(hosts.count(), 1);
                prop_assert!(!authority.contains(['@', '/', ' ', '#']));
                let again = format!("{method} http://{authority}{path} HTTP/1.1\r\n\r\n");
                prop_assert!(request(again.as_bytes()).is_ok());
            }
        }
    }
}
