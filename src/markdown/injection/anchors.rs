//! The first look, which spares nearly every block the second: whether one of the words may be an anchor, of which
//! every pattern has one. Knows no pattern.

use super::hashes::{HASH_START, Hashes, hashed};
use super::tongues::PAIRS;
use super::unseen::unseen_bytes;
use super::{english, tongues};

/// All anchors, by language.
pub(super) const ANCHORS: [&[&[&str]]; 2] = [english::ANCHORS, tongues::ANCHORS];

/// The first look: whether an anchor may be among the words, in one pass over the bytes.
pub(super) fn may_match(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (mut start, mut is_wide) = (0, false);
    for (at, &byte) in bytes.iter().enumerate() {
        if !byte.is_ascii() {
            is_wide |= byte >= 0xe3;
        } else if !byte.is_ascii_alphabetic() {
            if may_be_anchor(&bytes[start..at]) || (byte == b'>' && bytes[..at].ends_with(b"|")) {
                return true;
            }
            start = at + 1;
        }
    }
    may_be_anchor(&bytes[start..])
        || (is_wide
            && PAIRS
                .iter()
                .any(|(first, _)| first.iter().any(|part| text.contains(part))))
}

/// Letters in a row, and what is not ASCII. Most are no anchor, which the first letter and the length tell.
fn may_be_anchor(word: &[u8]) -> bool {
    let Some(first) = word.first() else {
        return false;
    };
    if word.is_ascii() && SHAPES[word.len().min(SHAPES.len() - 1)] & letter(*first) == 0 {
        return false;
    }
    let (mut at, mut hash) = (0, HASH_START);
    while at < word.len() {
        let unseen = unseen_bytes(&word[at..]);
        if unseen == 0 {
            hash = hashed(hash, word[at]);
        }
        at += unseen.max(1);
    }
    hash != HASH_START && FILTER.may_have(hash)
}

static FILTER: Hashes = {
    let (mut filter, mut language) = (Hashes::NONE, 0);
    while language < ANCHORS.len() {
        let mut set = 0;
        while set < ANCHORS[language].len() {
            filter = filter.with(ANCHORS[language][set]);
            set += 1;
        }
        language += 1;
    }
    filter
};

/// For each length, the first letters of the anchors that are so long, as bits.
static SHAPES: [u32; 32] = {
    let (mut shapes, mut language) = ([0; 32], 0);
    while language < ANCHORS.len() {
        let mut set = 0;
        while set < ANCHORS[language].len() {
            shapes = with_shapes(shapes, ANCHORS[language][set]);
            set += 1;
        }
        language += 1;
    }
    shapes
};

const fn with_shapes(mut shapes: [u32; 32], words: &[&str]) -> [u32; 32] {
    let mut at = 0;
    while at < words.len() {
        let bytes = words[at].as_bytes();
        shapes[bytes.len()] |= letter(bytes[0]);
        at += 1;
    }
    shapes
}

/// The same bit for both cases.
const fn letter(byte: u8) -> u32 {
    1 << (byte & 31)
}
