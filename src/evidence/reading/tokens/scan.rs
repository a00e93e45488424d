//! Where a word, a number or an address in a text ends, and how a character is folded. Knows no word.

use icu_normalizer::properties::{CanonicalDecompositionBorrowed, Decomposed};

use crate::evidence::reading::language::is_paired;

/// The end of capital letters with a dot after each, two at least.
pub(crate) fn initials(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    while bytes.get(at).is_some_and(u8::is_ascii_uppercase) && bytes.get(at + 1) == Some(&b'.') {
        at += 2;
    }
    (at >= start + 4).then_some(at)
}

/// The end of a run of letters, apostrophes between them included.
pub(crate) fn word(text: &str, start: usize) -> usize {
    let bytes = &text.as_bytes()[start..];
    let length = bytes
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    match bytes.get(length) {
        Some(b'\'') | Some(0x80..) => wide_word(text, start),
        _ => start + length,
    }
}

fn wide_word(text: &str, start: usize) -> usize {
    let mut end = start;
    let mut rest = text[start..].char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let is_letter = if c.is_ascii() {
            c.is_ascii_alphabetic()
        } else {
            c.is_alphanumeric() && !is_paired(c)
        };
        let mut joins = || {
            let next = rest.peek().map(|(_, next)| *next);
            at > 0 && matches!(c, '\'' | '’') && next.is_some_and(char::is_alphabetic)
        };
        if !is_letter && !joins() {
            break;
        }
        end = start + at + c.len_utf8();
    }
    end.max(start + 1)
}

/// The bytes of digits, thousands and decimals, or of a version such as 1.2.3.
pub(crate) fn number_part(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize, commas: bool| {
        let is_part = |byte: &&u8| byte.is_ascii_digit() || (commas && **byte == b',');
        let end = from + bytes[from..].iter().take_while(is_part).count();
        let commas = bytes[from..end]
            .iter()
            .rev()
            .take_while(|byte| **byte == b',');
        end - commas.count()
    };
    let mut end = digits(0, true);
    let mut dots = 0;
    while dots < 4
        && bytes.get(end) == Some(&b'.')
        && bytes.get(end + 1).is_some_and(u8::is_ascii_digit)
    {
        end = digits(end + 1, false);
        dots += 1;
    }
    end
}

pub(crate) fn number(text: &str, start: usize) -> usize {
    const SUFFIXES: &[&str] = &["st", "nd", "rd", "th", "s", "%"];
    let end = start + number_part(&text[start..]);
    let rest = &text[end..];
    let follows = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() && !is_paired(c));
    let suffix = SUFFIXES
        .iter()
        .find(|suffix| rest.starts_with(**suffix) && !follows(&rest[suffix.len()..]));
    end + suffix.map_or(0, |suffix| suffix.len())
}

pub(crate) fn number_value(written: &str) -> Option<f64> {
    let plain = written.replace(',', "");
    if plain.matches('.').count() < 2 {
        return plain.parse().ok();
    }
    // A version: parts that compare as a whole.
    let mut value = 0.0;
    let mut unit = 1.0;
    for part in plain.split('.') {
        value += part.parse::<f64>().ok()? * unit;
        unit /= 1_000.0;
    }
    Some(value)
}

pub(crate) fn is_year(written: &str) -> bool {
    written.len() == 4
        && written
            .parse::<u32>()
            .is_ok_and(|year| (1000..=2100).contains(&year))
}

/// Past a link's address, `at` its bracket. Where no bracket closes it before a space, past the bracket alone.
pub(crate) fn after_address(text: &str, at: usize, known_end: &mut Option<usize>) -> usize {
    let end = match *known_end {
        Some(end) if end > at => end,
        _ => {
            let stops = |c: char| c == ')' || c.is_whitespace();
            let end = text[at..].find(stops).map_or(text.len(), |end| at + end);
            *known_end = Some(end);
            end
        }
    };
    if text[end..].starts_with(')') {
        end + 1
    } else {
        at + 1
    }
}

/// A character without its accents; combining marks vanish.
pub(crate) fn fold(c: char, into: &mut String) {
    match c {
        '\u{0}'..='\u{7f}' => into.push(c),
        '\u{300}'..='\u{36f}' | '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{feff}' => {}
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{3000}' => into.push(' '),
        '²' => into.push('2'),
        '³' => into.push('3'),
        '¹' => into.push('1'),
        '½' => into.push_str("1/2"),
        '¼' => into.push_str("1/4"),
        '¾' => into.push_str("3/4"),
        'ﬁ' => into.push_str("fi"),
        'ﬂ' => into.push_str("fl"),
        '\u{ff01}'..='\u{ff5e}' => into.extend(char::from_u32(u32::from(c) - 0xfee0)),
        _ => into.push(unaccented(c)),
    }
}

/// The letter below the accents if it is one of a to z. Those of other scripts stay: there an accent makes another
/// letter.
fn unaccented(c: char) -> char {
    const DECOMPOSITION: CanonicalDecompositionBorrowed<'_> = CanonicalDecompositionBorrowed::new();
    let mut base = c;
    while let Decomposed::Expansion(first, _) | Decomposed::Singleton(first) =
        DECOMPOSITION.decompose(base)
    {
        base = first;
    }
    if base.is_ascii_alphabetic() { base } else { c }
}
