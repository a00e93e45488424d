//! A font as far as text needs it: which codes a string holds, which characters they stand for and how far each moves
//! the pen (ISO 32000-2, 9.6 to 9.10). Shapes are never looked at: a font that does not say what its codes mean gives
//! characters that nobody knows, and they are counted.

use std::collections::HashMap;
use std::sync::LazyLock;

use encoding_rs::{Encoding, MACINTOSH, WINDOWS_1252};

use super::cmap::CMap;
use super::file::File;
use super::lexer::{Dict, Object, whole};
use super::memory::Reserved;

/// Names of glyphs and the characters they stand for: the Adobe Glyph List without Hebrew, Arabic, Indic, Asian and
/// private characters.
static GLYPHS: LazyLock<HashMap<&'static str, char>> = LazyLock::new(|| {
    include_str!("../../../../data/glyphs.txt")
        .lines()
        .filter_map(|line| {
            let (name, code) = line.split_once(' ')?;
            let code = u32::from_str_radix(code, 16).ok()?;
            Some((name, char::from_u32(code)?))
        })
        .collect()
});

/// StandardEncoding from 0xA1.
const STANDARD: &str = "¡¢£⁄¥ƒ§¤'“«‹›\0\0\0–†‡·\0¶•‚„”»…‰\0¿\0`´ˆ˜¯˘˙¨\0˚¸\0˝˛ˇ—\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0Æ\0ª\0\0\0\0ŁØŒº\0\0\0\0\0æ\0\0\0ı\0\0łøœß";

/// The Symbol font's own encoding from 0x20 to 0x7E, and from 0xA0.
const SYMBOL: &str = " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_\0αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼";
const SYMBOL_HIGH: &str = "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…\0\0↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇\0\0\0∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈\0\0\0∑\0\0\0\0\0\0\0\0\0\0〉∫⌠\0⌡";

/// Widths of the standard fonts' characters from space to tilde, which files may leave out.
const HELVETICA: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 222, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 222, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];
const TIMES: [u16; 95] = [
    250, 333, 408, 500, 500, 833, 778, 333, 333, 333, 500, 564, 250, 333, 250, 278, 500, 500, 500,
    500, 500, 500, 500, 500, 500, 500, 278, 278, 564, 564, 564, 444, 921, 722, 667, 667, 722, 611,
    556, 722, 722, 333, 389, 722, 611, 889, 722, 722, 556, 722, 667, 556, 611, 722, 722, 944, 722,
    722, 611, 333, 278, 333, 469, 500, 333, 444, 500, 444, 500, 444, 333, 500, 500, 278, 278, 500,
    278, 778, 500, 500, 500, 500, 333, 389, 278, 500, 500, 722, 500, 500, 444, 480, 200, 480, 541,
];

/// Codes of composite fonts whose width is listed.
const WIDTHS_MAX: usize = 70_000;

/// What looking at an element of the list of widths costs.
const ELEMENT_BYTES: usize = 16;
/// What a font costs, however little it says, in work and in memory.
const FONT_BYTES: usize = 16 * 1024;
/// Memory of one width.
const WIDTH_BYTES: usize = 40;

#[derive(Debug)]
pub(super) struct Font {
    to_unicode: Option<CMap>,
    coding: Coding,
    widths: HashMap<u32, f64>,
    default_width: f64,
    /// All characters are of one width, as in listings.
    pub(super) is_fixed: bool,
    /// Its memory.
    _held: Option<Reserved>,
}

#[derive(Debug)]
enum Coding {
    /// One byte a character. `\0` stands for what is not known.
    Simple(Box<[String; 256]>),
    /// Two bytes a glyph, which only `ToUnicode` explains.
    Glyphs,
    /// Codes of the map that the font brings along.
    Map(CMap),
    /// UTF-16.
    Unicode,
    /// One of the old encodings of East Asia.
    Legacy(&'static Encoding),
}

/// One character of a string.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// In thousandths of the font's size.
    pub(super) width: f64,
    /// A single byte 32, which word spacing applies to.
    pub(super) is_space: bool,
    pub(super) is_known: bool,
}

impl Font {
    /// A font that says nothing of itself.
    pub(super) fn unknown() -> Font {
        Font {
            to_unicode: None,
            coding: Coding::Simple(simple(b"StandardEncoding")),
            widths: HashMap::new(),
            default_width: 500.0,
            is_fixed: false,
            _held: None,
        }
    }

    fn bytes(&self) -> usize {
        let map = match &self.coding {
            Coding::Map(map) => map.bytes(),
            _ => 0,
        };
        let to_unicode = self.to_unicode.as_ref().map_or(0, CMap::bytes);
        FONT_BYTES + map + to_unicode + self.widths.len() * WIDTH_BYTES
    }

    pub(super) fn read(file: &File<'_>, dict: &Dict) -> Font {
        let _ = file.spend(FONT_BYTES);
        let map = dict
            .get(b"ToUnicode".as_slice())
            .and_then(|object| file.stream(object))
            .filter(|(_, content)| file.spend(content.len() * 3).is_some())
            .map(|(_, content)| CMap::read(&content))
            .filter(|map| !map.is_empty());
        let is_composite =
            matches!(file.member(dict, "Subtype"), Some(Object::Name(name)) if name == b"Type0");
        let mut font = if is_composite {
            composite(file, dict)
        } else {
            simple_font(file, dict)
        };
        font.to_unicode = map;
        font._held = file.hold(font.bytes());
        match font._held {
            Some(_) => font,
            None => Font::unknown(),
        }
    }

    /// Goes through a string; `step` gets each character's text appended to `out` with its measures.
    pub(super) fn each(&self, text: &[u8], mut step: impl FnMut(&str, Step)) {
        let mut rest = text;
        let mut shown = String::new();
        while !rest.is_empty() {
            let (code, length) = self.code(rest);
            let bytes = &rest[..length];
            rest = &rest[length..];
            shown.clear();
            let is_known = self.push(code, bytes, &mut shown);
            step(
                &shown,
                Step {
                    width: self
                        .widths
                        .get(&code)
                        .copied()
                        .unwrap_or(self.default_width),
                    is_space: bytes == b" ",
                    is_known,
                },
            );
        }
    }

    fn code(&self, text: &[u8]) -> (u32, usize) {
        let two = |text: &[u8]| match text {
            [high, low, ..] => (u32::from(*high) << 8 | u32::from(*low), 2),
            _ => (u32::from(text[0]), 1),
        };
        match &self.coding {
            Coding::Simple(_) => (u32::from(text[0]), 1),
            Coding::Glyphs | Coding::Unicode => two(text),
            Coding::Map(map) => map.code(text).unwrap_or_else(|| {
                if map.code_bytes() == Some(1) {
                    (u32::from(text[0]), 1)
                } else {
                    two(text)
                }
            }),
            Coding::Legacy(_) if text[0] < 0x80 => (u32::from(text[0]), 1),
            Coding::Legacy(_) => two(text),
        }
    }

    fn push(&self, code: u32, bytes: &[u8], out: &mut String) -> bool {
        if let Some(map) = &self.to_unicode
            && map.push(code, out)
        {
            return !out.contains('\u{FFFD}');
        }
        match &self.coding {
            Coding::Simple(table) => {
                let text = &table[(code & 0xFF) as usize];
                out.push_str(text);
                !text.is_empty()
            }
            Coding::Glyphs | Coding::Map(_) => false,
            Coding::Unicode => {
                let Some(c) = char::from_u32(code) else {
                    return false;
                };
                out.push(c);
                true
            }
            Coding::Legacy(encoding) => {
                let (text, had_errors) = encoding.decode_without_bom_handling(bytes);
                out.push_str(&text);
                !had_errors
            }
        }
    }
}

fn composite(file: &File<'_>, dict: &Dict) -> Font {
    let coding = match dict.get(b"Encoding".as_slice()) {
        Some(reference @ Object::Reference(_)) => match file.resolve(reference) {
            Object::Name(name) => named_map(&name),
            _ => match file.stream(reference) {
                Some((_, content)) if file.spend(content.len() * 3).is_some() => {
                    Coding::Map(CMap::read(&content))
                }
                _ => Coding::Glyphs,
            },
        },
        Some(Object::Name(name)) => named_map(name),
        _ => Coding::Glyphs,
    };
    let descendants = file.array(dict.get(b"DescendantFonts".as_slice()));
    let descendant = descendants.and_then(|fonts| file.dict(fonts.first()));
    let mut font = Font {
        to_unicode: None,
        coding,
        widths: HashMap::new(),
        default_width: 1000.0,
        is_fixed: false,
        _held: None,
    };
    if let Some(descendant) = descendant {
        font.is_fixed = is_fixed(file, &descendant);
        let default = file.member(&descendant, "DW");
        font.default_width = default.and_then(|width| width.number()).unwrap_or(1000.0);
        if let Some(widths) = file.array(descendant.get(b"W".as_slice())) {
            font.widths = composite_widths(file, &widths);
        }
    }
    font
}

fn named_map(name: &[u8]) -> Coding {
    let name = String::from_utf8_lossy(name);
    let legacy = [
        ("RKSJ", encoding_rs::SHIFT_JIS),
        ("GBK", encoding_rs::GBK),
        ("GB-EUC", encoding_rs::GBK),
        ("B5", encoding_rs::BIG5),
        ("KSC", encoding_rs::EUC_KR),
    ];
    if name.contains("UCS2") || name.contains("UTF16") {
        return Coding::Unicode;
    }
    let found = legacy.iter().find(|(part, _)| name.contains(part));
    found.map_or(Coding::Glyphs, |(_, encoding)| Coding::Legacy(encoding))
}

/// `c [w1 w2 …]` and `first last w` (ISO 32000-2, 9.7.4.3).
fn composite_widths(file: &File<'_>, elements: &[Object]) -> HashMap<u32, f64> {
    let mut widths = HashMap::new();
    let mut at = 0;
    let code = |object: &Object| object.whole().and_then(|code| u32::try_from(code).ok());
    while at + 1 < elements.len() && widths.len() < WIDTHS_MAX {
        if file.spend(ELEMENT_BYTES).is_none() {
            break;
        }
        let Some(first) = code(&elements[at]) else {
            at += 1;
            continue;
        };
        if let Some(list) = file.array(Some(&elements[at + 1])) {
            let _ = file.spend(list.len() * 16);
            for (offset, width) in (0u32..).zip(list.iter().take(WIDTHS_MAX)) {
                widths.extend(
                    width
                        .number()
                        .map(|width| (first.saturating_add(offset), width)),
                );
            }
            at += 2;
            continue;
        }
        let last = code(&elements[at + 1]).unwrap_or(first);
        if let Some(width) = elements.get(at + 2).and_then(Object::number) {
            let count = usize::try_from(last.saturating_sub(first)).unwrap_or(WIDTHS_MAX);
            let _ = file.spend(count.min(WIDTHS_MAX) * 16);
            widths.extend((first..=last).take(WIDTHS_MAX).map(|code| (code, width)));
        }
        at += 3;
    }
    widths
}

fn simple_font(file: &File<'_>, dict: &Dict) -> Font {
    let name = match file.member(dict, "BaseFont") {
        Some(Object::Name(name)) => String::from_utf8_lossy(&name).into_owned(),
        _ => String::new(),
    };
    let descriptor = file.dict(dict.get(b"FontDescriptor".as_slice()));
    let (widths, default_width) = simple_widths(file, dict, descriptor.as_deref(), &name);
    let is_true_type =
        matches!(file.member(dict, "Subtype"), Some(Object::Name(kind)) if kind == b"TrueType");
    let own: &[u8] = if name.ends_with("Symbol") {
        b"Symbol"
    } else if name.contains("Dingbats") || name.contains("Wingdings") {
        b"Bullets"
    } else if is_true_type {
        b"WinAnsiEncoding"
    } else {
        b"StandardEncoding"
    };
    let table = match file.member(dict, "Encoding") {
        Some(Object::Name(encoding)) => simple(&encoding),
        Some(Object::Dict(encoding)) => {
            let base = match file.member(&encoding, "BaseEncoding") {
                Some(Object::Name(base)) => simple(&base),
                _ => simple(own),
            };
            let differences = file.array(encoding.get(b"Differences".as_slice()));
            with_differences(
                base,
                file,
                differences.as_deref().map_or(&[], Vec::as_slice),
            )
        }
        _ => simple(own),
    };
    Font {
        to_unicode: None,
        coding: Coding::Simple(table),
        widths,
        default_width,
        is_fixed: is_fixed(file, dict),
        _held: None,
    }
}

/// By the descriptor's flag, or the name where that is missing.
fn is_fixed(file: &File<'_>, dict: &Dict) -> bool {
    let descriptor = file.dict(dict.get(b"FontDescriptor".as_slice()));
    let flags = descriptor.and_then(|descriptor| file.member(&descriptor, "Flags"));
    let flagged = flags
        .and_then(|flags| flags.whole())
        .is_some_and(|flags| flags & 1 == 1);
    let name = match file.member(dict, "BaseFont") {
        Some(Object::Name(name)) => String::from_utf8_lossy(&name).to_ascii_lowercase(),
        _ => String::new(),
    };
    let named = ["courier", "mono", "consol", "cmtt", "sftt", "typewriter"];
    flagged || named.iter().any(|part| name.contains(part))
}

fn simple_widths(
    file: &File<'_>,
    dict: &Dict,
    descriptor: Option<&Dict>,
    name: &str,
) -> (HashMap<u32, f64>, f64) {
    let first = file
        .member(dict, "FirstChar")
        .and_then(|first| first.whole());
    let first = first
        .and_then(|first| u32::try_from(first).ok())
        .unwrap_or(0);
    if let Some(list) = file.array(dict.get(b"Widths".as_slice())) {
        let widths = list.iter().take(256).zip(first..);
        let scale = type_3_scale(file, dict);
        let widths = widths
            .filter_map(|(width, code)| Some((code, file.number(Some(width))? * scale)))
            .collect();
        let missing = descriptor.and_then(|descriptor| file.member(descriptor, "MissingWidth"));
        let missing = missing.and_then(|width| width.number());
        return (widths, missing.unwrap_or(0.0));
    }
    if name.contains("Courier") {
        return (HashMap::new(), 600.0);
    }
    let standard = if name.contains("Times") {
        &TIMES
    } else {
        &HELVETICA
    };
    let widths = (0x20..).zip(standard.iter().map(|width| f64::from(*width)));
    (widths.collect(), 500.0)
}

/// Fonts of type 3 measure in units of their own.
fn type_3_scale(file: &File<'_>, dict: &Dict) -> f64 {
    let matrix = file.array(dict.get(b"FontMatrix".as_slice()));
    let unit = matrix.and_then(|matrix| matrix.first()?.number());
    unit.map_or(1.0, |unit| unit.abs() * 1000.0)
}

fn simple(name: &[u8]) -> Box<[String; 256]> {
    let standard = |byte: u8| match byte {
        0x27 => Some('’'),
        0x60 => Some('‘'),
        0x20..=0x7E => Some(char::from(byte)),
        0xA1.. => STANDARD.chars().nth(usize::from(byte - 0xA1)),
        _ => None,
    };
    let symbol = |byte: u8| match byte {
        0x20..=0x7E => SYMBOL.chars().nth(usize::from(byte - 0x20)),
        0xA0.. => SYMBOL_HIGH.chars().nth(usize::from(byte - 0xA0)),
        _ => None,
    };
    let of = |encoding: &'static Encoding, byte: u8| {
        let (text, _) = encoding.decode_without_bom_handling(std::slice::from_ref(&byte));
        text.chars().next()
    };
    let character = |byte: u8| match name {
        b"WinAnsiEncoding" | b"PDFDocEncoding" => match byte {
            // Codes that the encoding leaves free show bullets.
            0x7F | 0x81 | 0x8D | 0x8F | 0x90 | 0x9D => Some('•'),
            _ => of(WINDOWS_1252, byte),
        },
        b"MacRomanEncoding" => of(MACINTOSH, byte),
        b"Symbol" => symbol(byte),
        b"Bullets" => Some(if byte == b' ' { ' ' } else { '•' }),
        _ => standard(byte),
    };
    Box::new(std::array::from_fn(|byte| {
        let byte = u8::try_from(byte).unwrap_or_default();
        let found = character(byte).filter(|c| !c.is_control());
        found.map(String::from).unwrap_or_default()
    }))
}

fn with_differences(
    mut table: Box<[String; 256]>,
    file: &File<'_>,
    differences: &[Object],
) -> Box<[String; 256]> {
    let mut code = 0;
    for element in differences.iter().take(1024) {
        match file.resolve(element) {
            Object::Number(number) => code = whole(number).unwrap_or(256),
            Object::Name(name) => {
                if let Some(place) = table.get_mut(code) {
                    *place = glyph(&String::from_utf8_lossy(&name));
                }
                code += 1;
            }
            _ => {}
        }
    }
    table
}

/// What a glyph's name stands for; empty when it says nothing (Adobe Glyph List Specification, 2).
fn glyph(name: &str) -> String {
    let base = name.split('.').next().unwrap_or_default();
    base.split('_').take(8).filter_map(component).collect()
}

fn component(name: &str) -> Option<char> {
    let hexadecimal = |digits: &str| {
        let is_plain = digits.bytes().all(|b| b.is_ascii_hexdigit());
        let code = u32::from_str_radix(digits, 16).ok()?;
        is_plain.then(|| char::from_u32(code)).flatten()
    };
    let found = GLYPHS.get(name).copied().or_else(|| {
        let digits = name
            .strip_prefix("uni")
            .or_else(|| name.strip_prefix('u'))?;
        (4..=6)
            .contains(&digits.len())
            .then(|| hexadecimal(digits))
            .flatten()
    });
    found.filter(|c| !c.is_control())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_glyphs() {
        let check = |name: &str, expected: &str| assert_eq!(glyph(name), expected, "{name}");
        check("A", "A");
        check("eacute", "é");
        check("f_f_i", "ffi");
        check("a.sc", "a");
        check("uni20AC", "€");
        check("u1F600", "😀");
        check("afii10017", "А");
        check("g123", "");
        check(".notdef", "");
    }

    #[test]
    fn encodings_of_simple_fonts() {
        let check = |encoding: &[u8], byte: usize, expected: &str| {
            assert_eq!(simple(encoding)[byte], expected, "{byte:x}");
        };
        check(b"WinAnsiEncoding", 0x80, "€");
        check(b"WinAnsiEncoding", 0x95, "•");
        check(b"MacRomanEncoding", 0x8E, "é");
        check(b"StandardEncoding", 0x27, "’");
        check(b"StandardEncoding", 0xB7, "•");
        check(b"StandardEncoding", 0x80, "");
        check(b"Symbol", 0x61, "α");
        check(b"Symbol", 0xB7, "•");
    }

    #[test]
    fn text_of_a_simple_font_has_widths_and_unknown_codes() {
        let mut found = Vec::new();
        let file = File::open(b"", &crate::markdown::work::Work::default());
        let dict = Dict::from([(b"BaseFont".to_vec(), Object::Name(b"Helvetica".to_vec()))]);
        Font::read(&file, &dict).each(b"i \x80", |text, step| {
            found.push((text.to_owned(), step.width, step.is_space, step.is_known));
        });
        let expected = [
            ("i".to_owned(), 222.0, false, true),
            (" ".to_owned(), 278.0, true, true),
            (String::new(), 500.0, false, false),
        ];
        assert_eq!(found, expected);
    }
}
