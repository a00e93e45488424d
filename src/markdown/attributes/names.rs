//! A few names that are looked for among the very many tokens of a page's classes and ids.

use super::decoded;

/// A few names to be found among very many tokens: most are none of them, which two looks tell.
pub(in crate::markdown) struct Names {
    names: &'static [&'static str],
    /// For each length, the first letters of the names that are so long, as bits.
    letters: [u32; 40],
}

impl Names {
    pub(in crate::markdown) const fn new(names: &'static [&'static str]) -> Names {
        let mut letters = [0; 40];
        let mut at = 0;
        while at < names.len() {
            let name = names[at].as_bytes();
            letters[name.len()] |= letter(name[0]);
            at += 1;
        }
        Names { names, letters }
    }

    pub(super) fn contain(&self, token: &str) -> bool {
        let may_be = match (self.letters.get(token.len()), token.as_bytes().first()) {
            (Some(letters), Some(first)) => letters & letter(*first) != 0,
            _ => false,
        };
        may_be
            && self
                .names
                .iter()
                .any(|name| name.eq_ignore_ascii_case(token))
    }

    pub(super) fn contain_one_of(&self, tokens: &str) -> bool {
        decoded(tokens)
            .split_ascii_whitespace()
            .any(|token| self.contain(token))
    }
}

/// The same bit for both cases.
const fn letter(byte: u8) -> u32 {
    1 << (byte & 31)
}
