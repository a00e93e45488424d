//! Request identifiers, which link response, log and metrics. Random bytes are drawn once.

use std::sync::atomic::{AtomicU64, Ordering};

/// Unique request ids: a random start that a counter is added to. They are labels, not secrets.
#[derive(Debug)]
pub struct RequestIds {
    seed: u64,
    next: AtomicU64,
}

impl RequestIds {
    pub fn new(random: [u8; 16]) -> Self {
        let (seed, start) = random.split_at(8);
        let number = |bytes: &[u8]| {
            bytes
                .iter()
                .fold(0, |sum, byte| sum << 8 | u64::from(*byte))
        };
        RequestIds {
            seed: number(seed),
            next: AtomicU64::new(number(start)),
        }
    }

    pub(in crate::http) fn next(&self) -> String {
        let count = self.next.fetch_add(1, Ordering::Relaxed);
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.seed.to_be_bytes());
        bytes[8..].copy_from_slice(&count.to_be_bytes());
        let mut id = String::with_capacity(36);
        id.push_str("req_");
        for byte in bytes {
            id.push(char::from(HEX[usize::from(byte >> 4)]));
            id.push(char::from(HEX[usize::from(byte & 15)]));
        }
        id
    }
}

const HEX: &[u8; 16] = b"0123456789abcdef";
