//! What the names on an element say: the words of its `class`, `id`, `role` and `itemprop`, each weighed by how often
//! elements so named were content on the pages that the selection was trained on.

use super::super::attributes::Attributes;
use super::super::outline::Weighed;

/// How many weights there are; names share them by hash.
pub(in crate::markdown) const WEIGHTS: usize = 1 << 15;

/// More names than this on one element are not read.
const NAMES_MAX: usize = 24;

/// The names on one element as the numbers of their weights.
#[derive(Clone, Debug, Default)]
pub(in crate::markdown) struct Names {
    bins: [u16; NAMES_MAX],
    count: u8,
    /// Of the tag's class attribute; elements that look alike have equal ones.
    pub(in crate::markdown) class_hash: u32,
}

impl Names {
    /// `class` is what [`Names::of_class`] gives for the element's classes.
    pub(in crate::markdown) fn of(attributes: &Attributes<'_>, class: &Names) -> Names {
        let mut names = Names::default();
        for (name, value) in attributes.iter() {
            match name.len() {
                2 if name.eq_ignore_ascii_case("id") => names.words(value),
                4 if name.eq_ignore_ascii_case("role") => names.tokens(1, value),
                5 if name.eq_ignore_ascii_case("class") => {
                    names.class_hash = class.class_hash;
                    names.add(class);
                }
                8 if name.eq_ignore_ascii_case("itemprop") => names.tokens(2, value),
                _ => {}
            }
        }
        names
    }

    pub(in crate::markdown) fn of_class(class: &str) -> Names {
        let mut names = Names {
            class_hash: hash_of(0, class.as_bytes()),
            ..Names::default()
        };
        names.words(class);
        names
    }

    fn add(&mut self, other: &Names) {
        if self.count == 0 {
            (self.bins, self.count) = (other.bins, other.count);
            return;
        }
        let start = usize::from(self.count);
        for (bin, other) in self.bins[start..].iter_mut().zip(other.bins()) {
            *bin = *other;
            self.count += 1;
        }
    }

    fn tokens(&mut self, seed: u32, value: &str) {
        for token in value.split_ascii_whitespace().take(3) {
            self.push(hash_of(seed, token.as_bytes()));
        }
    }

    pub(in crate::markdown) fn bins(&self) -> &[u16] {
        &self.bins[..usize::from(self.count)]
    }

    pub(in crate::markdown) fn weigh(&self, weights: &[i8]) -> Weighed {
        let mut weighed = Weighed::default();
        if self.count == 0 {
            return weighed;
        }
        let mut sum = 0i32;
        weighed.least = i8::MAX;
        weighed.most = i8::MIN;
        for &bin in self.bins() {
            let weight = weights.get(usize::from(bin)).copied().unwrap_or(0);
            sum += i32::from(weight);
            weighed.least = weighed.least.min(weight);
            weighed.most = weighed.most.max(weight);
        }
        let count = i32::from(self.count);
        weighed.mean = i8::try_from(sum / count).unwrap_or(0);
        weighed
    }

    /// Each name whole, and the parts it is made of: `post-content`, `post`, `content`.
    fn words(&mut self, value: &str) {
        for token in value.split_ascii_whitespace().take(12) {
            let token = &token.as_bytes()[..token.len().min(60)];
            let (mut whole, mut parts) = (Hash::of(0), Parts::default());
            let mut before = 0_u8;
            for &byte in token {
                if !byte.is_ascii_alphabetic()
                    || (byte.is_ascii_uppercase() && before.is_ascii_lowercase())
                {
                    parts.end(token.len());
                }
                whole.push(byte);
                parts.push(byte);
                before = byte;
            }
            parts.end(token.len());
            self.push(whole.0);
            for hash in &parts.hashes[..parts.count] {
                self.push(*hash);
            }
        }
    }

    fn push(&mut self, hash: u32) {
        if let Some(next) = self.bins.get_mut(usize::from(self.count)) {
            *next = bin(hash);
            self.count += 1;
        }
    }
}

/// The number of the weight that a hash has.
pub(super) fn bin(hash: u32) -> u16 {
    let mixed = (hash ^ (hash >> 15)) & 0x7fff;
    u16::try_from(mixed).unwrap_or(0)
}

/// FNV-1a without digits, which mostly number things, and without regard to case.
#[derive(Clone, Copy)]
struct Hash(u32);

impl Hash {
    fn of(seed: u32) -> Hash {
        Hash(0x811c_9dc5 ^ seed)
    }

    fn push(&mut self, byte: u8) {
        if !byte.is_ascii_digit() {
            self.0 = (self.0 ^ u32::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0193);
        }
    }
}

fn hash_of(seed: u32, bytes: &[u8]) -> u32 {
    let mut hash = Hash::of(seed);
    bytes.iter().for_each(|byte| hash.push(*byte));
    hash.0
}

/// The first parts of a name; each begins with a letter.
#[derive(Default)]
struct Parts {
    hashes: [u32; 4],
    count: usize,
    /// The part being read, and its bytes.
    open: Option<(Hash, usize)>,
}

impl Parts {
    fn push(&mut self, byte: u8) {
        if self.open.is_some() || byte.is_ascii_alphabetic() {
            let (hash, bytes) = self.open.get_or_insert((Hash::of(3), 0));
            hash.push(byte);
            *bytes += 1;
        }
    }

    /// A part that is all of a name of so many bytes says no more than the name.
    fn end(&mut self, name_bytes: usize) {
        if let Some((hash, bytes)) = self.open.take()
            && (2..name_bytes).contains(&bytes)
            && let Some(next) = self.hashes.get_mut(self.count)
        {
            *next = hash.0;
            self.count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::attributes::tests::with;

    fn names(pairs: &[(&str, &str)]) -> Names {
        with(pairs, |attributes| {
            let class = Names::of_class(attributes.raw("class").unwrap_or_default());
            Names::of(attributes, &class)
        })
    }

    #[test]
    fn a_name_counts_whole_and_in_parts() {
        let whole = names(&[("class", "post-content")]);
        assert_eq!(whole.bins().len(), 3);
        let camel = names(&[("id", "postContent2")]);
        assert_eq!(camel.bins().len(), 3);
        assert_eq!(whole.bins()[1..], camel.bins()[1..]);
        assert_eq!(names(&[("role", "main")]).bins().len(), 1);
        assert_ne!(
            names(&[("role", "main")]).bins(),
            names(&[("id", "main")]).bins()
        );
    }

    #[test]
    fn names_are_bounded() {
        let class = "ab-cd-ef ".repeat(1000);
        assert_eq!(names(&[("class", &class)]).bins().len(), NAMES_MAX);
    }

    #[test]
    fn weights_are_summed_up() {
        let names = names(&[("class", "post-content")]);
        let mut weights = vec![0; WEIGHTS];
        weights[usize::from(names.bins()[0])] = 30;
        weights[usize::from(names.bins()[1])] = -6;
        let weighed = names.weigh(&weights);
        assert_eq!((weighed.mean, weighed.least, weighed.most), (8, -6, 30));
    }
}
