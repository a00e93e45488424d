//! What the values of class attributes say, remembered: most elements of a page look like one before them.

use crate::markdown::attributes::ClassSigns;
use crate::markdown::select::names::Names;

/// How many values are remembered.
const SLOTS: usize = 256;

#[derive(Debug)]
pub(super) struct Classes {
    slots: Vec<Class>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Class {
    /// Tells values apart; they themselves are not kept.
    hash: u64,
    pub(super) signs: ClassSigns,
    /// Elements inside a line need none.
    names: Option<Names>,
}

impl Default for Classes {
    fn default() -> Classes {
        Classes {
            slots: vec![Class::default(); SLOTS],
        }
    }
}

impl Classes {
    pub(super) fn of(&mut self, value: &str) -> &mut Class {
        let hash = hash_of(value.as_bytes());
        let class = &mut self.slots[(hash >> 56) as usize % SLOTS];
        if class.hash != hash {
            *class = Class {
                hash,
                signs: ClassSigns::of(value),
                names: None,
            };
        }
        class
    }
}

impl Class {
    /// `value` is the one that the class was asked for with.
    pub(super) fn names(&mut self, value: &str) -> &Names {
        self.names.get_or_insert_with(|| Names::of_class(value))
    }
}

/// Eight bytes at a time; 0 for no value alone, which says nothing.
pub(super) fn hash_of(value: &[u8]) -> u64 {
    let mix = |hash: u64, word: u64| {
        let mixed = (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed ^ (mixed >> 29)
    };
    let (words, rest) = value.as_chunks();
    let start = value.len() as u64;
    let hash = words
        .iter()
        .fold(start, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let rest = rest.iter().fold(0, |all, byte| all << 8 | u64::from(*byte));
    mix(hash, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(classes: &mut Classes, value: &str) {
        let class = classes.of(value);
        assert_eq!(class.signs, ClassSigns::of(value), "{value}");
        assert_eq!(class.names(value).bins(), Names::of_class(value).bins());
    }

    #[test]
    fn what_is_remembered_is_what_would_be_read() {
        let mut classes = Classes::default();
        let long = "post-body sr-only ".repeat(100);
        for _ in 0..2 {
            for value in [
                "",
                "a",
                "sr-only",
                "code-highlight",
                "cookie-notice x",
                &long,
            ] {
                check(&mut classes, value);
            }
            for number in 0..3 * SLOTS {
                check(&mut classes, &format!("row row-{number} is-wide"));
            }
        }
    }
}
