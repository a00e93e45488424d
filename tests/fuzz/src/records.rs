//! Any bytes behind a good checksum as a record of every kind: none of them panics, and none claims more memory than a
//! record may have.

use std::path::Path;

use context402::store::any_bytes::{examples, try_as_every_record};

use super::mutation::mutated;
use super::random::Random;

/// Lengths and numbers as bincode writes them, and the versions.
const WORDS: [&str; 12] = [
    "\u{1}",
    "\u{2}",
    "\u{3}",
    "\0",
    "\0\0\0\0\0\0\0\0",
    "é",
    "https://",
    "fresh",
    "\u{7f}",
    "\u{ffff}",
    "{}",
    "\u{10ffff}",
];
/// Beginnings of numbers of 2, 4, 8 and 16 bytes.
const WIDE: [u8; 4] = [251, 252, 253, 254];

pub(crate) fn corpus(_: &Path) -> Vec<Vec<u8>> {
    examples()
}

pub(crate) fn input(random: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut data = mutated(random, seeds, &WORDS);
    if random.below(3) == 0 && !data.is_empty() {
        let at = random.below(data.len());
        data[at] = WIDE[random.below(WIDE.len())];
    }
    data
}

pub(crate) fn body(data: &[u8]) {
    try_as_every_record(data);
}
