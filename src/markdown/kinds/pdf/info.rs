//! What a PDF says of itself: the information dictionary, and its XMP where that is silent (ISO 32000-2, 14.3).

use encoding_rs::WINDOWS_1252;

use super::super::super::{Metadata, dates};
use super::cmap::utf_16;
use super::file::File;
use super::lexer::{Dict, Object};

/// No field is longer.
const FIELD_BYTES_MAX: usize = 4096;
/// What is looked at of the XMP.
const XMP_BYTES_MAX: usize = 1024 * 1024;
const KEYWORDS_MAX: usize = 50;

pub(super) fn metadata(file: &File<'_>, catalog: &Dict) -> Metadata {
    let info = file.dict(file.info.as_ref()).unwrap_or_default();
    let field = |name: &str| match file.member(&info, name) {
        Some(Object::Text(bytes)) => clean(&text(&bytes)),
        _ => None,
    };
    let xmp = catalog
        .get(b"Metadata".as_slice())
        .and_then(|object| file.stream(object))
        .map(|(_, content)| {
            let beginning = &content[..content.len().min(XMP_BYTES_MAX)];
            String::from_utf8_lossy(beginning).into_owned()
        })
        .unwrap_or_default();
    let or_xmp = |name: &str, tag: &str| field(name).or_else(|| in_xmp(&xmp, tag));
    let date = |name: &str, tag: &str| {
        let own = field(name).and_then(|text| dates::possible(&iso_date(&text)?));
        own.or_else(|| dates::possible(&in_xmp(&xmp, tag)?))
    };
    let language = match file.member(catalog, "Lang") {
        Some(Object::Text(bytes)) => clean(&text(&bytes)),
        _ => None,
    };
    Metadata {
        title: or_xmp("Title", "dc:title"),
        author: or_xmp("Author", "dc:creator"),
        description: or_xmp("Subject", "dc:description"),
        published_at: date("CreationDate", "xmp:CreateDate"),
        modified_at: date("ModDate", "xmp:ModifyDate"),
        keywords: field("Keywords").map_or(Vec::new(), |text| keywords(&text)),
        language,
        ..Metadata::default()
    }
}

/// A text string: UTF-16 or UTF-8 with a mark, or else (nearly) Windows-1252.
pub(super) fn text(bytes: &[u8]) -> String {
    match bytes {
        [0xFE, 0xFF, rest @ ..] => utf_16(rest),
        [0xFF, 0xFE, rest @ ..] => {
            let swapped: Vec<u8> = rest.chunks_exact(2).flat_map(|p| [p[1], p[0]]).collect();
            utf_16(&swapped)
        }
        [0xEF, 0xBB, 0xBF, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => WINDOWS_1252
                .decode_without_bom_handling(bytes)
                .0
                .into_owned(),
        },
    }
}

fn clean(text: &str) -> Option<String> {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    let text = words.join(" ");
    // What programs write when nobody has said anything.
    let is_filler = [
        "(anonymous)",
        "(unspecified)",
        "untitled",
        "anonymous",
        "unknown",
    ]
    .iter()
    .any(|filler| text.eq_ignore_ascii_case(filler));
    (!text.is_empty() && !is_filler && text.len() <= FIELD_BYTES_MAX).then_some(text)
}

fn keywords(text: &str) -> Vec<String> {
    let parts = text.split([',', ';']).map(str::trim);
    let parts = parts.filter(|part| !part.is_empty());
    parts.take(KEYWORDS_MAX).map(str::to_owned).collect()
}

/// The first text in an element of XMP.
fn in_xmp(xmp: &str, tag: &str) -> Option<String> {
    let (_, after) = xmp.split_once(&format!("<{tag}"))?;
    let (inside, _) = after.split_once(&format!("</{tag}>"))?;
    let value = inside
        .split('<')
        .map(|piece| piece.split_once('>').map_or("", |(_, text)| text).trim())
        .find(|text| !text.is_empty())?;
    clean(&htmlize::unescape(value))
}

/// `D:20240131120000+01'00'` as ISO 8601, as far as it is given.
fn iso_date(text: &str) -> Option<String> {
    let text = text.strip_prefix("D:").unwrap_or(text);
    let digits: &str = &text[..text.bytes().take_while(u8::is_ascii_digit).count().min(14)];
    let part = |from: usize, to: usize| digits.get(from..to);
    let mut date = part(0, 4)?.to_owned();
    for (mark, from) in [("-", 4), ("-", 6), ("T", 8), (":", 10), (":", 12)] {
        let Some(part) = part(from, from + 2) else {
            // An hour without its minutes is no time.
            return Some(date.split('T').next().unwrap_or_default().to_owned())
                .filter(|_| from <= 10)
                .or(Some(date));
        };
        date.push_str(mark);
        date.push_str(part);
    }
    let zone: String = text[digits.len()..].replace('\'', "");
    match zone.as_bytes() {
        [b'Z', ..] => date.push('Z'),
        [b'+' | b'-', rest @ ..] if rest.len() >= 4 && rest.iter().all(u8::is_ascii_digit) => {
            date.push_str(&zone[..3]);
            date.push(':');
            date.push_str(&zone[3..5]);
        }
        [b'+' | b'-', rest @ ..] if rest.len() == 2 && rest.iter().all(u8::is_ascii_digit) => {
            date.push_str(&zone);
            date.push_str(":00");
        }
        _ => {}
    }
    Some(date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_become_iso_8601() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(iso_date(text).as_deref(), expected, "{text}");
        };
        check("D:20240131120000+01'00'", Some("2024-01-31T12:00:00+01:00"));
        check("D:20240131120000Z", Some("2024-01-31T12:00:00Z"));
        check("D:20240131120000-08", Some("2024-01-31T12:00:00-08:00"));
        check("D:202401311200", Some("2024-01-31T12:00"));
        check("D:20240131", Some("2024-01-31"));
        check("D:2024", Some("2024"));
        check("yesterday", None);
        let no_day = iso_date("D:20249999").and_then(|date| dates::possible(&date));
        assert_eq!(no_day, None);
        check("20240131€", Some("2024-01-31"));
    }

    #[test]
    fn strings_of_every_encoding() {
        assert_eq!(text(b"\xFE\xFF\x00\xE9\x20\xAC"), "é€");
        assert_eq!(text(b"\xFF\xFE\xE9\x00"), "é");
        assert_eq!(text("é".as_bytes()), "é");
        assert_eq!(text(b"\xE9"), "é");
        let xmp = "<dc:title><rdf:Alt><rdf:li xml:lang='x'>A &amp; B</rdf:li></rdf:Alt></dc:title>";
        assert_eq!(in_xmp(xmp, "dc:title").as_deref(), Some("A & B"));
    }
}
