//! A set of words as bits of their hashes, made when the program is: it may take a word for one of its own, and never
//! misses one. Knows no word.

const BLOCKS: usize = 1024;

pub(super) struct Hashes([u64; BLOCKS]);

impl Hashes {
    pub(super) const NONE: Hashes = Hashes([0; BLOCKS]);

    pub(super) const fn with(mut self, words: &[&str]) -> Hashes {
        let mut at = 0;
        while at < words.len() {
            let (block, bit) = place(hash_of(words[at].as_bytes()));
            self.0[block] |= 1 << bit;
            at += 1;
        }
        self
    }

    pub(super) const fn may_have(&self, hash: u32) -> bool {
        let (block, bit) = place(hash);
        self.0[block] >> bit & 1 == 1
    }
}

/// Of no word.
pub(super) const HASH_START: u32 = 0;

pub(super) const fn hashed(hash: u32, byte: u8) -> u32 {
    // For letters, this bit is their case; other bytes lose it in text and anchors alike.
    hash.wrapping_mul(0x0100_0193) ^ (byte | 0x20) as u32
}

pub(super) const fn hash_of(bytes: &[u8]) -> u32 {
    let (mut hash, mut at) = (HASH_START, 0);
    while at < bytes.len() {
        hash = hashed(hash, bytes[at]);
        at += 1;
    }
    hash
}

const fn place(hash: u32) -> (usize, u32) {
    let mixed = hash ^ (hash >> 12) ^ (hash >> 22);
    (mixed as usize / 64 % BLOCKS, mixed % 64)
}
