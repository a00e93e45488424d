//! The first look, which spares nearly every block the second: whether one of the words may be an anchor, of which
//! every pattern has one. Knows no pattern.

use super::hashes::{HASH_START, Hashes, hash_of, hashed};
use super::tongues::PAIRS;
use super::unseen::unseen_bytes;
use super::{english, tongues};

/// All anchors, by language.
pub(super) const ANCHORS: [&[&[&str]]; 2] = [english::ANCHORS, tongues::ANCHORS];

/// The first look: whether an anchor may be among the words, in one pass over the bytes.
pub(super) fn may_match(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (mut start, mut highest, mut widest) = (0, 0, 0);
    for (at, &byte) in bytes.iter().enumerate() {
        if IS_IN_WORD[usize::from(byte)] {
            highest = highest.max(byte);
            continue;
        }
        if may_be_anchor(&bytes[start..at], highest)
            || (byte == b'>' && bytes[..at].ends_with(b"|"))
        {
            return true;
        }
        widest = widest.max(highest);
        (start, highest) = (at + 1, 0);
    }
    may_be_anchor(&bytes[start..], highest)
        || (widest.max(highest) >= 0xe3
            && PAIRS
                .iter()
                .any(|(first, _)| first.iter().any(|part| text.contains(part))))
}

/// Letters, and all that is not ASCII.
static IS_IN_WORD: [bool; 256] = {
    let (mut table, mut byte) = ([true; 256], 0_u8);
    while byte.is_ascii() {
        table[byte as usize] = byte.is_ascii_alphabetic();
        byte += 1;
    }
    table
};

/// Letters in a row, and what is not ASCII; `highest` is the highest of its bytes. Most are no anchor, which the first
/// letter and the length tell.
#[inline]
fn may_be_anchor(word: &[u8], highest: u8) -> bool {
    let Some(first) = word.first() else {
        return false;
    };
    if highest >= 0x80 {
        return FILTER.may_have(hash_of_seen(word));
    }
    SHAPES[word.len().min(SHAPES.len() - 1)] & letter(*first) != 0 && FILTER.may_have(hash_of(word))
}

/// Of the bytes without the characters that nobody sees.
fn hash_of_seen(word: &[u8]) -> u32 {
    let (mut at, mut hash) = (0, HASH_START);
    while at < word.len() {
        let unseen = unseen_bytes(&word[at..]);
        if unseen == 0 {
            hash = hashed(hash, word[at]);
        }
        at += unseen.max(1);
    }
    hash
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
