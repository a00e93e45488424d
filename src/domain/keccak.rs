//! Keccak-256 as Ethereum uses it (the padding of 2011, not SHA-3's). The only place that names the crate.

use tiny_keccak::{Hasher, Keccak};

/// Keccak-256 of the parts, one after the other.
pub fn keccak256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Keccak::v256();
    for part in parts {
        hasher.update(part);
    }
    let mut digest = [0; 32];
    hasher.finalize(&mut digest);
    digest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_empty_input_has_the_known_digest() {
        let expected = "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470";
        assert_eq!(hex::encode(keccak256(&[])), expected);
        assert_eq!(hex::encode(keccak256(&[b"", b""])), expected);
    }
}
