//! Formulas that stand in a text as TeX between the delimiters that renderers look for: `\(…\)`, `\[…\]`, `$$…$$`. A single
//! `$` is none: it is a price more often.

use memchr::memchr2;

/// A longer text between two delimiters is no formula.
const BYTES_MAX: usize = 4 * 1024;

/// A formula in a text, and what stands around it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found<'a> {
    pub(super) before: &'a str,
    pub(super) tex: &'a str,
    pub(super) is_display: bool,
    pub(super) after: &'a str,
}

/// The first formula of a text. What is looked for ends at the next delimiter, so that all of them take one pass.
pub(super) fn next(text: &str) -> Option<Found<'_>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(found) = memchr2(b'\\', b'$', &bytes[at..]) {
        let start = at + found;
        let (close, is_display) = match (bytes[start], bytes.get(start + 1)) {
            (b'\\', Some(b'(')) => (b')', false),
            (b'\\', Some(b'[')) => (b']', true),
            (b'$', Some(b'$')) => (b'$', true),
            // A backslash takes the next sign with it.
            (b'\\', Some(next)) if next.is_ascii() => {
                at = start + 2;
                continue;
            }
            _ => {
                at = start + 1;
                continue;
            }
        };
        let inside = &text[start + 2..];
        let end = match close {
            b'$' => end_of_dollars(inside),
            _ => end_of_brackets(inside, bytes[start + 1], close),
        };
        if let Some(end) = end.filter(|&end| is_formula(&inside[..end])) {
            return Some(Found {
                before: &text[..start],
                tex: &inside[..end],
                is_display,
                after: &inside[end + 2..],
            });
        }
        at = match close {
            b'$' => start + 2 + inside.bytes().take_while(|b| *b == b'$').count(),
            _ => start + 2,
        };
    }
    None
}

fn end_of_brackets(inside: &str, open: u8, close: u8) -> Option<usize> {
    let bytes = &inside.as_bytes()[..inside.len().min(BYTES_MAX)];
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &bytes[at..]) {
        at += found;
        match bytes.get(at + 1) {
            Some(&next) if next == close => return Some(at),
            Some(&next) if next == open => return None,
            Some(_) => at = bytes.len().min(at + 2),
            None => return None,
        }
    }
    None
}

fn end_of_dollars(inside: &str) -> Option<usize> {
    let bytes = &inside.as_bytes()[..inside.len().min(BYTES_MAX)];
    let at = memchr::memchr(b'$', bytes)?;
    let is_pair = bytes.get(at + 1) == Some(&b'$') && bytes.get(at + 2) != Some(&b'$');
    (at > 0 && is_pair).then_some(at)
}

/// Whether a text is a formula and not prose or code: it has a sign of one, or no word.
fn is_formula(text: &str) -> bool {
    let has_sign = text.contains(['\\', '^', '_', '{', '=', '<', '>', '+']);
    let is_word = |word: &str| word.chars().count() > 2;
    let mut words = text.split(|c: char| !c.is_alphabetic());
    text.contains(char::is_alphanumeric) && (has_sign || !words.any(is_word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<(&str, bool)>) {
        let found = next(text).map(|found| (found.tex, found.is_display));
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn delimiters_of_formulas() {
        check(r"x \(a_1 * b_2\) y", Some(("a_1 * b_2", false)));
        check(r"x \(n\) y", Some(("n", false)));
        check(r"\[ \sum_i a_i \]", Some((r" \sum_i a_i ", true)));
        check("$$a = b$$", Some(("a = b", true)));
        check(r"\(x\(y\)", Some(("y", false)));
        check(r"\\(x\\)", None);
        check(r"\[and then\]", None);
        check("it costs $$ and $$$ there", None);
        check("$5 and $$6$$$", None);
        check("$$$$", None);
        check(r"\(x", None);
    }

    #[test]
    fn many_delimiters_take_one_pass() {
        for text in ["\\(", "\\[", "$$", "$$ and ", "\\( \\x"] {
            assert_eq!(next(&text.repeat(200_000)), None, "{text}");
        }
    }
}
