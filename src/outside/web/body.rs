//! A page's body: its content type and size limit. Counts and hashes the decoded bytes while streaming.

use std::io::{self, Read};
use std::sync::Arc;
use std::time::Instant;

use sha2::{Digest, Sha256};
use ureq::BodyReader;
use ureq::http::HeaderMap;

use crate::domain::target::TargetUrl;
use crate::markdown::{ContentKind, PAGE_BYTES_MAX, RECOGNISED_BYTES, may_be_read, recognised};
use crate::outside::web::FetchError;
use crate::outside::web::dial::{Answer, Wire};

/// What may cross the wire for one body: incompressible data grows a little by being compressed.
const WIRE_BYTES_MAX: u64 = PAGE_BYTES_MAX + 64 * 1024;
/// Decoded bytes per byte on the wire. gzip cannot exceed 1,032, so an honest page never trips it in gzip, and in
/// brotli it would have to fit 64 KiB into 60 bytes.
const RATIO_MAX: u64 = 1_100;
/// Small pages compress as well as they like.
const RATIO_FREE_BYTES: u64 = 64 * 1024;
const CHUNK_BYTES: usize = 32 * 1024;
/// What an error repeats of a header.
const NAMED_CHARACTERS_MAX: usize = 100;

/// The body of a 200, with its headers checked and nothing of it taken yet.
pub(super) struct Body {
    pub(super) final_url: TargetUrl,
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) content_type: String,
    pub(super) kind: ContentKind,
    pub(super) charset: Option<String>,
    reader: BodyReader<'static>,
    /// Already read, to see what kind it is.
    first: Vec<u8>,
    wire: Arc<Wire>,
    deadline: Instant,
}

/// What a whole body came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Drained {
    pub(super) bytes: u64,
    pub(super) sha256: [u8; 32],
}

impl Body {
    /// Refuses by the headers what need not be read.
    pub(super) fn new(
        final_url: TargetUrl,
        answer: Answer,
        deadline: Instant,
    ) -> Result<Self, FetchError> {
        let status = answer.status();
        let (parts, body) = answer.response.into_parts();
        let headers = parts.headers;
        // ureq has taken away the codings that it decodes, and the length with them.
        if let Some(coding) = foreign_coding(&headers) {
            return Err(FetchError::ContentEncoding(coding));
        }
        let declared = content_type(&headers);
        if let Some(text) = &declared
            && !may_be_read(text)
        {
            return Err(FetchError::ContentType(named(text)));
        }
        if body
            .content_length()
            .is_some_and(|bytes| bytes > PAGE_BYTES_MAX)
        {
            return Err(FetchError::TooLarge);
        }
        // One more, because ureq refuses a body of exactly the limit when it looks for the end.
        let mut reader = body.into_with_config().limit(WIRE_BYTES_MAX + 1).reader();
        let first = read_first(&mut reader, &answer.wire)?;
        let kind = recognised(declared.as_deref(), final_url.url().path(), &first)
            .map_err(|found| FetchError::ContentType(named(&found)))?;
        let content_type = declared.unwrap_or_else(|| kind.content_type().to_owned());
        Ok(Body {
            charset: charset(&content_type),
            final_url,
            status,
            headers,
            content_type,
            kind,
            reader,
            first,
            wire: answer.wire,
            deadline,
        })
    }

    /// Reads to the end and gives every decoded chunk to `take`; gives the body back for its headers.
    pub(super) fn drain(
        mut self,
        mut take: impl FnMut(&[u8]) -> Result<(), FetchError>,
    ) -> Result<(Self, Drained), FetchError> {
        let mut hasher = Sha256::new();
        let mut bytes = 0;
        let mut chunk = std::mem::take(&mut self.first);
        let mut filled = chunk.len();
        chunk.resize(CHUNK_BYTES, 0);
        loop {
            let part = &chunk[..filled];
            bytes += u64::try_from(filled).unwrap_or(u64::MAX);
            self.check(bytes)?;
            hasher.update(part);
            take(part)?;
            filled = read(&mut self.reader, &mut chunk, &self.wire)?;
            if filled == 0 {
                break;
            }
        }
        if self.wire.is_broken() {
            return Err(FetchError::Truncated);
        }
        let sha256 = hasher.finalize().into();
        Ok((self, Drained { bytes, sha256 }))
    }

    fn check(&self, bytes: u64) -> Result<(), FetchError> {
        if bytes > PAGE_BYTES_MAX || is_bomb(bytes, self.wire.bytes()) {
            return Err(FetchError::TooLarge);
        }
        // Converting takes time that ureq's own deadline does not see.
        if Instant::now() > self.deadline {
            return Err(FetchError::TimedOut);
        }
        Ok(())
    }
}

/// The first bytes of a body of any type, at most so many.
pub(super) fn beginning(answer: Answer, bytes_max: usize) -> Result<Vec<u8>, FetchError> {
    let wire = answer.wire;
    let (parts, body) = answer.response.into_parts();
    if let Some(coding) = foreign_coding(&parts.headers) {
        return Err(FetchError::ContentEncoding(coding));
    }
    let mut reader = body.into_with_config().limit(WIRE_BYTES_MAX).reader();
    let mut bytes = Vec::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    while bytes.len() < bytes_max {
        let space = CHUNK_BYTES.min(bytes_max - bytes.len());
        match read(&mut reader, &mut chunk[..space], &wire)? {
            0 => break,
            count => bytes.extend_from_slice(&chunk[..count]),
        }
    }
    if wire.is_broken() {
        return Err(FetchError::Truncated);
    }
    Ok(bytes)
}

fn is_bomb(decoded: u64, wire: u64) -> bool {
    decoded > RATIO_FREE_BYTES && decoded > wire.saturating_mul(RATIO_MAX)
}

fn read(
    reader: &mut BodyReader<'static>,
    buffer: &mut [u8],
    wire: &Wire,
) -> Result<usize, FetchError> {
    loop {
        match reader.read(buffer) {
            Ok(count) => {
                wire.decode(u64::try_from(count).unwrap_or(u64::MAX));
                return Ok(count);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) if wire.is_refused() => return Err(FetchError::TooLarge),
            Err(error) => return Err(FetchError::from_body(error)),
        }
    }
}

fn read_first(reader: &mut BodyReader<'static>, wire: &Wire) -> Result<Vec<u8>, FetchError> {
    let mut first = vec![0; RECOGNISED_BYTES];
    let mut filled = 0;
    while filled < RECOGNISED_BYTES {
        match read(reader, &mut first[filled..], wire)? {
            0 => break,
            count => filled += count,
        }
    }
    first.truncate(filled);
    Ok(first)
}

/// A content coding that is left on the response, which means that nobody has decoded it.
fn foreign_coding(headers: &HeaderMap) -> Option<String> {
    headers
        .get_all("content-encoding")
        .iter()
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        .find(|coding| {
            let coding = coding.trim();
            !coding.is_empty() && !coding.eq_ignore_ascii_case("identity")
        })
        .map(|coding| named(&coding))
}

/// `None` when the header is absent or empty.
fn content_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get("content-type")?;
    let text = String::from_utf8_lossy(value.as_bytes());
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The charset parameter, without quotes.
fn charset(content_type: &str) -> Option<String> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']);
        (name.trim().eq_ignore_ascii_case("charset") && !value.is_empty()).then(|| value.to_owned())
    })
}

/// A server's words as far as an error may repeat them: short, visible ASCII.
fn named(text: &str) -> String {
    text.chars()
        .filter(|character| character.is_ascii_graphic() || *character == ' ')
        .take(NAMED_CHARACTERS_MAX)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_charset_is_read_with_and_without_quotes() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(charset(text).as_deref(), expected, "{text}");
        };
        check("text/html; charset=utf-8", Some("utf-8"));
        check("text/html;Charset=\"Shift_JIS\"", Some("Shift_JIS"));
        check("text/html; version=1; charset=koi8-r", Some("koi8-r"));
        check("text/html; charset=", None);
        check("text/html", None);
    }

    #[test]
    fn only_an_impossible_ratio_is_a_bomb() {
        assert!(!is_bomb(RATIO_FREE_BYTES, 1));
        assert!(is_bomb(RATIO_FREE_BYTES + 1, 1));
        // The best that gzip can do.
        assert!(!is_bomb(PAGE_BYTES_MAX, PAGE_BYTES_MAX / 1_032));
        assert!(is_bomb(PAGE_BYTES_MAX, PAGE_BYTES_MAX / 2_000));
    }

    #[test]
    fn what_a_server_says_is_repeated_short_and_visible() {
        assert_eq!(named("a\r\nb\u{1b}[1m"), "ab[1m");
        assert_eq!(named(&"x".repeat(500)).len(), NAMED_CHARACTERS_MAX);
    }
}
