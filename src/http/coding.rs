//! Content codings of answers (RFC 9110, 8.4 and 12.5.3): which one a request accepts, and the answer in it. What is kept,
//! signed and hashed is the answer without; a coding is put on it as it goes out.
//!
//! Levels: an answer of 12 KB takes 0.2 to 0.4 ms at these, and twice that for 3 to 5 % less at the next. What everybody may keep
//! is encoded more slowly, and kept once it is asked for again.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::HeaderMap;
use hyper::body::Bytes;
use hyper::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderValue, VARY,
};
use tokio::sync::Semaphore;

use crate::http::reply::Reply;
use crate::sync::lock;

/// Shorter answers go out as they are.
const BYTES_MIN: usize = 1024;
/// Longer answers go out as they are: their encoding would take a core for too long, and memory beside theirs.
const BYTES_MAX: usize = 4 * 1024 * 1024;
/// Longer answers are encoded on a thread that may block.
const INLINE_BYTES_MAX: usize = 16 * 1024;
/// Encoded constants that are kept: bytes, and how many.
const KEPT_BYTES_MAX: usize = 4 * 1024 * 1024;
const KEPT_MAX: usize = 256;
/// Answers that were encoded once, and may be asked for again.
const SEEN_MAX: usize = 1024;
/// Constants are no longer.
const CONSTANT_BYTES_MAX: usize = 512 * 1024;

const GZIP_LEVEL: u32 = 2;
const GZIP_LEVEL_PUBLIC: u32 = 6;
const BROTLI_QUALITY: i32 = 3;
/// The next ones take 8 to 32 MiB for their tables.
const BROTLI_QUALITY_PUBLIC: i32 = 6;
/// The window of brotli as a power of two. Its tables take 256 KiB beside it; 2 MiB for what is public.
const BROTLI_WINDOW: i32 = 18;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::http) enum Coding {
    Gzip,
    Brotli,
}

impl Coding {
    fn name(self) -> &'static str {
        match self {
            Coding::Gzip => "gzip",
            Coding::Brotli => "br",
        }
    }
}

/// What a request says of codings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::http) struct Accepted {
    /// The one that is preferred to no coding.
    coding: Option<Coding>,
    /// Whether an answer without one is not wanted.
    refuses_plain: bool,
}

impl Accepted {
    /// Reads `Accept-Encoding`. Items that cannot be read do not count.
    pub(in crate::http) fn of(headers: &HeaderMap) -> Accepted {
        let (mut gzip, mut brotli, mut plain, mut any) = (None, None, None, None);
        let lines = headers.get_all(ACCEPT_ENCODING).iter();
        let items = lines.filter_map(|line| line.to_str().ok());
        for item in items.flat_map(|line| line.split(',')) {
            let mut parts = item.split(';').map(str::trim);
            let name = parts.next().unwrap_or_default().to_ascii_lowercase();
            let Some(weight) = weight(parts.next()) else {
                continue;
            };
            match name.as_str() {
                "gzip" | "x-gzip" => gzip = Some(weight),
                "br" => brotli = Some(weight),
                "identity" => plain = Some(weight),
                "*" => any = Some(weight),
                _ => {}
            }
        }
        let weight = |named: Option<u16>| named.or(any).unwrap_or(0);
        let (gzip, brotli) = (weight(gzip), weight(brotli));
        // Brotli is a little smaller in the same time.
        let (coding, most) = match brotli >= gzip {
            true => (Coding::Brotli, brotli),
            false => (Coding::Gzip, gzip),
        };
        let refuses_plain = plain.or(any) == Some(0);
        Accepted {
            coding: (most > 0 && most >= plain.unwrap_or(0)).then_some(coding),
            refuses_plain,
        }
    }

    /// The coding of this answer. Nobody is refused for want of one: an answer may be paid for.
    pub(in crate::http) fn coding(self, reply: &Reply) -> Option<Coding> {
        let is_long = reply.length() >= BYTES_MIN || (self.refuses_plain && reply.length() > 0);
        let is_fit = is_long && reply.length() <= BYTES_MAX && is_encodable(reply);
        self.coding.filter(|_| is_fit)
    }
}

/// A weight in thousandths, 1000 where none is stated; nothing if it cannot be read.
fn weight(parameter: Option<&str>) -> Option<u16> {
    let Some(parameter) = parameter else {
        return Some(1000);
    };
    let value = parameter
        .strip_prefix("q=")
        .or_else(|| parameter.strip_prefix("Q="))?;
    let (whole, part) = value.split_once('.').unwrap_or((value, ""));
    let is_short = part.len() <= 3 && part.bytes().all(|byte| byte.is_ascii_digit());
    let thousandths: u16 = format!("{part:0<3}").parse().ok().filter(|_| is_short)?;
    match (whole, thousandths) {
        ("0", part) => Some(part),
        ("1", 0) => Some(1000),
        _ => None,
    }
}

/// Whether an answer is text, whole, and not encoded already. A stream of events is sent as it comes.
fn is_encodable(reply: &Reply) -> bool {
    let media_type = reply.headers.get(CONTENT_TYPE);
    let media_type = media_type.and_then(|value| value.to_str().ok());
    let media_type = media_type.unwrap_or_default().split(';').next();
    let media_type = media_type.unwrap_or_default().trim();
    let is_text = match media_type {
        "text/event-stream" => false,
        "application/json" | "application/javascript" | "application/xml" => true,
        "application/x-ndjson" | "application/jsonl" | "image/svg+xml" => true,
        other => other.starts_with("text/") || other.ends_with("+json") || other.ends_with("+xml"),
    };
    is_text
        && !reply.is_streamed()
        && !reply.headers.contains_key(CONTENT_ENCODING)
        && !matches!(reply.status, 204 | 206 | 304)
}

/// Says that the answer depends on what the request accepts, where it does.
pub(in crate::http) fn note_variance(reply: &mut Reply) {
    if reply.length() == 0 || !is_encodable(reply) {
        return;
    }
    let varies = reply
        .headers
        .get(VARY)
        .and_then(|value| value.to_str().ok());
    let varies = match varies {
        Some("*") => return,
        Some(names) => format!("{names}, Accept-Encoding"),
        None => "Accept-Encoding".to_owned(),
    };
    if let Ok(value) = HeaderValue::from_str(&varies) {
        reply.headers.insert("vary", value);
    }
}

/// Puts the coding into the entity tag: the encoded answer is another one, byte for byte (RFC 9110, 8.8.3.3).
pub(in crate::http) fn mark_tag(reply: &mut Reply, coding: Coding) {
    let tag = reply.headers.get(ETAG).and_then(|tag| tag.to_str().ok());
    let marked =
        tag.and_then(|tag| Some(format!("{}-{}\"", tag.strip_suffix('"')?, coding.name())));
    if let Some(marked) = marked.and_then(|marked| HeaderValue::from_str(&marked).ok()) {
        reply.headers.insert("etag", marked);
    }
}

/// An entity tag as it is without a coding.
pub(in crate::http) fn plain_tag(tag: &str) -> std::borrow::Cow<'_, str> {
    let codings = [Coding::Gzip, Coding::Brotli].into_iter();
    let mut bare = codings.filter_map(|coding| tag.strip_suffix(&format!("-{}\"", coding.name())));
    match bare.next() {
        Some(bare) => format!("{bare}\"").into(),
        None => tag.into(),
    }
}

/// Encodes answers, so many at once as the machine can bear.
#[derive(Debug)]
pub struct Encoder {
    threads: Arc<Semaphore>,
    kept: Mutex<Kept>,
    hasher: RandomState,
}

/// A body by its hash and length, and its coding.
type Key = (u64, usize, Coding);

#[derive(Debug, Default)]
struct Kept {
    bytes: usize,
    answers: HashMap<Key, Bytes>,
    seen: HashSet<Key>,
}

impl Default for Encoder {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Encoder {
            threads: Arc::new(Semaphore::new(cores.div_ceil(2))),
            kept: Mutex::new(Kept::default()),
            hasher: RandomState::new(),
        }
    }
}

impl Encoder {
    /// The answer in a coding. While as many long answers are encoded as may be, it stays as it is.
    pub(in crate::http) async fn encode(&self, mut reply: Reply, coding: Coding) -> Reply {
        let parts = reply.parts();
        let length = reply.length();
        let is_public = is_public(&reply);
        let key = is_public.then(|| (self.hash(&parts), length, coding));
        let known = key.and_then(|key| self.lock_cache().answers.get(&key).cloned());
        let encoded = match known {
            Some(encoded) => Some(encoded),
            None if length <= INLINE_BYTES_MAX => encoded(&parts, coding, is_public).ok(),
            None => match self.threads.clone().try_acquire_owned() {
                Ok(permit) => {
                    let work = tokio::task::spawn_blocking(move || {
                        let _permit = permit;
                        encoded(&parts, coding, is_public).ok()
                    });
                    work.await.unwrap_or_default()
                }
                Err(_) => None,
            },
        };
        let Some(encoded) = encoded else {
            return reply;
        };
        // An address that a client makes up has an answer of its own, which nobody asks for twice.
        let kept = key.filter(|key| self.is_seen_again(*key));
        if let Some(key) = kept {
            self.keep(key, &encoded);
        }
        reply.set_encoded(encoded, kept.is_some());
        reply = reply.fixed("content-encoding", coding.name());
        mark_tag(&mut reply, coding);
        reply
    }

    fn lock_cache(&self) -> std::sync::MutexGuard<'_, Kept> {
        lock(&self.kept)
    }

    /// Whether it was encoded before; it is now.
    fn is_seen_again(&self, key: Key) -> bool {
        let mut kept = self.lock_cache();
        if kept.answers.contains_key(&key) {
            return true;
        }
        if kept.seen.len() >= SEEN_MAX {
            kept.seen.clear();
        }
        !kept.seen.insert(key)
    }

    /// Everything leaves when there is no room.
    fn keep(&self, key: Key, encoded: &Bytes) {
        let mut kept = self.lock_cache();
        if kept.bytes + encoded.len() > KEPT_BYTES_MAX || kept.answers.len() >= KEPT_MAX {
            (kept.bytes, kept.answers) = (0, HashMap::new());
        }
        if kept.answers.insert(key, encoded.clone()).is_none() {
            kept.bytes += encoded.len();
        }
    }

    fn hash(&self, parts: &[Bytes]) -> u64 {
        // Keyed: nobody can make two bodies that share a hash.
        self.hasher.hash_one(parts)
    }
}

/// Whether others may get the same bytes: what may be kept by everybody, and the prices of a level.
fn is_public(reply: &Reply) -> bool {
    let may_be_kept = reply
        .headers
        .get(CACHE_CONTROL)
        .is_some_and(|value| value.as_bytes().starts_with(b"public"));
    (may_be_kept || reply.status == 402) && reply.length() <= CONSTANT_BYTES_MAX
}

fn encoded(parts: &[Bytes], coding: Coding, is_public: bool) -> io::Result<Bytes> {
    let length: usize = parts.iter().map(Bytes::len).sum();
    let out = Vec::with_capacity(length / 3 + 64);
    let written = match coding {
        Coding::Gzip => {
            let level = if is_public {
                GZIP_LEVEL_PUBLIC
            } else {
                GZIP_LEVEL
            };
            let mut encoder = GzEncoder::new(out, Compression::new(level));
            for part in parts {
                encoder.write_all(part)?;
            }
            encoder.finish()?
        }
        Coding::Brotli => {
            let params = brotli::enc::BrotliEncoderParams {
                quality: if is_public {
                    BROTLI_QUALITY_PUBLIC
                } else {
                    BROTLI_QUALITY
                },
                lgwin: BROTLI_WINDOW,
                size_hint: length,
                ..Default::default()
            };
            let mut encoder = brotli::CompressorWriter::with_params(out, 16 * 1024, &params);
            for part in parts {
                encoder.write_all(part)?;
            }
            encoder.flush()?;
            encoder.into_inner()
        }
    };
    Ok(written.into())
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn accepted(line: &str) -> Accepted {
        let mut headers = HeaderMap::new();
        headers.insert("accept-encoding", line.parse().expect("a value"));
        Accepted::of(&headers)
    }

    #[test]
    fn weights_decide() {
        use Coding::{Brotli, Gzip};
        for (line, coding, refuses_plain) in [
            ("gzip", Some(Gzip), false),
            ("gzip, br", Some(Brotli), false),
            ("br;q=0.5, gzip;q=0.8", Some(Gzip), false),
            ("gzip;q=0, br;q=0", None, false),
            ("GZIP;Q=1.000", Some(Gzip), false),
            ("x-gzip", Some(Gzip), false),
            ("*", Some(Brotli), false),
            ("*;q=0.1, br;q=0", Some(Gzip), false),
            ("identity, gzip;q=0.5", None, false),
            ("identity;q=0, gzip", Some(Gzip), true),
            ("*;q=0", None, true),
            ("zstd, deflate", None, false),
            ("", None, false),
            ("gzip;q=1.5", None, false),
            ("gzip;q=0.0001", None, false),
            ("gzip;level=9", None, false),
            (",;,gzip", Some(Gzip), false),
        ] {
            let expected = Accepted {
                coding,
                refuses_plain,
            };
            assert_eq!(accepted(line), expected, "{line}");
        }
        assert_eq!(Accepted::of(&HeaderMap::new()), Accepted::default());
    }

    #[test]
    fn only_long_text_that_is_whole_is_encoded() {
        let accepted = accepted("gzip, br");
        let coding = |reply: &Reply| accepted.coding(reply).is_some();
        let long = || "a".repeat(BYTES_MIN);
        assert!(coding(&Reply::json(200, long())) && coding(&Reply::json(402, long())));
        assert!(coding(&Reply::in_parts(
            200,
            "text/markdown",
            vec![long().into(), long().into()]
        )));
        assert!(!coding(&Reply::json(200, "a".repeat(BYTES_MIN - 1))));
        assert!(!coding(&Reply::json(200, "a".repeat(BYTES_MAX + 1))));
        assert!(!coding(&Reply::new(200, "image/png", long())));
        assert!(!coding(&Reply::new(200, "application/pdf", long())));
        assert!(!coding(&Reply::new(200, "text/event-stream", long())));
        assert!(!coding(
            &Reply::html(200, long()).fixed("content-encoding", "gzip")
        ));
        assert!(!coding(&Reply::in_pieces(200, "text/csv").0));
    }

    #[test]
    fn a_tag_names_its_coding_and_is_known_without() {
        for coding in [Coding::Gzip, Coding::Brotli] {
            let mut reply = Reply::json(200, "{}").header("etag", "\"abc\"");
            mark_tag(&mut reply, coding);
            let tag = reply.headers["etag"].to_str().expect("text").to_owned();
            assert_eq!(tag, format!("\"abc-{}\"", coding.name()));
            assert_eq!(plain_tag(&tag), "\"abc\"");
        }
        assert_eq!(plain_tag("\"abc\""), "\"abc\"");
    }

    #[tokio::test]
    async fn what_is_encoded_is_read_back() {
        let encoder = Encoder::default();
        for length in [BYTES_MIN, INLINE_BYTES_MAX + 1, 1_000_000] {
            let body: String = (0..length)
                .map(|at| char::from(b"abcdefg"[at % 7]))
                .collect();
            for coding in [Coding::Gzip, Coding::Brotli] {
                for policy in ["private, no-store", "public, max-age=60"] {
                    let half = body.len() / 2;
                    let parts = vec![
                        body[..half].to_owned().into(),
                        body[half..].to_owned().into(),
                    ];
                    let reply =
                        Reply::in_parts(200, "text/plain", parts).header("cache-control", policy);
                    let reply = encoder.encode(reply, coding).await;
                    assert_eq!(reply.headers["content-encoding"], coding.name());
                    assert!(reply.length() < length / 4);
                    let mut read = String::new();
                    let sent = reply.parts().concat();
                    match coding {
                        Coding::Gzip => {
                            flate2::read::GzDecoder::new(&sent[..]).read_to_string(&mut read)
                        }
                        Coding::Brotli => {
                            brotli::Decompressor::new(&sent[..], 4096).read_to_string(&mut read)
                        }
                    }
                    .expect("whole");
                    assert_eq!(read, body);
                }
            }
        }
        assert!(encoder.lock_cache().answers.is_empty());
    }

    #[tokio::test]
    async fn without_a_free_thread_a_long_answer_goes_out_as_it_is() {
        let encoder = Encoder::default();
        let all = u32::try_from(encoder.threads.available_permits()).expect("few");
        let _held = encoder.threads.acquire_many(all).await.expect("open");
        let long = Reply::json(200, "a".repeat(INLINE_BYTES_MAX + 1));
        let sent = encoder.encode(long, Coding::Gzip).await;
        assert!(!sent.headers.contains_key("content-encoding"));
        let short = encoder
            .encode(Reply::json(200, "a".repeat(2_000)), Coding::Gzip)
            .await;
        assert_eq!(short.headers["content-encoding"], "gzip");
    }

    fn price(number: usize) -> Reply {
        Reply::json(402, format!("{number}{}", "a".repeat(2_000)))
    }

    #[tokio::test]
    async fn constants_are_bounded() {
        let encoder = Encoder::default();
        for number in 0..2 * KEPT_MAX {
            for _ in 0..2 {
                encoder.encode(price(number), Coding::Gzip).await;
            }
            let kept = encoder.lock_cache();
            assert!(!kept.answers.is_empty() && kept.answers.len() <= KEPT_MAX);
            assert!(kept.bytes <= KEPT_BYTES_MAX);
        }
    }

    #[tokio::test]
    async fn what_is_asked_for_once_drives_no_constant_out() {
        let encoder = Encoder::default();
        for _ in 0..2 {
            encoder.encode(price(0), Coding::Brotli).await;
        }
        for number in 1..2 * SEEN_MAX {
            let reply = encoder.encode(price(number), Coding::Brotli).await;
            assert!(!reply.is_shared, "{number}");
        }
        {
            let kept = encoder.lock_cache();
            assert!(kept.answers.len() == 1 && kept.seen.len() <= SEEN_MAX);
        }
        assert!(encoder.encode(price(0), Coding::Brotli).await.is_shared);
    }
}
