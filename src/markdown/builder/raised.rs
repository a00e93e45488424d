//! Text above and below the line. Markdown has none, but `2^n` must not become `2n`: exponents and indices are written as
//! mathematicians type them, and what only looks small (`1st`, `H2O`) stays as it is.

use super::seams::{is_fraction_of_price, is_whole_price};
use super::{Builder, Effect};

/// Longer text is no exponent.
const TEXT_BYTES_MAX: usize = 24;

/// Above a figure or one letter they make an ordinal, a title or a unit of it: `2e`, `Mª`, `12h`.
const ORDINALS: [char; 6] = ['a', 'd', 'e', 'h', 'o', 'r'];

/// The text of an open element above or below the line.
#[derive(Debug)]
pub(super) struct Raised {
    is_above: bool,
    text: String,
}

impl Builder {
    pub(super) fn begin_raised(&mut self, is_above: bool) -> Effect {
        self.release_raised();
        if !self.writer.is_in_code() {
            self.raised = Some(Raised {
                is_above,
                text: String::new(),
            });
        }
        Effect::Raised
    }

    /// Whether the text waits for the end of its element.
    pub(super) fn raised_text(&mut self, text: &str) -> bool {
        let Some(raised) = &mut self.raised else {
            return false;
        };
        if raised.text.len() + text.len() > TEXT_BYTES_MAX {
            self.release_raised();
            return false;
        }
        raised.text.push_str(text);
        true
    }

    /// The element holds more than a short text: it is read as any other.
    pub(super) fn release_raised(&mut self) {
        if let Some(raised) = self.raised.take() {
            if raised.is_above {
                self.writer.raise();
            }
            self.writer.text(&raised.text);
        }
    }

    pub(super) fn end_raised(&mut self) {
        let Some(raised) = &self.raised else { return };
        let before = self.writer.word_before();
        let written = match raised.is_above {
            true if is_whole_price(before) && is_fraction_of_price(&raised.text) => {
                Some(format!(".{}", raised.text))
            }
            true => exponent(before, &raised.text),
            false => index(before, &raised.text),
        };
        match written {
            Some(written) => {
                self.raised = None;
                // Behind another sign an underscore could open emphasis.
                let follows_word = self.writer.text.ends_with(char::is_alphanumeric);
                match written.strip_prefix('_').filter(|_| !follows_word) {
                    Some(index) => self.writer.verbatim(&format!("\\_{index}")),
                    None => self.writer.verbatim(&written),
                }
            }
            None if raised.text.is_empty() => self.raised = None,
            None => self.release_raised(),
        }
    }
}

/// What an expression before an exponent or index ends with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    Digit,
    /// One letter alone.
    Variable,
    /// A letter of a word, or of a formula of chemistry.
    Letter,
    Parenthesis,
}

impl Base {
    fn of(before: &str) -> Option<Base> {
        let mut last = before.chars().rev();
        match last.next()? {
            ')' => Some(Base::Parenthesis),
            c if c.is_ascii_digit() => Some(Base::Digit),
            c if c.is_alphabetic() => match last.next() {
                Some(other) if other.is_alphanumeric() => Some(Base::Letter),
                _ => Some(Base::Variable),
            },
            _ => None,
        }
    }
}

/// `^n`, `^(n+1)`; figures alone are left to the writer.
fn exponent(before: &str, text: &str) -> Option<String> {
    let base = Base::of(before).filter(|base| *base != Base::Letter)?;
    let mut chars = text.chars();
    let (first, second) = (chars.next()?, chars.next());
    if second.is_none() {
        let is_ordinal =
            ORDINALS.contains(&first.to_ascii_lowercase()) && base != Base::Parenthesis;
        let is_letter = first.is_alphabetic() && !first.is_uppercase();
        return (is_letter && !is_ordinal).then(|| format!("^{first}"));
    }
    let digits = text.trim_start_matches(['-', '−']);
    let is_number = digits.bytes().all(|b| b.is_ascii_digit());
    let is_word = text.chars().all(char::is_alphabetic);
    (!is_number && !is_word && is_expression(text)).then(|| grouped('^', text))
}

/// `_i`, `_max`, `_(i+1)`, and `_2` behind figures.
fn index(before: &str, text: &str) -> Option<String> {
    let base = Base::of(before)?;
    let is_number = text.bytes().all(|b| b.is_ascii_digit());
    if text.is_empty() || (is_number && base != Base::Digit) {
        return None;
    }
    if text.chars().all(char::is_alphanumeric) {
        let has_index = is_number || base == Base::Variable;
        return has_index.then(|| format!("_{text}"));
    }
    is_expression(text).then(|| grouped('_', text))
}

fn grouped(sign: char, text: &str) -> String {
    match text.starts_with('(') && text.ends_with(')') {
        true => format!("{sign}{text}"),
        false => format!("{sign}({text})"),
    }
}

/// Whether letters, figures and the signs between them are all that there is.
fn is_expression(text: &str) -> bool {
    let is_sign = |c: char| "+-−–·/=() ".contains(c);
    let is_minus = |c: char| matches!(c, '-' | '−' | '(');
    text.starts_with(|c: char| c.is_alphanumeric() || is_minus(c))
        && text.ends_with(|c: char| c.is_alphanumeric() || c == ')')
        && text.contains(char::is_alphanumeric)
        && text.chars().all(|c| c.is_alphanumeric() || is_sign(c))
        && text
            .split(|c: char| !c.is_alphabetic())
            .all(|word| word.chars().count() <= 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_are_told_from_ordinals() {
        for (before, text, expected) in [
            ("O(2", "n", Some("^n")),
            ("e", "x", Some("^x")),
            ("x", "n+1", Some("^(n+1)")),
            ("e", "−x", Some("^(−x)")),
            ("f", "(n)", Some("^(n)")),
            ("y", "2k", Some("^(2k)")),
            ("(a+b)", "n", Some("^n")),
            ("10", "-3", None),
            ("1", "st", None),
            ("2", "e", None),
            ("word", "a", None),
            ("Brand", "TM", None),
            ("X", "®", None),
            ("Ca", "2+", None),
            ("x", "[1]", None),
            ("", "14", None),
        ] {
            assert_eq!(
                exponent(before, text).as_deref(),
                expected,
                "{before} {text}"
            );
        }
    }

    #[test]
    fn indices_are_told_from_chemistry() {
        for (before, text, expected) in [
            ("a", "i", Some("_i")),
            ("a", "i+1", Some("_(i+1)")),
            ("v", "max", Some("_max")),
            ("101", "2", Some("_2")),
            ("H", "2", None),
            ("Ca(OH)", "2", None),
            ("NO", "x", None),
            ("CnH", "2n+2", Some("_(2n+2)")),
            ("1/", "2", None),
        ] {
            assert_eq!(index(before, text).as_deref(), expected, "{before} {text}");
        }
    }
}
