//! Undoes a second encoding: text whose bytes some program read as Latin-1 or windows-1252 and wrote again as UTF-8, so that
//! `é` became `Ã©`. Only where all of the text shows it; what is no such text is given on as it stands.

use encoding_rs::{BIG5, Decoder, EUC_JP, EUC_KR, Encoding, GB18030, GBK, SHIFT_JIS, UTF_8};

/// So many characters must be encoded twice; fewer if control characters, which no text has, are among what they became.
const DOUBLED_MIN: usize = 8;
const DOUBLED_WITH_CONTROLS_MIN: usize = 3;
/// In an encoding with two bytes a character nearly anything is a character.
const WIDE_BYTES_MIN: usize = 64;

/// The encodings besides UTF-8 whose text is known by its bytes.
const WIDE: [&Encoding; 6] = [GBK, GB18030, BIG5, EUC_KR, EUC_JP, SHIFT_JIS];

/// The encoding of a text in UTF-8 before it was encoded again. `declared` is what its markup says.
pub(super) fn encoding_before(
    head: &[u8],
    declared: Option<&'static Encoding>,
) -> Option<&'static Encoding> {
    let text = whole_characters(head)?;
    let (mut doubled, mut has_controls) = (0, false);
    for c in not_ascii(text) {
        doubled += usize::from(byte_of(c)? >= 0xC0);
        has_controls |= c <= '\u{9F}';
    }
    let doubled_min = match has_controls {
        true => DOUBLED_WITH_CONTROLS_MIN,
        false => DOUBLED_MIN,
    };
    let bytes = || -> Vec<u8> { text.chars().filter_map(byte_of).collect() };
    if doubled >= doubled_min && whole_characters(&bytes()).is_some() {
        return Some(UTF_8);
    }
    let wide = declared.filter(|encoding| WIDE.contains(encoding))?;
    is_wide(wide, &bytes()).then_some(wide)
}

/// The characters of a text that are not ASCII. Most of a page's markup is, and is passed over many bytes at a time.
fn not_ascii(text: &str) -> impl Iterator<Item = char> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = &rest[Encoding::ascii_valid_up_to(rest.as_bytes())..];
        let c = rest.chars().next()?;
        rest = &rest[c.len_utf8()..];
        Some(c)
    })
}

/// The text of bytes in UTF-8 of which the last character may be cut; none if they are something else.
fn whole_characters(bytes: &[u8]) -> Option<&str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).ok()
        }
        Err(_) => None,
    }
}

/// Whether bytes are text in an encoding with two bytes a character, but for a few that were lost on the way. Letters with
/// accents stand alone between others.
fn is_wide(encoding: &'static Encoding, bytes: &[u8]) -> bool {
    let runs = bytes.split(u8::is_ascii).filter(|run| !run.is_empty());
    let (mut all, mut alone) = (0, 0);
    for run in runs {
        all += run.len();
        alone += usize::from(run.len() == 1);
    }
    let (text, _) = encoding.decode_without_bom_handling(bytes);
    let malformed = text.matches(char::REPLACEMENT_CHARACTER).count();
    all >= WIDE_BYTES_MIN && alone * 10 <= all && malformed * 50 <= all
}

/// The byte that became this character.
fn byte_of(c: char) -> Option<u8> {
    if let Ok(byte) = u8::try_from(u32::from(c)) {
        return Some(byte);
    }
    let at = SPECIAL.iter().position(|special| *special == c)?;
    u8::try_from(0x80 + at).ok()
}

/// What windows-1252 has from 0x80 on.
const SPECIAL: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8D}', 'Ž', '\u{8F}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9D}', 'ž', 'Ÿ',
];

/// Gives back the text that was encoded twice, piece by piece.
pub(super) enum Undoing {
    /// What may become one character, as it stands and as its bytes.
    Utf8 {
        begun: String,
        bytes: Vec<u8>,
    },
    Wide(Decoder),
}

impl Undoing {
    pub(super) fn of(encoding: &'static Encoding) -> Undoing {
        if encoding != UTF_8 {
            return Undoing::Wide(encoding.new_decoder_without_bom_handling());
        }
        Undoing::Utf8 {
            begun: String::new(),
            bytes: Vec::new(),
        }
    }

    /// The text that these characters were. The last of it comes with an empty piece.
    pub(super) fn undone(&mut self, piece: &str) -> String {
        let mut out = String::with_capacity(piece.len());
        match self {
            Undoing::Utf8 { begun, bytes } => {
                for c in piece.chars() {
                    undo(c, begun, bytes, &mut out);
                }
                if piece.is_empty() {
                    out.push_str(begun);
                }
            }
            Undoing::Wide(decoder) => {
                let bytes: Vec<u8> = piece.chars().map(|c| byte_of(c).unwrap_or(b'?')).collect();
                let needed = decoder.max_utf8_buffer_length(bytes.len());
                out.reserve(needed.unwrap_or(bytes.len() * 3 + 16));
                let _ = decoder.decode_to_string(&bytes, &mut out, piece.is_empty());
            }
        }
        out
    }
}

/// Takes one more character. What does not become one with those before it is given on as it stands.
fn undo(c: char, begun: &mut String, bytes: &mut Vec<u8>, out: &mut String) {
    let byte = byte_of(c).filter(|byte| *byte >= 0x80);
    if let Some(byte) = byte.filter(|_| !begun.is_empty()) {
        begun.push(c);
        bytes.push(byte);
        match std::str::from_utf8(bytes) {
            Ok(character) => out.push_str(character),
            Err(error) if error.error_len().is_none() => return,
            Err(_) => {
                begun.pop();
                out.push_str(begun);
                begun.clear();
                bytes.clear();
                return undo(c, begun, bytes, out);
            }
        }
    } else {
        out.push_str(begun);
        if let Some(byte @ 0xC2..=0xF4) = byte {
            begun.clear();
            begun.push(c);
            bytes.clear();
            bytes.push(byte);
            return;
        }
        out.push(c);
    }
    begun.clear();
    bytes.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a program that takes UTF-8 for Latin-1, or for windows-1252, writes a text.
    fn doubled(bytes: &[u8], is_latin_1: bool) -> String {
        let read = |&byte: &u8| match byte {
            0x80..=0x9F if !is_latin_1 => SPECIAL[usize::from(byte) - 0x80],
            _ => char::from(byte),
        };
        bytes.iter().map(read).collect()
    }

    fn undone(text: &str, encoding: &'static Encoding) -> String {
        let mut undoing = Undoing::of(encoding);
        let pieces = text.chars().map(String::from).chain([String::new()]);
        pieces.map(|piece| undoing.undone(&piece)).collect()
    }

    #[test]
    fn text_that_was_encoded_twice_is_undone() {
        for text in [
            "<p>Don’t — the café’s “menu”…</p>",
            "<p>Кошка на окне</p>",
            "<p>花园的门嘎吱作响</p>",
        ] {
            for is_latin_1 in [true, false] {
                let twice = doubled(text.as_bytes(), is_latin_1);
                assert_eq!(encoding_before(twice.as_bytes(), None), Some(UTF_8));
                assert_eq!(undone(&twice, UTF_8), text);
            }
        }
        let text = format!("<p>{}</p>", "花园的门嘎吱作响".repeat(8));
        let (bytes, _, _) = GBK.encode(&text);
        let twice = doubled(&bytes, true);
        assert_eq!(encoding_before(twice.as_bytes(), Some(GBK)), Some(GBK));
        assert_eq!(encoding_before(twice.as_bytes(), None), None);
        assert_eq!(undone(&twice, GBK), text);
    }

    #[test]
    fn other_text_stays() {
        for text in [
            "plain",
            "<p>Don’t — the café’s “menu”…</p>",
            "<p>É à ç ñ ü ß Ø å æ œ, «São João», AÇÃO, IRMÃ», Â© Â® Ã©",
            &"<p>été à déjà, où l'élève a été prié de s'arrêter près du château".repeat(9),
            "<p>Кошка на окне</p>",
            "<p>花园的门嘎吱作响</p>",
            // A page about the matter: what it shows stands beside what it means.
            "<p>é becomes Ã©, à becomes Ã , è becomes Ã¨, ü becomes Ã¼, ’ becomes â€™, ö becomes Ã¶, ß becomes ÃŸ",
            // Too few to be sure.
            "<p>Ã© Ã¨ Ã¼",
        ] {
            for declared in [None, Some(GBK), Some(UTF_8)] {
                assert_eq!(encoding_before(text.as_bytes(), declared), None, "{text}");
            }
        }
        // Further down on a page whose beginning was encoded twice.
        for text in ["é", "Ã é", "â€x", "ÃÃ", "€ 5", "花"] {
            assert_eq!(undone(text, UTF_8), text);
        }
    }
}
