//! Which encoding a page is in, and its bytes as UTF-8. In the order of trust: byte order mark, Content-Type,
//! `<meta>` or XML declaration, detection (HTML Standard 13.2.3.2). Knows no markup beyond that declaration.

use std::convert::Infallible;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::doubled::{Undoing, encoding_before};

/// How many bytes are looked at for a declaration. The standard asks for 1,024; pages often say it later.
const DECLARATION_BYTES: usize = 4096;

/// How many bytes are looked at to see whether a declaration can be true.
pub(super) const EVIDENCE_BYTES: usize = 64 * 1024;

/// The encoding that the page or its header declares, and the length of its byte order mark. A declaration that the
/// first bytes contradict is none.
pub(super) fn declared(
    head: &[u8],
    header: Option<&str>,
    is_html: bool,
) -> Option<(&'static Encoding, usize)> {
    if let Some(found) = Encoding::for_bom(head) {
        return Some(found);
    }
    let declaring = &head[..head.len().min(DECLARATION_BYTES)];
    let found = header
        .and_then(|label| Encoding::for_label_no_replacement(label.as_bytes()))
        .or_else(|| if is_html { in_markup(declaring) } else { None })?;
    let likely = match looks_like_utf_8(&head[..head.len().min(EVIDENCE_BYTES)]) {
        Some(true) if found.is_ascii_compatible() => UTF_8,
        Some(false) if found == UTF_8 => return None,
        _ => found,
    };
    Some((likely, 0))
}

/// Whether bytes are in UTF-8, where they show it: text in another encoding hardly ever is valid UTF-8 by chance.
fn looks_like_utf_8(bytes: &[u8]) -> Option<bool> {
    if bytes.is_ascii() {
        return None;
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        let wide = text.bytes().filter(|byte| *byte >= 0xC0).take(2).count();
        return (wide == 2).then_some(true);
    }
    let (mut valid, mut invalid) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        valid += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        invalid += usize::from(!chunk.invalid().is_empty());
    }
    match (valid, invalid) {
        // The last character may be cut.
        (2.., 0 | 1) if valid >= 8 * invalid => Some(true),
        (_, 3..) if invalid * 2 > valid => Some(false),
        _ => None,
    }
}

/// The encoding of bytes that nothing declares, and whether it is a guess.
pub(super) fn detected(bytes: &[u8], top_level_domain: Option<&str>) -> (&'static Encoding, bool) {
    if !bytes.contains(&0x1B) && std::str::from_utf8(bytes).is_ok() {
        return (UTF_8, false);
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    let has_non_ascii = detector.feed(bytes, true);
    // The detector refuses labels that are not lower-case ASCII.
    let domain = top_level_domain
        .filter(|label| label.bytes().all(|b| b.is_ascii_lowercase()))
        .map(str::as_bytes);
    let encoding = detector.guess(domain, Utf8Detection::Allow);
    let is_guess = encoding != UTF_8 && (has_non_ascii || encoding == encoding_rs::ISO_2022_JP);
    (encoding, is_guess)
}

/// Whether the bytes can't be text: a NUL among the first 512, or the signature of a common binary format.
pub(super) fn is_binary(head: &[u8], header: Option<&str>) -> bool {
    const SIGNATURES: [&[u8]; 6] = [
        b"%PDF",
        b"PK\x03\x04",
        b"PK\x05\x06",
        b"GIF8",
        b"\x89PNG",
        b"\xFF\xD8\xFF",
    ];
    let is_utf_16 = |encoding: &'static Encoding| encoding == UTF_16LE || encoding == UTF_16BE;
    let wide = match Encoding::for_bom(head) {
        Some((encoding, _)) => is_utf_16(encoding),
        None => header
            .and_then(|label| Encoding::for_label(label.as_bytes()))
            .is_some_and(is_utf_16),
    };
    SIGNATURES
        .iter()
        .any(|signature| head.starts_with(signature))
        || (!wide && head[..head.len().min(512)].contains(&0))
}

/// Bytes of one encoding as text. Malformed sequences become U+FFFD.
pub(super) enum Decoding {
    /// Most pages: read where it stands. The bytes are the beginning of a character whose end is not there yet.
    Utf8(Vec<u8>),
    Other(Decoder),
    /// UTF-8 that holds text in another encoding, or in UTF-8 once more.
    Doubled(Box<Decoding>, Undoing),
}

const MALFORMED: &str = "\u{FFFD}";

/// Bytes of other encodings that are decoded at once: text is held once, not beside its page.
const DECODED_BYTES: usize = 16 * 1024;

impl Decoding {
    /// For a page in this encoding that begins so.
    pub(super) fn of_page(encoding: &'static Encoding, head: &[u8]) -> Decoding {
        let decoding = Decoding::of(encoding);
        let head = &head[..head.len().min(EVIDENCE_BYTES)];
        let declaring = &head[..head.len().min(DECLARATION_BYTES)];
        let before = (encoding == UTF_8 && !head.is_ascii())
            .then(|| encoding_before(head, in_markup(declaring)))
            .flatten();
        match before {
            Some(before) => Decoding::Doubled(Box::new(decoding), Undoing::of(before)),
            None => decoding,
        }
    }

    fn of(encoding: &'static Encoding) -> Decoding {
        if encoding == UTF_8 {
            return Decoding::Utf8(Vec::new());
        }
        Decoding::Other(encoding.new_decoder_without_bom_handling())
    }

    /// Gives the text of these bytes, in one or more pieces.
    pub(super) fn decode<E>(
        &mut self,
        bytes: &[u8],
        last: bool,
        mut text: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Decoding::Utf8(cut) => {
                let bytes = complete(cut, bytes, &mut text)?;
                let rest = utf_8(bytes, &mut text)?;
                cut.extend_from_slice(rest);
                if last && !cut.is_empty() {
                    cut.clear();
                    text(MALFORMED)?;
                }
                Ok(())
            }
            Decoding::Other(decoder) => {
                let mut decoded = String::new();
                let mut pieces = bytes.chunks(DECODED_BYTES).peekable();
                while let Some(piece) = pieces.next() {
                    decoded.clear();
                    let is_last = last && pieces.peek().is_none();
                    transcode(decoder, piece, is_last, &mut decoded);
                    text(&decoded)?;
                }
                if last && bytes.is_empty() {
                    decoded.clear();
                    transcode(decoder, bytes, true, &mut decoded);
                    text(&decoded)?;
                }
                Ok(())
            }
            Decoding::Doubled(decoding, undoing) => {
                let mut pieces = String::new();
                for bytes in bytes.chunks(DECODED_BYTES) {
                    pieces.clear();
                    decoding.gather(bytes, false, &mut pieces);
                    if !pieces.is_empty() {
                        text(&undoing.undone(&pieces))?;
                    }
                }
                if last {
                    pieces.clear();
                    decoding.gather(&[], true, &mut pieces);
                    if !pieces.is_empty() {
                        text(&undoing.undone(&pieces))?;
                    }
                    text(&undoing.undone(""))?;
                }
                Ok(())
            }
        }
    }

    /// Adds the text of these bytes to other text.
    fn gather(&mut self, bytes: &[u8], last: bool, out: &mut String) {
        let gathered: Result<(), Infallible> = self.decode(bytes, last, |piece| {
            out.push_str(piece);
            Ok(())
        });
        gathered.unwrap_or_else(|error| match error {});
    }
}

/// Completes the character that was cut. Gives the bytes behind it.
fn complete<'a, E>(
    cut: &mut Vec<u8>,
    mut bytes: &'a [u8],
    text: &mut impl FnMut(&str) -> Result<(), E>,
) -> Result<&'a [u8], E> {
    while !cut.is_empty()
        && let Some((first, rest)) = bytes.split_first()
    {
        cut.push(*first);
        match std::str::from_utf8(cut) {
            Ok(character) => {
                text(character)?;
                cut.clear();
                bytes = rest;
            }
            Err(error) if error.error_len().is_none() => bytes = rest,
            Err(_) => {
                cut.clear();
                text(MALFORMED)?;
            }
        }
    }
    Ok(bytes)
}

/// Gives the bytes at the end that may begin a character.
fn utf_8<'a, E>(
    mut bytes: &'a [u8],
    text: &mut impl FnMut(&str) -> Result<(), E>,
) -> Result<&'a [u8], E> {
    loop {
        let error = match std::str::from_utf8(bytes) {
            Ok(all) => {
                text(all)?;
                return Ok(&[]);
            }
            Err(error) => error,
        };
        let (valid, rest) = bytes.split_at(error.valid_up_to());
        text(std::str::from_utf8(valid).unwrap_or_default())?;
        let Some(malformed) = error.error_len() else {
            return Ok(rest);
        };
        text(MALFORMED)?;
        bytes = &rest[malformed..];
    }
}

fn transcode(decoder: &mut Decoder, mut bytes: &[u8], last: bool, out: &mut String) {
    loop {
        let needed = decoder
            .max_utf8_buffer_length(bytes.len().min(8192))
            .unwrap_or(32 * 1024);
        out.reserve(needed);
        let (result, read, _) = decoder.decode_to_string(bytes, out, last);
        bytes = &bytes[read..];
        if result == encoding_rs::CoderResult::InputEmpty {
            return;
        }
    }
}

fn in_markup(head: &[u8]) -> Option<&'static Encoding> {
    if head.starts_with(b"<?xml") {
        let declaration = &head[..find(head, b"?>").unwrap_or(0)];
        if let Some(encoding) = value_after(declaration, b"encoding").and_then(labelled) {
            return Some(encoding);
        }
    }
    let mut rest = head;
    while let Some(at) = find(rest, b"<meta") {
        rest = &rest[at + 5..];
        let end = find(rest, b">").unwrap_or(rest.len());
        if let Some(encoding) = value_after(&rest[..end], b"charset").and_then(labelled) {
            return Some(encoding);
        }
        rest = &rest[end..];
    }
    None
}

/// A page that could be read this far is not in UTF-16, whatever it says (HTML Standard, "prescan a byte stream").
fn labelled(label: &[u8]) -> Option<&'static Encoding> {
    if label.eq_ignore_ascii_case(b"x-user-defined") {
        return Some(WINDOWS_1252);
    }
    let encoding = Encoding::for_label_no_replacement(label)?;
    Some(
        if encoding.is_ascii_compatible() || encoding == encoding_rs::ISO_2022_JP {
            encoding
        } else {
            UTF_8
        },
    )
}

fn value_after<'a>(text: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let mut rest = text;
    loop {
        rest = &rest[find(rest, name)? + name.len()..];
        let Some(value) = rest.trim_ascii_start().strip_prefix(b"=") else {
            continue;
        };
        let value = value.trim_ascii_start();
        let value = value
            .strip_prefix(b"\"")
            .or_else(|| value.strip_prefix(b"'"))
            .unwrap_or(value);
        let end = value
            .iter()
            .position(|b| b.is_ascii_whitespace() || b"\"';/>?".contains(b))
            .unwrap_or(value.len());
        return Some(&value[..end]);
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack
        .windows(needle.len())
        .position(|window| window.eq_ignore_ascii_case(needle))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check_declared(head: &[u8], header: Option<&str>, expected: Option<&str>) {
        let found = declared(head, header, true).map(|(encoding, _)| encoding.name());
        assert_eq!(found, expected, "{:?}", String::from_utf8_lossy(head));
    }

    #[test]
    fn the_most_trusted_declaration_wins() {
        let meta = b"<meta charset=shift_jis>";
        check_declared(b"\xEF\xBB\xBFx", Some("shift_jis"), Some("UTF-8"));
        check_declared(meta, Some("koi8-r"), Some("KOI8-R"));
        check_declared(meta, Some("nonsense"), Some("Shift_JIS"));
        check_declared(meta, None, Some("Shift_JIS"));
        check_declared(b"<p>nothing said", None, None);
    }

    #[test]
    fn declarations_in_markup() {
        check_declared(
            b"<META http-equiv=Content-Type content='text/html; Charset = EUC-KR'>",
            None,
            Some("EUC-KR"),
        );
        check_declared(
            b"<?xml version='1.0' encoding='iso-8859-2'?><html>",
            None,
            Some("ISO-8859-2"),
        );
        check_declared(
            b"<meta name=charset><meta charset=\"utf-16\">",
            None,
            Some("UTF-8"),
        );
        check_declared(b"<p>charset=koi8-r</p>", None, None);
    }

    proptest! {
        /// Cut anywhere, UTF-8 is read as the standard decoder reads it.
        #[test]
        fn utf_8_is_decoded_as_the_standard_says(
            pieces in proptest::collection::vec(proptest::collection::vec(byte(), 0..6), 0..12),
        ) {
            let mut decoding = Decoding::of(UTF_8);
            let mut found = String::new();
            for (at, piece) in pieces.iter().enumerate() {
                let pushed: Result<(), ()> = decoding.decode(piece, at + 1 == pieces.len(), |text| {
                    found.push_str(text);
                    Ok(())
                });
                prop_assert!(pushed.is_ok());
            }
            let whole = pieces.concat();
            let (expected, _) = UTF_8.decode_without_bom_handling(&whole);
            prop_assert_eq!(found, expected);
        }
    }

    /// One in a hundred pages that people marked was given as `donâ€™t`, since its text had been encoded twice.
    #[test]
    fn text_that_was_encoded_twice_is_read_as_it_was_meant() {
        let text = format!("<p>{}</p>", "Don’t — the café’s “menu”… ".repeat(2000));
        let twice: String = text.bytes().map(char::from).collect();
        for pieces in [1, 7, 1 << 20] {
            let mut decoding = Decoding::of_page(UTF_8, twice.as_bytes());
            let mut found = String::new();
            let mut read = |bytes: &[u8], last| {
                let read: Result<(), ()> = decoding.decode(bytes, last, |text| {
                    found.push_str(text);
                    Ok(())
                });
                assert_eq!(read, Ok(()));
            };
            twice
                .as_bytes()
                .chunks(pieces)
                .for_each(|bytes| read(bytes, false));
            read(&[], true);
            assert_eq!(found, text);
        }
    }

    /// Bytes that begin, continue or break a character.
    fn byte() -> impl Strategy<Value = u8> {
        proptest::sample::select(
            &[
                b'a', 0x80, 0x82, 0x9F, 0xA0, 0xAC, 0xBF, 0xC1, 0xC3, 0xE0, 0xE2, 0xED, 0xF0, 0xF4,
                0xFF,
            ][..],
        )
    }

    #[test]
    fn undeclared_text_is_detected() {
        let (cyrillic, _, _) = encoding_rs::WINDOWS_1251
            .encode("Сегодня в городе ожидается переменная облачность и небольшой дождь");
        assert_eq!(
            detected(&cyrillic, Some("ru")),
            (encoding_rs::WINDOWS_1251, true)
        );
        assert_eq!(detected("naïve".as_bytes(), None), (UTF_8, false));
        let (japanese, _, _) =
            encoding_rs::ISO_2022_JP.encode("日本語のページです。今日は天気がいい");
        assert_eq!(
            detected(&japanese, Some("jp")),
            (encoding_rs::ISO_2022_JP, true)
        );
    }

    #[test]
    fn binary_is_recognised() {
        assert!(is_binary(b"%PDF-1.7", None));
        assert!(is_binary(b"plain\0text", None));
        assert!(!is_binary(b"\xFF\xFEa\0b\0", None));
        assert!(!is_binary(b"a\0b\0", Some("utf-16le")));
        assert!(!is_binary(b"PK is not always an archive", None));
    }
}
